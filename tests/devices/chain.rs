//! Recorded chains: they give the results of their operations one by one, on every device, in every run.

use apron::{Bins, Device, DeviceHistogram, DeviceImage, Error, Image, Mask, PixelType, Result, Shape, filters};
use apron_testkit::gpu_or_skip;

const WIDTH: u32 = 150;
const HEIGHT: u32 = 70;

fn frame(seed: u32) -> Image<'static, u8> {
    let samples: Vec<u8> = (0..WIDTH * HEIGHT).map(|i| (i.wrapping_mul(seed) >> 3) as u8).collect();
    Image::new(WIDTH, HEIGHT, 1, samples).unwrap()
}

fn sobel() -> Mask {
    filters::named_mask("sobel-x").unwrap()
}

/// Filters with an intermediate image that is dropped, and a histogram.
fn work(device: &Device, frame: &DeviceImage) -> Result<(DeviceImage, DeviceHistogram)> {
    let blurred = device.gaussian(frame, 1.4).run()?;
    let edges = device.correlate(&blurred, sobel()).run()?;
    let counts = device.histogram(&edges).enqueue()?;
    Ok((edges, counts))
}

#[track_caller]
fn assert_same(results: &(DeviceImage, DeviceHistogram), frame: &Image<'_, u8>) {
    let reference = Device::reference();
    let expected = work(&reference, &reference.upload(frame).unwrap()).unwrap();
    assert!(results.0.download::<u8>().unwrap() == expected.0.download::<u8>().unwrap());
    assert_eq!(results.1.download().unwrap(), expected.1.download().unwrap());
}

/// Runs a chain twice for each of several frames, from the host and from the device.
fn frames(device: &Device) {
    let mut chain = device.record(&frame(3), work).unwrap();
    assert!(chain.elapsed().unwrap().is_zero());
    for _ in 0..2 {
        assert_same(chain.run().unwrap(), &frame(3));
    }
    for seed in [7, 11] {
        chain.load(&frame(seed)).unwrap();
        assert_same(chain.run().unwrap(), &frame(seed));
        let uploaded = device.upload(&frame(seed + 2)).unwrap();
        chain.load(&uploaded).unwrap();
        drop(uploaded);
        assert_same(chain.run().unwrap(), &frame(seed + 2));
    }
    assert!(!chain.elapsed().unwrap().is_zero());
}

#[test]
fn chains_on_the_host() {
    for device in [Device::cpu(), Device::reference(), Device::emulator()] {
        frames(&device);
    }
}

#[test]
fn other_images_are_refused() {
    let mut chain = Device::cpu().record(&frame(3), work).unwrap();
    let wide = Image::new(WIDTH * HEIGHT, 1, 1, vec![0u8; (WIDTH * HEIGHT) as usize]).unwrap();
    let floats = Image::new(WIDTH, HEIGHT, 1, vec![0f32; (WIDTH * HEIGHT) as usize]).unwrap();
    for error in [chain.load(&wide).unwrap_err(), chain.load(&floats).unwrap_err()] {
        assert!(matches!(error, Error::Parameter { parameter: "image", .. }), "{error}");
        assert!(error.to_string().contains("u8 150x70x1"), "{error}");
    }
    assert_same(chain.run().unwrap(), &frame(3));
    let failing = Device::cpu().record(&frame(3), |device, frame| device.gaussian(frame, -1.0).run());
    assert!(failing.and_then(|mut chain| chain.run().map(drop)).is_err());
}

#[test]
fn chains_on_the_gpu() {
    let Some(gpu) = gpu_or_skip("recorded chains") else { return };
    frames(&gpu);
}

/// A chain with a part of the frame, which is packed at each run, zeros, and a part of an existing image.
fn parts(device: &Device, frame: &DeviceImage) -> Result<DeviceImage> {
    let mut out = device.zeros(Shape::new(WIDTH, HEIGHT, 1)?, PixelType::U8)?;
    let part = frame.region(7, 3, 100, 40)?;
    device.gaussian(&part, 1.4).run_into(out.region_mut(9, 5, 100, 40)?)?;
    let mut edges = device.correlate(&out, sobel()).run()?;
    device.box_filter(&part, 3, 3).run_into(edges.region_mut(0, 0, 100, 40)?)?;
    Ok(edges)
}

