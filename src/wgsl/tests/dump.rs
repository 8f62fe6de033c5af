//! Kernels for other compilers (see portable.rs): one of every op and type in a few layouts, chains,
//! identities that compilers like to fold, and what the table says of the ops. And fewer of them for a table of
//! what a GPU's compiler makes of kernels, with how many elements an invocation of each computes.

#![allow(clippy::eq_op)] // identities that are reduced have them

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;

use super::golden::{self, GPU, Launched};
use crate::dtype::{DType, Element, Numeric};
use crate::ir::{Math, Program, ReduceOp, Schedule};
use crate::lower::over_slots;
use crate::plan::{Faults, Form, Kernel, LANES, Place, Plan, Target};
use crate::wgsl::emit;
use crate::{Device, Expr, bf16, f16, operations};

/// A shape whose kernel is one vector an invocation and nothing else, so that a checker can run it.
const FLAT: [usize; 1] = [1 << 20];

/// A GPU.
pub(super) fn target(math: Math, faulty: bool) -> Target {
    // Compilers of DX12 that have neither f16 nor integers of 64 bits take these too.
    let lacking = Faults { half_rounding: true, longs: true, fma: true, splits: true, ..Faults::default() };
    let rounding = Faults { quotients: faulty, roots: faulty, fractions: faulty, ..lacking };
    let faults = Faults { flushes: faulty, halves: faulty, nans: faulty, ..rounding };
    Target { faults, math, ..GPU }
}

struct Folder {
    path: PathBuf,
    seen: HashSet<String>,
}

impl Folder {
    fn write<T: Element>(&mut self, name: &str, expr: &Expr<T>, math: Math, faulty: bool) {
        let node = expr.untyped().node().unwrap();
        let [program] = over_slots([&Program::new(node, &node.shape).unwrap()]);
        let target = target(math, faulty);
        let text = emit(&Plan::new(&program, Place::Fresh, target).unwrap().kernel).unwrap().text();
        self.keep(name, text);
    }

    /// Writes a text that was not written before.
    fn keep(&mut self, name: &str, text: String) {
        if self.seen.insert(text.clone()) {
            std::fs::write(self.path.join(format!("{name}.wgsl")), text).unwrap();
        }
    }

    /// An op over flat operands (`name.type.wgsl`), the same by fast math and for adapters that miss what others do, and
    /// over other layouts.
    fn op<T: Element, R: Element>(&mut self, name: &str, arity: usize) {
        let device = Device::cpu();
        let [a, b, c] = [(); 3].map(|()| device.zeros::<T>(FLAT).unwrap().expr());
        let square = device.zeros::<T>([72, 70]).unwrap();
        let odd = device.zeros::<T>([1025]).unwrap();
        let begin = odd.slice(0, ..1024);
        let layouts = [
            ("", [a, b, c]),
            (".rows", [square.expr(), square.slice(0, ..1), Expr::scalar(T::ZERO)]),
            (
                ".turned",
                [
                    square.slice(1, ..70).permute([1, 0]),
                    Expr::scalar(T::ZERO),
                    square.slice(0, ..70).slice(1, ..1),
                ],
            ),
            (".shifted", [odd.slice(0, 1..), begin.clone(), begin]),
        ];
        for (layout, operands) in layouts {
            let expr = Expr::<R>::call(name, &operands[..arity]);
            let name = format!("{name}.{}{layout}", T::DTYPE);
            self.write(&name, &expr, Math::Precise, false);
            if layout.is_empty() {
                self.write(&format!("{name}.fast"), &expr, Math::Fast, false);
                self.write(&format!("{name}.faulty"), &expr, Math::Precise, true);
            }
        }
    }

