//! `docs/operations.md` is the op table. `ZEROSTRIDE_BLESS=1 cargo test --test it operations` writes it.

use std::fs;
use std::path::Path;

use zerostride::{
    AnyExpr, AssignAll, DType, Device, Operation, Reduction, Scalar, compositions, operations, reductions,
};

/// The names of an operation in other systems, if they differ: NumPy, PyTorch, ONNX,
/// OpenVINO.
const NAMES: &[(&str, &str, &str, &str, &str)] = &[
    ("sub", "subtract", "sub", "Sub", "Subtract"),
    ("mul", "multiply", "mul", "Mul", "Multiply"),
    ("div", "divide", "div", "Div", "Divide"),
    ("rem", "fmod", "fmod", "Mod (fmod=1)", "Mod"),
    ("div_floor", "floor_divide", "floor_divide", "-", "-"),
    ("rem_floor", "remainder", "remainder", "Mod", "FloorMod"),
    ("pow", "power", "pow", "Pow", "Power"),
    ("minimum", "minimum", "minimum", "Min", "Minimum"),
    ("maximum", "maximum", "maximum", "Max", "Maximum"),
    ("clamp", "clip", "clamp", "Clip", "Clamp"),
    ("positive", "positive", "positive", "Identity", "-"),
    ("neg", "negative", "neg", "Neg", "Negative"),
    ("abs", "absolute", "abs", "Abs", "Abs"),
    ("fmin", "fmin", "fmin", "-", "-"),
    ("fmax", "fmax", "fmax", "-", "-"),
    ("trunc", "trunc", "trunc", "-", "-"),
    ("square", "square", "square", "-", "-"),
    ("cbrt", "cbrt", "-", "-", "-"),
    ("exp2", "exp2", "exp2", "-", "-"),
    ("expm1", "expm1", "expm1", "-", "-"),
    ("log2", "log2", "log2", "-", "-"),
    ("log10", "log10", "log10", "-", "-"),
    ("log1p", "log1p", "log1p", "-", "-"),
    ("copysign", "copysign", "copysign", "-", "-"),
    ("hypot", "hypot", "hypot", "-", "-"),
    ("signbit", "signbit", "signbit", "-", "-"),
    ("relu", "-", "relu", "Relu", "Relu"),
    ("round", "rint", "round", "Round", "Round"),
    ("log", "log", "log", "Log", "Log"),
    ("sigmoid", "-", "sigmoid", "Sigmoid", "Sigmoid"),
    ("rsqrt", "-", "rsqrt", "-", "-"),
    ("exp10", "-", "-", "-", "-"),
    ("asin", "arcsin", "asin", "Asin", "Asin"),
    ("acos", "arccos", "acos", "Acos", "Acos"),
    ("atan", "arctan", "atan", "Atan", "Atan"),
    ("asinh", "arcsinh", "asinh", "Asinh", "Asinh"),
    ("acosh", "arccosh", "acosh", "Acosh", "Acosh"),
    ("atanh", "arctanh", "atanh", "Atanh", "Atanh"),
    ("atan2", "arctan2", "atan2", "-", "-"),
    ("erf", "-", "erf", "Erf", "Erf"),
    ("erfc", "-", "erfc", "-", "-"),
    ("eq", "equal", "eq", "Equal", "Equal"),
    ("ne", "not_equal", "ne", "-", "NotEqual"),
    ("lt", "less", "lt", "Less", "Less"),
    ("le", "less_equal", "le", "LessOrEqual", "LessEqual"),
    ("gt", "greater", "gt", "Greater", "Greater"),
    ("ge", "greater_equal", "ge", "GreaterOrEqual", "GreaterEqual"),
    (
        "and",
        "bitwise_and, logical_and",
        "bitwise_and, logical_and",
        "BitwiseAnd, And",
        "BitwiseAnd, LogicalAnd",
    ),
    ("or", "bitwise_or, logical_or", "bitwise_or, logical_or", "BitwiseOr, Or", "BitwiseOr, LogicalOr"),
    (
        "xor",
        "bitwise_xor, logical_xor",
        "bitwise_xor, logical_xor",
        "BitwiseXor, Xor",
        "BitwiseXor, LogicalXor",
    ),
    ("not", "invert, logical_not", "bitwise_not, logical_not", "BitwiseNot, Not", "BitwiseNot, LogicalNot"),
    ("shl", "left_shift", "bitwise_left_shift", "BitShift", "BitwiseLeftShift"),
    ("shr", "right_shift", "bitwise_right_shift", "BitShift", "BitwiseRightShift"),
    ("is_nan", "isnan", "isnan", "IsNaN", "IsNaN"),
    ("is_inf", "isinf", "isinf", "IsInf", "IsInf"),
    ("is_finite", "isfinite", "isfinite", "-", "IsFinite"),
    ("fract", "-", "-", "-", "-"),
    ("count_ones", "bitwise_count", "-", "-", "-"),
    ("leading_zeros", "-", "-", "-", "-"),
    ("trailing_zeros", "-", "-", "-", "-"),
    ("reverse_bits", "-", "-", "-", "-"),
    ("rotate_left", "-", "-", "-", "-"),
    ("rotate_right", "-", "-", "-", "-"),
    ("gcd", "gcd", "gcd", "-", "-"),
    ("lcm", "lcm", "lcm", "-", "-"),
    ("nextafter", "nextafter", "nextafter", "-", "-"),
    ("logaddexp", "logaddexp", "logaddexp", "-", "-"),
    ("xlogy", "-", "xlogy", "-", "-"),
    ("logit", "-", "logit", "-", "-"),
    ("lgamma", "-", "lgamma", "-", "-"),
    ("digamma", "-", "digamma", "-", "-"),
    ("to_degrees", "degrees", "rad2deg", "-", "-"),
    ("to_radians", "radians", "deg2rad", "-", "-"),
    ("ceil", "ceil", "ceil", "Ceil", "Ceiling"),
];

