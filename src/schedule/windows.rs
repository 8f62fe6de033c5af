//! Windows: work over storages that no kernel binds whole becomes parts, each over one window of every
//! storage. Pure; no device.
//!
//! A storage is cut into buffers, all but the last of one size. A window lies within one of them, and a kernel
//! binds so many bytes at most. The work is a box of indexes, and each layout leads from it to a stretch of
//! its storage. Where that is no window, the box is cut along an axis: at the end of a buffer, where the
//! stretch crosses one, and into few parts alike where it is only too long.

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::expr::{Input, Kept, Program, Source, Storage};
use crate::layout::Layout;

/// Elements of a vector, which kernels compute side by side.
pub(crate) const LANES: usize = 4;

/// Bytes of the widest vector. Storages and windows are whole ones, so that a wide access of the last element
/// stays inside.
const VECTOR: u64 = 8 * LANES as u64;

/// Bytes that windows begin at multiples of, if nothing asks for more: any vector begins so.
const LINE: u64 = 64;

/// Elements that a part begins at multiples of along the axis it is cut on, where it is that long: then rows
/// of whatever length begin where vectors do, and windows too.
const GRAIN: usize = 64;

/// How a device cuts storages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// The most bytes that a kernel binds of a buffer.
    window: u64,
    /// The bytes of each buffer of a storage but its last: whole grains of any type.
    buffer: u64,
    /// What windows begin at multiples of.
    align: u64,
    /// The elements that a kernel counts to.
    elements: usize,
}

/// Bytes of one buffer of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// The number of the buffer.
    pub buffer: usize,
    pub start: u64,
    pub size: u64,
}

/// Work over windows.
#[derive(Debug)]
pub(crate) struct Part {
    pub program: Program,
    /// Where its result goes.
    pub to: Storage,
    pub layout: Layout,
    /// Whether that is all of the window, in row-major order: then it may be written as whole vectors.
    pub fresh: bool,
}

impl Cuts {
    /// The cuts of a device with buffers and windows of so many bytes at most.
    pub(crate) fn new(buffer: u64, window: u64, align: u64, elements: usize) -> Cuts {
        let align = align.max(LINE);
        let grains = (GRAIN * 8) as u64;
        let grains = grains.max(align).next_multiple_of(grains);
        Cuts { window: window / LINE * LINE, buffer: (buffer / grains * grains).max(grains), align, elements }
    }

    /// The bytes that elements take in a storage.
    fn bytes(elements: usize, dtype: DType) -> u64 {
        let bytes = (elements as u64).saturating_mul(dtype.size() as u64).max(1);
        bytes.checked_next_multiple_of(VECTOR).unwrap_or(u64::MAX)
    }

    /// The most bytes that a buffer has.
    pub(crate) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// The most bytes of a storage that is not cut.
    pub(crate) fn whole(&self) -> u64 {
        self.window.min(self.buffer)
    }

    /// The sizes of the buffers of a storage of so many bytes.
    pub(crate) fn buffers(&self, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let (size, whole) = (self.buffer, bytes.max(1).next_multiple_of(VECTOR));
        (0..whole.div_ceil(size)).map(move |i| size.min(whole - i * size))
    }

    /// The buffers that bytes of a storage lie in, and where in each.
    pub(crate) fn stretch(&self, start: u64, end: u64) -> impl Iterator<Item = (usize, u64, u64)> + use<> {
        let size = self.buffer;
        (start / size..end.div_ceil(size)).map(move |i| {
            let first = i * size;
            (i as usize, start.max(first) - first, end.min(first + size) - first)
        })
    }

    /// Whether a window may show all of a storage.
    fn shows(&self, elements: usize, dtype: DType) -> bool {
        Cuts::bytes(elements, dtype) <= self.whole()
    }

    /// Whether a storage of elements of a type is cut.
    pub(crate) fn divides(&self, storage: &Storage, dtype: DType) -> bool {
        !self.shows(storage.elements, dtype)
    }

    /// Whether a program into a new storage is one part: all that it reads and writes is shown by windows.
    pub(crate) fn is_whole(&self, program: &Program) -> bool {
        let count: usize = program.shape.iter().product();
        let results: usize = program.result_shape().iter().product();
        let shown = |input: &Input| match &input.source {
            Source::Tensor(storage) => self.shows(storage.elements, input.dtype),
            _ => true,
        };
        count <= self.elements && self.shows(results, program.dtype) && program.inputs.iter().all(shown)
    }

