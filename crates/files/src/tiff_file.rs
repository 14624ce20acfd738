//! TIFF files: writes all of them, and reads those with other samples than u8 and u16, as instruments write them. The
//! crate `image` does not read these, and writes no pixel density.

use crate::atomic::Trouble;
use crate::error::{Error, Result, check_pixels};
use crate::metadata::Metadata;
use crate::upright::seen;
use apron_core::{AnyImage, PixelType, Shape, check_memory};
use image::metadata::Orientation;
use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::path::Path;
use tiff::ColorType;
use tiff::decoder::{Decoder, Limits};
use tiff::encoder::{DirectoryEncoder, Rational, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard};
use tiff::tags::{
    CompressionMethod, ExtraSamples, PhotometricInterpretation, PlanarConfiguration, ResolutionUnit, SampleFormat, Tag,
};

/// Returns the sample type for a number of bits per sample and TIFF's number of the format: 1 unsigned, 2
/// signed, 3 floating point.
fn sample_type(bits: u8, format: u16) -> Option<PixelType> {
    Some(match (bits, format) {
        (8, 1) => PixelType::U8,
        (16, 1) => PixelType::U16,
        (32, 1) => PixelType::U32,
        (64, 1) => PixelType::U64,
        (8, 2) => PixelType::I8,
        (16, 2) => PixelType::I16,
        (32, 2) => PixelType::I32,
        (64, 2) => PixelType::I64,
        (32, 3) => PixelType::F32,
        (64, 3) => PixelType::F64,
        _ => return None,
    })
}

/// Returns the type and the number of the samples of a pixel; `None` for those that are not taken.
pub(super) fn samples(colour: ColorType, format: u16) -> Option<(PixelType, u32)> {
    let (bits, channels) = match colour {
        ColorType::Gray(bits) => (bits, 1),
        ColorType::RGB(bits) => (bits, 3),
        ColorType::RGBA(bits) => (bits, 4),
        _ => return None,
    };
    Some((sample_type(bits, format)?, channels))
}

/// Reads a file with other samples than u8 and u16; `None` for those, and for any file whose errors the general reader
/// reports.
pub(super) fn read(
    path: &Path,
    file: impl Read + Seek,
    max_pixels: u64,
    size: Option<[u32; 2]>,
) -> Result<Option<AnyImage<'static>>> {
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut limits = Limits::default();
    limits.decoding_buffer_size = bytes(max_pixels.saturating_mul(32));
    limits.intermediate_buffer_size = limits.decoding_buffer_size.max(1 << 20);
    let Ok(mut decoder) = Decoder::new(file).map(|decoder| decoder.with_limits(limits)) else { return Ok(None) };
    let format = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).ok().flatten();
    // A file without the tag has unsigned samples.
    let format = format.and_then(|formats| formats.first().copied()).unwrap_or(SampleFormat::Uint.to_u16());
    let Ok(colour) = decoder.colortype() else { return Ok(None) };
    let (pixel, channels) = match (samples(colour, format), colour) {
        (Some((PixelType::U8 | PixelType::U16, _)), _) => return Ok(None),
        (Some(found), _) => found,
        // Black and white, and the colours of printers.
        (None, ColorType::Gray(1) | ColorType::CMYK(8 | 16)) => return Ok(None),
        (None, _) => return Err(Error::content(path, not_taken(colour, format))),
    };
    let wrong = |error: tiff::TiffError| Error::decoding(path, error);
    let mistaken = |error: apron_core::Error| Error::content(path, error);
    let (width, height) = decoder.dimensions().map_err(wrong)?;
    let shape = Shape::new(width, height, channels).map_err(mistaken)?;
    check_pixels(path, width.into(), height.into(), max_pixels)?;
    let mut tag = |tag| decoder.find_tag_unsigned::<u16>(tag).ok().flatten();
    let apart = channels > 1 && tag(Tag::PlanarConfiguration) == Some(PlanarConfiguration::Planar.to_u16());
    let turned = tag(Tag::Orientation).and_then(|number| Orientation::from_exif(u8::try_from(number).ok()?));
    let mut decoded = Ok(());
    let image = AnyImage::from_bytes(pixel, shape, |bytes| {
        if !apart {
            decoded = decoder.read_image_bytes(bytes);
            return Ok(());
        }
        check_memory::<u8>(bytes.len() as u64, shape)?;
        let mut planes = vec![0; bytes.len()];
        decoded = decoder.read_image_bytes(&mut planes);
        interleave(&planes, pixel.size_bytes(), channels as usize, bytes);
        Ok(())
    });
    let image = image.map_err(mistaken)?;
    decoded.map_err(wrong)?;
    seen(image, size, turned.unwrap_or(Orientation::NoTransforms)).map(Some).map_err(mistaken)
}

