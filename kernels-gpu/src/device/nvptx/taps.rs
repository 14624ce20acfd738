//! State spaces of a mask's taps, and loads from them.

use core::arch::asm;

/// A state space that holds the taps of a mask.
pub trait Taps: Copy {
    /// Reads a tap.
    ///
    /// # Safety
    /// There is a tap at `address`, and nothing writes it during the launch.
    unsafe fn one(address: u64) -> f32;
    /// Reads a tap of f64.
    ///
    /// # Safety
    /// As [`one`](Taps::one); the address is a multiple of 8.
    unsafe fn double(address: u64) -> f64;
    /// Reads four taps.
    ///
    /// # Safety
    /// There are four taps at `address`, a multiple of 16, and nothing writes them during the launch.
    unsafe fn four(address: u64) -> [f32; 4];
}

macro_rules! taps {
    ($(#[$doc:meta])* $name:ident, $load:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name;

        impl Taps for $name {
            #[inline(always)]
            unsafe fn one(address: u64) -> f32 {
                let tap: f32;
                // SAFETY: the caller's promise.
                unsafe { asm!(concat!($load, ".f32 {0}, [{1}];"), out(reg32) tap, in(reg64) address, options(pure, nomem, nostack)) };
                tap
            }

            #[inline(always)]
            unsafe fn double(address: u64) -> f64 {
                let tap: f64;
                // SAFETY: the caller's promise.
                unsafe { asm!(concat!($load, ".f64 {0}, [{1}];"), out(reg64) tap, in(reg64) address, options(pure, nomem, nostack)) };
                tap
            }

            #[inline(always)]
            unsafe fn four(address: u64) -> [f32; 4] {
                let (a, b, c, d): (f32, f32, f32, f32);
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        concat!($load, ".v4.f32 {{{0}, {1}, {2}, {3}}}, [{4}];"),
                        out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
                        in(reg64) address,
                        options(pure, nomem, nostack)
                    );
                }
                [a, b, c, d]
            }
        }
    };
}
taps!(
    /// A parameter of the launch. With a Rust reference to the parameter, an index at run time would copy all of it to
    /// local memory.
    Parameter,
    "ld.param"
);
taps!(
    /// The module's constant symbol.
    Symbol,
    "ld.const"
);
taps!(
    /// A buffer in global memory.
    Buffer,
    "ld.global.nc"
);
