//! Filters of volumes: the same bits as the reference on every device, the laws in three
//! dimensions, and what is refused.

use crate::rows::Written;
use apron::volumes::{
    self, AnyVolume, DeviceVolume, Volume, VolumeBorders, VolumeExtent, VolumeFormula, VolumeMask, VolumeRegion,
    VolumeShape,
};
use apron::{Border, Device, Error, ErrorKind, Image, PixelType, Taps};
use apron_testkit::{Data, first_mismatch, gpu_or_skip, random_image};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Draws a volume whose samples need rounding.
fn random_volume(rng: &mut StdRng, pixel: PixelType) -> AnyVolume<'static> {
    let mut side = |most: u32| rng.random_range(1..=most);
    let (width, height, depth, channels) = (side(70), side(40), side(12), side(4));
    let channels = if channels == 3 { 1 } else { channels };
    let shape = VolumeShape::new(width, height, depth, channels).unwrap();
    AnyVolume::new(random_image(rng, pixel, shape.stacked(), Data::Special), depth).unwrap()
}

fn random_taps(rng: &mut StdRng, count: u32) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn random_border(rng: &mut StdRng) -> Border {
    let constant = Border::Constant(rng.random_range(-3.0..9.0));
    [constant, Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Crop]
        [rng.random_range(0..6)]
}

/// Draws borders with which the result has the volume's size.
fn random_borders(rng: &mut StdRng) -> VolumeBorders {
    let mut border = || std::iter::repeat_with(|| random_border(rng)).find(|border| *border != Border::Crop).unwrap();
    VolumeBorders::by_axis(border(), border(), border())
}

/// Draws an anchor for some of the formulas that have one.
fn random_anchor(rng: &mut StdRng, formula: &VolumeFormula) -> Option<[u32; 3]> {
    match formula {
        VolumeFormula::Sums { weights, .. } if rng.random_bool(0.5) => {
            Some(weights.size().map(|side| rng.random_range(0..side)))
        }
        _ => None,
    }
}

/// Draws a region of a volume.
fn random_region(rng: &mut StdRng, shape: VolumeShape) -> VolumeRegion {
    let sides = shape.sides();
    let corner = sides.map(|side| rng.random_range(0..side));
    VolumeRegion { corner, size: [0, 1, 2].map(|axis| rng.random_range(1..=sides[axis] - corner[axis])) }
}

/// Draws a formula of any kind.
fn random_formula(rng: &mut StdRng) -> VolumeFormula {
    let size = [0; 3].map(|_| rng.random_range(1..=5u32));
    match rng.random_range(0..6) {
        0 | 1 => {
            let taps = random_taps(rng, size.iter().product());
            VolumeFormula::dense(VolumeMask::new(size[0], size[1], size[2], taps).unwrap())
        }
        2 | 3 => {
            let taps = size.map(|side| {
                let ones = rng.random_bool(0.2);
                Taps::from_f64(if ones { vec![1.0] } else { random_taps(rng, side) }).unwrap()
            });
            VolumeFormula::separable(taps)
        }
        4 => volumes::mean(size).unwrap(),
        _ => match rng.random_range(0..6) {
            5 => volumes::deviation(size).unwrap(),
            0 => volumes::gaussian([0.7, 0.4, 1.1], [0, 1, 0], 2.0).unwrap(),
            1 => volumes::laplacian_of_gaussian([0.5, 0.7, 0.9], 2.0).unwrap(),
            2 => volumes::gradient().unwrap(),
            3 => volumes::laplacian().unwrap(),
            _ => volumes::unsharp([0.8, 0.5, 0.3], 1.5, 2.0).unwrap(),
        },
    }
}

