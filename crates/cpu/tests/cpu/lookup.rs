//! Parallel lookups and equalisation against the serial ones.

use apron_core::{Binning, Bins, Clahe, Edges, FromSum, Image, Pixel};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Returns an image of padded rows, with few distinct values.
fn image<T: Pixel>(rng: &mut StdRng, shape: (u32, u32, u32), sample: impl Fn(&mut StdRng) -> T) -> Image<'static, T> {
    let stride = (shape.0 * shape.2) as usize + rng.random_range(0..3);
    let data: Vec<T> = (0..stride * shape.1 as usize).map(|_| sample(rng)).collect();
    Image::with_row_stride(shape.0, shape.1, shape.2, stride, data).unwrap()
}

fn counts_agree<T: Pixel>(rng: &mut StdRng, shape: (u32, u32, u32), sample: impl Fn(&mut StdRng) -> T) {
    let photo = image(rng, shape, sample);
    let roi = image(rng, (shape.0, shape.1, 1), |rng| rng.random_range(0..3u8));
    let mut edges: Vec<f64> = (0..rng.random_range(2..40)).map(|_| rng.random_range(-70000.0..70000.0)).collect();
    edges.extend([0.0, 255.0, 255.0, 40000.5]);
    edges.sort_by(f64::total_cmp);
    let all = [
        Binning::Between(Edges::new(edges).unwrap()),
        Binning::Even(Bins { count: 100_000, range: Some((-3.5, 300.0)) }),
        Binning::Even(Bins { count: 7, range: None }),
    ];
    for binning in &all {
        for per_channel in [false, true] {
            for roi in [None, Some(&roi)] {
                let found = apron_cpu::count(&photo, binning, per_channel, roi).unwrap();
                let expected = apron_reference::count(&photo, binning, per_channel, roi).unwrap();
                assert!(found == expected, "{} {} {per_channel}", T::PIXEL, photo.shape());
            }
        }
    }
}

#[test]
fn counts_in_any_bins_with_and_without_a_mask() {
    let rng = &mut StdRng::seed_from_u64(51);
    for shape in [(1, 1, 1), (5, 3, 2), (37, 11, 3), (129, 70, 4), (300, 401, 1)] {
        counts_agree(rng, shape, |rng| rng.random::<u8>());
        counts_agree(rng, shape, |rng| rng.random::<u16>());
        counts_agree(rng, shape, |rng| rng.random::<i16>());
        counts_agree(rng, shape, |rng| rng.random_range(-300.0..300.0f32).round());
    }
}

#[test]
fn a_mask_of_another_shape_is_refused() {
    let photo = Image::new(3, 2, 3, vec![0u8; 18]).unwrap();
    let binning = Binning::Even(Bins::default());
    for roi in [(2, 3, 1), (3, 2, 3), (3, 1, 1)] {
        let roi = Image::new(roi.0, roi.1, roi.2, vec![1u8; (roi.0 * roi.1 * roi.2) as usize]).unwrap();
        for result in [
            apron_cpu::count(&photo, &binning, false, Some(&roi)),
            apron_reference::count(&photo, &binning, false, Some(&roi)),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(&roi.shape().to_string()) && error.contains("3x2x1"), "{error}");
        }
    }
}

#[test]
fn tables_and_equalised_images() {
    let rng = &mut StdRng::seed_from_u64(52);
    for shape in [(1, 1, 1), (5, 3, 2), (37, 11, 3), (129, 70, 4)] {
        let photo = image(rng, shape, |rng| rng.random_range(7..200u8));
        let tables: Vec<u8> = (0..256 * shape.2).map(|_| rng.random()).collect();
        assert_eq!(apron_cpu::lookup(&photo, &tables).unwrap(), apron_reference::lookup(&photo, &tables));
        assert_eq!(apron_cpu::lookup(&photo, &tables[..256]).unwrap(), apron_reference::lookup(&photo, &tables[..256]));
        assert_eq!(apron_cpu::equalize(&photo).unwrap(), apron_reference::equalize(&photo));
    }
}

fn clahe_agrees<T: Pixel + FromSum<f32>>(rng: &mut StdRng, sample: impl Fn(&mut StdRng) -> T) {
    for _ in 0..40 {
        let shape = (rng.random_range(1..50), rng.random_range(1..50), rng.random_range(1..=4));
        let photo = image(rng, shape, &sample);
        let tiles = (rng.random_range(1..7), rng.random_range(1..7));
        let clip = [0.0, 1.0, 2.5, 40.0][rng.random_range(0..4)];
        let clahe = Clahe { shape: photo.shape(), src: T::PIXEL, clip, tiles };
        let found = apron_cpu::clahe(&photo, &clahe).unwrap();
        assert_eq!(found, apron_reference::clahe(&photo, &clahe).unwrap(), "{clahe:?}");
    }
}

#[test]
fn equalised_by_tiles() {
    let rng = &mut StdRng::seed_from_u64(53);
    clahe_agrees(rng, |rng| rng.random::<u8>() / 3);
    clahe_agrees(rng, |rng| rng.random_range(0..3000u16));
}

#[test]
fn weights_are_summed_in_one_order() {
    let rng = &mut StdRng::seed_from_u64(54);
    for shape in [(1, 1, 1), (37, 11, 3), (517, 401, 2)] {
        let photo = image(rng, shape, |rng| rng.random_range(-3.0..3.0f32));
        let weights: Vec<f64> = (0..shape.0 * shape.1).map(|_| rng.random_range(-1.0..1.0)).collect();
        for binning in [
            Binning::Even(Bins { count: 9, range: None }),
            Binning::Between(Edges::new(vec![-1.0, 0.0, 0.1, 7.0]).unwrap()),
        ] {
            for per_channel in [false, true] {
                let found = apron_cpu::weighted(&photo, &binning, per_channel, &weights).unwrap();
                let expected = apron_reference::weighted(&photo, &binning, per_channel, &weights).unwrap();
                assert_eq!(found, expected, "{}", photo.shape());
            }
            let error = apron_cpu::weighted(&photo, &binning, false, &weights[1..]).unwrap_err();
            assert!(error.to_string().contains("one for each pixel"), "{error}");
        }
    }
}

#[test]
fn statistics_of_floats() {
    let rng = &mut StdRng::seed_from_u64(56);
    for shape in [(1, 1, 1), (37, 11, 3), (129, 70, 4)] {
        let photo = image(rng, shape, |rng| rng.random_range(-3.0..3.0f32));
        for per_channel in [false, true] {
            assert_eq!(apron_cpu::statistics(&photo, per_channel), apron_reference::statistics(&photo, per_channel));
            let percents = [99.5, 0.0, 50.0, 100.0, 3.25, 50.0];
            assert_eq!(
                apron_cpu::percentiles(&photo, per_channel, &percents),
                apron_reference::percentiles(&photo, per_channel, &percents)
            );
        }
    }
    let odd = Image::new(2, 1, 1, vec![f32::NAN, 1.0]).unwrap();
    assert!(apron_cpu::statistics(&odd, false)[0].min.is_nan() && apron_cpu::statistics(&odd, false)[0].mean.is_nan());
}
