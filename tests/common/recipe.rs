//! Expressions as tests describe them. A recipe makes both the crate's expression and its naive value. Recipes are
//! graphs: a clone is the same node, used once more.

use std::any::Any;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Add, Deref, Div, Mul, Neg, Sub};
use std::rc::Rc;

use zerostride::{
    AnyExpr, DType, Device, Element, Expr, Layout, Operation, Outside, ReduceOptions, Shape, Tensor,
    operations,
};

use super::reduce::Reduction;
use super::value::{Plain, Value, with_type};
use super::written::Written;

#[derive(Clone)]
pub struct Recipe(Rc<Node>);

pub struct Node {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub kind: Kind,
    pub args: Vec<Recipe>,
}

#[derive(Clone, Debug)]
pub enum Kind {
    /// All elements of a storage, by its number.
    Leaf(usize),
    Constant(Value),
    /// The coordinates along an axis, as i32.
    Index(usize),
    /// Random words of a key, or random numbers, by the type.
    Random(u64),
    /// An op of the table.
    Op(&'static str),
    /// A function of the user's.
    Written(Written),
    Select,
    Cast,
    View(View),
    Reduce(Reduction),
    /// The operands next to each other along an axis.
    Join(usize),
    /// Elements of the first operand where the others say.
    Lookup(Beyond),
    Shared,
    /// A value of a loop in its turn, by a number of its own.
    State(u64),
    /// A value of a loop when it ends. Its operands are the first states, the next states and, last, the condition, if
    /// the loop has one.
    Repeat {
        /// The number of the first state.
        id: u64,
        turns: u32,
        states: usize,
        result: usize,
    },
}

/// The result of a lookup that is out of range.
#[derive(Clone, Copy, Debug)]
pub enum Beyond {
    Nearest,
    Wrapped,
    Fill(Value),
}

#[derive(Clone, Debug)]
pub enum View {
    Permute(Vec<isize>),
    /// From an index to before another.
    Cut(isize, isize, isize),
    /// Elements in steps, backwards if negative.
    Step(isize, isize),
    Flip(isize),
    Broadcast(Vec<usize>),
    Unsqueeze(isize),
    Squeeze(isize),
    Reshape(Vec<isize>),
    /// Windows of a length along an axis, with a step and a dilation.
    Windows(isize, [isize; 3]),
}

/// The same views of layouts, tensors and expressions.
macro_rules! viewed {
    ($view:expr, $x:expr, $slice:ident $windows:ident) => {
        match $view {
            View::Permute(axes) => $x.permute(axes),
            View::Cut(axis, start, end) => $x.$slice(*axis, *start..*end, 1),
            View::Step(axis, step) => $x.$slice(*axis, .., *step),
            View::Flip(axis) => $x.flip(*axis),
            View::Broadcast(shape) => $x.broadcast_to(&Shape::from(&shape[..])),
            View::Unsqueeze(axis) => $x.unsqueeze(*axis),
            View::Squeeze(axis) => $x.squeeze(*axis),
            View::Reshape(lengths) => $x.reshape(lengths),
            View::Windows(axis, [length, step, dilation]) => {
                $x.$windows(&[*length], &[*axis], &[*step], &[*dilation])
            }
        }
    };
}

impl View {
    pub fn of(&self, layout: &Layout) -> zerostride::Result<Layout> {
        viewed!(self, layout, slice windows)
    }

    pub fn of_tensor<T: Element>(&self, tensor: &Tensor<T>) -> zerostride::Result<Tensor<T>> {
        self.of_expr(tensor).tensor()
    }

    fn of_expr<T: Element>(&self, expr: &Expr<T>) -> Expr<T> {
        viewed!(self, expr, slice_step windows_with)
    }
}

impl Deref for Recipe {
    type Target = Node;
    fn deref(&self) -> &Node {
        &self.0
    }
}

impl Recipe {
    pub fn new(dtype: DType, shape: Vec<usize>, kind: Kind, args: Vec<Recipe>) -> Recipe {
        Recipe(Rc::new(Node { dtype, shape, kind, args }))
    }

    pub fn id(&self) -> *const Node {
        Rc::as_ptr(&self.0)
    }

    pub fn constant(value: Value, dtype: DType) -> Recipe {
        Recipe::new(dtype, Vec::new(), Kind::Constant(value), Vec::new())
    }

