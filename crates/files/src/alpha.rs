//! Colours that are multiplied by their alpha, which TIFF calls associated: they are divided by it when they are read, so
//! that alpha is straight everywhere else.

use apron_core::PixelType;

/// Divides the colours of red, green, blue and alpha by alpha: `colour * greatest / alpha` of integers, rounded half to
/// even and limited to the type, and `colour / alpha` of floats. Where alpha is 0 or less, colours stay.
pub(crate) fn divide(pixel: PixelType, bytes: &mut [u8]) {
    macro_rules! integers {
        ($sample:ty, $wide:ty) => {
            each(bytes, <$sample>::from_ne_bytes, <$sample>::to_ne_bytes, |colour, alpha| {
                let (alpha, product) = (<$wide>::from(alpha), <$wide>::from(colour) * <$wide>::from(<$sample>::MAX));
                if alpha < 1 {
                    return colour;
                }
                let (quotient, rest) = (product.div_euclid(alpha), product.rem_euclid(alpha));
                let up = 2 * rest > alpha || 2 * rest == alpha && quotient % 2 != 0;
                let rounded = quotient + <$wide>::from(up);
                rounded.clamp(<$sample>::MIN.into(), <$sample>::MAX.into()) as $sample
            })
        };
    }
    match pixel {
        PixelType::U8 => integers!(u8, u32),
        PixelType::I8 => integers!(i8, i32),
        PixelType::U16 => integers!(u16, u64),
        PixelType::I16 => integers!(i16, i64),
        PixelType::U32 => integers!(u32, u64),
        PixelType::I32 => integers!(i32, i64),
        PixelType::U64 => integers!(u64, u128),
        PixelType::I64 => integers!(i64, i128),
        PixelType::F32 => each(bytes, f32::from_ne_bytes, f32::to_ne_bytes, |c, a| if a > 0.0 { c / a } else { c }),
        PixelType::F64 => each(bytes, f64::from_ne_bytes, f64::to_ne_bytes, |c, a| if a > 0.0 { c / a } else { c }),
        // No TIFF has them.
        PixelType::Bool | PixelType::F16 => {}
    }
}

/// Replaces each colour by what `divided` makes of it and its alpha.
fn each<T: Copy, const SIZE: usize>(
    bytes: &mut [u8],
    read: fn([u8; SIZE]) -> T,
    write: fn(T) -> [u8; SIZE],
    divided: impl Fn(T, T) -> T,
) {
    for pixel in bytes.as_chunks_mut::<SIZE>().0.as_chunks_mut::<4>().0 {
        let [colours @ .., alpha] = pixel;
        let alpha = read(*alpha);
        colours.iter_mut().for_each(|colour| *colour = write(divided(read(*colour), alpha)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_divided_by_alpha_and_rounded() {
        // 60 * 255 / 128 is 119.53; 1 and 3 * 255 / 170 are 1.5 and 4.5, which go to even numbers.
        let mut bytes = [60, 0, 128, 128, 1, 3, 200, 170, 9, 8, 7, 0, 9, 8, 7, 255];
        divide(PixelType::U8, &mut bytes);
        assert_eq!(bytes, [120, 0, 255, 128, 2, 4, 255, 170, 9, 8, 7, 0, 9, 8, 7, 255]);
        let of = |numbers: [u64; 4]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_ne_bytes()).collect() };
        let mut bytes = of([1 << 62, u64::MAX / 2, u64::MAX, u64::MAX / 2]);
        divide(PixelType::U64, &mut bytes);
        // (2^62 (2^64 - 1)) / (2^63 - 1) is 2^63 + 0.5 and a little.
        assert_eq!(bytes, of([(1 << 63) + 1, u64::MAX, u64::MAX, u64::MAX / 2]));
        let of = |numbers: [i16; 4]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_ne_bytes()).collect() };
        let (mut bytes, mut clear) = (of([-100, 100, -32768, 16384]), of([-100, 100, 5, -1]));
        divide(PixelType::I16, &mut bytes);
        divide(PixelType::I16, &mut clear);
        assert_eq!((bytes, clear), (of([-200, 200, -32768, 16384]), of([-100, 100, 5, -1])));
        let of = |numbers: [f32; 4]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_ne_bytes()).collect() };
        let mut bytes = of([0.25, 0.5, 2.0, 0.5]);
        divide(PixelType::F32, &mut bytes);
        assert_eq!(bytes, of([0.5, 1.0, 4.0, 0.5]));
    }
}
