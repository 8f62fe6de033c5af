//! The builder: `AnyExpr`, whose element type is known at run time. `Expr` is its typed face.

use std::borrow::Borrow;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use super::axes::IntoAxis;
use super::compat;
use crate::dtype::DType;
use crate::error::{Error, Result, line};
use crate::ir::{Backend, Node, Op, Scalar, Source, Storage, result_type};
use crate::layout::{AxisIndex, Broadcast, Integers, Layout, Shape};

/// An [`Expr`](crate::Expr) whose element type is a value, for code that learns types at run time: files, other
/// languages, pages.
///
/// An expression of a static type holds one, and this does everything that the typed one does. Wrong types are mistakes
/// as wrong shapes are: building never fails, and the consumer of the expression returns the first mistake, with its
/// source line.
///
/// Expressions and tensors of either kind convert by `into()`, and [`typed`](AnyExpr::typed) converts back.
///
/// ```
/// use zerostride::{AnyExpr, DType, Device};
///
/// let device = Device::cpu();
/// let x = device.upload_bytes(&[1, 2, 3], DType::U8, [3])?;
/// let half = AnyExpr::scalar(DType::F32, 0.5);
/// let y = AnyExpr::call("mul", &[x.cast(DType::F32), half.clone()]);
/// assert_eq!(y.to_vec::<f32>()?, [0.5, 1.0, 1.5]);
///
/// let error = AnyExpr::call("mul", &[x.expr(), half]).eval().unwrap_err();
/// assert_eq!(error.message(), "mul takes operands of one type and got u8 and f32: cast one of them");
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyExpr {
    node: Result<Arc<Node>>,
}

impl From<&AnyExpr> for AnyExpr {
    fn from(expr: &AnyExpr) -> AnyExpr {
        expr.clone()
    }
}

impl AnyExpr {
    /// An expression, or a mistake.
    #[track_caller]
    pub(crate) fn new(node: Result<Arc<Node>>) -> Self {
        match node {
            Ok(node) => AnyExpr { node: Ok(node) },
            Err(error) => Self::mistake(error),
        }
    }

    /// A mistake at the line of the public call that this thread is inside of.
    #[track_caller]
    pub(crate) fn mistake(error: Error) -> Self {
        AnyExpr { node: Err(error.at(line().unwrap_or(Location::caller()))) }
    }

    pub(crate) fn node(&self) -> Result<&Arc<Node>> {
        self.node.as_ref().map_err(Error::clone)
    }

    /// The devices of the leaves, each once.
    pub(crate) fn backends(&self) -> Result<&[Arc<dyn Backend>]> {
        Ok(&self.node()?.devices)
    }

    /// A leaf over elements of a storage.
    pub(crate) fn leaf(storage: Storage, dtype: DType, layout: Layout) -> Self {
        AnyExpr { node: Ok(Node::leaf(dtype, Source::Tensor(storage), layout)) }
    }

    /// One value, of shape `[]`, by its bits.
    #[track_caller]
    pub(crate) fn constant(dtype: DType, bits: u64) -> Self {
        let leaf = |layout| Node::leaf(dtype, Source::Scalar(bits), layout);
        Self::new(Layout::contiguous([]).map(leaf))
    }

