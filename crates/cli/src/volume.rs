//! Options of volumes, and values that are one for each axis: two of an image, or three of a volume.

use crate::error::{Error, Result};
use apron::volumes::{VolumeBorders, VolumeRegion, is_value};
use apron::{Borders, Region, Taps};

/// Options of every filter that takes volumes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct VolumeArgs {
    /// Take the whole file as a volume: a .npy or a Zarr of shape (depth, height, width) or (depth, height, width,
    /// channels), or the pages of a TIFF; or as several, a .npy of shape (n, depth, height, width). Values for each
    /// axis are then three: for x, y and z
    #[arg(long, conflicts_with_all = ["keep_alpha", "method", "rescale", "quality", "page", "pages"])]
    pub(crate) volume: bool,
    /// Of sobel and prewitt with --volume, 1 for the derivative along the planes, where dx and dy are 0
    #[arg(long, value_name = "N", requires = "volume")]
    pub(crate) dz: Option<u32>,
}

impl VolumeArgs {
    /// Checks that no derivative along the planes is asked for, of a verb that is none.
    ///
    /// # Errors
    /// If it is.
    pub(crate) fn without_dz(&self, verb: &'static str) -> Result<(), apron::Error> {
        let wrong = |dz| apron::Error::parameter(verb, "dz", dz, "left out: it is for sobel and prewitt");
        self.dz.map_or(Ok(()), |dz| Err(wrong(dz)))
    }
}

/// Borders of an image or of a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AskedBorders {
    flat: Option<Borders>,
    deep: Option<VolumeBorders>,
}

impl std::str::FromStr for AskedBorders {
    type Err = apron::Error;

    fn from_str(text: &str) -> Result<AskedBorders, apron::Error> {
        let (flat, deep) = (text.parse(), text.parse().ok());
        match flat {
            Err(error) if deep.is_none() => Err(error),
            flat => Ok(AskedBorders { flat: flat.ok(), deep }),
        }
    }
}

impl AskedBorders {
    /// Returns the borders of an image.
    ///
    /// # Errors
    /// For borders of three axes.
    pub(crate) fn flat(&self) -> Result<Borders, apron::Error> {
        let wrong = || apron::Error::parameter("border", "number of borders", 3, "1 or 2, unless --volume is given");
        self.flat.ok_or_else(wrong)
    }

    /// Returns the borders of a volume.
    ///
    /// # Errors
    /// For borders of two axes, or by channel.
    pub(crate) fn deep(&self) -> Result<VolumeBorders, apron::Error> {
        let limit = "one for all axes, or one for each of x, y and z, the same for all channels";
        self.deep.ok_or_else(|| apron::Error::parameter("volume", "border", "of two axes or by channel", limit))
    }
}

/// Where the window of a filter lies.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Anchor {
    /// Column and row of the tap over the output pixel, and its plane for a volume [default: the middle, size/2]
    #[arg(long = "anchor", value_name = "X,Y[,Z]", value_parser = anchor, allow_hyphen_values = true)]
    at: Option<AskedAnchor>,
}

/// Column, row and perhaps plane.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AskedAnchor(u32, u32, Option<u32>);

/// Parses `X,Y` or `X,Y,Z`.
fn anchor(text: &str) -> Result<AskedAnchor, String> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([x, y]) => Ok(AskedAnchor(*x, *y, None)),
        Some([x, y, z]) => Ok(AskedAnchor(*x, *y, Some(*z))),
        _ => Err("must be X,Y, or X,Y,Z for a volume: column, row and plane of a tap, from 0".into()),
    }
}

impl Anchor {
    /// Returns the anchor in an image.
    ///
    /// # Errors
    /// For one of three numbers.
    pub(crate) fn flat(&self) -> Result<Option<(u32, u32)>, apron::Error> {
        match self.at {
            Some(AskedAnchor(x, y, Some(z))) => Err(apron::Error::parameter(
                "anchor",
                "anchor",
                format!("{x},{y},{z}"),
                "X,Y, unless --volume is given",
            )),
            at => Ok(at.map(|AskedAnchor(x, y, _)| (x, y))),
        }
    }

    /// Returns the anchor in a volume.
    ///
    /// # Errors
    /// For one of two numbers.
    pub(crate) fn deep(&self) -> Result<Option<[u32; 3]>, apron::Error> {
        match self.at {
            Some(AskedAnchor(x, y, None)) => {
                Err(apron::Error::parameter("volume", "anchor", format!("{x},{y}"), "X,Y,Z, with the plane"))
            }
            at => Ok(at.and_then(|AskedAnchor(x, y, z)| Some([x, y, z?]))),
        }
    }

    /// Sets the anchor on the taps of both axes of an image.
    ///
    /// # Errors
    /// For an anchor outside the taps.
    pub(crate) fn taps(&self, taps_x: Taps, taps_y: Taps) -> Result<(Taps, Taps), apron::Error> {
        match self.flat()? {
            Some((x, y)) => Ok((taps_x.with_anchor(x)?, taps_y.with_anchor(y)?)),
            None => Ok((taps_x, taps_y)),
        }
    }
}

