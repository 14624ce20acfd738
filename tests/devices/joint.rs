//! Histograms of many dimensions: the same bits on every device, and what is refused.

use apron::{AnyImage, Binning, Bins, Device, Edges, Error, Image, PixelType, Shape, Table};
use apron_testkit::{Data, gpu_or_skip, random_image};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

fn uneven(edges: &[f64]) -> Binning {
    Edges::new(edges.to_vec()).unwrap().into()
}

fn even(count: usize, low: f64, high: f64) -> Binning {
    Bins { count, range: Some((low, high)) }.into()
}

/// A table of rows whose columns are pixels.
fn table(rng: &mut StdRng, pixel: PixelType, rows: u32, columns: u32) -> AnyImage<'static> {
    let data = if pixel.is_float() && rows > 5 { Data::Special } else { Data::Uniform };
    random_image(rng, pixel, Shape::new(columns, rows, 1).unwrap(), data)
}

/// Bins of each kind, in numbers for which the cells fit into one slice, into several, or into none.
fn binnings(rng: &mut StdRng, columns: usize, most: usize) -> Vec<Binning> {
    let of = |_| match rng.random_range(0..4) {
        0 => uneven(&[f64::NEG_INFINITY, -3.0, 0.0, 0.0, 17.3, 200.0]),
        1 => uneven(&[-100.0, 0.1, 90.0, 255.0, f64::INFINITY]),
        2 => even(most, -1.0, 255.0),
        _ => even(most - 1, 0.1, 77.7),
    };
    (0..columns).map(of).collect()
}

fn agrees(device: &Device) {
    let (reference, mut rng) = (Device::reference(), StdRng::seed_from_u64(85));
    for pixel in PixelType::ALL {
        for (rows, columns, most) in [(1, 1, 3), (5, 3, 40), (1300, 2, 300), (611, 3, 70), (333, 8, 3), (70_000, 1, 9)]
        {
            let image = table(&mut rng, pixel, rows, columns);
            let binning = binnings(&mut rng, columns as usize, most);
            let of = |device| Device::histogramdd(device, Table::of_rows(&image)).bins_of(binning.clone());
            let what = format!("{rows}x{columns} {pixel} {binning:?} on {}", device.name());
            let expected = of(&reference).run().unwrap();
            assert_eq!(of(device).run().unwrap(), expected, "{what}");
            let weight = |_| rng.random_range(-1.0f64..1.0) * 10f64.powi(rng.random_range(-8..9));
            let weights: Vec<f64> = (0..rows).map(weight).collect();
            let singles = Image::new(rows, 1, 1, weights.iter().map(|&of| of as f32).collect::<Vec<_>>()).unwrap();
            // The kernel of sums takes 256 cells at a time.
            if expected.cells.len() < 3000 {
                let (sums, _) = of(device).run_weighted(&weights).unwrap();
                assert_eq!(sums, of(&reference).run_weighted(&weights).unwrap().0, "weighted {what}");
                let (sums, _) = of(device).run_weighted(&singles).unwrap();
                assert_eq!(sums, of(&reference).run_weighted(&singles).unwrap().0, "f32 weights {what}");
            }
            if device.machine().is_none() {
                let (sparse, _) = of(device).run_sparse().unwrap();
                let all = expected.cells.iter().zip(0..).filter(|(count, _)| **count > 0);
                assert_eq!(sparse.cells, all.map(|(count, cell)| (cell, *count)).collect::<Vec<_>>(), "{what}");
            }
        }
    }
    ranges_are_found(device, &mut rng);
}

