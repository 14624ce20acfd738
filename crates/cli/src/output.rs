//! Postprocessing of results before they are written: range, alpha, and compression.

use crate::args;
use crate::error::{Error, Result};
use crate::offers;
use apron::{AnyImage, Image, Pixel, PixelType};
use apron_core::{Accumulator, Sample, check_memory, each_type};
use apron_files::ImageOutput;
use std::path::Path;

/// Options of every verb that makes an image.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OutputArgs {
    /// Map these two values, or with auto the least and the largest sample, to the ends of the output's range: 0 and
    /// 255 for u8 (the type of what was neither u8 nor u16, unless --out-type says another), 65535 for u16, 32767
    /// for i16, 1 for floats
    #[arg(
        long, value_name = "LO,HI|auto", value_parser = offers::scales(), hide_possible_values = true,
        allow_hyphen_values = true
    )]
    pub(crate) rescale: Option<Scale>,
    /// Quality of a JPEG, 1 to 100 [default: 95]; colours have half the resolution below 100, as OpenCV's
    #[arg(long, value_name = "Q", value_parser = quality, allow_hyphen_values = true)]
    quality: Option<u8>,
    /// Blend what is not opaque with this colour, where the output's format has no alpha
    #[arg(long, value_name = "V|R,G,B", value_parser = args::colour, allow_hyphen_values = true)]
    background: Option<[f64; 3]>,
    /// Where an image is processed by strips, or a volume by slabs: keep unfinished output in OUT.partial if the run is
    /// stopped, and continue from it when the same command is run again; for .npy, Zarr, and TIFF (not of volumes)
    #[arg(long)]
    pub(crate) resume: bool,
    /// Take each page of a TIFF, or each image along the first dimension of a .npy or a Zarr of shape (n, height,
    /// width) or (n, height, width, channels), one after the other; the result, a TIFF, a .npy or a Zarr, has one
    /// page or image for each
    #[arg(long, conflicts_with_all = ["page", "memory", "resume"])]
    pub(crate) pages: bool,
}

/// The samples that are mapped to the ends of the output's range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// The smallest and the largest finite sample.
    Auto,
    /// These two.
    Between(f64, f64),
}

impl std::str::FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Scale, String> {
        if text == "auto" {
            return Ok(Scale::Auto);
        }
        match args::range(text) {
            Ok((low, high)) if low.is_finite() && high.is_finite() && low != high => Ok(Scale::Between(low, high)),
            _ => Err("must be auto or LO,HI: two different numbers".into()),
        }
    }
}

/// Parses 1 to 100.
fn quality(text: &str) -> Result<u8, String> {
    let quality = text.parse().ok().filter(|quality| (1..=100).contains(quality));
    quality.ok_or_else(|| "must be a whole number from 1 to 100".into())
}

