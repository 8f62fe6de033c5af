//! What makes kernels fast: one place for what was measured. [`Tuning`] differs between GPUs and adapters on the host's
//! processor; the numbers below are one for all. Facts of correctness stand in the table of drivers. Times are of f32
//! matrices of 4096 x 4096 where nothing else is said.

/// What plans are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Vectors of an invocation: 1 where neighbours should stay next to each other, more where starting an invocation costs
    /// as much as a few loads.
    pub vectors: u32,
    /// Whether wide accesses are of words of 64 bits: where an adapter loads and stores lane by lane.
    pub wide_words: bool,
    /// Whether invocations share a row and meet in workgroup memory: not where a barrier costs more than they gain.
    pub meets: bool,
    /// Where they do not, whether an invocation has all accumulators in turn where these are too costly for one loop. Else as
    /// many invocations meet.
    pub in_turn: bool,
    /// Invocations side by side that take one step together and compute once what all of them have in common: a workgroup of
    /// as many along a row has no other row.
    pub wave: u32,
    /// Whether loading a transposed operand by tiles pays off.
    pub tiles: bool,
    /// Whether workgroups of few columns pay off wherever lanes are scattered across rows, and not only where they are
    /// filled and begin at cache lines.
    pub narrow: bool,
    /// Rows, and vectors of columns, of the results of a product of matrices that an invocation has.
    pub product: [u32; 2],
    /// Bits of a digit that is sorted by, invocations that share a tile, and neighbouring elements that each of them has.
    pub sort: [u32; 3],
}

impl Tuning {
    /// A processor of its own. Others were tried on an H100 (docs/performance.md, On a GPU): none was faster by 3 %.
    pub(crate) const GPU: Tuning = Tuning {
        // Same shape with 2: 1.17 times as long (H100).
        vectors: 1,
        wide_words: false,
        meets: true,
        in_turn: false,
        // RDNA2's compiler: bf16 of NCHW, whose planes are 128 vectors, takes 99 cycles a wave with two rows in a workgroup
        // and 75 with one, whose number is then in a scalar register.
        wave: 64,
        tiles: false,
        narrow: true,
        // Sums of a chunk and of chunks are 32 registers, of 128.
        product: [4, 1],
        // With 16 counts of an invocation, 13 KiB of workgroup memory.
        sort: [4, 128, 8],
    };

    /// The host's processor: lavapipe, llvmpipe, SwiftShader, WARP.
    pub(crate) const HOST: Tuning = Tuning {
        // Starting an invocation costs as much as a few loads. SwiftShader: a row 83 ms with 1, 50 with 4; eight run out of
        // registers.
        vectors: 4,
        wide_words: false,
        // Rows by 64 invocations 34 ms on lavapipe, by one 9.6; on SwiftShader 226 and 23.
        meets: false,
        // Softmax of rows, in `exp`: 4.3 without on SwiftShader, 2.6 with; 2.06 and 2.43 on lavapipe.
        in_turn: true,
        wave: u32::MAX,
        // Transposed: 31 ms without on lavapipe, 27 with.
        tiles: true,
        // 100 channels onto last: 3.0 to 4.1 times the same shape with on lavapipe, 1.4 without.
        narrow: false,
        // 512 x 512 x 512, by hand, ms: lavapipe 435, 267, 221 with 4 x 1, 4 x 2, 4 x 4, and 229, 157 with 8 x 2, 8 x 4, of
        // which the last takes 0.2 s to compile. SwiftShader: 368 with 4 x 4 and 297 with 8 x 2.
        product: [8, 2],
        // Fewer passes, each invocation with a stretch of its own: 16 KiB, which every adapter has.
        sort: [8, 8, 224],
    };

    /// The host's processor where it loads and stores lane by lane: lavapipe and llvmpipe. A word of 64 bits is one load there
    /// where two of 32 are two: the same shape takes 18.3 ms without, 14.6 with. A row: 26 ms with 1 vector, 16.5 with 8.
    pub(crate) const LANE_BY_LANE: Tuning =
        Tuning { vectors: 8, wide_words: true, in_turn: false, ..Tuning::HOST };
}

/// What is a stage of its own.
pub(crate) mod stages {
    /// The most steps of a stage.
    pub(crate) const MOST_STEPS: usize = 512;

    /// Steps that are computed again, through another view of them, at most: each time they are more text.
    pub(crate) const MOST_AGAIN: usize = 32;

    /// How often a search is begun anew at most.
    pub(crate) const MOST_SEARCHES: usize = 4;

    /// What storing an element and loading it again costs.
    pub(crate) const STORED: usize = 8;

    /// Arrays that one storage may be bound as: by elements, by vectors and by two of these.
    pub(crate) const ARRAYS: usize = 3;

    /// Nodes, each counted as often as it is read, up to which an expression is looked at without a graph.
    pub(crate) const FEW: usize = 64;
}

/// What several kernels would compute, and is stored instead.
pub(crate) mod apart {
    /// What storing an element in one kernel and loading it in another costs, in additions, beside loading what
    /// it is made of. Memory is all that an exponential costs on a GPU, so it is computed again.
    pub(crate) const APART: usize = 48;
}

/// Parts of a program that have far fewer elements.
pub(crate) mod hoist {
    /// How much smaller than the result such a part is at least.
    pub(crate) const LEAST_RATIO: usize = 16;
}

/// What steps cost and what a stage must spare, in additions.
pub(crate) mod costs {
    /// What a stage must spare, in additions, to be worth a dispatch: lavapipe takes 50 us for a small kernel,
    /// and 250 us for 2^20 exponentials.
    pub(crate) const LEAST_SPARED: usize = 20 << 20;

