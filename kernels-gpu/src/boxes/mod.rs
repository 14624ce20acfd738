//! Box filters: sums over windows of any size, at a cost of a few additions per sample.
//!
//! A block of [`BOX_BLOCK`] threads marches down a strip of the image, one chunk of rows per step:
//!
//! ```text
//! wait for the step's input rows; barrier                     (no thread uses the last step's rows any more)
//! start copying the next step's input rows                    (border by index map)
//! prefixes: each thread computes the prefix sums of a chunk of a row
//! barrier
//! rows:     each thread sums a chunk of windows along a row, from its own chunk, the chunks between and the prefix
//!           sums of the last one, into a ring of rows
//! barrier
//! columns:  each thread computes a chunk of window sums down a column of the ring, and stores the results
//! ```
//!
//! The cost of a window depends on its size only through the chunks between its first and its last chunk: one addition
//! for each, shared by all windows that begin in one chunk. Any number of channels, any border, rows of any alignment.
//!
//! Launch contract of the kernels by chunks: the buffers are as large as the parameters say, the shared memory is
//! [`apron_abi::BoxTile`], and the parameters are as the plan computes them.

mod bytes;
mod floats;
mod ordered;
mod prefix;
mod simple;
mod sliding;

pub use bytes::{Bytes, Strips};
pub use floats::Floats;
pub use prefix::{Means, PrefixTotals};
pub use simple::{SimpleColumns, SimpleRows};
pub use sliding::Scaled;

use crate::device::{Device, Global, Shared};
use apron_abi::{BorderMode, BoxParams, Element, BOX_BLOCK};

/// Lanes of a warp; each warp copies whole rows.
const LANES: u32 = 32;
const WARPS: u32 = BOX_BLOCK / LANES;

/// The phases of a step of `N` input rows.
trait Steps<D: Device, const N: u32> {
    /// Starts copying input row `row` of a step from row `y` of the image; without `y`, fills it with the constant.
    ///
    /// # Safety
    /// As for all methods: the launch is as the [module](self) says, and the calls come in the order of [`march`].
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>);
    /// Computes the prefix sums of the chunks of the step's input rows.
    unsafe fn prefixes(&mut self, step: u32);
    /// Sums windows along the step's rows, into the ring.
    unsafe fn rows(&mut self, step: u32);
    /// Sums windows down this thread's column of the ring, and stores the outputs that the step completes.
    unsafe fn columns(&mut self, step: u32);
}

/// A block's part of the image.
#[derive(Clone, Copy)]
struct Part<'p, D> {
    d: D,
    p: &'p BoxParams,
    /// Image column of the strip's first input pixel.
    left: i32,
    /// Image row of the first input row.
    top: i32,
    /// First output row of the block, and number of its output rows.
    first_row: u32,
    count: u32,
    /// Whether the strip's input is inside the image's width.
    inside: bool,
}

/// Stands for no column of the image, and for no output.
const NONE: u32 = u32::MAX;

impl<'p, D: Device> Part<'p, D> {
    /// Returns the block's part, for strips of `strip` output pixels and `input` input pixels; `None` for blocks below
    /// the image, since a grid may have more rows of blocks than its launch needs.
    #[inline(always)]
    fn of(d: D, p: &'p BoxParams, strip: u32, input: u32) -> Option<Self> {
        let first_row = d.block_y() * p.rows;
        if first_row >= p.out_height {
            return None;
        }
        let count = if p.out_height - first_row < p.rows { p.out_height - first_row } else { p.rows };
        let left = (d.block_x() * strip) as i32 + p.left;
        let inside = left >= 0 && left + input as i32 <= p.width as i32;
        Some(Part { d, p, left, top: p.top + first_row as i32, first_row, count, inside })
    }

    /// Writes the border map of the strip's input columns to the start of shared memory, with `threads` threads.
    ///
    /// # Safety
    /// No thread uses the list before the next barrier.
    #[inline(always)]
    unsafe fn list(&self, input: u32, threads: u32) {
        let border = BorderMode::from_u32(self.p.border);
        let mut x = self.d.thread_x();
        while x < input {
            let column = border.map(self.left + x as i32, self.p.width as i32);
            // SAFETY: `x` is below the length of the map, and only this thread writes element `x`.
            unsafe { self.d.shared_store(Shared::at(0), x, column.map_or(NONE, |column| column as u32)) };
            x += threads;
        }
    }

    /// Returns the image column that replaces column `x` of the input; `None` for the constant.
    ///
    /// # Safety
    /// The border map is complete, and has column `x`.
    #[inline(always)]
    unsafe fn column(&self, x: u32) -> Option<u32> {
        // SAFETY: the caller's promise.
        match unsafe { self.d.shared_load(Shared::<u32>::at(0), x) } {
            NONE => None,
            column => Some(column),
        }
    }

