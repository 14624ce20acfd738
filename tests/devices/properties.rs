//! Laws that hold for every image and mask, checked on random ones. Failures are shrunk to a smallest one.
//!
//! Samples and taps are small integers, whose sums are exact in f32, so that the laws hold bit for bit.

use apron::{Bins, Border, Borders, Device, Extent, Image, Mask, Method, Pixel, Region, Taps};
use apron_testkit::gpu_or_skip;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::ops::Range;

/// Largest side of an image, in pixels.
const SIDE: u32 = 9;

/// The outcome of a law for one problem.
type Verdict = Result<(), TestCaseError>;

/// Checks a law for random problems on each device: few on the emulator, which is slow.
fn always<S: Strategy>(problems: S, law: impl Fn(&Device, S::Value) -> Verdict) {
    let hosts = [(Device::cpu(), 200), (Device::reference(), 50), (Device::emulator(), 6)];
    for (device, cases) in hosts.into_iter().chain(gpu_or_skip("a law").map(|gpu| (gpu, 200))) {
        // Failures are printed; no file is written next to the sources.
        let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        if let Err(failure) = TestRunner::new(config).run(&problems, |problem| law(&device, problem)) {
            panic!("on {}: {failure}", device.name());
        }
    }
}

/// Generates images with sides of at most [`SIDE`] pixels, from `samples`.
fn image<T: Pixel>(samples: impl Strategy<Value = T> + Clone) -> impl Strategy<Value = Image<'static, T>> {
    (1..=SIDE, 1..=SIDE, 1..=4u32).prop_flat_map(move |(width, height, channels)| {
        let pixels = prop::collection::vec(samples.clone(), (width * height * channels) as usize);
        pixels.prop_map(move |pixels| Image::new(width, height, channels, pixels).unwrap())
    })
}

fn integers() -> impl Strategy<Value = Image<'static, f32>> {
    image((-8..=8i8).prop_map(f32::from))
}

fn taps(most: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec((-4..=4i8).prop_map(f32::from), 1..=most)
}

/// Generates masks of at most 6x5 taps, with any anchor.
fn mask() -> impl Strategy<Value = Mask> {
    (1..=6u32, 1..=5u32).prop_flat_map(|(width, height)| {
        let taps = prop::collection::vec((-4..=4i8).prop_map(f32::from), (width * height) as usize);
        (taps, 0..width, 0..height)
            .prop_map(move |(taps, x, y)| Mask::new(width, height, taps).unwrap().with_anchor(x, y).unwrap())
    })
}

fn border() -> impl Strategy<Value = Border> {
    let fixed = [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Crop];
    prop_oneof![prop::sample::select(fixed.to_vec()), (-9..=9i8).prop_map(|value| Border::Constant(f64::from(value)))]
}

/// Correlates with the mask, by the direct method.
fn correlate(
    device: &Device,
    image: &Image<'_, f32>,
    mask: &Mask,
    border: Border,
) -> apron::Result<Image<'static, f32>> {
    device.correlate(image, mask.clone()).border(border).method(Method::Direct).run()?.download()
}

/// Makes an image from a function of (x, y, channel).
fn made<T: Pixel>(width: u32, height: u32, channels: u32, of: impl Fn(u32, u32, u32) -> T) -> Image<'static, T> {
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let samples = places.flat_map(|(x, y)| (0..channels).map(move |c| (x, y, c))).map(|(x, y, c)| of(x, y, c));
    Image::new(width, height, channels, samples.collect::<Vec<_>>()).unwrap()
}

/// Maps coordinates of an axis, inside or outside, to indices of samples: the axis is continued by copies of itself,
/// mirrored or not. `None` is the constant.
fn padded(border: Border, n: u32, places: Range<i64>) -> Vec<Option<u32>> {
    let turned = (0..n).rev();
    let cycle: Vec<u32> = match border {
        Border::Wrap => (0..n).collect(),
        Border::Reflect => (0..n).chain(turned).collect(),
        // Without the two end samples of the mirror image.
        Border::Reflect101 if n > 1 => (0..n).chain(turned.skip(1).take(n as usize - 2)).collect(),
        _ => vec![0],
    };
    let place = |at: i64| match border {
        _ if (0..i64::from(n)).contains(&at) => Some(at as u32),
        Border::Constant(_) => None,
        Border::Replicate => Some(if at < 0 { 0 } else { n - 1 }),
        _ => Some(cycle[at.rem_euclid(cycle.len() as i64) as usize]),
    };
    places.map(place).collect()
}

