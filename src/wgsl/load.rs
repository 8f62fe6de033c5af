//! Where a kernel's lanes are: coordinates, addresses, and the loads from them.

use std::fmt::{self, Write};

use super::emit::{Emitter, slot};
use super::types::{compute, decode, lanes, packed};
use crate::dtype::DType;
use crate::plan::{Access, Operand, Place, Slot, Walk};

impl Emitter<'_> {
    pub(super) fn coordinates(&mut self) -> fmt::Result {
        match self.kernel.walk {
            Walk::Flat => self.flat_coordinates(),
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
            let mut rest = format!("lane{own}");
            for axis in (1..kernel.rank).rev() {
                writeln!(
                    self.text,
                    "    let q{axis}{own} = quotients({rest}, p.factor{axis}, p.shift{axis});"
                )?;
                writeln!(self.text, "    let c{axis}{own} = {rest} - q{axis}{own} * p.len{axis};")?;
                rest = format!("q{axis}{own}");
            }
            writeln!(self.text, "    let c0{own} = {rest};")?;
        }
        Ok(())
    }

    /// The coordinates of lane 0 of the first block by division, those of all others by carrying over.
    fn carry(&mut self, block: u32) -> fmt::Result {
        let inner = self.kernel.rank - 1;
        let (first, own) = (self.suffix(0), self.suffix(block));
        let mut rest = format!("(i{first} * 4u)");
        for axis in (1..=inner).rev() {
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
        for axis in (1..=inner).rev() {
            let length = format!("vec4<u32>(p.len{axis})");
            writeln!(self.text, "    let t{axis}{own} = b{axis} + {next};")?;
            writeln!(self.text, "    let over{axis}{own} = t{axis}{own} >= {length};")?;
            let within = format!("select(t{axis}{own}, t{axis}{own} - {length}, over{axis}{own})");
            writeln!(self.text, "    let c{axis}{own} = {within};")?;
            next = format!("select(vec4<u32>(0u), vec4<u32>(1u), over{axis}{own})");
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
            let outer = (0..kernel.rank - 2).map(|axis| format!("c{axis} * p.{name}_stride{axis}"));
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
            let outer = (0..rows).map(|axis| format!("c{axis} * p.{name}_stride{axis}"));
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

    /// The coordinate of a block on an axis before the innermost of a walk by rows.
    fn row_coordinate(&self, axis: usize, block: u32) -> String {
        let own = if axis + 2 == self.kernel.rank { self.suffix(block) } else { String::new() };
        format!("c{axis}{own}")
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
        let term = |axis| format!("{} * p.{name}_stride{axis}", self.row_coordinate(axis, block));
        self.sum(&name, (0..rows).map(term).chain(more))
    }

    /// The address of a block's vector, for accesses whose uniform words count vectors.
    pub(super) fn vector(&self, of: Slot, block: u32) -> String {
        let i = match self.kernel.walk {
            Walk::Flat => format!("i{}", self.suffix(block)),
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
        let name = self.walk_name(of);
        match self.kernel.walk {
            Walk::Rows => {
                let inner = self.kernel.rank - 1;
                format!("({}) + lane * p.{name}_stride{inner}", self.base(of, block, None))
            }
            Walk::Flat | Walk::Words { .. } => {
                let own = self.suffix(block);
                let term = |axis| format!("c{axis}{own} * p.{name}_stride{axis}");
                self.sum(&name, (0..self.kernel.rank).map(term))
            }
        }
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
