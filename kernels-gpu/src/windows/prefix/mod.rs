//! Windows of integers by prefix sums along the rows: what means and local deviations share.
//!
//! A block is one warp or several. Each lane owns a vector of 16 adjacent bytes of a strip, and keeps the sums of the
//! columns of these samples over the height of the window in registers:
//!
//! ```text
//! columns:  each lane adds the row that enters the windows to its column sums, and subtracts the row that leaves
//! prefix:   a scan over the lanes of each warp, then one addition per sample; the prefix sums, and the total of each
//!           warp, go to shared memory
//! barrier
//! windows:  the prefix sum where a window ends, from shared memory, less the one where it starts, which the lane has;
//!           the kernel's final step makes the difference an output
//! store:    the previous row's outputs leave shared memory as 32-bit words
//! barrier
//!           the outputs go to shared memory
//! ```
//!
//! The columns of the next row are summed before the second barrier, so that the totals of its warps are complete behind
//! it.
//!
//! Windows start at any pixel, and outputs are stored at any address, so some accesses must cross the vectors of lanes:
//! the reads at the windows' ends and the stores do, through shared memory; the loads do not.
//!
//! The border maps a vector outside the image to one inside, in the same or the opposite order of pixels, or to copies
//! of one pixel or of the constant. Vectors are aligned so that no edge of the image divides one.
//!
//! Per sample: two global loads of its bytes; two accesses to shared memory of a prefix sum, its own and the one at its
//! window's end, and three of its output's bytes. Blocks of several warps take the first sums of tall windows from the
//! previous launch, which sums columns over chunks of rows.
//!
//! Launch contract: the buffers are as large as the parameters say, the shared memory is laid out as
//! [`WindowSums`] says, the parameters are as the plan computes them, and a row of the image has at least two vectors
//! more than a row of a window.

mod outputs;
mod rows;
mod vectors;

pub(crate) use rows::TOGETHER;
pub(crate) use vectors::{Image, Loaded, Place, Vector, BYTES, WORDS};

use crate::device::{Device, Global};
use crate::samples::WARP;
use crate::Body;
use apron_abi::{PrefixParams, Sample};
use core::marker::PhantomData;

/// What a kernel sums, and makes of the windows.
pub trait WindowSums<I: Sample, const C: usize, const W: u32>: Sized {
    /// Sums of the columns of a lane's vector over the height of a window.
    type Columns: Copy;
    /// Sums of the columns left of a lane's vector: of its warp, then of the strip.
    type Before: Copy;
    /// What a lane keeps of its prefix sums for the windows' starts.
    type Starts: Copy;
    /// The sign bits of a word of samples, if these are taken with the opposite sign bit; otherwise 0.
    const SIGNS: u32;
    /// Whether the thread's number is opaque to the compiler: addresses derived from it are computed again per row. Kept in
    /// registers, they might exceed the limit of 128 registers per thread.
    const OPAQUE: bool;
    /// Offset of the outputs in shared memory, in bytes. A vector's room precedes them, and another one follows.
    const OUTPUTS: u32;

    /// Returns the column sums for the output row above the block's first, `first_row`: of the rows from `top` on.
    ///
    /// # Safety
    /// The launch is as the module says, and the calls come in the order of `Strip::march`.
    unsafe fn first<D: Device>(strip: &Strip<D, I, Self, C, W>, first_row: u32, top: i32) -> Self::Columns;
    /// Adds the row that enters the windows to the column sums, and subtracts the row that leaves. Returns the sums of
    /// all columns of the warp before this lane's vector, and stores the totals of the warp.
    ///
    /// # Safety
    /// As [`first`](Self::first).
    unsafe fn slide<D: Device>(
        strip: &Strip<D, I, Self, C, W>,
        columns: &mut Self::Columns,
        rows: [Vector; 2],
    ) -> Self::Before;
    /// Stores the prefix sum before each of this lane's samples, per channel.
    ///
    /// # Safety
    /// As [`first`](Self::first).
    unsafe fn put_prefixes<D: Device>(
        strip: &Strip<D, I, Self, C, W>,
        columns: &Self::Columns,
        before: Self::Before,
    ) -> Self::Starts;
    /// Returns the outputs of the windows that start at this lane's pixels, packed.
    ///
    /// # Safety
    /// As [`first`](Self::first).
    unsafe fn outputs<D: Device>(
        strip: &Strip<D, I, Self, C, W>,
        columns: &Self::Columns,
        starts: Self::Starts,
    ) -> Vector;
}

/// The kernel, for images of `C` channels, with `W` warps per block.
pub struct Prefix<I, S, const C: usize, const W: u32>(PhantomData<(I, S)>);

