//! Rows of device memory with a pitch, and their copies.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::error::checked;
use apron_core::Result;
use cust::sys::{CUDA_MEMCPY2D, CUmemorytype, cuMemcpy2DAsync_v2};

/// The layout of rows in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Bytes per row.
    pub bytes: u64,
    /// Pitch: bytes between the starts of two rows.
    pub stride: u64,
    /// Number of rows.
    pub count: u64,
}

impl Rows {
    /// Returns whether the rows are contiguous.
    pub fn is_packed(&self) -> bool {
        self.bytes == self.stride || self.count == 1
    }

    /// Returns the bytes from the start of the first row to the end of the last.
    pub fn span(&self) -> u64 {
        (self.count - 1) * self.stride + self.bytes
    }
}

impl GpuBuffer {
    /// Copies these rows to a new buffer, without gaps.
    ///
    /// # Errors
    /// As [`uninitialized`](Self::uninitialized).
    ///
    /// # Panics
    /// If the rows are not entirely inside the buffer.
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

    /// Copies `packed`, contiguous rows, into these rows of this buffer, after all work that uses them.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If the size of `packed` differs from the rows, or they are not entirely inside the buffer.
    pub fn copy_rows(&self, packed: &GpuBuffer, rows: Rows) -> Result<()> {
        assert_eq!(packed.len_bytes(), rows.bytes * rows.count, "size of the rows, in bytes");
        let stream = packed.home();
        stream.device.enter()?;
        stream.wait_for(self.home())?;
        let from = CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: packed.address(),
            ..self.written_rows(rows)
        };
        // SAFETY: both sides have the rows, and their streams wait for each other.
        let copied = unsafe { cuMemcpy2DAsync_v2(&from, stream.inner.as_inner()) };
        let waits = self.home().wait_for(stream);
        checked(copied, || format!("copying {} rows on the GPU", rows.count))?;
        waits
    }

    /// Copies `bytes`, contiguous rows, into these rows of the buffer, after all work that uses them; `bytes` may be
    /// changed when the call returns.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    ///
    /// # Panics
    /// If the size of `bytes` differs from the rows, or they are not entirely inside the buffer.
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

    /// Copies rows to the host, without gaps, after all work that writes them.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Panics
    /// If the size of `bytes` differs from the rows, or they are not entirely inside the buffer.
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

    /// Describes a copy from contiguous rows to these; the source is left open.
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

    /// Describes a copy from these rows to contiguous ones; the destination is left open.
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
