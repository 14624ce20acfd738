//! Apron's build tasks, run as `cargo xtask <task>`.

mod bundle;
mod check;
mod fuzz;
mod ladder;
mod made;
mod package;
mod ptx;
mod speed;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask <task>

  ptx [FAMILY]    build the kernels' PTX and machine code, a file per kernel: all, or those of one family
  ptx --check     lint the committed files; rebuild, assemble and compare what has changed since it was made, and a
                  seventh of the rest in turn, by the day; or everything: ptx --check --all
  ladder          make the tables and the plot of docs/ladder.md from benches/record/h100-ladder.csv
  ladder --check  compare the committed ones with what the record gives
  speed           make the tables in docs/speed.md and README.md and their picture from benches/record/h100-speed.csv
  speed --check   compare the committed ones with what the record gives
  tune [OPTIONS]  time every variant on the GPU at hand, and print the tuning table; `tune --help` has the options
  bundle          build all release binaries into target/bundle, for a GPU machine without Rust
  fuzz [TARGET] [--seconds N]  libFuzzer on what reads files and text: all targets at a time, a minute if not said
  package         pack every package, build it from its .crate, and check its size
  check           check everything: format, lints, docs, the ladder, the speed, PTX, packages, tests

PTX needs a rustc with its sources: APRON_PTX_RUSTC and APRON_PTX_CARGO name one.
Assembling needs NVIDIA's ptxas: PTXAS names it.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["ptx", "--check"] => ptx::check(false),
        ["ptx", "--check", "--all"] => ptx::check(true),
        ["ptx"] => ptx::generate(None),
        ["ptx", family] => ptx::generate(Some(family)),
        ["ladder"] => ladder::generate(),
        ["ladder", "--check"] => ladder::check(),
        ["speed"] => speed::generate(),
        ["speed", "--check"] => speed::check(),
        ["tune", ref options @ ..] => tune(options),
        ["bundle"] => bundle::run(),
        ["fuzz", ref options @ ..] => fuzz::run(options),
        ["package"] => package::check(),
        ["check"] => check::run(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the current `apron tune` in the workspace's root: `--write crates/plan/tuning.csv` writes the table.
fn tune(options: &[&str]) -> Result<(), String> {
    let run = ["run", "--release", "--package", "apron-cli", "--bin", "apron", "--", "tune"];
    match cargo().args(run).args(options).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apron tune: {status}")),
        Err(error) => Err(format!("cargo run: {error}")),
    }
}

/// Returns the root of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// Returns cargo's target folder.
fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Returns a command for the cargo that runs this task.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Formats an error with its path.
fn at(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