/// Ranges that follow from the samples: for channels, and for columns that are not channels.
fn ranges_are_found(device: &Device, rng: &mut StdRng) {
    let reference = Device::reference();
    for pixel in PixelType::ALL {
        let photo = random_image(rng, pixel, Shape::new(31, 17, 3).unwrap(), Data::Uniform);
        let rows = random_image(rng, pixel, Shape::new(6, 60, 1).unwrap(), Data::Uniform);
        let tables = || [Table::from(&photo), Table::of_rows(&rows)];
        for (table, expected) in tables().into_iter().zip(tables()) {
            let found = device.histogramdd(table).columns([2, 0]).run().unwrap();
            let expected = reference.histogramdd(expected).columns([2, 0]).run().unwrap();
            assert_eq!(found, expected, "{pixel} on {}", device.name());
            assert_eq!((found.sides(), found.cells.iter().sum::<u64>() > 0), (vec![10, 10], true));
        }
    }
    let nan = Image::new(1, 2, 2, vec![0.0f32, f32::NAN, 1.0, 2.0]).unwrap();
    let error = device.histogramdd(&nan).run().unwrap_err();
    assert!(matches!(error, Error::Samples { .. }), "{error}");
    let only = device.histogramdd(&nan).columns([0, 0]).run().unwrap();
    assert_eq!((only.at(&[0, 0]), only.at(&[9, 9])), (Some(1), Some(1)));
}

#[test]
fn cells_have_the_bits_of_the_reference_on_the_cpu() {
    agrees(&Device::cpu());
}

#[test]
fn cells_have_the_bits_of_the_reference_in_the_emulator() {
    agrees(&Device::emulator());
}

#[test]
fn cells_have_the_bits_of_the_reference_on_the_gpu() {
    if let Some(gpu) = gpu_or_skip("histograms of many dimensions") {
        agrees(&gpu);
        // On the device, packed or not.
        let mut rng = StdRng::seed_from_u64(86);
        let image = random_image(&mut rng, PixelType::F32, Shape::new(64, 33, 3).unwrap(), Data::Uniform);
        let uploaded = gpu.upload(&image).unwrap();
        let of = |table| gpu.histogramdd(table).bins(7).run().unwrap();
        assert_eq!(of(Table::from(&uploaded)), of(Table::from(&image)));
        let (part, region) = (uploaded.region(3, 2, 20, 11).unwrap(), image.region(3, 2, 20, 11).unwrap());
        assert_eq!(of(Table::from(&part)), of(Table::from(&region)));
    }
}

#[test]
fn values_by_hand() {
    for device in [Device::cpu(), Device::reference(), Device::emulator()] {
        // numpy.histogramdd: the last bin is closed, and what is outside is dropped.
        let rows =
            [[0.0f32, 0.0, 9.0], [1.0, 1.0, 9.5], [1.5, 0.0, 9.0], [f32::NAN, 0.0, 9.0], [0.5, 1.0, f32::INFINITY]];
        let image = Image::new(3, 5, 1, rows.concat()).unwrap();
        let binning = [even(2, 0.0, 1.0), even(2, 0.0, 1.0), uneven(&[9.0, 9.25, f64::INFINITY])];
        let histogram = device.histogramdd(Table::of_rows(&image)).bins_of(binning.clone()).run().unwrap();
        assert_eq!(histogram.cells, [1, 0, 0, 0, 0, 0, 0, 2], "{}", device.name());
        let of = device.histogramdd(Table::of_rows(&image)).bins_of(binning);
        let (sums, _) = of.run_weighted(&[1.0, 0.25, 4.0, 8.0, 0.5]).unwrap();
        assert_eq!(sums.cells, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.75]);
        // Edges of a given range are f64: the f32 next to 0.3 lies above that edge, and the third
        // of ten bins ends there.
        let near = Image::new(1, 1, 1, vec![0.3f32]).unwrap();
        let histogram = device.histogramdd(&near).bins(Bins { count: 10, range: Some((0.0, 1.0)) }).run().unwrap();
        assert_eq!(histogram.cells.iter().position(|count| *count > 0), Some(3));
    }
}

