//! `cargo xtask fuzz`: libFuzzer on the readers of files and texts, all targets at once.
//!
//! As `cargo fuzz run --sanitizer none`, but with stable Rust and a C++ compiler only.

use crate::{at, cargo, root, target_dir};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};

/// Instrumentation for libFuzzer: a counter per branch, and the operands of comparisons.
const FLAGS: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    // Makes decoders skip checksums, which mutated files never match.
    "--cfg=fuzzing",
];

/// Runs one target, or all, each for `--seconds` from its seeds and from the corpus of earlier runs.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let (mut seconds, mut only) = ("60", None);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--seconds" => seconds = options.next().ok_or("fuzz: --seconds needs a number")?,
            target => only = Some(target),
        }
    }
    let all = targets()?;
    let targets: Vec<&String> = all.iter().filter(|target| only.is_none_or(|only| only == target.as_str())).collect();
    if targets.is_empty() {
        return Err(format!("fuzz: there is no such target; there are {}", all.join(", ")));
    }
    let (host, folder) = (host()?, target_dir().join("fuzz"));
    let build = ["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &host, "--target-dir"];
    // With `--target`, build scripts and macros are built without the flags.
    succeed(cargo().args(build).arg(&folder).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f")))?;

    let programs = folder.join(&host).join("release");
    let start = |target: &String| -> Result<(Child, PathBuf), String> {
        let of_target = |folder: &str| root().join("fuzz").join(folder).join(target);
        let (artifacts, log) = (of_target("artifacts"), folder.join(format!("{target}.log")));
        fs::create_dir_all(&artifacts).map_err(|error| at(&artifacts, error))?;
        let mut command = Command::new(programs.join(target));
        // The first folder receives new inputs; the second holds inputs that once failed, as regression tests.
        command.arg(of_target("corpus")).args(Some(of_target("found")).filter(|found| found.exists()));
        command.arg(format!("-max_total_time={seconds}")).args(["-timeout=20", "-rss_limit_mb=1024", "-max_len=65536"]);
        command.arg(format!("-artifact_prefix={}/", artifacts.display())).arg("-print_final_stats=1");
        let file = File::create(&log).map_err(|error| at(&log, error))?;
        let output = file.try_clone().map_err(|error| at(&log, error))?;
        let child = command.stdout(output).stderr(file).spawn();
        child.map(|child| (child, log)).map_err(|error| format!("{command:?}: {error}"))
    };
    let running: Vec<_> = targets.into_iter().map(|target| (target, start(target))).collect();
    let mut failures = Vec::new();
    for (target, started) in running {
        let (mut child, log) = started?;
        let status = child.wait().map_err(|error| format!("{target}: {error}"))?;
        let text = fs::read(&log).map_err(|error| at(&log, error))?;
        let text = String::from_utf8_lossy(&text);
        let stat = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim();
        let done = stat("stat::number_of_executed_units:");
        println!("{target}: {done} inputs, {} MB at most", stat("stat::peak_rss_mb:"));
        if !status.success() {
            let from = text.lines().count().saturating_sub(30);
            let tail: Vec<&str> = text.lines().skip(from).collect();
            failures.push(format!("{target} failed; its input is in fuzz/artifacts/{target}\n{}", tail.join("\n")));
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n\n")) }
}

/// Returns the names of the targets, by their files.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| at(&folder, error))? {
        let path = entry.map_err(|error| at(&folder, error))?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Returns the host's target triple.
fn host() -> Result<String, String> {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let output = command.arg("-vV").output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(String::from).ok_or_else(|| format!("{command:?} names no host"))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_in_the_manifest_and_the_other_way_round() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let named: Vec<&str> =
            manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")).collect();
        let mut named: Vec<String> = named.iter().map(|path| path.trim_end_matches(".rs\"").to_string()).collect();
        named.sort();
        assert_eq!(targets().unwrap(), named);
        assert!(!named.is_empty());
    }

    #[test]
    fn an_unknown_target_is_refused_with_those_there_are() {
        let error = run(&["gif"]).unwrap_err();
        assert!(error.contains("mask, npy") && error.contains("tiff"), "{error}");
    }
}
