//! Programs of parts of a program.

use std::collections::BTreeMap;

use super::{Input, Program, Storage, Value};
use crate::error::Result;
use crate::layout::{Layout, Shape};

impl Program {
    /// Evaluates a program for each result.
    pub(crate) fn each(&self, mut eval: impl FnMut(&Program) -> Result<Storage>) -> Result<Vec<Storage>> {
        if self.results.len() == 1 {
            return Ok(vec![eval(self)?]);
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
        let count = self.inputs.len() as Value;
        let is_input = |value: &Value| *value < count || known.contains_key(value);
        let mut numbers: BTreeMap<Value, Value> = BTreeMap::new();
        let mut inputs = Vec::new();
        for value in needed.iter().copied().filter(is_input) {
            numbers.insert(value, inputs.len() as Value);
            inputs.push(match known.get(&value) {
                Some(input) => input.clone(),
                None => {
                    let input = &self.inputs[value as usize];
                    Input { layout: layout(&input.layout)?, ..input.clone() }
                }
            });
        }
        let mut steps = Vec::new();
        for value in needed.iter().copied().filter(|value| !is_input(value)) {
            let mut step = self.steps[(value - count) as usize].clone();
            step.args.iter_mut().for_each(|arg| *arg = numbers[arg]);
            numbers.insert(value, (inputs.len() + steps.len()) as Value);
            steps.push(step);
        }
        let dtype = self.dtype_of(results[0]);
        let results = results.iter().map(|value| numbers[value]).collect();
        Ok(Program::of_steps(shape, dtype, inputs, steps, results))
    }
}
