//! Volumes: images of three dimensions, on the host and on devices, and their filters.
//!
//! Axes are x, y and z, in this order in every argument: columns, rows and planes. NumPy's arrays have them the other
//! way round, as (depth, height, width).
//!
//! ```
//! use apron::volumes::{self, Volume};
//! use apron::{Border, Device};
//!
//! let scan = Volume::from_fn(6, 5, 4, 1, |x, y, z, _| (x + 2 * y + 3 * z) as f32)?;
//! let device = Device::cpu();
//! let blurred = device.filter_volume(&scan, volumes::gaussian([1.0, 1.0, 0.5], [0; 3], 4.0)?).run()?; // stays on the device
//! let edges = device.filter_volume(&blurred, volumes::sobel(2)?).border(Border::Replicate).run()?;
//! assert_eq!(edges.download::<f32>()?.shape(), scan.shape());
//! # Ok::<(), apron::Error>(())
//! ```

mod filter;
mod formulas;
mod named;
pub(crate) mod parts;
mod stored;

pub use apron_core::{
    AnyVolume, Slice, Volume, VolumeBorders, VolumeExtent, VolumeFormula, VolumeMask, VolumeRegion, VolumeShape,
    VolumeWeights,
};
pub use filter::VolumeFilterBuilder;
pub use formulas::*;
pub(crate) use named::Form;
pub use named::{formula, is_value, names};

use crate::{Device, DeviceImage, Error, Image, Pixel, PixelType, Report, Result, Source};
use apron_core::unstacked;

/// A volume on a device: the result of a filter, or of [`Device::upload_volume`].
///
/// Clones share the samples, which never change.
#[derive(Clone, Debug)]
pub struct DeviceVolume {
    stack: DeviceImage,
    depth: u32,
}

impl DeviceVolume {
    /// Returns width, height, depth and channels.
    pub fn shape(&self) -> VolumeShape {
        let shape = self.stack.shape();
        VolumeShape {
            width: shape.width,
            height: shape.height / self.depth,
            depth: self.depth,
            channels: shape.channels,
        }
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.stack.pixel_type()
    }

    /// Returns the planes, one below the other, as an image: for histograms, statistics and pointwise operations.
    ///
    /// ```
    /// use apron::{Device, volumes::Volume};
    ///
    /// let device = Device::cpu();
    /// let volume = device.upload_volume(&Volume::new(1, 1, 3, 1, vec![7u8, 7, 9])?)?;
    /// assert_eq!(device.histogram(volume.stack()).run()?.counts()[7], 2);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn stack(&self) -> &DeviceImage {
        &self.stack
    }

    /// Makes a volume of an image of its planes, one below the other.
    ///
    /// # Errors
    /// [`Error::Shape`] for a height that is no multiple of the depth, and for a batch.
    pub fn from_stack(stack: DeviceImage, depth: u32) -> Result<DeviceVolume> {
        stack.check_alone("volume")?;
        unstacked(stack.shape(), depth)?;
        Ok(DeviceVolume { stack, depth })
    }

    /// Returns plane `z` as an image, which on a GPU shares the samples.
    ///
    /// # Errors
    /// [`Error::Shape`] for a plane that there is not.
    pub fn plane(&self, z: u32) -> Result<DeviceImage> {
        let VolumeShape { width, height, .. } = self.shape();
        self.stack.region(0, z.saturating_mul(height), width, height)
    }

    /// Waits for all work on the volume, and copies the samples to the host.
    ///
    /// # Errors
    /// [`Error::PixelType`] where `T` is not the volume's type, and [`Error::Driver`], also for a kernel that failed.
    pub fn download<T: Pixel>(&self) -> Result<Volume<'static, T>> {
        Volume::from_stack(self.stack.download()?, self.depth)
    }

    /// Copies the samples to the host, whatever their type, or moves them if they are there and
    /// this is the only handle.
    ///
    /// # Errors
    /// [`Error::Driver`], also for a kernel that failed.
    pub fn into_host(self) -> Result<AnyVolume<'static>> {
        AnyVolume::new(self.stack.into_host()?, self.depth)
    }

    /// Returns the report of the operation that made this volume; waits for its kernels.
    ///
    /// # Errors
    /// [`Error::Driver`], for a kernel that failed.
    pub fn report(&self) -> Result<Report> {
        self.stack.report()
    }
}

