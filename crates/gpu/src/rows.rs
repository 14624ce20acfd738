//! Rows of device memory, with gaps between them, and their copies.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::error::checked;
use apron_core::Result;
use cust::sys::{CUDA_MEMCPY2D, CUmemorytype, cuMemcpy2DAsync_v2};

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
    /// Whether they lie without gaps.
    pub fn is_packed(&self) -> bool {
        self.bytes == self.stride || self.count == 1
    }

    /// From the start of the first to the end of the last.
    pub fn span(&self) -> u64 {
        (self.count - 1) * self.stride + self.bytes
    }
}

impl GpuBuffer {
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
        let to = CUDA_MEMCPY2D {
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: packed.address(),
            ..self.rows(rows)
        };
        // SAFETY: both sides have the rows, and their streams wait for each other.
        let copied = unsafe { cuMemcpy2DAsync_v2(&to, gpu.stream.inner.as_inner()) };
        let waits = self.home().wait_for(&gpu.stream);
        checked(copied, || format!("copying {} rows on the GPU", rows.count))?;
        waits.map(|()| packed)
    }

    /// Puts the bytes of `packed`, rows without gaps, into these rows of this buffer, after all that uses them.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If `packed` has another size than the rows, or they are not all in the buffer.
    pub fn copy_rows(&self, gpu: &Gpu, packed: &GpuBuffer, rows: Rows) -> Result<()> {
        assert_eq!(packed.len_bytes(), rows.bytes * rows.count, "size of the rows, in bytes");
        gpu.device.enter()?;
        gpu.stream.wait_for(self.home())?;
        gpu.stream.wait_for(packed.home())?;
        let from = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: packed.address(),
            ..self.written_rows(rows)
        };
        // SAFETY: both sides have the rows, and their streams wait for each other.
        let copied = unsafe { cuMemcpy2DAsync_v2(&from, gpu.stream.inner.as_inner()) };
        let waits = [self, packed].map(|buffer| buffer.home().wait_for(&gpu.stream));
        checked(copied, || format!("copying {} rows on the GPU", rows.count))?;
        waits.into_iter().collect()
    }

    /// Puts `bytes`, rows without gaps, into these rows of the buffer, after all that uses them; `bytes` may be changed
    /// when the call returns.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    ///
    /// # Panics
    /// If `bytes` has another size than the rows, or they are not all in the buffer.
    pub fn write_rows(&self, bytes: &[u8], rows: Rows) -> Result<()> {
        assert_eq!(bytes.len() as u64, rows.bytes * rows.count, "size of the rows, in bytes");
        let from = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: bytes.as_ptr().cast(),
            ..self.written_rows(rows)
        };
        self.write_by(|stream| {
            // SAFETY: both sides have the rows; from pageable memory the driver has taken them when the call returns.
            let copied = unsafe { cuMemcpy2DAsync_v2(&from, stream.inner.as_inner()) };
            checked(copied, || format!("copying {} rows to the GPU", rows.count))
        })
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

    /// A copy into rows, from where they lie without gaps, but for that place.
    fn written_rows(&self, rows: Rows) -> CUDA_MEMCPY2D {
        let read = self.rows(rows);
        CUDA_MEMCPY2D {
            srcPitch: read.dstPitch,
            dstPitch: read.srcPitch,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: read.srcDevice,
            ..read
        }
    }

    /// A copy of rows, to where they lie without gaps, but for the place.
    fn rows(&self, rows: Rows) -> CUDA_MEMCPY2D {
        assert!(rows.span() <= self.len_bytes(), "rows of the buffer");
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
}
