//! Masks of a single row or column over packed samples, without a tile: threads load the words under their outputs
//! from global memory, one or two words per four samples and four taps; words that neighbours share come from the
//! caches.
//!
//! ```text
//! write the border map of the samples (of a mask of one row, only at the border) or rows under the block; copy the
//!     taps; barrier
//! for each four taps:
//!     load the words under the next four taps
//!     unpack the words under these four, and add to the sums of 4 x 4 outputs (4 x 2 along rows of several channels)
//! store the sums as words
//! ```

use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Packed, Place, Samples, Summed};
use crate::Body;
use apron_abi::{
    line_rows, tap_stride, Accumulator, BorderMode, Conv2dParams, Element, BLOCKED_COLUMNS, LINE_BLOCK, LINE_TAPS,
};
use core::marker::PhantomData;

/// Adjacent outputs per thread.
const ACROSS: usize = 4;
/// Rows of outputs per thread, down columns.
const ROWS: usize = line_rows(1) as usize;
/// Most words of four adjacent samples.
const PIECE: usize = 2;
/// Most words under four taps of four channels.
const STEP: usize = 8;
/// Samples under the outputs of a thread and four taps of four channels.
const WINDOW: usize = 24;
/// Threads per block.
const THREADS: u32 = LINE_BLOCK[0] * LINE_BLOCK[1];
/// Stands for no row or sample: the constant.
const NONE: u32 = u32::MAX;

/// The kernel of a mask of one row, over `C` channels of samples `S`, with `R` rows of outputs per thread.
///
/// Launch contract: the buffers are as large as the parameters say and start at multiples of 16 bytes, there are
/// [`tap_stride`] taps, at most [`LINE_TAPS`], output rows are those of the input, and the shared memory is
/// [`apron_abi::line_bytes`].
pub struct LineRows<S, const C: usize, const R: usize>(PhantomData<S>);

/// The kernel of a mask of one column.
///
/// Launch contract: as for [`LineRows`], but output columns, instead of rows, are those of the input.
pub struct LineColumns<S>(PhantomData<S>);

/// A block's part of the image.
struct Line<'p, D, S> {
    d: D,
    p: &'p Conv2dParams,
    src: u64,
    samples: PhantomData<S>,
}

impl<D: Device, S: Samples> Line<'_, D, S> {
    const OF_WORD: usize = S::OF_WORD as usize;
    const BITS: u32 = 32 / S::OF_WORD;
    /// Words of the samples under a thread's outputs in a row.
    const WORDS: usize = ACROSS / S::OF_WORD as usize;
    const TAPS: Shared<S::Sum> = Shared::at(0);
    /// The border map of the block: image samples or rows that replace those under the block, or [`NONE`].
    const LIST: Shared<u32> = Shared::at(LINE_TAPS * 8);

    fn thread(&self) -> u32 {
        self.d.thread_y() * LINE_BLOCK[0] + self.d.thread_x()
    }

    /// Copies the taps; they are visible after the next barrier.
    #[inline(always)]
    unsafe fn bring_taps(&self, taps: u32) {
        let mut tap = self.thread();
        while tap < tap_stride(taps) {
            // SAFETY: the launch has `tap_stride` taps; one thread copies each.
            unsafe { self.d.shared_store(Self::TAPS, tap, S::Sum::tap(self.d, tap)) };
            tap += THREADS;
        }
    }

    /// Returns the bits of sample `column` of the row that starts at sample `start`; for [`NONE`] those of the
    /// constant.
    #[inline(always)]
    unsafe fn sample(&self, start: u64, column: u32) -> u32 {
        // Loaded unconditionally: a branch would wait for the previous sample.
        // SAFETY: `start` is that of an image row, and `column` is mapped into it, or replaced by 0.
        let bits = unsafe { S::load_bits(self.d, self.src, start + if column == NONE { 0 } else { column as u64 }) };
        let constant = S::constant(self.p.constant) << (32 - Self::BITS) >> (32 - Self::BITS);
        if column == NONE {
            constant
        } else {
            bits
        }
    }

    /// Loads word `index` of the image.
    #[inline(always)]
    unsafe fn word(&self, index: u64) -> u32 {
        // SAFETY: the caller's promise: the word is in the image.
        unsafe { self.d.load(Global::<u32>::at(self.src), index) }
    }

    /// Unpacks words into the first `count` samples of a window.
    #[inline(always)]
    fn unpacked<const W: usize>(&self, words: &[u32; W], count: usize) -> [S::Sum; WINDOW] {
        let mut window = [S::Sum::ZERO; WINDOW];
        for w in 0..count.div_ceil(Self::OF_WORD) {
            let samples = S::unpack(self.d, words[w]);
            for k in 0..Self::OF_WORD {
                window[w * Self::OF_WORD + k] = samples[k];
            }
        }
        window
    }

    /// Stores a thread's outputs; the first is sample `x` of row `y`, and rows have `samples` samples.
    #[inline(always)]
    unsafe fn store<const R: usize>(&self, dst: u64, (x, y): (u32, u32), samples: u32, sums: &[[S::Sum; ACROSS]; R])
    where
        S: Packed<ACROSS>,
    {
        let bytes = samples as u64 * S::Element::TYPE.size_bytes() as u64;
        let whole = x + ACROSS as u32 <= samples && samples.is_multiple_of(ACROSS as u32);
        let aligned = if samples.is_multiple_of(S::OF_WORD) { 4 } else { 1 };
        for k in 0..R {
            // Uniform for the warp.
            if y + (k as u32) < self.p.out_height {
                let row = dst + (y + k as u32) as u64 * bytes;
                let place = Place { row, first: x as i32, samples: samples as i32, whole };
                // SAFETY: the row is in the output, and each output one thread's; all lanes of the warp are here, with
                // adjacent outputs.
                unsafe { place.store_aligned::<D, S>(self.d, aligned, Self::WORDS, S::pack(self.d, &sums[k])) };
            }
        }
    }
}

