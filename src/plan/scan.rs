//! Scans: cumulative sums and products, by kernels of two forms.
//!
//! Where runs are so many that an invocation for each keeps the adapter busy, it goes through all of its run,
//! with what comes before a group of sixteen, a group of groups, and so on in registers: the operand is read once
//! and nothing but the result is written. Else an invocation has one group: a pass stores the last value of each
//! group, these are scanned in turn, and another pass over all elements adds what comes before its group. No kernel
//! waits for another workgroup.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store};
use super::fields::{self, Field, ScanNumber};
use super::grid::workgroups;
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Pass, Place};
use super::loops::axes;
use super::makes::{Makes, Scanned, Scanner};
use super::reading::{Bound, Reading};
use super::target::Target;
use super::walk::{LANES, REDUCE_WORKGROUP, Together, Walk, whole};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{GROUP, Input, Program, ProgramKind, ScanAxis, Slot, Source};
use crate::layout::Nest;
use crate::layout::{Axis, Layout};

/// Values of a run that an invocation goes through where there are too few of them: fewer kernels are worth
/// more then.
const SHORT: usize = 1024;

/// Elements of all runs together for which that holds where lanes lie across runs.
const FEW: usize = 64 << 10;

/// Levels of groups that the text of a long run goes through: of up to 16^4 values, and of all that a kernel
/// counts to. Few, so that few kernels are compiled.
const LEVELS: [u32; 2] = [3, 7];

/// A scan on its way.
#[derive(Clone, Debug)]
pub(crate) struct ScanWork {
    program: Program,
    axis: ScanAxis,
    /// The type of the elements of the first pass.
    element: DType,
    /// What is done next, and whether there are groups before the first one.
    scanned: Option<Scanned>,
    is_continued: bool,
}

impl ScanWork {
    /// All of a scan.
    pub(crate) fn new(program: &Program) -> Result<ScanWork> {
        let ProgramKind::Scan(axis) = program.kind else { bail!(Kernel, "a program without a scan") };
        let element = program.element_type();
        Ok(ScanWork { program: program.clone(), axis, element, scanned: None, is_continued: false })
    }

    /// The type in which results are stored, and the last values of groups: one of whole words.
    pub(crate) fn stored_type(program: &Program) -> DType {
        whole(program.element_type())
    }

    /// The values of a run.
    fn count(&self) -> usize {
        self.program.shape[self.axis.axis]
    }

    fn groups(&self) -> usize {
        self.count().div_ceil(GROUP)
    }

    /// The part of a scan that finds the last values of all groups.
    pub(crate) fn lasts(&self) -> ScanWork {
        ScanWork { scanned: Some(Scanned::Lasts), ..self.clone() }
    }

    /// The type and the layout of these.
    fn carried(&self) -> Result<(DType, Layout)> {
        let mut shape = self.program.shape.to_vec();
        shape[self.axis.axis] = self.groups();
        Ok((whole(self.element), Layout::contiguous(shape)?))
    }

    /// The program that scans what [`lasts`](Self::lasts) stored.
    pub(crate) fn scan_of_lasts(&self, lasts: Slot) -> Result<Program> {
        let (dtype, layout) = self.carried()?;
        let input = Input::new(dtype, Source::Slot(lasts), layout);
        Ok(Program::copy(input).of_kind(ProgramKind::Scan(ScanAxis { exclusive: false, ..self.axis })))
    }

    /// The part of a scan that computes all values, with what comes before each group, or each but the first
    /// where the run begins with it.
    pub(crate) fn each(&self, carried: Option<Slot>, is_continued: bool) -> Result<ScanWork> {
        let mut work = self.clone();
        work.scanned = Some(Scanned::Groups { carried: carried.is_some() });
        work.is_continued = is_continued;
        let Some(carried) = carried else { return Ok(work) };
        let (dtype, layout) = self.carried()?;
        work.program.inputs.push(Input::new(dtype, Source::Slot(carried), layout));
        Ok(work)
    }

    /// Whether one pass is all.
    pub(crate) fn is_one(&self, target: Target) -> bool {
        let form = Form::new(self);
        let runs: usize = form.results();
        let count = form.run.length;
        match form.lane {
            _ if count <= GROUP => true,
            None => runs >= target.tuning.runs as usize || count <= SHORT,
            // Runs side by side lie far apart from row to row, so that their groups are better apart.
            Some(_) => count <= SHORT && runs * count <= FEW,
        }
    }
}

/// The axes of a scan.
struct Form {
    kept: SmallVec<[Axis; 6]>,
    /// How many of them are before the run.
    before: usize,
    run: Axis,
    /// The kept axis along which lanes lie, if not along the run.
    lane: Option<usize>,
}

