//! Building: from a parsed term to an expression of the crate, under a rule.

use zerostride::{
    AnyExpr, AnyTensor, Broadcast, DType, ReduceOptions, Scalar, Shape, compositions, operations, reductions,
};

use crate::grammar::{Index, Mistake, Term, What};

/// The most elements of a part. The page shows no more, and an address may hold any expression.
pub(crate) const MOST: usize = 1 << 16;

/// The rule between operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    Align(Broadcast),
    /// NumPy's rule, with the first operand's shape as the result's.
    InPlace,
}

impl Rule {
    /// A rule by its name, an axis, and axes as text.
    pub(crate) fn of(name: &str, axis: i32, axes: &str) -> Option<Rule> {
        let axis = axis as isize;
        let axes = || axes.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        Some(Rule::Align(match name {
            "numpy" => Broadcast::NumPy,
            "none" => Broadcast::None,
            "pdpd" => Broadcast::Pdpd { axis },
            "paddle" => Broadcast::Paddle { axis },
            "bidirectional" => Broadcast::Bidirectional,
            "explicit" => Broadcast::Explicit { axes: axes() },
            "inplace" => return Some(Rule::InPlace),
            _ => return None,
        }))
    }

    fn broadcast(&self) -> &Broadcast {
        match self {
            Rule::Align(rule) => rule,
            Rule::InPlace => &Broadcast::NumPy,
        }
    }
}

/// Two refused shapes: the text of both, and for each axis the other's axis that it was aligned with.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub shapes: [Shape; 2],
    pub places: [Vec<usize>; 2],
    pub axis: Option<usize>,
}

/// A mistake in an expression.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub mistake: Mistake,
    pub refusal: Option<Refusal>,
}

impl From<Mistake> for Wrong {
    fn from(mistake: Mistake) -> Wrong {
        Wrong { mistake, refusal: None }
    }
}

type Result<T> = std::result::Result<T, Wrong>;

/// A built part. A number takes the type of the operand beside it.
enum Value {
    Number(Scalar),
    Expr(AnyExpr),
}

/// Builds expressions over named operands.
pub(crate) struct Builder<'a> {
    pub operands: &'a [(String, AnyTensor)],
    pub rule: &'a Rule,
}

