//! Streams, and the order between them.

use crate::device::OpenDevice;
use crate::error::{checked, driver, not_captured, not_recorded};
use crate::memory::Kept;
use crate::texture::TextureSlot;
use apron_abi::ZEROED_BYTES;
use apron_core::{Error, Result};
use cust::event::{Event, EventFlags};
use cust::memory::DeviceBuffer;
use cust::stream::{Stream as CustStream, StreamFlags, StreamWaitEventFlags};
use cust::sys::{
    CUevent, CUevent_flags, CUstreamCaptureStatus, cuEventCreate, cuEventDestroy_v2, cuEventRecord, cuStreamGetCtx,
    cuStreamIsCapturing, cuStreamWaitEvent,
};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Most pairs of events that a stream keeps.
const MOST_EVENTS: usize = 64;

/// A stream, which keeps its device open.
pub(crate) struct Stream {
    /// The driver's stream, owned or shared with the caller.
    pub(crate) inner: ManuallyDrop<Arc<CustStream>>,
    texture: Mutex<TextureSlot>,
    /// [`ZEROED_BYTES`] bytes of zeros, which every recipe leaves zeroed: recipes on a stream run one after the other,
    /// and so share them.
    zeroed: OnceLock<DeviceBuffer<u8>>,
    /// Pairs of events that time kernels, for the next timer.
    events: Mutex<Vec<[Event; 2]>>,
    /// While this stream is recorded: the stream on which memory is allocated and filled.
    beside: Mutex<Option<Arc<Stream>>>,
    /// Memory of recorded work, which lives as long as the stream, since every run uses it.
    kept: Mutex<Vec<Kept>>,
    /// Unused memory for the next request of the same size; `None` if unused memory is freed.
    spare: Mutex<Option<Vec<DeviceBuffer<u8>>>>,
    pub(crate) device: Arc<OpenDevice>,
}

impl Stream {
    /// Creates a stream on a device whose context is current.
    pub(crate) fn new(device: Arc<OpenDevice>) -> Result<Arc<Stream>> {
        let inner = CustStream::new(StreamFlags::DEFAULT, None).map_err(|error| driver("creating a stream", error))?;
        Stream::with_zeros(device, Arc::new(inner))
    }

    /// Wraps a stream of the caller, on a device whose context is current.
    pub(crate) fn of_caller(device: Arc<OpenDevice>, inner: Arc<CustStream>) -> Result<Arc<Stream>> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the stream exists, since it is shared; the call writes only the handle.
        checked(unsafe { cuStreamGetCtx(inner.as_inner(), &mut context) }, || "asking for a stream's context".into())?;
        if context != device.context() {
            let limit = format!("one of the primary context of gpu:{}", device.ordinal());
            return Err(Error::parameter("on_stream", "stream", "one of another context", limit));
        }
        if is_capturing(&inner)? {
            return Err(Error::parameter("on_stream", "stream", "captured", "one that is not captured yet"));
        }
        Stream::with_zeros(device, inner)
    }

    /// Wraps the stream of a lane, on a device whose context is current, with the lane's events.
    pub(crate) fn of_lane(device: Arc<OpenDevice>, inner: Arc<CustStream>, events: Vec<[Event; 2]>) -> Arc<Stream> {
        let (texture, zeroed, beside, kept, spare) = Default::default();
        let (inner, events) = (ManuallyDrop::new(inner), Mutex::new(events));
        Arc::new(Stream { inner, texture, zeroed, events, beside, kept, spare, device })
    }

    /// Wraps a stream, and allocates its zeros at once: while a stream is captured, they cannot be allocated.
    fn with_zeros(device: Arc<OpenDevice>, inner: Arc<CustStream>) -> Result<Arc<Stream>> {
        let stream = Stream::of_lane(device, inner, Vec::new());
        stream.zeroed().map(|_| stream)
    }

    /// Takes a pair of events of an earlier timer, if there is one.
    pub(crate) fn take_events(&self) -> Option<[Event; 2]> {
        self.events().pop()
    }

    /// Keeps a pair of events for the next timer.
    pub(crate) fn put_events(&self, pair: [Event; 2]) {
        let mut events = self.events();
        if events.len() < MOST_EVENTS {
            events.push(pair);
        }
    }

    /// Takes all events, for another stream.
    pub(crate) fn drain_events(&self) -> Vec<[Event; 2]> {
        std::mem::take(&mut self.events())
    }

    fn events(&self) -> MutexGuard<'_, Vec<[Event; 2]>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the allocating stream while this stream is recorded.
    pub(crate) fn beside(&self) -> Option<Arc<Stream>> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts recording, with a stream for allocations, or ends it.
    pub(crate) fn set_beside(&self, beside: Option<Arc<Stream>>) {
        *self.beside.lock().unwrap_or_else(PoisonError::into_inner) = beside;
    }

    /// Takes memory that must not be freed before the stream is dropped.
    pub(crate) fn keep(&self, memory: Kept) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    /// Returns whether the caller is capturing the stream into a graph.
    pub(crate) fn is_captured(&self) -> Result<bool> {
        Ok(self.beside().is_none() && is_capturing(&self.inner)?)
    }

    /// Returns an error if the caller is capturing the stream.
    pub(crate) fn uncaptured(&self, what: &str, hint: &str) -> Result<()> {
        if self.is_captured()? { Err(not_captured(&self.device, what, hint)) } else { Ok(()) }
    }

    /// Sets whether unused memory is kept.
    pub(crate) fn keep_spare(&self, keep: bool) {
        if !keep {
            self.free_spare();
        }
        let mut spare = self.spare();
        *spare = if keep { Some(spare.take().unwrap_or_default()) } else { None };
    }

    /// Takes a spare block of `bytes` bytes, if there is one: stream order separates its next use from its last.
    pub(crate) fn take_spare(&self, bytes: usize) -> Option<DeviceBuffer<u8>> {
        let mut spare = self.spare();
        let blocks = spare.as_mut()?;
        let place = blocks.iter().position(|block| block.len() == bytes)?;
        Some(blocks.swap_remove(place))
    }

    /// Keeps a block, or returns it if unused memory is not kept.
    pub(crate) fn put_spare(&self, memory: DeviceBuffer<u8>) -> Option<DeviceBuffer<u8>> {
        match self.spare().as_mut() {
            Some(blocks) => {
                blocks.push(memory);
                None
            }
            None => Some(memory),
        }
    }

    /// Frees the spare blocks; returns whether there were any. The context must be current.
    pub(crate) fn free_spare(&self) -> bool {
        let blocks = self.spare().as_mut().map(std::mem::take).unwrap_or_default();
        let some = !blocks.is_empty();
        for block in blocks {
            let _ = block.drop_async(&self.inner);
        }
        some
    }

    fn spare(&self) -> MutexGuard<'_, Option<Vec<DeviceBuffer<u8>>>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the address of the zeros that recipes on this stream share. The context must be current.
    pub(crate) fn zeroed(&self) -> Result<u64> {
        if self.zeroed.get().is_none() {
            // SAFETY: all uses of the zeros are ordered after this on the stream.
            let zeroed = unsafe { DeviceBuffer::<u8>::zeroed_async(ZEROED_BYTES as usize, &self.inner) };
            let zeroed = zeroed.map_err(|error| driver(format!("zeroing {ZEROED_BYTES} bytes"), error))?;
            if let Err(second) = self.zeroed.set(zeroed) {
                let _ = second.drop_async(&self.inner);
            }
        }
        Ok(self.zeroed.get().expect("set above").as_device_ptr().as_raw())
    }

    /// Returns the texture that launches on this stream share.
    pub(crate) fn texture(&self) -> MutexGuard<'_, TextureSlot> {
        self.texture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Orders all work enqueued from now on after the work enqueued on `other`.
    pub(crate) fn wait_for(self: &Arc<Self>, other: &Arc<Stream>) -> Result<()> {
        if Arc::ptr_eq(self, other) {
            return Ok(());
        }
        if self.beside().is_some() || other.beside().is_some() {
            return Err(not_recorded(
                &self.device,
                "images of several streams",
                "make them from the chain's own image",
            ));
        }
        for stream in [self, other] {
            stream.uncaptured("images of several streams", "use images that were made on the stream itself")?;
        }
        order(&self.inner, &other.inner)
    }
}

