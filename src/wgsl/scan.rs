//! Kernels that scan: the elementwise body as a function of coordinates, and functions that combine and store values for
//! `shaders/kernels/scan.wgsl`. The state before the first value is the identity: 0 for sums, so that no sum is -0, by the
//! contract.

use super::combine::form;
use super::emitter::Emitter;
use super::template::Filling;
use super::text::{EACH, line};
use super::types::{compute, constant, lanes, pack};
use crate::dtype::Kind;
use crate::error::{Result, bail};
use crate::ir::GROUP;
use crate::plan::{LANES, Origin, Role, Scanned, Scanner, Store, Stride};

/// Values of a group in vectors along the run.
const VECTORS: usize = GROUP / LANES;

impl Emitter<'_> {
    pub(super) fn scan(&mut self, scanner: &Scanner) -> Result<()> {
        let operands = self.kernel.operands.len() - scanner.carried();
        self.scanned_element(scanner, operands)?;
        for operand in operands..self.kernel.operands.len() {
            self.before_tile(scanner, operand, operand - operands)?;
        }
        self.joining(scanner)?;
        self.stored(scanner);
        self.scan_tile(scanner)
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
        let name = compute(scanner.element);
        let value = match scanner.op.is_total() {
            false => form(scanner.op, scanner.element, name, "a", "b")?,
            // By functions of vectors, for one lane too.
            true => {
                let [a, b] = ["a", "b"].map(|value| format!("{}({value})", lanes(scanner.element)));
                let value = format!("total_{name}({})", form(scanner.op, scanner.element, name, &a, &b)?);
                if scanner.along { format!("{value}.x") } else { value }
            }
        };
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

    /// The lines of a tile's coordinates.
    fn tile_lines(&mut self, scanner: &Scanner, item: &str, suffix: &str) -> Result<String> {
        self.captured(|emitter| {
            emitter.tile_at(scanner, item, suffix);
            Ok(())
        })
    }

    /// The entry point.
    fn scan_tile(&mut self, scanner: &Scanner) -> Result<()> {
        let Scanner { along, levels, exclusive, .. } = *scanner;
        let (workgroup, groups) = (self.kernel.workgroup[0], scanner.groups());
        let (beside, vector) = (workgroup / groups, lanes(scanner.element));
        let is_last = scanner.scanned == Scanned::Lasts;
        let at = |emitter: &Self, place: &str, suffix: &str| emitter.scan_places(scanner, place, suffix);
        let tile = self.tile_lines(scanner, "own_item", "")?;
        // Vectors as they lie in memory, or those of a group across runs.
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        let values: Vec<String> = (0..GROUP)
            .map(|k| match exclusive {
                true if k == 0 => "previous".into(),
                true => format!("r{}", k - 1),
                false => format!("r{k}"),
            })
            .collect();
        let vectors = groups * VECTORS as u32;
        for k in (0..VECTORS).filter(|_| along) {
            let (item, suffix) = (format!("item{k}"), format!("_{k}"));
            let place = at(self, &format!("at{k}"), &suffix);
            loads.push(format!("let vector{k} = local + {}u;", k as u32 * workgroup));
            loads.push(format!("let {item} = tiles + vector{k} / {vectors}u;"));
            loads.push(self.tile_lines(scanner, &item, &suffix)?);
            loads.push(format!("let at{k} = position_{k} * {vectors}u + vector{k} % {vectors}u;"));
            loads.push(format!("let loaded{k} = element({place});"));
            let value = format!("shared_values[vector{k} ^ ((vector{k} >> 3u) & 7u)]");
            stores.push(format!("if ({item} < p.count) {{ store({place}, {value}); }}"));
        }
        if !along {
            loads.push(format!("let row = (position * {groups}u + group) * {GROUP}u;"));
        }
        for (k, value) in values.iter().enumerate().filter(|_| !along) {
            let place = at(self, &format!("row + {k}u"), "");
            loads.push(format!("let a{k} = element({place});"));
            stores.push(format!("store({place}, {value});"));
        }
        let name = |k: usize| match along {
            true => format!("a{}.{}", k / LANES, ["x", "y", "z", "w"][k % LANES]),
            false => format!("a{k}"),
        };
        let mut prefixes = vec![format!("let g0 = {};", name(0))];
        prefixes.extend((1..GROUP).map(|k| format!("let g{k} = join(g{}, {});", k - 1, name(k))));
        let results = (0..GROUP).map(|k| format!("let r{k} = after(before_group, g{k});"));
        // The tile's last value, and its parts, the last group first.
        let parts = &["g15", "z1", "z2"][..levels as usize];
        let all = parts[1..].iter().fold(parts[0].to_string(), |rest, part| format!("join({part}, {rest})"));
        let lasts = std::iter::once(all.as_str()).chain(parts.iter().copied()).enumerate();
        let place = at(self, "position", "");
        let lasts = lasts.map(|(part, value)| format!("store({place}, {part}u, {value});"));
        let identity = constant(scanner.element, "p.identity0");
        let mut filling = Filling::default()
            .when("along", along)
            .when("two_levels", levels > 1)
            .when("three_levels", levels > 2)
            .when("meets", along || levels > 1)
            .when("carried", !is_last && scanner.carried() > 0)
            .when("lasts", is_last)
            .when("follows", exclusive && levels > 1)
            .with("size", if along { workgroup * VECTORS as u32 } else { workgroup })
            .with("workgroup", workgroup)
            .with("groups", groups)
            .with("last_group", groups - 1)
            .with("beside", beside)
            .with("levels", levels)
            .with("apart", if along { 1 } else { beside })
            .with("lane", if along { ".x" } else { "" })
            .with("first", if along { "local - group" } else { "own_item - tiles" })
            .with("is_first", if along { "before == 0u" } else { "vec4<bool>(before == 0u)" })
            .with("identity", if along { format!("({identity}).x") } else { identity })
            .with("last", at(self, "last", ""))
            .with("other", at(self, "other", ""))
            .with("tile", tile)
            .with_lines("loads", loads)
            .with_lines("prefixes", prefixes)
            .with_lines("results", results)
            .with_lines("lasts", lasts)
            .with_lines("stores", stores)
            .with("vector", vector);
        for (name, four) in ["values0", "values1", "values2", "values3"].into_iter().zip(values.chunks(LANES))
        {
            filling = filling.with(name, four.join(", "));
        }
        filling.fill(self.text, include_str!("../../shaders/kernels/scan.wgsl"))
    }
}

/// The type of the state: a value along the run, a vector across runs.
fn own_type(scanner: &Scanner) -> String {
    if scanner.along { compute(scanner.element).into() } else { lanes(scanner.element) }
}
