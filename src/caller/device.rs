//! Devices of the caller's.

use crate::device::{Device, wait_for};
use crate::error::Result;
use crate::gpu;

/// Devices of wgpu.
impl Device {
    /// The features and limits to ask an adapter of wgpu for, so that a device of it computes with all types that
    /// it can. None of it must be had: [`from_wgpu`](Self::from_wgpu) takes any device.
    ///
    /// ```
    /// use zerostride::{Device, wgpu};
    ///
    /// let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    /// let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
    /// # let Ok(adapter) = adapter else { return Ok(()) };
    /// let (required_features, required_limits) = Device::wants(&adapter);
    /// let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
    ///     required_features,
    ///     required_limits,
    ///     ..Default::default()
    /// }))?;
    /// let device = Device::from_wgpu(&device, &queue)?;
    /// assert_eq!(device.full([2], 1.5_f32)?.to_vec()?, [1.5, 1.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wants(adapter: &wgpu::Adapter) -> (wgpu::Features, wgpu::Limits) {
        gpu::wants(adapter)
    }

    /// A device of the caller's, as it is: with whatever features and limits it has. Types that need more are an
    /// error of [`ErrorKind::Limit`](crate::ErrorKind::Limit) where they are used. The same device gives the same one
    /// for as long as that is in use, with its compiled kernels and its memory; keep it, as the first call runs
    /// a kernel and waits for it, which tells how the adapter rounds.
    ///
    /// wgpu has one callback for errors and one for loss; both stay the caller's. Errors of what is done here are
    /// kept for the next call and do not reach them; that the device is lost is found out by the next call
    /// that waits. Pipelines, buffers and submissions of the caller's are left alone.
    ///
    /// # The order of things
    ///
    /// A device runs what is submitted to its queue, in that order, whoever submits it. Operations of this crate
    /// are recorded, and submitted together: by [`flush`](Self::flush), by what reads or waits, and where many have come together.
    ///
    /// | | runs |
    /// |---|---|
    /// | `eval`, `assign` | in the order of the calls; submitted by the next `flush` at the latest |
    /// | [`flush`](Self::flush) | submits them now, so before what the caller submits afterwards |
    /// | [`record_into`](crate::Expr::record_into) | where it stands in the encoder, when the caller submits that; what was recorded before is submitted by the call |
    /// | [`copy_to_texture`](crate::Expr::copy_to_texture), [`from_texture`](crate::Tensor::from_texture) | submitted by the call, after what was recorded before |
    /// | [`buffer`](crate::Tensor::buffer) | submits what was recorded of that tensor |
    /// | `to_vec` and all that reads | submits what was recorded, then a copy: it sees what was submitted before |
    /// | [`write`](crate::Tensor::write) | in the order of the calls; what was recorded of that tensor is submitted by the call, the elements by the next `flush` at the latest |
    /// | `upload` | as `queue.write_buffer`, into memory that nothing uses yet |
    /// | `queue.write_buffer` of the caller's | before everything that is submitted after it, *recorded before or not* |
    ///
    /// So `flush` before `write_buffer`, where what was recorded is to read the old contents, and before `submit`,
    /// where a pass of the caller's is to read what was computed.
    /// What is recorded between `record_into` and the caller's `submit` may run before or after that: `flush`
    /// decides it. Nothing of this waits for the device, but what reads; and of `upload` and `write` what is more than
    /// 64 MiB at once. Some drivers wait in a submission for the one before, whoever makes it (lavapipe does).
    ///
    /// # Errors
    /// When the device's limits are less than kernels need ([`Limits::downlevel`](crate::Limits::downlevel) are enough),
    /// there is no memory, or the device is lost.
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// # let own = Device::all().remove(0).open()?;
    /// # let Some((device, queue)) = own.wgpu() else { return Ok(()) };
    /// let ours = Device::from_wgpu(&device, &queue)?;
    /// assert!(ours.same(&Device::from_wgpu(&device, &queue)?));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Device> {
        let adopted = wait_for("Device::from_wgpu", gpu::adopt(device, queue))?;
        Ok(Device::from_backend(adopted))
    }

    /// [`from_wgpu`](Self::from_wgpu) without blocking, for the browser.
    ///
    /// # Errors
    /// As [`from_wgpu`](Self::from_wgpu).
    pub async fn from_wgpu_async(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Device> {
        Ok(Device::from_backend(gpu::adopt(device, queue).await?))
    }

    /// wgpu's device and queue, unless this is the CPU path. On a device that this crate opened, both callbacks
    /// are taken.
    ///
    /// ```
    /// assert!(zerostride::Device::cpu().wgpu().is_none());
    /// ```
    pub fn wgpu(&self) -> Option<(wgpu::Device, wgpu::Queue)> {
        gpu::of(self.backend()).ok().map(|gpu| gpu.wgpu())
    }

    /// Submits what was recorded, without waiting for it. What the caller submits to the queue of this device
    /// afterwards runs after it. Nothing on the CPU path.
    ///
    /// # Errors
    /// When the device is lost, or reported an error.
    ///
    /// ```
    /// let device = zerostride::Device::open()?;
    /// let x = device.zeros::<f32>([100])?;
    /// x.assign(&x + 1.0)?;
    /// device.flush()?;
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    pub fn flush(&self) -> Result<()> {
        self.backend().flush()
    }
}
