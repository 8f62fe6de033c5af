//! Plans as text: the kernels that would run, and why.

use std::fmt::{self, Write};
use std::ops::Range;

use super::{LANES, Origin, Plan, Walk};
use crate::ir::{
    AxisOp, Body, ByValue, Constant, Extent, Input, Program, ProgramKind, ScanAxis, Source, Stage, Value,
};

/// The longest expression that is written out. A longer one is a number of steps.
const LONGEST: usize = 160;

impl Stage {
    /// The result and its expression, the operands in columns under its axes, and the bytes that move.
    pub(crate) fn describe(&self, bytes: usize) -> String {
        let operands = self.one().map(Program::operands).unwrap_or_default();
        format!("{}\n{operands}moves: {bytes} bytes at least\n", self.title())
    }

    /// The result and its expression, in one line.
    pub(super) fn title(&self) -> String {
        let (dtype, shape) = (self.result_type(0), self.result_shape());
        match self {
            Stage::One(program) => format!("{dtype} {shape} = {}", program.written()),
            Stage::Join(join) => {
                format!("{dtype} {shape} = {} parts along axis {}", join.parts.len(), join.axis)
            }
        }
    }
}

impl Program {
    /// The operands in columns under the axes of the result.
    fn operands(&self) -> String {
        let mut text = String::new();
        let tensors = || {
            let shown = |input: &Input| !matches!(input.source, Source::Scalar(_) | Source::Row(_));
            self.inputs.iter().enumerate().filter(move |(_, input)| shown(input))
        };
        let width = self.shape.iter().map(|n| n.to_string().len()).max().unwrap_or(1) + 2;
        for (i, input) in tensors() {
            let _ = write!(text, "  {:<4} {:<5}", name(i), input.dtype.name());
            for (&n, &stride) in self.shape.iter().zip(input.layout.strides()) {
                let cell = if stride == 0 && n != 1 { "1~".to_string() } else { format!("{n} ") };
                let _ = write!(text, "{cell:>width$}");
            }
            let kind = if matches!(input.source, Source::Index(_)) { "coordinate" } else { "strides" };
            let _ = write!(text, "   {kind} {:?} offset {}", input.layout.strides(), input.layout.offset());
            for Extent { length, stride } in &input.computed {
                let _ = write!(text, ", an index of {length} times {stride}");
            }
            let _ = writeln!(text);
        }
        if tensors()
            .any(|(_, i)| i.layout.shape().iter().zip(i.layout.strides()).any(|(&n, &s)| n != 1 && s == 0))
        {
            let _ = writeln!(text, "  (1~: an axis that stretches; its stride is 0 and nothing is copied)");
        }
        text
    }

    /// The expression in one line, with the kind of the program.
    fn written(&self) -> String {
        let expression = self.write_out().unwrap_or_else(|| format!("{} steps", self.steps.len()));
        let over = |axes: Range<usize>| {
            let noun = if axes.len() == 1 { "axis" } else { "axes" };
            let axes: Vec<String> = axes.map(|axis| axis.to_string()).collect();
            format!("over {noun} {} of {}", axes.join(", "), self.shape)
        };
        match &self.kind {
            ProgramKind::Map => expression,
            ProgramKind::RowFused(rows) => format!("each row {}: {expression}", over(rows.axes.clone())),
            ProgramKind::Axis(op, _) => {
                let exclusive = matches!(op, AxisOp::Scan(ScanAxis { exclusive: true, .. }));
                let exclusive = if exclusive { "exclusive " } else { "" };
                let of = match op {
                    AxisOp::Segments(own) => format!(" of each of {} keys,", own.count),
                    _ => String::new(),
                };
                let over = over(op.axes(self.shape.rank()));
                format!("{exclusive}{}{of} {over} {expression}", op.name())
            }
        }
    }

