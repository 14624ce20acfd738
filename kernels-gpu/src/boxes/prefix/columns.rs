//! The column sums of a lane's vector, from row to row, and the launch before it that sums columns over chunks of rows.

use super::rows::UNIT;
use super::vectors::{Image, Loaded, Vector, BYTES, WORDS};
use super::{Before, Strip, Sums};
use crate::device::{Device, Global};
use crate::samples::WARP;
use crate::Body;
use apron_abi::{PrefixParams, Sample, PREFIX_TOTALS, WINDOWS_CHUNK};
use core::marker::PhantomData;

/// Rows that are loaded together for the first windows.
const TOGETHER: usize = 4;

/// The kernel that sums each column of samples over chunks of [`WINDOWS_CHUNK`] rows. Row 0 of the first chunk is the
/// row above the first window. A thread sums the columns of one vector over one chunk. Rows of sums are whole vectors
/// long.
///
/// Launch contract: as for [`Prefix`](super::Prefix).
pub struct PrefixTotals<I>(PhantomData<I>);

impl<I: Sample> Body for PrefixTotals<I> {
    type Src = I;
    type Dst = u32;
    type Params = PrefixParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<u32>, p: &PrefixParams) {
        let (vector, chunk) = (d.block_x() * PREFIX_TOTALS + d.thread_x(), d.block_y());
        let image = Image::<D, I> { d, p, src, pixel: I::TYPE.size_bytes() };
        let samples = BYTES as u32 / I::TYPE.size_bytes();
        let first = vector * samples;
        if first >= p.totals_pitch || chunk >= p.chunks {
            return;
        }
        // The last vector of a row may end behind it.
        let whole = first + samples <= p.row_samples;
        let plain = whole && image.has_vectors();
        let top = p.origin_y - 1 + (chunk * WINDOWS_CHUNK) as i32;
        let mut sums = [0; BYTES];
        let mut next = 0;
        // SAFETY: samples are checked against the row's length; rows are inside the image, or mapped into it. The sums
        // belong to this thread.
        unsafe {
            // Opaque, so that the loop is not unrolled.
            while next < d.anew(WINDOWS_CHUNK) {
                let mut loaded = [Loaded::ZEROS; TOGETHER];
                for n in 0..TOGETHER {
                    let y = image.mapped(top + (next + n as u32) as i32);
                    // The end of a row that is no whole vector.
                    let from = if whole { first } else { p.row_samples - samples };
                    loaded[n] = image.load(y, from, plain);
                }
                let rows = loaded.map(|loaded| image.words(loaded, plain));
                add_rows::<D, I>(d, &mut sums, rows);
                next += TOGETHER as u32;
            }
            let to = chunk as u64 * p.totals_pitch as u64 + first as u64;
            if whole {
                for k in 0..samples as usize / 4 {
                    d.store4(dst, to + 4 * k as u64, [sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]]);
                }
            } else {
                let before = first + samples - p.row_samples;
                for k in 0..samples {
                    if k >= before {
                        d.store(dst, to + (k - before) as u64, sums[k as usize]);
                    }
                }
            }
        }
    }
}

/// Adds four rows to the sums of their columns.
#[inline(always)]
fn add_rows<D: Device, I: Sample>(d: D, columns: &mut Sums, rows: [Vector; TOGETHER]) {
    for k in 0..WORDS {
        let word = |row: usize| rows[row][k];
        if I::TYPE.size_bytes() == 2 {
            for n in 0..TOGETHER {
                columns[2 * k] = columns[2 * k].wrapping_add(word(n) & 0xffff);
                columns[2 * k + 1] = columns[2 * k + 1].wrapping_add(word(n) >> 16);
            }
            continue;
        }
        // Bytes 0 and 1 of two rows, and bytes 2 and 3.
        let low = [d.pick::<0x5140>(word(0), word(1)), d.pick::<0x5140>(word(2), word(3))];
        let high = [d.pick::<0x7362>(word(0), word(1)), d.pick::<0x7362>(word(2), word(3))];
        let of_columns = [
            d.pick::<0x5410>(low[0], low[1]),
            d.pick::<0x7632>(low[0], low[1]),
            d.pick::<0x5410>(high[0], high[1]),
            d.pick::<0x7632>(high[0], high[1]),
        ];
        for n in 0..4 {
            columns[4 * k + n] = d.dot_bytes(of_columns[n], 0x0101_0101, columns[4 * k + n]);
        }
    }
}

