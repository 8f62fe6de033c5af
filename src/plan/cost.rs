//! The cost of compiling texts.

use smallvec::{SmallVec, smallvec};

use super::access::Access;
use crate::dtype::Kind;
use crate::ir::{Body, Input, Math, Nature, Program, Source, Step};
use crate::tuning::text::MOST_COST;

/// The least cost of compiling a vector of a program, in additions: its loads, except those that all vectors share; its
/// steps; and a fence after each float that arithmetic reads.
pub(super) fn text_cost(program: &Program, math: Math) -> usize {
    let moves = |input: &&Input| input.layout.strides().iter().any(|&stride| stride != 0);
    let load = |(i, input): (usize, &Input)| {
        // Places of windows share most of their loads.
        let is_beside = |other: &Input| match (&other.source, &input.source) {
            (Source::Slot(own), Source::Slot(slot)) => {
                own == slot && other.layout.strides() == input.layout.strides()
            }
            _ => false,
        };
        let cost = Access::Vector.cost(input.dtype);
        if program.inputs[..i].iter().any(is_beside) { cost / 2 } else { cost }
    };
    let loads = program.inputs.iter().enumerate().filter(|(_, input)| moves(input)).map(load);
    let mut fenced: SmallVec<[bool; 32]> = smallvec![false; program.steps.len()];
    for step in program.steps.iter().filter(|step| step.nature() == Nature::Arithmetic) {
        for value in step.args.iter().filter_map(|arg| arg.step()) {
            fenced[value] = math != Math::Fast && program.steps[value].result.kind() == Kind::Float;
        }
    }
    let fences = fenced.iter().filter(|&&fenced| fenced).count();
    loads.chain(program.steps.iter().map(Step::cost)).sum::<usize>() + fences
}

/// The number of vectors of an invocation whose text compiles in time.
pub(super) fn affordable(program: &Program, math: Math) -> u32 {
    // A loop takes longer than starting an invocation.
    if program.steps.iter().filter_map(|step| step.body.as_ref()).any(Body::loops) {
        return 1;
    }
    let cost = text_cost(program, math);
    ((2 * MOST_COST + cost) / (2 * cost).max(1)).max(1) as u32
}
