//! Work in the caller's encoders.

use std::panic::Location;
use std::sync::Arc;

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, called};
use crate::expr::{AnyExpr, Expr};
use crate::gpu::{self, Gpu};

impl AnyExpr {
    /// Records what [`AnyTensor::assign`](crate::AnyTensor::assign) does into an encoder of the caller's
    /// ([`Expr::record_into`]).
    ///
    /// # Errors
    /// As [`AnyTensor::assign`](crate::AnyTensor::assign); nothing is encoded then.
    ///
    /// ```
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// use zerostride::{AnyExpr, AnyTensor, DType};
    ///
    /// let x = AnyTensor::from(device.upload(&[1_i16, 2, 3], [3])?);
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// AnyExpr::call("neg", &[x.expr()]).record_into(&mut encoder, &x)?;
    /// queue.submit([encoder.finish()]);
    /// assert_eq!(x.to_vec::<i16>()?, [-1, -2, -3]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn record_into(&self, encoder: &mut wgpu::CommandEncoder, destination: &AnyExpr) -> Result<()> {
        called(Location::caller(), || {
            let destination = destination.tensor()?;
            let assign = |gpu: &Arc<Gpu>| destination.assign_by(&Device::from_backend(gpu.clone()), self);
            gpu::of(destination.device().backend()?)?.record_into(encoder, assign)
        })
    }
}

impl<T: Element> Expr<T> {
    /// Records `destination.assign(self)`, for a tensor or a view of one, into a caller's encoder. It runs between the
    /// caller's passes, when the caller submits the encoder. This call submits earlier recorded work. [The
    /// order](Device::from_wgpu) of everything else is that of submissions. Nothing waits for the device.
    ///
    /// Temporaries of the work live until it has run, or the encoder is dropped. The encoder must be of the
    /// destination's device, and no pass of it may be open. wgpu does not tell the device of an encoder, so this crate
    /// cannot check it. Of another one, wgpu reports the mistake to that device, when the encoder is finished.
    ///
    /// # Errors
    /// As [`Tensor::assign`](crate::Tensor::assign), and on the CPU path; nothing is encoded then.
    ///
    /// ```
    /// # let device = zerostride::Device::all().remove(0).open()?;
    /// # let Some((gpu, queue)) = device.wgpu() else { return Ok(()) };
    /// use zerostride::Expr;
    ///
    /// let x = device.upload(&[1.0_f32, 2.0, 3.0], [3])?;
    /// let mut encoder = gpu.create_command_encoder(&Default::default());
    /// (&x * 2.0).record_into(&mut encoder, &x)?;
    /// Expr::scalar(7.0).record_into(&mut encoder, &x.slice(0, -1..))?;
    /// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]); // not submitted yet
    /// queue.submit([encoder.finish()]);
    /// assert_eq!(x.to_vec()?, [2.0, 4.0, 7.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn record_into(&self, encoder: &mut wgpu::CommandEncoder, destination: &Expr<T>) -> Result<()> {
        self.untyped().record_into(encoder, destination.untyped())
    }
}
