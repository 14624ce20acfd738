//! Conversions from and to `image::ImageBuffer` and `image::DynamicImage`.

use crate::{AnyImage, Error, Image, Pixel, Result};
use ::image::{DynamicImage, ImageBuffer, Primitive};
use std::ops::Deref;

/// Views the picture's pixels, without a copy.
///
/// ```
/// use apron_core::Image;
/// use image::{GrayImage, RgbImage};
///
/// let picture = GrayImage::from_raw(2, 1, vec![7, 9]).unwrap();
/// let view = Image::try_from(&picture)?;
/// assert_eq!((view.shape().to_string(), view.row(0)), ("2x1x1".into(), &[7, 9][..]));
/// // And back; of a picture that is handed over, too, nothing is copied.
/// let image = Image::try_from(picture)?;
/// assert!(RgbImage::try_from(image.view()).is_err());
/// assert_eq!(GrayImage::try_from(image)?.as_raw()[..], [7, 9]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for an empty picture, and for one larger than images can be.
impl<'a, T, P, C> TryFrom<&'a ImageBuffer<P, C>> for Image<'a, T>
where
    T: Pixel + Primitive,
    P: ::image::Pixel<Subpixel = T>,
    C: Deref<Target = [T]>,
{
    type Error = Error;

    fn try_from(picture: &'a ImageBuffer<P, C>) -> Result<Self> {
        let (width, height) = picture.dimensions();
        let samples = width as usize * height as usize * P::CHANNEL_COUNT as usize;
        // A buffer may be longer than its picture.
        Image::new(width, height, P::CHANNEL_COUNT.into(), &picture.as_raw()[..samples])
    }
}

/// Takes over the picture's pixels, without a copy.
///
/// # Errors
/// As for a view.
impl<T, P> TryFrom<ImageBuffer<P, Vec<T>>> for Image<'static, T>
where
    T: Pixel + Primitive,
    P: ::image::Pixel<Subpixel = T>,
{
    type Error = Error;

    fn try_from(picture: ImageBuffer<P, Vec<T>>) -> Result<Self> {
        let (width, height) = picture.dimensions();
        let mut samples = picture.into_raw();
        samples.truncate(width as usize * height as usize * P::CHANNEL_COUNT as usize);
        Image::new(width, height, P::CHANNEL_COUNT.into(), samples)
    }
}

/// Converts the image to a picture, without a copy if it owns its samples and its rows have no gaps.
///
/// # Errors
/// [`Error::Shape`] if the numbers of channels of image and picture differ.
impl<T, P> TryFrom<Image<'_, T>> for ImageBuffer<P, Vec<T>>
where
    T: Pixel + Primitive,
    P: ::image::Pixel<Subpixel = T>,
{
    type Error = Error;

    fn try_from(image: Image<'_, T>) -> Result<Self> {
        let shape = image.shape();
        let wrong = || {
            let limit = format!("{} in a picture of {}", P::CHANNEL_COUNT, P::COLOR_MODEL);
            Error::Shape { what: "number of channels", value: shape.channels.to_string(), limit }
        };
        if shape.channels != u32::from(P::CHANNEL_COUNT) {
            return Err(wrong());
        }
        ImageBuffer::from_raw(shape.width, shape.height, image.into_packed()).ok_or_else(wrong)
    }
}

/// Returns the error for a pixel type without a counterpart.
fn not_taken(found: String) -> Error {
    let what = format!("pixels are {found}; pictures have 1 to 4 channels of u8 or u16, or 3 or 4 of f32");
    Error::Samples { operation: "image", what }
}

/// Views the picture's pixels, without a copy.
///
/// ```
/// use apron_core::{AnyImage, PixelType};
/// use image::DynamicImage;
///
/// let picture = DynamicImage::new_rgb16(3, 2);
/// let image = AnyImage::try_from(&picture)?;
/// assert_eq!((image.shape().to_string(), image.pixel_type()), ("3x2x3".into(), PixelType::U16));
/// assert_eq!(DynamicImage::try_from(image)?, picture);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Samples`] for colour types that Apron does not support; else as for an `ImageBuffer`.
impl<'a> TryFrom<&'a DynamicImage> for AnyImage<'a> {
    type Error = Error;

    fn try_from(picture: &'a DynamicImage) -> Result<Self> {
        Ok(match picture {
            DynamicImage::ImageLuma8(picture) => AnyImage::U8(picture.try_into()?),
            DynamicImage::ImageLumaA8(picture) => AnyImage::U8(picture.try_into()?),
            DynamicImage::ImageRgb8(picture) => AnyImage::U8(picture.try_into()?),
            DynamicImage::ImageRgba8(picture) => AnyImage::U8(picture.try_into()?),
            DynamicImage::ImageLuma16(picture) => AnyImage::U16(picture.try_into()?),
            DynamicImage::ImageLumaA16(picture) => AnyImage::U16(picture.try_into()?),
            DynamicImage::ImageRgb16(picture) => AnyImage::U16(picture.try_into()?),
            DynamicImage::ImageRgba16(picture) => AnyImage::U16(picture.try_into()?),
            DynamicImage::ImageRgb32F(picture) => AnyImage::F32(picture.try_into()?),
            DynamicImage::ImageRgba32F(picture) => AnyImage::F32(picture.try_into()?),
            other => return Err(not_taken(format!("{:?}", other.color()))),
        })
    }
}

