//! Conversions between the sample types of images.

use apron_core::{AnyImage, Cast, Image, Pixel, PixelType, Sample, Shape, check_memory, each_pixel, each_type};

/// Converts the samples of an image to another type: integers are rounded half to even and saturate, and NaN becomes 0.
///
/// ```
/// use apron_core::{AnyImage, Image, PixelType};
///
/// let floats = AnyImage::F32(Image::new(4, 1, 1, vec![-3.0f32, 0.5, 1.5, 1e9])?);
/// let bytes = AnyImage::U8(Image::new(4, 1, 1, vec![0u8, 0, 2, 255])?);
/// assert_eq!(apron_files::convert(floats, PixelType::U8)?, bytes);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`apron_core::Error::Shape`] if the system does not provide the memory.
pub fn convert(image: AnyImage<'static>, pixel: PixelType) -> apron_core::Result<AnyImage<'static>> {
    if image.pixel_type() == pixel {
        return Ok(image);
    }
    let read = |row: u32, numbers: &mut [f64]| {
        each_type!(&image, image => {
            for (number, &sample) in numbers.iter_mut().zip(image.row(row)) {
                *number = sample.to_f64();
            }
        });
    };
    of_rows(image.shape(), &read, pixel)
}

/// Makes an image in this type of the rows that `read` reads. By a buffer, since a function for each pair of
/// types would be much code.
fn of_rows(shape: Shape, read: &dyn Fn(u32, &mut [f64]), pixel: PixelType) -> apron_core::Result<AnyImage<'static>> {
    fn typed<T: Pixel>(shape: Shape, read: &dyn Fn(u32, &mut [f64])) -> apron_core::Result<AnyImage<'static>> {
        check_memory::<T>(shape.samples(), shape)?;
        let mut numbers = vec![0.0; shape.width as usize * shape.channels as usize];
        let mut samples = Vec::with_capacity(shape.samples() as usize);
        for row in 0..shape.height {
            read(row, &mut numbers);
            samples.extend(numbers.iter().map(|&number| T::cast(number, Cast::default())));
        }
        Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, samples)?))
    }
    each_pixel!(pixel, T => typed::<T>(shape, read))
}
