//! Images with more samples than 32 bits count, on a GPU: 64-bit offsets, and large grids.

use apron::{Border, Device, DeviceImage, Image, Mask};
use apron_testkit::gpu_or_skip;

/// Returns a pseudorandom byte: indices that differ by a power of two give different bytes.
fn byte(index: u64) -> u8 {
    (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// Makes an image of the bytes of [`byte`] on the device; returns the bytes, too.
fn giant(device: &Device, width: u32, height: u32) -> (DeviceImage, Vec<u8>) {
    let samples: Vec<u8> = (0..width as u64 * height as u64).map(byte).collect();
    let image = Image::new(width, height, 1, samples).unwrap();
    (device.upload(&image).unwrap(), image.into_packed())
}

/// Returns the first and the last rows, and the rows around 2^31 and 2^32 samples.
fn telling_rows(width: u32, height: u32) -> impl Iterator<Item = u32> {
    let around = |samples: u64| (samples / width as u64) as u32;
    let rows = [0, around(1 << 31), around(1 << 32), height - 1];
    rows.into_iter().flat_map(|row| [row.saturating_sub(1), row, row + 1]).filter(move |row| *row < height)
}

#[test]
fn more_samples_than_32_bits_count() {
    let Some(gpu) = gpu_or_skip("an image of 2^32 + 65536 bytes") else { return };
    let (width, height) = (65536, 65537);
    let (image, bytes) = giant(&gpu, width, height);

    let counts = gpu.histogram(&image).run().unwrap();
    let mut expected = [0u64; 256];
    bytes.iter().for_each(|byte| expected[*byte as usize] += 1);
    assert_eq!(counts.counts(), expected);

    // A mask, a mean and a blur, compared with the CPU's results for a few rows.
    let mask: Mask = "1 2 1; 2 -4 2; 1 2 1".parse().unwrap();
    let results = [
        gpu.correlate(&image, &mask).border(Border::Replicate).run().unwrap(),
        gpu.box_filter(&image, 3, 3).border(Border::Replicate).run().unwrap(),
        gpu.gaussian(&image, 0.6).border(Border::Replicate).run().unwrap(),
    ];
    let halo = 4;
    for row in telling_rows(width, height) {
        let (top, end) = (row.saturating_sub(halo), (row + halo + 1).min(height));
        let some = bytes[top as usize * width as usize..end as usize * width as usize].to_vec();
        let some = Image::new(width, end - top, 1, some).unwrap();
        let cpu = Device::cpu();
        let expected = [
            cpu.correlate(&some, &mask).border(Border::Replicate).run().unwrap(),
            cpu.box_filter(&some, 3, 3).border(Border::Replicate).run().unwrap(),
            cpu.gaussian(&some, 0.6).border(Border::Replicate).run().unwrap(),
        ];
        for (n, (result, expected)) in results.iter().zip(expected).enumerate() {
            let found = result.region(0, row, width, 1).unwrap().download::<u8>().unwrap();
            let expected = expected.download::<u8>().unwrap();
            assert!(found.row(0) == expected.row(row - top), "filter {n}, row {row}");
        }
    }
}

/// 2^32 + 7 samples or a few more, all in one bin.
#[test]
fn more_samples_in_a_bin_than_32_bits_count() {
    let Some(gpu) = gpu_or_skip("2^32 + 7 samples of one value") else { return };
    let (first, rest) = (1u64 << 32, 7);
    let width = 65537 * 3; // does not divide 2^32 + 7
    let rows = (first + rest).div_ceil(width);
    let image = Image::new(width as u32, rows as u32, 1, vec![200u8; (width * rows) as usize]).unwrap();
    let counts = gpu.histogram(&gpu.upload(&image).unwrap()).run().unwrap();
    let expected: Vec<u64> = (0..256).map(|value| if value == 200 { width * rows } else { 0 }).collect();
    assert_eq!(counts.counts(), expected);
}

/// Slightly more than 2^31 samples, 2^32, and slightly more, with odd row lengths: each pixel depends on its
/// neighbours.
#[test]
fn squares_around_31_and_32_bits() {
    let Some(gpu) = gpu_or_skip("squares of 46341, 65536 and 65537") else { return };
    for side in [46341u32, 65536, 65537] {
        let (image, bytes) = giant(&gpu, side, side);
        let mask: Mask = "0 1 0; 0 0 2; 0 0 0".parse().unwrap();
        let result = gpu.correlate(&image, &mask).border(Border::Wrap).out_type(apron::PixelType::U16).run().unwrap();
        let at = |x: u32, y: u32| u16::from(bytes[y as usize * side as usize + x as usize]);
        for y in telling_rows(side, side) {
            let found = result.region(0, y, side, 1).unwrap().download::<u16>().unwrap();
            let above = (y + side - 1) % side;
            let expected = |x: u32| at(x, above) + 2 * at((x + 1) % side, y);
            assert!((0..side).all(|x| found.row(0)[x as usize] == expected(x)), "row {y} of {side}");
        }
    }
}

#[test]
fn more_rows_than_a_grid_has_blocks() {
    // 65535 blocks of up to 32 rows, and one row more.
    let (width, height) = (3, 65535 * 32 + 1);
    for device in [Some(Device::cpu()), gpu_or_skip("an image of 65535 * 32 + 1 rows")].into_iter().flatten() {
        let (image, bytes) = giant(&device, width, height);
        let mean = device.box_filter(&image, 1, 3).border(Border::Crop).run().unwrap().download::<u8>().unwrap();
        let wide = width as usize;
        for (at, mean) in mean.packed().iter().enumerate() {
            let sum = bytes[at] as u32 + bytes[at + wide] as u32 + bytes[at + 2 * wide] as u32;
            assert_eq!(*mean as u32, (2 * sum + 3) / 6, "sample {at} on {}", device.name());
        }
        assert_eq!(device.histogram(&image).run().unwrap().counts().iter().sum::<u64>(), bytes.len() as u64);
    }
}
