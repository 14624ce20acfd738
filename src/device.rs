//! Devices, by name.

use crate::Machine;
use crate::auto::{Auto, Estimate};
use crate::backend::Backend;
use crate::filters::{Gaussian, Sigma};
use crate::{
    DeviceImage, DeviceInfo, DeviceName, FilterBuilder, Formula, GpuSet, HistogramBuilder, Mask, PixelType, Result,
    Shape, Source, Taps,
};
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// A device that runs operations. Cheap to clone, and usable from several threads.
///
/// An operation on an image, on the host or on a device, returns a builder; nothing runs before its `run`.
///
/// ```
/// use apron::{Border, Device, Image, PixelType};
///
/// let photo = Image::from_fn(64, 48, 3, |x, y, channel| (3 * x + 5 * y + 7 * channel) as u8)?;
/// let device = Device::auto(); // a GPU if there is one, else the CPU
/// let blurred = device.gaussian(&photo, 1.5).border(Border::Replicate).run()?; // stays on the device
/// let edges = device.sobel(&blurred, 1, 0).out_type(PixelType::I16).run()?;
/// let counts = device.histogram(&blurred).bins(16).per_channel(true).run()?;
/// assert_eq!((edges.download::<i16>()?.shape(), counts.channel(0).len()), (photo.shape(), 16));
/// # Ok::<(), apron::Error>(())
/// ```
///
/// Work on one GPU handle and its clones runs in order, on one stream; [`new_stream`](Device::new_stream) returns a
/// handle whose work may run concurrently.
#[derive(Clone)]
pub struct Device {
    pub(crate) backend: Backend,
    /// Why this device, if [`auto`](Device::auto) chose it; `None` if the caller named it.
    pub(crate) chosen: Option<String>,
    /// The estimates by which [`auto`](Device::auto) chose it for a job.
    pub(crate) estimate: Option<Estimate>,
    /// The choice that is made for each job, if this is [`auto`](Device::auto) where there may be a GPU; the
    /// backend is then the CPU.
    pub(crate) auto: Option<Arc<Auto>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).field("chosen", &self.chosen).finish()
    }
}

impl Device {
    /// Returns the device that chooses for each call: the first GPU or the CPU, whichever is [estimated](Estimate) to
    /// finish first; the bits are the same. For an image on the host, the estimate includes the copies. The GPU is
    /// opened by the first job for which it is chosen, or after many small jobs that it would have done sooner. Images
    /// on a GPU, and images that [`upload`](Device::upload) puts there, stay there. The CPU runs operations that the
    /// GPU does not support. The [`Report`](crate::Report) says which device was chosen, and why.
    ///
    /// ```
    /// use apron::{Device, DeviceName, Image};
    ///
    /// // Too small to wait for a GPU, which is not even opened.
    /// let blurred = Device::auto().gaussian(&Image::new(2, 1, 1, vec![0u8, 200])?, 1.0).run()?;
    /// assert_eq!(blurred.report()?.device, "cpu");
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn auto() -> Device {
        match Backend::find_gpu() {
            Ok(()) => Device { auto: Some(Arc::default()), chosen: Some("auto".into()), ..Device::cpu() },
            Err(error) => Device { chosen: Some(format!("auto: {error}")), ..Device::cpu() },
        }
    }

    fn of(backend: Backend) -> Device {
        Device { backend, chosen: None, estimate: None, auto: None }
    }

    /// Opens GPU number `ordinal`.
    ///
    /// # Errors
    /// [`Error::NoDevice`](crate::Error::NoDevice) where there is no driver, no such GPU, one too old, or no GPU
    /// support in this build.
    pub fn gpu(ordinal: u32) -> Result<Device> {
        Ok(Device::of(Backend::open_gpu(ordinal)?))
    }

