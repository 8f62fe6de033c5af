//! Expressions of floats for compilers that take floats for real numbers, as Metal's does: every op, on loaded and on computed
//! operands, and the expressions of `tests/it/strict`. `scripts/check-fast-math` compiles them.

use std::fmt::Write;
use std::path::PathBuf;

use super::dump;
use crate::Device;
use crate::common::recipe::{Builder, Recipe};
use crate::common::value::Value;
use crate::dtype::DType;
use crate::ir::{Math, Program};
use crate::lower::over_slots;
use crate::operations;
use crate::plan::{LANES, Place, Plan};
use crate::wgsl::emit;

#[path = "../../../tests/it/strict/drawn.rs"]
mod drawn;
#[path = "../../../tests/it/strict/identities.rs"]
mod identities;

/// Random expressions of a type.
const DRAWN: usize = 100;

struct Folder {
    path: PathBuf,
    /// A line each: the name, the type, that of the result, elements of an invocation, and the uniform block.
    table: String,
}

impl Folder {
    fn keep(&mut self, name: &str, recipe: &Recipe, of: DType) {
        let mut builder = Builder::default();
        for _ in 0..drawn::OPERANDS {
            let zeros = vec![Value::Float(0.0); drawn::ELEMENTS];
            builder.upload(&Device::cpu(), of, &[drawn::ELEMENTS], &zeros).unwrap();
        }
        let expr = builder.untyped(recipe);
        let node = expr.node().unwrap();
        let [program] = over_slots([&Program::new(node, &node.shape).unwrap()]);
        // Such a compiler divides by reciprocals, which a device finds out when it is opened.
        let plan = Plan::new(&program, Place::Fresh, dump::target(Math::Precise, true)).unwrap();
        let emitted = emit(&plan.kernel).unwrap();
        std::fs::write(self.path.join(format!("{name}.wgsl")), emitted.text()).unwrap();
        let each = LANES * plan.kernel.form.vectors() as usize;
        write!(self.table, "{name} {of} {} {each}", recipe.dtype).unwrap();
        emitted.block(&plan.launch.words).iter().for_each(|word| write!(self.table, " {word}").unwrap());
        self.table.push('\n');
    }
}

/// An op of floats, on loaded, summed, multiplied and selected operands.
fn forms(name: &'static str, arity: usize, of: DType) -> [(&'static str, Recipe); 4] {
    let [a, b, c, d] = &drawn::operands(of);
    let chosen = a.of2("lt", b).select(c, d);
    let operands = [
        ("loaded", [a.clone(), b.clone(), c.clone()]),
        ("sum", [a + b, b - c, c + d]),
        ("product", [a * b, c / d, b * c]),
        ("chosen", [chosen, a.of1("abs"), -b]),
    ];
    operands.map(|(form, all)| (form, Recipe::call(name, &all.each_ref()[..arity])))
}

#[test]
#[ignore = "writes the kernels for scripts/check-fast-math"]
fn expressions_for_fast_math() {
    let path = std::env::var_os("ZEROSTRIDE_DUMP").expect("ZEROSTRIDE_DUMP names a folder");
    let mut folder = Folder { path: path.into(), table: String::new() };
    for of in [DType::F32, DType::F64, DType::F16, DType::BF16] {
        // A compiler may contract this one.
        for op in operations().filter(|op| op.name != "mul_add" && op.result(of).is_some()) {
            for (form, recipe) in
                forms(op.name, op.arity, of).into_iter().skip(if of == DType::F32 { 0 } else { 2 })
            {
                folder.keep(&format!("{}.{of}.{form}", op.name), &recipe, of);
            }
        }
        let [a, b, ..] = &drawn::operands(of);
        for to in [DType::F32, DType::F16, DType::BF16, DType::I32, DType::U32, DType::Bool] {
            folder.keep(&format!("cast.{of}.{to}"), &(a * b).cast(to), of);
        }
        // Other types are fenced as f32 is.
        let every = if of == DType::F32 { 1 } else { 8 };
        let strict = identities::identities(&drawn::operands(of)).into_iter();
        let strict = strict.chain(drawn::random_recipes(of, 11, DRAWN)).enumerate().step_by(every);
        strict.for_each(|(i, recipe)| folder.keep(&format!("strict.{of}.{i}"), &recipe, of));
    }
    std::fs::write(folder.path.join("expressions.txt"), folder.table).unwrap();
}
