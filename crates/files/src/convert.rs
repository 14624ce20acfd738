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
    let shape = image.shape();
    each_type!(&image, image => of_type(shape, image.rows().flatten().map(|&sample| sample.to_f64()), pixel))
}

/// Makes an image of these samples, in this type.
fn of_type(
    shape: Shape,
    samples: impl Iterator<Item = f64>,
    pixel: PixelType,
) -> apron_core::Result<AnyImage<'static>> {
    fn typed<T: Pixel>(shape: Shape, samples: impl Iterator<Item = f64>) -> apron_core::Result<AnyImage<'static>> {
        check_memory::<T>(shape.samples(), shape)?;
        let samples: Vec<T> = samples.map(|sample| T::cast(sample, Cast::default())).collect();
        Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, samples)?))
    }
    each_pixel!(pixel, T => typed::<T>(shape, samples))
}
