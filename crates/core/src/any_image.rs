//! Images whose sample type is known at run time only.

use crate::{AnyImageMut, Image, Pixel, PixelType, Result, Shape, check_memory, each_pixel};
use std::borrow::Cow;

/// An image whose sample type is known at run time only.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each holds an image of its name's type
pub enum AnyImage<'a> {
    Bool(Image<'a, apron_abi::Bool>),
    U8(Image<'a, u8>),
    I8(Image<'a, i8>),
    U16(Image<'a, u16>),
    I16(Image<'a, i16>),
    U32(Image<'a, u32>),
    I32(Image<'a, i32>),
    U64(Image<'a, u64>),
    I64(Image<'a, i64>),
    F16(Image<'a, half::f16>),
    F32(Image<'a, f32>),
    F64(Image<'a, f64>),
}

/// Runs `$body` with `$image` bound to the typed image in the [`AnyImage`] `$any`.
#[macro_export]
macro_rules! each_type {
    ($any:expr, $image:ident => $body:expr) => {
        match $any {
            $crate::AnyImage::Bool($image) => $body,
            $crate::AnyImage::U8($image) => $body,
            $crate::AnyImage::I8($image) => $body,
            $crate::AnyImage::U16($image) => $body,
            $crate::AnyImage::I16($image) => $body,
            $crate::AnyImage::U32($image) => $body,
            $crate::AnyImage::I32($image) => $body,
            $crate::AnyImage::U64($image) => $body,
            $crate::AnyImage::I64($image) => $body,
            $crate::AnyImage::F16($image) => $body,
            $crate::AnyImage::F32($image) => $body,
            $crate::AnyImage::F64($image) => $body,
        }
    };
}

/// As [`each_type!`], for images of a type that devices [compute](PixelType::is_computed) in;
/// `$other` for any other image.
#[macro_export]
macro_rules! each_computed {
    ($any:expr, $image:ident => $body:expr, else $other:expr) => {
        match $any {
            $crate::AnyImage::U8($image) => $body,
            $crate::AnyImage::U16($image) => $body,
            $crate::AnyImage::I16($image) => $body,
            $crate::AnyImage::F16($image) => $body,
            $crate::AnyImage::F32($image) => $body,
            $crate::AnyImage::F64($image) => $body,
            _ => $other,
        }
    };
}

impl AnyImage<'_> {
    /// Returns the width, height and channels.
    pub fn shape(&self) -> Shape {
        each_type!(self, image => image.shape())
    }

    /// Creates an image of zeros, whose packed bytes `fill` then writes.
    ///
    /// # Errors
    /// The error of `fill`; [`Error::Shape`](crate::Error::Shape) for more bytes than the system has memory for.
    pub fn from_bytes(
        pixel: PixelType,
        shape: Shape,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<AnyImage<'static>> {
        let mut image = AnyImage::zeros(pixel, shape)?;
        fill(image.view_mut().spanned_bytes_mut())?;
        Ok(image)
    }

    fn zeros(pixel: PixelType, shape: Shape) -> Result<AnyImage<'static>> {
        fn of<T: Pixel>(shape: Shape) -> Result<AnyImage<'static>> {
            check_memory::<T>(shape.samples(), shape)?;
            let samples = vec![T::default(); shape.samples() as usize];
            Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, samples)?))
        }
        each_pixel!(pixel, T => of::<T>(shape))
    }

    /// Returns the packed samples as bytes, in the machine's byte order.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        each_type!(self, image => image.packed_bytes())
    }

    /// Borrows the part of `width` x `height` pixels that starts at column `x` and row `y`.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a part that is empty or not entirely inside the image.
    pub fn region(&self, x: u32, y: u32, width: u32, height: u32) -> Result<AnyImage<'_>> {
        Ok(each_type!(self, image => Pixel::into_any(image.region(x, y, width, height)?)))
    }

    /// Borrows the image.
    pub fn view(&self) -> AnyImage<'_> {
        each_type!(self, image => Pixel::into_any(image.view()))
    }

    /// Borrows the image mutably; borrowed samples are copied first, once.
    pub fn view_mut(&mut self) -> AnyImageMut<'_> {
        each_type!(self, image => Pixel::into_any_mut(image.view_mut()))
    }

    /// Returns the samples between the starts of two rows.
    pub fn row_stride(&self) -> usize {
        each_type!(self, image => image.row_stride())
    }

    /// Returns all bytes from the first sample of the first row to the last of the last row, padding between rows
    /// included.
    pub fn spanned_bytes(&self) -> &[u8] {
        each_type!(self, image => image.spanned_bytes())
    }

    /// Returns the image with owned samples, in rows without gaps.
    pub fn into_packed(self) -> AnyImage<'static> {
        fn packed<T: Pixel>(image: Image<'_, T>) -> AnyImage<'static> {
            let Shape { width, height, channels } = image.shape();
            let packed = Image::new(width, height, channels, image.into_packed());
            T::into_any(packed.expect("an image has as many samples as its shape says"))
        }
        each_type!(self, image => packed(image))
    }

    /// Returns the image with owned samples.
    pub fn into_owned(self) -> AnyImage<'static> {
        each_type!(self, image => Pixel::into_any(image.into_owned()))
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        match self {
            AnyImage::Bool(_) => PixelType::Bool,
            AnyImage::U8(_) => PixelType::U8,
            AnyImage::I8(_) => PixelType::I8,
            AnyImage::U16(_) => PixelType::U16,
            AnyImage::I16(_) => PixelType::I16,
            AnyImage::U32(_) => PixelType::U32,
            AnyImage::I32(_) => PixelType::I32,
            AnyImage::U64(_) => PixelType::U64,
            AnyImage::I64(_) => PixelType::I64,
            AnyImage::F16(_) => PixelType::F16,
            AnyImage::F32(_) => PixelType::F32,
            AnyImage::F64(_) => PixelType::F64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, MAX_SIDE};

    #[test]
    fn more_memory_than_there_is_is_an_error() {
        let shape = Shape::new(MAX_SIDE, MAX_SIDE, 4).unwrap();
        for pixel in PixelType::ALL {
            let error = AnyImage::from_bytes(pixel, shape, |_| Ok(())).unwrap_err();
            assert!(matches!(error, Error::Shape { what: "size", .. }), "{error}");
        }
    }
}
