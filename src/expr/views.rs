//! Views of expressions, and so of tensors. The list of views is written once.

use super::{AnyExpr, Expr};
use crate::dtype::Element;
use crate::layout::{AxisIndex, IndexRange, IndexRanges, Integers, Shape};

macro_rules! views {
    ($($(#[doc $($doc:tt)+])+ $name:ident($($arg:ident: $t:ty),*) as $eg:literal, $shape:expr,
        $(let $held:pat = $value:expr,)* |$l:ident| $view:expr;)*) => {
        /// Views. They cost nothing; a mistake is kept and returned by what consumes the expression. A view of
        /// a tensor names the tensor's own elements: [`assign`](AnyExpr::assign) writes them.
        impl AnyExpr {$(
            $(#[doc $($doc)+])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.zeros_any(zerostride::DType::F32, [2, 3])?;
            #[doc = concat!("assert_eq!(x.", $eg, ".shape()?, &", stringify!($shape), ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, $($arg: $t),*) -> AnyExpr {
                $(let $held = $value;)*
                self.view(|$l| $view)
            }
        )*}

        /// Views. They are pushed down to the tensors below, so they cost nothing; a mistake is
        /// kept and returned by what consumes the expression. A view of a tensor names the tensor's own
        /// elements: [`assign`](Expr::assign) writes them, and [`tensor`](Expr::tensor) makes it a tensor.
        impl<T: Element> Expr<T> {$(
            $(#[doc $($doc)+])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.zeros::<f32>([2, 3])?;
            #[doc = concat!("assert_eq!(x.", $eg, ".shape()?, &", stringify!($shape), ");")]
            #[doc = concat!("assert_eq!((&x + 1.0).", $eg, ".shape()?, &", stringify!($shape), ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, $($arg: $t),*) -> Self {
                Self::face(self.any.$name($($arg),*))
            }
        )*}
    };
}
views! {
    /// Axes in another order: axis `k` of the result is axis `axes[k]` of this one. Negative axes count from the end.
    #[doc(alias = "moveaxis")]
    permute(axes: impl Integers) as "permute([1, 0])", [3, 2],
        let axes = axes.signed_all(), |l| l.permute(&axes);
    /// Two axes exchanged.
    #[doc(alias = "swapaxes")]
    #[doc(alias = "T")]
    transpose(a: impl AxisIndex, b: impl AxisIndex) as "transpose(0, 1)", [3, 2],
        let (a, b) = (a.signed(), b.signed()), |l| l.transpose(a, b);
    /// The indices of `range` along `axis`. Negative bounds count from the end. A bound outside of the axis is an
    /// error, and not clamped.
    #[doc(alias = "narrow")]
    slice(axis: impl AxisIndex, range: impl IndexRange) as "slice(1, 1..)", [2, 2],
        let (axis, range) = (axis.signed(), range.bounds()), |l| l.slice(axis, range, 1);
    /// Every `step`-th index of `range` along `axis`, as Python's `[start:end:step]`. A negative step goes down from
    /// `start` and stops before `end`. A bound outside of the axis is an error, and not clamped.
    slice_step(axis: impl AxisIndex, range: impl IndexRange, step: impl AxisIndex) as "slice_step(1, .., -2)", [2, 2],
        let (axis, range, step) = (axis.signed(), range.bounds(), step.signed()), |l| l.slice(axis, range, step);
    /// A range of indices along each of the first axes, as a tuple of ranges or an array of equal ones. Later axes stay
    /// whole. Bounds are those of [`slice`](Self::slice).
    slices(ranges: impl IndexRanges) as "slices((..1, 1..-1))", [1, 1],
        let ranges = ranges.ranges(), |l| l.slices(ranges.clone());
    /// Windows of `lengths` along `axes`, which become the last axes, one for each length. The axes themselves then
    /// count where windows begin. Nothing is copied: a stride is used twice (NumPy `sliding_window_view`).
    ///
    /// A reduction over the last axes is a pool, a weighted sum a convolution; [`pad`](Self::pad) makes borders.
    /// [`windows_with`](Self::windows_with) has steps and dilations. See the [guide](crate::guide::windows).
    #[doc(alias = "sliding_window_view")]
    #[doc(alias = "unfold")]
    #[doc(alias = "conv2d")]
    #[doc(alias = "max_pool2d")]
    windows(lengths: impl Integers, axes: impl Integers) as "windows([2, 2], [0, 1])", [1, 2, 2, 2],
        let (lengths, axes) = (lengths.signed_all(), axes.signed_all()), |l| {
            let ones = vec![1; axes.len()];
            l.windows(&lengths, &axes, &ones, &ones)
        };
    /// [`windows`](Self::windows) that begin at every `steps[k]`-th index and whose elements lie `dilations[k]` indexes
    /// apart. A step or a dilation is at least 1 (ONNX `strides` and `dilations`).
    windows_with(lengths: impl Integers, axes: impl Integers, steps: impl Integers, dilations: impl Integers)
        as "windows_with([2], [1], [1], [2])", [2, 1, 2],
        let [lengths, axes] = [lengths.signed_all(), axes.signed_all()],
        let [steps, dilations] = [steps.signed_all(), dilations.signed_all()],
        |l| l.windows(&lengths, &axes, &steps, &dilations);
    /// `axis` in reverse.
    flip(axis: impl AxisIndex) as "flip(0)", [2, 3], let axis = axis.signed(), |l| l.flip(axis);
    /// Stretched to `shape` in one direction: axes align at the end, each has length 1 or the target's, and new axes
    /// lead (NumPy `broadcast_to`).
    broadcast_to(shape: impl Into<Shape>) as "broadcast_to([4, 2, 3])", [4, 2, 3],
        let shape = shape.into(), |l| l.broadcast_to(&shape);
    /// [`broadcast_to`](Self::broadcast_to) with -1 for an axis that keeps its length (PyTorch `expand`).
    expand(shape: impl Integers) as "expand([4, -1, -1])", [4, 2, 3],
        let shape = shape.signed_all(), |l| l.expand(&shape);
    /// Drops `axis`, which must have length 1.
    squeeze(axis: impl AxisIndex) as "slice(0, ..1).squeeze(0)", [3],
        let axis = axis.signed(), |l| l.squeeze(axis);
    /// Adds an axis of length 1 before index `axis` of the result.
    #[doc(alias = "expand_dims")]
    #[doc(alias = "newaxis")]
    unsqueeze(axis: impl AxisIndex) as "unsqueeze(-1)", [2, 3, 1],
        let axis = axis.signed(), |l| l.unsqueeze(axis);
    /// Another shape of equally many elements in the same order, if no copy is needed. One length may be -1: the others
    /// determine it. If elements would have to move, it is an error: evaluate first, and reshape the result.
    #[doc(alias = "view")]
    #[doc(alias = "flatten")]
    #[doc(alias = "ravel")]
    reshape(shape: impl Integers) as "reshape([3, -1])", [3, 2],
        let shape = shape.signed_all(), |l| l.reshape(&shape);
}
