//! The CUDA driver, loaded at run time.
//!
//! `cust` links `libcuda`, so a program that uses it would not start on a machine without a driver. This crate defines
//! the driver's entry points itself, each a jump through a table, and fills the table from `libcuda.so.1` on the first
//! [`load`]. Until then, and for entry points that an older driver lacks, a call returns an error code.
//!
//! One risk remains: `cust_raw` declares the driver's status codes as a Rust enum of CUDA 11.4, which does not have the
//! codes that newer drivers add.
#![warn(missing_debug_implementations)]

mod names;

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The reason why there is no driver.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoadError {
    /// The library was not found.
    #[error("no NVIDIA driver found ({0})")]
    Missing(String),
}

/// Stands in for entry points that the driver lacks: returns `CUDA_ERROR_NOT_FOUND`.
extern "C" fn unavailable() -> i32 {
    500
}

/// Loads the driver and looks up its entry points, once; later calls return the first result.
///
/// # Errors
/// [`LoadError`] if there is no driver.
pub fn load() -> Result<(), LoadError> {
    static LOADED: OnceLock<Result<(), LoadError>> = OnceLock::new();
    LOADED.get_or_init(fill_table).clone()
}

fn fill_table() -> Result<(), LoadError> {
    // SAFETY: loading runs the driver's initialisers, as in every CUDA program.
    let library = unsafe { libloading::Library::new("libcuda.so.1") };
    let library = library.map_err(|error| {
        // The loader's message is the source of libloading's error.
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        LoadError::Missing(cause.unwrap_or_else(|| error.to_string()))
    })?;
    for (name, slot) in names::NAMES.iter().zip(&names::TABLE) {
        // SAFETY: the symbol is only stored; calls go through cust_raw's declaration of it.
        if let Ok(symbol) = unsafe { library.get::<*mut c_void>(*name) } {
            slot.store(*symbol, Ordering::Release);
        }
    }
    // The library stays loaded: its entry points are called until the process ends.
    std::mem::forget(library);
    Ok(())
}

/// Returns the initial address of a table slot: not null, so that a call before `load` returns an error.
const fn slot() -> AtomicPtr<c_void> {
    AtomicPtr::new(unavailable as *mut c_void)
}

/// Defines the entry points, the table of their addresses, and the list of their names.
macro_rules! entry_points {
    ($($index:literal $name:ident,)*) => {
        const COUNT: usize = [$(stringify!($name)),*].len();
        pub(crate) static TABLE: [std::sync::atomic::AtomicPtr<std::ffi::c_void>; COUNT] =
            [const { crate::slot() }; COUNT];
        pub(crate) static NAMES: [&[u8]; COUNT] = [$(concat!(stringify!($name), "\0").as_bytes()),*];

        $(
            /// Jumps to the driver with unchanged arguments and return address.
            // SAFETY: nothing else in the program defines the driver's names.
            #[allow(non_snake_case)]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                std::arch::naked_asm!(
                    "jmp qword ptr [rip + {table} + {offset}]",
                    table = sym TABLE,
                    offset = const $index * 8,
                );
                #[cfg(target_arch = "aarch64")]
                std::arch::naked_asm!(
                    // x16 is a scratch register of the calling convention, reserved for linker veneers.
                    "adrp x16, {table} + {offset}",
                    "ldr x16, [x16, :lo12:{table} + {offset}]",
                    "br x16",
                    table = sym TABLE,
                    offset = const $index * 8,
                );
                #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
                compile_error!("GPU support needs x86-64 or aarch64: build with --no-default-features");
            }
        )*

        /// References every entry point, so that the linker keeps it.
        #[used]
        static KEPT: [extern "C" fn(); COUNT] = [$($name),*];

        #[cfg(test)]
        mod tests {
            #[test]
            fn slots_are_numbered_in_order() {
                let numbers = [$($index),*];
                assert!(numbers.iter().enumerate().all(|(place, number)| place == *number));
            }
        }
    };
}
use entry_points;

#[cfg(test)]
mod tests {
    unsafe extern "C" {
        fn cuDriverGetVersion(version: *mut i32) -> i32;
    }

    #[test]
    fn entry_points_answer_with_and_without_a_driver() {
        let mut version = -1;
        // SAFETY: the entry point is defined in this crate, and takes a pointer to an int.
        let before = unsafe { cuDriverGetVersion(&mut version) };
        match super::load() {
            Ok(()) => {
                // SAFETY: as above.
                assert_eq!(unsafe { cuDriverGetVersion(&mut version) }, 0);
                assert!(version >= 11000, "{version}");
            }
            Err(error) => {
                assert_eq!(before, 500);
                assert!(error.to_string().contains("no NVIDIA driver"), "{error}");
            }
        }
    }
}
