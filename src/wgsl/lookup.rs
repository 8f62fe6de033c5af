//! Lookups: elements of a table where computed indices say, in the middle of a kernel's steps and in turns of loops.

use super::emit::{Emitter, line};
use super::load::gather;
use super::types::{decode, unpack};
use crate::error::{Result, bail};
use crate::expr::{Step, Value};
use crate::plan::{Access, Kernel, Operand, Origin, Role, Stride};

/// The address that indices of a type lead to in operand `i`, from where that is walked. They are bits as they are:
/// distances and sums are modulo 2^32.
fn address(
    i: usize,
    operand: &Operand,
    from: String,
    of: &str,
    indices: impl Iterator<Item = String>,
) -> String {
    let term = |(k, (index, stride)): (usize, (String, &Stride))| match stride {
        Stride::Any => format!(" + {of}({index}) * p.x{i}_index{k}"),
        _ => format!(" + {of}({index})"),
    };
    from + &indices.zip(&operand.computed).enumerate().map(term).collect::<String>()
}

/// The binding that operand `i` is looked up in.
fn binding(kernel: &Kernel, i: usize) -> Result<String> {
    match kernel.operands[i].origin {
        Origin::Binding(binding) => Ok(format!("in{binding}")),
        origin => bail!(Kernel, "a lookup in {origin:?}"),
    }
}

/// What is looked up by lanes in operand `i`, walked from addresses: where it lies, and the elements that lie where a
/// name says.
pub(super) fn by_lanes(
    kernel: &Kernel,
    i: usize,
    (from, at): (String, &str),
    indices: impl Iterator<Item = String>,
) -> Result<(String, String)> {
    let operand = &kernel.operands[i];
    let found = decode(operand.dtype, gather(operand.dtype, &binding(kernel, i)?, at));
    Ok((address(i, operand, from, "vec4<u32>", indices), found))
}

impl Emitter<'_> {
    /// The elements of a table where computed indices say, all of them inside of it.
    pub(super) fn lookup(&mut self, value: Value, step: &Step, vector: u32) -> Result<String> {
        let Some((&table, indices)) = step.args.split_first() else {
            bail!(Kernel, "a lookup without a table")
        };
        let (i, of) = (table as usize, Role::In(table as usize));
        let operand = &self.kernel.operands[i];
        let indices = indices.iter().map(|&index| self.value(index, vector));
        let at = format!("at_{}", self.value(value, vector));
        let (address, found) = match operand.access {
            Access::LookupRow => {
                let indices = indices.map(|index| format!("{index}.x"));
                let word = format!("{}[{at}]", binding(self.kernel, i)?);
                let found = decode(operand.dtype, unpack(operand.dtype, self.kernel.wide_words, word));
                (address(i, operand, self.vector(of, vector), "u32", indices), found)
            }
            _ => by_lanes(self.kernel, i, (self.addresses(of, vector), &at), indices)?,
        };
        line!(self.text, "    let {at} = {address};");
        Ok(found)
    }
}
