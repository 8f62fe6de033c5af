//! Sibling reductions: reductions of one shape along the same axes, none of which needs another, are one stage of
//! several results, so common operands are read and computed once. Also the order of all stages.

use std::sync::Arc;

use smallvec::SmallVec;

use super::graph::Graph;
use crate::ir::Node;

/// Nodes of one program.
pub(super) type Stage<'a> = SmallVec<[&'a Arc<Node>; 1]>;

/// The stages of the stored nodes, each after those that it needs. The reductions of a group are one stage.
pub(super) fn stages<'a>(graph: &Graph<'a>, stored: &[bool], groups: &[Vec<usize>]) -> Vec<Stage<'a>> {
    // For each node, its group, and the node that stands for the group.
    let mut group_of: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    for (group, members) in groups.iter().enumerate() {
        members.iter().filter(|&&i| stored[i]).for_each(|&i| group_of[i] = Some(group));
    }
    let unit = |i: usize| group_of[i].map_or(i, |group| groups[group][0]);
    let members = |i: usize| -> SmallVec<[usize; 2]> {
        group_of[i]
            .map_or_else(|| SmallVec::from_slice(&[i]), |group| groups[group].iter().copied().collect())
    };
    let mut stages = Vec::new();
    let mut done = vec![false; graph.nodes.len()];
    let mut stack: Vec<(usize, usize)> = graph.roots.iter().rev().map(|&root| (unit(root), 0)).collect();
    while let Some((at, next)) = stack.pop() {
        if done[at] {
            continue;
        }
        let own = members(at);
        let mut needs = own.iter().flat_map(|&member| &graph.args[member]);
        match needs.nth(next) {
            Some(&arg) => stack.extend([(at, next + 1), (unit(arg as usize), 0)]),
            None => {
                done[at] = true;
                if stored[at] {
                    stages.push(own.iter().map(|&member| graph.nodes[member]).collect());
                }
            }
        }
    }
    stages
}