/// The same for reductions.
const REDUCTIONS: &[(&str, &str, &str, &str, &str)] = &[
    ("sum", "sum", "sum", "ReduceSum", "ReduceSum"),
    ("prod", "prod", "prod", "ReduceProd", "ReduceProd"),
    ("min", "min", "min", "ReduceMin", "ReduceMin"),
    ("max", "max", "max", "ReduceMax", "ReduceMax"),
    ("argmin", "argmin", "argmin", "ArgMin", "TopK"),
    ("argmax", "argmax", "argmax", "ArgMax", "TopK"),
    ("l1", "linalg.norm(ord=1)", "linalg.vector_norm(ord=1)", "ReduceL1", "ReduceL1"),
    ("sum_square", "-", "-", "ReduceSumSquare", "-"),
    ("mean", "mean", "mean", "ReduceMean", "ReduceMean"),
    ("var", "var", "var", "-", "-"),
    ("std", "std", "std", "-", "-"),
    ("l2", "linalg.norm", "linalg.vector_norm", "ReduceL2", "ReduceL2"),
    ("logsumexp", "-", "logsumexp", "ReduceLogSumExp", "-"),
    ("any", "any", "any", "-", "ReduceLogicalOr"),
    ("all", "all", "all", "-", "ReduceLogicalAnd"),
    ("count_nonzero", "count_nonzero", "count_nonzero", "-", "-"),
    ("softmax", "-", "softmax", "Softmax", "Softmax"),
    ("log_softmax", "-", "log_softmax", "LogSoftmax", "LogSoftmax"),
    ("cumsum", "cumsum", "cumsum", "CumSum", "CumSum"),
    ("cumprod", "cumprod", "cumprod", "CumProd", "-"),
    ("nansum", "nansum", "nansum", "-", "-"),
    ("nanprod", "nanprod", "-", "-", "-"),
    ("nanmean", "nanmean", "nanmean", "-", "-"),
    ("nanvar", "nanvar", "-", "-", "-"),
    ("nanstd", "nanstd", "-", "-", "-"),
    ("nanmin", "nanmin", "-", "-", "-"),
    ("nanmax", "nanmax", "-", "-", "-"),
    ("count_valid", "-", "-", "-", "-"),
    ("cummax", "maximum.accumulate", "cummax", "-", "-"),
    ("cummin", "minimum.accumulate", "cummin", "-", "-"),
    ("nancumsum", "nancumsum", "-", "-", "-"),
    ("nancumprod", "nancumprod", "-", "-", "-"),
];

