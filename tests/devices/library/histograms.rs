//! Histograms of every kind, and statistics: the same on every device.

use super::{devices, photo};
use apron::{AnyImage, Bins, Device, Edges, Error, ErrorKind, Image, PixelType, Shape, Statistics};
use apron_testkit::{Data, random_image};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// The number of bins and the range may be set separately, in either order; edges replace both, and the other way
/// round.
#[test]
fn bins_and_their_range_are_set_apart_or_at_once() {
    let image = Image::new(4, 1, 1, vec![3.0f32, 10.0, 20.0, 200.0]).unwrap();
    for device in devices() {
        let counting = || device.histogram(&image);
        let both = Bins { count: 4, range: Some((0.0, 40.0)) };
        let expected = counting().bins(both).run().unwrap();
        assert_eq!(expected.counts(), [1, 1, 1, 0]);
        for histogram in [
            counting().bins(4).range(0.0, 40.0),
            counting().range(0.0, 40.0).bins(4),
            counting().range(1.0, 2.0).bins(both),
            counting().edges([0.0, 1.0]).bins(4).range(0.0, 40.0),
            counting().binning(both),
        ] {
            assert_eq!(histogram.run().unwrap(), expected, "{}", device.name());
        }
        // By default the range is the samples' own, and there are 256 bins.
        assert_eq!(counting().bins(2).run().unwrap().edges(), [3.0, 101.5, 200.0]);
        let ranged = counting().range(0.0, 256.0).run().unwrap();
        assert_eq!((ranged.counts().len(), ranged.counts()[20]), (256, 1));
        let edges = counting().bins(7).range(0.0, 1.0).edges([0.0, 15.0, 300.0]).run().unwrap();
        assert_eq!(edges.counts(), [2, 2]);
        for refused in
            [counting().bins(0), counting().range(1.0, 0.0), counting().edges([1.0]), counting().bins(1 << 25)]
        {
            assert_eq!(refused.run().unwrap_err().kind(), ErrorKind::Usage);
        }
        let weighted = device.weighted_histogram(&image, &[1.0, 2.0, 3.0, 4.0]).bins(4).range(0.0, 40.0).run().unwrap();
        assert_eq!((weighted.sums, weighted.edges.values()), (vec![1.0, 2.0, 3.0, 0.0], expected.edges()));
        let pair = Image::new(2, 1, 2, vec![3u8, 200, 10, 30]).unwrap();
        let edges = [Edges::new(vec![0.0, 5.0, 11.0]).unwrap(), Edges::new(vec![0.0, 100.0]).unwrap()];
        assert_eq!(device.histogram2d(&pair, [0, 1]).bins(edges).run().unwrap().counts, [0, 1]);
    }
}