    /// The expression in one line, unless it is too long.
    fn write_out(&self) -> Option<String> {
        let mut values: ByValue<String> =
            self.inputs.iter().enumerate().map(|(i, input)| leaf(i, input)).collect();
        // A reduction is written after its operand, and its readers after the reduction.
        let gives = |values: &mut ByValue<String>, of: Value| {
            for (number, own) in
                self.row_fused().into_iter().flat_map(|rows| rows.reductions.iter().enumerate())
            {
                if let Some(given) = self.given(number).filter(|_| own.value == of) {
                    values[given] = format!("{}({})", own.op.name(), values[of]);
                }
            }
        };
        if self.is_contraction()
            && let Some(sum) = self.given(0)
        {
            values[sum] = "product".into();
        }
        (0..self.inputs.len() as u32).for_each(|of| gives(&mut values, Value::Input(of)));
        for step in &*self.steps {
            let args: Vec<&str> = step.args.iter().map(|&v| values[v].as_str()).collect();
            let name = match step.op {
                crate::ir::Op::Cast => step.result.name(),
                _ => step.name(),
            };
            let text = match step.body {
                Some(Body::State(state)) => format!("{}.{state}", args.join("")),
                _ => format!("{name}({})", args.join(", ")),
            };
            if text.len() > LONGEST {
                return None;
            }
            let value = values.push(text);
            gives(&mut values, value);
        }
        let results: Vec<&str> = self.results.iter().map(|&result| values[result].as_str()).collect();
        let all = match &self.kind {
            ProgramKind::Axis(AxisOp::Contract(_), product) if !product.is_empty() => {
                format!("{}, then {}", values[product[0]], results.join(" and "))
            }
            _ => results.join(" and "),
        };
        Some(all).filter(|text| text.len() <= LONGEST)
    }
}

/// Operands are a, b, ... and then x26, x27, ...
pub(crate) fn name(i: usize) -> String {
    match u8::try_from(i) {
        Ok(i) if i < 26 => char::from(b'a' + i).to_string(),
        _ => format!("x{i}"),
    }
}

fn leaf(i: usize, input: &Input) -> String {
    match input.source {
        Source::Scalar(bits) => Constant(input.dtype, bits).to_string(),
        _ => name(i),
    }
}

impl Plan {
    /// How each operand is accessed, in words.
    pub(crate) fn accesses(&self) -> Vec<&'static str> {
        self.kernel.code.operands.iter().map(|operand| operand.access.describe()).collect()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kernel, code) = (&self.kernel, &self.kernel.code);
        writeln!(f, "axes: {:?} after collapsing, innermost last", self.loops.lengths)?;
        for (i, operand) in code.operands.iter().enumerate() {
            let access = operand.access.describe();
            let (access, origin) = match operand.origin {
                Origin::Scalar | Origin::Row(_) => continue,
                Origin::Index => ("by the place of each lane", "computed".to_string()),
                Origin::Output => (access, "in place".to_string()),
                Origin::Binding(i) => (access, format!("binding {}", i + 1 + kernel.stored.len())),
            };
            writeln!(f, "  {:<4} {access}, strides {:?}, {origin}", name(i), self.loops.operand(i).strides)?;
        }
        let store = code.store.describe();
        writeln!(f, "  out  {store}, strides {:?}", self.loops.output().strides)?;
        let walk = match code.walk {
            Walk::Flat if !code.needs_coordinates() || code.rank == 1 => "flat, no division",
            Walk::Flat => "flat, coordinates by division",
            Walk::Bands if code.rank > 2 && code.outermost() + 1 < code.rank => {
                "bands of rows, outer coordinates by division"
            }
            Walk::Bands => "bands of rows, no division",
            Walk::Rows if code.rank > 3 => "rows, outer coordinates by division",
            Walk::Rows => "rows, no division",
            Walk::Anywhere => "anywhere, coordinates by division",
            Walk::Words { .. } => "words of the destination, coordinates by division",
        };
        let [x, y] = kernel.workgroup;
        let [gx, gy, gz] = self.launch.groups;
        writeln!(
            f,
            "grid: {walk}; workgroups {gx} x {gy} x {gz} of {x} x {y} invocations, {} x {LANES} elements each",
            kernel.form.vectors()
        )
    }
}
