//! The parameters of functions over a row's elements, and the values that they compute.

use super::emitter::Emitter;
use super::text::line;
use super::types::lanes;
use crate::error::Result;
use crate::ir::{ByValue, Value, needed};
use crate::plan::{LANES, Origin, Reduce, VectorAxis};

/// Which values a function computes for each element, which of the row it reads, and which are in registers.
pub(super) struct Needs {
    own: ByValue<bool>,
    of_row: Vec<Value>,
    held: Vec<Value>,
    pub holder: Option<usize>,
}

impl Needs {
    /// The name of a vector in an invocation's registers.
    pub(super) fn held(&self, (k, i): (u32, u32)) -> String {
        self.holder.map_or_else(String::new, |phase| format!("h{phase}_{k}_{i}"))
    }
}

/// Parameters, before others.
pub(super) fn declared(given: &[(String, String)]) -> String {
    given.iter().map(|(name, of)| format!("{name}: {of}, ")).collect()
}

/// Their arguments, before others.
pub(super) fn named(given: &[(String, String)], held: &str) -> String {
    let name = |own: &str| if own == "held" { format!("{held}, ") } else { format!("{own}, ") };
    given.iter().map(|(own, _)| name(own)).collect()
}

/// The end of a row, in vectors along it or in values.
pub(super) fn end_of_row(reduce: &Reduce) -> String {
    match reduce.vector_axis {
        VectorAxis::Reduced => format!("(p.row + {}u) / {LANES}u", LANES - 1),
        _ => "p.row".into(),
    }
}

impl Emitter<'_> {
    /// The operands of some values, with a phase's registers.
    pub(super) fn needs(
        &self,
        reduce: &Reduce,
        holds: Option<usize>,
        values: impl IntoIterator<Item = Value>,
    ) -> Needs {
        let (operands, steps) = (&self.kernel.operands, &self.kernel.steps);
        let holds = holds.filter(|&phase| !reduce.phases[phase].holds.is_empty());
        let held = holds.map_or(&[][..], |phase| &reduce.phases[phase].holds);
        let is_known = |value: Value| reduce.of_row[value] || held.contains(&value);
        let needed = needed(operands.len(), steps, values, is_known);
        // Constants and tables are read in place.
        let is_no_value = |i: usize| operands[i].origin == Origin::Scalar || !operands[i].computed.is_empty();
        let of_row = |value: Value| reduce.of_row[value] && !value.input().is_some_and(is_no_value);
        let own = needed.map(|value, &needed| needed && !of_row(value) && !held.contains(&value));
        let held = held.iter().copied().filter(|&value| needed[value]).collect();
        let of_row = needed.which().filter(|&value| of_row(value)).collect();
        Needs { own, of_row, held, holder: holds.map(|phase| reduce.holder(phase)) }
    }

    /// The parameters of a function over a row's elements before their place: names and types. `held` has the
    /// registers.
    pub(super) fn given(&self, reduce: &Reduce, needs: &Needs) -> Vec<(String, String)> {
        let place = if reduce.vector_axis == VectorAxis::Gathered { "vec4<u32>" } else { "u32" };
        let kept = self.places_of_row(reduce).into_iter().map(|name| (name, place.to_string()));
        let number = |value: Value| format!("v{}", self.number(value));
        let values = needs.of_row.iter().map(|&own| (number(own), lanes(self.kernel.value_type(own))));
        let held = needs.holder.map(|phase| ("held".into(), format!("Held{phase}")));
        kept.chain(values).chain(held).collect()
    }

    /// Loads and steps of values, after those in registers.
    pub(super) fn computed(&mut self, needs: &Needs) -> Result<()> {
        for &value in &needs.held {
            let number = self.number(value);
            line!(self.text, "    let v{number} = held.v{number};");
        }
        self.zeros();
        self.wanted(&needs.own)
    }

    /// Loads and steps of the values that are wanted.
    pub(super) fn wanted(&mut self, wanted: &ByValue<bool>) -> Result<()> {
        self.loads(|operand| wanted.inputs()[operand])?;
        self.steps(|value| wanted[value])
    }
}
