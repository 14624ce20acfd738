//! Separable filters of bytes under few taps that are small multiples of a power of two, as those of binomials are:
//! by integers of 16 bits, which hold every sum, so that the order is free.
//!
//! Down the columns first, from the image's own rows; border columns repeat sums of columns inside.

use super::Windows;
use super::integers::Under;
use crate::rounding::lowest_bit;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use apron_core::{AnyImage, AnyImageMut, Error, Image, ImageMut, Pixel, PixelType, Result, Separable, Window};

/// The most taps along an axis.
const MOST: usize = 5;
/// Rows of input per tile that should stay in cache, as for box filters.
const SEEN_ROWS: usize = 32;

/// Taps whose products with bytes have sums of 16 bits.
#[derive(Clone, Debug)]
pub(crate) struct SmallTaps {
    /// Taps along the rows and down the columns, modulo 2^16. Both have 1, 3 or 5, the last of which may be 0.
    x: Vec<u16>,
    y: Vec<u16>,
    /// The product of the taps' units is `2^-digits`; from 1 on.
    digits: u32,
    /// Added to each sum, so that none is negative: 0, or 2^15.
    bias: u16,
}

impl SmallTaps {
    /// Returns the taps of a filter that this file computes.
    pub(crate) fn of(problem: &Separable) -> Option<SmallTaps> {
        let (_, constant) = problem.border.mode();
        let taps = [problem.taps_x.taps(), problem.taps_y.taps()];
        let is_few = taps.iter().all(|taps| taps.len() <= MOST);
        if (problem.src, problem.dst) != (PixelType::U8, PixelType::U8) || !problem.src.holds(constant) || !is_few {
            return None;
        }
        let units = taps.map(|taps| taps.iter().map(|&tap| lowest_bit(tap as f64)).fold(f64::INFINITY, f64::min));
        // Infinite if all taps of an axis are 0. One digit at least, so that there is a half.
        let unit = units[0] * units[1];
        let digits = if unit < 1.0 { -unit.log2() } else { 1.0 };
        if !unit.is_finite() || digits > 14.0 {
            return None;
        }
        let times = |taps: &[f32], factor: f64| -> Vec<f64> { taps.iter().map(|&tap| tap as f64 * factor).collect() };
        let (x, y) = (times(taps[0], 2f64.powf(digits) * units[1]), times(taps[1], 1.0 / units[1]));
        // Sums of the taps above and below 0.
        let parts = |taps: &[f64]| -> (f64, f64) {
            (taps.iter().map(|tap| tap.max(0.0)).sum(), taps.iter().map(|tap| (-tap).max(0.0)).sum())
        };
        let ((x_above, x_below), (y_above, y_below)) = (parts(&x), parts(&y));
        let most = 255.0 * (x_above * y_above + x_below * y_below) + 2f64.powf(digits - 1.0);
        let least = 255.0 * (x_above * y_below + x_below * y_above);
        let bias = match (least == 0.0 && most <= 65535.0, least <= 32768.0 && most <= 32767.0) {
            (true, _) => 0,
            (_, true) => 1 << 15,
            _ => return None,
        };
        let modulo = |taps: &[f64]| {
            let mut taps: Vec<u16> = taps.iter().map(|&tap| tap as i32 as u16).collect();
            taps.resize(taps.len() | 1, 0);
            taps
        };
        Some(SmallTaps { x: modulo(&x), y: modulo(&y), digits: digits as u32, bias })
    }

    /// Computes the output, whose shape and type were checked.
    ///
    /// # Errors
    /// [`Error::PixelType`] for other types than u8.
    pub(crate) fn run<I: Pixel, O: Pixel>(
        &self,
        image: &Image<I>,
        problem: &Separable,
        window: Window,
        out: ImageMut<'_, O>,
    ) -> Result<()> {
        let (AnyImage::U8(image), AnyImageMut::U8(out)) = (I::into_any(image.view()), O::into_any_mut(out)) else {
            return Err(Error::PixelType { operation: "separable", found: I::PIXEL, expected: "u8".into() });
        };
        self.of_bytes(&image, problem, window, out);
        Ok(())
    }