/// Checks that both results are equal, or both errors, as when crop leaves no window.
fn equal(found: apron::Result<Image<'_, f32>>, expected: apron::Result<Image<'_, f32>>) -> Verdict {
    match (found, expected) {
        (Ok(found), Ok(expected)) => prop_assert_eq!(found, expected),
        (found, expected) => prop_assert!(found.is_err() && expected.is_err(), "{:?} {:?}", found, expected),
    }
    Ok(())
}

/// Sets the constant, if the border has one, to 0: only then is a filter linear.
fn with_zero(border: Border) -> Border {
    if let Border::Constant(_) = border { Border::Constant(0.0) } else { border }
}

#[test]
fn correlation_is_linear() {
    always((integers(), mask(), border(), -3..=3i8, -3..=3i8), |device, (first, mask, border, a, b)| {
        let (a, b, border) = (f32::from(a), f32::from(b), with_zero(border));
        let sum = |first: &Image<'_, f32>, second: &Image<'_, f32>| {
            made(first.width(), first.height(), first.channels(), |x, y, c| {
                a * first.sample(x, y, c) + b * second.sample(x, y, c)
            })
        };
        let second = made(first.width(), first.height(), first.channels(), |x, y, c| {
            3.0 - first.sample(first.width() - 1 - x, y, c)
        });
        let of = |image: &Image<'_, f32>| correlate(device, image, &mask, border);
        let expected = of(&first).and_then(|first| Ok(sum(&first, &of(&second)?)));
        equal(of(&sum(&first, &second)), expected)
    });
}

#[test]
fn shifting_a_periodic_image_shifts_the_result() {
    always((integers(), mask(), 0..SIDE, 0..SIDE), |device, (image, mask, dx, dy)| {
        let (width, height) = (image.width(), image.height());
        let shifted = |image: &Image<'_, f32>| {
            made(width, height, image.channels(), |x, y, c| image.sample((x + dx) % width, (y + dy) % height, c))
        };
        let of = |image: &Image<'_, f32>| correlate(device, image, &mask, Border::Wrap);
        equal(of(&shifted(&image)), of(&image).map(|result| shifted(&result)))
    });
}

/// Generates two borders, or one for both axes.
fn borders() -> impl Strategy<Value = [Border; 2]> {
    prop_oneof![border().prop_map(|border| [border; 2]), [border(), border()]]
}

fn extent() -> impl Strategy<Value = Extent> {
    let axis = || (-12..12i32, 1..=SIDE);
    let region = (axis(), axis()).prop_map(|((x, width), (y, height))| Extent::Region(Region { x, y, width, height }));
    prop_oneof![Just(Extent::Same), Just(Extent::Full), region]
}

