//! Correlation with a dense mask by Fourier transforms of tiles.

use crate::window::Sides;
use crate::{Border, ByMethod, Correlate, Error, Extent, FilterProblem, Mask, PixelType, Result, Shape, Window};
use apron_abi::{Complex, FFT_MOST_TAPS, FFT_ROOTS_F64, fft_side};

/// Dense correlation with f32 results, computed tile by tile: each tile of the image is transformed, multiplied by the
/// mask's transform, and transformed back ([butterflies](apron_abi::fft_split)). The time per output sample grows with
/// the logarithm of the mask's size.
///
/// Each result differs from the exact sum by at most [`error_bound`](Fft::error_bound) times the Euclidean norm
/// of its tile times the sum of the taps' magnitudes. A tile that contains NaN or an infinity has no results
/// but NaN and infinities.
///
/// Tiles are anchored at the image's first pixel, so that a region of the result has the same bits as the
/// same pixels of the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Fft {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input; f32, or one whose samples f32 holds.
    pub src: PixelType,
    /// Taps and their anchor; at most [`FFT_MOST_TAPS`] per axis.
    pub mask: Mask,
    /// Border mode.
    pub border: Border,
    /// Pixels to compute.
    pub extent: Extent,
}

/// The tiles of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Columns and rows of samples per tile.
    pub sides: [u32; 2],
    /// Columns and rows of outputs per tile; the outputs are a tile's first columns and rows.
    pub outputs: [u32; 2],
    /// Input column and row of the first sample of the first tile.
    pub first: [i32; 2],
    /// Output column and row of the first output of the first tile; at most 0.
    pub out_first: [i32; 2],
    /// Tiles per row of tiles, and rows of tiles.
    pub tiles: [u32; 2],
}

impl Fft {
    pub(crate) const NAME: &'static str = "fft";

