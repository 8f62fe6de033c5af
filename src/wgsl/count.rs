//! Kernels that count keys: each tile has a table of counts, of a workgroup or of an invocation.

use super::emitter::Emitter;
use super::text::line;
use crate::error::Result;
use crate::ir::{ByValue, Value};
use crate::plan::{Access, Counter, LANES};

impl Emitter<'_> {
    pub(super) fn count(&mut self, counter: Counter) -> Result<()> {
        let Counter { table, group, meets, .. } = counter;
        let (kernel, tile) = (self.kernel, counter.tile());
        if meets {
            line!(self.text, "var<workgroup> table: array<atomic<u32>, {table}>;\n");
        }
        self.numbered_tile(group, meets);
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
        match meets {
            true => {
                line!(self.text, "{each} {{ atomicStore(&table[k], 0u); }}");
                line!(self.text, "    workgroupBarrier();");
                line!(self.text, "    for (var k = local * {LANES}u; k < size; k += {}u) {{", group * 4);
            }
            // Two counts in a word.
            false => {
                line!(self.text, "    var table: array<u32, {}>;", table / 2);
                line!(self.text, "    for (var k = 0u; k < size; k += {LANES}u) {{");
            }
        }
        let start = self.text.len();
        line!(self.text, "    let i = (begin + k) / {LANES}u;");
        self.loads(|i| !common[Value::Input(i as u32)])?;
        self.steps(|value| !common[value])?;
        let keys = self.value(kernel.results[0], 0);
        line!(self.text, "    let keys = vec4<u32>({keys});");
        if !meets {
            let ones = "select(vec4<u32>(0u), vec4<u32>(1u), keys < vec4<u32>(p.row))";
            line!(self.text, "    let ones = {ones} << (keys % 2u * 16u);");
        }
        for (lane, name) in ["x", "y", "z", "w"].into_iter().enumerate() {
            let key = format!("keys.{name}");
            let is_there = format!("k + {lane}u < size");
            match meets {
                true => {
                    let is_counted = format!("({key} < p.row) & ({is_there})");
                    line!(self.text, "    if ({is_counted}) {{ atomicAdd(&table[{key}], 1u); }}");
                }
                // What is not counted adds 0.
                false => {
                    let one = format!("select(0u, ones.{name}, {is_there})");
                    line!(self.text, "    table[{key} / 2u % {}u] += {one};", table / 2);
                }
            }
        }
        let body = self.text.split_off(start);
        body.lines().for_each(|inside| line!(self.text, "    {inside}"));
        line!(self.text, "    }}");
        match meets {
            true => {
                line!(self.text, "    workgroupBarrier();");
                line!(self.text, "{each} {{ result[own + k] = atomicLoad(&table[k]); }}\n}}");
            }
            false => {
                line!(self.text, "    for (var k = 0u; k < p.row; k += 1u) {{");
                line!(self.text, "        result[own + k] = (table[k / 2u] >> (k % 2u * 16u)) & 0xffffu;");
                line!(self.text, "    }}\n}}");
            }
        }
        Ok(())
    }
}
