//! Lines about values: `{"op", "in": [types], "out", "args": [[bits]], "expect": [bits], "ulp"}`,
//! bits in hexadecimal, most significant digit first; `nan` is any NaN.

use serde_json::Value;
use zerostride::{DType, Device, Element, ErrorKind, Expr, bf16, f16};

use super::Verdict;

/// Types whose bits a case can state.
trait Bits: Element {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn is_nan(self) -> bool {
        false
    }
    /// A number that grows with the value and by one per representable value.
    fn rank(self) -> i128;
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Bits for $t {
            fn from_bits(bits: u64) -> Self { bits as $t }
            fn bits(self) -> u64 { self as u64 & (u64::MAX >> (64 - 8 * size_of::<$t>())) }
            fn rank(self) -> i128 { self as i128 }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Bits for bool {
    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
    fn bits(self) -> u64 {
        self.into()
    }
    fn rank(self) -> i128 {
        self.into()
    }
}

macro_rules! floats {
    ($($t:ident($bits:ident))*) => {$(
        impl Bits for $t {
            fn from_bits(bits: u64) -> Self { $t::from_bits(bits as $bits) }
            fn bits(self) -> u64 { self.to_bits().into() }
            fn is_nan(self) -> bool { $t::is_nan(self) }
            fn rank(self) -> i128 {
                let magnitude = i128::from(self.to_bits() & ($bits::MAX >> 1));
                // The zeros have ranks of their own: they differ by more than a rounding.
                if self.is_sign_negative() { -1 - magnitude } else { magnitude }
            }
        }
    )*};
}
floats!(f16(u16) bf16(u16) f32(u32) f64(u64));

/// Calls `$go!` with the Rust type of an element type's name, or returns that it is unknown.
macro_rules! with_type {
    ($name:expr, $go:ident) => {
        match $name {
            "f32" => $go!(f32),
            "f16" => $go!(f16),
            "bf16" => $go!(bf16),
            "f64" => $go!(f64),
            "i8" => $go!(i8),
            "u8" => $go!(u8),
            "i16" => $go!(i16),
            "u16" => $go!(u16),
            "i32" => $go!(i32),
            "u32" => $go!(u32),
            "i64" => $go!(i64),
            "u64" => $go!(u64),
            "bool" => $go!(bool),
            other => Verdict::Failed(format!("the type {other} is not built")),
        }
    };
}

/// Evaluates one line on a device.
pub(crate) fn check(device: &Device, case: &Value) -> Verdict {
    let op = case["op"].as_str().unwrap_or_default();
    let from = case["in"][0].as_str().unwrap_or_default();
    let to = case["out"].as_str().unwrap_or_default();
    if op == "cast" {
        macro_rules! cast_from {
            ($t:ident) => {{
                macro_rules! cast_to {
                    ($r:ident) => {
                        judge::<$t, $r>(device, case, |args| args[0].cast::<$r>())
                    };
                }
                with_type!(to, cast_to)
            }};
        }
        return with_type!(from, cast_from);
    }
    let known = zerostride::operations().find(|known| known.name == op);
    let Some(known) = known else {
        return Verdict::Failed(format!("the operation {op} is not built"));
    };
    macro_rules! call {
        ($t:ident) => {
            match known.result(<$t>::DTYPE) {
                Some(DType::Bool) => judge::<$t, bool>(device, case, |args| Expr::call(op, args)),
                _ => judge::<$t, $t>(device, case, |args| Expr::call(op, args)),
            }
        };
    }
    with_type!(from, call)
}

fn parse<T: Bits>(list: &Value) -> Option<Vec<T>> {
    let parse = |bits: &Value| u64::from_str_radix(bits.as_str()?, 16).ok().map(T::from_bits);
    list.as_array()?.iter().map(parse).collect()
}

fn judge<T: Bits, R: Bits>(device: &Device, case: &Value, apply: impl Fn(&[Expr<T>]) -> Expr<R>) -> Verdict {
    let args: Option<Vec<Vec<T>>> = case["args"].as_array().and_then(|args| args.iter().map(parse).collect());
    let (Some(args), Some(expected)) = (args, case["expect"].as_array()) else {
        return Verdict::Failed("the line has no arguments or no answers".into());
    };
    let run = || -> zerostride::Result<Vec<R>> {
        let upload = |values: &Vec<T>| Ok(device.upload(values, [values.len()])?.expr());
        let exprs: Vec<Expr<T>> = args.iter().map(upload).collect::<zerostride::Result<_>>()?;
        apply(&exprs).to_vec()
    };
    let results = match run() {
        Ok(results) => results,
        // What the adapter cannot have.
        Err(error) if error.kind() == ErrorKind::Limit => return Verdict::Skipped(error.to_string()),
        Err(error) => return Verdict::Failed(error.to_string()),
    };
    let allowed = case["ulp"].as_u64().unwrap_or(0);
    let mut worst = 0;
    for (i, (result, expected)) in results.iter().zip(expected).enumerate() {
        let wanted = expected.as_str().unwrap_or_default();
        let distance = match u64::from_str_radix(wanted, 16) {
            _ if wanted == "nan" => {
                if result.is_nan() {
                    0
                } else {
                    u64::MAX
                }
            }
            Ok(bits) if result.is_nan() => {
                if R::from_bits(bits).is_nan() {
                    0
                } else {
                    u64::MAX
                }
            }
            Ok(bits) => result.rank().abs_diff(R::from_bits(bits).rank()).try_into().unwrap_or(u64::MAX),
            Err(_) => return Verdict::Failed(format!("the answer {wanted} is no number")),
        };
        if distance > allowed {
            let inputs: Vec<T> = args.iter().map(|arg| arg[i]).collect();
            let wanted = u64::from_str_radix(wanted, 16).map(R::from_bits);
            return Verdict::Failed(format!(
                "element {i}: of {inputs:?} got {result:?} ({:#x}), expected {wanted:?}, {distance} ulp of {allowed} allowed",
                result.bits()
            ));
        }
        worst = worst.max(distance);
    }
    match results.len() == expected.len() {
        true => Verdict::Passed { ulp: worst },
        false => Verdict::Failed(format!("{} results for {} answers", results.len(), expected.len())),
    }
}
