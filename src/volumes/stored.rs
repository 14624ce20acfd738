//! Separable filters whose sums between the passes are stored in the output's type.

use super::filter::{Filtering, Options};
use super::{VolumeExtent, VolumeFormula, VolumeWeights};
use crate::backend::Solved;
use crate::target::Room;
use crate::{Error, PixelType, Result, Source, Taps};
use apron_core::voxels;

impl Filtering<'_> {
    /// Returns the passes of a separable filter whose sums between them are stored: along z, y, and x. `None` where
    /// they are not stored, and for a filter of one pass.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a filter that has no passes, and for a region of the result.
    pub(super) fn passes(&self, formula: &VolumeFormula, dst: PixelType) -> Result<Option<Vec<VolumeFormula>>> {
        let Options { stored: true, anchor, extent, .. } = self.options else { return Ok(None) };
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
            passes.push(VolumeFormula::Sums { weights: VolumeWeights::Separable(along), divisor });
        }
        if passes.len() < 2 {
            return Ok(None);
        }
        if let VolumeExtent::Region(_) = extent {
            return wrong("asked for with a region", "left out, or used with the whole result");
        }
        if let (false, Some(VolumeFormula::Sums { divisor: last, .. })) = (is_mean, passes.last_mut()) {
            *last = *divisor;
        }
        Ok(Some(passes))
    }

    /// Computes one pass after the other, each to the output's type; into `room`, if there is one.
    pub(super) fn solve_passes(
        &self,
        passes: &[VolumeFormula],
        dst: PixelType,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        // Their taps have the anchor.
        let options = Options { stored: false, anchor: None, ..self.options };
        let mut before = Vec::new();
        let (mut stack, mut depth) = (None, self.depth);
        for (number, pass) in passes.iter().enumerate() {
            let source = stack.as_ref().map_or(self.stack.view(), Source::Device);
            let on = Filtering { device: self.device, stack: source, depth, options };
            let is_last = number + 1 == passes.len();
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
