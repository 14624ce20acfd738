//! Outputs that appear whole or not at all.

use crate::draft::Draft;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// What writers of a format say went wrong.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Most links that a path is followed through, as in Linux.
const MAX_LINKS: u32 = 40;

/// A path that can be written, as it looked when it was checked.
pub struct OutputPath<'a> {
    path: &'a Path,
    /// The file itself, where the path is a link to it.
    target: PathBuf,
    folder: PathBuf,
}

impl<'a> OutputPath<'a> {
    /// Checks that a file can be made beside the path, before work is done in vain. A link is followed, also one to a
    /// file that is not there yet.
    ///
    /// # Errors
    /// [`Error::Write`] where there is no such folder, where the path is no regular file, and where the file is
    /// read-only.
    pub fn new(path: &'a Path) -> Result<OutputPath<'a>> {
        let wrong = |what: String| Error::write(path, what);
        let target = match fs::metadata(path) {
            // Renaming over a device or a pipe would replace it.
            Ok(facts) if !facts.is_file() => return Err(wrong("it is there, and not a regular file".into())),
            // Renaming asks the folder alone, and would replace it.
            Ok(facts) if facts.permissions().readonly() || !may_write(path) => {
                return Err(wrong("the file is read-only".into()));
            }
            Ok(_) => fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => followed(path),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        Draft::new(&folder).map_err(|error| wrong(format!("{}: {error}", folder.display())))?;
        Ok(OutputPath { path, target, folder })
    }

    /// Writes a file beside the path and, when it is whole, gives it the path's name.
    ///
    /// # Errors
    /// [`Error::Write`] with what `fill` or the system says; what was at the path before is still there.
    pub fn write(&self, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<(), Trouble>) -> Result<()> {
        let written = || -> Result<(), Trouble> {
            let draft = Draft::new(&self.folder)?;
            let mut writer = BufWriter::with_capacity(1 << 18, draft.file());
            fill(&mut writer)?;
            writer.flush()?;
            drop(writer);
            if let Ok(facts) = fs::metadata(&self.target) {
                // A file that was private stays so.
                draft.file().set_permissions(facts.permissions())?;
            }
            Ok(draft.publish(&self.target)?)
        };
        written().map_err(|error| Error::write(self.path, error))
    }
}

/// Where a link to nothing leads; the path itself if it is none.
fn followed(path: &Path) -> PathBuf {
    let mut at = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&at) else { break };
        // Links are relative to the folder that they are in.
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    at
}

/// Whether this user may write the file.
fn may_write(path: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    #[cfg(not(unix))]
    return path.exists();
}