#[allow(private_bounds)] // only this crate implements the bound
impl<S: Packed<ACROSS>, const C: usize, const R: usize> Body for LineRows<S, C, R> {
    type Src = S::Element;
    type Dst = S::Element;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &Conv2dParams) {
        let top = d.block_y() * LINE_BLOCK[1] * R as u32;
        // A grid may have more rows of blocks than its launch needs.
        if top >= p.out_height {
            return;
        }
        let line = Line::<D, S> { d, p, src: src.address, samples: PhantomData };
        let first = d.block_x() * BLOCKED_COLUMNS;
        let (x, y) = (d.thread_x() * ACROSS as u32, top + d.thread_y() * R as u32);
        let (strip, samples) = (first as i32 + p.origin_x * C as i32, (p.width * C as u32) as i32);
        let under = tap_stride(p.mask_width) * C as u32;
        // Whole words are loaded, and one more, since windows may start inside a word.
        let inside = |left: i32, seen: u32| left >= 0 && left + (seen + S::OF_WORD) as i32 <= samples;
        // SAFETY: the launch keeps the contract; a barrier separates writing shared memory from reading it.
        unsafe {
            if !inside(strip, BLOCKED_COLUMNS + under) {
                let border = BorderMode::from_u32(p.border);
                let mut n = line.thread();
                while n < BLOCKED_COLUMNS + under {
                    let at = strip + n as i32;
                    let pixel = at.div_euclid(C as i32);
                    let mapped = border.map(pixel, p.width as i32);
                    let mapped = mapped.map_or(NONE, |mapped| (mapped * C as i32 + at - pixel * C as i32) as u32);
                    d.shared_store(Line::<D, S>::LIST, n, mapped);
                    n += THREADS;
                }
            }
            line.bring_taps(p.mask_width);
            d.barrier();
            let left = strip + x as i32;
            let direct = inside(left, ACROSS as u32 + under);
            let mut windows = [Window { start: 0, last: 0, words: [0; WINDOW] }; R];
            for k in 0..R {
                // Rows below the image repeat its last one: their sums are not stored.
                windows[k].start = (y + k as u32).min(p.height - 1) as u64 * p.row_stride as u64;
                if direct {
                    windows[k].last = line.word((windows[k].start + left as u64) / S::OF_WORD as u64);
                }
            }
            let mut rows = Rows::<D, S, C, R> { line, x, left, direct, windows };
            let sums = rows.sum();
            rows.line.store(dst.address, (first + x, y), p.out_width * C as u32, &sums);
        }
    }
}

/// A thread's window in a row.
#[derive(Clone, Copy)]
struct Window {
    /// Index of the row's first sample.
    start: u64,
    /// The last word loaded directly, which holds the start of the next word of the window.
    last: u32,
    /// Samples under the outputs and the next four taps, packed.
    words: [u32; WINDOW],
}

/// The rows of a thread.
struct Rows<'p, D, S, const C: usize, const R: usize> {
    line: Line<'p, D, S>,
    /// First output of the thread, relative to the block; column, in samples, of the first sample under it.
    x: u32,
    left: i32,
    /// Whether all words of the windows are in the row, and are loaded directly; otherwise samples are loaded one by
    /// one.
    direct: bool,
    windows: [Window; R],
}

