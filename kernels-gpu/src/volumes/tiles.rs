//! The input tiles of a block that marches through the planes: a ring of stages in shared memory, filled ahead of use.

use crate::device::{Device, Global, Shared};
use apron_abi::{
    volumes_march_block, volumes_march_rows, volumes_march_tile, Accumulator, BorderMode, Element, FromSum, Sample,
    VolumesMarchParams, VOLUMES_MARCH_COLUMNS,
};
use core::ops::Div;

/// Most samples of a tile that a thread copies: those of 9 taps over integers, by 256 threads.
pub(super) const COPIES: usize = 7;

/// Stand for samples outside the volume along x and along y, with a constant border.
const OUTSIDE: [u32; 2] = [u32::MAX, u32::MAX - 1];

/// A sample type, the type in which a tile holds it, and its accumulator.
pub trait Marched: Sample + FromSum<Self::Sum> {
    /// Type of a sample in a tile.
    type Held: Element;
    /// Accumulator type.
    type Sum: Accumulator + Div<Output = Self::Sum>;
    /// Whether tiles hold samples unconverted, so that copies can be asynchronous.
    const AS_IT_IS: bool;
    /// Returns the bits of a constant, for [`of_bits`](Marched::of_bits).
    fn bits(constant: f32) -> u32;
    /// Converts the bits of a sample to the type of the tile.
    fn of_bits(bits: u32) -> Self::Held;
    /// Converts a sample of the tile to the accumulator type.
    fn number(held: Self::Held) -> Self::Sum;
}

impl Marched for f32 {
    type Held = f32;
    type Sum = f32;
    const AS_IT_IS: bool = true;
    #[inline(always)]
    fn bits(constant: f32) -> u32 {
        constant.to_bits()
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
    #[inline(always)]
    fn number(held: f32) -> f32 {
        held
    }
}

/// Constants are passed as f32.
impl Marched for f64 {
    type Held = f64;
    type Sum = f64;
    const AS_IT_IS: bool = true;
    #[inline(always)]
    fn bits(constant: f32) -> u32 {
        constant.to_bits()
    }
    #[inline(always)]
    fn of_bits(bits: u32) -> f64 {
        f32::from_bits(bits) as f64
    }
    #[inline(always)]
    fn number(held: f64) -> f64 {
        held
    }
}

/// Tiles hold an integer as its distance from the least value of its type, from 0 on. Constants of u8 may be above 255,
/// so their bits are u16.
macro_rules! marched {
    ($($type:ty as $bits:ty),*) => {$(
        impl Marched for $type {
            type Held = u32;
            type Sum = f64;
            const AS_IT_IS: bool = false;
            #[inline(always)]
            fn bits(constant: f32) -> u32 {
                constant as $bits as u16 as u32
            }
            #[inline(always)]
            fn of_bits(bits: u32) -> u32 {
                bits ^ <$type>::MIN as u16 as u32
            }
            #[inline(always)]
            fn number(held: u32) -> f64 {
                // The bits of 2^52 plus the number: subtracting 2^52 is faster than a conversion.
                f64::from_bits(0x4330_0000_0000_0000 | held as u64) - (4_503_599_627_370_496.0 - <$type>::MIN as f64)
            }
        }
    )*};
}
marched!(u8 as u16, u16 as u16, i16 as i16);

/// A block's outputs.
pub(super) struct Part {
    /// First output row and plane.
    top: u32,
    front: u32,
    /// Number of output planes.
    pub(super) planes: u32,
}

impl Part {
    /// Returns the block's part; `None` for blocks behind the last plane.
    #[inline(always)]
    pub(super) fn of<D: Device, S: Marched>(d: D, p: &VolumesMarchParams) -> Option<Part> {
        // SAFETY: a plane has rows.
        let (part, band) = unsafe { crate::div_rem(d.block_y(), p.bands) };
        let (top, front) = (band * volumes_march_rows(S::Sum::TYPE.size_bytes()), part * p.planes);
        if front >= p.out[2] {
            return None;
        }
        let rest = p.out[2] - front;
        Some(Part { top, front, planes: if rest < p.planes { rest } else { p.planes } })
    }

