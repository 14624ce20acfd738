//! The library from its users' view: chains, choices, errors.

mod counting;
mod histograms;
mod shown;

use apron::{
    AnyImage, Bins, Border, Device, DeviceName, Error, ErrorKind, Histogram256, Image, Mask, Method, PixelType, Taps,
    Tuning,
};

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
        let error = cropped.expect_err("no window");
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains("42x42") && error.to_string().contains("41x23x3"), "{error}");
    }
}

#[test]
fn a_device_asked_for_by_name_refuses_what_it_lacks() {
    let image = Image::new(8, 8, 1, vec![1.0f32; 64]).unwrap();
    // More taps than the variant supports, and not all equal.
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

/// More pairs of bins than a device has counters for; only with a GPU, since the pairs take much memory.
#[test]
fn auto_takes_the_cpu_for_what_the_gpu_lacks_and_says_so() {
    let auto = Device::auto();
    let DeviceName::Gpu(_) = auto.name() else { return };
    let image = Image::new(2, 1, 2, vec![0u8, 0, 1, 1]).unwrap();
    let bins = || [1 << 24, 5].map(|count| Bins { count, range: Some((0.0, 2.0)) });
    let refused =
        Device::gpu(0).unwrap().histogram2d(&image, [0, 1]).bins(bins()).run().expect_err("too many for the GPU");
    assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
    let (found, report) = auto.histogram2d(&image, [0, 1]).bins(bins()).run_reported().unwrap();
    assert_eq!((found.count(0, 0), found.count(1 << 23, 2)), (1, 1));
    assert_eq!((report.device.as_str(), report.why.contains("auto: ")), ("cpu", true), "{report:?}");
}

/// A named variant implies its method.
#[test]
fn a_named_variant_has_its_method() {
    let image = Image::new(16, 12, 1, (0..192).map(|i| (i * 7 % 50) as f32).collect::<Vec<_>>()).unwrap();
    let sobel = || apron::filters::named_mask("sobel-x").unwrap();
    let kernels = devices().into_iter().filter(|device| device.machine().is_some());
    for device in kernels {
        for (variant, method) in [
            (None, Method::Separable),
            (Some("conv2d-naive"), Method::Direct),
            (Some("conv2d-tiled"), Method::Direct),
            (Some("conv1d-tiled"), Method::Separable),
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
        let error = device.correlate(&image, sobel()).variant("no-such").run().expect_err("no such variant");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
}

/// Integer results of integers do not depend on the method; f32 results differ in the last bits at most.
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
    let beyond = Device::gpu(9999).expect_err("no such GPU");
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
