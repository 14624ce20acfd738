//! The library as its users see it: chains, choices, errors.

use apron::{
    AnyImage, Bins, Border, Device, DeviceName, Error, ErrorKind, Histogram256, Image, Mask, Method, PixelType, Shape,
    Statistics, Taps, Tuning,
};
use apron_testkit::{Data, random_image};
use rand::SeedableRng;
use rand::rngs::StdRng;

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu(), Device::emulator(), Device::reference()];
    devices.extend(apron_testkit::gpu_or_skip("the library"));
    devices
}

fn photo() -> Image<'static, u8> {
    Image::new(41, 23, 3, (0..41 * 23 * 3).map(|i| (i * i % 251) as u8).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_chain_gives_the_same_on_every_device() {
    let results: Vec<_> = devices()
        .iter()
        .map(|device| {
            let blurred = device.gaussian(&photo(), 1.5).border(Border::Reflect).run().unwrap();
            let edges = device.correlate(&blurred, apron::filters::named_mask("sobel-x").unwrap());
            let edges = edges.out_type(PixelType::I16).run().unwrap();
            let histogram = device.histogram(&blurred).per_channel(true).run().unwrap();
            (edges.download::<i16>().unwrap(), histogram)
        })
        .collect();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(results[0].1.counts().iter().sum::<u64>(), 41 * 23 * 3);
}

#[test]
fn the_articles_histogram_program_from_setup_to_cleanup() {
    for device in devices() {
        for length in [1, 3, 4, 1021, 100_000] {
            let bytes: Vec<u8> = (0..length).map(|_| rand::random()).collect();
            let mut program = Histogram256::new(&device, bytes).unwrap();
            for _ in 0..2 {
                let report = program.run().unwrap();
                assert_eq!((report.operation, report.device.as_str()), ("histogram", &*device.name().to_string()));
                program.verify().unwrap();
                assert_eq!(program.counts().iter().sum::<u64>(), length);
            }
        }
    }
}

#[test]
fn rows_with_gaps_are_the_same_image() {
    let packed = photo();
    let mut padded = Vec::new();
    for row in packed.rows() {
        padded.extend_from_slice(row);
        padded.extend([255; 5]);
    }
    let padded = Image::with_row_stride(41, 23, 3, 41 * 3 + 5, padded).unwrap();
    for device in devices() {
        let blur = |image: &Image<u8>| device.box_filter(image, 3, 2).run().unwrap().download::<u8>().unwrap();
        assert_eq!(blur(&padded), blur(&packed));
        let count = |image: &Image<u8>| device.histogram(image).run().unwrap();
        assert_eq!(count(&padded), count(&packed));
    }
}

#[test]
fn a_constant_image_stays_constant() {
    let image = Image::new(30, 20, 1, vec![255u8; 600]).unwrap();
    for device in devices() {
        for sigma in [0.0, 0.1, 0.5, 1.0, 7.0, 50.0] {
            let blurred = device.gaussian(&image, sigma).run().unwrap();
            assert_eq!(blurred.download::<u8>().unwrap(), image, "sigma {sigma} on {}", device.name());
        }
        for method in [None, Some(Method::Separable), Some(Method::Box)] {
            let mean = device.box_filter(&image, 7, 9).method(method).run().unwrap();
            assert_eq!(mean.download::<u8>().unwrap(), image, "{method:?} on {}", device.name());
        }
        assert_eq!(device.box_filter(&image, 7, 9).run().unwrap().download::<u8>().unwrap(), image);
    }
}

#[test]
fn what_can_never_be_right_is_a_usage_error_everywhere() {
    let image = photo();
    for device in devices() {
        let errors = [
            device.gaussian(&image, -1.0).run().err(),
            device.gaussian(&image, f64::NAN).run().err(),
            device.box_filter(&image, 0, 3).run().err(),
            device.gaussian(&image, 1.0).variant("no-such").run().err(),
            device.gaussian(&image, 1.0).method(Method::Box).run().err(),
            device.gaussian(&image, 1.0).method(Method::Direct).run().err(),
            device.box_filter(&image, 3, 3).method(Method::Direct).run().err(),
            device.box_filter(&image, 3, 3).clamp(true).run().err(),
            device.correlate(&image, Mask::new(1, 1, [1.0]).unwrap()).clamp(true).run().err(),
            device.gaussian(&image, 1.0).clamp(true).run().err(),
            device.histogram(&image).bins(Bins { count: 0, range: None }).run().err(),
            device.histogram(&image).bins(Bins { count: 2, range: Some((2.0, 1.0)) }).run().err(),
        ];
        for (n, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("no error from call {n} on {}", device.name()));
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        }
    }
}

