//! What kernels that fold have in common: the values that are folded side by side, what makes one of two, and
//! how results are stored.

use super::emit::{Emitter, line, result};
use super::halves::folds_later;
use super::types::{array, compute, decode, encode, lanes, pack};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::Fold;
use crate::plan::{Folder, Kernel, LANES, Lanes, Role, Store, Stored};

/// The lanes of a vector.
pub(super) const EACH: &str = "vec4<u32>(0u, 1u, 2u, 3u)";

impl Emitter<'_> {
    pub(super) fn fold(&mut self, folder: &Folder) -> Result<()> {
        self.fold_by_halves(folder, folder.halves)
    }

    /// What is folded side by side.
    pub(super) fn declare_values(&mut self, folder: &Folder) {
        line!(self.text, "struct Values {{");
        for (name, vector) in components(folder) {
            line!(self.text, "    {name}: {vector},");
        }
        line!(self.text, "}}\n");
    }

    /// The types of coordinates.
    pub(super) fn place(&self, folder: &Folder) -> &'static str {
        if folder.lanes == Lanes::Anywhere { "vec4<u32>" } else { "u32" }
    }

    /// The coordinates that a body takes beside the place in the run.
    pub(super) fn kept(&self, folder: &Folder) -> Vec<String> {
        let lane = |axis: usize| folder.lanes == Lanes::Kept && axis + 1 == self.kernel.rank;
        let kept = (0..self.kernel.rank).filter(|&axis| folder.keeps(axis));
        kept.map(|axis| if lane(axis) { "x".to_string() } else { format!("c{axis}") }).collect()
    }

    /// The function that makes one of two.
    pub(super) fn combine(&mut self, folder: &Folder) -> Result<()> {
        let Some(form) = folder.fold.form(ranks(folder).unwrap_or(folder.element)) else {
            bail!(Kernel, "{} takes no {}", folder.fold.name(), folder.element)
        };
        let apply = |a: String, b: String| {
            let text = form.wgsl.replace("{T}", compute(folder.element));
            text.replace("{a}", &a).replace("{b}", &b)
        };
        if folds_later(folder) {
            line!(self.text, "fn follow(a: Values, b: Values) -> Values {{");
            for i in 0..folder.values {
                line!(self.text, "    let takes{i} = {};", apply(format!("a.v{i}"), format!("b.v{i}")));
            }
            let part = |name: &str, i: usize| format!("select(a.{name}{i}, b.{name}{i}, takes{i})");
            let values = (0..folder.values).map(|i| part("v", i));
            let parts: Vec<String> = values.chain((0..folder.values).map(|i| part("at", i))).collect();
            line!(self.text, "    return Values({});", parts.join(", "));
            line!(self.text, "}}\n");
        }
        line!(self.text, "fn combine(a: Values, b: Values) -> Values {{");
        let mut parts = Vec::new();
        for i in 0..folder.values {
            let (a, b) = (format!("a.v{i}"), format!("b.v{i}"));
            if !folder.fold.row().gives_index {
                let value = apply(a, b);
                // Nothing may reorder the sums, nor contract a product into one.
                let is_ordered = folder.fold.is_ordered(folder.element);
                let own =
                    if is_ordered { format!("opaque_{}({value})", compute(folder.element)) } else { value };
                parts.push(own);
                continue;
            }
            line!(self.text, "    let wins{i} = {};", apply(a.clone(), b.clone()));
            line!(self.text, "    let takes{i} = wins{i} | (({a} == {b}) & (b.at{i} < a.at{i}));");
            parts.push(format!("select(a.v{i}, b.v{i}, takes{i})"));
        }
        if folder.fold.row().gives_index {
            parts.extend((0..folder.values).map(|i| format!("select(a.at{i}, b.at{i}, takes{i})")));
        }
        line!(self.text, "    return Values({});", parts.join(", "));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// What is stored of values, in the type in which it is.
    pub(super) fn stored(&self, folder: &Folder, stored: Stored, value: &str) -> String {
        match stored {
            Stored::Index(i) => format!("{value}.at{i}"),
            Stored::Value(i) => {
                let own = format!("{value}.v{i}");
                match folder.element {
                    DType::Bool => encode(DType::Bool, &own),
                    _ if ranks(folder).is_some() => format!("of_rank_{}({own})", compute(folder.element)),
                    // A zero of a sum is +0.
                    _ if folder.fold == Fold::Sum && folder.element.kind() == Kind::Float => {
                        format!("positive_zero_{}({own})", compute(folder.element))
                    }
                    _ => own,
                }
            }
        }
    }

    /// The sum of an address, of the coordinates that are kept and of `more`.
    fn stored_address(&self, folder: &Folder, axes: usize, more: &str) -> String {
        let kept = (0..axes).filter(|&axis| folder.keeps(axis));
        let terms = kept.filter_map(|axis| self.term(Role::Out, axis, 0));
        terms.chain([more.to_string()]).collect::<Vec<_>>().join(" + ")
    }

    /// Stores values whose lanes lie along a kept axis.
    pub(super) fn store_values(&mut self, folder: &Folder, indent: &str, value: &str, more: &str) {
        let kernel = self.kernel;
        let inner = kernel.rank - 1;
        for (k, &stored) in folder.stored.iter().enumerate() {
            let (array, text) = (result(k), self.stored(folder, stored, value));
            if kernel.store == Store::Vector {
                let at = self.stored_address(folder, inner, more);
                let packed = pack(folder.stored_type(stored), kernel.wide_words, text);
                line!(self.text, "{indent}{array}[{at} + x] = {packed};");
                continue;
            }
            let at = self.stored_address(folder, kernel.rank, more);
            line!(self.text, "{indent}let place{k} = vec4<u32>({at});");
            line!(self.text, "{indent}let value{k} = {text};");
            line!(self.text, "{indent}{array}[place{k}.x] = value{k}.x;");
            for (n, c) in "xyzw".chars().enumerate().skip(1) {
                let store = format!("{array}[place{k}.{c}] = value{k}.{c};");
                line!(self.text, "{indent}if (first + {n}u < p.len{inner}) {{ {store} }}");
            }
        }
    }
}

