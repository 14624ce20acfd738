//! Means of integers: window sums as differences of prefix sums along the rows.
//!
//! A block is one warp or several. Each lane owns a vector of 16 adjacent bytes of a strip, and keeps the sums of the
//! columns of these samples over the height of the window in registers:
//!
//! ```text
//! columns:  each lane adds the row that enters the windows to its column sums, and subtracts the row that leaves
//! prefix:   a scan over the lanes of each warp, then one addition per sample; the prefix sums, and the total of each
//!           warp, go to shared memory
//! barrier
//! windows:  the prefix sum where a window ends, from shared memory, less the one where it starts, which the lane has
//!           in a register; one multiplication makes the difference a mean
//! store:    the previous row's means leave shared memory as 32-bit words
//! barrier
//!           the means go to shared memory
//! ```
//!
//! The columns of the next row are summed before the second barrier, so that the totals of its warps are complete behind
//! it.
//!
//! Windows start at any pixel, and means are stored at any address, so some accesses must cross the vectors of lanes:
//! the reads at the windows' ends and the stores do, through shared memory; the loads do not.
//!
//! The border maps a vector outside the image to one inside, in the same or the opposite order of pixels, or to copies
//! of one pixel or of the constant. Vectors are aligned so that no edge of the image divides one.
//!
//! All sums are modulo 2^32. A window's sum is below, or it is found from its remainder modulo 2^32 and an estimate:
//! the sum of the vectors from the one where the window starts to the one where it ends. Samples of i16 are summed as
//! u16 that are 32768 larger. Per sample: two global loads of its bytes; two accesses to shared memory of a word, for
//! its prefix sum and its window's end, and three of its bytes, for its mean. Blocks of several warps take the first
//! sums of tall windows from the previous launch, [`PrefixTotals`], which sums columns over chunks of rows.
//!
//! Launch contract: the buffers are as large as the parameters say, the shared memory has
//! [`apron_abi::prefix_layout`], the parameters are as the plan computes them, and a row of the image has at least two
//! vectors more than a row of a window.

mod columns;
mod rows;
mod vectors;

pub use columns::PrefixTotals;

use crate::device::{Device, Global};
use crate::samples::WARP;
use crate::Body;
use apron_abi::{ElementType, PrefixParams, Sample};
use core::marker::PhantomData;
use vectors::{Image, Place, BYTES};

/// The kernel, for images of `C` channels, with `W` warps per block; `LARGE` if sums may need 37 bits.
pub struct Prefix<I, const C: usize, const W: u32, const LARGE: bool>(PhantomData<I>);

/// The sums of the warp's columns left of a lane's vector: per channel, and where sums are large, in units of
/// [`UNIT`](rows::UNIT).
#[derive(Clone, Copy)]
struct Before<const C: usize> {
    sums: [u32; C],
    units: u32,
}

/// A sum for each sample of a vector; a vector of 16-bit samples has half as many.
type Sums = [u32; BYTES];

impl<I: Sample, const C: usize, const W: u32, const LARGE: bool> Body for Prefix<I, C, W, LARGE> {
    type Src = I;
    type Dst = I;
    type Params = PrefixParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<I>, p: &PrefixParams) {
        // A row at the left or right edge of the image takes longer, so two blocks share the rows of each strip there.
        // Blocks with numbers above those of the strips have the second halves.
        let [before, behind] = p.edges;
        let index = d.block_x();
        let strip = match index {
            _ if index < p.strips => index,
            _ if index < p.strips + before => index - p.strips,
            _ => index - before - behind,
        };
        let rows = if strip < before || strip >= p.strips - behind { p.rows / 2 } else { p.rows };
        let first_row = d.block_y() * p.rows + if index < p.strips { 0 } else { rows };
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < rows { p.out_height } else { first_row + rows };
        let first = strip * p.outputs;
        let outputs = if p.out_width - first < p.outputs { p.out_width - first } else { p.outputs };
        let vector = Strip::<D, I, C, W, LARGE>::PIXELS;
        let (start, width) = (first as i32 + p.origin_x, p.width as i32);
        // Vectors begin at multiples of their length; in a strip that could contain the right edge, at multiples of
        // their length before that edge.
        let has_right = start + (outputs + p.window_x) as i32 + vector > width;
        let left = if has_right { width - (width - start + vector - 1) / vector * vector } else { start & -vector };
        let column = left + d.thread_x() as i32 * vector;
        let image = Image::<D, I> { d, p, src, pixel: Strip::<D, I, C, W, LARGE>::PIXEL };
        let is_needed = column < start + (outputs + p.window_x) as i32;
        let place = if is_needed { Place::of(column, width, vector, image.border()) } else { Place::CONSTANT };
        let of_warp = left + (d.thread_x() / WARP * WARP) as i32 * vector;
        let inside = of_warp >= 0 && of_warp + WARP as i32 * vector <= width;
        let plain = inside && image.has_vectors() && left % vector == 0;
        // The rows of one output row more are loaded than are used.
        let rows_inside =
            first_row as i32 + p.origin_y > 0 && (last_row + p.window_y) as i32 + p.origin_y <= p.height as i32;
        let strip = Strip::<D, I, C, W, LARGE> {
            d,
            p,
            image,
            dst: dst.address + (first * Strip::<D, I, C, W, LARGE>::PIXEL) as u64,
            outputs,
            lead: (start - left) as u32,
            place,
            plain,
            rows_inside,
        };
        // SAFETY: the launch keeps the contract; barriers separate the writes of threads to shared memory from the
        // reads of others.
        unsafe { strip.march(first_row, last_row) };
    }
}

