//! `apron separable`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use crate::volume::Anchor;
use apron::volumes::VolumeFormula;
use apron::{Error, Taps};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron separable photo.png soft.png --taps-x \"1 4 6 4 1\" --taps-y \"1 2 1\" --normalize
  apron separable scan.npy soft.npy --taps-x \"1 2 1\" --taps-y \"1 2 1\" --taps-z \"1 1\" --normalize --volume")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Weights along the rows: a literal such as "1 2 1", or a .npy file of one dimension
    #[arg(long, value_name = "T", value_hint = clap::ValueHint::FilePath, allow_hyphen_values = true)]
    taps_x: String,
    /// Weights along the columns
    #[arg(long, value_name = "T", value_hint = clap::ValueHint::FilePath, allow_hyphen_values = true)]
    taps_y: String,
    /// Weights along the planes of a volume
    #[arg(
        long, value_name = "T", value_hint = clap::ValueHint::FilePath, allow_hyphen_values = true,
        requires = "volume"
    )]
    taps_z: Option<String>,
    /// Divide the weights of each axis by their sum
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    anchor: Anchor,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    let taps_x = args::taps(&args.taps_x, args.normalize)?;
    let taps_y = args::taps(&args.taps_y, args.normalize)?;
    if args.filter.volume.volume {
        args.filter.volume.without_dz("separable")?;
        let taps_z = args.taps_z.as_ref().map(|taps| args::taps(taps, args.normalize)).transpose()?;
        let taps_z = taps_z.map_or_else(|| Taps::new([1.0]), Ok::<_, Error>)?;
        let formula = VolumeFormula::separable([taps_x, taps_y, taps_z]);
        return super::volume::run("separable", &args.filter, &formula, args.anchor.deep()?, devices);
    }
    let (taps_x, taps_y) = args.anchor.taps(taps_x, taps_y)?;
    super::filter::run("separable", &args.filter, false, devices, |device, image| {
        device.separable(image, taps_x.clone(), taps_y.clone())
    })
}
