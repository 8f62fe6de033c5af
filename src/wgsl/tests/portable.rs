//! Every op on every type in every walk and store, through naga to the languages of all
//! backends. Needs no device, so it also covers kernels that no adapter of this machine runs.
//!
//! Where ZEROSTRIDE_DUMP names a folder, the kernels are kept there for compilers that are no part of
//! naga: `scripts/check-dx12` and `scripts/check-spirv` read them.

use super::golden::{GPU, Launched, scheduled, scheduled_rows};
use crate::common::portable as all_languages;
use crate::dtype::{DType, Element, Kind};
use crate::ir::{AxisOp, Math, Program, ProgramKind, ReduceOp, ScanAxis, Schedule, Source};
use crate::lower::over_slots;
use crate::plan::{Faults, Place, Plan, Target};
use crate::wgsl::emit;
use crate::{AnyExpr, Device, Expr, Outside, Pad, ReduceOptions, bf16, f16, operations};

/// Adapters without any fault, without what DX12's older compiler lacks, and with every fault.
fn targets() -> [Target; 3] {
    let lacking = Faults { half_rounding: true, longs: true, fma: true, splits: true, ..Faults::default() };
    let faulty = Faults { flushes: true, quotients: true, roots: true, halves: true, ..lacking };
    let faulty = Faults { nans: true, fractions: true, ..faulty };
    [(Faults::default(), Math::Precise), (lacking, Math::Fast), (faulty, Math::Precise)]
        .map(|(faults, math)| Target { faults, math, ..GPU })
}

/// Plans an op over operands of several layouts, each for adapters in turn, and writes each kernel in all languages.
fn check<T: Element, R: Element>(name: &str, arity: usize, written: &mut usize) {
    let device = Device::cpu();
    let square = device.zeros::<T>([72, 70]).unwrap();
    let wide = device.zeros::<T>([2, 3, 4, 16]).unwrap();
    let layouts = [
        [square.expr(), square.expr(), square.expr()],
        [square.expr(), square.slice(0, ..1), Expr::scalar(T::ZERO)],
        [wide.expr(), wide.slice(1, ..1), wide.slice(3, ..1)],
        [
            square.slice(1, ..70).permute([1, 0]),
            Expr::scalar(T::ZERO),
            square.slice(0, ..70).slice(1, ..1).reshape([70, 1]).broadcast_to([70, 72]),
        ],
    ];
    let target = device.zeros::<R>([144, 70]).unwrap().slice_step(0, .., 2).tensor().unwrap();
    for (operands, own_target) in layouts.into_iter().zip(targets().into_iter().cycle().skip(*written % 3)) {
        let expr = Expr::<R>::call(name, &operands[..arity]);
        let node = expr.untyped().node().unwrap();
        let program = Program::new(node, &node.shape).unwrap();
        let own = Program::new(target.untyped().node().unwrap(), target.shape()).unwrap();
        let [program, own] = over_slots([&program, &own]);
        let Source::Slot(slot) = own.inputs[0].source else { panic!("a tensor has a slot") };
        let mut destinations = vec![Place::Fresh];
        if node.shape == *target.shape() {
            destinations.push(Place::Into(slot, target.layout()));
        }
        for to in destinations {
            let text = emit(&Plan::new(&program, to, own_target).unwrap().kernel).unwrap().text();
            all_languages::write_all(&text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
            let is_long = all_languages::has_types(&text, &["i64", "u64"]);
            assert!(!is_long || !own_target.faults.longs || T::DTYPE == DType::F64, "{name}: {text}");
            *written += 1;
        }
    }
}

#[test]
fn every_op_in_every_language() {
    let mut written = 0;
    for op in operations() {
        macro_rules! on {
            ($($t:ident)*) => {$(
                match op.result(<$t>::DTYPE) {
                    None => {}
                    Some(DType::Bool) => check::<$t, bool>(op.name, op.arity, &mut written),
                    Some(_) => check::<$t, $t>(op.name, op.arity, &mut written),
                }
            )*};
        }
        on!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool);
    }
    assert!(written > 1000, "only {written} kernels");
}

