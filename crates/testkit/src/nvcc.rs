//! Programs in CUDA C to be timed beside ours, compiled by an nvcc that is there.

use crate::machine::output_of;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler: the one that `NVCC` names, else the one on the PATH or where toolkits are installed.
fn nvcc() -> PathBuf {
    let named = std::env::var_os("NVCC").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/local/cuda/bin")]);
    let found = || folders.map(|folder| folder.join("nvcc")).find(|nvcc| nvcc.is_file());
    named.or_else(found).unwrap_or_else(|| "nvcc".into())
}

/// The compiler's version, or `None` where there is none.
pub fn version() -> Option<String> {
    let told = output_of(Command::new(nvcc()).arg("--version"))?;
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
        let nvcc = nvcc();
        let mut command = Command::new(&nvcc);
        command.args(["-O3", "-std=c++17", "-arch=native", "-o"]).arg(&program.0).arg(source).args(flags);
        // The toolkit's libraries need not be where the loader looks.
        let toolkit = nvcc.canonicalize().ok().and_then(|nvcc| Some(nvcc.parent()?.parent()?.join("lib64")));
        if let Some(libraries) = toolkit.filter(|libraries| libraries.is_dir()) {
            command.args(["-Xlinker", "-rpath", "-Xlinker"]).arg(libraries);
        }
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
