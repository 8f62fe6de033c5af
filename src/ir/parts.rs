//! Programs of parts of a program.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::{ByValue, Input, Program, ProgramBuilder, ProgramKind, Value, needed};
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// The programs of each result of a program, which are kept with it.
struct Each(Vec<Program>);

impl Program {
    /// Evaluates a program for each result.
    pub(crate) fn each<T, All: FromIterator<T>>(
        &self,
        mut eval: impl FnMut(&Program) -> Result<T>,
    ) -> Result<All> {
        if self.results.len() == 1 {
            return Ok([eval(self)?].into_iter().collect());
        }
        if let Some(Each(known)) = self.ready.get() {
            return known.iter().map(eval).collect();
        }
        let one = |&result: &Value| match &self.kind {
            ProgramKind::RowFused(rows) => self.row_result(rows, result),
            kind => Ok(self.only(&[result])?.of_kind(kind.clone())),
        };
        let each = self.results.iter().map(one).collect::<Result<Vec<Program>>>()?;
        let all = each.iter().map(eval).collect();
        if self.ready.again() {
            self.ready.put(Each(each));
        }
        all
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
        let mut values = self.results.clone();
        let mut kind = self.kind.clone();
        if let ProgramKind::Axis(_, beside) = &kind {
            values.extend_from_slice(beside);
        }
        let mut rest = self.extract(&values, self.shape.clone(), known, |layout| Ok(layout.clone()))?;
        if let ProgramKind::Axis(_, beside) = &mut kind {
            *beside = rest.results.drain(self.results.len()..).collect();
        }
        Ok(rest.of_kind(kind))
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
