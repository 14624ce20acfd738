//! Selection of vector instructions at run time.
//!
//! A body of work is written once and compiled for each [`Level`]. Every function that it calls must be inlined into
//! it, otherwise that function is compiled for the baseline.
#![allow(unsafe_code)] // only in this file: instructions beyond the baseline, after detection

use crate::parallel;
use std::num::Wrapping;
use std::ops::Add;

/// A vector register of several samples.
pub(crate) trait Vector<S>: Copy {
    /// Number of lanes: a power of two, at most 16.
    const LANES: usize;
    /// Broadcasts a value to all lanes.
    fn splat(value: S) -> Self;
    /// Loads the first samples of `from`.
    fn load(from: &[S]) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `self * b - c`, rounded once.
    fn fms(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, rounded once.
    fn fnma(self, b: Self, c: Self) -> Self;
    /// `self + b`.
    fn add(self, b: Self) -> Self;
    /// `self - b`.
    fn sub(self, b: Self) -> Self;
    /// `self * b`.
    fn mul(self, b: Self) -> Self;
    /// Stores to the first samples of `to`.
    fn store(self, to: &mut [S]);
}

/// A set of vector instructions.
pub(crate) trait Level {
    /// Vectors of f32.
    type F32: Vector<f32>;
    /// Vectors of f64.
    type F64: Vector<f64>;
    /// Whether there are 32 vector registers instead of 16.
    const MANY_REGISTERS: bool;
    /// Replaces numbers by running sums, which wrap around: to each number is added the sum `step` places before it;
    /// `step` is at most 4. The length is a multiple of [`RUN`].
    #[inline(always)]
    fn running_i32(numbers: &mut [i32], step: usize) {
        running(numbers, step);
    }
    /// As [`running_i32`](Level::running_i32).
    #[inline(always)]
    fn running_i64(numbers: &mut [i64], step: usize) {
        running(numbers, step);
    }
    /// Transposes a block.
    #[inline(always)]
    fn turned_f32(rows: Block<f32>) -> Block<f32> {
        turned(rows)
    }
    /// As [`turned_f32`](Level::turned_f32).
    #[inline(always)]
    fn turned_f64(rows: Block<f64>) -> Block<f64> {
        turned(rows)
    }
}

/// Side of a [`Block`].
pub(crate) const BLOCK: usize = 4;

/// Samples that are transposed in registers.
pub(crate) type Block<S> = [[S; BLOCK]; BLOCK];

#[inline(always)]
fn turned<S: Copy>(rows: Block<S>) -> Block<S> {
    std::array::from_fn(|column| std::array::from_fn(|row| rows[row][column]))
}

/// Numbers that fill whole vectors of any level.
pub(crate) const RUN: usize = 16;

/// Computes running sums one by one.
#[inline(always)]
pub(crate) fn running<S: Copy>(numbers: &mut [S], step: usize)
where
    Wrapping<S>: Add<Output = Wrapping<S>>,
{
    for i in step..numbers.len() {
        numbers[i] = (Wrapping(numbers[i]) + Wrapping(numbers[i - step])).0;
    }
}

/// Work whose body is compiled for each level.
pub(crate) trait Work {
    /// Performs the work. Must be `#[inline(always)]`.
    fn run<L: Level>(self);
}

/// Runs the work with the widest vector instructions of this machine, unless its job was stopped: the calls
/// of a loop may be long.
#[inline(always)]
pub(crate) fn run(work: impl Work) {
    parallel::end_if_stopped();
    #[cfg(target_arch = "x86_64")]
    {
        let detected = detected();
        if detected.avx512 {
            // SAFETY: the machine was just found to have these parts of AVX-512.
            return unsafe { x86::run_avx512(work) };
        }
        if detected.avx2 {
            // SAFETY: the machine was just found to have AVX2 and FMA.
            return unsafe { x86::run_avx2(work) };
        }
    }
    run_baseline(work);
}

// Compiled once, not into each caller. It has a fused multiply-add on AArch64; on old x86 that is a slow
// but exact function call.
#[inline(never)]
fn run_baseline(work: impl Work) {
    work.run::<Baseline>();
}

/// Whether the machine has the instructions of the levels.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct Detected {
    avx512: bool,
    avx2: bool,
}

