//! The uniform block: numbers of a launch, in order. A launch has every number that a kernel of its form may need. The
//! emitter declares the ones that its text names, and only these are uploaded.

use super::access::{Access, Stride};
use super::kernel::{Code, Kernel, Origin, Role};
use super::numbers::divider;
use super::walk::LANES;
use crate::ir::{Op, Program, Source, normal};
use crate::layout::Nest;

/// One 32-bit word of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A number of the kernel's form, or its factor or shift, by name.
    Number(&'static str),
    /// Length of a collapsed axis.
    Length(usize),
    /// The divisor by that length: `n / length` is the high word of `n * factor`, shifted right.
    Factor(usize),
    Shift(usize),
    /// First element, or first vector if the access is by vectors.
    Offset(Role),
    /// Elements from there to the first of a shifted access.
    Rest(Role),
    /// The last vector that holds an element of the operands that share loads with this one.
    Last(Role),
    /// Distance along a computed index of a table, in the same unit.
    Computed(usize, usize),
    /// Distance along a collapsed axis, in elements or vectors, modulo 2^32.
    Stride(Role, usize),
    /// A constant, or its low word.
    Scalar(usize),
    /// The high word of a constant of 64 bits.
    ScalarHigh(usize),
    /// The identity of a reduction for elements past the end of a row, or its low word.
    Identity(usize),
    IdentityHigh(usize),
    /// A coefficient of the [`cubics`](normal::cubics), which kernels know as an array of vectors.
    Cubic(usize),
    /// 0, which no compiler knows. Fences are made of it.
    Zero,
}

impl Kernel {
    /// All numbers that its text may name, in order. Those that it names are the words of its uniform block.
    pub(crate) fn fields(&self, mut each: impl FnMut(Field)) {
        let code = &self.code;
        let mut all = |fields: &[Field]| fields.iter().for_each(|&field| each(field));
        // First, where vectors are aligned.
        if code.steps.iter().any(|step| step.contains(&[Op::Normal])) {
            (0..normal::cubics().as_flattened().len()).for_each(|i| all(&[Field::Cubic(i)]));
        }
        self.form.numbers().iter().for_each(|name| all(&[Field::Number(name)]));
        for i in 0..self.form.identities().len() {
            all(&[Field::Identity(i), Field::IdentityHigh(i)]);
        }
        for axis in 0..code.rank {
            all(&[Field::Length(axis), Field::Factor(axis), Field::Shift(axis)]);
        }
        let own =
            |&i: &usize| code.operands[i].walks_as == Role::In(i) && !code.operands[i].origin.is_value();
        let roles = std::iter::once(Role::Out).chain((0..code.operands.len()).filter(own).map(Role::In));
        for role in roles {
            all(&[Field::Offset(role), Field::Rest(role), Field::Last(role)]);
            let axes = (0..code.rank).filter(|&axis| code.stride(role, axis) == Stride::Any);
            axes.for_each(|axis| all(&[Field::Stride(role, axis)]));
        }
        for (i, operand) in code.operands.iter().enumerate() {
            if operand.origin == Origin::Scalar {
                all(&[Field::Scalar(i), Field::ScalarHigh(i)]);
            }
            let computed = (0..operand.computed.len()).filter(|&k| operand.computed[k] == Stride::Any);
            computed.for_each(|k| all(&[Field::Computed(i, k)]));
        }
        all(&[Field::Zero]);
    }
}

impl Code {
    /// The access of a role.
    fn access(&self, role: Role) -> Access {
        match role {
            Role::Out => self.store.access(),
            Role::In(i) => self.operands[i].access,
        }
    }
}

/// See [`Field::Last`].
fn last_near(code: &Code, loops: &Nest, role: Role) -> usize {
    let Role::In(of) = role else { return 0 };
    let is_near = |i: &usize| matches!(code.operands[*i].access, Access::Near { leader, .. } if usize::from(leader) == of);
    let last = |i: usize| {
        let path = loops.operand(i);
        let far = |(&n, &stride): (&usize, &isize)| (n - 1) * stride.max(0) as usize;
        path.offset + loops.lengths.iter().zip(&path.strides).map(far).sum::<usize>()
    };
    (0..code.operands.len()).filter(is_near).map(last).max().unwrap_or(0) / code.operands[of].access.width()
}

/// The words of the uniform block. `numbers` are those of the kernel's form.
pub(super) fn words(kernel: &Kernel, loops: &Nest, program: &Program, numbers: Vec<u32>) -> Vec<u32> {
    let code = &kernel.code;
    let path = |role: Role| match role {
        Role::Out => loops.output(),
        Role::In(i) => loops.operand(i),
    };
    let unit = |role: Role| code.access(role).unit(code.walk);
    let bits = |i: usize| match program.inputs[i].source {
        Source::Scalar(bits) => bits,
        _ => 0,
    };
    let (identities, cubics) = (kernel.form.identities(), normal::cubics().as_flattened());
    let mut numbers = numbers.into_iter();
    let mut word = |field: Field| match field {
        Field::Number(_) => numbers.next().unwrap_or(0),
        Field::Length(axis) => loops.lengths[axis] as u32,
        Field::Factor(axis) => divider(loops.lengths[axis]).0,
        Field::Shift(axis) => divider(loops.lengths[axis]).1,
        Field::Rest(role) => (path(role).offset % LANES) as u32,
        Field::Last(role) => last_near(code, loops, role) as u32,
        Field::Offset(role) => (path(role).offset / unit(role)) as u32,
        Field::Stride(role, axis) => (path(role).strides[axis] / unit(role) as isize) as u32,
        Field::Computed(i, k) => (program.inputs[i].computed[k].stride / unit(Role::In(i)) as isize) as u32,
        Field::Cubic(i) => cubics[i].to_bits(),
        Field::Zero => 0,
        Field::Scalar(i) => bits(i) as u32,
        Field::ScalarHigh(i) => (bits(i) >> 32) as u32,
        Field::Identity(i) => identities[i] as u32,
        Field::IdentityHigh(i) => (identities[i] >> 32) as u32,
    };
    let mut words = Vec::with_capacity(32);
    kernel.fields(|field| words.push(word(field)));
    words
}
