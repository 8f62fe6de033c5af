//! The table of reductions: the one place that lists functions of ranges of elements.
//!
//! A row has the name of a reduction, the types of its operand and result, its composition from reduce ops and
//! operations, and an example that runs as a doctest. The methods, the names for [`AnyExpr::reduce`], [`reductions`]
//! and the documentation are made from the rows, which are grouped by types. In a composition, `x` is the operand in
//! the type that accumulates and `r` its ranges. The result is cast once, at the end.

use super::axes::{IntoAxes, IntoAxis};
use super::both::{built, on_both};
use super::reduce::{Class, Part, Ranges, ReduceOptions, nonzero};
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element, Float, Kind, Numeric};
use crate::error::{Error, ErrorKind, Result, bail};
use crate::ir::{Op, ReduceOp};
use crate::layout::Shape;

/// A reduction, softmax or cumulative operation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reduction {
    /// The name of the method on [`Expr`].
    pub name: &'static str,
    /// Its description, edge cases included.
    pub doc: &'static str,
    /// The bound of a float result's distance from the exact one; `-` is exact. L is the most additions that a value
    /// goes through. In a run of n elements along neighbouring axes that is `ceil(n / 64) - 1 + ceil(log2 min(n, 64))`
    /// for up to 1024 of them, and otherwise 21 more than for `ceil(n / 1024)` elements. Several runs add up. u is half
    /// a unit of 1, and m is the greatest element of a range. The bits are the same on every device, except where
    /// exponentials and logarithms contribute. f16 and bf16 are within 1 ulp.
    pub bound: &'static str,
    /// Whether the result has the operand's shape.
    pub keeps_shape: bool,
    pub(super) class: Class,
    gives: Option<DType>,
    pub(super) compose: fn(&Ranges, &AnyExpr) -> AnyExpr,
}

impl Reduction {
    /// The row of a name.
    pub(super) fn of(name: &str) -> Result<Reduction> {
        let name = match name {
            "amax" => "max",
            "amin" => "min",
            _ => name,
        };
        let unknown = || Error::new(ErrorKind::Operation, format!("no reduction is called '{name}'"));
        reductions().find(|reduction| reduction.name == name).ok_or_else(unknown)
    }

    /// The element type of the result for operands of type `dtype`, if it takes them.
    pub fn result(&self, dtype: DType) -> Option<DType> {
        self.class.takes(dtype).then(|| self.gives.unwrap_or(dtype))
    }
}

/// Every reduction, softmax and cumulative operation, but not `sum_to`, which takes a shape.
///
/// ```
/// use zerostride::{DType, reductions};
///
/// let argmax = reductions().find(|reduction| reduction.name == "argmax").unwrap();
/// assert_eq!(argmax.result(DType::F32), Some(DType::U32));
/// assert_eq!(argmax.result(DType::Bool), None);
/// ```
pub fn reductions() -> impl Iterator<Item = Reduction> {
    REDUCTIONS.into_iter().flatten().copied()
}

impl AnyExpr {
    /// The reduction called `name` over some axes.
    ///
    /// A wrong name, type or axis is a mistake of the expression. An option that the reduction lacks changes nothing.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device, ReduceOptions};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1.0_f32, 2.0, 3.0, 5.0], [2, 2])?);
    /// let mean = x.reduce("mean", 1, ReduceOptions::default().keepdim());
    /// assert_eq!(mean.shape()?, &[2, 1]);
    /// assert_eq!(mean.to_vec::<f32>()?, [1.5, 4.0]);
    ///
    /// let error = x.reduce("any", .., ReduceOptions::default()).eval().unwrap_err();
    /// assert_eq!(error.message(), "any takes bool, not f32: cast first");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce(&self, name: &str, axes: impl IntoAxes, options: ReduceOptions) -> AnyExpr {
        built(|| self.reduced(name, axes, options))
    }

    fn reduced(&self, name: &str, axes: impl IntoAxes, options: ReduceOptions) -> Result<AnyExpr> {
        let dtype = self.dtype()?;
        let Reduction { name, keeps_shape, class, gives, compose, .. } = Reduction::of(name)?;
        let options = ReduceOptions { keepdim: options.keepdim || keeps_shape, ..options };
        let ranges = Ranges::new(name, class, self, &axes.into_axes(), options, Part::Whole)?;
        ranges.finish(&compose(&ranges, &ranges.values()), gives.unwrap_or(dtype))
    }

    fn cumulated(&self, name: &str, axis: impl IntoAxis, options: ReduceOptions) -> Result<AnyExpr> {
        let (any, axis) = self.along_one(axis);
        any.reduced(name, axis, options)
    }

    fn summed_to(&self, shape: &Shape) -> Result<AnyExpr> {
        Class::Numeric.check("sum_to", self.dtype()?)?;
        let own = self.shape()?;
        let Some(lead) = own.rank().checked_sub(shape.rank()) else {
            bail!(
                Shape,
                "cannot sum {own} to {shape}: it has {} axes and the target {}",
                own.rank(),
                shape.rank()
            );
        };
        let mut axes: Vec<usize> = (0..lead).collect();
        for (axis, (&n, &target)) in (lead..).zip(own[lead..].iter().zip(shape.iter())) {
            match target {
                _ if target == n => {}
                1 => axes.push(axis),
                _ => bail!(
                    Shape,
                    "cannot sum {own} to {shape}: axis {axis} has length {n} and the target {target}"
                ),
            }
        }
        if axes.is_empty() {
            return Ok(self.clone());
        }
        let sum = self.reduced("sum", axes, ReduceOptions::default().keepdim())?;
        Ok((0..lead).fold(sum, |sum, _| sum.squeeze(0)))
    }
}

