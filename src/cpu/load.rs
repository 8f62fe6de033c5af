//! Elements of any layout in tiles: a contiguous range is borrowed, and other elements are gathered.

use std::ops::Range;

use bytemuck::Pod;

use super::lines::prefetch;
use crate::layout::Layout;
use crate::vectors;

/// Elements of a row with gaps around it that is read and written in place. Shorter ones are copied.
const SHORTEST_RUN: usize = 64;

/// A row of fewer elements is short: its loop costs more than they do.
const SHORTEST_ROW: usize = 8;

/// Elements of a block of short rows.
const LARGEST_BLOCK: usize = 64;

/// Writes rows of `row` elements each: `rows[r * row + c] = source[r + c * stride]`. Squares are transposed in cache,
/// with a cache line of `SIDE` elements. The next squares are prefetched, as their lines lie too far apart for the
/// processor to guess.
fn turn<M: Pod, const SIDE: usize>(source: &[M], stride: usize, rows: &mut [M], row: usize) {
    let mut square = [[M::zeroed(); SIDE]; SIDE];
    for left in (0..row).step_by(SIDE) {
        let width = SIDE.min(row - left);
        for (k, rows) in rows.chunks_mut(SIDE * row).enumerate() {
            let height = rows.len() / row;
            let lines = (left..left + width).map(|c| k * SIDE + c * stride);
            let next = lines.clone().map(|at| at + SIDE * stride);
            // Both ends, as a side need not begin at a line.
            next.flat_map(|at| [source.get(at), source.get(at + height - 1)]).flatten().for_each(prefetch);
            for (c, at) in lines.enumerate() {
                for (square, &element) in square.iter_mut().zip(&source[at..at + height]) {
                    square[c] = element;
                }
            }
            for (row, square) in rows.chunks_mut(row).zip(&square) {
                row[left..left + width].copy_from_slice(&square[..width]);
            }
        }
    }
}

#[inline(always)]
fn copy<'a, M: Pod>(out: &mut [M], from: impl Iterator<Item = &'a M>) {
    out.iter_mut().zip(from).for_each(|(out, &element)| *out = element);
}

/// Every `N`-th element. A loop with a known `N` vectorizes.
#[inline(always)]
fn every<M: Pod, const N: usize>(out: &mut [M], source: &[M]) {
    let (chunks, rest) = source.as_chunks::<N>();
    let (out, last) = out.split_at_mut(chunks.len());
    out.iter_mut().zip(chunks).for_each(|(out, chunk)| *out = chunk[0]);
    copy(last, rest.iter());
}

/// Repeats every element `row` times.
pub(super) fn spread<M: Pod>(source: &[M], row: usize, out: &mut [M]) {
    vectors::dispatch(Spread { source, row, out });
}

struct Spread<'a, M> {
    source: &'a [M],
    row: usize,
    out: &'a mut [M],
}

impl<M: Pod> vectors::Loop for Spread<'_, M> {
    #[inline(always)]
    fn run(self) {
        #[inline(always)]
        fn by<M: Pod, const N: usize>(source: &[M], out: &mut [M]) {
            out.as_chunks_mut::<N>().0.iter_mut().zip(source).for_each(|(out, &element)| *out = [element; N]);
        }
        let Spread { source, row, out } = self;
        match row {
            2 => by::<M, 2>(source, out),
            3 => by::<M, 3>(source, out),
            4 => by::<M, 4>(source, out),
            _ => out.chunks_exact_mut(row).zip(source).for_each(|(out, &element)| out.fill(element)),
        }
    }
}

/// Elements of a layout from a place on, until `out` is full.
struct Gather<'a, M> {
    reader: &'a Reader,
    source: &'a [M],
    start: usize,
    out: &'a mut [M],
}

impl<M: Pod> vectors::Loop for Gather<'_, M> {
    #[inline(always)]
    fn run(self) {
        let Gather { reader, source, start, out } = self;
        // Whole blocks, and what lies before and behind them by rows.
        let size = reader.blocks.as_ref().map_or(1, |blocks| blocks.offsets.len());
        let head = match reader.blocks {
            Some(_) => (start.next_multiple_of(size) - start).min(out.len()),
            None => out.len(),
        };
        let (before, out) = out.split_at_mut(head);
        let (whole, after) = out.split_at_mut(out.len() / size * size);
        let (first, end) = (start + head, start + head + whole.len());
        if let Some(blocks) = &reader.blocks {
            blocks.gather(source, first / size, whole);
        }
        for (start, out) in [(start, before), (end, after)] {
            Gather { reader, source, start, out }.by_rows();
        }
    }
}

