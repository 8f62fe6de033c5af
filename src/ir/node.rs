//! Nodes of the graph: leaves, operations on earlier nodes, and views of nodes.

use std::fmt;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{AxisOp, Backend, Body, Kept, Loop, Node, NodeKind, Op, Operands, Source, Step, Value};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

impl Source {
    /// Whether its elements lie in memory.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self, Source::Tensor(_) | Source::Slot(_) | Source::Stage { .. })
    }

    /// Whether it is the result of a reduction of its row, in the same program.
    pub(crate) fn is_row(&self) -> bool {
        matches!(self, Source::Row(_))
    }

    /// Whether both name the same elements. Constants are not compared, since equal values must not decide which kernel
    /// runs.
    pub(crate) fn is_same(&self, other: &Source) -> bool {
        match (self, other) {
            (Source::Tensor(a), Source::Tensor(b)) => a.same(b),
            (Source::Slot(a), Source::Slot(b)) => a == b,
            (Source::Stage { stage: a, result: i }, Source::Stage { stage: b, result: j }) => {
                (a, i) == (b, j)
            }
            (Source::Row(a), Source::Row(b)) => a == b,
            (Source::State(a), Source::State(b)) => a == b,
            (Source::Index(_), Source::Index(_)) => true,
            _ => false,
        }
    }
}

impl NodeKind {
    /// Whether its elements are computed from its operands' elements, so that any kernel may contain it.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(self, NodeKind::Op(_) | NodeKind::Lookup | NodeKind::Body(..))
    }

    /// The operation along axes, if one program may hold it with the steps of its operand, and with other results.
    pub(crate) fn reads_once(&self) -> Option<&AxisOp> {
        match self {
            NodeKind::Axis(op) if op.operands() == Operands::Once => Some(op),
            _ => None,
        }
    }

    /// Whether it needs kernels of its own, which read each element of its operands once for all results.
    pub(crate) fn is_apart(&self) -> bool {
        matches!(self, NodeKind::Join(_) | NodeKind::Axis(_)) && self.reads_once().is_none()
    }

    /// Whether its result is always stored.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self, NodeKind::Shared | NodeKind::Join(_) | NodeKind::Axis(_))
    }
}

/// A table that a loop looks up.
#[derive(Clone, Copy)]
pub(crate) struct LoopTable<'a> {
    pub table: &'a Arc<Node>,
    /// The axes whose index an iteration computes.
    pub axes: &'a [bool],
    /// The indices of the other axes: coordinates and constants.
    pub fixed: &'a [Arc<Node>],
}

/// The devices of some nodes, each once.
fn devices(nodes: &[&Arc<Node>]) -> SmallVec<[Arc<dyn Backend>; 1]> {
    let mut devices: SmallVec<[Arc<dyn Backend>; 1]> = SmallVec::new();
    for device in nodes.iter().flat_map(|node| &node.devices) {
        let is_it =
            |known: &Arc<dyn Backend>| Arc::ptr_eq(known, device) || known.identity() == device.identity();
        if !devices.iter().any(is_it) {
            devices.push(device.clone());
        }
    }
    devices
}

/// The shape to which some nodes broadcast.
pub(super) fn together(nodes: &[&Arc<Node>]) -> Result<Shape> {
    match nodes {
        [one] => Ok(one.shape.clone()),
        _ => crate::layout::walked(&nodes.iter().map(|node| node.shape.clone()).collect::<Vec<_>>()),
    }
}

impl Node {
    pub(crate) fn leaf(dtype: DType, source: Source, layout: Layout) -> Arc<Node> {
        let devices = match &source {
            Source::Tensor(storage) => smallvec![storage.backend.clone()],
            Source::Index(Some(device)) => smallvec![device.clone()],
            _ => SmallVec::new(),
        };
        Node::leaf_on(dtype, source, layout, devices)
    }

    fn leaf_on(
        dtype: DType,
        source: Source,
        layout: Layout,
        devices: SmallVec<[Arc<dyn Backend>; 1]>,
    ) -> Arc<Node> {
        let shape = layout.shape().clone();
        Arc::new(Node {
            dtype,
            shape,
            kind: NodeKind::Leaf { source, layout },
            args: SmallVec::new(),
            devices,
            schedule: Kept::default(),
        })
    }

    /// One value of any shape, on the devices of `like`.
    pub(crate) fn constant(dtype: DType, bits: u64, layout: Layout, like: &Node) -> Arc<Node> {
        Node::leaf_on(dtype, Source::Scalar(bits), layout, like.devices.clone())
    }

    pub(crate) fn op(op: Op, dtype: DType, args: &[&Arc<Node>]) -> Result<Arc<Node>> {
        let shape = match args {
            [only] => only.shape.clone(),
            [a, b] if a.shape == b.shape || b.shape.rank() == 0 => a.shape.clone(),
            [a, b] if a.shape.rank() == 0 => b.shape.clone(),
            _ => {
                let shapes: SmallVec<[Shape; 3]> = args.iter().map(|arg| arg.shape.clone()).collect();
                crate::layout::numpy(&shapes)?
            }
        };
        Ok(Node::of(dtype, shape, NodeKind::Op(op), args))
    }