#[test]
fn histograms_of_floats_are_the_same_everywhere() {
    let mut samples: Vec<f32> = (0..61 * 37 * 3).map(|i| (i * i % 1009) as f32 / 504.5 - 1.0).collect();
    samples[0] = -0.0;
    let image = Image::new(61, 37, 3, samples.clone()).unwrap();
    let zeros = Image::new(4, 1, 1, vec![-1.0f32, -0.0, 0.0, -0.0]).unwrap();
    let ranges = [None, Some((-1.0, 1.0)), Some((0.1, 0.7)), Some((1.0, 1.0)), Some((1.0, 1.0000001))];
    for (count, range) in ranges.into_iter().flat_map(|range| [1, 10, 256, 5000].map(|count| (count, range))) {
        for (image, per_channel) in [(&image, false), (&image, true), (&zeros, false)] {
            let bins = count;
            let count = |device: &Device| {
                let uploaded = device.upload(image).unwrap();
                let counting = device.histogram(&uploaded).bins(Bins { count, range }).per_channel(per_channel);
                counting.run().map_err(|error| error.to_string())
            };
            let expected = count(&Device::reference());
            // A range of one f32 step has room for one bin.
            assert_eq!(expected.is_err(), range == Some((1.0, 1.0000001)) && bins > 1, "{range:?}: {expected:?}");
            for device in devices() {
                let (found, expected) = match (count(&device), &expected) {
                    (Ok(found), Ok(expected)) => (found, expected),
                    (found, expected) => {
                        assert_eq!(&found, expected, "{}", device.name());
                        continue;
                    }
                };
                assert_eq!(&found, expected, "{} {range:?}", device.name());
                let bits = |edges: &[f64]| edges.iter().map(|edge| edge.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(found.edges()), bits(expected.edges()), "{}", device.name());
            }
        }
    }
    // With a mask, samples of other pixels are ignored.
    let selected = |n: u32| if n.is_multiple_of(3) { (n % 255) as u8 + 1 } else { 0 };
    let roi = Image::new(61, 37, 1, (0..61 * 37).map(selected).collect::<Vec<_>>()).unwrap();
    let nobody = Image::new(61, 37, 1, vec![0u8; 61 * 37]).unwrap();
    let mut others = samples.clone();
    let kept = |n: usize| roi.packed()[n / 3] != 0;
    others.iter_mut().enumerate().filter(|(n, _)| !kept(*n)).for_each(|(_, sample)| *sample = f32::NAN);
    let image = Image::new(61, 37, 3, others).unwrap();
    for (roi, per_channel) in [(&roi, false), (&roi, true), (&nobody, true)] {
        let count = |device: &Device| {
            let uploaded = [device.upload(&image).unwrap(), device.upload(roi).unwrap()];
            let on_device = device.histogram(&uploaded[0]).roi_mask(&uploaded[1]).per_channel(per_channel).run();
            let on_host = device.histogram(&image).roi_mask(roi).per_channel(per_channel).run().unwrap();
            assert_eq!(on_device.unwrap(), on_host, "{}", device.name());
            on_host
        };
        let expected = count(&Device::reference());
        let chosen = samples.iter().enumerate().filter(|(n, _)| kept(*n)).map(|(_, &sample)| f64::from(sample));
        let least = if roi == &nobody { 0.0 } else { chosen.fold(f64::INFINITY, f64::min) };
        assert_eq!(expected.edges()[0], least);
        devices().iter().for_each(|device| assert_eq!(count(device), expected, "{}", device.name()));
    }
    // Samples for which no range exists, at any position: in a complete group of four samples, and after the last one.
    for (place, value) in [0, 4000, 6770].into_iter().flat_map(|at| [f32::NAN, f32::INFINITY].map(|v| (at, v))) {
        let mut samples = samples.clone();
        samples[place] = value;
        let image = Image::new(61, 37, 3, samples).unwrap();
        let all = Image::new(61, 37, 1, vec![1u8; 61 * 37]).unwrap();
        let refused = |device: &Device| {
            let masked = device.histogram(&image).roi_mask(&all).run().expect_err("refused").to_string();
            let refused = device.histogram(&image).run().expect_err("refused").to_string();
            assert_eq!(masked, refused, "{} {place}", device.name());
            refused
        };
        let expected = refused(&Device::reference());
        devices().iter().for_each(|device| assert_eq!(refused(device), expected, "{} {place}", device.name()));
    }
}

