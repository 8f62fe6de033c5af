//! Operands of one storage with neighbouring rows, as the places of a window: they share the loads of the aligned vectors
//! that hold their elements.

use smallvec::SmallVec;

use super::access::Access;
use super::walk::LANES;
use crate::ir::{Program, Source};
use crate::layout::Nest;
use crate::tuning::near::{FAR, LONGEST_STEP};

/// Lets operands share loads, if at least one of them would need a load per lane. `bound` lists the operands that a walk
/// along rows reads from bindings.
pub(super) fn share(
    program: &Program,
    loops: &Nest,
    bound: impl Iterator<Item = usize>,
    accesses: &mut [Access],
) {
    let offset = |i: usize| loops.operand(i).offset as isize;
    let is_along = |i: &usize| {
        loops.operand(*i).strides.last().is_some_and(|step| (1..=LONGEST_STEP as isize).contains(step))
            && matches!(accesses[*i], Access::Strided | Access::Vector | Access::Stepped { .. })
            && matches!(program.inputs[*i].source, Source::Slot(_))
    };
    let mut rest: SmallVec<[usize; 16]> = bound.filter(is_along).collect();
    if rest.iter().all(|&i| accesses[i] == Access::Vector) {
        return;
    }
    while let Some(&first) = rest.first() {
        let strides = &loops.operand(first).strides;
        let (&[.., pitch, step], input) = (strides.as_slice(), &program.inputs[first]) else { return };
        let is_alike = |&i: &usize| {
            let other = &program.inputs[i];
            let is_same = match (&other.source, &input.source) {
                (Source::Slot(other), Source::Slot(slot)) => other == slot,
                _ => false,
            };
            is_same && other.dtype == input.dtype && loops.operand(i).strides == *strides
        };
        let mut own: SmallVec<[usize; 16]> = rest.iter().copied().filter(is_alike).collect();
        let lowest = own.iter().map(|&i| offset(i)).min().unwrap_or(0);
        // First along a row, then in rows.
        let place = |i: usize| {
            let from = offset(i) - lowest;
            let down = if pitch > 2 * FAR { (from + pitch / 2) / pitch } else { 0 };
            (from - down * pitch, down)
        };
        own.retain(|&mut i| {
            let (along, down) = place(i);
            along.abs() <= FAR && down <= FAR
        });
        rest.retain(|i| !own.contains(i));
        let Some(&leader) = own.iter().min_by_key(|&&i| place(i)) else { return };
        let is_wide = |&i: &usize| accesses[i] == Access::Vector;
        if own.iter().all(is_wide) || matches!(own.as_slice(), [i] if accesses[*i] != Access::Strided) {
            continue;
        }
        let lanes = LANES as isize;
        let whole = strides[..strides.len() - 1].iter().all(|stride| stride % lanes == 0);
        let before = if whole { offset(leader) % lanes } else { 0 };
        let (along, down) = place(leader);
        for &i in &own {
            let at = place(i);
            accesses[i] = Access::Near {
                leader: leader as u16,
                step: step as u8,
                first: (before + at.0 - along) as u8,
                down: (at.1 - down) as i8,
                whole,
            };
        }
    }
}