impl Builder<'_> {
    /// The expression of a term, or the first mistake with its columns.
    pub(crate) fn build(&self, term: &Term) -> Result<AnyExpr> {
        let expr = self.expr(term)?;
        if *self.rule == Rule::InPlace
            && let Some((name, first)) = self.operands.first()
        {
            let shape = shape(&expr, term)?;
            if let Err(error) = Broadcast::in_place(first.shape(), &shape) {
                let text = format!("{} ({name} is what is written)", error.message());
                let refusal = refusal(&Broadcast::NumPy, first.shape(), &shape, &error);
                return Err(Wrong { mistake: Mistake { text, at: term.at.clone() }, refusal: Some(refusal) });
            }
        }
        Ok(expr)
    }

    fn expr(&self, term: &Term) -> Result<AnyExpr> {
        let value = self.value(term)?;
        Ok(typed(&value, DType::F32))
    }

    fn value(&self, term: &Term) -> Result<Value> {
        let wrong = |text: String| Wrong::from(Mistake { text, at: term.at.clone() });
        let expr = match &term.what {
            What::Whole(number) => return Ok(Value::Number(Scalar::from(*number))),
            What::Number(number) => return Ok(Value::Number(Scalar::from(*number))),
            What::Name(name) => match (self.operands.iter().find(|(own, _)| own == name), constant(name)) {
                (Some((_, tensor)), _) => tensor.expr(),
                (None, Some(number)) => return Ok(Value::Number(number)),
                (None, None) => {
                    let all: Vec<&str> = self.operands.iter().map(|(name, _)| &**name).collect();
                    return Err(wrong(format!("no operand is called {name}: there are {}", all.join(", "))));
                }
            },
            What::Transposed(of) => self.expr(of)?.transpose(-2, -1),
            What::Sliced(of, indexes) => sliced(self.expr(of)?, indexes),
            What::Call(name, operands) => self.call(name, operands, term)?,
        };
        checked(&expr, term)?;
        Ok(Value::Expr(expr))
    }

    fn call(&self, name: &str, terms: &[Term], term: &Term) -> Result<AnyExpr> {
        let wrong = |text: String| Wrong::from(Mistake { text, at: term.at.clone() });
        let counts = |n: usize| match terms.len() == n {
            true => Ok(()),
            false => {
                let s = if n == 1 { "" } else { "s" };
                Err(wrong(format!("{name} takes {n} operand{s} and not {}", terms.len())))
            }
        };
        if let Some(dtype) = dtype(name) {
            counts(1)?;
            return Ok(self.expr(&terms[0])?.cast(dtype));
        }
        if let Some(reduction) = reductions().find(|reduction| reduction.name == name) {
            let Some((first, rest)) = terms.split_first() else {
                return Err(wrong(format!("{name} of what?")));
            };
            let axis = |term: &Term| match term.what {
                What::Whole(axis) => Ok(narrow(axis)),
                _ => Err(Mistake { text: "an axis is a whole number".into(), at: term.at.clone() }),
            };
            let axes = rest.iter().map(axis).collect::<std::result::Result<Vec<_>, _>>()?;
            let (operand, options) = (self.expr(first)?, ReduceOptions::default().keepdim());
            return Ok(match axes.is_empty() {
                true => operand.reduce(reduction.name, .., options),
                false => operand.reduce(reduction.name, axes, options),
            });
        }
        if name == "index" {
            counts(2)?;
            let What::Whole(axis) = terms[1].what else {
                return Err(wrong("index takes a part and an axis".into()));
            };
            return Ok(self.expr(&terms[0])?.coordinate(narrow(axis)));
        }
        if name == "windows" {
            counts(3)?;
            let (What::Whole(length), What::Whole(axis)) = (&terms[1].what, &terms[2].what) else {
                return Err(wrong("windows takes a part, a length and an axis".into()));
            };
            return Ok(self.expr(&terms[0])?.windows(*length, *axis));
        }
        if matches!(name, "matmul" | "dot" | "outer") {
            // Views and products decide about axes themselves.
            counts(2)?;
            let [a, b] = [self.expr(&terms[0])?, self.expr(&terms[1])?];
            return Ok(match name {
                "matmul" => a.matmul(b),
                "dot" => a.dot(b),
                _ => a.outer(b),
            });
        }
        let is_select = matches!(name, "select" | "where");
        let arity = match is_select {
            true => Some(3),
            false => operations().find(|op| op.name == name).map(|op| op.arity).or_else(|| {
                compositions().find(|function| function.name == name).map(|function| function.arity)
            }),
        };
        let Some(arity) = arity else { return Err(wrong(format!("no operation is called {name}"))) };
        counts(arity)?;
        let values = terms.iter().map(|term| self.value(term)).collect::<Result<Vec<_>>>()?;
        // Numbers take the type of the first operand with one. The condition of a selection has its own.
        let own = |value: &Value| match value {
            Value::Expr(expr) => expr.dtype().ok(),
            Value::Number(_) => None,
        };
        let dtype = values[usize::from(is_select)..].iter().find_map(own).unwrap_or(DType::F32);
        let exprs: Vec<AnyExpr> = values.iter().map(|value| typed(value, dtype)).collect();
        let is_number: Vec<bool> = values.iter().map(|value| matches!(value, Value::Number(_))).collect();
        let operands = self.aligned(exprs, &is_number, term)?;
        Ok(match (is_select, &*operands) {
            (true, [condition, a, b]) => condition.select(a, b),
            _ => AnyExpr::call(name, &operands),
        })
    }

    /// Operands aligned by the rule. Numbers stretch under every rule.
    fn aligned(&self, mut all: Vec<AnyExpr>, is_number: &[bool], term: &Term) -> Result<Vec<AnyExpr>> {
        let rule = self.rule.broadcast();
        let tensors: Vec<usize> = (0..all.len()).filter(|&i| !is_number[i]).collect();
        let Some((&first, rest)) = tensors.split_first() else { return Ok(all) };
        for &other in rest {
            match rule.align_any(&all[first], &all[other]) {
                Ok((a, b)) => (all[first], all[other]) = (a, b),
                Err(error) => {
                    let (a, b) = (shape(&all[first], term)?, shape(&all[other], term)?);
                    let mistake = Mistake { text: error.message().into(), at: term.at.clone() };
                    let refusal = Some(refusal(rule, &a, &b, &error));
                    return Err(Wrong { mistake, refusal });
                }
            }
        }
        Ok(all)
    }
}

fn typed(value: &Value, dtype: DType) -> AnyExpr {
    match value {
        Value::Number(number) => AnyExpr::scalar(dtype, *number),
        Value::Expr(expr) => expr.clone(),
    }
}

