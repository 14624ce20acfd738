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
use cust::sys::{CUstreamCaptureStatus, cuStreamGetCtx, cuStreamIsCapturing};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stream, which keeps its device open.
pub(crate) struct Stream {
    /// The driver's stream, owned or shared with the caller.
    pub(crate) inner: ManuallyDrop<Arc<CustStream>>,
    texture: Mutex<TextureSlot>,
    /// [`ZEROED_BYTES`] bytes of zeros, which every recipe leaves zeroed: recipes on a stream run one after the other,
    /// and so share them.
    zeroed: ManuallyDrop<DeviceBuffer<u8>>,
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
        Stream::with(device, Arc::new(inner))
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
        Stream::with(device, inner)
    }

    /// Wraps the stream of a lane, on a device whose context is current.
    pub(crate) fn of_lane(device: Arc<OpenDevice>, inner: Arc<CustStream>) -> Result<Arc<Stream>> {
        Stream::with(device, inner)
    }

    fn with(device: Arc<OpenDevice>, inner: Arc<CustStream>) -> Result<Arc<Stream>> {
        // SAFETY: all uses of the zeros are ordered after this on the stream.
        let zeroed = unsafe { DeviceBuffer::<u8>::zeroed_async(ZEROED_BYTES as usize, &inner) };
        let zeroed = zeroed.map_err(|error| driver(format!("zeroing {ZEROED_BYTES} bytes"), error))?;
        let (inner, zeroed) = (ManuallyDrop::new(inner), ManuallyDrop::new(zeroed));
        let (texture, beside, kept, spare) = Default::default();
        Ok(Arc::new(Stream { inner, texture, zeroed, beside, kept, spare, device }))
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

    /// Returns the address of the zeros that recipes on this stream share.
    pub(crate) fn zeroed(&self) -> u64 {
        self.zeroed.as_device_ptr().as_raw()
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
            // SAFETY: each is taken or dropped once, here. The memory is freed in stream order.
            unsafe {
                let _ = ManuallyDrop::take(&mut self.zeroed).drop_async(&self.inner);
                ManuallyDrop::drop(&mut self.inner);
            }
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
