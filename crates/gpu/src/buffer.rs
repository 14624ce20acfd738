//! Device memory.

use crate::device::Gpu;
use crate::error::{allocation, driver};
use crate::stream::Stream;
use apron_core::Result;
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Bytes in device memory. Allocated, used and freed in the order of its home stream; other
/// streams that use it wait for the home stream, and it for them.
pub struct GpuBuffer {
    memory: ManuallyDrop<DeviceBuffer<u8>>,
    len_bytes: u64,
    home: Arc<Stream>,
}

impl GpuBuffer {
    /// A buffer of `len_bytes` bytes that hold nothing yet.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](apron_core::Error::OutOfMemory) where the device has too little, which
    /// leaves it usable, and [`Error::Driver`](apron_core::Error::Driver).
    pub fn uninitialized(gpu: &Gpu, operation: &'static str, len_bytes: u64) -> Result<GpuBuffer> {
        gpu.device.enter()?;
        // The driver refuses to allocate nothing.
        let size = usize::try_from(len_bytes.max(1)).unwrap_or(usize::MAX);
        // SAFETY: what reads the buffer, a copy or a kernel, does so after what writes it, on one
        // stream or on streams that wait for each other.
        let memory = unsafe { DeviceBuffer::<u8>::uninitialized_async(size, &gpu.stream.inner) };
        let memory = memory.map_err(|error| allocation(operation, len_bytes, error))?;
        Ok(GpuBuffer { memory: ManuallyDrop::new(memory), len_bytes, home: gpu.stream.clone() })
    }

    /// A buffer that holds `bytes`; they may be changed when the call returns.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    pub fn from_bytes(gpu: &Gpu, operation: &'static str, bytes: &[u8]) -> Result<GpuBuffer> {
        let mut buffer = GpuBuffer::uninitialized(gpu, operation, bytes.len() as u64)?;
        if !bytes.is_empty() {
            // SAFETY: from pageable memory the driver has taken the bytes when the call returns.
            let copied = unsafe { buffer.memory.index(..).async_copy_from(bytes, &gpu.stream.inner) };
            copied.map_err(|error| driver(format!("{operation}: copying {} bytes to the GPU", bytes.len()), error))?;
        }
        buffer.len_bytes = bytes.len() as u64;
        Ok(buffer)
    }

    /// Its size, in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Copies the bytes to the host, when all that writes them is done.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver), also for a kernel that failed earlier.
    ///
    /// # Panics
    /// If `bytes` has another size.
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        assert_eq!(bytes.len() as u64, self.len_bytes, "size of the buffer, in bytes");
        self.home.device.enter()?;
        let reading = |error| driver(format!("copying {} bytes from the GPU", self.len_bytes), error);
        if !bytes.is_empty() {
            // SAFETY: the bytes are borrowed until the stream was waited for, also after an error.
            let copied = unsafe { self.memory.index(..bytes.len()).async_copy_to(bytes, &self.home.inner) };
            let waited = self.home.inner.synchronize();
            copied.and(waited).map_err(reading)?;
        }
        Ok(())
    }

    /// Whether it lies in the memory of this GPU.
    pub fn is_on(&self, gpu: &Gpu) -> bool {
        Arc::ptr_eq(&self.home.device, &gpu.device)
    }

    /// The address, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.memory.as_device_ptr().as_raw()
    }

    /// The stream in whose order it lives.
    pub(crate) fn home(&self) -> &Arc<Stream> {
        &self.home
    }
}

impl Drop for GpuBuffer {
    fn drop(&mut self) {
        if self.home.device.enter().is_ok() {
            // SAFETY: taken once, here.
            let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
            // Freed when the stream comes to it; an error here means that the context is lost.
            let _ = memory.drop_async(&self.home.inner);
        }
    }
}
