//! Kernels as text: some are kept in the tree to be read, and a change of them shows in review.
//! `ZEROSTRIDE_BLESS=1 cargo test golden` writes them anew.

#![allow(clippy::reversed_empty_ranges)] // a negative bound counts from the end

use std::fs;
use std::path::Path;

use crate::dtype::Element;
use crate::ir::{
    AxisOp, Bounds, Destination, Known, Math, Program, ProgramKind, ReduceOp, ScanAxis, Schedule, Source,
};
use crate::lower::{Cuts, Dispatch, lower, over_slots};
use crate::plan::{Faults, Kernel, Place, Plan, Target, WORKGROUP};
use crate::wgsl::emit;
use crate::{AnyExpr, Device, Expr, Outside, Tensor, f16};

pub(crate) const GPU: Target = Target {
    groups: 65535,
    rate: None,
    bindings: 8,
    workgroup: WORKGROUP,
    faults: Faults {
        flushes: false,
        quotients: false,
        roots: false,
        halves: false,
        half_rounding: false,
        longs: false,
        fma: false,
        splits: false,
        chains: false,
        wide_chains: false,
        doubles: false,
        nans: false,
        fractions: false,
    },
    math: Math::Precise,
    shared: 16384,
    registers: 255,
};

/// A GPU without 64-bit integers.
pub(super) const PAIRS: Target = Target { faults: Faults { longs: true, ..GPU.faults }, ..GPU };

/// What schedules for it need to know.
pub(crate) const BOUNDS: Bounds = Bounds {
    operands: 7,
    row: 1,
    longest_row: 4096,
    shared: 64,
    whole: u64::MAX,
    irregular: false,
    total: false,
};

/// A kernel as it is launched, and the bytes of each tensor that it stores.
pub(super) struct Launched {
    pub plan: Plan,
    pub stored: Vec<usize>,
}

impl Launched {
    pub(super) fn of(plan: Plan, count: usize) -> Launched {
        let stored = plan.kernel.stored.iter().map(|of| count * of.dtype.size()).collect();
        Launched { plan, stored }
    }

    /// The kernels of a program, one after the other.
    pub(super) fn all(schedule: &Schedule, target: Target) -> Vec<Launched> {
        let (commands, _) = lower(schedule.clone(), Destination::New, target, Cuts::UNBOUND).unwrap();
        let launched = |dispatch: &Dispatch| Launched::of(dispatch.plan.clone(), dispatch.writes[0].elements);
        commands.dispatches.iter().map(launched).collect()
    }
}

pub(super) fn kernel<T: Element>(expr: &Expr<T>) -> Kernel {
    kernel_on(GPU, expr)
}

pub(super) fn kernel_on<T: Element>(target: Target, expr: &Expr<T>) -> Kernel {
    map_on(target, expr).plan.kernel
}

pub(super) fn map<T: Element>(expr: &Expr<T>) -> Launched {
    map_on(GPU, expr)
}

fn map_on<T: Element>(target: Target, expr: &Expr<T>) -> Launched {
    let node = expr.untyped().node().unwrap();
    let [program] = over_slots([&Program::new(node, &node.shape).unwrap()]);
    let plan = Plan::new(&program, Place::Fresh, target).unwrap();
    Launched::of(plan, node.shape.iter().product())
}

fn two_results<T: Element, U: Element>(first: &Expr<T>, second: &Expr<U>) -> Launched {
    let (first, second) = (first.untyped().node().unwrap(), second.untyped().node().unwrap());
    let [program] = over_slots([&Program::of(&[first, second], &first.shape, &Known::default()).unwrap()]);
    let plan = Plan::new(&program, Place::Fresh, GPU).unwrap();
    Launched::of(plan, first.shape.iter().product())
}

fn into_tensor<T: Element>(destination: &Tensor<T>, expr: &Expr<T>) -> Launched {
    let program = Program::new(expr.untyped().node().unwrap(), destination.shape()).unwrap();
    let own = Program::new(destination.expr().untyped().node().unwrap(), destination.shape()).unwrap();
    let [program, own] = over_slots([&program, &own]);
    let Source::Slot(slot) = own.inputs[0].source else { panic!("a tensor has a slot") };
    let into = Place::Into(slot, destination.layout());
    Launched::of(Plan::new(&program, into, GPU).unwrap(), slot.elements)
}

