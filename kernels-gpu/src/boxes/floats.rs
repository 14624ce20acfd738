//! Box filters of f32, in the order of [`apron_abi::BOX_CHUNK`]: see the [module](super).
//!
//! Along each axis, the 16 windows that begin in one chunk end in two adjacent chunks. A window's sum has three terms:
//! its samples in the first chunk, summed from the chunk's end down; the sums of the chunks between; and the prefix sum
//! at the window's end. Per sample and axis: 4 shared accesses and 4 additions, and `window / 256` more of both for the
//! chunks between, since 16 windows share them.

use super::{march, slot_after, Part, Steps, NONE};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{box_pitch, BoxParams, BOX_BLOCK, BOX_CHUNK};

/// The kernel for `C` channels and strips of `W` pixels. Windows of up to 16 samples along an axis are summed
/// directly.
///
/// Launch contract: see the [module](super).
pub struct Floats<const C: u32, const W: u32>;

impl<const C: u32, const W: u32> Body for Floats<C, W> {
    type Src = f32;
    type Dst = f32;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &BoxParams) {
        let input = p.tile.chunks * BOX_CHUNK;
        let Some(part) = Part::of(d, p, W, input) else { return };
        let sample = (part.left - p.origin_x) * C as i32 + d.thread_x() as i32;
        let mut block = Block::<D, C, W> {
            part,
            src,
            dst,
            kept: [0.0; CHUNK],
            sample: if d.thread_x() < W * C && sample >= 0 && sample < (p.out_width * C) as i32 {
                sample as u32
            } else {
                NONE
            },
            slot: 0,
            far: 0.0,
        };
        // SAFETY: the launch keeps the contract.
        unsafe {
            block.clear();
            march(&part, input, &mut block);
        }
    }
}

const CHUNK: usize = BOX_CHUNK as usize;
const HALF: usize = CHUNK / 2;

struct Block<'p, D, const C: u32, const W: u32> {
    part: Part<'p, D>,
    src: Global<f32>,
    dst: Global<f32>,
    /// Samples of this thread's chunk.
    kept: [f32; CHUNK],
    /// Output sample of this thread's column, or [`NONE`].
    sample: u32,
    /// Chunk of the ring for the current step.
    slot: u32,
    /// Sum of the chunks between, for the first windows of the next step.
    far: f32,
}

