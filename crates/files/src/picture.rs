//! Picture files, by the crate `image`.

use crate::atomic::Trouble;
use crate::error::{Error, Result, check_pixels};
use crate::metadata::Metadata;
use crate::patched::Patched;
use crate::read::{Source, Stream};
use crate::tiff_rows::{Layout, Samples};
use crate::upright::seen;
use crate::{alpha, grey_bmp, jpeg_file, png_file, pnm, tiff_file, tiff_tags};
use apron_core::{AnyImage, PixelType, Shape, channel_of, check_memory};
use image::codecs::{bmp::BmpEncoder, png::PngEncoder};
use image::metadata::Orientation;
use image::{ColorType, ExtendedColorType, ImageDecoder, ImageEncoder, ImageFormat, ImageReader, Limits};
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::Path;

/// Extensions of formats that can be written.
pub(super) const EXTENSIONS: &str = "png, jpg, jpeg, tif, tiff, bmp, pgm, ppm, pnm";

/// Default quality of JPEGs, 1 to 100.
pub(super) const JPEG_QUALITY: u8 = 95;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    Png,
    Jpeg,
    Tiff,
    Bmp,
    /// Binary PGM.
    Gray,
    /// Binary PPM.
    Colour,
    /// PGM or PPM, by the number of channels.
    Pnm,
}

impl Format {
    pub(super) fn of_extension(extension: &str) -> Option<Format> {
        Some(match extension {
            "png" => Format::Png,
            "jpg" | "jpeg" => Format::Jpeg,
            "tif" | "tiff" => Format::Tiff,
            "bmp" => Format::Bmp,
            "pgm" => Format::Gray,
            "ppm" => Format::Colour,
            "pnm" => Format::Pnm,
            _ => return None,
        })
    }

    /// Returns the numbers of channels that the format supports for samples of this type.
    fn channels(self, pixel: PixelType) -> &'static [u32] {
        match (self, pixel) {
            (Format::Png, PixelType::U8 | PixelType::U16) => &[1, 2, 3, 4],
            (Format::Tiff, PixelType::Bool | PixelType::F16) => &[],
            (Format::Tiff, _) => &[1, 3, 4],
            (Format::Jpeg, PixelType::U8) => &[1, 3],
            (Format::Bmp, PixelType::U8) => &[1, 3, 4],
            (Format::Gray, PixelType::U8 | PixelType::U16) => &[1],
            (Format::Colour, PixelType::U8 | PixelType::U16) => &[3],
            (Format::Pnm, PixelType::U8 | PixelType::U16) => &[1, 3],
            _ => &[],
        }
    }

    /// Whether files of the format can hold an ICC profile, here.
    pub(super) fn has_profile(self) -> bool {
        matches!(self, Format::Png | Format::Jpeg | Format::Tiff)
    }

    /// Checks that the format supports an image; without `channels`, that it does for some number of channels.
    pub(super) fn check(self, path: &Path, pixel: PixelType, channels: Option<u32>) -> Result<()> {
        let taken = self.channels(pixel);
        if channels.map_or(!taken.is_empty(), |channels| taken.contains(&channels)) {
            return Ok(());
        }
        let format = match self {
            Format::Png => "PNG",
            Format::Jpeg => "JPEG",
            Format::Tiff => "TIFF",
            Format::Bmp => "BMP",
            Format::Gray => "PGM",
            Format::Colour => "PPM",
            Format::Pnm => "PNM",
        };
        let asked = channels.is_none();
        let channels = channels.filter(|_| !taken.is_empty());
        Err(Error::Unfit { path: path.into(), format: format.into(), pixel, channels, asked })
    }
}

/// Reads a page of a picture directly into the image's memory; also returns the number of pages.
pub(super) fn read(path: &Path, file: &mut dyn Source, page: u32, max_pixels: u64) -> Result<(AnyImage<'static>, u32)> {
    if is_tiff(file).map_err(|error| Error::read(path, error))? {
        let tags = tiff_tags::page(path, file, page)?;
        return Ok((read_tiff(path, file, &tags, max_pixels)?, tags.pages));
    }
    match page {
        1 => Ok((read_first(path, file, max_pixels, None)?, 1)),
        _ => Err(Error::NoPage { path: path.into(), page, pages: 1 }),
    }
}

/// Whether a file starts as TIFF files do. It is at its start before and after.
pub(super) fn is_tiff(file: &mut dyn Source) -> std::io::Result<bool> {
    let mut start = [0; 2];
    let whole = file.read(&mut start)? == 2;
    file.rewind()?;
    Ok(whole && [b"II", b"MM"].contains(&&start))
}

