//! Loops over a few values, inside of the kernel that reads them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element};
use crate::error::{Result, bail};
use crate::ir::{Body, Loop, LoopTable, MOST_TURNS, Node, NodeKind, Op, Source, Step, Steps, Value};
use crate::layout::{Layout, Shape, numpy};

/// The most operations of an element in a kernel. Each waits for the one before, which takes a slow GPU 5 ns: this many
/// take a sixth of a second, however few elements there are.
const MOST_OPERATIONS: u64 = 32 << 20;

/// The most loops within each other.
const MOST_WITHIN: usize = 8;

/// The values of a loop: an expression, or a tuple of up to six of any types.
pub trait LoopState: Clone + sealed::Sealed {
    #[doc(hidden)]
    fn list(&self) -> Vec<AnyExpr>;

    #[doc(hidden)]
    fn of(values: &[AnyExpr]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for Expr<T> {}

impl<T: Element> LoopState for Expr<T> {
    fn list(&self) -> Vec<AnyExpr> {
        vec![self.into()]
    }

    fn of(values: &[AnyExpr]) -> Self {
        Expr::face(values[0].clone())
    }
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),+))*) => {$(
        impl<$($t: Element),+> sealed::Sealed for ($(Expr<$t>,)+) {}

        impl<$($t: Element),+> LoopState for ($(Expr<$t>,)+) {
            fn list(&self) -> Vec<AnyExpr> {
                vec![$((&self.$i).into()),+]
            }

            fn of(values: &[AnyExpr]) -> Self {
                ($(Expr::<$t>::face(values[$i].clone()),)+)
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

impl Expr<()> {
    /// The results of `n` iterations of a step: a loop in the kernel, whose text and compile time do not grow with `n`.
    ///
    /// The values are an expression or a tuple of up to six, of any types. They broadcast together, and are the first
    /// iteration's states. The closure is called once, with expressions that stand for the states, and returns the next
    /// states. It may read tensors, coordinates and everything else outside of the loop, which is loaded once, before
    /// it. On states it may use elementwise operations, lookups by them in tables from before the loop, and views that
    /// move no element, as `unsqueeze`. Other views of states, and reductions, would need other elements' states, and
    /// are mistakes that say so.
    ///
    /// The bits are those of as many steps one after another, on every device. Screens wait for a kernel, and systems
    /// end one that runs for seconds. So a long loop runs as several kernels, of fewer elements and iterations.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// // Square roots by Newton's method.
    /// let x = Device::cpu().upload(&[2.0_f32, 9.0], [2])?;
    /// let root = Expr::repeat(6, x.expr(), |r| (&r + &x / &r) * 0.5);
    /// assert_eq!(root.to_vec()?, [1.4142135, 3.0]);
    ///
    /// // Fibonacci's numbers: a tuple of values.
    /// let first = (Expr::scalar(0_u32).broadcast_to([2]), Expr::scalar(1_u32));
    /// let (a, _) = Expr::repeat(10, first, |(a, b)| (b.clone(), a + b));
    /// assert_eq!(a.to_vec_on(&Device::cpu())?, [55, 55]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat<S: LoopState>(n: u32, state: S, step: impl FnOnce(S) -> S) -> S {
        let of = |values: &[AnyExpr]| (None, step(S::of(values)).list());
        S::of(&turns(n, &state.list(), of))
    }

    /// The same while a condition holds. An element whose condition is false keeps its states from then on, and the
    /// others continue, for at most `n` iterations. The condition is computed from an iteration's first states, beside
    /// the next states.
    ///
    /// A vector of a kernel ends when all of its elements have ended, and so do the elements of a tile of the CPU path.
    /// A loop of more than 60000 iterations is several kernels, all of which run, however soon the elements have ended.
    /// So choose `n` no larger than necessary.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// // How often a number is halved until it is odd.
    /// let x = Device::cpu().upload(&[12_u32, 7, 64], [3])?;
    /// let (odd, times) = Expr::repeat_while(32, (x.expr(), Expr::scalar(0_u32)), |(x, n)| {
    ///     ((&x & 1).eq(0), (x >> 1, n + 1))
    /// });
    /// assert_eq!(odd.to_vec()?, [3, 7, 1]);
    /// assert_eq!(times.to_vec()?, [2, 0, 6]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat_while<S: LoopState>(n: u32, state: S, step: impl FnOnce(S) -> (Expr<bool>, S)) -> S {
        let of = |values: &[AnyExpr]| {
            let (goes_on, next) = step(S::of(values));
            (Some(goes_on.into()), next.list())
        };
        S::of(&turns(n, &state.list(), of))
    }
}

impl AnyExpr {
    /// The results of `n` iterations of a step ([`Expr::repeat`]): as many as there are values.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1.0_f32, 2.0], [2])?);
    /// let doubled = AnyExpr::repeat(3, &[x], |x| vec![AnyExpr::call("add", &[x[0].clone(), x[0].clone()])]);
    /// assert_eq!(doubled[0].to_vec::<f32>()?, [8.0, 16.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat(n: u32, state: &[AnyExpr], step: impl FnOnce(&[AnyExpr]) -> Vec<AnyExpr>) -> Vec<AnyExpr> {
        turns(n, state, |values| (None, step(values)))
    }

    /// The same as long as a condition of bool holds ([`Expr::repeat_while`]).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1, 20], [2])?);
    /// let most = AnyExpr::scalar(DType::I32, 10);
    /// let doubled = AnyExpr::repeat_while(9, &[x], |x| {
    ///     let next = AnyExpr::call("add", &[x[0].clone(), x[0].clone()]);
    ///     (AnyExpr::call("lt", &[x[0].clone(), most]), vec![next])
    /// });
    /// assert_eq!(doubled[0].to_vec::<i32>()?, [16, 20]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat_while(
        n: u32,
        state: &[AnyExpr],
        step: impl FnOnce(&[AnyExpr]) -> (AnyExpr, Vec<AnyExpr>),
    ) -> Vec<AnyExpr> {
        let of = |values: &[AnyExpr]| {
            let (goes_on, next) = step(values);
            (Some(goes_on), next)
        };
        turns(n, state, of)
    }
}

