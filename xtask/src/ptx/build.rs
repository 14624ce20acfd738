//! Compiles the kernels to PTX by rustc's own NVPTX backend.

use super::lint::{Expected, VERSION};
use crate::at;
use apron_abi::Family;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// A rustc with its sources, and its cargo: `core` has to be compiled for the GPU.
pub(super) struct Toolchain {
    rustc: OsString,
    cargo: OsString,
    /// Description of the compiler, for the first line of the files.
    pub(super) name: String,
}

impl Toolchain {
    /// Finds a toolchain: by environment variables, from Debian's packages, or on `PATH`.
    pub(super) fn find() -> Result<Toolchain, String> {
        let rustc = std::env::var_os("APRON_PTX_RUSTC");
        let cargo = std::env::var_os("APRON_PTX_CARGO");
        if rustc.is_some() || cargo.is_some() {
            let rustc = rustc.unwrap_or_else(|| "rustc".into());
            return Toolchain::try_new(rustc, cargo.unwrap_or_else(|| "cargo".into())).map_err(|why| {
                format!("the compiler that APRON_PTX_RUSTC and APRON_PTX_CARGO name will not do: {why}")
            });
        }
        let debian = match Toolchain::try_new("/usr/bin/rustc".into(), "/usr/bin/cargo".into()) {
            Ok(toolchain) => return Ok(toolchain),
            Err(why) => why,
        };
        Toolchain::try_new("rustc".into(), "cargo".into()).map_err(|path| {
            format!(
                "No rustc with its sources, which PTX needs: {debian}; {path}. On Debian, `apt-get install rustc-web \
                 cargo-web rust-web-src` brings one into /usr/bin and leaves a rustup toolchain alone; with rustup, \
                 `rustup component add rust-src` completes the toolchain on PATH. APRON_PTX_RUSTC and APRON_PTX_CARGO \
                 name any other."
            )
        })
    }

    fn try_new(rustc: OsString, cargo: OsString) -> Result<Toolchain, String> {
        let shown = rustc.to_string_lossy().into_owned();
        let ask = |arguments: &[&str]| -> Result<String, String> {
            let output = clean(&rustc).args(arguments).output().map_err(|error| format!("{shown}: {error}"))?;
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
        };
        let version = ask(&["-vV"])?;
        let sources = Path::new(&ask(&["--print", "sysroot"])?).join("lib/rustlib/src/rust/library");
        if !sources.is_dir() {
            return Err(format!("{shown} has no sources at {}", sources.display()));
        }
        // Debian's own rustc may be installed too, but too old.
        if !is_at_least(&version, env!("CARGO_PKG_RUST_VERSION")) {
            return Err(format!("{shown} is older than {}", env!("CARGO_PKG_RUST_VERSION")));
        }
        let name = compiler_name(&version).ok_or_else(|| format!("{shown} -vV does not tell its version"))?;
        Ok(Toolchain { rustc, cargo, name })
    }

    /// Compiles the entries of `family` for `target`, and returns the PTX. `worker` names cargo's target folder, which
    /// cargo locks: simultaneous calls need different workers.
    pub(super) fn build(&self, worker: usize, family: Family, target: &str) -> Result<String, String> {
        let folder = crate::target_dir().join("ptx").join(worker.to_string());
        // Cargo would not write the file again for a crate that it considers fresh.
        remove_kernels(&folder.join("nvptx64-nvidia-cuda/release/.fingerprint"))?;
        let written = folder.join(format!("{}.{target}.s", family.name()));
        if written.exists() {
            std::fs::remove_file(&written).map_err(|error| at(&written, error))?;
        }
        let mut emit = OsString::from("asm=");
        emit.push(&written);

        let mut command = clean(&self.cargo);
        command.current_dir(crate::root()).env("RUSTC", &self.rustc);
        // Unstable features in a stable compiler: ptx-kernel, PTX intrinsics and asm, build-std.
        command.env("RUSTC_BOOTSTRAP", "1");
        // Overrides the profile: incremental builds do not inline across crates, and the PTX would not assemble.
        command.env("CARGO_INCREMENTAL", "0");
        // The PTX must not depend on the workspace's profiles.
        for (key, value) in [
            ("OPT_LEVEL", "3"),
            ("CODEGEN_UNITS", "1"),
            ("PANIC", "abort"),
            ("LTO", "false"),
            ("DEBUG", "false"),
            ("DEBUG_ASSERTIONS", "false"),
            ("OVERFLOW_CHECKS", "false"),
        ] {
            command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
        }
        command.args(["rustc", "--quiet", "--release", "-p", "kernels-gpu", "--lib"]);
        command.args(["--features", family.name(), "--target", "nvptx64-nvidia-cuda"]);
        // There is no precompiled `core` for this target.
        command.arg("-Zbuild-std=core").arg("--target-dir").arg(&folder).arg("--");
        // PTX is this target's assembly. Without the bitcode linker, llvm-args reach the backend.
        command.arg("--emit").arg(&emit);
        // The lowest compute capability that can load the file.
        command.arg(format!("-Ctarget-cpu={target}"));
        // PTX 8.1, of driver 530 and later: kernel parameters of more than 4 KB, for the mask.
        command.arg(format!("-Ctarget-feature=+ptx{}", VERSION.replace('.', "")));
        // Jump threading copied a barrier into both arms of a divergent branch: rust-lang/rust#137086.
        command.arg("-Zmir-enable-passes=-JumpThreading");
        // There is no unroll pragma: loops over a mask unroll if the backend's threshold allows.
        command.arg("-Cllvm-args=-unroll-threshold=4000");
        // Enables bulk asynchronous copies (TMA), which need sm_90.
        if super::number(target) >= 90 {
            command.arg("--cfg").arg("apron_copies");
        }
        let status = command.status().map_err(|error| format!("{}: {error}", self.cargo.to_string_lossy()))?;
        if !status.success() {
            return Err(format!("{} for {target}: the build failed, {status}", family.name()));
        }
        let text = std::fs::read_to_string(&written).map_err(|error| at(&written, error))?;
        let text = with_block_sizes(&normal(&text), &super::table(family));
        Ok(format!("// {}, target {target}; made by `cargo xtask ptx`\n{text}", self.name))
    }
}

