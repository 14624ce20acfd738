//! The box filter.

mod floats;
mod integers;

use crate::{pages, tiles};
use apron_core::{AnyImage, AnyImageMut, BoxFilter, Image, ImageMut, Pixel, Result, Window, check_pixels};

/// Applies a box filter, in parallel: bit for bit what `apron_reference::box_filter` computes, in a time almost
/// independent of the window's size.
///
/// ```
/// use apron_core::{Border, BoxFilter, Extent, Image, PixelType, Scale};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 5])?;
/// let (shape, border, scale) = (image.shape(), Border::Replicate, Scale::Mean);
/// let (src, dst, extent) = (PixelType::U8, PixelType::F32, Extent::Same);
/// let (width, height, anchor) = (2, 1, (0, 0));
/// let filter = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
/// let out: Image<f32> = apron_cpu::box_filter(&image, &filter)?;
/// assert_eq!(out.row(0), [1.5, 3.5, 5.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`BoxFilter::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the filter's types and shape.
pub fn box_filter<I: Pixel, O: Pixel>(image: &Image<I>, filter: &BoxFilter) -> Result<Image<'static, O>> {
    pages::filled(filter.window()?.out, |out| box_filter_into(image, filter, out))
}

/// As [`box_filter`], into an existing image.
///
/// # Errors
/// As [`box_filter`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn box_filter_into<I: Pixel, O: Pixel>(image: &Image<I>, filter: &BoxFilter, out: ImageMut<'_, O>) -> Result<()> {
    let window = filter.window()?;
    check_pixels::<I, O>("box", image, filter.shape, (filter.src, filter.dst))?;
    out.check(window.out)?;
    // Few pairs of types are compiled: integers to all, floats to floats.
    match I::into_any(image.view()) {
        AnyImage::U8(image) => {
            let windows = Windows { image: &image, filter, window };
            match filter.samples() * 255 {
                sum if sum <= u16::MAX as u64 => windows.run(out, integers::tile::<u8, u16, O>),
                sum if sum <= u32::MAX as u64 => windows.run(out, integers::tile::<u8, u32, O>),
                _ => windows.run(out, integers::tile::<u8, u64, O>),
            }
        }
        AnyImage::U16(image) => Windows { image: &image, filter, window }.run_wide(out),
        AnyImage::I16(image) => Windows { image: &image, filter, window }.run_wide(out),
        AnyImage::F16(image) => Windows { image: &image, filter, window }.run_floats(out),
        AnyImage::F32(image) => Windows { image: &image, filter, window }.run_floats(out),
    }
    Ok(())
}

/// Rows of input per tile that should stay in cache: the fastest of 16 to 256.
const SEEN_ROWS: usize = 32;

/// A box filter of an image.
struct Windows<'a, I: Pixel> {
    image: &'a Image<'a, I>,
    filter: &'a BoxFilter,
    window: Window,
}

impl<I: Pixel> Windows<'_, I> {
    /// Computes the output, tile by tile.
    fn run<O: Pixel, W: Default>(
        &self,
        out: ImageMut<'_, O>,
        tile: impl Fn(&Self, &mut W, tiles::Tile<'_, O>) + Sync + Send,
    ) {
        let halo = ((self.filter.width - 1) as usize * self.channels(), self.filter.height as usize - 1);
        tiles::for_each(out, halo, SEEN_ROWS, &|scratch, part| tile(self, scratch, part));
    }

    /// As [`run`](Windows::run), for integers of 16 bits.
    fn run_wide<O: Pixel>(&self, out: ImageMut<'_, O>) {
        match self.filter.samples() * 65535 {
            sum if sum <= i32::MAX as u64 => self.run(out, integers::tile::<I, i32, O>),
            _ => self.run(out, integers::tile::<I, i64, O>),
        }
    }

    /// As [`run`](Windows::run), for floats.
    fn run_floats<O: Pixel>(&self, out: ImageMut<'_, O>) {
        match O::into_any_mut(out) {
            AnyImageMut::F16(out) => self.run(out, floats::tile),
            AnyImageMut::F32(out) => self.run(out, floats::tile),
            _ => unreachable!("boxes of floats have output of floats"),
        }
    }

    fn channels(&self) -> usize {
        self.window.out.channels as usize
    }

    /// Row `y` of the extended image; `None` for a row of the constant.
    fn row(&self, y: i32) -> Option<&[I]> {
        self.source(y).map(|y| self.image.row(y as u32))
    }

    /// Returns the index of the image row that row `y` of the extended image repeats.
    fn source(&self, y: i32) -> Option<usize> {
        let (mode, _) = self.filter.border.mode();
        mode.map(y, self.image.height() as i32).map(|y| y as usize)
    }

    /// Returns whether windows are so high that rows of the image repeat in them.
    fn repeats(&self) -> bool {
        self.filter.height > 2 * self.image.height()
    }
}
