//! Boundaries of kernels: which nodes become stages. A node becomes a stage if the kernel would otherwise be too long
//! or bind too many tensors, or if the user asks for it. It also becomes one if several views read it, or one stretches
//! it, and computing it again costs more than storing it.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::graph::Graph;
use super::horizontal::{self, Stage};
use super::loops::Loops;
use super::{Bounds, LEAST_SPARED, MOST_COST, apart, by_key, costly, first, own_cost, pack, text_cost};
use crate::error::Result;
use crate::ir::{MOST_TURNS, Node, NodeKind, Op, Operands, Source};
use crate::layout::{Layout, Shape};
use crate::tuning::stages::{ARRAYS, FEW, MOST_AGAIN, MOST_REDUCED, MOST_SEARCHES, MOST_STEPS, STORED};

/// A node by its number in the graph, under a view by its number; 0 is no view.
type Viewed = (u32, u32);

/// The boundaries of a graph.
#[derive(Default)]
pub(super) struct Found<'a> {
    /// The nodes to store, each after the ones that it needs. They include roots that are reductions with another shape
    /// than the results.
    pub stages: Vec<Stage<'a>>,
    /// Equal roots to schedule instead: without what the device has no stage for, or with
    /// packed operands of a node that reads more tensors than a kernel binds.
    pub instead: Option<Vec<Arc<Node>>>,
}

/// Finds the boundaries.
pub(super) fn find<'a>(roots: &[&'a Arc<Node>], shape: &Shape, bounds: Bounds) -> Result<Found<'a>> {
    if is_small(roots, bounds) {
        return Ok(Found::default());
    }
    let graph = Graph::new(roots, bounds);
    for irregular in [by_key::roots, first::roots] {
        if let instead @ Some(_) = irregular(&graph, bounds)? {
            return Ok(Found { instead, ..Found::default() });
        }
    }
    let mut stored = apart::find(&graph);
    let loops = Loops::of(&graph);
    loops.store(&graph, &mut stored);
    let mut search = Search::new(graph, stored, bounds);
    search.run()?;
    // A node that is stored late may be read by kernels that were measured before. Usually one more search is enough.
    for _ in 0..MOST_SEARCHES {
        let is_more = loops.store(&search.graph, &mut search.stored);
        if !search.is_late && !is_more {
            break;
        }
        search = Search::new(search.graph, search.stored, bounds);
        search.run()?;
    }
    let Search { graph, mut stored, mut groups, wide, .. } = search;
    let instead = if wide.is_empty() { None } else { pack::roots(&graph, &wide)? };
    // The last program computes the results, unless it reads them.
    let is_last = match graph.roots.as_slice() {
        [root] if graph.nodes[*root].kind.is_apart() => roots[0].shape == *shape,
        [root] if !graph.is_reduction(*root) => true,
        all => {
            let first = groups.iter().find(|group| group.contains(&all[0]));
            let alike = |group: &Vec<usize>| all.iter().all(|root| group.contains(root));
            first.is_some_and(alike) && roots[0].shape == *shape
        }
    };
    if is_last {
        graph.roots.iter().for_each(|&root| stored[root] = false);
    }
    groups.extend(loops.groups(&graph, &stored).filter(|group| group.len() > 1));
    Ok(Found { stages: horizontal::stages(&graph, &stored, &groups), instead })
}

/// Whether one kernel surely holds some roots, as for most expressions: few operations on operands of one shape, or on
/// leaves that are stretched.
fn is_small(roots: &[&Arc<Node>], bounds: Bounds) -> bool {
    let mut open: SmallVec<[&Arc<Node>; 16]> = roots.iter().copied().collect();
    let (mut nodes, mut leaves, mut cost) = (0, 0, 0);
    while let Some(node) = open.pop() {
        nodes += 1;
        match node.kind {
            NodeKind::Leaf { .. } => leaves += 1,
            NodeKind::Op(_) | NodeKind::Body(..) => cost += own_cost(node),
            _ => return false,
        }
        let stretches = |arg: &Arc<Node>| arg.shape != node.shape && !arg.args.is_empty();
        if nodes > FEW || node.args.iter().any(stretches) {
            return false;
        }
        open.extend(&node.args);
    }
    leaves <= bounds.operands && cost <= MOST_COST
}

