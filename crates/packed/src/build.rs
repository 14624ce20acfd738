//! Packs files, in build scripts.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Compression level: higher ones take several times as long for 2 % less.
const LEVEL: u8 = 7;

/// Deflates the files `FAMILY/NAME.sm_TARGET.EXTENSION` of `folder` into `OUT_DIR`, and writes `pack.rs` there: an
/// expression of type [`Pack`](crate::Pack).
///
/// # Panics
/// If a file cannot be read, or its name has another form.
pub fn pack(folder: &Path, extension: &str) {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for family in entries(folder).into_iter().filter(|path| path.is_dir()) {
        println!("cargo:rerun-if-changed={}", family.display());
        for path in entries(&family) {
            let name = path.file_name().and_then(|name| name.to_str()).expect("files have plain names");
            let stem = name.strip_suffix(&format!(".{extension}"));
            let (entry, target) = stem.and_then(|stem| stem.split_once(".sm_")).expect("NAME.sm_TARGET.EXTENSION");
            files.push((entry.to_string(), target.parse::<u32>().expect("a target is a number"), path));
        }
    }
    files.sort();

    let (mut bytes, mut rows) = (Vec::new(), String::new());
    for ((entry, target, _), (size, deflated)) in files.iter().zip(deflate(&files)) {
        let start = bytes.len();
        bytes.extend(deflated);
        let place = (start, bytes.len());
        writeln!(rows, "apron_packed::File {{ name: {entry:?}, target: {target}, size: {size}, place: {place:?} }},")
            .expect("a string takes all");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let packed = out.join("pack.bin");
    std::fs::write(&packed, bytes).expect("OUT_DIR is writable");
    let text = format!("apron_packed::Pack {{ files: &[\n{rows}], bytes: include_bytes!({packed:?}) }}\n");
    std::fs::write(out.join("pack.rs"), text).expect("OUT_DIR is writable");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a folder that can be read").path()).collect()
}

/// Returns the size and the deflated bytes of each file, computed on all cores.
fn deflate(files: &[(String, u32, PathBuf)]) -> Vec<(usize, Vec<u8>)> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, (.., path))) = files.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            let raw = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            done.push((at, (raw.len(), miniz_oxide::deflate::compress_to_vec(&raw, LEVEL))));
        }
        done
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, deflated)| deflated).collect()
}
