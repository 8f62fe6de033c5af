//! The plan of a pass that folds blocks of a run by halves.

use std::ops::Range;

use smallvec::SmallVec;

use super::access::{Chooser, Store, Stride};
use super::cut::{self, Cut, lanes};
use super::fields::{self, Field, Number, divider};
use super::fold::Work;
use super::grid::workgroups;
use super::joined::{PAIR, paired};
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Pass, Place};
use super::loops::{Loops, axes};
use super::makes::{Folder, Halves, Lanes, Makes, Stored};
use super::reading::{Bound, Reading, kernel};
use super::target::Target;
use super::turns::{Memory, fewer};
use super::walk::{LANES, Together, Walk, whole};
use crate::error::{Result, bail};
use crate::ir::BLOCK;
use crate::layout::{Axis, Layout};

impl Pass {
    /// Plans the next pass of a fold.
    pub(crate) fn new(work: &Work, target: Target) -> Result<Pass> {
        let program = &work.program;
        let run_axes = work.folding.axes.clone();
        let mut run = axes(program, run_axes.clone());
        if run.is_empty() {
            run.push(Axis { length: 1, strides: program.inputs.iter().map(|_| 0).collect() });
        }
        let mut kept = axes(program, 0..run_axes.start);
        let before = kept.len();
        kept.extend(axes(program, run_axes.end..program.shape.rank()));
        let count: usize = run.iter().map(|axis| axis.length).product();
        let results: usize = kept.iter().map(|axis| axis.length).product();
        if results.checked_mul(count).is_none_or(|all| all > MOST_ELEMENTS) {
            bail!(
                Limit,
                "{} of {} folds more than {} elements, which is what a kernel counts to: evaluate it in slices",
                work.folding.name(),
                program.shape,
                MOST_ELEMENTS
            );
        }
        let (lanes, lane) = lanes(program, work.block(), &kept, &run);
        // What is stored lies like the operand with positions in place of the run; behind all where lanes lie along
        // it, and before all where they lie along an axis that is before it.
        let length = |range: &[Axis]| -> usize { range.iter().map(|axis| axis.length).product() };
        let split = match lanes {
            Lanes::Run => kept.len(),
            Lanes::Kept if lane < before => 0,
            _ => before,
        };
        let after = length(&kept[split..]);
        let others = |range: Range<usize>| range.filter(|&k| lanes != Lanes::Kept || k != lane);
        // The axes in the order of the loops, of which those that are kept have a number.
        let mut order: Vec<(&Axis, Option<usize>)> = Vec::new();
        order.extend(others(0..split).map(|k| (&kept[k], Some(k))));
        let first = order.len();
        order.extend(run.iter().map(|axis| (axis, None)));
        let run_range = first..order.len();
        order.extend(others(split..kept.len()).map(|k| (&kept[k], Some(k))));
        if lanes == Lanes::Kept {
            order.push((&kept[lane], Some(lane)));
        }
        let unknown: SmallVec<[(&Axis, isize); 6]> = order.iter().map(|&(axis, _)| (axis, 0)).collect();
        let mut loops = Loops::over(program, &unknown);

        let walk = if lanes == Lanes::Anywhere { Walk::Anywhere } else { Walk::Rows };
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk, together: Together::Apart, vectors: 1 };
        let mut accesses = reading.folded(program, &chooser, target);
        // Whole vectors are stored side by side.
        let is_stored = lanes == Lanes::Run || (lanes == Lanes::Kept && length(&kept[lane + 1..]) == 1);
        let (mut joined, mut cut) = (1, cut::cut(work, (lanes, 1), count, results, target));
        if is_stored
            && !work.folding.fold.row().gives_index
            && let Some(paired) = paired(program, &reading, &loops, &accesses, work.values(), target)?
        {
            let pairs = cut::cut(work, (lanes, PAIR.into()), count, results, target);
            (accesses, joined, cut) = (paired, PAIR.into(), pairs);
        }

