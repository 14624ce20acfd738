//! Files in the making, which leave nothing behind if they are not finished.
//!
//! On Linux a draft has no name (`O_TMPFILE`), so that the system frees it however the program ends. On file systems
//! without such files, and on other systems, it has a hidden name beside the output, which
//! [`discard_drafts`] removes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};

/// The names of drafts that have one. Whoever makes a name holds the lock until the name is here or gone.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn names() -> MutexGuard<'static, Vec<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the outputs that are not finished, for a program that is about to end, such as by a signal. No output is
/// begun or finished from then on: who tries that waits for ever.
///
/// It takes no memory, and it ends also where this thread is at work on a draft.
pub fn discard_drafts() {
    for _ in 0..200 {
        if let Ok(names) = NAMES.try_lock() {
            for name in names.iter() {
                let _ = fs::remove_file(name);
            }
            return std::mem::forget(names);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A file that goes away if it is not [published](Draft::publish).
pub(crate) enum Draft {
    /// One without a name, and the folder where it gets one.
    #[cfg(target_os = "linux")]
    Unnamed(File, PathBuf),
    Named(Named),
}

/// A file with a name, which goes away with it.
pub(crate) struct Named {
    // Dropped before its name is forgotten.
    file: NamedTempFile,
    name: Name,
}

/// A name among [`NAMES`], for as long as this is there.
struct Name(PathBuf);

impl Drop for Name {
    fn drop(&mut self) {
        names().retain(|name| *name != self.0);
    }
}

impl Draft {
    /// An empty file in this folder.
    pub(crate) fn new(folder: &Path) -> io::Result<Draft> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed(folder)? {
            return Ok(Draft::Unnamed(file, folder.into()));
        }
        Named::new(folder).map(Draft::Named)
    }

    pub(crate) fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file, _) => file,
            Draft::Named(named) => named.file.as_file(),
        }
    }

    /// Gives the file its name, at once in place of what had it.
    pub(crate) fn publish(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Draft::Unnamed(file, folder) => {
                let _names = names();
                match link(&file, target) {
                    // A link takes no file's place, and so the file gets another name to be renamed from.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let named = builder().make_in(folder, |path| link(&file, path))?;
                        named.persist(target).map(drop).map_err(|error| error.error)
                    }
                    linked => linked,
                }
            }
            Draft::Named(named) => named.publish(target),
        }
    }
}

impl Named {
    fn new(folder: &Path) -> io::Result<Named> {
        let mut names = names();
        let file = builder().tempfile_in(folder)?;
        names.push(file.path().into());
        Ok(Named { name: Name(file.path().into()), file })
    }

    fn publish(self, target: &Path) -> io::Result<()> {
        let Named { file, name } = self;
        let names = names();
        let renamed = file.persist(target).map(drop).map_err(|error| error.error);
        // In this order: to forget the name is to lock the names.
        drop(names);
        drop(name);
        renamed
    }
}

/// Hidden names, of files as the umask says: temporary files are private by default, and outputs are not.
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

/// A file without a name. `None` where the file system has no such files, or where it could not get a name later.
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
        // What file systems and kernels without such files say; where the folder is not there, whoever makes a file with
        // a name hears it.
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;

    let itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, itself, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names_in(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    /// One test, because the names are those of the process.
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
        assert!(Named::new(at).unwrap().publish(&at.join("no/such")).is_err());
        assert_eq!((names_in(at), names().len()), (vec!["out".to_string()], 0));
        let draft = Named::new(at).unwrap();
        assert_eq!(names_in(at).len(), 2);
        discard_drafts();
        assert_eq!(names_in(at), ["out"]);
        // To drop it would wait for the names, which are locked for ever.
        std::mem::forget(draft);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_draft_without_a_name_takes_a_files_place() {
        let folder = tempfile::tempdir().unwrap();
        let Some(file) = unnamed(folder.path()).unwrap() else { return };
        (&file).write_all(b"whole").unwrap();
        fs::write(folder.path().join("out"), "before").unwrap();
        assert_eq!(names_in(folder.path()), ["out"]);
        // As `publish` does, whose lock the other test may hold.
        let name = folder.path().join("again");
        link(&file, &name).unwrap();
        assert_eq!(link(&file, &folder.path().join("out")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::rename(&name, folder.path().join("out")).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "whole");
    }
}
