//! The prelude's arithmetic is closed: no compiler can join one operation with another. A product is `times`, a quotient
//! `quotient` and a root `root`, which are behind fences, and no sum reads a sum without one.

use std::collections::{HashMap, HashSet};

use naga::{
    Arena, BinaryOperator as B, Expression as E, Function, Handle, Literal, LocalVariable, MathFunction as M,
    Module, ScalarKind, Statement as S, Type, TypeInner, UnaryOperator as U, front::Typifier,
};

use super::lanes::{bare, each, instruction, module, typed};

/// Functions whose results are behind a fence, or exact.
fn is_fence(name: &str) -> bool {
    instruction(name).is_some()
        || ["behind", "div_nearest", "div_by_integers", "sqrt_nearest"].contains(&bare(name).as_str())
}

/// A function with the types of its expressions.
struct Typed<'a> {
    own: &'a Function,
    types: Typifier,
}

/// What a value may be, up to its sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    /// A sum, or a difference.
    Sum,
    /// A sum with 1, or a difference.
    WithOne,
    /// A product by `times`.
    Product,
}

/// Which values may be sums or products.
struct Sums<'a> {
    module: &'a Module,
    all: HashMap<Handle<Function>, Typed<'a>>,
    args: HashSet<(What, Handle<Function>, u32)>,
    results: HashSet<(What, Handle<Function>)>,
    fields: HashSet<(What, Handle<Type>, u32)>,
}

impl<'a> Sums<'a> {
    fn of(module: &'a Module) -> Self {
        let own = module.functions.iter().filter(|(_, own)| !is_fence(own.name.as_ref().unwrap()));
        let all = own.map(|(handle, own)| (handle, Typed { own, types: typed(module, own) })).collect();
        let mut sums =
            Sums { module, all, args: HashSet::new(), results: HashSet::new(), fields: HashSet::new() };
        while sums.grow() {}
        sums
    }

