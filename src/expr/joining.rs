//! Tensors of other tensors' elements: joined, with borders, moved around, repeated.

use std::sync::Arc;

use super::both::{built, on_both};
use super::{AnyExpr, Expr, IntoExpr};
use crate::dtype::{DType, Element};
use crate::error::{Result, bail};
use crate::ir::{Node, Op, Scalar};
use crate::layout::{AxisIndex, Integers, Layout, Shape};

/// The borders of [`pad`](Expr::pad), by NumPy's names.
///
/// ```
/// use zerostride::{Device, Pad};
///
/// let x = Device::cpu().upload(&[1, 2, 3], [3])?;
/// assert_eq!(x.pad([(2, 2)], Pad::constant(9)).to_vec()?, [9, 9, 1, 2, 3, 9, 9]);
/// assert_eq!(x.pad([(2, 2)], Pad::Edge).to_vec()?, [1, 1, 1, 2, 3, 3, 3]);
/// assert_eq!(x.pad([(2, 2)], Pad::Reflect).to_vec()?, [3, 2, 1, 2, 3, 2, 1]);
/// assert_eq!(x.pad([(2, 2)], Pad::Wrap).to_vec()?, [2, 3, 1, 2, 3, 1, 2]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pad {
    /// A value of the element type.
    Constant(Scalar),
    /// The nearest element.
    Edge,
    /// The elements on the other side of the edge, whose own element is not repeated.
    Reflect,
    /// The elements from the other end on.
    Wrap,
}

impl Pad {
    /// [`Constant`](Pad::Constant) with a value.
    pub fn constant(value: impl Into<Scalar>) -> Pad {
        Pad::Constant(value.into())
    }
}

/// The most views that one call makes. Each takes a few hundred bytes.
pub(super) const MOST_VIEWS: usize = 1 << 20;

on_both! {
    /// Tensors of this one's elements.
    examples of i32 ["[1, 2, 3, 4, 5, 6], [2, 3]", "# use zerostride::Pad;"];

    /// The elements moved along some axes, by a shift for each. Elements that leave at one end come in at the other
    /// (NumPy and PyTorch `roll`). A positive shift moves them towards the end. It fuses with its readers, so periodic
    /// borders of a stencil cost nothing more.
    roll(shifts: impl Integers, axes: impl Integers) -> T, "x.roll([1], [1])" => "[3, 1, 2, 6, 4, 5]",
        |x| x.rolled(&shifts.signed_all(), &axes.signed_all());
    /// With a number of elements before and after each axis, as a pair for every axis (NumPy `pad`). Borders longer
    /// than the axis repeat it.
    pad(widths: impl AsRef<[(usize, usize)]>, pad: Pad) -> T, "x.pad([(0, 0), (1, 0)], Pad::Edge)" => "[1, 1, 2, 3, 4, 4, 5, 6]",
        |x| x.padded(widths.as_ref(), pad);
    /// The whole tensor, repeated along each axis by a number for each. More numbers than axes make new leading axes
    /// (NumPy and PyTorch `tile`; candle and PyTorch call it `repeat` too). With fewer numbers the first axes stay.
    tile(times: impl AsRef<[usize]>) -> T, "x.slice(1, ..2).tile([2])" => "[1, 2, 1, 2, 4, 5, 4, 5]",
        |x| x.tiled(times.as_ref());
    /// Each element repeated along an axis (NumPy `repeat`, PyTorch `repeat_interleave`).
    repeat_interleave(times: usize, axis: impl AxisIndex) -> T, "x.slice(1, ..2).repeat_interleave(2, 1)" => "[1, 1, 2, 2, 4, 4, 5, 5]",
        |x| x.repeated(times, axis.signed());
    /// The slices at each index of an axis, without that axis (PyTorch `unbind`): views, in order.
    ///
    /// # Errors
    /// When there is no such axis, it is longer than 2^20, or the expression holds a mistake.
    unbind(axis: impl AxisIndex) -> (T, Result<Vec<AnyExpr>> | Result<Vec<Expr<T>>>), "x.unbind(1)?[2]" => "[3, 6]", |x| {
        let shape = x.shape()?;
        let axis = Layout::contiguous(shape)?.axis(axis.signed())?;
        if shape[axis] > MOST_VIEWS {
            bail!(
                Limit,
                "unbind of axis {axis} of {shape}, which has length {}: it makes at most {MOST_VIEWS} views, so take slices",
                shape[axis]
            );
        }
        let part = |i: usize| {
            let (axis, i) = (axis as isize, i as isize);
            x.view(|layout| layout.slice(axis, i..i + 1, 1)?.squeeze(axis))
        };
        Ok((0..shape[axis]).map(part).collect())
    };
}

