//! Packages as crates.io gets them: each builds from its `.crate` alone, and is small enough.

use crate::at;

/// crates.io takes 10 MiB. Who comes near moves a family of kernels into a crate of its own.
const MOST_BYTES: u64 = 8 << 20;

/// Packs and builds every package but this one's, and checks their sizes.
pub(crate) fn check() -> Result<(), String> {
    let mut command = crate::cargo();
    // What is not committed is packed, too: the check is of the sources at hand.
    command.args(["package", "--workspace", "--exclude", "xtask", "--allow-dirty", "--quiet"]);
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
