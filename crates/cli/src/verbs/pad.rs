//! `apron pad`.

use super::image::Target;
use super::strips::Input;
use crate::args::{self, Common, Devices};
use crate::error::Result;
use crate::offers;
use crate::output::OutputArgs;
use crate::place::Files;
use crate::report::Report;
use apron::{Borders, MAX_SIDE, Region, Shape};

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
#[command(after_help = "\
Examples:
  apron pad photo.png framed.png --by 8 --border constant:255:128:0
  apron pad tile.npy wide.npy --by 0,0,16,16 --border wrap
  apron pad photo.png part.png --region 100,50,640x480

Samples stay as they are: OpenCV's copyMakeBorder, NumPy's pad.")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Pixels to add on each side, or above, below, left and right
    #[arg(long, value_name = "N|T,B,L,R", value_parser = by, allow_hyphen_values = true, group = "which")]
    by: Option<[u32; 4]>,
    /// Instead, the pixels of a region, which may reach beyond the image
    #[arg(long, value_name = "X,Y,WxH", value_parser = args::region, allow_hyphen_values = true, group = "which")]
    region: Option<Region>,
    /// Outside the image: constant[:V], constant:V:V:V for each channel, replicate, reflect, reflect101, wrap, or crop
    /// for none; or one for each axis, as wrap,replicate
    #[arg(
        long, value_name = "B[,BY]", default_value = "reflect101", value_parser = offers::borders::<Borders>(),
        hide_possible_values = true, allow_hyphen_values = true
    )]
    border: Borders,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    let region = |shape: Shape| match (args.region, args.by) {
        (Some(region), _) => region,
        (None, by) => around(shape, by.unwrap_or_default()),
    };
    if let Some((input, _)) = devices.files() {
        Input::open(&args.common, &input, Some("padding"))?;
    }
    super::image::run("pad", &args.common, &Target::of(&args.output), devices, |device, image, _| {
        let region = region(image.shape());
        args::check_region("pad", region, &args.common)?;
        Ok(device.pad(image, region).border(args.border).variant(args.common.variant.as_deref()).run()?)
    })
}

/// Returns the region of the image with these numbers of pixels added on each side. Regions that are too large are
/// refused later.
fn around(Shape { width, height, .. }: Shape, [above, below, left, right]: [u32; 4]) -> Region {
    let (x, y) = (-(left as i32), -(above as i32));
    let side = |side: u32, before: u32, after: u32| side.saturating_add(before).saturating_add(after);
    Region { x, y, width: side(width, left, right), height: side(height, above, below) }
}

/// Parses `N` or `T,B,L,R`.
fn by(text: &str) -> Result<[u32; 4], String> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    let known = numbers.filter(|numbers| numbers.iter().all(|&number| number <= MAX_SIDE));
    match known.as_deref() {
        Some(&[all]) => Ok([all; 4]),
        Some(&[above, below, left, right]) => Ok([above, below, left, right]),
        _ => Err("must be N or T,B,L,R: pixels above, below, left and right, from 0; --region cuts a part out".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides() {
        assert_eq!((by("3"), by("1, 2,3,4")), (Ok([3; 4]), Ok([1, 2, 3, 4])));
        for wrong in ["", "-1", "1,2", "1,2,3", "1,2,3,4,5", "4294967295", "x"] {
            assert!(by(wrong).is_err(), "{wrong}");
        }
        let shape = Shape::new(10, 5, 3).unwrap();
        assert_eq!(around(shape, [1, 2, 3, 4]), Region { x: -3, y: -1, width: 17, height: 8 });
    }
}
