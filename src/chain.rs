//! Chains: operations that are recorded once and run many times.

#[cfg(feature = "gpu")]
use crate::backend::Backend;
use crate::{Device, DeviceImage, Error, Result, Source};
use std::fmt;
use std::time::{Duration, Instant};

const OPERATION: &str = "record";

/// Operations on an image, recorded by [`Device::record`]; a GPU runs them as one graph, by one launch.
pub struct Chain<'a, T> {
    input: DeviceImage,
    results: Option<T>,
    runs: Runs<'a, T>,
}

impl<T> fmt::Debug for Chain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("input", &self.input).finish_non_exhaustive()
    }
}

type Work<'a, T> = Box<dyn Fn(&Device, &DeviceImage) -> Result<T> + Send + 'a>;

/// How a run computes the results.
enum Runs<'a, T> {
    /// Calls `work` at each run; `took` is the time of the last one.
    Calls { device: Device, work: Work<'a, T>, took: Duration },
    #[cfg(feature = "gpu")]
    Graph { recorded: apron_gpu::Recorded, last: Option<apron_gpu::Timer> },
}

impl Device {
    /// Records what `work` does with `image`: operations of the device that it is given, on that image and on their
    /// results. `work` returns the results that are wanted, such as images or
    /// [histograms](crate::HistogramBuilder::enqueue). A GPU then runs all of it by one launch, without gaps between
    /// the kernels; other devices call `work` at each run.
    ///
    /// For a GPU, `work` is called here, exactly twice; masks and parameters are recorded with their current values.
    /// All images in it, dropped ones included, occupy device memory as long as the chain exists. During the recording
    /// no thread may use the legacy stream of that GPU, as the synchronous copies of `cust` do: such a call fails, and
    /// invalidates the recording.
    ///
    /// ```
    /// use apron::{filters, Device, Image};
    ///
    /// let device = Device::cpu();
    /// let frame = Image::new(2, 1, 1, vec![0u8, 200])?;
    /// let mut chain = device.record(&frame, |device, frame| {
    ///     let blurred = device.gaussian(frame, 1.0).run()?;
    ///     device.histogram(&blurred).enqueue()
    /// })?;
    /// assert_eq!(chain.run()?.download()?.counts()[0], 0);
    /// chain.load(&Image::new(2, 1, 1, vec![0u8, 0])?)?;
    /// assert_eq!(chain.run()?.download()?.counts()[0], 2);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of `work`. On a GPU also [`Error::Unsupported`] for what cannot be recorded: reading a result (as f32
    /// histograms without a range do), images from elsewhere, variants whose launches share a texture or constant
    /// memory.
    pub fn record<'a, 'i, T>(
        &self,
        image: impl Into<Source<'i>>,
        work: impl Fn(&Device, &DeviceImage) -> Result<T> + Send + 'a,
    ) -> Result<Chain<'a, T>> {
        let device = self.for_data();
        let input = device.backend.import(&image.into(), OPERATION)?;
        #[cfg(feature = "gpu")]
        if let Backend::Gpu(gpu) = &device.backend {
            // Compiles the kernels, and reports errors of the work.
            work(&device, &input)?;
            let ((own, results), recorded) = gpu.record(|gpu| {
                let device = Device { backend: Backend::Gpu(gpu.clone()), ..device.clone() };
                let own = device.backend.room_for(&input, OPERATION)?;
                let results = work(&device, &own)?;
                Ok((own, results))
            })?;
            let runs = Runs::Graph { recorded, last: None };
            let mut chain = Chain { input: own, results: Some(results), runs };
            chain.load(&input)?;
            return Ok(chain);
        }
        let runs = Runs::Calls { device, work: Box::new(work), took: Duration::ZERO };
        Ok(Chain { input, results: None, runs })
    }
}

impl<T> Chain<'_, T> {
    /// Replaces the image that the chain starts with.
    ///
    /// # Errors
    /// [`Error::Parameter`] for one of another shape or type, and [`Error::Driver`].
    pub fn load<'i>(&mut self, image: impl Into<Source<'i>>) -> Result<()> {
        let image = image.into();
        let (shape, pixel) = (self.input.shape(), self.input.pixel_type());
        if image.images() != self.input.images() {
            let (value, limit) = (image.images().to_string(), self.input.images().to_string());
            return Err(Error::Shape { what: "number of images", value, limit });
        }
        if (image.shape(), image.pixel_type()) != (shape, pixel) {
            let (value, limit) = (format!("{} {}", image.pixel_type(), image.shape()), format!("{pixel} {shape}"));
            return Err(Error::parameter(OPERATION, "image", value, limit));
        }
        match &self.runs {
            Runs::Calls { device, .. } => self.input = device.backend.import(&image, OPERATION)?,
            #[cfg(feature = "gpu")]
            Runs::Graph { .. } => self.input.overwrite(&image)?,
        }
        Ok(())
    }

    /// Runs the chain, and returns its results, which the next run overwrites. On a GPU it returns when the work is
    /// enqueued: reading a result waits for it.
    ///
    /// # Errors
    /// The errors of the work, and [`Error::Driver`].
    pub fn run(&mut self) -> Result<&T> {
        match &mut self.runs {
            Runs::Calls { device, work, took } => {
                let start = Instant::now();
                self.results = Some(work(device, &self.input)?);
                *took = start.elapsed();
            }
            #[cfg(feature = "gpu")]
            Runs::Graph { recorded, last } => *last = Some(recorded.run()?),
        }
        Ok(self.results.as_ref().expect("there since the chain was recorded, or since now"))
    }

    /// Returns the time of the last run, on a GPU from its first kernel to its last; waits for it. Zero before the
    /// first run.
    ///
    /// # Errors
    /// [`Error::Driver`], for a kernel that failed.
    pub fn elapsed(&self) -> Result<Duration> {
        match &self.runs {
            Runs::Calls { took, .. } => Ok(*took),
            #[cfg(feature = "gpu")]
            Runs::Graph { last, .. } => last.as_ref().map_or(Ok(Duration::ZERO), apron_gpu::Timer::elapsed),
        }
    }
}
