//! Reductions of small windows as steps: each place of a window is an input of its own, a shifted slice. Windows share
//! most of their elements, which neighbouring results then load together, and results lie along memory.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::Bounds;
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::ir::{
    ACCUMULATORS, AxisOp, Input, Op, Program, ProgramBuilder, ProgramKind, ReduceOp, Source, Stage, Step,
    Value, cost,
};
use crate::layout::{Layout, Shape, distinct};
use crate::tuning::near::LONGEST_STEP;
use crate::tuning::unroll::{LONGEST, MOST_COST};

/// The same stages, with such reductions as steps.
pub(super) fn stage(stage: Stage, bounds: Bounds) -> Result<Stage> {
    match stage {
        Stage::One(program) if is_of_windows(&program, bounds) => Ok(Stage::One(unrolled(&program)?)),
        stage => Ok(stage),
    }
}

/// Whether a program reduces small windows by operations that are also steps.
fn is_of_windows(program: &Program, bounds: Bounds) -> bool {
    let Some(frame) = program.frame().filter(|frame| (2..=LONGEST).contains(&frame.count())) else {
        return false;
    };
    let ops: SmallVec<[ReduceOp; 2]> = match &program.kind {
        ProgramKind::Axis(AxisOp::Reduce(reduce), _) => smallvec![reduce.op],
        ProgramKind::RowFused(rows) if rows.kept => rows.reductions.iter().map(|own| own.op).collect(),
        _ => return false,
    };
    let work: usize = program.steps.iter().map(|step| cost(step.op, step.dtype)).sum();
    let is_simple = program.steps.iter().all(|step| step.body.is_none() && step.op != Op::Lookup);
    if !is_simple || ops.iter().any(|op| op.row().gives_index) || (work + 1) * frame.count() > MOST_COST {
        return false;
    }
    let count = program.shape.iter().product::<usize>();
    program.inputs.iter().filter(|input| input.source.is_memory()).any(|input| {
        let shown: usize = (program.shape.iter().zip(input.layout.strides()))
            .filter(|(_, stride)| **stride != 0)
            .map(|(n, _)| n)
            .product();
        // An operand that is bound in chunks would be so for each place.
        let is_whole = match &input.source {
            Source::Tensor(storage) => storage.elements as u64 * input.dtype.size() as u64 <= bounds.whole,
            _ => true,
        };
        let overlaps = || 2 * distinct(&program.shape, input.layout.strides()) <= shown;
        is_whole && shown == count && (is_apart(&program.shape, &frame.axes, &input.layout) || overlaps())
    })
}

/// Whether elements that are reduced lie in several runs, and neighbouring results a few elements apart: windows that need
/// not overlap.
fn is_apart(shape: &Shape, reduced: &Range<usize>, layout: &Layout) -> bool {
    let strides = layout.strides();
    let axes: SmallVec<[usize; 4]> = reduced.clone().filter(|&axis| shape[axis] > 1).collect();
    let in_one = |pair: &[usize]| strides[pair[0]] == strides[pair[1]] * shape[pair[1]] as isize;
    let kept = (0..shape.rank()).filter(|axis| !reduced.contains(axis) && shape[*axis] > 1);
    let step = kept.map(|axis| strides[axis].unsigned_abs()).min();
    !axes.windows(2).all(in_one) && step.is_some_and(|step| step <= LONGEST_STEP)
}

/// The program of steps, in the order of additions of [`ReduceAxes`](crate::ir::ReduceAxes).
fn unrolled(program: &Program) -> Result<Program> {
    let rows = program.in_rows()?;
    let (Some(fused), Some(frame)) = (rows.row_fused(), rows.frame()) else { return Ok(program.clone()) };
    let (levels, mut built) = (rows.levels(), ProgramBuilder::new());
    let mut given: Vec<Option<Value>> = vec![None; fused.reductions.len()];
    let mut order: Vec<usize> = (0..given.len()).collect();
    order.sort_by_key(|&number| levels.from[fused.reductions[number].value]);
    for number in order {
        let own = &fused.reductions[number];
        let dtype = rows.dtype_of(own.value);
        let mut values = Vec::with_capacity(frame.count());
        for place in 0..frame.count() {
            let at = |layout: &Layout| {
                let (mut layout, mut rest) = (layout.clone(), place);
                for axis in frame.axes.clone().rev() {
                    let index = rest % frame.shape[axis];
                    rest /= frame.shape[axis];
                    layout = layout.slice(axis as isize, index..index + 1, 1)?;
                }
                Ok(layout)
            };
            let part = rows.extract(&[own.value], frame.kept(), &Default::default(), at)?;
            values.push(add(&mut built, &part, &given)?[0]);
        }
        given[number] = Some(reduced(&mut built, own.op, dtype, &frame.kept(), values)?);
    }
    let results = add(&mut built, &rows.after_reductions()?, &given)?;
    let dtype = program.result_type(0);
    Ok(built.finish(frame.kept(), dtype, results.into_iter().collect()))
}

/// The results of a program, with known results of rows.
fn add(built: &mut ProgramBuilder, part: &Program, given: &[Option<Value>]) -> Result<SmallVec<[Value; 2]>> {
    let values = built.copy_all(part, |built, input| match input.source {
        Source::Row(number) => match given[number] {
            Some(given) => Ok(given),
            None => bail!(Kernel, "reduction {number} is read before it is made"),
        },
        _ => Ok(built.input(input.clone())),
    })?;
    Ok(part.results.iter().map(|&result| values[result]).collect())
}

/// The step of a reduction.
fn reduced(
    built: &mut ProgramBuilder,
    op: ReduceOp,
    dtype: DType,
    shape: &Shape,
    values: Vec<Value>,
) -> Result<Value> {
    let step = match op {
        // Total mode comes after all passes.
        ReduceOp::Sum | ReduceOp::TotalSum => Op::Add,
        ReduceOp::Prod | ReduceOp::TotalProd => Op::Mul,
        ReduceOp::Min | ReduceOp::ArgMin => Op::Min,
        ReduceOp::Max | ReduceOp::ArgMax => Op::Max,
        ReduceOp::Any => Op::Or,
        ReduceOp::All => Op::And,
    };
    let value = halved(built, step, dtype, values);
    if dtype.kind() != Kind::Float || !op.is_sum() {
        return Ok(value);
    }
    // A zero of a sum is +0.
    let zero = Layout::contiguous([])?.broadcast_to(shape)?;
    let zero = built.input(Input::new(dtype, Source::Scalar(0), zero));
    Ok(built.steps.once(Step::new(step, dtype, dtype, smallvec![value, zero])))
}

/// Combines values by halving.
fn halved(built: &mut ProgramBuilder, op: Op, dtype: DType, mut values: Vec<Value>) -> Value {
    let mut half = ACCUMULATORS;
    while half > 1 {
        half /= 2;
        for i in half..values.len() {
            let pair = smallvec![values[i - half], values[i]];
            values[i - half] = built.steps.once(Step::new(op, dtype, dtype, pair));
        }
        values.truncate(half);
    }
    values[0]
}
