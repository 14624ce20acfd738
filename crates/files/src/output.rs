//! Images to files.

use crate::atomic::OutputPath;
use crate::error::{Error, Result};
use crate::{array, picture};
use apron_core::{AnyImage, PixelType};
use std::io::{self, Write};
use std::path::Path;

/// Where an image goes; known to be possible, as far as can be known without the image.
pub struct ImageOutput<'a> {
    path: OutputPath<'a>,
    format: Format,
    quality: u8,
}

/// A format of image files.
#[derive(Clone, Copy)]
enum Format {
    Array,
    Picture(picture::Format),
}

impl Format {
    fn of(path: &Path) -> Result<Format> {
        match extension(path).as_str() {
            "npy" => Ok(Format::Array),
            other => picture::Format::of_extension(other).map(Format::Picture).ok_or_else(|| {
                let known = format!("npy, {}", picture::EXTENSIONS);
                Error::Extension { path: path.into(), extension: other.into(), known }
            }),
        }
    }
}

/// Whether a path's extension names a format that images can be written in.
///
/// # Errors
/// [`Error::Extension`] if not.
pub fn check_extension(path: &Path) -> Result<()> {
    Format::of(path).map(drop)
}

impl<'a> ImageOutput<'a> {
    /// A file in the format that its extension says. `pixel` is the type of the image's samples, where it is known
    /// by now.
    ///
    /// # Errors
    /// [`Error::Extension`] for an extension that names no format, [`Error::Unfit`] for a format that has no samples
    /// of this type, [`Error::Write`] where no file can be made.
    pub fn new(path: &'a Path, pixel: Option<PixelType>) -> Result<ImageOutput<'a>> {
        let format = Format::of(path)?;
        if let (Format::Picture(format), Some(pixel)) = (format, pixel) {
            format.check(path, pixel, None)?;
        }
        Ok(ImageOutput { path: OutputPath::new(path)?, format, quality: picture::JPEG_QUALITY })
    }

    /// The same with another quality than 95, of 1 to 100, if it is a [JPEG](Self::is_jpeg).
    pub fn with_quality(self, quality: u8) -> ImageOutput<'a> {
        ImageOutput { quality, ..self }
    }

    /// The path as it was given.
    pub fn path(&self) -> &'a Path {
        self.path.path()
    }

    /// Whether an image of this type can be written.
    ///
    /// # Errors
    /// [`Error::Unfit`] if not.
    pub fn check(&self, pixel: PixelType, channels: u32) -> Result<()> {
        match self.format {
            Format::Array => Ok(()),
            Format::Picture(format) => format.check(self.path.path(), pixel, Some(channels)),
        }
    }

    /// Whether it is an array, which can hold anything.
    pub fn is_array(&self) -> bool {
        matches!(self.format, Format::Array)
    }

    /// Whether it is a JPEG, which loses what its quality does not keep.
    pub fn is_jpeg(&self) -> bool {
        matches!(self.format, Format::Picture(picture::Format::Jpeg))
    }

    /// Writes integers as an array of one dimension, of int64; only where it [is one](Self::is_array).
    ///
    /// # Errors
    /// [`Error::Write`]; what was at the path before is still there.
    pub fn write_integers(&self, integers: &[u64]) -> Result<()> {
        self.path.write(|file| Ok(array::write_integers(file, &[integers.len() as u64], integers)?))
    }

    /// Writes the image; at the path it appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Unfit`] for an image that the format does not hold, [`Error::Write`] for other trouble; what was at
    /// the path before is still there.
    pub fn write(&self, image: &AnyImage<'_>) -> Result<()> {
        self.check(image.pixel_type(), image.shape().channels)?;
        self.path.write(|file| match self.format {
            Format::Array => Ok(array::write(file, image)?),
            Format::Picture(format) => picture::write(file, format, self.quality, image),
        })
    }
}

/// Writes an image as a `.npy` file, into memory or wherever: (height, width), or (height, width, channels).
///
/// # Errors
/// What `file` says.
pub fn write_array(file: &mut impl Write, image: &AnyImage<'_>) -> io::Result<()> {
    array::write(file, image)
}

/// The extension in small letters, without its dot.
pub fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
