//! The plan of a product of matrices: which axes are rows, columns, batches, and how results are laid over invocations.

use smallvec::SmallVec;

use super::access::{Access, Chooser, Store};
use super::fields::{self, Field, Number, divider};
use super::grid::workgroups;
use super::kernel::Kernel;
use super::launch::{Launch, MOST_ELEMENTS, Pass, Place};
use super::makes::{Contract, Makes};
use super::reading::{Bound, Reading};
use super::target::Target;
use super::walk::{LANES, REDUCE_WORKGROUP, Together, Walk, whole};
use crate::error::{Result, bail};
use crate::ir::{CHUNK, Program, ProgramKind, Source, Value};
use crate::layout::{Axes, Axis, Layout, Nest, merge};

impl Pass {
    /// Plans a program whose products are added up along axes.
    pub(crate) fn contract(program: &Program, target: Target) -> Result<Pass> {
        let (ProgramKind::Contract(contracted), Some(step)) =
            (&program.kind, program.step(program.results[0]))
        else {
            bail!(Kernel, "a program without a contraction")
        };
        let mut factors: SmallVec<[Value; 2]> = step.args.iter().copied().collect();
        let shape = &program.shape;
        let followed = program.followed();
        let kept = |wanted: [bool; 2], factors: &[Value]| -> Vec<usize> {
            let follows: Vec<&Vec<bool>> = factors.iter().map(|&factor| &followed[factor]).collect();
            let kept = (0..shape.rank()).filter(|axis| !contracted.contains(axis) && shape[*axis] > 1);
            kept.filter(|&axis| [follows[0][axis], follows[1][axis]] == wanted).collect()
        };
        // One row is as many results of an invocation as one column, and reads less.
        if kept([false, true], &factors).is_empty() {
            factors.swap(0, 1);
        }
        let same = |layout: &Layout| Ok(layout.clone());
        let own = program.extract(&factors, shape.clone(), &Default::default(), same)?;
        let out = Layout::contiguous(program.result_shape())?;
        let axes = |axes: &mut dyn Iterator<Item = usize>| -> Axes {
            let strides = |k: usize| own.inputs.iter().map(move |input| input.layout.strides()[k]);
            let stride = |k: usize| if contracted.contains(&k) { 0 } else { out.strides()[k] };
            merge(axes.map(|k| Axis {
                length: shape[k],
                strides: std::iter::once(stride(k)).chain(strides(k)).collect(),
            }))
        };
        let mut batch = kept([true, true], &factors);
        batch.extend(kept([false, false], &factors));
        let [rows, columns] = [[true, false], [false, true]].map(|wanted| kept(wanted, &factors));
        let mut groups =
            [batch, rows, columns, contracted.clone().collect()].map(|group| axes(&mut group.into_iter()));
        if groups[3].is_empty() {
            groups[3].push(Axis { length: 1, strides: (0..=own.inputs.len()).map(|_| 0).collect() });
        }
        let count = |axes: &Axes| axes.iter().fold(1_usize, |all, axis| all.saturating_mul(axis.length));
        let [batches, rows, columns, products] = groups.each_ref().map(count);
        let results = batches.saturating_mul(rows).saturating_mul(columns);
        if results.max(products) > MOST_ELEMENTS {
            bail!(
                Limit,
                "a product over {shape} has more than {MOST_ELEMENTS} results, or products of one, which is what a kernel \
                 counts to: evaluate it in slices"
            );
        }
        let ends: Vec<usize> = groups.iter().scan(0, |end, own| (*end += own.len(), Some(*end)).1).collect();
        let [batch, row, column] = [ends[0], ends[1], ends[2]];
        let offsets = std::iter::once(0).chain(own.inputs.iter().map(|input| input.layout.offset()));
        let loops = Nest::of(offsets, groups.iter().flatten());

        let walk = if groups[3].len() == 1 { Walk::Rows } else { Walk::Anywhere };
        let reading = Reading::of(&own, Place::Fresh);
        let chooser = Chooser { loops: &loops, walk, together: Together::Apart, vectors: 1 };
        let mut accesses = reading.reduced(&own, &chooser, target);
        let bound = Bound::new(&own, &reading, &mut accesses, 1, target)?;
        let own_rows = if rows == 1 { 1 } else { LANES as u32 };
        let element = program.dtype.size().max(size_of::<u32>()) as u32;
        let group = group(target, element).filter(|_| own_rows > 1 && columns > 1);
        let sides = group.unwrap_or([1, 1]);
        let tile = [sides[0] * own_rows, sides[1] * LANES as u32];
        let depth = if group.is_some() { Contract::DEPTH as usize * LANES } else { LANES };
        let neighbours = |value: &Value| neighbours(&own, &accesses, *value, &loops);
        let contract = Contract {
            batch: 0..batch,
            kept: [batch..row, row..column],
            axes: column..ends[3],
            rows: own_rows,
            levels: levels(products),
            group,
            along: [neighbours(&own.results[0]), neighbours(&own.results[1])],
            masked: !products.is_multiple_of(depth),
        };
        let tiles = [rows.div_ceil(tile[0] as usize), columns.div_ceil(tile[1] as usize)];
        let all = batches * tiles[0] * tiles[1];
        let workgroup = group.map_or(REDUCE_WORKGROUP, |[y, x]| y * x);
        let invocations = if group.is_some() { all * workgroup as usize } else { all };
        let [x, y] = workgroups(shape, invocations, workgroup, target)?;
        let pitch = if group.is_some() { x } else { x * workgroup as usize };
        let form = describe(&contract, [rows, columns, products], tile);
        let stored = whole(program.dtype);
        let strides = Store::Lanes.access().strides(loops.output(), walk);
        let (kernel, reads) =
            Kernel::assemble(&own, bound, &accesses, &loops, (walk, Store::Lanes, strides), target);
        let makes = Makes::Contract(contract);
        let kernel = Kernel { workgroup: [workgroup, 1], out: stored, makes, ..kernel };
        let words = fields::words(&kernel, &loops, &own, |field| {
            let number = match *field {
                Field::Count => all,
                Field::Pitch => pitch,
                Field::Reduce(number) => match number {
                    Number::Row => products,
                    Number::Rows => rows,
                    Number::Columns => columns,
                    Number::Positions => tiles[0],
                    Number::PositionsFactor => divider(tiles[0]).0 as usize,
                    Number::PositionsShift => divider(tiles[0]).1 as usize,
                    Number::Vectors => tiles[1],
                    Number::VectorsFactor => divider(tiles[1]).0 as usize,
                    Number::VectorsShift => divider(tiles[1]).1 as usize,
                    _ => 0,
                },
                _ => 0,
            };
            number as u32
        });
        let launch = Launch { words, groups: [x as u32, y as u32, 1] };
        Ok(Pass::of(program, (kernel, launch, reads, loops), (vec![stored], results), form, None))
    }
}

