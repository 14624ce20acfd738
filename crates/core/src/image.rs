//! Images: shape, pixels, and a row stride.

use crate::{Error, ImageMut, Pixel, Result, check_memory};
use std::borrow::Cow;
use std::fmt;
use std::ops::{Index, IndexMut};

/// Largest width and height, in pixels, so that border arithmetic fits 32 bits.
pub const MAX_SIDE: u32 = (1 << 30) - 1;

/// Width and height of an image in pixels, and its interleaved channels.
///
/// ```
/// use apron_core::Shape;
///
/// let shape = Shape::new(640, 480, 3)?;
/// assert_eq!((shape.pixels(), shape.samples(), shape.to_string()), (307_200, 921_600, "640x480x3".into()));
/// # Ok::<(), apron_core::Error>(())
/// ```
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
    /// Creates a shape of 1 to [`MAX_SIDE`] pixels per side and 1 to 4 channels.
    ///
    /// # Errors
    /// [`Error::Shape`] for values outside these ranges.
    pub fn new(width: u32, height: u32, channels: u32) -> Result<Shape> {
        for (what, value, high) in [("width", width, MAX_SIDE), ("height", height, MAX_SIDE), ("channels", channels, 4)]
        {
            if value == 0 || value > high {
                return Err(Error::Shape { what, value: value.to_string(), limit: format!("1 to {high}") });
            }
        }
        Ok(Shape { width, height, channels })
    }

    /// Returns the number of pixels.
    pub fn pixels(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Returns the number of samples: pixels times channels.
    pub fn samples(&self) -> u64 {
        self.pixels() * self.channels as u64
    }

    /// Returns the samples per row.
    pub fn row_samples(&self) -> usize {
        self.width as usize * self.channels as usize
    }

    /// Returns the index of sample `channel` of pixel `(x, y)` with `row_stride` samples between rows, if it exists.
    pub(crate) fn offset(&self, x: u32, y: u32, channel: u32, row_stride: usize) -> Option<usize> {
        let inside = x < self.width && y < self.height && channel < self.channels;
        inside.then(|| y as usize * row_stride + x as usize * self.channels as usize + channel as usize)
    }

    /// Panics for an index outside the image.
    #[track_caller]
    pub(crate) fn no_sample(&self, x: u32, y: u32, channel: u32) -> ! {
        panic!("there is no sample ({x}, {y}, {channel}) in an image of {self}")
    }

    /// Returns the shape of the part of `width` x `height` pixels that starts at column `x` and row `y`.
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not entirely inside an image of this shape.
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
    /// Creates an image of packed rows: `data` holds `width * height * channels` samples.
    ///
    /// # Errors
    /// [`Error::Shape`] for an invalid shape or another number of samples.
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

    /// Creates an image with `row_stride` samples between the starts of rows; the last row needs no padding.
    ///
    /// # Errors
    /// [`Error::Shape`] for an invalid shape, a stride below `width * channels`, or too few samples.
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

    /// Creates an image from a function of column, row and channel, which is called row by row.
    ///
    /// ```
    /// use apron_core::Image;
    ///
    /// let ramp = Image::from_fn(3, 2, 1, |x, y, _| (10 * y + x) as u8)?;
    /// assert_eq!((ramp.row(1), ramp[(2, 0, 0)]), (&[10, 11, 12][..], 2));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for an invalid shape, and for more samples than the system has memory for.
    pub fn from_fn(
        width: u32,
        height: u32,
        channels: u32,
        mut sample: impl FnMut(u32, u32, u32) -> T,
    ) -> Result<Image<'static, T>> {
        let shape = Shape::new(width, height, channels)?;
        check_memory::<T>(shape.samples(), shape)?;
        let mut data = Vec::with_capacity(shape.samples() as usize);
        for y in 0..height {
            for x in 0..width {
                data.extend((0..channels).map(|channel| sample(x, y, channel)));
            }
        }
        Image::new(width, height, channels, data)
    }

    /// Returns the width, height and channels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the width, in pixels.
    pub fn width(&self) -> u32 {
        self.shape.width
    }

    /// Returns the height, in pixels.
    pub fn height(&self) -> u32 {
        self.shape.height
    }

    /// Returns the number of interleaved channels.
    pub fn channels(&self) -> u32 {
        self.shape.channels
    }

    /// Returns the samples between the starts of two rows.
    pub fn row_stride(&self) -> usize {
        self.row_stride
    }

    /// Returns the samples of row `y`, which is below the height.
    #[inline]
    pub fn row(&self, y: u32) -> &[T] {
        &self.data[y as usize * self.row_stride..][..self.shape.row_samples()]
    }

    /// Returns sample `channel` of pixel `(x, y)`, which is inside the image.
    #[inline]
    pub fn sample(&self, x: u32, y: u32, channel: u32) -> T {
        self.row(y)[(x * self.shape.channels + channel) as usize]
    }

    /// Returns sample `channel` of pixel `(x, y)`; `None` outside the image.
    ///
    /// ```
    /// use apron_core::Image;
    ///
    /// let image = Image::new(2, 1, 3, vec![1u8, 2, 3, 4, 5, 6])?;
    /// assert_eq!((image.get(1, 0, 2), image.get(1, 0, 3), image.get(2, 0, 0)), (Some(&6), None, None));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    pub fn get(&self, x: u32, y: u32, channel: u32) -> Option<&T> {
        self.shape.offset(x, y, channel, self.row_stride).map(|at| &self.data[at])
    }

    /// Returns sample `channel` of pixel `(x, y)`, mutably; `None` outside the image. Borrowed samples are copied
    /// first, once.
    pub fn get_mut(&mut self, x: u32, y: u32, channel: u32) -> Option<&mut T> {
        self.shape.offset(x, y, channel, self.row_stride).map(|at| &mut self.data.to_mut()[at])
    }

    /// Returns the rows, from top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.shape.height).map(|y| self.row(y))
    }

    /// Returns all samples, padding between rows included.
    #[cfg(feature = "ndarray")]
    pub(crate) fn samples(&self) -> &[T] {
        &self.data
    }

    /// Returns all samples without padding; copies only if there is padding.
    pub fn packed(&self) -> Cow<'_, [T]> {
        if self.row_stride == self.shape.row_samples() {
            return Cow::Borrowed(&self.data[..self.shape.samples() as usize]);
        }
        let mut packed = Vec::with_capacity(self.shape.samples() as usize);
        self.rows().for_each(|row| packed.extend_from_slice(row));
        Cow::Owned(packed)
    }

    /// Returns all bytes from the first sample of the first row to the last of the last row, padding between rows
    /// included.
    pub fn spanned_bytes(&self) -> &[u8] {
        let span = (self.shape.height as usize - 1) * self.row_stride + self.shape.row_samples();
        bytemuck::cast_slice(&self.data[..span])
    }

    /// Returns the packed samples as bytes, in the machine's byte order.
    pub fn packed_bytes(&self) -> Cow<'_, [u8]> {
        match self.packed() {
            Cow::Borrowed(samples) => Cow::Borrowed(bytemuck::cast_slice(samples)),
            Cow::Owned(samples) => Cow::Owned(bytemuck::cast_slice(&samples).to_vec()),
        }
    }

    /// Returns all samples, padding between rows included.
    pub(crate) fn into_samples(self) -> Cow<'a, [T]> {
        self.data
    }

    /// Returns the samples as an owned vector, without padding.
    pub fn into_packed(self) -> Vec<T> {
        if self.row_stride == self.shape.row_samples() && self.data.len() as u64 == self.shape.samples() {
            return self.data.into_owned();
        }
        self.packed().into_owned()
    }

    /// Borrows the part of `width` x `height` pixels that starts at column `x` and row `y`.
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
    /// [`Error::Shape`] for a part that is empty or not entirely inside the image.
    pub fn region(&self, x: u32, y: u32, width: u32, height: u32) -> Result<Image<'_, T>> {
        let shape = self.shape.region(x, y, width, height)?;
        let start = y as usize * self.row_stride + x as usize * shape.channels as usize;
        let span = (height as usize - 1) * self.row_stride + shape.row_samples();
        Ok(Image { shape, row_stride: self.row_stride, data: Cow::Borrowed(&self.data[start..start + span]) })
    }

    /// Borrows the image mutably; borrowed samples are copied first, once.
    pub fn view_mut(&mut self) -> ImageMut<'_, T> {
        let Shape { width, height, channels } = self.shape;
        let image = ImageMut::with_row_stride(width, height, channels, self.row_stride, self.data.to_mut());
        image.expect("an image's shape")
    }

    /// Borrows the image.
    pub fn view(&self) -> Image<'_, T> {
        Image { shape: self.shape, row_stride: self.row_stride, data: Cow::Borrowed(&self.data) }
    }

    /// Returns the image with owned samples.
    pub fn into_owned(self) -> Image<'static, T> {
        Image { shape: self.shape, row_stride: self.row_stride, data: Cow::Owned(self.data.into_owned()) }
    }
}

