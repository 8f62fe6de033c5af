//! Programs of parts of a program.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::{Built, Input, Program, ProgramBuilder, Value};
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

impl Program {
    /// Evaluates a program for each result.
    pub(crate) fn each<T, All: FromIterator<T>>(
        &self,
        mut eval: impl FnMut(&Program) -> Result<T>,
    ) -> Result<All> {
        if self.results.len() == 1 {
            return Ok([eval(self)?].into_iter().collect());
        }
        let same = |layout: &Layout| Ok(layout.clone());
        let only = |result| self.extract(&[result], self.shape.clone(), &BTreeMap::new(), same);
        self.results.iter().map(|&result| eval(&only(result)?.folded(self.fold.clone()))).collect()
    }

    /// The values that `results` are made of, themselves included, in their order; what is known is
    /// made of nothing.
    pub(crate) fn needed(&self, results: &[Value], is_known: impl Fn(Value) -> bool) -> Vec<Value> {
        let mut is_needed = vec![false; self.inputs.len() + self.steps.len()];
        results.iter().for_each(|&result| is_needed[result as usize] = true);
        for value in (self.inputs.len()..is_needed.len()).rev() {
            if is_needed[value] && !is_known(value as Value) {
                let step = &self.steps[value - self.inputs.len()];
                step.args.iter().for_each(|&arg| is_needed[arg as usize] = true);
            }
        }
        (0..).zip(is_needed).filter(|(_, needed)| *needed).map(|(value, _)| value).collect()
    }

    /// The program of some values over another shape, with its inputs and steps numbered anew: what is
    /// `known` becomes an input, and `layout` says how inputs lie under that shape. The values are not
    /// folded.
    pub(crate) fn extract(
        &self,
        results: &[Value],
        shape: Shape,
        known: &BTreeMap<Value, Input>,
        layout: impl Fn(&Layout) -> Result<Layout>,
    ) -> Result<Program> {
        let needed = self.needed(results, |value| known.contains_key(&value));
        let mut part = ProgramBuilder::new();
        let mut values: BTreeMap<Value, Built> = BTreeMap::new();
        for &value in &needed {
            let built = match (known.get(&value), self.inputs.get(value as usize)) {
                (Some(known), _) => part.input(known.clone()),
                (None, Some(input)) => part.input(Input { layout: layout(&input.layout)?, ..input.clone() }),
                (None, None) => {
                    part.copy(&self.steps[value as usize - self.inputs.len()], |arg| values[&arg])
                }
            };
            values.insert(value, built);
        }
        let dtype = self.dtype_of(results[0]);
        let results: SmallVec<[Built; 1]> = results.iter().map(|value| values[value]).collect();
        Ok(part.finish(shape, dtype, &results))
    }

    /// Programs of steps over one shape as one of all their results, in which equal inputs and equal steps appear
    /// once; and of each of its inputs, in which program that is found, and where.
    pub(crate) fn merged(programs: &[Program]) -> Result<(Program, Vec<(usize, usize)>)> {
        let Some(first) = programs.first() else { bail!(Kernel, "no programs to merge") };
        let (mut all, mut found, mut results) = (ProgramBuilder::new(), Vec::new(), Vec::new());
        for (p, program) in programs.iter().enumerate() {
            let mut inputs = 0..;
            let values = all.copy_all(program, |all, input| {
                let (before, number) = (all.inputs(), inputs.next().unwrap_or_default());
                let own = all.input(input.clone());
                found.extend((all.inputs() > before).then_some((p, number)));
                Ok(own)
            })?;
            results.extend(program.results.iter().map(|&result| values[result as usize]));
        }
        Ok((all.finish(first.shape.clone(), first.dtype, &results), found))
    }
}
