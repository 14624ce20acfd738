//! Device memory.

use crate::device::Gpu;
use crate::error::{allocation, checked, driver, not_recorded};
use crate::stream::Stream;
use apron_core::Result;
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust::sys::{cuMemcpyDtoDAsync_v2, cuMemcpyHtoDAsync_v2};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Bytes in device memory. Allocated, used and freed in the order of its home stream; other
/// streams that use it wait for the home stream, and it for them.
pub struct GpuBuffer {
    memory: ManuallyDrop<DeviceBuffer<u8>>,
    len_bytes: u64,
    home: Arc<Stream>,
    /// Whether it is part of recorded work, and so must outlive it.
    recorded: bool,
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
        let beside = gpu.stream.beside();
        let order = beside.as_ref().unwrap_or(&gpu.stream);
        // SAFETY: what reads the buffer, a copy or a kernel, does so after what writes it, on one
        // stream or on streams that wait for each other.
        let memory = unsafe { DeviceBuffer::<u8>::uninitialized_async(size, &order.inner) };
        let memory = ManuallyDrop::new(memory.map_err(|error| allocation(operation, len_bytes, error))?);
        Ok(GpuBuffer { memory, len_bytes, home: gpu.stream.clone(), recorded: beside.is_some() })
    }

    /// A buffer that holds `bytes`; they may be changed when the call returns.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    pub fn from_bytes(gpu: &Gpu, operation: &'static str, bytes: &[u8]) -> Result<GpuBuffer> {
        let buffer = GpuBuffer::uninitialized(gpu, operation, bytes.len() as u64)?;
        buffer.write(bytes)?;
        Ok(buffer)
    }

    /// Puts `bytes` in place of what it holds, after all that uses that; they may be changed when the call returns.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If `bytes` has another size.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        assert_eq!(bytes.len() as u64, self.len_bytes, "size of the buffer, in bytes");
        self.home.device.enter()?;
        let order = self.home.beside().unwrap_or_else(|| self.home.clone());
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: both sides have as many bytes; from pageable memory the driver has taken them when the call returns.
        let copied =
            unsafe { cuMemcpyHtoDAsync_v2(self.address(), bytes.as_ptr().cast(), bytes.len(), order.inner.as_inner()) };
        checked(copied, || format!("copying {} bytes to the GPU", bytes.len()))
    }

    /// Puts what `from` holds in place of what it holds, after all that uses that.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If `from` has another size.
    pub fn copy_from(&self, from: &GpuBuffer) -> Result<()> {
        assert_eq!(from.len_bytes, self.len_bytes, "size of the buffer, in bytes");
        self.home.device.enter()?;
        self.home.wait_for(&from.home)?;
        let (bytes, stream) = (self.len_bytes as usize, self.home.inner.as_inner());
        // SAFETY: both sides have as many bytes, and their streams wait for each other.
        let copied = unsafe { cuMemcpyDtoDAsync_v2(self.address(), from.address(), bytes, stream) };
        let waits = from.home.wait_for(&self.home);
        checked(copied, || format!("copying {bytes} bytes on the GPU"))?;
        waits
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
        if self.home.beside().is_some() {
            return Err(not_recorded(&self.home.device, "reading a result", "read it when the chain has run"));
        }
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

    /// Whether it lies in the memory of the same GPU as another.
    pub fn is_beside(&self, other: &GpuBuffer) -> bool {
        Arc::ptr_eq(&self.home.device, &other.home.device)
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
            if self.recorded {
                return self.home.keep(memory);
            }
            // Freed when the stream comes to it; an error here means that the context is lost.
            let _ = memory.drop_async(&self.home.inner);
        }
    }
}