/// Makes a command without the environment variables that the toolchain of `cargo xtask` set.
fn clean(program: &OsString) -> Command {
    let mut command = Command::new(program);
    for variable in [
        "LD_LIBRARY_PATH",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_TARGET_NVPTX64_NVIDIA_CUDA_RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ] {
        command.env_remove(variable);
    }
    command
}

/// Returns `rustc 1.96.0 (…), LLVM 22.1.8` for the output of `rustc -vV`.
fn compiler_name(version: &str) -> Option<String> {
    let first = version.lines().next()?;
    let llvm = version.lines().find_map(|line| line.strip_prefix("LLVM version: "))?;
    Some(format!("{first}, LLVM {llvm}"))
}

/// Whether the output of `rustc -vV` is of release `wanted` or later.
fn is_at_least(version: &str, wanted: &str) -> bool {
    let release = version.lines().find_map(|line| line.strip_prefix("release: ")).unwrap_or("");
    let numbers = |text: &str| -> Vec<u32> { text.split('.').map_while(|part| part.parse().ok()).collect() };
    numbers(release) >= numbers(wanted)
}

/// Normalizes PTX: drops the comments `// .globl`, which repeat mangled names, and those around inline assembly,
/// together a third of the text; trailing blanks; and LLVM's pragmas against further unrolling of partly unrolled
/// loops, so that ptxas decides.
fn normal(text: &str) -> String {
    let mut result = String::new();
    let dropped = ["// .globl", "// begin inline asm", "// end inline asm", ".pragma \"nounroll\""];
    let kept = |line: &&str| !dropped.iter().any(|start| line.trim_start().starts_with(start));
    for line in text.lines().map(str::trim_end).filter(kept) {
        // Dropped lines would leave several empty lines in a row.
        if !(line.is_empty() && result.ends_with("\n\n")) {
            result.push_str(line);
            result.push('\n');
        }
    }
    result
}

/// Adds the threads per block to each entry: without them, ptxas may use more registers per thread than a block of that
/// size can have, and the kernel would not launch. Rust has no attribute for launch bounds.
fn with_block_sizes(text: &str, entries: &[Expected]) -> String {
    let mut result = String::new();
    let mut threads = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            let name = rest.split('(').next().unwrap_or("");
            threads = entries
                .iter()
                .find(|expected| expected.entry == name)
                .map(|expected| (expected.threads, expected.residents));
        }
        if let ("{", Some((threads, residents))) = (line, threads) {
            // Without `.minnctapersm`, ptxas may spill a register or two to fit another block.
            result.push_str(&format!(".maxntid {threads}\n.minnctapersm {residents}\n"));
        }
        if line == "{" {
            threads = None;
        }
        result.push_str(line);
        result.push('\n');
    }
    result
}

fn remove_kernels(fingerprints: &Path) -> Result<(), String> {
    let Ok(entries) = std::fs::read_dir(fingerprints) else { return Ok(()) };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with("kernels-gpu-") {
            std::fs::remove_dir_all(entry.path()).map_err(|error| at(&entry.path(), error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compilers_name_has_both_versions() {
        let said = "rustc 1.96.0 (ac68faa20 2026-05-25)\nbinary: rustc\nrelease: 1.96.0\nLLVM version: 22.1.8";
        assert_eq!(compiler_name(said).unwrap(), "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8");
        assert_eq!(compiler_name("no compiler"), None);
        assert!(is_at_least(said, "1.90") && is_at_least(said, "1.96") && !is_at_least(said, "1.97"));
    }

    #[test]
    fn entries_say_how_many_threads_a_block_has() {
        let text = ".visible .func dead()\n{\n}\n.visible .entry one(\n\t.param .u64 a\n)\n{\n\t{\n\t}\n}\n";
        let one = Expected { entry: "one", barriers: [0; 2], threads: 256, residents: 2 };
        assert_eq!(
            with_block_sizes(text, &[one]),
            text.replace(")\n{\n\t{", ")\n.maxntid 256\n.minnctapersm 2\n{\n\t{")
        );
    }

    #[test]
    fn text_loses_what_varies() {
        assert_eq!(normal("a \n\n\t// .globl\t_RNvCsx\n\n\t// begin inline asm\nb\t\n// kept\n"), "a\n\nb\n// kept\n");
    }
}
