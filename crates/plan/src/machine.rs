//! What a plan must know of a GPU.

/// Shared memory that the driver keeps for each block, in bytes.
const DRIVER_BYTES: u32 = 1024;
/// Shared memory of a multiprocessor, in units of [`DRIVER_BYTES`].
const MULTIPROCESSOR_UNITS: u32 = 228;

/// Numbers for the grid of a variant that leaves them open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Output rows of a block, at most; 0 where the number of blocks decides.
    pub rows: u32,
    /// Blocks that share a multiprocessor.
    pub residents: u32,
}

impl Tuning {
    /// With a number of blocks that a multiprocessor can have.
    pub(crate) fn possible(self) -> Tuning {
        Tuning { residents: self.residents.clamp(1, 32), ..self }
    }
}

/// A GPU, as far as the choice of kernels and the sizes of grids depend on it. What a result is never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The target of the PTX that it loads, as compute capability times ten: 90 for sm_90.
    pub target: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory that a block may have, in bytes.
    pub shared_bytes: u32,
    /// How many times as long as in f32 a sum takes in f64.
    pub f64_ratio: u32,
    /// Numbers for grids instead of the tuning table's: a sweep tries them.
    pub tuning: Option<Tuning>,
}

impl Machine {
    /// The GPU that the emulator stands for: an H100.
    pub const EMULATED: Machine =
        Machine { target: 90, multiprocessors: 132, shared_bytes: 227 * 1024, f64_ratio: 2, tuning: None };

    /// Blocks of `bytes` of shared memory each that a multiprocessor has room for.
    pub(crate) fn residents(&self, bytes: u32) -> u32 {
        (self.shared_bytes + DRIVER_BYTES) / (bytes + DRIVER_BYTES)
    }

    /// Shared memory, in bytes, that a block of `own` bytes must reserve besides, so that no more than `residents` blocks
    /// share a multiprocessor.
    pub(crate) fn reserved(&self, own: u32, residents: u32) -> u32 {
        let share = (MULTIPROCESSOR_UNITS / residents - 1) * DRIVER_BYTES;
        share.min(self.shared_bytes).saturating_sub(own)
    }
}