/// Reads the page of a TIFF file that `tags` prepared.
pub(super) fn read_tiff(
    path: &Path,
    file: &mut dyn Source,
    tags: &tiff_tags::Page,
    max_pixels: u64,
) -> Result<AnyImage<'static>> {
    let mut image = decoded_tiff(path, file, tags, max_pixels)?;
    if tags.multiplied && image.shape().channels == 4 {
        alpha::divide(image.pixel_type(), image.view_mut().spanned_bytes_mut());
    }
    Ok(image)
}

/// Reads a page as [`read_tiff`] does, with the colours as they are stored.
fn decoded_tiff(
    path: &Path,
    file: &mut dyn Source,
    tags: &tiff_tags::Page,
    max_pixels: u64,
) -> Result<AnyImage<'static>> {
    let io = |error: std::io::Error| Error::read(path, error);
    if let Some(Layout { shape, pixel, samples: Samples::Rows(start) }) = Layout::of(path, file, tags, max_pixels)? {
        return plain(path, file, (shape, pixel), start);
    }
    let Some([width, height]) = tags.size else {
        let file = Patched::new(file, &tags.patches, tags.zeros).map_err(io)?;
        return read_first(path, &mut Stream(file), max_pixels, None);
    };
    check_pixels(path, width.into(), height.into(), max_pixels)?;
    let file = Patched::new(file, &tags.patches, tags.zeros).map_err(io)?;
    // Tiles extend beyond the image: the decoder may read four times the limit, or 2^22 pixels if that is more.
    read_first(path, &mut Stream(file), max_pixels.max(1 << 20).saturating_mul(4), tags.size)
}

/// Reads samples that lie in the file as in memory.
fn plain(
    path: &Path,
    file: &mut dyn Source,
    (shape, pixel): (Shape, PixelType),
    start: u64,
) -> Result<AnyImage<'static>> {
    let mut loaded = Ok(());
    let image = AnyImage::from_bytes(pixel, shape, |bytes| {
        loaded = file.seek(SeekFrom::Start(start)).and_then(|_| file.fill(bytes));
        Ok(())
    });
    let image = image.map_err(|error| Error::content(path, error))?;
    loaded.map_err(|error| Error::read(path, error))?;
    Ok(image)
}

/// Reads a picture's first page; `size` are its columns and rows, where tiles extend beyond them.
fn read_first(
    path: &Path,
    file: &mut dyn Source,
    max_pixels: u64,
    size: Option<[u32; 2]>,
) -> Result<AnyImage<'static>> {
    let wrong = |error: image::ImageError| Error::decoding(path, error);
    let mistaken = |error: apron_core::Error| Error::content(path, error);
    let io = |error: std::io::Error| Error::read(path, error);
    let mut start = [0; 2];
    if file.read(&mut start).map_err(io)? == 2 && start == jpeg_file::MAGIC {
        file.rewind().map_err(io)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        return jpeg_file::read(path, &bytes, max_pixels);
    }
    file.rewind().map_err(io)?;
    let tiff = [b"II", b"MM"].contains(&&start);
    if tiff {
        if let Some(image) = tiff_file::read(path, BufReader::new(&mut *file), max_pixels, size)? {
            return Ok(image);
        }
        file.rewind().map_err(io)?;
    }
    if start[0] == b'P' {
        pnm::check(path, file)?;
        file.rewind().map_err(io)?;
    }
    let grey = &start == b"BM" && grey_bmp::is_grey(&mut *file).map_err(io)?;
    file.rewind().map_err(io)?;
    let mut reader = ImageReader::new(BufReader::with_capacity(1 << 16, file));
    if tiff {
        // The first bytes of a BigTIFF are not known to the reader.
        reader.set_format(ImageFormat::Tiff);
    } else {
        reader = reader.with_guessed_format().map_err(io)?;
    }
    if reader.format().is_none() {
        let what = "by its first bytes not a picture that is known: PNG, JPEG, TIFF, BMP, PNM, or .npy";
        return Err(Error::content(path, what));
    }
    // 4 samples of 4 bytes per pixel, and the same for the decoder.
    let limits = |pixels: u64| {
        let mut limits = Limits::default();
        limits.max_alloc = Some(pixels.saturating_mul(32).max(1 << 20));
        limits
    };
    reader.limits(limits(max_pixels));
    let mut decoder = reader.into_decoder().map_err(wrong)?;

    let (width, height) = decoder.dimensions();
    check_pixels(path, width.into(), height.into(), max_pixels)?;
    // The size is known now, and limits the memory.
    decoder.set_limits(limits(u64::from(width) * u64::from(height))).map_err(wrong)?;
    let colour = decoder.color_type();
    let (pixel, channels) = match colour {
        ColorType::L8 => (PixelType::U8, 1),
        ColorType::La8 => (PixelType::U8, 2),
        ColorType::Rgb8 => (PixelType::U8, 3),
        ColorType::Rgba8 => (PixelType::U8, 4),
        ColorType::L16 => (PixelType::U16, 1),
        ColorType::La16 => (PixelType::U16, 2),
        ColorType::Rgb16 => (PixelType::U16, 3),
        ColorType::Rgba16 => (PixelType::U16, 4),
        // Other samples of TIFF are read before.
        other => return Err(Error::content(path, format!("{other:?} pixels are not taken; u8 and u16 are"))),
    };
    let shape = Shape::new(width, height, channels).map_err(mistaken)?;
    if decoder.total_bytes() != shape.samples() * pixel.size_bytes() as u64 {
        return Err(Error::content(path, "its decoder disagrees about the size"));
    }
    if tiff {
        // The TIFF decoder allocates the same again, without a limit.
        check_memory::<u8>(decoder.total_bytes().saturating_mul(2), shape).map_err(mistaken)?;
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut decoded = Ok(());
    let image = AnyImage::from_bytes(pixel, shape, |bytes| {
        decoded = decoder.read_image(bytes);
        Ok(())
    });
    let image = image.map_err(mistaken)?;
    decoded.map_err(wrong)?;
    match image {
        AnyImage::U8(image) if grey && channels == 3 => channel_of(&image, 0).map(AnyImage::U8).map_err(mistaken),
        image => seen(image, size, orientation).map_err(mistaken),
    }
}

