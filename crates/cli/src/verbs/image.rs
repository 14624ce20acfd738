//! Runs verbs that turn one image into another: read, run, write, once or for each page; or, as a
//! step of a pipe, only run.

use super::pages;
use crate::args::{Common, Devices};
use crate::complex;
use crate::error::{Error, Result};
use crate::output::OutputArgs;
use crate::place::Place;
use crate::report::{Made, Ran, Report, milliseconds};
use apron::{AnyImage, Device, DeviceImage, PixelType, Shape, Source};
use std::path::Path;
use std::time::{Duration, Instant};

/// Properties of a result.
pub(super) struct Target<'a> {
    /// Options of the output.
    pub(super) args: &'a OutputArgs,
    /// Sample type of the result, if it does not depend on the input.
    pub(super) out_type: Option<PixelType>,
    /// Whether the last channel is alpha, and keeps its values.
    pub(super) keep_alpha: bool,
    /// Whether complex numbers are taken: the operation does the same to both parts, and does not mix them.
    pub(super) complex: bool,
}

impl<'a> Target<'a> {
    /// Describes a result of the input's type, of real numbers.
    pub(super) fn of(args: &'a OutputArgs) -> Target<'a> {
        Target { args, out_type: None, keep_alpha: false, complex: false }
    }

    /// Returns the sample type of the result, for an input of type `input` that the device made a result of type `made`
    /// from.
    fn out_type(&self, input: PixelType, made: PixelType) -> PixelType {
        if self.args.rescale.is_some() { self.args.out_type(self.out_type, input) } else { made }
    }
}

/// Facts about an image besides its samples.
#[derive(Clone, Copy)]
pub(super) struct Known {
    /// Whether the channels are parts of complex numbers.
    pub(super) complex: bool,
    /// Number of images of this kind that the run takes.
    pub(super) images: u32,
}

/// Runs `make`, whose parameters are checked, on the current image, or on each page of the current file. Other errors
/// that do not depend on the input, such as an output format that does not support the result's type, are found
/// before the input is read.
pub(super) fn run(
    verb: &'static str,
    common: &Common,
    target: &Target<'_>,
    devices: &mut Devices,
    mut make: impl FnMut(&Device, Source<'_>, Known) -> Result<DeviceImage>,
) -> Result<Report> {
    let start = Instant::now();
    match devices.place()? {
        Place::Files { input, output, format } => {
            let file = target.args.open(&output, format.as_deref(), target.out_type)?;
            if format.is_some() && common.json {
                return Err(Error::Usage(
                    "the image and the report of --json cannot both go to the standard output".into(),
                ));
            }
            // Returns the report of an image, which `at` names if it is a page, and the result as the output takes it.
            let mut on = |image: AnyImage<'static>, known: Known, at: &str, devices: &mut Devices| {
                let (shape, pixel) = (image.shape(), image.pixel_type());
                if known.complex {
                    complex::check(verb, &file, target.out_type, pixel)?;
                }
                if let Some(out_type) = target.out_type {
                    target.args.drops_alpha(&file, out_type, shape.channels)?;
                }
                let device = devices.get(common.device)?;
                devices.at(format!("{at}{verb} of {shape} {pixel} on {}", device.name()));
                let result = make(&device, Source::Host(image), known)?;
                let out_type = target.out_type(pixel, result.pixel_type());
                let mut report = report(verb, (&input, &output), (shape, pixel), (&result, out_type), start)?;
                target.args.drops_alpha(&file, out_type, result.shape().channels)?;
                let copy = Instant::now();
                let pixels = result.into_host()?;
                report.ran.copy_out_ms = milliseconds(copy.elapsed());
                devices.at(format!("{at}writing {}", output.display()));
                let pixels = target.args.scaled(pixels, out_type, target.keep_alpha)?;
                Ok((report, target.args.fitting(&file, pixels)?))
            };
            let mut report = if target.args.pages {
                pages::run(common, &input, (&file, target.complex), devices, &mut on)?
            } else {
                devices.at(format!("reading {}", input.display()));
                let (image, metadata) = common.read_picture(&input, target.complex)?;
                let known = Known { complex: metadata.complex, images: 1 };
                let (report, pixels) = on(image, known, "", devices)?;
                let file = file.with_metadata(metadata);
                common.warn_of_profile(&file);
                file.write(&pixels)?;
                report
            };
            report.ran.total_ms = milliseconds(start.elapsed());
            Ok(report)
        }
        Place::Pipe(image) => {
            let device = devices.get(common.device)?;
            let known = Known { complex: false, images: devices.images };
            let result = make(&device, Source::Device(&image), known)?;
            let out_type = target.out_type(image.pixel_type(), result.pixel_type());
            let files = (Path::new("-"), Path::new("-"));
            let made = (&result, out_type);
            let report = report(verb, files, (image.shape(), image.pixel_type()), made, start)?;
            let result = match target.args.rescale {
                Some(_) => device.upload(Source::Host(target.args.scaled(
                    result.into_host()?,
                    out_type,
                    target.keep_alpha,
                )?))?,
                None => result,
            };
            devices.go_to(Place::Pipe(result));
            Ok(report)
        }
        Place::Volume(_) => Err(Error::Bug("a step on images in a pipe of volumes".into())),
    }
}

/// Makes the report when the kernels are done.
fn report(
    verb: &'static str,
    (input, output): (&Path, &Path),
    (shape, pixel): (Shape, PixelType),
    (result, out_type): (&DeviceImage, PixelType),
    start: Instant,
) -> Result<Report> {
    let (ran, out) = (result.report()?, result.shape());
    let ran = Ran::of(verb, input, (shape, pixel), ran, Duration::ZERO, start);
    let made = Made::Image {
        output: output.display().to_string(),
        out_type: out_type.to_string(),
        out_width: out.width,
        out_height: out.height,
    };
    Ok(Report { ran, made })
}