    /// An op of the table, of operands that broadcast together.
    pub fn call(name: &'static str, args: &[&Recipe]) -> Recipe {
        let op = operation(name);
        let dtype = op.result(args[0].dtype).unwrap_or_else(|| panic!("no {name} of {}", args[0].dtype));
        Recipe::new(dtype, broadcast(args), Kind::Op(name), args.iter().map(|&arg| arg.clone()).collect())
    }

    pub fn select(&self, a: impl Borrow<Recipe>, b: impl Borrow<Recipe>) -> Recipe {
        let args = [self, a.borrow(), b.borrow()];
        Recipe::new(args[1].dtype, broadcast(&args), Kind::Select, args.map(Recipe::clone).into())
    }

    pub fn cast(&self, to: DType) -> Recipe {
        Recipe::new(to, self.shape.clone(), Kind::Cast, vec![self.clone()])
    }

    /// Elements of this one at indices that broadcast together.
    pub fn at(&self, indices: &[Recipe], beyond: Beyond) -> Recipe {
        let shape = broadcast(&indices.iter().collect::<Vec<_>>());
        let args = std::iter::once(self).chain(indices).cloned().collect();
        Recipe::new(self.dtype, shape, Kind::Lookup(beyond), args)
    }

    /// A function of the user's, of operands that broadcast together.
    pub fn written(own: Written, args: &[Recipe]) -> Recipe {
        let shape = broadcast(&args.iter().collect::<Vec<_>>());
        Recipe::new(own.types().1, shape, Kind::Written(own), args.to_vec())
    }

    /// Operands of one type next to each other.
    pub fn join(parts: Vec<Recipe>, axis: usize) -> Recipe {
        let mut shape = parts[0].shape.clone();
        shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
        Recipe::new(parts[0].dtype, shape, Kind::Join(axis), parts)
    }

    pub fn shared(&self) -> Recipe {
        Recipe::new(self.dtype, self.shape.clone(), Kind::Shared, vec![self.clone()])
    }

    pub fn view(&self, view: View) -> Recipe {
        let layout = view.of(&Layout::contiguous(&self.shape[..]).unwrap()).unwrap();
        Recipe::new(self.dtype, layout.shape().to_vec(), Kind::View(view), vec![self.clone()])
    }

    pub fn reduce(&self, reduction: Reduction) -> Recipe {
        let (dtype, shape) = (reduction.result(self.dtype), reduction.shape(&self.shape));
        Recipe::new(dtype, shape, Kind::Reduce(reduction), vec![self.clone()])
    }

    pub fn of1(&self, name: &'static str) -> Recipe {
        Recipe::call(name, &[self])
    }

    pub fn of2(&self, name: &'static str, other: impl Operand) -> Recipe {
        Recipe::call(name, &[self, &other.recipe(self.dtype)])
    }

    /// The bound in units in the last place, where the root is an inexact function.
    pub fn bound(&self) -> Option<Operation> {
        let Kind::Op(name) = self.kind else { return None };
        Some(operation(name)).filter(|op| op.ulp(self.args[0].dtype) > 0)
    }

    /// The nodes below and this one. Each occurs once, after its operands.
    pub fn nodes(&self) -> Vec<Recipe> {
        fn add(recipe: &Recipe, all: &mut Vec<Recipe>, seen: &mut HashMap<*const Node, ()>) {
            if seen.insert(recipe.id(), ()).is_none() {
                recipe.args.iter().for_each(|arg| add(arg, all, seen));
                all.push(recipe.clone());
            }
        }
        let mut all = Vec::new();
        add(self, &mut all, &mut HashMap::new());
        all
    }
}

fn operation(name: &str) -> Operation {
    operations().find(|op| op.name == name).unwrap_or_else(|| panic!("no op {name}"))
}

/// The shape by NumPy's rule.
fn broadcast(args: &[&Recipe]) -> Vec<usize> {
    let rank = args.iter().map(|arg| arg.shape.len()).max().unwrap();
    let length = |arg: &Recipe, k: usize| k.checked_sub(rank - arg.shape.len()).map_or(1, |k| arg.shape[k]);
    let joint = |k: usize| args.iter().map(|arg| length(arg, k)).find(|&n| n != 1).unwrap_or(1);
    let shape: Vec<usize> = (0..rank).map(joint).collect();
    let fits = |arg: &&Recipe| (0..rank).all(|k| [1, shape[k]].contains(&length(arg, k)));
    assert!(args.iter().all(fits), "{args:?} do not broadcast");
    shape
}

/// Operands of operators: recipes, and numbers as constants of the other operand's type.
pub trait Operand {
    fn recipe(self, dtype: DType) -> Recipe;
}

impl Operand for f64 {
    fn recipe(self, dtype: DType) -> Recipe {
        Recipe::constant(Value::Float(self), dtype)
    }
}

impl Operand for Recipe {
    fn recipe(self, _: DType) -> Recipe {
        self
    }
}

impl Operand for &Recipe {
    fn recipe(self, _: DType) -> Recipe {
        self.clone()
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident;)*) => {$(
        impl<R: Operand> $trait<R> for &Recipe {
            type Output = Recipe;
            fn $method(self, other: R) -> Recipe {
                self.of2(stringify!($method), other)
            }
        }

        impl<R: Operand> $trait<R> for Recipe {
            type Output = Recipe;
            fn $method(self, other: R) -> Recipe {
                self.of2(stringify!($method), other)
            }
        }
    )*};
}
operators! { Add add; Sub sub; Mul mul; Div div; }

