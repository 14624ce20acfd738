//! Means of integers by prefix sums along the rows: see [`crate::windows::Prefix`].
//!
//! All sums are modulo 2^32. A window's sum is below, or it is found from its remainder modulo 2^32 and an estimate:
//! the sum of the vectors from the one where the window starts to the one where it ends. Samples of i16 are summed as
//! u16 that are 32768 larger. One multiplication makes a sum a mean.

mod means;
mod totals;

pub use totals::PrefixTotals;

use crate::device::{Device, Shared};
use crate::samples::WARP;
use crate::windows::{Strip, Vector, WindowSums, BYTES, TOGETHER, WORDS};
use apron_abi::{prefix_layout, ElementType, Sample, WINDOWS_CHUNK};

/// The means; `LARGE` if sums may need 37 bits.
pub struct Means<const LARGE: bool>;

/// The sums of the columns left of a lane's vector: per channel, and where sums are large, in units of [`UNIT`].
#[derive(Clone, Copy)]
pub struct Before<const C: usize> {
    sums: [u32; C],
    units: u32,
}

/// A sum for each sample of a vector; a vector of 16-bit samples has half as many.
type Sums = [u32; BYTES];

/// Large sums are estimated in units of this number.
const UNIT: u32 = 1 << 12;

/// Returns the sign bits that are flipped in a word of samples: i16 are summed as the u16 that are 32768 larger.
const fn signs<I: Sample>() -> u32 {
    if matches!(I::TYPE, ElementType::I16) {
        0x8000_8000
    } else {
        0
    }
}

impl<I: Sample, const C: usize, const W: u32, const LARGE: bool> WindowSums<I, C, W> for Means<LARGE> {
    type Columns = Sums;
    type Before = Before<C>;
    /// The prefix sum before each sample, and the units before the vector.
    type Starts = (Sums, u32);
    const SIGNS: u32 = signs::<I>();
    const OPAQUE: bool = C > 1;
    const OUTPUTS: u32 = prefix_layout(W, C as u32, I::TYPE.size_bytes())[1];

    #[inline(always)]
    unsafe fn first<D: Device>(strip: &Strip<D, I, Self, C, W>, first_row: u32, top: i32) -> Sums {
        let p = strip.p;
        let mut columns = [0; BYTES];
        // SAFETY: the totals have the chunks under the first windows; rows are inside the image, or mapped into it.
        unsafe {
            let chunks = if p.chunks > 0 { p.window_y / WINDOWS_CHUNK } else { 0 };
            for chunk in 0..chunks {
                strip.add_totals(&mut columns, first_row / WINDOWS_CHUNK + chunk);
            }
            let done = chunks * WINDOWS_CHUNK;
            strip.first_rows(top + done as i32, p.window_y - done, |rows, _| {
                add_rows::<D, I>(strip.d, &mut columns, rows)
            });
        }
        columns
    }

    #[inline(always)]
    unsafe fn slide<D: Device>(strip: &Strip<D, I, Self, C, W>, columns: &mut Sums, rows: [Vector; 2]) -> Before<C> {
        let (d, samples) = (strip.d, Strip::<D, I, Self, C, W>::SAMPLES);
        add_difference::<D, I>(d, columns, rows);
        let mut totals = [0u32; C];
        // In pairs, since one chain of additions would be long.
        for k in (0..samples).step_by(2 * C) {
            for c in 0..C {
                totals[c] = totals[c].wrapping_add(columns[k + c].wrapping_add(columns[k + C + c]));
            }
        }
        // A vector's total fits 32 bits, the plan keeps columns that low.
        let unit = if LARGE { totals[0] / UNIT } else { 0 };
        let mut sums = totals.map(|total| d.scan(total));
        let units = if LARGE { d.scan(unit) } else { 0 };
        // SAFETY: the last lane writes the totals of its warp.
        unsafe { strip.put_totals(&sums, units) };
        for c in 0..C {
            sums[c] = sums[c].wrapping_sub(totals[c]);
        }
        Before { sums, units: units - unit }
    }

    #[inline(always)]
    unsafe fn put_prefixes<D: Device>(
        strip: &Strip<D, I, Self, C, W>,
        columns: &Sums,
        before: Before<C>,
    ) -> (Sums, u32) {
        let d = strip.d;
        let to = Shared::at(strip.thread() * Strip::<D, I, Self, C, W>::PITCH * 4);
        let samples = Strip::<D, I, Self, C, W>::SAMPLES;
        let mut prefixes = [0; BYTES];
        // SAFETY: only this lane writes the `PITCH` words from its first on.
        unsafe {
            let Before { sums: mut next, units } = strip.with_warps(before);
            for k in 0..samples {
                d.shared_store(to, k as u32, next[k % C]);
                prefixes[k] = next[k % C];
                next[k % C] = next[k % C].wrapping_add(columns[k]);
            }
            if LARGE {
                // In the padding.
                d.shared_store(to, samples as u32, units);
            }
            (prefixes, units)
        }
    }

    #[inline(always)]
    unsafe fn outputs<D: Device>(strip: &Strip<D, I, Self, C, W>, _: &Sums, (prefixes, units): (Sums, u32)) -> Vector {
        // SAFETY: the caller's promise.
        unsafe { strip.means(&prefixes, units) }
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

/// Adds a row to the sums of its columns, and subtracts another.
#[inline(always)]
fn add_difference<D: Device, I: Sample>(d: D, columns: &mut Sums, [enters, leaves]: [Vector; 2]) {
    for k in 0..WORDS {
        let (enter, leave) = (enters[k], leaves[k]);
        if I::TYPE.size_bytes() == 1 {
            // Bytes 0 and 1 of both rows, and bytes 2 and 3.
            let pairs = [d.pick::<0x5140>(enter, leave), d.pick::<0x7362>(enter, leave)];
            for n in 0..4 {
                let signs = if n % 2 == 0 { 0x0000_ff01 } else { 0xff01_0000 };
                columns[4 * k + n] = d.dot_bytes(pairs[n / 2], signs, columns[4 * k + n]);
            }
        } else {
            let differences = [(enter & 0xffff).wrapping_sub(leave & 0xffff), (enter >> 16).wrapping_sub(leave >> 16)];
            for n in 0..2 {
                columns[2 * k + n] = columns[2 * k + n].wrapping_add(differences[n]);
            }
        }
    }
}
