//! A kernel: everything that its text depends on. A new shape changes none of it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use smallvec::SmallVec;

use super::access::{Access, Store, Stride};
use super::form::{Form, Output, Reduce, VectorAxis};
use super::target::Faults;
use super::walk::Walk;
use crate::dtype::DType;
use crate::ir::{Body, Math, Op, Step, Value};

/// The role of a tensor in a kernel: the output, or an operand by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    Out,
    In(usize),
}

/// The source of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// A read-only binding, by its index.
    Binding(usize),
    /// The output's binding: an in-place operand.
    Output,
    /// A constant of the uniform block.
    Scalar,
    /// The address itself.
    Index,
    /// The result of a reduction of the same kernel.
    Row(usize),
}

impl Origin {
    /// Whether it has no address.
    pub(crate) fn is_value(self) -> bool {
        matches!(self, Origin::Scalar | Origin::Row(_))
    }
}

/// An operand, as the kernel's text sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operand {
    pub dtype: DType,
    pub origin: Origin,
    pub access: Access,
    /// How its addresses follow the axes, the outermost first. Missing axes are not followed.
    pub strides: SmallVec<[Stride; 6]>,
    /// How its addresses follow computed indices, if it is looked up.
    pub computed: SmallVec<[Stride; 2]>,
    /// The first of the output and the operands with the same addresses. They share these, and the words of these.
    pub walks_as: Role,
}

/// A binding: the type of its elements, and the number of elements in an entry of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    pub dtype: DType,
    pub width: usize,
}

/// Everything that a kernel's text depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub workgroup: [u32; 2],
    /// The binding of each result.
    pub stored: SmallVec<[Binding; 1]>,
    /// Those that it reads.
    pub bindings: Vec<Binding>,
    pub faults: Faults,
    pub math: Math,
    pub code: Code,
    pub form: Form,
}

/// A program as a kernel's text computes it. That of a sort is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Code {
    pub walk: Walk,
    pub rank: usize,
    pub operands: Vec<Operand>,
    pub steps: Arc<Vec<Step>>,
    pub results: SmallVec<[Value; 1]>,
    pub store: Store,
    /// How the addresses of the result follow the axes, as in [`Operand::strides`].
    pub strides: SmallVec<[Stride; 6]>,
}

impl Kernel {
    /// Its operations, in words: its steps, then those of its form. Empty for a copy.
    pub(crate) fn name(&self) -> String {
        let steps = self.code.steps.iter().filter(|step| step.op != Op::State).map(Step::name);
        steps.chain(self.form.names()).collect::<Vec<_>>().join(", ")
    }

    /// Makes a copy of 16-bit floats one of bits, since a conversion to f32 and back may change NaN.
    pub(super) fn copy_bits(&mut self) {
        let bindings = self.stored.iter_mut().chain(&mut self.bindings).map(|binding| &mut binding.dtype);
        let operands = self.code.operands.iter_mut().map(|operand| &mut operand.dtype);
        for dtype in bindings.chain(operands).filter(|_| self.code.steps.is_empty()) {
            if matches!(dtype, DType::F16 | DType::BF16) {
                *dtype = DType::U16;
            }
        }
    }
}

impl Code {
    /// Whether an operand is read through the binding of the output.
    pub(crate) fn reads_output(&self) -> bool {
        self.operands.iter().any(|operand| operand.origin == Origin::Output)
    }

    /// Whether a step may take long, or forever, for lanes past the end.
    pub(crate) fn minds_missing_lanes(&self) -> bool {
        self.steps.iter().filter_map(|step| step.body.as_ref()).any(Body::ends_by_values)
    }

    /// Vectors that are loaded and stored together in the place of each of these.
    pub(crate) fn joined(&self) -> u32 {
        match self.store {
            Store::Joined { vectors } => vectors.into(),
            _ => 1,
        }
    }

    /// The type of a value.
    pub(crate) fn value_type(&self, value: Value) -> DType {
        match value {
            Value::Input(i) => self.operands[i as usize].dtype,
            Value::Step(i) => self.steps[i as usize].result,
        }
    }

    /// The rows that operands beside one read, from its own on.
    pub(crate) fn rows_near(&self, operand: usize) -> RangeInclusive<i32> {
        let rows = self.operands.iter().filter_map(|other| match other.access {
            Access::Near { leader, down, .. } if usize::from(leader) == operand => Some(i32::from(down)),
            _ => None,
        });
        rows.fold(0..=0, |all, down| down.min(*all.start())..=down.max(*all.end()))
    }

    /// Whether the lanes of a vector have their own coordinates along the innermost axis, in a reduction of rows.
    pub(crate) fn has_lanes(&self, reduce: &Reduce) -> bool {
        let by_lanes = |operand: &Operand| {
            operand.access.needs_coordinates()
                || operand.origin == Origin::Index && operand.access != Access::Splat
        };
        let stores = self.store == Store::Lanes
            && (reduce.vector_axis == VectorAxis::Kept || reduce.output != Output::OnePerRow);
        let needs = stores || self.minds_missing_lanes() || self.operands.iter().any(by_lanes);
        reduce.vector_axis != VectorAxis::Gathered && needs
    }

    /// Whether a flat walk divides: an operand, or the store, follows the axes.
    pub(crate) fn needs_coordinates(&self) -> bool {
        let follows = |operand: &Operand| {
            // A table may follow its indices alone.
            let moves = operand.strides.iter().any(|&stride| stride != Stride::Zero);
            operand.access.needs_coordinates() && (moves || operand.access != Access::Lookup)
        };
        self.operands.iter().any(follows) || self.store.access().needs_coordinates()
    }

    /// How the addresses of a tensor follow an axis.
    pub(crate) fn stride(&self, role: Role, axis: usize) -> Stride {
        let strides = match role {
            Role::Out => &self.strides,
            Role::In(i) => &self.operands[i].strides,
        };
        strides.get(axis).copied().unwrap_or(Stride::Zero)
    }

    /// Whether the addresses of any tensor follow an axis.
    pub(crate) fn follows(&self, axis: usize) -> bool {
        let mut roles = std::iter::once(Role::Out).chain((0..self.operands.len()).map(Role::In));
        roles.any(|role| self.stride(role, axis) != Stride::Zero)
    }

    /// The first axis that an address follows.
    pub(crate) fn outermost(&self) -> usize {
        (0..self.rank).find(|&axis| self.follows(axis)).unwrap_or(self.rank - 1)
    }
}
