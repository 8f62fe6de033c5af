//! Tensors of coordinates: ranges of numbers and the identity.

use super::both::built;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element, Float, Kind, Numeric, bf16, f16};
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
    /// `i` is `start + i * step`, exact for integers and rounded twice for floats. f16 and bf16 are computed in f32.
    arange(dtype, start: impl Into<Scalar>, end: impl Into<Scalar>, step: impl Into<Scalar>), "0, 2, 0.5" => "[0.0, 0.5, 1.0, 1.5]", {
        let (start, end, step) = (start.into(), end.into(), step.into());
        built(|| range(dtype, start, end, step))
    };
    /// `count` floats from `start` to `end`, both included, at equal distances. They are counted from the nearer end,
    /// as PyTorch's `linspace`: `start + i * step` in the first half and `end - (count - 1 - i) * step` in the second,
    /// with a step that is rounded once. So both ends are exact. f16 and bf16 are computed in f32. (NumPy computes in f64.)
    linspace(dtype, start: impl Into<Scalar>, end: impl Into<Scalar>, count: usize), "-1, 1, 3" => "[-1.0, 0.0, 1.0]", {
        let (start, end) = (start.into(), end.into());
        built(|| spaced(dtype, start, end, count))
    };
    /// Ones where both coordinates are equal, and zeros (NumPy, PyTorch and candle `eye`).
    eye(dtype, rows: usize, columns: usize), "2, 3" => "[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]", {
        built(|| {
            let [row, column] = [0, 1].map(|axis| AnyExpr::iota([rows, columns], axis));
            Ok(row.op(Op::Eq, &column).cast(dtype))
        })
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

/// The coordinates of a line of numbers.
fn line(count: usize) -> Result<AnyExpr> {
    if i32::try_from(count).is_err() {
        bail!(
            Limit,
            "a range of {count} elements: an axis of coordinates has fewer than 2^31, so make it in parts"
        );
    }
    Ok(AnyExpr::iota([count], 0))
}

/// The nearest number of a float type.
fn rounded(dtype: DType, value: f64) -> Result<f64> {
    Scalar::Float(value).to_bits(dtype)?;
    Ok(match dtype {
        DType::F16 => f64::from(<f16 as Float>::from_f64(value)),
        DType::BF16 => f64::from(<bf16 as Float>::from_f64(value)),
        DType::F32 => f64::from(value as f32),
        _ => value,
    })
}

/// Floats from one to another, as they are computed: those of 16 bits in f32, and all as quarters where their distance
/// would overflow.
struct Floats {
    dtype: DType,
    wide: DType,
    scale: f64,
}

impl Floats {
    fn new(dtype: DType, from: f64, to: f64) -> Floats {
        let wide = dtype.accumulating();
        let most = if wide == DType::F64 { f64::MAX } else { f32::MAX.into() };
        Floats { dtype, wide, scale: if (to - from).abs() > most { 0.25 } else { 1.0 } }
    }

    fn constant(&self, scaled: f64) -> Result<AnyExpr> {
        Ok(AnyExpr::constant(self.wide, Scalar::Float(scaled).to_bits(self.wide)?))
    }

    /// `first + i * step`.
    fn along(&self, first: &AnyExpr, line: &AnyExpr, step: &AnyExpr) -> AnyExpr {
        first.op(Op::Add, line.cast(self.wide).op(Op::Mul, step))
    }

    fn finish(&self, scaled: AnyExpr) -> Result<AnyExpr> {
        let whole = AnyExpr::scalar(self.wide, 1.0 / self.scale);
        let all = if self.scale == 1.0 { scaled } else { scaled.op(Op::Mul, whole) };
        Ok(all.cast(self.dtype))
    }
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
        _ if (to - from).is_finite() => ((to - from) / by).ceil().max(0.0) as u128,
        _ => (to / by - from / by).ceil().max(0.0) as u128,
    };
    let Ok(count) = usize::try_from(count) else {
        bail!(Overflow, "arange from {from} to {to} in steps of {by} has {count} elements");
    };
    let line = line(count)?;
    if dtype.kind() == Kind::Float {
        let floats = Floats::new(dtype, from, to);
        // The step to an element that is not there may be no number of the type.
        let by = if count < 2 { 0.0 } else { by };
        let [start, step] = [from, by].map(|value| value * floats.scale);
        let last = (start + (count.max(1) - 1) as f64 * step) / floats.scale;
        [from, last].into_iter().try_for_each(|end| rounded(dtype, end).map(drop))?;
        return floats.finish(floats.along(&floats.constant(start)?, &line, &floats.constant(step)?));
    }
    let (Some(i), Some(k)) = (i, k) else {
        bail!(Type, "arange of {dtype} from {from} in steps of {by}: integers take a whole start and step");
    };
    // An intermediate value may leave the type, as a step down of an unsigned one: it wraps, and back.
    let mask = u64::MAX >> (64 - 8 * dtype.size());
    let last = Scalar::Int(i + (count as i128 - 1).max(0) * k);
    let (first, _) = (Scalar::Int(i).to_bits(dtype)?, last.to_bits(dtype)?);
    let along = line.cast(dtype).op(Op::Mul, AnyExpr::constant(dtype, k as u64 & mask));
    Ok(AnyExpr::constant(dtype, first).op(Op::Add, &along))
}

fn spaced(dtype: DType, start: Scalar, end: Scalar, count: usize) -> Result<AnyExpr> {
    if dtype.kind() != Kind::Float {
        bail!(Operation, "linspace makes floats, not {dtype}: cast the result");
    }
    let ((from, _), (to, _)) = (number(start), number(end));
    if !from.is_finite() || !to.is_finite() {
        bail!(Data, "linspace from {from} to {to}: the numbers must be finite");
    }
    let (line, from, to) = (line(count)?, rounded(dtype, from)?, rounded(dtype, to)?);
    let floats = Floats::new(dtype, from, to);
    let [from, to] = [from, to].map(|end| end * floats.scale);
    let (first, last) = (floats.constant(from)?, floats.constant(to)?);
    if count < 2 {
        return floats.finish(first.broadcast_to([count]));
    }
    let step = (to - from) / (count - 1) as f64;
    let up = floats.along(&first, &line, &floats.constant(step)?);
    let integer = |value: usize| AnyExpr::constant(DType::I32, value as u64);
    let back = integer(count - 1).op(Op::Sub, &line);
    let down = floats.along(&last, &back, &floats.constant(-step)?);
    floats.finish(line.op(Op::Lt, integer(count / 2)).select(up, down))
}
