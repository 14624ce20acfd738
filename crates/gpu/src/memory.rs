//! Device memory: whose it is, and when it is freed.

use crate::device::Gpu;
use crate::error::{allocation, not_captured};
use crate::stream::Stream;
use apron_core::Result;
use cust::memory::{DeviceBuffer, DeviceCopy};
use std::any::{Any, TypeId};
use std::mem::{forget, replace};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Memory that a buffer and its parts share.
pub(crate) struct Memory {
    pub(crate) address: u64,
    owner: Owner,
    pub(crate) home: Arc<Stream>,
}

/// Who frees it.
enum Owner {
    /// Allocated and freed in the order of the home stream.
    Stream(DeviceBuffer<u8>),
    /// Part of recorded work, which it must outlive.
    Recorded(DeviceBuffer<u8>),
    /// A buffer of the caller's, dropped when the home stream is done with it; none of its methods can panic.
    Caller(AssertUnwindSafe<Box<dyn CallersBuffer>>),
    /// The caller, some time after the image; or nobody any more.
    Others,
}

/// A [`DeviceBuffer`] of any type that the caller gave.
pub(crate) trait CallersBuffer: Send + Sync {
    /// Whether the caller kept no part in it.
    fn is_unique(&self) -> bool;
    /// The type of what is in the box.
    fn kind(&self) -> TypeId;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: DeviceCopy + Send + Sync + 'static> CallersBuffer for Arc<DeviceBuffer<T>> {
    fn is_unique(&self) -> bool {
        Arc::strong_count(self) == 1 && Arc::weak_count(self) == 0
    }

    fn kind(&self) -> TypeId {
        TypeId::of::<Self>()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Memory that waits for the end of its stream.
pub(crate) enum Kept {
    Block(DeviceBuffer<u8>),
    /// Held to be dropped.
    Caller(#[expect(dead_code)] Box<dyn CallersBuffer>),
}

impl Memory {
    /// Memory that holds nothing yet: spare one of the stream's, else new.
    pub(crate) fn allocate(gpu: &Gpu, operation: &'static str, len_bytes: u64) -> Result<Memory> {
        gpu.device.enter()?;
        // The driver refuses to allocate nothing.
        let size = usize::try_from(len_bytes.max(1)).unwrap_or(usize::MAX);
        let of = |block: DeviceBuffer<u8>, recorded| {
            let address = block.as_device_ptr().as_raw();
            let owner = if recorded { Owner::Recorded(block) } else { Owner::Stream(block) };
            Memory { address, owner, home: gpu.stream.clone() }
        };
        if let Some(block) = gpu.stream.take_spare(size) {
            return Ok(of(block, false));
        }
        if gpu.stream.is_captured()? {
            let hint = "run the same once before on this handle, which keeps its memory";
            return Err(not_captured(&gpu.device, "new memory", hint));
        }
        let beside = gpu.stream.beside();
        let order = beside.as_ref().unwrap_or(&gpu.stream);
        let new = || {
            gpu.device.count_allocation();
            // SAFETY: what reads the memory, a copy or a kernel, does so after what writes it, on one
            // stream or on streams that wait for each other.
            unsafe { DeviceBuffer::<u8>::uninitialized_async(size, &order.inner) }
        };
        let mut block = new();
        if block.is_err() && gpu.stream.free_spare() {
            // What was kept may be what is missing.
            block = new();
        }
        Ok(of(block.map_err(|error| allocation(operation, len_bytes, error))?, beside.is_some()))
    }

    /// A buffer of the caller's, or memory of which the caller alone knows.
    pub(crate) fn of_caller(gpu: &Gpu, address: u64, buffer: Option<Box<dyn CallersBuffer>>) -> Memory {
        let owner = buffer.map_or(Owner::Others, |buffer| Owner::Caller(AssertUnwindSafe(buffer)));
        Memory { address, owner, home: gpu.stream.clone() }
    }

    /// Whether nobody but who holds this knows of it.
    pub(crate) fn is_unique(&self) -> bool {
        match &self.owner {
            Owner::Caller(buffer) => buffer.is_unique(),
            Owner::Stream(_) | Owner::Recorded(_) | Owner::Others => true,
        }
    }

    /// Whether it can be given to the caller as a buffer of `T`.
    pub(crate) fn is_buffer_of<T: DeviceCopy + Send + Sync + 'static>(&self) -> bool {
        match &self.owner {
            Owner::Stream(_) => true,
            Owner::Caller(buffer) => buffer.is_unique() && buffer.kind() == TypeId::of::<Arc<DeviceBuffer<T>>>(),
            Owner::Recorded(_) | Owner::Others => false,
        }
    }

    /// Gives it to the caller, if it [can](Self::is_buffer_of) be given; nothing may be enqueued that uses it.
    pub(crate) fn into_buffer<T: DeviceCopy + Send + Sync + 'static>(mut self) -> Option<DeviceBuffer<T>> {
        match replace(&mut self.owner, Owner::Others) {
            Owner::Stream(block) => {
                let (pointer, count) = (block.as_device_ptr().cast(), block.len() / size_of::<T>());
                forget(block);
                // SAFETY: the memory was allocated by cust, at the alignment of any type, and belongs to nobody else.
                Some(unsafe { DeviceBuffer::from_raw_parts(pointer, count) })
            }
            Owner::Caller(buffer) => Arc::into_inner(*buffer.0.into_any().downcast::<Arc<DeviceBuffer<T>>>().ok()?),
            other => {
                self.owner = other;
                None
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let (owner, home) = (replace(&mut self.owner, Owner::Others), &self.home);
        if home.device.enter().is_err() {
            // The context is lost, and the memory with it.
            return forget(owner);
        }
        let captured = home.is_captured().unwrap_or(true);
        match owner {
            Owner::Recorded(block) => home.keep(Kept::Block(block)),
            Owner::Stream(block) => {
                let Some(block) = home.put_spare(block) else { return };
                if captured {
                    return home.keep(Kept::Block(block));
                }
                // Freed when the stream comes to it; an error here means that the context is lost.
                let _ = block.drop_async(&home.inner);
            }
            Owner::Caller(buffer) if captured => home.keep(Kept::Caller(buffer.0)),
            Owner::Caller(buffer) => {
                // Other streams that use it let the home stream wait for them.
                let _ = home.inner.synchronize();
                drop(buffer);
            }
            Owner::Others => {}
        }
    }
}
