//! Packages as published on crates.io: each builds from its `.crate` alone, and is small enough.

use crate::{at, check::succeed};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// crates.io accepts 10 MiB. A package near the limit should move a family of kernels into a new crate.
const MOST_BYTES: u64 = 8_000_000;

/// What is not published: the Python module is a wheel.
const EXCLUDED: [&str; 4] = ["--exclude", "xtask", "--exclude", "apron-python"];

/// The profile of the builds of unpacked packages.
const PROFILE: &str = "\
[profile.dev]
debug = false
incremental = false

# In build scripts it compresses 44 MB.
[profile.dev.package.lzma-rust2]
opt-level = 3

";

/// Packages every crate, checks the sizes, and builds the contents of the packages.
///
/// Cargo's own verification of packages is not used: cargo does not unpack a package again while its version is the
/// same, and its registry for the workspace has the same path in each run, so it would build against the dependencies
/// of an earlier run.
pub(crate) fn check() -> Result<(), String> {
    let folder = crate::target_dir().join("package");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| at(&folder, error))?;
    }
    // Uncommitted files are packaged as well: the check is of the working tree.
    let package = ["package", "--workspace", "--allow-dirty", "--no-verify", "--quiet"];
    succeed(crate::cargo().args(package).args(EXCLUDED))?;

    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked).map_err(|error| at(&unpacked, error))?;
    let mut found = 0;
    for entry in fs::read_dir(&folder).map_err(|error| at(&folder, error))?.flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "crate") {
            continue;
        }
        found += 1;
        let bytes = entry.metadata().map_err(|error| at(&path, error))?.len();
        println!("{bytes:>9} {}", entry.file_name().display());
        if bytes > MOST_BYTES {
            return Err(format!("{}: {bytes} bytes, of at most {MOST_BYTES}", path.display()));
        }
        // With the current time (`-m`): all files of a package have one old date, from which cargo would conclude that
        // nothing has changed.
        succeed(Command::new("tar").arg("-xzmf").arg(&path).arg("-C").arg(&unpacked))?;
    }
    if found == 0 {
        return Err(format!("{}: no package", folder.display()));
    }
    build(&unpacked)?;
    without_zarr()
}

/// Checks the program's message for a missing feature, in a build with default features, since tests have all features.
fn without_zarr() -> Result<(), String> {
    let folder = crate::target_dir().join("package/lacks.zarr");
    fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
    let program = crate::target_dir().join("debug/apron");
    let ended = Command::new(&program).arg("stats").arg(&folder).output().map_err(|error| at(&program, error))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    let expected = "`cargo install --path crates/cli --features zarr`";
    if ended.status.code() == Some(2) && said.contains(expected) {
        return Ok(());
    }
    Err(format!("{}: {} without {expected}: {said}", program.display(), ended.status))
}

/// Builds the packages unpacked in `folder`; each takes the others from there instead of from crates.io.
fn build(folder: &Path) -> Result<(), String> {
    // With the workspace's lock file, and its profile for dependencies, which are thus compiled once for both; Apron's
    // own crates are not optimized here.
    let (root, mut text) = (crate::root(), PROFILE.to_string());
    text.push_str("[workspace]\nresolver = \"3\"\nmembers = [\"*-*\"]\n\n[patch.crates-io]\n");
    for entry in fs::read_dir(folder).map_err(|error| at(folder, error))?.flatten() {
        let folder = entry.file_name().display().to_string();
        let (name, _) = folder.rsplit_once('-').ok_or_else(|| format!("{folder}: no name and version"))?;
        let _ = writeln!(text, "{name} = {{ path = \"{folder}\" }}");
    }
    let manifest = folder.join("Cargo.toml");
    fs::write(&manifest, text).map_err(|error| at(&manifest, error))?;
    let lock = folder.join("Cargo.lock");
    fs::copy(root.join("Cargo.lock"), &lock).map_err(|error| at(&lock, error))?;
    let mut build = crate::cargo();
    build.current_dir(folder).args(["build", "--workspace", "--quiet", "--target-dir"]).arg(crate::target_dir());
    succeed(&mut build)
}
