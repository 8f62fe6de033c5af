//! Kernels that reduce rows: for each phase a function of the elements of a row and one that accumulates them; around these
//! what invocations of a group make of theirs; and then what is stored.

use super::combine::Values;
use super::emitter::Emitter;
use super::text::{EACH, line, result};
use super::types::{encode, lanes, narrow, pack};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{ByValue, Value, needed};
use crate::plan::{LANES, Origin, Output, Phase, Reduce, Role, Store, VectorAxis};

/// A place that is divided out of an index: its name, the number that divides, and what goes with that.
pub(super) struct Coordinate {
    name: String,
    length: String,
    divider: String,
    /// Whether the length may be 1, which has no factor.
    may_be_one: bool,
}

impl Coordinate {
    pub(super) fn of(name: &str, number: &str) -> Coordinate {
        let divider = format!("p.{number}_factor, p.{number}_shift");
        Coordinate { name: name.into(), length: format!("p.{number}"), divider, may_be_one: true }
    }

    pub(super) fn axis(axis: usize) -> Coordinate {
        let divider = format!("p.factor{axis}, p.shift{axis}");
        Coordinate { name: format!("c{axis}"), length: format!("p.len{axis}"), divider, may_be_one: false }
    }

    /// The same by another name.
    pub(super) fn called(self, name: String) -> Coordinate {
        Coordinate { name, ..self }
    }
}

