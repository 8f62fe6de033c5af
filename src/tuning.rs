//! Choices for speed, each with its measurement. They are the same for all adapters: each kernel has one form, which suits
//! GPUs. Facts of correctness are in the table of drivers. Other values were measured on an H100
//! (benches/results/2026-11-27-decisions.md): none was faster by 3 %.

/// The boundaries of stages.
pub(crate) mod stages {
    /// The most steps of a stage.
    pub(crate) const MOST_STEPS: usize = 512;

    /// The most steps that are computed again through another view, as each time they are more text.
    pub(crate) const MOST_AGAIN: usize = 32;

    /// The most iterations of loops for all elements of a row that is reduced.
    pub(crate) const MOST_REDUCED: u64 = 1024;

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

    /// The least mean length of runs whose blocks have an invocation for each accumulator. Shorter runs have one each.
    pub(crate) const LONG_RUN: usize = 64;
}

/// The first places of sorted rows on adapters.
pub(crate) mod first {
    /// The most places that are chosen by blocks.
    pub(crate) const MOST: usize = 2048;

    /// The least elements of a row for each that is sorted then.
    pub(crate) const LEAST_SPARED: usize = 4;
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

    /// The longest rows along memory that are one stage of the CPU path.
    pub(crate) const LONGEST: usize = 4096;

    /// On an adapter, the values of a row that an invocation keeps in registers. Softmax of rows of 16384 takes 622 us on
    /// an H200 as one kernel and 1111 us as three, 1 GiB of f32.
    pub(crate) const VALUES: usize = 64;

    /// The longest rows across memory that are one stage: one invocation reads a whole row, and each of its elements is
    /// in another cache line.
    pub(crate) const LONGEST_ACROSS: usize = 64;

    /// Rows that keep an adapter busy, or few elements.
    pub(crate) const LEAST_ROWS: usize = 256;
    pub(crate) const FEW: usize = 1 << 16;
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
    /// The shortest inner axis of an odd length that is still walked by rows. Below it, idle lanes cost more than a
    /// flat walk's divisions.
    pub(crate) const SHORTEST_ROW: usize = 64;

    /// The least stride along the inner axis with which a load for each lane touches a cache line for each lane.
    pub(crate) const FAR: isize = 16;

    /// Invocations that step together and compute common values once. A workgroup with as many along a row has no other
    /// row. RDNA2's compiler: bf16 of NCHW, whose planes are 128 vectors, takes 99 cycles a wave with two rows in a
    /// workgroup and 75 with one, whose number is then in a scalar register.
    pub(crate) const WAVE: u32 = 64;
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

    /// Invocations across such a workgroup where the result has fewer vectors of columns than that.
    pub(crate) const FEWEST: u32 = 4;

    /// Rows of an invocation, each a vector of columns. The sums of a chunk and of chunks take 32 registers, of 128.
    /// Large matrices have twice the rows, and twice the columns too if there is one chunk: an element in workgroup memory
    /// is loaded for more products (benches/results/2026-11-30-tiles.md).
    pub(crate) const ROWS: u32 = 4;

    /// The least workgroups with tiles of twice the rows. An H200 runs 132 at once.
    pub(crate) const LEAST_TILES: usize = 96;

    /// The least registers of an invocation for such tiles. With 128, Intel's compiler spills.
    pub(crate) const REGISTERS: u32 = 160;

    /// Rows or columns of a workgroup's tile, all of which share one load of an element of a factor.
    pub(crate) const SHARED: usize = 16 * ROWS as usize;

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
}

/// Sorts and counts by tiles.
pub(crate) mod sort {
    /// The most bits of a digit, the invocations of a workgroup, and the elements that each sorts. A tile is sorted by four
    /// bits at a time: an invocation packs sixteen counts of as many bits into two words, and fifteen elements are counted
    /// so. With 256 invocations that takes 26 KiB of workgroup memory; an adapter with less has half as many.
    pub(crate) const BITS: u32 = 8;
    pub(crate) const GROUP: u32 = 256;
    pub(crate) const EACH: u32 = 16;
}