    /// Opens several GPUs as one device. They share filters and histograms of images on the host, strip by strip; the
    /// results of these filters are on the host, too, and the bits are those of one GPU. A GPU that fails or has too
    /// little memory leaves its strips to the others, which is logged. An image that is already on one of the GPUs
    /// stays there; everything else runs on the first.
    ///
    /// ```no_run
    /// use apron::{Device, GpuSet, Image};
    ///
    /// let device = Device::gpus(GpuSet::all())?; // or GpuSet::new(&[0, 1])?
    /// let image = Image::from_fn(16384, 16384, 1, |x, y, _| (x ^ y) as f32)?;
    /// let blurred = device.gaussian(&image, 2.0).run()?.download::<f32>()?;
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`gpu`](Device::gpu), if one of them cannot be opened.
    pub fn gpus(set: GpuSet) -> Result<Device> {
        Ok(Device::of(Backend::open_gpus(set)?))
    }

    /// Returns each GPU of this device as a device: several for [`gpus`](Device::gpus), otherwise one. Other devices
    /// return themselves.
    pub fn members(&self) -> Vec<Device> {
        if self.auto.is_some() {
            return vec![self.clone()];
        }
        self.backend.members().into_iter().map(|backend| Device { backend, ..self.clone() }).collect()
    }

    /// Returns the device that uses all cores of the CPU.
    pub fn cpu() -> Device {
        Device::of(Backend::Cpu)
    }

    /// Returns the device that emulates and checks the GPU's kernels on the host: slow, for tests.
    pub fn emulator() -> Device {
        Device::of(Backend::Emulator)
    }

    /// Returns the device that runs the serial reference implementations.
    pub fn reference() -> Device {
        Device::of(Backend::Reference)
    }

    /// Opens the device of this name.
    ///
    /// # Errors
    /// As [`gpu`](Device::gpu).
    pub fn open(name: DeviceName) -> Result<Device> {
        match name {
            DeviceName::Auto => Ok(Device::auto()),
            DeviceName::Gpu(ordinal) => Device::gpu(ordinal),
            DeviceName::Gpus(set) => Device::gpus(set),
            DeviceName::Cpu => Ok(Device::cpu()),
            DeviceName::Emulator => Ok(Device::emulator()),
            DeviceName::Reference => Ok(Device::reference()),
        }
    }

    /// Returns the machine properties that the choice of kernels depends on; `None` unless the device is a GPU or the
    /// emulator.
    pub fn machine(&self) -> Option<Machine> {
        self.for_data().backend.machine()
    }

    /// Returns the name of this device; [`Auto`](DeviceName::Auto) if it chooses for each job.
    pub fn name(&self) -> DeviceName {
        if self.auto.is_some() { DeviceName::Auto } else { self.backend.name() }
    }

    /// Returns the backend that is open: the GPU, if `auto` has opened it, otherwise the device's own.
    fn opened(&self) -> &Backend {
        self.auto.as_ref().and_then(|auto| auto.opened()).unwrap_or(&self.backend)
    }

    /// Returns why [`auto`](Device::auto) chose this device; `None` if it did not.
    pub fn why_chosen(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    /// Returns a handle on the same device whose work is on a new stream.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver) if the driver cannot create a stream.
    pub fn new_stream(&self) -> Result<Device> {
        let device = self.for_data();
        Ok(Device { backend: device.backend.new_stream()?, ..device })
    }

    /// Returns a handle on the same device for concurrent work: on a GPU with a new stream. Unlike
    /// [`new_stream`](Device::new_stream), it returns `auto` itself, and opens no GPU.
    #[doc(hidden)]
    pub fn separate(&self) -> Result<Device> {
        if self.auto.is_some() { Ok(self.clone()) } else { self.new_stream() }
    }

    /// Waits until all work of this handle is done, and reports errors of kernels that failed.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver).
    pub fn synchronize(&self) -> Result<()> {
        self.opened().synchronize()
    }

    /// Copies an image to the device, for several operations that read it there.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) and [`Error::Driver`](crate::Error::Driver).
    pub fn upload<'a>(&self, image: impl Into<Source<'a>>) -> Result<DeviceImage> {
        self.for_data().backend.import(&image.into(), "upload")
    }

    /// Allocates an image of zeros on the device, for results to be [written into](FilterBuilder::run_into).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for an impossible shape, [`Error::OutOfMemory`](crate::Error::OutOfMemory)
    /// and [`Error::Driver`](crate::Error::Driver).
    pub fn zeros(&self, shape: Shape, pixel: PixelType) -> Result<DeviceImage> {
        self.for_data().backend.zeros(shape, pixel, 1)
    }

    /// Sets whether memory that is freed on this handle and its clones is kept for later allocations of the same size,
    /// instead of being returned to the driver; `false` returns what was kept. Repeated work on images of the same
    /// shapes then allocates GPU memory only the first time, masks, intermediate sums and counts included. Other
    /// devices ignore it.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let device = Device::auto();
    /// device.keep_memory(true);
    /// let frame = device.upload(&Image::new(4, 1, 1, vec![0u8, 8, 8, 0])?)?;
    /// let mut blurred = device.gaussian(&frame, 1.0).run()?;
    /// for _ in 0..3 {
    ///     device.gaussian(&frame, 1.0).run_into(&mut blurred)?; // allocates nothing
    /// }
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn keep_memory(&self, keep: bool) {
        self.for_data().backend.keep_memory(keep);
    }

    /// Returns the number of allocations from the GPU's driver since the device was opened: for tests.
    #[doc(hidden)]
    pub fn allocations(&self) -> u64 {
        self.opened().allocations()
    }

    /// Correlates an image with a dense mask: each output sample is the sum of the products of the taps and the samples
    /// under them, with the mask's anchor over that sample.
    ///
    /// ```
    /// use apron::{Device, Image, Mask};
    ///
    /// let image = Image::new(4, 1, 1, vec![0.0f32, 0.0, 1.0, 3.0])?;
    /// let mask: Mask = "-1 0 1".parse()?;
    /// let difference = Device::cpu().correlate(&image, &mask).run()?;
    /// assert_eq!(difference.download::<f32>()?.row(0), [0.0, 1.0, 3.0, 0.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn correlate<'a>(&'a self, image: impl Into<Source<'a>>, mask: impl Borrow<Mask>) -> FilterBuilder<'a> {
        FilterBuilder::new(self, image.into(), Formula::Dense(mask.borrow().clone()))
    }

    /// Convolves an image with a dense mask: correlates with the mask rotated by 180 degrees, as SciPy's `convolve`.
    ///
    /// ```
    /// use apron::{Border, Device, Image, Mask};
    ///
    /// let image = Image::new(4, 1, 1, vec![0.0f32, 1.0, 0.0, 0.0])?;
    /// let mask = Mask::from_rows([[1.0, 2.0, 3.0]])?;
    /// let spread = Device::cpu().convolve(&image, &mask).border(Border::Constant(0.0)).run()?;
    /// assert_eq!(spread.download::<f32>()?.row(0), [1.0, 2.0, 3.0, 0.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn convolve<'a>(&'a self, image: impl Into<Source<'a>>, mask: impl Borrow<Mask>) -> FilterBuilder<'a> {
        FilterBuilder::new(self, image.into(), Formula::Dense(mask.borrow().clone().flipped()))
    }

    /// Correlates an image with separable taps: `taps_x` along the rows, then `taps_y` along the columns.
    ///
    /// ```
    /// use apron::{Device, Image, Taps};
    ///
    /// let image = Image::new(3, 3, 1, vec![0.0f32, 0.0, 0.0, 0.0, 16.0, 0.0, 0.0, 0.0, 0.0])?;
    /// let binomial = Taps::new([0.25, 0.5, 0.25])?;
    /// let blurred = Device::cpu().separable(&image, &binomial, &binomial).run()?;
    /// assert_eq!(blurred.download::<f32>()?.row(1), [4.0, 4.0, 4.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn separable<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        taps_x: impl Borrow<Taps>,
        taps_y: impl Borrow<Taps>,
    ) -> FilterBuilder<'a> {
        let formula = Formula::Separable(taps_x.borrow().clone(), taps_y.borrow().clone());
        FilterBuilder::new(self, image.into(), formula)
    }

    /// Blurs an image by a Gaussian with standard deviation `sigma` in pixels, or `(x, y)` per axis; cut off at 4 sigma
    /// unless [`truncate`](FilterBuilder::truncate) is set: SciPy's `gaussian_filter`.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let spot = Image::new(3, 3, 1, vec![0u8, 0, 0, 0, 90, 0, 0, 0, 0])?;
    /// let along_rows = Device::cpu().gaussian(&spot, (1.0, 0.0)).truncate(2.0).run()?.download::<u8>()?;
    /// assert_eq!((along_rows.row(0), along_rows.row(1)[0] > 0), (&[0, 0, 0][..], true));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn gaussian<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        sigma: impl Into<Sigma>,
    ) -> FilterBuilder<'a, Gaussian> {
        FilterBuilder::new(self, image.into(), Gaussian::new(sigma, (0, 0)))
    }

    /// Averages over windows of `width` x `height` pixels: for u8 the exact quotient, rounded.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![0u8, 3, 6, 9])?;
    /// let means = Device::cpu().box_filter(&image, 3, 1).run()?;
    /// assert_eq!(means.download::<u8>()?.row(0), [2, 3, 6, 7]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn box_filter<'a>(&'a self, image: impl Into<Source<'a>>, width: u32, height: u32) -> FilterBuilder<'a> {
        FilterBuilder::new(self, image.into(), Formula::Mean(width, height))
    }

    /// Counts an image's samples in bins, for all channels together by default.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(2, 2, 1, vec![0u8, 7, 7, 255])?;
    /// let histogram = Device::cpu().histogram(&image).run()?;
    /// assert_eq!((histogram.counts()[7], histogram.counts()[255]), (2, 1));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn histogram<'a>(&'a self, image: impl Into<Source<'a>>) -> HistogramBuilder<'a> {
        HistogramBuilder::new(self, image.into())
    }
}

/// Lists every GPU that the driver shows.
///
/// # Errors
/// [`Error::NoDevice`](crate::Error::NoDevice) where there is no driver, it shows no GPU, or this
/// build has no GPU support.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    crate::backend::devices()
}

/// Returns the target of the PTX that a GPU would load, as ten times the compute capability: 90 for sm_90. `None` for a
/// GPU that is too old.
pub fn ptx_target(info: &DeviceInfo) -> Option<u32> {
    crate::backend::ptx_target(info)
}