/// Also for infinite samples, adjacent f32 values, signed zeros and NaN.
#[test]
fn percentiles_of_floats_are_the_same_everywhere() {
    let percents = [0.0, 100.0, 50.0, 99.9, 12.5, 50.0];
    let of = |device: &Device, image: &AnyImage<'_>, apart| {
        let uploaded = device.upload(image).unwrap();
        let all = device.statistics(&uploaded).per_channel(apart).percentiles(percents).run().unwrap();
        all.iter().flat_map(|one| one.percentiles.iter().map(|value| value.to_bits())).collect::<Vec<_>>()
    };
    let nan = |bits: &u64| f64::from_bits(*bits).is_nan();
    let shape = Shape::new(43, 17, 3).unwrap();
    let numbers: Vec<f32> = (0..43 * 17 * 3).map(|n: i32| (n * 7919 % 1009 - 500) as f32 / 64.0).collect();
    let with = |samples: &[(usize, f32)]| {
        let mut all = numbers.clone();
        samples.iter().for_each(|&(place, sample)| all[place] = sample);
        all
    };
    for (samples, unknown) in [
        (numbers.clone(), 0),
        (with(&[(0, f32::INFINITY), (1, f32::NEG_INFINITY), (5, -0.0)]), 0),
        (with(&[(4, f32::NAN)]), 1),
        ((0..43 * 17 * 3).map(|n| if n % 2 == 0 { -0.0 } else { 0.0 }).collect(), 0),
        ((0..43 * 17 * 3).map(|n| 1.0 + (n % 7) as f32 * f32::EPSILON).collect(), 0),
    ] {
        let floats = Image::new(shape.width, shape.height, shape.channels, samples).unwrap();
        let halves: Vec<apron::f16> = floats.packed().iter().map(|&sample| apron::f16::from_f32(sample)).collect();
        let halves = AnyImage::F16(Image::new(shape.width, shape.height, shape.channels, halves).unwrap());
        for (image, apart) in [(&AnyImage::F32(floats), false), (&halves, false), (&halves, true)] {
            let expected = of(&Device::reference(), image, apart);
            let same = |found: Vec<u64>| {
                found.len() == expected.len()
                    && found
                        .iter()
                        .zip(&expected)
                        .all(|(found, expected)| found == expected || nan(found) && nan(expected))
            };
            devices().iter().for_each(|device| assert!(same(of(device, image, apart)), "{}", device.name()));
            let channels = if apart { 3 } else { 1 };
            assert_eq!(expected.len(), channels * percents.len());
            // All percentiles of a channel with NaN are NaN; interpolation next to infinities may also give NaN.
            let alike = expected.chunks(percents.len()).filter(|of| of.iter().all(nan)).count();
            assert_eq!(alike, unknown);
        }
    }
    // Expected values are from numpy.percentile.
    let four = AnyImage::F32(Image::new(4, 1, 1, vec![4.0, -1.5, 0.25, 1e30]).unwrap());
    let expected = [-1.5, 1e30f32.into(), 2.125, 9.970000150e29, -0.84375, 2.125];
    let near = |(found, expected): (&u64, &f64)| (f64::from_bits(*found) - expected).abs() <= 1e-7 * expected.abs();
    assert!(of(&Device::reference(), &four, false).iter().zip(&expected).all(near));
}

/// Every type, its own range and a given one, one bin and many, images on the device.
#[test]
fn weighted_and_2d_histograms_are_the_same_everywhere() {
    let shape = Shape::new(61, 37, 3).unwrap();
    let weights: Vec<f64> = (0..shape.pixels()).map(|i| 10f64.powi(i as i32 % 17 - 8) / (i % 7 + 1) as f64).collect();
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    for pixel in PixelType::ALL {
        let image = random_image(&mut StdRng::seed_from_u64(9), pixel, shape, Data::Uniform);
        for (count, range) in [(1, None), (300, None), (20, Some((-0.3, 0.7))), (20, Some((5.0, 5.0)))] {
            let bins = || Bins { count, range };
            for per_channel in [false, true] {
                let of = |device: &Device| {
                    let uploaded = device.upload(&image).unwrap();
                    device
                        .weighted_histogram(&uploaded, &weights)
                        .binning(bins())
                        .per_channel(per_channel)
                        .run()
                        .unwrap()
                };
                let expected = of(&Device::reference());
                for device in devices() {
                    let found = of(&device);
                    let what = format!("{} {pixel} {count} {range:?}", device.name());
                    assert_eq!(bits(found.edges.values()), bits(expected.edges.values()), "{what}");
                    assert_eq!(
                        (bits(&found.sums), found.channels),
                        (bits(&expected.sums), expected.channels),
                        "{what}"
                    );
                }
            }
            let of = |device: &Device| {
                let uploaded = device.upload(&image).unwrap();
                device.histogram2d(&uploaded, [2, 0]).bins([bins(), Bins { count: 7, range: None }]).run().unwrap()
            };
            let expected = of(&Device::reference());
            devices().iter().for_each(|device| assert_eq!(of(device), expected, "{} {pixel}", device.name()));
        }
    }
    // Weights that are samples of an image, on the host, on the device, and on another device.
    let image = photo();
    for pixel in PixelType::ALL {
        let (width, height) = (image.width(), image.height());
        let shape = Shape::new(width, height, 1).unwrap();
        let weights = random_image(&mut StdRng::seed_from_u64(3), pixel, shape, Data::Uniform);
        let weights = weights.region(1, 0, width - 1, height).unwrap();
        let image = image.region(0, 0, width - 1, height).unwrap();
        let numbers: Vec<f64> = apron_core::each_type!(&weights, weights => weights.packed().iter().map(|&of| apron_core::Sample::to_f64(of)).collect());
        let bins = || Bins { count: 9, range: Some((3.0, 200.0)) };
        let expected =
            Device::reference().weighted_histogram(&image, &numbers).binning(bins()).per_channel(true).run().unwrap();
        for device in devices() {
            let elsewhere = Device::cpu().upload(&weights).unwrap();
            for weights in [(&weights).into(), (&device.upload(&weights).unwrap()).into(), (&elsewhere).into()] {
                let weights: apron::Weights<'_> = weights;
                let found = device.weighted_histogram(&image, weights).binning(bins()).per_channel(true).run().unwrap();
                assert_eq!(bits(&found.sums), bits(&expected.sums), "{} {pixel}", device.name());
            }
        }
    }
    // Invalid parameters, and a range that cannot be found.
    let image = Image::new(2, 1, 2, vec![f32::NAN, 1.0, 2.0, 3.0]).unwrap();
    let bins = || Bins { count: 4, range: None };
    for device in devices() {
        let few = device.weighted_histogram(&image, &[1.0]).binning(bins()).run().expect_err("a weight too few");
        assert!(matches!(few, Error::Shape { .. }), "{few}");
        let turned = Image::new(1, 2, 1, vec![0.5f32, 0.5]).unwrap();
        let other = device.weighted_histogram(&image, &turned).binning(bins()).run().expect_err("of another shape");
        assert!(other.to_string().contains("2x1x1"), "{other}");
        let none = device.weighted_histogram(&image, &[1.0, 2.0]).binning(bins()).run().expect_err("no range");
        assert_eq!(none.kind(), ErrorKind::Input);
        assert!(none.to_string().contains("NaN"), "{none}");
        let none = device.histogram2d(&image, [1, 0]).bins([bins(), bins()]).run().expect_err("no range");
        assert_eq!(none.kind(), ErrorKind::Input);
        let other = device.histogram2d(&image, [0, 2]).bins([bins(), bins()]).run().expect_err("no such channel");
        assert_eq!(other.kind(), ErrorKind::Usage);
        let fine = device.histogram2d(&image, [1, 1]).bins([bins(), bins()]).run().unwrap();
        assert_eq!((fine.count(0, 0), fine.count(3, 3)), (1, 1), "{}", device.name());
        // NaN is in no bin.
        let range = Bins { count: 1, range: Some((0.0, 9.0)) };
        assert_eq!(
            device.weighted_histogram(&image, &[1.0, 2.0]).binning(range).per_channel(true).run().unwrap().sums,
            [2.0, 3.0]
        );
    }
}

