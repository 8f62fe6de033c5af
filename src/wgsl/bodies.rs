//! Steps as expressions, and the functions that steps call: loops, and functions of users.

use super::fences::Fences;
use super::text::line;
use super::types::{cast, compute, lanes, narrow, rounded, select, spelled};
use super::{gather, workarounds};
use crate::ir::{Body, Loop, Op, Step, Value, needed, numbered};
use crate::plan::Kernel;

/// The functions that steps of a kernel call.
pub(super) struct Bodies<'a> {
    kernel: &'a Kernel,
    /// Each once, nested ones first, with the operands that it looks up.
    loops: Vec<(&'a Loop, Vec<usize>)>,
    /// The texts of users' functions, each once.
    written: Vec<&'a str>,
}

impl<'a> Bodies<'a> {
    pub(super) fn new(kernel: &'a Kernel) -> Self {
        let mut bodies = Bodies { kernel, loops: Vec::new(), written: Vec::new() };
        bodies.add(&kernel.code.steps, &Value::input);
        bodies
    }

    /// Adds the functions that some steps call. Values that are tables are operands of the kernel. Loops are nested
    /// only as deep as their builder allows.
    fn add(&mut self, steps: &'a [Step], operand: &dyn Fn(Value) -> Option<usize>) {
        for step in steps {
            match &step.body {
                Some(Body::Function(function)) => {
                    let text = function.written().map(|written| written.text.as_str());
                    let new = text.filter(|text| !self.written.contains(text));
                    self.written.extend(new);
                }
                Some(Body::Loop(own)) => {
                    let tables = tables(step, own, operand);
                    self.add(&own.steps, &|value| own.table(value).map(|table| tables[table]));
                    if !self.loops.iter().any(|known| *known == (&**own, tables.clone())) {
                        self.loops.push((own, tables));
                    }
                }
                Some(Body::State(_)) | None => {}
            }
        }
    }

    /// The four words of a block of random numbers, the first of which has the place `at`.
    pub(super) fn random_block(&self, at: &str, [low, high]: [&str; 2]) -> String {
        format!("random_block_{}(({at}).x >> 2u, ({low}).x, ({high}).x)", self.products())
    }

