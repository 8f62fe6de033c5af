//! Programs: an expression as inputs, and steps over earlier values. Devices run programs.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{
    AxisOp, Body, Input, Kept, Loop, Program, ProgramKind, ReduceAxes, ReduceOp, RowFused, Source, Step,
    Storage, Value, numbered,
};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Shape, distinct};

/// The most iterations of a kernel. llvmpipe leaves loops after 65535 iterations of all together, and a longer kernel
/// would block the screen. A longer loop is several stages, each of which continues from the last one's result.
pub(crate) const MOST_TURNS: u64 = 60_000;

/// Operations of f32 that take as long as a byte. An integrated GPU of 50 GB/s adds some 500 G numbers in a second, and
/// most GPUs do more operations in the time of a byte.
const OPERATIONS: u64 = 10;

/// Operations to reduce one element.
const REDUCED: usize = 2;

impl Input {
    pub(crate) fn new(dtype: DType, source: Source, layout: Layout) -> Input {
        Input { dtype, source, layout, computed: Vec::new(), node: None }
    }

    /// Whether lookups read it.
    pub(crate) fn is_table(&self) -> bool {
        !self.computed.is_empty()
    }

    /// Bytes of the elements that it shows along axes. Each counts once, and there are no more than places.
    fn bytes(&self, lengths: &[usize], strides: &[isize]) -> usize {
        let looked_up = self.computed.iter().map(|extent| extent.length).product();
        let elements = distinct(lengths, strides).saturating_mul(looked_up);
        let places = lengths.iter().fold(1_usize, |all, &n| all.saturating_mul(n));
        elements.min(places) * self.dtype.size()
    }

    /// Whether both are the same elements, with the same computed axes.
    pub(crate) fn is_same(&self, other: &Input) -> bool {
        let same =
            self.dtype == other.dtype && self.layout == other.layout && self.computed == other.computed;
        // Another node may be at an address later, but not with the same value.
        let is_one = match (&self.source, &other.source) {
            (Source::Scalar(a), Source::Scalar(b)) => {
                self.node.is_some() && self.node == other.node && a == b
            }
            (a, b) => a.is_same(b),
        };
        same && is_one
    }
}

impl ProgramKind {
    /// An operation on values alone.
    pub(crate) fn of(op: AxisOp) -> ProgramKind {
        ProgramKind::Axis(op, SmallVec::new())
    }

    /// The reduction of each value, if that is its kind.
    pub(crate) fn reduce(&self) -> Option<&ReduceAxes> {
        match self {
            ProgramKind::Axis(AxisOp::Reduce(own), _) => Some(own),
            _ => None,
        }
    }
}

impl Program {
    /// A map: steps over inputs, with each result stored.
    pub(crate) fn of_steps(
        shape: Shape,
        dtype: DType,
        inputs: Vec<Input>,
        steps: Vec<Step>,
        results: SmallVec<[Value; 1]>,
    ) -> Program {
        Program {
            shape,
            dtype,
            inputs,
            steps: Arc::new(steps),
            results,
            kind: ProgramKind::Map,
            ready: Kept::default(),
        }
    }

