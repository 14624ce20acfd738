//! `apron gaussian`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use crate::volume::{self, Anchor};
use apron::{filters, volumes};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron gaussian photo.jpg blurred.png --sigma 3 --border reflect
  apron gaussian photo.jpg slope.npy --sigma 1.5 --order 1,0 --out-type f32
  apron gaussian scan.npy soft.npy --sigma 2,2,1 --volume")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Standard deviation in pixels, for all axes, or for x and y, and z of a volume
    #[arg(long, value_name = "S[,SY[,SZ]]", value_parser = volume::each(args::sigma), allow_hyphen_values = true)]
    sigma: String,
    /// Cut the bell off at this many standard deviations
    #[arg(long, value_name = "T", default_value_t = 4.0, allow_hyphen_values = true)]
    truncate: f64,
    /// Order of the derivative, 0 to 3, for all axes, or for x and y, and z of a volume
    #[arg(
        long,
        value_name = "N[,NY[,NZ]]",
        value_parser = volume::each(args::order),
        default_value = "0",
        allow_hyphen_values = true
    )]
    order: String,
    #[command(flatten)]
    anchor: Anchor,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    if args.filter.volume.volume {
        let formula = volumes::formula("gaussian", |name| match name {
            "sigma" => Some(args.sigma.clone()),
            "order" => Some(args.order.clone()),
            "truncate" => Some(args.truncate.to_string()),
            "dz" => args.filter.volume.dz.map(|dz| dz.to_string()),
            _ => None,
        })?;
        return super::volume::run("gaussian", &args.filter, &formula, args.anchor.deep()?, devices);
    }
    let sigma = volume::flat("sigma", &args.sigma, args::sigma)?;
    let order = volume::flat("order", &args.order, args::order)?;
    let taps_x = filters::gaussian_derivative(sigma.0, order.0, args.truncate)?;
    let taps_y = filters::gaussian_derivative(sigma.1, order.1, args.truncate)?;
    let (taps_x, taps_y) = args.anchor.taps(taps_x, taps_y)?;
    super::filter::run("gaussian", &args.filter, false, devices, |device, image| {
        device.separable(image, taps_x.clone(), taps_y.clone())
    })
}
