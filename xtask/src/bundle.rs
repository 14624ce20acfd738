//! `cargo xtask bundle`: release binaries for a machine that has a GPU but no Rust.

use crate::at;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An executable built by cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Executable {
    package: String,
    target: String,
    kind: String,
    /// Whether it is a test harness.
    test: bool,
    path: PathBuf,
}

impl Executable {
    /// Returns its name in the bundle.
    fn name(&self) -> String {
        match self.kind.as_str() {
            "bin" if !self.test => self.target.clone(),
            "bin" | "test" => format!("{}-{}", self.package, self.target),
            "bench" => format!("{}-{}-bench", self.package, self.target),
            // The target name of a library repeats the package's name.
            _ => format!("{}-lib", self.package),
        }
    }
}

/// Builds the bundle.
pub(crate) fn run() -> Result<(), String> {
    let mut found = BTreeMap::new();
    let mut tests = Vec::new();
    for executable in build(&["build", "--release", "-p", "apron-cli", "--bin", "apron"])? {
        found.insert(executable.name(), executable.path);
    }
    for executable in build(&["test", "--release", "--workspace", "--no-run"])? {
        if executable.test && executable.kind != "bench" {
            tests.push(executable.name());
            found.insert(executable.name(), executable.path);
        }
    }
    // `cargo bench` also builds test harnesses of the libraries, which are not benches.
    for executable in build(&["bench", "--workspace", "--no-run"])? {
        if executable.kind == "bench" {
            found.insert(executable.name(), executable.path);
        }
    }

    let bundle = crate::target_dir().join("bundle");
    if bundle.exists() {
        std::fs::remove_dir_all(&bundle).map_err(|error| at(&bundle, error))?;
    }
    std::fs::create_dir_all(&bundle).map_err(|error| at(&bundle, error))?;
    for (name, path) in &found {
        let copy = bundle.join(name);
        let strip = Command::new("strip").arg("-o").arg(&copy).arg(path).status();
        if !strip.is_ok_and(|status| status.success()) {
            return Err(format!("`strip` (Debian package binutils) failed on {}", path.display()));
        }
        let bytes = std::fs::metadata(&copy).map_err(|error| at(&copy, error))?.len();
        println!("{:>10} {name}", bytes);
    }
    copy_peers(&bundle.join("peers"))?;
    tests.sort();
    write_script(&bundle.join("run-tests.sh"), &tests)?;
    println!("{} binaries, run-tests.sh and the bench's peers in {}", found.len(), bundle.display());
    Ok(())
}

/// Copies the sources of the programs that `apron bench --peers` compiles and runs on the other machine.
fn copy_peers(folder: &Path) -> Result<(), String> {
    let sources = crate::root().join("benches/peers");
    std::fs::create_dir(folder).map_err(|error| at(folder, error))?;
    for source in std::fs::read_dir(&sources).map_err(|error| at(&sources, error))?.flatten() {
        let path = source.path();
        if path.is_file() {
            std::fs::copy(&path, folder.join(source.file_name())).map_err(|error| at(&path, error))?;
        }
    }
    Ok(())
}

fn write_script(path: &Path, tests: &[String]) -> Result<(), String> {
    std::fs::write(path, script(tests)).map_err(|error| at(path, error))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(|error| at(path, error))?;
    }
    Ok(())
}

/// Returns the script that runs all test binaries; its exit status is the number of failures.
fn script(tests: &[String]) -> String {
    format!(
        r#"#!/bin/sh
# Runs every test binary of this folder; arguments go to each. Exits with the count of failures.
cd "$(dirname "$0")" || exit 1
APRON_PROGRAM="$PWD/apron"
export APRON_PROGRAM
failures=0
for test in {}; do
    echo "== $test"
    ./"$test" "$@" || {{ echo "== $test FAILED"; failures=$((failures + 1)); }}
done
echo "== {} test binaries, $failures failed"
exit "$failures"
"#,
        tests.join(" "),
        tests.len()
    )
}

/// Runs cargo, and lists the executables that it built.
fn build(arguments: &[&str]) -> Result<Vec<Executable>, String> {
    // "render-diagnostics" keeps compiler errors readable, on standard error.
    let mut command = crate::cargo();
    command.args(arguments).arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    println!("cargo {}", arguments.join(" "));
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {}: {}", arguments.join(" "), output.status));
    }
    Ok(executables(&String::from_utf8_lossy(&output.stdout)))
}

fn executables(messages: &str) -> Vec<Executable> {
    messages.lines().filter_map(|line| serde_json::from_str(line).ok()).filter_map(|m| executable(&m)).collect()
}

fn executable(message: &Value) -> Option<Executable> {
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    Some(Executable {
        package: package_name(message["package_id"].as_str()?).to_string(),
        target: message["target"]["name"].as_str()?.to_string(),
        kind: message["target"]["kind"][0].as_str()?.to_string(),
        test: message["profile"]["test"].as_bool()?,
        path: message["executable"].as_str()?.into(),
    })
}

/// Returns the package's name in a package id, `url#version` or `url#name@version`.
fn package_name(id: &str) -> &str {
    let (url, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name,
        None => url.rsplit('/').next().unwrap_or(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_of_both_forms_of_id() {
        assert_eq!(package_name("path+file:///somewhere/xtask#0.1.0"), "xtask");
        assert_eq!(package_name("path+file:///somewhere/crates/core#apron-core@0.1.0"), "apron-core");
    }

    #[test]
    fn only_executables_are_taken_from_the_messages() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"path+file:///a/core#apron-core@0.1.0","target":{"kind":["lib"],"name":"apron_core"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///a/core#apron-core@0.1.0","target":{"kind":["lib"],"name":"apron_core"},"profile":{"test":true},"executable":"/t/apron_core-1"}
{"reason":"compiler-artifact","package_id":"path+file:///apron#0.1.0","target":{"kind":["test"],"name":"suite"},"profile":{"test":true},"executable":"/t/suite-1"}
{"reason":"compiler-artifact","package_id":"path+file:///apron#0.1.0","target":{"kind":["bench"],"name":"suite"},"profile":{"test":true},"executable":"/t/suite-2"}
{"reason":"compiler-artifact","package_id":"path+file:///a/cli#apron-cli@0.1.0","target":{"kind":["bin"],"name":"apron"},"profile":{"test":false},"executable":"/t/apron"}
{"reason":"compiler-artifact","package_id":"path+file:///a/cli#apron-cli@0.1.0","target":{"kind":["bin"],"name":"apron"},"profile":{"test":true},"executable":"/t/apron-1"}
{"reason":"build-finished","success":true}
not a message"#;
        let names: Vec<String> = executables(messages).iter().map(Executable::name).collect();
        assert_eq!(names, ["apron-core-lib", "apron-suite", "apron-suite-bench", "apron", "apron-cli-apron"]);
    }

    #[test]
    fn the_script_counts_failures() {
        let folder = std::env::temp_dir().join(format!("xtask-script-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, body) in [("good", "exit 0"), ("bad", "exit 101"), ("worse", "exit 1")] {
            write_script(&folder.join(name), &[]).unwrap();
            std::fs::write(folder.join(name), format!("#!/bin/sh\n{body}\n")).unwrap();
        }
        let path = folder.join("run-tests.sh");
        write_script(&path, &["good".into(), "bad".into(), "worse".into()]).unwrap();
        let output = Command::new(&path).output().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stdout).contains("3 test binaries, 2 failed"));
    }
}
