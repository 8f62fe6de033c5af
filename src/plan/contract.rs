//! The plan of a product of matrices: its rows, columns and batches, and the results of each invocation.

use smallvec::smallvec;

use super::access::Store;
use super::builder::{Made, PlanBuilder};
use super::form::{Contract, Form, Fused};
use super::grid::workgroups;
use super::launch::{Plan, counted};
use super::numbers::ContractNumbers;
use super::target::Target;
use super::walk::{LANES, REDUCE_WORKGROUP, Walk, whole};
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::ir::{CHUNK, Math, Op, Product, Program, Value};
use crate::layout::{Axes, Axis, Layout, Nest, merge};
use crate::tuning::contract::{
    FEW_READERS, FEW_TILES, FEWEST, LEAST_CHUNKS, LEAST_TILES, REGISTERS, ROWS, SIDE,
};

/// Matrices that are multiplied, so that lanes lie along columns.
struct Matrices {
    /// The factors, and after them the results if steps follow the products.
    program: Program,
    /// The axes of the batch, the rows, the products and the columns, with the strides of the output first.
    axes: [Axes; 4],
    /// Whether neighbours in memory of each factor are factors of one sum.
    along: [bool; 2],
}

impl Matrices {
    fn new(program: &Program) -> Result<Matrices> {
        let Product { mut factors, batch, mut kept, axis } = program.product()?;
        // Columns are those of the right factor, unless it has one column or its columns lie apart in memory.
        let is_dense =
            [0, 1].map(|i| kept[i].last().is_some_and(|&axis| stride(program, factors[i], axis) == 1));
        if kept[1].is_empty() || is_dense == [true, false] {
            factors.swap(0, 1);
            kept.swap(0, 1);
        }
        let along = factors.map(|factor| stride(program, factor, axis) == 1);
        let mut values = factors.to_vec();
        values.extend(program.after_product()?.iter().flat_map(|_| &program.results));
        let own = program.only(&values)?;
        let out = Layout::contiguous(program.result_shape().into_owned())?;
        let axes = |axes: Vec<usize>| -> Axes {
            let strides = |k: usize| own.inputs.iter().map(move |input| input.layout.strides()[k]);
            let stride = |k: usize| if k == axis { 0 } else { out.strides()[k] };
            let all = axes.into_iter().map(|k| Axis {
                length: program.shape[k],
                strides: std::iter::once(stride(k)).chain(strides(k)).collect(),
            });
            merge(all)
        };
        let [left, right] = kept;
        let mut axes = [batch, left, vec![axis], right].map(axes);
        for empty in axes[2..].iter_mut().filter(|axes| axes.is_empty()) {
            empty.push(Axis { length: 1, strides: (0..=own.inputs.len()).map(|_| 0).collect() });
        }
        Ok(Matrices { program: own, axes, along })
    }
}