impl<M: Pod> Gather<'_, M> {
    #[inline(always)]
    fn by_rows(self) {
        let Gather { reader, source, start, out } = self;
        let mut rest = out;
        for run in reader.runs(start, rest.len()) {
            let (out, after) = rest.split_at_mut(run.length);
            rest = after;
            let at = run.at as usize;
            let far = (run.length - 1) * run.stride.unsigned_abs();
            match run.stride {
                1 => out.copy_from_slice(&source[at..at + run.length]),
                0 => out.fill(source[at]),
                -1 => copy(out, source[at - far..=at].iter().rev()),
                2 => every::<M, 2>(out, &source[at..=at + far]),
                3 => every::<M, 3>(out, &source[at..=at + far]),
                4 => every::<M, 4>(out, &source[at..=at + far]),
                stride if stride > 0 => copy(out, source[at..=at + far].iter().step_by(stride as usize)),
                stride => copy(out, source[at - far..=at].iter().rev().step_by(stride.unsigned_abs())),
            }
        }
    }
}

/// A layout that is read in row-major order, tile by tile.
#[derive(Debug)]
pub(super) struct Reader {
    /// The fewest axes, outermost first.
    walk: Layout,
    /// If rows are short.
    blocks: Option<Box<Blocks>>,
}

/// A layout whose last axes are short and follow a long one, such as windows. Each place of a block is copied along the long
/// axis, because a loop for each short row costs more than its elements.
#[derive(Debug)]
struct Blocks {
    /// The first elements of the blocks.
    outer: Reader,
    /// From there, the elements of a block.
    offsets: Vec<isize>,
}

impl Blocks {
    fn new(walk: &Layout) -> Option<Box<Blocks>> {
        let shape = walk.shape();
        let (mut first, mut size) = (shape.rank(), 1);
        while first > 0 && shape[first - 1] < SHORTEST_ROW && size * shape[first - 1] <= LARGEST_BLOCK {
            first -= 1;
            size *= shape[first];
        }
        if first == 0 || shape[first - 1] < SHORTEST_ROW || size < 2 {
            return None;
        }
        let without = |axes: Range<usize>| {
            let walk = axes.rev().try_fold(walk.clone(), |own, axis| {
                own.slice(axis as isize, 0..1, 1)?.squeeze(axis as isize)
            });
            Some(Reader { walk: walk.ok()?, blocks: None })
        };
        let (outer, block) = (without(first..shape.rank())?, without(0..first)?);
        let mut offsets = vec![0; size];
        block.addresses(0, &mut offsets, |at| at - walk.offset() as isize);
        Some(Box::new(Blocks { outer, offsets }))
    }

    /// Copies blocks from one on until `out` is full.
    #[inline(always)]
    fn gather<M: Pod>(&self, source: &[M], start: usize, out: &mut [M]) {
        let size = self.offsets.len();
        let mut rest = out;
        for run in self.outer.runs(start, rest.len() / size) {
            let (out, after) = rest.split_at_mut(run.length * size);
            rest = after;
            for (place, offset) in self.offsets.iter().enumerate() {
                let out = out[place..].iter_mut().step_by(size);
                let at = run.at + offset;
                if run.stride == 1 {
                    out.zip(&source[at as usize..][..run.length]).for_each(|(out, &element)| *out = element);
                } else {
                    let from = (0..run.length as isize).map(|i| source[(at + i * run.stride) as usize]);
                    out.zip(from).for_each(|(out, element)| *out = element);
                }
            }
        }
    }
}

/// A range of a tile with one stride.
struct Run {
    at: isize,
    stride: isize,
    length: usize,
}

impl Reader {
    pub(super) fn new(layout: &Layout) -> Self {
        let walk = layout.simplified();
        Reader { blocks: Blocks::new(&walk), walk }
    }

    /// Address and stride of elements `start..start + length`, if one stride describes them.
    pub(super) fn run(&self, start: usize, length: usize) -> Option<(usize, isize)> {
        let (shape, strides) = (self.walk.shape(), self.walk.strides());
        let offset = self.walk.offset() as isize;
        let (Some((&inner, outer)), Some((&stride, outer_strides))) =
            (shape.split_last(), strides.split_last())
        else {
            return Some((offset as usize, 1));
        };
        let column = if outer.is_empty() { start } else { start % inner };
        if column + length > inner {
            return None;
        }
        let mut at = offset + column as isize * stride;
        let mut rest = start / inner;
        for (k, (&n, &stride)) in outer.iter().zip(outer_strides).enumerate().rev() {
            let index = if k == 0 { rest } else { rest % n };
            at += index as isize * stride;
            rest /= n;
        }
        Some((at as usize, if length == 1 { 1 } else { stride }))
    }

