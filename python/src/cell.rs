//! The elements that an array and its views share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zerostride::{AnyExpr, AnyTensor, Device, Layout, Result};

/// An expression that is not evaluated.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) expr: AnyExpr,
    /// The longest chain of operations in the expression.
    pub(crate) depth: u32,
    /// The number of elements of the largest operand.
    pub(crate) work: usize,
}

impl Part {
    pub(crate) fn new(expr: AnyExpr) -> Part {
        Part { expr, depth: 0, work: 0 }
    }
}

/// The depth and the work of an operation, from its operands.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost(u32, usize);

impl Cost {
    /// Adds an operand.
    pub(crate) fn with(&mut self, part: Part) -> AnyExpr {
        *self = Cost(self.0.max(part.depth), self.1.max(part.work));
        part.expr
    }

    /// The operation itself.
    pub(crate) fn of(self, expr: AnyExpr) -> Part {
        Part { expr, depth: self.0 + 1, work: self.1 }
    }
}

/// The source of a cell's elements.
pub(crate) enum State {
    Expr(Part),
    Tensor(AnyTensor),
}

/// The state, and the number of its changes.
struct Cell {
    state: State,
    version: u64,
    /// Whether a view needs a row-major tensor, as it is known by its strides alone.
    is_dense: bool,
}

/// How a view finds its elements among those of its cell.
type View = Arc<dyn Fn(&AnyExpr) -> AnyExpr + Send + Sync>;

/// The most views of views. More become one, by their strides.
const MOST_VIEWS: u32 = 32;

/// Where an array's elements are.
#[derive(Clone)]
pub(crate) struct At {
    cell: Arc<Mutex<Cell>>,
    /// The view and the number of views that it is made of. `None` for all elements.
    view: Option<(View, u32)>,
    /// The view's elements, computed before the cell's, at a version of the cell.
    seen: Option<(u64, AnyTensor)>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cell {
    /// The tensor, if its elements are in row-major order from the begin of its memory.
    fn dense(&self) -> Option<&AnyTensor> {
        let is_dense = |layout: &Layout| layout.is_contiguous() && layout.offset() == 0;
        match &self.state {
            State::Tensor(tensor) if is_dense(tensor.layout()) => Some(tensor),
            _ => None,
        }
    }

    /// The tensor, if no expression reads it.
    fn alone(&self) -> Option<&AnyTensor> {
        self.dense().filter(|tensor| !tensor.is_shared())
    }

    fn all(&self) -> AnyExpr {
        match &self.state {
            State::Tensor(tensor) => tensor.expr(),
            State::Expr(part) => part.expr.clone(),
        }
    }
}

impl At {
    pub(crate) fn new(state: State) -> At {
        let cell = Cell { state, version: 0, is_dense: false };
        At { cell: Arc::new(Mutex::new(cell)), view: None, seen: None }
    }

    /// A number of the cell.
    pub(crate) fn number(&self) -> usize {
        Arc::as_ptr(&self.cell) as usize
    }

    pub(crate) fn is_view(&self) -> bool {
        self.view.is_some()
    }

    /// All elements of the cell, if they are in memory in row-major order.
    pub(crate) fn stored(&self) -> Option<AnyTensor> {
        lock(&self.cell).dense().cloned()
    }

    /// All elements of the cell.
    pub(crate) fn whole(&self) -> At {
        At { view: None, ..self.clone() }
    }

    /// The elements of the view among all elements.
    pub(crate) fn among(&self, all: &AnyExpr) -> AnyExpr {
        self.view.as_ref().map_or_else(|| all.clone(), |(view, _)| view(all))
    }

    /// A view of the view.
    pub(crate) fn viewed(self, view: impl Fn(&AnyExpr) -> AnyExpr + Send + Sync + 'static) -> At {
        // A view of what is computed is computed.
        let seen = self.seen.and_then(|(version, seen)| Some((version, view(&seen).named().ok()??)));
        let view: (View, u32) = match self.view {
            None => (Arc::new(view), 1),
            Some((own, count)) => (Arc::new(move |all| view(&own(all))), count + 1),
        };
        At { cell: self.cell, view: Some(view), seen }
    }

    /// Makes one view of views of views.
    pub(crate) fn shorten(&mut self, device: &Device) -> Result<()> {
        let layout = self.dense(device)?.1;
        let view = move |all: &AnyExpr| all.as_strided(layout.shape(), layout.strides(), layout.offset());
        lock(&self.cell).is_dense = true;
        self.view = Some((Arc::new(view), 1));
        Ok(())
    }

    pub(crate) fn is_long(&self) -> bool {
        self.view.as_ref().is_some_and(|(_, count)| *count > MOST_VIEWS)
    }

    /// The elements, and the version of the cell that has them.
    pub(crate) fn part(&self) -> (Part, u64) {
        let cell = lock(&self.cell);
        let part = match (&cell.state, &self.seen) {
            (State::Tensor(tensor), _) => Part::new(self.among(tensor)),
            (_, Some((version, seen))) if *version == cell.version => Part::new(seen.expr()),
            (State::Expr(part), _) => Part { expr: self.among(&part.expr), ..*part },
        };
        (part, cell.version)
    }

    /// Keeps the elements of a version of the cell, so that they are computed once.
    pub(crate) fn keep(&mut self, tensor: &AnyTensor, version: u64) {
        let mut cell = lock(&self.cell);
        if cell.version == version && matches!(cell.state, State::Expr(_)) {
            match self.view {
                None => cell.state = State::Tensor(tensor.clone()),
                Some(_) => self.seen = Some((version, tensor.clone())),
            }
        }
    }

    /// Stores all elements of the cell in row-major order, if they are not yet, and finds the layout of the view of them.
    pub(crate) fn dense(&self, device: &Device) -> Result<(AnyTensor, Layout)> {
        let mut cell = lock(&self.cell);
        if cell.dense().is_none() {
            cell.state = State::Tensor(cell.all().eval_on(device)?);
        }
        let all = cell.all().tensor()?;
        let layout = self.among(&all).tensor()?.layout().clone();
        Ok((all, layout))
    }

    /// Whether other elements may take the place of the cell's: no view knows their places.
    pub(crate) fn is_whole(&self) -> bool {
        self.view.is_none() && !lock(&self.cell).is_dense
    }

    /// Gives the cell other elements.
    pub(crate) fn replace(&self, state: State) {
        let mut cell = lock(&self.cell);
        (cell.state, cell.version) = (state, cell.version + 1);
    }

    /// Writes a value to the elements that `key` selects. If an expression reads the same memory, it keeps its values: all
    /// elements are copied first, unless the value alone reads them.
    pub(crate) fn write(
        &self,
        device: &Device,
        mut value: AnyExpr,
        key: impl Fn(&AnyExpr) -> AnyExpr,
    ) -> Result<()> {
        let mut cell = lock(&self.cell);
        let place = |all: &AnyExpr| key(&self.among(all));
        if cell.alone().is_none() {
            value = value.eval_on(device)?.expr();
        }
        if cell.alone().is_none() {
            let all = cell.all();
            let covers = cell.dense().is_some_and(|tensor| {
                let place = place(tensor).named().ok().flatten();
                place.is_some_and(|place| place.layout() == tensor.layout())
            });
            let new = if covers { value.broadcast_to(all.shape()?.clone()) } else { all };
            cell.state = State::Tensor(new.eval_on(device)?);
        }
        cell.version += 1;
        cell.dense().map_or(Ok(()), |tensor| place(tensor).assign(value))
    }
}
