//! What bounds operations, by name.

/// What bounds operations, whatever their kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Copying in device memory, as the driver does it: bytes read and bytes written both count.
    Copy,
    /// Reading device memory, in bytes.
    Read,
    /// Multiplying and adding f32 numbers: products and sums both count.
    Ffma,
    /// Copying from pinned host memory to the device, in bytes.
    ToDevice,
    /// Copying from the device to pinned host memory, in bytes.
    ToHost,
}

impl Limit {
    /// Every limit.
    pub const ALL: [Limit; 5] = [Limit::Ffma, Limit::Copy, Limit::Read, Limit::ToDevice, Limit::ToHost];

    /// A short name.
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