on_both! {
    /// Reductions to a shape.
    examples of f32 ["[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]"];

    /// The sums that reduce this expression to `shape`, if `shape` could be [broadcast](Self::broadcast_to) to this
    /// one's: over the axes that `shape` lacks, and those where it has length 1. It is the adjoint of a broadcast: it
    /// computes an operand's gradient from the result's (PyTorch `sum_to_size`).
    sum_to(shape: impl Into<Shape>) -> T where Numeric, "x.sum_to([2, 1])" => "[6.0, 15.0]",
        let shape = shape.into(), |x| x.summed_to(&shape);
}

macro_rules! gives {
    (T) => {
        None
    };
    ($t:ident) => {
        Some(<$t as Element>::DTYPE)
    };
}

/// Reductions of a class of types, which drop their axes or keep them with length 1.
macro_rules! reduced {
    ($rows:ident: $class:ident, impl [$($generic:tt)*] $t:ty;
        $($(#[doc = $doc:literal])+ $name:ident $keepdim:ident($($correction:ident = $eg:literal)?) -> $gives:ident within $bound:literal,
            [$($from:expr),+ => $($to:expr),+] |$r:ident, $x:ident| $body:expr;)*) => {
        const $rows: &[Reduction] = &[$(Reduction {
            name: stringify!($name),
            doc: concat!($($doc),+).trim_ascii(),
            bound: $bound,
            keeps_shape: false,
            class: Class::$class,
            gives: gives!($gives),
            compose: |$r, $x| $body,
        }),*];

        on_both! {
            /// Reductions, from their table.
            impl [$($generic)*] $t;
            $($(#[doc = $doc])+
            $name(axes: impl IntoAxes $(, $correction: impl Into<f64>)?) -> $gives,
                of f32 [concat!(stringify!([$($from),+]), ", [2, 2]")],
                concat!("x.", stringify!($name), "(1", $(", ", stringify!($eg),)? ")") => stringify!([$($to),+]),
                |x| x.reduced(stringify!($name), axes, ReduceOptions::default()$(.correction($correction))?);
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") where reduced axes stay, with length 1.")]
            $keepdim(axes: impl IntoAxes $(, $correction: impl Into<f64>)?) -> $gives,
                of f32 [
                    concat!(stringify!([$($from),+]), ", [2, 2]"),
                    concat!("let y = x.", stringify!($keepdim), "(1", $(", ", stringify!($eg),)? ");"),
                    "assert_eq!(y.shape()?, &[2, 1]);"
                ],
                "y" => stringify!([$($to),+]),
                |x| x.reduced(stringify!($name), axes, ReduceOptions::default().keepdim()$(.correction($correction))?);)*
        }
    };
}

