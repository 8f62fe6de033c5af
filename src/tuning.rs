//! Choices for speed, each with its measurement. [`Tuning`] differs between GPUs and adapters on the host's processor.
//! The numbers below it are the same for all. Facts of correctness are in the table of drivers. Times are of f32
//! matrices of 4096 x 4096 unless stated.

/// The speed-related part of a plan's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Vectors of an invocation: 1 where neighbours should read neighbouring words, more where starting an invocation
    /// costs as much as a few loads.
    pub vectors: u32,
    /// Whether wide accesses are of 64-bit words, for adapters that load and store lane by lane.
    pub wide_words: bool,
    /// Whether invocations share a row and meet in workgroup memory. Not where a barrier costs more than that gains.
    pub meets: bool,
    /// Invocations that step together and compute common values once. A workgroup with as many along a row has no other
    /// row.
    pub wave: u32,
    /// Whether a transposed operand is loaded by tiles.
    pub tiles: bool,
    /// Whether workgroups of few columns pay wherever lanes are scattered across rows, and not only where they are
    /// filled and begin at cache lines.
    pub narrow: bool,
    /// Rows, and vectors of columns, of an invocation's results in a product of matrices.
    pub product: [u32; 2],
    /// The same for matrices of many such tiles in both directions.
    pub large_product: [u32; 2],
    /// Of a sort: the most bits of a digit, the invocations of a workgroup, and the neighbouring elements of each. Where
    /// an invocation has a tile of its own, the last is the elements for each place of its table.
    pub sort: [u32; 3],
}

impl Tuning {
    /// Rows or columns of a product that share one load of an element of a factor.
    pub(crate) fn shared(&self) -> usize {
        let own = self.product[0].max(4 * self.product[1]) as usize;
        if self.meets { 16 * own } else { own }
    }

    /// A GPU. Other values were measured on an H100 (benches/results/2026-11-27-decisions.md): none was faster by 3 %.
    pub(crate) const GPU: Tuning = Tuning {
        // Same shape with 2: 1.17 times as long (H100).
        vectors: 1,
        wide_words: false,
        meets: true,
        // RDNA2's compiler: bf16 of NCHW, whose planes are 128 vectors, takes 99 cycles a wave with two rows in a
        // workgroup and 75 with one, whose number is then in a scalar register.
        wave: 64,
        // A transposed operand by tiles: 1.04 of the time (H100). A load for each lane reads whole sectors there too.
        tiles: false,
        narrow: true,
        // The sums of a chunk and of chunks take 32 registers, of 128.
        product: [4, 1],
        large_product: [4, 1],
        // With 16 counts of an invocation it takes 13 KiB of workgroup memory.
        sort: [4, 128, 8],
    };

    /// The host's processor: lavapipe, llvmpipe, SwiftShader, WARP.
    pub(crate) const HOST: Tuning = Tuning {
        // Starting an invocation costs as much as a few loads. SwiftShader: a row takes 83 ms with 1 and 50 with 4.
        // Eight run out of registers.
        vectors: 4,
        wide_words: false,
        // Rows with 64 invocations take 34 ms on lavapipe, with one 9.6; on SwiftShader 226 and 23.
        meets: false,
        wave: u32::MAX,
        // Transposed: 31 ms without on lavapipe, 27 with.
        tiles: true,
        // 100 channels onto last: 3.0 to 4.1 times the same shape with on lavapipe, 1.4 without.
        narrow: false,
        // 512 x 512 x 512, by hand, ms: lavapipe 435, 267, 221 with 4 x 1, 4 x 2, 4 x 4, and 229, 157 with 8 x 2, 8 x
        // 4, of which the last takes 0.2 s to compile. SwiftShader: 368 with 4 x 4 and 297 with 8 x 2.
        product: [8, 2],
        large_product: [8, 2],
        // A pass over 2^22 elements by 8 bits takes 7.3 of `x + 1.0` on lavapipe, with counts in storages 9.8. With counts
        // in private memory it takes 5.5, and longer than a second to compile. With tiles that meet a sort takes 104. Of
        // 2^24 elements it takes 6.1, 5.4 and 5.9 with tiles of 2048, 4096 and 8192.
        sort: [10, 8, 16],
    };

    /// The host's processor if it loads and stores lane by lane: lavapipe and llvmpipe. A 64-bit word is one load
    /// there, where two of 32 bits are two: the same shape takes 18.3 ms without, 14.6 with. A row takes 26 ms with 1
    /// vector, 16.5 with 8. 512 x 512 x 512 takes 24.5 ms with 8 x 2, 15.4 with 16 x 4, 13.8 with 32 x 4 and 12.5 with
    /// 16 x 8, which take 0.5 s, 2.0 s and 1.9 s longer to compile.
    pub(crate) const LANE_BY_LANE: Tuning =
        Tuning { vectors: 8, wide_words: true, large_product: [16, 4], ..Tuning::HOST };
}