/// Converts the image to a picture of the same type, without a copy if it owns its samples and its rows have no gaps.
///
/// # Errors
/// [`Error::Samples`] for types that pictures do not support: i16, f16, and f32 of fewer than 3 channels.
impl TryFrom<AnyImage<'_>> for DynamicImage {
    type Error = Error;

    fn try_from(image: AnyImage<'_>) -> Result<Self> {
        let channels = image.shape().channels;
        Ok(match (image, channels) {
            (AnyImage::U8(image), 1) => DynamicImage::ImageLuma8(image.try_into()?),
            (AnyImage::U8(image), 2) => DynamicImage::ImageLumaA8(image.try_into()?),
            (AnyImage::U8(image), 3) => DynamicImage::ImageRgb8(image.try_into()?),
            (AnyImage::U8(image), 4) => DynamicImage::ImageRgba8(image.try_into()?),
            (AnyImage::U16(image), 1) => DynamicImage::ImageLuma16(image.try_into()?),
            (AnyImage::U16(image), 2) => DynamicImage::ImageLumaA16(image.try_into()?),
            (AnyImage::U16(image), 3) => DynamicImage::ImageRgb16(image.try_into()?),
            (AnyImage::U16(image), 4) => DynamicImage::ImageRgba16(image.try_into()?),
            (AnyImage::F32(image), 3) => DynamicImage::ImageRgb32F(image.try_into()?),
            (AnyImage::F32(image), 4) => DynamicImage::ImageRgba32F(image.try_into()?),
            (other, channels) => return Err(not_taken(format!("{channels} channel(s) of {}", other.pixel_type()))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;
    use ::image::{ColorType, GrayImage, Luma, Rgb, RgbImage};

    #[test]
    fn nothing_is_copied_that_lies_in_rows() {
        let picture = RgbImage::from_raw(2, 2, (0..12).collect()).unwrap();
        let at = picture.as_raw().as_ptr();
        assert_eq!(Image::try_from(&picture).unwrap().row(0).as_ptr(), at);
        let image = Image::try_from(picture).unwrap();
        assert_eq!((image.row(0).as_ptr(), image.row(1)), (at, &[6, 7, 8, 9, 10, 11][..]));
        assert_eq!(RgbImage::try_from(image).unwrap().as_raw().as_ptr(), at);
        let gaps = Image::with_row_stride(1, 2, 3, 5, (0..8).collect::<Vec<u8>>()).unwrap();
        assert_eq!(RgbImage::try_from(gaps).unwrap().into_raw(), [0, 1, 2, 5, 6, 7]);
        // A buffer that is longer than its picture.
        let long = ImageBuffer::<Luma<u16>, _>::from_raw(1, 2, vec![1, 2, 3]).unwrap();
        assert_eq!(Image::try_from(&long).unwrap().packed()[..], [1, 2]);
        assert_eq!(Image::try_from(long).unwrap().into_packed(), [1, 2]);
    }

    #[test]
    fn every_colour_type_there_and_back() {
        let colours =
            [ColorType::L8, ColorType::La8, ColorType::Rgb8, ColorType::Rgba8, ColorType::L16, ColorType::La16];
        for colour in
            colours.into_iter().chain([ColorType::Rgb16, ColorType::Rgba16, ColorType::Rgb32F, ColorType::Rgba32F])
        {
            let picture = DynamicImage::new(3, 2, colour);
            let image = AnyImage::try_from(&picture).unwrap();
            assert_eq!(image.shape().channels, u32::from(colour.channel_count()), "{colour:?}");
            let sample = usize::from(colour.bytes_per_pixel() / colour.channel_count());
            assert_eq!(image.pixel_type().size_bytes(), sample, "{colour:?}");
            assert_eq!(DynamicImage::try_from(image).unwrap(), picture);
        }
    }

    #[test]
    fn what_the_other_side_does_not_have_is_refused() {
        assert!(matches!(Image::try_from(&GrayImage::new(0, 3)), Err(Error::Shape { what: "width", .. })));
        let image = Image::new(1, 1, 2, vec![1u8, 2]).unwrap();
        let wrong = ImageBuffer::<Rgb<u8>, Vec<u8>>::try_from(image).unwrap_err().to_string();
        assert!(wrong.contains("number of channels is 2, but must be 3"), "{wrong}");
        for (pixel, channels) in [(PixelType::I16, 1), (PixelType::F32, 2)] {
            let shape = crate::Shape::new(1, 1, channels).unwrap();
            let image = AnyImage::from_bytes(pixel, shape, |_| Ok(())).unwrap();
            assert!(matches!(DynamicImage::try_from(image), Err(Error::Samples { .. })), "{pixel}");
        }
    }
}