/// Whether what a factor is mostly made of lies along the products of a result.
fn neighbours(own: &Program, accesses: &[Access], value: Value, loops: &Nest) -> bool {
    let needed = own.needed(&[value], |_| false);
    let is_read = |i: &usize| needed.inputs()[*i] && matches!(own.inputs[*i].source, Source::Slot(_));
    let main = (0..own.inputs.len()).filter(is_read).max_by_key(|&i| own.inputs[i].layout.distinct());
    main.is_none_or(|i| accesses[i] == Access::Vector || loops.operand(i).strides.last() == Some(&1))
}

/// Rows and columns of the invocations that share a tile, where workgroup memory has room for it.
fn group(target: Target, element: u32) -> Option<[u32; 2]> {
    let sides = [[16, 16], [8, 16], [8, 8]];
    let bytes = |[y, x]: [u32; 2]| (y + x) * LANES as u32 * Contract::DEPTH * LANES as u32 * element;
    let fits = |sides: &[u32; 2]| sides[0] * sides[1] <= target.workgroup && bytes(*sides) <= target.shared;
    sides.into_iter().find(|sides| target.tuning.meets && fits(sides))
}

/// Levels of sums above those of chunks that so many products need.
fn levels(count: usize) -> u32 {
    let chunks = std::iter::successors(Some(count), |&count| Some(count.div_ceil(CHUNK)));
    chunks.take_while(|&count| count > CHUNK).count() as u32
}

/// What a kernel does, in words.
fn describe(contract: &Contract, [rows, columns, products]: [usize; 3], tile: [u32; 2]) -> String {
    let who = if contract.group.is_some() { "a workgroup" } else { "an invocation" };
    let matrices = if contract.batch.is_empty() { "a product" } else { "products" };
    format!(
        "{matrices} of {rows} rows and {columns} columns over {products}: {who} has {} by {} results",
        tile[0], tile[1]
    )
}
