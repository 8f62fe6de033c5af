//! Loops of one op over tiles: the CPU forms of the op table, compiled into a loop for each type.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use smallvec::SmallVec;

use super::convert::{FromSingle, ToOdd};
use super::{math, random};
use crate::dtype::{DType, bf16, f16};
use crate::error::{Result, bail};
use crate::ir::{Op, Step, for_each_op, is_costly, normal};
use crate::vectors::{Dispatch, Loop, Vectors};

/// The memory of a type in a tile, and the type that computes.
pub(super) trait Lane {
    type Raw: Pod;
    type Value: Copy;
    fn get(memory: Self::Raw) -> Self::Value;
    fn put(value: Self::Value) -> Self::Raw;
}

/// Elements of a part of a tile. A tile of one value has only one part.
pub(super) const PART: usize = 512;

/// 16-bit floats as f32, and back.
trait Half: Pod {
    fn widen(from: &[Self], to: &mut [f32]);
    fn narrow(from: &[f32], to: &mut [Self]);
}

macro_rules! halves {
    ($($t:ident)*) => {$(
        impl Half for $t {
            fn widen(from: &[$t], to: &mut [f32]) { from.convert_to_f32_slice(to) }
            fn narrow(from: &[f32], to: &mut [$t]) { to.convert_from_f32_slice(from) }
        }
    )*};
}
halves! { f16 bf16 }

/// Runs a loop of f32 over 16-bit floats, a part at a time. Operands are widened to f32. Results are rounded to the
/// same 16-bit type, or have the type and size that `other` names.
fn map_halves<T: Half>(args: &[&[u8]], out: &mut [u8], run: Run, other: Option<usize>) {
    let mut wide = [[0.0_f32; PART]; 3];
    let mut result = [0.0_f32; PART];
    let size = other.unwrap_or(size_of::<T>());
    let elements = out.len() / size;
    let mut args: SmallVec<[_; 3]> = args.iter().map(|arg| Parts::<T>::new(arg, elements)).collect();
    for out in out.chunks_mut(PART * size) {
        let count = out.len() / size;
        for (arg, wide) in args.iter_mut().zip(&mut wide) {
            T::widen(arg.take(count), &mut wide[..count]);
        }
        let [a, b, c] = &wide;
        let wide = [a, b, c].map(|wide| bytemuck::cast_slice(&wide[..count]));
        let wide = &wide[..args.len()];
        if other.is_none() {
            run(wide, bytemuck::cast_slice_mut(&mut result[..count]));
            T::narrow(&result[..count], bytemuck::cast_slice_mut(out));
        } else {
            run(wide, out);
        }
    }
}

macro_rules! lanes {
    ($($t:ident as $memory:ident computes $value:ident |$m:ident| $get:expr, |$x:ident| $put:expr;)*) => {$(
        impl Lane for $t {
            type Raw = $memory;
            type Value = $value;
            fn get($m: $memory) -> $value { $get }
            fn put($x: $value) -> $memory { $put }
        }
    )*};
    ($($t:ident)*) => { lanes! { $($t as $t computes $t |m| m, |x| x;)* } };
}

lanes! { f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 }
/// f16 and bf16 as they are.
struct StoredF16;
struct StoredBf16;

lanes! {
    StoredF16 as f16 computes f16 |m| m, |x| x;
    StoredBf16 as bf16 computes bf16 |m| m, |x| x;
    f16 as f16 computes f32 |m| m.to_f32(), |x| f16::from_f32(x);
    bf16 as bf16 computes f32 |m| m.to_f32(), |x| bf16::from_f32(x);
    bool as u8 computes bool |m| m != 0, |x| u8::from(x);
}

/// An argument, part by part.
struct Parts<'a, M> {
    rest: &'a [M],
    /// One part for all elements.
    repeats: bool,
}

impl<'a, M: Pod> Parts<'a, M> {
    /// The parts of `arg` for a tile of this many elements.
    fn new(arg: &'a [u8], elements: usize) -> Self {
        let rest: &[M] = bytemuck::cast_slice(arg);
        Parts { rest, repeats: rest.len() < elements }
    }

    fn take(&mut self, count: usize) -> &'a [M] {
        let (part, rest) = self.rest.split_at(count);
        if !self.repeats {
            self.rest = rest;
        }
        part
    }
}