impl Emitter<'_> {
    pub(super) fn reduce(&mut self, reduce: &Reduce) -> Result<()> {
        let phases: Vec<(&Phase, Values)> = reduce
            .phases
            .iter()
            .enumerate()
            .map(|(number, phase)| (phase, Values::of_phase(number, phase)))
            .collect();
        for (number, (phase, values)) in phases.iter().enumerate() {
            self.values(values)?;
            self.element(reduce, number, phase, values)?;
            let read = self.needs(reduce, phase.values()).1;
            let parameters = [true, false].map(|declares| self.of_row(reduce, &read, declares));
            self.accumulate(values, phase, &reduce.tile, (&parameters[0], &parameters[1]));
            if reduce.tile.meets {
                self.declare_shared(values);
            }
        }
        if let Output::Elements { .. } = reduce.output {
            self.give(reduce)?;
        }
        self.reduce_head(reduce);
        self.zeros();
        for (number, (phase, values)) in phases.iter().enumerate() {
            self.known(reduce, number)?;
            self.reduce_phase(reduce, number, phase, values);
        }
        match reduce.output {
            Output::Partials => self.store_partials(reduce, &phases),
            output => {
                self.known(reduce, phases.len())?;
                self.reduced(reduce, output);
            }
        }
        line!(self.text, "}}");
        Ok(())
    }

    /// The coordinates of a row, as parameters or arguments.
    fn places_of_row(&self, reduce: &Reduce) -> Vec<String> {
        let is_lane = |axis: usize| reduce.vector_axis == VectorAxis::Kept && axis + 1 == self.kernel.rank;
        let kept = (0..self.kernel.rank).filter(|&axis| reduce.keeps(axis));
        kept.map(|axis| if is_lane(axis) { "x".to_string() } else { format!("c{axis}") }).collect()
    }

    /// What some values of elements are made of: which values are computed for each element, and which of the
    /// row are read.
    fn needs(&self, reduce: &Reduce, values: impl Iterator<Item = Value>) -> (ByValue<bool>, Vec<Value>) {
        let (operands, steps) = (&self.kernel.operands, &self.kernel.steps);
        let needed = needed(operands.len(), steps, values, |value| reduce.of_row[value]);
        // Constants, and tables, are read where they are.
        let is_no_value = |i: usize| operands[i].origin == Origin::Scalar || !operands[i].computed.is_empty();
        let of_row = |value: Value| reduce.of_row[value] && !value.input().is_some_and(is_no_value);
        let own = needed.map(|value, &needed| needed && !of_row(value));
        (own, needed.which().filter(|&value| of_row(value)).collect())
    }

    /// Parameters of a function of the elements of a row, or what is given for them.
    fn of_row(&self, reduce: &Reduce, read: &[Value], declares: bool) -> Vec<String> {
        let place = if reduce.vector_axis == VectorAxis::Gathered { "vec4<u32>" } else { "u32" };
        let kept = self.places_of_row(reduce).into_iter().map(|name| match declares {
            true => format!("{name}: {place}"),
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

    /// Divides places out of an index, the innermost first; the last takes what is left.
    pub(super) fn divide_out(&mut self, index: &str, is_vector: bool, places: Vec<Coordinate>) {
        let mut rest = index.to_string();
        let count = places.len();
        for (k, Coordinate { name, length, divider, may_be_one }) in places.into_iter().enumerate() {
            if k + 1 == count {
                line!(self.text, "    let {name} = {rest};");
                break;
            }
            let quotient = match (may_be_one, is_vector) {
                (true, _) => "share",
                (false, true) => "quotients",
                (false, false) => "quotient",
            };
            line!(self.text, "    let q_{name} = {quotient}({rest}, {divider});");
            line!(self.text, "    let {name} = {rest} - q_{name} * {length};");
            rest = format!("q_{name}");
        }
    }

    /// The coordinates of the elements at a place of the row.
    fn elements_of_row(&mut self, reduce: &Reduce, is_masked: bool) {
        let inner = self.kernel.rank - 1;
        let is_along = reduce.vector_axis == VectorAxis::Reduced;
        let last = if is_along { format!("(p.row - 1u) / {LANES}u") } else { "p.row - 1u".to_string() };
        let inside = if is_masked { format!("min(at, {last})") } else { "at".to_string() };
        let is_vector = reduce.vector_axis == VectorAxis::Gathered;
        let inside = if is_vector { format!("vec4<u32>({inside})") } else { inside };
        let places = reduce.axes.clone().rev().map(|axis| match is_along && axis == inner {
            true => Coordinate::of("x", "vectors"),
            false => Coordinate::axis(axis),
        });
        self.divide_out(&inside, is_vector, places.collect());
        self.lane(reduce);
    }

    /// The lanes of vector `x`.
    fn lane(&mut self, reduce: &Reduce) {
        if self.kernel.has_lanes(reduce) {
            let inner = self.kernel.rank - 1;
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
        }
    }

    /// The function of a place in the row that gives what a phase reduces. Past the end it loads what is there
    /// and gives the identity.
    fn element(&mut self, reduce: &Reduce, number: usize, phase: &Phase, values: &Values) -> Result<()> {
        let (own, read) = self.needs(reduce, phase.values());
        let mut parameters = self.of_row(reduce, &read, true);
        parameters.push("at: u32".into());
        line!(self.text, "fn element{number}({}) -> {} {{", parameters.join(", "), values.name());
        self.elements_of_row(reduce, reduce.masked);
        self.zeros();
        self.wanted(&own)?;
        let is_along = reduce.vector_axis == VectorAxis::Reduced;
        if reduce.masked {
            let exists = match is_along {
                true => format!("(at * {LANES}u + {EACH}) < vec4<u32>(p.row)"),
                false => "vec4<bool>(at < p.row)".into(),
            };
            line!(self.text, "    let exists = {exists};");
        }
        let masked = |value: String, identity: String| match reduce.masked {
            true => format!("select({identity}, {value}, exists)"),
            false => value,
        };
        let mut parts = Vec::new();
        for (own, part) in phase.reductions.iter().zip(values.parts()) {
            parts.push(masked(part.ranked(self.value(own.value, 0)), part.identity()));
            if part.gives_index() {
                let index = match own.index {
                    Some(index) => self.value(index, 0),
                    None if is_along => format!("at * {LANES}u + {EACH}"),
                    None => "vec4<u32>(at)".into(),
                };
                parts.push(masked(index, "vec4<u32>(0xffffffffu)".into()));
            }
        }
        line!(self.text, "    return {};", values.of(parts));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that stores the elements at a place of the row.
    fn give(&mut self, reduce: &Reduce) -> Result<()> {
        let (own, read) = self.needs(reduce, self.kernel.results.iter().copied());
        let mut parameters = self.of_row(reduce, &read, true);
        parameters.push("at: u32".into());
        if reduce.vector_axis == VectorAxis::Gathered {
            parameters.push("item: u32".into());
        }
        line!(self.text, "fn give({}) {{", parameters.join(", "));
        self.elements_of_row(reduce, false);
        self.zeros();
        self.wanted(&own)?;
        self.store_results(reduce, "    ");
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The entry point, and the place of an invocation: what it has, `item`, its number in a group, `member`, and the
    /// coordinates of the row and of the block.
    fn reduce_head(&mut self, reduce: &Reduce) {
        let (tile, workgroup) = (reduce.tile, self.kernel.workgroup[0]);
        line!(self.text, "@compute @workgroup_size({workgroup})");
        let local = if tile.meets { ", @builtin(local_invocation_index) local: u32" } else { "" };
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>{local}) {{");
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
        let beside = tile.beside;
        match (tile.meets, reduce.vector_axis) {
            (false, _) => {
                line!(self.text, "    if (i >= p.count) {{ return; }}");
                line!(self.text, "    let item = i;");
            }
            // Past the end they reduce what is there and store nothing, as all meet at barriers.
            (true, VectorAxis::Reduced) => {
                line!(self.text, "    let member = local % {}u;", tile.group());
                line!(self.text, "    let item = min(i / {}u, p.count - 1u);", tile.group());
                line!(self.text, "    let is_own = (member == 0u) & (i / {}u < p.count);", tile.group());
            }
            // Neighbours lie in neighbouring rows, which lie side by side in memory.
            (true, _) => {
                line!(self.text, "    let member = local / {beside}u;");
                line!(self.text, "    let own_item = i / {workgroup}u * {beside}u + local % {beside}u;");
                line!(self.text, "    let item = min(own_item, p.count - 1u);");
                line!(self.text, "    let is_own = (member == 0u) & (own_item < p.count);");
            }
        }
        let mut places = Vec::new();
        if reduce.vector_axis != VectorAxis::Reduced {
            places.push(Coordinate::of("x", "columns"));
        }
        if reduce.output == Output::Partials {
            places.push(Coordinate::of("position", "positions"));
        }
        let is_gathered = reduce.vector_axis == VectorAxis::Gathered;
        let last = self.kernel.rank - usize::from(reduce.vector_axis == VectorAxis::Kept);
        let kept = || (0..last).rev().filter(|&axis| reduce.keeps(axis)).map(Coordinate::axis);
        if !is_gathered {
            places.extend(kept());
        }
        self.divide_out("item", false, places);
        if is_gathered {
            line!(self.text, "    let element_index = min(x * {LANES}u + {EACH}, vec4<u32>(p.rows - 1u));");
            self.divide_out("element_index", true, kept().collect());
        }
        if reduce.vector_axis == VectorAxis::Kept {
            self.lane(reduce);
        }
    }

    /// What is of the row and known from a phase on.
    fn known(&mut self, reduce: &Reduce, phase: usize) -> Result<()> {
        let kernel = self.kernel;
        let is_given = |i: usize| kernel.operands[i].origin == Origin::Row(i);
        self.wanted(&reduce.of_row.map(|value, &of_row| {
            of_row && reduce.from[value] == phase && !value.input().is_some_and(is_given)
        }))
    }

    /// A phase: what each invocation accumulates, and what these make of it.
    fn reduce_phase(&mut self, reduce: &Reduce, number: usize, phase: &Phase, values: &Values) {
        let tile = reduce.tile;
        let read = self.needs(reduce, phase.values()).1;
        let row = self.of_row(reduce, &read, false);
        let is_along = reduce.vector_axis == VectorAxis::Reduced;
        let (block, own) = (tile.block, format!("f{number}"));
        // Members of a group have neighbouring rows beside them where lanes lie across these.
        let (lanes, apart) = (tile.lanes(), if is_along { 1 } else { tile.beside });
        let is_partial = reduce.output == Output::Partials;
        if tile.meets && tile.blocks > 1 && number == 0 {
            line!(self.text, "    let lane_of = member % {lanes}u;");
            line!(self.text, "    let block = member / {lanes}u;");
        }
        // The block that an invocation reads of several, and the first of its vectors there.
        let (of_block, lane) = match (is_partial, tile.meets, tile.blocks) {
            (true, true, _) => (Some("position".to_string()), Some("member".to_string())),
            (true, false, _) if tile.left() == 1 => (Some("position".into()), None),
            (true, false, _) => {
                let (shift, mask) = (tile.left().ilog2(), tile.left() - 1);
                (Some(format!("(position >> {shift}u)")), Some(format!("(position & {mask}u)")))
            }
            (false, true, 1) => (None, Some("member".into())),
            (false, true, _) => (Some("block".into()), Some("lane_of".into())),
            (false, false, 1) => (None, None),
            (false, false, _) => (Some("block".into()), None),
        };
        let end = if is_along { format!("(p.row + {}u) / {LANES}u", LANES - 1) } else { "p.row".to_string() };
        let end = match &of_block {
            Some(of_block) => format!("min(({of_block} + 1u) * {block}u, {end})"),
            None => end,
        };
        let begin = of_block.map(|of_block| format!("{of_block} * {block}u")).into_iter().chain(lane.clone());
        let begin = begin.collect::<Vec<_>>().join(" + ");
        let places = [if begin.is_empty() { "0u".into() } else { begin }, end];
        let places = &places[..if phase.is_loop { 2 } else { 1 }];
        let arguments: Vec<&str> = row.iter().chain(places).map(String::as_str).collect();
        let accumulated = format!("accumulate{number}({})", arguments.join(", "));
        if !is_partial && !tile.meets && tile.blocks > 1 {
            self.blocks(values, tile.blocks, |emitter, indent| {
                line!(emitter.text, "{indent}var own{number} = {accumulated};");
                if is_along {
                    emitter.across_lanes(values, indent, &format!("own{number}"));
                }
            });
        } else {
            line!(self.text, "    var {own} = {accumulated};");
            if let Some(lane) = lane.filter(|_| tile.meets) {
                self.meet(values, &own, &lane, (lanes, apart));
            }
            if is_along {
                self.across_lanes(values, "    ", &own);
            }
        }
        if tile.meets && tile.blocks > 1 {
            self.meet(values, &own, "block", (tile.blocks, lanes * apart));
        }
        let is_last = number + 1 == reduce.phases.len() && reduce.output == Output::OnePerRow;
        if tile.meets && !is_partial && !is_last {
            let place = if apart == 1 { "member".into() } else { format!("member * {apart}u") };
            self.share(values, &own, &place);
        }
        if !is_partial {
            for (i, (reduction, part)) in phase.reductions.iter().zip(values.parts()).enumerate() {
                let name = if part.gives_index() {
                    format!("{own}.at{i}")
                } else {
                    part.given(format!("{own}.v{i}"))
                };
                let dtype = if part.gives_index() { DType::U32 } else { reduction.element };
                line!(self.text, "    let v{} = {};", self.number(reduction.gives), narrow(dtype, name));
            }
        }
    }

    /// Stores partial results: a value of each reduction, and its index where it has one.
    fn store_partials(&mut self, reduce: &Reduce, phases: &[(&Phase, Values)]) {
        let kernel = self.kernel;
        let Some((phase, values)) = phases.first() else { return };
        if reduce.tile.meets {
            line!(self.text, "    if (!is_own) {{ return; }}");
        }
        let mut texts = Vec::new();
        for (i, part) in values.parts().iter().enumerate() {
            let value = part.given(format!("f0.v{i}"));
            texts.push(if part.element == DType::Bool { encode(DType::Bool, &value) } else { value });
            if part.gives_index() {
                texts.push(format!("f0.at{i}"));
            }
        }
        debug_assert!(phase.reductions.iter().is_sorted_by_key(|own| own.number));
        for ((k, text), dtype) in texts.into_iter().enumerate().zip(kernel.stored()) {
            let array = result(k);
            match reduce.vector_axis {
                VectorAxis::Reduced => line!(self.text, "    {array}[item] = ({text}).x;"),
                VectorAxis::Gathered => {
                    let place = "position * p.position_stride + x";
                    line!(self.text, "    {array}[{place}] = {};", pack(dtype, kernel.wide_words, text));
                }
                VectorAxis::Kept => {
                    let more = "position * p.position_stride";
                    match kernel.store {
                        Store::Vector => {
                            let place = self.stored_at(kernel.rank - 1, &[more, "x"]);
                            line!(
                                self.text,
                                "    {array}[{place}] = {};",
                                pack(dtype, kernel.wide_words, text)
                            );
                        }
                        _ => {
                            let place = self.stored_at(kernel.rank, &[more]);
                            self.store_lanes(k, &place, &text, "    ");
                        }
                    }
                }
            }
        }
    }

    /// The address of a result: by the coordinates of so many axes, and what comes on top of it.
    fn stored_at(&self, axes: usize, more: &[&str]) -> String {
        let terms = (0..axes).filter_map(|axis| self.term(Role::Out, axis, 0));
        let terms: Vec<String> = terms.chain(more.iter().map(ToString::to_string)).collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// Stores the lanes of a vector that exist.
    fn store_lanes(&mut self, k: usize, place: &str, value: &str, indent: &str) {
        let (array, inner) = (result(k), self.kernel.rank - 1);
        line!(self.text, "{indent}let place{k} = vec4<u32>({place});");
        line!(self.text, "{indent}let value{k} = {value};");
        line!(self.text, "{indent}{array}[place{k}.x] = value{k}.x;");
        for (n, c) in "xyzw".chars().enumerate().skip(1) {
            let exists = match self.kernel.walk {
                crate::plan::Walk::Anywhere => format!("item * {LANES}u + {n}u < p.rows"),
                _ => format!("first + {n}u < p.len{inner}"),
            };
            line!(self.text, "{indent}if ({exists}) {{ {array}[place{k}.{c}] = value{k}.{c}; }}");
        }
    }

    /// Stores what is made of a row.
    fn reduced(&mut self, reduce: &Reduce, output: Output) {
        let group = reduce.tile.group();
        let Output::Elements { unroll } = output else {
            if reduce.tile.meets {
                line!(self.text, "    if (!is_own) {{ return; }}");
            }
            self.store_results(reduce, "    ");
            return;
        };
        let read = self.needs(reduce, self.kernel.results.iter().copied()).1;
        let mut arguments = self.of_row(reduce, &read, false);
        let place = arguments.len();
        arguments.push(String::new());
        if reduce.vector_axis == VectorAxis::Gathered {
            arguments.push("item".into());
        }
        let end = match reduce.vector_axis {
            VectorAxis::Reduced => format!("(p.row + {}u) / {LANES}u", LANES - 1),
            _ => "p.row".to_string(),
        };
        let begin = if reduce.tile.meets { "member" } else { "0u" };
        line!(self.text, "    let end = {end};");
        line!(self.text, "    for (var at = {begin}; at < end; at += {}u) {{", group * unroll);
        for k in 0..unroll {
            // What is past the end stores the last once more.
            arguments[place] =
                if k == 0 { "at".into() } else { format!("min(at + {}u, end - 1u)", k * group) };
            line!(self.text, "        give({});", arguments.join(", "));
        }
        line!(self.text, "    }}");
    }

    /// The stores of results: of the elements at a place of a row, or of what there is one of.
    fn store_results(&mut self, reduce: &Reduce, indent: &str) {
        let kernel = self.kernel;
        let dtype = kernel.out;
        for (k, &value) in kernel.results.iter().enumerate() {
            let own = self.value(value, 0);
            let text = match kernel.value_type(value) {
                // What is stored by whole words is that type's value already, but for truths.
                of if of == dtype || of == DType::Bool => encode(of, &own),
                _ => own,
            };
            let array = result(k);
            match (reduce.vector_axis, kernel.store, reduce.output) {
                (VectorAxis::Reduced, _, Output::OnePerRow) => {
                    let place = self.stored_at(kernel.rank - 1, &[]);
                    line!(self.text, "{indent}{array}[{place}] = ({text}).x;");
                }
                (VectorAxis::Gathered, Store::Vector, _) => {
                    line!(self.text, "{indent}{array}[item] = {};", pack(dtype, kernel.wide_words, text));
                }
                (_, Store::Vector, _) => {
                    let place = self.stored_at(kernel.rank - 1, &["x"]);
                    line!(self.text, "{indent}{array}[{place}] = {};", pack(dtype, kernel.wide_words, text));
                }
                _ => {
                    let place = self.stored_at(kernel.rank, &[]);
                    self.store_lanes(k, &place, &text, indent);
                }
            }
        }
    }
}
