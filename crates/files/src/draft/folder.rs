//! Drafts that are folders: under a hidden name next to the output, until they are whole.

use super::{Name, names};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::thread;
use std::time::Duration;
use tempfile::Builder;

/// Locked for reading while a file of a folder is written.
static FILES: RwLock<()> = RwLock::new(());

/// Whether no file may be written any more: the folders are about to be removed.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Lets a file of a draft be written, until the result is dropped. It blocks for ever if drafts have been discarded.
pub(crate) fn writing() -> RwLockReadGuard<'static, ()> {
    let files = FILES.read().unwrap_or_else(PoisonError::into_inner);
    if ENDED.load(Ordering::SeqCst) {
        drop(files);
        loop {
            thread::park();
        }
    }
    files
}

/// Prevents further files from being written, and waits briefly until those that are being written are complete.
pub(super) fn stop_writing() {
    ENDED.store(true, Ordering::SeqCst);
    for _ in 0..200 {
        if FILES.try_write().is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// A folder that is removed unless it is [published](FolderDraft::publish). It is locked, so that a later run
/// recognises one that is no longer written.
pub(crate) struct FolderDraft {
    name: Name,
    /// `None` where folders cannot be locked.
    _lock: Option<File>,
}

impl FolderDraft {
    /// Creates an empty folder next to an output, with permissions by the umask.
    pub(crate) fn beside(output: &Path) -> io::Result<FolderDraft> {
        let mut names = names();
        loop {
            let path = builder(&prefix(output)).tempdir_in(folder_of(output))?.keep();
            let lock = File::open(&path).ok().map(|file| (file.try_lock(), file));
            // Another run took it for one that was left behind, before it was locked.
            if matches!(lock, Some((Err(TryLockError::WouldBlock), _))) || !path.exists() {
                continue;
            }
            names.push(path.clone());
            return Ok(FolderDraft {
                name: Name(path),
                _lock: lock.and_then(|(locked, file)| locked.ok().map(|()| file)),
            });
        }
    }

    /// Removes drafts of the same output that killed runs left: unlocked folders with the names of its drafts. `own` is
    /// the file that every draft contains unless it is empty. Errors are ignored: nothing depends on the removal.
    pub(crate) fn remove_left(output: &Path, own: &str) {
        let prefix = prefix(output);
        for entry in fs::read_dir(folder_of(output)).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            // A folder that was moved aside may be a complete output.
            let is_draft = name.starts_with(&prefix) && !name.ends_with(ASIDE);
            if !is_draft || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let locked = File::open(&path).and_then(|file| Ok(file.try_lock().map(|()| file)?));
            if locked.is_ok() && path.join(own).is_file() {
                let _ = fs::remove_dir_all(&path);
            } else if locked.is_ok() {
                let _ = fs::remove_dir(&path);
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.name.0
    }

    /// Gives the folder its final name. A folder that already has that name takes the draft's, and is removed.
    pub(crate) fn publish(self, target: &Path) -> io::Result<()> {
        let names = names();
        let renamed = if target.exists() { exchange(self.path(), target) } else { fs::rename(self.path(), target) };
        // Before the draft is dropped, which locks the names.
        drop(names);
        renamed
    }
}

impl Drop for FolderDraft {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path());
    }
}

/// Exchanges the names of two folders: at once, where the system can.
pub(crate) fn exchange(draft: &Path, target: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, draft, CWD, target, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    exchange_by_steps(draft, target)
}

fn exchange_by_steps(draft: &Path, target: &Path) -> io::Result<()> {
    let mut aside = draft.as_os_str().to_os_string();
    aside.push(ASIDE);
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(draft, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::rename(&aside, draft)
}

/// Ends the name of an output while a draft takes its place by steps.
const ASIDE: &str = "-before";

/// Returns the folder that an output is in.
fn folder_of(output: &Path) -> &Path {
    output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the start of the names of an output's drafts: with its name, or the first letters of a long one.
fn prefix(output: &Path) -> String {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    format!(".apron-{}-", name.chars().take(40).collect::<String>())
}

/// As for files.
fn builder(prefix: &str) -> Builder<'_, 'static> {
    let mut builder = Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_exchanged_by_steps_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, file) in [("draft", "new"), ("out", "old")] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join(file), "").unwrap();
        }
        exchange_by_steps(&path("draft"), &path("out")).unwrap();
        assert!(path("out/new").exists() && path("draft/old").exists());
        assert!(exchange_by_steps(&path("no"), &path("out")).is_err());
        assert!(path("out/new").exists());
        exchange(&path("draft"), &path("out")).unwrap();
        assert!(path("out/old").exists() && path("draft/new").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
