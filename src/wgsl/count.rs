//! Kernels that count keys: loads and steps of elements for `shaders/kernels/count.wgsl`.

use super::emitter::Emitter;
use super::template::Filling;
use crate::error::Result;
use crate::ir::{ByValue, Value};
use crate::plan::{Access, Count, LANES};

impl Emitter<'_> {
    pub(super) fn count(&mut self, count: &Count) -> Result<()> {
        let code = self.code;
        // Loads and steps that all elements have in common, and those of four elements.
        let is_splat = code.operands.iter().map(|operand| operand.access == Access::Splat);
        let common =
            ByValue::of(is_splat, &code.steps, |step, common| step.args.iter().all(|&arg| common[arg]));
        let mut written = |is_common: bool| {
            self.captured(|emitter| {
                emitter.loads(|i| common[Value::Input(i as u32)] == is_common)?;
                if is_common {
                    emitter.zeros();
                }
                emitter.steps(|value| common[value] == is_common)
            })
        };
        let (of_all, own) = (written(true)?, written(false)?);
        Filling::default()
            .with("table", count.table)
            .with("group", count.group)
            .with("tile", count.tile())
            .with("stride", count.group * LANES as u32)
            .with("of_all", of_all)
            .with("own", own)
            .with("keys", self.value(code.results[0], 0))
            .fill(self.text, include_str!("../../shaders/kernels/count.wgsl"))
    }
}
