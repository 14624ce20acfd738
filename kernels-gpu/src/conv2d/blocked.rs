//! A dense mask over a shared tile, with 8x4 or 16x4 adjacent outputs per thread in registers.
//!
//! A block of 256 threads computes 128x64 or 128x128 output pixels:
//!
//! ```text
//! for each channel:
//!     copy the tile: the input under the outputs and their halo    (border by index map); barrier
//!     for each row of the tile under the thread's outputs:
//!         add its contribution to the sums of those of the thread's four output rows whose masks cover it
//!     barrier; write the results to shared memory; barrier; store them, adjacent lanes adjacent results; barrier
//! ```
//!
//! Along a row, eight or sixteen outputs share their samples, which stay in registers, and four output rows share
//! each sample once it is loaded. Per 128 or 256 multiply-adds: one shared load of 16 bytes, and four reads of four
//! taps. Per output and channel, with 8x4: (128 + w - 1)(64 + h - 1) / 8192 global loads; four barriers per channel.
//! More outputs per thread need fewer reads, but the accumulators of 16x4 outputs leave registers for only one resident
//! block per multiprocessor: faster only for large masks.

use crate::conv2d::clamped;
use crate::device::{Device, Global, Shared};
use crate::taps::{LaunchTaps, TapSource};
use crate::Body;
use apron_abi::{
    blocked_pitch, blocked_tile, tap_stride, Accumulator, BorderMode, Conv2dParams, Element, FromSum, Pixel,
    BLOCKED_BLOCK, BLOCKED_COLUMNS, TAPS_AT_ONCE,
};
use core::marker::PhantomData;

/// The kernel, which sums in `A`. `LARGE` is as in [`Tiled`](super::Tiled).
///
/// f32 sums of bytes have an error of at most the parameters' `slack`, which the plan computes. If all numbers within
/// the error round to one integer, that is the result; otherwise, which is rare, the thread sums again in f64. So
/// integer results equal those of f64 sums.
///
/// Launch contract: the buffers are as large as the parameters say, the shared memory is
/// [`apron_abi::SharedMemory::Blocked`], and the taps' rows are [`tap_stride`] taps apart.
pub struct Blocked<I, O, A, const LARGE: bool, const ACROSS: usize>(PhantomData<(I, O, A)>);

/// Output rows per thread; it has `ACROSS` outputs in each row.
pub(super) const DOWN: usize = 4;

/// Lanes of a warp; each warp copies and stores whole rows.
const LANES: u32 = 32;
const WARPS: u32 = BLOCKED_BLOCK / LANES;

impl<I: Pixel, O: Pixel + FromSum<A>, A: Accumulator, const LARGE: bool, const ACROSS: usize> Body
    for Blocked<I, O, A, LARGE, ACROSS>
{
    type Src = I;
    type Dst = O;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv2dParams) {
        let tile = blocked_tile(ACROSS as u32);
        let (x, y) = (d.block_x() * tile[0], d.block_y() * tile[1]);
        // Threads side by side.
        let columns = tile[0] / ACROSS as u32;
        let (column, row) = (d.thread_x() % columns * ACROSS as u32, d.thread_x() / columns * DOWN as u32);
        // Always 0, which the compiler cannot know: see `LARGE`.
        let tap = if LARGE { d.thread_x() / BLOCKED_BLOCK * TAPS_AT_ONCE } else { 0 };
        for channel in 0..p.channels {
            // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
            unsafe {
                bring::<D, I, ACROSS>(d, src, p, (x, y), channel);
                d.end_copies();
                d.wait_copies::<0>();
                d.barrier();
                let mut sums = [[A::ZERO; ACROSS]; DOWN];
                sum::<D, A, _, ACROSS>(d, p, LaunchTaps, (column, row), tap, &mut sums);
                let results = results::<D, O, A, ACROSS>(d, p, (column, row), tap, sums);
                d.barrier();
                pass_on::<D, ACROSS>(d, (column, row), results);
                d.barrier();
                store::<D, O, ACROSS>(d, dst, p, (x, y), channel);
                d.barrier();
            }
        }
    }
}