/// The first pass of a reduction.
pub(super) fn reduction<T: Element>(target: Target, expr: &Expr<T>, op: ReduceOp, axis: usize) -> Launched {
    let node = expr.untyped().node().unwrap();
    let program = Program::new(node, &node.shape).unwrap().reduced(op, axis..axis + 1);
    Launched::all(&Schedule::only(program), target).swap_remove(0)
}

/// The first or the last pass of a cumulative sum along an axis.
pub(super) fn cumsum<T: Element>(
    target: Target,
    expr: &Expr<T>,
    axis: usize,
    exclusive: bool,
    is_last: bool,
) -> Launched {
    let node = expr.untyped().node().unwrap();
    let scan = ProgramKind::of(AxisOp::Scan(ScanAxis { op: ReduceOp::Sum, axis, exclusive }));
    let program = Program::new(node, &node.shape).unwrap().of_kind(scan);
    let mut passes = Launched::all(&Schedule::only(program), target);
    passes.swap_remove(if is_last { passes.len() - 1 } else { 0 })
}

/// The plan of an expression whose rows are stages.
pub(super) fn scheduled(expr: &AnyExpr) -> Schedule {
    scheduled_for(expr, false)
}

fn scheduled_for(expr: &AnyExpr, total: bool) -> Schedule {
    let node = expr.node().unwrap();
    let bounds = Bounds { operands: usize::MAX, total, ..BOUNDS };
    Schedule::new(&[node], &node.shape, bounds).unwrap()
}

/// The same of an expression that is rows, all in one stage.
pub(super) fn scheduled_rows(expr: &AnyExpr) -> Schedule {
    let schedule = scheduled(expr);
    assert!(
        schedule.stages.is_empty()
            && schedule.last.one().is_some_and(|program| program.row_fused().is_some()),
        "{schedule:?}"
    );
    schedule
}

/// The first kernel of an expression.
pub(super) fn first<T: Element>(target: Target, expr: &Expr<T>) -> Launched {
    Launched::all(&scheduled(expr.untyped()), target).swap_remove(0)
}

/// The same in total mode.
pub(super) fn total<T: Element>(expr: &Expr<T>) -> Launched {
    let target = Target { math: Math::Total, ..GPU };
    Launched::all(&scheduled_for(expr.untyped(), true), target).swap_remove(0)
}

/// A pass of a sort: the first whose description begins so.
fn sort(target: Target, expr: &AnyExpr, pass: &str) -> Launched {
    let (commands, _) = lower(scheduled(expr), Destination::New, target, Cuts::UNBOUND).unwrap();
    let is_it =
        |dispatch: &&Dispatch| dispatch.plan.description.as_ref().is_some_and(|form| form.starts_with(pass));
    let dispatch = commands.dispatches.iter().find(is_it).unwrap();
    Launched::of(dispatch.plan.clone(), dispatch.writes[0].elements)
}

/// Few updates of many rows.
fn updated() -> AnyExpr {
    let (x, places) = (zeros::<f32, 2>([1000, 64]), zeros::<i32, 1>([10]));
    x.scatter([&places], zeros::<f32, 2>([10, 64])).into()
}

/// Counts of bins between a bound of which a table has the numbers.
fn bins() -> AnyExpr {
    let (x, edges) = (zeros::<f32, 1>([100_000]), zeros::<f32, 1>([2]));
    let bin = ((&x - 0.5) * 64.0).cast::<i32>();
    x.ge(edges.slice(0, 0..1)).select(bin, -1).bincount(64).into()
}

/// Sums by key, of leaves on no device.
fn segments() -> AnyExpr {
    let x = Expr::iota([1000], 0);
    x.cast::<f32>().segment_sum(x.rem(7), 7).into()
}

/// An expression that is rows.
pub(super) fn rows<T: Element>(target: Target, expr: &Expr<T>) -> Launched {
    Launched::all(&scheduled_rows(expr.untyped()), target).swap_remove(0)
}

fn zeros<T: Element, const N: usize>(shape: [usize; N]) -> Tensor<T> {
    Device::cpu().zeros(shape).unwrap()
}

/// All but the border.
fn inner(field: &Tensor<f32>) -> Expr<f32> {
    field.slices((1..-1, 1..-1))
}

/// The neighbours of each inner element.
fn stencil(field: &Tensor<f32>) -> Expr<f32> {
    let (above, left) = (field.slices((..-2, 1..-1)), field.slices((1..-1, ..-2)));
    above + field.slices((2.., 1..-1)) + left + field.slices((1..-1, 2..)) - inner(field) * 4.0
}