impl<I: Sample, S: WindowSums<I, C, W>, const C: usize, const W: u32> Body for Prefix<I, S, C, W> {
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
        let vector = Strip::<D, I, S, C, W>::PIXELS;
        let (start, width) = (first as i32 + p.origin_x, p.width as i32);
        // Vectors begin at multiples of their length; in a strip that could contain the right edge, at multiples of
        // their length before that edge.
        let has_right = start + (outputs + p.window_x) as i32 + vector > width;
        let left = if has_right { width - (width - start + vector - 1) / vector * vector } else { start & -vector };
        let column = left + d.thread_x() as i32 * vector;
        let image = Image::<D, I> { d, p, src, pixel: Strip::<D, I, S, C, W>::PIXEL, signs: S::SIGNS };
        let is_needed = column < start + (outputs + p.window_x) as i32;
        let place = if is_needed { Place::of(column, width, vector, image.border()) } else { Place::CONSTANT };
        let of_warp = left + (d.thread_x() / WARP * WARP) as i32 * vector;
        let inside = of_warp >= 0 && of_warp + WARP as i32 * vector <= width;
        let plain = inside && image.has_vectors() && left % vector == 0;
        // The rows of one output row more are loaded than are used.
        let rows_inside =
            first_row as i32 + p.origin_y > 0 && (last_row + p.window_y) as i32 + p.origin_y <= p.height as i32;
        let strip = Strip::<D, I, S, C, W> {
            d,
            p,
            image,
            dst: dst.address + (first * Strip::<D, I, S, C, W>::PIXEL) as u64,
            outputs,
            lead: (start - left) as u32,
            place,
            plain,
            rows_inside,
            of: PhantomData,
        };
        // SAFETY: the launch keeps the contract; barriers separate the writes of threads to shared memory from the
        // reads of others.
        unsafe { strip.march(first_row, last_row) };
    }
}

/// A block's part of the image.
pub struct Strip<'p, D, I, S, const C: usize, const W: u32> {
    pub(crate) d: D,
    pub(crate) p: &'p PrefixParams,
    pub(crate) image: Image<'p, D, I>,
    /// Address of the strip's first output in row 0.
    dst: u64,
    /// Number of output pixels in a row.
    outputs: u32,
    /// Pixels before the first window in the first vector.
    lead: u32,
    /// Place of this lane's vectors in the image's rows.
    pub(crate) place: Place,
    /// Whether all vectors of the warp lie in the image, at addresses that are multiples of their length.
    pub(crate) plain: bool,
    /// Whether all rows that the block loads lie in the image.
    rows_inside: bool,
    of: PhantomData<S>,
}

impl<D: Device, I: Sample, S: WindowSums<I, C, W>, const C: usize, const W: u32> Strip<'_, D, I, S, C, W> {
    /// Bytes per sample.
    pub(crate) const SIZE: u32 = I::TYPE.size_bytes();
    /// Bytes per pixel.
    pub(crate) const PIXEL: u32 = Self::SIZE * C as u32;
    /// Samples per vector.
    pub(crate) const SAMPLES: usize = BYTES / Self::SIZE as usize;
    /// Pixels per vector.
    pub(crate) const PIXELS: i32 = (Self::SAMPLES / C) as i32;
    /// Pitch of the prefix sums of vectors, in sums: odd, against bank conflicts.
    pub(crate) const PITCH: u32 = Self::SAMPLES as u32 + 1;

    /// Returns the thread's number, which is that of its vector in the strip.
    #[inline(always)]
    pub(crate) fn thread(&self) -> u32 {
        let thread = self.d.thread_x();
        if S::OPAQUE {
            self.d.anew(thread)
        } else {
            thread
        }
    }

    /// Returns the vector whose windows this lane computes: its own, or if no window of the strip starts there, the
    /// strip's first, so that all windows end in the strip.
    #[inline(always)]
    pub(crate) fn reader(&self) -> u32 {
        let vector = self.thread();
        if vector * (Self::PIXELS as u32) < self.lead + self.outputs {
            vector
        } else {
            0
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
            let mut columns = S::first(self, first_row, top);
            self.clear_before_outputs();
            let mut rows = self.load_both(top);
            let mut before = S::slide(self, &mut columns, rows.map(|row| self.samples(row)));
            rows = self.load_both(top + 1);
            d.barrier();
            loop {
                let starts = S::put_prefixes(self, &columns, before);
                d.barrier();
                let outputs = S::outputs(self, &columns, starts);
                if row > first_row {
                    self.store(row - 1);
                }
                row += 1;
                top += 1;
                if row == last_row {
                    d.barrier();
                    self.put_outputs(outputs);
                    break;
                }
                before = S::slide(self, &mut columns, rows.map(|row| self.samples(row)));
                // These arrive while the next row's outputs are computed. The last ones are not used: with a branch
                // around them the loop would wait for them here.
                rows = self.load_both(top + 1);
                d.barrier();
                self.put_outputs(outputs);
            }
            d.barrier();
            self.store(last_row - 1);
        }
    }
}