/// Starts copying a channel's tile, one row per warp.
///
/// # Safety
/// The source is as large as the parameters say, the tile fits shared memory, and no thread reads it before the barrier
/// after the wait for the copies.
#[inline(always)]
pub(super) unsafe fn bring<D: Device, I: Pixel, const ACROSS: usize>(
    d: D,
    src: Global<I>,
    p: &Conv2dParams,
    (x, y): (u32, u32),
    channel: u32,
) {
    let pitch = blocked_pitch(p.mask_width);
    let (left, top) = (x as i32 + p.origin_x, y as i32 + p.origin_y);
    let border = BorderMode::from_u32(p.border);
    let inside = left >= 0 && left + pitch as i32 <= p.width as i32;
    let tile = Shared::<f32>::at(0);
    let mut row = d.thread_x() / LANES;
    while row < blocked_tile(ACROSS as u32)[1] + p.mask_height - 1 {
        let from_row = border.map(top + row as i32, p.height as i32);
        let mut column = d.thread_x() % LANES;
        while column < pitch {
            let from = left + column as i32;
            let from = if inside { Some(from) } else { border.map(from, p.width as i32) };
            let to = swizzled::<ACROSS>(row * pitch + column);
            // SAFETY: the sample is in the image; its place is this thread's, and no thread reads it before the next
            // barrier.
            unsafe {
                match (from_row, from) {
                    (Some(from_row), Some(from)) => {
                        let column = from as u32 as u64 * p.channels as u64 + channel as u64;
                        let at = from_row as u32 as u64 * p.row_stride as u64 + column;
                        d.start_copy_as_f32(tile, to, src, at);
                    }
                    _ => d.shared_store(tile, to, p.constant),
                }
            }
            column += LANES;
        }
        row += WARPS;
    }
}

/// Adds the products of the mask and the tile to a thread's sums; the first output is at (`column`, `first_row`) of the
/// block.
///
/// # Safety
/// The block's tile is complete, and the mask starts at `tap`.
#[inline(always)]
pub(super) unsafe fn sum<D: Device, A: Accumulator, M: TapSource<A>, const ACROSS: usize>(
    d: D,
    p: &Conv2dParams,
    mask: M,
    (column, first_row): (u32, u32),
    tap: u32,
    sums: &mut [[A; ACROSS]; DOWN],
) {
    let (pitch, stride) = (blocked_pitch(p.mask_width), tap_stride(p.mask_width));
    let mut at = first_row * pitch + column;
    let mut row = 0;
    while row < p.mask_height + DOWN as u32 - 1 {
        // For output row k, this row is under mask row `row - k`.
        // SAFETY: the taps are in the mask's rows, and the samples are in the tile.
        unsafe {
            if row >= DOWN as u32 - 1 && row < p.mask_height {
                add_row::<D, A, M, true, ACROSS>(d, p, mask, at, tap + row * stride, row, sums);
            } else {
                add_row::<D, A, M, false, ACROSS>(d, p, mask, at, tap + row * stride, row, sums);
            }
        }
        at += pitch;
        row += 1;
    }
}