    /// What an op costs at least that is dearer than a load, in additions.
    pub(crate) const COSTLY: usize = 8;

    /// The most that the costly steps of a stage may take together, in additions: compilers of drivers take long
    /// for long texts (FXC 3.5 s for eight powers, 14 s for sixteen).
    pub(crate) const MOST_COST: usize = 500;

    /// What the text of a float that becomes an integer costs: its ends and NaN are decided in steps of their own, of which
    /// GL's compiler takes 60 ms each.
    pub(crate) const NARROWING: usize = 16;
}

/// Reductions and what reads them as one stage.
pub(crate) mod rows {
    /// The most steps and reductions of such a stage, and additions that its steps cost in all: its text has them once for
    /// each turn through a row and several times over, and compilers of drivers take long for long texts.
    pub(crate) const MOST_STEPS: usize = 64;
    pub(crate) const MOST_REDUCTIONS: usize = 4;
    pub(crate) const MOST_COST: usize = 128;

    /// The longest rows that lie across memory and are one stage: an invocation reads them all, and each of its
    /// elements is in another line of the cache.
    pub(crate) const LONGEST_ACROSS: usize = 64;

    /// Rows that keep an adapter busy, or elements that are too few for that in any form.
    pub(crate) const LEAST_ROWS: usize = 256;
    pub(crate) const FEW: usize = 1 << 16;

    /// The longest rows of which one reduction, and what follows it, is better one stage where there are many: longer ones
    /// have forms of their own, faster by more than a kernel over one element of each takes.
    pub(crate) const LONGEST_OF_ONE: usize = 16;
}

/// Reductions of windows as steps.
pub(crate) mod unroll {
    /// The most elements of a window, each of which is loads of its own in the text.
    pub(crate) const LONGEST: usize = 32;

    /// The longest step from one window to the next, where they do not overlap: vectors are taken from loads of all.
    pub(crate) const LONGEST_STEP: usize = 3;

    /// What the steps of all of them cost at most, in additions.
    pub(crate) const MOST_COST: usize = 256;
}

/// Walks over elements.
pub(crate) mod grid {
    /// Vectors of a flat walk that an invocation computes at most: more of them share nothing.
    pub(crate) const MOST_FLAT: u32 = 4;

    /// The shortest inner axis whose length is no multiple of the lanes of a vector that is still walked by rows:
    /// below it, idle lanes cost more than the divisions of a flat walk.
    pub(crate) const SHORTEST_ROW: usize = 64;

    /// Strides along the inner axis from which on a load per lane touches a cache line per lane.
    pub(crate) const FAR: isize = 16;

    /// Elements of which rows must be a multiple to be written by columns where narrow workgroups do not
    /// always pay: a few lines.
    pub(crate) const ROW_OF_LINES: isize = 64;
}

/// Vectors that are loaded and stored together.
pub(crate) mod joined {
    /// Bytes that an instruction moves for an invocation at most.
    pub(crate) const WIDEST: usize = 16;
}

/// What texts of elementwise kernels cost to compile.
pub(crate) mod text {
    /// What all vectors of an invocation cost, in additions, above which it computes fewer: drivers take long
    /// to compile a long text.
    pub(crate) const MOST_COST: usize = 192;
}

/// Reductions over invocations.
pub(crate) mod reduce {
    /// Vectors that an invocation loads before it adds them, at most: enough are on their way to hide the time that memory takes.
    pub(crate) const IN_FLIGHT: usize = 8;

    /// Additions that the text of a loop costs at most, each vector of it counted: drivers take long to compile a long text.
    pub(crate) const MOST_COST: usize = 160;

    /// Vectors of 32 bits that an invocation keeps in registers at most: 64 values, of the 128 that leave a GPU enough waves.
    pub(crate) const MOST_HELD: usize = 16;

    /// What the text of all phases costs at most, in additions, where a row stays in registers.
    pub(crate) const MOST_HELD_COST: usize = 1024;

    /// Neighbouring vectors that an invocation of the host's processor has of each place in the row where lanes lie across
    /// rows: the first pass over columns took 1.10 of `x + 1` on lavapipe with one, 0.72 with four, and as long on
    /// SwiftShader.
    pub(crate) const COLUMNS: usize = 4;

    /// Blocks of a row that one invocation reads one after the other, at most.
    pub(crate) const MOST_BLOCKS: usize = 4;

    /// The shortest axis, unless it is one of whole vectors, along which lanes may lie.
    pub(crate) const SHORTEST: usize = 16;

    /// Accumulators that one invocation has at most.
    pub(crate) const FEW: usize = 16;
}

/// Products of matrices.
pub(crate) mod contract {
    /// Invocations across a workgroup that shares nothing: each vector of columns is read by all rows below it.
    pub(crate) const SIDE: u32 = 8;

    /// Workgroups below which most of a large GPU has nothing to do, so that chunks are spread over more, and how many chunks
    /// are worth a pass of their own.
    pub(crate) const FEW_TILES: u32 = 64;
    pub(crate) const LEAST_CHUNKS: usize = 8;
}

/// Scans by tiles.
pub(crate) mod scan {
    /// The longest runs for which a tile of 256 is enough: of one of 4096 most would be empty.
    pub(crate) const SHORT: usize = 512;

    /// Tiles that keep the host's processor busy.
    pub(crate) const MANY: usize = 1024;

    /// Elements of all runs together that the host's processor goes through tile by tile where lanes lie across runs.
    pub(crate) const FEW: usize = 64 << 10;
}
