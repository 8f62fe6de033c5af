//! Kernels of a radix sort: the facts and numbers of `shaders/kernels/sort.wgsl`.

use super::emitter::Emitter;
use super::template::Filling;
use crate::error::Result;
use crate::ir::KeyKind;
use crate::plan::{Pass, Sort};

/// The lines that load the words of element `k`, and its index.
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
    lines.extend(index_too.then(|| match sort.pass {
        _ if sort.reads_indices() => format!("let index = {indices}[at];"),
        Pass::Rows(_) => "let index = k % p.length;".into(),
        _ => "let index = p.start + before + k;".into(),
    }));
    lines
}

/// The lines that store element `k` at a place.
fn store(sort: &Sort, operands: [&str; 2]) -> Vec<String> {
    let moved = sort.moved();
    let mut lines = match sort.items_are_elements() {
        true => vec!["let low = item;".to_string()],
        false => load(sort, operands, [moved.values, moved.indices]),
    };
    match sort.words {
        _ if !moved.values => {}
        1 => lines.push("result[to] = low;".to_string()),
        _ => lines.extend(["result[to * 2u] = low;", "result[to * 2u + 1u] = high;"].map(String::from)),
    }
    if moved.indices {
        lines.push(format!("{}[to] = index;", if moved.values { "result1" } else { "result" }));
    }
    lines
}

/// The lines by which an invocation takes its sixteen items, with four bits of each and its rank in half of a word, and puts
/// them to their places.
fn turns() -> [Vec<String>; 2] {
    let field = |i: u32| (if i < 8 { "x" } else { "y" }, i % 8 * 4);
    let take = (0..16).flat_map(|i| {
        let (half, shift) = field(i);
        let exists = if i == 15 { "false".into() } else { format!("own + {i}u < size") };
        [
            format!("let item{i} = items[apart(own + {i}u, 16u)];"),
            format!("own_bits.{half} |= part(item{i}, first, round) << {shift}u;"),
            format!("ranks.{half} |= ranked((own_bits.{half} >> {shift}u) & 15u, {exists}) << {shift}u;"),
        ]
    });
    let put = (0..16).map(|i| {
        let (half, shift) = field(i);
        let of = |words: &str| format!("({words}.{half} >> {shift}u) & 15u");
        let to = format!("items[apart(place({}, local) + ({}), 16u)]", of("own_bits"), of("ranks"));
        format!("if (own + {i}u < size) {{ {to} = item{i}; }}")
    });
    [take.collect(), put.collect()]
}

impl Emitter<'_> {
    pub(super) fn sort(&mut self, sort: &Sort) -> Result<()> {
        let Sort { digit, group, words, kind, pass, .. } = *sort;
        let mut inputs = (0..).map(|i| format!("in{i}"));
        let mut input =
            |is_read: bool| if is_read { inputs.next().unwrap_or_default() } else { String::new() };
        let [values, indices] = [true, sort.reads_indices()].map(&mut input);
        let offsets = input(true);
        let operands = [values.as_str(), &indices];
        let (digits, of) = (1 << digit, if words > 1 { "low, high" } else { "low" });
        let [take, put] = turns();
        Filling::default()
            .when("count", pass == Pass::Count)
            .when("scan", pass == Pass::Scan)
            .when("move", matches!(pass, Pass::Move(_)))
            .when("rows", matches!(pass, Pass::Rows(_)))
            .when("elements", sort.items_are_elements())
            .when("wide", words > 1)
            .when("float", kind == KeyKind::Float)
            .when("signed", kind == KeyKind::Signed)
            .with("group", group)
            .with("runs", group / 8)
            .with("blocks", digits / 8)
            .with("tile", sort.tile())
            .with("digits", digits)
            .with("mask", digits - 1)
            .with("copies", 4 * digits)
            .with("counts", 8 * group)
            .with("top", if words > 1 { "high" } else { "low" })
            .with("of", of)
            .with("parameters", of.replace(',', ": u32,"))
            .with_lines("take", take)
            .with_lines("put", put)
            .with_lines("load_key", load(sort, operands, [true, false]))
            .with_lines("store_moved", store(sort, operands))
            .with("offsets", offsets)
            .fill(self.text, include_str!("../../shaders/kernels/sort.wgsl"))
    }
}
