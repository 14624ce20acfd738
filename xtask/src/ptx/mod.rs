//! `cargo xtask ptx`: generates the committed PTX and machine code, one file per kernel and target, and checks them.

mod assemble;
mod build;
mod lint;
mod resources;
mod split;
mod text;
mod unchanged;

use crate::at;
use apron_abi::{Family, Kernel, KernelFacts};
use assemble::Ptxas;
use build::Toolchain;
use lint::Expected;
use resources::{RESOURCES, assemble_all};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use text::Module;
use unchanged::{MADE, Unchanged};

/// Targets of the PTX files, each with the architectures that load its files.
const TARGETS: [(&str, &[&str]); 2] =
    [("sm_75", &["sm_75", "sm_80", "sm_86", "sm_89"]), ("sm_90", &["sm_90", "sm_100", "sm_120"])];

/// A failed check.
#[derive(Debug, PartialEq, Eq)]
struct Failure {
    file: String,
    /// The entry that fails; empty if the failure concerns a whole file.
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

/// Returns 90 for `sm_90`.
fn number(target: &str) -> u32 {
    target.trim_start_matches("sm_").parse().expect("a target is sm_ and a number")
}

/// Contents of files by their paths in the workspace.
type Files = BTreeMap<String, Vec<u8>>;

/// The folders of PTX. A packed crate may have at most 8 MB, so the largest family has a folder of its own.
const PTX: [&str; 2] = ["crates/ptx/ptx", "crates/ptx-march/ptx"];

fn ptx_path(family: &str, entry: &str, target: &str) -> String {
    let folder = PTX[usize::from(family == "march")];
    format!("{folder}/{family}/{entry}.{target}.ptx")
}

const CUBIN: &str = "crates/cubin/cubin";

fn cubin_path(family: &str, entry: &str, target: &str) -> String {
    format!("{CUBIN}/{family}/{entry}.{target}.cubin")
}

/// Returns the targets of a family, each with the architectures that load its files, from the oldest.
fn targets(family: Family) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    TARGETS.into_iter().filter(move |(target, _)| number(target) >= family.lowest_target())
}

