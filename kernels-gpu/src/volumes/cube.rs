//! A dense mask of up to 5x5x5 taps, in one launch that marches through the planes.
//!
//! ```text
//! each block: 64 x 32 outputs (64 x 16 if sums are f64) in each of `p.planes` planes; one barrier per input plane:
//!     start copying the tile of a later plane into shared memory
//!     two or four outputs of a column per thread: load the samples of this plane under them, row by row
//!     add their products to the sums of all outputs whose masks cover this plane: a ring in registers
//!     store the oldest sum, which is complete
//! ```
//!
//! Each sample is read from global memory once, except for halos, and each result written once. A sum adds its products
//! plane by plane from the front, row by row from the top, from the left.

use super::cut::{cut, narrowed};
use super::tap;
use super::tiles::{Marched, Part, Tiles, COPIES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{
    volumes_march_stages, volumes_march_tile, Accumulator, Element, Sample, VolumesMarchParams, VOLUMES_CUBE_SIDES,
    VOLUMES_MARCH_COLUMNS,
};
use core::marker::PhantomData;

/// The kernel over samples of type `S`, for masks of `SIDE` taps along each axis, and `DOWN` outputs per thread. For
/// floats and a `SIDE` of 5, masks may have fewer taps, whose number is then checked. For integers the missing taps are
/// zeros, which add nothing to the sums.
///
/// Launch contract: volumes of one channel, of fewer than 2^30 samples per plane, in buffers as large as the parameters
/// say; the taps are `SIDE` planes of `SIDE` rows of `SIDE`, with those of the mask in the last planes, and there in
/// the first rows and columns. Sums that are cut have 32 bits.
pub struct Cube<S, const SIDE: usize, const DOWN: usize>(PhantomData<S>);

const COLUMNS: u32 = VOLUMES_MARCH_COLUMNS;

impl<S: Marched, const SIDE: usize, const DOWN: usize> Cube<S, SIDE, DOWN> {
    /// Columns and rows of the tile.
    const TILE: [u32; 2] = volumes_march_tile(SIDE as u32, S::Sum::TYPE.size_bytes());
    const STAGES: u32 = volumes_march_stages(SIDE as u32);
    /// Whether all masks have, or are padded to, `SIDE` taps along each axis.
    const ONLY: bool = !S::AS_IT_IS || SIDE as u32 == VOLUMES_CUBE_SIDES[0];

    /// Adds the products of an input plane: those with plane `s` of the mask to `ring[..][s]`.
    ///
    /// # Safety
    /// The tile is complete.
    #[inline(always)]
    unsafe fn add<D: Device, const ALL: bool>(
        d: D,
        (column, row): (u32, u32),
        tile: Shared<S::Held>,
        ring: &mut [[S::Sum; SIDE]; DOWN],
        p: &VolumesMarchParams,
    ) {
        let [columns, rows] = [d.anew(p.taps[0]), d.anew(p.taps[1])];
        let unused = SIDE as u32 - d.anew(p.taps[2]);
        for j in 0..SIDE + DOWN - 1 {
            let mut samples = [S::Sum::ZERO; SIDE];
            for i in 0..SIDE {
                let place = (row + j as u32) * Self::TILE[0] + column + i as u32;
                // SAFETY: the tile has `SIDE - 1` columns and rows more than the block's outputs.
                samples[i] = S::number(unsafe { d.shared_load(tile, place) });
            }
            for r in 0..DOWN {
                // Row `j` of the tile is under row `j - r` of the mask at output row `r`.
                if j >= r && j - r < SIDE && (ALL || ((j - r) as u32) < rows) {
                    for s in 0..SIDE {
                        for i in 0..SIDE {
                            if ALL || (s as u32 >= unused && (i as u32) < columns) {
                                // SAFETY: the launch has `SIDE` taps along each axis.
                                let tap = unsafe { tap(d, ((s * SIDE + j - r) * SIDE + i) as u32) };
                                ring[r][s] = d.fma(tap, samples[i], ring[r][s]);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Marches through the planes. With `ALL`, every axis has `SIDE` taps, and their number is not checked.
    ///
    /// # Safety
    /// The launch contract holds.
    #[inline(always)]
    unsafe fn planes<D: Device, const ALL: bool>(
        d: D,
        (part, tiles): (&Part, &Tiles<D, S, SIDE, DOWN>),
        dst: Global<S>,
        p: &VolumesMarchParams,
    ) {
        let bytes = Self::TILE[0] * Self::TILE[1] * S::Held::TYPE.size_bytes();
        let tile = |stage: u32| Shared::<S::Held>::at(stage * bytes);
        // The first planes are only copied; the last steps copy nothing.
        let (inputs, ahead) = (part.planes + p.taps[2] - 1, Self::STAGES - 1);
        let mut ring = [[S::Sum::ZERO; SIDE]; DOWN];
        let mut stage = 0;
        for k in 0..inputs + ahead {
            // SAFETY: the launch contract. A stage is overwritten only after the barrier that follows its last use.
            unsafe {
                d.wait_copies::<1>();
                d.barrier();
                let oldest = if stage + 1 == Self::STAGES { 0 } else { stage + 1 };
                let mut held = [0; COPIES];
                if k < inputs {
                    tiles.start(k, tile(stage), &mut held);
                }
                d.end_copies();
                if k >= ahead {
                    let finished = (k - ahead + 1).checked_sub(p.taps[2]);
                    Self::finish::<D, ALL>(d, (part, finished), tile(oldest), &mut ring, dst, p);
                }
                if k < inputs {
                    tiles.put(tile(stage), &held);
                }
                stage = oldest;
            }
        }
    }

    /// Adds a plane's products; stores output plane `finished` of the block.
    ///
    /// # Safety
    /// The tile is complete.
    #[inline(always)]
    unsafe fn finish<D: Device, const ALL: bool>(
        d: D,
        (part, finished): (&Part, Option<u32>),
        tile: Shared<S::Held>,
        ring: &mut [[S::Sum; SIDE]; DOWN],
        dst: Global<S>,
        p: &VolumesMarchParams,
    ) {
        // Recomputed, so that the thread's place takes no registers from the ring.
        let place = || {
            let thread = d.anew(d.thread_x());
            (thread % COLUMNS, thread / COLUMNS * DOWN as u32)
        };
        // The mask's planes are the last of the `SIDE` planes.
        let unused = SIDE as u32 - d.anew(p.taps[2]);
        for r in 0..DOWN {
            for s in (0..SIDE).rev() {
                let first = s == 0 || (!ALL && s as u32 == unused);
                ring[r][s] = if first { S::Sum::ZERO } else { ring[r][s - 1] };
            }
        }
        // SAFETY: the caller's promise; each output belongs to one thread.
        unsafe {
            Self::add::<D, ALL>(d, place(), tile, ring, p);
            if let Some(z) = finished {
                let (column, row) = place();
                let finish = |sum: S::Sum| match !S::AS_IT_IS && p.cuts != 0 {
                    true => narrowed(cut(sum.to_f64())),
                    false => S::from_sum(sum),
                };
                for r in 0..DOWN {
                    part.store(d, dst, [column, row + r as u32, z], ring[r][SIDE - 1], finish, p);
                }
            }
        }
    }
}

impl<S: Marched, const SIDE: usize, const DOWN: usize> Body for Cube<S, SIDE, DOWN> {
    type Src = S;
    type Dst = S;
    type Params = VolumesMarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S>, dst: Global<S>, p: &VolumesMarchParams) {
        let Some(part) = Part::of::<D, S>(d, p) else { return };
        let tiles = Tiles::of(d, src, &part, p);
        // SAFETY: the launch contract.
        unsafe {
            if Self::ONLY || Tiles::<D, S, SIDE, DOWN>::is_full(p) {
                Self::planes::<D, true>(d, (&part, &tiles), dst, p);
            } else {
                Self::planes::<D, false>(d, (&part, &tiles), dst, p);
            }
        }
    }
}
