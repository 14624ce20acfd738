//! Sums of windows of floats down columns: see the [module](super).
//!
//! A thread marches down a column of the sums along rows, one chunk of outputs per step: the suffix sums of the
//! chunk in which the windows start, in shared memory, the middles, and the prefix sums at the windows' ends, which
//! it carries from step to step. The first middles of several steps are added up at once, so that each total is
//! read once per such group.
//!
//! Per output: two global loads and a store; the places of the rows are listed in shared memory (border by index map).

use super::{plane, plus, runs, totals, totals_row, Axis, FinishOrdered, Number, CHUNK};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{BorderMode, Element, OrderedParams, BOX_CHUNK, ORDERED_BLOCK, ORDERED_LISTS};
use core::marker::PhantomData;

/// The kernel, for `TERMS` sums of type `S` per window, which end by `F`. Adds up the middles of `GROUP` steps at once.
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
        // SAFETY: the launch keeps the contract; a barrier separates the lists from their use.
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
    /// Chunk in which the first windows start.
    first: i32,
    sample: u32,
    /// Prefix sums at the end of the last step's last window.
    tail: [S; TERMS],
    of: PhantomData<F>,
}

/// Rows of heads that are loaded before the first is added, and short windows that share loads.
const AT_ONCE: usize = 8;
/// Ends of windows that are loaded before the first is added.
const ENDS: usize = 4;

impl<D: Device, S: Number, O: Element, F: FinishOrdered<S, O, TERMS>, const TERMS: usize>
    Column<'_, D, S, O, F, TERMS>
{
    /// Lists the rows of the sums along rows: first those from the first windows' chunk on, a chunk more than the block
    /// has steps, then those from the chunk on in which the first of them ends.
    #[inline(always)]
    unsafe fn list(&self, steps: u32) {
        let (p, border) = (self.p, BorderMode::from_u32(self.p.border));
        let own = (steps + 1) * BOX_CHUNK;
        let mut i = self.d.thread_x();
        while i < 2 * own {
            let row = if i < own { i } else { i - own + self.axis.apart() * BOX_CHUNK };
            // Where the constant replaces a row, the row after the image's last holds its sums.
            let y = border.map(self.first * CHUNK + row as i32, p.height as i32);
            let to = if i < own { i } else { i - own + self.ends(0) };
            // SAFETY: in the lists.
            unsafe { self.d.shared_store(Shared::at(0), to, y.map_or(p.height, |y| y as u32)) };
            i += ORDERED_BLOCK;
        }
    }

    /// Returns the place in the lists of row `row` from the chunk on in which the first window ends.
    #[inline(always)]
    fn ends(&self, row: u32) -> u32 {
        (self.p.steps + 1) * BOX_CHUNK + row
    }

    /// Returns the sums of a listed row.
    #[inline(always)]
    unsafe fn row(&self, listed: u32) -> [S; TERMS] {
        let (samples, plane) = plane(self.p);
        let mut sums = [S::ZERO; TERMS];
        // SAFETY: in the lists, and in the sums.
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
            // SAFETY: in the totals.
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

    /// Sums the rows of the first windows' last chunk, up to the one before the first window's end.
    #[inline(always)]
    unsafe fn start(&mut self) {
        // SAFETY: the caller's promise.
        [self.tail] = runs(self.axis.end(), |i| unsafe { self.row(self.ends(i)) });
    }

    /// Returns this thread's heads in shared memory. They are ordered by place in the chunk, then by thread.
    #[inline(always)]
    fn heads(&self, term: usize) -> Shared<S> {
        let before = term as u32 * BOX_CHUNK * ORDERED_BLOCK + self.d.thread_x();
        Shared::at(ORDERED_LISTS + before * S::TYPE.size_bytes())
    }

    /// Computes a chunk of windows of more than a chunk.
    #[inline(always)]
    unsafe fn long(&mut self, step: u32, first: [S; TERMS]) {
        let (d, own, end) = (self.d, step * BOX_CHUNK, self.axis.end());
        // SAFETY: listed rows, and chunks between; the heads are this thread's.
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
            // A loop that is not unrolled: the code for an output, which may have a root, is there only a few times.
            let mut window = 0;
            while window < BOX_CHUNK {
                let mut ends = [[S::ZERO; TERMS]; ENDS];
                for k in 0..ENDS {
                    ends[k] = self.row(self.ends(own + end + window + k as u32));
                }
                for k in 0..ENDS {
                    let at = window + k as u32;
                    // A chunk's first row.
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

    /// Computes a chunk of windows of up to a chunk.
    #[inline(always)]
    unsafe fn short(&self, step: u32) {
        let mut first = 0;
        while first < BOX_CHUNK {
            // SAFETY: listed rows.
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

    /// Stores an output of a step, if it is one.
    #[inline(always)]
    unsafe fn store(&self, step: u32, window: u32, sums: [S; TERMS]) {
        let p = self.p;
        let y = (self.first + step as i32) * CHUNK + window as i32 - p.origin_y;
        if (y as u32) < p.out_height {
            let at = y as u64 * (p.out_width * p.channels) as u64 + self.sample as u64;
            // SAFETY: in the output, and no other thread's.
            unsafe { self.d.store(self.dst, at, F::finish(self.d, sums, p)) };
        }
    }
}
