//! Tensors of coordinates: ranges of numbers and the identity.

use super::both::built;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element, Kind, Numeric};
use crate::error::{Result, bail};
use crate::ir::{Op, Scalar};

/// Functions of `AnyExpr` and of `Expr`, written once: the untyped one takes the type first. The examples are of f32.
macro_rules! of_type {
    ($($(#[doc = $doc:literal])+ $name:ident($dtype:ident $(, $arg:ident: $t:ty)*), $eg:literal => $to:literal, $body:expr;)*) => {
        /// Tensors of coordinates.
        impl AnyExpr {$(
            $(#[doc = $doc])+
            ///
            /// ```
            /// use zerostride::{AnyExpr, DType, Device};
            ///
            #[doc = concat!("let x = AnyExpr::", stringify!($name), "(DType::F32, ", $eg, ");")]
            #[doc = concat!("assert_eq!(x.eval_on(&Device::cpu())?.to_vec::<f32>()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name($dtype: DType, $($arg: $t),*) -> AnyExpr {
                $body
            }
        )*}

        /// Tensors of coordinates.
        impl<T: Numeric> Expr<T> {$(
            $(#[doc = $doc])+
            ///
            /// ```
            /// use zerostride::{Device, Expr};
            ///
            #[doc = concat!("let x: Expr<f32> = Expr::", stringify!($name), "(", $eg, ");")]
            #[doc = concat!("assert_eq!(x.to_vec_on(&Device::cpu())?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name($($arg: $t),*) -> Expr<T> {
                Expr::face(AnyExpr::$name(<T as Element>::DTYPE, $($arg),*))
            }
        )*}
    };
}
of_type! {
    /// Numbers from `start` on in steps, up to but not including `end` (NumPy, PyTorch and candle `arange`). Element
    /// `i` is `start + i * step`, exact for integers and rounded twice for floats.
    arange(dtype, start: impl Into<Scalar>, end: impl Into<Scalar>, step: impl Into<Scalar>), "0, 2, 0.5" => "[0.0, 0.5, 1.0, 1.5]", {
        let (start, end, step) = (start.into(), end.into(), step.into());
        built(|| range(dtype, start, end, step))
    };
    /// `count` floats from `start` to `end`, both included, at equal distances. They are counted from the nearer end,
    /// as PyTorch's `linspace`: `start + i * step` in the first half and `end - (count - 1 - i) * step` in the second,
    /// with a step that is rounded once. (NumPy computes in f64.)
    linspace(dtype, start: impl Into<Scalar>, end: impl Into<Scalar>, count: usize), "-1, 1, 3" => "[-1.0, 0.0, 1.0]", {
        let (start, end) = (start.into(), end.into());
        built(|| spaced(dtype, start, end, count))
    };
    /// Ones where both coordinates are equal, and zeros (NumPy, PyTorch and candle `eye`).
    eye(dtype, rows: usize, columns: usize), "2, 3" => "[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]", {
        let [row, column] = [0, 1].map(|axis| AnyExpr::coordinate([rows, columns], axis));
        row.op(Op::Eq, &column).cast(dtype)
    };
}

/// A number as f64, and as an integer if it is one.
fn number(value: Scalar) -> (f64, Option<i128>) {
    match value {
        Scalar::Bool(value) => (f64::from(value), Some(value.into())),
        Scalar::Int(value) => (value as f64, Some(value)),
        Scalar::Float(value) => (value, None),
    }
}

/// The coordinates of a line of numbers, in a type, and a constant of it.
fn line(dtype: DType, count: usize) -> Result<AnyExpr> {
    if i32::try_from(count).is_err() {
        bail!(
            Limit,
            "a range of {count} elements: an axis of coordinates has fewer than 2^31, so make it in parts"
        );
    }
    let line = AnyExpr::coordinate([count], 0).cast(dtype);
    line.node()?;
    Ok(line)
}

fn constant(dtype: DType, value: f64) -> Result<AnyExpr> {
    Ok(AnyExpr::constant(dtype, Scalar::Float(value).to_bits(dtype)?))
}

fn range(dtype: DType, start: Scalar, end: Scalar, step: Scalar) -> Result<AnyExpr> {
    if dtype == DType::Bool {
        bail!(Operation, "arange of bool: it makes numbers, so compare its result");
    }
    let ((from, i), (to, j), (by, k)) = (number(start), number(end), number(step));
    if by == 0.0 || !by.is_finite() || !from.is_finite() || !to.is_finite() {
        bail!(
            Data,
            "arange from {from} to {to} in steps of {by}: the numbers must be finite and the step other than 0"
        );
    }
    let count = match (i, j, k) {
        (Some(i), Some(j), Some(k)) => {
            let way = if k > 0 { j.checked_sub(i) } else { i.checked_sub(j) };
            let Some(way) = way else {
                bail!(Overflow, "arange from {from} to {to}: the distance overflows");
            };
            // Rounded up.
            u128::try_from(way).map_or(0, |way| way.div_ceil(k.unsigned_abs()))
        }
        _ => ((to - from) / by).ceil().max(0.0) as u128,
    };
    let Ok(count) = usize::try_from(count) else {
        bail!(Overflow, "arange from {from} to {to} in steps of {by} has {count} elements");
    };
    let line = line(dtype, count)?;
    if dtype.kind() == Kind::Float {
        let along = line.op(Op::Mul, constant(dtype, by)?);
        return Ok(constant(dtype, from)?.op(Op::Add, &along));
    }
    let (Some(i), Some(k)) = (i, k) else {
        bail!(Type, "arange of {dtype} from {from} in steps of {by}: integers take a whole start and step");
    };
    // An intermediate value may leave the type, as a step down of an unsigned one: it wraps, and back.
    let mask = u64::MAX >> (64 - 8 * dtype.size());
    let last = Scalar::Int(i + (count as i128 - 1).max(0) * k);
    let (first, _) = (Scalar::Int(i).to_bits(dtype)?, last.to_bits(dtype)?);
    let along = line.op(Op::Mul, AnyExpr::constant(dtype, k as u64 & mask));
    Ok(AnyExpr::constant(dtype, first).op(Op::Add, &along))
}

fn spaced(dtype: DType, start: Scalar, end: Scalar, count: usize) -> Result<AnyExpr> {
    if dtype.kind() != Kind::Float {
        bail!(Operation, "linspace makes floats, not {dtype}: cast the result");
    }
    let ((from, _), (to, _)) = (number(start), number(end));
    let line = line(dtype, count)?;
    let (first, last) = (constant(dtype, from)?, constant(dtype, to)?);
    if count < 2 {
        return Ok(first.broadcast_to([count]));
    }
    let step = constant(dtype, (to - from) / (count - 1) as f64)?;
    let up = first.op(Op::Add, line.op(Op::Mul, &step));
    let back = constant(dtype, (count - 1) as f64)?.op(Op::Sub, &line);
    let down = last.op(Op::Sub, back.op(Op::Mul, &step));
    let half = AnyExpr::constant(DType::I32, (count / 2) as u64);
    let is_first = AnyExpr::coordinate([count], 0).op(Op::Lt, &half);
    Ok(is_first.select(up, down))
}
