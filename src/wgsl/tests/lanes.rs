//! The prelude's functions as Rust, for the CPU path: naga's reading of a function, written for one lane of its vectors.
//! `ZEROSTRIDE_BLESS=1 cargo test --lib lanes` writes `src/cpu/prelude/` anew.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;

use naga::{
    Arena, BinaryOperator as B, Expression as E, Function, Handle, Literal, MathFunction as M, Module,
    RelationalFunction, ScalarKind, Statement as S, Type, TypeInner, UnaryOperator as U, front::Typifier,
    proc::ResolveContext,
};

use crate::plan::Faults;
use crate::wgsl::prelude::used_by;

/// Functions that the processor has, as Rust. `$0` and `$1` are the operands.
const PROCESSORS: &[(&str, &str)] = &[
    ("opaque", "$0"),
    ("opaque_lane", "$0"),
    ("times", "$0 * $1"),
    ("times_kept", "$0 * $1"),
    ("plus", "$0 + $1"),
    ("mul_add", "$0 * $1 + $2"),
    ("times_lane", "$0 * $1"),
    ("quotient", "$0 / $1"),
    ("root", "$0.sqrt()"),
    ("sqrt", "$0.sqrt()"),
    ("whole", "$0.round_ties_even()"),
    ("down", "$0.floor()"),
    ("up", "$0.ceil()"),
    ("inward", "$0.trunc()"),
    ("is_nan", "$0.is_nan()"),
    ("copysign", "$0.copysign($1)"),
    ("cast_u64", "$0 as f64"),
];

/// What Rust calls the processor's instruction for a function of the prelude.
pub(super) fn instruction(name: &str) -> Option<&'static str> {
    let bare = name.strip_suffix("_f32").or_else(|| name.strip_suffix("_f64"))?;
    PROCESSORS.iter().find(|(own, _)| *own == bare).map(|(_, text)| *text)
}

/// The module of everything that a kernel of all functions of a type would contain.
pub(super) fn module(dtype: &str) -> Module {
    let calls = entries(dtype).join(" ");
    let text = format!(
        "struct Params {{ zero: u32 }}\n@group(0) @binding(0) var<uniform> p: Params;\n{}",
        used_by(&calls, Faults { fma: true, longs: true, ..Faults::default() })
    );
    naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(&text)))
}

/// A name of the prelude without its type.
pub(super) fn bare(name: &str) -> String {
    name.replace("_f32", "").replace("_f64", "")
}

struct Writer<'a> {
    module: &'a Module,
    out: String,
}

impl Writer<'_> {
    /// The type of a lane.
    fn lane(&self, inner: &TypeInner) -> String {
        match *inner {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => {
                let bits = u32::from(scalar.width) * 8;
                match scalar.kind {
                    ScalarKind::Float => format!("f{bits}"),
                    ScalarKind::Sint => format!("i{bits}"),
                    ScalarKind::Uint => format!("u{bits}"),
                    _ => "bool".into(),
                }
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(size), .. } => {
                format!("[{}; {size}]", self.lane_of(base))
            }
            _ => panic!("a lane of {inner:?}"),
        }
    }

    fn lane_of(&self, ty: Handle<Type>) -> String {
        let own = &self.module.types[ty];
        match &own.inner {
            TypeInner::Struct { .. } => bare(own.name.as_ref().unwrap()),
            inner => self.lane(inner),
        }
    }

    fn structs(&mut self) {
        for (_, own) in self.module.types.iter() {
            let (Some(name), TypeInner::Struct { members, .. }) = (&own.name, &own.inner) else { continue };
            if name == "Params" {
                continue;
            }
            let _ = writeln!(self.out, "#[derive(Clone, Copy)]\nstruct {} {{", bare(name));
            for member in members {
                let _ =
                    writeln!(self.out, "    {}: {},", member.name.as_ref().unwrap(), self.lane_of(member.ty));
            }
            self.out += "}\n\n";
        }
    }

    fn functions(&mut self, entries: &[String]) {
        for (handle, own) in self.module.functions.iter() {
            let name = own.name.as_ref().unwrap();
            if instruction(name).is_none() {
                let text = Body::new(self, handle).text(entries.contains(name));
                self.out += &text;
            }
        }
    }
}

