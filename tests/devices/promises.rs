//! Scaled sums with integer output, and the exceptions in docs/promises.md, on every device that needs no GPU, and on a
//! GPU if there is one.

use apron::PixelType::{self, I16};
use apron::{
    Border, Borders, Device, DeviceName, Extent, Formula, Image, Mask, Method, Region, Result, Shape, Source, f16,
};
use apron_testkit::gpu_or_skip;

fn devices() -> Vec<Device> {
    let without = [Device::cpu(), Device::reference(), Device::emulator()];
    without.into_iter().chain(gpu_or_skip("promises")).collect()
}

/// Rows with three columns whose sum under [`HEAVY`] is 3000, but 2996 in f32, between columns of 7 and 9.
fn heavy_rows(height: u32) -> Result<Image<'static, u16>> {
    Image::new(
        5,
        height,
        2,
        [[7u16; 2], [65535; 2], [65535; 2], [65533, 65533], [9; 2]].concat().repeat(height as usize),
    )
}

const HEAVY: &str = "3001 -1501 -1500";

#[test]
fn scaled_sums_are_rounded_once_however_they_are_asked_for() -> Result<()> {
    let formula = || HEAVY.parse::<Mask>().map(|mask| Formula::Dense(mask).scaled(0.25, 3.0));
    let rows = heavy_rows(4)?;
    for device in devices() {
        let name = device.name();
        // A part of wider rows, on the host and on the device.
        let part = rows.region(1, 1, 3, 2)?;
        let apart = device.upload(&rows)?.region(1, 1, 3, 2)?;
        for source in [Source::from(&part), Source::from(&apart)] {
            let out = device.apply(source, formula()?).border(Border::Crop).out_type(I16).run()?;
            assert_eq!(out.download::<i16>()?.packed().as_ref(), [753; 4], "{name}");
        }
        // A region of the image, and a border by axis, whose padded columns are next to the three.
        let extent = Extent::Region(Region { x: 2, y: -1, width: 1, height: 3 });
        let out = device.apply(&rows, formula()?).extent(extent).out_type(I16).run()?;
        assert_eq!(out.download::<i16>()?.packed().as_ref(), [753; 6], "{name}");
        let borders = Borders::by_axis(Border::Crop, Border::Wrap);
        let out = device.apply(&part, formula()?).border(borders).out_type(I16).run()?;
        assert_eq!(out.download::<i16>()?.packed().as_ref(), [753; 4], "{name}");
        // Alpha is that of the pixel under the anchor.
        let out = device.apply(&part, formula()?).border(Border::Crop).keep_alpha(true).run()?;
        assert_eq!(out.download::<u16>()?.packed().as_ref(), [753, 65535, 753, 65535], "{name}");
        // Batches, and an existing image.
        let images = device.upload_batch(&[heavy_rows(2)?, heavy_rows(2)?, heavy_rows(2)?])?;
        let out = device.apply(&images, formula()?).border(Border::Crop).run()?;
        for image in out.download_batch::<u16>()? {
            assert_eq!(image.row(1)[2..4], [753, 753], "{name}");
        }
        let mut there = device.zeros(Shape::new(1, 2, 2)?, I16)?;
        device.apply(&part, formula()?).border(Border::Crop).out_type(I16).run_into(&mut there)?;
        assert_eq!(there.download::<i16>()?.packed().as_ref(), [753; 4], "{name}");
    }
    Ok(())
}

#[test]
fn scaled_derivatives_are_rounded_once() -> Result<()> {
    // Differences of columns, smoothed: 640 * 65535 - 1, where f32 represents only multiples of 4.
    let edge = Image::from_fn(7, 7, 1, |x, y, _| if (x, y) == (6, 6) { 65534u16 } else { 65535 * u16::from(x > 3) })?;
    for device in devices() {
        let slope = device.sobel(&edge, 1, 0).ksize(7).scale(2.0).delta(-83_880_000.0);
        let out = slope.border(Border::Crop).out_type(I16).run()?;
        assert_eq!(out.download::<i16>()?.row(0), [4798], "{}", device.name());
    }
    Ok(())
}

#[test]
fn the_default_range_of_bytes_is_the_types_and_that_of_others_the_samples() -> Result<()> {
    for device in devices() {
        let bytes = device.histogram(&Image::new(3, 1, 1, vec![3u8, 9, 40])?).run()?;
        assert_eq!((bytes.edges()[0], bytes.edges()[256], bytes.counts()[9]), (0.0, 256.0, 1), "{}", device.name());
        let words = device.histogram(&Image::new(3, 1, 1, vec![3u16, 9, 40])?).run()?;
        assert_eq!((words.edges()[0], words.edges()[256]), (3.0, 40.0), "{}", device.name());
    }
    Ok(())
}

#[test]
fn f16_is_counted_as_its_f32_conversion() -> Result<()> {
    let samples: Vec<f16> = (0..1000).map(|i| f16::from_f32(0.1 + i as f32 / 1111.0)).collect();
    let wide: Vec<f32> = samples.iter().map(|sample| sample.to_f32()).collect();
    let (half, single) = (Image::new(100, 10, 1, samples)?, Image::new(100, 10, 1, wide)?);
    for device in devices() {
        let (half, single) = (device.histogram(&half).run()?, device.histogram(&single).run()?);
        assert_eq!((half.edges(), half.counts()), (single.edges(), single.counts()), "{}", device.name());
        // NumPy's edges of an f16 image are f16 values.
        let rounds = |edge: &f64| f16::from_f64(*edge).to_f64() != *edge;
        assert!(half.edges().iter().any(rounds), "{}", device.name());
    }
    Ok(())
}

