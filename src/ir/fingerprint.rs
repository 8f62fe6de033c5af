//! Fingerprints: expressions without the memory of their tensors and without their constants.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{Body, Fingerprint, Leaves, Node, NodeKind, Source, Storage};
use crate::layout::Layout;

/// The most nodes of an expression with a fingerprint. Making one for a larger expression would take the time that it
/// saves.
const MOST: usize = 32;

impl<'a> Leaves<'a> {
    /// The number of a storage.
    pub(crate) fn find(&self, storage: &Storage) -> Option<usize> {
        self.storages.iter().position(|other| other.same(storage))
    }

    /// The number of a storage that may be new.
    fn number(&mut self, storage: &'a Storage) -> usize {
        self.find(storage).unwrap_or_else(|| {
            self.storages.push(storage);
            self.storages.len() - 1
        })
    }
}

/// The first word of a node.
enum Tag {
    Known,
    Op,
    View,
    Tensor,
    Constant,
    Index,
    Other,
}

/// What a value hashes, all of it: two values with the same words are equal.
struct Words<'a>(&'a mut SmallVec<[u64; 32]>);

impl Hasher for Words<'_> {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            self.0.push(part.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
    }

    fn finish(&self) -> u64 {
        0 // nobody asks
    }
}

impl Fingerprint {
    /// The fingerprint of an expression of a few nodes, evaluated or written to elements of a storage; and its leaves,
    /// that storage among them.
    pub(crate) fn of<'a>(
        root: &'a Arc<Node>,
        to: Option<(&'a Storage, &'a Layout)>,
    ) -> Option<(Fingerprint, Leaves<'a>)> {
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        let mut leaves = Leaves::default();
        let mut known: SmallVec<[*const Node; MOST]> = SmallVec::new();
        let mut stack: SmallVec<[&Arc<Node>; MOST]> = smallvec![root];
        while let Some(node) = stack.pop() {
            let head = |tag: Tag, more: usize| (more as u64) << 16 | (node.dtype as u64) << 8 | tag as u64;
            let of = Arc::as_ptr(node);
            if let Some(number) = known.iter().position(|&known| known == of) {
                words.push(head(Tag::Known, number));
                continue;
            }
            if known.len() == MOST {
                return None;
            }
            known.push(of);
            match &node.kind {
                // The op determines the number of operands, and their shapes determine the result's.
                NodeKind::Op(op) => words.push(head(Tag::Op, *op as usize)),
                NodeKind::View(layout) => {
                    words.push(head(Tag::View, 0));
                    push(&mut words, layout);
                }
                NodeKind::Leaf { source: Source::Tensor(storage), layout } => {
                    words.push(head(Tag::Tensor, leaves.number(storage)));
                    push_storage(&mut words, storage, layout);
                }
                NodeKind::Leaf { source: Source::Scalar(bits), layout } => {
                    leaves.constants.push((*bits, of.addr()));
                    words.push(head(Tag::Constant, 0));
                    push(&mut words, layout);
                }
                NodeKind::Leaf { source: Source::Index(_), layout } => {
                    words.push(head(Tag::Index, 0));
                    push(&mut words, layout);
                }
                NodeKind::Leaf { .. } => return None,
                NodeKind::Body(Body::Loop(own), _) if own.steps.len() > MOST => return None,
                kind => {
                    leaves.reduces |= matches!(kind, NodeKind::Axis(_) | NodeKind::Join(_));
                    words.push(head(Tag::Other, node.args.len()));
                    kind.hash_into(&mut words);
                    // How work is cut depends on the number of iterations.
                    if let (NodeKind::Body(..), Some(turns)) = (kind, node.args.first())
                        && let NodeKind::Leaf { source: Source::Scalar(bits), .. } = turns.kind
                    {
                        words.push(bits);
                    }
                }
            }
            // Pushed one by one: `extend` costs more than a few words.
            node.args.iter().rev().for_each(|arg| stack.push(arg));
        }
        if let Some((storage, layout)) = to {
            words.push(leaves.number(storage) as u64);
            push_storage(&mut words, storage, layout);
        }
        Some((Fingerprint(words), leaves))
    }
}