/// Checks random filters on a device against the reference, by their bits. Returns how many ran.
fn check(device: &Device, cases: u64) -> usize {
    let mut ran = 0;
    for seed in 0..cases {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut pixel = || PixelType::ALL[rng.random_range(0..PixelType::ALL.len())];
        let (src, dst) = (pixel(), pixel());
        let (volume, formula) = (random_volume(rng, src), random_formula(rng));
        let one = random_border(rng);
        let borders = match rng.random_bool(0.5) {
            true => VolumeBorders::from(one),
            false => VolumeBorders::by_axis(one, random_border(rng), random_border(rng)),
        };
        let extent = match rng.random_range(0..10) {
            0 | 1 => VolumeExtent::Full,
            2..5 => VolumeExtent::Region(random_region(rng, volume.shape())),
            _ => VolumeExtent::Same,
        };
        let anchor = random_anchor(rng, &formula);
        let run = |device: &Device| {
            let filter = device.filter_volume(&volume, formula.clone()).border(borders).extent(extent);
            filter.out_type(dst).anchor(anchor).run()
        };
        match (run(&Device::reference()), run(device)) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(found.shape(), expected.shape());
                let (found, expected) = (found.into_host().unwrap(), expected.into_host().unwrap());
                let mismatch = first_mismatch(&found.stack(), &expected.stack());
                let of = format!("seed {seed}: {src} to {dst}, {borders}, {extent}, {:?}, {formula:?}", volume.shape());
                assert_eq!(mismatch, None, "{of} on {}", device.name());
                ran += 1;
            }
            (Err(expected), Err(found)) => assert_eq!(found.to_string(), expected.to_string(), "seed {seed}"),
            (expected, found) => panic!("seed {seed}: {expected:?} and {found:?}"),
        }
    }
    ran
}

#[test]
fn the_cpu_gives_the_references_bits() {
    assert!(check(&Device::cpu(), 400) > 200);
}

#[test]
fn kernels_give_the_references_bits_in_the_emulator() {
    assert!(check(&Device::emulator(), 60) > 30);
}

#[test]
fn kernels_give_the_references_bits_on_a_gpu() {
    if let Some(device) = gpu_or_skip("volumes") {
        assert!(check(&device, 400) > 200);
    }
}

/// Checks random filters of regions against the same voxels of the whole volume's result, by their bits.
fn check_regions(device: &Device, cases: u64) {
    for seed in 1000..1000 + cases {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut pixel = || PixelType::ALL[rng.random_range(0..PixelType::ALL.len())];
        let (src, dst) = (pixel(), pixel());
        let (volume, formula) = (random_volume(rng, src), random_formula(rng));
        let borders = random_borders(rng);
        let region @ VolumeRegion { corner, size } = random_region(rng, volume.shape());
        let on_device = rng.random_bool(0.5).then(|| device.upload_volume(&volume).unwrap());
        let run = |extent| {
            let filter = match &on_device {
                Some(volume) => device.filter_volume(volume, formula.clone()),
                None => device.filter_volume(&volume, formula.clone()),
            };
            filter.border(borders).extent(extent).out_type(dst).run().unwrap().into_host().unwrap()
        };
        let part = run(VolumeExtent::Region(region));
        let whole = run(VolumeExtent::Same).region(corner, size).unwrap();
        let of =
            format!("seed {seed}: {src} to {dst}, {borders}, {corner:?} {size:?}, {:?}, {formula:?}", volume.shape());
        assert_eq!(part.shape(), whole.shape(), "{of}");
        assert_eq!(first_mismatch(&part.stack(), &whole.stack()), None, "{of} on {}", device.name());
    }
}

#[test]
fn regions_have_the_bits_of_the_whole() {
    check_regions(&Device::cpu(), 300);
    check_regions(&Device::reference(), 50);
    check_regions(&Device::emulator(), 60);
}

#[test]
fn regions_have_the_bits_of_the_whole_on_a_gpu() {
    if let Some(device) = gpu_or_skip("regions of volumes") {
        check_regions(&device, 300);
    }
}

