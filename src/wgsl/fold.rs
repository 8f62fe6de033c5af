//! Kernels that fold: the elementwise body as a function of where its lanes are, and around it what makes
//! one value of many.

use super::emit::{Emitter, line, result};
use super::types::{array, compute, decode, encode, lanes, pack};
use crate::dtype::{DType, Kind};
use crate::error::{Result, bail};
use crate::expr::{Fold, GROUP};
use crate::plan::{Folder, Kernel, LANES, Lanes, Order, Role, Store, Stored, Stride};

/// Levels of halving after those that are straight, of the most values that an invocation folds.
const LEVELS: u32 = 10;

/// The lanes of a vector.
pub(super) const EACH: &str = "vec4<u32>(0u, 1u, 2u, 3u)";

impl Emitter<'_> {
    pub(super) fn fold(&mut self, folder: &Folder) -> Result<()> {
        self.declare_values(folder);
        let carried = carried(folder);
        self.body(folder, "element", 0..self.kernel.operands.len() - carried)?;
        if carried > 0 {
            let first = self.kernel.operands.len() - carried;
            self.body(folder, "carried", first..first + carried)?;
        }
        self.combine(folder)?;
        match folder.order {
            Order::Halves { straight, loops, team } => self.halves(folder, straight, loops, team),
            Order::Last => self.sequence(folder, None),
            Order::Each { exclusive, carried } => self.sequence(folder, Some((exclusive, carried))),
        }
        Ok(())
    }

    /// What is folded side by side.
    fn declare_values(&mut self, folder: &Folder) {
        line!(self.text, "struct Values {{");
        for (name, vector) in components(folder) {
            line!(self.text, "    {name}: {vector},");
        }
        line!(self.text, "}}\n");
    }

    /// The types of coordinates.
    fn place(&self, folder: &Folder) -> &'static str {
        if folder.lanes == Lanes::Anywhere { "vec4<u32>" } else { "u32" }
    }

    /// The coordinates that a body takes beside the place in the run.
    fn kept(&self, folder: &Folder) -> Vec<String> {
        let lane = |axis: usize| folder.lanes == Lanes::Kept && axis + 1 == self.kernel.rank;
        let kept = (0..self.kernel.rank).filter(|&axis| folder.keeps(axis));
        kept.map(|axis| if lane(axis) { "x".to_string() } else { format!("c{axis}") }).collect()
    }

    /// A function of the coordinates that gives the values there: those of the program, or what `operands`
    /// carry. Past the end it loads what is there and gives the identity.
    fn body(&mut self, folder: &Folder, name: &str, operands: std::ops::Range<usize>) -> Result<()> {
        let (kernel, place) = (self.kernel, self.place(folder));
        let is_element = name == "element";
        let mut parameters: Vec<String> =
            self.kept(folder).iter().map(|name| format!("{name}: {place}")).collect();
        parameters.push(format!("at: {place}"));
        line!(self.text, "fn {name}({}) -> Values {{", parameters.join(", "));
        let inner = kernel.rank - 1;
        let axes: Vec<usize> = folder.run.clone().collect();
        // The place in the run that is loaded, and the coordinates there.
        let vectors = folder.lanes == Lanes::Run;
        let last = if vectors { format!("(p.run - 1u) / {LANES}u") } else { "p.run - 1u".to_string() };
        let last = if folder.lanes == Lanes::Anywhere { format!("vec4<u32>({last})") } else { last };
        let is_padded = is_element && !folder.whole;
        let inside = if is_padded { format!("min(at, {last})") } else { "at".to_string() };
        line!(self.text, "    let inside = {inside};");
        let mut rest = "inside".to_string();
        for &axis in axes.iter().rev() {
            let name = if vectors && axis == inner { "x".to_string() } else { format!("c{axis}") };
            if axis == folder.run.start {
                line!(self.text, "    let {name} = {rest};");
                break;
            }
            let length = format!("p.len{axis}");
            let length = if vectors && axis == inner { format!("({length} / {LANES}u)") } else { length };
            line!(self.text, "    let {name} = {rest} % {length};");
            line!(self.text, "    let q{axis} = {rest} / {length};");
            rest = format!("q{axis}");
        }
        if folder.lanes != Lanes::Anywhere {
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
        }
        if is_element {
            self.values_of(operands.clone())?;
        } else {
            for i in operands.clone() {
                self.load(i, &kernel.operands[i], 0)?;
            }
        }
        if is_padded {
            let exists = match folder.lanes {
                Lanes::Run => format!("(at * {LANES}u + {EACH}) < vec4<u32>(p.run)"),
                Lanes::Kept => "vec4<bool>(at < p.run)".to_string(),
                Lanes::Anywhere => "at < vec4<u32>(p.run)".to_string(),
            };
            line!(self.text, "    let exists = {exists};");
            line!(
                self.text,
                "    let identity = {};",
                ranked(folder, constant(folder.element, "p.identity"))
            );
        }
        let pad = |value: String, identity: &str| match is_padded {
            true => format!("select({identity}, {value}, exists)"),
            false => value,
        };
        let mut parts = Vec::new();
        for (i, (name, _)) in components(folder).enumerate() {
            let value = |i: usize| match is_element {
                true => self.value(kernel.results[i], 0),
                false => format!("v{}", operands.start + i),
            };
            parts.push(match name.starts_with('v') {
                true => pad(ranked(folder, value(i)), "identity"),
                false => {
                    let own = match folder.lanes {
                        _ if folder.indexed => value(i),
                        Lanes::Run => format!("at * {LANES}u + {EACH}"),
                        Lanes::Kept => "vec4<u32>(at)".into(),
                        Lanes::Anywhere => "at".into(),
                    };
                    pad(own, "vec4<u32>(0xffffffffu)")
                }
            });
        }
        line!(self.text, "    return Values({});", parts.join(", "));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that makes one of two.
    fn combine(&mut self, folder: &Folder) -> Result<()> {
        let Some(form) = folder.fold.form(ranks(folder).unwrap_or(folder.element)) else {
            bail!(Kernel, "{} takes no {}", folder.fold.name(), folder.element)
        };
        let apply = |a: String, b: String| {
            let text = form.wgsl.replace("{T}", compute(folder.element));
            text.replace("{a}", &a).replace("{b}", &b)
        };
        line!(self.text, "fn combine(a: Values, b: Values) -> Values {{");
        let mut parts = Vec::new();
        for i in 0..folder.values {
            let (a, b) = (format!("a.v{i}"), format!("b.v{i}"));
            if !folder.fold.row().gives_index {
                let value = apply(a, b);
                // Nothing may reorder the sums, nor contract a product into one.
                let is_ordered = folder.fold.is_ordered(folder.element);
                let own =
                    if is_ordered { format!("opaque_{}({value})", compute(folder.element)) } else { value };
                parts.push(own);
                continue;
            }
            line!(self.text, "    let wins{i} = {};", apply(a.clone(), b.clone()));
            line!(self.text, "    let takes{i} = wins{i} | (({a} == {b}) & (b.at{i} < a.at{i}));");
            parts.push(format!("select(a.v{i}, b.v{i}, takes{i})"));
        }
        if folder.fold.row().gives_index {
            parts.extend((0..folder.values).map(|i| format!("select(a.at{i}, b.at{i}, takes{i})")));
        }
        line!(self.text, "    return Values({});", parts.join(", "));
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The entry point, and the coordinates of an invocation: `c0`, `x` and what is left, its `position`
    /// in the run.
    fn fold_head(&mut self, folder: &Folder, team: u32) {
        let kernel = self.kernel;
        if team > 1 {
            let shared = format!("array<Values, {}>", kernel.workgroup[0]);
            line!(self.text, "var<workgroup> shared_values: {shared};\n");
        }
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
                line!(
                    self.text,
                    "    let element_index = min(i * {LANES}u + {EACH}, vec4<u32>(p.count - 1u));"
                );
                rest = "element_index".into();
            }
            _ => line!(self.text, "    if (i >= p.count) {{ return; }}"),
        }
        if folder.lanes == Lanes::Run {
            division(self.text, "position", "p.positions", &mut rest);
        }
        let inner = kernel.rank - 1;
        for axis in (0..kernel.rank).rev().filter(|&axis| folder.keeps(axis)) {
            match folder.lanes {
                Lanes::Kept if axis == inner => division(self.text, "x", "p.columns", &mut rest),
                Lanes::Run if axis == 0 => line!(self.text, "    let c0 = {rest};"),
                _ => division(self.text, &format!("c{axis}"), &format!("p.len{axis}"), &mut rest),
            }
        }
        if folder.lanes != Lanes::Run {
            line!(self.text, "    let position = {rest};");
        }
        if folder.lanes == Lanes::Kept && kernel.store == Store::Lanes {
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = first + {EACH};");
        }
    }

    /// A call of a body at a place in the run.
    fn call(&self, folder: &Folder, name: &str, at: &str) -> String {
        let mut arguments = self.kept(folder);
        arguments.push(at.into());
        format!("{name}({})", arguments.join(", "))
    }

    /// A block by halves: what is straight as one line of loads, the rest in the order in which each value
    /// meets the one that it is combined with, so that one value a level is held.
    fn halves(&mut self, folder: &Folder, straight: u32, loops: bool, team: u32) {
        self.fold_head(folder, team);
        let begin = match folder.lanes {
            Lanes::Run if team > 1 => "position * p.block + member".to_string(),
            Lanes::Run => "position * p.block".to_string(),
            _ => "(position / p.keep) * p.block + position % p.keep".to_string(),
        };
        line!(self.text, "    let begin = {begin};");
        let levels = if loops { LEVELS - straight.ilog2() } else { 0 };
        for level in 0..levels {
            line!(self.text, "    var s{level}: Values;");
        }
        line!(self.text, "    var v: Values;");
        if loops {
            // The bits of j, turned around.
            line!(self.text, "    var turned = 0u;");
            line!(self.text, "    for (var j = 0u; j < p.leaves; j++) {{");
            line!(self.text, "        let at = begin + turned * p.step;");
        } else {
            line!(self.text, "    {{");
            line!(self.text, "        let at = begin;");
        }
        for k in 0..straight {
            let more = if k == 0 { String::new() } else { format!(" + {k}u * p.apart") };
            line!(self.text, "        let a{k} = {};", self.call(folder, "element", &format!("at{more}")));
        }
        let (mut half, mut name) = (straight / 2, "a".to_string());
        while half > 0 {
            let next = format!("{name}h");
            for k in 0..half {
                line!(self.text, "        let {next}{k} = combine({name}{k}, {name}{});", k + half);
            }
            (half, name) = (half / 2, next);
        }
        line!(self.text, "        v = {name}0;");
        let mut indent = "        ".to_string();
        for level in 0..levels {
            line!(self.text, "{indent}if ((j & {}u) == 0u) {{", 1 << level);
            line!(self.text, "{indent}    s{level} = v;");
            line!(self.text, "{indent}}} else {{");
            indent.push_str("    ");
            line!(self.text, "{indent}v = combine(s{level}, v);");
        }
        for _ in 0..levels {
            indent.truncate(indent.len() - 4);
            line!(self.text, "{indent}}}");
        }
        if loops {
            let flipped = "p.leaves - (p.leaves >> (countTrailingZeros(j + 1u) + 1u))";
            line!(self.text, "        turned = turned ^ ({flipped});");
        }
        line!(self.text, "    }}");
        if team > 1 {
            line!(self.text, "    shared_values[local] = v;");
            line!(self.text, "    for (var half = {}u; half > 0u; half = half / 2u) {{", team / 2);
            line!(self.text, "        workgroupBarrier();");
            line!(self.text, "        if (member < half) {{");
            line!(self.text, "            v = combine(v, shared_values[local + half]);");
            line!(self.text, "            shared_values[local] = v;");
            line!(self.text, "        }}");
            line!(self.text, "    }}");
            line!(self.text, "    if (member > 0u || i >= p.count) {{ return; }}");
        }
        if folder.lanes == Lanes::Run {
            for turned in ["zwxy", "yxwz"] {
                let turned: Vec<String> =
                    components(folder).map(|(name, _)| format!("v.{name}.{turned}")).collect();
                line!(self.text, "    v = combine(v, Values({}));", turned.join(", "));
            }
        }
        self.store_values(folder, "    ", "v", "position * p.position_stride");
        line!(self.text, "}}");
    }

    /// A group one after the other: its last is stored, or each, with what is carried from before.
    fn sequence(&mut self, folder: &Folder, each: Option<(bool, bool)>) {
        self.fold_head(folder, 1);
        let splat = |text: &str| match folder.lanes {
            Lanes::Anywhere => format!("vec4<u32>({text})"),
            _ => text.to_string(),
        };
        if let Some((_, true)) = each {
            let before = format!("max(position, {}) - 1u", splat("1u"));
            line!(self.text, "    var carry = {};", self.call(folder, "carried", &before));
            line!(self.text, "    let identity = {};", constant(folder.element, "p.identity"));
            let is_first = match folder.lanes {
                Lanes::Anywhere => "position == vec4<u32>(0u)".to_string(),
                _ => "vec4<bool>(position == 0u)".to_string(),
            };
            for i in 0..folder.values {
                line!(self.text, "    carry.v{i} = select(carry.v{i}, identity, {is_first});");
            }
        }
        line!(self.text, "    var v: Values;");
        line!(self.text, "    for (var k = 0u; k < {GROUP}u; k++) {{");
        line!(self.text, "        let at = position * {GROUP}u + k;");
        line!(self.text, "        let own = {};", self.call(folder, "element", "at"));
        line!(self.text, "        if (k == 0u) {{ v = own; }} else {{ v = combine(v, own); }}");
        if let Some((exclusive, carried)) = each {
            let after = if carried { "combine(carry, v)" } else { "v" };
            line!(self.text, "        var stored = {after};");
            let axis = folder.run.start;
            let store = |emitter: &mut Self, indent: &str, at: &str, value: &str| {
                let address = match emitter.kernel.stride(Role::Out, axis) {
                    Stride::Zero => "0u".to_string(),
                    Stride::One => at.to_string(),
                    Stride::Any => format!("{at} * p.out_stride{axis}"),
                };
                match folder.lanes {
                    Lanes::Anywhere => emitter.store_values_where(folder, indent, value, &address, at),
                    _ => {
                        line!(emitter.text, "{indent}if ({at} < p.run) {{");
                        emitter.store_values(folder, &format!("{indent}    "), value, &address);
                        line!(emitter.text, "{indent}}}");
                    }
                }
            };
            if exclusive {
                line!(self.text, "        if (k == 0u) {{");
                let identity = constant(folder.element, "p.identity");
                let parts: Vec<String> = (0..folder.values).map(|_| identity.clone()).collect();
                // Only the first group has no one before it who stores to its first place.
                line!(self.text, "            let nothing = Values({});", parts.join(", "));
                let first = match folder.lanes {
                    Lanes::Anywhere => "select(vec4<u32>(p.run), vec4<u32>(0u), position == vec4<u32>(0u))",
                    _ => "select(p.run, 0u, position == 0u)",
                };
                line!(self.text, "            let begin = {first};");
                store(self, "            ", "begin", "nothing");
                line!(self.text, "        }}");
                line!(self.text, "        let next = at + 1u;");
                store(self, "        ", "next", "stored");
            } else {
                store(self, "        ", "at", "stored");
            }
            line!(self.text, "    }}");
        } else {
            line!(self.text, "    }}");
            self.store_values(folder, "    ", "v", "position * p.position_stride");
        }
        line!(self.text, "}}");
    }

    /// What is stored of values, in the type in which it is.
    fn stored(&self, folder: &Folder, stored: Stored, value: &str) -> String {
        match stored {
            Stored::Index(i) => format!("{value}.at{i}"),
            Stored::Value(i) => {
                let own = format!("{value}.v{i}");
                match folder.element {
                    DType::Bool => encode(DType::Bool, &own),
                    _ if ranks(folder).is_some() => format!("of_rank_{}({own})", compute(folder.element)),
                    // A zero of a sum is +0.
                    _ if folder.fold == Fold::Sum && folder.element.kind() == Kind::Float => {
                        format!("positive_zero_{}({own})", compute(folder.element))
                    }
                    _ => own,
                }
            }
        }
    }

    /// The sum of an address, of the coordinates that are kept and of `more`.
    fn stored_address(&self, folder: &Folder, axes: usize, more: &str) -> String {
        let kept = (0..axes).filter(|&axis| folder.keeps(axis));
        let terms = kept.filter_map(|axis| self.term(Role::Out, axis, 0));
        terms.chain([more.to_string()]).collect::<Vec<_>>().join(" + ")
    }

    fn store_values(&mut self, folder: &Folder, indent: &str, value: &str, more: &str) {
        let kernel = self.kernel;
        for (k, &stored) in folder.stored.iter().enumerate() {
            let (array, text) = (result(k), self.stored(folder, stored, value));
            let dtype = folder.stored_type(stored);
            match (folder.lanes, kernel.store) {
                (Lanes::Run, _) => {
                    let at = self.stored_address(folder, kernel.rank, more);
                    line!(self.text, "{indent}{array}[{at}] = ({text}).x;");
                }
                (Lanes::Anywhere, _) => {
                    line!(self.text, "{indent}{array}[i] = {};", pack(dtype, kernel.pairs, text));
                }
                (Lanes::Kept, Store::Vector) => {
                    let at = self.stored_address(folder, kernel.rank - 1, more);
                    line!(self.text, "{indent}{array}[{at} + x] = {};", pack(dtype, kernel.pairs, text));
                }
                (Lanes::Kept, _) => {
                    let at = self.stored_address(folder, kernel.rank, more);
                    line!(self.text, "{indent}let place{k} = vec4<u32>({at});");
                    line!(self.text, "{indent}let value{k} = {text};");
                    for (n, c) in "xyzw".chars().enumerate() {
                        let inner = kernel.rank - 1;
                        let guard =
                            if n == 0 { String::new() } else { format!("if (first + {n}u < p.len{inner}) ") };
                        let store = format!("{array}[place{k}.{c}] = value{k}.{c};");
                        match guard.is_empty() {
                            true => line!(self.text, "{indent}{store}"),
                            false => line!(self.text, "{indent}{guard}{{ {store} }}"),
                        }
                    }
                }
            }
        }
    }

    /// Stores each lane by itself, where there is one and its place `at` is inside the run.
    fn store_values_where(&mut self, folder: &Folder, indent: &str, value: &str, more: &str, at: &str) {
        let kernel = self.kernel;
        line!(self.text, "{indent}{{");
        for (k, &stored) in folder.stored.iter().enumerate() {
            let (array, text) = (result(k), self.stored(folder, stored, value));
            let address = self.stored_address(folder, kernel.rank, more);
            line!(self.text, "{indent}    let place{k} = {address};");
            line!(self.text, "{indent}    let value{k} = {text};");
            for (n, c) in "xyzw".chars().enumerate() {
                let exists = format!("i * {LANES}u + {n}u < p.count && {at}.{c} < p.run");
                line!(self.text, "{indent}    if ({exists}) {{ {array}[place{k}.{c}] = value{k}.{c}; }}");
            }
        }
        line!(self.text, "{indent}}}");
    }
}