    /// Expressions that a compiler which takes floats for real numbers makes something else of. The
    /// table has them once more as Python, for NumPy to say what is right. Operands are numbered as they
    /// come, so that `a` comes before `b`.
    fn identities(&mut self) {
        let device = Device::cpu();
        let [a, b, c] = [(); 3].map(|()| device.zeros::<f32>(FLAT).unwrap().expr());
        let mut table = String::new();
        macro_rules! identities {
            ($($python:literal: $expr:expr,)*) => {$(
                let name = format!("identity{:02}", table.lines().count());
                writeln!(table, "{name} {}", $python).unwrap();
                self.write(&name, &$expr, Math::Precise, false);
            )*};
        }
        identities! {
            "a - a": &a - &a,
            "a + -a": &a + &-&a,
            "a / a": &a / &a,
            "(a + b) - a": (&a + &b) - &a,
            "(a - b) + b": (&a - &b) + &b,
            "(a + b) - (b + a)": (&a + &b) - (&b + &a),
            "(a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))":
                (&a - ((&a + &b) - ((&a + &b) - &a))) + (&b - ((&a + &b) - &a)),
            "((a + b) - a) - b": ((&a + &b) - &a) - &b,
            "a * b + c * b": &a * &b + &c * &b,
            "a * b + c": &a * &b + &c,
            "a * b - b * a": &a * &b - &b * &a,
            "a * a - b * b + a": &a * &a - &b * &b + &a,
            "(a + b) + c": (&a + &b) + &c,
            "(a * b) * c": (&a * &b) * &c,
            "(a * b) / b": (&a * &b) / &b,
            "(a / b) * b": (&a / &b) * &b,
            "(a / b) / c": (&a / &b) / &c,
            "-(a - b)": -(&a - &b),
            "abs(a + b) - abs(b + a)": (&a + &b).abs() - (&b + &a).abs(),
            "a + c > a": (&a + &c).gt(&a),
            "a - b < b - a": (&a - &b).lt(&b - &a),
            "a * b == c * b": (&a * &b).eq(&c * &b),
        }
        std::fs::write(self.path.join("identities.txt"), table).unwrap();
    }

    /// Reductions in every form: their passes.
    fn reduces(&mut self) {
        let device = Device::cpu();
        let shapes: [&[usize]; 5] = [&[64, 4096], &[1000, 8], &[1000, 3], &[64, 70], &[2, 70000]];
        let reductions = [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::ArgMin];
        let cases = shapes.into_iter().flat_map(|shape| reductions.map(|op| (shape, op)));
        for ((shape, op), axis) in cases.flat_map(|case| [(case, 0), (case, 1)]) {
            let x = device.zeros::<f32>(shape.to_vec()).unwrap();
            let square = &x * &x;
            let program = Program::new(square.untyped().node().unwrap(), x.shape()).unwrap();
            let program = program.reduced(op, axis..axis + 1);
            let passes = Launched::all(&Schedule::only(program), target(Math::Precise, false));
            for (number, pass) in passes.iter().enumerate() {
                let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
                let name = format!("fold.{}.{shape}.{axis}.{number}", op.name());
                self.keep(&name, emit(&pass.plan.kernel).unwrap().text());
            }
        }
    }

    /// Long expressions, to measure the time to compile.
    fn chains(&mut self) {
        let x = Device::cpu().zeros::<f32>(FLAT).unwrap();
        self.write("chain_five", &((((&x * 2.0 + 1.0).exp() - 0.5).relu()) / &x), Math::Precise, false);
        for count in [8, 16] {
            let (mut sines, mut powers) = (x.expr(), x.expr());
            for i in 0..count {
                sines = sines.sin() + i as f32;
                powers = powers.pow(&x);
            }
            self.write(&format!("chain_sin_{count}"), &sines, Math::Precise, false);
            self.write(&format!("chain_pow_{count}"), &powers, Math::Precise, false);
        }
    }
}

