//! Explanations as text and as pictures.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

use super::AnyTensor;
use crate::dtype::DType;
use crate::ir::{Explanation, Source, Stage};
use crate::layout::Layout;
use crate::plan::{self, Panel, Plan};

/// The explanation of an expression, as [`Expr::explain`](crate::Expr::explain) returns it. It prints as text.
#[derive(Clone, Debug, Default)]
pub struct Explain {
    pub(super) device: String,
    /// For each stage, in the order in which they run: its expression, and its kernels.
    stages: Vec<(String, String)>,
    panels: Vec<Panel>,
    wgsl: Option<String>,
    operands: Vec<ExplainedOperand>,
}

/// The operands of the last kernel, as [`Explain::operands`] returns them.
#[derive(Clone, Debug)]
pub struct ExplainedOperand {
    name: String,
    dtype: DType,
    layout: Layout,
    access: Option<&'static str>,
    lines: Vec<usize>,
    /// The elements, which this does not keep alive.
    buffer: Weak<dyn Any + Send + Sync>,
}

impl ExplainedOperand {
    /// Its name in the text: a, b and so on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The layout of its elements over the kernel's shape. Stretched axes have stride 0.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its access on an adapter, in words.
    pub fn access(&self) -> Option<&'static str> {
        self.access
    }

    /// The lines of [`Explain::wgsl`] that name it, counted from 1: its binding, its loads, and the steps that read it.
    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// Whether these are elements of a tensor's storage.
    pub fn is_of(&self, tensor: &AnyTensor) -> bool {
        // The address of a dropped storage may be another's now.
        let own = self.buffer.upgrade();
        own.is_some_and(|own| Arc::as_ptr(&own).addr() == Arc::as_ptr(&tensor.storage().buffer).addr())
    }
}

impl Explain {
    /// The operands of the stage that computes the result: tensors, coordinates, and results of earlier stages, but no
    /// constants.
    ///
    /// ```
    /// use zerostride::{AnyTensor, Device};
    ///
    /// let device = Device::cpu();
    /// let column = device.zeros::<f32>([3, 1])?;
    /// let row = device.zeros::<f32>([4])?;
    /// let explain = (&column + &row * 2.0).explain(&device)?;
    /// let [a, b] = explain.operands() else { return Ok(()) };
    /// assert_eq!((a.name(), a.layout().strides()), ("a", &[1, 0][..]));
    /// assert!(b.is_of(&AnyTensor::from(&row)) && !b.is_of(&AnyTensor::from(&column)));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn operands(&self) -> &[ExplainedOperand] {
        &self.operands
    }

    /// Adds the next stage.
    pub(super) fn push(&mut self, stage: &Stage, explanation: Explanation) {
        let bytes = explanation.moved.unwrap_or_else(|| stage.programs().iter().map(Plan::bytes).sum());
        self.panels.push(Panel::new(stage, &explanation.accesses, &explanation.text, bytes));
        self.stages.push((stage.describe(bytes), explanation.text));
        self.wgsl = explanation.wgsl;
        self.operands.clear();
        for (i, input) in stage.one().iter().flat_map(|program| program.inputs.iter().enumerate()) {
            let buffer: Weak<dyn Any + Send + Sync> = match &input.source {
                Source::Scalar(_) | Source::Row(_) => continue,
                Source::Tensor(storage) => Arc::downgrade(&storage.buffer),
                _ => Weak::<()>::new(),
            };
            self.operands.push(ExplainedOperand {
                name: plan::operand_name(i),
                dtype: input.dtype,
                layout: input.layout.clone(),
                access: explanation.accesses.get(i).copied(),
                lines: explanation.lines.get(i).cloned().unwrap_or_default(),
                buffer,
            });
        }
    }

    /// The text of the kernel that computes the result; of several kernels, the first. `None` if the device runs no
    /// kernels.
    pub fn wgsl(&self) -> Option<&str> {
        self.wgsl.as_deref()
    }

    /// A picture, as SVG. Each stage has its operands and its result, with a grid of the last two axes and a column for
    /// each axis: its length, and its stride in elements below. A box has the kernels, the bytes that move at least
    /// and, on an adapter, the access of each operand.
    ///
    /// Repeated elements of a stretched axis are hatched: they are read again and stored nowhere. Reduced elements are
    /// dotted. Sides of more than six elements are drawn with a gap. The text has no blank line, so that it may stand
    /// in Markdown.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::cpu();
    /// let column = device.zeros::<f32>([3, 1])?;
    /// let row = device.zeros::<f32>([4])?;
    /// let svg = (&column + &row).explain(&device)?.svg();
    /// assert!(svg.starts_with("<svg") && svg.contains("f32 [3, 4] = add(a, b)"));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn svg(&self) -> String {
        plan::svg(&self.panels)
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(((last, plan), before)) = self.stages.split_last() else { return Ok(()) };
        for (what, how) in before {
            write!(f, "first, as it is stored:\n{what}{how}then:\n")?;
        }
        write!(f, "{last}device: {}\n{plan}", self.device)
    }
}