/// Writes the files of all kernels or of one family, and the table of resources.
pub(crate) fn generate(only: Option<&str>) -> Result<(), String> {
    if let Some(name) = only.filter(|name| Family::ALL.iter().all(|family| family.name() != *name)) {
        let known: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
        return Err(format!("'{name}' is no family of kernels: {}", known.join(", ")));
    }
    let wanted = |family: Family| only.is_none_or(|name| name == family.name());
    let toolchain = Toolchain::find()?;
    println!("{}", toolchain.name);
    let families: Vec<Family> = Family::ALL.into_iter().filter(|family| wanted(*family)).collect();
    let mut ptx = Files::new();
    for (family, built) in families.iter().zip(build_families(&toolchain, &families)) {
        let built = built?;
        println!(
            "{}: {} files, {} lines",
            family.name(),
            built.len(),
            built.values().map(|text| lines(text)).sum::<usize>()
        );
        ptx.extend(built);
    }
    for folder in PTX {
        let mut files = ptx.clone();
        files.retain(|path, _| path.starts_with(folder));
        replace(folder, &files, wanted)?;
    }
    let ptxas = match Ptxas::find() {
        Ok(ptxas) => ptxas,
        Err(why) => {
            println!("note: {RESOURCES}, {MADE} and the machine code are left as they were: {why}");
            return Ok(());
        }
    };
    let head = unchanged::head(&toolchain.name, &ptxas.version);
    let mut made = assemble_all(&ptxas, &ptx, wanted, (&assembled()?, &Unchanged::read(&head)))?;
    let sources = unchanged::sources()?;
    made.lines.extend(families.iter().map(|family| compiled(*family, &sources, &ptx)));
    made.lines.sort();
    let mut tables = vec![(MADE, head + &made.lines.iter().flat_map(|line| [line, "\n"]).collect::<String>())];
    let resources = made.files.remove(RESOURCES).expect("made");
    tables.push((RESOURCES, String::from_utf8_lossy(&resources).into_owned()));
    for (path, mut table) in tables {
        if let Some(family) = only {
            let others = std::fs::read_to_string(crate::root().join(path)).unwrap_or_default();
            table = with_rows(&others, family, &table);
        }
        write(path, table.as_bytes())?;
    }
    replace(CUBIN, &made.files, wanted)?;
    verdict(&made.failures)
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Checks every file: it matches its source, passes the lint, and is accepted by ptxas. With `everything`, files whose
/// inputs have not changed are regenerated, too.
pub(crate) fn check(everything: bool) -> Result<(), String> {
    let mut ptx = committed(PTX[0])?;
    ptx.extend(committed(PTX[1])?);
    let mut failures = lint_all(&ptx);
    let (toolchain, ptxas) = match (Toolchain::find(), Ptxas::find()) {
        (Ok(toolchain), Ok(ptxas)) => (toolchain, ptxas),
        (toolchain, ptxas) => {
            let lacks = [toolchain.err().map(|why| (why, "a compiler")), ptxas.err().map(|why| (why, "an assembler"))];
            failures.extend(lacks.into_iter().flatten().map(|(why, what)| file_failure("", &why, what)));
            return verdict(&failures);
        }
    };
    let head = unchanged::head(&toolchain.name, &ptxas.version);
    let unchanged = if everything { Unchanged::default() } else { Unchanged::read(&head) };
    let sources = unchanged::sources()?;
    let line = |family| compiled(family, &sources, &ptx);
    let changed: Vec<_> = Family::ALL.into_iter().filter(|family| !unchanged.has(&line(*family))).collect();
    for (family, rebuilt) in changed.iter().zip(build_families(&toolchain, &changed)) {
        match rebuilt {
            Ok(rebuilt) => failures.extend(compare_family(*family, &ptx, &rebuilt)),
            Err(why) => failures.push(file_failure(family.name(), &why, "a build")),
        }
    }
    let there = assembled()?;
    let made = assemble_all(&ptxas, &ptx, |_| true, (&there, &unchanged))?;
    failures.extend(made.failures);
    failures.extend(compare_assembled(&made.files, &there));
    let table = std::fs::read_to_string(crate::root().join(MADE)).unwrap_or_default();
    let lines = made.lines.into_iter().chain(Family::ALL.into_iter().map(line));
    failures.extend(compare_made(&head, lines.collect(), &table));
    verdict(&failures)
}

/// Reads the machine code and the table of resources.
fn assembled() -> Result<Files, String> {
    let mut files = committed(CUBIN)?;
    files.insert(RESOURCES.into(), std::fs::read(crate::root().join(RESOURCES)).unwrap_or_default());
    Ok(files)
}

/// Returns the line of `xtask/made.csv` for the PTX of a family.
fn compiled(family: Family, sources: &Files, ptx: &Files) -> String {
    let sources = sources.iter().flat_map(|(path, text)| [path.as_bytes(), text]);
    let files = of_family(family, ptx).flat_map(|(path, text)| [path.as_bytes(), text.as_slice()]);
    unchanged::line(&format!("{}_ptx", family.name()), sources.chain(files))
}

/// Returns the PTX files of a family.
fn of_family(family: Family, ptx: &Files) -> impl Iterator<Item = (&String, &Vec<u8>)> {
    let folder = ptx_path(family.name(), "", "").trim_end_matches("..ptx").to_string();
    ptx.range(folder.clone()..).take_while(move |(name, _)| name.starts_with(&folder))
}

/// Calls `work` for all items, one per core at a time, since some take minutes. The first argument is the worker's
/// index.
fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = |number| {
        let mut done = Vec::new();
        while let Some((at, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((at, work(number, item)));
        }
        done
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|number| scope.spawn(move || worker(number))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Builds the files of several families.
fn build_families(toolchain: &Toolchain, families: &[Family]) -> Vec<Result<Files, String>> {
    on_all_cores(families, |worker, family| build_family(toolchain, worker, *family))
}

/// Builds the files of a family: one per entry and target, unless the text is the same as for the previous target.
fn build_family(toolchain: &Toolchain, worker: usize, family: Family) -> Result<Files, String> {
    let mut files = Files::new();
    let mut older: BTreeMap<String, String> = BTreeMap::new();
    for (target, _) in targets(family) {
        for (entry, text) in split::split(&toolchain.build(worker, family, target)?) {
            let twin =
                older.get(&entry).is_some_and(|older| split::without_target(older).eq(split::without_target(&text)));
            if !twin {
                files.insert(ptx_path(family.name(), &entry, target), text.clone().into_bytes());
                older.insert(entry, text);
            }
        }
    }
    Ok(files)
}

/// Reads all files of a folder that has a subfolder per family.
fn committed(folder: &str) -> Result<Files, String> {
    let mut files = Files::new();
    let entries = |path: &Path| -> Result<Vec<PathBuf>, String> {
        let entries = std::fs::read_dir(path).map_err(|error| at(path, error))?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(|error| at(path, error))).collect()
    };
    for family in entries(&crate::root().join(folder))? {
        for path in entries(&family)? {
            let name = path.strip_prefix(crate::root()).expect("below the root").display().to_string();
            files.insert(name, std::fs::read(&path).map_err(|error| at(&path, error))?);
        }
    }
    Ok(files)
}

/// Writes files, and removes other files of the wanted families.
fn replace(folder: &str, files: &Files, wanted: impl Fn(Family) -> bool) -> Result<(), String> {
    let of = |path: &str| {
        let name = path.strip_prefix(folder)?.trim_start_matches('/').split('/').next()?;
        Family::ALL.into_iter().find(|family| family.name() == name)
    };
    if crate::root().join(folder).exists() {
        for path in committed(folder)?.into_keys() {
            if !files.contains_key(&path) && of(&path).is_none_or(&wanted) {
                let path = crate::root().join(path);
                std::fs::remove_file(&path).map_err(|error| at(&path, error))?;
            }
        }
    }
    files.iter().try_for_each(|(path, contents)| write(path, contents))
}

fn write(path: &str, contents: &[u8]) -> Result<(), String> {
    let path = crate::root().join(path);
    // Unchanged files keep their time stamps.
    if std::fs::read(&path).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    std::fs::create_dir_all(path.parent().expect("a folder")).map_err(|error| at(&path, error))?;
    std::fs::write(&path, contents).map_err(|error| at(&path, error))
}

/// Lints every file, and reports missing and unknown files.
fn lint_all(committed: &Files) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut known = BTreeSet::new();
    for family in Family::ALL {
        for (target, _) in targets(family) {
            for expected in table(family) {
                let path = ptx_path(family.name(), expected.entry, target);
                if let Some(text) = committed.get(&path) {
                    let text = String::from_utf8_lossy(text);
                    failures.extend(lint::lint(&path, &Module::parse(&text), target, &[expected]));
                } else if number(target) == family.lowest_target() {
                    failures.push(file_failure(&path, "no file", "one, made by `cargo xtask ptx`"));
                }
                known.insert(path);
            }
        }
    }
    for name in committed.keys().filter(|name| !known.contains(*name)) {
        failures.push(file_failure(name, "a file", "none of this name"));
    }
    failures
}

/// Compares the files of a family.
fn compare_family(family: Family, committed: &Files, rebuilt: &Files) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (name, text) in of_family(family, committed) {
        match rebuilt.get(name) {
            Some(rebuilt) => {
                let [text, rebuilt] = [text, rebuilt].map(|text| String::from_utf8_lossy(text));
                failures.extend(compare(name, &text, &rebuilt));
            }
            None => failures.push(file_failure(name, "a file", "none, as rebuilt")),
        }
    }
    let missing = rebuilt.keys().filter(|name| !committed.contains_key(*name));
    failures.extend(missing.map(|name| file_failure(name, "no file", "one, as rebuilt")));
    failures
}