impl OutputArgs {
    /// Opens the output, if it takes samples of this type; without a type, if its format and path are valid. The path
    /// `-` is the standard output, in `format`; files between the steps of a pipe have one, too.
    ///
    /// # Errors
    /// Errors of [`ImageOutput::new`], and options that the output's format does not support.
    pub(crate) fn open<'a>(
        &self,
        path: &'a Path,
        format: Option<&str>,
        pixel: Option<PixelType>,
    ) -> Result<ImageOutput<'a>> {
        let output = match format {
            Some(format) if path == Path::new("-") => ImageOutput::stdout(format, pixel)?,
            Some(format) => ImageOutput::scratch(path, format, pixel)?,
            _ => ImageOutput::new(path, pixel)?,
        };
        match self.quality {
            Some(_) if !output.is_jpeg() => {
                Err(Error::Usage(format!("--quality is for JPEG, and {} is none", path.display())))
            }
            Some(quality) => Ok(output.with_quality(quality)),
            None => Ok(output),
        }
    }

    /// Returns the type of the result: the requested one, else u8 for scaled results of a type that not all pictures
    /// support, else the input's.
    pub(crate) fn out_type(&self, asked: Option<PixelType>, of: PixelType) -> PixelType {
        match (self.rescale, of) {
            (None, _) | (_, PixelType::U8 | PixelType::U16) => asked.unwrap_or(of),
            _ => asked.unwrap_or(PixelType::U8),
        }
    }

    /// Scales the result to the requested range, in samples of `pixel`. With `keep_alpha` the last channel keeps its
    /// values.
    pub(crate) fn scaled(
        &self,
        image: AnyImage<'static>,
        pixel: PixelType,
        keep_alpha: bool,
    ) -> Result<AnyImage<'static>> {
        let Some(scale) = self.rescale else { return Ok(image) };
        let alpha = if keep_alpha { image.shape().channels.checked_sub(1) } else { None };
        let (low, high) = match scale {
            Scale::Between(low, high) => (low, high),
            Scale::Auto => each_type!(&image, image => extremes(image, alpha)),
        };
        let map = Map { low, high, alpha };
        let mapped = map.onto(&image, top(pixel))?;
        Ok(apron_files::convert(mapped, pixel)?)
    }

    /// Whether the output takes such an image only without its alpha.
    ///
    /// # Errors
    /// If it does not take the image at all.
    pub(crate) fn drops_alpha(&self, output: &ImageOutput<'_>, pixel: PixelType, channels: u32) -> Result<bool> {
        match output.check(pixel, channels) {
            Err(_) if matches!(channels, 2 | 4) && output.check(pixel, channels - 1).is_ok() => Ok(true),
            other => other.map(|()| false).map_err(Error::from),
        }
    }

    /// Drops the alpha if the output's format does not support it. Opaque pixels keep their colours, others are blended
    /// with the background.
    ///
    /// # Errors
    /// If there is a pixel that is not opaque, and no background.
    pub(crate) fn fitting(&self, output: &ImageOutput<'_>, image: AnyImage<'static>) -> Result<AnyImage<'static>> {
        let channels = image.shape().channels;
        if !self.drops_alpha(output, image.pixel_type(), channels)? {
            return Ok(image);
        }
        each_type!(&image, image => {
            let pixel = Pixel::into_any(image.view()).pixel_type();
            let opaque = top(pixel);
            let pixels = || image.rows().flat_map(|row| row.chunks_exact(channels as usize));
            let clear = pixels().filter(|pixel| apron_core::Sample::to_f64(pixel[channels as usize - 1]) != opaque).count();
            let Some(background) = self.background.or((clear == 0).then_some([0.0; 3])) else {
                let (path, verb) = (output.path(), if clear == 1 { "pixel is" } else { "pixels are" });
                // TIFF has alpha of colours.
                let has = if output.check(pixel, 4).is_ok() { "takes alpha beside colours alone" } else { "has no alpha channel" };
                let what = format!("the format {has}, and {clear} {verb} not opaque; \
                                    --background 255 blends with white");
                return Err(Error::input(path, what));
            };
            Ok(Pixel::into_any(blended(image, background, opaque)?))
        })
    }
}

/// Returns the sample that stands for white, and for opaque: the greatest integer of the type, or 1.
fn top(pixel: PixelType) -> f64 {
    pixel.limits().map_or(1.0, |(_, greatest)| greatest as f64)
}

