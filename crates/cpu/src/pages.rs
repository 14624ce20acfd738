//! Memory for outputs.
#![allow(unsafe_code)] // a single system call, which is only advice

use crate::parallel;
use apron_core::{AnyImage, Image, ImageMut, Pixel, PixelType, Result, Shape, check_memory, each_pixel, each_type};

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
    let mut image = image_of_zeros(pixel, shape)?;
    fill(image.view_mut().spanned_bytes_mut())?;
    Ok(image)
}

/// Creates an image of zeros, of any type.
pub(crate) fn image_of_zeros(pixel: PixelType, shape: Shape) -> Result<AnyImage<'static>> {
    let Shape { width, height, channels } = shape;
    each_pixel!(pixel, T => Ok(T::into_any(Image::new(width, height, channels, zeros::<T>(shape)?)?)))
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

/// Bytes per task of a copy.
const TASK: usize = 1 << 20;

/// Copies an image into rows without gaps, in parallel.
///
/// # Errors
/// [`Error::Shape`](apron_core::Error::Shape) for more bytes than the system has memory for.
pub fn copied(image: &AnyImage<'_>) -> Result<AnyImage<'static>> {
    fn of<T: Pixel>(image: &Image<'_, T>) -> Result<AnyImage<'static>> {
        let shape = image.shape();
        let row = shape.row_samples();
        let rows = (TASK / size_of::<T>()).div_ceil(row);
        let copy = filled::<T>(shape, |mut out| {
            parallel::chunks(out.spanned_mut(), row * rows, &|band, out| {
                for (out, y) in out.chunks_mut(row).zip((band * rows) as u32..) {
                    out.copy_from_slice(image.row(y));
                }
            });
            Ok(())
        });
        copy.map(T::into_any)
    }
    each_type!(image, image => of(image))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_rows_with_gaps_are_copied() {
        let image = Image::from_fn(1500, 900, 3, |x, y, channel| (x * 3 + y * 5 + channel) as u16).unwrap();
        let part = image.region(7, 3, 1400, 890).unwrap();
        let copy = copied(&AnyImage::U16(part.view())).unwrap();
        assert_eq!(copy.row_stride(), 4200);
        assert!(copy.bytes() == part.packed_bytes());
    }
}
