//! Sums of windows of floats down columns: see the [module](super).
//!
//! A thread marches down a column of the sums along rows, one chunk of outputs per step. Each output is the sum of a
//! head, a suffix sum of the chunk in which its window starts, in shared memory; a middle; and a tail, the prefix sum
//! at the window's end, which the thread carries from step to step. The first middles of several steps are computed
//! together, so that each total is read once per such group.
//!
//! Per output: two global loads and a store. Shared memory also lists the rows under the block (border by index map).

use super::{plane, plus, runs, totals, totals_row, Axis, FinishOrdered, Number, CHUNK};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{BorderMode, Element, OrderedParams, BOX_CHUNK, ORDERED_BLOCK, ORDERED_LISTS};
use core::marker::PhantomData;

/// The kernel, for `TERMS` sums of type `S` per window, from which `F` computes the output. The middles of `GROUP`
/// steps are computed together.
///
/// Launch contract: see the module `ordered`.
pub struct OrderedColumns<S, O, F, const TERMS: usize, const GROUP: usize>(PhantomData<(S, O, F)>);

impl<S, O, F, const TERMS: usize, const GROUP: usize> Body for OrderedColumns<S, O, F, TERMS, GROUP>
where
    S: Number,
    O: Element,
    F: FinishOrdered<S, O, TERMS>,
{
    type Src = S;
    type Dst = O;
    type Params = OrderedParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S>, dst: Global<O>, p: &OrderedParams) {
        let axis = Axis::of(p.window_y, p.origin_y);
        let first = axis.first + (d.block_y() * p.steps) as i32;
        let sample = d.block_x() * ORDERED_BLOCK + d.thread_x();
        let mut column = Column::<D, S, O, F, TERMS> {
            d,
            p,
            axis,
            src,
            dst,
            first,
            sample,
            tail: [S::ZERO; TERMS],
            of: PhantomData,
        };
        // A grid may have more rows of blocks than its launch needs.
        let left = (p.out_height + axis.lead).div_ceil(BOX_CHUNK);
        let done = d.block_y() * p.steps;
        if done >= left {
            return;
        }
        let steps = if left - done < p.steps { left - done } else { p.steps };
        // SAFETY: the launch keeps the contract; a barrier lies between the writes of the lists and their reads.
        unsafe {
            column.list(steps);
            d.barrier();
            if sample >= p.out_width * p.channels {
                return;
            }
            if !axis.is_long() {
                let mut step = 0;
                while step < steps {
                    column.short(step);
                    step += 1;
                }
                return;
            }
            column.start();
            let mut step = 0;
            while step < steps {
                let mut middles = column.middles::<GROUP>(step);
                let end = if steps - step < GROUP as u32 { steps } else { step + GROUP as u32 };
                while step < end {
                    column.long(step, middles[0]);
                    for k in 1..GROUP {
                        middles[k - 1] = middles[k];
                    }
                    step += 1;
                }
            }
        }
    }
}

struct Column<'p, D, S, O, F, const TERMS: usize> {
    d: D,
    p: &'p OrderedParams,
    axis: Axis,
    src: Global<S>,
    dst: Global<O>,
    /// Chunk in which the windows of step 0 start.
    first: i32,
    sample: u32,
    /// Prefix sums at the end of the last window of the previous step.
    tail: [S; TERMS],
    of: PhantomData<F>,
}

/// Rows of heads that are loaded before the first is added; number of short windows that share loads.
const AT_ONCE: usize = 8;
/// Ends of windows that are loaded before the first is added.
const ENDS: usize = 4;

