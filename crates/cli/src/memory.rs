//! The program's allocator: the system's. If that fails, Rust aborts by default; this one ends the program with one
//! line and exit code 3, like other errors of large files.
//!
//! Allocations whose sizes come from files and options are checked in advance ([`apron::Error::Shape`] names them, and
//! other jobs continue); this allocator is for unforeseeable ones, such as buffers in encoders.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The system's allocator, which ends the program when it is out of memory.
pub(crate) struct Memory;

// SAFETY: every call is forwarded to the system allocator, with the caller's guarantees; `found` returns its pointer or
// does not return.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what the system's allocator requires.
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

/// Returns the memory; ends the program if there is none, unless the allocation was a check that may fail.
fn found(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() && !apron_core::asks_for_memory() {
        end(bytes);
    }
    #[cfg(target_os = "linux")]
    if bytes >= 4 * HUGE_PAGE && !memory.is_null() {
        in_huge_pages(memory, bytes);
    }
    memory
}

/// Size of the system's huge pages, in bytes.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Advises huge pages: the first access to each page of fresh memory faults, and with pages of 4 KiB there are 512
/// times as many faults.
#[cfg(target_os = "linux")]
fn in_huge_pages(memory: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    let before = memory.addr().wrapping_neg() % HUGE_PAGE;
    let start = memory.wrapping_add(before);
    // SAFETY: the range is in the allocation, and the advice changes no contents. Nothing depends on
    // whether it is followed.
    let _ = unsafe { madvise(start.cast(), (bytes - before) / HUGE_PAGE * HUGE_PAGE, Advice::LinuxHugepage) };
}

/// Ends the program without allocating: the line is formatted on the stack.
#[cold]
fn end(bytes: usize) -> ! {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, Ordering::Relaxed) {
        // Another thread is already ending the program, or this one is.
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

/// Ends the process at once: exit handlers could allocate memory.
fn exit(code: i32) -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(code);
    #[cfg(not(unix))]
    std::process::exit(code);
}
