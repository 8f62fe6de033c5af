//! A case: storages, and operations on them in order. It runs on a device and is compared with the oracle.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use zerostride::{AnyExpr, AnyTensor, DType, Device, Element, Layout, Operation, Result};

use super::naive::{Known, Naive, evaluate};
use super::recipe::{Builder, Kind, Recipe, View};
use super::reduce::bounds;
use super::value::{Plain, Value, by_rank, nearest, rank, with_type};

#[derive(Clone)]
pub struct Storage {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub values: Rc<Vec<Value>>,
}

#[derive(Clone)]
pub enum Step {
    /// Several, of any types, by one `eval_all`.
    Eval(Vec<Recipe>),
    /// Into views of storages, each another; several by one `assign_all`.
    Assign(Vec<(usize, Vec<View>, Recipe)>),
}

impl Step {
    /// The nodes of its expressions.
    fn nodes(&self) -> Vec<Recipe> {
        match self {
            Step::Eval(roots) => roots.iter().flat_map(Recipe::nodes).collect(),
            Step::Assign(all) => all.iter().flat_map(|(_, _, value)| value.nodes()).collect(),
        }
    }
}

/// How many nodes of some kinds there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kinds {
    pub lookups: usize,
    pub joins: usize,
    pub written: usize,
    pub random: usize,
    pub loops: usize,
    /// Lookups by values of a loop's iteration.
    pub inside: usize,
    /// Steps of several results, and of several destinations.
    pub results: usize,
    pub destinations: usize,
}

#[derive(Clone, Default)]
pub struct Case {
    pub storages: Vec<Storage>,
    pub steps: Vec<Step>,
}

/// The expected result of a step, or the expected content of a storage at the end, with the bound of an inexact function.
pub struct Expected {
    what: String,
    elements: Rc<Vec<Naive>>,
    bound: Option<Bound>,
}

/// How far results may be from the exact ones.
enum Bound {
    Function(Operation, DType),
    /// Of each element, with the number below which units are its own.
    Reduction(Vec<(f64, f64)>, DType),
}

impl Bound {
    /// The bound of a recipe with this root.
    fn of(root: &Recipe, state: &[Vec<Naive>], known: &mut Known) -> Option<Bound> {
        match &root.kind {
            Kind::Reduce(reduction) if reduction.is_bounded() => {
                let x = evaluate(&root.args[0], state, known);
                let bounds = bounds(reduction, &root.args[0].shape, root.dtype, &x);
                Some(Bound::Reduction(bounds, root.dtype))
            }
            _ => root.bound().map(|op| Bound::Function(op, root.dtype)),
        }
    }
}

impl Expected {
    /// The number of elements that the contract decides.
    pub fn closed(&self) -> usize {
        self.elements.iter().filter(|element| !element.open).count()
    }

    pub fn count(&self) -> usize {
        self.elements.len()
    }

    /// The number of elements that the contract decides and that are finite.
    pub fn numbers(&self) -> usize {
        let is_number = |value| !matches!(value, Value::Float(x) if !f64::is_finite(x));
        self.elements.iter().filter(|element| !element.open && is_number(element.value)).count()
    }
}

