//! Memory for outputs.
#![allow(unsafe_code)] // a single system call, which is only advice

use apron_core::{Image, ImageMut, Pixel, Result, Shape, check_memory};

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
