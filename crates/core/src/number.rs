//! Numbers in text.

/// Parses a number. Integers of samples are not rounded: beyond 2^53, those that f64 does not hold are refused.
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
/// A description of the expected text: `limit`, if the text is not a number.
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

/// Writes a number such that [`number`] reads it back: integers from 2^53 to 2^64 with all digits, where f64 prints
/// zeros after 17.
pub(crate) fn digits(number: f64) -> String {
    let is_large = number.abs() >= 9_007_199_254_740_992.0 && number.abs() <= u64::MAX as f64;
    if is_large { (number as i128).to_string() } else { number.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let numbers = [0.1, -2.0, 9_007_199_254_740_994.0, 1_888_888_888_888_888_832.0, -9.2e18, 1.8e19, 1e300];
        for written in numbers {
            assert_eq!(number(&digits(written), "a number"), Ok(written), "{}", digits(written));
        }
        assert_eq!(digits(1_888_888_888_888_888_832.0), "1888888888888888832");
    }
}
