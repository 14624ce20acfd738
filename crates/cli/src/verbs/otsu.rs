//! `apron otsu`.

use super::strips::Input;
use crate::args::{Common, Devices};
use crate::error::{Error, Result};
use crate::report::{Made, Ran, Report, print};
use apron::{AnyImage, Image, Pixel, PixelType, ReadRows, Shape, multi_otsu, otsu};
use apron_files::{ImageOutput, Metadata};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron otsu page.png
  apron otsu page.png black-and-white.png
  apron otsu photo.jpg --grey
  apron otsu cells.png classes.png --classes 3

Takes u8 and u16 of one channel, which --grey makes of colours. Of two classes the threshold is that of OpenCV's THRESH_OTSU, of more those of
scikit-image's threshold_multiotsu. Samples above a threshold are of the brighter class.")]
pub(crate) struct Args {
    /// The image: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// A picture of the classes, from 0 to 255, or the thresholds as int64 in a .npy file
    #[arg(value_name = "OUT")]
    output: Option<PathBuf>,
    /// Number of classes, 2 to 5; more than 2 are for u8
    #[arg(long, value_name = "N", default_value_t = 2, allow_hyphen_values = true)]
    classes: usize,
    #[command(flatten)]
    common: Common,
}

/// Finds the thresholds, writes the output that was asked for, and prints them.
pub(super) fn run(args: &Args) -> Result<(Report, &Common)> {
    let report = find(args, &mut Devices::watched(&args.common))?;
    if let (Made::Thresholds { thresholds, .. }, false) = (&report.made, args.common.json) {
        let thresholds: Vec<String> = thresholds.iter().map(usize::to_string).collect();
        print(&format!("{}\n", thresholds.join(" ")))?;
    }
    Ok((report, &args.common))
}

/// Finds the thresholds, and writes the output that was asked for.
pub(super) fn find(args: &Args, devices: &mut Devices) -> Result<Report> {
    let start = Instant::now();
    if !(2..=5).contains(&args.classes) {
        return Err(apron::Error::parameter("otsu", "number of classes", args.classes, "2 to 5").into());
    }
    let output = args.output.as_deref().map(|path| ImageOutput::new(path, Some(PixelType::U8))).transpose()?;
    devices.at(format!("reading {}", args.input.display()));
    let picture = output.as_ref().is_some_and(|output| !output.is_array());
    let whole = picture.then_some("a picture of the classes");
    let input = Input::open(&args.common, &args.input, whole)?;
    let (image, mut metadata) = match &input {
        Some(_) => (None, Metadata::default()),
        None => args.common.read_picture(&args.input, false).map(|(image, metadata)| (Some(image), metadata))?,
    };
    // Classes have no colours, and so no profile.
    metadata.icc = None;
    let output = output.map(|output| output.with_metadata(metadata));
    let of = match (&input, &image) {
        (Some(input), _) => (input.shape(), input.pixel_type()),
        (None, Some(image)) => (image.shape(), image.pixel_type()),
        (None, None) => return Err(Error::NoImage),
    };
    check(of, args.classes)?;
    let device = devices.get(args.common.device)?;
    let variant = args.common.variant.as_deref();
    let (histogram, ran) = match (&input, &image) {
        (Some(input), _) => {
            let rows = input.shown(devices);
            let counting = device.value_histogram(&rows as &dyn ReadRows)?.variant(variant);
            counting.run_rows(input.memory.left()).map_err(|error| input.error(error))?
        }
        (None, Some(image)) => {
            devices.at(format!("otsu on {}", device.name()));
            device.value_histogram(image)?.variant(variant).run_reported()?
        }
        (None, None) => return Err(Error::NoImage),
    };
    let thresholds = match args.classes {
        2 => vec![otsu(histogram.counts())],
        classes => multi_otsu(histogram.counts(), classes)?,
    };
    match &output {
        Some(output) if output.is_array() => {
            output.write_integers(&thresholds.iter().map(|&threshold| threshold as u64).collect::<Vec<_>>())?;
        }
        Some(output) => {
            let classes = image.as_ref().map(|image| parted(image, &thresholds)).transpose()?;
            output.write(&AnyImage::U8(classes.ok_or(Error::NoImage)?))?;
        }
        None => {}
    }
    let made = Made::Thresholds {
        threshold: thresholds[0],
        thresholds,
        output: args.output.as_deref().map(|path| path.display().to_string()),
    };
    Ok(Report { ran: Ran::of("otsu", &args.input, of, ran, Duration::ZERO, start), made })
}

/// Checks the image against what thresholds are found for.
fn check((shape, pixel): (Shape, PixelType), classes: usize) -> Result<()> {
    if shape.channels > 1 {
        let (value, limit) =
            (shape.channels.to_string(), "1, since there is one threshold; --grey makes 1 of colours".into());
        return Err(apron::Error::Shape { what: "number of channels", value, limit }.into());
    }
    if classes > 2 && pixel == PixelType::U16 {
        let (operation, expected) = ("otsu", "u8 for more than two classes".into());
        return Err(apron::Error::PixelType { operation, found: pixel, expected }.into());
    }
    Ok(())
}

/// Replaces each sample by its class: 0 for the darkest, 255 for the brightest.
fn parted(image: &AnyImage<'_>, thresholds: &[usize]) -> Result<Image<'static, u8>> {
    fn typed<T: Pixel>(image: &Image<'_, T>, thresholds: &[usize]) -> Result<Image<'static, u8>> {
        let class = |sample: &T| {
            let above = thresholds.iter().filter(|&&threshold| sample.to_f64() > threshold as f64).count();
            (above * 255 / thresholds.len()) as u8
        };
        let classes: Vec<u8> = image.rows().flatten().map(class).collect();
        Ok(Image::new(image.width(), image.height(), image.channels(), classes)?)
    }
    apron_core::each_type!(image, image => typed(image, thresholds))
}
