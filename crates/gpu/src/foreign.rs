//! Memory of the caller: its requirements, and the checks that the driver allows.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::memory::Memory;
use apron_core::{Error, Result};
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::sys::{CUcontext, CUpointer_attribute, cuPointerGetAttributes, cudaError_enum};
use std::ffi::c_void;
use std::sync::Arc;

impl GpuBuffer {
    /// Wraps a buffer, which is kept until this handle and its clones are dropped and their work is done.
    ///
    /// # Errors
    /// [`Error::Parameter`] for memory of another GPU or context.
    pub fn of_cust<T>(gpu: &Gpu, buffer: Arc<DeviceBuffer<T>>) -> Result<GpuBuffer>
    where
        T: DeviceCopy + Send + Sync + 'static,
    {
        let (address, len_bytes) = (buffer.as_device_ptr().as_raw(), (buffer.len() * size_of::<T>()) as u64);
        check(gpu, address, len_bytes)?;
        Ok(GpuBuffer::of_memory(Memory::of_caller(gpu, address, Some(Box::new(buffer))), len_bytes))
    }

    /// Wraps memory owned by others.
    ///
    /// # Errors
    /// As [`of_cust`](Self::of_cust), to the extent that the driver can tell.
    ///
    /// # Safety
    /// The bytes must stay valid until this buffer and its clones are dropped and all work with them is done. Meanwhile
    /// other reads and writes of them must be in the order of this handle's stream.
    pub unsafe fn of_address(gpu: &Gpu, address: u64, len_bytes: u64) -> Result<GpuBuffer> {
        check(gpu, address, len_bytes)?;
        Ok(GpuBuffer::of_memory(Memory::of_caller(gpu, address, None), len_bytes))
    }
}

/// Checks an address range against the driver's attributes of it.
fn check(gpu: &Gpu, address: u64, len_bytes: u64) -> Result<()> {
    gpu.device.enter()?;
    let found = Attributes::of(address);
    let wrong = |value: String| {
        let limit = format!("memory of gpu:{}, of its primary context", gpu.device.ordinal());
        Err(Error::parameter("memory", "address", value, limit))
    };
    if found.size == 0 {
        return wrong(format!("{address:#x}, which the driver does not know"));
    }
    if found.ordinal != gpu.device.ordinal() as i32 {
        return wrong(format!("{address:#x} on gpu:{}", found.ordinal));
    }
    // Memory of pools belongs to no context.
    if found.context != 0 && found.context as CUcontext != gpu.device.context() {
        return wrong(format!("{address:#x} of another context"));
    }
    let has = found.start + found.size as u64 - address;
    if len_bytes > has {
        let value = format!("{len_bytes} bytes");
        return Err(Error::parameter("memory", "size of the rows", value, format!("{has} or fewer")));
    }
    Ok(())
}

/// The driver's attributes of an address; zeros for memory that it does not know.
#[derive(Default)]
struct Attributes {
    ordinal: i32,
    context: usize,
    /// The allocation's first address, and its size, in bytes.
    start: u64,
    size: usize,
}

impl Attributes {
    /// Queries all attributes at once: each query takes as long as enqueueing a copy.
    fn of(address: u64) -> Attributes {
        use CUpointer_attribute::*;
        let mut found = Attributes::default();
        let mut which = [
            CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            CU_POINTER_ATTRIBUTE_CONTEXT,
            CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
            CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        ];
        let mut values: [*mut c_void; 4] = [
            (&raw mut found.ordinal).cast(),
            (&raw mut found.context).cast(),
            (&raw mut found.start).cast(),
            (&raw mut found.size).cast(),
        ];
        // SAFETY: writes only the variables; each has the size of its attribute.
        let asked = unsafe { cuPointerGetAttributes(4, which.as_mut_ptr(), values.as_mut_ptr(), address) };
        if asked == cudaError_enum::CUDA_SUCCESS { found } else { Attributes::default() }
    }
}
