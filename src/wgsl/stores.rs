//! The stores of kernels that reduce rows: partial results, one element of each row, or all elements.

use super::combine::{Values, place};
use super::emitter::Emitter;
use super::rows::end_of_row;
use super::text::{line, result};
use super::types::{encode, pack};
use crate::dtype::DType;
use crate::error::Result;
use crate::plan::{LANES, Output, Phase, Reduce, Role, Store, VectorAxis, Walk};

impl Emitter<'_> {
    /// The function that stores the elements at a place of the row.
    pub(super) fn give(&mut self, reduce: &Reduce) -> Result<()> {
        let needs = self.needs(reduce, reduce.phases.len().checked_sub(1), self.code.results.iter().copied());
        let item = if reduce.vector_axis == VectorAxis::Gathered { ", item: u32)" } else { ")" };
        self.over_row(reduce, ["give", item], &needs, false)?;
        self.store_results(reduce);
        line!(self.text, "}}\n");
        Ok(())
    }

    /// Stores partial results: a value of each reduction, and its index where it has one.
    pub(super) fn store_partials(&mut self, reduce: &Reduce, phases: &[(&Phase, Values)]) {
        let Some((phase, values)) = phases.first() else { return };
        if reduce.tile.meets() {
            line!(self.text, "    if (!is_own) {{ return; }}");
        }
        debug_assert!(phase.reductions.iter().is_sorted_by_key(|own| own.number));
        let mut texts = Vec::new();
        for (i, part) in values.parts().iter().enumerate() {
            let value = part.given(format!("f0.v{i}"));
            texts.push(if part.element == DType::Bool { encode(DType::Bool, &value) } else { value });
            if part.gives_index() {
                texts.push(format!("f0.at{i}"));
            }
        }
        let position = Some("position * p.position_stride");
        for (k, text) in texts.into_iter().enumerate() {
            self.store_value(reduce, (k, text), position);
        }
    }

    /// Stores a value to the `k`th result: of a row, or vector `x` of rows or of a row's elements. A term may be added to its
    /// address.
    fn store_value(&mut self, reduce: &Reduce, (k, value): (usize, String), more: Option<&str>) {
        let (code, array) = (self.code, result(k));
        let inner = code.rank - 1;
        let store = match (reduce.vector_axis, reduce.output, code.store) {
            (VectorAxis::Reduced, Output::Partials, _) => format!("{array}[item] = ({value}).x;"),
            (VectorAxis::Reduced, Output::OnePerRow, _) => {
                format!("{array}[{}] = ({value}).x;", self.stored_at(inner, more))
            }
            (_, _, Store::Vector) => {
                let place = self.stored_at(inner, more.into_iter().chain(["x"]));
                format!("{array}[{place}] = {};", pack(self.kernel.stored[k].dtype, value))
            }
            _ => return self.store_lanes(k, &self.stored_at(code.rank, more), &value),
        };
        line!(self.text, "    {store}");
    }

    /// The address of a result: its coordinates on some axes, and terms to add.
    pub(super) fn stored_at<'t>(&self, axes: usize, more: impl IntoIterator<Item = &'t str>) -> String {
        let terms = (0..axes).filter_map(|axis| self.term(Role::Out, axis, 0));
        let terms: Vec<String> = terms.chain(more.into_iter().map(str::to_string)).collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// Stores the existing lanes of a vector.
    fn store_lanes(&mut self, k: usize, place: &str, value: &str) {
        let (array, inner) = (result(k), self.code.rank - 1);
        line!(self.text, "    let place{k} = vec4<u32>({place});");
        line!(self.text, "    let value{k} = {value};");
        let [first, end] = match self.code.walk {
            Walk::Anywhere => [format!("item * {LANES}u"), "p.rows".into()],
            _ => ["first".into(), format!("p.len{inner}")],
        };
        self.store_each([&array, &format!("place{k}"), &format!("value{k}")], [&first, &end]);
    }

    /// Stores the results of a row.
    pub(super) fn reduced(&mut self, reduce: &Reduce, output: Output) {
        let group = reduce.tile.group();
        let Output::Elements { unroll } = output else {
            if reduce.tile.meets() {
                line!(self.text, "    if (!is_own) {{ return; }}");
            }
            self.store_results(reduce);
            return;
        };
        let last = reduce.phases.len().checked_sub(1);
        let needs = self.needs(reduce, last, self.code.results.iter().copied());
        let item = if reduce.vector_axis == VectorAxis::Gathered { ", item" } else { "" };
        let give = |vector: (u32, u32), at: &str| format!("give({}{at}{item});", needs.arguments(vector));
        let end = end_of_row(reduce);
        if let Some(last) = last.filter(|_| needs.holder.is_some()) {
            for vector in reduce.phases[last].vectors(&reduce.tile) {
                let at = place(&reduce.tile, &format!("begin{last}"), vector);
                let give = give(vector, &at);
                match reduce.masked {
                    true => line!(self.text, "    if ({at} < {end}) {{ {give} }}"),
                    false => line!(self.text, "    {give}"),
                }
            }
            return;
        }
        let begin = if reduce.tile.meets() { "member" } else { "0u" };
        line!(self.text, "    let end = {end};");
        line!(self.text, "    for (var at = {begin}; at < end; at += {}u) {{", group * unroll);
        for k in 0..unroll {
            // Vectors past the end store the last one again.
            let at = if k == 0 { "at".into() } else { format!("min(at + {}u, end - 1u)", k * group) };
            line!(self.text, "        {}", give((0, 0), &at));
        }
        line!(self.text, "    }}");
    }

    /// The stores of results: of the elements at a place of a row, or of the row's one element.
    fn store_results(&mut self, reduce: &Reduce) {
        let code = self.code;
        for (k, &value) in code.results.iter().enumerate() {
            let own = self.value(value, 0);
            let text = match code.value_type(value) {
                // A value of whole words has its type already, except bool.
                of if of == self.kernel.stored[k].dtype || of == DType::Bool => encode(of, &own),
                _ => own,
            };
            self.store_value(reduce, (k, text), None);
        }
    }
}
