//! The table of reductions: the one place that knows how many values become one.
//!
//! A row has the name of a reduction, whether it has a cumulative form, the types that it takes, its identity, and how
//! two values become one in WGSL and on the CPU. A `word` form of integers has the same bits for signed and unsigned
//! ones. Floats have one form for f32 and f64: the builder of a reduction casts f16 and bf16 to f32, and rounds once at
//! the end. In a WGSL form `{a}` and `{b}` are the operands, four lanes each, `{a}` before `{b}` in the order of the
//! range, and `{T}` is the type that computes. The form of a reduction to an index says whether `b` replaces `a`; if
//! neither wins, the lesser index stays. `expr/reductions.rs` composes other reductions from these.
//!
//! [`ReduceAxes`](super::ReduceAxes) states the order of float sums and products. Minima, maxima, booleans and integers have none.

use super::op::kind;
use super::scalar::limits;
use crate::dtype::{DType, Kind};

/// Values of a block. They become one value, and the values of all blocks are the next round's.
pub(crate) const BLOCK: usize = 1024;

/// Accumulators of a block, to each of which every 64th value is added.
pub(crate) const ACCUMULATORS: usize = 64;

/// Products of a chunk, which are added in sequence.
///
/// The order of a contraction: products in row-major order of the axes, in chunks of this many. Each product of a chunk
/// is added to those before it by one `fma`, which begins with +0. The values of the chunks are added up in the same way,
/// until there is one. A zero is +0.
pub(crate) const CHUNK: usize = 64;

/// The most products that one program adds up. Of more it makes several sums, which another program adds up as products
/// with 1.
pub(crate) const LONGEST_PRODUCT: usize = CHUNK * CHUNK;

/// Values of a group of a scan.
pub(crate) const GROUP: usize = 16;

/// Calls `$go!` with the whole table.
macro_rules! for_each_reduce_op {
    ($go:ident) => {
        $go! {
            /// The sum, in the order of the contract; integers wrap, and a zero of a float sum is +0.
            Sum: sum from Zero -> [T scans] {
                float "{a} + {b}" = |a, b| a + b;
                word "{a} + {b}" = |a, b| a.wrapping_add(b);
            }
            /// The product, in the order of the contract; integers wrap.
            Prod: prod from One -> [T scans] {
                float "{a} * {b}" = |a, b| a * b;
                word "{a} * {b}" = |a, b| a.wrapping_mul(b);
            }
            /// The least value. NaN wins, and -0 is less than +0 (IEEE 754-2019 `minimum`).
            Min: min from Greatest -> [T scans] {
                float "min_{T}({a}, {b})" = |a, b| math::minimum(a, b);
                int "min({a}, {b})" = |a, b| a.min(b);
            }
            /// The greatest value. NaN wins, and +0 is greater than -0 (IEEE 754-2019 `maximum`).
            Max: max from Least -> [T scans] {
                float "max_{T}({a}, {b})" = |a, b| math::maximum(a, b);
                int "max({a}, {b})" = |a, b| a.max(b);
            }
            /// The index of the first of the least values, as u32. The first NaN wins; zeros are equal.
            ArgMin: argmin from Greatest -> [u32] {
                float "beats_min_{T}({a}, {b})" = |a, b| math::beats_min(a, b);
                int "{b} < {a}" = |a, b| b < a;
            }
            /// The index of the first of the greatest values, as u32. The first NaN wins; zeros are equal.
            ArgMax: argmax from Least -> [u32] {
                float "beats_max_{T}({a}, {b})" = |a, b| math::beats_max(a, b);
                int "{b} > {a}" = |a, b| b > a;
            }
            /// [`Sum`](Self::Sum) in total mode.
            TotalSum: sum from Zero -> [T scans] {
                float "flushed_sum_{T}({a}, {b})" = |a, b| math::Stored::total(a + b);
            }
            /// [`Prod`](Self::Prod) in total mode.
            TotalProd: prod from One -> [T scans] {
                float "flushed_product_{T}({a}, {b})" = |a, b| math::Stored::total(a * b);
            }
            /// Whether one is true.
            Any: any from Zero -> [T] {
                bool "{a} | {b}" = |a, b| a | b;
            }
            /// Whether all are true.
            All: all from One -> [T] {
                bool "{a} & {b}" = |a, b| a & b;
            }
        }
    };
}
pub(crate) use for_each_reduce_op;

