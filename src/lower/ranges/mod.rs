//! Cuts: work over storages that no kernel binds whole becomes chunks, each over one range of every storage.
//!
//! A storage is several buffers, all but the last of one size. A range lies in one of them, and a kernel binds a
//! limited number of bytes. The work is a box of indices, and each layout maps it to a part of its storage. If that
//! part is no range, the box is cut along an axis: at the end of a buffer, if the part crosses one, and into a few
//! equal chunks, if it is only too long. A box with more work than a kernel may have is cut too.

mod boxes;
#[cfg(test)]
mod tests;

use std::ops::Range;

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{BindingRange, Extent, Input, Program, Slot, Source};
use crate::layout::{Layout, Nest, Path};
use crate::plan::LANES;

use boxes::{Cut, Ranges, Reach};

/// Bytes of the widest vector. Storages and ranges are multiples of it, so that a wide access of the last element stays
/// inside.
pub(crate) const VECTOR: u64 = 8 * LANES as u64;

/// Bindings are multiples of this many bytes.
const WORD: u64 = 4;

/// The least alignment of ranges: a whole vector of any type.
const LINE: u64 = 64;

/// The grain of cuts along an axis, if the axis is that long: rows of any length then begin at vectors, and ranges do
/// too.
const GRAIN: usize = 64;

/// How a device cuts storages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// The most bytes that a kernel binds of a buffer.
    window: u64,
    /// The bytes of each buffer of a storage but its last: whole grains of any type.
    buffer: u64,
    /// The alignment of ranges.
    align: u64,
    /// The most elements that a kernel counts.
    elements: usize,
    /// The most work of a kernel ([`Program::work`]).
    work: u64,
}

/// A chunk of work.
#[derive(Debug)]
pub(crate) struct Part {
    pub program: Program,
    /// The place of its result.
    pub to: Slot,
    pub layout: Layout,
    /// Whether that is all of the range, in row-major order, so that whole vectors may be written.
    pub fresh: bool,
}

impl Cuts {
    /// The cuts of a device with buffers and bindings of at most this many bytes.
    pub(crate) fn new(buffer: u64, window: u64, align: u64, elements: usize) -> Cuts {
        let align = align.max(LINE);
        let grains = (GRAIN * 8) as u64;
        let grains = grains.max(align).next_multiple_of(grains);
        let (window, buffer) = (window / LINE * LINE, (buffer / grains * grains).max(grains));
        Cuts { window, buffer, align, elements, work: u64::MAX }
    }

    /// The cuts of a device that binds everything.
    #[cfg(test)]
    pub(crate) const UNBOUND: Cuts = Cuts {
        window: u64::MAX >> 1,
        buffer: u64::MAX >> 1,
        align: LINE,
        elements: usize::MAX,
        work: u64::MAX,
    };

    /// The same with at most this much work for a kernel.
    pub(crate) fn within(self, work: u64) -> Cuts {
        Cuts { work, ..self }
    }

    /// The bytes of elements in a storage.
    fn bytes(elements: usize, dtype: DType) -> u64 {
        let bytes = (elements as u64).saturating_mul(dtype.size() as u64).max(1);
        bytes.checked_next_multiple_of(VECTOR).unwrap_or(u64::MAX)
    }

    /// The most elements that a kernel counts.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// The most bytes of a buffer.
    pub(crate) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// The most bytes of a storage that is not cut.
    pub(crate) fn whole(&self) -> u64 {
        self.window.min(self.buffer)
    }

    /// The sizes of a storage's buffers.
    pub(crate) fn buffers(&self, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let (size, whole) = (self.buffer, bytes.max(1).next_multiple_of(VECTOR));
        (0..whole.div_ceil(size)).map(move |i| size.min(whole - i * size))
    }