#[test]
fn borders_and_extents_are_those_of_the_image_padded_first() {
    always((integers(), mask(), borders(), extent()), |device, (image, mask, [border_x, border_y], extent)| {
        let borders = Borders::by_axis(border_x, border_y);
        let filter = device.correlate(&image, mask.clone()).border(borders).extent(extent).method(Method::Direct);
        let found = filter.run().and_then(|result| result.download());
        if extent != Extent::Same && (border_x == Border::Crop || border_y == Border::Crop) {
            prop_assert!(found.is_err(), "{:?}", found);
            return Ok(());
        }
        // Returns the coordinates that the windows read along the axis.
        let axis = |border, n: u32, size: u32, anchor: u32, region: Option<(i32, u32)>| {
            let (n, more, anchor) = (i64::from(n), i64::from(size) - 1, i64::from(anchor));
            let seen = match (extent, region) {
                _ if border == Border::Crop => 0..n,
                (Extent::Full, _) => -more..n + more,
                (_, Some((from, count))) => {
                    i64::from(from) - anchor..i64::from(from) + i64::from(count) + more - anchor
                }
                _ => -anchor..n + more - anchor,
            };
            padded(border, n as u32, seen)
        };
        let (x, y) = mask.anchor();
        let region = |of: fn(&Region) -> (i32, u32)| match &extent {
            Extent::Region(region) => Some(of(region)),
            _ => None,
        };
        let columns = axis(border_x, image.width(), mask.width(), x, region(|region| (region.x, region.width)));
        let rows = axis(border_y, image.height(), mask.height(), y, region(|region| (region.y, region.height)));
        let constant = |border| if let Border::Constant(value) = border { value as f32 } else { 0.0 };
        let larger = made(columns.len() as u32, rows.len() as u32, image.channels(), |x, y, c| {
            match (columns[x as usize], rows[y as usize]) {
                (Some(x), Some(y)) => image.sample(x, y, c),
                // A row outside the image is outside in all columns.
                (_, None) => constant(border_y),
                (None, _) => constant(border_x),
            }
        });
        equal(found, correlate(device, &larger, &mask, Border::Crop))
    });
}

#[test]
fn taps_reach_many_times_around_a_small_image() {
    let tiny = (1..=3u32, 1..=3u32).prop_flat_map(|(width, height)| {
        let samples = prop::collection::vec((-8..=8i8).prop_map(f32::from), (width * height) as usize);
        samples.prop_map(move |samples| Image::new(width, height, 1, samples).unwrap())
    });
    always((tiny, taps(64), 0..64usize, border()), |device, (image, taps, anchor, border)| {
        let anchor = (anchor % taps.len()) as u32;
        let (n, more) = (i64::from(image.width()), taps.len() as i64 - 1);
        let inside = border == Border::Crop;
        let places = if inside { 0..n } else { -i64::from(anchor)..n + more - i64::from(anchor) };
        let columns = padded(border, image.width(), places);
        let constant = if let Border::Constant(value) = border { value as f32 } else { 0.0 };
        let larger = made(columns.len() as u32, image.height(), 1, |x, y, c| {
            columns[x as usize].map_or(constant, |x| image.sample(x, y, c))
        });
        let mask = Mask::new(taps.len() as u32, 1, taps).unwrap().with_anchor(anchor, 0).unwrap();
        equal(correlate(device, &image, &mask, border), correlate(device, &larger, &mask, Border::Crop))
    });
}

#[test]
fn crop_is_what_every_border_has_in_the_middle() {
    always((integers(), mask(), border()), |device, (image, mask, border)| {
        let (x0, y0) = mask.anchor();
        let whole = correlate(device, &image, &mask, with_zero(border)).ok();
        let Ok(cropped) = correlate(device, &image, &mask, Border::Crop) else { return Ok(()) };
        let Some(whole) = whole.filter(|_| border != Border::Crop) else { return Ok(()) };
        let middle =
            made(cropped.width(), cropped.height(), image.channels(), |x, y, c| whole.sample(x + x0, y + y0, c));
        prop_assert_eq!(cropped, middle);
        Ok(())
    });
}

#[test]
fn convolving_is_correlating_with_the_mask_turned() {
    always((integers(), mask(), border()), |device, (image, mask, border)| {
        let taps: Vec<f32> = mask.taps().iter().rev().copied().collect();
        let (width, height, (x, y)) = (mask.width(), mask.height(), mask.anchor());
        let turned = Mask::new(width, height, taps).unwrap().with_anchor(width - 1 - x, height - 1 - y).unwrap();
        let convolved = device.convolve(&image, mask).border(border).method(Method::Direct).run();
        equal(convolved.and_then(|result| result.download()), correlate(device, &image, &turned, border))
    });
}

