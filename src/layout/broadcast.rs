//! The broadcasting rules of NumPy, PaddlePaddle, OpenVINO and PyTorch, as values of one type.

use std::fmt;

use super::shape::equal_counts;
use super::{Layout, MAX_RANK, Shape};
use crate::error::{Error, ErrorKind, Result, bail};

/// A broadcasting rule: which shapes it accepts, and the result's shape.
///
/// A rule aligns operands: it returns views that stretch axes with stride 0, so later operators see equal shapes. The
/// operators of [`Expr`](crate::Expr) use [`Broadcast::NumPy`].
///
/// ```
/// use zerostride::Broadcast;
///
/// assert_eq!(Broadcast::NumPy.shape(&[2, 3, 1, 5], &[3, 4, 1])?, [2, 3, 4, 5]);
/// assert_eq!(Broadcast::Pdpd { axis: 1 }.shape(&[2, 3, 4, 5], &[3, 4])?, [2, 3, 4, 5]);
/// assert!(Broadcast::None.shape(&[1], &[3]).is_err());
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Broadcast {
    /// Shapes must be equal (OpenVINO `NONE`).
    None,
    /// Axes align at the end, and a missing axis counts as 1. For each axis the lengths are equal, or one is 1 and
    /// stretches (NumPy, PyTorch, ONNX, OpenVINO `NUMPY`, PaddlePaddle's default). 1 against 0 is 0. A shape without
    /// axes, `[]`, follows the same rule.
    NumPy,
    /// The second operand is laid onto the first from `axis` on, and none of its lengths may
    /// exceed the first one's (OpenVINO `PDPD`; ONNX before opset 7, `broadcast=1`). An axis of -1,
    /// the default there, means `rank(a) - rank(b)`; one below -1 is an error.
    ///
    /// Documents of both systems ignore trailing 1s of the second operand. OpenVINO counts them:
    /// it refuses an operand that sticks out, and so does this rule.
    ///
    /// ```
    /// use zerostride::Broadcast;
    ///
    /// let rule = Broadcast::Pdpd { axis: 3 };
    /// let error = rule.shape(&[2, 3, 4, 5], &[5, 1]).unwrap_err();
    /// assert!(error.message().ends_with(": drop the trailing 1 of [5, 1]"));
    /// assert_eq!(rule.shape(&[2, 3, 4, 5], &[5])?, [2, 3, 4, 5]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    Pdpd {
        /// Where the second operand begins, or -1.
        axis: isize,
    },
    /// The operand of smaller rank begins at `axis` of the other. Then NumPy's rule applies in both directions
    /// (PaddlePaddle `axis`). An axis of -1, the default there, means the difference of the ranks; an axis below -1 is
    /// an error. Trailing 1s count, as for [`Pdpd`](Self::Pdpd).
    Paddle {
        /// Where the smaller operand begins, or -1.
        axis: isize,
    },
    /// NumPy's rule between an input and a target shape, which may stretch too: the result may have longer axes than
    /// the target, and more of them (OpenVINO Broadcast-3 `BIDIRECTIONAL`, ONNX Expand).
    ///
    /// ```
    /// use zerostride::Broadcast;
    ///
    /// assert_eq!(Broadcast::Bidirectional.shape(&[2, 3], &[3])?, [2, 3]);
    /// assert_eq!(Broadcast::Bidirectional.shape(&[3, 1], &[2, 1, 6])?, [2, 3, 6]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    Bidirectional,
    /// Axis `k` of the input becomes axis `axes[k]` of the target (OpenVINO `EXPLICIT`).
    Explicit {
        /// One target axis per input axis, strictly increasing.
        axes: Vec<usize>,
    },
}

/// Returns a shape error at an axis.
macro_rules! bail_on {
    ($axis:expr, $($text:tt)*) => {
        return Err(Error::new(ErrorKind::Shape, format!($($text)*)).on_axis($axis))
    };
}

/// Where the operands of a rule begin in the result, and the result's shape.
pub(crate) struct Alignment {
    pub starts: [usize; 2],
    pub shape: Shape,
}

impl Broadcast {
    /// The result of broadcasting `a` with `b`. For [`Bidirectional`](Self::Bidirectional) and
    /// [`Explicit`](Self::Explicit), `a` is the input and `b` the target.
    ///
    /// # Errors
    /// When the rule refuses the shapes; the text names shapes, axis, lengths and rule.
    pub fn shape(&self, a: &[usize], b: &[usize]) -> Result<Shape> {
        Ok(self.align_shapes(&a.into(), &b.into())?.shape)
    }

