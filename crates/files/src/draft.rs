//! Drafts: unfinished output files, which are removed unless they are published.
//!
//! On Linux a draft has no name (`O_TMPFILE`), so that the system frees it however the program ends. On file systems
//! without such files, and on other systems, it has a hidden name next to the output, which [`discard_drafts`] removes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

#[cfg(feature = "zarr")]
mod folder;
mod made;

#[cfg(feature = "zarr")]
pub(crate) use folder::{FolderDraft, exchange, writing};
pub use made::MadeFolder;

/// Names of drafts that have one. The lock is held while a draft is created or renamed.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn names() -> MutexGuard<'static, Vec<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes unfinished outputs when the program is about to end, for example because of a signal. No output can be
/// started or finished afterwards: such calls block for ever.
///
/// It does not allocate, unless a draft is a folder, and it terminates even if this thread is creating a draft.
pub fn discard_drafts() {
    for _ in 0..200 {
        if let Ok(names) = NAMES.try_lock() {
            #[cfg(feature = "zarr")]
            folder::stop_writing();
            for name in names.iter() {
                // A draft may be a folder.
                if fs::remove_file(name).is_err() {
                    let _ = fs::remove_dir_all(name);
                }
            }
            made::discard();
            return std::mem::forget(names);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A file that is removed unless it is [published](Draft::publish).
#[derive(Debug)]
pub(crate) enum Draft {
    /// A file without a name, and the folder for its name.
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    /// A temporary file without a name, which is written in place.
    #[cfg(target_os = "linux")]
    InPlace(File),
    Named(Named),
}

/// A named file, which is removed when dropped.
#[derive(Debug)]
pub(crate) struct Named {
    // Dropped before its name is removed from [`NAMES`].
    file: NamedTempFile,
    name: Name,
}

/// A temporary file for other programs to write to, or between the steps of a job. It is removed when this is dropped,
/// and by [`discard_drafts`].
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    kept: Kept,
}

/// How a temporary file is kept.
#[derive(Debug)]
enum Kept {
    /// Its name, which is removed.
    Name { _name: Name },
    /// This handle: the file has no name, and its path is that of the handle.
    #[cfg(target_os = "linux")]
    Handle { _file: File },
}

impl Scratch {
    /// Creates an empty file, whose name starts with `apron-` and this text. It may be executed.
    ///
    /// # Errors
    /// Errors of the temporary folder.
    pub fn new(name: &str) -> io::Result<Scratch> {
        Scratch::with_extension(name, "")
    }

    /// As [`new`](Scratch::new), with a name that ends with `extension`: a file of that format.
    ///
    /// # Errors
    /// As [`new`](Scratch::new).
    pub fn with_extension(name: &str, extension: &str) -> io::Result<Scratch> {
        Scratch::made(&format!("apron-{name}-"), extension, |builder| builder.tempfile())
    }

    /// Creates an empty file in the folder of an output, where there is room for files of its size. It has no
    /// name, and a path that is valid in this process; where the system cannot do that, it has a hidden name that
    /// ends with `extension`.
    ///
    /// # Errors
    /// Errors of the folder.
    pub fn beside(output: &Path, extension: &str) -> io::Result<Scratch> {
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder)? {
            use std::os::unix::fs::PermissionsExt;
            // Opening the path again asks for permission, which the umask may have taken.
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
            return Ok(Scratch { path: path_of(&file).into(), kept: Kept::Handle { _file: file } });
        }
        Scratch::made(".apron-", extension, |builder| builder.tempfile_in(folder))
    }

    fn made(
        prefix: &str,
        extension: &str,
        make: impl FnOnce(&Builder<'_, '_>) -> io::Result<NamedTempFile>,
    ) -> io::Result<Scratch> {
        let mut names = names();
        let mut builder = Builder::new();
        builder.prefix(prefix).suffix(extension);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        let path = make(&builder)?.into_temp_path().keep()?;
        names.push(path.clone());
        Ok(Scratch { path: path.clone(), kept: Kept::Name { _name: Name(path) } })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Kept::Name { .. } = self.kept {
            // A file that is left in the temporary folder does no harm.
            let _ = fs::remove_file(self.path());
        }
    }
}

/// An entry of [`NAMES`], removed when dropped.
#[derive(Debug)]
struct Name(PathBuf);

impl Drop for Name {
    fn drop(&mut self) {
        names().retain(|name| *name != self.0);
    }
}

impl Draft {
    /// Creates an empty file in this folder.
    pub(crate) fn new(folder: &Path) -> io::Result<Draft> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder)? {
            return Ok(Draft::Unnamed(file, folder.into()));
        }
        Named::new(folder).map(Draft::Named)
    }

    /// Opens a file that has no name, such as a [`Scratch`] file, and empties it; `None` for other paths.
    pub(crate) fn in_place(path: &Path) -> io::Result<Option<Draft>> {
        #[cfg(target_os = "linux")]
        if is_nameless(path) {
            let file = fs::OpenOptions::new().read(true).write(true).truncate(true).open(path)?;
            return Ok(Some(Draft::InPlace(file)));
        }
        let _ = path;
        Ok(None)
    }

    pub(crate) fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file, _) | Draft::InPlace(file) => file,
            Draft::Named(named) => named.file.as_file(),
        }
    }

    /// Gives the file its final name, and atomically replaces an existing file.
    pub(crate) fn publish(self, target: &Path) -> io::Result<()> {
        Draft::publish_all(vec![(self, target)]).map_err(|(_, error)| error)
    }

    /// Gives files their final names: a signal that is [heard](discard_drafts) finds all of them published, or none.
    /// Returns the index of the first that cannot be published, and the reason.
    pub(crate) fn publish_all(drafts: Vec<(Draft, &Path)>) -> Result<(), (usize, io::Error)> {
        // Dropped after the lock: dropping a name locks the names.
        let mut left = Vec::new();
        let names = names();
        let published = drafts.into_iter().enumerate().map(|(index, (draft, target))| {
            let one = match draft {
                #[cfg(target_os = "linux")]
                Draft::Unnamed(file, folder) => named(&file, &folder, target),
                #[cfg(target_os = "linux")]
                Draft::InPlace(_) => Ok(()),
                Draft::Named(Named { file, name }) => {
                    left.push(name);
                    file.persist(target).map(drop).map_err(|error| error.error)
                }
            };
            one.map_err(|error| (index, error))
        });
        // All of them, so that none is dropped under the lock.
        let published = published.fold(Ok(()), Result::and);
        drop(names);
        published
    }
}

