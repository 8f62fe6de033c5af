//! Values that are folded side by side: what makes one of two, and what makes one of all that an invocation
//! loads. A kernel that folds has them once, one that computes rows for each of its phases.

use super::emitter::Emitter;
use super::text::line;
use super::types::{compute, constant, lanes};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::ir::Fold;
use crate::plan::{Folder, Phase, PhaseFold, Turns};

/// Values that are loaded straight in the order of their places at most, where the order of folding shows.
const MOST_IN_ORDER: u32 = 8;

/// What an invocation folds side by side.
pub(super) struct Values {
    /// What the names of their type and functions end with.
    suffix: String,
    parts: Vec<Part>,
    /// Whether the index of each comes with the elements, from a pass before.
    indexed: bool,
}

/// One of them.
pub(super) struct Part {
    pub fold: Fold,
    pub element: DType,
    /// The word of the uniform block that stands for what changes no value.
    identity: String,
}

/// A vector of what is folded: a value, or an index.
struct Component {
    name: String,
    vector: String,
    identity: String,
}

/// Where an invocation finds its values, and how they come by.
pub(super) struct Traversal {
    /// The coordinates that the function of an element takes before a place in the run, as parameters and as
    /// arguments.
    pub parameters: Vec<String>,
    pub arguments: Vec<String>,
    /// The type of a place.
    pub place: &'static str,
    /// Values that are loaded straight, and how far they lie apart.
    pub straight: u32,
    /// Whether they are loaded in the order of their places, and not so that few are held.
    pub in_order: bool,
    pub apart: String,
    /// How far turns lie apart, and how many there are.
    pub step: String,
    pub count: String,
    pub turns: Turns,
}

impl Part {
    /// The type of the ranks that stand for floats where their order is what counts: integers are compared by one
    /// instruction, and flushed by no adapter.
    fn ranks(&self) -> Option<DType> {
        match (self.fold, self.element) {
            (Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax, DType::F32) => Some(DType::U32),
            (Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax, DType::F64) => Some(DType::U64),
            _ => None,
        }
    }

    /// An element as it is folded.
    pub(super) fn folded(&self, value: String) -> String {
        match self.ranks() {
            Some(_) => format!("{}_rank_{}({value})", self.fold.name(), compute(self.element)),
            None => value,
        }
    }

    /// An element of what was folded.
    pub(super) fn given(&self, value: String) -> String {
        match self.ranks() {
            Some(_) => format!("of_{}_rank_{}({value})", self.fold.name(), compute(self.element)),
            // A zero of a sum is +0.
            None if self.fold == Fold::Sum && self.element.kind() == Kind::Float => {
                format!("positive_zero_{}({value})", compute(self.element))
            }
            None => value,
        }
    }

    /// What changes no value that is folded with it.
    pub(super) fn identity(&self) -> String {
        self.folded(constant(self.element, &self.identity))
    }

    /// What the row of the table makes of two: one of them, or whether the second wins.
    fn form(&self, a: &str, b: &str) -> Result<String> {
        form(self.fold, self.ranks().unwrap_or(self.element), compute(self.element), a, b)
    }
}

/// The text of a fold of two values.
pub(super) fn form(fold: Fold, dtype: DType, name: &str, a: &str, b: &str) -> Result<String> {
    match fold.form(dtype) {
        Some(form) => Ok(form.wgsl.replace("{T}", name).replace("{a}", a).replace("{b}", b)),
        None => bail!(Kernel, "{} takes no {dtype}", fold.name()),
    }
}

impl Values {
    /// Those of a kernel that folds, of so many vectors: first those of the first.
    pub(super) fn of_fold(folder: &Folder, vectors: u32) -> Values {
        let part = |_| Part { fold: folder.fold, element: folder.element, identity: "p.identity".into() };
        let parts = (0..folder.values * vectors as usize).map(part).collect();
        Values { suffix: String::new(), parts, indexed: folder.indexed }
    }

    /// Those of a phase, of so many vectors.
    pub(super) fn of_phase(number: usize, phase: &Phase, vectors: u32) -> Values {
        let part = |own: &PhaseFold| Part {
            fold: own.fold,
            element: own.element,
            identity: format!("p.identity{}", own.number),
        };
        let parts = (0..vectors).flat_map(|_| phase.folds.iter().map(part)).collect();
        Values { suffix: number.to_string(), parts, indexed: false }
    }

