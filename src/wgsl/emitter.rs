//! The writer of a kernel, and its names.

use super::bodies::Bodies;
use super::fences::Fences;
use super::text::line;
use crate::error::Result;
use crate::ir::{ByValue, Value};
use crate::plan::{Access, Code, Elements, Form, Kernel, Operand, Origin, Role, Stride, Walk};

/// Writes the body of a kernel. Names of a vector's own values end with its number. Values that all vectors share are
/// written once.
pub(super) struct Emitter<'a> {
    pub kernel: &'a Kernel,
    pub code: &'a Code,
    pub text: &'a mut String,
    /// The vectors of an invocation.
    pub vectors: u32,
    /// The number of a vector in its row.
    pub column: &'static str,
    /// Whether the result begins at its first element.
    pub fresh: bool,
    /// Which values are the same in all vectors.
    pub shared: ByValue<bool>,
    pub fences: Fences,
    pub bodies: Bodies<'a>,
}

/// Which values all vectors share: operands that do not move, and steps over these.
fn shared(code: &Code, vectors: u32) -> ByValue<bool> {
    let follows = |i: usize, axis: usize| code.stride(Role::In(i), axis) != Stride::Zero;
    let operand = |(i, operand): (usize, &Operand)| match (code.walk, operand.access) {
        _ if vectors == 1 || operand.origin == Origin::Scalar => true,
        _ if code.joined() > 1 => operand.access == Access::Splat,
        (_, Access::Interleaved) => false,
        (Walk::Rows, _) => !follows(i, code.rank - 2),
        (_, access) => access == Access::Splat,
    };
    let operands = code.operands.iter().enumerate().map(operand);
    ByValue::of(operands, &code.steps, |step, shared| step.args.iter().all(|&arg| shared[arg]))
}

impl<'a> Emitter<'a> {
    pub(super) fn new(kernel: &'a Kernel, text: &'a mut String) -> Self {
        let (code, fences, bodies) = (&kernel.code, Fences::new(kernel), Bodies::new(kernel));
        let (vectors, column, fresh) = match kernel.form {
            Form::Elements(Elements { vectors, fresh, .. }) => (vectors, "id.x", fresh),
            _ => (1, "x", true),
        };
        let shared = shared(code, vectors);
        Emitter { kernel, code, text, vectors, column, fresh, shared, fences, bodies }
    }

    /// Rows of an invocation, each a vector.
    pub(super) fn rows(&self) -> u32 {
        self.vectors / self.code.joined()
    }

    /// The suffix of a vector's names.
    pub(super) fn suffix(&self, vector: u32) -> String {
        if self.vectors == 1 { String::new() } else { format!("_{vector}") }
    }

    /// The number of a value in names.
    pub(super) fn number(&self, value: Value) -> usize {
        self.shared.number(value)
    }

    pub(super) fn value(&self, value: Value, vector: u32) -> String {
        let suffix = if self.shared[value] { String::new() } else { self.suffix(vector) };
        format!("v{}{suffix}", self.number(value))
    }

    /// Writes lines of a function's body.
    pub(super) fn lines(&mut self, lines: impl IntoIterator<Item = String>) {
        lines.into_iter().for_each(|own| line!(self.text, "    {own}"));
    }

    /// The lines of a function's body, for a hole of a template. They begin at the margin.
    pub(super) fn captured(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<String> {
        let start = self.text.len();
        write(self)?;
        let lines = self.text.split_off(start);
        let lines = lines.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }
}
