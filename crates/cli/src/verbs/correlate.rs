//! `apron correlate` and `apron convolve`.

use crate::args::{self, Devices, FilterArgs};
use crate::error::Result;
use crate::report::Report;
use crate::volume::Anchor;
use apron::volumes::VolumeFormula;
use apron::{Error, Formula};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron correlate photo.png edges.npy --mask \"-1 0 1; -2 0 2; -1 0 1\" --out-type f32
  apron correlate photo.png part.png --mask sharpen --region 100,50,640x480
  apron correlate photo.png relief.png --mask \"-2 -1 0; -1 0 1; 0 1 2\" --divisor 4 --offset 128
  apron convolve photo.png soft.png --mask \"1 2 1; 2 4 2; 1 2 1\" --normalize --border replicate
  apron correlate scan.npy out.npy --mask cube.npy --volume --border reflect")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// The weights: a .npy file, a literal with rows separated by ';', or a known name such as sobel-x
    #[arg(
        long, value_name = "M", value_parser = crate::offers::masks(), hide_possible_values = true,
        allow_hyphen_values = true
    )]
    mask: String,
    /// Divide the weights by their sum
    #[arg(long)]
    normalize: bool,
    #[command(flatten)]
    anchor: Anchor,
    /// Limit each sum to 0 to 1; the output is f32; not with --volume
    #[arg(long)]
    clamp: bool,
    /// Divide each sum by this, as masks of integers want; not 0; not with --volume
    #[arg(long, value_name = "D", default_value_t = 1.0, allow_hyphen_values = true, conflicts_with = "clamp")]
    divisor: f64,
    /// Add this to each sum after the division, before it is rounded; not with --volume
    #[arg(long, value_name = "F", default_value_t = 0.0, allow_hyphen_values = true, conflicts_with = "clamp")]
    offset: f64,
}

pub(super) fn run(verb: &'static str, args: &Args, devices: &mut Devices) -> Result<Report> {
    if args.filter.volume.volume {
        args.filter.volume.without_dz(verb)?;
        let refused = [
            ("clamp", args.clamp, "asked for".to_string()),
            ("divisor", args.divisor != 1.0, args.divisor.to_string()),
            ("offset", args.offset != 0.0, args.offset.to_string()),
        ];
        if let Some((option, _, value)) = refused.into_iter().find(|(_, given, _)| *given) {
            return Err(Error::parameter(verb, option, format!("{value} with --volume"), "left out").into());
        }
        let mut mask = super::volume::mask(&args.mask, args.normalize)?;
        if let Some(anchor) = args.anchor.deep()? {
            mask = mask.with_anchor(anchor)?;
        }
        let mask = if verb == "convolve" { mask.flipped() } else { mask };
        return super::volume::run(verb, &args.filter, &VolumeFormula::dense(mask), None, devices);
    }
    let mut mask = args::mask(&args.mask, args.normalize)?;
    if let Some((x, y)) = args.anchor.flat()? {
        mask = mask.with_anchor(x, y)?;
    }
    if args.divisor != 1.0 || args.offset != 0.0 {
        if !args.divisor.is_finite() || !args.divisor.recip().is_finite() {
            let limit = "finite, and so far from 0 that its reciprocal is";
            return Err(Error::parameter(verb, "divisor", args.divisor, limit).into());
        }
        if !args.offset.is_finite() {
            return Err(Error::parameter(verb, "offset", args.offset, "finite").into());
        }
        let mask = if verb == "convolve" { mask.flipped() } else { mask };
        let formula = Formula::Dense(mask).scaled(1.0 / args.divisor, args.offset);
        return super::named::apply(verb, &args.filter, formula, devices);
    }
    super::filter::run(verb, &args.filter, args.clamp, devices, |device, image| match verb {
        "convolve" => device.convolve(image, mask.clone()),
        _ => device.correlate(image, mask.clone()),
    })
}
