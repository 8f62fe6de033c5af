//! Elements back to the host. A contiguous range is read in pieces, at most two of which are in flight.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::ops::{Deref, Range};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;

use super::AnyTensor;
use super::later::Later;
use crate::dtype::{DType, Element};
use crate::error::{Error, Line, Result, bail, called};
use crate::ir;
use crate::ir::{Backend, Destination, Input, Program, Reading, Schedule, Source, Storage};

/// A result on its way.
pub(super) type Pending<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

/// Bytes of a tensor's elements, as [`AnyTensor::host_bytes`] returns them.
pub struct HostBytes(ir::HostBytes);

impl Deref for HostBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for HostBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of a tensor", self.len())
    }
}

/// A contiguous range of a storage's elements.
struct Run {
    backend: Arc<dyn Backend>,
    storage: Storage,
    dtype: DType,
    elements: Range<usize>,
}

impl Run {
    /// Elements that are read at a time.
    fn piece(&self) -> usize {
        self.backend.most_read() / self.dtype.size()
    }

    /// The readings of the pieces, each of which begins when it is asked for.
    fn pieces(&self) -> impl Iterator<Item = Reading> + Send + use<'_> {
        let starts = self.elements.clone().step_by(self.piece());
        starts.map(|start| {
            let count = self.piece().min(self.elements.end - start);
            self.backend.clone().read(&self.storage, self.dtype, start, count)
        })
    }

    /// Passes the bytes to `take`, piece by piece, with the next piece in flight.
    async fn read(&self, take: impl FnMut(&[u8]) + Send) -> Result<()> {
        each(self.pieces(), take).await
    }

    /// The same for a caller that may wait.
    fn read_now(&self, mut take: impl FnMut(&[u8]) + Send) -> Result<()> {
        if self.elements.len() > self.piece() {
            return pollster::block_on(self.read(take));
        }
        let Range { start, .. } = self.elements;
        let backend = self.backend.clone();
        take(&backend.read_now(&self.storage, self.dtype, start, self.elements.len())?);
        Ok(())
    }
}

/// Waits for readings in order.
async fn each(readings: impl IntoIterator<Item = Reading> + Send, mut take: impl FnMut(&[u8])) -> Result<()> {
    let mut readings = readings.into_iter();
    let mut next = readings.next();
    while let Some(reading) = next {
        let bytes = reading.await?;
        next = readings.next();
        take(&bytes);
    }
    Ok(())
}

/// Room for elements, unless there is no memory for them.
pub(super) fn room<T: Element>(count: usize) -> Result<Vec<T>> {
    let mut all = Vec::new();
    match all.try_reserve_exact(count) {
        Ok(()) => Ok(all),
        Err(_) => bail!(Memory, "no memory on the host for {} bytes", count as u128 * size_of::<T>() as u128),
    }
}

