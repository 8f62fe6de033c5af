//! What would run, as text and as a picture.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Weak};

use super::AnyTensor;
use crate::dtype::DType;
use crate::ir::{Source, Stage, Told};
use crate::layout::Layout;
use crate::plan::{self, Panel, Plan};

/// What would run for an expression, as [`Expr::explain`](crate::Expr::explain) tells it. Prints as text.
#[derive(Clone, Debug, Default)]
pub struct Explain {
    pub(super) device: String,
    /// Of each stage, in the order in which they run: what it computes, and how.
    stages: Vec<(String, String)>,
    panels: Vec<Panel>,
    wgsl: Option<String>,
    operands: Vec<ExplainedOperand>,
}

/// What the last of the kernels reads, as [`Explain::operands`] tells it.
#[derive(Clone, Debug)]
pub struct ExplainedOperand {
    name: String,
    dtype: DType,
    layout: Layout,
    access: Option<&'static str>,
    lines: Vec<usize>,
    /// The elements that are read, which this does not keep.
    buffer: Weak<dyn Any + Send + Sync>,
}

impl ExplainedOperand {
    /// What the text calls it: a, b and so on.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where its elements lie, over the shape that the kernel goes through: axes that stretch have stride 0.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How an adapter accesses it, in words.
    pub fn access(&self) -> Option<&'static str> {
        self.access
    }

    /// The lines of [`Explain::wgsl`] that name it, from 1 on: its binding, its loads, and the steps that take it.
    pub fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// Whether these are elements of the storage that a tensor lies in.
    pub fn is_of(&self, tensor: &AnyTensor) -> bool {
        // What is not alive may have had the address that another has since.
        let own = self.buffer.upgrade();
        own.is_some_and(|own| Arc::as_ptr(&own).addr() == Arc::as_ptr(&tensor.storage().buffer).addr())
    }
}

impl Explain {
    /// What the stage reads that gives the result: tensors, coordinates, and results of stages before it. Constants
    /// are not among them.
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

    /// Adds what the next stage does.
    pub(super) fn push(&mut self, stage: &Stage, told: Told) {
        let bytes = told.moved.unwrap_or_else(|| stage.programs().iter().map(Plan::bytes).sum());
        self.panels.push(Panel::new(stage, &told.accesses, &told.text, bytes));
        self.stages.push((stage.describe(bytes), told.text));
        self.wgsl = told.wgsl;
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
                access: told.accesses.get(i).copied(),
                lines: told.lines.get(i).cloned().unwrap_or_default(),
                buffer,
            });
        }
    }

    /// The text of the kernel that gives the result, the first of them if several do, where the device runs one.
    pub fn wgsl(&self) -> Option<&str> {
        self.wgsl.as_deref()
    }

    /// A picture, as SVG: for each stage its operands and its result, with a grid of the last two axes, each
    /// axis with its length and, below, its stride in elements, and a box with what runs, how many bytes it
    /// moves at least and, where the device is an adapter, how each operand is accessed.
    ///
    /// What an axis of length 1 repeats when it stretches is hatched: it is read again and stored nowhere. What
    /// a reduction reduces is dotted. Sides of more than six elements are drawn with a gap. The text has no blank
    /// line, so that it may stand in Markdown as it is.
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
