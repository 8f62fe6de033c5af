//! Construction of programs: equal inputs and equal steps appear once.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::small_map::FEW;
use super::{ByValue, Input, Program, Step, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Shape;

/// A list of steps, each of which appears once.
pub(crate) struct Steps {
    pub all: Vec<Step>,
    /// The number of each step of a long list.
    numbers: FxHashMap<Step, usize>,
}

impl Steps {
    pub(crate) fn new() -> Steps {
        Steps { all: Vec::new(), numbers: FxHashMap::default() }
    }

    /// Adds a step, or finds the equal one.
    pub(crate) fn once(&mut self, step: Step) -> Value {
        let known = match self.all.len() <= FEW {
            true => self.all.iter().position(|known| *known == step),
            false => {
                let rest = self.numbers.len()..self.all.len();
                self.numbers.extend(rest.map(|i| (self.all[i].clone(), i)));
                self.numbers.get(&step).copied()
            }
        };
        Value::Step(known.unwrap_or_else(|| {
            self.all.push(step);
            self.all.len() - 1
        }) as u32)
    }
}

/// A program under construction.
pub(crate) struct ProgramBuilder {
    pub inputs: Vec<Input>,
    pub steps: Steps,
}

impl ProgramBuilder {
    pub(crate) fn new() -> ProgramBuilder {
        ProgramBuilder { inputs: Vec::new(), steps: Steps::new() }
    }

    /// Adds an input, or finds the equal one.
    pub(crate) fn input(&mut self, input: Input) -> Value {
        let known = self.inputs.iter().position(|other| other.is_same(&input));
        Value::Input(known.unwrap_or_else(|| {
            self.inputs.push(input);
            self.inputs.len() - 1
        }) as u32)
    }

    /// Adds a step of another program, with these values as operands.
    pub(crate) fn copy(&mut self, step: &Step, value: impl Fn(Value) -> Value) -> Value {
        let args = step.args.iter().map(|&arg| value(arg)).collect();
        self.steps.once(Step { body: step.body.clone(), ..Step::new(step.op, step.dtype, step.result, args) })
    }

    /// Adds all values of another program. `input` maps its inputs.
    pub(crate) fn copy_all(
        &mut self,
        program: &Program,
        mut input: impl FnMut(&mut Self, &Input) -> Result<Value>,
    ) -> Result<ByValue<Value>> {
        let mut values =
            program.inputs.iter().map(|own| input(self, own)).collect::<Result<ByValue<Value>>>()?;
        for step in &*program.steps {
            let copied = self.copy(step, |arg| values[arg]);
            values.push(copied);
        }
        Ok(values)
    }

    /// The program of some results.
    pub(crate) fn finish(self, shape: Shape, dtype: DType, results: SmallVec<[Value; 1]>) -> Program {
        Program::of_steps(shape, dtype, self.inputs, self.steps.all, results)
    }
}