/// Puts samples of `size` bytes, whose planes lie one after the other, together by pixels.
fn interleave(planes: &[u8], size: usize, channels: usize, pixels: &mut [u8]) {
    for (channel, plane) in planes.chunks_exact(planes.len() / channels).enumerate() {
        for (pixel, sample) in pixels.chunks_exact_mut(channels * size).zip(plane.chunks_exact(size)) {
            pixel[channel * size..][..size].copy_from_slice(sample);
        }
    }
}

/// Says what is wrong with the samples of a file.
fn not_taken(colour: ColorType, format: u16) -> String {
    let kind = match format {
        1 => "unsigned integers",
        2 => "signed integers",
        3 => "floating point",
        _ => "an unknown format",
    };
    let named = match colour {
        ColorType::YCbCr(_) => "YCbCr, ",
        ColorType::Lab(_) => "L*a*b*, ",
        ColorType::CMYK(_) | ColorType::CMYKA(_) => "CMYK, ",
        _ => "",
    };
    let (channels, bits) = (colour.num_samples(), colour.bit_depth());
    format!(
        "pixels of {named}{channels} channel(s) of {bits} bits, {kind}, are not taken; of TIFF grey, RGB and RGBA are, \
         of integers of 8 to 64 bits, f32 and f64"
    )
}

/// Maximum number of sample bytes in a TIFF file with offsets of 32 bits; 16 MiB are left for the tags.
const MAX_CLASSIC: u64 = (1 << 32) - (16 << 20);

/// Largest strip, in bytes, unless a row is larger.
const STRIP: u64 = 1 << 20;

/// Writes an uncompressed file: a BigTIFF if the samples have more than [`MAX_CLASSIC`] bytes.
pub(super) fn write(file: &mut impl Write, image: &AnyImage<'_>, metadata: &Metadata) -> Result<(), Trouble> {
    file.write_all(&head(image.shape(), image.pixel_type(), metadata)?)?;
    Ok(file.write_all(&image.bytes())?)
}

/// Returns the start of an uncompressed file, up to its samples: these follow row by row, in the machine's byte order.
pub(super) fn head(shape: Shape, pixel: PixelType, metadata: &Metadata) -> Result<Vec<u8>, Trouble> {
    match shape.samples() * pixel.size_bytes() as u64 > MAX_CLASSIC {
        true => head_of::<TiffKindBig>(shape, pixel, metadata),
        false => head_of::<TiffKindStandard>(shape, pixel, metadata),
    }
}

fn head_of<K: TiffKind>(shape: Shape, pixel: PixelType, metadata: &Metadata) -> Result<Vec<u8>, Trouble> {
    // The directory says where it ends; its size does not depend on that.
    let size = directory::<K>(shape, pixel, metadata, 0)?.len().next_multiple_of(16);
    let mut head = directory::<K>(shape, pixel, metadata, size as u64)?;
    head.resize(size, 0);
    Ok(head)
}

