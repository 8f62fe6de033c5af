//! The sources of a kernel's operands: bindings, of which an adapter has few, the output's binding, or no memory; and
//! the accesses.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store};
use super::kernel::{Binding, Origin};
use super::launch::Place;
use super::near;
use super::target::Target;
use super::walk::{LANES, Packing, Walk};
use crate::dtype::DType;
use crate::error::{Result, bail};
use crate::ir::{ByValue, Extent, Input, Op, Program, Slot, Source, Value};

/// How the operands of a program are read.
pub(super) struct Reading(SmallVec<[Read; 8]>);

/// How one operand is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Read {
    /// From a binding of its own.
    Bound,
    /// The same, lane by lane, as no vector may reach past its last element.
    Exact,
    /// Through the binding of the output, which is the same storage.
    Output,
    /// The same, by lookups.
    Table,
    /// Not from memory.
    Scalar,
    Index,
    Row,
}

impl Reading {
    pub(super) fn of(program: &Program, to: Place<'_>) -> Reading {
        let read = |input: &Input| match (&input.source, to) {
            (Source::Scalar(_), _) => Read::Scalar,
            (Source::Index(_), _) => Read::Index,
            (Source::Row(_), _) => Read::Row,
            _ if input.is_table() => Read::Table,
            (Source::Slot(slot), Place::Into(to, _)) if *slot == to => Read::Output,
            (Source::Slot(slot), _) if slot.is_exact => Read::Exact,
            _ => Read::Bound,
        };
        Reading(program.inputs.iter().map(read).collect())
    }

    /// The accesses of operands of a kernel that reduces or scans: each by itself, in functions of the coordinates.
    pub(super) fn reduced(&self, chooser: &Chooser<'_>) -> SmallVec<[Access; 8]> {
        (0..self.0.len()).map(|i| self.access(i, chooser, Store::Lanes, false)).collect()
    }

    /// The access of an operand by itself, beside a store. `by_vectors` says whether an index may be one.
    fn access(&self, i: usize, chooser: &Chooser<'_>, store: Store, by_vectors: bool) -> Access {
        match self.0[i] {
            Read::Scalar | Read::Row => Access::Splat,
            Read::Table => Access::Lookup,
            Read::Bound => chooser.bound(i),
            Read::Output if store == Store::Words => Access::Vector,
            read => match chooser.plain(i) {
                Access::Splat => Access::Splat,
                wide if read == Read::Output && store == Store::Vector => wide,
                Access::Vector if read == Read::Index && by_vectors => Access::Vector,
                _ => Access::Strided,
            },
        }
    }

    /// The access of each operand, and the store. An array has one element type, so operands in the output's binding
    /// are wide only if all of them and the store are. Operands of small elements have the output's layout.
    pub(super) fn accesses(
        &self,
        program: &Program,
        chooser: &Chooser<'_>,
        store: Store,
    ) -> (SmallVec<[Access; 8]>, Store) {
        let all_wide = self.of_kind(Read::Output).all(|i| chooser.plain(i).is_wide());
        let store = match store {
            Store::Vector if !all_wide => Store::Lanes,
            Store::Pairs if self.of_kind(Read::Output).next().is_some() => Store::Lanes,
            store => store,
        };
        let has_bodies = program.steps.iter().any(|step| step.body.is_some());
        // Lanes past the end repeat the last coordinates, so that a loop ends for them too.
        let mut accesses: SmallVec<[Access; 8]> =
            (0..self.0.len()).map(|i| self.access(i, chooser, store, !has_bodies)).collect();
        // An invocation of several rows has loads of its own for them.
        if chooser.walk == Walk::Rows && chooser.together.is_none() {
            near::share(program, chooser.loops, self.of_kind(Read::Bound), &mut accesses);
        }
        if store != Store::Words && self.of_kind(Read::Table).next().is_some() {
            self.looked_up_by_rows(program, chooser, &mut accesses);
        }
        (accesses, store)
    }

