//! Packs files, in build scripts.

use lzma_rust2::{Lzma2Options, Lzma2Writer, MfType};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Alignment of the files in a group, in bytes: the size of an instruction in machine code.
const WORD: usize = 16;

/// A file of the folder: entry, target and path.
type Source = (String, u32, PathBuf);

/// Compresses the files `FAMILY/NAME.sm_TARGET.EXTENSION` of `folder` into `OUT_DIR`, and writes `pack.rs` there: an
/// expression of type [`Pack`](crate::Pack).
///
/// Groups of several files have up to `window` bytes. A larger window makes the pack smaller, and a file of it slower
/// to read: the files before it in its group are decompressed with it, at some 200 MB/s.
///
/// `is_code` says that the files are machine code, in words of 16 bytes.
///
/// # Panics
/// If a file cannot be read, or its name has another form.
pub fn pack(folder: &Path, extension: &str, window: u32, is_code: bool) {
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

    let groups = groups(&files, window);
    let compressed = on_all_cores(&groups, |group| compress(group, window, is_code));
    let (mut bytes, mut ends, mut rows) = (Vec::new(), Vec::new(), String::new());
    for (group, (files, compressed)) in groups.iter().zip(compressed).enumerate() {
        let mut offset = 0;
        for ((entry, target, _), size) in files {
            let place = format!("group: {group}, offset: {offset}, size: {size}");
            writeln!(rows, "apron_packed::File {{ name: {entry:?}, target: {target}, {place} }},")
                .expect("a string takes all");
            offset += size.next_multiple_of(WORD);
        }
        bytes.extend(compressed);
        ends.push(bytes.len());
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let packed = out.join("pack.bin");
    std::fs::write(&packed, bytes).expect("OUT_DIR is writable");
    let text = format!("files: &[\n{rows}], groups: &{ends:?}, window: {window}, bytes: include_bytes!({packed:?})");
    std::fs::write(out.join("pack.rs"), format!("apron_packed::Pack {{ {text} }}\n")).expect("OUT_DIR is writable");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a folder that can be read").path()).collect()
}

/// Splits the files, in order, into groups of at most `window` bytes or one file, with the size of each file.
fn groups(files: &[Source], window: u32) -> Vec<Vec<(&Source, usize)>> {
    let (mut groups, mut bytes) = (Vec::new(), usize::MAX);
    for file in files {
        let metadata = std::fs::metadata(&file.2).unwrap_or_else(|error| panic!("{}: {error}", file.2.display()));
        let size = metadata.len() as usize;
        if bytes.saturating_add(size) > window as usize {
            groups.push(Vec::new());
            bytes = 0;
        }
        groups.last_mut().expect("the first file begins a group").push((file, size));
        bytes += size;
    }
    groups
}

/// Compresses the files of a group, one after the other.
fn compress(group: &Vec<(&Source, usize)>, window: u32, is_code: bool) -> Vec<u8> {
    // Binary trees of depth 48: packs of 3 % less than by hash chains of 16, in half as much time again.
    let mut options = Lzma2Options::with_preset(4);
    let lzma = &mut options.lzma_options;
    (lzma.dict_size, lzma.mf, lzma.depth_limit, lzma.nice_len) = (window, MfType::Bt4, 48, 273);
    if is_code {
        // What predicts a byte: its place in the word, and not the byte before.
        (lzma.lc, lzma.lp, lzma.pb) = (0, 4, 4);
    }
    let mut writer = Lzma2Writer::new(Vec::new(), options);
    for ((.., path), _) in group {
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        writer.write_all(&bytes).expect("a vector takes all");
        writer.write_all(&[0; WORD][..bytes.len().next_multiple_of(WORD) - bytes.len()]).expect("a vector takes all");
    }
    writer.finish().expect("a vector takes all")
}

/// Maps items in order, on one thread per core.
fn on_all_cores<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((index, item)) = items.iter().enumerate().nth(next.fetch_add(1, Relaxed)) {
            done.push((index, map(item)));
        }
        done
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}
