//! A stream's texture: RGBA pixels where the texture unit finds them.

// cust 0.3 keeps its own textures private, so these are made of its bindings.

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

/// Room for one texture, kept from launch to launch: on one stream the next copy into it comes
/// after the launch that reads it, and images of one size need no new one.
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

// SAFETY: handles of the driver, which any thread may use; the slot is behind a mutex.
unsafe impl Send for TextureSlot {}

impl TextureSlot {
    /// Enqueues a copy of `input`, `width` x `height` RGBA pixels row by row, into the texture, and
    /// gives the texture's handle.
    pub(crate) fn fill(&mut self, stream: &Stream, input: &GpuBuffer, width: u32, height: u32) -> Result<u64> {
        let (row_bytes, rows) = (width as usize * PIXEL_BYTES, height as usize);
        assert_eq!(input.len_bytes(), row_bytes as u64 * rows as u64, "size of the texture, in bytes");
        let operation = || format!("copying {width}x{height} pixels into a texture");
        if self.texture.as_ref().is_none_or(|texture| (texture.width, texture.height) != (width, height)) {
            self.empty(&stream.inner);
            self.texture = Some(Texture::new(width, height)?);
        }
        let Some(texture) = &self.texture else { unreachable!("made above") };
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
        // SAFETY: both sides hold the bytes; the stream orders the copy after what writes the input
        // and after the launches that read the texture's last image.
        checked(unsafe { cuMemcpy2DAsync_v2(&copy, stream.inner.as_inner()) }, operation)?;
        Ok(texture.handle)
    }

    /// Frees the texture, when the stream is done with it. The context is current.
    pub(crate) fn empty(&mut self, stream: &CustStream) {
        if let Some(Texture { handle, array, .. }) = self.texture.take() {
            // An error here is told by whatever waits for the stream next.
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
    /// A texture whose reads are clamped to its edge, unfiltered, and give bytes as 0 to 1.
    fn new(width: u32, height: u32) -> Result<Texture> {
        let operation = || format!("creating a texture of {width}x{height} pixels");
        let mut texture = Texture { handle: 0, array: null_mut(), width, height };
        let pixels = CUDA_ARRAY_DESCRIPTOR {
            Width: width as usize,
            Height: height as usize,
            Format: CUarray_format_enum::CU_AD_FORMAT_UNSIGNED_INT8,
            NumChannels: PIXEL_BYTES as u32,
        };
        // SAFETY: the calls read the descriptions and write only the handles; zeros are what the
        // descriptions' other fields stand at by default.
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
