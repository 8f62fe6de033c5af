//! Operands of a call: tensors, and JavaScript's numbers, which take the type of the tensors.

use wasm_bindgen::prelude::*;
use zerostride::{AnyExpr, DType, Device, Scalar, compositions, operations, reductions};

use crate::error::{refused, thrown};
use crate::tensor::CoreTensor;

enum Operand {
    Expr(AnyExpr, DType),
    Number(f64),
    Truth(bool),
}

/// The operands of one call, pushed one by one.
#[wasm_bindgen]
#[derive(Default)]
pub struct Operands {
    all: Vec<Operand>,
    device: Option<Device>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Bool,
    Integer,
    Float,
}

fn kind(dtype: DType) -> Kind {
    match dtype {
        DType::Bool => Kind::Bool,
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Kind::Float,
        _ => Kind::Integer,
    }
}

fn is_signed(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// A type by its name, as `f32`.
pub(crate) fn dtype_of(name: &str) -> Result<DType, JsValue> {
    let all = DType::ALL.iter().find(|dtype| dtype.name() == name);
    all.copied().ok_or_else(|| {
        let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        refused(format!("no element type is called '{name}': they are {}", names.join(", ")))
    })
}

/// A number as an element of a type.
pub(crate) fn constant(dtype: DType, value: f64) -> AnyExpr {
    let scalar = match kind(dtype) {
        Kind::Float => Scalar::Float(value),
        Kind::Integer if value.fract() == 0.0 => Scalar::Int(value as i128),
        Kind::Integer => Scalar::Float(value),
        Kind::Bool => Scalar::Bool(value != 0.0),
    };
    AnyExpr::scalar(dtype, scalar)
}

/// The type that two types promote to: the array API standard's rules, and bool and integers promote to every float.
pub(crate) fn promote(a: DType, b: DType) -> Result<DType, JsValue> {
    let wider = if a.size() >= b.size() { a } else { b };
    Ok(match (kind(a), kind(b)) {
        _ if a == b => a,
        (Kind::Float, Kind::Float) if a.size() == b.size() => DType::F32,
        (Kind::Integer, Kind::Integer) if is_signed(a) != is_signed(b) => {
            let (signed, other) = if is_signed(a) { (a, b) } else { (b, a) };
            match other.size() {
                size if signed.size() > size => signed,
                1 => DType::I16,
                2 => DType::I32,
                4 => DType::I64,
                _ => {
                    let text = format!("no integer type holds both {a} and {b}: cast one of the operands");
                    return Err(refused(text));
                }
            }
        }
        (x, y) if x == y => wider,
        (x, y) if x > y => a,
        _ => b,
    })
}

/// Whether an operation takes elements of a type.
fn takes(name: &str, dtype: DType) -> bool {
    match operations().find(|op| op.name == name) {
        Some(op) => op.result(dtype).is_some(),
        // Compositions are of floats.
        None => kind(dtype) == Kind::Float || compositions().all(|own| own.name != name),
    }
}

/// An operand in a type that a reduction takes: truth values count as integers, integers average as f32, and numbers
/// are true if they are not 0.
pub(crate) fn reduced(name: &str, expr: AnyExpr) -> Result<AnyExpr, JsValue> {
    let dtype = expr.dtype().map_err(thrown)?;
    let Some(reduction) = reductions().find(|own| own.name == name) else { return Ok(expr) };
    let others = [DType::I32, DType::F32, DType::Bool];
    let others = if kind(dtype) == Kind::Bool { &others[..] } else { &others[1..] };
    match others.iter().find(|&&other| reduction.result(other).is_some()) {
        Some(&other) if reduction.result(dtype).is_none() => Ok(expr.cast(other)),
        _ => Ok(expr),
    }
}

#[wasm_bindgen]
impl Operands {
    /// No operands.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Operands {
        Operands::default()
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// The mistake that its expression holds.
    pub fn tensor(&mut self, tensor: &CoreTensor) -> Result<(), JsValue> {
        let expr = tensor.expr();
        let dtype = expr.dtype().map_err(thrown)?;
        self.all.push(Operand::Expr(expr, dtype));
        self.device.get_or_insert_with(|| tensor.device().clone());
        Ok(())
    }

    /// Adds a number.
    pub fn number(&mut self, value: f64) {
        self.all.push(Operand::Number(value));
    }

    /// Adds a truth value.
    pub fn truth(&mut self, value: bool) {
        self.all.push(Operand::Truth(value));
    }
}

impl Operands {
    /// The device of the tensors.
    pub(crate) fn device(&self, name: &str) -> Result<Device, JsValue> {
        let none = || refused(format!("{name} of numbers alone: it takes a tensor at least"));
        self.device.clone().ok_or_else(none)
    }

    /// The type of all operands together. A fraction beside integers is f32, a whole number beside bool i32.
    fn dtype(&self, from: usize) -> Result<Option<DType>, JsValue> {
        let mut found = None;
        for operand in &self.all[from..] {
            if let Operand::Expr(_, dtype) = operand {
                found = Some(found.map_or(Ok(*dtype), |known| promote(known, *dtype))?);
            }
        }
        let numbers = self.all[from..].iter().filter_map(|operand| match operand {
            Operand::Number(value) => Some(*value),
            _ => None,
        });
        for value in numbers {
            let needed = if value.fract() == 0.0 { Kind::Integer } else { Kind::Float };
            found = Some(match found {
                Some(dtype) if kind(dtype) >= needed => dtype,
                Some(DType::Bool) if needed == Kind::Integer => DType::I32,
                _ => DType::F32,
            });
        }
        Ok(found)
    }

    fn converted(&self, from: usize, dtype: DType) -> Result<Vec<AnyExpr>, JsValue> {
        let each = self.all[from..].iter().map(|operand| match operand {
            Operand::Expr(expr, own) if *own == dtype => expr.clone(),
            Operand::Expr(expr, _) => expr.cast(dtype),
            Operand::Number(value) => constant(dtype, *value),
            Operand::Truth(value) => constant(dtype, f64::from(u8::from(*value))),
        });
        Ok(each.collect())
    }

    /// All operands in one type, for joins and products.
    pub(crate) fn together(&self) -> Result<Vec<AnyExpr>, JsValue> {
        self.converted(0, self.dtype(0)?.unwrap_or(DType::F32))
    }

    /// The operands as they are, which must be tensors.
    pub(crate) fn tensors(&self, name: &str) -> Result<Vec<AnyExpr>, JsValue> {
        let each = self.all.iter().map(|operand| match operand {
            Operand::Expr(expr, _) => Ok(expr.clone()),
            _ => Err(refused(format!("{name} of a number: it takes tensors"))),
        });
        each.collect()
    }

    /// An operation of the table over the operands, in one type that it takes. Where it takes no integers, they become
    /// f32, but rounding leaves them. A quotient of integers is one of floats.
    pub(crate) fn call(&self, name: &str) -> Result<AnyExpr, JsValue> {
        let mut dtype = self.dtype(0)?.unwrap_or(DType::Bool);
        let is_whole = kind(dtype) != Kind::Float;
        if is_whole && matches!(name, "floor" | "ceil" | "round" | "trunc") {
            return Ok(self.converted(0, dtype)?.swap_remove(0));
        }
        if is_whole && (name == "div" || !takes(name, dtype)) {
            let integers = if takes(name, DType::I32) && name != "div" { DType::I32 } else { DType::F32 };
            dtype = if kind(dtype) == Kind::Integer { DType::F32 } else { integers };
        }
        Ok(AnyExpr::call(name, &self.converted(0, dtype)?))
    }

    /// The second operand where the first is true, and the third elsewhere.
    pub(crate) fn select(&self) -> Result<AnyExpr, JsValue> {
        let Some(Operand::Expr(condition, _)) = self.all.first() else {
            return Err(refused("where with a condition that is no tensor: compare one"));
        };
        let values = self.converted(1, self.dtype(1)?.unwrap_or(DType::Bool))?;
        match values.as_slice() {
            [a, b] => Ok(condition.cast(DType::Bool).select(a, b)),
            _ => Err(refused(format!("where takes 3 operands and not {}", self.all.len()))),
        }
    }
}