impl Case {
    /// The names of its reductions.
    pub fn reductions(&self) -> Vec<&'static str> {
        let name = |node: Recipe| match &node.kind {
            Kind::Reduce(reduction) => Some(reduction.name),
            _ => None,
        };
        self.steps.iter().flat_map(Step::nodes).filter_map(name).collect()
    }

    /// Adds the kinds of its nodes.
    pub fn count(&self, kinds: &mut Kinds) {
        for step in &self.steps {
            match step {
                Step::Eval(roots) => kinds.results += usize::from(roots.len() > 1),
                Step::Assign(all) => kinds.destinations += usize::from(all.len() > 1),
            }
        }
        for node in self.steps.iter().flat_map(Step::nodes) {
            match &node.kind {
                Kind::Lookup(_) => {
                    kinds.lookups += 1;
                    let is_state = |node: &Recipe| matches!(node.kind, Kind::State(_));
                    kinds.inside += usize::from(node.nodes().iter().any(is_state));
                }
                Kind::Join(_) => kinds.joins += 1,
                Kind::Written(_) => kinds.written += 1,
                Kind::Random(_) => kinds.random += 1,
                Kind::Repeat { .. } => kinds.loops += 1,
                _ => {}
            }
        }
    }

    /// Whether it writes to a storage: then all are read in the end.
    fn writes(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Assign(..)))
    }

    /// The expected reads, by the oracle.
    pub fn expected(&self) -> Vec<Expected> {
        let closed = |&value: &Value| Naive { value, open: false };
        let mut state: Vec<Vec<Naive>> =
            self.storages.iter().map(|storage| storage.values.iter().map(closed).collect()).collect();
        let mut all = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            let mut known = Known::new();
            match step {
                Step::Eval(roots) => all.extend(roots.iter().enumerate().map(|(k, root)| Expected {
                    what: format!("result {k} of step {i}"),
                    elements: evaluate(root, &state, &mut known),
                    bound: Bound::of(root, &state, &mut known),
                })),
                Step::Assign(all) => {
                    let values = all.iter().map(|(_, _, value)| evaluate(value, &state, &mut known));
                    for ((to, views, value), elements) in all.iter().zip(values.collect::<Vec<_>>()) {
                        let dense = Layout::contiguous(&self.storages[*to].shape[..]).unwrap();
                        let layout = views.iter().fold(dense, |layout, view| view.of(&layout).unwrap());
                        let from = Layout::contiguous(&value.shape[..]).unwrap();
                        let from = from.broadcast_to(layout.shape()).unwrap();
                        for (to_at, from_at) in layout.addresses().zip(from.addresses()) {
                            state[*to][to_at] = elements[from_at];
                        }
                    }
                }
            }
        }
        if self.writes() {
            all.extend(state.into_iter().enumerate().map(|(i, elements)| Expected {
                what: format!("storage {i} in the end"),
                elements: Rc::new(elements),
                bound: None,
            }));
        }
        all
    }

    /// A device's reads, in the order of the expected ones.
    pub fn run(&self, device: &Device) -> Result<Vec<Vec<Value>>> {
        let mut builder = Builder::default();
        for Storage { dtype, shape, values } in &self.storages {
            builder.upload(device, *dtype, shape, values)?;
        }
        let mut read = Vec::new();
        for step in &self.steps {
            match step {
                Step::Eval(roots) => {
                    let exprs: Vec<AnyExpr> = roots.iter().map(|root| builder.untyped(root)).collect();
                    // An expression without tensors has no device.
                    let is_leaf = |node: Recipe| matches!(node.kind, Kind::Leaf(_));
                    let has_leaves = roots.iter().flat_map(Recipe::nodes).any(is_leaf);
                    let results = match exprs.as_slice() {
                        [_, _, ..] if has_leaves => AnyExpr::eval_all(&exprs)?,
                        _ => exprs.iter().map(|expr| expr.eval_on(device)).collect::<Result<_>>()?,
                    };
                    for (root, result) in roots.iter().zip(results) {
                        read.push(with_type!(root.dtype, T => values(result.to_vec::<T>()?)));
                    }
                }
                Step::Assign(all) => {
                    let part = |(to, views, _): &(usize, Vec<View>, Recipe)| -> Result<AnyTensor> {
                        with_type!(self.storages[*to].dtype, T => {
                            let whole = builder.tensor::<T>(*to).clone();
                            let part = views.iter().try_fold(whole, |tensor, view| view.of_tensor(&tensor))?;
                            Ok(part.into())
                        })
                    };
                    let to = all.iter().map(part).collect::<Result<Vec<AnyTensor>>>()?;
                    let values: Vec<AnyExpr> =
                        all.iter().map(|(_, _, value)| builder.untyped(value)).collect();
                    match to.as_slice() {
                        [to] => to.assign(&values[0])?,
                        all => AnyTensor::assign_all(all.iter().zip(values))?,
                    }
                }
            }
        }
        for (i, storage) in self.storages.iter().enumerate().filter(|_| self.writes()) {
            read.push(with_type!(storage.dtype, T => values(builder.tensor::<T>(i).to_vec()?)));
        }
        Ok(read)
    }

    /// How a device differs from the oracle, if it does. A device without a type of the case agrees. A step that is run three times
    /// is built anew each time, and known to the device by then.
    pub fn differs(&self, device: &Device, expected: &[Expected]) -> Option<String> {
        (0..3).find_map(|_| self.differs_once(device, expected))
    }

    fn differs_once(&self, device: &Device, expected: &[Expected]) -> Option<String> {
        let read = match catch_unwind(AssertUnwindSafe(|| self.run(device))) {
            Ok(Ok(read)) => read,
            Ok(Err(error)) if error.message().contains("needs the feature") => return None,
            Ok(Err(error)) => return Some(format!("{}: {error}", device.name())),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or_default();
                return Some(format!("{}: a panic, {text}", device.name()));
            }
        };
        read.iter().zip(expected).find_map(|(got, expected)| {
            let (what, count) = (&expected.what, expected.elements.len());
            if got.len() != count {
                return Some(format!("{}: {what} has {} elements and not {count}", device.name(), got.len()));
            }
            let agrees = |i: usize| agrees(got[i], expected.elements[i], expected.bound.as_ref(), i);
            let i = (0..count).find(|&i| !agrees(i))?;
            let value = expected.elements[i].value;
            Some(format!("{}: {what}, element {i} is {:?} and not {value:?}", device.name(), got[i]))
        })
    }

    /// Whether a step reads or writes a storage.
    fn uses(&self, i: usize) -> bool {
        let is_it = |node: &Recipe| matches!(node.kind, Kind::Leaf(leaf) if leaf == i);
        self.steps.iter().any(|step| {
            let is_written = matches!(step, Step::Assign(all) if all.iter().any(|(to, ..)| *to == i));
            is_written || step.nodes().iter().any(is_it)
        })
    }

    /// Whether the crate takes all of it. Shrinking makes cases that it may refuse, rightly.
    pub fn is_built(&self) -> bool {
        let mut builder = Builder::default();
        let cpu = Device::cpu();
        self.storages.iter().all(|s| builder.upload(&cpu, s.dtype, &s.shape, &s.values).is_ok())
            && self.steps.iter().all(|step| match step {
                Step::Eval(roots) => roots.iter().all(|root| builder.untyped(root).shape().is_ok()),
                Step::Assign(all) => all.iter().all(|(_, _, value)| builder.untyped(value).shape().is_ok()),
            })
    }
}

