//! One kernel of a recording.

/// A kernel with what it binds, ready to be encoded.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub pipeline: wgpu::ComputePipeline,
    pub bind_group: wgpu::BindGroup,
    /// Where its uniform block begins.
    pub offset: u32,
    pub groups: [u32; 3],
    /// Its steps, where it is timed.
    pub name: Option<String>,
}

impl Dispatch {
    /// Encodes it after one with the pipeline `set`.
    pub(super) fn encode(&self, pass: &mut wgpu::ComputePass<'_>, set: Option<&wgpu::ComputePipeline>) {
        if set != Some(&self.pipeline) {
            pass.set_pipeline(&self.pipeline);
        }
        pass.set_bind_group(0, &self.bind_group, &[self.offset]);
        let [x, y, z] = self.groups;
        pass.dispatch_workgroups(x, y, z);
    }
}