/// Adds row `row` of the tile, from its sample `at` on, to the sums of the output rows whose masks cover it: all output
/// rows if `ALL`, otherwise each is checked. Relative to output row 0, the tile row is under the taps from `tap` on.
#[inline(always)]
unsafe fn add_row<D: Device, A: Accumulator, M: TapSource<A>, const ALL: bool, const ACROSS: usize>(
    d: D,
    p: &Conv2dParams,
    mask: M,
    mut at: u32,
    mut tap: u32,
    row: u32,
    sums: &mut [[A; ACROSS]; DOWN],
) {
    let stride = tap_stride(p.mask_width);
    let mut next = || {
        // SAFETY: a row of the tile holds all samples under the thread's windows, up to a multiple of 4.
        let four = unsafe { d.shared_load4(Shared::<f32>::at(0), swizzled::<ACROSS>(at)) };
        at += 4;
        [A::of(four[0]), A::of(four[1]), A::of(four[2]), A::of(four[3])]
    };
    // The samples under four taps of all outputs, in groups of four: the first `ACROSS / 4` groups, and one more;
    // with every four taps one group leaves and one enters.
    let mut window = [[A::ZERO; 4]; 5];
    for four in 0..ACROSS / 4 {
        window[four] = next();
    }
    let mut add = |tap: u32, count: u32, window: [[A; 4]; 5]| {
        for k in 0..DOWN {
            if ALL || (row >= k as u32 && row - (k as u32) < p.mask_height) {
                // SAFETY: the mask has this row.
                let taps = unsafe { mask.four(d, tap - k as u32 * stride) };
                for i in 0..4 {
                    if i < count {
                        for x in 0..ACROSS {
                            let sample = window[(x + i as usize) / 4][(x + i as usize) % 4];
                            sums[k][x] = d.fma(taps[i as usize], sample, sums[k][x]);
                        }
                    }
                }
            }
        }
    };
    let fours = ACROSS as u32 / 4 + 1;
    let mut count = p.mask_width;
    // Unrolled by a full rotation of the window, so that no sample moves to another register.
    while ALL && count >= fours * 4 {
        for _ in 0..fours {
            window[ACROSS / 4] = next();
            add(tap, 4, window);
            rotate::<A, ACROSS>(&mut window);
            tap += 4;
        }
        count -= fours * 4;
    }
    while count >= 4 {
        window[ACROSS / 4] = next();
        add(tap, 4, window);
        rotate::<A, ACROSS>(&mut window);
        (tap, count) = (tap + 4, count - 4);
    }
    if count > 0 {
        if count > 1 {
            window[ACROSS / 4] = next();
        }
        add(tap, count, window);
    }
}

/// Rotates the groups of four of a window by one; the first becomes the last.
#[inline(always)]
fn rotate<A: Accumulator, const ACROSS: usize>(window: &mut [[A; 4]; 5]) {
    let first = window[0];
    for four in 0..ACROSS / 4 {
        window[four] = window[four + 1];
    }
    window[ACROSS / 4] = first;
}

/// Converts a thread's sums to results, in f32, which holds every integer result exactly.
///
/// # Safety
/// If `A` is not the accumulator of `O`, the tile is complete, and the mask starts at `tap` in constant memory.
#[inline(always)]
pub(super) unsafe fn results<D: Device, O: Pixel + FromSum<A>, A: Accumulator, const ACROSS: usize>(
    d: D,
    p: &Conv2dParams,
    (column, row): (u32, u32),
    tap: u32,
    sums: [[A; ACROSS]; DOWN],
) -> [[f32; ACROSS]; DOWN] {
    let mut results = [[0.0; ACROSS]; DOWN];
    // Kernels with checked sums have 32 outputs per thread, one bit for each.
    let mut unsure = 0u32;
    for k in 0..DOWN {
        for x in 0..ACROSS {
            let sum = if p.clamp != 0 { clamped(sums[k][x]) } else { sums[k][x] };
            if A::TYPE == O::Sum::TYPE {
                results[k][x] = O::from_sum(sum).to_f32();
            } else {
                let (sum, slack) = (sum.to_f32(), p.slack);
                let (low, high) = (O::from_sum(A::of(sum - slack)), O::from_sum(A::of(sum + slack)));
                results[k][x] = low.to_f32();
                unsure |= ((low != high) as u32) << (k * ACROSS + x);
            }
        }
    }
    while unsure != 0 {
        let index = unsure.trailing_zeros();
        unsure &= unsure - 1;
        let (down, across) = (index / ACROSS as u32, index % ACROSS as u32);
        // SAFETY: an output of this thread, whose window is in the tile.
        let sum = unsafe { sum_one::<D, O::Sum, ACROSS>(d, p, (column + across, row + down), tap) };
        let result = <O as FromSum<O::Sum>>::from_sum(sum).to_f32();
        for k in 0..DOWN {
            for x in 0..ACROSS {
                if index == (k * ACROSS + x) as u32 {
                    results[k][x] = result;
                }
            }
        }
    }
    results
}

