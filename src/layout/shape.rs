//! Lengths of axes, and the checked products over them.

use std::fmt;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{Result, bail};

/// The most axes that a tensor may have.
pub const MAX_RANK: usize = 128;

/// The lengths of a tensor's axes, outermost first. Rank 0 (`[]`) is a single element; an axis
/// of length 0 makes the tensor empty.
///
/// ```
/// use zerostride::Shape;
///
/// let shape = Shape::from([2, 3, 4]);
/// assert_eq!(shape.rank(), 3);
/// assert_eq!(shape.count()?, 24);
/// assert_eq!(shape.to_string(), "[2, 3, 4]");
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[usize; 6]>);

impl Clone for Shape {
    fn clone(&self) -> Self {
        // Copies a slice. The derived form would push element by element.
        Shape(SmallVec::from_slice(&self.0))
    }
}

impl Shape {
    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements.
    ///
    /// # Errors
    /// When the rank exceeds [`MAX_RANK`] or the product overflows. An axis of length 0 does not hide an overflow of
    /// the others, since the strides of such a shape do not exist either.
    pub fn count(&self) -> Result<usize> {
        if self.rank() > MAX_RANK {
            bail!(Overflow, "a shape of rank {} exceeds the limit of {MAX_RANK} axes", self.rank());
        }
        let product = self.0.iter().filter(|&&n| n != 0).try_fold(1usize, |p, &n| p.checked_mul(n));
        match product.filter(|&p| isize::try_from(p).is_ok()) {
            Some(_) if self.0.contains(&0) => Ok(0),
            Some(count) => Ok(count),
            None => bail!(Overflow, "the element count of {self} overflows {} bits", usize::BITS),
        }
    }

    /// The bytes of this many elements of a type.
    pub(crate) fn bytes(&self, dtype: DType) -> Result<usize> {
        match self.count()?.checked_mul(dtype.size()) {
            Some(bytes) => Ok(bytes),
            None => bail!(Overflow, "the size of {self} {dtype} in bytes overflows"),
        }
    }

    /// The same with another length of an axis.
    pub(crate) fn with(&self, axis: usize, length: usize) -> Shape {
        self.iter().enumerate().map(|(k, &n)| if k == axis { length } else { n }).collect()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, usize> {
        self.0.iter_mut()
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(lengths: I) -> Self {
        Shape(lengths.into_iter().collect())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(lengths: [usize; N]) -> Self {
        Shape(SmallVec::from_slice(&lengths))
    }
}

impl From<&[usize]> for Shape {
    fn from(lengths: &[usize]) -> Self {
        Shape(SmallVec::from_slice(lengths))
    }
}

impl From<Vec<usize>> for Shape {
    fn from(lengths: Vec<usize>) -> Self {
        Shape(lengths.into())
    }
}

impl From<&Vec<usize>> for Shape {
    fn from(lengths: &Vec<usize>) -> Self {
        lengths.as_slice().into()
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Shape {
    fn eq(&self, other: &[usize; N]) -> bool {
        self.0.as_slice() == other
    }
}

/// The remedy for two shapes that do not broadcast but have equally many elements, which PyTorch once combined as 1-D.
/// Otherwise empty.
pub(super) fn equal_counts(shapes: &[Shape]) -> String {
    match shapes {
        [a, b] => match (a.count(), b.count()) {
            (Ok(n), Ok(m)) if n == m && n > 0 => format!("; both have {n} elements: reshape one"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}