/// Reading.
impl AnyTensor {
    /// The elements in row-major order.
    ///
    /// # Errors
    /// When they have another type, the device is lost, or the host has no memory for them.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().zeros_any(zerostride::DType::U32, [3])?;
    /// assert_eq!(x.to_vec::<u32>()?, [0, 0, 0]);
    /// assert!(x.to_vec::<f32>().is_err());
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        called(Location::caller(), || {
            self.is_of::<T>()?;
            self.can_wait("to_vec")?;
            self.read_now()
        })
    }

    /// The elements in row-major order as bytes: little-endian, without gaps, a bool as 0 or 1.
    ///
    /// # Errors
    /// When the device is lost or the host has no memory for them.
    ///
    /// ```
    /// use zerostride::{AnyTensor, Device};
    ///
    /// let x = AnyTensor::from(Device::cpu().upload(&[1.0_f32, -2.0], [2])?);
    /// assert_eq!(x.flip(0).to_bytes()?, [0, 0, 0, 192, 0, 0, 128, 63]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        called(Location::caller(), || {
            self.can_wait("to_bytes")?;
            self.read_now()
        })
    }

    /// The elements in row-major order as bytes in host memory. If the tensor is on the CPU path and contiguous, these
    /// are its own memory, without a copy. Later assignments do not change them; they write to other memory.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    ///
    /// ```
    /// use zerostride::{AnyExpr, AnyTensor, DType, Device};
    ///
    /// let x = AnyTensor::from(Device::cpu().upload(&[1_u8, 2], [2])?);
    /// let bytes = x.host_bytes()?;
    /// x.assign(AnyExpr::scalar(DType::U8, 9))?;
    /// assert_eq!((bytes.to_vec(), x.to_bytes()?), (vec![1, 2], vec![9, 9]));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn host_bytes(&self) -> Result<HostBytes> {
        called(Location::caller(), || {
            if !self.device().backend()?.computes_here() {
                return Ok(HostBytes(Box::new(self.to_bytes()?)));
            }
            let Run { backend, storage, dtype, elements } = self.dense()?;
            Ok(HostBytes(backend.read_now(&storage, dtype, elements.start, elements.len())?))
        })
    }

    /// [`to_bytes`](Self::to_bytes) without blocking the calling thread. This call requests the elements as they are
    /// now, and the future waits. A tensor of more than 64 MiB then has all of its bytes in flight;
    /// [`read_bytes_into_async`](Self::read_bytes_into_async) reads it in pieces.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().zeros_any(zerostride::DType::F64, [1])?;
    /// assert_eq!(pollster::block_on(x.to_bytes_async())?, [0; 8]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_bytes_async(&self) -> impl Future<Output = Result<Vec<u8>>> + Send + use<> {
        self.read()
    }

    /// Writes the elements in row-major order to `all`, without further memory
    /// ([`Tensor::read_into`](super::Tensor::read_into)).
    ///
    /// # Errors
    /// When they have another type, `all` has not as many elements as the tensor, or the device is lost. A part of
    /// `all` may have been written then.
    ///
    /// ```
    /// use zerostride::{AnyTensor, Device};
    ///
    /// let x = AnyTensor::from(Device::cpu().upload(&[1, 2, 3], [3])?);
    /// let mut last = [0; 2];
    /// x.slice(0, 1..).tensor()?.read_into(&mut last)?;
    /// assert_eq!(last, [2, 3]);
    ///
    /// let error = x.read_into(&mut last).unwrap_err();
    /// assert_eq!(error.message(), "read of [3], which has 3 elements, into 2: give room for all of them");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn read_into<T: Element>(&self, all: &mut [T]) -> Result<()> {
        called(Location::caller(), || {
            self.is_of::<T>()?;
            self.has_room(all.len(), 1)?;
            self.can_wait("read_into")?;
            self.dense()?.read_now(fill(all))
        })
    }

    /// [`read_into`](Self::read_into) as bytes, in the form of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// As [`read_into`](Self::read_into).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().zeros_any(zerostride::DType::I16, [2])?;
    /// let mut bytes = [1; 4];
    /// x.read_bytes_into(&mut bytes)?;
    /// assert_eq!(bytes, [0; 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn read_bytes_into(&self, all: &mut [u8]) -> Result<()> {
        called(Location::caller(), || {
            self.has_room(all.len(), self.dtype().size())?;
            self.can_wait("read_bytes_into")?;
            self.dense()?.read_now(fill(all))
        })
    }

    /// [`read_bytes_into`](Self::read_bytes_into) without blocking the calling thread. Assignments before the future is
    /// done may be in some pieces and not in others.
    ///
    /// # Errors
    /// As [`read_bytes_into`](Self::read_bytes_into).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().zeros_any(zerostride::DType::Bool, [2])?;
    /// let mut bytes = [1; 2];
    /// pollster::block_on(x.read_bytes_into_async(&mut bytes))?;
    /// assert_eq!(bytes, [0; 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn read_bytes_into_async<'a>(
        &self,
        all: &'a mut [u8],
    ) -> impl Future<Output = Result<()>> + Send + use<'a> {
        self.fill(all, self.dtype().size())
    }

    /// The same for elements of this tensor's type, or bytes: `each` of them are one element.
    #[track_caller]
    pub(super) fn fill<'a, T: Element>(
        &self,
        all: &'a mut [T],
        each: usize,
    ) -> impl Future<Output = Result<()>> + Send + use<'a, T> {
        let at = Location::caller();
        let run = called(at, || {
            self.has_room(all.len(), each)?;
            Ok(self.dense_later(at))
        });
        async move { run?.await?.read(fill(all)).await }
    }

    /// Fails for a form that waits, if the caller must not wait for the device.
    fn can_wait(&self, form: &str) -> Result<()> {
        self.device().backend()?.can_wait(form)
    }

    fn has_room(&self, room: usize, each: usize) -> Result<()> {
        let (shape, dtype, count) = (self.shape(), self.dtype(), self.layout().count());
        // The count fits 64 bits, but its bytes may not.
        match (count as u128 * each as u128, each) {
            (needed, _) if needed == room as u128 => Ok(()),
            (_, 1) => bail!(
                Data,
                "read of {shape}, which has {count} elements, into {room}: give room for all of them"
            ),
            (needed, _) => bail!(
                Data,
                "read of {dtype} {shape}, which has {needed} bytes, into {room}: give room for all of them"
            ),
        }
    }

    /// The elements in row-major order as bytes, as they are at this call.
    #[track_caller]
    pub(super) fn read<T: Element>(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        let at = Location::caller();
        let begun = called(at, || -> Result<Pending<Vec<T>>> {
            Ok(match self.apart()? {
                Some(tensor) => Box::pin(Later::begin(move || called(at, || tensor.read_now()))),
                None => Box::pin(self.read_here()),
            })
        });
        async move { begun?.await.map_err(|error| error.at(at)) }
    }

    /// The tensor that another thread reads, if reading takes time: a snapshot.
    fn apart(&self) -> Result<Option<AnyTensor>> {
        let (device, layout) = (self.device(), self.layout());
        let takes_time = match layout.is_contiguous() {
            true => device.backend()?.computes_here(),
            false => device.takes_time(&self.copy())?,
        };
        if !takes_time {
            return Ok(None);
        }
        let storage = device.backend()?.snapshot(self.storage(), self.dtype())?;
        Ok(Some(AnyTensor::new(device.clone(), storage, self.dtype(), layout.clone())))
    }

    /// [`dense`](Self::dense) without blocking the calling thread.
    fn dense_later(&self, at: Line) -> Pending<Run> {
        if self.layout().is_contiguous() {
            return Box::pin(Later::ready(self.dense()));
        }
        match self.apart() {
            Ok(Some(tensor)) => Box::pin(Later::begin(move || called(at, || tensor.dense()))),
            Ok(None) => Box::pin(Later::ready(self.dense())),
            Err(error) => Box::pin(Later::ready(Err(error))),
        }
    }

    /// The same; this call requests all of it.
    fn read_here<T: Element>(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        let run = self.dense();
        let readings = run.as_ref().map(|run| run.pieces().collect::<Vec<_>>());
        let readings = readings.map_err(Error::clone);
        let count = self.count_of::<T>();
        async move {
            let mut all = room(count)?;
            each(readings?, |bytes| T::extend(&mut all, bytes)).await?;
            Ok(all)
        }
    }

    fn read_now<T: Element>(&self) -> Result<Vec<T>> {
        let mut all = room(self.count_of::<T>())?;
        self.dense()?.read_now(|bytes| T::extend(&mut all, bytes))?;
        Ok(all)
    }

    /// The elements, counted as others with the same bytes.
    fn count_of<T>(&self) -> usize {
        self.layout().count().saturating_mul(self.dtype().size()) / size_of::<T>()
    }

    /// The elements as a contiguous row-major range, copied only if they are none.
    fn dense(&self) -> Result<Run> {
        let (backend, dtype, layout) = (self.device().backend()?, self.dtype(), self.layout());
        let count = layout.count();
        if layout.is_contiguous() {
            let start = if count == 0 { 0 } else { layout.offset() };
            let storage = self.storage().clone();
            return Ok(Run { backend, storage, dtype, elements: start..start + count });
        }
        let copied = backend.clone().run(Cow::Owned(self.copy()), Destination::New, None)?.pop();
        let Some(storage) = copied else { bail!(Kernel, "a copy without a result") };
        Ok(Run { backend, storage, dtype, elements: 0..count })
    }

    /// The expression that copies the elements.
    fn copy(&self) -> Schedule {
        let source = Source::Tensor(self.storage().clone());
        Schedule::only(Program::copy(Input::new(self.dtype(), source, self.layout().clone())))
    }
}

/// Writes pieces one after the other.
fn fill<T: Element>(all: &mut [T]) -> impl FnMut(&[u8]) + Send + use<'_, T> {
    let mut at = 0;
    move |bytes| {
        let end = at + bytes.len() / size_of::<T>();
        T::fill(&mut all[at..end], bytes);
        at = end;
    }
}
