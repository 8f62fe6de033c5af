//! The first places of long sorted rows, on devices that sort whole rows ([`Bounds::irregular`]).
//!
//! A row is cut into blocks, and the first `k` blocks are chosen by a sort of their greatest elements. They hold the first
//! `k` elements: each chosen block has an element before all elements of any other block, if the sort is stable. So the
//! row is reduced once, and candidates are sorted.
//!
//! ```text
//!  row     3 1 | 7 2 | 7 5 | 0 4 | 6      the first 2, the greatest first
//!  blocks   3     7     7     4           the first 2 of these are blocks 1 and 2
//!  candidates      7 2   7 5       6      in the order of the row, with the rest behind the last block
//! ```

use std::sync::Arc;

use super::Bounds;
use super::graph::Graph;
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::expr::{AnyExpr, ReduceOptions, bits};
use crate::ir::{AxisOp, Gives, Node, NodeKind, Op, Sort};
use crate::tuning::first::{LEAST_SPARED, MOST};

/// The roots of a graph with candidates in place of long rows. `None` if no row is long.
pub(super) fn roots(graph: &Graph<'_>, bounds: Bounds) -> Result<Option<Vec<Arc<Node>>>> {
    let of = |node: &Arc<Node>| match &node.kind {
        NodeKind::Axis(AxisOp::Sort(own)) => Some((*own, block(own, &node.args[0])?)),
        _ => None,
    };
    if bounds.irregular || graph.nodes.iter().all(|node| of(node).is_none()) {
        return Ok(None);
    }
    let instead = |node: &Arc<Node>| match of(node) {
        Some((own, block)) => Ok(Some(first(own, &node.args[0], block)?.node()?.clone())),
        None => Ok(None),
    };
    graph.replaced(|_, node| instead(node)).map(Some)
}

/// The length of a block for a sort of an operand, if it is worth blocks. With it, the blocks and the candidates are
/// about as many.
fn block(own: &Sort, operand: &Node) -> Option<usize> {
    let (first, length) = (own.places[1] as usize, operand.shape[operand.shape.rank() - 1]);
    // The least element is NaN if there is one, which is the last of a row.
    let is_ordered = own.descending || operand.dtype.kind() != Kind::Float;
    // Lookups have indices of i32.
    let is_short = i32::try_from(length).is_ok();
    if own.gives == Gives::Moved
        || operand.dtype.kind() == Kind::Bool
        || first > MOST
        || !is_ordered
        || !is_short
    {
        return None;
    }
    let block = (length / first.max(1)).isqrt().next_power_of_two();
    let sorted = length / block + first * block;
    (sorted.saturating_mul(LEAST_SPARED) <= length).then_some(block)
}

/// The places of the sort of an operand.
fn first(own: Sort, operand: &Arc<Node>, block: usize) -> Result<AnyExpr> {
    let (x, last, count) = (AnyExpr::new(Ok(operand.shared())), operand.shape.rank() - 1, own.places[1]);
    let length = operand.shape[last];
    let (kept, blocks) = (&operand.shape[..last], length / block);
    let of = |lengths: &[usize]| [kept, lengths].concat();
    let sorted = |x: &AnyExpr, sort: Sort| -> Result<AnyExpr> {
        Ok(AnyExpr::new(Node::along(AxisOp::Sort(sort), &[x.node()?])))
    };
    let in_blocks = x.slice(-1, ..(blocks * block) as isize).reshape(of(&[blocks, block]));
    let name = if own.descending { "max" } else { "min" };
    let greatest = in_blocks.reduce(name, [-1], ReduceOptions::default());
    let places = [0, count];
    let chosen = sorted(&greatest, Sort { gives: Gives::Indices, places, ..own })?;
    let in_order = Sort { gives: Gives::Values, descending: false, bits: bits(blocks), places };
    let chosen = sorted(&chosen, in_order)?;
    let first = chosen.op(Op::Mul, AnyExpr::scalar(DType::U32, block as u64)).unsqueeze(-1);
    let lane = AnyExpr::iota([block], 0).cast(DType::U32);
    let places = first.op(Op::Add, &lane).reshaped(of(&[count as usize * block]));
    let behind = blocks * block..length;
    let rest = AnyExpr::iota(of(&[length]), -1).cast(DType::U32);
    let rest = rest.slice(-1, behind.start as isize..behind.end as isize);
    let places = if behind.is_empty() { places } else { AnyExpr::concat(&[places, rest], -1) };
    let places = places.shared();
    let found = sorted(&x.take_along(&places, -1), own)?;
    Ok(if own.gives == Gives::Indices { places.take_along(&found, -1) } else { found })
}
