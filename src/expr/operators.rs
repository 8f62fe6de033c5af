//! Rust's operators, for every combination of expressions, tensors and scalars.

use super::Expr;
use crate::dtype::{Numeric, bf16, f16};

/// Implements every binary operator: its trait and method in `std::ops`, the op's method, the elements it takes, and
/// the scalar types.
macro_rules! for_each_operator {
    ($lhs:tt) => {
        $crate::expr::binary! { $lhs Add add add Numeric [f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64] }
        $crate::expr::binary! { $lhs Sub sub sub Numeric [f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64] }
        $crate::expr::binary! { $lhs Mul mul mul Numeric [f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64] }
        $crate::expr::binary! { $lhs Div div div Numeric [f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64] }
        $crate::expr::binary! { $lhs Rem rem rem Numeric [f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64] }
        $crate::expr::binary! { $lhs BitAnd bitand and Bits [i8 i16 i32 i64 u8 u16 u32 u64 bool] }
        $crate::expr::binary! { $lhs BitOr bitor or Bits [i8 i16 i32 i64 u8 u16 u32 u64 bool] }
        $crate::expr::binary! { $lhs BitXor bitxor xor Bits [i8 i16 i32 i64 u8 u16 u32 u64 bool] }
        $crate::expr::binary! { $lhs Shl shl shl Integer [i8 i16 i32 i64 u8 u16 u32 u64] }
        $crate::expr::binary! { $lhs Shr shr shr Integer [i8 i16 i32 i64 u8 u16 u32 u64] }
    };
}
pub(crate) use for_each_operator;

/// Implements the operators with `$name<T>` and `&$name<T>` as left operands, and with a scalar
/// on the left of them.
macro_rules! operators {
    ($name:ident) => {
        $crate::expr::for_each_operator!($name);
        $crate::expr::unary!($name, $name<T>);
        $crate::expr::unary!($name, &$name<T>);
    };
}
pub(crate) use operators;

macro_rules! binary {
    ($name:ident $trait:ident $operator:ident $method:ident $class:ident [$($scalar:ident)*]) => {
        impl<T: $crate::$class, R: $crate::IntoExpr<T>> std::ops::$trait<R> for $name<T> {
            type Output = $crate::Expr<T>;
            #[track_caller]
            fn $operator(self, rhs: R) -> $crate::Expr<T> {
                $crate::Expr::$method(&$crate::IntoExpr::into_expr(self), rhs)
            }
        }
        impl<T: $crate::$class, R: $crate::IntoExpr<T>> std::ops::$trait<R> for &$name<T> {
            type Output = $crate::Expr<T>;
            #[track_caller]
            fn $operator(self, rhs: R) -> $crate::Expr<T> {
                $crate::Expr::$method(&$crate::IntoExpr::into_expr(self), rhs)
            }
        }
        // Hidden, since pages of documentation would consist of them; and inlined, so that only used ones are compiled.
        $(
            #[doc(hidden)]
            impl std::ops::$trait<$name<$scalar>> for $scalar {
                type Output = $crate::Expr<$scalar>;
                #[track_caller]
                #[inline]
                fn $operator(self, rhs: $name<$scalar>) -> $crate::Expr<$scalar> {
                    $crate::Expr::$method(&$crate::Expr::scalar(self), rhs)
                }
            }
            #[doc(hidden)]
            impl std::ops::$trait<&$name<$scalar>> for $scalar {
                type Output = $crate::Expr<$scalar>;
                #[track_caller]
                #[inline]
                fn $operator(self, rhs: &$name<$scalar>) -> $crate::Expr<$scalar> {
                    $crate::Expr::$method(&$crate::Expr::scalar(self), rhs)
                }
            }
        )*
    };
}
pub(crate) use binary;

macro_rules! unary {
    ($name:ident, $lhs:ty) => {
        impl<T: $crate::Numeric> std::ops::Neg for $lhs {
            type Output = $crate::Expr<T>;
            #[track_caller]
            fn neg(self) -> $crate::Expr<T> {
                $crate::Expr::neg(&$crate::IntoExpr::into_expr(self))
            }
        }
        impl<T: $crate::Bits> std::ops::Not for $lhs {
            type Output = $crate::Expr<T>;
            #[track_caller]
            fn not(self) -> $crate::Expr<T> {
                $crate::Expr::not(&$crate::IntoExpr::into_expr(self))
            }
        }
    };
}
pub(crate) use unary;

operators!(Expr);

macro_rules! assigning {
    ($($trait:ident $operator:ident $method:ident $class:ident)*) => {$(
        /// Afterwards the name stands for the result. Nothing is computed or written.
        impl<T: $crate::$class, R: $crate::IntoExpr<T>> std::ops::$trait<R> for Expr<T> {
            #[track_caller]
            fn $operator(&mut self, rhs: R) {
                *self = Expr::$method(self, rhs);
            }
        }
    )*};
}
assigning! {
    AddAssign add_assign add Numeric
    SubAssign sub_assign sub Numeric
    MulAssign mul_assign mul Numeric
    DivAssign div_assign div Numeric
    RemAssign rem_assign rem Numeric
    BitAndAssign bitand_assign and Bits
    BitOrAssign bitor_assign or Bits
    BitXorAssign bitxor_assign xor Bits
    ShlAssign shl_assign shl Integer
    ShrAssign shr_assign shr Integer
}

/// The sum of several expressions, from the first to the last; of none, the number 0.
///
/// ```
/// use zerostride::{Device, Expr};
///
/// let device = Device::cpu();
/// let parts = [device.upload(&[1, 2], [2])?, device.upload(&[10, 20], [2])?];
/// let sum: Expr<i32> = parts.iter().map(|part| part.expr()).sum();
/// assert_eq!(sum.to_vec()?, [11, 22]);
/// # Ok::<(), zerostride::Error>(())
/// ```
impl<T: Numeric> std::iter::Sum for Expr<T> {
    fn sum<I: Iterator<Item = Expr<T>>>(exprs: I) -> Expr<T> {
        exprs.reduce(|sum, expr| sum + expr).unwrap_or_else(|| Expr::scalar(T::ZERO))
    }
}