/// Returns the smallest and the largest finite sample, without the channel `alpha`; 0 and 0 if there are none.
fn extremes<T: Pixel>(image: &Image<'_, T>, alpha: Option<u32>) -> (f64, f64) {
    let channels = image.channels() as usize;
    let samples = image.rows().flat_map(|row| row.iter().enumerate());
    let samples = samples.filter(|(place, _)| alpha != Some((place % channels) as u32));
    let finite = samples.map(|(_, sample)| sample.to_f64()).filter(|sample| sample.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| (low.min(sample), high.max(sample)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// A linear map of the samples of all channels except `alpha`.
struct Map {
    low: f64,
    high: f64,
    alpha: Option<u32>,
}

impl Map {
    /// Maps `low` to 0 and `high` to `top`; values outside are clamped.
    fn onto(&self, image: &AnyImage<'_>, top: f64) -> apron::Result<AnyImage<'static>> {
        let shape = image.shape();
        check_memory::<f64>(shape.samples(), shape)?;
        let width = self.high - self.low;
        let mapped = |sample: f64| match (sample - self.low) / width {
            // All samples are equal.
            _ if width == 0.0 => 0.0,
            part => part.clamp(0.0, 1.0) * top,
        };
        let channels = shape.channels as usize;
        let samples = each_type!(image, image => {
            let samples = image.rows().flat_map(|row| row.iter().enumerate());
            samples.map(|(place, sample)| {
                let sample = sample.to_f64();
                if self.alpha == Some((place % channels) as u32) { sample } else { mapped(sample) }
            })
            .collect::<Vec<f64>>()
        });
        Ok(AnyImage::F64(Image::new(shape.width, shape.height, shape.channels, samples)?))
    }
}

/// Blends the image with a background, and drops its last channel, alpha; `opaque` is the largest alpha.
fn blended<T: Pixel>(image: &Image<'_, T>, background: [f64; 3], opaque: f64) -> apron::Result<Image<'static, T>> {
    let (shape, colours) = (image.shape(), image.channels() as usize - 1);
    check_memory::<T>(shape.samples(), shape)?;
    let pixels = image.rows().flat_map(|row| row.chunks_exact(colours + 1));
    let samples = pixels.flat_map(|pixel| {
        let part = (pixel[colours].to_f64() / opaque).clamp(0.0, 1.0);
        pixel[..colours].iter().zip(background).map(move |(sample, behind)| {
            T::from_sum(Accumulator::from_f64(sample.to_f64() * part + behind * (1.0 - part)))
        })
    });
    let samples = samples.collect::<Vec<T>>();
    Image::new(shape.width, shape.height, colours as u32, samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        assert_eq!(("auto".parse(), "-1,2.5".parse()), (Ok(Scale::Auto), Ok(Scale::Between(-1.0, 2.5))));
        for wrong in ["", "1", "1,1", "0,inf", "nan,1", "1,2,3", "Auto"] {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
        assert_eq!((quality("1"), quality("100")), (Ok(1), Ok(100)));
        for wrong in ["0", "101", "-1", "high", "9.5"] {
            assert!(quality(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn samples_are_mapped_to_the_whole_range() {
        let floats = AnyImage::F32(Image::new(5, 1, 1, vec![-1.0f32, 0.0, 1.0, f32::NAN, f32::INFINITY]).unwrap());
        let scaled = |scale, pixel| {
            let args = OutputArgs { rescale: Some(scale), ..OutputArgs::default() };
            args.scaled(floats.clone(), pixel, false).unwrap()
        };
        let bytes = |samples: [u8; 5]| AnyImage::U8(Image::new(5, 1, 1, samples.to_vec()).unwrap());
        // 127.5 rounds half to even.
        assert_eq!(scaled(Scale::Auto, PixelType::U8), bytes([0, 128, 255, 0, 255]));
        assert_eq!(scaled(Scale::Between(1.0, -1.0), PixelType::U8), bytes([255, 128, 0, 0, 0]));
        assert_eq!(scaled(Scale::Between(0.0, 0.5), PixelType::U8), bytes([0, 0, 255, 0, 255]));
        let AnyImage::F32(parts) = scaled(Scale::Between(0.0, 0.5), PixelType::F32) else { panic!("no floats") };
        assert_eq!(parts.row(0)[..3], [0.0, 0.0, 1.0]);
        let flat = AnyImage::I16(Image::new(2, 1, 2, vec![7i16, 9, 7, 300]).unwrap());
        let args = OutputArgs { rescale: Some(Scale::Auto), ..OutputArgs::default() };
        let expected = AnyImage::F32(Image::new(2, 1, 2, vec![0.0f32, 9.0, 0.0, 300.0]).unwrap());
        assert_eq!(args.scaled(flat, PixelType::F32, true).unwrap(), expected);
    }
}