/// The lines that divide `rest`: what is left over is `name`, and `rest` becomes the quotient.
pub(super) fn division(text: &mut String, name: &str, by: &str, rest: &mut String) {
    line!(text, "    let {name} = {rest} % {by};");
    line!(text, "    let after_{name} = {rest} / {by};");
    *rest = format!("after_{name}");
}

/// What is folded side by side: names, and types of four lanes.
pub(super) fn components(folder: &Folder) -> impl Iterator<Item = (String, String)> {
    let indices = if folder.fold.row().gives_index { folder.values } else { 0 };
    let vector = lanes(ranks(folder).unwrap_or(folder.element));
    let values = (0..folder.values).map(move |i| (format!("v{i}"), vector.clone()));
    values.chain((0..indices).map(|i| (format!("at{i}"), "vec4<u32>".into())))
}

/// The type of the ranks that stand for floats where their order is what counts: integers are compared
/// by one instruction, and flushed by no adapter.
fn ranks(folder: &Folder) -> Option<DType> {
    ranks_of(folder.fold, folder.element)
}

pub(super) fn ranks_of(fold: Fold, element: DType) -> Option<DType> {
    match (fold, element) {
        (Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax, DType::F32) => Some(DType::U32),
        (Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax, DType::F64) => Some(DType::U64),
        _ => None,
    }
}

/// A value as it is folded.
pub(super) fn ranked(folder: &Folder, value: String) -> String {
    match ranks(folder) {
        Some(_) => format!("{}_rank_{}({value})", folder.fold.name(), compute(folder.element)),
        None => value,
    }
}

/// A constant of the uniform block in four lanes.
pub(super) fn constant(dtype: DType, word: &str) -> String {
    match dtype {
        DType::F32 | DType::I32 => format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype)),
        DType::I64 | DType::U64 | DType::F64 => {
            let word = format!("(u64({word}_high) << 32u) | u64({word})");
            format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype))
        }
        _ => decode(dtype, format!("vec4<u32>({word})")),
    }
}

/// The element of the array that something is stored to.
pub(super) fn stored_array(kernel: &Kernel, dtype: DType) -> String {
    let width = match kernel.store {
        Store::Lanes => 1,
        Store::Vector | Store::Words => LANES,
        Store::Joined { blocks } => LANES * usize::from(blocks),
    };
    array(dtype, width, kernel.wide_words)
}