/// Access by `image[(x, y, channel)]`.
///
/// ```
/// use apron_core::Image;
///
/// let mut image = Image::new(2, 1, 3, vec![0u8; 6])?;
/// image[(1, 0, 2)] = 9;
/// assert_eq!((image[(1, 0, 2)], image.row(0)), (9, &[0, 0, 0, 0, 0, 9][..]));
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Panics
/// For an index outside the image, as slices do.
impl<T: Pixel> Index<(u32, u32, u32)> for Image<'_, T> {
    type Output = T;

    #[track_caller]
    fn index(&self, (x, y, channel): (u32, u32, u32)) -> &T {
        self.get(x, y, channel).unwrap_or_else(|| self.shape.no_sample(x, y, channel))
    }
}

/// Mutable access by `image[(x, y, channel)]`; borrowed samples are copied first, once.
///
/// # Panics
/// For an index outside the image, as slices do.
impl<T: Pixel> IndexMut<(u32, u32, u32)> for Image<'_, T> {
    #[track_caller]
    fn index_mut(&mut self, (x, y, channel): (u32, u32, u32)) -> &mut T {
        let shape = self.shape;
        self.get_mut(x, y, channel).unwrap_or_else(|| shape.no_sample(x, y, channel))
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
    fn indices_follow_the_row_stride_and_end_with_the_shape() {
        let samples = [1u8, 2, 3, 4, 99, 5, 6, 7, 8];
        let mut image = Image::with_row_stride(2, 2, 2, 5, &samples[..]).unwrap();
        assert_eq!([image[(0, 0, 0)], image[(1, 0, 1)], image[(0, 1, 0)], image[(1, 1, 1)]], [1, 4, 5, 8]);
        assert_eq!([image.get(2, 0, 0), image.get(0, 2, 0), image.get(0, 0, 2)], [None; 3]);
        assert_eq!(image.get_mut(2, 1, 0), None);
        image[(1, 1, 0)] = 70;
        assert_eq!((image.row(1), samples[7]), (&[5, 6, 70, 8][..], 7));
        let panic = std::panic::catch_unwind(|| image[(0, 0, 2)]).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>().unwrap(), "there is no sample (0, 0, 2) in an image of 2x2x2");
    }

    #[test]
    fn samples_come_row_by_row() {
        let image = Image::from_fn(2, 2, 3, |x, y, c| (100 * y + 10 * x + c) as u16).unwrap();
        assert_eq!(image.packed()[..], [0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112]);
        assert!(matches!(Image::from_fn(0, 2, 1, |_, _, _| 0u8), Err(Error::Shape { what: "width", .. })));
        let huge = Image::from_fn(MAX_SIDE, MAX_SIDE, 4, |_, _, _| 0u8);
        assert!(matches!(huge, Err(Error::Shape { what: "size", .. })));
    }

    #[test]
    fn the_last_row_may_end_early() {
        let image = Image::with_row_stride(2, 2, 1, 3, vec![1u8, 2, 9, 3, 4]).unwrap();
        assert_eq!(image.packed().as_ref(), [1, 2, 3, 4]);
        assert_eq!(image.into_packed(), [1, 2, 3, 4]);
    }
}
