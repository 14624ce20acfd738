//! Images to files.

use crate::atomic::{OutputPath, Trouble};
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::picture::Manner;
use crate::{array, picture};
use apron_core::{AnyImage, PixelType};
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;

/// Where an image goes; known to be possible, as far as can be known without the image.
pub struct ImageOutput<'a> {
    /// `None` for the standard output.
    path: Option<OutputPath<'a>>,
    name: &'a Path,
    format: Format,
    manner: Manner,
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
        Ok(ImageOutput { path: Some(OutputPath::new(path)?), name: path, format, manner: Manner::default() })
    }

    /// The standard output, in the format of such an extension; `pixel` as for [`new`](Self::new).
    ///
    /// # Errors
    /// As [`new`](Self::new), of the path `-.EXTENSION`.
    pub fn stdout(extension: &str, pixel: Option<PixelType>) -> Result<ImageOutput<'static>> {
        let name = Path::new("-");
        let format = Format::of(&name.with_extension(extension.trim_start_matches('.')))?;
        if let (Format::Picture(format), Some(pixel)) = (format, pixel) {
            format.check(name, pixel, None)?;
        }
        Ok(ImageOutput { path: None, name, format, manner: Manner::default() })
    }

    /// The same with another quality than 95, of 1 to 100, if it is a [JPEG](Self::is_jpeg).
    pub fn with_quality(self, quality: u8) -> ImageOutput<'a> {
        let manner = Manner { quality, ..self.manner };
        ImageOutput { manner, ..self }
    }

    /// The same with what the file says besides its pixels, as far as its format can.
    pub fn with_metadata(self, metadata: Metadata) -> ImageOutput<'a> {
        let manner = Manner { metadata, ..self.manner };
        ImageOutput { manner, ..self }
    }

    /// The path as it was given.
    pub fn path(&self) -> &'a Path {
        self.name
    }

    /// Whether an image of this type can be written.
    ///
    /// # Errors
    /// [`Error::Unfit`] if not.
    pub fn check(&self, pixel: PixelType, channels: u32) -> Result<()> {
        match self.format {
            Format::Array => Ok(()),
            Format::Picture(format) => format.check(self.name, pixel, Some(channels)),
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
        self.fill(|file| Ok(array::write_integers(file, &[integers.len() as u64], integers)?))
    }

    /// Writes the image; at the path it appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Unfit`] for an image that the format does not hold, [`Error::Write`] for other trouble; what was at
    /// the path before is still there.
    pub fn write(&self, image: &AnyImage<'_>) -> Result<()> {
        self.check(image.pixel_type(), image.shape().channels)?;
        self.fill(|file| match self.format {
            Format::Array => Ok(array::write(file, image)?),
            Format::Picture(format) => picture::write(file, format, &self.manner, image),
        })
    }

    /// Writes what `fill` writes, once it is whole.
    fn fill(&self, fill: impl FnOnce(&mut Sink<'_>) -> Result<(), Trouble>) -> Result<()> {
        if let Some(path) = &self.path {
            return path.write(|file| fill(&mut Sink(file)));
        }
        let mut whole = Cursor::new(Vec::new());
        let filled = fill(&mut Sink(&mut whole));
        let written = filled.and_then(|()| {
            let mut stdout = io::stdout().lock();
            match stdout.write_all(whole.get_ref()).and_then(|()| stdout.flush()) {
                // A reader that has gone has what it wanted.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
                _ => Ok(()),
            }
        });
        written.map_err(|error| Error::write(self.name, error))
    }
}

/// Where encoders write: a file or memory. By reference to this, so that they are compiled once.
struct Sink<'a>(&'a mut dyn Target);

trait Target: Write + Seek {}

impl<T: Write + Seek> Target for T {}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Sink<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { quality: picture::JPEG_QUALITY, metadata: Metadata::default() }
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
