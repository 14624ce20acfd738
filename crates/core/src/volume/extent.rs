//! Which voxels a filter of a volume computes.

use super::VolumeShape;
use crate::{Error, Result};
use std::fmt;

/// Voxels that a filter of a volume computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VolumeExtent {
    /// One per voxel of the volume; with border crop, only those whose window lies inside the volume.
    #[default]
    Same,
    /// One per window that touches the volume: `side - 1` more along each axis.
    Full,
    /// One per voxel of a region, whose windows see the volume around it.
    Region(VolumeRegion),
}

/// A part of a volume, inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRegion {
    /// The first column, row and plane.
    pub corner: [u32; 3],
    /// Width, height and depth, in voxels.
    pub size: [u32; 3],
}

impl VolumeRegion {
    /// Checks that the region is not empty, and inside a volume.
    ///
    /// # Errors
    /// [`Error::Shape`] otherwise.
    pub fn check(&self, volume: VolumeShape) -> Result<()> {
        let whats = ["columns of the region", "rows of the region", "planes of the region"];
        let ranges = self.corner.into_iter().zip(self.size);
        for ((what, (from, count)), limit) in whats.into_iter().zip(ranges).zip(volume.sides()) {
            let to = from as u64 + count as u64;
            if count == 0 || to > limit as u64 {
                let limit = format!("1 or more, in 0 to {limit}");
                return Err(Error::Shape { what, value: format!("{from} to {to}"), limit });
            }
        }
        Ok(())
    }
}

impl fmt::Display for VolumeExtent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VolumeExtent::Same => f.write_str("same"),
            VolumeExtent::Full => f.write_str("full"),
            VolumeExtent::Region(VolumeRegion { corner: [x, y, z], size: [width, height, depth] }) => {
                write!(f, "region {width}x{height}x{depth} at {x},{y},{z}")
            }
        }
    }
}
