//! Which nodes of a graph are computed on their own: where what follows would make a kernel too long or
//! bind too many tensors, where it is asked for, and where a part is read through several views, or
//! stretched, and computing it again costs more than storing it.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Bounds, LEAST_SPARED, costly};
use crate::error::Result;
use crate::expr::{DType, Kind, Node, Source, cost};
use crate::layout::{Layout, Shape};

/// The most steps of a stage, and the most that its costly ones may take together, in additions: compilers
/// of drivers take long for long texts (FXC 3.5 s for eight powers, 14 s for sixteen).
const MOST_STEPS: usize = 512;
const MOST_COST: usize = 500;

/// Steps that are computed again, through another view of them, at most: each time they are more text.
const MOST_AGAIN: usize = 32;

/// What storing an element and loading it again costs.
const STORED: usize = 8;

/// Arrays that one storage may be bound as: by elements, by vectors and by two of these.
const ARRAYS: usize = 3;

/// A node by its number in the order of the graph, under a view by its number: 0 for none.
type Place = (u32, u32);

/// The nodes to be computed on their own, those that others need first.
pub(super) fn find<'a>(roots: &[&'a Arc<Node>], bounds: Bounds) -> Result<Vec<&'a Arc<Node>>> {
    if is_small(roots, bounds) {
        return Ok(Vec::new());
    }
    let graph = Graph::new(roots);
    let count = graph.nodes.len();
    let mut search = Search {
        open: graph.reads.clone(),
        stored: vec![false; count],
        parts: vec![Vec::new(); count],
        views: FxHashMap::default(),
        bounds,
        graph,
    };
    (0..count).try_for_each(|i| search.visit(i))?;
    search.results();
    // Of one result, the program that gives it is its stage.
    let is_result = |i: usize| search.graph.roots == [i];
    let stored = (0..count).filter(|&i| search.stored[i] && !is_result(i));
    Ok(stored.map(|i| search.graph.nodes[i]).collect())
}

