//! Pointwise operations on one or two parts, each a separable filter of the image or the image itself, in one
//! [march](crate::march): the image is read once, and only the result is written.
//!
//! ```text
//! for each input row under the strip:                                  (from the ring of the march)
//!     for each part, for each row k of its taps, from the last up:
//!         sums[k] = sums[k - 1] + contribution of this row under tap row k
//!     store the result of the operation on sums[last] of both parts
//! ```
//!
//! The sums of a part equal those of its filter alone: f32, along the row and then down the column, one multiply-add
//! per tap in order. The window of `K` x `K` samples covers the taps of both parts. Missing taps of the smaller part
//! are skipped, by a branch that is uniform for all threads, or are taps of 0 where that changes no sum:
//! [`apron_abi::paired_skips`]. A part that is the image itself passes through the registers of its sums, from the
//! middle row on.
//!
//! Per output: the loads of a march, 2 K multiply-adds per part, and the operation in f64. Lengths as bytes are
//! computed in f32, and in f64 if the rounding is doubtful.

mod ends;

use crate::device::{Device, Global, Shared};
use crate::march::{Ring, WINDOW};
use crate::samples::{Place, Samples};
use crate::Body;
use apron_abi::{
    march_bytes, paired_across, paired_skips, paired_taps, tap_stride, Element, ElementType, PairedParams, PairedPart,
    BYTE_UNIT, MARCH_BLOCK,
};
use core::marker::PhantomData;
use ends::Ends;

/// The kernel for windows of `K` x `K` samples over `C` channels of type `S`, `P` adjacent outputs of type `O` per
/// thread; `PIECES` if the length of rows is a multiple of 16 bytes.
///
/// Launch contract: see [`march`](crate::march); there are four times [`tap_stride`] taps: of the first part along the
/// rows and along the columns, then of the second.
pub struct Paired<S, O, const P: usize, const K: usize, const C: usize, const PIECES: bool>(PhantomData<(S, O)>);

#[allow(private_bounds)] // only this crate implements the bounds
impl<S: Samples<Sum = f32>, O: Ends<P>, const P: usize, const K: usize, const C: usize, const PIECES: bool> Body
    for Paired<S, O, P, K, C, PIECES>
{
    type Src = S::Element;
    type Dst = O::Element;
    type Params = PairedParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<O::Element>, p: &PairedParams) {
        const { assert!(P as u32 == paired_across(O::Element::TYPE, K as u32)) };
        let m = &p.march;
        let strip = d.block_x() as i32 * MARCH_BLOCK as i32 * P as i32;
        // A grid may have more rows of blocks than its launch needs.
        let first_row = d.block_y() * m.rows;
        if first_row >= m.out_height {
            return;
        }
        let last_row = if m.out_height - first_row < m.rows { m.out_height } else { first_row + m.rows };
        let input_rows = last_row - first_row + m.halo_rows;
        let first = m.first + strip + d.thread_x() as i32 * P as i32;
        let samples = m.out_samples as i32;
        let size = O::Element::TYPE.size_bytes();
        let whole = m.aligned >= P as u32 * size && first >= 0 && first + P as i32 <= samples;
        let row_bytes = m.out_samples as u64 * size as u64;
        let mut place = Place { row: dst.address + first_row as u64 * row_bytes, first, samples, whole };
        let (mut x, mut y) = ([[0.0; P]; K], [[0.0; P]; K]);
        // SAFETY: the launch keeps the contract.
        unsafe {
            // The taps are visible after the barrier in `Ring::start`.
            Self::share_taps(d);
            let top = first_row as i32 + m.origin_y;
            let ring = Ring::<D, S, P, K, C, PIECES>::start(d, src, m, m.left + strip, top, input_rows);
            let mut row = 0;
            while row < m.ahead {
                ring.bring(row);
                row += 1;
            }
            ring.wait_for_first();
            ring.complete(0);
            let mut row = 0;
            while row < input_rows {
                ring.wait(row);
                d.barrier();
                ring.bring(row + m.ahead);
                let window = ring.window(row);
                Self::add(d, p.x, 0, &mut x, &window);
                Self::add(d, p.y, 2 * tap_stride(K as u32), &mut y, &window);
                if row >= m.halo_rows {
                    O::store(d, place, p, &x[K - 1], &y[K - 1]);
                    place.row += row_bytes;
                }
                row += 1;
                ring.complete(row);
            }
        }
    }
}

