//! Memory of the caller: its requirements, and the checks that the driver allows.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::memory::Memory;
use apron_core::{Error, Result};
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::sys::{CUcontext, CUpointer_attribute, cuPointerGetAttribute, cudaError_enum};
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
    let here = format!("memory of gpu:{}, of its primary context", gpu.device.ordinal());
    let wrong = |value: String| Err(Error::parameter("memory", "address", value, here.clone()));
    let Some(ordinal) = attribute::<i32>(address, CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) else {
        return wrong(format!("{address:#x}, which the driver does not know"));
    };
    if ordinal != gpu.device.ordinal() as i32 {
        return wrong(format!("{address:#x} on gpu:{ordinal}"));
    }
    // Memory of pools belongs to no context.
    let context = attribute::<usize>(address, CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT);
    if context.is_some_and(|context| context != 0 && context as CUcontext != gpu.device.context()) {
        return wrong(format!("{address:#x} of another context"));
    }
    let start = attribute::<u64>(address, CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    let size = attribute::<usize>(address, CUpointer_attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE);
    if let (Some(start), Some(size)) = (start, size)
        && address - start + len_bytes > size as u64
    {
        let (value, has) = (format!("{len_bytes} bytes"), start + size as u64 - address);
        return Err(Error::parameter("memory", "size of the rows", value, format!("{has} or fewer")));
    }
    Ok(())
}

/// Queries an attribute of an address; `None` if the driver does not know it.
fn attribute<T: Default>(address: u64, which: CUpointer_attribute) -> Option<T> {
    let mut value = T::default();
    // SAFETY: writes only the variable, which has the size of the attribute.
    let asked = unsafe { cuPointerGetAttribute((&raw mut value).cast(), which, address) };
    (asked == cudaError_enum::CUDA_SUCCESS).then_some(value)
}
