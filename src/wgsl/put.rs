//! Kernels that write rows at places (`shaders/kernels/put.wgsl`).

use super::emitter::Emitter;
use super::template::Filling;
use crate::error::Result;
use crate::plan::Put;

impl Emitter<'_> {
    pub(super) fn put(&mut self, put: Put) -> Result<()> {
        let filling = Filling::default().with("group", put.group);
        filling.fill(self.text, include_str!("../../shaders/kernels/put.wgsl"))
    }
}