/// Loops over a tile by vectors; if their arithmetic is `COSTLY`, by the processor's widest.
macro_rules! maps {
    ($($map:ident $loop:ident $apply:ident ($($arg:ident: $t:ident $i:literal),+);)*) => {$(
        /// What a loop computes, as a method that is always inlined. A large closure is not, and its loop has no vectors then.
        pub(super) trait $apply<$($t,)+ R> {
            fn apply(&self, $($arg: $t),+) -> R;
        }

        impl<$($t,)+ R, F: Fn($($t),+) -> R> $apply<$($t,)+ R> for F {
            #[inline(always)]
            fn apply(&self, $($arg: $t),+) -> R {
                self($($arg),+)
            }
        }

        struct $loop<'a, $($t: Lane,)+ R: Lane, F> {
            $($arg: Parts<'a, $t::Raw>,)+
            out: &'a mut [R::Raw],
            f: F,
        }

        impl<$($t: Lane,)+ R: Lane, F> Loop for $loop<'_, $($t,)+ R, F>
        where
            F: $apply<$($t::Value,)+ R::Value>,
        {
            #[cfg(target_arch = "x86_64")]
            fn run_old(self) {
                let f = self.f;
                let f: &dyn Fn($($t::Value),+) -> R::Value = &|$($arg),+| f.apply($($arg),+);
                crate::vectors::run_shared($loop::<$($t,)+ R, _> { $($arg: self.$arg,)+ out: self.out, f });
            }

            #[inline(always)]
            #[allow(clippy::needless_range_loop)]
            fn run(mut self) {
                for out in self.out.chunks_mut(PART) {
                    // Indices below one count: if the compiler cannot tell that operands are long enough, it computes
                    // the last elements one by one.
                    let count = out.len();
                    $(let $arg = &self.$arg.take(count)[..count];)+
                    for i in 0..count {
                        out[i] = R::put(self.f.apply($($t::get($arg[i])),+));
                    }
                }
            }
        }

        pub(super) fn $map<$($t: Lane,)+ R: Lane, const COSTLY: bool>(
            args: &[&[u8]],
            out: &mut [u8],
            f: impl $apply<$($t::Value,)+ R::Value>,
        ) where
            Vectors<COSTLY>: Dispatch,
        {
            let out: &mut [R::Raw] = bytemuck::cast_slice_mut(out);
            $(let $arg = Parts::new(args[$i], out.len());)+
            Vectors::<COSTLY>::dispatch($loop::<$($t,)+ R, _> { $($arg,)+ out, f });
        }
    )*};
}
maps! {
    map1 Map1 Apply1(a: A 0);
    map2 Map2 Apply2(a: A 0, b: B 1);
    map3 Map3 Apply3(a: A 0, b: B 1, c: C 2);
}

/// A loop over a tile. Every argument has as many elements as the result, or a part of equal ones.
pub(super) type Run = fn(&[&[u8]], &mut [u8]);

