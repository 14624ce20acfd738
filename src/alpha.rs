//! Filters that leave alpha alone: the result takes the last channel of the input.

use crate::backend::Solved;
use crate::choice::Choice;
use crate::filter::Filtering;
use crate::options::Options;
use crate::target::Room;
use crate::{Border, Borders, DeviceImage, Extent, PixelType, PointOp, Region, Result, Source};
use apron_core::{AxisBorder, FilterProblem, Pointwise};

/// A filter whose result keeps the alpha of its input.
pub(crate) struct Alpha<'f, 'a> {
    filter: &'f Filtering<'a>,
    dst: PixelType,
}

impl<'f, 'a> Alpha<'f, 'a> {
    /// Checks that the input of `filter` has an alpha channel; `dst` is the sample type of the result.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for an image of one or three channels.
    pub(crate) fn of(filter: &'f Filtering<'a>, dst: PixelType) -> Result<Self> {
        point(&filter.source, dst).check()?;
        Ok(Alpha { filter, dst })
    }

    /// Copies the alpha of the pixels under the windows' anchors into the result; into `room`, if there is one.
    pub(crate) fn put_back(
        self,
        result: DeviceImage,
        anchor: (u32, u32),
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let Filtering { device, source, .. } = self.filter;
        let under = self.under(&result, anchor).transpose()?;
        let alpha = under.as_ref().map_or(source.view(), Source::Device);
        let problem = FilterProblem::Pointwise(point(&Source::Device(&result), self.dst));
        let mut kept = device.with_fallback(|backend| {
            let source = Source::Device(&result);
            backend.filter(&problem, "", &source, Some(&alpha), &Choice::default(), room.as_deref_mut())
        })?;
        kept.made.before.extend(under.map(|under| under.made));
        kept.made.before.push(result.made);
        Ok(kept)
    }

    /// Returns the input's pixels under the anchors, in the result's type; `None` where they are the input itself.
    fn under(&self, result: &DeviceImage, anchor: (u32, u32)) -> Option<Result<DeviceImage>> {
        let Options { borders, extent, cast, .. } = self.filter.options;
        let (width, height) = (result.shape().width, result.shape().height);
        // Along an axis with border crop, all windows lie in the image, and so do their anchors.
        let crops = |outside: AxisBorder| outside == Border::Crop;
        let inside = |outside| if crops(outside) { Border::Replicate.into() } else { outside };
        let extent = if crops(borders.x) || crops(borders.y) {
            let from = |outside, anchor| if crops(outside) { anchor as i32 } else { 0 };
            let (x, y) = (from(borders.x, anchor.0), from(borders.y, anchor.1));
            Extent::Region(Region { x, y, width, height })
        } else if extent == Extent::Full {
            // With full output the first window ends at the first pixel: its anchor is at this coordinate, 0 or below.
            let before = |side: u32, of: u32, anchor: u32| anchor as i32 - (side - of) as i32;
            let shape = self.filter.source.shape();
            let (x, y) = (before(width, shape.width, anchor.0), before(height, shape.height, anchor.1));
            Extent::Region(Region { x, y, width, height })
        } else {
            extent
        };
        if extent == Extent::Same && self.filter.source.pixel_type() == self.dst {
            return None;
        }
        let borders = Borders { x: inside(borders.x), y: inside(borders.y) };
        let options = Options { borders, extent, cast, ..Options::default() };
        let under = Filtering { options, ..self.filter.of(self.filter.source.view()) };
        Some(under.under_one_tap(self.dst))
    }
}

/// Returns the pointwise problem that takes the alpha of a second image; both images have samples of type `dst`.
fn point(image: &Source<'_>, dst: PixelType) -> Pointwise {
    Pointwise { shape: image.shape(), src: dst, second: Some(dst), dst, op: PointOp::Alpha }
}
