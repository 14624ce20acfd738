//! Device memory.

use crate::device::Gpu;
use crate::error::{allocation, checked, driver, not_recorded};
use crate::stream::Stream;
use apron_core::Result;
use cust::memory::DeviceBuffer;
use cust::sys::{
    CUDA_MEMCPY2D, CUmemorytype, cuMemcpy2DAsync_v2, cuMemcpyDtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2,
};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Bytes in device memory. Allocated, used and freed in the order of its home stream; other
/// streams that use it wait for the home stream, and it for them. Clones share them.
#[derive(Clone)]
pub struct GpuBuffer {
    memory: Arc<Memory>,
    /// Bytes of the memory before the first.
    start: u64,
    len_bytes: u64,
}

/// Memory that a buffer and its [parts](GpuBuffer::part) share.
struct Memory {
    bytes: ManuallyDrop<DeviceBuffer<u8>>,
    home: Arc<Stream>,
    /// Whether it is part of recorded work, and so must outlive it.
    recorded: bool,
}

/// How rows lie in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Bytes of a row.
    pub bytes: u64,
    /// From the start of one to the start of the next.
    pub stride: u64,
    /// How many there are.
    pub count: u64,
}

impl Rows {
    /// From the start of the first to the end of the last.
    pub fn span(&self) -> u64 {
        (self.count - 1) * self.stride + self.bytes
    }
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
        let bytes = ManuallyDrop::new(memory.map_err(|error| allocation(operation, len_bytes, error))?);
        let memory = Memory { bytes, home: gpu.stream.clone(), recorded: beside.is_some() };
        Ok(GpuBuffer { memory: Arc::new(memory), start: 0, len_bytes })
    }

    /// The part of `len_bytes` bytes from byte `start` on, which shares the memory.
    ///
    /// # Panics
    /// If it is not all in the buffer.
    pub fn part(&self, start: u64, len_bytes: u64) -> GpuBuffer {
        assert!(start + len_bytes <= self.len_bytes, "a part of the buffer");
        GpuBuffer { memory: self.memory.clone(), start: self.start + start, len_bytes }
    }

    /// A buffer with these rows of this one, without gaps.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    ///
    /// # Panics
    /// If the rows are not all in the buffer.
    pub fn packed(&self, gpu: &Gpu, operation: &'static str, rows: Rows) -> Result<GpuBuffer> {
        let packed = GpuBuffer::uninitialized(gpu, operation, rows.bytes * rows.count)?;
        gpu.stream.wait_for(self.home())?;
        let order = gpu.stream.beside().unwrap_or_else(|| gpu.stream.clone());
        let to = CUDA_MEMCPY2D {
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: packed.address(),
            ..self.rows(rows)
        };
        // SAFETY: both sides have the rows, and their streams wait for each other.
        let copied = unsafe { cuMemcpy2DAsync_v2(&to, order.inner.as_inner()) };
        let waits = self.home().wait_for(&gpu.stream);
        checked(copied, || format!("copying {} rows on the GPU", rows.count))?;
        waits.map(|()| packed)
    }

    /// Copies rows to the host, without gaps, when all that writes them is done.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Panics
    /// If `bytes` has another size than the rows, or they are not all in the buffer.
    pub fn read_rows(&self, bytes: &mut [u8], rows: Rows) -> Result<()> {
        assert_eq!(bytes.len() as u64, rows.bytes * rows.count, "size of the rows, in bytes");
        let to = CUDA_MEMCPY2D {
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: bytes.as_mut_ptr().cast(),
            ..self.rows(rows)
        };
        self.read_by(|stream| {
            // SAFETY: both sides have the rows; the bytes are borrowed until the stream was waited for.
            let copied = unsafe { cuMemcpy2DAsync_v2(&to, stream.inner.as_inner()) };
            checked(copied, || format!("copying {} rows from the GPU", rows.count))
        })
    }

    /// A copy of rows, to where they lie without gaps, but for the place.
    fn rows(&self, rows: Rows) -> CUDA_MEMCPY2D {
        assert!(rows.span() <= self.len_bytes, "rows of the buffer");
        CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: self.address(),
            srcArray: std::ptr::null_mut(),
            srcPitch: rows.stride as usize,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: std::ptr::null_mut(),
            dstDevice: 0,
            dstArray: std::ptr::null_mut(),
            dstPitch: rows.bytes as usize,
            WidthInBytes: rows.bytes as usize,
            Height: rows.count as usize,
        }
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
        self.home().device.enter()?;
        let order = self.home().beside().unwrap_or_else(|| self.home().clone());
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
        self.home().device.enter()?;
        self.home().wait_for(from.home())?;
        let (bytes, stream) = (self.len_bytes as usize, self.home().inner.as_inner());
        // SAFETY: both sides have as many bytes, and their streams wait for each other.
        let copied = unsafe { cuMemcpyDtoDAsync_v2(self.address(), from.address(), bytes, stream) };
        let waits = from.home().wait_for(self.home());
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
        self.read_by(|stream| {
            if bytes.is_empty() {
                return Ok(());
            }
            // SAFETY: both sides have as many bytes, borrowed until the stream was waited for.
            let copied = unsafe {
                cuMemcpyDtoHAsync_v2(bytes.as_mut_ptr().cast(), self.address(), bytes.len(), stream.inner.as_inner())
            };
            checked(copied, || format!("copying {} bytes from the GPU", self.len_bytes))
        })
    }

    /// Enqueues a copy to the host and waits for it, also after an error.
    fn read_by(&self, copy: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        let home = self.home();
        home.device.enter()?;
        if home.beside().is_some() {
            return Err(not_recorded(&home.device, "reading a result", "read it when the chain has run"));
        }
        let copied = copy(home);
        let waited = home.inner.synchronize();
        copied?;
        waited.map_err(|error| driver("waiting for a copy from the GPU", error))
    }

    /// Whether it lies in the memory of this GPU.
    pub fn is_on(&self, gpu: &Gpu) -> bool {
        Arc::ptr_eq(&self.home().device, &gpu.device)
    }

    /// Whether it lies in the memory of the same GPU as another.
    pub fn is_beside(&self, other: &GpuBuffer) -> bool {
        Arc::ptr_eq(&self.home().device, &other.home().device)
    }

    /// The address, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.memory.bytes.as_device_ptr().as_raw() + self.start
    }

    /// Whether it starts at a multiple of so many bytes.
    pub fn is_aligned_to(&self, bytes: u64) -> bool {
        self.address().is_multiple_of(bytes)
    }

    /// The stream in whose order it lives.
    pub(crate) fn home(&self) -> &Arc<Stream> {
        &self.memory.home
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.home.device.enter().is_ok() {
            // SAFETY: taken once, here.
            let memory = unsafe { ManuallyDrop::take(&mut self.bytes) };
            if self.recorded {
                return self.home.keep(memory);
            }
            // Freed when the stream comes to it; an error here means that the context is lost.
            let _ = memory.drop_async(&self.home.inner);
        }
    }
}
