//! Separable filters whose sums between the passes are stored in the output's type.

use super::VolumeFormula;
use super::filter::{Filtering, Options};
use crate::backend::Solved;
use crate::target::Room;
use crate::{DeviceImage, Result, Source};
use apron_core::VolumeFilter;

impl Filtering<'_> {
    /// Computes one stage after the other, each to the output's type; the last one into `room`, if there is one.
    pub(super) fn solve_stages(
        &self,
        stages: &[VolumeFilter],
        last: &VolumeFilter,
        room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let (mut stack, mut before): (Option<DeviceImage>, _) = (None, Vec::new());
        for stage in stages {
            let image = self.stage(stage, stack.as_ref(), None)?.into_image();
            before.push(image.made.clone());
            stack = Some(image);
        }
        let mut result = self.stage(last, stack.as_ref(), room)?;
        result.made.before.splice(0..0, before);
        Ok(result)
    }

    /// Computes a stage of what the one before it gave.
    fn stage(&self, stage: &VolumeFilter, given: Option<&DeviceImage>, room: Option<&mut Room<'_>>) -> Result<Solved> {
        // The taps have the anchor.
        let options = Options { stored: false, anchor: None, extent: stage.extent, ..self.options };
        let stack = given.map_or(self.stack.view(), Source::Device);
        let formula = VolumeFormula::Sums { weights: stage.weights.clone(), divisor: stage.divisor };
        Filtering { device: self.device, stack, depth: stage.depth, options }.solve(&formula, stage.dst, room)
    }
}

#[cfg(test)]
mod tests {
    use crate::volumes::{Volume, VolumeExtent, VolumeRegion, mean};
    use crate::{Border, Device, PixelType};

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