struct Search<'a> {
    graph: Graph<'a>,
    /// For each node, its readers that are not yet visited.
    open: Vec<u32>,
    /// Nodes that are computed on their own.
    stored: Vec<bool>,
    /// For each node, its parts in one kernel, in order: steps and loads.
    parts: Vec<Vec<Viewed>>,
    /// The number of a node's own view, or stretch, under another view.
    views: FxHashMap<Viewed, u32>,
    /// Reductions of one program; and for the last group that may become one, its number and the parts of its kernel.
    groups: Vec<Vec<usize>>,
    group_parts: FxHashMap<u32, (usize, Vec<Viewed>)>,
    /// Whether a node was stored after one of its readers was visited.
    is_late: bool,
    /// Nodes that alone read more tensors than a kernel binds.
    wide: Vec<usize>,
    bounds: Bounds,
}

/// The cost of a kernel of some parts.
#[derive(Clone, Copy, Default)]
struct Size {
    steps: usize,
    /// Of all steps, and of the expensive ones.
    cost: usize,
    costly: usize,
    /// Bound arrays, and their number if each storage is one.
    operands: usize,
    least: usize,
    /// Iterations of loops.
    turns: u64,
}

impl Size {
    /// The same with storages read lane by lane, which needs one array for each.
    fn by_lanes(self) -> Size {
        Size { operands: self.least, ..self }
    }

    fn fits(&self, bounds: Bounds) -> bool {
        // In total mode each step has another one behind it.
        let steps = if bounds.total { 2 * self.steps } else { self.steps };
        steps <= MOST_STEPS
            && self.costly <= MOST_COST
            && self.operands <= bounds.operands
            && self.turns <= MOST_TURNS
    }
}

impl<'a> Search<'a> {
    /// A search that begins with some stored nodes.
    fn new(graph: Graph<'a>, stored: Vec<bool>, bounds: Bounds) -> Self {
        Search {
            open: graph.reads.clone(),
            stored,
            parts: vec![Vec::new(); graph.nodes.len()],
            views: FxHashMap::default(),
            groups: Vec::new(),
            group_parts: FxHashMap::default(),
            is_late: false,
            wide: Vec::new(),
            bounds,
            graph,
        }
    }

    fn run(&mut self) -> Result<()> {
        (0..self.graph.nodes.len()).try_for_each(|i| self.visit(i))?;
        self.results();
        Ok(())
    }

    fn visit(&mut self, i: usize) -> Result<()> {
        let node = self.graph.nodes[i];
        // A node that the last search stored is no operand of its own kernel.
        let was_stored = std::mem::take(&mut self.stored[i]);
        let parts = match &node.kind {
            NodeKind::Leaf { .. } => vec![(i as u32, 0)],
            NodeKind::Shared | NodeKind::Join(_) => Vec::new(),
            NodeKind::View(layout) => {
                let of = self.graph.args[i][0] as usize;
                if self.is_worth_storing(of) || self.is_no_layout(of, layout)? {
                    self.store(of);
                }
                let parts = self.parts[of].clone();
                self.under(parts, i)
            }
            NodeKind::Axis(kind) => {
                match kind.operands() {
                    Operands::Once => self.group(i, kind.tensors()),
                    reads => {
                        let args = self.graph.args[i].clone();
                        args.iter().for_each(|&arg| self.factor(i, arg as usize, reads));
                    }
                }
                Vec::new()
            }
            NodeKind::Op(_) | NodeKind::Lookup | NodeKind::Body(..) => self.operation(i, node),
        };
        self.stored[i] = was_stored || node.kind.is_stored();
        self.parts[i] = if self.stored[i] { vec![(i as u32, 0)] } else { parts };
        // A long graph need not be kept whole.
        for &arg in &self.graph.args[i] {
            let arg = arg as usize;
            self.open[arg] -= 1;
            if self.open[arg] == 0 && !self.graph.roots.contains(&arg) {
                self.parts[arg] = Vec::new();
            }
        }
        Ok(())
    }

    /// The parts of an op. Operands are stored until it fits.
    fn operation(&mut self, i: usize, node: &'a Arc<Node>) -> Vec<Viewed> {
        let args: SmallVec<[usize; 3]> = self.graph.args[i].iter().map(|&arg| arg as usize).collect();
        for &arg in &args {
            if self.graph.nodes[arg].shape != node.shape && self.is_worth_storing(arg) {
                self.store(arg);
            }
        }
        loop {
            let mut all: Vec<Viewed> = Vec::new();
            for &arg in &args {
                let mut parts = self.parts[arg].clone();
                if self.graph.nodes[arg].shape != node.shape {
                    parts = self.under(parts, i);
                }
                all = union(all, parts);
            }
            all.push((i as u32, 0));
            let size = self.size(&all);
            if size.fits(self.bounds) {
                return all;
            }
            // The operand with the most parts that is computed and not yet stored. A view of a stored node is copied
            // only if even one array for each storage, read lane by lane, would be too many.
            let open = || args.iter().copied().filter(|&arg| !self.is_loaded(arg));
            let parts = |&arg: &usize| self.parts[arg].len();
            let computed = open().filter(|&arg| !self.is_view(arg)).max_by_key(parts);
            if computed.is_none() && size.by_lanes().fits(self.bounds) {
                return all;
            }
            match computed.or_else(|| open().max_by_key(parts)) {
                Some(arg) => self.store(arg),
                None => {
                    if size.operands > self.bounds.operands {
                        self.wide.push(i);
                    }
                    return all;
                }
            }
        }
    }

