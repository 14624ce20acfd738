//! Numbers in text.

/// Parses a number. Integers that samples may have are not rounded: beyond 2^53 f64 does not hold all.
///
/// ```
/// use apron_core::number;
///
/// assert_eq!(number("9007199254740992", "a number"), Ok(9007199254740992.0));
/// let refused = number("9007199254740993", "a number").unwrap_err();
/// assert_eq!(refused, "an integer that f64 holds, as 9007199254740992");
/// ```
///
/// # Errors
/// What the text must be: `limit`, if it is no number.
pub fn number(text: &str, limit: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| String::from(limit))?;
    let of_samples = i128::from(i64::MIN)..=i128::from(u64::MAX);
    match text.parse::<i128>() {
        Ok(whole) if of_samples.contains(&whole) && number as i128 != whole => {
            Err(format!("an integer that f64 holds, as {}", number as i128))
        }
        _ => Ok(number),
    }
}
