//! Tensors as text: values in nested brackets, with the middle of long axes left out.

use std::fmt::{self, Write};

use super::AnyTensor;
use crate::dtype::{DType, bf16, f16, for_each_dtype};
use crate::error::{Error, Result};

/// Long axes are shortened from this many elements on, and keep these lengths, from the last axis on: half of the
/// length at each end. Numbers and form are those of the crate `ndarray`.
const MANY: usize = 500;
const KEPT: [usize; 3] = [11, 11, 6];

impl fmt::Debug for AnyTensor {
    /// The values as the crate `ndarray` writes them, then type, shape and device: `[1.0, 2.0], f32 [2] on cpu`. They
    /// are read from the device. Width and precision apply to each element, and `{:#?}` shortens no axis.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown(f.alternate()) {
            Ok(shown) => shown.write_values(f, self.shape())?,
            Err(error) => not_read(f, &error)?,
        }
        write!(f, ", {} {} on {}", self.dtype(), self.shape(), self.device().name())
    }
}

fn not_read(f: &mut fmt::Formatter<'_>, error: &Error) -> fmt::Result {
    write!(f, "(not read: {})", error.message())
}

/// The shown length of an axis with this many axes below it.
fn kept(below: usize) -> usize {
    KEPT[below.min(KEPT.len() - 1)]
}

/// Values to write, row by row.
struct Page<'a, T> {
    /// The lengths of the axes, and the shown part of each.
    full: &'a [usize],
    lengths: &'a [usize],
    values: &'a [T],
}

impl<T: fmt::Debug> Page<'_, T> {
    /// Writes the values below the first `axis` axes, from value `first` on.
    fn write(&self, f: &mut fmt::Formatter<'_>, axis: usize, first: usize) -> fmt::Result {
        let Some(&length) = self.lengths.get(axis) else {
            return self.values.get(first).map_or(Ok(()), |value| value.fmt(f));
        };
        let below = self.lengths.len() - axis - 1;
        let step: usize = self.lengths[axis + 1..].iter().product();
        f.write_char('[')?;
        for i in 0..length {
            if i > 0 {
                separate(f, axis, below)?;
            }
            if i == length / 2 && length < self.full[axis] {
                f.write_str("...")?;
                separate(f, axis, below)?;
            }
            self.write(f, axis + 1, first + i * step)?;
        }
        f.write_char(']')
    }
}

/// The separator along an axis with this many axes below it.
fn separate(f: &mut fmt::Formatter<'_>, axis: usize, below: usize) -> fmt::Result {
    match below {
        0 => f.write_str(", "),
        _ => write!(f, ",{}{}", "\n".repeat(below), " ".repeat(axis + 1)),
    }
}

impl AnyTensor {
    /// The shown elements.
    fn shown(&self, all: bool) -> Result<AnyTensor> {
        let (mut shown, rank) = (self.clone(), self.shape().rank());
        if all || self.shape().iter().product::<usize>() < MANY {
            return Ok(shown);
        }
        for axis in 0..rank {
            let kept = kept(rank - axis - 1);
            if self.shape()[axis] <= kept {
                continue;
            }
            let half = kept / 2;
            let shape = shown.shape().with(axis, 2 * half);
            let (axis, ends) = (axis as isize, shown.device().zeros_any(self.dtype(), shape)?);
            ends.slice(axis, ..half).assign(shown.slice(axis, ..half))?;
            ends.slice(axis, half..).assign(shown.slice(axis, -(half as isize)..))?;
            shown = ends;
        }
        Ok(shown)
    }

    /// Writes all elements, as the shown ones of a shape.
    fn write_values(&self, f: &mut fmt::Formatter<'_>, full: &[usize]) -> fmt::Result {
        if full.contains(&0) {
            return write!(f, "{}{}", "[".repeat(full.len()), "]".repeat(full.len()));
        }
        macro_rules! write_all {
            ($($(#[doc = $doc:literal])+ $tag:ident $t:ident: $kind:ident, $zero:tt, $classes:tt,
                |$x:ident| $word:expr, $extend:ident $fill:ident;)*) => {
                match self.dtype() {
                    $(DType::$tag => match self.to_vec::<$t>() {
                        Ok(values) => Page { full, lengths: self.shape(), values: &values }.write(f, 0, 0),
                        Err(error) => not_read(f, &error),
                    },)*
                }
            };
        }
        for_each_dtype!(write_all)
    }
}
