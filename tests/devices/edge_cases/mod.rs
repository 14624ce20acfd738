//! Cases that broke other libraries, by name, on every device; docs/edge-cases.md lists them, and the tests elsewhere.

mod bins;
mod counters;
mod page;
mod shapes;
mod sizes;
mod values;

use apron::{Device, Image, Pixel};

/// Returns all available devices.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu(), Device::reference(), Device::emulator()];
    devices.extend(apron_testkit::gpu_or_skip("edge cases"));
    devices
}

/// Makes an image of one row and one channel.
fn row<T: Pixel>(samples: &[T]) -> Image<'static, T> {
    Image::new(samples.len() as u32, 1, 1, samples.to_vec()).unwrap()
}

/// Makes an image of small integers, whose sums are exact.
fn integers(width: u32, height: u32) -> Image<'static, f32> {
    let samples = (0..width * height).map(|i| (i * i % 17) as f32 - 8.0);
    Image::new(width, height, 1, samples.collect::<Vec<_>>()).unwrap()
}
