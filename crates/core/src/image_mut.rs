//! Mutable images: destinations of results.

use crate::{AnyImage, Error, Image, Pixel, PixelType, Result, Shape};
use std::ops::{Index, IndexMut};

/// Mutably borrowed rows of interleaved samples in host memory.
///
/// ```
/// use apron_core::ImageMut;
///
/// // Two rows of two pixels, each row followed by one sample that is not the image's.
/// let mut samples = [0u8; 6];
/// let mut image = ImageMut::with_row_stride(2, 2, 1, 3, &mut samples)?;
/// image.rows_mut().for_each(|row| row.fill(7));
/// assert_eq!(samples, [7, 7, 0, 7, 7, 0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ImageMut<'a, T: Pixel> {
    shape: Shape,
    row_stride: usize,
    data: &'a mut [T],
}

impl<'a, T: Pixel> ImageMut<'a, T> {
    /// Creates an image of packed rows: `data` holds `width * height * channels` samples.
    ///
    /// # Errors
    /// As [`Image::new`].
    pub fn new(width: u32, height: u32, channels: u32, data: &'a mut [T]) -> Result<Self> {
        let shape = Image::new(width, height, channels, &*data)?.shape();
        Ok(ImageMut { shape, row_stride: shape.row_samples(), data })
    }

    /// Creates an image with `row_stride` samples between the starts of rows; the last row needs no padding, and
    /// padding is never written.
    ///
    /// # Errors
    /// As [`Image::with_row_stride`].
    pub fn with_row_stride(
        width: u32,
        height: u32,
        channels: u32,
        row_stride: usize,
        data: &'a mut [T],
    ) -> Result<Self> {
        let shape = Image::with_row_stride(width, height, channels, row_stride, &*data)?.shape();
        Ok(ImageMut { shape, row_stride, data })
    }

    /// Returns the width, height and channels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the samples between the starts of two rows.
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Returns all samples from the first of the first row to the last of the last row, padding between rows included.
    pub fn spanned_mut(&mut self) -> &mut [T] {
        let span = (self.shape.height as usize - 1) * self.row_stride + self.shape.row_samples();
        &mut self.data[..span]
    }

    /// Returns the rows, from top to bottom.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let (row, stride) = (self.shape.row_samples(), self.row_stride);
        self.spanned_mut().chunks_mut(stride).map(move |chunk| &mut chunk[..row])
    }

    /// Returns sample `channel` of pixel `(x, y)`; `None` outside the image.
    pub fn get_mut(&mut self, x: u32, y: u32, channel: u32) -> Option<&mut T> {
        self.shape.offset(x, y, channel, self.row_stride).map(|at| &mut self.data[at])
    }

    /// Copies the samples of an image of the same shape.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another shape.
    pub fn copy_from(&mut self, image: &Image<'_, T>) -> Result<()> {
        self.check(image.shape())?;
        self.rows_mut().zip(image.rows()).for_each(|(to, from)| to.copy_from_slice(from));
        Ok(())
    }

    /// Checks that the image has the shape of a result.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another shape.
    pub fn check(&self, result: Shape) -> Result<()> {
        check_room((self.shape, T::PIXEL), (result, T::PIXEL))
    }

    /// Returns the part of `width` x `height` pixels that starts at column `x` and row `y`.
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not entirely inside the image.
    pub fn region(self, x: u32, y: u32, width: u32, height: u32) -> Result<Self> {
        let shape = self.shape.region(x, y, width, height)?;
        let start = y as usize * self.row_stride + x as usize * shape.channels as usize;
        Ok(ImageMut { shape, row_stride: self.row_stride, data: &mut self.data[start..] })
    }

    /// Reborrows the image.
    pub fn view(&mut self) -> ImageMut<'_, T> {
        ImageMut { shape: self.shape, row_stride: self.row_stride, data: self.data }
    }
}

/// Access by `image[(x, y, channel)]`.
///
/// # Panics
/// For an index outside the image, as slices do.
impl<T: Pixel> Index<(u32, u32, u32)> for ImageMut<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, (x, y, channel): (u32, u32, u32)) -> &T {
        let at = self.shape.offset(x, y, channel, self.row_stride);
        &self.data[at.unwrap_or_else(|| self.shape.no_sample(x, y, channel))]
    }
}

/// Mutable access by `image[(x, y, channel)]`.
///
/// ```
/// use apron_core::ImageMut;
///
/// let mut samples = [0u8; 4];
/// ImageMut::new(2, 2, 1, &mut samples)?[(0, 1, 0)] = 7;
/// assert_eq!(samples, [0, 0, 7, 0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Panics
/// For an index outside the image, as slices do.
impl<T: Pixel> IndexMut<(u32, u32, u32)> for ImageMut<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, (x, y, channel): (u32, u32, u32)) -> &mut T {
        let shape = self.shape;
        self.get_mut(x, y, channel).unwrap_or_else(|| shape.no_sample(x, y, channel))
    }
}

/// Checks that a destination has the shape and type of a result.
///
/// # Errors
/// [`Error::Parameter`] for another shape or type.
pub fn check_room(room: (Shape, PixelType), result: (Shape, PixelType)) -> Result<()> {
    if room == result { Ok(()) } else { Err(no_room(room, result)) }
}

/// Returns the error for a destination of another shape or type than a result.
fn no_room(room: (Shape, PixelType), result: (Shape, PixelType)) -> Error {
    let [value, limit] = [room, result].map(|(shape, pixel)| format!("{pixel} {shape}"));
    Error::parameter("run_into", "output", value, limit)
}