    /// Stores an operand of what reads each element several times, unless it is loads, casts of loads, or cheap enough
    /// to be computed each time.
    fn factor(&mut self, reader: usize, operand: usize, reads: Operands) {
        let nodes = &self.graph.nodes;
        let is_cast = |part: usize| matches!(nodes[part].kind, NodeKind::Op(Op::Cast));
        let is_plain = |&(part, _): &Viewed| self.is_loaded(part as usize) || is_cast(part as usize);
        let mut i = operand;
        while matches!(nodes[i].kind, NodeKind::View(_)) && !self.stored[i] {
            i = self.graph.args[i][0] as usize;
        }
        let is_computed = || reads != Operands::Stored && self.is_computed_by(reader, operand, i);
        if !self.parts[operand].iter().all(is_plain) && !is_computed() {
            self.store(i);
        }
    }

    /// Whether a contraction or a count computes an operand, which is `of` under views, where it loads it. It does not if
    /// another kernel reads the operand too. What reads results of stages is better a part of one of these: of a product, or of a softmax.
    fn is_computed_by(&self, reader: usize, operand: usize, of: usize) -> bool {
        let is_op = |&(part, _): &Viewed| {
            let node = self.graph.nodes[part as usize];
            let own = costly(own_cost(node)) == 0 || self.graph.count(part as usize) == self.graph.count(of);
            match node.kind {
                NodeKind::Op(_) => !self.stored[part as usize] && own,
                _ => matches!(node.kind, NodeKind::Leaf { .. }),
            }
        };
        let args = self.graph.args[reader].iter().map(|&arg| self.parts[arg as usize].clone());
        self.graph.reads[of] == 1
            && self.parts[operand].iter().all(is_op)
            && self.size(&args.fold(Vec::new(), union)).fits(self.bounds)
            && !self.is_worth_storing(operand)
    }

    /// Adds a reduction to a group, if one kernel holds all of it. Each result takes some tensors.
    fn group(&mut self, i: usize, each: usize) {
        let (kin, operand) = (self.graph.kin[i], self.graph.args[i][0] as usize);
        // The first is counted with any kernel.
        let beside = |results: usize| results * each - 1;
        // An invocation reduces many elements, and would run the loops of all.
        let [all, kept] = [operand, i].map(|i| self.graph.nodes[i].shape.iter().product::<usize>());
        let run = (all / kept.max(1)) as u64;
        if self.size(&self.parts[operand]).turns.saturating_mul(run) > MOST_REDUCED {
            self.store(operand);
        }
        if self.size(&self.parts[operand]).operands.saturating_add(beside(1)) > self.bounds.operands {
            self.store(operand);
        }
        let own = self.parts[operand].clone();
        if let Some((group, parts)) = self.group_parts.get(&kin) {
            let all = union(parts.clone(), own.clone());
            let mut size = self.size(&all);
            size.operands += beside(self.groups[*group].len() + 1);
            if size.fits(self.bounds) {
                let group = *group;
                self.groups[group].push(i);
                self.group_parts.insert(kin, (group, all));
                return;
            }
        }
        self.groups.push(vec![i]);
        self.group_parts.insert(kin, (self.groups.len() - 1, own));
    }

    /// Whether a node is stored, under views.
    fn is_view(&self, i: usize) -> bool {
        self.parts[i].iter().all(|&(part, _)| self.is_loaded(part as usize))
    }

    fn is_loaded(&self, i: usize) -> bool {
        self.stored[i] || matches!(self.graph.nodes[i].kind, NodeKind::Leaf { .. })
    }

    fn store(&mut self, i: usize) {
        if !self.is_loaded(i) {
            self.is_late |= self.open[i] < self.graph.reads[i];
            self.stored[i] = true;
            self.parts[i] = vec![(i as u32, 0)];
        }
    }

    /// Parts under the view, or the stretch, of node `i`.
    fn under(&mut self, mut parts: Vec<Viewed>, i: usize) -> Vec<Viewed> {
        for (_, view) in &mut parts {
            let next = self.views.len() as u32 + 1;
            *view = *self.views.entry((i as u32, *view)).or_insert(next);
        }
        parts.sort_unstable();
        parts
    }

