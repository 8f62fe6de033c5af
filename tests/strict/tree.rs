//! Expressions as trees, their value by one rounded operation at a time, and as fused expressions.

use std::ops::{Add, Div, Mul, Neg, Sub};

use zerostride::{Element, Expr, bf16, f16};

/// An expression over a few operands of one float type.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Operand(usize),
    Constant(f64),
    /// An op of the table that gives a float.
    Call(&'static str, Vec<Tree>),
    Select(Box<Truth>, Box<[Tree; 2]>),
    /// 1 where it is true, else 0, by a cast.
    Cast(Box<Truth>),
    /// To i32 and back.
    Whole(Box<Tree>),
}

/// A comparison of the table, or such joined.
#[derive(Clone, Debug)]
pub(crate) enum Truth {
    Compare(&'static str, Vec<Tree>),
    Not(Box<Truth>),
}

impl From<&Tree> for Tree {
    fn from(tree: &Tree) -> Tree {
        tree.clone()
    }
}

impl From<f64> for Tree {
    fn from(x: f64) -> Tree {
        Tree::Constant(x)
    }
}

impl Tree {
    pub(crate) fn of1(&self, name: &'static str) -> Tree {
        Tree::Call(name, vec![self.clone()])
    }

    pub(crate) fn of2(&self, name: &'static str, other: impl Into<Tree>) -> Tree {
        Tree::Call(name, vec![self.clone(), other.into()])
    }

    pub(crate) fn is(&self, name: &'static str, other: impl Into<Tree>) -> Truth {
        Truth::Compare(name, vec![self.clone(), other.into()])
    }

    pub(crate) fn has(&self, name: &'static str) -> Truth {
        Truth::Compare(name, vec![self.clone()])
    }
}

impl Truth {
    pub(crate) fn select(self, a: impl Into<Tree>, b: impl Into<Tree>) -> Tree {
        Tree::Select(Box::new(self), Box::new([a.into(), b.into()]))
    }

    pub(crate) fn cast(self) -> Tree {
        Tree::Cast(Box::new(self))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident;)*) => {$(
        impl<R: Into<Tree>> $trait<R> for &Tree {
            type Output = Tree;
            fn $method(self, other: R) -> Tree {
                self.of2(stringify!($method), other)
            }
        }

        impl<R: Into<Tree>> $trait<R> for Tree {
            type Output = Tree;
            fn $method(self, other: R) -> Tree {
                self.of2(stringify!($method), other)
            }
        }
    )*};
}
operators! { Add add; Sub sub; Mul mul; Div div; }

impl Neg for &Tree {
    type Output = Tree;
    fn neg(self) -> Tree {
        self.of1("neg")
    }
}

impl Neg for Tree {
    type Output = Tree;
    fn neg(self) -> Tree {
        self.of1("neg")
    }
}

/// Float types, whose values f64 holds. Sums, products, quotients and roots rounded to f64 and then
/// to a narrower type of at most 25 digits are as if rounded once (Figueroa, When is double rounding
/// innocuous?, 1995).
pub(crate) trait Strict: Element {
    fn of(x: f64) -> Self;
    fn value(self) -> f64;
    /// The least normal number, below which an adapter may flush.
    const LEAST: f64;
}