#[test]
fn separable_is_the_outer_product() {
    always((integers(), taps(7), taps(6), border()), |device, (image, x, y, border)| {
        let product: Vec<f32> = y.iter().flat_map(|y| x.iter().map(move |x| x * y)).collect();
        let mask = Mask::new(x.len() as u32, y.len() as u32, product).unwrap();
        // Each pass applies the constant outside; two passes equal the product if it is 0.
        let border = with_zero(border);
        let (x, y) = (Taps::new(x).unwrap(), Taps::new(y).unwrap());
        let passes = device.separable(&image, x, y).border(border).method(Method::Separable).run();
        equal(passes.and_then(|result| result.download()), correlate(device, &image, &mask, border))
    });
}

/// Generates masks of 16 to 20 taps a side, as sums of two separable Gaussians with the same ratio of width to height.
/// (With different ratios, terms may cancel too much.)
fn bells() -> impl Strategy<Value = Mask> {
    let bell = (2.0..6.0f64, 0.1..1.0f64);
    let sizes = (16..=20u32, 16..=20u32, 0.7..1.4f64);
    (sizes, prop::collection::vec(bell, 2)).prop_map(|((width, height, aspect), bells)| {
        let fall = |n: u32, count: u32, sigma: f64| (-((n as f64 - count as f64 / 2.0) / sigma).powi(2) / 2.0).exp();
        let tap = |(x, y): (u32, u32)| {
            let one = |&(sigma, weight): &(f64, f64)| weight * fall(x, width, sigma * aspect) * fall(y, height, sigma);
            bells.iter().map(one).sum::<f64>() as f32
        };
        let taps: Vec<f32> = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(tap).collect();
        Mask::new(width, height, taps).unwrap()
    })
}

#[test]
fn sums_of_bells_have_low_rank_and_the_bound_of_their_mask() {
    always((image(-1.0..1.0f32), bells()), |device, (image, mask)| {
        let found = device.correlate(&image, mask.clone()).border(Border::Replicate).method(Method::LowRank).run();
        let found = found.unwrap().download::<f32>().unwrap();
        let (taps, (width, (ax, ay))) = (mask.taps(), (mask.width(), mask.anchor()));
        for (x, y, c) in (0..image.width()).flat_map(|x| (0..image.height()).map(move |y| (x, y, 0))) {
            let (mut sum, mut size) = (0.0, 0.0);
            for (n, &tap) in (0..).zip(taps) {
                let at = |at: u32, tap: u32, anchor: u32, side: u32| (at + tap).saturating_sub(anchor).min(side - 1);
                let (column, row) = (at(x, n % width, ax, image.width()), at(y, n / width, ay, image.height()));
                let product = tap as f64 * image.sample(column, row, c) as f64;
                (sum, size) = (sum + product, size + product.abs());
            }
            let (error, bound) =
                ((found.sample(x, y, c) as f64 - sum).abs(), (taps.len() + 3) as f64 * size / (1 << 24) as f64);
            prop_assert!(error <= bound, "{} of {}", error, bound);
        }
        Ok(())
    });
}

#[test]
fn masks_of_full_rank_are_not_taken_for_sums() {
    let taps = prop::collection::vec(0.5..1.5f32, 20 * 18);
    always((image(-1.0..1.0f32), taps), |device, (image, taps)| {
        let mask = Mask::new(20, 18, taps).unwrap();
        prop_assert!(device.correlate(&image, mask.clone()).method(Method::LowRank).run().is_err());
        let report = device.correlate(&image, mask).run().unwrap().report().unwrap();
        prop_assert_eq!(report.method, Some(Method::Direct), "{:?}", report);
        Ok(())
    });
}

#[test]
fn means_keep_a_constant_image() {
    let shapes = (any::<u8>(), 1..=SIDE, 1..=SIDE, 1..=4u32);
    always(
        (shapes, mask(), 0.0..3.0f64, (1..=7u32, 1..=7u32), border()),
        |device, (shape, mask, sigma, size, border)| {
            let (value, width, height, channels) = shape;
            let image = made(width, height, channels, |_, _, _| value);
            let border = match border {
                Border::Constant(_) => Border::Constant(value.into()),
                Border::Crop => Border::Wrap,
                other => other,
            };
            let weights: Vec<f32> = mask.taps().iter().map(|tap| tap.abs() + 1.0).collect();
            let mask = Mask::new(mask.width(), mask.height(), weights).unwrap().normalized().unwrap();
            for result in [
                device.correlate(&image, &mask).border(border).run(),
                device.gaussian(&image, sigma).border(border).run(),
                device.box_filter(&image, size.0, size.1).border(border).run(),
            ] {
                let result = result.unwrap();
                prop_assert_eq!(result.download::<u8>().unwrap(), image.view(), "{:?}", result.report());
            }
            Ok(())
        },
    );
}

