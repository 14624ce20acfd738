//! Errors of reading and writing files.

use crate::array::{shape_text, sides_of_image};
use crate::atomic::Trouble;
use apron_core::{ErrorKind, PixelType, Shape};
use std::io;
use std::path::{Path, PathBuf};

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a file; every variant names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is broken, or its content is not supported.
    #[error("{}: {what}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what is expected.
        what: String,
    },
    /// The file has no page of this number.
    #[error("{}: page {page} was asked for, and there {}", .path.display(), are(*.pages))]
    NoPage {
        /// The file.
        path: PathBuf,
        /// The requested page, from 1.
        page: u32,
        /// Number of pages of the file.
        pages: u32,
    },
    /// The array is a stack of images, and one image was asked for.
    #[error("{}: shape {shape} is that of {images} images, and not of one: (height, width) or (height, width, 1 to 4)",
        .path.display())]
    Stack {
        /// The file.
        path: PathBuf,
        /// The array's shape, as NumPy prints it.
        shape: String,
        /// Its first side.
        images: u64,
    },
    /// The array has complex numbers, and such ones were not asked for.
    #[error("{}: dtype '{dtype}' is complex, which linear filters alone take, from .npy to .npy; here bool, integers and \
        floats are taken", .path.display())]
    Complex {
        /// The file.
        path: PathBuf,
        /// The array's type, as its header has it: `<c8`, `>c16` and others.
        dtype: String,
    },
    /// The image's channels are parts of complex numbers, which the output does not hold.
    #[error("{}: complex numbers are written to .npy alone, by pairs of channels of f32 or f64", .path.display())]
    ComplexUnfit {
        /// The output.
        path: PathBuf,
    },
    /// The image has more pixels than the caller's limit.
    #[error("{}: {width}x{height} is more than {max_pixels} pixels", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Width in pixels.
        width: u64,
        /// Height in pixels.
        height: u64,
        /// The caller's limit, in pixels.
        max_pixels: u64,
    },
    /// The decoder, of another crate, panicked on the file.
    #[error("{}: its decoder gave up ({panic})", .path.display())]
    Decoder {
        /// The file.
        path: PathBuf,
        /// The panic's message.
        panic: String,
    },
    /// The extension of an output names no format that can be written.
    #[error("{}: unknown output extension '{extension}'; known are {known}", .path.display())]
    Extension {
        /// The output.
        path: PathBuf,
        /// Its extension.
        extension: String,
        /// The known extensions.
        known: String,
    },
    /// The path is that of a format that is not in this build.
    #[error("{}: {format} is not in this build, which has no feature '{feature}'", .path.display())]
    NotBuilt {
        /// The input or output.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// The feature of Cargo that has it.
        feature: &'static str,
    },
    /// The output's format does not support such an image; `.npy` supports every one.
    #[error("{}: {format} does not hold {}", .path.display(), samples(*.pixel, *.channels))]
    Unfit {
        /// The output.
        path: PathBuf,
        /// The format.
        format: String,
        /// The type of the samples.
        pixel: PixelType,
        /// Channels of the image; `None` if the format supports this type with no number of channels.
        channels: Option<u32>,
        /// Whether the caller requested the type, so that the error does not depend on an image.
        asked: bool,
    },
    /// The output's format holds one image, and several were to be written.
    #[error("{}: only .npy and TIFF files hold several images{}", .path.display(),
        if cfg!(feature = "zarr") { ", and Zarr arrays" } else { "" })]
    OneImage {
        /// The output.
        path: PathBuf,
    },
    /// The output's format holds one volume, and several were to be written.
    #[error("{}: only .npy files hold several volumes", .path.display())]
    OneVolume {
        /// The output.
        path: PathBuf,
    },
    /// An image is not of the shape and type of those before it, which those in a `.npy` file or a Zarr have to have.
    #[error("{}: {} differs from the first image, {}: all in a .npy file or a Zarr have one shape and type",
        .path.display(), typed(*.found), typed(*.first))]
    Uneven {
        /// The output.
        path: PathBuf,
        /// Shape and type of the image.
        found: (Shape, PixelType),
        /// Shape and type of the first image.
        first: (Shape, PixelType),
    },
    /// The output cannot be written. The previous file is unchanged.
    #[error("{}: cannot be written: {source}", .path.display())]
    Write {
        /// The output.
        path: PathBuf,
        /// The error of the system or of the encoder.
        source: Trouble,
    },
}

