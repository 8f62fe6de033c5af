//! Explanations of the CPU path.

use crate::ir::{AxisOp, BLOCK, Explanation, ProgramKind, Stage};

/// The explanation of a stage, in words.
pub(super) fn explanation(stage: &Stage) -> Explanation {
    let program = match stage {
        Stage::One(program) => program,
        Stage::Join(join) => return Explanation::of_parts(join.parts.len()),
    };
    let reduced = match &program.kind {
        ProgramKind::Map => String::new(),
        ProgramKind::RowFused(_) => ", rows one after the other, each to its end".into(),
        ProgramKind::Axis(op @ AxisOp::Scan(_), _) => format!(", {} in groups", op.name()),
        ProgramKind::Axis(AxisOp::Sort(_), _) => {
            ", radix sort of rows, of long ones by the highest digit first".into()
        }
        ProgramKind::Axis(AxisOp::Put, _) => ", then the updates at their places".into(),
        ProgramKind::Axis(AxisOp::Segments(_), _) => ", moved by key and reduced side by side".into(),
        ProgramKind::Axis(AxisOp::Contract(_), _) => ", product of packed panels".into(),
        ProgramKind::Axis(AxisOp::Reduce(reduce), _) => {
            let mut rounds = 1;
            let mut count = reduce.count(&program.shape);
            while count > BLOCK {
                count = count.div_ceil(BLOCK);
                rounds += 1;
            }
            let s = if rounds == 1 { "" } else { "s" };
            format!(", {} in {rounds} round{s}", reduce.op.name())
        }
    };
    let s = if program.steps.len() == 1 { "" } else { "s" };
    let steps = program.steps.len();
    let text = format!("runs: one pass of {steps} step{s} over blocks in cache{reduced}, on all threads\n");
    Explanation { text, ..Explanation::default() }
}
