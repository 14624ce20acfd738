//! Volumes: images of three dimensions.

mod borders;
mod extent;
mod filter;
mod formula;
mod mask;
mod shape;
mod slice;

pub use borders::VolumeBorders;
pub use extent::{VolumeExtent, VolumeRegion};
pub use filter::{Pass, VolumeFilter, VolumeWeights, VolumeWindow, sums_of};
pub use formula::{VolumeFormula, voxels};
pub use mask::VolumeMask;
pub use shape::VolumeShape;
pub use slice::Slice;

use crate::{AnyImage, Error, Image, Pixel, PixelType, Result, Shape, check_memory, each_type};
use std::borrow::Cow;

/// An image of three dimensions, with one to four interleaved channels; its samples are owned or borrowed.
///
/// Sample `c` of voxel `(x, y, z)` is at `z * plane_pitch + y * row_pitch + x * channels + c`: NumPy's order of an
/// array of shape (depth, height, width) or (depth, height, width, channels).
///
/// ```
/// use apron_core::Volume;
///
/// let volume = Volume::new(2, 1, 3, 1, vec![1u8, 2, 3, 4, 5, 6])?; // 3 planes of one row of 2 voxels
/// assert_eq!((volume.row(0, 1), volume.plane(2)?.row(0)), (&[3, 4][..], &[5, 6][..]));
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Volume<'a, T: Pixel> {
    shape: VolumeShape,
    row_pitch: usize,
    plane_pitch: usize,
    data: Cow<'a, [T]>,
}

impl<'a, T: Pixel> Volume<'a, T> {
    /// Creates a volume without gaps: `data` holds `width * height * depth * channels` samples.
    ///
    /// # Errors
    /// [`Error::Shape`] for an invalid shape or another number of samples.
    pub fn new(width: u32, height: u32, depth: u32, channels: u32, data: impl Into<Cow<'a, [T]>>) -> Result<Self> {
        let (data, shape) = (data.into(), VolumeShape::new(width, height, depth, channels)?);
        if data.len() as u64 != shape.samples() {
            return Err(Error::Shape {
                what: "number of samples",
                value: data.len().to_string(),
                limit: format!("{} for {shape}", shape.samples()),
            });
        }
        let row = shape.row_samples();
        Ok(Volume { shape, row_pitch: row, plane_pitch: row * height as usize, data })
    }

    /// Creates a volume with `row_pitch` samples between the starts of rows, and `plane_pitch` between those of planes;
    /// the last row needs no padding.
    ///
    /// ```
    /// use apron_core::{Volume, VolumeShape};
    ///
    /// // Two planes of two rows of one voxel, in memory with gaps.
    /// let samples = [1u8, 0, 2, 0, 0, 3, 0, 4];
    /// let volume = Volume::with_pitches(VolumeShape::new(1, 2, 2, 1)?, (2, 5), &samples[..])?;
    /// assert_eq!(volume.packed()[..], [1, 2, 3, 4]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for a row pitch below a row, a plane pitch below `height` rows, or too few samples.
    pub fn with_pitches(
        shape: VolumeShape,
        (row_pitch, plane_pitch): (usize, usize),
        data: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self> {
        let (data, VolumeShape { width, height, depth, channels }) = (data.into(), shape);
        let (shape, row) = (VolumeShape::new(width, height, depth, channels)?, shape.row_samples());
        let rows = row_pitch as u128 * (height as u128 - 1) + row as u128;
        let needed = plane_pitch as u128 * (depth as u128 - 1) + rows;
        for (what, value, least) in [
            ("row pitch", row_pitch as u128, row as u128),
            ("plane pitch", plane_pitch as u128, rows),
            ("number of samples", data.len() as u128, needed),
        ] {
            if value < least {
                let limit = format!("{least} or more for {shape}");
                return Err(Error::Shape { what, value: value.to_string(), limit });
            }
        }
        Ok(Volume { shape, row_pitch, plane_pitch, data })
    }

    /// Creates a volume from a function of column, row, plane and channel, which is called plane by plane.
    ///
    /// # Errors
    /// [`Error::Shape`] for an invalid shape, and for more samples than the system has memory for.
    pub fn from_fn(
        width: u32,
        height: u32,
        depth: u32,
        channels: u32,
        mut sample: impl FnMut(u32, u32, u32, u32) -> T,
    ) -> Result<Volume<'static, T>> {
        let shape = VolumeShape::new(width, height, depth, channels)?;
        check_memory::<T>(shape.samples(), shape.stacked())?;
        let stack = Image::from_fn(width, height * depth, channels, |x, y, c| sample(x, y % height, y / height, c))?;
        Volume::from_stack(stack, depth)
    }