/// Returns header and directory of a file whose samples begin at `start`.
fn directory<K: TiffKind>(shape: Shape, pixel: PixelType, metadata: &Metadata, start: u64) -> Result<Vec<u8>, Trouble> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::<_, K>::new_generic(&mut file)?;
    let mut tags = encoder.image_directory()?;
    write_tags(&mut tags, (shape, pixel), metadata, start)?;
    tags.finish()?;
    Ok(file.into_inner())
}

/// Writes the tags of an uncompressed image whose samples begin at `start`.
fn write_tags<W: Write + Seek, K: TiffKind>(
    tags: &mut DirectoryEncoder<'_, W, K>,
    (shape, pixel): (Shape, PixelType),
    metadata: &Metadata,
    start: u64,
) -> Result<(), Trouble> {
    let Shape { width, height, channels } = shape;
    let format = match pixel {
        PixelType::U8 | PixelType::U16 | PixelType::U32 | PixelType::U64 => SampleFormat::Uint,
        PixelType::I8 | PixelType::I16 | PixelType::I32 | PixelType::I64 => SampleFormat::Int,
        PixelType::F32 | PixelType::F64 => SampleFormat::IEEEFP,
        PixelType::Bool | PixelType::F16 => return Err(format!("samples of {pixel} fit no TIFF").into()),
    };
    let colours = match channels {
        1 => PhotometricInterpretation::BlackIsZero,
        3 | 4 => PhotometricInterpretation::RGB,
        _ => return Err(format!("{channels} channel(s) of {pixel} fit no TIFF").into()),
    };
    let each = |value: u16| vec![value; channels as usize];
    let row = (shape.row_samples() * pixel.size_bytes()) as u64;
    let rows = (STRIP / row).clamp(1, height.into());
    let firsts = || (0..u64::from(height)).step_by(rows as usize);
    let offsets = firsts().map(|first| K::convert_offset(start + first * row)).collect::<Result<Vec<_>, _>>()?;
    let sizes = firsts().map(|first| K::convert_offset(rows.min(u64::from(height) - first) * row));
    let sizes = sizes.collect::<Result<Vec<_>, _>>()?;
    let (unit, across, down) = match metadata.density {
        Some((across, down)) => (ResolutionUnit::Inch, rational(across), rational(down)),
        None => (ResolutionUnit::None, Rational { n: 1, d: 1 }, Rational { n: 1, d: 1 }),
    };

    tags.write_tag(Tag::ImageWidth, width)?;
    tags.write_tag(Tag::ImageLength, height)?;
    tags.write_tag(Tag::BitsPerSample, &each(8 * pixel.size_bytes() as u16)[..])?;
    tags.write_tag(Tag::Compression, CompressionMethod::None.to_u16())?;
    tags.write_tag(Tag::PhotometricInterpretation, colours.to_u16())?;
    tags.write_tag(Tag::StripOffsets, K::convert_slice(&offsets))?;
    tags.write_tag(Tag::SamplesPerPixel, channels as u16)?;
    tags.write_tag(Tag::RowsPerStrip, rows as u32)?;
    tags.write_tag(Tag::StripByteCounts, K::convert_slice(&sizes))?;
    tags.write_tag(Tag::XResolution, across)?;
    tags.write_tag(Tag::YResolution, down)?;
    tags.write_tag(Tag::ResolutionUnit, unit.to_u16())?;
    if channels == 4 {
        tags.write_tag(Tag::ExtraSamples, ExtraSamples::UnassociatedAlpha.to_u16())?;
    }
    tags.write_tag(Tag::SampleFormat, &each(format.to_u16())[..])?;
    if let Some(profile) = metadata.icc_for(channels) {
        tags.write_tag(Tag::IccProfile, profile)?;
    }
    Ok(())
}

/// A file of several uncompressed pages that is being written.
///
/// The encoder's writer is not buffered: what a buffer held last would be written when the encoder is
/// dropped, without an error.
pub(super) enum Pages {
    /// With the number of sample bytes that are written.
    Classic(TiffEncoder<File, TiffKindStandard>, u64),
    Big(TiffEncoder<File, TiffKindBig>),
}

