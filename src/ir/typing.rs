//! Types of operands, and of results.

use super::Op;
use crate::dtype::DType;
use crate::error::{Result, bail};

/// The type of an op's result for operands of these types, or the error that it takes none.
pub(crate) fn result_type(op: Op, operands: &[DType]) -> Result<DType> {
    let Some(row) = op.row() else {
        return match operands {
            [DType::Bool, values @ ..] => one_type("select", "values", values),
            _ => {
                let got = list(&operands[..operands.len().min(1)]);
                bail!(Type, "select takes a condition of bool and got {got}: compare or cast it")
            }
        };
    };
    let dtype = operand_type(row.name, row.arity, operands)?;
    row.result(dtype).map_or_else(|| takes_no(row.name, dtype), Ok)
}

/// The error of operands that `name` does not take.
pub(crate) fn takes_no<T>(name: &str, dtype: DType) -> Result<T> {
    bail!(Operation, "{name} takes no {dtype}: cast the operands")
}

/// The one type of the operands of `name`, or an error.
pub(crate) fn operand_type(name: &str, arity: usize, operands: &[DType]) -> Result<DType> {
    if operands.len() != arity {
        let operand = if arity == 1 { "operand" } else { "operands" };
        bail!(Operation, "{name} takes {arity} {operand} and not {}", operands.len());
    }
    one_type(name, "operands", operands)
}

fn one_type(name: &str, what: &str, types: &[DType]) -> Result<DType> {
    match types {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => Ok(*first),
        _ => bail!(Type, "{name} takes {what} of one type and got {}: cast one of them", list(types)),
    }
}

/// `f32, i32 and u8`.
fn list(types: &[DType]) -> String {
    let names: Vec<&str> = types.iter().map(|dtype| dtype.name()).collect();
    match names.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => "none".to_string(),
    }
}