    /// The result of broadcasting any number of shapes; for no shape it is `[]`. Only [`None`](Self::None) and
    /// [`NumPy`](Self::NumPy) take another number than two.
    ///
    /// # Errors
    /// When the rule refuses the shapes or their number.
    ///
    /// ```
    /// use zerostride::{Broadcast, Shape};
    ///
    /// let shapes = [Shape::from([8, 1]), Shape::from([3]), Shape::from([])];
    /// assert_eq!(Broadcast::NumPy.shape_of(&shapes)?, [8, 3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn shape_of(&self, shapes: &[Shape]) -> Result<Shape> {
        match (self, shapes) {
            (_, [a, b]) => self.shape(a, b),
            (Broadcast::NumPy, _) => numpy(shapes),
            (Broadcast::None, []) => Ok(Shape::default()),
            (Broadcast::None, [first, rest @ ..]) => {
                for shape in rest {
                    self.shape(first, shape)?;
                }
                Ok(first.clone())
            }
            _ => bail!(Shape, "the {self} rule takes 2 operands and not {}", shapes.len()),
        }
    }

    /// The result of stretching `input` to `target` in one direction: each axis of the input is 1
    /// or equal, new axes lead, -1 keeps an axis (NumPy `broadcast_to`, PyTorch `expand`).
    ///
    /// # Errors
    /// When an axis can neither stay nor stretch, or -1 names a new axis.
    pub fn expand(input: &[usize], target: &[isize]) -> Result<Shape> {
        let input = Shape::from(input);
        let Some(lead) = target.len().checked_sub(input.rank()) else {
            bail!(
                Shape,
                "cannot expand {input} to {target:?}: the target has {} axes and needs at least {} (expand rule)",
                target.len(),
                input.rank()
            );
        };
        let mut shape = Vec::with_capacity(target.len());
        for (k, &want) in target.iter().enumerate() {
            let own = k.checked_sub(lead).map(|i| input[i]);
            shape.push(match (usize::try_from(want), own) {
                (Ok(n), Some(own)) if own == n || own == 1 => n,
                (Ok(n), None) => n,
                (Err(_), Some(own)) if want == -1 => own,
                (Ok(n), Some(own)) => bail!(
                    Shape,
                    "cannot expand {input} to {target:?}: axis {k} has length {own} and not 1 or {n} (expand rule)"
                ),
                (Err(_), None) if want == -1 => bail!(
                    Shape,
                    "cannot expand {input} to {target:?}: axis {k} is new, so -1 has no length to keep (expand rule)"
                ),
                (Err(_), _) => bail!(
                    Shape,
                    "cannot expand {input} to {target:?}: {want} is no length (expand rule)"
                ),
            });
        }
        let shape = Shape::from(shape);
        shape.count()?;
        Ok(shape)
    }

    /// Checks that sources of the given joint shape may be assigned to a destination in place: the
    /// broadcast of both must be the destination's shape, rank included (PyTorch's in-place rule).
    /// So a source of `[1, 3]` is refused by a destination of `[3]`.
    ///
    /// # Errors
    /// When the rule refuses it.
    ///
    /// ```
    /// use zerostride::Broadcast;
    ///
    /// assert!(Broadcast::in_place(&[2, 3], &[3]).is_ok());
    /// assert!(Broadcast::in_place(&[3], &[1, 3]).is_err());
    /// assert!(Broadcast::in_place(&[1], &[0]).is_err());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn in_place(destination: &[usize], source: &[usize]) -> Result<()> {
        let (to, from) = (Shape::from(destination), Shape::from(source));
        match numpy(&[to.clone(), from.clone()]) {
            Ok(shape) if shape == to => Ok(()),
            Ok(shape) => bail!(
                Shape,
                "cannot assign {from} to {to}: together they broadcast to {shape} and a destination keeps its shape (in-place rule)"
            ),
            Err(error) => {
                let Some(k) = error.axis() else { return Err(error) };
                let rank = to.rank().max(from.rank());
                let [own, other] = [&to, &from].map(|shape| length(shape, k, rank - shape.rank()));
                let both = equal_counts(&[to.clone(), from.clone()]);
                bail_on!(
                    k,
                    "cannot assign {from} to {to}: axis {k} has lengths {own} and {other} (in-place rule){both}"
                )
            }
        }
    }

    /// Where operands of shapes `a` and `b` begin in the result, and the result.
    pub(crate) fn align_shapes(&self, a: &Shape, b: &Shape) -> Result<Alignment> {
        let at_end = |rank: usize| [rank - a.rank(), rank - b.rank()];
        let (starts, shape) = match self {
            Broadcast::None => {
                if a != b {
                    bail!(Shape, "cannot combine {a} with {b}: the shapes differ (none rule)");
                }
                ([0, 0], a.clone())
            }
            Broadcast::NumPy | Broadcast::Bidirectional => {
                let shape = numpy_as(&[a.clone(), b.clone()], self)?;
                (at_end(shape.rank()), shape)
            }
            Broadcast::Pdpd { axis } => {
                let starts = [0, self.start(*axis, a, b)?];
                self.no_longer(a, b, starts[1])?;
                (starts, joined(&[a.clone(), b.clone()], a.rank(), |i| starts[i], self)?)
            }
            Broadcast::Paddle { .. } if a == b => ([0, 0], a.clone()),
            Broadcast::Paddle { axis } if a.rank() == b.rank() && !(-1..=0).contains(axis) => bail!(
                Shape,
                "cannot broadcast {a} with {b}: axis {axis} is neither -1 nor 0 for equal ranks ({self} rule){}",
                self.trailing_ones(*axis, a, b)
            ),
            Broadcast::Paddle { axis } => {
                let swap = a.rank() < b.rank();
                let (larger, smaller) = if swap { (b, a) } else { (a, b) };
                if *axis >= larger.rank() as isize && a.rank() != b.rank() {
                    bail!(
                        Shape,
                        "cannot broadcast {a} with {b}: axis {axis} is out of range for {larger} ({self} rule)"
                    );
                }
                let starts = [0, self.start(*axis, larger, smaller)?];
                let both = [larger.clone(), smaller.clone()];
                let shape = joined(&both, larger.rank(), |i| starts[i], self)?;
                (if swap { [starts[1], 0] } else { starts }, shape)
            }
            Broadcast::Explicit { axes } => {
                return self.explicit(a, b, axes);
            }
        };
        shape.count()?;
        Ok(Alignment { starts, shape })
    }

    /// The axis of `larger` at which `smaller` begins.
    fn start(&self, axis: isize, larger: &Shape, smaller: &Shape) -> Result<usize> {
        let Some(lead) = larger.rank().checked_sub(smaller.rank()) else {
            bail!(
                Shape,
                "cannot broadcast {larger} with {smaller}: the second operand has more axes ({self} rule){}",
                self.trailing_ones(axis, larger, smaller)
            );
        };
        let start = match usize::try_from(axis) {
            Ok(start) => start,
            Err(_) if axis == -1 => lead,
            Err(_) => bail!(
                Shape,
                "cannot broadcast {larger} with {smaller}: axis {axis} is below -1 ({self} rule)"
            ),
        };
        if start > lead {
            bail!(
                Shape,
                "cannot broadcast {larger} with {smaller}: {} axes from axis {start} on do not fit in {} ({self} rule){}",
                smaller.rank(),
                larger.rank(),
                self.trailing_ones(axis, larger, smaller)
            );
        }
        Ok(start)
    }

    /// The remedy for a smaller operand that sticks out by trailing 1s alone, which documents of the rules ignore.
    /// Empty if dropping them does not help.
    fn trailing_ones(&self, axis: isize, larger: &Shape, smaller: &Shape) -> String {
        let out =
            (axis.max(0).saturating_add_unsigned(smaller.rank()) as usize).saturating_sub(larger.rank());
        let kept = smaller.rank().checked_sub(out).filter(|&kept| smaller[kept..].iter().all(|&n| n == 1));
        let fits = kept
            .is_some_and(|kept| out > 0 && self.align_shapes(larger, &Shape::from(&smaller[..kept])).is_ok());
        match out {
            _ if !fits => String::new(),
            1 => format!(": drop the trailing 1 of {smaller}"),
            _ => format!(": drop {out} trailing 1s of {smaller}"),
        }
    }

    /// OpenVINO's demand that the second operand never stretches the first.
    fn no_longer(&self, a: &Shape, b: &Shape, start: usize) -> Result<()> {
        match (0..b.rank()).find(|&k| b[k] > a[start + k]) {
            None => Ok(()),
            Some(k) => bail_on!(
                start + k,
                "cannot broadcast {a} with {b}: axis {} has lengths {} and {}, and the second may not be the longer ({self} rule)",
                start + k,
                a[start + k],
                b[k]
            ),
        }
    }

    fn explicit(&self, input: &Shape, target: &Shape, axes: &[usize]) -> Result<Alignment> {
        let head = format!("cannot broadcast {input} to {target}");
        let one_for_scalar = input.is_empty() && axes.len() == 1;
        if axes.len() != input.rank() && !one_for_scalar {
            bail!(Shape, "{head}: {} axes for an input of rank {} ({self} rule)", axes.len(), input.rank());
        }
        if !axes.windows(2).all(|w| w[0] < w[1]) {
            bail!(Shape, "{head}: the axes are not strictly increasing ({self} rule)");
        }
        for (k, &axis) in axes.iter().enumerate() {
            let own = input.get(k).copied().unwrap_or(1);
            match target.get(axis) {
                None => bail!(Shape, "{head}: axis {axis} is out of range for the target ({self} rule)"),
                Some(&n) if own == n || (own == 1 && !one_for_scalar) => {}
                Some(&n) => bail_on!(axis, "{head}: axis {axis} has lengths {own} and {n} ({self} rule)"),
            }
        }
        target.count()?;
        Ok(Alignment { starts: [0, 0], shape: target.clone() })
    }

    /// A view of `input` with the shape that the rule computes for it and `target`. A rule for two operands begins the
    /// input at its axis of the target.
    pub(crate) fn layout_to(&self, input: &Layout, target: &Shape) -> Result<Layout> {
        if let Broadcast::Pdpd { .. } = self {
            let Alignment { starts, shape } = self.align_shapes(target, input.shape())?;
            return input.place(starts[1], shape.rank()).broadcast_to(&shape);
        }
        let Alignment { starts, shape } = self.align_shapes(input.shape(), target)?;
        let Broadcast::Explicit { axes } = self else {
            return input.place(starts[0], shape.rank()).broadcast_to(&shape);
        };
        // Place the input's axes in the target's rank. The other axes have length 1 until they stretch.
        let mut spread = input.clone();
        for k in 0..shape.rank() {
            if input.rank() == 0 || !axes.contains(&k) {
                spread = spread.unsqueeze(k as isize)?;
            }
        }
        spread.broadcast_to(&shape)
    }
}