    /// Divides the sum at a column, row and plane of the block, makes it a sample by `finish`, and stores that if column
    /// and row are in the output.
    ///
    /// # Safety
    /// No other thread stores this output.
    #[inline(always)]
    pub(super) unsafe fn store<D: Device, S: Marched>(
        &self,
        d: D,
        dst: Global<S>,
        [column, row, plane]: [u32; 3],
        sum: S::Sum,
        finish: impl FnOnce(S::Sum) -> S,
        p: &VolumesMarchParams,
    ) {
        let [x, y, z] = [d.anew(d.block_x()) * VOLUMES_MARCH_COLUMNS + column, self.top + row, self.front + plane];
        if x < p.out[0] && y < p.out[1] {
            // Opaque, so that the quotient is not computed speculatively: it takes longer than the rest of this
            // function.
            let divide = || sum / S::Sum::of(f32::from_bits(d.anew(p.divisor.to_bits())));
            let sum = if p.divisor == 1.0 { sum } else { divide() };
            let at = z as u64 * (p.out[0] * p.out[1]) as u64 + (y * p.out[0] + x) as u64;
            // SAFETY: column and row are checked, and the plane is one of the part's; the caller's promise.
            unsafe { d.store(dst, at, finish(sum)) };
        }
    }
}

/// A thread's samples of the tiles, for windows of up to `TAPS` taps along each axis and `DOWN` output rows per thread.
pub(super) struct Tiles<'p, D, S, const TAPS: usize, const DOWN: usize> {
    d: D,
    p: &'p VolumesMarchParams,
    src: Global<S>,
    /// The places of these samples in an input plane, or [`OUTSIDE`].
    places: [u32; COPIES],
    /// Whether the tile has samples outside the volume along x or y whose value is constant.
    has_constants: bool,
    part: &'p Part,
}

impl<'p, D: Device, S: Marched, const TAPS: usize, const DOWN: usize> Tiles<'p, D, S, TAPS, DOWN> {
    const SUM: u32 = S::Sum::TYPE.size_bytes();
    /// Columns and rows of a tile.
    const SIDES: [u32; 2] = volumes_march_tile(TAPS as u32, Self::SUM);
    const SAMPLES: u32 = Self::SIDES[0] * Self::SIDES[1];
    const BLOCK: u32 = volumes_march_block(Self::SUM, DOWN as u32);

    #[inline(always)]
    pub(super) fn of(d: D, src: Global<S>, part: &'p Part, p: &'p VolumesMarchParams) -> Self {
        let (along_x, along_y) = (BorderMode::from_u32(p.borders[0]), BorderMode::from_u32(p.borders[1]));
        let left = d.block_x() * VOLUMES_MARCH_COLUMNS;
        let corner = [left as i32 + p.origin[0], part.top as i32 + p.origin[1]];
        let beyond = |axis: usize| corner[axis] < 0 || corner[axis] as u32 + Self::SIDES[axis] > p.sides[axis];
        let constant = [along_x, along_y].map(|mode| mode == BorderMode::Constant);
        // Computed from uniform values only, so that it takes no register per thread.
        let has_constants = (constant[0] && beyond(0)) || (constant[1] && beyond(1));
        let mut tiles = Tiles { d, p, src, places: [0; COPIES], has_constants, part };
        for k in 0..COPIES {
            let element = d.thread_x() + k as u32 * Self::BLOCK;
            let (column, row) = (element % Self::SIDES[0], element / Self::SIDES[0]);
            let x = along_x.map(corner[0] + column as i32, p.sides[0] as i32);
            let y = along_y.map(corner[1] + row as i32, p.sides[1] as i32);
            tiles.places[k] = match (x, y) {
                (_, None) => OUTSIDE[1],
                (None, _) => OUTSIDE[0],
                (Some(x), Some(y)) => y as u32 * p.sides[0] + x as u32,
            };
        }
        tiles
    }

