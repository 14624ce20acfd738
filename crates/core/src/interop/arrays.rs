//! Conversions from and to `ndarray` arrays of (height, width) or (height, width, channels).

use crate::{Error, Image, ImageMut, Pixel, Result, Shape};
use ndarray::{Array3, ArrayView2, ArrayView3, ArrayViewMut3, Axis, ShapeBuilder};
use std::borrow::Cow;

/// Converts an array whose last axis holds the channels: without a copy if it is in standard layout.
///
/// A part of a larger array has gaps between its rows, to which the array's owner may be writing; so it is copied. For
/// a part without a copy, pass the larger array's slice to [`Image::with_row_stride`].
///
/// ```
/// use apron_core::Image;
/// use ndarray::{array, s};
///
/// let array = array![[[1u8, 2], [3, 4]], [[5, 6], [7, 8]]];
/// let image = Image::try_from(array.view())?;
/// assert_eq!((image.shape().to_string(), image.row(1)), ("2x2x2".into(), &[5, 6, 7, 8][..]));
/// let turned = Image::try_from(array.slice(s![.., ..;-1, 0..1]))?;
/// assert_eq!(turned.row(1), [7, 5]);
/// assert_eq!(image.into_ndarray(), array);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for an empty array, one of more than 4 channels, or one larger than images can be.
impl<'a, T: Pixel> TryFrom<ArrayView3<'a, T>> for Image<'a, T> {
    type Error = Error;

    fn try_from(array: ArrayView3<'a, T>) -> Result<Self> {
        let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
        let (height, width, channels) = array.dim();
        let samples: Cow<'a, [T]> = match array.to_slice() {
            Some(samples) => Cow::Borrowed(samples),
            None => Cow::Owned(array.iter().copied().collect()),
        };
        Image::new(side(width), side(height), side(channels), samples)
    }
}

/// Converts an array to an image of one channel: without a copy if it is in standard layout.
///
/// ```
/// use apron_core::Image;
/// use ndarray::array;
///
/// let array = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(Image::try_from(array.view())?.shape().to_string(), "3x2x1");
/// assert_eq!(Image::try_from(array.t())?.row(0), [1.0, 4.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for an empty array, or one larger than images can be.
impl<'a, T: Pixel> TryFrom<ArrayView2<'a, T>> for Image<'a, T> {
    type Error = Error;

    fn try_from(array: ArrayView2<'a, T>) -> Result<Self> {
        array.insert_axis(Axis(2)).try_into()
    }
}

impl<T: Pixel> Image<'_, T> {
    /// Converts the image to an array (height, width, channels), without a copy if it owns its samples and its rows
    /// have no gaps.
    ///
    /// ```
    /// use apron_core::Image;
    /// use ndarray::array;
    ///
    /// let image = Image::new(2, 2, 1, vec![1u8, 2, 3, 4])?;
    /// assert_eq!(image.into_ndarray(), array![[[1], [2]], [[3], [4]]]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    pub fn into_ndarray(self) -> Array3<T> {
        let dimensions = dimensions(self.shape());
        Array3::from_shape_vec(dimensions, self.into_packed()).expect("an image has as many samples as its shape says")
    }

    /// Views the image as an array (height, width, channels), without a copy: gaps between rows become strides.
    ///
    /// ```
    /// use apron_core::Image;
    ///
    /// let padded = Image::with_row_stride(2, 2, 1, 3, vec![1u8, 2, 0, 3, 4, 0])?;
    /// let view = padded.as_ndarray();
    /// assert_eq!((view.dim(), view[[1, 0, 0]]), ((2, 2, 1), 3));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    pub fn as_ndarray(&self) -> ArrayView3<'_, T> {
        let shape = dimensions(self.shape()).strides(strides(self.shape(), self.row_stride()));
        ArrayView3::from_shape(shape, self.samples()).expect("an image has the samples that its row stride reaches")
    }
}

impl<T: Pixel> ImageMut<'_, T> {
    /// Views the image as a mutable array (height, width, channels), without a copy.
    ///
    /// ```
    /// use apron_core::ImageMut;
    ///
    /// let mut samples = [0u8; 5]; // two rows of two pixels, which start three apart
    /// ImageMut::with_row_stride(2, 2, 1, 3, &mut samples)?.as_ndarray_mut().fill(7);
    /// assert_eq!(samples, [7, 7, 0, 7, 7]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    pub fn as_ndarray_mut(&mut self) -> ArrayViewMut3<'_, T> {
        let shape = dimensions(self.shape()).strides(strides(self.shape(), self.row_stride()));
        ArrayViewMut3::from_shape(shape, self.spanned_mut())
            .expect("an image has the samples that its row stride reaches")
    }
}

/// As [`Image::into_ndarray`].
impl<T: Pixel> From<Image<'_, T>> for Array3<T> {
    fn from(image: Image<'_, T>) -> Self {
        image.into_ndarray()
    }
}

/// As [`Image::as_ndarray`].
impl<'a, T: Pixel> From<&'a Image<'_, T>> for ArrayView3<'a, T> {
    fn from(image: &'a Image<'_, T>) -> Self {
        image.as_ndarray()
    }
}

fn dimensions(shape: Shape) -> (usize, usize, usize) {
    (shape.height as usize, shape.width as usize, shape.channels as usize)
}

fn strides(shape: Shape, row_stride: usize) -> (usize, usize, usize) {
    (row_stride, shape.channels as usize, 1)
}
