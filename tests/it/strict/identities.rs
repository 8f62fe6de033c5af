//! Expressions that optimizers like: from the rules of NIR (`nir_opt_algebraic.py`), of LLVM's
//! InstCombine, InstSimplify and Reassociate under fast-math flags, and of DXC, which inherits these.

#![allow(clippy::eq_op)] // a value that meets itself is what this is about

use zerostride::DType;

use crate::common::recipe::Recipe;
use crate::common::value::Value;

pub(crate) fn identities(operands: &[Recipe; 4]) -> Vec<Recipe> {
    let [a, b, c, d] = operands;
    let of = a.dtype;
    let k = |x: f64| Recipe::constant(Value::Float(x), of);
    let sum = || a + b;
    let product = || a * b;
    let difference = || a - b;
    let integer = a.cast(DType::I32);
    let whole = integer.cast(DType::F32);
    let mut all = vec![
        // A value that meets itself.
        a - a,
        a / a,
        a + -a,
        -a + a,
        a.of2("sub", a.of1("positive")),
        sum() - sum(),
        sum() - (b + a),
        product() - (b * a),
        sum() / sum(),
        difference() + (b - a),
        a - (b.of2("lt", c)).select(a, b),
        (b.of2("lt", c)).select(a, b) - a,
        (b.of2("lt", c)).select(a + b, a) - a,
        (b.of2("lt", c)).select(a + b, a) - (a + b),
        a.of2("minimum", b) - a,
        a.of2("maximum", b) - b,
        a.of2("minimum", b) + a.of2("maximum", b) - sum(),
        a.of1("abs") - a,
        a.of1("abs") + a,
        a.of1("abs") * a.of1("abs") - a * a,
        a.of1("abs") / a,
        a.of2("copysign", b) - a,
        a.of2("copysign", b) / a,
        a.of1("relu") - a,
        a.of1("sign") * a.of1("abs") - a,
        a.of1("floor") - a,
        a.of1("fract") + a.of1("floor"),
        a - a.of1("floor") - a.of1("fract"),
        a.of1("trunc") - a.of1("trunc"),
        a.cast(DType::I32).cast(of) - a,
        (a + b).cast(DType::I32).cast(of) - (a + b),
        Recipe::call("clamp", &[a, b, c]) - a,
        // A compiler knows that integers are whole, and that some are 0.
        whole.cast(of).of1("fract") + b,
        whole.of1("fract").cast(of) + b,
        whole.cast(DType::F64).of1("fract").cast(of) + b,
        whole.of2("rem_floor", &whole).cast(of) + d,
        whole.of2("rem", &whole).cast(of) + d,
        (&integer - &integer).cast(of) + b,
        integer.of2("xor", &integer).cast(of) * b,
        (&integer - &integer).cast(DType::F32).cast(of) + b,
        (&integer - &integer).cast(DType::U8).cast(of) + b,
        integer.of2("lt", &integer).cast(DType::I32).cast(of) + b,
        // Error terms.
        sum() - a,
        sum() - b,
        a - sum(),
        difference() + b,
        difference() - a,
        a - difference(),
        a - (a - b),
        a + (b - a),
        (sum() - a) - b,
        // Sums in another order.
        (a + b) + c,
        a + (b + c),
        ((a + b) + c) - (a + (b + c)),
        (a + b) + (c + d),
        ((a + b) + c) + d,
        (a + b) - (c + b),
        (a - b) - (c - b),
        a - (b - c),
        (a - b) - c,
        // Products.
        (a * b) * c,
        a * (b * c),
        (a * b) * (c * d),
        (a * b) / b,
        (a / b) * b,
        (a / b) / c,
        a / (b / c),
        a / (b * c),
        (a / b) * (b / a),
        a * b.of1("reciprocal") - a / b,
        a.of1("reciprocal").of1("reciprocal"),
        a.of1("reciprocal") * a,
        a / b.of1("reciprocal"),
        (a * a) / a,
        a / (a * b),
        a.of1("square") - a * a,
        a.of1("square").of1("sqrt"),
        a.of1("sqrt") * a.of1("sqrt"),
        a.of1("sqrt") * b.of1("sqrt"),
        a.of1("sqrt") / a,
        a.of1("sqrt").of1("reciprocal"),
        (a * b).of1("sqrt"),
        a / b.of1("sqrt"),
        // Factoring, distributing and contracting.
        a * b + a * c,
        a * b - a * c,
        a * b + b * c,
        a * b + a,
        a * b - a,
        a - a * b,
        a / c + b / c,
        a / c - b / c,
        (a + b) * c - a * c,
        (a + b) * c - b * c,
        (a + b) * (a - b),
        (a + b) * (a - b) - (a * a - b * b),
        a * a - b * b,
        a * a - b * b + a,
        a * a + b * b,
        a * b + c,
        a * b - c,
        c - a * b,
        a * b + c * d,
        a * b - c * d,
        a + b * (c - a),
        a * (k(1.0) - b) + c * b,
        (a * b + c) * d + a,
        (a + b) * (a + b) - a * a,
        // Signs.
        -(a - b),
        -(a + b),
        -(a * b),
        -(-a),
        -a - b,
        -a * -b,
        -a / -b,
        (-a) * b + a * b,
        k(0.0) - a,
        k(0.0) - (a - b),
        (a - b).of1("abs") - (b - a).of1("abs"),
        (a * b).of1("abs") - a.of1("abs") * b.of1("abs"),
        (-a).of1("abs"),
        (a - b).of1("neg").of1("abs"),
        (a - b).of2("copysign", b - a),
        // Constants, which a compiler would have to know.
        a + k(0.0),
        a - k(0.0),
        a * k(0.0),
        k(0.0) / a,
        a * k(1.0) - a,
        a / k(1.0) - a,
        a * k(-1.0) + a,
        (a * k(2.0)) * k(0.5),
        (a + k(1.0)) - k(1.0),
        (a * k(3.0)) / k(3.0),
        a / k(3.0) * k(3.0),
        a * k(3.0) + a * k(-2.0),
        (a + k(0.5)).of1("floor"),
        (a + k(0.5)) - a.of1("floor"),
        (a + b) * k(0.5) - a * k(0.5),
        a + a,
        a + a - a,
        (a + a) - k(2.0) * a,
        a + a + a - k(3.0) * a,
        // Extremes.
        a.of2("minimum", a + b),
        a.of2("maximum", a - b),
        a.of2("minimum", b).of2("maximum", b),
        a.of2("maximum", b).of2("minimum", a),
        (a + b).of2("minimum", a + c) - a,
        (a * b).of2("maximum", a * c),
        (-a).of2("minimum", -b),
        (a - b).of2("maximum", k(0.0)) - (b - a).of2("maximum", k(0.0)),
        a.of2("fmin", b) + a.of2("fmax", b),
        (a + b).of2("fmax", a),
        (a * a).of2("maximum", k(0.0)),
        Recipe::call("clamp", &[&(a + b), &k(0.0), &k(1.0)]) - (a + b),
        // Rounding of whole numbers.
        a.of1("round").of1("floor") - a.of1("round"),
        a.of1("floor").of1("trunc") + b.of1("floor"),
        (a.of1("floor") + b.of1("floor")).of1("floor") - a.of1("floor"),
        (-a).of1("floor") + a.of1("ceil"),
        // Conditions in arithmetic.
        a.of2("gt", b).cast(of) * c,
        a.of2("gt", b).cast(of) * b.of2("gt", c).cast(of) * d,
        a.of2("gt", b).cast(of) + b.of2("gt", c).cast(of),
        a.of2("gt", b).cast(of) - a.of2("le", b).cast(of),
        a.of2("gt", b).cast(of) / b.of2("gt", a).cast(of),
        k(1.0) - a.of2("gt", b).cast(of),
        a.of2("eq", b).select(a - b, a),
        a.of2("eq", b).select(a / b, b),
        a.of2("lt", k(0.0)).select(-a, a) - a.of1("abs"),
        a.of2("gt", b).select(a, b) - a,
        a.of2("lt", b).select(a, b) + b,
        (a + b).of2("gt", a).select(a, b) * a,
        a.of1("is_nan").select(k(0.0), a) - a,
        (a - b).of1("is_nan").select(k(0.0), a - b),
        (a - a).of1("is_nan").cast(of),
        (a / a).of1("is_finite").cast(of),
        (a * k(0.0)).of1("is_nan").cast(of),
        (a - b).of1("signbit").cast(of),
        // The bits of arithmetic's results. A compiler assumes that these are no NaN, finite, and not below 0.
        (a + b).of1("is_inf").cast(of),
        (a * b).of1("is_inf").cast(of),
        (a / b).of1("is_finite").cast(of),
        a.of1("sqrt").of1("is_finite").cast(of),
        (a * b).of1("abs").of1("is_nan").cast(of),
        a.of2("lt", b).select(a, c).of1("is_inf").cast(of),
        (-a).of1("is_inf").cast(of),
        a.of1("abs").of1("is_finite").cast(of),
        a.of2("maximum", b).of1("is_inf").cast(of),
        a.of1("floor").of1("is_inf").cast(of),
        (a * b).cast(DType::Bool).cast(of),
        (a - b).cast(DType::I32).cast(of),
        (a + b).cast(DType::F64).cast(of),
        a.of1("sqrt").of1("signbit").cast(of),
        (a * a).of1("signbit").cast(of),
        b.of2("copysign", a.of1("sqrt")),
        a.of1("sqrt").of1("relu"),
        (a * b).of1("relu"),
        (a + b).of2("nextafter", b + a),
        (a * b).of2("nextafter", c),
    ];

    // Comparisons of what arithmetic made.
    let compared: [[Recipe; 2]; 29] = [
        [a.clone(), a.clone()],
        [a.clone(), a + c],
        [a + c, a.clone()],
        [a + c, c.clone()],
        [a - b, k(0.0)],
        [k(0.0), a - b],
        [a - b, a - c],
        [a - b, b - a],
        [a + b, a - b],
        [a + b, b + a],
        [a + b, a + c],
        [a + k(1.0), a.clone()],
        [a + k(1.0), b + k(1.0)],
        [a * b, k(0.0)],
        [a * b, a * c],
        [a * b, a.clone()],
        [a * a, k(0.0)],
        [a * k(2.0), a.clone()],
        [a / b, k(1.0)],
        [a / b, a.clone()],
        [-a, k(0.0)],
        [-a, -b],
        [-a, a.clone()],
        [a.of1("abs"), k(0.0)],
        [a.of1("abs"), a.clone()],
        [a.of1("sqrt"), k(0.0)],
        [a.of2("minimum", b), a.clone()],
        [a.of2("maximum", b), a.of2("minimum", b)],
        [a.of1("floor"), a.clone()],
    ];
    for [left, right] in &compared {
        for name in ["eq", "ne", "lt", "le", "gt", "ge"] {
            all.push(left.of2(name, right).cast(of));
        }
    }

    all.extend(error_free(a, b, c));
    all
}