    /// Returns whether windows have `TAPS` taps along each axis.
    #[inline(always)]
    pub(super) fn is_full(p: &VolumesMarchParams) -> bool {
        let most = TAPS as u32;
        p.taps[0] == most && p.taps[1] == most && p.taps[2] == most
    }

    /// Returns the index of the first sample of input plane `k` of the block; `None` for a plane of the constant.
    #[inline(always)]
    fn plane(&self, k: u32) -> Option<u64> {
        let p = self.p;
        let z = BorderMode::from_u32(p.borders[2])
            .map(self.part.front as i32 + p.origin[2] + k as i32, p.sides[2] as i32)?;
        Some(z as u32 as u64 * p.sides[0] as u64 * p.sides[1] as u64)
    }

    /// Calls `each` for each of the thread's samples of a tile, with the sample's index and its place in the tile.
    #[inline(always)]
    fn each(&self, mut each: impl FnMut(usize, u32)) {
        let thread = self.d.anew(self.d.thread_x());
        for k in 0..COPIES as u32 {
            let element = thread + k * Self::BLOCK;
            // In the last round, only some threads have a sample.
            if (k + 1) * Self::BLOCK <= Self::SAMPLES || (k * Self::BLOCK < Self::SAMPLES && element < Self::SAMPLES) {
                each(k as usize, element);
            }
        }
    }

    /// Calls `copy` for each of the thread's samples of a tile, with the sample's index, its place in the tile, and its
    /// index in the volume or the constant that replaces it.
    #[inline(always)]
    fn copy(&self, plane: Option<u64>, mut copy: impl FnMut(usize, u32, Result<u64, f32>)) {
        let p = self.p;
        match plane {
            Some(start) if !self.has_constants => {
                self.each(|k, element| copy(k, element, Ok(start + self.places[k] as u64)))
            }
            _ => self.each(|k, element| match (plane, self.places[k]) {
                (None, _) => copy(k, element, Err(p.constants[2])),
                (_, place) if place == OUTSIDE[0] => copy(k, element, Err(p.constants[0])),
                (_, place) if place == OUTSIDE[1] => copy(k, element, Err(p.constants[1])),
                (Some(start), place) => copy(k, element, Ok(start + place as u64)),
            }),
        }
    }

    /// Starts copying the tile of the block's input plane `k` to `tile`. If copies cannot be asynchronous, the loads go
    /// to `held`, from which [`put`](Tiles::put) stores the samples.
    ///
    /// # Safety
    /// The kernel's launch contract holds, and no thread reads the stage before the barrier after the wait for it.
    #[inline(always)]
    pub(super) unsafe fn start(&self, k: u32, tile: Shared<S::Held>, held: &mut [u32; COPIES]) {
        let d = self.d;
        // SAFETY: elements are below the size of the tile; the border mapped the place into the volume.
        self.copy(self.plane(k), |k, element, sample| unsafe {
            match sample {
                Ok(at) if S::AS_IT_IS => d.start_copy(tile, element, Global::<S::Held>::at(self.src.address), at),
                Ok(at) => held[k] = d.load_bits(self.src, at),
                Err(constant) if S::AS_IT_IS => d.shared_store(tile, element, S::of_bits(S::bits(constant))),
                Err(constant) => held[k] = S::bits(constant),
            }
        });
    }

    /// Completes the copy of a tile that [`start`](Tiles::start) began.
    ///
    /// # Safety
    /// As [`start`](Tiles::start), for the same plane and tile.
    #[inline(always)]
    pub(super) unsafe fn put(&self, tile: Shared<S::Held>, held: &[u32; COPIES]) {
        if !S::AS_IT_IS {
            // SAFETY: elements are below the size of the tile; one thread writes each.
            self.each(|k, element| unsafe { self.d.shared_store(tile, element, S::of_bits(held[k])) });
        }
    }
}
