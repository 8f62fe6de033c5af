//! Kernels of a radix sort: the facts and numbers of `shaders/kernels/sort.wgsl`.

use super::emitter::Emitter;
use super::template::Filling;
use crate::error::Result;
use crate::ir::KeyKind;
use crate::plan::Sort;

/// The lines that load the words of an element, and its index.
fn load(sort: &Sort, [values, indices]: [&str; 2], [values_too, index_too]: [bool; 2]) -> Vec<String> {
    let mut lines = vec!["let at = first + k;".to_string()];
    match sort.words {
        _ if !values_too => {}
        _ if sort.kind == KeyKind::Bool => {
            lines.push(format!("let low = ({values}[at / 4u] >> (at % 4u * 8u)) & 1u;"));
        }
        1 => lines.push(format!("let low = {values}[at];")),
        _ => lines.extend(
            [("low", ""), ("high", " + 1u")]
                .map(|(name, next)| format!("let {name} = {values}[at * 2u{next}];")),
        ),
    }
    match sort.reads_indices() {
        _ if !index_too => {}
        true => lines.push(format!("let index = {indices}[at];")),
        false => lines.push("let index = p.start + before + k;".into()),
    }
    lines
}

/// The lines that store an element at a place.
fn store(sort: &Sort) -> Vec<String> {
    let moved = sort.moved.unwrap_or_default();
    let mut lines = Vec::new();
    match sort.words {
        _ if !moved.values => {}
        1 => lines.push("result[to] = low;".to_string()),
        _ => lines.extend(["result[to * 2u] = low;", "result[to * 2u + 1u] = high;"].map(String::from)),
    }
    if moved.indices {
        let result = if moved.values { "result1" } else { "result" };
        lines.push(format!("{result}[to] = {};", if moved.of_row { "index % p.row" } else { "index" }));
    }
    lines
}

impl Emitter<'_> {
    pub(super) fn sort(&mut self, sort: &Sort) -> Result<()> {
        let Sort { digit, group, each, by_row, words, kind, .. } = *sort;
        let mut inputs = (0..).map(|i| format!("in{i}"));
        let mut input =
            |is_read: bool| if is_read { inputs.next().unwrap_or_default() } else { String::new() };
        let reads = [sort.reads_values(), sort.reads_indices(), sort.moved.is_some()];
        let [values, indices, offsets] = reads.map(&mut input);
        let operands = [values.as_str(), &indices];
        let moved = sort.moved.unwrap_or_default();
        let (half, sections) = ((1 << digit) / 2, group / 8);
        let of = if by_row {
            "index"
        } else if words > 1 {
            "low, high"
        } else {
            "low"
        };
        Filling::default()
            .when("moved", sort.moved.is_some())
            .when("by_row", by_row)
            .when("wide", words > 1)
            .when("float", kind == KeyKind::Float)
            .when("signed", kind == KeyKind::Signed)
            .with("group", group)
            .with("each", each)
            .with("tile", sort.tile())
            .with("digits", 2 * half)
            .with("mask", 2 * half - 1)
            .with("half", half)
            .with("counts", group * half)
            .with("sections", sections)
            .with("all_sections", half * sections)
            .with("top", if words > 1 { "high" } else { "low" })
            .with("of", of)
            .with("parameters", of.replace(',', ": u32,") + ": u32")
            .with_lines("load_key", load(sort, operands, [!by_row, by_row]))
            .with_lines("load_moved", load(sort, operands, [moved.values, moved.indices]))
            .with_lines("store_moved", store(sort))
            .with("offsets", offsets)
            .fill(self.text, include_str!("../../shaders/kernels/sort.wgsl"))
    }
}
