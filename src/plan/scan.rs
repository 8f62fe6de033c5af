//! Scans: cumulative sums and products, tile by tile.
//!
//! A tile is 16, 256 or 4096 values of a run: groups of sixteen, groups of these, and so on by the contract. An
//! invocation has a group in registers, and the groups of a tile meet in workgroup memory. A run of more than a tile takes three passes: the last value of each tile, a scan of
//! these, and all values from the state before each tile. No kernel waits for another workgroup.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store};
use super::fields::{self, Number};
use super::grid::workgroups;
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Pass, Place};
use super::loops::axes;
use super::makes::{Makes, Scanned, Scanner};
use super::reading::{Bound, Reading};
use super::target::Target;
use super::walk::{LANES, Walk, whole};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{AxisOp, GROUP, Input, Program, ProgramKind, ScanAxis, Slot, Source};
use crate::layout::{Axis, Layout, Nest, Shape};
use crate::tuning::scan::SHORT;

/// A scan under way.
#[derive(Clone, Debug)]
pub(crate) struct ScanWork {
    program: Program,
    axis: ScanAxis,
    /// The type of the elements of the first pass.
    element: DType,
    /// The levels of a tile, which has 16 values to this power.
    levels: u32,
    /// The next pass.
    scanned: Scanned,
    /// The number of the run's first tile among the carried ones.
    before: usize,
}

impl ScanWork {
    /// A whole scan, in tiles that suit an adapter.
    pub(crate) fn new(program: &Program, target: Target) -> Result<ScanWork> {
        let ProgramKind::Axis(AxisOp::Scan(axis), _) = program.kind else {
            bail!(Kernel, "a program without a scan")
        };
        let element = program.element_type();
        let scanned = Scanned::Values { carried: false };
        let work = ScanWork { program: program.clone(), axis, element, levels: 3, scanned, before: 0 };
        let (along, count) = (Form::new(&work).lane.is_none(), work.count());
        let levels = match invocations(work.element, along, target) {
            _ if count <= GROUP => 1,
            ..16 if along => 1,
            256.. if along && count > SHORT => 3,
            _ => 2,
        };
        Ok(ScanWork { levels, ..work })
    }

    /// The same in smaller tiles, if there are any.
    pub(crate) fn smaller(&self) -> Option<ScanWork> {
        (self.levels > 1).then(|| ScanWork { levels: self.levels - 1, ..self.clone() })
    }

    /// The same over a part of the run.
    pub(crate) fn over(&self, program: Program) -> ScanWork {
        ScanWork { program, ..self.clone() }
    }

    /// The values of a tile.
    pub(crate) fn tile(&self) -> usize {
        GROUP.pow(self.levels)
    }

    /// The values of a run.
    fn count(&self) -> usize {
        self.program.shape[self.axis.axis]
    }

    fn tiles(&self) -> usize {
        self.count().div_ceil(self.tile())
    }

    /// Whether one pass suffices.
    pub(crate) fn is_one(&self) -> bool {
        self.tiles() == 1
    }

    /// The type of stored results and of tiles' last values, of whole words.
    pub(crate) fn stored_type(&self) -> DType {
        whole(self.element)
    }

    /// The pass for the last value of each tile, and its parts. These are the sums of all but the last of the highest
    /// groups, of all but the last in that one, and so on to the last group.
    pub(crate) fn lasts(&self) -> ScanWork {
        ScanWork { scanned: Scanned::Lasts, ..self.clone() }
    }

    /// The number of these values for each tile.
    pub(crate) fn parts(&self) -> usize {
        self.levels as usize + 1
    }

    /// A value of each tile.
    fn carried(&self) -> Shape {
        let mut shape = self.program.shape.to_vec();
        shape[self.axis.axis] = self.tiles();
        Shape::from(shape)
    }

    /// The program that scans the last values, which come first in the storage of [`lasts`](Self::lasts).
    pub(crate) fn scan_of_lasts(&self, lasts: Slot) -> Result<Program> {
        let input = Input::new(self.stored_type(), Source::Slot(lasts), Layout::contiguous(self.carried())?);
        Ok(Program::copy(input)
            .of_kind(ProgramKind::of(AxisOp::Scan(ScanAxis { exclusive: false, ..self.axis }))))
    }

