//! The op table: the one place that knows the operations.
//!
//! A row has the name of an op, the types that it takes, its forms in WGSL and on the CPU, and an example that runs as
//! a doctest. Everything that lists ops is made from the rows by [`for_each_op!`]: the enum, the builder's methods, the
//! WGSL emitter, the CPU evaluator, the documentation and the tests.
//!
//! | column | meaning |
//! |---|---|
//! | `within 3` | the bound of an inexact float op, in units in the last place; stated here alone |
//! | `above 1.0` | below this magnitude the units are its own, for functions with zeros at irrational points |
//! | `costs 15` | the op's time in additions, roughly, if that is not 1; schedules use it |
//! | `is commutative` | both orders are one step |
//! | `in pairs` | the op takes less time than its loads and stores, so the CPU path joins two of them |
//! | `float`, `int`, `word`, `bool` | forms, whose types the op takes; `word` has the same bits with and without sign |
//! | `moves`, `bits`, `stored` | forms of floats: see [`Nature`]; a `stored` one takes floats as they are stored |
//!
//! A `float` form is arithmetic, which compilers of drivers rewrite as if it were algebra. In a WGSL form `{a}`, `{b}`,
//! `{c}` are the operands, `{D}` is the element type, `{T}` the type that computes (narrow integers compute in 32 bits
//! and are cut back afterwards, f16 and bf16 in f32), and `{W}` the width of the elements in bits. Each form works on
//! four lanes at once. For integers of 64 bits an operator, `min` and `max` are functions (`wgsl/types.rs`), as adapters may
//! lack the types. Functions that WGSL lacks, or that drivers get wrong, are in `shaders/prelude`. The CPU form is a closure
//! over one element of the type that computes; `math` is the CPU path's module.

use crate::dtype::{DType, Kind};

/// How a device computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Math {
    /// By this crate's own range reductions and polynomials: within the bound that
    /// [`Operation::ulp`](crate::Operation::ulp) states, on every device.
    #[default]
    Precise,
    /// By the adapter's builtins, for `exp exp2 exp10 log log2 log10 sin cos tan tanh sigmoid pow` of
    /// f32, f16 and bf16, with the adapter's accuracy. WGSL requires little ("Accuracy of expressions": `sin` and `cos`
    /// within 2^-11 between -pi and pi, `tanh` within 1e-5). NaN and infinities of one operation are as in precise math.
    ///
    /// Drivers may then rewrite several operations of an expression as if they were algebra. Of 4096 random numbers,
    /// llvmpipe (Mesa 22.3) had other bits than one operation at a time for 1969 of `(a + b) - a` (the result is `b`),
    /// 2021 of `(a - b) + b`, 3892 of the error term of TwoSum (it is 0), 1474 of a step of Kahan's summation and 1185
    /// of `a * b + a * c` (up to 109 units in the last place). `a - a` of infinities is 0. Quotients and roots are the
    /// adapter's own, and it may flush a product that rounds up to the least normal float. Products of matrices may be
    /// contracted to `fma` and added up in another order.
    Fast,
    /// *Total mode*: precise, and without the two things that an adapter decides otherwise, so the *bytes* of every result
    /// are the same on every device.
    ///
    /// A number below the least normal one of its type is 0 with its sign: where an operation, a function, a cast, a
    /// reduction, a scan or a product of matrices reads it, and where one computes it, each sum of a reduction
    /// included. A computed NaN is the positive quiet one without payload. What only moves elements keeps all bits:
    /// views, copies, lookups, sorts, and `select` of elements as they are. A function of the caller's takes and returns
    /// such numbers, and decides about those between.
    Total,
}