    /// Creates a volume from an image of its planes, one below the other, without a copy.
    ///
    /// # Errors
    /// [`Error::Shape`] for a height that is no multiple of the depth.
    pub fn from_stack(stack: Image<'a, T>, depth: u32) -> Result<Self> {
        let Shape { width, height, channels } = stack.shape();
        let shape = unstacked(stack.shape(), depth)?;
        let row_pitch = stack.row_stride();
        let data = stack.into_samples();
        debug_assert_eq!((shape.width, shape.height * depth, shape.channels), (width, height, channels));
        Ok(Volume { shape, row_pitch, plane_pitch: row_pitch * shape.height as usize, data })
    }

    /// Returns the planes, one below the other, as an image: without a copy if the planes lie at
    /// equal distances of rows.
    pub fn stack(&self) -> Image<'_, T> {
        let Shape { width, height, channels } = self.shape.stacked();
        if self.plane_pitch == self.row_pitch * self.shape.height as usize {
            let stack = Image::with_row_stride(width, height, channels, self.row_pitch, &self.data[..]);
            return stack.expect("a volume has as many samples as its shape says");
        }
        Image::new(width, height, channels, self.packed()).expect("as many samples as the shape says")
    }

    /// Returns width, height, depth and channels.
    pub fn shape(&self) -> VolumeShape {
        self.shape
    }

    /// Returns the samples between the starts of two rows.
    pub fn row_pitch(&self) -> usize {
        self.row_pitch
    }

    /// Returns the samples between the starts of two planes.
    pub fn plane_pitch(&self) -> usize {
        self.plane_pitch
    }

    /// Returns the samples of row `y` of plane `z`, which are below height and depth.
    pub fn row(&self, y: u32, z: u32) -> &[T] {
        &self.data[z as usize * self.plane_pitch + y as usize * self.row_pitch..][..self.shape.row_samples()]
    }

    /// Returns sample `channel` of voxel `(x, y, z)`; `None` outside the volume.
    pub fn get(&self, x: u32, y: u32, z: u32, channel: u32) -> Option<T> {
        let VolumeShape { width, height, depth, channels } = self.shape;
        let inside = x < width && y < height && z < depth && channel < channels;
        inside.then(|| self.row(y, z)[x as usize * channels as usize + channel as usize])
    }

    /// Borrows plane `z` as an image.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a plane that there is not.
    pub fn plane(&self, z: u32) -> Result<Image<'_, T>> {
        let VolumeShape { width, height, depth, channels } = self.shape;
        if z >= depth {
            return Err(Error::parameter("volume", "plane", z, format!("0 to {}", depth - 1)));
        }
        let start = z as usize * self.plane_pitch;
        Image::with_row_stride(width, height, channels, self.row_pitch, &self.data[start..])
    }

    /// Borrows the part of `size` voxels that starts at `corner`, both along x, y and z.
    ///
    /// ```
    /// use apron_core::Volume;
    ///
    /// let volume = Volume::from_fn(4, 4, 4, 1, |x, y, z, _| (100 * z + 10 * y + x) as u16)?;
    /// assert_eq!(volume.region([1, 2, 3], [2, 1, 1])?.packed()[..], [321, 322]);
    /// assert!(volume.region([1, 2, 3], [2, 1, 2]).is_err());
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not entirely inside the volume.
    pub fn region(&self, corner: [u32; 3], size: [u32; 3]) -> Result<Volume<'_, T>> {
        VolumeRegion { corner, size }.check(self.shape)?;
        let ([x, y, z], channels) = (corner.map(|from| from as usize), self.shape.channels);
        let start = z * self.plane_pitch + y * self.row_pitch + x * channels as usize;
        let shape = VolumeShape { width: size[0], height: size[1], depth: size[2], channels };
        Volume::with_pitches(shape, (self.row_pitch, self.plane_pitch), &self.data[start..])
    }

    /// Returns all samples without padding; copies only if there is padding.
    pub fn packed(&self) -> Cow<'_, [T]> {
        let (row, VolumeShape { height, depth, .. }) = (self.shape.row_samples(), self.shape);
        if self.row_pitch == row && self.plane_pitch == row * height as usize {
            return Cow::Borrowed(&self.data[..self.shape.samples() as usize]);
        }
        let mut packed = Vec::with_capacity(self.shape.samples() as usize);
        (0..depth).for_each(|z| (0..height).for_each(|y| packed.extend_from_slice(self.row(y, z))));
        Cow::Owned(packed)
    }

    /// Returns the volume with owned samples.
    pub fn into_owned(self) -> Volume<'static, T> {
        Volume { data: Cow::Owned(self.data.into_owned()), ..self }
    }
}

/// A volume whose sample type is known at run time only: its planes, one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyVolume<'a> {
    stack: AnyImage<'a>,
    depth: u32,
}

