//! One iteration of a loop, as flat steps over its states.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{Body, Loop, LoopTable, Node, NodeKind, Op, Source, Step, Steps, Value};
use crate::layout::{Layout, Shape, numpy};

/// The most loops within each other.
const MOST_WITHIN: usize = 8;

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
pub(super) struct Turn {
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
    pub(super) fn new(id: u64, first: &[&Arc<Node>], shape: Shape) -> Turn {
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
    pub(super) fn find(&mut self, root: &Arc<Node>) -> Result<Value> {
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
    pub(super) fn finish(
        self,
        next: Vec<Value>,
        goes_on: Option<Value>,
    ) -> Result<(Loop, Vec<Arc<Node>>, Shape)> {
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