/// To f32 so that another rounding, to fewer digits, is as if there had been none before.
fn odd(x: f64) -> f32 {
    let near = x as f32;
    if near.is_nan() || f64::from(near) == x || near.to_bits() & 1 == 1 {
        return near;
    }
    let away = f64::from(near).abs() < x.abs();
    f32::from_bits(if away { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

macro_rules! strict {
    ($($t:ident $least:literal |$x:ident| $of:expr, |$y:ident| $value:expr;)*) => {$(
        impl Strict for $t {
            fn of($x: f64) -> $t { $of }
            fn value(self) -> f64 { let $y = self; $value }
            const LEAST: f64 = $least;
        }
    )*};
}
strict! {
    f32 1.1754943508222875e-38 |x| x as f32, |x| x.into();
    f64 2.2250738585072014e-308 |x| x, |x| x;
    // In f32, whose subnormals are flushed; its own are kept.
    f16 1.1754943508222875e-38 |x| f16::from_f32(odd(x)), |x| x.to_f32().into();
    bf16 1.1754943508222875e-38 |x| bf16::from_f32(odd(x)), |x| x.to_f32().into();
}

/// The value of a tree for the operands of one element, and whether it is one that the contract leaves
/// open: a subnormal number on the way, or which of two zeros `min` and `max` take.
pub(crate) struct Evaluation<'a> {
    pub(crate) operands: &'a [f64],
    pub(crate) open: bool,
}

impl Evaluation<'_> {
    pub(crate) fn tree<T: Strict>(&mut self, tree: &Tree) -> f64 {
        let exact = match tree {
            Tree::Operand(i) => self.operands[*i],
            Tree::Constant(x) => *x,
            Tree::Call(name, args) => {
                let args: Vec<f64> = args.iter().map(|arg| self.tree::<T>(arg)).collect();
                self.call(name, &args)
            }
            Tree::Select(truth, values) => {
                // Both are computed.
                let [a, b] = values.each_ref().map(|value| self.tree::<T>(value));
                if self.truth::<T>(truth) { a } else { b }
            }
            Tree::Cast(truth) => f64::from(u8::from(self.truth::<T>(truth))),
            Tree::Whole(x) => f64::from(self.tree::<T>(x) as i32),
        };
        let rounded = T::of(exact).value();
        self.open |= rounded != 0.0 && rounded.abs() < T::LEAST;
        // What a product or quotient rounds up to the least normal number, or flushes.
        self.open |= exact != 0.0 && exact.abs() < T::LEAST;
        rounded
    }

    fn truth<T: Strict>(&mut self, truth: &Truth) -> bool {
        match truth {
            Truth::Compare(name, args) => {
                let args: Vec<f64> = args.iter().map(|arg| self.tree::<T>(arg)).collect();
                match (*name, args.as_slice()) {
                    ("eq", [a, b]) => a == b,
                    ("ne", [a, b]) => a != b,
                    ("lt", [a, b]) => a < b,
                    ("le", [a, b]) => a <= b,
                    ("gt", [a, b]) => a > b,
                    ("ge", [a, b]) => a >= b,
                    ("is_nan", [a]) => a.is_nan(),
                    ("is_inf", [a]) => a.is_infinite(),
                    ("is_finite", [a]) => a.is_finite(),
                    ("signbit", [a]) => {
                        // The sign of NaN is open.
                        self.open |= a.is_nan();
                        a.is_sign_negative()
                    }
                    _ => panic!("no comparison {name}"),
                }
            }
            Truth::Not(inner) => !self.truth::<T>(inner),
        }
    }

    fn call(&mut self, name: &str, args: &[f64]) -> f64 {
        let mut extreme = |a: f64, b: f64, first: bool, nan_wins: bool| {
            self.open |= a == 0.0 && b == 0.0 && a.is_sign_negative() != b.is_sign_negative();
            match (a.is_nan(), b.is_nan()) {
                (true, true) => f64::NAN,
                (true, false) => {
                    if nan_wins {
                        a
                    } else {
                        b
                    }
                }
                (false, true) => {
                    if nan_wins {
                        b
                    } else {
                        a
                    }
                }
                _ => {
                    if first {
                        a
                    } else {
                        b
                    }
                }
            }
        };
        match (name, args) {
            ("add", [a, b]) => a + b,
            ("sub", [a, b]) => a - b,
            ("mul", [a, b]) => a * b,
            ("div", [a, b]) => a / b,
            ("min", &[a, b]) => extreme(a, b, a < b, true),
            ("max", &[a, b]) => extreme(a, b, a > b, true),
            ("fmin", &[a, b]) => extreme(a, b, a < b, false),
            ("fmax", &[a, b]) => extreme(a, b, a > b, false),
            ("clamp", &[x, lo, hi]) => {
                let low = extreme(x, lo, x > lo, true);
                extreme(low, hi, low < hi, true)
            }
            ("copysign", &[a, b]) => {
                self.open |= b.is_nan();
                a.copysign(b)
            }
            ("neg", [a]) => -a,
            ("abs", [a]) => a.abs(),
            ("positive", [a]) => *a,
            ("square", [a]) => a * a,
            ("reciprocal", [a]) => 1.0 / a,
            ("sqrt", [a]) => a.sqrt(),
            ("floor", [a]) => a.floor(),
            ("ceil", [a]) => a.ceil(),
            ("trunc", [a]) => a.trunc(),
            ("round", [a]) => a.round_ties_even(),
            ("fract", [a]) => a - a.floor(),
            ("relu", &[a]) => {
                if a <= 0.0 {
                    0.0
                } else {
                    a
                }
            }
            ("sign", &[a]) => {
                if a == 0.0 {
                    0.0
                } else {
                    a.signum()
                }
            }
            _ => panic!("no op {name} of {} operands", args.len()),
        }
    }
}

/// The tree as one expression.
pub(crate) fn fused<T: Strict>(tree: &Tree, operands: &[Expr<T>]) -> Expr<T> {
    match tree {
        Tree::Operand(i) => operands[*i].clone(),
        Tree::Constant(x) => Expr::scalar(T::of(*x)),
        Tree::Call(name, args) => {
            let args: Vec<Expr<T>> = args.iter().map(|arg| fused(arg, operands)).collect();
            Expr::call(name, &args)
        }
        Tree::Select(truth, values) => {
            let [a, b] = values.each_ref().map(|value| fused(value, operands));
            fused_truth(truth, operands).select(a, b)
        }
        Tree::Cast(truth) => fused_truth(truth, operands).cast(),
        Tree::Whole(x) => fused(x, operands).cast::<i32>().cast(),
    }
}

fn fused_truth<T: Strict>(truth: &Truth, operands: &[Expr<T>]) -> Expr<bool> {
    match truth {
        Truth::Compare(name, args) => {
            let args: Vec<Expr<T>> = args.iter().map(|arg| fused(arg, operands)).collect();
            Expr::call(name, &args)
        }
        Truth::Not(inner) => fused_truth(inner, operands).not(),
    }
}
