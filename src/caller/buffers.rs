//! The caller's buffers as tensors, and tensors as buffers.

use std::panic::Location;

use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Result, called};
use crate::gpu::{self, Loan};
use crate::layout::Shape;
use crate::tensor::{AnyTensor, Tensor};

/// The buffer of a tensor, as [`Tensor::buffer`] lends it. While this lives, the memory is not reused, even if the
/// tensor is dropped.
#[derive(Clone, Debug)]
pub struct LentBuffer {
    loan: Loan,
    dtype: DType,
}

impl LentBuffer {
    /// The buffer. If this crate made it, it has `STORAGE`, `COPY_SRC` and `COPY_DST`. It may be larger than the
    /// tensor, and hold elements of others.
    pub fn buffer(&self) -> &wgpu::Buffer {
        self.loan.raw()
    }

    /// Bytes from the begin of the buffer to the first element in memory.
    pub fn offset(&self) -> u64 {
        self.loan.offset
    }

    /// Bytes from there to the end of the last element in memory. The tensor's [layout](Tensor::layout) says where
    /// elements lie between them.
    pub fn size(&self) -> u64 {
        self.loan.size
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The bytes as a binding of a bind group, rounded up to whole words. If [`offset`](Self::offset) is no multiple of
    /// the device's `min_storage_buffer_offset_alignment`, bind the whole buffer and pass the offset to the shader.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        let size = self.size().next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: self.buffer(),
            offset: self.offset(),
            size: wgpu::BufferSize::new(size),
        })
    }
}

impl AnyTensor {
    /// A tensor over a caller's buffer ([`Tensor::from_buffer`]).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use zerostride::{AnyTensor, DType, Device, wgpu};
    ///
    /// # let device = Device::all().remove(0).open()?;
    /// # let Some((gpu, _)) = device.wgpu() else { return Ok(()) };
    /// let buffer = gpu.create_buffer(&wgpu::BufferDescriptor {
    ///     label: None,
    ///     size: 16,
    ///     usage: wgpu::BufferUsages::STORAGE,
    ///     mapped_at_creation: false,
    /// });
    /// let halves = AnyTensor::from_buffer(&device, &buffer, DType::F16, 8, [4], &[1])?;
    /// assert_eq!(halves.to_bytes()?, [0; 8]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn from_buffer(
        device: &Device,
        buffer: &wgpu::Buffer,
        dtype: DType,
        byte_offset: u64,
        shape: impl Into<Shape>,
        strides: &[isize],
    ) -> Result<AnyTensor> {
        called(Location::caller(), || {
            let gpu = gpu::of(device.backend()?)?;
            let (storage, layout) = gpu.storage_of(buffer, dtype, byte_offset, shape.into(), strides)?;
            Ok(AnyTensor::new(device.clone(), storage, dtype, layout))
        })
    }

    /// The buffer of the elements ([`Tensor::buffer`]).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # if device.wgpu().is_none() { return Ok(()) }
    /// let x = device.zeros_any(zerostride::DType::U8, [4, 4])?;
    /// let row = x.slice(0, 2..3).tensor()?.buffer()?;
    /// assert_eq!((row.offset(), row.size()), (8, 4));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn buffer(&self) -> Result<LentBuffer> {
        called(Location::caller(), || {
            let gpu = gpu::of(self.device().backend()?)?;
            let loan = gpu.loan(self.storage(), self.dtype(), self.layout())?;
            Ok(LentBuffer { loan, dtype: self.dtype() })
        })
    }
}

impl<T: Element> Tensor<T> {
    /// A tensor over a caller's buffer, with strides in elements. The first index is at `byte_offset`. Nothing is
    /// copied: the tensor can be read and [assigned](Tensor::assign) to, and sees the writes of the caller's passes
    /// ([the order](Device::from_wgpu)). No byte beside the tensor changes, though elements of 8 and 16 bits are
    /// written in words, which rewrite their neighbours unchanged. No other tensor uses the buffer. The buffer lives as
    /// long as a tensor over it. Do not `destroy` or map it before recorded work on it is submitted.
    ///
    /// The buffer needs the usage `STORAGE`. With `COPY_SRC` it is read back faster. With a size that is a multiple of
    /// 32 bytes, kernels load whole vectors to the end.
    ///
    /// # Errors
    /// When an element would lie outside, `byte_offset` is no multiple of the element's size, the usage is missing, the
    /// buffer is another device's, or the device lacks the type. Elements of 16 bits need a buffer of whole groups of 8
    /// bytes up to the last of them, elements of 8 bits one of whole words.
    ///
    /// ```
    /// use zerostride::{Device, Tensor, wgpu};
    ///
    /// # let device = Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// let buffer = gpu.create_buffer(&wgpu::BufferDescriptor {
    ///     label: Some("vertices: x, y, u"),
    ///     size: 4 * 12,
    ///     usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
    ///     mapped_at_creation: false,
    /// });
    /// queue.write_buffer(&buffer, 32, &3.0_f32.to_ne_bytes());
    /// let u = Tensor::<f32>::from_buffer(&device, &buffer, 8, [4], &[3])?;
    /// u.assign(&u + 1.0)?;
    /// assert_eq!(u.to_vec()?, [1.0, 1.0, 4.0, 1.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn from_buffer(
        device: &Device,
        buffer: &wgpu::Buffer,
        byte_offset: u64,
        shape: impl Into<Shape>,
        strides: &[isize],
    ) -> Result<Tensor<T>> {
        Ok(Tensor::face(AnyTensor::from_buffer(device, buffer, T::DTYPE, byte_offset, shape, strides)?))
    }

    /// The buffer of the elements, for a bind group or a copy of the caller's. This call submits the tensor's recorded
    /// work. [`Device::flush`] submits later work.
    ///
    /// # Errors
    /// On the CPU path. When the elements lie in several buffers, as those of tensors larger than `max_buffer_size` do:
    /// slices of it lie in one.
    ///
    /// ```
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// let field = (device.upload(&[1.0_f32, 2.0], [2])? * 0.5).eval()?;
    /// let lent = field.buffer()?;
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// encoder.clear_buffer(lent.buffer(), lent.offset(), Some(4));
    /// queue.submit([encoder.finish()]);
    /// assert_eq!(field.to_vec()?, [0.0, 1.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn buffer(&self) -> Result<LentBuffer> {
        AnyTensor::from(self).buffer()
    }
}