impl NodeKind {
    /// Pushes what distinguishes it, but for layouts and sources.
    fn hash_into(&self, words: &mut SmallVec<[u64; 32]>) {
        let words = &mut Words(words);
        discriminant(self).hash(words);
        match self {
            NodeKind::Op(op) => op.hash(words),
            NodeKind::Body(body, result) => (body, result).hash(words),
            NodeKind::Join(axis) => axis.hash(words),
            NodeKind::Axis(kind) => kind.hash(words),
            NodeKind::Leaf { .. } | NodeKind::View(_) | NodeKind::Lookup | NodeKind::Shared => {}
        }
    }
}

fn push_storage(words: &mut SmallVec<[u64; 32]>, storage: &Storage, layout: &Layout) {
    words.push((storage.elements as u64) << 1 | u64::from(storage.is_exact));
    push(words, layout);
}

fn push(words: &mut SmallVec<[u64; 32]>, layout: &Layout) {
    words.push((layout.shape().rank() as u64) << 48 ^ layout.offset() as u64);
    layout.shape().iter().for_each(|&length| words.push(length as u64));
    layout.strides().iter().for_each(|&stride| words.push(stride as u64));
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;
    use crate::{AnyExpr, AnyTensor, Device, Expr, Tensor};

    fn print<T>(expr: &Expr<T>) -> Option<(Fingerprint, usize, Vec<u64>)> {
        let expr = AnyExpr::from(expr);
        let (form, leaves) = Fingerprint::of(expr.node().unwrap(), None)?;
        Some((form, leaves.storages.len(), leaves.constants.iter().map(|(bits, _)| *bits).collect()))
    }

    #[test]
    fn forms_differ_where_work_does() {
        let device = Device::cpu();
        let tensor = |shape: &[usize]| device.zeros::<f32>(shape).unwrap();
        let (x, y) = (tensor(&[2, 3]), tensor(&[2, 3]));
        let of = |expr: Expr<f32>| print(&expr).unwrap();
        let (one, storages, constants) = of((&x + 1.0) * &y);
        assert_eq!((storages, constants), (2, vec![u64::from(1.0_f32.to_bits())]));
        // Other tensors and constants: the same fingerprint.
        assert_eq!(one, of((&y + 2.0) * &x).0);
        assert_eq!(one, of((tensor(&[2, 3]) + 1.0) * tensor(&[2, 3])).0);
        // One tensor twice, another op, order, shape, view or storage, or a shared operand: another fingerprint.
        let shared = &x + 1.0;
        let others = [
            of((&x + 1.0) * &x),
            of((&x - 1.0) * &y),
            of(&y * (&x + 1.0)),
            of((&x + 1.0) * tensor(&[3])),
            of((&x + 1.0) * tensor(&[2, 4]).slice(1, ..3)),
            of((&x + 1.0) * y.flip(0)),
            of((&x + 1.0) * tensor(&[4, 3]).slice(0, ..2)),
            of(((&x + 1.0) * &y).flip(1)),
            of(&shared * &shared),
            of((&x + 1.0) * (&x + 1.0)),
        ];
        for (i, other) in others.iter().enumerate() {
            assert_ne!(one, other.0, "{i}");
            assert!(others[..i].iter().all(|before| before.0 != other.0), "{i}");
        }
        // The destination, and whether the expression reads it, are parts of the fingerprint.
        let node = AnyExpr::from(&x + 1.0).node().unwrap().clone();
        let into = |to: &Tensor<f32>| {
            let to = AnyTensor::from(to);
            Fingerprint::of(&node, Some((to.storage(), to.layout()))).unwrap().0
        };
        assert_eq!(into(&y), into(&tensor(&[2, 3])));
        let wide = tensor(&[2, 4]);
        let forms =
            [print(&(&x + 1.0)).unwrap().0, into(&x), into(&y), into(&wide.slice(1, ..3).tensor().unwrap())];
        assert!((0..forms.len()).all(|i| !forms[..i].contains(&forms[i])));

        // Reductions by op and axes, and what is stored.
        let reduced = [
            of(x.sum(0)),
            of(x.sum(1)),
            of(x.max(0)),
            of(x.cumsum(0)),
            of(x.cumsum(1)),
            of((&x + 1.0).shared()),
        ];
        assert!((0..reduced.len()).all(|i| reduced[..i].iter().all(|before| before.0 != reduced[i].0)));
        assert_eq!(reduced[0].0, of(y.sum(0)).0);
        assert_eq!(of(x.sort(0)).0, of(y.sort(0)).0);
        let long = (0..40).fold(x.expr(), |all, i| all + i as f32);
        assert!(print(&long).is_none());
    }
}
