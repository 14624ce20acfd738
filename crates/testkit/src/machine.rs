//! Facts about the machine, for the records of measured times.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns keys and values: facts about GPU `ordinal`, if one is used, the CPU, and the date.
pub fn facts(ordinal: Option<u32>) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let gpus = ordinal.and_then(|ordinal| Some((apron::devices().ok()?, ordinal)));
    if let Some((info, ordinal)) = gpus.and_then(|(gpus, ordinal)| Some((gpus.get(ordinal as usize)?.clone(), ordinal)))
    {
        let (major, minor) = info.cuda_version;
        let version = driver_version(ordinal).map_or(String::new(), |version| format!(" (driver {version})"));
        facts.push(("gpu", info.name));
        facts.push(("driver", format!("CUDA {major}.{minor}{version}")));
        let clocks = query(ordinal, "clocks.sm,clocks.max.sm");
        if let Some((now, most)) = clocks.as_deref().and_then(|line| line.split_once(',')) {
            facts.push(("clock", format!("SM {} MHz of at most {} MHz", now.trim(), most.trim())));
        }
        facts.extend(crate::nvcc::version().map(|version| ("nvcc", version)));
    }
    facts.push(("cpu", cpu()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    facts.push(("date", date(now)));
    facts
}

/// Queries nvidia-smi about a GPU.
fn query(ordinal: u32, fields: &str) -> Option<String> {
    let mut command = Command::new("nvidia-smi");
    command.args([&format!("--query-gpu={fields}"), "--format=csv,noheader,nounits", &format!("--id={ordinal}")]);
    output_of(&mut command)?.lines().next().map(|line| line.trim().to_string())
}

/// Returns the version of the installed driver: the first word that starts with a digit and contains a dot.
fn driver_version(ordinal: u32) -> Option<String> {
    let told = std::fs::read_to_string("/proc/driver/nvidia/version").ok();
    let told = told.or_else(|| query(ordinal, "driver_version"))?;
    let version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
    told.split_whitespace().find(version).map(str::to_string)
}

/// Returns the model and the number of threads of the CPU.
fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown CPU", |(_, name)| name.trim());
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    format!("{model}, {threads} threads")
}

/// Returns the standard output of a command; `None` if it fails.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Converts a Unix time to the UTC date, as YYYY-MM-DD.
fn date(seconds: u64) -> String {
    // Years start in March, so that the leap day is the last of its year; days count from 0000-03-01.
    let days = seconds / 86400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + (month <= 2) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days() {
        assert_eq!([0, 951_782_400, 1_709_164_800].map(date), ["1970-01-01", "2000-02-29", "2024-02-29"]);
    }

    #[test]
    fn a_machine_tells_its_cpu_and_the_day() {
        let facts = facts(None);
        assert_eq!(facts.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["cpu", "date"]);
        assert!(facts[0].1.ends_with(" threads"), "{facts:?}");
    }
}