/// Returns the sum of one output, tap by tap.
#[inline(always)]
unsafe fn sum_one<D: Device, A: Accumulator, const ACROSS: usize>(
    d: D,
    p: &Conv2dParams,
    (column, row): (u32, u32),
    tap: u32,
) -> A {
    let (pitch, stride) = (blocked_pitch(p.mask_width), tap_stride(p.mask_width));
    let mut sum = A::ZERO;
    let mut j = 0;
    while j < p.mask_height {
        let mut i = 0;
        while i < p.mask_width {
            let at = swizzled::<ACROSS>((row + j) * pitch + column + i);
            // SAFETY: the tap is in the mask, the sample in the tile.
            let (weight, sample) = unsafe { (d.tap(tap + j * stride + i), d.shared_load(Shared::<f32>::at(0), at)) };
            sum = d.fma(A::of(weight), A::of(sample), sum);
            i += 1;
        }
        j += 1;
    }
    sum
}

/// Writes a thread's results to shared memory.
///
/// # Safety
/// No thread reads the tile any more.
#[inline(always)]
pub(super) unsafe fn pass_on<D: Device, const ACROSS: usize>(
    d: D,
    (column, row): (u32, u32),
    results: [[f32; ACROSS]; DOWN],
) {
    for k in 0..DOWN {
        for x in 0..ACROSS {
            let at = (row + k as u32) * BLOCKED_COLUMNS + column + x as u32;
            // SAFETY: the results need less room than the tile, which no thread reads any more; one thread writes each.
            unsafe { d.shared_store(Shared::<f32>::at(0), result_swizzled::<ACROSS>(at), results[k][x]) };
        }
    }
}

/// Stores the block's results, one row per warp.
///
/// # Safety
/// The results are in shared memory, and the output is as large as the parameters say.
#[inline(always)]
pub(super) unsafe fn store<D: Device, O: Pixel, const ACROSS: usize>(
    d: D,
    dst: Global<O>,
    p: &Conv2dParams,
    (x, y): (u32, u32),
    channel: u32,
) {
    let mut row = d.thread_x() / LANES;
    while row < blocked_tile(ACROSS as u32)[1] && y + row < p.out_height {
        let start = (y + row) as u64 * p.out_width as u64 + x as u64;
        let mut column = d.thread_x() % LANES;
        while column < BLOCKED_COLUMNS && x + column < p.out_width {
            // SAFETY: row and column are in the output; each result is stored by one lane of the row's warp.
            unsafe {
                let result: f32 =
                    d.shared_load(Shared::at(0), result_swizzled::<ACROSS>(row * BLOCKED_COLUMNS + column));
                let at = (start + column as u64) * p.channels as u64 + channel as u64;
                d.store(dst, at, <O as FromSum<O::Sum>>::from_sum(O::Sum::of(result)));
            }
            column += LANES;
        }
        row += WARPS;
    }
}

/// Returns the swizzled place of a sample of the tile: eight lanes that read 16 bytes each, 32 or 64 bytes apart, have
/// no bank conflicts.
#[inline(always)]
fn swizzled<const ACROSS: usize>(index: u32) -> u32 {
    index ^ (index >> 5 & (ACROSS as u32 / 8 * 2 - 1)) << 2
}

/// Returns the swizzled place of a result: the lanes of a warp, which write results 8 or 16 columns and 4 rows apart,
/// have no bank conflicts.
#[inline(always)]
fn result_swizzled<const ACROSS: usize>(index: u32) -> u32 {
    if ACROSS == 8 {
        index ^ index >> 5 & 7
    } else {
        index ^ index >> 5 & 3 ^ (index >> 9 & 3) << 2
    }
}
