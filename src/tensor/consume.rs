//! Consumers of expressions, and explanations.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use super::later::Later;
use super::read::Pending;
use super::several::Kernels;
use super::{AnyTensor, Explain, Tensor};
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Line, Result, bail, called};
use crate::expr::{AnyExpr, Expr, Face, on_both};
use crate::ir::{Backend, Destination, Fingerprint, Node, Results, Schedule};
use crate::layout::{Layout, Shape};

on_both! {
    /// Consumers: an expression becomes a tensor.
    examples of i32 ["[1, 2, 3, 4], [2, 2]"];

    /// Runs the expression, usually as one kernel, on the device of its tensors, into a new row-major tensor. An
    /// expensive part over fewer elements, as `exp` of a row, may get a kernel of its own. The call returns when the
    /// work is recorded. Reading the result waits for it.
    ///
    /// # Errors
    /// The first mistake that was made while building; tensors of different devices, or none at
    /// all (then use [`eval_on`](Self::eval_on)); a limit of the adapter; no memory.
    eval() -> (T, Result<AnyTensor> | Result<Tensor<T>>), "x.sum(0).eval()?" => "[4, 6]", |x| x.run(&x.own_device()?);
    /// A new row-major tensor of the elements, which no other handle names, while `clone` is another handle for the
    /// same elements. It does the same as [`eval`](Self::eval), under the name that other libraries use.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[doc(alias = "clone")]
    copy() -> (T, Result<AnyTensor> | Result<Tensor<T>>), "x.slice(1, ..1).copy()?" => "[1, 3]", |x| x.run(&x.own_device()?);
    /// The elements on a device. An expression is computed where its tensors live. A tensor that lives there already is
    /// returned as it is, as by PyTorch's `to`. Otherwise the elements go through the host, and this call waits for
    /// them.
    ///
    /// # Errors
    /// As [`eval`](Self::eval) and [`Device::upload`].
    #[doc(alias = "cuda")]
    to(device: &Device) -> (T, Result<AnyTensor> | Result<Tensor<T>>),
        "x.to(&zerostride::Device::open()?)?.flip(0)" => "[3, 4, 1, 2]", |x| {
            if x.backends()?.is_empty() {
                return x.eval_on(device);
            }
            let own = x.elements()?;
            match own.device().same(device) {
                true => Ok(own),
                false => device.upload_bytes(&own.to_bytes()?, own.dtype(), own.shape()),
            }
        };
    /// Runs the expression on a device, which its tensors, if any, must live on.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    eval_on(device: &Device) -> (T, Result<AnyTensor> | Result<Tensor<T>>), "x.coordinate(1).eval_on(&device)?" => "[0, 1, 0, 1]", |x| {
        device.agrees(x)?;
        x.run(device)
    };
    /// Compiles the kernel of this expression without running it, so that the first evaluation does not wait for the
    /// compiler. Some drivers postpone a part of that to the first run.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    warm_up(device: &Device) -> (_, Result<()> | Result<()>), "x.sum(0).warm_up(&device).is_ok()" => "true", |x| {
        device.agrees(x)?;
        let schedule = Schedule::of(x.node()?, device.bounds())?;
        device.backend()?.compile(&schedule, Destination::New)
    };
    /// The explanation of evaluating on `device`: operands under the axes of the result, the axes after collapsing, the
    /// access of each operand, the grid, the bytes that move, and the kernel's text. Nothing runs.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    explain(device: &Device) -> (_, Result<Explain> | Result<Explain>),
        "x.sum(0).explain(&device)?.to_string().lines().next()" => "Some(\"i32 [1, 2] = sum over axis 0 of [2, 2] a\")", |x| {
            device.agrees(x)?;
            let node = x.node()?;
            let schedule = Schedule::of(node, device.bounds())?;
            let mut explain = Explain::default();
            let explanations = device.backend()?.explain(&schedule)?;
            schedule.all().zip(explanations).for_each(|(stage, own)| explain.push(stage, own));
            explain.device = device.name();
            Ok(explain)
        };
}

impl Face<Explain> for Explain {
    fn face(untyped: Explain) -> Self {
        untyped
    }
}