impl AnyExpr {
    /// Tensors side by side along an axis. Their shapes may differ along it alone (PyTorch `concat`, NumPy
    /// `concatenate`, candle `cat`). Each is computed at its place in the result.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let device = Device::cpu();
    /// let x = AnyExpr::from(device.upload(&[1, 2, 3, 4], [2, 2])?);
    /// let y = AnyExpr::from(device.upload(&[5, 6], [2, 1])?);
    /// assert_eq!(AnyExpr::concat(&[x, y], 1).to_vec::<i32>()?, [1, 2, 5, 3, 4, 6]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn concat(parts: &[AnyExpr], axis: impl AxisIndex) -> AnyExpr {
        built(|| joined(parts, axis.signed()))
    }

    /// Tensors of one shape along a new axis before index `axis` of the result (NumPy, PyTorch and candle
    /// `stack`).
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let device = Device::cpu();
    /// let x = AnyExpr::from(device.upload(&[1, 2], [2])?);
    /// let y = AnyExpr::from(device.upload(&[3, 4], [2])?);
    /// assert_eq!(AnyExpr::stack(&[x, y], -1).to_vec::<i32>()?, [1, 3, 2, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn stack(parts: &[AnyExpr], axis: impl AxisIndex) -> AnyExpr {
        built(|| stacked(parts, axis.signed()))
    }

    fn rolled(&self, shifts: &[isize], axes: &[isize]) -> Result<AnyExpr> {
        let node = self.node()?;
        if shifts.len() != axes.len() {
            bail!(
                Axis,
                "roll of {} takes a shift for each axis and got {} for {}",
                node.shape,
                shifts.len(),
                axes.len()
            );
        }
        let layout = Layout::contiguous(&node.shape)?;
        let mut all: Vec<isize> = vec![0; node.shape.rank()];
        for (&shift, &axis) in shifts.iter().zip(axes) {
            let axis = layout.axis(axis)?;
            // The shifts of an axis that is named several times add up.
            let length = node.shape[axis].max(1) as isize;
            all[axis] = (all[axis] + shift.rem_euclid(length)) % length;
        }
        if node.shape.contains(&0) {
            return Ok(self.clone());
        }
        let moved = |place: &Place<'_>| {
            let shift = all[place.axis] as i64;
            let c = place.coordinate();
            Ok(if shift == 0 { c } else { place.select(Op::Ge, &c, shift, -shift, place.length - shift) })
        };
        self.placed(&node.shape, &[], moved, None)
    }

    fn padded(&self, widths: &[(usize, usize)], pad: Pad) -> Result<AnyExpr> {
        let node = self.node()?;
        if widths.len() != node.shape.rank() {
            bail!(
                Axis,
                "pad of {} takes widths for each axis, {} in all, and got {}",
                node.shape,
                node.shape.rank(),
                widths.len()
            );
        }
        let mut shape = node.shape.clone();
        for (axis, (length, &(before, after))) in shape.iter_mut().zip(widths).enumerate() {
            if *length == 0 && (before, after) != (0, 0) && !matches!(pad, Pad::Constant(_)) {
                bail!(
                    Shape,
                    "cannot pad {} with elements of its own: axis {axis} has length 0, so choose a constant",
                    node.shape
                );
            }
            *length = match length.checked_add(before).and_then(|n| n.checked_add(after)) {
                Some(sum) => sum,
                None => bail!(Overflow, "axis {axis} of {length} padded by {before} and {after} overflows"),
            };
        }
        shape.count()?;
        let fill = match pad {
            Pad::Constant(value) => Some(value.to_bits(node.dtype)?),
            _ => None,
        };
        if node.shape.contains(&0) || shape.contains(&0) {
            return self.of_constant(fill.unwrap_or(0), &shape);
        }
        let index = |place: &Place<'_>| {
            let (before, after) = widths[place.axis];
            if (before, after) == (0, 0) {
                return Ok(place.coordinate());
            }
            let (n, longest) = (place.length, before.max(after) as i64);
            let i = place.op(Op::Sub, &place.coordinate(), before as i64);
            Ok(match pad {
                Pad::Constant(_) | Pad::Edge => place.op(Op::Max, &place.op(Op::Min, &i, n - 1), 0),
                Pad::Wrap if longest <= n => {
                    let i = place.select(Op::Lt, &i, 0, n, 0);
                    place.select(Op::Ge, &i, n, -n, 0)
                }
                Pad::Wrap => place.op(Op::RemFloor, &i, n),
                Pad::Reflect if n == 1 => place.op(Op::Mul, &i, 0),
                Pad::Reflect => {
                    let period = 2 * (n - 1);
                    let i = if longest < n { i } else { place.op(Op::RemFloor, &i, period) };
                    // Reflected at either end.
                    let i = i.map(Op::Abs);
                    let back = place.op(Op::Sub, &i, n - 1);
                    let back = back.map(Op::Abs);
                    AnyExpr::scalar(DType::I32, n - 1).op(Op::Sub, &back)
                }
            })
        };
        let own: Vec<(usize, usize)> = match pad {
            Pad::Constant(_) => widths.to_vec(),
            _ => Vec::new(),
        };
        self.placed(&shape, &own, index, fill)
    }

    /// Elements at indices that are computed from a shape's coordinates, one for each axis and inside of it. With a
    /// constant border, other elements are the constant.
    fn placed(
        &self,
        shape: &Shape,
        borders: &[(usize, usize)],
        index: impl Fn(&Place<'_>) -> Result<AnyExpr>,
        fill: Option<u64>,
    ) -> Result<AnyExpr> {
        let node = self.node()?;
        let place = |axis: usize| Place { shape, axis, length: node.shape[axis] as i64 };
        if let Some(axis) = shape.iter().position(|&n| i32::try_from(n).is_err()) {
            bail!(Limit, "axis {axis} of {shape} is indexed, and an index is below 2^31: take a slice of it");
        }
        let indices = (0..shape.rank()).map(|axis| index(&place(axis))).collect::<Result<Vec<_>>>()?;
        let found = self.found(&indices)?;
        let mut inside: Option<AnyExpr> = None;
        for (axis, &(before, after)) in borders.iter().enumerate() {
            let own = place(axis);
            let (c, before, end) = (own.coordinate(), before as i64, before as i64 + own.length);
            let truths = [
                (before > 0).then(|| own.op(Op::Ge, &c, before)),
                (after > 0).then(|| own.op(Op::Lt, &c, end)),
            ];
            for truth in truths.into_iter().flatten() {
                inside = Some(match inside {
                    Some(all) => all.op(Op::And, &truth),
                    None => truth,
                });
            }
        }
        Ok(match (inside, fill) {
            (Some(inside), Some(fill)) => inside.select(found, AnyExpr::constant(node.dtype, fill)),
            _ => found,
        })
    }

    fn tiled(&self, times: &[usize]) -> Result<AnyExpr> {
        let node = self.node()?;
        let rank = node.shape.rank().max(times.len());
        let lead = rank - node.shape.rank();
        let length = |axis: usize| axis.checked_sub(lead).map_or(1, |k| node.shape[k]);
        let count = |axis: usize| (axis + times.len()).checked_sub(rank).map_or(1, |k| times[k]);
        let axes = (0..rank).map(|axis| (count(axis), length(axis)));
        self.again(axes.map(|(times, n)| [(times, false), (n, true)]), rank)
    }

    fn repeated(&self, times: usize, axis: isize) -> Result<AnyExpr> {
        let node = self.node()?;
        let own = Layout::contiguous(&node.shape)?.axis(axis)?;
        let axes = node.shape.iter().enumerate().map(|(k, &n)| (n, if k == own { times } else { 1 }));
        self.again(axes.map(|(n, times)| [(n, true), (times, false)]), node.shape.rank())
    }

    /// Each axis as two, one of the operand and one that repeats it, stored as one. An axis that is repeated once has
    /// no second, so that the rank in between is not twice the operand's.
    fn again(&self, axes: impl Iterator<Item = [(usize, bool); 2]>, rank: usize) -> Result<AnyExpr> {
        let (mut apart, mut stretched): (Vec<isize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut shape = Vec::with_capacity(rank);
        for pair in axes {
            let [(a, _), (b, _)] = pair;
            match a.checked_mul(b) {
                Some(n) => shape.push(n as isize),
                None => bail!(Overflow, "an axis of {a} elements repeated {b} times: the length overflows"),
            }
            for (n, is_own) in pair.into_iter().filter(|&(n, is_own)| is_own || n != 1) {
                apart.push(if is_own { n as isize } else { 1 });
                stretched.push(n);
            }
        }
        Shape::from(&stretched[..]).count()?;
        let (stretched, own) = (Shape::from(stretched), self.node()?.shape.count()?);
        let all = self.reshape(&apart).broadcast_to(stretched.clone());
        // A result that repeats nothing is a view.
        if own == stretched.count()? && own > 0 {
            return Ok(self.reshape(&shape));
        }
        let stored = all.node().map(Node::laid_out)?;
        Ok(AnyExpr::new(Ok(stored)).reshape(&shape))
    }
}

/// An axis of a result with elements along one of the operand's.
struct Place<'a> {
    shape: &'a Shape,
    axis: usize,
    /// Of the operand's axis.
    length: i64,
}

