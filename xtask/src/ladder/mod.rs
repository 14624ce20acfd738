//! `cargo xtask ladder`: the tables and the plot of docs/ladder.md, from the record of the ladder's bench.

mod plot;
mod record;
mod tables;

use crate::at;
use record::Record;
use std::collections::BTreeSet;

/// What `cargo bench --bench ladder` measured.
const RECORD: &str = "benches/record/h100-ladder.csv";
/// The page whose tables are made; its prose is left as it is.
const PAGE: &str = "docs/ladder.md";
const PLOT: &str = "docs/images/ladder.svg";

/// Around a table in the page: `<!-- ladder:NAME -->` and `<!-- /ladder -->`.
const OPEN: &str = "<!-- ladder:";
const OPENED: &str = " -->";
const CLOSE: &str = "<!-- /ladder -->";

/// Writes the tables and the plot.
pub(crate) fn generate() -> Result<(), String> {
    for (name, text) in made()? {
        let path = crate::root().join(name);
        std::fs::write(&path, text).map_err(|error| at(&path, error))?;
        println!("{name}");
    }
    Ok(())
}

/// Checks that the tables and the plot are what the record gives.
pub(crate) fn check() -> Result<(), String> {
    let mut failures = Vec::new();
    for (name, expected) in made()? {
        match read(name, "`cargo xtask ladder` makes it") {
            Ok(found) => failures.extend(difference(name, &found, &expected)),
            Err(error) => failures.push(error),
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// The page and the plot as the record makes them.
fn made() -> Result<[(&'static str, String); 2], String> {
    let command = format!("`cargo bench --bench ladder -- --record {RECORD}` makes it, on a machine with a GPU");
    let record = Record::parse(&read(RECORD, &command)?).map_err(|error| format!("{RECORD}: {error}"))?;
    let page = read(PAGE, "it holds the ladder's prose, and markers for its tables")?;
    let page = fill(&page, &record).map_err(|error| format!("{PAGE}: {error}"))?;
    Ok([(PAGE, page), (PLOT, plot::draw(&record)?)])
}

fn read(name: &str, hint: &str) -> Result<String, String> {
    let path = crate::root().join(name);
    std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}; {hint}"))
}

/// The page with every marked table made anew.
fn fill(page: &str, record: &Record) -> Result<String, String> {
    let mut filled = String::new();
    let mut missing = BTreeSet::from(tables::NAMES);
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (name, after) = after.split_once(OPENED).ok_or(format!("'{OPEN}' without '{OPENED}'"))?;
        // Markers are not nested: the next one opens another table.
        let inside = after.split_once(OPEN).map_or(after, |(inside, _)| inside);
        let (old, _) = inside.split_once(CLOSE).ok_or(format!("'{OPEN}{name}{OPENED}' without '{CLOSE}'"))?;
        missing.remove(name);
        filled.push_str(&format!("{before}{OPEN}{name}{OPENED}\n\n{}\n{CLOSE}", tables::table(record, name)?));
        rest = &after[old.len() + CLOSE.len()..];
    }
    match missing.first() {
        Some(name) => Err(format!("no marker '{OPEN}{name}{OPENED}'")),
        None => Ok(filled + rest),
    }
}

/// Where a file is not what it should be, if anywhere: its first line that differs.
fn difference(name: &str, found: &str, expected: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    let longest = found.lines().count().max(expected.lines().count());
    let line = |text: &str, index| text.lines().nth(index).map_or("the end".into(), |line| format!("'{line}'"));
    let differing = (0..longest).find(|&index| line(found, index) != line(expected, index)).unwrap_or(longest);
    let (found, expected) = (line(found, differing), line(expected, differing));
    Some(format!("{name}: line {}: found {found}; expected {expected}, by `cargo xtask ladder`", differing + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every marker, one a line, with something old between.
    fn page() -> String {
        let markers = tables::NAMES.map(|name| format!("about {name}\n{OPEN}{name}{OPENED}\nold\n{CLOSE}\n"));
        format!("# Title\n{}the end\n", markers.concat())
    }

    #[test]
    fn tables_are_made_anew_between_the_markers_and_nothing_else_changes() {
        let record = Record::parse(record::SAMPLE).unwrap();
        let filled = fill(&page(), &record).unwrap();
        assert!(filled.starts_with("# Title\nabout ") && filled.ends_with(&format!("{CLOSE}\nthe end\n")), "{filled}");
        assert!(!filled.contains("old"), "{filled}");
        for name in tables::NAMES {
            let table =
                format!("about {name}\n{OPEN}{name}{OPENED}\n\n{}\n{CLOSE}", tables::table(&record, name).unwrap());
            assert!(filled.contains(&table), "{name}: {filled}");
        }
        assert_eq!(fill(&filled, &record).unwrap(), filled);
    }

    #[test]
    fn markers_that_are_missing_unknown_or_left_open_are_named() {
        let record = Record::parse(record::SAMPLE).unwrap();
        let error = |page: String| fill(&page, &record).unwrap_err();
        assert!(error(page().replace("ladder:rgba", "of:rgba")).contains("no marker '<!-- ladder:rgba -->'"));
        assert!(error(page().replace("ladder:rgba", "ladder:rgb")).contains("'rgb'"));
        let first = page().replacen(CLOSE, "", 1);
        assert!(error(first).contains(&format!("'{OPEN}{}{OPENED}' without", tables::NAMES[0])));
        assert!(error(format!("{}{OPEN}nvcc", page())).contains("without ' -->'"));
    }

    #[test]
    fn the_first_line_that_differs_is_told() {
        assert_eq!(difference("a.md", "one\ntwo\n", "one\ntwo\n"), None);
        let told = difference("a.md", "one\ntwo\n", "one\n2\n").unwrap();
        assert_eq!(told, "a.md: line 2: found 'two'; expected '2', by `cargo xtask ladder`");
        assert!(difference("a.md", "one", "one\ntwo").unwrap().contains("line 2: found the end; expected 'two'"));
        assert!(difference("a.md", "one", "one\n").is_some());
    }
}
