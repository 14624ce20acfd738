//! TIFF files: all that are written, and those with one channel of f32 or i16, as instruments write them, that are read;
//! the crate `image` does not read them, and writes no pixel density.

use crate::atomic::Trouble;
use crate::error::{Error, Result, check_pixels};
use crate::metadata::Metadata;
use apron_core::{AnyImage, PixelType, Shape};
use std::io::{Read, Seek, Write};
use std::path::Path;
use tiff::ColorType;
use tiff::decoder::{Decoder, Limits};
use tiff::encoder::colortype::{self, ColorType as Samples};
use tiff::encoder::{Rational, TiffEncoder, TiffKind, TiffValue};
use tiff::tags::{ExtraSamples, ResolutionUnit, SampleFormat, Tag};

/// Reads a file with one channel of f32 or i16; `None` for any other file, whose errors the general reader reports.
pub(super) fn read_plane(path: &Path, file: impl Read + Seek, max_pixels: u64) -> Result<Option<AnyImage<'static>>> {
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut limits = Limits::default();
    limits.decoding_buffer_size = bytes(max_pixels.saturating_mul(4));
    limits.intermediate_buffer_size = limits.decoding_buffer_size.max(1 << 20);
    let Ok(mut decoder) = Decoder::new(file).map(|decoder| decoder.with_limits(limits)) else { return Ok(None) };
    let format = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).ok().flatten();
    let format = format.and_then(|formats| formats.first().copied());
    let pixel = match (decoder.colortype(), format) {
        (Ok(ColorType::Gray(32)), Some(format)) if format == SampleFormat::IEEEFP.to_u16() => PixelType::F32,
        (Ok(ColorType::Gray(16)), Some(format)) if format == SampleFormat::Int.to_u16() => PixelType::I16,
        _ => return Ok(None),
    };
    let wrong = |error: tiff::TiffError| Error::decoding(path, error);
    let mistaken = |error: apron_core::Error| Error::content(path, error);
    let (width, height) = decoder.dimensions().map_err(wrong)?;
    let shape = Shape::new(width, height, 1).map_err(mistaken)?;
    check_pixels(path, width.into(), height.into(), max_pixels)?;
    let mut decoded = Ok(());
    let image = AnyImage::from_bytes(pixel, shape, |bytes| {
        decoded = decoder.read_image_bytes(bytes);
        Ok(())
    });
    let image = image.map_err(mistaken)?;
    decoded.map_err(wrong)?;
    Ok(Some(image))
}

/// Maximum number of sample bytes in a TIFF file with offsets of 32 bits; 16 MiB are left for the tags.
const MAX_CLASSIC: u64 = (1 << 32) - (16 << 20);

/// Writes an uncompressed file: a BigTIFF if the samples have more than [`MAX_CLASSIC`] bytes.
pub(super) fn write(file: &mut (impl Write + Seek), image: &AnyImage<'_>, metadata: &Metadata) -> Result<(), Trouble> {
    let bytes = image.shape().samples() * image.pixel_type().size_bytes() as u64;
    match bytes > MAX_CLASSIC {
        true => write_image(TiffEncoder::new_big(file)?, image, metadata),
        false => write_image(TiffEncoder::new(file)?, image, metadata),
    }
}

