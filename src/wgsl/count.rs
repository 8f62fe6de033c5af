//! Kernels that count keys: each tile, of a workgroup, has a table of counts in its memory.

use super::emitter::Emitter;
use super::text::line;
use crate::error::Result;
use crate::ir::{ByValue, Value};
use crate::plan::{Access, Counter, LANES};

impl Emitter<'_> {
    pub(super) fn count(&mut self, counter: Counter) -> Result<()> {
        let Counter { table, group, .. } = counter;
        let (kernel, tile) = (self.kernel, counter.tile());
        line!(self.text, "var<workgroup> table: array<atomic<u32>, {table}>;\n");
        self.numbered_tile(group);
        line!(self.text, "    let begin = number * {tile}u;");
        line!(self.text, "    let size = min(p.length - begin, {tile}u);");
        line!(self.text, "    let own = (p.before + number) * p.row;");
        // Loads and steps that all elements have in common.
        let is_splat = kernel.operands.iter().map(|operand| operand.access == Access::Splat);
        let common =
            ByValue::of(is_splat, &kernel.steps, |step, common| step.args.iter().all(|&arg| common[arg]));
        self.loads(|i| common[Value::Input(i as u32)])?;
        self.zeros();
        self.steps(|value| common[value])?;
        let each = format!("    for (var k = local; k < p.row; k += {group}u)");
        line!(self.text, "{each} {{ atomicStore(&table[k], 0u); }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "    for (var k = local * {LANES}u; k < size; k += {}u) {{", group * 4);
        let start = self.text.len();
        line!(self.text, "    let i = (begin + k) / {LANES}u;");
        self.loads(|i| !common[Value::Input(i as u32)])?;
        self.steps(|value| !common[value])?;
        let keys = self.value(kernel.results[0], 0);
        line!(self.text, "    let keys = vec4<u32>({keys});");
        for (lane, name) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let key = format!("keys.{name}");
            let is_counted = format!("({key} < p.row) & (k + {lane}u < size)");
            line!(self.text, "    if ({is_counted}) {{ atomicAdd(&table[{key}], 1u); }}");
        }
        let body = self.text.split_off(start);
        body.lines().for_each(|inside| line!(self.text, "    {inside}"));
        line!(self.text, "    }}");
        line!(self.text, "    workgroupBarrier();");
        line!(self.text, "{each} {{ result[own + k] = atomicLoad(&table[k]); }}\n}}");
        Ok(())
    }
}