/// The turns that `z * z + c` stays near.
fn mandelbrot(real: &Tensor<f32>, imaginary: &Tensor<f32>) -> Expr<u32> {
    let zero = real * 0.0;
    let (_, _, n) = Expr::repeat_while(200, (zero.clone(), zero, Expr::scalar(0_u32)), |(x, y, n)| {
        let (xx, yy) = (&x * &x, &y * &y);
        ((&xx + &yy).le(4.0), (xx - yy + real, x * y * 2.0 + imaginary, n + 1))
    });
    n
}

/// A walk along the rows of a table, and the elements beside it in another table.
fn walk(table: &Tensor<f32>, bytes: &Tensor<u8>) -> Expr<f32> {
    let shape = table.shape().clone();
    let (row, zero) = (Expr::iota(shape.clone(), 0), Expr::scalar(0.0_f32));
    let (_, sum) = Expr::repeat(9, (Expr::iota(shape, 1), zero), |(at, sum)| {
        let found = table.at([&row, &at]);
        let beside = bytes.at([&at, &(&at >> 1)]).cast::<i32>();
        (&at + beside, sum + found)
    });
    sum
}

/// The kernels that are kept, by name.
pub(super) fn kernels() -> Vec<(&'static str, Kernel)> {
    launched(1).into_iter().map(|(name, launched)| (name, launched.plan.kernel)).collect()
}