reduced! { NUMERIC: Numeric, impl [<T: Numeric>] T;
    /// The sum of each range; 0 for no elements. Integers wrap. The lengths of the axes alone decide the order in
    /// which floats are added, so the bits are the same on every device. f16 and bf16 are added in f32 and
    /// rounded once, at the end.
    sum sum_keepdim() -> T within "L u of the sum of magnitudes", [1.0_f32, 2.0, 3.0, 5.0 => 3.0, 8.0] |r, x| r.reduce(ReduceOp::Sum, x);
    /// The product of each range, in the order of [`sum`](Self::sum); 1 for no elements. Integers wrap.
    prod prod_keepdim() -> T within "n ulp", [1.0_f32, 2.0, 3.0, 5.0 => 2.0, 15.0] |r, x| r.reduce(ReduceOp::Prod, x);
    /// The least element of each range. NaN wins, and -0 is less than 0. A range without elements is an
    /// error.
    min min_keepdim() -> T within "-", [1.0_f32, 2.0, 3.0, -5.0 => 1.0, -5.0] |r, x| r.reduce(ReduceOp::Min, x);
    /// The greatest element of each range. NaN wins, and 0 is greater than -0. A range without elements is an
    /// error.
    max max_keepdim() -> T within "-", [1.0_f32, 2.0, 3.0, -5.0 => 2.0, 3.0] |r, x| r.reduce(ReduceOp::Max, x);
    /// The index of the least element of each range, counted in row-major order. The first of equal elements
    /// wins, and the first NaN wins over every number. A range without elements, or with more than 2^32, is an
    /// error.
    argmin argmin_keepdim() -> u32 within "-", [1.0_f32, 2.0, 3.0, -5.0 => 0, 1] |r, x| r.reduce(ReduceOp::ArgMin, x);
    /// The index of the greatest element of each range, counted in row-major order. The first of equal elements
    /// wins, and the first NaN wins over every number. A range without elements, or with more than 2^32, is an
    /// error.
    argmax argmax_keepdim() -> u32 within "-", [1.0_f32, 2.0, 3.0, -5.0 => 1, 0] |r, x| r.reduce(ReduceOp::ArgMax, x);
    /// The sum of the magnitudes of each range. For integers `abs(MIN)` is `MIN`.
    l1 l1_keepdim() -> T within "L ulp", [1.0_f32, -2.0, 3.0, -5.0 => 3.0, 8.0] |r, x| r.reduce(ReduceOp::Sum, &x.map(Op::Abs));
    /// The sum of the squares of each range.
    sum_square sum_square_keepdim() -> T within "L + 1 ulp", [1.0_f32, -2.0, 3.0, -5.0 => 5.0, 34.0]
        |r, x| r.reduce(ReduceOp::Sum, &x.map(Op::Square));
}

reduced! { FLOATS: Float, impl [<T: Float>] T;
    /// The mean of each range: the sum, divided by the number of elements; NaN for no elements.
    mean mean_keepdim() -> T within "(L + 1) u of the mean of magnitudes", [1.0_f32, 2.0, 3.0, 5.0 => 1.5, 4.0] |r, x| r.reduce(ReduceOp::Sum, x).op(Op::Div, r.n());
    /// The variance of each range: the sum of the squared differences from the mean, divided by the number of
    /// elements less `correction`. That is 0 for the variance of the elements themselves, and 1 for an estimate
    /// from a sample. The mean's rounding error is corrected (Chan, Golub and LeVeque, 1983).
    var var_keepdim(correction = 0) -> T within "L + 6 ulp, or the square of 2^-21 of the largest element", [1.0_f32, 3.0, 2.0, 2.0 => 1.0, 0.0] |r, x| var(r, x);
    /// The standard deviation of each range: the root of [`var`](Self::var).
    std std_keepdim(correction = 0) -> T within "L / 2 + 4 ulp, or 2^-21 of the largest element", [1.0_f32, 3.0, 2.0, 2.0 => 1.0, 0.0]
        |r, x| var(r, x).map(Op::Sqrt);
    /// The Euclidean norm of each range: the root of [`sum_square`](Self::sum_square).
    l2 l2_keepdim() -> T within "L / 2 + 2 ulp", [3.0_f32, -4.0, 5.0, 12.0 => 5.0, 13.0]
        |r, x| r.reduce(ReduceOp::Sum, &x.map(Op::Square)).map(Op::Sqrt);
    /// The logarithm of the sum of the exponentials of each range, without overflow inside; -inf for no
    /// elements. If the greatest element is infinite, it is the result.
    logsumexp logsumexp_keepdim() -> T within "log2 n + 5 ulp, of 1 or log n where that is more", [0.0_f32, f32::NEG_INFINITY, f32::INFINITY, 1.0 => 0.0, f32::INFINITY]
        |r, x| logsumexp(r, x);
}