struct Strip<'p, D, I, const C: usize, const W: u32, const LARGE: bool> {
    d: D,
    p: &'p PrefixParams,
    image: Image<'p, D, I>,
    /// Address of the strip's first output in row 0.
    dst: u64,
    /// Number of output pixels in a row.
    outputs: u32,
    /// Pixels before the first window in the first vector.
    lead: u32,
    /// Place of this lane's vectors in the image's rows.
    place: Place,
    /// Whether all vectors of the warp lie in the image, at addresses that are multiples of their length.
    plain: bool,
    /// Whether all rows that the block loads lie in the image.
    rows_inside: bool,
}

impl<D: Device, I: Sample, const C: usize, const W: u32, const LARGE: bool> Strip<'_, D, I, C, W, LARGE> {
    /// Bytes per sample.
    const SIZE: u32 = I::TYPE.size_bytes();
    /// Bytes per pixel.
    const PIXEL: u32 = Self::SIZE * C as u32;
    /// Samples per vector.
    const SAMPLES: usize = BYTES / Self::SIZE as usize;
    /// Pixels per vector.
    const PIXELS: i32 = (Self::SAMPLES / C) as i32;
    /// Whether samples have 8 bits.
    const OF_BYTES: bool = matches!(I::TYPE, ElementType::U8);

    /// Returns the thread's number, which is that of its vector in the strip. With several channels it is opaque to the
    /// compiler: addresses derived from it are computed again per row. Kept in registers, they would exceed the limit of
    /// 128 registers per thread.
    #[inline(always)]
    fn thread(&self) -> u32 {
        let thread = self.d.thread_x();
        if C > 1 {
            self.d.anew(thread)
        } else {
            thread
        }
    }

    /// Computes output rows `first_row` to `last_row - 1`.
    #[inline(always)]
    unsafe fn march(&self, first_row: u32, last_row: u32) {
        let d = self.d;
        // Sums start one row above the first window, so that each output row slides them.
        let (mut row, mut top) = (first_row, first_row as i32 + self.p.origin_y - 1);
        // SAFETY: the caller's promise.
        unsafe {
            let mut columns = self.first_sums(first_row, top);
            self.clear_before_means();
            let mut rows = self.load_both(top);
            let mut before = self.slide(&mut columns, rows);
            rows = self.load_both(top + 1);
            d.barrier();
            loop {
                let (prefixes, units) = self.put_prefixes(&columns, before);
                d.barrier();
                let means = self.means(&prefixes, units);
                if row > first_row {
                    self.store(row - 1);
                }
                row += 1;
                top += 1;
                if row == last_row {
                    d.barrier();
                    self.put_means(means);
                    break;
                }
                before = self.slide(&mut columns, rows);
                // These arrive while the next row's means are computed. The last ones are not used: with a branch
                // around them the loop would wait for them here.
                rows = self.load_both(top + 1);
                d.barrier();
                self.put_means(means);
            }
            d.barrier();
            self.store(last_row - 1);
        }
    }
}
