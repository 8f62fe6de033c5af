//! Programs with a product of matrices: its factors, and the steps after its sums.

use smallvec::smallvec;

use super::{AxisOp, Contract, Input, Op, Program, ProgramBuilder, ProgramKind, Source, Step, Value};
use crate::error::{Result, bail};
use crate::layout::Layout;

/// The factors that a program multiplies and adds up along an axis; the other axes that both or neither follow, and the
/// axes of each factor alone. Axes of length 1 are in no list.
pub(crate) struct Product {
    pub factors: [Value; 2],
    pub batch: Vec<usize>,
    pub kept: [Vec<usize>; 2],
    pub axis: usize,
}

impl Program {
    /// Its axis, and the value that is added up along it, if it is a contraction.
    pub(crate) fn contraction(&self) -> Result<(Contract, Value)> {
        match &self.kind {
            ProgramKind::Axis(AxisOp::Contract(own), product) => {
                Ok((*own, product.first().copied().unwrap_or(self.results[0])))
            }
            _ => bail!(Kernel, "a program without a contraction"),
        }
    }

    /// Its factors, if it is a contraction.
    pub(crate) fn product(&self) -> Result<Product> {
        let (Contract { axis }, product) = self.contraction()?;
        let Some(step) = self.step(product) else { bail!(Kernel, "a contraction without a product") };
        let factors = [step.args[0], step.args[1]];
        let followed = self.followed();
        let of = |wanted: fn(bool, bool) -> bool| -> Vec<usize> {
            let follows = |&k: &usize| wanted(followed[factors[0]][k], followed[factors[1]][k]);
            (0..self.shape.rank()).filter(|&k| k != axis && self.shape[k] > 1).filter(follows).collect()
        };
        let kept = [of(|left, right| left && !right), of(|left, right| right && !left)];
        Ok(Product { factors, batch: of(|left, right| left == right), kept, axis })
    }

    /// The steps after its sums, if it is a contraction that has some, as a program over the results. It reads the sums
    /// as [`Source::Row`].
    pub(crate) fn after_product(&self) -> Result<Option<Program>> {
        match &self.kind {
            ProgramKind::Axis(AxisOp::Contract(_), product) if !product.is_empty() => {
                self.after_reductions().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A contraction without the steps after its sums.
    pub(crate) fn only_product(&self) -> Result<Program> {
        let (own, product) = self.contraction()?;
        Ok(self.only(&[product])?.of_kind(ProgramKind::of(AxisOp::Contract(own))))
    }

    /// A contraction with the steps of a program over its results after its sums, which are the inputs that `is_sum`
    /// names. `None` if some input has no layout over the contraction's axes.
    pub(crate) fn then(&self, after: &Program, is_sum: impl Fn(&Input) -> bool) -> Result<Option<Program>> {
        let (own, product) = self.contraction()?;
        let lengths: Vec<isize> = self.result_shape().iter().map(|&n| n as isize).collect();
        let mut layouts = Vec::with_capacity(after.inputs.len());
        for input in after.inputs.iter().filter(|input| !is_sum(input)) {
            let Ok(layout) = input.layout.reshape(&lengths) else { return Ok(None) };
            layouts.push(layout.broadcast_to(&self.shape)?);
        }
        let (mut all, mut layouts, sum_type) = (ProgramBuilder::new(), layouts.into_iter(), self.dtype);
        let values = all.copy_all(self, |all, input| Ok(all.input(input.clone())))?;
        let sum = Input::new(sum_type, Source::Row(0), Layout::contiguous([])?.broadcast_to(&self.shape)?);
        let found = all.copy_all(after, |all, input| {
            if !is_sum(input) {
                let layout = layouts.next().unwrap_or_else(|| input.layout.clone());
                return Ok(all.input(Input { layout, ..input.clone() }));
            }
            let sum = all.input(sum.clone());
            let cast = || Step::new(Op::Cast, sum_type, input.dtype, smallvec![sum]);
            Ok(if input.dtype == sum_type { sum } else { all.steps.once(cast()) })
        })?;
        let results = after.results.iter().map(|&result| found[result]).collect();
        let kind = ProgramKind::Axis(AxisOp::Contract(own), smallvec![values[product]]);
        Ok(Some(all.finish(self.shape.clone(), after.dtype, results).of_kind(kind)))
    }
}