reduced! { OF_VALID: Float, impl [<T: Float>] T;
    /// The sum of the elements of each range that are not NaN; 0 for none (NumPy `nansum`).
    nansum nansum_keepdim() -> T within "L u of the sum of magnitudes", [1.0_f32, f32::NAN, 3.0, 5.0 => 1.0, 8.0] |r, x| r.reduce(ReduceOp::Sum, &valid(r, x, 0.0));
    /// The product of the elements of each range that are not NaN; 1 for none (NumPy `nanprod`).
    nanprod nanprod_keepdim() -> T within "n ulp", [2.0_f32, f32::NAN, 3.0, 5.0 => 2.0, 15.0] |r, x| r.reduce(ReduceOp::Prod, &valid(r, x, 1.0));
    /// The mean of the elements of each range that are not NaN; NaN for none (NumPy `nanmean`).
    nanmean nanmean_keepdim() -> T within "(L + 1) u of the mean of magnitudes", [1.0_f32, f32::NAN, 3.0, 5.0 => 1.0, 4.0] |r, x| nanmean(r, x);
    /// The variance of the elements of each range that are not NaN, as [`var`](Self::var); NaN if there are at most
    /// `correction` of them (NumPy `nanvar`).
    nanvar nanvar_keepdim(correction = 0) -> T within "L + 6 ulp, or the square of 2^-21 of the largest element", [1.0_f32, 3.0, 2.0, f32::NAN => 1.0, 0.0] |r, x| nanvar(r, x);
    /// The standard deviation of the elements of each range that are not NaN: the root of [`nanvar`](Self::nanvar).
    nanstd nanstd_keepdim(correction = 0) -> T within "L / 2 + 4 ulp, or 2^-21 of the largest element", [1.0_f32, 3.0, 2.0, f32::NAN => 1.0, 0.0]
        |r, x| nanvar(r, x).map(Op::Sqrt);
    /// The least element of each range that is not NaN; NaN for none (NumPy `nanmin`). A range without elements is an
    /// error.
    nanmin nanmin_keepdim() -> T within "-", [1.0_f32, f32::NAN, 3.0, -5.0 => 1.0, -5.0] |r, x| nanextreme(r, x, ReduceOp::Min, f64::INFINITY);
    /// The greatest element of each range that is not NaN; NaN for none (NumPy `nanmax`). A range without elements is
    /// an error.
    nanmax nanmax_keepdim() -> T within "-", [1.0_f32, f32::NAN, 3.0, -5.0 => 1.0, 3.0] |r, x| nanextreme(r, x, ReduceOp::Max, f64::NEG_INFINITY);
}

reduced! { TRUTHS: Bool, impl [] bool;
    /// Whether any element of each range is true; false for no elements.
    any any_keepdim() -> bool within "-", [true, false, false, false => true, false] |r, x| r.reduce(ReduceOp::Any, x);
    /// Whether all elements of each range are true; true for no elements.
    all all_keepdim() -> bool within "-", [true, false, true, true => false, true] |r, x| r.reduce(ReduceOp::All, x);
}

reduced! { ELEMENTS: Element, impl [<T: Element>] T;
    /// The number of elements of each range that are not 0, by their bits: NaN and subnormals count, -0 does not.
    /// A range of 2^32 elements or more is an error.
    count_nonzero count_nonzero_keepdim() -> u32 within "-", [1.0_f32, 0.0, f32::NAN, -5.0 => 1, 2]
        |r, x| r.reduce(ReduceOp::Sum, &r.counts(&nonzero(x)));
    /// The number of elements of each range that are not NaN (pandas `count`). A range of 2^32 elements or more is an
    /// error.
    count_valid count_valid_keepdim() -> u32 within "-", [1.0_f32, 0.0, f32::NAN, -5.0 => 2, 1] |r, x| count_valid(r, x);
}

