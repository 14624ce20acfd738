//! Types that may cross threads; and concurrent threads, on one device and on several, get the results of one thread.

use apron::filters::{self, Sobel};
use apron::volumes::{
    AnyVolume, Volume, VolumeBorders, VolumeFilterBuilder, VolumeFormula, VolumeMask, VolumeShape, VolumeWeights,
};
use apron::{
    AnyImage, AnyImageMut, Binning, Bins, Border, Borders, Cast, Chain, Device, DeviceHistogram, DeviceImage,
    DeviceInfo, DeviceName, DeviceVolume, Edges, Error, Estimate, Extent, FilterBuilder, Formula, GpuSet, Histogram,
    Histogram2d, Histogram2dBuilder, Histogram256, HistogramBuilder, HistogramDd, HistogramDdBuilder, Image, ImageMut,
    Information, KernelInfo, LimitRun, LookupBuilder, Machine, Mask, Method, PadBuilder, PercentilesBuilder, Pinned,
    PixelType, PointOp, Region, Report, Shape, Source, SparseHistogram, Statistics, StatisticsBuilder, Table, Taps,
    Target, Tuning, WeightedHistogram, WeightedHistogramBuilder, Weights,
};
use apron_testkit::gpu_or_skip;
use std::panic::UnwindSafe;

/// A recorded chain is only `Send`: it holds the caller's closure, and a graph that cannot run concurrently.
#[test]
fn what_may_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    fn shared<T: Send + Sync + Clone>() {}
    shared::<(Device, DeviceImage, DeviceVolume, DeviceInfo, DeviceName, GpuSet, KernelInfo, Machine, Tuning)>();
    shared::<(Image<'_, f32>, AnyImage<'_>, Volume<'_, u8>, AnyVolume<'_>, Shape, VolumeShape, Region, PixelType)>();
    shared::<(Mask, Taps, Formula, PointOp, Border, Borders, Cast, Extent, Method)>();
    shared::<(VolumeMask, VolumeWeights, VolumeFormula, VolumeBorders)>();
    shared::<(Binning, Bins, Edges, Histogram, Histogram2d, HistogramDd, SparseHistogram, WeightedHistogram)>();
    shared::<(Information, Statistics, Report, Estimate)>();
    crosses::<(Error, ImageMut<'_, u8>, AnyImageMut<'_>, Source<'_>, Target<'_>, Table<'_>, Weights<'_>, Pinned<u8>)>();
    crosses::<(FilterBuilder<'_>, FilterBuilder<'_, Sobel>, VolumeFilterBuilder<'_>, PadBuilder<'_>, LookupBuilder<'_>)>(
    );
    crosses::<(HistogramBuilder<'_>, WeightedHistogramBuilder<'_>, Histogram2dBuilder<'_>, HistogramDdBuilder<'_>)>();
    crosses::<(
        filters::Definition,
        StatisticsBuilder<'_>,
        PercentilesBuilder<'_>,
        DeviceHistogram,
        Histogram256,
        LimitRun,
    )>();
    fn sent<T: Send>() {}
    sent::<Chain<'_, DeviceImage>>();
    fn kept<T: 'static + UnwindSafe>() {}
    kept::<(Device, DeviceImage, DeviceVolume, DeviceHistogram)>();
}

fn frame(seed: u32) -> Image<'static, u8> {
    Image::new(61, 40, 3, (0..61 * 40 * 3).map(|i: u32| (i.wrapping_mul(seed) >> 2) as u8).collect::<Vec<_>>()).unwrap()
}

/// Blurs into an existing image, takes its gradient, and counts; returns the results.
fn round(device: &Device, frame: &DeviceImage, blurred: &mut DeviceImage) -> (Image<'static, u8>, Histogram) {
    device.gaussian(frame, 1.5).run_into(&mut *blurred).unwrap();
    let edges = device.gradient(&*blurred).run().unwrap();
    (edges.download().unwrap(), device.histogram(&edges).run().unwrap())
}

/// Runs threads with a seed each, which use the devices in turn.
fn threads(devices: &[Device], rounds: u32) {
    let reference = Device::reference();
    let room = |device: &Device| device.zeros(frame(1).shape(), PixelType::U8).unwrap();
    std::thread::scope(|scope| {
        for seed in [3, 5, 7, 11] {
            let expected = round(&reference, &reference.upload(&frame(seed)).unwrap(), &mut room(&reference));
            scope.spawn(move || {
                let mut places: Vec<_> =
                    devices.iter().map(|device| (device, device.upload(&frame(seed)).unwrap(), room(device))).collect();
                for _ in 0..rounds {
                    for (device, frame, blurred) in &mut places {
                        assert!(round(device, frame, blurred) == expected, "seed {seed} on {}", device.name());
                    }
                }
            });
        }
    });
}

#[test]
fn threads_on_one_device() {
    for (device, rounds) in [(Device::cpu(), 50), (Device::emulator(), 1), (Device::reference(), 1)] {
        threads(&[device], rounds);
    }
    if let Some(gpu) = gpu_or_skip("threads on one GPU") {
        threads(&[gpu], 200);
    }
}

#[test]
fn threads_on_several_devices() {
    threads(&[Device::cpu(), Device::emulator()], 2);
    if let Some(gpu) = gpu_or_skip("threads on several devices") {
        // A second handle that shares nothing with the first, a stream, and a second GPU if there is one.
        let mut devices = vec![Device::cpu(), gpu.new_stream().unwrap(), Device::gpu(0).unwrap(), gpu];
        devices.extend(Device::gpu(1));
        threads(&devices, 50);
    }
}

/// An image of one device is the input of another one, on other threads.
#[test]
fn images_cross_devices_and_threads() {
    let mut devices = vec![Device::cpu(), Device::emulator()];
    devices.extend(gpu_or_skip("images that cross devices"));
    devices.extend(Device::gpu(1));
    let blur = |device: &Device, image: &DeviceImage| device.gaussian(image, 1.2).run().unwrap();
    let reference = Device::reference();
    let expected = blur(&reference, &blur(&reference, &reference.upload(&frame(9)).unwrap())).download::<u8>().unwrap();
    std::thread::scope(|scope| {
        for (from, to) in devices.iter().flat_map(|from| devices.iter().map(move |to| (from, to))) {
            let (blur, expected) = (&blur, &expected);
            scope.spawn(move || {
                let first = blur(from, &from.upload(&frame(9)).unwrap());
                let second = std::thread::scope(|inner| inner.spawn(move || blur(to, &first)).join().unwrap());
                assert!(second.download::<u8>().unwrap() == *expected, "{} to {}", from.name(), to.name());
            });
        }
    });
}