/// The loop of an op of the table, by the type of its operands.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident $args:tt $(is $commutative:ident)? $(in $pairs:ident)? for $class:ident -> $gives:ident
        $(within $ulp:literal $(above $from:literal)?)? $(costs $cost:literal)?,
        [$($eg:tt)*] { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        fn table(op: Op, dtype: DType) -> Option<Run> {
            match op {
                $(Op::$op => {
                    $(row!($kind $gives $args dtype, $op, $cpu);)+
                })*
                _ => {}
            }
            None
        }
    };
}
macro_rules! row {
    (moves $($rest:tt)*) => { row!(float $($rest)*) };
    (bits $($rest:tt)*) => { row!(float $($rest)*) };
    (stored $($rest:tt)*) => { row!(@ [F32: f32, F16: StoredF16, BF16: StoredBf16, F64: f64] $($rest)*) };
    (int $($rest:tt)*) => { row!(@ [I8: i8, U8: u8, I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64] $($rest)*) };
    (word $($rest:tt)*) => { row!(@ [I8 U8: u8, I16 U16: u16, I32 U32: u32, I64 U64: u64] $($rest)*) };
    (bool $($rest:tt)*) => { row!(@ [Bool: bool] $($rest)*) };
    // One compiled loop of f32 serves the 16-bit floats too.
    (float $gives:ident $arity:tt $dtype:expr, $op:ident, $cpu:expr) => {{
        const SINGLE: Run = |args, out| row!(@map f32 $gives $arity args, out, $op, $cpu);
        const OTHER: Option<usize> = row!(@other $gives);
        match $dtype {
            DType::F32 => return Some(SINGLE),
            DType::F16 => return Some(|args, out| map_halves::<f16>(args, out, SINGLE, OTHER)),
            DType::BF16 => return Some(|args, out| map_halves::<bf16>(args, out, SINGLE, OTHER)),
            _ => row!(@ [F64: f64] $gives $arity $dtype, $op, $cpu),
        }
    }};
    (@other T) => { None };
    (@other bool) => { Some(1) };
    (@ [$($($tag:ident)+: $t:ident),+] $gives:ident $arity:tt $dtype:expr, $op:ident, $cpu:expr) => {
        $(if matches!($dtype, $(DType::$tag)|+) {
            return Some(|args, out| row!(@map $t $gives $arity args, out, $op, $cpu));
        })+
    };
    (@map f32 T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {{
        row!(@call f32 f32 { is_costly(Op::$op) } $arity $args, $out, $cpu);
        row!(@far f32 $args, $out, $op)
    }};
    (@map f64 T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {{
        row!(@call f64 f64 false $arity $args, $out, $cpu);
        row!(@far f64 $args, $out, $op)
    }};
    (@far $t:ident $args:expr, $out:expr, $op:ident) => {
        if let Some(far) = beyond_near::<$t>(Op::$op) {
            far_angles(far, $args, $out);
        }
    };
    (@map $t:ident T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {
        row!(@call $t $t false $arity $args, $out, $cpu)
    };
    (@map $t:ident bool $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {
        row!(@call $t bool false $arity $args, $out, $cpu)
    };
    (@call $t:ident $r:ident $costly:tt ($a:ident) $args:expr, $out:expr, $cpu:expr) => {
        map1::<$t, $r, $costly>($args, $out, row!(@apply $t $r Apply1 (a: V) $cpu))
    };
    (@call $t:ident $r:ident $costly:tt ($a:ident, $b:ident) $args:expr, $out:expr, $cpu:expr) => {
        map2::<$t, $t, $r, $costly>($args, $out, row!(@apply $t $r Apply2 (a: V, b: V) $cpu))
    };
    (@call $t:ident $r:ident $costly:tt ($a:ident, $b:ident, $c:ident) $args:expr, $out:expr, $cpu:expr) => {
        map3::<$t, $t, $t, $r, $costly>($args, $out, row!(@apply $t $r Apply3 (a: V, b: V, c: V) $cpu))
    };
    (@apply $t:ident $r:ident $apply:ident ($($arg:ident: $v:ident),+) $cpu:expr) => {{
        type V = <$t as Lane>::Value;
        type R = <$r as Lane>::Value;
        struct Own;
        impl $apply<$($v,)+ R> for Own {
            #[inline(always)]
            fn apply(&self, $($arg: $v),+) -> R {
                // A closure has its types from the pointer's.
                let f: fn($($v),+) -> R = $cpu;
                f($($arg),+)
            }
        }
        Own
    }};
}
for_each_op!(table);

/// The function for angles beyond [`math::Function::NEAR`], if the vectorized one does not reduce them.
const fn beyond_near<T: math::Function>(op: Op) -> Option<fn(T) -> T> {
    match op {
        Op::Sin => Some(T::sin),
        Op::Cos => Some(T::cos),
        Op::Tan => Some(T::tan),
        _ => None,
    }
}

/// Computes angles beyond [`math::Function::NEAR`] again. Few programs have any.
fn far_angles<T: math::Function + Pod>(far: fn(T) -> T, args: &[&[u8]], out: &mut [u8]) {
    let angles: &[T] = bytemuck::cast_slice(args[0]);
    let is_far = |angle: &T| angle.abs() > T::NEAR;
    if angles.iter().fold(false, |any, angle| any | is_far(angle)) {
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        for (angle, out) in angles.iter().cycle().zip(out) {
            if is_far(angle) {
                *out = far(*angle);
            }
        }
    }
}

/// The loop of a function of stored floats.
macro_rules! of_stored {
    ($dtype:expr, $name:ident) => {
        match $dtype {
            DType::F64 => |args, out| map1::<f64, f64, false>(args, out, math::Stored::$name),
            DType::F16 => |args, out| map1::<StoredF16, StoredF16, false>(args, out, math::Stored::$name),
            DType::BF16 => |args, out| map1::<StoredBf16, StoredBf16, false>(args, out, math::Stored::$name),
            _ => |args, out| map1::<f32, f32, false>(args, out, math::Stored::$name),
        }
    };
}

/// The loop of a step without a body. Builders use the same table, so every op has a loop.
pub(super) fn of(step: &Step) -> Result<Run> {
    let run: Option<Run> = match step.op {
        Op::Select => Some(select(step.dtype)),
        Op::Cast => Some(cast(step.dtype, step.result)),
        // The engine computes these itself.
        Op::Lookup => Some((|_, _| {}) as Run),
        Op::Random => Some(random::bits),
        Op::Unit => Some(|args, out| map1::<u32, f32, false>(args, out, random::unit)),
        Op::Normal => Some(|args, out| {
            let cubics = normal::cubics();
            map1::<u32, f32, false>(args, out, |word| random::normal(word, cubics));
        }),
        Op::Flush => Some(of_stored!(step.dtype, flushed)),
        Op::Total => Some(of_stored!(step.dtype, total)),
        op => table(op, step.dtype),
    };
    match run {
        Some(run) => Ok(run),
        None => bail!(Kernel, "{} has no form for {}", step.op.name(), step.dtype),
    }
}

fn select(dtype: DType) -> Run {
    match dtype.size() {
        1 => |args, out| map3::<bool, u8, u8, u8, false>(args, out, |c, a, b| if c { a } else { b }),
        2 => |args, out| map3::<bool, u16, u16, u16, false>(args, out, |c, a, b| if c { a } else { b }),
        4 => |args, out| map3::<bool, u32, u32, u32, false>(args, out, |c, a, b| if c { a } else { b }),
        _ => |args, out| map3::<bool, u64, u64, u64, false>(args, out, |c, a, b| if c { a } else { b }),
    }
}

/// The loop of a conversion. A bool is a byte of 0 or 1, and signed and unsigned integers of one width convert by the
/// same bits.
fn cast(from: DType, to: DType) -> Run {
    macro_rules! from {
        ($loop:ident $from:ident $($tags:tt)*) => {
            from!(@ $loop $from; F32 => f32, F64 => f64, F16 => f16, BF16 => bf16, Bool => bool $($tags)*)
        };
        (@ $loop:ident $from:ident; $($($tag:ident)|+ => $t:ident),+) => {
            match to { $($(DType::$tag)|+ => $loop!($from $t),)+ }
        };
    }
    macro_rules! float {
        ($loop:ident $from:ident) => {
            from!($loop $from, I8 => i8, I16 => i16, I32 => i32, I64 => i64, U8 => u8, U16 => u16, U32 => u32, U64 => u64)
        };
    }
    macro_rules! int {
        ($from:ident) => { from!(plain $from, I8 | U8 => u8, I16 | U16 => u16, I32 | U32 => u32, I64 | U64 => u64) };
    }
    macro_rules! plain {
        ($from:ident f16) => {
            |args, out| map1::<$from, f16, false>(args, out, ToOdd::odd)
        };
        ($from:ident bf16) => {
            |args, out| map1::<$from, bf16, false>(args, out, ToOdd::odd)
        };
        ($from:ident bool) => {
            |args, out| map1::<$from, bool, false>(args, out, |x| x as f64 != 0.0)
        };
        ($from:ident $t:ident) => {
            |args, out| map1::<$from, $t, false>(args, out, |x| x as $t)
        };
    }
    macro_rules! single {
        (f32 f16) => { plain!(f32 f16) };
        (f32 bf16) => { plain!(f32 bf16) };
        (f32 bool) => { plain!(f32 bool) };
        (f32 $t:ident) => { |args, out| map1::<f32, $t, false>(args, out, FromSingle::from_single) };
    }
    macro_rules! half {
        ($from:ident $t:ident) => {{
    const SINGLE: Run = single!(f32 $t);
            |args, out| map_halves::<$from>(args, out, SINGLE, Some(size_of::<$t>()))
        }};
    }
    match from {
        DType::F32 => float!(single f32),
        DType::F16 => float!(half f16),
        DType::BF16 => float!(half bf16),
        DType::F64 => float!(plain f64),
        DType::I8 => int!(i8),
        DType::I16 => int!(i16),
        DType::I32 => int!(i32),
        DType::I64 => int!(i64),
        DType::U8 | DType::Bool => int!(u8),
        DType::U16 => int!(u16),
        DType::U32 => int!(u32),
        DType::U64 => int!(u64),
    }
}
