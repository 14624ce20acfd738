//! CUDA C programs for comparison, compiled by an installed nvcc.

use crate::machine::output_of;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the compiler: `NVCC`, else nvcc on the PATH or in the usual installation folder.
fn nvcc() -> PathBuf {
    let named = std::env::var_os("NVCC").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/local/cuda/bin")]);
    let found = || folders.map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file());
    named.or_else(found).unwrap_or_else(|| "nvcc".into())
}

/// Returns the compiler's version; `None` if there is no compiler.
pub fn version() -> Option<String> {
    let told = output_of(Command::new(nvcc()).arg("--version"))?;
    let version = told.split_once("release ").and_then(|(_, rest)| rest.split(',').next());
    Some(version.unwrap_or("of an unknown version").to_string())
}

/// Compiles a source for the GPU of this machine, to a program of this path.
///
/// # Errors
/// The compiler's errors, or that there is no compiler.
pub fn compile(source: &Path, program: &Path, flags: &[&str]) -> Result<(), String> {
    let nvcc = nvcc();
    let mut command = Command::new(&nvcc);
    command.args(["-O3", "-std=c++17", "-arch=native", "-o"]).arg(program).arg(source).args(flags);
    // The loader may not search the toolkit's libraries by default.
    let toolkit = nvcc.canonicalize().ok().and_then(|nvcc| Some(nvcc.parent()?.parent()?.join("lib64")));
    if let Some(libraries) = toolkit.filter(|libraries| libraries.is_dir()) {
        command.args(["-Xlinker", "-rpath", "-Xlinker"]).arg(libraries);
    }
    let output = command.output().map_err(|error| format!("nvcc does not start: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("nvcc: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
