//! Filters by strips: the bits of the whole image's result, for every kind of problem, border and extent.

use apron::{
    AnyImage, AnyImageMut, Border, Device, Extent, Image, Mask, Pixel, PixelType, Region, Result, Shape, Taps,
};
use apron_core::{BoxFilter, FilterProblem, LocalStd, Paired, Part, PointOp, Pointwise, Scale, Strip, each_type};
use apron_testkit::{Data, first_mismatch, gpu_or_skip, random_case, random_image};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::ops::Range;

/// Copies the rows that a strip reads.
fn input(strip: &Strip, image: &AnyImage<'_>) -> AnyImage<'static> {
    fn of<T: Pixel>(runs: &[Range<u32>], image: &Image<'_, T>) -> AnyImage<'static> {
        let rows: Vec<u32> = runs.iter().cloned().flatten().collect();
        let samples: Vec<T> = rows.iter().flat_map(|&y| image.row(y).to_vec()).collect();
        T::into_any(Image::new(image.width(), rows.len() as u32, image.channels(), samples).unwrap())
    }
    each_type!(image, image => of(&strip.input, image))
}

/// Solves a problem by strips of random heights; `None` if it cannot be solved by strips.
fn by_strips(
    device: &Device,
    problem: &FilterProblem,
    image: &AnyImage<'_>,
    rng: &mut StdRng,
) -> Option<AnyImage<'static>> {
    let out = problem.window().unwrap().out;
    let mut whole = AnyImage::from_bytes(problem.dst(), out, |_| Ok(())).unwrap();
    let mut start = 0;
    while start < out.height {
        let end = (start + rng.random_range(1..=12)).min(out.height);
        let strip = problem.strip(start..end).unwrap()?;
        assert_eq!(strip.output, start..end);
        let part = device.solve(&strip.problem, &input(&strip, image), None).unwrap().download_any().unwrap();
        let room: AnyImageMut<'_> = whole.view_mut();
        room.region(0, start, out.width, end - start).unwrap().copy_from(&part).unwrap();
        start = end;
    }
    Some(whole)
}

fn check(device: &Device, problem: &FilterProblem, image: &AnyImage<'_>, rng: &mut StdRng) -> bool {
    let Ok(whole) = device.solve(problem, image, None) else { return false };
    let Some(strips) = by_strips(device, problem, image, rng) else { return false };
    let mismatch = first_mismatch(&strips, &whole.download_any().unwrap());
    assert_eq!(mismatch, None, "{problem:?} on {}", device.name());
    true
}

/// Problems that random cases do not have, with images of 40 rows.
fn more(rng: &mut StdRng) -> Vec<(FilterProblem, AnyImage<'static>)> {
    let shape = Shape::new(23, 40, 2).unwrap();
    let taps = |count: usize| Taps::new((0..count).map(|i| i as f32 - 1.25).collect::<Vec<_>>()).unwrap();
    let part = |x, y| Part::Separable(taps(x), taps(y));
    let mut more = Vec::new();
    for (border, extent) in [
        (Border::Wrap, Extent::Same),
        (Border::Constant(3.0), Extent::Full),
        (Border::Reflect101, Extent::Region(Region { x: -3, y: -20, width: 30, height: 80 })),
        (Border::Constant(0.0), Extent::Region(Region { x: -3, y: -90, width: 30, height: 50 })),
        (Border::Constant(1.0), Extent::Region(Region { x: 0, y: 70, width: 5, height: 9 })),
        (Border::Crop, Extent::Same),
    ] {
        for src in [PixelType::F32, PixelType::U8, PixelType::F16] {
            let dst = if src == PixelType::F16 { PixelType::F16 } else { PixelType::F32 };
            let (width, height, anchor, scale) = (19, 37, (4, 30), Scale::Mean);
            let mean = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
            let (op, x, y) = (PointOp::Magnitude, part(3, 5), Some(part(3, 5)));
            let paired = Paired { shape, src, dst: PixelType::F32, op, x, y, border, extent };
            let problems: [FilterProblem; 4] = [
                mean.into(),
                LocalStd { shape, src, dst, width: 5, height: 21, border, extent }.into(),
                paired.clone().into(),
                Pointwise {
                    shape,
                    src,
                    second: None,
                    dst,
                    op: PointOp::Weighted { a: 2.0, b: 0.0, c: 1.0, threshold: 0.0 },
                }
                .into(),
            ];
            more.extend(problems.map(|problem| (problem, random_image(rng, src, shape, Data::Uniform))));
        }
    }
    // Parts of two heights.
    let (op, x, y) = (PointOp::Magnitude, part(3, 1), Some(part(1, 9)));
    let (src, dst, border, extent) = (PixelType::F32, PixelType::F32, Border::Reflect, Extent::Same);
    let paired = Paired { shape, src, dst, op, x, y, border, extent };
    more.push((paired.into(), random_image(rng, src, shape, Data::Special)));
    more
}

fn all_problems(device: &Device, seeds: Range<u64>) {
    let mut rng = StdRng::seed_from_u64(seeds.start);
    let mut checked = 0;
    for seed in seeds.clone() {
        let case = random_case(seed);
        if let Some(problem) = case.filter() {
            checked += check(device, problem, &case.image, &mut rng) as u64;
        }
    }
    for (problem, image) in more(&mut rng) {
        checked += check(device, &problem, &image, &mut rng) as u64;
    }
    assert!(checked > 60 + (seeds.end - seeds.start) / 3, "{checked} problems have strips");
}

#[test]
fn strips_have_the_bits_of_the_whole_on_the_cpu() {
    all_problems(&Device::cpu(), 0..400);
    all_problems(&Device::reference(), 400..500);
}

#[test]
fn strips_have_the_bits_of_the_whole_in_the_emulator() {
    all_problems(&Device::emulator(), 500..560);
}

#[test]
fn filters_from_host_to_host_have_the_bits_of_the_device() -> Result<()> {
    let Some(gpu) = gpu_or_skip("filters from host to host") else { return Ok(()) };
    all_problems(&gpu, 600..900);
    let rng = &mut StdRng::seed_from_u64(5);
    for (pixel, shape) in [
        (PixelType::F32, Shape::new(4096, 3001, 1)?),
        (PixelType::U8, Shape::new(5003, 3001, 3)?),
        (PixelType::U16, Shape::new(4096, 4096, 1)?),
    ] {
        let image = random_image(rng, pixel, shape, Data::Uniform);
        for border in [Border::Reflect101, Border::Wrap, Border::Constant(2.0), Border::Replicate, Border::Crop] {
            let mask = Mask::new(3, 5, vec![0.5; 15])?;
            let dense = || gpu.correlate(&image, &mask).border(border);
            let gaussian = || gpu.gaussian(&image, 2.0).border(border);
            let mean = || gpu.box_filter(&image, 33, 41).border(border);
            // Into memory without gaps, and into a part of a larger image.
            for (whole, host) in [(dense().run()?, 0), (gaussian().run()?, 1), (mean().run()?, 2)] {
                let out = whole.shape();
                let mut room =
                    AnyImage::from_bytes(pixel, Shape::new(out.width + 5, out.height, out.channels)?, |_| Ok(()))?;
                let mut packed = AnyImage::from_bytes(pixel, out, |_| Ok(()))?;
                let part = room.view_mut().region(2, 0, out.width, out.height)?;
                match host {
                    0 => (dense().run_into(part)?, dense().run_into(&mut packed)?),
                    1 => (gaussian().run_into(part)?, gaussian().run_into(&mut packed)?),
                    _ => (mean().run_into(part)?, mean().run_into(&mut packed)?),
                };
                let whole = whole.download_any()?;
                assert_eq!(first_mismatch(&packed, &whole), None, "{pixel} {border} {host}");
                let part = room.region(2, 0, out.width, out.height)?;
                assert_eq!(first_mismatch(&part, &whole), None, "{pixel} {border} {host}, a part");
            }
        }
    }
    Ok(())
}
