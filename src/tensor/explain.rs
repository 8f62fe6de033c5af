//! What would run, as text and as a picture.

use std::fmt;

use crate::expr::{Program, Told};
use crate::plan::{self, Panel};

/// What would run for an expression, as [`Expr::explain`](crate::Expr::explain) tells it. Prints as text.
#[derive(Clone, Debug, Default)]
pub struct Explain {
    pub(super) device: String,
    /// Of each stage, in the order in which they run: what it computes, and how.
    stages: Vec<(String, String)>,
    panels: Vec<Panel>,
    wgsl: Option<String>,
}

impl Explain {
    /// Adds what the next stage does.
    pub(super) fn push(&mut self, program: &Program, told: Told) {
        self.panels.push(Panel::new(program, &told.accesses, &told.text));
        self.stages.push((program.describe(), told.text));
        self.wgsl = told.wgsl;
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
    /// a reduction folds is dotted. Sides of more than six elements are drawn with a gap. The text has no blank
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
