//! The box filter.

use apron_core::{BoxFilter, Error, Image, Pixel, Result};

/// The box filter.
///
/// # Errors
/// Not there yet.
pub fn box_filter<I: Pixel, O: Pixel>(_image: &Image<I>, filter: &BoxFilter) -> Result<Image<'static, O>> {
    filter.window()?;
    let (what, hint) = ("box filters".into(), "use --device reference".into());
    Err(Error::Unsupported { operation: "box", device: "cpu".into(), what, hint })
}
