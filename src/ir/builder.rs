//! How programs are put together: equal inputs and equal steps appear once.

use smallvec::SmallVec;

use super::node::StepKey;
use super::small_map::SmallMap;
use super::{Input, Program, Step, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Shape;

/// A value of a program that is being built. Inputs are numbered before steps, when all of them are known, so another input
/// changes no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Built {
    Input(u32),
    Step(u32),
}

/// A program that is being built.
pub(crate) struct ProgramBuilder {
    inputs: Vec<Input>,
    steps: Vec<Step>,
    /// The operands of each step.
    args: Vec<SmallVec<[Built; 3]>>,
    numbers: SmallMap<StepKey<Built>, u32>,
}

impl ProgramBuilder {
    pub(crate) fn new() -> ProgramBuilder {
        ProgramBuilder { inputs: Vec::new(), steps: Vec::new(), args: Vec::new(), numbers: SmallMap::new() }
    }

    /// How many inputs there are.
    pub(crate) fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// An input, or the equal one that is there.
    pub(crate) fn input(&mut self, input: Input) -> Built {
        let known = self.inputs.iter().position(|other| other.is_same(&input));
        Built::Input(known.unwrap_or_else(|| {
            self.inputs.push(input);
            self.inputs.len() - 1
        }) as u32)
    }

    /// A step, or the equal one that is there.
    pub(crate) fn step(&mut self, key: StepKey<Built>) -> Built {
        Built::Step(self.numbers.get(&key).unwrap_or_else(|| {
            let (op, dtype, result, args, body) = &key;
            self.steps.push(Step { body: body.clone(), ..Step::new(*op, *dtype, *result, SmallVec::new()) });
            self.args.push(SmallVec::from_slice(args));
            let next = self.steps.len() as u32 - 1;
            self.numbers.insert(key, next);
            next
        }))
    }

    /// A step of another program, whose operands are these values.
    pub(crate) fn copy(&mut self, step: &Step, value: impl Fn(Value) -> Built) -> Built {
        let args = step.args.iter().map(|&arg| value(arg)).collect();
        self.step((step.op, step.dtype, step.result, args, step.body.clone()))
    }

    /// All values of another program, whose inputs are what `input` makes of each.
    pub(crate) fn copy_all(
        &mut self,
        program: &Program,
        mut input: impl FnMut(&mut Self, &Input) -> Result<Built>,
    ) -> Result<Vec<Built>> {
        let mut values = Vec::with_capacity(program.inputs.len() + program.steps.len());
        for own in &program.inputs {
            values.push(input(self, own)?);
        }
        for step in &program.steps {
            let copied = self.copy(step, |arg| values[arg as usize]);
            values.push(copied);
        }
        Ok(values)
    }

    /// The number of a value, once all inputs are there.
    pub(crate) fn value(&self, built: Built) -> Value {
        match built {
            Built::Input(i) => i,
            Built::Step(i) => self.inputs.len() as Value + i,
        }
    }

    /// The program of some results.
    pub(crate) fn finish(mut self, shape: Shape, dtype: DType, results: &[Built]) -> Program {
        for (i, args) in self.args.iter().enumerate() {
            self.steps[i].args = args.iter().map(|&arg| self.value(arg)).collect();
        }
        let results = results.iter().map(|&result| self.value(result)).collect();
        Program::of_steps(shape, dtype, self.inputs, self.steps, results)
    }
}
