//! Splits a family's PTX into kernels.

/// Returns the entries of a module as printed by LLVM, each with the module's header. Entries do not call functions;
/// the lint checks this.
///
/// Labels lose the number of their function, so that a file changes only with its kernel, and unused declarations are
/// dropped.
pub(super) fn split(text: &str) -> Vec<(String, String)> {
    let is_function = |line: &&str| line.starts_with('.') && (line.contains(".entry ") || line.contains(".func "));
    let header: Vec<&str> = text.lines().take_while(|line| !is_function(line)).collect();
    let mut entries = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix(".visible .entry ").and_then(|rest| rest.split('(').next()) else {
            continue;
        };
        let mut body = vec![line];
        body.extend(lines.by_ref().take_while(|line| *line != "}"));
        body.push("}");
        let declared = |line: &&&str| symbol(line).is_none_or(|name| body.iter().any(|line| line.contains(name)));
        let all = header.iter().filter(declared).chain(&body);
        entries
            .push((name.to_string(), without_function_numbers(&all.flat_map(|line| [line, "\n"]).collect::<String>())));
    }
    entries
}

/// Returns the symbol that a line outside of functions declares: `apron_taps` for `.visible .const .align 16 .b8
/// apron_taps[16384];`.
fn symbol(line: &str) -> Option<&str> {
    let (declared, _) = line.strip_suffix(';').filter(|line| line.starts_with('.'))?.split_once('[')?;
    declared.split_whitespace().last()
}

/// Turns `$L__BB12_3` into `$L__BB_3`, also in comments.
fn without_function_numbers(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut parts = text.split("BB");
    result.push_str(parts.next().unwrap_or(""));
    for part in parts {
        result.push_str("BB");
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        result.push_str(if rest.starts_with('_') { rest } else { part });
    }
    result
}

/// Returns the text without its target and its first line, a comment: equal for kernels that do not depend on the
/// target.
pub(super) fn without_target(text: &str) -> impl Iterator<Item = &str> {
    text.lines().skip(1).filter(|line| !line.starts_with(".target "))
}

/// Joins the files of several kernels for one target: one header, their declarations, and all entries.
pub(super) fn joined<'a>(files: impl Iterator<Item = &'a str>, target: &str) -> String {
    let mut text = format!(".version {}\n.target {target}\n.address_size 64\n", super::lint::VERSION);
    let mut declared = Vec::new();
    for file in files {
        for line in file.lines().take_while(|line| !line.starts_with(".visible .entry ")) {
            if symbol(line).is_some() && !declared.contains(&line) {
                declared.push(line);
                text.push_str(line);
                text.push('\n');
            }
        }
        let body = file.lines().skip_while(|line| !line.starts_with(".visible .entry "));
        body.for_each(|line| text.extend([line, "\n"]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "// made\n.version 8.1\n.target sm_90\n.extern .shared .b8 mem[];\n.const .b8 taps[9];\n\n\
        .visible .func dead(\n)\n{\n$L__BB0_1:\n}\n\
        .visible .entry one(\n\t.param .u64 a\n)\n.maxntid 32\n{\n\tbra $L__BB1_2; // BB1_2 ABBA BB12\n$L__BB1_2:\n\tmov mem;\n}\n\
        .visible .entry two(\n)\n{\n$L__BB12_3:\n\tmov taps;\n}\n";

    #[test]
    fn each_entry_has_its_own_text() {
        let entries = split(MODULE);
        let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(
            entries[0].1,
            "// made\n.version 8.1\n.target sm_90\n.extern .shared .b8 mem[];\n\n.visible .entry one(\n\t.param .u64 a\n)\n\
             .maxntid 32\n{\n\tbra $L__BB_2; // BB_2 ABBA BB12\n$L__BB_2:\n\tmov mem;\n}\n"
        );
        assert!(entries[1].1.contains("taps[9]") && !entries[1].1.contains("mem[]"), "{}", entries[1].1);
    }

    #[test]
    fn targets_alone_make_no_other_text() {
        let older = MODULE.replace("sm_90", "sm_75").replace("// made", "// made for sm_75");
        assert!(without_target(MODULE).eq(without_target(&older)));
        assert!(!without_target(MODULE).eq(without_target(&MODULE.replace("bra", "brx"))));
    }

    #[test]
    fn joined_texts_declare_each_symbol_once() {
        let entries = split(MODULE);
        let text = joined(entries.iter().chain(&entries).map(|(_, text)| text.as_str()), "sm_100");
        assert_eq!((text.matches("mem[]").count(), text.matches(".entry one").count()), (1, 2));
        assert!(text.contains(".target sm_100") && text.find("taps[9]") < text.find(".entry two"), "{text}");
    }
}
