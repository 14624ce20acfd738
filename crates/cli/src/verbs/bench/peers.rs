//! Other libraries, timed by separate programs; those not installed are skipped.
//!
//! A program takes names of workloads, and prints `NAME,PEER,MILLISECONDS` for each that it can time and `# KEY: VALUE`
//! for facts about its libraries. Its errors are reported, and affect its own rows only.

use apron_files::Scratch;
use apron_testkit::nvcc;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The programs, and the linker options of nvcc for them.
const PEERS: &[(&str, &[&str])] =
    &[("npp.cu", &["-lnppif", "-lnppist", "-lnppc"]), ("cub.cu", &[]), ("torch_peer.py", &[]), ("cupy_peer.py", &[])];

/// Time limit of a program, after which it counts as hung.
const PATIENCE: Duration = Duration::from_secs(600);

/// Maximum length of a reported error, in characters: compilers print a lot.
const LONGEST: usize = 300;

/// The output of the peers.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Name of the workload, peer, milliseconds.
    pub(super) times: Vec<(String, String, f64)>,
    /// Facts about their libraries.
    pub(super) facts: Vec<(String, String)>,
}

/// Programs that time whole jobs.
const OF_JOBS: &[(&str, &[&str])] = &[("jobs.py", &[])];

/// Times the workloads of these names with every peer that is installed.
pub(super) fn run(folder: &Path, names: &[String], ordinal: u32, tell: impl Fn(&str)) -> Found {
    by(PEERS, folder, names, ordinal, tell)
}

/// Times whole jobs of these names with every peer that is installed.
pub(super) fn of_jobs(folder: &Path, names: &[String], ordinal: u32, tell: impl Fn(&str)) -> Found {
    by(OF_JOBS, folder, names, ordinal, tell)
}

fn by(peers: &[(&str, &[&str])], folder: &Path, names: &[String], ordinal: u32, tell: impl Fn(&str)) -> Found {
    let mut found = Found::default();
    for (file, libraries) in peers {
        tell(&format!("peer {file}"));
        if let Err(why) = one(&folder.join(file), libraries, names, ordinal, &mut found) {
            let line: String = why.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
            tell(&format!("peer {file}: {line}"));
            found.facts.push((format!("peer {file}"), line));
        }
    }
    found
}

/// Times with one peer; results that it printed before an error are kept.
fn one(source: &Path, libraries: &[&str], names: &[String], ordinal: u32, found: &mut Found) -> Result<(), String> {
    if !source.exists() {
        return Err(format!("left out: no {}", source.display()));
    }
    // Keeps the compiled program until it has run.
    let mut program = None;
    let mut command = if source.extension().is_some_and(|extension| extension == "cu") {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let scratch = Scratch::new(&name).map_err(|error| format!("left out: no temporary file: {error}"))?;
        nvcc::compile(source, scratch.path(), libraries).map_err(|why| format!("left out: {why}"))?;
        Command::new(program.insert(scratch).path())
    } else {
        let mut python = Command::new("python3");
        // Prevents a folder of compiled modules next to the sources.
        python.arg("-B").arg(source);
        python
    };
    if ordinal > 0 {
        command.env("CUDA_VISIBLE_DEVICES", ordinal.to_string());
    }
    let ended = finish(command.args(names), PATIENCE).map_err(|error| format!("left out: {error}"))?;
    read(&ended.stdout, names, found);
    ended.trouble.map_or(Ok(()), Err)
}

/// Parses the output of a peer.
fn read(printed: &str, names: &[String], found: &mut Found) {
    for line in printed.lines() {
        if let Some((key, value)) = line.strip_prefix("# ").and_then(|line| line.split_once(": ")) {
            found.facts.push((key.trim().into(), value.trim().into()));
        } else if let [work, peer, ms] = line.split(',').collect::<Vec<_>>()[..]
            && let Ok(ms) = ms.trim().parse::<f64>()
            && names.iter().any(|name| name == work)
            && ms.is_finite()
            && ms > 0.0
        {
            found.times.push((work.into(), peer.into(), ms));
        }
    }
}

/// The end of a program.
struct Ended {
    stdout: String,
    /// Why its output may be incomplete; `None` if it is not.
    trouble: Option<String>,
}

/// Runs a program to its end, or kills it after a while. Its output goes to files: a full pipe without a reader would
/// block it.
fn finish(command: &mut Command, patience: Duration) -> std::io::Result<Ended> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).spawn()?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if start.elapsed() > patience => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let trouble = match status {
        Some(status) if status.success() => None,
        Some(status) => Some(format!("{status}: {}", text(&mut stderr)?.lines().last().unwrap_or(""))),
        None => {
            child.kill()?;
            child.wait()?;
            Some(format!("stopped after {} s", patience.as_secs()))
        }
    };
    Ok(Ended { stdout: text(&mut stdout)?, trouble })
}

/// Reads a whole file, also if it is not UTF-8.
fn text(file: &mut File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Ended {
        finish(Command::new("sh").args(["-c", script]), patience).unwrap()
    }

    #[test]
    fn what_a_peer_prints_is_taken_as_far_as_it_makes_sense() {
        let names = ["a 1".to_string(), "b 2".to_string()];
        let mut found = Found::default();
        let printed =
            "# npp: 13.0\na 1,NPP,0.5\nb 2,NPP,0\nb 2,NPP,fast\nb 2,NPP,inf\nc 3,NPP,1\na 1,NPP\n\nb 2,CUB,2\n";
        read(printed, &names, &mut found);
        assert_eq!(found.facts, [("npp".into(), "13.0".into())]);
        assert_eq!(found.times, [("a 1".into(), "NPP".into(), 0.5), ("b 2".into(), "CUB".into(), 2.0)]);
    }

    #[test]
    fn a_peer_that_fails_or_hangs_has_told_what_it_told() {
        let long = Duration::from_secs(60);
        let ended = shell("echo one; echo warning >&2; echo 'no GPU' >&2; exit 3", long);
        assert_eq!(ended.stdout, "one\n");
        assert!(ended.trouble.is_some_and(|trouble| trouble.contains("3: no GPU")));
        let ended = shell("echo one", long);
        assert_eq!((ended.stdout.as_str(), ended.trouble), ("one\n", None));
        let ended = shell("echo one; exec sleep 60", Duration::from_millis(300));
        assert_eq!((ended.stdout.as_str(), ended.trouble), ("one\n", Some("stopped after 0 s".into())));
    }

    #[test]
    fn a_folder_without_peers_is_said() {
        let found = run(Path::new("/no/such/folder"), &["a 1".into()], 0, |_| {});
        assert!(found.times.is_empty());
        assert_eq!(found.facts.len(), PEERS.len());
        assert!(found.facts.iter().all(|(_, why)| why.starts_with("left out: no ")), "{found:?}");
    }
}
