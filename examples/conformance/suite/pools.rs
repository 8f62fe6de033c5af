//! ONNX's pools and convolutions, as reductions of windows of a padded tensor.

use serde_json::Value;
use zerostride::{AnyExpr, DType, Pad, ReduceOptions};

/// The windows of an operator: a number for each axis after the batch's and the channels'.
struct Windows {
    lengths: Vec<isize>,
    steps: Vec<isize>,
    dilations: Vec<isize>,
    /// The border on both sides, and the elements that `ceil_mode` adds at the end.
    border: Vec<(usize, usize)>,
    more: Vec<usize>,
}

/// The result of a pool or a convolution.
pub(super) fn asked(case: &Value, operands: &[AnyExpr]) -> AnyExpr {
    let [x, weights @ ..] = operands else { return AnyExpr::full(DType::F32, [0], 0.0) };
    let lengths = |own: &AnyExpr| own.shape().map(|shape| shape.to_vec()).unwrap_or_default();
    let windows = Windows::of(case, &lengths(x)[2..]);
    let rank = windows.lengths.len();
    let last: Vec<isize> = (-(rank as isize)..0).collect();
    let reduced = |x: &AnyExpr, name: &str| x.reduce(name, &last, ReduceOptions::default());
    match case["op"].as_str() {
        Some("MaxPool") => {
            let lowest =
                if x.dtype().is_ok_and(|dtype| dtype == DType::U8) { 0.0 } else { f64::NEG_INFINITY };
            reduced(&windows.of_padded(&windows.bordered(x, lowest), lowest), "max")
        }
        Some("AveragePool") => {
            let sums = |x: &AnyExpr| reduced(&windows.of_padded(x, 0.0), "sum");
            // Elements that `ceil_mode` adds are never counted.
            let ones = AnyExpr::full(DType::F32, lengths(x), 1.0);
            let counts = windows.bordered(&ones, case["count_include_pad"].as_f64().unwrap_or(0.0));
            AnyExpr::call("div", &[sums(&windows.bordered(x, 0.0)), sums(&counts)])
        }
        _ => {
            let shown = windows.of_padded(&windows.bordered(x, 0.0), 0.0);
            AnyExpr::einsum("nchwij,ocij->nohw", &[shown, weights[0].clone()])
        }
    }
}

impl Windows {
    fn of(case: &Value, sizes: &[usize]) -> Windows {
        let rank = sizes.len();
        let list = |name: &str, otherwise: isize, count: usize| -> Vec<isize> {
            let given = case[name].as_array().map(|list| list.iter().filter_map(Value::as_i64));
            given.map_or(vec![otherwise; count], |list| list.map(|n| n as isize).collect())
        };
        let (lengths, steps, dilations) =
            (list("kernel_shape", 1, rank), list("strides", 1, rank), list("dilations", 1, rank));
        let pads = list("pads", 0, 2 * rank);
        let (mut border, mut more) = (Vec::new(), Vec::new());
        for axis in 0..rank {
            let (size, step) = (sizes[axis] as isize, steps[axis]);
            let span = (lengths[axis] - 1) * dilations[axis] + 1;
            // A window for each step. The missing elements are added on both sides.
            let wanted = (((size + step - 1) / step - 1) * step + span - size).max(0);
            let [before, after] = match case["auto_pad"].as_str() {
                Some("SAME_UPPER") => [wanted / 2, wanted - wanted / 2],
                Some("SAME_LOWER") => [wanted - wanted / 2, wanted / 2],
                _ => [pads[axis], pads[rank + axis]],
            };
            let rest = (size + before + after - span) % step;
            // No window begins in the end's border.
            let is_more = case["ceil_mode"] == 1
                && rest > 0
                && size + before + after - span - rest + step < size + before;
            border.push((before as usize, after as usize));
            more.push(if is_more { (step - rest) as usize } else { 0 });
        }
        Windows { lengths, steps, dilations, border, more }
    }

    /// The operand, padded along the last axes.
    fn padded(x: &AnyExpr, last: impl Iterator<Item = (usize, usize)>, value: f64) -> AnyExpr {
        let all: Vec<(usize, usize)> = [(0, 0), (0, 0)].into_iter().chain(last).collect();
        match all.iter().all(|&sides| sides == (0, 0)) {
            true => x.clone(),
            false => x.pad(all, Pad::constant(value)),
        }
    }

    fn bordered(&self, x: &AnyExpr, value: f64) -> AnyExpr {
        Self::padded(x, self.border.iter().copied(), value)
    }

    /// The windows of the padded operand. The axes within a window come last.
    fn of_padded(&self, x: &AnyExpr, value: f64) -> AnyExpr {
        let axes: Vec<isize> = (2..2 + self.lengths.len() as isize).collect();
        let all = Self::padded(x, self.more.iter().map(|&more| (0, more)), value);
        all.windows_with(&self.lengths, &axes, &self.steps, &self.dilations)
    }
}
