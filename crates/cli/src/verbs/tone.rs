//! `apron equalize`, `apron clahe` and `apron match`.

use crate::args::{self, Common, Devices};
use crate::error::Result;
use crate::files::{self, ImageOutput};
use crate::report::{Made, Ran, Report};
use apron::{AnyImage, Device, ToneOf};
use std::path::PathBuf;
use std::time::Instant;

/// The files of a verb that changes values.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Files {
    /// The image: PNG, JPEG, TIFF, BMP, PNM or .npy
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The result, in the format that its extension says
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron equalize photo.jpg clear.png

Takes u8; every channel by itself. The result is that of OpenCV's equalizeHist.")]
pub(crate) struct EqualizeArgs {
    #[command(flatten)]
    pub(crate) files: Files,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron clahe xray.png clear.png --clip 2 --tiles 8x8

Takes u8 and u16; every channel by itself. The result is that of OpenCV's createCLAHE.")]
pub(crate) struct ClaheArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Largest count of a value in a tile, as a multiple of the mean count; 0 for no limit
    #[arg(long, value_name = "C", default_value_t = 40.0, allow_hyphen_values = true)]
    clip: f64,
    /// Tiles across and down
    #[arg(long, value_name = "WxH", default_value = "8x8", value_parser = args::size)]
    tiles: (u32, u32),
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron match evening.jpg noon.jpg bright.png

Takes u8 of as many channels, of any size; every channel by itself. The result is that of scikit-image's
match_histograms with a channel axis.")]
pub(crate) struct MatchArgs {
    /// The image: PNG, JPEG, TIFF, BMP, PNM or .npy
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The image whose histograms the result gets
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
    /// The result, in the format that its extension says
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    pub(crate) common: Common,
}

pub(super) fn equalize(args: &EqualizeArgs, devices: &mut Devices) -> Result<Report> {
    run("equalize", &args.files, devices, |device, image| device.equalize(image))
}

pub(super) fn clahe(args: &ClaheArgs, devices: &mut Devices) -> Result<Report> {
    run("clahe", &args.files, devices, |device, image| device.clahe(image, args.clip, args.tiles))
}

pub(super) fn match_histogram(args: &MatchArgs, devices: &mut Devices) -> Result<Report> {
    let MatchArgs { input, reference, output, common } = args;
    let reference = files::read_image(reference, common.max_pixels)?;
    let files = Files { input: input.clone(), output: output.clone(), common: common.clone() };
    run("match", &files, devices, |device, image| device.match_histogram(image, &reference))
}

/// Runs what `make` makes, and writes an image of the input's type.
fn run(
    verb: &'static str,
    args: &Files,
    devices: &mut Devices,
    make: impl for<'a> FnOnce(&'a Device, &'a AnyImage<'static>) -> ToneOf<'a>,
) -> Result<Report> {
    let start = Instant::now();
    let output = ImageOutput::new(&args.output, None)?;
    let image = files::read_image(&args.input, args.common.max_pixels)?;
    let (shape, pixel) = (image.shape(), image.pixel_type());
    output.check(pixel, shape.channels)?;

    let device = devices.get(args.common.device)?;
    let result = make(&device, &image).variant(args.common.variant.as_deref()).run()?;
    let ran = result.report()?;
    let copy = Instant::now();
    let pixels = result.into_any()?;
    let copy_out = copy.elapsed();
    output.write(&pixels)?;
    let made = Made::Image {
        output: args.output.display().to_string(),
        out_type: pixel.to_string(),
        out_width: shape.width,
        out_height: shape.height,
    };
    Ok(Report { ran: Ran::of(verb, &args.input, (shape, pixel), ran, copy_out, start), made })
}
