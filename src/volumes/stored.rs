//! Separable filters whose sums between the passes are stored in the output's type.

use super::filter::{Filtering, Options};
use super::{VolumeExtent, VolumeFormula, VolumeRegion, VolumeWeights};
use crate::backend::Solved;
use crate::target::Room;
use crate::{Error, PixelType, Result, Source, Taps};
use apron_core::{unstacked, voxels};

/// One pass of a filter that stores its sums between passes, and its axis.
type Pass = (usize, VolumeFormula);

impl Filtering<'_> {
    /// Returns the passes of a separable filter whose sums between them are stored: along z, y, and x. `None` where
    /// they are not stored, and for a filter of one pass.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a filter that has no passes.
    pub(super) fn passes(&self, formula: &VolumeFormula, dst: PixelType) -> Result<Option<Vec<Pass>>> {
        let Options { stored: true, anchor, .. } = self.options else { return Ok(None) };
        let wrong = |value, limit: &str| Err(Error::parameter("volume", "store between passes", value, limit));
        let VolumeFormula::Sums { weights: VolumeWeights::Separable(taps), divisor } = formula else {
            return wrong("asked for", "left out: used with separable filters and means");
        };
        let lengths = taps.each_ref().map(Taps::len);
        // A mean divides after each pass, as SciPy's does.
        let is_mean = *divisor != 1.0 && *divisor == voxels(lengths);
        let mut passes = Vec::new();
        for axis in [2, 1, 0] {
            // A pass of one tap 1 stores what it is given. That changes nothing where it has the output's type already.
            let stores = passes.is_empty() && !is_mean && !taps[axis].is_unit() && self.stack.pixel_type() != dst;
            if taps[axis].taps_f64() == [1.0] && !stores {
                continue;
            }
            let mut along = [Taps::unit(), Taps::unit(), Taps::unit()];
            along[axis] = match anchor {
                Some(anchor) => taps[axis].clone().with_anchor(anchor[axis])?,
                None => taps[axis].clone(),
            };
            let divisor = if is_mean { f64::from(lengths[axis]) } else { 1.0 };
            passes.push((axis, VolumeFormula::Sums { weights: VolumeWeights::Separable(along), divisor }));
        }
        if passes.len() < 2 {
            return Ok(None);
        }
        if let (false, Some((_, VolumeFormula::Sums { divisor: last, .. }))) = (is_mean, passes.last_mut()) {
            *last = *divisor;
        }
        Ok(Some(passes))
    }

    /// Computes one pass after the other, each to the output's type; into `room`, if there is one.
    pub(super) fn solve_passes(
        &self,
        passes: &[Pass],
        dst: PixelType,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let mut before = Vec::new();
        let (mut stack, mut depth) = (None, self.depth);
        // Of a region the axes that are not cut yet, and the sides of the volume at hand.
        let (mut uncut, mut sides) = ([true; 3], unstacked(self.stack.shape(), self.depth)?.sides());
        for (number, (axis, pass)) in passes.iter().enumerate() {
            let source = stack.as_ref().map_or(self.stack.view(), Source::Device);
            let is_last = number + 1 == passes.len();
            let extent = match self.options.extent {
                VolumeExtent::Region(region) => {
                    // Passes along other axes see the volume around the region.
                    let mut corner = [0; 3];
                    for of in (0..3).filter(|of| is_last || of == axis) {
                        if std::mem::take(&mut uncut[of]) {
                            (corner[of], sides[of]) = (region.corner[of], region.size[of]);
                        }
                    }
                    VolumeExtent::Region(VolumeRegion { corner, size: sides })
                }
                extent => extent,
            };
            // The taps have the anchor.
            let options = Options { stored: false, anchor: None, extent, ..self.options };
            let on = Filtering { device: self.device, stack: source, depth, options };
            let mut result = on.solve(pass, dst, if is_last { room.take() } else { None })?;
            if is_last {
                result.made.before.splice(0..0, before);
                return Ok(result);
            }
            depth = on.depth_of(pass, dst)?;
            let image = result.into_image();
            before.push(image.made.clone());
            stack = Some(image);
        }
        Err(Error::parameter("volume", "number of passes", 0, "1 or more"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volumes::{Volume, mean};
    use crate::{Border, Device};

    #[test]
    fn a_region_is_a_part_of_the_whole() {
        let volume =
            Volume::from_fn(7, 6, 5, 2, |x, y, z, channel| (x * 89 + y * 57 + z * 31 + channel) as u8).unwrap();
        let (flat, deep) = (mean([3, 4, 1]).unwrap(), mean([3, 4, 2]).unwrap());
        for device in [Device::cpu(), Device::emulator(), Device::reference()] {
            for (formula, dst) in [(&flat, PixelType::U8), (&deep, PixelType::U8), (&deep, PixelType::I32)] {
                for border in [Border::Wrap, Border::Constant(9.0)] {
                    let run = |extent| {
                        let filter = device.filter_volume(&volume, formula.clone()).border(border).out_type(dst);
                        filter.store_between_passes(true).extent(extent).run().unwrap().into_host().unwrap()
                    };
                    let whole = run(VolumeExtent::Same);
                    for (corner, size) in [([2, 1, 3], [4, 5, 1]), ([0, 5, 0], [1, 1, 5]), ([0; 3], [7, 6, 5])] {
                        let found = run(VolumeExtent::Region(VolumeRegion { corner, size }));
                        let expected = whole.region(corner, size).unwrap();
                        assert!(found.stack().bytes() == expected.stack().bytes(), "{corner:?} {border:?} {dst}");
                    }
                }
            }
        }
    }
}
