//! Percentiles alone, and histograms of many bins: the same on every device and by every variant.

use super::devices;
use apron::{AnyImage, Bins, Device, DeviceName, Image, Pixel, f16};

/// Returns sample `n` of a sequence with all magnitudes: random bits, without infinities and NaN.
fn scattered(n: u32) -> f32 {
    f32::from_bits(n.wrapping_mul(0x9e37_79b1) & 0xbfff_ffff)
}

/// Returns the variants by which a device finds percentiles: the default, and for kernels also the search between
/// edges.
fn variants(device: &Device) -> Vec<Option<&'static str>> {
    let kernels = matches!(device.name(), DeviceName::Gpu(_) | DeviceName::Emulator);
    if kernels { vec![None, Some("statistics-row-sums")] } else { vec![None] }
}

#[test]
fn percentiles_alone_are_numpys() {
    // numpy.percentile(image[..., channel], percents), numpy.percentile(image, percents).
    let percents = [0.0, 1.0, 37.5, 50.0, 99.0, 100.0];
    let apart = [
        [
            -1.9315779209136963,
            -0.5576606154441833,
            -2.82615236958029e-29,
            -6.607720613735779e-39,
            0.43246546089649385,
            1.6024441719055176,
        ],
        [
            -1.1820809841156006,
            -0.21791325211524964,
            -2.435419401536454e-29,
            1.5686113990175037e-38,
            0.3747522711753943,
            1.9771926403045654,
        ],
        [
            -1.7898184061050415,
            -0.3349352464079857,
            -2.0143484853543924e-29,
            4.1370478510323e-39,
            0.24273503124714035,
            1.9543852806091309,
        ],
    ];
    let together = [
        -1.9315779209136963,
        -0.34392081141471853,
        -2.3989083965366368e-29,
        0.0,
        0.3879291796684253,
        1.9771926403045654,
    ];
    let image = Image::new(43, 17, 3, (0..43 * 17 * 3).map(scattered).collect::<Vec<_>>()).unwrap();
    let halves = (0..43 * 17 * 3).map(|n| f16::from_f32((n * 7919 % 1009 - 500) as f32 / 64.0));
    let halves = Image::new(43, 17, 3, halves.collect::<Vec<_>>()).unwrap();
    for device in devices() {
        for variant in variants(&device) {
            let of = |apart| device.percentiles(&image, percents).per_channel(apart).variant(variant).run().unwrap();
            assert_eq!(of(true), apart, "{} {variant:?}", device.name());
            assert_eq!(of(false), [together], "{} {variant:?}", device.name());
            let of_halves = device.percentiles(&halves, percents).variant(variant).run().unwrap();
            let expected = [-7.8125, -7.65625, -1.890625, 0.078125, 7.782499999999999, 7.9375];
            assert_eq!(of_halves, [expected], "{} {variant:?}", device.name());
        }
        let integers = Image::new(4, 1, 1, vec![10u8, 10, 11, 13]).unwrap();
        assert_eq!(device.percentiles(&integers, [50.0, 75.0]).run().unwrap(), [[10.5, 11.5]]);
        assert_eq!(device.percentiles(&image, []).run().unwrap(), [[0.0; 0]]);
        assert!(device.percentiles(&image, [101.0]).run().unwrap_err().to_string().contains("0 to 100"));
    }
}

/// More ranks than a pass takes prefixes; equal samples, zeros of both signs, infinities, and a channel with NaN.
#[test]
fn many_percentiles_are_the_same_everywhere() {
    let percents: Vec<f64> = (0..=160).map(|k| f64::from(k) / 1.6).collect();
    let mut samples: Vec<f32> = (0..61 * 53 * 2).map(scattered).collect();
    let with = |samples: &[f32], others: &[(usize, f32)]| {
        let mut all = samples.to_vec();
        others.iter().for_each(|&(at, sample)| all[at] = sample);
        AnyImage::F32(Image::new(61, 53, 2, all).unwrap())
    };
    let infinite = with(&samples, &[(0, f32::INFINITY), (7, f32::NEG_INFINITY), (8, f32::NEG_INFINITY)]);
    let unknown = with(&samples, &[(5, -f32::NAN)]);
    samples.iter_mut().enumerate().filter(|(n, _)| n % 3 > 0).for_each(|(n, sample)| *sample = [0.0, -0.0][n % 2]);
    let zeros = with(&samples, &[]);
    let halves = |image: &AnyImage<'_>| {
        let AnyImage::F32(image) = image else { unreachable!() };
        let samples: Vec<f16> = image.packed().iter().map(|&sample| f16::from_f32(sample)).collect();
        AnyImage::F16(Image::new(61, 53, 2, samples).unwrap())
    };
    for (image, has_nan) in [(infinite, false), (unknown, true), (zeros, false)] {
        for (image, apart) in [(&image, false), (&image, true), (&halves(&image), false), (&halves(&image), true)] {
            let of = |device: &Device, variant| {
                let found = device.percentiles(image, &percents[..]).per_channel(apart).variant(variant).run().unwrap();
                let bits = |value: &f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
                found.iter().map(|of| of.iter().map(bits).collect()).collect::<Vec<Vec<u64>>>()
            };
            let expected = of(&Device::reference(), None);
            // Only a NaN among the samples leaves no percentile.
            let none = expected.iter().filter(|of| of.iter().all(|&bits| bits == u64::MAX)).count();
            assert_eq!(none, usize::from(has_nan));
            for device in devices() {
                for variant in variants(&device) {
                    assert!(of(&device, variant) == expected, "{} {variant:?} {apart}", device.name());
                }
            }
        }
    }
}