/// Calls `$go!` with the whole table.
macro_rules! for_each_op {
    ($go:ident) => {
        $go! {
            /// Sum. Integers wrap.
            Add: add(a, b) is commutative in pairs for Numeric -> T, [3.5_f32, 2.0 => 5.5] {
                float "{a} + {b}" = |a, b| a + b;
                word "{a} + {b}" = |a, b| a.wrapping_add(b);
            }
            /// Difference. Integers wrap.
            Sub: sub(a, b) in pairs for Numeric -> T, [3.5_f32, 2.0 => 1.5] {
                float "{a} - {b}" = |a, b| a - b;
                word "{a} - {b}" = |a, b| a.wrapping_sub(b);
            }
            /// Product. Integers wrap.
            Mul: mul(a, b) is commutative in pairs for Numeric -> T, [3.5_f32, 2.0 => 7.0] {
                float "{a} * {b}" = |a, b| a * b;
                word "{a} * {b}" = |a, b| a.wrapping_mul(b);
            }
            /// Quotient, of floats the nearest. Integers truncate; by 0 they give 0, and `MIN / -1` is `MIN`.
            Div: div(a, b) in pairs for Numeric -> T costs 4, [-7_i32, 2 => -3] {
                float "{a} / {b}" = |a, b| a / b;
                int "div_{T}({a}, {b})" = |a, b| if b == 0 { 0 } else { a.wrapping_div(b) };
            }
            /// Remainder of the truncated quotient, with the sign of `a` (C `fmod`, Rust `%`). Floats
            /// are exact, and NaN by 0; integers by 0 give 0.
            Rem: rem(a, b) for Numeric -> T costs 40, [-7_i32, 2 => -1] {
                float "rem_{T}({a}, {b})" = |a, b| a % b;
                int "rem_{T}({a}, {b})" = |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) };
            }
            /// Quotient rounded down (Python and NumPy `//`, PyTorch `floor_divide`). Integers by 0
            /// give 0; floats take `(a - rem_floor(a, b)) / b`, rounded to an integer.
            DivFloor: div_floor(a, b) for Numeric -> T costs 50, [-7_i32, 2 => -4] {
                float "div_floor_{T}({a}, {b})" = |a, b| math::div_floor(a, b);
                int "div_floor_{T}({a}, {b})" = |a, b| math::IntOps::div_floor(a, b);
            }
            /// Remainder of the quotient rounded down, with the sign of `b` (Python, NumPy and PyTorch
            /// `%`). Floats are exact, and NaN by 0; integers by 0 give 0.
            RemFloor: rem_floor(a, b) for Numeric -> T costs 40, [-7_i32, 2 => 1] {
                float "rem_floor_{T}({a}, {b})" = |a, b| math::rem_floor(a, b);
                int "rem_floor_{T}({a}, {b})" = |a, b| math::IntOps::rem_floor(a, b);
            }
            /// Power. Floats follow IEEE 754 `pow`. Integers wrap; a negative exponent gives 0, except
            /// for the bases 1 and -1.
            Pow: pow(a, b) for Numeric -> T within 4 costs 60, [2.0_f32, 10.0 => 1024.0] {
                float "pow_{T}({a}, {b})" = math::Function::pow;
                int "pow_{T}({a}, {b})" = |a, b| math::IntOps::pow(a, b);
            }
            /// The smaller (IEEE 754 `minimum`). NaN wins, and -0 is less than 0.
            Min: minimum(a, b) is commutative for Numeric -> T, [3.5_f32, 2.0 => 2.0] {
                float "min_{T}({a}, {b})" = math::minimum;
                int "min({a}, {b})" = |a, b| a.min(b);
            }
            /// The larger (IEEE 754 `maximum`). NaN wins, and 0 is greater than -0.
            Max: maximum(a, b) is commutative for Numeric -> T, [3.5_f32, 2.0 => 3.5] {
                float "max_{T}({a}, {b})" = math::maximum;
                int "max({a}, {b})" = |a, b| a.max(b);
            }
            /// The smaller, where a number wins over NaN (IEEE 754 `minimumNumber`), and -0 is less than 0.
            Fmin: fmin(a, b) is commutative for Float -> T, [f32::NAN, 2.0 => 2.0] {
                float "fmin_{T}({a}, {b})" = math::minimum_number;
            }
            /// The larger, where a number wins over NaN (IEEE 754 `maximumNumber`), and 0 is greater than -0.
            Fmax: fmax(a, b) is commutative for Float -> T, [f32::NAN, 2.0 => 2.0] {
                float "fmax_{T}({a}, {b})" = math::maximum_number;
            }
            /// Limited to `lo..=hi`: `min(max(x, lo), hi)`, so `hi` where `lo > hi`. NaN wins, and -0 is less than 0.
            Clamp: clamp(x, lo, hi) for Numeric -> T, [3.5_f32, 0.0, 1.0 => 1.0] {
                float "min_{T}(max_{T}({a}, {b}), {c})" = |x, lo, hi| math::minimum(math::maximum(x, lo), hi);
                int "min(max({a}, {b}), {c})" = |x, lo, hi| x.max(lo).min(hi);
            }
            /// `a * b + c`, rounded once: the product is exact. Where two roundings do, `mul_add` is cheaper.
            Fma: fma(a, b, c) for Float -> T costs 60, [0.1_f32, 10.0, -1.0 => 1.4901161e-8] {
                stored "fma_{D}({a}, {b}, {c})" = |a, b, c| math::Stored::fma(a, b, c);
            }
            /// Negation. Integers wrap: `neg(MIN)` is `MIN`.
            Neg: neg(x) in pairs for Numeric -> T, [3.5_f32 => -3.5] {
                float "-({a})" = |x| -x;
                word "neg_{T}({a})" = |x| x.wrapping_neg();
            }
            /// The operand itself (Python's and NumPy's unary `+`).
            Positive: positive(x) for Numeric -> T, [-3_i32 => -3] {
                moves "{a}" = |x| x;
                word "{a}" = |x| x;
            }
            /// Magnitude. `abs(MIN)` is `MIN`.
            Abs: abs(x) in pairs for Numeric -> T, [-3_i32 => 3] {
                moves "abs({a})" = |x| x.abs();
                int "abs_{T}({a})" = |x| math::IntOps::abs(x);
            }
            /// -1, 0 or 1. NaN stays NaN, and both zeros give 0.
            Sign: sign(x) for Numeric -> T, [-3.5_f32 => -1.0] {
                float "sign_{T}({a})" = |x| math::sign(x);
                int "sign_{T}({a})" = |x| math::IntOps::sign(x);
            }
            /// `max(x, 0)` whose zero is positive. NaN stays NaN.
            Relu: relu(x) in pairs for Float -> T, [-3.5_f32 => 0.0] {
                moves "relu_{T}({a})" = |x| if x <= 0.0 { 0.0 } else { x };
            }
            /// Down to an integer.
            Floor: floor(x) for Float -> T, [-1.5_f32 => -2.0] {
                float "floor_{T}({a})" = |x| x.floor();
            }
            /// Up to an integer.
            Ceil: ceil(x) for Float -> T, [-1.5_f32 => -1.0] {
                float "ceil_{T}({a})" = |x| x.ceil();
            }
            /// To the nearest integer, halves to the even one.
            Round: round(x) for Float -> T, [2.5_f32 => 2.0] {
                float "round_{T}({a})" = |x| x.round_ties_even();
            }
            /// Towards 0 to an integer.
            Trunc: trunc(x) for Float -> T, [-1.5_f32 => -1.0] {
                float "trunc_{T}({a})" = |x| x.trunc();
            }
            /// Square root, the nearest float; NaN below 0.
            Sqrt: sqrt(x) for Float -> T costs 4, [2.25_f32 => 1.5] {
                float "sqrt_{T}({a})" = |x| x.sqrt();
            }
            /// e to the power of `x`.
            Exp: exp(x) for Float -> T within 2 costs 20, [0.0_f32 => 1.0] {
                float "exp_{T}({a})" = math::Function::exp;
            }
            /// Natural logarithm; -inf at 0, NaN below.
            Log: log(x) for Float -> T within 2 costs 20, [1.0_f32 => 0.0] {
                float "log_{T}({a})" = math::Function::log;
            }
            /// Sine of `x` in radians; NaN at infinity.
            Sin: sin(x) for Float -> T within 2 costs 60, [0.0_f32 => 0.0] {
                float "sin_{T}({a})" = math::Function::near_sin;
            }
            /// Cosine of `x` in radians; NaN at infinity.
            Cos: cos(x) for Float -> T within 2 costs 60, [0.0_f32 => 1.0] {
                float "cos_{T}({a})" = math::Function::near_cos;
            }
            /// Hyperbolic tangent.
            Tanh: tanh(x) for Float -> T within 2 costs 25, [0.0_f32 => 0.0] {
                float "tanh_{T}({a})" = math::Function::tanh;
            }
            /// Logistic function `1 / (1 + exp(-x))`.
            Sigmoid: sigmoid(x) for Float -> T within 4 costs 25, [0.0_f32 => 0.5] {
                float "sigmoid_{T}({a})" = math::Function::sigmoid;
            }
            /// `x * x`. Integers wrap.
            Square: square(x) for Numeric -> T, [-3_i32 => 9] {
                float "{a} * {a}" = |x| x * x;
                word "{a} * {a}" = |x| x.wrapping_mul(x);
            }
            /// `1 / x`.
            Reciprocal: reciprocal(x) for Float -> T costs 4, [4.0_f32 => 0.25] {
                float "1.0 / {a}" = |x| 1.0 / x;
            }
            /// `1 / sqrt(x)`; infinite at 0, NaN below.
            Rsqrt: rsqrt(x) for Float -> T within 3 costs 8, [4.0_f32 => 0.5] {
                float "rsqrt_{T}({a})" = math::Function::rsqrt;
            }
            /// Cube root, of negative numbers too.
            Cbrt: cbrt(x) for Float -> T within 2 costs 30, [-27.0_f32 => -3.0] {
                float "cbrt_{T}({a})" = math::Function::cbrt;
            }
            /// 2 to the power of `x`.
            Exp2: exp2(x) for Float -> T within 2 costs 20, [3.0_f32 => 8.0] {
                float "exp2_{T}({a})" = math::Function::exp2;
            }
            /// 10 to the power of `x`.
            Exp10: exp10(x) for Float -> T within 2 costs 20, [2.0_f32 => 100.0] {
                float "exp10_{T}({a})" = math::Function::exp10;
            }
            /// `exp(x) - 1`, accurate near 0.
            Expm1: expm1(x) for Float -> T within 2 costs 30, [0.0_f32 => 0.0] {
                float "expm1_{T}({a})" = math::Function::expm1;
            }
            /// Logarithm to base 2; -inf at 0, NaN below.
            Log2: log2(x) for Float -> T within 2 costs 25, [8.0_f32 => 3.0] {
                float "log2_{T}({a})" = math::Function::log2;
            }
            /// Logarithm to base 10; -inf at 0, NaN below.
            Log10: log10(x) for Float -> T within 2 costs 25, [100.0_f32 => 2.0] {
                float "log10_{T}({a})" = math::Function::log10;
            }
            /// `log(1 + x)`, accurate near 0; -inf at -1, NaN below.
            Log1p: log1p(x) for Float -> T within 2 costs 30, [0.0_f32 => 0.0] {
                float "log1p_{T}({a})" = math::Function::log1p;
            }
            /// Tangent of `x` in radians; NaN at infinity.
            Tan: tan(x) for Float -> T within 4 costs 60, [0.0_f32 => 0.0] {
                float "tan_{T}({a})" = math::Function::near_tan;
            }
            /// Inverse sine, in radians; NaN beyond 1.
            Asin: asin(x) for Float -> T within 2 costs 25, [0.0_f32 => 0.0] {
                float "asin_{T}({a})" = math::Function::asin;
            }
            /// Inverse cosine, in radians; NaN beyond 1.
            Acos: acos(x) for Float -> T within 2 costs 25, [1.0_f32 => 0.0] {
                float "acos_{T}({a})" = math::Function::acos;
            }
            /// Inverse tangent, in radians.
            Atan: atan(x) for Float -> T within 2 costs 25, [0.0_f32 => 0.0] {
                float "atan_{T}({a})" = math::Function::atan;
            }
            /// Hyperbolic sine.
            Sinh: sinh(x) for Float -> T within 3 costs 50, [0.0_f32 => 0.0] {
                float "sinh_{T}({a})" = math::Function::sinh;
            }
            /// Hyperbolic cosine.
            Cosh: cosh(x) for Float -> T within 2 costs 30, [0.0_f32 => 1.0] {
                float "cosh_{T}({a})" = math::Function::cosh;
            }
            /// Inverse hyperbolic sine.
            Asinh: asinh(x) for Float -> T within 3 costs 60, [0.0_f32 => 0.0] {
                float "asinh_{T}({a})" = math::Function::asinh;
            }
            /// Inverse hyperbolic cosine; NaN below 1.
            Acosh: acosh(x) for Float -> T within 4 costs 60, [1.0_f32 => 0.0] {
                float "acosh_{T}({a})" = math::Function::acosh;
            }
            /// Inverse hyperbolic tangent; infinite at -1 and 1, NaN beyond.
            Atanh: atanh(x) for Float -> T within 3 costs 40, [0.0_f32 => 0.0] {
                float "atanh_{T}({a})" = math::Function::atanh;
            }
            /// Error function.
            Erf: erf(x) for Float -> T within 2 costs 40, [0.0_f32 => 0.0] {
                float "erf_{T}({a})" = math::Function::erf;
            }
            /// `1 - erf(x)`, accurate for large `x`.
            Erfc: erfc(x) for Float -> T within 4 costs 60, [0.0_f32 => 1.0] {
                float "erfc_{T}({a})" = math::Function::erfc;
            }
            /// The magnitude of `a` with the sign of `b`.
            Copysign: copysign(a, b) for Float -> T, [3.0_f32, -0.5 => -3.0] {
                bits "copysign_{T}({a}, {b})" = |a, b| a.copysign(b);
            }
            /// The angle of the point `(b, a)`, in radians from -pi to pi (IEEE 754 `atan2`).
            Atan2: atan2(a, b) for Float -> T within 3 costs 40, [0.0_f32, 1.0 => 0.0] {
                float "atan2_{T}({a}, {b})" = math::Function::atan2;
            }
            /// `sqrt(a * a + b * b)` without overflow inside; infinite if either is, even with NaN.
            Hypot: hypot(a, b) is commutative for Float -> T within 3 costs 15, [3.0_f32, 4.0 => 5.0] {
                float "hypot_{T}({a}, {b})" = math::Function::hypot;
            }
            /// `log(exp(a) + exp(b))` without overflow inside.
            LogAddExp: logaddexp(a, b) is commutative for Float -> T within 3 above 1.0 costs 60, [0.0_f32, f32::NEG_INFINITY => 0.0] {
                float "logaddexp_{T}({a}, {b})" = math::Function::logaddexp;
            }
            /// `x * log(y)`, and 0 where `x` is 0 and `y` is no NaN.
            Xlogy: xlogy(x, y) for Float -> T within 3 costs 25, [0.0_f32, 0.0 => 0.0] {
                float "xlogy_{T}({a}, {b})" = math::Function::xlogy;
            }
            /// `log(x / (1 - x))`, the inverse of [`sigmoid`](Self::sigmoid); infinite at 0 and 1, NaN
            /// beyond.
            Logit: logit(x) for Float -> T within 4 costs 60, [0.5_f32 => 0.0] {
                float "logit_{T}({a})" = math::Function::logit;
            }
            /// Logarithm of the magnitude of the gamma function; infinite at 0 and the negative integers.
            /// Below 0 it has zeros that no float is: there the error is that of a result of 1.
            Lgamma: lgamma(x) for Float -> T within 8 above 1.0 costs 150, [1.0_f32 => 0.0] {
                float "lgamma_{T}({a})" = math::Function::lgamma;
            }
            /// Derivative of [`lgamma`](Self::lgamma); infinite at 0, NaN at the negative integers. Below 0
            /// it is a difference of `log(-x)`, with the error of that.
            Digamma: digamma(x) for Float -> T within 5 above 16.0 costs 150, [f32::INFINITY => f32::INFINITY] {
                float "digamma_{T}({a})" = math::Function::digamma;
            }
            /// Radians to degrees.
            ToDegrees: to_degrees(x) for Float -> T within 1, [0.0_f32 => 0.0] {
                float "to_degrees_{T}({a})" = math::Function::to_degrees;
            }
            /// Degrees to radians.
            ToRadians: to_radians(x) for Float -> T within 1, [0.0_f32 => 0.0] {
                float "to_radians_{T}({a})" = math::Function::to_radians;
            }
            /// The next float after `a` on the way to `b`; `b` where they are equal.
            NextAfter: nextafter(a, b) for Float -> T costs 8, [1.0_f32, 2.0 => 1.0000001] {
                stored "nextafter_{D}({a}, {b})" = |a, b| math::Stored::nextafter(a, b);
            }
            /// The fraction of `x` above its floor: `x - floor(x)`.
            Fract: fract(x) for Float -> T, [2.75_f32 => 0.75] {
                float "{a} - floor_{T}({a})" = |x| x - x.floor();
            }
            /// Whether the sign bit is set, that of zero and NaN included.
            Signbit: signbit(x) for Float -> bool, [-0.0_f32 => true] {
                bits "signbit_{T}({a})" = |x| x.is_sign_negative();
            }
            /// Greatest common divisor, not negative; `gcd(0, 0)` is 0, and that of `MIN` and 0 is `MIN`.
            Gcd: gcd(a, b) is commutative for Integer -> T costs 100, [-12_i32, 18 => 6] {
                int "gcd_{T}({a}, {b})" = |a, b| math::IntOps::gcd(a, b);
            }
            /// Least common multiple, not negative unless it wraps; 0 where an operand is.
            Lcm: lcm(a, b) is commutative for Integer -> T costs 110, [-4_i32, 6 => 12] {
                int "lcm_{T}({a}, {b})" = |a, b| math::IntOps::lcm(a, b);
            }
            /// The bits of `a` rotated left by `b`: bits shifted out on the left return on the right. The amount
            /// counts modulo the width, so a negative amount rotates right.
            RotateLeft: rotate_left(a, b) for Integer -> T costs 4, [0x81_u8, 1 => 0x03] {
                word "rotate_left_{T}({a}, {b}, {W})" = |a, b| math::IntOps::rotate_left(a, b);
            }
            /// The bits of `a` rotated right by `b`, as [`rotate_left`](Self::rotate_left) by `-b`.
            RotateRight: rotate_right(a, b) for Integer -> T costs 4, [0x81_u8, 1 => 0xc0] {
                word "rotate_left_{T}({a}, neg_{T}({b}), {W})" = |a, b| math::IntOps::rotate_right(a, b);
            }
            /// The number of bits that are set.
            CountOnes: count_ones(x) for Integer -> T, [7_i32 => 3] {
                word "count_ones_{T}({a}, {W})" = |x| math::IntOps::count_ones(x);
            }
            /// The number of zero bits above the highest bit that is set.
            LeadingZeros: leading_zeros(x) for Integer -> T, [1_i32 => 31] {
                word "leading_zeros_{T}({a}, {W})" = |x| math::IntOps::leading_zeros(x);
            }
            /// The number of zero bits below the lowest bit that is set; the width for 0.
            TrailingZeros: trailing_zeros(x) for Integer -> T, [8_i32 => 3] {
                word "trailing_zeros_{T}({a}, {W})" = |x| math::IntOps::trailing_zeros(x);
            }
            /// The bits in reverse order.
            ReverseBits: reverse_bits(x) for Integer -> T costs 8, [1_u8 => 128] {
                word "reverse_bits_{T}({a}, {W})" = |x| x.reverse_bits();
            }
            /// Whether the operands are equal. NaN equals nothing.
            Eq: eq(a, b) is commutative for Element -> bool, [3_i32, 3 => true] {
                float "eq_{T}({a}, {b})" = |a, b| a == b;
                word "{a} == {b}" = |a, b| a == b;
                bool "{a} == {b}" = |a, b| a == b;
            }
            /// Whether the operands differ. NaN differs from everything.
            Ne: ne(a, b) is commutative for Element -> bool, [3_i32, 3 => false] {
                float "!eq_{T}({a}, {b})" = |a, b| a != b;
                word "{a} != {b}" = |a, b| a != b;
                bool "{a} != {b}" = |a, b| a != b;
            }
            /// Whether `a` is less than `b`. False with NaN.
            Lt: lt(a, b) for Numeric -> bool, [3_i32, 4 => true] {
                float "lt_{T}({a}, {b})" = |a, b| a < b;
                int "{a} < {b}" = |a, b| a < b;
            }
            /// Whether `a` is less than or equal to `b`. False with NaN.
            Le: le(a, b) for Numeric -> bool, [3_i32, 3 => true] {
                float "le_{T}({a}, {b})" = |a, b| a <= b;
                int "{a} <= {b}" = |a, b| a <= b;
            }
            /// Whether `a` is greater than `b`. False with NaN.
            Gt: gt(a, b) for Numeric -> bool, [3_i32, 4 => false] {
                float "lt_{T}({b}, {a})" = |a, b| a > b;
                int "{a} > {b}" = |a, b| a > b;
            }
            /// Whether `a` is greater than or equal to `b`. False with NaN.
            Ge: ge(a, b) for Numeric -> bool, [3_i32, 3 => true] {
                float "le_{T}({b}, {a})" = |a, b| a >= b;
                int "{a} >= {b}" = |a, b| a >= b;
            }
            /// Bitwise and; logical for bool.
            And: and(a, b) is commutative for Bits -> T, [6_i32, 3 => 2] {
                word "{a} & {b}" = |a, b| a & b;
                bool "{a} & {b}" = |a, b| a & b;
            }
            /// Bitwise or; logical for bool.
            Or: or(a, b) is commutative for Bits -> T, [6_i32, 3 => 7] {
                word "{a} | {b}" = |a, b| a | b;
                bool "{a} | {b}" = |a, b| a | b;
            }
            /// Bitwise exclusive or; logical for bool.
            Xor: xor(a, b) is commutative for Bits -> T, [6_i32, 3 => 5] {
                word "{a} ^ {b}" = |a, b| a ^ b;
                bool "{a} != {b}" = |a, b| a ^ b;
            }
            /// Every bit inverted; logical for bool.
            Not: not(x) for Bits -> T, [6_i32 => -7] {
                word "~({a})" = |x| !x;
                bool "!({a})" = |x| !x;
            }
            /// Shifted left. 0 for amounts that are negative or at least the width.
            Shl: shl(a, b) for Integer -> T, [3_i32, 2 => 12] {
                word "shl_{T}({a}, {b})" = |a, b| math::IntOps::shl(a, b);
            }
            /// Shifted right, keeping the sign. Amounts that are negative or at least the width give
            /// 0, or -1 where the sign fills.
            Shr: shr(a, b) for Integer -> T, [-12_i32, 2 => -3] {
                int "shr_{T}({a}, {b})" = |a, b| math::IntOps::shr(a, b);
            }
            /// Whether the element is NaN.
            IsNan: is_nan(x) for Float -> bool, [f32::NAN => true] {
                bits "is_nan_{T}({a})" = |x| x.is_nan();
            }
            /// Whether the element is an infinity of either sign.
            IsInf: is_inf(x) for Float -> bool, [f32::NEG_INFINITY => true] {
                bits "is_inf_{T}({a})" = |x| x.is_infinite();
            }
            /// Whether the element is neither NaN nor infinite.
            IsFinite: is_finite(x) for Float -> bool, [1.0_f32 => true] {
                bits "is_finite_{T}({a})" = |x| x.is_finite();
            }
        }
    };
}
pub(crate) use for_each_op;

