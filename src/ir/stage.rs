//! Stages of a schedule.

use std::borrow::Cow;
use std::slice;
use std::sync::Arc;

use super::{Input, Join, Known, Node, NodeKind, Program, Source, Stage, Storage};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Layout, Shape};

impl Join {
    /// The programs, each with its slice of the result's layout.
    pub(crate) fn places(&self, result: &Layout) -> Result<Vec<(&Program, Layout)>> {
        let mut end = 0;
        let place = |part: &Program| {
            let start = end;
            end += part.shape[self.axis] as isize;
            result.slice(self.axis as isize, start..end, 1)
        };
        let places = self.parts.iter().map(place).collect::<Result<Vec<Layout>>>()?;
        Ok(self.parts.iter().zip(places).collect())
    }
}

impl Stage {
    /// The stage of nodes, broadcast to a shape, with some known nodes: one program, or the parts of a join.
    pub(crate) fn of(roots: &[&Arc<Node>], shape: &Shape, known: &Known) -> Result<Stage> {
        if let [root] = roots
            && let NodeKind::Join(axis) = root.kind
            && !known.contains_key(&Arc::as_ptr(root))
        {
            let part = |part: &Arc<Node>| Program::of(&[part], &part.shape, known);
            let parts = root.args.iter().map(part).collect::<Result<_>>()?;
            return Ok(Stage::Join(Join { axis, parts, shape: root.shape.clone(), dtype: root.dtype }));
        }
        Program::of(roots, shape, known).map(Stage::One)
    }

    pub(crate) fn programs(&self) -> &[Program] {
        match self {
            Stage::One(program) => slice::from_ref(program),
            Stage::Join(join) => &join.parts,
        }
    }

    /// The same over other sources.
    pub(crate) fn over(self, mut each: impl FnMut(&Input) -> Result<Source>) -> Result<Stage> {
        let mut part = |program: Program| program.over(&mut each);
        Ok(match self {
            Stage::One(program) => Stage::One(part(program)?),
            Stage::Join(Join { axis, parts, shape, dtype }) => {
                let parts = parts.into_iter().map(part).collect::<Result<_>>()?;
                Stage::Join(Join { axis, parts, shape, dtype })
            }
        })
    }

    pub(crate) fn programs_mut(&mut self) -> &mut [Program] {
        match self {
            Stage::One(program) => slice::from_mut(program),
            Stage::Join(join) => &mut join.parts,
        }
    }

    /// The program, unless there are several.
    pub(crate) fn one(&self) -> Option<&Program> {
        match self {
            Stage::One(program) => Some(program),
            Stage::Join(_) => None,
        }
    }

    /// The tensors that it reads, each with its layout.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (&Storage, &Layout)> {
        self.programs().iter().flat_map(Program::tensors)
    }

    /// The stages whose results it reads.
    pub(crate) fn stages(&self) -> impl Iterator<Item = usize> {
        self.programs().iter().flat_map(Program::stages)
    }

    /// The shape of each result.
    pub(crate) fn result_shape(&self) -> Cow<'_, Shape> {
        match self {
            Stage::One(program) => program.result_shape(),
            Stage::Join(join) => Cow::Borrowed(&join.shape),
        }
    }

    pub(crate) fn result_type(&self, i: usize) -> DType {
        match self {
            Stage::One(program) => program.result_type(i),
            Stage::Join(join) => join.dtype,
        }
    }

    /// The bytes of each result.
    pub(crate) fn byte_sizes(&self) -> impl Iterator<Item = Result<usize>> {
        let results = self.one().map_or(1, |program| program.results.len());
        (0..results).map(|i| self.result_shape().bytes(self.result_type(i)))
    }
}
