//! PNG files, by the crate `png`: the encoder of `image` does not write the pixel density.

use crate::atomic::Trouble;
use crate::metadata::Metadata;
use apron_core::{AnyImage, PixelType, Shape};
use std::borrow::Cow;
use std::io::Write;

/// Writes an image of u8 or u16.
pub(super) fn write(file: &mut impl Write, image: &AnyImage<'_>, metadata: &Metadata) -> Result<(), Trouble> {
    let Shape { width, height, channels } = image.shape();
    let mut info = png::Info::with_size(width, height);
    info.icc_profile = metadata.icc_for(image.shape().channels).map(Cow::Borrowed);
    info.pixel_dims =
        metadata.pixels_per_metre().map(|(xppu, yppu)| png::PixelDimensions { xppu, yppu, unit: png::Unit::Meter });
    let mut encoder = png::Encoder::with_info(file, info)?;
    encoder.set_color(match channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        _ => png::ColorType::Rgba,
    });
    let wide = image.pixel_type() == PixelType::U16;
    encoder.set_depth(if wide { png::BitDepth::Sixteen } else { png::BitDepth::Eight });
    // The settings of the encoder of `image`.
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Adaptive);
    let mut writer = encoder.write_header()?;
    let mut bytes = image.bytes();
    if wide && cfg!(target_endian = "little") {
        bytes.to_mut().chunks_exact_mut(2).for_each(<[u8]>::reverse);
    }
    Ok(writer.write_image_data(&bytes)?)
}