    /// Whether a pass over all functions found another argument, result or field.
    fn grow(&mut self) -> bool {
        let (mut args, mut results, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for ((&handle, own), what) in
            self.all.iter().flat_map(|own| [What::Sum, What::WithOne, What::Product].map(|what| (own, what)))
        {
            let is_sum = |expr| self.origin(what, handle, expr).is_some();
            each(&own.own.body, &mut |statement| match statement {
                S::Return { value: Some(value) } if is_sum(*value) => results.push((what, handle)),
                S::Call { function, arguments, .. } => {
                    let own = (0..).zip(arguments).filter(|(_, arg)| is_sum(**arg));
                    args.extend(own.map(|(i, _)| (what, *function, i)));
                }
                _ => {}
            });
            for (_, expr) in own.own.expressions.iter() {
                if let E::Compose { ty, components } = expr {
                    let own = (0..).zip(components).filter(|(_, part)| is_sum(**part));
                    fields.extend(own.map(|(i, _)| (what, *ty, i)));
                }
            }
        }
        let before = (self.args.len(), self.results.len(), self.fields.len());
        self.args.extend(args);
        self.results.extend(results);
        self.fields.extend(fields);
        before != (self.args.len(), self.results.len(), self.fields.len())
    }

    /// The sum or the product that a value may be.
    fn origin(&self, what: What, handle: Handle<Function>, expr: Handle<E>) -> Option<Handle<E>> {
        self.traced(what, handle, expr, &[])
    }

    /// The same, where `seen` are the variables whose values are looked at.
    fn traced(
        &self,
        what: What,
        handle: Handle<Function>,
        expr: Handle<E>,
        seen: &[Handle<LocalVariable>],
    ) -> Option<Handle<E>> {
        let next = |expr| self.traced(what, handle, expr, seen);
        let Typed { own, types } = &self.all[&handle];
        let inner = |expr| types.get(expr, &self.module.types);
        let has_one = |parts: &[Handle<E>]| parts.iter().any(|&part| is_one(&own.expressions, part));
        match own.expressions[expr] {
            E::Binary { op: B::Add | B::Subtract, left, right } if what != What::Product => {
                let is_float = inner(expr).scalar_kind() == Some(ScalarKind::Float);
                (is_float && (what == What::Sum || has_one(&[left, right]))).then_some(expr)
            }
            E::Unary { op: U::Negate, expr } => next(expr),
            E::Select { accept, reject, .. } => next(accept).or_else(|| next(reject)),
            E::Math { fun: M::Abs | M::Min | M::Max | M::Clamp, arg, arg1, .. } => {
                next(arg).or_else(|| arg1.and_then(next))
            }
            E::FunctionArgument(i) => self.args.contains(&(what, handle, i)).then_some(expr),
            E::CallResult(callee) => {
                let own = match bare(self.module.functions[callee].name.as_ref().unwrap()).as_str() {
                    "plus" | "mul_add" => {
                        what == What::Sum || what == What::WithOne && has_one(Self::calls(own, expr))
                    }
                    "times" | "times_kept" => what == What::Product,
                    _ => self.results.contains(&(what, callee)),
                };
                own.then_some(expr)
            }
            E::AccessIndex { base, index } => {
                let of = inner(base);
                let own = match of {
                    TypeInner::Pointer { base, .. } => Some(*base),
                    _ => self.module.types.iter().find(|(_, own)| &own.inner == of).map(|(own, _)| own),
                };
                own.filter(|&own| self.fields.contains(&(what, own, index))).map(|_| expr)
            }
            E::Load { pointer } => match own.expressions[pointer] {
                E::LocalVariable(local) if seen.contains(&local) => None,
                E::LocalVariable(local) => {
                    let seen = [seen, &[local]].concat();
                    let mut stored = Vec::new();
                    each(&own.body, &mut |statement| {
                        if let S::Store { pointer, value } = statement
                            && matches!(own.expressions[*pointer], E::LocalVariable(to) if to == local)
                        {
                            stored.push(*value);
                        }
                    });
                    stored.into_iter().find(|&value| self.traced(what, handle, value, &seen).is_some())
                }
                _ => next(pointer),
            },
            _ => None,
        }
    }

    /// The arithmetic of a function that a compiler may join with other arithmetic.
    fn open(&self, handle: Handle<Function>, found: &mut Vec<String>) {
        let Typed { own, types } = &self.all[&handle];
        let name = own.name.as_ref().unwrap();
        let is_single = name.ends_with("f32");
        let is_sum = |expr| self.origin(What::Sum, handle, expr);
        each(&own.body, &mut |statement| {
            let S::Call { function, arguments, .. } = statement else { return };
            let callee = bare(self.module.functions[*function].name.as_ref().unwrap());
            // What the function adds, and what it multiplies.
            let (added, factors) = match callee.as_str() {
                "plus" => (&arguments[..], &[][..]),
                "times" | "times_kept" => (&[][..], &arguments[..]),
                "mul_add" => (&arguments[2..], &arguments[..2]),
                _ => return,
            };
            if added.iter().any(|&arg| is_sum(arg).is_some()) {
                found.push(format!("{name}: a sum reads a sum"));
            }
            // (a + 1) b is contracted to fma(a, b, b).
            if factors.iter().any(|&arg| self.origin(What::WithOne, handle, arg).is_some()) {
                found.push(format!("{name}: a product reads a sum with 1"));
            }
        });
        for (expr, what) in own.expressions.iter() {
            let is_float = types.get(expr, &self.module.types).scalar_kind() == Some(ScalarKind::Float);
            match *what {
                E::Binary { op: B::Multiply, left, right }
                    if is_float
                        && ![left, right].iter().any(|&by| is_power(self.module, &own.expressions, by)) =>
                {
                    found.push(format!("{name}: a product without times()"));
                }
                E::Binary { op: B::Divide, .. } if is_float => {
                    found.push(format!("{name}: a quotient without quotient()"))
                }
                E::Math { fun: M::Sqrt, .. } => found.push(format!("{name}: a root without root()")),
                E::Binary { op: B::Add | B::Subtract, left, right } if is_float => {
                    for operand in [left, right] {
                        // The products of f64 are behind exclusive ors.
                        if is_single && self.origin(What::Product, handle, operand).is_some() {
                            let at = own.expressions.get_span(expr).to_range();
                            found.push(format!("{name}: a sum reads a product without plus(), {at:?}"));
                        }
                        if is_sum(operand).is_some() {
                            found.push(format!(
                                "{name}: a sum reads a sum, {:?}",
                                own.expressions.get_span(expr).to_range()
                            ));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// The arguments of the call that makes a result.
    fn calls(own: &Function, of: Handle<E>) -> &[Handle<E>] {
        let mut found: &[Handle<E>] = &[];
        each(&own.body, &mut |statement| {
            if let S::Call { arguments, result: Some(result), .. } = statement
                && *result == of
            {
                found = arguments;
            }
        });
        found
    }
}

fn is_one(all: &Arena<E>, expr: Handle<E>) -> bool {
    match all[expr] {
        E::Splat { value, .. } => is_one(all, value),
        E::Literal(Literal::F32(x)) => x.abs() == 1.0,
        E::Literal(Literal::F64(x)) => x.abs() == 1.0,
        _ => false,
    }
}

/// Whether a value is a power of two, by which a product is exact.
fn is_power(module: &Module, all: &Arena<E>, expr: Handle<E>) -> bool {
    let of = |value: f64| value != 0.0 && value.abs().log2().fract() == 0.0;
    match all[expr] {
        E::Splat { value, .. } => is_power(module, all, value),
        E::Literal(Literal::F32(x)) => of(f64::from(x)),
        E::Literal(Literal::F64(x)) => of(x),
        E::Constant(own) => is_power(module, &module.global_expressions, module.constants[own].init),
        _ => false,
    }
}

#[test]
fn no_arithmetic_of_the_prelude_is_open() {
    let mut found = Vec::new();
    for dtype in ["f32", "f64"] {
        let module = module(dtype);
        let sums = Sums::of(&module);
        sums.all.keys().for_each(|&handle| sums.open(handle, &mut found));
    }
    assert!(found.is_empty(), "{found:#?}");
}
