//! Sizes whose products overflow in other libraries. Images with more than 2^31 samples are in tests/giants.rs.

use apron::{Device, Image, MAX_SIDE, Mask, Region, Shape, Taps};

#[test]
fn products_of_sides_have_64_bits() {
    for (side, pixels) in [(46341u32, 2_147_488_281u64), (65536, 1 << 32), (65537, 4_295_098_369)] {
        let shape = Shape::new(side, side, 4).unwrap();
        assert_eq!((shape.pixels(), shape.samples()), (pixels, 4 * pixels));
    }
    let largest = Shape::new(MAX_SIDE, MAX_SIDE, 4).unwrap();
    assert_eq!(largest.samples(), 4 * u64::from(MAX_SIDE) * u64::from(MAX_SIDE));
    assert!(Shape::new(MAX_SIDE + 1, 1, 1).is_err() && Shape::new(1, u32::MAX, 1).is_err());
}

#[test]
fn products_that_overflow_are_refused() {
    // 65536 * 65536 is 0 in 32 bits.
    assert!(Mask::new(65536, 65536, []).is_err());
    assert!(Mask::new(u32::MAX, u32::MAX, [1.0]).is_err());
    assert!(Taps::new(vec![0.0; 65537]).is_err());
    assert!(Image::<u8>::new(MAX_SIDE, MAX_SIDE, 4, vec![]).is_err());
    assert!(Image::with_row_stride(2, 3, 1, usize::MAX, vec![0u8; 6]).is_err());
    assert!(Image::with_row_stride(2, 3, 1, usize::MAX / 2 + 2, vec![0u8; 6]).is_err());
    let image = Image::new(2, 2, 1, vec![0u8; 4]).unwrap();
    assert!(image.region(u32::MAX, 0, 2, 1).is_err() && image.region(1, 1, u32::MAX, u32::MAX).is_err());
}

#[test]
fn regions_at_the_ends_of_32_bits() {
    let image = Image::new(2, 2, 1, vec![1u8, 2, 3, 4]).unwrap();
    for device in [Device::cpu(), Device::reference(), Device::emulator()] {
        for x in [i32::MIN, i32::MAX] {
            let region = Region { x, y: 0, width: 1, height: 1 };
            // The window is entirely outside the image, or the region is refused.
            let found = device
                .correlate(&image, Mask::from_rows([[1.0; 3]]).unwrap())
                .extent(apron::Extent::Region(region))
                .run();
            match found {
                Ok(found) => assert_eq!(found.shape().samples(), 1, "{x} on {}", device.name()),
                Err(error) => assert_eq!(error.kind(), apron::ErrorKind::Usage, "{error}"),
            }
        }
    }
}
