//! Kernels of a radix sort: they count the digits of a tile, or move its elements. Elements are loaded as they lie, and
//! their digits are kept in workgroup memory. There each invocation counts the digits of neighbouring elements, and
//! finds how many equal digits come before its own. On the host's processor each invocation has a tile of its own, and
//! goes through it from begin to end.

use super::emitter::Emitter;
use super::text::line;
use crate::ir::KeyKind;
use crate::plan::Sorter;

impl Emitter<'_> {
    pub(super) fn sort(&mut self, sorter: &Sorter) {
        if let Some(table) = sorter.table {
            return self.counted(sorter, table);
        }
        let Sorter { digit, group, each, words, .. } = *sorter;
        let digits = 1_u32 << digit;
        // This many invocations add up the counts of a digit, each for a section.
        let sections = (group / digits).max(1);
        let section = group / sections;
        let tile = sorter.tile();
        let mut inputs = (0..).map(|i| format!("in{i}"));
        let mut input =
            |is_read: bool| if is_read { inputs.next().unwrap_or_default() } else { String::new() };
        let values = input(sorter.reads_values());
        let indices = input(sorter.reads_indices());
        let offsets = input(sorter.moved.is_some());
        let word =
            |k: u32| if words == 1 { format!("{values}[at]") } else { format!("{values}[at * 2u + {k}u]") };

        if sorter.meets || digits > 2 {
            line!(self.text, "var<workgroup> counts: array<u32, {}>;", group * digits);
        }
        if sorter.meets {
            line!(self.text, "var<workgroup> sums: array<u32, {}>;", digits * sections);
            // The digit of each element, and then its destination.
            line!(self.text, "var<workgroup> places: array<u32, {tile}>;\n");
        }
        line!(self.text, "fn digit(at: u32) -> u32 {{");
        if sorter.by_row {
            line!(self.text, "    let key = {indices}[at] / p.row;");
        } else {
            line!(self.text, "    let low = {};", word(0));
            self.key(sorter, &word(1));
        }
        line!(self.text, "    return (key >> (p.shift & 31u)) & {}u;\n}}\n", digits - 1);

        line!(self.text, "@compute @workgroup_size({group})");
        let local = "@builtin(local_invocation_index) local: u32";
        line!(self.text, "fn main(@builtin(workgroup_id) id: vec3<u32>, {local}) {{");
        match sorter.meets {
            true => line!(self.text, "    let number = id.y * p.pitch + id.x;"),
            false => line!(self.text, "    let number = (id.y * p.pitch + id.x) * {group}u + local;"),
        }
        line!(self.text, "    if (number >= p.count) {{ return; }}");
        line!(self.text, "    let row = number / p.tiles;");
        line!(self.text, "    let tile = number % p.tiles;");
        line!(self.text, "    let before = tile * {tile}u;");
        line!(self.text, "    let first = row * p.length + before;");
        line!(self.text, "    let size = min(p.length - before, {tile}u);");
        line!(self.text, "    let counted = row * {digits}u * p.all + p.before + tile;");
        let moves = |text: &mut String, to: &str| {
            line!(text, "        let at = first + k;");
            line!(text, "        let to = {to} - p.low;");
            line!(text, "        if (to < p.size) {{");
            let mut results = ["result", "result1"].into_iter().peekable();
            let moved = sorter.moved.unwrap_or_default();
            if let Some(result) = results.next_if(|_| moved.values) {
                match words {
                    1 => line!(text, "            {result}[to] = {};", word(0)),
                    _ => (0..words).for_each(|k| {
                        line!(text, "            {result}[to * 2u + {k}u] = {};", word(k));
                    }),
                }
            }
            if let Some(result) = results.next().filter(|_| moved.indices) {
                let index = match sorter.reads_indices() {
                    true => format!("{indices}[at]"),
                    false => "p.start + before + k".into(),
                };
                let index = if moved.of_row { format!("{index} % p.row") } else { index };
                line!(text, "            {result}[to] = {index};");
            }
            line!(text, "        }}");
        };
        if !sorter.meets {
            return self.alone(sorter, &offsets, moves);
        }
        line!(
            self.text,
            "    for (var k = local; k < size; k += {group}u) {{ places[k] = digit(first + k); }}"
        );
        line!(
            self.text,
            "    for (var d = 0u; d < {digits}u; d += 1u) {{ counts[d * {group}u + local] = 0u; }}"
        );
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    let begin = min(local * {each}u, size);");
        line!(self.text, "    let end = min(begin + {each}u, size);");
        line!(self.text, "    for (var k = begin; k < end; k += 1u) {{");
        line!(self.text, "        counts[places[k] * {group}u + local] += 1u;");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        // Each count becomes the sum of earlier counts in its section.
        line!(self.text, "    for (var k = local; k < {}u; k += {group}u) {{", digits * sections);
        line!(self.text, "        let begun = k * {section}u;");
        line!(self.text, "        var sum = 0u;");
        line!(self.text, "        for (var i = begun; i < begun + {section}u; i += 1u) {{");
        line!(self.text, "            let own = counts[i];");
        line!(self.text, "            counts[i] = sum;");
        line!(self.text, "            sum += own;");
        line!(self.text, "        }}");
        line!(self.text, "        sums[k] = sum;");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    for (var d = local; d < {digits}u; d += {group}u) {{");
        if sorter.moved.is_none() {
            line!(self.text, "        var sum = 0u;");
            line!(
                self.text,
                "        for (var i = 0u; i < {sections}u; i += 1u) {{ sum += sums[d * {sections}u + i]; }}"
            );
            line!(self.text, "        result[counted + d * p.all] = sum;");
            line!(self.text, "    }}\n}}");
            return;
        }
        line!(self.text, "        var sum = {offsets}[counted + d * p.all];");
        line!(self.text, "        for (var i = d * {sections}u; i < (d + 1u) * {sections}u; i += 1u) {{");
        line!(self.text, "            let own = sums[i];");
        line!(self.text, "            sums[i] = sum;");
        line!(self.text, "            sum += own;");
        line!(self.text, "        }}");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    for (var k = begin; k < end; k += 1u) {{");
        line!(self.text, "        let d = places[k];");
        line!(self.text, "        let own = d * {group}u + local;");
        line!(self.text, "        places[k] = sums[d * {sections}u + local / {section}u] + counts[own];");
        line!(self.text, "        counts[own] += 1u;");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    for (var k = local; k < size; k += {group}u) {{");
        moves(self.text, "places[k]");
        line!(self.text, "    }}\n}}");
    }

    /// An invocation's own tile. Two counts are in registers.
    fn alone(&mut self, sorter: &Sorter, offsets: &str, moves: impl Fn(&mut String, &str)) {
        let (group, digits) = (sorter.group, 1_u32 << sorter.digit);
        let begin = |d: &str| match sorter.moved {
            Some(_) => format!("{offsets}[counted + {d} * p.all]"),
            None => "0u".into(),
        };
        match digits {
            2 => line!(self.text, "    var counts = vec2<u32>({}, {});", begin("0u"), begin("1u")),
            _ => {
                line!(self.text, "    for (var d = 0u; d < {digits}u; d += 1u) {{");
                line!(self.text, "        counts[d * {group}u + local] = {};", begin("d"));
                line!(self.text, "    }}");
            }
        }
        line!(self.text, "    for (var k = 0u; k < size; k += 1u) {{");
        line!(self.text, "        let d = digit(first + k);");
        match digits {
            2 => {
                line!(self.text, "        let place = select(counts.x, counts.y, d == 1u);");
                line!(self.text, "        counts += vec2<u32>(1u - d, d);");
            }
            _ => {
                line!(self.text, "        let own = d * {group}u + local;");
                line!(self.text, "        let place = counts[own];");
                line!(self.text, "        counts[own] = place + 1u;");
            }
        }
        if sorter.moved.is_some() {
            moves(self.text, "place");
        }
        line!(self.text, "    }}");
        match (sorter.moved, digits) {
            (Some(_), _) => {}
            (None, 2) => {
                line!(self.text, "    result[counted] = counts.x;");
                line!(self.text, "    result[counted + p.all] = counts.y;");
            }
            (None, _) => {
                line!(self.text, "    for (var d = 0u; d < {digits}u; d += 1u) {{");
                line!(self.text, "        result[counted + d * p.all] = counts[d * {group}u + local];");
                line!(self.text, "    }}");
            }
        }
        line!(self.text, "}}");
    }

    /// Counts the elements of a tile in the tile's own table.
    fn counted(&mut self, sorter: &Sorter, table: u32) {
        let (group, tile) = (sorter.group, sorter.tile());
        line!(self.text, "var<workgroup> table: array<atomic<u32>, {table}>;\n");
        line!(self.text, "@compute @workgroup_size({group})");
        let local = "@builtin(local_invocation_index) local: u32";
        line!(self.text, "fn main(@builtin(workgroup_id) id: vec3<u32>, {local}) {{");
        line!(self.text, "    let number = id.y * p.pitch + id.x;");
        line!(self.text, "    if (number >= p.count) {{ return; }}");
        line!(
            self.text,
            "    for (var k = local; k < p.row; k += {group}u) {{ atomicStore(&table[k], 0u); }}"
        );
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    let first = number * {tile}u;");
        line!(self.text, "    let size = min(p.length - first, {tile}u);");
        line!(self.text, "    for (var k = local; k < size; k += {group}u) {{");
        line!(self.text, "        let key = in0[first + k];");
        line!(self.text, "        if (key < p.row) {{ atomicAdd(&table[key], 1u); }}");
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    let own = (p.before + number) * p.row;");
        line!(
            self.text,
            "    for (var k = local; k < p.row; k += {group}u) {{ result[own + k] = atomicLoad(&table[k]); }}"
        );
        line!(self.text, "}}");
    }

    /// The lines that make the word of a `key` that has the digit, from the word `low` and, for two words, from
    /// another, as [`KeyKind`] defines it.
    fn key(&mut self, sorter: &Sorter, high: &str) {
        const SIGN: &str = "0x80000000u";
        let is_wide = sorter.words > 1;
        if is_wide {
            line!(self.text, "    let high = {high};");
        }
        let top = if is_wide { "high" } else { "low" };
        match sorter.kind {
            KeyKind::Unsigned => line!(self.text, "    let top = {top};"),
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
