//! Operations on the values of samples: their builder.

use crate::auto::Job;
use crate::backend::{Solved, Tables};
use crate::choice::Choice;
use crate::setters::setters;
use crate::target::Room;
use crate::{Device, DeviceImage, Error, Histogram, PixelType, Result, Source, Target};

/// An operation on sample values that is ready to [`run`](LookupBuilder::run).
#[derive(Debug)]
#[must_use = "an operation does nothing until it is run"]
pub struct LookupBuilder<'a> {
    pub(crate) device: &'a Device,
    pub(crate) source: Source<'a>,
    pub(crate) lookup: Result<Asked>,
    pub(crate) choice: Choice<'a>,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Tables(Tables),
    /// The tables that give the image these counts; its own are taken when they are needed.
    Matching(Histogram),
}

setters! { ['a] LookupBuilder<'a>: variant(choice) }

impl<'a> LookupBuilder<'a> {
    fn new(device: &'a Device, source: Source<'a>, tables: Tables) -> Self {
        LookupBuilder::asked(device, source, Ok(Asked::Tables(tables)))
    }

    fn asked(device: &'a Device, source: Source<'a>, lookup: Result<Asked>) -> Self {
        LookupBuilder { device, source, lookup, choice: Choice::default() }
    }

    /// Runs the operation. On a GPU it returns when the work is enqueued.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for parameters out of range,
    /// [`Error::PixelType`](crate::Error::PixelType) for sample types that the operation does not take,
    /// [`Error::Unsupported`](crate::Error::Unsupported) for what the device does not support, and errors of the device
    /// itself.
    pub fn run(self) -> Result<DeviceImage> {
        self.solved(None).map(Solved::into_image)
    }

    /// Runs the operation, and writes its result into an existing image, as
    /// [`Filter::run_into`](crate::FilterBuilder::run_into).
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let negative: Vec<u8> = (0..=255).rev().collect();
    /// let image = Image::new(2, 1, 1, vec![0u8, 55])?;
    /// let mut result = Image::new(2, 1, 1, vec![0u8; 2])?;
    /// Device::cpu().lookup(&image, negative).run_into(&mut result)?;
    /// assert_eq!(result.row(0), [255, 200]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](LookupBuilder::run), and [`Error::Parameter`](crate::Error::Parameter) for an image of another shape
    /// or type, or a shared one.
    pub fn run_into<'t>(self, target: impl Into<Target<'t>>) -> Result<()> {
        target.into().fill(|mut room| self.solved(Some(&mut room)).map(|solved| solved.made))
    }

    pub(crate) fn solved(self, mut room: Option<&mut Room<'_>>) -> Result<Solved> {
        let LookupBuilder { device, source, lookup, choice } = self;
        let lookup = match lookup? {
            Asked::Tables(tables) => tables,
            Asked::Matching(reference) => Tables::Lookup(apron_core::matching(&counts(device, &source)?, &reference)?),
        };
        let has_room = room.is_some();
        let job = || Job::mapping(&source, has_room);
        device.by_cost(&[&source], &choice, job, |device| {
            device.with_fallback(|backend| backend.look_up(&lookup, &source, &choice, room.as_deref_mut()))
        })
    }
}

impl Device {
    /// Replaces each sample of a u8 image by its entry in `tables`: 256 bytes for all channels, or 256 per channel.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let negative: Vec<u8> = (0..=255).rev().collect();
    /// let image = Image::new(2, 1, 1, vec![0u8, 55])?;
    /// let result = Device::cpu().lookup(&image, negative).run()?;
    /// assert_eq!(result.download::<u8>()?.row(0), [255, 200]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn lookup<'a>(&'a self, image: impl Into<Source<'a>>, tables: impl Into<Vec<u8>>) -> LookupBuilder<'a> {
        LookupBuilder::new(self, image.into(), Tables::Lookup(tables.into()))
    }

    /// Equalises the histogram of each channel of a u8 image: OpenCV's `equalizeHist`, bit for bit. On a GPU neither
    /// the image nor its histogram is copied to the host.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![7u8, 9, 9, 200])?;
    /// // Of three samples above the least, two are at most 9: 255 * 2 / 3.
    /// assert_eq!(Device::cpu().equalize(&image).run()?.download::<u8>()?.row(0), [0, 170, 170, 255]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn equalize<'a>(&'a self, image: impl Into<Source<'a>>) -> LookupBuilder<'a> {
        LookupBuilder::new(self, image.into(), Tables::Equalize)
    }

    /// Equalises each channel of a u8 or u16 image by contrast limited adaptive histogram equalisation, with `tiles`
    /// across and down, and counts limited to `clip` times their mean (0 for no limit): OpenCV's `createCLAHE`, bit for
    /// bit.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// // One tile, no limit: the share of samples that are not above a value, times 255.
    /// let image = Image::new(2, 2, 1, vec![10u8, 20, 20, 30])?;
    /// let result = Device::cpu().clahe(&image, 0.0, (1, 1)).run()?;
    /// assert_eq!(result.download::<u8>()?.packed()[..], [64, 191, 191, 255]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn clahe<'a>(&'a self, image: impl Into<Source<'a>>, clip: f64, tiles: (u32, u32)) -> LookupBuilder<'a> {
        LookupBuilder::new(self, image.into(), Tables::Clahe { clip, tiles })
    }

    /// Gives each channel of a u8 image the histogram of the same channel of `reference`, a u8 image of any size: as
    /// scikit-image's `match_histograms` with a channel axis, with results truncated to integers.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![1u8, 1, 2, 3])?;
    /// let reference = Image::new(2, 2, 1, vec![50u8, 50, 100, 200])?;
    /// let result = Device::cpu().match_histogram(&image, &reference).run()?;
    /// assert_eq!(result.download::<u8>()?.row(0), [50, 50, 100, 200]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn match_histogram<'a, 'r>(
        &'a self,
        image: impl Into<Source<'a>>,
        reference: impl Into<Source<'r>>,
    ) -> LookupBuilder<'a> {
        let source = image.into();
        let reference = check(&source).and_then(|()| counts(self, &reference.into()));
        LookupBuilder::asked(self, source, reference.map(Asked::Matching))
    }
}

/// Checks that an image that is matched, or a reference, is of bytes.
fn check(source: &Source<'_>) -> Result<()> {
    match source.pixel_type() {
        PixelType::U8 => Ok(()),
        found => Err(Error::PixelType { operation: "match", found, expected: "u8".into() }),
    }
}

/// Counts the bytes of each channel.
fn counts(device: &Device, source: &Source<'_>) -> Result<Histogram> {
    check(source)?;
    device.histogram(source.view()).per_channel(true).run()
}