fn checked(expr: &AnyExpr, term: &Term) -> Result<()> {
    let shape = shape(expr, term)?;
    let count = shape.iter().try_fold(1_usize, |n, &length| n.checked_mul(length));
    match count.is_some_and(|n| n <= MOST) {
        true => Ok(()),
        false => {
            let text = format!("{shape} has more than the {MOST} elements that this page computes");
            Err(Mistake { text, at: term.at.clone() }.into())
        }
    }
}

fn shape(expr: &AnyExpr, term: &Term) -> Result<Shape> {
    let wrong =
        |error: zerostride::Error| Wrong::from(Mistake { text: error.message().into(), at: term.at.clone() });
    expr.shape().cloned().map_err(wrong)
}

/// The alignment of two shapes that a rule refuses, to draw both.
fn refusal(rule: &Broadcast, a: &Shape, b: &Shape, error: &zerostride::Error) -> Refusal {
    let rank = a.rank().max(b.rank());
    let from = |start: usize, shape: &Shape| (start..start + shape.rank()).collect::<Vec<_>>();
    let at_end = |shape: &Shape| from(rank - shape.rank(), shape);
    let second = |axis: isize| match usize::try_from(axis) {
        Ok(start) => [from(0, a), from(start, b)],
        Err(_) => [at_end(a), at_end(b)],
    };
    let places = match rule {
        Broadcast::Pdpd { axis } => second(*axis),
        Broadcast::Paddle { axis } if a.rank() < b.rank() => match usize::try_from(*axis) {
            Ok(start) => [from(start, a), from(0, b)],
            Err(_) => [at_end(a), at_end(b)],
        },
        Broadcast::Paddle { axis } => second(*axis),
        Broadcast::Explicit { axes } => [axes.clone(), from(0, b)],
        _ => [at_end(a), at_end(b)],
    };
    // The page draws a column for each axis, and an axis of the rule may be any number.
    let is_far = places.iter().flatten().any(|&place| place >= a.rank() + b.rank());
    let places = if is_far { [at_end(a), at_end(b)] } else { places };
    Refusal { shapes: [a.clone(), b.clone()], places, axis: error.axis() }
}

fn constant(name: &str) -> Option<Scalar> {
    Some(match name {
        "pi" => Scalar::from(std::f64::consts::PI),
        "inf" => Scalar::from(f64::INFINITY),
        "nan" => Scalar::from(f64::NAN),
        "true" => Scalar::from(true),
        "false" => Scalar::from(false),
        _ => return None,
    })
}

/// A number of a text as an axis or an index, which have 32 bits in a page. None is as large as the ends.
fn narrow(number: i64) -> isize {
    number.clamp(isize::MIN as i64, isize::MAX as i64) as isize
}

/// An element type by its name.
pub(crate) fn dtype(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name)
}

/// Indices as NumPy takes them, one for each of the first axes. Bounds are clamped.
fn sliced(expr: AnyExpr, indexes: &[Index]) -> AnyExpr {
    let (mut expr, mut axis) = (expr, 0);
    for index in indexes {
        let length =
            expr.shape().ok().and_then(|shape| shape.get(axis as usize).copied()).unwrap_or(0) as i64;
        let clamped = |bound: i64, least: i64| {
            let bound = if bound < 0 { bound + length } else { bound };
            bound.clamp(least, length + least.min(0)) as isize
        };
        match *index {
            Index::New => {
                expr = expr.unsqueeze(axis);
                axis += 1;
            }
            Index::At(at) => {
                let at = narrow(if at < 0 { at + length } else { at });
                expr = expr.slice(axis, at..at.saturating_add(1)).squeeze(axis);
            }
            Index::Steps(start, end, step) if step > 0 => {
                let (start, end) = (clamped(start.unwrap_or(0), 0), clamped(end.unwrap_or(length), 0));
                expr = expr.slice_step(axis, start..end.max(start), narrow(step));
                axis += 1;
            }
            Index::Steps(start, end, step) => {
                use std::ops::Bound::{Excluded, Included, Unbounded};
                // A bound below 0 would count from the end.
                let bound =
                    |bound: Option<i64>| bound.map(|bound| clamped(bound, -1)).filter(|&bound| bound >= 0);
                let start = bound(start).map_or(Unbounded, Included);
                let end = bound(end).map_or(Unbounded, Excluded);
                expr = expr.slice_step(axis, (start, end), narrow(step));
                axis += 1;
            }
        }
    }
    expr
}
