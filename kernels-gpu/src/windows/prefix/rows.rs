//! Rows of the image: those that enter and leave the windows, and those of a block's first windows.

use super::{Loaded, Strip, Vector, WindowSums, WORDS};
use crate::device::Device;
use crate::samples::WARP;
use apron_abi::Sample;

/// Rows that are loaded together for the first windows.
pub(crate) const TOGETHER: usize = 4;

impl<D: Device, I: Sample, S: WindowSums<I, C, W>, const C: usize, const W: u32> Strip<'_, D, I, S, C, W> {
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

    /// Calls `add` with `count` rows from row `top` on, [`TOGETHER`] at a time, and with the number of rows that are
    /// there; others are zeros.
    #[inline(always)]
    pub(crate) unsafe fn first_rows(&self, top: i32, count: u32, mut add: impl FnMut([Vector; TOGETHER], u32)) {
        let (d, lane, first) = (self.d, self.d.thread_x() % WARP, self.place.pixel * C as u32);
        let (mut next, mut map) = (0, 0);
        if self.rows_inside && self.plain {
            while next + 2 * TOGETHER as u32 <= count {
                let row = (top + next as i32) as u32;
                // SAFETY: the rows are in the image.
                let load = |n: u32| unsafe { self.image.load_inside(row + n, first, true) };
                let loaded = [[0, 1, 2, 3].map(load), [4, 5, 6, 7].map(load)];
                for four in loaded {
                    add(four.map(|loaded| self.samples(loaded)), TOGETHER as u32);
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
            add(rows, count - next);
            next += TOGETHER as u32;
        }
    }
}
