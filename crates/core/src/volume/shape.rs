//! The shape of a volume.

use crate::{Error, MAX_SIDE, Result, Shape};
use std::fmt;

/// Width, height and depth of a volume in voxels, and its interleaved channels.
///
/// ```
/// use apron_core::VolumeShape;
///
/// let shape = VolumeShape::new(640, 480, 100, 1)?;
/// assert_eq!((shape.samples(), shape.to_string()), (30_720_000, "640x480x100x1".into()));
/// assert!(VolumeShape::new(1, 1 << 20, 1 << 20, 1).is_err()); // too many rows
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VolumeShape {
    /// Width, in voxels.
    pub width: u32,
    /// Height, in voxels.
    pub height: u32,
    /// Depth: the number of planes.
    pub depth: u32,
    /// Interleaved channels, 1 to 4.
    pub channels: u32,
}

impl VolumeShape {
    /// Creates a shape of 1 to [`MAX_SIDE`] voxels per side, as many rows in all planes together, and 1 to 4 channels.
    ///
    /// # Errors
    /// [`Error::Shape`] for values outside these ranges.
    pub fn new(width: u32, height: u32, depth: u32, channels: u32) -> Result<VolumeShape> {
        if depth == 0 || depth > MAX_SIDE {
            return Err(Error::Shape { what: "depth", value: depth.to_string(), limit: format!("1 to {MAX_SIDE}") });
        }
        Shape::new(width, height, channels)?;
        let rows = height as u64 * depth as u64;
        if rows > MAX_SIDE as u64 {
            let limit = format!("up to {MAX_SIDE} in all {depth} planes");
            return Err(Error::Shape { what: "number of rows", value: rows.to_string(), limit });
        }
        Ok(VolumeShape { width, height, depth, channels })
    }

    /// Returns the shape of the planes, one below the other: how devices hold volumes.
    pub fn stacked(&self) -> Shape {
        Shape { width: self.width, height: self.height * self.depth, channels: self.channels }
    }

    /// Returns the shape of one plane.
    pub fn plane(&self) -> Shape {
        Shape { width: self.width, height: self.height, channels: self.channels }
    }

    /// Returns the number of samples: voxels times channels.
    pub fn samples(&self) -> u64 {
        self.stacked().samples()
    }

    /// Returns the samples per row.
    pub fn row_samples(&self) -> usize {
        self.plane().row_samples()
    }

    /// Returns width, height and depth.
    pub fn sides(&self) -> [u32; 3] {
        [self.width, self.height, self.depth]
    }
}

impl fmt::Display for VolumeShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VolumeShape { width, height, depth, channels } = self;
        write!(f, "{width}x{height}x{depth}x{channels}")
    }
}