#[test]
#[ignore = "writes the kernels for scripts/check-dx12 and scripts/check-spirv"]
fn every_op_for_other_compilers() {
    let path = std::env::var_os("ZEROSTRIDE_DUMP").expect("ZEROSTRIDE_DUMP names a folder");
    std::fs::create_dir_all(&path).unwrap();
    let mut folder = Folder { path: path.into(), seen: HashSet::new() };
    let mut table = String::new();
    for op in operations() {
        let (name, arity) = (op.name, op.arity);
        writeln!(table, "{name} {arity} {} {}", op.ulp(DType::F32), op.ulp_from()).unwrap();
        macro_rules! on {
            ($($t:ident)*) => {$(
                match op.result(<$t>::DTYPE) {
                    None => {}
                    Some(DType::Bool) => folder.op::<$t, bool>(name, arity),
                    Some(_) => folder.op::<$t, $t>(name, arity),
                }
            )*};
        }
        on!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool);
    }
    folder.identities();
    folder.chains();
    folder.reduces();
    let [a, b] = [[64, 256], [256, 64]].map(|shape| Device::cpu().zeros::<f32>(shape).unwrap());
    let product = golden::first(target(Math::Precise, false), &a.matmul(&b));
    folder.keep("product", emit(&product.plan.kernel).unwrap().text());
    std::fs::write(folder.path.join("ops.txt"), table).unwrap();
}

/// Kernels of a GPU, and `elements.txt`: how many elements an invocation of each computes, 0 of what reduces.
struct Table {
    folder: PathBuf,
    elements: String,
}

impl Table {
    fn keep(&mut self, name: &str, kernel: &Kernel) {
        let elements = match &kernel.form {
            Form::Elements(own) => LANES * own.vectors as usize,
            _ => 0,
        };
        let mut texts = vec![(name.to_string(), emit(kernel).unwrap().text())];
        // Large angles are rare, and yet counted as taken.
        let rare = "if (any(large))";
        if texts[0].1.contains(rare) {
            texts.push((format!("{name}.usual"), texts[0].1.replace(rare, "if (false)")));
        }
        for (name, text) in texts {
            writeln!(self.elements, "{name} {elements}").unwrap();
            std::fs::write(self.folder.join(format!("{name}.wgsl")), text).unwrap();
        }
    }

    /// A sum in every layout that has a form of its own.
    fn layouts<T: Numeric>(&mut self) {
        let device = Device::cpu();
        let zeros = |shape: &[usize]| device.zeros::<T>(shape).unwrap();
        let square = zeros(&[4096, 4096]);
        let image = zeros(&[8, 64, 32, 32]);
        let layouts = [
            ("same_shape", zeros(&FLAT) + zeros(&FLAT)),
            ("row", &square + zeros(&[4096])),
            ("column", &square + zeros(&[4096, 1])),
            ("outer", zeros(&[4096, 1]) + zeros(&[4096])),
            ("nchw", &image + zeros(&[64, 1, 1])),
            ("batch_channel", &image + zeros(&[8, 1, 1, 32])),
            ("scalar", &square + zeros(&[1, 1])),
            ("odd_rows", zeros(&[4095, 4095]) + zeros(&[4095])),
            ("short_rows", zeros(&[1 << 20, 3]) + zeros(&[3])),
            ("short_rows_of_four", zeros(&[1 << 20, 4]) + zeros(&[4])),
            ("transposed", &square + zeros(&[4096, 4096]).transpose(0, 1)),
            ("strided", square.slice_step(1, .., 2) + zeros(&[4096, 2048])),
            ("shifted", zeros(&[1 << 20]).expr() + zeros(&[(1 << 20) + 1]).slice(0, 1..)),
            ("flipped", &square + zeros(&[4096, 4096]).flip(1)),
        ];
        for (layout, sum) in layouts {
            self.keep(&format!("add.{}.{layout}", T::DTYPE), &golden::kernel(&sum));
        }
    }

    /// Ops over flat operands.
    fn op<T: Element, R: Element>(&mut self, name: &str, arity: usize, math: Math) {
        let operands = [(); 3].map(|()| Device::cpu().zeros::<T>(FLAT).unwrap().expr());
        let expr = Expr::<R>::call(name, &operands[..arity]);
        let fast = if math == Math::Fast { ".fast" } else { "" };
        let kernel = golden::kernel_on(Target { math, ..GPU }, &expr);
        self.keep(&format!("{name}.{}{fast}", T::DTYPE), &kernel);
    }

