//! TIFF files with one channel of f32 or i16, as instruments write them; the crate `image` does not support them.

use crate::atomic::Trouble;
use crate::error::{Error, Result, check_pixels};
use apron_core::{AnyImage, PixelType, Shape};
use std::io::{Read, Seek, Write};
use std::path::Path;
use tiff::ColorType;
use tiff::decoder::{Decoder, Limits};
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::{SampleFormat, Tag};

/// Reads such a file; `None` for any other file, whose errors the general reader reports.
pub(super) fn read(path: &Path, file: impl Read + Seek, max_pixels: u64) -> Result<Option<AnyImage<'static>>> {
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

/// Writes such an image.
pub(super) fn write(file: &mut (impl Write + Seek), image: &AnyImage<'_>) -> Result<(), Trouble> {
    let Shape { width, height, .. } = image.shape();
    let mut encoder = TiffEncoder::new(file)?;
    match image {
        AnyImage::F32(image) => encoder.write_image::<colortype::Gray32Float>(width, height, &image.packed())?,
        AnyImage::I16(image) => encoder.write_image::<colortype::GrayI16>(width, height, &image.packed())?,
        other => return Err(format!("{} is no type of a plane", other.pixel_type()).into()),
    }
    Ok(())
}
