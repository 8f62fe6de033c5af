//! The construction of a plan: what the plans of all forms share.

use smallvec::{SmallVec, smallvec};

use super::access::{Access, Chooser, Store, Stride};
use super::fields;
use super::form::Form;
use super::kernel::{Binding, Code, Kernel, Operand, Origin, Role};
use super::launch::{Launch, Place, Plan};
use super::reading::{Bound, Reading};
use super::target::Target;
use super::walk::Walk;
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Program, Slot};
use crate::layout::{Axis, Nest, Path};

/// A program over loops, and how a kernel walks over these and accesses its operands.
pub(super) struct PlanBuilder<'a> {
    pub program: &'a Program,
    pub target: Target,
    pub loops: Nest,
    pub walk: Walk,
    pub accesses: SmallVec<[Access; 8]>,
}

/// What a kernel makes of a program, and its launch.
pub(super) struct Made {
    pub form: Form,
    pub store: Store,
    /// The types of its results, and the elements of each.
    pub stored: SmallVec<[DType; 2]>,
    pub count: usize,
    /// The numbers of its form.
    pub numbers: Vec<u32>,
    pub workgroup: [u32; 2],
    pub groups: [u32; 3],
    /// What it does, in words.
    pub description: Option<String>,
}

impl<'a> PlanBuilder<'a> {
    /// The program of a kernel that stores to new storages and accesses each operand by itself, in functions of the
    /// coordinates.
    pub(super) fn new(program: &'a Program, loops: Nest, walk: Walk, target: Target) -> PlanBuilder<'a> {
        let chooser = Chooser { loops: &loops, walk, together: None };
        let accesses = Reading::of(program, Place::Fresh).reduced(&chooser);
        PlanBuilder { program, target, loops, walk, accesses }
    }

    /// The plan of a kernel that has no program: it reads words of slots, runs over a number of words, and moves so many
    /// bytes.
    pub(super) fn over_slots(count: usize, reads: Vec<Slot>, moved: u64, made: Made, target: Target) -> Plan {
        let axis = Axis { length: count, strides: smallvec![1] };
        let loops = Nest::of(std::iter::once(0), std::iter::once(&axis));
        let nothing = Program::of_steps([count].into(), DType::U32, Vec::new(), Vec::new(), SmallVec::new());
        let bindings = vec![Binding { dtype: DType::U32, width: 1 }; reads.len()];
        let bound = Bound { bindings, slots: reads, origins: SmallVec::new() };
        let plan = PlanBuilder::new(&nothing, loops, Walk::Flat, target).plan(bound, made);
        Plan { moved, work: moved, ..plan }
    }

    /// Binds the operands of such a kernel with a number of results.
    pub(super) fn bind(&mut self, results: usize) -> Result<Bound> {
        let reading = Reading::of(self.program, Place::Fresh);
        Bound::new(self.program, &reading, &mut self.accesses, results, self.target)
    }

    pub(super) fn plan(self, bound: Bound, made: Made) -> Plan {
        let Made { form, store, stored, count, numbers, workgroup, groups, description } = made;
        let strides = store.strides(self.loops.output(), self.walk);
        let operands = self.operands(&bound.origins, store, &strides);
        let PlanBuilder { program, target, loops, walk, .. } = self;
        // Each element that it reads once, and its results.
        let size: usize = stored.iter().map(|dtype| dtype.size()).sum();
        let moved = program.read_bytes().saturating_add(size.saturating_mul(count)) as u64;
        let (rank, steps, results) = (loops.lengths.len(), program.steps.clone(), program.results.clone());
        let kernel = Kernel {
            workgroup,
            stored: stored.into_iter().map(|dtype| Binding { dtype, width: store.width() }).collect(),
            bindings: bound.bindings,
            faults: target.faults,
            math: target.math,
            code: Code { walk, rank, operands, steps, results, store, strides },
            form,
        };
        let words = fields::words(&kernel, &loops, program, numbers);
        let launch = Launch { words, groups };
        let (reads, work) = (bound.slots, program.work_moving(moved));
        Plan { kernel, launch, reads, loops, count, description, moved, work }
    }

    /// The operands, as a kernel's text sees them, beside an output with this store and strides.
    fn operands(&self, origins: &[Origin], store: Store, strides: &[Stride]) -> Vec<Operand> {
        let PlanBuilder { program, loops, walk, accesses, .. } = self;
        let output = address(loops.output(), store.access().unit(*walk), strides);
        let mut operands: Vec<Operand> = Vec::with_capacity(program.inputs.len());
        for (i, input) in program.inputs.iter().enumerate() {
            let (origin, access) = (origins[i], accesses[i]);
            let strides = match origin.is_value() {
                true => SmallVec::new(),
                false => access.strides(loops.operand(i), *walk),
            };
            let own = address(loops.operand(i), access.unit(*walk), &strides);
            let is_alike = |&j: &usize| {
                let other: &Operand = &operands[j];
                !other.origin.is_value()
                    && !matches!(other.access, Access::Near { .. })
                    && address(loops.operand(j), other.access.unit(*walk), &other.strides) == own
            };
            let walks_as = match access {
                _ if origin.is_value() => Role::In(i),
                Access::Near { leader, .. } => Role::In(leader.into()),
                _ if own == output => Role::Out,
                _ => Role::In((0..i).find(is_alike).unwrap_or(i)),
            };
            // An entry of the array is a row's neighbours, so indices count vectors.
            let unit = access.width() as isize;
            let computed = input.computed.iter().map(|extent| match extent.stride / unit {
                1 => Stride::One,
                _ => Stride::Any,
            });
            let computed = computed.collect();
            operands.push(Operand { dtype: input.dtype, origin, access, strides, computed, walks_as });
        }
        operands
    }
}

/// The address of a tensor. Tensors with equal ones share addresses. Vectors and elements are different units, so the unit
/// is a part of it. A last axis along which it does not move is left out, or has stride 0.
fn address<'a>(path: &'a Path, unit: usize, strides: &'a [Stride]) -> (&'a Path, usize, &'a [Stride]) {
    let followed = strides.iter().rposition(|&stride| stride != Stride::Zero);
    (path, unit, &strides[..followed.map_or(0, |axis| axis + 1)])
}
