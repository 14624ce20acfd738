//! Errors of the command line, and their exit codes.

use crate::args;
use apron::PixelType::{self, U8, U16};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A result with the command line's error.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that ends a verb early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error of the library, which says its kind.
    #[error(transparent)]
    Apron(#[from] apron::Error),
    /// A file that cannot be read, is not accepted, or cannot be written.
    #[error(transparent)]
    Files(#[from] apron_files::Error),
    /// A format that does not hold the result, and what to do about it.
    #[error("{error}{hint}")]
    Unfit { error: apron_files::Error, hint: &'static str },
    /// An option or argument that can never be valid.
    #[error("{0}")]
    Usage(String),
    /// A file system or stream error outside the image files themselves.
    #[error("{0}")]
    Input(String),
    /// The error that ended a pipe, and its step, from 1.
    #[error("step {number} ({verb}): {}", .error.line())]
    Step { number: usize, verb: String, error: Box<Error> },
    /// The error that ended a run over pages, and its page, from 1.
    #[error("page {page}: {}", .error.line())]
    Page { page: u32, error: Box<Error> },
    /// Jobs or checks failed; they were reported already.
    #[error("{0}")]
    Failed(String),
    /// The verb is valid, but has no image to work on.
    #[error("no image is at hand")]
    NoImage,
    /// A panic.
    #[error("internal error ({0}); please report it, with the command and the file")]
    Bug(String),
}

impl Error {
    /// Makes an error about a folder or a pattern.
    pub(crate) fn input(path: &Path, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}", path.display()))
    }

    /// Returns the process's exit code.
    pub(crate) fn exit(&self) -> u8 {
        match self {
            Error::Failed(_) | Error::NoImage | Error::Bug(_) => 1,
            Error::Usage(_) => 2,
            Error::Input(_) => 3,
            Error::Step { error, .. } | Error::Page { error, .. } => error.exit(),
            Error::Apron(error) => of_kind(error.kind()),
            Error::Files(error) | Error::Unfit { error, .. } => of_kind(error.kind()),
        }
    }

    /// Says of a filter's result that the output's format does not hold which of the filter's options make one that it
    /// holds: `out_type` is the type that was asked for, and `rescales` says whether `--rescale` was.
    pub(crate) fn for_filter(self, out_type: Option<PixelType>, rescales: bool) -> Error {
        let error = match self {
            Error::Page { page, error } => {
                return Error::Page { page, error: Box::new(error.for_filter(out_type, rescales)) };
            }
            Error::Files(error) => error,
            other => return other,
        };
        let hint = match (&error, out_type, rescales) {
            // Another type does not help where the number of channels is wrong.
            (apron_files::Error::Unfit { channels: Some(_), .. }, ..) => "; write .npy",
            (apron_files::Error::Unfit { .. }, Some(_), true) => "; write .npy, or use --out-type u8",
            (apron_files::Error::Unfit { .. }, Some(_), false) => {
                "; write .npy, or use --out-type u8, perhaps with --rescale auto"
            }
            // Of a type that does not depend on the image.
            (apron_files::Error::Unfit { asked: true, .. }, None, false) => "; write .npy, or use --rescale auto",
            // Which --rescale keeps.
            (apron_files::Error::Unfit { pixel: U16, .. }, ..) => "; write .npy, or use --in-type u8 or --out-type u8",
            (apron_files::Error::Unfit { .. }, ..) => {
                "; write .npy, or use --rescale auto, --in-type u8 or --out-type u8"
            }
            _ => return error.into(),
        };
        Error::Unfit { error, hint }
    }

    /// Whether a device failed or lacks memory, so that another one may do.
    pub(crate) fn is_of_device(&self) -> bool {
        use apron::Error::{Driver, NoDevice, OutOfMemory};
        match self {
            Error::Apron(error) => matches!(error, OutOfMemory { .. } | Driver { .. } | NoDevice { .. }),
            Error::Step { error, .. } | Error::Page { error, .. } => error.is_of_device(),
            _ => false,
        }
    }

    /// Returns the message on one line, with a hint.
    pub(crate) fn line(&self) -> String {
        let mut line = self.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        line.push_str(match self {
            Error::Apron(apron::Error::NoDevice { .. }) => "; try --device cpu, or see what `apron info` finds",
            Error::Files(apron_files::Error::TooLarge { .. }) => " (see --max-pixels)",
            Error::Files(apron_files::Error::NotBuilt { feature: "zarr", .. }) => {
                "; `cargo install --path crates/cli --features zarr` makes one that has it"
            }
            Error::Files(apron_files::Error::Stack { .. }) => {
                "; --volume of stats, histogram and filters takes them as one, --pages of a filter one by one"
            }
            Error::Files(apron_files::Error::Complex { .. }) => {
                " (gaussian, box, separable, correlate and others, without --clamp, --grey, --in-type, --keep-alpha and --rescale)"
            }
            Error::Files(apron_files::Error::Uneven { found, first, .. }) if found.0 == first.0 => {
                "; --in-type makes one type, and a TIFF takes several"
            }
            Error::Files(apron_files::Error::Uneven { .. }) => "; a TIFF takes several",
            // Another type does not help where the number of channels is wrong.
            Error::Files(apron_files::Error::Unfit { pixel: U8, .. } | apron_files::Error::Unfit { channels: Some(_), .. }) => {
                "; write .npy"
            }
            // Which --rescale keeps.
            Error::Files(apron_files::Error::Unfit { pixel: U16, .. }) => {
                "; write .npy, or use --in-type u8 or, of a filter, --out-type u8"
            }
            Error::Files(apron_files::Error::Unfit { .. }) => {
                "; write .npy, or use --rescale auto, --in-type u8 or, of a filter, --out-type u8"
            }
            Error::Apron(apron::Error::PixelType { operation: "clahe" | "equalize" | "match" | "otsu", .. }) => {
                "; --in-type converts the input, and in a pipe the out-type of the step before"
            }
            _ => "",
        });
        line
    }
}

/// Returns the exit code of the library's kinds of errors.
fn of_kind(kind: apron::ErrorKind) -> u8 {
    match kind {
        apron::ErrorKind::Usage => 2,
        apron::ErrorKind::Input => 3,
        apron::ErrorKind::Device => 4,
    }
}

/// Turns an error of the argument parser, of several paragraphs, into one line.
pub(crate) fn usage(error: &clap::Error) -> Error {
    let mut text = error.render().to_string();
    if let Some((raw, expected)) = std::error::Error::source(error).and_then(args::expected) {
        text = text.replace(&raw, expected);
    }
    let said = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = said.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    let said = said.join(" ").replace(" tip: ", "; ");
    Error::Usage(format!("{}; see --help", said.strip_prefix("error: ").unwrap_or(&said)))
}

/// Runs `body`, and turns a panic into an error.
pub(crate) fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Bug(text.unwrap_or("a panic").to_string()))
    })
}