/// The nodes below some roots, each once and after those that it is made of.
struct Graph<'a> {
    nodes: Vec<&'a Arc<Node>>,
    /// The numbers of the roots.
    roots: Vec<usize>,
    /// Of each node, the numbers of its operands, each once.
    args: Vec<SmallVec<[u32; 3]>>,
    /// The nodes that read each one.
    reads: Vec<u32>,
    /// The elements of it that are read in all, through views and stretched axes, each time anew.
    elements: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn new(roots: &[&'a Arc<Node>]) -> Self {
        let mut numbers: FxHashMap<*const Node, u32> = FxHashMap::default();
        let mut graph = Graph {
            nodes: Vec::new(),
            roots: Vec::new(),
            args: Vec::new(),
            reads: Vec::new(),
            elements: Vec::new(),
        };
        let mut stack: Vec<(&'a Arc<Node>, usize)> = roots.iter().rev().map(|&root| (root, 0)).collect();
        while let Some((node, next)) = stack.pop() {
            if numbers.contains_key(&Arc::as_ptr(node)) {
                continue;
            }
            if let Some(arg) = node.args.get(next) {
                stack.push((node, next + 1));
                if !numbers.contains_key(&Arc::as_ptr(arg)) {
                    stack.push((arg, 0));
                }
                continue;
            }
            let mut args: SmallVec<[u32; 3]> =
                node.args.iter().map(|arg| numbers[&Arc::as_ptr(arg)]).collect();
            args.sort_unstable();
            args.dedup();
            numbers.insert(Arc::as_ptr(node), graph.nodes.len() as u32);
            graph.nodes.push(node);
            graph.reads.push(0);
            graph.elements.push(0);
            // Views that are equal show the same elements; as a rule they differ.
            let count = graph.count(graph.nodes.len() - 1);
            for &arg in &args {
                graph.reads[arg as usize] += 1;
                let direct = !matches!(node.kind, Kind::View(_)) && graph.count(arg as usize) == count;
                let read = &mut graph.elements[arg as usize];
                // All that read it as it is share its elements.
                *read = if direct { (*read).max(count) } else { read.saturating_add(count) };
            }
            graph.args.push(args);
        }
        graph.roots = roots.iter().map(|root| numbers[&Arc::as_ptr(root)] as usize).collect();
        graph
    }

    fn count(&self, i: usize) -> usize {
        self.nodes[i].shape.iter().product()
    }
}

/// Nodes, each counted as often as it is read, up to which an expression is looked at without a graph.
const FEW: usize = 64;

/// Whether one kernel surely holds what some roots are made of, as most expressions: few operations on
/// operands of one shape, or on such as are stretched where they are loaded.
fn is_small(roots: &[&Arc<Node>], bounds: Bounds) -> bool {
    let mut open: SmallVec<[&Arc<Node>; 16]> = roots.iter().copied().collect();
    let (mut nodes, mut leaves, mut cost) = (0, 0, 0);
    while let Some(node) = open.pop() {
        nodes += 1;
        match node.kind {
            Kind::Leaf { .. } => leaves += 1,
            Kind::Op(_) => cost += own_cost(node),
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

fn own_cost(node: &Node) -> usize {
    match node.kind {
        Kind::Op(op) => cost(op, operand_type(node)),
        _ => 0,
    }
}

/// The type that an op computes in: that of its last operand, as a condition comes first.
fn operand_type(node: &Node) -> DType {
    node.args.last().map_or(node.dtype, |arg| arg.dtype)
}

struct Search<'a> {
    graph: Graph<'a>,
    /// Of each node, what reads it and was not visited yet.
    open: Vec<u32>,
    /// Nodes that are computed on their own.
    stored: Vec<bool>,
    /// What each node is made of in one kernel, in order: steps, and what is loaded.
    parts: Vec<Vec<Place>>,
    /// Numbers of views: of a node's own view, or stretch, under another.
    views: FxHashMap<Place, u32>,
    bounds: Bounds,
}

/// What a kernel of some parts would take.
#[derive(Default)]
struct Size {
    steps: usize,
    /// In all, and of the costly ones.
    cost: usize,
    costly: usize,
    operands: usize,
}

impl Size {
    fn fits(&self, bounds: Bounds) -> bool {
        self.steps <= MOST_STEPS && self.costly <= MOST_COST && self.operands <= bounds.operands
    }
}

impl<'a> Search<'a> {
    fn visit(&mut self, i: usize) -> Result<()> {
        let node = self.graph.nodes[i];
        let parts = match &node.kind {
            Kind::Leaf { .. } => vec![(i as u32, 0)],
            Kind::Shared => {
                self.stored[i] = true;
                vec![(i as u32, 0)]
            }
            Kind::View(layout) => {
                let of = self.graph.args[i][0] as usize;
                if self.is_worth_storing(of) || self.is_no_layout(of, layout)? {
                    self.store(of);
                }
                let parts = self.parts[of].clone();
                self.under(parts, i)
            }
            Kind::Op(_) => self.operation(i, node),
        };
        self.parts[i] = parts;
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

    /// The parts of an op, with operands stored until they fit.
    fn operation(&mut self, i: usize, node: &'a Arc<Node>) -> Vec<Place> {
        let args: SmallVec<[usize; 3]> = self.graph.args[i].iter().map(|&arg| arg as usize).collect();
        for &arg in &args {
            if self.graph.nodes[arg].shape != node.shape && self.is_worth_storing(arg) {
                self.store(arg);
            }
        }
        loop {
            let mut all: Vec<Place> = Vec::new();
            for &arg in &args {
                let mut parts = self.parts[arg].clone();
                if self.graph.nodes[arg].shape != node.shape {
                    parts = self.under(parts, i);
                }
                all = union(all, parts);
            }
            all.push((i as u32, 0));
            if self.size(&all).fits(self.bounds) {
                return all;
            }
            // The operand of the most parts that is no leaf and not stored yet.
            let large = args.iter().copied().filter(|&arg| !self.is_loaded(arg));
            match large.max_by_key(|&arg| self.parts[arg].len()) {
                Some(arg) => self.store(arg),
                None => return all,
            }
        }
    }

    fn is_loaded(&self, i: usize) -> bool {
        self.stored[i] || matches!(self.graph.nodes[i].kind, Kind::Leaf { .. })
    }

    fn store(&mut self, i: usize) {
        if !self.is_loaded(i) {
            self.stored[i] = true;
            self.parts[i] = vec![(i as u32, 0)];
        }
    }

    /// Parts under the view, or the stretch, that node `i` puts on them.
    fn under(&mut self, mut parts: Vec<Place>, i: usize) -> Vec<Place> {
        for (_, view) in &mut parts {
            let next = self.views.len() as u32 + 1;
            *view = *self.views.entry((i as u32, *view)).or_insert(next);
        }
        parts.sort_unstable();
        parts
    }

    fn size(&self, parts: &[Place]) -> Size {
        let mut size = Size::default();
        // Storages, and how often each is read in another way.
        let mut storages: Vec<(usize, usize)> = Vec::new();
        for &(i, _) in parts {
            let node = self.graph.nodes[i as usize];
            let (storage, elements) = match &node.kind {
                _ if self.stored[i as usize] => (Arc::as_ptr(node) as usize, self.graph.count(i as usize)),
                Kind::Leaf { source: Source::Tensor(storage), .. } => (storage.address(), storage.elements),
                Kind::Op(op) => {
                    size.steps += 1;
                    size.cost += own_cost(node);
                    size.costly += costly(*op, operand_type(node));
                    continue;
                }
                _ => continue,
            };
            if self.bounds.operands == usize::MAX {
                continue;
            }
            // Of one that is larger, each reading may have a window of its own.
            let is_whole = elements as u64 <= self.bounds.whole / node.dtype.size() as u64;
            let most = if is_whole { ARRAYS } else { usize::MAX };
            match storages.iter_mut().find(|(known, _)| *known == storage) {
                Some((_, arrays)) => *arrays = most.min(*arrays + 1),
                None => storages.push((storage, 1)),
            }
        }
        size.operands = storages.iter().map(|(_, arrays)| arrays).sum();
        size
    }

    /// Whether more elements of a node are read than it has, and computing them again costs more than
    /// storing them.
    fn is_worth_storing(&self, i: usize) -> bool {
        let (own, read) = (self.graph.count(i), self.graph.elements[i]);
        if self.is_loaded(i) || read <= own || own == 0 {
            return false;
        }
        if self.graph.reads[i] > 1 && self.parts[i].len() > MOST_AGAIN {
            return true;
        }
        let (cost, more) = (self.size(&self.parts[i]).cost, read - own);
        let dear = more.saturating_mul(cost) > own.saturating_mul(STORED);
        dear && more.saturating_mul(cost) >= LEAST_SPARED
    }

    /// Whether a view of a node cannot be pushed down to what that loads.
    fn is_no_layout(&self, of: usize, view: &Layout) -> Result<bool> {
        let node = self.graph.nodes[of];
        // Axes none of which are walked as one.
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
        let told = |&(i, under): &Place| {
            let leaf = self.graph.nodes[i as usize];
            match &leaf.kind {
                _ if self.stored[i as usize] => under == 0,
                Kind::Leaf { layout, .. } => {
                    under == 0 && leaf.shape == node.shape && layout.under(view).is_some()
                        || leaf.shape.rank() == 0
                }
                // A view between steps is walked as well, even if all that they load is constants.
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

/// Both lists, sorted, each place once.
fn union(a: Vec<Place>, b: Vec<Place>) -> Vec<Place> {
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
