//! Kernels that compute rows to their end: all that a program folds of a row, one after the other, and then one
//! element of it, or all of its elements. An invocation has a row, or four where lanes lie across rows, or
//! shares one with others, as they share a block of a fold.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store, Stride};
use super::cut;
use super::fields::{self, Field, Number};
use super::grid::workgroups;
use super::joined::{PAIR, paired};
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Pass, Place};
use super::loops::{Loops, axes};
use super::makes::{Lanes, Makes, Phase, PhaseFold, RowFolder, Saved};
use super::reading::{Bound, Reading, kernel};
use super::target::Target;
use super::turns::{Memory, Turns, fewer};
use super::walk::{self, LANES, Packing, Together, Walk};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{BLOCK, Levels, Program, RowFold, Step, Value};
use crate::layout::Axis;

/// What the text of a phase costs at most, values that are loaded straight counted each.
const MOST_COST: usize = 192;

/// The type in which elements are stored that no one vector holds, of whole words.
fn whole(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        _ => walk::whole(dtype),
    }
}

impl Pass {
    /// Plans a program of rows, each of one block.
    pub(crate) fn of_rows(program: &Program, target: Target) -> Result<Pass> {
        let Some((rows, frame)) = program.rows.as_ref().zip(program.frame()) else {
            bail!(Kernel, "a program without rows");
        };
        let (rank, count) = (program.shape.rank(), frame.count());
        let all: usize = program.shape.iter().product();
        if count > BLOCK || all > MOST_ELEMENTS {
            bail!(
                Limit,
                "rows of {count} of {all} values are more than a kernel folds: evaluate them in slices"
            );
        }
        let results = all / count.max(1);
        let mut run = axes(program, rows.axes.clone());
        if run.is_empty() {
            run.push(Axis { length: 1, strides: program.inputs.iter().map(|_| 0).collect() });
        }
        // Elements are stored on either side of the rows, so there kept axes do not merge.
        let mut kept = axes(program, 0..rows.axes.start);
        let before = kept.len();
        match rows.kept {
            true => kept = axes(program, (0..rank).filter(|k| !rows.axes.contains(k))),
            false => kept.extend(axes(program, rows.axes.end..rank)),
        }
        let (lanes, lane) = cut::lanes(program, BLOCK, &kept, &run);
        let inner = |axes: &[Axis]| -> usize { axes.iter().map(|axis| axis.length).product() };
        let out_stride = |k: usize| match rows.kept {
            true => inner(&kept[k + 1..]) as isize,
            false => (inner(&kept[k + 1..]) * if k < before { count } else { 1 }) as isize,
        };
        let run_stride = |k: usize| match rows.kept {
            true => 0,
            false => (inner(&run[k + 1..]) * inner(&kept[before..])) as isize,
        };
        let mut order: Vec<(&Axis, isize)> = Vec::new();
        let others = (0..kept.len()).filter(|&k| lanes != Lanes::Kept || k != lane);
        order.extend(others.map(|k| (&kept[k], out_stride(k))));
        let first = order.len();
        order.extend(run.iter().enumerate().map(|(k, axis)| (axis, run_stride(k))));
        let run_range = first..order.len();
        if lanes == Lanes::Kept {
            order.push((&kept[lane], out_stride(lane)));
        }
        let loops = Loops::over(program, &order);

        let walk = if lanes == Lanes::Anywhere { Walk::Anywhere } else { Walk::Rows };
        let is_linear = loops.output().has_linear_rows(1) && loops.inner().is_multiple_of(LANES);
        let store = match (lanes, rows.kept) {
            (Lanes::Anywhere, true) => Store::Vector,
            (Lanes::Run, false) | (Lanes::Kept, _) if is_linear => Store::Vector,
            _ => Store::Lanes,
        };
        let strides: SmallVec<[Stride; 6]> = match (lanes, store) {
            (Lanes::Anywhere, Store::Vector) => SmallVec::new(),
            (_, store) => store.access().strides(loops.output(), walk),
        };
        let reading = Reading::of(program, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk, together: Together::Apart, vectors: 1 };
        let mut accesses = reading.folded(program, &chooser, target);
        let mut joined = 1;
        if lanes == Lanes::Run
            && (rows.kept || store == Store::Vector)
            && rows.folds.iter().all(|own| !own.fold.row().gives_index)
            && let Some(paired) = paired(program, &reading, &loops, &accesses, program.results.len(), target)?
        {
            (accesses, joined) = (paired, PAIR.into());
        }
        let bound = match joined {
            1 => Bound::new(program, &reading, &mut accesses, program.results.len(), target)?,
            _ => Bound::of(program, &reading, &accesses)?,
        };
        let block = count.next_power_of_two();
        let steps = if lanes == Lanes::Run { block.div_ceil(LANES * joined) } else { block };
        let fits = |&team: &usize| team <= target.team as usize && (team == 1 || team * LANES <= steps);
        let team = match lanes {
            Lanes::Run => [64, 16, 4, 1].into_iter().find(fits).unwrap_or(1),
            _ => 1,
        };
        let levels = program.levels();
        let text = Text { program, levels: &levels, accesses: &accesses, lanes, joined };
        let phases = text.phases(steps / team, target)?;
        let is_own = team == 1 && store == Store::Vector && lanes != Lanes::Anywhere && !rows.kept;
        let saved = if is_own { text.saved(&phases, target) } else { None };
        let stores = text.stores(steps / team, saved);
        let memory = phases.iter().map(|phase| {
            let folds = phase.folds.iter().map(|own| (own.fold, own.element));
            Memory::of(folds, joined, phase.turns, team > 1)
        });
        let memory = memory.fold(Memory::default(), Memory::and);
        let Some(workgroup) = memory.workgroup(team, target) else {
            return fewer(target, |target| Pass::of_rows(program, target));
        };
        let folder = RowFolder {
            lanes,
            team: team as u32,
            run: run_range,
            whole: count == block && (lanes != Lanes::Run || block >= LANES * joined),
            kept: rows.kept,
            stores,
            saved,
            phases,
            from: levels.from,
            of_row: levels.of_row,
        };
        let columns = loops.inner().div_ceil(LANES);
        let items = match lanes {
            Lanes::Run => results * team,
            Lanes::Kept => results / loops.inner() * columns,
            Lanes::Anywhere => results,
        };
        let invocations = if lanes == Lanes::Anywhere { items.div_ceil(LANES) } else { items };
        let [x, y] = workgroups(&program.shape, invocations, workgroup, target)?;
        let out = if store == Store::Vector { program.dtype } else { whole(program.dtype) };
        let form = describe(program, &folder, count);
        let (kernel, reads) = kernel(program, bound, &accesses, &loops, (walk, store, strides), target);
        let kernel = Kernel {
            workgroup: [workgroup, 1],
            vectors: joined as u32,
            out,
            makes: Makes::Rows(folder),
            ..kernel
        };
        let identities: Vec<u64> =
            rows.folds.iter().map(|own| own.fold.identity(program.dtype_of(own.value))).collect();
        let words = fields::words(&kernel, &loops, program, |field| match *field {
            Field::Count => items as u32,
            Field::Pitch => x as u32 * workgroup,
            Field::Fold(Number::Columns) => columns as u32,
            Field::Fold(Number::Run) => count as u32,
            Field::Fold(Number::Block) => steps as u32,
            Field::Identity(i) => identities[i] as u32,
            Field::IdentityHigh(i) => (identities[i] >> 32) as u32,
            _ => 0,
        });
        let (count, stored) = (if rows.kept { results } else { all }, vec![out; program.results.len()]);
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        Ok(Pass::of(program, (kernel, launch, reads, loops), (stored, count), form, None))
    }
}

