//! `cargo xtask ptx`: makes the committed PTX files, and checks them.

mod assemble;
mod build;
mod lint;
mod text;

use crate::at;
use apron_abi::{Family, Kernel, KernelFacts};
use assemble::{Assembled, Ptxas};
use build::Toolchain;
use lint::Expected;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use text::Module;

/// The GPUs that files are made for, each with the architectures that load its files.
const TARGETS: [(&str, &[&str]); 2] =
    [("sm_75", &["sm_75", "sm_80", "sm_86", "sm_89"]), ("sm_90", &["sm_90", "sm_100", "sm_120"])];

/// Those whose machine code is kept beside the PTX that was made for them.
const KEPT: &[&str] = &["sm_90"];

const RESOURCES: &str = "resources.csv";

/// Something that a check found.
#[derive(Debug, PartialEq, Eq)]
struct Failure {
    file: String,
    /// Empty where no entry is to blame.
    entry: String,
    found: String,
    expected: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { file, entry, found, expected } = self;
        let entry = if entry.is_empty() { "-" } else { entry };
        write!(f, "{file}: {entry}: found {found}; expected {expected}")
    }
}

/// 90 of `sm_90`.
fn number(target: &str) -> u32 {
    target.trim_start_matches("sm_").parse().expect("a target is sm_ and a number")
}

fn folder() -> PathBuf {
    crate::root().join("kernels-gpu/ptx")
}

