//! The exceptions that docs/promises.md names, on every device that runs without a GPU and on a GPU if there is one.

use apron::{Device, Image, Mask, Method, Result, f16};
use apron_testkit::gpu_or_skip;

fn devices() -> Vec<Device> {
    let without = [Device::cpu(), Device::reference(), Device::emulator()];
    without.into_iter().chain(gpu_or_skip("promises")).collect()
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
        // NumPy's edges of an f16 image are f16 themselves.
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
        // numpy.percentile(image, [30, 55]); numpy.percentile(image, 30) is rounded to f32, 0.1899999976158142.
        assert_eq!(found[0].percentiles, [0.19000000283122062, 0.2974999971687794], "{}", device.name());
    }
    Ok(())
}

#[test]
fn sums_along_rows_may_overflow_where_the_result_would_not() -> Result<()> {
    let mut samples = vec![0f32; 9];
    samples[6..].fill(2e38);
    let image = Image::new(3, 3, 1, samples)?;
    // The last row of taps is the others' divided by 1024: the mask is a column times a row.
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
