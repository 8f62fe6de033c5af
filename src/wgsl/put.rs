//! Kernels that write rows at places (`shaders/kernels/put.wgsl`).

use super::emitter::Emitter;
use super::template::Filling;
use crate::error::Result;

impl Emitter<'_> {
    pub(super) fn put(&mut self) -> Result<()> {
        let filling = Filling::default().with("group", self.kernel.workgroup[0]);
        filling.fill(self.text, include_str!("../../shaders/kernels/put.wgsl"))
    }
}
