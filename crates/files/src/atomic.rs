//! Atomic outputs: they appear whole or not at all.

use crate::draft::Draft;
use crate::error::{Error, Result};
use crate::partial::Partial;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// An error of an encoder or of the system.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Maximum number of links that are followed, as in Linux.
const MAX_LINKS: u32 = 40;

/// A file that is complete, and appears when it is [published](publish).
#[derive(Debug)]
pub struct Complete<'a> {
    path: &'a OutputPath<'a>,
    draft: Draft,
}

/// Renames complete files to their paths, all at once: a signal finds all of them or none.
///
/// # Errors
/// [`Error::Write`] for the first that cannot be renamed.
pub fn publish(files: Vec<Complete<'_>>) -> Result<()> {
    let paths: Vec<&OutputPath<'_>> = files.iter().map(|file| file.path).collect();
    for file in &files {
        file.path.protect(file.draft.file()).map_err(|error| Error::write(file.path.path, error))?;
    }
    let drafts = files.into_iter().map(|file| (file.draft, file.path.target.as_path())).collect();
    Draft::publish_all(drafts).map_err(|(index, error)| Error::write(paths[index].path, error))
}

/// A writable path, as it was when it was checked.
#[derive(Debug)]
pub struct OutputPath<'a> {
    path: &'a Path,
    /// The file itself, if the path is a link.
    target: PathBuf,
    folder: PathBuf,
}

impl<'a> OutputPath<'a> {
    /// Checks that a file can be created next to the path, before any work is done. Links are followed, even if their
    /// file does not exist yet.
    ///
    /// # Errors
    /// [`Error::Write`] if the folder does not exist, if the path is not a regular file, and if the file is read-only.
    pub fn new(path: &'a Path) -> Result<OutputPath<'a>> {
        let wrong = |what: String| Error::write(path, what);
        if Draft::in_place(path).map_err(|error| wrong(error.to_string()))?.is_some() {
            // A file without a name is written in place: there is no name to replace, and no other reader.
            return Ok(OutputPath { path, target: path.into(), folder: PathBuf::new() });
        }
        let target = match fs::metadata(path) {
            // Renaming over a device or a pipe would replace it.
            Ok(facts) if !facts.is_file() => return Err(wrong("it is there, and not a regular file".into())),
            // Renaming needs only permission of the folder, and would replace a read-only file.
            Ok(facts) if facts.permissions().readonly() || !may_write(path) => {
                return Err(wrong("the file is read-only".into()));
            }
            Ok(_) => fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => followed(path),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        Draft::new(&folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => wrong(format!("there is no folder {}", folder.display())),
            _ => wrong(format!("{}: {error}", folder.display())),
        })?;
        Ok(OutputPath { path, target, folder })
    }

    /// Writes a temporary file next to the path and, when it is complete, renames it to the path.
    ///
    /// # Errors
    /// [`Error::Write`] with the error of `fill` or of the system; the previous file is then unchanged.
    pub fn write(&self, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<(), Trouble>) -> Result<()> {
        publish(vec![self.complete(fill)?])
    }

    /// Writes a temporary file next to the path, which [`publish`] renames to the path.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn complete(&self, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<(), Trouble>) -> Result<Complete<'_>> {
        let written = || -> Result<Draft, Trouble> {
            let draft = self.draft()?;
            let mut writer = BufWriter::with_capacity(1 << 18, draft.file());
            fill(&mut writer)?;
            writer.flush()?;
            drop(writer);
            Ok(draft)
        };
        let draft = written().map_err(|error| Error::write(self.path, error))?;
        Ok(Complete { path: self, draft })
    }

    /// As [`write`](Self::write), for a `fill` that writes to any position in the file.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_file(&self, fill: impl FnOnce(&File) -> Result<(), Trouble>) -> Result<()> {
        let written = || -> Result<(), Trouble> {
            let draft = self.draft()?;
            fill(draft.file())?;
            Ok(self.publish(draft)?)
        };
        written().map_err(|error| Error::write(self.path, error))
    }
}

impl OutputPath<'_> {
    /// Creates an empty file next to the path, for [`publish`](Self::publish).
    pub(crate) fn draft(&self) -> io::Result<Draft> {
        if let Some(draft) = Draft::in_place(&self.target)? {
            return Ok(draft);
        }
        let draft = Draft::new(&self.folder)?;
        self.protect(draft.file())?;
        Ok(draft)
    }

    /// Renames a complete file to the path.
    pub(crate) fn publish(&self, draft: Draft) -> io::Result<()> {
        self.protect(draft.file())?;
        draft.publish(&self.target)
    }

    /// Gives a file the permissions of the one that it replaces, before there are samples in it and again when it takes
    /// the other's place: a private file stays private.
    fn protect(&self, file: &File) -> io::Result<()> {
        match fs::metadata(&self.target) {
            Ok(facts) => file.set_permissions(facts.permissions()),
            Err(_) => Ok(()),
        }
    }

    /// Writes to a file that stays if the program ends, for the next run of the same job, and renames it to the path
    /// when it is complete. `fill` gets the number of rows that are there.
    ///
    /// # Errors
    /// As [`write`](Self::write); rows that were written stay.
    pub(crate) fn write_partial(
        &self,
        job: &str,
        layout: (u64, u64),
        fill: impl FnOnce(&Partial, u32) -> Result<(), Trouble>,
    ) -> Result<()> {
        let written = || -> Result<(), Trouble> {
            let (partial, rows) = Partial::open(&self.target, job, layout)?;
            self.protect(partial.file())?;
            fill(&partial, rows).inspect_err(|_| partial.discard_without_rows(rows))?;
            self.protect(partial.file())?;
            Ok(partial.publish(&self.target)?)
        };
        written().map_err(|error| Error::write(self.path, error))
    }
}

/// Follows links to a file that does not exist yet; returns the path itself if it is not a link.
pub(crate) fn followed(path: &Path) -> PathBuf {
    let mut at = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&at) else { break };
        // Links are relative to their folder.
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    at
}

/// Whether this user may write the file.
pub(crate) fn may_write(path: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    #[cfg(not(unix))]
    return path.exists();
}
