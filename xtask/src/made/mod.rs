//! Pages and pictures generated from records of measurements: shared by `ladder` and `speed`.

pub(crate) mod markdown;
pub(crate) mod markers;
pub(crate) mod picture;
pub(crate) mod record;

use crate::at;

/// A file's name, and its expected text.
pub(crate) type Made = (&'static str, String);

/// Writes the files.
pub(crate) fn write(files: Vec<Made>) -> Result<(), String> {
    for (name, text) in files {
        let path = crate::root().join(name);
        std::fs::write(&path, text).map_err(|error| at(&path, error))?;
        println!("{name}");
    }
    Ok(())
}

/// Checks that the files match what `command` generates.
pub(crate) fn compare(files: Vec<Made>, command: &str) -> Result<(), String> {
    let mut failures = Vec::new();
    for (name, expected) in files {
        match read(name, &format!("`{command}` makes it")) {
            Ok(found) => failures.extend(difference(name, &found, &expected, command)),
            Err(error) => failures.push(error),
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Reads a file; `hint` is part of the error.
pub(crate) fn read(name: &str, hint: &str) -> Result<String, String> {
    let path = crate::root().join(name);
    std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}; {hint}"))
}

/// Describes the first line in which a file differs from the expected text, if any.
fn difference(name: &str, found: &str, expected: &str, command: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    let longest = found.lines().count().max(expected.lines().count());
    let line = |text: &str, index| text.lines().nth(index).map_or("the end".into(), |line| format!("'{line}'"));
    let differing = (0..longest).find(|&index| line(found, index) != line(expected, index)).unwrap_or(longest);
    let (found, expected) = (line(found, differing), line(expected, differing));
    Some(format!("{name}: line {}: found {found}; expected {expected}, by `{command}`", differing + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        let differing = |found, expected| difference("a.md", found, expected, "cargo xtask ladder");
        assert_eq!(differing("one\ntwo\n", "one\ntwo\n"), None);
        let told = differing("one\ntwo\n", "one\n2\n").unwrap();
        assert_eq!(told, "a.md: line 2: found 'two'; expected '2', by `cargo xtask ladder`");
        assert!(differing("one", "one\ntwo").unwrap().contains("line 2: found the end; expected 'two'"));
        assert!(differing("one", "one\n").is_some());
    }
}
