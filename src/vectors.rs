//! The processor's vector instructions, chosen when a loop runs. Functions that a loop calls must be inlined into it, since
//! a separate function has only the vectors that every processor has. The choice changes no result: nothing is contracted,
//! so wider vectors do more of the same additions and products at once.

/// A loop over elements.
pub(crate) trait Loop: Sized {
    /// Runs the loop, with the vectors of the function that this is inlined into.
    fn run(self);

    /// Runs the loop on a processor without AVX2. A loop over a function then calls it for each element, so that one loop of
    /// each type serves all functions. A loop for every function would double the build.
    #[cfg(target_arch = "x86_64")]
    fn run_old(self) {
        self.run();
    }
}

impl<F: FnOnce()> Loop for F {
    #[inline(always)]
    fn run(self) {
        self();
    }
}

/// Runs a loop that waits for memory more than for arithmetic. 512 bits are slower there than 256.
#[inline]
pub(crate) fn dispatch(own: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    x86::by_256(own);
    #[cfg(not(target_arch = "x86_64"))]
    own.run();
}

/// The vectors of a loop, by whether its arithmetic takes longer than its loads and stores.
pub(crate) struct Vectors<const COSTLY: bool>;

/// Runs a loop.
pub(crate) trait Dispatch {
    fn dispatch(own: impl Loop);
}

impl Dispatch for Vectors<false> {
    #[inline]
    fn dispatch(own: impl Loop) {
        dispatch(own);
    }
}

impl Dispatch for Vectors<true> {
    #[inline]
    fn dispatch(own: impl Loop) {
        #[cfg(target_arch = "x86_64")]
        x86::by_512(own);
        #[cfg(not(target_arch = "x86_64"))]
        own.run();
    }
}

/// A loop that is compiled once, whoever calls it.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(crate) fn run_shared(own: impl Loop) {
    own.run();
}

#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) use x86::AS_OLD;

#[cfg(target_arch = "x86_64")]
mod x86 {
    #![allow(unsafe_code)]

    use std::sync::LazyLock;

    use super::Loop;

    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    enum Width {
        /// Vectors of 128 bits: processors before 2013, and some emulators.
        Old,
        Bits256,
        Bits512,
    }

    /// Whether loops are run as on an old processor.
    #[cfg(test)]
    pub(crate) static AS_OLD: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

    // A call, since an inlined copy would be compiled for each of some 700 loops.
    #[inline(never)]
    fn width() -> Width {
        #[cfg(test)]
        if AS_OLD.load(std::sync::atomic::Ordering::Relaxed) {
            return Width::Old;
        }
        *WIDTH
    }

    static WIDTH: LazyLock<Width> = LazyLock::new(|| match () {
        () if has_512() => Width::Bits512,
        () if has_256() => Width::Bits256,
        () => Width::Old,
    });

    macro_rules! widths {
        ($($has:ident $run:ident [$($feature:tt)+])*) => {$(
            fn $has() -> bool {
                $(std::arch::is_x86_feature_detected!($feature))&&+
            }

            $(#[target_feature(enable = $feature)])+
            fn $run(own: impl Loop) {
                own.run();
            }
        )*};
    }
    widths! {
        has_256 run_256 ["avx2" "bmi1" "bmi2" "fma" "lzcnt" "popcnt"]
        has_512 run_512 ["avx2" "bmi1" "bmi2" "fma" "lzcnt" "popcnt" "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl"]
    }

    #[inline]
    pub(super) fn by_256(own: impl Loop) {
        if width() >= Width::Bits256 {
            // SAFETY: the processor has the instructions; one with 512 bits has those of 256.
            unsafe { run_256(own) }
        } else {
            own.run_old();
        }
    }

    #[inline]
    pub(super) fn by_512(own: impl Loop) {
        if width() == Width::Bits512 {
            // SAFETY: the processor has the instructions.
            unsafe { run_512(own) }
        } else {
            by_256(own);
        }
    }
}

/// Functions that run with these vectors, of what combines two elements; where one says so, with numbers of lanes and vectors.
macro_rules! vectors {
    ($($run:ident as $task:ident<$r:ty $(, $lanes:ident)*>($($arg:ident: $t:ty),+; $f:ident) $body:block)*) => {$(
        struct $task<'a, T, F $(, const $lanes: usize)*> {
            $($arg: $t,)+
            $f: F,
            element: std::marker::PhantomData<&'a T>,
        }

        impl<T: Pod, F: Fn(T, T) -> $r $(, const $lanes: usize)*> crate::vectors::Loop for $task<'_, T, F $(, $lanes)*> {
            #[inline(always)]
            fn run(self) {
                let Self { $($arg,)+ $f, .. } = self;
                $body
            }

            #[cfg(target_arch = "x86_64")]
            fn run_old(self) {
                let Self { $($arg,)+ $f, element } = self;
                let $f: &dyn Fn(T, T) -> $r = &$f;
                crate::vectors::run_shared($task::<T, _ $(, $lanes)*> { $($arg,)+ $f, element });
            }
        }

        #[allow(single_use_lifetimes)]
        pub(super) fn $run<'a, T: Pod, F: Fn(T, T) -> $r $(, const $lanes: usize)*>($($arg: $t,)+ $f: F) {
            crate::vectors::dispatch($task::<'a, T, F $(, $lanes)*> { $($arg,)+ $f, element: std::marker::PhantomData });
        }
    )*};
}
pub(crate) use vectors;
