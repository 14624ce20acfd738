//! Patches (register blocking): a thread computes four adjacent outputs of [`PATCH_ROWS`] rows from its own global
//! loads. Threads share no data and have no barriers, and all loads of a thread are in flight at once: for images so
//! small that a launch ends before a [march](crate::march) has filled its ring.
//!
//! ```text
//! for each input row under the patch:                                   (all of them unrolled)
//!     load the samples under the masks, as words of the buffer; or, if the warp covers the border, one by one
//!     sums[k] = sums[k - 1] + contribution of this row under mask row k
//!     store sums[last]
//! ```
//!
//! Launch contract: the buffers are as large as the parameters say and start at multiples of 16 bytes, the shared
//! memory is [`apron_abi::patch_bytes`], input rows start at multiples of four samples, outputs at multiples of 4
//! bytes, and the parameters are as the plan computes them.

use crate::device::{Device, Global, Shared};
use crate::march::{Rows, WINDOW};
use crate::samples::{Packed, Place};
use crate::Body;
use apron_abi::{march_lead, Accumulator, BorderMode, Element, MarchParams, PATCH_BLOCK, PATCH_ROWS};
use core::marker::PhantomData;

/// The kernel of a filter `F` of `K` x `K` taps over `C` channels of samples `S`.
pub struct Patch<F, S, const K: usize, const C: usize>(PhantomData<(F, S)>);

/// Stands for a column or row that the border maps to the constant.
const NONE: u32 = u32::MAX;

/// Adjacent outputs per thread.
const ACROSS: usize = 4;

#[allow(private_bounds)] // only this crate implements the bound
impl<F: Rows<ACROSS, K, C>, S: Packed<ACROSS>, const K: usize, const C: usize> Body for Patch<F, S, K, C> {
    type Src = S::Element;
    type Dst = S::Element;
    type Params = MarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &MarchParams) {
        let first_row = (d.block_y() * PATCH_BLOCK[1] + d.thread_y()) * PATCH_ROWS;
        if first_row >= p.out_height {
            return;
        }
        let thread = d.block_x() * PATCH_BLOCK[0] + d.thread_x();
        let samples = p.out_samples as i32;
        let first = p.first + thread as i32 * ACROSS as i32;
        let whole = p.aligned >= ACROSS as u32 / S::OF_WORD * 4 && first >= 0 && first + ACROSS as i32 <= samples;
        let row_bytes = p.out_samples as u64 * S::Element::TYPE.size_bytes() as u64;
        let place = Place { row: dst.address + first_row as u64 * row_bytes, first, samples, whole };
        // A thread past the last output loads the samples of the last thread with an output.
        let threads = ((samples - p.first) as u32).div_ceil(ACROSS as u32);
        let seer = |thread: u32| if thread < threads { thread } else { threads - 1 };
        let lead = march_lead(S::Element::TYPE, K as u32, C as u32) as i32;
        let column = |thread: u32| p.left + lead + (seer(thread) * ACROSS as u32) as i32;
        let row = first_row as i32 + p.origin_y;
        let patch = Part::<D, S, K, C> { d, p, src: src.address, column: column(thread), row, samples: PhantomData };
        // The branch is uniform per warp.
        let warp = d.block_x() * PATCH_BLOCK[0];
        let inside = column(warp) >= 0 && patch.is_inside(column(warp + PATCH_BLOCK[0] - 1));
        // SAFETY: the launch keeps the contract.
        unsafe {
            if inside && first_row + PATCH_ROWS <= p.out_height {
                patch.run::<F, true>(place, PATCH_ROWS, row_bytes);
            } else {
                let rows = p.out_height - first_row;
                patch.run::<F, false>(place, if rows < PATCH_ROWS { rows } else { PATCH_ROWS }, row_bytes);
            }
        }
    }
}

