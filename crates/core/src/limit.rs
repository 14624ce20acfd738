//! The machine limits of operations, by name.

/// A limit of the machine (speed of light) that bounds operations, whatever their kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Device memory bandwidth of the driver's copies, in bytes: bytes read and bytes written both count.
    Copy,
    /// Device memory bandwidth of reads, in bytes.
    Read,
    /// f32 throughput of fused multiply-adds: products and sums both count as operations.
    Ffma,
    /// Bandwidth of copies from pinned host memory to the device, in bytes.
    ToDevice,
    /// Bandwidth of copies from the device to pinned host memory, in bytes.
    ToHost,
}

impl Limit {
    /// All limits.
    pub const ALL: [Limit; 5] = [Limit::Ffma, Limit::Copy, Limit::Read, Limit::ToDevice, Limit::ToHost];

    /// Returns a short name.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Copy => "copy",
            Limit::Read => "read",
            Limit::Ffma => "ffma",
            Limit::ToDevice => "to-device",
            Limit::ToHost => "to-host",
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