    /// Whether a window may show all results of a program.
    pub(crate) fn has_room(&self, program: &Program) -> bool {
        let count: usize = program.shape.iter().product();
        count <= self.elements && self.shows(count, program.dtype)
    }

    /// Divides a program over a non-empty shape, whose result goes to a layout of a storage, all of it where
    /// it is `fresh`. `bind` gives a storage for a window of one, and `each` takes the parts. Sources in the
    /// destination's own storage have its layout.
    pub(crate) fn parts(
        &self,
        program: &Program,
        (to, layout, fresh): (&Storage, &Layout, bool),
        bind: &mut dyn FnMut(&Storage, Window) -> Result<Storage>,
        each: &mut dyn FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        let work = Work::new(*self, program, to, layout, fresh);
        let mut open = vec![work.all()];
        while let Some(part) = open.pop() {
            match work.windows(&part)? {
                Ok(windows) => each(work.part(&part, &windows, bind)?)?,
                Err(cut) => {
                    let (low, high) = part.cut(cut);
                    open.extend([high, low]);
                }
            }
        }
        Ok(())
    }
}

/// A range of indexes on every axis.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranges {
    starts: SmallVec<[usize; 6]>,
    lengths: SmallVec<[usize; 6]>,
}

/// Where ranges are cut in two: before an index of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    axis: usize,
    before: usize,
}

impl Ranges {
    fn end(&self, axis: usize) -> usize {
        self.starts[axis] + self.lengths[axis]
    }

    fn cut(self, Cut { axis, before }: Cut) -> (Ranges, Ranges) {
        let (mut low, mut high) = (self.clone(), self);
        low.lengths[axis] = before - low.starts[axis];
        high.lengths[axis] -= low.lengths[axis];
        high.starts[axis] = before;
        (low, high)
    }

    /// An index within an axis near to one there: of the next whole grain, if that is inside.
    fn near(&self, axis: usize, index: usize, up: bool) -> usize {
        let whole = if up { index.next_multiple_of(GRAIN) } else { index / GRAIN * GRAIN };
        if (self.starts[axis] + 1..self.end(axis)).contains(&whole) { whole } else { index }
    }
}

/// A layout over axes that are merged.
#[derive(Clone, Debug)]
struct Walk {
    offset: usize,
    strides: SmallVec<[isize; 6]>,
}

impl Walk {
    /// The elements between the first and the last along an axis of some ranges.
    fn spread(&self, ranges: &Ranges, axis: usize) -> usize {
        (ranges.lengths[axis] - 1) * self.strides[axis].unsigned_abs()
    }

    fn first(&self, ranges: &Ranges) -> usize {
        let steps = self.strides.iter().zip(&ranges.starts).map(|(&stride, &start)| stride * start as isize);
        (self.offset as isize + steps.sum::<isize>()) as usize
    }

    /// The least and the greatest element.
    fn reach(&self, ranges: &Ranges) -> (usize, usize) {
        let axes = 0..self.strides.len();
        let (mut low, mut high) = (self.first(ranges), self.first(ranges));
        for axis in axes {
            match self.strides[axis] < 0 {
                true => low -= self.spread(ranges, axis),
                false => high += self.spread(ranges, axis),
            }
        }
        (low, high)
    }

    fn axes<'a>(&'a self, ranges: &'a Ranges) -> impl Iterator<Item = usize> + use<'a> {
        (0..self.strides.len()).filter(|&axis| ranges.lengths[axis] > 1 && self.strides[axis] != 0)
    }

    /// Where to cut so that a buffer that begins with an element is on one side: the longest way to all that
    /// is before it, or to all that is not.
    fn cut_at(&self, ranges: &Ranges, element: usize) -> Option<Cut> {
        let (low, high) = self.reach(ranges);
        let mut axes: SmallVec<[usize; 6]> = self.axes(ranges).collect();
        axes.sort_by_key(|&axis| std::cmp::Reverse(self.spread(ranges, axis)));
        axes.into_iter().find_map(|axis| {
            let (stride, spread) = (self.strides[axis].unsigned_abs(), self.spread(ranges, axis));
            let others = high - low - spread;
            // Steps up that stay before the buffer whatever the others do, or else reach it anyway.
            let before = (element - 1).checked_sub(low + others).map(|rest| rest / stride + 1);
            let reach = (element - low).div_ceil(stride);
            let (steps, is_before) = match before {
                Some(before) => (before, true),
                None => (reach, false),
            };
            if steps >= ranges.lengths[axis] {
                return None;
            }
            let ascends = self.strides[axis] > 0;
            let index = if ascends { ranges.starts[axis] + steps } else { ranges.end(axis) - steps };
            // Rounded towards the side that has all of its elements in one buffer.
            Some(Cut { axis, before: ranges.near(axis, index, ascends != is_before) })
        })
    }

