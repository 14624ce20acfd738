//! Several GPUs that share jobs: the bits are those of one GPU, even if one GPU has no memory left.

use apron::{
    AnyImage, Bins, Border, Device, DeviceImage, DeviceName, Error, GpuSet, PixelType, Result, Shape, devices,
};
use apron_testkit::{Data, first_mismatch, random_image};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Returns both GPUs as one device, and the first alone; `None` with fewer than two GPUs.
fn team() -> Option<(Device, Device)> {
    let count = devices().map_or(0, |found| found.len());
    if count < 2 {
        eprintln!("skipped: several GPUs are needed, and {count} found");
        return None;
    }
    Some((Device::gpus(GpuSet::new(&[0, 1]).unwrap()).unwrap(), Device::gpu(0).unwrap()))
}

fn images() -> Vec<AnyImage<'static>> {
    let mut rng = StdRng::seed_from_u64(11);
    let shapes = [(PixelType::F32, 4096, 4001, 1), (PixelType::U8, 5003, 4001, 3), (PixelType::U16, 700, 500, 1)];
    let image = |(pixel, width, height, channels)| {
        random_image(&mut rng, pixel, Shape::new(width, height, channels).unwrap(), Data::Uniform)
    };
    shapes.map(image).into()
}

fn same(team: &Device, alone: &Device) -> Result<()> {
    for image in images() {
        let pixel = image.pixel_type();
        for border in [Border::Reflect101, Border::Wrap, Border::Crop] {
            let filter = |device: &Device| device.gaussian(&image, 2.0).border(border).run()?.download_any();
            let (whole, shared) = (filter(alone)?, filter(team)?);
            assert_eq!(first_mismatch(&shared, &whole), None, "{pixel} {border}");
            let mut room = AnyImage::from_bytes(pixel, whole.shape(), |_| Ok(()))?;
            team.gaussian(&image, 2.0).border(border).run_into(&mut room)?;
            assert_eq!(first_mismatch(&room, &whole), None, "{pixel} {border}, into memory");
        }
        for bins in [Bins::default(), Bins { count: 1000, range: Some((-0.5, 80.0)) }] {
            for per_channel in [false, true] {
                let count = |device: &Device| device.histogram(&image).bins(bins).per_channel(per_channel).run();
                assert_eq!(count(team)?, count(alone)?, "{pixel}");
            }
        }
        let statistics = |device: &Device| device.statistics(&image).percentiles([1.0, 50.0]).run();
        assert_eq!(statistics(team)?, statistics(alone)?, "{pixel}");
    }
    Ok(())
}

#[test]
fn several_gpus_give_the_bits_of_one() -> Result<()> {
    let Some((team, alone)) = team() else { return Ok(()) };
    same(&team, &alone)?;
    let [large, .., small] = &images()[..] else { unreachable!("three images") };
    let report = team.gaussian(large, 2.0).run()?.report()?;
    assert!(report.device == "gpu:0,1" && report.why.ends_with("on 2 GPUs"), "{report:?}");
    // Small images, and images on a GPU, stay on the first GPU.
    let blurred = team.gaussian(small, 2.0).run()?;
    let again = team.gaussian(&blurred, 2.0).run()?.download_any()?;
    let expected = alone.gaussian(&alone.gaussian(small, 2.0).run()?, 2.0).run()?.download_any()?;
    assert_eq!(first_mismatch(&again, &expected), None);
    let members: Vec<DeviceName> = team.members().iter().map(Device::name).collect();
    assert_eq!(members, [DeviceName::Gpu(0), DeviceName::Gpu(1)]);
    Ok(())
}

/// Takes all memory of a GPU but for some KiB.
fn hold(gpu: &Device) -> Vec<DeviceImage> {
    let mut held = Vec::new();
    for mib in [1024, 64, 4, 1] {
        loop {
            match gpu.zeros(Shape::new(1024, 1024 * mib, 1).unwrap(), PixelType::U8) {
                Ok(image) => held.push(image),
                Err(Error::OutOfMemory { .. }) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    held
}

#[test]
fn a_gpu_without_memory_leaves_its_strips_to_the_other() -> Result<()> {
    let Some((team, alone)) = team() else { return Ok(()) };
    let held = hold(&Device::gpu(1)?);
    same(&team, &alone)?;
    drop(held);
    same(&team, &alone)
}

#[test]
fn a_gpu_that_is_not_there_is_named() {
    let Err(error) = Device::gpus(GpuSet::new(&[0, 63]).unwrap()) else { return };
    assert!(matches!(error, Error::NoDevice { .. }), "{error}");
}

#[test]
fn sets_of_gpus_have_names() {
    let parsed = |text: &str| text.parse::<DeviceName>();
    assert_eq!(parsed("gpus").unwrap(), DeviceName::Gpus(GpuSet::all()));
    assert_eq!(parsed("gpu:1,0").unwrap().to_string(), "gpu:0,1");
    assert_eq!(parsed("gpus").unwrap().to_string(), "gpus");
    for wrong in ["gpu:0,0", "gpu:0,64", "gpu:,", "gpu:0,x", "gpu:"] {
        assert!(parsed(wrong).is_err(), "{wrong}");
    }
}
