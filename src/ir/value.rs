//! Values of a program, or of an iteration of a loop, and lists by value.

use std::ops::{Index, IndexMut};

/// A value of a program, or of a turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    /// An input, or an argument of the loop.
    Input(u32),
    /// The result of a step.
    Step(u32),
}

impl Value {
    /// The number of the input that it is, if it is one.
    pub(crate) fn input(self) -> Option<usize> {
        if let Value::Input(i) = self { Some(i as usize) } else { None }
    }

    /// The number of its step, if it is a step's.
    pub(crate) fn step(self) -> Option<usize> {
        if let Value::Step(i) = self { Some(i as usize) } else { None }
    }
}

/// A list with one item for each value. Inputs' items are collected, and steps' items are pushed after them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ByValue<T> {
    all: Vec<T>,
    inputs: usize,
}

impl<T> ByValue<T> {
    /// The list with inputs' items, and for each step the item that `step` makes of the earlier ones.
    pub(crate) fn of<S>(
        inputs: impl Iterator<Item = T>,
        steps: &[S],
        mut each: impl FnMut(&S, &ByValue<T>) -> T,
    ) -> ByValue<T> {
        let mut all = Vec::with_capacity(inputs.size_hint().0 + steps.len());
        all.extend(inputs);
        let mut values = ByValue { inputs: all.len(), all };
        for step in steps {
            values.push(each(step, &values));
        }
        values
    }

    /// Adds the item of the next step. Returns its value.
    pub(crate) fn push(&mut self, of_step: T) -> Value {
        self.all.push(of_step);
        Value::Step((self.all.len() - self.inputs) as u32 - 1)
    }

    /// A list of one item for each value.
    pub(crate) fn each<U: Clone>(&self, item: U) -> ByValue<U> {
        ByValue { all: vec![item; self.all.len()], inputs: self.inputs }
    }

    /// A list of items made from these.
    pub(crate) fn map<U>(&self, mut of: impl FnMut(Value, &T) -> U) -> ByValue<U> {
        let all = self.values().zip(&self.all).map(|(value, own)| of(value, own)).collect();
        ByValue { all, inputs: self.inputs }
    }

    fn values(&self) -> impl Iterator<Item = Value> + use<T> {
        let (inputs, steps) = (self.inputs as u32, (self.all.len() - self.inputs) as u32);
        (0..inputs).map(Value::Input).chain((0..steps).map(Value::Step))
    }

    /// The number of a value among all.
    pub(crate) fn number(&self, value: Value) -> usize {
        match value {
            Value::Input(i) => i as usize,
            Value::Step(i) => self.inputs + i as usize,
        }
    }

    pub(crate) fn inputs(&self) -> &[T] {
        &self.all[..self.inputs]
    }

    pub(crate) fn inputs_mut(&mut self) -> &mut [T] {
        &mut self.all[..self.inputs]
    }
}

impl ByValue<bool> {
    /// Whether an item is true.
    pub(crate) fn any(&self) -> bool {
        self.all.contains(&true)
    }

    /// The values whose item is true.
    pub(crate) fn which(self) -> impl Iterator<Item = Value> {
        self.values().zip(self.all).filter(|(_, own)| *own).map(|(value, _)| value)
    }
}

impl<T> FromIterator<T> for ByValue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(inputs: I) -> Self {
        let all = Vec::from_iter(inputs);
        ByValue { inputs: all.len(), all }
    }
}

impl<T> Index<Value> for ByValue<T> {
    type Output = T;

    fn index(&self, value: Value) -> &T {
        &self.all[self.number(value)]
    }
}

impl<T> IndexMut<Value> for ByValue<T> {
    fn index_mut(&mut self, value: Value) -> &mut T {
        let number = self.number(value);
        &mut self.all[number]
    }
}