impl Place<'_> {
    fn coordinate(&self) -> AnyExpr {
        AnyExpr::iota(self.shape.clone(), self.axis as isize)
    }

    fn op(&self, op: Op, a: &AnyExpr, b: i64) -> AnyExpr {
        a.op(op, AnyExpr::scalar(DType::I32, b))
    }

    /// `i + more` where a comparison with a number holds, otherwise `i + less`.
    fn select(&self, op: Op, i: &AnyExpr, than: i64, more: i64, less: i64) -> AnyExpr {
        let add = |by: i64| if by == 0 { i.clone() } else { self.op(Op::Add, i, by) };
        self.op(op, i, than).select(add(more), add(less))
    }
}

fn joined(parts: &[AnyExpr], axis: isize) -> Result<AnyExpr> {
    let nodes = parts.iter().map(AnyExpr::node).collect::<Result<Vec<&Arc<Node>>>>()?;
    let [first, rest @ ..] = nodes.as_slice() else {
        bail!(Operation, "concat takes one tensor at least and got none");
    };
    let axis = Layout::contiguous(&first.shape)?.axis(axis)?;
    let mut length = 0_usize;
    for (i, node) in nodes.iter().enumerate() {
        if node.dtype != first.dtype {
            bail!(
                Type,
                "concat takes operands of one type and got {} and {}: cast one of them",
                first.dtype,
                node.dtype
            );
        }
        let rank = first.shape.rank();
        let differs = |k: usize| k != axis && node.shape[k] != first.shape[k];
        if node.shape.rank() != rank || (0..rank).any(differs) {
            bail!(
                Shape,
                "cannot concat {} and {} along axis {axis}: operand {i} differs in another axis",
                first.shape,
                node.shape
            );
        }
        length = match length.checked_add(node.shape[axis]) {
            Some(sum) => sum,
            None => bail!(Overflow, "the length of {} operands along axis {axis} overflows", nodes.len()),
        };
    }
    if rest.is_empty() {
        return Ok(parts[0].clone());
    }
    // An operand without elements adds none, but keeps the device.
    let some: Vec<&Arc<Node>> = nodes.iter().copied().filter(|node| node.shape[axis] > 0).collect();
    let node = match some.as_slice() {
        [] => nodes[0].clone(),
        [only] => (*only).clone(),
        all => Node::join(axis, all),
    };
    let node = node.on_devices_of(&nodes);
    node.shape.count()?;
    Ok(AnyExpr::new(Ok(node)))
}

