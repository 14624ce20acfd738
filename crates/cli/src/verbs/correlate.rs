//! `apron correlate` and `apron convolve`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron correlate photo.png edges.npy --mask \"-1 0 1; -2 0 2; -1 0 1\" --out-type f32
  apron correlate photo.png part.png --mask sharpen --region 100,50,640x480
  apron convolve photo.png soft.png --mask \"1 2 1; 2 4 2; 1 2 1\" --normalize --border replicate")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// The weights: a .npy file, a literal with rows separated by ';', or a known name such as sobel-x
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    mask: String,
    /// Divide the weights by their sum
    #[arg(long)]
    normalize: bool,
    /// Column and row of the tap over the output pixel [default: the middle, size/2]
    #[arg(long, value_name = "X,Y", value_parser = args::anchor, allow_hyphen_values = true)]
    anchor: Option<(u32, u32)>,
    /// Limit each sum to 0 to 1; the output is f32
    #[arg(long)]
    clamp: bool,
}

pub(super) fn run(verb: &'static str, args: &Args, devices: &mut Devices) -> Result<Report> {
    let mut mask = args::mask(&args.mask, args.normalize)?;
    if let Some((x, y)) = args.anchor {
        mask = mask.with_anchor(x, y)?;
    }
    super::filter::run(verb, &args.filter, args.clamp, devices, |device, image| match verb {
        "convolve" => device.convolve(image, mask),
        _ => device.correlate(image, mask),
    })
}
