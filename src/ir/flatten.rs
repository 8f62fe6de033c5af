//! Flattening: from the graph to a program. Values are in order, equal ones appear once, and views are pushed down to
//! the leaves.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::builder::ProgramBuilder;
use super::node::{LoopTable, together};
use super::small_map::SmallMap;
use super::{Extent, Input, Node, NodeKind, Op, Operands, Program, ProgramKind, Source, Step, Value};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// Nodes that a program reads and does not compute. Each is the result of a stage, by the stage's number and its own.
pub(crate) type Known = FxHashMap<*const Node, (usize, usize)>;

/// A node under a view, by the view's number.
type Viewed = (*const Node, u32);

/// A node's value, or its op, which is to be computed under a view.
enum Seen<'a> {
    Value(Value),
    Op(&'a Arc<Node>, u32),
}

/// An op whose operands are being searched.
struct Frame<'a> {
    node: &'a Arc<Node>,
    view: u32,
    args: SmallVec<[Value; 3]>,
    /// The table of a lookup.
    table: Option<Box<Table>>,
}

/// A table under a lookup. Coordinates and constants are part of its layout, and the other indices move from there.
struct Table {
    dtype: DType,
    source: Source,
    /// The layout of the table alone.
    layout: Layout,
    /// The layout over the shape of the program, with coordinates and constants.
    offset: isize,
    strides: SmallVec<[isize; 6]>,
    computed: Vec<Extent>,
    /// The number of axes whose index was read.
    axes: usize,
}

impl Table {
    /// Moves along an axis by a coordinate or a constant.
    fn walk(&mut self, stride: isize, source: &Source, layout: &Layout) {
        match source {
            Source::Scalar(bits) => self.offset += *bits as i32 as isize * stride,
            _ => {
                self.offset += layout.offset() as isize * stride;
                let along = layout.strides().iter().map(|step| step * stride);
                self.strides.iter_mut().zip(along).for_each(|(all, own)| *all += own);
            }
        }
    }
}

struct Flatten<'a> {
    known: &'a Known,
    views: SmallVec<[Layout; 4]>,
    program: ProgramBuilder,
    done: SmallMap<Viewed, Value>,
}

impl Program {
    /// Flattens `root`, broadcast to `shape`.
    #[cfg(test)]
    pub(crate) fn new(root: &Arc<Node>, shape: &Shape) -> Result<Program> {
        Self::of(&[root], shape, &Known::default())
    }

    /// The same for several results, with some known nodes. Unknown roots along axes are all of one operation, over one
    /// shape, and have the requested shape.
    pub(crate) fn of(roots: &[&Arc<Node>], shape: &Shape, known: &Known) -> Result<Program> {
        let op = |root: &Arc<Node>| match &root.kind {
            NodeKind::Axis(op) if !known.contains_key(&Arc::as_ptr(root)) => Some(op.clone()),
            _ => None,
        };
        let Some(own) = roots.iter().find_map(|root| op(root)) else {
            let (all, results) = Self::values(roots, &[], shape, known)?;
            return Ok(all.finish(shape.clone(), roots[0].dtype, results));
        };
        let all: SmallVec<[&Arc<Node>; 3]> = roots.iter().flat_map(|root| &root.args).collect();
        let (operands, tables) = all.split_at(own.broadcast(all.len()));
        let (first, over) = (roots[0], together(operands)?);
        let alike = |root: &&Arc<Node>| op(root).as_ref() == Some(&own) && root.shape == *shape;
        let is_one = roots.len() == 1 || operands.iter().all(|operand| operand.shape == over);
        if !roots.iter().all(alike) || !is_one {
            bail!(Kernel, "a {} of {} beside others, where {shape} is asked for", first.name(), first.shape);
        }
        let (mut all, mut values) = Self::values(operands, tables, &over, known)?;
        let mut beside = SmallVec::new();
        if own.operands() == Operands::Factors {
            let factors = std::mem::take(&mut values).into_iter().collect();
            values.push(all.steps.once(Step::new(Op::Mul, first.dtype, first.dtype, factors)));
        } else {
            beside.extend(values.drain(roots.len()..));
        }
        Ok(all.finish(over, first.dtype, values).of_kind(ProgramKind::Axis(own, beside)))
    }

    /// The values of some roots over a shape, and of tables that no step reads, in an unfinished program.
    fn values(
        roots: &[&Arc<Node>],
        tables: &[&Arc<Node>],
        shape: &Shape,
        known: &Known,
    ) -> Result<(ProgramBuilder, SmallVec<[Value; 1]>)> {
        let mut flat =
            Flatten { known, views: SmallVec::new(), program: ProgramBuilder::new(), done: SmallMap::new() };
        let mut results: SmallVec<[Value; 1]> = SmallVec::new();
        for root in roots {
            let own = Layout::contiguous(&root.shape)?;
            let view = flat.number(if root.shape == *shape { own } else { own.stretched(shape) });
            results.push(flat.root(root, view)?);
        }
        for node in tables {
            let view = flat.number(Layout::contiguous(shape)?);
            let mut table = flat.table(node, view)?;
            let axes = table.layout.shape().iter().zip(table.layout.strides());
            table.computed = axes.map(|(&length, &stride)| Extent { length, stride }).collect();
            results.push(flat.looked_up(view, table)?);
        }
        Ok((flat.program, results))
    }
}