/// Checks random filters of several slabs against those of the whole volume, by their bits.
fn check_slabs(device: &Device, cases: u64) {
    let mut several = 0;
    for seed in 0..cases {
        let rng = &mut StdRng::seed_from_u64(seed);
        let mut pixel = || PixelType::ALL[rng.random_range(0..PixelType::ALL.len())];
        let (src, dst) = (pixel(), pixel());
        let depth = rng.random_range(1..40);
        let shape = VolumeShape::new(rng.random_range(1..9), rng.random_range(1..9), depth, 1).unwrap();
        let stack = random_image(rng, src, shape.stacked(), Data::Special);
        let (volume, formula) = (AnyVolume::new(stack, depth).unwrap(), random_formula(rng));
        let borders = random_borders(rng);
        let anchor = random_anchor(rng, &formula);
        let filter = || {
            let filter = device.filter_volume(&volume, formula.clone()).border(borders);
            filter.out_type(dst).anchor(anchor)
        };
        let of = format!("seed {seed}: {src} to {dst}, {borders}, {shape}, {anchor:?}, {formula:?}");
        let whole = filter().run().unwrap().into_host().unwrap();
        let whole = whole.stack();
        // Memory for a few planes more than a slab of one plane needs.
        let mut memory = 4 * rng.random_range(1..5) * shape.plane().samples() * src.size_bytes() as u64;
        let (report, written) = loop {
            let written = Written::default();
            match filter().run_rows(&written, memory) {
                Ok(report) => break (report, written.0.into_inner().unwrap()),
                Err(Error::Parameter { parameter: "memory", .. }) => memory += memory / 3 + 1,
                Err(error) => panic!("{of}: {error}"),
            }
        };
        assert!(written == whole.bytes()[..], "{of} in {memory} bytes on {}", device.name());
        several += usize::from(!report.why.ends_with("in 1 strips"));
    }
    assert!(several as u64 > cases / 2, "{several} of {cases}");
}

#[test]
fn slabs_give_the_bits_of_the_whole() {
    check_slabs(&Device::cpu(), 300);
    check_slabs(&Device::emulator(), 40);
}

#[test]
fn slabs_give_the_bits_of_the_whole_on_a_gpu() {
    if let Some(device) = gpu_or_skip("slabs of volumes") {
        check_slabs(&device, 200);
    }
}

/// A volume large enough for several tasks, bands and blocks.
#[test]
fn large_volumes_are_cut_where_nothing_shows() {
    let volume = Volume::from_fn(333, 70, 40, 1, |x, y, z, _| ((x * 7 + y * 13 + z * 29) % 251) as f32 / 3.0).unwrap();
    for formula in [
        volumes::gaussian([2.0, 1.5, 3.0], [0; 3], 4.0).unwrap(),
        VolumeFormula::dense(VolumeMask::new(3, 4, 5, random_taps(&mut StdRng::seed_from_u64(1), 60)).unwrap()),
        volumes::mean([1, 31, 1]).unwrap(),
    ] {
        let run = |device: Device| device.filter_volume(&volume, formula.clone()).run().unwrap().into_host().unwrap();
        let (found, expected) = (run(Device::cpu()), run(Device::reference()));
        assert_eq!(first_mismatch(&found.stack(), &expected.stack()), None, "{formula:?}");
    }
}

fn packed(volume: DeviceVolume) -> Vec<f64> {
    volume.download::<f64>().unwrap().packed().to_vec()
}

