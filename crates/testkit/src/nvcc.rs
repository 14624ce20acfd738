//! Programs in CUDA C to be timed beside ours, compiled by an nvcc that is there.

use crate::machine::output_of;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler: the one that `NVCC` names, else the one on the PATH.
fn nvcc() -> Command {
    Command::new(std::env::var_os("NVCC").unwrap_or_else(|| "nvcc".into()))
}

/// The compiler's version, or `None` where there is none.
pub fn version() -> Option<String> {
    let told = output_of(nvcc().arg("--version"))?;
    let version = told.split_once("release ").and_then(|(_, rest)| rest.split(',').next());
    Some(version.unwrap_or("of an unknown version").to_string())
}

/// A compiled program, which goes away when it is dropped.
pub struct Program(PathBuf);

impl Program {
    /// Compiles a source for the GPU of this machine.
    ///
    /// # Errors
    /// What the compiler complains about, or that there is none.
    pub fn compile(source: &Path, flags: &[&str]) -> Result<Program, String> {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let program = Program(std::env::temp_dir().join(format!("apron-{name}-{}", std::process::id())));
        let mut command = nvcc();
        command.args(["-O3", "-std=c++17", "-arch=native", "-o"]).arg(&program.0).arg(source).args(flags);
        let output = command.output().map_err(|error| format!("nvcc does not start: {error}"))?;
        match output.status.success() {
            true => Ok(program),
            false => Err(format!("nvcc: {}", String::from_utf8_lossy(&output.stderr).trim())),
        }
    }

    /// A command that runs it.
    pub fn command(&self) -> Command {
        Command::new(&self.0)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // What stays behind in the temporary folder does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}
