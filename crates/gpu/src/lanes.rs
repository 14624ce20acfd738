//! Lanes: several copies between host and device at a time, by several threads.
//!
//! The driver copies pageable memory with a single thread, which also waits for the page faults of fresh memory. A lane
//! is a thread with a stream and two pinned slots of [`SLOT_BYTES`]; it fills one slot during the bulk copy of the
//! other. Threads and streams start with the first large copy and stay, since both cost more than a small copy; slots
//! are pinned when they are first used. There are at most [`MOST_LANES`] per GPU: 64 MiB of pinned memory.

use crate::device::{Gpu, OpenDevice};
use crate::error::{checked, driver};
use crate::host_rows::{HostRows, HostRowsMut};
use crate::staging::{SLOT_BYTES, SLOTS, Slots};
use crate::stream::{SharedEvent, Stream, order};
use apron_core::Result;
use cust::event::Event;
use cust::stream::{Stream as CustStream, StreamFlags};
use cust::sys::{cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2};
use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// Least size of a copy that takes lanes, in bytes.
pub(crate) const LEAST_BYTES: usize = 1 << 20;
/// Least size of a copy from the device that takes a lane's slot: the driver copies less to pageable memory as fast.
pub(crate) const LEAST_STAGED: usize = 64 << 10;
/// Least bytes per piece of a copy that all lanes share.
const LEAST_PIECE: usize = 256 << 10;
/// Most lanes per GPU; there is one per processor of the host.
const MOST_LANES: usize = 16;

/// The lanes of a GPU, which start with the first large copy.
#[derive(Default)]
pub(crate) struct Lanes {
    /// `None` if no threads can be started. A panic in a thread reaches the caller, and leaves no state behind.
    threads: OnceLock<Option<AssertUnwindSafe<rayon::ThreadPool>>>,
    lanes: Mutex<Existing>,
}

#[derive(Default)]
struct Existing {
    /// Lanes that are not in use.
    free: Vec<Lane>,
    /// Lanes that exist, free or in use.
    count: usize,
}

/// A stream with pinned memory, used by one thread at a time.
pub(crate) struct Lane {
    pub(crate) stream: Arc<CustStream>,
    /// Pinned on first use; `None` if memory cannot be pinned, and the driver copies from pageable memory.
    slots: OnceCell<Option<Slots>>,
    /// Stream of uploads from pinned rows, so that the next upload does not wait for the last download; `None` if it
    /// cannot be created.
    ahead: OnceCell<Option<CustStream>>,
    /// Pairs of events that time kernels, for the next work of the lane.
    pub(crate) events: RefCell<Vec<[Event; 2]>>,
}

impl Lane {
    /// Creates a lane; the context must be current.
    fn new() -> Result<Lane> {
        let stream = CustStream::new(StreamFlags::NON_BLOCKING, None);
        let stream = stream.map_err(|error| driver("creating a stream", error))?;
        Ok(Lane {
            stream: Arc::new(stream),
            slots: OnceCell::new(),
            ahead: OnceCell::new(),
            events: RefCell::default(),
        })
    }

    /// Returns the slots for rows that are not pinned themselves.
    fn slots(&self, pinned: bool) -> Option<&Slots> {
        if pinned { None } else { self.slots.get_or_init(|| Slots::new().ok()).as_ref() }
    }

    /// Returns the stream of uploads from pinned rows. The context must be current.
    pub(crate) fn ahead(&self) -> Option<&CustStream> {
        self.ahead.get_or_init(|| CustStream::new(StreamFlags::NON_BLOCKING, None).ok()).as_ref()
    }

    /// Waits for all copies and kernels.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let ahead = self.ahead.get().and_then(Option::as_ref).map_or(Ok(()), CustStream::synchronize);
        self.stream.synchronize().and(ahead).map_err(|error| driver("waiting for a lane", error))
    }

    /// Enqueues copies of `pieces`, ranges of the rows' bytes, to the device, where byte 0 of the rows is at `address`.
    /// On return the rows may be changed, unless they are pinned: pinned rows are read in place.
    pub(crate) fn upload(
        &self,
        rows: HostRows<'_>,
        pieces: impl Iterator<Item = Range<usize>>,
        address: u64,
    ) -> Result<()> {
        self.upload_on(&self.stream, rows, pieces, address)
    }

    /// As [`upload`](Lane::upload), on a stream of the lane.
    pub(crate) fn upload_on(
        &self,
        stream: &CustStream,
        rows: HostRows<'_>,
        pieces: impl Iterator<Item = Range<usize>>,
        address: u64,
    ) -> Result<()> {
        // SAFETY: the caller's buffer has the bytes. A slot is not written before its copy is done; from pageable
        // memory the driver has taken the bytes when the call returns.
        let copy = |from: *const u8, to: u64, bytes: usize| unsafe {
            checked(cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream.as_inner()), || copying(bytes, "to"))
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
                slots.record(slot, stream)?;
                to += bytes as u64;
            }
        }
        Ok(())
    }

    /// Copies `pieces` from the device, where byte 0 of the rows is at `address`, and waits for them, but not for
    /// copies to pinned rows, which are written in place.
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
        // SAFETY: the caller's buffer has the bytes. A slot is read when its copy is done, and the caller waits before
        // others use pinned rows.
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

