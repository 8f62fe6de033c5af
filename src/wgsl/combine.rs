//! The values that a phase reduces together: the function of two of them, and the code that reduces an invocation's
//! loads and an invocation group's values.

use super::emitter::Emitter;
use super::text::line;
use super::types::{compute, constant, is_long, lanes, select, spelled, turned};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::ReduceOp;
use crate::plan::{Phase, Reduction, Tile};
use crate::tuning::reduce::IN_FLIGHT;

/// The values that a phase reduces side by side.
pub(super) struct Values {
    /// The suffix of their type and functions.
    suffix: String,
    parts: Vec<Part>,
}

/// One of them.
pub(super) struct Part {
    pub op: ReduceOp,
    pub element: DType,
    /// The word of the uniform block with the identity.
    identity: String,
}

/// A reduced vector: a value, or an index.
struct Component {
    name: String,
    dtype: DType,
    identity: String,
}

/// The place of a vector of an invocation: the `k`th of its accumulator `i`, from the first one's.
pub(super) fn place(tile: &Tile, first: &str, (k, i): (u32, u32)) -> String {
    match k * tile.accumulators + i * tile.lanes() {
        0 => first.to_string(),
        offset => format!("{first} + {offset}u"),
    }
}

/// The index that stands for none.
pub(super) const NONE: &str = "vec4<u32>(0xffffffffu)";

impl Part {
    /// The type of ranks, which order floats as integers: one instruction compares integers, and no adapter flushes
    /// them.
    fn ranks(&self) -> Option<DType> {
        match (self.op, self.element) {
            (ReduceOp::Min | ReduceOp::Max | ReduceOp::ArgMin | ReduceOp::ArgMax, DType::F32) => {
                Some(DType::U32)
            }
            (ReduceOp::Min | ReduceOp::Max | ReduceOp::ArgMin | ReduceOp::ArgMax, DType::F64) => {
                Some(DType::U64)
            }
            _ => None,
        }
    }

    /// The type of reduced values.
    pub(super) fn reduced(&self) -> DType {
        self.ranks().unwrap_or(self.element)
    }

    pub(super) fn gives_index(&self) -> bool {
        self.op.row().gives_index
    }

    /// An element in the form that is reduced.
    pub(super) fn ranked(&self, value: String) -> String {
        match self.ranks() {
            Some(_) => format!("{}_rank_{}({value})", self.op.name(), compute(self.element)),
            None => value,
        }
    }

    /// The element of a reduced value.
    pub(super) fn given(&self, value: String) -> String {
        match self.ranks() {
            Some(_) => format!("of_{}_rank_{}({value})", self.op.name(), compute(self.element)),
            // A zero of a sum is +0.
            None if self.op.is_ordered(self.element) => given(self.op, compute(self.element), value),
            None => value,
        }
    }

    /// The identity.
    pub(super) fn identity(&self) -> String {
        self.ranked(constant(self.element, &self.identity))
    }

    /// The table's form for two values: one of them, or whether the second wins.
    fn form(&self, a: &str, b: &str) -> Result<String> {
        form(self.op, self.reduced(), a, b)
    }
}

/// The text of an ordered reduction's result: a zero of a sum is +0, and total mode has one NaN.
pub(super) fn given(op: ReduceOp, name: &str, value: String) -> String {
    let value = if op.is_total() { format!("total_{name}({value})") } else { value };
    if op.is_sum() { format!("positive_zero_{name}({value})") } else { value }
}

/// The text of a reduction of two values.
pub(super) fn form(op: ReduceOp, dtype: DType, a: &str, b: &str) -> Result<String> {
    match op.form(dtype) {
        Some(form) => {
            Ok(spelled(dtype, form.wgsl).replace("{T}", compute(dtype)).replace("{a}", a).replace("{b}", b))
        }
        None => bail!(Kernel, "{} takes no {dtype}", op.name()),
    }
}

