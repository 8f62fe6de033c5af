//! The caller's devices.

use crate::device::{Device, wait_for};
use crate::error::Result;
use crate::gpu;

/// Devices of wgpu.
impl Device {
    /// The features and limits to request from a wgpu adapter, so that its device computes with all types that the
    /// adapter has. None of them is necessary: [`from_wgpu`](Self::from_wgpu) takes any device.
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

    /// A device over the caller's wgpu device, with whatever features and limits that has. Using a type that needs more
    /// is an error of [`ErrorKind::Limit`](crate::ErrorKind::Limit). While the returned device is in use, another call
    /// with the same wgpu device returns it again, with its compiled kernels and memory. Keep it, as the first call
    /// runs a kernel and waits for it, to test how the adapter rounds.
    ///
    /// wgpu has one callback for errors and one for loss, and both stay the caller's. Errors of this crate's work are
    /// returned by its calls and do not reach them. The next call that waits finds a lost device. Pipelines, buffers
    /// and submissions of the caller are left alone.
    ///
    /// # The order of things
    ///
    /// A device runs submissions to its queue in order, whoever submits them. This crate records operations and submits
    /// many together: by [`flush`](Self::flush), by calls that read or wait, and when enough work is recorded.
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
    /// So call `flush` before `write_buffer` if recorded work must read the old contents, and before `submit` if a pass
    /// of the caller must read computed elements. Work that is recorded between `record_into` and the caller's `submit`
    /// may run before or after that; `flush` decides. Only reads wait for the device, and the part of an `upload` or a
    /// `write` beyond 64 MiB. Some drivers wait in a submission for the one before, whoever makes it (lavapipe does).
    ///
    /// # Errors
    /// When the device's limits are lower than kernels need ([`Limits::downlevel`](crate::Limits::downlevel) suffices),
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

    /// wgpu's device and queue, unless this is the CPU path. If this crate opened the device, it uses both callbacks.
    ///
    /// ```
    /// assert!(zerostride::Device::cpu().wgpu().is_none());
    /// ```
    pub fn wgpu(&self) -> Option<(wgpu::Device, wgpu::Queue)> {
        gpu::of(self.as_backend().clone()).ok().map(|gpu| gpu.wgpu())
    }

    /// Submits recorded work, without waiting for it. Later submissions of the caller to this queue run after it. Does
    /// nothing on the CPU path.
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
        self.backend()?.flush()
    }
}