    /// Restates a correlation, or returns why that is impossible.
    pub(crate) fn of(problem: &Correlate) -> Result<Fft, &'static str> {
        let Correlate { shape, src, dst, ref mask, border, clamp, extent } = *problem;
        match () {
            _ if src == PixelType::F64 => Err("transforms are of f32"),
            _ if dst != PixelType::F32 => Err("sums of transforms are f32: --out-type f32"),
            _ if clamp => Err("sums are clamped"),
            _ if mask.width().max(mask.height()) > FFT_MOST_TAPS => Err("tiles take masks of up to 513 taps per axis"),
            _ => Ok(Fft { shape, src, mask: mask.clone(), border, extent }),
        }
    }

    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a mask of more than [`FFT_MOST_TAPS`] taps along an axis, [`Error::PixelType`] for
    /// samples of f64, and as [`Correlate::window`].
    pub fn window(&self) -> Result<Window> {
        for (what, taps) in [("width", self.mask.width()), ("height", self.mask.height())] {
            if fft_side(taps).is_none() {
                return Err(Error::parameter(Fft::NAME, what, taps, format!("at most {FFT_MOST_TAPS} taps")));
            }
        }
        if self.src == PixelType::F64 {
            let expected = "another: transforms are of f32".into();
            return Err(Error::PixelType { operation: Fft::NAME, found: self.src, expected });
        }
        Window::new(Fft::NAME, self.shape, self.sides(), self.border, self.extent)
    }

    pub(crate) fn sides(&self) -> Sides {
        Sides { size: (self.mask.width(), self.mask.height()), anchor: self.mask.anchor() }
    }

    /// Returns the tiles.
    ///
    /// # Errors
    /// As [`window`](Fft::window).
    pub fn tiling(&self) -> Result<Tiling> {
        let window = self.window()?;
        let ((width, height), anchor) = ((self.mask.width(), self.mask.height()), self.mask.anchor());
        let sides = self.tile_sides();
        let along = |side: u32, taps: u32, anchor: u32, origin: i32, out: u32| {
            let (outputs, anchor) = (side - taps + 1, anchor as i32);
            let first = (origin + anchor).div_euclid(outputs as i32) * outputs as i32 - anchor;
            let out_first = first - origin;
            (outputs, first, out_first, (out + out_first.unsigned_abs()).div_ceil(outputs))
        };
        let x = along(sides[0], width, anchor.0, window.origin_x, window.out.width);
        let y = along(sides[1], height, anchor.1, window.origin_y, window.out.height);
        Ok(Tiling { sides, outputs: [x.0, y.0], first: [x.1, y.1], out_first: [x.2, y.2], tiles: [x.3, y.3] })
    }

    /// Returns the columns and rows of samples per tile.
    ///
    /// # Panics
    /// For a mask that [`window`](Fft::window) refuses.
    pub fn tile_sides(&self) -> [u32; 2] {
        [self.mask.width(), self.mask.height()].map(|taps| fft_side(taps).expect("as many taps as tiles take"))
    }

    /// Returns the complex numbers per tile.
    fn numbers(&self) -> f64 {
        let [width, height] = self.tile_sides().map(f64::from);
        width * height / 2.0
    }

    /// Returns the bound of the error of a result, per unit of the Euclidean norm of its tile's samples (border
    /// included) and of the sum of the taps' magnitudes: `(9.2 log2(n) + 4) 2^-24` for tiles of `n` complex numbers.
    ///
    /// Per stage, a butterfly's results differ from the exact ones by at most 5.2 units of 2^-24 of their norm when it
    /// splits, roots included, and 4 when it joins; the mask's transform and the product add 3, and terms of second
    /// order less than 1 (docs/decisions/fft.md).
    ///
    /// # Panics
    /// As [`tile_sides`](Fft::tile_sides).
    pub fn error_bound(&self) -> f64 {
        (9.2 * self.numbers().log2() + 4.0) * 2f64.powi(-24)
    }

    /// Whether transforms take fewer operations than the sums of taps: 14 per butterfly, forward and back, each counted
    /// twice because numbers are exchanged.
    fn is_worthwhile(&self) -> bool {
        let (numbers, [wide, high]) = (self.numbers(), self.tile_sides());
        let [width, height] = [self.mask.width(), self.mask.height()];
        let outputs = (wide - width + 1) as f64 * (high - height + 1) as f64;
        14.0 * numbers * numbers.log2() < width as f64 * height as f64 * outputs
    }

    /// Returns the mask's transform, divided by the number of its complex numbers, which [joining](apron_abi::fft_join)
    /// multiplies by: one row of `tile_sides()[0] / 2` numbers per row of the tile.
    ///
    /// # Panics
    /// As [`tile_sides`](Fft::tile_sides).
    pub fn spectrum(&self) -> Vec<Complex<f32>> {
        let [wide, rows] = self.tile_sides().map(|side| side as usize);
        let (width, columns) = (self.mask.width() as usize, wide / 2);
        // A correlation multiplies by tap (x, y) at place (-x, -y): modulo z^wide + 1 for real rows, that is the
        // negated tap at (wide - x); modulo z^rows - i for columns, the tap times -i at (rows - y).
        let mut numbers = vec![[0.0f64; 2]; columns * rows];
        for (y, taps) in self.mask.taps().chunks(width).enumerate() {
            let row = &mut numbers[(rows - y) % rows * columns..][..columns];
            for (x, &tap) in taps.iter().enumerate() {
                let (at, tap) = if x == 0 { (0, tap as f64) } else { (wide - x, -tap as f64) };
                row[at % columns][at / columns] = tap;
            }
            split(row);
            if y > 0 {
                row.iter_mut().for_each(|number| *number = [number[1], -number[0]]);
            }
        }
        let (scale, mut column) = (1.0 / numbers.len() as f64, vec![[0.0; 2]; rows]);
        let mut spectrum = vec![[0.0f32; 2]; numbers.len()];
        for x in 0..columns {
            for (number, row) in column.iter_mut().zip(numbers.chunks(columns)) {
                *number = row[x];
            }
            split(&mut column);
            for (row, number) in spectrum.chunks_mut(columns).zip(&column) {
                row[x] = number.map(|part| (part * scale) as f32);
            }
        }
        spectrum
    }
}

impl FilterProblem {
    /// As [`by_method`](FilterProblem::by_method) without a request, for a caller who accepts errors of up to
    /// `tolerance` times the norms that [`Fft`] names: a dense mask is transformed where that bound holds and fewer
    /// operations are needed.
    ///
    /// ```
    /// use apron_core::{Border, Correlate, Extent, FilterProblem, Mask, Method, PixelType::F32, Shape};
    ///
    /// let mask = Mask::new(31, 31, (0..961).map(|n| (n % 7) as f32).collect::<Vec<_>>())?;
    /// let (shape, border, extent) = (Shape::new(640, 480, 1)?, Border::Reflect, Extent::Same);
    /// let problem = Correlate { shape, src: F32, dst: F32, mask, border, clamp: false, extent };
    /// let within = |tolerance| FilterProblem::from(problem.clone()).by_method_within(tolerance);
    /// assert_eq!(within(1e-5)?.problem.method(), Some(Method::Fft));
    /// assert_eq!(within(1e-6)?.problem.method(), Some(Method::Direct));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`by_method`](FilterProblem::by_method); [`Error::Parameter`] for a tolerance that is not a number above 0.
    pub fn by_method_within(self, tolerance: f64) -> Result<ByMethod> {
        if !(tolerance.is_finite() && tolerance > 0.0) {
            return Err(Error::parameter(self.operation(), "tolerance", tolerance, "a number above 0, such as 1e-5"));
        }
        let chosen = self.by_method(None)?;
        match &chosen.problem {
            FilterProblem::Correlate(problem) => match Fft::of(problem) {
                Ok(fft) if fft.error_bound() <= tolerance && fft.is_worthwhile() => {
                    let why = "its error is within the tolerance, and it takes fewer operations";
                    Ok(ByMethod { problem: FilterProblem::Fft(fft), why })
                }
                _ => Ok(chosen),
            },
            _ => Ok(chosen),
        }
    }
}