impl Error {
    /// Returns the kind of the error: [`ErrorKind::Usage`] if it does not depend on a file's content, else
    /// [`ErrorKind::Input`].
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Extension { .. }
            | Error::NotBuilt { .. }
            | Error::Unfit { asked: true, .. }
            | Error::OneImage { .. }
            | Error::OneVolume { .. } => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Error::content(path, CUT),
            _ => Error::Read { path: path.into(), source },
        }
    }

    /// Makes an error from a decoder's error about the content.
    pub(crate) fn decoding(path: &Path, error: impl std::error::Error + 'static) -> Error {
        let mut causes =
            std::iter::successors(Some(&error as &(dyn std::error::Error + 'static)), |error| error.source());
        // Decoders do not report the system's error as their cause.
        let io = |error: &(dyn std::error::Error + 'static)| match (error.downcast_ref(), error.downcast_ref()) {
            (Some(image::ImageError::IoError(error)), _) => Some(error.kind()),
            (_, Some(tiff::TiffError::IoError(error))) => Some(error.kind()),
            _ => error.downcast_ref().map(io::Error::kind),
        };
        let ends = |error| io(error) == Some(io::ErrorKind::UnexpectedEof);
        if causes.any(ends) { Error::content(path, CUT) } else { Error::content(path, undecoded(&error)) }
    }

    pub(crate) fn content(path: &Path, what: impl std::fmt::Display) -> Error {
        Error::Content { path: path.into(), what: what.to_string() }
    }

    /// Makes the error for an array of these sides that was to be one image, if it is a stack of images.
    pub(crate) fn stack(path: &Path, sides: &[u64]) -> Option<Error> {
        let (&images, of_each) = sides.split_first().filter(|(images, _)| **images > 0)?;
        sides_of_image(of_each)?;
        Some(Error::Stack { path: path.into(), shape: shape_text(sides), images })
    }

    /// Makes the error for builds without Zarr.
    #[cfg_attr(feature = "zarr", allow(dead_code))]
    pub(crate) fn no_zarr(path: &Path) -> Error {
        Error::NotBuilt { path: path.into(), format: "Zarr", feature: "zarr" }
    }

    pub(crate) fn write(path: &Path, source: impl Into<Trouble>) -> Error {
        Error::Write { path: path.into(), source: source.into() }
    }
}

/// Message for a file that ends too early: readers only say that a buffer was not filled.
pub(crate) const CUT: &str = "the file is cut off: its data ends before the picture or array does";

/// Formats a decoder's error without the names of its types.
fn undecoded(error: &(dyn std::error::Error + 'static)) -> String {
    let Some(image::ImageError::Decoding(of)) = error.downcast_ref() else { return error.to_string() };
    let format = match of.format_hint() {
        image::error::ImageFormatHint::Exact(format) => format!("{format:?}").to_uppercase(),
        other => other.to_string(),
    };
    let cause = std::error::Error::source(of).map(ToString::to_string).unwrap_or_default();
    let cause = tidy(&cause);
    if cause.is_empty() {
        format!("the {format} is broken")
    } else {
        format!("the {format} cannot be decoded: {cause}")
    }
}

/// The messages of the PNM decoder, and clearer ones in their place.
const OF_PNM: [(&str, &str); 8] = [
    // Said twice.
    ("number in number in", "number in"),
    ("Non-ASCII-digit character when parsing number in preamble", "a number in its header is not made of digits"),
    ("Overflow when parsing integer in number in preamble", "a number in its header is too large"),
    ("Image MAXVAL is zero", "its largest value is 0, but must be 1 to 65535"),
    ("Image MAXVAL exceeds 65535:", "its largest value must be 1 to 65535, but is"),
    ("Missing header line: have", "its header must have 4 numbers, but has"),
    ("Unknown header line with identifier", "its header has an unknown line"),
    ("Sample value ", "a sample is above the largest value: "),
];

/// Removes the internals of a decoder from its message.
pub(crate) fn tidy(cause: &str) -> String {
    let cause = cause.rsplit("Reason:").next().unwrap_or_default();
    let cause = cause.trim().trim_matches('"').trim_end_matches('.').trim_start_matches("Format error: ");
    let cause = OF_PNM.iter().fold(cause.to_string(), |cause, (theirs, ours)| cause.replace(theirs, ours));
    match cause.split_once(" while decoding ChunkType { type: ") {
        Some((cause, chunk)) => format!("{cause} in chunk {}", chunk.split(',').next().unwrap_or_default()),
        None => cause,
    }
}

fn are(pages: u32) -> String {
    if pages == 1 { "is one".into() } else { format!("are {pages}") }
}

/// Describes an image.
fn typed((shape, pixel): (Shape, PixelType)) -> String {
    format!("{shape} {pixel}")
}

/// Describes what a format does not support.
fn samples(pixel: PixelType, channels: Option<u32>) -> String {
    channels.map_or(format!("{pixel} samples"), |channels| format!("{channels} channel(s) of {pixel}"))
}

/// Returns an error for an image of more than `max_pixels`.
pub(crate) fn check_pixels(path: &Path, width: u64, height: u64, max_pixels: u64) -> Result<()> {
    match width.checked_mul(height) {
        Some(pixels) if pixels <= max_pixels => Ok(()),
        _ => Err(Error::TooLarge { path: path.into(), width, height, max_pixels }),
    }
}
