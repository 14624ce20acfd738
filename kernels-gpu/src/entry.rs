//! The entries that a launch names, generated from the kernel table: each calls its body.

// A PTX build holds one family, and needs not all of these.
#[allow(unused_imports)]
use crate::{conv1d, conv2d, device::Global, histogram, Body};
use apron_abi::*;

macro_rules! define_entries {
    ($($entry:ident: $family:ident, $program:literal, $variant:literal, $body:ty,
       ($src:ty, $dst:ty), $params:ident, $taps:ident, [$bx:literal, $by:literal], $barriers:literal;)*) => {
        $(define_entry!($family, $taps, $entry, $body, $src, $dst, $params);)*

        /// Runs the body of `kernel` as one thread of `device`.
        ///
        /// # Safety
        /// The launch contract of the kernel's body holds.
        #[cfg(not(target_arch = "nvptx64"))]
        #[inline]
        pub unsafe fn run_on<D: crate::device::Device>(device: D, kernel: Kernel, src: u64, dst: u64, params: &Params) {
            match (kernel, params) {
                $((Kernel::$entry, Params::$params(params)) => {
                    // SAFETY: the caller keeps the contract.
                    unsafe { <$body as Body>::run(device, Global::at(src), Global::at(dst), params) }
                })*
                _ => panic!("{kernel:?} does not take {params:?}"),
            }
        }
    };
}

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
macro_rules! define_entry {
    (Convolution, $($rest:tt)*) => { define_entry!(@ "convolution", $($rest)*); };
    (Histogram, $($rest:tt)*) => { define_entry!(@ "histogram", $($rest)*); };
    (@ $feature:literal, taps, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        #[cfg(feature = $feature)]
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $entry(src: Global<$src>, dst: Global<$dst>, params: $params, _taps: Taps) {
            let taps: u64;
            // SAFETY: takes the address of the fourth parameter, and reads no memory.
            unsafe {
                core::arch::asm!(
                    concat!("mov.b64 {0}, ", stringify!($entry), "_param_3;"),
                    out(reg64) taps,
                    options(pure, nomem, nostack)
                );
            }
            let device = crate::device::nvptx::Nvptx { taps };
            // SAFETY: the launch keeps the contract.
            unsafe { <$body as Body>::run(device, src, dst, &params) }
        }
    };
    (@ $feature:literal, no_taps, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        #[cfg(feature = $feature)]
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $entry(src: Global<$src>, dst: Global<$dst>, params: $params) {
            let device = crate::device::nvptx::Nvptx { taps: 0 };
            // SAFETY: the launch keeps the contract.
            unsafe { <$body as Body>::run(device, src, dst, &params) }
        }
    };
}

#[cfg(feature = "rust-cuda")]
macro_rules! define_entry {
    ($family:ident, taps, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        /// Entry under Rust-CUDA.
        ///
        /// # Safety
        /// The launch keeps the contract of the kernel's body.
        #[cuda_std::kernel]
        pub unsafe fn $entry(src: Global<$src>, dst: Global<$dst>, params: $params, taps: Taps) {
            let device = crate::device::rust_cuda::RustCuda { taps: Some(&taps) };
            // SAFETY: the launch keeps the contract.
            unsafe { <$body as Body>::run(device, src, dst, &params) }
        }
    };
    ($family:ident, no_taps, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        /// Entry under Rust-CUDA.
        ///
        /// # Safety
        /// The launch keeps the contract of the kernel's body.
        #[cuda_std::kernel]
        pub unsafe fn $entry(src: Global<$src>, dst: Global<$dst>, params: $params) {
            let device = crate::device::rust_cuda::RustCuda { taps: None };
            // SAFETY: the launch keeps the contract.
            unsafe { <$body as Body>::run(device, src, dst, &params) }
        }
    };
}

#[cfg(not(any(target_arch = "nvptx64", feature = "rust-cuda")))]
macro_rules! define_entry {
    ($($any:tt)*) => {};
}

for_each_kernel!(define_entries);
