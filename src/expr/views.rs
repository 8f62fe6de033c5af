//! Views of expressions, and so of tensors.

use super::both::on_both;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element};
use crate::ir::{Node, Source};
use crate::layout::{AxisIndex, Broadcast, IndexRange, IndexRanges, Integers, Layout, Shape};

on_both! {
    /// Views. They are pushed down to the tensors below, so they cost nothing. A mistake is kept and returned by what
    /// consumes the expression. A view of a tensor names the tensor's own elements: [`assign`](Self::assign) writes
    /// them, and [`tensor`](Self::tensor) makes it a tensor.
    examples of i32 ["[1, 2, 3, 4, 5, 6], [2, 3]", "# use zerostride::Broadcast;"];

    /// Axes in another order: axis `k` of the result is axis `axes[k]` of this one. Negative axes count from the end.
    #[doc(alias = "moveaxis")]
    permute(axes: impl Integers) -> T, "x.permute([1, 0])" => "[1, 4, 2, 5, 3, 6]",
        let axes = axes.signed_all(), |x| Ok(x.view(|l| l.permute(&axes)));
    /// Two axes exchanged.
    #[doc(alias = "swapaxes")]
    #[doc(alias = "T")]
    transpose(a: impl AxisIndex, b: impl AxisIndex) -> T, "x.transpose(0, 1)" => "[1, 4, 2, 5, 3, 6]",
        let (a, b) = (a.signed(), b.signed()), |x| Ok(x.view(|l| l.transpose(a, b)));
    /// The indices of `range` along `axis`. Negative bounds count from the end. A bound outside of the axis is an
    /// error, and not clamped.
    #[doc(alias = "narrow")]
    slice(axis: impl AxisIndex, range: impl IndexRange) -> T, "x.slice(1, 1..)" => "[2, 3, 5, 6]",
        let (axis, range) = (axis.signed(), range.bounds()), |x| Ok(x.view(|l| l.slice(axis, range, 1)));
    /// Every `step`-th index of `range` along `axis`, as Python's `[start:end:step]`. A negative step goes down from
    /// `start` and stops before `end`. A bound outside of the axis is an error, and not clamped.
    slice_step(axis: impl AxisIndex, range: impl IndexRange, step: impl AxisIndex) -> T,
        "x.slice_step(1, .., -2)" => "[3, 1, 6, 4]",
        let (axis, range, step) = (axis.signed(), range.bounds(), step.signed()),
        |x| Ok(x.view(|l| l.slice(axis, range, step)));
    /// A range of indices along each of the first axes, as a tuple of ranges or an array of equal ones. Later axes stay
    /// whole. Bounds are those of [`slice`](Self::slice).
    slices(ranges: impl IndexRanges) -> T, "x.slices((..1, 1..-1))" => "[2]",
        let ranges = ranges.ranges(), |x| Ok(x.view(|l| l.slices(ranges.clone())));
    /// Windows of `lengths` along `axes`, which become the last axes, one for each length. The axes themselves then
    /// count where windows begin. Nothing is copied: a stride is used twice (NumPy `sliding_window_view`).
    ///
    /// A reduction over the last axes is a pool, a weighted sum a convolution; [`pad`](Self::pad) makes borders.
    /// [`windows_with`](Self::windows_with) has steps and dilations. See the [guide](crate::guide::windows).
    #[doc(alias = "sliding_window_view")]
    #[doc(alias = "unfold")]
    #[doc(alias = "conv2d")]
    #[doc(alias = "max_pool2d")]
    windows(lengths: impl Integers, axes: impl Integers) -> T, "x.windows([2, 2], [0, 1])" => "[1, 2, 4, 5, 2, 3, 5, 6]",
        let (lengths, axes) = (lengths.signed_all(), axes.signed_all()), |x| {
            let ones = vec![1; axes.len()];
            Ok(x.view(|l| l.windows(&lengths, &axes, &ones, &ones)))
        };
    /// [`windows`](Self::windows) that begin at every `steps[k]`-th index and whose elements lie `dilations[k]` indexes
    /// apart. A step or a dilation is at least 1 (ONNX `strides` and `dilations`).
    windows_with(lengths: impl Integers, axes: impl Integers, steps: impl Integers, dilations: impl Integers) -> T,
        "x.windows_with([2], [1], [1], [2])" => "[1, 3, 4, 6]",
        let [lengths, axes] = [lengths.signed_all(), axes.signed_all()],
        let [steps, dilations] = [steps.signed_all(), dilations.signed_all()],
        |x| Ok(x.view(|l| l.windows(&lengths, &axes, &steps, &dilations)));
    /// `axis` in reverse.
    flip(axis: impl AxisIndex) -> T, "x.flip(0)" => "[4, 5, 6, 1, 2, 3]",
        let axis = axis.signed(), |x| Ok(x.view(|l| l.flip(axis)));
    /// Stretched to `shape` in one direction: axes align at the end, each has length 1 or the target's, and new axes
    /// lead (NumPy `broadcast_to`).
    broadcast_to(shape: impl Into<Shape>) -> T, "x.slice(0, 1..).broadcast_to([2, 3])" => "[4, 5, 6, 4, 5, 6]",
        let shape = shape.into(), |x| Ok(x.view(|l| l.broadcast_to(&shape)));
    /// This expression stretched against a target shape by a rule (OpenVINO `Broadcast`). With
    /// [`Bidirectional`](Broadcast::Bidirectional), ONNX Expand, the result may exceed the target, while
    /// [`broadcast_to`](Self::broadcast_to) goes one way. With [`Pdpd`](Broadcast::Pdpd) this expression begins at an
    /// axis of the target.
    broadcast(rule: Broadcast, target: impl Into<Shape>) -> T,
        "x.slice(1, 2..).squeeze(1).broadcast(Broadcast::Explicit { axes: vec![0] }, [2, 2])" => "[3, 3, 6, 6]",
        let target = target.into(), |x| Ok(x.view(|layout| rule.layout_to(layout, &target)));
    /// [`broadcast_to`](Self::broadcast_to) with -1 for an axis that keeps its length (PyTorch `expand`).
    expand(shape: impl Integers) -> T, "x.slice(1, ..1).expand([-1, 2])" => "[1, 1, 4, 4]",
        let shape = shape.signed_all(), |x| Ok(x.view(|l| l.expand(&shape)));
    /// Drops `axis`, which must have length 1.
    squeeze(axis: impl AxisIndex) -> T, "x.slice(0, ..1).squeeze(0).slice(0, 1..)" => "[2, 3]",
        let axis = axis.signed(), |x| Ok(x.view(|l| l.squeeze(axis)));
    /// Adds an axis of length 1 before index `axis` of the result.
    #[doc(alias = "expand_dims")]
    #[doc(alias = "newaxis")]
    unsqueeze(axis: impl AxisIndex) -> T, "x.unsqueeze(-1).expand([2, 3, 2]).slice(0, ..1)" => "[1, 1, 2, 2, 3, 3]",
        let axis = axis.signed(), |x| Ok(x.view(|l| l.unsqueeze(axis)));
    /// Another shape of equally many elements in the same order, if no copy is needed. One length may be -1: the others
    /// determine it. If elements would have to move, it is an error: evaluate first, and reshape the result.
    #[doc(alias = "view")]
    #[doc(alias = "flatten")]
    #[doc(alias = "ravel")]
    reshape(shape: impl Integers) -> T, "x.reshape([3, -1]).slice(0, 1..)" => "[3, 4, 5, 6]",
        let shape = shape.signed_all(), |x| Ok(x.view(|l| l.reshape(&shape)));
}

on_both! {
    /// Coordinates and stored elements.
    examples of i32 ["[1, 2], [2]"];

    /// The coordinate of each element along `axis`, from 0 on, as an expression of this one's shape. Nothing is stored:
    /// the kernel computes it.
    coordinate(axis: impl AxisIndex) -> i32, "x.coordinate(0)" => "[0, 1]", |x| {
        let node = x.node()?;
        let layout = Layout::coordinate(&node.shape, axis.signed())?;
        Ok(AnyExpr::new(Ok(Node::leaf(DType::I32, Source::Index(node.devices.first().cloned()), layout))))
    };
    /// This expression, computed once and stored, however often and through whatever views it is read. Without it the
    /// crate stores a value if computing it again costs more, by the op table.
    shared() -> T, "x.roll([1], [0]).shared().flip(0)" => "[1, 2]", |x| Ok(AnyExpr::new(x.node().map(Node::shared)));
}
