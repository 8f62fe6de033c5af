//! Shapes, strides and offsets, views, and the broadcasting rules. Pure arithmetic: this folder knows neither storages
//! nor devices.

mod broadcast;
mod compose;
mod counts;
mod nest;
mod overlap;
mod range;
mod shape;
mod view;
mod windows;

use std::fmt;

use smallvec::SmallVec;

pub use broadcast::Broadcast;
pub(crate) use broadcast::{numpy, walked};
pub(crate) use nest::{Axes, Axis, Nest, Path, merge};
pub(crate) use overlap::distinct;
pub use range::{AxisIndex, IndexRange, IndexRanges, Integers};
pub use shape::{MAX_RANK, Shape};

use crate::error::{Result, bail};

/// Distances between neighbours along each axis, in elements.
pub(crate) type Strides = SmallVec<[isize; 6]>;

/// A map from indexes to elements of a storage: element `i` of the tensor is element
/// `offset + sum(i[k] * strides[k])` of the storage.
///
/// A stride of 0 repeats one element along its axis, so broadcasting copies nothing. A negative stride goes backwards.
///
/// ```
/// use zerostride::{Layout, Shape};
///
/// let row = Layout::contiguous([3])?;
/// let matrix = row.broadcast_to(&Shape::from([2, 3]))?;
/// assert_eq!(matrix.strides(), [0, 1]);
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Shape,
    strides: Strides,
    offset: usize,
}

impl Clone for Layout {
    fn clone(&self) -> Self {
        // Copies a slice. The derived form would push element by element.
        Layout { shape: self.shape.clone(), strides: Strides::from_slice(&self.strides), offset: self.offset }
    }
}

impl Layout {
    /// Row-major order from element 0 on: the last axis has stride 1.
    ///
    /// # Errors
    /// When the rank or the element count of `shape` is beyond the limit.
    pub fn contiguous(shape: impl Into<Shape>) -> Result<Self> {
        let shape = shape.into();
        shape.count()?;
        Ok(Self::row_major(shape, 0))
    }

    /// A layout of given strides (in elements) and offset, over a storage of `len` elements.
    ///
    /// # Errors
    /// When ranks differ, the count overflows, or an index would leave `0..len`.
    ///
    /// ```
    /// use zerostride::Layout;
    ///
    /// let diagonal = Layout::strided([3], &[4], 0, 9)?;
    /// assert_eq!(diagonal.addresses().collect::<Vec<_>>(), [0, 4, 8]);
    /// assert!(Layout::strided([4], &[4], 0, 9).is_err());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn strided(shape: impl Into<Shape>, strides: &[isize], offset: usize, len: usize) -> Result<Self> {
        let shape = shape.into();
        if shape.rank() != strides.len() {
            bail!(Shape, "{} strides for the {} axes of {shape}", strides.len(), shape.rank());
        }
        if shape.count()? == 0 {
            return Ok(Self::row_major(shape, 0));
        }
        let layout = Layout { shape, strides: strides.into(), offset };
        let (low, high) = layout.reach();
        if low < 0 || high >= len as i128 {
            bail!(
                Axis,
                "{} with strides {strides:?} from element {offset} reaches elements {low} to {high} of a storage that holds {len}",
                layout.shape
            );
        }
        Ok(layout)
    }

    /// Row-major strides for a shape whose count is known to be representable.
    fn row_major(shape: Shape, offset: usize) -> Self {
        let mut strides = Strides::from_elem(1, shape.rank());
        for axis in (1..shape.rank()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1) as isize;
        }
        Layout { shape, strides, offset }
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The distance between neighbours along each axis, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The storage element at index 0 of every axis.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements. Repeated ones count each time.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The number of elements. Repeated ones count once.
    pub(crate) fn distinct(&self) -> usize {
        distinct(&self.shape, &self.strides)
    }

    /// Whether the elements lie in row-major order without gaps, from any offset.
    pub fn is_contiguous(&self) -> bool {
        let mut step = 1;
        self.shape.contains(&0)
            || self.shape.iter().zip(&self.strides).rev().all(|(&n, &stride)| {
                let is_next = n == 1 || stride == step;
                step = step.saturating_mul(n as isize);
                is_next
            })
    }

    /// Storage addresses in row-major order of the indices. Slow: for tests and small work.
    pub fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count()).map(move |mut i| {
            let mut at = self.offset as isize;
            for (&n, &stride) in self.shape.iter().zip(&self.strides).rev() {
                at += (i % n) as isize * stride;
                i /= n;
            }
            at as usize
        })
    }

    /// The layout broadcast to a shape that NumPy's rule is known to allow: missing axes, and stretched ones, get
    /// stride 0.
    pub(crate) fn stretched(&self, shape: &Shape) -> Layout {
        let mut strides = Strides::from_elem(0, shape.rank());
        let missing = shape.rank() - self.rank();
        for (axis, (&n, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            if n == shape[missing + axis] {
                strides[missing + axis] = stride;
            }
        }
        Layout { shape: shape.clone(), strides, offset: self.offset }
    }

    /// The lowest and the highest element that a non-empty layout reaches.
    pub(crate) fn reach(&self) -> (i128, i128) {
        let start = self.offset as i128;
        self.shape.iter().zip(&self.strides).fold((start, start), |(low, high), (&n, &stride)| {
            let last = (n as i128 - 1) * stride as i128;
            (low + last.min(0), high + last.max(0))
        })
    }

    /// The same steps from another element.
    pub(crate) fn from(&self, offset: usize) -> Layout {
        Layout { offset, ..self.clone() }
    }

    /// The same addresses with fewer axes: axes of length 1 are dropped, and neighbours merge if they step as one axis.
    pub(crate) fn simplified(&self) -> Layout {
        let mut shape: SmallVec<[usize; 6]> = SmallVec::new();
        let mut strides = Strides::new();
        for (&n, &stride) in self.shape.iter().zip(&self.strides).filter(|&(&n, _)| n != 1) {
            match (shape.last_mut(), strides.last_mut()) {
                (Some(len), Some(outer)) if nest::is_one(*outer, stride, n) => {
                    *len *= n;
                    *outer = stride;
                }
                _ => {
                    shape.push(n);
                    strides.push(stride);
                }
            }
        }
        Layout { shape: shape.into_iter().collect(), strides, offset: self.offset }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} strides {:?} offset {}", self.shape, self.strides, self.offset)
    }
}
