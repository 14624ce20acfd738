//! Host memory that the GPU copies from and to directly.

#[cfg(feature = "gpu")]
use crate::backend::Backend;
use crate::{Device, Pixel, Result};
use std::fmt;
#[cfg(feature = "gpu")]
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Samples in host memory that is pinned: a GPU copies from it and to it at the speed of its bus, without threads that
/// copy in between. It is made by [`Device::pinned`], and unpinned when it is dropped.
///
/// Pinning takes about as long as one copy, and keeps the memory from being swapped out: use it again and again.
///
/// ```
/// use apron::{Device, Image, ImageMut};
///
/// let device = Device::auto();
/// let (mut frame, mut blurred) = (device.pinned::<u8>(64 * 48)?, device.pinned::<u8>(64 * 48)?);
/// for level in [10, 20] {
///     frame.fill(level);
///     let image = Image::new(64, 48, 1, &frame[..])?;
///     device.gaussian(&image, 2.0).run_into(ImageMut::new(64, 48, 1, &mut blurred)?)?;
///     assert!(blurred.iter().all(|sample| *sample == level));
/// }
/// # Ok::<(), apron::Error>(())
/// ```
pub struct Pinned<T: Pixel> {
    memory: Memory<T>,
}

enum Memory<T> {
    #[cfg(feature = "gpu")]
    Gpu(apron_gpu::PinnedMemory, PhantomData<T>),
    /// Of devices on the host.
    Host(Vec<T>),
}

impl<T: Pixel> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            #[cfg(feature = "gpu")]
            Memory::Gpu(memory, _) => bytemuck::cast_slice(memory.bytes()),
            Memory::Host(samples) => samples,
        }
    }
}

impl<T: Pixel> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            #[cfg(feature = "gpu")]
            Memory::Gpu(memory, _) => bytemuck::cast_slice_mut(memory.bytes_mut()),
            Memory::Host(samples) => samples,
        }
    }
}

impl<T: Pixel> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("samples", &self.len()).finish_non_exhaustive()
    }
}

impl Device {
    /// Allocates zeros in host memory that is pinned for this device; in ordinary memory on devices without a GPU.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) and [`Error::OutOfMemory`](crate::Error::OutOfMemory) for more
    /// samples than the host has memory for, and [`Error::Driver`](crate::Error::Driver) if the system does not
    /// let the driver pin it.
    pub fn pinned<T: Pixel>(&self, samples: usize) -> Result<Pinned<T>> {
        apron_core::check_memory::<T>(samples as u64, format_args!("{samples} samples of {}", T::PIXEL))?;
        let memory = match &self.for_data().backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Memory::Gpu(apron_gpu::PinnedMemory::new(gpu, samples * size_of::<T>())?, PhantomData),
            _ => Memory::Host(vec![T::default(); samples]),
        };
        Ok(Pinned { memory })
    }
}