    /// The pass for all values, from the state before each tile: the scan of the last values, and their parts. A chunk
    /// begins at a tile of the run.
    pub(crate) fn values(&self, sums: Slot, lasts: Slot, before: usize) -> Result<ScanWork> {
        let mut work = self.clone();
        (work.scanned, work.before) = (Scanned::Values { carried: true }, before);
        let mut shape = self.carried().to_vec();
        shape[self.axis.axis] += before;
        let layout = Layout::contiguous(shape)?;
        for part in 0..self.parts() {
            let (slot, offset) = if part == 0 { (sums, 0) } else { (lasts, part * layout.count()) };
            let input = Input::new(self.stored_type(), Source::Slot(slot), layout.from(offset));
            work.program.inputs.push(input);
        }
        Ok(work)
    }
}

/// Invocations of a workgroup that meet in its memory: all of a group along runs, otherwise a vector of each.
fn invocations(element: DType, along: bool, target: Target) -> u32 {
    let bytes = if along { GROUP } else { LANES } * element.size().max(size_of::<u32>());
    let fits = |size: &u32| *size == 1 || *size as usize * bytes <= target.shared as usize;
    let sizes = std::iter::successors(Some(target.workgroup), |size| Some(size / 2));
    { sizes }.find(fits).unwrap_or(1)
}

/// The axes of a scan.
struct Form {
    kept: SmallVec<[Axis; 6]>,
    /// The number of axes before the run.
    before: usize,
    run: Axis,
    /// The kept axis of the lanes, if they do not lie along the run.
    lane: Option<usize>,
}

impl Form {
    fn new(work: &ScanWork) -> Form {
        let program = &work.program;
        let axis = work.axis.axis;
        // Stored values are not side by side across the run, so kept axes do not merge there.
        let mut kept: SmallVec<[Axis; 6]> = axes(program, 0..axis).into_iter().collect();
        let before = kept.len();
        kept.extend(axes(program, axis + 1..program.shape.rank()));
        let strides = program.inputs.iter().map(|input| input.layout.strides()[axis]).collect();
        let run = Axis { length: program.shape[axis], strides };
        // Lanes lie along the axis that fits the most tensors. The carried state does not count, so that all passes
        // agree.
        let own = &program.inputs[..program.inputs.len() - work.scanned.carried(work.levels)];
        let tensors = || (0..own.len()).filter(|&i| own[i].source.is_memory());
        let score = |axis: &Axis| {
            let jumps = tensors().filter(|&i| axis.strides[i].abs() > 1).count();
            let along = tensors().filter(|&i| axis.strides[i].abs() == 1).count();
            (std::cmp::Reverse(jumps), along)
        };
        let mut best = score(&run);
        let mut lane = None;
        for (k, axis) in kept.iter().enumerate().rev() {
            if score(axis) > best {
                (best, lane) = (score(axis), Some(k));
            }
        }
        Form { kept, before, run, lane }
    }

    /// The number of runs.
    fn results(&self) -> usize {
        self.kept.iter().map(|axis| axis.length).product()
    }

    /// The loops. The axis of the lanes is the innermost, and the run comes before it.
    fn loops(&self, program: &Program, stored: usize) -> Nest {
        let inner = |from: usize| -> usize { self.kept[from..].iter().map(|axis| axis.length).product() };
        let out_stride = |k: usize| (inner(k + 1) * if k < self.before { stored } else { 1 }) as isize;
        let others = (0..self.kept.len()).filter(|&k| self.lane != Some(k));
        let mut order: Vec<(&Axis, isize)> = others.map(|k| (&self.kept[k], out_stride(k))).collect();
        order.push((&self.run, inner(self.before) as isize));
        order.extend(self.lane.map(|k| (&self.kept[k], out_stride(k))));
        Nest::over(program, &order)
    }
}

