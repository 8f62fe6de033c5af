//! Windows: each stride is used twice, for the begin of windows and for their elements.

use super::{Layout, Shape};
use crate::error::{Result, bail};

impl Layout {
    /// Windows of `lengths` along `axes`, which become the last axes, one for each length. Axis `k` then counts where
    /// windows begin: every `steps[k]`-th index at which one fits. Elements of a window lie `dilations[k]` indexes apart.
    /// If an axis is named twice, the second windows are over the places where the first ones begin.
    ///
    /// With steps and dilations of 1 it is NumPy's `sliding_window_view`, and along one axis PyTorch's `unfold`.
    ///
    /// # Errors
    /// When an axis does not exist or is shorter than a window, the lists differ in length, a step or a dilation is
    /// below 1, or the element count overflows.
    ///
    /// ```
    /// use zerostride::Layout;
    ///
    /// let x = Layout::contiguous([5, 6])?;
    /// let windows = x.windows(&[3, 2], &[0, 1], &[1, 1], &[1, 1])?;
    /// assert_eq!((windows.shape().to_vec(), windows.strides()), (vec![3, 5, 3, 2], &[6, 1, 6, 1][..]));
    /// let apart = x.windows(&[2], &[0], &[2], &[3])?;
    /// assert_eq!((apart.shape().to_vec(), apart.strides()), (vec![1, 6, 2], &[6, 1, 18][..]));
    ///
    /// let error = x.windows(&[7], &[1], &[1], &[1]).unwrap_err();
    /// assert_eq!(error.message(), "windows of [5, 6]: a window of 7 along axis 1, which has length 6: pad it, or take a shorter one");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn windows(
        &self,
        lengths: &[isize],
        axes: &[isize],
        steps: &[isize],
        dilations: &[isize],
    ) -> Result<Layout> {
        for (name, list) in [("lengths", lengths), ("steps", steps), ("dilations", dilations)] {
            if list.len() != axes.len() {
                bail!(
                    Axis,
                    "windows of {}: {} {name} {list:?} and {} axes {axes:?}, which must be as many",
                    self.shape,
                    list.len(),
                    axes.len()
                );
            }
        }
        let mut view = self.clone();
        for (i, &axis) in axes.iter().enumerate() {
            let k = self.axis(axis)?;
            view = view.window(&self.shape, k, [lengths[i], steps[i], dilations[i]])?;
        }
        view.shape.count()?;
        Ok(view)
    }

    /// Windows along axis `k`. Errors name the original shape `of`.
    fn window(mut self, of: &Shape, k: usize, [length, step, dilation]: [isize; 3]) -> Result<Layout> {
        let (n, stride) = (self.shape[k], self.strides[k]);
        let (Some(length), Some(step), Some(dilation)) = (above(length), above(step), above(dilation)) else {
            bail!(
                Axis,
                "windows of {of}: a window of {length} along axis {k} by a step of {step} and a dilation of {dilation}, each of which is at least 1"
            );
        };
        let span = (length - 1).saturating_mul(dilation).saturating_add(1);
        if span > n {
            let apart = match dilation {
                1 => String::new(),
                _ => format!(" whose elements lie {dilation} apart"),
            };
            bail!(
                Shape,
                "windows of {of}: a window of {length}{apart} along axis {k}, which has length {n}: pad it, or take a shorter one"
            );
        }
        let count = (n - span) / step + 1;
        let by = |n: usize, step: usize| if n > 1 { stride.wrapping_mul(step as isize) } else { stride };
        self.strides[k] = by(count, step);
        self.strides.push(by(length, dilation));
        self.shape = self.shape.with(k, count).iter().copied().chain([length]).collect();
        Ok(self)
    }
}

/// A number of at least 1.
fn above(n: isize) -> Option<usize> {
    usize::try_from(n).ok().filter(|&n| n > 0)
}
