//! Correlation by Fourier transforms of tiles.

use crate::simd::{BLOCK, Level, Vector, Work, run};
use crate::tiles::Buffer;
use crate::{pages, parallel};
use apron_abi::{Complex, FFT_ROOTS, FftArithmetic, fft_join, fft_product, fft_split};
use apron_core::{Fft, Image, ImageMut, Pixel, Result, Tiling, check_memory, check_pixels};

/// Applies a correlation by transforms of tiles, in parallel: bit for bit what `apron_reference::fft` computes.
///
/// ```
/// use apron_core::{Border, Extent, Fft, Image, PixelType};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 4])?;
/// let (shape, src, border, extent) = (image.shape(), PixelType::U8, Border::Replicate, Extent::Same);
/// let out = apron_cpu::fft(&image, &Fft { shape, src, mask: "1 10 100".parse()?, border, extent })?;
/// for (sum, exact) in out.row(0).iter().zip([211.0, 421.0, 442.0]) {
///     assert!((sum - exact).abs() < 1e-3);
/// }
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Fft::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn fft<I: Pixel>(image: &Image<I>, problem: &Fft) -> Result<Image<'static, f32>> {
    pages::filled(problem.window()?.out, |out| fft_into(image, problem, out))
}

/// As [`fft`], into an existing image.
///
/// # Errors
/// As [`fft`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn fft_into<I: Pixel>(image: &Image<I>, problem: &Fft, mut out: ImageMut<'_, f32>) -> Result<()> {
    check_pixels::<I, f32>("fft", image, problem.shape, (problem.src, f32::PIXEL))?;
    let (window, tiling) = (problem.window()?, problem.tiling()?);
    out.check(window.out)?;
    let shape = Planes::shape(&tiling);
    check_memory::<f32>(parallel::threads() * 4 * (shape.numbers() + shape.turned().numbers()) as u64, window.out)?;
    let spectrum = turned_spectrum(problem, shape);
    let columns = columns(problem, &tiling);
    parallel::items(tiles(&tiling, &mut out), &|scratch: &mut Buffer<f32>, tile: Tile<'_>| {
        run(OfTile { image, problem, tiling: &tiling, shape, spectrum: &spectrum, columns: &columns, scratch, tile });
    });
    Ok(())
}

/// Rows and columns of complex numbers, in two planes: real parts and imaginary parts.
#[derive(Clone, Copy)]
struct Planes {
    rows: usize,
    columns: usize,
}

impl Planes {
    fn shape(tiling: &Tiling) -> Planes {
        Planes { rows: tiling.sides[1] as usize, columns: tiling.sides[0] as usize / 2 }
    }

    fn turned(self) -> Planes {
        Planes { rows: self.columns, columns: self.rows }
    }

    /// Returns the row pitch, in numbers. A power of two would put the rows of a column into few sets of the cache.
    fn pitch(self) -> usize {
        self.columns + 16
    }

    /// Returns the length of a plane, in numbers.
    fn numbers(self) -> usize {
        self.rows * self.pitch()
    }
}

/// Returns the mask's transform as two planes, transposed: columns are rows.
fn turned_spectrum(problem: &Fft, shape: Planes) -> Vec<f32> {
    let (spectrum, to) = (problem.spectrum(), shape.turned());
    let mut planes = vec![0.0; 2 * to.numbers()];
    let (re, im) = planes.split_at_mut(to.numbers());
    for (n, number) in spectrum.into_iter().enumerate() {
        let at = n % shape.columns * to.pitch() + n / shape.columns;
        [re[at], im[at]] = number;
    }
    planes
}

/// Returns the image's column for each column of all tiles; `None` for a constant.
fn columns(problem: &Fft, tiling: &Tiling) -> Vec<Option<u32>> {
    let (mode, width) = (problem.border.mode_of(problem.src).0, problem.shape.width as i32);
    let count = (tiling.tiles[0] - 1) * tiling.outputs[0] + tiling.sides[0];
    (0..count as i32).map(|x| mode.map(tiling.first[0] + x, width).map(|x| x as u32)).collect()
}

/// Outputs of a tile.
struct Tile<'a> {
    /// Column and row of the tile among the tiles.
    at: [u32; 2],
    /// First column and row of the outputs, in the tile.
    skip: [usize; 2],
    /// Their rows.
    rows: Vec<&'a mut [f32]>,
}

