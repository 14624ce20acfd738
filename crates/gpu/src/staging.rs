//! Large copies between pageable host memory and the device: by several threads, through pinned memory.
//!
//! The driver's own copies of pageable memory are those of one thread, and where memory is fresh, that thread also waits for
//! its page faults. A lane is a stream with two pinned slots of [`SLOT_BYTES`]; a thread with a lane fills one slot while
//! the bulk copy of the other is under way. A lane is pinned when it is first used, and there are at most [`MOST_LANES`] per
//! GPU: 64 MiB of pinned memory.

use crate::device::{Gpu, OpenDevice};
use crate::error::{checked, driver};
use crate::host_rows::{HostRows, HostRowsMut};
use crate::stream::{Stream, order};
use apron_core::{Error, Result};
use cust::event::{Event, EventFlags};
use cust::stream::{Stream as CustStream, StreamFlags};
use cust::sys::{cuMemHostRegister_v2, cuMemHostUnregister, cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2};
use std::alloc::Layout;
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Least size of a copy that is staged, in bytes.
pub(crate) const LEAST_BYTES: usize = 1 << 20;
/// Bytes per slot. Each copy costs the driver some 10 us, in which 0.5 MiB would cross the bus.
const SLOT_BYTES: usize = 2 << 20;
const SLOTS: usize = 2;
/// Least bytes per piece of a copy that all lanes share.
const LEAST_PIECE: usize = 256 << 10;
/// Most lanes per GPU; there is one per processor of the host.
const MOST_LANES: usize = 16;
/// Pins memory for all GPUs, not only for the one whose context is current: the driver's flag of that name.
const CU_MEMHOSTREGISTER_PORTABLE: u32 = 1;
/// Size of the system's huge pages, in bytes, which are pinned faster.
const HUGE_PAGE: usize = 2 << 20;

/// The lanes of a GPU that no copy uses; empty before the first large copy.
#[derive(Default)]
pub(crate) struct Staging {
    lanes: Mutex<Lanes>,
}

#[derive(Default)]
struct Lanes {
    free: Vec<Lane>,
    /// Lanes that exist, free or in use.
    count: usize,
}

/// A stream with pinned memory, used by one thread at a time.
pub(crate) struct Lane {
    pub(crate) stream: Arc<CustStream>,
    /// Pinned on first use; `None` if the system does not let the driver pin memory, whose own copies then do.
    slots: OnceCell<Option<Slots>>,
}

struct Slots {
    memory: Pinned,
    /// Of each slot: recorded behind each copy from or to it.
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
    fn new() -> Result<Slots> {
        let event = || Event::new(EventFlags::DISABLE_TIMING).map_err(|error| driver("creating an event", error));
        let copied = [event()?, event()?];
        Ok(Slots { memory: Pinned::new(SLOTS * SLOT_BYTES)?, copied, last: Cell::new(0) })
    }

    /// Returns the next slot, behind its last copy.
    fn next(&self) -> Result<usize> {
        self.last.set((self.last.get() + 1) % SLOTS);
        self.wait(self.last.get()).map(|()| self.last.get())
    }

    /// Waits for a slot's last copy.
    fn wait(&self, slot: usize) -> Result<()> {
        self.copied[slot].synchronize().map_err(|error| driver("waiting for a copy", error))
    }

    fn pointer(&self, slot: usize) -> *mut u8 {
        self.memory.start.as_ptr().wrapping_add(slot * SLOT_BYTES)
    }

    fn record(&self, slot: usize, stream: &CustStream) -> Result<()> {
        self.copied[slot].record(stream).map_err(|error| driver("ordering a copy", error))
    }
}

impl Lane {
    /// Creates a lane; the context must be current.
    fn new() -> Result<Lane> {
        let stream = CustStream::new(StreamFlags::NON_BLOCKING, None);
        let stream = stream.map_err(|error| driver("creating a stream", error))?;
        Ok(Lane { stream: Arc::new(stream), slots: OnceCell::new() })
    }

    /// Returns the slots for rows that are not pinned themselves.
    fn slots(&self, pinned: bool) -> Option<&Slots> {
        if pinned { None } else { self.slots.get_or_init(|| Slots::new().ok()).as_ref() }
    }

