//! A stream's texture of RGBA pixels.

// cust 0.3 keeps its own texture types private, so these use its bindings.

use crate::buffer::GpuBuffer;
use crate::error::checked;
use crate::stream::Stream;
use apron_core::Result;
use cust::stream::Stream as CustStream;
use cust::sys::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_MEMCPY2D, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUaddress_mode_enum, CUarray,
    CUarray_format_enum, CUfilter_mode_enum, CUmemorytype_enum, CUresourcetype_enum, CUtexObject, cuArrayCreate_v2,
    cuArrayDestroy, cuMemcpy2DAsync_v2, cuTexObjectCreate, cuTexObjectDestroy,
};
use std::mem::zeroed;
use std::ptr::{null, null_mut};

const PIXEL_BYTES: usize = 4;

/// The texture of a stream, kept between launches: stream order puts the next copy into it after the launch that reads
/// it, and images of the same size reuse it.
#[derive(Default)]
pub(crate) struct TextureSlot {
    texture: Option<Texture>,
}

struct Texture {
    handle: CUtexObject,
    array: CUarray,
    width: u32,
    height: u32,
}

// SAFETY: driver handles, which any thread may use; the slot is behind a mutex.
unsafe impl Send for TextureSlot {}

impl TextureSlot {
    /// Enqueues a copy of `input`, `width` x `height` RGBA pixels in contiguous rows, into the texture, and returns its
    /// handle.
    pub(crate) fn fill(&mut self, stream: &Stream, input: &GpuBuffer, width: u32, height: u32) -> Result<u64> {
        let (row_bytes, rows) = (width as usize * PIXEL_BYTES, height as usize);
        assert_eq!(input.len_bytes(), row_bytes as u64 * rows as u64, "size of the texture, in bytes");
        let operation = || format!("copying {width}x{height} pixels into a texture");
        if self.texture.as_ref().is_some_and(|texture| (texture.width, texture.height) != (width, height)) {
            self.empty(&stream.inner);
        }
        let texture = match &mut self.texture {
            Some(texture) => texture,
            none => none.insert(Texture::new(width, height)?),
        };
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype_enum::CU_MEMORYTYPE_DEVICE,
            srcHost: null(),
            srcDevice: input.address(),
            srcArray: null_mut(),
            srcPitch: row_bytes,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype_enum::CU_MEMORYTYPE_ARRAY,
            dstHost: null_mut(),
            dstDevice: 0,
            dstArray: texture.array,
            dstPitch: 0,
            WidthInBytes: row_bytes,
            Height: rows,
        };
        // SAFETY: both sides have the bytes; stream order puts the copy after the work that writes the input and after
        // the launches that read the texture's previous image.
        checked(unsafe { cuMemcpy2DAsync_v2(&copy, stream.inner.as_inner()) }, operation)?;
        Ok(texture.handle)
    }

    /// Frees the texture when the stream is done with it. The context must be current.
    pub(crate) fn empty(&mut self, stream: &CustStream) {
        if let Some(Texture { handle, array, .. }) = self.texture.take() {
            // The next call that waits for the stream reports an error here.
            let _ = stream.synchronize();
            // SAFETY: both were created together, and nothing uses them any more.
            unsafe {
                cuTexObjectDestroy(handle);
                cuArrayDestroy(array);
            }
        }
    }
}

impl Texture {
    /// Creates a texture that clamps coordinates, does not filter, and returns bytes as 0 to 1.
    fn new(width: u32, height: u32) -> Result<Texture> {
        let operation = || format!("creating a texture of {width}x{height} pixels");
        let mut texture = Texture { handle: 0, array: null_mut(), width, height };
        let pixels = CUDA_ARRAY_DESCRIPTOR {
            Width: width as usize,
            Height: height as usize,
            Format: CUarray_format_enum::CU_AD_FORMAT_UNSIGNED_INT8,
            NumChannels: PIXEL_BYTES as u32,
        };
        // SAFETY: the calls read the descriptors and write only the handles; zeros are the defaults of the descriptors'
        // other fields.
        unsafe {
            checked(cuArrayCreate_v2(&mut texture.array, &pixels), operation)?;
            let mut resource: CUDA_RESOURCE_DESC = zeroed();
            resource.resType = CUresourcetype_enum::CU_RESOURCE_TYPE_ARRAY;
            resource.res.array.hArray = texture.array;
            let mut reads: CUDA_TEXTURE_DESC = zeroed();
            reads.addressMode = [CUaddress_mode_enum::CU_TR_ADDRESS_MODE_CLAMP; 3];
            reads.filterMode = CUfilter_mode_enum::CU_TR_FILTER_MODE_POINT;
            let created = cuTexObjectCreate(&mut texture.handle, &resource, &reads, null());
            checked(created, operation).inspect_err(|_| {
                cuArrayDestroy(texture.array);
            })?;
        }
        Ok(texture)
    }
}