/// Signed zeros, NaN, infinities, images with gaps between rows.
#[test]
fn statistics_of_floats_are_the_same_everywhere() {
    let samples: Vec<f32> = (0..104 * 41 * 2).map(|i| (i * i % 1009) as f32 / 504.5 - 1.0).collect();
    let zeros = vec![-0.0f32, 0.0, -0.0, -0.0, 0.0, -0.0, -0.0, -0.0];
    let mut special = samples.clone();
    (special[7], special[4000]) = (f32::NAN, f32::NEG_INFINITY);
    let mut infinite = samples.clone();
    infinite[5] = f32::INFINITY;
    let bits = |all: &[Statistics]| {
        let numbers = all.iter().flat_map(|of| [of.min, of.max, of.mean, of.std]);
        numbers.map(|number| if number.is_nan() { f64::NAN } else { number }.to_bits()).collect::<Vec<_>>()
    };
    // Rows of multiples of 16 bytes, and parts that start at such: rows with gaps are read in place.
    for (samples, (width, height, channels)) in
        [(samples, (104, 41, 2)), (special, (104, 41, 2)), (infinite, (104, 41, 2)), (zeros, (4, 2, 1))]
    {
        let image = Image::new(width, height, channels, samples).unwrap();
        for (apart, left, top) in [(false, 0, 0), (true, 0, 0), (true, 2, 1)] {
            let of = |device: &Device| {
                let uploaded = device.upload(&image).unwrap();
                let there = uploaded.region(left, top, width - left, height - top).unwrap();
                let here = image.region(left, top, width - left, height - top).unwrap();
                let found = device.statistics(&there).per_channel(apart).run().unwrap();
                let direct = device.statistics(&here).per_channel(apart).run().unwrap();
                assert_eq!(bits(&direct), bits(&found), "{}", device.name());
                found
            };
            let expected = of(&Device::reference());
            assert!(expected.iter().all(|of| of.min != 0.0 || of.min.is_sign_positive()));
            devices().iter().for_each(|device| assert_eq!(bits(&of(device)), bits(&expected), "{}", device.name()));
        }
    }
}