/// The boundaries of stages.
pub(crate) mod stages {
    /// The most steps of a stage.
    pub(crate) const MOST_STEPS: usize = 512;

    /// The most steps that are computed again through another view, as each time they are more text.
    pub(crate) const MOST_AGAIN: usize = 32;

    /// The most searches.
    pub(crate) const MOST_SEARCHES: usize = 4;

    /// The cost of storing an element and loading it again.
    pub(crate) const STORED: usize = 8;

    /// Arrays that one storage may be bound as: elements, vectors, and two of these.
    pub(crate) const ARRAYS: usize = 3;

    /// Expressions of up to this many nodes, each counted as often as it is read, are checked without a graph.
    pub(crate) const FEW: usize = 64;
}

/// Values that several kernels would compute.
pub(crate) mod apart {
    /// The cost of storing an element in one kernel and loading it in another, in additions, beside its operands'
    /// loads. On a GPU an exponential hides behind memory, so it is computed again.
    pub(crate) const APART: usize = 48;
}

/// Parts of a program with far fewer elements.
pub(crate) mod hoist {
    /// The result has at least this many times the part's elements.
    pub(crate) const LEAST_RATIO: usize = 16;
}

/// Counts and reductions by key on adapters.
pub(crate) mod segments {
    /// The most keys whose elements tables count. For more, elements are sorted.
    pub(crate) const MOST_COUNTED: usize = 2048;

    /// The most elements of blocks of runs for each element, so that each block is a row of its own, however short it
    /// is. Else all elements of blocks are combined at once, in some twenty steps.
    pub(crate) const MOST_MASKED: usize = 8;
}

/// Costs of steps, and the least saving of a stage, in additions.
pub(crate) mod costs {
    /// The least saving of a stage that is worth a dispatch, in additions: lavapipe takes 50 us for a small kernel, and
    /// 250 us for 2^20 exponentials.
    pub(crate) const LEAST_SPARED: usize = 20 << 20;

    /// The least cost of an op that is more expensive than a load, in additions.
    pub(crate) const COSTLY: usize = 8;

    /// The most that the expensive steps of a stage may cost together, in additions: drivers' compilers take long for
    /// long texts (FXC 3.5 s for eight powers, 14 s for sixteen).
    pub(crate) const MOST_COST: usize = 500;

    /// The cost of the text that converts a float to an integer: steps of its own handle the range and NaN, of which
    /// GL's compiler takes 60 ms each.
    pub(crate) const NARROWING: usize = 16;
}

/// Row fusion: reductions and their readers as one stage.
pub(crate) mod rows {
    /// The most steps and reductions of such a stage, and additions that its steps cost in total. The text has them
    /// once for each phase and several times over, and drivers' compilers take long for long texts.
    pub(crate) const MOST_STEPS: usize = 64;
    pub(crate) const MOST_REDUCTIONS: usize = 4;
    pub(crate) const MOST_COST: usize = 128;

    /// The longest rows along memory that are one stage where invocations share nothing.
    pub(crate) const LONGEST: usize = 4096;

    /// The values of each invocation of a longer row, which stay in registers. Softmax of rows of 16384 takes 622 us
    /// on an H200 as one kernel and 1111 us as three, 1 GiB of f32.
    pub(crate) const VALUES: usize = 64;

    /// The longest rows across memory that are one stage: one invocation reads a whole row, and each of its elements is
    /// in another cache line.
    pub(crate) const LONGEST_ACROSS: usize = 64;

    /// Rows that keep an adapter busy, or few elements.
    pub(crate) const LEAST_ROWS: usize = 256;
    pub(crate) const FEW: usize = 1 << 16;

    /// The longest rows whose only reduction and its readers are better one stage, if there are many rows. Longer rows
    /// have faster kernels of their own, which save more than a kernel over the results costs.
    pub(crate) const LONGEST_OF_ONE: usize = 16;
}

/// Operands with neighbouring rows, which share loads.
pub(crate) mod near {
    /// The greatest distance between such operands, along a row and in rows: each load between them is text.
    pub(crate) const FAR: isize = 16;

    /// The longest step along a row at which loads hold enough elements. Windows that do not overlap are steps of an
    /// expression up to this step.
    pub(crate) const LONGEST_STEP: usize = 3;
}

/// Reductions of windows as steps.
pub(crate) mod unroll {
    /// The most elements of a window, since each has loads of its own in the text.
    pub(crate) const LONGEST: usize = 32;

    /// The most that the steps of all of them cost, in additions.
    pub(crate) const MOST_COST: usize = 256;
}

/// Walks over elements.
pub(crate) mod grid {
    /// The most vectors of a flat walk for each invocation: more of them share nothing.
    pub(crate) const MOST_FLAT: u32 = 4;

