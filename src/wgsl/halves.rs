//! Kernels that fold blocks by halves: the elementwise body as a function of where its lanes are, and around
//! it what makes one value of many.

use super::emitter::Emitter;
use super::text::{EACH, line, result};
use super::types::pack;
use super::values::{Traversal, Values};
use crate::error::Result;
use crate::plan::{Folder, Halves, LANES, Lanes, Store};

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
    pub(super) fn halves(&mut self, folder: &Folder, halves: Halves) -> Result<()> {
        let values = Values::of_fold(folder, self.kernel.vectors);
        self.values(&values)?;
        self.folded_element(folder, &values)?;
        let (arguments, place) = (self.kept(folder), self.place(folder));
        self.fold_function(
            &values,
            &Traversal {
                parameters: arguments.iter().map(|name| format!("{name}: {place}")).collect(),
                arguments: arguments.clone(),
                place,
                straight: halves.straight,
                in_order: halves.shares(),
                apart: "p.apart".into(),
                step: "p.step".into(),
                count: "p.leaves".into(),
                turns: halves.turns,
            },
        );
        self.halves_head(&values, halves);
        if halves.runs > 1 {
            self.short_runs(folder, &values, halves.runs);
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
        line!(self.text, "    var v = {};", values.folded(arguments.into_iter().chain(["begin".into()])));
        if halves.meets {
            self.meet(&values, halves.team, "v");
            line!(self.text, "    if ((member > 0u) | (i >= p.count)) {{ return; }}");
        }
        match folder.lanes {
            Lanes::Run if self.kernel.store == Store::Vector => {
                for vector in 0..self.kernel.vectors {
                    let at = self.place_of_vector("i", vector);
                    self.store_vector(folder, &values, "    ", "v", &at, vector);
                }
            }
            Lanes::Run => {
                self.across_pair(&values, "v");
                self.across_lanes(&values, "v");
                for (k, &stored) in folder.stored.iter().enumerate() {
                    let text = self.stored(&values, stored, "v", 0);
                    line!(self.text, "    {}[{item}] = ({text}).x;", result(k));
                }
            }
            Lanes::Anywhere => self.store_vector(folder, &values, "    ", "v", "i", 0),
            Lanes::Kept => self.store_values(folder, &values, "v", "position * p.position_stride"),
        }
        line!(self.text, "}}");
        Ok(())
    }

    /// A function of the coordinates that gives the values of the program there. Past the end it loads what
    /// is there and gives the identity.
    fn folded_element(&mut self, folder: &Folder, values: &Values) -> Result<()> {
        let (kernel, place) = (self.kernel, self.place(folder));
        let mut parameters: Vec<String> =
            self.kept(folder).iter().map(|name| format!("{name}: {place}")).collect();
        parameters.push(format!("at: {place}"));
        line!(self.text, "fn element({}) -> Values {{", parameters.join(", "));
        let inner = kernel.rank - 1;
        let vectors = folder.lanes == Lanes::Run;
        let pitch = self.pitch();
        // The place in the run that is loaded, and the coordinates there.
        let last = if vectors { format!("(p.run - 1u) / {pitch}u") } else { "p.run - 1u".to_string() };
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
        if folder.lanes != Lanes::Anywhere && kernel.vectors == 1 {
            line!(self.text, "    let first = x * {LANES}u;");
            line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.len{inner} - 1u));");
        }
        self.values_of(kernel.operands.len())?;
        if !folder.whole {
            self.exists(folder.lanes, place);
        }
        let padded = |vector: u32, value: String, identity: &str| match folder.whole {
            false => format!("select({identity}, {value}, exists{})", self.suffix(vector)),
            true => value,
        };
        let mut all = Vec::new();
        let parts = (0..kernel.vectors).flat_map(|vector| (0..folder.values).map(move |i| (vector, i)));
        for ((vector, i), part) in parts.zip(values.parts()) {
            let value = part.folded(self.value(kernel.results[i], vector));
            all.push(padded(vector, value, &part.identity()));
        }
        for i in (0..folder.values).filter(|_| values.gives_index()) {
            let own = match folder.lanes {
                _ if folder.indexed => self.value(kernel.results[folder.values + i], 0),
                Lanes::Run => format!("at * {LANES}u + {EACH}"),
                Lanes::Kept => "vec4<u32>(at)".into(),
                Lanes::Anywhere => "at".into(),
            };
            all.push(padded(0, own, "vec4<u32>(0xffffffffu)"));
        }
        line!(self.text, "    return {};", values.of(all));
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
    fn halves_head(&mut self, values: &Values, halves: Halves) {
        if halves.meets {
            self.declare_shared(values);
        }
        let places = self.declare_held([(values, halves.turns)]);
        self.entry(halves.meets, places);
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

    /// Short runs, several to an invocation: the lanes of four become vectors of one lane each, so that what
    /// is left of a run needs no shuffling and is stored as vectors.
    fn short_runs(&mut self, folder: &Folder, values: &Values, runs: u32) {
        let groups = runs / LANES as u32;
        line!(self.text, "    if (i * {runs}u >= p.count) {{ return; }}");
        for run in 0..runs {
            let suffix = format!("_{run}");
            line!(self.text, "    let item{suffix} = min(i * {runs}u + {run}u, p.count - 1u);");
            self.places(folder, &format!("item{suffix}"), &suffix);
            let kept = self.kept(folder).into_iter().map(|name| name + &suffix);
            let own = format!("r{run}");
            line!(self.text, "    var {own} = {};", values.folded(kept.chain(["0u".into()])));
            self.across_pair(values, &own);
        }
        for group in 0..groups {
            let runs = group * LANES as u32..(group + 1) * LANES as u32;
            for lane in "xyzw".chars() {
                let parts = values.names().map(|(name, vector)| {
                    let each: Vec<String> = runs.clone().map(|run| format!("r{run}.{name}.{lane}")).collect();
                    format!("{vector}({})", each.join(", "))
                });
                line!(self.text, "    let {lane}{group} = {};", values.of(parts));
            }
            let both = |a: char, b: char| values.combined(&format!("{a}{group}"), &format!("{b}{group}"));
            line!(self.text, "    let run{group} = {};", values.combined(&both('x', 'z'), &both('y', 'w')));
        }
        for group in 0..groups {
            let at = format!("i * {groups}u + {group}u");
            line!(self.text, "    if (({at}) * {LANES}u < p.count) {{");
            self.store_vector(folder, values, "        ", &format!("run{group}"), &at, 0);
            line!(self.text, "    }}");
        }
    }

    /// Stores four lanes of a vector side by side.
    fn store_vector(
        &mut self,
        folder: &Folder,
        values: &Values,
        indent: &str,
        value: &str,
        at: &str,
        vector: u32,
    ) {
        for (k, &stored) in folder.stored.iter().enumerate() {
            let text = self.stored(values, stored, value, vector);
            let text = pack(folder.stored_type(stored), self.kernel.wide_words, text);
            line!(self.text, "{indent}{}[{at}] = {text};", result(k));
        }
    }
}