    /// One value, of shape `[]`: it broadcasts to any other. A value that the type does not hold is a mistake of the
    /// expression. Floats are rounded to the nearest of the type.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let nines = AnyExpr::scalar(DType::I16, 9).broadcast_to([2]);
    /// assert_eq!(nines.eval_on(&Device::cpu())?.to_vec::<i16>()?, [9, 9]);
    ///
    /// let error = AnyExpr::scalar(DType::U8, 256).shape().unwrap_err();
    /// assert_eq!(error.message(), "256 is no u8, which holds whole numbers from 0 to 255");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn scalar(dtype: DType, value: impl Into<Scalar>) -> Self {
        match value.into().to_bits(dtype) {
            Ok(bits) => Self::constant(dtype, bits),
            Err(error) => Self::mistake(error),
        }
    }

    /// One value of a shape, by stride 0: it takes no memory, and no device until it is evaluated
    /// ([`Expr::full`](crate::Expr::full)).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::full(DType::I16, [2, 2], 9).eval_on(&Device::cpu())?;
    /// assert_eq!(x.to_vec::<i16>()?, [9; 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn full(dtype: DType, shape: impl Into<Shape>, value: impl Into<Scalar>) -> AnyExpr {
        AnyExpr::scalar(dtype, value).broadcast_to(shape)
    }

    /// The type of the elements.
    ///
    /// # Errors
    /// The first mistake that was made while building.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType};
    ///
    /// let x = AnyExpr::scalar(DType::F16, 1.0);
    /// assert_eq!(AnyExpr::call("is_nan", &[x]).dtype()?, DType::Bool);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn dtype(&self) -> Result<DType> {
        Ok(self.node()?.dtype)
    }

    /// The shape of the result.
    ///
    /// # Errors
    /// The first mistake that was made while building.
    pub fn shape(&self) -> Result<&Shape> {
        Ok(&self.node()?.shape)
    }

    /// The coordinates along `axis` of a shape, of i32, without a tensor to take them from.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let columns = AnyExpr::iota([2, 2], 1).eval_on(&Device::cpu())?;
    /// assert_eq!(columns.to_vec::<i32>()?, [0, 1, 0, 1]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn iota(shape: impl Into<Shape>, axis: impl AxisIndex) -> AnyExpr {
        let layout = Layout::coordinate(&shape.into(), axis.signed());
        let leaf = |layout| Node::leaf(DType::I32, Source::Index(None), layout);
        Self::new(layout.map(leaf))
    }

    /// Every element converted to `dtype`, by the rules of [`Expr::cast`](crate::Expr::cast).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[-1.5_f32, 300.0], [2])?);
    /// assert_eq!(x.cast(DType::U8).to_vec::<u8>()?, [0, 255]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> AnyExpr {
        match self.node() {
            Ok(node) if node.dtype != dtype => Self::new(Node::op(Op::Cast, dtype, &[node])),
            _ => self.clone(),
        }
    }

    /// `a` where this is true, otherwise `b`. The three broadcast together. This must be bool, and both values must
    /// have one type.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1, -2], [2])?);
    /// let zero = AnyExpr::scalar(DType::I32, 0);
    /// let above = AnyExpr::call("gt", &[x.clone(), zero.clone()]);
    /// assert_eq!(above.select(&x, zero).to_vec::<i32>()?, [1, 0]);
    ///
    /// let error = x.select(&x, &x).eval().unwrap_err();
    /// assert_eq!(error.message(), "select takes a condition of bool and got i32: compare or cast it");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn select(&self, a: impl Into<AnyExpr>, b: impl Into<AnyExpr>) -> AnyExpr {
        apply(Op::Select, &[self, &a.into(), &b.into()])
    }

    /// An op of this operand.
    #[track_caller]
    pub(crate) fn map(&self, op: Op) -> AnyExpr {
        apply(op, &[self])
    }

    /// An op of this and another operand.
    #[track_caller]
    pub(crate) fn op(&self, op: Op, other: impl Borrow<AnyExpr>) -> AnyExpr {
        apply(op, &[self, other.borrow()])
    }

    /// Another shape: a view, or a copy if no strides lead through the elements.
    #[track_caller]
    pub(crate) fn reshaped(&self, lengths: impl Integers) -> AnyExpr {
        let lengths = lengths.signed_all();
        let view = self.reshape(&lengths[..]);
        match view.node() {
            Ok(_) => view,
            Err(_) => Self::new(self.node().map(Node::laid_out)).reshape(&lengths[..]),
        }
    }

    /// This expression and its axis, or all elements along one.
    pub(super) fn along_one(&self, axis: impl IntoAxis) -> (AnyExpr, isize) {
        match axis.into_axis() {
            Some(axis) => (self.clone(), axis),
            None => (self.reshaped([-1]), 0),
        }
    }

    /// This expression under a view, or the mistake.
    #[track_caller]
    pub(crate) fn view(&self, view: impl Fn(&Layout) -> Result<Layout>) -> AnyExpr {
        Self::new(self.node().and_then(|node| node.view(&view)))
    }
}

impl Broadcast {
    /// [`align`](Self::align) for operands with types at run time.
    ///
    /// # Errors
    /// When the rule refuses the shapes, or an operand holds a mistake.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Broadcast, DType, Device};
    ///
    /// let device = Device::cpu();
    /// let x = device.zeros_any(DType::F32, [2, 3, 4])?;
    /// let per_row = device.zeros_any(DType::F32, [3])?;
    /// let (x, per_row) = Broadcast::Pdpd { axis: 1 }.align_any(&x, &per_row)?;
    /// assert_eq!(AnyExpr::call("add", &[x, per_row]).shape()?, &[2, 3, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn align_any(&self, a: impl Into<AnyExpr>, b: impl Into<AnyExpr>) -> Result<(AnyExpr, AnyExpr)> {
        let (a, b, at) = (a.into(), b.into(), Location::caller());
        if let Broadcast::Explicit { .. } = self {
            let b_shape = b.shape()?;
            let a = a.view(|layout| self.layout_to(layout, b_shape));
            a.node()?;
            return Ok((a, b));
        }
        let joint = self.align_shapes(a.shape()?, b.shape()?).map_err(|e| e.at(at))?;
        let place = |start: usize| {
            let shape = &joint.shape;
            move |layout: &Layout| layout.place(start, shape.rank()).broadcast_to(shape)
        };
        let (a, b) = (a.view(place(joint.starts[0])), b.view(place(joint.starts[1])));
        a.node()?;
        b.node()?;
        Ok((a, b))
    }
}

/// One op, or the first mistake: of an operand, of the types, of the shapes.
#[track_caller]
pub(crate) fn apply(op: Op, operands: &[impl Borrow<AnyExpr>]) -> AnyExpr {
    let at = Location::caller();
    let build = || {
        // Pushed one by one: collecting costs more than a few operands.
        let (mut nodes, mut types) = (SmallVec::<[&Arc<Node>; 3]>::new(), SmallVec::<[DType; 3]>::new());
        for operand in operands {
            let node = operand.borrow().node()?;
            nodes.push(node);
            types.push(node.dtype);
        }
        let node = Node::op(op, result_type(op, &types)?, &nodes)?;
        compat::check(&nodes, at);
        Ok(node)
    };
    AnyExpr::new(build())
}
