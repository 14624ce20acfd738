//! What all filters do: they are run on the image at hand.

use crate::args::{Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use apron::{Device, Error, Filter, PixelType, Source};

/// Runs the filter that `make` makes. Its parameters are right by now.
pub(super) fn run(
    verb: &'static str,
    args: &FilterArgs,
    clamp: bool,
    devices: &mut Devices,
    make: impl for<'a> FnOnce(&'a Device, Source<'a>) -> Filter<'a>,
) -> Result<Report> {
    let asked = args.out_type.or(clamp.then_some(PixelType::F32));
    if let (true, Some(pixel)) = (clamp, asked.filter(|pixel| *pixel != PixelType::F32)) {
        return Err(Error::parameter(verb, "clamp", format!("asked for with {pixel} output"), "used with f32").into());
    }
    super::image::run(verb, &args.common, asked, devices, |device, image| {
        let out_type = asked.unwrap_or(image.pixel_type());
        let filter = make(device, image).border(args.border).out_type(out_type).clamp(clamp);
        Ok(filter.method(args.method.0).variant(args.common.variant.as_deref()).run()?)
    })
}
