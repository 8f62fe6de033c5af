//! What consumes expressions, and what is told of them.

use std::fmt;
use std::future::Future;
use std::panic::Location;

use super::Tensor;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::expr::Expr;
use crate::layout::Layout;
use crate::schedule::Schedule;

/// Consumers.
impl<T: Element> Expr<T> {
    /// Runs the expression as one kernel on the device of its tensors, into a new row-major
    /// tensor; a costly part over fewer elements, as `exp` of a row, may get a kernel of its own. The call
    /// returns when the work is recorded; reading the result waits for it.
    ///
    /// # Errors
    /// The first mistake that was made while building; tensors of different devices, or none at
    /// all (then use [`eval_on`](Self::eval_on)); a limit of the adapter; no memory.
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1.0_f32, 4.0, 9.0], [3])?;
    /// assert_eq!((x.sqrt() - 1.0).eval()?.to_vec()?, [0.0, 1.0, 2.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval(&self) -> Result<Tensor<T>> {
        let at = Location::caller();
        let backends = self.backends()?;
        let Some(first) = backends.first() else {
            let text = "an expression without tensors has no device: use eval_on and name one";
            return Err(Error::new(ErrorKind::Device, text).at(at));
        };
        let device = Device::from_backend(first.clone());
        device.is_that_of(backends).map_err(|e| e.at(at))?;
        self.run(&device)
    }

    /// Runs the expression on a device, which its tensors, if any, must live on.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn eval_on(&self, device: &Device) -> Result<Tensor<T>> {
        device.agrees(self).map_err(|e| e.at(Location::caller()))?;
        self.run(device)
    }

    /// Runs several expressions on the device of their tensors, those of equal shapes by one kernel: what
    /// they have in common is read and computed once. The results are in the order of the expressions.
    ///
    /// # Errors
    /// As [`eval`](Self::eval), for the first expression that has any; then none is evaluated.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[3.0_f32, 5.0], [2])?;
    /// let y = Device::cpu().upload(&[1.0_f32, 2.0], [2])?;
    /// let both = Expr::eval_all(&[&x + &y, &x - &y])?;
    /// assert_eq!(both[0].to_vec()?, [4.0, 7.0]);
    /// assert_eq!(both[1].to_vec()?, [2.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_all(exprs: &[Expr<T>]) -> Result<Vec<Tensor<T>>> {
        let at = Location::caller();
        let mut backends = Vec::new();
        for expr in exprs {
            backends.extend_from_slice(expr.backends()?);
        }
        let Some(first) = backends.first() else {
            if exprs.is_empty() {
                return Ok(Vec::new());
            }
            let text = "expressions without tensors have no device: use eval_on and name one";
            return Err(Error::new(ErrorKind::Device, text).at(at));
        };
        let device = Device::from_backend(first.clone());
        device.is_that_of(&backends).map_err(|e| e.at(at))?;
        let nodes = exprs.iter().map(Expr::node).collect::<Result<Vec<_>>>()?;
        let mut results: Vec<Option<Tensor<T>>> = exprs.iter().map(|_| None).collect();
        for i in 0..nodes.len() {
            if results[i].is_some() {
                continue;
            }
            let shape = &nodes[i].shape;
            let alike: Vec<usize> = (i..nodes.len()).filter(|&j| nodes[j].shape == *shape).collect();
            let roots: Vec<_> = alike.iter().map(|&j| nodes[j]).collect();
            let schedule = Schedule::new(&roots, shape, device.bounds())?;
            let last = device.stages(&schedule)?;
            let storages = device.backend().eval_all(&last)?;
            for (j, storage) in alike.into_iter().zip(storages) {
                results[j] = Some(Tensor::new(device.clone(), storage, Layout::contiguous(shape)?));
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Runs the expression on the device of its tensors.
    fn run(&self, device: &Device) -> Result<Tensor<T>> {
        let node = self.node()?;
        let schedule = Schedule::of(node, device.bounds())?;
        let layout = Layout::contiguous(&node.shape)?;
        let last = device.stages(&schedule)?;
        let storage = device.backend().eval(&last)?;
        Ok(Tensor::new(device.clone(), storage, layout))
    }

    /// Evaluates, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.eval()?.to_vec()
    }

    /// Evaluates on a device, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec_on(&self, device: &Device) -> Result<Vec<T>> {
        self.eval_on(device)?.to_vec()
    }

    /// Evaluates, and reads the elements in row-major order without blocking the calling thread.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec_async(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        let reading = self.eval().map(|tensor| tensor.to_vec_async());
        async move { reading?.await }
    }

    /// Compiles the kernel of this expression without running it, so that the first evaluation of its
    /// class does not wait for the compiler. Some drivers put a part of that off to the first run.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::open()?;
    /// let x = device.zeros::<f32>([4, 3])?;
    /// (&x * 2.0).warm_up(&device)?;
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn warm_up(&self, device: &Device) -> Result<()> {
        device.agrees(self).map_err(|e| e.at(Location::caller()))?;
        let node = self.node()?;
        let schedule = Schedule::of(node, device.bounds())?;
        let last = schedule.run(|stage| {
            device.backend().prepare(stage)?;
            device.backend().reserve(stage)
        })?;
        device.backend().prepare(&last)
    }

    /// What evaluating on `device` would run: operands under the axes of the result, the axes left
    /// after collapsing, how each operand is accessed, the grid, the bytes that move, and the
    /// kernel's text. Nothing runs.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let device = Device::cpu();
    /// let x = device.zeros::<f32>([4, 3])?;
    /// let row = device.zeros::<f32>([3])?;
    /// let explained = (&x + &row).explain(&device)?;
    /// assert!(explained.to_string().starts_with("f32 [4, 3] = add(a, b)"));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn explain(&self, device: &Device) -> Result<Explain> {
        device.agrees(self).map_err(|e| e.at(Location::caller()))?;
        let node = self.node()?;
        let schedule = Schedule::of(node, device.bounds())?;
        let mut text = String::new();
        let last = schedule.run(|stage| {
            let (plan, _) = device.backend().explain(stage)?;
            text += &format!("first, as it is stored:\n{}{plan}then:\n", stage.describe());
            device.backend().reserve(stage)
        })?;
        let (plan, wgsl) = device.backend().explain(&last)?;
        let text = format!("{text}{}device: {}\n{plan}", last.describe(), device.name());
        Ok(Explain { text, wgsl })
    }
}

/// What would run for an expression, as [`Expr::explain`] tells it. Prints as text.
#[derive(Clone, Debug)]
pub struct Explain {
    text: String,
    wgsl: Option<String>,
}

impl Explain {
    /// The text of the kernel, where the device runs one.
    pub fn wgsl(&self) -> Option<&str> {
        self.wgsl.as_deref()
    }
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