/// What the length of a kernel's text depends on.
struct Text<'a> {
    program: &'a Program,
    levels: &'a Levels,
    accesses: &'a [Access],
    lanes: Lanes,
    /// Vectors that are loaded together.
    joined: usize,
}

impl Text<'_> {
    /// How many of so many vectors of elements an invocation computes in one turn.
    fn stores(&self, values: usize, saved: Option<Saved>) -> u32 {
        let is_known = |value| saved.is_some_and(|saved| saved.value == value);
        let cost = self.cost(&self.program.results, is_known);
        // A turn holds nothing here, so that less of it pays.
        let most = if self.joined > 1 { cut::MOST_COST_OF_PAIRS / 2 } else { MOST_COST };
        let fits = |n: &usize| *n == 1 || (*n <= values && n * cost <= most);
        [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1) as u32
    }

    /// What some values of elements cost: their loads, at coordinates by division where lanes lie anywhere, and steps
    /// with a fence after each, as a rule.
    fn cost(&self, values: &[Value], is_known: impl Fn(Value) -> bool + Copy) -> usize {
        let Text { program, accesses, lanes, joined, .. } = *self;
        let divisions = if lanes == Lanes::Anywhere { LANES * program.shape.rank() } else { 0 };
        let each = self.own(values, is_known).map(|value| match value {
            Value::Input(i) => accesses[i as usize].cost(program.dtype_of(value)),
            Value::Step(i) => program.steps[i as usize].cost() + 1,
        });
        each.sum::<usize>() * joined + divisions
    }

    /// What is computed for each element of what some values are made of.
    fn own(&self, values: &[Value], is_known: impl Fn(Value) -> bool + Copy) -> impl Iterator<Item = Value> {
        let needed = self.program.needed(values, is_known).which();
        needed.filter(move |&value| !is_known(value) && !self.levels.of_row[value])
    }

    /// The value that a phase folds which saves the most where it is not computed again for what is given, if that is
    /// more than storing and loading it takes.
    fn saved(&self, phases: &[Phase], target: Target) -> Option<Saved> {
        let Text { program, levels, .. } = *self;
        let [result] = program.results[..] else { return None };
        let work = |is_known: &dyn Fn(Value) -> bool| {
            let steps = self.own(&program.results, is_known).filter_map(|value| program.step(value));
            steps.map(Step::work).fold(0, usize::saturating_add)
        };
        let all = work(&|_| false);
        let folds = phases
            .iter()
            .enumerate()
            .flat_map(|(phase, own)| own.folds.iter().map(move |fold| (phase, fold)));
        let is_stored = |value: Value| {
            let dtype = program.dtype_of(value);
            value != result && dtype == program.dtype && dtype.packing() == Packing::Whole
        };
        folds
            .filter(|(_, fold)| !levels.of_row[fold.value] && is_stored(fold.value))
            .map(|(phase, fold)| {
                (all - work(&|value| value == fold.value), Saved { phase, value: fold.value })
            })
            .filter(|(saves, _)| *saves > target.reload)
            .max_by_key(|(saves, _)| *saves)
            .map(|(_, saved)| saved)
    }

    /// The phases of the program, of whose rows an invocation has so many values, or vectors.
    fn phases(&self, values: usize, target: Target) -> Result<Vec<Phase>> {
        let Text { program, levels, .. } = *self;
        let Some(rows) = &program.rows else { bail!(Kernel, "a program without rows") };
        let count = rows.folds.iter().map(|own| levels.from[own.value] + 1).max().unwrap_or(0);
        let mut phases = Vec::with_capacity(count);
        for phase in 0..count {
            let mut folds = Vec::new();
            let is_own = |(_, own): &(usize, &RowFold)| levels.from[own.value] == phase;
            for (number, own) in rows.folds.iter().enumerate().filter(is_own) {
                let Some(gives) = program.given(number) else {
                    bail!(Kernel, "a fold that nothing reads");
                };
                let element = program.dtype_of(own.value);
                folds.push(PhaseFold { fold: own.fold, element, value: own.value, gives, number });
            }
            let read: Vec<Value> = folds.iter().map(|fold| fold.value).collect();
            let cost = self.cost(&read, |_| false) + 2 * folds.len() * self.joined;
            let most = if self.joined > 1 { cut::MOST_COST_OF_PAIRS } else { MOST_COST };
            let is_affordable = |n: &usize| *n == 1 || (*n <= values && n * cost <= most);
            let straight = [16, 8, 4, 2, 1].into_iter().find(is_affordable).unwrap_or(1);
            let is_ordered = folds.iter().any(|fold| fold.fold.is_ordered(fold.element));
            let turns = Turns::of(values / straight, is_ordered, target);
            phases.push(Phase { folds, straight: straight as u32, turns });
        }
        Ok(phases)
    }
}

/// What a kernel does, in words.
fn describe(program: &Program, folder: &RowFolder, count: usize) -> String {
    let turns: Vec<String> = folder
        .phases
        .iter()
        .map(|phase| phase.folds.iter().map(|fold| fold.fold.name()).collect::<Vec<_>>().join(" and "))
        .collect();
    let (last, reads) = match folder.kept {
        true => ("one element", turns.len()),
        false => ("all elements", turns.len() + 1),
    };
    let lanes = match folder.lanes {
        Lanes::Run => "lanes along the row",
        Lanes::Kept => "lanes along a kept axis",
        Lanes::Anywhere => "coordinates by division",
    };
    let who = match folder.team {
        1 => "an invocation".to_string(),
        n => format!("{n} invocations"),
    };
    let saved = if folder.saved.is_some() { "; what is dear is stored once and loaded again" } else { "" };
    let times =
        if reads == 1 { "once".to_string() } else { format!("{reads} times, from a cache but the first") };
    format!(
        "{} rows of {count}: {who} a row, {}, then {last}; a row is read {times}{saved}; {lanes}",
        program.shape.iter().product::<usize>() / count.max(1),
        turns.join(", then ")
    )
}
