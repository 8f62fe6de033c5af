//! Views of expressions, and so of tensors. The list of views is written once.

use super::{AnyExpr, Expr};
use crate::dtype::Element;
use crate::layout::{IndexRange, Shape};

macro_rules! views {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident: $t:ty),*) as $eg:literal, $shape:expr,
        $(let $held:ident = $value:expr,)? |$l:ident| $view:expr;)*) => {
        /// Views. They cost nothing; a mistake is kept and returned by what consumes the expression. A view of
        /// a tensor names the tensor's own elements: [`assign`](AnyExpr::assign) writes them.
        impl AnyExpr {$(
            $(#[doc = $doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            /// let x = device.zeros_any(zerostride::DType::F32, [2, 3])?;
            #[doc = concat!("assert_eq!(x.", $eg, ".shape()?, &", stringify!($shape), ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self, $($arg: $t),*) -> AnyExpr {
                $(let $held = $value;)?
                self.view(|$l| $view)
            }
        )*}

        /// Views. They are pushed down to the tensors below, so they cost nothing; a mistake is
        /// kept and returned by what consumes the expression. A view of a tensor names the tensor's own
        /// elements: [`assign`](Expr::assign) writes them, and [`tensor`](Expr::tensor) makes it a tensor.
        impl<T: Element> Expr<T> {$(
            $(#[doc = $doc])+
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
    /// Axes in another order: axis `k` of the result is axis `axes[k]` of this one. Negative
    /// axes count from the end.
    permute(axes: impl AsRef<[isize]>) as "permute([1, 0])", [3, 2], |l| l.permute(axes.as_ref());
    /// Two axes exchanged.
    transpose(a: isize, b: isize) as "transpose(0, 1)", [3, 2], |l| l.transpose(a, b);
    /// The indexes of `range` along `axis`. Negative bounds count from the end; a bound outside
    /// of the axis is an error and not clamped.
    slice(axis: isize, range: impl IndexRange) as "slice(1, 1..)", [2, 2],
        let range = range.bounds(), |l| l.slice(axis, range, 1);
    /// Every `step`-th index of `range` along `axis`, as Python's `[start:end:step]`: with a
    /// negative step the walk goes down from `start` and ends before `end`. A bound outside of
    /// the axis is an error and not clamped.
    slice_step(axis: isize, range: impl IndexRange, step: isize) as "slice_step(1, .., -2)", [2, 2],
        let range = range.bounds(), |l| l.slice(axis, range, step);
    /// `axis` backwards.
    flip(axis: isize) as "flip(0)", [2, 3], |l| l.flip(axis);
    /// Stretched to `shape` in one direction: axes align at the end, each has length 1 or that
    /// of the target, new axes lead (NumPy `broadcast_to`).
    broadcast_to(shape: impl Into<Shape>) as "broadcast_to([4, 2, 3])", [4, 2, 3],
        let shape = shape.into(), |l| l.broadcast_to(&shape);
    /// [`broadcast_to`](Self::broadcast_to) where -1 keeps the length of an axis (PyTorch
    /// `expand`).
    expand(shape: impl AsRef<[isize]>) as "expand([4, -1, -1])", [4, 2, 3], |l| l.expand(shape.as_ref());
    /// Without `axis`, which must have length 1.
    squeeze(axis: isize) as "slice(0, ..1).squeeze(0)", [3], |l| l.squeeze(axis);
    /// With a new axis of length 1 before index `axis` of the result.
    unsqueeze(axis: isize) as "unsqueeze(-1)", [2, 3, 1], |l| l.unsqueeze(axis);
    /// Another shape of as many elements in the same order, where that needs no copy. One
    /// length may be -1: what remains. Where elements would have to move it is an error that
    /// says so; evaluate first and reshape the result.
    reshape(shape: impl AsRef<[isize]>) as "reshape([3, -1])", [3, 2], |l| l.reshape(shape.as_ref());
}