/// The input of a thread.
struct Part<'p, D, S, const K: usize, const C: usize> {
    d: D,
    p: &'p MarchParams,
    src: u64,
    /// Column, in samples, and row of the first sample under the masks.
    column: i32,
    row: i32,
    samples: PhantomData<S>,
}

impl<D: Device, S: Packed<ACROSS>, const K: usize, const C: usize> Part<'_, D, S, K, C> {
    /// Samples of a row under the thread's masks.
    const SEEN: usize = ACROSS + (K - 1) * C;
    /// Samples before the first of these in its group of four.
    const LEAD: usize = (march_lead(S::Element::TYPE, K as u32, C as u32) % ACROSS as u32) as usize;
    /// Words per group of four samples.
    const PIECE: usize = ACROSS / S::OF_WORD as usize;
    /// Input rows under the patch.
    const ROWS: usize = PATCH_ROWS as usize + K - 1;

    /// Returns whether the image has all rows of this thread, and the columns of a thread that starts at column
    /// `last`.
    #[inline(always)]
    fn is_inside(&self, last: i32) -> bool {
        let (right, bottom) = (last + Self::SEEN as i32, self.row + Self::ROWS as i32);
        right <= self.p.samples as i32 && self.row >= 0 && bottom <= self.p.height as i32
    }

    /// Computes and stores `rows` output rows.
    #[inline(always)]
    unsafe fn run<F: Rows<ACROSS, K, C>, const INSIDE: bool>(&self, mut place: Place, rows: u32, row_bytes: u64) {
        // SAFETY: shared memory has places for this thread's columns and rows.
        let columns = if INSIDE { [0; WINDOW] } else { unsafe { self.columns() } };
        let mut sums = [[S::Sum::ZERO; ACROSS]; K];
        for row in 0..Self::ROWS {
            // SAFETY: all samples are inside the image, or are mapped into it.
            let window = unsafe {
                if INSIDE {
                    self.window(row)
                } else {
                    self.mapped(row, &columns)
                }
            };
            // SAFETY: the launch's taps are the filter's; `place` is that of this thread's outputs in the row.
            unsafe {
                F::add::<D, S>(self.d, &mut sums, &window, S::start(self.p));
                if row + 1 >= K && (INSIDE || ((row + 1 - K) as u32) < rows) {
                    let words = S::pack(self.d, &sums[K - 1]);
                    place.store::<D, S>(self.d, Self::PIECE as u32, words);
                    place.row += row_bytes;
                }
            }
        }
    }

    /// Loads the samples of a row whose samples are all inside the image.
    #[inline(always)]
    unsafe fn window(&self, row: usize) -> [S::Sum; WINDOW] {
        let start = (self.row + row as i32) as u32 as u64 * self.p.row_stride as u64;
        let first = (start + (self.column - Self::LEAD as i32) as i64 as u64) / S::OF_WORD as u64;
        let from = Global::<u32>::at(self.src);
        let mut words = [0; WINDOW];
        for piece in 0..(Self::LEAD + Self::SEEN).div_ceil(ACROSS) {
            // The first needed word of the group, and the one after the last.
            let begin = Self::LEAD.saturating_sub(piece * ACROSS) / S::OF_WORD as usize;
            let end = (Self::LEAD + Self::SEEN - piece * ACROSS).div_ceil(S::OF_WORD as usize);
            let end = if end < Self::PIECE { end } else { Self::PIECE };
            let at = piece * Self::PIECE;
            // SAFETY: all needed words are in the row, and a group starts at a multiple of its size.
            unsafe {
                if end - begin == 1 {
                    words[at + begin] = self.d.load(from, first + (at + begin) as u64);
                } else if begin / 2 == (end - 1) / 2 {
                    let at = at + begin / 2 * 2;
                    let two = self.d.load(Global::<u64>::at(self.src), (first + at as u64) / 2);
                    (words[at], words[at + 1]) = (two as u32, (two >> 32) as u32);
                } else {
                    [words[at], words[at + 1], words[at + 2], words[at + 3]] =
                        self.d.load_words(from, first + at as u64);
                }
            }
        }
        self.unpacked(&words)
    }

    /// Returns this thread's place `index` in shared memory. The places hold the image columns, then the rows, that
    /// replace those of its input.
    #[inline(always)]
    fn own(&self, index: u32) -> Shared<u32> {
        let thread = self.d.thread_y() * PATCH_BLOCK[0] + self.d.thread_x();
        Shared::at((index * PATCH_BLOCK[0] * PATCH_BLOCK[1] + thread) * 4)
    }

    /// Returns the image columns that replace the thread's input columns, or [`NONE`]; stores the rows in the places
    /// behind those of the columns.
    #[inline(always)]
    unsafe fn columns(&self) -> [u32; WINDOW] {
        let border = BorderMode::from_u32(self.p.border);
        // Loops that are not unrolled, so that the border map is not inlined for each column and row.
        let (seen, rows) = (self.d.anew(Self::SEEN as u32), self.d.anew(Self::ROWS as u32));
        let pixels = self.p.samples as i32 / C as i32;
        let mut columns = [0; WINDOW];
        // SAFETY: only this thread uses its places.
        unsafe {
            let mut i = 0;
            while i < seen {
                let at = self.column + i as i32;
                let pixel = at.div_euclid(C as i32);
                let mapped = border.map(pixel, pixels);
                let mapped = mapped.map_or(NONE, |mapped| (mapped * C as i32 + at - pixel * C as i32) as u32);
                self.d.shared_store(self.own(i), 0, mapped);
                i += 1;
            }
            let mut row = 0;
            while row < rows {
                let mapped = border.map(self.row + row as i32, self.p.height as i32);
                self.d.shared_store(self.own(seen + row), 0, mapped.map_or(NONE, |mapped| mapped as u32));
                row += 1;
            }
            for i in 0..Self::SEEN {
                columns[i] = self.d.shared_load(self.own(i as u32), 0);
            }
        }
        columns
    }

    /// Loads the samples of a row one by one, from the mapped columns of the image.
    #[inline(always)]
    unsafe fn mapped(&self, row: usize, columns: &[u32; WINDOW]) -> [S::Sum; WINDOW] {
        // SAFETY: only this thread uses its places, in which the rows follow the columns.
        let y = unsafe { self.d.shared_load(self.own((Self::SEEN + row) as u32), 0) };
        let start = (if y == NONE { 0 } else { y }) as u64 * self.p.row_stride as u64;
        let bits = 32 / S::OF_WORD as usize;
        let constant = S::constant(self.p.constant) << (32 - bits) >> (32 - bits);
        let mut words = [0; WINDOW];
        for i in 0..Self::SEEN {
            // Loaded unconditionally: a branch would wait for the previous sample.
            let column = if columns[i] == NONE { 0 } else { columns[i] };
            // SAFETY: column and row are mapped into the image, or 0.
            let sample = unsafe { S::load_bits(self.d, self.src, start + column as u64) };
            let sample = if columns[i] == NONE || y == NONE { constant } else { sample };
            let at = Self::LEAD + i;
            words[at / S::OF_WORD as usize] |= sample << (at % S::OF_WORD as usize * bits);
        }
        self.unpacked(&words)
    }

    /// Unpacks words into the samples under the masks.
    #[inline(always)]
    fn unpacked(&self, words: &[u32; WINDOW]) -> [S::Sum; WINDOW] {
        let mut window = [S::Sum::ZERO; WINDOW];
        for word in 0..(Self::LEAD + Self::SEEN).div_ceil(S::OF_WORD as usize) {
            let samples = S::unpack(self.d, words[word]);
            for k in 0..S::OF_WORD as usize {
                let at = word * S::OF_WORD as usize + k;
                if at >= Self::LEAD && at < Self::LEAD + Self::SEEN {
                    window[at - Self::LEAD] = samples[k];
                }
            }
        }
        window
    }
}