    /// The name of an operation along axes that adds elements of a type.
    pub(crate) fn adds(&self, dtype: DType) -> Option<&'static str> {
        let is_sum = |op: ReduceOp, value: Value| op.is_ordered(dtype) && self.dtype_of(value) == dtype;
        let of_any = || self.results.iter().any(|&value| self.dtype_of(value) == dtype);
        match &self.kind {
            ProgramKind::RowFused(own) => {
                own.reductions.iter().find(|own| is_sum(own.op, own.value)).map(|own| own.op.name())
            }
            ProgramKind::Axis(AxisOp::Reduce(own), _) => {
                self.results.iter().any(|&value| is_sum(own.op, value)).then(|| own.op.name())
            }
            ProgramKind::Axis(AxisOp::Scan(own), _) => of_any().then(|| own.op.name()),
            ProgramKind::Axis(AxisOp::Contract(_), _) => of_any().then_some("a product"),
            ProgramKind::Axis(AxisOp::Segments(_), _) => of_any().then_some("a reduction by key"),
            _ => None,
        }
    }

    /// A program that copies one input.
    pub(crate) fn copy(input: Input) -> Program {
        let (shape, dtype) = (input.layout.shape().clone(), input.dtype);
        Program::of_steps(shape, dtype, vec![input], Vec::new(), smallvec![Value::Input(0)])
    }

    /// A program that copies row-major elements of a shape.
    pub(crate) fn copy_of(dtype: DType, source: Source, shape: &Shape) -> Result<Program> {
        Ok(Program::copy(Input::new(dtype, source, Layout::contiguous(shape)?)))
    }

    /// The same over other sources.
    pub(crate) fn over(mut self, mut each: impl FnMut(&Input) -> Result<Source>) -> Result<Program> {
        for input in &mut self.inputs {
            input.source = each(input)?;
        }
        // What is kept may be for the sources.
        self.ready = Kept::default();
        Ok(self)
    }

    /// The shape of each stored result.
    pub(crate) fn result_shape(&self) -> Cow<'_, Shape> {
        match (&self.kind, self.frame()) {
            (ProgramKind::Axis(op, _), _) => Cow::Owned(op.shape(&self.shape)),
            (ProgramKind::RowFused(RowFused { kept: true, .. }), Some(frame)) => Cow::Owned(frame.kept()),
            _ => Cow::Borrowed(&self.shape),
        }
    }

    /// The tables of updates, if it puts these in place of elements of a destination, which is all that it reads beside
    /// them. `is_it` names the destination's storage.
    pub(crate) fn put_into(&self, layout: &Layout, is_it: impl Fn(&Input) -> bool) -> Option<&[Value]> {
        let ProgramKind::Axis(AxisOp::Put, tables) = &self.kind else { return None };
        let own = self.input(self.results[0]).filter(|own| is_it(own))?;
        let all = [layout, &own.layout].map(|all| (all.is_contiguous(), all.offset(), all.count()));
        (all[0] == all[1] && all[0].0).then_some(tables)
    }

    /// Whether results are scanned.
    pub(crate) fn is_scan(&self) -> bool {
        matches!(self.kind, ProgramKind::Axis(AxisOp::Scan(_), _))
    }

    /// The bytes that a result takes.
    pub(crate) fn byte_size(&self, i: usize) -> Result<usize> {
        self.result_shape().bytes(self.result_type(i))
    }

    /// The type of a result.
    pub(crate) fn result_type(&self, i: usize) -> DType {
        match self.kind {
            ProgramKind::Axis(..) => self.dtype,
            _ => self.dtype_of(self.results[i]),
        }
    }

    /// The type of values, before they are reduced.
    pub(crate) fn element_type(&self) -> DType {
        self.results.first().map_or(self.dtype, |&result| self.dtype_of(result))
    }

    /// The same of another kind.
    pub(crate) fn of_kind(mut self, kind: ProgramKind) -> Program {
        let element = self.element_type();
        self.dtype = match &kind {
            ProgramKind::Axis(op, _) => op.result(element).unwrap_or(element),
            _ => element,
        };
        self.kind = kind;
        self
    }

    /// The same, reduced along axes.
    pub(crate) fn reduced(self, op: ReduceOp, axes: Range<usize>) -> Program {
        self.of_kind(ProgramKind::of(AxisOp::Reduce(ReduceAxes { op, axes })))
    }

    /// The reductions inside of the program, if it is row-fused.
    pub(crate) fn row_fused(&self) -> Option<&RowFused> {
        match &self.kind {
            ProgramKind::RowFused(rows) => Some(rows),
            _ => None,
        }
    }

    pub(crate) fn dtype_of(&self, value: Value) -> DType {
        match value {
            Value::Input(i) => self.inputs[i as usize].dtype,
            Value::Step(i) => self.steps[i as usize].result,
        }
    }

    /// The input that a value is, if it is one.
    pub(crate) fn input(&self, value: Value) -> Option<&Input> {
        value.input().map(|i| &self.inputs[i])
    }

    /// The step of a value, if it is one's.
    pub(crate) fn step(&self, value: Value) -> Option<&Step> {
        value.step().map(|i| &self.steps[i])
    }
}

