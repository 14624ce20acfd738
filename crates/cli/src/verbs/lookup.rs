//! `apron equalize`, `apron clahe` and `apron match`.

use super::image::Target;
use super::strips::{Input, Job};
use crate::args::{self, Common, Devices};
use crate::error::{Error, Result};
use crate::output::OutputArgs;
use crate::place::{Files, Place};
use crate::report::Report;
use crate::room::{self, Bytes};
use apron::{Device, LookupBuilder, ReadRows, Source};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron equalize photo.jpg clear.png

Takes u8; every channel by itself. The result is that of OpenCV's equalizeHist.")]
pub(crate) struct EqualizeArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    write: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron clahe xray.png clear.png --clip 2 --tiles 8x8

Takes u8 and u16; every channel by itself. The result is that of OpenCV's createCLAHE.")]
pub(crate) struct ClaheArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    write: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Largest count of a value in a tile, as a multiple of the mean count; 0 for no limit
    #[arg(long, value_name = "C", default_value_t = 40.0, allow_hyphen_values = true)]
    clip: f64,
    /// Tiles across and down
    #[arg(long, value_name = "WxH", default_value = "8x8", value_parser = args::size, allow_hyphen_values = true)]
    tiles: (u32, u32),
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron match evening.jpg noon.jpg bright.png

Takes u8. Both images must have the same number of channels; their sizes may differ. Every channel is matched by
itself. The result is that of scikit-image's match_histograms with a channel axis.")]
pub(crate) struct MatchArgs {
    /// The image: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The image whose histograms the result gets
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
    /// The result, in the format that its extension says
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    write: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

pub(super) fn equalize(args: &EqualizeArgs, devices: &mut Devices) -> Result<Report> {
    run("equalize", "", (&args.common, &args.write), devices, |device, image| device.equalize(image))
}

pub(super) fn clahe(args: &ClaheArgs, devices: &mut Devices) -> Result<Report> {
    if let Some((input, _)) = devices.files() {
        Input::open(&args.common, &input, Some("tables of tiles"))?;
    }
    super::image::run("clahe", &args.common, &Target::of(&args.write), devices, |device, image, _| {
        crate::limits::tiles(args.tiles, image.shape(), image.pixel_type(), &args.common)?;
        Ok(device.clahe(image, args.clip, args.tiles).variant(args.common.variant.as_deref()).run()?)
    })
}

pub(super) fn match_histogram(args: &MatchArgs, devices: &mut Devices) -> Result<Report> {
    let MatchArgs { input, reference, output, write, common } = args;
    devices.go_to(Place::Files { input: input.clone(), output: output.clone(), format: None });
    let facts = std::fs::metadata(reference).and_then(|facts| facts.modified()).ok();
    let what = format!("{} {facts:?}", reference.display());
    let beside = reference.display();
    let reference = common.read_beside(reference)?;
    // The strips have the rest.
    let taken = reference.shape().samples() * reference.pixel_type().size_bytes() as u64;
    let asked = common.memory;
    let memory = asked.map(|memory| Bytes(memory.0.saturating_sub(taken)));
    let common = &Common { memory, ..common.clone() };
    let matched =
        run("match", &what, (common, write), devices, |device, image| device.match_histogram(image, &reference));
    matched.map_err(|error| match (error, asked) {
        (Error::Apron(error), Some(Bytes(asked))) => {
            let why = format!("; {taken} bytes of it are those of {beside}");
            room::restated(error, asked, |least| least.saturating_add(taken), &why).into()
        }
        (error, _) => error,
    })
}

/// Runs the operation that `make` builds, of other images that `what` names; its result has the input's type.
fn run(
    verb: &'static str,
    what: &str,
    (common, write): (&Common, &OutputArgs),
    devices: &mut Devices,
    make: impl for<'a> Fn(&'a Device, Source<'a>) -> LookupBuilder<'a>,
) -> Result<Report> {
    let target = Target::of(write);
    if let Some((input, output)) = devices.files()
        && let Some(job) = Job::asked(verb, common, &target, (&input, &output), devices)?
    {
        devices.place()?;
        devices.at(format!("reading {}", input.display()));
        let device = devices.get(common.device)?;
        let lookup = make(&device, (&job.input as &dyn ReadRows).into()).variant(common.variant.as_deref());
        let out = (job.input.shape(), job.input.pixel_type());
        return job.run(verb, &what, out, devices, |out, memory| lookup.run_rows(out, memory));
    }
    super::image::run(verb, common, &target, devices, |device, image, _| {
        Ok(make(device, image).variant(common.variant.as_deref()).run()?)
    })
}