/// The final states of a loop, or the first mistake as each of them.
#[track_caller]
fn turns(
    n: u32,
    state: &[AnyExpr],
    step: impl FnOnce(&[AnyExpr]) -> (Option<AnyExpr>, Vec<AnyExpr>),
) -> Vec<AnyExpr> {
    let built = || {
        let first = state.iter().map(AnyExpr::node).collect::<Result<Vec<_>>>()?;
        if first.is_empty() {
            bail!(Operation, "a loop over no values: it takes at least one");
        }
        let shapes: SmallVec<[Shape; 6]> = first.iter().map(|node| node.shape.clone()).collect();
        let shape = numpy(&shapes)?;
        let layout = Layout::contiguous(&shape)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(first.len() as u64, Ordering::Relaxed);
        let leaf = |(number, node): (u64, &&Arc<Node>)| {
            AnyExpr::new(Ok(Node::leaf(node.dtype, Source::State(id + number), layout.clone())))
        };
        let (goes_on, next) = step(&(0..).zip(&first).map(leaf).collect::<Vec<_>>());
        let next = next.iter().map(AnyExpr::node).collect::<Result<Vec<_>>>()?;
        let goes_on = goes_on.as_ref().map(AnyExpr::node).transpose()?;
        if next.len() != first.len() {
            bail!(
                Operation,
                "a loop over {} values with a step that returns {}: a step returns one for each value",
                first.len(),
                next.len()
            );
        }
        for (i, (first, next)) in first.iter().zip(&next).enumerate() {
            if first.dtype != next.dtype {
                bail!(
                    Type,
                    "value {i} of a loop is {} and its step returns {}: cast one of them",
                    first.dtype,
                    next.dtype
                );
            }
        }
        if let Some(goes_on) = goes_on.filter(|goes_on| goes_on.dtype != DType::Bool) {
            bail!(
                Type,
                "the condition of a loop is {}: it must be bool, so compare or cast it",
                goes_on.dtype
            );
        }
        let mut turn = Turn::new(id, &first, shape);
        let mut value = |node: &&Arc<Node>| turn.find(node);
        let goes_on = goes_on.as_ref().map(&mut value).transpose()?;
        let next = next.iter().map(value).collect::<Result<Vec<Value>>>()?;
        let (body, beside, shape) = turn.finish(next, goes_on)?;
        let body = Body::Loop(Arc::new(body));
        let after = |turns: u32, first: &[Arc<Node>]| -> Result<Vec<Arc<Node>>> {
            let turns = Node::leaf(DType::U32, Source::Scalar(turns.into()), Layout::contiguous([])?);
            let args: Vec<&Arc<Node>> = std::iter::once(&turns).chain(first).chain(&beside).collect();
            let result = |(i, node): (usize, &Arc<Node>)| {
                Node::body(body.clone(), i, node.dtype, shape.clone(), &args)
            };
            Ok(first.iter().enumerate().map(result).collect())
        };
        let mut values: Vec<Arc<Node>> = first.iter().map(|&node| node.clone()).collect();
        let one = &after(1, &values)?[0];
        let most = (MOST_TURNS / one.turns()).min(MOST_OPERATIONS / one.of_loop(&Loop::operations));
        let most = most.clamp(1, u64::from(u32::MAX)) as u32;
        let mut left = n;
        while left > most {
            values = after(most, &values)?.iter().map(Node::shared).collect();
            left -= most;
        }
        after(left, &values)
    };
    match built() {
        Ok(nodes) => nodes.into_iter().map(|node| AnyExpr::new(Ok(node))).collect(),
        Err(error) => vec![AnyExpr::mistake(error); state.len()],
    }
}

