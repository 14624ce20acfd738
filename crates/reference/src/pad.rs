//! Padding.

use apron_core::{Accumulator, Image, Pad, Pixel, Result, check_pixels};

/// Copies a region of an image extended by its border in plain loops, as [`Pad`] defines it.
///
/// ```
/// use apron_core::{Border, Borders, Constants, Image, Pad, PixelType, Region};
///
/// let image = Image::new(2, 1, 2, vec![1u8, 2, 3, 4])?;
/// let (region, blue) = (Region { x: -1, y: 0, width: 4, height: 2 }, Constants::new(&[0.0, 255.0])?);
/// let borders = Borders::by_axis(Border::Wrap, blue);
/// let pad = Pad { shape: image.shape(), pixel: PixelType::U8, borders, region };
/// let out = apron_reference::pad(&image, &pad)?;
/// assert_eq!((out.row(0), out.row(1)), (&[3, 4, 1, 2, 3, 4, 1, 2][..], &[0, 255, 0, 255, 0, 255, 0, 255][..]));
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Pad::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn pad<T: Pixel>(image: &Image<T>, problem: &Pad) -> Result<Image<'static, T>> {
    let window = problem.window()?;
    check_pixels::<T, T>("pad", image, problem.shape, (problem.pixel, problem.pixel))?;
    let ((mode_x, left_right), (mode_y, above_below)) = (problem.borders.x.mode(), problem.borders.y.mode());
    let sample = |constants: [f64; 4], channel: u32| T::from_sum(T::Sum::from_f64(constants[channel as usize]));
    let mut out = Vec::with_capacity(window.out.samples() as usize);
    for y in window.origin_y..window.origin_y + window.out.height as i32 {
        for x in window.origin_x..window.origin_x + window.out.width as i32 {
            for channel in 0..window.out.channels {
                let column = mode_x.map(x, image.width() as i32);
                out.push(match (column, mode_y.map(y, image.height() as i32)) {
                    // The border of the columns applies to the padded rows, so its constant also fills the corners.
                    (_, None) => sample(above_below, channel),
                    (None, _) => sample(left_right, channel),
                    (Some(column), Some(row)) => image.sample(column as u32, row as u32, channel),
                });
            }
        }
    }
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Borders, Constants, PixelType, Region};

    fn padded(borders: impl Into<Borders>, (x, y, width, height): (i32, i32, u32, u32)) -> Vec<f32> {
        let image = Image::new(3, 2, 1, vec![1.0f32, 2.0, 3.0, 4.0, 5.0, f32::NEG_INFINITY]).unwrap();
        let (shape, borders, region) = (image.shape(), borders.into(), Region { x, y, width, height });
        pad(&image, &Pad { shape, pixel: PixelType::F32, borders, region }).unwrap().into_packed()
    }

    #[test]
    fn padding_by_hand() {
        const LOW: f32 = f32::NEG_INFINITY;
        assert_eq!(padded(Border::Crop, (1, 1, 2, 1)), [5.0, LOW]);
        assert_eq!(padded(Border::Replicate, (-2, 0, 7, 1)), [1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
        assert_eq!(padded(Border::Reflect, (2, 1, 3, 1)), [LOW, LOW, 5.0]);
        assert_eq!(padded(Border::Reflect101, (0, -1, 1, 4)), [4.0, 1.0, 4.0, 1.0]);
        assert_eq!(padded(Border::Constant(0.5), (2, 1, 2, 2)), [LOW, 0.5, 0.5, 0.5]);
        // A pixel outside along both axes follows the border of the columns.
        let (seven, nine) = (Border::Constant(7.0), Border::Constant(9.0));
        assert_eq!(padded(Borders::by_axis(seven, nine), (-1, -1, 2, 2)), [9.0, 9.0, 7.0, 1.0]);
        assert_eq!(padded(Borders::by_axis(seven, Border::Wrap), (-1, -1, 2, 2)), [7.0, 4.0, 7.0, 1.0]);
        assert_eq!(padded(Borders::by_axis(Border::Wrap, nine), (-1, -1, 2, 2)), [9.0, 9.0, 3.0, 1.0]);
        let one = Constants::new(&[-0.0]).unwrap();
        assert!(padded(one, (3, 0, 1, 1))[0].is_sign_negative());
    }

    #[test]
    fn another_image_is_refused() {
        let image = Image::new(1, 1, 1, vec![0u8]).unwrap();
        let region = Region { x: 0, y: 0, width: 1, height: 1 };
        let pad_of = |shape, pixel| Pad { shape, pixel, borders: Borders::default(), region };
        assert!(pad(&image, &pad_of(image.shape(), PixelType::I16)).is_err());
        let other = apron_core::Shape::new(1, 2, 1).unwrap();
        assert!(pad(&image, &pad_of(other, PixelType::U8)).is_err());
    }
}