/// Lookups in tables of a type, and expressions of them, in all languages.
fn check_lookups<T: Element>(written: &mut usize) {
    let device = Device::cpu();
    let table = device.zeros::<T>([72, 64]).unwrap();
    let fill = match T::DTYPE.kind() {
        Kind::Bool => Outside::fill(true),
        Kind::Float => Outside::fill(0.5),
        _ => Outside::fill(7),
    };
    let i = device.zeros::<i32>([40]).unwrap();
    let column = device.zeros::<i32>([40, 1]).unwrap();
    let part = device.zeros::<T>([80, 64]).unwrap().slice_step(0, .., 2).tensor().unwrap();
    for expr in [
        table.at([&i, &i]),
        table.at_with([&column.expr(), &i.expr()], Outside::Wrapped),
        table.transpose(0, 1).flip(0).at_with([&i, &i], fill),
        table.take(&i, 0),
        table.take(&i, 1),
        table.roll([3, -5], [0, 1]),
        table.pad([(2, 3), (1, 0)], Pad::Reflect),
        // In a loop, beside a coordinate.
        Expr::repeat(3, (Expr::iota([40, 64], 1), table.slice(0, ..40)), |(at, _)| {
            let found = table.at([&Expr::iota([40, 64], 0), &at]);
            (at + found.cast::<i32>(), found)
        })
        .1,
    ] {
        let node = expr.untyped().node().unwrap();
        let program = Program::new(node, &node.shape).unwrap();
        let own = Program::new(part.untyped().node().unwrap(), part.shape()).unwrap();
        let [program, own] = over_slots([&program, &own]);
        let Source::Slot(slot) = own.inputs[0].source else { panic!("a tensor has a slot") };
        let mut destinations = vec![Place::Fresh];
        if node.shape == *part.shape() {
            destinations.push(Place::Into(slot, part.layout()));
        }
        for to in destinations {
            let text = emit(&Plan::new(&program, to, GPU).unwrap().kernel).unwrap().text();
            all_languages::write_all(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            *written += 1;
        }
        // Reduced along either axis.
        for axis in 0..node.shape.rank() {
            let op = if T::DTYPE == DType::Bool { ReduceOp::Any } else { ReduceOp::Max };
            if T::DTYPE.kind() == Kind::Float && T::DTYPE.size() < 4 {
                continue;
            }
            let program = Program::new(node, &node.shape).unwrap().reduced(op, axis..axis + 1);
            let first = &Launched::all(&Schedule::only(program), GPU)[0];
            let text = emit(&first.plan.kernel).unwrap().text();
            all_languages::write_all(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            *written += 1;
        }
    }
}

#[test]
fn lookups_in_every_language() {
    let mut written = 0;
    macro_rules! on {
        ($($t:ident)*) => { $(check_lookups::<$t>(&mut written);)* };
    }
    on!(f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool);
    assert!(written > 250, "only {written} kernels");
}

/// Reductions of a type over a few layouts: their passes in all languages.
fn check_reductions<T: Element>(written: &mut usize) {
    let device = Device::cpu();
    let shapes = [[72, 70], [64, 128], [1000, 3], [3, 5000]];
    let reductions = [
        ReduceOp::Sum,
        ReduceOp::Prod,
        ReduceOp::TotalSum,
        ReduceOp::TotalProd,
        ReduceOp::Min,
        ReduceOp::Max,
        ReduceOp::ArgMin,
        ReduceOp::ArgMax,
        ReduceOp::Any,
        ReduceOp::All,
    ];
    for op in reductions.into_iter().filter(|op| op.form(T::DTYPE).is_some()) {
        for (shape, axis) in shapes.into_iter().flat_map(|shape| [(shape, 0), (shape, 1)]) {
            for scan in [None, Some(false), Some(true)] {
                if scan.is_some() && !op.is_ordered(DType::F32) {
                    continue;
                }
                let tensor = device.zeros::<T>(shape).unwrap();
                let program = Program::new(tensor.expr().untyped().node().unwrap(), tensor.shape()).unwrap();
                let program = match scan {
                    None => program.reduced(op, axis..axis + 1),
                    Some(exclusive) => {
                        program.of_kind(ProgramKind::of(AxisOp::Scan(ScanAxis { op, axis, exclusive })))
                    }
                };
                for pass in Launched::all(&Schedule::only(program), GPU) {
                    let text = emit(&pass.plan.kernel).unwrap().text();
                    all_languages::write_all(&text).unwrap_or_else(|e| panic!("{op:?}: {e}\n{text}"));
                    *written += 1;
                }
            }
        }
    }
}

#[test]
fn reductions_in_every_language() {
    let mut written = 0;
    macro_rules! on {
        ($($t:ident)*) => { $(check_reductions::<$t>(&mut written);)* };
    }
    on!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool);
    assert!(written > 250, "only {written} kernels");
}

/// Rows of a type over a few layouts, in all languages.
fn check_rows<T: Element>(written: &mut usize) {
    let device = Device::cpu();
    let is_float = T::DTYPE.kind() == Kind::Float;
    for (shape, axis) in [([72, 70], 1), ([64, 128], 1), ([60, 72], 0), ([1000, 3], 1), ([3, 4096], 1)] {
        let x = device.zeros::<T>(shape).unwrap().expr();
        let keepdim = ReduceOptions::default().keepdim();
        let range = |name: &str| x.untyped().reduce(name, axis, keepdim);
        let [least, greatest] = ["min", "max"].map(range);
        let beside = |a: &AnyExpr, b: &AnyExpr| AnyExpr::call("sub", &[a.clone(), b.clone()]);
        let mut all = vec![beside(&greatest, &least), beside(&beside(x.untyped(), &least), &greatest)];
        if is_float {
            all.extend([x.untyped().reduce("softmax", axis, keepdim), beside(x.untyped(), &range("std"))]);
        }
        for expr in &all {
            let text = emit(&Launched::all(&scheduled_rows(expr), GPU)[0].plan.kernel).unwrap().text();
            all_languages::write_all(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            *written += 1;
        }
    }
}

/// Products of a type, by tiles and by invocations alone, of operands that lie along memory and across it.
fn check_products<T: Element>(written: &mut usize) {
    let device = Device::cpu();
    for (left, right) in [([40, 70], [70, 50]), ([1, 70], [70, 50]), ([64, 4096], [4096, 1])] {
        let [a, b] = [left, right].map(|shape| device.zeros::<T>(shape).unwrap().expr());
        let turned = |x: &Expr<T>| x.untyped().transpose(0, 1);
        let plain = [a.untyped().matmul(&b), turned(&b).matmul(turned(&a))];
        // Computed factors, and steps after the sums.
        let row = device.zeros::<T>([1, right[1]]).unwrap();
        let max = |a: &AnyExpr, b: &AnyExpr| AnyExpr::call("maximum", &[a.clone(), b.clone()]);
        let column = a.untyped().slice(1, ..1);
        let computed = max(&max(a.untyped(), &column).matmul(&b), row.expr().untyped());
        for product in plain.into_iter().chain([computed]) {
            for launched in Launched::all(&scheduled(&product), GPU) {
                let text = emit(&launched.plan.kernel).unwrap().text();
                all_languages::write_all(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                *written += 1;
            }
        }
    }
}

#[test]
fn products_in_every_language() {
    let mut written = 0;
    macro_rules! on {
        ($($t:ident)*) => { $(check_products::<$t>(&mut written);)* };
    }
    on!(f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64);
    assert!(written >= 108, "only {written} kernels");
}

/// The forms of an `fma` in a product of some type, by the faults of an adapter.
#[test]
fn products_are_fused_by_every_form() {
    fn text<T: Element>(faults: Faults, math: Math, rate: Option<u64>) -> String {
        let device = Device::cpu();
        let [a, b] = [[40, 70], [70, 50]].map(|shape| device.zeros::<T>(shape).unwrap().expr());
        let target = Target { faults, math, rate, ..GPU };
        let launched = &Launched::all(&scheduled(&a.untyped().matmul(&b)), target)[0];
        let text = emit(&launched.plan.kernel).unwrap().text();
        all_languages::write_all(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        text
    }
    let [none, chains] = [false, true].map(|chains| Faults { chains, splits: chains, ..Faults::default() });
    let wide = Faults { wide_chains: true, ..none };
    let (precise, host, gpu) = (Math::Precise, None, Some(1));
    let builtin = "return fma(a, b, s);";
    assert!(
        text::<f32>(none, precise, gpu).contains(builtin)
            && text::<f64>(chains, precise, gpu).contains(builtin)
    );
    assert!(text::<f32>(chains, precise, host).contains("return fma_by_f64(a, b, s);"));
    let integers = "return fma_rounded_f32(a, b, s, false);";
    assert!(
        text::<f32>(chains, precise, gpu).contains(integers)
            && text::<bf16>(chains, precise, gpu).contains(integers)
    );
    assert!(text::<f32>(Faults { doubles: true, ..chains }, precise, host).contains(integers));
    assert!(text::<f64>(wide, precise, host).contains("return fma_rounded_f64(a, b, s, false);"));
    let exact = "return bitcast<vec4<f32>>(bitcast<vec4<u32>>(s + a * b) ^ zero);";
    assert!(
        text::<f16>(chains, precise, gpu).contains(exact)
            && text::<f16>(none, precise, gpu).contains(builtin)
    );
    for (faults, math) in [(none, Math::Fast), (chains, Math::Fast)] {
        assert!(text::<f32>(faults, math, gpu).contains("return s + a * b;"));
    }
    let total = text::<f32>(Faults { flushes: true, ..none }, Math::Total, host);
    assert!(total.contains("flushed_term_f32(fma_rounded_f32(a, b, s, false))"));
}

#[test]
fn rows_in_every_language() {
    let mut written = 0;
    macro_rules! on {
        ($($t:ident)*) => { $(check_rows::<$t>(&mut written);)* };
    }
    on!(f32 f64 f16 bf16 i8 i32 i64 u8 u16);
    assert!(written > 100, "only {written} kernels");
}
