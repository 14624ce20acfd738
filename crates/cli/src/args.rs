//! Options that several verbs share, and parsers of their values.

use crate::offers;
use crate::output::OutputArgs;
use crate::place::{Files, Place};
use crate::progress::Progress;
use crate::room::Bytes;
use crate::volume::{self, AskedBorders, AskedRegion, VolumeArgs};
use apron::volumes::{VolumeExtent, VolumeFilterBuilder};
use apron::{
    Device, DeviceName, Edges, Error, Extent, FilterBuilder, Mask, Method, Overflow, PixelType, Region, Rounding, Taps,
    filters,
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::{Path, PathBuf};

const ROUNDINGS: [(&str, Rounding); 2] = [("half-even", Rounding::HalfEven), ("toward-zero", Rounding::TowardZero)];
const OVERFLOWS: [(&str, Overflow); 2] = [("saturate", Overflow::Saturate), ("wrap", Overflow::Wrap)];

/// Parses one of a few names.
fn choice<T: Copy + Send + Sync + 'static>(all: [(&'static str, T); 2]) -> impl TypedValueParser<Value = T> {
    let find = move |name: String| all.into_iter().find(|(of, _)| *of == name).map_or(all[0].1, |(_, value)| value);
    PossibleValuesParser::new(all.map(|(name, _)| name)).map(find)
}

/// Options of every verb that reads an image.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Common {
    /// Where to run: auto, gpu[:N], gpu:N,M or gpus for several that share the work, cpu, emulator or reference
    /// [default: auto]
    #[arg(long, value_parser = offers::devices(), hide_possible_values = true)]
    pub(crate) device: Option<DeviceName>,
    /// The implementation, by name, instead of the one that would be chosen
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Report as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Report nothing but errors
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Page of a TIFF file with several, from 1; without it the first is read, with a warning
    #[arg(long, value_name = "N", value_parser = page, allow_hyphen_values = true)]
    pub(crate) page: Option<u32>,
    /// Largest image to read, in pixels
    #[arg(long, value_name = "N", default_value_t = 1 << 28, allow_hyphen_values = true)]
    pub(crate) max_pixels: u64,
    /// Memory that the images of a job may take, such as 2GiB or 500MB: larger ones in .npy and TIFF files and Zarr
    /// arrays are read, and results written, strip by strip [default: what is available]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory: Option<Bytes>,
    /// Turn colours into grey after reading, by OpenCV's weights; alpha is left out
    #[arg(long, visible_alias = "gray")]
    pub(crate) grey: bool,
    /// Type of the input's samples: bool, u8 to u64, i8 to i64, f16, f32 or f64; values stay, but are rounded and
    /// limited to the type [default: the file's]
    #[arg(long, value_name = "TYPE", value_parser = offers::pixels(), hide_possible_values = true)]
    pub(crate) in_type: Option<PixelType>,
}

