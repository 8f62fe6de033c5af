//! Kernels of a radix sort: they count the digits of a tile, or move its elements. Elements are loaded as they lie, and
//! their digits are kept in workgroup memory. There each invocation counts the digits of neighbouring elements, and
//! finds how many equal digits come before its own.

use super::emitter::Emitter;
use super::text::line;
use crate::ir::KeyKind;
use crate::plan::{Moved, Sorter};

/// Counts that one invocation adds up.
const SECTION: u32 = 8;

/// The texts of a pass.
struct Pass<'a> {
    sorter: &'a Sorter,
    /// The names of its operands: elements, their indices, and the destinations of digits. Empty if it has none.
    values: String,
    indices: String,
    offsets: String,
    digits: u32,
}

impl Pass<'_> {
    fn moved(&self) -> Moved {
        self.sorter.moved.unwrap_or_default()
    }

    /// What the key of an element is made of.
    fn of(&self) -> &'static str {
        match (self.sorter.by_row, self.sorter.words) {
            (true, _) => "index",
            (_, 2) => "low, high",
            _ => "low",
        }
    }

    /// Loads the words of an element, and its index.
    fn load(&self, text: &mut String, values_too: bool, index_too: bool) {
        let Pass { sorter, values, indices, .. } = self;
        line!(text, "        let at = first + k;");
        match sorter.words {
            _ if !values_too => {}
            _ if sorter.kind == KeyKind::Bool => {
                line!(text, "        let low = ({values}[at / 4u] >> (at % 4u * 8u)) & 1u;");
            }
            1 => line!(text, "        let low = {values}[at];"),
            _ => {
                line!(text, "        let low = {values}[at * 2u];");
                line!(text, "        let high = {values}[at * 2u + 1u];");
            }
        }
        match (index_too, sorter.reads_indices()) {
            (false, _) => {}
            (true, true) => line!(text, "        let index = {indices}[at];"),
            (true, false) => line!(text, "        let index = p.start + before + k;"),
        }
    }

    /// Moves an element to a place, under a condition.
    fn store(&self, text: &mut String, place: &str, condition: &str) {
        let moved = self.moved();
        line!(text, "        let to = {place} - p.low;");
        line!(text, "        if ({condition}) {{");
        let mut results = ["result", "result1"].into_iter().peekable();
        if let Some(result) = results.next_if(|_| moved.values) {
            match self.sorter.words {
                1 => line!(text, "            {result}[to] = low;"),
                _ => {
                    line!(text, "            {result}[to * 2u] = low;");
                    line!(text, "            {result}[to * 2u + 1u] = high;");
                }
            }
        }
        if let Some(result) = results.next().filter(|_| moved.indices) {
            let index = if moved.of_row { "index % p.row" } else { "index" };
            line!(text, "            {result}[to] = {index};");
        }
        line!(text, "        }}");
    }
}