fn values<T: Plain + Element>(all: Vec<T>) -> Vec<Value> {
    all.into_iter().map(T::value).collect()
}

/// The same bits, or NaN as NaN; of inexact functions within the bound.
fn agrees(got: Value, expected: Naive, bound: Option<&Bound>, i: usize) -> bool {
    if expected.open {
        return true;
    }
    match (got, expected.value, bound) {
        (Value::Float(got), Value::Float(exact), _) if got.is_nan() || exact.is_nan() => {
            got.is_nan() && exact.is_nan()
        }
        (Value::Float(got), Value::Float(exact), Some(Bound::Reduction(bounds, of))) => {
            let (exact, (ulp, above)) = (nearest(exact, *of), bounds[i]);
            let size = exact.abs().max(nearest(above, *of));
            let unit = by_rank(rank(size, *of) + 1, *of) - size;
            got == exact || (got - exact).abs() / unit <= ulp
        }
        (Value::Float(got), Value::Float(exact), Some(&Bound::Function(op, of))) => {
            let exact = nearest(exact, of);
            // Functions with zeros that no float is are bound near them by units of a larger number.
            if exact.abs() < op.ulp_from() && got.is_finite() {
                let unit = by_rank(rank(op.ulp_from(), of) + 1, of) - op.ulp_from();
                return ((got - exact).abs() / unit).floor() <= f64::from(op.ulp(of));
            }
            rank(got, of).abs_diff(rank(exact, of)) <= u64::from(op.ulp(of))
        }
        (Value::Float(got), Value::Float(exact), None) => got.to_bits() == exact.to_bits(),
        (got, exact, _) => got == exact,
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.storages.iter().enumerate().filter(|(i, _)| self.uses(*i));
        for (i, Storage { dtype, shape, values }) in used {
            let more = if values.len() > 64 { ".." } else { "" };
            writeln!(f, "storage {i}: {dtype} {shape:?} of {:?}{more}", &values[..values.len().min(64)])?;
        }
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                Step::Eval(roots) => {
                    roots.iter().try_for_each(|root| write!(f, "step {i}: eval\n{root:?}"))?
                }
                Step::Assign(all) => all.iter().try_for_each(|(to, views, value)| {
                    write!(f, "step {i}: assign to storage {to} under {views:?}\n{value:?}")
                })?,
            }
        }
        Ok(())
    }
}
