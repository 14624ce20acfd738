//! A stream, and the order between streams.

use crate::device::OpenDevice;
use crate::error::driver;
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
        Ok(Arc::new(Stream { inner, texture: Mutex::default(), zeroed, device }))
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
            // SAFETY: each is taken or dropped once, here. The memory is freed when the stream comes to it.
            unsafe {
                let _ = ManuallyDrop::take(&mut self.zeroed).drop_async(&self.inner);
                ManuallyDrop::drop(&mut self.inner);
            }
        }
    }
}