/// An [`ImageMut`] whose sample type is known at run time only.
#[derive(Debug)]
#[allow(missing_docs)] // each holds an image of its name's type
pub enum AnyImageMut<'a> {
    Bool(ImageMut<'a, apron_abi::Bool>),
    U8(ImageMut<'a, u8>),
    I8(ImageMut<'a, i8>),
    U16(ImageMut<'a, u16>),
    I16(ImageMut<'a, i16>),
    U32(ImageMut<'a, u32>),
    I32(ImageMut<'a, i32>),
    U64(ImageMut<'a, u64>),
    I64(ImageMut<'a, i64>),
    F16(ImageMut<'a, half::f16>),
    F32(ImageMut<'a, f32>),
    F64(ImageMut<'a, f64>),
}

/// Runs `$body` with `$image` bound to the typed image in the [`AnyImageMut`] `$any`.
#[macro_export]
macro_rules! each_type_mut {
    ($any:expr, $image:ident => $body:expr) => {
        match $any {
            $crate::AnyImageMut::Bool($image) => $body,
            $crate::AnyImageMut::U8($image) => $body,
            $crate::AnyImageMut::I8($image) => $body,
            $crate::AnyImageMut::U16($image) => $body,
            $crate::AnyImageMut::I16($image) => $body,
            $crate::AnyImageMut::U32($image) => $body,
            $crate::AnyImageMut::I32($image) => $body,
            $crate::AnyImageMut::U64($image) => $body,
            $crate::AnyImageMut::I64($image) => $body,
            $crate::AnyImageMut::F16($image) => $body,
            $crate::AnyImageMut::F32($image) => $body,
            $crate::AnyImageMut::F64($image) => $body,
        }
    };
}

impl AnyImageMut<'_> {
    /// Returns the width, height and channels.
    pub fn shape(&self) -> Shape {
        each_type_mut!(self, image => image.shape())
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        match self {
            AnyImageMut::Bool(_) => PixelType::Bool,
            AnyImageMut::U8(_) => PixelType::U8,
            AnyImageMut::I8(_) => PixelType::I8,
            AnyImageMut::U16(_) => PixelType::U16,
            AnyImageMut::I16(_) => PixelType::I16,
            AnyImageMut::U32(_) => PixelType::U32,
            AnyImageMut::I32(_) => PixelType::I32,
            AnyImageMut::U64(_) => PixelType::U64,
            AnyImageMut::I64(_) => PixelType::I64,
            AnyImageMut::F16(_) => PixelType::F16,
            AnyImageMut::F32(_) => PixelType::F32,
            AnyImageMut::F64(_) => PixelType::F64,
        }
    }

    /// Copies the samples of an image of the same shape and type.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another shape or type.
    pub fn copy_from(&mut self, image: &AnyImage<'_>) -> Result<()> {
        let (room, result) = ((self.shape(), self.pixel_type()), (image.shape(), image.pixel_type()));
        each_type_mut!(self, to => match Pixel::from_any(image.view()) {
            Some(image) => to.copy_from(&image),
            None => Err(no_room(room, result)),
        })
    }

    /// Returns the samples between the starts of two rows.
    pub fn row_stride(&self) -> usize {
        each_type_mut!(self, image => image.row_stride())
    }

    /// Returns all bytes from the first sample of the first row to the last of the last row, padding between rows
    /// included.
    pub fn spanned_bytes_mut(&mut self) -> &mut [u8] {
        each_type_mut!(self, image => bytemuck::cast_slice_mut(image.spanned_mut()))
    }

    /// Returns the rows as bytes, if there is no padding between them.
    pub fn packed_bytes_mut(&mut self) -> Option<&mut [u8]> {
        fn packed<'i, T: Pixel>(image: &'i mut ImageMut<'_, T>) -> Option<&'i mut [u8]> {
            let packed = image.row_stride == image.shape.row_samples();
            packed.then(|| bytemuck::cast_slice_mut(image.spanned_mut()))
        }
        each_type_mut!(self, image => packed(image))
    }

    /// Returns the part of `width` x `height` pixels that starts at column `x` and row `y`.
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not entirely inside the image.
    pub fn region(self, x: u32, y: u32, width: u32, height: u32) -> Result<Self> {
        Ok(each_type_mut!(self, image => Pixel::into_any_mut(image.region(x, y, width, height)?)))
    }

    /// Reborrows the image.
    pub fn view(&mut self) -> AnyImageMut<'_> {
        each_type_mut!(self, image => Pixel::into_any_mut(image.view()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_rows_with_gaps_are_written_and_nothing_else() {
        let mut samples = [0u16; 11];
        let image = ImageMut::with_row_stride(3, 3, 1, 4, &mut samples).unwrap();
        let mut part = image.region(1, 1, 2, 2).unwrap();
        part.copy_from(&Image::new(2, 2, 1, vec![1, 2, 3, 4]).unwrap()).unwrap();
        assert_eq!(part.spanned_mut(), [1, 2, 0, 0, 3, 4]);
        assert_eq!(samples, [0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4]);
    }

    #[test]
    fn other_shapes_and_types_are_refused() {
        let mut samples = [0u8; 6];
        assert!(ImageMut::new(3, 3, 1, &mut samples).is_err());
        assert!(ImageMut::with_row_stride(2, 3, 1, 1, &mut samples).is_err());
        let image = ImageMut::new(3, 2, 1, &mut samples).unwrap();
        let mut image = AnyImageMut::U8(image);
        for other in [
            AnyImage::U8(Image::new(2, 3, 1, vec![1; 6]).unwrap()),
            AnyImage::I16(Image::new(3, 2, 1, vec![1; 6]).unwrap()),
        ] {
            let error = image.copy_from(&other).unwrap_err().to_string();
            assert!(error.starts_with("run_into: output is u8 3x2x1, but must be "), "{error}");
        }
        assert!(image.region(0, 1, 3, 2).is_err());
        assert_eq!(samples, [0; 6]);
    }
}