impl Neg for &Recipe {
    type Output = Recipe;
    fn neg(self) -> Recipe {
        self.of1("neg")
    }
}

impl Neg for Recipe {
    type Output = Recipe;
    fn neg(self) -> Recipe {
        self.of1("neg")
    }
}

/// A line for each node, so that a node with two readers shows.
impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes();
        let number = |of: &Recipe| nodes.iter().position(|node| node.id() == of.id()).unwrap();
        for (i, node) in nodes.iter().enumerate() {
            let args: Vec<String> = node.args.iter().map(|arg| format!("n{}", number(arg))).collect();
            let (dtype, shape, args) = (node.dtype, &node.shape, args.join(", "));
            writeln!(f, "  n{i}: {dtype} {shape:?} = {:?}({args})", node.kind)?;
        }
        Ok(())
    }
}

/// The crate's expressions of recipes over tensors of a device.
#[derive(Default)]
pub struct Builder {
    /// A `Tensor` for every storage.
    pub tensors: Vec<Box<dyn Any>>,
    known: HashMap<*const Node, Rc<dyn Any>>,
    /// The leaves of states, and the results of loops, by their numbers.
    states: HashMap<u64, AnyExpr>,
    loops: HashMap<u64, Vec<AnyExpr>>,
    /// The recipes whose addresses are known.
    held: Vec<Recipe>,
}

impl Builder {
    pub fn upload(
        &mut self,
        device: &Device,
        dtype: DType,
        shape: &[usize],
        values: &[Value],
    ) -> zerostride::Result<()> {
        self.tensors.push(with_type!(dtype, T => {
            let values: Vec<T> = values.iter().map(|&value| T::of(value)).collect();
            Box::new(device.upload(&values, shape)?)
        }));
        Ok(())
    }

    pub fn tensor<T: Element>(&self, i: usize) -> &Tensor<T> {
        self.tensors[i].downcast_ref().unwrap()
    }

    pub fn expr<T: Element>(&mut self, recipe: &Recipe) -> Expr<T> {
        typed(&self.any(recipe)).clone()
    }

