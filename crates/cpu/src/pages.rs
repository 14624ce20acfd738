//! Memory for outputs.
#![allow(unsafe_code)] // a single system call, which is only advice

use apron_core::{AnyImage, Image, ImageMut, Pixel, PixelType, Result, Shape, check_memory, f16};

/// Creates an image of any type, whose packed bytes `fill` writes, as [`AnyImage::from_bytes`]: in huge pages where the
/// system has them.
///
/// # Errors
/// As [`AnyImage::from_bytes`].
pub fn image_from_bytes(
    pixel: PixelType,
    shape: Shape,
    fill: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<AnyImage<'static>> {
    fn of<T: Pixel>(shape: Shape, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<AnyImage<'static>> {
        filled::<T>(shape, |mut image| fill(bytemuck::cast_slice_mut(image.spanned_mut()))).map(T::into_any)
    }
    match pixel {
        PixelType::U8 => of::<u8>(shape, fill),
        PixelType::U16 => of::<u16>(shape, fill),
        PixelType::I16 => of::<i16>(shape, fill),
        PixelType::F16 => of::<f16>(shape, fill),
        PixelType::F32 => of::<f32>(shape, fill),
    }
}

/// Creates an image that `fill` writes.
pub(crate) fn filled<T: Pixel>(
    shape: Shape,
    fill: impl FnOnce(ImageMut<'_, T>) -> Result<()>,
) -> Result<Image<'static, T>> {
    let Shape { width, height, channels } = shape;
    let mut samples = zeros(shape)?;
    fill(ImageMut::new(width, height, channels, &mut samples)?)?;
    Image::new(width, height, channels, samples)
}

/// Alignment of the system's huge pages, in bytes: 2 MiB on x86-64, and on AArch64 with 4 KiB pages.
const HUGE_PAGE: usize = 1 << 21;

/// Allocates a zero per sample of a shape, whatever the element type. The first access to each page of fresh memory
/// faults, which with 4 KiB pages takes longer than a small filter; so large allocations request huge pages.
pub(crate) fn zeros<T: Copy + Default>(shape: Shape) -> Result<Vec<T>> {
    check_memory::<T>(shape.samples(), shape)?;
    let zeros = vec![T::default(); shape.samples() as usize];
    #[cfg(target_os = "linux")]
    {
        let bytes = size_of_val(&zeros[..]);
        let before = zeros.as_ptr().addr().wrapping_neg() % HUGE_PAGE;
        let whole = bytes.saturating_sub(before) / HUGE_PAGE * HUGE_PAGE;
        if whole > 0 {
            let start = zeros.as_ptr().wrapping_byte_add(before);
            // SAFETY: the range lies inside the vector, and the advice changes no memory contents. The result is
            // ignored, because nothing depends on whether the system follows the advice.
            unsafe { libc::madvise(start as *mut libc::c_void, whole, libc::MADV_HUGEPAGE) };
        }
    }
    Ok(zeros)
}