fn near(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn the_laws_hold() {
    let volume = Volume::from_fn(9, 7, 6, 1, |x, y, z, _| ((x * x + 3 * y + 5 * z * y) % 17) as f64).unwrap();
    let device = Device::cpu();
    let taps = [[0.5, -1.0, 2.0], [1.0, 0.25, -3.0], [2.0, 0.5, 1.5]];
    let axes = taps.map(|taps| Taps::from_f64(taps).unwrap());
    let outer: Vec<f64> = (0..27).map(|i| taps[0][i % 3] * taps[1][i / 3 % 3] * taps[2][i / 9]).collect();
    let mask = VolumeMask::new(3, 3, 3, outer).unwrap();
    let run = |volume: &Volume<'_, f64>, formula: VolumeFormula, border: Border| {
        packed(device.filter_volume(volume, formula).border(border).run().unwrap())
    };
    // Separable is the outer product.
    let dense = run(&volume, VolumeFormula::dense(mask.clone()), Border::Wrap);
    near(&dense, &run(&volume, VolumeFormula::separable(axes), Border::Wrap));
    // A periodic volume that is shifted gives the shifted result.
    let turned =
        Volume::from_fn(9, 7, 6, 1, |x, y, z, _| volume.get((x + 2) % 9, (y + 3) % 7, (z + 1) % 6, 0).unwrap());
    let shifted = run(&turned.unwrap(), VolumeFormula::dense(mask.clone()), Border::Wrap);
    let dense = Volume::new(9, 7, 6, 1, dense).unwrap();
    let expected =
        Volume::from_fn(9, 7, 6, 1, |x, y, z, _| dense.get((x + 2) % 9, (y + 3) % 7, (z + 1) % 6, 0).unwrap());
    assert_eq!(shifted, expected.unwrap().packed()[..]);
    // Twice the volume gives twice the result.
    let twice = Volume::new(9, 7, 6, 1, volume.packed().iter().map(|sample| 2.0 * sample).collect::<Vec<_>>()).unwrap();
    let doubled: Vec<f64> = dense.packed().iter().map(|sum| 2.0 * sum).collect();
    assert_eq!(run(&twice, VolumeFormula::dense(mask.clone()), Border::Wrap), doubled);
    // A border is padding.
    for border in [Border::Reflect, Border::Reflect101, Border::Replicate, Border::Constant(2.5)] {
        let (mode, constant) = border.mode_of(PixelType::F64);
        let padded = Volume::from_fn(11, 9, 8, 1, |x, y, z, _| {
            let map = |at: u32, side| mode.map(at as i32 - 1, side).map(|at| at as u32);
            match (map(x, 9), map(y, 7), map(z, 6)) {
                (Some(x), Some(y), Some(z)) => volume.get(x, y, z, 0).unwrap(),
                _ => constant,
            }
        });
        let whole = run(&padded.unwrap(), VolumeFormula::dense(mask.clone()), Border::Crop);
        assert_eq!(run(&volume, VolumeFormula::dense(mask.clone()), border), whole, "{border}");
    }
}

#[test]
fn one_plane_is_an_image() {
    let image = Image::from_fn(20, 11, 3, |x, y, c| ((x * 31 + y * 17 + c) % 97) as f32).unwrap();
    let volume = Volume::from_stack(image.view(), 1).unwrap();
    let device = Device::cpu();
    let taps = apron::filters::gaussian(1.5, 4.0).unwrap();
    let formula = volumes::gaussian([1.5, 1.5, 0.0], [0; 3], 4.0).unwrap();
    let flat = device.separable(&image, &taps, &taps).run().unwrap().download_any().unwrap();
    let deep = device.filter_volume(&volume, formula).run().unwrap().into_host().unwrap();
    assert_eq!(first_mismatch(&deep.stack(), &flat), None);
}