/// Functions of ranges whose result has the operand's shape, and cumulative operations along one axis.
macro_rules! kept {
    (axes $rows:ident: $class:ident;
        $($(#[doc = $doc:literal])+ $name:ident within $bound:literal, [$($from:expr),+ => $($to:expr),+] |$r:ident, $x:ident| $body:expr;)*) => {
        kept! { @ $rows: $class; $($name $bound [$($doc),+] |$r, $x| $body;)* }

        on_both! {
            /// Functions of ranges.
            impl [<T: $class>] T;
            $($(#[doc = $doc])+
            $name(axes: impl IntoAxes) -> T,
                of f32 [concat!(stringify!([$($from),+]), ", [2, 2]")],
                concat!("x.", stringify!($name), "(1)") => stringify!([$($to),+]),
                |x| x.reduced(stringify!($name), axes, ReduceOptions::default());)*
        }
    };
    (axis $rows:ident: $class:ident;
        $($(#[doc = $doc:literal])+ $name:ident $with:ident within $bound:literal, [$($from:expr),+ => $($to:expr),+; $($other:expr),+] |$r:ident, $x:ident| $body:expr;)*) => {
        kept! { @ $rows: $class; $($name $bound [$($doc),+] |$r, $x| $body;)* }

        on_both! {
            /// Cumulative operations.
            impl [<T: $class>] T;
            $($(#[doc = $doc])+
            $name(axis: impl IntoAxis) -> T,
                of f32 [concat!(stringify!([$($from),+]), ", [2, 2]")],
                concat!("x.", stringify!($name), "(1)") => stringify!([$($to),+]),
                |x| x.cumulated(stringify!($name), axis, ReduceOptions::default());
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") without the element itself, or from the end to the front.")]
            $with(axis: impl IntoAxis, options: ReduceOptions) -> T,
                of f32 [
                    concat!(stringify!([$($from),+]), ", [2, 2]"),
                    "let reverse = zerostride::ReduceOptions::default().reverse();"
                ],
                concat!("x.", stringify!($with), "(1, reverse)") => stringify!([$($other),+]),
                |x| x.cumulated(stringify!($name), axis, options);)*
        }
    };
    (@ $rows:ident: $class:ident; $($name:ident $bound:literal [$($doc:literal),+] |$r:ident, $x:ident| $body:expr;)*) => {
        const $rows: &[Reduction] = &[$(Reduction {
            name: stringify!($name),
            doc: concat!($($doc),+).trim_ascii(),
            bound: $bound,
            keeps_shape: true,
            class: Class::$class,
            gives: None,
            compose: |$r, $x| $body,
        }),*];
    };
}

kept! { axes SOFTMAXES: Float;
    /// Exponentials that add up to 1 in each range, without overflow inside. All results of a range with NaN or
    /// inf, or of -inf alone, are NaN.
    softmax within "2 log2 n + 14 + (m - x) ulp", [0.0_f32, 0.0, 1.0, f32::NEG_INFINITY => 0.5, 0.5, 1.0, 0.0] |r, x| softmax(r, x);
    /// The logarithm of [`softmax`](Self::softmax), without underflow inside.
    log_softmax within "log2 n + 5 ulp, of 1 or log n where that is more", [1.0_f32, f32::NEG_INFINITY, f32::NEG_INFINITY, 2.0 => 0.0, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0]
        |r, x| log_softmax(r, x);
}

kept! { axis SCANS: Numeric;
    /// The sum of each element and the ones before it along an axis. Integers wrap. The length of the axis alone
    /// decides the order in which floats are added, f16 and bf16 in f32.
    cumsum cumsum_with within "(16 levels - 1) u of the sum of magnitudes so far", [1.0_f32, 2.0, 3.0, 5.0 => 1.0, 3.0, 3.0, 8.0; 3.0, 2.0, 8.0, 5.0] |r, x| r.scan(ReduceOp::Sum, x);
    /// The product of each element and the ones before it along an axis, in the order of
    /// [`cumsum`](Self::cumsum). Integers wrap.
    cumprod cumprod_with within "n ulp", [1.0_f32, 2.0, 3.0, 5.0 => 1.0, 2.0, 3.0, 15.0; 2.0, 2.0, 15.0, 5.0] |r, x| r.scan(ReduceOp::Prod, x);
    /// The greatest of each element and the ones before it along an axis. NaN wins, and 0 is greater than -0.
    cummax cummax_with within "-", [1.0_f32, 2.0, 3.0, -5.0 => 1.0, 2.0, 3.0, 3.0; 2.0, 2.0, 3.0, -5.0] |r, x| r.scan(ReduceOp::Max, x);
    /// The least of each element and the ones before it along an axis. NaN wins, and -0 is less than 0.
    cummin cummin_with within "-", [1.0_f32, 2.0, 3.0, -5.0 => 1.0, 1.0, 3.0, -5.0; 1.0, 2.0, -5.0, -5.0] |r, x| r.scan(ReduceOp::Min, x);
}

kept! { axis SCANS_OF_VALID: Float;
    /// [`cumsum`](Self::cumsum) with NaN as 0 (NumPy `nancumsum`).
    nancumsum nancumsum_with within "(16 levels - 1) u of the sum of magnitudes so far", [1.0_f32, f32::NAN, 3.0, 5.0 => 1.0, 1.0, 3.0, 8.0; 1.0, 0.0, 8.0, 5.0]
        |r, x| r.scan(ReduceOp::Sum, &valid(r, x, 0.0));
    /// [`cumprod`](Self::cumprod) with NaN as 1 (NumPy `nancumprod`).
    nancumprod nancumprod_with within "n ulp", [2.0_f32, f32::NAN, 3.0, 5.0 => 2.0, 2.0, 3.0, 15.0; 2.0, 1.0, 15.0, 5.0]
        |r, x| r.scan(ReduceOp::Prod, &valid(r, x, 1.0));
}

/// The rows, by class.
const REDUCTIONS: [&[Reduction]; 8] =
    [NUMERIC, FLOATS, OF_VALID, TRUTHS, ELEMENTS, SOFTMAXES, SCANS, SCANS_OF_VALID];

fn var(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    let d = x.op(Op::Sub, r.reduce(ReduceOp::Sum, x).op(Op::Div, r.n()));
    let left = r.number((r.count() as f64 - r.options.correction).max(0.0));
    squares(r, &d, &r.n()).op(Op::Div, left)
}

/// The sum of the squares of differences from the mean of `n` elements, without the mean's rounding error.
fn squares(r: &Ranges, d: &AnyExpr, n: &AnyExpr) -> AnyExpr {
    let (sum, squares) = (r.reduce(ReduceOp::Sum, d), r.reduce(ReduceOp::Sum, &d.op(Op::Mul, d)));
    let rest = sum.op(Op::Mul, &sum).op(Op::Div, n);
    rest.map(Op::IsInf).select(&squares, squares.op(Op::Sub, &rest)).op(Op::Max, r.number(0.0))
}

/// Elements with a number in place of NaN.
fn valid(r: &Ranges, x: &AnyExpr, instead: f64) -> AnyExpr {
    x.map(Op::IsNan).select(r.number(instead), x)
}

/// How many elements of each range are not NaN, as u32.
fn count_valid(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    let is_valid = match x.dtype() {
        Ok(dtype) if dtype.kind() == Kind::Float => x.map(Op::IsNan).map(Op::Not).cast(DType::U32),
        _ => x.cast(DType::U32).of_constant(1, r.shape()).unwrap_or_else(AnyExpr::mistake),
    };
    r.reduce(ReduceOp::Sum, &r.counts(&is_valid))
}

/// [`count_valid`] in the type that accumulates, rounded once.
fn n_valid(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    count_valid(r, x).cast(r.number(0.0).dtype().unwrap_or(DType::F32))
}

/// The least or greatest element that is not NaN. `last` is an element that every other beats.
fn nanextreme(r: &Ranges, x: &AnyExpr, op: ReduceOp, last: f64) -> AnyExpr {
    let none = r.reduce(ReduceOp::All, &x.map(Op::IsNan));
    none.select(r.number(f64::NAN), r.reduce(op, &valid(r, x, last)))
}

fn nanmean(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    r.reduce(ReduceOp::Sum, &valid(r, x, 0.0)).op(Op::Div, n_valid(r, x))
}

fn nanvar(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    let (n, zero) = (n_valid(r, x), r.number(0.0));
    let d = x.map(Op::IsNan).select(&zero, x.op(Op::Sub, nanmean(r, x)));
    let left = n.op(Op::Sub, r.number(r.options.correction));
    let left = left.op(Op::Gt, &zero).select(&left, r.number(f64::NAN));
    squares(r, &d, &n).op(Op::Div, left)
}

fn logsumexp(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    if r.is_empty() {
        // Without elements there is no greatest.
        return r.reduce(ReduceOp::Sum, x).map(Op::Log);
    }
    let greatest = r.reduce(ReduceOp::Max, x);
    let sum = r.reduce(ReduceOp::Sum, &x.op(Op::Sub, &greatest).map(Op::Exp));
    greatest.map(Op::IsInf).select(&greatest, greatest.op(Op::Add, sum.map(Op::Log)))
}

fn softmax(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    if r.is_empty() {
        return x.clone();
    }
    let powers = x.op(Op::Sub, r.reduce(ReduceOp::Max, x)).map(Op::Exp);
    powers.op(Op::Div, r.reduce(ReduceOp::Sum, &powers))
}

fn log_softmax(r: &Ranges, x: &AnyExpr) -> AnyExpr {
    if r.is_empty() {
        return x.clone();
    }
    let below = x.op(Op::Sub, r.reduce(ReduceOp::Max, x));
    below.op(Op::Sub, r.reduce(ReduceOp::Sum, &below.map(Op::Exp)).map(Op::Log))
}
