//! Every byte replaced by the bilinear mean of what the tables of the four tiles around it have for it.
//!
//! Per byte: five global loads, four of them of tables, which are small and so in the caches.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{between_tiles, bilinear, FromSum, TilesParams, BYTE_BINS, SIMPLE_BLOCK};

/// The kernel: a thread a pixel.
///
/// Launch contract: input and output hold the image, the tables 256 bytes for each channel of each tile; the grid has a
/// thread for each pixel.
pub struct Blend;

impl Body for Blend {
    type Src = u8;
    type Dst = u8;
    type Params = TilesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &TilesParams) {
        let x = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
        let y = d.block_y() * SIMPLE_BLOCK[1] + d.thread_y();
        if x >= p.width || y >= p.height {
            return;
        }
        let (rows, down) = between_tiles(y, p.inverse_y, p.down);
        let (columns, across) = between_tiles(x, p.inverse_x, p.across);
        let tables = Global::<u8>::at(p.tables);
        let first = (y as u64 * p.width as u64 + x as u64) * p.channels as u64;
        let mut channel = 0;
        while channel < p.channels {
            // SAFETY: inside the image; an entry for each byte in the tables of every tile.
            unsafe {
                let byte = d.load(src, first + channel as u64) as u32;
                let entry = |row: u32, column: u32| {
                    let tile = (row * p.across + column) * p.channels + channel;
                    d.load(tables, (tile * BYTE_BINS + byte) as u64) as f32
                };
                let four = [
                    [entry(rows[0], columns[0]), entry(rows[0], columns[1])],
                    [entry(rows[1], columns[0]), entry(rows[1], columns[1])],
                ];
                d.store(dst, first + channel as u64, u8::from_sum(bilinear(four, across, down)));
            }
            channel += 1;
        }
    }
}