    /// Enqueues copies of `pieces`, ranges of the rows' bytes, to the device, where byte 0 of the rows is at `address`. When
    /// it returns, the rows may be changed, but for pinned rows, which are read in place.
    pub(crate) fn upload(
        &self,
        rows: HostRows<'_>,
        pieces: impl Iterator<Item = Range<usize>>,
        address: u64,
    ) -> Result<()> {
        let stream = self.stream.as_inner();
        // SAFETY: the caller's buffer has the bytes. A slot is not written before its copy is done; from pageable memory the
        // driver has taken the bytes when the call returns.
        let copy = |from: *const u8, to: u64, bytes: usize| unsafe {
            checked(cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream), || copying(bytes, "to"))
        };
        for piece in pieces {
            let mut to = address.wrapping_add(piece.start as u64);
            let Some(slots) = self.slots(rows.pinned) else {
                for part in rows.parts(piece) {
                    copy(rows.start().wrapping_add(part.start), to, part.len())?;
                    to += part.len() as u64;
                }
                continue;
            };
            for piece in by_slots(piece) {
                let (slot, bytes) = (slots.next()?, piece.len());
                // SAFETY: the slot has room, no copy uses it, and it belongs to this lane.
                unsafe { rows.read(piece, slots.pointer(slot)) };
                copy(slots.pointer(slot), to, bytes)?;
                slots.record(slot, &self.stream)?;
                to += bytes as u64;
            }
        }
        Ok(())
    }

    /// Copies `pieces` from the device, where byte 0 of the rows is at `address`, and waits for them, but not for copies to
    /// pinned rows, which are written in place.
    ///
    /// # Safety
    /// No other thread accesses the pieces.
    pub(crate) unsafe fn download(
        &self,
        rows: &HostRowsMut<'_>,
        pieces: impl Iterator<Item = Range<usize>>,
        address: u64,
    ) -> Result<()> {
        let stream = self.stream.as_inner();
        // SAFETY: the caller's buffer has the bytes. A slot is read when its copy is done, and the caller waits before others
        // use pinned rows.
        let copy = |to: *mut u8, from: u64, bytes: usize| unsafe {
            checked(cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream), || copying(bytes, "from"))
        };
        let Some(slots) = self.slots(rows.pinned) else {
            for piece in pieces {
                let mut from = address.wrapping_add(piece.start as u64);
                for part in rows.parts(piece) {
                    copy(rows.start().wrapping_add(part.start), from, part.len())?;
                    from += part.len() as u64;
                }
            }
            let waited = if rows.pinned { Ok(()) } else { self.stream.synchronize() };
            return waited.map_err(|error| driver("waiting for a copy", error));
        };
        let mut pieces = pieces.flat_map(by_slots);
        let mut flying: VecDeque<(usize, Range<usize>)> = VecDeque::with_capacity(SLOTS);
        loop {
            while flying.len() < SLOTS
                && let Some(piece) = pieces.next()
            {
                let slot = slots.next()?;
                copy(slots.pointer(slot), address.wrapping_add(piece.start as u64), piece.len())?;
                slots.record(slot, &self.stream)?;
                flying.push_back((slot, piece));
            }
            let Some((slot, piece)) = flying.pop_front() else { return Ok(()) };
            slots.wait(slot)?;
            // SAFETY: the slot holds the piece, which is in the rows, and no other thread's.
            unsafe { rows.write(piece, slots.pointer(slot)) };
        }
    }
}

fn copying(bytes: usize, direction: &str) -> String {
    format!("copying {bytes} bytes {direction} the GPU")
}

/// Splits a range into ranges that fit into a slot.
fn by_slots(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(SLOT_BYTES).map(move |start| start..(start + SLOT_BYTES).min(end))
}

/// Returns the pieces of a copy of `bytes` bytes that `lanes` lanes share by `next`: two each, if they fit into a slot.
fn shared(bytes: usize, lanes: usize, next: &AtomicUsize) -> impl Iterator<Item = Range<usize>> {
    let piece = (bytes / (2 * lanes)).next_multiple_of(4096).clamp(LEAST_PIECE, SLOT_BYTES);
    std::iter::from_fn(move || {
        let start = next.fetch_add(1, Ordering::Relaxed) * piece;
        (start < bytes).then(|| start..(start + piece).min(bytes))
    })
}