        let halves = cut.halves;
        let folds = (0..work.values()).map(|_| (work.folding.fold, work.element_type()));
        let memory = Memory::of(folds, joined, halves.turns, halves.meets);
        let Some(workgroup) = memory.workgroup(if halves.meets { halves.team as usize } else { 1 }, target)
        else {
            return fewer(target, |target| Pass::new(work, target));
        };
        let positions = match lanes {
            // Whole vectors are stored, also past the end.
            Lanes::Run => count.div_ceil(cut.block) * cut.keep,
            _ => count / cut.block * cut.keep + (count % cut.block).min(cut.keep),
        };
        let out_stride = |k: usize| {
            let inner = length(&kept[k + 1..]);
            (if k < split { inner * positions } else { inner }) as isize
        };
        loops.paths[0].strides = order.iter().map(|(_, k)| k.map_or(0, out_stride)).collect();
        let vectors = halves.runs > 1 || halves.shares();
        let store = match lanes {
            Lanes::Run if vectors => Store::Vector,
            Lanes::Run => Store::Lanes,
            Lanes::Anywhere => Store::Vector,
            Lanes::Kept
                if loops.output().has_linear_rows(1)
                    && loops.inner().is_multiple_of(LANES)
                    && after.is_multiple_of(LANES) =>
            {
                Store::Vector
            }
            Lanes::Kept => Store::Lanes,
        };
        debug_assert!(joined == 1 || lanes == Lanes::Run || store == Store::Vector);
        let strides: SmallVec<[Stride; 6]> = match lanes {
            Lanes::Kept => store.access().strides(loops.output(), walk),
            // Their places are counted by what is stored.
            Lanes::Run | Lanes::Anywhere => SmallVec::new(),
        };

        let is_last = positions == 1;
        let gives_index = work.folding.fold.row().gives_index;
        let values = work.values();
        let mut stored: SmallVec<[Stored; 2]> = SmallVec::new();
        if !(gives_index && is_last) {
            stored.extend((0..values).map(Stored::Value));
        }
        if gives_index {
            stored.extend((0..values).map(Stored::Index));
        }
        let folder = Folder {
            fold: work.folding.fold,
            element: work.element_type(),
            lanes,
            halves,
            run: run_range,
            whole: count.is_multiple_of(cut.block),
            values,
            indexed: program.results.len() > values,
            stored,
        };
        let bound = Bound::new(program, &reading, &mut accesses, folder.stored.len(), target)?;
        let pitch = LANES * joined;
        let columns = loops.inner().div_ceil(pitch);
        let items = match lanes {
            // Of a team that does not meet each stores its own vectors.
            Lanes::Run if halves.meets => results * positions * halves.team as usize,
            Lanes::Run => results * positions / if vectors && halves.runs == 1 { LANES * joined } else { 1 },
            Lanes::Kept => results / loops.inner() * columns * positions,
            Lanes::Anywhere => results * positions,
        };
        let invocations = match lanes {
            Lanes::Anywhere => items.div_ceil(LANES),
            _ => items.div_ceil(halves.runs as usize),
        };
        let [x, y] = workgroups(&program.shape, invocations, workgroup, target)?;
        let numbers = Numbers {
            count: items as u32,
            pitch: x as u32 * workgroup,
            columns,
            positions: positions
                / if halves.runs == 1 && vectors { LANES * joined * halves.team as usize } else { 1 },
            run: count,
            position_stride: after / store.access().width(),
            inner: (loops.inner() / pitch).max(1),
            identity: work.folding.fold.identity(work.element_type()),
            steps: Steps::new((lanes, pitch), &cut, work.folding.fold.is_ordered(work.element_type())),
        };
        let form = describe(&folder, halves, &cut, count, positions);
        let (kernel, reads) = kernel(program, bound, &accesses, &loops, (walk, store, strides), target);
        let kernel = Kernel {
            workgroup: [workgroup, 1],
            vectors: joined as u32,
            out: whole(work.element_type()),
            makes: Makes::Fold(folder),
            ..kernel
        };
        let words = fields::words(&kernel, &loops, program, |field| numbers.word(field));
        let rest = if is_last { None } else { Some(rest(work, (lanes, split == 0), &cut, positions)?) };
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        let stored = (kernel.stored().to_vec(), results * positions);
        Ok(Pass::of(program, (kernel, launch, reads, loops), stored, form, rest))
    }
}