/// The literal as Rust writes it.
fn literal(value: Literal) -> String {
    match value {
        Literal::F32(x) => format!("{x:?}_f32"),
        Literal::F64(x) => format!("{x:?}_f64"),
        Literal::U32(x) if x >= 0x1000 => format!("{x:#x}_u32"),
        Literal::U32(x) => format!("{x}_u32"),
        Literal::I32(x) => format!("{x}_i32"),
        Literal::U64(x) if x >= 0x1000 => format!("{x:#x}_u64"),
        Literal::U64(x) => format!("{x}_u64"),
        Literal::I64(x) => format!("{x}_i64"),
        Literal::Bool(x) => format!("{x}"),
        other => panic!("a literal {other:?}"),
    }
}

/// The types of a function's expressions.
pub(super) fn typed(module: &Module, own: &Function) -> Typifier {
    let mut types = Typifier::new();
    let context = ResolveContext::with_locals(module, &own.local_variables, &own.arguments);
    for (expr, _) in own.expressions.iter() {
        types.grow(expr, &own.expressions, &context).unwrap();
    }
    types
}

/// A function, for one lane.
struct Body<'a> {
    writer: &'a Writer<'a>,
    own: &'a Function,
    types: Typifier,
    /// The text of each expression that has one: a name, or what stands in its place.
    known: HashMap<Handle<E>, String>,
    /// How often each is read.
    uses: HashMap<Handle<E>, usize>,
    taken: HashSet<String>,
    out: String,
    depth: usize,
}

impl<'a> Body<'a> {
    fn new(writer: &'a Writer<'a>, handle: Handle<Function>) -> Self {
        let own = &writer.module.functions[handle];
        let types = typed(writer.module, own);
        let mut uses = HashMap::new();
        let mut read = |expr: Handle<E>| *uses.entry(expr).or_insert(0) += 1;
        for (_, expr) in own.expressions.iter() {
            operands(expr).into_iter().for_each(&mut read);
        }
        each(&own.body, &mut |statement| match statement {
            S::If { condition, .. } => read(*condition),
            S::Return { value } => value.iter().copied().for_each(&mut read),
            S::Store { value, .. } => read(*value),
            S::Call { arguments, .. } => arguments.iter().copied().for_each(&mut read),
            _ => {}
        });
        let mut taken: HashSet<String> = own.arguments.iter().filter_map(|arg| arg.name.clone()).collect();
        taken.extend(own.local_variables.iter().filter_map(|(_, own)| own.name.clone()));
        taken.extend(writer.module.functions.iter().filter_map(|(_, own)| own.name.as_deref().map(bare)));
        Body { writer, own, types, known: HashMap::new(), uses, taken, out: String::new(), depth: 1 }
    }