impl Program {
    /// The tensors that it reads, each with its layout.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (&Storage, &Layout)> {
        self.inputs.iter().filter_map(|input| match &input.source {
            Source::Tensor(storage) => Some((storage, &input.layout)),
            _ => None,
        })
    }

    /// Bytes that it reads at least: each element of each tensor once.
    pub(crate) fn read_bytes(&self) -> usize {
        let all: SmallVec<[&Input; 8]> = self.tensors_read().map(|(_, input)| input).collect();
        let is_same = |a: &Input, b: &Input| !a.is_table() && !b.is_table() && a.source.is_same(&b.source);
        let bytes = |input: &Input| input.bytes(input.layout.shape(), input.layout.strides());
        let of_tensor = |(i, first): (usize, &&Input)| {
            if all[..i].iter().any(|other| is_same(other, first)) {
                return 0;
            }
            // Through all layouts, and no more than from the first element to the last.
            let (mut shown, (mut low, mut high)) = (bytes(first), first.layout.reach());
            for other in all[i + 1..].iter().filter(|other| is_same(first, other)) {
                let reach = other.layout.reach();
                (shown, low, high) = (shown + bytes(other), low.min(reach.0), high.max(reach.1));
            }
            let most = (high - low + 1) as usize * first.dtype.size();
            if first.is_table() { shown } else { shown.min(most) }
        };
        all.iter().enumerate().map(of_tensor).sum()
    }

    /// The work of running it, in bytes: bytes that move, and operations, [`OPERATIONS`] of which are a byte. None of
    /// its kernels has more.
    pub(crate) fn work(&self) -> u64 {
        let product = |shape: &Shape| shape.iter().fold(1_u64, |all, &n| all.saturating_mul(n as u64));
        // Passes of a reduction store whole words, and less than a byte of each element.
        let (least, between) = if self.is_map() { (1, 0) } else { (size_of::<u32>(), product(&self.shape)) };
        let size = |i: usize| self.result_type(i).size().max(least) as u64;
        let stored = product(&self.result_shape()).saturating_mul((0..self.results.len()).map(size).sum());
        self.work_moving((self.read_bytes() as u64).saturating_add(stored).saturating_add(between))
    }

    /// The work of a kernel that moves this many bytes.
    pub(crate) fn work_moving(&self, bytes: u64) -> u64 {
        self.operations(&self.shape).saturating_add(bytes)
    }

    /// Whether it adds up products along an axis.
    pub(crate) fn is_contraction(&self) -> bool {
        matches!(self.kind, ProgramKind::Axis(AxisOp::Contract(_), _))
    }

    /// Elements that a kernel counts: of a contraction, its results.
    pub(crate) fn counted(&self) -> usize {
        if self.is_contraction() { self.result_shape() } else { Cow::Borrowed(&self.shape) }.iter().product()
    }

    /// The work before it stores, over a part of these lengths, along which each input has these strides.
    pub(crate) fn work_before<'a>(&self, lengths: &[usize], strides: impl Fn(usize) -> &'a [isize]) -> u64 {
        let bytes = self.tensors_read().map(|(i, input)| input.bytes(lengths, strides(i)) as u64);
        bytes.fold(self.operations(lengths), u64::saturating_add)
    }

    fn tensors_read(&self) -> impl Iterator<Item = (usize, &Input)> {
        self.inputs.iter().enumerate().filter(|(_, input)| input.source.is_memory())
    }

    /// Its operations on this many elements, in bytes.
    fn operations(&self, lengths: &[usize]) -> u64 {
        let reduced = if self.is_map() { 0 } else { REDUCED * self.results.len() };
        let own = (self.tensors_read().count() + reduced) as u64;
        // Steps after a contraction run once for each sum.
        let before = match &self.kind {
            ProgramKind::Axis(AxisOp::Contract(_), product) if !product.is_empty() => {
                Some(self.needed(product, |_| false))
            }
            _ => None,
        };
        let is_before = |value: Value| before.as_ref().is_none_or(|before| before[value]);
        let steps =
            numbered(&self.steps).filter(|(value, _)| is_before(*value)).map(|(_, step)| step.operations());
        let each = steps.fold(self.of_loops(&Loop::operations).saturating_add(own), u64::saturating_add);
        lengths.iter().fold(each, |all, &n| all.saturating_mul(n as u64)) / OPERATIONS
    }

    /// The iterations of all its loops.
    pub(crate) fn turns(&self) -> u64 {
        self.of_loops(&|_| 1)
    }

    /// The sum over its loops' iterations. `each` returns the figure of one.
    fn of_loops(&self, each: &dyn Fn(&Loop) -> u64) -> u64 {
        let turns = self.steps.iter().map(|step| {
            let told = |arg: usize| match self.input(*step.args.get(arg)?)?.source {
                Source::Scalar(bits) => Some(bits),
                _ => None,
            };
            match &step.body {
                Some(Body::Loop(own)) => own.total(told(0), &|arg| told(arg + 1), each),
                _ => 0,
            }
        });
        turns.fold(0, u64::saturating_add)
    }

    /// The stages that it reads.
    pub(crate) fn stages(&self) -> impl Iterator<Item = usize> {
        self.inputs.iter().filter_map(|input| match input.source {
            Source::Stage { stage, .. } => Some(stage),
            _ => None,
        })
    }

    /// The program over a range of an axis. Along a reduced axis it reduces that range.
    pub(crate) fn slice(&self, axis: isize, range: Range<isize>) -> Result<Program> {
        let mut part = self.clone();
        part.shape = part.shape.with(axis as usize, range.len());
        for input in &mut part.inputs {
            input.layout = input.layout.slice(axis, range.clone(), 1)?;
        }
        Ok(part)
    }
}

