//! Large copies between pageable host memory and the device: by several threads, through pinned memory.
//!
//! The driver's own copies of pageable memory are those of one thread, and where memory is fresh, that thread also waits for
//! its page faults. A lane is a stream with two pinned slots of [`SLOT_BYTES`]; a thread with a lane fills one slot while
//! the bulk copy of the other is under way. At most [`MOST_LANES`] lanes are pinned per GPU, on the first large copy:
//! 16 MiB.

use crate::device::{Gpu, OpenDevice};
use crate::error::{checked, driver};
use crate::host_rows::{HostRows, HostRowsMut};
use crate::stream::{Stream, order};
use apron_core::{Error, Result};
use cust::event::{Event, EventFlags};
use cust::stream::{Stream as CustStream, StreamFlags};
use cust::sys::{cuMemHostRegister_v2, cuMemHostUnregister, cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2};
use std::alloc::Layout;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Least size of a copy that is staged, in bytes.
pub(crate) const LEAST_BYTES: usize = 1 << 20;
/// Bytes per slot. Slots are used over and over, so small ones stay in the host's cache.
const SLOT_BYTES: usize = 512 << 10;
const SLOTS: usize = 2;
/// Most lanes per GPU; there is one per processor of the host.
const MOST_LANES: usize = 16;
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
    slots: [Slot; SLOTS],
    /// The slot that is used next.
    next: usize,
}

struct Slot {
    pinned: Arc<Pinned>,
    /// Offset in the pinned memory, in bytes.
    at: usize,
    /// Recorded behind each copy from or to the slot.
    copied: Event,
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
    /// Allocates zeros and pins them; the context must be current.
    fn new(bytes: usize) -> Result<Pinned> {
        let layout = Layout::from_size_align(bytes.max(1), HUGE_PAGE).expect("a power of two");
        // SAFETY: the size is not 0.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let source = || "the host has too little memory".into();
        let start =
            start.ok_or_else(|| Error::OutOfMemory { operation: "upload", bytes: bytes as u64, source: source() })?;
        #[cfg(target_os = "linux")]
        // SAFETY: the range was allocated above, and the advice changes no contents.
        unsafe {
            libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
        }
        // SAFETY: the range was allocated above, and is released before it is freed.
        let pinned = unsafe { cuMemHostRegister_v2(start.as_ptr().cast(), bytes, 0) };
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

impl Slot {
    fn pointer(&self) -> *mut u8 {
        self.pinned.start.as_ptr().wrapping_add(self.at)
    }

    /// Waits for the slot's last copy.
    fn wait(&self) -> Result<()> {
        self.copied.synchronize().map_err(|error| driver("waiting for a copy", error))
    }
}

impl Lane {
    /// Creates `count` lanes; the context must be current.
    fn create(count: usize) -> Result<Vec<Lane>> {
        let pinned = Arc::new(Pinned::new(count * SLOTS * SLOT_BYTES)?);
        let creating = |error| driver("creating a stream", error);
        let slot = |at: usize| -> Result<Slot> {
            let copied = Event::new(EventFlags::DISABLE_TIMING).map_err(creating)?;
            Ok(Slot { pinned: pinned.clone(), at: at * SLOT_BYTES, copied })
        };
        let lane = |index: usize| -> Result<Lane> {
            let stream = CustStream::new(StreamFlags::NON_BLOCKING, None).map_err(creating)?;
            let slots = [slot(SLOTS * index)?, slot(SLOTS * index + 1)?];
            Ok(Lane { stream: Arc::new(stream), slots, next: 0 })
        };
        (0..count).map(lane).collect()
    }

    fn slot(&mut self) -> usize {
        self.next = (self.next + 1) % SLOTS;
        self.next
    }

    /// Enqueues copies of `pieces`, ranges of the rows' bytes of at most [`SLOT_BYTES`], to the device, where byte 0 of the
    /// rows is at `address`. When it returns, the rows may be changed, but for pinned rows, which are read in place.
    pub(crate) fn upload(
        &mut self,
        rows: HostRows<'_>,
        pieces: impl Iterator<Item = Range<usize>>,
        address: u64,
    ) -> Result<()> {
        for piece in pieces {
            let (bytes, stream) = (piece.len(), self.stream.as_inner());
            let to = address.wrapping_add(piece.start as u64);
            if rows.pinned {
                let mut done = 0;
                for part in rows.parts(piece) {
                    let from = rows.start().wrapping_add(part.start);
                    // SAFETY: in the rows and in the caller's buffer; the caller waits before the rows change.
                    let copied = unsafe { cuMemcpyHtoDAsync_v2(to + done, from.cast(), part.len(), stream) };
                    checked(copied, || copying(bytes, "to"))?;
                    done += part.len() as u64;
                }
                continue;
            }
            let index = self.slot();
            let slot = &self.slots[index];
            slot.wait()?;
            // SAFETY: the slot has room, no copy uses it, and it belongs to this lane.
            unsafe { rows.read(piece, slot.pointer()) };
            let from = slot.pointer();
            // SAFETY: the caller's buffer has the bytes; the slot is not written before the copy is done.
            checked(unsafe { cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream) }, || copying(bytes, "to"))?;
            slot.copied.record(&self.stream).map_err(|error| driver(copying(bytes, "to"), error))?;
        }
        Ok(())
    }

    /// Copies `pieces` from the device, where byte 0 of the rows is at `address`, and waits for them, but not for copies to
    /// pinned rows, which are written in place.
    ///
    /// # Safety
    /// No other thread accesses the pieces.
    pub(crate) unsafe fn download(
        &mut self,
        rows: &HostRowsMut<'_>,
        mut pieces: impl Iterator<Item = Range<usize>>,
        address: u64,
    ) -> Result<()> {
        let stream = self.stream.as_inner();
        if rows.pinned {
            for piece in pieces {
                let (bytes, mut from) = (piece.len(), address.wrapping_add(piece.start as u64));
                for part in rows.parts(piece) {
                    let to = rows.start().wrapping_add(part.start);
                    // SAFETY: in the rows and in the caller's buffer; the caller waits before others use the rows.
                    let copied = unsafe { cuMemcpyDtoHAsync_v2(to.cast(), from, part.len(), stream) };
                    checked(copied, || copying(bytes, "from"))?;
                    from += part.len() as u64;
                }
            }
            return Ok(());
        }
        let mut flying: VecDeque<(usize, Range<usize>)> = VecDeque::with_capacity(SLOTS);
        loop {
            while flying.len() < SLOTS
                && let Some(piece) = pieces.next()
            {
                let index = self.slot();
                let slot = &self.slots[index];
                slot.wait()?;
                let bytes = piece.len();
                let (to, from) = (slot.pointer(), address.wrapping_add(piece.start as u64));
                // SAFETY: the caller's buffer has the bytes, the slot has room, and it is read when the copy is done.
                checked(unsafe { cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream) }, || copying(bytes, "from"))?;
                slot.copied.record(&self.stream).map_err(|error| driver(copying(bytes, "from"), error))?;
                flying.push_back((index, piece));
            }
            let Some((index, piece)) = flying.pop_front() else { return Ok(()) };
            self.slots[index].wait()?;
            // SAFETY: the slot holds the piece, which is in the rows, and no other thread's.
            unsafe { rows.write(piece, self.slots[index].pointer()) };
        }
    }
}

