//! An expression made flat: inputs, then steps, each naming values before it. What devices run.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::node::Kind;
use super::{DType, Node, Op, Source, Storage};
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// The most steps of one kernel, above which compilers of drivers take seconds.
pub(crate) const MAX_STEPS: usize = 2048;

/// A value of a program: input `i`, or step `i - inputs.len()`.
pub(crate) type Value = u32;

/// A leaf, with its layout broadcast to the shape of the program.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub dtype: DType,
    pub source: Source,
    pub layout: Layout,
}

/// One op over values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub op: Op,
    /// The type of the operands (of the values, for `Select`).
    pub dtype: DType,
    pub result: DType,
    pub args: SmallVec<[Value; 3]>,
}

/// A flat expression. Equal leaves and equal steps appear once.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub shape: Shape,
    pub dtype: DType,
    pub inputs: Vec<Input>,
    pub steps: Vec<Step>,
    /// A value for each result, all of one type.
    pub results: SmallVec<[Value; 1]>,
}

impl Program {
    /// Flattens `root`, broadcast to `shape`.
    pub(crate) fn new(root: &Arc<Node>, shape: &Shape) -> Result<Program> {
        Self::of(&[root], shape)
    }

    /// The same for several results of one type.
    pub(crate) fn of(roots: &[&Arc<Node>], shape: &Shape) -> Result<Program> {
        let mut flat = Flatten { shape, inputs: Vec::new(), steps: Vec::new(), leaves: HashMap::new() };
        let (mut seen, mut done, mut known) = (HashMap::new(), HashMap::new(), HashMap::new());
        roots.iter().try_for_each(|root| flat.collect_leaves(root, &mut seen))?;
        let visited = roots.iter().map(|root| flat.visit(root, &mut done, &mut known));
        let results = visited.collect::<Result<_>>()?;
        if flat.steps.len() > MAX_STEPS {
            bail!(
                Overflow,
                "an expression of {} ops exceeds the limit of {MAX_STEPS} in one kernel: evaluate a part of it first",
                flat.steps.len()
            );
        }
        Ok(Program {
            shape: shape.clone(),
            dtype: roots[0].dtype,
            inputs: flat.inputs,
            steps: flat.steps,
            results,
        })
    }

    /// A program that copies one input.
    pub(crate) fn copy(input: Input) -> Program {
        Program {
            shape: input.layout.shape().clone(),
            dtype: input.dtype,
            inputs: vec![input],
            steps: Vec::new(),
            results: smallvec::smallvec![0],
        }
    }

    /// The bytes that the result takes.
    pub(crate) fn byte_size(&self) -> Result<usize> {
        match self.shape.count()?.checked_mul(self.dtype.size()) {
            Some(bytes) => Ok(bytes),
            None => bail!(Overflow, "the size of {} {} in bytes overflows", self.shape, self.dtype),
        }
    }

    pub(crate) fn dtype_of(&self, value: Value) -> DType {
        match (value as usize).checked_sub(self.inputs.len()) {
            None => self.inputs[value as usize].dtype,
            Some(step) => self.steps[step].result,
        }
    }
}

struct Flatten<'a> {
    shape: &'a Shape,
    inputs: Vec<Input>,
    steps: Vec<Step>,
    leaves: HashMap<*const Node, Value>,
}

impl Flatten<'_> {
    /// Inputs come first, so they are numbered before any step.
    fn collect_leaves(&mut self, node: &Arc<Node>, seen: &mut HashMap<*const Node, ()>) -> Result<()> {
        if seen.insert(Arc::as_ptr(node), ()).is_some() {
            return Ok(());
        }
        match &node.kind {
            Kind::Leaf { source, layout } => {
                let input = Input {
                    dtype: node.dtype,
                    source: source.clone(),
                    layout: layout.broadcast_to(self.shape)?,
                };
                // Scalars are not compared: whether two constants happen to be equal must not
                // decide which kernel runs.
                let known = self.inputs.iter().position(|other| match (&other.source, source) {
                    (Source::Tensor(a), Source::Tensor(b)) => {
                        a.same(b) && other.dtype == input.dtype && other.layout == input.layout
                    }
                    (Source::Index(_), Source::Index(_)) => other.layout == input.layout,
                    _ => false,
                });
                let value = known.unwrap_or_else(|| {
                    self.inputs.push(input);
                    self.inputs.len() - 1
                });
                self.leaves.insert(Arc::as_ptr(node), value as Value);
            }
            Kind::Op { args, .. } => {
                for arg in args {
                    self.collect_leaves(arg, seen)?;
                }
            }
        }
        Ok(())
    }

    fn visit(
        &mut self,
        node: &Arc<Node>,
        done: &mut HashMap<*const Node, Value>,
        known: &mut HashMap<Step, Value>,
    ) -> Result<Value> {
        if let Some(&value) = self.leaves.get(&Arc::as_ptr(node)) {
            return Ok(value);
        }
        if let Some(&value) = done.get(&Arc::as_ptr(node)) {
            return Ok(value);
        }
        let Kind::Op { op, args: nodes } = &node.kind else {
            bail!(Kernel, "a leaf was not collected");
        };
        let mut args: SmallVec<[Value; 3]> =
            nodes.iter().map(|arg| self.visit(arg, done, known)).collect::<Result<_>>()?;
        if op.row().is_some_and(|row| row.commutative) {
            args.sort_unstable();
        }
        let dtype = nodes.last().map_or(node.dtype, |last| last.dtype);
        let step = Step { op: *op, dtype, result: node.dtype, args };
        let next = (self.inputs.len() + self.steps.len()) as Value;
        let value = *known.entry(step.clone()).or_insert(next);
        if value == next {
            self.steps.push(step);
        }
        done.insert(Arc::as_ptr(node), value);
        Ok(value)
    }
}

impl Program {
    /// The tensors that it reads, each with its layout.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (&Storage, &Layout)> {
        self.inputs.iter().filter_map(|input| match &input.source {
            Source::Tensor(storage) => Some((storage, &input.layout)),
            _ => None,
        })
    }

    /// The program over a range of an axis.
    pub(crate) fn slice(&self, axis: isize, range: Range<isize>) -> Result<Program> {
        let mut part = self.clone();
        part.shape = Layout::contiguous(&self.shape)?.slice(axis, range.clone(), 1)?.shape().clone();
        for input in &mut part.inputs {
            input.layout = input.layout.slice(axis, range.clone(), 1)?;
        }
        Ok(part)
    }

    /// Whether writing `layout` of `storage` element by element would destroy a source before it
    /// is read: then the result must go through a temporary. Small elements are written by whole
    /// words, which may hold elements beside the layout.
    pub(crate) fn conflicts(&self, storage: &Storage, layout: &Layout) -> bool {
        self.inputs.iter().any(|input| match &input.source {
            Source::Tensor(source) if source.same(storage) => {
                input.layout != *layout && (self.dtype.size() < 4 || input.layout.may_overlap(layout))
            }
            _ => false,
        })
    }
}
