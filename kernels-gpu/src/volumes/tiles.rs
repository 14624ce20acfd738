//! The input tiles of a block that marches through the planes: a ring of stages in shared memory, filled ahead.

use crate::device::{Device, Global, Shared};
use apron_abi::{
    volumes_march_block, volumes_march_rows, volumes_march_tile, Accumulator, BorderMode, Element, FromSum, Sample,
    VolumesMarchParams, VOLUMES_MARCH_COLUMNS,
};
use core::ops::Div;

/// Most samples of a tile that a thread copies: those of 9 taps over integers, by 256 threads.
pub(super) const COPIES: usize = 7;

/// Places of samples outside along x and y, whose values are constant.
const OUTSIDE: [u32; 2] = [u32::MAX, u32::MAX - 1];

/// A type of samples, how a tile holds them, and the type of their sums.
pub trait Marched: Sample + FromSum<Self::Sum> {
    /// What a tile holds of a sample.
    type Held: Element;
    /// The type of sums.
    type Sum: Accumulator + Div<Output = Self::Sum>;
    /// Whether tiles hold samples as they are, so that copies can be asynchronous.
    const AS_IT_IS: bool;
    /// Returns a constant as [`of_bits`](Marched::of_bits) takes it.
    fn bits(constant: f32) -> u32;
    /// Returns what a tile holds of the sample of these bits.
    fn of_bits(bits: u32) -> Self::Held;
    /// Returns the number that sums take.
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

/// Constants are f32.
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

/// Integers are held as the numbers from 0 that they are above the least one; constants may be above
/// the largest one of u8.
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
                // 2^52 and the number in its lowest bits: a subtraction is faster than a conversion.
                f64::from_bits(0x4330_0000_0000_0000 | held as u64) - (4_503_599_627_370_496.0 - <$type>::MIN as f64)
            }
        }
    )*};
}
marched!(u8 as u16, u16 as u16, i16 as i16);

/// A block's part of the work.
pub(super) struct Part {
    /// First output row and plane.
    top: u32,
    front: u32,
    /// Output planes.
    pub(super) planes: u32,
}

impl Part {
    /// Returns the block's part, or `None` if nothing is left for it.
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

    /// Divides and rounds the sum at a column, row and plane of the block's outputs, and stores it
    /// if it is in the output.
    ///
    /// # Safety
    /// No other thread stores it.
    #[inline(always)]
    pub(super) unsafe fn store<D: Device, S: Marched>(
        &self,
        d: D,
        dst: Global<S>,
        [column, row, plane]: [u32; 3],
        sum: S::Sum,
        p: &VolumesMarchParams,
    ) {
        let [x, y, z] = [d.anew(d.block_x()) * VOLUMES_MARCH_COLUMNS + column, self.top + row, self.front + plane];
        if x < p.out[0] && y < p.out[1] {
            // Opaque, so that a quotient that nobody needs is not computed: it takes longer than all else here.
            let divide = || sum / S::Sum::of(f32::from_bits(d.anew(p.divisor.to_bits())));
            let sum = if p.divisor == 1.0 { sum } else { divide() };
            let at = z as u64 * (p.out[0] * p.out[1]) as u64 + (y * p.out[0] + x) as u64;
            // SAFETY: in the output; the caller's promise.
            unsafe { d.store(dst, at, S::from_sum(sum)) };
        }
    }
}

/// A thread's samples of the tiles, for windows of up to `TAPS` taps along each axis and `DOWN` output rows per thread.
pub(super) struct Tiles<'p, D, S, const TAPS: usize, const DOWN: usize> {
    d: D,
    p: &'p VolumesMarchParams,
    src: Global<S>,
    /// Their places in a plane, or [`OUTSIDE`].
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
        // From what is the same for all threads: so this takes none of their registers.
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

    /// Returns whether windows have as many taps along each axis as the kernel takes.
    #[inline(always)]
    pub(super) fn is_full(p: &VolumesMarchParams) -> bool {
        let most = TAPS as u32;
        p.taps[0] == most && p.taps[1] == most && p.taps[2] == most
    }

    /// Returns the start of input plane `k` of the block; `None` if it is outside and constant.
    #[inline(always)]
    fn plane(&self, k: u32) -> Option<u64> {
        let p = self.p;
        let z = BorderMode::from_u32(p.borders[2])
            .map(self.part.front as i32 + p.origin[2] + k as i32, p.sides[2] as i32)?;
        Some(z as u32 as u64 * p.sides[0] as u64 * p.sides[1] as u64)
    }

    /// Calls `each` for the thread's samples of a tile: with their number and their place in it.
    #[inline(always)]
    fn each(&self, mut each: impl FnMut(usize, u32)) {
        let thread = self.d.anew(self.d.thread_x());
        for k in 0..COPIES as u32 {
            let element = thread + k * Self::BLOCK;
            // All threads have a sample, but for the last ones.
            if (k + 1) * Self::BLOCK <= Self::SAMPLES || (k * Self::BLOCK < Self::SAMPLES && element < Self::SAMPLES) {
                each(k as usize, element);
            }
        }
    }

    /// Calls `copy` for the thread's samples of a tile: with their number, their place in it, and their place in the
    /// volume, or the constant that they are outside a plane.
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

    /// Starts copying the tile of the block's input plane `k` to `tile`. Where copies cannot be asynchronous,
    /// the samples are in `held` until they are [put](Tiles::put) there.
    ///
    /// # Safety
    /// The kernel's launch contract holds, and no thread reads the stage before the barrier after the wait for it.
    #[inline(always)]
    pub(super) unsafe fn start(&self, k: u32, tile: Shared<S::Held>, held: &mut [u32; COPIES]) {
        let d = self.d;
        // SAFETY: the element is in the tile, and the place in the plane.
        self.copy(self.plane(k), |k, element, sample| unsafe {
            match sample {
                Ok(at) if S::AS_IT_IS => d.start_copy(tile, element, Global::<S::Held>::at(self.src.address), at),
                Ok(at) => held[k] = d.load_bits(self.src, at),
                Err(constant) if S::AS_IT_IS => d.shared_store(tile, element, S::of_bits(S::bits(constant))),
                Err(constant) => held[k] = S::bits(constant),
            }
        });
    }

    /// Ends copying a tile that was [started](Tiles::start).
    ///
    /// # Safety
    /// As [`start`](Tiles::start), for the same plane and tile.
    #[inline(always)]
    pub(super) unsafe fn put(&self, tile: Shared<S::Held>, held: &[u32; COPIES]) {
        if !S::AS_IT_IS {
            // SAFETY: the element is in the tile.
            self.each(|k, element| unsafe { self.d.shared_store(tile, element, S::of_bits(held[k])) });
        }
    }
}
