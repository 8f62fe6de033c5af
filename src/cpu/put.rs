//! Writes at computed rows: the elements, and then the updates in their places.

use bytemuck::cast_slice as cast;

use super::bytes::Operand;
use super::eval;
use crate::error::{Result, bail};
use crate::ir::{Program, ProgramKind, Value};

/// Runs a program whose elements are replaced by rows of updates. The tables are the updates and their places.
pub(super) fn put(program: &Program, tables: &[Value], from: &[Operand<'_>], out: &mut [u8]) -> Result<()> {
    eval::eval(&program.clone().of_kind(ProgramKind::Map), from, out)?;
    updates(program, tables, from, out)
}

/// Writes the updates alone.
pub(super) fn updates(
    program: &Program,
    tables: &[Value],
    from: &[Operand<'_>],
    out: &mut [u8],
) -> Result<()> {
    // Memory is whole vectors, and may be longer than the table.
    let memory = |table: &Value| match (from[table.input()?], program.input(*table)?) {
        (Operand::Bytes(bytes), input) => {
            let elements = input.computed.iter().map(|extent| extent.length).product::<usize>();
            bytes.get(..elements * input.dtype.size())
        }
        _ => None,
    };
    let [Some(updates), Some(places)] = [tables.first().and_then(memory), tables.get(1).and_then(memory)]
    else {
        bail!(Kernel, "updates that lie nowhere")
    };
    let row = program.shape[1] * program.dtype.size();
    let places: &[u32] = cast(places);
    for (update, &place) in updates.chunks_exact(row).zip(places) {
        let own = out.chunks_exact_mut(row).nth(place as usize);
        own.into_iter().for_each(|own| own.copy_from_slice(update));
    }
    Ok(())
}
