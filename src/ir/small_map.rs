//! A map with few entries.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Up to this many entries a search goes through all of them, which allocates nothing and is faster than hashing.
pub(super) const FEW: usize = 12;

/// A map without removal.
pub(super) struct SmallMap<K, V> {
    few: SmallVec<[(K, V); FEW]>,
    many: FxHashMap<K, V>,
}

impl<K: Hash + Eq + Clone, V: Copy> SmallMap<K, V> {
    pub(super) fn new() -> Self {
        SmallMap { few: SmallVec::new(), many: FxHashMap::default() }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        match self.many.is_empty() {
            true => self.few.iter().find(|(known, _)| known == key).map(|(_, value)| *value),
            false => self.many.get(key).copied(),
        }
    }

    /// Adds an entry that is not yet there.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push((key, value));
            return;
        }
        self.many.extend(self.few.drain(..));
        self.many.insert(key, value);
    }
}
