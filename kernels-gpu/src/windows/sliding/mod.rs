//! Windows of integers, whose sums are exact in any order and so slide.
//!
//! A block of [`WINDOWS_BLOCK`] threads marches down a strip of the output, up to
//! [`WINDOWS_ROWS`](apron_abi::WINDOWS_ROWS) rows per step:
//!
//! ```text
//! columns:  each thread owns quads of adjacent samples. For each row of the step it adds the row that enters the
//!           windows to its column sums, subtracts the row that leaves, and stores the sums in shared memory
//! barrier   (at the image's left and right edges, the sums of columns outside are then copied from those inside;
//!           barrier)
//! windows:  each warp owns a row, each lane a segment of the row, of one channel. A lane sums its segment, computes
//!           its first window by a scan over the segments, and slides: one column sum enters, one leaves. It stores
//!           its outputs in shared memory
//! barrier
//! store:    each thread stores quads of adjacent outputs
//! ```
//!
//! If the column sums of wide windows leave room for fewer rows than a block has warps, the other warps are idle in the
//! second phase.
//!
//! The column sums of a step slide on from those of the previous step's last row. Segments have an odd number of
//! pixels, so that lanes load sums from different banks. Per sample: two loads of a quarter of a word, and six accesses
//! to shared memory of a quarter or of a whole word. The first windows of a block use the column sums of whole chunks
//! of rows from the previous launch, [`Totals`](super::Totals).
//!
//! Launch contract: the buffers are as large as the parameters say, the shared memory is [`apron_abi::SlidingTile`],
//! and the parameters are as the plan computes them.

mod columns;
mod rows;

use super::quads::{Rows, Sums, QUAD};
use super::terms::{centre, terms, Whole};
use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use crate::{div_rem, Body};
use apron_abi::{Sample, SlidingParams, WINDOWS_BLOCK};
use core::marker::PhantomData;

/// The final step on a window's sums: the sum of its samples and, if there are two terms, that of their squares.
pub trait Finish<W, const TERMS: usize> {
    /// Returns the bits of four outputs: each an f32, or a 32-bit integer that is saturated when it is stored.
    fn finish<D: Device>(d: D, sums: Sums<W, TERMS>, signed: bool, p: &SlidingParams) -> [u32; QUAD];
}

/// The kernel, with `F` as the final step of each window. The destination may have any sample type, which the
/// parameters give; `Dst` is only the type of the sums, after which the kernel is named.
///
/// Launch contract: see the module.
pub struct Sliding<I, W, F, const TERMS: usize>(PhantomData<(I, W, F)>);

impl<I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize> Body for Sliding<I, W, F, TERMS> {
    type Src = I;
    type Dst = W;
    type Params = SlidingParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<W>, p: &SlidingParams) {
        let first_row = d.block_y() * p.rows;
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
        let block = Block::<D, I, W, F, TERMS>::of(d, src, dst.address, p);
        // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
        unsafe { block.march(first_row, last_row) };
    }
}

struct Block<'p, D, I, W, F, const TERMS: usize> {
    d: D,
    p: &'p SlidingParams,
    rows: Rows<'p, I>,
    /// Address of the output.
    dst: u64,
    /// First output pixel of the block in a row, and number of output pixels.
    first: u32,
    strip: u32,
    /// First channel of the block.
    channel: u32,
    /// Samples of the block's first quad before the first window, so that quads are aligned.
    lead: u32,
    types: PhantomData<(W, F)>,
}

impl<'p, D: Device, I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize> Block<'p, D, I, W, F, TERMS> {
    const SUM: u32 = W::TYPE.size_bytes();
    const CENTRE: i32 = centre::<I, W, TERMS>();

    #[inline(always)]
    fn of(d: D, src: Global<I>, dst: u64, p: &'p SlidingParams) -> Self {
        // SAFETY: an image has at least one channel, and so has a block.
        let (strip, of_block) = unsafe { div_rem(d.block_x(), div_rem(p.channels, p.tile.channels).0) };
        let first = strip * p.tile.strip;
        let left = p.out_width - first;
        // Blocks with one of several channels load sample by sample.
        let lead = match p.tile.channels == p.channels {
            true => ((first as i32 + p.origin_x) * p.channels as i32) as u32 % QUAD as u32,
            false => 0,
        };
        Block {
            d,
            p,
            rows: Rows::of(src, p),
            dst,
            first,
            strip: if left < p.tile.strip { left } else { p.tile.strip },
            channel: of_block,
            lead,
            types: PhantomData,
        }
    }

