//! Two streams on one GPU do not disturb each other.

use apron::{AnyImage, Border, Device, DeviceImage, Image, Mask};
use apron_testkit::{first_mismatch, gpu_or_skip};

const LAUNCHES: usize = 1000;

fn image(seed: u32) -> Image<'static, f32> {
    let samples: Vec<f32> = (0..200 * 150).map(|i: u32| ((i.wrapping_mul(seed) >> 3) % 997) as f32 / 997.0).collect();
    Image::new(200, 150, 1, samples).unwrap()
}

fn mask(seed: u32) -> Mask {
    Mask::new(9, 7, (0..63).map(|i| ((i * seed) % 31) as f32 - 15.0).collect::<Vec<_>>()).unwrap()
}

fn filtered(device: &Device, image: &DeviceImage, mask: &Mask) -> DeviceImage {
    device.correlate(image, mask.clone()).border(Border::Wrap).run().unwrap()
}

/// Two threads, each with its stream, its image and its mask, launch as fast as they can.
#[test]
fn two_streams_with_two_masks() {
    let Some(gpu) = gpu_or_skip("two streams with two masks") else { return };
    std::thread::scope(|scope| {
        for seed in [3, 7] {
            let device = gpu.new_stream().unwrap();
            scope.spawn(move || {
                let (image, mask) = (image(seed), mask(seed));
                let expected = Device::reference().correlate(&image, mask.clone()).border(Border::Wrap).run().unwrap();
                let expected = expected.download::<f32>().unwrap();
                let on_device = device.upload(&image).unwrap();
                let results: Vec<DeviceImage> = (0..LAUNCHES).map(|_| filtered(&device, &on_device, &mask)).collect();
                for (launch, result) in results.iter().enumerate() {
                    assert!(result.download::<f32>().unwrap() == expected, "seed {seed}, launch {launch}");
                }
            });
        }
    });
}

/// Variants that share more than memory between launches (the module's only constant symbol for masks; the stream's
/// only texture, recreated for two sizes in turn), and variants with masks in parameters and in global memory.
const SHARED: [&str; 6] =
    ["conv2d-tiled-symbol", "conv2d-tiled", "rgba-texture", "conv2d-constant", "conv2d-naive", "rgba-cooperative"];

/// An input on the device, its mask, and the expected result.
struct Lane {
    input: DeviceImage,
    mask: Mask,
    expected: AnyImage<'static>,
}

impl Lane {
    fn new(device: &Device, image: AnyImage<'static>, mask: Mask) -> Lane {
        let expected = Device::reference().correlate(&image, mask.clone()).border(Border::Replicate).run().unwrap();
        Lane { input: device.upload(&image).unwrap(), mask, expected: expected.into_host().unwrap() }
    }

    /// Makes a grey image for the dense variants, and two RGBA images of different sizes.
    fn all(device: &Device, seed: u32) -> [Lane; 3] {
        let small = Mask::new(3, 3, (0..9).map(|i| ((i * seed) % 7) as f32 / 13.0).collect::<Vec<_>>()).unwrap();
        let rgba = |width: u32, height: u32| {
            let bytes = (0..width * height * 4).map(|i| (i.wrapping_mul(seed) >> 2) as u8).collect::<Vec<_>>();
            AnyImage::U8(Image::new(width, height, 4, bytes).unwrap())
        };
        [
            Lane::new(device, AnyImage::F32(image(seed)), mask(seed)),
            Lane::new(device, rgba(150 + seed, 61), small.clone()),
            Lane::new(device, rgba(64, 90 + seed), small),
        ]
    }

    fn launch(&self, device: &Device, variant: &str) -> DeviceImage {
        device.correlate(&self.input, self.mask.clone()).border(Border::Replicate).variant(variant).run().unwrap()
    }
}

/// Launches all variants in turn, without synchronisation, and compares every result.
fn load(device: &Device, lanes: &[Lane; 3], rounds: usize) {
    let mut results = Vec::new();
    for round in 0..rounds {
        for variant in SHARED {
            let lane = if variant.starts_with("rgba") { &lanes[1 + round % 2] } else { &lanes[0] };
            results.push((variant, round, lane, lane.launch(device, variant)));
        }
    }
    for (variant, round, lane, result) in results {
        let mismatch = first_mismatch(&result.into_host().unwrap(), &lane.expected);
        assert!(mismatch.is_none(), "{variant}, round {round}: {}", mismatch.unwrap());
    }
}