/// Divides the output into the outputs of tiles.
fn tiles<'a>(tiling: &Tiling, out: &'a mut ImageMut<'_, f32>) -> Vec<Tile<'a>> {
    let (shape, stride) = (out.shape(), out.row_stride());
    // Per tile: the number of skipped outputs, and the end of its outputs.
    let along = |axis: usize, out: u32| {
        let (first, outputs) = (tiling.out_first[axis] as i64, tiling.outputs[axis] as i64);
        (0..tiling.tiles[axis] as i64).map(move |tile| {
            let from = first + tile * outputs;
            ((-from).max(0) as usize, (from + outputs).min(out as i64) as usize)
        })
    };
    let (mut tiles, mut rest, mut from_y) = (Vec::new(), out.spanned_mut(), 0);
    for (tile_y, (skip_y, end_y)) in along(1, shape.height).enumerate() {
        let (band, below) = rest.split_at_mut(((end_y - from_y) * stride).min(rest.len()));
        (rest, from_y) = (below, end_y);
        let mut rows: Vec<_> = band.chunks_mut(stride).map(|row| &mut row[..shape.row_samples()]).collect();
        let mut from_x = 0;
        for (tile_x, (skip_x, end_x)) in along(0, shape.width).enumerate() {
            let count = (end_x - from_x) * shape.channels as usize;
            from_x = end_x;
            let parts = rows.iter_mut().map(|row| row.split_off_mut(..count).expect("a row of the output")).collect();
            tiles.push(Tile { at: [tile_x as u32, tile_y as u32], skip: [skip_x, skip_y], rows: parts });
        }
    }
    tiles
}

struct OfTile<'a, I: Pixel> {
    image: &'a Image<'a, I>,
    problem: &'a Fft,
    tiling: &'a Tiling,
    shape: Planes,
    spectrum: &'a [f32],
    columns: &'a [Option<u32>],
    scratch: &'a mut Buffer<f32>,
    tile: Tile<'a>,
}

impl<I: Pixel> Work for OfTile<'_, I> {
    #[inline(always)]
    fn run<L: Level>(mut self) {
        let (shape, turned) = (self.shape, self.shape.turned());
        let scratch = std::mem::take(self.scratch);
        let mut memory = scratch;
        let (planes, transposed) =
            memory.take(2 * (shape.numbers() + turned.numbers())).split_at_mut(2 * shape.numbers());
        for channel in 0..self.problem.shape.channels {
            self.load(channel, planes);
            let [re, im] = halves(planes);
            let [turned_re, turned_im] = halves(transposed);
            each_column::<L, true>([re, im], shape);
            turn::<L>(re, shape, turned_re);
            turn::<L>(im, shape, turned_im);
            each_column::<L, true>([turned_re, turned_im], turned);
            multiply::<L>([turned_re, turned_im], self.spectrum);
            each_column::<L, false>([turned_re, turned_im], turned);
            turn::<L>(turned_re, turned, re);
            turn::<L>(turned_im, turned, im);
            each_column::<L, false>([re, im], shape);
            self.store(channel, planes);
        }
        *self.scratch = memory;
    }
}

