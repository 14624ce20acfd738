//! Masks of three dimensions over volumes: dense ones, a row of taps, and taps along all axes at once.
//!
//! A volume's planes lie one below the other. A pass along the columns or the planes of a separable filter is a dense mask of one
//! column: along the planes it is that of an image whose rows are the planes.

mod cube;
mod dense;
mod line;
mod march;
mod tiles;

pub use cube::Cube;
pub use dense::Dense;
pub use line::Line;
pub use march::March;

use crate::device::{Device, Global};
use crate::div_rem;
use apron_abi::{Accumulator, BorderMode, VolumesParams, VOLUMES_ACROSS, VOLUMES_BLOCK};

const ACROSS: usize = VOLUMES_ACROSS as usize;

/// Returns tap `index` of the launch, in the type of the sums.
///
/// # Safety
/// The tap is in the mask.
#[inline(always)]
unsafe fn tap<D: Device, S: Accumulator>(d: D, index: u32) -> S {
    // SAFETY: the caller's promise.
    unsafe {
        match S::TYPE.size_bytes() {
            4 => S::of(d.tap(index)),
            _ => S::from_f64(d.tap_f64(index)),
        }
    }
}

/// The input under a thread's outputs: samples a block's width apart.
struct Under<'p, D, S> {
    d: D,
    p: &'p VolumesParams,
    src: Global<S>,
    borders: [BorderMode; 3],
    constants: [S; 3],
    /// The samples' columns under the mask's first one, which may be outside, and their channels.
    places: [(i32, u32); ACROSS],
    /// Whether all columns under the mask are inside the volume.
    inside: bool,
}

impl<'p, D: Device, S: Accumulator> Under<'p, D, S> {
    /// Returns the input under the output samples from `sample` on. Samples after the row's last repeat it: their sums are not
    /// stored.
    #[inline(always)]
    fn of(d: D, src: Global<S>, sample: u32, p: &'p VolumesParams) -> Self {
        let last = p.out[0] * p.channels - 1;
        let mut places = [(0, 0); ACROSS];
        for k in 0..ACROSS {
            let sample = sample + k as u32 * VOLUMES_BLOCK[0];
            // SAFETY: a volume has at least one channel.
            let (x, channel) = unsafe { div_rem(if sample < last { sample } else { last }, p.channels) };
            places[k] = (x as i32 + p.origin[0], channel);
        }
        let inside = places[0].0 >= 0 && places[ACROSS - 1].0 + p.mask[0] as i32 <= p.sides[0] as i32;
        let borders = [
            BorderMode::from_u32(p.borders[0]),
            BorderMode::from_u32(p.borders[1]),
            BorderMode::from_u32(p.borders[2]),
        ];
        let constants = [S::from_f64(p.constants[0]), S::from_f64(p.constants[1]), S::from_f64(p.constants[2])];
        Under { d, p, src, borders, constants, places, inside }
    }

    /// Calls `add` with each column of the mask, and the samples under it in row `y` of plane `z` of the extended volume.
    #[inline(always)]
    unsafe fn row(&self, y: i32, z: i32, mut add: impl FnMut(u32, [S; ACROSS])) {
        let (d, p) = (self.d, self.p);
        let (plane, row) = (self.borders[2].map(z, p.sides[2] as i32), self.borders[1].map(y, p.sides[1] as i32));
        let (Some(plane), Some(row)) = (plane, row) else {
            let outside = if plane.is_none() { self.constants[2] } else { self.constants[1] };
            for i in 0..p.mask[0] {
                add(i, [outside; ACROSS]);
            }
            return;
        };
        let start = (plane as u32 as u64 * p.sides[1] as u64 + row as u32 as u64) * p.row_stride as u64;
        if self.inside {
            let mut at = self.places.map(|(x, channel)| start + x as u32 as u64 * p.channels as u64 + channel as u64);
            for i in 0..p.mask[0] {
                let mut samples = [S::ZERO; ACROSS];
                for k in 0..ACROSS {
                    // SAFETY: plane, row and column are in the volume.
                    samples[k] = unsafe { d.load(self.src, at[k]) };
                    at[k] += p.channels as u64;
                }
                add(i, samples);
            }
            return;
        }
        for i in 0..p.mask[0] {
            let mut samples = [self.constants[0]; ACROSS];
            for k in 0..ACROSS {
                let (x, channel) = self.places[k];
                if let Some(column) = self.borders[0].map(x + i as i32, p.sides[0] as i32) {
                    let at = start + column as u32 as u64 * p.channels as u64 + channel as u64;
                    // SAFETY: plane, row and column are in the volume.
                    samples[k] = unsafe { d.load(self.src, at) };
                }
            }
            add(i, samples);
        }
    }

    /// Divides the sums of a row, and stores those that there are.
    ///
    /// # Safety
    /// No other thread stores them.
    #[inline(always)]
    unsafe fn store(&self, dst: Global<S>, (sample, row, plane): (u32, u32, u32), sums: [S; ACROSS])
    where
        S: core::ops::Div<Output = S>,
    {
        let (p, row_samples) = (self.p, self.p.out[0] * self.p.channels);
        for k in 0..ACROSS {
            let sample = sample + k as u32 * VOLUMES_BLOCK[0];
            if row < p.out[1] && sample < row_samples {
                let sum = if p.divisor == 1.0 { sums[k] } else { sums[k] / S::from_f64(p.divisor) };
                let row = plane as u64 * p.out[1] as u64 + row as u64;
                // SAFETY: in the output; the caller's promise.
                unsafe { self.d.store(dst, row * row_samples as u64 + sample as u64, sum) };
            }
        }
    }
}