    // Compiled once for all types of images.
    fn of_bytes(&self, image: &Image<u8>, problem: &Separable, window: Window, out: ImageMut<'_, u8>) {
        let size = (problem.taps_x.len(), problem.taps_y.len());
        let windows = &Windows::new(image, window, size, problem.border);
        let constant = vec![windows.constant as u8; image.shape().row_samples()];
        windows.run(out, SEEN_ROWS, &|scratch: &mut Buffer<u16>, mut tile: Tile<'_, u8>| {
            let under = &Under::new(windows, &tile);
            // Room for samples under the taps that are 0.
            let columns = scratch.take(under.length + windows.channels());
            for (y, out) in (under.y..).zip(&mut tile.rows) {
                let row = |y| windows.row(y).unwrap_or(&constant);
                match *self.y {
                    [tap] => simd::run(Down { under, rows: [row(y)], taps: [tap], columns }),
                    [a, b, c] => {
                        let rows = [row(y), row(y + 1), row(y + 2)];
                        simd::run(Down { under, rows, taps: [a, b, c], columns });
                    }
                    [a, b, c, d, e] => {
                        let rows = [row(y), row(y + 1), row(y + 2), row(y + 3), row(y + 4)];
                        simd::run(Down { under, rows, taps: [a, b, c, d, e], columns });
                    }
                    _ => unreachable!("1, 3 or 5 taps"),
                }
                let (channels, columns, digits, bias) = (windows.channels(), &*columns, self.digits, self.bias);
                match *self.x {
                    [tap] => simd::run(Along { columns, channels, taps: [tap], digits, bias, out }),
                    [a, b, c] => simd::run(Along { columns, channels, taps: [a, b, c], digits, bias, out }),
                    [a, b, c, d, e] => simd::run(Along { columns, channels, taps: [a, b, c, d, e], digits, bias, out }),
                    _ => unreachable!("1, 3 or 5 taps"),
                }
            }
        });
    }
}

/// Sums weighted bytes down each column.
struct Down<'a, const N: usize> {
    under: &'a Under<'a, u8>,
    rows: [&'a [u8]; N],
    taps: [u16; N],
    columns: &'a mut [u16],
}

impl<const N: usize> Work for Down<'_, N> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Down { under, rows, taps, columns } = self;
        let sum = |bytes: [u8; N]| {
            let products = taps.iter().zip(bytes).map(|(tap, byte)| tap.wrapping_mul(byte as u16));
            products.fold(0, u16::wrapping_add)
        };
        let inside = rows.map(|row| &row[under.inside.clone()]);
        let columns_inside = &mut columns[under.places()];
        let count = columns_inside.len();
        let inside = inside.map(|row| &row[..count]);
        for x in 0..count {
            columns_inside[x] = sum(inside.map(|row| row[x]));
        }
        under.outside.iter().for_each(|&(place, from)| columns[place] = sum(rows.map(|row| row[from])));
        under.repeat(columns);
        let constant = sum([under.windows.constant as u8; N]);
        under.constant.iter().for_each(|&place| columns[place] = constant);
    }
}

/// Sums weighted sums of columns, and rounds them half to even, with saturation.
struct Along<'a, const N: usize> {
    columns: &'a [u16],
    channels: usize,
    taps: [u16; N],
    digits: u32,
    bias: u16,
    out: &'a mut [u8],
}

