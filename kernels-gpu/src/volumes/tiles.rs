//! The input tiles of a block that marches through the planes: a ring of stages in shared memory, filled ahead.

use crate::device::{Device, Global, Shared};
use apron_abi::{
    volumes_march_rows, volumes_march_tile, Accumulator, BorderMode, FromSum, Sample, VolumesMarchParams,
    VOLUMES_MARCH_BLOCK, VOLUMES_MARCH_COLUMNS,
};
use core::marker::PhantomData;
use core::ops::Div;

const BLOCK: u32 = VOLUMES_MARCH_BLOCK;
/// Most samples of a tile that a thread copies: those of 17 taps.
const COPIES: usize = 8;

/// Places of samples outside along x and y, whose values are constant.
const OUTSIDE: [u32; 2] = [u32::MAX, u32::MAX - 1];

/// A block's part of the work.
pub(super) struct Part {
    /// First output row and plane.
    top: u32,
    front: u32,
    /// Output planes.
    pub(super) planes: u32,
}

impl Part {
    /// Returns the block's part, or `None` if nothing is left for it. Sums are of type `A`.
    #[inline(always)]
    pub(super) fn of<D: Device, A: Accumulator>(d: D, p: &VolumesMarchParams) -> Option<Part> {
        // SAFETY: a plane has rows.
        let (part, band) = unsafe { crate::div_rem(d.block_y(), p.bands) };
        let (top, front) = (band * volumes_march_rows(A::TYPE.size_bytes()), part * p.planes);
        if front >= p.out[2] {
            return None;
        }
        let rest = p.out[2] - front;
        Some(Part { top, front, planes: if rest < p.planes { rest } else { p.planes } })
    }

    /// Divides and rounds the sum at a column, row and plane of the block's outputs, and stores it if it is in the output.
    ///
    /// # Safety
    /// No other thread stores it.
    #[inline(always)]
    pub(super) unsafe fn store<D: Device, A: Accumulator + Div<Output = A>, T: FromSum<A>>(
        &self,
        d: D,
        dst: Global<T>,
        [column, row, plane]: [u32; 3],
        sum: A,
        p: &VolumesMarchParams,
    ) {
        let [x, y, z] = [d.anew(d.block_x()) * VOLUMES_MARCH_COLUMNS + column, self.top + row, self.front + plane];
        if x < p.out[0] && y < p.out[1] {
            let sum = if p.divisor == 1.0 { sum } else { sum / A::of(p.divisor) };
            let at = (z as u64 * p.out[1] as u64 + y as u64) * p.out[0] as u64 + x as u64;
            // SAFETY: in the output; the caller's promise.
            unsafe { d.store(dst, at, T::from_sum(sum)) };
        }
    }
}

/// A thread's samples of the tiles, for windows of up to `TAPS` taps along each axis and sums of type `A`. Tiles are of f32, which
/// hold samples of 8 and 16 bits exactly.
pub(super) struct Tiles<'p, D, S, A, const TAPS: usize> {
    d: D,
    p: &'p VolumesMarchParams,
    src: Global<S>,
    /// Their places in a plane, or [`OUTSIDE`].
    places: [u32; COPIES],
    /// Whether one of them is outside the volume and has a constant value.
    has_constants: bool,
    /// The input plane under the first taps at the first output.
    front: i32,
    sums: PhantomData<A>,
}

impl<'p, D: Device, S: Sample, A: Accumulator, const TAPS: usize> Tiles<'p, D, S, A, TAPS> {
    /// Columns and rows of a tile.
    pub(super) const SIDES: [u32; 2] = volumes_march_tile(TAPS as u32, A::TYPE.size_bytes());
    pub(super) const SAMPLES: u32 = Self::SIDES[0] * Self::SIDES[1];

    #[inline(always)]
    pub(super) fn of(d: D, src: Global<S>, part: &Part, p: &'p VolumesMarchParams) -> Self {
        let (along_x, along_y) = (BorderMode::from_u32(p.borders[0]), BorderMode::from_u32(p.borders[1]));
        let left = d.block_x() * VOLUMES_MARCH_COLUMNS;
        let corner = [left as i32 + p.origin[0], part.top as i32 + p.origin[1]];
        let front = part.front as i32 + p.origin[2];
        let mut tiles = Tiles { d, p, src, places: [0; COPIES], has_constants: false, front, sums: PhantomData };
        for k in 0..COPIES {
            let element = d.thread_x() + k as u32 * BLOCK;
            let (column, row) = (element % Self::SIDES[0], element / Self::SIDES[0]);
            let x = along_x.map(corner[0] + column as i32, p.sides[0] as i32);
            let y = along_y.map(corner[1] + row as i32, p.sides[1] as i32);
            tiles.places[k] = match (x, y) {
                (_, None) => OUTSIDE[1],
                (None, _) => OUTSIDE[0],
                (Some(x), Some(y)) => y as u32 * p.sides[0] + x as u32,
            };
            tiles.has_constants |= element < Self::SAMPLES && tiles.places[k] >= OUTSIDE[1];
        }
        tiles
    }

    /// Returns whether windows have as many taps along each axis as the kernel takes.
    #[inline(always)]
    pub(super) fn is_full(p: &VolumesMarchParams) -> bool {
        let most = TAPS as u32;
        p.taps[0] == most && p.taps[1] == most && p.taps[2] == most
    }

    /// Starts copying the tile of the block's input plane `k` to `tile`, as one group of copies.
    ///
    /// # Safety
    /// The kernel's launch contract holds, and no thread reads the stage before the barrier after the wait for it.
    #[inline(always)]
    pub(super) unsafe fn start(&self, k: u32, tile: Shared<f32>) {
        let (d, p, thread) = (self.d, self.p, self.d.anew(self.d.thread_x()));
        let plane = BorderMode::from_u32(p.borders[2]).map(self.front + k as i32, p.sides[2] as i32);
        let start = match plane {
            Some(z) => z as u32 as u64 * p.sides[0] as u64 * p.sides[1] as u64,
            None => 0,
        };
        for k in 0..COPIES {
            let element = thread + k as u32 * BLOCK;
            if (k as u32 * BLOCK) < Self::SAMPLES && element < Self::SAMPLES {
                let place = self.places[k];
                // SAFETY: the element is in the tile, and the place in the plane.
                unsafe {
                    if plane.is_none() {
                        d.shared_store(tile, element, p.constants[2]);
                    } else if self.has_constants && place >= OUTSIDE[1] {
                        let constant = if place == OUTSIDE[1] { p.constants[1] } else { p.constants[0] };
                        d.shared_store(tile, element, constant);
                    } else {
                        d.start_copy_as_f32(tile, element, self.src, start + place as u64);
                    }
                }
            }
        }
        d.end_copies();
    }
}