/// How what a pass stores lies, and the blocks of it.
fn rest(work: &Work, (lanes, first): (Lanes, bool), cut: &Cut, positions: usize) -> Result<(Layout, usize)> {
    let shape = &work.program.shape;
    let run = work.folding.axes.clone();
    let mut own: Vec<usize> =
        shape.iter().enumerate().filter(|(k, _)| !run.contains(k)).map(|(_, &n)| n).collect();
    let layout = match lanes {
        Lanes::Run => {
            let rank = own.len() as isize;
            own.push(positions);
            let mut order: Vec<isize> = (0..rank).collect();
            order.insert(run.start, rank);
            Layout::contiguous(own)?.permute(&order)?
        }
        Lanes::Kept | Lanes::Anywhere => {
            let place = if first { 0 } else { run.start };
            own.insert(place, positions);
            let mut order: Vec<isize> = (0..own.len() as isize).collect();
            let place = order.remove(place);
            order.insert(run.start, place);
            Layout::contiguous(own)?.permute(&order)?
        }
    };
    // Folded axes beside the first have length 1 now.
    let more = (1..run.len()).map(|k| (run.start + k) as isize);
    let layout = more.into_iter().try_fold(layout, |layout, axis| layout.unsqueeze(axis))?;
    Ok((layout, if cut.keep == 1 { BLOCK } else { cut.keep }))
}

/// Where an invocation finds its values, counted in vectors where lanes lie along the run.
struct Steps {
    /// From one block to the next.
    block: usize,
    /// What stays of a block, as a power of two.
    keep: usize,
    /// From one straight value to the next, and from one turn of the loop.
    apart: usize,
    turn: usize,
    leaves: usize,
}

impl Steps {
    fn new((lanes, pitch): (Lanes, usize), cut: &Cut, ordered: bool) -> Steps {
        let (unit, keep) = match lanes {
            Lanes::Run => (pitch, cut.halves.team as usize),
            _ => (1, cut.keep),
        };
        // Where no order shows, an invocation goes through its values one after the other.
        let (apart, turn) = match ordered {
            true => (cut.leaves * keep, keep),
            false => (keep, keep * cut.halves.straight as usize),
        };
        Steps { block: cut.block / unit, keep, apart, turn, leaves: cut.leaves }
    }
}

/// The numbers of a pass.
struct Numbers {
    count: u32,
    pitch: u32,
    columns: usize,
    positions: usize,
    run: usize,
    position_stride: usize,
    inner: usize,
    identity: u64,
    steps: Steps,
}

impl Numbers {
    fn word(&self, field: &Field) -> u32 {
        let number = match *field {
            Field::Count => return self.count,
            Field::Pitch => return self.pitch,
            Field::Fold(number) => number,
            _ => return 0,
        };
        // 1 has no factor: it is told by a factor of 0.
        let divider = |n: usize| if n > 1 { divider(n) } else { (0, 0) };
        match number {
            Number::Columns => self.columns as u32,
            Number::ColumnsFactor => divider(self.columns).0,
            Number::ColumnsShift => divider(self.columns).1,
            Number::Positions => self.positions as u32,
            Number::PositionsFactor => divider(self.positions).0,
            Number::PositionsShift => divider(self.positions).1,
            Number::Inner => self.inner as u32,
            Number::InnerFactor => divider(self.inner).0,
            Number::InnerShift => divider(self.inner).1,
            Number::Run => self.run as u32,
            Number::Block => self.steps.block as u32,
            Number::Keep => self.steps.keep as u32,
            Number::KeepShift => self.steps.keep.ilog2(),
            Number::Apart => self.steps.apart as u32,
            Number::Step => self.steps.turn as u32,
            Number::Leaves => self.steps.leaves as u32,
            Number::PositionStride => self.position_stride as u32,
            Number::Identity => self.identity as u32,
            Number::IdentityHigh => (self.identity >> 32) as u32,
        }
    }
}

/// What a pass does, in words.
fn describe(folder: &Folder, halves: Halves, cut: &Cut, count: usize, positions: usize) -> String {
    let lanes = match folder.lanes {
        Lanes::Run => "lanes along the run",
        Lanes::Kept => "lanes along a kept axis",
        Lanes::Anywhere => "coordinates by division",
    };
    let team = match (halves.team, halves.runs) {
        (1, 1) => "an invocation folds a block".to_string(),
        (1, n) => format!("an invocation folds {n} blocks"),
        (n, _) if halves.meets => format!("{n} invocations fold a block together"),
        (n, _) => format!("{n} invocations share a block"),
    };
    format!(
        "{} of {count} values to {positions}: {team} of {} to {}, {} straight {} times; {lanes}",
        folder.fold.name(),
        cut.block,
        cut.keep,
        halves.straight,
        cut.leaves
    )
}
