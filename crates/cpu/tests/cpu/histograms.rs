//! Agreement of histograms with the reference, for every type and kind of bins.

use crate::agreement::image;
use apron_core::{Bins, Image, Pixel};
use rand::{SeedableRng, rngs::StdRng};

#[test]
fn byte_histograms() {
    let rng = &mut StdRng::seed_from_u64(4);
    let mut images: Vec<Image<u8>> = Vec::new();
    for channels in 1..=4 {
        for (width, height, padding) in [(1, 1, 0), (67, 129, 0), (67, 129, 5), (1, 999, 0), (999, 1, 0), (700, 900, 3)]
        {
            images.push(image(rng, width, height, channels, padding));
        }
        images.push(Image::new(640, 480, channels, vec![200u8; 640 * 480 * channels as usize]).unwrap());
    }
    images.push(Image::new(16, 16, 1, (0..=255u8).collect::<Vec<_>>()).unwrap());
    for image in &images {
        for per_channel in [false, true] {
            let expected = apron_reference::byte_histogram(image, per_channel);
            assert_eq!(apron_cpu::byte_histogram(image, per_channel), expected, "{}", image.shape());
            for bins in [Bins::default(), Bins { count: 7, range: Some((10.0, 200.5)) }] {
                check_histogram(image, &bins, per_channel);
            }
        }
    }
}

fn check_histogram<T: Pixel>(image: &Image<T>, bins: &Bins, per_channel: bool) {
    let found = apron_cpu::histogram(image, bins, per_channel);
    match (found, apron_reference::histogram(image, bins, per_channel)) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found, expected, "{} {bins:?}", image.shape());
            let bits = |edges: &[f64]| edges.iter().map(|edge| edge.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(found.edges()), bits(expected.edges()));
        }
        (Err(found), Err(expected)) => assert_eq!(found.to_string(), expected.to_string()),
        (found, expected) => panic!("{:?}, but expected {:?}", found.err(), expected.err()),
    }
}

#[test]
fn histograms_of_every_type() {
    let rng = &mut StdRng::seed_from_u64(5);
    let all_bins = [
        Bins::default(),
        Bins { count: 10, range: Some((-1.0, 1.0)) },
        Bins { count: 1, range: None },
        Bins { count: 1 << 16, range: None },
        Bins { count: 3, range: Some((0.5, 0.5)) },
        Bins { count: 0, range: None },
        Bins { count: 3, range: Some((1.0, 0.0)) },
    ];
    for (width, height, padding) in [(1, 1, 0), (67, 29, 4), (900, 700, 0), (1, 500, 0)] {
        for channels in 1..=4 {
            for (bins, per_channel) in all_bins.iter().flat_map(|bins| [(bins, false), (bins, true)]) {
                check_histogram(&image::<f32>(rng, width, height, channels, padding), bins, per_channel);
                if width < 900 {
                    check_histogram(&image::<u8>(rng, width, height, channels, padding), bins, per_channel);
                    check_histogram(&image::<u16>(rng, width, height, channels, padding), bins, per_channel);
                    check_histogram(&image::<i16>(rng, width, height, channels, padding), bins, per_channel);
                }
            }
        }
    }
    // NaN and infinity are not counted with a given range, and refused where the range depends on the samples.
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut data = image::<f32>(rng, 900, 700, 1, 0).into_packed();
        data[620_000] = value;
        let image = Image::new(900, 700, 1, data).unwrap();
        all_bins.iter().for_each(|bins| check_histogram(&image, bins, false));
    }
    let zeros = Image::new(4, 1, 1, vec![-0.0f32, 0.0, -0.0, 0.0]).unwrap();
    check_histogram(&zeros, &Bins::default(), false);
}
