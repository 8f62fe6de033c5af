//! The parameters of functions over a row's elements, and the values that they compute.

use super::emitter::Emitter;
use super::text::line;
use super::types::lanes;
use crate::error::Result;
use crate::ir::{ByValue, Value, needed};
use crate::plan::{LANES, Origin, Reduce, VectorAxis};

/// A function over a row's elements: which values it computes for each, and which are in registers.
pub(super) struct Needs {
    own: ByValue<bool>,
    held: Vec<Value>,
    pub holder: Option<usize>,
    /// Its parameters before a place in the row: names and types. `held` has the registers.
    given: Vec<(String, String)>,
}

impl Needs {
    /// The arguments before a place, for a vector of an invocation.
    pub(super) fn arguments(&self, (k, i): (u32, u32)) -> String {
        let name = |own: &str| match (own, self.holder) {
            ("held", Some(phase)) => format!("h{phase}_{k}_{i}, "),
            _ => format!("{own}, "),
        };
        self.given.iter().map(|(own, _)| name(own)).collect()
    }
}

/// The end of a row, in vectors along it or in values.
pub(super) fn end_of_row(reduce: &Reduce) -> String {
    match reduce.vector_axis {
        VectorAxis::Reduced => format!("(p.row + {}u) / {LANES}u", LANES - 1),
        _ => "p.row".into(),
    }
}

impl Emitter<'_> {
    /// The function of some values, with a phase's registers.
    pub(super) fn needs(
        &self,
        reduce: &Reduce,
        holds: Option<usize>,
        values: impl IntoIterator<Item = Value>,
    ) -> Needs {
        let (operands, steps) = (&self.code.operands, &self.code.steps);
        let holds = holds.filter(|&phase| !reduce.phases[phase].holds.is_empty());
        let held = holds.map_or(&[][..], |phase| &reduce.phases[phase].holds);
        let is_known = |value: Value| reduce.of_row[value] || held.contains(&value);
        let needed = needed(operands.len(), steps, values, is_known);
        // Constants and tables are read in place.
        let is_no_value = |i: usize| operands[i].origin == Origin::Scalar || !operands[i].computed.is_empty();
        let of_row = |value: Value| reduce.of_row[value] && !value.input().is_some_and(is_no_value);
        let own = needed.map(|value, &needed| needed && !of_row(value) && !held.contains(&value));
        let held = held.iter().copied().filter(|&value| needed[value]).collect();
        let place = if reduce.vector_axis == VectorAxis::Gathered { "vec4<u32>" } else { "u32" };
        let kept = self.places_of_row(reduce).into_iter().map(|name| (name, place.to_string()));
        let named = |value: Value| (format!("v{}", self.number(value)), lanes(self.code.value_type(value)));
        let values = needed.which().filter(|&value| of_row(value)).map(named);
        let holder = holds.map(|phase| reduce.holder(phase));
        let registers = holder.map(|phase| ("held".into(), format!("Held{phase}")));
        let given = kept.chain(values).chain(registers).collect();
        Needs { own, held, holder, given }
    }

    /// The head of a function at a place of the row, up to the values that it needs. `rest` ends its first line.
    pub(super) fn over_row(
        &mut self,
        reduce: &Reduce,
        [name, rest]: [&str; 2],
        needs: &Needs,
        is_masked: bool,
    ) -> Result<()> {
        let given: String = needs.given.iter().map(|(name, of)| format!("{name}: {of}, ")).collect();
        line!(self.text, "fn {name}({given}at: u32{rest} {{");
        self.elements_of_row(reduce, is_masked);
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