impl<'a> Flatten<'a> {
    /// The number of a view. There are few views, and recent ones are searched most.
    fn number(&mut self, view: Layout) -> u32 {
        let known = self.views.iter().rposition(|known| *known == view);
        known.unwrap_or_else(|| {
            self.views.push(view);
            self.views.len() - 1
        }) as u32
    }

    /// The layout of a view of a view.
    fn seen(&self, layout: &Layout, view: u32) -> Result<Layout> {
        match layout.under(&self.views[view as usize]) {
            Some(both) => Ok(both),
            None => bail!(Kernel, "{layout:?} under {:?} is no layout", self.views[view as usize]),
        }
    }

    /// The same, by number.
    fn under(&mut self, layout: &Layout, view: u32) -> Result<u32> {
        let both = self.seen(layout, view)?;
        Ok(self.number(both))
    }

    /// A node under a view: its value, or the op to compute.
    fn look(&mut self, mut node: &'a Arc<Node>, mut view: u32) -> Result<Seen<'a>> {
        loop {
            // A stage's result is read even if an earlier result of this program has computed it: a kernel may not
            // contain both.
            if let Some(&(stage, result)) = self.known.get(&Arc::as_ptr(node)) {
                let layout = self.views[view as usize].clone();
                let source = Source::Stage { stage, result };
                return Ok(Seen::Value(self.program.input(Input::new(node.dtype, source, layout))));
            }
            let place = (Arc::as_ptr(node), view);
            if let Some(found) = self.done.get(&place) {
                return Ok(Seen::Value(found));
            }
            match &node.kind {
                NodeKind::Op(_) | NodeKind::Body(..) | NodeKind::Lookup => return Ok(Seen::Op(node, view)),
                NodeKind::Leaf { source: Source::State(_), .. } => {
                    bail!(Operation, "a value of a loop is read outside of its step: read the loop's result")
                }
                NodeKind::Leaf { source, layout } => {
                    let layout = self.seen(layout, view)?;
                    let input = Input::new(node.dtype, source.clone(), layout);
                    let found = self.program.input(Input { node: Some(Arc::as_ptr(node).addr()), ..input });
                    self.done.insert(place, found);
                    return Ok(Seen::Value(found));
                }
                NodeKind::View(layout) => view = self.under(layout, view)?,
                NodeKind::Shared => {}
                _ => bail!(Kernel, "{} is no stage", node.name()),
            }
            // A view or a shared node is its operand.
            node = &node.args[0];
        }
    }

    /// Finds a node and everything below it.
    fn root(&mut self, root: &'a Arc<Node>, view: u32) -> Result<Value> {
        let mut stack: SmallVec<[Frame<'a>; 4]> = match self.look(root, view)? {
            Seen::Value(found) => return Ok(found),
            Seen::Op(node, view) => smallvec![self.frame(node, view)?],
        };
        loop {
            let Some(top) = stack.last_mut() else { bail!(Kernel, "a graph without a root") };
            let next = match &mut top.table {
                None => top.node.operands().0.get(top.args.len()),
                Some(table) => self.next_index(top.node, top.view, table)?,
            };
            let found = match next {
                Some(arg) => {
                    let (node, mut view) = (top.node, top.view);
                    if arg.shape != node.shape {
                        view = self.under(&Layout::contiguous(&arg.shape)?.stretched(&node.shape), view)?;
                    }
                    match self.look(arg, view)? {
                        Seen::Value(found) => found,
                        Seen::Op(node, view) => {
                            stack.push(self.frame(node, view)?);
                            continue;
                        }
                    }
                }
                None => {
                    let Some(Frame { node, view, args, table }) = stack.pop() else { continue };
                    let found = match table {
                        None => self.step(node, view, args)?,
                        Some(table) => self.lookup(view, *table, args)?,
                    };
                    self.done.insert((Arc::as_ptr(node), view), found);
                    found
                }
            };
            match stack.last_mut() {
                Some(top) => top.args.push(found),
                None => return Ok(found),
            }
        }
    }

    fn frame(&mut self, node: &'a Arc<Node>, view: u32) -> Result<Frame<'a>> {
        let table = match node.kind {
            NodeKind::Lookup => Some(Box::new(self.table(&node.args[0], view)?)),
            _ => None,
        };
        Ok(Frame { node, view, args: SmallVec::new(), table })
    }

    fn step(&mut self, node: &'a Arc<Node>, view: u32, mut args: SmallVec<[Value; 3]>) -> Result<Value> {
        for table in node.operands().1 {
            args.push(self.loop_table(node, view, table)?);
        }
        if matches!(node.kind, NodeKind::Op(op) if op.row().is_some_and(|row| row.commutative)) {
            args.sort_unstable();
        }
        match node.step(args, |step| self.program.steps.once(step)) {
            Some(found) => Ok(found),
            None => bail!(Kernel, "{node:?} is no operation"),
        }
    }

    /// The table of a lookup under a view.
    fn table(&self, mut node: &'a Arc<Node>, view: u32) -> Result<Table> {
        let mut seen = Layout::contiguous(&node.shape)?;
        let dtype = node.dtype;
        let source = loop {
            if let Some(&(stage, result)) = self.known.get(&Arc::as_ptr(node)) {
                break Source::Stage { stage, result };
            }
            let (NodeKind::Leaf { layout, .. } | NodeKind::View(layout)) = &node.kind else {
                bail!(Kernel, "{node:?} is looked up and not stored")
            };
            seen = match layout.under(&seen) {
                Some(both) => both,
                None => bail!(Kernel, "{layout:?} under {seen:?} is no layout"),
            };
            match &node.kind {
                NodeKind::Leaf { source, .. } => break source.clone(),
                _ => node = &node.args[0],
            }
        };
        Ok(Table {
            dtype,
            source,
            offset: seen.offset() as isize,
            layout: seen,
            strides: SmallVec::from_elem(0, self.views[view as usize].rank()),
            computed: Vec::new(),
            axes: 0,
        })
    }

    /// The next computed index of a lookup. Coordinates and constants before it are no values: they become part of the
    /// table's layout.
    fn next_index(
        &mut self,
        node: &'a Arc<Node>,
        view: u32,
        table: &mut Table,
    ) -> Result<Option<&'a Arc<Node>>> {
        while let Some(index) = node.args.get(table.axes + 1) {
            let (length, stride) = (table.layout.shape()[table.axes], table.layout.strides()[table.axes]);
            table.axes += 1;
            if length == 1 || stride == 0 {
                continue;
            }
            let Some((source, layout)) = self.leaf(index, &node.shape, view)? else {
                table.computed.push(Extent { length, stride });
                return Ok(Some(index));
            };
            table.walk(stride, source, &layout);
        }
        Ok(None)
    }

    /// A table of a loop under a view.
    fn loop_table(&mut self, node: &'a Arc<Node>, view: u32, own: LoopTable<'a>) -> Result<Value> {
        let mut table = self.table(own.table, view)?;
        let mut fixed = own.fixed.iter();
        for (axis, &open) in own.axes.iter().enumerate() {
            let (length, stride) = (table.layout.shape()[axis], table.layout.strides()[axis]);
            // An iteration names an index for each axis, even where the stride is 0.
            let Some(index) = (if open { None } else { fixed.next() }) else {
                table.computed.push(Extent { length, stride });
                continue;
            };
            let Some((source, layout)) = self.leaf(index, &node.shape, view)? else {
                bail!(Kernel, "{index:?} of a table is no coordinate under {:?}", self.views[view as usize])
            };
            table.walk(stride, source, &layout);
        }
        self.looked_up(view, table)
    }

    /// The coordinates or the constant that an operand is under a view, if it is one.
    fn leaf(
        &self,
        mut node: &'a Arc<Node>,
        shape: &Shape,
        view: u32,
    ) -> Result<Option<(&'a Source, Layout)>> {
        let mut seen = self.views[view as usize].clone();
        if node.shape != *shape {
            let Some(both) = Layout::contiguous(&node.shape)?.stretched(shape).under(&seen) else {
                return Ok(None);
            };
            seen = both;
        }
        loop {
            let (NodeKind::Leaf { layout, .. } | NodeKind::View(layout)) = &node.kind else {
                return Ok(None);
            };
            let Some(both) = layout.under(&seen) else { return Ok(None) };
            match &node.kind {
                NodeKind::Leaf { source: source @ (Source::Index(_) | Source::Scalar(_)), .. } => {
                    return Ok(Some((source, both)));
                }
                NodeKind::View(_) if !self.known.contains_key(&Arc::as_ptr(node)) => {
                    (node, seen) = (&node.args[0], both);
                }
                _ => return Ok(None),
            }
        }
    }

    /// A table as an input.
    fn looked_up(&mut self, view: u32, table: Table) -> Result<Value> {
        let Table { dtype, source, offset, strides, computed, .. } = table;
        let shape = self.views[view as usize].shape();
        let layout = Layout::strided(shape.clone(), &strides, offset.max(0) as usize, usize::MAX)?;
        Ok(self.program.input(Input { computed, ..Input::new(dtype, source, layout) }))
    }

    /// A lookup with its indices; a load, if all of them are coordinates and constants.
    fn lookup(&mut self, view: u32, table: Table, indices: SmallVec<[Value; 3]>) -> Result<Value> {
        let dtype = table.dtype;
        let table = self.looked_up(view, table)?;
        if indices.is_empty() {
            return Ok(table);
        }
        let args = std::iter::once(table).chain(indices).collect();
        Ok(self.program.steps.once(Step::new(Op::Lookup, DType::I32, dtype, args)))
    }
}
