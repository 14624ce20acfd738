//! Box filters: sums over windows of any size, for a few additions a sample.
//!
//! A block of [`BOX_BLOCK`] threads goes down a strip of the image, [`BOX_CHUNK`] rows a step:
//!
//! ```text
//! wait for the step's input rows; barrier                     (nobody uses the last step's rows)
//! start copying the next step's input rows                    (border by index map)
//! prefixes: each thread sums the samples of a chunk of a row, one after another
//! barrier
//! rows:     each thread sums 16 windows along a row, from its chunk, the chunks between and the prefix
//!           sums of the last one, into a ring of rows
//! barrier
//! columns:  each thread makes 16 sums of these down a column, and stores the results
//! ```
//!
//! What a sum costs depends on the window's size only where chunks lie between: one more addition for each,
//! axis and 16 sums. Any channels, borders, rows that start anywhere.
//!
//! A warp's threads work on the 16 rows of two chunks, and rows of shared memory start one bank after another.
//!
//! Launch contract of the kernels by chunks: the buffers are as large as the parameters say, the shared memory is
//! [`apron_abi::BoxTile`], and the parameters are those that the plan gives.

mod bytes;
mod floats;
mod simple;

pub use bytes::Bytes;
pub use floats::Floats;
pub use simple::{SimpleColumns, SimpleRows};

use crate::device::Device;
use apron_abi::{BorderMode, BoxParams, BOX_BLOCK, BOX_CHUNK};

/// Rows of a step, and samples of a chunk.
const CHUNK: usize = BOX_CHUNK as usize;
/// Lanes of a warp; a warp brings a row at a time.
const LANES: u32 = 32;
const WARPS: u32 = BOX_BLOCK / LANES;

/// What a block does at each step.
trait Steps<D: Device> {
    /// Starts copying input row `row` of a step: of the image's row `y`, or of one outside where all is constant.
    ///
    /// # Safety
    /// As all methods: the launch is as the [module](self) says, and the order of calls that of [`march`].
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>);
    /// Sums chunks along rows.
    unsafe fn prefixes(&mut self, step: u32);
    /// Sums windows along rows.
    unsafe fn rows(&mut self, step: u32);
    /// Sums windows down a column.
    unsafe fn columns(&mut self, step: u32);
}

/// A block's part of the image.
#[derive(Clone, Copy)]
struct Part<'p, D> {
    d: D,
    p: &'p BoxParams,
    border: BorderMode,
    /// The image's column of the strip's first pixel.
    left: i32,
    /// The image's row of the first input row.
    top: i32,
    /// The block's output rows.
    first_row: u32,
    count: u32,
    /// Whether the strip's input is all inside the image's width.
    inside: bool,
}

impl<'p, D: Device> Part<'p, D> {
    /// The block's part of strips of so many pixels; none for blocks below the image, since a grid may have more
    /// rows of blocks than were asked for.
    #[inline(always)]
    fn of(d: D, p: &'p BoxParams, strip: u32) -> Option<Self> {
        let first_row = d.block_y() * p.rows;
        if first_row >= p.out_height {
            return None;
        }
        let count = if p.out_height - first_row < p.rows { p.out_height - first_row } else { p.rows };
        let left = (d.block_x() * strip) as i32 + p.left;
        // What a strip is wider than the parameter's columns, its input is too.
        let input = strip - p.strip + p.tile.chunks * BOX_CHUNK;
        let inside = left >= 0 && left + input as i32 <= p.width as i32;
        let border = BorderMode::from_u32(p.border);
        Some(Part { d, p, border, left, top: p.top + first_row as i32, first_row, count, inside })
    }

    /// The output row that the first input row of a step completes, from the block's first: negative where there
    /// is none yet.
    #[inline(always)]
    fn completed(&self, step: u32) -> i32 {
        (step * BOX_CHUNK) as i32 + self.p.top - self.p.origin_y - (self.p.window_y - 1) as i32
    }

    /// The image's column that stands for column `x` of the strip.
    #[inline(always)]
    fn column(&self, x: u32) -> Option<i32> {
        let x = self.left + x as i32;
        if self.inside {
            Some(x)
        } else {
            self.border.map(x, self.p.width as i32)
        }
    }

    /// Starts copying a step's rows, a warp each.
    ///
    /// # Safety
    /// As [`Steps`].
    #[inline(always)]
    unsafe fn bring(&self, steps: &impl Steps<D>, step: u32) {
        let mut row = self.d.thread_x() / LANES;
        while row < BOX_CHUNK {
            let y = self.border.map(self.top + (step * BOX_CHUNK + row) as i32, self.p.height as i32);
            // SAFETY: the caller's promise.
            unsafe { steps.bring(step, row, y.map(|y| y as u32)) };
            row += WARPS;
        }
        self.d.end_copies();
    }
}

/// Runs a block.
///
/// # Safety
/// As [`Steps`].
#[inline(always)]
unsafe fn march<D: Device>(part: &Part<D>, steps: &mut impl Steps<D>) {
    let d = part.d;
    let last = part.count as i32 - 1 - part.completed(0);
    let count = last as u32 / BOX_CHUNK + 1;
    // SAFETY: barriers stand between all that threads exchange.
    unsafe {
        part.bring(steps, 0);
        let mut step = 0;
        while step < count {
            d.wait_copies::<0>();
            d.barrier();
            if step + 1 < count {
                part.bring(steps, step + 1);
            }
            steps.prefixes(step);
            d.barrier();
            steps.rows(step);
            d.barrier();
            steps.columns(step);
            step += 1;
        }
    }
}
