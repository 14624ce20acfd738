//! Assembles PTX with NVIDIA's ptxas, to check that it is valid, and to get registers and spills.

use super::Failure;
use std::path::PathBuf;
use std::process::Command;

/// The assembler ptxas.
pub(super) struct Ptxas {
    pub(super) path: PathBuf,
    /// Its version, such as `13.5.37`.
    pub(super) version: String,
}

/// Resources of a kernel on one architecture.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Resources {
    pub(super) entry: String,
    pub(super) registers: u32,
    /// Bytes of spill stores and loads.
    pub(super) spill_bytes: u32,
    /// Bytes of stack frame.
    pub(super) stack_bytes: u32,
    pub(super) static_shared_bytes: u32,
}

/// The result of an assembly.
pub(super) enum Assembled {
    /// The file is valid: resources of its kernels, and the machine code.
    Kernels(Vec<Resources>, Vec<u8>),
    /// This ptxas does not support the architecture.
    UnknownArchitecture,
    /// The message of ptxas.
    Refused(String),
}

impl Ptxas {
    /// Finds ptxas: by the environment variable `PTXAS`, then on `PATH`.
    pub(super) fn find() -> Result<Ptxas, String> {
        let path = std::env::var_os("PTXAS").map_or_else(|| PathBuf::from("ptxas"), PathBuf::from);
        let output = Command::new(&path).arg("--version").output().map_err(|error| {
            format!(
                "no ptxas ({}: {error}): `pip install nvidia-cuda-nvcc` brings one; put its folder (nvidia/cu13/bin \
                 in site-packages) on PATH, or set PTXAS to the file",
                path.display()
            )
        })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.rsplit_once(", V").and_then(|(_, rest)| rest.split_whitespace().next());
        let version = version.ok_or_else(|| format!("{} --version does not tell a version", path.display()))?;
        Ok(Ptxas { version: version.to_string(), path })
    }

    /// Assembles a text for `architecture`; `worker` keeps the temporary files of concurrent calls apart.
    pub(super) fn assemble(&self, worker: usize, text: &str, architecture: &str) -> Result<Assembled, String> {
        let folder = std::env::temp_dir();
        let [ptx, cubin] =
            ["ptx", "cubin"].map(|kind| folder.join(format!("apron-{}-{worker}.{kind}", std::process::id())));
        std::fs::write(&ptx, text).map_err(|error| crate::at(&ptx, error))?;
        let mut command = Command::new(&self.path);
        command.arg("-v").arg(format!("-arch={architecture}")).arg(&ptx).arg("-o").arg(&cubin);
        let output = command.output().map_err(|error| crate::at(&self.path, error))?;
        let code = std::fs::read(&cubin).unwrap_or_default();
        let _ = std::fs::remove_file(&cubin).and(std::fs::remove_file(&ptx));
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Ok(if output.status.success() {
            Assembled::Kernels(read(&said), code)
        } else if said.contains("is not defined for option 'gpu-name'") {
            Assembled::UnknownArchitecture
        } else {
            Assembled::Refused(said.trim().to_string())
        })
    }
}

/// Parses the output of `ptxas -v`.
fn read(said: &str) -> Vec<Resources> {
    let mut all: Vec<Resources> = Vec::new();
    for line in said.lines() {
        if let Some(name) = line.split("Compiling entry function '").nth(1) {
            all.push(Resources { entry: name.split('\'').next().unwrap_or("").into(), ..Resources::default() });
        }
        let Some(last) = all.last_mut() else { continue };
        for part in line.split([',', ':']) {
            let words: Vec<&str> = part.split_whitespace().collect();
            let number = |word: &str| word.parse().unwrap_or(0);
            match words[..] {
                ["Used", registers, "registers"] => last.registers = number(registers),
                [bytes, "bytes", "stack", "frame"] => last.stack_bytes += number(bytes),
                [bytes, "bytes", "spill", "stores" | "loads"] => last.spill_bytes += number(bytes),
                [bytes, "bytes", "smem"] => last.static_shared_bytes = number(bytes),
                _ => {}
            }
        }
    }
    all
}

/// Returns failures for spills and stack frames.
pub(super) fn complaints(file: &str, architecture: &str, all: &[Resources]) -> Vec<Failure> {
    let mut failures = Vec::new();
    for Resources { entry, spill_bytes, stack_bytes, .. } in all {
        for (bytes, what) in [(spill_bytes, "spills"), (stack_bytes, "stack frame")] {
            if *bytes != 0 {
                let (file, entry) = (file.to_string(), entry.clone());
                let found = format!("{bytes} bytes of {what} on {architecture}");
                failures.push(Failure { file, entry, found, expected: "0".into() });
            }
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_90'
ptxas info    : Function properties for one
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 29 registers, used 1 barriers
ptxas info    : Compile time = 27.523 ms
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Function properties for two
    64 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 7 registers, used 0 barriers, 64 bytes cumulative stack size, 128 bytes smem
";

    #[test]
    fn reads_resources_and_complains() {
        let all = read(SAID);
        assert_eq!(all[0], Resources { entry: "one".into(), registers: 29, ..Resources::default() });
        let (spill_bytes, stack_bytes, static_shared_bytes) = (20, 64, 128);
        let two = Resources { entry: "two".into(), registers: 7, spill_bytes, stack_bytes, static_shared_bytes };
        assert_eq!(all[1], two);
        let shown: Vec<String> = complaints("x.ptx", "sm_90", &all).iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[0].contains("20 bytes of spills on sm_90") && shown[1].contains("64 bytes of stack frame"));
    }
}
