//! Activations and other compositions of table ops, which fuse as these do. Their accuracy is that of their parts.

use super::{AnyExpr, Expr, IntoExpr};
use crate::dtype::{DType, Float, bf16, f16};
use crate::error::Result;
use crate::ir::{operand_type, takes_no};

/// A number as a constant of any float type.
fn c<T: Float>(value: f64) -> Expr<T> {
    Expr::scalar(T::from_f64(value))
}

/// The greatest finite number of a type.
fn greatest<T: Float>() -> f64 {
    match T::DTYPE {
        DType::F16 => f16::MAX.to_f64(),
        DType::BF16 => bf16::MAX.to_f64(),
        DType::F32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

/// A function composed of operations of the table.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Composition {
    /// The name of the method on [`Expr`].
    pub name: &'static str,
    /// The number of operands.
    pub arity: usize,
    /// Its description.
    pub doc: &'static str,
}

impl Composition {
    /// This function of these operands, or the first mistake.
    #[track_caller]
    pub(super) fn call(&self, operands: &[AnyExpr]) -> AnyExpr {
        let types = operands.iter().map(AnyExpr::dtype).collect::<Result<Vec<DType>>>();
        let dtype = match types.and_then(|types| operand_type(self.name, self.arity, &types)) {
            Ok(dtype) => dtype,
            Err(error) => return AnyExpr::mistake(error),
        };
        let composed = match dtype {
            DType::F32 => compose::<f32>(self.name, operands),
            DType::F16 => compose::<f16>(self.name, operands),
            DType::BF16 => compose::<bf16>(self.name, operands),
            DType::F64 => compose::<f64>(self.name, operands),
            _ => None,
        };
        match composed {
            Some(expr) => expr,
            None => AnyExpr::new(takes_no(self.name, dtype)),
        }
    }
}

/// Every composition.
///
/// ```
/// let lerp = zerostride::compositions().find(|function| function.name == "lerp").unwrap();
/// assert_eq!(lerp.arity, 3);
/// ```
pub fn compositions() -> impl Iterator<Item = Composition> {
    COMPOSED.iter().copied()
}

macro_rules! composed {
    ($($(#[doc = $doc:literal])+ $name:ident($x:ident $(, $arg:ident)*) [$from:literal $(, $eg:expr)* => $to:literal] = $body:expr;)*) => {
        /// Activations and other compositions of operations, under the names of PyTorch, where it has them.
        impl<T: Float> Expr<T> {$(
            $(#[doc = $doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            #[doc = concat!("let x = device.upload(&[", stringify!($from), "_f32], [1])?;")]
            #[doc = concat!("let y = x.", stringify!($name), "(", $(stringify!($eg), ", ",)* ").eval()?.item()?;")]
            #[doc = concat!("assert!((y - ", stringify!($to), ").abs() < 1e-6, \"{y}\");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name(&self $(, $arg: impl IntoExpr<T>)*) -> Expr<T> {
                let $x = self;
                $(let $arg = $arg.into_expr();)*
                $body
            }
        )*}

        const COMPOSED: &[Composition] = &[$(Composition {
            name: stringify!($name),
            arity: [stringify!($x) $(, stringify!($arg))*].len(),
            doc: concat!($($doc),+).trim_ascii(),
        }),*];

        /// The composition called `name` of operands whose elements are known to be `T`, if it takes that many.
        #[track_caller]
        fn compose<T: Float>(name: &str, operands: &[AnyExpr]) -> Option<AnyExpr> {
            let operands: Vec<Expr<T>> = operands.iter().cloned().map(Expr::face).collect();
            match (name, operands.as_slice()) {
                $((stringify!($name), [$x $(, $arg)*]) => Some($x.$name($($arg),*).into()),)*
                _ => None,
            }
        }
    };
}

composed! {
    /// `x * b + c`, rounded twice: the product before the addition. [`fma`](Self::fma) rounds once.
    mul_add(x, b, c) [2.0, 3.0, 4.0 => 10.0] = x * b + c;
    /// `x + weight * (end - x)`: `x` at weight 0, `end` near weight 1.
    lerp(x, end, weight) [2.0, 4.0, 0.25 => 2.5] = x + weight * (end - x);
    /// `value` in place of NaN (pandas `fillna`).
    fill_nan(x, value) [0.5, 2.0 => 0.5] = x.is_nan().select(value, x);
    /// 0 in place of NaN, and the greatest and least finite numbers in place of infinities (NumPy and PyTorch
    /// `nan_to_num`).
    nan_to_num(x) [0.5 => 0.5] = x.fill_nan(c(0.0)).clamp(c(-greatest::<T>()), c(greatest::<T>()));
    /// `min(max(x, 0), 6)`.
    relu6(x) [7.5 => 6.0] = x.clamp(c(0.0), c(6.0));
    /// `x` above 0, `slope * x` below.
    leaky_relu(x, slope) [-2.0, 0.01 => -0.02] = x.gt(c(0.0)).select(x, x * slope);
    /// [`leaky_relu`](Self::leaky_relu) with a slope per element or channel, broadcast.
    prelu(x, slope) [-2.0, 0.25 => -0.5] = x.leaky_relu(slope);
    /// `x` above 0, `alpha * (exp(x) - 1)` below.
    elu(x, alpha) [-1.0, 1.0 => -0.63212055] = x.gt(c(0.0)).select(x, x.expm1() * alpha);
    /// `x` above 0, `alpha * (exp(x / alpha) - 1)` below.
    celu(x, alpha) [-1.0, 2.0 => -0.7869387] = x.gt(c(0.0)).select(x, (x / &alpha).expm1() * &alpha);
    /// [`elu`](Self::elu), scaled so that mean 0 and variance 1 are kept (Klambauer et al., 2017).
    selu(x) [-1.0 => -1.1113307] = x.elu(c(1.6732632423543772)) * c(1.0507009873554805);
    /// `x` times the normal distribution's cumulative function, by [`erfc`](Self::erfc).
    gelu(x) [1.0 => 0.8413447] = x * c(0.5) * (x * c(-std::f64::consts::FRAC_1_SQRT_2)).erfc();
    /// [`gelu`](Self::gelu) as approximated by tanh (Hendrycks and Gimpel, 2016).
    gelu_tanh(x) [1.0 => 0.841192]
        = x * c(0.5) * (c(1.0) + ((x + x * x * x * c(0.044715)) * c(0.7978845608028654)).tanh());
    /// `x * sigmoid(x)`, also called swish.
    silu(x) [1.0 => 0.73105857] = x * x.sigmoid();
    /// `log(1 + exp(x))` without overflow inside.
    softplus(x) [0.0 => 0.6931472] = x.maximum(c(0.0)) + (-x.abs()).exp().log1p();
    /// `x * tanh(softplus(x))`.
    mish(x) [1.0 => 0.86509836] = x * x.softplus().tanh();
    /// `x / (1 + |x|)`.
    softsign(x) [-3.0 => -0.75] = x / (c(1.0) + x.abs());
    /// `x / 6 + 1/2`, limited to 0 and 1.
    hardsigmoid(x) [1.5 => 0.75] = (x / c(6.0) + c(0.5)).clamp(c(0.0), c(1.0));
    /// `x * hardsigmoid(x)`.
    hardswish(x) [1.5 => 1.125] = x * x.hardsigmoid();
    /// Limited to `lo..=hi`, as [`clamp`](Self::clamp).
    hardtanh(x, lo, hi) [1.5, -1.0, 1.0 => 1.0] = x.clamp(lo, hi);
    /// `x - tanh(x)`.
    tanhshrink(x) [1.0 => 0.23840584] = x - x.tanh();
    /// `value` up to `limit`, `x` above. NaN stays NaN.
    threshold(x, limit, value) [0.5, 1.0, 20.0 => 20.0] = x.le(limit).select(value, x);
    /// [`log`](Self::log), as Rust calls it.
    ln(x) [1.0 => 0.0] = x.log();
    /// [`pow`](Self::pow), as Rust calls it.
    powf(x, y) [3.0, 2.0 => 9.0] = x.pow(y);
}