/// A region of an image or of a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AskedRegion {
    Flat(Region),
    Deep(VolumeRegion),
}

impl AskedRegion {
    /// Returns the region of an image.
    ///
    /// # Errors
    /// For one of a volume.
    pub(crate) fn flat(self) -> Result<Region, apron::Error> {
        match self {
            AskedRegion::Flat(region) => Ok(region),
            AskedRegion::Deep(region) => {
                Err(apron::Error::parameter("region", "region", text(region), "X,Y,WxH, unless --volume is given"))
            }
        }
    }

    /// Returns the region of a volume.
    ///
    /// # Errors
    /// For one of an image.
    pub(crate) fn deep(self) -> Result<VolumeRegion, apron::Error> {
        match self {
            AskedRegion::Deep(region) => Ok(region),
            AskedRegion::Flat(region) => {
                Err(apron::Error::parameter("volume", "region", region, "X,Y,Z,WxHxD, with planes"))
            }
        }
    }
}

/// Returns a region as it is asked for.
fn text(VolumeRegion { corner: [x, y, z], size: [width, height, depth] }: VolumeRegion) -> String {
    format!("{x},{y},{z},{width}x{height}x{depth}")
}

/// Parses `X,Y,WxH` or `X,Y,Z,WxHxD`.
pub(crate) fn region(text: &str) -> Result<AskedRegion, String> {
    let flat = match crate::args::region(text) {
        Ok(region) => return Ok(AskedRegion::Flat(region)),
        Err(wrong) => wrong,
    };
    let numbers = |text: &str, separator| -> Option<Vec<u32>> {
        text.split(separator).map(|number| number.trim().parse().ok()).collect()
    };
    let deep = || {
        let (corner, size) = text.rsplit_once(',')?;
        let [corner, size] = [numbers(corner, ',')?, numbers(size, 'x')?];
        Some(VolumeRegion { corner: corner.try_into().ok()?, size: size.try_into().ok()? })
    };
    deep().map(AskedRegion::Deep).ok_or_else(|| format!("{flat}; or X,Y,Z,WxHxD in a volume"))
}

/// Makes a parser of values that are one or two for an image, by `flat`, or three for a volume: it keeps the text.
pub(crate) fn each<T>(
    flat: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |text| match flat(text) {
        Err(wrong) if !is_value(text) => Err(wrong),
        _ => Ok(text.to_string()),
    }
}

/// Returns the value of a text for an image.
///
/// # Errors
/// For a text of three values.
pub(crate) fn flat<T>(parameter: &'static str, text: &str, parse: fn(&str) -> Result<T, String>) -> Result<T> {
    parse(text).map_err(|wrong| Error::Usage(format!("--{parameter} {text}: {wrong}; three values are for --volume")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_and_anchors_of_two_and_three_axes() {
        let borders = |text: &str| text.parse::<AskedBorders>().unwrap();
        assert!(borders("wrap").flat().is_ok() && borders("wrap").deep().is_ok());
        assert!(borders("wrap,reflect").flat().is_ok() && borders("wrap,reflect").deep().is_err());
        assert!(borders("wrap,reflect,wrap").flat().is_err() && borders("wrap,reflect,wrap").deep().is_ok());
        assert!("wrap,wrap,wrap,wrap".parse::<AskedBorders>().is_err() && "mirror".parse::<AskedBorders>().is_err());
        let of = |text: &str| Anchor { at: Some(anchor(text).unwrap()) };
        assert_eq!((of("1,2").flat().unwrap(), of("1,2,3").deep().unwrap()), (Some((1, 2)), Some([1, 2, 3])));
        assert!(of("1,2").deep().is_err() && of("1,2,3").flat().is_err());
        assert!(anchor("-1,0").is_err() && anchor("1").is_err() && anchor("1,2,3,4").is_err());
    }

    #[test]
    fn regions_of_two_and_three_axes() {
        let flat = region("-1,2,3x4").unwrap();
        assert!(flat.flat().is_ok() && flat.deep().is_err());
        let deep = region("1,2,3, 4x5x6").unwrap();
        assert_eq!(deep.deep().unwrap(), VolumeRegion { corner: [1, 2, 3], size: [4, 5, 6] });
        assert!(deep.flat().unwrap_err().to_string().contains("region is 1,2,3,4x5x6"));
        assert!(region("1,2,3,4x5").is_err() && region("-1,2,3,4x5x6").is_err() && region("1").is_err());
    }

    #[test]
    fn texts_of_two_and_three_values() {
        let parse = each(crate::args::sigma);
        assert!(parse("2").is_ok() && parse("2,1").is_ok() && parse("2,1,1").is_ok() && parse("2,x").is_err());
        assert!(flat("sigma", "2,1", crate::args::sigma).is_ok());
        let error = flat("sigma", "2,1,1", crate::args::sigma).unwrap_err();
        assert!(error.line().contains("--volume"), "{}", error.line());
    }
}
