//! The typed builder: `Expr`, which is `AnyExpr` with a type, and the methods of the op table.

use std::marker::PhantomData;
use std::panic::Location;

use super::AnyExpr;
use super::any::apply;
use crate::dtype::{Bits, Element, Float, Integer, Numeric};
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{Op, for_each_op};
use crate::layout::{AxisIndex, Broadcast, Shape};

/// An expression for a tensor of `T`: a graph of operations over tensors, scalars and coordinates.
///
/// Building one computes nothing and cannot fail. A consumer, such as [`eval`](Expr::eval), [`to_vec`](Expr::to_vec) or
/// [`Tensor::assign`](crate::Tensor::assign), runs all of it as one kernel, or as a few if it is too long for one. If a
/// mistake was made while it was built, the consumer returns the first one, with the source line of that call. Operands
/// of different shapes are broadcast by [`Broadcast::NumPy`].
///
/// A consumer reads the tensors of an expression, so it sees an `assign` that came before.
///
/// ```
/// use zerostride::Device;
///
/// let device = Device::cpu();
/// let x = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let row = device.upload(&[10.0_f32, 20.0], [2])?;
/// let y = ((&x + &row) * 2.0).permute([1, 0]);
/// assert_eq!(y.to_vec()?, [22.0, 26.0, 44.0, 48.0]);
///
/// let mut total = x.expr();
/// for step in 1..4 {
///     total *= step as f32;
/// }
/// assert_eq!(total.to_vec()?, [6.0, 12.0, 18.0, 24.0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
pub struct Expr<T> {
    pub(super) any: AnyExpr,
    element: PhantomData<T>,
}

impl<T> Clone for Expr<T> {
    fn clone(&self) -> Self {
        Expr { any: self.any.clone(), element: PhantomData }
    }
}

/// The operands of operators: tensors and expressions, by value or by reference, and scalars.
///
/// A scalar may stand on either side, as in `1.0 - &x`. In code that is generic over the element type it may stand on
/// the right. On the left it needs [`Expr::scalar`], as Rust lets no crate implement `T - Expr<T>` for a type that is
/// not its own (error E0210):
///
/// ```
/// use zerostride::{Device, Expr, Float, IntoExpr};
///
/// fn complement<T: Float>(x: impl IntoExpr<T>) -> Expr<T> {
///     Expr::scalar(T::from_f64(1.0)) - x
/// }
/// let x = Device::cpu().upload(&[0.25_f32, 1.0], [2])?;
/// assert_eq!(complement(&x).to_vec()?, [0.75, 0.0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of `{T}` elements",
    label = "not a tensor, an expression or a scalar of `{T}`",
    note = "write a number as one of the element type (`2.0`, not `2`, for floats), or `cast` the operand"
)]
pub trait IntoExpr<T: Element> {
    /// The operand as an expression.
    fn into_expr(self) -> Expr<T>;
}

impl<T: Element> IntoExpr<T> for Expr<T> {
    fn into_expr(self) -> Expr<T> {
        self
    }
}

impl<T: Element> IntoExpr<T> for &Expr<T> {
    fn into_expr(self) -> Expr<T> {
        self.clone()
    }
}

impl<T: Element> IntoExpr<T> for T {
    fn into_expr(self) -> Expr<T> {
        Expr::scalar(self)
    }
}

impl<T> From<Expr<T>> for AnyExpr {
    fn from(expr: Expr<T>) -> AnyExpr {
        expr.any
    }
}

impl<T> From<&Expr<T>> for AnyExpr {
    fn from(expr: &Expr<T>) -> AnyExpr {
        expr.any.clone()
    }
}

impl AnyExpr {
    /// This expression with a static element type.
    ///
    /// # Errors
    /// When its elements have another type, or the first mistake that was made while building.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device, ErrorKind, Expr};
    ///
    /// let any = AnyExpr::from(Device::cpu().upload(&[1, 2], [2])?);
    /// let typed: Expr<i32> = any.typed()?;
    /// assert_eq!((typed + 1).to_vec()?, [2, 3]);
    ///
    /// let error = any.typed::<f32>().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Type);
    /// assert_eq!(error.message(), "an expression of i32 was taken as one of f32: cast it");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn typed<T: Element>(&self) -> Result<Expr<T>> {
        let dtype = self.dtype()?;
        if dtype != T::DTYPE {
            let text = format!("an expression of {dtype} was taken as one of {}: cast it", T::DTYPE);
            return Err(Error::new(ErrorKind::Type, text).at(Location::caller()));
        }
        Ok(Expr::face(self.clone()))
    }
}

impl<T: Element> Expr<T> {
    /// The typed face of an expression whose elements are known to be `T`.
    pub(crate) fn face(any: AnyExpr) -> Self {
        Expr { any, element: PhantomData }
    }

    pub(crate) fn untyped(&self) -> &AnyExpr {
        &self.any
    }