fn write_image<W: Write + Seek, K: TiffKind>(
    encoder: TiffEncoder<W, K>,
    image: &AnyImage<'_>,
    metadata: &Metadata,
) -> Result<(), Trouble> {
    let shape = image.shape();
    let of = (encoder, shape, tags(image, metadata));
    match (image, shape.channels) {
        (AnyImage::U8(image), 1) => write_samples::<colortype::Gray8, _, _>(of, &image.packed()),
        (AnyImage::U8(image), 3) => write_samples::<colortype::RGB8, _, _>(of, &image.packed()),
        (AnyImage::U8(image), 4) => write_samples::<colortype::RGBA8, _, _>(of, &image.packed()),
        (AnyImage::U16(image), 1) => write_samples::<colortype::Gray16, _, _>(of, &image.packed()),
        (AnyImage::U16(image), 3) => write_samples::<colortype::RGB16, _, _>(of, &image.packed()),
        (AnyImage::U16(image), 4) => write_samples::<colortype::RGBA16, _, _>(of, &image.packed()),
        (AnyImage::I16(image), 1) => write_samples::<colortype::GrayI16, _, _>(of, &image.packed()),
        (AnyImage::F32(image), 1) => write_samples::<colortype::Gray32Float, _, _>(of, &image.packed()),
        (AnyImage::F32(image), 3) => write_samples::<colortype::RGB32Float, _, _>(of, &image.packed()),
        (AnyImage::F32(image), 4) => write_samples::<colortype::RGBA32Float, _, _>(of, &image.packed()),
        (image, channels) => Err(format!("{channels} channel(s) of {} fit no TIFF", image.pixel_type()).into()),
    }
}

/// What a file says beside its samples.
struct Tags<'m> {
    profile: Option<&'m [u8]>,
    /// Pixels per inch, along rows and along columns.
    density: Option<(f64, f64)>,
    alpha: bool,
}

fn tags<'m>(image: &AnyImage<'_>, metadata: &'m Metadata) -> Tags<'m> {
    Tags { profile: metadata.icc_for(image), density: metadata.density, alpha: image.shape().channels == 4 }
}

fn write_samples<C: Samples, W: Write + Seek, K: TiffKind>(
    (mut encoder, shape, tags): (TiffEncoder<W, K>, Shape, Tags<'_>),
    samples: &[C::Inner],
) -> Result<(), Trouble>
where
    [C::Inner]: TiffValue,
{
    let mut image = encoder.new_image::<C>(shape.width, shape.height)?;
    if let Some(profile) = tags.profile {
        image.encoder().write_tag(Tag::IccProfile, profile)?;
    }
    if let Some((across, down)) = tags.density {
        image.resolution_unit(ResolutionUnit::Inch);
        image.x_resolution(rational(across));
        image.y_resolution(rational(down));
    }
    if tags.alpha {
        // Not by `extra_samples`, which adds a sample to those of the color type.
        image.encoder().write_tag(Tag::ExtraSamples, ExtraSamples::UnassociatedAlpha.to_u16())?;
    }
    Ok(image.write_data(samples)?)
}

/// Rounds to ten-thousandths, or to integers from 429,496 on, where ten-thousandths exceed 32 bits.
fn rational(density: f64) -> Rational {
    let d = if density * 1e4 < f64::from(u32::MAX) { 10_000 } else { 1 };
    Rational { n: (density * f64::from(d)).round() as u32, d }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_keep_four_decimals() {
        let of = |density| (rational(density).n, rational(density).d);
        assert_eq!(of(300.0), (3_000_000, 10_000));
        assert_eq!(of(299.9994), (2_999_994, 10_000));
        assert_eq!(of(1e6), (1_000_000, 1));
    }

    #[test]
    fn a_file_says_density_and_alpha() {
        let image = apron_core::Image::new(2, 1, 4, vec![7u16; 8]).unwrap();
        let metadata = Metadata { icc: None, density: Some((300.0, 150.5)) };
        let mut file = std::io::Cursor::new(Vec::new());
        write(&mut file, &AnyImage::U16(image), &metadata).unwrap();
        file.set_position(0);
        assert_eq!(crate::decode_metadata(&mut file, 1), metadata);
        file.set_position(0);
        let mut decoder = Decoder::new(file).unwrap();
        assert_eq!(decoder.colortype().unwrap(), ColorType::RGBA(16));
        // 2 is the alpha that colors are not multiplied by.
        assert_eq!(decoder.find_tag_unsigned::<u16>(Tag::ExtraSamples).unwrap(), Some(2));
    }
}