/// Transforms that are made of roundings: an optimizer that knows algebra knows their result to be 0.
fn error_free(a: &Recipe, b: &Recipe, c: &Recipe) -> Vec<Recipe> {
    let sum = a + b;
    // TwoSum (Knuth) and FastTwoSum (Dekker).
    let part = &sum - a;
    let two_sum = (a - (&sum - &part)) + (b - &part);
    let fast_two_sum = b - (&sum - a);
    // A step of Kahan's summation, and of Neumaier's.
    let y = a - c;
    let t = b + &y;
    let kahan = (&t - b) - &y;
    let neumaier = a.of1("abs").of2("ge", b.of1("abs")).select((a - &sum) + b, (b - &sum) + a);
    // Veltkamp's splitting, and Dekker's product.
    let split = |x: &Recipe| {
        let scaled = x * 4097.0;
        let high = &scaled - (&scaled - x);
        let low = x - &high;
        (high, low)
    };
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let product = a * b;
    let two_product =
        ((&a_high * &b_high - &product) + &a_high * &b_low + &a_low * &b_high) + &a_low * &b_low;
    // A Newton step for a quotient, and the remainder of a root.
    let q = a / b;
    let newton = &q + (a - &q * b) / b;
    let root = a.of1("sqrt");
    let root_rest = a - &root * &root;
    vec![two_sum, fast_two_sum, kahan, neumaier, a_high, a_low, two_product, newton, root_rest]
}