impl AnyExpr {
    /// The device of the tensors.
    pub(super) fn own_device(&self) -> Result<Device> {
        Device::of(self.backends()?)
    }

    /// [`eval`](Self::eval) without blocking the calling thread ([`Expr::eval_async`]).
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::{AnyExpr, AnyTensor, DType, Device};
    ///
    /// let x = Device::cpu().upload_bytes(&[1, 4, 9], DType::U8, [3])?;
    /// let roots = AnyExpr::call("sqrt", &[x.cast(DType::F32)]).eval_async();
    /// x.write_bytes(&[0; 3])?; // is not seen
    /// assert_eq!(pollster::block_on(roots)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_async(&self) -> impl Future<Output = Result<AnyTensor>> + Send + use<> {
        let at = Location::caller();
        let begun = called(at, || self.begin(self.own_device()?, at));
        async move {
            let result = begun?.await?;
            result.device().backend()?.settle(std::slice::from_ref(result.storage())).await?;
            Ok(result)
        }
    }

    /// Begins to run the expression.
    fn begin(&self, device: Device, at: Line) -> Result<Later<AnyTensor>> {
        let node = self.node()?;
        let schedule = Schedule::of(node, device.bounds())?;
        if !device.takes_time(&schedule)? {
            return Ok(Later::ready(self.run(&device)));
        }
        let schedule = schedule.over(|storage, dtype| device.backend()?.snapshot(storage, dtype))?;
        let (dtype, shape) = (node.dtype, node.shape.clone());
        Ok(Later::begin(move || {
            called(at, || {
                let results = device.backend()?.run(Cow::Owned(schedule), Destination::New, None)?;
                device.tensor(results, dtype, &shape)
            })
        }))
    }

    /// Runs several expressions on the device of their tensors, with one kernel for equal shapes, whatever their types
    /// ([`Expr::eval_all`](crate::Expr::eval_all)). The results are in the order of the expressions.
    ///
    /// # Errors
    /// As [`eval`](Self::eval), for the first expression with an error. None is evaluated then.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = Device::cpu().upload_bytes(&[1, 2], DType::U8, [2])?;
    /// let all = AnyExpr::eval_all(&[AnyExpr::call("square", &[x.expr()]), x.cast(DType::I16)])?;
    /// assert_eq!(all[0].to_vec::<u8>()?, [1, 4]);
    /// assert_eq!(all[1].to_vec::<i16>()?, [1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_all(exprs: &[AnyExpr]) -> Result<Vec<AnyTensor>> {
        Self::eval_each(&exprs.iter().collect::<Vec<_>>(), None)
    }

    #[track_caller]
    pub(super) fn eval_each(exprs: &[&AnyExpr], on: Option<&Device>) -> Result<Vec<AnyTensor>> {
        called(Location::caller(), || {
            if exprs.is_empty() {
                return Ok(Vec::new());
            }
            let device = match on {
                Some(device) => {
                    exprs.iter().try_for_each(|expr| device.agrees(expr))?;
                    device.clone()
                }
                None => {
                    let backends = exprs.iter().map(|expr| expr.backends()).collect::<Result<Vec<_>>>()?;
                    Device::of(&backends.concat())?
                }
            };
            Kernels::new(exprs, &device)?.eval(&device)
        })
    }

    /// Runs the expression on the device of its tensors.
    fn run(&self, device: &Device) -> Result<AnyTensor> {
        let node = self.node()?;
        let results = device.run(node, Destination::New, || Schedule::of(node, device.bounds()))?;
        device.tensor(results, node.dtype, &node.shape)
    }

    /// The elements to read: a tensor's own, or computed ones.
    #[track_caller]
    pub(super) fn elements(&self) -> Result<AnyTensor> {
        match self.named()? {
            Some(tensor) => Ok(tensor),
            None => self.eval(),
        }
    }

    /// Evaluates, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval); when the elements have another type.
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1, 2], [2])?);
    /// assert_eq!(AnyExpr::call("neg", &[x]).to_vec::<i32>()?, [-1, -2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.typed::<T>()?.to_vec()
    }

    /// Evaluates, and reads the elements in row-major order as bytes, as [`AnyTensor::to_bytes`].
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// let x = Device::cpu().upload_bytes(&[1, 2], DType::U8, [2])?;
    /// assert_eq!(x.cast(DType::U16).to_bytes()?, [1, 0, 2, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.elements()?.to_bytes()
    }

    /// Evaluates, and reads the elements in row-major order as bytes, without blocking the calling thread, as
    /// [`eval_async`](Self::eval_async) does.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// let x = Device::cpu().upload_bytes(&[1, 2], DType::U8, [2])?;
    /// assert_eq!(pollster::block_on(x.cast(DType::U16).to_bytes_async())?, [1, 0, 2, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn to_bytes_async(&self) -> impl Future<Output = Result<Vec<u8>>> + Send + use<> {
        self.read_later()
    }

    /// The elements as bytes.
    #[track_caller]
    pub(super) fn read_later<T: Element>(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        let reading: Pending<Vec<T>> = match self.named() {
            Ok(Some(tensor)) => Box::pin(tensor.read()),
            _ => {
                let computed = self.eval_async();
                Box::pin(async move { computed.await?.read().await })
            }
        };
        reading
    }

    /// [`warm_up`](Self::warm_up) without blocking the calling thread: another thread compiles, or the browser. The
    /// future returns the error of a refused kernel.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::{DType, Device};
    ///
    /// let device = Device::open()?;
    /// let x = device.zeros_any(DType::F32, [4, 3])?;
    /// pollster::block_on(x.cast(DType::I32).warm_up_async(&device))?;
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn warm_up_async(&self, device: &Device) -> impl Future<Output = Result<()>> + Send + use<> {
        let (expr, device, at) = (self.clone(), device.clone(), Location::caller());
        let backend = device.as_backend().clone();
        let compile = move || called(at, || expr.warm_up(&device));
        let begun = Later::begin(compile.clone());
        async move {
            begun.await?;
            if backend.can_wait("warm_up").is_ok() {
                return Ok(());
            }
            // By then it is known whether the kernels were refused.
            backend.settle(&[]).await?;
            compile()
        }
    }
}

