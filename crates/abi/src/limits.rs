//! The kernels that measure the machine.

/// Parameters of the kernel that reads memory as fast as it can.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LimitsReadParams {
    /// Words of 32 bits to read; a multiple of [`WORDS_AT_ONCE`](crate::WORDS_AT_ONCE).
    pub words: u64,
}

/// Parameters of the kernel that multiplies and adds as fast as it can.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LimitsFfmaParams {
    /// Rounds of [`FFMA_A_ROUND`](crate::FFMA_A_ROUND) instructions, for each thread.
    pub rounds: u32,
}

/// Threads of a block of the kernels that measure the machine.
pub const LIMITS_BLOCK: u32 = 256;

/// Words of 32 bits that a thread reads at once, in one access.
pub const WORDS_AT_ONCE: u64 = 4;

/// Such reads that a thread of the read kernel has in flight.
pub const READS_IN_FLIGHT: u64 = 4;

/// Sums that a thread of the FFMA kernel keeps, each waiting for itself alone.
pub const FFMA_CHAINS: usize = 8;

/// FFMA instructions of a thread in a round of the FFMA kernel: many, so that the loop around them is
/// no part of what is measured.
pub const FFMA_A_ROUND: usize = 64 * FFMA_CHAINS;
