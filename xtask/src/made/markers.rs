//! Marked places in a page: `<!-- KIND:NAME -->`, generated text, `<!-- /KIND -->`.

use std::collections::BTreeSet;

const OPENED: &str = " -->";

/// Fills every marked place of a kind with the text of `make`. Each of `names` must be on the page.
pub(crate) fn fill(
    page: &str,
    kind: &str,
    names: &[&str],
    make: impl Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    let (open, close) = (format!("<!-- {kind}:"), format!("<!-- /{kind}{OPENED}"));
    let mut filled = String::new();
    let mut missing: BTreeSet<&str> = names.iter().copied().collect();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(&open) {
        let (name, after) = after.split_once(OPENED).ok_or(format!("'{open}' without '{OPENED}'"))?;
        // Markers are not nested: another opening marker means that this place was not closed.
        let inside = after.split_once(&open).map_or(after, |(inside, _)| inside);
        let (old, _) = inside.split_once(&close).ok_or(format!("'{open}{name}{OPENED}' without '{close}'"))?;
        missing.remove(name);
        filled.push_str(&format!("{before}{open}{name}{OPENED}\n\n{}\n{close}", make(name)?));
        rest = &after[old.len() + close.len()..];
    }
    match missing.first() {
        Some(name) => Err(format!("no marker '{open}{name}{OPENED}'")),
        None => Ok(filled + rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n<!-- t:one -->\nold\n<!-- /t -->\nbetween\n<!-- t:two --><!-- /t -->\nthe end\n";

    fn filled(page: &str) -> Result<String, String> {
        fill(page, "t", &["one", "two"], |name| match name {
            "one" | "two" => Ok(format!("made {name}\n")),
            _ => Err(format!("no '{name}'")),
        })
    }

    #[test]
    fn places_are_made_anew_and_nothing_else_changes() {
        let expected = "# Title\n<!-- t:one -->\n\nmade one\n\n<!-- /t -->\nbetween\n\
                        <!-- t:two -->\n\nmade two\n\n<!-- /t -->\nthe end\n";
        assert_eq!(filled(PAGE).unwrap(), expected);
        assert_eq!(filled(expected).unwrap(), expected);
        // Markers of another kind are ignored.
        let other = PAGE.replace("# Title", "<!-- u:one -->\n<!-- /u -->");
        assert!(filled(&other).unwrap().starts_with("<!-- u:one -->\n<!-- /u -->\n"));
    }

    #[test]
    fn markers_that_are_missing_unknown_or_left_open_are_named() {
        let error = |page: String| filled(&page).unwrap_err();
        assert_eq!(error(PAGE.replace("t:two", "u:two")), "no marker '<!-- t:two -->'");
        assert_eq!(error(PAGE.replace("t:two", "t:three")), "no 'three'");
        assert_eq!(error(PAGE.replacen("<!-- /t -->", "", 1)), "'<!-- t:one -->' without '<!-- /t -->'");
        assert_eq!(error(format!("{PAGE}<!-- t:one")), "'<!-- t:' without ' -->'");
    }
}
