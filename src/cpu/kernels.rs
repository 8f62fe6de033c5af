//! One op over blocks of elements: the op table's CPU forms, each compiled into a loop per type.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use smallvec::SmallVec;

use super::convert::{FromSingle, ToOdd};
use super::{math, random};
use crate::dtype::{DType, bf16, f16, for_each_dtype};
use crate::error::{Result, bail};
use crate::expr::{Op, Step, for_each_op, is_costly};
use crate::vectors::{Dispatch, Vectors};

/// How a type lies in a block, and what it computes as.
pub(super) trait Lane {
    type Raw: Pod;
    type Value: Copy;
    fn get(memory: Self::Raw) -> Self::Value;
    fn put(value: Self::Value) -> Self::Raw;
}

/// Elements of a part of a block: of a block that holds one value, a part is all there is.
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

/// A function of 16-bit floats: what `map` does with f32 in parts, with conversions around it.
fn map_halves<T: Half>(args: &[&[u8]], out: &mut [u8], map: impl Fn(&[&[u8]], &mut [u8])) {
    let mut wide = [[0.0_f32; PART]; 3];
    let mut result = [0.0_f32; PART];
    let out: &mut [T] = bytemuck::cast_slice_mut(out);
    let mut args: SmallVec<[_; 3]> = args.iter().map(|arg| Parts::<T>::new(arg, out)).collect();
    for out in out.chunks_mut(PART) {
        for (arg, wide) in args.iter_mut().zip(&mut wide) {
            T::widen(arg.take(out.len()), &mut wide[..out.len()]);
        }
        let [a, b, c] = wide.each_ref().map(|wide| bytemuck::cast_slice(&wide[..out.len()]));
        map(&[a, b, c][..args.len()], bytemuck::cast_slice_mut(&mut result[..out.len()]));
        T::narrow(&result[..out.len()], out);
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
    /// One part stands for all.
    repeats: bool,
}

impl<'a, M: Pod> Parts<'a, M> {
    /// The parts of `arg` for a block as long as `out`, whose elements may be of another size.
    fn new<R: Pod>(arg: &'a [u8], out: &[R]) -> Self {
        let rest: &[M] = bytemuck::cast_slice(arg);
        Parts { rest, repeats: rest.len() < out.len() }
    }

    fn take(&mut self, count: usize) -> &'a [M] {
        let (part, rest) = self.rest.split_at(count);
        if !self.repeats {
            self.rest = rest;
        }
        part
    }
}

/// Loops over a block by vectors; with the widest that the processor has where their arithmetic is `COSTLY`.
macro_rules! maps {
    ($($map:ident $loop:ident ($($arg:ident: $t:ident $i:literal),+);)*) => {$(
        struct $loop<'a, $($t: Lane,)+ R: Lane, F> {
            $($arg: Parts<'a, $t::Raw>,)+
            out: &'a mut [R::Raw],
            f: F,
        }

        impl<$($t: Lane,)+ R: Lane, F> pulp::NullaryFnOnce for $loop<'_, $($t,)+ R, F>
        where
            F: Fn($($t::Value),+) -> R::Value,
        {
            type Output = ();

            #[inline(always)]
            #[allow(clippy::needless_range_loop)]
            fn call(mut self) {
                for out in self.out.chunks_mut(PART) {
                    // By indexes below one count: a loop that may end for want of an operand, as far as the compiler
                    // can tell, computes its last elements one by one.
                    let count = out.len();
                    $(let $arg = &self.$arg.take(count)[..count];)+
                    for i in 0..count {
                        out[i] = R::put((self.f)($($t::get($arg[i])),+));
                    }
                }
            }
        }

        pub(super) fn $map<$($t: Lane,)+ R: Lane, const COSTLY: bool>(
            args: &[&[u8]],
            out: &mut [u8],
            f: impl Fn($($t::Value),+) -> R::Value,
        ) where
            Vectors<COSTLY>: Dispatch,
        {
            let out: &mut [R::Raw] = bytemuck::cast_slice_mut(out);
            $(let $arg = Parts::new(args[$i], out);)+
            Vectors::<COSTLY>::dispatch($loop::<$($t,)+ R, _> { $($arg,)+ out, f });
        }
    )*};
}
maps! {
    map1 Map1(a: A 0);
    map2 Map2(a: A 0, b: B 1);
    map3 Map3(a: A 0, b: B 1, c: C 2);
}