/// Arguments of every filter.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Outside the image: constant[:V], constant:V:V:V for each channel, replicate, reflect, reflect101, wrap, or crop
    /// for none; or one for each axis, as wrap,replicate
    #[arg(
        long, value_name = "B[,BY]", default_value = "reflect101", value_parser = offers::borders::<AskedBorders>(),
        hide_possible_values = true, allow_hyphen_values = true
    )]
    pub(crate) border: AskedBorders,
    #[command(flatten)]
    pub(crate) volume: VolumeArgs,
    /// Compute a sum wherever the window touches the image: mask - 1 more in each axis
    #[arg(long, conflicts_with = "region")]
    full: bool,
    /// Compute the pixels of a region alone, from all that its windows see; of a volume X,Y,Z,WxHxD
    #[arg(long, value_name = "X,Y,WxH", value_parser = volume::region, allow_hyphen_values = true)]
    region: Option<AskedRegion>,
    /// Leave the last of two or four channels alone
    #[arg(long)]
    pub(crate) keep_alpha: bool,
    /// Type of the output's samples: bool, u8 to u64, i8 to i64, f16, f32 or f64 [default: the input's]
    #[arg(long, value_name = "TYPE", value_parser = offers::pixels(), hide_possible_values = true)]
    pub(crate) out_type: Option<PixelType>,
    /// How a sum becomes a whole number: to the nearest, halves to the even one, or as in C toward zero, by sums of f64
    #[arg(long, value_name = "NAME", default_value = "half-even", value_parser = choice(ROUNDINGS))]
    rounding: Rounding,
    /// What becomes of a sum that the type does not hold: its least or greatest number, or the sum modulo 2 to
    /// the power of the bits
    #[arg(long, value_name = "NAME", default_value = "saturate", value_parser = choice(OVERFLOWS))]
    overflow: Overflow,
    /// Round the sums between the passes of a separable filter to the output's type, as SciPy does: planes first,
    /// then columns, then rows
    #[arg(long)]
    store_between_passes: bool,
    /// How sums are taken: direct, separable, low-rank, box, fft (a mask to f32, with an error that follows the norm of
    /// a tile), or auto for what suits the weights
    #[arg(
        long, value_name = "NAME", default_value = "auto", value_parser = offers::methods(),
        hide_possible_values = true
    )]
    pub(crate) method: AskedMethod,
    /// Allow fft for f32 results if the bound of its error is at most T x (norm of a tile) x (sum of the weights'
    /// magnitudes); 1e-5 allows masks of up to 257 taps a side
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl FilterArgs {
    /// Returns the options that the samples of the result depend on.
    pub(crate) fn asked(&self) -> impl std::fmt::Debug + use<> {
        let stored = (self.rounding, self.overflow, self.store_between_passes);
        (self.border, self.region, self.full, self.keep_alpha, self.method, self.tolerance.map(f64::to_bits), stored)
    }

    /// Sets how sums of a volume become samples.
    pub(crate) fn stored_volume<'a>(&self, filter: VolumeFilterBuilder<'a>) -> VolumeFilterBuilder<'a> {
        filter.rounding(self.rounding).overflow(self.overflow).store_between_passes(self.store_between_passes)
    }

    /// Sets how sums become samples.
    pub(crate) fn stored<'a>(&self, filter: FilterBuilder<'a>) -> FilterBuilder<'a> {
        filter.rounding(self.rounding).overflow(self.overflow).store_between_passes(self.store_between_passes)
    }

    /// Returns which pixels are computed.
    ///
    /// # Errors
    /// For a region of a volume.
    pub(crate) fn extent(&self) -> Result<Extent, Error> {
        Ok(match self.region {
            Some(region) => Extent::Region(region.flat()?),
            None if self.full => Extent::Full,
            None => Extent::Same,
        })
    }

    /// Returns which voxels are computed.
    ///
    /// # Errors
    /// For a region of an image.
    pub(crate) fn volume_extent(&self) -> Result<VolumeExtent, Error> {
        Ok(match self.region {
            Some(region) => VolumeExtent::Region(region.deep()?),
            None if self.full => VolumeExtent::Full,
            None => VolumeExtent::Same,
        })
    }
}

/// The method that was asked for; `None` for the one that suits the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AskedMethod(pub(crate) Option<Method>);

impl std::str::FromStr for AskedMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<AskedMethod, String> {
        if text == "auto" {
            return Ok(AskedMethod(None));
        }
        let method = text.parse().map(|method| AskedMethod(Some(method)));
        method.map_err(|_| "must be auto, direct, separable, low-rank, box or fft".into())
    }
}

/// The open devices, each opened once for all jobs, and the place that the next verb works at.
pub(crate) struct Devices {
    default: DeviceName,
    open: Vec<(DeviceName, Device)>,
    place: Option<Place>,
    /// The image whose metadata the result gets, if it is not the verb's own.
    origin: Option<PathBuf>,
    progress: Progress,
    /// Number of images or volumes in the input; the next verb runs once per image or volume.
    pub(crate) images: u32,
}

impl Devices {
    /// Starts without open devices; `default` is for jobs that name no device.
    pub(crate) fn new(default: DeviceName) -> Devices {
        Devices { default, open: Vec::new(), place: None, origin: None, progress: Progress::default(), images: 1 }
    }

    /// Starts with this device open, as the default.
    pub(crate) fn of(device: Device) -> Devices {
        let name = device.name();
        Devices { open: vec![(name, device)], ..Devices::new(name) }
    }