    /// Returns the thread's number, opaque, so that values that a phase derives from it take no registers in the
    /// others.
    #[inline(always)]
    fn thread(&self) -> u32 {
        self.d.anew(self.d.thread_x())
    }

    /// Returns the rows per step, opaque like the thread's number.
    #[inline(always)]
    fn step(&self) -> u32 {
        self.d.anew(self.p.tile.rows)
    }

    /// Returns the pixel and the channel of a sample of the block.
    #[inline(always)]
    fn split(&self, sample: u32) -> (u32, u32) {
        let channels = self.p.tile.channels;
        let pixel = match channels {
            1 => sample,
            2 => sample / 2,
            3 => sample / 3,
            _ => sample / 4,
        };
        (pixel, sample - pixel * channels)
    }

    /// Returns the column sums of row `slot` of the step.
    #[inline(always)]
    fn columns(&self, slot: u32, term: usize) -> Shared<W> {
        let planes = (slot * TERMS as u32 + term as u32) * self.p.tile.channels;
        Shared::at(planes * self.p.tile.plane * Self::SUM)
    }

    /// Returns the outputs of row `slot` of the step.
    #[inline(always)]
    fn outputs(&self, slot: u32) -> Shared<u32> {
        Shared::at(self.p.tile.outputs_at + slot * self.p.tile.outputs * 4)
    }

    /// Returns the place of a sample in a row of sums or outputs: each channel is a plane.
    #[inline(always)]
    fn place(&self, sample: u32) -> u32 {
        let (pixel, channel) = self.split(sample);
        channel * self.p.tile.plane + pixel
    }

    /// Returns the places of four samples; samples before the block's first get an unused place.
    #[inline(always)]
    fn places(&self, first: i32) -> [u32; QUAD] {
        let mut places = [self.p.tile.plane - 1; QUAD];
        for k in 0..QUAD {
            let sample = first + k as i32;
            if sample >= 0 {
                places[k] = self.place(sample as u32);
            }
        }
        places
    }

    /// Returns the index in an image row of the block's first quad, which may be negative.
    #[inline(always)]
    fn left(&self) -> i32 {
        (self.first as i32 + self.p.origin_x) * self.p.channels as i32 - self.lead as i32
    }

    /// Returns whether windows of the block contain samples of a quad.
    #[inline(always)]
    fn is_needed(&self, quad: u32) -> bool {
        quad * (QUAD as u32) < self.lead + (self.strip + self.p.window_x) * self.p.tile.channels
    }

    /// Computes output rows `first_row` to `last_row - 1`.
    #[inline(always)]
    unsafe fn march(&self, first_row: u32, last_row: u32) {
        let d = self.d;
        // SAFETY: a barrier lies between each write of shared memory and the reads by other threads.
        unsafe {
            for n in 0..self.p.tile.quads {
                self.put_list(n * WINDOWS_BLOCK + self.thread());
            }
            for n in 0..self.p.tile.quads {
                let quad = n * WINDOWS_BLOCK + self.thread();
                let summed = self.is_needed(quad) && !self.is_copied(quad);
                let sums = if summed { self.first_sums(first_row, quad) } else { [terms(0); QUAD] };
                // Lanes sum whole segments, which may include quads that no window needs: these stay 0.
                for slot in 0..self.p.tile.rows {
                    self.put(slot, self.places_of(quad), sums);
                }
            }
            let mut row = first_row;
            while row < last_row {
                self.sum_columns(row);
                if self.has_outside() {
                    d.barrier();
                    self.copy_columns();
                }
                d.barrier();
                let slot = self.thread() / WARP;
                if slot < self.step() && row + slot < last_row {
                    self.windows(row + slot, slot);
                }
                d.barrier();
                let step = self.step();
                let rows = if last_row - row < step { last_row - row } else { step };
                let alike = (self.p.out_width * self.p.channels).is_multiple_of(QUAD as u32);
                let together = if alike { rows } else { 1 };
                let mut slot = 0;
                while slot < rows {
                    self.store(row + slot, slot, together);
                    slot += together;
                }
                row += step;
            }
        }
    }
}