impl<I: Pixel> OfTile<'_, I> {
    /// Loads a channel of the tile.
    #[inline(always)]
    fn load(&self, channel: u32, planes: &mut [f32]) {
        let (Planes { columns, .. }, pitch) = (self.shape, self.shape.pitch());
        let shape = self.problem.shape;
        let (mode, constant) = self.problem.border.mode_of(self.problem.src);
        let from = (self.tile.at[0] * self.tiling.outputs[0]) as usize;
        let seen = &self.columns[from..][..2 * columns];
        // The first image column, if the tile's columns are consecutive in the image, without border.
        let whole = match (seen[0], seen[2 * columns - 1]) {
            (Some(first), Some(last)) if last as usize == first as usize + 2 * columns - 1 => {
                let first_x = self.tiling.first[0] + from as i32;
                (first_x == first as i32).then_some(first as usize)
            }
            _ => None,
        };
        let [re, im] = halves(planes);
        let top = self.tiling.first[1] + (self.tile.at[1] * self.tiling.outputs[1]) as i32;
        for (y, (re, im)) in re.chunks_mut(pitch).zip(im.chunks_mut(pitch)).enumerate() {
            let (re, im) = (&mut re[..columns], &mut im[..columns]);
            let Some(row) = mode.map(top + y as i32, shape.height as i32) else {
                re.fill(constant as f32);
                im.fill(constant as f32);
                continue;
            };
            let (row, channels) = (self.image.row(row as u32), shape.channels as usize);
            match whole {
                Some(first) if channels == 1 => {
                    let (low, high) = row[first..][..2 * columns].split_at(columns);
                    re.iter_mut().zip(low).for_each(|(to, from)| *to = from.to_f32());
                    im.iter_mut().zip(high).for_each(|(to, from)| *to = from.to_f32());
                }
                _ => {
                    let at = |x: Option<u32>| match x {
                        Some(x) => row[x as usize * channels + channel as usize].to_f32(),
                        None => constant as f32,
                    };
                    let (low, high) = seen.split_at(columns);
                    re.iter_mut().zip(low).for_each(|(to, &x)| *to = at(x));
                    im.iter_mut().zip(high).for_each(|(to, &x)| *to = at(x));
                }
            }
        }
    }

    /// Stores the outputs of a channel.
    #[inline(always)]
    fn store(&mut self, channel: u32, planes: &mut [f32]) {
        let (Planes { columns, .. }, pitch) = (self.shape, self.shape.pitch());
        let channels = self.problem.shape.channels as usize;
        let ([re, im], [skip_x, skip_y]) = (halves(planes), self.tile.skip);
        for (y, row) in self.tile.rows.iter_mut().enumerate() {
            let at = (skip_y + y) * pitch;
            let (re, im) = (&re[at..][..columns], &im[at..][..columns]);
            let sums = re.iter().chain(im).skip(skip_x);
            row.iter_mut().skip(channel as usize).step_by(channels).zip(sums).for_each(|(to, &sum)| *to = sum);
        }
    }
}

/// Returns the two planes.
#[inline(always)]
fn halves(planes: &mut [f32]) -> [&mut [f32]; 2] {
    let (re, im) = planes.split_at_mut(planes.len() / 2);
    [re, im]
}

/// Butterflies of vectors.
#[derive(Clone, Copy)]
struct Lanes;

impl<V: Vector<f32>> FftArithmetic<V> for Lanes {
    #[inline(always)]
    fn fma(self, a: V, b: V, c: V) -> V {
        a.fma(b, c)
    }
    #[inline(always)]
    fn fms(self, a: V, b: V, c: V) -> V {
        a.fms(b, c)
    }
    #[inline(always)]
    fn fnma(self, a: V, b: V, c: V) -> V {
        a.fnma(b, c)
    }
    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        a.add(b)
    }
    #[inline(always)]
    fn sub(self, a: V, b: V) -> V {
        a.sub(b)
    }
    #[inline(always)]
    fn mul(self, a: V, b: V) -> V {
        a.mul(b)
    }
    #[inline(always)]
    fn two(self) -> V {
        V::splat(2.0)
    }
}

/// Splits the polynomial of each column, or joins it.
#[inline(always)]
fn each_column<L: Level, const SPLIT: bool>([re, im]: [&mut [f32]; 2], shape: Planes) {
    let (rows, pitch) = (shape.rows, shape.pitch());
    let mut x = 0;
    while x < shape.columns {
        let panel = Panel { re: &mut re[x..], im: &mut im[x..], pitch };
        if SPLIT {
            split::<L::F32>(panel, rows);
        } else {
            join::<L::F32>(panel, rows);
        }
        x += L::F32::LANES;
    }
}

#[inline(always)]
fn root<V: Vector<f32>>(n: usize) -> Complex<V> {
    let [re, im] = FFT_ROOTS[n];
    [V::splat(re), V::splat(im)]
}

/// A panel of columns, as wide as a vector. Iterators and closures are functions that the compiler may leave without
/// the level's instructions, so vectors pass through neither.
struct Panel<'a> {
    re: &'a mut [f32],
    im: &'a mut [f32],
    pitch: usize,
}

impl Panel<'_> {
    #[inline(always)]
    fn load<V: Vector<f32>>(&self, row: usize) -> Complex<V> {
        let at = row * self.pitch;
        [V::load(&self.re[at..]), V::load(&self.im[at..])]
    }

    #[inline(always)]
    fn store<V: Vector<f32>>(&mut self, row: usize, number: Complex<V>) {
        let at = row * self.pitch;
        number[0].store(&mut self.re[at..]);
        number[1].store(&mut self.im[at..]);
    }
}

