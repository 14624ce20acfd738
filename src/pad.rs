//! Padding: its builder.

use crate::auto::Job;
use crate::backend::Solved;
use crate::choice::Choice;
use crate::setters::setters;
use crate::target::Room;
use crate::{Borders, Device, DeviceImage, Region, Result, Source, Target};
use apron_core::{FilterProblem, Pad};

/// A padding that is ready to [`run`](PadBuilder::run), with defaults that may be changed before.
#[derive(Debug)]
#[must_use = "an image is not padded until it is run"]
pub struct PadBuilder<'a> {
    device: &'a Device,
    source: Source<'a>,
    region: Region,
    borders: Borders,
    choice: Choice<'a>,
}

setters! { ['a] PadBuilder<'a>: variant(choice) }

impl PadBuilder<'_> {
    /// Sets what lies outside the image, as for [filters](crate::FilterBuilder::border);
    /// [`Border::Reflect101`](crate::Border::Reflect101) by default. Along an axis with border crop the region has to
    /// be inside.
    pub fn border(mut self, border: impl Into<Borders>) -> Self {
        self.borders = border.into();
        self
    }

    /// Copies the pixels. On a GPU it returns when the work is enqueued.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for a region that is empty or too far outside, for constants that
    /// the sample type cannot represent, and for more or fewer constants than channels; and errors of the device
    /// itself.
    pub fn run(self) -> Result<DeviceImage> {
        self.solved(None).map(Solved::into_image)
    }

    /// Copies the pixels into an existing image of the region's size, as
    /// [`Filter::run_into`](crate::FilterBuilder::run_into).
    ///
    /// ```
    /// use apron::{Border, Device, Image, Region};
    ///
    /// let image = Image::new(2, 1, 1, vec![3u8, 7])?;
    /// let mut framed = Image::new(4, 1, 1, vec![0u8; 4])?;
    /// let wider = Region { x: -1, y: 0, width: 4, height: 1 };
    /// Device::cpu().pad(&image, wider).border(Border::Replicate).run_into(&mut framed)?;
    /// assert_eq!(framed.row(0), [3, 3, 7, 7]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](PadBuilder::run), and [`Error::Parameter`](crate::Error::Parameter) for an image of another shape or
    /// type, or a shared one.
    pub fn run_into<'t>(self, target: impl Into<Target<'t>>) -> Result<()> {
        target.into().fill(|mut room| self.solved(Some(&mut room)).map(|solved| solved.made))
    }

    fn solved(self, mut room: Option<&mut Room<'_>>) -> Result<Solved> {
        let PadBuilder { device, source, region, borders, choice } = self;
        let problem = FilterProblem::Pad(Pad { shape: source.shape(), pixel: source.pixel_type(), borders, region });
        let has_room = room.is_some();
        let job = || Job::of(vec![problem.clone()], &source, has_room);
        device.by_cost(&[&source], &choice, job, |device| {
            device.with_fallback(|backend| backend.filter(&problem, "", &source, None, &choice, room.as_deref_mut()))
        })
    }
}

impl Device {
    /// Copies a region of the plane that contains the image: OpenCV's `copyMakeBorder`, NumPy's `pad`. Sample values do
    /// not change.
    ///
    /// ```
    /// use apron::{Border, Constants, Device, Image, Region};
    ///
    /// let image = Image::new(2, 1, 3, vec![1u8, 2, 3, 4, 5, 6])?;
    /// let wider = Region { x: -1, y: 0, width: 4, height: 1 };
    /// let device = Device::cpu();
    /// let framed = device.pad(&image, wider).border(Constants::new(&[255.0, 0.0, 9.0])?).run()?;
    /// assert_eq!(framed.download::<u8>()?.row(0), [255, 0, 9, 1, 2, 3, 4, 5, 6, 255, 0, 9]);
    /// let twice = device.pad(&image, wider).border(Border::Wrap).run()?;
    /// assert_eq!(twice.download::<u8>()?.row(0), [4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn pad<'a>(&'a self, image: impl Into<Source<'a>>, region: Region) -> PadBuilder<'a> {
        PadBuilder {
            device: self,
            source: image.into(),
            region,
            borders: Borders::default(),
            choice: Choice::default(),
        }
    }
}
