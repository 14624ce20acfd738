//! What all filters do: read, run, write.

use crate::args::{Devices, FilterArgs};
use crate::error::Result;
use crate::files::{self, ImageOutput};
use crate::report::{Made, Ran, Report, milliseconds};
use apron::{AnyImage, Device, DeviceImage, Error, Filter, PixelType};
use std::time::Instant;

/// Runs the filter that `make` makes. Its parameters are right by now; what else can be wrong
/// without the input is found before the input is read.
pub(super) fn run(
    verb: &'static str,
    args: &FilterArgs,
    clamp: bool,
    devices: &mut Devices,
    make: impl for<'a> FnOnce(&'a Device, &'a AnyImage<'static>) -> Filter<'a>,
) -> Result<Report> {
    let asked = args.out_type.or(clamp.then_some(PixelType::F32));
    if let (true, Some(pixel)) = (clamp, asked.filter(|pixel| *pixel != PixelType::F32)) {
        return Err(Error::parameter(verb, "clamp", format!("asked for with {pixel} output"), "used with f32").into());
    }
    let out_type = |src| asked.unwrap_or(src);
    run_to(verb, args, out_type, devices, |device, image, out_type| {
        let filter = make(device, image).border(args.border).out_type(out_type).clamp(clamp);
        filter.method(args.method.0).variant(args.common.variant.as_deref()).run()
    })
}

/// Runs a filter to the type that follows from the input's.
pub(super) fn run_to(
    verb: &'static str,
    args: &FilterArgs,
    out_type: impl Fn(PixelType) -> PixelType,
    devices: &mut Devices,
    filter: impl FnOnce(&Device, &AnyImage<'static>, PixelType) -> apron::Result<DeviceImage>,
) -> Result<Report> {
    let start = Instant::now();
    // Whatever the input is.
    let asked = PixelType::ALL.map(&out_type);
    let output = ImageOutput::new(&args.output, (asked == [asked[0]; 4]).then_some(asked[0]))?;
    let image = files::read_image(&args.input, args.common.max_pixels)?;
    let (shape, in_type) = (image.shape(), image.pixel_type());
    let out_type = out_type(in_type);
    output.check(out_type, shape.channels)?;

    let device = devices.get(args.common.device)?;
    let result = filter(&device, &image, out_type)?;
    let ran = result.report()?;
    let copy = Instant::now();
    let pixels = result.into_any()?;
    let copy_out = copy.elapsed();
    output.write(&pixels)?;

    let out = pixels.shape();
    let ran = Ran {
        operation: ran.operation,
        verb,
        input: args.input.display().to_string(),
        method: ran.method.map(|method| method.to_string()),
        why_method: ran.method.map(|_| ran.why_method),
        device: ran.device,
        variant: ran.variant,
        why: ran.why,
        grid: ran.grid,
        width: shape.width,
        height: shape.height,
        channels: shape.channels,
        in_type: in_type.to_string(),
        copy_in_ms: milliseconds(ran.copy_in),
        kernels_ms: milliseconds(ran.kernels),
        copy_out_ms: milliseconds(copy_out),
        total_ms: milliseconds(start.elapsed()),
    };
    let made = Made::Image {
        output: args.output.display().to_string(),
        out_type: out_type.to_string(),
        out_width: out.width,
        out_height: out.height,
    };
    Ok(Report { ran, made })
}