fn copying(bytes: usize, direction: &str) -> String {
    format!("copying {bytes} bytes {direction} the GPU")
}

/// Returns the pieces of `bytes` bytes, of at most [`SLOT_BYTES`] each, which several iterators share by `next`.
pub(crate) fn pieces(bytes: Range<usize>, next: &AtomicUsize) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        let start = bytes.start + next.fetch_add(1, Ordering::Relaxed) * SLOT_BYTES;
        (start < bytes.end).then(|| start..(start + SLOT_BYTES).min(bytes.end))
    })
}

impl Staging {
    /// Takes the free lanes, of which there are none while other copies use them all, or if no memory can be pinned. The
    /// context must be current.
    fn take(&self, most: usize) -> Vec<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if lanes.count == 0 {
            let processors = thread::available_parallelism().map_or(1, usize::from);
            lanes.free = Lane::create(processors.min(MOST_LANES)).unwrap_or_default();
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
        work: impl Fn(&mut Lane) -> Result<()> + Sync,
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
            let spawned = others.iter_mut().map_while(|lane| thread::Builder::new().spawn_scoped(scope, || run(lane)).ok());
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

/// Copies rows to the device, behind the work enqueued on `stream` so far; `None` if there are no lanes.
pub(crate) fn upload(stream: &Stream, rows: HostRows<'_>, address: u64) -> Result<Option<()>> {
    let (bytes, next) = (rows.bytes(), AtomicUsize::new(0));
    stream.device.on_lanes(stream, bytes.div_ceil(SLOT_BYTES), |lane| lane.upload(rows, pieces(0..bytes, &next), address))
}

/// Copies rows from the device, behind the work enqueued on `stream` so far, and waits for them; `None` if there are no
/// lanes.
pub(crate) fn download(stream: &Stream, rows: &HostRowsMut<'_>, address: u64) -> Result<Option<()>> {
    let (bytes, next) = (rows.bytes(), AtomicUsize::new(0));
    stream.device.on_lanes(stream, bytes.div_ceil(SLOT_BYTES), |lane| {
        // SAFETY: each piece is given to one lane.
        unsafe { lane.download(rows, pieces(0..bytes, &next), address) }
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
