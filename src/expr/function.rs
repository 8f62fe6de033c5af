//! Functions of users: WGSL for kernels, and an equivalent closure for the CPU path.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{AnyExpr, Expr, IntoExpr};
use crate::dtype::{DType, Element, bf16, f16};
use crate::error::{Result, bail};
use crate::ir::{AnyFunction, Body, Inner, Node, Run, Written, list};

/// Types of a function's operands and results: floats, and integers of 32 bits.
pub trait FunctionElement: Element + bytemuck::Pod + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}
        impl FunctionElement for $t {}
    )*};
}
elements!(f32 f64 f16 bf16 i32 u32);

impl AnyFunction {
    /// This function of some operands, which broadcast together. Operands of other types are a mistake.
    #[track_caller]
    pub fn call(&self, operands: &[AnyExpr]) -> AnyExpr {
        let at = Location::caller();
        let call = || {
            let nodes = operands.iter().map(AnyExpr::node).collect::<Result<Vec<_>>>()?;
            let types: SmallVec<[DType; 4]> = nodes.iter().map(|node| node.dtype).collect();
            let Inner { name, args, result, .. } = &*self.inner;
            if types != *args {
                bail!(Type, "{name} takes {} and got {}: cast the operands", list(args), list(&types));
            }
            let shapes: SmallVec<[_; 4]> = nodes.iter().map(|node| node.shape.clone()).collect();
            let shape = crate::layout::numpy(&shapes)?;
            super::compat::check(&nodes, at);
            Ok(Node::body(Body::Function(self.clone()), 0, *result, shape, &nodes))
        };
        AnyExpr::new(call())
    }
}

/// A user's function of one to four operands: WGSL for kernels, and an equivalent closure for the CPU path.
///
/// It is made once and then called as operations are, and fuses as they do. Operands are floats and integers of 32
/// bits, each of its own type, and broadcast together.
///
/// The WGSL declares a function of that name over four lanes: `vec4<f32>` for f32, f16 and bf16, and `vec4` of the type
/// for others. It may have other functions, constants, structs and aliases, whose names are private. It must not have
/// bindings, global variables, overrides, entry points, directives or barriers. The text is checked when the function
/// is made, except in a build without the feature `gpu`, which only runs closures. The closure computes one element,
/// and rounds results of f16 and bf16 itself.
///
/// The driver compiles the inside: it may rewrite float arithmetic as algebra, and its `sin` or `exp` has its own
/// accuracy. So results are the same on every device if they are exact, as those of integers, selections and lone
/// operations. Others are as accurate as WGSL requires. At its borders a function is fenced as an operation is.
///
/// ```
/// use zerostride::{Device, Function};
///
/// let soft = Function::new(
///     "soft",
///     "fn soft(x: vec4<f32>, k: vec4<f32>) -> vec4<f32> { return sign(x) * max(abs(x) - k, vec4<f32>(0.0)); }",
///     |x: f32, k: f32| if x.abs() > k { x - k * x.signum() } else { 0.0 },
/// )?;
/// let x = Device::open()?.upload(&[-3.0_f32, 0.5, 2.0], [3])?;
/// assert_eq!((soft.call(&x, 1.0) * 2.0).to_vec()?, [-4.0, 0.0, 2.0]);
/// # Ok::<(), zerostride::Error>(())
/// ```
pub struct Function<A, R> {
    any: AnyFunction,
    types: PhantomData<fn(A) -> R>,
}

impl<A, R> Clone for Function<A, R> {
    fn clone(&self) -> Self {
        Function { any: self.any.clone(), types: PhantomData }
    }
}

impl<A, R> fmt::Debug for Function<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

impl<A, R> From<Function<A, R>> for AnyFunction {
    fn from(function: Function<A, R>) -> AnyFunction {
        function.any
    }
}

/// Closures of one to four elements, for [`Function::new`].
pub trait Closure<A, R>: Send + Sync + 'static {
    #[doc(hidden)]
    fn types() -> (Vec<DType>, DType);

    #[doc(hidden)]
    fn run(&self, args: &[&[u8]], out: &mut [u8]);
}

impl<A, R> Function<A, R> {
    /// A function of WGSL and an equivalent closure.
    ///
    /// # Errors
    /// When the WGSL lacks something or has something forbidden: with line and column.
    ///
    /// ```
    /// use zerostride::Function;
    ///
    /// let text = "fn twice(x: vec4<f32>) -> vec4<f32> {\n    return 2.0 * y;\n}";
    /// let error = Function::new("twice", text, |x: f32| 2.0 * x).unwrap_err();
    /// assert_eq!(error.message(), "the WGSL of twice, line 2, column 18: no definition in scope for identifier: `y`");
    /// ```
    pub fn new(name: &str, wgsl: &str, closure: impl Closure<A, R>) -> Result<Self> {
        Self::made(name, Some(wgsl), closure)
    }

    /// A function for the CPU path alone: evaluating it on another device is an error.
    ///
    /// # Errors
    /// When the name is no identifier of WGSL and Rust.
    pub fn on_cpu(name: &str, closure: impl Closure<A, R>) -> Result<Self> {
        Self::made(name, None, closure)
    }

    fn made<C: Closure<A, R>>(name: &str, wgsl: Option<&str>, closure: C) -> Result<Self> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_word) {
            bail!(
                Operation,
                "'{name}' is no name of a function: a name begins with a letter and has letters, digits and _"
            );
        }
        let (args, result) = C::types();
        let written = wgsl.map(|text| Written::new(name, text, &args, result)).transpose()?;
        let run: Run = Box::new(move |args, out| closure.run(args, out));
        let inner = Inner { name: name.to_string(), args: args.into(), result, written, run };
        Ok(Function { any: AnyFunction { inner: Arc::new(inner) }, types: PhantomData })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.any.name()
    }
}

macro_rules! arities {
    ($(($($t:ident $x:ident $i:literal),+))*) => {$(
        impl<C, R: FunctionElement, $($t: FunctionElement),+> Closure<($($t,)+), R> for C
        where
            C: Fn($($t),+) -> R + Send + Sync + 'static,
        {
            fn types() -> (Vec<DType>, DType) {
                (vec![$($t::DTYPE),+], R::DTYPE)
            }

            fn run(&self, args: &[&[u8]], out: &mut [u8]) {
                let out: &mut [R] = bytemuck::cast_slice_mut(out);
                $(let $x: &[$t] = bytemuck::cast_slice(args[$i]);)+
                // An operand with fewer elements repeats them.
                let part = out.len()$(.min($x.len()))+.max(1);
                crate::vectors::dispatch(|| {
                    for (k, out) in out.chunks_mut(part).enumerate() {
                        $(let $x = if $x.len() > part { &$x[k * part..][..out.len()] } else { &$x[..out.len()] };)+
                        for (i, out) in out.iter_mut().enumerate() {
                            *out = self($($x[i]),+);
                        }
                    }
                });
            }
        }

        impl<R: FunctionElement, $($t: FunctionElement),+> Function<($($t,)+), R> {
            /// This function of its operands: tensors, expressions or numbers, which broadcast together.
            #[track_caller]
            pub fn call(&self, $($x: impl IntoExpr<$t>),+) -> Expr<R> {
                Expr::face(self.any.call(&[$($x.into_expr().any),+]))
            }
        }
    )*};
}
arities! {
    (A a 0)
    (A a 0, B b 1)
    (A a 0, B b 1, C2 c 2)
    (A a 0, B b 1, C2 c 2, D d 3)
}
