//! 3x3 masks over RGBA pixels of 8 bits per channel, one file per variant; their common code is here.
//!
//! A pixel is a 32-bit word, red in its low byte. A thread computes all four channels of a pixel, converted to floats
//! on load. The taps are divided by their sum before the launch, so that the sum over the mask is the normalised
//! result; it is rounded half to even and saturated.

mod cooperative;
mod naive;
mod one_loader;
mod texture;

pub use cooperative::Cooperative;
pub use naive::Naive;
pub use one_loader::OneLoader;
pub use texture::Texture;

use crate::device::{Device, Global, Shared};
use apron_abi::{BorderMode, Conv2dParams, FromSum, RGBA_BLOCK, RGBA_MASK, RGBA_TILE};

/// Number of taps of the mask.
const TAPS: u32 = RGBA_MASK * RGBA_MASK;

/// Returns the first column and row of the block's pixels.
#[inline(always)]
fn block_corner<D: Device>(d: D) -> (u32, u32) {
    (d.block_x() * RGBA_BLOCK[0], d.block_y() * RGBA_BLOCK[1])
}

/// Returns the input pixel at a column and row that may lie outside the image; the constant of a border is a byte.
///
/// # Safety
/// The source is as large as the parameters say.
#[inline(always)]
unsafe fn load_pixel<D: Device>(d: D, src: Global<u8>, p: &Conv2dParams, column: i32, row: i32) -> u32 {
    let border = BorderMode::from_u32(p.border);
    match (border.map(row, p.height as i32), border.map(column, p.width as i32)) {
        (Some(row), Some(column)) => {
            let pixels = Global::<u32>::at(src.address);
            // SAFETY: the border mapped row and column into the image.
            unsafe { d.load(pixels, row as u64 * (p.row_stride / 4) as u64 + column as u64) }
        }
        _ => u8::from_sum(p.constant as f64) as u32 * 0x0101_0101,
    }
}

/// Returns the four channels of a pixel as numbers, 0 to 255.
#[inline(always)]
fn widen(pixel: u32) -> [f32; 4] {
    [(pixel & 0xff) as f32, (pixel >> 8 & 0xff) as f32, (pixel >> 16 & 0xff) as f32, (pixel >> 24) as f32]
}

/// Sums of a pixel's four channels, in f64 as for all integer results.
#[derive(Clone, Copy)]
struct Sums([f64; 4]);

impl Sums {
    const ZERO: Sums = Sums([0.0; 4]);

    /// Returns the sums with tap `index` times the sample added.
    ///
    /// # Safety
    /// `index` is below 9.
    #[inline(always)]
    unsafe fn add<D: Device>(self, d: D, index: u32, sample: [f32; 4]) -> Sums {
        // SAFETY: the caller's promise.
        let tap = unsafe { d.tap(index) } as f64;
        let Sums([r, g, b, a]) = self;
        let [sr, sg, sb, sa] = sample;
        Sums([d.fma(tap, sr as f64, r), d.fma(tap, sg as f64, g), d.fma(tap, sb as f64, b), d.fma(tap, sa as f64, a)])
    }

    /// Rounds the sums to a pixel.
    #[inline(always)]
    fn pixel(self) -> u32 {
        let Sums([r, g, b, a]) = self;
        let byte = |sum: f64| u8::from_sum(sum) as u32;
        byte(r) | byte(g) << 8 | byte(b) << 16 | byte(a) << 24
    }
}

/// Stores a thread's pixel.
///
/// # Safety
/// The pixel is in the output, which is as large as the parameters say, and no other thread's.
#[inline(always)]
unsafe fn store_pixel<D: Device>(d: D, dst: Global<u8>, p: &Conv2dParams, x: u32, y: u32, sums: Sums) {
    let pixels = Global::<u32>::at(dst.address);
    // SAFETY: the caller's promise.
    unsafe { d.store(pixels, y as u64 * p.out_width as u64 + x as u64, sums.pixel()) };
}

/// Loads the tile's pixel `index`, counted row by row, for the block with this corner.
///
/// # Safety
/// `index` is below 60 and no other thread's; the source is as large as the parameters say.
#[inline(always)]
unsafe fn fill<D: Device>(d: D, src: Global<u8>, p: &Conv2dParams, tile: Shared<u32>, corner: (u32, u32), index: u32) {
    let (column, row) = (corner.0 + index % RGBA_TILE[0], corner.1 + index / RGBA_TILE[0]);
    // SAFETY: the caller's promise.
    unsafe {
        let pixel = load_pixel(d, src, p, column as i32 + p.origin_x, row as i32 + p.origin_y);
        d.shared_store(tile, index, pixel);
    }
}

/// Sums a thread's window in the tile and stores the pixel, if it is in the output.
///
/// # Safety
/// The tile is filled and a barrier passed; the output is as large as the parameters say.
#[inline(always)]
unsafe fn sum_tile<D: Device>(d: D, dst: Global<u8>, p: &Conv2dParams, tile: Shared<u32>, corner: (u32, u32)) {
    let (x, y) = (corner.0 + d.thread_x(), corner.1 + d.thread_y());
    if x >= p.out_width || y >= p.out_height {
        return;
    }
    let mut sums = Sums::ZERO;
    for tap in 0..TAPS {
        let (column, row) = (d.thread_x() + tap % RGBA_MASK, d.thread_y() + tap / RGBA_MASK);
        // SAFETY: a thread's window is in the tile; the tap is in the mask.
        sums = unsafe { sums.add(d, tap, widen(d.shared_load(tile, row * RGBA_TILE[0] + column))) };
    }
    // SAFETY: checked above; one pixel per thread.
    unsafe { store_pixel(d, dst, p, x, y, sums) };
}