    /// The buffers of a range of bytes, and the bytes in each.
    pub(crate) fn stretch(&self, start: u64, end: u64) -> impl Iterator<Item = (usize, u64, u64)> + use<> {
        let size = self.buffer;
        (start / size..end.div_ceil(size)).map(move |i| {
            let first = i * size;
            (i as usize, start.max(first) - first, end.min(first + size) - first)
        })
    }

    /// Whether one range shows all of a storage.
    pub(crate) fn shows(&self, elements: usize, dtype: DType) -> bool {
        Cuts::bytes(elements, dtype) <= self.whole()
    }

    /// Whether a program into a new storage is one chunk.
    pub(crate) fn is_whole(&self, program: &Program) -> bool {
        self.is_shown(program) && self.is_short(program)
    }

    /// Whether a kernel may have all work of a program. Without a bound, work is not counted.
    pub(crate) fn is_short(&self, program: &Program) -> bool {
        self.work == u64::MAX || program.work() <= self.work
    }

    /// Slices of a program along its first long axis, each with the work of a kernel: the axis, and the indices of
    /// each. `None` if ranges cannot begin at the slices' results.
    pub(crate) fn slices(
        &self,
        program: &Program,
    ) -> Option<(usize, impl Iterator<Item = Range<usize>> + use<>)> {
        let axis = program.shape.iter().position(|&n| n > 1)?;
        let length = program.shape[axis];
        let inner: usize = program.shape[axis + 1..].iter().product();
        // This many rows of any type are whole lines.
        let grain = (self.align >> inner.trailing_zeros().min(self.align.trailing_zeros())) as usize;
        let parts = program.work().div_ceil(self.work).min(length as u64) as usize;
        // Each slice reads everything that is stretched along the axis.
        let is_short = |&rows: &usize| {
            program.slice(axis as isize, 0..rows as isize).is_ok_and(|slice| self.is_short(&slice))
        };
        let halves = std::iter::successors(Some(length / parts), |rows| Some(rows / 2));
        let rows = halves.map(|rows| rows / grain * grain).take_while(|&rows| rows > 0).find(is_short)?;
        Some((axis, (0..length).step_by(rows).map(move |at| at..length.min(at + rows))))
    }

    /// The range of a new storage, bound whole, that shows some of its elements.
    pub(crate) fn window(elements: Range<usize>, dtype: DType) -> BindingRange {
        let start = (elements.start * dtype.size()) as u64;
        BindingRange { buffer: 0, start, size: Cuts::bytes(elements.end, dtype) - start }
    }

    /// Ranges of a storage's elements that fit a binding, as elements of a type or of u32, and that a kernel counts.
    /// One range, if possible.
    pub(crate) fn ranges(&self, elements: usize, dtype: DType) -> Vec<Range<usize>> {
        let sizes = [dtype.size(), size_of::<u32>()];
        if self.shows(elements, dtype) && elements <= self.elements {
            return std::iter::once(0..elements).collect();
        }
        let grain = GRAIN.max(self.align as usize / sizes[1]);
        let step = (self.whole() as usize / sizes[0]).min(self.elements) / grain * grain;
        let mut ranges = Vec::new();
        let mut start = 0;
        while start < elements {
            let edge = |size: usize| (start * size / self.buffer as usize + 1) * self.buffer as usize / size;
            let end = sizes.map(edge).into_iter().fold(elements.min(start + step.max(grain)), usize::min);
            ranges.push(start..end);
            start = end;
        }
        ranges
    }

    /// The slot with one of these ranges bound.
    pub(crate) fn bound(&self, slot: Slot, range: &Range<usize>, dtype: DType) -> Slot {
        if *range == (0..slot.elements) {
            return slot;
        }
        let (first, bytes) = ((range.start * dtype.size()) as u64, Cuts::bytes(range.len(), dtype));
        let range =
            BindingRange { buffer: (first / self.buffer) as usize, start: first % self.buffer, size: bytes };
        Slot { range: Some(range), ..slot }
    }