#[test]
fn percentiles_have_numpys_bits_for_a_list() -> Result<()> {
    let image = Image::new(4, 1, 1, vec![0.1f32, 0.2, 0.35, 0.7])?;
    for device in devices() {
        let found = device.statistics(&image).percentiles([30.0, 55.0]).run()?;
        // As numpy.percentile(image, [30, 55]); numpy.percentile(image, 30) is rounded to f32, 0.1899999976158142.
        assert_eq!(found[0].percentiles, [0.19000000283122062, 0.2974999971687794], "{}", device.name());
    }
    Ok(())
}

#[test]
fn all_samples_are_percentiles() -> Result<()> {
    // 129 samples per channel in two orders; the percentiles i * 100 / 128 are the sorted samples. Of two channels these
    // are more ranks than a GPU finds at once.
    let sample = |x: u32, _, channel| ((x * (5 + 2 * channel) % 129) as f32 - 40.0) * 0.375;
    let image = Image::from_fn(129, 1, 2, sample)?;
    let half = Image::from_fn(129, 1, 2, |x, y, channel| f16::from_f32(sample(x, y, channel)))?;
    let percents: Vec<f64> = (0..129).map(|i| i as f64 * 100.0 / 128.0).collect();
    let sorted: Vec<f64> = (0..129).map(|i| (i as f64 - 40.0) * 0.375).collect();
    for device in devices() {
        for source in [Source::from(&image), Source::from(&half)] {
            let found = device.percentiles(source, &percents[..]).per_channel(true).run()?;
            assert_eq!(found, [&sorted[..], &sorted], "{}", device.name());
        }
    }
    Ok(())
}

#[test]
fn counts_are_copied_into_images_of_their_device() -> Result<()> {
    let floats = Image::from_fn(50, 3, 2, |x, y, channel| (x * 7 + y + 3 * channel) as f32 % 10.0)?;
    let words = Image::from_fn(50, 3, 2, |x, y, channel| (x * 700 + y + 3 * channel) as u16)?;
    for device in devices() {
        let of_floats = || device.histogram(&floats).bins(9).range(0.5, 9.5);
        let of_values = || device.histogram(&words).bins(65536).range(0.0, 65536.0);
        let between = || device.histogram(&words).bins(12).range(100.0, 7000.0);
        for (counting, again) in [(of_floats(), of_floats()), (of_values(), of_values()), (between(), between())] {
            let expected = again.per_channel(true).run()?;
            let counted = counting.per_channel(true).enqueue()?;
            let shape = Shape::new(expected.bins() as u32, 2, 1)?;
            let mut counts = device.zeros(shape, PixelType::I64)?;
            counted.copy_into(&mut counts)?;
            let found: Vec<u64> = counts.download::<i64>()?.packed().iter().map(|&count| count as u64).collect();
            assert!(found == expected.counts(), "{}", device.name());
            let mut wrong = device.zeros(shape, PixelType::F64)?;
            assert!(counted.copy_into(&mut wrong).is_err(), "{}", device.name());
        }
        assert_eq!(device.extremes(&floats)?, (0.0, 9.0), "{}", device.name());
        assert_eq!(device.histogram(&words).bins(65536).range(0.0, 65536.0).enqueue()?.occupied()?, Some((0, 34305)));
    }
    Ok(())
}

#[test]
fn a_handle_without_timers_has_the_same_results() -> Result<()> {
    let image = Image::from_fn(50, 40, 1, |x, y, _| (x * 7 + y) as u8)?;
    for device in devices() {
        let [timed, untimed] = [device.clone(), device.untimed()].map(|device| device.gaussian(&image, 1.0).run());
        let [timed, untimed] = [timed?, untimed?];
        assert!(timed.download::<u8>()? == untimed.download::<u8>()?, "{}", device.name());
        if let DeviceName::Gpu(_) = device.name() {
            assert!(!timed.report()?.kernels.is_zero() && untimed.report()?.kernels.is_zero());
        }
    }
    Ok(())
}

#[test]
fn sums_along_rows_may_overflow_where_the_result_would_not() -> Result<()> {
    let mut samples = vec![0f32; 9];
    samples[6..].fill(2e38);
    let image = Image::new(3, 3, 1, samples)?;
    // The last row of taps is the others' divided by 1024, so that the mask is separable.
    let mask = "1 1 1; 1 1 1; 0.0009765625 0.0009765625 0.0009765625";
    for device in devices() {
        let centre = |method: Option<Method>| -> Result<f32> {
            let filtered = device.correlate(&image, mask.parse::<Mask>()?).method(method).run()?;
            Ok(filtered.download::<f32>()?.sample(1, 1, 0))
        };
        let exact = 6e38f64 / 1024.0;
        assert!((f64::from(centre(Some(Method::Direct))?) / exact - 1.0).abs() < 1e-6, "{}", device.name());
        assert_eq!(centre(None)?, f32::INFINITY, "{}", device.name());
    }
    Ok(())
}
