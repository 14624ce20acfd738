//! Taps along x, y and z over f32, in one launch that marches through the planes.
//!
//! ```text
//! each block: 64 x 32 outputs, in some planes; each plane of the input from front to back:
//!     the tile with its halo, which was loaded while the plane before was summed: into shared memory; load the next one
//!     sums along x of all rows of the tile: four adjacent ones per thread, into shared memory
//!     sums along y: four of a column per thread, in registers
//!     add each to the sums along z of all outputs that see this plane: a ring in registers; the oldest is done
//! ```
//!
//! Each sample is read from global memory once, but for halos, and each result written once. A sum takes its taps in their order: along
//! x, then y, then z.

use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{
    volumes_march_tile, BorderMode, VolumesMarchParams, VOLUMES_MARCH_BLOCK, VOLUMES_MARCH_DOWN, VOLUMES_MARCH_TILE,
};

/// The kernel for up to `TAPS` taps along each axis.
///
/// Launch contract: volumes of one channel, of fewer than 2^30 samples per plane, in buffers as large as the parameters say.
pub struct March<const TAPS: usize>;

const BLOCK: u32 = VOLUMES_MARCH_BLOCK;
const COLUMNS: u32 = VOLUMES_MARCH_TILE[0];
const DOWN: usize = VOLUMES_MARCH_DOWN as usize;
/// Most samples of a tile that a thread loads: those of 17 taps.
const LOADS: usize = 8;
/// Most samples under four adjacent outputs: those of 17 taps.
const WINDOW: usize = 20;

/// Places of samples outside along x and y, whose values are constant.
const OUTSIDE: [u32; 2] = [u32::MAX, u32::MAX - 1];

impl<const TAPS: usize> March<TAPS> {
    /// Columns and rows of the tile.
    const TILE: [u32; 2] = volumes_march_tile(TAPS as u32);
    const SAMPLES: u32 = Self::TILE[0] * Self::TILE[1];

    /// Returns the places of a thread's samples of the tile, in each plane.
    #[inline(always)]
    fn places(thread: u32, corner: [i32; 2], p: &VolumesMarchParams) -> [u32; LOADS] {
        let (along_x, along_y) = (BorderMode::from_u32(p.borders[0]), BorderMode::from_u32(p.borders[1]));
        let mut places = [0; LOADS];
        for k in 0..LOADS {
            let element = thread + k as u32 * BLOCK;
            let (column, row) = (element % Self::TILE[0], element / Self::TILE[0]);
            let x = along_x.map(corner[0] + column as i32, p.sides[0] as i32);
            let y = along_y.map(corner[1] + row as i32, p.sides[1] as i32);
            places[k] = match (x, y) {
                (_, None) => OUTSIDE[1],
                (None, _) => OUTSIDE[0],
                (Some(x), Some(y)) => y as u32 * p.sides[0] + x as u32,
            };
        }
        places
    }

    /// Loads a thread's samples of the tile in plane `z` of the extended volume.
    ///
    /// # Safety
    /// The launch contract holds.
    #[inline(always)]
    unsafe fn fetch<D: Device>(
        d: D,
        src: Global<f32>,
        places: [u32; LOADS],
        z: i32,
        p: &VolumesMarchParams,
    ) -> [f32; LOADS] {
        let mut samples = [p.constants[2]; LOADS];
        let Some(z) = BorderMode::from_u32(p.borders[2]).map(z, p.sides[2] as i32) else { return samples };
        let plane = z as u32 as u64 * p.sides[0] as u64 * p.sides[1] as u64;
        for k in 0..LOADS {
            if (k as u32 * BLOCK) < Self::SAMPLES {
                samples[k] = if places[k] == OUTSIDE[1] {
                    p.constants[1]
                } else if places[k] == OUTSIDE[0] {
                    p.constants[0]
                } else {
                    // SAFETY: in the plane.
                    unsafe { d.load(src, plane + places[k] as u64) }
                };
            }
        }
        samples
    }

    /// Sums along x, for all rows of the tile, four adjacent ones at a time.
    ///
    /// # Safety
    /// The tile is complete, and no thread reads the sums of the plane before any more.
    #[inline(always)]
    unsafe fn across<D: Device, const ALL: bool>(
        d: D,
        thread: u32,
        tile: Shared<f32>,
        sums: Shared<f32>,
        p: &VolumesMarchParams,
    ) {
        let units = Self::TILE[1] * COLUMNS / 4;
        let mut unit = thread;
        while unit < units {
            let (row, first) = (unit / (COLUMNS / 4), unit % (COLUMNS / 4) * 4);
            let mut window = [0.0; WINDOW];
            for k in 0..WINDOW / 4 {
                if 4 * k < TAPS + 3 {
                    // SAFETY: in the tile, whose rows are whole groups of four.
                    let four = unsafe { d.shared_load4(tile, row * Self::TILE[0] + first + 4 * k as u32) };
                    for x in 0..4 {
                        window[4 * k + x] = four[x];
                    }
                }
            }
            let mut four = [0.0; 4];
            for i in 0..TAPS {
                if ALL || (i as u32) < p.taps[0] {
                    // SAFETY: there are places for `TAPS` taps.
                    let tap = unsafe { d.tap(i as u32) };
                    for x in 0..4 {
                        four[x] = d.fma(tap, window[x + i], four[x]);
                    }
                }
            }
            // SAFETY: in the rows of sums, and no other thread's.
            unsafe { d.shared_store4(sums, row * COLUMNS + first, four) };
            unit += BLOCK;
        }
    }

