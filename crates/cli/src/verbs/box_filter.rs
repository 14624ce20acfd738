//! `apron box`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use apron::filters;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron box photo.png mean.png --size 5x3")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Width and height of the window in pixels, or one number for both
    #[arg(long, value_name = "WxH", value_parser = args::size, allow_hyphen_values = true)]
    size: (u32, u32),
    #[command(flatten)]
    anchor: args::Anchor,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    let (width, height) = args.size;
    // Checks size and anchor before the input is read.
    args.anchor.taps(filters::mean(width)?, filters::mean(height)?)?;
    super::filter::run("box", &args.filter, false, devices, |device, image| {
        device.box_filter(image, width, height).anchor(args.anchor.at)
    })
}