impl<D: Device, const C: u32, const W: u32> Block<'_, D, C, W> {
    /// Pitch of the ring's rows, in samples.
    const PITCH: u32 = box_pitch(W * C, C);

    /// Returns input row `row` of a step; two steps alternate.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<f32> {
        let tile = &self.part.p.tile;
        Shared::at(tile.input_at + (step % 2 * BOX_CHUNK + row) * tile.input_pitch * 4)
    }

    /// Returns row `row` of chunk `slot` of the ring, from column `column` on.
    #[inline(always)]
    fn ring(&self, slot: u32, row: u32, column: u32) -> Shared<f32> {
        Shared::at(self.part.p.tile.ring_at + ((slot * BOX_CHUNK + row) * Self::PITCH + column) * 4)
    }

    /// Returns the input of task `task`: a chunk of a row and channel.
    #[inline(always)]
    fn chunk(&self, step: u32, task: u32) -> Shared<f32> {
        let row = self.input(step, task % BOX_CHUNK);
        Shared::at(row.offset + column_of::<C>(task) * 4)
    }

    /// Returns the samples of a chunk, and replaces them in shared memory by their prefix sums.
    #[inline(always)]
    unsafe fn prefix(&self, chunk: Shared<f32>) -> [f32; CHUNK] {
        let d = self.part.d;
        let mut samples = [0.0; CHUNK];
        // SAFETY: a chunk of an input row, which only this thread accesses before the next barrier.
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

    /// Returns the sums of a chunk of windows along a row, each longer than a chunk; the first begins at `chunk`.
    #[inline(always)]
    unsafe fn windows(&self, chunk: Shared<f32>) -> [f32; CHUNK] {
        let (d, last) = (self.part.d, self.part.p.window_x - 1);
        let turn = d.anew(BOX_CHUNK - last % BOX_CHUNK);
        let mut sums = [0.0; CHUNK];
        // SAFETY: the input row holds all chunks under the windows, as prefix sums since the barrier.
        unsafe {
            for k in 0..CHUNK {
                sums[k] = d.shared_load(chunk, (last + k as u32) * C);
            }
            let total = |k: u32| d.shared_load(chunk, (k * BOX_CHUNK + BOX_CHUNK - 1) * C);
            let near = add_up(self.part.p.one, 0.0, 1, last / BOX_CHUNK, total);
            let far = near + total(last / BOX_CHUNK);
            let mut head = 0.0;
            for k in (0..CHUNK).rev() {
                head = if k == CHUNK - 1 { self.kept[k] } else { head + self.kept[k] };
                let middle = if (k as u32) < turn { near } else { far };
                sums[k] += head + middle;
            }
        }
        sums
    }

    /// As [`windows`](Self::windows), for windows of up to 16 samples.
    #[inline(always)]
    unsafe fn short_windows(&self, chunk: Shared<f32>) -> [f32; CHUNK] {
        let mut sums = [0.0; CHUNK];
        let mut i = 0;
        while i < self.part.p.window_x {
            for k in 0..CHUNK {
                // SAFETY: the input row holds all samples under the windows.
                sums[k] += unsafe { self.part.d.shared_load(chunk, (i + k as u32) * C) };
            }
            i += 1;
        }
        sums
    }

    /// Clears this thread's column of the ring: the first steps read rows from it that no output depends on.
    ///
    /// # Safety
    /// No thread uses the ring before the next barrier.
    #[inline(always)]
    unsafe fn clear(&self) {
        let mut row = 0;
        while row < self.part.p.tile.slots * BOX_CHUNK {
            if self.sample != NONE {
                // SAFETY: the ring has `slots * BOX_CHUNK` rows; only this thread uses its column.
                unsafe { self.part.d.shared_store(self.ring(0, row, self.part.d.thread_x()), 0, 0.0) };
            }
            row += self.part.p.one;
        }
    }

    /// Computes a chunk of windows down a column, each longer than a chunk.
    #[inline(always)]
    unsafe fn long_columns(&mut self, step: u32) {
        let (d, thread) = (self.part.d, self.part.d.anew(self.part.d.thread_x()));
        let (slots, last) = (self.part.p.tile.slots, self.part.p.window_y - 1);
        let here = self.ring(self.slot, 0, thread);
        // The windows that end in the first `turn` rows begin at the end of the oldest chunk, which is next in the
        // ring; the others begin in the chunk after it.
        let turn = d.anew(last % BOX_CHUNK);
        let oldest = slot_after(self.slot, 1, slots);
        let upper = self.ring(oldest, BOX_CHUNK - turn, thread).offset;
        let lower = if oldest + 1 < slots { upper } else { upper - slots * BOX_CHUNK * Self::PITCH * 4 };
        let mut windows = Windows { rows: [0.0; CHUNK], upper, lower, turn, far: self.far, near: 0.0 };
        // SAFETY: rows of the ring, complete since the barrier; only this thread uses its column until the next one.
        unsafe {
            for k in 0..CHUNK {
                windows.rows[k] = d.shared_load(here, k as u32 * Self::PITCH);
            }
            if step >= last / BOX_CHUNK {
                windows.near = self.between();
            }
            let mut head = windows.rows[CHUNK - 1];
            for k in (0..CHUNK - 1).rev() {
                head += windows.rows[k];
                d.shared_store(here, k as u32 * Self::PITCH, head);
            }
            let y = self.part.completed(step, BOX_CHUNK);
            let whole = y >= 0 && y as u32 + BOX_CHUNK <= self.part.count;
            let total =
                if whole { self.store_windows::<true>(&windows, y) } else { self.store_windows::<false>(&windows, y) };
            // In the next step, the first windows begin where the others begin now, and the current chunk lies
            // between.
            self.far = windows.near + total;
            self.keep_total(total);
        }
    }

    /// Stores the outputs of a chunk of windows, the first in row `y` of the block: all if `ALL`, otherwise those in
    /// the block's output rows. Returns the sum of the chunk's rows.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn store_windows<const ALL: bool>(&self, windows: &Windows, y: i32) -> f32 {
        let (mut at, mut sum) = (self.place(y), 0.0);
        // Half of the heads are read before the first sum, the other half after half of the sums.
        for first in [0, HALF] {
            let mut heads = [0.0; HALF];
            for k in 0..HALF {
                let row = (first + k) as u32;
                let from = if row < windows.turn { windows.upper } else { windows.lower };
                // SAFETY: a row of the two oldest chunks of the ring, in this thread's column.
                heads[k] = unsafe { self.part.d.shared_load(Shared::at(from + row * Self::PITCH * 4), 0) };
            }
            for k in 0..HALF {
                let row = first + k;
                sum = if row == 0 { windows.rows[0] } else { sum + windows.rows[row] };
                let middle = if (row as u32) < windows.turn { windows.far } else { windows.near };
                if ALL || ((y + row as i32) as u32) < self.part.count {
                    // SAFETY: the row is one of the block's output rows, the column this thread's.
                    unsafe { self.store(at, (heads[k] + middle) + sum) };
                }
                at += (self.part.p.out_width * C) as i64;
            }
        }
        sum
    }

    /// Returns the output index of this thread's column in row `y` of the block; `y` may lie outside the block's rows.
    #[inline(always)]
    fn place(&self, y: i32) -> i64 {
        let row = self.part.first_row as i64 + y as i64;
        row * (self.part.p.out_width * C) as i64 + self.sample as i64
    }

    /// Scales and stores a sum.
    #[inline(always)]
    unsafe fn store(&self, at: i64, sum: f32) {
        // SAFETY: the callers check the row; only this thread stores outputs of its column.
        unsafe { self.part.d.store(self.dst, at as u64, sum * self.part.p.scale) };
    }

    /// Returns the sums of the ring's chunks, from that of the current step on. Each sum is stored twice, `slots`
    /// entries apart, so that the sums from any slot on are contiguous.
    #[inline(always)]
    fn totals(&self) -> Shared<f32> {
        let thread = self.part.d.anew(self.part.d.thread_x());
        Shared::at(self.part.p.tile.totals_at + (self.slot * W * C + thread) * 4)
    }

    /// Returns the sum of the chunks between, for windows that begin in the second oldest chunk.
    #[inline(always)]
    unsafe fn between(&self) -> f32 {
        let (p, totals) = (self.part.p, self.totals());
        // SAFETY: `slot + k` is below `2 * slots`; only this thread uses its column of the chunk sums.
        let total = |k: u32| unsafe { self.part.d.shared_load(totals, k * W * C) };
        add_up(p.one, 0.0, 3, p.tile.slots, total)
    }

    #[inline(always)]
    unsafe fn keep_total(&self, total: f32) {
        // SAFETY: as above.
        unsafe {
            self.part.d.shared_store(self.totals(), 0, total);
            self.part.d.shared_store(self.totals(), self.part.p.tile.slots * W * C, total);
        }
    }

    /// Computes a chunk of windows of up to 16 rows down a column.
    #[inline(always)]
    unsafe fn short_columns(&self, step: u32) {
        let (d, p, thread) = (self.part.d, self.part.p, self.part.d.thread_x());
        let (here, above) = (self.ring(self.slot, 0, thread), self.ring(self.slot ^ 1, 0, thread));
        let y = self.part.completed(step, BOX_CHUNK);
        let mut k = 0;
        while k < BOX_CHUNK {
            if ((y + k as i32) as u32) < self.part.count {
                let (mut sum, mut i) = (0.0, 0);
                while i < p.window_y {
                    let row = k + i + 1;
                    let (from, row) = if row < p.window_y { (above, row + BOX_CHUNK) } else { (here, row) };
                    // SAFETY: a row of the current or the previous step, in this thread's column of the ring.
                    sum += unsafe { d.shared_load(from, (row - p.window_y) * Self::PITCH) };
                    i += 1;
                }
                // SAFETY: the row is one of the block's output rows, the column this thread's.
                unsafe { self.store(self.place(y + k as i32), sum) };
            }
            k += p.one;
        }
    }
}