impl Plan {
    /// Plans a program whose products are added up along an axis.
    pub(crate) fn contract(program: &Program, target: Target) -> Result<Plan> {
        let Matrices { program: own, axes, along } = Matrices::new(program)?;
        let count = |axes: &Axes| axes.iter().fold(1_usize, |all, axis| all.saturating_mul(axis.length));
        let [batches, rows, products, columns] = axes.each_ref().map(count);
        let results = batches.saturating_mul(rows).saturating_mul(columns);
        counted(Some(results), || format!("a product over {} stores", program.shape))?;
        let walk = if axes[3].len() == 1 { Walk::Rows } else { Walk::Anywhere };
        let offsets = std::iter::once(0).chain(own.inputs.iter().map(|input| input.layout.offset()));
        let loops = Nest::of(offsets, axes.iter().flatten());
        let mut builder = PlanBuilder::new(&own, loops, walk, target);
        let (batch, axis) = (0..axes[0].len(), axes[0].len() + axes[1].len());
        let fused = fused(&own, [own.results[0], own.results[1]], target);
        let sizes = Sizes { batches, rows, columns, products };
        let contract = Contract { batch, axis, ..form(own.dtype, &sizes, along, fused, target) };
        let bound = builder.bind(1)?;
        let tile = contract.tile();
        let tiles = sizes.tiles(tile);
        let all = batches * tiles[0] * tiles[1];
        let groups = workgroups(&program.shape, all, target)?;
        let matrices = if contract.batch.is_empty() { "a product" } else { "products" };
        let then = program.after_product()?.map_or(String::new(), |after| {
            let s = if after.steps.len() == 1 { "" } else { "s" };
            format!(", and {} step{s} before each is stored", after.steps.len())
        });
        let by = match fused {
            Fused::Doubles => ", each fma made of f64",
            Fused::Integers => ", each fma made of integers",
            Fused::Open | Fused::Builtin | Fused::Exact => "",
        };
        let description = format!(
            "{matrices} of {rows} rows and {columns} columns over {products}{by}: a workgroup has {} by {} results{then}",
            tile[0], tile[1]
        );
        let output = builder.loops.output();
        let is_linear = output.has_linear_rows(1) && columns.is_multiple_of(LANES);
        let (store, stored) = match is_linear && walk == Walk::Rows {
            true => (Store::Vector, program.dtype),
            false => (Store::Lanes, whole(program.dtype)),
        };
        let numbers = ContractNumbers {
            pitch: groups[0] as usize,
            count: all,
            vectors: tiles[1],
            rows,
            row: products,
            columns,
            positions: tiles[0],
        };
        let made = Made {
            workgroup: [contract.sides.iter().product(), 1],
            form: Form::Contract(contract),
            store,
            stored: smallvec![stored],
            count: results,
            numbers: numbers.words(),
            groups,
            description: Some(description),
        };
        let plan = builder.plan(bound, made);
        // Steps after the products run once for each sum.
        Ok(Plan { work: program.work_moving(plan.moved), ..plan })
    }

    /// Whether so few workgroups add up so many products that separate chunks would be faster.
    pub(crate) fn is_better_in_chunks(&self, products: usize) -> bool {
        let few = match &self.kernel.form {
            Form::Contract(own) if own.rows == 1 => FEW_READERS,
            _ => FEW_TILES,
        };
        let is_few = self.launch.groups.iter().product::<u32>() < few;
        let is_long = products >= LEAST_CHUNKS * CHUNK && products.is_multiple_of(CHUNK);
        is_few && is_long
    }
}

/// The distance of elements along an axis, of a factor or of its largest tensor.
fn stride(program: &Program, factor: Value, axis: usize) -> isize {
    let needed = program.needed(&[factor], |_| false);
    let own = program.inputs.iter().zip(needed.inputs()).filter(|(_, needed)| **needed);
    let largest = own.max_by_key(|(input, _)| input.layout.distinct());
    largest.map_or(0, |(input, _)| input.layout.strides()[axis])
}

/// How a product of factors and its addition are rounded once.
fn fused(program: &Program, factors: [Value; 2], target: Target) -> Fused {
    let (element, faults) = (program.dtype_of(factors[0]), target.faults);
    // The least normal float that a result rounds up to is kept in integers.
    let flushes = faults.flushes && target.math == Math::Total;
    let rounds_twice = if element == DType::F64 { faults.wide_chains } else { faults.chains || flushes };
    match () {
        () if element.kind() != Kind::Float || target.math == Math::Fast => Fused::Open,
        () if !rounds_twice => Fused::Builtin,
        () if factors.iter().all(|&factor| is_short(program, factor)) => Fused::Exact,
        // The host's processor has vectors of f64. Most GPUs have few units for it.
        () if element == DType::F32 && !faults.doubles && !flushes && target.rate.is_none() => Fused::Doubles,
        () => Fused::Integers,
    }
}