/// The length by NumPy's rule for one axis.
fn join(a: usize, b: usize) -> Option<usize> {
    match (a, b) {
        (1, n) | (n, 1) => Some(n),
        (a, b) if a == b => Some(a),
        _ => None,
    }
}

/// NumPy's rule over any number of shapes.
pub(crate) fn numpy(shapes: &[Shape]) -> Result<Shape> {
    let shape = walked(shapes)?;
    shape.count()?;
    Ok(shape)
}

/// The same for a shape that is never stored, which may have more elements than memory has addresses.
pub(crate) fn walked(shapes: &[Shape]) -> Result<Shape> {
    numpy_as(shapes, &Broadcast::NumPy)
}

fn numpy_as(shapes: &[Shape], rule: &Broadcast) -> Result<Shape> {
    let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    if rank > MAX_RANK {
        bail!(Overflow, "a shape of rank {rank} exceeds the limit of {MAX_RANK} axes");
    }
    joined(shapes, rank, |i| rank - shapes[i].rank(), rule)
}

/// NumPy's rule per axis of a result of `rank` axes. Each shape begins at an axis of it, by the shape's number.
fn joined(shapes: &[Shape], rank: usize, start: impl Fn(usize) -> usize, rule: &Broadcast) -> Result<Shape> {
    let mut result: Shape = std::iter::repeat_n(1, rank).collect();
    for (k, joint) in result.iter_mut().enumerate() {
        for (i, shape) in shapes.iter().enumerate() {
            let n = length(shape, k, start(i));
            match join(*joint, n) {
                Some(joined) => *joint = joined,
                None => {
                    let all = shapes.iter().map(Shape::to_string).collect::<Vec<_>>().join(" with ");
                    let both = equal_counts(shapes);
                    bail_on!(
                        k,
                        "cannot broadcast {all}: axis {k} has lengths {joint} and {n} ({rule} rule){both}"
                    )
                }
            }
        }
    }
    Ok(result)
}

/// The length of an axis of the result along a shape that begins at some axis.
fn length(shape: &Shape, axis: usize, begin: usize) -> usize {
    axis.checked_sub(begin).and_then(|own| shape.get(own)).copied().unwrap_or(1)
}

impl fmt::Display for Broadcast {
    /// The rule's name as errors print it: `numpy`, `pdpd axis 1`, ...
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broadcast::None => f.write_str("none"),
            Broadcast::NumPy => f.write_str("numpy"),
            Broadcast::Pdpd { axis } => write!(f, "pdpd axis {axis}"),
            Broadcast::Paddle { axis } => write!(f, "paddle axis {axis}"),
            Broadcast::Bidirectional => f.write_str("bidirectional"),
            Broadcast::Explicit { axes } => write!(f, "explicit axes {axes:?}"),
        }
    }
}
