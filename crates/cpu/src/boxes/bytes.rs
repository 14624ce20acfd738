//! Sums of bytes: whole numbers, so that the sum of one window is had from the last one's.

use super::Windows;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use apron_abi::BorderMode;
use apron_core::{Accumulator, Pixel, Scale};

/// Memory that a thread uses for one tile after another.
#[derive(Default)]
pub(super) struct Scratch {
    bytes: Buffer<u8>,
    columns: Buffer<u32>,
    sums: Buffer<f64>,
}

pub(super) fn tile<O: Pixel>(windows: &Windows<'_, u8>, scratch: &mut Scratch, mut tile: Tile<'_, O>) {
    let channels = windows.channels();
    let (width, height) = (windows.filter.width as usize, windows.filter.height as i32);
    let (scale, samples) = (windows.filter.scale, windows.filter.samples());
    let count = tile.rows[0].len();
    let length = count + (width - 1) * channels;
    let (mode, constant) = windows.filter.border.mode();
    let x = tile.x as i32 + windows.window.origin_x;
    let y = tile.y as i32 + windows.window.origin_y;
    let (columns, sums) = (scratch.columns.take(length), scratch.sums.take(count));
    columns.fill(0);
    let bytes = &mut scratch.bytes;
    let mut row = |columns: &mut [u32], y: i32, leaves: bool| {
        let line = extended(windows.row(y), channels, x, mode, constant as u8, bytes.take(length));
        simd::run(Column { line, leaves, columns });
    };
    (y..y + height - 1).for_each(|y| row(columns, y, false));
    for (y, out) in (y..).zip(&mut tile.rows) {
        row(columns, y + height - 1, false);
        simd::run(Slide { columns, channels, width, sums });
        simd::run(Scaled { sums, scale, samples, out });
        row(columns, y, true);
    }
}

/// The samples of a row, or of the constant, from column `x` on: where all are inside, the row's own.
fn extended<'a>(
    row: Option<&'a [u8]>,
    channels: usize,
    x: i32,
    mode: BorderMode,
    constant: u8,
    out: &'a mut [u8],
) -> &'a [u8] {
    let Some(row) = row else {
        out.fill(constant);
        return out;
    };
    let width = (row.len() / channels) as i32;
    let end = x + (out.len() / channels) as i32;
    if x >= 0 && end <= width {
        return &row[x as usize * channels..][..out.len()];
    }
    let inside = x.clamp(0, width)..end.clamp(0, width);
    for (pixel, x) in out.chunks_exact_mut(channels).zip(x..).filter(|(_, x)| !inside.contains(x)) {
        match mode.map(x, width) {
            Some(x) => pixel.copy_from_slice(&row[x as usize * channels..][..channels]),
            None => pixel.fill(constant),
        }
    }
    if !inside.is_empty() {
        let samples = inside.start as usize * channels..inside.end as usize * channels;
        out[(inside.start - x) as usize * channels..][..samples.len()].copy_from_slice(&row[samples]);
    }
    out
}

/// Adds a row to the sums of the columns, or takes it off.
struct Column<'a> {
    line: &'a [u8],
    leaves: bool,
    columns: &'a mut [u32],
}

impl Work for Column<'_> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let pairs = self.columns.iter_mut().zip(self.line);
        if self.leaves {
            pairs.for_each(|(column, &byte)| *column -= byte as u32);
        } else {
            pairs.for_each(|(column, &byte)| *column += byte as u32);
        }
    }
}

/// Sums the columns under each window.
struct Slide<'a> {
    columns: &'a [u32],
    channels: usize,
    width: usize,
    /// Whole numbers below 2^53.
    sums: &'a mut [f64],
}

impl Work for Slide<'_> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Slide { columns, channels, width, sums } = self;
        let ahead = (width - 1) * channels;
        for channel in 0..channels {
            let mut sum: u64 = columns[channel..][..ahead].iter().step_by(channels).map(|&column| column as u64).sum();
            let entering = columns[ahead + channel..].iter().step_by(channels);
            let leaving = columns[channel..].iter().step_by(channels);
            for ((out, &entering), &leaving) in sums[channel..].iter_mut().step_by(channels).zip(entering).zip(leaving)
            {
                sum += entering as u64;
                *out = sum as f64;
                sum -= leaving as u64;
            }
        }
    }
}

/// Scales sums and stores them.
struct Scaled<'a, O> {
    sums: &'a [f64],
    scale: Scale,
    samples: u64,
    out: &'a mut [O],
}

impl<O: Pixel> Work for Scaled<'_, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let store = |sum: f64| O::from_sum(O::Sum::from_f64(sum));
        let pairs = self.out.iter_mut().zip(self.sums);
        match self.scale {
            Scale::Mean => {
                let samples = self.samples as f64;
                pairs.for_each(|(out, sum)| *out = store(sum / samples));
            }
            Scale::Tap(tap) => pairs.for_each(|(out, sum)| *out = store(sum * tap as f64)),
        }
    }
}
