//! Kernels that scan: the elementwise body as a function of where its lanes are, and around it what goes
//! through groups of sixteen values one after the other. Along a run the lanes of a vector are neighbours, which
//! are added one by one; across runs they are runs side by side, which are added together.
//!
//! What comes before anything is the identity: 0 for sums, so that no sum is -0, which is +0 by the contract.

use std::ops::Range;

use super::combine::form;
use super::emitter::Emitter;
use super::text::{EACH, division, line};
use super::types::{compute, constant, lanes, pack};
use crate::dtype::Kind;
use crate::error::{Result, bail};
use crate::ir::GROUP;
use crate::plan::{LANES, Role, Scanned, Scanner, Store, Stride};

/// Values of a group in vectors along the run.
const VECTORS: usize = GROUP / LANES;

impl Emitter<'_> {
    pub(super) fn scan(&mut self, scanner: &Scanner) -> Result<()> {
        let operands = self.kernel.operands.len() - usize::from(scanner.is_carried());
        self.scanned_element(scanner, operands)?;
        if scanner.is_carried() {
            self.carried(scanner, operands)?;
        }
        self.joining(scanner)?;
        self.scan_head(scanner);
        match scanner.scanned {
            Scanned::Runs { levels } => self.run_of_groups(scanner, levels),
            _ => self.one_group(scanner),
        }
        line!(self.text, "}}");
        Ok(())
    }

    /// The axes before the innermost that are kept.
    fn kept_axes(&self, scanner: &Scanner) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let run = scanner.run;
        (0..self.kernel.rank - 1).filter(move |&axis| axis != run)
    }

    /// The coordinates of them, and of a place `at` in the run and the vector `x` across runs, as parameters
    /// or arguments.
    fn scan_places(&self, scanner: &Scanner, at: &str, x: &str, suffix: &str) -> String {
        let kept = self.kept_axes(scanner).map(|axis| format!("c{axis}"));
        let own = if scanner.along { vec![at] } else { vec![at, x] };
        let all: Vec<String> = kept.chain(own.into_iter().map(String::from)).collect();
        all.iter().map(|name| format!("{name}{suffix}")).collect::<Vec<_>>().join(", ")
    }

    /// A function of the coordinates that gives a vector of values there. Past the end of a run it gives what is
    /// there.
    fn scanned_element(&mut self, scanner: &Scanner, operands: usize) -> Result<()> {
        let (kernel, inner) = (self.kernel, self.kernel.rank - 1);
        line!(
            self.text,
            "fn element({}) -> {} {{",
            self.scan_places(scanner, "at", "x", ": u32"),
            lanes(scanner.element)
        );
        if scanner.along {
            let x = if scanner.whole { "at" } else { "min(at, p.vectors - 1u)" };
            line!(self.text, "    let x = {x};");
        } else {
            line!(self.text, "    let c{} = at;", scanner.run);
        }
        line!(self.text, "    let first = x * {LANES}u;");
        line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
        self.values_of(operands)?;
        line!(self.text, "    return {};", self.value(kernel.results[0], 0));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// A function that gives what comes before a group: its coordinates are those of the group before it.
    fn carried(&mut self, scanner: &Scanner, operand: usize) -> Result<()> {
        let of = Role::In(operand);
        let parameters = self.scan_places(scanner, "at", "x", ": u32");
        line!(self.text, "fn carried({parameters}) -> {} {{", own_type(scanner));
        let own = &self.kernel.operands[operand];
        if scanner.along {
            let crate::plan::Origin::Binding(binding) = own.origin else {
                bail!(Kernel, "what is carried has no binding");
            };
            let kept = self.kept_axes(scanner).filter_map(|axis| self.term(of, axis, 0));
            let terms: Vec<String> = kept.chain(self.along_axis(of, scanner.run, "at")).collect();
            let address = self.sum(&self.path_name(of), terms.into_iter());
            line!(self.text, "    return in{binding}[{address}];");
        } else {
            let inner = self.kernel.rank - 1;
            line!(self.text, "    let c{} = at;", scanner.run);
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
            self.load(operand, own, 0)?;
            line!(self.text, "    return v{operand};");
        }
        line!(self.text, "}}\n");
        Ok(())
    }

    /// What `at` adds to an address along an axis.
    fn along_axis(&self, of: Role, axis: usize, at: &str) -> Option<String> {
        match self.kernel.stride(of, axis) {
            Stride::Zero => None,
            Stride::One => Some(at.to_string()),
            Stride::Any => Some(format!("{at} * p.{}_stride{axis}", self.path_name(of))),
        }
    }

    /// The functions that make one of two: what nothing may reorder, and what is stored and read no more, which
    /// needs no fence.
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

    /// The entry point, the coordinates of an invocation and its `position` in the run, and where its results
    /// begin.
    fn scan_head(&mut self, scanner: &Scanner) {
        let kernel = self.kernel;
        line!(self.text, "@compute @workgroup_size({})", kernel.workgroup[0]);
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>) {{");
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
        line!(self.text, "    if (i >= p.count) {{ return; }}");
        let mut rest = "i".to_string();
        if !scanner.along {
            division(self.text, "column", "p.columns", &mut rest);
        }
        if !matches!(scanner.scanned, Scanned::Runs { .. }) {
            division(self.text, "position", "p.positions", &mut rest);
        }
        for axis in self.kept_axes(scanner).rev() {
            division(self.text, &format!("c{axis}"), &format!("p.len{axis}"), &mut rest);
        }
        for k in across(scanner).filter(|_| !scanner.along) {
            let more = if k == 0 { String::new() } else { format!(" + {k}u") };
            let x = format!("column * {}u{more}", scanner.vectors);
            let x = if k == 0 { x } else { format!("min({x}, p.vectors - 1u)") };
            line!(self.text, "    let x{k} = {x};");
            if kernel.store == Store::Lanes {
                line!(self.text, "    let lane{k} = x{k} * {LANES}u + {EACH};");
            }
        }
        let identity = constant(scanner.element, "p.identity");
        let identity = if scanner.along { format!("({identity}).x") } else { identity };
        line!(self.text, "    let identity = {identity};");
        let kept = self.kept_axes(scanner).filter_map(|axis| self.term(Role::Out, axis, 0));
        let terms: Vec<String> = kept.collect();
        let base = self.sum(&self.path_name(Role::Out), terms.into_iter());
        line!(self.text, "    let base = {base};");
    }

    /// One group by an invocation.
    fn one_group(&mut self, scanner: &Scanner) {
        for k in across(scanner) {
            match scanner.is_carried() {
                true => {
                    if k == 0 {
                        line!(self.text, "    let before = position + p.before;");
                    }
                    let at = "max(before, 1u) - 1u";
                    let carried = self.scan_places(scanner, at, &format!("x{k}"), "");
                    line!(self.text, "    var carry{k} = carried({carried});");
                    line!(self.text, "    if (before == 0u) {{ carry{k} = identity; }}");
                }
                false if scanner.scanned != Scanned::Lasts => {
                    line!(self.text, "    let carry{k} = identity;");
                }
                false => {}
            }
        }
        if scanner.exclusive {
            line!(self.text, "    if (position == 0u) {{");
            self.store_nothing(scanner);
            line!(self.text, "    }}");
        }
        line!(self.text, "    let group = position;");
        self.group(scanner, "    ");
        if scanner.scanned == Scanned::Lasts {
            self.store_lasts(scanner);
        }
    }

    /// All groups of a run by an invocation. `z1` is the sum of the groups so far of a group of groups, `z2` of
    /// such groups, and so on; `carry` is what comes before the group at hand, `c2` before the group of groups.
    fn run_of_groups(&mut self, scanner: &Scanner, levels: u32) {
        let own = own_type(scanner);
        for k in across(scanner) {
            line!(self.text, "    var carry{k} = identity;");
            for level in 1..=levels {
                line!(self.text, "    var z{level}_{k} = identity;");
            }
            for level in 2..=levels {
                line!(self.text, "    var c{level}_{k} = identity;");
            }
            if self.keeps_last(scanner) {
                line!(self.text, "    var last{k}: {own} = identity;");
            }
        }
        if scanner.exclusive && !self.keeps_last(scanner) {
            self.store_nothing(scanner);
        }
        line!(self.text, "    for (var group = 0u; group < p.groups; group++) {{");
        self.group(scanner, "        ");
        for level in 1..=levels {
            let indent = "    ".repeat(level as usize + 1);
            if level > 1 {
                let mask = (1_u32 << (4 * (level - 1))) - 1;
                line!(self.text, "{}if ((group & {mask}u) == {mask}u) {{", "    ".repeat(level as usize));
            }
            for k in across(scanner) {
                let below = if level == 1 { format!("y{k}") } else { format!("z{}_{k}", level - 1) };
                line!(self.text, "{indent}z{level}_{k} = join(z{level}_{k}, {below});");
                if level > 1 {
                    line!(self.text, "{indent}{below} = identity;");
                }
                let carry = if level == 1 { format!("carry{k}") } else { format!("c{level}_{k}") };
                match level == levels {
                    true => line!(self.text, "{indent}{carry} = z{level}_{k};"),
                    false => line!(self.text, "{indent}{carry} = join(c{}_{k}, z{level}_{k});", level + 1),
                }
            }
        }
        for level in (1..levels).rev() {
            line!(self.text, "{}}}", "    ".repeat(level as usize + 1));
        }
        line!(self.text, "    }}");
    }

    /// Whether the last value of the group before is the first that an exclusive scan stores of a group.
    fn keeps_last(&self, scanner: &Scanner) -> bool {
        scanner.exclusive && scanner.along && self.kernel.store == Store::Vector
    }

    /// Goes through a group: its results, and `y0`, its last value.
    fn group(&mut self, scanner: &Scanner, indent: &str) {
        if scanner.along { self.group_along(scanner, indent) } else { self.group_across(scanner, indent) }
    }

    fn group_along(&mut self, scanner: &Scanner, indent: &str) {
        line!(self.text, "{indent}let at = group * {VECTORS}u;");
        for k in 0..VECTORS {
            let place = if k == 0 { "at".into() } else { format!("at + {k}u") };
            line!(self.text, "{indent}let a{k} = element({});", self.scan_places(scanner, &place, "", ""));
        }
        let lane = |k: usize| format!("a{}.{}", k / LANES, ["x", "y", "z", "w"][k % LANES]);
        line!(self.text, "{indent}let g0 = {};", lane(0));
        for k in 1..GROUP {
            line!(self.text, "{indent}let g{k} = join(g{}, {});", k - 1, lane(k));
        }
        line!(self.text, "{indent}let y0 = g{};", GROUP - 1);
        if scanner.scanned == Scanned::Lasts {
            return;
        }
        for k in 0..GROUP {
            line!(self.text, "{indent}let r{k} = after(carry0, g{k});");
        }
        match self.kernel.store {
            Store::Vector => self.vectors_along(scanner, indent),
            _ => self.lanes_along(scanner, indent),
        }
    }

    /// Stores a group of a run by vectors.
    fn vectors_along(&mut self, scanner: &Scanner, indent: &str) {
        let moved = usize::from(scanner.exclusive);
        let name = |k: usize| if k < moved { "last0".to_string() } else { format!("r{}", k - moved) };
        let vector = lanes(scanner.element);
        for k in 0..VECTORS {
            let values: Vec<String> = (0..LANES).map(|lane| name(k * LANES + lane)).collect();
            let value = format!("{vector}({})", values.join(", "));
            let value = pack(scanner.stored_type(), self.kernel.wide_words, value);
            let store = format!("result[base + at + {k}u] = {value};");
            match scanner.whole {
                true => line!(self.text, "{indent}{store}"),
                false => line!(self.text, "{indent}if (at + {k}u < p.vectors) {{ {store} }}"),
            }
        }
        if scanner.exclusive {
            line!(self.text, "{indent}last0 = r{};", GROUP - 1);
        }
    }

    /// Stores a group of a run value by value, those of an exclusive scan one place further on.
    fn lanes_along(&mut self, scanner: &Scanner, indent: &str) {
        let moved = u32::from(scanner.exclusive);
        line!(self.text, "{indent}let first = group * {GROUP}u + {moved}u;");
        for k in 0..GROUP {
            let at = format!("(first + {k}u)");
            let address = self.along_axis(Role::Out, scanner.run, &at).unwrap_or("0u".into());
            let store = format!("result[base + {address}] = r{k};");
            match scanner.whole && !scanner.exclusive {
                true => line!(self.text, "{indent}{store}"),
                false => line!(self.text, "{indent}if (first + {k}u < p.run) {{ {store} }}"),
            }
        }
    }

    fn group_across(&mut self, scanner: &Scanner, indent: &str) {
        for k in across(scanner) {
            line!(self.text, "{indent}var y{k} = identity;");
        }
        line!(self.text, "{indent}for (var k = 0u; k < {GROUP}u; k++) {{");
        line!(self.text, "{indent}    let at = group * {GROUP}u + k;");
        if !scanner.whole {
            line!(self.text, "{indent}    if (at >= p.run) {{ break; }}");
        }
        for k in across(scanner) {
            let places = self.scan_places(scanner, "at", &format!("x{k}"), "");
            line!(self.text, "{indent}    y{k} = join(y{k}, element({places}));");
        }
        if scanner.scanned != Scanned::Lasts {
            let mut deeper = format!("{indent}    ");
            if scanner.exclusive {
                line!(self.text, "{deeper}let to = at + 1u;");
                line!(self.text, "{deeper}if (to < p.run) {{");
                deeper.push_str("    ");
            }
            for k in across(scanner) {
                let value = format!("after(carry{k}, y{k})");
                let to = if scanner.exclusive { "to" } else { "at" };
                self.store_across(scanner, &deeper, k, to, &value);
            }
            if scanner.exclusive {
                line!(self.text, "{indent}    }}");
            }
        }
        line!(self.text, "{indent}}}");
    }

    /// Stores a vector across runs at a place in the runs.
    fn store_across(&mut self, scanner: &Scanner, indent: &str, k: u32, at: &str, value: &str) {
        let (kernel, inner) = (self.kernel, self.kernel.rank - 1);
        let row: Vec<String> =
            std::iter::once("base".to_string()).chain(self.along_axis(Role::Out, scanner.run, at)).collect();
        let row = row.join(" + ");
        if kernel.store == Store::Vector {
            let value = pack(scanner.stored_type(), kernel.wide_words, value.to_string());
            line!(self.text, "{indent}result[{row} + x{k}] = {value};");
            return;
        }
        let lane = self.along_axis(Role::Out, inner, &format!("lane{k}")).unwrap_or("vec4<u32>(0u)".into());
        line!(self.text, "{indent}let place{k} = ({row}) + {lane};");
        line!(self.text, "{indent}let value{k} = {value};");
        for (n, c) in "xyzw".chars().enumerate() {
            let store = format!("result[place{k}.{c}] = value{k}.{c};");
            match n {
                0 => line!(self.text, "{indent}{store}"),
                _ => line!(self.text, "{indent}if (lane{k}.{c} < p.len{inner}) {{ {store} }}"),
            }
        }
    }

    /// Stores what comes before everything at the beginning of a run.
    fn store_nothing(&mut self, scanner: &Scanner) {
        match scanner.along {
            true => line!(self.text, "        result[base] = identity;"),
            false => {
                across(scanner).for_each(|k| self.store_across(scanner, "        ", k, "0u", "identity"));
            }
        }
    }

    /// Stores the last value of a group.
    fn store_lasts(&mut self, scanner: &Scanner) {
        if !scanner.along {
            across(scanner).for_each(|k| self.store_across(scanner, "    ", k, "position", &format!("y{k}")));
            return;
        }
        let address = self.along_axis(Role::Out, scanner.run, "position").unwrap_or("0u".into());
        line!(self.text, "    result[base + {address}] = y0;");
    }
}

/// The vectors across runs that an invocation has side by side.
fn across(scanner: &Scanner) -> Range<u32> {
    if scanner.along { 0..1 } else { 0..scanner.vectors }
}

/// The type of what is carried: a value along the run, a vector across runs.
fn own_type(scanner: &Scanner) -> String {
    if scanner.along { compute(scanner.element).into() } else { lanes(scanner.element) }
}