#[test]
fn means_of_what_is_not_negative_are_not_negative() {
    // Running sums that subtract the samples leaving the window may end below 0.
    let samples = prop_oneof![Just(0.0f32), 0.0..1e-30f32, 0.0..1.0f32, 1e5..1e7f32];
    always((image(samples), 1..=40u32, 1..=40u32, border()), |device, (image, width, height, border)| {
        for method in [Method::Box, Method::Separable] {
            let means = device.box_filter(&image, width, height).border(with_zero(border)).method(method).run();
            let Ok(means) = means.and_then(|means| means.download::<f32>()) else { continue };
            prop_assert!(means.packed().iter().all(|mean| *mean >= 0.0), "{:?} {:?}", method, means);
        }
        Ok(())
    });
}

#[test]
fn a_mean_of_bytes_is_their_quotient() {
    always((image(any::<u8>()), 1..=7u32, 1..=7u32), |device, (image, width, height)| {
        let around = |side: u32, size: u32| {
            let (before, after) = (i64::from(size / 2), i64::from(size - 1 - size / 2));
            padded(Border::Reflect101, side, -before..i64::from(side) + after)
        };
        let columns = around(image.width(), width);
        let rows = around(image.height(), height);
        let expected = made(image.width(), image.height(), image.channels(), |x, y, c| {
            let rows = rows[y as usize..].iter().take(height as usize).flatten();
            let columns = columns[x as usize..].iter().take(width as usize).flatten();
            let places = rows.flat_map(|y| columns.clone().map(move |x| (*x, *y)));
            let sum: u32 = places.map(|(x, y)| u32::from(image.sample(x, y, c))).sum();
            let (quotient, rest) = (sum / (width * height), sum % (width * height));
            // Ties round to even.
            (quotient + u32::from(2 * rest + quotient % 2 > width * height)) as u8
        });
        let mean = device.box_filter(&image, width, height).run().unwrap();
        prop_assert_eq!(mean.download::<u8>().unwrap(), expected);
        Ok(())
    });
}

#[test]
fn bins_hold_the_samples_of_their_range() {
    let quarters = (-40..=40i8).prop_map(|sample| f32::from(sample) / 4.0);
    let problems = (image(quarters), 1..=40usize, -9..=9i8, 1..=12i8, any::<bool>());
    always(problems, |device, (image, count, low, length, per_channel)| {
        let (low, high) = (f64::from(low), f64::from(low) + f64::from(length));
        let bins = Bins { count, range: Some((low, high)) };
        let histogram = device.histogram(&image).bins(bins).per_channel(per_channel).run().unwrap();
        let channels = if per_channel { image.channels() as usize } else { 1 };
        for channel in 0..channels {
            let samples = image.packed();
            let own = samples.iter().skip(channel).step_by(channels);
            let inside = own.filter(|sample| (low..=high).contains(&f64::from(**sample))).count();
            prop_assert_eq!(histogram.channel(channel as u32).iter().sum::<u64>(), inside as u64);
        }
        prop_assert_eq!(histogram.counts().len(), count * channels);
        Ok(())
    });
}

#[test]
fn every_byte_is_in_the_bin_of_its_value() {
    always(image(any::<u8>()), |device, image| {
        let histogram = device.histogram(&image).run().unwrap();
        for value in 0..=255u8 {
            let there = image.packed().iter().filter(|sample| **sample == value).count();
            prop_assert_eq!(histogram.counts()[value as usize], there as u64, "{}", value);
        }
        Ok(())
    });
}
