//! Markdown tables, and the numbers in them.

/// Makes a table with the first `texts` columns aligned left, the others right.
pub(crate) fn table(header: &[&str], texts: usize, lines: impl Iterator<Item = Vec<String>>) -> String {
    let rule = (0..header.len()).map(|column| if column < texts { "---" } else { "---:" });
    let mut table = format!("| {} |\n|{}|\n", header.join(" | "), rule.collect::<Vec<_>>().join("|"));
    for cells in lines {
        table.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    table
}

/// Formats text as code.
pub(crate) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Formats a positive number with `digits` significant digits, or more if its integer part has more.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    let decimals = (digits - 1 - value.log10().floor() as i32).max(0) as usize;
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits() {
        for (value, digits, text) in [
            (64902.1607, 4, "64902"),
            (2.6633, 4, "2.663"),
            (0.0212, 4, "0.02120"),
            (0.000123, 3, "0.000123"),
            (10.0, 3, "10.0"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
    }
}
