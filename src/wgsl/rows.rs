//! Kernels that compute rows to their end: for each turn through a row a function of its elements, and around
//! them what makes one value of many; then what is stored.

use super::emit::{Emitter, line, result};
use super::fold::{EACH, constant, division};
use super::types::{compute, encode, lanes, narrow, pack};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{Fold, Value};
use crate::plan::{LANES, Lanes, Origin, Phase, PhaseFold, Role, RowFolder, Store, Turns};

impl Emitter<'_> {
    pub(super) fn rows(&mut self, folder: &RowFolder) -> Result<()> {
        for (number, phase) in folder.phases.iter().enumerate() {
            self.values_struct(number, phase);
            self.row_element(folder, number, phase)?;
            self.combine_phase(number, phase)?;
            if folder.team > 1 {
                let shared = format!("array<Values{number}, {}>", self.kernel.workgroup[0]);
                line!(self.text, "var<workgroup> shared{number}: {shared};\n");
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

    /// What a phase folds side by side.
    fn values_struct(&mut self, number: usize, phase: &Phase) {
        line!(self.text, "struct Values{number} {{");
        for (i, fold) in phase.folds.iter().enumerate() {
            line!(self.text, "    v{i}: {},", lanes(ranks(fold).unwrap_or(fold.element)));
        }
        line!(self.text, "}}\n");
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
    fn needs(&self, folder: &RowFolder, values: impl Iterator<Item = Value>) -> (Vec<bool>, Vec<Value>) {
        let inputs = self.kernel.operands.len();
        let mut needed = vec![false; inputs + self.kernel.steps.len()];
        values.for_each(|value| needed[value as usize] = true);
        for value in (inputs..needed.len()).rev() {
            if needed[value] && !folder.of_row[value] {
                self.kernel.steps[value - inputs].args.iter().for_each(|&arg| needed[arg as usize] = true);
            }
        }
        let is_scalar = |value: usize| {
            self.kernel.operands.get(value).is_some_and(|operand| operand.origin == Origin::Scalar)
        };
        let of_row = |value: usize| folder.of_row[value] && !is_scalar(value);
        let read = (0..needed.len()).filter(|&value| needed[value] && of_row(value));
        let read = read.map(|value| value as Value).collect();
        let own = (0..needed.len()).map(|value| needed[value] && !of_row(value)).collect();
        (own, read)
    }

    /// Parameters of a function of the elements of a row, or what is given for them.
    fn of_row(&self, folder: &RowFolder, read: &[Value], declares: bool) -> Vec<String> {
        let kept = self.places_of_row(folder).into_iter().map(|name| match declares {
            true => format!("{name}: {}", Self::row_place(folder)),
            false => name,
        });
        let values = read.iter().map(|&value| match declares {
            true => format!("v{value}: {}", lanes(self.kernel.value_type(value))),
            false => format!("v{value}"),
        });
        kept.chain(values).collect()
    }

    /// Loads and steps of the values that are wanted.
    fn wanted(&mut self, wanted: &[bool]) -> Result<()> {
        let kernel = self.kernel;
        for (i, operand) in kernel.operands.iter().enumerate().filter(|&(i, _)| wanted[i]) {
            self.load(i, operand, 0)?;
        }
        let inputs = kernel.operands.len();
        for (value, step) in (inputs..).zip(&kernel.steps).filter(|&(value, _)| wanted[value]) {
            let text = self.step(value as Value, step, 0)?;
            line!(self.text, "    let v{value} = {text};");
        }
        Ok(())
    }

    /// The coordinates of the elements at a place of the row.
    fn row_elements(&mut self, folder: &RowFolder, is_padded: bool) {
        let inner = self.kernel.rank - 1;
        let vectors = folder.lanes == Lanes::Run;
        let last = if vectors { format!("(p.run - 1u) / {LANES}u") } else { "p.run - 1u".to_string() };
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
            let length = if vectors && axis == inner { format!("({length} / {LANES}u)") } else { length };
            division(self.text, &name, &length, &mut rest);
        }
        if folder.lanes != Lanes::Anywhere {
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
    fn row_element(&mut self, folder: &RowFolder, number: usize, phase: &Phase) -> Result<()> {
        let (own, read) = self.needs(folder, phase.folds.iter().map(|fold| fold.value));
        let mut parameters = self.of_row(folder, &read, true);
        parameters.push("at: u32".into());
        line!(self.text, "fn element{number}({}) -> Values{number} {{", parameters.join(", "));
        self.row_elements(folder, !folder.whole);
        self.zeros();
        self.wanted(&own)?;
        if !folder.whole {
            let exists = match folder.lanes {
                Lanes::Run => format!("(at * {LANES}u + {EACH}) < vec4<u32>(p.run)"),
                Lanes::Kept | Lanes::Anywhere => "vec4<bool>(at < p.run)".to_string(),
            };
            line!(self.text, "    let exists = {exists};");
        }
        let part = |fold: &PhaseFold| {
            let value = ranked(fold, format!("v{}", fold.value));
            if folder.whole {
                return value;
            }
            let identity = ranked(fold, constant(fold.element, &format!("p.identity{}", fold.number)));
            format!("select({identity}, {value}, exists)")
        };
        let parts: Vec<String> = phase.folds.iter().map(part).collect();
        line!(self.text, "    return Values{number}({});", parts.join(", "));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that makes one of two.
    fn combine_phase(&mut self, number: usize, phase: &Phase) -> Result<()> {
        line!(self.text, "fn combine{number}(a: Values{number}, b: Values{number}) -> Values{number} {{");
        let mut parts = Vec::new();
        for (i, fold) in phase.folds.iter().enumerate() {
            let Some(form) = fold.fold.form(ranks(fold).unwrap_or(fold.element)) else {
                bail!(Kernel, "{} takes no {}", fold.fold.name(), fold.element)
            };
            let text = form.wgsl.replace("{T}", compute(fold.element));
            let value = text.replace("{a}", &format!("a.v{i}")).replace("{b}", &format!("b.v{i}"));
            // Nothing may reorder the sums, nor contract a product into one.
            parts.push(match fold.fold.is_ordered(fold.element) {
                true => format!("opaque_{}({value})", compute(fold.element)),
                false => value,
            });
        }
        line!(self.text, "    return Values{number}({});", parts.join(", "));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that stores the elements at a place of the row.
    fn give(&mut self, folder: &RowFolder) -> Result<()> {
        let kernel = self.kernel;
        let (own, read) = self.needs(folder, kernel.results.iter().copied());
        let mut parameters = self.of_row(folder, &read, true);
        parameters.push("at: u32".into());
        if folder.lanes == Lanes::Anywhere {
            parameters.push("i: u32".into());
        }
        line!(self.text, "fn give({}) {{", parameters.join(", "));
        self.row_elements(folder, false);
        self.zeros();
        self.wanted(&own)?;
        self.row_stores(folder, "    ");
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The entry point, and the coordinates of a row.
    fn rows_head(&mut self, folder: &RowFolder) {
        let kernel = self.kernel;
        let team = folder.team;
        line!(self.text, "@compute @workgroup_size({})", kernel.workgroup[0]);
        let local = if team > 1 { ", @builtin(local_invocation_index) local: u32" } else { "" };
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>{local}) {{");
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
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
        let is_folded = |i: usize| matches!(kernel.operands.get(i), Some(o) if o.origin == Origin::Row(i));
        let wanted: Vec<bool> = (0..folder.of_row.len())
            .map(|i| folder.of_row[i] && folder.from[i] == phase && !is_folded(i))
            .collect();
        self.wanted(&wanted)
    }

    /// A turn through a row: by halves, of which each invocation of a team has its own, then across these,
    /// and across lanes where these lie along the row.
    fn row_turn(&mut self, folder: &RowFolder, number: usize, phase: &Phase) {
        let (straight, team) = (phase.straight, folder.team);
        let (_, read) = self.needs(folder, phase.folds.iter().map(|fold| fold.value));
        let arguments = self.of_row(folder, &read, false);
        let call = |at: String| {
            let mut arguments = arguments.clone();
            arguments.push(at);
            format!("element{number}({})", arguments.join(", "))
        };
        line!(self.text, "    var f{number}: Values{number};");
        line!(self.text, "    {{");
        let mut indent = "        ".to_string();
        line!(self.text, "{indent}let turns = p.block / {}u;", straight * team);
        let mut place: Vec<String> = Vec::new();
        let loops: Vec<String> = match phase.turns {
            Turns::One => Vec::new(),
            Turns::AnyOrder => {
                place.push("j".into());
                vec!["for (var j = 0u; j < turns; j++)".into()]
            }
            // What is combined last is the outermost loop. An array of what is to be combined would do with one
            // loop, but compilers that have no addresses of registers make a tree of branches of each access.
            Turns::Halves { levels } => (0..levels)
                .rev()
                .map(|level| {
                    place.push(format!("j{level} * (turns >> {}u)", level + 1));
                    let end = format!("clamp(turns >> {level}u, 1u, 2u)");
                    format!("for (var j{level} = 0u; j{level} < {end}; j{level}++)")
                })
                .collect(),
        };
        for (level, head) in (0..loops.len()).rev().zip(&loops) {
            if phase.turns != Turns::AnyOrder {
                line!(self.text, "{indent}var s{level}: Values{number};");
            }
            line!(self.text, "{indent}{head} {{");
            indent.push_str("    ");
        }
        let begin = if team > 1 { "member" } else { "0u" };
        let at = match (place.is_empty(), team) {
            (true, _) => begin.to_string(),
            (false, 1) => place.join(" + "),
            (false, _) => format!("{begin} + ({}) * {team}u", place.join(" + ")),
        };
        line!(self.text, "{indent}let at = {at};");
        for k in 0..straight {
            let more = if k == 0 { String::new() } else { format!(" + {}u * turns", k * team) };
            line!(self.text, "{indent}let a{k} = {};", call(format!("at{more}")));
        }
        let (mut half, mut name) = (straight / 2, "a".to_string());
        while half > 0 {
            let next = format!("{name}h");
            for k in 0..half {
                let (low, high) = (format!("{name}{k}"), format!("{name}{}", k + half));
                line!(self.text, "{indent}let {next}{k} = combine{number}({low}, {high});");
            }
            (half, name) = (half / 2, next);
        }
        let mut value = format!("{name}0");
        let own = format!("f{number}");
        for level in 0..loops.len() {
            let (turn, sum) = match phase.turns {
                Turns::AnyOrder => ("j".to_string(), own.clone()),
                _ => (format!("j{level}"), format!("s{level}")),
            };
            line!(self.text, "{indent}let next = {value};");
            line!(self.text, "{indent}if ({turn} == 0u) {{");
            line!(self.text, "{indent}    {sum} = next;");
            line!(self.text, "{indent}}} else {{");
            line!(self.text, "{indent}    {sum} = combine{number}({sum}, next);");
            line!(self.text, "{indent}}}");
            indent.truncate(indent.len() - 4);
            line!(self.text, "{indent}}}");
            value = sum;
        }
        if value != own {
            line!(self.text, "{indent}{own} = {value};");
        }
        line!(self.text, "    }}");
        if team > 1 {
            line!(self.text, "    shared{number}[local] = f{number};");
            line!(self.text, "    for (var half = {}u; half > 0u; half = half / 2u) {{", team / 2);
            line!(self.text, "        workgroupBarrier();");
            line!(self.text, "        if (member < half) {{");
            let both = format!("combine{number}(f{number}, shared{number}[local + half])");
            line!(self.text, "            f{number} = {both};");
            line!(self.text, "            shared{number}[local] = f{number};");
            line!(self.text, "        }}");
            line!(self.text, "    }}");
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    f{number} = shared{number}[local - member];");
        }
        if folder.lanes == Lanes::Run {
            for turned in ["zwxy", "yxwz"] {
                let turned: Vec<String> =
                    (0..phase.folds.len()).map(|i| format!("f{number}.v{i}.{turned}")).collect();
                let other = format!("Values{number}({})", turned.join(", "));
                line!(self.text, "    f{number} = combine{number}(f{number}, {other});");
            }
        }
        for (i, fold) in phase.folds.iter().enumerate() {
            let folded = folded(fold, format!("f{number}.v{i}"));
            line!(self.text, "    let v{} = {folded};", fold.gives);
        }
    }

    /// Stores what is made of a row.
    fn results(&mut self, folder: &RowFolder) {
        let guarded = folder.team > 1;
        if folder.kept {
            if guarded {
                line!(self.text, "    if (member == 0u && i < p.count) {{");
            }
            self.row_stores(folder, if guarded { "        " } else { "    " });
            if guarded {
                line!(self.text, "    }}");
            }
            return;
        }
        let (_, read) = self.needs(folder, self.kernel.results.iter().copied());
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
        let end = match folder.lanes {
            Lanes::Run => format!("(p.run + {}u) / {LANES}u", LANES - 1),
            _ => "p.run".to_string(),
        };
        let (team, stores) = (folder.team, folder.stores);
        line!(self.text, "    let end = {end};");
        line!(self.text, "    for (var turn = {begin}; turn < end; turn += {}u) {{", team * stores);
        for k in 0..stores {
            arguments[place] = match (k, team) {
                (0, _) => "turn".into(),
                // What is past the end stores the last once more.
                (_, 1) => format!("min(turn + {k}u, end - 1u)"),
                _ => format!("turn + {}u", k * team),
            };
            let call = format!("give({});", arguments.join(", "));
            match (k, team) {
                (0, _) | (_, 1) => line!(self.text, "        {call}"),
                _ => line!(self.text, "        if ({} < end) {{ {call} }}", arguments[place]),
            }
        }
        line!(self.text, "    }}");
    }

    /// The stores of the results: of the elements at a place of a row, or of what there is one of.
    fn row_stores(&mut self, folder: &RowFolder, indent: &str) {
        let kernel = self.kernel;
        let (dtype, inner) = (kernel.out, kernel.rank - 1);
        for (k, &value) in kernel.results.iter().enumerate() {
            let array = result(k);
            let own = format!("v{value}");
            let text = match kernel.value_type(value) {
                // What is stored by whole words is that type's value already, but for truths.
                of if of == dtype || of == DType::Bool => encode(of, &own),
                _ => own,
            };
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
                    line!(self.text, "{indent}{array}[{}] = ({text}).x;", sum(axes(inner), ""));
                }
                (Lanes::Anywhere, Store::Vector) => {
                    line!(self.text, "{indent}{array}[i] = {};", pack(dtype, kernel.wide_words, text));
                }
                (_, Store::Vector) => {
                    let at = sum(axes(inner), "x");
                    line!(self.text, "{indent}{array}[{at}] = {};", pack(dtype, kernel.wide_words, text));
                }
                _ => {
                    line!(self.text, "{indent}let place{k} = vec4<u32>({});", sum(axes(inner + 1), ""));
                    line!(self.text, "{indent}let value{k} = {text};");
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

/// The type of the ranks that stand for floats where their order is what counts.
fn ranks(fold: &PhaseFold) -> Option<DType> {
    super::fold::ranks_of(fold.fold, fold.element)
}

/// A value as it is folded.
fn ranked(fold: &PhaseFold, value: String) -> String {
    match ranks(fold) {
        Some(_) => format!("{}_rank_{}({value})", fold.fold.name(), compute(fold.element)),
        None => value,
    }
}

/// What a fold gives, as steps read it.
fn folded(fold: &PhaseFold, value: String) -> String {
    match ranks(fold) {
        Some(_) => format!("of_rank_{}({value})", compute(fold.element)),
        // A zero of a sum is +0.
        None if fold.fold == Fold::Sum && fold.element.kind() == Kind::Float => {
            format!("positive_zero_{}({value})", compute(fold.element))
        }
        None => narrow(fold.element, value),
    }
}
