//! The dictionary in the header of a `.npy` file, as NumPy writes it:
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
//!
//! Parsers of all of Python's literals are ten crates and a percent of the program, for three entries.

/// The three entries of a header.
#[derive(Debug, PartialEq)]
pub(crate) struct Entries<'a> {
    /// The type: a name such as `<f4`, or the text of a description of several.
    pub(crate) descr: &'a str,
    pub(crate) fortran: bool,
    /// The sides, as text: numbers, perhaps negative or too large.
    pub(crate) shape: Vec<&'a str>,
}

impl<'a> Entries<'a> {
    /// Parses the dictionary; `None` if it is none of NumPy's.
    pub(crate) fn parse(text: &'a str) -> Option<Entries<'a>> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = rest.split_at(value_length(rest, ':')?);
            let after = after.strip_prefix(':')?.trim_start();
            let (value, after) = after.split_at(value_length(after, ',')?);
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
            let value = value.trim_end();
            match quoted(key.trim_end())? {
                "descr" => descr = descr.or(Some(quoted(value).unwrap_or(value))),
                "fortran_order" => fortran = fortran.or(Some(truth(value)?)),
                "shape" => shape = shape.or(Some(sides(value)?)),
                _ => {}
            }
        }
        Some(Entries { descr: descr?, fortran: fortran?, shape: shape? })
    }
}

/// Returns the length of the text before the next `end` outside of quotes and brackets, or of all text; `None` for
/// quotes and brackets that do not match.
fn value_length(text: &str, end: char) -> Option<usize> {
    let (mut quote, mut open) = (None, Vec::new());
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(with), _) if char == with => quote = None,
            // NumPy escapes nothing.
            (Some(_), '\\') => return None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(char),
            (None, '(') => open.push(')'),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ')' | ']' | '}') if open.pop() != Some(char) => return None,
            (None, _) if char == end && open.is_empty() => return Some(at),
            (None, _) => {}
        }
    }
    (quote.is_none() && open.is_empty()).then_some(text.len())
}

/// Returns the text in quotes.
fn quoted(text: &str) -> Option<&str> {
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote).filter(|inside: &&str| !inside.contains(quote));
    inside('\'').or_else(|| inside('"'))
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// Returns the numbers of a tuple. Those of Python 2 may end with an L.
fn sides(text: &str) -> Option<Vec<&str>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    // One number in brackets is no tuple without its comma.
    let (all, last) = inside.rsplit_once(',')?;
    let last = Some(last.trim()).filter(|last| !last.is_empty());
    let numbers = all.split(',').chain(last).map(str::trim).map(|side| side.strip_suffix('L').unwrap_or(side));
    let is_number = |side: &&str| {
        let digits = side.strip_prefix('-').unwrap_or(side);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let numbers: Vec<&str> = numbers.collect();
    numbers.iter().all(is_number).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(&str, bool, Vec<&str>)> {
        Entries::parse(text).map(|Entries { descr, fortran, shape }| (descr, fortran, shape))
    }

    #[test]
    fn numpys_headers() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          ";
        assert_eq!(parsed(header), Some(("<f4", false, vec!["3", "4"])));
        let header = "{\"shape\":(7L,),'fortran_order':True ,'descr' : '|u1'}";
        assert_eq!(parsed(header), Some(("|u1", true, vec!["7"])));
        let header = "{'descr': [('a', '<f4'), ('b, }', '<i2', (2,))], 'fortran_order': False, 'shape': (), }";
        assert_eq!(parsed(header), Some(("[('a', '<f4'), ('b, }', '<i2', (2,))]", false, vec![])));
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 99999999999999999999), 'more': {1: 2}}";
        assert_eq!(parsed(header), Some(("<f4", false, vec!["-3", "99999999999999999999"])));
    }

    #[test]
    fn what_is_none_of_numpys() {
        for text in [
            "",
            "{}",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': [1, 2]}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (x, 2)}",
            "{'descr': '<f4, 'fortran_order': False, 'shape': (1, 2)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2]}",
            "{'descr': '<\\'f4', 'fortran_order': False, 'shape': (1, 2)}",
            "{descr: '<f4', 'fortran_order': False, 'shape': (1, 2)}",
            "{'descr' '<f4', 'fortran_order': False, 'shape': (1, 2)}",
            "[{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}]",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