fn types(op: &Operation) -> String {
    types_that(|dtype| op.result(dtype).is_some())
}

fn types_that(takes: impl Fn(DType) -> bool) -> String {
    let groups = [(DType::F32, "floats"), (DType::I32, "integers"), (DType::Bool, "bool")];
    let taken: Vec<&str> = groups.iter().filter(|(dtype, _)| takes(*dtype)).map(|(_, name)| *name).collect();
    taken.join(", ")
}

/// A doc comment as a cell: without links, which lead into the code's documentation.
fn plain(doc: &str) -> String {
    let mut text = doc.replace('|', "\\|");
    while let (Some(open), Some(close)) = (text.find("](Self::"), text.find(')')) {
        let close = text[open..].find(')').map_or(close, |i| open + i);
        text.replace_range(open..=close, "");
        if let Some(bracket) = text[..open].rfind('[') {
            text.remove(bracket);
        }
    }
    text
}

fn table() -> String {
    let mut text = String::from(
        "# Operations\n\nA test writes this page from the op table. `ulp` is the greatest distance of an f32 or f64 result\n\
         from the exact one, on any adapter, in units in the last place. `-` is exact. With `of n`, results smaller than n\n\
         are measured in the unit of n. f16 and bf16 are within 1, integers and bool are exact. `select` and `cast` are not\n\
         in the table, as their operands differ in type. [accuracy.md](accuracy.md) has measured errors.\n\n\
         The column *broadcasts* says which operands stretch by NumPy's rule: `all` against each other, or `-` if there is\n\
         one operand or shapes must be equal. All operands of `select` and of a `Function` broadcast too. `assign`,\n\
         `assign_all` and `record_into` stretch a source to its destination, one way.\n\n\
         | name | operands | broadcasts | gives | ulp | what | NumPy | PyTorch | ONNX | OpenVINO |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for op in operations() {
        let dtype = if op.result(DType::F32).is_some() { DType::F32 } else { DType::I32 };
        let gives = if op.result(dtype) == Some(DType::Bool) { "bool" } else { "the same" };
        let ulp = match op.ulp(dtype) {
            0 => "-".to_string(),
            ulp if op.ulp_from() > 0.0 => format!("{ulp} of {}", op.ulp_from()),
            ulp => ulp.to_string(),
        };
        let title = |name: &str| name[..1].to_uppercase() + &name[1..];
        let others = match NAMES.iter().find(|names| names.0 == op.name) {
            Some((_, numpy, torch, onnx, openvino)) => {
                [numpy, torch, onnx, openvino].map(ToString::to_string)
            }
            None => [op.name.into(), op.name.into(), title(op.name), title(op.name)],
        };
        text += &format!(
            "| `{}` | {} of {} | {} | {gives} | {ulp} | {} | {} |\n",
            op.name,
            op.arity,
            types(&op),
            broadcasts(op.arity),
            plain(op.doc),
            others.join(" | ")
        );
    }
    text += "\n## Compositions\n\nFunctions of floats that are composed of the operations above and fuse as they do. Their names are\n\
             PyTorch's, where it has them.\n\n| name | operands | broadcasts | what |\n|---|---|---|---|\n";
    for composition in compositions() {
        let (arity, doc) = (composition.arity, plain(composition.doc));
        text += &format!("| `{}` | {arity} | {} | {doc} |\n", composition.name, broadcasts(arity));
    }
    text += "\n## Reductions\n\nA reduction takes one axis, several or all. If its result lacks axes, a form `_keepdim` keeps them with\n\
             length 1. The lengths of the axes alone decide the order in which floats are added or multiplied, so all\n\
             results without exponentials have the same bits on every device. The order is this: A run of neighbouring\n\
             axes is cut into blocks of 1024 elements. A block has 64 accumulators, to each of which every 64th element is\n\
             added in sequence. The second half of the accumulators is added to the first, until one is left. The values\n\
             of the blocks are added up in the same way.\n\n\
             The bound is the distance from the exact result, and `-` is exact. n is the number of elements of a range. L is\n\
             the greatest number of additions that an element goes through. Up to 1024 elements it is\n\
             `ceil(n / 64) - 1 + ceil(log2 min(n, 64))`, so 21 at most. Above that it is 21 more than for\n\
             `ceil(n / 1024)`. Several runs add up. u is half a unit of 1, and m the greatest element. f16 and bf16 are\n\
             computed in f32 and rounded once, at the end. `sum_to(shape)` is the sum that undoes a `broadcast_to`.\n\n\
             | name | of | gives | bound | what | NumPy | PyTorch | ONNX | OpenVINO |\n|---|---|---|---|---|---|---|---|---|\n";
    for row in reductions() {
        let (_, numpy, torch, onnx, openvino) = REDUCTIONS.iter().find(|names| names.0 == row.name).unwrap();
        text += &format!(
            "| `{}` | {} | {} | {} | {} | {numpy} | {torch} | {onnx} | {openvino} |\n",
            row.name,
            types_that(|dtype| row.result(dtype).is_some()),
            gives(&row),
            row.bound,
            plain(row.doc)
        );
    }
    text += "\n## Views\n\nViews of tensors and of expressions cost nothing: they take every type, move no element, and become\n\
             layouts of the tensors below. A view of a tensor is a destination too.\n\n\
             | name | what | NumPy | PyTorch |\n|---|---|---|---|\n";
    for (name, what, numpy, torch) in VIEWS {
        text += &format!("| `{name}` | {what} | {numpy} | {torch} |\n");
    }
    text += "\n## Lookups, joins and generators\n\nThey take every type and change no element. A lookup in a tensor fuses with the\n\
             computation of its indices and with its readers, inside of loops too. `concat` and `stack` compute each\n\
             operand at its place in the result. `tile` and `repeat_interleave` store a result that is no view.\n\n\
             | name | what | NumPy | PyTorch |\n|---|---|---|---|\n";
    for (name, what, numpy, torch) in OTHERS {
        text += &format!("| `{name}` | {what} | {numpy} | {torch} |\n");
    }
    text += "\n## What is sorted, selected and scattered\n\nBy stable sorts, which are kernels of their own: NaN is the greatest, zeros\n\
             are equal, and updates of one place are in row-major order. What evaluates has a shape that depends on values.\n\n\
             | name | what | NumPy | PyTorch | ONNX |\n|---|---|---|---|---|\n";
    for (name, what, numpy, torch, onnx) in SORTED {
        text += &format!("| `{name}` | {what} | {numpy} | {torch} | {onnx} |\n");
    }
    text
}