/// The same as they are launched over `n` times as many elements.
#[allow(clippy::eq_op)] // `a - a` is what no compiler may op
pub(super) fn launched(n: usize) -> Vec<(&'static str, Launched)> {
    let (a, b) = (zeros::<f32, 2>([64 * n, 256]), zeros::<f32, 2>([64 * n, 256]));
    let (row, column) = (zeros::<f32, 1>([256]), zeros::<f32, 2>([64 * n, 1]));
    // Of more elements, but columns as long.
    let (columns, wide_row) = (zeros::<f32, 2>([64, 256 * n]), zeros::<f32, 1>([256 * n]));
    let (flat, long) = (zeros::<f32, 1>([1000 * n]), zeros::<f32, 1>([1000 * n + 1]));
    let bytes = zeros::<u8, 2>([64 * n, 255]);
    let image = zeros::<u8, 3>([32 * n, 32, 3]);
    let i = zeros::<i32, 1>([100 * n]);
    let mean = zeros::<f32, 1>([3]);
    let (field, next) = (zeros::<f32, 2>([64 * n, 257]), zeros::<f32, 2>([64 * n, 257]));
    let every_second = a.slice_step(1, .., 2);
    let odd_bytes = bytes.slice(1, 1..);
    vec![
        ("same_shape", map(&(&a + &b))),
        ("self_difference", map(&(&a - &a))),
        ("error_of_a_sum", map(&((&a - ((&a + &b) - ((&a + &b) - &a))) + (&b - ((&a + &b) - &a))))),
        ("contraction", map(&((&a * &b).abs() + (&a * &row).maximum(&column)))),
        ("two_results", two_results(&(&a + &row).exp(), &(&a + &row).abs())),
        ("shifted", map(&(&flat + long.slice(0, 1..)))),
        ("stepped", map(&(&every_second + zeros::<f32, 2>([64 * n, 128])))),
        ("odd_rows", map(&(zeros::<f32, 2>([63 * n, 253]) + zeros::<f32, 1>([253])))),
        ("row_column_scalar", map(&((&a - &row) / &column * 0.5).relu())),
        ("transposed", map(&(&a + zeros::<f32, 2>([256, 64 * n]).transpose(0, 1)))),
        ("normalize", map(&(image.cast::<f32>() / 255.0 - &mean).permute([2, 0, 1]))),
        ("short_rows", map(&(zeros::<i32, 2>([1000 * n, 3]).rem_floor(zeros::<i32, 1>([3]))))),
        ("batch_channel", map(&(zeros::<f32, 4>([2 * n, 3, 8, 8]) + zeros::<f32, 4>([1, 3, 1, 8])))),
        ("compare_and_select", map(&a.gt(&row).select(a.coordinate(1).cast::<f32>(), &column))),
        (
            "joined",
            map(&(zeros::<f16, 2>([64 * n, 256]) * zeros::<f16, 1>([256]) + zeros::<f16, 2>([64 * n, 1]))),
        ),
        ("joined_bytes", map(&zeros::<u8, 1>([1000 * n]).lt(zeros::<u8, 1>([1000 * n])))),
        ("mask", map(&(bytes.eq(7) & zeros::<bool, 1>([255])))),
        // Integers of 64 bits, as pairs of words.
        ("pairs", map_on(PAIRS, &(zeros::<i64, 1>([1000 * n]) + zeros::<i64, 1>([1000 * n])))),
        // Windows: rows that begin where loads do, and share them; that do not; of two steps, which do not overlap.
        ("box_blur", first(GPU, &a.windows([3, 3], [0, 1]).mean([-2, -1]))),
        ("stencil", into_tensor(&inner(&next).tensor().unwrap(), &stencil(&field))),
        ("pool", first(GPU, &a.windows_with([2, 2], [0, 1], [2, 2], [1, 1]).sum([-2, -1]))),
        // Sums: of rows by one invocation, by sixteen that meet in workgroup memory, and by 64 that have four blocks;
        // of rows that take another pass; of columns; of rows that are no whole vectors. A maximum, for which no order
        // shows; the index of one; a cumulative sum, its groups and then all.
        ("sum_of_rows", reduction(GPU, &(&a * &row), ReduceOp::Sum, 1)),
        ("total_sum_of_rows", total(&(&a * &row).sum(1))),
        ("sum_of_long_rows", reduction(GPU, &zeros::<f32, 2>([8 * n, 4096]).expr(), ReduceOp::Sum, 1)),
        ("sum_of_columns", reduction(GPU, &(&columns * &wide_row), ReduceOp::Sum, 0)),
        ("sum_of_odd_rows", reduction(GPU, &zeros::<f32, 2>([1000 * n, 3]).expr(), ReduceOp::Sum, 1)),
        ("argmax_of_all", reduction(GPU, &zeros::<f32, 1>([1001]).expr(), ReduceOp::ArgMax, 0)),
        // Cumulative sums: of rows by an invocation each and by sixteen that share a tile; of a long run, what is last
        // in tiles and then all; across rows.
        ("cumsum_of_rows_exclusive", cumsum(GPU, &a.expr(), 1, true, false)),
        ("cumsum_of_odd_rows", cumsum(GPU, &zeros::<f32, 2>([1000 * n, 35]).expr(), 1, false, false)),
        ("cumsum_lasts", cumsum(GPU, &zeros::<f32, 1>([100_000 * n]).expr(), 0, false, false)),
        ("cumsum_values", cumsum(GPU, &zeros::<f32, 1>([100_000 * n]).expr(), 0, false, true)),
        ("cumsum_values_exclusive", cumsum(GPU, &zeros::<f32, 1>([100_000 * n]).expr(), 0, true, true)),
        ("cumsum_of_columns", cumsum(GPU, &zeros::<f32, 2>([100, 70 * n.min(9)]).expr(), 0, false, false)),
        // All that is made of rows: by one invocation each, by sixteen, and by one each where lanes lie across
        // them; of rows of three; and what follows a reduction.
        ("softmax", rows(GPU, &a.softmax(1))),
        (
            "standardize_columns",
            rows(GPU, &((&columns - columns.mean_keepdim(0)) / columns.std_keepdim(0, 0))),
        ),
        ("softmax_of_three", rows(GPU, &zeros::<f32, 2>([1000 * n, 3]).softmax(1))),
        ("range_of_rows", rows(GPU, &(a.max(1) - a.min(1)))),
        // Products of matrices: by workgroups that share a tile, of small integers, whose products end within a vector;
        // by an invocation each, also with loads of four products; by four rows an invocation; of one chunk with both
        // factors along it; of a matrix and a vector.
        ("product", first(GPU, &zeros::<f32, 2>([128 * n, 256]).matmul(zeros::<f32, 2>([256, 64])))),
        (
            "product_of_bytes",
            first(GPU, &{
                let bytes = zeros::<u8, 2>([128 * n, 255]).cast::<f32>();
                bytes.matmul(zeros::<f32, 3>([3, 255, 70]).slice(2, ..70))
            }),
        ),
        (
            "product_between_steps",
            first(GPU, &{
                let (weights, scale) = (zeros::<u8, 2>([256, 64]), zeros::<f32, 1>([64]));
                let product = zeros::<f32, 2>([128 * n, 256]).matmul(weights.cast::<f32>() * &scale);
                (product + zeros::<f32, 1>([64])).tanh()
            }),
        ),
        (
            "product_in_few_registers",
            first(
                Target { registers: 128, ..GPU },
                &zeros::<f32, 2>([128 * n, 256]).matmul(zeros::<f32, 2>([256, 64])),
            ),
        ),
        (
            "product_of_one_chunk",
            first(GPU, &zeros::<f32, 3>([2 * n, 1000, 64]).matmul(zeros::<f32, 2>([1024, 64]).t())),
        ),
        ("matrix_times_vector", first(GPU, &zeros::<f32, 2>([64 * n, 256]).matmul(zeros::<f32, 1>([256])))),
        // Sorts: digits of a tile counted, counts added up, elements moved, alone or with indices, and rows sorted whole.
        ("digits", sort(GPU, &zeros::<f32, 1>([100_000 * n]).sort(0).into(), "digits")),
        ("counts_added_up", sort(GPU, &zeros::<f32, 1>([100_000 * n]).sort(0).into(), "counts")),
        ("counted", sort(GPU, &zeros::<u32, 1>([100_000 * n]).bincount(200).into(), "elements of tiles")),
        // Bins, computed where they are counted.
        ("histogram", sort(GPU, &bins(), "elements of tiles")),
        // Numbers of true elements, and elements of segments.
        ("truths", sort(GPU, &zeros::<bool, 1>([1000]).nonzero_padded(10, 0).into(), "rows sorted")),
        ("moved_with_indices", sort(GPU, &zeros::<f64, 1>([100_000]).argsort(0).into(), "elements moved")),
        ("sorted_rows", sort(GPU, &zeros::<f32, 2>([1000 * n, 9]).sort(1).into(), "rows sorted")),
        ("segments", sort(GPU, &segments(), "rows sorted")),
        ("put", sort(GPU, &updated(), "rows of updates")),
        ("moved", sort(GPU, &zeros::<f32, 1>([100_000 * n]).sort(0).into(), "elements moved")),
        // Lookups: by two indices, of elements that share words, of rows that are loaded whole, and around a border.
        ("lookup", map(&a.at([&i, &(&i + 1)]))),
        ("lookup_bytes", map(&bytes.at_with([&i, &i], Outside::fill(7)))),
        ("lookup_rows", map(&a.take(&i, 0))),
        ("roll", map(&a.roll([1, 1], [0, 1]))),
        ("two_types", two_results(&(&a + &row), &a.gt(&row))),
        // Random numbers, and a loop with an operand that all iterations share.
        ("uniform", map(&Expr::<f32>::uniform([64 * n, 256], 1))),
        ("normal", map(&Expr::<f32>::normal([64 * n, 256], 1))),
        ("mandelbrot", map(&mandelbrot(&a, &row))),
        // A loop that looks up: in rows of its own, and by two values of a turn.
        ("walk", map(&walk(&a, &bytes))),
        ("in_place", into_tensor(&a, &(&a * &row))),
        ("strided_destination", into_tensor(&every_second.tensor().unwrap(), &(&every_second + 1.0))),
        ("packed_destination", into_tensor(&odd_bytes.tensor().unwrap(), &(&odd_bytes ^ 1))),
    ]
}

