//! Kernels that scan: the elementwise body as a function of coordinates, and the code that goes through the groups of a
//! tile. Along a run, the lanes of a vector are neighbours and are added one by one. Across runs, each lane is a run, and a
//! vector is added as a whole.
//!
//! The state before the first value is the identity: 0 for sums, so that no sum is -0, by the contract. The state
//! before a place has levels. `b0` is the value of everything before the tile, `b1` of everything before its first group,
//! `b2` of everything before its first group of groups, and so on.

use super::combine::form;
use super::emitter::Emitter;
use super::text::{EACH, line};
use super::tiles::VECTORS;
use super::types::{compute, constant, lanes, pack};
use crate::dtype::Kind;
use crate::error::{Result, bail};
use crate::plan::{LANES, Origin, Role, Scanned, Scanner, Store, Stride};

impl Emitter<'_> {
    pub(super) fn scan(&mut self, scanner: &Scanner) -> Result<()> {
        let operands = self.kernel.operands.len() - scanner.carried();
        self.scanned_element(scanner, operands)?;
        for operand in operands..self.kernel.operands.len() {
            self.before_tile(scanner, operand, operand - operands)?;
        }
        self.joining(scanner)?;
        self.stored(scanner);
        if scanner.along || scanner.levels > 1 {
            let (of, workgroup) = (lanes(scanner.element), self.kernel.workgroup[0]);
            let size = if scanner.along { workgroup * VECTORS as u32 } else { workgroup };
            line!(self.text, "var<workgroup> shared_values: array<{of}, {size}>;\n");
        }
        self.scan_head(scanner);
        self.group_each(scanner);
        line!(self.text, "}}");
        Ok(())
    }

    /// A function of the coordinates that returns a vector of values. Past the end of a run it returns existing values,
    /// which no other value follows.
    fn scanned_element(&mut self, scanner: &Scanner, operands: usize) -> Result<()> {
        let (places, of) = (self.scan_places(scanner, "at: u32", ": u32"), lanes(scanner.element));
        line!(self.text, "fn element({places}) -> {of} {{");
        match (scanner.along, scanner.whole) {
            (true, true) => line!(self.text, "    let x = at;"),
            (true, false) => line!(self.text, "    let x = min(at, p.vectors - 1u);"),
            (false, true) => line!(self.text, "    let c{} = at;", scanner.run),
            (false, false) => line!(self.text, "    let c{} = min(at, p.run - 1u);", scanner.run),
        }
        self.lanes_before(&format!("p.len{}", self.kernel.rank - 1));
        self.values_of(operands)?;
        line!(self.text, "    return {};", self.value(self.kernel.results[0], 0));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// A function of an operand's value for a tile: the scan of last values, or a part of the tile's last value.
    fn before_tile(&mut self, scanner: &Scanner, operand: usize, part: usize) -> Result<()> {
        let of = Role::In(operand);
        let places = self.scan_places(scanner, "at: u32", ": u32");
        line!(self.text, "fn before{part}({places}) -> {} {{", own_type(scanner));
        let own = &self.kernel.operands[operand];
        if scanner.along {
            let Origin::Binding(binding) = own.origin else {
                bail!(Kernel, "what is carried has no binding")
            };
            let kept = self.kept_axes(scanner).filter_map(|axis| self.term(of, axis, 0));
            let terms: Vec<String> = kept.chain(self.along_axis(of, scanner.run, "at")).collect();
            let address = self.sum(&self.path_name(of), terms.into_iter());
            line!(self.text, "    return in{binding}[{address}];");
        } else {
            line!(self.text, "    let c{} = at;", scanner.run);
            self.lanes_before(&format!("p.len{}", self.kernel.rank - 1));
            self.load(operand, own, 0)?;
            line!(self.text, "    return v{operand};");
        }
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The term that `at` adds to an address along an axis.
    fn along_axis(&self, of: Role, axis: usize, at: &str) -> Option<String> {
        match self.kernel.stride(of, axis) {
            Stride::Zero => None,
            Stride::One => Some(at.to_string()),
            Stride::Any => Some(format!("{at} * p.{}_stride{axis}", self.path_name(of))),
        }
    }

    /// The functions that combine two values: a fenced one, which nothing may reorder, and an unfenced one for values
    /// that are stored and not read again.
    fn joining(&mut self, scanner: &Scanner) -> Result<()> {
        let own = own_type(scanner);
        let value = form(scanner.op, scanner.element, compute(scanner.element), "a", "b")?;
        if scanner.scanned != Scanned::Lasts {
            line!(self.text, "fn after(a: {own}, b: {own}) -> {own} {{");
            line!(self.text, "    return {value};");
            line!(self.text, "}}\n");
        }
        let value = match scanner.element.kind() {
            Kind::Float => {
                let word = if scanner.element.size() == 8 { "u64" } else { "u32" };
                let zero = format!("{word}(p.zero)");
                let bits = own.replace(compute(scanner.element), word);
                let zero = if scanner.along { zero } else { format!("{bits}({zero})") };
                format!("bitcast<{own}>(bitcast<{bits}>({value}) ^ {zero})")
            }
            _ => value,
        };
        line!(self.text, "fn join(a: {own}, b: {own}) -> {own} {{");
        line!(self.text, "    return {value};");
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that stores a vector of values, or a part of a tile's last value.
    fn stored(&mut self, scanner: &Scanner) {
        let (kernel, inner) = (self.kernel, self.kernel.rank - 1);
        let is_last = scanner.scanned == Scanned::Lasts;
        let places = self.scan_places(scanner, "at: u32", ": u32");
        let (part, value) = match is_last {
            true => (", part: u32", own_type(scanner)),
            false => ("", lanes(scanner.element)),
        };
        line!(self.text, "fn store({places}{part}, value: {value}) {{");
        let kept = self.kept_axes(scanner).filter_map(|axis| self.term(Role::Out, axis, 0));
        let run = self.along_axis(Role::Out, scanner.run, "at").filter(|_| is_last || !scanner.along);
        let part = is_last.then(|| "part * p.part".to_string());
        let terms: Vec<String> = kept.chain(run).chain(part).collect();
        let row = self.sum(&self.path_name(Role::Out), terms.into_iter());
        if !scanner.whole && !is_last {
            let end = if scanner.along { "p.vectors" } else { "p.run" };
            line!(self.text, "    if (at >= {end}) {{ return; }}");
        }
        let x = if scanner.along { "at" } else { "x" };
        match kernel.store {
            _ if scanner.along && is_last => line!(self.text, "    result[{row}] = value;"),
            Store::Vector => {
                let value = pack(scanner.stored_type(), "value".into());
                line!(self.text, "    result[{row} + {x}] = {value};");
            }
            _ => {
                line!(self.text, "    let lane = {x} * {LANES}u + {EACH};");
                let lane = self.along_axis(Role::Out, inner, "lane").unwrap_or("vec4<u32>(0u)".into());
                line!(self.text, "    let place = ({row}) + {lane};");
                for c in ["x", "y", "z", "w"] {
                    line!(self.text, "    if (lane.{c} < p.len{inner}) {{ result[place.{c}] = value.{c}; }}");
                }
            }
        }
        line!(self.text, "}}\n");
    }

    /// The entry point. From the number of a tile, `item`, come its place in the run, `position`, and its coordinates.
    fn scan_head(&mut self, scanner: &Scanner) {
        let (workgroup, groups) = (self.kernel.workgroup[0], scanner.groups());
        line!(self.text, "@compute @workgroup_size({workgroup})");
        let local = "@builtin(local_invocation_index) local: u32";
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>, {local}) {{");
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
        let beside = workgroup / groups;
        // Neighbours have neighbouring groups of a run, or neighbouring runs.
        let (group, tile) = match scanner.along {
            true => (format!("local % {groups}u"), format!("local / {groups}u")),
            false => (format!("local / {beside}u"), format!("local % {beside}u")),
        };
        line!(self.text, "    let tiles = i / {workgroup}u * {beside}u;");
        line!(self.text, "    let group = {group};");
        line!(self.text, "    let own_item = tiles + {tile};");
        self.tile_at(scanner, "own_item", "");
        let identity = constant(scanner.element, "p.identity0");
        let identity = if scanner.along { format!("({identity}).x") } else { identity };
        line!(self.text, "    let identity = {identity};");
        self.carries(scanner);
    }

    /// The state before the tile, at each level.
    fn carries(&mut self, scanner: &Scanner) {
        let levels = scanner.levels;
        if scanner.scanned == Scanned::Lasts {
            return;
        }
        if scanner.carried() == 0 {
            (0..=levels).for_each(|level| line!(self.text, "    let b{level}_first = identity;"));
            return;
        }
        line!(self.text, "    let before = position + p.before;");
        for (name, back) in [("last", 1), ("other", 2)] {
            line!(self.text, "    let {name} = max(before, {back}u) - {back}u;");
        }
        let [last, other] = ["last", "other"].map(|at| self.scan_places(scanner, at, ""));
        line!(self.text, "    let sum = before0({last});");
        line!(self.text, "    var q{levels} = before0({other});");
        line!(self.text, "    if (before < 2u) {{ q{levels} = identity; }}");
        for level in 1..=levels {
            line!(self.text, "    let p{level} = before{level}({last});");
            match level {
                1 => line!(self.text, "    let s1 = p1;"),
                _ => line!(self.text, "    let s{level} = join(p{level}, s{});", level - 1),
            }
        }
        for level in (1..levels).rev() {
            line!(self.text, "    let q{level} = join(q{0}, p{0});", level + 1);
        }
        for level in 0..=levels {
            let known = if level == levels { "sum".into() } else { format!("join(q{0}, s{0})", level + 1) };
            let first = if scanner.along { "before == 0u" } else { "vec4<bool>(before == 0u)" };
            line!(self.text, "    let b{level}_first = select({known}, identity, {first});");
        }
    }
}

/// The type of the state: a value along the run, a vector across runs.
fn own_type(scanner: &Scanner) -> String {
    if scanner.along { compute(scanner.element).into() } else { lanes(scanner.element) }
}
