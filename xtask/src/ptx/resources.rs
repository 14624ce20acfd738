//! The table of resources, and the machine code that is committed: what ptxas makes of the PTX.

use super::assemble::{self, Assembled, Ptxas};
use super::{Failure, Files, TARGETS, cubin_path, file_failure, ptx_path, split, table, targets};
use apron_abi::Family;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// Architectures whose machine code is committed as well.
const KEPT: &[&str] = &["sm_90"];

pub(super) const RESOURCES: &str = "crates/plan/resources.csv";

/// Hashes of the texts that were assembled only for their resources, a line per family and architecture.
pub(super) const ASSEMBLED: &str = "xtask/assembled.csv";

/// An input of ptxas.
struct Work {
    family: Family,
    target: &'static str,
    architecture: &'static str,
    /// The entry whose machine code is kept; `None` if all entries of a family are assembled together, only for their
    /// resources.
    entry: Option<&'static str>,
    text: String,
}

impl Work {
    /// Returns its line in the table of hashes.
    fn line(&self) -> String {
        format!("{}_{},{}\n", self.family.name(), self.architecture, self.hash())
    }

    /// Returns the FNV-1a hash of the text.
    fn hash(&self) -> String {
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        format!("{:016x}", self.text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

/// The tables as they are committed.
#[derive(Default)]
pub(super) struct Before {
    resources: String,
    assembled: String,
}

impl Before {
    pub(super) fn read() -> Before {
        let read = |path| std::fs::read_to_string(crate::root().join(path)).unwrap_or_default();
        Before { resources: read(RESOURCES), assembled: read(ASSEMBLED) }
    }

    /// Returns the rows of what this version of ptxas made of the same text, if it did. Each day it does not count for one
    /// architecture in turn.
    fn rows(&self, ptxas: &Ptxas, work: &Work, day: u64) -> Option<Vec<String>> {
        let others = TARGETS.iter().flat_map(|(_, architectures)| *architectures).filter(|of| !KEPT.contains(of));
        let in_turn = others.clone().nth(day as usize % others.count());
        let version = head(ptxas, "");
        let is_known = [&self.resources, &self.assembled].iter().all(|table| table.starts_with(&version));
        let same = self.assembled.split_inclusive('\n').any(|line| line == work.line());
        if work.entry.is_some() || in_turn == Some(&work.architecture) || !is_known || !same {
            return None;
        }
        let of_family = |line: &&str| line.starts_with(&format!("{}_", work.family.name()));
        let middle = format!(",{},{},", work.target, work.architecture);
        let rows = self.resources.lines().filter(of_family).filter(|line| line.contains(&middle));
        Some(rows.map(|line| format!("{line}\n")).collect())
    }
}

/// Returns the first lines of a table.
fn head(ptxas: &Ptxas, columns: &str) -> String {
    format!("# ptxas {}\n{columns}", ptxas.version)
}

/// Assembles the kernels of the wanted families for every architecture; returns the table of resources, that of hashes, and the
/// machine code to be committed. Rows of the tables `before` are taken over where the text has not changed.
pub(super) fn assemble_all(
    ptxas: &Ptxas,
    ptx: &Files,
    wanted: impl Fn(Family) -> bool,
    before: &Before,
) -> Result<(Files, Vec<Failure>), String> {
    let (mut made, mut lines, mut failures) = (Files::new(), Vec::new(), Vec::new());
    let mut works = Vec::new();
    for family in Family::ALL.into_iter().filter(|family| wanted(*family)) {
        for (target, architectures) in targets(family) {
            // The file of the newest target up to this one; missing files are reported elsewhere.
            let newest = |entry: &str| {
                let older = TARGETS.iter().rev().skip_while(|(older, _)| *older != target);
                let mut paths = older.map(|(older, _)| ptx_path(family.name(), entry, older));
                paths.find_map(|path| ptx.get(&path)).map(|text| String::from_utf8_lossy(text).into_owned())
            };
            let texts: Vec<_> =
                table(family).iter().filter_map(|expected| Some((expected.entry, newest(expected.entry)?))).collect();
            for &architecture in architectures {
                if KEPT.contains(&architecture) {
                    let alone = texts.iter().map(|(entry, text)| (Some(*entry), text.clone()));
                    works.extend(alone.map(|(entry, text)| Work { family, target, architecture, entry, text }));
                } else {
                    let text = split::joined(texts.iter().map(|(_, text)| text.as_str()), target);
                    works.push(Work { family, target, architecture, entry: None, text });
                }
            }
        }
    }
    let mut hashes = Vec::new();
    let day = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / 86400);
    works.retain(|work| match before.rows(ptxas, work, day) {
        Some(rows) => {
            lines.extend(rows);
            hashes.push(work.line());
            false
        }
        None => true,
    });
    // The longest first, to balance the load of the cores.
    works.sort_by_key(|work| std::cmp::Reverse(work.text.len()));
    for (work, assembled) in works.iter().zip(assemble_each(ptxas, &works)) {
        let Work { family, target, architecture, entry, .. } = work;
        let name = entry.map_or(family.name().into(), |entry| ptx_path(family.name(), entry, target));
        match assembled? {
            Assembled::Kernels(all, code) => {
                let complaints = assemble::complaints(&name, architecture, &all);
                // What spills is assembled each time.
                hashes.extend((entry.is_none() && complaints.is_empty()).then(|| work.line()));
                failures.extend(complaints);
                lines.extend(all.into_iter().map(|row| {
                    let (registers, spills, shared) = (row.registers, row.spill_bytes, row.static_shared_bytes);
                    format!("{},{target},{architecture},{registers},{spills},{shared}\n", row.entry)
                }));
                if let Some(entry) = entry {
                    made.insert(cubin_path(family.name(), entry, architecture), code);
                }
            }
            Assembled::UnknownArchitecture => {
                println!("note: ptxas {} does not know {architecture}: {name} not assembled for it", ptxas.version);
            }
            Assembled::Refused(said) => {
                failures.push(file_failure(&name, &said, &format!("PTX that ptxas takes for {architecture}")));
            }
        }
    }
    lines.sort();
    hashes.sort();
    let table = |columns: &str, lines: &[String]| (head(ptxas, columns) + &lines.concat()).into_bytes();
    made.insert(RESOURCES.into(), table("entry,target,arch,registers,spill_bytes,static_shared_bytes\n", &lines));
    made.insert(ASSEMBLED.into(), table("family_arch,hash\n", &hashes));
    Ok((made, failures))
}

/// Assembles texts, one per core at a time; some take minutes.
fn assemble_each(ptxas: &Ptxas, works: &[Work]) -> Vec<Result<Assembled, String>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, work)) = works.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((at, ptxas.assemble(at, &work.text, work.architecture)));
        }
        done
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, assembled)| assembled).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_assembled_before_is_not_again_but_in_turn() {
        let ptxas = Ptxas { path: "ptxas".into(), version: "13.5.37".into() };
        let (family, text) = (Family::Limits, "text".to_string());
        let work = Work { family, target: "sm_75", architecture: "sm_80", entry: None, text };
        let row = "limits_read,sm_75,sm_80,32,0,0";
        let table = |hash: &str, version: &str| Before {
            resources: format!(
                "# ptxas {version}\ncolumns\nlimits_read,sm_75,sm_75,9,0,0\n{row}\nmarch_x,sm_75,sm_80,1,0,0\n"
            ),
            assembled: format!("# ptxas {version}\ncolumns\nlimits_sm_80,{hash}\n"),
        };
        let before = table(&work.hash(), "13.5.37");
        let rows: Vec<_> = (0..6).map(|day| before.rows(&ptxas, &work, day)).collect();
        assert_eq!(rows.iter().filter(|rows| rows.is_none()).count(), 1);
        assert!(rows.iter().flatten().all(|rows| rows[..] == [format!("{row}\n")]), "{rows:?}");
        for other in [table("0", "13.5.37"), table(&work.hash(), "13.6.1"), Before::default()] {
            assert!((0..6).all(|day| other.rows(&ptxas, &work, day).is_none()));
        }
        let alone = Work { entry: Some("limits_read"), ..work };
        assert!((0..6).all(|day| before.rows(&ptxas, &alone, day).is_none()));
    }

    #[test]
    fn hashes_are_those_of_fnv() {
        let of =
            |text: &str| Work { family: Family::Limits, target: "", architecture: "", entry: None, text: text.into() };
        // From the test vectors of its authors.
        assert_eq!((of("").hash(), of("foobar").hash()), ("cbf29ce484222325".into(), "85944171f73967e8".into()));
    }
}
