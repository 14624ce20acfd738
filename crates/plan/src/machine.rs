//! Properties of a GPU that plans depend on.

/// Shared memory that the driver keeps for each block, in bytes.
const DRIVER_BYTES: u32 = 1024;
/// Shared memory of a multiprocessor, in units of [`DRIVER_BYTES`].
const MULTIPROCESSOR_UNITS: u32 = 228;

/// Grid parameters of a variant that leaves them to tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Most output rows per block; 0 where the number of blocks decides.
    pub rows: u32,
    /// Resident blocks per multiprocessor.
    pub residents: u32,
}

impl Tuning {
    /// Clamps the resident blocks to what a multiprocessor supports.
    pub(crate) fn possible(self) -> Tuning {
        Tuning { residents: self.residents.clamp(1, 32), ..self }
    }
}

/// Properties of a GPU on which the choice of kernels and the sizes of grids depend. Results never depend on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// The target of the PTX that it loads, as compute capability times ten: 90 for sm_90.
    pub target: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Most shared memory per block, in bytes.
    pub shared_bytes: u32,
    /// Ratio of f32 to f64 throughput.
    pub f64_ratio: u32,
    /// Grid parameters that override the tuning table's, for sweeps.
    pub tuning: Option<Tuning>,
}

impl Machine {
    /// The GPU that the emulator models: an H100.
    pub const EMULATED: Machine =
        Machine { target: 90, multiprocessors: 132, shared_bytes: 227 * 1024, f64_ratio: 2, tuning: None };

    /// Returns the resident blocks per multiprocessor, for blocks of `bytes` bytes of shared memory.
    pub(crate) fn residents(&self, bytes: u32) -> u32 {
        (self.shared_bytes + DRIVER_BYTES) / (bytes + DRIVER_BYTES)
    }

    /// Returns the shared memory, in bytes, that a block with `own` bytes must reserve in addition so that at most
    /// `residents` blocks are resident per multiprocessor.
    pub(crate) fn reserved(&self, own: u32, residents: u32) -> u32 {
        let share = (MULTIPROCESSOR_UNITS / residents - 1) * DRIVER_BYTES;
        share.min(self.shared_bytes).saturating_sub(own)
    }
}