/// The lines that divide `rest`: what is left over is `name`, and `rest` becomes the quotient.
pub(super) fn division(text: &mut String, name: &str, by: &str, rest: &mut String) {
    line!(text, "    let {name} = {rest} % {by};");
    line!(text, "    let after_{name} = {rest} / {by};");
    *rest = format!("after_{name}");
}

/// Operands at the end that are carried from group to group.
fn carried(folder: &Folder) -> usize {
    if matches!(folder.order, Order::Each { carried: true, .. }) { folder.values } else { 0 }
}

/// What is folded side by side: names, and types of four lanes.
fn components(folder: &Folder) -> impl Iterator<Item = (String, String)> {
    let indices = if folder.fold.row().gives_index { folder.values } else { 0 };
    let vector = lanes(ranks(folder).unwrap_or(folder.element));
    let values = (0..folder.values).map(move |i| (format!("v{i}"), vector.clone()));
    values.chain((0..indices).map(|i| (format!("at{i}"), "vec4<u32>".into())))
}

/// The type of the ranks that stand for floats where their order is what counts: integers are compared
/// by one instruction, and flushed by no adapter.
fn ranks(folder: &Folder) -> Option<DType> {
    ranks_of(folder.fold, folder.element)
}

pub(super) fn ranks_of(fold: Fold, element: DType) -> Option<DType> {
    match (fold, element) {
        (Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax, DType::F32) => Some(DType::U32),
        (Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax, DType::F64) => Some(DType::U64),
        _ => None,
    }
}

/// A value as it is folded.
fn ranked(folder: &Folder, value: String) -> String {
    match ranks(folder) {
        Some(_) => format!("{}_rank_{}({value})", folder.fold.name(), compute(folder.element)),
        None => value,
    }
}

/// A constant of the uniform block in four lanes.
pub(super) fn constant(dtype: DType, word: &str) -> String {
    match dtype {
        DType::F32 | DType::I32 => format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype)),
        DType::I64 | DType::U64 | DType::F64 => {
            let word = format!("(u64({word}_high) << 32u) | u64({word})");
            format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype))
        }
        _ => decode(dtype, format!("vec4<u32>({word})")),
    }
}

/// The element of the array that something is stored to.
pub(super) fn stored_array(kernel: &Kernel, dtype: DType) -> String {
    array(dtype, if kernel.store == Store::Lanes { 1 } else { LANES }, kernel.pairs)
}