impl Staging {
    /// Takes up to `most` free lanes: none if other copies use all of them, or if no stream can be created. The context must
    /// be current.
    fn take(&self, most: usize) -> Vec<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if lanes.count == 0 {
            lanes.free = (0..most_lanes()).map_while(|_| Lane::new().ok()).collect();
            lanes.count = lanes.free.len();
        }
        let left = lanes.free.len().saturating_sub(most);
        lanes.free.split_off(left)
    }

    fn put(&self, used: Vec<Lane>) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).free.extend(used);
    }

    /// Frees the lanes that no copy uses. The context must be current.
    pub(crate) fn free(&self) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        lanes.count -= lanes.free.len();
        lanes.free.clear();
    }
}

impl OpenDevice {
    /// Runs `work` on up to `most` lanes, each with a thread, and waits for all of them; `None` if there are no lanes. The
    /// lanes' streams run behind all work enqueued on `stream` so far, and work enqueued on it later runs behind them.
    pub(crate) fn on_lanes(
        self: &Arc<Self>,
        stream: &Stream,
        most: usize,
        work: impl Fn(&Lane) -> Result<()> + Sync,
    ) -> Result<Option<()>> {
        let mut lanes = self.staging.take(most);
        if lanes.is_empty() {
            return Ok(None);
        }
        let run = |lane: &mut Lane| {
            self.enter()?;
            order(&lane.stream, &stream.inner)?;
            work(lane)
        };
        let results = thread::scope(|scope| {
            let (own, others) = lanes.split_first_mut().expect("at least one");
            // Where no more threads are to be had, fewer lanes do the work.
            let spawned =
                others.iter_mut().map_while(|lane| thread::Builder::new().spawn_scoped(scope, || run(lane)).ok());
            let spawned: Vec<_> = spawned.collect();
            let own = run(own);
            let others = spawned.into_iter().map(|thread| thread.join().expect("a lane does not panic"));
            std::iter::once(own).chain(others).collect::<Vec<_>>()
        });
        let mut result: Result<()> = results.into_iter().collect();
        for lane in &lanes {
            if result.is_ok() {
                result = order(&stream.inner, &lane.stream);
            } else {
                // No copy may go on when the caller's memory and buffers are gone.
                let _ = lane.stream.synchronize();
            }
        }
        self.staging.put(lanes);
        result.map(Some)
    }
}

/// Returns the number of lanes of a GPU.
pub(crate) fn most_lanes() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_LANES)
}

/// Copies rows to the device, behind the work enqueued on `stream` so far; `None` if there are no lanes.
pub(crate) fn upload(stream: &Stream, rows: HostRows<'_>, address: u64) -> Result<Option<()>> {
    let (bytes, next, lanes) = (rows.bytes(), AtomicUsize::new(0), most_lanes());
    let most = bytes.div_ceil(LEAST_PIECE);
    stream.device.on_lanes(stream, most, |lane| lane.upload(rows, shared(bytes, lanes, &next), address))
}

/// Copies rows from the device, behind the work enqueued on `stream` so far, and waits for them; `None` if there are no
/// lanes.
pub(crate) fn download(stream: &Stream, rows: &HostRowsMut<'_>, address: u64) -> Result<Option<()>> {
    let (bytes, next, lanes) = (rows.bytes(), AtomicUsize::new(0), most_lanes());
    stream.device.on_lanes(stream, bytes.div_ceil(LEAST_PIECE), |lane| {
        // SAFETY: each piece is given to one lane.
        unsafe { lane.download(rows, shared(bytes, lanes, &next), address) }
    })
}

impl Gpu {
    /// Frees the pinned memory that no copy uses.
    pub(crate) fn free_staging(&self) {
        self.device.staging.free();
    }
}

/// Pinned host memory of zeros, which stays pinned until it is dropped.
pub struct PinnedMemory {
    pinned: ManuallyDrop<Pinned>,
    bytes: usize,
    device: Arc<OpenDevice>,
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
