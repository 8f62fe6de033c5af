//! The emitter. Straight-line text: coordinates, loads, steps, store; four lanes at a time.
//! `shaders/elementwise.wgsl` is a commented instance of what it writes.

use std::fmt::{self, Write};

use super::types::{array, cast, compute, decode, encode, lanes, narrow, packed};
use super::{prelude, workarounds};
use crate::dtype::DType;
use crate::expr::{Op, Step, Value};
use crate::plan::{Access, Field, Kernel, Operand, Place, Slot, Store, Walk};

/// The text of a kernel. It depends on nothing but the kernel.
pub(crate) fn emit(kernel: &Kernel) -> String {
    let mut main = String::new();
    // Writing to a string cannot fail.
    let _ = Emitter { kernel, text: &mut main }.main();
    let functions = prelude::used_by(&main);
    let mut text = String::new();
    let _ = declarations(kernel, functions.contains("p.zero"), &mut text);
    text + &functions + &main
}

fn slot(slot: Slot) -> String {
    match slot {
        Slot::Out => "out".into(),
        Slot::In(i) => format!("x{i}"),
    }
}

fn field(field: &Field) -> String {
    match field {
        Field::Count => "count".into(),
        Field::Slots => "slots".into(),
        Field::Pitch => "pitch".into(),
        Field::Length(axis) => format!("len{axis}"),
        Field::Offset(of) => format!("{}_offset", slot(*of)),
        Field::Stride(of, axis) => format!("{}_stride{axis}", slot(*of)),
        Field::Scalar(i) => format!("scalar{i}"),
        Field::ScalarHigh(i) => format!("scalar{i}_high"),
        Field::Zero => "zero".into(),
    }
}

/// The uniform block and the bindings. `zero`, at the end of the block, is declared where it is used.
fn declarations(kernel: &Kernel, zero: bool, text: &mut String) -> fmt::Result {
    writeln!(text, "struct Params {{")?;
    for word in kernel.fields().into_iter().filter(|word| zero || *word != Field::Zero) {
        writeln!(text, "    {}: u32,", field(&word))?;
    }
    writeln!(text, "}}\n")?;
    writeln!(text, "@group(0) @binding(0) var<uniform> p: Params;")?;
    let out = array(kernel.out, kernel.store != Store::Lanes);
    writeln!(text, "@group(0) @binding(1) var<storage, read_write> result: array<{out}>;")?;
    for (i, binding) in kernel.bindings.iter().enumerate() {
        let element = array(binding.dtype, binding.wide);
        writeln!(text, "@group(0) @binding({}) var<storage, read> in{i}: array<{element}>;", i + 2)?;
    }
    writeln!(text)
}

struct Emitter<'a> {
    kernel: &'a Kernel,
    text: &'a mut String,
}

