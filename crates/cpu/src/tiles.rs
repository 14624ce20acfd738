//! Division of an output image into tiles that are computed in parallel.

use crate::parallel;
use apron_core::{ImageMut, Pixel};

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
    let tile_row = (SEEN_SAMPLES / seen).max(512).next_multiple_of(channels).min(row);
    let columns = row.div_ceil(tile_row);
    let share = shape.height as usize / (TILES * parallel::threads() as usize).div_ceil(columns);
    let tall = (TILE_SAMPLES / tile_row).max(HALOS * halo.1);
    // Bands of nearly equal height, and one per thread at least.
    let one_each = (shape.height as usize).div_ceil((parallel::threads() as usize).div_ceil(columns));
    let tile_height = tall.min(share.max(one_each.min(LEAST_HALOS * halo.1))).max(8);
    let tile_height = (shape.height as usize).div_ceil((shape.height as usize / tile_height).max(1));
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