/// Returns the family's entries in the kernel table.
fn table(family: Family) -> Vec<Expected> {
    let facts = Kernel::ALL.iter().map(|kernel| kernel.facts()).filter(|facts| facts.family == family);
    facts
        .map(|&KernelFacts { entry, barriers, block: [x, y], residents, .. }| Expected {
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

/// Compares a committed file with the output of its source.
fn compare(name: &str, committed: &str, rebuilt: &str) -> Vec<Failure> {
    let compiler = |text: &str| text.lines().next().unwrap_or("").to_string();
    // The text of another compiler differs: only the properties that a launch depends on can be compared.
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
    // The function that contains the line, if it is a line of PTX.
    let module = Module::parse(committed);
    let entry = module.statements.iter().rfind(|statement| statement.line <= line);
    Some(Failure {
        file: name.into(),
        entry: entry.map(|statement| statement.function.clone()).unwrap_or_default(),
        found: format!("`{was}` in line {line}"),
        expected: format!("`{is}`, as `cargo xtask ptx` makes it"),
    })
}

/// Compares the assembled files, if both are of the same ptxas.
fn compare_assembled(made: &Files, committed: &Files) -> Vec<Failure> {
    let [was, is] = [committed, made].map(|files| String::from_utf8_lossy(&files[RESOURCES]).into_owned());
    let ptxas = |table: &str| table.lines().next().unwrap_or("").trim_start_matches("# ").to_string();
    if ptxas(&was) != ptxas(&is) {
        println!("note: {RESOURCES} is of {}, and this is {}: not compared", ptxas(&was), ptxas(&is));
        return Vec::new();
    }
    let names: BTreeSet<&String> = made.keys().chain(committed.keys()).filter(|name| *name != RESOURCES).collect();
    let stale = names.into_iter().filter(|name| made.get(*name) != committed.get(*name));
    let stale = stale.map(|name| file_failure(name, "other code", "what `cargo xtask ptx` makes"));
    first_difference(RESOURCES, &was, &is).into_iter().chain(stale).collect()
}

/// Compares `xtask/made.csv` with the expected lines, if the same compilers made it.
fn compare_made(head: &str, mut lines: Vec<String>, table: &str) -> Option<Failure> {
    let first = |text: &str| text.lines().next().unwrap_or("").to_string();
    if first(table) != first(head) {
        println!("note: {MADE} is of other compilers ({}): not compared", first(table));
        return None;
    }
    lines.sort();
    let made = lines.into_iter().fold(head.to_string(), |table, line| table + &line + "\n");
    (made != table).then(|| file_failure(MADE, "hashes of other files", "those that `cargo xtask ptx` writes"))
}

/// Returns `table` with the rows of a family taken from `made`.
fn with_rows(table: &str, family: &str, made: &str) -> String {
    let is_row_of_family = |line: &&str| line.starts_with(&format!("{family}_"));
    let head = made.lines().take(2);
    let others = table.lines().skip(2).filter(|line| !is_row_of_family(line));
    let mut rows: Vec<&str> = others.chain(made.lines().filter(is_row_of_family)).collect();
    rows.sort_unstable();
    head.chain(rows).flat_map(|line| [line, "\n"]).collect()
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
        let files = |table: &str, code: &[u8]| {
            Files::from([(RESOURCES.into(), table.into()), ("x.sm_90.cubin".into(), code.into())])
        };
        let made = files(table, b"code");
        let compared = |table: &str, code: &[u8]| compare_assembled(&made, &files(table, code)).len();
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
