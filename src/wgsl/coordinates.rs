//! The coordinates of a kernel's lanes, by walk.

use std::fmt::Write;

use super::emitter::Emitter;
use super::text::{EACH, line};
use crate::plan::{Elements, LANES, Reduce, Scan, VectorAxis, Walk};

/// A coordinate that is divided out of an index: its name, its divisor, and the divisor's constants.
pub(super) struct Coordinate {
    name: String,
    length: String,
    divider: String,
    /// Whether the length may be 1, whose divisor has no factor.
    may_be_one: bool,
}

impl Coordinate {
    pub(super) fn of(name: &str, number: &str) -> Coordinate {
        let divider = format!("p.{number}_factor, p.{number}_shift");
        Coordinate { name: name.into(), length: format!("p.{number}"), divider, may_be_one: true }
    }

    pub(super) fn axis(axis: usize) -> Coordinate {
        let divider = format!("p.factor{axis}, p.shift{axis}");
        Coordinate { name: format!("c{axis}"), length: format!("p.len{axis}"), divider, may_be_one: false }
    }

    /// The same by another name.
    pub(super) fn called(self, name: String) -> Coordinate {
        Coordinate { name, ..self }
    }
}

/// The lines that divide coordinates out of an index, the innermost first. The last takes the rest.
pub(super) fn divided(index: &str, is_vector: bool, mut places: Vec<Coordinate>) -> Vec<String> {
    let (mut rest, last) = (index.to_string(), places.pop());
    let mut lines = Vec::new();
    for Coordinate { name, length, divider, may_be_one } in places {
        let quotient = match (may_be_one, is_vector) {
            (true, _) => "share",
            (false, true) => "quotients",
            (false, false) => "quotient",
        };
        lines.push(format!("let q_{name} = {quotient}({rest}, {divider});"));
        lines.push(format!("let {name} = {rest} - q_{name} * {length};"));
        rest = format!("q_{name}");
    }
    lines.extend(last.map(|Coordinate { name, .. }| format!("let {name} = {rest};")));
    lines
}