    /// Whether one range of each storage shows everything that a program reads and writes to a new storage.
    pub(crate) fn is_shown(&self, program: &Program) -> bool {
        let count = program.counted();
        let results: usize = program.result_shape().iter().product();
        let shown = |input: &Input| match input.source {
            Source::Slot(slot) => self.shows(slot.elements, input.dtype),
            _ => true,
        };
        let has_room = |i: usize| self.shows(results, program.result_type(i));
        count <= self.elements && (0..program.results.len()).all(has_room) && program.inputs.iter().all(shown)
    }

    /// The chunks of a table, unless one range shows everything that a program looks up in it.
    pub(crate) fn pieces(&self, table: &Input) -> Option<Vec<Piece>> {
        let Source::Slot(slot) = table.source else { return None };
        if self.shows(slot.elements, table.dtype) || table.layout.count() == 0 {
            return None;
        }
        // The offset of lanes counts as an index too.
        let (shape, computed) = (table.layout.shape(), &table.computed);
        let strides = table.layout.strides().iter().copied().chain(computed.iter().map(|e| e.stride));
        let path = Path { offset: table.layout.offset(), strides: strides.collect() };
        let path = Reach { path, computed: (0, 0) };
        let lengths: SmallVec<[usize; 6]> =
            shape.iter().copied().chain(computed.iter().map(|extent| extent.length)).collect();
        let size = table.dtype.size() as u64;
        let mut open = vec![Ranges::all(lengths)];
        let mut pieces = Vec::new();
        while let Some(part) = open.pop() {
            let (low, high) = path.reach(&part);
            let first = low as u64 * size / self.buffer * self.buffer;
            let is_shown = (high as u64 + 1) * size <= first + self.buffer
                && (high - low) as u64 * size + 2 * self.align <= self.window;
            match if is_shown { None } else { self.cut(&path, &part, size, usize::MAX) } {
                Some(cut) => {
                    let (low, high) = part.cut(cut);
                    open.extend([high, low]);
                }
                None => {
                    let range = |axis: usize| part.starts[axis]..part.end(axis);
                    pieces.push(Piece {
                        axes: (0..shape.rank()).map(range).collect(),
                        indices: (shape.rank()..part.lengths.len()).map(range).collect(),
                    });
                }
            }
        }
        (pieces.len() > 1).then_some(pieces)
    }

    /// A cut of a part whose elements of a size lie in several buffers or are too many for a range, of at most `most`.
    fn cut(&self, path: &Reach, part: &Ranges, size: u64, most: usize) -> Option<Cut> {
        let (low, high) = path.reach(part);
        let end = (low as u64 * size / self.buffer + 1) * self.buffer;
        let cut = match (high as u64 + 1) * size > end {
            true => path.cut_at(part, (end / size) as usize),
            false => path.cut_to(part, most.min(((self.window - 2 * self.align) / size) as usize)),
        };
        cut.or_else(|| path.halve(part))
    }

    /// The chunks of a program over a non-empty shape, whose result goes to a layout of a slot; to all of it if it is
    /// `fresh`. Inputs that read the same slot have the same layout.
    pub(crate) fn parts<'a>(
        &self,
        program: &'a Program,
        (to, layout, fresh): (Slot, &'a Layout, bool),
    ) -> impl Iterator<Item = Result<Part>> + use<'a> {
        let work = Work::new(*self, program, to, layout, fresh);
        let mut open = vec![Ranges::all(work.lengths.clone())];
        std::iter::from_fn(move || {
            while let Some(part) = open.pop() {
                match work.windows(&part) {
                    Err(error) => return Some(Err(error)),
                    Ok(Ok(windows)) => return Some(work.part(&part, &windows)),
                    Ok(Err(cut)) => {
                        let (low, high) = part.cut(cut);
                        open.extend([high, low]);
                    }
                }
            }
            None
        })
    }
}

/// A chunk of a table: the part that is read at some of a program's indices, and at some computed indices.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub axes: Vec<Range<usize>>,
    pub indices: Vec<Range<usize>>,
}