    fn text(mut self, public: bool) -> String {
        let name = bare(self.own.name.as_ref().unwrap());
        let args = self.own.arguments.iter();
        let args: Vec<String> = args
            .map(|arg| format!("{}: {}", arg.name.as_ref().unwrap(), self.writer.lane_of(arg.ty)))
            .collect();
        let result = self.writer.lane_of(self.own.result.as_ref().unwrap().ty);
        let vis = if public { "pub(in crate::cpu) " } else { "" };
        let head = format!("#[inline(always)]\n{vis}fn {name}({}) -> {result} {{\n", args.join(", "));
        for (_, local) in self.own.local_variables.iter() {
            let (name, ty) = (local.name.as_ref().unwrap(), self.writer.lane_of(local.ty));
            let value = match (local.init, ty.split_once(';')) {
                (Some(init), _) => format!(" = {}", self.expr(init)),
                (None, Some((_, size))) => format!(" = [0;{size}"),
                (None, None) => String::new(),
            };
            self.line(&format!("let mut {name}: {ty}{value};"));
        }
        self.block(&self.own.body);
        format!("{head}{}}}\n\n", self.out)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.depth));
    }

    /// Whether an expression is of another lane than the first.
    fn elsewhere(&self, expr: Handle<E>) -> bool {
        match self.own.expressions[expr] {
            E::AccessIndex { base, index } => index > 0 && self.is_lanes(base) || self.elsewhere(base),
            E::Load { pointer } => self.elsewhere(pointer),
            _ => false,
        }
    }

    /// Whether an expression is a vector, or points to one.
    fn is_lanes(&self, expr: Handle<E>) -> bool {
        let types = &self.writer.module.types;
        match self.types.get(expr, types) {
            TypeInner::Vector { .. } => true,
            TypeInner::Pointer { base, .. } => matches!(types[*base].inner, TypeInner::Vector { .. }),
            TypeInner::ValuePointer { size, .. } => size.is_some(),
            _ => false,
        }
    }

    fn inner(&self, expr: Handle<E>) -> &TypeInner {
        self.types.get(expr, &self.writer.module.types)
    }

    fn is_float(&self, expr: Handle<E>) -> bool {
        self.inner(expr).scalar_kind() == Some(ScalarKind::Float)
    }

    fn block(&mut self, block: &naga::Block) {
        for statement in block {
            self.statement(statement);
        }
    }

    fn inside(&mut self, block: &naga::Block) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &S) {
        match statement {
            S::Emit(range) => {
                for expr in range.clone() {
                    self.emit(expr);
                }
            }
            S::Block(block) => self.block(block),
            S::If { condition, .. } if self.elsewhere(*condition) => {}
            S::If { condition, accept, reject } => {
                let condition = self.expr(*condition);
                self.line(&format!("if {condition} {{"));
                self.inside(accept);
                if !reject.is_empty() {
                    self.line("} else {");
                    self.inside(reject);
                }
                self.line("}");
            }
            S::Loop { body, continuing, break_if } => {
                assert!(break_if.is_none());
                self.line("loop {");
                self.inside(body);
                self.inside(continuing);
                self.line("}");
            }
            S::Break => self.line("break;"),
            S::Return { value } => {
                let value = self.expr(value.unwrap());
                self.line(&if self.depth == 1 { value } else { format!("return {value};") });
            }
            S::Store { pointer, .. } if self.elsewhere(*pointer) => {}
            S::Store { pointer, value } => {
                let text = format!("{} = {};", self.expr(*pointer), self.expr(*value));
                self.line(&text);
            }
            S::Call { function, arguments, result } => {
                let name = self.writer.module.functions[*function].name.clone().unwrap();
                let args: Vec<String> = arguments.iter().map(|&arg| self.expr(arg)).collect();
                let text = match instruction(&name) {
                    // The value as it is.
                    Some("$0") => args[0].clone(),
                    Some(text) => {
                        let args = args.iter().enumerate();
                        args.fold(text.to_string(), |text, (i, arg)| {
                            text.replace(&format!("${i}"), &operand(arg))
                        })
                    }
                    None => format!("{}({})", bare(&name), args.join(", ")),
                };
                self.result(result.unwrap(), text);
            }
            other => panic!("a statement {other:?}"),
        }
    }

    /// Names a value if it has a name or several readers, and else keeps its text for its reader.
    fn result(&mut self, expr: Handle<E>, text: String) {
        let named = self.own.named_expressions.get(&expr).cloned();
        let several = self.uses.get(&expr).copied().unwrap_or(0) > 1;
        if named.is_none() && (!several || is_plain(&text)) {
            self.known.insert(expr, text);
            return;
        }
        let wanted = named.unwrap_or_else(|| "t".into());
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}{number}");
        }
        self.line(&format!("let {name} = {text};"));
        self.known.insert(expr, name);
    }

    fn emit(&mut self, expr: Handle<E>) {
        if self.elsewhere(expr) {
            return;
        }
        // Pointers are places.
        if matches!(self.inner(expr), TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }) {
            return;
        }
        let text = self.written(expr);
        self.result(expr, text);
    }

    /// A value as an operand.
    fn part(&mut self, expr: Handle<E>) -> String {
        operand(&self.expr(expr))
    }

    fn expr(&mut self, expr: Handle<E>) -> String {
        if let Some(text) = self.known.get(&expr) {
            return text.clone();
        }
        self.written(expr)
    }

    fn global(&self, expr: Handle<E>) -> String {
        constant(self.writer, &self.writer.module.global_expressions, expr)
    }

    fn written(&mut self, expr: Handle<E>) -> String {
        let own = self.own;
        match own.expressions[expr] {
            // The zero that no compiler of a kernel knows.
            E::GlobalVariable(_) => "0_u32".into(),
            E::Literal(value) => literal(value),
            E::Constant(handle) => self.global(self.writer.module.constants[handle].init),
            E::ZeroValue(ty) => match self.writer.lane_of(ty).as_str() {
                "bool" => "false".into(),
                lane if lane.starts_with('f') => format!("0.0_{lane}"),
                lane => format!("0_{lane}"),
            },
            E::Compose { ty, ref components } => match &self.writer.module.types[ty].inner {
                TypeInner::Vector { .. } => self.expr(components[0]),
                TypeInner::Struct { members, .. } => {
                    let fields: Vec<String> = members
                        .iter()
                        .zip(components)
                        .map(|(member, &part)| {
                            format!("{}: {}", member.name.as_ref().unwrap(), self.expr(part))
                        })
                        .collect();
                    format!("{} {{ {} }}", self.writer.lane_of(ty), fields.join(", "))
                }
                TypeInner::Array { .. } => {
                    let parts: Vec<String> = components.iter().map(|&part| self.expr(part)).collect();
                    format!("[{}]", parts.join(", "))
                }
                inner => panic!("composes {inner:?}"),
            },
            E::Splat { value, .. } => self.expr(value),
            E::AccessIndex { base, index } => {
                let of = self.expr(base);
                let types = &self.writer.module.types;
                let inner = match self.types.get(base, types) {
                    TypeInner::Pointer { base, .. } => &types[*base].inner,
                    inner => inner,
                };
                match inner {
                    TypeInner::Struct { .. } if of == "0_u32" => of,
                    TypeInner::Struct { members, .. } => {
                        format!("{of}.{}", members[index as usize].name.as_ref().unwrap())
                    }
                    TypeInner::Array { .. } => format!("{of}[{index}]"),
                    _ => of,
                }
            }
            E::Access { base, index } => {
                format!("{}[{} as usize]", self.expr(base), self.expr(index))
            }
            E::FunctionArgument(i) => own.arguments[i as usize].name.clone().unwrap(),
            E::LocalVariable(handle) => own.local_variables[handle].name.clone().unwrap(),
            E::Load { pointer } => self.expr(pointer),
            E::Unary { op, expr } => {
                let of = self.part(expr);
                match op {
                    U::Negate if self.is_float(expr) => format!("-{of}"),
                    U::Negate => format!("{of}.wrapping_neg()"),
                    U::LogicalNot | U::BitwiseNot => format!("!{of}"),
                }
            }
            E::Binary { op, left, right } => self.binary(op, left, right),
            E::Select { condition, accept, reject } => {
                let [reject, accept] = [reject, accept].map(|value| self.expr(value));
                format!("select({reject}, {accept}, {})", self.expr(condition))
            }
            E::Relational { fun: RelationalFunction::All | RelationalFunction::Any, argument } => {
                self.expr(argument)
            }
            E::Math { fun, arg, arg1, arg2, .. } => {
                let [a, b, c] =
                    [Some(arg), arg1, arg2].map(|arg| arg.map(|arg| self.expr(arg)).unwrap_or_default());
                match fun {
                    M::Abs => format!("{}.abs()", operand(&a)),
                    M::Floor => format!("{}.floor()", operand(&a)),
                    M::CountLeadingZeros => format!("{}.leading_zeros()", operand(&a)),
                    M::Max => format!("larger({a}, {b})"),
                    M::Min => format!("smaller({a}, {b})"),
                    M::Clamp => format!("smaller(larger({a}, {b}), {c})"),
                    M::Sqrt => format!("{}.sqrt()", operand(&a)),
                    M::Round => format!("{}.round_ties_even()", operand(&a)),
                    fun => panic!("a builtin {fun:?}, whose bits are not known"),
                }
            }
            E::As { expr: of, kind: _, convert } => {
                let (from, to) = (self.writer.lane(self.inner(of)), self.writer.lane(self.inner(expr)));
                let whole = self.expr(of);
                let of = operand(&whole);
                match convert {
                    _ if from == to => whole,
                    Some(_) => format!("{of} as {to}"),
                    None if from.starts_with('f') && to.starts_with('u') => format!("{of}.to_bits()"),
                    None if from.starts_with('f') => format!("{of}.to_bits() as {to}"),
                    None if to.starts_with('f') && from.starts_with('u') => {
                        format!("{to}::from_bits({whole})")
                    }
                    None if to.starts_with('f') => format!("{to}::from_bits({of} as u{})", &to[1..]),
                    None => format!("{of} as {to}"),
                }
            }
            ref other => panic!("an expression {other:?}"),
        }
    }

    fn binary(&mut self, op: B, left: Handle<E>, right: Handle<E>) -> String {
        let (float, a) = (self.is_float(left), self.part(left));
        let raw = self.expr(right);
        let b = operand(&raw);
        let wrapping = |name: &str| format!("{a}.wrapping_{name}({raw})");
        let plain = |sign: &str| format!("{a} {sign} {b}");
        match op {
            B::Add if !float => wrapping("add"),
            B::Subtract if !float => wrapping("sub"),
            B::Multiply if !float => wrapping("mul"),
            B::ShiftLeft => wrapping("shl"),
            B::ShiftRight => wrapping("shr"),
            B::Add => plain("+"),
            B::Subtract => plain("-"),
            B::Multiply => plain("*"),
            B::Divide => plain("/"),
            B::Modulo => plain("%"),
            B::Equal => plain("=="),
            B::NotEqual => plain("!="),
            B::Less => plain("<"),
            B::LessEqual => plain("<="),
            B::Greater => plain(">"),
            B::GreaterEqual => plain(">="),
            B::And | B::LogicalAnd => plain("&"),
            B::InclusiveOr | B::LogicalOr => plain("|"),
            B::ExclusiveOr => plain("^"),
        }
    }
}

