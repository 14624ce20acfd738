//! `xtask/made.csv`, the hashes of the inputs of the committed files: files with unchanged inputs are not regenerated.

use super::Files;
use crate::at;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The table: one line per compilation or assembly, with its name and the hash of its inputs and results.
pub(super) const MADE: &str = "xtask/made.csv";

/// Files and folders on which the text of the PTX depends.
const SOURCES: [&str; 5] =
    ["kernels-gpu/Cargo.toml", "kernels-gpu/src", "crates/abi", "xtask/src/ptx/build.rs", "xtask/src/ptx/split.rs"];

/// Days within which each file is regenerated once, even if nothing has changed.
const DAYS: u64 = 7;

/// The committed table; by default without lines.
#[derive(Default)]
pub(super) struct Unchanged {
    lines: BTreeSet<String>,
    day: u64,
}

impl Unchanged {
    /// Reads the table; without lines if other compilers than those of `head` made it.
    pub(super) fn read(head: &str) -> Unchanged {
        let day = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86400);
        Unchanged::new(&std::fs::read_to_string(crate::root().join(MADE)).unwrap_or_default(), head, day)
    }

    fn new(table: &str, head: &str, day: u64) -> Unchanged {
        let lines = table.strip_prefix(head).unwrap_or("").lines().map(String::from).collect();
        Unchanged { lines, day }
    }

    /// Whether the table has the line; false on one in [`DAYS`] days, so that the file is regenerated.
    pub(super) fn has(&self, line: &str) -> bool {
        let name = line.split(',').next().unwrap_or("");
        let is_in_turn = fnv(SEED, name.as_bytes()) % DAYS == self.day % DAYS;
        !is_in_turn && self.lines.contains(line)
    }
}

/// Returns the first lines of the table.
pub(super) fn head(compiler: &str, ptxas: &str) -> String {
    format!("# {compiler}; ptxas {ptxas}\nname,hash\n")
}

/// Returns the line of the table for the result `name`.
pub(super) fn line<'a>(name: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    // The lengths are hashed, too, so that parts with other boundaries give other hashes.
    let step = |hash, part: &[u8]| fnv(fnv(hash, &(part.len() as u64).to_le_bytes()), part);
    format!("{name},{:016x}", parts.into_iter().fold(SEED, step))
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the FNV-1a hash of `bytes` after others whose hash is `hash`.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Reads all sources.
pub(super) fn sources() -> Result<Files, String> {
    let mut files = Files::new();
    let mut left: Vec<PathBuf> = SOURCES.iter().map(|path| crate::root().join(path)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).map_err(|error| at(&path, error))?;
            left.extend(entries.flatten().map(|entry| entry.path()));
        } else {
            let name = path.strip_prefix(crate::root()).unwrap_or(Path::new("")).display().to_string();
            files.insert(name, std::fs::read(&path).map_err(|error| at(&path, error))?);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_not_again_but_in_turn() {
        let (head, line) = (head("rustc 1", "2"), line("limits_sm_80", [&b"text"[..]]));
        let of = |table: &str, day| Unchanged::new(table, &head, day);
        let table = format!("{head}{line}\n");
        let days = (0..DAYS).filter(|&day| of(&table, day).has(&line));
        assert_eq!(days.count() as u64, DAYS - 1);
        let never = |table: &str, line: &str| (0..DAYS).all(|day| !of(table, day).has(line));
        assert!(never(&table, &super::line("limits_sm_80", [&b"other"[..]])));
        assert!(never(&table.replace("rustc 1", "rustc 2"), &line) && never("", &line));
    }

    #[test]
    fn hashes_are_those_of_fnv() {
        // From the test vectors of the hash's authors.
        assert_eq!([fnv(SEED, b""), fnv(SEED, b"foobar")], [0xcbf2_9ce4_8422_2325, 0x8594_4171_f739_67e8]);
        assert_ne!(line("x", [&b"ab"[..], b"c"]), line("x", [&b"a"[..], b"bc"]));
    }

    #[test]
    fn sources_are_of_kernels_and_their_table() {
        let sources = sources().unwrap();
        assert!(["kernels-gpu/src/lib.rs", "crates/abi/src/lib.rs"].iter().all(|name| sources.contains_key(*name)));
    }
}
