//! Elements of any layout into blocks: where a block is one contiguous run it is borrowed, else
//! its runs are gathered.

use bytemuck::Pod;

use crate::layout::Layout;

/// A layout to be read in row-major order, block by block.
#[derive(Debug)]
pub(super) struct Reader {
    /// Fewest axes, outermost first.
    walk: Layout,
}

/// A stretch of a block that one stride describes.
struct Run {
    at: isize,
    stride: isize,
    length: usize,
}

impl Reader {
    pub(super) fn new(layout: &Layout) -> Self {
        Reader { walk: layout.simplified() }
    }

    /// Where elements `start..start + length` lie, if that is one contiguous run.
    pub(super) fn contiguous(&self, start: usize, length: usize) -> Option<usize> {
        let mut runs = self.runs(start, length);
        let run = runs.next()?;
        (run.length == length && (run.stride == 1 || length == 1)).then_some(run.at as usize)
    }

    /// Copies elements from `start` on until `out` is full.
    pub(super) fn gather<M: Pod>(&self, source: &[M], start: usize, out: &mut [M]) {
        let mut rest = out;
        for run in self.runs(start, rest.len()) {
            let (out, after) = rest.split_at_mut(run.length);
            rest = after;
            let at = run.at as usize;
            match run.stride {
                1 => out.copy_from_slice(&source[at..at + run.length]),
                0 => out.fill(source[at]),
                stride => {
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = source[(run.at + i as isize * stride) as usize];
                    }
                }
            }
        }
    }

    /// The addresses themselves.
    pub(super) fn addresses(&self, start: usize, out: &mut [i32]) {
        let mut rest = out;
        for run in self.runs(start, rest.len()) {
            let (out, after) = rest.split_at_mut(run.length);
            rest = after;
            for (i, out) in out.iter_mut().enumerate() {
                *out = (run.at + i as isize * run.stride) as i32;
            }
        }
    }

    /// The inverse of [`gather`](Self::gather): elements to their places.
    pub(super) fn scatter<M: Pod>(&self, source: &[M], out: &mut [M]) {
        let mut rest = source;
        for run in self.runs(0, source.len()) {
            let (from, after) = rest.split_at(run.length);
            rest = after;
            for (i, &value) in from.iter().enumerate() {
                out[(run.at + i as isize * run.stride) as usize] = value;
            }
        }
    }

    /// The runs that elements `start..start + length` consist of.
    fn runs(&self, start: usize, length: usize) -> impl Iterator<Item = Run> + '_ {
        let shape = self.walk.shape();
        let strides = self.walk.strides();
        let (inner, stride) = match (shape.last(), strides.last()) {
            (Some(&inner), Some(&stride)) => (inner, stride),
            _ => (1, 0),
        };
        let mut index: smallvec::SmallVec<[usize; 6]> = shape.iter().map(|_| 0).collect();
        let mut at = self.walk.offset() as isize;
        let mut rest = start;
        for k in (0..shape.rank()).rev() {
            index[k] = rest % shape[k];
            rest /= shape[k];
            at += index[k] as isize * strides[k];
        }
        let mut left = length;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let begun = index.last().copied().unwrap_or(0);
            let run = Run { at, stride, length: (inner - begun).min(left) };
            left -= run.length;
            // On to the next row.
            at -= begun as isize * stride;
            if let Some(last) = index.last_mut() {
                *last = 0;
            }
            for k in (0..shape.rank().saturating_sub(1)).rev() {
                index[k] += 1;
                at += strides[k];
                if index[k] < shape[k] {
                    break;
                }
                at -= index[k] as isize * strides[k];
                index[k] = 0;
            }
            Some(run)
        })
    }
}
