//! Elementwise kernels, in straight lines: coordinates, loads, steps, stores. Four lanes at a time, and for several
//! vectors of an invocation all loads before all stores. `shaders/elementwise.wgsl` is a commented instance.

use super::emitter::Emitter;
use super::text::{EACH, line, result};
use super::types::{encode, join, pack, packed, select, splat, two, unpack};
use crate::dtype::DType;
use crate::error::Result;
use crate::ir::{Body, ByValue, Op, Step, Value, numbered};
use crate::plan::{Access, Elements, Form, LANES, Operand, Origin, Role, Store, VectorAxis, Walk};

/// The least columns of a workgroup, all powers of two, that fill the lanes of every known driver.
const NARROW: u32 = 16;

impl Emitter<'_> {
    /// A kernel that stores the elements of its program.
    pub(super) fn elements(&mut self, own: &Elements) -> Result<()> {
        self.head();
        self.coordinates(own);
        self.values_of(self.code.operands.len())?;
        self.stores();
        line!(self.text, "}}");
        Ok(())
    }

    /// Loads of the first operands, then steps: first the values that all vectors share.
    pub(super) fn values_of(&mut self, operands: usize) -> Result<()> {
        self.loads(|operand| operand < operands)?;
        self.zeros();
        self.steps(|_| true)
    }

    /// Loads of the operands that are wanted.
    pub(super) fn loads(&mut self, is_wanted: impl Fn(usize) -> bool) -> Result<()> {
        let code = self.code;
        let wanted = || code.operands.iter().enumerate().filter(|&(i, _)| is_wanted(i));
        for (i, operand) in wanted().filter(|(_, operand)| operand.access.serves_rows()) {
            self.load_rows(i, operand);
        }
        for (i, operand) in wanted() {
            if matches!(operand.access, Access::Near { leader, .. } if usize::from(leader) == i) {
                self.near_rows(i, operand);
            }
        }
        let (shared, own): (Vec<_>, Vec<_>) =
            wanted().partition(|&(i, _)| self.shared[Value::Input(i as u32)]);
        for (i, operand) in shared {
            self.load(i, operand, 0)?;
        }
        for vector in 0..self.vectors {
            own.iter().try_for_each(|&(i, operand)| self.load(i, operand, vector))?;
        }
        Ok(())
    }

    /// Steps of the values that are wanted.
    pub(super) fn steps(&mut self, is_wanted: impl Fn(Value) -> bool) -> Result<()> {
        let code = self.code;
        let steps = numbered(&code.steps).filter(|&(value, _)| is_wanted(value));
        let (shared, own): (Vec<_>, Vec<_>) = steps.partition(|&(value, _)| self.shared[value]);
        for (value, step) in shared {
            let (name, text) = (self.value(value, 0), self.step(value, step, 0)?);
            line!(self.text, "    let {name} = {text};");
        }
        for vector in 0..self.vectors {
            for &(value, step) in &own {
                let (name, text) = (self.value(value, vector), self.step(value, step, vector)?);
                line!(self.text, "    let {name} = {text};");
            }
        }
        Ok(())
    }

    /// The lines that fences need.
    pub(super) fn zeros(&mut self) {
        self.lines(self.fences.zeros(&self.code.steps));
    }

    /// Stores the results of all vectors.
    fn stores(&mut self) {
        let code = self.code;
        if code.joined() > 1 {
            (0..code.results.len()).for_each(|i| self.store_joined(i));
            return;
        }
        for vector in 0..self.vectors {
            (0..code.results.len()).for_each(|i| self.store(i, vector));
        }
    }

    /// The entry point, and `id`, the invocation's place in the grid. The text rearranges a workgroup of few columns:
    /// drivers that run neighbours along x side by side would leave lanes idle.
    fn head(&mut self) {
        let [x, y] = self.kernel.workgroup;
        if x >= NARROW || y == 1 {
            line!(self.text, "@compute @workgroup_size({x}, {y})");
            line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>) {{");
            return;
        }
        let (column, row) = (format!("local & {}u", x - 1), format!("local >> {}u", x.ilog2()));
        line!(self.text, "@compute @workgroup_size({})", x * y);
        let group = "@builtin(workgroup_id) group: vec3<u32>";
        line!(self.text, "fn main({group}, @builtin(local_invocation_index) local: u32) {{");
        let (x, y) = (format!("group.x * {x}u + ({column})"), format!("group.y * {y}u + ({row})"));
        line!(self.text, "    let id = vec3<u32>({x}, {y}, group.z);");
    }

    /// The expression of a step, after the lines that it needs.
    pub(super) fn step(&mut self, value: Value, step: &Step, vector: u32) -> Result<String> {
        if step.op == Op::Lookup {
            return self.lookup(value, step, vector);
        }
        let arg = |i: usize| {
            let value = step.args[i];
            match value.input() {
                // For a table a loop takes addresses.
                Some(i) if !self.code.operands[i].computed.is_empty() => {
                    format!("vec4<u32>({})", self.addresses(Role::In(i), vector))
                }
                _ => self.fences.operand(step, i, self.value(value, vector)),
            }
        };
        if step.op == Op::Random && self.is_place_of_vector(step.args[0]) {
            return Ok(self.bodies.random_block(&arg(0), [&arg(1), &arg(2)]));
        }
        let mut args: Vec<String> = (0..step.args.len()).map(arg).collect();
        if step.body.as_ref().is_some_and(Body::ends_by_values)
            && let Some(exist) = self.lanes_that_exist(value)
        {
            // Memory past the end may keep a loop from ending, so missing lanes repeat an existing one.
            let missing = self.of_missing_lanes();
            let missing: Vec<usize> = (0..args.len()).filter(|&i| missing[step.args[i]]).collect();
            let number = self.number(value);
            if !missing.is_empty() {
                line!(self.text, "    let exist{number} = {exist};");
            }
            for i in missing {
                let (own, dtype) = (format!("e{number}_{i}"), self.code.value_type(step.args[i]));
                line!(self.text, "    let {own} = {};", args[i]);
                let one = ["z", "y", "x"].iter().fold(format!("{own}.w"), |rest, c| {
                    format!("select({rest}, {own}.{c}, exist{number}.{c})")
                });
                args[i] = select(dtype, &splat(dtype, &one), &own, &format!("exist{number}"));
            }
        }
        let text = self.bodies.expression(step, |i| args[i].clone(), &Value::input);
        Ok(self.fences.result(value, step.result, text))
    }

    /// Which lanes of a vector exist, if some may not.
    fn lanes_that_exist(&self, value: Value) -> Option<String> {
        let code = self.code;
        let inner = || format!("first + {EACH} < vec4<u32>(p.len{})", code.rank - 1);
        match (&self.kernel.form, code.walk) {
            (_, Walk::Anywhere) => None,
            // All lanes of a row exist, or none.
            (Form::Reduce(reduce), _)
                if reduce.of_row[value] && reduce.vector_axis == VectorAxis::Reduced =>
            {
                None
            }
            // Rows of whole vectors.
            (Form::Elements(_), Walk::Rows) if code.store == Store::Vector => None,
            (_, Walk::Rows) => Some(inner()),
            (_, Walk::Words { .. }) => Some("member".into()),
            (_, Walk::Flat | Walk::Bands) => Some(format!("i * {LANES}u + {EACH} < vec4<u32>(p.count)")),
        }
    }

    /// Which values depend on loads of lanes that may not exist. Loads by coordinates repeat an existing lane.
    fn of_missing_lanes(&self) -> ByValue<bool> {
        let is_by_vectors = |operand: &Operand| {
            let by_coordinates = matches!(operand.access, Access::Splat | Access::Strided | Access::Lookup);
            !by_coordinates && !matches!(operand.origin, Origin::Row(_))
        };
        let operands = self.code.operands.iter().map(is_by_vectors);
        ByValue::of(operands, &self.code.steps, |step, missing| step.args.iter().any(|&arg| missing[arg]))
    }

    /// Whether the lanes of a value are four neighbouring places, the first of which is a multiple of four.
    fn is_place_of_vector(&self, value: Value) -> bool {
        match value {
            Value::Input(i) => {
                let operand = &self.code.operands[i as usize];
                (operand.origin, operand.access) == (Origin::Index, Access::Vector)
            }
            Value::Step(i) => {
                let step = &self.code.steps[i as usize];
                step.op == Op::Cast && step.result == DType::U32 && self.is_place_of_vector(step.args[0])
            }
        }
    }

    /// The stored form of a result, as [`pack`] takes it.
    fn raw(&mut self, i: usize, vector: u32) -> String {
        let dtype = self.code.value_type(self.code.results[i]);
        let value = self.value(self.code.results[i], vector);
        if packed(dtype).is_none() {
            return value;
        }
        let number = if i == 0 { String::new() } else { format!("{i}_") };
        let raw = format!("raw{number}{}", self.suffix(vector));
        line!(self.text, "    let {raw} = {};", encode(dtype, &value));
        raw
    }

    /// Stores a result of all vectors at once.
    fn store_joined(&mut self, i: usize) {
        let dtype = self.code.value_type(self.code.results[i]);
        let parts: Vec<String> = (0..self.vectors).map(|vector| pack(dtype, self.raw(i, vector))).collect();
        let at = self.vector(Role::Out, 0);
        line!(self.text, "    {}[{at}] = {};", result(i), join(dtype, &parts));
    }

    /// Stores each lane of a vector from place `first` on that lies before an end, as the first one does.
    pub(super) fn store_each(&mut self, [array, at, value]: [&str; 3], [first, end]: [&str; 2]) {
        line!(self.text, "    {array}[{at}.x] = {value}.x;");
        for (k, c) in (1..).zip("yzw".chars()) {
            line!(self.text, "    if ({first} + {k}u < {end}) {{ {array}[{at}.{c}] = {value}.{c}; }}");
        }
    }

    fn store(&mut self, i: usize, vector: u32) {
        let dtype = self.code.value_type(self.code.results[i]);
        let result = result(i);
        let mut value = self.raw(i, vector);
        if self.code.store == Store::Pairs {
            let at = format!("at{}", self.suffix(vector));
            if i == 0 {
                let base = self.base(Role::Out, vector, Some("id.x * 2u".into()));
                line!(self.text, "    let {at} = {base};");
            }
            line!(self.text, "    {result}[{at}] = {};", two(dtype, &value, "xy"));
            let exists = format!("first + 2u < p.len{}", self.code.rank - 1);
            let next = two(dtype, &value, "zw");
            line!(self.text, "    if ({exists}) {{ {result}[{at} + 1u] = {next}; }}");
            return;
        }
        if self.code.store != Store::Lanes {
            let word = format!("{result}[{}]", self.vector(Role::Out, vector));
            if self.code.store == Store::Words {
                value = format!("select({}, {value}, member)", unpack(dtype, word.clone()));
            }
            let value = pack(dtype, value);
            line!(self.text, "    {word} = {value};");
            return;
        }
        let at = format!("at{}", self.suffix(vector));
        if i == 0 {
            line!(self.text, "    let {at} = {};", self.addresses(Role::Out, vector));
        }
        let (first, end) = match self.code.walk {
            Walk::Rows => ("first".to_string(), format!("p.len{}", self.code.rank - 1)),
            _ => (format!("i{} * {LANES}u", self.suffix(vector)), "p.count".to_string()),
        };
        self.store_each([&result, &at, &value], [&first, &end]);
    }
}