impl Values {
    pub(super) fn of_phase(number: usize, phase: &Phase) -> Values {
        let part = |own: &Reduction| Part {
            op: own.op,
            element: own.element,
            identity: format!("p.identity{}", own.number),
        };
        Values { suffix: number.to_string(), parts: phase.reductions.iter().map(part).collect() }
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn components(&self) -> Vec<Component> {
        let mut all: Vec<Component> = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            all.push(Component { name: format!("v{i}"), dtype: part.reduced(), identity: part.identity() });
            if part.gives_index() {
                let name = format!("at{i}");
                all.push(Component { name, dtype: DType::U32, identity: NONE.into() });
            }
        }
        all
    }

    /// The type of all.
    pub(super) fn name(&self) -> String {
        format!("Values{}", self.suffix)
    }

    /// All of some parts.
    pub(super) fn of(&self, parts: impl IntoIterator<Item = String>) -> String {
        let parts: Vec<String> = parts.into_iter().collect();
        format!("{}({})", self.name(), parts.join(", "))
    }

    /// The combination of two.
    fn combined(&self, a: &str, b: &str) -> String {
        format!("combine{}({a}, {b})", self.suffix)
    }

    /// The function that adds an element to the values before it.
    fn added(&self, a: &str, b: &str) -> String {
        let follows = self.parts.iter().any(Part::gives_index);
        format!("{}{}({a}, {b})", if follows { "follow" } else { "combine" }, self.suffix)
    }

    /// The array in workgroup memory where values meet.
    fn shared(&self) -> String {
        format!("shared_values{}", self.suffix)
    }
}

