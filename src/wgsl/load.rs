//! Where a kernel's lanes are: coordinates, addresses, and the loads from them.

use std::fmt::{self, Write};

use super::emit::{Emitter, slot};
use super::types::{compute, decode, lanes, packed};
use crate::dtype::DType;
use crate::plan::{Access, Operand, Place, Slot, Stride, Walk};

impl Emitter<'_> {
    pub(super) fn coordinates(&mut self) -> fmt::Result {
        match self.kernel.walk {
            Walk::Flat => self.flat_coordinates(),
            Walk::Bands => self.band_coordinates(),
            Walk::Rows => self.row_coordinates(),
            Walk::Words { outer } => self.word_coordinates(outer),
        }
    }

    /// `i`, the vector that a block computes, and where something follows the axes, per lane the
    /// coordinates `c0`, `c1`, ... A block past the end repeats the last vector.
    fn flat_coordinates(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let first = self.suffix(0);
        let step = if kernel.blocks == 1 { String::new() } else { format!(" * {}u", kernel.blocks) };
        writeln!(self.text, "    let i{first} = (id.y * p.pitch + id.x){step};")?;
        writeln!(self.text, "    if (i{first} >= p.vectors) {{ return; }}")?;
        for block in 1..kernel.blocks {
            let own = self.suffix(block);
            writeln!(self.text, "    let i{own} = min(i{first} + {block}u, p.vectors - 1u);")?;
        }
        for block in (0..kernel.blocks).filter(|_| kernel.needs_coordinates()) {
            let own = self.suffix(block);
            if kernel.carries {
                self.carry(block)?;
                continue;
            }
            // Lanes past the end repeat the last element, so that every address is one that exists.
            let lane = format!("i{own} * 4u + vec4<u32>(0u, 1u, 2u, 3u)");
            writeln!(self.text, "    let lane{own} = min({lane}, vec4<u32>(p.count - 1u));")?;
            self.divide(format!("lane{own}"), kernel.rank, block)?;
        }
        Ok(())
    }

    /// The coordinates of lanes on the axes before `end` that some address follows, by division.
    fn divide(&mut self, mut rest: String, end: usize, block: u32) -> fmt::Result {
        let (outermost, own) = (self.kernel.outermost(), self.suffix(block));
        for axis in (outermost.max(1)..end).rev() {
            let quotients = format!("quotients({rest}, p.factor{axis}, p.shift{axis})");
            writeln!(self.text, "    let q{axis}{own} = {quotients};")?;
            if self.kernel.follows(axis) {
                writeln!(self.text, "    let c{axis}{own} = {rest} - q{axis}{own} * p.len{axis};")?;
            }
            rest = format!("q{axis}{own}");
        }
        if outermost == 0 { writeln!(self.text, "    let c0{own} = {rest};") } else { Ok(()) }
    }

    /// `i` as along a flat walk. The coordinate along a row is the same in all bands. A block past the
    /// end repeats the first.
    fn band_coordinates(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let (inner, first) = (kernel.rank - 1, self.suffix(0));
        let step = if kernel.blocks == 1 { String::new() } else { format!(" * {}u", kernel.blocks) };
        writeln!(self.text, "    let band{first} = (id.z * p.pitch + id.y){step};")?;
        writeln!(self.text, "    let i{first} = band{first} * p.band_vectors + id.x;")?;
        writeln!(self.text, "    if (id.x >= p.band_vectors || i{first} >= p.vectors) {{ return; }}")?;
        for block in 1..kernel.blocks {
            let own = self.suffix(block);
            let next = format!("band{first} + {block}u");
            let exists = format!("({next}) * p.band_vectors + id.x < p.vectors");
            writeln!(self.text, "    let band{own} = select(band{first}, {next}, {exists});")?;
            writeln!(self.text, "    let i{own} = band{own} * p.band_vectors + id.x;")?;
        }
        if !kernel.needs_coordinates() {
            return Ok(());
        }
        // At most four rows begin in a band.
        let begun = |row: u32| {
            let rows = if row == 1 { String::new() } else { format!(" * {row}u") };
            format!("select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len{inner}{rows}))")
        };
        writeln!(self.text, "    let at = id.x * 4u + vec4<u32>(0u, 1u, 2u, 3u);")?;
        writeln!(self.text, "    let r = {};", [1, 2, 3].map(begun).join("\n        + "))?;
        writeln!(self.text, "    let c{inner} = at - r * p.len{inner};")?;
        for block in (0..kernel.blocks).filter(|_| kernel.outermost() < inner) {
            let own = self.suffix(block);
            // Lanes past the end stay in the last row.
            let row = format!("min(band{own} * p.band_rows + r, vec4<u32>(p.rows - 1u))");
            writeln!(self.text, "    let row{own} = {row};")?;
            self.divide(format!("row{own}"), inner, block)?;
        }
        Ok(())
    }

    /// The coordinates of lane 0 of the first block by division, those of all others by carrying over.
    fn carry(&mut self, block: u32) -> fmt::Result {
        let inner = self.kernel.rank - 1;
        let outermost = self.kernel.outermost();
        let (first, own) = (self.suffix(0), self.suffix(block));
        let mut rest = format!("(i{first} * 4u)");
        for axis in (outermost.max(1)..=inner).rev() {
            if block == 0 {
                writeln!(self.text, "    let q{axis} = quotient({rest}, p.factor{axis}, p.shift{axis});")?;
                writeln!(self.text, "    let b{axis} = {rest} - q{axis} * p.len{axis};")?;
            }
            rest = format!("q{axis}");
        }
        let mut next = "vec4<u32>(0u, 1u, 2u, 3u)".to_string();
        if block > 0 {
            next = format!("(i{own} - i{first}) * 4u + {next}");
        }
        for axis in (outermost.max(1)..=inner).rev() {
            let length = format!("vec4<u32>(p.len{axis})");
            writeln!(self.text, "    let t{axis}{own} = b{axis} + {next};")?;
            if self.kernel.follows(axis) {
                // Of the two the other is negative, or too large.
                writeln!(self.text, "    let c{axis}{own} = min(t{axis}{own}, t{axis}{own} - {length});")?;
            }
            next = format!("select(vec4<u32>(0u), vec4<u32>(1u), t{axis}{own} >= {length})");
        }
        if outermost > 0 {
            return Ok(());
        }
        // Lanes past the end stay on the last index.
        writeln!(self.text, "    let c0{own} = min({rest} + {next}, vec4<u32>(p.len0 - 1u));")
    }

    /// `first` on the innermost axis, the element of lane 0, whose vector is `id.x`; the other
    /// coordinates as scalars. A block past the end repeats the last row.
    fn row_coordinates(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let inner = kernel.rank - 1;
        let rows = inner - 1;
        // What the z coordinate means.
        let row = if kernel.rank == 2 { "id.z * p.pitch + id.y" } else { "id.y" };
        let first = self.suffix(0);
        writeln!(self.text, "    let first = id.x * 4u;")?;
        match kernel.blocks {
            1 => writeln!(self.text, "    let c{rows} = {row};")?,
            n if row == "id.y" => writeln!(self.text, "    let c{rows}{first} = id.y * {n}u;")?,
            n => writeln!(self.text, "    let c{rows}{first} = ({row}) * {n}u;")?,
        }
        let outside = format!("first >= p.len{inner} || c{rows}{first} >= p.len{rows}");
        writeln!(self.text, "    if ({outside}) {{ return; }}")?;
        for block in 1..kernel.blocks {
            let own = self.suffix(block);
            let next = format!("min(c{rows}{first} + {block}u, p.len{rows} - 1u)");
            writeln!(self.text, "    let c{rows}{own} = {next};")?;
        }
        // Those before, by division from rank 4 on.
        let mut rest = "id.z".to_string();
        for axis in (0..rows).rev() {
            if axis == 0 {
                writeln!(self.text, "    let c0 = {rest};")?;
            } else {
                writeln!(self.text, "    let q{axis} = quotient({rest}, p.factor{axis}, p.shift{axis});")?;
                writeln!(self.text, "    let c{axis} = {rest} - q{axis} * p.len{axis};")?;
                rest = format!("q{axis}");
            }
        }
        if kernel.needs_coordinates() {
            let lane = "first + vec4<u32>(0u, 1u, 2u, 3u)";
            writeln!(self.text, "    let lane = min({lane}, vec4<u32>(p.len{inner} - 1u));")?;
        }
        self.tiles()?;
        self.interleaved()
    }

    /// Loads of four pixels for all of their channels: `t0_0` has the first four elements.
    fn interleaved(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        for (i, operand) in kernel.operands.iter().enumerate() {
            let (Access::Interleaved, Place::Binding(binding)) = (operand.access, operand.place) else {
                continue;
            };
            let name = self.walk_name(Slot::In(i));
            let outer = (0..kernel.rank - 2).filter_map(|axis| self.term(Slot::In(i), axis, 0));
            let base = self.sum(&name, outer);
            for k in 0..kernel.blocks {
                let word = format!("in{binding}[{base} + id.x * {}u + {k}u]", kernel.blocks);
                let vector = match packed(operand.dtype) {
                    Some((suffix, _)) => format!("unpack_{suffix}({word})"),
                    None => word,
                };
                writeln!(self.text, "    let t{i}_{k} = {vector};")?;
            }
        }
        Ok(())
    }

    /// Loads of four columns by four rows, a column at a time: `t0_x` is the first of operand 0.
    fn tiles(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let (inner, rows) = (kernel.rank - 1, kernel.rank - 2);
        for (i, operand) in kernel.operands.iter().enumerate() {
            let (Access::Tile, Place::Binding(binding)) = (operand.access, operand.place) else { continue };
            let name = self.walk_name(Slot::In(i));
            let outer = (0..rows).filter_map(|axis| self.term(Slot::In(i), axis, 0));
            let base = self.sum(&name, outer.chain([format!("(c{rows}_0 >> 2u)")]));
            for c in "xyzw".chars() {
                let at = format!("{base} + lane.{c} * p.{name}_stride{inner}");
                writeln!(self.text, "    let t{i}_{c} = in{binding}[{at}];")?;
            }
        }
        Ok(())
    }

    /// From the address of each lane: its coordinates, and whether it is a `member` of the
    /// destination. `first` is the address of lane 0.
    fn word_coordinates(&mut self, outer: usize) -> fmt::Result {
        let text = &mut *self.text;
        writeln!(text, "    let slot = id.y * p.pitch + id.x;")?;
        writeln!(text, "    if (slot >= p.count) {{ return; }}")?;
        writeln!(text, "    let row = slot / p.slots;")?;
        let mut base = "p.out_offset".to_string();
        let mut rest = "row".to_string();
        for axis in (0..outer).rev() {
            match axis {
                0 => writeln!(text, "    let c0 = vec4<u32>({rest});")?,
                _ => {
                    writeln!(text, "    let q{axis} = {rest} / p.len{axis};")?;
                    writeln!(text, "    let c{axis} = vec4<u32>({rest} - q{axis} * p.len{axis});")?;
                }
            }
            rest = format!("q{axis}");
            let _ = write!(base, " + c{axis}.x * p.out_stride{axis}");
        }
        writeln!(text, "    let base = {base};")?;
        writeln!(text, "    let first = (base & ~3u) + (slot - row * p.slots) * 4u;")?;
        // A lane before the base wraps around, and is beyond every length.
        writeln!(text, "    let r{outer} = first + vec4<u32>(0u, 1u, 2u, 3u) - base;")?;
        let mut member = String::new();
        for axis in outer..self.kernel.rank {
            let next = axis + 1;
            writeln!(text, "    let q{axis} = r{axis} / p.out_stride{axis};")?;
            writeln!(text, "    let c{axis} = min(q{axis}, vec4<u32>(p.len{axis} - 1u));")?;
            writeln!(text, "    let r{next} = r{axis} - q{axis} * p.out_stride{axis};")?;
            let _ = write!(member, "(q{axis} < vec4<u32>(p.len{axis})) & ");
        }
        writeln!(text, "    let member = {member}(r{} == vec4<u32>(0u));", self.kernel.rank)?;
        // Words without a member may be another invocation's.
        writeln!(text, "    if (!any(member)) {{ return; }}")
    }

    /// The coordinate of a block on an axis, which blocks may share.
    fn coordinate(&self, axis: usize, block: u32) -> String {
        let inner = self.kernel.rank - 1;
        match self.kernel.walk {
            Walk::Rows if axis == inner => "lane".into(),
            Walk::Rows if axis + 1 < inner => format!("c{axis}"),
            Walk::Bands if axis == inner => format!("c{axis}"),
            _ => format!("c{axis}{}", self.suffix(block)),
        }
    }

    /// What an axis adds to the addresses of a slot.
    fn term(&self, of: Slot, axis: usize, block: u32) -> Option<String> {
        let coordinate = self.coordinate(axis, block);
        match self.kernel.stride(of, axis) {
            Stride::Zero => None,
            Stride::One => Some(coordinate),
            Stride::Any => Some(format!("{coordinate} * p.{}_stride{axis}", self.walk_name(of))),
        }
    }

    /// What the words that a walk is made of are named after.
    fn walk_name(&self, of: Slot) -> String {
        match of {
            Slot::In(i) => slot(self.kernel.operands[i].walks_as),
            Slot::Out => slot(of),
        }
    }

    /// A sum of terms that begins with an offset, unless that is known to be 0.
    fn sum(&self, name: &str, terms: impl Iterator<Item = String>) -> String {
        let offset = (name != "out" || !self.kernel.fresh).then(|| format!("p.{name}_offset"));
        let terms: Vec<String> = offset.into_iter().chain(terms).collect();
        if terms.is_empty() { "0u".into() } else { terms.join(" + ") }
    }

    /// The address at the beginning of a block's row, and what comes on top of it.
    fn base(&self, of: Slot, block: u32, more: Option<String>) -> String {
        let name = self.walk_name(of);
        let rows = if self.kernel.walk == Walk::Rows { self.kernel.rank - 1 } else { 0 };
        self.sum(&name, (0..rows).filter_map(|axis| self.term(of, axis, block)).chain(more))
    }

    /// The address of a block's vector, for accesses whose uniform words count vectors.
    pub(super) fn vector(&self, of: Slot, block: u32) -> String {
        let i = match self.kernel.walk {
            Walk::Flat | Walk::Bands => format!("i{}", self.suffix(block)),
            Walk::Rows => "id.x".into(),
            Walk::Words { .. } => return "first >> 2u".into(),
        };
        match of {
            Slot::In(operand) if self.kernel.operands[operand].access == Access::Backward => {
                format!("{} - {i}", self.base(of, block, None))
            }
            _ => self.base(of, block, Some(i)),
        }
    }

    /// The addresses of all lanes.
    pub(super) fn addresses(&self, of: Slot, block: u32) -> String {
        match self.kernel.walk {
            Walk::Rows => {
                let inner = self.term(of, self.kernel.rank - 1, block).unwrap_or("vec4<u32>(0u)".into());
                format!("({}) + {inner}", self.base(of, block, None))
            }
            _ => {
                let terms = (0..self.kernel.rank).filter_map(|axis| self.term(of, axis, block));
                self.sum(&self.walk_name(of), terms)
            }
        }
    }

    /// Loads the vectors that the elements of a shifted operand lie in, and takes those. Neighbouring
    /// blocks share a vector.
    fn shifted(&mut self, i: usize, operand: &Operand, block: u32) -> Result<String, fmt::Error> {
        let name = self.walk_name(Slot::In(i));
        let Place::Binding(binding) = operand.place else { return Err(fmt::Error) };
        let vector = |k: u32, at: &str| {
            let word = format!("in{binding}[p.{name}_offset + {at}]");
            match packed(operand.dtype) {
                Some((suffix, _)) => format!("    let w{i}_{k} = unpack_{suffix}({word});"),
                None => format!("    let w{i}_{k} = {word};"),
            }
        };
        let flat = self.kernel.walk == Walk::Flat;
        let first = if flat { block } else { 2 * block };
        let at = if flat { format!("i{}", self.suffix(0)) } else { format!("i{}", self.suffix(block)) };
        if !flat || block == 0 {
            writeln!(self.text, "{}", vector(first, &at))?;
        }
        let next = if flat { block + 1 } else { 1 };
        writeln!(self.text, "{}", vector(first + 1, &format!("{at} + {next}u")))?;
        let (low, high) = (format!("w{i}_{first}"), format!("w{i}_{}", first + 1));
        let vector = if packed(operand.dtype).is_some() { "vec4<u32>".into() } else { lanes(operand.dtype) };
        let [one, two] = [1, 2].map(|bit| format!("(p.{name}_rest & {bit}u) != 0u"));
        let half = format!("h{i}_{block}");
        writeln!(self.text, "    let {half} = select({low}, {vector}({low}.zw, {high}.xy), {two});")?;
        let last = format!("select({high}.x, {high}.z, {two})");
        Ok(format!("select({half}, {vector}({half}.yzw, {last}), {one})"))
    }

    /// Loads an operand for a block.
    pub(super) fn load(&mut self, i: usize, operand: &Operand, block: u32) -> fmt::Result {
        let of = Slot::In(i);
        let dtype = operand.dtype;
        let own = self.value(i as _, block);
        let value = match (operand.place, operand.access) {
            (Place::Scalar, _) => match dtype {
                DType::F32 | DType::I32 => format!("vec4<{0}>(bitcast<{0}>(p.scalar{i}))", compute(dtype)),
                DType::I64 | DType::U64 | DType::F64 => {
                    let word = format!("(u64(p.scalar{i}_high) << 32u) | u64(p.scalar{i})");
                    format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype))
                }
                _ => decode(dtype, format!("vec4<u32>(p.scalar{i})")),
            },
            (Place::Index, Access::Strided) => format!("vec4<i32>({})", self.addresses(of, block)),
            (Place::Index, _) => format!("vec4<i32>(i32({}))", self.base(of, block, None)),
            (_, Access::Tile) => {
                let turned = "xyzw".chars().nth(block as usize).unwrap_or('x');
                let column = |c| format!("t{i}_{c}.{turned}");
                format!("{}({})", lanes(dtype), ['x', 'y', 'z', 'w'].map(column).join(", "))
            }
            (_, Access::Interleaved) => {
                let element = |lane: u32| {
                    let at = lane * self.kernel.blocks + block;
                    format!("t{i}_{}.{}", at / 4, ["x", "y", "z", "w"][at as usize % 4])
                };
                let vector = if packed(dtype).is_some() { "vec4<u32>".into() } else { lanes(dtype) };
                let raw = format!("{vector}({})", [0, 1, 2, 3].map(element).join(", "));
                if packed(dtype).is_some() { decode(dtype, raw) } else { raw }
            }
            (_, Access::Shifted) => {
                let raw = self.shifted(i, operand, block)?;
                if packed(dtype).is_some() { decode(dtype, raw) } else { raw }
            }
            (place, access) => {
                let array = match place {
                    Place::Binding(binding) => format!("in{binding}"),
                    _ => "result".into(),
                };
                let word = |at: &str| format!("{array}[{at}]");
                let at = format!("at_{own}");
                let raw = match (access, packed(dtype)) {
                    (Access::Vector, None) => word(&self.vector(of, block)),
                    (Access::Vector, Some((suffix, _))) => {
                        format!("unpack_{suffix}({})", word(&self.vector(of, block)))
                    }
                    (Access::Backward, None) => format!("{}.wzyx", word(&self.vector(of, block))),
                    (Access::Backward, Some((suffix, _))) => {
                        format!("unpack_{suffix}({}).wzyx", word(&self.vector(of, block)))
                    }
                    (Access::Splat, None) => {
                        format!("{}({})", lanes(dtype), word(&self.base(of, block, None)))
                    }
                    (Access::Splat, Some((suffix, shift))) => {
                        writeln!(self.text, "    let {at} = {};", self.base(of, block, None))?;
                        let word = word(&format!("{at} >> {shift}u"));
                        format!("vec4<u32>(part_{suffix}({word}, {at}))")
                    }
                    (_, packed) => {
                        writeln!(self.text, "    let {at} = {};", self.addresses(of, block))?;
                        let lane = |c: char| match packed {
                            None => word(&format!("{at}.{c}")),
                            Some((suffix, shift)) => {
                                format!("part_{suffix}({}, {at}.{c})", word(&format!("{at}.{c} >> {shift}u")))
                            }
                        };
                        let each = ['x', 'y', 'z', 'w'].map(lane).join(", ");
                        let vector = if packed.is_some() { "vec4<u32>".into() } else { lanes(dtype) };
                        format!("{vector}({each})")
                    }
                };
                if packed(dtype).is_some() { decode(dtype, raw) } else { raw }
            }
        };
        writeln!(self.text, "    let {own} = {value};")
    }
}
