//! What all verbs do that make an image of an image: read, run, write; or, in a pipe, run.

use crate::args::{Common, Devices};
use crate::error::Result;
use crate::place::Place;
use crate::report::{Made, Ran, Report, milliseconds};
use apron::{Device, DeviceImage, PixelType, Shape, Source};
use apron_files::ImageOutput;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs `make` on the image at hand. Its parameters are right by now; what else can be wrong without the
/// input, such as an output that does not hold samples of `out_type`, is found before the input is read.
pub(super) fn run(
    verb: &'static str,
    common: &Common,
    out_type: Option<PixelType>,
    devices: &mut Devices,
    make: impl FnOnce(&Device, Source<'_>) -> Result<DeviceImage>,
) -> Result<Report> {
    let start = Instant::now();
    match devices.place()? {
        Place::Files { input, output } => {
            let target = ImageOutput::new(&output, out_type)?;
            let image = crate::input::read(&input, common)?;
            let (shape, pixel) = (image.shape(), image.pixel_type());
            if let Some(out_type) = out_type {
                target.check(out_type, shape.channels)?;
            }
            let device = devices.get(common.device)?;
            let result = make(&device, Source::Host(image))?;
            let mut report = report(verb, (&input, &output), (shape, pixel), &result, start)?;
            target.check(result.pixel_type(), result.shape().channels)?;
            let copy = Instant::now();
            let pixels = result.into_any()?;
            report.ran.copy_out_ms = milliseconds(copy.elapsed());
            target.write(&pixels)?;
            report.ran.total_ms = milliseconds(start.elapsed());
            Ok(report)
        }
        Place::Pipe(image) => {
            let device = devices.get(common.device)?;
            let result = make(&device, Source::Device(&image))?;
            let files = (Path::new("-"), Path::new("-"));
            let report = report(verb, files, (image.shape(), image.pixel_type()), &result, start)?;
            devices.go_to(Place::Pipe(result));
            Ok(report)
        }
    }
}

/// What is known when the kernels are done.
fn report(
    verb: &'static str,
    (input, output): (&Path, &Path),
    (shape, pixel): (Shape, PixelType),
    result: &DeviceImage,
    start: Instant,
) -> Result<Report> {
    let (ran, out) = (result.report()?, result.shape());
    let ran = Ran::of(verb, input, (shape, pixel), ran, Duration::ZERO, start);
    let made = Made::Image {
        output: output.display().to_string(),
        out_type: result.pixel_type().to_string(),
        out_width: out.width,
        out_height: out.height,
    };
    Ok(Report { ran, made })
}
