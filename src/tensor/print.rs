//! Tensors as text: their values in nested brackets, of long axes the ends.

use std::fmt::{self, Write};

use super::AnyTensor;
use crate::dtype::{DType, bf16, f16, for_each_dtype};
use crate::error::Result;

/// Elements up to which all are shown, and those at each end of an axis where not (NumPy's `threshold` and
/// `edgeitems`).
const ALL: usize = 1000;
const ENDS: usize = 3;

impl fmt::Debug for AnyTensor {
    /// The values, then what they are: `[1.0, 2.0], f32 [2] on cpu`. They are read from the device.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.shown().and_then(|shown| Ok((shown.shape().to_vec(), shown.texts(f.precision())?)));
        match values {
            Ok((lengths, texts)) => {
                let width = texts.iter().map(String::len).max().unwrap_or(0);
                let page = Page { full: self.shape(), lengths: &lengths, texts: &texts, width };
                page.write(f, 0, 0)?;
            }
            Err(error) => write!(f, "(not read: {})", error.message())?,
        }
        write!(f, ", {} {} on {}", self.dtype(), self.shape(), self.device().name())
    }
}

/// Values to be written, row by row.
struct Page<'a> {
    /// The lengths of the axes, and how much of each is shown.
    full: &'a [usize],
    lengths: &'a [usize],
    texts: &'a [String],
    width: usize,
}

impl Page<'_> {
    /// Writes what lies below the first `axis` axes, from value `first` on.
    fn write(&self, f: &mut fmt::Formatter<'_>, axis: usize, first: usize) -> fmt::Result {
        let Some(&length) = self.lengths.get(axis) else {
            let width = if axis == 0 { 0 } else { self.width };
            return write!(f, "{:>width$}", self.texts.get(first).map_or("", String::as_str));
        };
        let below = self.lengths.len() - axis - 1;
        let step: usize = self.lengths[axis + 1..].iter().product();
        f.write_char('[')?;
        for i in 0..length {
            if i > 0 {
                self.separate(f, axis, below)?;
            }
            if i == ENDS && length < self.full[axis] {
                f.write_str("...")?;
                self.separate(f, axis, below)?;
            }
            self.write(f, axis + 1, first + i * step)?;
        }
        f.write_char(']')
    }

    /// What stands between neighbours along an axis with so many axes below it.
    fn separate(&self, f: &mut fmt::Formatter<'_>, axis: usize, below: usize) -> fmt::Result {
        match below {
            0 => f.write_str(", "),
            _ => write!(f, ",{}{}", "\n".repeat(below), " ".repeat(axis + 1)),
        }
    }
}

impl AnyTensor {
    /// The elements that are shown.
    fn shown(&self) -> Result<AnyTensor> {
        let mut shown = self.clone();
        if self.shape().iter().product::<usize>() <= ALL {
            return Ok(shown);
        }
        for axis in (0..self.shape().rank()).filter(|&axis| self.shape()[axis] > 2 * ENDS) {
            let mut shape = shown.shape().clone();
            shape.iter_mut().skip(axis).take(1).for_each(|length| *length = 2 * ENDS);
            let (axis, ends) = (axis as isize, shown.device().zeros_any(self.dtype(), shape)?);
            ends.slice(axis, ..ENDS).assign(shown.slice(axis, ..ENDS))?;
            ends.slice(axis, ENDS..).assign(shown.slice(axis, -(ENDS as isize)..))?;
            shown = ends;
        }
        Ok(shown)
    }

    /// The elements, each as text of so many decimals.
    fn texts(&self, precision: Option<usize>) -> Result<Vec<String>> {
        macro_rules! texts {
            ($($(#[doc = $doc:literal])+ $tag:ident $t:ident: $kind:ident, $zero:tt, $classes:tt,
                |$x:ident| $word:expr, $extend:ident $fill:ident;)*) => {
                match self.dtype() {
                    $(DType::$tag => self.to_vec::<$t>()?.iter().map(|value| text(value, precision)).collect(),)*
                }
            };
        }
        Ok(for_each_dtype!(texts))
    }
}

fn text(value: &impl fmt::Debug, precision: Option<usize>) -> String {
    match precision {
        Some(decimals) => format!("{value:.decimals$?}"),
        None => format!("{value:?}"),
    }
}
