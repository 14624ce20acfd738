//! Outputs that appear whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What writers of a format say went wrong.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// A path that can be written, as it looked when it was checked.
pub struct OutputPath<'a> {
    path: &'a Path,
    /// The file itself, where the path is a link to it.
    target: PathBuf,
    folder: PathBuf,
}

impl<'a> OutputPath<'a> {
    /// Checks that a file can be made beside the path, before work is done in vain.
    ///
    /// # Errors
    /// [`Error::Write`] where there is no such folder, or something that is no regular file.
    pub fn new(path: &'a Path) -> Result<OutputPath<'a>> {
        let wrong = |what: String| Error::write(path, what);
        let target = match fs::metadata(path) {
            // Renaming over a device or a pipe would replace it.
            Ok(facts) if !facts.is_file() => return Err(wrong("it is there, and not a regular file".into())),
            Ok(_) => fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?,
            Err(_) => path.to_path_buf(),
        };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        // Has no name where the system can do that, and so leaves nothing behind.
        tempfile::tempfile_in(&folder).map_err(|error| wrong(format!("{}: {error}", folder.display())))?;
        Ok(OutputPath { path, target, folder })
    }

    /// Writes a file beside the path and, when it is whole, renames it.
    ///
    /// # Errors
    /// [`Error::Write`] with what `fill` or the system says; what was at the path before is still there.
    pub fn write(&self, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<(), Trouble>) -> Result<()> {
        let written = || -> Result<(), Trouble> {
            let file = beside(&self.folder)?;
            let mut writer = BufWriter::with_capacity(1 << 18, file.as_file());
            fill(&mut writer)?;
            writer.flush()?;
            drop(writer);
            if let Ok(facts) = fs::metadata(&self.target) {
                // A file that was private stays so.
                file.as_file().set_permissions(facts.permissions())?;
            }
            file.persist(&self.target)?;
            Ok(())
        };
        written().map_err(|error| Error::write(self.path, error))
    }
}

/// A file of another name, which goes away if it is not renamed.
fn beside(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".apron-");
    #[cfg(unix)]
    {
        // Temporary files are private by default; an output is as the umask says.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
        builder.tempfile_in(folder)
    }
    #[cfg(not(unix))]
    builder.tempfile_in(folder)
}
