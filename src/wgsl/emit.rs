//! The text of a kernel: its declarations, the functions that it calls, and its entry point.

use rustc_hash::FxHashSet;

use super::emitter::Emitter;
use super::text::{line, result, role};
use super::types::array;
use super::{lines, prelude};
use crate::error::Result;
use crate::ir::{Math, Step, normal};
use crate::plan::{Faults, Field, Form, Kernel};

/// The text of a kernel, which depends on the kernel alone.
pub(crate) struct Emitted {
    /// Declarations, functions of the prelude, and the entry point.
    parts: [String; 3],
    /// The words of its uniform block: the kernel's fields that the text names.
    pub words: Vec<usize>,
}

impl Emitted {
    pub(crate) fn text(&self) -> String {
        self.parts.concat()
    }

    /// The lines that name each operand, counted from 1.
    pub(crate) fn lines(&self, kernel: &Kernel) -> Vec<Vec<usize>> {
        lines::of_operands(kernel, self.parts.each_ref().map(String::as_str))
    }

    /// The words of the block, selected from all fields.
    #[cfg(test)]
    pub(crate) fn block(&self, words: &[u32]) -> Vec<u32> {
        self.words.iter().map(|&word| words[word]).collect()
    }
}

pub(crate) fn emit(kernel: &Kernel) -> Result<Emitted> {
    let mut main = String::new();
    let mut emitter = Emitter::new(kernel, &mut main);
    match &kernel.form {
        Form::Elements(own) => emitter.elements(own)?,
        Form::Scan(scan) => emitter.scan(scan)?,
        Form::Contract(contract) => emitter.contract(contract)?,
        Form::Sort(sort) => emitter.sort(sort)?,
        Form::Count(count) => emitter.count(count)?,
        Form::Put => emitter.put()?,
        Form::Reduce(reduce) => emitter.reduce(reduce)?,
    }
    let main = emitter.bodies.functions() + &main;
    // NVIDIA's instruction makes every NaN of f16 positive, and some have another NaN.
    let tells = kernel.math == Math::Total || kernel.code.steps.iter().any(Step::tells_sign);
    let halves = kernel.faults.halves || tells;
    let arrays = kernel.stored.iter().chain(&kernel.bindings).map(array);
    let uses = arrays.fold(main.clone(), |uses, own| uses + " " + &own);
    let functions = prelude::used_by(&uses, Faults { halves, ..kernel.faults });
    let named: FxHashSet<&str> = [&functions, &main].into_iter().flat_map(|text| named(text)).collect();
    let mut fields = Vec::new();
    kernel.fields(|field| fields.push(field));
    let mut words: Vec<usize> =
        (0..fields.len()).filter(|&word| named.contains(field(&fields[word]).as_str())).collect();
    if words.is_empty() {
        // A block has at least one word.
        words.push(0);
    }
    let enabled = if functions.contains("<f16>") { "enable f16;\n\n" } else { "" };
    let block = words.iter().map(|&word| &fields[word]);
    let declarations = enabled.to_string() + &declarations(kernel, block);
    Ok(Emitted { parts: [declarations, functions, main], words })
}

/// The words of the uniform block that a text names.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = text.match_indices("p.").filter(move |&(at, _)| !text[..at].ends_with(is_name));
    starts.map(move |(at, _)| {
        let rest = &text[at + 2..];
        &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
    })
}

fn field(field: &Field) -> String {
    match field {
        Field::Number(name) => name.to_string(),
        Field::Length(axis) => format!("len{axis}"),
        Field::Factor(axis) => format!("factor{axis}"),
        Field::Shift(axis) => format!("shift{axis}"),
        Field::Rest(of) => format!("{}_rest", role(*of)),
        Field::Last(of) => format!("{}_last", role(*of)),
        Field::Offset(of) => format!("{}_offset", role(*of)),
        Field::Stride(of, axis) => format!("{}_stride{axis}", role(*of)),
        Field::Computed(i, k) => format!("x{i}_index{k}"),
        Field::Scalar(i) => format!("scalar{i}"),
        Field::ScalarHigh(i) => format!("scalar{i}_high"),
        Field::Identity(i) => format!("identity{i}"),
        Field::IdentityHigh(i) => format!("identity{i}_high"),
        Field::Cubic(_) => "cubics".into(),
        Field::Zero => "zero".into(),
    }
}

/// The uniform block of these words, and the bindings.
fn declarations<'a>(kernel: &Kernel, words: impl Iterator<Item = &'a Field>) -> String {
    let mut text = "struct Params {\n".to_string();
    for word in words {
        match word {
            Field::Cubic(0) => line!(text, "    cubics: array<vec4<f32>, {}>,", normal::COUNT),
            Field::Cubic(_) => {}
            word => line!(text, "    {}: u32,", field(word)),
        }
    }
    line!(text, "}}\n");
    line!(text, "@group(0) @binding(0) var<uniform> p: Params;");
    let stored = kernel.stored.iter().enumerate().map(|(i, of)| ("read_write", result(i), of));
    let read = kernel.bindings.iter().enumerate().map(|(i, of)| ("read", format!("in{i}"), of));
    for (number, (how, name, of)) in (1..).zip(stored.chain(read)) {
        line!(text, "@group(0) @binding({number}) var<storage, {how}> {name}: array<{}>;", array(of));
    }
    line!(text);
    text
}