fn frames_of_parts(device: &Device) {
    let mut chain = device.record(&frame(3), parts).unwrap();
    for seed in [3, 7, 11] {
        chain.load(&frame(seed)).unwrap();
        let expected = parts(&Device::reference(), &Device::reference().upload(&frame(seed)).unwrap()).unwrap();
        for _ in 0..2 {
            let found = chain.run().unwrap().download::<u8>().unwrap();
            assert!(found == expected.download::<u8>().unwrap(), "seed {seed} on {}", device.name());
        }
    }
}

#[test]
fn parts_in_chains() {
    for device in [Device::cpu(), Device::reference(), Device::emulator()] {
        frames_of_parts(&device);
    }
    if let Some(gpu) = gpu_or_skip("parts in recorded chains") {
        frames_of_parts(&gpu);
    }
}

/// Results outlive their chain, and many chains leak no memory.
#[test]
fn chains_come_and_go_on_the_gpu() {
    let Some(gpu) = gpu_or_skip("recorded chains that come and go") else { return };
    for seed in 1..200 {
        let mut chain = gpu.record(&frame(seed), work).unwrap();
        let image = chain.run().unwrap().0.clone();
        drop(chain);
        let expected = work(&Device::cpu(), &Device::cpu().upload(&frame(seed)).unwrap()).unwrap();
        assert!(image.download::<u8>().unwrap() == expected.0.download::<u8>().unwrap(), "seed {seed}");
    }
}

/// Runs frame after frame without synchronisation, while another stream works; results are used by other operations.
#[test]
fn many_runs_on_the_gpu() {
    let Some(gpu) = gpu_or_skip("many runs of a recorded chain") else { return };
    let other = gpu.new_stream().unwrap();
    let inputs: Vec<DeviceImage> = (1..9).map(|seed| gpu.upload(&frame(seed)).unwrap()).collect();
    let expected: Vec<_> = (1..9)
        .map(|seed| {
            let (edges, _) = work(&Device::cpu(), &Device::cpu().upload(&frame(seed)).unwrap()).unwrap();
            Device::cpu().correlate(&edges, sobel()).run().unwrap().download::<u8>().unwrap()
        })
        .collect();
    let mut chain = gpu.record(&inputs[0], work).unwrap();
    let mut found = Vec::new();
    for round in 0..500 {
        chain.load(&inputs[round % 8]).unwrap();
        // Read on another stream, before the next run may overwrite it.
        found.push(other.correlate(&chain.run().unwrap().0, sobel()).run().unwrap());
    }
    for (round, found) in found.iter().enumerate() {
        assert!(found.download::<u8>().unwrap() == expected[round % 8], "round {round}");
    }
}

/// Work that cannot be recorded is an error, after which the device still works.
#[test]
fn what_cannot_be_recorded_on_the_gpu() {
    let Some(gpu) = gpu_or_skip("what cannot be recorded") else { return };
    let outside = gpu.upload(&frame(5)).unwrap();
    let refused = |work: &(dyn Fn(&Device, &DeviceImage) -> Result<()> + Sync)| {
        let error = gpu.record(&frame(3), work).expect_err("refused");
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        frames(&gpu);
    };
    refused(&|device, frame| device.histogram(frame).run().map(drop));
    refused(&|device, frame| device.gaussian(frame, 1.0).run()?.download::<u8>().map(drop));
    refused(&|device, _| device.gaussian(&outside, 1.0).run().map(drop));
    refused(&|device, frame| device.correlate(frame, sobel()).variant("conv2d-tiled-symbol").run().map(drop));
    let floats = |device: &Device, frame: &DeviceImage| device.gaussian(frame, 1.0).out_type(PixelType::F32).run();
    refused(&|device, frame| device.histogram(&floats(device, frame)?).enqueue().map(drop));
    // With a range no search is needed, and images of the host are copied once.
    let bins = Bins { count: 100, range: Some((0.0, 255.0)) };
    let counted = |device: &Device, frame: &DeviceImage| {
        let constant = device.upload(&self::frame(5))?;
        let blurred = floats(device, &constant)?;
        let own = floats(device, frame)?;
        Ok((device.histogram(&blurred).bins(bins).enqueue()?, device.histogram(&own).bins(bins).enqueue()?))
    };
    let mut chain = gpu.record(&frame(3), counted).unwrap();
    let (constant, own) = chain.run().unwrap();
    let cpu = Device::cpu();
    let expected = counted(&cpu, &cpu.upload(&frame(3)).unwrap()).unwrap();
    assert_eq!(constant.download().unwrap(), expected.0.download().unwrap());
    assert_eq!(own.download().unwrap(), expected.1.download().unwrap());
}