/// Samples on the edges and next to them, in bins of equal width that fit into one slice, into two, and into none; few
/// values and many.
#[test]
fn many_bins_are_the_same_everywhere() {
    for (count, range) in [(17_000, (0.0, 1.0)), (65_536, (-3.0, 0.1)), (100_003, (0.1, 0.7)), (300_000, (0.0, 1.0))] {
        let bins = Bins { count, range: Some(range) };
        let edges = bins.fixed_edges(apron::PixelType::F32).unwrap();
        let near = |n: usize| {
            let edge = edges.values()[n * 7919 % (count + 1)] as f32;
            [edge.next_down(), edge, edge.next_up(), f32::NAN][n % 4]
        };
        let ends = [edges.values()[count], edges.values()[0]].map(|end| end as f32);
        let two = |n: usize| [ends[0], near(1)][(n * n / 3) % 2];
        let images = [(0..101 * 67).map(near).collect(), (0..101 * 67).map(two).collect(), vec![ends[1]; 101 * 67]];
        for samples in images {
            let image = Image::new(101, 67, 1, samples).unwrap();
            let of = |device: &Device, variant| device.histogram(&image).bins(bins).variant(variant).run().unwrap();
            let expected = of(&Device::reference(), None);
            for device in devices() {
                for by in variants(&device).iter().flat_map(|by| match by {
                    None => vec![None],
                    Some(_) => vec![Some("histogram-slices"), Some("histogram-scattered")],
                }) {
                    assert!(of(&device, by) == expected, "{} {by:?} {count}", device.name());
                }
            }
        }
    }
}

/// Integers of 32 bits in bins of one integer each: the last bin has both of its edges, and others are not counted.
#[test]
fn integers_of_32_bits_are_counted_in_ranges() {
    // Numbers of samples below the range, of its integers (5, 0, 7, ...) and of its upper end.
    let check = |low: i64, bins: usize, signed: bool| {
        let times = |n: usize| if n % 11 == 3 { 0 } else { n % 7 };
        let mut samples: Vec<i64> = (0..bins).flat_map(|n| vec![low + n as i64; times(n)]).collect();
        let mut expected: Vec<u64> = (0..bins).map(|n| times(n) as u64).collect();
        let high = low + bins as i64;
        let (least, most) = if signed { (i32::MIN as i64, i32::MAX as i64) } else { (0, u32::MAX as i64) };
        samples.extend([high; 3]);
        expected[bins - 1] += 3;
        let outside = [low - 1, low - 2, high + 1, high + 100, least, most];
        samples.extend(outside.into_iter().filter(|n| (least..=most).contains(n) && !(low..=high).contains(n)));
        // Neighbours apart.
        let length = samples.len();
        let step = (1..).map(|k| 7919 + 2 * k).find(|step| gcd(*step, length) == 1).unwrap();
        let samples: Vec<i64> = (0..length).map(|n| samples[n * step % length]).collect();
        let binning = Bins { count: bins, range: Some((low as f64, high as f64)) };
        let width = length as u32;
        let image: AnyImage<'static> = match signed {
            true => {
                i32::into_any(Image::new(width, 1, 1, samples.iter().map(|&n| n as i32).collect::<Vec<_>>()).unwrap())
            }
            false => {
                u32::into_any(Image::new(width, 1, 1, samples.iter().map(|&n| n as u32).collect::<Vec<_>>()).unwrap())
            }
        };
        for device in devices() {
            let counted = device.histogram(&image).bins(binning).enqueue().unwrap();
            assert_eq!(counted.download().unwrap().counts(), expected, "{} {low} {bins}", device.name());
            if matches!(device.name(), DeviceName::Gpu(_) | DeviceName::Emulator) {
                assert_eq!(counted.report().unwrap().variant, "histogram-slices", "{low} {bins}");
            }
        }
    };
    for low in [0, -40, 100_000, i32::MIN as i64, i32::MAX as i64 - 300] {
        check(low, 300, true);
    }
    for low in [0, 3_000_000_000, u32::MAX as i64 - 300] {
        check(low, 300, false);
    }
    check(0, 1, true);
    // More than one slice of counters.
    check(-7, 70_000, true);
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
