//! Writes of rows to the rows of a result that places name, word by word.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::access::Store;
use super::builder::{Made, PlanBuilder};
use super::form::{Form, Put};
use super::grid::workgroups;
use super::kernel::Binding;
use super::launch::Plan;
use super::numbers::PutNumbers;
use super::reading::Bound;
use super::target::Target;
use super::walk::{WORKGROUP, Walk};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Program, Slot};
use crate::layout::{Axis, Nest, Shape};

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
        let axis = Axis { length: count, strides: smallvec![1] };
        let loops = Nest::of(std::iter::once(0), std::iter::once(&axis));
        let nothing = Program::of_steps(shape, DType::U32, Vec::new(), Vec::new(), SmallVec::new());
        let bindings = vec![Binding { dtype: DType::U32, width: 1 }; reads.len()];
        let read = Bound { bindings, slots: reads.to_vec(), origins: SmallVec::new() };
        let made = Made {
            form: Form::Put(Put { group }),
            store: Store::Lanes,
            stored: smallvec![DType::U32],
            count,
            numbers: numbers.words(),
            workgroup: [group, 1],
            groups,
            description: Some(format!("rows of updates written to {rows} rows at their places")),
        };
        let moved = ((2 * count + reads[1].elements) * size_of::<u32>()) as u64;
        let plan = PlanBuilder::new(&nothing, loops, Walk::Flat, target).plan(read, made);
        Ok(Plan { moved, work: moved, ..plan })
    }
}