    /// Sets the number of images or volumes in the input; the next verb runs once per image or volume.
    pub(crate) fn for_each_of(self, images: u32) -> Devices {
        Devices { images, ..self }
    }

    /// Starts without open devices, and shows the progress of a single job, unless its report is quiet or JSON.
    pub(crate) fn watched(common: &Common) -> Devices {
        Devices { progress: Progress::new(common.quiet || common.json), ..Devices::new(DeviceName::default()) }
    }

    /// Shows what the job is doing from now on.
    pub(crate) fn at(&self, what: impl Into<String>) {
        self.progress.at(what);
    }

    /// Starts with this device open, as the default, for the steps of a job: they show the job's progress, and results
    /// get the metadata of the job's image.
    pub(crate) fn for_steps(&mut self, device: Device, origin: PathBuf) -> Devices {
        Devices { origin: Some(origin), progress: std::mem::take(&mut self.progress), ..Devices::of(device) }
    }

    /// Returns the image whose metadata a result of `input` gets.
    pub(crate) fn origin<'a>(&'a self, input: &'a Path) -> &'a Path {
        self.origin.as_deref().unwrap_or(input)
    }

    /// Sets where the next verb works.
    pub(crate) fn go_to(&mut self, place: Place) {
        self.place = Some(place);
    }

    /// Returns the files of the next verb, if it reads one and writes one.
    pub(crate) fn files(&self) -> Option<(PathBuf, PathBuf)> {
        match &self.place {
            Some(Place::Files { input, output, .. }) if output != Path::new("-") => {
                Some((input.clone(), output.clone()))
            }
            _ => None,
        }
    }

    /// Returns the format of the next verb's result, if its file has no extension that says it.
    pub(crate) fn format(&self) -> Option<&str> {
        match &self.place {
            Some(Place::Files { format, .. }) => format.as_deref(),
            _ => None,
        }
    }

    /// Takes the place where the verb works; each place serves one verb.
    ///
    /// # Errors
    /// [`NoImage`](crate::error::Error::NoImage) if there is none.
    pub(crate) fn place(&mut self) -> crate::error::Result<Place> {
        self.place.take().ok_or(crate::error::Error::NoImage)
    }

    /// Returns the device of this name, and opens it if necessary.
    pub(crate) fn get(&mut self, name: Option<DeviceName>) -> Result<Device, Error> {
        let name = name.unwrap_or(self.default);
        if let Some((_, device)) = self.open.iter().find(|(open, _)| *open == name) {
            return Ok(device.clone());
        }
        let device = Device::open(name)?;
        self.open.push((name, device.clone()));
        Ok(device)
    }
}

