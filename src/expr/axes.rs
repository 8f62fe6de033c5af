//! The axes of a reduction.

use std::ops::RangeFull;

use smallvec::SmallVec;

use crate::error::{Result, bail};
use crate::layout::{AxisIndex, Integers, Layout, MAX_RANK, Shape};

/// Axes of any operand: a list, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Option<SmallVec<[isize; 6]>>);

mod sealed {
    pub trait Sealed {}
    pub trait OneAxis {}
}

/// The axes of a reduction: one, a list of them ([`Integers`]), or `..` for all.
///
/// The order of a list does not matter, and negative axes count from the end. The empty list reduces nothing: every
/// element is a range of its own (NumPy, JAX; PyTorch and ONNX take it for all axes).
///
/// ```
/// use zerostride::Device;
///
/// let x = Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(x.sum(1).to_vec()?, [6, 15]);
/// assert_eq!(x.sum(-2).to_vec()?, [5, 7, 9]);
/// assert_eq!(x.sum([0, 1]).to_vec()?, [21]);
/// assert_eq!(x.sum(..).to_vec()?, [21]);
/// assert_eq!(x.sum([0_usize; 0]).to_vec()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no axes",
    note = "axes are an integer of any type, an array, a slice or a `Vec` of them, or `..` for all"
)]
pub trait IntoAxes: sealed::Sealed {
    /// The axes as a value.
    fn into_axes(self) -> Axes;
}

impl<L: Integers> sealed::Sealed for L {}
impl sealed::Sealed for RangeFull {}
impl sealed::Sealed for Axes {}

impl<L: Integers> IntoAxes for L {
    fn into_axes(self) -> Axes {
        Axes(Some(self.signed_all()))
    }
}

impl IntoAxes for RangeFull {
    fn into_axes(self) -> Axes {
        Axes(None)
    }
}

impl IntoAxes for Axes {
    fn into_axes(self) -> Axes {
        self
    }
}

/// The axis of a sort or of a cumulative operation, or `..` for all elements in row-major order, which then lie along
/// one axis (NumPy's `axis=None`).
///
/// ```
/// use zerostride::Device;
///
/// let x = Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(x.cumsum(1).to_vec()?, [1, 3, 6, 4, 9, 15]);
/// assert_eq!(x.cumsum(..).to_vec()?, [1, 3, 6, 10, 15, 21]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no axis",
    note = "an axis is an integer of any type; negative ones count from the end; `..` takes all elements as one axis"
)]
pub trait IntoAxis: sealed::OneAxis {
    /// The axis, or `None` for all elements.
    fn into_axis(self) -> Option<isize>;
}

impl<A: AxisIndex> sealed::OneAxis for A {}
impl sealed::OneAxis for RangeFull {}

impl<A: AxisIndex> IntoAxis for A {
    fn into_axis(self) -> Option<isize> {
        Some(self.signed())
    }
}

impl IntoAxis for RangeFull {
    fn into_axis(self) -> Option<isize> {
        None
    }
}

impl Axes {
    /// The axes of a shape, in order. `name` is the reduction's.
    pub(super) fn of(&self, shape: &Shape, name: &str) -> Result<SmallVec<[usize; 6]>> {
        let Some(list) = &self.0 else { return Ok((0..shape.rank()).collect()) };
        let layout = Layout::contiguous(shape)?;
        let mut seen = [false; MAX_RANK];
        for &axis in list {
            let axis = layout.axis(axis)?;
            if std::mem::replace(&mut seen[axis], true) {
                bail!(Axis, "{name} of {shape} over axes {list:?} names axis {axis} twice");
            }
        }
        Ok((0..shape.rank()).filter(|&axis| seen[axis]).collect())
    }
}