#[test]
fn rows_have_workgroups_of_their_own_unless_there_are_more_of_them() {
    let rows = zeros::<f32, 3>([2, 300, 256]) + zeros::<f32, 3>([2, 1, 256]);
    for (groups, workgroup) in [(300, [64, 1]), (299, [64, 4])] {
        assert_eq!(kernel_on(Target { groups, ..GPU }, &rows).workgroup, workgroup);
    }
}

#[test]
fn kernels_in_the_tree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, kernel) in kernels() {
        let text = emit(&kernel).unwrap().text();
        let path = folder.join(name).with_extension("wgsl");
        if std::env::var_os("ZEROSTRIDE_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(text, kept, "{name}: if the change is meant, run with ZEROSTRIDE_BLESS=1");
    }
}

/// `shaders/elementwise.wgsl` explains an emitted kernel: without its comments it is one.
#[test]
fn the_commented_instance() {
    let code = |text: &str| -> String {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        // Where a comment stood alone, two blank lines meet.
        code.collect::<Vec<_>>().join("\n").replace("\n\n\n", "\n\n")
    };
    let (a, row, column) = (zeros::<f32, 2>([64, 256]), zeros::<f32, 1>([256]), zeros::<f32, 2>([64, 1]));
    let commented = include_str!("../../../shaders/elementwise.wgsl");
    assert_eq!(
        code(commented).trim(),
        code(&emit(&kernel(&((&a - &row) / &column * 0.5))).unwrap().text()).trim()
    );
}