/// The input of a filter: a volume on the host or on a device, converted from a reference to either.
#[derive(Debug)]
pub struct VolumeSource<'a> {
    pub(crate) stack: Source<'a>,
    pub(crate) depth: u32,
}

impl<'a, T: Pixel> From<&'a Volume<'_, T>> for VolumeSource<'a> {
    fn from(volume: &'a Volume<'_, T>) -> Self {
        let stack: Image<'a, T> = volume.stack();
        VolumeSource { stack: Source::Host(T::into_any(stack)), depth: volume.shape().depth }
    }
}

impl<'a> From<&'a AnyVolume<'_>> for VolumeSource<'a> {
    fn from(volume: &'a AnyVolume<'_>) -> Self {
        VolumeSource { stack: Source::Host(volume.stack()), depth: volume.shape().depth }
    }
}

impl<'a> From<&'a DeviceVolume> for VolumeSource<'a> {
    fn from(volume: &'a DeviceVolume) -> Self {
        VolumeSource { stack: Source::Device(&volume.stack), depth: volume.depth }
    }
}

impl<'a> VolumeSource<'a> {
    /// Makes a source of an image of planes, one below the other; of [`ReadRows`](crate::ReadRows), too.
    ///
    /// # Errors
    /// [`Error::Shape`] for a height that is no multiple of the depth.
    pub fn from_stack(stack: impl Into<Source<'a>>, depth: u32) -> Result<VolumeSource<'a>> {
        let stack = stack.into();
        unstacked(stack.shape(), depth)?;
        Ok(VolumeSource { stack, depth })
    }

    /// Returns width, height, depth and channels.
    ///
    /// # Errors
    /// [`Error::Shape`] for planes that are not alike.
    pub fn shape(&self) -> Result<VolumeShape> {
        unstacked(self.stack.shape(), self.depth)
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.stack.pixel_type()
    }
}

impl Device {
    /// Copies a volume to the device, for several filters that read it there.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn upload_volume<'a>(&self, volume: impl Into<VolumeSource<'a>>) -> Result<DeviceVolume> {
        let VolumeSource { stack, depth } = volume.into();
        Ok(DeviceVolume { stack: self.upload(stack)?, depth })
    }

    /// Allocates a volume of zeros on the device, for results to be [written into](VolumeFilterBuilder::run_into).
    ///
    /// # Errors
    /// [`Error::Shape`] for an impossible shape, [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn zeros_volume(&self, shape: VolumeShape, pixel: PixelType) -> Result<DeviceVolume> {
        let VolumeShape { width, height, depth, channels } = shape;
        let shape = VolumeShape::new(width, height, depth, channels)?;
        Ok(DeviceVolume { stack: self.zeros(shape.stacked(), pixel)?, depth })
    }

    /// Filters a volume: by one of the formulas of [`volumes`](crate::volumes), or by weights of one's own.
    ///
    /// ```
    /// use apron::volumes::{Volume, VolumeFormula, VolumeMask};
    /// use apron::{Border, Device};
    ///
    /// let volume = Volume::new(1, 1, 4, 1, vec![0.0f32, 0.0, 1.0, 3.0])?;
    /// let difference = VolumeMask::new(1, 1, 3, [-1.0, 0.0, 1.0])?; // along the planes
    /// let device = Device::cpu();
    /// let filter = device.filter_volume(&volume, VolumeFormula::dense(difference)).border(Border::Replicate);
    /// assert_eq!(filter.run()?.download::<f32>()?.packed()[..], [0.0, 1.0, 3.0, 2.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn filter_volume<'a>(
        &'a self,
        volume: impl Into<VolumeSource<'a>>,
        formula: VolumeFormula,
    ) -> VolumeFilterBuilder<'a> {
        VolumeFilterBuilder::new(self, volume.into(), formula)
    }
}

/// Returns the error for an axis that there is not.
fn wrong_axis(operation: &'static str, axis: usize) -> Error {
    Error::parameter(operation, "axis", axis, "0 for x, 1 for y or 2 for z")
}