    /// Where to cut so that the first part reaches over `most` elements at most.
    fn cut_to(&self, ranges: &Ranges, most: usize) -> Option<Cut> {
        let (low, high) = self.reach(ranges);
        let parts = |axis: usize| {
            let others = high - low - self.spread(ranges, axis);
            let steps = most.checked_sub(1 + others)? / self.strides[axis].unsigned_abs() + 1;
            Some((axis, steps, ranges.lengths[axis].div_ceil(steps)))
        };
        let all: SmallVec<[(usize, usize, usize); 6]> = self.axes(ranges).filter_map(parts).collect();
        let least = all.iter().map(|&(.., parts)| parts).min()?;
        // Into twice as many parts, if that leaves together what is few, as channels are.
        let is_long =
            |&&(axis, _, parts): &&(usize, usize, usize)| ranges.lengths[axis] > LANES && parts <= 2 * least;
        let fewest = |&&(_, _, parts): &&(usize, usize, usize)| parts;
        let &(axis, steps, parts) =
            all.iter().filter(is_long).min_by_key(fewest).or_else(|| all.iter().min_by_key(fewest))?;
        let start = ranges.starts[axis];
        let even = start + ranges.lengths[axis].div_ceil(parts);
        let up = even.next_multiple_of(GRAIN);
        let before = if up <= start + steps { up } else { ranges.near(axis, even, false) };
        (before < ranges.end(axis)).then_some(Cut { axis, before })
    }

    /// The middle of the axis along which elements are furthest apart.
    fn halve(&self, ranges: &Ranges) -> Option<Cut> {
        let axis = self.axes(ranges).max_by_key(|&axis| self.spread(ranges, axis))?;
        Some(Cut { axis, before: ranges.starts[axis] + ranges.lengths[axis] / 2 })
    }
}

/// What a layout is of.
#[derive(Clone, Copy)]
struct Tensor<'a> {
    storage: &'a Storage,
    dtype: DType,
}

/// Windows of a part: that of the result, and which of them each input reads.
struct Windows<'a> {
    all: SmallVec<[(&'a Storage, Window); 4]>,
    of: SmallVec<[Option<usize>; 8]>,
}

/// A program, its axes merged where everything walks them as one.
struct Work<'a> {
    cuts: Cuts,
    program: &'a Program,
    to: &'a Storage,
    fresh: bool,
    lengths: SmallVec<[usize; 6]>,
    /// Of the result, then of each input.
    walks: Vec<Walk>,
    tensors: Vec<Option<Tensor<'a>>>,
}

/// What becomes of a layout in a part: a window, or where the part is to be cut.
type Found = std::result::Result<Window, Cut>;