    /// Loads tables by vectors where lanes are side by side and share one index.
    fn looked_up_by_rows(
        &self,
        program: &Program,
        chooser: &Chooser<'_>,
        accesses: &mut SmallVec<[Access; 8]>,
    ) {
        let is_row = |i: usize| {
            let is_exact = matches!(program.inputs[i].source, Source::Slot(slot) if slot.is_exact);
            let whole = |extent: &Extent| extent.stride % LANES as isize == 0;
            !is_exact && chooser.plain(i) == Access::Vector && program.inputs[i].computed.iter().all(whole)
        };
        let mut by_row: SmallVec<[bool; 8]> =
            (0..accesses.len()).map(|i| self.0[i] == Read::Table && is_row(i)).collect();
        // Values that all lanes share.
        let mut splat: ByValue<bool> = (0..accesses.len())
            .map(|i| match self.0[i] {
                Read::Table => chooser.plain(i) == Access::Splat,
                _ => accesses[i] == Access::Splat,
            })
            .collect();
        for step in &*program.steps {
            if let (Op::Lookup, [Value::Input(table), indices @ ..]) = (step.op, step.args.as_slice()) {
                by_row[*table as usize] &= indices.iter().all(|&index| splat[index]);
            } else {
                // A loop computes its own indices.
                for &arg in &step.args {
                    if let Some(by_row) = arg.input().and_then(|arg| by_row.get_mut(arg)) {
                        *by_row = false;
                    }
                }
            }
            splat.push(step.args.iter().all(|&arg| splat[arg]));
        }
        let rows = accesses.iter_mut().zip(by_row).filter(|(_, by_row)| *by_row);
        rows.for_each(|(access, _)| *access = Access::LookupRow);
    }

    /// The operands with this reading.
    pub(super) fn of_kind(&self, kind: Read) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(move |&(_, &read)| read == kind).map(|(i, _)| i)
    }
}

/// The read-only bindings of a kernel, and the source of each operand.
pub(super) struct Bound {
    pub bindings: Vec<Binding>,
    pub slots: Vec<Slot>,
    pub origins: SmallVec<[Origin; 8]>,
}

impl Bound {
    /// Binds the operands of a kernel that writes `results`. If the adapter has too few bindings, a storage with
    /// several forms is accessed by lanes, which need only one form.
    pub(super) fn new(
        program: &Program,
        reading: &Reading,
        accesses: &mut [Access],
        results: usize,
        target: Target,
    ) -> Result<Bound> {
        let bound = Bound::of(program, reading, accesses)?;
        if bound.fits(results, target) {
            return Ok(bound);
        }
        for (access, origin) in accesses.iter_mut().zip(&bound.origins) {
            if let Origin::Binding(binding) = origin
                && bound.slots.iter().filter(|other| **other == bound.slots[*binding]).count() > 1
            {
                *access = access.by_lanes();
            }
        }
        let bound = Bound::of(program, reading, accesses)?;
        if !bound.fits(results, target) {
            let tensors = bound.bindings.len();
            bail!(
                Limit,
                "an expression of {tensors} tensors and {} needs {} storage bindings, and the adapter has {} (max_storage_buffers_per_shader_stage): evaluate a part of it first",
                if results == 1 { "a result".into() } else { format!("{results} results") },
                tensors + results,
                target.bindings
            );
        }
        Ok(bound)
    }

    /// Whether the adapter has enough bindings.
    pub(super) fn fits(&self, results: usize, target: Target) -> bool {
        self.bindings.len() + results <= target.bindings as usize
    }

    /// Binds the operands with this access.
    pub(super) fn of(program: &Program, reading: &Reading, accesses: &[Access]) -> Result<Bound> {
        let tensors = program.inputs.iter().filter(|input| input.source.is_memory()).count();
        let (bindings, slots) = (Vec::with_capacity(tensors), Vec::with_capacity(tensors));
        let mut bound = Bound { bindings, slots, origins: SmallVec::new() };
        for (i, input) in program.inputs.iter().enumerate() {
            let origin = match (&input.source, reading.0[i]) {
                (_, Read::Scalar) => Origin::Scalar,
                (_, Read::Index) => Origin::Index,
                (_, Read::Row) => Origin::Row(i),
                (_, Read::Output) => Origin::Output,
                (Source::Slot(slot), Read::Bound | Read::Exact | Read::Table) => {
                    bound.bind(input.dtype, accesses[i], *slot)
                }
                (source, Read::Bound | Read::Exact | Read::Table) => bail!(Kernel, "{source:?} is no slot"),
            };
            bound.origins.push(origin);
        }
        Ok(bound)
    }

    /// The binding of a slot, known or new.
    fn bind(&mut self, dtype: DType, access: Access, slot: Slot) -> Origin {
        // Four bytes are one word, whether they are loaded together or not.
        let width = match (dtype.packing(), access) {
            (Packing::Bytes, access) if !matches!(access, Access::Joined { .. }) => 1,
            _ => access.width(),
        };
        let binding = Binding { dtype, width };
        let is_known = |&b: &usize| self.bindings[b] == binding && self.slots[b] == slot;
        let known = (0..self.bindings.len()).find(is_known);
        Origin::Binding(known.unwrap_or_else(|| {
            self.bindings.push(binding);
            self.slots.push(slot);
            self.bindings.len() - 1
        }))
    }
}