/// The reach of computed indices, down and up.
fn led(computed: &[Extent]) -> (usize, usize) {
    computed.iter().fold((0, 0), |(down, up), Extent { length, stride }| {
        let most = (length - 1) * stride.unsigned_abs();
        if *stride < 0 { (down + most, up) } else { (down, up + most) }
    })
}

/// The storage of a layout.
#[derive(Clone, Copy)]
struct Tensor {
    slot: Slot,
    dtype: DType,
}

/// The ranges of a chunk: the result's, and the one that each input reads.
struct Windows {
    all: SmallVec<[(Slot, BindingRange); 4]>,
    of: SmallVec<[Option<usize>; 8]>,
}

/// A program, with axes merged where all layouts step as along one.
struct Work<'a> {
    cuts: Cuts,
    program: &'a Program,
    to: Slot,
    fresh: bool,
    lengths: SmallVec<[usize; 6]>,
    /// For the result, then for each input.
    paths: Vec<Reach>,
    tensors: Vec<Option<Tensor>>,
}

/// The outcome for a layout in a chunk: a range, or a cut.
type Found = std::result::Result<BindingRange, Cut>;

impl<'a> Work<'a> {
    fn new(cuts: Cuts, program: &'a Program, to: Slot, layout: &Layout, fresh: bool) -> Self {
        let layouts = std::iter::once(layout).chain(program.inputs.iter().map(|input| &input.layout));
        let Nest { lengths, paths } =
            Nest::row_major(&program.shape, &layouts.collect::<SmallVec<[&Layout; 8]>>());
        let computed = std::iter::once((0, 0)).chain(program.inputs.iter().map(|input| led(&input.computed)));
        let paths =
            paths.into_iter().zip(computed).map(|(path, computed)| Reach { path, computed }).collect();
        let tensor = |input: &Input| match input.source {
            Source::Slot(slot) => Some(Tensor { slot, dtype: input.dtype }),
            _ => None,
        };
        let result = Tensor { slot: to, dtype: program.dtype };
        let tensors = std::iter::once(Some(result)).chain(program.inputs.iter().map(tensor)).collect();
        Work { cuts, program, to, fresh, lengths, paths, tensors }
    }

    /// The range of a layout, or a cut.
    fn find(&self, i: usize, Tensor { slot, dtype }: Tensor, part: &Ranges) -> Result<Found> {
        let Cuts { window, buffer, align, elements, .. } = self.cuts;
        let (path, size) = (&self.paths[i], dtype.size() as u64);
        let (low, high) = path.reach(part);
        let (start, end) = (low as u64 * size, (high as u64 + 1) * size);
        let number = start / buffer;
        let first = number * buffer;
        let counts = part.lengths.iter().product::<usize>() <= elements;
        if end <= first + buffer {
            let bytes = match slot.is_exact {
                true => (slot.elements as u64 * size).next_multiple_of(WORD),
                false => Cuts::bytes(slot.elements, dtype),
            };
            let held = buffer.min(bytes - first);
            let new = i == 0 && self.fresh;
            let from = (start - first) / align * align;
            let to = (end - first).next_multiple_of(LINE).min(held);
            // All of a small buffer is one range for all chunks. A new result's range begins with the chunk.
            let (from, to) = if held <= window && !new { (0, held) } else { (from, to) };
            if to - from <= window && (counts || i > 0) {
                return Ok(Ok(BindingRange { buffer: number as usize, start: from, size: to - from }));
            }
        }
        match self.cuts.cut(path, part, size, if counts { usize::MAX } else { elements }) {
            Some(cut) => Ok(Err(cut)),
            None => bail!(Kernel, "no window of {window} bytes shows an element of {slot:?}"),
        }
    }

