//! The table of resources and the committed machine code: the results of ptxas for the PTX.

use super::assemble::{self, Assembled, Ptxas};
use super::unchanged::{self, Unchanged};
use super::{Failure, Files, TARGETS, cubin_path, file_failure, ptx_path, split, table, targets};
use apron_abi::Family;

/// Architectures whose machine code is committed.
const KEPT: &[&str] = &["sm_90"];

pub(super) const RESOURCES: &str = "crates/plan/resources.csv";

/// The kernels of a family on an architecture.
struct Group<'a> {
    family: Family,
    target: &'static str,
    architecture: &'static str,
    /// The entries, each with the PTX that the architecture loads.
    texts: Vec<(&'static str, &'a [u8])>,
}

impl Group<'_> {
    fn name(&self) -> String {
        format!("{}_{}", self.family.name(), self.architecture)
    }

    fn keeps_code(&self) -> bool {
        KEPT.contains(&self.architecture)
    }

    fn cubin(&self, entry: &str) -> String {
        cubin_path(self.family.name(), entry, self.architecture)
    }

    /// Returns the group's line of `xtask/made.csv`, from the PTX and from the machine code in `files`.
    fn line(&self, files: &Files) -> String {
        let code = self.texts.iter().filter_map(|(entry, _)| files.get(&self.cubin(entry)));
        let code = code.filter(|_| self.keeps_code()).map(Vec::as_slice);
        unchanged::line(&self.name(), self.texts.iter().map(|(_, text)| *text).chain(code))
    }

    /// Returns the inputs of ptxas: entries whose machine code is committed are assembled one by one.
    fn works(&self) -> Vec<Work> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if self.keeps_code() {
            return self.texts.iter().map(|(entry, bytes)| Work { entry: Some(entry), text: text(bytes) }).collect();
        }
        let texts: Vec<String> = self.texts.iter().map(|(_, bytes)| text(bytes)).collect();
        vec![Work { entry: None, text: split::joined(texts.iter().map(String::as_str), self.target) }]
    }

    /// Returns the group's rows of the table of resources.
    fn rows(&self, table: &str) -> Vec<String> {
        let middle = format!(",{},{},", self.target, self.architecture);
        let of_group = |line: &&str| line.starts_with(&format!("{}_", self.family.name())) && line.contains(&middle);
        table.lines().filter(of_group).map(|line| format!("{line}\n")).collect()
    }
}

/// An input of ptxas.
struct Work {
    entry: Option<&'static str>,
    text: String,
}

/// Returns the groups of a family.
fn groups(family: Family, ptx: &Files) -> Vec<Group<'_>> {
    let mut groups = Vec::new();
    for (target, architectures) in targets(family) {
        // The file of the newest target up to this architecture; the lint reports missing files.
        let newest = |entry: &str| {
            let older = TARGETS.iter().rev().skip_while(|(older, _)| *older != target);
            let mut paths = older.map(|(older, _)| ptx_path(family.name(), entry, older));
            paths.find_map(|path| ptx.get(&path)).map(Vec::as_slice)
        };
        let texts: Vec<_> =
            table(family).iter().filter_map(|expected| Some((expected.entry, newest(expected.entry)?))).collect();
        let group = |&architecture| Group { family, target, architecture, texts: texts.clone() };
        groups.extend(architectures.iter().map(group));
    }
    groups
}

/// The results of ptxas.
pub(super) struct Made {
    /// The table of resources and the machine code.
    pub(super) files: Files,
    /// Lines of `xtask/made.csv`.
    pub(super) lines: Vec<String>,
    pub(super) failures: Vec<Failure>,
}

/// Assembles the kernels of the wanted families for every architecture; results of unchanged inputs are taken from the
/// files `before`.
pub(super) fn assemble_all(
    ptxas: &Ptxas,
    ptx: &Files,
    wanted: impl Fn(Family) -> bool,
    (before, unchanged): (&Files, &Unchanged),
) -> Result<Made, String> {
    let mut made = Made { files: Files::new(), lines: Vec::new(), failures: Vec::new() };
    let resources = before.get(RESOURCES).map(|table| String::from_utf8_lossy(table)).unwrap_or_default();
    let (mut rows, mut works) = (Vec::new(), Vec::new());
    let groups: Vec<_> =
        Family::ALL.into_iter().filter(|family| wanted(*family)).flat_map(|of| groups(of, ptx)).collect();
    for group in &groups {
        let line = group.line(before);
        if !unchanged.has(&line) {
            works.extend(group.works().into_iter().map(|work| (group, work)));
            continue;
        }
        made.lines.push(line);
        rows.extend(group.rows(&resources));
        let cubins = group.texts.iter().map(|(entry, _)| group.cubin(entry));
        made.files.extend(cubins.filter_map(|path| Some((path.clone(), before.get(&path)?.clone()))));
    }
    // The longest first, to balance the load of the cores.
    works.sort_by_key(|(_, work)| std::cmp::Reverse(work.text.len()));
    let results =
        super::on_all_cores(&works, |worker, (group, work)| ptxas.assemble(worker, &work.text, group.architecture));
    let mut spoilt = Vec::new();
    for ((group, work), assembled) in works.iter().zip(results) {
        let Group { family, target, architecture, .. } = group;
        let name = work.entry.map_or(family.name().into(), |entry| ptx_path(family.name(), entry, target));
        match assembled? {
            Assembled::Kernels(all, code) => {
                let complaints = assemble::complaints(&name, architecture, &all);
                spoilt.extend((!complaints.is_empty()).then(|| group.name()));
                made.failures.extend(complaints);
                rows.extend(all.into_iter().map(|row| {
                    let (registers, spills, shared) = (row.registers, row.spill_bytes, row.static_shared_bytes);
                    format!("{},{target},{architecture},{registers},{spills},{shared}\n", row.entry)
                }));
                if let Some(entry) = work.entry {
                    made.files.insert(group.cubin(entry), code);
                }
            }
            Assembled::UnknownArchitecture => {
                spoilt.push(group.name());
                println!("note: ptxas {} does not know {architecture}: {name} not assembled for it", ptxas.version);
            }
            Assembled::Refused(said) => {
                spoilt.push(group.name());
                made.failures.push(file_failure(&name, &said, &format!("PTX that ptxas takes for {architecture}")));
            }
        }
    }
    // Groups that spill are assembled each time.
    let is_new =
        |group: &&Group| works.iter().any(|(of, _)| of.name() == group.name()) && !spoilt.contains(&group.name());
    let new: Vec<String> = groups.iter().filter(is_new).map(|group| group.line(&made.files)).collect();
    made.lines.extend(new);
    rows.sort();
    let head = format!("# ptxas {}\nentry,target,arch,registers,spill_bytes,static_shared_bytes\n", ptxas.version);
    made.files.insert(RESOURCES.into(), (head + &rows.concat()).into_bytes());
    Ok(made)
}
