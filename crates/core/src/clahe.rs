//! Contrast limited adaptive histogram equalisation (CLAHE): parameters and formulas of OpenCV's `createCLAHE`.

use crate::{Error, PixelType, Result, Shape};

const OPERATION: &str = "clahe";

/// Equalisation by the clipped histograms of tiles, interpolated between tiles.
///
/// OpenCV's definition: an image that is not a whole number of tiles along both axes is extended to the right and below
/// by reflect101, by at least one pixel per axis, and divided into tiles. Counts of a tile above the limit are
/// redistributed over all values; the table of a tile is the running sum of its counts, times the largest value divided
/// by the tile's area, in f32, rounded half to even. A pixel's result is the bilinear interpolation, in f32, between
/// the entries of the four tiles around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clahe {
    /// Shape of the input; channels are independent.
    pub shape: Shape,
    /// Sample type of the input, u8 or u16.
    pub src: PixelType,
    /// The largest count of a value, as a multiple of the mean count; 0 for no limit.
    pub clip: f64,
    /// Number of tiles across and down.
    pub tiles: (u32, u32),
}

impl Clahe {
    /// Checks the parameters and the sample type.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a clip that is negative or not finite, and for a number of tiles outside 1 to 4096
    /// along an axis; [`Error::PixelType`] for samples other than u8 or u16.
    pub fn check(&self) -> Result<()> {
        if !(self.clip.is_finite() && self.clip >= 0.0) {
            return Err(Error::parameter(OPERATION, "clip", self.clip, "0 or more, and finite"));
        }
        for count in [self.tiles.0, self.tiles.1] {
            if !(1..=4096).contains(&count) {
                return Err(Error::parameter(OPERATION, "tiles", count, "1 to 4096 an axis"));
            }
        }
        match self.src {
            PixelType::U8 | PixelType::U16 => Ok(()),
            found => Err(Error::PixelType { operation: OPERATION, found, expected: "u8 or u16".into() }),
        }
    }

    /// Returns the width and height of a tile, in pixels.
    pub fn tile(&self) -> (u32, u32) {
        let ((width, height), (across, down)) = ((self.shape.width, self.shape.height), self.tiles);
        if width.is_multiple_of(across) && height.is_multiple_of(down) {
            return (width / across, height / down);
        }
        // If one axis needs an extension, both get one: one pixel per tile where the axis is a whole number of tiles.
        (width / across + 1, height / down + 1)
    }

    /// Returns the pixels of a tile.
    pub fn area(&self) -> u64 {
        let (width, height) = self.tile();
        width as u64 * height as u64
    }

    /// Returns the limit of a count in a tile, if there is one.
    pub fn limit(&self) -> Option<u32> {
        let limit = || ((self.clip * self.area() as f64 / self.values() as f64) as u32).max(1);
        (self.clip > 0.0).then(limit)
    }

    /// Returns the factor from a tile's cumulative count to a value.
    pub fn scale(&self) -> f32 {
        (self.values() - 1) as f32 / self.area() as f32
    }

    /// Returns the number of values that samples can have.
    pub fn values(&self) -> usize {
        self.src.values().map_or(0, |(_, values)| values)
    }

    /// Returns the table of a tile with these counts, before rounding.
    pub fn table(&self, mut counts: Vec<u32>) -> impl Iterator<Item = f32> {
        let values = self.values() as u64;
        if let Some(limit) = self.limit() {
            let above: u64 = counts.iter().map(|count| count.saturating_sub(limit) as u64).sum();
            let (each, rest) = ((above / values) as u32, above % values);
            counts.iter_mut().for_each(|count| *count = (*count).min(limit) + each);
            // The remainder goes to single values, evenly spaced.
            let step = values.checked_div(rest).unwrap_or(1).max(1);
            counts.iter_mut().step_by(step as usize).take(rest as usize).for_each(|count| *count += 1);
        }
        let scale = self.scale();
        let mut sum = 0u64;
        counts.into_iter().map(move |count| {
            sum += count as u64;
            sum as f32 * scale
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clahe(width: u32, height: u32, clip: f64, tiles: (u32, u32)) -> Clahe {
        Clahe { shape: Shape::new(width, height, 1).unwrap(), src: PixelType::U8, clip, tiles }
    }

    #[test]
    fn both_axes_are_extended_if_one_has_to_be() {
        assert_eq!(clahe(64, 32, 2.0, (8, 8)).tile(), (8, 4));
        assert_eq!(clahe(65, 32, 2.0, (8, 8)).tile(), (9, 5));
        assert_eq!(clahe(3, 100, 2.0, (8, 10)).tile(), (1, 11));
    }

    #[test]
    fn what_is_clipped_goes_to_all_values_and_the_rest_far_apart() {
        // 32 x 16 pixels of 0 in one tile: the limit is 1 * 512 / 256 = 2, and 510 counts are above it. Each value gets
        // 1 of them, and the values from 0 on the remaining 254.
        let mut counts = vec![0; 256];
        counts[0] = 512;
        let clipped = clahe(32, 16, 1.0, (1, 1));
        let table: Vec<f32> = clipped.table(counts.clone()).collect();
        let scale = 255.0f32 / 512.0;
        assert_eq!(table[..3], [4.0 * scale, 6.0 * scale, 8.0 * scale]);
        assert_eq!((table[253], table[254], table[255]), (510.0 * scale, 511.0 * scale, 512.0 * scale));
        let unclipped: Vec<f32> = clahe(32, 16, 0.0, (1, 1)).table(counts).collect();
        assert_eq!((unclipped[0], unclipped[255]), (512.0 * scale, 512.0 * scale));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        for wrong in [clahe(4, 4, -1.0, (2, 2)), clahe(4, 4, f64::NAN, (2, 2)), clahe(4, 4, 2.0, (0, 2))] {
            assert_eq!(wrong.check().unwrap_err().kind(), crate::ErrorKind::Usage, "{wrong:?}");
        }
        let floats = Clahe { src: PixelType::F32, ..clahe(4, 4, 2.0, (2, 2)) };
        assert_eq!(floats.check().unwrap_err().kind(), crate::ErrorKind::Input);
    }
}