impl<D: Device, S: Samples, const C: usize, const R: usize> Rows<'_, D, S, C, R> {
    /// Words per four taps.
    const STEP: usize = 4 * C / S::OF_WORD as usize;

    /// Returns the sums of the thread's outputs.
    #[inline(always)]
    unsafe fn sum(&mut self) -> [[S::Sum; ACROSS]; R] {
        let mut sums = [[S::Sum::ZERO; ACROSS]; R];
        // SAFETY: if `direct`, all words are in the image; otherwise the list maps the samples.
        unsafe {
            let first = self.next::<PIECE>(0, Line::<D, S>::WORDS);
            for k in 0..R {
                for w in 0..Line::<D, S>::WORDS {
                    self.windows[k].words[Self::STEP + w] = first[k][w];
                }
            }
            let (mut tap, mut word) = (0, Line::<D, S>::WORDS as u32);
            loop {
                // The words under these taps are loaded while the products of the previous four are added.
                let more = tap < self.line.p.mask_width;
                let next = if more { self.next::<STEP>(word, Self::STEP) } else { [[0; STEP]; R] };
                if tap > 0 {
                    self.add(tap - 4, &mut sums);
                }
                if !more {
                    return sums;
                }
                for k in 0..R {
                    let words = &mut self.windows[k].words;
                    for w in 0..Line::<D, S>::WORDS {
                        words[w] = words[w + Self::STEP];
                    }
                    #[allow(clippy::manual_memcpy)] // words in registers
                    for w in 0..Self::STEP {
                        words[w + Line::<D, S>::WORDS] = next[k][w];
                    }
                }
                (tap, word) = (tap + 4, word + Self::STEP as u32);
            }
        }
    }

    /// Returns the next `count` words of each row's window, from its word `first` on.
    #[inline(always)]
    unsafe fn next<const W: usize>(&mut self, first: u32, count: usize) -> [[u32; W]; R] {
        let line = &self.line;
        let mut next = [[0; W]; R];
        // SAFETY: the caller's promise.
        unsafe {
            if self.direct {
                for k in 0..R {
                    let window = &mut self.windows[k];
                    let start = window.start + self.left as u64;
                    let at = start / S::OF_WORD as u64 + first as u64 + 1;
                    let bit = start as u32 % S::OF_WORD * (32 / S::OF_WORD);
                    for w in 0..count {
                        let word = line.word(at + w as u64);
                        next[k][w] = from_bit(window.last, word, bit);
                        window.last = word;
                    }
                }
            } else {
                for w in 0..count {
                    for sample in 0..S::OF_WORD {
                        let at = self.x + (first + w as u32) * S::OF_WORD + sample;
                        let column = line.d.shared_load(Line::<D, S>::LIST, at);
                        for k in 0..R {
                            let bits = line.sample(self.windows[k].start, column);
                            next[k][w] |= bits << (sample * (32 / S::OF_WORD));
                        }
                    }
                }
            }
        }
        next
    }

    /// Adds the products of four taps, from tap `tap` on; taps after the last are 0.
    #[inline(always)]
    unsafe fn add(&self, tap: u32, sums: &mut [[S::Sum; ACROSS]; R]) {
        // SAFETY: shared memory holds `tap_stride` taps since the barrier.
        let taps = unsafe { S::Sum::four(self.line.d, Line::<D, S>::TAPS, tap) };
        for k in 0..R {
            let samples = self.line.unpacked(&self.windows[k].words, ACROSS + 3 * C);
            for i in 0..4 {
                for x in 0..ACROSS {
                    sums[k][x] = self.line.d.fma(taps[i], samples[x + i * C], sums[k][x]);
                }
            }
        }
    }
}

#[allow(private_bounds)] // only this crate implements the bound
impl<S: Packed<ACROSS>> Body for LineColumns<S> {
    type Src = S::Element;
    type Dst = S::Element;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &Conv2dParams) {
        let rows = LINE_BLOCK[1] * ROWS as u32;
        let top = d.block_y() * rows;
        // A grid may have more rows of blocks than its launch needs.
        if top >= p.out_height {
            return;
        }
        let line = Line::<D, S> { d, p, src: src.address, samples: PhantomData };
        let x = d.block_x() * BLOCKED_COLUMNS + d.thread_x() * ACROSS as u32;
        let y = d.thread_y() * ROWS as u32;
        // SAFETY: the launch keeps the contract; a barrier separates writing shared memory from reading it.
        unsafe {
            let border = BorderMode::from_u32(p.border);
            let mut row = line.thread();
            while row < rows + tap_stride(p.mask_height) {
                let mapped = border.map((top + row) as i32 + p.origin_y, p.height as i32);
                d.shared_store(Line::<D, S>::LIST, row, mapped.map_or(NONE, |mapped| mapped as u32));
                row += THREADS;
            }
            line.bring_taps(p.mask_height);
            d.barrier();
            // If rows may start inside a word, one more word is loaded.
            let more = if p.row_stride.is_multiple_of(S::OF_WORD) { 0 } else { S::OF_WORD };
            let samples = p.width * p.channels;
            let columns = Columns::<D, S> { line, x, y, samples, direct: x + ACROSS as u32 + more <= samples };
            columns.line.store(dst.address, (x, top + y), p.out_width * p.channels, &columns.sum());
        }
    }
}