    fn size(&self, parts: &[Viewed]) -> Size {
        let mut size = Size::default();
        // Storages, the forms in which each is read, and the arrays that must be bound.
        let mut storages: Vec<(usize, usize, usize)> = Vec::new();
        for &(i, _) in parts {
            let node = self.graph.nodes[i as usize];
            let (storage, elements) = match &node.kind {
                _ if self.stored[i as usize] => (Arc::as_ptr(node) as usize, self.graph.count(i as usize)),
                NodeKind::Leaf { source: Source::Tensor(storage), .. } => {
                    (storage.address(), storage.elements)
                }
                NodeKind::Op(_) | NodeKind::Lookup | NodeKind::Body(..) => {
                    size.steps += 1;
                    size.cost += own_cost(node);
                    size.costly += costly(text_cost(node));
                    // Usually the states of one loop count once.
                    if matches!(node.kind, NodeKind::Body(_, 0)) || node.turns() > size.turns {
                        size.turns += node.turns();
                    }
                    continue;
                }
                _ => continue,
            };
            if self.bounds.operands == usize::MAX {
                continue;
            }
            // Each reading of a large storage may bind another range.
            let is_whole = elements as u64 <= self.bounds.whole / node.dtype.size() as u64;
            let most = if is_whole { ARRAYS } else { usize::MAX };
            match storages.iter_mut().find(|(known, ..)| *known == storage) {
                Some((_, arrays, least)) => {
                    *arrays = most.min(*arrays + 1);
                    *least = if is_whole { 1 } else { *arrays };
                }
                None => storages.push((storage, 1, 1)),
            }
        }
        size.operands = storages.iter().map(|(_, arrays, _)| arrays).sum();
        size.least = storages.iter().map(|(.., least)| least).sum();
        size
    }

    /// Whether more elements of a node are read than it has, and computing them again costs more than storing them.
    fn is_worth_storing(&self, i: usize) -> bool {
        let (own, read) = (self.graph.count(i), self.graph.elements[i]);
        if self.is_loaded(i) || read <= own || own == 0 {
            return false;
        }
        if self.graph.reads[i] > 1 && self.parts[i].len() > MOST_AGAIN {
            return true;
        }
        let (cost, more) = (self.size(&self.parts[i]).cost, read - own);
        let is_expensive = more.saturating_mul(cost) > own.saturating_mul(STORED);
        is_expensive && more.saturating_mul(cost) >= LEAST_SPARED
    }

    /// Whether a view of a node cannot be pushed down to its leaves.
    fn is_no_layout(&self, of: usize, view: &Layout) -> Result<bool> {
        let node = self.graph.nodes[of];
        // Axes, none of which merge.
        let padded = node.shape.iter().map(|n| n + 2).collect::<Shape>();
        let loose = Layout::contiguous(&padded);
        if let Ok(loose) = loose {
            let cut = (0..node.shape.rank()).try_fold(loose, |layout, axis| {
                layout.slice(axis as isize, 0..node.shape[axis] as isize, 1)
            })?;
            if cut.under(view).is_some() {
                return Ok(false);
            }
        }
        let told = |&(i, under): &Viewed| {
            let leaf = self.graph.nodes[i as usize];
            match &leaf.kind {
                _ if self.stored[i as usize] => under == 0,
                NodeKind::Leaf { layout, .. } => {
                    under == 0 && leaf.shape == node.shape && layout.under(view).is_some()
                        || leaf.shape.rank() == 0
                }
                // A view between steps counts too, even over constants alone.
                _ => under == 0,
            }
        };
        Ok(!self.parts[of].iter().all(told))
    }

    /// Stores roots that together are too much for one kernel.
    fn results(&mut self) {
        let roots = self.graph.roots.clone();
        if roots.len() < 2 {
            return;
        }
        let all = roots.iter().fold(Vec::new(), |all, &root| union(all, self.parts[root].clone()));
        if !self.size(&all).fits(Bounds { operands: usize::MAX, ..self.bounds }) {
            roots.iter().for_each(|&root| self.store(root));
        }
    }
}

/// Both lists, sorted, without duplicates.
fn union(a: Vec<Viewed>, b: Vec<Viewed>) -> Vec<Viewed> {
    if a.is_empty() {
        return b;
    }
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        let next = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x == y => {
                b.next();
                a.next()
            }
            (Some(x), Some(y)) if x < y => a.next(),
            (_, Some(_)) => b.next(),
            _ => a.next(),
        };
        match next {
            Some(place) => all.push(place),
            None => return all,
        }
    }
}