fn stacked(parts: &[AnyExpr], axis: isize) -> Result<AnyExpr> {
    let Some(first) = parts.first() else {
        bail!(Operation, "stack takes one tensor at least and got none");
    };
    for part in parts {
        if part.shape()? != first.shape()? {
            bail!(Shape, "cannot stack {} and {}: their shapes differ", first.shape()?, part.shape()?);
        }
    }
    let apart: Vec<AnyExpr> = parts.iter().map(|part| part.unsqueeze(axis)).collect();
    // Counted with the new axis.
    let rank = first.shape()?.rank() as isize + 1;
    joined(&apart, if axis < 0 { axis + rank } else { axis })
}

impl<T: Element> Expr<T> {
    /// Tensors side by side along an axis. Their shapes may differ along it alone (PyTorch `concat`, NumPy
    /// `concatenate`, candle `cat`). Each is computed at its place in the result.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let device = Device::cpu();
    /// let (x, y) = (device.upload(&[1, 2, 3, 4], [2, 2])?, device.upload(&[5, 6], [1, 2])?);
    /// assert_eq!(Expr::concat([&x, &y], 0).to_vec()?, [1, 2, 3, 4, 5, 6]);
    ///
    /// let error = Expr::concat([&x, &y], 1).eval().unwrap_err();
    /// assert_eq!(error.message(), "cannot concat [2, 2] and [1, 2] along axis 1: operand 1 differs in another axis");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn concat<E: IntoExpr<T>>(parts: impl IntoIterator<Item = E>, axis: impl AxisIndex) -> Expr<T> {
        let parts: Vec<AnyExpr> = parts.into_iter().map(|part| part.into_expr().any).collect();
        Expr::face(AnyExpr::concat(&parts, axis))
    }

    /// Tensors of one shape along a new axis before index `axis` of the result (NumPy, PyTorch and candle
    /// `stack`).
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let device = Device::cpu();
    /// let (x, y) = (device.upload(&[1, 2], [2])?, device.upload(&[3, 4], [2])?);
    /// assert_eq!(Expr::stack([&x, &y], 1).to_vec()?, [1, 3, 2, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn stack<E: IntoExpr<T>>(parts: impl IntoIterator<Item = E>, axis: impl AxisIndex) -> Expr<T> {
        let parts: Vec<AnyExpr> = parts.into_iter().map(|part| part.into_expr().any).collect();
        Expr::face(AnyExpr::stack(&parts, axis))
    }
}
