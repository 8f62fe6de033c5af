//! Consumers of expressions with a static type: faces of `AnyExpr`'s.

use std::future::Future;

use super::Tensor;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::expr::{AnyExpr, Expr};
use crate::layout::Integers;

/// Consumers.
impl<T: Element> Expr<T> {
    /// [`eval`](Self::eval) without blocking the calling thread. Another thread does everything that takes time:
    /// computing on the CPU path, and compiling on an adapter. This call requests the work, which reads the tensors as
    /// they are now, whatever is assigned to them before the future is done. Dropping the future does not stop the
    /// work.
    ///
    /// If a kernel must be compiled first, the tensors that it reads are copied on the device.
    /// [`warm_up`](Self::warm_up) avoids both.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    ///
    /// ```
    /// use zerostride::Device;
    ///
    /// let x = Device::cpu().upload(&[1.0_f32, 4.0, 9.0], [3])?;
    /// let roots = x.sqrt().eval_async();
    /// x.write(&[0.0; 3])?; // is not seen
    /// assert_eq!(pollster::block_on(roots)?.to_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_async(&self) -> impl Future<Output = Result<Tensor<T>>> + Send + use<T> {
        let begun = self.untyped().eval_async();
        async move { Ok(Tensor::face(begun.await?)) }
    }

    /// Runs several expressions on the device of their tensors, with one kernel for equal shapes. Common parts are read
    /// and computed once. The results are in the order of the expressions.
    ///
    /// # Errors
    /// As [`eval`](Self::eval), for the first expression with an error. None is evaluated then.
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
        let exprs: Vec<&AnyExpr> = exprs.iter().map(Expr::untyped).collect();
        Ok(AnyExpr::eval_each(&exprs, None)?.into_iter().map(Tensor::face).collect())
    }

    /// [`eval_all`](Self::eval_all) on a device, also of expressions without a tensor.
    ///
    /// # Errors
    /// As [`eval_on`](Self::eval_on), for the first expression with an error. None is evaluated then.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let all = Expr::eval_all_on(&[Expr::iota([2], 0), Expr::scalar(7)], &Device::cpu())?;
    /// assert_eq!((all[0].to_vec()?, all[1].item()?), (vec![0, 1], 7));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn eval_all_on(exprs: &[Expr<T>], device: &Device) -> Result<Vec<Tensor<T>>> {
        let exprs: Vec<&AnyExpr> = exprs.iter().map(Expr::untyped).collect();
        Ok(AnyExpr::eval_each(&exprs, Some(device))?.into_iter().map(Tensor::face).collect())
    }

    /// Evaluates, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.untyped().elements()?.to_vec()
    }

    /// Evaluates, and reads the only element of a result that has one.
    ///
    /// # Errors
    /// As [`eval`](Self::eval), and [`Tensor::item`].
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3], [3])?;
    /// assert_eq!((x.slice(0, 1..2).item()?, x.sum(0).item()?), (2, 6));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn item(&self) -> Result<T> {
        Tensor::face(self.untyped().elements()?).item()
    }

    /// Evaluates, and reads one element, by an index for each axis; negative ones count from the end. Nothing else of
    /// an expression is computed. Each call waits for the device, so read many elements with [`to_vec`](Self::to_vec).
    ///
    /// # Errors
    /// When an index lies outside of its axis, there is one too few or too many, or as [`eval`](Self::eval).
    ///
    /// ```
    /// let x = zerostride::Device::cpu().upload(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!((x.get([1, 0])?, (&x * 10).get([0, -1])?), (4, 30));
    ///
    /// let error = x.get([1, 3]).unwrap_err();
    /// assert_eq!(error.message(), "get [1, 3] of [2, 3]: index 3 is outside of axis 1, which has length 3");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn get(&self, index: impl Integers) -> Result<T> {
        let index = index.signed_all();
        Self::face(self.untyped().view(|layout| layout.element(&index))).item()
    }

    /// Evaluates, and writes the elements in row-major order to `all` ([`Tensor::read_into`]).
    ///
    /// # Errors
    /// As [`eval`](Self::eval), and [`Tensor::read_into`].
    ///
    /// ```
    /// let frames = zerostride::Device::cpu().upload(&[1_u8, 2, 3, 4], [2, 2])?;
    /// let mut frame = [0; 2];
    /// frames.slice(0, 1..).read_into(&mut frame)?;
    /// assert_eq!(frame, [3, 4]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn read_into(&self, all: &mut [T]) -> Result<()> {
        self.untyped().elements()?.read_into(all)
    }

    /// Evaluates on a device, and reads the elements in row-major order.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec_on(&self, device: &Device) -> Result<Vec<T>> {
        self.eval_on(device)?.to_vec()
    }

    /// Evaluates, and reads the elements in row-major order, without blocking the calling thread, as
    /// [`eval_async`](Self::eval_async) does.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn to_vec_async(&self) -> impl Future<Output = Result<Vec<T>>> + Send + use<T> {
        self.untyped().read_later()
    }

    /// [`warm_up`](Self::warm_up) without blocking the calling thread ([`AnyExpr::warm_up_async`]).
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    #[track_caller]
    pub fn warm_up_async(&self, device: &Device) -> impl Future<Output = Result<()>> + Send + use<T> {
        self.untyped().warm_up_async(device)
    }
}
