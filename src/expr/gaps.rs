//! Series with gaps, which are NaN: filled along an axis, and statistics of moving windows. Reductions that skip NaN are
//! rows of [`reductions`](super::reductions), quantiles that do are in [`sorting`](super::sorting).

use super::axes::IntoAxis;
use super::both::on_both;
use super::{AnyExpr, Expr, Pad, ReduceOptions};
use crate::dtype::{DType, Float, Kind, Numeric};
use crate::error::{Result, bail};
use crate::ir::{Op, Scalar};
use crate::layout::{AxisIndex, Layout};

impl AnyExpr {
    /// This expression of floats, its axis and the length of that.
    fn series(&self, name: &str, axis: isize) -> Result<(DType, usize, usize)> {
        let (dtype, shape) = (self.dtype()?, self.shape()?);
        if dtype.kind() != Kind::Float {
            bail!(Operation, "{name} takes floats, not {dtype}: cast first");
        }
        let axis = Layout::contiguous(shape)?.axis(axis)?;
        Ok((dtype, axis, shape[axis]))
    }

    /// Each NaN replaced by the nearest other element on one side of it.
    fn filled(&self, name: &str, axis: isize, backward: bool) -> Result<AnyExpr> {
        let (dtype, axis, length) = self.series(name, axis)?;
        if length == 0 {
            return Ok(self.clone());
        }
        if u32::try_from(length).is_err() {
            bail!(
                Overflow,
                "{name} of {} over axis {axis}: it takes at most 2^32 - 1 elements",
                self.shape()?
            );
        }
        // Indices from 1 on, from the side that values come from. 0 says that there is no value yet.
        let turned = |x: &AnyExpr| if backward { x.flip(axis) } else { x.clone() };
        let x = turned(self);
        let one = AnyExpr::scalar(DType::U32, 1);
        let place = AnyExpr::iota(x.shape()?.clone(), axis).cast(DType::U32).op(Op::Add, &one);
        let last = x.map(Op::IsNan).select(AnyExpr::scalar(DType::U32, 0), place).cummax(axis);
        let found = x.take_along(last.op(Op::Max, &one).op(Op::Sub, &one), axis);
        let none = last.op(Op::Eq, AnyExpr::scalar(DType::U32, 0));
        Ok(turned(&none.select(AnyExpr::scalar(dtype, Scalar::from(f64::NAN)), found)))
    }

    /// A statistic of the elements of each window that are not NaN.
    fn rolling(&self, name: &str, window: usize, least: usize, axis: isize) -> Result<AnyExpr> {
        let (dtype, axis, length) = self.series(&format!("rolling_{name}"), axis)?;
        if window == 0 || least > window {
            bail!(
                Shape,
                "rolling_{name} of windows of {window} elements, of which {least} must be there: a window has at least 1, and \
                 as many as must be there"
            );
        }
        if length == 0 {
            return Ok(self.clone());
        }
        let nan = AnyExpr::scalar(dtype, Scalar::from(f64::NAN));
        let mut before = vec![(0, 0); self.shape()?.rank()];
        before[axis].0 = window - 1;
        let windows = self.pad(&before, Pad::Constant(Scalar::from(f64::NAN))).windows([window], [axis]);
        let options = ReduceOptions::default().correction(1);
        let found = match name {
            "median" => windows.nanmedian(-1),
            _ => windows.reduce(&format!("nan{name}"), -1, options),
        };
        let count = windows.count_valid(-1);
        let least = AnyExpr::scalar(DType::U32, least.min(u32::MAX as usize) as u32);
        Ok(count.op(Op::Ge, least).select(found, nan))
    }

    fn differences(&self, axis: impl IntoAxis) -> Result<AnyExpr> {
        let (any, axis) = self.along_one(axis);
        match Layout::contiguous(any.shape()?)?.axis(axis) {
            Ok(at) if any.shape()?[at] == 0 => Ok(any),
            Ok(_) => Ok(any.slice(axis, 1..).op(Op::Sub, any.slice(axis, ..-1))),
            Err(error) => Err(error),
        }
    }
}

on_both! {
    /// Differences of neighbours.
    impl [<T: Numeric>] T;
    /// Each element less the one before it along an axis, which is shorter by 1 (NumPy and PyTorch `diff`). Integers wrap.
    diff(axis: impl IntoAxis) -> T, of f32 ["[1.0_f32, 3.0, 2.0, 2.0], [4]"], "x.diff(0)" => "[2.0, -1.0, 0.0]",
        |x| x.differences(axis);
}

on_both! {
    /// Series with gaps, which are NaN.
    impl [<T: Float>] T;
    /// Each NaN replaced by the last element before it along an axis that is not NaN. It stays NaN if there is none (pandas
    /// `ffill`).
    ffill(axis: impl AxisIndex) -> T, of f32 ["[1.0_f32, f32::NAN, f32::NAN, 4.0], [4]"], "x.ffill(0)" => "[1.0, 1.0, 1.0, 4.0]",
        |x| x.filled("ffill", axis.signed(), false);
    /// Each NaN replaced by the first element after it along an axis that is not NaN. It stays NaN if there is none (pandas
    /// `bfill`).
    bfill(axis: impl AxisIndex) -> T, of f32 ["[1.0_f32, f32::NAN, f32::NAN, 4.0], [4]"], "x.bfill(0)" => "[1.0, 4.0, 4.0, 4.0]",
        |x| x.filled("bfill", axis.signed(), true);
}

macro_rules! rolling {
    ($($name:ident $of:literal $what:literal $from:literal => $to:literal;)*) => {
        on_both! {
            /// Statistics of moving windows.
            impl [<T: Float>] T;
            $(#[doc = concat!(
                "The ", $what, " of each element and the `window - 1` before it along an axis, of those that are not NaN (pandas ",
                "`rolling(window, min_periods).", $of, "()`). It is NaN where fewer than `min_count` of them are there."
            )]
            ///
            /// A window of 0 elements, or of fewer than `min_count`, is an error.
            $name(window: usize, min_count: usize, axis: impl AxisIndex) -> T, of f32 ["[1.0_f32, f32::NAN, 3.0, 5.0], [4]"],
                concat!("x.", stringify!($name), "(2, 1, 0).slice(0, ", $from, "..)") => $to,
                |x| x.rolling($of, window, min_count, axis.signed());)*
        }
    };
}
rolling! {
    rolling_sum "sum" "sum" 0 => "[1.0, 1.0, 3.0, 8.0]";
    rolling_mean "mean" "mean" 0 => "[1.0, 1.0, 3.0, 4.0]";
    rolling_var "var" "variance with a correction of 1" 3 => "[2.0]";
    rolling_std "std" "standard deviation with a correction of 1" 3 => "[std::f32::consts::SQRT_2]";
    rolling_min "min" "least" 0 => "[1.0, 1.0, 3.0, 3.0]";
    rolling_max "max" "greatest" 0 => "[1.0, 1.0, 3.0, 5.0]";
    rolling_median "median" "median" 0 => "[1.0, 1.0, 3.0, 4.0]";
}
