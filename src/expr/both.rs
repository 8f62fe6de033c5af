//! Methods of `AnyExpr` and of `Expr`, written once: the typed one calls the other. Both have the same docs, and an
//! example each.

/// The header has the lines of the examples before the call, untyped and typed. Then come methods with a call, its
/// result, and the body over the untyped operands. An operand stands behind a semicolon.
macro_rules! on_both {
    ($(#[$about:meta])+ examples $untyped:literal, $typed:literal;
        $($(#[$doc:meta])+ $name:ident $([$($generic:tt)*])?
            ($($before:ident: $b:ty),* $(; $operand:ident $(, $after:ident: $a:ty)*)?) -> $gives:ty $(where $bound:ident)?,
            $eg:literal => $to:literal, |$x:ident, $at:ident| $body:expr;)*) => {
        $(#[$about])+
        impl AnyExpr {$(
            $(#[$doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            #[doc = $untyped]
            #[doc = concat!("assert_eq!(", $eg, ".to_vec::<", stringify!($gives), ">()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name$(<$($generic)*>)?(
                &self, $($before: $b,)* $($operand: impl Into<AnyExpr>, $($after: $a),*)?
            ) -> AnyExpr {
                let ($x, $at) = (self, Location::caller());
                $(let $operand: &AnyExpr = &$operand.into();)?
                or_mistake($body, $at)
            }
        )*}

        $(#[$about])+
        impl<T: Element> Expr<T> {$(
            $(#[$doc])+
            ///
            /// ```
            /// # let device = zerostride::Device::cpu();
            #[doc = $typed]
            #[doc = concat!("assert_eq!(", $eg, ".to_vec()?, ", $to, ");")]
            /// # Ok::<(), zerostride::Error>(())
            /// ```
            #[track_caller]
            pub fn $name$(<$($generic)*>)?(
                &self, $($before: $b,)* $($operand: impl IntoExpr<T>, $($after: $a),*)?
            ) -> Expr<$gives> $(where T: $bound)? {
                Expr::face(self.any.$name($($before,)* $($operand.into_expr(), $($after),*)?))
            }
        )*}
    };
}
pub(super) use on_both;
