//! Kernels that reduce rows: for each phase a function of a row's elements and one that accumulates them, the reduction
//! of a group's values, and the output.

use super::combine::{NONE, Values, place};
use super::coordinates::{Coordinate, divided};
use super::emitter::Emitter;
use super::rows::end_of_row;
use super::text::{EACH, line};
use super::types::{lanes, narrow, select};
use crate::dtype::DType;
use crate::error::Result;
use crate::plan::{LANES, Origin, Output, Phase, Reduce, VectorAxis};

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
            if reduce.tile.meets() {
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

    /// The function of the values that stay in registers, for a place in the row.
    fn hold(&mut self, reduce: &Reduce, number: usize) -> Result<()> {
        let holds = &reduce.phases[number].holds;
        let needs = self.needs(reduce, number.checked_sub(1), holds.iter().copied());
        line!(self.text, "struct Held{number} {{");
        for &value in holds {
            line!(self.text, "    v{}: {},", self.number(value), lanes(self.code.value_type(value)));
        }
        line!(self.text, "}}\n");
        let head = [&*format!("hold{number}"), &format!(") -> Held{number}")];
        self.over_row(reduce, head, &needs, reduce.masked)?;
        let held: Vec<String> = holds.iter().map(|&value| self.value(value, 0)).collect();
        line!(self.text, "    return Held{number}({});\n}}\n", held.join(", "));
        Ok(())
    }

    /// The function of a phase's operands, for a place in the row. Past the end it loads an existing element and
    /// returns the identity.
    fn element(&mut self, reduce: &Reduce, number: usize, phase: &Phase, values: &Values) -> Result<()> {
        if !phase.holds.is_empty() && reduce.holder(number) == number {
            self.hold(reduce, number)?;
        }
        let needs = self.needs(reduce, Some(number), phase.values());
        let head = [&*format!("element{number}"), &format!(") -> {}", values.name())];
        self.over_row(reduce, head, &needs, reduce.masked)?;
        let is_along = reduce.vector_axis == VectorAxis::Reduced;
        if reduce.masked {
            let exists = match is_along {
                true => format!("(at * {LANES}u + {EACH}) < vec4<u32>(p.row)"),
                false => "vec4<bool>(at < p.row)".into(),
            };
            line!(self.text, "    let exists = {exists};");
        }
        let masked = |dtype: DType, value: String, identity: &str| match reduce.masked {
            true => select(dtype, identity, &value, "exists"),
            false => value,
        };
        let mut parts = Vec::new();
        for (own, part) in phase.reductions.iter().zip(values.parts()) {
            parts.push(masked(part.reduced(), part.ranked(self.value(own.value, 0)), &part.identity()));
            if part.gives_index() {
                let index = match own.index {
                    Some(index) => self.value(index, 0),
                    None if is_along => format!("at * {LANES}u + {EACH}"),
                    None => "vec4<u32>(at)".into(),
                };
                parts.push(masked(DType::U32, index, NONE));
            }
        }
        line!(self.text, "    return {};", values.of(parts));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The entry point, and the place of an invocation: its `item`, its number in a group, `member`, and the coordinates of
    /// its row and block.
    fn reduce_head(&mut self, reduce: &Reduce) {
        let (tile, workgroup) = (reduce.tile, self.kernel.workgroup[0]);
        line!(self.text, "@compute @workgroup_size({workgroup})");
        let local = if tile.meets() { ", @builtin(local_invocation_index) local: u32" } else { "" };
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>{local}) {{");
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
        let beside = tile.beside;
        match (tile.meets(), reduce.vector_axis) {
            (false, _) => {
                line!(self.text, "    if (i >= p.count) {{ return; }}");
                line!(self.text, "    let item = i;");
            }
            // Invocations past the end reduce existing elements and store nothing, since all must reach the barriers.
            (true, VectorAxis::Reduced) => {
                line!(self.text, "    let member = local % {}u;", tile.group());
                line!(self.text, "    let item = min(i / {}u, p.count - 1u);", tile.group());
                line!(self.text, "    let is_own = (member == 0u) & (i / {}u < p.count);", tile.group());
            }
            // Neighbours have neighbouring rows, which lie side by side in memory.
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
        let last = self.code.rank - usize::from(reduce.vector_axis == VectorAxis::Kept);
        let kept = || (0..last).rev().filter(|&axis| reduce.keeps(axis)).map(Coordinate::axis);
        if !is_gathered {
            places.extend(kept());
        }
        self.lines(divided("item", false, places));
        if is_gathered {
            line!(self.text, "    let element_index = min(x * {LANES}u + {EACH}, vec4<u32>(p.rows - 1u));");
            self.lines(divided("element_index", true, kept().collect()));
        }
        if reduce.vector_axis == VectorAxis::Kept {
            self.lane(reduce);
        }
    }

    /// Values of the row that are known from a phase on.
    fn known(&mut self, reduce: &Reduce, phase: usize) -> Result<()> {
        let code = self.code;
        let is_given = |i: usize| code.operands[i].origin == Origin::Row(i);
        self.wanted(&reduce.of_row.map(|value, &of_row| {
            of_row && reduce.from[value] == phase && !value.input().is_some_and(is_given)
        }))
    }

    /// Values of an invocation that are in registers from a phase on.
    fn held(&mut self, reduce: &Reduce, number: usize) {
        let phase = &reduce.phases[number];
        let needs = self.needs(reduce, number.checked_sub(1), phase.holds.iter().copied());
        for (k, i) in phase.vectors(&reduce.tile) {
            let at = place(&reduce.tile, &format!("begin{number}"), (k, i));
            let before = needs.arguments((k, i));
            line!(self.text, "    let h{number}_{k}_{i} = hold{number}({before}{at});");
        }
    }

    /// A phase: each invocation's accumulation, and the group's reduction.
    fn reduce_phase(&mut self, reduce: &Reduce, number: usize, phase: &Phase, values: &Values) {
        let tile = reduce.tile;
        let needs = self.needs(reduce, Some(number), phase.values());
        let element =
            |vector: (u32, u32), at: &str| format!("element{number}({}{at})", needs.arguments(vector));
        let is_along = reduce.vector_axis == VectorAxis::Reduced;
        let (block, own) = (tile.block, format!("f{number}"));
        // Where lanes lie across rows, members of a group have neighbouring rows beside them.
        let (lanes, apart) = (tile.lanes(), if is_along { 1 } else { tile.beside });
        let is_partial = reduce.output == Output::Partials;
        if tile.blocks > 1 && number == 0 {
            line!(self.text, "    let lane_of = member % {lanes}u;");
            line!(self.text, "    let block = member / {lanes}u;");
        }
        // The block that an invocation reads, and its first vector there.
        let of_block = match is_partial {
            true => Some("position"),
            false => (tile.blocks > 1).then_some("block"),
        };
        let lane = tile.meets().then_some(if tile.blocks == 1 { "member" } else { "lane_of" });
        let end = match (of_block, end_of_row(reduce)) {
            (Some(of_block), end) => format!("min(({of_block} + 1u) * {block}u, {end})"),
            (None, end) => end,
        };
        let begin = of_block.map(|of_block| format!("{of_block} * {block}u"));
        let begin = begin.into_iter().chain(lane.map(str::to_string)).collect::<Vec<_>>().join(" + ");
        let begin = if begin.is_empty() { "0u" } else { &begin };
        line!(self.text, "    let begin{number} = {begin};");
        if phase.is_loop {
            line!(self.text, "    let end{number} = {end};");
        }
        if needs.holder == Some(number) {
            self.held(reduce, number);
        }
        self.accumulate(values, phase, &tile, element);
        line!(self.text, "    var {own} = a{number}_0;");
        if let Some(lane) = lane {
            self.meet(values, &own, lane, (lanes, apart));
        }
        if is_along {
            self.across_lanes(values, &own);
        }
        if tile.blocks > 1 {
            self.meet(values, &own, "block", (tile.blocks, lanes * apart));
        }
        let is_last = number + 1 == reduce.phases.len() && reduce.output == Output::OnePerRow;
        if tile.meets() && !is_partial && !is_last {
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
}
