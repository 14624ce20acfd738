//! Device memory.

use crate::device::Gpu;
use crate::error::{checked, driver, not_recorded};
use crate::host_rows::{HostRows, HostRowsMut};
use crate::lanes;
use crate::memory::Memory;
use crate::rows::Rows;
use crate::staging::SLOT_BYTES;
use crate::stream::Stream;
use apron_core::Result;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::sys::{
    CUDA_MEMCPY2D, CUmemorytype, cuMemcpy2DAsync_v2, cuMemcpyDtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemsetD8Async,
};
use std::fmt;
use std::sync::Arc;

/// Bytes in device memory, allocated, used and freed in the order of their home stream; other streams that use them
/// wait for the home stream, and it waits for them. Clones share the bytes.
#[derive(Clone)]
pub struct GpuBuffer {
    memory: Arc<Memory>,
    /// Offset of the first byte in the memory, in bytes.
    start: u64,
    len_bytes: u64,
}

impl fmt::Debug for GpuBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuBuffer").field("len_bytes", &self.len_bytes).finish_non_exhaustive()
    }
}

impl GpuBuffer {
    /// Allocates a buffer of `len_bytes` bytes with undefined contents.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](apron_core::Error::OutOfMemory) if the device has too little memory, after which it stays
    /// usable, and [`Error::Driver`](apron_core::Error::Driver).
    pub fn uninitialized(gpu: &Gpu, operation: &'static str, len_bytes: u64) -> Result<GpuBuffer> {
        let memory = Memory::allocate(gpu, operation, len_bytes)?;
        Ok(GpuBuffer { memory: Arc::new(memory), start: 0, len_bytes })
    }