impl Emitter<'_> {
    pub(super) fn sort(&mut self, sorter: &Sorter) {
        let Sorter { digit, group, .. } = *sorter;
        let (digits, tile) = (1_u32 << digit, sorter.tile());
        let mut inputs = (0..).map(|i| format!("in{i}"));
        let mut input =
            |is_read: bool| if is_read { inputs.next().unwrap_or_default() } else { String::new() };
        let [values, indices, offsets] =
            [sorter.reads_values(), sorter.reads_indices(), sorter.moved.is_some()].map(&mut input);
        let pass = Pass { sorter, values, indices, offsets, digits };
        line!(self.text, "var<workgroup> counts: array<u32, {}>;", group * digits / 2);
        line!(self.text, "var<workgroup> sums: array<u32, {group}>;");
        if sorter.moved.is_some() {
            line!(self.text, "var<workgroup> bases: array<u32, {digits}>;");
            // The digit of each element and how many equal ones its invocation has before it, then its destination.
            line!(self.text, "var<workgroup> places: array<u32, {tile}>;");
        }
        line!(self.text, "");
        // Words of workgroup memory lie in 32 banks. Invocations that each read the first of `each` words would meet in a
        // few banks, so the words are exchanged within `each`.
        line!(self.text, "fn apart(i: u32, each: u32) -> u32 {{");
        line!(self.text, "    return i ^ ((i >> 5u) & (each - 1u));\n}}\n");
        line!(self.text, "fn digit({}: u32) -> u32 {{", pass.of().replace(',', ": u32,"));
        match sorter.by_row {
            true => line!(self.text, "    let key = index / p.row;"),
            false => self.key(sorter),
        }
        line!(self.text, "    return (key >> (p.shift & 31u)) & {}u;\n}}\n", digits - 1);
        self.numbered_tile(group);
        line!(self.text, "    let row = number / p.tiles;");
        line!(self.text, "    let tile = number % p.tiles;");
        line!(self.text, "    let before = tile * {tile}u;");
        line!(self.text, "    let first = row * p.length + before;");
        line!(self.text, "    let size = min(p.length - before, {tile}u);");
        line!(self.text, "    let counted = row * {digits}u * p.all + p.before + tile;");
        match sorter.moved {
            None => self.counted_tile(&pass),
            Some(moved) => self.moved(&pass, moved),
        }
    }

    /// Counts a tile's digits. Each invocation counts its elements' in two words: `below` has the lower half of all digits,
    /// and `above` the upper half, four bits for each count. Workgroup memory has a word for two digits, one of each half.
    fn counted_tile(&mut self, pass: &Pass<'_>) {
        let Sorter { group, each, by_row, .. } = *pass.sorter;
        line!(self.text, "    var below = 0u;");
        line!(self.text, "    var above = 0u;");
        line!(self.text, "    for (var j = 0u; j < {each}u; j += 1u) {{");
        line!(self.text, "        let slot = j * {group}u + local;");
        line!(self.text, "        let k = min(slot, size - 1u);");
        pass.load(self.text, !by_row, by_row);
        line!(self.text, "        let d = digit({});", pass.of());
        self.counted(pass);
        line!(self.text, "    }}");
        self.tallied(pass);
        line!(self.text, "}}");
    }

    /// Counts the digit `d` of the element of a `slot` of a tile.
    fn counted(&mut self, pass: &Pass<'_>) {
        let half = pass.digits / 2;
        line!(self.text, "        let one = select(0u, 1u << (d % {half}u * 4u), slot < size);");
        line!(self.text, "        below += select(0u, one, d < {half}u);");
        line!(self.text, "        above += select(one, 0u, d < {half}u);");
    }

    /// The counts of a tile's digits. If elements move, each count becomes the sum of those of earlier invocations.
    fn tallied(&mut self, pass: &Pass<'_>) {
        let Sorter { group, moved, .. } = *pass.sorter;
        let half = pass.digits / 2;
        let (sections, moves) = (group / SECTION, moved.is_some());
        line!(self.text, "    for (var i = 0u; i < {half}u; i += 1u) {{");
        line!(
            self.text,
            "        let both = ((below >> (4u * i)) & 15u) | (((above >> (4u * i)) & 15u) << 16u);"
        );
        line!(self.text, "        counts[apart(i * {group}u + local, {SECTION}u)] = both;");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    var sum = 0u;");
        line!(self.text, "    if (local < {}u) {{", half * sections);
        line!(self.text, "        for (var i = 0u; i < {SECTION}u; i += 1u) {{");
        line!(self.text, "            let at = apart(local * {SECTION}u + i, {SECTION}u);");
        line!(self.text, "            let own = counts[at];");
        if moves {
            line!(self.text, "            counts[at] = sum;");
        }
        line!(self.text, "            sum += own;");
        line!(self.text, "        }}");
        line!(self.text, "        sums[apart(local, {sections}u)] = sum;");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    if (local < {half}u) {{");
        line!(self.text, "        sum = 0u;");
        line!(self.text, "        for (var i = 0u; i < {sections}u; i += 1u) {{");
        line!(self.text, "            let at = apart(local * {sections}u + i, {sections}u);");
        line!(self.text, "            let own = sums[at];");
        if moves {
            line!(self.text, "            sums[at] = sum;");
        }
        line!(self.text, "            sum += own;");
        line!(self.text, "        }}");
        if !moves {
            line!(self.text, "        result[counted + local * p.all] = sum & 0xffffu;");
            line!(self.text, "        result[counted + (local + {half}u) * p.all] = sum >> 16u;");
        }
        line!(self.text, "    }}");
    }

    /// Moves a tile's elements. The order of equal digits is that of elements, so an invocation counts neighbouring
    /// elements, though neighbours load them.
    fn moved(&mut self, pass: &Pass<'_>, moved: Moved) {
        let Pass { sorter, offsets, digits, .. } = pass;
        let Sorter { group, each, by_row, .. } = **sorter;
        let half = digits / 2;
        line!(
            self.text,
            "    if (local < {digits}u) {{ bases[local] = {offsets}[counted + local * p.all]; }}"
        );
        line!(self.text, "    for (var j = 0u; j < {each}u; j += 1u) {{");
        line!(self.text, "        let slot = j * {group}u + local;");
        line!(self.text, "        let k = min(slot, size - 1u);");
        pass.load(self.text, !by_row, by_row);
        line!(self.text, "        places[apart(slot, {each}u)] = digit({});", pass.of());
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    var below = 0u;");
        line!(self.text, "    var above = 0u;");
        line!(self.text, "    for (var j = 0u; j < {each}u; j += 1u) {{");
        line!(self.text, "        let slot = local * {each}u + j;");
        line!(self.text, "        let d = places[apart(slot, {each}u)];");
        line!(
            self.text,
            "        let rank = (select(above, below, d < {half}u) >> (d % {half}u * 4u)) & 15u;"
        );
        line!(self.text, "        places[apart(slot, {each}u)] = d | (rank << 4u);");
        self.counted(pass);
        line!(self.text, "    }}");
        self.tallied(pass);
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    for (var j = 0u; j < {each}u; j += 1u) {{");
        line!(self.text, "        let at = apart(local * {each}u + j, {each}u);");
        line!(self.text, "        let d = places[at] & 15u;");
        line!(self.text, "        let own = d % {half}u * {group}u + local;");
        let sum = format!("sums[apart(own / {SECTION}u, {}u)]", group / SECTION);
        line!(self.text, "        let both = counts[apart(own, {SECTION}u)] + {sum};");
        line!(self.text, "        let before = (both >> (d / {half}u * 16u)) & 0xffffu;");
        line!(self.text, "        places[at] = bases[d] + before + (places[at] >> 4u);");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    for (var j = 0u; j < {each}u; j += 1u) {{");
        line!(self.text, "        let slot = j * {group}u + local;");
        line!(self.text, "        let k = min(slot, size - 1u);");
        pass.load(self.text, moved.values, moved.indices);
        pass.store(self.text, &format!("places[apart(slot, {each}u)]"), "(to < p.size) & (slot < size)");
        line!(self.text, "    }}\n}}");
    }

    /// The lines that make the word of a `key` that has the digit, from the word `low` and, for two words, `high`, as
    /// [`KeyKind`] defines it.
    fn key(&mut self, sorter: &Sorter) {
        const SIGN: &str = "0x80000000u";
        let is_wide = sorter.words > 1;
        let top = if is_wide { "high" } else { "low" };
        match sorter.kind {
            KeyKind::Unsigned | KeyKind::Bool => line!(self.text, "    let top = {top};"),
            KeyKind::Signed => line!(self.text, "    let top = {top} ^ {SIGN};"),
            KeyKind::Float => {
                let (zero, nan) = match is_wide {
                    false => ("rest == 0u", "rest > 0x7f800000u"),
                    true => {
                        ("(rest | low) == 0u", "(rest > 0x7ff00000u || (rest == 0x7ff00000u && low != 0u))")
                    }
                };
                line!(self.text, "    let rest = {top} & 0x7fffffffu;");
                line!(self.text, "    let is_nan = {nan};");
                line!(self.text, "    let is_below = {top} >= {SIGN} && !({zero});");
                line!(self.text, "    let flipped = {top} ^ select({SIGN}, 0xffffffffu, is_below);");
                line!(self.text, "    let signed = select(flipped, {SIGN}, {zero});");
                line!(self.text, "    let top = select(signed, 0xffffffffu, is_nan);");
            }
        }
        let of_low = match (is_wide, sorter.kind) {
            (false, _) => "top",
            (true, KeyKind::Float) => "select(low ^ select(0u, 0xffffffffu, is_below), 0xffffffffu, is_nan)",
            (true, _) => "low",
        };
        match is_wide {
            false => line!(self.text, "    let key = {of_low} ^ p.flip;"),
            true => line!(self.text, "    let key = select({of_low}, top, p.shift >= 32u) ^ p.flip;"),
        }
    }
}
