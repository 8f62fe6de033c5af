//! Kernels of products of matrices: the functions of factors, of an `fma` and a fenced sum, and of storing a vector with the steps
//! after its sums, for `shaders/kernels/product.wgsl`. Sums are in the order of [`CHUNK`].

use super::coordinates::{Coordinate, divided};
use super::emitter::Emitter;
use super::fences;
use super::template::Filling;
use super::text::line;
use super::types::{compute, encode, is_long, lanes, narrow, pack, select_all, spelled, splat};
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::ir::{CHUNK, Math, Value, needed};
use crate::plan::{Contract, Fused, LANES, Origin, Role, Store, Walk};

/// Products of an iteration over workgroup memory whose text is long.
const TURNS: u32 = 4;

/// What keeps a compiler from reordering sums.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// Nothing.
    Off,
    /// An exclusive or behind each.
    Word,
    /// Each is an `fma`, with a 1 that no compiler knows. It costs nothing.
    Fma,
}

impl Emitter<'_> {
    pub(super) fn contract(&mut self, contract: &Contract) -> Result<()> {
        let element = self.code.value_type(self.code.results[0]);
        self.factor(contract, 0, "row")?;
        self.factor(contract, 1, "x")?;
        self.arithmetic(contract, element);
        self.store_vector(contract, element)?;
        let mut places = vec![Coordinate::of("across", "vectors"), Coordinate::of("down", "positions")];
        let of_batch = contract.batch.clone().rev();
        places.extend(of_batch.map(|axis| Coordinate::axis(axis).called(format!("batch{axis}"))));
        let fence = match self.fence(element) {
            Fence::Off => String::new(),
            // One chunk is not added to others.
            _ if contract.is_chunk && contract.fused != Fused::Exact => String::new(),
            Fence::Word => fences::named(fences::is_wide(element), 0),
            Fence::Fma => "let one = bitcast<vec4<f32>>(vec4<u32>(p.zero ^ 0x3f800000u));".into(),
        };
        let (rows, x, vector) = (contract.rows, contract.sides[1], lanes(element));
        let name = if contract.is_chunk { "sum" } else { "total" };
        let named = self.fence_of(element).map_or(String::new(), |(name, _)| format!(", {name}"));
        let batch = Emitter::batch(contract, "");
        let more = |row: u32| format!("let row{row} = first_row + local / {x}u * {rows}u + {row}u;");
        // A line for each vector of results, by its row and its number in the row.
        let each = |line: &dyn Fn(u32, u32) -> String| -> Vec<String> {
            (0..rows).flat_map(|row| (0..contract.vectors).map(move |c| line(row, c))).collect()
        };
        let each_of_row = |line: &dyn Fn(u32) -> String| (0..contract.vectors).map(line).collect::<Vec<_>>();
        let case = |row: u32| {
            let values = each_of_row(&|c| format!(" value{c} = {name}{row}_{c};"));
            format!("case {row}u: {{{} }}", values.concat())
        };
        let loads = Self::shared_loads(contract, element);
        let loaded = |at: &str, assigned: &str| {
            let line = |load: &Load| format!("{assigned}{} = {};", load.name, load.value.replace("{at}", at));
            loads.iter().map(line).collect::<Vec<_>>()
        };
        let stored = |load: &Load| match contract.early {
            true => format!("{} = {};", load.place, load.name),
            false => format!("{} = {};", load.place, load.value.replace("{at}", "at")),
        };
        Filling::default()
            .when("shares", contract.shares)
            .when("early", contract.early)
            .when("is_chunk", contract.is_chunk)
            .when("several_rows", rows > 1)
            .when("in_turns", self.is_long_product(element))
            .with("turns", TURNS)
            .with("pitch0", contract.pitch(0))
            .with("pitch1", contract.pitch(1))
            .with("group", contract.sides.iter().product::<u32>())
            .with_lines("places", divided("tile", false, places))
            .with("tile_rows", contract.tile()[0])
            .with("tile_x", contract.places(1))
            .with("x", x)
            .with("rows", rows)
            // Whoever shares loads needs the first row alone.
            .with_lines("more_rows", (if contract.shares { rows } else { 1 }..rows).map(more))
            .with_lines("own_x", each_of_row(&|c| format!("let x{c} = first_x + local % {x}u + {}u;", c * x)))
            .with("fence", fence)
            .with_lines("loading", loads.iter().flat_map(|load| load.of.clone()))
            .with_lines("loaded", loaded("0u", "var "))
            .with_lines("loads", loaded("next", ""))
            .with_lines("stored", loads.iter().map(stored))
            .with_lines("sums", each(&|row, c| format!("var sum{row}_{c} = {vector}();")))
            .with_lines("totals", each(&|row, c| format!("var total{row}_{c} = {vector}();")))
            .with_lines(
                "added",
                each(&|row, c| format!("total{row}_{c} = added(total{row}_{c}, sum{row}_{c}{named});")),
            )
            .with_lines("values", each_of_row(&|c| format!("var value{c} = {name}0_{c};")))
            .with_lines("cases", (1..rows).map(case))
            .with_lines("stores", each_of_row(&|c| format!("store({batch}row0 + row, x{c}, value{c});")))
            .with("chunk", CHUNK)
            .with("depth", Contract::DEPTH)
            .with_lines("products", self.products(contract, element, &named))
            .with("vector", vector)
            .fill(self.text, include_str!("../../shaders/kernels/product.wgsl"))
    }

    /// The coordinates of a batch, as parameters or arguments, each with its suffix.
    fn batch(contract: &Contract, suffix: &str) -> String {
        contract.batch.clone().map(|axis| format!("batch{axis}{suffix}, ")).collect()
    }

    /// The head of a function of a batch, a row, a place along the products, and a vector of columns. Declares the
    /// coordinates of lanes.
    fn place(&mut self, contract: &Contract, name: &str, of: &[&str], more: &str) {
        let parameters: Vec<String> = of.iter().map(|name| format!("{name}: u32")).collect();
        let batch = Emitter::batch(contract, ": u32");
        line!(self.text, "fn {name}({batch}{}{more} {{", parameters.join(", "));
        // By coordinates of lanes, all are vectors.
        let is_vector = self.code.walk == Walk::Anywhere;
        let wide = |name: String| if is_vector { format!("vec4<u32>({name})") } else { name };
        for axis in contract.batch.clone() {
            line!(self.text, "    let c{axis} = {};", wide(format!("batch{axis}")));
        }
        if of.contains(&"row") {
            let axes = contract.rows_axes().rev().map(Coordinate::axis).collect();
            self.lines(divided(&wide("row".into()), is_vector, axes));
        }
        if of.contains(&"k") {
            line!(self.text, "    let c{} = {};", contract.axis, wide("k".into()));
        }
        if of.contains(&"x") {
            self.lanes_before("p.columns");
            if is_vector {
                let axes = (contract.axis + 1..self.code.rank).rev().map(Coordinate::axis).collect();
                self.lines(divided("lane", true, axes));
            }
        }
    }

    /// The function of a factor: an element of a row in all lanes, or a vector of columns.
    fn factor(&mut self, contract: &Contract, i: usize, of: &str) -> Result<()> {
        let (code, result) = (self.code, self.code.results[i]);
        let vector = lanes(code.value_type(result));
        self.place(contract, &format!("factor{i}"), &[of, "k"], &format!(") -> {vector}"));
        self.zeros();
        self.wanted(&needed(code.operands.len(), &code.steps, [result], |_| false))?;
        line!(self.text, "    return {};\n}}\n", self.value(result, 0));
        Ok(())
    }

    /// The functions of a product that is added, and of a sum that is.
    fn arithmetic(&mut self, contract: &Contract, element: DType) {
        let vector = lanes(element);
        let fused = match contract.fused {
            Fused::Open if is_long(element) => format!("add_{0}(s, mul_{0}(a, b))", compute(element)),
            Fused::Open => "s + a * b".into(),
            Fused::Builtin => "fma(a, b, s)".into(),
            Fused::Exact if self.fence(element) == Fence::Fma => "fma(a * b, one, s)".into(),
            Fused::Exact => fences::fenced(element, "s + a * b", 0),
            Fused::Doubles => "fma_by_f64(a, b, s)".into(),
            Fused::Integers => format!("fma_rounded_{}(a, b, s, false)", compute(element)),
        };
        let added = match self.fence(element) {
            Fence::Off => spelled(element, "a + b").replace("{T}", compute(element)),
            Fence::Word => fences::fenced(element, "a + b", 0),
            Fence::Fma => "fma(a, one, b)".into(),
        };
        let fence = self.fence_of(element).map(|(name, of)| format!(", {name}: {of}")).unwrap_or_default();
        let of_fused = if contract.fused == Fused::Exact { &*fence } else { "" };
        let mut functions = vec![("fused", "s: ", of_fused, fused)];
        if !contract.is_chunk {
            functions.push(("added", "", &fence, added));
        }
        for (name, sum, fence, value) in functions {
            let value = match self.is_total(element) {
                true => format!("flushed_term_{}({value})", compute(element)),
                false => value,
            };
            let sum = if sum.is_empty() { String::new() } else { format!(", {sum}{vector}") };
            line!(self.text, "fn {name}(a: {vector}, b: {vector}{sum}{fence}) -> {vector} {{");
            line!(self.text, "    return {value};\n}}\n");
        }
    }

    /// Whether the text of a product is more than an instruction or two.
    fn is_long_product(&self, element: DType) -> bool {
        self.is_total(element) || element.size() > size_of::<u32>()
    }

    /// Whether products and sums are in total mode.
    fn is_total(&self, element: DType) -> bool {
        element.kind() == Kind::Float && self.kernel.math == Math::Total
    }

    /// The fence of products and sums.
    fn fence(&self, element: DType) -> Fence {
        let is_fenced = element.kind() == Kind::Float && self.kernel.math != Math::Fast;
        match is_fenced {
            false => Fence::Off,
            true if fences::is_wide(element) || self.kernel.faults.splits => Fence::Word,
            true => Fence::Fma,
        }
    }

    /// The name and the type of what fences sums, if they have a fence.
    fn fence_of(&self, element: DType) -> Option<(String, &'static str)> {
        let wide = fences::is_wide(element);
        match self.fence(element) {
            Fence::Off => None,
            Fence::Word => Some((fences::zero(wide, 0), if wide { "vec4<u64>" } else { "vec4<u32>" })),
            Fence::Fma => Some(("one".into(), "vec4<f32>")),
        }
    }

    /// The function that stores a vector of results, some of which may not exist.
    fn store_vector(&mut self, contract: &Contract, element: DType) -> Result<()> {
        self.place(contract, "store", &["row", "x"], &format!(", value: {})", lanes(element)));
        let total = match element.kind() {
            Kind::Float if self.is_total(element) => {
                let of = compute(element);
                format!("positive_zero_{of}(total_{of}(opaque_{of}(value)))")
            }
            Kind::Float => format!("positive_zero_{}(value)", compute(element)),
            _ => "value".into(),
        };
        line!(self.text, "    let total = {total};");
        let code = self.code;
        let (result, element) = match code.results.get(2) {
            None => ("total".to_string(), element),
            Some(&result) => (self.after(result, element)?, code.value_type(result)),
        };
        if code.store == Store::Vector {
            let result = encode(element, &narrow(element, result));
            let result = pack(element, result);
            let at = self.stored_at(code.rank - 1, ["x"]);
            line!(self.text, "    if (first < p.columns) {{ result[{at}] = {result}; }}");
            line!(self.text, "}}\n");
            return Ok(());
        }
        // A value of whole words has its type already, except bool.
        let result = if element == DType::Bool { encode(element, &result) } else { result };
        let terms = (0..code.rank).filter_map(|axis| self.term(Role::Out, axis, 0));
        line!(self.text, "    let at = vec4<u32>() + ({});", self.sum("out", terms));
        for (k, c) in "xyzw".chars().enumerate() {
            line!(self.text, "    if (first + {k}u < p.columns) {{ result[at.{c}] = ({result}).{c}; }}");
        }
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The steps after a sum. Returns the name of their result.
    fn after(&mut self, result: Value, element: DType) -> Result<String> {
        let code = self.code;
        let own = needed(code.operands.len(), &code.steps, std::iter::once(result), |_| false);
        let is_sum = |operand: usize| matches!(code.operands[operand].origin, Origin::Row(_));
        for sum in (0..code.operands.len()).filter(|&operand| is_sum(operand)) {
            let name = self.value(Value::Input(sum as u32), 0);
            line!(self.text, "    let {name} = {};", narrow(element, "total".into()));
        }
        self.zeros();
        self.loads(|operand| own.inputs()[operand] && !is_sum(operand))?;
        self.steps(|value| own[value])?;
        Ok(self.value(result, 0))
    }

    /// The lines that add products of all rows to their sums: of an invocation's own loads, or of those in workgroup
    /// memory.
    fn products(&self, contract: &Contract, element: DType, fence: &str) -> Vec<String> {
        let (batch, mut lines) = (Emitter::batch(contract, ""), Vec::new());
        let fence = if contract.fused == Fused::Exact { fence } else { "" };
        let add = |lines: &mut Vec<String>, [row, c]: [u32; 2], [a, b]: [&str; 2]| {
            lines.push(format!("sum{row}_{c} = fused({a}, {b}, sum{row}_{c}{fence});"));
        };
        if !contract.shares {
            lines.push(format!("let b0 = factor1({batch}min(x0, (p.columns - 1u) / {LANES}u), k);"));
            for row in 0..contract.rows {
                lines.push(format!("let a{row} = factor0({batch}min(row{row}, p.rows - 1u), k);"));
                add(&mut lines, [row, 0], [&format!("a{row}"), "b0"]);
            }
            return lines;
        }
        // Short products are all in the text, so that places in workgroup memory are constants beside the invocation's
        // own. RADV has 0.14 other instructions for an `fma` so, and 0.7 where places are clamped in each turn of a loop.
        let x = contract.sides[1];
        let vectors = contract.rows.div_ceil(LANES as u32);
        let in_turns = self.is_long_product(element);
        for k in 0..if in_turns { TURNS } else { Contract::DEPTH } {
            let place = if in_turns { format!("k + {k}u") } else { format!("{k}u") };
            for q in 0..vectors {
                lines.push(format!("let a{k}_{q} = shared0[{place}][local / {x}u * {vectors}u + {q}u];"));
            }
            for c in 0..contract.vectors {
                lines.push(format!("let b{k}_{c} = shared1[{place}][local % {x}u + {}u];", c * x));
            }
            for row in 0..contract.rows {
                let lane = ["x", "y", "z", "w"][row as usize % LANES];
                let a = splat(element, &format!("a{k}_{}.{lane}", row / LANES as u32));
                for c in 0..contract.vectors {
                    add(&mut lines, [row, c], [&a, &format!("b{k}_{c}")]);
                }
            }
        }
        lines
    }

    /// The loads of an invocation into workgroup memory.
    fn shared_loads(contract: &Contract, element: DType) -> Vec<Load> {
        let (batch, depth) = (Emitter::batch(contract, ""), Contract::DEPTH);
        let group: u32 = contract.sides.iter().product();
        let (vector, mut loads) = (lanes(element), Vec::new());
        for i in [0, 1] {
            let side = contract.places(i);
            for load in (0..side * depth).step_by(group as usize) {
                let [name, place, k] = ["load", "place", "k"].map(|of| format!("{of}{i}_{load}"));
                let index = format!("(local + {load}u)");
                let of = match contract.along[i] {
                    true => [
                        format!("let {place} = {index} / {depth}u;"),
                        format!("let {k} = {index} % {depth}u;"),
                    ],
                    false => {
                        [format!("let {place} = {index} % {side}u;"), format!("let {k} = {index} / {side}u;")]
                    }
                };
                let at = match contract.masked {
                    true => format!("min({{at}} + {k}, p.row - 1u)"),
                    false => format!("{{at}} + {k}"),
                };
                let row = |lane: usize| {
                    let row = format!("first_row + {place} * {LANES}u + {lane}u");
                    format!("factor0({batch}min({row}, p.rows - 1u), {at}).x")
                };
                let value = match i {
                    0 => format!("{vector}({})", [0, 1, 2, 3].map(row).join(", ")),
                    _ => format!("factor1({batch}min(first_x + {place}, (p.columns - 1u) / {LANES}u), {at})"),
                };
                let value = match contract.masked {
                    true => {
                        select_all(element, &format!("{vector}()"), &value, &format!("{{at}} + {k} < p.row"))
                    }
                    false => value,
                };
                loads.push(Load { place: format!("shared{i}[{k}][{place}]"), name, of, value });
            }
        }
        loads
    }
}

/// A vector of a factor that an invocation loads and stores into workgroup memory.
struct Load {
    name: String,
    /// The lines that say which it is: its place among the tile's, and its product.
    of: [String; 2],
    /// The loaded vector, of the products from `{at}` on.
    value: String,
    /// Where it is stored.
    place: String,
}