    fn any(&mut self, recipe: &Recipe) -> Rc<dyn Any> {
        if let Some(known) = self.known.get(&recipe.id()) {
            return known.clone();
        }
        if let Kind::Repeat { id, turns, states, result } = recipe.kind {
            let all = match self.loops.get(&id) {
                Some(known) => known.clone(),
                None => self.repeated(recipe, id, turns, states),
            };
            return with_type!(recipe.dtype, T => Rc::new(all[result].typed::<T>().unwrap()));
        }
        let args: Vec<Rc<dyn Any>> = recipe.args.iter().map(|arg| self.any(arg)).collect();
        let built: Rc<dyn Any> = match &recipe.kind {
            Kind::Index(axis) => Rc::new(Expr::iota(&recipe.shape[..], *axis as isize)),
            Kind::State(id) => {
                let mistake = AnyExpr::call("no state", &[]);
                let state = self.states.get(id).unwrap_or(&mistake);
                with_type!(recipe.dtype, T => Rc::new(state.typed::<T>().unwrap_or_else(|_| Expr::call::<T>("no state", &[]))))
            }
            Kind::Random(key) => with_type!(recipe.dtype, T => {
                let shape = &recipe.shape[..];
                let drawn = match recipe.dtype {
                    DType::U32 => AnyExpr::random_bits(shape, *key),
                    float => AnyExpr::uniform(float, shape, *key),
                };
                Rc::new(drawn.typed::<T>().unwrap())
            }),
            Kind::Op(name) if recipe.dtype == DType::Bool => {
                with_type!(recipe.args[0].dtype, T => Rc::new(Expr::<bool>::call::<T>(name, &all(&args))))
            }
            Kind::Reduce(reduction) => {
                let of = recipe.args[0].dtype;
                let operand = with_type!(of, From => AnyExpr::from(typed::<From>(&args[0])));
                let result = reduced(&operand, reduction);
                with_type!(recipe.dtype, T => Rc::new(result.typed::<T>().unwrap()))
            }
            kind => with_type!(recipe.dtype, T => Rc::new(match kind {
                Kind::Leaf(i) => self.tensor::<T>(*i).expr(),
                Kind::Constant(value) => Expr::scalar(T::of(*value)),
                Kind::Op(name) => Expr::<T>::call::<T>(name, &all(&args)),
                Kind::Select => typed::<bool>(&args[0]).select(typed::<T>(&args[1]), typed::<T>(&args[2])),
                Kind::Cast => with_type!(recipe.args[0].dtype, From => typed::<From>(&args[0]).cast::<T>()),
                Kind::View(view) => view.of_expr(typed::<T>(&args[0])),
                Kind::Shared => typed::<T>(&args[0]).shared(),
                Kind::Join(axis) => Expr::concat(all::<T>(&args), *axis as isize),
                Kind::Written(own) => {
                    let operands: Vec<AnyExpr> = recipe.args.iter().zip(&args).map(untyped).collect();
                    own.function().call(&operands).typed::<T>().unwrap()
                }
                Kind::Lookup(beyond) => {
                    let indices = recipe.args.iter().zip(&args).skip(1).map(untyped);
                    let outside = match *beyond {
                        Beyond::Nearest => Outside::Nearest,
                        Beyond::Wrapped => Outside::Wrapped,
                        Beyond::Fill(Value::Float(x)) => Outside::fill(x),
                        Beyond::Fill(Value::Int(x)) => Outside::fill(x),
                        Beyond::Fill(Value::Bool(x)) => Outside::fill(x),
                    };
                    typed::<T>(&args[0]).at_with(indices, outside)
                }
                _ => unreachable!("they are built above"),
            })),
        };
        self.known.insert(recipe.id(), built.clone());
        self.held.push(recipe.clone());
        built
    }
}

impl Builder {
    pub fn untyped(&mut self, recipe: &Recipe) -> AnyExpr {
        let built = self.any(recipe);
        untyped((recipe, &built))
    }

    fn repeated(&mut self, recipe: &Recipe, id: u64, turns: u32, states: usize) -> Vec<AnyExpr> {
        let first: Vec<AnyExpr> = recipe.args[..states].iter().map(|first| self.untyped(first)).collect();
        let (next, goes_on) = recipe.args[states..].split_at(states);
        let mut step = |values: &[AnyExpr]| {
            self.states.extend((id..).zip(values.iter().cloned()));
            // The nodes of an iteration are built again.
            let known = std::mem::take(&mut self.known);
            let next = next.iter().map(|next| self.untyped(next)).collect();
            let goes_on = goes_on.first().map(|goes_on| self.untyped(goes_on));
            self.known = known;
            (goes_on, next)
        };
        let all = match goes_on {
            [] => AnyExpr::repeat(turns, &first, |values| step(values).1),
            _ => AnyExpr::repeat_while(turns, &first, |values| {
                let (goes_on, next) = step(values);
                (goes_on.unwrap(), next)
            }),
        };
        self.loops.insert(id, all.clone());
        all
    }
}

fn reduced(operand: &AnyExpr, reduction: &Reduction) -> AnyExpr {
    let mut options = ReduceOptions::default().correction(reduction.correction);
    options.keepdim = reduction.keepdim;
    options.exclusive = reduction.exclusive;
    options.reverse = reduction.reverse;
    match &reduction.axes {
        Some(axes) => operand.reduce(reduction.name, axes, options),
        None => operand.reduce(reduction.name, .., options),
    }
}

fn typed<T: Element>(any: &Rc<dyn Any>) -> &Expr<T> {
    any.downcast_ref().expect("an expression of the recipe's type")
}

fn untyped((of, arg): (&Recipe, &Rc<dyn Any>)) -> AnyExpr {
    with_type!(of.dtype, T => AnyExpr::from(typed::<T>(arg)))
}

fn all<T: Element>(args: &[Rc<dyn Any>]) -> Vec<Expr<T>> {
    args.iter().map(|arg| typed(arg).clone()).collect()
}