    /// The shortest inner axis of an odd length that is still walked by rows. Below it, idle lanes cost more than a
    /// flat walk's divisions.
    pub(crate) const SHORTEST_ROW: usize = 64;

    /// The least stride along the inner axis with which a load for each lane touches a cache line for each lane.
    pub(crate) const FAR: isize = 16;

    /// Rows must be a multiple of this many elements, a few cache lines, to be written by columns where narrow
    /// workgroups do not always pay.
    pub(crate) const ROW_OF_LINES: isize = 64;
}

/// Joined vectors.
pub(crate) mod joined {
    /// The most bytes that an instruction moves for an invocation.
    pub(crate) const WIDEST: usize = 16;
}

/// Costs of compiling elementwise kernels.
pub(crate) mod text {
    /// The most that all vectors of an invocation cost, in additions. Above it an invocation has fewer vectors, as
    /// drivers take long to compile a long text.
    pub(crate) const MOST_COST: usize = 192;
}

/// Reductions over invocations.
pub(crate) mod reduce {
    /// The most vectors that an invocation loads before it adds them: enough in flight to hide the latency of memory.
    pub(crate) const IN_FLIGHT: usize = 8;

    /// The most additions in the text of a loop, each of its vectors counted, as drivers take long to compile a long
    /// text.
    pub(crate) const MOST_COST: usize = 160;

    /// The most vectors of 32 bits that an invocation keeps in registers: 64 values, of the 128 that leave a GPU enough
    /// waves.
    pub(crate) const MOST_HELD: usize = 16;

    /// The most that the text of all phases costs, in additions, if a row stays in registers.
    pub(crate) const MOST_HELD_COST: usize = 1024;

    /// Neighbouring vectors of an invocation of the host's processor at each place in the row, if lanes lie across
    /// rows. The first pass over columns took 1.10 of `x + 1` on lavapipe with one, 0.72 with four, and the same on
    /// SwiftShader.
    pub(crate) const COLUMNS: usize = 4;

    /// The rows or blocks of an invocation of the host's processor, if this many invocations keep it busy. Four blocks of
    /// a dot product take 0.87 of `x + 1` on lavapipe, one 1.06; eight rows of eight values 0.48, one 0.58.
    pub(crate) const MOST_ITEMS: usize = 8;
    pub(crate) const MANY: usize = 4096;

    /// The most blocks of a row that one invocation reads.
    pub(crate) const MOST_BLOCKS: usize = 4;

    /// The shortest axis, unless it is whole vectors, along which lanes may lie.
    pub(crate) const SHORTEST: usize = 16;

    /// Accumulators that one invocation has at most. Rows of so few vectors are short, and a GPU takes larger workgroups
    /// for them: rows of 16 f32 take 333 us of 1 GiB on an H200 by 256 invocations, and 637 us by 64.
    pub(crate) const FEW: usize = 16;

    /// Vectors of a cache line. On an H200 rows of 64 f32 take 259 us with two vectors an invocation and 388 us with one.
    /// Rows of 16 take 262 us with four, but each load touches four times the lines, and other GPUs cache fewer.
    pub(crate) const OF_LINE: usize = 8;
}

/// Products of matrices.
pub(crate) mod contract {
    /// Invocations across a workgroup that shares nothing. Each vector of columns is read by all rows below it.
    pub(crate) const SIDE: u32 = 8;

    /// Large tiles of an invocation need at least so many in each direction, and in all matrices: four workgroups.
    /// Products of 512 x 512 by 512 x 64 in 16 batches, four tiles across, take 31 ms on lavapipe, with small tiles 47.
    pub(crate) const FEWEST: u32 = 4;
    pub(crate) const ENOUGH: usize = 256;

    /// With fewer workgroups most of a large GPU is idle, so chunks are spread over more; and the number of chunks
    /// worth a pass of their own.
    pub(crate) const FEW_TILES: u32 = 64;

    /// The same for workgroups that read a matrix once, and so wait for memory. 4096 x 4096 by a vector takes 284 us in 64
    /// workgroups on an H200, and 46 us in 4096.
    pub(crate) const FEW_READERS: u32 = 512;
    pub(crate) const LEAST_CHUNKS: usize = 8;

    /// The most that the steps after a product cost, in additions: compilers repeat their text for each vector.
    pub(crate) const MOST_AFTER: usize = 128;
}

/// Scans by tiles.
pub(crate) mod scan {
    /// The longest runs for which a tile of 256 is enough: most of a tile of 4096 would be empty.
    pub(crate) const SHORT: usize = 512;

    /// Tiles that keep the host's processor busy.
    pub(crate) const MANY: usize = 1024;

    /// The most elements of all runs that the host's processor scans tile by tile, if lanes lie across runs.
    pub(crate) const FEW: usize = 64 << 10;
}
