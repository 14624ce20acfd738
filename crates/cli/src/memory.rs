//! The program's allocator: the system's. Where that has no memory left, Rust's own answer is to abort, with a backtrace;
//! this one ends the program as other troubles with large files do, by one line and exit code 3.
//!
//! Sizes that files and options give are asked for before ([`apron::Error::Shape`] names them, and other jobs go on);
//! this is for what nobody can foresee, such as the buffers in encoders.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's allocator, which ends the program where it has no memory.
pub(crate) struct Memory;

// SAFETY: every call is the system allocator's, with the caller's promises; `found` gives its pointer or does not return.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what the system's allocator asks for.
        found(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        found(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        found(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The memory, if there is some or if whoever asked can do without.
fn found(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && !apron_core::asks_for_memory() {
        end(bytes);
    }
    memory
}

/// Ends the program. It takes no memory: the line is made on the stack.
#[cold]
fn end(bytes: usize) -> ! {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, Ordering::Relaxed) {
        // Another thread is about to end the program, or this one already is.
        std::thread::sleep(Duration::from_millis(500));
        exit(3);
    }
    let mut line = [0; 100];
    let mut rest = &mut line[..];
    let _ = writeln!(rest, "apron: out of memory: an allocation of {bytes} bytes failed");
    let unused = rest.len();
    let _ = std::io::stderr().write_all(&line[..line.len() - unused]);
    apron_files::discard_drafts();
    exit(3)
}

/// Ends the process at once: what runs at its end elsewhere could ask for memory.
fn exit(code: i32) -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(code);
    #[cfg(not(unix))]
    std::process::exit(code);
}
