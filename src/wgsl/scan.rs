//! Kernels that scan: the elementwise body as a function of coordinates, and how `shaders/kernels/scan.wgsl` combines, loads
//! and stores values. The state before the first value is the identity: 0 for sums, so that no sum is -0, by the contract.

use super::combine::form;
use super::emitter::Emitter;
use super::gather::array_of;
use super::template::Filling;
use super::text::line;
use super::types::{compute, constant, is_long, lane, lanes, pack, selecting, splat};
use crate::dtype::Kind;
use crate::error::Result;
use crate::ir::GROUP;
use crate::plan::{LANES, Role, Scan, Scanned, Store, Stride};

/// Values of a group in vectors along the run.
const VECTORS: usize = GROUP / LANES;

impl Emitter<'_> {
    pub(super) fn scan(&mut self, scan: &Scan) -> Result<()> {
        let operands = self.code.operands.len() - scan.carried();
        self.scanned_element(scan, operands)?;
        for operand in operands..self.code.operands.len() {
            self.before_tile(scan, operand, operand - operands)?;
        }
        let filling = self.places(scan, self.joins(scan, Filling::default())?);
        let filling = self.tile(scan, self.moves(scan, filling));
        filling.fill(self.text, include_str!("../../shaders/kernels/scan.wgsl"))
    }

    /// A function of the coordinates that returns a vector of values. Past the end of a run it returns existing values,
    /// which no other value follows.
    fn scanned_element(&mut self, scan: &Scan, operands: usize) -> Result<()> {
        let (places, of) = (self.scan_places(scan, "at: u32", ": u32"), lanes(scan.element));
        line!(self.text, "fn element({places}) -> {of} {{");
        match (scan.along, scan.whole) {
            (true, true) => line!(self.text, "    let x = at;"),
            (true, false) => line!(self.text, "    let x = min(at, p.vectors - 1u);"),
            (false, true) => line!(self.text, "    let c{} = at;", scan.run),
            (false, false) => line!(self.text, "    let c{} = min(at, p.run - 1u);", scan.run),
        }
        self.lanes_before(&format!("p.len{}", self.code.rank - 1));
        self.values_of(operands)?;
        line!(self.text, "    return {};", self.value(self.code.results[0], 0));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// A function of an operand's value for a tile: the scan of last values, or a part of the tile's last value.
    fn before_tile(&mut self, scan: &Scan, operand: usize, part: usize) -> Result<()> {
        let of = Role::In(operand);
        let places = self.scan_places(scan, "at: u32", ": u32");
        line!(self.text, "fn before{part}({places}) -> {} {{", own_type(scan));
        let own = &self.code.operands[operand];
        if scan.along {
            let kept = self.kept_axes(scan).filter_map(|axis| self.term(of, axis, 0));
            let terms = kept.chain(self.along_axis(of, scan.run, "at"));
            let address = self.sum(&self.path_name(of), terms);
            line!(self.text, "    return {}[{address}];", array_of(own));
        } else {
            line!(self.text, "    let c{} = at;", scan.run);
            self.lanes_before(&format!("p.len{}", self.code.rank - 1));
            self.load(operand, own, 0)?;
            line!(self.text, "    return v{operand};");
        }
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The term that `at` adds to an address along an axis.
    fn along_axis(&self, of: Role, axis: usize, at: &str) -> Option<String> {
        match self.code.stride(of, axis) {
            Stride::Zero => None,
            Stride::One => Some(at.to_string()),
            Stride::Any => Some(format!("{at} * p.{}_stride{axis}", self.path_name(of))),
        }
    }

    /// How two values become one.
    fn joins(&self, scan: &Scan, filling: Filling) -> Result<Filling> {
        let (own, name) = (own_type(scan), compute(scan.element));
        let is_float = scan.element.kind() == Kind::Float;
        let picks = is_float && !scan.op.is_ordered(scan.element);
        // By functions of vectors, for one lane too.
        let by_functions = picks || scan.op.is_total() || is_long(scan.element);
        let [a, b] = ["a", "b"].map(|value| match by_functions && scan.along {
            true => splat(scan.element, value),
            false => value.to_string(),
        });
        let mut value = form(scan.op, scan.element, &a, &b)?;
        if scan.op.is_total() {
            value = format!("total_{name}({value})");
        }
        if by_functions && scan.along {
            value += ".x";
        }
        let fenced = match is_float && !picks {
            true => {
                let word = if scan.element.size() == 8 { "u64" } else { "u32" };
                let zero = format!("{word}(p.zero)");
                let bits = own.replace(name, word);
                let zero = if scan.along { zero } else { format!("{bits}({zero})") };
                format!("bitcast<{own}>(bitcast<{bits}>({value}) ^ {zero})")
            }
            false => value.clone(),
        };
        Ok(filling.with("own", own).with("joined", value).with("fenced", fenced))
    }

    /// The stores of a vector of values, or of a part of a tile's last value.
    fn places(&self, scan: &Scan, filling: Filling) -> Filling {
        let inner = self.code.rank - 1;
        let is_last = scan.scanned == Scanned::Lasts;
        let (of_part, stored) = match is_last {
            true => (", part: u32", own_type(scan)),
            false => ("", lanes(scan.element)),
        };
        let kept = self.kept_axes(scan).filter_map(|axis| self.term(Role::Out, axis, 0));
        let run = self.along_axis(Role::Out, scan.run, "at").filter(|_| is_last || !scan.along);
        let part = is_last.then(|| "part * p.part".to_string());
        let (x, end) = if scan.along { ("at", "p.vectors") } else { ("x", "p.run") };
        filling
            .when("ends", !scan.whole && !is_last)
            .when("one_value", scan.along && is_last)
            .when("by_vectors", self.code.store == Store::Vector)
            .with("parameters", self.scan_places(scan, "at: u32", ": u32") + of_part)
            .with("stored", stored)
            .with("end", end)
            .with("row", self.sum(&self.path_name(Role::Out), kept.chain(run).chain(part)))
            .with("x", x)
            .with("packed", pack(self.kernel.stored[0].dtype, "value".into()))
            .with("lanes", self.along_axis(Role::Out, inner, "lane").unwrap_or("vec4<u32>(0u)".into()))
            .with("inner", inner)
    }

    /// The loads of an invocation, and its stores of all values: of vectors as they lie in memory, or of those of a group
    /// across runs.
    fn moves(&self, scan: &Scan, filling: Filling) -> Filling {
        let (workgroup, groups) = (self.kernel.workgroup[0], scan.groups());
        let vectors = groups * VECTORS as u32;
        let (mut loads, mut stores) = (Vec::new(), Vec::new());
        let values: Vec<String> = (0..GROUP)
            .map(|k| match scan.exclusive {
                true if k == 0 => "previous".into(),
                true => format!("r{}", k - 1),
                false => format!("r{k}"),
            })
            .collect();
        for k in (0..VECTORS).filter(|_| scan.along) {
            let (item, suffix) = (format!("item{k}"), format!("_{k}"));
            let place = self.scan_places(scan, &format!("at{k}"), &suffix);
            loads.push(format!("let vector{k} = local + {}u;", k as u32 * workgroup));
            loads.push(format!("let {item} = tiles + vector{k} / {vectors}u;"));
            loads.extend(self.tile_at(scan, &item, &suffix));
            loads.push(format!("let at{k} = position_{k} * {vectors}u + vector{k} % {vectors}u;"));
            loads.push(format!("let loaded{k} = element({place});"));
            let value = format!("shared_values[vector{k} ^ ((vector{k} >> 3u) & 7u)]");
            stores.push(format!("if ({item} < p.count) {{ store({place}, {value}); }}"));
        }
        if !scan.along {
            loads.push(format!("let row = (position * {groups}u + group) * {GROUP}u;"));
        }
        for (k, value) in values.iter().enumerate().filter(|_| !scan.along) {
            let place = self.scan_places(scan, &format!("row + {k}u"), "");
            loads.push(format!("let a{k} = element({place});"));
            stores.push(format!("store({place}, {value});"));
        }
        let filling = filling.with_lines("loads", loads).with_lines("stores", stores);
        let fours = ["values0", "values1", "values2", "values3"].into_iter().zip(values.chunks(LANES));
        fours.fold(filling, |filling, (name, four)| filling.with(name, four.join(", ")))
    }

    /// The entry point.
    fn tile(&self, scan: &Scan, filling: Filling) -> Filling {
        let Scan { along, levels, exclusive, .. } = *scan;
        let (workgroup, groups) = (self.kernel.workgroup[0], scan.groups());
        let beside = workgroup / groups;
        let is_last = scan.scanned == Scanned::Lasts;
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
        let place = self.scan_places(scan, "position", "");
        let lasts = lasts.map(|(part, value)| format!("store({place}, {part}u, {value});"));
        let identity = constant(scan.element, "p.identity0");
        filling
            .when("along", along)
            .when("two_levels", levels > 1)
            .when("three_levels", levels > 2)
            .when("meets", along || levels > 1)
            .when("carried", !is_last && scan.carried() > 0)
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
            // Of one lane, any type is selected by the builtin.
            .with("select", if along { "select".into() } else { selecting(scan.element) })
            .with("is_first", if along { "before == 0u" } else { "vec4<bool>(before == 0u)" })
            .with("identity", if along { format!("({identity}).x") } else { identity })
            .with("last", self.scan_places(scan, "last", ""))
            .with("other", self.scan_places(scan, "other", ""))
            .with_lines("tile", self.tile_at(scan, "own_item", ""))
            .with_lines("prefixes", prefixes)
            .with_lines("results", results)
            .with_lines("lasts", lasts)
            .with("vector", lanes(scan.element))
    }
}

/// The type of the state: a value along the run, a vector across runs.
fn own_type(scan: &Scan) -> String {
    if scan.along { lane(scan.element) } else { lanes(scan.element) }
}
