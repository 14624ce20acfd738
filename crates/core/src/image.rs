//! Images: shape, pixels, and a row stride.

use crate::{AnyImageMut, Error, ImageMut, Result, check_memory};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Largest width and height, in pixels: border arithmetic stays inside 32 bits.
pub const MAX_SIDE: u32 = (1 << 30) - 1;

/// Width, height and interleaved channels of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Width, in pixels.
    pub width: u32,
    /// Height, in pixels.
    pub height: u32,
    /// Interleaved channels, 1 to 4.
    pub channels: u32,
}

impl Shape {
    /// A shape of 1 to [`MAX_SIDE`] pixels a side and 1 to 4 channels.
    ///
    /// # Errors
    /// [`Error::Shape`] for anything else.
    pub fn new(width: u32, height: u32, channels: u32) -> Result<Shape> {
        for (what, value, high) in [("width", width, MAX_SIDE), ("height", height, MAX_SIDE), ("channels", channels, 4)]
        {
            if value == 0 || value > high {
                return Err(Error::Shape { what, value: value.to_string(), limit: format!("1 to {high}") });
            }
        }
        Ok(Shape { width, height, channels })
    }

    /// Pixels of the image.
    pub fn pixels(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Samples of the image: pixels times channels.
    pub fn samples(&self) -> u64 {
        self.pixels() * self.channels as u64
    }

    /// Samples of one row.
    pub fn row_samples(&self) -> usize {
        self.width as usize * self.channels as usize
    }

    /// The shape of a part of `width` x `height` pixels from column `x` and row `y` on.
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not all in an image of this shape.
    pub fn region(&self, x: u32, y: u32, width: u32, height: u32) -> Result<Shape> {
        let axes = [("columns of the region", x, width, self.width), ("rows of the region", y, height, self.height)];
        for (what, from, count, limit) in axes {
            if count == 0 || from as u64 + count as u64 > limit as u64 {
                let value = format!("{from} to {}", from as u64 + count as u64);
                return Err(Error::Shape { what, value, limit: format!("1 or more, in 0 to {limit}") });
            }
        }
        Ok(Shape { width, height, ..*self })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.width, self.height, self.channels)
    }
}

/// The type of an image's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it all
pub enum PixelType {
    U8,
    U16,
    I16,
    F16,
    F32,
}

impl PixelType {
    /// Every type.
    pub const ALL: [PixelType; 5] = [PixelType::U8, PixelType::U16, PixelType::I16, PixelType::F16, PixelType::F32];

    /// The type as buffers know it.
    pub fn element(self) -> apron_abi::ElementType {
        match self {
            PixelType::U8 => apron_abi::ElementType::U8,
            PixelType::U16 => apron_abi::ElementType::U16,
            PixelType::I16 => apron_abi::ElementType::I16,
            PixelType::F16 => apron_abi::ElementType::F16,
            PixelType::F32 => apron_abi::ElementType::F32,
        }
    }

    /// Whether its samples are floats: results are summed in f32, and not rounded to whole numbers.
    pub fn is_float(self) -> bool {
        matches!(self, PixelType::F16 | PixelType::F32)
    }

    /// Size of one sample, in bytes.
    pub fn size_bytes(self) -> usize {
        self.element().size_bytes() as usize
    }
}

impl fmt::Display for PixelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.element().name())
    }
}

impl FromStr for PixelType {
    type Err = Error;

    fn from_str(text: &str) -> Result<PixelType> {
        let found = PixelType::ALL.into_iter().find(|kind| kind.element().name() == text);
        found.ok_or_else(|| Error::parameter("pixels", "type", format!("'{text}'"), "u8, u16, i16, f16 or f32"))
    }
}

