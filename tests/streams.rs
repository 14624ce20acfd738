//! Two streams on one GPU never disturb each other.

use apron::{Border, Device, DeviceImage, Image, Mask};
use apron_testkit::gpu_or_skip;

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

/// Two threads, each with a stream, an image and a mask of its own, launch as fast as they can.
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

/// One thread launches on two streams in turn, without waiting in between.
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

/// An image made on one stream is used on another, and dropped while that may still read it.
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
        // What the freed memory is given to next must not reach `second`.
        let _overwritten = gpu.upload(&self::image(9)).unwrap();
        assert!(second.download::<f32>().unwrap() == expected);
    }
}