/// Splits, two stages at a time, so that numbers are loaded and stored half as often; the last stage alone
/// if their number is odd.
#[inline(always)]
fn split<V: Vector<f32>>(mut panel: Panel<'_>, rows: usize) {
    let mut polynomials = 1;
    while 2 * polynomials < rows {
        two_stages::<V, true>(&mut panel, rows, polynomials);
        polynomials *= 4;
    }
    if polynomials < rows {
        last_stage::<V, true>(&mut panel, polynomials);
    }
}

/// The inverse of [`split`].
#[inline(always)]
fn join<V: Vector<f32>>(mut panel: Panel<'_>, rows: usize) {
    let mut polynomials = rows;
    if rows.trailing_zeros() % 2 == 1 {
        polynomials /= 2;
        last_stage::<V, false>(&mut panel, polynomials);
    }
    while polynomials > 1 {
        polynomials /= 4;
        two_stages::<V, false>(&mut panel, rows, polynomials);
    }
}

/// Splits these polynomials and their parts, or joins the parts and the polynomials.
#[inline(always)]
fn two_stages<V: Vector<f32>, const SPLIT: bool>(panel: &mut Panel<'_>, rows: usize, polynomials: usize) {
    let quarter = rows / polynomials / 4;
    for n in 0..polynomials {
        let first = root::<V>(polynomials + n);
        let (low, high) = (root::<V>(2 * (polynomials + n)), root::<V>(2 * (polynomials + n) + 1));
        for row in 4 * n * quarter..(4 * n + 1) * quarter {
            let (a, b) = (panel.load::<V>(row), panel.load::<V>(row + quarter));
            let (c, d) = (panel.load::<V>(row + 2 * quarter), panel.load::<V>(row + 3 * quarter));
            let ([a, b], [c, d]) = if SPLIT {
                let ([a, c], [b, d]) = (fft_split(Lanes, [a, c], first), fft_split(Lanes, [b, d], first));
                (fft_split(Lanes, [a, b], low), fft_split(Lanes, [c, d], high))
            } else {
                let ([a, b], [c, d]) = (fft_join(Lanes, [a, b], low), fft_join(Lanes, [c, d], high));
                let ([a, c], [b, d]) = (fft_join(Lanes, [a, c], first), fft_join(Lanes, [b, d], first));
                ([a, b], [c, d])
            };
            panel.store(row, a);
            panel.store(row + quarter, b);
            panel.store(row + 2 * quarter, c);
            panel.store(row + 3 * quarter, d);
        }
    }
}

/// Splits polynomials of two numbers, or joins them.
#[inline(always)]
fn last_stage<V: Vector<f32>, const SPLIT: bool>(panel: &mut Panel<'_>, polynomials: usize) {
    for n in 0..polynomials {
        let (pair, root) = ([panel.load::<V>(2 * n), panel.load::<V>(2 * n + 1)], root(polynomials + n));
        let [a, b] = if SPLIT { fft_split(Lanes, pair, root) } else { fft_join(Lanes, pair, root) };
        panel.store(2 * n, a);
        panel.store(2 * n + 1, b);
    }
}

/// Multiplies by the mask's transform.
#[inline(always)]
fn multiply<L: Level>([re, im]: [&mut [f32]; 2], spectrum: &[f32]) {
    let (of_re, of_im) = spectrum.split_at(spectrum.len() / 2);
    let mut at = 0;
    while at < re.len() {
        let of = [L::F32::load(&of_re[at..]), L::F32::load(&of_im[at..])];
        let number = [L::F32::load(&re[at..]), L::F32::load(&im[at..])];
        let product = fft_product(Lanes, number, of);
        product[0].store(&mut re[at..]);
        product[1].store(&mut im[at..]);
        at += L::F32::LANES;
    }
}

/// Transposes a plane.
#[inline(always)]
fn turn<L: Level>(from: &[f32], shape: Planes, to: &mut [f32]) {
    let (pitch, turned) = (shape.pitch(), shape.turned().pitch());
    let mut y = 0;
    while y < shape.rows {
        let mut x = 0;
        while x < shape.columns {
            let mut rows = [[0.0; BLOCK]; BLOCK];
            for (k, row) in rows.iter_mut().enumerate() {
                row.copy_from_slice(&from[(y + k) * pitch + x..][..BLOCK]);
            }
            let columns = L::turned_f32(rows);
            for (k, column) in columns.iter().enumerate() {
                to[(x + k) * turned + y..][..BLOCK].copy_from_slice(column);
            }
            x += BLOCK;
        }
        y += BLOCK;
    }
}