    /// One value, of shape `[]`: it broadcasts to any other.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let ones = Expr::scalar(1_u8).broadcast_to([3]);
    /// assert_eq!(ones.eval_on(&Device::cpu())?.to_vec()?, [1, 1, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn scalar(value: T) -> Self {
        Self::face(AnyExpr::constant(T::DTYPE, value.to_bits()))
    }

    /// One value of a shape, by stride 0. It takes no memory, and no device until it is evaluated.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[1.0_f32, 2.0], [2])?;
    /// assert_eq!((Expr::full([3, 2], 0.5) + &x).to_vec()?, [1.5, 2.5, 1.5, 2.5, 1.5, 2.5]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn full(shape: impl Into<Shape>, value: T) -> Self {
        Self::scalar(value).broadcast_to(shape)
    }

    /// Zeros of a shape (`false` for bool), as from [`full`](Self::full).
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[1_u8, 2], [1, 2])?;
    /// assert_eq!(Expr::concat([Expr::zeros([1, 2]), x.expr()], 0).to_vec()?, [0, 0, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn zeros(shape: impl Into<Shape>) -> Self {
        Self::full(shape, T::ZERO)
    }

    /// The shape of the result.
    ///
    /// # Errors
    /// The first mistake that was made while building.
    pub fn shape(&self) -> Result<&Shape> {
        self.any.shape()
    }

    /// Every element converted to `U`, as Rust's `as` does. Floats to integers truncate and saturate, and NaN becomes
    /// 0. Integers wrap. Floats are rounded to the nearest. Anything to bool is `x != 0`.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[-1.5_f32, 300.0, f32::NAN], [3])?;
    /// assert_eq!(x.cast::<u8>().to_vec()?, [0, 255, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn cast<U: Element>(&self) -> Expr<U> {
        Expr::face(self.any.cast(U::DTYPE))
    }
}

impl Expr<i32> {
    /// The coordinates along `axis` of a shape, without a tensor.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let checkers = (Expr::iota([2, 4], 0) + Expr::iota([2, 4], 1)) & 1;
    /// assert_eq!(checkers.to_vec_on(&Device::cpu())?, [0, 1, 0, 1, 1, 0, 1, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn iota(shape: impl Into<Shape>, axis: impl AxisIndex) -> Self {
        Self::face(AnyExpr::iota(shape, axis))
    }
}

impl Expr<bool> {
    /// `a` where this is true, otherwise `b`. The three broadcast together.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[1.0_f32, -2.0, 3.0], [3])?;
    /// assert_eq!(x.lt(0.0).select(-&x, &x).to_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn select<U: Element>(&self, a: impl IntoExpr<U>, b: impl IntoExpr<U>) -> Expr<U> {
        Expr::face(self.any.select(a.into_expr(), b.into_expr()))
    }
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident($first:ident $(, $arg:ident)*) $(is $commutative:ident)? $(in $pairs:ident)? for $class:ident -> $gives:ident $(within $ulp:literal $(above $from:literal)?)? $(costs $cost:literal)?,
        [$x:expr $(, $eg:expr)* => $result:expr] { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        /// The operations, from the op table. Operands may be tensors, expressions and scalars.
        impl<T: Element> Expr<T> {$(
            $(#[doc = $doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            #[doc = concat!("let x = device.upload(&[", stringify!($x), "], [1])?;")]
            #[doc = concat!("let y = x.", stringify!($name), "(", $(stringify!($eg), ", ",)* ");")]
            #[doc = concat!("assert_eq!(y.to_vec()?, [", stringify!($result), "]);")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self $(, $arg: impl IntoExpr<T>)*) -> Expr<$gives> where T: $class {
                $(let $arg = $arg.into_expr();)*
                Expr::face(apply(Op::$op, &[&self.any $(, &$arg.any)*]))
            }
        )*}
    };
}
for_each_op!(methods);

impl Broadcast {
    /// Both operands as views of the shape that this rule computes, so that later operators see equal shapes. Their
    /// types may differ, as those of a select's operands do. For a target shape without a second operand, use
    /// [`Expr::broadcast`].
    ///
    /// # Errors
    /// When the rule refuses the shapes, or an operand holds a mistake.
    ///
    /// ```
    /// use zerostride::{Broadcast, Device};
    ///
    /// let device = Device::cpu();
    /// let x = device.zeros::<f32>([2, 3, 4])?;
    /// let per_row = device.upload(&[1.0_f32, 2.0, 3.0], [3])?;
    /// let (x, per_row) = Broadcast::Pdpd { axis: 1 }.align(&x, &per_row)?;
    /// assert_eq!((x + per_row).eval()?.shape(), &[2, 3, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn align<A: Element, B: Element>(
        &self,
        a: impl IntoExpr<A>,
        b: impl IntoExpr<B>,
    ) -> Result<(Expr<A>, Expr<B>)> {
        let (a, b) = self.align_any(a.into_expr(), b.into_expr())?;
        Ok((Expr::face(a), Expr::face(b)))
    }
}
