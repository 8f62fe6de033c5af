//! The stores of kernels that reduce rows: partial results, one element of each row, or all elements.

use super::combine::{Values, place};
use super::emitter::Emitter;
use super::rows::{declared, end_of_row, named};
use super::text::{line, result};
use super::types::{encode, pack};
use crate::dtype::DType;
use crate::error::Result;
use crate::plan::{LANES, Output, Phase, Reduce, Role, Store, VectorAxis, Walk};

impl Emitter<'_> {
    /// The function that stores the elements at a place of the row.
    pub(super) fn give(&mut self, reduce: &Reduce) -> Result<()> {
        let needs =
            self.needs(reduce, reduce.phases.len().checked_sub(1), self.kernel.results.iter().copied());
        let parameters = declared(&self.given(reduce, &needs));
        let item = if reduce.vector_axis == VectorAxis::Gathered { ", item: u32" } else { "" };
        line!(self.text, "fn give({parameters}at: u32{item}) {{");
        self.elements_of_row(reduce, false);
        self.computed(&needs)?;
        self.store_results(reduce, "    ");
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
        for ((k, text), dtype) in texts.into_iter().enumerate().zip(self.kernel.stored()) {
            self.store_value(reduce, (k, dtype, text), position, "    ");
        }
    }

    /// Stores a value to the `k`th result: of a row, or vector `x` of rows or of a row's elements. A term may be added to its
    /// address.
    fn store_value(
        &mut self,
        reduce: &Reduce,
        (k, dtype, value): (usize, DType, String),
        more: Option<&str>,
        indent: &str,
    ) {
        let (kernel, array) = (self.kernel, result(k));
        let inner = kernel.rank - 1;
        let store = match (reduce.vector_axis, reduce.output, kernel.store) {
            (VectorAxis::Reduced, Output::Partials, _) => format!("{array}[item] = ({value}).x;"),
            (VectorAxis::Reduced, Output::OnePerRow, _) => {
                format!("{array}[{}] = ({value}).x;", self.stored_at(inner, more))
            }
            (_, _, Store::Vector) => {
                let place = self.stored_at(inner, more.into_iter().chain(["x"]));
                format!("{array}[{place}] = {};", pack(dtype, value))
            }
            _ => return self.store_lanes(k, &self.stored_at(kernel.rank, more), &value, indent),
        };
        line!(self.text, "{indent}{store}");
    }

    /// The address of a result: its coordinates on some axes, and terms to add.
    pub(super) fn stored_at<'t>(&self, axes: usize, more: impl IntoIterator<Item = &'t str>) -> String {
        let terms = (0..axes).filter_map(|axis| self.term(Role::Out, axis, 0));
        let terms: Vec<String> = terms.chain(more.into_iter().map(str::to_string)).collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// Stores the existing lanes of a vector.
    fn store_lanes(&mut self, k: usize, place: &str, value: &str, indent: &str) {
        let (array, inner) = (result(k), self.kernel.rank - 1);
        line!(self.text, "{indent}let place{k} = vec4<u32>({place});");
        line!(self.text, "{indent}let value{k} = {value};");
        line!(self.text, "{indent}{array}[place{k}.x] = value{k}.x;");
        for (n, c) in "xyzw".chars().enumerate().skip(1) {
            let exists = match self.kernel.walk {
                Walk::Anywhere => format!("item * {LANES}u + {n}u < p.rows"),
                _ => format!("first + {n}u < p.len{inner}"),
            };
            line!(self.text, "{indent}if ({exists}) {{ {array}[place{k}.{c}] = value{k}.{c}; }}");
        }
    }

    /// Stores the results of a row.
    pub(super) fn reduced(&mut self, reduce: &Reduce, output: Output) {
        let group = reduce.tile.group();
        let Output::Elements { unroll } = output else {
            if reduce.tile.meets() {
                line!(self.text, "    if (!is_own) {{ return; }}");
            }
            self.store_results(reduce, "    ");
            return;
        };
        let last = reduce.phases.len().checked_sub(1);
        let needs = self.needs(reduce, last, self.kernel.results.iter().copied());
        let given = self.given(reduce, &needs);
        let item = if reduce.vector_axis == VectorAxis::Gathered { ", item" } else { "" };
        let give = |held: &str, at: &str| format!("give({}{at}{item});", named(&given, held));
        let end = end_of_row(reduce);
        if let Some(last) = last.filter(|_| needs.holder.is_some()) {
            for vector in reduce.phases[last].vectors(&reduce.tile) {
                let at = place(&reduce.tile, &format!("begin{last}"), vector);
                let give = give(&needs.held(vector), &at);
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
            line!(self.text, "        {}", give("", &at));
        }
        line!(self.text, "    }}");
    }

    /// The stores of results: of the elements at a place of a row, or of the row's one element.
    fn store_results(&mut self, reduce: &Reduce, indent: &str) {
        let (kernel, dtype) = (self.kernel, self.kernel.out);
        for (k, &value) in kernel.results.iter().enumerate() {
            let own = self.value(value, 0);
            let text = match kernel.value_type(value) {
                // A value of whole words has its type already, except bool.
                of if of == dtype || of == DType::Bool => encode(of, &own),
                _ => own,
            };
            self.store_value(reduce, (k, dtype, text), None, indent);
        }
    }
}
