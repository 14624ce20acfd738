//! The entries that a launch names, generated from the kernel table: each calls its body.

// A PTX build contains one family, and does not need all of these.
#[allow(unused_imports)]
use crate::{
    boxes, conv1d, conv2d, device::Global, fft, histogram, limits, local, lookup, march, paired, patch, pointwise,
    rgba, samples, statistics, volumes, windows, words, Body,
};
use apron_abi::*;

macro_rules! define_entries {
    ($($entry:ident: $family:ident $feature:literal $program:literal $variant:literal $stage:literal, $body:ty,
       $source:ident ($src:ty, $dst:ty), $params:ident, $taps:ident, $block:expr, $shared:expr, $barriers:expr,
       $residents:literal;)*) => {
        $(define_entry!(@ $feature, $taps, $entry, $body, $src, $dst, $params);)*

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
                    unsafe { <$body>::run_alone(device, src, dst, params) }
                })*
                _ => panic!("{kernel:?} does not take {params:?}"),
            }
        }
    };
}

/// Gives each body a separate function, since one function with all bodies takes minutes to compile. A trait method is
/// compiled with the module of its body, in parallel with other modules; functions of one module would be compiled one
/// after another.
#[cfg(not(target_arch = "nvptx64"))]
trait Alone: Body {
    /// Runs the body.
    ///
    /// # Safety
    /// The launch contract of the body holds.
    #[inline(never)]
    unsafe fn run_alone<D: crate::device::Device>(device: D, src: u64, dst: u64, params: &Self::Params) {
        // SAFETY: the caller keeps the contract.
        unsafe { Self::run(device, Global::at(src), Global::at(dst), params) }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl<B: Body> Alone for B {}

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
#[allow(unused_imports)]
use crate::device::nvptx::{Buffer, Nvptx, Parameter, Symbol};

// The symbol's size in bytes equals the size of `Taps<MAX_TAPS>`.
#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda"), feature = "conv2d"))]
core::arch::global_asm!(".visible .const .align 16 .b8 apron_taps[16384];");

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
const _: () = assert!(size_of::<Taps<MAX_TAPS>>() == 16384);

/// Returns the source and the destination of the block's image of the batch.
#[cfg(any(target_arch = "nvptx64", feature = "rust-cuda"))]
#[inline(always)]
fn of_image<D: crate::device::Device, S, T>(
    d: D,
    src: Global<S>,
    dst: Global<T>,
    p: &Layers,
) -> (Global<S>, Global<T>) {
    (src.of_image(d.image(), p.src_step), dst.of_image(d.image(), p.dst_step))
}

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
macro_rules! define_entry {
    (@ $feature:literal, SmallParameter, $($rest:tt)*) => { define_entry!(@ $feature, Taps<FEW_TAPS>, $($rest)*); };
    (@ $feature:literal, FewestParameter, $($rest:tt)*) => { define_entry!(@ $feature, Taps<FEWEST_TAPS>, $($rest)*); };
    (@ $feature:literal, Parameter, $($rest:tt)*) => { define_entry!(@ $feature, Taps<MAX_TAPS>, $($rest)*); };
    (@ $feature:literal, Taps<$most:ident>, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@ $feature, $entry, $body, $src, $dst, $params, (, _taps: Taps<$most>), Parameter, {
            let taps: u64;
            // SAFETY: takes the address of the fifth parameter, and reads no memory.
            unsafe {
                core::arch::asm!(
                    concat!("mov.b64 {0}, ", stringify!($entry), "_param_4;"),
                    out(reg64) taps,
                    options(pure, nomem, nostack)
                );
            }
            taps
        });
    };
    (@ $feature:literal, Symbol, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@ $feature, $entry, $body, $src, $dst, $params, (), Symbol, {
            let taps: u64;
            // SAFETY: takes the symbol's address in constant space, and reads no memory.
            unsafe { core::arch::asm!("mov.b64 {0}, apron_taps;", out(reg64) taps, options(pure, nomem, nostack)) };
            taps
        });
    };
    (@ $feature:literal, Global, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@ $feature, $entry, $body, $src, $dst, $params, (, taps: Global<f32>), Buffer, taps.address);
    };
    (@ $feature:literal, None, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@ $feature, $entry, $body, $src, $dst, $params, (), Parameter, 0);
    };
    (@ $feature:literal, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident,
     ($(, $taps:ident: $type:ty)?), $space:ident, $address:expr) => {
        #[cfg(feature = $feature)]
        #[unsafe(no_mangle)]
        unsafe extern "ptx-kernel" fn $entry(
            src: Global<$src>, dst: Global<$dst>, params: $params, layers: Layers $(, $taps: $type)?
        ) {
            let device = Nvptx::<$space>::new($address, &layers);
            let (src, dst) = of_image(device, src, dst, &layers);
            // SAFETY: the launch keeps the contract.
            unsafe { <$body as Body>::run(device, src, dst, &params) }
        }
    };
}

/// The constant symbol of [`TapSpace::Symbol`] under Rust-CUDA.
#[cfg(feature = "rust-cuda")]
#[cuda_std::address_space(constant)]
#[allow(non_upper_case_globals)]
#[no_mangle]
static mut apron_taps: Taps<MAX_TAPS> = Taps([0.0; MAX_TAPS]);

#[cfg(feature = "rust-cuda")]
macro_rules! define_entry {
    (@ $feature:literal, SmallParameter, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@@ $entry, $body, $src, $dst, $params, (, taps: Taps<FEW_TAPS>), taps.0.as_ptr());
    };
    (@ $feature:literal, FewestParameter, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@@ $entry, $body, $src, $dst, $params, (, taps: Taps<FEWEST_TAPS>), taps.0.as_ptr());
    };
    (@ $feature:literal, Parameter, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@@ $entry, $body, $src, $dst, $params, (, taps: Taps<MAX_TAPS>), taps.0.as_ptr());
    };
    (@ $feature:literal, Symbol, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@@ $entry, $body, $src, $dst, $params, (), (&raw const apron_taps).cast::<f32>());
    };
    (@ $feature:literal, Global, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@@ $entry, $body, $src, $dst, $params, (, taps: Global<f32>), taps.address as *const f32);
    };
    (@ $feature:literal, None, $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident) => {
        define_entry!(@@ $entry, $body, $src, $dst, $params, (), core::ptr::null());
    };
    (@@ $entry:ident, $body:ty, $src:ty, $dst:ty, $params:ident, ($(, $taps:ident: $type:ty)?), $pointer:expr) => {
        /// Entry under Rust-CUDA.
        ///
        /// # Safety
        /// The launch keeps the contract of the kernel's body.
        #[cuda_std::kernel]
        pub unsafe fn $entry(
            src: Global<$src>, dst: Global<$dst>, params: $params, layers: Layers $(, $taps: $type)?
        ) {
            let device = crate::device::rust_cuda::RustCuda { taps: $pointer, layer_rows: layers.rows };
            let (src, dst) = of_image(device, src, dst, &layers);
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
