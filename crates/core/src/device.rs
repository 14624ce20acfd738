//! Properties of a GPU.

/// A GPU, as its driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Device number, as in `gpu:N`.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Compute capability times ten: 90 for 9.0.
    pub capability: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Device memory, in bytes.
    pub memory_bytes: u64,
    /// CUDA version that the driver supports, major and minor.
    pub cuda_version: (i32, i32),
}