    /// What the names of functions over these end with.
    pub(super) fn suffix(&self) -> &str {
        &self.suffix
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Which of the parts is one of a vector, of so many vectors.
    pub(super) fn number(&self, part: usize, vector: u32, vectors: u32) -> usize {
        self.parts.len() / vectors as usize * vector as usize + part
    }

    pub(super) fn gives_index(&self) -> bool {
        self.parts.iter().any(|part| part.fold.row().gives_index)
    }

    /// Whether an invocation meets elements in the order of their indexes, so that of equal ones the first wins
    /// without a look at these.
    fn follows(&self) -> bool {
        self.gives_index() && !self.indexed
    }

    fn is_ordered(&self) -> bool {
        self.parts.iter().any(|part| part.fold.is_ordered(part.element))
    }

    fn components(&self) -> Vec<Component> {
        let mut all: Vec<Component> = Vec::new();
        for (i, part) in self.parts.iter().enumerate() {
            let vector = lanes(part.ranks().unwrap_or(part.element));
            all.push(Component { name: format!("v{i}"), vector, identity: part.identity() });
        }
        for (i, _) in self.parts.iter().enumerate().filter(|_| self.gives_index()) {
            let identity = "vec4<u32>(0xffffffffu)".into();
            all.push(Component { name: format!("at{i}"), vector: "vec4<u32>".into(), identity });
        }
        all
    }

    /// The names of what is folded, and their vectors' types.
    pub(super) fn names(&self) -> impl Iterator<Item = (String, String)> {
        self.components().into_iter().map(|own| (own.name, own.vector))
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

    /// What changes nothing that it is combined with.
    fn identities(&self) -> String {
        self.of(self.components().into_iter().map(|own| own.identity))
    }

    /// One of two.
    pub(super) fn combined(&self, a: &str, b: &str) -> String {
        format!("combine{}({a}, {b})", self.suffix)
    }

    /// The arrays in which values are held, and the type of their vectors. Phases of a kernel share them.
    pub(super) fn held(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for Component { vector, .. } in self.components() {
            let number = all.iter().filter(|(_, other)| *other == vector).count();
            all.push((format!("held_{}_{number}", &vector["vec4<".len()..vector.len() - 1]), vector));
        }
        all
    }

    /// What the function of all that an invocation finds gives.
    pub(super) fn folded(&self, arguments: impl IntoIterator<Item = String>) -> String {
        format!("fold{}({})", self.suffix, arguments.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// The array in which values of workgroup memory meet.
    pub(super) fn shared(&self) -> String {
        format!("shared_values{}", self.suffix)
    }
}

impl Emitter<'_> {
    /// The type of all values, and the function that makes one of two.
    pub(super) fn values(&mut self, values: &Values) -> Result<()> {
        line!(self.text, "struct {} {{", values.name());
        for (name, vector) in values.names() {
            line!(self.text, "    {name}: {vector},");
        }
        line!(self.text, "}}\n");
        let (all, count) = (values.name(), values.parts.len());
        let takes = |name: &str, i: usize| format!("select(a.{name}{i}, b.{name}{i}, takes{i})");
        if values.follows() {
            line!(self.text, "fn follow{}(a: {all}, b: {all}) -> {all} {{", values.suffix);
            for (i, part) in values.parts.iter().enumerate() {
                let wins = part.form(&format!("a.v{i}"), &format!("b.v{i}"))?;
                line!(self.text, "    let takes{i} = {wins};");
            }
            let parts = (0..count).map(|i| takes("v", i)).chain((0..count).map(|i| takes("at", i)));
            line!(self.text, "    return {};", values.of(parts));
            line!(self.text, "}}\n");
        }
        line!(self.text, "fn combine{}(a: {all}, b: {all}) -> {all} {{", values.suffix);
        let mut parts = Vec::new();
        for (i, part) in values.parts.iter().enumerate() {
            let (a, b) = (format!("a.v{i}"), format!("b.v{i}"));
            let own = part.form(&a, &b)?;
            if part.fold.row().gives_index {
                line!(self.text, "    let wins{i} = {own};");
                line!(self.text, "    let takes{i} = wins{i} | (({a} == {b}) & (b.at{i} < a.at{i}));");
                parts.push(takes("v", i));
                continue;
            }
            // Nothing may reorder the sums, nor contract a product into one.
            parts.push(match part.fold.is_ordered(part.element) {
                true => format!("opaque_{}({own})", compute(part.element)),
                false => own,
            });
        }
        if values.gives_index() {
            parts.extend((0..count).map(|i| takes("at", i)));
        }
        line!(self.text, "    return {};", values.of(parts));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that takes what a turn gave. What it is combined with was held, and the sum of both is combined
    /// in turn; what has no half yet is held. So the last turn gives all of them.
    fn hold_function(&mut self, values: &Values) {
        let (suffix, all, held) = (values.suffix(), values.name(), values.held());
        // Places of neighbours lie side by side, which is how a GPU reads them at once.
        let place = format!("(place + at) * {}u + own_place", self.kernel.workgroup[0]);
        line!(self.text, "fn hold{suffix}(place: u32, turn: u32, turns: u32, own: {all}) -> {all} {{");
        line!(self.text, "    var all = own;");
        line!(self.text, "    var at = turn;");
        line!(self.text, "    for (var half = turns >> 1u; half > 0u && at >= half; half = half >> 1u) {{");
        line!(self.text, "        at -= half;");
        let first = values.of(held.iter().map(|(array, _)| format!("{array}[{place}]")));
        line!(self.text, "        all = {};", values.combined(&first, "all"));
        line!(self.text, "    }}");
        for ((name, _), (array, _)) in values.names().zip(&held) {
            line!(self.text, "    {array}[{place}] = all.{name};");
        }
        line!(self.text, "    return all;");
        line!(self.text, "}}\n");
    }

    /// The function that makes one value of all that an invocation finds from the place `begin` on.
    pub(super) fn fold_function(&mut self, values: &Values, traversal: &Traversal) {
        let Traversal { step, count, turns, .. } = traversal;
        if turns.places() > 0 {
            self.hold_function(values);
        }
        let (suffix, all) = (&values.suffix, values.name());
        let begin = format!("begin: {}", traversal.place);
        let parameters: Vec<String> = traversal.parameters.iter().cloned().chain([begin]).collect();
        line!(self.text, "fn fold{suffix}({}) -> {all} {{", parameters.join(", "));
        match *turns {
            Turns::One => {
                let value = self.straight(values, traversal, "    ", "begin");
                line!(self.text, "    return {value};");
                line!(self.text, "}}\n");
                return;
            }
            Turns::AnyOrder => {
                line!(self.text, "    var all = {};", values.identities());
                line!(self.text, "    for (var j = 0u; j < {count}; j++) {{");
                line!(self.text, "        let at = begin + j * {step};");
                let own = self.straight(values, traversal, "        ", "at");
                line!(self.text, "        all = {};", values.combined("all", &own));
                line!(self.text, "    }}");
            }
            Turns::Held { .. } => {
                line!(self.text, "    var all: {all};");
                line!(self.text, "    for (var j = 0u; j < {count}; j++) {{");
                line!(self.text, "        let at = begin + j * {step};");
                let own = self.straight(values, traversal, "        ", "at");
                line!(self.text, "        all = hold{suffix}(0u, j, {count}, {own});");
                line!(self.text, "    }}");
            }
            // Those of a part lie as far apart as there are parts, as halves are combined before neighbours.
            Turns::Parts { turns } => {
                line!(self.text, "    let parts = {count} / {turns}u;");
                line!(self.text, "    var all: {all};");
                line!(self.text, "    for (var part = 0u; part < parts; part++) {{");
                line!(self.text, "        for (var j = 0u; j < {turns}u; j++) {{");
                line!(self.text, "            let at = begin + (j * parts + part) * {step};");
                let own = self.straight(values, traversal, "            ", "at");
                line!(self.text, "            all = hold{suffix}(0u, j, {turns}u, {own});");
                line!(self.text, "        }}");
                line!(self.text, "        all = hold{suffix}({}u, part, parts, all);", turns / 2);
                line!(self.text, "    }}");
            }
        }
        line!(self.text, "    return all;");
        line!(self.text, "}}\n");
    }

    /// Values folded in the order of their places: each as soon as what it is combined with is there, so that few
    /// are held. Of many whose fold has an order, every second comes after all others, so that half as many are, unless
    /// memory is to be read in its order. The name of what they give.
    fn straight(&mut self, values: &Values, traversal: &Traversal, indent: &str, at: &str) -> String {
        let count = traversal.straight;
        let mut last = String::new();
        let strides =
            if values.is_ordered() && !traversal.in_order { count.div_ceil(MOST_IN_ORDER) } else { 1 };
        for k in (0..strides).flat_map(|first| (first..count).step_by(strides as usize)) {
            let place = if k == 0 { at.to_string() } else { format!("{at} + {k}u * {}", traversal.apart) };
            let arguments: Vec<String> = traversal.arguments.iter().cloned().chain([place]).collect();
            let mut own = format!("a{k}");
            line!(self.text, "{indent}let {own} = element{}({});", values.suffix, arguments.join(", "));
            if !values.is_ordered() {
                if k > 0 {
                    own = format!("a_{k}");
                    let follow = if values.follows() { "follow" } else { "combine" };
                    line!(self.text, "{indent}let {own} = {follow}{}({last}, a{k});", values.suffix);
                }
                last = own;
                continue;
            }
            // `x[i] + x[i + half]`, for halves of what is straight.
            let (mut half, mut number) = (count / 2, k);
            while half > 0 && number >= half {
                number -= half;
                let first =
                    if half == count / 2 { format!("a{number}") } else { format!("a{}_{number}", 2 * half) };
                line!(self.text, "{indent}let a{half}_{number} = {};", values.combined(&first, &own));
                own = format!("a{half}_{number}");
                half /= 2;
            }
            last = own;
        }
        last
    }

    /// Neighbouring vectors become one, where an invocation has two, which each of them is then.
    pub(super) fn across_pair(&mut self, values: &Values, v: &str) {
        if self.kernel.vectors > 1 {
            let names = values.names().map(|(name, _)| format!("{v}.{name}"));
            let mut other: Vec<String> = names.collect();
            other.rotate_left(values.parts.len() / 2);
            line!(self.text, "    {v} = {};", values.combined(v, &values.of(other)));
        }
    }

    /// The four lanes of `v` become one value, which each of them is then.
    pub(super) fn across_lanes(&mut self, values: &Values, v: &str) {
        for turned in ["zwxy", "yxwz"] {
            let other = values.of(values.names().map(|(name, _)| format!("{v}.{name}.{turned}")));
            line!(self.text, "    {v} = {};", values.combined(v, &other));
        }
    }
}
