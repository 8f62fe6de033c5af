//! The tiles of a scan, of whose groups each invocation has one.

use super::emitter::Emitter;
use super::text::line;
use super::types::lanes;
use crate::ir::GROUP;
use crate::plan::{LANES, Scanned, Scanner};

/// Values of a group in vectors along the run.
pub(super) const VECTORS: usize = GROUP / LANES;

impl Emitter<'_> {
    /// The values of a group: along the run from the names of its vectors, across runs from the names of all.
    fn prefixes(&mut self, scanner: &Scanner) {
        let name = |k: usize| match scanner.along {
            true => format!("a{}.{}", k / LANES, ["x", "y", "z", "w"][k % LANES]),
            false => format!("a{k}"),
        };
        line!(self.text, "    let g0 = {};", name(0));
        for k in 1..GROUP {
            line!(self.text, "    let g{k} = join(g{}, {});", k - 1, name(k));
        }
    }

    /// Loads a group by its number in the run, a vector across runs for each value. The first lies at `row`.
    fn load_group(&mut self, scanner: &Scanner, group: &str) {
        line!(self.text, "    let row = ({group}) * {GROUP}u;");
        for k in 0..GROUP {
            let places = self.scan_places(scanner, &format!("row + {k}u"), "");
            line!(self.text, "    let a{k} = element({places});");
        }
    }

    /// Stores the results of a group across runs.
    fn store_group(&mut self, scanner: &Scanner, values: &[String]) {
        for (k, value) in values.iter().enumerate() {
            let places = self.scan_places(scanner, &format!("row + {k}u"), "");
            line!(self.text, "        store({places}, {value});");
        }
    }

    /// The stored values of a group `g0` to `g15` after the state `before_group`. An exclusive scan stores them one place
    /// further on, after `previous`. Returns sixteen names.
    fn results(&mut self, scanner: &Scanner) -> Vec<String> {
        for k in 0..GROUP {
            line!(self.text, "    let r{k} = after(before_group, g{k});");
        }
        let value = |k: usize| match scanner.exclusive {
            true if k == 0 => "previous".to_string(),
            true => format!("r{}", k - 1),
            false => format!("r{k}"),
        };
        (0..GROUP).map(value).collect()
    }

    /// Stores the tile's last value, and its parts, the last group first.
    fn store_last(&mut self, scanner: &Scanner, own: &[&str]) {
        let all = own[1..].iter().fold(own[0].to_string(), |rest, part| format!("join({part}, {rest})"));
        let places = self.scan_places(scanner, "position", "");
        for (part, value) in std::iter::once(&all.as_str()).chain(own).enumerate() {
            line!(self.text, "        store({places}, {part}u, {value});");
        }
    }

    /// A group for each invocation. Sixteen invocations make a group of groups in workgroup memory.
    pub(super) fn group_each(&mut self, scanner: &Scanner) {
        let (along, levels, groups) = (scanner.along, scanner.levels, scanner.groups());
        let (workgroup, is_last) = (self.kernel.workgroup[0], scanner.scanned == Scanned::Lasts);
        // The places of a tile's values in workgroup memory: the first one, and their distance.
        let lane = if along { ".x" } else { "" };
        let (first, apart) =
            if along { ("local - group", 1) } else { ("own_item - tiles", workgroup / groups) };
        if along {
            self.turned(scanner);
        } else {
            self.load_group(scanner, &format!("position * {groups}u + group"));
        }
        self.prefixes(scanner);
        let last = format!("g{}", GROUP - 1);
        line!(self.text, "    let first = {first};");
        if levels > 1 {
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    shared_values[local]{lane} = {last};");
            line!(self.text, "    workgroupBarrier();");
            // All groups before this one, in its group of groups or in the one before.
            line!(self.text, "    let until = max(group, 1u) - 1u;");
            line!(self.text, "    var z1 = identity;");
            line!(self.text, "    for (var k = until & {}u; k <= until; k++) {{", !(GROUP as u32 - 1));
            line!(self.text, "        z1 = join(z1, shared_values[first + k * {apart}u]{lane});");
            line!(self.text, "    }}");
        }
        if levels > 2 {
            line!(self.text, "    let above = until / {GROUP}u;");
            line!(self.text, "    if ((group % {GROUP}u == 0u) & (group > 0u)) {{");
            line!(self.text, "        shared_values[{workgroup}u + above]{lane} = z1;");
            line!(self.text, "    }}");
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    var z2 = identity;");
            line!(self.text, "    for (var k = 0u; k < above; k++) {{");
            line!(self.text, "        z2 = join(z2, shared_values[{workgroup}u + k]{lane});");
            line!(self.text, "    }}");
        }
        if is_last {
            line!(self.text, "    if ((group == {}u) & (own_item < p.count)) {{", groups - 1);
            self.store_last(scanner, &[&last, "z1", "z2"][..levels as usize]);
            line!(self.text, "    }}");
            return;
        }
        line!(self.text, "    var before_group = b1_first;");
        if levels > 1 {
            line!(self.text, "    if (group > 0u) {{ before_group = join(b2_first, z1); }}");
        }
        if levels > 2 {
            line!(self.text, "    if (above > 0u) {{ before_group = join(join(b3_first, z2), z1); }}");
        }
        line!(self.text, "    var previous = b0_first;");
        if scanner.exclusive && levels > 1 {
            line!(self.text, "    workgroupBarrier();");
            line!(self.text, "    shared_values[local]{lane} = after(before_group, {last});");
            line!(self.text, "    workgroupBarrier();");
            let shared = format!("shared_values[first + until * {apart}u]{lane}");
            line!(self.text, "    if (group > 0u) {{ previous = {shared}; }}");
        }
        let values = self.results(scanner);
        if along {
            self.turned_back(scanner, &values);
            return;
        }
        line!(self.text, "    if (own_item < p.count) {{");
        self.store_group(scanner, &values);
        line!(self.text, "    }}");
    }

    /// Loads the vectors of a workgroup in the order of memory, and hands each invocation the vectors of its group through
    /// workgroup memory. Their places there put neighbours' vectors in different banks.
    fn turned(&mut self, scanner: &Scanner) {
        let (workgroup, vectors) = (self.kernel.workgroup[0], scanner.groups() * VECTORS as u32);
        for k in 0..VECTORS {
            line!(self.text, "    let vector{k} = local + {}u;", k as u32 * workgroup);
            line!(self.text, "    let item{k} = tiles + vector{k} / {vectors}u;");
            self.tile_at(scanner, &format!("item{k}"), &format!("_{k}"));
            line!(self.text, "    let at{k} = position_{k} * {vectors}u + vector{k} % {vectors}u;");
            let places = self.scan_places(scanner, &format!("at{k}"), &format!("_{k}"));
            line!(self.text, "    let loaded{k} = element({places});");
        }
        for k in 0..VECTORS {
            line!(self.text, "    shared_values[{}] = loaded{k};", bank(&format!("vector{k}")));
        }
        line!(self.text, "    workgroupBarrier();");
        for k in 0..VECTORS {
            line!(self.text, "    let own{k} = local * {VECTORS}u + {k}u;");
            line!(self.text, "    let a{k} = shared_values[{}];", bank(&format!("own{k}")));
        }
    }

    /// Stores the values of groups as they lie in memory.
    fn turned_back(&mut self, scanner: &Scanner, values: &[String]) {
        line!(self.text, "    workgroupBarrier();");
        for (k, value) in vectors(scanner, values).enumerate() {
            line!(self.text, "    shared_values[{}] = {value};", bank(&format!("own{k}")));
        }
        line!(self.text, "    workgroupBarrier();");
        for k in 0..VECTORS {
            let places = self.scan_places(scanner, &format!("at{k}"), &format!("_{k}"));
            let value = format!("shared_values[{}]", bank(&format!("vector{k}")));
            line!(self.text, "    if (item{k} < p.count) {{ store({places}, {value}); }}");
        }
    }
}

/// The vectors that some values are.
fn vectors(scanner: &Scanner, values: &[String]) -> impl Iterator<Item = String> {
    let of = lanes(scanner.element);
    values.chunks(LANES).map(move |four| format!("{of}({})", four.join(", ")))
}

/// The place of a vector in workgroup memory: a permutation within each eight.
fn bank(vector: &str) -> String {
    format!("{vector} ^ (({vector} >> 3u) & 7u)")
}