impl<'a> Work<'a> {
    fn new(cuts: Cuts, program: &'a Program, to: &'a Storage, layout: &'a Layout, fresh: bool) -> Self {
        let layouts = || std::iter::once(layout).chain(program.inputs.iter().map(|input| &input.layout));
        let mut walks: Vec<Walk> =
            layouts().map(|layout| Walk { offset: layout.offset(), strides: SmallVec::new() }).collect();
        let mut lengths: SmallVec<[usize; 6]> = SmallVec::new();
        for (axis, &n) in program.shape.iter().enumerate().filter(|&(_, &n)| n != 1) {
            let is_one = |(walk, layout): (&Walk, &Layout)| {
                walk.strides.last().is_some_and(|&outer| outer == layout.strides()[axis] * n as isize)
            };
            let merge = walks.iter().zip(layouts()).all(is_one);
            match lengths.last_mut() {
                Some(outer) if merge => *outer *= n,
                _ => lengths.push(n),
            }
            for (walk, layout) in walks.iter_mut().zip(layouts()) {
                if merge {
                    walk.strides.pop();
                }
                walk.strides.push(layout.strides()[axis]);
            }
        }
        let tensor = |input: &'a Input| match &input.source {
            Source::Tensor(storage) => Some(Tensor { storage, dtype: input.dtype }),
            _ => None,
        };
        let result = Tensor { storage: to, dtype: program.dtype };
        let tensors = std::iter::once(Some(result)).chain(program.inputs.iter().map(tensor)).collect();
        Work { cuts, program, to, fresh, lengths, walks, tensors }
    }

    fn all(&self) -> Ranges {
        Ranges { starts: SmallVec::from_elem(0, self.lengths.len()), lengths: self.lengths.clone() }
    }

    /// The window of a layout, or where to cut.
    fn find(&self, i: usize, Tensor { storage, dtype }: Tensor<'_>, part: &Ranges) -> Result<Found> {
        let Cuts { window, buffer, align, elements } = self.cuts;
        let (walk, size) = (&self.walks[i], dtype.size() as u64);
        let (low, high) = walk.reach(part);
        let (start, end) = (low as u64 * size, (high as u64 + 1) * size);
        let number = start / buffer;
        let first = number * buffer;
        let mut cut = None;
        if end > first + buffer {
            cut = walk.cut_at(part, ((first + buffer) / size) as usize);
        } else {
            let held = buffer.min(Cuts::bytes(storage.elements, dtype) - first);
            let new = i == 0 && self.fresh;
            let counts = part.lengths.iter().product::<usize>() <= elements;
            let from = (start - first) / align * align;
            let to = (end - first).next_multiple_of(LINE).min(held);
            // All of a small buffer is one window for all parts; a new result's begins with it.
            let (from, to) = if held <= window && !new { (0, held) } else { (from, to) };
            if to - from <= window && (counts || i > 0) {
                return Ok(Ok(Window { buffer: number as usize, start: from, size: to - from }));
            }
            let bytes = ((window - 2 * align) / size) as usize;
            cut = walk.cut_to(part, if counts { bytes } else { bytes.min(elements) }).or(cut);
        }
        match cut.or_else(|| walk.halve(part)) {
            Some(cut) => Ok(Err(cut)),
            None => bail!(Kernel, "no window of {window} bytes shows an element of {storage:?}"),
        }
    }

    /// The windows of a part, or where to cut it.
    fn windows(&self, part: &Ranges) -> Result<std::result::Result<Windows<'a>, Cut>> {
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
            // The result's is bound for writing, and shows only what has its layout.
            let known = windows.all.iter_mut().enumerate().find_map(|(k, (storage, known))| {
                if !storage.same(tensor.storage) {
                    return None;
                }
                let both = known.with(&window).filter(|both| both.size <= self.cuts.window)?;
                (k > 0 || both == *known).then(|| *known = both).map(|()| k)
            });
            if known.is_none() && i > 0 && tensor.storage.same(self.to) {
                bail!(Kernel, "{:?} is read and written apart by one kernel", self.to);
            }
            windows.of.push(Some(known.unwrap_or_else(|| {
                windows.all.push((tensor.storage, window));
                windows.all.len() - 1
            })));
        }
        Ok(Ok(windows))
    }

    /// The program over some ranges and windows.
    fn part(
        &self,
        part: &Ranges,
        windows: &Windows<'_>,
        bind: &mut dyn FnMut(&Storage, Window) -> Result<Storage>,
    ) -> Result<Part> {
        let bound = windows.all.iter().map(|&(storage, window)| bind(storage, window));
        let bound = bound.collect::<Result<SmallVec<[Storage; 4]>>>()?;
        let layout = |i: usize, dtype: DType| {
            let walk = &self.walks[i];
            // A stretched axis of ranges that begin later begins with the same element.
            let first = walk.first(part);
            let skipped = windows.of[i].map_or(0, |k| {
                let window = windows.all[k].1;
                (window.buffer as u64 * self.cuts.buffer + window.start) / dtype.size() as u64
            });
            Layout::strided(&part.lengths[..], &walk.strides, first - skipped as usize, usize::MAX)
        };
        let mut program = Program { ready: Kept::default(), ..self.program.clone() };
        program.shape = part.lengths[..].into();
        for (i, input) in program.inputs.iter_mut().enumerate() {
            input.layout = layout(i + 1, input.dtype)?;
            if let Some(k) = windows.of[i + 1] {
                input.source = Source::Tensor(bound[k].clone());
            }
        }
        let layout = layout(0, program.dtype)?;
        let count = layout.count();
        let ends = self.walks[0].reach(part).1 + 1 == self.to.elements;
        let whole = layout.offset() == 0 && layout.is_contiguous() && (count.is_multiple_of(LANES) || ends);
        let to = bound[0].clone();
        Ok(Part { program, to, layout, fresh: self.fresh && whole })
    }
}