impl Device {
    /// The one device of all tensors.
    fn of(backends: &[Arc<dyn Backend>]) -> Result<Device> {
        let Some(first) = backends.first() else {
            bail!(Device, "an expression without tensors has no device: use eval_on and name one");
        };
        let device = Device::from_backend(first.clone());
        device.is_that_of(backends)?;
        Ok(device)
    }

    /// Runs an expression from the plan cache if the device has it there, otherwise by its schedule.
    pub(super) fn run(
        &self,
        node: &Arc<Node>,
        to: Destination<'_>,
        schedule: impl FnOnce() -> Result<Arc<Schedule>>,
    ) -> Result<Results> {
        let backend = self.backend()?;
        let into = match to {
            Destination::New => None,
            Destination::Into(places) => places.first().copied(),
        };
        // An expression that is evaluated again keeps its own schedule, however large it is.
        let is_kept = into.is_none() && node.schedule.is_seen();
        let print = if is_kept || !backend.remembers() { None } else { Fingerprint::of(node, into) };
        if let Some((print, leaves)) = &print
            && let Some(results) = backend.clone().run_known(print, leaves)
        {
            node.schedule.again();
            return results;
        }
        let schedule = schedule()?;
        match Arc::try_unwrap(schedule) {
            Ok(own) => backend.clone().run(Cow::Owned(own), to, print.as_ref()),
            Err(kept) => backend.clone().run(Cow::Borrowed(&kept), to, print.as_ref()),
        }
    }

    /// The tensor of the one result of a run.
    pub(super) fn tensor(&self, mut results: Results, dtype: DType, shape: &Shape) -> Result<AnyTensor> {
        let Some(storage) = results.pop() else { bail!(Kernel, "a schedule without a result") };
        Ok(AnyTensor::new(self.clone(), storage, dtype, Layout::contiguous(shape)?))
    }

    /// Whether making a schedule takes longer than recording it. Then another thread makes it, if there are threads.
    pub(super) fn takes_time(&self, schedule: &Schedule) -> Result<bool> {
        let backend = self.backend()?;
        let threads = backend.can_wait("this").is_ok();
        Ok(backend.computes_here() || threads && !backend.is_compiled(schedule)?)
    }
}