/// Views, and the names that NumPy and PyTorch have for them.
const VIEWS: &[(&str, &str, &str, &str)] = &[
    ("permute", "Axes in another order.", "transpose", "permute"),
    ("transpose", "Two axes exchanged.", "swapaxes", "transpose"),
    ("slice", "The elements of a range along an axis.", "x[:, a:b]", "narrow"),
    ("slices", "A range along each of the first axes.", "x[a:b, c:d]", "x[a:b, c:d]"),
    ("slice_step", "Elements of a range in steps, forwards or backwards.", "x[a:b:s]", "x[a:b:s]"),
    ("flip", "An axis backwards.", "flip", "flip, of a copy"),
    ("broadcast_to", "Stretched to a shape, which must fit.", "broadcast_to", "expand"),
    ("expand", "The same, and -1 keeps a length.", "-", "expand"),
    ("broadcast", "Stretched against a shape by the rule of a system.", "-", "-"),
    ("squeeze", "Without an axis of length 1.", "squeeze", "squeeze"),
    ("unsqueeze", "With a new axis of length 1.", "expand_dims", "unsqueeze"),
    ("reshape", "The elements in another shape, if that needs no copy.", "reshape", "view"),
    ("windows", "Windows along axes, which become the last axes.", "sliding_window_view", "unfold"),
    ("windows_with", "The same with steps and dilations.", "-", "unfold"),
    ("unbind", "The subtensors at each index of an axis.", "unstack", "unbind"),
    ("as_strided", "Any strides over the storage of a tensor.", "as_strided", "as_strided"),
];

