//! Splits text into words without a shell.

/// Splits text into words by blanks, and into steps by bars; quotes protect both.
///
/// # Errors
/// An unterminated quote.
pub(crate) fn words(text: &str) -> Result<Vec<Vec<String>>, char> {
    let (mut steps, mut word, mut open) = (vec![Vec::new()], None::<String>, None);
    for letter in text.chars().chain(['|']) {
        match open {
            Some(quote) if letter == quote => open = None,
            None if matches!(letter, '"' | '\'') => {
                word.get_or_insert_default();
                open = Some(letter);
            }
            None if letter == '|' || letter.is_whitespace() => {
                steps.last_mut().into_iter().for_each(|step| step.extend(word.take()));
                if letter == '|' {
                    steps.push(Vec::new());
                }
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = open {
        return Err(quote);
    }
    // The bar appended to the text began one more.
    steps.pop();
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_bars_separate_unless_they_are_quoted() {
        let steps = words("a x=1  y | b m='1 2; \"3|4\"'\t|c=\"\"").unwrap();
        assert_eq!(steps, [vec!["a", "x=1", "y"], vec!["b", "m=1 2; \"3|4\""], vec!["c="]]);
        assert_eq!(words(" | a").unwrap(), [vec![], vec!["a".to_string()]]);
        assert_eq!(words("a m='1 2"), Err('\''));
    }
}