impl Emitter<'_> {
    /// The type of all values, and the functions that combine two.
    pub(super) fn values(&mut self, values: &Values) -> Result<()> {
        line!(self.text, "struct {} {{", values.name());
        for Component { name, dtype, .. } in values.components() {
            line!(self.text, "    {name}: {},", lanes(dtype));
        }
        line!(self.text, "}}\n");
        let (all, suffix) = (values.name(), &values.suffix);
        if values.parts.iter().any(Part::gives_index) {
            // Later elements have greater indices, so the first of equal values wins without a comparison.
            line!(self.text, "fn follow{suffix}(a: {all}, b: {all}) -> {all} {{");
            self.chosen(values, |i| format!("(a.at{i} == {NONE})"))?;
        }
        line!(self.text, "fn combine{suffix}(a: {all}, b: {all}) -> {all} {{");
        self.chosen(values, |i| {
            let (dtype, equal) = (values.parts[i].reduced(), format!("a.v{i} == b.v{i}"));
            let equal = match is_long(dtype) {
                true => spelled(dtype, &equal).replace("{T}", compute(dtype)),
                false => format!("({equal})"),
            };
            format!("({equal} & (b.at{i} < a.at{i}))")
        })
    }

    /// The body of such a function. For a value with an index, `b` is taken if it wins, or otherwise as `takes` says.
    fn chosen(&mut self, values: &Values, takes: impl Fn(usize) -> String) -> Result<()> {
        let mut parts = Vec::new();
        for (i, part) in values.parts.iter().enumerate() {
            let own = part.form(&format!("a.v{i}"), &format!("b.v{i}"))?;
            if part.gives_index() {
                line!(self.text, "    let takes{i} = ({own}) | {};", takes(i));
                let both = [("v", part.reduced()), ("at", DType::U32)];
                parts.extend(both.map(|(name, dtype)| {
                    select(dtype, &format!("a.{name}{i}"), &format!("b.{name}{i}"), &format!("takes{i}"))
                }));
                continue;
            }
            // A fence: nothing may reorder the sums, or contract a product into one. Forms of total mode have it inside.
            parts.push(match part.op.is_ordered(part.element) && !part.op.is_total() {
                true => format!("opaque_{}({own})", compute(part.element)),
                false => own,
            });
        }
        line!(self.text, "    return {};", values.of(parts));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// Reduces an invocation's loads of a block from place `begin` on. Each accumulator takes one value after the other. Then
    /// the accumulators are reduced by halving, into `a0` with the phase's number. `element` is the text of a vector at a
    /// place.
    pub(super) fn accumulate(
        &mut self,
        values: &Values,
        phase: &Phase,
        tile: &Tile,
        element: impl Fn((u32, u32), &str) -> String,
    ) {
        let n = &values.suffix;
        let deeper = if phase.is_loop { "        " } else { "    " };
        let at = if phase.is_loop { "at".to_string() } else { format!("begin{n}") };
        if phase.is_loop {
            let identities = values.of(values.components().into_iter().map(|own| own.identity));
            (0..tile.own).for_each(|i| line!(self.text, "    var a{n}_{i} = {identities};"));
            let step = phase.unroll * tile.accumulators;
            line!(self.text, "    for (var at = begin{n}; at < end{n}; at += {step}u) {{");
        }
        let vectors = || phase.vectors(tile);
        // Loads come before the additions that need them, unless they would take too many registers.
        let waits = phase.holds.is_empty() && vectors().count() <= IN_FLIGHT;
        let element = |vector: (u32, u32)| element(vector, &place(tile, &at, vector));
        for (k, i) in vectors().filter(|_| waits) {
            line!(self.text, "{deeper}let e{n}_{k}_{i} = {};", element((k, i)));
        }
        for (k, i) in vectors() {
            let (a, own) =
                (format!("a{n}_{i}"), if waits { format!("e{n}_{k}_{i}") } else { element((k, i)) });
            match (k, phase.is_loop) {
                (0, false) => line!(self.text, "{deeper}var {a} = {own};"),
                _ => line!(self.text, "{deeper}{a} = {};", values.added(&a, &own)),
            }
        }
        if phase.is_loop {
            line!(self.text, "    }}");
        }
        let mut half = tile.own / 2;
        while half > 0 {
            for i in 0..half {
                let both = values.combined(&format!("a{n}_{i}"), &format!("a{n}_{}", i + half));
                line!(self.text, "    a{n}_{i} = {both};");
            }
            half /= 2;
        }
    }

    /// Workgroup memory, a place for each invocation.
    pub(super) fn declare_shared(&mut self, values: &Values) {
        let (shared, all, size) = (values.shared(), values.name(), self.kernel.workgroup[0]);
        line!(self.text, "var<workgroup> {shared}: array<{all}, {size}>;\n");
    }

    /// Invocations `apart` places from each other combine their value `v` by halving. The first one has the result.
    /// Four meet at a time, so that barriers are few. `rank` is an invocation's number among them.
    pub(super) fn meet(&mut self, values: &Values, v: &str, rank: &str, (count, apart): (u32, u32)) {
        let shared = values.shared();
        line!(self.text, "    {shared}[local] = {v};");
        let mut left = count;
        while left > 1 {
            let together = if left > 2 { 4 } else { 2 };
            left /= together;
            let own = |k: u32| format!("{shared}[local + {}u]", k * left * apart);
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    if ({rank} < {left}u) {{");
            match together {
                2 => line!(self.text, "        {v} = {};", values.combined(v, &own(1))),
                _ => {
                    let halves = [values.combined(v, &own(2)), values.combined(&own(1), &own(3))];
                    line!(self.text, "        {v} = {};", values.combined(&halves[0], &halves[1]));
                }
            }
            if left > 1 {
                line!(self.text, "        {shared}[local] = {v};");
            }
            line!(self.text, "    }}");
        }
        // Before the memory is written again.
        line!(self.text, "    workgroupBarrier();");
    }

    /// Gives all invocations of a group the value of the first, `place` places before them.
    pub(super) fn share(&mut self, values: &Values, v: &str, place: &str) {
        let shared = values.shared();
        line!(self.text, "    if (member == 0u) {{ {shared}[local] = {v}; }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    {v} = {shared}[local - {place}];");
    }

    /// Combines the four lanes of `v` to one value, which each lane then has.
    pub(super) fn across_lanes(&mut self, values: &Values, v: &str) {
        for order in ["zwxy", "yxwz"] {
            let turn = |own: Component| turned(own.dtype, &format!("{v}.{}", own.name), order);
            let other = values.of(values.components().into_iter().map(turn));
            line!(self.text, "    {v} = {};", values.combined(v, &other));
        }
    }
}