/// The number of the first table while an iteration is flattened: tables come after shared values, once all are known.
const TABLES: u32 = 1 << 31;

fn count(shape: &Shape) -> usize {
    shape.iter().product()
}

/// A table that an iteration looks up, as [`LoopTable`].
struct Table {
    table: Arc<Node>,
    axes: SmallVec<[bool; 4]>,
    fixed: Vec<Arc<Node>>,
}

/// An iteration, flattened.
struct Turn {
    /// The number of the first state, among all states of the program.
    id: u64,
    types: Vec<DType>,
    shape: Shape,
    /// The result for each node; `None` if it does not depend on the states.
    known: FxHashMap<*const Node, Option<Value>>,
    shared: Vec<Arc<Node>>,
    tables: Vec<Table>,
    steps: Steps,
    depth: usize,
}

impl Turn {
    fn new(id: u64, first: &[&Arc<Node>], shape: Shape) -> Turn {
        Turn {
            id,
            types: first.iter().map(|node| node.dtype).collect(),
            shape,
            known: FxHashMap::default(),
            shared: Vec::new(),
            tables: Vec::new(),
            steps: Steps::new(),
            depth: 1,
        }
    }

    /// The value that a node is.
    fn find(&mut self, root: &Arc<Node>) -> Result<Value> {
        let mut stack = vec![root];
        while let Some(node) = stack.last().copied() {
            if self.known.contains_key(&Arc::as_ptr(node)) {
                stack.pop();
                continue;
            }
            let open = stack.len();
            stack.extend(node.args.iter().filter(|arg| !self.known.contains_key(&Arc::as_ptr(arg))));
            if stack.len() == open {
                let found = self.look(node)?;
                self.known.insert(Arc::as_ptr(node), found);
                stack.pop();
            }
        }
        self.value(root)
    }

    /// The value of a node whose operands are known.
    fn look(&mut self, node: &Arc<Node>) -> Result<Option<Value>> {
        if let NodeKind::Leaf { source: Source::State(state), layout } = &node.kind {
            let own = state.checked_sub(self.id).filter(|own| (*own as usize) < self.types.len());
            let Some(own) = own else { return Ok(None) };
            self.moves_nothing(layout)?;
            return Ok(Some(Value::Input(own as u32)));
        }
        if node.args.iter().all(|arg| self.known.get(&Arc::as_ptr(arg)).is_none_or(Option::is_none)) {
            return Ok(None);
        }
        if matches!(node.kind, NodeKind::Shared) {
            return Ok(Some(self.value(&node.args[0])?));
        }
        if let NodeKind::View(layout) = &node.kind {
            self.moves_nothing(layout)?;
            return Ok(Some(self.value(&node.args[0])?));
        }
        if !node.kind.is_operation() {
            bail!(
                Operation,
                "{} of a value inside of its loop: a step computes each element apart, so call it on the result of the loop",
                node.name()
            );
        }
        // States may be seen in another shape, as long as each element stays apart.
        let is_seen = matches!(node.kind, NodeKind::Op(_)) && count(&node.shape) == count(&self.shape);
        if node.shape != self.shape && !is_seen {
            bail!(
                Shape,
                "the values of a loop have the shape {} and {} of them {}: begin with values of that shape, by broadcast_to",
                self.shape,
                node.name(),
                node.shape
            );
        }
        if matches!(node.kind, NodeKind::Lookup) {
            return Ok(Some(self.lookup(node)?));
        }
        if let NodeKind::Body(Body::Loop(inner), _) = &node.kind {
            self.depth = self.depth.max(inner.depth + 1);
        }
        let (operands, tables) = node.operands();
        let mut args = SmallVec::new();
        for arg in operands {
            args.push(match self.known.get(&Arc::as_ptr(arg)) {
                Some(Some(found)) => *found,
                _ if node.shape == self.shape => self.value(arg)?,
                _ => {
                    let lengths: Vec<isize> = self.shape.iter().map(|&n| n as isize).collect();
                    let seen = |layout: &Layout| layout.broadcast_to(&node.shape)?.reshape(&lengths);
                    self.value(&arg.view(&seen)?)?
                }
            });
        }
        for table in tables {
            args.push(self.table(table)?);
        }
        Ok(node.step(args, |step| self.steps.once(step)))
    }

    /// Whether a view of the states, or of values computed from them, leaves each element in place.
    fn moves_nothing(&self, view: &Layout) -> Result<()> {
        if !view.is_identity() || view.count() != count(&self.shape) {
            bail!(
                Operation,
                "a view inside of a loop moves elements of the loop's values, as flip and slice do: take it before the loop, or of the result"
            );
        }
        Ok(())
    }

