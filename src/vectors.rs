//! The vectors of the processor, chosen when a loop runs. What such a loop calls must be inlined into it, as functions
//! on their own have only the vectors that every processor has. Which are chosen changes no result: nothing is
//! contracted, so wider vectors are more of the same additions and products.

/// Runs a loop over elements that waits for memory more than for arithmetic: 512 bits are slower there than 256.
#[inline]
pub(crate) fn dispatch<L: pulp::WithSimd>(own: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    return match pulp::x86::V3::try_new() {
        Some(vectors) => pulp::Simd::vectorize(vectors, own),
        None => pulp::Simd::vectorize(pulp::Scalar, own),
    };
    #[cfg(not(target_arch = "x86_64"))]
    pulp::Arch::new().dispatch(own)
}

/// The vectors of a loop, by whether its arithmetic takes longer than its loads and stores.
pub(crate) struct Vectors<const COSTLY: bool>;

/// What runs a loop.
pub(crate) trait Dispatch {
    fn dispatch<L: pulp::WithSimd>(own: L) -> L::Output;
}

impl Dispatch for Vectors<false> {
    #[inline]
    fn dispatch<L: pulp::WithSimd>(own: L) -> L::Output {
        dispatch(own)
    }
}

impl Dispatch for Vectors<true> {
    #[inline]
    fn dispatch<L: pulp::WithSimd>(own: L) -> L::Output {
        pulp::Arch::new().dispatch(own)
    }
}

/// Functions that run with these vectors, of what combines two elements; where one says so, with a number of lanes.
macro_rules! vectors {
    ($($run:ident as $task:ident<$r:ty $(, $lanes:ident)?>($($arg:ident: $t:ty),+; $f:ident) $body:block)*) => {$(
        struct $task<'a, T, F $(, const $lanes: usize)?> {
            $($arg: $t,)+
            $f: F,
            element: std::marker::PhantomData<&'a T>,
        }

        impl<T: Pod, F: Fn(T, T) -> $r $(, const $lanes: usize)?> pulp::NullaryFnOnce for $task<'_, T, F $(, $lanes)?> {
            type Output = ();

            #[inline(always)]
            fn call(self) {
                let Self { $($arg,)+ $f, .. } = self;
                $body
            }
        }

        #[allow(single_use_lifetimes)]
        pub(super) fn $run<'a, T: Pod, F: Fn(T, T) -> $r $(, const $lanes: usize)?>($($arg: $t,)+ $f: F) {
            crate::vectors::dispatch($task::<'a, T, F $(, $lanes)?> { $($arg,)+ $f, element: std::marker::PhantomData });
        }
    )*};
}
pub(crate) use vectors;
