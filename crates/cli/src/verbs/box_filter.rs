//! `apron box`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use crate::volume::{self, Anchor};
use apron::{filters, volumes};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron box photo.png mean.png --size 5x3
  apron box scan.npy mean.npy --size 5x5x3 --volume")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Width and height of the window in pixels, and its depth for a volume, or one number for all
    #[arg(long, value_name = "WxH[xD]", value_parser = volume::each(args::size), allow_hyphen_values = true)]
    size: String,
    #[command(flatten)]
    anchor: Anchor,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    if args.filter.volume.volume {
        args.filter.volume.without_dz("box")?;
        let formula = volumes::formula("box", |name| (name == "size").then(|| args.size.clone()))?;
        return super::volume::run("box", &args.filter, &formula, args.anchor.deep()?, devices);
    }
    let (width, height) = volume::flat("size", &args.size, args::size)?;
    // Checks size and anchor before the input is read.
    args.anchor.taps(filters::mean(width)?, filters::mean(height)?)?;
    let anchor = args.anchor.flat()?;
    super::filter::run("box", &args.filter, false, devices, |device, image| {
        device.box_filter(image, width, height).anchor(anchor)
    })
}
