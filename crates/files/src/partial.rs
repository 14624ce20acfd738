//! Outputs that a later run continues: the file or folder `OUT.partial`, and `OUT.partial.json`, which has the name of
//! the job and the number of complete rows. Rows count once they are on the disk, so that no run continues behind a
//! piece that is half written.

use crate::atomic::Trouble;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two notes of the complete rows: each note waits for the disk.
const BETWEEN_NOTES: Duration = Duration::from_secs(2);

/// An output that is being written, and stays if the program ends.
#[derive(Debug)]
pub(crate) struct Partial {
    /// The file, or the folder.
    file: File,
    is_folder: bool,
    path: PathBuf,
    note: PathBuf,
    /// What the rows are computed from, and how.
    job: String,
    /// When rows were noted last.
    noted: Mutex<Option<Instant>>,
}

impl Partial {
    /// Opens the output that an earlier run of the job left, of `start` bytes and then rows of `row` bytes, or starts
    /// anew. Returns the number of complete rows.
    ///
    /// # Errors
    /// Those of the system; for a file with content but without a note, which no earlier run has left.
    pub(crate) fn open(target: &Path, job: &str, (start, row): (u64, u64)) -> Result<(Partial, u32), Trouble> {
        let [path, note] = [".partial", ".partial.json"].map(|more| with_more(target, more));
        let file = open_own(OpenOptions::new().read(true).write(true).create(true).truncate(false), &path)?;
        lock(&file, &path)?;
        let facts = file.metadata()?;
        if !facts.is_file() || facts.len() > 0 && !note.is_file() {
            return Err(foreign(&path));
        }
        let rows = noted_rows(&note, job).filter(|&rows| rows > 0 && facts.len() >= start + u64::from(rows) * row);
        let partial = Partial { file, is_folder: false, path, note, job: job.into(), noted: Mutex::default() };
        if rows.is_none() {
            partial.file.set_len(0)?;
            partial.write_note(0)?;
        }
        Ok((partial, rows.unwrap_or(0)))
    }

    /// Opens the folder that an earlier run of the job left, or starts an empty one. Returns the number of rows that
    /// are there. A folder of another job is emptied if it has a note or the file `own`.
    #[cfg(feature = "zarr")]
    pub(crate) fn open_folder(target: &Path, job: &str, own: &str) -> Result<(Partial, u32), Trouble> {
        let [path, note] = [".partial", ".partial.json"].map(|more| with_more(target, more));
        let is_new = match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            made => made.map(|()| true)?,
        };
        let file = File::open(&path)?;
        lock(&file, &path)?;
        let rows = noted_rows(&note, job).filter(|&rows| rows > 0 && !is_new);
        if rows.is_none() {
            let is_empty = fs::read_dir(&path)?.next().is_none();
            if !is_empty && !note.is_file() && !path.join(own).is_file() {
                return Err(foreign(&path));
            }
            for entry in fs::read_dir(&path)? {
                let entry = entry?;
                let is_folder = entry.file_type()?.is_dir();
                if is_folder { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) }?;
            }
        }
        let partial = Partial { file, is_folder: true, path, note, job: job.into(), noted: Mutex::default() };
        if rows.is_none() {
            partial.write_note(0)?;
        }
        Ok((partial, rows.unwrap_or(0)))
    }

    #[cfg(feature = "zarr")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Notes from time to time that all rows up to `rows` are written.
    pub(crate) fn note(&self, rows: u32) -> io::Result<()> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_some_and(|noted| noted.elapsed() < BETWEEN_NOTES) {
            return Ok(());
        }
        self.sync()?;
        self.write_note(rows)?;
        *noted = Some(Instant::now());
        Ok(())
    }

    /// Waits until the disk has what was written.
    fn sync(&self) -> io::Result<()> {
        // The files of a folder are too many to wait for each.
        #[cfg(target_os = "linux")]
        if self.is_folder {
            return Ok(rustix::fs::syncfs(&self.file)?);
        }
        self.file.sync_data()
    }

    fn write_note(&self, rows: u32) -> io::Result<()> {
        let next = with_more(&self.note, ".next");
        let mut file = open_own(OpenOptions::new().write(true).create(true).truncate(true), &next)?;
        file.write_all(json!({ "job": self.job, "rows": rows }).to_string().as_bytes())?;
        fs::rename(&next, &self.note)
    }

    /// Removes an output without rows, for a run that failed and began with `before` rows.
    pub(crate) fn discard_without_rows(&self, before: u32) {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if before == 0 && noted.is_none() {
            // The run's own error is reported; files that cannot be removed stay in the output's folder.
            let removed = if self.is_folder { fs::remove_dir_all(&self.path) } else { fs::remove_file(&self.path) };
            let _ = removed.and(fs::remove_file(&self.note));
        }
    }

    /// Gives the file its final name.
    pub(crate) fn publish(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        fs::remove_file(&self.note)
    }

    /// Gives the folder its final name. A folder that already has that name is removed.
    #[cfg(feature = "zarr")]
    pub(crate) fn publish_folder(self, target: &Path) -> io::Result<()> {
        // Removed first: later it would stand beside a replaced folder that it does not describe.
        fs::remove_file(&self.note)?;
        if !target.exists() {
            return fs::rename(&self.path, target);
        }
        crate::draft::exchange(&self.path, target)?;
        fs::remove_dir_all(&self.path)
    }
}

/// Opens a file by its own name; a symbolic link leads to somebody else's file.
fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    options.open(path).map_err(|error| match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_symlink() => io::Error::other(format!("{} is a symbolic link", path.display())),
        _ => error,
    })
}

/// Returns the error for a file or a folder that this program did not make.
fn foreign(path: &Path) -> Trouble {
    format!("{} is there, and not of an earlier run", path.display()).into()
}

/// Locks a file or a folder against other runs.
fn lock(file: &File, path: &Path) -> Result<(), Trouble> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(format!("another run is writing {}", path.display()).into()),
        // Where files cannot be locked, other runs are not kept out.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Returns the rows that a note says are there, if it is one for the job.
fn noted_rows(note: &Path, job: &str) -> Option<u32> {
    let note: Value = serde_json::from_slice(&fs::read(note).ok()?).ok()?;
    if note["job"] != *job {
        return None;
    }
    note["rows"].as_u64()?.try_into().ok()
}

fn with_more(path: &Path, more: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(more);
    name.into()
}
