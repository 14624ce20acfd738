//! Selection of vector instructions at run time.
//!
//! A body of work is written once and compiled for each [`Level`]. Every function that it calls must be inlined into
//! it, otherwise that function is compiled for the baseline.
#![allow(unsafe_code)] // only in this file: instructions beyond the baseline, after detection

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
    /// `self + b`.
    fn add(self, b: Self) -> Self;
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
}

/// Work whose body is compiled for each level.
pub(crate) trait Work {
    /// Performs the work. Must be `#[inline(always)]`.
    fn run<L: Level>(self);
}

/// Runs the work with the widest vector instructions of this machine.
#[inline(always)]
pub(crate) fn run(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the machine was just found to have AVX-512 F and VL.
            return unsafe { x86::run_avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the machine was just found to have AVX2 and FMA.
            return unsafe { x86::run_avx2(work) };
        }
    }
    // Otherwise the baseline: it has a fused multiply-add on AArch64; on old x86 that is a slow but exact function
    // call.
    work.run::<Baseline>();
}

/// Runs work at every level of this machine, for comparison.
#[cfg(test)]
pub(crate) fn run_at_all<W: Work>(mut work: impl FnMut() -> W) {
    work().run::<Baseline>();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the machine was just found to have AVX-512 F and VL.
            unsafe { x86::run_avx512(work()) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
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
    use super::{Level, Vector, Work};
    use std::arch::x86_64::*;

    // Private to this module, so that only the two functions below can run work with them.
    struct Avx512;
    struct Avx2;

    impl Level for Avx512 {
        type F32 = __m512;
        type F64 = __m512d;
        const MANY_REGISTERS: bool = true;
    }

    impl Level for Avx2 {
        type F32 = __m256;
        type F64 = __m256d;
        const MANY_REGISTERS: bool = false;
    }

    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn run_avx512(work: impl Work) {
        work.run::<Avx512>();
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn run_avx2(work: impl Work) {
        work.run::<Avx2>();
    }

    macro_rules! vector {
        ($($vector:ty: $type:ty, $lanes:literal, $splat:ident, $load:ident, $fma:ident, $add:ident, $store:ident;)*) => {$(
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
                fn add(self, b: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $add(self, b) }
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
        __m512: f32, 16, _mm512_set1_ps, _mm512_loadu_ps, _mm512_fmadd_ps, _mm512_add_ps, _mm512_storeu_ps;
        __m512d: f64, 8, _mm512_set1_pd, _mm512_loadu_pd, _mm512_fmadd_pd, _mm512_add_pd, _mm512_storeu_pd;
        __m256: f32, 8, _mm256_set1_ps, _mm256_loadu_ps, _mm256_fmadd_ps, _mm256_add_ps, _mm256_storeu_ps;
        __m256d: f64, 4, _mm256_set1_pd, _mm256_loadu_pd, _mm256_fmadd_pd, _mm256_add_pd, _mm256_storeu_pd;
    }
}
