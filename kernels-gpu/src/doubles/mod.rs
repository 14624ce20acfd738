//! Masks over f64: dense ones, and a row of taps, which is the first pass of a separable filter.

mod dense;
mod line;

pub use dense::Dense;
pub use line::Line;

use crate::device::{Device, Global};
use crate::div_rem;
use apron_abi::{BorderMode, DoublesParams, DOUBLES_ACROSS, DOUBLES_BLOCK};

const ACROSS: usize = DOUBLES_ACROSS as usize;

/// The input under a thread's outputs: samples a block's width apart.
struct Under<'p, D> {
    d: D,
    p: &'p DoublesParams,
    src: Global<f64>,
    border: BorderMode,
    /// The samples' columns under the mask's first one, which may be outside, and their channels.
    places: [(i32, u32); ACROSS],
    /// Whether all columns under the mask are inside the image.
    inside: bool,
}

impl<'p, D: Device> Under<'p, D> {
    /// Returns the input under the output samples from `sample` on. Samples after the row's last repeat it: their sums are not
    /// stored.
    #[inline(always)]
    fn of(d: D, src: Global<f64>, sample: u32, p: &'p DoublesParams) -> Self {
        let last = p.out_width * p.channels - 1;
        let mut places = [(0, 0); ACROSS];
        for k in 0..ACROSS {
            let sample = sample + k as u32 * DOUBLES_BLOCK[0];
            // SAFETY: an image has at least one channel.
            let (x, channel) = unsafe { div_rem(if sample < last { sample } else { last }, p.channels) };
            places[k] = (x as i32 + p.origin_x, channel);
        }
        let inside = places[0].0 >= 0 && places[ACROSS - 1].0 + p.mask_width as i32 <= p.width as i32;
        Under { d, p, src, border: BorderMode::from_u32(p.border), places, inside }
    }

    /// Calls `add` with each column of the mask, and the samples under it in row `y` of the extended image.
    #[inline(always)]
    unsafe fn row(&self, y: i32, mut add: impl FnMut(u32, [f64; ACROSS])) {
        let (d, p) = (self.d, self.p);
        let Some(row) = self.border.map(y, p.height as i32) else {
            for i in 0..p.mask_width {
                add(i, [p.constant; ACROSS]);
            }
            return;
        };
        let start = row as u32 as u64 * p.row_stride as u64;
        if self.inside {
            let mut at = self.places.map(|(x, channel)| start + x as u32 as u64 * p.channels as u64 + channel as u64);
            for i in 0..p.mask_width {
                let mut samples = [0.0; ACROSS];
                for k in 0..ACROSS {
                    // SAFETY: row and column are in the image.
                    samples[k] = unsafe { d.load(self.src, at[k]) };
                    at[k] += p.channels as u64;
                }
                add(i, samples);
            }
            return;
        }
        for i in 0..p.mask_width {
            let mut samples = [p.constant; ACROSS];
            for k in 0..ACROSS {
                let (x, channel) = self.places[k];
                if let Some(column) = self.border.map(x + i as i32, p.width as i32) {
                    let at = start + column as u32 as u64 * p.channels as u64 + channel as u64;
                    // SAFETY: row and column are in the image.
                    samples[k] = unsafe { d.load(self.src, at) };
                }
            }
            add(i, samples);
        }
    }

    /// Stores the outputs of a row, those that there are.
    ///
    /// # Safety
    /// No other thread stores them.
    #[inline(always)]
    unsafe fn store(&self, dst: Global<f64>, (sample, row): (u32, u32), sums: [f64; ACROSS]) {
        let row_samples = self.p.out_width * self.p.channels;
        for k in 0..ACROSS {
            let sample = sample + k as u32 * DOUBLES_BLOCK[0];
            if row < self.p.out_height && sample < row_samples {
                // SAFETY: in the output; the caller's promise.
                unsafe { self.d.store(dst, row as u64 * row_samples as u64 + sample as u64, sums[k]) };
            }
        }
    }
}