impl<D: Device, S: Number, O: Element, F: FinishOrdered<S, O, TERMS>, const TERMS: usize>
    Column<'_, D, S, O, F, TERMS>
{
    /// Writes the border map of the block's rows to shared memory, in two lists of `steps + 1` chunks each: rows from
    /// the chunk on in which the first windows start, and rows from the chunk on in which the first of them ends.
    #[inline(always)]
    unsafe fn list(&self, steps: u32) {
        let (p, border) = (self.p, BorderMode::from_u32(self.p.border));
        let own = (steps + 1) * BOX_CHUNK;
        let mut i = self.d.thread_x();
        while i < 2 * own {
            let row = if i < own { i } else { i - own + self.axis.apart() * BOX_CHUNK };
            // Sums of a row of the constant are in the row after the image's last.
            let y = border.map(self.first * CHUNK + row as i32, p.height as i32);
            let to = if i < own { i } else { i - own + self.ends(0) };
            // SAFETY: shared memory has room for both lists; one thread writes each element.
            unsafe { self.d.shared_store(Shared::at(0), to, y.map_or(p.height, |y| y as u32)) };
            i += ORDERED_BLOCK;
        }
    }

    /// Returns the place in the second list of row `row`, counted from the chunk in which the first window ends.
    #[inline(always)]
    fn ends(&self, row: u32) -> u32 {
        (self.p.steps + 1) * BOX_CHUNK + row
    }

    /// Loads the sums along the row at place `listed` of the lists.
    #[inline(always)]
    unsafe fn row(&self, listed: u32) -> [S; TERMS] {
        let (samples, plane) = plane(self.p);
        let mut sums = [S::ZERO; TERMS];
        // SAFETY: the lists have this place, and their rows are rows of the sums.
        unsafe {
            let row = self.d.shared_load(Shared::<u32>::at(0), listed);
            let at = row as u64 * samples + self.sample as u64;
            for t in 0..TERMS {
                sums[t] = self.d.load(self.src, t as u64 * plane + at);
            }
        }
        sums
    }

    /// Returns the totals of the chunk `after` chunks after the first windows' chunk; arbitrary ones for a chunk
    /// that no window contains.
    #[inline(always)]
    unsafe fn total(&self, after: u32) -> [S; TERMS] {
        let last = self.p.chunks - 1;
        let chunk = (self.first + after as i32 - self.p.first_chunk) as u32;
        let chunk = if chunk < last { chunk } else { last };
        let mut sums = [S::ZERO; TERMS];
        for t in 0..TERMS {
            let at = totals_row(self.p, chunk, t) + self.sample as u64;
            // SAFETY: the chunk is at most the last of the totals.
            sums[t] = unsafe { self.d.load(totals(self.d, self.p), at) };
        }
        sums
    }

    /// Returns the first middles of `GROUP` steps from `step` on.
    #[inline(always)]
    unsafe fn middles<const GROUP: usize>(&self, step: u32) -> [[S; TERMS]; GROUP] {
        // SAFETY: the caller's promise.
        runs(self.axis.apart() - 1, |i| unsafe { self.total(step + 1 + i) })
    }

    /// Starts the tail: sums the rows of the chunk in which the first window ends, up to the row before its end.
    #[inline(always)]
    unsafe fn start(&mut self) {
        // SAFETY: the caller's promise.
        [self.tail] = runs(self.axis.end(), |i| unsafe { self.row(self.ends(i)) });
    }

    /// Returns this thread's heads in shared memory, `ORDERED_BLOCK` elements apart, so that lanes are adjacent.
    #[inline(always)]
    fn heads(&self, term: usize) -> Shared<S> {
        let before = term as u32 * BOX_CHUNK * ORDERED_BLOCK + self.d.thread_x();
        Shared::at(ORDERED_LISTS + before * S::TYPE.size_bytes())
    }

    /// Computes a chunk of windows of more than 16 rows.
    #[inline(always)]
    unsafe fn long(&mut self, step: u32, first: [S; TERMS]) {
        let (d, own, end) = (self.d, step * BOX_CHUNK, self.axis.end());
        // SAFETY: the rows are listed; each thread has its own heads.
        unsafe {
            let second = plus(first, self.total(step + self.axis.apart()));
            let mut head = [S::ZERO; TERMS];
            for half in [AT_ONCE, 0] {
                let mut rows = [[S::ZERO; TERMS]; AT_ONCE];
                for k in 0..AT_ONCE {
                    rows[k] = self.row(own + (half + k) as u32);
                }
                for k in (0..AT_ONCE).rev() {
                    head = plus(head, rows[k]);
                    for t in 0..TERMS {
                        d.shared_store(self.heads(t), (half + k) as u32 * ORDERED_BLOCK, head[t]);
                    }
                }
            }
            // Not unrolled, since the code for an output, which may compute a square root, is long.
            let mut window = 0;
            while window < BOX_CHUNK {
                let mut ends = [[S::ZERO; TERMS]; ENDS];
                for k in 0..ENDS {
                    ends[k] = self.row(self.ends(own + end + window + k as u32));
                }
                for k in 0..ENDS {
                    let at = window + k as u32;
                    // At the first row of a chunk, the prefix sum starts again.
                    if (at + end).is_multiple_of(BOX_CHUNK) {
                        self.tail = [S::ZERO; TERMS];
                    }
                    self.tail = plus(self.tail, ends[k]);
                    for t in 0..TERMS {
                        head[t] = d.shared_load(self.heads(t), at * ORDERED_BLOCK);
                    }
                    let middle = if at + end < BOX_CHUNK { first } else { second };
                    self.store(step, at, plus(plus(head, middle), self.tail));
                }
                window += d.anew(ENDS as u32);
            }
        }
    }

    /// Computes a chunk of windows of up to 16 rows.
    #[inline(always)]
    unsafe fn short(&self, step: u32) {
        let mut first = 0;
        while first < BOX_CHUNK {
            // SAFETY: the rows are listed.
            unsafe {
                let at = |i| self.row(step * BOX_CHUNK + first + i);
                let sums = runs::<S, TERMS, AT_ONCE>(self.axis.window, at);
                for k in 0..AT_ONCE {
                    self.store(step, first + k as u32, sums[k]);
                }
            }
            first += self.d.anew(AT_ONCE as u32);
        }
    }

    /// Stores output `window` of a step, if its row is in the output.
    #[inline(always)]
    unsafe fn store(&self, step: u32, window: u32, sums: [S; TERMS]) {
        let p = self.p;
        let y = (self.first + step as i32) * CHUNK + window as i32 - p.origin_y;
        if (y as u32) < p.out_height {
            let at = y as u64 * (p.out_width * p.channels) as u64 + self.sample as u64;
            // SAFETY: (sample, y) is in the output, and no other thread's.
            unsafe { self.d.store(self.dst, at, F::finish(self.d, sums, p)) };
        }
    }
}