    /// A result of a function or a loop, of operands that broadcast to a shape.
    pub(crate) fn body(
        body: Body,
        result: usize,
        dtype: DType,
        shape: Shape,
        args: &[&Arc<Node>],
    ) -> Arc<Node> {
        Node::of(dtype, shape, NodeKind::Body(body, result), args)
    }

    fn of(dtype: DType, shape: Shape, kind: NodeKind, args: &[&Arc<Node>]) -> Arc<Node> {
        let devices = devices(args);
        let mut own = SmallVec::new();
        args.iter().for_each(|&arg| own.push(arg.clone()));
        Arc::new(Node { dtype, shape, kind, args: own, devices, schedule: Kept::default() })
    }

    /// The same expression, on the devices of some other operands too.
    pub(crate) fn on_devices_of(self: &Arc<Node>, operands: &[&Arc<Node>]) -> Arc<Node> {
        let all: SmallVec<[&Arc<Node>; 4]> = std::iter::once(self).chain(operands.iter().copied()).collect();
        let devices = devices(&all);
        if devices.len() == self.devices.len() {
            return self.clone();
        }
        let Node { dtype, ref shape, ref kind, ref args, .. } = **self;
        let (shape, kind, args) = (shape.clone(), kind.clone(), args.clone());
        Arc::new(Node { dtype, shape, kind, args, devices, schedule: Kept::default() })
    }

    /// The same with other operands, of the same shapes and types.
    pub(crate) fn with(&self, args: SmallVec<[Arc<Node>; 3]>) -> Arc<Node> {
        Node::of(self.dtype, self.shape.clone(), self.kind.clone(), &args.iter().collect::<Vec<_>>())
    }

    /// An operation along axes of operands, which broadcast.
    pub(crate) fn along(op: AxisOp, operands: &[&Arc<Node>]) -> Result<Arc<Node>> {
        let element = operands[0].dtype;
        let Some(dtype) = op.result(element) else { bail!(Kernel, "{} of {element}", op.name()) };
        let over = together(&operands[..op.broadcast(operands.len())])?;
        Ok(Node::of(dtype, op.shape(&over), NodeKind::Axis(op), operands))
    }

    /// Elements of a table at indices, one for each of its axes, which broadcast together.
    pub(crate) fn lookup(table: &Arc<Node>, indices: &[&Arc<Node>]) -> Result<Arc<Node>> {
        let shapes: SmallVec<[Shape; 4]> = indices.iter().map(|index| index.shape.clone()).collect();
        let shape = crate::layout::numpy(&shapes)?;
        let table = table.stored();
        let args: SmallVec<[&Arc<Node>; 4]> =
            std::iter::once(&table).chain(indices.iter().copied()).collect();
        Ok(Node::of(table.dtype, shape, NodeKind::Lookup, &args))
    }

    /// Operands of one type side by side along an axis. Their shapes may differ along it alone.
    pub(crate) fn join(axis: usize, parts: &[&Arc<Node>]) -> Arc<Node> {
        let shape = parts[0].shape.with(axis, parts.iter().map(|part| part.shape[axis]).sum());
        Node::of(parts[0].dtype, shape, NodeKind::Join(axis), parts)
    }

    /// The same expression, with its elements in memory when they are read.
    pub(crate) fn stored(self: &Arc<Node>) -> Arc<Node> {
        match self.kind {
            NodeKind::Leaf { source: Source::Tensor(_), .. } => self.clone(),
            // Coordinates and constants.
            NodeKind::Leaf { .. } => self.laid_out(),
            _ => self.shared(),
        }
    }

    /// The same expression, stored even if it is a view of a stored one.
    pub(crate) fn laid_out(self: &Arc<Node>) -> Arc<Node> {
        match self.kind.is_stored() {
            true => self.clone(),
            false => Node::of(self.dtype, self.shape.clone(), NodeKind::Shared, &[self]),
        }
    }

    /// The same expression under a view.
    pub(crate) fn view(self: &Arc<Node>, view: &dyn Fn(&Layout) -> Result<Layout>) -> Result<Arc<Node>> {
        let dense = Layout::contiguous(&self.shape)?;
        // The view of the shape alone comes first, so that errors name the user's shapes.
        let viewed = view(&dense)?;
        match &self.kind {
            NodeKind::Leaf { source, layout } => {
                Ok(Node::leaf_on(self.dtype, source.clone(), view(layout)?, self.devices.clone()))
            }
            _ if viewed == dense => Ok(self.clone()),
            NodeKind::View(layout) => {
                let layout = view(layout)?;
                Ok(Node::of(self.dtype, layout.shape().clone(), NodeKind::View(layout), &[&self.args[0]]))
            }
            _ => Ok(Node::of(self.dtype, viewed.shape().clone(), NodeKind::View(viewed), &[self])),
        }
    }

