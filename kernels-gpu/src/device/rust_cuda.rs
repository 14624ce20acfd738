//! The device layer in `cuda_std`, for the Rust-CUDA compiler.

use super::{Device, Global, Shared, TextureHandle};
use apron_abi::{Accumulator, Element, ElementType, FromSum, BYTE_UNIT};
use core::mem::transmute_copy;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use cuda_std::{shared::dynamic_shared_mem, thread, GpuFloat};

/// A thread on an NVIDIA GPU.
#[derive(Clone, Copy)]
pub struct RustCuda {
    /// The first tap of the mask, in any state space; null for kernels without taps.
    pub taps: *const f32,
    /// Rows of blocks per layer of the grid.
    pub layer_rows: u32,
}

#[inline(always)]
fn shared_pointer<T: Element>(at: Shared<T>, index: u32) -> *mut T {
    let base: *mut u8 = dynamic_shared_mem();
    // Wrapping arithmetic, since the element is promised to exist only at the access.
    base.wrapping_add((at.offset + index * T::TYPE.size_bytes()) as usize).cast()
}

// SAFETY (every unsafe block below): the caller promises that the element exists, and the transmutes are between a
// type and the type that its tag names.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Device for RustCuda {
    #[inline(always)]
    fn thread_x(self) -> u32 {
        thread::thread_idx_x()
    }

    #[inline(always)]
    fn thread_y(self) -> u32 {
        thread::thread_idx_y()
    }

    #[inline(always)]
    fn block_x(self) -> u32 {
        thread::block_idx_x()
    }

    #[inline(always)]
    fn block_y(self) -> u32 {
        thread::block_idx_z() * self.layer_rows + thread::block_idx_y()
    }

    #[inline(always)]
    fn image(self) -> u32 {
        thread::block_idx_z()
    }

    #[inline(always)]
    fn blocks_x(self) -> u32 {
        thread::grid_dim_x()
    }

    #[inline(always)]
    fn barrier(self) {
        thread::sync_threads();
    }

    #[inline(always)]
    unsafe fn tap(self, index: u32) -> f32 {
        unsafe { *self.taps.add(index as usize) }
    }

    #[inline(always)]
    unsafe fn taps4(self, index: u32) -> [f32; 4] {
        unsafe { [self.tap(index), self.tap(index + 1), self.tap(index + 2), self.tap(index + 3)] }
    }

    #[inline(always)]
    unsafe fn load<T: Element>(self, from: Global<T>, index: u64) -> T {
        unsafe { *(from.address as *const T).add(index as usize) }
    }

    #[inline(always)]
    unsafe fn load_words(self, from: Global<u32>, index: u64) -> [u32; 4] {
        unsafe { [0, 1, 2, 3].map(|k| self.load(from, index + k)) }
    }

    #[inline(always)]
    unsafe fn texel(self, texture: TextureHandle, column: i32, row: i32) -> [f32; 4] {
        let texel = [0.0f32; 4];
        // The centre of a texel is half a pixel in.
        let (x, y) = (column as f32 + 0.5, row as f32 + 0.5);
        // cuda_std has no textures. Its type check runs on the host, which has no PTX registers.
        #[cfg(target_arch = "nvptx64")]
        unsafe {
            let (r, g, b, a): (f32, f32, f32, f32);
            core::arch::asm!(
                "tex.2d.v4.f32.f32 {{{0}, {1}, {2}, {3}}}, [{4}, {{{5}, {6}}}];",
                out(reg32) r, out(reg32) g, out(reg32) b, out(reg32) a,
                in(reg64) texture.0, in(reg32) x, in(reg32) y,
            );
            return [r, g, b, a];
        }
        #[cfg(not(target_arch = "nvptx64"))]
        let _ = (texture, x, y);
        texel
    }

    #[inline(always)]
    unsafe fn store<T: Element>(self, to: Global<T>, index: u64, value: T) {
        unsafe { *(to.address as *mut T).add(index as usize) = value }
    }

    #[inline(always)]
    unsafe fn atomic_add(self, to: Global<u64>, index: u64, value: u64) -> u64 {
        let element = unsafe { AtomicU64::from_ptr((to.address as *mut u64).add(index as usize)) };
        element.fetch_add(value, Ordering::Relaxed)
    }

    #[inline(always)]
    unsafe fn shared_load<T: Element>(self, from: Shared<T>, index: u32) -> T {
        unsafe { *shared_pointer(from, index) }
    }

    #[inline(always)]
    unsafe fn shared_store<T: Element>(self, to: Shared<T>, index: u32, value: T) {
        unsafe { *shared_pointer(to, index) = value }
    }

    #[inline(always)]
    unsafe fn shared_load4<T: Element>(self, from: Shared<T>, index: u32) -> [T; 4] {
        unsafe { *shared_pointer(from, index).cast::<[T; 4]>() }
    }

    #[inline(always)]
    unsafe fn shared_load2<T: Element>(self, from: Shared<T>, index: u32) -> [T; 2] {
        unsafe { *shared_pointer(from, index).cast::<[T; 2]>() }
    }

    #[inline(always)]
    unsafe fn shared_store2<T: Element>(self, to: Shared<T>, index: u32, values: [T; 2]) {
        unsafe { *shared_pointer(to, index).cast::<[T; 2]>() = values }
    }

    #[inline(always)]
    unsafe fn shared_store4<T: Element>(self, to: Shared<T>, index: u32, values: [T; 4]) {
        unsafe { *shared_pointer(to, index).cast::<[T; 4]>() = values }
    }

    #[inline(always)]
    unsafe fn store4<T: Element>(self, to: Global<T>, index: u64, values: [T; 4]) {
        unsafe { *(to.address as *mut T).add(index as usize).cast::<[T; 4]>() = values }
    }

    #[inline(always)]
    unsafe fn store2<T: Element>(self, to: Global<T>, index: u64, values: [T; 2]) {
        unsafe { *(to.address as *mut T).add(index as usize).cast::<[T; 2]>() = values }
    }

    #[inline(always)]
    fn bytes_of(self, word: u32) -> [f32; 4] {
        word.to_le_bytes().map(|byte| byte as f32 * BYTE_UNIT)
    }

    #[inline(always)]
    fn word_of(self, values: [f32; 4]) -> u32 {
        u32::from_le_bytes(values.map(u8::from_sum))
    }

    // Stubs, up to `mbarrier_wait`: kernels with votes, shuffles or bulk asynchronous copies do not work under
    // Rust-CUDA.
    fn ballot(self, _: bool) -> u32 {
        0
    }
    fn shuffle(self, value: u32, _: u32) -> u32 {
        value
    }
    fn shuffle_up(self, value: u32, _: u32) -> u32 {
        value
    }
    fn multiply_bytes(self, _: [u32; 4], _: [u32; 2], sums: [i32; 4]) -> [i32; 4] {
        sums
    }
    fn multiply_signed_bytes(self, _: [u32; 4], _: [u32; 2], sums: [i32; 4]) -> [i32; 4] {
        sums
    }
    unsafe fn mbarrier_init(self, _: Shared<u64>) {}
    unsafe fn mbarrier_arrive(self, _: Shared<u64>) {}
    unsafe fn bulk_copy<T: Element>(self, _: Shared<T>, _: Global<T>, _: u64, _: u32, _: Shared<u64>) {}
    unsafe fn mbarrier_wait(self, _: Shared<u64>, _: u32) {}
    unsafe fn start_copy<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        unsafe { self.shared_store(to, index, self.load(from, at)) };
    }
    unsafe fn start_copy4<T: Element>(self, to: Shared<T>, index: u32, from: Global<T>, at: u64) {
        for k in 0..4 {
            unsafe { self.shared_store(to, index + k, self.load(from, at + k as u64)) };
        }
    }
    fn end_copies(self) {}
    fn wait_copies<const PENDING: u32>(self) {}

    #[inline(always)]
    unsafe fn shared_increment(self, counters: Shared<u32>, index: u32) {
        unsafe { AtomicU32::from_ptr(shared_pointer(counters, index)) }.fetch_add(1, Ordering::Relaxed);
    }

    #[inline(always)]
    unsafe fn shared_max(self, numbers: Shared<u32>, index: u32, value: u32) {
        unsafe { AtomicU32::from_ptr(shared_pointer(numbers, index)) }.fetch_max(value, Ordering::Relaxed);
    }

    #[inline(always)]
    fn anew(self, number: u32) -> u32 {
        number
    }

    #[inline(always)]
    fn fma<A: Accumulator>(self, a: A, b: A, c: A) -> A {
        unsafe {
            match A::TYPE {
                ElementType::F32 => {
                    let (a, b, c): (f32, f32, f32) = (transmute_copy(&a), transmute_copy(&b), transmute_copy(&c));
                    transmute_copy(&GpuFloat::mul_add(a, b, c))
                }
                _ => {
                    let (a, b, c): (f64, f64, f64) = (transmute_copy(&a), transmute_copy(&b), transmute_copy(&c));
                    transmute_copy(&GpuFloat::mul_add(a, b, c))
                }
            }
        }
    }

    #[inline(always)]
    fn sqrt(self, value: f64) -> f64 {
        GpuFloat::sqrt(value)
    }

    #[inline(always)]
    fn near_sqrt(self, value: f32) -> f32 {
        GpuFloat::sqrt(value)
    }

    #[inline(always)]
    fn near_reciprocal_sqrt(self, value: f32) -> f32 {
        1.0 / GpuFloat::sqrt(value)
    }
}
