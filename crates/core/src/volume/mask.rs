//! Masks of three dimensions.

use crate::{Accumulator, Error, Mask, PixelType, Result};

/// The taps of a correlation of volumes, plane by plane and row by row, and the tap over the output voxel: the anchor.
///
/// ```
/// use apron_core::VolumeMask;
///
/// let mask = VolumeMask::new(3, 3, 3, [1.0 / 27.0; 27])?;
/// assert_eq!(mask.anchor(), [1, 1, 1]);
/// assert!(VolumeMask::new(3, 3, 3, [1.0; 9]).is_err());
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeMask {
    /// The planes, one below the other.
    planes: Mask,
    depth: u32,
    /// Along x, y and z.
    anchor: [u32; 3],
}

impl VolumeMask {
    /// Creates a mask of this width, height and depth whose anchor is its middle, side / 2 along each axis.
    ///
    /// # Errors
    /// [`Error::Parameter`] for sides of 0, more than [`MAX_MASK_SIDE`](crate::MAX_MASK_SIDE) columns or rows in all
    /// planes together, another number of taps, and taps that are not finite in f32.
    pub fn new(width: u32, height: u32, depth: u32, taps: impl Into<Vec<f64>>) -> Result<VolumeMask> {
        let taps = taps.into();
        if depth == 0 || height == 0 {
            let (what, value) = if depth == 0 { ("depth", depth) } else { ("height", height) };
            return Err(Error::parameter("mask", what, value, format!("1 to {}", crate::MAX_MASK_SIDE)));
        }
        if taps.len() as u64 != width as u64 * height as u64 * depth as u64 {
            let limit = format!("{width} x {height} x {depth}");
            return Err(Error::parameter("mask", "number of taps", taps.len(), limit));
        }
        let planes = Mask::from_f64(width, height.saturating_mul(depth), taps)?;
        Ok(VolumeMask { planes, depth, anchor: [width / 2, height / 2, depth / 2] })
    }

    /// Sets the tap over the output voxel, along x, y and z from 0.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a tap that there is not.
    pub fn with_anchor(mut self, anchor: [u32; 3]) -> Result<VolumeMask> {
        check_anchor(self.size(), anchor)?;
        self.anchor = anchor;
        Ok(self)
    }

    /// Returns the mask turned about its middle, for convolution; the anchor turns with it.
    pub fn flipped(self) -> VolumeMask {
        let ([width, height, depth], [x, y, z]) = (self.size(), self.anchor);
        let anchor = [width - 1 - x, height - 1 - y, depth - 1 - z];
        VolumeMask { planes: self.planes.flipped(), depth, anchor }
    }

    /// Returns width, height and depth.
    pub fn size(&self) -> [u32; 3] {
        [self.planes.width(), self.planes.height() / self.depth, self.depth]
    }

    /// Returns the tap over the output voxel, along x, y and z.
    pub fn anchor(&self) -> [u32; 3] {
        self.anchor
    }

    /// Returns the taps, plane by plane and row by row, with the numbers that samples of this type are weighted by.
    pub fn taps_for<A: Accumulator>(&self, pixel: PixelType) -> Vec<A> {
        self.planes.taps_for(pixel)
    }

    /// Returns the number of taps.
    pub fn count(&self) -> usize {
        self.planes.taps().len()
    }
}

/// Checks that an anchor lies in a window.
pub(crate) fn check_anchor(size: [u32; 3], anchor: [u32; 3]) -> Result<()> {
    if anchor.iter().zip(size).any(|(&anchor, side)| anchor >= side) {
        let ([x, y, z], last) = (anchor, size.map(|side| side - 1));
        let limit = format!("inside the mask: 0,0,0 to {},{},{}", last[0], last[1], last[2]);
        return Err(Error::parameter("mask", "anchor", format!("{x},{y},{z}"), limit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flipping_moves_the_anchor() {
        let taps: Vec<f64> = (0..24).map(f64::from).collect();
        let mask = VolumeMask::new(4, 3, 2, taps).unwrap();
        assert_eq!((mask.anchor(), mask.clone().flipped().anchor()), ([2, 1, 1], [1, 1, 0]));
        assert_eq!(mask.clone().flipped().taps_for::<f64>(PixelType::F64)[0], 23.0);
        assert_eq!(mask.clone().flipped().flipped(), mask);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        for (mask, part) in [
            (VolumeMask::new(0, 1, 1, []), "width is 0"),
            (VolumeMask::new(1, 0, 1, []), "height is 0"),
            (VolumeMask::new(1, 1, 0, []), "depth is 0"),
            (VolumeMask::new(1, u32::MAX, u32::MAX, [1.0]), "number of taps is 1"),
            (VolumeMask::new(2, 1, 1, [1.0, f64::NAN]), "tap is NaN"),
            (VolumeMask::new(1, 1, 2, [1.0; 2]).unwrap().with_anchor([0, 0, 2]), "anchor is 0,0,2"),
        ] {
            let error = mask.unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