/// Every file: family, target, the architectures that load it, name.
fn files() -> impl Iterator<Item = (Family, &'static str, &'static [&'static str], String)> {
    Family::ALL.into_iter().flat_map(|family| {
        let runs = move |(target, _): &(&'static str, _)| number(target) >= family.lowest_target();
        TARGETS.into_iter().filter(runs).map(move |(target, architectures)| {
            (family, target, architectures, format!("{}.{target}.ptx", family.name()))
        })
    })
}

/// Writes every PTX file, or those of one family, and the table of resources.
pub(crate) fn generate(only: Option<&str>) -> Result<(), String> {
    if let Some(name) = only.filter(|name| Family::ALL.iter().all(|family| family.name() != *name)) {
        return Err(format!("no family of kernels is called '{name}'"));
    }
    let wanted = |family: Family| only.is_none_or(|name| name == family.name());
    let toolchain = Toolchain::find()?;
    println!("{}", toolchain.name);
    std::fs::create_dir_all(folder()).map_err(|error| at(&folder(), error))?;
    for (family, target, _, name) in files().filter(|(family, ..)| wanted(*family)) {
        let path = folder().join(&name);
        let text = toolchain.build(family, target)?;
        println!("{name}: {} lines", text.lines().count());
        std::fs::write(&path, text).map_err(|error| at(&path, error))?;
    }
    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(why) => {
            println!("note: {RESOURCES} is left as it was: {why}");
            return Ok(());
        }
    };
    let (mut made, failures) = assemble_all(&ptxas, wanted)?;
    if let Some(family) = only {
        let table = std::fs::read_to_string(folder().join(RESOURCES)).unwrap_or_default();
        let merged = with_rows(&table, family, &String::from_utf8_lossy(&made[RESOURCES]));
        made.insert(RESOURCES.into(), merged.into_bytes());
    }
    for (name, contents) in made {
        let path = folder().join(name);
        std::fs::write(&path, contents).map_err(|error| at(&path, error))?;
    }
    verdict(&failures)
}

/// Checks every PTX file: as its source makes it, without faults, accepted by ptxas.
pub(crate) fn check() -> Result<(), String> {
    let (mut failures, assembled) = std::thread::scope(|scope| {
        // Both take minutes.
        let assembled = scope.spawn(|| Ptxas::find().map(|ptxas| assemble_all(&ptxas, |_| true)));
        (compare_all(), assembled.join().expect("no panic"))
    });
    match assembled {
        Ok(assembled) => {
            let (made, found) = assembled?;
            failures.extend(found);
            failures.extend(compare_assembled(&made, |name| std::fs::read(folder().join(name)).unwrap_or_default()));
        }
        Err(why) => failures.push(file_failure("", &why, "an assembler")),
    }
    verdict(&failures)
}

/// Compares every file with what its source makes, and looks for faults.
fn compare_all() -> Vec<Failure> {
    let mut failures = Vec::new();
    let toolchain = Toolchain::find().map_err(|why| failures.push(file_failure("", &why, "a compiler"))).ok();
    let mut known = BTreeSet::from([RESOURCES.to_string()]);
    for (family, target, _, name) in files() {
        known.insert(name.clone());
        known.extend(KEPT.contains(&target).then(|| cubin(&name)));
        let Ok(text) = std::fs::read_to_string(folder().join(&name)) else {
            failures.push(file_failure(&name, "no file", "one, made by `cargo xtask ptx`"));
            continue;
        };
        let module = Module::parse(&text);
        failures.extend(lint::lint(&name, &module, target, &table(family)));
        match toolchain.as_ref().map(|toolchain| toolchain.build(family, target)) {
            Some(Ok(rebuilt)) => failures.extend(compare(&name, &text, &rebuilt)),
            Some(Err(why)) => failures.push(file_failure(&name, &why, "a build")),
            None => {}
        }
    }
    for entry in std::fs::read_dir(folder()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !known.contains(&name) {
            failures.push(file_failure(&name, "a file", "none of this name"));
        }
    }
    failures
}

/// The family's entries in the kernel table.
fn table(family: Family) -> Vec<Expected> {
    let facts = Kernel::ALL.iter().map(|kernel| kernel.facts()).filter(|facts| facts.family == family);
    facts
        .map(|KernelFacts { entry, barriers, block: [x, y], residents, .. }| Expected {
            entry,
            barriers,
            threads: x * y,
            residents,
        })
        .collect()
}

fn file_failure(file: &str, found: &str, expected: &str) -> Failure {
    Failure { file: file.into(), entry: String::new(), found: found.into(), expected: expected.into() }
}

fn verdict(failures: &[Failure]) -> Result<(), String> {
    for failure in failures {
        eprintln!("{failure}");
    }
    match failures.len() {
        0 => Ok(()),
        count => Err(format!("PTX: {count} failures")),
    }
}

/// Compares a committed file with what its source makes now.
fn compare(name: &str, committed: &str, rebuilt: &str) -> Vec<Failure> {
    let compiler = |text: &str| text.lines().next().unwrap_or("").to_string();
    // Another compiler writes other text: then only what a launch sees can be compared.
    if compiler(committed) != compiler(rebuilt) {
        let (was, is) = (Module::parse(committed), Module::parse(rebuilt));
        println!("note: {name} is of another compiler ({}): comparing entries only", was.header);
        return lint::compare(name, &was, &is);
    }
    first_difference(name, committed, rebuilt).into_iter().collect()
}

fn first_difference(name: &str, committed: &str, rebuilt: &str) -> Option<Failure> {
    if committed == rebuilt {
        return None;
    }
    let (mut was, mut is) = (committed.lines(), rebuilt.lines());
    let mut line = 1;
    let (was, is) = loop {
        match (was.next(), is.next()) {
            (Some(was), Some(is)) if was == is => line += 1,
            (was, is) => break (was.unwrap_or("the end").trim(), is.unwrap_or("the end").trim()),
        }
    };
    // The function around that line, where it is a line of PTX.
    let module = Module::parse(committed);
    let entry = module.statements.iter().rfind(|statement| statement.line <= line);
    Some(Failure {
        file: name.into(),
        entry: entry.map(|statement| statement.function.clone()).unwrap_or_default(),
        found: format!("`{was}` in line {line}"),
        expected: format!("`{is}`, as `cargo xtask ptx` makes it"),
    })
}

/// Compares what was assembled, if one ptxas made all.
fn compare_assembled(made: &Files, committed: impl Fn(&str) -> Vec<u8>) -> Vec<Failure> {
    let [was, is] = [&committed(RESOURCES), &made[RESOURCES]].map(|table| String::from_utf8_lossy(table).into_owned());
    let ptxas = |table: &str| table.lines().next().unwrap_or("").trim_start_matches("# ").to_string();
    if ptxas(&was) != ptxas(&is) {
        println!("note: {RESOURCES} is of {}, and this is {}: not compared", ptxas(&was), ptxas(&is));
        return Vec::new();
    }
    let code = made.iter().filter(|(name, code)| *name != RESOURCES && **code != committed(name));
    let stale = |(name, _): (&String, _)| file_failure(name, "other code", "what `cargo xtask ptx` makes");
    first_difference(RESOURCES, &was, &is).into_iter().chain(code.map(stale)).collect()
}

/// Files by their names.
type Files = BTreeMap<String, Vec<u8>>;

/// The file of machine code beside a PTX file.
fn cubin(ptx: &str) -> String {
    Path::new(ptx).with_extension("cubin").display().to_string()
}

/// A table of resources with a family's rows of another.
fn with_rows(table: &str, family: &str, made: &str) -> String {
    let is_row_of_family = |line: &&str| line.starts_with(&format!("{family}_"));
    let head = made.lines().take(2);
    let others = table.lines().skip(2).filter(|line| !is_row_of_family(line));
    let mut rows: Vec<&str> = others.chain(made.lines().filter(is_row_of_family)).collect();
    rows.sort_unstable();
    head.chain(rows).flat_map(|line| [line, "\n"]).collect()
}

/// Assembles every committed file of the families that are wanted, for every architecture that loads it; returns the
/// table of resources and the machine code that is kept.
fn assemble_all(ptxas: &Ptxas, wanted: impl Fn(Family) -> bool) -> Result<(Files, Vec<Failure>), String> {
    let (mut made, mut rows, mut failures) = (Files::new(), Vec::new(), Vec::new());
    // What is not there is said elsewhere.
    let there = files().filter(|(family, .., name)| wanted(*family) && folder().join(name).exists());
    let works: Vec<_> = there
        .flat_map(|(_, target, architectures, name)| {
            architectures.iter().map(move |which| (target, *which, name.clone()))
        })
        .collect();
    for ((target, architecture, name), assembled) in works.iter().zip(assemble_each(ptxas, &works)) {
        match assembled? {
            Assembled::Kernels(all, code) => {
                failures.extend(assemble::complaints(name, architecture, &all));
                rows.extend(all.into_iter().map(|row| (row, *target, *architecture)));
                if architecture == target && KEPT.contains(architecture) {
                    made.insert(cubin(name), code);
                }
            }
            Assembled::UnknownArchitecture => {
                println!("note: ptxas {} does not know {architecture}: {name} not assembled for it", ptxas.version);
            }
            Assembled::Refused(said) => {
                failures.push(file_failure(name, &said, &format!("PTX that ptxas takes for {architecture}")));
            }
        }
    }
    let mut lines: Vec<String> = rows
        .iter()
        .map(|(row, target, architecture)| {
            let (registers, spills, shared) = (row.registers, row.spill_bytes, row.static_shared_bytes);
            format!("{},{target},{architecture},{registers},{spills},{shared}\n", row.entry)
        })
        .collect();
    lines.sort();
    let head = format!("# ptxas {}\nentry,target,arch,registers,spill_bytes,static_shared_bytes\n", ptxas.version);
    made.insert(RESOURCES.into(), (head + &lines.concat()).into_bytes());
    Ok((made, failures))
}

/// Assembles files for architectures, as many at a time as there are cores: each takes one, some for minutes.
fn assemble_each(ptxas: &Ptxas, works: &[(&str, &str, String)]) -> Vec<Result<Assembled, String>> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, (_, architecture, name))) = works.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((at, ptxas.assemble(&folder().join(name), architecture)));
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
    use super::text::tests::GOOD;
    use super::*;

    #[test]
    fn one_compiler_must_make_equal_text() {
        assert_eq!(compare("x.ptx", GOOD, GOOD), []);
        let changed = GOOD.replace("[one_param_1+8]", "[one_param_1+16]");
        let shown = compare("x.ptx", GOOD, &changed)[0].to_string();
        assert!(shown.starts_with("x.ptx: one: found `ld.param.b64") && shown.contains("+16];`"), "{shown}");
        assert_eq!(compare("x.ptx", GOOD, GOOD.trim_end()).len(), 1);
    }

    #[test]
    fn another_compiler_must_make_equal_entries() {
        let other = GOOD.replace("1.96.0", "1.97.0").replace("[one_param_1+8]", "[one_param_1+16]");
        assert_eq!(compare("x.ptx", GOOD, &other), []);
        assert_eq!(compare("x.ptx", GOOD, &other.replace("[48]", "[56]")).len(), 1);
    }

    #[test]
    fn assemblies_are_compared_within_one_ptxas() {
        let table = "# ptxas 13.5.37\nentry\none,sm_90,sm_90,32,0,0\n";
        let made = Files::from([(RESOURCES.into(), table.into()), ("x.sm_90.cubin".into(), b"code".into())]);
        let compared = |table: &str, code: &[u8]| {
            let committed = |name: &str| if name == RESOURCES { table.into() } else { code.into() };
            compare_assembled(&made, committed).len()
        };
        assert_eq!(compared(table, b"code"), 0);
        assert_eq!(compared(&table.replace(",32,", ",33,"), b"code"), 1);
        assert_eq!(compared(table, b"other"), 1);
        assert_eq!(compared(&table.replace(",32,", ",33,").replace("13.5", "13.6"), b"other"), 0);
    }

    #[test]
    fn a_familys_rows_take_the_place_of_its_own() {
        let table = "# ptxas 1\nentry,registers\nbox_a,1\nbox_b,2\nlocal_c,3\n";
        let merged = super::with_rows(table, "box", "# ptxas 2\nentry,registers\nbox_d,5\nbox_a,4\n");
        assert_eq!(merged, "# ptxas 2\nentry,registers\nbox_a,4\nbox_d,5\nlocal_c,3\n");
    }

    #[test]
    fn every_kernel_is_in_one_family() {
        assert_eq!(Family::ALL.iter().map(|family| table(*family).len()).sum::<usize>(), Kernel::ALL.len());
    }
}