/// A sample type of images: u8, u16, i16, [`f16`](half::f16) or f32.
pub trait Pixel: apron_abi::Pixel + PartialOrd + bytemuck::Pod {
    /// The type's tag.
    const PIXEL: PixelType;
    /// The image of this type in `image`, if that is its type.
    fn from_any(image: AnyImage<'_>) -> Option<Image<'_, Self>>;
    /// The image with its type as a value.
    fn into_any(image: Image<'_, Self>) -> AnyImage<'_>;
    /// The image of this type in `image`, which is written, if that is its type.
    fn from_any_mut(image: AnyImageMut<'_>) -> Option<ImageMut<'_, Self>>;
    /// The image that is written with its type as a value.
    fn into_any_mut(image: ImageMut<'_, Self>) -> AnyImageMut<'_>;
}

macro_rules! pixel {
    ($($type:ty: $tag:ident),*) => {$(
        impl Pixel for $type {
            const PIXEL: PixelType = PixelType::$tag;
            fn from_any(image: AnyImage<'_>) -> Option<Image<'_, Self>> {
                match image {
                    AnyImage::$tag(image) => Some(image),
                    _ => None,
                }
            }
            fn into_any(image: Image<'_, Self>) -> AnyImage<'_> {
                AnyImage::$tag(image)
            }
            fn from_any_mut(image: AnyImageMut<'_>) -> Option<ImageMut<'_, Self>> {
                match image {
                    AnyImageMut::$tag(image) => Some(image),
                    _ => None,
                }
            }
            fn into_any_mut(image: ImageMut<'_, Self>) -> AnyImageMut<'_> {
                AnyImageMut::$tag(image)
            }
        }
    )*};
}
pixel!(u8: U8, u16: U16, i16: I16, half::f16: F16, f32: F32);

/// An image in host memory: rows of interleaved samples, borrowed or owned.
///
/// Sample `c` of pixel `(x, y)` is at `y * row_stride + x * channels + c`.
///
/// ```
/// use apron_core::Image;
///
/// // Two rows of three pixels, each row padded to four samples.
/// let padded = [1u8, 2, 3, 0, 4, 5, 6, 0];
/// let image = Image::with_row_stride(3, 2, 1, 4, &padded[..])?;
/// assert_eq!(image.row(1), [4, 5, 6]);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Image<'a, T: Pixel> {
    shape: Shape,
    row_stride: usize,
    data: Cow<'a, [T]>,
}

impl<'a, T: Pixel> Image<'a, T> {
    /// An image of packed rows: `data` holds `width * height * channels` samples.
    ///
    /// # Errors
    /// [`Error::Shape`] for an impossible shape or another number of samples.
    pub fn new(width: u32, height: u32, channels: u32, data: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let data = data.into();
        let shape = Shape::new(width, height, channels)?;
        if data.len() as u64 != shape.samples() {
            return Err(Error::Shape {
                what: "number of samples",
                value: data.len().to_string(),
                limit: format!("{} for {shape}", shape.samples()),
            });
        }
        Ok(Image { shape, row_stride: shape.row_samples(), data })
    }

    /// An image whose rows start `row_stride` samples apart; the last row may end early.
    ///
    /// # Errors
    /// [`Error::Shape`] for an impossible shape, a stride below `width * channels`, or too few samples.
    pub fn with_row_stride(
        width: u32,
        height: u32,
        channels: u32,
        row_stride: usize,
        data: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        let data = data.into();
        let shape = Shape::new(width, height, channels)?;
        let row = shape.row_samples();
        if row_stride < row {
            let limit = format!("{row} samples or more for {shape}");
            return Err(Error::Shape { what: "row stride", value: row_stride.to_string(), limit });
        }
        let needed = row_stride as u128 * (height as u128 - 1) + row as u128;
        if (data.len() as u128) < needed {
            let limit = format!("{needed} or more for {shape} at a row stride of {row_stride}");
            return Err(Error::Shape { what: "number of samples", value: data.len().to_string(), limit });
        }
        Ok(Image { shape, row_stride, data })
    }

    /// Width, height and channels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Width, in pixels.
    pub fn width(&self) -> u32 {
        self.shape.width
    }

    /// Height, in pixels.
    pub fn height(&self) -> u32 {
        self.shape.height
    }

    /// Interleaved channels.
    pub fn channels(&self) -> u32 {
        self.shape.channels
    }

    /// Samples from the start of a row to the start of the next.
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// The samples of row `y`, which is below the height.
    pub fn row(&self, y: u32) -> &[T] {
        &self.data[y as usize * self.row_stride..][..self.shape.row_samples()]
    }

    /// Sample `channel` of pixel `(x, y)`, all below their limits.
    pub fn sample(&self, x: u32, y: u32, channel: u32) -> T {
        self.row(y)[(x * self.shape.channels + channel) as usize]
    }

    /// The rows, from the top.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.shape.height).map(|y| self.row(y))
    }

    /// All samples, with what lies between the rows.
    #[cfg(feature = "ndarray")]
    pub(crate) fn samples(&self) -> &[T] {
        &self.data
    }

    /// All samples in rows without gaps; copies only where there are gaps.
    pub fn packed(&self) -> Cow<'_, [T]> {
        if self.row_stride == self.shape.row_samples() {
            return Cow::Borrowed(&self.data[..self.shape.samples() as usize]);
        }
        let mut packed = Vec::with_capacity(self.shape.samples() as usize);
        self.rows().for_each(|row| packed.extend_from_slice(row));
        Cow::Owned(packed)
    }

    /// The samples from the first of the first row to the last of the last one, gaps and all, as bytes.
    pub fn spanned_bytes(&self) -> &[u8] {
        let span = (self.shape.height as usize - 1) * self.row_stride + self.shape.row_samples();
        bytemuck::cast_slice(&self.data[..span])
    }

    /// The packed samples as bytes, in the machine's byte order.
    pub fn packed_bytes(&self) -> Cow<'_, [u8]> {
        match self.packed() {
            Cow::Borrowed(samples) => Cow::Borrowed(bytemuck::cast_slice(samples)),
            Cow::Owned(samples) => Cow::Owned(bytemuck::cast_slice(&samples).to_vec()),
        }
    }

    /// The samples as an owned vector, without gaps.
    pub fn into_packed(self) -> Vec<T> {
        if self.row_stride == self.shape.row_samples() && self.data.len() as u64 == self.shape.samples() {
            return self.data.into_owned();
        }
        self.packed().into_owned()
    }

    /// The part of `width` x `height` pixels from column `x` and row `y` on, borrowed.
    ///
    /// ```
    /// use apron_core::Image;
    ///
    /// let image = Image::new(3, 2, 1, vec![1u8, 2, 3, 4, 5, 6])?;
    /// assert_eq!(image.region(1, 0, 2, 2)?.packed().as_ref(), [2, 3, 5, 6]);
    /// assert!(image.region(2, 0, 2, 2).is_err());
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not all in the image.
    pub fn region(&self, x: u32, y: u32, width: u32, height: u32) -> Result<Image<'_, T>> {
        let shape = self.shape.region(x, y, width, height)?;
        let start = y as usize * self.row_stride + x as usize * shape.channels as usize;
        let span = (height as usize - 1) * self.row_stride + shape.row_samples();
        Ok(Image { shape, row_stride: self.row_stride, data: Cow::Borrowed(&self.data[start..start + span]) })
    }

    /// The same image, to be written; borrowed samples are copied before, once.
    pub fn view_mut(&mut self) -> ImageMut<'_, T> {
        let Shape { width, height, channels } = self.shape;
        let image = ImageMut::with_row_stride(width, height, channels, self.row_stride, self.data.to_mut());
        image.expect("an image's shape")
    }

    /// The same image, borrowed.
    pub fn view(&self) -> Image<'_, T> {
        Image { shape: self.shape, row_stride: self.row_stride, data: Cow::Borrowed(&self.data) }
    }

    /// The same image, owning its samples.
    pub fn into_owned(self) -> Image<'static, T> {
        Image { shape: self.shape, row_stride: self.row_stride, data: Cow::Owned(self.data.into_owned()) }
    }
}

