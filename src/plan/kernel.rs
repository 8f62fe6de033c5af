//! A kernel: everything that its text depends on. A new shape changes none of it.

use std::ops::RangeInclusive;
use std::sync::Arc;

use smallvec::SmallVec;

use super::access::{Access, Store, Stride};
use super::makes::{Makes, Moved, Output};
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

/// A read-only binding: the type of its elements, and the number of elements in an entry of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    pub dtype: DType,
    pub width: usize,
}

/// Everything that a kernel's text depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub walk: Walk,
    pub rank: usize,
    pub workgroup: [u32; 2],
    /// Vectors that an invocation computes: on as many rows, or joined by their store.
    pub vectors: u32,
    pub bindings: Vec<Binding>,
    pub operands: Vec<Operand>,
    pub steps: Arc<Vec<Step>>,
    /// A value for each result.
    pub results: SmallVec<[Value; 1]>,
    /// The type of the first result. Other results have their values' types.
    pub out: DType,
    pub store: Store,
    /// How the addresses of the result follow the axes, as in [`Operand::strides`].
    pub strides: SmallVec<[Stride; 6]>,
    /// Whether the result is a new storage, and begins at its first element.
    pub fresh: bool,
    /// Whether the innermost axis has as many elements as an invocation of a flat walk computes, or one less. Then a
    /// carry leads from the coordinates of the first element to the others.
    pub carries: bool,
    pub faults: Faults,
    pub math: Math,
    pub makes: Makes,
}

impl Kernel {
    /// Its operations, in words: its steps, then its reductions. Empty for a copy.
    pub(crate) fn name(&self) -> String {
        let mut names: Vec<&str> =
            self.steps.iter().filter(|step| step.op != Op::State).map(Step::name).collect();
        match &self.makes {
            Makes::Elements => {}
            Makes::Scan(scanner) => names.extend(["cumulative", scanner.op.name()]),
            Makes::Contract(_) => names.push("product"),
            Makes::Sort(_) => names.push("sort"),
            Makes::Count(_) => names.push("bincount"),
            Makes::Reduce(reduce) => names.extend(reduce.reductions().map(|own| own.op.name())),
        }
        names.join(", ")
    }

    /// A copy of 16-bit floats as a copy of bits, since a conversion to f32 and back may change NaN.
    pub(super) fn into_bits(mut self) -> Kernel {
        if self.steps.is_empty() {
            let bits = |dtype: &mut DType| {
                if matches!(dtype, DType::F16 | DType::BF16) {
                    *dtype = DType::U16;
                }
            };
            self.operands.iter_mut().for_each(|operand| bits(&mut operand.dtype));
            self.bindings.iter_mut().for_each(|binding| bits(&mut binding.dtype));
            bits(&mut self.out);
        }
        self
    }

    /// Whether an operand is read through the binding of the output.
    pub(crate) fn reads_output(&self) -> bool {
        self.operands.iter().any(|operand| operand.origin == Origin::Output)
    }

    /// Whether a step may take long, or forever, for lanes past the end.
    pub(crate) fn minds_missing_lanes(&self) -> bool {
        self.steps.iter().filter_map(|step| step.body.as_ref()).any(Body::ends_by_values)
    }

    /// Rows of an invocation, each a vector.
    pub(crate) fn rows(&self) -> u32 {
        self.vectors / self.joined()
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

    /// The types of its results. Each has its own binding.
    pub(crate) fn stored(&self) -> SmallVec<[DType; 2]> {
        match &self.makes {
            Makes::Elements => self.results.iter().map(|&result| self.value_type(result)).collect(),
            Makes::Reduce(reduce) if reduce.output == Output::Partials => reduce.partials().collect(),
            Makes::Scan(_) | Makes::Contract(_) | Makes::Count(_) => SmallVec::from_slice(&[self.out]),
            Makes::Reduce(_) => self.results.iter().map(|_| self.out).collect(),
            Makes::Sort(sorter) => {
                std::iter::repeat_n(self.out, sorter.moved.map_or(1, Moved::count)).collect()
            }
        }
    }
}
