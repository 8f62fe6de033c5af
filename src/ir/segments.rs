//! Segments: the elements of equal keys, which are counted or reduced together.

use super::reduce::ReduceOp;
use crate::dtype::DType;
use crate::layout::Shape;

/// The result for the elements of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ByKey {
    Count,
    Last,
    Reduced(ReduceOp),
}

/// A result for each key below a count. The elements of other keys are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Segments {
    pub gives: ByKey,
    pub count: usize,
    /// Whether the elements of key `k` are those from the place that a search among the keys finds for `k` up to the
    /// place for `k + 1`.
    pub are_sorted: bool,
}

impl Segments {
    pub(crate) fn name(&self) -> &'static str {
        match self.gives {
            ByKey::Count => "bincount",
            ByKey::Last => "last by key",
            ByKey::Reduced(op) => op.name(),
        }
    }

    /// The shape of the result for rows of a shape.
    pub(crate) fn shape(&self, rows: &Shape) -> Shape {
        Shape::from([self.count, rows[1]])
    }

    /// The type of the result for elements of a type.
    pub(crate) fn result(&self, dtype: DType) -> DType {
        if self.gives == ByKey::Count { DType::U32 } else { dtype }
    }
}
