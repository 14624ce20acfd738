//! Taps along x, y and z, in one launch that marches through the planes.
//!
//! ```text
//! each block: 64 columns of 32 rows (16 if sums are f64) in each of `p.planes` planes
//! for each input plane, from front to back, with one barrier:
//!     start copying the tile of a later plane into shared memory
//!     sums along x of all rows of this plane's tile: four adjacent sums per thread, into shared memory
//!     sums along y of the previous plane: two or four of a column per thread, in registers
//!     add each to the sums along z of all outputs whose taps cover that plane: a ring in registers
//!     store the oldest sum, which is complete
//! ```
//!
//! Each sample is read from global memory once, except for halos, and each result written once. A sum adds its products
//! in the order of the taps: along x, then y, then z.

use super::tap;
use super::tiles::{Marched, Part, Tiles, COPIES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{
    volumes_march_block, volumes_march_has_fewer, volumes_march_pitch, volumes_march_stages, volumes_march_tile,
    Accumulator, Element, VolumesMarchParams, VOLUMES_MARCH_COLUMNS,
};
use core::marker::PhantomData;

/// The kernel over samples of type `S`, for `DOWN` outputs per thread and `TAPS` taps along each axis. With f32 sums, 9
/// and 17 `TAPS` also take fewer taps, whose number is then checked. For integers missing taps are zeros, which add
/// nothing to the sums. With f64 sums `TAPS` is one more than a multiple of four.
///
/// Launch contract: volumes of one channel, of fewer than 2^30 samples per plane, in buffers as large as the parameters
/// say; the taps are `TAPS` along x, `TAPS` along y, and `TAPS` along z.
pub struct March<S, const TAPS: usize, const DOWN: usize>(PhantomData<S>);

const COLUMNS: u32 = VOLUMES_MARCH_COLUMNS;
/// Most samples under four adjacent outputs: those of 17 taps.
const WINDOW: usize = 20;

impl<S: Marched, const TAPS: usize, const DOWN: usize> March<S, TAPS, DOWN> {
    /// Whether sums are f64.
    const WIDE: bool = S::Sum::TYPE.size_bytes() == 8;
    /// Threads per block.
    const BLOCK: u32 = volumes_march_block(S::Sum::TYPE.size_bytes(), DOWN as u32);
    /// Columns and rows of the tile.
    const TILE: [u32; 2] = volumes_march_tile(TAPS as u32, S::Sum::TYPE.size_bytes());
    const STAGES: u32 = volumes_march_stages(TAPS as u32);
    /// Whether an axis may have fewer taps than `TAPS`.
    const HAS_FEWER: bool = !Self::WIDE && volumes_march_has_fewer(TAPS as u32);

    /// Samples of a tile.
    const SAMPLES: u32 = Self::TILE[0] * Self::TILE[1];
    /// Pitch of the rows of sums along x, in sums.
    const PITCH: u32 = volumes_march_pitch(S::Sum::TYPE.size_bytes());

    /// Computes the sums along x of all rows of the tile, four adjacent sums at a time.
    ///
    /// # Safety
    /// The tile is complete, and no thread reads the sums that are overwritten any more.
    #[inline(always)]
    unsafe fn across<D: Device, const ALL: bool>(
        d: D,
        tile: Shared<S::Held>,
        sums: Shared<S::Sum>,
        p: &VolumesMarchParams,
    ) {
        let units = Self::TILE[1] * COLUMNS / 4;
        let mut unit = d.anew(d.thread_x());
        while unit < units {
            let (row, first) = (unit / (COLUMNS / 4), unit % (COLUMNS / 4) * 4);
            // SAFETY: rows of the tile are whole groups of four, with room for all windows; one thread writes each sum.
            unsafe {
                let four = |k| {
                    let [a, b, c, e] = d.shared_load4(tile, row * Self::TILE[0] + first + 4 * k);
                    [S::number(a), S::number(b), S::number(c), S::number(e)]
                };
                let of_units = Self::four::<D, ALL>(d, (0, d.anew(p.taps[0])), four);
                if Self::WIDE {
                    for x in 0..4 {
                        d.shared_store(sums, row * Self::PITCH + Self::place(first + x as u32), of_units[x]);
                    }
                } else {
                    d.shared_store4(sums, row * Self::PITCH + first, of_units);
                }
            }
            unit += Self::BLOCK;
        }
    }

    /// Returns the place of a column's sum in its row; f64 sums are permuted against bank conflicts.
    #[inline(always)]
    fn place(column: u32) -> u32 {
        if Self::WIDE {
            column % 4 * (Self::PITCH / 4) + column / 4
        } else {
            column
        }
    }

    /// Returns four sums whose windows start at adjacent samples. `four(k)` returns samples `4 * k` to `4 * k + 3`; the
    /// taps start at `first`.
    ///
    /// # Safety
    /// The launch has `TAPS` taps from `first` on.
    #[inline(always)]
    unsafe fn four<D: Device, const ALL: bool>(
        d: D,
        (first, taps): (u32, u32),
        four: impl Fn(u32) -> [S::Sum; 4],
    ) -> [S::Sum; 4] {
        let mut sums = [S::Sum::ZERO; 4];
        if Self::WIDE {
            // Four taps at a time, and not the whole window, since the registers also hold the sums along z. For the
            // same reason more than 13 taps are in a loop whose length the compiler does not know.
            let mut samples = four(0);
            let end = if TAPS > 13 { taps / 4 } else { TAPS as u32 / 4 };
            for k in 0..end {
                let next = four(k + 1);
                for i in 0..4 {
                    // SAFETY: the caller's promise.
                    let tap = unsafe { tap(d, first + 4 * k + i as u32) };
                    for x in 0..4 {
                        let sample = if x + i < 4 { samples[x + i] } else { next[x + i - 4] };
                        sums[x] = d.fma(tap, sample, sums[x]);
                    }
                }
                samples = next;
            }
            // SAFETY: the caller's promise.
            let last = unsafe { tap(d, first + TAPS as u32 - 1) };
            for x in 0..4 {
                sums[x] = d.fma(last, samples[x], sums[x]);
            }
            return sums;
        }
        let mut window = [S::Sum::ZERO; WINDOW];
        if ALL {
            for k in 0..WINDOW / 4 {
                if 4 * k < TAPS + 3 {
                    let samples = four(k as u32);
                    for x in 0..4 {
                        window[4 * k + x] = samples[x];
                    }
                }
            }
            for i in 0..TAPS {
                // SAFETY: the caller's promise.
                let tap = unsafe { tap(d, first + i as u32) };
                for x in 0..4 {
                    sums[x] = d.fma(tap, window[x + i], sums[x]);
                }
            }
            return sums;
        }
        let mut samples = four(0);
        let mut k = 0;
        while 4 * k < taps {
            // If only one tap is left, it needs no samples after the first four.
            let next = if 4 * k + 1 < taps { four(k + 1) } else { [S::Sum::ZERO; 4] };
            for x in 0..4 {
                (window[x], window[4 + x]) = (samples[x], next[x]);
            }
            for i in 0..4 {
                if 4 * k + (i as u32) < taps {
                    // SAFETY: the caller's promise.
                    let tap = unsafe { tap(d, first + 4 * k + i as u32) };
                    for x in 0..4 {
                        sums[x] = d.fma(tap, window[x + i], sums[x]);
                    }
                }
            }
            samples = next;
            k += 1;
        }
        sums
    }

    /// Returns a thread's sums along y: `DOWN` sums of a column.
    ///
    /// # Safety
    /// The sums along x are complete.
    #[inline(always)]
    unsafe fn down<D: Device, const ALL: bool>(
        d: D,
        (column, row): (u32, u32),
        sums: Shared<S::Sum>,
        p: &VolumesMarchParams,
    ) -> [S::Sum; 4] {
        let four = |k: u32| {
            let mut samples = [S::Sum::ZERO; 4];
            for j in 0..4 {
                // Groups of four are whole, except with two outputs per thread, and in the last group of all taps.
                if (!ALL && DOWN == 4) || 4 * k + j < (TAPS + DOWN - 1) as u32 {
                    // SAFETY: the rows under the thread's outputs have sums, complete since the barrier.
                    samples[j as usize] =
                        unsafe { d.shared_load(sums, (row + 4 * k + j) * Self::PITCH + Self::place(column)) };
                }
            }
            samples
        };
        // SAFETY: the launch has `TAPS` taps along y after those along x.
        unsafe { Self::four::<D, ALL>(d, (TAPS as u32, d.anew(p.taps[1])), four) }
    }

    /// Marches through the planes. With `ALL`, every axis has `TAPS` taps, and their number is not checked.
    ///
    /// # Safety
    /// The launch contract holds.
    #[inline(always)]
    unsafe fn planes<D: Device, const ALL: bool>(
        d: D,
        (part, tiles): (&Part, &Tiles<D, S, TAPS, DOWN>),
        dst: Global<S>,
        p: &VolumesMarchParams,
    ) {
        let tile = |stage: u32| Shared::<S::Held>::at(stage * Self::SAMPLES * 4);
        let bytes = Self::PITCH * Self::TILE[1] * S::Sum::TYPE.size_bytes();
        let sums = |k: u32| Shared::<S::Sum>::at(Self::STAGES * Self::SAMPLES * 4 + k % 2 * bytes);
        // The first `ahead` steps only copy; the last steps copy nothing.
        let (inputs, ahead) = (part.planes + p.taps[2] - 1, Self::STAGES - 1);
        let mut ring = [[S::Sum::ZERO; TAPS]; DOWN];
        let mut stage = 0;
        for k in 0..inputs + ahead + 1 {
            // SAFETY: the launch contract. Stages and sums are overwritten only after the barrier that follows their
            // last use.
            unsafe {
                match Self::STAGES {
                    2 => d.wait_copies::<0>(),
                    _ => d.wait_copies::<1>(),
                }
                d.barrier();
                let oldest = if stage + 1 == Self::STAGES { 0 } else { stage + 1 };
                let mut held = [0; COPIES];
                if k < inputs && !S::AS_IT_IS {
                    tiles.start(k, tile(stage), &mut held);
                }
                if k >= ahead && k - ahead < inputs {
                    Self::across::<D, ALL>(d, tile(oldest), sums(k), p);
                }
                if k < inputs && S::AS_IT_IS {
                    tiles.start(k, tile(stage), &mut held);
                }
                // One group of copies per step, even if it is empty, so that the waits count the same groups.
                d.end_copies();
                if k > ahead {
                    let finished = (k - ahead).checked_sub(p.taps[2]);
                    Self::finish::<D, ALL>(d, (part, finished), sums(k + 1), &mut ring, dst, p);
                }
                if k < inputs {
                    tiles.put(tile(stage), &held);
                }
                stage = oldest;
            }
        }
    }

    /// Sums a plane along y, and adds it to the sums along z; stores output plane `finished` of the block.
    ///
    /// # Safety
    /// The sums along x are complete.
    #[inline(always)]
    unsafe fn finish<D: Device, const ALL: bool>(
        d: D,
        (part, finished): (&Part, Option<u32>),
        sums: Shared<S::Sum>,
        ring: &mut [[S::Sum; TAPS]; DOWN],
        dst: Global<S>,
        p: &VolumesMarchParams,
    ) {
        // Recomputed, so that the thread's place takes no registers from the ring.
        let place = || {
            let thread = d.anew(d.thread_x());
            (thread % COLUMNS, thread / COLUMNS * DOWN as u32)
        };
        // The taps along z are the last of their `TAPS` places.
        let unused = TAPS as u32 - d.anew(p.taps[2]);
        // SAFETY: the caller's promise; each output belongs to one thread.
        unsafe {
            let plane = Self::down::<D, ALL>(d, place(), sums, p);
            for r in 0..DOWN {
                for s in (0..TAPS).rev() {
                    let first = s == 0 || (!ALL && s as u32 == unused);
                    let before = if first { S::Sum::ZERO } else { ring[r][s - 1] };
                    ring[r][s] = d.fma(tap(d, (2 * TAPS + s) as u32), plane[r], before);
                }
                if let Some(z) = finished {
                    let (column, row) = place();
                    part.store(d, dst, [column, row + r as u32, z], ring[r][TAPS - 1], S::from_sum, p);
                }
            }
        }
    }
}

impl<S: Marched, const TAPS: usize, const DOWN: usize> Body for March<S, TAPS, DOWN> {
    type Src = S;
    type Dst = S;
    type Params = VolumesMarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S>, dst: Global<S>, p: &VolumesMarchParams) {
        let Some(part) = Part::of::<D, S>(d, p) else { return };
        let tiles = Tiles::of(d, src, &part, p);
        // SAFETY: the launch contract.
        unsafe {
            if !Self::HAS_FEWER || Tiles::<D, S, TAPS, DOWN>::is_full(p) {
                Self::planes::<D, true>(d, (&part, &tiles), dst, p);
            } else {
                Self::planes::<D, false>(d, (&part, &tiles), dst, p);
            }
        }
    }
}