impl<'a> AnyVolume<'a> {
    /// Makes a volume of an image of its planes, one below the other.
    ///
    /// # Errors
    /// [`Error::Shape`] for a height that is no multiple of the depth.
    pub fn new(stack: AnyImage<'a>, depth: u32) -> Result<AnyVolume<'a>> {
        unstacked(stack.shape(), depth)?;
        Ok(AnyVolume { stack, depth })
    }

    /// Returns width, height, depth and channels.
    pub fn shape(&self) -> VolumeShape {
        let Shape { width, height, channels } = self.stack.shape();
        VolumeShape { width, height: height / self.depth, depth: self.depth, channels }
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.stack.pixel_type()
    }

    /// Returns the planes, one below the other.
    pub fn stack(&self) -> AnyImage<'_> {
        self.stack.view()
    }

    /// Borrows plane `z`.
    ///
    /// # Errors
    /// [`Error::Shape`] for a plane that there is not.
    pub fn plane(&self, z: u32) -> Result<AnyImage<'_>> {
        let VolumeShape { width, height, .. } = self.shape();
        self.stack.region(0, z.saturating_mul(height), width, height)
    }

    /// Copies the part of `size` voxels that starts at `corner`, both along x, y and z.
    ///
    /// # Errors
    /// As [`Volume::region`].
    pub fn region(&self, corner: [u32; 3], size: [u32; 3]) -> Result<AnyVolume<'static>> {
        let stack = each_type!(&self.stack, stack => {
            let volume = Volume::from_stack(stack.view(), self.depth)?;
            let part = volume.region(corner, size)?;
            let Shape { width, height, channels } = part.shape().stacked();
            Pixel::into_any(Image::new(width, height, channels, part.packed().into_owned())?)
        });
        AnyVolume::new(stack, size[2])
    }

    /// Returns the typed volume; `None` if it is of another type.
    pub fn typed<T: Pixel>(self) -> Option<Volume<'a, T>> {
        let depth = self.depth;
        T::from_any(self.stack).map(|stack| Volume::from_stack(stack, depth).expect("the depth was compared"))
    }
}

/// Returns the shape of a volume of `depth` planes, whose stack has this shape.
///
/// # Errors
/// [`Error::Shape`] for a height that is no multiple of the depth.
pub fn unstacked(stack: Shape, depth: u32) -> Result<VolumeShape> {
    if depth == 0 || !stack.height.is_multiple_of(depth) {
        let limit = format!("1 or more, and a divisor of the {} rows of all planes", stack.height);
        return Err(Error::Shape { what: "depth", value: depth.to_string(), limit });
    }
    VolumeShape::new(stack.width, stack.height / depth, depth, stack.channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_volumes_are_refused_by_name() {
        let shape = |width, height, depth, channels| VolumeShape::new(width, height, depth, channels).unwrap_err();
        for (error, part) in [
            (shape(0, 1, 1, 1), "width is 0"),
            (shape(1, 0, 1, 1), "height is 0"),
            (shape(1, 1, 0, 1), "depth is 0"),
            (shape(1, 1, 1, 5), "channels is 5"),
            (shape(1, 1 << 16, 1 << 16, 1), "number of rows is 4294967296"),
            (Volume::new(2, 2, 2, 1, vec![0u8; 7]).unwrap_err(), "number of samples is 7, but must be 8"),
            (
                Volume::with_pitches(VolumeShape::new(2, 2, 2, 1).unwrap(), (2, 3), vec![0u8; 9]).unwrap_err(),
                "plane pitch is 3, but must be 4 or more",
            ),
            (
                Volume::with_pitches(VolumeShape::new(2, 2, 2, 1).unwrap(), (1, 4), vec![0u8; 9]).unwrap_err(),
                "row pitch is 1",
            ),
            (
                Volume::with_pitches(VolumeShape::new(2, 2, 2, 1).unwrap(), (3, 6), vec![0u8; 10]).unwrap_err(),
                "number of samples is 10, but must be 11",
            ),
            (
                Volume::from_stack(Image::new(1, 5, 1, vec![0u8; 5]).unwrap(), 2).unwrap_err(),
                "depth is 2, but must be 1 or more, and a divisor of the 5 rows",
            ),
        ] {
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn planes_and_regions_follow_the_pitches() {
        let samples: Vec<u16> = (0..100).collect();
        let shape = VolumeShape::new(2, 2, 3, 2).unwrap();
        let volume = Volume::with_pitches(shape, (5, 20), samples).unwrap();
        assert_eq!(volume.plane(2).unwrap().row(1), [45, 46, 47, 48]);
        assert_eq!((volume.get(1, 0, 1, 1), volume.get(2, 0, 0, 0)), (Some(23), None));
        let part = volume.region([1, 1, 0], [1, 1, 2]).unwrap();
        assert_eq!((part.packed().to_vec(), part.stack().height()), (vec![7, 8, 27, 28], 2));
        assert!(volume.plane(3).is_err());
    }
}
