//! What the benches share: images, and GPU times taken by events.
#![allow(dead_code)] // each bench uses its part

use apron::{Device, Image, Report};
use criterion::Criterion;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::time::Duration;

/// A square f32 image of random samples.
pub(crate) fn image_f32(side: u32) -> Image<'static, f32> {
    let mut rng = StdRng::seed_from_u64(1);
    let samples: Vec<f32> = (0..side as usize * side as usize).map(|_| rng.random_range(-1.0..1.0)).collect();
    Image::new(side, side, 1, samples).expect("a valid shape")
}

/// A square u8 image of random samples.
pub(crate) fn image_u8(side: u32) -> Image<'static, u8> {
    let mut rng = StdRng::seed_from_u64(1);
    let samples: Vec<u8> = (0..side as usize * side as usize).map(|_| rng.random()).collect();
    Image::new(side, side, 1, samples).expect("a valid shape")
}

/// The side to use: small where the bench runs as a test.
pub(crate) fn side(full: u32) -> u32 {
    if std::env::args().any(|argument| argument == "--bench") { full } else { 65 }
}

/// The GPU, or `None` with a line that says that its rows are left out.
pub(crate) fn gpu() -> Option<Device> {
    Device::gpu(0).map_err(|error| println!("GPU rows left out: {error}")).ok()
}

/// Few samples: the serial references take seconds.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5))
}

/// The sum of the kernels' times over `runs` runs.
pub(crate) fn kernels(runs: u64, run: impl Fn() -> apron::Result<Report>) -> Duration {
    (0..runs).map(|_| run().expect("the bench's operation runs").kernels).sum()
}
