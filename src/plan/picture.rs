//! Plans as pictures: each operand under the axes of the result, with stretched axes hatched, and the kernels that run.
//! A picture is SVG without a blank line, so that it may stand in Markdown.

use std::borrow::Cow;
use std::fmt::Write;

use super::explain::name;
use crate::ir::{Program, ProgramKind, Source, Stage};

/// The most cells of a grid's side. Longer sides are drawn with a gap.
const MOST_CELLS: usize = 6;

/// The side of a cell, and the distances of grids, columns of axes and lines of text, in pixels.
const CELL: usize = 14;
const MARGIN: usize = 16;
const AXIS: usize = 44;
const LINE: usize = 16;

/// The picture of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    title: String,
    /// Operands in order, and the result last.
    parts: Vec<Drawn>,
    /// The kernels that run, in lines of text.
    notes: Vec<String>,
}

/// An operand or the result.
#[derive(Clone, Debug)]
struct Drawn {
    name: String,
    about: String,
    axes: Vec<Axis>,
    is_result: bool,
}

/// An axis of a stage's shape.
#[derive(Clone, Copy, Debug)]
struct Axis {
    length: usize,
    stride: isize,
    along: Along,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Along {
    /// Every index has its own elements.
    Own,
    /// All indices read the same elements.
    Stretched,
    /// All indices are reduced to one element of the result.
    Reduced,
}

impl Panel {
    /// The picture of a stage, with the access of each operand if it is known, the kernels, and the bytes that move.
    pub(crate) fn new(stage: &Stage, accesses: &[&str], runs: &str, bytes: usize) -> Panel {
        let reduced = stage
            .one()
            .filter(|program| matches!(&program.kind, ProgramKind::Axis(kind, _) if kind.reduces()))
            .and_then(Program::frame);
        let is_reduced = |k: usize| reduced.as_ref().is_some_and(|frame| frame.axes.contains(&k));
        let shape = stage.one().map_or_else(|| stage.result_shape(), |program| Cow::Borrowed(&program.shape));
        let mut parts = Vec::new();
        for (i, input) in stage.one().iter().flat_map(|program| program.inputs.iter().enumerate()) {
            let about = match &input.source {
                Source::Scalar(_) | Source::Row(_) => continue,
                Source::Index(_) => "a coordinate, computed".to_string(),
                _ => accesses.get(i).map_or(String::new(), |access| access.to_string()),
            };
            let axis = |(&length, &stride): (&usize, &isize)| {
                let along = if stride == 0 && length != 1 { Along::Stretched } else { Along::Own };
                Axis { length, stride, along }
            };
            let axes = shape.iter().zip(input.layout.strides()).map(axis).collect();
            let name = format!("{}: {}", name(i), input.dtype);
            parts.push(Drawn { name, about, axes, is_result: false });
        }
        let mut strides: Vec<isize> = vec![0; shape.rank()];
        let mut next = 1;
        for k in (0..shape.rank()).rev().filter(|&k| !is_reduced(k)) {
            strides[k] = next;
            next *= shape[k] as isize;
        }
        let axis = |(k, &length): (usize, &usize)| {
            let along = if is_reduced(k) { Along::Reduced } else { Along::Own };
            Axis { length, stride: strides[k], along }
        };
        let axes = shape.iter().enumerate().map(axis).collect();
        let about = if reduced.is_some() { "the result, folded" } else { "the result" }.into();
        let name = format!("out: {}", stage.result_type(0));
        parts.push(Drawn { name, about, axes, is_result: true });
        let runs = runs.lines().filter(|line| line.starts_with("runs:")).map(str::to_string);
        let notes = runs.chain([format!("moves {bytes} bytes at least")]).collect();
        Panel { title: stage.title(), parts, notes }
    }

    fn width(&self) -> usize {
        let parts: usize = self.parts.iter().map(|part| part.width() + MARGIN).sum();
        let notes = self.notes.iter().map(|line| text_width(line)).max().unwrap_or(0);
        // A title is bold and larger.
        let title = text_width(&self.title) * 8 / 7;
        parts.max(notes + 2 * MARGIN).max(title) + MARGIN
    }

    /// The height of the highest grid.
    fn grid(&self) -> usize {
        let rows = self.parts.iter().map(|part| part.grid()[0].length.min(MOST_CELLS));
        rows.max().unwrap_or(0) * CELL
    }

    /// The height of an operand: its name, its grid, lengths, strides and access.
    fn part(&self) -> usize {
        LINE + self.grid() + LINE / 2 + 3 * LINE
    }

    fn height(&self) -> usize {
        LINE + MARGIN + self.part() + MARGIN + (self.notes.len() + 1) * LINE
    }

