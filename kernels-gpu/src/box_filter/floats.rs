//! Box filters of f32, in the order of [`apron_abi::BOX_CHUNK`]: see the [module](super).
//!
//! Along a row, and down a column, the window of output `k` begins in sample `a` of one chunk and ends in another:
//! it is the chunk's sum from its end down to `a`, the chunks between, and the sum of the last one's first
//! samples. Per sample and axis 4 shared accesses and 4 additions, one for heads, one for tails, two for the sum,
//! and of both `window / 256` for the chunks between.

use super::{march, Part, Steps, CHUNK, LANES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{BoxParams, BOX_BLOCK, BOX_CHUNK};

/// The kernel for `C` channels. Windows of up to 16 samples along an axis are summed plainly.
///
/// Launch contract: that of the [module](super).
pub struct Floats<const C: u32>;

impl<const C: u32> Body for Floats<C> {
    type Src = f32;
    type Dst = f32;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &BoxParams) {
        let Some(part) = Part::of(d, p, p.strip) else { return };
        let first = (part.left - p.origin_x) * C as i32;
        let (head, tail) = ((p.window_y - 1) / BOX_CHUNK, (p.window_y - 1) % BOX_CHUNK);
        let sample = first + d.thread_x() as i32;
        let stored = d.thread_x() < p.strip * C && sample >= 0 && sample < (p.out_width * C) as i32;
        let (kept, sample) = ([0.0; CHUNK], sample as u32);
        let mut block = Block::<D, C> {
            part,
            src,
            dst,
            kept,
            sample,
            stored,
            head,
            tail,
            slot: 0,
            place: 0,
            middle: 0.0,
            last: 0.0,
        };
        // SAFETY: the launch keeps the contract.
        unsafe { march(&part, &mut block) };
    }
}

struct Block<'p, D, const C: u32> {
    part: Part<'p, D>,
    src: Global<f32>,
    dst: Global<f32>,
    /// The samples of this thread's chunk.
    kept: [f32; CHUNK],
    /// The output sample of its column, and whether there is one.
    sample: u32,
    stored: bool,
    /// How many chunks a window's end is below its beginning's, and how many rows below that.
    head: u32,
    tail: u32,
    /// The ring's chunk of the present step, and the place of its sum.
    slot: u32,
    place: u32,
    /// The chunks between for the last windows of the step before, and the chunk of that step.
    middle: f32,
    last: f32,
}

