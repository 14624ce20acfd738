//! Outputs that a later run goes on with: `OUT.partial`, and `OUT.partial.json`, which says for what job it is and how many rows
//! are there. Rows count when the disk has them, so that no run goes on behind a piece that is half written.

use crate::atomic::Trouble;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two notes of the rows that are there: each waits for the disk.
const BETWEEN_NOTES: Duration = Duration::from_secs(2);

/// An output that is being written, and stays if the program ends.
#[derive(Debug)]
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    note: PathBuf,
    /// What the rows are computed from, and how.
    job: String,
    /// When rows were noted last.
    noted: Mutex<Option<Instant>>,
}

impl Partial {
    /// Opens what an earlier run of the job left, of rows of `row` bytes behind `start` bytes, or starts anew. Returns the number
    /// of rows that are there.
    pub(crate) fn open(target: &Path, job: &str, (start, row): (u64, u64)) -> Result<(Partial, u32), Trouble> {
        let [path, note] = [".partial", ".partial.json"].map(|more| with_more(target, more));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(format!("another run is writing {}", path.display()).into());
            }
            // Where files cannot be locked, nobody is kept out.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let rows = noted_rows(&note, job).filter(|&rows| {
            rows > 0 && file.metadata().is_ok_and(|facts| facts.len() >= start + u64::from(rows) * row)
        });
        let partial = Partial { file, path, note, job: job.into(), noted: Mutex::default() };
        if rows.is_none() {
            partial.file.set_len(0)?;
            partial.write_note(0)?;
        }
        Ok((partial, rows.unwrap_or(0)))
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
        self.file.sync_data()?;
        self.write_note(rows)?;
        *noted = Some(Instant::now());
        Ok(())
    }

    fn write_note(&self, rows: u32) -> io::Result<()> {
        let next = with_more(&self.note, ".next");
        fs::write(&next, json!({ "job": self.job, "rows": rows }).to_string())?;
        fs::rename(&next, &self.note)
    }

    /// Removes a file without rows, for a run that failed and began with `before` rows.
    pub(crate) fn discard_without_rows(&self, before: u32) {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if before == 0 && noted.is_none() {
            // The error of the run is told; files that cannot be removed are in its folder.
            let _ = fs::remove_file(&self.path).and(fs::remove_file(&self.note));
        }
    }

    /// Gives the file its final name.
    pub(crate) fn publish(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        fs::remove_file(&self.note)
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
