//! Random cases from a seed: expressions over all types, ops and views, with shared nodes.

use std::rc::Rc;

use zerostride::{DType, Operation, operations};

use super::Random;
use super::case::{Case, Step, Storage};
use super::recipe::{Beyond, Kind, Recipe, View};
use super::reduce::Reduction;
use super::value::{Plain, Value, is_float, least, nearest, with_type};
use super::written::Written;

/// The number of elements with empty axes counted as 1, because other axes must not grow beside an empty one.
fn room(shape: &[usize]) -> usize {
    shape.iter().map(|&n| n.max(1)).product()
}

/// How large cases are.
#[derive(Clone, Copy)]
pub struct Size {
    /// Ops of an expression.
    pub ops: usize,
    /// Elements of a result.
    pub elements: usize,
    pub steps: usize,
}

pub fn case(seed: u64, size: Size) -> Case {
    let mut random = Random(seed);
    // A case has few types, so that nodes of one type meet. Not all adapters have f64.
    let wide = random.chance(25);
    let drawn = |random: &mut Random| loop {
        let of = DType::ALL[random.below(DType::ALL.len())];
        if of != DType::F64 || wide {
            return of;
        }
    };
    let types = (0..1 + random.below(3)).map(|_| drawn(&mut random)).chain([DType::Bool]).collect();
    let mut draw = Draw { random, size, types, case: Case::default(), known: Vec::new(), is_tame: false };
    for _ in 0..1 + draw.random.below(size.steps) {
        draw.step();
    }
    draw.case
}

struct Draw {
    random: Random,
    size: Size,
    types: Vec<DType>,
    case: Case,
    /// Nodes, to be used again.
    known: Vec<Recipe>,
    /// Whether elements are small enough to be added without overflow.
    is_tame: bool,
}

impl Draw {
    fn step(&mut self) {
        let (of, ops) = (self.a_type(), 1 + self.random.below(self.size.ops));
        let shape = self.shape();
        match self.random.below(10) {
            0..=2 => {
                let mut all = vec![self.assigned(of, &shape, ops)];
                while all.len() < 4 && self.random.chance(30) {
                    let own = self.a_type();
                    let more = self.assigned(own, &shape, ops / 2);
                    if all.iter().all(|(to, ..)| *to != more.0) {
                        all.push(more);
                    }
                }
                self.case.steps.push(Step::Assign(all));
            }
            3..=4 => {
                let roots = (0..2 + self.random.below(3)).map(|_| {
                    let shape = if self.random.chance(70) { shape.clone() } else { self.shape() };
                    let own = if self.random.chance(50) { of } else { self.a_type() };
                    let root = self.draw(own, &shape, ops / 2);
                    self.stretched(root, &shape)
                });
                let roots = roots.collect();
                self.case.steps.push(Step::Eval(roots));
            }
            5..=6 if is_float(of) && of != DType::F64 && self.random.chance(60) => {
                // Of f64 the oracle would have to hold more digits.
                let name = self.pick(&["softmax", "log_softmax", "logsumexp"]);
                let root = self.reduced(name, of, &shape, ops);
                self.case.steps.push(Step::Eval(vec![root]));
            }
            5..=6 if is_float(of) => {
                let op = self.op(of, |op| op.ulp(of) > 0);
                let args: Vec<Recipe> =
                    (0..op.arity).map(|_| self.draw(of, &shape, ops / op.arity)).collect();
                let root = Recipe::call(op.name, &args.iter().collect::<Vec<_>>());
                self.case.steps.push(Step::Eval(vec![root]));
            }
            _ => {
                let root = self.draw(of, &shape, ops);
                let root = if self.random.chance(50) { self.stretched(root, &shape) } else { root };
                self.case.steps.push(Step::Eval(vec![root]));
            }
        }
    }

    /// A destination, as views of a storage, with the expression that is written there.
    fn assigned(&mut self, of: DType, shape: &[usize], ops: usize) -> (usize, Vec<View>, Recipe) {
        let to = self.storage(of, shape);
        let leaf = self.leaf_of(to);
        let part: Vec<usize> = leaf.shape.clone().iter().map(|&n| self.length_up_to(n)).collect();
        let (to_view, views) = loop {
            // A destination is not stretched.
            let Some(view) = self.reach(&leaf, &part) else { continue };
            let views = views_of(&view);
            if !views.iter().any(|view| matches!(view, View::Broadcast(_))) {
                break (view, views);
            }
        };
        let value = self.draw(of, &to_view.shape, ops);
        (to, views, value)
    }