impl Pass {
    /// Plans the pass that [`ScanWork`] says is next, or the whole scan.
    pub(crate) fn scan(work: &ScanWork, target: Target) -> Result<Pass> {
        let program = &work.program;
        let form = Form::new(work);
        let (count, tiles, runs) = (form.run.length, work.tiles(), form.results());
        if runs.checked_mul(count).is_none_or(|all| all > MOST_ELEMENTS) {
            bail!(
                Limit,
                "{} of {} scans more than {} elements, which is what a kernel counts to: evaluate it in slices",
                AxisOp::Scan(work.axis).name(),
                program.shape,
                MOST_ELEMENTS
            );
        }
        let along = form.lane.is_none();
        let is_last = work.scanned == Scanned::Lasts;
        let scanner = Scanner {
            op: work.axis.op,
            element: work.element,
            scanned: work.scanned,
            exclusive: !is_last && work.axis.exclusive,
            along,
            run: if along { form.kept.len() } else { form.kept.len() - 1 },
            whole: count.is_multiple_of(work.tile()),
            levels: work.levels,
        };
        let stored = if is_last { tiles } else { count };
        let loops = form.loops(program, stored);
        // A fresh storage is padded.
        let is_whole = loops.inner().is_multiple_of(LANES) || along && loops.lengths.len() == 1;
        let store = match is_whole && loops.output().has_linear_rows(1) && !(along && is_last) {
            true => Store::Vector,
            false => Store::Lanes,
        };
        let strides = store.access().strides(loops.output(), Walk::Rows);
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk: Walk::Rows, together: None };
        let mut accesses = reading.reduced(program, &chooser);
        // One value for a tile.
        let first = program.inputs.len() - scanner.carried();
        accesses[first..].iter_mut().filter(|_| along).for_each(|access| *access = Access::Strided);
        let bound = Bound::new(program, &reading, &mut accesses, 1, target)?;

        let vectors = loops.inner().div_ceil(LANES);
        let columns = if along { 1 } else { vectors };
        let others = if along { runs } else { runs / loops.inner() };
        let items = others * tiles * columns;
        let workgroup = invocations(work.element, along, target).max(scanner.groups());
        let beside = workgroup / scanner.groups();
        let invocations = items.div_ceil(beside as usize) * workgroup as usize;
        let [x, y] = workgroups(&program.shape, invocations, workgroup, target)?;
        let kept = runs * stored;
        let part = kept / store.access().width();
        let form = describe(&scanner, count, tiles);
        let walk = (Walk::Rows, store, strides);
        let (kernel, reads) = Kernel::assemble(program, bound, &accesses, &loops, walk, target);
        let out = scanner.stored_type();
        let kernel = Kernel { workgroup: [workgroup, 1], out, makes: Makes::Scan(scanner), ..kernel };
        let words = fields::words(&kernel, &loops, program, |number| match number {
            Number::Count => items,
            Number::Pitch => x * workgroup as usize,
            Number::Columns => columns,
            Number::Vectors => vectors,
            Number::Positions => tiles,
            Number::Before => work.before,
            Number::Run => count,
            Number::Part => part,
            _ => 0,
        });
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        let all = if is_last { kept * work.parts() } else { kept };
        Ok(Pass::of(program, (kernel, launch, reads, loops), (vec![out], all), form, None))
    }
}

/// A pass in words.
fn describe(scanner: &Scanner, count: usize, tiles: usize) -> String {
    let lanes = if scanner.along { "lanes along the run" } else { "lanes along a kept axis" };
    let tile = GROUP.pow(scanner.levels);
    let who = match scanner.groups() {
        1 => "an invocation has a tile".into(),
        groups => format!("{groups} invocations share a tile"),
    };
    match scanner.scanned {
        Scanned::Lasts => {
            format!("what is last in each of {tiles} tiles of {tile} of {count} values; {who}; {lanes}")
        }
        Scanned::Values { carried: true } => {
            format!("{count} values in tiles of {tile}, after what comes before each; {who}; {lanes}")
        }
        Scanned::Values { carried: false } => format!("{count} values in a tile; {who}; {lanes}"),
    }
}
