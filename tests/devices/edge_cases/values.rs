//! Values: ties, ends of types, NaN and infinities, signed zeros, denormals.

use super::{devices, row};
use apron::{Border, Device, Image, Mask, Method, PixelType, Taps};

/// Filters one row by taps along it, by each method that supports them.
fn filtered(device: &Device, image: &Image<'_, f32>, taps: &[f32]) -> [Vec<f32>; 2] {
    [Method::Direct, Method::Separable].map(|method| {
        let filter = match method {
            Method::Direct => device.correlate(image, Mask::new(taps.len() as u32, 1, taps).unwrap()),
            _ => device.separable(image, Taps::new(taps).unwrap(), Taps::new([1.0]).unwrap()),
        };
        let result = filter.border(Border::Constant(0.0)).method(method).run().unwrap();
        result.download::<f32>().unwrap().into_packed()
    })
}

#[track_caller]
fn assert_bits(image: &[f32], taps: &[f32], expected: &[f32]) {
    let bits = |samples: &[f32]| samples.iter().map(|sample| sample.to_bits()).collect::<Vec<_>>();
    for device in devices() {
        for found in filtered(&device, &row(image), taps) {
            assert_eq!(bits(&found), bits(expected), "{found:?}, but {expected:?} on {}", device.name());
        }
    }
}

#[test]
fn halves_go_to_the_even_neighbour_and_sums_saturate() {
    let half: Mask = "0.5".parse().unwrap();
    let turned: Mask = "-300".parse().unwrap();
    for device in devices() {
        let bytes = device.correlate(&row(&[1u8, 3, 5, 255]), half.clone()).run().unwrap();
        assert_eq!(bytes.download::<u8>().unwrap().packed().as_ref(), [0, 2, 2, 128], "{}", device.name());
        let words = device.correlate(&row(&[-1i16, -3, -5, i16::MIN]), half.clone()).run().unwrap();
        assert_eq!(words.download::<i16>().unwrap().packed().as_ref(), [0, -2, -2, -16384], "{}", device.name());
        let ends = device.correlate(&row(&[i16::MIN, -1, 0, 1, i16::MAX]), turned.clone()).run().unwrap();
        let expected = [i16::MAX, 300, 0, -300, i16::MIN];
        assert_eq!(ends.download::<i16>().unwrap().packed().as_ref(), expected, "{}", device.name());
        // NaN becomes 0, and infinity the end of the type.
        let floats = row(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 254.5, 300.0, -0.5]);
        let bytes = device.correlate(&floats, Mask::from_rows([[1.0]]).unwrap()).out_type(PixelType::U8).run().unwrap();
        assert_eq!(bytes.download::<u8>().unwrap().packed().as_ref(), [0, 255, 0, 254, 255, 0], "{}", device.name());
    }
}

#[test]
fn numbers_below_the_normal_ones_are_kept() {
    let small = f32::from_bits(1);
    assert_bits(&[small, small, 0.0], &[1.0, 1.0, 0.0], &[small, 2.0 * small, small]);
    // A denormal tap as well: 2^30 * 2^-149.
    assert_bits(&[2f32.powi(30)], &[small], &[2f32.powi(30) * small]);
    for device in devices() {
        let bins = apron::Bins { count: 2, range: Some((0.0, 4.0 * f64::from(small))) };
        let image = row(&[small, 2.0 * small, 3.0 * small, 4.0 * small]);
        assert_eq!(device.histogram(&image).bins(bins).run().unwrap().counts(), [1, 3], "{}", device.name());
    }
}

#[test]
fn nan_stays_in_the_windows_that_hold_it() {
    let mut samples = [1f32; 12];
    samples[5] = f32::NAN;
    let (image, tall) = (row(&samples), Image::new(1, 12, 1, samples.to_vec()).unwrap());
    for device in devices() {
        // Also where the tap over NaN is 0.
        for found in filtered(&device, &image, &[1.0, 0.0, 1.0]) {
            let nan: Vec<usize> = (0..12).filter(|at| found[*at].is_nan()).collect();
            assert_eq!(nan, [4, 5, 6], "{}", device.name());
        }
        for (image, size) in [(&image, (3, 1)), (&tall, (1, 3))] {
            for method in [Method::Box, Method::Separable] {
                let mean = device.box_filter(image, size.0, size.1).method(method).run().unwrap();
                let mean = mean.download::<f32>().unwrap().into_packed();
                let nan: Vec<usize> = (0..12).filter(|at| mean[*at].is_nan()).collect();
                assert_eq!(nan, [4, 5, 6], "{method} on {}", device.name());
            }
        }
    }
}

#[test]
fn infinity_and_sums_beyond_f32() {
    assert_bits(&[f32::MAX, f32::MAX], &[1.0, 1.0, 0.0], &[f32::MAX, f32::INFINITY]);
    assert_bits(&[f32::INFINITY, 1.0], &[1.0], &[f32::INFINITY, 1.0]);
    for device in devices() {
        for found in filtered(&device, &row(&[f32::INFINITY, f32::INFINITY, 0.0]), &[1.0, -1.0]) {
            assert!(found[0] == f32::NEG_INFINITY && found[1].is_nan() && found[2] == f32::INFINITY, "{found:?}");
        }
    }
}

#[test]
fn sums_start_from_plus_zero() {
    assert_bits(&[-0.0, -0.0], &[1.0], &[0.0, 0.0]);
    assert_bits(&[0.0, 1.0], &[-1.0], &[0.0, -1.0]);
}

#[test]
fn tiny_and_zero_taps_are_taps() {
    // SciPy leaves out taps below 2.2e-16.
    assert_bits(&[1e17], &[1e-17], &[1e17f32 * 1e-17f32]);
    assert_bits(&[1.0], &[1e-45], &[1e-45]);
}