impl Pages {
    /// Starts a file at its first byte: a BigTIFF if pages of `bytes` bytes in all are expected, which is more than 2
    /// GiB. Up to 4 GiB there is room for pages that are larger than expected.
    pub(super) fn new(file: File, bytes: u64) -> Result<Pages, Trouble> {
        Ok(match bytes > MAX_CLASSIC / 2 {
            true => Pages::Big(TiffEncoder::new_generic(file)?),
            false => Pages::Classic(TiffEncoder::new_generic(file)?, 0),
        })
    }

    /// Writes the next page.
    ///
    /// # Errors
    /// Of the system, for an image that TIFF does not hold, and if a file with offsets of 32 bits would
    /// be larger than 4 GiB.
    pub(super) fn write(&mut self, image: &AnyImage<'_>, metadata: &Metadata) -> Result<(), Trouble> {
        match self {
            Pages::Classic(encoder, written) => {
                *written += image.bytes().len() as u64;
                if *written > MAX_CLASSIC {
                    let what = "a TIFF whose first page promises at most 2 GiB takes";
                    return Err(format!("the pages up to this one have {written} bytes; {what} {MAX_CLASSIC}").into());
                }
                write_page(encoder, image, metadata)
            }
            Pages::Big(encoder) => write_page(encoder, image, metadata),
        }
    }
}

fn write_page<K: TiffKind>(
    encoder: &mut TiffEncoder<File, K>,
    image: &AnyImage<'_>,
    metadata: &Metadata,
) -> Result<(), Trouble> {
    let mut tags = encoder.image_directory()?;
    let start = tags.write_data(&*image.bytes())?;
    write_tags(&mut tags, (image.shape(), image.pixel_type()), metadata, start)?;
    Ok(tags.finish()?)
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
        let metadata = Metadata { density: Some((300.0, 150.5)), ..Metadata::default() };
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

    #[test]
    fn pages_of_more_than_2_gib_are_a_big_tiff_and_others_end_at_4_gib() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create_new(folder.path().join(name)).unwrap();
        assert!(matches!(Pages::new(file("big"), 3 << 30), Ok(Pages::Big(_))));
        let image = AnyImage::U8(apron_core::Image::new(2, 1, 1, vec![7u8; 2]).unwrap());
        for (written, taken) in [(0, true), (MAX_CLASSIC - 2, true), (MAX_CLASSIC - 1, false)] {
            let Ok(Pages::Classic(encoder, 0)) = Pages::new(file(&written.to_string()), 1 << 30) else {
                panic!("a classic TIFF")
            };
            let wrote = Pages::Classic(encoder, written).write(&image, &Metadata::default());
            assert_eq!(wrote.is_ok(), taken, "{written}: {wrote:?}");
            let limit = MAX_CLASSIC.to_string();
            assert!(wrote.err().is_none_or(|error| error.to_string().contains(&limit)));
        }
    }

    #[test]
    fn a_file_over_4_gib_has_offsets_of_64_bits() {
        let shape = Shape::new(40_000, 60_000, 1).unwrap();
        let head = head(shape, PixelType::U16, &Metadata::default()).unwrap();
        assert_eq!(head[2], 43);
        // The decoder wants no samples to read the tags.
        let mut decoder = Decoder::new(Cursor::new(&head)).unwrap().with_limits(Limits::unlimited());
        let offsets = decoder.get_tag_u64_vec(Tag::StripOffsets).unwrap();
        let sizes = decoder.get_tag_u64_vec(Tag::StripByteCounts).unwrap();
        // 13 rows of 80,000 bytes in a mebibyte.
        assert_eq!((offsets[0], offsets[1] - offsets[0], sizes[0]), (head.len() as u64, 1_040_000, 1_040_000));
        assert_eq!(offsets.last().unwrap() + sizes.last().unwrap(), head.len() as u64 + 4_800_000_000);
        assert_eq!(sizes.len(), 60_000usize.div_ceil(13));
    }
}
