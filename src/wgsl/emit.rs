//! The emitter. Straight-line text: coordinates, loads, steps, store; four lanes at a time.
//! `shaders/elementwise.wgsl` is a commented instance of what it writes.

use std::fmt::{self, Write};

use super::{prelude, workarounds};
use crate::dtype::DType;
use crate::expr::{Op, Step, Value};
use crate::plan::{Access, Field, Kernel, Operand, Packing, Place, Slot, Store, Walk};

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

/// The four-lane WGSL type that elements of `dtype` compute in.
fn lanes(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "vec4<f32>",
        DType::I32 => "vec4<i32>",
        DType::U32 | DType::U8 => "vec4<u32>",
        DType::Bool => "vec4<bool>",
    }
}

/// The type that computes, as prelude functions are named by it.
fn compute(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "f32",
        DType::I32 => "i32",
        DType::U32 | DType::U8 => "u32",
        DType::Bool => "bool",
    }
}

/// The element type of a binding's array.
fn array(dtype: DType, wide: bool) -> &'static str {
    match (dtype.packing(), wide) {
        (Packing::Bytes, _) => "u32",
        (Packing::Whole, false) => compute(dtype),
        (Packing::Whole, true) => lanes(dtype),
    }
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
        Field::Pitch => "pitch".into(),
        Field::Length(axis) => format!("len{axis}"),
        Field::Offset(of) => format!("{}_offset", slot(*of)),
        Field::Stride(of, axis) => format!("{}_stride{axis}", slot(*of)),
        Field::Scalar(i) => format!("scalar{i}"),
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
    let out = match kernel.store {
        Store::Bytes => "atomic<u32>",
        store => array(kernel.out, store == Store::Vector),
    };
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
        let [x, y] = self.kernel.workgroup;
        writeln!(self.text, "@compute @workgroup_size({x}, {y})")?;
        writeln!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>) {{")?;
        match self.kernel.walk {
            Walk::Flat => self.flat_coordinates()?,
            Walk::Rows => self.row_coordinates()?,
        }
        for (i, operand) in self.kernel.operands.iter().enumerate() {
            self.load(i, operand)?;
        }
        for (i, step) in self.kernel.steps.iter().enumerate() {
            let value = self.kernel.operands.len() + i;
            writeln!(self.text, "    let v{value} = {};", self.step(step))?;
        }
        self.store()?;
        writeln!(self.text, "}}")
    }

    /// `first`, the element that lane 0 computes, and per lane the coordinates `c0`, `c1`, ...
    fn flat_coordinates(&mut self) -> fmt::Result {
        let text = &mut *self.text;
        writeln!(text, "    let first = (id.y * p.pitch + id.x) * 4u;")?;
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

    /// `first` on the innermost axis, per lane `lane`, and the other coordinates as scalars.
    fn row_coordinates(&mut self) -> fmt::Result {
        let text = &mut *self.text;
        let inner = self.kernel.rank - 1;
        writeln!(text, "    let first = id.x * 4u;")?;
        if inner == 1 {
            writeln!(text, "    let c0 = id.z * p.pitch + id.y;")?;
        } else {
            writeln!(text, "    let c{} = id.y;", inner - 1)?;
            let mut rest = "id.z".to_string();
            for axis in (1..inner - 1).rev() {
                writeln!(text, "    let q{axis} = {rest} / p.len{axis};")?;
                writeln!(text, "    let c{axis} = {rest} - q{axis} * p.len{axis};")?;
                rest = format!("q{axis}");
            }
            writeln!(text, "    let c0 = {rest};")?;
        }
        let outer = inner - 1;
        writeln!(text, "    if (first >= p.len{inner} || c{outer} >= p.len{outer}) {{ return; }}")?;
        if self.kernel.needs_coordinates() {
            writeln!(
                text,
                "    let lane = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(p.len{inner} - 1u));"
            )?;
        }
        Ok(())
    }

    /// The address of lane 0, for wide and splat accesses.
    fn base(&self, of: Slot, step: bool) -> String {
        let name = slot(of);
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
            Walk::Flat => (0..self.kernel.rank).fold(format!("p.{name}_offset"), |sum, axis| {
                format!("{sum} + c{axis} * p.{name}_stride{axis}")
            }),
        }
    }

    fn load(&mut self, i: usize, operand: &Operand) -> fmt::Result {
        let of = Slot::In(i);
        let lanes = lanes(operand.dtype);
        let value = match (operand.place, operand.access) {
            (Place::Scalar, _) => match operand.dtype {
                DType::F32 => format!("vec4<f32>(bitcast<f32>(p.scalar{i}))"),
                DType::I32 => format!("vec4<i32>(bitcast<i32>(p.scalar{i}))"),
                DType::U32 | DType::U8 => format!("vec4<u32>(p.scalar{i})"),
                DType::Bool => format!("vec4<bool>(p.scalar{i} != 0u)"),
            },
            (Place::Index, Access::Strided) => format!("vec4<i32>({})", self.addresses(of)),
            (Place::Index, _) => format!("vec4<i32>(i32({}))", self.base(of, false)),
            (place, access) => {
                let array = match place {
                    Place::Binding(binding) => format!("in{binding}"),
                    _ => "result".into(),
                };
                let word = |at: &str| match (place, self.kernel.store) {
                    (Place::Output, Store::Bytes) => format!("atomicLoad(&{array}[{at}])"),
                    _ => format!("{array}[{at}]"),
                };
                let packed = operand.dtype.packing() == Packing::Bytes;
                let loaded = match access {
                    Access::Vector => {
                        let vector = word(&format!("({}) >> 2u", self.base(of, true)));
                        if packed { format!("unpack_u8({vector})") } else { vector }
                    }
                    Access::Splat => {
                        let address = self.base(of, false);
                        if packed {
                            writeln!(self.text, "    let at{i} = {address};")?;
                            let word = word(&format!("at{i} >> 2u"));
                            format!("vec4<u32>(byte_u8({word}, at{i}))")
                        } else {
                            format!("{lanes}({})", word(&address))
                        }
                    }
                    Access::Strided => {
                        writeln!(self.text, "    let at{i} = {};", self.addresses(of))?;
                        let lane = |c: char| match packed {
                            true => format!("byte_u8({}, at{i}.{c})", word(&format!("at{i}.{c} >> 2u"))),
                            false => word(&format!("at{i}.{c}")),
                        };
                        let each: Vec<String> = "xyzw".chars().map(lane).collect();
                        let vector = if packed { "vec4<u32>" } else { lanes };
                        format!("{vector}({})", each.join(", "))
                    }
                };
                match operand.dtype {
                    DType::Bool => format!("{loaded} != vec4<u32>(0u)"),
                    _ => loaded,
                }
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
                let mut value = form.replace("{T}", compute(step.dtype)).replace("{W}", &width);
                for (i, name) in ["{a}", "{b}", "{c}"].iter().enumerate().take(step.args.len()) {
                    value = value.replace(name, &arg(i));
                }
                // Narrow integers compute in 32 bits; what does not fit is cut off.
                match step.result {
                    DType::U8 => format!("({value}) & vec4<u32>(255u)"),
                    _ => value,
                }
            }
        }
    }

    fn store(&mut self) -> fmt::Result {
        let value: Value = self.kernel.result;
        let value = match self.kernel.out {
            DType::Bool => {
                writeln!(self.text, "    let bits = select(vec4<u32>(0u), vec4<u32>(1u), v{value});")?;
                "bits".to_string()
            }
            _ => format!("v{value}"),
        };
        if self.kernel.store == Store::Vector {
            let at = self.base(Slot::Out, true);
            let packed = self.kernel.out.packing() == Packing::Bytes;
            let value = if packed { format!("pack_u8({value})") } else { value };
            return writeln!(self.text, "    result[({at}) >> 2u] = {value};");
        }
        writeln!(self.text, "    let at = {};", self.addresses(Slot::Out))?;
        let end = match self.kernel.walk {
            Walk::Flat => "p.count".to_string(),
            Walk::Rows => format!("p.len{}", self.kernel.rank - 1),
        };
        for (k, c) in "xyzw".chars().enumerate() {
            let store = match self.kernel.store {
                Store::Bytes => format!(
                    "atomicAnd(&result[at.{c} >> 2u], ~mask_u8(at.{c})); atomicOr(&result[at.{c} >> 2u], place_u8({value}.{c}, at.{c}));"
                ),
                _ => format!("result[at.{c}] = {value}.{c};"),
            };
            match k {
                0 => writeln!(self.text, "    {store}")?,
                _ => writeln!(self.text, "    if (first + {k}u < {end}) {{ {store} }}")?,
            }
        }
        Ok(())
    }
}

/// A conversion as Rust's `as` does it.
fn cast(from: DType, to: DType, value: &str) -> String {
    match (from, to) {
        (DType::Bool, DType::F32) => format!("select(vec4<f32>(0.0), vec4<f32>(1.0), {value})"),
        (DType::Bool, DType::I32) => format!("select(vec4<i32>(0), vec4<i32>(1), {value})"),
        (DType::Bool, _) => format!("select(vec4<u32>(0u), vec4<u32>(1u), {value})"),
        (DType::F32, DType::Bool) => format!("nonzero_f32({value})"),
        (DType::F32, _) => format!("cast_f32_{to}({value})"),
        (DType::I32 | DType::U32, DType::F32) => format!("cast_{from}_f32({value})"),
        (_, DType::Bool) => format!("{value} != {}(0)", lanes(from)),
        (_, DType::U8) => format!("vec4<u32>({value}) & vec4<u32>(255u)"),
        (_, _) => format!("{}({value})", lanes(to)),
    }
}
