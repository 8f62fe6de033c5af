//! Kernels that fold blocks by halves: the elementwise body as a function of where its lanes are, and around
//! it what makes one value of many.

use super::emit::{Emitter, line, result};
use super::fold::{EACH, components, constant, ranked};
use super::types::pack;
use crate::error::Result;
use crate::plan::{Folder, Halves, LANES, Lanes, MOST_HELD, Store};

/// What is left of held values when they are folded as one line.
const TAIL: usize = 16;

/// A place that is divided out of an index: its name, the number that divides, and how that is written.
struct Coordinate {
    name: String,
    length: String,
    /// Of the factor and the shift that go with the length.
    divider: String,
    /// Whether the length may be 1, which has no factor.
    may_be_one: bool,
}

impl Coordinate {
    fn of(name: &str, number: &str) -> Coordinate {
        let divider = format!("p.{number}_factor, p.{number}_shift");
        Coordinate { name: name.into(), length: format!("p.{number}"), divider, may_be_one: true }
    }

    fn axis(axis: usize) -> Coordinate {
        let divider = format!("p.factor{axis}, p.shift{axis}");
        Coordinate { name: format!("c{axis}"), length: format!("p.len{axis}"), divider, may_be_one: false }
    }
}

impl Emitter<'_> {
    pub(super) fn fold_by_halves(&mut self, folder: &Folder, halves: Halves) -> Result<()> {
        self.declare_values(folder);
        self.folded_element(folder)?;
        self.combine(folder)?;
        let ordered = folder.fold.is_ordered(folder.element);
        if halves.loops && ordered {
            for (name, vector) in components(folder) {
                line!(self.text, "var<private> held_{name}: array<{vector}, {MOST_HELD}>;");
            }
            line!(self.text);
        }
        self.halves_head(halves);
        if halves.runs > 1 {
            self.short_runs(folder, halves);
            line!(self.text, "}}");
            return Ok(());
        }
        let item = self.item(folder, halves);
        self.places(folder, &item, "");
        let begin = match folder.lanes {
            Lanes::Run if halves.team > 1 => "position * p.block + member",
            Lanes::Run => "position * p.block",
            _ => "(position >> KEEP) * p.block + (position & MASK)",
        };
        let (shift, mask) = match folder.lanes {
            Lanes::Anywhere => ("vec4<u32>(p.keep_shift)", "vec4<u32>(p.keep - 1u)"),
            _ => ("p.keep_shift", "(p.keep - 1u)"),
        };
        line!(self.text, "    let begin = {};", begin.replace("KEEP", shift).replace("MASK", mask));
        let arguments = self.kept(folder).join(", ");
        let value = match (halves.loops, ordered) {
            (false, _) => self.straight(folder, halves.straight, "    ", "a", &arguments, "begin"),
            (true, true) => self.held(folder, halves, &arguments),
            (true, false) => self.gathered(folder, halves, &arguments),
        };
        line!(self.text, "    var v = {value};");
        if halves.meets {
            self.meet(halves.team);
        }
        match folder.lanes {
            Lanes::Run if self.kernel.store == Store::Vector => self.store_vector(folder, "    ", "v", "i"),
            Lanes::Run => {
                for turned in ["zwxy", "yxwz"] {
                    let turned: Vec<String> =
                        components(folder).map(|(name, _)| format!("v.{name}.{turned}")).collect();
                    line!(self.text, "    v = combine(v, Values({}));", turned.join(", "));
                }
                for (k, &stored) in folder.stored.iter().enumerate() {
                    let text = self.stored(folder, stored, "v");
                    line!(self.text, "    {}[{item}] = ({text}).x;", result(k));
                }
            }
            Lanes::Anywhere => self.store_vector(folder, "    ", "v", "i"),
            Lanes::Kept => self.store_values(folder, "    ", "v", "position * p.position_stride"),
        }
        line!(self.text, "}}");
        Ok(())
    }

    /// A function of the coordinates that gives the values of the program there. Past the end it loads what
    /// is there and gives the identity.
    fn folded_element(&mut self, folder: &Folder) -> Result<()> {
        let (kernel, place) = (self.kernel, self.place(folder));
        let mut parameters: Vec<String> =
            self.kept(folder).iter().map(|name| format!("{name}: {place}")).collect();
        parameters.push(format!("at: {place}"));
        line!(self.text, "fn element({}) -> Values {{", parameters.join(", "));
        let inner = kernel.rank - 1;
        let vectors = folder.lanes == Lanes::Run;
        // The place in the run that is loaded, and the coordinates there.
        let last = if vectors { format!("(p.run - 1u) / {LANES}u") } else { "p.run - 1u".to_string() };
        let last = if folder.lanes == Lanes::Anywhere { format!("vec4<u32>({last})") } else { last };
        let inside = if folder.whole { "at".to_string() } else { format!("min(at, {last})") };
        let places: Vec<Coordinate> = folder
            .run
            .clone()
            .rev()
            .map(|axis| match vectors && axis == inner {
                true => Coordinate::of("x", "inner"),
                false => Coordinate::axis(axis),
            })
            .collect();
        self.divide_out(folder, inside, places, "");
        if folder.lanes != Lanes::Anywhere {
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
        }
        self.values_of(0..kernel.operands.len())?;
        if !folder.whole {
            let exists = match folder.lanes {
                Lanes::Run => format!("(at * {LANES}u + {EACH}) < vec4<u32>(p.run)"),
                Lanes::Kept => "vec4<bool>(at < p.run)".to_string(),
                Lanes::Anywhere => "at < vec4<u32>(p.run)".to_string(),
            };
            line!(self.text, "    let exists = {exists};");
            let identity = ranked(folder, constant(folder.element, "p.identity"));
            line!(self.text, "    let identity = {identity};");
        }
        let pad = |value: String, identity: &str| match folder.whole {
            false => format!("select({identity}, {value}, exists)"),
            true => value,
        };
        let mut parts = Vec::new();
        for (i, (name, _)) in components(folder).enumerate() {
            let value = || self.value(kernel.results[i], 0);
            parts.push(match name.starts_with('v') {
                true => pad(ranked(folder, value()), "identity"),
                false => {
                    let own = match folder.lanes {
                        _ if folder.indexed => value(),
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

    /// Divides places out of an index, the innermost first; the last takes what is left.
    fn divide_out(&mut self, folder: &Folder, index: String, places: Vec<Coordinate>, suffix: &str) {
        let several = folder.lanes == Lanes::Anywhere;
        let mut rest = index;
        let count = places.len();
        for (k, place) in places.into_iter().enumerate() {
            let Coordinate { name, length, divider, may_be_one } = place;
            if k + 1 == count {
                line!(self.text, "    let {name}{suffix} = {rest};");
                break;
            }
            let quotient = match (may_be_one, several) {
                (true, true) => "shares",
                (true, false) => "share",
                (false, true) => "quotients",
                (false, false) => "quotient",
            };
            line!(self.text, "    let q_{name}{suffix} = {quotient}({rest}, {divider});");
            line!(self.text, "    let {name}{suffix} = {rest} - q_{name}{suffix} * {length};");
            rest = format!("q_{name}{suffix}");
        }
    }

    /// The coordinates of an item, and its `position` in the run.
    fn places(&mut self, folder: &Folder, item: &str, suffix: &str) {
        let rank = self.kernel.rank;
        let before = (0..folder.run.start).rev().map(Coordinate::axis);
        let mut places = Vec::new();
        match folder.lanes {
            Lanes::Run => {}
            Lanes::Kept => {
                places.push(Coordinate::of("x", "columns"));
                places.extend((folder.run.end..rank - 1).rev().map(Coordinate::axis));
            }
            Lanes::Anywhere => places.extend((folder.run.end..rank).rev().map(Coordinate::axis)),
        }
        // A short run is one block.
        if suffix.is_empty() {
            places.push(Coordinate::of("position", "positions"));
        }
        places.extend(before);
        self.divide_out(folder, item.to_string(), places, suffix);
        if folder.lanes == Lanes::Kept && self.kernel.store == Store::Lanes {
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = first + {EACH};");
        }
    }

    /// The entry point and the number of the invocation.
    fn halves_head(&mut self, halves: Halves) {
        let size = self.kernel.workgroup[0];
        if halves.meets {
            line!(self.text, "var<workgroup> shared_values: array<Values, {size}>;\n");
        }
        line!(self.text, "@compute @workgroup_size({size})");
        let local = if halves.meets { ", @builtin(local_invocation_index) local: u32" } else { "" };
        line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>{local}) {{");
        line!(self.text, "    let i = id.y * p.pitch + id.x;");
    }

    /// What an invocation folds: the number of a block, or of four where each lane has its own.
    fn item(&mut self, folder: &Folder, halves: Halves) -> String {
        match folder.lanes {
            Lanes::Run if halves.meets => {
                // What is past the end folds what is there and stores nothing, as all meet at barriers.
                line!(self.text, "    let member = i % {}u;", halves.team);
                line!(self.text, "    let item = min(i, p.count - 1u) / {}u;", halves.team);
                return "item".into();
            }
            Lanes::Anywhere => {
                line!(self.text, "    if (i * {LANES}u >= p.count) {{ return; }}");
                line!(self.text, "    let item = min(i * {LANES}u + {EACH}, vec4<u32>(p.count - 1u));");
                return "item".into();
            }
            _ => line!(self.text, "    if (i >= p.count) {{ return; }}"),
        }
        if folder.lanes == Lanes::Run && halves.team > 1 {
            line!(self.text, "    let member = i & (p.keep - 1u);");
            return "(i >> p.keep_shift)".into();
        }
        "i".into()
    }

    /// Values `p.apart` from each other, folded in the order of their places: each as soon as what it is
    /// combined with is there, so that few are held. The name of what they give.
    fn straight(
        &mut self,
        folder: &Folder,
        count: u32,
        indent: &str,
        name: &str,
        arguments: &str,
        at: &str,
    ) -> String {
        let ordered = folder.fold.is_ordered(folder.element);
        let mut last = String::new();
        for k in 0..count {
            let place = if k == 0 { at.to_string() } else { format!("{at} + {k}u * p.apart") };
            let call = if arguments.is_empty() { place } else { format!("{arguments}, {place}") };
            let mut own = format!("{name}{k}");
            line!(self.text, "{indent}let {own} = element({call});");
            if !ordered {
                if k > 0 {
                    own = format!("{name}_{k}");
                    let follow = if folds_later(folder) { "follow" } else { "combine" };
                    line!(self.text, "{indent}let {own} = {follow}({last}, {name}{k});");
                }
                last = own;
                continue;
            }
            // `x[i] + x[i + half]`, for halves of what is straight.
            let (mut half, mut number) = (count / 2, k);
            while half > 0 && number >= half {
                number -= half;
                let first = if half == count / 2 {
                    format!("{name}{number}")
                } else {
                    format!("{name}{}_{number}", 2 * half)
                };
                line!(self.text, "{indent}let {name}{half}_{number} = combine({first}, {own});");
                own = format!("{name}{half}_{number}");
                half /= 2;
            }
            last = own;
        }
        last
    }

    /// Several turns where the order shows: what each gives is held until its half is there.
    fn held(&mut self, folder: &Folder, halves: Halves, arguments: &str) -> String {
        let names: Vec<String> = components(folder).map(|(name, _)| name).collect();
        let values = |at: &str| {
            let parts: Vec<String> = names.iter().map(|name| format!("held_{name}[{at}]")).collect();
            format!("Values({})", parts.join(", "))
        };
        line!(self.text, "    let identity = {};", ranked(folder, constant(folder.element, "p.identity")));
        for name in &names {
            (0..TAIL).for_each(|k| line!(self.text, "    held_{name}[{k}] = identity;"));
        }
        line!(self.text, "    for (var j = 0u; j < p.leaves; j++) {{");
        line!(self.text, "        let at = begin + j * {};", self.straight_turn(folder));
        let own = self.straight(folder, halves.straight, "        ", "a", arguments, "at");
        for name in &names {
            line!(self.text, "        held_{name}[j] = {own}.{name};");
        }
        line!(self.text, "    }}");
        line!(self.text, "    for (var h = p.leaves >> 2u; h >= {TAIL}u; h = h >> 2u) {{");
        line!(self.text, "        for (var j = 0u; j < h; j++) {{");
        let pair = |first: &str, second: &str| format!("combine({}, {})", values(first), values(second));
        line!(self.text, "            let low = {};", pair("j", "j + 2u * h"));
        line!(self.text, "            let high = {};", pair("j + h", "j + 3u * h"));
        line!(self.text, "            let own = combine(low, high);");
        for name in &names {
            line!(self.text, "            held_{name}[j] = own.{name};");
        }
        line!(self.text, "        }}");
        line!(self.text, "    }}");
        (0..TAIL).for_each(|k| line!(self.text, "    let h{k} = {};", values(&k.to_string())));
        let (mut half, mut name) = (TAIL / 2, "h".to_string());
        while half > 0 {
            let next = format!("{name}h");
            for k in 0..half {
                line!(self.text, "    let {next}{k} = combine({name}{k}, {name}{});", k + half);
            }
            (half, name) = (half / 2, next);
        }
        format!("{name}0")
    }

    /// Several turns where no order shows.
    fn gathered(&mut self, folder: &Folder, halves: Halves, arguments: &str) -> String {
        let identity = ranked(folder, constant(folder.element, "p.identity"));
        let parts: Vec<String> = components(folder)
            .map(|(name, _)| match name.starts_with('v') {
                true => identity.clone(),
                false => "vec4<u32>(0xffffffffu)".into(),
            })
            .collect();
        line!(self.text, "    var all = Values({});", parts.join(", "));
        line!(self.text, "    for (var j = 0u; j < p.leaves; j++) {{");
        line!(self.text, "        let at = begin + j * {};", self.straight_turn(folder));
        let own = self.straight(folder, halves.straight, "        ", "a", arguments, "at");
        line!(self.text, "        all = combine(all, {own});");
        line!(self.text, "    }}");
        "all".into()
    }

    fn straight_turn(&self, folder: &Folder) -> &'static str {
        if folder.lanes == Lanes::Anywhere { "vec4<u32>(p.step)" } else { "p.step" }
    }

    /// Invocations of a workgroup make one value of theirs: four meet at a time, so that barriers are few.
    fn meet(&mut self, team: u32) {
        line!(self.text, "    shared_values[local] = v;");
        let mut left = team / 4;
        while left > 0 {
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    if (member < {left}u) {{");
            let own = |k: u32| format!("shared_values[local + {}u]", k * left);
            line!(self.text, "        v = combine(combine(v, {}), combine({}, {}));", own(2), own(1), own(3));
            if left > 1 {
                line!(self.text, "        shared_values[local] = v;");
            }
            line!(self.text, "    }}");
            left /= 4;
        }
        line!(self.text, "    if ((member > 0u) | (i >= p.count)) {{ return; }}");
    }

    /// Short runs, several to an invocation: the lanes of four become vectors of one lane each, so that what
    /// is left of a run needs no shuffling and is stored as vectors.
    fn short_runs(&mut self, folder: &Folder, halves: Halves) {
        let groups = halves.runs / LANES as u32;
        line!(self.text, "    if (i * {}u >= p.count) {{ return; }}", halves.runs);
        for run in 0..halves.runs {
            let suffix = format!("_{run}");
            line!(self.text, "    let item{suffix} = min(i * {}u + {run}u, p.count - 1u);", halves.runs);
            self.places(folder, &format!("item{suffix}"), &suffix);
        }
        for group in 0..groups {
            let mut names = Vec::new();
            for run in group * LANES as u32..(group + 1) * LANES as u32 {
                let arguments: Vec<String> =
                    self.kept(folder).iter().map(|name| format!("{name}_{run}")).collect();
                let name = format!("r{run}_");
                names.push(self.straight(
                    folder,
                    halves.straight,
                    "    ",
                    &name,
                    &arguments.join(", "),
                    "0u",
                ));
            }
            for lane in "xyzw".chars() {
                let parts: Vec<String> = components(folder)
                    .map(|(name, vector)| {
                        let each: Vec<String> =
                            names.iter().map(|run| format!("{run}.{name}.{lane}")).collect();
                        format!("{vector}({})", each.join(", "))
                    })
                    .collect();
                line!(self.text, "    let {lane}{group} = Values({});", parts.join(", "));
            }
            let halves = format!("combine(x{group}, z{group}), combine(y{group}, w{group})");
            line!(self.text, "    let run{group} = combine({halves});");
        }
        for group in 0..groups {
            let at = format!("i * {groups}u + {group}u");
            line!(self.text, "    if (({at}) * {LANES}u < p.count) {{");
            self.store_vector(folder, "        ", &format!("run{group}"), &at);
            line!(self.text, "    }}");
        }
    }

    /// Stores four lanes side by side.
    fn store_vector(&mut self, folder: &Folder, indent: &str, value: &str, at: &str) {
        for (k, &stored) in folder.stored.iter().enumerate() {
            let text = self.stored(folder, stored, value);
            let text = pack(folder.stored_type(stored), self.kernel.wide_words, text);
            line!(self.text, "{indent}{}[{at}] = {text};", result(k));
        }
    }
}

/// Whether an invocation meets elements in the order of their indexes, so that of equal ones the first wins
/// without a look at these.
pub(super) fn folds_later(folder: &Folder) -> bool {
    folder.fold.row().gives_index && !folder.indexed
}