/// A loop over a block: every argument has as many elements as the result, or a part of equal ones.
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
    (float $($rest:tt)*) => { row!(@ [F32 f32, F16 f16, BF16 bf16, F64 f64] $($rest)*) };
    (moves $($rest:tt)*) => { row!(float $($rest)*) };
    (bits $($rest:tt)*) => { row!(float $($rest)*) };
    (stored $($rest:tt)*) => { row!(@ [F32 f32, F16 StoredF16, BF16 StoredBf16, F64 f64] $($rest)*) };
    (int $($rest:tt)*) => { row!(@ [I8 i8, U8 u8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64] $($rest)*) };
    (bool $($rest:tt)*) => { row!(@ [Bool bool] $($rest)*) };
    (@ [$($tag:ident $t:ident),+] $gives:ident $arity:tt $dtype:expr, $op:ident, $cpu:expr) => {
        $(if $dtype == DType::$tag {
            return Some(|args, out| row!(@map $t $gives $arity args, out, $op, $cpu));
        })+
    };
    (@map f32 T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {{
        row!(@call f32 f32 { is_costly(Op::$op) } $arity $args, $out, $cpu);
        if let Some(far) = beyond_turns(Op::$op) {
            far_angles(far, $args, $out);
        }
    }};
    (@map f16 T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {
        map_halves::<f16>($args, $out, |args, out| row!(@map f32 T $arity args, out, $op, $cpu))
    };
    (@map bf16 T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {
        map_halves::<bf16>($args, $out, |args, out| row!(@map f32 T $arity args, out, $op, $cpu))
    };
    (@map $t:ident T $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {
        row!(@call $t $t false $arity $args, $out, $cpu)
    };
    (@map $t:ident bool $arity:tt $args:expr, $out:expr, $op:ident, $cpu:expr) => {
        row!(@call $t bool false $arity $args, $out, $cpu)
    };
    (@call $t:ident $r:ident $costly:tt ($a:ident) $args:expr, $out:expr, $cpu:expr) => {
        map1::<$t, $r, $costly>($args, $out, $cpu)
    };
    (@call $t:ident $r:ident $costly:tt ($a:ident, $b:ident) $args:expr, $out:expr, $cpu:expr) => {
        map2::<$t, $t, $r, $costly>($args, $out, $cpu)
    };
    (@call $t:ident $r:ident $costly:tt ($a:ident, $b:ident, $c:ident) $args:expr, $out:expr, $cpu:expr) => {
        map3::<$t, $t, $t, $r, $costly>($args, $out, $cpu)
    };
}
for_each_op!(table);

/// What gives a function of angles beyond [`math::TURNS`], of the functions that do not count turns there themselves.
const fn beyond_turns(op: Op) -> Option<fn(f64) -> f64> {
    match op {
        Op::Sin => Some(f64::sin),
        Op::Cos => Some(f64::cos),
        Op::Tan => Some(f64::tan),
        _ => None,
    }
}

/// Computes angles beyond [`math::TURNS`] again. Few programs have such, and a loop that asks for each element is none
/// of vectors.
fn far_angles(far: fn(f64) -> f64, args: &[&[u8]], out: &mut [u8]) {
    let angles: &[f32] = bytemuck::cast_slice(args[0]);
    // By their bits, magnitudes are in order and NaN above all.
    let magnitude = |angle: &f32| angle.abs().to_bits() as i32;
    if angles.iter().map(magnitude).fold(0, i32::max) > math::TURNS.to_bits() as i32 {
        let out: &mut [f32] = bytemuck::cast_slice_mut(out);
        for (angle, out) in angles.iter().cycle().zip(out) {
            if angle.abs() > math::TURNS {
                *out = far(f64::from(*angle)) as f32;
            }
        }
    }
}

/// The loop of a step without a body. One that the table lacks cannot be built, as the builder asks the same rows.
pub(super) fn of(step: &Step) -> Result<Run> {
    let run: Option<Run> = match step.op {
        Op::Select => Some(select(step.dtype)),
        Op::Cast => Some(cast(step.dtype, step.result)),
        // Which a block knows by itself.
        Op::Lookup => Some((|_, _| {}) as Run),
        Op::Random => Some(random::bits),
        Op::Unit => Some(|args, out| map1::<u32, f32, false>(args, out, random::unit)),
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

macro_rules! casts {
    ($($(#[doc = $doc:literal])+ $tag:ident $t:ident: $kind:ident, $zero:tt, $classes:tt,
        |$x:ident| $word:expr, $extend:ident $fill:ident;)*) => {
        casts! { @all [$($tag $t)*] $($tag $t)* }
    };
    (@all $types:tt $($tag:ident $t:ident)*) => {
        /// The loop of a conversion.
        fn cast(from: DType, to: DType) -> Run {
            match from {
                $(DType::$tag => casts!(@from $t $types to),)*
            }
        }
    };
    // A bool is a byte of 0 or 1.
    (@from bool $types:tt $to:ident) => { casts!(@from u8 $types $to) };
    (@from $from:ident [$($tag:ident $t:ident)*] $to:ident) => {
        match $to {
            $(DType::$tag => |args, out| casts!(@one $from $t args, out),)*
        }
    };
    (@one $from:ident f16 $args:expr, $out:expr) => { map1::<$from, f16, false>($args, $out, ToOdd::odd) };
    (@one $from:ident bf16 $args:expr, $out:expr) => { map1::<$from, bf16, false>($args, $out, ToOdd::odd) };
    (@one $from:ident bool $args:expr, $out:expr) => { map1::<$from, bool, false>($args, $out, |x| x as f64 != 0.0) };
    (@one f32 $t:ident $args:expr, $out:expr) => { casts!(@single f32 $t $args, $out) };
    (@one f16 $t:ident $args:expr, $out:expr) => { casts!(@single f16 $t $args, $out) };
    (@one bf16 $t:ident $args:expr, $out:expr) => { casts!(@single bf16 $t $args, $out) };
    (@single $from:ident $t:ident $args:expr, $out:expr) => { map1::<$from, $t, false>($args, $out, FromSingle::from_single) };
    (@one $from:ident $t:ident $args:expr, $out:expr) => { map1::<$from, $t, false>($args, $out, |x| x as $t) };
}
for_each_dtype!(casts);
