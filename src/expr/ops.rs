//! The op table as data, and ops by name: for interpreters, tests and documentation.

use super::any::apply;
use super::composed::compositions;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind};
use crate::ir::{Op, ROWS};

/// An operation of the table. `select` and `cast`, whose operands differ in type, are not in it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Operation {
    /// The name of the method on [`Expr`].
    pub name: &'static str,
    /// The number of operands.
    pub arity: usize,
    /// Its description, edge cases included.
    pub doc: &'static str,
    op: Op,
}

impl Operation {
    /// The element type of the result for operands of type `dtype`, if it takes them.
    pub fn result(&self, dtype: DType) -> Option<DType> {
        self.op.row()?.result(dtype)
    }

    /// The greatest distance of a result from the exact one, on any device, in units in the last place, for operands of
    /// type `dtype`. 0 means the same bits. Integers and bool are always exact. f16 and bf16 are rounded from f32,
    /// which leaves at most 1.
    pub fn ulp(&self, dtype: DType) -> u32 {
        let bound = self.op.row().map_or(0, |row| row.ulp);
        match dtype {
            DType::F32 | DType::F64 => bound,
            DType::F16 | DType::BF16 => bound.min(1),
            _ => 0,
        }
    }

    /// The magnitude below which [`ulp`](Self::ulp) counts units of this magnitude and not of the result's. 0, except
    /// for functions with zeros that no float is, near which a relative bound cannot hold.
    pub fn ulp_from(&self) -> f64 {
        self.op.row().map_or(0.0, |row| row.ulp_from)
    }
}

/// Every operation of the table.
///
/// ```
/// use zerostride::{DType, operations};
///
/// let pow = operations().find(|op| op.name == "pow").unwrap();
/// assert_eq!(pow.arity, 2);
/// assert_eq!(pow.result(DType::F32), Some(DType::F32));
/// assert_eq!(pow.result(DType::Bool), None);
/// assert_eq!((pow.ulp(DType::F32), pow.ulp(DType::I32)), (4, 0));
/// ```
pub fn operations() -> impl Iterator<Item = Operation> {
    ROWS.iter().map(|row| Operation { name: row.name, arity: row.arity, doc: row.doc, op: row.op })
}

impl AnyExpr {
    /// The operation or composition called `name`.
    ///
    /// A wrong name, wrong types or a wrong number of operands are mistakes of the expression.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1.0_f32, 5.0], [2])?);
    /// let three = AnyExpr::scalar(DType::F32, 3);
    /// let small = AnyExpr::call("lt", &[x.clone(), three]);
    /// assert_eq!(small.to_vec::<bool>()?, [true, false]);
    /// assert_eq!(AnyExpr::call("relu6", &[x.clone()]).to_vec::<f32>()?, [1.0, 5.0]);
    ///
    /// let error = AnyExpr::call("and", &[x.clone(), x]).eval().unwrap_err();
    /// assert_eq!(error.message(), "and takes no f32: cast the operands");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn call(name: &str, operands: &[AnyExpr]) -> AnyExpr {
        // Other names, of NumPy and ONNX.
        let name = match name {
            "max" => "maximum",
            "min" => "minimum",
            "clip" => "clamp",
            _ => name,
        };
        if let Some(row) = ROWS.iter().find(|row| row.name == name) {
            return apply(row.op, operands);
        }
        match compositions().find(|function| function.name == name) {
            Some(function) => function.call(operands),
            None => {
                let unknown = || Error::new(ErrorKind::Operation, format!("no operation is called '{name}'"));
                let first = operands.iter().find_map(|operand| operand.node().err());
                AnyExpr::mistake(first.unwrap_or_else(unknown))
            }
        }
    }
}

impl<R: Element> Expr<R> {
    /// The operation or composition called `name` over operands of type `T`.
    ///
    /// A wrong name, type or number of operands is a mistake of the expression.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[1.0_f32, 5.0], [2])?;
    /// let small: Expr<bool> = Expr::call("lt", &[x.expr(), Expr::scalar(3.0)]);
    /// assert_eq!(small.to_vec()?, [true, false]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn call<T: Element>(name: &str, operands: &[Expr<T>]) -> Expr<R> {
        let operands: Vec<AnyExpr> = operands.iter().map(AnyExpr::from).collect();
        let result = AnyExpr::call(name, &operands);
        Expr::face(match result.dtype() {
            Ok(gives) if gives != R::DTYPE => {
                let text = format!("{name} of {} gives {gives} and not {}", T::DTYPE, R::DTYPE);
                AnyExpr::mistake(Error::new(ErrorKind::Operation, text))
            }
            _ => result,
        })
    }
}