    /// Returns a thread's sums along y.
    ///
    /// # Safety
    /// The sums along x are complete.
    #[inline(always)]
    unsafe fn down<D: Device, const ALL: bool>(
        d: D,
        (column, row): (u32, u32),
        sums: Shared<f32>,
        p: &VolumesMarchParams,
    ) -> [f32; DOWN] {
        let mut of_rows = [0.0; DOWN];
        for j in 0..TAPS + DOWN - 1 {
            // SAFETY: in the rows of sums.
            let sample = unsafe { d.shared_load(sums, (row + j as u32) * COLUMNS + column) };
            for r in 0..DOWN {
                if j >= r && j - r < TAPS && (ALL || ((j - r) as u32) < p.taps[1]) {
                    // SAFETY: there are places for `TAPS` taps.
                    let tap = unsafe { d.tap((TAPS + j - r) as u32) };
                    of_rows[r] = d.fma(tap, sample, of_rows[r]);
                }
            }
        }
        of_rows
    }

    /// Goes through the planes; with `ALL`, an axis has `TAPS` taps, and no tap is compared with their number.
    ///
    /// # Safety
    /// The launch contract holds.
    #[inline(always)]
    unsafe fn planes<D: Device, const ALL: bool>(d: D, src: Global<f32>, dst: Global<f32>, p: &VolumesMarchParams) {
        let thread = d.thread_x();
        // SAFETY: a plane has rows.
        let (part, band) = unsafe { div_rem(d.block_y(), p.bands) };
        let (left, top, front) = (d.block_x() * COLUMNS, band * VOLUMES_MARCH_TILE[1], part * p.planes);
        if front >= p.out[2] {
            return;
        }
        let rest = p.out[2] - front;
        let outputs = if rest < p.planes { rest } else { p.planes };
        let (tile, sums) = (Shared::<f32>::at(0), Shared::<f32>::at(Self::SAMPLES * 4));
        let places = Self::places(thread, [left as i32 + p.origin[0], top as i32 + p.origin[1]], p);
        let first = front as i32 + p.origin[2];
        // Taps along z are at the end of their places.
        let unused = TAPS as u32 - p.taps[2];
        let mut ring = [[0.0; TAPS]; DOWN];
        // SAFETY: the launch contract; shared memory is read and written between barriers, as each step says.
        unsafe {
            let mut samples = Self::fetch(d, src, places, first, p);
            for k in 0..outputs + p.taps[2] - 1 {
                // What depends on the thread alone is recomputed, and takes no registers of the ring's.
                let thread = d.anew(thread);
                for e in 0..LOADS {
                    let element = thread + e as u32 * BLOCK;
                    if (e as u32 * BLOCK) < Self::SAMPLES && element < Self::SAMPLES {
                        d.shared_store(tile, element, samples[e]);
                    }
                }
                if k + 1 < outputs + p.taps[2] - 1 {
                    samples = Self::fetch(d, src, places, first + k as i32 + 1, p);
                }
                d.barrier();
                Self::across::<D, ALL>(d, thread, tile, sums, p);
                d.barrier();
                let thread = d.anew(thread);
                let (column, row) = (thread % COLUMNS, thread / COLUMNS * VOLUMES_MARCH_DOWN);
                let plane = Self::down::<D, ALL>(d, (column, row), sums, p);
                let left = d.anew(d.block_x()) * COLUMNS;
                for r in 0..DOWN {
                    for s in (0..TAPS).rev() {
                        let first = s == 0 || (!ALL && s as u32 == unused);
                        let before = if first { 0.0 } else { ring[r][s - 1] };
                        ring[r][s] = d.fma(d.tap((2 * TAPS + s) as u32), plane[r], before);
                    }
                    let (x, y) = (left + column, top + row + r as u32);
                    if k + 1 >= p.taps[2] && x < p.out[0] && y < p.out[1] {
                        let sum = ring[r][TAPS - 1];
                        let sum = if p.divisor == 1.0 { sum } else { sum / p.divisor };
                        let z = front + k + 1 - p.taps[2];
                        let at = (z as u64 * p.out[1] as u64 + y as u64) * p.out[0] as u64 + x as u64;
                        d.store(dst, at, sum);
                    }
                }
            }
        }
    }
}

impl<const TAPS: usize> Body for March<TAPS> {
    type Src = f32;
    type Dst = f32;
    type Params = VolumesMarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &VolumesMarchParams) {
        let most = TAPS as u32;
        // SAFETY: the launch contract.
        unsafe {
            if p.taps[0] == most && p.taps[1] == most && p.taps[2] == most {
                Self::planes::<D, true>(d, src, dst, p);
            } else {
                Self::planes::<D, false>(d, src, dst, p);
            }
        }
    }
}