/// A shape, and the axes along which its rows lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub shape: Shape,
    pub axes: Range<usize>,
}

impl Frame {
    /// The shape of one element for each row.
    pub(crate) fn kept(&self) -> Shape {
        let length = |(axis, &n): (usize, &usize)| if self.axes.contains(&axis) { 1 } else { n };
        self.shape.iter().enumerate().map(length).collect()
    }

    /// Elements of a row.
    pub(crate) fn count(&self) -> usize {
        self.shape[self.axes.clone()].iter().product()
    }

    /// Whether an input of this shape is constant along rows.
    pub(super) fn is_of_row(&self, input: &Input) -> bool {
        let stays = |axis: usize| self.shape[axis] == 1 || input.layout.strides()[axis] == 0;
        matches!(input.source, Source::Row(_) | Source::Scalar(_)) || self.axes.clone().all(stays)
    }
}

impl Program {
    /// Whether each element of the result is computed at one place of the shape.
    pub(crate) fn is_map(&self) -> bool {
        self.kind == ProgramKind::Map
    }

    /// The axes along which elements meet.
    pub(crate) fn axes(&self) -> Option<Range<usize>> {
        match &self.kind {
            ProgramKind::Map => None,
            ProgramKind::RowFused(rows) => Some(rows.axes.clone()),
            ProgramKind::Axis(op, _) => Some(op.axes(self.shape.rank())),
        }
    }

    /// The rows of a program that reduces.
    pub(crate) fn frame(&self) -> Option<Frame> {
        let reduces = !matches!(&self.kind, ProgramKind::Axis(op, _) if !op.reduces());
        let axes = self.axes().filter(|_| reduces)?;
        Some(Frame { shape: self.shape.clone(), axes })
    }
}