/// The columns of a thread.
struct Columns<'p, D, S> {
    line: Line<'p, D, S>,
    /// First sample of the thread's columns; first output row, relative to the block.
    x: u32,
    y: u32,
    /// Samples per row of the image.
    samples: u32,
    /// Whether all words are in the row, and are loaded directly; otherwise samples are loaded one by one.
    direct: bool,
}

impl<D: Device, S: Samples> Columns<'_, D, S> {
    /// Returns the sums of the thread's outputs.
    #[inline(always)]
    unsafe fn sum(&self) -> [[S::Sum; ACROSS]; ROWS] {
        let mut sums = [[S::Sum::ZERO; ACROSS]; ROWS];
        let mut words = [[0; PIECE]; ROWS + 3];
        // SAFETY: the list has all rows under the outputs and taps.
        unsafe {
            for r in 0..3 {
                words[4 + r] = self.row(r as u32);
            }
            let mut tap = 0;
            loop {
                // The rows under these taps are loaded while the products of the previous four are added.
                let more = tap < self.line.p.mask_height;
                let mut next = [[0; PIECE]; ROWS];
                if more {
                    for r in 0..ROWS {
                        next[r] = self.row(tap + 3 + r as u32);
                    }
                }
                if tap > 0 {
                    self.add(tap - 4, &words, &mut sums);
                }
                if !more {
                    return sums;
                }
                for r in 0..3 {
                    words[r] = words[r + 4];
                }
                #[allow(clippy::manual_memcpy)] // words in registers
                for r in 0..ROWS {
                    words[r + 3] = next[r];
                }
                tap += 4;
            }
        }
    }

    /// Loads the thread's samples of row `row`, counted from the row under its first output and the first tap.
    #[inline(always)]
    unsafe fn row(&self, row: u32) -> [u32; PIECE] {
        let line = &self.line;
        let mut words = [0; PIECE];
        // SAFETY: the list has the row, and maps it into the image; words are in the row if `direct`.
        unsafe {
            let y = line.d.shared_load(Line::<D, S>::LIST, self.y + row);
            let start = if y == NONE { 0 } else { y } as u64 * line.p.row_stride as u64;
            if self.direct {
                let at = start + self.x as u64;
                let (first, bit) = (at / S::OF_WORD as u64, at as u32 % S::OF_WORD * (32 / S::OF_WORD));
                for w in 0..Line::<D, S>::WORDS {
                    words[w] = line.word(first + w as u64);
                }
                if bit > 0 {
                    let last = line.word(first + Line::<D, S>::WORDS as u64);
                    for w in 0..Line::<D, S>::WORDS {
                        let next = if w + 1 < Line::<D, S>::WORDS { words[w + 1] } else { last };
                        words[w] = from_bit(words[w], next, bit);
                    }
                }
            } else {
                // Samples past the row's end repeat its last one: their sums are not stored.
                for k in 0..ACROSS as u32 {
                    let bits = line.sample(start, (self.x + k).min(self.samples - 1));
                    words[(k / S::OF_WORD) as usize] |= bits << (k % S::OF_WORD * (32 / S::OF_WORD));
                }
            }
            if y == NONE {
                words = [S::constant(line.p.constant); PIECE];
            }
        }
        words
    }

    /// Adds the products of four taps, from tap `tap` on; taps after the last are 0.
    #[inline(always)]
    unsafe fn add(&self, tap: u32, words: &[[u32; PIECE]; ROWS + 3], sums: &mut [[S::Sum; ACROSS]; ROWS]) {
        // SAFETY: shared memory holds `tap_stride` taps since the barrier.
        let taps = unsafe { S::Sum::four(self.line.d, Line::<D, S>::TAPS, tap) };
        for r in 0..ROWS + 3 {
            let samples = self.line.unpacked(&words[r], ACROSS);
            for i in 0..4 {
                if r >= i && r - i < ROWS {
                    for x in 0..ACROSS {
                        sums[r - i][x] = self.line.d.fma(taps[i], samples[x], sums[r - i][x]);
                    }
                }
            }
        }
    }
}