/// Replaces a polynomial by its values at the roots, in f64.
fn split(numbers: &mut [Complex<f64>]) {
    let mut polynomials = 1;
    while polynomials < numbers.len() {
        for (n, polynomial) in numbers.chunks_mut(numbers.len() / polynomials).enumerate() {
            let [re, im] = FFT_ROOTS_F64[polynomials + n];
            let (low, high) = polynomial.split_at_mut(polynomial.len() / 2);
            for (low, high) in low.iter_mut().zip(high) {
                let product = [re * high[0] - im * high[1], re * high[1] + im * high[0]];
                *high = [low[0] - product[0], low[1] - product[1]];
                *low = [low[0] + product[0], low[1] + product[1]];
            }
        }
        polynomials *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;

    fn problem(mask: Mask, extent: Extent) -> Fft {
        Fft { shape: Shape::new(1000, 700, 1).unwrap(), src: PixelType::F32, mask, border: Border::Wrap, extent }
    }

    #[test]
    fn a_region_has_the_tiles_of_the_whole() {
        let mask = Mask::new(29, 1, vec![1.0; 29]).and_then(|mask| mask.with_anchor(3, 0)).unwrap();
        let whole = problem(mask.clone(), Extent::Same).tiling().unwrap();
        assert_eq!((whole.sides, whole.outputs, whole.tiles), ([128; 2], [100, 128], [10, 6]));
        assert_eq!((whole.first, whole.out_first), ([-3, 0], [0, 0]));
        let region = Extent::Region(Region { x: 250, y: -5, width: 60, height: 10 });
        let part = problem(mask, region).tiling().unwrap();
        // Columns 200 to 399 and rows -128 to 127 of outputs.
        assert_eq!((part.first, part.out_first, part.tiles), ([197, -128], [-50, -123], [2, 2]));
    }

    #[test]
    fn a_tap_over_the_pixel_has_the_same_number_at_each_root() {
        let spectrum = problem(Mask::new(1, 1, vec![3.0]).unwrap(), Extent::Same).spectrum();
        assert_eq!(spectrum.len(), 64 * 128);
        assert!(spectrum.iter().all(|&number| number == [3.0 / 8192.0, 0.0]));
        // A shift by one pixel leaves the magnitudes unchanged.
        let spectrum = problem(Mask::new(2, 2, vec![0.0, 0.0, 0.0, 3.0]).unwrap(), Extent::Same).spectrum();
        assert!(spectrum.iter().all(|[re, im]| (re.hypot(*im) * 8192.0 - 3.0).abs() < 1e-6));
        assert!(spectrum[0] != spectrum[1] && spectrum[0] != spectrum[64]);
    }

    #[test]
    fn limits_and_bounds() {
        let of = |width, height| {
            problem(Mask::new(width, height, vec![0.0; (width * height) as usize]).unwrap(), Extent::Same)
        };
        assert!(matches!(of(514, 1).window(), Err(Error::Parameter { .. })));
        assert!(matches!(Fft { src: PixelType::F64, ..of(3, 3) }.window(), Err(Error::PixelType { .. })));
        assert!((of(65, 65).error_bound() - 123.6 / 16777216.0).abs() < 1e-12);
        assert!(of(257, 257).error_bound() < 1e-5 && of(258, 258).error_bound() > 1e-5);
        let worthwhile = |(width, height)| of(width, height).is_worthwhile();
        assert_eq!([(9, 9), (65, 1), (31, 31), (129, 129)].map(worthwhile), [false, false, true, true]);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = FilterProblem::Fft(of(3, 3)).by_method_within(wrong).unwrap_err();
            assert!(error.to_string().contains("tolerance"), "{error}");
        }
    }
}
