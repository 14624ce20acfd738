//! Division of an output image into tiles that are computed in parallel.

use crate::parallel;
use apron_core::{ImageMut, Pixel};
use std::ops::Range;

/// Approximate number of samples in the rows under a mask: half of a core's second-level cache.
const SEEN_SAMPLES: usize = 1 << 17;
/// Approximate number of sums per tile: enough work for a task.
const TILE_SAMPLES: usize = 1 << 16;
/// Preferred and least height of a tile, in multiples of its halo, which is computed again by neighbouring tiles.
const HALOS: usize = 16;
const LEAST_HALOS: usize = 4;
/// Least number of tiles per thread, for load balance.
const TILES: usize = 4;

/// A tile of the output.
pub(crate) struct Tile<'a, O> {
    /// First output column.
    pub(crate) x: usize,
    /// First output row.
    pub(crate) y: usize,
    /// The tile's rows, of equal length.
    pub(crate) rows: Vec<&'a mut [O]>,
}

/// Buffers that a thread reuses for all its tiles: fresh memory would cost a page fault every 4 KiB.
#[derive(Default)]
pub(crate) struct Scratch<S> {
    pub(crate) samples: Buffer<S>,
    pub(crate) lines: Buffer<S>,
    pub(crate) sums: Buffer<S>,
}

/// A buffer that grows to the largest requested size.
#[derive(Default)]
pub(crate) struct Buffer<S>(Vec<S>);

impl<S: Copy + Default> Buffer<S> {
    /// Returns `count` samples of unspecified value.
    pub(crate) fn take(&mut self, count: usize) -> &mut [S] {
        if self.0.len() < count {
            self.0 = vec![S::default(); count];
        }
        &mut self.0[..count]
    }
}

/// Computes every tile of `out`. `halo` is the number of additional samples per row, and of rows, that a tile reads;
/// `seen` is the number of rows that should stay in cache.
pub(crate) fn for_each<O: Pixel, W: Default>(
    mut out: ImageMut<'_, O>,
    halo: (usize, usize),
    seen: usize,
    work: &(dyn Fn(&mut W, Tile<'_, O>) + Sync),
) {
    let (shape, stride) = (out.shape(), out.row_stride());
    let (row, channels) = (shape.row_samples(), shape.channels as usize);
    let columns = row.div_ceil((SEEN_SAMPLES / seen).max(512));
    // Tiles of nearly equal width.
    let tile_row = (row / channels).div_ceil(columns) * channels;
    let columns = row.div_ceil(tile_row);
    let tile_height = height(shape.height as usize, (tile_row, columns), halo.1);
    let bands = out.spanned_mut().chunks_mut(stride * tile_height).enumerate();
    let tiles: Vec<Tile<'_, O>> = bands
        .flat_map(|(band, out)| {
            let mut parts: Vec<_> = out.chunks_mut(stride).map(|out| out[..row].chunks_mut(tile_row)).collect();
            (0..columns).map(move |i| {
                let rows = parts.iter_mut().filter_map(Iterator::next).collect();
                Tile { x: i * tile_row / channels, y: band * tile_height, rows }
            })
        })
        .collect();
    parallel::items(tiles, work);
}

/// A band of whole rows of the output.
pub(crate) struct Band<'a, O: Pixel> {
    pub(crate) rows: Range<u32>,
    pub(crate) out: ImageMut<'a, O>,
}

/// Computes every band of `out`. `halo` is the number of additional rows that a band reads.
pub(crate) fn bands<O: Pixel, W: Default>(
    mut out: ImageMut<'_, O>,
    halo: usize,
    work: &(dyn Fn(&mut W, Band<'_, O>) + Sync),
) {
    let (shape, stride) = (out.shape(), out.row_stride());
    let height = band_height(&out, halo);
    let bands = out.spanned_mut().chunks_mut(stride * height as usize).zip((0..).step_by(height as usize)).collect();
    parallel::items(bands, &|scratch, (out, first): (&mut [O], u32)| {
        let rows = first..(first + height).min(shape.height);
        let out = ImageMut::with_row_stride(shape.width, rows.end - rows.start, shape.channels, stride, out);
        work(scratch, Band { rows, out: out.expect("a part of an image") });
    });
}

/// Returns the number of rows of the bands of [`bands`].
pub(crate) fn band_height<O: Pixel>(out: &ImageMut<'_, O>, halo: usize) -> u32 {
    let shape = out.shape();
    height(shape.height as usize, (shape.row_samples(), 1), halo) as u32
}

/// Returns the height of tiles with rows of this length, in this number of columns.
fn height(all: usize, (tile_row, columns): (usize, usize), halo: usize) -> usize {
    let threads = parallel::threads() as usize;
    let share = if threads == 1 { all } else { all / (TILES * threads).div_ceil(columns) };
    let tall = (TILE_SAMPLES / tile_row).max(HALOS * halo);
    // Bands of nearly equal height, and one per thread at least.
    let one_each = all.div_ceil(threads.div_ceil(columns));
    let height = tall.min(share.max(one_each.min(LEAST_HALOS * halo))).max(8);
    all.div_ceil((all / height).max(1))
}
