//! Masks of three dimensions over volumes, and over images of f64, which are volumes of one plane: dense masks, taps
//! along one axis, and taps along all axes at once, with sums between them that are stored or not.
//!
//! The planes of a volume are stacked, one below the other. The pass of a separable filter along x is a mask of one
//! row; the pass along z is a pass along the columns of an image whose rows are the planes.

mod columns;
mod cube;
mod cut;
mod dense;
mod march;
mod plane;
mod rows;
mod stored;
mod tiles;

pub use columns::Columns;
pub use cube::Cube;
pub use dense::Dense;
pub use march::March;
pub use plane::Plane;
pub use rows::Rows;
pub use stored::Stored;

use crate::conv2d::clamped;
use crate::device::{Device, Global};
use crate::div_rem;
use apron_abi::{Accumulator, BorderMode, Cast, ElementType, Pixel, Sample, VolumesParams};
use core::ops::Div;

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

/// A volume of samples of type `X`, extended by its borders, and summed in `S`.
struct Extended<'p, D, X, S> {
    d: D,
    p: &'p VolumesParams,
    src: Global<X>,
    borders: [BorderMode; 3],
    constants: [S; 3],
}

/// Source of a row of the extended volume.
#[derive(Clone, Copy)]
enum Line<S> {
    /// A row of the volume, by the index of its first sample.
    From(u64),
    /// A row outside, whose samples are all this constant.
    Outside(S),
}

impl<'p, D: Device, X: Sample, S: Accumulator + Div<Output = S>> Extended<'p, D, X, S> {
    #[inline(always)]
    fn of(d: D, src: Global<X>, p: &'p VolumesParams) -> Self {
        let borders = [
            BorderMode::from_u32(p.borders[0]),
            BorderMode::from_u32(p.borders[1]),
            BorderMode::from_u32(p.borders[2]),
        ];
        let constants = [S::from_f64(p.constants[0]), S::from_f64(p.constants[1]), S::from_f64(p.constants[2])];
        Extended { d, p, src, borders, constants }
    }

    /// Returns row `y` of plane `z`.
    #[inline(always)]
    fn row(&self, y: i32, z: i32) -> Line<S> {
        let p = self.p;
        match (self.borders[2].map(z, p.sides[2] as i32), self.borders[1].map(y, p.sides[1] as i32)) {
            (Some(plane), Some(row)) => {
                Line::From((plane as u32 as u64 * p.sides[1] as u64 + row as u32 as u64) * p.row_stride as u64)
            }
            (None, _) => Line::Outside(self.constants[2]),
            _ => Line::Outside(self.constants[1]),
        }
    }

    /// Returns the sample of a row that is `sample` samples after the first sample of column `x`, which may be outside.
    ///
    /// # Safety
    /// If `inside` is true, the row has this sample.
    #[inline(always)]
    unsafe fn sample(&self, line: Line<S>, x: i32, sample: u32, inside: bool) -> S {
        let (d, p) = (self.d, self.p);
        let start = match line {
            Line::From(start) => start,
            Line::Outside(outside) => return outside,
        };
        if inside {
            let at = start as i64 + x as i64 * p.channels as i64 + sample as i64;
            // SAFETY: the caller's promise.
            return S::of(unsafe { d.load(self.src, at as u64) });
        }
        let (pixel, channel) = match p.channels {
            1 => (sample, 0),
            // SAFETY: a volume has at least one channel.
            channels => unsafe { div_rem(sample, channels) },
        };
        let column = x + pixel as i32;
        let is_in_row = (column as u32) < p.sides[0];
        match if is_in_row { Some(column) } else { self.borders[0].map(column, p.sides[0] as i32) } {
            Some(column) => {
                let at = start + column as u32 as u64 * p.channels as u64 + channel as u64;
                // SAFETY: plane, row and column are inside the volume, or mapped into it.
                S::of(unsafe { d.load(self.src, at) })
            }
            None => self.constants[0],
        }
    }

    /// Divides several sums at a time: for a single sum, the compiler would compute the quotient speculatively, even if
    /// it is not needed.
    #[inline(always)]
    fn divide<const N: usize>(&self, sums: &mut [S; N]) {
        if self.p.divisor != 1.0 {
            let divisor = S::from_f64(self.p.divisor);
            for n in 0..N {
                sums[n] = sums[n] / divisor;
            }
        }
    }

    /// Clamps or casts a sum, which is already divided, and stores the result.
    ///
    /// # Safety
    /// `index` is in the output, and no other thread stores there.
    #[inline(always)]
    unsafe fn store<O: Pixel>(&self, dst: Global<O>, index: u64, sum: S) {
        let result = match O::TYPE {
            ElementType::F32 | ElementType::F64 => {
                O::from_sum(O::Sum::of(if self.p.clamp != 0 { clamped(sum) } else { sum }))
            }
            _ => O::cast(sum.to_f64(), Cast::of_code(self.p.cast)),
        };
        // SAFETY: the caller's promise.
        unsafe { self.d.store(dst, index, result) };
    }
}
