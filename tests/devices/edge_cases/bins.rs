//! Samples on the edges of bins, and invalid ranges.

use super::{devices, row};
use apron::{Bins, ErrorKind};

#[test]
fn samples_on_an_edge_and_next_to_it() {
    let bins = Bins { count: 10, range: Some((0.0, 1.0)) };
    for device in devices() {
        let edges: Vec<f32> = device
            .histogram(&row(&[0.0f32]))
            .bins(bins)
            .run()
            .unwrap()
            .edges()
            .iter()
            .map(|edge| *edge as f32)
            .collect();
        // In f32, (0.7 - 0) * 10 and others of these are on the wrong side of the integer.
        for (bin, edge) in edges.iter().enumerate() {
            let samples = [edge.next_down(), *edge, edge.next_up()];
            let counts = device.histogram(&row(&samples)).bins(bins).run().unwrap().counts().to_vec();
            let mut expected = vec![0; 10];
            // Below the edge, on it, and above it: the last bin includes its end, and samples beyond the ends count
            // nowhere.
            let below = bin.checked_sub(1);
            let on = if bin == 10 { Some(9) } else { Some(bin) };
            let above = if bin == 10 { None } else { Some(bin) };
            [below, on, above].into_iter().flatten().for_each(|bin| expected[bin] += 1);
            assert_eq!(counts, expected, "around edge {bin} on {}", device.name());
        }
    }
}

#[test]
fn reversed_empty_and_endless_ranges_are_refused() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let ranges = [(1.0, 0.0), (nan, 1.0), (0.0, nan), (-inf, 0.0), (0.0, inf), (f64::MIN, f64::MAX)];
    for device in devices() {
        let image = row(&[1.0f32]);
        for range in ranges {
            let wrong = device.histogram(&image).bins(Bins { count: 4, range: Some(range) }).run().unwrap_err();
            assert_eq!(wrong.kind(), ErrorKind::Usage, "{range:?} on {}: {wrong}", device.name());
        }
        for count in [0, usize::MAX] {
            let wrong = device.histogram(&image).bins(Bins { count, range: None }).run().unwrap_err();
            assert_eq!(wrong.kind(), ErrorKind::Usage, "{count} bins on {}: {wrong}", device.name());
        }
        for edges in [vec![], vec![1.0], vec![0.0, nan], vec![2.0, 1.0]] {
            let wrong = device.histogram(&image).edges(edges.clone()).run().unwrap_err();
            assert_eq!(wrong.kind(), ErrorKind::Usage, "{edges:?} on {}: {wrong}", device.name());
        }
    }
}

#[test]
fn a_range_wider_than_the_samples_type() {
    for device in devices() {
        // 32767 - -32768 is -1 in 16 bits.
        let counts = device.histogram(&row(&[i16::MIN, -1, 0, i16::MAX])).bins(Bins { count: 2, range: None }).run();
        assert_eq!(counts.unwrap().counts(), [2, 2], "{}", device.name());
        let wrong = device.histogram(&row(&[f32::MIN, f32::MAX])).run().unwrap_err();
        assert_eq!(wrong.kind(), ErrorKind::Input, "{wrong}");
    }
}

#[test]
fn nan_and_infinity_are_in_no_bin() {
    let image = row(&[f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.5, 1.0, 1.5]);
    for device in devices() {
        let bins = Bins { count: 2, range: Some((0.0, 1.0)) };
        assert_eq!(device.histogram(&image).bins(bins).run().unwrap().counts(), [1, 2], "{}", device.name());
        // Without a given range, no range can be derived from such samples.
        for sample in [f32::NAN, f32::INFINITY] {
            let wrong = device.histogram(&row(&[0.0, sample])).run().unwrap_err();
            assert_eq!(wrong.kind(), ErrorKind::Input, "{wrong}");
        }
    }
}
