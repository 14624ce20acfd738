//! Conversion of images to the types that are counted and measured.

use super::Backend;
use crate::choice::Choice;
use crate::{AnyImage, Cast, DeviceImage, PixelType, PointOp, Result, Source};
use apron_core::Pointwise;

impl Backend {
    /// Returns the image in the type in which it is [computed](PixelType::computed); `None` if it has that type.
    /// Integers of 64 bits become the nearest f64 or, for bins whose `last` edge is given, the f64 in the same bin.
    pub(crate) fn as_computed(&self, source: &Source<'_>, last: Option<f64>) -> Result<Option<DeviceImage>> {
        let (shape, src) = (source.shape(), source.pixel_type());
        if src.is_computed() {
            return Ok(None);
        }
        let op = match (src, last) {
            (PixelType::U64 | PixelType::I64, Some(last)) => PointOp::Below { last },
            _ => PointOp::Cast(Cast::default()),
        };
        let problem = Pointwise { shape, src, second: None, dst: src.computed(), op }.into();
        Ok(Some(self.filter(&problem, "", source, None, &Choice::default(), None)?.into_image()))
    }
}

/// As [`Backend::as_computed`], on the host.
pub(crate) fn computed(image: AnyImage<'static>, last: Option<f64>) -> Result<AnyImage<'static>> {
    match Backend::Cpu.as_computed(&Source::Host(image.view()), last)? {
        Some(computed) => computed.into_host(),
        None => Ok(image),
    }
}