/// The types of a kind of form.
macro_rules! kind {
    (int) => {
        &[Kind::Signed, Kind::Unsigned]
    };
    (word) => {
        &[Kind::Signed, Kind::Unsigned]
    };
    (bool) => {
        &[Kind::Bool]
    };
    (float) => {
        &[Kind::Float]
    };
    (moves) => {
        &[Kind::Float]
    };
    (bits) => {
        &[Kind::Float]
    };
    (stored) => {
        &[Kind::Float]
    };
}
pub(super) use kind;

/// How a form treats floats, as far as a compiler may rewrite it as algebra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It computes with its operands.
    Arithmetic,
    /// Its result is an operand, up to its sign, so arithmetic that reads it reads the operand.
    Moves,
    /// It reads and makes bits and integers, which rewriting does not change.
    Bits,
}

macro_rules! nature {
    (float) => {
        Nature::Arithmetic
    };
    (moves) => {
        Nature::Moves
    };
    ($other:ident) => {
        Nature::Bits
    };
}

/// The forms of an op for some types.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    kinds: &'static [Kind],
    pub wgsl: &'static str,
    pub nature: Nature,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub op: Op,
    pub name: &'static str,
    pub arity: usize,
    /// Whether the result is bool whatever the operands are.
    pub gives_bool: bool,
    /// Whether both orders of the operands are one step.
    pub commutative: bool,
    /// By the kinds of types that the op takes.
    forms: &'static [Form],
    /// The greatest distance from the exact result on any adapter, in units in the last place, for floats. 0 means the
    /// same bits. The bounds are those that CUDA publishes for its math library.
    pub ulp: u32,
    /// Results of a smaller magnitude are measured in this one's units.
    pub ulp_from: f64,
    /// Its time, in additions.
    pub cost: usize,
    pub doc: &'static str,
}

