//! A user's function, as steps call it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use super::written::Written;
use crate::dtype::DType;

/// Computes some elements. Every argument has as many elements as the result, or fewer equal ones.
pub(crate) type Run = Box<dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync>;

/// A [`Function`](crate::Function) whose types are known at run time.
///
/// ```
/// use zerostride::{AnyExpr, AnyFunction, Device, Function};
///
/// let half: AnyFunction = Function::on_cpu("half", |x: f32| x / 2.0)?.into();
/// let x = AnyExpr::from(Device::cpu().upload(&[1.0_f32, 5.0], [2])?);
/// assert_eq!(half.call(&[x.clone()]).to_vec::<f32>()?, [0.5, 2.5]);
///
/// let error = half.call(&[x.clone(), x]).eval().unwrap_err();
/// assert_eq!(error.message(), "half takes (f32) and got (f32, f32): cast the operands");
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyFunction {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub name: String,
    pub args: SmallVec<[DType; 4]>,
    pub result: DType,
    pub written: Option<Written>,
    pub run: Run,
}

/// Functions are equal if they were made by one call, as closures are.
impl PartialEq for AnyFunction {
    fn eq(&self, other: &AnyFunction) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for AnyFunction {}

impl Hash for AnyFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.inner).hash(state);
    }
}

impl fmt::Debug for AnyFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} -> {}", self.name(), list(&self.inner.args), self.inner.result)
    }
}

/// `(f32, i32)`.
pub(crate) fn list(types: &[DType]) -> String {
    format!("({})", types.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", "))
}

impl AnyFunction {
    /// Its name, as the user wrote it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its text, and its name in that text. `None` for a function of the CPU path alone.
    pub(crate) fn written(&self) -> Option<&Written> {
        self.inner.written.as_ref()
    }

    /// Computes some elements on the CPU.
    pub(crate) fn run(&self, args: &[&[u8]], out: &mut [u8]) {
        (self.inner.run)(args, out);
    }
}