/// Whether a factor is cast from a type of so few digits and exponents that products of two are exact in f32.
fn is_short(program: &Program, factor: Value) -> bool {
    match program.step(factor) {
        Some(step) if step.op == Op::Flush => is_short(program, step.args[0]),
        Some(step) => step.op == Op::Cast && (step.dtype == DType::F16 || step.dtype.size() == 1),
        None => false,
    }
}

/// The sizes of matrices.
struct Sizes {
    batches: usize,
    rows: usize,
    columns: usize,
    products: usize,
}

impl Sizes {
    /// Tiles of so many rows and columns, down and across.
    fn tiles(&self, tile: [u32; 2]) -> [usize; 2] {
        [self.rows.div_ceil(tile[0] as usize), self.columns.div_ceil(tile[1] as usize)]
    }
}

/// The form of a kernel for matrices, without their axes.
fn form(element: DType, sizes: &Sizes, along: [bool; 2], fused: Fused, target: Target) -> Contract {
    let is_chunk = sizes.products <= CHUNK;
    let of = |[rows, vectors]: [u32; 2], sides: [u32; 2], shares: bool| {
        // 64 sums leave no registers for loads.
        let early = shares && vectors == 1;
        let masked = shares && !sizes.products.is_multiple_of(Contract::DEPTH as usize);
        Contract { batch: 0..0, axis: 0, along, rows, vectors, sides, shares, early, masked, is_chunk, fused }
    };
    let results = |own: &Contract| {
        let (tile, [down, across]) = (own.tile(), sizes.tiles(own.tile()));
        down * across * tile.iter().product::<u32>() as usize
    };
    let size = element.size().max(size_of::<u32>()) as u32;
    let fits = |own: &Contract| {
        own.sides.iter().product::<u32>() <= target.workgroup && own.shared() * size <= target.shared
    };
    // Larger tiles leave neither too few workgroups nor much of a tile empty. The host's processor has few cores.
    let least = if target.rate.is_some() { LEAST_TILES } else { 1 };
    let fits_large = |own: &Contract| {
        let [down, across] = sizes.tiles(own.tile());
        let is_full = results(own) * 8 <= results(&of([ROWS, 1], [16, 16], true)) * 9;
        fits(own) && target.registers >= REGISTERS && is_full && sizes.batches * down * across >= least
    };
    let shared: &[[u32; 2]] = &[[16, 16], [8, 16], [8, 8]];
    let found = match () {
        // Compilers repeat the text of an `fma` that is made.
        () if fused.is_made() => None,
        // A single row: neighbouring invocations load the columns side by side, and a fourth of them multiplies.
        () if sizes.rows == 1 => along[1].then(|| of([1, 1], [4, 16], true)).filter(fits),
        () => {
            // The sums of chunks take as many registers as those of one.
            let larger: &[[u32; 2]] = match (size, is_chunk) {
                (5.., _) => &[],
                (_, true) => &[[2 * ROWS, 2], [2 * ROWS, 1]],
                (_, false) => &[[2 * ROWS, 1]],
            };
            let mut larger =
                larger.iter().flat_map(|own| shared[..2].iter().map(|&sides| of(*own, sides, true)));
            let mut usual = shared.iter().map(|&sides| of([ROWS, 1], sides, true));
            larger.find(fits_large).or_else(|| usual.find(fits))
        }
    };
    found.unwrap_or_else(|| {
        let own = if sizes.rows == 1 || fused.is_made() { 1 } else { ROWS };
        let tiles = [sizes.rows.div_ceil(own as usize), sizes.columns.div_ceil(LANES)];
        let x = match tiles.map(|count| count as u32) {
            [down, across] if down < SIDE && across >= SIDE => REDUCE_WORKGROUP,
            [_, across] => [SIDE, FEWEST].into_iter().find(|&x| x <= across).unwrap_or(1),
        };
        of([own, 1], [REDUCE_WORKGROUP / x, x], false)
    })
}
