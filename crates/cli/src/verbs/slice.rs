//! `apron slice`.

use super::planes::Planes;
use crate::args::{Common, Devices};
use crate::error::{Error, Result};
use crate::output::OutputArgs;
use crate::report::{Made, Ran, Report};
use crate::room::check_whole;
use apron::Shape;
use apron::volumes::Slice;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron slice scan.npy middle.png --rescale auto
  apron slice scan.tif side.png --axis x --at 40
  apron slice scan.npy brightest.png --max --rescale auto

Rows of the image are planes of the volume, except along z. Columns are those of the volume, except along x: they are its rows.")]
pub(crate) struct Args {
    /// The volume: a .npy or a Zarr of shape (depth, height, width) or (depth, height, width, channels),
    /// or the pages of a TIFF
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The image, in the format that its extension says
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The axis along which the slice lies: x, y or z
    #[arg(long, value_name = "A", default_value = "z", value_parser = axis)]
    axis: usize,
    /// The place along the axis, from 0 [default: the middle, side/2]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    at: Option<u32>,
    /// Instead, the largest sample along the axis
    #[arg(long, conflicts_with = "at")]
    max: bool,
    #[command(flatten)]
    image: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Parses the name of an axis.
fn axis(text: &str) -> Result<usize, String> {
    ["x", "y", "z"].iter().position(|name| *name == text).ok_or_else(|| "must be x, y or z".into())
}

/// Refuses options of other verbs that mean nothing to a slice, instead of ignoring them.
fn check(args: &Args) -> Result<()> {
    let Args { image, common, .. } = args;
    let given = [
        (image.pages, "--pages"),
        (image.resume, "--resume"),
        (common.page.is_some(), "--page"),
        (common.variant.is_some(), "--variant"),
    ];
    match given.into_iter().find(|option| option.0) {
        Some((_, option)) => {
            Err(Error::Usage(format!("slice takes no {option}: it makes one image of a whole volume")))
        }
        None => Ok(()),
    }
}

/// Takes the slice on the host.
pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    let start = Instant::now();
    check(args)?;
    let file = args.image.open(&args.output, None, None)?;
    devices.at(format!("reading {}", args.input.display()));
    let planes = Planes::open(&args.common, &args.input, false)?;
    let (shape, pixel) = (planes.shape, planes.pixel);
    if planes.volumes > 1 {
        let what = format!("holds {} volumes of {shape}; a slice is of one", planes.volumes);
        return Err(Error::input(&args.input, what));
    }
    let slice = match (args.max, args.at) {
        (true, _) => Slice::Largest,
        (false, at) => Slice::At(at.unwrap_or(shape.sides()[args.axis] / 2)),
    };
    let begun = Instant::now();
    let plane = Shape { width: shape.width, height: shape.height, channels: shape.channels };
    let bytes = |samples: u64| samples * pixel.size_bytes() as u64;
    let image = match slice {
        // Of the file no other plane is read.
        Slice::At(z) if args.axis == 2 && z < shape.depth => {
            check_whole(bytes(plane.samples()), args.common.memory, "a slice along z")?;
            planes.read_plane(z)?
        }
        _ => {
            check_whole(bytes(shape.samples()), args.common.memory, "this slice")?;
            planes.read()?.slice(args.axis, slice)?
        }
    };
    let ran = apron::Report {
        operation: "slice",
        device: "cpu".into(),
        method: None,
        why_method: String::new(),
        error_bound: None,
        variant: "serial".into(),
        why: "the only variant".into(),
        grid: String::new(),
        copy_in: Duration::ZERO,
        kernels: begun.elapsed(),
        estimate: None,
    };
    let mut ran = Ran::of("slice", &args.input, (plane, pixel), ran, Duration::ZERO, start);
    ran.pages = Some(shape.depth);
    let out_type = args.image.out_type(None, pixel);
    let image = args.image.fitting(&file, args.image.scaled(image, out_type, false)?)?;
    let file = file.with_metadata(planes.metadata);
    args.common.warn_of_profile(&file);
    file.write(&image)?;
    ran.total_ms = crate::report::milliseconds(start.elapsed());
    let Shape { width: out_width, height: out_height, .. } = image.shape();
    let output = args.output.display().to_string();
    Ok(Report { ran, made: Made::Slice { output, out_type: out_type.to_string(), out_width, out_height } })
}
