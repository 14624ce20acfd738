//! Records of measurements: lines `# key: value` about the machine, a header, and rows with commas.

use std::collections::BTreeMap;

/// Facts about the machine and the run.
#[derive(Debug, Default)]
pub(crate) struct Facts(BTreeMap<String, String>);

impl Facts {
    /// Returns the fact of this key, unless it is empty.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Formats a line about the machine and the date.
    pub(crate) fn line(&self) -> String {
        let said = |key, before: &str| self.get(key).map(|value| format!("{before}{value}"));
        let parts = [
            said("gpu", "GPU: "),
            said("driver", ""),
            said("clock", ""),
            said("nvcc", "nvcc "),
            said("cpu", "CPU: "),
            said("date", ""),
        ];
        format!("{}.\n", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

/// Parses a record that has this header and at least the `needed` facts; `row` parses the fields of each line below the
/// header.
pub(crate) fn parse<T, const N: usize>(
    text: &str,
    header: &str,
    needed: &[&str],
    row: impl Fn([&str; N]) -> Result<T, String>,
) -> Result<(Facts, Vec<T>), String> {
    let (mut facts, mut rows, mut headed) = (Facts::default(), Vec::new(), false);
    for (index, line) in text.lines().enumerate() {
        let wrong = |what: String| format!("line {}: {what}", index + 1);
        if let Some(comment) = line.strip_prefix('#') {
            let fact = comment.split_once(':').ok_or_else(|| wrong(format!("'{line}' is not '# key: value'")))?;
            facts.0.insert(fact.0.trim().into(), fact.1.trim().into());
        } else if headed {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let count = fields.len();
            let fields = <[&str; N]>::try_from(fields);
            let fields = fields.map_err(|_| wrong(format!("{count} fields instead of those of '{header}'")))?;
            rows.push(row(fields).map_err(wrong)?);
        } else if line == header {
            headed = true;
        } else {
            return Err(wrong(format!("'{line}' is not the header '{header}'")));
        }
    }
    if rows.is_empty() {
        return Err("it has no rows".into());
    }
    match needed.iter().find(|key| facts.get(key).is_none()) {
        Some(key) => Err(format!("it has no line '# {key}: ...'")),
        None => Ok((facts, rows)),
    }
}

/// Checks that a field is not empty.
pub(crate) fn word(name: &str, value: &str) -> Result<String, String> {
    if value.is_empty() { Err(format!("{name} is empty")) } else { Ok(value.into()) }
}

/// Parses a positive integer.
pub(crate) fn whole(name: &str, value: &str) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{name} is '{value}', and not a whole number above 0"))
}

/// Parses a positive number.
pub(crate) fn number(name: &str, value: &str) -> Result<f64, String> {
    let number = value.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{name} is '{value}', and not a number above 0"))
}

/// Parses a field by `read`; `None` if it is empty.
pub(crate) fn optional<T>(
    name: &str,
    value: &str,
    read: impl Fn(&str, &str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if value.is_empty() { Ok(None) } else { read(name, value).map(Some) }
}

/// Parses other libraries and their times in milliseconds, from `NAME=MS;NAME=MS` or an empty field.
pub(crate) fn peers(value: &str) -> Result<Vec<(String, f64)>, String> {
    let peer = |text: &str| {
        let (name, ms) = text.split_once('=').ok_or_else(|| format!("peers: '{text}' is not NAME=MS"))?;
        Ok((word("peers", name)?, number("peers", ms)?))
    };
    value.split(';').filter(|text| !text.is_empty()).map(peer).collect()
}
