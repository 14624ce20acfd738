//! `cargo xtask check`: all checks of the repository, in one command.

use std::time::Instant;

struct Step {
    name: &'static str,
    run: fn() -> Result<(), String>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: || cargo(&["fmt", "--all", "--check"]) },
    Step { name: "clippy", run: || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]) },
    Step { name: "without the GPU", run: || cargo(&["check", "-p", "apron", "--no-default-features"]) },
    // Type-checks the device layer of Rust-CUDA, which is not installed here.
    Step { name: "Rust-CUDA", run: || cargo(&["check", "-p", "kernels-gpu", "--features", "rust-cuda"]) },
    Step { name: "documentation", run: documentation },
    Step { name: "ladder", run: crate::ladder::check },
    Step { name: "speed", run: crate::speed::check },
    Step { name: "PTX", run: || crate::ptx::check(false) },
    Step { name: "packages", run: crate::package::check },
    Step { name: "tests", run: || cargo(&["test", "--workspace"]) },
];

/// Runs the steps, up to the first that fails.
pub(crate) fn run() -> Result<(), String> {
    let all = Instant::now();
    for Step { name, run } in STEPS {
        println!("== {name}");
        let start = Instant::now();
        run().map_err(|error| format!("{error}\ncheck failed at: {name}"))?;
        println!("== {name}: passed in {:.1} s", start.elapsed().as_secs_f64());
    }
    println!("== all {} checks passed in {:.1} s", STEPS.len(), all.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    succeed(crate::cargo().args(arguments))
}

fn documentation() -> Result<(), String> {
    succeed(crate::cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-Dwarnings"))
}

pub(crate) fn succeed(command: &mut std::process::Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