impl Emitter<'_> {
    fn main(&mut self) -> fmt::Result {
        let kernel = self.kernel;
        let [x, y] = kernel.workgroup;
        // The row that an invocation begins at, and what its z coordinate means.
        let (row, z) = match (kernel.walk, kernel.rank) {
            (Walk::Rows, 2) => ("id.z * p.pitch + id.y", "0u"),
            _ => ("id.y", "id.z"),
        };
        let entry = format!(
            "@compute @workgroup_size({x}, {y})\nfn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n"
        );
        if kernel.blocks == 1 {
            self.text.push_str(&entry);
            match kernel.walk {
                Walk::Flat => writeln!(self.text, "    let first = (id.y * p.pitch + id.x) * 4u;")?,
                Walk::Rows => writeln!(self.text, "    let first = id.x * 4u;")?,
                Walk::Words { .. } => {}
            }
            self.vector(row, z)?;
            return writeln!(self.text, "}}");
        }
        let tiles: Vec<usize> =
            (0..kernel.operands.len()).filter(|&i| kernel.operands[i].access == Access::Tile).collect();
        let mut parameters = "first: u32".to_string();
        if kernel.walk == Walk::Rows {
            parameters += ", row: u32, z: u32";
        }
        for i in &tiles {
            let _ = write!(parameters, ", v{i}: {}", lanes(kernel.operands[*i].dtype));
        }
        writeln!(self.text, "fn vector({parameters}) {{")?;
        self.vector("row", "z")?;
        write!(self.text, "}}\n\n{entry}")?;
        match kernel.walk {
            Walk::Flat => {
                let step = kernel.blocks * 4;
                writeln!(self.text, "    let first = (id.y * p.pitch + id.x) * {step}u;")?;
                for k in 0..kernel.blocks {
                    writeln!(self.text, "    vector(first + {}u);", k * 4)?;
                }
            }
            Walk::Rows => {
                writeln!(self.text, "    let first = id.x * 4u;")?;
                writeln!(self.text, "    let row = ({row}) * {}u;", kernel.blocks)?;
                self.tiles(&tiles, z)?;
                for (k, c) in (0..kernel.blocks).zip("xyzw".chars()) {
                    let turned: String = tiles
                        .iter()
                        .map(|i| {
                            let vector = lanes(kernel.operands[*i].dtype);
                            format!(", {vector}(t{i}_x.{c}, t{i}_y.{c}, t{i}_z.{c}, t{i}_w.{c})")
                        })
                        .collect();
                    writeln!(self.text, "    vector(first, row + {k}u, {z}{turned});")?;
                }
            }
            Walk::Words { .. } => {}
        }
        writeln!(self.text, "}}")
    }

    /// Four lanes: their coordinates, loads, steps, and the store.
    fn vector(&mut self, row: &str, z: &str) -> fmt::Result {
        match self.kernel.walk {
            Walk::Flat => self.flat_coordinates()?,
            Walk::Rows => self.row_coordinates(row, z)?,
            Walk::Words { outer } => self.word_coordinates(outer)?,
        }
        for (i, operand) in self.kernel.operands.iter().enumerate() {
            self.load(i, operand)?;
        }
        for (i, step) in self.kernel.steps.iter().enumerate() {
            let value = self.kernel.operands.len() + i;
            writeln!(self.text, "    let v{value} = {};", self.step(step))?;
        }
        self.store()
    }

    /// Loads of four columns by four rows, a column at a time: `t0_x` is the first of operand 0.
    fn tiles(&mut self, tiles: &[usize], z: &str) -> fmt::Result {
        if tiles.is_empty() {
            return Ok(());
        }
        let (inner, rows) = (self.kernel.rank - 1, self.kernel.rank - 2);
        writeln!(self.text, "    if (first >= p.len{inner} || row >= p.len{rows}) {{ return; }}")?;
        self.outer_coordinates(z)?;
        writeln!(
            self.text,
            "    let column = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len{inner} - 1u));"
        )?;
        for i in tiles {
            let Place::Binding(binding) = self.kernel.operands[*i].place else { continue };
            let mut base = format!("p.x{i}_offset + row");
            for axis in 0..rows {
                let _ = write!(base, " + c{axis} * p.x{i}_stride{axis}");
            }
            for c in "xyzw".chars() {
                let at = format!("({base} + column.{c} * p.x{i}_stride{inner}) >> 2u");
                writeln!(self.text, "    let t{i}_{c} = in{binding}[{at}];")?;
            }
        }
        Ok(())
    }

    /// From `first`, the element that lane 0 computes: per lane the coordinates `c0`, `c1`, ...
    fn flat_coordinates(&mut self) -> fmt::Result {
        let text = &mut *self.text;
        writeln!(text, "    if (first >= p.count) {{ return; }}")?;
        if !self.kernel.needs_coordinates() {
            return Ok(());
        }
        // Lanes past the end repeat the last element, so that every address is one that exists.
        let mut rest = "lane".to_string();
        writeln!(text, "    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.count - 1u));")?;
        for axis in (1..self.kernel.rank).rev() {
            writeln!(text, "    let q{axis} = {rest} / p.len{axis};")?;
            writeln!(text, "    let c{axis} = {rest} - q{axis} * p.len{axis};")?;
            rest = format!("q{axis}");
        }
        writeln!(text, "    let c0 = {rest};")
    }

    /// From the address of each lane: its coordinates, and whether it is a `member` of the
    /// destination. `first` becomes the address of lane 0.
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

    /// From `first` on the innermost axis: per lane `lane`, and the other coordinates as scalars.
    fn row_coordinates(&mut self, row: &str, z: &str) -> fmt::Result {
        let inner = self.kernel.rank - 1;
        let rows = inner - 1;
        writeln!(self.text, "    let c{rows} = {row};")?;
        self.outer_coordinates(z)?;
        writeln!(self.text, "    if (first >= p.len{inner} || c{rows} >= p.len{rows}) {{ return; }}")?;
        if self.kernel.needs_coordinates() {
            writeln!(
                self.text,
                "    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len{inner} - 1u));"
            )?;
        }
        Ok(())
    }

    /// The coordinates before those of the rows, which z holds: by division from rank 4 on.
    fn outer_coordinates(&mut self, z: &str) -> fmt::Result {
        let Some(last) = self.kernel.rank.checked_sub(3) else { return Ok(()) };
        let mut rest = z.to_string();
        for axis in (1..=last).rev() {
            writeln!(self.text, "    let q{axis} = {rest} / p.len{axis};")?;
            writeln!(self.text, "    let c{axis} = {rest} - q{axis} * p.len{axis};")?;
            rest = format!("q{axis}");
        }
        writeln!(self.text, "    let c0 = {rest};")
    }

    /// The address of lane 0, for wide and splat accesses.
    fn base(&self, of: Slot, step: bool) -> String {
        let name = slot(of);
        if step && matches!(self.kernel.walk, Walk::Words { .. }) {
            return "first".into();
        }
        let mut address = format!("p.{name}_offset");
        if self.kernel.walk == Walk::Rows {
            for axis in 0..self.kernel.rank - 1 {
                let _ = write!(address, " + c{axis} * p.{name}_stride{axis}");
            }
        }
        if step {
            address += " + first";
        }
        address
    }

    /// The addresses of all lanes.
    fn addresses(&self, of: Slot) -> String {
        let name = slot(of);
        match self.kernel.walk {
            Walk::Rows => {
                let inner = self.kernel.rank - 1;
                format!("({}) + lane * p.{name}_stride{inner}", self.base(of, false))
            }
            Walk::Flat | Walk::Words { .. } => (0..self.kernel.rank)
                .fold(format!("p.{name}_offset"), |sum, axis| {
                    format!("{sum} + c{axis} * p.{name}_stride{axis}")
                }),
        }
    }

    fn load(&mut self, i: usize, operand: &Operand) -> fmt::Result {
        let of = Slot::In(i);
        let dtype = operand.dtype;
        let value = match (operand.place, operand.access) {
            (Place::Scalar, _) => match dtype {
                DType::F32 | DType::I32 => format!("vec4<{0}>(bitcast<{0}>(p.scalar{i}))", compute(dtype)),
                DType::I64 | DType::U64 | DType::F64 => {
                    let word = format!("(u64(p.scalar{i}_high) << 32u) | u64(p.scalar{i})");
                    format!("vec4<{0}>(bitcast<{0}>({word}))", compute(dtype))
                }
                _ => decode(dtype, format!("vec4<u32>(p.scalar{i})")),
            },
            (Place::Index, Access::Strided) => format!("vec4<i32>({})", self.addresses(of)),
            (Place::Index, _) => format!("vec4<i32>(i32({}))", self.base(of, false)),
            (place, access) => {
                let array = match place {
                    Place::Binding(binding) => format!("in{binding}"),
                    _ => "result".into(),
                };
                let word = |at: &str| format!("{array}[{at}]");
                let raw = match (access, packed(dtype)) {
                    // A parameter: its loads serve several vectors.
                    (Access::Tile, _) => return Ok(()),
                    (Access::Vector, None) => word(&format!("({}) >> 2u", self.base(of, true))),
                    (Access::Vector, Some((suffix, _))) => {
                        format!("unpack_{suffix}({})", word(&format!("({}) >> 2u", self.base(of, true))))
                    }
                    (Access::Splat, None) => format!("{}({})", lanes(dtype), word(&self.base(of, false))),
                    (Access::Splat, Some((suffix, shift))) => {
                        writeln!(self.text, "    let at{i} = {};", self.base(of, false))?;
                        let word = word(&format!("at{i} >> {shift}u"));
                        format!("vec4<u32>(part_{suffix}({word}, at{i}))")
                    }
                    (Access::Strided, packed) => {
                        writeln!(self.text, "    let at{i} = {};", self.addresses(of))?;
                        let lane = |c: char| match packed {
                            None => word(&format!("at{i}.{c}")),
                            Some((suffix, shift)) => {
                                format!(
                                    "part_{suffix}({}, at{i}.{c})",
                                    word(&format!("at{i}.{c} >> {shift}u"))
                                )
                            }
                        };
                        let each: Vec<String> = "xyzw".chars().map(lane).collect();
                        let vector = if packed.is_some() { "vec4<u32>".into() } else { lanes(dtype) };
                        format!("{vector}({})", each.join(", "))
                    }
                };
                if packed(dtype).is_some() { decode(dtype, raw) } else { raw }
            }
        };
        writeln!(self.text, "    let v{i} = {value};")
    }

    fn step(&self, step: &Step) -> String {
        let arg = |i: usize| format!("v{}", step.args[i]);
        match step.op {
            Op::Select => format!("select({}, {}, {})", arg(2), arg(1), arg(0)),
            Op::Cast => cast(step.dtype, step.result, &arg(0)),
            _ => {
                let form = workarounds::form(self.kernel, step);
                let width = format!("{}u", step.dtype.size() * 8);
                let mut value = form
                    .replace("{T}", compute(step.dtype))
                    .replace("{D}", step.dtype.name())
                    .replace("{W}", &width);
                for (i, name) in ["{a}", "{b}", "{c}"].iter().enumerate().take(step.args.len()) {
                    value = value.replace(name, &arg(i));
                }
                narrow(step.result, value)
            }
        }
    }

    fn store(&mut self) -> fmt::Result {
        let dtype = self.kernel.out;
        let result: Value = self.kernel.result;
        let mut value = format!("v{result}");
        if packed(dtype).is_some() {
            writeln!(self.text, "    let raw = {};", encode(dtype, &value))?;
            value = "raw".into();
        }
        if self.kernel.store != Store::Lanes {
            let word = format!("result[({}) >> 2u]", self.base(Slot::Out, true));
            let value = match packed(dtype) {
                Some((suffix, _)) if self.kernel.store == Store::Words => {
                    format!("pack_{suffix}(select(unpack_{suffix}({word}), {value}, member))")
                }
                Some((suffix, _)) => format!("pack_{suffix}({value})"),
                None => value,
            };
            return writeln!(self.text, "    {word} = {value};");
        }
        writeln!(self.text, "    let at = {};", self.addresses(Slot::Out))?;
        let end = match self.kernel.walk {
            Walk::Rows => format!("p.len{}", self.kernel.rank - 1),
            _ => "p.count".to_string(),
        };
        for (k, c) in "xyzw".chars().enumerate() {
            let store = format!("result[at.{c}] = {value}.{c};");
            match k {
                0 => writeln!(self.text, "    {store}")?,
                _ => writeln!(self.text, "    if (first + {k}u < {end}) {{ {store} }}")?,
            }
        }
        Ok(())
    }
}
