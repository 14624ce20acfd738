//! Folders that are made for outputs, and removed where no output came.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Folders that this process made, each before the one that it is in.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A folder for outputs. If it was made for them, it is removed when this is dropped, and by
/// [`discard_drafts`](crate::discard_drafts), unless there is something in it.
#[derive(Debug)]
pub struct MadeFolder(Vec<PathBuf>);

impl MadeFolder {
    /// Creates a folder and its parents, if they do not exist.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn new(path: &Path) -> io::Result<MadeFolder> {
        let absent = path.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = MadeFolder(absent.map(PathBuf::from).collect());
        MADE.lock().unwrap_or_else(PoisonError::into_inner).extend(made.0.iter().cloned());
        fs::create_dir_all(path)?;
        Ok(made)
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|folder| !self.0.contains(folder));
        remove_empty(&self.0);
    }
}

/// Removes the empty ones of all folders that were made.
pub(super) fn discard() {
    if let Ok(made) = MADE.try_lock() {
        remove_empty(&made);
    }
}

fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        // Fails for a folder with an output in it, which stays.
        let _ = fs::remove_dir(folder);
    }
}