impl<D: Device, I: Sample, const C: usize, const W: u32, const LARGE: bool> Strip<'_, D, I, C, W, LARGE> {
    /// Loads this lane's samples of the row that enters the windows whose sums had `top` as their first row, and of the
    /// row that leaves.
    #[inline(always)]
    pub(super) unsafe fn load_both(&self, top: i32) -> [Loaded; 2] {
        let (d, first, height) = (self.d, self.place.pixel * C as u32, self.p.window_y as i32);
        let mut rows = [top + height, top].map(|y| y as u32);
        if !self.rows_inside {
            // Even lanes map one row, odd lanes the other.
            let mapped = self.image.mapped(if d.thread_x().is_multiple_of(2) { top + height } else { top });
            rows = [0, 1].map(|lane| d.shuffle(mapped, lane));
        }
        // SAFETY: the place and the rows are in the image.
        rows.map(|y| unsafe { self.image.load(y, first, self.plain) })
    }

    /// Returns the samples of this lane's vector.
    #[inline(always)]
    pub(super) fn samples(&self, loaded: Loaded) -> Vector {
        let vector = self.image.words(loaded, self.plain);
        if self.plain {
            return vector;
        }
        self.image.ordered(vector, C, self.place)
    }

    /// Returns the column sums for the output row above the block's first, `first_row`: of the rows from `top` on.
    #[inline(always)]
    pub(super) unsafe fn first_sums(&self, first_row: u32, top: i32) -> Sums {
        let p = self.p;
        let mut columns = [0; BYTES];
        // SAFETY: the totals have the chunks under the first windows; rows are inside the image, or mapped into it.
        unsafe {
            let chunks = if p.chunks > 0 { p.window_y / WINDOWS_CHUNK } else { 0 };
            for chunk in 0..chunks {
                self.add_totals(&mut columns, first_row / WINDOWS_CHUNK + chunk);
            }
            let done = chunks * WINDOWS_CHUNK;
            self.add_first_rows(&mut columns, top + done as i32, p.window_y - done);
        }
        columns
    }

    /// Adds the sums of a chunk of rows.
    #[inline(always)]
    unsafe fn add_totals(&self, columns: &mut Sums, chunk: u32) {
        let (d, p, place) = (self.d, self.p, self.place);
        let totals = Global::<u32>::at(p.totals).of_image(d.image(), p.totals_step);
        let first = chunk as u64 * p.totals_pitch as u64 + (place.pixel * C as u32) as u64;
        // SAFETY: the caller's promise.
        unsafe {
            if self.plain {
                for k in 0..Self::SAMPLES / 4 {
                    let four = d.load_words(totals, first + 4 * k as u64);
                    for n in 0..4 {
                        columns[4 * k + n] = columns[4 * k + n].wrapping_add(four[n]);
                    }
                }
                return;
            }
            let constant = (p.constant & (u32::MAX >> (32 - 8 * Self::SIZE))) * WINDOWS_CHUNK;
            for k in 0..Self::SAMPLES {
                let (pixel, last) = (if place.alike { 0 } else { k / C }, Self::PIXELS as usize - 1);
                let sample = if place.backward { last - pixel } else { pixel } * C + k % C;
                let total = if place.constant { constant } else { d.load(totals, first + sample as u64) };
                columns[k] = columns[k].wrapping_add(total);
            }
        }
    }

    /// Adds `count` rows from row `top` on.
    #[inline(always)]
    unsafe fn add_first_rows(&self, columns: &mut Sums, top: i32, count: u32) {
        let (d, lane, first) = (self.d, self.d.thread_x() % WARP, self.place.pixel * C as u32);
        let (mut next, mut map) = (0, 0);
        if self.rows_inside && self.plain {
            while next + 2 * TOGETHER as u32 <= count {
                let row = (top + next as i32) as u32;
                // SAFETY: the rows are in the image.
                let load = |n: u32| unsafe { self.image.load_inside(row + n, first, true) };
                let loaded = [[0, 1, 2, 3].map(load), [4, 5, 6, 7].map(load)];
                for four in loaded {
                    add_rows::<D, I>(d, columns, four.map(|loaded| self.samples(loaded)));
                }
                next += 2 * TOGETHER as u32;
            }
        }
        let done = next;
        while next < count {
            if (next - done).is_multiple_of(WARP) {
                // Each lane maps one of the next 32 rows.
                map = self.image.mapped(top + (next + lane) as i32);
            }
            let mut loaded = [Loaded::ZEROS; TOGETHER];
            for n in 0..TOGETHER {
                let row = next + n as u32;
                let y = d.shuffle(map, (row - done) % WARP);
                if row < count {
                    // SAFETY: the caller's promise.
                    loaded[n] = unsafe { self.image.load(y, first, self.plain) };
                }
            }
            let mut rows = [[0; WORDS]; TOGETHER];
            for n in 0..TOGETHER {
                if next + (n as u32) < count {
                    rows[n] = self.samples(loaded[n]);
                }
            }
            add_rows::<D, I>(d, columns, rows);
            next += TOGETHER as u32;
        }
    }

    /// Adds the row that enters the windows to the column sums, and subtracts the row that leaves. Returns the sums of
    /// all columns of the warp before this lane's vector, and stores the totals of the warp.
    #[inline(always)]
    pub(super) unsafe fn slide(&self, columns: &mut Sums, [enters, leaves]: [Loaded; 2]) -> Before<C> {
        self.add_difference(columns, self.samples(enters), self.samples(leaves));
        let mut totals = [0u32; C];
        // In pairs, since one chain of additions would be long.
        for k in (0..Self::SAMPLES).step_by(2 * C) {
            for c in 0..C {
                totals[c] = totals[c].wrapping_add(columns[k + c].wrapping_add(columns[k + C + c]));
            }
        }
        // A vector's total fits 32 bits, the plan keeps columns that low.
        let unit = if LARGE { totals[0] / UNIT } else { 0 };
        let mut sums = totals.map(|total| self.d.scan(total));
        let units = if LARGE { self.d.scan(unit) } else { 0 };
        // SAFETY: the last lane writes the totals of its warp.
        unsafe { self.put_totals(&sums, units) };
        for c in 0..C {
            sums[c] = sums[c].wrapping_sub(totals[c]);
        }
        Before { sums, units: units - unit }
    }

    #[inline(always)]
    fn add_difference(&self, columns: &mut Sums, enters: Vector, leaves: Vector) {
        let d = self.d;
        for k in 0..WORDS {
            let (enter, leave) = (enters[k], leaves[k]);
            if Self::OF_BYTES {
                // Bytes 0 and 1 of both rows, and bytes 2 and 3.
                let pairs = [d.pick::<0x5140>(enter, leave), d.pick::<0x7362>(enter, leave)];
                for n in 0..4 {
                    let signs = if n % 2 == 0 { 0x0000_ff01 } else { 0xff01_0000 };
                    columns[4 * k + n] = d.dot_bytes(pairs[n / 2], signs, columns[4 * k + n]);
                }
            } else {
                let differences =
                    [(enter & 0xffff).wrapping_sub(leave & 0xffff), (enter >> 16).wrapping_sub(leave >> 16)];
                for n in 0..2 {
                    columns[2 * k + n] = columns[2 * k + n].wrapping_add(differences[n]);
                }
            }
        }
    }
}
