//! Writes of rows to the rows of a result that places name, word by word.

use std::ops::Range;

use smallvec::smallvec;

use super::access::Store;
use super::builder::{Made, PlanBuilder};
use super::form::Form;
use super::grid::workgroups;
use super::launch::Plan;
use super::numbers::PutNumbers;
use super::target::Target;
use super::walk::WORKGROUP;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::Slot;
use crate::layout::Shape;

impl Plan {
    /// Plans the writes of updates to their places, as far as these lie in the bound words of the result. It has so many
    /// rows of so many words.
    pub(crate) fn put(
        reads: [Slot; 2],
        (rows, row): (usize, usize),
        bound: Range<usize>,
        target: Target,
    ) -> Result<Plan> {
        let count = reads[1].elements * row;
        let group = WORKGROUP.min(target.workgroup);
        let shape = Shape::from([count]);
        let groups = workgroups(&shape, count.div_ceil(group as usize), target)?;
        let pitch = groups[0] as usize * group as usize;
        let numbers = PutNumbers { pitch, count, rows, row, low: bound.start, size: bound.len() };
        let made = Made {
            form: Form::Put,
            store: Store::Lanes,
            stored: smallvec![DType::U32],
            count,
            numbers: numbers.words(),
            workgroup: [group, 1],
            groups,
            description: Some(format!("rows of updates written to {rows} rows at their places")),
        };
        let moved = ((2 * count + reads[1].elements) * size_of::<u32>()) as u64;
        Ok(PlanBuilder::over_slots(count, reads.to_vec(), moved, made, target))
    }
}