    /// Its value among flat steps, whose operands are these values. `once` adds a step or finds the equal one. `None`
    /// if it is no step.
    pub(crate) fn step(
        &self,
        args: SmallVec<[Value; 3]>,
        mut once: impl FnMut(Step) -> Value,
    ) -> Option<Value> {
        let step = |op, args, body| Step { body: Some(body), ..Step::new(op, self.dtype, self.dtype, args) };
        match &self.kind {
            NodeKind::Op(op) => {
                let dtype = self.args.last().map_or(self.dtype, |last| last.dtype);
                Some(once(Step::new(*op, dtype, self.dtype, args)))
            }
            NodeKind::Body(body @ Body::Loop(own), state) => {
                let all = Step::new(Op::Repeat, DType::U32, own.args[0], args);
                let all = once(Step { body: Some(body.clone()), ..all });
                Some(once(step(Op::State, smallvec![all], Body::State(*state))))
            }
            NodeKind::Body(body, _) => Some(once(step(Op::Call, args, body.clone()))),
            _ => None,
        }
    }

    /// Its operands, without a loop's tables; and these tables, each with the axes whose index an iteration computes
    /// and the indices of the others.
    pub(crate) fn operands(&self) -> (&[Arc<Node>], Vec<LoopTable<'_>>) {
        let NodeKind::Body(Body::Loop(own), _) = &self.kind else { return (&self.args, Vec::new()) };
        // The first operand is the number of iterations.
        let (values, mut rest) = self.args.split_at(1 + own.values());
        let tables = own.tables.iter().map_while(|axes| {
            let (table, after) = rest.split_first()?;
            let (fixed, after) = after.split_at(axes.iter().filter(|open| !**open).count());
            rest = after;
            Some(LoopTable { table, axes, fixed })
        });
        let tables = tables.collect();
        (values, tables)
    }

    /// Whether both are the same elements, as far as their operands show.
    pub(crate) fn is_same(self: &Arc<Node>, other: &Arc<Node>) -> bool {
        let (mut a, mut b) = (self, other);
        loop {
            match (&a.kind, &b.kind) {
                _ if Arc::ptr_eq(a, b) => return true,
                (NodeKind::Leaf { source, layout }, NodeKind::Leaf { source: other, layout: under }) => {
                    return a.dtype == b.dtype && layout == under && source.is_same(other);
                }
                (NodeKind::View(layout), NodeKind::View(other)) if layout == other => {}
                (NodeKind::Shared, NodeKind::Shared) => {}
                _ => return false,
            }
            (a, b) = (&a.args[0], &b.args[0]);
        }
    }

    /// The most iterations of its loop, if it is a loop's result.
    pub(crate) fn turns(&self) -> u64 {
        self.of_loop(&|_| 1)
    }

    /// The sum over its loop's iterations, if it is a loop's result. `each` returns the figure of one iteration.
    pub(crate) fn of_loop(&self, each: &dyn Fn(&Loop) -> u64) -> u64 {
        let told = |arg: usize| match self.args.get(arg)?.kind {
            NodeKind::Leaf { source: Source::Scalar(bits), .. } => Some(bits),
            _ => None,
        };
        match &self.kind {
            NodeKind::Body(Body::Loop(own), _) => own.total(told(0), &|arg| told(arg + 1), each),
            _ => 0,
        }
    }

    /// Its operation, in a word.
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            NodeKind::Leaf { .. } => "leaf",
            NodeKind::Op(op) => op.name(),
            NodeKind::Body(body, _) => body.name(),
            NodeKind::View(_) => "view",
            NodeKind::Lookup => "lookup",
            NodeKind::Join(_) => "concat",
            NodeKind::Axis(op) => op.name(),
            NodeKind::Shared => "shared",
        }
    }

    /// The same expression, computed once and stored wherever it is read.
    pub(crate) fn shared(self: &Arc<Node>) -> Arc<Node> {
        match self.kind {
            NodeKind::Leaf { .. } => self.clone(),
            NodeKind::View(_) if self.args[0].kind.is_stored() => self.clone(),
            _ => self.laid_out(),
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.args.iter().all(|arg| arg.args.is_empty()) {
            return;
        }
        // The last owner of a node takes its operands out before it is dropped, so that a deep graph needs no deep stack.
        let mut args = std::mem::take(&mut self.args);
        let mut left: SmallVec<[Arc<Node>; 8]> = SmallVec::new();
        loop {
            while let Some(arg) = args.pop() {
                if !arg.args.is_empty() {
                    left.push(arg);
                }
            }
            let Some(mut node) = left.pop() else { return };
            match Arc::get_mut(&mut node) {
                Some(node) => args = std::mem::take(&mut node.args),
                // Another owner may drop it at the same time, and exactly one of both is the last.
                None => {
                    if let Some(mut node) = Arc::into_inner(node) {
                        args = std::mem::take(&mut node.args);
                    }
                }
            }
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {}", self.name(), self.dtype, self.shape)
    }
}