impl<S: Samples<Sum = f32>, O, const P: usize, const K: usize, const C: usize, const PIECES: bool>
    Paired<S, O, P, K, C, PIECES>
{
    /// Whether missing taps of a part are skipped, rather than taps of 0.
    const SKIPS: bool = paired_skips(S::Element::TYPE, K as u32);

    /// All taps, behind the ring.
    const TAPS: Shared<f32> = Shared::at(march_bytes(S::Element::TYPE, S::SUMS, P as u32, K as u32, C as u32));

    /// Adds an input row to the sums of a part, under each row of its taps, and moves each sum on by one row. The
    /// part's taps start at `first`.
    ///
    /// # Safety
    /// The launch has these taps.
    #[inline(always)]
    unsafe fn add<D: Device>(d: D, part: PairedPart, first: u32, sums: &mut [[f32; P]; K], window: &[f32; WINDOW]) {
        if part.columns == 0 {
            for j in (K / 2 + 1..K).rev() {
                sums[j] = sums[j - 1];
            }
            for k in 0..P {
                let sample = window[k + K / 2 * C];
                let bytes = matches!(S::Element::TYPE, ElementType::U8);
                sums[K / 2][k] = if bytes { sample * (1.0 / BYTE_UNIT) } else { sample };
            }
            return;
        }
        // Opaque, so that the bits are tested for each row, and no register per tap is kept from row to row.
        let (columns, rows) = if Self::SKIPS { (d.anew(part.columns), d.anew(part.rows)) } else { (0, 0) };
        // SAFETY: a part has `tap_stride(K)` taps along the rows, then as many along the columns.
        let (across, down) = unsafe { (Self::taps(d, first), Self::taps(d, first + tap_stride(K as u32))) };
        let mut row = [0.0; P];
        for i in 0..K {
            if !Self::SKIPS || columns & 1 << i != 0 {
                for k in 0..P {
                    row[k] = d.fma(across[i], window[k + i * C], row[k]);
                }
            }
        }
        for j in (0..K).rev() {
            let before = if j == 0 { [0.0; P] } else { sums[j - 1] };
            sums[j] = before;
            if !Self::SKIPS || rows & 1 << j != 0 {
                for k in 0..P {
                    sums[j][k] = d.fma(down[j], row[k], before[k]);
                }
            }
        }
    }

    /// Copies the taps to shared memory, if some may be skipped: reads of constant memory would each be under the
    /// condition of their tap, and waited for one by one. No thread reads the copies before the next barrier.
    ///
    /// # Safety
    /// The launch has these taps.
    #[inline(always)]
    unsafe fn share_taps<D: Device>(d: D) {
        let tap = d.thread_x();
        if Self::SKIPS && tap < paired_taps(K as u32) {
            // SAFETY: shared memory has room for the taps behind the ring; one thread copies each.
            unsafe { d.shared_store(Self::TAPS, tap, d.tap(tap)) };
        }
    }

    /// Returns the taps from `first` on.
    ///
    /// # Safety
    /// The launch has these taps, and they are [shared](Self::share_taps).
    #[inline(always)]
    unsafe fn taps<D: Device>(d: D, first: u32) -> [f32; K] {
        let mut taps = [0.0; K];
        for i in 0..K {
            // SAFETY: the caller's promise.
            unsafe {
                if !Self::SKIPS {
                    taps[i] = d.tap(first + i as u32);
                } else if i % 4 == 0 {
                    let four = d.shared_load4(Self::TAPS, first + i as u32);
                    for n in 0..4 {
                        if i + n < K {
                            taps[i + n] = four[n];
                        }
                    }
                }
            }
        }
        taps
    }
}