/// Two threads, two streams, two masks, two images: thousands of launches through textures and constant memory.
#[test]
fn textures_and_constant_memory_under_load() {
    let Some(gpu) = gpu_or_skip("textures and constant memory under load") else { return };
    std::thread::scope(|scope| {
        for seed in [3, 7] {
            let device = gpu.new_stream().unwrap();
            scope.spawn(move || load(&device, &Lane::all(&device, seed), LAUNCHES / 2));
        }
    });
}

/// Both threads on one stream, where they also share its texture.
#[test]
fn two_threads_on_one_stream() {
    let Some(gpu) = gpu_or_skip("two threads on one stream") else { return };
    std::thread::scope(|scope| {
        for seed in [3, 7] {
            let device = gpu.clone();
            scope.spawn(move || load(&device, &Lane::all(&device, seed), LAUNCHES / 4));
        }
    });
}

/// The load itself, and that it detects a wrong mask.
#[test]
fn the_load_on_the_emulator() {
    let emulator = Device::emulator();
    let mut lanes = Lane::all(&emulator, 3);
    load(&emulator, &lanes, 2);
    lanes[0].mask = mask(7);
    assert!(std::panic::catch_unwind(|| load(&emulator, &lanes, 1)).is_err());
}

/// One thread launches on two streams in turn, without synchronisation.
#[test]
fn two_streams_in_turn() {
    let Some(gpu) = gpu_or_skip("two streams in turn") else { return };
    let lanes = [3, 7].map(|seed| {
        let device = gpu.new_stream().unwrap();
        let (image, mask) = (image(seed), mask(seed));
        let expected = Device::cpu().correlate(&image, mask.clone()).border(Border::Wrap).run().unwrap();
        (device.upload(&image).unwrap(), device, mask, expected.download::<f32>().unwrap())
    });
    let results: Vec<[DeviceImage; 2]> =
        (0..LAUNCHES).map(|_| [0, 1].map(|n| filtered(&lanes[n].1, &lanes[n].0, &lanes[n].2))).collect();
    for (launch, pair) in results.iter().enumerate() {
        for (result, lane) in pair.iter().zip(&lanes) {
            assert!(result.download::<f32>().unwrap() == lane.3, "launch {launch}");
        }
    }
}

/// Counts in the stream's zero-initialised workspace, from threads with separate streams and from two threads on one
/// stream.
#[test]
fn histograms_in_one_launch_under_load() {
    let Some(gpu) = gpu_or_skip("histograms in one launch under load") else { return };
    std::thread::scope(|scope| {
        for (seed, device) in [(3, gpu.new_stream().unwrap()), (7, gpu.clone()), (11, gpu.clone())] {
            scope.spawn(move || {
                let bytes = (0..400 * 500).map(|i: u32| (i.wrapping_mul(seed) >> 4) as u8).collect::<Vec<_>>();
                let image = Image::new(400, 500, 1, bytes).unwrap();
                let expected = Device::reference().histogram(&image).run().unwrap();
                let on_device = device.upload(&image).unwrap();
                for launch in 0..LAUNCHES {
                    let counted = device.histogram(&on_device).variant("histogram-one-launch").run().unwrap();
                    assert!(counted.counts() == expected.counts(), "seed {seed}, launch {launch}");
                }
            });
        }
    });
}

/// An image of one stream is used on another, and dropped while the other stream may still read it.
#[test]
fn an_image_crosses_streams_and_is_dropped_at_once() {
    let Some(gpu) = gpu_or_skip("an image that crosses streams") else { return };
    let other = gpu.new_stream().unwrap();
    let (image, mask) = (image(5), mask(5));
    let expected = {
        let first = Device::cpu().correlate(&image, mask.clone()).border(Border::Wrap).run().unwrap();
        filtered(&Device::cpu(), &first, &mask).download::<f32>().unwrap()
    };
    for _ in 0..LAUNCHES {
        let uploaded = gpu.upload(&image).unwrap();
        let first = filtered(&gpu, &uploaded, &mask);
        drop(uploaded);
        let second = filtered(&other, &first, &mask);
        drop(first);
        // Work on the reused memory must not affect `second`.
        let _overwritten = gpu.upload(&self::image(9)).unwrap();
        assert!(second.download::<f32>().unwrap() == expected);
    }
}
