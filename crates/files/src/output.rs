//! Image outputs.

use crate::atomic::{OutputPath, Trouble};
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::picture::Manner;
#[cfg(feature = "zarr")]
use crate::zarr;
use crate::{array, picture, tiff_file};
use apron_core::{AnyImage, PixelType, Shape};
use std::fs::File;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;

/// Destination of an image, checked as early as possible without the image.
#[derive(Debug)]
pub struct ImageOutput<'a> {
    place: Place<'a>,
    name: &'a Path,
    format: Format,
    manner: Manner,
}

/// Where an output goes.
#[derive(Debug)]
enum Place<'a> {
    Stdout,
    File(OutputPath<'a>),
    #[cfg(feature = "zarr")]
    Folder(zarr::Target<'a>),
}

/// A format of image files.
#[derive(Clone, Copy, Debug)]
enum Format {
    Array,
    #[cfg(feature = "zarr")]
    Zarr,
    Picture(picture::Format),
}

impl Format {
    fn of(path: &Path) -> Result<Format> {
        match extension(path).as_str() {
            "npy" => Ok(Format::Array),
            #[cfg(feature = "zarr")]
            "zarr" => Ok(Format::Zarr),
            #[cfg(not(feature = "zarr"))]
            "zarr" => Err(Error::no_zarr(path)),
            other => picture::Format::of_extension(other).map(Format::Picture).ok_or_else(|| {
                let zarr = if cfg!(feature = "zarr") { "zarr, " } else { "" };
                let known = format!("npy, {zarr}{}", picture::EXTENSIONS);
                Error::Extension { path: path.into(), extension: other.into(), known }
            }),
        }
    }
}

/// Checks that a path's extension names a format that images can be written in.
///
/// # Errors
/// [`Error::Extension`] otherwise; [`Error::NotBuilt`] for a format that this build does not have.
pub fn check_extension(path: &Path) -> Result<()> {
    Format::of(path).map(drop)
}

impl<'a> ImageOutput<'a> {
    /// Opens a file, in the format of its extension; for `.zarr` it is a folder. `pixel` is the type of the image's
    /// samples, if known already.
    ///
    /// # Errors
    /// [`Error::Extension`] for an extension that names no format, [`Error::NotBuilt`] for a format that this
    /// build does not have, [`Error::Unfit`] for a format that does not support the type, [`Error::Write`] if
    /// no file can be created.
    pub fn new(path: &'a Path, pixel: Option<PixelType>) -> Result<ImageOutput<'a>> {
        ImageOutput::open(path, Format::of(path)?, pixel)
    }

    /// Opens a temporary file, in the format of an extension; `pixel` as for [`new`](Self::new).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn scratch(path: &'a Path, extension: &str, pixel: Option<PixelType>) -> Result<ImageOutput<'a>> {
        ImageOutput::open(path, Format::of(&Path::new("-").with_extension(extension))?, pixel)
    }

    fn open(path: &'a Path, format: Format, pixel: Option<PixelType>) -> Result<ImageOutput<'a>> {
        if let (Format::Picture(format), Some(pixel)) = (format, pixel) {
            format.check(path, pixel, None)?;
        }
        let place = match format {
            #[cfg(feature = "zarr")]
            Format::Zarr => Place::Folder(zarr::Target::new(path)?),
            _ => Place::File(OutputPath::new(path)?),
        };
        Ok(ImageOutput { place, name: path, format, manner: Manner::default() })
    }

    /// Opens the standard output, in the format of an extension; `pixel` as for [`new`](Self::new).
    ///
    /// # Errors
    /// As [`new`](Self::new), for the path `-.EXTENSION`; [`Error::Write`] for Zarr, which is a folder.
    pub fn stdout(extension: &str, pixel: Option<PixelType>) -> Result<ImageOutput<'static>> {
        let name = Path::new("-");
        let format = Format::of(&name.with_extension(extension.trim_start_matches('.')))?;
        if let (Format::Picture(format), Some(pixel)) = (format, pixel) {
            format.check(name, pixel, None)?;
        }
        #[cfg(feature = "zarr")]
        if let Format::Zarr = format {
            return Err(Error::write(name, "a Zarr is a folder, which the standard output cannot be"));
        }
        Ok(ImageOutput { place: Place::Stdout, name, format, manner: Manner::default() })
    }

    /// Sets the quality of a [JPEG](Self::is_jpeg), 1 to 100; 95 by default.
    pub fn with_quality(self, quality: u8) -> ImageOutput<'a> {
        let manner = Manner { quality, ..self.manner };
        ImageOutput { manner, ..self }
    }

    /// Sets the metadata, which are written if the format supports them.
    pub fn with_metadata(self, metadata: Metadata) -> ImageOutput<'a> {
        let manner = Manner { metadata, ..self.manner };
        ImageOutput { manner, ..self }
    }

    /// Returns the path as it was given.
    pub fn path(&self) -> &'a Path {
        self.name
    }

    /// Checks that the format supports an image of this type, with the metadata.
    ///
    /// # Errors
    /// [`Error::Unfit`] otherwise; [`Error::ComplexUnfit`] if the metadata say that it is complex, and it cannot be.
    pub fn check(&self, pixel: PixelType, channels: u32) -> Result<()> {
        self.check_with(&self.manner.metadata, pixel, channels)
    }

    /// Checks as [`check`](Self::check), with other metadata.
    pub(crate) fn check_with(&self, metadata: &Metadata, pixel: PixelType, channels: u32) -> Result<()> {
        if metadata.complex && !(self.is_array() && array::has_parts(pixel, channels)) {
            return Err(Error::ComplexUnfit { path: self.name.into() });
        }
        match self.format {
            Format::Array => Ok(()),
            #[cfg(feature = "zarr")]
            Format::Zarr => Ok(()),
            Format::Picture(format) => format.check(self.name, pixel, Some(channels)),
        }
    }

    /// Whether the format is `.npy`, which supports every image.
    pub fn is_array(&self) -> bool {
        matches!(self.format, Format::Array)
    }

    /// Whether the format is JPEG, which is lossy.
    pub fn is_jpeg(&self) -> bool {
        matches!(self.format, Format::Picture(picture::Format::Jpeg))
    }

    /// Whether the metadata have an ICC profile that the format, which is one of pictures, cannot hold.
    pub fn drops_profile(&self) -> bool {
        matches!(self.format, Format::Picture(format) if !format.has_profile()) && self.manner.metadata.icc.is_some()
    }

    /// Writes integers as an array of int64 with one dimension; only if the format [is `.npy`](Self::is_array).
    ///
    /// # Errors
    /// [`Error::Write`]; the previous file is then unchanged.
    pub fn write_integers(&self, integers: &[u64]) -> Result<()> {
        self.fill(|file| Ok(array::write_integers(file, &[integers.len() as u64], integers)?))
    }

    /// Writes the image; the file appears whole or not at all.
    ///
    /// # Errors
    /// Those of [`check`](Self::check) for an image that the format does not support, [`Error::Write`] for other
    /// errors; the previous file is then unchanged.
    pub fn write(&self, image: &AnyImage<'_>) -> Result<()> {
        self.check(image.pixel_type(), image.shape().channels)?;
        if self.takes_rows() {
            let (shape, pixel) = (image.shape(), image.pixel_type());
            return self.write_rows(shape, pixel, |draft| Ok(draft.write_rows(0, &image.bytes())?));
        }
        self.fill(|file| match self.format {
            Format::Array => Ok(array::write(file, image, self.manner.metadata.complex)?),
            Format::Picture(format) => picture::write(file, format, &self.manner, image),
            #[cfg(feature = "zarr")]
            Format::Zarr => Ok(()), // written by rows
        })
    }

    /// Whether an image can be [written by rows](Self::write_rows): to a `.npy` or TIFF file or a Zarr array, and not
    /// to the standard output.
    pub fn takes_rows(&self) -> bool {
        match self.place {
            Place::Stdout => false,
            Place::File(_) => matches!(self.format, Format::Array | Format::Picture(picture::Format::Tiff)),
            #[cfg(feature = "zarr")]
            Place::Folder(_) => true,
        }
    }

    /// Whether a folder is written.
    pub(crate) fn is_folder(&self) -> bool {
        !matches!(self.place, Place::Stdout | Place::File(_))
    }

    /// Returns the folder that is written, if it is one.
    #[cfg(feature = "zarr")]
    pub(crate) fn folder(&self) -> Option<&zarr::Target<'a>> {
        match &self.place {
            Place::Folder(target) => Some(target),
            _ => None,
        }
    }

    /// Returns the metadata that are written.
    #[cfg(feature = "zarr")]
    pub(crate) fn metadata(&self) -> &Metadata {
        &self.manner.metadata
    }

    /// Returns the start of a file that takes rows, up to the samples.
    pub(crate) fn head(&self, shape: Shape, pixel: PixelType) -> Result<Vec<u8>, Trouble> {
        match self.format {
            Format::Array => {
                let mut head = Vec::new();
                array::write_image_header(&mut head, &[], (shape, pixel), self.manner.metadata.complex)?;
                Ok(head)
            }
            _ => tiff_file::head(shape, pixel, &self.manner.metadata),
        }
    }

    /// Lets `fill` write to any position in a file, which appears when it is complete; does nothing if the output is
    /// not a file.
    pub(crate) fn write_file(&self, fill: impl FnOnce(&File) -> Result<(), Trouble>) -> Result<()> {
        match &self.place {
            Place::File(path) => path.write_file(fill),
            _ => Ok(()),
        }
    }

    /// Returns the file that is written, if it can hold several images.
    pub(crate) fn of_pages(&self) -> Result<&OutputPath<'a>> {
        match &self.place {
            Place::File(path) if self.takes_rows() => Ok(path),
            _ => Err(Error::OneImage { path: self.name.into() }),
        }
    }

    /// Returns the file that is written, if a later run can continue it.
    pub(crate) fn resumable(&self) -> Result<&OutputPath<'a>> {
        match &self.place {
            Place::File(path) => Ok(path),
            _ => Err(Error::write(self.name, "only .npy and TIFF files and Zarr arrays can be resumed")),
        }
    }

    /// Writes the output of `fill`, once it is complete.
    fn fill(&self, fill: impl FnOnce(&mut Sink<'_>) -> Result<(), Trouble>) -> Result<()> {
        if let Place::File(path) = &self.place {
            return path.write(|file| fill(&mut Sink(file)));
        }
        let mut whole = Cursor::new(Vec::new());
        let filled = fill(&mut Sink(&mut whole));
        let written = filled.and_then(|()| {
            let mut stdout = io::stdout().lock();
            match stdout.write_all(whole.get_ref()).and_then(|()| stdout.flush()) {
                // A closed pipe is not an error: the reader has what it wanted.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
                _ => Ok(()),
            }
        });
        written.map_err(|error| Error::write(self.name, error))
    }
}

/// The destination of encoders: a file or memory. A trait object, so that they are compiled once.
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

/// Writes an image in the `.npy` format: of shape (height, width), or (height, width, channels).
///
/// # Errors
/// Errors of `file`.
pub fn write_array(file: &mut impl Write, image: &AnyImage<'_>) -> io::Result<()> {
    array::write(file, image, false)
}

/// Returns the extension in lower case, without its dot.
pub fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
