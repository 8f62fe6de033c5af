//! Kernels that compute rows to their end: for each turn through a row a function of its elements, and around
//! them what makes one value of many; then what is stored.

use super::emitter::Emitter;
use super::text::{EACH, division, line, result};
use super::types::{decode, encode, lanes, narrow, pack, unpack};
use super::values::{Traversal, Values};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{ByValue, Value, needed};
use crate::plan::{LANES, Lanes, Origin, Phase, Role, RowFolder, Store, Turns};

impl Emitter<'_> {
    pub(super) fn rows(&mut self, folder: &RowFolder) -> Result<()> {
        for (number, phase) in folder.phases.iter().enumerate() {
            let values = Values::of_phase(number, phase, self.kernel.vectors);
            self.values(&values)?;
            self.row_element(folder, number, phase, &values)?;
            let (_, read) = self.needs(folder, phase.folds.iter().map(|fold| fold.value), None);
            let (team, together) = (folder.team, phase.straight * folder.team);
            let turns = format!("(p.block / {together}u)");
            // Where no order shows, an invocation goes through its values one after the other.
            let (apart, step) = match (phase.turns, team) {
                (Turns::AnyOrder, _) => (format!("{team}u"), together),
                (_, 1) => (turns.clone(), 1),
                _ => (format!("{turns} * {team}u"), team),
            };
            self.fold_function(
                &values,
                &Traversal {
                    parameters: self.of_row(folder, &read, true),
                    arguments: self.of_row(folder, &read, false),
                    place: "u32",
                    straight: phase.straight,
                    in_order: false,
                    apart,
                    step: format!("{step}u"),
                    count: turns,
                    turns: phase.turns,
                },
            );
            if folder.team > 1 {
                self.declare_shared(&values);
            }
        }
        if !folder.kept {
            self.give(folder)?;
        }
        self.rows_head(folder);
        self.zeros();
        for (number, phase) in folder.phases.iter().enumerate() {
            self.known(folder, number)?;
            self.row_turn(folder, number, phase);
        }
        self.known(folder, folder.phases.len())?;
        self.results(folder);
        line!(self.text, "}}");
        Ok(())
    }

    /// The type of coordinates.
    fn row_place(folder: &RowFolder) -> &'static str {
        if folder.lanes == Lanes::Anywhere { "vec4<u32>" } else { "u32" }
    }

    /// The coordinates of a row.
    fn places_of_row(&self, folder: &RowFolder) -> Vec<String> {
        let lane = |axis: usize| folder.lanes == Lanes::Kept && axis + 1 == self.kernel.rank;
        let kept = (0..self.kernel.rank).filter(|&axis| folder.keeps(axis));
        kept.map(|axis| if lane(axis) { "x".to_string() } else { format!("c{axis}") }).collect()
    }

    /// What some values of elements are made of: which values are computed for each element, and which of the
    /// row are read.
    fn needs(
        &self,
        folder: &RowFolder,
        values: impl Iterator<Item = Value>,
        known: Option<Value>,
    ) -> (ByValue<bool>, Vec<Value>) {
        let (operands, steps) = (&self.kernel.operands, &self.kernel.steps);
        let is_known = |value: Value| folder.of_row[value] || known == Some(value);
        let needed = needed(operands.len(), steps, values, is_known);
        let is_scalar = |i: usize| operands[i].origin == Origin::Scalar;
        let of_row = |value: Value| folder.of_row[value] && !value.input().is_some_and(is_scalar);
        let own = needed.map(|value, &needed| needed && !of_row(value) && known != Some(value));
        (own, needed.which().filter(|&value| of_row(value)).collect())
    }

    /// Parameters of a function of the elements of a row, or what is given for them.
    fn of_row(&self, folder: &RowFolder, read: &[Value], declares: bool) -> Vec<String> {
        let kept = self.places_of_row(folder).into_iter().map(|name| match declares {
            true => format!("{name}: {}", Self::row_place(folder)),
            false => name,
        });
        let values = read.iter().map(|&value| match declares {
            true => format!("v{}: {}", self.number(value), lanes(self.kernel.value_type(value))),
            false => format!("v{}", self.number(value)),
        });
        kept.chain(values).collect()
    }

    /// Loads and steps of the values that are wanted.
    fn wanted(&mut self, wanted: &ByValue<bool>) -> Result<()> {
        self.loads(|operand| wanted.inputs()[operand])?;
        self.steps(|value| wanted[value])
    }

    /// The coordinates of the elements at a place of the row.
    fn row_elements(&mut self, folder: &RowFolder, is_padded: bool) {
        let inner = self.kernel.rank - 1;
        let (vectors, pitch) = (folder.lanes == Lanes::Run, self.pitch());
        let last = if vectors { format!("(p.run - 1u) / {pitch}u") } else { "p.run - 1u".to_string() };
        let inside = if is_padded { format!("min(at, {last})") } else { "at".to_string() };
        let inside = if folder.lanes == Lanes::Anywhere { format!("vec4<u32>({inside})") } else { inside };
        line!(self.text, "    let inside = {inside};");
        let mut rest = "inside".to_string();
        for axis in folder.run.clone().rev() {
            let name = if vectors && axis == inner { "x".to_string() } else { format!("c{axis}") };
            if axis == folder.run.start {
                line!(self.text, "    let {name} = {rest};");
                break;
            }
            let length = format!("p.len{axis}");
            let length = if vectors && axis == inner { format!("({length} / {pitch}u)") } else { length };
            division(self.text, &name, &length, &mut rest);
        }
        if folder.lanes != Lanes::Anywhere && self.kernel.vectors == 1 {
            self.lane();
        }
    }

    /// The lanes of vector `x`.
    fn lane(&mut self) {
        let inner = self.kernel.rank - 1;
        line!(self.text, "    let first = x * {LANES}u;");
        line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
    }

    /// The function of a place in the row that gives what a phase folds. Past the end it loads what is there
    /// and gives the identity.
    fn row_element(
        &mut self,
        folder: &RowFolder,
        number: usize,
        phase: &Phase,
        values: &Values,
    ) -> Result<()> {
        let (own, read) = self.needs(folder, phase.folds.iter().map(|fold| fold.value), None);
        let mut parameters = self.of_row(folder, &read, true);
        parameters.push("at: u32".into());
        line!(self.text, "fn element{number}({}) -> Values{number} {{", parameters.join(", "));
        self.row_elements(folder, !folder.whole);
        self.zeros();
        self.wanted(&own)?;
        if let Some(saved) = folder.saved.filter(|saved| saved.phase == number) {
            self.row_stores(folder, &[saved.value], "    ");
        }
        if !folder.whole {
            self.exists(folder.lanes, "u32");
        }
        let folded = (0..self.kernel.vectors)
            .flat_map(|vector| phase.folds.iter().map(move |fold| (vector, fold.value)));
        let parts = folded.zip(values.parts()).map(|((vector, value), part)| {
            let value = part.folded(self.value(value, vector));
            match folder.whole {
                true => value,
                false => format!("select({}, {value}, exists{})", part.identity(), self.suffix(vector)),
            }
        });
        let parts: Vec<String> = parts.collect();
        line!(self.text, "    return {};", values.of(parts));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that stores the elements at a place of the row.
    fn give(&mut self, folder: &RowFolder) -> Result<()> {
        let (kernel, saved) = (self.kernel, folder.saved_value());
        let (own, read) = self.needs(folder, kernel.results.iter().copied(), saved);
        let mut parameters = self.of_row(folder, &read, true);
        parameters.push("at: u32".into());
        if folder.lanes == Lanes::Anywhere {
            parameters.push("i: u32".into());
        }
        line!(self.text, "fn give({}) {{", parameters.join(", "));
        self.row_elements(folder, false);
        self.zeros();
        saved.into_iter().for_each(|value| self.load_saved(value));
        self.wanted(&own)?;
        self.row_stores(folder, &kernel.results, "    ");
        line!(self.text, "}}\n");
        Ok(())
    }

    /// Loads what a phase stored.
    fn load_saved(&mut self, value: Value) {
        let kernel = self.kernel;
        let dtype = kernel.value_type(value);
        for vector in 0..if self.shared[value] { 1 } else { kernel.vectors } {
            let word = format!("{}[{}]", result(0), self.stored_place(vector));
            let (name, raw) = (self.value(value, vector), unpack(dtype, kernel.wide_words, word));
            line!(self.text, "    let {name} = {};", decode(dtype, raw));
        }
    }

    /// Where a vector of results is stored, of the elements at a place of a row.
    fn stored_place(&self, vector: u32) -> String {
        let terms = (0..self.kernel.rank - 1).filter_map(|axis| self.term(Role::Out, axis, 0));
        terms.chain([self.place_of_vector("x", vector)]).collect::<Vec<_>>().join(" + ")
    }

    /// The entry point, and the coordinates of a row.
    fn rows_head(&mut self, folder: &RowFolder) {
        let kernel = self.kernel;
        let team = folder.team;
        let of =
            |(number, phase): (usize, &Phase)| (Values::of_phase(number, phase, kernel.vectors), phase.turns);
        let phases: Vec<(Values, Turns)> = folder.phases.iter().enumerate().map(of).collect();
        let places = self.declare_held(phases.iter().map(|(values, turns)| (values, *turns)));
        self.entry(team > 1, places);
        let mut rest = "i".to_string();
        match folder.lanes {
            Lanes::Run if team > 1 => {
                line!(self.text, "    let member = i % {team}u;");
                // What is past the end folds what is there and stores nothing, as all meet at barriers.
                rest = format!("(min(i, p.count - 1u) / {team}u)");
            }
            Lanes::Anywhere => {
                line!(self.text, "    if (i * {LANES}u >= p.count) {{ return; }}");
                let last = "vec4<u32>(p.count - 1u)";
                line!(self.text, "    let element_index = min(i * {LANES}u + {EACH}, {last});");
                rest = "element_index".into();
            }
            _ => line!(self.text, "    if (i >= p.count) {{ return; }}"),
        }
        let inner = kernel.rank - 1;
        let kept: Vec<usize> = (0..kernel.rank).rev().filter(|&axis| folder.keeps(axis)).collect();
        for &axis in &kept {
            let (name, by) = match folder.lanes {
                Lanes::Kept if axis == inner => ("x".to_string(), "p.columns".to_string()),
                _ => (format!("c{axis}"), format!("p.len{axis}")),
            };
            if Some(&axis) == kept.last() {
                line!(self.text, "    let {name} = {rest};");
            } else {
                division(self.text, &name, &by, &mut rest);
            }
        }
        if folder.lanes == Lanes::Kept {
            self.lane();
        }
    }

    /// What is of the row and known from a phase on.
    fn known(&mut self, folder: &RowFolder, phase: usize) -> Result<()> {
        let kernel = self.kernel;
        let is_folded = |i: usize| kernel.operands[i].origin == Origin::Row(i);
        self.wanted(&folder.of_row.map(|value, &of_row| {
            of_row && folder.from[value] == phase && !value.input().is_some_and(is_folded)
        }))
    }

    /// A turn through a row: what each invocation of a team folds of it, then across these, and across lanes where
    /// these lie along the row.
    fn row_turn(&mut self, folder: &RowFolder, number: usize, phase: &Phase) {
        let values = Values::of_phase(number, phase, self.kernel.vectors);
        let (_, read) = self.needs(folder, phase.folds.iter().map(|fold| fold.value), None);
        let begin = if folder.team > 1 { "member" } else { "0u" };
        let arguments = self.of_row(folder, &read, false).into_iter().chain([begin.into()]);
        let own = format!("f{number}");
        line!(self.text, "    var {own} = {};", values.folded(arguments));
        if folder.team > 1 {
            self.meet(&values, folder.team, &own);
            self.share(&values, &own);
        }
        if folder.lanes == Lanes::Run {
            self.across_pair(&values, &own);
            self.across_lanes(&values, &own);
        }
        for (i, (fold, part)) in phase.folds.iter().zip(values.parts()).enumerate() {
            let given = narrow(fold.element, part.given(format!("{own}.v{i}")));
            line!(self.text, "    let v{} = {given};", self.number(fold.gives));
        }
    }

    /// Stores what is made of a row.
    fn results(&mut self, folder: &RowFolder) {
        let guarded = folder.team > 1;
        if folder.kept {
            if guarded {
                line!(self.text, "    if (member == 0u && i < p.count) {{");
            }
            self.row_stores(folder, &self.kernel.results, if guarded { "        " } else { "    " });
            if guarded {
                line!(self.text, "    }}");
            }
            return;
        }
        let saved = folder.saved_value();
        let (_, read) = self.needs(folder, self.kernel.results.iter().copied(), saved);
        let mut arguments = self.of_row(folder, &read, false);
        let place = arguments.len();
        arguments.push(String::new());
        if folder.lanes == Lanes::Anywhere {
            arguments.push("i".into());
        }
        if guarded {
            line!(self.text, "    if (i >= p.count) {{ return; }}");
        }
        let begin = if guarded { "member" } else { "0u" };
        let pitch = self.pitch();
        let end = match folder.lanes {
            Lanes::Run => format!("(p.run + {}u) / {pitch}u", pitch - 1),
            _ => "p.run".to_string(),
        };
        let (team, stores) = (folder.team, folder.stores);
        // What is past the end may store the last once more, but not what is made of that where it is stored.
        let repeats = team == 1 && folder.saved.is_none();
        line!(self.text, "    let end = {end};");
        line!(self.text, "    for (var turn = {begin}; turn < end; turn += {}u) {{", team * stores);
        for k in 0..stores {
            arguments[place] = match k {
                0 => "turn".into(),
                _ if repeats => format!("min(turn + {k}u, end - 1u)"),
                _ => format!("turn + {}u", k * team),
            };
            let call = format!("give({});", arguments.join(", "));
            match k {
                _ if k == 0 || repeats => line!(self.text, "        {call}"),
                _ => line!(self.text, "        if ({} < end) {{ {call} }}", arguments[place]),
            }
        }
        line!(self.text, "    }}");
    }

    /// The stores of values as results: of the elements at a place of a row, or of what there is one of.
    fn row_stores(&mut self, folder: &RowFolder, values: &[Value], indent: &str) {
        let kernel = self.kernel;
        let (dtype, inner) = (kernel.out, kernel.rank - 1);
        for (k, &value) in values.iter().enumerate() {
            let array = result(k);
            let text = |vector: u32| {
                let own = self.value(value, vector);
                match kernel.value_type(value) {
                    // What is stored by whole words is that type's value already, but for truths.
                    of if of == dtype || of == DType::Bool => encode(of, &own),
                    _ => own,
                }
            };
            let (first, rest) = (text(0), (1..kernel.vectors).map(text).collect::<Vec<_>>());
            let axes = |count: usize| {
                let terms = (0..count).filter_map(|axis| self.term(Role::Out, axis, 0));
                terms.collect::<Vec<_>>().join(" + ")
            };
            let sum = |terms: String, more: &str| match (terms.is_empty(), more) {
                (true, "") => "0u".to_string(),
                (true, more) => more.to_string(),
                (false, "") => terms,
                (false, more) => format!("{terms} + {more}"),
            };
            match (folder.lanes, kernel.store) {
                (Lanes::Run, _) if folder.kept => {
                    line!(self.text, "{indent}{array}[{}] = ({first}).x;", sum(axes(inner), ""));
                }
                (Lanes::Anywhere, Store::Vector) => {
                    line!(self.text, "{indent}{array}[i] = {};", pack(dtype, kernel.wide_words, first));
                }
                (_, Store::Vector) => {
                    for (vector, text) in (0..).zip([first].into_iter().chain(rest)) {
                        let (place, word) = (self.stored_place(vector), pack(dtype, kernel.wide_words, text));
                        line!(self.text, "{indent}{array}[{place}] = {word};");
                    }
                }
                _ => {
                    line!(self.text, "{indent}let place{k} = vec4<u32>({});", sum(axes(inner + 1), ""));
                    line!(self.text, "{indent}let value{k} = {first};");
                    for (n, c) in "xyzw".chars().enumerate() {
                        let store = format!("{array}[place{k}.{c}] = value{k}.{c};");
                        match (n, folder.lanes) {
                            (0, _) => line!(self.text, "{indent}{store}"),
                            (_, Lanes::Anywhere) => {
                                let exists = format!("i * {LANES}u + {n}u < p.count");
                                line!(self.text, "{indent}if ({exists}) {{ {store} }}");
                            }
                            _ => line!(self.text, "{indent}if (first + {n}u < p.len{inner}) {{ {store} }}"),
                        }
                    }
                }
            }
        }
    }
}