#[test]
fn images_side_by_side_tell_how_they_agree() {
    let mut rng = StdRng::seed_from_u64(87);
    let fixed = Image::from_fn(40, 30, 1, |_, _, _| rng.random::<u8>()).unwrap();
    let moved = Image::from_fn(40, 30, 1, |x, y, _| fixed.sample((x + 1) % 40, y, 0)).unwrap();
    let inverted = Image::from_fn(40, 30, 1, |x, y, _| 255 - fixed.sample(x, y, 0)).unwrap();
    for device in [Device::cpu(), Device::emulator()] {
        let of = |other: &Image<'_, u8>| {
            let bins = Bins { count: 16, range: Some((0.0, 256.0)) };
            device.histogramdd(Table::of_images([&fixed, other])).bins(bins).run().unwrap().information().unwrap()
        };
        let (same, other) = (of(&inverted), of(&moved));
        assert!((same.normalized - 2.0).abs() < 1e-12 && (same.mutual - same.joint).abs() < 1e-12, "{same:?}");
        assert!(other.normalized < 1.1 && other.mutual < 0.5, "{other:?}");
    }
    let wide = Image::new(39, 30, 1, vec![0u8; 39 * 30]).unwrap();
    let floats = Image::new(40, 30, 1, vec![0f32; 1200]).unwrap();
    let cpu = Device::cpu();
    let error = cpu.histogramdd(Table::of_images([&fixed, &wide])).run().unwrap_err().to_string();
    assert!(error.contains("size is 39x30, but must be 40x30"), "{error}");
    let two = [AnyImage::U8(fixed.view()), AnyImage::F32(floats.view())];
    let error = cpu.histogramdd(Table::of_images(&two)).run().unwrap_err().to_string();
    assert!(error.contains("f32") && error.contains("u8, as the first image's"), "{error}");
}

#[test]
fn what_is_refused_names_value_and_limit() {
    let image = Image::new(9, 4, 1, vec![0.5f32; 36]).unwrap();
    for device in [Device::cpu(), Device::reference(), Device::emulator()] {
        let of = || device.histogramdd(Table::of_rows(&image));
        let wrong = |error: Error, part: &str| assert!(error.to_string().contains(part), "{}: {error}", device.name());
        wrong(of().run().unwrap_err(), "number of columns is 9, but must be 1 to 8");
        wrong(of().columns([]).run().unwrap_err(), "number of columns is 0");
        wrong(of().columns([9]).run().unwrap_err(), "column is 9, but must be 0 to 8");
        let reversed = Bins { count: 4, range: Some((1.0, 0.0)) };
        wrong(of().columns([0, 1]).bins(reversed).run().unwrap_err(), "range is 1,0");
        wrong(of().columns([0, 1]).bins_of([4]).run().unwrap_err(), "number of binnings is 1, but must be 2");
        wrong(of().columns([0, 1]).bins(0).run().unwrap_err(), "number of bins is 0");
        let many = || of().columns([0, 1, 2]).bins(Bins { count: 2000, range: Some((0.0, 1.0)) });
        let error = many().run().unwrap_err();
        match device.machine() {
            Some(_) => wrong(error, "8000000000 cells (at most 67108864)"),
            None => wrong(
                error,
                "number of cells is 8000000000, but must be at most 1073741824; a sparse result takes more",
            ),
        }
        if device.machine().is_none() {
            let cell = 1000 * 2000 * 2000 + 1000 * 2000 + 1000;
            assert_eq!(many().run_sparse().unwrap().0.cells, [(cell, 4)]);
        } else {
            wrong(many().run_sparse().unwrap_err(), "use --device cpu");
        }
        let weights = [1.0; 3];
        wrong(
            of().columns([0]).run_weighted(&weights).unwrap_err(),
            "number of weights is 3, but must be 4, one for each row",
        );
        let channels = Image::new(2, 2, 2, vec![0u8; 8]).unwrap();
        wrong(device.histogramdd(Table::of_rows(&channels)).run().unwrap_err(), "channels is 2, but must be 1");
    }
}

#[test]
fn auto_takes_the_cpu_for_what_kernels_do_not_have() {
    let image = Image::new(2, 3, 1, vec![1.0f32, 2.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    let (sparse, report) = Device::auto().histogramdd(Table::of_rows(&image)).bins(100_000).run_sparse().unwrap();
    assert_eq!((sparse.cells.len(), sparse.cells[0].1, report.device.as_str()), (2, 2, "cpu"));
}
