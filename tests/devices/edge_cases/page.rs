//! The page that lists the cases names existing tests.

use std::collections::BTreeSet;
use std::path::Path;

/// Sections of the page, each with at least one case.
const SECTIONS: [&str; 8] =
    ["Shapes", "Index width", "Counters", "Bins", "Values", "The kernels' compiler", "Files", "Determinism"];

#[test]
fn every_case_of_the_page_has_a_test_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/edge-cases.md")).unwrap();
    let (mut section, mut seen) = ("", BTreeSet::new());
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        }
        let Some(row) = line.strip_prefix("| ").filter(|row| !row.starts_with("case |")) else { continue };
        // [`test`](../path)
        let tests: Vec<(&str, &str)> = row
            .split("[`")
            .skip(1)
            .map(|link| {
                let (name, rest) = link.split_once("`](../").unwrap_or_else(|| panic!("no link to a file: {row}"));
                (name, rest.split_once(')').expect("the link's end").0)
            })
            .collect();
        assert!(!tests.is_empty(), "a case without a test: {row}");
        for (name, path) in tests {
            let source = std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
            let at = source.find(&format!("fn {name}(")).unwrap_or_else(|| panic!("{path} has no {name}: {row}"));
            let before = source[..at].lines().rev().skip_while(|line| line.trim().is_empty());
            let mut attributes =
                before.map(str::trim).take_while(|line| line.starts_with("#[") || line.starts_with("//"));
            assert!(attributes.any(|line| line == "#[test]"), "{name} in {path} is no test");
        }
        seen.insert(section);
    }
    assert_eq!(seen, SECTIONS.into_iter().collect(), "sections with cases");
}
