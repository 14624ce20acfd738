//! The same bits in every run, with every grid, from every thread.

use apron::{Border, Device, Image, Method, PixelType, Tuning};
use apron_testkit::gpu_or_skip;

fn photo() -> Image<'static, u8> {
    let samples = (0..211u32 * 97 * 3).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>();
    Image::new(211, 97, 3, samples).unwrap()
}

/// Results of several operations, with bits that another order of summation would change.
fn bits(device: &Device, grid: Option<Tuning>) -> (Vec<u32>, Vec<u32>, Vec<u64>, Vec<u8>) {
    let photo = photo();
    let blurred =
        device.gaussian(&photo, 2.3).border(Border::Wrap).out_type(PixelType::F32).tuning(grid).run().unwrap();
    let floats = blurred.download::<f32>().unwrap();
    let mean = device.box_filter(&floats, 31, 21).method(Method::Box).run().unwrap().download::<f32>().unwrap();
    let counts = device.histogram(&photo).per_channel(true).tuning(grid).run().unwrap().counts().to_vec();
    let equalized = device.equalize(&photo).run().unwrap().download::<u8>().unwrap();
    let bits = |image: Image<'_, f32>| image.packed().iter().map(|sample| sample.to_bits()).collect::<Vec<_>>();
    (bits(floats), bits(mean), counts, equalized.packed().into_owned())
}

#[test]
fn a_hundred_runs_on_the_cpu() {
    let (device, expected) = (Device::cpu(), bits(&Device::reference(), None));
    for run in 0..100 {
        assert!(bits(&device, None) == expected, "run {run}");
    }
}

#[test]
fn every_grid_where_kernels_run() {
    let expected = bits(&Device::reference(), None);
    let gpu = gpu_or_skip("a hundred runs by many grids");
    for (device, runs) in [(Some(Device::emulator()), 3), (gpu, 100)] {
        let Some(device) = device else { continue };
        for run in 0..runs {
            let grid = Tuning { rows: [0, 16, 7][run % 3], residents: 1 + run as u32 % 4 };
            assert!(bits(&device, Some(grid)) == expected, "run {run} by {grid:?} on {}", device.name());
        }
    }
}