macro_rules! define {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident($($arg:ident),+) $(is $commutative:ident)?
        $(in $pairs:ident)? for $class:ident -> $gives:ident
        $(within $ulp:literal $(above $from:literal)?)? $(costs $cost:literal)?,
        [$($eg:tt)*] { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        /// An elementwise operation.
        ///
        /// Some are no rows of the table. The operands of three differ in type: `Select` takes a condition and two
        /// values, the node states the result type of `Cast`, and `Lookup` takes a table and the indices of an element
        /// of it, each inside of its axis. Three make random numbers: `Random`, words of u32 by their place in the
        /// sequence of a key, whose halves are the other operands, `Unit`, such words as numbers of f32 from 0 to
        /// below 1, and `Normal`, such words as normal numbers of f32. `Flush` and `Total` are of [total mode](super::total). `Call`, `Repeat` and `State` have a [`Body`](super::Body).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Op { $($op,)* Select, Cast, Lookup, Random, Unit, Normal, Flush, Total, Call, Repeat, State }

        /// The rows, in the order of the enum.
        pub(crate) const ROWS: &[Row] = &[$(Row {
            op: Op::$op,
            name: stringify!($name),
            arity: [$(stringify!($arg)),+].len(),
            gives_bool: gives_bool!($gives),
            commutative: !<[&str]>::is_empty(&[$(stringify!($commutative))?]),
            forms: &[$(Form { kinds: kind!($kind), wgsl: $wgsl, nature: nature!($kind) }),+],
            ulp: 0 $(+ $ulp)?,
            ulp_from: 0.0 $($(+ $from)?)?,
            cost: [$($cost,)? 1][0],
            doc: concat!($($doc),+).trim_ascii(),
        },)*];
    };
}
macro_rules! gives_bool {
    (T) => {
        false
    };
    (bool) => {
        true
    };
}
for_each_op!(define);

