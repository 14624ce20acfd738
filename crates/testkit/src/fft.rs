//! Cases of correlation by Fourier transforms, and the bound of their errors.

use crate::case::{Case, Data, SINGLES};
use crate::exact::{Exact, sample};
use crate::suite::borders;
use apron::{AnyImage, Border, Extent, PixelType, Region};
use apron_core::{Correlate, Fft, Kind, Tiling};

impl Case {
    /// Restates a correlation to f32 by transforms of tiles.
    pub fn by_fft(self) -> Case {
        let Correlate { shape, src, mask, border, extent, .. } =
            Correlate::of(&self.problem).expect("a correlation").clone();
        Case { problem: Fft { shape, src, mask, border, extent }.into(), ..self }
    }
}

/// Adds every type, border and number of channels; images of one tile and of several, with outputs beyond the last;
/// regions and full extents; NaN and infinities; each side of tiles.
pub(crate) fn transforms(next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    const F32: PixelType = PixelType::F32;
    let mut add = |size: (u32, u32, u32), src, mask: (u32, u32), border, extent, data| {
        let border = if mask.0 > size.0 || mask.1 > size.1 { Border::Reflect101 } else { border };
        let case = Case::correlate(next(), size, (src, F32), mask, border, data);
        cases.push(case.over(extent).by_fft());
    };
    for (n, src) in SINGLES.into_iter().enumerate() {
        for (m, border) in borders().into_iter().enumerate() {
            let channels = (n + m) as u32 % 4 + 1;
            let mask = [(5, 4), (64, 65), (1, 17), (40, 1), (65, 3)][(n + m) % 5];
            add((61 + 40 * m as u32, 35 + 30 * n as u32, channels), src, mask, border, Extent::Same, Data::Uniform);
        }
    }
    for (x, y, width, height) in [(0, 0, 7, 9), (50, 40, 130, 100), (-30, -200, 90, 300)] {
        let region = Extent::Region(Region { x, y, width, height });
        add((150, 140, 2), F32, (33, 20), Border::Reflect, region, Data::Uniform);
    }
    add((70, 61, 1), PixelType::U8, (33, 40), Border::Constant(1.5), Extent::Full, Data::Uniform);
    // Tiles of each side along each axis.
    for (n, mask) in [(66, 3), (1, 129), (130, 60), (257, 300), (513, 2), (70, 400)].into_iter().enumerate() {
        let (src, border) = ([F32, PixelType::U8, PixelType::I16][n % 3], borders()[n]);
        add((150 + n as u32, 70, 1 + n as u32 % 3), src, mask, border, Extent::Same, Data::Uniform);
    }
    add((700, 1100, 1), F32, (200, 70), Border::Wrap, Extent::Same, Data::Uniform);
    for data in [Data::Special, Data::Constant] {
        add((140, 130, 1), F32, (9, 9), Border::Wrap, Extent::Same, data);
    }
}

/// Returns the exact results of a problem, whose bounds follow from the norms of the tiles.
pub(crate) fn exact<'a>(problem: &'a Fft, image: &'a AnyImage<'_>) -> impl Fn(u32, u32, u32) -> Exact + 'a {
    let Fft { shape, src, ref mask, border, extent } = *problem;
    let direct = Correlate { shape, src, dst: PixelType::F32, mask: mask.clone(), border, clamp: false, extent };
    let tiling = problem.tiling().expect("checked by the caller");
    let norms = norms(problem, &tiling, image);
    let taps: f64 = mask.taps().iter().map(|tap| tap.abs() as f64).sum();
    move |x, y, channel| {
        let [tile_x, tile_y] =
            [0, 1].map(|axis| ([x, y][axis] as i32 - tiling.out_first[axis]) as u32 / tiling.outputs[axis]);
        let norm = norms[((tile_y * tiling.tiles[0] + tile_x) * shape.channels + channel) as usize];
        let exact = crate::exact::correlate(&direct, image, x, y, channel);
        let bound = problem.error_bound() * norm * taps;
        // Numbers that may overflow on the way have no bound: their sums reach the norm times the numbers of a
        // tile. A norm may be NaN.
        let largest = norm * taps.max(1.0) * (tiling.sides[0] * tiling.sides[1]) as f64;
        let fits = largest <= f32::MAX as f64;
        Exact { value: if fits { exact.value } else { f64::NAN }, bound: bound + 1e-37 }
    }
}

/// Returns the Euclidean norms of the tiles, by rows of tiles, tiles and channels.
fn norms(problem: &Fft, tiling: &Tiling, image: &AnyImage<'_>) -> Vec<f64> {
    let mut norms = Vec::new();
    for tile in 0..tiling.tiles[0] * tiling.tiles[1] {
        let at = [tile % tiling.tiles[0] * tiling.outputs[0], tile / tiling.tiles[0] * tiling.outputs[1]];
        let [left, top] = [0, 1].map(|axis| tiling.first[axis] + at[axis] as i32);
        for channel in 0..problem.shape.channels {
            let rows = (top..).take(tiling.sides[1] as usize);
            let squares = rows.flat_map(|y| (left..).take(tiling.sides[0] as usize).map(move |x| (x, y)));
            let square: f64 = squares.map(|(x, y)| sample(image, problem.border, x, y, channel).powi(2)).sum();
            norms.push(square.sqrt());
        }
    }
    norms
}
