//! Names of devices.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The name of a device: `auto`, `gpu`, `gpu:N`, `gpu:N,M`, `gpus`, `cpu`, `emulator` or `reference`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceName {
    /// The first GPU or the CPU, chosen for each job.
    #[default]
    Auto,
    /// An NVIDIA GPU, by the driver's number.
    Gpu(u32),
    /// Several NVIDIA GPUs, which share the jobs.
    Gpus(GpuSet),
    /// All cores of the CPU.
    Cpu,
    /// The GPU's kernels, emulated and checked on the host.
    Emulator,
    /// The serial reference implementations.
    Reference,
}

/// A set of GPUs, by the driver's numbers from 0 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuSet {
    /// Bit N for GPU N; 0 for all that there are.
    bits: u64,
}

impl GpuSet {
    /// Returns the set of all GPUs that the driver shows.
    pub fn all() -> GpuSet {
        GpuSet { bits: 0 }
    }

    /// Returns the set of these GPUs.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no numbers, doubled ones, and those over 63.
    pub fn new(ordinals: &[u32]) -> Result<GpuSet> {
        let set = GpuSet::of(ordinals.iter().copied().filter(|&ordinal| ordinal < 64));
        if ordinals.is_empty() || set.bits.count_ones() as usize != ordinals.len() {
            let numbers = ordinals.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let limit = "different numbers from 0 to 63";
            return Err(Error::parameter("device", "GPUs", format!("'{numbers}'"), limit));
        }
        Ok(set)
    }

    pub(crate) fn of(ordinals: impl Iterator<Item = u32>) -> GpuSet {
        GpuSet { bits: ordinals.fold(0, |bits, ordinal| bits | 1 << ordinal) }
    }

    /// Returns the numbers in rising order; `None` for all GPUs.
    pub fn ordinals(&self) -> Option<impl Iterator<Item = u32> + use<>> {
        let bits = self.bits;
        (bits != 0).then(|| (0..64).filter(move |ordinal| bits >> ordinal & 1 == 1))
    }
}

impl fmt::Display for GpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ordinals() {
            None => f.write_str("gpus"),
            Some(ordinals) => {
                let numbers: Vec<String> = ordinals.map(|ordinal| ordinal.to_string()).collect();
                write!(f, "gpu:{}", numbers.join(","))
            }
        }
    }
}

impl FromStr for DeviceName {
    type Err = Error;

    fn from_str(text: &str) -> Result<DeviceName> {
        let limit = "auto, gpu, gpu:N, gpu:N,M, gpus, cpu, emulator or reference";
        let wrong = || Error::parameter("device", "device", format!("'{text}'"), limit);
        match text {
            "auto" => Ok(DeviceName::Auto),
            "gpu" => Ok(DeviceName::Gpu(0)),
            "gpus" => Ok(DeviceName::Gpus(GpuSet::all())),
            "cpu" => Ok(DeviceName::Cpu),
            "emulator" => Ok(DeviceName::Emulator),
            "reference" => Ok(DeviceName::Reference),
            _ => {
                let numbers = text.strip_prefix("gpu:").ok_or_else(wrong)?.split(',').map(str::parse);
                let numbers: Vec<u32> = numbers.collect::<std::result::Result<_, _>>().map_err(|_| wrong())?;
                match numbers[..] {
                    [number] => Ok(DeviceName::Gpu(number)),
                    _ => GpuSet::new(&numbers).map(DeviceName::Gpus),
                }
            }
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceName::Auto => f.write_str("auto"),
            DeviceName::Gpu(ordinal) => write!(f, "gpu:{ordinal}"),
            DeviceName::Gpus(set) => set.fmt(f),
            DeviceName::Cpu => f.write_str("cpu"),
            DeviceName::Emulator => f.write_str("emulator"),
            DeviceName::Reference => f.write_str("reference"),
        }
    }
}
