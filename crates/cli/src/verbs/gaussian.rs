//! `apron gaussian`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use apron::filters;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron gaussian photo.jpg blurred.png --sigma 3 --border reflect
  apron gaussian photo.jpg slope.npy --sigma 1.5 --order 1,0 --out-type f32")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Standard deviation in pixels, for both axes or for x and y
    #[arg(long, value_name = "S[,SY]", value_parser = args::sigma, allow_hyphen_values = true)]
    sigma: (f64, f64),
    /// Cut the bell off at this many standard deviations
    #[arg(long, value_name = "T", default_value_t = 4.0, allow_hyphen_values = true)]
    truncate: f64,
    /// Order of the derivative, 0 to 3, for both axes or for x and y
    #[arg(long, value_name = "N[,NY]", value_parser = args::order, default_value = "0", allow_hyphen_values = true)]
    order: (u32, u32),
    #[command(flatten)]
    anchor: args::Anchor,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    let taps_x = filters::gaussian_derivative(args.sigma.0, args.order.0, args.truncate)?;
    let taps_y = filters::gaussian_derivative(args.sigma.1, args.order.1, args.truncate)?;
    let (taps_x, taps_y) = args.anchor.taps(taps_x, taps_y)?;
    super::filter::run("gaussian", &args.filter, false, devices, |device, image| {
        device.separable(image, taps_x.clone(), taps_y.clone())
    })
}