/// Whether a value names a file of taps rather than literal taps.
fn is_file(value: &str) -> bool {
    Path::new(value).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Parses a mask: a `.npy` file, a known name, or a literal.
pub(crate) fn mask(value: &str, normalize: bool) -> crate::error::Result<Mask> {
    let mask = if is_file(value) {
        apron_files::read_mask(Path::new(value))?
    } else if let Some(mask) = filters::named_mask(value) {
        mask
    } else if value.starts_with(|first: char| first.is_alphabetic()) && value.parse::<f32>().is_err() {
        let names = filters::mask_names().collect::<Vec<_>>().join(", ");
        let limit = format!("a .npy file, a literal such as \"1 2 1; 2 4 2; 1 2 1\", or one of {names}");
        return Err(Error::parameter("mask", "mask", format!("'{value}'"), limit).into());
    } else {
        value.parse()?
    };
    Ok(if normalize { mask.normalized()? } else { mask })
}

/// Parses the taps of one axis: a `.npy` file of one dimension, or a literal of one row.
pub(crate) fn taps(value: &str, normalize: bool) -> crate::error::Result<Taps> {
    let taps = if is_file(value) {
        apron_files::read_taps(Path::new(value))?
    } else {
        let row: Mask = value.parse()?;
        if row.height() > 1 {
            let limit = "one row, such as \"1 2 1\"";
            return Err(Error::parameter("separable", "taps", format!("'{value}'"), limit).into());
        }
        Taps::from_f64(row.taps_f64())?
    };
    Ok(if normalize { taps.normalized()? } else { taps })
}

/// Parses two values with a separator between them.
fn pair<T: std::str::FromStr>(text: &str, separator: char) -> Option<(T, T)> {
    let (first, second) = text.split_once(separator)?;
    Some((first.trim().parse().ok()?, second.trim().parse().ok()?))
}

/// Returns the message of a standard number parser, and a plainer one to replace it.
pub(crate) fn expected(error: &(dyn std::error::Error + 'static)) -> Option<(String, &'static str)> {
    let expected = match error.downcast_ref::<ParseIntError>().map(ParseIntError::kind) {
        Some(IntErrorKind::PosOverflow) => "is larger than any that is taken",
        Some(IntErrorKind::NegOverflow) => "is smaller than any that is taken",
        Some(_) => "must be a whole number, such as 3",
        None => error.downcast_ref::<ParseFloatError>().map(|_| "must be a number, such as 1.5")?,
    };
    Some((error.to_string(), expected))
}

/// Parses the number of a page.
fn page(text: &str) -> Result<u32, String> {
    let page = text.parse().ok().filter(|page| *page > 0);
    page.ok_or_else(|| "must be a whole number from 1".into())
}

/// Parses a value of a type that named filters use, too.
fn value<V: filters::Value>(text: &str) -> Result<V, String> {
    V::read(text).ok_or_else(|| format!("must be {}", V::WANTED))
}

/// Parses `S` or `S,SY`.
pub(crate) fn sigma(text: &str) -> Result<(f64, f64), String> {
    value::<filters::Sigma>(text).map(|sigma| (sigma.x, sigma.y))
}

/// Parses `N` or `N,NY`.
pub(crate) fn order(text: &str) -> Result<(u32, u32), String> {
    value::<filters::Orders>(text).map(|order| (order.x, order.y))
}

/// Parses `WxH` or `N`.
pub(crate) fn size(text: &str) -> Result<(u32, u32), String> {
    value::<filters::Size>(text).map(|size| (size.x, size.y))
}

/// Parses `X,Y,WxH`.
pub(crate) fn region(text: &str) -> Result<Region, String> {
    let parsed = || {
        let (x, rest) = text.split_once(',')?;
        let (y, size) = rest.split_once(',')?;
        let (width, height) = pair(size, 'x')?;
        Some(Region { x: x.trim().parse().ok()?, y: y.trim().parse().ok()?, width, height })
    };
    parsed().ok_or_else(|| "must be X,Y,WxH: column and row of its first pixel, and its size".into())
}

/// Checks the region, and its size against the limit of pixels.
pub(crate) fn check_region(verb: &'static str, region: Region, common: &Common) -> Result<(), Error> {
    region.check_for(verb)?;
    let Region { width, height, .. } = region;
    if width as u64 * height as u64 <= common.max_pixels {
        return Ok(());
    }
    let limit = format!("up to {} pixels, or what --max-pixels says", common.max_pixels);
    Err(Error::parameter(verb, "region", format!("{width}x{height}"), limit))
}

/// Parses the edges of bins: a `.npy` file of one dimension, or a list of numbers.
pub(crate) fn edges(value: &str) -> crate::error::Result<Edges> {
    if is_file(value) {
        return Ok(apron_files::read_edges(Path::new(value))?);
    }
    let numbers = value.split([',', ' ']).map(str::trim).filter(|number| !number.is_empty());
    let numbers = numbers.map(|number| {
        let limit = "a .npy file, or rising numbers such as 0,16,64,256";
        apron_core::number(number, limit)
            .map_err(|limit| Error::parameter("histogram", "edges", format!("'{number}'"), limit))
    });
    Ok(Edges::new(numbers.collect::<Result<_, Error>>()?)?)
}

/// Parses one percentage.
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "must be numbers from 0 to 100".into())
}

/// Parses `LO,HI`.
pub(crate) fn range(text: &str) -> Result<(f64, f64), String> {
    let wanted = "must be LO,HI: two numbers";
    let numbers: Vec<f64> = text.split(',').map(|text| held(text, wanted)).collect::<Result<_, _>>()?;
    if let [low, high] = numbers[..] { Ok((low, high)) } else { Err(wanted.into()) }
}

/// Parses a number; of integers those that f64 holds.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    held(text, "must be a number, such as 1.5")
}