    /// What total mode costs: kernels in both modes.
    fn modes(&mut self) {
        let device = Device::cpu();
        let zeros = |shape: [usize; 2]| device.zeros::<f32>(shape).unwrap().expr();
        let (a, b) = (zeros([512, 512]), zeros([512, 512]));
        let chain = (0..10).fold(a.clone(), |all, i| (all * (1.0 + i as f32)) + &b);
        let rows = zeros([4096, 1024]);
        let all = [
            ("add", &a + &b),
            ("chain_of_twenty", chain),
            ("sum_of_rows", rows.sum(1)),
            ("softmax", rows.softmax(1)),
            ("product", a.matmul(&b)),
        ];
        for (name, expr) in all {
            self.keep(&format!("modes.{name}"), &golden::first(GPU, &expr).plan.kernel);
            self.keep(&format!("modes.{name}.total"), &golden::total(&expr).plan.kernel);
        }
    }

    fn ops(&mut self) {
        for op in operations() {
            let (name, arity) = (op.name, op.arity);
            match op.result(DType::F32) {
                None => {}
                Some(DType::Bool) => self.op::<f32, bool>(name, arity, Math::Precise),
                Some(_) => self.op::<f32, f32>(name, arity, Math::Precise),
            }
        }
        for (name, arity) in [("exp", 1), ("sin", 1), ("cos", 1), ("pow", 2)] {
            self.op::<f32, f32>(name, arity, Math::Fast);
        }
        macro_rules! of_types {
            ($($t:ident)*) => {$(
                for (name, arity) in [("mul", 2), ("maximum", 2), ("lerp", 3)] {
                    if operations().any(|op| op.name == name && op.result(<$t>::DTYPE).is_some()) {
                        self.op::<$t, $t>(name, arity, Math::Precise);
                    }
                }
                self.op::<$t, bool>("lt", 2, Math::Precise);
                let x = Device::cpu().zeros::<$t>(FLAT).unwrap();
                self.keep(&format!("cast.{}.f32", <$t>::DTYPE), &golden::kernel(&x.cast::<f32>()));
                let x = Device::cpu().zeros::<f32>(FLAT).unwrap();
                self.keep(&format!("cast.f32.{}", <$t>::DTYPE), &golden::kernel(&x.cast::<$t>()));
            )*};
        }
        of_types!(f16 bf16 i8 u8 i16 u16 i32 u32);
        self.op::<bool, bool>("and", 2, Math::Precise);
        self.op::<f16, f16>("exp", 1, Math::Precise);
        self.op::<i32, i32>("div", 2, Math::Precise);
        for name in ["mul", "div", "max"] {
            let operands = [(); 2].map(|()| Device::cpu().zeros::<i64>(FLAT).unwrap().expr());
            let kernel = golden::kernel_on(golden::PAIRS, &Expr::<i64>::call(name, &operands));
            self.keep(&format!("{name}.i64.pairs"), &kernel);
        }
    }
}

#[test]
#[ignore = "writes the kernels for scripts/gpu-code"]
fn kernels_for_the_table() {
    let folder: PathBuf = std::env::var_os("ZEROSTRIDE_DUMP").expect("ZEROSTRIDE_DUMP names a folder").into();
    let mut table = Table { folder: folder.clone(), elements: String::new() };
    table.layouts::<f32>();
    table.layouts::<f16>();
    table.layouts::<bf16>();
    table.layouts::<u8>();
    let x = Device::cpu().zeros::<f32>(FLAT).unwrap();
    table.keep("chain_of_five.f32", &golden::kernel(&((((&x * 2.0 + 1.0).exp() - 0.5).relu()) / &x)));
    table.modes();
    table.ops();
    for (name, kernel) in golden::kernels() {
        table.keep(&format!("golden.{name}"), &kernel);
    }
    std::fs::write(folder.join("elements.txt"), table.elements).unwrap();
}
