//! Counters: more samples than f32 can count, more bins than shared memory holds. More samples than 32 bits can count
//! are in tests/giants.rs.

use super::{devices, row};
use apron::{Bins, Device, DeviceName, Image};

#[test]
fn more_samples_in_a_bin_than_f32_counts() {
    // 2^24 + 8193; an f32 count would stop at 2^24.
    let side = 4097;
    for device in
        [Some(Device::cpu()), apron_testkit::gpu_or_skip("16 million samples of one value")].into_iter().flatten()
    {
        let bytes = Image::new(side, side, 1, vec![7u8; (side * side) as usize]).unwrap();
        assert_eq!(device.histogram(&bytes).run().unwrap().counts()[7], u64::from(side * side));
        let floats = Image::new(side, side, 1, vec![0.5f32; (side * side) as usize]).unwrap();
        let bins = Bins { count: 2, range: Some((0.0, 1.0)) };
        assert_eq!(device.histogram(&floats).bins(bins).run().unwrap().counts(), [0, u64::from(side * side)]);
    }
}

#[test]
fn a_bin_for_each_of_65536_values() {
    let words = Image::new(256, 256, 1, (0..=u16::MAX).collect::<Vec<_>>()).unwrap();
    let floats = Image::new(256, 256, 1, (0..=u16::MAX).map(f32::from).collect::<Vec<_>>()).unwrap();
    let bins = Bins { count: 65536, range: Some((0.0, 65536.0)) };
    for device in devices() {
        for counts in [device.histogram(&words).bins(bins).run(), device.histogram(&floats).bins(bins).run()] {
            assert!(counts.unwrap().counts().iter().all(|count| *count == 1), "{}", device.name());
        }
    }
}

#[test]
fn ten_million_bins() {
    let bins = Bins { count: 10_000_000, range: Some((0.0, 1.0)) };
    let image = row(&[0.0f32, 0.25, 0.25, 1.0, 1.5]);
    // The emulator would take minutes for this number of counters.
    for device in devices().into_iter().filter(|device| device.name() != DeviceName::Emulator) {
        let counts = device.histogram(&image).bins(bins).run().unwrap();
        let found: Vec<(usize, u64)> = counts.counts().iter().copied().enumerate().filter(|bin| bin.1 > 0).collect();
        assert_eq!(found, [(0, 1), (2_500_000, 2), (9_999_999, 1)], "{}", device.name());
    }
}