impl Op {
    /// The row of an op, if the table has one.
    pub(crate) fn row(self) -> Option<&'static Row> {
        ROWS.get(self as usize)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Op::Select => "select",
            Op::Cast => "cast",
            Op::Lookup => "lookup",
            Op::Random => "random_bits",
            Op::Unit => "unit",
            Op::Normal => "normal",
            Op::Flush => "flush",
            Op::Total => "total",
            Op::Call => "call",
            Op::Repeat => "repeat",
            Op::State => "state",
            _ => self.row().map_or("", |row| row.name),
        }
    }
}

/// The time of an op, in additions. For some, loads and stores hide behind the arithmetic.
const COSTLY: usize = 15;

/// Whether the arithmetic of an op takes longer than its loads and stores.
pub(crate) const fn is_costly(op: Op) -> bool {
    // Ops without rows come after them.
    (op as usize) < ROWS.len() && ROWS[op as usize].cost >= COSTLY
}

/// The time of a lookup, in additions: a load for each lane.
const LOOKUP: usize = 4;

/// The time of an op on operands of a type, in additions of f32. 16-bit floats are rounded after each.
pub(crate) fn cost(op: Op, dtype: DType) -> usize {
    let rounding = match dtype {
        DType::F16 => 8,
        DType::BF16 => 3,
        _ => 0,
    };
    match op {
        Op::Lookup => LOOKUP,
        // Of a block for four elements.
        Op::Random => 48,
        Op::Normal => 20,
        Op::Flush => 3,
        Op::Total => 4,
        op => op.row().map_or(1, |row| row.cost + rounding),
    }
}

impl Row {
    /// The type of the result for operands of type `dtype`, if the op takes them.
    pub(crate) fn result(&self, dtype: DType) -> Option<DType> {
        self.form(dtype).map(|_| if self.gives_bool { DType::Bool } else { dtype })
    }

    /// The form for operands of type `dtype`, if the op takes them.
    pub(crate) fn form(&self, dtype: DType) -> Option<&'static Form> {
        self.forms.iter().find(|form| form.kinds.contains(&dtype.kind()))
    }
}
