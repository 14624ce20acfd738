//! `apron separable`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron separable photo.png soft.png --taps-x \"1 4 6 4 1\" --taps-y \"1 2 1\" --normalize")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Weights along the rows: a literal such as "1 2 1", or a .npy file of one dimension
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    taps_x: String,
    /// Weights along the columns
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    taps_y: String,
    /// Divide the weights of each axis by their sum
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    anchor: args::Anchor,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    let taps_x = args::taps(&args.taps_x, args.normalize)?;
    let taps_y = args::taps(&args.taps_y, args.normalize)?;
    let (taps_x, taps_y) = args.anchor.taps(taps_x, taps_y)?;
    super::filter::run("separable", &args.filter, false, devices, |device, image| {
        device.separable(image, taps_x.clone(), taps_y.clone())
    })
}