/// A constant expression.
fn constant(writer: &Writer<'_>, all: &Arena<E>, expr: Handle<E>) -> String {
    match &all[expr] {
        E::Literal(value) => literal(*value),
        E::Splat { value, .. } => constant(writer, all, *value),
        E::Constant(handle) => constant(writer, all, writer.module.constants[*handle].init),
        E::Compose { components, .. } => {
            let parts: Vec<String> = components.iter().map(|&part| constant(writer, all, part)).collect();
            format!("[{}]", parts.join(", "))
        }
        E::Unary { op: U::Negate, expr } => format!("(-{})", constant(writer, all, *expr)),
        other => panic!("a constant {other:?}"),
    }
}

/// Whether a text is a name, a field or a literal.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// A text as an operand: in parentheses if it has an operator.
fn operand(text: &str) -> String {
    let mut depth = 0;
    let mut has_operator = text.starts_with(['-', '!']);
    for c in text.chars() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        has_operator |= depth == 0 && c == ' ';
    }
    if has_operator { format!("({text})") } else { text.to_string() }
}

/// What an expression reads.
fn operands(expr: &E) -> Vec<Handle<E>> {
    match *expr {
        E::Compose { ref components, .. } => components.clone(),
        E::Access { base, index } => vec![base, index],
        E::AccessIndex { base, .. } => vec![base],
        E::Splat { value, .. } => vec![value],
        E::Load { pointer } => vec![pointer],
        E::Unary { expr, .. } | E::As { expr, .. } => vec![expr],
        E::Binary { left, right, .. } => vec![left, right],
        E::Select { condition, accept, reject } => vec![condition, accept, reject],
        E::Relational { argument, .. } => vec![argument],
        E::Math { arg, arg1, arg2, .. } => [Some(arg), arg1, arg2].into_iter().flatten().collect(),
        _ => Vec::new(),
    }
}