    /// Allocates a buffer of zeros.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    pub fn zeroed(gpu: &Gpu, operation: &'static str, len_bytes: u64) -> Result<GpuBuffer> {
        let buffer = GpuBuffer::uninitialized(gpu, operation, len_bytes)?;
        let (bytes, stream) = (len_bytes as usize, gpu.stream.inner.as_inner());
        // SAFETY: the buffer has the bytes, and the stream is its home stream.
        let zeroed = unsafe { cuMemsetD8Async(buffer.address(), 0, bytes, stream) };
        checked(zeroed, || format!("zeroing {bytes} bytes"))?;
        Ok(buffer)
    }

    /// Wraps all of a memory block.
    pub(crate) fn of_memory(memory: Memory, len_bytes: u64) -> GpuBuffer {
        GpuBuffer { memory: Arc::new(memory), start: 0, len_bytes }
    }

    /// Returns whether this is the only handle on the memory: no clone, no part, and no handle kept by the caller.
    pub fn is_unique(&mut self) -> bool {
        Arc::get_mut(&mut self.memory).is_some_and(|memory| memory.is_unique())
    }

    /// Waits for all work that uses the buffer, and returns it to the caller: the caller's own buffer, or a new one
    /// that takes over memory of this library.
    ///
    /// The inner error is the buffer itself, if its memory is shared, it is a part, or its type differs; the outer one
    /// is [`Error::Driver`](apron_core::Error::Driver).
    pub fn into_cust<T: DeviceCopy + Send + Sync + 'static>(self) -> Result<Result<DeviceBuffer<T>, GpuBuffer>> {
        let GpuBuffer { memory, start, len_bytes } = self;
        let memory = match Arc::try_unwrap(memory) {
            Ok(memory) if start == 0 && memory.is_buffer_of::<T>() => memory,
            Ok(memory) => return Ok(Err(GpuBuffer { memory: Arc::new(memory), start, len_bytes })),
            Err(memory) => return Ok(Err(GpuBuffer { memory, start, len_bytes })),
        };
        memory.home.device.enter()?;
        memory.home.uncaptured("giving a buffer back", "wait until the capture has ended")?;
        memory.home.inner.synchronize().map_err(|error| driver("waiting for the GPU", error))?;
        Ok(Ok(memory.into_buffer().expect("it can be given")))
    }

    /// Returns the part of `len_bytes` bytes that starts at byte `start` and shares the memory.
    ///
    /// # Panics
    /// If the part is not entirely inside the buffer.
    pub fn part(&self, start: u64, len_bytes: u64) -> GpuBuffer {
        assert!(start + len_bytes <= self.len_bytes, "a part of the buffer");
        GpuBuffer { memory: self.memory.clone(), start: self.start + start, len_bytes }
    }

    /// Returns image `index` of a batch of images of `image_bytes` bytes each, with a stride of
    /// [`image_step`](apron_plan::image_step).
    ///
    /// # Panics
    /// If the image is not entirely inside the buffer.
    pub fn image(&self, index: u32, image_bytes: u64) -> GpuBuffer {
        self.part(index as u64 * apron_plan::image_step(image_bytes), image_bytes)
    }

    /// Allocates a buffer with a copy of `bytes`, which may be changed when the call returns.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    pub fn from_bytes(gpu: &Gpu, operation: &'static str, bytes: &[u8]) -> Result<GpuBuffer> {
        let buffer = GpuBuffer::uninitialized(gpu, operation, bytes.len() as u64)?;
        buffer.write(bytes)?;
        Ok(buffer)
    }

    /// Allocates a buffer with a copy of rows of host memory, which may be changed when the call returns.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    pub fn from_rows(gpu: &Gpu, operation: &'static str, rows: HostRows<'_>) -> Result<GpuBuffer> {
        let buffer = GpuBuffer::uninitialized(gpu, operation, rows.bytes() as u64)?;
        buffer.write_from(rows)?;
        Ok(buffer)
    }

    /// Overwrites the buffer with `bytes`, after all work that uses it; `bytes` may be changed when the call returns.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_from(HostRows::packed(bytes))
    }

    /// Overwrites the buffer with rows of host memory, as [`write`](Self::write). Pinned memory is copied in place,
    /// large pageable rows by several threads.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    ///
    /// # Panics
    /// As [`write`](Self::write).
    pub fn write_from(&self, rows: HostRows<'_>) -> Result<()> {
        assert_eq!(rows.bytes() as u64, self.len_bytes, "size of the buffer, in bytes");
        self.write_by(|stream| {
            if rows.bytes() == 0 {
                return Ok(());
            }
            let rows = rows.looked_up();
            if !rows.pinned
                && rows.bytes() >= lanes::LEAST_BYTES
                && lanes::upload(stream, rows, self.address())?.is_some()
            {
                return Ok(());
            }
            let copy = CUDA_MEMCPY2D {
                srcHost: rows.start().cast(),
                srcPitch: rows.rows().stride as usize,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                dstDevice: self.address(),
                ..host_copy(rows.rows())
            };
            // SAFETY: both sides have the rows; from pageable memory the driver has taken them when the call returns.
            let copied = unsafe { cuMemcpy2DAsync_v2(&copy, stream.inner.as_inner()) };
            checked(copied, || format!("copying {} bytes to the GPU", self.len_bytes))?;
            if rows.pinned {
                return stream.inner.synchronize().map_err(|error| driver("waiting for a copy to the GPU", error));
            }
            Ok(())
        })
    }

    /// Enqueues a copy from the host.
    pub(crate) fn write_by(&self, copy: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        let home = self.home();
        home.device.enter()?;
        home.uncaptured("copying from the host", "copy to the GPU before")?;
        copy(&home.beside().unwrap_or_else(|| home.clone()))
    }

    /// Overwrites the buffer with the contents of `from`, after all work that uses it.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn copy_from(&self, from: &GpuBuffer) -> Result<()> {
        assert_eq!(from.len_bytes, self.len_bytes, "size of the buffer, in bytes");
        self.home().device.enter()?;
        self.home().wait_for(from.home())?;
        let (bytes, stream) = (self.len_bytes as usize, self.home().inner.as_inner());
        // SAFETY: both sides have this size, and their streams wait for each other.
        let copied = unsafe { cuMemcpyDtoDAsync_v2(self.address(), from.address(), bytes, stream) };
        let waits = from.home().wait_for(self.home());
        checked(copied, || format!("copying {bytes} bytes on the GPU"))?;
        waits
    }

    /// Returns the size, in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Copies the bytes to the host, after all work that writes them.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver), also for a kernel that failed earlier.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn read(&self, bytes: &mut [u8]) -> Result<()> {
        self.read_to(HostRowsMut::packed(bytes))
    }

    /// Copies the bytes to rows of host memory, as [`read`](Self::read). Pinned memory is copied in place, large
    /// pageable rows by several threads.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Panics
    /// As [`read`](Self::read).
    pub fn read_to(&self, rows: HostRowsMut<'_>) -> Result<()> {
        assert_eq!(rows.bytes() as u64, self.len_bytes, "size of the buffer, in bytes");
        let rows = rows.looked_up();
        if !rows.pinned && rows.bytes() < lanes::LEAST_BYTES {
            // SAFETY: the rows hold the bytes, and are the caller's.
            let written = self.staged(|bytes| unsafe { rows.write(0..bytes.len(), bytes.as_ptr()) })?;
            if written.is_some() {
                return Ok(());
            }
        }
        self.read_by(|stream| {
            if rows.bytes() == 0 {
                return Ok(());
            }
            if !rows.pinned
                && rows.bytes() >= lanes::LEAST_BYTES
                && lanes::download(stream, &rows, self.address())?.is_some()
            {
                return Ok(());
            }
            let copy = CUDA_MEMCPY2D {
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
                srcDevice: self.address(),
                dstHost: rows.start().cast(),
                dstPitch: rows.rows().stride as usize,
                ..host_copy(rows.rows())
            };
            // SAFETY: both sides have this size; the bytes are borrowed until the stream was waited for.
            let copied = unsafe { cuMemcpy2DAsync_v2(&copy, stream.inner.as_inner()) };
            checked(copied, || format!("copying {} bytes from the GPU", self.len_bytes))
        })
    }

    /// Runs `take` on the bytes, which are copied to the host after all work that writes them: to pinned memory, which costs
    /// no new pages, or for small and large buffers to new memory. They are aligned to 8.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn with_bytes<R>(&self, take: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let mut take = Some(take);
        let mut taken = |bytes: &[u8]| take.take().map(|take| take(bytes));
        let found = match self.staged(&mut taken)? {
            Some(found) => found,
            None => {
                let mut words = vec![0u64; self.len_bytes.div_ceil(8) as usize];
                // SAFETY: any words are bytes.
                let bytes = &mut unsafe { words.align_to_mut::<u8>() }.1[..self.len_bytes as usize];
                self.read(bytes)?;
                taken(bytes)
            }
        };
        Ok(found.expect("bytes are taken once"))
    }

    /// Runs `take` on the bytes in pinned memory; `None` if there is none, or if other ways are as fast.
    fn staged<R>(&self, take: impl FnOnce(&[u8]) -> R) -> Result<Option<R>> {
        let bytes = self.len_bytes as usize;
        if !(lanes::LEAST_STAGED..=SLOT_BYTES).contains(&bytes) {
            return Ok(None);
        }
        self.home().device.enter()?;
        lanes::with_slot(&self.home().device, |slot| {
            self.read_by(|stream| {
                // SAFETY: both sides have the bytes, and the stream is waited for.
                let copied =
                    unsafe { cuMemcpyDtoHAsync_v2(slot.cast(), self.address(), bytes, stream.inner.as_inner()) };
                checked(copied, || format!("copying {bytes} bytes from the GPU"))
            })?;
            // SAFETY: the copy has initialised the bytes, and nothing else uses the slot.
            Ok(take(unsafe { std::slice::from_raw_parts(slot, bytes) }))
        })
    }

    /// Enqueues a copy to the host and waits for it, even after an error.
    pub(crate) fn read_by(&self, copy: impl FnOnce(&Stream) -> Result<()>) -> Result<()> {
        let home = self.home();
        home.device.enter()?;
        if home.beside().is_some() {
            return Err(not_recorded(&home.device, "reading a result", "read it when the chain has run"));
        }
        home.uncaptured("reading a result", "read it when the graph has run")?;
        let copied = copy(home);
        let waited = home.inner.synchronize();
        copied?;
        waited.map_err(|error| driver("waiting for a copy from the GPU", error))
    }

    /// Returns whether the buffer is in the memory of this GPU.
    pub fn is_on(&self, gpu: &Gpu) -> bool {
        Arc::ptr_eq(&self.home().device, &gpu.device)
    }

    /// Returns whether two buffers are in the memory of the same GPU.
    pub fn is_beside(&self, other: &GpuBuffer) -> bool {
        Arc::ptr_eq(&self.home().device, &other.home().device)
    }

    /// Returns the address, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address + self.start
    }

    /// Returns the address, for the caller's kernels.
    pub fn device_address(&self) -> u64 {
        self.address()
    }

    /// Returns whether two buffers overlap.
    pub fn overlaps(&self, other: &GpuBuffer) -> bool {
        let (start, other_start) = (self.address(), other.address());
        start < other_start + other.len_bytes && other_start < start + self.len_bytes
    }

    /// Returns whether the address is a multiple of `bytes` bytes.
    pub fn is_aligned_to(&self, bytes: u64) -> bool {
        self.address().is_multiple_of(bytes)
    }

    /// Returns the home stream, for the caller's kernels.
    pub fn cust_stream(&self) -> &Arc<cust::stream::Stream> {
        &self.home().inner
    }

    /// Returns the home stream.
    pub(crate) fn home(&self) -> &Arc<Stream> {
        &self.memory.home
    }
}

/// Describes a copy of rows between host memory and contiguous device memory; both addresses are left open, and
/// the pitch on the host.
fn host_copy(rows: Rows) -> CUDA_MEMCPY2D {
    let Rows { bytes, count, .. } = rows;
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: std::ptr::null(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        srcPitch: bytes as usize,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: std::ptr::null_mut(),
        dstDevice: 0,
        dstArray: std::ptr::null_mut(),
        dstPitch: bytes as usize,
        WidthInBytes: bytes as usize,
        Height: count as usize,
    }
}
