//! Test cases, comparisons, and the suite that every device must pass.
//!
//! A [`Case`] is a problem with its data. [`check_all`] runs it on a device by every variant that supports it, and
//! compares each result with the serial reference, bit for bit, and f32 results also with the exact sum, within the
//! stated bound. Tests and `apron verify` run the same cases.
//!
//! [`machine`] and [`nvcc`] support measurements: facts for their records, and CUDA C programs to compare with.
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod case;
mod casts;
mod check;
mod describe;
mod doubles;
mod exact;
mod examples;
mod extents;
pub mod features;
mod fft;
mod halves;
pub mod machine;
mod methods;
pub mod named;
pub mod nvcc;
mod pad;
mod paired;
mod pointwise;
mod random;
mod scaled;
mod suite;
mod values;
mod volumes;
mod watchdog;

pub use case::{Case, Data, random_image};
pub use check::{
    Errors, Expected, Outcome, check, check_all, check_each, eligible, filter_of, first_mismatch, histogram_of,
    variants,
};
pub use examples::examples;
pub use random::{random_case, seldom};
pub use suite::{Scale, exhaustive, suite};

use apron::Device;

/// Opens the GPU; `None`, with a printed line, if there is none.
///
/// A test on the GPU that takes longer than `APRON_WATCHDOG` seconds, 600 by default, ends the process: a deadlocked
/// kernel would never end.
///
/// # Panics
/// If `APRON_REQUIRE_GPU` is 1 and there is no GPU: a skipped test would go unnoticed.
pub fn gpu_or_skip(what: &str) -> Option<Device> {
    match Device::gpu(0) {
        Ok(device) => {
            watchdog::guard(what);
            Some(device)
        }
        Err(error) => {
            let required = std::env::var("APRON_REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "APRON_REQUIRE_GPU is 1, but: {error}");
            eprintln!("skipped on the GPU: {what} ({error})");
            None
        }
    }
}
