//! Packages as published on crates.io: each builds from its `.crate` alone, and is small enough.

use crate::at;

/// crates.io accepts 10 MiB. A package near the limit should move a family of kernels into a crate of its own.
const MOST_BYTES: u64 = 8 << 20;

/// Packages and builds every crate except xtask and the Python module, which is a wheel, and checks their sizes.
pub(crate) fn check() -> Result<(), String> {
    let mut command = crate::cargo();
    // Nothing of it is run: without what debuggers read, it compiles faster.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0");
    // Uncommitted files are packaged as well: the check is of the working tree.
    command.args([
        "package",
        "--workspace",
        "--exclude",
        "xtask",
        "--exclude",
        "apron-python",
        "--allow-dirty",
        "--quiet",
    ]);
    crate::check::succeed(&mut command)?;
    let folder = crate::target_dir().join("package");
    let mut found = 0;
    for entry in std::fs::read_dir(&folder).map_err(|error| at(&folder, error))?.flatten() {
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
    }
    if found == 0 { Err(format!("{}: no package", folder.display())) } else { Ok(()) }
}