impl Window {
    /// The window of both, if one buffer has both.
    fn with(&self, other: &Window) -> Option<Window> {
        if self.buffer != other.buffer {
            return None;
        }
        let start = self.start.min(other.start);
        let end = (self.start + self.size).max(other.start + other.size);
        Some(Window { size: end - start, start, ..*self })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// What is written and read: the address of each element, with its windows undone.
    type Elements = Vec<Vec<usize>>;

    fn declared(count: usize, dtype: DType) -> Storage {
        let input = Input { dtype, source: Source::Scalar(0), layout: Layout::contiguous([count]).unwrap() };
        Storage::declared(crate::Device::cpu().backend(), &Program::copy(input)).unwrap()
    }

    /// A program without steps, of inputs over storages of so many elements.
    fn program(dtype: DType, inputs: &[(usize, Layout)]) -> Program {
        let input = |(count, layout): &(usize, Layout)| {
            let source = Source::Tensor(declared(*count, dtype));
            Input { dtype, source, layout: layout.clone() }
        };
        let mut program = Program::copy(input(&inputs[0]));
        program.inputs.extend(inputs[1..].iter().map(input));
        program
    }

    fn contiguous<const N: usize>(shape: [usize; N]) -> Layout {
        Layout::contiguous(shape).unwrap()
    }

    fn elements<'a>(layouts: impl Iterator<Item = (&'a Layout, usize)>) -> Elements {
        let mut all: Elements = Vec::new();
        for (layout, skipped) in layouts {
            all.resize(layout.count(), Vec::new());
            all.iter_mut().zip(layout.addresses()).for_each(|(all, at)| all.push(at + skipped));
        }
        all
    }

    /// The parts of a program, which are checked: every window is one, every layout lies in its window, and
    /// together the parts write and read what the program does, once.
    fn parts(cuts: Cuts, program: &Program, to: (&Storage, &Layout, bool)) -> Vec<Part> {
        let mut known: HashMap<usize, Window> = HashMap::new();
        let mut parts = Vec::new();
        cuts.parts(
            program,
            to,
            &mut |storage, window| {
                assert!(window.start % cuts.align == 0 && window.size <= cuts.window, "{window:?}");
                assert!(window.start + window.size <= cuts.buffer, "{window:?}");
                let bound = Storage { buffer: std::sync::Arc::new(window.buffer), ..storage.clone() };
                known.insert(bound.address(), window);
                Ok(bound)
            },
            &mut |part| {
                parts.push(part);
                Ok(())
            },
        )
        .unwrap();
        let mut written = Vec::new();
        for part in &parts {
            let skipped = |storage: &Storage, dtype: DType, layout: &Layout| {
                let window = known[&storage.address()];
                let (low, high) = layout.reach();
                let size = dtype.size() as u64;
                assert!(low >= 0 && (high as u64 + 1) * size <= window.size, "{layout:?} in {window:?}");
                ((window.buffer as u64 * cuts.buffer + window.start) / size) as usize
            };
            if part.fresh {
                let wide = part.layout.count().next_multiple_of(LANES) * part.program.dtype.size();
                assert!(part.layout.is_identity() && wide as u64 <= known[&part.to.address()].size);
            }
            let result = (&part.layout, skipped(&part.to, part.program.dtype, &part.layout));
            let inputs = part.program.inputs.iter().map(|input| match &input.source {
                Source::Tensor(storage) => (&input.layout, skipped(storage, input.dtype, &input.layout)),
                _ => (&input.layout, 0),
            });
            written.extend(elements(std::iter::once(result).chain(inputs)));
        }
        let layouts = std::iter::once(to.1).chain(program.inputs.iter().map(|input| &input.layout));
        let mut whole = elements(layouts.map(|layout| (layout, 0)));
        written.sort_unstable();
        whole.sort_unstable();
        assert!(written == whole, "{:?} and {:?}", written.len(), whole.len());
        parts
    }

    /// The same into a new storage.
    fn fresh(cuts: Cuts, program: &Program) -> Vec<Part> {
        let layout = Layout::contiguous(&program.shape).unwrap();
        parts(cuts, program, (&declared(layout.count(), program.dtype), &layout, true))
    }

    fn shapes(parts: &[Part]) -> Vec<Vec<usize>> {
        parts.iter().map(|part| part.program.shape.to_vec()).collect()
    }

    /// Buffers of 4096 bytes, windows of 2048.
    const SMALL: (u64, u64) = (4096, 2048);

    fn small() -> Cuts {
        Cuts::new(SMALL.0, SMALL.1, 64, 1 << 20)
    }

    #[test]
    fn buffers_are_whole_grains_and_the_last_what_is_left() {
        let cuts = Cuts::new(1_000_000_007, 1 << 20, 32, 1 << 20);
        let all: Vec<u64> = cuts.buffers(2_500_000_001).collect();
        assert_eq!(all, [1_000_000_000 / 512 * 512, 1_000_000_000 / 512 * 512, 500_000_032]);
        assert_eq!(cuts.buffers(0).collect::<Vec<_>>(), [32]);
        let (a, end) = (all[0], 2 * all[0] + 8);
        let stretch: Vec<_> = cuts.stretch(a - 4, end).collect();
        assert_eq!(stretch, [(0, a - 4, a), (1, 0, a), (2, 0, 8)]);
    }

    #[test]
    fn what_fits_is_one_part() {
        let program = program(
            DType::F32,
            &[(512, contiguous([16, 32])), (32, contiguous([32]))]
                .map(|(n, layout)| (n, layout.broadcast_to(&[16, 32].into()).unwrap())),
        );
        assert!(small().is_whole(&program));
        assert_eq!(fresh(small(), &program).len(), 1);
    }

    #[test]
    fn same_shapes_are_as_many_parts_as_windows() {
        // Three buffers, the last of a quarter, each of two windows.
        let program = program(DType::F32, &[(2300, contiguous([46, 50])), (2300, contiguous([46, 50]))]);
        let parts = fresh(small(), &program);
        assert!(parts.len() <= 7 && parts.iter().all(|part| part.fresh), "{:?}", shapes(&parts));
    }

    /// Rows end nowhere near to the ends of buffers: a row apart, and what is whole stays whole.
    #[test]
    fn rows_are_cut_at_the_end_of_a_buffer() {
        let shape = [400, 17];
        let row = contiguous([17]).broadcast_to(&shape.into()).unwrap();
        let cuts = Cuts::new(16 << 10, 16 << 10, 64, 1 << 20);
        let parts = fresh(cuts, &program(DType::F32, &[(6800, contiguous(shape)), (17, row)]));
        assert!(parts.len() <= 8, "{:?}", shapes(&parts));
        let most = parts.iter().filter(|part| part.fresh).map(|part| part.layout.count()).sum::<usize>();
        assert!(most * 10 >= 6800 * 7, "{most} of {:?}", shapes(&parts));
    }

    /// 1.2 MB each way, of which windows show 128 KiB: a tile takes as much of one as of the other.
    #[test]
    fn transposed_operands_are_parts_of_both() {
        let turned = contiguous([500, 600]).permute(&[1, 0]).unwrap();
        let cuts = Cuts::new(256 << 10, 128 << 10, 64, 1 << 20);
        let parts = fresh(cuts, &program(DType::F32, &[(300_000, turned)]));
        let counts = || parts.iter().map(|part| part.layout.count());
        let large: usize = counts().filter(|&count| count >= 1000).sum();
        assert!(parts.len() <= 400 && large >= 250_000, "{large} of {}: {:?}", parts.len(), shapes(&parts));
    }

    #[test]
    fn channels_stay_together() {
        // 12 KiB onto three planes, of which windows show eleven.
        let cuts = Cuts::new(1 << 20, 11 << 10, 64, 1 << 20);
        let planes = contiguous([32, 32, 3]).permute(&[2, 0, 1]).unwrap();
        let parts = fresh(cuts, &program(DType::F32, &[(3072, planes)]));
        assert_eq!(parts.len(), 2, "{:?}", shapes(&parts));
        assert!(parts.iter().all(|part| part.program.shape[0] == 3));
    }

    #[test]
    fn a_row_longer_than_a_buffer() {
        let shape = [3, 5000];
        let column = contiguous([3, 1]).broadcast_to(&shape.into()).unwrap();
        let parts = fresh(small(), &program(DType::F32, &[(15_000, contiguous(shape)), (3, column)]));
        // Thirty windows of 2 KiB, and the ends of rows and of buffers.
        assert!(parts.len() <= 60, "{}", parts.len());
    }

    #[test]
    fn kernels_count_so_far() {
        let one = contiguous([]).broadcast_to(&[100, 100].into()).unwrap();
        let cuts = Cuts::new(1 << 20, 1 << 20, 64, 1000);
        let parts = fresh(cuts, &program(DType::U8, &[(1, one)]));
        assert!(parts.iter().all(|part| part.layout.count() <= 1000) && parts.len() <= 20);
    }

    /// Windows that meet are one binding.
    #[test]
    fn neighbours_share_a_window() {
        let storage = declared(4000, DType::F32);
        let input = |i: isize| {
            let layout = contiguous([4000]).slice(0, i..i + 3000, 1).unwrap();
            Input { dtype: DType::F32, source: Source::Tensor(storage.clone()), layout }
        };
        let mut program = Program::copy(input(0));
        program.inputs.extend((1..5).map(input));
        let parts = fresh(Cuts::new(1 << 20, 2048, 64, 1 << 20), &program);
        for part in &parts {
            let first = part.program.tensors().next().unwrap().0.clone();
            assert!(part.program.tensors().all(|(storage, _)| storage.same(&first)));
        }
        assert!(parts.len() <= 7, "{:?}", shapes(&parts));
    }

    #[test]
    fn in_place_is_one_window() {
        let layout = contiguous([60, 60]).slice(1, 3..53, 1).unwrap().slice(0, 1..60, 2).unwrap();
        let program = program(DType::F32, &[(3600, layout.clone())]);
        let to = program.tensors().next().unwrap().0.clone();
        for part in parts(small(), &program, (&to, &layout, false)) {
            assert!(part.program.tensors().next().unwrap().0.same(&part.to) && !part.fresh);
        }
    }

    /// Random layouts of every kind over one shape, into new storages and into views.
    #[test]
    fn random_layouts() {
        let mut state = 1_u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let types = [DType::U8, DType::F16, DType::F32, DType::F64];
        for _ in 0..400 {
            let shape: Vec<usize> = (0..1 + below(4)).map(|_| 1 + below(14)).collect();
            let mut view = || {
                // A larger storage in another order, of which every second or third element is taken.
                let mut order: Vec<isize> = (0..shape.len() as isize).collect();
                (1..order.len()).for_each(|i| order.swap(i, below(i + 1)));
                let steps: Vec<usize> = shape.iter().map(|_| [1, 1, 2, 3][below(4)]).collect();
                let stretched = below(4);
                let lengths = order.iter().map(|&k| shape[k as usize] * steps[k as usize] + below(2));
                let lengths: Vec<usize> = lengths.collect();
                let mut back = vec![0; order.len()];
                order.iter().enumerate().for_each(|(i, &k)| back[k as usize] = i as isize);
                let mut layout = Layout::contiguous(lengths).unwrap().permute(&back).unwrap();
                let count = layout.count();
                for (axis, &step) in steps.iter().enumerate() {
                    let (axis, n) = (axis as isize, (shape[axis] * step) as isize);
                    layout = layout.slice(axis, 0..n, step as isize).unwrap();
                    if below(3) == 0 {
                        layout = layout.flip(axis).unwrap();
                    }
                }
                (count, layout, stretched)
            };
            let mut inputs = Vec::new();
            for _ in 0..1 + shape.len() % 3 {
                let (count, mut layout, stretched) = view();
                if stretched < shape.len() {
                    layout = layout.slice(stretched as isize, 0..1, 1).unwrap();
                    layout = layout.broadcast_to(&shape[..].into()).unwrap();
                }
                inputs.push((count, layout));
            }
            let (count, layout, _) = view();
            let program = program(types[below(4)], &inputs);
            let cuts = Cuts::new(512 << below(3), 256 << below(3), 64, 1 << below(12));
            fresh(cuts, &program);
            parts(cuts, &program, (&declared(count, program.dtype), &layout, false));
        }
    }
}