impl<D: Device, const C: u32> Block<'_, D, C> {
    /// Input rows of a step; two steps take turns.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<f32> {
        Shared::at((step % 2 * BOX_CHUNK + row) * self.part.p.tile.input_pitch * 4)
    }

    /// Row `row` of chunk `slot` of the ring, from column `column` on.
    #[inline(always)]
    fn ring(&self, slot: u32, row: u32, column: u32) -> Shared<f32> {
        let tile = &self.part.p.tile;
        Shared::at(tile.ring_at + ((slot * BOX_CHUNK + row) * tile.ring_pitch + column) * 4)
    }

    /// The input of task `task`: a chunk of a row and channel.
    #[inline(always)]
    fn chunk(&self, step: u32, task: u32) -> Shared<f32> {
        let row = self.input(step, task % BOX_CHUNK);
        Shared::at(row.offset + column_of::<C>(task) * 4)
    }

    /// The samples of a chunk, whose prefix sums take their place.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // an iterator over the array would keep it in local memory
    unsafe fn prefix(&self, chunk: Shared<f32>) -> [f32; CHUNK] {
        let d = self.part.d;
        let mut samples = [0.0; CHUNK];
        // SAFETY: inside the input row, of which this chunk is this thread's.
        unsafe {
            for k in 0..CHUNK {
                samples[k] = d.shared_load(chunk, k as u32 * C);
            }
            let mut sum = samples[0];
            for k in 1..CHUNK {
                sum += samples[k];
                d.shared_store(chunk, k as u32 * C, sum);
            }
        }
        samples
    }

    /// Whether this thread sums a chunk of windows along a row.
    #[inline(always)]
    fn has_windows(&self) -> bool {
        self.part.d.thread_x() < self.part.p.strip * C
    }

    /// Sixteen windows of over a chunk along a row, the first of which begins with the chunk at `chunk`.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn windows(&self, chunk: Shared<f32>) -> [f32; CHUNK] {
        let (d, last) = (self.part.d, self.part.p.window_x - 1);
        let (between, tail) = (last / BOX_CHUNK, last % BOX_CHUNK);
        let mut sums = [0.0; CHUNK];
        // SAFETY: inside the input row, which holds the sums of all chunks under the windows.
        unsafe {
            for k in 0..CHUNK {
                sums[k] = d.shared_load(chunk, (last + k as u32) * C);
            }
            let total = |k: u32| d.shared_load(chunk, (k * BOX_CHUNK + BOX_CHUNK - 1) * C);
            let near = add_up(0.0, 1, between, total);
            let far = near + total(between);
            let mut head = 0.0;
            for k in (0..CHUNK).rev() {
                head = if k == CHUNK - 1 { self.kept[k] } else { head + self.kept[k] };
                let middle = if k as u32 + tail < BOX_CHUNK { near } else { far };
                sums[k] = (head + middle) + sums[k];
            }
        }
        sums
    }

    /// The same of windows up to a chunk.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn short_windows(&self, chunk: Shared<f32>) -> [f32; CHUNK] {
        let mut sums = [0.0; CHUNK];
        let mut i = 0;
        while i < self.part.p.window_x {
            for k in 0..CHUNK {
                // SAFETY: inside the input row.
                sums[k] += unsafe { self.part.d.shared_load(chunk, (i + k as u32) * C) };
            }
            i += 1;
        }
        sums
    }

    /// Stores a sum of the window that ends in row `row` of the step, if it is an output.
    #[inline(always)]
    unsafe fn store(&self, y: i32, sum: f32) {
        let p = self.part.p;
        let row = (self.part.first_row as i32 + y) as u64;
        // SAFETY: the output is there, and no other thread's.
        unsafe { self.part.d.store(self.dst, row * (p.out_width * C) as u64 + self.sample as u64, sum * p.scale) };
    }

    /// The chunk of the ring so many after the present one.
    #[inline(always)]
    fn slot_after(&self, count: u32) -> u32 {
        let slots = self.part.p.tile.slots;
        let slot = self.slot + count;
        if slot >= slots {
            slot - slots
        } else {
            slot
        }
    }

    /// Sixteen windows of over a chunk down a column.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn long_columns(&mut self, step: u32) {
        let (d, thread) = (self.part.d, self.part.d.thread_x());
        let pitch = self.part.p.tile.ring_pitch;
        let here = self.ring(self.slot, 0, thread);
        let y = self.part.completed(step);
        let is_output = |k: usize| ((y + k as i32) as u32) < self.part.count;
        // SAFETY: in the ring, where this column is this thread's since the barrier, and in the chunks' sums.
        unsafe {
            let mut rows = [0.0; CHUNK];
            for k in 0..CHUNK {
                rows[k] = d.shared_load(here, k as u32 * pitch);
            }
            // The windows that end in the step's first `tail` rows begin in the chunk two after the present one
            // in the ring, the next ones in that behind it.
            let upper = self.ring(self.slot_after(1), BOX_CHUNK - self.tail, thread);
            let lower = Shared::<f32>::at(self.ring(self.slot_after(2), 0, thread).offset);
            let mut heads = [0.0; CHUNK];
            for k in 0..CHUNK {
                let row = k as u32;
                let from = if row < self.tail {
                    upper.offset + row * pitch * 4
                } else {
                    lower.offset + (row - self.tail) * pitch * 4
                };
                if is_output(k) {
                    heads[k] = d.shared_load(Shared::at(from), 0);
                }
            }
            let far = self.middle + self.last;
            let near = if step >= self.head { self.between() } else { 0.0 };
            self.middle = near;
            let mut head = rows[CHUNK - 1];
            for k in (0..CHUNK - 1).rev() {
                head += rows[k];
                d.shared_store(here, k as u32 * pitch, head);
            }
            let mut tail = 0.0;
            for k in 0..CHUNK {
                tail = if k == 0 { rows[0] } else { tail + rows[k] };
                if is_output(k) {
                    let middle = if (k as u32) < self.tail { far } else { near };
                    self.store(y + k as i32, (heads[k] + middle) + tail);
                }
            }
            self.last = tail;
            self.keep_total(tail);
        }
    }

    /// The sums of chunks, kept twice, so that those of the last `head` steps always follow one another.
    #[inline(always)]
    fn totals(&self) -> Shared<f32> {
        Shared::at(self.part.p.tile.totals_at + self.part.d.thread_x() * 4)
    }

    /// The sum of the chunks of the last `head - 1` steps.
    #[inline(always)]
    unsafe fn between(&self) -> f32 {
        let stride = self.part.p.strip * C;
        let total = |k: u32| {
            // SAFETY: in the chunks' sums, where this column is this thread's.
            unsafe { self.part.d.shared_load(self.totals(), (self.place + k) * stride) }
        };
        add_up(0.0, 1, self.head, total)
    }

    #[inline(always)]
    unsafe fn keep_total(&mut self, total: f32) {
        let stride = self.part.p.strip * C;
        // SAFETY: as above.
        unsafe {
            self.part.d.shared_store(self.totals(), self.place * stride, total);
            self.part.d.shared_store(self.totals(), (self.place + self.head) * stride, total);
        }
        self.place = if self.place + 1 == self.head { 0 } else { self.place + 1 };
    }

    /// Windows up to a chunk down a column.
    #[inline(always)]
    unsafe fn short_columns(&self, step: u32) {
        let (d, p, thread) = (self.part.d, self.part.p, self.part.d.thread_x());
        let (here, above) = (self.ring(self.slot, 0, thread), self.ring(self.slot_after(1), 0, thread));
        let y = self.part.completed(step);
        let mut k = 0;
        while k < BOX_CHUNK {
            if ((y + k as i32) as u32) < self.part.count {
                let (mut sum, mut i) = (0.0, 0);
                while i < p.window_y {
                    let row = k + i + 1;
                    let (from, row) = if row < p.window_y { (above, row + BOX_CHUNK) } else { (here, row) };
                    // SAFETY: in the ring, in rows that were summed.
                    sum += unsafe { d.shared_load(from, (row - p.window_y) * p.tile.ring_pitch) };
                    i += 1;
                }
                // SAFETY: an output.
                unsafe { self.store(y + k as i32, sum) };
            }
            k += 1;
        }
    }
}