impl Form {
    fn new(work: &ScanWork) -> Form {
        let program = &work.program;
        let axis = work.axis.axis;
        // What is stored is not next to each other across the run, so there kept axes do not merge.
        let mut kept: SmallVec<[Axis; 6]> = axes(program, 0..axis).into_iter().collect();
        let before = kept.len();
        kept.extend(axes(program, axis + 1..program.shape.rank()));
        let strides = program.inputs.iter().map(|input| input.layout.strides()[axis]).collect();
        let run = Axis { length: program.shape[axis], strides };
        // Lanes lie along the axis that the fewest tensors jump along and the most lie along.
        let tensors = || (0..program.inputs.len()).filter(|&i| program.inputs[i].source.is_memory());
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

    /// How many runs there are.
    fn results(&self) -> usize {
        self.kept.iter().map(|axis| axis.length).product()
    }

    /// The loops, the axis along which lanes lie innermost and the run before it, and which axis it is.
    fn loops(&self, program: &Program, stored: usize) -> (Nest, usize) {
        let inner = |from: usize| -> usize { self.kept[from..].iter().map(|axis| axis.length).product() };
        let out_stride = |k: usize| (inner(k + 1) * if k < self.before { stored } else { 1 }) as isize;
        let others = (0..self.kept.len()).filter(|&k| self.lane != Some(k));
        let mut order: Vec<(&Axis, isize)> = others.map(|k| (&self.kept[k], out_stride(k))).collect();
        let run = order.len();
        order.push((&self.run, inner(self.before) as isize));
        order.extend(self.lane.map(|k| (&self.kept[k], out_stride(k))));
        (Nest::over(program, &order), run)
    }
}

impl Pass {
    /// Plans a pass of a scan: what [`ScanWork`] says is next, or all of it.
    pub(crate) fn scan(work: &ScanWork, target: Target) -> Result<Pass> {
        let program = &work.program;
        let form = Form::new(work);
        let (count, groups, runs) = (form.run.length, work.groups(), form.results());
        if runs.checked_mul(count).is_none_or(|all| all > MOST_ELEMENTS) {
            bail!(
                Limit,
                "{} of {} scans more than {} elements, which is what a kernel counts to: evaluate it in slices",
                work.axis.name(),
                program.shape,
                MOST_ELEMENTS
            );
        }
        let reaches = |&levels: &u32| groups <= 1 << (4 * levels);
        let scanned = match work.scanned {
            Some(scanned) => scanned,
            None if groups == 1 => Scanned::Groups { carried: false },
            None => Scanned::Runs { levels: LEVELS.into_iter().find(reaches).unwrap_or(LEVELS[1]) },
        };
        let is_all = scanned != Scanned::Lasts;
        let exclusive = is_all && work.axis.exclusive;
        let stored = if is_all { count } else { groups };
        let (loops, run) = form.loops(program, stored);
        let along = form.lane.is_none();
        let store = store(&loops, along, scanned, exclusive);
        let strides = store.access().strides(loops.output(), Walk::Rows);
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk: Walk::Rows, together: Together::Apart, vectors: 1 };
        let scanner = Scanner {
            op: work.axis.op,
            element: work.element,
            scanned,
            exclusive,
            along,
            run,
            whole: count.is_multiple_of(GROUP),
            vectors: if along || target.tuning.vectors == 1 { 1 } else { 2 },
        };
        let carried = scanner.is_carried().then(|| program.inputs.len() - 1);
        let mut accesses = reading.reduced(program, &chooser, target);
        // One value for a group.
        if let Some(carried) = carried.filter(|_| along) {
            accesses[carried] = Access::Strided;
        }
        let bound = Bound::new(program, &reading, &mut accesses, 1, target)?;
        let positions = if matches!(scanned, Scanned::Runs { .. }) { 1 } else { groups };
        let vectors = loops.inner().div_ceil(LANES);
        let columns = if along { 1 } else { vectors.div_ceil(scanner.vectors as usize) };
        let others = if along { runs } else { runs / loops.inner() };
        let invocations = others * columns * positions;
        let [x, y] = workgroups(&program.shape, invocations, REDUCE_WORKGROUP, target)?;
        let identity = scanner.op.identity(scanner.element);
        let word = |field: &Field| match *field {
            Field::Count => invocations,
            Field::Pitch => x * REDUCE_WORKGROUP as usize,
            Field::Scan(number) => match number {
                ScanNumber::Columns => columns,
                ScanNumber::Vectors => vectors,
                ScanNumber::Positions => positions,
                ScanNumber::Groups => groups,
                ScanNumber::Before => usize::from(work.is_continued),
                ScanNumber::Run => count,
                ScanNumber::Identity => identity as u32 as usize,
                ScanNumber::IdentityHigh => (identity >> 32) as usize,
            },
            _ => 0,
        };
        let form = describe(&scanner, count, groups);
        let walk = (Walk::Rows, store, strides);
        let (kernel, reads) = Kernel::assemble(program, bound, &accesses, &loops, walk, target);
        let kernel = Kernel { out: scanner.stored_type(), makes: Makes::Scan(scanner), ..kernel };
        let words = fields::words(&kernel, &loops, program, |field| word(field) as u32);
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        let stored = (vec![kernel.out], runs * stored);
        Ok(Pass::of(program, (kernel, launch, reads, loops), stored, form, None))
    }
}

/// How results are stored.
fn store(loops: &Nest, along: bool, scanned: Scanned, exclusive: bool) -> Store {
    let is_moved = exclusive && !matches!(scanned, Scanned::Runs { .. });
    // All of a fresh storage is padded.
    let is_padded = loops.lengths.len() == 1;
    let is_whole = loops.inner().is_multiple_of(LANES) || (along && is_padded);
    match along {
        // One value of a group, and values that belong one place further on.
        true if scanned == Scanned::Lasts || is_moved => Store::Lanes,
        _ if is_whole && loops.output().has_linear_rows(1) => Store::Vector,
        _ => Store::Lanes,
    }
}

/// What a pass does, in words.
fn describe(scanner: &Scanner, count: usize, groups: usize) -> String {
    let lanes = if scanner.along { "lanes along the run" } else { "lanes along a kept axis" };
    match scanner.scanned {
        Scanned::Lasts => {
            format!("the last of each of {groups} groups of {GROUP} of {count} values; {lanes}")
        }
        Scanned::Groups { carried: true } => {
            format!("{count} values in groups of {GROUP}, after what comes before each group; {lanes}")
        }
        Scanned::Groups { carried: false } => format!("{count} values in a group; {lanes}"),
        Scanned::Runs { .. } => {
            format!("{count} values by an invocation, in groups of {GROUP} and groups of these; {lanes}")
        }
    }
}