#[test]
fn no_full_window_is_an_input_error_that_names_both() {
    let wide = Taps::new([1.0; 42]).unwrap();
    for device in devices() {
        let cropped = device.separable(&photo(), wide.clone(), wide.clone()).border(Border::Crop).run();
        let error = cropped.err().expect("no window");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("42x42") && error.to_string().contains("41x23x3"), "{error}");
    }
}

#[test]
fn a_device_asked_for_by_name_refuses_what_it_lacks() {
    let image = Image::new(8, 8, 1, vec![1.0f32; 64]).unwrap();
    // More than the variant takes, and not all alike.
    let taps = || Taps::new([[0.25; 20], [0.5; 20]].concat()).unwrap();
    let kernels: Vec<Device> = devices()
        .into_iter()
        .filter(|device| matches!(device.name(), DeviceName::Gpu(_) | DeviceName::Emulator))
        .collect();
    for device in &kernels {
        let name = device.name().to_string();
        let of_bytes = device.histogram(&image).variant("histogram-columns").run().err();
        let long = device.separable(&image, taps(), taps()).variant("conv1d-tiled").run().err();
        for refused in [of_bytes, long] {
            let refused = refused.expect("refused");
            assert!(matches!(&refused, Error::Unsupported { device, .. } if *device == name), "{refused}");
        }
    }
}