/// Runs a function on each statement.
pub(super) fn each<'a>(block: &'a naga::Block, run: &mut impl FnMut(&'a S)) {
    for statement in block {
        run(statement);
        match statement {
            S::Block(own) => each(own, run),
            S::If { accept: one, reject: other, .. } | S::Loop { body: one, continuing: other, .. } => {
                each(one, run);
                each(other, run);
            }
            _ => {}
        }
    }
}

/// The inexact functions of the op table, and those of angles that need no long reduction.
fn entries(dtype: &str) -> Vec<String> {
    let inexact = crate::ir::ROWS.iter().filter(|row| row.ulp > 0).map(|row| row.name);
    let near = ["near_sin", "near_cos", "near_tan"];
    inexact.chain(near).map(|name| format!("{name}_{dtype}")).collect()
}

/// All functions of a type.
fn written(dtype: &str) -> String {
    let module = module(dtype);
    let mut writer = Writer { module: &module, out: String::new() };
    let near = module.constants.iter().find(|(_, own)| own.name.as_deref() == Some(&format!("NEAR_{dtype}")));
    let near = constant(&writer, &module.global_expressions, near.unwrap().1.init);
    let _ = writeln!(
        writer.out,
        "//! The prelude's functions of {dtype}, for one lane. `ZEROSTRIDE_BLESS=1 cargo test --lib lanes` writes this file from\n\
         //! `shaders/prelude`.\n\nuse super::{{larger, select, smaller}};\n\n\
         pub(in crate::cpu) const NEAR: {dtype} = {near};\n"
    );
    writer.structs();
    writer.functions(&entries(dtype));
    writer.out.trim_end().to_string() + "\n"
}

#[test]
fn cpu_path_has_the_functions_of_the_prelude() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cpu/prelude");
    for dtype in ["f32", "f64"] {
        let (path, text) = (folder.join(format!("{dtype}.rs")), written(dtype));
        if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, text).unwrap();
        } else {
            assert!(
                std::fs::read_to_string(&path).unwrap() == text,
                "{} is of another prelude",
                path.display()
            );
        }
    }
}
