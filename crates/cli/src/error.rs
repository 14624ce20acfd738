//! What can go wrong on the command line, and the exit code for each.

use crate::args;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A result with the command line's error.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that ends a verb early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The library's error, which knows whose trouble it is.
    #[error(transparent)]
    Apron(#[from] apron::Error),
    /// A file that cannot be read, taken or written.
    #[error(transparent)]
    Files(#[from] apron_files::Error),
    /// A value that can never be right.
    #[error("{0}")]
    Usage(String),
    /// Something around the files that cannot be read or written.
    #[error("{0}")]
    Input(String),
    /// What ended a pipe, and at which of its steps, from 1.
    #[error("step {number} ({verb}): {}", .error.line())]
    Step { number: usize, verb: String, error: Box<Error> },
    /// Jobs or checks failed, and said so.
    #[error("{0}")]
    Failed(String),
    /// A verb is right, and has no image to work on.
    #[error("no image is at hand")]
    NoImage,
    /// A panic.
    #[error("internal error ({0}); please report it, with the command and the file")]
    Bug(String),
}

impl Error {
    /// A folder or pattern that is not what it should be.
    pub(crate) fn input(path: &Path, what: impl std::fmt::Display) -> Error {
        Error::Input(format!("{}: {what}", path.display()))
    }

    /// The process's exit code.
    pub(crate) fn exit(&self) -> u8 {
        match self {
            Error::Failed(_) | Error::NoImage | Error::Bug(_) => 1,
            Error::Usage(_) => 2,
            Error::Input(_) => 3,
            Error::Step { error, .. } => error.exit(),
            Error::Apron(error) => of_kind(error.kind()),
            Error::Files(error) => of_kind(error.kind()),
        }
    }

    /// The message, on one line.
    pub(crate) fn line(&self) -> String {
        let mut line = self.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        line.push_str(match self {
            Error::Apron(apron::Error::NoDevice { .. }) => "; try --device cpu, or see what `apron info` finds",
            Error::Files(apron_files::Error::TooLarge { .. }) => " (see --max-pixels)",
            Error::Files(apron_files::Error::Inexact { .. }) => "; --in-type f32 rounds",
            Error::Files(apron_files::Error::Unfit { pixel: apron::PixelType::U8, .. }) => "; write .npy",
            Error::Files(apron_files::Error::Unfit { .. }) => "; write .npy, or use --out-type u8 or --rescale auto",
            _ => "",
        });
        line
    }
}

/// The exit code of an error that knows whose trouble it is.
fn of_kind(kind: apron::ErrorKind) -> u8 {
    match kind {
        apron::ErrorKind::Usage => 2,
        apron::ErrorKind::Input => 3,
        apron::ErrorKind::Device => 4,
    }
}

/// A complaint of the argument parser, whose paragraphs become one line.
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

/// Runs `body`; a panic becomes an error.
pub(crate) fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Bug(text.unwrap_or("a panic").to_string()))
    })
}