/// The identity: combined with it, a value does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Zero,
    One,
    /// Infinity, for floats.
    Greatest,
    Least,
}

/// The forms of a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReduceForm {
    kinds: &'static [Kind],
    pub wgsl: &'static str,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReduceRow {
    pub name: &'static str,
    /// Whether the result is the index of a value.
    pub gives_index: bool,
    identity: Identity,
    forms: &'static [ReduceForm],
}

macro_rules! gives_index {
    ([T $(scans)?]) => {
        false
    };
    ([u32]) => {
        true
    };
}

macro_rules! define {
    ($($(#[doc = $doc:literal])+ $op:ident: $name:ident from $identity:ident -> $gives:tt
        { $($kind:ident $wgsl:literal = $cpu:expr;)+ })*) => {
        /// A reduction of many values to one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum ReduceOp { $($(#[doc = $doc])+ $op,)* }

        /// The rows, in the order of the enum.
        const REDUCE_ROWS: &[ReduceRow] = &[$(ReduceRow {
            name: stringify!($name),
            gives_index: gives_index!($gives),
            identity: Identity::$identity,
            forms: &[$(ReduceForm { kinds: kind!($kind), wgsl: $wgsl }),+],
        },)*];
    };
}
for_each_reduce_op!(define);

impl ReduceOp {
    pub(crate) fn row(self) -> &'static ReduceRow {
        &REDUCE_ROWS[self as usize]
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// The form for operands of a type, if the reduction takes them.
    pub(crate) fn form(self, dtype: DType) -> Option<&'static ReduceForm> {
        let takes = |form: &&ReduceForm| form.kinds.contains(&dtype.kind());
        self.row().forms.iter().find(takes).filter(|_| dtype == dtype.accumulating())
    }

    /// The type of the result for operands of a type, if the reduction takes them.
    pub(crate) fn result(self, dtype: DType) -> Option<DType> {
        self.form(dtype).map(|_| if self.row().gives_index { DType::U32 } else { dtype })
    }

    /// The bits of the identity: the result of an empty range, and padding past the end of a block. For a reduction to
    /// an index it is a value to compare with.
    pub(crate) fn identity(self, dtype: DType) -> u64 {
        let float = |value: f64| match dtype {
            DType::F64 => value.to_bits(),
            _ => (value as f32).to_bits().into(),
        };
        let is_float = dtype.kind() == Kind::Float;
        let mask = u64::MAX >> (64 - 8 * dtype.size());
        match self.row().identity {
            Identity::Zero => 0,
            Identity::One if is_float => float(1.0),
            Identity::One => 1,
            Identity::Greatest if is_float => float(f64::INFINITY),
            Identity::Least if is_float => float(f64::NEG_INFINITY),
            Identity::Greatest => limits(dtype).1 as u64 & mask,
            Identity::Least => limits(dtype).0 as u64 & mask,
        }
    }

    /// Whether the bits of the result depend on the order in which values are combined.
    pub(crate) fn is_ordered(self, dtype: DType) -> bool {
        let adds = matches!(self, ReduceOp::Sum | ReduceOp::Prod | ReduceOp::TotalSum | ReduceOp::TotalProd);
        adds && dtype.kind() == Kind::Float
    }

    /// Whether it is a form of total mode.
    pub(crate) fn is_total(self) -> bool {
        matches!(self, ReduceOp::TotalSum | ReduceOp::TotalProd)
    }

    /// Whether it adds.
    pub(crate) fn is_sum(self) -> bool {
        matches!(self, ReduceOp::Sum | ReduceOp::TotalSum)
    }
}