    /// The distance of rows in memory, if it is the same for all. There are `rows` rows of `row` elements, from an
    /// element on.
    pub(super) fn pitch(&self, start: usize, rows: usize, row: usize) -> Option<usize> {
        let ([.., n, inner], [.., stride, _]) = (&self.walk.shape()[..], self.walk.strides()) else {
            return None;
        };
        let is_whole = *inner == row && start / row % n + rows <= *n;
        usize::try_from(*stride).ok().filter(|_| is_whole)
    }

    /// Copies elements from `start` on until `out` is full.
    pub(super) fn gather<M: Pod>(&self, source: &[M], start: usize, out: &mut [M]) {
        vectors::dispatch(Gather { reader: self, source, start, out });
    }

    /// The number of equal neighbouring elements, if it is the same everywhere.
    pub(super) fn repeats(&self) -> Option<usize> {
        let strides = self.walk.strides();
        let first = strides.iter().position(|&stride| stride != 0).filter(|&first| first > 0)?;
        Some(self.walk.shape()[first..].iter().product())
    }

    /// Whether rows lie across memory: elements of a row lie apart, and neighbouring rows lie side by side. Then
    /// [`gather_rows`](Self::gather_rows) reads every cache line once.
    pub(super) fn is_turned(&self) -> bool {
        let strides = self.walk.strides();
        matches!(strides, [.., 1, inner] if *inner > 1)
    }

    /// The length of rows that are contiguous in memory, and their distance, if they are long enough to be read and
    /// written one by one.
    pub(super) fn rows(&self) -> Option<[usize; 2]> {
        let &[.., pitch, 1] = self.walk.strides() else { return None };
        let pitch = usize::try_from(pitch).ok().filter(|pitch| *pitch > 0);
        pitch.map(|pitch| [self.row(), pitch]).filter(|[row, _]| *row >= SHORTEST_RUN)
    }

    /// Elements of a row.
    pub(super) fn row(&self) -> usize {
        self.walk.shape().last().copied().unwrap_or(1)
    }

    /// [`gather`](Self::gather) of a transposed layout, from the start of a row on, by squares with a cache line of
    /// `SIDE` elements.
    pub(super) fn gather_rows<M: Pod, const SIDE: usize>(&self, source: &[M], start: usize, out: &mut [M]) {
        let row = self.row();
        let mut runs = self.runs(start, out.len()).peekable();
        let mut rest = out;
        while let Some(first) = runs.next() {
            // Rows along the axis of stride 1.
            let mut count = 1;
            let follows = |run: &Run, count| run.at == first.at + count && run.length == row;
            while first.length == row && runs.next_if(|run| follows(run, count as isize)).is_some() {
                count += 1;
            }
            let (rows, after) = rest.split_at_mut(first.length * count);
            rest = after;
            turn::<M, SIDE>(&source[first.at as usize..], first.stride as usize, rows, first.length);
        }
    }

    /// Values of addresses: `of` maps each.
    pub(super) fn addresses<A>(&self, start: usize, out: &mut [A], of: impl Fn(isize) -> A) {
        let mut rest = out;
        for run in self.runs(start, rest.len()) {
            let (out, after) = rest.split_at_mut(run.length);
            rest = after;
            for (i, out) in out.iter_mut().enumerate() {
                *out = of(run.at + i as isize * run.stride);
            }
        }
    }

    /// The inverse of [`gather`](Self::gather): moves elements to their places.
    pub(super) fn scatter<M: Pod>(&self, source: &[M], out: &mut [M]) {
        let mut rest = source;
        for run in self.runs(0, source.len()) {
            let (from, after) = rest.split_at(run.length);
            rest = after;
            if run.stride == 1 {
                out[run.at as usize..][..run.length].copy_from_slice(from);
                continue;
            }
            for (i, &value) in from.iter().enumerate() {
                out[(run.at + i as isize * run.stride) as usize] = value;
            }
        }
    }

    /// The runs of elements `start..start + length`.
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
            // The next row.
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
