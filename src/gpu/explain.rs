//! Explanations: the kernels that would run, in words.

use std::fmt::Write;

use super::device::Gpu;
use super::drivers::SOFTWARE;
use super::execute::lowered;
use crate::error::Result;
use crate::ir::{Destination, Explanation, Schedule, Stage};
use crate::lower::{Commands, Note};
use crate::wgsl;

/// The kernels that would run for each stage of a schedule, and the text of its first kernel.
pub(super) fn explain(gpu: &Gpu, schedule: &Schedule) -> Result<Vec<Explanation>> {
    let (commands, _) = lowered(gpu, schedule.clone(), Destination::New)?;
    let mut all = (schedule.all().zip(&commands.notes))
        .map(|(own, note)| stage(own, note, &commands))
        .collect::<Result<Vec<_>>>()?;
    if let Some(last) = all.last_mut().filter(|_| gpu.is_software()) {
        let _ = writeln!(last.text, "on: {SOFTWARE}");
    }
    Ok(all)
}

fn stage(stage: &Stage, note: &Note, commands: &Commands) -> Result<Explanation> {
    let program = match stage {
        Stage::One(program) => program,
        Stage::Join(join) => return Ok(Explanation::of_parts(join.parts.len())),
    };
    let dispatches = &commands.dispatches[note.first..note.end];
    let Some(first) = dispatches.first().map(|dispatch| &dispatch.plan) else {
        return Ok(Explanation {
            text: "runs: nothing, the result is empty\n".into(),
            ..Explanation::default()
        });
    };
    let emitted = wgsl::emit(&first.kernel)?;
    let (text, wgsl) = (first.to_string(), Some(emitted.text()));
    let mut explanation = Explanation { text, wgsl, ..Explanation::default() };
    // Otherwise it copies one of the operands.
    if first.description.is_some() || first.kernel.code.operands.len() == program.inputs.len() {
        (explanation.lines, explanation.accesses) = (emitted.lines(&first.kernel), first.accesses());
    }
    if !program.is_map() {
        let add = |all: usize, moved: u64| all.saturating_add(moved as usize);
        explanation.moved = Some(dispatches.iter().map(|dispatch| dispatch.plan.moved).fold(0, add));
    }
    let passes =
        dispatches.iter().filter_map(|own| Some((own.plan.description.as_ref()?, own.plan.launch.groups)));
    for (number, (description, [x, y, z])) in passes.take(note.passes).enumerate() {
        let _ = writeln!(explanation.text, "pass {}: {description}; workgroups {x} x {y} x {z}", number + 1);
    }
    if note.tables {
        explanation.text.push_str("before: lookups in tables larger than a binding, which are not counted\n");
    }
    let steps = first.kernel.code.steps.len();
    let runs = match (note.parts, dispatches.len()) {
        (_, 1) if program.is_map() => format!("1 kernel of {steps} steps"),
        (_, kernels) if program.is_map() => format!(
            "{kernels} kernels of {steps} steps, the first as above, each for a part of the result: a storage is larger than a binding (max_storage_buffer_binding_size), or one would take too long"
        ),
        (1, 1) => "1 kernel, as above".to_string(),
        (1, kernels) => {
            if kernels > note.passes {
                let _ = writeln!(explanation.text, "then: a cast to {}", program.dtype);
            }
            format!("{kernels} kernels, the first as above")
        }
        (parts, kernels) => format!(
            "{kernels} kernels over {parts} parts, the first as above: what is read or stored is larger than a binding (max_storage_buffer_binding_size), or one would take too long"
        ),
    };
    let _ = writeln!(explanation.text, "runs: {runs}");
    Ok(explanation)
}
