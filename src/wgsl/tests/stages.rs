//! DESIGN.md follows two expressions through every stage. This test checks that the stages print the blocks it shows.
//! `ZEROSTRIDE_BLESS=1 cargo test --lib stages` writes its blocks anew: each stands behind a comment with its name.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::golden::{BOUNDS, GPU, scheduled};
use crate::ir::{Destination, Schedule};
use crate::lower::{Commands, Cuts, lower};
use crate::wgsl::emit;
use crate::{AnyExpr, Device, Expr, Tensor};

fn zeros<const N: usize>(shape: [usize; N]) -> Tensor<f32> {
    Device::cpu().zeros(shape).unwrap()
}

fn commands(schedule: &Schedule) -> Commands {
    lower(schedule.clone(), Destination::New, GPU, Cuts::UNBOUND).unwrap().0
}

/// A schedule as stages, each with the steps of its program by number.
fn programs(schedule: &Schedule) -> String {
    let mut text = String::new();
    for (number, stage) in schedule.all().enumerate() {
        let program = stage.one().unwrap();
        let _ = write!(text, "stage {number}: {}", stage.describe(program.read_bytes()));
        text.truncate(text.rfind("moves: ").unwrap());
        let inputs = program.inputs.len();
        for (number, step) in program.steps.iter().enumerate() {
            let args: Vec<String> = step.args.iter().map(|arg| format!("{arg:?}")).collect();
            let _ = writeln!(text, "  Step({number}) = {}({})", step.name(), args.join(", "));
        }
        let _ = writeln!(text, "  results {:?} of {inputs} inputs", program.results);
    }
    text
}

fn list(commands: &Commands) -> String {
    let lines: Vec<String> = commands.list.iter().map(|command| format!("{command:?}\n")).collect();
    lines.concat()
}

/// The blocks of DESIGN.md by name.
fn blocks() -> Vec<(&'static str, String)> {
    let (x, mean, std) = (zeros([3, 512, 512]), zeros([3, 1, 1]), zeros([3, 1, 1]));
    let normalized: Expr<f32> = (&x - &mean) / &std;
    let any: &AnyExpr = normalized.untyped();
    let schedule = scheduled(any);
    let own = commands(&schedule);
    let plan = &own.dispatches[0].plan;
    let rows = zeros([4096, 1024]).softmax(1);
    let fused = scheduled(rows.untyped());
    let form = |commands: &Commands| commands.dispatches[0].plan.description.clone().unwrap() + "\n";
    let long = zeros([16, 100_000]).softmax(1);
    let node = long.untyped().node().unwrap();
    let several = Schedule::new(&[node], &node.shape, BOUNDS).unwrap();
    let titles = several.all().enumerate().map(|(number, stage)| {
        let text = stage.describe(0);
        format!("stage {number}: {}\n", text.lines().next().unwrap())
    });
    vec![
        ("graph", format!("{any:?}\n")),
        ("program", programs(&schedule)),
        ("plan", plan.to_string()),
        ("commands", list(&own)),
        ("text", emit(&plan.kernel).unwrap().text()),
        ("softmax", format!("{:?}\n{}", rows.untyped(), programs(&fused)) + &form(&commands(&fused))),
        ("long softmax", titles.collect::<String>()),
    ]
}

#[test]
fn design_shows_what_stages_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("DESIGN.md");
    let mut page = fs::read_to_string(&path).unwrap();
    for (name, text) in blocks() {
        let mark = format!("<!-- {name} -->\n```");
        let start =
            page.find(&mark).unwrap_or_else(|| panic!("DESIGN.md has no block {name:?}")) + mark.len();
        let start = start + page[start..].find('\n').unwrap() + 1;
        let end = start + page[start..].find("```\n").unwrap();
        if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
            page.replace_range(start..end, &text);
        } else {
            assert!(
                page[start..end] == text,
                "{name}: if the change is meant, run with ZEROSTRIDE_BLESS=1\n{text}"
            );
        }
    }
    if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
        fs::write(&path, page).unwrap();
    }
}
