//! JPEG files: decoded by the crate `zune-jpeg`, as the crate `image` does, and encoded by
//! `libjpeg-turbo-rs`, as OpenCV does.

use crate::atomic::Trouble;
use crate::error::{CUT, Error, Result, check_pixels, tidy};
use crate::metadata::Metadata;
use crate::upright::upright;
use apron_core::{AnyImage, PixelType, Shape};
use image::metadata::Orientation;
use libjpeg_turbo_rs::{PixelFormat, Subsampling, compress_with_metadata};
use std::io::Write;
use std::path::Path;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

/// What JPEG files start with.
pub(super) const MAGIC: [u8; 2] = [0xff, 0xd8];

/// Returns the decoder of a file's bytes, once it has read the headers.
fn decoder(bytes: &[u8], colours: ColorSpace) -> Result<JpegDecoder<ZCursor<&[u8]>>, DecodeErrors> {
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX)
        .jpeg_set_out_colorspace(colours);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers()?;
    Ok(decoder)
}

/// Decodes a file of these bytes into the image's memory: one channel, or red, green and blue.
pub(super) fn read(path: &Path, bytes: &[u8], max_pixels: u64) -> Result<AnyImage<'static>> {
    let wrong = |error: DecodeErrors| match error {
        DecodeErrors::ExhaustedData | DecodeErrors::IoErrors(_) => Error::content(path, CUT),
        error => Error::content(path, format!("the JPEG cannot be decoded: {}", tidy(&error.to_string()))),
    };
    let mistaken = |error: apron_core::Error| Error::content(path, error);
    if !ends(bytes) {
        return Err(Error::content(path, "the JPEG is cut off"));
    }
    let headers = decoder(bytes, ColorSpace::RGB).map_err(wrong)?;
    let (width, height) = headers.dimensions().unwrap_or_default();
    check_pixels(path, width as u64, height as u64, max_pixels)?;
    let grey = headers.input_colorspace() == Some(ColorSpace::Luma);
    let orientation = orientation(&headers);
    // The colours are chosen before the headers are read, so that grey needs another decoder; reading
    // headers takes no time.
    drop(headers);

    let shape = Shape::new(width as u32, height as u32, if grey { 1 } else { 3 }).map_err(mistaken)?;
    let mut decoder = decoder(bytes, if grey { ColorSpace::Luma } else { ColorSpace::RGB }).map_err(wrong)?;
    let mut decoded = Ok(());
    let image = AnyImage::from_bytes(PixelType::U8, shape, |samples| {
        decoded = decoder.decode_into(samples);
        Ok(())
    });
    let image = image.map_err(mistaken)?;
    decoded.map_err(wrong)?;
    upright(image, orientation.unwrap_or(Orientation::NoTransforms)).map_err(mistaken)
}

/// Returns the colour profile of a file of these bytes, and how it is turned when it is read.
pub(super) fn icc(bytes: &[u8]) -> (Option<Vec<u8>>, Option<Orientation>) {
    let Ok(headers) = decoder(bytes, ColorSpace::RGB) else { return (None, None) };
    (headers.icc_profile(), orientation(&headers))
}

fn orientation(headers: &JpegDecoder<ZCursor<&[u8]>>) -> Option<Orientation> {
    headers.exif().and_then(|exif| Orientation::from_exif_chunk(exif))
}

/// Whether a file is complete. The decoder silently fills missing data with grey.
fn ends(bytes: &[u8]) -> bool {
    let mut at = 2;
    // Skips the segments, each with its length, up to the first scan; thumbnails inside have end markers of their own.
    while let Some(&[0xff, marker, high, low]) = bytes.get(at..at + 4) {
        if marker == 0xda {
            return bytes[at..].windows(2).rev().any(|pair| pair == [0xff, 0xd9]);
        }
        // Markers may be padded with 0xff, and some have no length.
        let alone = matches!(marker, 0x01 | 0xd0..=0xd8);
        at += match marker {
            0xff => 1,
            _ if alone => 2,
            _ => 2 + usize::from(u16::from_be_bytes([high, low])),
        };
    }
    // The file has another error, which is left to the decoder.
    true
}

/// Writes an image of u8 of one or three channels.
pub(super) fn write(
    file: &mut impl Write,
    image: &AnyImage<'_>,
    quality: u8,
    metadata: &Metadata,
) -> Result<(), Trouble> {
    let Shape { width, height, channels } = image.shape();
    if width.max(height) > u16::MAX.into() {
        return Err(format!("a JPEG has at most {0}x{0} pixels, and this image {width}x{height}", u16::MAX).into());
    }
    let format = if channels == 1 { PixelFormat::Grayscale } else { PixelFormat::Rgb };
    // As OpenCV and Pillow: colours have half the resolution, except at quality 100.
    let subsampling = if quality == 100 { Subsampling::S444 } else { Subsampling::S420 };
    let (width, height, profile) = (width as usize, height as usize, metadata.icc_for(channels));
    // The crate's `Encoder` would bring a quarter of a megabyte of other kinds of JPEG.
    let mut jpeg = compress_with_metadata(&image.bytes(), width, height, format, quality, subsampling, profile, None)?;
    if let (Some((across, down)), Some(header)) = (metadata.density, jpeg.get_mut(..18)) {
        const PER_INCH: u8 = 1;
        let [[a, b], [c, d]] = [across, down].map(|of| (of.round().max(1.0) as u16).to_be_bytes());
        // The JFIF segment comes first: its unit, and pixels per unit along rows and columns, where 0 is not taken.
        header[13..].copy_from_slice(&[PER_INCH, a, b, c, d]);
    }
    Ok(file.write_all(&jpeg)?)
}
