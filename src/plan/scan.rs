//! Scans: cumulative sums and products, tile by tile.
//!
//! A tile is 16, 256 or 4096 values of a run: groups of sixteen, groups of these, and so on by the contract. An
//! invocation has a group in registers, and the groups of a tile meet in workgroup memory. A run of more than a tile takes three passes: the last value of each tile, a scan of
//! these, and all values from the state before each tile. No kernel waits for another workgroup.

use smallvec::smallvec;

use super::access::{Access, Store};
use super::builder::{Made, PlanBuilder};
use super::form::{Form, Scan, Scanned};
use super::grid::workgroups;
use super::launch::{Plan, counted};
use super::loops::Rows;
use super::numbers::ScanNumbers;
use super::target::Target;
use super::walk::{LANES, Walk, whole};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{AxisOp, GROUP, Input, Program, ProgramKind, ScanAxis, Slot, Source};
use crate::layout::{Axis, Layout, Shape};
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
        let (along, count) = (work.rows().lane.is_none(), work.count());
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

    /// The axes of its runs. Lanes lie along the axis that fits the most tensors. The carried state does not count, so
    /// that all passes agree.
    fn rows(&self) -> Rows {
        let (program, axis) = (&self.program, self.axis.axis);
        let mut rows = Rows::new(program, axis..axis + 1, false);
        // Also of one value, so that all parts of a run agree.
        let strides = program.inputs.iter().map(|input| input.layout.strides()[axis]).collect();
        rows.row[0] = Axis { length: self.count(), strides };
        let own = &program.inputs[..program.inputs.len() - self.scanned.carried(self.levels)];
        let tensors = || (0..own.len()).filter(|&i| own[i].source.is_memory());
        let score = |axis: &Axis| {
            let jumps = tensors().filter(|&i| axis.strides[i].abs() > 1).count();
            let along = tensors().filter(|&i| axis.strides[i].abs() == 1).count();
            (std::cmp::Reverse(jumps), along)
        };
        let mut best = score(&rows.row[0]);
        for (k, axis) in rows.kept.iter().enumerate().rev() {
            if score(axis) > best {
                (best, rows.lane) = (score(axis), Some(k));
            }
        }
        rows
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

impl Plan {
    /// Plans the pass that [`ScanWork`] says is next, or the whole scan.
    pub(crate) fn scan(work: &ScanWork, target: Target) -> Result<Plan> {
        let (program, rows) = (&work.program, work.rows());
        let (run, tiles) = (work.count(), work.tiles());
        let runs = rows.kept.iter().map(|axis| axis.length).product::<usize>();
        counted(runs.checked_mul(run), || {
            format!("{} of {} scans", AxisOp::Scan(work.axis).name(), program.shape)
        })?;
        let along = rows.lane.is_none();
        let is_last = work.scanned == Scanned::Lasts;
        let scan = Scan {
            op: work.axis.op,
            element: work.element,
            scanned: work.scanned,
            exclusive: !is_last && work.axis.exclusive,
            along,
            run: rows.place().start,
            whole: run.is_multiple_of(work.tile()),
            levels: work.levels,
        };
        let stored = if is_last { tiles } else { run };
        let loops = rows.loops(program, Some(stored));
        // A fresh storage is padded.
        let is_whole = loops.inner().is_multiple_of(LANES) || along && loops.lengths.len() == 1;
        let store = match is_whole && loops.output().has_linear_rows(1) && !(along && is_last) {
            true => Store::Vector,
            false => Store::Lanes,
        };
        let vectors = loops.inner().div_ceil(LANES);
        let (others, columns) = if along { (runs, 1) } else { (runs / loops.inner(), vectors) };
        let mut builder = PlanBuilder::new(program, loops, Walk::Rows, target);
        // One value for a tile.
        let first = program.inputs.len() - scan.carried();
        builder.accesses[first..].iter_mut().filter(|_| along).for_each(|access| *access = Access::Strided);
        let bound = builder.bind(1)?;

        let items = others * tiles * columns;
        let workgroup = invocations(work.element, along, target).max(scan.groups());
        let beside = workgroup / scan.groups();
        let groups = workgroups(&program.shape, items.div_ceil(beside as usize), target)?;
        let kept = runs * stored;
        let numbers = ScanNumbers {
            pitch: (groups[0] * workgroup) as usize,
            count: items,
            vectors,
            columns,
            positions: tiles,
            run,
            part: kept / store.width(),
            before: work.before,
        };
        let made = Made {
            description: Some(describe(&scan, run, tiles)),
            stored: smallvec![work.stored_type()],
            form: Form::Scan(scan),
            store,
            count: if is_last { kept * work.parts() } else { kept },
            numbers: numbers.words(),
            workgroup: [workgroup, 1],
            groups,
        };
        Ok(builder.plan(bound, made))
    }
}

/// A pass in words.
fn describe(scan: &Scan, count: usize, tiles: usize) -> String {
    let lanes = if scan.along { "lanes along the run" } else { "lanes along a kept axis" };
    let tile = GROUP.pow(scan.levels);
    let who = match scan.groups() {
        1 => "an invocation has a tile".into(),
        groups => format!("{groups} invocations share a tile"),
    };
    match scan.scanned {
        Scanned::Lasts => {
            format!("what is last in each of {tiles} tiles of {tile} of {count} values; {who}; {lanes}")
        }
        Scanned::Values { carried: true } => {
            format!("{count} values in tiles of {tile}, after what comes before each; {who}; {lanes}")
        }
        Scanned::Values { carried: false } => format!("{count} values in a tile; {who}; {lanes}"),
    }
}