    /// A lookup by an iteration's values. Coordinates and constants among the indices belong to the table, as they are
    /// the same in every iteration.
    fn lookup(&mut self, node: &Arc<Node>) -> Result<Value> {
        let Some((table, indices)) = node.args.split_first() else { bail!(Kernel, "a lookup of nothing") };
        let (mut axes, mut fixed, mut open) = (SmallVec::<[bool; 4]>::new(), Vec::new(), Vec::new());
        for (index, &length) in indices.iter().zip(table.shape.iter()) {
            let is_fixed =
                matches!(&index.kind, NodeKind::Leaf { source: Source::Scalar(_) | Source::Index(_), .. });
            match length {
                // Whatever the index, there is one element.
                1 => fixed.push(Node::leaf(DType::I32, Source::Scalar(0), Layout::contiguous([])?)),
                _ if is_fixed => fixed.push(index.clone()),
                _ => open.push(index),
            }
            axes.push(length > 1 && !is_fixed);
        }
        // The same in all iterations, unless the table is not.
        if open.is_empty() && !matches!(self.known.get(&Arc::as_ptr(table)), Some(Some(_))) {
            return self.value(&Node::lookup(table, &fixed.iter().collect::<Vec<_>>())?);
        }
        let found = self.table(LoopTable { table, axes: &axes, fixed: &fixed })?;
        let mut args = SmallVec::from_iter([found]);
        for index in open {
            args.push(self.value(index)?);
        }
        Ok(self.steps.once(Step::new(Op::Lookup, DType::I32, node.dtype, args)))
    }

    /// A table, known or new.
    fn table(&mut self, own: LoopTable<'_>) -> Result<Value> {
        if let Some(Some(_)) = self.known.get(&Arc::as_ptr(own.table)) {
            bail!(
                Operation,
                "lookup in a value inside of its loop: a step computes each element apart, so look up a tensor from before the loop, or the result"
            );
        }
        let same = |known: &Table| {
            let mut fixed = known.fixed.iter().zip(own.fixed);
            *known.axes == *own.axes && known.table.is_same(own.table) && fixed.all(|(a, b)| a.is_same(b))
        };
        let known = self.tables.iter().position(same);
        let number = known.unwrap_or_else(|| {
            let LoopTable { table, axes, fixed } = own;
            self.tables.push(Table { table: table.clone(), axes: axes.into(), fixed: fixed.to_vec() });
            self.tables.len() - 1
        });
        Ok(Value::Input(TABLES + number as u32))
    }

    /// A node as a value. All iterations share nodes that do not depend on the states.
    fn value(&mut self, node: &Arc<Node>) -> Result<Value> {
        if let Some(Some(found)) = self.known.get(&Arc::as_ptr(node)) {
            return Ok(*found);
        }
        let known = self.shared.iter().position(|known| Arc::ptr_eq(known, node));
        let value = Value::Input((self.types.len() + known.unwrap_or(self.shared.len())) as u32);
        if known.is_none() && numpy(&[self.shape.clone(), node.shape.clone()])? != self.shape {
            bail!(
                Shape,
                "the values of a loop have the shape {} and its step returns {}: begin with values of that shape, by broadcast_to",
                self.shape,
                node.shape
            );
        }
        self.shared.extend(known.is_none().then(|| node.clone()));
        Ok(value)
    }

    /// The loop, its shared values, and the shape of its states.
    fn finish(self, next: Vec<Value>, goes_on: Option<Value>) -> Result<(Loop, Vec<Arc<Node>>, Shape)> {
        if self.depth > MOST_WITHIN {
            bail!(
                Limit,
                "{} nested loops, and a kernel nests at most {MOST_WITHIN}: evaluate an inner one first",
                self.depth
            );
        }
        let values = (self.types.len() + self.shared.len()) as u32;
        let mut steps = self.steps.all;
        for arg in steps.iter_mut().flat_map(|step| &mut step.args) {
            if let Value::Input(i @ TABLES..) = arg {
                *i = *i - TABLES + values;
            }
        }
        let beside = self.shared.iter().chain(self.tables.iter().map(|own| &own.table));
        let own = Loop {
            args: self.types.iter().copied().chain(beside.map(|node| node.dtype)).collect(),
            states: self.types.len(),
            tables: self.tables.iter().map(|own| own.axes.clone()).collect(),
            steps,
            next,
            goes_on,
            depth: self.depth,
        };
        let tables = self.tables.into_iter().flat_map(|own| std::iter::once(own.table).chain(own.fixed));
        Ok((own, self.shared.into_iter().chain(tables).collect(), self.shape))
    }
}