/// Names a file without a name, in place of an existing file.
#[cfg(target_os = "linux")]
fn named(file: &File, folder: &Path, target: &Path) -> io::Result<()> {
    match link(file, target) {
        // A link cannot replace a file, so the file first gets a temporary name to be renamed from.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let named = builder().make_in(folder, |path| link(file, path))?;
            named.persist(target).map(drop).map_err(|error| error.error)
        }
        linked => linked,
    }
}

impl Named {
    fn new(folder: &Path) -> io::Result<Named> {
        let mut names = names();
        let file = builder().tempfile_in(folder)?;
        names.push(file.path().into());
        Ok(Named { name: Name(file.path().into()), file })
    }
}

/// Builds hidden names, with permissions by the umask: temporary files are private by default, outputs are not.
fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".apron-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// Creates a file without a name; `None` if the file system does not support it, or could not name it later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> io::Result<Option<File>> {
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::os::unix::fs::OpenOptionsExt;

    if !Path::new("/proc/self/fd").exists() {
        return Ok(None);
    }
    let opened = fs::OpenOptions::new().read(true).write(true).custom_flags(OFlags::TMPFILE.bits() as i32).open(folder);
    match opened {
        Ok(file) => Ok(Some(file)),
        // Errors of file systems and kernels without such files. If the folder does not exist, creating a named file
        // reports it.
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Links a file without a name to this name.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    Ok(linkat(CWD, path_of(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Returns the path by which this process can open the file again.
#[cfg(target_os = "linux")]
fn path_of(file: &File) -> String {
    use std::os::fd::AsRawFd;

    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Whether a path is that of a regular file without a name.
#[cfg(target_os = "linux")]
pub(crate) fn is_nameless(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.nlink() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// A single test, because the names are global to the process.
    #[test]
    fn a_draft_with_a_name_is_published_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (target, at) = (folder.path().join("out"), folder.path());
        for text in ["first", "second"] {
            let draft = Draft::Named(Named::new(at).unwrap());
            draft.file().write_all(text.as_bytes()).unwrap();
            assert_eq!((names_in(at).iter().filter(|name| name.starts_with(".apron-")).count(), names().len()), (1, 1));
            draft.publish(&target).unwrap();
            assert_eq!((names_in(at), names().len()), (vec!["out".to_string()], 0));
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }
        drop(Named::new(at).unwrap());
        let (good, bad) = (at.join("out"), at.join("no/such"));
        let both = [&bad, &good].map(|target| (Draft::Named(Named::new(at).unwrap()), target.as_path()));
        assert_eq!(Draft::publish_all(both.into()).unwrap_err().0, 0);
        assert_eq!((names_in(at), names().len()), (vec!["out".to_string()], 0));
        let folder = at.join("made");
        drop(MadeFolder::new(&folder.join("deep")).unwrap());
        assert_eq!(names_in(at), ["out"]);
        let made = MadeFolder::new(&folder.join("deep")).unwrap();
        let scratch = Scratch::new("test").unwrap();
        let dropped = scratch.path().to_path_buf();
        assert!(dropped.exists() && names().len() == 1);
        drop(scratch);
        assert!(!dropped.exists() && names().is_empty());
        let draft = Named::new(at).unwrap();
        let scratch = Scratch::new("test").unwrap();
        assert_eq!(names_in(at).len(), 3);
        #[cfg(feature = "zarr")]
        let folder_draft = FolderDraft::beside(&at.join("out.zarr")).unwrap();
        #[cfg(feature = "zarr")]
        fs::write(folder_draft.path().join("chunk"), "").unwrap();
        discard_drafts();
        assert_eq!(names_in(at), ["out"]);
        assert!(!scratch.path().exists());
        // Dropping them would block: the names are locked for ever.
        std::mem::forget((draft, scratch, made));
        #[cfg(feature = "zarr")]
        std::mem::forget(folder_draft);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_draft_without_a_name_takes_a_files_place() {
        let folder = tempfile::tempdir().unwrap();
        let Some(file) = unnamed(folder.path()).unwrap() else { return };
        (&file).write_all(b"whole").unwrap();
        fs::write(folder.path().join("out"), "before").unwrap();
        assert_eq!(names_in(folder.path()), ["out"]);
        // As in `publish`, whose lock the other test may hold.
        let name = folder.path().join("again");
        link(&file, &name).unwrap();
        assert_eq!(link(&file, &folder.path().join("out")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::rename(&name, folder.path().join("out")).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "whole");
    }
}
