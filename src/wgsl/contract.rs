//! Kernels of products of matrices. An invocation has some rows and a vector of columns, and adds up their products
//! in sequence: those of a chunk, and the sums of chunks, in the order of [`CHUNK`]. Invocations of a workgroup share
//! loads, or each loads its own.

use super::coordinates::Coordinate;
use super::emitter::Emitter;
use super::fences;
use super::text::line;
use super::types::{compute, encode, lanes, narrow, pack};
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::ir::{CHUNK, Math, Value, needed};
use crate::plan::{Contract, LANES, Origin, Role, Store, Walk};

/// Products of an iteration over workgroup memory: a loop costs some ten instructions in each turn.
const TURNS: u32 = 4;

/// What keeps a compiler from contracting and reordering products and sums.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// Nothing.
    Off,
    /// An exclusive or behind each.
    Word,
    /// Each is an `fma`, with a 1 or a -0 that no compiler knows. It costs nothing.
    Fma,
}

impl Emitter<'_> {
    pub(super) fn contract(&mut self, contract: &Contract) -> Result<()> {
        let element = self.kernel.value_type(self.kernel.results[0]);
        self.factor(contract, 0, "row")?;
        self.factor(contract, 1, "x")?;
        self.arithmetic(element);
        self.store_vector(contract, element)?;
        self.head_of_tile(contract, element);
        let sums = || (0..contract.rows).map(|row| format!("{row}_0"));
        let zero = format!("{}()", lanes(element));
        // Once, as drivers load it again in each turn otherwise.
        match self.fence(element) {
            Fence::Off => {}
            Fence::Word => line!(self.text, "    {}", fences::named(fences::is_wide(element), 0)),
            Fence::Fma => {
                for (name, bits) in [("one", "0x3f800000u"), ("negative_zero", "0x80000000u")] {
                    line!(self.text, "    let {name} = bitcast<vec4<f32>>(vec4<u32>(p.zero ^ {bits}));");
                }
            }
        }
        if contract.is_chunk {
            sums().for_each(|own| line!(self.text, "    var sum{own} = {zero};"));
            line!(self.text, "    {{\n        let first = 0u;");
            line!(self.text, "        let end = p.row;");
        } else {
            sums().for_each(|own| line!(self.text, "    var total{own} = {zero};"));
            line!(self.text, "    for (var first = 0u; first < p.row; first += {CHUNK}u) {{");
            sums().for_each(|own| line!(self.text, "        var sum{own} = {zero};"));
            line!(self.text, "        let end = min(first + {CHUNK}u, p.row);");
        }
        match contract.shares {
            true => self.shared_products(contract, element),
            false => self.own_products(contract),
        }
        for own in sums().filter(|_| !contract.is_chunk) {
            let total = self.call("added", [&format!("total{own}"), &format!("sum{own}")]);
            line!(self.text, "        total{own} = {total};");
        }
        line!(self.text, "    }}");
        self.store_rows(contract);
        line!(self.text, "}}");
        Ok(())
    }

    /// Stores the sums, a row in each iteration, so that drivers compile the steps and the stores of one row.
    fn store_rows(&mut self, contract: &Contract) {
        let batch = Emitter::batch(contract, "");
        let name = if contract.is_chunk { "sum" } else { "total" };
        line!(self.text, "    let own_rows = min({}u, p.rows - min(row0, p.rows));", contract.rows);
        line!(self.text, "    for (var row = 0u; row < own_rows; row += 1u) {{");
        line!(self.text, "        var value0 = {name}0_0;");
        if contract.rows > 1 {
            line!(self.text, "        switch row {{");
            for row in 1..contract.rows {
                line!(self.text, "            case {row}u: {{ value0 = {name}{row}_0; }}");
            }
            line!(self.text, "            default: {{}}\n        }}");
        }
        line!(self.text, "        store({batch}row0 + row, x0, value0);");
        line!(self.text, "    }}");
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
        let is_vector = self.kernel.walk == Walk::Anywhere;
        let wide = |name: String| if is_vector { format!("vec4<u32>({name})") } else { name };
        for axis in contract.batch.clone() {
            line!(self.text, "    let c{axis} = {};", wide(format!("batch{axis}")));
        }
        if of.contains(&"row") {
            let axes = contract.rows_axes().rev().map(Coordinate::axis).collect();
            self.divide_out(&wide("row".into()), is_vector, axes);
        }
        if of.contains(&"k") {
            line!(self.text, "    let c{} = {};", contract.axis, wide("k".into()));
        }
        if of.contains(&"x") {
            self.lanes_before("p.columns");
            if is_vector {
                let axes = (contract.axis + 1..self.kernel.rank).rev().map(Coordinate::axis).collect();
                self.divide_out("lane", true, axes);
            }
        }
    }

    /// The function of a factor: an element of a row in all lanes, or a vector of columns.
    fn factor(&mut self, contract: &Contract, i: usize, of: &str) -> Result<()> {
        let (kernel, result) = (self.kernel, self.kernel.results[i]);
        let vector = lanes(kernel.value_type(result));
        self.place(contract, &format!("factor{i}"), &[of, "k"], &format!(") -> {vector}"));
        self.zeros();
        let own = needed(kernel.operands.len(), &kernel.steps, std::iter::once(result), |_| false);
        self.loads(|operand| own.inputs()[operand])?;
        self.steps(|value| own[value])?;
        line!(self.text, "    return {};\n}}\n", self.value(result, 0));
        Ok(())
    }

    /// Products and sums. Fences keep compilers from contracting and reordering them, unless the adapter may.
    fn arithmetic(&mut self, element: DType) {
        let vector = lanes(element);
        for (name, op, by_fma) in
            [("multiplied", "*", "fma(a, b, negative_zero)"), ("added", "+", "fma(a, one, b)")]
        {
            let plain = format!("a {op} b");
            let value = match self.fence(element) {
                Fence::Off => plain,
                Fence::Word => fences::fenced(element, &plain, 0),
                Fence::Fma => by_fma.into(),
            };
            let fence =
                self.fence_of(name, element).map_or(String::new(), |(name, of)| format!(", {name}: {of}"));
            line!(self.text, "fn {name}(a: {vector}, b: {vector}{fence}) -> {vector} {{");
            line!(self.text, "    return {value};\n}}\n");
        }
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

    /// The name and the type of what fences the results of a function, if it has a fence.
    fn fence_of(&self, name: &str, element: DType) -> Option<(String, &'static str)> {
        let wide = fences::is_wide(element);
        match self.fence(element) {
            Fence::Off => None,
            Fence::Word => Some((fences::zero(wide, 0), if wide { "vec4<u64>" } else { "vec4<u32>" })),
            Fence::Fma => Some((if name == "added" { "one" } else { "negative_zero" }.into(), "vec4<f32>")),
        }
    }

    /// A sum, or a product of a vector.
    fn call(&self, name: &str, [a, b]: [&str; 2]) -> String {
        let element = self.kernel.value_type(self.kernel.results[0]);
        let fence = self.fence_of(name, element).map_or(String::new(), |(name, _)| format!(", {name}"));
        format!("{name}({a}, {b}{fence})")
    }

    /// The function that stores a vector of results, some of which may not exist.
    fn store_vector(&mut self, contract: &Contract, element: DType) -> Result<()> {
        self.place(contract, "store", &["row", "x"], &format!(", value: {})", lanes(element)));
        let total = match element.kind() {
            Kind::Float => format!("positive_zero_{}(value)", compute(element)),
            _ => "value".into(),
        };
        line!(self.text, "    let total = {total};");
        let kernel = self.kernel;
        let (result, element) = match kernel.results.get(2) {
            None => ("total".to_string(), element),
            Some(&result) => (self.after(result, element)?, kernel.value_type(result)),
        };
        if kernel.store == Store::Vector {
            let result = encode(element, &narrow(element, result));
            let result = pack(element, result);
            let at = self.stored_at(kernel.rank - 1, ["x"]);
            line!(self.text, "    if (first < p.columns) {{ result[{at}] = {result}; }}");
            line!(self.text, "}}\n");
            return Ok(());
        }
        // A value of whole words has its type already, except bool.
        let result = if element == DType::Bool { encode(element, &result) } else { result };
        let terms = (0..kernel.rank).filter_map(|axis| self.term(Role::Out, axis, 0));
        line!(self.text, "    let at = vec4<u32>() + ({});", self.sum("out", terms));
        for (k, c) in "xyzw".chars().enumerate() {
            line!(self.text, "    if (first + {k}u < p.columns) {{ result[at.{c}] = ({result}).{c}; }}");
        }
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The steps after a sum. Returns the name of their result.
    fn after(&mut self, result: Value, element: DType) -> Result<String> {
        let kernel = self.kernel;
        let own = needed(kernel.operands.len(), &kernel.steps, std::iter::once(result), |_| false);
        let is_sum = |operand: usize| matches!(kernel.operands[operand].origin, Origin::Row(_));
        for sum in (0..kernel.operands.len()).filter(|&operand| is_sum(operand)) {
            let name = self.value(Value::Input(sum as u32), 0);
            line!(self.text, "    let {name} = {};", narrow(element, "total".into()));
        }
        self.zeros();
        self.loads(|operand| own.inputs()[operand] && !is_sum(operand))?;
        self.steps(|value| own[value])?;
        Ok(self.value(result, 0))
    }

    /// The entry point, and the rows and the vector of columns of an invocation.
    fn head_of_tile(&mut self, contract: &Contract, element: DType) {
        let [y, x] = contract.sides;
        for (i, side) in contract.sides.iter().enumerate().filter(|_| contract.shares) {
            let size = side * Contract::DEPTH;
            line!(self.text, "var<workgroup> shared{i}: array<{}, {size}>;\n", lanes(element));
        }
        line!(self.text, "@compute @workgroup_size({})", x * y);
        let local = "@builtin(local_invocation_index) local: u32";
        line!(self.text, "fn main(@builtin(workgroup_id) id: vec3<u32>, {local}) {{");
        line!(self.text, "    let tile = id.y * p.pitch + id.x;");
        line!(self.text, "    if (tile >= p.count) {{ return; }}");
        let mut places = vec![Coordinate::of("across", "vectors"), Coordinate::of("down", "positions")];
        let batch = contract.batch.clone().rev();
        places.extend(batch.map(|axis| Coordinate::axis(axis).called(format!("batch{axis}"))));
        self.divide_out("tile", false, places);
        // Whoever shares loads needs the first row alone.
        let (rows, own) = (contract.rows, if contract.shares { 1 } else { contract.rows });
        line!(self.text, "    let first_row = down * {}u;", y * rows);
        line!(self.text, "    let first_x = across * {x}u;");
        for row in 0..own {
            line!(self.text, "    let row{row} = first_row + local / {x}u * {rows}u + {row}u;");
        }
        line!(self.text, "    let x0 = first_x + local % {x}u + 0u;");
    }

    /// Adds the products of a row, where `a` is a vector of one element, to its sums.
    fn products(&mut self, row: u32, factors: [&str; 2], indent: &str) {
        let (sum, product) = (format!("sum{row}_0"), self.call("multiplied", factors));
        line!(self.text, "{indent}{sum} = {};", self.call("added", [&sum, &product]));
    }

    /// Each invocation loads its own factors. Missing rows and columns repeat the last.
    fn own_products(&mut self, contract: &Contract) {
        let batch = Emitter::batch(contract, "");
        line!(self.text, "        for (var k = first; k < end; k += 1u) {{");
        line!(self.text, "            let b0 = factor1({batch}min(x0, (p.columns - 1u) / {LANES}u), k);");
        for row in 0..contract.rows {
            line!(self.text, "            let a{row} = factor0({batch}min(row{row}, p.rows - 1u), k);");
            self.products(row, [&format!("a{row}"), "b0"], "            ");
        }
        line!(self.text, "        }}");
    }

    /// The place of a factor in workgroup memory. Where neighbours store along the products, their places are those of
    /// different banks.
    fn shared_at(contract: &Contract, i: usize, k: &str, place: &str) -> String {
        let side = contract.sides[i];
        match contract.along[i] {
            true => format!("{k} * {side}u + (({place}) ^ ({k} & {}u))", side.min(8) - 1),
            false => format!("{k} * {side}u + {place}"),
        }
    }

    /// Invocations of a workgroup load some products' factors for all rows and columns of their tile, and read them
    /// from workgroup memory. Factors past the end of the products are zeros.
    fn shared_products(&mut self, contract: &Contract, element: DType) {
        let (batch, depth, vector) = (Emitter::batch(contract, ""), Contract::DEPTH, lanes(element));
        let [y, x] = contract.sides;
        line!(self.text, "        for (var at = first; at < end; at += {depth}u) {{");
        for (i, side) in contract.sides.into_iter().enumerate() {
            for load in (0..side * depth).step_by((x * y) as usize) {
                let index = format!("(local + {load}u)");
                let (place, k) = match contract.along[i] {
                    true => (format!("{index} / {depth}u"), format!("{index} % {depth}u")),
                    false => (format!("{index} % {side}u"), format!("{index} / {side}u")),
                };
                let name = format!("{i}_{load}");
                line!(self.text, "            let place{name} = {place};");
                line!(self.text, "            let k{name} = {k};");
                let inside = match contract.masked {
                    true => format!("min(at + k{name}, p.row - 1u)"),
                    false => format!("at + k{name}"),
                };
                let value = match i {
                    0 => {
                        let row = |lane: usize| {
                            let row = format!("first_row + place{name} * {LANES}u + {lane}u");
                            format!("factor0({batch}min({row}, p.rows - 1u), {inside}).x")
                        };
                        format!("{vector}({})", [0, 1, 2, 3].map(row).join(", "))
                    }
                    _ => {
                        let x = format!("min(first_x + place{name}, (p.columns - 1u) / {LANES}u)");
                        format!("factor1({batch}{x}, {inside})")
                    }
                };
                let value = match contract.masked {
                    true => format!("select({vector}(), {value}, at + k{name} < p.row)"),
                    false => value,
                };
                let place = Self::shared_at(contract, i, &format!("k{name}"), &format!("place{name}"));
                line!(self.text, "            shared{i}[{place}] = {value};");
            }
        }
        line!(self.text, "            workgroupBarrier();");
        line!(self.text, "            for (var k = 0u; k < {depth}u; k += {TURNS}u) {{");
        for turn in 0..TURNS {
            let k = format!("(k + {turn}u)");
            let a = Self::shared_at(contract, 0, &k, &format!("local / {x}u"));
            let b = Self::shared_at(contract, 1, &k, &format!("local % {x}u"));
            line!(self.text, "                let a{turn} = shared0[{a}];");
            line!(self.text, "                let b{turn}_0 = shared1[{b}];");
            for (row, c) in (0..contract.rows).zip("xyzw".chars()) {
                let factors = [format!("{vector}(a{turn}.{c})"), format!("b{turn}_0")];
                self.products(row, factors.each_ref().map(String::as_str), "                ");
            }
        }
        line!(self.text, "            }}");
        line!(self.text, "            workgroupBarrier();");
        line!(self.text, "        }}");
    }
}