/// Functions that move elements and make tensors, and the names that NumPy and PyTorch have for them.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    ("at", "Elements at indices, one for each axis, which broadcast together.", "x[i, j]", "x[i, j]"),
    ("take", "Slices at indices along an axis. The axes of the indices replace it.", "take", "index_select"),
    ("concat", "Tensors joined along an axis.", "concatenate", "concat"),
    ("stack", "Tensors of one shape joined along a new axis.", "stack", "stack"),
    (
        "pad",
        "Borders before and after each axis: of a constant, or by `edge`, `reflect` or `wrap`.",
        "pad",
        "nn.functional.pad",
    ),
    ("roll", "Elements shifted along axes. Elements past the end return at the start.", "roll", "roll"),
    ("tile", "The tensor repeated along each axis.", "tile", "tile"),
    ("repeat_interleave", "Each element repeated along an axis.", "repeat", "repeat_interleave"),
    ("full", "One value of a shape, by stride 0. `zeros` is 0.", "full", "full"),
    ("arange", "Numbers in steps from a start to before an end.", "arange", "arange"),
    ("linspace", "Evenly spaced floats, with the end.", "linspace", "linspace"),
    ("eye", "Ones where both coordinates are equal, and zeros elsewhere.", "eye", "eye"),
    ("coordinate", "The coordinates along an axis of a shape, i32.", "indices", "-"),
    ("random_bits", "Random words of a key, u32: Philox4x32-10.", "random.Philox", "randint"),
    ("uniform", "Random floats from 0 to below 1.", "random.uniform", "rand"),
    ("normal", "Random numbers of the normal distribution.", "random.normal", "randn"),
];

/// Functions that sort or write at computed indices, and the names that NumPy, PyTorch and ONNX have for them.
const SORTED: &[(&str, &str, &str, &str, &str)] = &[
    ("sort", "Elements in order along an axis, stable; `sort_descending`.", "sort", "sort", "-"),
    ("argsort", "The indices that sort an axis, u32; `argsort_descending`.", "argsort", "argsort", "-"),
    ("topk", "The greatest elements along an axis and their indices.", "-", "topk", "TopK"),
    ("kthvalue", "The k-th least element along an axis and its index.", "partition", "kthvalue", "-"),
    ("median", "The median along an axis.", "median", "-", "-"),
    ("quantile", "A quantile along an axis, by five rules.", "quantile", "quantile", "-"),
    ("searchsorted", "The indices at which values keep an axis sorted.", "searchsorted", "searchsorted", "-"),
    ("isin", "Whether each element is among others.", "isin", "isin", "-"),
    (
        "take_along",
        "Elements at indices along an axis, each of its own row.",
        "take_along_axis",
        "gather",
        "GatherElements",
    ),
    (
        "put_along",
        "Values at indices along an axis, each in its own row.",
        "put_along_axis",
        "scatter",
        "ScatterElements",
    ),
    (
        "scatter",
        "Updates at indices of leading axes. The last update of a place stays.",
        "x[i] = y",
        "index_put",
        "ScatterND",
    ),
    (
        "scatter_add",
        "The sum of updates added to their place; `scatter_min`, `_max`.",
        "add.at",
        "index_add",
        "ScatterND",
    ),
    (
        "segment_sum",
        "Sums of elements by key; `segment_prod`, `_min`, `_max`, `_mean`.",
        "-",
        "scatter_reduce",
        "-",
    ),
    ("segment_cumsum", "Sums so far of elements by key; `segment_cumprod`.", "-", "-", "-"),
    ("compress", "Elements where a mask is true; evaluates.", "x[mask]", "masked_select", "Compress"),
    (
        "nonzero",
        "The places of elements other than 0; evaluates, and `nonzero_padded` does not.",
        "nonzero",
        "nonzero",
        "NonZero",
    ),
    (
        "unique",
        "The different elements, with counts and places, or slices: `unique_along`; evaluates.",
        "unique",
        "unique",
        "Unique",
    ),
    (
        "dense_rank",
        "For each slice along an axis, how many different slices are less.",
        "unique",
        "unique",
        "-",
    ),
    ("bincount", "How many elements are 0, 1 and so on, u32.", "bincount", "bincount", "-"),
    (
        "histogram",
        "How many elements are in bins of equal width; `histogram2d`; evaluates.",
        "histogram",
        "histogram",
        "-",
    ),
];