// Compiled once: [`run`] is part of every loop's caller.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn detected() -> Detected {
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq");
    Detected { avx512, avx2: is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") }
}

/// Runs work at every level of this machine, for comparison.
#[cfg(test)]
pub(crate) fn run_at_all<W: Work>(mut work: impl FnMut() -> W) {
    work().run::<Baseline>();
    #[cfg(target_arch = "x86_64")]
    {
        if detected().avx512 {
            // SAFETY: the machine was just found to have these parts of AVX-512.
            unsafe { x86::run_avx512(work()) };
        }
        if detected().avx2 {
            // SAFETY: the machine was just found to have AVX2 and FMA.
            unsafe { x86::run_avx2(work()) };
        }
    }
}

struct Baseline;

impl Level for Baseline {
    type F32 = [f32; 4];
    type F64 = [f64; 2];
    const MANY_REGISTERS: bool = cfg!(target_arch = "aarch64");
}

macro_rules! baseline {
    ($($type:ty: $lanes:literal),*) => {$(
        impl Vector<$type> for [$type; $lanes] {
            const LANES: usize = $lanes;
            #[inline(always)]
            fn splat(value: $type) -> Self {
                [value; $lanes]
            }
            #[inline(always)]
            fn load(from: &[$type]) -> Self {
                std::array::from_fn(|lane| from[lane])
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                std::array::from_fn(|lane| self[lane].mul_add(b[lane], c[lane]))
            }
            #[inline(always)]
            fn fms(self, b: Self, c: Self) -> Self {
                std::array::from_fn(|lane| self[lane].mul_add(b[lane], -c[lane]))
            }
            #[inline(always)]
            fn fnma(self, b: Self, c: Self) -> Self {
                std::array::from_fn(|lane| (-self[lane]).mul_add(b[lane], c[lane]))
            }
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                std::array::from_fn(|lane| self[lane] - b[lane])
            }
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                std::array::from_fn(|lane| self[lane] * b[lane])
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                std::array::from_fn(|lane| self[lane] + b[lane])
            }
            #[inline(always)]
            fn store(self, to: &mut [$type]) {
                to[..$lanes].copy_from_slice(&self);
            }
        }
    )*};
}
baseline!(f32: 4, f64: 2);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{BLOCK, Block, Level, Vector, Work};
    use std::arch::x86_64::*;

    /// Computes running sums by vectors: within a vector by doubling the distance between added lanes, then with the
    /// sums of the previous vector.
    macro_rules! running {
        ($($name:ident: $type:ty, $lanes:literal, $load:ident, $add:ident, $lanes_of:ident, $store:ident;)*) => {$(
            #[inline(always)]
            fn $name(numbers: &mut [$type], step: usize) {
                // The lane that each lane adds, and the mask of lanes that add one, for distances of 1, 2, 4 and 8
                // steps.
                let mut below = [[0 as $type; $lanes]; 4];
                let mut masks = [0; 4];
                for (i, (below, mask)) in below.iter_mut().zip(&mut masks).enumerate() {
                    for lane in step << i..$lanes {
                        below[lane] = (lane - (step << i)) as $type;
                        *mask |= 1 << lane;
                    }
                }
                let last: [$type; $lanes] = std::array::from_fn(|lane| ($lanes - step + lane % step) as $type);
                // SAFETY: work reaches this function only through its level, so only in a function that was called
                // because the machine has the level's instructions; arrays and chunks are as long as the vector.
                unsafe {
                    let [a, b, c, d] = below;
                    let (a, b, c, d) = ($load(a.as_ptr()), $load(b.as_ptr()), $load(c.as_ptr()), $load(d.as_ptr()));
                    let last = $load(last.as_ptr());
                    let mut carry = _mm512_setzero_si512();
                    for numbers in numbers.chunks_exact_mut($lanes) {
                        let mut sums = $load(numbers.as_ptr());
                        sums = $add(sums, $lanes_of(masks[0], a, sums));
                        sums = $add(sums, $lanes_of(masks[1], b, sums));
                        sums = $add(sums, $lanes_of(masks[2], c, sums));
                        if masks[3] != 0 {
                            sums = $add(sums, $lanes_of(masks[3], d, sums));
                        }
                        sums = $add(sums, carry);
                        carry = $lanes_of(!0, last, sums);
                        $store(numbers.as_mut_ptr(), sums);
                    }
                }
            }
        )*};
    }

    /// Transposes blocks, by instructions that both levels have.
    macro_rules! turned {
        () => {
            #[inline(always)]
            fn turned_f32(rows: Block<f32>) -> Block<f32> {
                // SAFETY: SSE is in the baseline; arrays are as long as the vectors.
                unsafe {
                    let [a, b, c, d] = rows.map(|row| _mm_loadu_ps(row.as_ptr()));
                    let (low, low2) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
                    let (high, high2) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
                    let columns = [
                        _mm_movelh_ps(low, low2),
                        _mm_movehl_ps(low2, low),
                        _mm_movelh_ps(high, high2),
                        _mm_movehl_ps(high2, high),
                    ];
                    columns.map(|column| {
                        let mut to = [0.0; BLOCK];
                        _mm_storeu_ps(to.as_mut_ptr(), column);
                        to
                    })
                }
            }

            #[inline(always)]
            fn turned_f64(rows: Block<f64>) -> Block<f64> {
                // SAFETY: work reaches this function only through its level, so only in a function that was called
                // because the machine has AVX; arrays are as long as the vectors.
                unsafe {
                    let [a, b, c, d] = rows.map(|row| _mm256_loadu_pd(row.as_ptr()));
                    let (even, even2) = (_mm256_unpacklo_pd(a, b), _mm256_unpacklo_pd(c, d));
                    let (odd, odd2) = (_mm256_unpackhi_pd(a, b), _mm256_unpackhi_pd(c, d));
                    let columns = [
                        _mm256_permute2f128_pd::<0x20>(even, even2),
                        _mm256_permute2f128_pd::<0x20>(odd, odd2),
                        _mm256_permute2f128_pd::<0x31>(even, even2),
                        _mm256_permute2f128_pd::<0x31>(odd, odd2),
                    ];
                    columns.map(|column| {
                        let mut to = [0.0; BLOCK];
                        _mm256_storeu_pd(to.as_mut_ptr(), column);
                        to
                    })
                }
            }
        };
    }

    // Private to this module, so that only the two functions below can run work with them.
    struct Avx512;
    struct Avx2;

    impl Level for Avx512 {
        type F32 = __m512;
        type F64 = __m512d;
        const MANY_REGISTERS: bool = true;
        running! {
            running_i32: i32, 16, _mm512_loadu_epi32, _mm512_add_epi32, _mm512_maskz_permutexvar_epi32, _mm512_storeu_epi32;
            running_i64: i64, 8, _mm512_loadu_epi64, _mm512_add_epi64, _mm512_maskz_permutexvar_epi64, _mm512_storeu_epi64;
        }
        turned!();
    }

    impl Level for Avx2 {
        type F32 = __m256;
        type F64 = __m256d;
        const MANY_REGISTERS: bool = false;
        turned!();
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
    pub(super) fn run_avx512(work: impl Work) {
        work.run::<Avx512>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn run_avx2(work: impl Work) {
        work.run::<Avx2>();
    }

    macro_rules! vector {
        ($($vector:ty: $type:ty, $lanes:literal, $splat:ident, $load:ident, $store:ident,
           $fma:ident, $fms:ident, $fnma:ident, $add:ident, $sub:ident, $mul:ident;)*) => {$(
            impl Vector<$type> for $vector {
                const LANES: usize = $lanes;
                #[inline(always)]
                fn splat(value: $type) -> Self {
                    // SAFETY: work reaches this vector only through its level, so only in a
                    // function that was called because the machine has the level's instructions.
                    unsafe { $splat(value) }
                }
                #[inline(always)]
                fn load(from: &[$type]) -> Self {
                    let from = &from[..$lanes];
                    // SAFETY: as above; `from` is as long as the vector, and may be unaligned.
                    unsafe { $load(from.as_ptr()) }
                }
                #[inline(always)]
                fn fma(self, b: Self, c: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fma(self, b, c) }
                }
                #[inline(always)]
                fn fms(self, b: Self, c: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fms(self, b, c) }
                }
                #[inline(always)]
                fn fnma(self, b: Self, c: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $fnma(self, b, c) }
                }
                #[inline(always)]
                fn add(self, b: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $add(self, b) }
                }
                #[inline(always)]
                fn sub(self, b: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $sub(self, b) }
                }
                #[inline(always)]
                fn mul(self, b: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $mul(self, b) }
                }
                #[inline(always)]
                fn store(self, to: &mut [$type]) {
                    let to = &mut to[..$lanes];
                    // SAFETY: as above; `to` is as long as the vector, and may be unaligned.
                    unsafe { $store(to.as_mut_ptr(), self) }
                }
            }
        )*};
    }
    vector! {
        __m512: f32, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_storeu_ps,
            _mm512_fmadd_ps, _mm512_fmsub_ps, _mm512_fnmadd_ps, _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps;
        __m512d: f64, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd,
            _mm512_fmadd_pd, _mm512_fmsub_pd, _mm512_fnmadd_pd, _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd;
        __m256: f32, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_storeu_ps,
            _mm256_fmadd_ps, _mm256_fmsub_ps, _mm256_fnmadd_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps;
        __m256d: f64, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd,
            _mm256_fmadd_pd, _mm256_fmsub_pd, _mm256_fnmadd_pd, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the running sums of one level with those one by one.
    struct Check(usize);

    impl Work for Check {
        #[inline(always)]
        fn run<L: Level>(self) {
            let numbers: Vec<i64> = (0..10 * RUN as i64).map(|i| i * i * 0x7_1234_5671 - (i << 40)).collect();
            let narrow: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
            let (mut found, mut found_narrow) = (numbers.clone(), narrow.clone());
            L::running_i64(&mut found, self.0);
            L::running_i32(&mut found_narrow, self.0);
            for i in 0..numbers.len() {
                let terms = (0..=i).rev().step_by(self.0);
                assert_eq!(found[i], terms.clone().fold(0, |sum: i64, i| sum.wrapping_add(numbers[i])));
                assert_eq!(found_narrow[i], terms.fold(0, |sum: i32, i| sum.wrapping_add(narrow[i])));
            }
        }
    }

    /// Transposes blocks at one level.
    struct Turn;

    impl Work for Turn {
        #[inline(always)]
        fn run<L: Level>(self) {
            let rows: Block<f64> = std::array::from_fn(|row| std::array::from_fn(|column| (10 * row + column) as f64));
            let columns =
                [[0.0, 10.0, 20.0, 30.0], [1.0, 11.0, 21.0, 31.0], [2.0, 12.0, 22.0, 32.0], [3.0, 13.0, 23.0, 33.0]];
            assert_eq!(L::turned_f64(rows), columns);
            assert_eq!(
                L::turned_f32(rows.map(|row| row.map(|sample| sample as f32))),
                columns.map(|row| row.map(|sample| sample as f32))
            );
        }
    }

    #[test]
    fn blocks_are_transposed() {
        run_at_all(|| Turn);
    }

    #[test]
    fn running_sums_are_those_one_by_one() {
        (1..=4).for_each(|step| run_at_all(|| Check(step)));
    }
}