    fn a_type(&mut self) -> DType {
        self.types[self.random.below(self.types.len())]
    }

    fn op(&mut self, of: DType, fits: impl Fn(&Operation) -> bool) -> Operation {
        let all: Vec<Operation> = operations().filter(|op| op.result(of).is_some() && fits(op)).collect();
        all[self.random.below(all.len())]
    }

    fn shape(&mut self) -> Vec<usize> {
        let mut shape: Vec<usize> = (0..self.random.below(6))
            .map(|_| match self.random.below(32) {
                0 => 0,
                1..=4 => 1,
                5..=28 => 2 + self.random.below(5),
                _ => 60 + self.random.below(12),
            })
            .collect();
        // Of many elements, where parts over fewer are to be worth a stage.
        let most = self.size.elements;
        while most > 100_000 && (1..most / 2).contains(&shape.iter().product()) && !shape.is_empty() {
            let axis = self.random.below(shape.len());
            shape[axis] = shape[axis] * 3 + 1;
        }
        while room(&shape) > most {
            let longest = (0..shape.len()).max_by_key(|&k| shape[k]).unwrap();
            shape[longest] = shape[longest] / 2 + 1;
        }
        shape
    }

    fn pick(&mut self, names: &[&'static str]) -> &'static str {
        names[self.random.below(names.len())]
    }

    fn element(&mut self, of: DType) -> Value {
        loop {
            match element(of, &mut self.random) {
                Value::Float(x) if self.is_tame && !is_small(&x) => {}
                value => return value,
            }
        }
    }

    fn length_up_to(&mut self, n: usize) -> usize {
        if n > 1 && self.random.chance(40) { 1 + self.random.below(n) } else { n }
    }

    /// A new storage of a shape with new values, or an existing storage.
    fn storage(&mut self, of: DType, shape: &[usize]) -> usize {
        let fits = |i: &usize| {
            let storage = &self.case.storages[*i];
            let is_tame = |value: &Value| !matches!(value, Value::Float(x) if !is_small(x));
            storage.dtype == of && (!self.is_tame || storage.values.iter().all(is_tame))
        };
        let there: Vec<usize> = (0..self.case.storages.len()).filter(fits).collect();
        if !there.is_empty() && self.random.chance(50) {
            return there[self.random.below(there.len())];
        }
        let count = shape.iter().product();
        let values = Rc::new((0..count).map(|_| self.element(of)).collect());
        self.case.storages.push(Storage { dtype: of, shape: shape.to_vec(), values });
        self.case.storages.len() - 1
    }

    fn leaf_of(&self, i: usize) -> Recipe {
        let storage = &self.case.storages[i];
        Recipe::new(storage.dtype, storage.shape.clone(), Kind::Leaf(i), Vec::new())
    }

    fn leaf(&mut self, of: DType, shape: &[usize]) -> Recipe {
        match self.random.below(10) {
            0..=1 => Recipe::constant(self.element(of), of),
            2 if !shape.is_empty() => {
                let axis = self.random.below(shape.len());
                let index = Recipe::new(DType::I32, shape.to_vec(), Kind::Index(axis), Vec::new());
                if of == DType::I32 { index } else { index.cast(of) }
            }
            3 if of == DType::U32 || is_float(of) => {
                let (narrow, key) = (self.narrowed(shape), self.random.next() >> self.random.below(64));
                Recipe::new(of, narrow, Kind::Random(key), Vec::new())
            }
            _ => {
                let (narrow, roomy) = (self.narrowed(shape), self.roomy(shape));
                let own = if self.random.chance(50) { narrow } else { roomy };
                let i = self.storage(of, &own);
                let leaf = self.leaf_of(i);
                self.reach(&leaf, shape).unwrap_or_else(|| Recipe::constant(self.element(of), of))
            }
        }
    }

    /// A shape that broadcasts to another.
    fn narrowed(&mut self, shape: &[usize]) -> Vec<usize> {
        if self.random.chance(40) {
            return shape.to_vec();
        }
        let missing = if self.random.chance(30) { self.random.below(shape.len() + 1) } else { 0 };
        shape[missing..].iter().map(|&n| if self.random.chance(40) { 1 } else { n }).collect()
    }

    /// A shape that another shape is a part of.
    fn roomy(&mut self, shape: &[usize]) -> Vec<usize> {
        let mut roomy: Vec<usize> = shape
            .iter()
            .map(|&n| {
                if self.random.chance(70) { n } else { n * (1 + self.random.below(3)) + self.random.below(3) }
            })
            .collect();
        if roomy.len() < 6 && self.random.chance(15) {
            roomy.insert(self.random.below(roomy.len() + 1), 1 + self.random.below(3));
        }
        if room(&roomy) > 2 * self.size.elements { shape.to_vec() } else { roomy }
    }

    fn stretched(&self, root: Recipe, shape: &[usize]) -> Recipe {
        if root.shape == shape { root } else { root.view(View::Broadcast(shape.to_vec())) }
    }

    /// An exact expression of a type that broadcasts to a shape.
    fn draw(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        if ops == 0 {
            return self.leaf(of, shape);
        }
        let node = self.node(of, shape, ops);
        self.known.push(node.clone());
        node
    }

    fn node(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        match self.random.below(100) {
            0..=19 => {
                let same: Vec<usize> = (0..self.known.len()).filter(|&i| self.known[i].dtype == of).collect();
                let again = same.get(self.random.below(same.len())).map(|&i| self.known[i].clone());
                if let Some(view) = again.and_then(|again| self.reach(&again, shape)) {
                    return view;
                }
            }
            20..=27 => {
                let roomy = self.roomy(shape);
                let inner = self.draw(of, &roomy, ops - 1);
                if let Some(view) = self.reach(&inner, shape) {
                    return view;
                }
            }
            28..=31 => return self.reshaped(of, shape, ops),
            32..=36 => return self.draw(of, shape, ops - 1).shared(),
            37..=44 => {
                let from = self.a_type();
                if from != of {
                    return self.draw(from, shape, ops - 1).cast(of);
                }
            }
            51..=57 => return self.reduction(of, shape, ops),
            58 => return self.repeated(of, shape, ops),
            59..=61 if !shape.is_empty() => return self.beside(of, shape, ops),
            62..=67 => return self.lookup(of, shape, ops),
            68..=70 if !shape.is_empty() => return self.join(of, shape, ops),
            71..=74 => {
                if let Some(own) = Written::giving(of) {
                    let operands = own.types().0.map(|of| self.operand(of, shape, (ops - 1) / 2));
                    return Recipe::written(own, &operands);
                }
            }
            45..=50 => {
                let [c, a, b] = [DType::Bool, of, of].map(|of| self.operand(of, shape, (ops - 1) / 3));
                return c.select(&a, &b);
            }
            75..=79 if shape.len() > 1 && !shape.contains(&0) => {
                if let Some(windows) = self.windows(of, shape, ops) {
                    return windows;
                }
            }
            _ => {}
        }
        // Comparisons return bool.
        let from = if of == DType::Bool && self.random.chance(70) { self.a_type() } else { of };
        let op = self.op(from, |op| op.ulp(from) == 0 && op.result(from) == Some(of));
        let args: Vec<Recipe> =
            (0..op.arity).map(|_| self.operand(from, shape, (ops - 1) / op.arity)).collect();
        Recipe::call(op.name, &args.iter().collect::<Vec<_>>())
    }

    /// Windows that the last axis goes through, along another.
    fn windows(&mut self, of: DType, shape: &[usize], ops: usize) -> Option<Recipe> {
        let (&length, rest) = shape.split_last()?;
        let axis = self.random.below(rest.len());
        let [step, dilation] =
            [0; 2].map(|_| if self.random.chance(60) { 1 } else { 2 + self.random.below(2) });
        let mut own = rest.to_vec();
        own[axis] = (own[axis] - 1) * step + (length - 1) * dilation + 1 + self.random.below(step);
        if room(&own) > 2 * self.size.elements {
            return None;
        }
        let inner = self.draw(of, &own, ops - 1);
        let numbers = [length, step, dilation].map(|n| n as isize);
        Some(self.stretched(inner, &own).view(View::Windows(axis as isize, numbers)))
    }

    /// Parts of a shape next to each other.
    fn join(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let axis = self.random.below(shape.len());
        let mut left = shape[axis];
        let mut parts = Vec::new();
        while left > 0 || parts.is_empty() {
            let mut own = shape.to_vec();
            own[axis] = if parts.len() < 3 { self.random.below(left + 1) } else { left };
            left -= own[axis];
            let part = self.draw(of, &own, ops / 3);
            parts.push(self.stretched(part, &own));
        }
        Recipe::join(parts, axis)
    }

    /// Elements of a table at indices that are drawn as well, some of them coordinates.
    fn lookup(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let (table, beyond) = self.table(of, ops / 2);
        let indices = table.shape.clone().into_iter().map(|_| {
            if !shape.is_empty() && self.random.chance(40) {
                return self.coordinate(shape);
            }
            let own = self.a_type();
            let index = match is_float(own) || own == DType::Bool {
                true => DType::I32,
                false => own,
            };
            let before = std::mem::take(&mut self.is_tame);
            let index = self.operand(index, shape, ops / 4);
            self.is_tame = before;
            index
        });
        let indices: Vec<Recipe> = indices.collect();
        let found = table.at(&indices, beyond);
        self.stretched(found, shape)
    }

    fn coordinate(&mut self, shape: &[usize]) -> Recipe {
        let axis = self.random.below(shape.len());
        Recipe::new(DType::I32, shape.to_vec(), Kind::Index(axis), Vec::new())
    }

    /// A lookup of an iteration, by at least one of its values.
    fn looked_up(&mut self, of: DType, values: &[Recipe], shape: &[usize]) -> Recipe {
        let (table, beyond) = self.table(of, 1);
        let own = self.random.below(table.shape.len());
        let indices = (0..table.shape.len()).map(|axis| match self.random.below(10) {
            0..=3 if axis != own && !shape.is_empty() => self.coordinate(shape),
            4 if axis != own => Recipe::constant(self.element(DType::I32), DType::I32),
            5 if axis != own => self.operand(DType::I32, shape, 1),
            _ => self.some_of(DType::I32, values),
        });
        let indices: Vec<Recipe> = indices.collect();
        table.at(&indices, beyond)
    }

    /// A table, and the rule for indices that are out of range.
    fn table(&mut self, of: DType, ops: usize) -> (Recipe, Beyond) {
        let mut lengths = vec![1 + self.random.below(9)];
        while lengths.len() < 4 && self.random.chance(50) {
            let most = if self.random.chance(20) { 70 } else { 9 };
            lengths.push(1 + self.random.below(most));
        }
        let table = self.draw(of, &lengths, ops);
        let table = self.stretched(table, &lengths);
        let beyond = match self.random.below(4) {
            0 => Beyond::Wrapped,
            1 => Beyond::Fill(self.element(of)),
            _ => Beyond::Nearest,
        };
        (table, beyond)
    }

    /// A value of a loop of a few turns.
    fn repeated(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let id = self.random.next() >> 1;
        let mut types = vec![of];
        (0..self.random.below(3)).for_each(|_| types.push(self.a_type()));
        let first: Vec<Recipe> = (types.clone().iter())
            .map(|&of| {
                let first = self.draw(of, shape, ops / 6);
                self.stretched(first, shape)
            })
            .collect();
        let state =
            |(i, &of): (u64, &DType)| Recipe::new(of, shape.to_vec(), Kind::State(id + i), Vec::new());
        let states: Vec<Recipe> = (0..).zip(&types).map(state).collect();
        let mut values = states.clone();
        for _ in 0..1 + self.random.below(5) {
            let of = types[self.random.below(types.len())];
            if self.random.chance(25) {
                values.push(self.looked_up(of, &values, shape));
                continue;
            }
            let op = self.op(of, |op| op.ulp(of) == 0);
            let args: Vec<Recipe> = (0..op.arity).map(|_| self.of_turn(of, &values, shape)).collect();
            // One at least is of the turn, so that it has the shape of the states.
            let own = self.some_of(of, &values);
            let at = self.random.below(op.arity);
            let operands: Vec<&Recipe> =
                args.iter().enumerate().map(|(i, arg)| if i == at { &own } else { arg }).collect();
            values.push(Recipe::call(op.name, &operands));
        }
        let mut args = first;
        args.extend(types.iter().map(|&of| self.some_of(of, &values)));
        if self.random.chance(50) {
            let own = self.some_of(of, &values);
            let limit = self.of_turn(of, &values, shape);
            let name = if of == DType::Bool { "or" } else { "ne" };
            args.push(Recipe::call(name, &[&own, &limit]));
        }
        let kind = Kind::Repeat { id, turns: self.random.below(6) as u32, states: types.len(), result: 0 };
        Recipe::new(of, shape.to_vec(), kind, args)
    }

    /// A value of a turn, the last ones first, as a type.
    fn some_of(&mut self, of: DType, values: &[Recipe]) -> Recipe {
        let at = values.len() - 1 - self.random.below(values.len()).min(self.random.below(values.len()));
        let value = &values[at];
        if value.dtype == of { value.clone() } else { value.cast(of) }
    }

    /// An operand in a turn: a value of it, or what all turns share.
    fn of_turn(&mut self, of: DType, values: &[Recipe], shape: &[usize]) -> Recipe {
        if self.random.chance(60) { self.some_of(of, values) } else { self.operand(of, shape, 1) }
    }

    /// A reduction with a result of a shape, of any kind whose bits are known.
    fn reduction(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let (names, from): (&[&str], DType) = match of {
            DType::Bool => (&["any", "all"], of),
            DType::U32 if self.random.chance(60) => {
                let from = self.a_type();
                let counts = from == DType::Bool || self.random.chance(30);
                (if counts { &["count_nonzero"] } else { &["argmin", "argmax"] }, from)
            }
            _ if is_float(of) => (FLOAT, of),
            _ => (INTEGER, of),
        };
        let name = self.pick(names);
        let root = self.reduced(name, from, shape, ops - 1);
        // Axes that are kept go by views.
        let extra = root.shape.len() - shape.len();
        match root.kind {
            Kind::Reduce(ref reduction) if extra > 0 => {
                let mut axes: Vec<isize> = reduction.axes.clone().unwrap_or_default();
                let rank = root.shape.len() as isize;
                axes.iter_mut().for_each(|axis| *axis = axis.rem_euclid(rank));
                axes.sort_unstable();
                axes.iter().rev().fold(root.clone(), |root, &axis| root.view(View::Squeeze(axis)))
            }
            _ => root,
        }
    }

    /// An operation on elements and on reductions of their ranges.
    fn beside(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let x = self.ranges(of, shape, ops / 2);
        let name =
            self.pick(if of == DType::Bool { &["any", "all"] } else { &["sum", "prod", "min", "max"] });
        let axes: Vec<isize> = (0..shape.len() as isize).filter(|_| self.random.chance(50)).collect();
        let is_empty = axes.iter().any(|&axis| shape[axis as usize] == 0);
        let name = if is_empty && name.starts_with('a') && of != DType::Bool { "sum" } else { name };
        let mut beside = x.clone();
        // The same ranges are reduced again, of these elements or of the result, as in a standardization.
        for turn in 0..1 + self.random.below(3) {
            let name = match turn {
                0 => name,
                _ if of == DType::Bool => self.pick(&["any", "all"]),
                _ if is_empty => self.pick(&["sum", "prod"]),
                _ => self.pick(&["sum", "min", "max", "l1", "sum_square"]),
            };
            let folded = if self.random.chance(60) { &beside } else { &x };
            let ranges = folded.reduce(Reduction { keepdim: true, ..Reduction::over(name, axes.clone()) });
            let op = self.op(of, |op| op.arity == 2 && op.ulp(of) == 0 && op.result(of) == Some(of));
            let (a, b) = if self.random.chance(50) { (&beside, &ranges) } else { (&ranges, &beside) };
            beside = Recipe::call(op.name, &[a, b]);
        }
        beside
    }

    /// A reduction by its name, of elements of a type: of the shape, but for axes that stay with length 1.
    fn reduced(&mut self, name: &'static str, from: DType, shape: &[usize], ops: usize) -> Recipe {
        let mut reduction = Reduction::over(name, []);
        let (mut lengths, mut axes) = (shape.to_vec(), Vec::new());
        if reduction.keeps_shape() {
            let count = if name.starts_with("cum") { 1 } else { self.random.below(3) };
            if lengths.is_empty() && count == 1 {
                return self.reduced(if from == DType::Bool { "any" } else { "sum" }, from, shape, ops);
            }
            for _ in 0..count.min(lengths.len()) {
                axes.push(self.random.below(lengths.len()));
            }
            axes.sort_unstable();
            axes.dedup();
            if axes.len() == 1 && shape[axes[0]] > 1 && self.random.chance(50) {
                // A longer axis, of which a part is viewed.
                return self.longer(reduction, from, shape, axes[0], ops);
            }
        } else {
            let most = 3 * self.size.elements;
            for _ in 0..self.random.below(3).min(6 - lengths.len().min(6)) {
                let at = self.random.below(lengths.len() + 1);
                let mut length = self.length();
                if name.contains("max") || name.contains("min") {
                    length = length.max(1);
                }
                let others = room(&lengths);
                length = length.min((most / others).max(1));
                lengths.insert(at, length);
                axes.iter_mut().for_each(|axis| *axis += usize::from(*axis >= at));
                axes.push(at);
            }
            reduction.keepdim = self.random.chance(30);
        }
        let is_all = axes.len() == lengths.len() && !name.starts_with("cum") && !reduction.keepdim;
        let rank = lengths.len() as isize;
        let signed =
            |axis: usize, random: &mut Random| axis as isize - if random.chance(30) { rank } else { 0 };
        let list = axes.into_iter().map(|axis| signed(axis, &mut self.random)).collect();
        reduction.axes = if is_all && self.random.chance(50) { None } else { Some(list) };
        if matches!(name, "var" | "std") {
            reduction.correction = [0.0, 1.0, 0.5, 3.0][self.random.below(4)];
        }
        self.options(&mut reduction);
        self.ranges(from, &lengths, ops).reduce(reduction)
    }

    fn options(&mut self, reduction: &mut Reduction) {
        if reduction.name.starts_with("cum") {
            reduction.exclusive = self.random.chance(30);
            reduction.reverse = self.random.chance(30);
        }
    }

    /// A view of a part along a longer axis.
    fn longer(
        &mut self,
        mut reduction: Reduction,
        from: DType,
        shape: &[usize],
        axis: usize,
        ops: usize,
    ) -> Recipe {
        let others = room(shape) / shape[axis];
        let most = 3 * self.size.elements / others.max(1);
        let mut lengths = shape.to_vec();
        lengths[axis] = self.length().clamp(shape[axis], most.max(shape[axis]));
        reduction.axes = Some(vec![axis as isize]);
        self.options(&mut reduction);
        let is_bounded = reduction.is_bounded();
        let root = self.ranges(from, &lengths, ops).reduce(reduction);
        if is_bounded {
            return root;
        }
        let start = self.random.below(lengths[axis] - shape[axis] + 1) as isize;
        root.view(View::Cut(axis as isize, start, start + shape[axis] as isize))
    }

    /// The operand of a reduction, stretched to the shape. Its sums are mostly finite.
    fn ranges(&mut self, from: DType, shape: &[usize], ops: usize) -> Recipe {
        let before = std::mem::replace(&mut self.is_tame, self.random.chance(85));
        let x = self.draw(from, shape, ops.min(4));
        self.is_tame = before;
        self.stretched(x, shape)
    }

    /// The length of an axis that is reduced: around what blocks and groups are, too.
    fn length(&mut self) -> usize {
        match self.random.below(16) {
            0 => self.random.below(2),
            1..=8 => 2 + self.random.below(69),
            _ => {
                let near = [16, 64, 256, 512, 1024, 4096, 8192, 12288][self.random.below(8)];
                near - 2 + self.random.below(5)
            }
        }
    }

    fn operand(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let narrowed = if self.random.chance(30) { self.narrowed(shape) } else { shape.to_vec() };
        self.draw(of, &narrowed, ops)
    }

    /// The elements of an op in another shape. Without an op elements may lie so that there is no view.
    fn reshaped(&mut self, of: DType, shape: &[usize], ops: usize) -> Recipe {
        let mut other = shape.to_vec();
        for k in (1..other.len()).rev() {
            if self.random.chance(50) {
                other[k - 1] *= other.remove(k);
            }
        }
        if let Some(k) = other.iter().position(|&n| n > 2 && n % 2 == 0).filter(|_| other.len() < 6) {
            other[k] /= 2;
            other.insert(k, 2);
        }
        let inner = self.draw(of, &other, ops - 1);
        let inner = self.stretched(inner, &other);
        let name = if of == DType::Bool { "not" } else { "neg" };
        inner.of1(name).view(View::Reshape(shape.iter().map(|&n| n as isize).collect()))
    }

    /// A part of a node that broadcasts to a shape, through views drawn by chance, or none: of no
    /// elements there are no parts.
    fn reach(&mut self, node: &Recipe, shape: &[usize]) -> Option<Recipe> {
        let mut view = node.clone();
        if view.shape.len() > 1 && self.random.chance(40) {
            let mut order: Vec<isize> = (0..view.shape.len() as isize).collect();
            for k in 1..order.len() {
                order.swap(k, self.random.below(k + 1));
            }
            view = view.view(View::Permute(order));
        }
        while view.shape.len() > shape.len() {
            let axis = view.shape.iter().position(|&n| n == 1).unwrap_or(self.random.below(view.shape.len()));
            view = self.part(&view, axis, 1)?.view(View::Squeeze(axis as isize));
        }
        let lead = shape.len() - view.shape.len();
        for axis in 0..view.shape.len() {
            view = self.part(&view, axis, shape[lead + axis])?;
        }
        if lead > 0 && self.random.chance(30) {
            view = view.view(View::Unsqueeze(0));
        }
        Some(if self.random.chance(15) { self.stretched(view, shape) } else { view })
    }

    /// A part of an axis that broadcasts to a length.
    fn part(&mut self, node: &Recipe, axis: usize, length: usize) -> Option<Recipe> {
        let (own, at) = (node.shape[axis], axis as isize);
        if own == length || own == 1 {
            let flipped = own > 1 && self.random.chance(20);
            return Some(if flipped { node.view(View::Flip(at)) } else { node.clone() });
        }
        if own == 0 {
            return None;
        }
        let length = if length > own { 1 } else { length };
        let most = if length > 1 { (own - 1) / (length - 1) } else { 1 };
        let step = if self.random.chance(50) { 1 + self.random.below(most) } else { 1 };
        let span = if length == 0 { 0 } else { (length - 1) * step + 1 };
        let start = self.random.below(own - span + 1) as isize;
        let cut = node.view(View::Cut(at, start, start + span as isize));
        let step = if self.random.chance(30) { -(step as isize) } else { step as isize };
        Some(if step == 1 { cut } else { cut.view(View::Step(at, step)) })
    }
}

/// The greatest number whose sums are drawn to be numbers.
const TAME: f64 = 1024.0;

/// Whether a number is no larger; NaN is not.
fn is_small(&x: &f64) -> bool {
    x.abs() <= TAME
}

/// Reductions with the type of their operand and known bits.
const INTEGER: &[&str] = &["sum", "prod", "min", "max", "l1", "sum_square", "cumsum", "cumprod", "cummax"];
const FLOAT: &[&str] = &[
    "sum",
    "mean",
    "var",
    "std",
    "prod",
    "min",
    "max",
    "l1",
    "l2",
    "sum_square",
    "cumsum",
    "cumprod",
    "cummin",
];

/// The views on the way from a leaf.
fn views_of(recipe: &Recipe) -> Vec<View> {
    match &recipe.kind {
        Kind::View(view) => {
            let mut views = views_of(&recipe.args[0]);
            views.push(view.clone());
            views
        }
        _ => Vec::new(),
    }
}

/// A value of a type: small ones meet each other, large ones overflow, special ones have rules of their
/// own.
fn element(of: DType, random: &mut Random) -> Value {
    if of == DType::Bool {
        return Value::Bool(random.chance(50));
    }
    if !is_float(of) {
        let any = random.next();
        let shift = random.below(64);
        let bits = match random.below(4) {
            0 => any,
            1 => any >> shift,
            _ => (random.below(19) as u64).wrapping_sub(9),
        };
        return with_type!(of, T => T::of(Value::Int(bits.into())).value());
    }
    let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5, 3.0, 65504.0, 1e30];
    loop {
        let power = match random.below(16) {
            0 | 1 => return Value::Float(nearest(special[random.below(special.len())], of)),
            2 => random.below(241) as i32 - 120,
            3 => random.below(41) as i32 - 20,
            4..=6 => random.below(5) as i32 - 2,
            // Eighths, whose sums and products are often exact and equal.
            _ => return Value::Float(nearest((random.below(801) as f64 - 400.0) / 8.0, of)),
        };
        let fraction = 1.0 + random.next() as f64 / 2.0_f64.powi(64);
        let sign = if random.chance(50) { 1.0 } else { -1.0 };
        let x = nearest(sign * fraction * 2.0_f64.powi(power), of);
        // Subnormal operands may be flushed.
        if x == 0.0 || x.abs() >= least(of) {
            return Value::Float(x);
        }
    }
}