    /// The function of the products that random numbers are made of.
    fn products(&self) -> &'static str {
        let has_wide = !self.kernel.faults.longs;
        if has_wide { "wide" } else { "narrow" }
    }

    /// The expression of a step. For values that are tables, `operand` returns the operand.
    pub(super) fn expression(
        &self,
        step: &Step,
        arg: impl Fn(usize) -> String,
        operand: &dyn Fn(Value) -> Option<usize>,
    ) -> String {
        let args = || (0..step.args.len()).map(&arg).collect::<Vec<_>>().join(", ");
        match (&step.body, step.op) {
            (Some(Body::Function(function)), _) => {
                let name = function.written().map_or(function.name(), |written| &written.name);
                narrow(step.result, format!("{name}({})", args()))
            }
            (Some(Body::Loop(own)), _) => {
                let tables = tables(step, own, operand);
                let is_own = |known: &(&Loop, Vec<usize>)| *known == (&**own, tables.clone());
                let number = self.loops.iter().position(is_own).unwrap_or(0);
                format!("repeat{number}({})", args())
            }
            (Some(Body::State(state)), _) => format!("{}.s{state}", arg(0)),
            (None, Op::Select) => select(step.result, &arg(2), &arg(1), &arg(0)),
            (None, Op::Cast) => cast(step.dtype, step.result, &arg(0)),
            (None, Op::Random) => format!("random_bits_{}({})", self.products(), args()),
            (None, Op::Unit) => format!("unit_f32({})", arg(0)),
            (None, Op::Normal) => format!("normal_number_f32({})", arg(0)),
            (None, Op::Flush) => format!("flushed_{}({})", step.dtype.name(), arg(0)),
            (None, Op::Total) => format!("total_{}({})", step.dtype.name(), arg(0)),
            _ => {
                let form = workarounds::form(self.kernel, step);
                let width = format!("{}u", step.dtype.size() * 8);
                let mut value = spelled(step.dtype, form)
                    .replace("{T}", compute(step.dtype))
                    .replace("{D}", step.dtype.name())
                    .replace("{W}", &width);
                for (i, name) in ["{a}", "{b}", "{c}"].iter().enumerate().take(step.args.len()) {
                    value = value.replace(name, &arg(i));
                }
                rounded(step, value)
            }
        }
    }

    /// All functions.
    pub(super) fn functions(&self) -> String {
        let mut text = String::new();
        self.written.iter().for_each(|own| line!(text, "{}\n", own.trim()));
        for (number, (own, tables)) in self.loops.iter().enumerate() {
            self.repeat(&mut text, number, own, tables);
        }
        text
    }

    /// A loop, as a function of its final states. For a table it takes the addresses without computed indices.
    fn repeat(&self, text: &mut String, number: usize, own: &Loop, tables: &[usize]) {
        let fences = Fences::of_turn(own, self.kernel);
        let operand = |value: Value| own.table(value).map(|table| tables[table]);
        let types = own.args[..own.values()].iter().map(|&dtype| lanes(dtype));
        let types = types.chain(own.tables.iter().map(|_| "vec4<u32>".to_string()));
        let states = || 0..own.states;
        line!(text, "struct States{number} {{");
        states().zip(types.clone()).for_each(|(i, of)| line!(text, "    s{i}: {of},"));
        line!(text, "}}\n");
        let args = types.enumerate().map(|(i, of)| format!("a{i}: {of}"));
        let args: Vec<String> = std::iter::once("turns: vec4<u32>".to_string()).chain(args).collect();
        line!(text, "fn repeat{number}({}) -> States{number} {{", args.join(", "));
        fences.zeros(&own.steps).iter().for_each(|zero| line!(text, "    {zero}"));
        states().for_each(|i| line!(text, "    var s{i} = a{i};"));
        let name = |value: Value| match value {
            Value::Input(i) if (i as usize) < own.states => format!("s{i}"),
            Value::Input(i) => format!("a{i}"),
            Value::Step(i) => format!("v{}", own.args.len() + i as usize),
        };
        // First the condition. Other steps need not run if no element continues.
        let first = own.goes_on.map(|goes_on| needed(own.args.len(), &own.steps, [goes_on], |_| false));
        let is_first = |value: Value| first.as_ref().is_some_and(|first| first[value]);
        let steps = || numbered(&own.steps);
        let write = |text: &mut String, (value, step): (Value, &Step)| {
            let arg = |i: usize| fences.operand(step, i, name(step.args[i]));
            let made = match (step.op, step.args.split_first()) {
                (Op::Lookup, Some((&table, indices))) => {
                    let at = format!("at_{}", name(value));
                    let (walk, indices) = ((name(table), &*at), indices.iter().map(|&index| name(index)));
                    let table = operand(table).unwrap_or(0);
                    let operand = &self.kernel.code.operands[table];
                    let (address, found) = gather::by_lanes(table, operand, walk, indices);
                    line!(text, "        let {at} = {address};");
                    found
                }
                _ => fences.result(value, step.result, self.expression(step, arg, &operand)),
            };
            line!(text, "        let {} = {made};", name(value));
        };
        // Ended lanes keep their states, and their condition.
        line!(text, "    for (var turn = 0u; turn < turns.x; turn++) {{");
        steps().filter(|&(value, _)| is_first(value)).for_each(|step| write(text, step));
        if let Some(goes_on) = own.goes_on {
            line!(text, "        let open = {};", name(goes_on));
            line!(text, "        if (!any(open)) {{ break; }}");
        }
        steps().filter(|&(value, _)| !is_first(value)).for_each(|step| write(text, step));
        let changed = || (0..).zip(&own.next).filter(|&(i, &next)| next != Value::Input(i));
        for (i, &next) in changed() {
            let next = name(next);
            match own.goes_on {
                Some(_) => {
                    let chosen = select(own.args[i as usize], &format!("s{i}"), &next, "open");
                    line!(text, "        let n{i} = {chosen};");
                }
                None => line!(text, "        let n{i} = {next};"),
            }
        }
        changed().for_each(|(i, _)| line!(text, "        s{i} = n{i};"));
        line!(text, "    }}");
        let all: Vec<String> = states().map(|i| format!("s{i}")).collect();
        line!(text, "    return States{number}({});", all.join(", "));
        line!(text, "}}\n");
    }
}

/// The operands that a loop looks up, at its call by a step.
fn tables(step: &Step, own: &Loop, operand: &dyn Fn(Value) -> Option<usize>) -> Vec<usize> {
    // The first argument is the number of iterations.
    step.args.iter().skip(1 + own.values()).filter_map(|&value| operand(value)).collect()
}