    /// The cut of a chunk that takes too long: into equal parts, along the axis along which the result's elements lie
    /// furthest apart.
    fn shorter(&self, part: &Ranges) -> Option<Cut> {
        if self.cuts.work == u64::MAX {
            return None;
        }
        let before = self.program.work_before(&part.lengths, |i| &self.paths[i + 1].path.strides);
        let stored = part.lengths.iter().product::<usize>() * self.program.dtype.size();
        let parts = before.saturating_add(stored as u64).div_ceil(self.cuts.work);
        if parts <= 1 {
            return None;
        }
        let path = &self.paths[0];
        let axis = path.axes(part).max_by_key(|&axis| path.spread(part, axis))?;
        let length = (part.lengths[axis] as u64 / parts).max(1) as usize;
        Some(Cut { axis, before: part.near(axis, part.starts[axis] + length, false) })
    }

    /// The ranges of a chunk, or a cut.
    fn windows(&self, part: &Ranges) -> Result<std::result::Result<Windows, Cut>> {
        if let Some(cut) = self.shorter(part) {
            return Ok(Err(cut));
        }
        let mut windows = Windows { all: SmallVec::new(), of: SmallVec::new() };
        for (i, tensor) in self.tensors.iter().enumerate() {
            let Some(tensor) = *tensor else {
                windows.of.push(None);
                continue;
            };
            let window = match self.find(i, tensor, part)? {
                Ok(window) => window,
                Err(cut) => return Ok(Err(cut)),
            };
            // The result's range is bound for writing, and shows only elements of its layout.
            let known = windows.all.iter_mut().enumerate().find_map(|(k, (slot, known))| {
                if *slot != tensor.slot {
                    return None;
                }
                let both = with(known, &window).filter(|both| both.size <= self.cuts.window)?;
                (k > 0 || both == *known).then(|| *known = both).map(|()| k)
            });
            if known.is_none() && i > 0 && tensor.slot == self.to {
                bail!(Kernel, "{:?} is read and written apart by one kernel", self.to);
            }
            windows.of.push(Some(known.unwrap_or_else(|| {
                windows.all.push((tensor.slot, window));
                windows.all.len() - 1
            })));
        }
        Ok(Ok(windows))
    }

    /// The program over some indices and ranges.
    fn part(&self, part: &Ranges, windows: &Windows) -> Result<Part> {
        let bound = windows.all.iter().map(|&(slot, range)| Slot { range: Some(range), ..slot });
        let bound: SmallVec<[Slot; 4]> = bound.collect();
        let layout = |i: usize, dtype: DType| {
            let path = &self.paths[i];
            // A stretched axis begins with the same element in every chunk.
            let first = path.first(part);
            let skipped = windows.of[i].map_or(0, |k| {
                let window = windows.all[k].1;
                (window.buffer as u64 * self.cuts.buffer + window.start) / dtype.size() as u64
            });
            Layout::strided(&part.lengths[..], &path.path.strides, first - skipped as usize, usize::MAX)
        };
        let mut program = self.program.clone();
        program.shape = part.lengths[..].into();
        for (i, input) in program.inputs.iter_mut().enumerate() {
            input.layout = layout(i + 1, input.dtype)?;
            if let Some(k) = windows.of[i + 1] {
                input.source = Source::Slot(bound[k]);
            }
        }
        let layout = layout(0, program.dtype)?;
        let count = layout.count();
        let ends = self.paths[0].reach(part).1 + 1 == self.to.elements;
        let whole = layout.offset() == 0 && layout.is_contiguous() && (count.is_multiple_of(LANES) || ends);
        Ok(Part { program, to: bound[0], layout, fresh: self.fresh && whole })
    }
}

/// The common range of both, if one buffer has both.
fn with(one: &BindingRange, other: &BindingRange) -> Option<BindingRange> {
    if one.buffer != other.buffer {
        return None;
    }
    let start = one.start.min(other.start);
    let end = (one.start + one.size).max(other.start + other.size);
    Some(BindingRange { size: end - start, start, ..*one })
}