impl Emitter<'_> {
    pub(super) fn coordinates(&mut self, own: &Elements) {
        match self.code.walk {
            Walk::Flat => self.flat_coordinates(own.carries),
            Walk::Bands => self.band_coordinates(),
            Walk::Rows => self.row_coordinates(),
            Walk::Words { outer } => self.word_coordinates(outer),
            // The functions of a reduction have them as parameters.
            Walk::Anywhere => {}
        }
    }

    /// `i`, the number of each vector; and, if an address follows the axes, the coordinates `c0`, `c1`, ... of each
    /// lane.
    fn flat_coordinates(&mut self, carries: bool) {
        let code = self.code;
        let first = self.suffix(0);
        line!(self.text, "    let i{first} = (id.y * p.pitch + id.x);");
        line!(self.text, "    if (i{first} >= p.vectors) {{ return; }}");
        if code.needs_coordinates() {
            if carries {
                return self.carry();
            }
            // Lanes past the end repeat the last element, so that every address exists.
            let lane = format!("i * {LANES}u + vec4<u32>(0u, 1u, 2u, 3u)");
            line!(self.text, "    let lane = min({lane}, vec4<u32>(p.count - 1u));");
            self.divide("lane", code.rank);
        }
    }

    /// The coordinates of lanes, by division, on the axes before `end` that an address follows.
    fn divide(&mut self, index: &str, end: usize) {
        let (outermost, mut rest) = (self.code.outermost(), index.to_string());
        for axis in (outermost.max(1)..end).rev() {
            let quotients = format!("quotients({rest}, p.factor{axis}, p.shift{axis})");
            line!(self.text, "    let q{axis} = {quotients};");
            if self.code.follows(axis) {
                line!(self.text, "    let c{axis} = {rest} - q{axis} * p.len{axis};");
            }
            rest = format!("q{axis}");
        }
        if outermost == 0 {
            line!(self.text, "    let c0 = {rest};");
        }
    }

    /// `i` as along a flat walk. The coordinate along a row is the same in all bands.
    fn band_coordinates(&mut self) {
        let code = self.code;
        let inner = code.rank - 1;
        line!(self.text, "    let band = (id.z * p.pitch + id.y);");
        line!(self.text, "    let i = band * p.band_vectors + id.x;");
        line!(self.text, "    if ((id.x >= p.band_vectors) | (i >= p.vectors)) {{ return; }}");
        if !code.needs_coordinates() {
            return;
        }
        // At most four rows begin in a band.
        let begun = |row: u32| {
            let rows = if row == 1 { String::new() } else { format!(" * {row}u") };
            format!("select(vec4<u32>(0u), vec4<u32>(1u), at >= vec4<u32>(p.len{inner}{rows}))")
        };
        line!(self.text, "    let at = id.x * {LANES}u + vec4<u32>(0u, 1u, 2u, 3u);");
        line!(self.text, "    let r = {};", [1, 2, 3].map(begun).join("\n        + "));
        line!(self.text, "    let c{inner} = at - r * p.len{inner};");
        if code.outermost() < inner {
            // Lanes past the end stay in the last row.
            line!(self.text, "    let row = min(band * p.band_rows + r, vec4<u32>(p.rows - 1u));");
            self.divide("row", inner);
        }
    }

    /// The coordinates of lane 0 by division, and those of the other lanes by a carry.
    fn carry(&mut self) {
        let inner = self.code.rank - 1;
        let outermost = self.code.outermost();
        let mut rest = format!("(i * {LANES}u)");
        for axis in (outermost.max(1)..=inner).rev() {
            line!(self.text, "    let q{axis} = quotient({rest}, p.factor{axis}, p.shift{axis});");
            line!(self.text, "    let b{axis} = {rest} - q{axis} * p.len{axis};");
            rest = format!("q{axis}");
        }
        let mut next = "vec4<u32>(0u, 1u, 2u, 3u)".to_string();
        for axis in (outermost.max(1)..=inner).rev() {
            let length = format!("vec4<u32>(p.len{axis})");
            line!(self.text, "    let t{axis} = b{axis} + {next};");
            if self.code.follows(axis) {
                // One of both is the coordinate. The other is negative, or too large.
                line!(self.text, "    let c{axis} = min(t{axis}, t{axis} - {length});");
            }
            next = format!("select(vec4<u32>(0u), vec4<u32>(1u), t{axis} >= {length})");
        }
        if outermost > 0 {
            return;
        }
        // Lanes past the end keep the last index.
        line!(self.text, "    let c0 = min({rest} + {next}, vec4<u32>(p.len0 - 1u));");
    }

    /// `first` on the innermost axis is the element of lane 0, in vector `id.x`. The other coordinates are scalars.
    fn row_coordinates(&mut self) {
        let code = self.code;
        let inner = code.rank - 1;
        let rows = inner - 1;
        // The meaning of the z coordinate.
        let row = if code.rank == 2 { "id.z * p.pitch + id.y" } else { "id.y" };
        let first = self.suffix(0);
        line!(self.text, "    let first = id.x * {}u;", LANES as u32 * code.joined());
        match self.rows() {
            1 => line!(self.text, "    let c{rows}{first} = {row};"),
            step if row == "id.y" => line!(self.text, "    let c{rows}{first} = id.y * {step}u;"),
            step => line!(self.text, "    let c{rows}{first} = ({row}) * {step}u;"),
        }
        line!(self.text, "    if ((first >= p.len{inner}) | (c{rows}{first} >= p.len{rows})) {{ return; }}");
        // An invocation that has several rows has all of them, so the minimum changes none.
        for vector in 1..self.rows() {
            let own = self.suffix(vector);
            line!(self.text, "    let c{rows}{own} = min(c{rows}{first} + {vector}u, p.len{rows} - 1u);");
        }
        // Outer coordinates, by division from rank 4 on.
        self.lines(divided("id.z", false, (0..rows).rev().map(Coordinate::axis).collect()));
        if code.needs_coordinates() {
            let lane = "first + vec4<u32>(0u, 1u, 2u, 3u)";
            line!(self.text, "    let lane = min({lane}, vec4<u32>(p.len{inner} - 1u));");
        }
    }

    /// From the address of each lane: its coordinates, and whether it is a `member` of the destination. `first` is the
    /// address of lane 0.
    fn word_coordinates(&mut self, outer: usize) {
        let text = &mut *self.text;
        line!(text, "    let slot = id.y * p.pitch + id.x;");
        line!(text, "    if (slot >= p.count) {{ return; }}");
        line!(text, "    let row = slot / p.slots;");
        let mut base = "p.out_offset".to_string();
        let mut rest = "row".to_string();
        for axis in (0..outer).rev() {
            match axis {
                0 => line!(text, "    let c0 = vec4<u32>({rest});"),
                _ => {
                    line!(text, "    let q{axis} = {rest} / p.len{axis};");
                    line!(text, "    let c{axis} = vec4<u32>({rest} - q{axis} * p.len{axis});");
                }
            }
            rest = format!("q{axis}");
            let _ = write!(base, " + c{axis}.x * p.out_stride{axis}");
        }
        line!(text, "    let base = {base};");
        line!(text, "    let first = (base & ~3u) + (slot - row * p.slots) * {LANES}u;");
        // A lane before the base wraps around, beyond every length.
        line!(text, "    let r{outer} = first + vec4<u32>(0u, 1u, 2u, 3u) - base;");
        let mut member = String::new();
        for axis in outer..self.code.rank {
            let next = axis + 1;
            line!(text, "    let q{axis} = r{axis} / p.out_stride{axis};");
            line!(text, "    let c{axis} = min(q{axis}, vec4<u32>(p.len{axis} - 1u));");
            line!(text, "    let r{next} = r{axis} - q{axis} * p.out_stride{axis};");
            let _ = write!(member, "(q{axis} < vec4<u32>(p.len{axis})) & ");
        }
        line!(text, "    let member = {member}(r{} == vec4<u32>(0u));", self.code.rank);
        // Words without a member may belong to another invocation.
        line!(text, "    if (!any(member)) {{ return; }}");
    }

    /// The coordinates of a row, as parameters or arguments.
    pub(super) fn places_of_row(&self, reduce: &Reduce) -> Vec<String> {
        let is_lane = |axis: usize| reduce.vector_axis == VectorAxis::Kept && axis + 1 == self.code.rank;
        let kept = (0..self.code.rank).filter(|&axis| reduce.keeps(axis));
        kept.map(|axis| if is_lane(axis) { "x".to_string() } else { format!("c{axis}") }).collect()
    }

    /// The coordinates of the elements at a place of the row.
    pub(super) fn elements_of_row(&mut self, reduce: &Reduce, is_masked: bool) {
        let inner = self.code.rank - 1;
        let is_along = reduce.vector_axis == VectorAxis::Reduced;
        let last = if is_along { format!("(p.row - 1u) / {LANES}u") } else { "p.row - 1u".to_string() };
        let inside = if is_masked { format!("min(at, {last})") } else { "at".to_string() };
        let is_vector = reduce.vector_axis == VectorAxis::Gathered;
        let inside = if is_vector { format!("vec4<u32>({inside})") } else { inside };
        let places = reduce.axes.clone().rev().map(|axis| match is_along && axis == inner {
            true => Coordinate::of("x", "vectors"),
            false => Coordinate::axis(axis),
        });
        self.lines(divided(&inside, is_vector, places.collect()));
        self.lane(reduce);
    }

    /// The lanes of vector `x` of a reduction, if an address needs them.
    pub(super) fn lane(&mut self, reduce: &Reduce) {
        if self.code.has_lanes(reduce) {
            self.lanes_before(&format!("p.len{}", self.code.rank - 1));
        }
    }

    /// The lanes of vector `x`. Those from an end on repeat the last.
    pub(super) fn lanes_before(&mut self, end: &str) {
        line!(self.text, "    let first = x * {LANES}u;");
        line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>({end} - 1u));");
    }

    /// The kept axes before the innermost.
    pub(super) fn kept_axes(&self, scan: &Scan) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let run = scan.run;
        (0..self.code.rank - 1).filter(move |&axis| axis != run)
    }

    /// These coordinates, a place `at` in the run, and the vector `x` across runs, as parameters or arguments with a
    /// suffix.
    pub(super) fn scan_places(&self, scan: &Scan, at: &str, suffix: &str) -> String {
        let kept = self.kept_axes(scan).map(|axis| format!("c{axis}{suffix}"));
        let x = (!scan.along).then(|| format!("x{suffix}"));
        kept.chain([at.to_string()]).chain(x).collect::<Vec<_>>().join(", ")
    }

    /// The lines of a tile's coordinates, with a suffix. Past the end they are the last tile's.
    pub(super) fn tile_at(&self, scan: &Scan, item: &str, suffix: &str) -> Vec<String> {
        let across = (!scan.along).then(|| Coordinate::of(&format!("x{suffix}"), "columns"));
        let mut places: Vec<Coordinate> = across.into_iter().collect();
        places.push(Coordinate::of(&format!("position{suffix}"), "positions"));
        let kept = self.kept_axes(scan).rev();
        places.extend(kept.map(|axis| Coordinate::axis(axis).called(format!("c{axis}{suffix}"))));
        divided(&format!("min({item}, p.count - 1u)"), false, places)
    }
}
