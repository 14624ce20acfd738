//! Pinned host memory: the slots of lanes, and images that stay pinned.

use crate::device::{Gpu, OpenDevice};
use crate::error::{checked, driver};
use apron_core::{Error, Result};
use cust::event::{Event, EventFlags};
use cust::stream::Stream as CustStream;
use cust::sys::{cuMemHostRegister_v2, cuMemHostUnregister};
use std::alloc::Layout;
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes per slot. Each copy costs the driver some 10 us, in which 0.5 MiB would cross the bus.
pub(crate) const SLOT_BYTES: usize = 2 << 20;
/// Slots per lane.
pub(crate) const SLOTS: usize = 2;
/// Pins memory for all GPUs, not only for the one whose context is current: the driver's flag of that name.
const CU_MEMHOSTREGISTER_PORTABLE: u32 = 1;
/// Size of the system's huge pages, in bytes, which are pinned faster.
const HUGE_PAGE: usize = 2 << 20;

/// Pinned memory in slots, which are copied from or to one after the other.
pub(crate) struct Slots {
    memory: Pinned,
    /// Per slot, the event behind its last copy.
    copied: [Event; SLOTS],
    /// The slot that was used last.
    last: Cell<usize>,
}

/// Pinned host memory.
struct Pinned {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory belongs to its slots, which are disjoint, and each slot to one lane.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Allocates and pins memory that is not initialised; the context must be current.
    fn new(bytes: usize) -> Result<Pinned> {
        let layout = Layout::from_size_align(bytes.max(1), HUGE_PAGE).expect("a power of two");
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { std::alloc::alloc(layout) });
        let source = || "the host has too little memory".into();
        let start =
            start.ok_or_else(|| Error::OutOfMemory { operation: "upload", bytes: bytes as u64, source: source() })?;
        #[cfg(target_os = "linux")]
        // SAFETY: the range was allocated above, and the advice changes no contents.
        unsafe {
            libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
        }
        // SAFETY: the range was allocated above, and is released before it is freed.
        let pinned = unsafe { cuMemHostRegister_v2(start.as_ptr().cast(), bytes, CU_MEMHOSTREGISTER_PORTABLE) };
        checked(pinned, || format!("pinning {bytes} bytes of host memory")).inspect_err(|_| {
            // SAFETY: allocated above with this layout.
            unsafe { std::alloc::dealloc(start.as_ptr(), layout) };
        })?;
        Ok(Pinned { start, layout })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: allocated and pinned by `new`. If the context is lost, so is the registration.
        unsafe {
            let _ = cuMemHostUnregister(self.start.as_ptr().cast());
            std::alloc::dealloc(self.start.as_ptr(), self.layout);
        }
    }
}

impl Slots {
    /// Allocates and pins the slots; the context must be current.
    pub(crate) fn new() -> Result<Slots> {
        let event = || Event::new(EventFlags::DISABLE_TIMING).map_err(|error| driver("creating an event", error));
        let copied = [event()?, event()?];
        Ok(Slots { memory: Pinned::new(SLOTS * SLOT_BYTES)?, copied, last: Cell::new(0) })
    }

    /// Waits for the last copy of the next slot, and returns the slot.
    pub(crate) fn next(&self) -> Result<usize> {
        self.last.set((self.last.get() + 1) % SLOTS);
        self.wait(self.last.get()).map(|()| self.last.get())
    }

    /// Waits for a slot's last copy.
    pub(crate) fn wait(&self, slot: usize) -> Result<()> {
        self.copied[slot].synchronize().map_err(|error| driver("waiting for a copy", error))
    }

    pub(crate) fn pointer(&self, slot: usize) -> *mut u8 {
        self.memory.start.as_ptr().wrapping_add(slot * SLOT_BYTES)
    }

    pub(crate) fn record(&self, slot: usize, stream: &CustStream) -> Result<()> {
        self.copied[slot].record(stream).map_err(|error| driver("ordering a copy", error))
    }
}

/// Pinned host memory of zeros, which stays pinned until it is dropped.
pub struct PinnedMemory {
    pinned: ManuallyDrop<Pinned>,
    bytes: usize,
    device: Arc<OpenDevice>,
}

impl fmt::Debug for PinnedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedMemory").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl PinnedMemory {
    /// Allocates `bytes` bytes of zeros.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the host has too little memory, and [`Error::Driver`] if it cannot be pinned.
    pub fn new(gpu: &Gpu, bytes: usize) -> Result<PinnedMemory> {
        gpu.device.enter()?;
        let pinned = ManuallyDrop::new(Pinned::new(bytes)?);
        // SAFETY: allocated with this size.
        unsafe { pinned.start.as_ptr().write_bytes(0, bytes) };
        Ok(PinnedMemory { pinned, bytes, device: gpu.device.clone() })
    }

    /// Returns the bytes, whose address is a multiple of 2 MiB.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: allocated with this size, and initialised.
        unsafe { std::slice::from_raw_parts(self.pinned.start.as_ptr(), self.bytes) }
    }

    /// Returns the bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pinned.start.as_ptr(), self.bytes) }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        // Copies were waited for by the calls that enqueued them. Unpinning needs the context.
        let _ = self.device.enter();
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::drop(&mut self.pinned) };
    }
}