/// More pairs of bins than a device has counters for; only where there is a GPU to refuse, since they take memory.
#[test]
fn auto_takes_the_cpu_for_what_the_gpu_lacks_and_says_so() {
    let auto = Device::auto();
    let DeviceName::Gpu(_) = auto.name() else { return };
    let image = Image::new(2, 1, 2, vec![0u8, 0, 1, 1]).unwrap();
    let bins = || [1 << 24, 5].map(|count| Bins { count, range: Some((0.0, 2.0)) });
    let refused = Device::gpu(0).unwrap().histogram2d(&image, [0, 1], bins()).expect_err("too many for the GPU");
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
    let (found, report) = auto.histogram2d_reported(&image, [0, 1], bins(), None).unwrap();
    assert_eq!((found.count(0, 0), found.count(1 << 23, 2)), (1, 1));
    assert_eq!((report.device.as_str(), report.why.contains("auto: ")), ("cpu", true), "{report:?}");
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
            // One step of f32 is room for one bin.
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
    // Of the pixels of a mask: the samples of others are not looked at.
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
    // What no range can be found from, wherever it is: in a whole four of samples, or behind the last.
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

/// A variant that is named says by which method: the one to which it belongs.
#[test]
fn a_named_variant_has_its_method() {
    let image = Image::new(16, 12, 1, (0..192).map(|i| (i * 7 % 50) as f32).collect::<Vec<_>>()).unwrap();
    let sobel = || apron::filters::named_mask("sobel-x").unwrap();
    let kernels = devices().into_iter().filter(|device| device.machine().is_some());
    for device in kernels {
        for (variant, method) in [
            (None, Method::Separable),
            (Some("conv2d-naive"), Method::Direct),
            // Both have one of this name.
            (Some("conv2d-tiled"), Method::Direct),
            (Some("conv1d-fused"), Method::Separable),
        ] {
            let report = device.correlate(&image, sobel()).variant(variant).run().unwrap().report().unwrap();
            assert_eq!(report.method, Some(method), "{variant:?}: {report:?}");
            assert!(variant.is_none_or(|name| report.variant == name), "{report:?}");
        }
        let means =
            [(None, Method::Separable), (Some("conv1d-fused"), Method::Separable), (Some("boxes-chunks"), Method::Box)];
        for (variant, method) in means {
            let report = device.box_filter(&image, 5, 3).variant(variant).run().unwrap().report().unwrap();
            assert_eq!(report.method, Some(method), "{variant:?}: {report:?}");
        }
        let asked = device.correlate(&image, sobel()).method(Method::Separable).variant("conv1d-tiled").run().unwrap();
        assert_eq!(asked.report().unwrap().operation, "separable");
        let error = device.correlate(&image, sobel()).variant("no-such").run().err().expect("no such variant");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
}

/// Integers made of integers are what they were, whatever the method; f32 differ in the last places at most.
#[test]
fn methods_agree() {
    let (photo, cpu) = (photo(), Device::cpu());
    let binomial: Vec<f32> = [1.0f32, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0].map(|tap| tap / 64.0).to_vec();
    let taps: Vec<f32> = binomial.iter().flat_map(|y| binomial.iter().map(move |x| x * y)).collect();
    let binomial = Mask::new(7, 7, taps).unwrap();
    let bells = [(1.0, 8.0), (2.0, 4.0)].map(|(sigma, cut)| apron::filters::gaussian(sigma, cut).unwrap());
    let tap = |n: usize| bells.iter().map(|bell| 0.25 * bell.taps()[n % 17] * bell.taps()[n / 17]).sum();
    let bells = Mask::new(17, 17, (0..289).map(tap).collect::<Vec<f32>>()).unwrap();
    let named = |name: &str| apron::filters::named_mask(name).unwrap();
    for (mask, of_integers, of_floats) in [
        (named("box3"), Method::Box, Method::Box),
        (named("box5"), Method::Box, Method::Box),
        (binomial, Method::Separable, Method::Separable),
        (bells, Method::Direct, Method::LowRank),
    ] {
        for pixel in [PixelType::U8, PixelType::I16, PixelType::F32] {
            let by = |method: Option<Method>| {
                let filter = cpu.correlate(&photo, mask.clone()).out_type(pixel).method(method);
                let image = filter.border(Border::Reflect).run().unwrap();
                (image.report().unwrap().method, image.download_any().unwrap())
            };
            let method = if pixel.is_float() { of_floats } else { of_integers };
            let ((direct, of_taps), (chosen, found)) = (by(Some(Method::Direct)), by(None));
            assert_eq!((direct, chosen), (Some(Method::Direct), Some(method)));
            match (found, of_taps) {
                (AnyImage::F32(found), AnyImage::F32(of_taps)) => {
                    let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 2e-4;
                    assert!(found.rows().flatten().zip(of_taps.rows().flatten()).all(near));
                }
                (found, of_taps) => assert_eq!(found, of_taps, "{method} to {pixel}"),
            }
        }
    }
}

#[test]
fn reports_say_what_ran() {
    for device in devices() {
        let report = device.gaussian(&photo(), 1.0).run().unwrap().report().unwrap();
        assert_eq!((report.operation, report.method), ("separable", Some(Method::Separable)));
        assert!(!report.why_method.is_empty());
        assert_eq!(report.device, device.name().to_string());
        assert!(!report.variant.is_empty() && !report.why.is_empty());
        assert!(report.kernels.as_nanos() > 0);
    }
}

#[test]
fn a_grid_may_be_given_and_the_report_says_which_ran() {
    let image = Image::new(16, 64, 1, (0..1024).map(|i| (i * i % 509) as f32).collect::<Vec<_>>()).unwrap();
    let device = Device::emulator();
    let sharpened = |tuning| {
        let mask = apron::filters::named_mask("sharpen").unwrap();
        let result = device.correlate(&image, mask).variant("march-dense").tuning(tuning).run().unwrap();
        (result.report().unwrap().grid, result.download::<f32>().unwrap())
    };
    let (few, many) = (sharpened(Tuning { rows: 1, residents: 4 }), sharpened(Tuning { rows: 2, residents: 4 }));
    assert_eq!((few.0.as_str(), many.0.as_str()), ("1x64 x 128x1", "1x32 x 128x1"));
    assert_eq!(few.1, many.1);
    let photo = photo();
    let counted = device.histogram(&photo).tuning(Tuning { rows: 0, residents: 1 }).run_reported().unwrap().1;
    assert_eq!(counted.grid.matches(" x ").count(), counted.grid.matches('+').count() + 1, "{counted:?}");
    assert_eq!(Device::cpu().gaussian(&photo, 1.0).run().unwrap().report().unwrap().grid, "");
}

#[test]
fn downloads_check_the_type() {
    let image = Device::cpu().upload(&photo()).unwrap();
    assert!(matches!(image.download::<f32>(), Err(Error::PixelType { .. })));
    assert!(matches!(image.download_any().unwrap(), AnyImage::U8(_)));
}

#[test]
fn device_names() {
    for name in ["auto", "gpu:3", "cpu", "emulator", "reference"] {
        assert_eq!(name.parse::<DeviceName>().unwrap().to_string(), name);
    }
    assert_eq!("gpu".parse::<DeviceName>().unwrap(), DeviceName::Gpu(0));
    for wrong in ["", "gpu:", "gpu:-1", "gpu:x", "cuda", "GPU"] {
        assert_eq!(wrong.parse::<DeviceName>().unwrap_err().kind(), ErrorKind::Usage, "{wrong}");
    }
    let beyond = Device::gpu(9999).err().expect("no such GPU");
    assert_eq!(beyond.kind(), ErrorKind::Device);
}

#[test]
fn devices_and_images_may_cross_threads() {
    fn crosses<T: Send + Sync + Clone>() {}
    crosses::<Device>();
    crosses::<apron::DeviceImage>();
    let image = photo();
    for device in devices() {
        let on_device = device.upload(&image).unwrap();
        let blur = || device.gaussian(&on_device, 1.0).run().unwrap().download::<u8>().unwrap();
        let expected = blur();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(blur)).collect();
            assert!(threads.into_iter().all(|thread| thread.join().unwrap() == expected));
        });
    }
}