impl Lanes {
    /// Starts the threads, if they do not run yet.
    fn threads(&self) -> Option<&rayon::ThreadPool> {
        let start = || {
            let named = |number| format!("apron lane {number}");
            rayon::ThreadPoolBuilder::new()
                .num_threads(most_lanes())
                .thread_name(named)
                .build()
                .ok()
                .map(AssertUnwindSafe)
        };
        self.threads.get_or_init(start).as_deref()
    }

    fn existing(&self) -> MutexGuard<'_, Existing> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a lane; `None` if other work uses all of them, or if no stream can be created. The
    /// context must be current.
    fn take(&self) -> Option<Lane> {
        let mut existing = self.existing();
        if let Some(lane) = existing.free.pop() {
            return Some(lane);
        }
        if existing.count == MOST_LANES {
            return None;
        }
        let lane = Lane::new().ok()?;
        existing.count += 1;
        Some(lane)
    }

    /// Frees streams and pinned memory that no copy uses. The context must be current.
    pub(crate) fn free(&self) {
        let mut existing = self.existing();
        existing.count -= existing.free.len();
        existing.free.clear();
    }
}

impl OpenDevice {
    /// Runs `work` on up to `most` lanes, and waits for all of them; `None` if there are no lanes. The lanes' streams
    /// run behind all work enqueued on `stream` so far, and work enqueued on it later runs behind them.
    pub(crate) fn on_lanes(
        self: &Arc<Self>,
        stream: &Stream,
        most: usize,
        work: impl Fn(&Lane) -> Result<()> + Sync,
    ) -> Result<Option<()>> {
        let Some(threads) = self.lanes.threads() else { return Ok(None) };
        self.enter()?;
        let enqueued = SharedEvent::recorded(&stream.inner)?;
        let run = |lane: &Lane| {
            let worked = enqueued.make_wait(&lane.stream).and_then(|()| work(lane));
            if worked.is_err() {
                // Copies must end before the caller's memory and buffers are freed.
                let _ = lane.synchronize();
            }
            worked
        };
        let results = Mutex::new(Vec::new());
        let one = || {
            // Where no stream can be created, other lanes do the work.
            let Some(lane) = self.enter().ok().and_then(|()| self.lanes.take()) else { return };
            let worked = run(&lane).map(|()| lane.stream.clone());
            self.lanes.existing().free.push(lane);
            results.lock().unwrap_or_else(PoisonError::into_inner).push(worked);
        };
        // This thread works on a lane, too: small work is done before the other threads wake up.
        threads.in_place_scope(|scope| {
            (1..most.min(most_lanes())).for_each(|_| scope.spawn(|_| one()));
            one();
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        if results.iter().any(Result::is_err) {
            // As above: the copies of lanes that did not fail.
            results.iter().flatten().for_each(|lane: &Arc<CustStream>| _ = lane.synchronize());
        }
        let worked = results.into_iter().collect::<Result<Vec<_>>>()?;
        for lane in &worked {
            order(&stream.inner, lane)?;
        }
        Ok((!worked.is_empty()).then_some(()))
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

/// Runs `work` with pinned memory of [`SLOT_BYTES`], which no copy uses and which is not initialised; `None` if there are
/// no lanes, or if memory cannot be pinned. The context must be current, and copies must end before `work` returns.
pub(crate) fn with_slot<R>(device: &OpenDevice, work: impl FnOnce(*mut u8) -> Result<R>) -> Result<Option<R>> {
    let Some(lane) = device.lanes.take() else { return Ok(None) };
    let worked = lane.slots(false).map(|slots| work(slots.pointer(slots.next()?))).transpose();
    device.lanes.existing().free.push(lane);
    worked
}

impl Gpu {
    /// Frees the lanes' streams and pinned memory that no copy uses.
    pub(crate) fn free_lanes(&self) {
        self.device.lanes.free();
    }
}
