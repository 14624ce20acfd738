//! Folders that are written: they appear whole or not at all.

use crate::atomic::{Trouble, followed, may_write};
use crate::draft::FolderDraft;
use crate::error::{Error, Result};
use crate::partial::Partial;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder that can be written, as it was when it was checked.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    path: &'a Path,
    /// The folder itself, if the path is a link.
    target: PathBuf,
}

impl<'a> Target<'a> {
    /// Checks that a folder can be created next to the path, before any work is done.
    ///
    /// # Errors
    /// [`Error::Write`] if that folder does not exist, and if what is there is not a Zarr, or read-only.
    pub(crate) fn new(path: &'a Path) -> Result<Target<'a>> {
        let wrong = |what: String| Error::write(path, what);
        // Without the separator at its end that a folder's name may have.
        let plain: PathBuf = path.components().collect();
        let target = match fs::metadata(&plain) {
            Ok(facts) if !facts.is_dir() => return Err(wrong("it is there, and not a folder".into())),
            Ok(_) if !plain.join(super::found::METADATA).is_file() => {
                return Err(wrong("the folder is there, and not a Zarr".into()));
            }
            Ok(facts) if facts.permissions().readonly() || !may_write(&plain) => {
                return Err(wrong("the folder is read-only".into()));
            }
            Ok(_) => fs::canonicalize(&plain).map_err(|error| wrong(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => followed(&plain),
            Err(error) => return Err(wrong(error.to_string())),
        };
        FolderDraft::remove_left(&target, super::found::METADATA);
        FolderDraft::beside(&target).map_err(|error| match (error.kind(), target.parent()) {
            (io::ErrorKind::NotFound, Some(folder)) => wrong(format!("there is no folder {}", folder.display())),
            _ => wrong(format!("no folder beside it: {error}")),
        })?;
        Ok(Target { path, target })
    }

    /// Lets `fill` write into a temporary folder next to the path and, when it is complete, renames it to the path. A
    /// Zarr that is there is then removed.
    ///
    /// # Errors
    /// [`Error::Write`] with the error of `fill` or of the system; what was there is then unchanged.
    pub(crate) fn write(&self, fill: impl FnOnce(&Path) -> Result<(), Trouble>) -> Result<()> {
        let written = || -> Result<(), Trouble> {
            let draft = self.draft()?;
            fill(draft.path())?;
            Ok(self.publish(draft)?)
        };
        written().map_err(|error| Error::write(self.path, error))
    }

    /// Lets `fill` write into a folder that stays if the program ends, for the next run of the same job, and renames it
    /// to the path when it is complete. `fill` gets the number of rows that are there.
    ///
    /// # Errors
    /// As [`write`](Self::write); rows that were written stay.
    pub(crate) fn write_partial(
        &self,
        job: &str,
        fill: impl FnOnce(&Partial, u32) -> Result<(), Trouble>,
    ) -> Result<()> {
        let written = || -> Result<(), Trouble> {
            let (partial, rows) = Partial::open_folder(&self.target, job, super::found::METADATA)?;
            self.protect(partial.path())?;
            fill(&partial, rows).inspect_err(|_| partial.discard_without_rows(rows))?;
            self.protect(partial.path())?;
            Ok(partial.publish_folder(&self.target)?)
        };
        written().map_err(|error| Error::write(self.path, error))
    }

    /// Creates an empty temporary folder next to the path, for [`publish`](Self::publish).
    pub(crate) fn draft(&self) -> io::Result<FolderDraft> {
        let draft = FolderDraft::beside(&self.target)?;
        self.protect(draft.path())?;
        Ok(draft)
    }

    /// Gives a folder the permissions of the one that it replaces, before there are samples in it and again when it takes
    /// the other's place: a private folder stays private.
    fn protect(&self, folder: &Path) -> io::Result<()> {
        match fs::metadata(&self.target) {
            Ok(facts) => fs::set_permissions(folder, facts.permissions()),
            Err(_) => Ok(()),
        }
    }

    /// Renames a temporary folder to the path. A Zarr that is there is then removed.
    pub(crate) fn publish(&self, draft: FolderDraft) -> io::Result<()> {
        self.protect(draft.path())?;
        draft.publish(&self.target)
    }
}
