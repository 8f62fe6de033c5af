//! Buffers that wait to be used again, by size class.

use std::collections::VecDeque;

/// Bytes that may wait, whatever is in use.
const SPARE: u64 = 256 << 20;

/// The size that a buffer of at least `size` bytes is created with: eight classes per doubling,
/// so at most an eighth is wasted and sizes that vary a little meet in one class.
pub(super) fn class(size: u64) -> u64 {
    let size = size.max(256);
    size.next_multiple_of((size.next_power_of_two() / 16).max(256))
}

/// Idle buffers in the order in which they were given back, each with the recording in which it was
/// last used.
#[derive(Debug, Default)]
pub(super) struct Pool {
    idle: VecDeque<(wgpu::Buffer, u64)>,
    idle_bytes: u64,
    used_bytes: u64,
}

impl Pool {
    /// An idle buffer of the class of `size`, the one used last. The caller then creates one if there
    /// is none, so either way its bytes count as used.
    pub(super) fn take(&mut self, size: u64) -> Option<(wgpu::Buffer, u64)> {
        let class = class(size);
        self.used_bytes += class;
        let found = self.idle.iter().rposition(|(buffer, _)| buffer.size() == class)?;
        self.idle_bytes -= class;
        self.idle.remove(found)
    }

    /// Keeps a buffer for later. Where more would lie idle than is in use, the oldest go: sizes that
    /// are not asked for any more make room for those that are.
    pub(super) fn give_back(&mut self, buffer: wgpu::Buffer, epoch: u64) {
        let size = buffer.size();
        self.used_bytes = self.used_bytes.saturating_sub(size);
        self.idle_bytes += size;
        self.idle.push_back((buffer, epoch));
        while self.idle_bytes > self.used_bytes.max(SPARE) {
            let Some((oldest, _)) = self.idle.pop_front() else { break };
            self.idle_bytes -= oldest.size();
        }
    }

    pub(super) fn clear(&mut self) {
        self.idle.clear();
        self.idle_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes_waste_an_eighth_at_most() {
        for size in (16..1 << 20).step_by(16) {
            let class = class(size);
            assert!(class >= size && class.is_multiple_of(16));
            assert!(class - size <= (size / 8).max(256), "{size} in {class}");
        }
    }
}