/// Which operands of an operation broadcast.
fn broadcasts(arity: usize) -> &'static str {
    if arity > 1 { "all" } else { "-" }
}

/// The type of a reduction's results.
fn gives(row: &Reduction) -> &'static str {
    let all: Vec<DType> = DType::ALL.into_iter().filter(|&dtype| row.result(dtype).is_some()).collect();
    match all.iter().all(|&dtype| row.result(dtype) == Some(dtype)) {
        true => "the same",
        false => row.result(all[0]).unwrap().name(),
    }
}

#[test]
fn the_table_in_the_docs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
        fs::write(&path, table()).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(table() == kept, "docs/operations.md is not the table: run with ZEROSTRIDE_BLESS=1");
}

#[test]
fn names_are_of_operations() {
    for (name, ..) in NAMES {
        assert!(operations().any(|op| op.name == *name), "{name} is no operation");
    }
    for (name, ..) in REDUCTIONS {
        assert!(reductions().any(|row| row.name == *name), "{name} is no reduction");
    }
}

/// The column of what broadcasts, for each name of the tables.
#[test]
fn what_broadcasts() {
    let device = Device::cpu();
    let ones = |dtype: DType, shape: &[usize]| {
        AnyExpr::scalar(dtype, if dtype == DType::Bool { Scalar::Bool(true) } else { Scalar::Int(1) })
            .broadcast_to(shape)
            .eval_on(&device)
            .unwrap()
            .expr()
    };
    let check = |name: &str, arity: usize, dtype: DType| {
        let shapes: [&[usize]; 3] = [&[3, 1], &[4], &[]];
        let operands: Vec<AnyExpr> =
            shapes.iter().cycle().take(arity).map(|shape| ones(dtype, shape)).collect();
        let result = AnyExpr::call(name, &operands);
        let expected: &[usize] = if broadcasts(arity) == "all" { &[3, 4] } else { &[3, 1] };
        assert_eq!(result.shape().unwrap().to_vec(), expected, "{name}");
    };
    for op in operations() {
        let dtype =
            [DType::F32, DType::I32, DType::Bool].into_iter().find(|&dtype| op.result(dtype).is_some());
        check(op.name, op.arity, dtype.unwrap());
    }
    for composition in compositions() {
        check(composition.name, composition.arity, DType::F32);
    }
    let (x, column, row) = (ones(DType::I32, &[3, 4]), ones(DType::I32, &[3, 1]), ones(DType::I32, &[4]));
    assert_eq!(x.at([&column, &row]).shape().unwrap(), &[3, 4]);
    let mask = ones(DType::Bool, &[3, 1]);
    assert_eq!(mask.select(&row, ones(DType::I32, &[])).shape().unwrap(), &[3, 4]);
    // Indices of `take` stand in place of the axis, and joins take shapes that agree.
    assert_eq!(x.take(&column, 1).shape().unwrap(), &[3, 3, 1]);
    assert!(AnyExpr::concat(&[x.clone(), column.clone()], 0).shape().is_err());
    assert!(AnyExpr::stack(&[x.clone(), column.clone()], 0).shape().is_err());
    // A source goes to its destination, and not the other way.
    let (matrix, vector) = (device.zeros::<i32>([3, 4]).unwrap(), device.zeros::<i32>([4]).unwrap());
    (&matrix, &vector).assign_all((&vector + 1, 2)).unwrap();
    assert_eq!((matrix.to_vec().unwrap(), vector.to_vec().unwrap()), (vec![1; 12], vec![2; 4]));
    assert!((&vector,).assign_all((&matrix,)).is_err());
}
