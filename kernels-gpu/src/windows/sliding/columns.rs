//! The column sums of a block, row by row: for quads of aligned words, for any quads, and for columns outside the
//! image, whose sums are copied from columns inside.

use super::{Block, Finish};
use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use crate::windows::quads::{add_up, words_inside, Quad, Sums, NONE, QUAD};
use crate::windows::terms::{terms, Whole};
use apron_abi::{Sample, WINDOWS_BLOCK, WINDOWS_CHUNK, WINDOWS_ROWS};

/// Rows of a quad that are loaded together.
const TOGETHER: usize = 4;

impl<D: Device, I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize> Block<'_, D, I, W, F, TERMS> {
    /// Returns whether the words that contain a quad are inside the image's rows, whatever the alignment of the rows.
    #[inline(always)]
    fn is_inside(&self, quad: u32) -> bool {
        let p = self.p;
        p.tile.channels == p.channels && words_inside(self.left() + (quad * QUAD as u32) as i32, p.width * p.channels)
    }

    /// Returns whether a quad consists of whole words inside the image's rows.
    #[inline(always)]
    fn is_aligned(&self, quad: u32) -> bool {
        let (p, first) = (self.p, self.left() + (quad * QUAD as u32) as i32);
        let words = self.rows.are_aligned() && p.tile.channels == p.channels;
        words && first >= 0 && first as u32 + QUAD as u32 <= p.width * p.channels
    }

    /// Returns whether windows of the block contain columns outside the image, whose sums may be copied.
    #[inline(always)]
    pub(super) fn has_outside(&self) -> bool {
        let left = self.first as i32 + self.p.origin_x;
        let outside = left < 0 || left as u32 + self.strip + self.p.window_x > self.p.width;
        outside && self.p.tile.channels == self.p.channels
    }

    /// Returns whether the sums of a quad are [copied](Self::copied).
    #[inline(always)]
    pub(super) unsafe fn is_copied(&self, quad: u32) -> bool {
        // SAFETY: the caller's promise.
        self.has_outside() && unsafe { self.copied(quad).1 }
    }

    /// Returns the places, in a row of column sums, of the columns whose sums a quad outside the image copies; [`NONE`]
    /// for a column of the constant. The second value tells whether the block has all these columns.
    ///
    /// # Safety
    /// The list has this quad.
    #[inline(always)]
    unsafe fn copied(&self, quad: u32) -> ([u32; QUAD], bool) {
        let samples = (self.strip + self.p.window_x) * self.p.channels;
        // SAFETY: the caller's promise.
        let list = unsafe { self.list(quad) };
        let (mut places, mut all) = ([NONE; QUAD], true);
        for k in 0..QUAD {
            let own = (quad * QUAD as u32 + k as u32).wrapping_sub(self.lead);
            if own as i32 >= 0 && list[k] != NONE {
                // The list's samples are relative to the image's row; these are relative to the block's first sample.
                let sample = list[k].wrapping_sub((self.left() + self.lead as i32) as u32);
                if sample == own || sample >= samples {
                    all = false;
                } else if self.p.tile.channels == 1 {
                    places[k] = sample + self.lead;
                } else {
                    places[k] = self.place(sample);
                }
            }
        }
        (places, all)
    }

    /// Returns the samples of an image row that replace those of a quad (border by index map).
    ///
    /// # Safety
    /// The list has this quad.
    #[inline(always)]
    unsafe fn list(&self, quad: u32) -> [u32; QUAD] {
        // SAFETY: the caller's promise.
        unsafe { self.d.shared_load4(Shared::at(self.p.tile.list_at), quad * QUAD as u32) }
    }

    /// Writes the image samples that replace those of this thread's quad to the list in shared memory.
    #[inline(always)]
    pub(super) unsafe fn put_list(&self, quad: u32) {
        let mut samples = [NONE; QUAD];
        for k in 0..QUAD as u32 {
            let sample = quad * QUAD as u32 + k;
            if sample >= self.lead {
                let (pixel, channel) = self.split(sample - self.lead);
                let column = self.rows.column(self.first as i32 + self.p.origin_x + pixel as i32);
                if column != NONE {
                    samples[k as usize] = column * self.p.channels + self.channel + channel;
                }
            }
        }
        // SAFETY: the list has room for all quads of the block; one thread writes each.
        unsafe { self.d.shared_store4(Shared::at(self.p.tile.list_at), quad * QUAD as u32, samples) };
    }

    /// Returns the sums of a column of `rows` constants.
    #[inline(always)]
    fn outside(&self, rows: u32) -> [W; TERMS] {
        terms::<W, TERMS>(self.p.constant - Self::CENTRE).map(|term| term.times(rows))
    }

    /// Returns the column sums of a quad for the windows one row above output row `first_row`.
    #[inline(always)]
    pub(super) unsafe fn first_sums(&self, first_row: u32, quad: u32) -> Sums<W, TERMS> {
        let (d, p) = (self.d, self.p);
        let totals = Global::<W>::at(p.totals).of_image(d.image(), p.totals_step);
        let (chunks, samples) = (if p.chunks > 0 { p.window_y / WINDOWS_CHUNK } else { 0 }, p.width * p.channels);
        let inside = self.is_inside(quad);
        let (aligned, first) = (self.is_aligned(quad), self.left() + (quad * QUAD as u32) as i32);
        let outside = self.outside(WINDOWS_CHUNK);
        // SAFETY: the totals have the chunks under the first windows; samples are inside the image, or mapped into it.
        unsafe {
            let list = self.list(quad);
            let mut sums = [terms::<W, TERMS>(0); QUAD];
            for chunk in 0..chunks {
                for t in 0..TERMS {
                    let row = t as u64 * p.chunks as u64 + (first_row / WINDOWS_CHUNK + chunk) as u64;
                    for k in 0..QUAD {
                        let total = match list[k] {
                            NONE => outside[t],
                            sample => d.load(totals, row * samples as u64 + sample as u64),
                        };
                        sums[k][t] = sums[k][t].plus(total);
                    }
                }
            }
            let (row, count) = (first_row + chunks * WINDOWS_CHUNK, p.window_y - chunks * WINDOWS_CHUNK);
            if let (true, Some(top)) = (aligned, self.rows.inside(row, count)) {
                let (from, pitch) = (self.rows.address(top, first as u32), self.rows.pitch() as u64);
                return add_up::<2, I, W, TERMS>(sums, 0, count, |k| Quad::aligned(d, from + k as u64 * pitch));
            }
            let row = |k: u32| self.rows.row(self.rows.map(d, row + k));
            match inside {
                true => add_up::<2, I, W, TERMS>(sums, 0, count, |k| row(k).words(d, self.left(), quad)),
                false => add_up::<2, I, W, TERMS>(sums, 0, count, |k| row(k).each(d, self.list(quad))),
            }
        }
    }

    /// Returns the places of a quad's sums in a row of column sums; with one channel, only the first place is used.
    #[inline(always)]
    pub(super) fn places_of(&self, quad: u32) -> [u32; QUAD] {
        match self.p.tile.channels {
            1 => [quad * QUAD as u32; QUAD],
            _ => self.places((quad * QUAD as u32) as i32 - self.lead as i32),
        }
    }

    /// Reads the column sums of a quad in the step's last row, which this thread has stored.
    #[inline(always)]
    unsafe fn last_sums(&self, places: [u32; QUAD]) -> Sums<W, TERMS> {
        let mut sums = [terms(0); QUAD];
        for t in 0..TERMS {
            let from = self.columns(self.step() - 1, t);
            // SAFETY: only this thread writes the sums of its quads.
            let four = unsafe {
                if self.p.tile.channels == 1 {
                    W::load4(self.d, from.offset + places[0] * Self::SUM)
                } else {
                    places.map(|place| self.d.shared_load(from, place))
                }
            };
            for k in 0..QUAD {
                sums[k][t] = four[k];
            }
        }
        sums
    }

    /// Writes the column sums of a quad to row `slot` of the step.
    #[inline(always)]
    pub(super) unsafe fn put(&self, slot: u32, places: [u32; QUAD], sums: Sums<W, TERMS>) {
        for t in 0..TERMS {
            let (to, of) = (self.columns(slot, t), |k: usize| sums[k][t]);
            // SAFETY: only this thread writes the sums of its quads.
            unsafe {
                if self.p.tile.channels == 1 {
                    W::store4(self.d, to.offset + places[0] * Self::SUM, [of(0), of(1), of(2), of(3)]);
                } else {
                    for k in 0..QUAD {
                        self.d.shared_store(to, places[k], of(k));
                    }
                }
            }
        }
    }

    /// Slides column sums down by one row.
    #[inline(always)]
    fn slide(&self, mut sums: Sums<W, TERMS>, [leaves, enters]: [Quad<I>; 2]) -> Sums<W, TERMS> {
        let (old, new) = (leaves.samples(), enters.samples());
        for k in 0..QUAD {
            let difference = new[k] - old[k];
            sums[k][0] = sums[k][0].plus(W::of(difference));
            if TERMS == 2 {
                // The difference of both squares, as a product.
                sums[k][1] = sums[k][1].plus(W::product(difference, new[k] + old[k] - 2 * Self::CENTRE));
            }
        }
        sums
    }

    /// Maps the input rows of the step that starts at `row`, one row per lane: the first [`WINDOWS_ROWS`] lanes map the
    /// rows that leave the windows, the next ones those that enter.
    #[inline(always)]
    fn map(&self, row: u32) -> u32 {
        let lane = self.thread() % WARP;
        self.rows.map(self.d, row + lane % WINDOWS_ROWS + lane / WINDOWS_ROWS % 2 * self.p.window_y)
    }

    /// Computes the column sums of this thread's quads in all rows of a step.
    #[inline(always)]
    pub(super) unsafe fn sum_columns(&self, row: u32) {
        let (d, p, thread) = (self.d, self.p, self.thread());
        let mapped = self.map(row);
        for n in 0..p.tile.quads {
            let quad = n * WINDOWS_BLOCK + thread;
            if !self.is_needed(quad / WARP * WARP) {
                break;
            }
            let needed = self.is_needed(quad);
            // SAFETY: only this thread writes the sums of its quads; the ballots make the branch uniform for a warp,
            // and sums of copied quads are overwritten later.
            unsafe {
                let (aligned, other) = (needed && self.is_aligned(quad), !needed || self.is_copied(quad));
                if p.tile.rows < WINDOWS_ROWS || d.ballot(!aligned && !other) != 0 {
                    self.sum_each(mapped, quad);
                } else if d.ballot(aligned) != 0 {
                    self.sum_aligned(row, mapped, quad, aligned);
                }
            }
        }
    }

    /// Computes the column sums of a quad of whole words, if this thread's quad is `aligned`, in a step of
    /// [`WINDOWS_ROWS`] rows.
    #[inline(always)]
    unsafe fn sum_aligned(&self, row: u32, mapped: u32, quad: u32, aligned: bool) {
        let (d, p) = (self.d, self.p);
        // Opaque, like the thread's number.
        let pitch = d.anew(self.rows.pitch()) as u64;
        let apart = p.window_y as u64 * pitch;
        let top = self.rows.inside(row, p.window_y + WINDOWS_ROWS);
        let mut leaves = self.rows.address(top.unwrap_or(0), (self.left() + (quad * QUAD as u32) as i32) as u32);
        // SAFETY: aligned quads are inside the image's rows; only this thread writes their sums.
        unsafe {
            let places = self.places_of(quad);
            let mut sums = self.last_sums(places);
            let mut slot = 0;
            // Opaque for samples of 16 bits, since both halves of a step, unrolled, would spill registers.
            let rows = if Quad::<I>::WORDS > 1 { d.anew(WINDOWS_ROWS) } else { WINDOWS_ROWS };
            while slot < rows {
                let mut loaded = [[Quad::ZEROS; 2]; TOGETHER];
                if top.is_some() {
                    for k in 0..TOGETHER {
                        if aligned {
                            loaded[k] = [Quad::aligned(d, leaves), Quad::aligned(d, leaves + apart)];
                        }
                        leaves += pitch;
                    }
                } else {
                    for k in 0..TOGETHER {
                        for n in 0..2 {
                            let y = d.shuffle(mapped, n as u32 * WINDOWS_ROWS + slot + k as u32);
                            if y == NONE {
                                loaded[k][n] = Quad::of([p.constant; QUAD]);
                            } else if aligned {
                                loaded[k][n] = Quad::aligned(d, leaves + y as u64 * pitch);
                            }
                        }
                    }
                }
                for k in 0..TOGETHER {
                    sums = self.slide(sums, loaded[k]);
                    if aligned {
                        self.put(slot + k as u32, places, sums);
                    }
                }
                slot += TOGETHER as u32;
            }
        }
    }

    /// Computes the column sums of any quad.
    #[inline(always)]
    unsafe fn sum_each(&self, mapped: u32, quad: u32) {
        let (d, inside) = (self.d, self.is_inside(quad));
        // SAFETY: samples are inside the image, or mapped into it; only this thread writes the sums of its quads.
        unsafe {
            let places = self.places_of(quad);
            let mut sums = self.last_sums(places);
            // Opaque, so that the loop is not unrolled: its loads would take registers from the other paths.
            for slot in 0..self.step() {
                let rows = [0, WINDOWS_ROWS].map(|lanes| self.rows.row(d.shuffle(mapped, lanes + slot)));
                let loaded = match inside {
                    true => rows.map(|row| row.words(d, self.left(), quad)),
                    false => rows.map(|row| row.each(d, self.list(quad))),
                };
                sums = self.slide(sums, loaded);
                self.put(slot, places, sums);
            }
        }
    }

    /// Copies the sums of this thread's columns outside the image from those inside.
    #[inline(always)]
    pub(super) unsafe fn copy_columns(&self) {
        let (d, p, thread) = (self.d, self.p, self.thread());
        for n in 0..p.tile.quads {
            let quad = n * WINDOWS_BLOCK + thread;
            // SAFETY: the list has this thread's quads.
            let (from, all) = unsafe { self.copied(quad) };
            if !self.is_needed(quad) || !all {
                continue;
            }
            let outside = self.outside(p.window_y);
            let places = self.places_of(quad);
            // Opaque, so that the loop is not unrolled.
            for slot in 0..self.step() {
                let mut sums = [outside; QUAD];
                for k in 0..QUAD {
                    for t in 0..TERMS {
                        if from[k] != NONE {
                            // SAFETY: a column inside the image, whose sums are complete since the barrier.
                            sums[k][t] = unsafe { d.shared_load(self.columns(slot, t), from[k]) };
                        }
                    }
                }
                // SAFETY: only this thread writes the sums of its quads.
                unsafe { self.put(slot, places, sums) };
            }
        }
    }
}
