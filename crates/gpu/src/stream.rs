//! A stream, and the order between streams.

use crate::device::OpenDevice;
use crate::error::{driver, not_recorded};
use crate::texture::TextureSlot;
use apron_abi::ZEROED_BYTES;
use apron_core::Result;
use cust::event::{Event, EventFlags};
use cust::memory::DeviceBuffer;
use cust::stream::{Stream as CustStream, StreamFlags, StreamWaitEventFlags};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stream, which keeps its device open.
pub(crate) struct Stream {
    pub(crate) inner: ManuallyDrop<CustStream>,
    texture: Mutex<TextureSlot>,
    /// [`ZEROED_BYTES`] of zeros, which every recipe leaves as it finds them: those of a stream run one after the
    /// other, and so may share them.
    zeroed: ManuallyDrop<DeviceBuffer<u8>>,
    /// While what is enqueued here is recorded and not run: the stream on which memory is allocated and filled
    /// meanwhile.
    beside: Mutex<Option<Arc<Stream>>>,
    /// Memory of recorded work, which is as old as the stream: every run of the work uses it.
    kept: Mutex<Vec<DeviceBuffer<u8>>>,
    pub(crate) device: Arc<OpenDevice>,
}

impl Stream {
    /// A new stream of a device whose context is current.
    pub(crate) fn new(device: Arc<OpenDevice>) -> Result<Arc<Stream>> {
        let inner = CustStream::new(StreamFlags::DEFAULT, None).map_err(|error| driver("creating a stream", error))?;
        // SAFETY: whatever uses the zeros comes behind them on the stream.
        let zeroed = unsafe { DeviceBuffer::<u8>::zeroed_async(ZEROED_BYTES as usize, &inner) };
        let zeroed = zeroed.map_err(|error| driver(format!("zeroing {ZEROED_BYTES} bytes"), error))?;
        let (inner, zeroed) = (ManuallyDrop::new(inner), ManuallyDrop::new(zeroed));
        let (texture, beside, kept) = Default::default();
        Ok(Arc::new(Stream { inner, texture, zeroed, beside, kept, device }))
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
    pub(crate) fn keep(&self, memory: DeviceBuffer<u8>) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
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
            let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
            for memory in kept.drain(..) {
                let _ = memory.drop_async(&self.inner);
            }
            // SAFETY: each is taken or dropped once, here. The memory is freed when the stream comes to it.
            unsafe {
                let _ = ManuallyDrop::take(&mut self.zeroed).drop_async(&self.inner);
                ManuallyDrop::drop(&mut self.inner);
            }
        }
    }
}
