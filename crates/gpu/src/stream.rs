//! A stream, and the order between streams.

use crate::device::OpenDevice;
use crate::error::driver;
use crate::texture::TextureSlot;
use apron_core::Result;
use cust::event::{Event, EventFlags};
use cust::stream::{Stream as CustStream, StreamFlags, StreamWaitEventFlags};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A stream, which keeps its device open.
pub(crate) struct Stream {
    pub(crate) inner: ManuallyDrop<CustStream>,
    texture: Mutex<TextureSlot>,
    pub(crate) device: Arc<OpenDevice>,
}

impl Stream {
    /// A new stream of a device whose context is current.
    pub(crate) fn new(device: Arc<OpenDevice>) -> Result<Arc<Stream>> {
        let inner = CustStream::new(StreamFlags::DEFAULT, None).map_err(|error| driver("creating a stream", error))?;
        Ok(Arc::new(Stream { inner: ManuallyDrop::new(inner), texture: Mutex::default(), device }))
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
            // SAFETY: dropped once, here.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}