/// Parses a number as [`number`] does; another text gives the error `wanted`.
fn held(text: &str, wanted: &str) -> Result<f64, String> {
    let text = text.trim();
    let said = |limit: String| if limit == wanted { limit } else { format!("{text} must be {limit}") };
    apron_core::number(text, wanted).map_err(said)
}

/// Parses `V` or `R,G,B`.
pub(crate) fn colour(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[all]) if all.is_finite() => Ok([all; 3]),
        Some(&[red, green, blue]) if red.is_finite() && green.is_finite() && blue.is_finite() => Ok([red, green, blue]),
        _ => Err("must be V or R,G,B: finite numbers".into()),
    }
}

/// Parses `LO,HI` for both channels, or `LO,HI,LO,HI`.
pub(crate) fn ranges(text: &str) -> Result<[(f64, f64); 2], String> {
    let wanted = "must be LO,HI or LO,HI,LO,HI: numbers";
    let numbers: Vec<f64> = text.split(',').map(|text| held(text, wanted)).collect::<Result<_, _>>()?;
    match numbers[..] {
        [low, high] => Ok([(low, high); 2]),
        [low, high, other_low, other_high] => Ok([(low, high), (other_low, other_high)]),
        _ => Err(wanted.into()),
    }
}

/// Parses `A,B`.
pub(crate) fn channels(text: &str) -> Result<(u32, u32), String> {
    pair(text, ',').ok_or_else(|| "must be A,B: two channels, from 0".into())
}

/// Parses `N` or `N,M`.
pub(crate) fn bins(text: &str) -> Result<(usize, usize), String> {
    let one = text.parse().ok().map(|count| (count, count));
    one.or_else(|| pair(text, ',')).ok_or_else(|| "must be N or N,M: numbers of bins".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!((bins("8"), bins("8, 3"), channels("2,0")), (Ok((8, 8)), Ok((8, 3)), Ok((2, 0))));
        assert!(bins("8,3,1").is_err() && channels("1").is_err());
        assert_eq!(ranges("-1,1"), Ok([(-1.0, 1.0); 2]));
        assert_eq!(ranges("-1,1,0,0.5"), Ok([(-1.0, 1.0), (0.0, 0.5)]));
        assert!(ranges("1").is_err() && ranges("1,2,3").is_err() && ranges("a,b").is_err());
        assert_eq!(("auto".parse(), "box".parse()), (Ok(AskedMethod(None)), Ok(AskedMethod(Some(Method::Box)))));
        assert!("fourier".parse::<AskedMethod>().is_err());
        assert_eq!(sigma("3"), Ok((3.0, 3.0)));
        assert_eq!(sigma("3, 0.5"), Ok((3.0, 0.5)));
        assert_eq!((size("5"), size("3x7")), (Ok((5, 5)), Ok((3, 7))));
        assert!(size("3x").is_err() && size("-3").is_err());
        assert_eq!(region("-1,2,3x4"), Ok(Region { x: -1, y: 2, width: 3, height: 4 }));
        assert!(region("1,2,3").is_err() && region("1,2,-3x4").is_err());
        assert_eq!(range("-1,1e3"), Ok((-1.0, 1000.0)));
        assert_eq!(range("-9007199254740992, 1e300"), Ok((-(2f64.powi(53)), 1e300)));
        let said = "9007199254740993 must be an integer that f64 holds, as 9007199254740992";
        assert_eq!(range("0,9007199254740993"), Err(said.into()));
        assert_eq!(ranges("0,1,0,9007199254740993"), Err(said.into()));
        assert_eq!((number("9007199254740993"), number(" 2.5")), (Err(said.into()), Ok(2.5)));
        assert!(range("1").is_err() && range("a,1").unwrap_err().contains("LO,HI"));
    }

    #[test]
    fn masks_by_name_literal_or_neither() {
        assert_eq!(mask("box3", false).unwrap().width(), 3);
        assert_eq!(mask("-1 0 1", false).unwrap().taps(), [-1.0, 0.0, 1.0]);
        assert_eq!(mask("1 3", true).unwrap().taps(), [0.25, 0.75]);
        assert!(mask("blur", false).unwrap_err().line().contains("sobel-x"));
        assert!(taps("1 2; 3 4", false).is_err());
    }
}
