//! Kernels of products of matrices. An invocation has four columns of some rows, and adds up their products, four of each
//! result at a time: a vector of them lies along the contracted axes. Invocations of a workgroup share what they load, or
//! each loads its own. Sums are those of chunks, and of chunks of chunks, in the order of [`CHUNK`].

use super::coordinates::Coordinate;
use super::emitter::Emitter;
use super::text::{EACH, line};
use super::types::{compute, lanes};
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::ir::{CHUNK, needed};
use crate::plan::{Contract, LANES, Role, Walk};

/// Vectors of products that are a chunk.
const VECTORS: usize = CHUNK / LANES;

impl Emitter<'_> {
    pub(super) fn contract(&mut self, contract: &Contract) -> Result<()> {
        let element = self.kernel.value_type(self.kernel.results[0]);
        (0..2).try_for_each(|i| self.factor(contract, i, element))?;
        self.place(contract);
        self.arithmetic(element);
        self.head_of_tile(contract, element);
        self.sums(contract, element);
        let at = self.kept_places(contract);
        match contract.group {
            Some(group) => self.shared_products(contract, group, element),
            None => self.own_products(contract, &at, element),
        }
        self.store_sums(contract, &at, element);
        line!(self.text, "}}");
        Ok(())
    }

    /// The coordinates of a batch, as parameters or arguments, each with what follows it.
    fn batch(contract: &Contract, suffix: &str) -> String {
        contract.batch.clone().map(|axis| format!("batch{axis}{suffix}, ")).collect()
    }

    /// The function that gives four elements of a factor along the contracted axes, at a row or column. Past their end it
    /// loads what is there and gives zeros.
    fn factor(&mut self, contract: &Contract, i: usize, element: DType) -> Result<()> {
        let (kernel, vector) = (self.kernel, lanes(element));
        let batch = Emitter::batch(contract, ": u32");
        line!(self.text, "fn factor{i}({batch}place: u32, vector: u32) -> {vector} {{");
        // By coordinates of lanes, all are vectors.
        let is_vector = kernel.walk == Walk::Anywhere;
        let wide = |name: String| if is_vector { format!("vec4<u32>({name})") } else { name };
        for axis in contract.batch.clone() {
            line!(self.text, "    let c{axis} = {};", wide(format!("batch{axis}")));
        }
        let kept = contract.kept[i].clone().rev().map(Coordinate::axis).collect();
        self.divide_out(&wide("place".into()), is_vector, kept);
        match is_vector {
            true => {
                line!(self.text, "    let at = min(vector * {LANES}u + {EACH}, vec4<u32>(p.row - 1u));");
                self.divide_out("at", true, contract.axes.clone().rev().map(Coordinate::axis).collect());
            }
            false => {
                let last = format!("(p.row - 1u) / {LANES}u");
                let x = if contract.masked { format!("min(vector, {last})") } else { "vector".into() };
                line!(self.text, "    let x = {x};");
                line!(self.text, "    let first = x * {LANES}u;");
                line!(self.text, "    let lane = min(first + {EACH}, vec4<u32>(p.row - 1u));");
            }
        }
        self.zeros();
        let result = kernel.results[i];
        let own = needed(kernel.operands.len(), &kernel.steps, std::iter::once(result), |_| false);
        self.loads(|operand| own.inputs()[operand])?;
        self.steps(|value| own[value])?;
        let value = self.value(result, 0);
        match contract.masked {
            true => {
                let exists = format!("vector * {LANES}u + {EACH} < vec4<u32>(p.row)");
                line!(self.text, "    return select({vector}(), {value}, {exists});");
            }
            false => line!(self.text, "    return {value};"),
        }
        line!(self.text, "}}\n");
        Ok(())
    }

    /// The function that gives the address of a result.
    fn place(&mut self, contract: &Contract) {
        let batch = Emitter::batch(contract, ": u32");
        line!(self.text, "fn place({batch}row: u32, column: u32) -> u32 {{");
        for axis in contract.batch.clone() {
            line!(self.text, "    let c{axis} = batch{axis};");
        }
        for (name, axes) in ["row", "column"].into_iter().zip(&contract.kept) {
            self.divide_out(name, false, axes.clone().rev().map(Coordinate::axis).collect());
        }
        let terms = (0..contract.axes.start).filter_map(|axis| self.term(Role::Out, axis, 0));
        let at = self.sum("out", terms);
        line!(self.text, "    return {at};");
        line!(self.text, "}}\n");
    }

    /// Products and sums that nothing contracts or reorders.
    fn arithmetic(&mut self, element: DType) {
        let vector = lanes(element);
        for (name, op) in [("multiplied", "*"), ("added", "+")] {
            let value = match element.kind() {
                Kind::Float => format!("opaque_{}(a {op} b)", compute(element)),
                _ => format!("a {op} b"),
            };
            line!(self.text, "fn {name}(a: {vector}, b: {vector}) -> {vector} {{");
            line!(self.text, "    return {value};");
            line!(self.text, "}}\n");
        }
    }

    /// The entry point, and the tile of a workgroup, or of an invocation: `first_row` and `first_column`.
    fn head_of_tile(&mut self, contract: &Contract, element: DType) {
        let workgroup = self.kernel.workgroup[0];
        let sides = contract.group.unwrap_or([1, 1]);
        let tile = [sides[0] * contract.rows, sides[1] * LANES as u32];
        match contract.group {
            Some(_) => {
                for (i, side) in tile.iter().enumerate() {
                    let size = side * Contract::DEPTH;
                    line!(self.text, "var<workgroup> shared{i}: array<{}, {size}>;", lanes(element));
                }
                line!(self.text, "\n@compute @workgroup_size({workgroup})");
                let local = "@builtin(local_invocation_index) local: u32";
                line!(self.text, "fn main(@builtin(workgroup_id) id: vec3<u32>, {local}) {{");
            }
            None => {
                line!(self.text, "@compute @workgroup_size({workgroup})");
                line!(self.text, "fn main(@builtin(global_invocation_id) id: vec3<u32>) {{");
            }
        }
        line!(self.text, "    let tile = id.y * p.pitch + id.x;");
        line!(self.text, "    if (tile >= p.count) {{ return; }}");
        let mut places = vec![Coordinate::of("across", "vectors"), Coordinate::of("down", "positions")];
        places.extend(
            contract.batch.clone().rev().map(|axis| Coordinate::axis(axis).called(format!("batch{axis}"))),
        );
        self.divide_out("tile", false, places);
        line!(self.text, "    let first_row = down * {}u;", tile[0]);
        line!(self.text, "    let first_column = across * {}u;", tile[1]);
    }

    /// The rows and columns of an invocation.
    fn kept_places(&self, contract: &Contract) -> [Vec<String>; 2] {
        let names = ["row", "column"];
        let of = |i: usize, count: u32| -> Vec<String> {
            let name = names[i];
            let place = |k: u32| match contract.group {
                Some([_, x]) if i == 1 => format!("first_{name} + local % {x}u + {}u", k * x),
                Some([y, x]) => format!("first_{name} + local / {x}u + {}u", k * y),
                None => format!("first_{name} + {k}u"),
            };
            (0..count).map(place).collect()
        };
        [of(0, contract.rows), of(1, LANES as u32)]
    }

    /// The variables that sums are kept in.
    fn sums(&mut self, contract: &Contract, element: DType) {
        for row in 0..contract.rows {
            line!(self.text, "    var s{row} = {}();", lanes(element));
            for level in 0..contract.levels {
                line!(self.text, "    var s{level}_{row} = {}();", lanes(element));
            }
        }
        line!(self.text, "    let end = (p.row + {}u) / {LANES}u;", LANES - 1);
    }

    /// The products of a vector of each row, `a0` and so on, and of each column, `b0` to `b3`.
    fn products(&mut self, contract: &Contract, element: DType, indent: &str) {
        let vector = lanes(element);
        for c in "xyzw".chars() {
            line!(self.text, "{indent}let b_{c} = {vector}(b0.{c}, b1.{c}, b2.{c}, b3.{c});");
            for row in 0..contract.rows {
                let product = format!("multiplied({vector}(a{row}.{c}), b_{c})");
                line!(self.text, "{indent}s{row} = added(s{row}, {product});");
            }
        }
    }

    /// Adds what is full to the level above, after vector `x` and those before it.
    fn carry_sums(&mut self, contract: &Contract, step: u32, element: DType) {
        line!(self.text, "        let done = x + {step}u;");
        for level in 0..contract.levels {
            let vectors = VECTORS * CHUNK.pow(level);
            line!(self.text, "        if ((done & {}u) == 0u) {{", vectors - 1);
            for row in 0..contract.rows {
                let below = if level == 0 { format!("s{row}") } else { format!("s{}_{row}", level - 1) };
                line!(self.text, "            s{level}_{row} = added(s{level}_{row}, {below});");
                line!(self.text, "            {below} = {}();", lanes(element));
            }
            line!(self.text, "        }}");
        }
    }

    /// Each invocation loads what it multiplies.
    fn own_products(&mut self, contract: &Contract, at: &[Vec<String>; 2], element: DType) {
        let (batch, names) = (Emitter::batch(contract, ""), ["a", "b"]);
        for (i, length) in ["rows", "columns"].into_iter().enumerate() {
            for (k, place) in at[i].iter().enumerate() {
                line!(self.text, "    let {}_at{k} = min({place}, p.{length} - 1u);", names[i]);
            }
        }
        line!(self.text, "    for (var x = 0u; x < end; x += 1u) {{");
        for (i, name) in names.into_iter().enumerate() {
            for k in 0..at[i].len() {
                line!(self.text, "        let {name}{k} = factor{i}({batch}{name}_at{k}, x);");
            }
        }
        self.products(contract, element, "        ");
        self.carry_sums(contract, 1, element);
        line!(self.text, "    }}");
    }

    /// Invocations of a workgroup load a few vectors of all rows and columns of their tile, and read these from its
    /// memory.
    fn shared_products(&mut self, contract: &Contract, [y, x]: [u32; 2], element: DType) {
        let (batch, depth, workgroup) = (Emitter::batch(contract, ""), Contract::DEPTH, x * y);
        line!(self.text, "    for (var x = 0u; x < end; x += {depth}u) {{");
        let sides = [("row", y * contract.rows), ("column", x * LANES as u32)];
        for (i, (name, side)) in sides.into_iter().enumerate() {
            for load in 0..side * depth / workgroup {
                let index = format!("(local + {}u)", load * workgroup);
                let (place, vector) = match contract.along[i] {
                    true => (format!("{index} / {depth}u"), format!("{index} % {depth}u")),
                    false => (format!("{index} % {side}u"), format!("{index} / {side}u")),
                };
                let inside = format!("min(first_{name} + {place}, p.{name}s - 1u)");
                line!(
                    self.text,
                    "        shared{i}[{vector} * {side}u + {place}] = factor{i}({batch}{inside}, x + {vector});"
                );
            }
        }
        line!(self.text, "        workgroupBarrier();");
        line!(self.text, "        for (var vector = 0u; vector < {depth}u; vector += 1u) {{");
        for row in 0..contract.rows {
            let at = format!("vector * {}u + local / {x}u + {}u", sides[0].1, row * y);
            line!(self.text, "            let a{row} = shared0[{at}];");
        }
        for column in 0..LANES as u32 {
            let at = format!("vector * {}u + local % {x}u + {}u", sides[1].1, column * x);
            line!(self.text, "            let b{column} = shared1[{at}];");
        }
        self.products(contract, element, "            ");
        line!(self.text, "        }}");
        line!(self.text, "        workgroupBarrier();");
        self.carry_sums(contract, depth, element);
        line!(self.text, "    }}");
    }

    /// Stores the sums of results that exist.
    fn store_sums(&mut self, contract: &Contract, at: &[Vec<String>; 2], element: DType) {
        let batch = Emitter::batch(contract, "");
        for (row, place) in at[0].iter().enumerate() {
            for level in 0..contract.levels {
                let below = if level == 0 { format!("s{row}") } else { format!("s{}_{row}", level - 1) };
                line!(self.text, "    s{level}_{row} = added(s{level}_{row}, {below});");
            }
            let sum = match contract.levels {
                0 => format!("s{row}"),
                levels => format!("s{}_{row}", levels - 1),
            };
            let sum = match element.kind() {
                Kind::Float => format!("positive_zero_{}({sum})", compute(element)),
                _ => sum,
            };
            line!(self.text, "    let total{row} = {sum};");
            line!(self.text, "    let row{row} = {place};");
            for (column, c) in at[1].iter().zip("xyzw".chars()) {
                let exists = format!("(row{row} < p.rows) & ({column} < p.columns)");
                let store = format!("result[place({batch}row{row}, {column})] = total{row}.{c};");
                line!(self.text, "    if ({exists}) {{ {store} }}");
            }
        }
    }
}
