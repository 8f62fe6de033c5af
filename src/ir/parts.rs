//! Programs of parts of a program.

use std::collections::BTreeMap;

use smallvec::{SmallVec, smallvec};

use super::{ByValue, Input, Op, Program, ProgramBuilder, ProgramKind, Source, Step, Value, needed};
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// The factors that a program multiplies and adds up along an axis; the other axes that both or neither follow, and the
/// axes of each factor alone. Axes of length 1 are in no list.
pub(crate) struct Product {
    pub factors: [Value; 2],
    pub batch: Vec<usize>,
    pub kept: [Vec<usize>; 2],
    pub axis: usize,
}

impl Program {
    /// Its factors, if it is a contraction.
    pub(crate) fn product(&self) -> Result<Product> {
        let ProgramKind::Contract { axis, product } = self.kind else {
            bail!(Kernel, "a program without a contraction")
        };
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
        match self.kind {
            ProgramKind::Contract { product, .. } if self.results[0] != product => {
                self.after_reductions().map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A contraction without the steps after its sums.
    pub(crate) fn only_product(&self) -> Result<Program> {
        let ProgramKind::Contract { axis, product } = self.kind else {
            bail!(Kernel, "a program without a contraction")
        };
        let part = self.only(&[product])?;
        let product = part.results[0];
        Ok(part.of_kind(ProgramKind::Contract { axis, product }))
    }

    /// A contraction with the steps of a program over its results after its sums, which are the inputs that `is_sum`
    /// names. `None` if some input has no layout over the contraction's axes.
    pub(crate) fn then(&self, after: &Program, is_sum: impl Fn(&Input) -> bool) -> Result<Option<Program>> {
        let ProgramKind::Contract { axis, product } = self.kind else {
            bail!(Kernel, "a program without a contraction")
        };
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
        let kind = ProgramKind::Contract { axis, product: values[product] };
        Ok(Some(all.finish(self.shape.clone(), after.dtype, results).of_kind(kind)))
    }

    /// Evaluates a program for each result.
    pub(crate) fn each<T, All: FromIterator<T>>(
        &self,
        mut eval: impl FnMut(&Program) -> Result<T>,
    ) -> Result<All> {
        if self.results.len() == 1 {
            return Ok([eval(self)?].into_iter().collect());
        }
        let each = |&result: &Value| eval(&self.only(&[result])?.of_kind(self.kind.clone()));
        self.results.iter().map(each).collect()
    }

    /// The result for each value, so far.
    pub(crate) fn by_value<T: Clone>(&self, of: T) -> ByValue<T> {
        ByValue::of(self.inputs.iter().map(|_| of.clone()), &self.steps, |_, _| of.clone())
    }

    /// Which values the `results` depend on, themselves included. Known values depend on nothing.
    pub(crate) fn needed(&self, results: &[Value], is_known: impl Fn(Value) -> bool) -> ByValue<bool> {
        needed(self.inputs.len(), &self.steps, results.iter().copied(), is_known)
    }

    /// The program of some values, which are not reduced.
    pub(crate) fn only(&self, values: &[Value]) -> Result<Program> {
        self.extract(values, self.shape.clone(), &BTreeMap::new(), |layout| Ok(layout.clone()))
    }

    /// The same program with some known values.
    pub(crate) fn with_known(&self, known: &BTreeMap<Value, Input>) -> Result<Program> {
        let rest = self.extract(&self.results, self.shape.clone(), known, |layout| Ok(layout.clone()))?;
        Ok(rest.of_kind(self.kind.clone()))
    }

    /// The program of some values over another shape, with new numbers for its inputs and steps. Each of `known`
    /// becomes an input, and `layout` returns the layout of an input under that shape. The values are not reduced.
    pub(crate) fn extract(
        &self,
        results: &[Value],
        shape: Shape,
        known: &BTreeMap<Value, Input>,
        layout: impl Fn(&Layout) -> Result<Layout>,
    ) -> Result<Program> {
        let (mut part, mut values) = (ProgramBuilder::new(), self.by_value(Value::Input(0)));
        for value in self.needed(results, |value| known.contains_key(&value)).which() {
            values[value] = match (known.get(&value), value) {
                (Some(known), _) => part.input(known.clone()),
                (None, Value::Input(i)) => {
                    let input = &self.inputs[i as usize];
                    part.input(Input { layout: layout(&input.layout)?, ..input.clone() })
                }
                (None, Value::Step(i)) => part.copy(&self.steps[i as usize], |arg| values[arg]),
            };
        }
        let dtype = self.dtype_of(results[0]);
        Ok(part.finish(shape, dtype, results.iter().map(|&result| values[result]).collect()))
    }

    /// For each value, the axes along which it changes.
    pub(crate) fn followed(&self) -> ByValue<Vec<bool>> {
        let of_layout = |layout: &Layout| -> Vec<bool> {
            layout.shape().iter().zip(layout.strides()).map(|(&n, &stride)| n > 1 && stride != 0).collect()
        };
        ByValue::of(self.inputs.iter().map(|input| of_layout(&input.layout)), &self.steps, |step, axes| {
            let mut all = vec![false; self.shape.rank()];
            for &arg in &step.args {
                all.iter_mut().zip(&axes[arg]).for_each(|(all, &own)| *all |= own);
            }
            all
        })
    }

    /// The program of one value, over the axes along which it changes, with the needed inputs in order.
    pub(crate) fn narrowed(&self, value: Value, axes: &[bool]) -> Result<Program> {
        let lengths: Vec<usize> =
            self.shape.iter().zip(axes).map(|(&n, &axis)| if axis { n } else { n.min(1) }).collect();
        self.extract(&[value], Shape::from(lengths.clone()), &BTreeMap::new(), |layout| {
            let fixed = (0..).zip(axes).filter(|(_, axis)| !**axis);
            let first =
                |layout: Layout, axis: isize| layout.slice(axis, 0..lengths[axis as usize] as isize, 1);
            fixed.map(|(axis, _)| axis).try_fold(layout.clone(), first)
        })
    }

    /// Several programs of steps over one shape as one program of all their results. Equal inputs and steps occur once. Also
    /// returns, for each input, a program that has it and its number there.
    pub(crate) fn merged(programs: &[Program]) -> Result<(Program, Vec<(usize, usize)>)> {
        let Some(first) = programs.first() else { bail!(Kernel, "no programs to merge") };
        let (mut all, mut found, mut results) = (ProgramBuilder::new(), Vec::new(), SmallVec::new());
        for (p, program) in programs.iter().enumerate() {
            let mut inputs = 0..;
            let values = all.copy_all(program, |all, input| {
                let (before, number) = (all.inputs.len(), inputs.next().unwrap_or_default());
                let own = all.input(input.clone());
                found.extend((all.inputs.len() > before).then_some((p, number)));
                Ok(own)
            })?;
            results.extend(program.results.iter().map(|&result| values[result]));
        }
        Ok((all.finish(first.shape.clone(), first.dtype, results), found))
    }
}