/// An image whose sample type is known at run time only.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each holds an image of its name's type
pub enum AnyImage<'a> {
    U8(Image<'a, u8>),
    U16(Image<'a, u16>),
    I16(Image<'a, i16>),
    F16(Image<'a, half::f16>),
    F32(Image<'a, f32>),
}

/// Runs `$body` with `$image` bound to the typed image in the [`AnyImage`] `$any`.
#[macro_export]
macro_rules! each_type {
    ($any:expr, $image:ident => $body:expr) => {
        match $any {
            $crate::AnyImage::U8($image) => $body,
            $crate::AnyImage::U16($image) => $body,
            $crate::AnyImage::I16($image) => $body,
            $crate::AnyImage::F16($image) => $body,
            $crate::AnyImage::F32($image) => $body,
        }
    };
}

impl AnyImage<'_> {
    /// Width, height and channels.
    pub fn shape(&self) -> Shape {
        each_type!(self, image => image.shape())
    }

    /// An image of zeros whose packed bytes are then written by `fill`.
    ///
    /// # Errors
    /// What `fill` reports; [`Error::Shape`] for more bytes than the system gives.
    pub fn from_bytes(
        pixel: PixelType,
        shape: Shape,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<AnyImage<'static>> {
        fn filled<T: Pixel>(shape: Shape, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<AnyImage<'static>> {
            check_memory::<T>(shape.samples(), shape)?;
            let mut samples = vec![T::default(); shape.samples() as usize];
            fill(bytemuck::cast_slice_mut(&mut samples))?;
            Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, samples)?))
        }
        match pixel {
            PixelType::U8 => filled::<u8>(shape, fill),
            PixelType::U16 => filled::<u16>(shape, fill),
            PixelType::I16 => filled::<i16>(shape, fill),
            PixelType::F16 => filled::<half::f16>(shape, fill),
            PixelType::F32 => filled::<f32>(shape, fill),
        }
    }

    /// The packed samples as bytes, in the machine's byte order.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        each_type!(self, image => image.packed_bytes())
    }

    /// The part of `width` x `height` pixels from column `x` and row `y` on, borrowed.
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not all in the image.
    pub fn region(&self, x: u32, y: u32, width: u32, height: u32) -> Result<AnyImage<'_>> {
        Ok(each_type!(self, image => Pixel::into_any(image.region(x, y, width, height)?)))
    }

    /// The same image, borrowed.
    pub fn view(&self) -> AnyImage<'_> {
        each_type!(self, image => Pixel::into_any(image.view()))
    }

    /// The same image, to be written; borrowed samples are copied before, once.
    pub fn view_mut(&mut self) -> AnyImageMut<'_> {
        each_type!(self, image => Pixel::into_any_mut(image.view_mut()))
    }

    /// Samples from the start of a row to the start of the next.
    pub fn row_stride(&self) -> usize {
        each_type!(self, image => image.row_stride())
    }

    /// The samples from the first of the first row to the last of the last one, gaps and all, as bytes.
    pub fn spanned_bytes(&self) -> &[u8] {
        each_type!(self, image => image.spanned_bytes())
    }

    /// The same image, owning its samples, in rows without gaps.
    pub fn into_packed(self) -> AnyImage<'static> {
        fn packed<T: Pixel>(image: Image<'_, T>) -> AnyImage<'static> {
            let shape = image.shape;
            let data = Cow::Owned(image.into_packed());
            T::into_any(Image { shape, row_stride: shape.row_samples(), data })
        }
        each_type!(self, image => packed(image))
    }

    /// The same image, owning its samples.
    pub fn into_owned(self) -> AnyImage<'static> {
        each_type!(self, image => Pixel::into_any(image.into_owned()))
    }

    /// The type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        match self {
            AnyImage::U8(_) => PixelType::U8,
            AnyImage::U16(_) => PixelType::U16,
            AnyImage::I16(_) => PixelType::I16,
            AnyImage::F16(_) => PixelType::F16,
            AnyImage::F32(_) => PixelType::F32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_shapes_are_refused_by_name() {
        for (width, height, channels, what) in [
            (0, 1, 1, "width"),
            (1, 0, 1, "height"),
            (1, 1, 0, "channels"),
            (1, 1, 5, "channels"),
            (MAX_SIDE + 1, 1, 1, "width"),
        ] {
            let error = Image::new(width, height, channels, vec![0u8]).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(Image::new(2, 2, 1, vec![0u8; 3]).unwrap_err().to_string().contains("number of samples is 3"));
        assert!(Image::with_row_stride(2, 2, 3, 5, vec![0u8; 99]).unwrap_err().to_string().contains("row stride is 5"));
        assert!(Image::with_row_stride(2, 2, 1, usize::MAX, vec![0u8; 9]).is_err());
    }

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        let shape = Shape::new(MAX_SIDE, MAX_SIDE, 4).unwrap();
        for pixel in PixelType::ALL {
            let error = AnyImage::from_bytes(pixel, shape, |_| Ok(())).unwrap_err();
            assert!(matches!(error, Error::Shape { what: "size", .. }), "{error}");
        }
    }

    #[test]
    fn the_last_row_may_end_early() {
        let image = Image::with_row_stride(2, 2, 1, 3, vec![1u8, 2, 9, 3, 4]).unwrap();
        assert_eq!(image.packed().as_ref(), [1, 2, 3, 4]);
        assert_eq!(image.into_packed(), [1, 2, 3, 4]);
    }
}