/// Encoding options of a picture.
#[derive(Debug)]
pub(super) struct Manner {
    /// Quality of a JPEG, 1 to 100.
    pub(super) quality: u8,
    /// Metadata to be written.
    pub(super) metadata: Metadata,
}

/// Writes an image for which [`Format::check`] succeeded.
pub(super) fn write(
    file: &mut (impl Write + Seek),
    format: Format,
    manner: &Manner,
    image: &AnyImage<'_>,
) -> Result<(), Trouble> {
    match format {
        Format::Png => png_file::write(file, image, &manner.metadata)?,
        Format::Jpeg => jpeg_file::write(file, image, manner.quality, &manner.metadata)?,
        Format::Tiff => tiff_file::write(file, image, &manner.metadata)?,
        Format::Bmp => {
            let Shape { width, height, .. } = image.shape();
            let start = file.stream_position()?;
            BmpEncoder::new(file).write_image(&image.bytes(), width, height, colour(image)?)?;
            if let Some(density) = manner.metadata.pixels_per_metre() {
                grey_bmp::set_density(file, start, density)?;
            }
        }
        Format::Gray | Format::Colour | Format::Pnm => write_pnm(file, image)?,
    }
    Ok(())
}

/// Returns the name that the crate `image` has for bytes of these channels.
fn colour(image: &AnyImage<'_>) -> Result<ExtendedColorType, Trouble> {
    match (image.pixel_type(), image.shape().channels) {
        (PixelType::U8, 1) => Ok(ExtendedColorType::L8),
        (PixelType::U8, 3) => Ok(ExtendedColorType::Rgb8),
        (PixelType::U8, 4) => Ok(ExtendedColorType::Rgba8),
        (pixel, channels) => Err(format!("{channels} channel(s) of {pixel} fit no JPEG or BMP").into()),
    }
}

/// Writes binary PGM or PPM; the encoder of `image` does not support 16 bits.
fn write_pnm(file: &mut impl Write, image: &AnyImage<'_>) -> std::io::Result<()> {
    let Shape { width, height, channels } = image.shape();
    let bytes = image.bytes();
    let kind = if channels == 1 { "P5" } else { "P6" };
    let wide = image.pixel_type() == PixelType::U16;
    write!(file, "{kind}\n{width} {height}\n{}\n", if wide { 65535 } else { 255 })?;
    if !wide {
        return file.write_all(&bytes);
    }
    // The format's samples are big-endian.
    for sample in bytes.chunks_exact(2) {
        file.write_all(&u16::from_ne_bytes([sample[0], sample[1]]).to_be_bytes())?;
    }
    Ok(())
}

/// Writes RGB bytes as PNG; `size` is columns and rows.
///
/// # Errors
/// Errors of the encoder or of the file; also if `rgb` does not have three bytes per pixel.
pub fn write_rgb_png(file: &mut impl Write, size: (u32, u32), rgb: &[u8]) -> Result<(), Trouble> {
    Ok(PngEncoder::new(file).write_image(rgb, size.0, size.1, ExtendedColorType::Rgb8)?)
}