#[test]
fn results_go_into_existing_volumes_and_stay_on_the_device() {
    let volume = Volume::from_fn(12, 9, 5, 2, |x, y, z, c| (x * 3 + y * 5 + z * 7 + c) as u8).unwrap();
    let devices = [Some(Device::cpu()), Some(Device::emulator()), gpu_or_skip("volumes into volumes")];
    for device in devices.into_iter().flatten() {
        let mean = || volumes::mean([3, 3, 3]).unwrap();
        let expected = device.filter_volume(&volume, mean()).run().unwrap();
        let mut out = device.zeros_volume(volume.shape(), PixelType::U8).unwrap();
        let uploaded = device.upload_volume(&volume).unwrap();
        device.filter_volume(&uploaded, mean()).run_into(&mut out).unwrap();
        assert_eq!(out.download::<u8>().unwrap(), expected.download::<u8>().unwrap());
        let shared = out.clone();
        let error = device.filter_volume(&uploaded, mean()).run_into(&mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let mut flat = device.zeros_volume(VolumeShape::new(12, 45, 1, 2).unwrap(), PixelType::U8).unwrap();
        let error = device.filter_volume(&shared, mean()).run_into(&mut flat).unwrap_err();
        assert!(error.to_string().contains("depth is 1, but must be 5"), "{error}");
    }
}

#[test]
fn what_can_never_be_right_is_refused() {
    let volume = Volume::new(4, 3, 2, 1, vec![1u8; 24]).unwrap();
    let device = Device::cpu();
    let of = |formula: VolumeFormula| device.filter_volume(&volume, formula);
    let mask = || VolumeFormula::dense(VolumeMask::new(1, 1, 3, [1.0; 3]).unwrap());
    let mixed = || volumes::laplacian_of_gaussian([0.5; 3], 2.0).unwrap();
    for (error, part) in [
        (of(mask()).border(Border::Crop).run(), "depth is 2, but must be 3 or more"),
        (of(mask()).border(Border::Crop).extent(VolumeExtent::Full).run(), "border is crop"),
        (of(mask()).anchor([0, 0, 3]).run(), "anchor is 0,0,3"),
        (of(mixed()).anchor([0, 0, 0]).run(), "anchor is 0,0,0"),
        (of(mask()).border(Border::Constant(f64::NAN)).run(), "constant is NaN"),
        (of(volumes::unsharp([1.0; 3], f64::INFINITY, 0.0).unwrap()).run(), "a is inf"),
        (of(volumes::gradient().unwrap()).variant("none").run(), "variant is 'none'"),
    ] {
        let error = error.unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(matches!(volumes::sobel(3), Err(Error::Parameter { .. })));
    assert!(volumes::mean([1, 0, 1]).is_err() && volumes::gaussian([0.0; 3], [1, 0, 0], 4.0).is_err());
    let far = AnyVolume::new(apron::AnyImage::U8(volume.stack()), 2);
    assert!(far.unwrap().plane(2).is_err());
}

/// Quarters of integers, truncated toward zero: expected values in 128-bit integers, results by a march over f64.
#[test]
fn integers_whose_sums_are_cut_march_over_doubles() {
    let quarters: Vec<i128> = (0..27).map(|n| n % 5 - 2).collect();
    let taps: Vec<f64> = quarters.iter().map(|&quarter| quarter as f64 / 4.0).collect();
    let formula = || VolumeFormula::dense(VolumeMask::new(3, 3, 3, taps.clone()).unwrap());
    let sample = |x: u32, y: u32, z: u32| (x * 7919 + y * 104_729 + z * 1_299_709) as i32 % 1009 - 500;
    let volume = Volume::from_fn(70, 20, 6, 1, |x, y, z, _| sample(x, y, z)).unwrap();
    let devices = [Some(Device::cpu()), Some(Device::emulator()), gpu_or_skip("integers that march over doubles")];
    for device in devices.into_iter().flatten() {
        let filter = device.filter_volume(&volume, formula()).border(Border::Wrap);
        let found = filter.rounding(apron::Rounding::TowardZero).run().unwrap();
        let report = found.report().unwrap();
        if device.machine().is_some() {
            assert!(report.variant.contains("volumes-cube"), "{}", report.variant);
        }
        let found = found.download::<i32>().unwrap();
        for (z, y, x) in [(0, 0, 0), (5, 19, 69), (3, 10, 63), (2, 16, 64), (4, 7, 31)] {
            let mut sum = 0;
            for n in 0..27 {
                let at = |at: u32, by: u32, side: u32| (at + by + side - 1) % side;
                let (x, y, z) = (at(x, n % 3, 70), at(y, n / 3 % 3, 20), at(z, n / 9, 6));
                sum += quarters[n as usize] * i128::from(sample(x, y, z));
            }
            let sample = found.stack().row(z * 20 + y)[x as usize];
            assert_eq!(i128::from(sample), sum / 4, "{x},{y},{z} on {}", device.name());
        }
    }
}
