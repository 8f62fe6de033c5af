//! One op over blocks of elements: the op table's CPU forms, each compiled into a loop per type.

use bytemuck::Pod;
use half::slice::HalfFloatSliceExt;
use smallvec::SmallVec;

use super::math;
use crate::dtype::{DType, bf16, f16};
use crate::expr::{Op, Step, for_each_op};

/// How a type lies in a block, and what it computes as.
pub(super) trait Lane {
    type Memory: Pod;
    type Value: Copy;
    fn get(memory: Self::Memory) -> Self::Value;
    fn put(value: Self::Value) -> Self::Memory;
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
            type Memory = $memory;
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

/// Loops over a block with the widest vectors that the processor has. What such a loop calls must be
/// inlined into it, as functions on their own have only the vectors that every processor has.
macro_rules! maps {
    ($($map:ident $loop:ident ($($arg:ident: $t:ident $i:literal),+);)*) => {$(
        struct $loop<'a, $($t: Lane,)+ R: Lane, F> {
            $($arg: Parts<'a, $t::Memory>,)+
            out: &'a mut [R::Memory],
            f: F,
        }

        impl<$($t: Lane,)+ R: Lane, F> pulp::NullaryFnOnce for $loop<'_, $($t,)+ R, F>
        where
            F: Fn($($t::Value),+) -> R::Value,
        {
            type Output = ();

            #[inline(always)]
            fn call(mut self) {
                for out in self.out.chunks_mut(PART) {
                    $(let $arg = self.$arg.take(out.len());)+
                    for (i, out) in out.iter_mut().enumerate() {
                        *out = R::put((self.f)($($t::get($arg[i])),+));
                    }
                }
            }
        }

        pub(super) fn $map<$($t: Lane,)+ R: Lane>(args: &[&[u8]], out: &mut [u8], f: impl Fn($($t::Value),+) -> R::Value) {
            let out: &mut [R::Memory] = bytemuck::cast_slice_mut(out);
            $(let $arg = Parts::new(args[$i], out);)+
            pulp::Arch::new().dispatch($loop::<$($t,)+ R, _> { $($arg,)+ out, f });
        }
    )*};
}
maps! {
    map1 Map1(a: A 0);
    map2 Map2(a: A 0, b: B 1);
    map3 Map3(a: A 0, b: B 1, c: C 2);
}

/// Dispatches an op of the table on the type of its operands. A pair of op and type that the
/// table lacks cannot be built, as the builder's bounds come from the same rows.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident $args:tt $(is $commutative:ident)? for $class:ident -> $gives:ident
        $(within $ulp:literal $(above $from:literal)?)?,
        [$($eg:tt)*] { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        fn table(step: &Step, args: &[&[u8]], out: &mut [u8]) {
            match step.op {
                $(Op::$op => {
                    $(row!($kind $gives $args step.dtype, args, out, $cpu);)+
                })*
                Op::Select | Op::Cast => {}
            }
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
    (@ [$($tag:ident $t:ident),+] $gives:ident $arity:tt $dtype:expr, $args:expr, $out:expr, $cpu:expr) => {
        match $dtype {
            $(DType::$tag => row!(@map $t $gives $arity $args, $out, $cpu),)+
            _ => {}
        }
    };
    (@map f16 T $arity:tt $args:expr, $out:expr, $cpu:expr) => {
        map_halves::<f16>($args, $out, |args, out| row!(@call f32 f32 $arity args, out, $cpu))
    };
    (@map bf16 T $arity:tt $args:expr, $out:expr, $cpu:expr) => {
        map_halves::<bf16>($args, $out, |args, out| row!(@call f32 f32 $arity args, out, $cpu))
    };
    (@map $t:ident T $arity:tt $($rest:tt)*) => { row!(@call $t $t $arity $($rest)*) };
    (@map $t:ident bool $arity:tt $($rest:tt)*) => { row!(@call $t bool $arity $($rest)*) };
    (@call $t:ident $r:ident ($a:ident) $args:expr, $out:expr, $cpu:expr) => {
        map1::<$t, $r>($args, $out, $cpu)
    };
    (@call $t:ident $r:ident ($a:ident, $b:ident) $args:expr, $out:expr, $cpu:expr) => {
        map2::<$t, $t, $r>($args, $out, $cpu)
    };
    (@call $t:ident $r:ident ($a:ident, $b:ident, $c:ident) $args:expr, $out:expr, $cpu:expr) => {
        map3::<$t, $t, $t, $r>($args, $out, $cpu)
    };
}
for_each_op!(table);

/// Runs one step over a block: every argument has as many elements as `out`, or a part of equal ones.
pub(super) fn run(step: &Step, args: &[&[u8]], out: &mut [u8]) {
    match step.op {
        Op::Select => select(step.dtype, args, out),
        Op::Cast => cast(step.dtype, step.result, args, out),
        _ => table(step, args, out),
    }
}

fn select(dtype: DType, args: &[&[u8]], out: &mut [u8]) {
    match dtype.size() {
        1 => map3::<bool, u8, u8, u8>(args, out, |c, a, b| if c { a } else { b }),
        2 => map3::<bool, u16, u16, u16>(args, out, |c, a, b| if c { a } else { b }),
        4 => map3::<bool, u32, u32, u32>(args, out, |c, a, b| if c { a } else { b }),
        _ => map3::<bool, u64, u64, u64>(args, out, |c, a, b| if c { a } else { b }),
    }
}

/// A value as f32 rounded to odd: rounded again, to 8 or 11 bits, it is as if rounded once
/// (Boldo and Melquiond, When double rounding is odd, 2005).
pub(super) trait ToOdd {
    fn odd(self) -> f32;
}

macro_rules! exact {
    ($($t:ident)*) => {$(impl ToOdd for $t { fn odd(self) -> f32 { self.into() } })*};
}
exact!(f32 i8 u8 i16 u16);

macro_rules! wide {
    ($($t:ident)*) => {$(
        impl ToOdd for $t {
            fn odd(self) -> f32 {
                let magnitude = i128::from(self).unsigned_abs();
                let excess = (128 - magnitude.leading_zeros()).saturating_sub(24);
                let sticky = u128::from((magnitude >> excess) << excess != magnitude);
                let odd = (((magnitude >> excess) | sticky) << excess) as f32;
                if i128::from(self) < 0 { -odd } else { odd }
            }
        }
    )*};
}
wide!(i32 u32 i64 u64);

impl ToOdd for f64 {
    fn odd(self) -> f32 {
        let near = self as f32;
        if near.is_nan() || f64::from(near) == self || near.to_bits() & 1 == 1 {
            return near;
        }
        // The even neighbour was chosen: the odd one lies on the other side of the value.
        let up = f64::from(near).abs() < self.abs();
        f32::from_bits(if up { near.to_bits() + 1 } else { near.to_bits() - 1 })
    }
}

fn cast(from: DType, to: DType, args: &[&[u8]], out: &mut [u8]) {
    macro_rules! to {
        ($t:ident) => {
            match to {
                DType::F32 => map1::<$t, f32>(args, out, |x| x as f32),
                DType::F16 => map1::<$t, f16>(args, out, ToOdd::odd),
                DType::BF16 => map1::<$t, bf16>(args, out, ToOdd::odd),
                DType::F64 => map1::<$t, f64>(args, out, |x| x as f64),
                DType::I8 => map1::<$t, i8>(args, out, |x| x as i8),
                DType::U8 => map1::<$t, u8>(args, out, |x| x as u8),
                DType::I16 => map1::<$t, i16>(args, out, |x| x as i16),
                DType::U16 => map1::<$t, u16>(args, out, |x| x as u16),
                DType::I32 => map1::<$t, i32>(args, out, |x| x as i32),
                DType::U32 => map1::<$t, u32>(args, out, |x| x as u32),
                DType::I64 => map1::<$t, i64>(args, out, |x| x as i64),
                DType::U64 => map1::<$t, u64>(args, out, |x| x as u64),
                DType::Bool => map1::<$t, bool>(args, out, |x| x as f64 != 0.0),
            }
        };
    }
    match from {
        DType::F32 => to!(f32),
        DType::F16 => to!(f16),
        DType::BF16 => to!(bf16),
        DType::F64 => to!(f64),
        DType::I8 => to!(i8),
        // A bool is a byte of 0 or 1.
        DType::U8 | DType::Bool => to!(u8),
        DType::I16 => to!(i16),
        DType::U16 => to!(u16),
        DType::I32 => to!(i32),
        DType::U32 => to!(u32),
        DType::I64 => to!(i64),
        DType::U64 => to!(u64),
    }
}
