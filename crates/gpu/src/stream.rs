//! A stream, and the order between streams.

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
    /// Ours alone, or shared with the caller.
    pub(crate) inner: ManuallyDrop<Arc<CustStream>>,
    texture: Mutex<TextureSlot>,
    /// [`ZEROED_BYTES`] of zeros, which every recipe leaves as it finds them: those of a stream run one after the
    /// other, and so may share them.
    zeroed: ManuallyDrop<DeviceBuffer<u8>>,
    /// While what is enqueued here is recorded and not run: the stream on which memory is allocated and filled
    /// meanwhile.
    beside: Mutex<Option<Arc<Stream>>>,
    /// Memory of recorded work, which is as old as the stream: every run of the work uses it.
    kept: Mutex<Vec<Kept>>,
    /// Memory that nobody uses, for the next that wants as much; `None` where none is kept.
    spare: Mutex<Option<Vec<DeviceBuffer<u8>>>>,
    pub(crate) device: Arc<OpenDevice>,
}

impl Stream {
    /// A new stream of a device whose context is current.
    pub(crate) fn new(device: Arc<OpenDevice>) -> Result<Arc<Stream>> {
        let inner = CustStream::new(StreamFlags::DEFAULT, None).map_err(|error| driver("creating a stream", error))?;
        Stream::with(device, Arc::new(inner))
    }

    /// A stream of the caller's, on a device whose context is current.
    pub(crate) fn of_caller(device: Arc<OpenDevice>, inner: Arc<CustStream>) -> Result<Arc<Stream>> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the stream is there, since it is shared; the call writes only the handle.
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

    fn with(device: Arc<OpenDevice>, inner: Arc<CustStream>) -> Result<Arc<Stream>> {
        // SAFETY: whatever uses the zeros comes behind them on the stream.
        let zeroed = unsafe { DeviceBuffer::<u8>::zeroed_async(ZEROED_BYTES as usize, &inner) };
        let zeroed = zeroed.map_err(|error| driver(format!("zeroing {ZEROED_BYTES} bytes"), error))?;
        let (inner, zeroed) = (ManuallyDrop::new(inner), ManuallyDrop::new(zeroed));
        let (texture, beside, kept, spare) = Default::default();
        Ok(Arc::new(Stream { inner, texture, zeroed, beside, kept, spare, device }))
    }

    /// While this stream is recorded, the stream beside it.
    pub(crate) fn beside(&self) -> Option<Arc<Stream>> {
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says that the stream is recorded from now on, with another beside it, or no longer.
    pub(crate) fn set_beside(&self, beside: Option<Arc<Stream>>) {
        *self.beside.lock().unwrap_or_else(PoisonError::into_inner) = beside;
    }

    /// Takes memory that nobody may free before the stream ends.
    pub(crate) fn keep(&self, memory: Kept) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    /// Whether the caller captures the stream into a graph.
    pub(crate) fn is_captured(&self) -> Result<bool> {
        Ok(self.beside().is_none() && is_capturing(&self.inner)?)
    }

    /// Refuses what would spoil the caller's capture.
    pub(crate) fn uncaptured(&self, what: &str, hint: &str) -> Result<()> {
        if self.is_captured()? { Err(not_captured(&self.device, what, hint)) } else { Ok(()) }
    }

    /// Says whether memory is kept from now on.
    pub(crate) fn keep_spare(&self, keep: bool) {
        if !keep {
            self.free_spare();
        }
        let mut spare = self.spare();
        *spare = if keep { Some(spare.take().unwrap_or_default()) } else { None };
    }

    /// Memory of so many bytes, if there is some to spare: on a stream its next use comes behind its last.
    pub(crate) fn take_spare(&self, bytes: usize) -> Option<DeviceBuffer<u8>> {
        let mut spare = self.spare();
        let blocks = spare.as_mut()?;
        let place = blocks.iter().position(|block| block.len() == bytes)?;
        Some(blocks.swap_remove(place))
    }

    /// Keeps memory, or gives it back where none is kept.
    pub(crate) fn put_spare(&self, memory: DeviceBuffer<u8>) -> Option<DeviceBuffer<u8>> {
        match self.spare().as_mut() {
            Some(blocks) => {
                blocks.push(memory);
                None
            }
            None => Some(memory),
        }
    }

    /// Frees what is kept; whether there was some. The context is current.
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

    /// The address of the zeros that recipes on this stream take turns to use.
    pub(crate) fn zeroed(&self) -> u64 {
        self.zeroed.as_device_ptr().as_raw()
    }

    /// The texture that launches on this stream take turns to use.
    pub(crate) fn texture(&self) -> MutexGuard<'_, TextureSlot> {
        self.texture.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets what is enqueued from now on wait for what is enqueued on `other`.
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
        let ordered = Event::new(EventFlags::DISABLE_TIMING).and_then(|event| {
            event.record(&other.inner)?;
            // The driver keeps the event until it was waited for, so dropping it here is fine.
            self.inner.wait_event(event, StreamWaitEventFlags::DEFAULT)
        });
        ordered.map_err(|error| driver("ordering two streams", error))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // Destroying a stream needs its context current; its work goes on to its end.
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
            // SAFETY: each is taken or dropped once, here. The memory is freed when the stream comes to it.
            unsafe {
                let _ = ManuallyDrop::take(&mut self.zeroed).drop_async(&self.inner);
                ManuallyDrop::drop(&mut self.inner);
            }
        }
    }
}

/// Whether what is enqueued on a stream goes into a graph, and does not run.
fn is_capturing(stream: &CustStream) -> Result<bool> {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: the stream is there; the call writes only the variable.
    checked(unsafe { cuStreamIsCapturing(stream.as_inner(), &mut status) }, || "asking for a capture".into())?;
    Ok(status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}
