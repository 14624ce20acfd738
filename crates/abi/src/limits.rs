//! Kernels that measure the hardware's limits: parameters and sizes.

/// Parameters of the kernel that measures the read bandwidth of global memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LimitsReadParams {
    /// Words of 32 bits to read; a multiple of [`WORDS_AT_ONCE`](crate::WORDS_AT_ONCE).
    pub words: u64,
}

/// Parameters of the kernel that measures the throughput of f32 multiply-adds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LimitsFfmaParams {
    /// Rounds per thread, of [`FFMA_A_ROUND`](crate::FFMA_A_ROUND) instructions each.
    pub rounds: u32,
}

/// Threads per block of the kernels that measure limits.
pub const LIMITS_BLOCK: u32 = 256;

/// Words of 32 bits per vector load.
pub const WORDS_AT_ONCE: u64 = 4;

/// Vector loads that a thread of the read kernel has in flight.
pub const READS_IN_FLIGHT: u64 = 4;

/// Independent sums per thread of the FFMA kernel, so that its multiply-adds overlap.
pub const FFMA_CHAINS: usize = 8;

/// FFMA instructions per thread in a round of the FFMA kernel: enough to make the loop overhead negligible.
pub const FFMA_A_ROUND: usize = 64 * FFMA_CHAINS;