impl<const N: usize> Work for Along<'_, N> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Along { columns, channels, taps, digits, bias, out } = self;
        let (below_half, zero) = ((1 << (digits - 1)) - 1, bias >> digits);
        let count = out.len();
        let shifted: [&[u16]; N] = std::array::from_fn(|i| &columns[i * channels..][..count]);
        for x in 0..count {
            let products = (0..N).map(|i| taps[i].wrapping_mul(shifted[i][x]));
            let sum = products.fold(bias, u16::wrapping_add);
            let odd = sum >> digits & 1;
            let rounded = (sum + below_half + odd) >> digits;
            out[x] = rounded.saturating_sub(zero).min(255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::separable;
    use apron_core::{Border, Extent, Taps};

    fn problem(image: &Image<u8>, x: &[f32], y: &[f32]) -> Separable {
        let (shape, src, dst) = (image.shape(), PixelType::U8, PixelType::U8);
        let (taps_x, taps_y) = (Taps::new(x).unwrap(), Taps::new(y).unwrap());
        Separable { shape, src, dst, taps_x, taps_y, border: Border::Reflect101, extent: Extent::Same }
    }

    /// Bytes at both ends of their range, and in between.
    fn image(width: u32, height: u32, channels: u32) -> Image<'static, u8> {
        let sample = |x: u32, y: u32, c: u32| match (x * 7919 + y * 104_729 + x * y + c * 31) % 1009 {
            near if near < 256 => near as u8,
            near if near % 2 == 0 => 0,
            _ => 255,
        };
        Image::from_fn(width, height, channels, sample).unwrap()
    }

    #[test]
    fn taps_whose_sums_have_16_bits_are_taken() {
        let image = image(4, 4, 1);
        let digits = |x: &[f32], y: &[f32]| SmallTaps::of(&problem(&image, x, y)).map(|taps| taps.digits);
        let binomial = [0.0625, 0.25, 0.375, 0.25, 0.0625];
        assert_eq!(digits(&binomial, &binomial), Some(8));
        assert_eq!(digits(&[-1.0, 0.0, 1.0], &[1.0, 2.0, 1.0]), Some(1));
        // 255 * 128 and a half are 32,641, and 255 * 128.5 are more than 32,767.
        assert_eq!(digits(&[64.0], &[1.0, -1.0]), Some(1));
        assert_eq!(digits(&[64.5], &[1.0, -1.0]), None);
        // 255 * 256 and a half are 65,281 with digits, and 255 * 258 are more than 65,535.
        assert_eq!(digits(&[128.0], &[1.0]), Some(1));
        assert_eq!(digits(&[129.0], &[1.0]), None);
        assert_eq!(digits(&[0.1, 0.2], &[1.0]), None);
        assert_eq!(digits(&[0.0], &[1.0]), None);
        assert_eq!(digits(&[0.5; 6], &[1.0]), None);
        assert_eq!(digits(&[2f32.powi(-15)], &[1.0]), None);
        let between = Separable { border: Border::Constant(0.5), ..problem(&image, &binomial, &binomial) };
        assert!(SmallTaps::of(&between).is_none());
    }

    /// Sums at halves, below 0, above 255, and at the ends of 16 bits, under every border.
    #[test]
    fn sums_are_those_of_the_reference() {
        let axes: [&[f32]; 9] = [
            &[1.0],
            &[0.5, 0.5],
            &[0.25, 0.5, 0.25],
            &[0.125, 0.375, 0.375, 0.125],
            &[0.0625, 0.25, 0.375, 0.25, 0.0625],
            &[-1.0, 0.0, 1.0],
            &[-0.25, 1.5, -0.25],
            &[7.0, -0.125],
            &[2f32.powi(-7), 2f32.powi(-7)],
        ];
        let borders = [
            Border::Replicate,
            Border::Reflect,
            Border::Reflect101,
            Border::Wrap,
            Border::Crop,
            Border::Constant(0.0),
            Border::Constant(201.0),
        ];
        let mut taken = 0;
        for (n, (x, y)) in axes.iter().flat_map(|x| axes.iter().map(move |y| (x, y))).enumerate() {
            for (k, &border) in borders.iter().enumerate() {
                let (width, height) = [(41, 30), (5, 5), (129, 7), (7, 64)][(n + k) % 4];
                let image = image(width, height, [1, 3, 4, 2][(n + k / 2) % 4]);
                let extent = if border == Border::Crop || k % 2 == 0 { Extent::Same } else { Extent::Full };
                let problem = Separable { border, extent, ..problem(&image, x, y) };
                taken += SmallTaps::of(&problem).is_some() as u32;
                let expected: Image<u8> = apron_reference::separable(&image, &problem).unwrap();
                let found: Image<u8> = separable(&image, &problem).unwrap();
                assert_eq!(found, expected, "{x:?} {y:?} {border:?} {extent:?}");
            }
        }
        assert!(taken > 7 * 50, "{taken}");
    }

    /// Rounds every sum at one level.
    struct Check {
        digits: u32,
        bias: u16,
    }

    impl Work for Check {
        #[inline(always)]
        fn run<L: Level>(self) {
            let Check { digits, bias } = self;
            let half = 1i32 << (digits - 1);
            let sums: Vec<i32> =
                (0..=65535).map(|sum| sum - bias as i32).filter(|sum| sum + half <= 65535 - bias as i32).collect();
            let columns: Vec<u16> = sums.iter().map(|&sum| sum as u16).collect();
            let mut out = vec![7; sums.len()];
            Along { columns: &columns, channels: 1, taps: [1], digits, bias, out: &mut out }.run::<L>();
            for (sum, out) in sums.iter().zip(out) {
                let expected = (*sum as f64 / (2 * half) as f64).round_ties_even().clamp(0.0, 255.0) as u8;
                assert_eq!(out, expected, "{sum} of {digits} digits");
            }
        }
    }

    #[test]
    fn every_sum_is_rounded_half_to_even_at_every_level() {
        for digits in 1..=14 {
            for bias in [0, 1 << 15] {
                simd::run_at_all(|| Check { digits, bias });
            }
        }
    }
}
