//! The lines of a kernel's text that belong to each operand.

use crate::plan::{Kernel, Origin};

/// Prefixes of an operand's names, before its number: its words of the uniform block, its value, its loads, and their
/// addresses.
const OWN: [&str; 10] = ["x", "scalar", "v", "t", "w", "h", "at_v", "at_w", "w_v", "d_v"];

/// The lines, counted from 1, that name each operand: its binding, its words of the uniform block, its loads, and the
/// steps that read it. The text has three parts. The second, the prelude's functions, knows no operands.
pub(super) fn of_operands(kernel: &Kernel, [head, functions, main]: [&str; 3]) -> Vec<Vec<usize>> {
    let before = head.lines().count() + functions.lines().count();
    let lines: Vec<_> = (1..).zip(head.lines()).chain((before + 1..).zip(main.lines())).collect();
    let of = |operand| {
        let own = lines.iter().filter(|(_, line)| is_named(kernel, operand, line));
        own.map(|&(number, _)| number).collect()
    };
    (0..kernel.code.operands.len()).map(of).collect()
}

fn is_named(kernel: &Kernel, operand: usize, line: &str) -> bool {
    let binding = match kernel.code.operands[operand].origin {
        Origin::Binding(binding) => Some(format!("in{binding}")),
        _ => None,
    };
    let number = operand.to_string();
    let is_own = |word: &str| {
        let rests = OWN.iter().filter_map(|start| word.strip_prefix(start));
        rests.into_iter().any(|rest| rest.split('_').next() == Some(&*number))
    };
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| binding.as_deref() == Some(word) || is_own(word))
}