impl<D: Device, const C: u32> Steps<D> for Block<'_, D, C> {
    #[inline(always)]
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>) {
        let (d, p) = (self.part.d, self.part.p);
        let to = self.input(step, row);
        let mut index = d.thread_x() % LANES;
        while index < p.tile.chunks * BOX_CHUNK * C {
            let x = self.part.column(index / C);
            // SAFETY: the sample is in the image, and its place in the row this thread's.
            unsafe {
                match (y, x) {
                    (Some(y), Some(x)) => {
                        let at = (y as u64 * p.width as u64 + x as u32 as u64) * C as u64 + (index % C) as u64;
                        d.start_copy(to, index, self.src, at);
                    }
                    _ => d.shared_store(to, index, p.constant),
                }
            }
            index += LANES;
        }
    }

    #[inline(always)]
    unsafe fn prefixes(&mut self, step: u32) {
        if self.part.p.window_x <= BOX_CHUNK {
            return;
        }
        let tasks = self.part.p.tile.chunks * BOX_CHUNK * C;
        let mut task = self.part.d.thread_x();
        // SAFETY: tasks are chunks of the input.
        unsafe {
            if task < tasks {
                self.kept = self.prefix(self.chunk(step, task));
            }
            task += BOX_BLOCK;
            while task < tasks {
                self.prefix(self.chunk(step, task));
                task += BOX_BLOCK;
            }
        }
    }

    #[inline(always)]
    unsafe fn rows(&mut self, step: u32) {
        if !self.has_windows() {
            return;
        }
        let (d, task) = (self.part.d, self.part.d.thread_x());
        let chunk = self.chunk(step, task);
        // SAFETY: tasks below the strip's columns are the chunks at which windows begin.
        unsafe {
            let long = self.part.p.window_x > BOX_CHUNK;
            let sums = if long { self.windows(chunk) } else { self.short_windows(chunk) };
            let to = self.ring(self.slot, task % BOX_CHUNK, column_of::<C>(task));
            for k in 0..CHUNK {
                d.shared_store(to, k as u32 * C, sums[k]);
            }
        }
    }

    #[inline(always)]
    unsafe fn columns(&mut self, step: u32) {
        if self.stored {
            // SAFETY: this thread's column.
            unsafe {
                if self.part.p.window_y > BOX_CHUNK {
                    self.long_columns(step);
                } else {
                    self.short_columns(step);
                }
            }
        }
        self.slot = self.slot_after(1);
    }
}

/// The first sample, in a row, of a task's chunk.
#[inline(always)]
fn column_of<const C: u32>(task: u32) -> u32 {
    let chunk = task / BOX_CHUNK;
    chunk / C * BOX_CHUNK * C + chunk % C
}

/// A sum and the numbers from `first` up to `end`, four of which are read before any is added.
#[inline(always)]
fn add_up(mut sum: f32, mut first: u32, end: u32, number: impl Fn(u32) -> f32) -> f32 {
    while first + 4 <= end {
        let (a, b, c, d) = (number(first), number(first + 1), number(first + 2), number(first + 3));
        sum = (((sum + a) + b) + c) + d;
        first += 4;
    }
    while first < end {
        sum += number(first);
        first += 1;
    }
    sum
}
