//! What can go wrong with a file.

use crate::atomic::Trouble;
use apron_core::{ErrorKind, PixelType};
use std::io;
use std::path::{Path, PathBuf};

/// A result with the error of files.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong with a file, which each of them names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is broken, or holds what is not taken.
    #[error("{}: {what}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// The file has no such page.
    #[error("{}: page {page} was asked for, and there {}", .path.display(), are(*.pages))]
    NoPage {
        /// The file.
        path: PathBuf,
        /// The page that was asked for, from 1.
        page: u32,
        /// Pages of the file.
        pages: u32,
    },
    /// The image has more pixels than the caller takes.
    #[error("{}: {width}x{height} is more than {max_pixels} pixels", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Columns of the image.
        width: u64,
        /// Rows of the image.
        height: u64,
        /// The limit that the caller gave.
        max_pixels: u64,
    },
    /// The array has a number that no type of image holds, and was not asked for in one of them.
    #[error("{}: {value} of dtype '{dtype}' is held exactly by none of u8, u16, i16 and f32", .path.display())]
    Inexact {
        /// The file.
        path: PathBuf,
        /// The array's type in NumPy's words, without its byte order.
        dtype: String,
        /// The first such number.
        value: f64,
    },
    /// The decoder, which is another crate's, panicked on what it read.
    #[error("{}: its decoder gave up ({panic})", .path.display())]
    Decoder {
        /// The file.
        path: PathBuf,
        /// What the panic said.
        panic: String,
    },
    /// The extension of an output names no format that can be written there.
    #[error("{}: unknown output extension '{extension}'; known are {known}", .path.display())]
    Extension {
        /// The output.
        path: PathBuf,
        /// Its extension.
        extension: String,
        /// Those that would do.
        known: String,
    },
    /// The output's format does not hold such an image; `.npy` holds every one.
    #[error("{}: {format} does not hold {}", .path.display(), samples(*.pixel, *.channels))]
    Unfit {
        /// The output.
        path: PathBuf,
        /// The format.
        format: String,
        /// The type of the samples.
        pixel: PixelType,
        /// Channels of the image; `None` where no number of them would do.
        channels: Option<u32>,
        /// Whether the type was asked for, so that no image is needed to see it.
        asked: bool,
    },
    /// The output cannot be written. What was at its path before is still there.
    #[error("{}: cannot be written: {source}", .path.display())]
    Write {
        /// The output.
        path: PathBuf,
        /// What the system or the encoder says.
        source: Trouble,
    },
}

impl Error {
    /// Whose trouble it is: [`ErrorKind::Usage`] where no file was needed to see it, else [`ErrorKind::Input`].
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Extension { .. } | Error::Unfit { asked: true, .. } => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::content(path, CUT),
            _ => Error::Read { path: path.into(), source },
        }
    }

    /// What a decoder says is wrong with the content.
    pub(crate) fn decoding(path: &Path, error: impl std::error::Error + 'static) -> Error {
        let mut causes =
            std::iter::successors(Some(&error as &(dyn std::error::Error + 'static)), |error| error.source());
        // Decoders do not give the system's error as their cause.
        let io = |error: &(dyn std::error::Error + 'static)| match (error.downcast_ref(), error.downcast_ref()) {
            (Some(image::ImageError::IoError(error)), _) => Some(error.kind()),
            (_, Some(tiff::TiffError::IoError(error))) => Some(error.kind()),
            _ => error.downcast_ref().map(io::Error::kind),
        };
        let ends = |error| io(error) == Some(io::ErrorKind::UnexpectedEof);
        if causes.any(ends) { Error::content(path, CUT) } else { Error::content(path, error) }
    }

    pub(crate) fn content(path: &Path, what: impl std::fmt::Display) -> Error {
        Error::Content { path: path.into(), what: what.to_string() }
    }

    pub(crate) fn write(path: &Path, source: impl Into<Trouble>) -> Error {
        Error::Write { path: path.into(), source: source.into() }
    }
}

/// What is wrong with a file whose data ends too early: readers say that a buffer was not filled.
const CUT: &str = "the file is cut off: its data ends before the picture or array does";

fn are(pages: u32) -> String {
    if pages == 1 { "is one".into() } else { format!("are {pages}") }
}

/// What a format does not hold.
fn samples(pixel: PixelType, channels: Option<u32>) -> String {
    channels.map_or(format!("{pixel} samples"), |channels| format!("{channels} channel(s) of {pixel}"))
}

/// Refuses an image of more than `max_pixels`.
pub(crate) fn check_pixels(path: &Path, width: u64, height: u64, max_pixels: u64) -> Result<()> {
    match width.checked_mul(height) {
        Some(pixels) if pixels <= max_pixels => Ok(()),
        _ => Err(Error::TooLarge { path: path.into(), width, height, max_pixels }),
    }
}
