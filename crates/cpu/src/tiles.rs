//! Cutting an output image into tiles that are computed in parallel.

use apron_core::{Error, Result, Shape};
use rayon::prelude::*;

/// Sums that a tile holds, about: they and the rows under them fit a core's second-level cache.
const TILE_SAMPLES: usize = 1 << 16;
/// Longest row of a tile, in samples, about: long enough for the memory's prefetching.
const TILE_ROW: usize = 2048;
/// Most samples that a tile reads, about, unless its mask needs more.
const READ_SAMPLES: usize = 1 << 20;

/// A part of the output.
pub(crate) struct Tile<'a, O> {
    /// First output column.
    pub(crate) x: usize,
    /// First output row.
    pub(crate) y: usize,
    /// The tile's rows, of equal length.
    pub(crate) rows: Vec<&'a mut [O]>,
}

/// Whether `out` is an image of this shape, packed.
pub(crate) fn check_length<O>(out: &[O], shape: Shape) -> Result<()> {
    if out.len() as u64 == shape.samples() {
        return Ok(());
    }
    let limit = format!("{} for {shape}", shape.samples());
    Err(Error::Shape { what: "number of samples", value: out.len().to_string(), limit })
}

/// Computes every tile of `out`, which is packed and of `shape`. `halo` is by how many samples and
/// rows a tile reads more than it writes.
pub(crate) fn for_each<O: Send>(out: &mut [O], shape: Shape, halo: (usize, usize), work: impl Fn(Tile<'_, O>) + Sync) {
    let (row, channels) = (shape.row_samples(), shape.channels as usize);
    let tile_width = (TILE_ROW / channels).min(shape.width as usize);
    let tile_row = tile_width * channels;
    // A taller mask is worth taller tiles, because neighbours read its halo twice.
    let tall = (TILE_SAMPLES / tile_row).max(4 * halo.1);
    let fit = (READ_SAMPLES / (tile_row + halo.0)).saturating_sub(halo.1).max(8);
    let tile_height = tall.min(fit).min(shape.height as usize);
    out.par_chunks_mut(row * tile_height).enumerate().for_each(|(band, out)| {
        let mut parts: Vec<_> = out.chunks_mut(row).map(|row| row.chunks_mut(tile_row)).collect();
        let tiles: Vec<Vec<_>> =
            (0..row.div_ceil(tile_row)).map(|_| parts.iter_mut().filter_map(Iterator::next).collect()).collect();
        tiles
            .into_par_iter()
            .enumerate()
            .for_each(|(i, rows)| work(Tile { x: i * tile_width, y: band * tile_height, rows }));
    });
}