impl<D: Device, const C: u32, const W: u32> Steps<D, BOX_CHUNK> for Block<'_, D, C, W> {
    #[inline(always)]
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>) {
        let (p, to) = (self.part.p, self.input(step, row));
        let start = y.map(|y| y as u64 * p.row_stride as u64);
        // SAFETY: the contract of `Steps`.
        unsafe { self.part.bring_row(to, self.src, start, C, p.tile.chunks * BOX_CHUNK, p.constant) };
    }

    #[inline(always)]
    unsafe fn prefixes(&mut self, step: u32) {
        // The samples kept in the last step must not take registers until here.
        self.kept = [0.0; CHUNK];
        if self.part.p.window_x <= BOX_CHUNK {
            return;
        }
        let tasks = self.part.p.tile.chunks * BOX_CHUNK * C;
        let mut task = self.part.d.anew(self.part.d.thread_x());
        // SAFETY: tasks are chunks of the step's input rows, each of one thread.
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
        let (d, task) = (self.part.d, self.part.d.anew(self.part.d.thread_x()));
        if task >= W * C {
            return;
        }
        let chunk = self.chunk(step, task);
        // SAFETY: tasks below the strip's samples are the chunks at which windows begin.
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
        if self.sample != NONE {
            // SAFETY: only this thread uses its column of the ring between the barriers.
            unsafe {
                if self.part.p.window_y > BOX_CHUNK {
                    self.long_columns(step);
                } else {
                    self.short_columns(step);
                }
            }
        }
        self.slot = slot_after(self.slot, 1, self.part.p.tile.slots);
    }
}

/// A chunk of windows down a column.
struct Windows {
    /// Row sums of the current step, in which the windows end.
    rows: [f32; CHUNK],
    /// Offsets in shared memory, in bytes, of the head of window 0, for the first windows and for the others; the head
    /// of window `k` is `k` rows of the ring further.
    upper: u32,
    lower: u32,
    /// Index of the first of the other windows.
    turn: u32,
    /// Sum of the chunks between: for the first windows, and for the others.
    far: f32,
    near: f32,
}

/// Returns the index, in a row, of the first sample of a task's chunk.
#[inline(always)]
fn column_of<const C: u32>(task: u32) -> u32 {
    let chunk = task / BOX_CHUNK;
    chunk / C * BOX_CHUNK * C + chunk % C
}

/// Adds numbers `first` to `end - 1` to a sum, in order; four are read before the first of them is added.
#[inline(always)]
fn add_up(one: u32, mut sum: f32, mut first: u32, end: u32, number: impl Fn(u32) -> f32) -> f32 {
    while first + 4 <= end {
        let (a, b, c, d) = (number(first), number(first + 1), number(first + 2), number(first + 3));
        sum = (((sum + a) + b) + c) + d;
        first += 4 * one;
    }
    while first < end {
        sum += number(first);
        first += one;
    }
    sum
}
