//! Methods of `AnyExpr` and of `Expr`, written once: the typed one calls the other. Both have the same docs, and an
//! example each.

use std::panic::Location;

use super::{AnyExpr, Expr};
use crate::dtype::Element;
use crate::error::{Result, called};

/// What an untyped method returns: something built, or an error in place of it.
pub(crate) trait Untyped {
    /// What is built.
    type Built;

    fn or_error(built: Result<Self::Built>) -> Self;
}

impl Untyped for AnyExpr {
    type Built = AnyExpr;

    fn or_error(built: Result<AnyExpr>) -> AnyExpr {
        built.unwrap_or_else(AnyExpr::mistake)
    }
}

impl Untyped for (AnyExpr, AnyExpr) {
    type Built = (AnyExpr, AnyExpr);

    fn or_error(built: Result<Self>) -> Self {
        built.unwrap_or_else(|error| (AnyExpr::mistake(error.clone()), AnyExpr::mistake(error)))
    }
}

impl<B> Untyped for Result<B> {
    type Built = B;

    fn or_error(built: Result<B>) -> Result<B> {
        built
    }
}

/// Builds inside of a public call, whose line all mistakes get.
#[track_caller]
pub(crate) fn built<U: Untyped>(build: impl FnOnce() -> Result<U::Built>) -> U {
    U::or_error(called(Location::caller(), build))
}

/// The typed form of what an untyped method returns, whose element types are known.
pub(crate) trait Face<Untyped> {
    fn face(untyped: Untyped) -> Self;
}

impl<T: Element> Face<AnyExpr> for Expr<T> {
    fn face(untyped: AnyExpr) -> Self {
        Expr::face(untyped)
    }
}

impl Face<()> for () {
    fn face((): ()) -> Self {}
}

impl<A: Face<U>, B: Face<V>, U, V> Face<(U, V)> for (A, B) {
    fn face((a, b): (U, V)) -> Self {
        (A::face(a), B::face(b))
    }
}

impl<A: Face<U>, U> Face<Vec<U>> for Vec<A> {
    fn face(untyped: Vec<U>) -> Self {
        untyped.into_iter().map(A::face).collect()
    }
}

impl<A: Face<U>, U, const N: usize> Face<[U; N]> for [A; N] {
    fn face(untyped: [U; N]) -> Self {
        untyped.map(A::face)
    }
}

impl<A: Face<U>, U> Face<Result<U>> for Result<A> {
    fn face(untyped: Result<U>) -> Self {
        untyped.map(A::face)
    }
}

/// The header has the type, the elements and the shape of the examples' `x`, and more lines before the call. Then come
/// methods with a call, its result, and the body over the untyped operands. An operand stands behind a semicolon, with
/// `as` and the type of its elements if that is not `T`. `let` runs what an argument may do, such as an iterator of the
/// user's, whose mistakes have lines of their own. A method that returns something else than an expression names the
/// type of the elements that the example reads, or `_` if it reads none, and what both forms return.
///
/// The second form is for macros that write rows of a table. Its header has the types of the typed form, and each method
/// has an example of its own, whose texts may be expressions.
macro_rules! on_both {
    ($(#[$about:meta])+ examples of $t:ident $lines:tt;
        $($(#[$doc:meta])+ $name:ident $([$($generic:tt)*])?
            ($($before:ident: $b:ty),* $(; $operand:ident $(as $of:ident)? $(, $after:ident: $a:ty)*)?) -> $gives:tt $(where $bound:ident)?,
            $eg:literal => $to:literal, $(let $held:pat = $value:expr,)* |$x:ident| $body:expr;)*) => {
        $crate::expr::on_both! {
            $(#[$about])+
            impl [<T: Element>] T;
            $($(#[$doc])+ $name $([$($generic)*])?
                ($($before: $b),* $(; $operand $(as $of)? $(, $after: $a)*)?) -> $gives $(where $bound)?,
                of $t $lines, $eg => $to, $(let $held = $value,)* |$x| $body;)*
        }
    };
    ($(#[$about:meta])+ impl [$($own:tt)*] $typed:ty;
        $($(#[$doc:meta])+ $name:ident $([$($generic:tt)*])?
            ($($before:ident: $b:ty),* $(; $operand:ident $(as $of:ident)? $(, $after:ident: $a:ty)*)?) -> $gives:tt $(where $bound:ident)?,
            of $t:ident [$data:expr $(, $more:expr)*], $eg:expr => $to:expr, $(let $held:pat = $value:expr,)* |$x:ident| $body:expr;)*) => {
        $(#[$about])+
        impl AnyExpr {$(
            $(#[$doc])+
            ///
            /// ```
            /// # use zerostride::AnyExpr;
            /// # let device = zerostride::Device::cpu();
            #[doc = concat!("let x = AnyExpr::from(device.upload(&", $data, ")?);")]
            $(#[doc = $more])*
            #[doc = concat!("assert_eq!(", $eg, $crate::expr::read!($gives $t), ", ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name$(<$($generic)*>)?(
                &self, $($before: $b,)* $($operand: impl Into<AnyExpr>, $($after: $a),*)?
            ) -> $crate::expr::untyped!($gives) {
                let $x = self;
                $(let $held = $value;)*
                $(let $operand: &AnyExpr = &$operand.into();)?
                $crate::expr::built(|| $body)
            }
        )*}

        $(#[$about])+
        impl $($own)* Expr<$typed> {$(
            $(#[$doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            #[doc = concat!("let x = device.upload(&", $data, ")?;")]
            $(#[doc = $more])*
            #[doc = concat!("assert_eq!(", $eg, $crate::expr::read!($gives), ", ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name$(<$($generic)*>)?(
                &self, $($before: $b,)* $($operand: impl IntoExpr<$crate::expr::operand!($($of)?)>, $($after: $a),*)?
            ) -> $crate::expr::typed!($gives) $(where T: $bound)? {
                $crate::expr::Face::face(self.untyped().$name($($before,)* $($operand.into_expr(), $($after),*)?))
            }
        )*}
    };
}
pub(crate) use on_both;

/// How an example reads a result: with the type of the elements in the untyped form.
macro_rules! read {
    ((_, $untyped:ty | $typed:ty) $($t:ident)?) => {
        ""
    };
    (($gives:ident, $untyped:ty | $typed:ty) $($t:ident)?) => {
        $crate::expr::read!($gives $($t)?)
    };
    ($gives:ident) => {
        ".to_vec()?"
    };
    (T $t:ident) => {
        concat!(".to_vec::<", stringify!($t), ">()?")
    };
    ($gives:ident $t:ident) => {
        concat!(".to_vec::<", stringify!($gives), ">()?")
    };
}
pub(crate) use read;

/// The type of an operand's elements in the typed form.
macro_rules! operand {
    () => {
        T
    };
    ($of:ident) => {
        $of
    };
}
pub(crate) use operand;

/// What the untyped form of a method returns.
macro_rules! untyped {
    ($gives:ident) => {
        AnyExpr
    };
    (($gives:tt, $untyped:ty | $typed:ty)) => {
        $untyped
    };
}
pub(crate) use untyped;

/// What the typed form of a method returns.
macro_rules! typed {
    ($gives:ident) => {
        Expr<$gives>
    };
    (($gives:tt, $untyped:ty | $typed:ty)) => {
        $typed
    };
}
pub(crate) use typed;
