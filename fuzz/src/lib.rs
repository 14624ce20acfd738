//! Shared by the targets: invariants of the readers, and a memory limit.

mod seeds;

use apron_core::{AnyImage, ErrorKind, Mask};
use apron_files::{Error, Result, decode_image, decode_mask, write_array};
use libfuzzer_sys::Corpus;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Cursor;
use std::path::Path;

/// Largest accepted image, in pixels.
pub const MAX_PIXELS: u64 = 1 << 14;
/// Largest allocation, in bytes: far above the size of an image of [`MAX_PIXELS`], far below the sizes in hostile
/// headers.
const MAX_BYTES: usize = 32 << 20;

/// The system's allocator, with a limit of [`MAX_BYTES`] per allocation.
struct Limited;

#[global_allocator]
static MEMORY: Limited = Limited;

fn check(bytes: usize) {
    if bytes > MAX_BYTES {
        eprintln!("an allocation of {bytes} bytes, for a file that may give {MAX_PIXELS} pixels");
        std::process::abort();
    }
}

// SAFETY: every call is forwarded to the system's allocator, under the same contract.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        check(size);
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Writes the target's seeds into libFuzzer's corpus folder before libFuzzer reads it.
///
/// Replaces libFuzzer's panic hook, which ends the process: panics of decoders are caught, and libFuzzer sees the
/// others when they leave the target.
pub fn start(target: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    seeds::write(target, &folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    std::panic::set_hook(Box::new(|panic| {
        if std::env::var_os("APRON_FUZZ_PANICS").is_some() || !panic.location().is_some_and(is_decoders) {
            eprintln!("{panic}");
        }
    }));
}

/// Whether a panic comes from another crate.
fn is_decoders(place: &std::panic::Location<'_>) -> bool {
    place.file().contains(".cargo/registry")
}

/// Reads a picture, if its first bytes are those of the target's format.
pub fn picture(is_one: bool, bytes: &[u8]) -> Corpus {
    if !is_one {
        return Corpus::Reject;
    }
    let _ = image(bytes);
    Corpus::Keep
}

/// Reads an array, as an image and as a mask.
pub fn array(bytes: &[u8]) -> Corpus {
    if !bytes.starts_with(b"\x93NUMPY") {
        return Corpus::Reject;
    }
    // This reader is Apron's own.
    let own = |error: Error| assert!(!matches!(error, Error::Decoder { .. }), "{error}");
    image(bytes).map_or_else(own, drop);
    let mask: Result<Mask> = decode_mask(Path::new("mutant"), Cursor::new(bytes));
    mask.map_or_else(own, drop);
    Corpus::Keep
}

/// Reads an image. An accepted image is within the limit, and survives a round trip through an array.
fn image(bytes: &[u8]) -> Result<AnyImage<'static>> {
    let decode = |bytes: &[u8]| decode_image(Path::new("mutant"), Cursor::new(bytes), MAX_PIXELS);
    let image = decode(bytes).inspect_err(|error| assert_eq!(error.kind(), ErrorKind::Input, "{error}"))?;
    assert!(image.shape().pixels() <= MAX_PIXELS, "{}", image.shape());
    let mut file = Vec::new();
    write_array(&mut file, &image).unwrap();
    let again = decode(&file).unwrap();
    assert!((again.shape(), again.bytes()) == (image.shape(), image.bytes()), "{}", image.shape());
    Ok(image)
}