/// Orders all work enqueued on a stream from now on after the work enqueued on `other`.
pub(crate) fn order(stream: &CustStream, other: &CustStream) -> Result<()> {
    let ordered = Event::new(EventFlags::DISABLE_TIMING).and_then(|event| {
        event.record(other)?;
        // The driver keeps the event until it was waited for, so it may be dropped here.
        stream.wait_event(event, StreamWaitEventFlags::DEFAULT)
    });
    ordered.map_err(|error| driver("ordering two streams", error))
}

/// An event that is recorded once, and that several streams wait for.
pub(crate) struct SharedEvent(CUevent);

// SAFETY: the driver's calls on events may come from any thread.
unsafe impl Sync for SharedEvent {}

impl SharedEvent {
    /// Returns an event recorded behind all work enqueued on a stream so far; the context must be current.
    pub(crate) fn recorded(stream: &CustStream) -> Result<SharedEvent> {
        let mut event = std::ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: writes only the handle.
        checked(unsafe { cuEventCreate(&mut event, flags) }, || "creating an event".into())?;
        let shared = SharedEvent(event);
        // SAFETY: both exist.
        checked(unsafe { cuEventRecord(event, stream.as_inner()) }, || "ordering two streams".into())?;
        Ok(shared)
    }

    /// Makes all work enqueued on a stream from now on wait for the event.
    pub(crate) fn make_wait(&self, stream: &CustStream) -> Result<()> {
        // SAFETY: both exist.
        checked(unsafe { cuStreamWaitEvent(stream.as_inner(), self.0, 0) }, || "ordering two streams".into())
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        // SAFETY: created by `recorded`, and destroyed once; the driver keeps it until it was waited for.
        unsafe { cuEventDestroy_v2(self.0) };
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Destroying a stream needs its context to be current; its enqueued work still completes.
        if self.device.enter().is_ok() {
            let texture = self.texture.get_mut().unwrap_or_else(PoisonError::into_inner);
            texture.empty(&self.inner);
            self.free_spare();
            let kept = std::mem::take(self.kept.get_mut().unwrap_or_else(PoisonError::into_inner));
            if kept.iter().any(|memory| matches!(memory, Kept::Caller(_))) {
                let _ = self.inner.synchronize();
            }
            for memory in kept {
                if let Kept::Block(block) = memory {
                    let _ = block.drop_async(&self.inner);
                }
            }
            self.events().clear();
            // The memory is freed in stream order.
            if let Some(zeroed) = self.zeroed.take() {
                let _ = zeroed.drop_async(&self.inner);
            }
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        } else if let Some(zeroed) = self.zeroed.take() {
            // The memory was freed with the context.
            std::mem::forget(zeroed);
        }
    }
}

/// Returns whether work enqueued on a stream is captured into a graph instead of run.
fn is_capturing(stream: &CustStream) -> Result<bool> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the stream exists; the call writes only the variable.
    checked(unsafe { cuStreamIsCapturing(stream.as_inner(), &mut status) }, || "asking for a capture".into())?;
    Ok(status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}
