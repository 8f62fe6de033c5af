//! One op over blocks of elements: the op table's CPU forms, each compiled into a loop per type.

use bytemuck::Pod;

use super::math;
use crate::dtype::DType;
use crate::expr::{Op, Step, for_each_op};

/// How a type lies in a block: as itself, but for bool, which is a byte of 0 or 1.
trait Lane: Copy {
    type Memory: Pod;
    fn get(memory: Self::Memory) -> Self;
    fn put(self) -> Self::Memory;
}

macro_rules! lanes {
    ($($t:ident as $memory:ident |$m:ident| $get:expr, |$x:ident| $put:expr;)*) => {$(
        impl Lane for $t {
            type Memory = $memory;
            fn get($m: $memory) -> $t { $get }
            fn put(self) -> $memory { let $x = self; $put }
        }
    )*};
}

lanes! {
    f32 as f32 |m| m, |x| x;
    i32 as i32 |m| m, |x| x;
    u32 as u32 |m| m, |x| x;
    u8 as u8 |m| m, |x| x;
    bool as u8 |m| m != 0, |x| u8::from(x);
}

fn block<T: Lane>(bytes: &[u8]) -> &[T::Memory] {
    bytemuck::cast_slice(bytes)
}

fn map1<T: Lane, R: Lane>(args: &[&[u8]], out: &mut [u8], f: impl Fn(T) -> R) {
    let out: &mut [R::Memory] = bytemuck::cast_slice_mut(out);
    for (out, &a) in out.iter_mut().zip(block::<T>(args[0])) {
        *out = f(T::get(a)).put();
    }
}

fn map2<T: Lane, R: Lane>(args: &[&[u8]], out: &mut [u8], f: impl Fn(T, T) -> R) {
    let out: &mut [R::Memory] = bytemuck::cast_slice_mut(out);
    for ((out, &a), &b) in out.iter_mut().zip(block::<T>(args[0])).zip(block::<T>(args[1])) {
        *out = f(T::get(a), T::get(b)).put();
    }
}

fn map3<A: Lane, T: Lane, R: Lane>(args: &[&[u8]], out: &mut [u8], f: impl Fn(A, T, T) -> R) {
    let out: &mut [R::Memory] = bytemuck::cast_slice_mut(out);
    let (a, b, c) = (block::<A>(args[0]), block::<T>(args[1]), block::<T>(args[2]));
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(A::get(a), T::get(b), T::get(c)).put();
    }
}

/// Dispatches an op of the table on the type of its operands. A pair of op and type that the
/// table lacks cannot be built, as the builder's bounds come from the same rows.
macro_rules! table {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident $args:tt for $class:ident -> $gives:ident $(within $ulp:literal)?,
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
    (float $($rest:tt)*) => { row!(@ [F32 f32] $($rest)*) };
    (int $($rest:tt)*) => { row!(@ [I32 i32, U32 u32, U8 u8] $($rest)*) };
    (bool $($rest:tt)*) => { row!(@ [Bool bool] $($rest)*) };
    (@ [$($tag:ident $t:ident),+] $gives:ident $arity:tt $dtype:expr, $args:expr, $out:expr, $cpu:expr) => {
        match $dtype {
            $(DType::$tag => row!(@map $t $gives $arity $args, $out, $cpu),)+
            _ => {}
        }
    };
    (@map $t:ident T $arity:tt $($rest:tt)*) => { row!(@call $t $t $arity $($rest)*) };
    (@map $t:ident bool $arity:tt $($rest:tt)*) => { row!(@call $t bool $arity $($rest)*) };
    (@call $t:ident $r:ident ($a:ident) $args:expr, $out:expr, $cpu:expr) => {
        map1::<$t, $r>($args, $out, $cpu)
    };
    (@call $t:ident $r:ident ($a:ident, $b:ident) $args:expr, $out:expr, $cpu:expr) => {
        map2::<$t, $r>($args, $out, $cpu)
    };
    (@call $t:ident $r:ident ($a:ident, $b:ident, $c:ident) $args:expr, $out:expr, $cpu:expr) => {
        map3::<$t, $t, $r>($args, $out, $cpu)
    };
}
for_each_op!(table);

/// Runs one step over a block: every argument and `out` have as many elements.
pub(super) fn run(step: &Step, args: &[&[u8]], out: &mut [u8]) {
    match step.op {
        Op::Select => select(step.dtype, args, out),
        Op::Cast => cast(step.dtype, step.result, args, out),
        _ => table(step, args, out),
    }
}

fn select(dtype: DType, args: &[&[u8]], out: &mut [u8]) {
    match dtype.size() {
        1 => map3(args, out, |c: bool, a: u8, b: u8| if c { a } else { b }),
        _ => map3(args, out, |c: bool, a: u32, b: u32| if c { a } else { b }),
    }
}

fn cast(from: DType, to: DType, args: &[&[u8]], out: &mut [u8]) {
    macro_rules! to {
        ($t:ident) => {
            match to {
                DType::F32 => map1(args, out, |x: $t| x as f32),
                DType::I32 => map1(args, out, |x: $t| x as i32),
                DType::U32 => map1(args, out, |x: $t| x as u32),
                DType::U8 => map1(args, out, |x: $t| x as u8),
                DType::Bool => map1(args, out, |x: $t| x != $t::default()),
            }
        };
    }
    match from {
        DType::F32 => to!(f32),
        DType::I32 => to!(i32),
        DType::U32 => to!(u32),
        DType::U8 => to!(u8),
        DType::Bool => match to {
            DType::F32 => map1(args, out, |x: bool| f32::from(u8::from(x))),
            DType::I32 | DType::U32 => map1(args, out, |x: bool| u32::from(x)),
            DType::U8 | DType::Bool => map1(args, out, |x: bool| u8::from(x)),
        },
    }
}