    fn draw(&self, svg: &mut String, top: usize) {
        let mut y = top + LINE;
        text(svg, MARGIN, y, "t", &self.title);
        y += MARGIN;
        let mut x = MARGIN;
        for part in &self.parts {
            part.draw(svg, x, y, self.grid());
            x += part.width() + MARGIN;
        }
        y += self.part() + MARGIN;
        let height = self.notes.len() * LINE + LINE / 2;
        let width = self.width() - 2 * MARGIN;
        rect(svg, "k", [MARGIN, y, width, height], " rx=\"4\"");
        for note in &self.notes {
            y += LINE;
            text(svg, MARGIN + MARGIN / 2, y, "s", note);
        }
    }
}

impl Drawn {
    /// The sides of the grid: the lengths of the last two axes.
    fn grid(&self) -> [Axis; 2] {
        let one = Axis { length: 1, stride: 0, along: Along::Own };
        let mut last = self.axes.iter().rev().copied();
        let inner = last.next().unwrap_or(one);
        [last.next().unwrap_or(one), inner]
    }

    fn width(&self) -> usize {
        let [_, inner] = self.grid();
        let grid = inner.length.min(MOST_CELLS) * CELL;
        grid.max(self.axes.len() * AXIS)
            .max(text_width(&self.name))
            .max(text_width(&self.about))
            .max(4 * CELL)
    }

    fn draw(&self, svg: &mut String, x: usize, top: usize, grid: usize) {
        text(svg, x, top + LINE - 4, "b", &self.name);
        let [rows, columns] = self.grid();
        let top = top + LINE;
        for row in 0..rows.length.min(MOST_CELLS) {
            for column in 0..columns.length.min(MOST_CELLS) {
                let is_gap = |axis: Axis, i: usize| axis.length > MOST_CELLS && i == MOST_CELLS - 2;
                // Cells beside the first, which repeat or are reduced.
                let is =
                    |along: Along| (rows.along == along && row > 0) || (columns.along == along && column > 0);
                let class = match () {
                    _ if is_gap(rows, row) || is_gap(columns, column) => continue,
                    _ if is(Along::Stretched) => "h",
                    _ if is(Along::Reduced) => "f",
                    _ if self.is_result => "r",
                    _ => "o",
                };
                rect(svg, class, [x + column * CELL, top + row * CELL, CELL - 1, CELL - 1], "");
            }
        }
        // The axes, each a column: its length, and below it the stride.
        let y = top + grid + LINE;
        for (k, axis) in self.axes.iter().enumerate() {
            let x = x + k * AXIS;
            let (class, length) = match axis.along {
                Along::Own if self.is_result => ("r", axis.length.to_string()),
                Along::Own => ("o", axis.length.to_string()),
                Along::Stretched => ("h", format!("1\u{2192}{}", axis.length)),
                Along::Reduced => ("f", format!("{}\u{2192}1", axis.length)),
            };
            rect(svg, &format!("{class} a"), [x, y - 12, AXIS - 2, LINE], "");
            text(svg, x + 4, y, "s", &length);
            text(svg, x + 4, y + LINE, "s", &format!("\u{d7}{}", axis.stride));
        }
        if self.axes.is_empty() {
            text(svg, x, y, "s", "one element");
        }
        text(svg, x, y + 2 * LINE, "s", &self.about);
    }
}

/// The approximate width of a line of text: seven pixels a character.
fn text_width(line: &str) -> usize {
    line.chars().count() * 7
}

fn rect(svg: &mut String, class: &str, [x, y, width, height]: [usize; 4], more: &str) {
    let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"");
    let _ = writeln!(svg, "<rect class=\"{class}\" {place}{more}/>");
}

fn text(svg: &mut String, x: usize, y: usize, class: &str, line: &str) {
    let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{escaped}</text>");
}

/// The legend of the patterns.
const LEGEND: &str = "below: length and stride; hatched: stretched, read again; dotted: folded";

/// Draws stages, each above its readers.
pub(crate) fn svg(panels: &[Panel]) -> String {
    const GAP: usize = 28;
    let width = panels.iter().map(Panel::width).max().unwrap_or(0).max(text_width(LEGEND) + 2 * MARGIN);
    let height: usize = panels.iter().map(|panel| panel.height() + GAP).sum::<usize>() + LINE;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"zs\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    svg += include_str!("picture.svg");
    let _ = writeln!(svg, "<rect class=\"p\" width=\"{width}\" height=\"{height}\"/>");
    let mut top = 4;
    for (i, panel) in panels.iter().enumerate() {
        if i > 0 {
            text(&mut svg, MARGIN, top - 4, "s", "\u{2193} stored, and read by what follows");
            top += LINE;
        }
        panel.draw(&mut svg, top);
        top += panel.height() + GAP - LINE;
    }
    text(&mut svg, MARGIN, top + 2, "s", LEGEND);
    svg += "</svg>\n";
    svg
}