/// Also of samples that are infinite or next to each other, of zeros with a sign, and where one is NaN.
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
            // Those of a channel are all NaN, or but those that are next to what is infinite.
            let alike = expected.chunks(percents.len()).filter(|of| of.iter().all(nan)).count();
            assert_eq!(alike, unknown);
        }
    }
    // numpy.percentile's own numbers.
    let four = AnyImage::F32(Image::new(4, 1, 1, vec![4.0, -1.5, 0.25, 1e30]).unwrap());
    let expected = [-1.5, 1e30f32.into(), 2.125, 9.970000150e29, -0.84375, 2.125];
    let near = |(found, expected): (&u64, &f64)| (f64::from_bits(*found) - expected).abs() <= 1e-7 * expected.abs();
    assert!(of(&Device::reference(), &four, false).iter().zip(&expected).all(near));
}

/// Every type, its own range and another, bins of all numbers, images on the host and on the device.
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
                    device.weighted_histogram(&uploaded, &weights, bins(), per_channel).unwrap()
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
                device.histogram2d(&uploaded, [2, 0], [bins(), Bins { count: 7, range: None }]).unwrap()
            };
            let expected = of(&Device::reference());
            devices().iter().for_each(|device| assert_eq!(of(device), expected, "{} {pixel}", device.name()));
        }
    }
    // Weights that are samples, on the host, on the device, and on another: of what they hold.
    let image = photo();
    for pixel in PixelType::ALL {
        let (width, height) = (image.width(), image.height());
        let shape = Shape::new(width, height, 1).unwrap();
        let weights = random_image(&mut StdRng::seed_from_u64(3), pixel, shape, Data::Uniform);
        let weights = weights.region(1, 0, width - 1, height).unwrap();
        let image = image.region(0, 0, width - 1, height).unwrap();
        let numbers: Vec<f64> =
            apron_core::each_type!(&weights, weights => weights.packed().iter().map(|&of| f64::from(of)).collect());
        let bins = || Bins { count: 9, range: Some((3.0, 200.0)) };
        let expected = Device::reference().weighted_histogram(&image, &numbers, bins(), true).unwrap();
        for device in devices() {
            let elsewhere = Device::cpu().upload(&weights).unwrap();
            for weights in [(&weights).into(), (&device.upload(&weights).unwrap()).into(), (&elsewhere).into()] {
                let weights: apron::Weights<'_> = weights;
                let found = device.weighted_histogram(&image, weights, bins(), true).unwrap();
                assert_eq!(bits(&found.sums), bits(&expected.sums), "{} {pixel}", device.name());
            }
        }
    }
    // What can never be right, and a range that is none.
    let image = Image::new(2, 1, 2, vec![f32::NAN, 1.0, 2.0, 3.0]).unwrap();
    let bins = || Bins { count: 4, range: None };
    for device in devices() {
        let few = device.weighted_histogram(&image, &[1.0], bins(), false).expect_err("a weight too few");
        assert!(matches!(few, Error::Shape { .. }), "{few}");
        let turned = Image::new(1, 2, 1, vec![0.5f32, 0.5]).unwrap();
        let other = device.weighted_histogram(&image, &turned, bins(), false).expect_err("of another shape");
        assert!(other.to_string().contains("2x1x1"), "{other}");
        let none = device.weighted_histogram(&image, &[1.0, 2.0], bins(), false).expect_err("no range");
        assert_eq!(none.kind(), ErrorKind::Input);
        assert!(none.to_string().contains("NaN"), "{none}");
        let none = device.histogram2d(&image, [1, 0], [bins(), bins()]).expect_err("no range");
        assert_eq!(none.kind(), ErrorKind::Input);
        let other = device.histogram2d(&image, [0, 2], [bins(), bins()]).expect_err("no such channel");
        assert_eq!(other.kind(), ErrorKind::Usage);
        let fine = device.histogram2d(&image, [1, 1], [bins(), bins()]).unwrap();
        assert_eq!((fine.count(0, 0), fine.count(3, 3)), (1, 1), "{}", device.name());
        // A sample that is no number is in no bin.
        let range = Bins { count: 1, range: Some((0.0, 9.0)) };
        assert_eq!(device.weighted_histogram(&image, &[1.0, 2.0], range, true).unwrap().sums, [2.0, 3.0]);
    }
}

/// Zeros of both signs, numbers that are none, infinities, images with gaps between rows.
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
    // Rows of whole 16 bytes, and parts that start at such: rows with gaps are read as they lie.
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