    /// Starts copying an input row of `input` pixels of `channels` elements from the image row that starts at element
    /// `start`; without `start`, fills it with `constant`.
    ///
    /// # Safety
    /// The row is in the image, the border map is complete, and no thread uses the input row before the next barrier.
    #[inline(always)]
    unsafe fn bring_row<T: Element>(
        &self,
        to: Shared<T>,
        from: Global<T>,
        start: Option<u64>,
        channels: u32,
        input: u32,
        constant: T,
    ) {
        let lane = self.d.thread_x() % LANES;
        // SAFETY: the caller's promise.
        unsafe {
            match start {
                Some(start) if self.inside => {
                    let first = start + self.left as u32 as u64 * channels as u64;
                    self.copy_inside(to, from, first, lane, input * channels);
                }
                _ => {
                    // Elements inside the image are copied as in other blocks, elements beside it through the border
                    // map; elements that no output needs are arbitrary. The bounds are recomputed for each row, since
                    // only the few blocks at the border come here.
                    let left = self.d.anew(self.left as u32) as i32;
                    let pixels = |end: i32, most: u32| {
                        let count = end - left;
                        if count < 0 {
                            0
                        } else if count as u32 > most {
                            most
                        } else {
                            count as u32
                        }
                    };
                    let last = self.p.out_width as i32 + self.p.origin_x + self.p.window_x as i32 - 1;
                    let needed = pixels(last, input);
                    let begin = pixels(0, needed) * channels;
                    let end = pixels(self.p.width as i32, needed) * channels;
                    let (begin, end) = if start.is_some() { (begin, end) } else { (0, 0) };
                    if let Some(start) = start {
                        let first = (start as i64 + left as i64 * channels as i64) as u64;
                        self.copy_inside(to, from, first, begin + lane, end);
                    }
                    let mut beside = lane;
                    while beside < begin + input * channels - end {
                        let index = if beside < begin { beside } else { beside - begin + end };
                        let pixel = index / channels;
                        let column = if pixel < needed { self.column(pixel) } else { None };
                        match (start, column) {
                            (Some(start), Some(column)) => {
                                let at = start + column as u64 * channels as u64 + (index % channels) as u64;
                                self.d.start_copy(to, index, from, at);
                            }
                            _ => self.d.shared_store(to, index, constant),
                        }
                        beside += LANES;
                    }
                }
            }
        }
    }

    /// Starts copying elements `index`, `index + LANES`, and so on up to `end` of a row whose element 0 is element
    /// `first` of the source.
    #[inline(always)]
    unsafe fn copy_inside<T: Element>(&self, to: Shared<T>, from: Global<T>, first: u64, mut index: u32, end: u32) {
        let mut at = first.wrapping_add(index as u64);
        // SAFETY: the caller's promise.
        unsafe {
            while index + 3 * LANES < end {
                self.d.start_copy(to, index, from, at);
                self.d.start_copy(to, index + LANES, from, at + LANES as u64);
                self.d.start_copy(to, index + 2 * LANES, from, at + 2 * LANES as u64);
                self.d.start_copy(to, index + 3 * LANES, from, at + 3 * LANES as u64);
                (index, at) = (index + 4 * LANES, at + 4 * LANES as u64);
            }
            while index < end {
                self.d.start_copy(to, index, from, at);
                (index, at) = (index + LANES, at + LANES as u64);
            }
        }
    }

    /// Returns the output row, relative to the block's first, that the first input row of a step of `rows` rows
    /// completes; negative if the row is above all complete windows.
    #[inline(always)]
    fn completed(&self, step: u32, rows: u32) -> i32 {
        (step * rows) as i32 + self.p.top - self.p.origin_y - (self.p.window_y - 1) as i32
    }
}

/// Runs a block with an input of `input` pixels.
///
/// # Safety
/// As [`Steps`].
#[inline(always)]
unsafe fn march<D: Device, const N: u32>(part: &Part<D>, input: u32, steps: &mut impl Steps<D, N>) {
    let (d, p) = (part.d, part.p);
    let rows = part.count as i32;
    // SAFETY: a barrier lies between each write of shared memory and the accesses of other threads.
    unsafe {
        part.list(input, BOX_BLOCK);
        d.barrier();
        let mut step = p.first_step;
        // The rows of a step are copied during the step before; the first iteration only copies.
        while part.completed(step, N) < rows + N as i32 {
            d.wait_copies::<0>();
            d.barrier();
            if part.completed(step, N) < rows {
                let border = BorderMode::from_u32(p.border);
                let mut row = d.thread_x() / LANES;
                while row < N {
                    let y = border.map(part.top + (step * N + row) as i32, p.height as i32);
                    steps.bring(step, row, y.map(|y| y as u32));
                    row += WARPS;
                }
                d.end_copies();
            }
            let present = step > p.first_step;
            if present {
                steps.prefixes(step - 1);
            }
            d.barrier();
            if present {
                steps.rows(step - 1);
            }
            d.barrier();
            if present {
                steps.columns(step - 1);
            }
            step += 1;
        }
    }
}

/// Returns the slot `count` slots after `slot` in a ring of `slots` slots, for `count` up to `slots`.
#[inline(always)]
fn slot_after(slot: u32, count: u32, slots: u32) -> u32 {
    let slot = slot + count;
    if slot >= slots {
        slot - slots
    } else {
        slot
    }
}
