//! Ownership and lifetime of device memory.

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

/// The owner, which frees the memory.
enum Owner {
    /// The home stream, in whose order the memory is allocated and freed.
    Stream(DeviceBuffer<u8>),
    /// Recorded work, which the memory must outlive.
    Recorded(DeviceBuffer<u8>),
    /// A buffer of the caller, dropped when the home stream is done with it; none of its methods can panic.
    Caller(AssertUnwindSafe<Box<dyn CallersBuffer>>),
    /// The caller, who frees it later; or nobody, once the ownership has been passed on.
    Others,
}

/// A [`DeviceBuffer`] of any type from the caller.
pub(crate) trait CallersBuffer: Send + Sync {
    /// Returns whether the caller kept no reference.
    fn is_unique(&self) -> bool;
    /// Returns the concrete type in the box.
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

/// Memory that is kept until its stream is dropped.
pub(crate) enum Kept {
    Block(DeviceBuffer<u8>),
    /// Held only to be dropped.
    Caller(#[expect(dead_code)] Box<dyn CallersBuffer>),
}

impl Memory {
    /// Allocates memory with undefined contents: a spare block of the stream, or else a new one.
    pub(crate) fn allocate(gpu: &Gpu, operation: &'static str, len_bytes: u64) -> Result<Memory> {
        gpu.device.enter()?;
        // The driver refuses allocations of 0 bytes.
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
            // SAFETY: copies and kernels that read the memory run after those that write it, on one stream or on
            // streams that wait for each other.
            unsafe { DeviceBuffer::<u8>::uninitialized_async(size, &order.inner) }
        };
        let mut block = new();
        if block.is_err() && gpu.stream.free_spare() {
            // Retry after freeing the spare blocks.
            block = new();
        }
        Ok(of(block.map_err(|error| allocation(operation, len_bytes, error))?, beside.is_some()))
    }

    /// Wraps a buffer of the caller, or memory that only the caller owns.
    pub(crate) fn of_caller(gpu: &Gpu, address: u64, buffer: Option<Box<dyn CallersBuffer>>) -> Memory {
        let owner = buffer.map_or(Owner::Others, |buffer| Owner::Caller(AssertUnwindSafe(buffer)));
        Memory { address, owner, home: gpu.stream.clone() }
    }

    /// Returns whether this is the only handle.
    pub(crate) fn is_unique(&self) -> bool {
        match &self.owner {
            Owner::Caller(buffer) => buffer.is_unique(),
            Owner::Stream(_) | Owner::Recorded(_) | Owner::Others => true,
        }
    }

    /// Returns whether the memory can be returned to the caller as a buffer of `T`.
    pub(crate) fn is_buffer_of<T: DeviceCopy + Send + Sync + 'static>(&self) -> bool {
        match &self.owner {
            Owner::Stream(_) => true,
            Owner::Caller(buffer) => buffer.is_unique() && buffer.kind() == TypeId::of::<Arc<DeviceBuffer<T>>>(),
            Owner::Recorded(_) | Owner::Others => false,
        }
    }

    /// Returns the memory to the caller, if [possible](Self::is_buffer_of); no enqueued work may use it.
    pub(crate) fn into_buffer<T: DeviceCopy + Send + Sync + 'static>(mut self) -> Option<DeviceBuffer<T>> {
        match replace(&mut self.owner, Owner::Others) {
            Owner::Stream(block) => {
                let (pointer, count) = (block.as_device_ptr().cast(), block.len() / size_of::<T>());
                forget(block);
                // SAFETY: the memory was allocated by cust, with an alignment for any type, and has no other owner.
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
        if let Owner::Others = owner {
            return;
        }
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
                // Freed in stream order; an error here means that the context is lost.
                let _ = block.drop_async(&home.inner);
            }
            Owner::Caller(buffer) if captured => home.keep(Kept::Caller(buffer.0)),
            Owner::Caller(buffer) => {
                // The home stream waits for other streams that use the buffer.
                let _ = home.inner.synchronize();
                drop(buffer);
            }
            Owner::Others => {}
        }
    }
}
