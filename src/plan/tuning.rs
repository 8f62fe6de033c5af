//! What makes kernels fast: one place for what was measured, for GPUs and for adapters on the host's processor. Facts of
//! correctness stand in the table of drivers. f32 matrices of 4096 x 4096 where not said otherwise.

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
    /// Invocations side by side that take one step together and compute once what all of them have in common: a workgroup of
    /// as many along a row has no other row.
    pub wave: u32,
    /// Whether loading a transposed operand by tiles pays off.
    pub tiles: bool,
    /// Whether workgroups of few columns pay off wherever lanes are scattered across rows, and not only where they are
    /// filled and begin at cache lines.
    pub narrow: bool,
}

impl Tuning {
    /// A processor of its own. Others were tried on an H100 (docs/performance.md, On a GPU): none was faster by 3 %.
    pub(crate) const GPU: Tuning = Tuning {
        // Same shape with 2: 1.17 times as long (H100).
        vectors: 1,
        wide_words: false,
        meets: true,
        // RDNA2's compiler: bf16 of NCHW, whose planes are 128 vectors, takes 99 cycles a wave with two rows in a workgroup
        // and 75 with one, whose number is then in a scalar register.
        wave: 64,
        tiles: false,
        narrow: true,
    };

    /// The host's processor: lavapipe, llvmpipe, SwiftShader, WARP.
    pub(crate) const HOST: Tuning = Tuning {
        // Starting an invocation costs as much as a few loads. SwiftShader: a row 83 ms with 1, 50 with 4; eight run out of
        // registers.
        vectors: 4,
        wide_words: false,
        // Rows by 64 invocations 34 ms on lavapipe, by one 9.6; on SwiftShader 226 and 23.
        meets: false,
        wave: u32::MAX,
        // Transposed: 31 ms without on lavapipe, 27 with.
        tiles: true,
        // 100 channels onto last: 3.0 to 4.1 times the same shape with on lavapipe, 1.4 without.
        narrow: false,
    };
}
