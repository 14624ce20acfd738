//! Filters: a problem in the making.

use crate::alpha::Alpha;
use crate::backend::Solved;
use crate::choice::Choice;
use crate::formula::Evaluation;
use crate::target::Room;
use crate::{
    Border, Borders, Device, DeviceImage, Error, Extent, Mask, Method, PixelType, Result, Shape, Source, Taps, Target,
    Tuning,
};
use apron_core::{BoxFilter, ByMethod, Correlate, Formula, LocalStd, Padded, Problem, Scale, Separable};

enum Weights {
    Dense(Mask),
    Separable(Result<(Taps, Taps)>),
    /// A mean over so many columns and rows.
    Mean(u32, u32),
    /// A standard deviation over so many columns and rows.
    Deviation(u32, u32),
    /// What a named filter computes.
    Formula(Result<Formula>),
}

/// A filter that is ready to [`run`](Filter::run), with defaults that may be changed before.
#[must_use = "a filter does nothing until it is run"]
pub struct Filter<'a> {
    device: &'a Device,
    source: Source<'a>,
    weights: Weights,
    borders: Borders,
    extent: Extent,
    out_type: Option<PixelType>,
    clamp: bool,
    keep_alpha: bool,
    method: Option<Method>,
    choice: Choice<'a>,
}

impl<'a> Filter<'a> {
    pub(crate) fn dense(device: &'a Device, source: Source<'a>, mask: Mask) -> Self {
        Filter::new(device, source, Weights::Dense(mask))
    }

    pub(crate) fn separable(device: &'a Device, source: Source<'a>, taps: Result<(Taps, Taps)>) -> Self {
        Filter::new(device, source, Weights::Separable(taps))
    }

    pub(crate) fn mean(device: &'a Device, source: Source<'a>, width: u32, height: u32) -> Self {
        Filter::new(device, source, Weights::Mean(width, height))
    }

    pub(crate) fn deviation(device: &'a Device, source: Source<'a>, width: u32, height: u32) -> Self {
        Filter::new(device, source, Weights::Deviation(width, height))
    }

    pub(crate) fn formula(device: &'a Device, source: Source<'a>, formula: Result<Formula>) -> Self {
        Filter::new(device, source, Weights::Formula(formula))
    }

    /// The same with another formula.
    pub(crate) fn of(self, formula: Result<Formula>) -> Self {
        Filter { weights: Weights::Formula(formula), ..self }
    }

    /// The type of the input's samples.
    pub(crate) fn src(&self) -> PixelType {
        self.source.pixel_type()
    }

    fn new(device: &'a Device, source: Source<'a>, weights: Weights) -> Self {
        Filter {
            device,
            source,
            weights,
            borders: Borders::default(),
            extent: Extent::default(),
            out_type: None,
            clamp: false,
            keep_alpha: false,
            method: None,
            choice: Choice::default(),
        }
    }

    /// What lies outside the image, in both axes or by [axis](Borders), of all channels or [by
    /// channel](crate::Constants); [`Border::Reflect101`] if not said. Where axes or channels differ, the filter is that
    /// of a padded copy of the image, and constants are samples of such images.
    ///
    /// ```
    /// use apron::{Border, Borders, Device, Image};
    ///
    /// let image = Image::new(2, 2, 1, vec![1.0f32, 2.0, 10.0, 20.0])?;
    /// let (mask, borders) = ("0 0 0; 1 0 0; 0 0 100".parse()?, Borders::by_axis(Border::Wrap, Border::Constant(7.0)));
    /// let out = Device::cpu().correlate(&image, mask).border(borders).run()?;
    /// // Left of 1 is 2, right of 20 is 10, and below is 7.
    /// assert_eq!(out.download::<f32>()?.packed().as_ref(), [2.0 + 2000.0, 1.0 + 1000.0, 720.0, 710.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn border(mut self, border: impl Into<Borders>) -> Self {
        self.borders = border.into();
        self
    }

    /// Which pixels are computed; those of the image if not said.
    ///
    /// ```
    /// use apron::{Border, Device, Extent, Image, Region};
    ///
    /// let image = Image::new(4, 1, 1, vec![9u8, 1, 3, 9])?;
    /// let mean = |extent| Device::cpu().box_filter(&image, 2, 1).border(Border::Constant(0.0)).extent(extent).run();
    /// // Of 9, 1 and of 1, 3; the region alone, as an image, would have 3 or nothing before its first pixel.
    /// let region = mean(Extent::Region(Region { x: 1, y: 0, width: 2, height: 1 }))?;
    /// assert_eq!(region.download::<u8>()?.row(0), [5, 2]);
    /// assert_eq!(mean(Extent::Full)?.download::<u8>()?.row(0), [4, 5, 2, 6, 4]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn extent(mut self, extent: Extent) -> Self {
        self.extent = extent;
        self
    }

    /// Sample type of the output; the input's if not said. Integers round half to even and saturate.
    pub fn out_type(mut self, pixel: PixelType) -> Self {
        self.out_type = Some(pixel);
        self
    }

    /// Limits each sum to 0 to 1; for f32 output of dense masks.
    pub fn clamp(mut self, clamp: bool) -> Self {
        self.clamp = clamp;
        self
    }

    /// Leaves the last of two or four channels alone: it is the input's sample under the window's anchor, converted to
    /// the output's type.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 2, vec![0u8, 255, 30, 128, 90, 7])?;
    /// let mean = Device::cpu().box_filter(&image, 3, 1).keep_alpha(true).run()?;
    /// assert_eq!(mean.download::<u8>()?.row(0), [20, 255, 40, 128, 50, 7]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn keep_alpha(mut self, keep_alpha: bool) -> Self {
        self.keep_alpha = keep_alpha;
        self
    }

    /// Asks for a method, instead of the one that suits the problem.
    pub fn method(mut self, method: impl Into<Option<Method>>) -> Self {
        self.method = method.into();
        self
    }

    /// Asks for an implementation by name, instead of the one that the environment variable `APRON_VARIANT` names or
    /// the plan prefers; and so, unless one is asked for, for its method.
    pub fn variant(mut self, name: impl Into<Option<&'a str>>) -> Self {
        self.choice.variant = name.into();
        self
    }

    /// Gives the numbers of the kernels' grid, where the variant leaves some open, instead of those that were
    /// measured: for a sweep.
    pub fn tuning(mut self, tuning: impl Into<Option<Tuning>>) -> Self {
        self.choice.tuning = tuning.into();
        self
    }

    /// Columns and rows of the window from which an output pixel is computed; of the largest one where there are several.
    pub fn window(&self) -> (u32, u32) {
        self.weights.window()
    }

    /// Taps that make a sample, if all are multiplied: those of both axes where they are separable, and 4 for a mean or a
    /// standard deviation, whose sums are running.
    pub fn taps(&self) -> u64 {
        self.weights.taps()
    }

    /// Runs the filter. On a GPU it returns when the work is enqueued.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that can never be right and for a method that the problem does not allow,
    /// [`Error::Shape`] for full output that is too large and for alpha to be kept of one or three channels,
    /// [`Error::NoWindow`] where border crop leaves nothing, [`Error::Unsupported`] for what the device does not have,
    /// and the device's own troubles.
    pub fn run(self) -> Result<DeviceImage> {
        self.solved(None).map(Solved::into_image)
    }

    /// Runs the filter, and writes its result into an image that is there: of the result's shape and type, on any device
    /// or on the host, and not shared, since what others see never changes. So repeated work takes no new memory: on
    /// a GPU with [`Device::keep_memory`] none at all.
    ///
    /// The result is written where it belongs without a copy if the image is on the device of the filter and, on a GPU,
    /// its rows lie without gaps from a multiple of 16 bytes on, in memory that the filter does not read.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let device = Device::cpu();
    /// let mut mean = device.box_filter(&Image::new(3, 1, 1, vec![3u8, 3, 9])?, 3, 1).run()?;
    /// device.box_filter(&Image::new(3, 1, 1, vec![6u8, 0, 6])?, 3, 1).run_into(&mut mean)?;
    /// assert_eq!(mean.download::<u8>()?.row(0), [2, 4, 2]);
    /// let seen = mean.clone();
    /// assert!(device.box_filter(&seen, 3, 1).run_into(&mut mean).is_err());
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](Filter::run), and [`Error::Parameter`] for an image of another shape or type, or one that is shared; its
    /// samples are then as they were, or, where the device failed, anything.
    pub fn run_into<'t>(self, target: impl Into<Target<'t>>) -> Result<()> {
        target.into().fill(|mut room| self.solved(Some(&mut room)).map(|solved| solved.made))
    }

    /// The filter's result; into the room, if there is one.
    pub(crate) fn solved(self, mut room: Option<&mut Room<'_>>) -> Result<Solved> {
        if self.keep_alpha {
            return self.with_alpha(room);
        }
        let Filter { device, source, weights, borders, extent, out_type, clamp, keep_alpha: _, method, choice } = self;
        let (shape, src) = (source.shape(), source.pixel_type());
        let dst = out_type.unwrap_or(src);
        if let Weights::Formula(formula) = weights {
            unclamped("a named filter", clamp)?;
            return Evaluation { device, source, borders, extent, method, choice }.run(&formula?, dst, room);
        }
        let problem = weights.problem(shape, (src, dst), extent, clamp)?;
        if let (Problem::LocalStd(_), Some(method)) = (&problem, method) {
            return Err(Error::parameter("local-std", "method", method, "left out: there is one"));
        }
        let Padded { padding, filter } = problem.with_borders(borders)?;
        let padded = padding.map(|padding| {
            let padding = Problem::Pad(padding);
            device.with_fallback(|backend| backend.filter(&padding, "", &source, None, &Choice::default(), None))
        });
        let padded = padded.transpose()?.map(Solved::into_image);
        let ByMethod { problem, why } = device.by_method(filter, method, choice.variant)?;
        let seen = padded.as_ref().map_or(source.view(), Source::Device);
        let mut result =
            device.with_fallback(|backend| backend.filter(&problem, why, &seen, None, &choice, room.as_deref_mut()))?;
        result.made.before.extend(padded.map(|padded| padded.made));
        Ok(result)
    }

    /// The result with the alpha of its input; into the room, if there is one.
    fn with_alpha(self, room: Option<&mut Room<'_>>) -> Result<Solved> {
        if let Source::Host(_) = &self.source
            && let Some(uploaded) = self.device.uploaded(&self.source)?
        {
            // Once, for the filter and for alpha.
            let mut result = Filter { source: Source::Device(&uploaded), ..self }.with_alpha(room)?;
            result.made.report.copy_in += uploaded.made.report.copy_in;
            return Ok(result);
        }
        let (anchor, dst) = (self.weights.anchor(), self.out_type.unwrap_or(self.src()));
        let kept = Alpha::of(self.device, self.source.view(), self.borders, self.extent, dst)?;
        let filtered = Filter { source: self.source.view(), keep_alpha: false, ..self }.solved(None)?;
        kept.put_back(filtered.into_image(), anchor, room)
    }
}

impl Weights {
    fn window(&self) -> (u32, u32) {
        match self {
            Weights::Dense(mask) => (mask.width(), mask.height()),
            Weights::Separable(Ok((x, y))) => (x.len(), y.len()),
            Weights::Mean(width, height) | Weights::Deviation(width, height) => (*width, *height),
            Weights::Formula(Ok(formula)) => formula.window(),
            // No filter: what is wrong with it is told when it runs.
            Weights::Separable(Err(_)) | Weights::Formula(Err(_)) => (1, 1),
        }
    }

    fn taps(&self) -> u64 {
        match self {
            Weights::Dense(mask) => mask.taps().len() as u64,
            Weights::Separable(Ok((x, y))) => x.len() as u64 + y.len() as u64,
            Weights::Mean(..) | Weights::Deviation(..) => 4,
            Weights::Formula(Ok(formula)) => formula.taps(),
            Weights::Separable(Err(_)) | Weights::Formula(Err(_)) => 1,
        }
    }

    /// Column and row of the tap over the output pixel.
    fn anchor(&self) -> (u32, u32) {
        match self {
            Weights::Dense(mask) => mask.anchor(),
            Weights::Separable(Ok((x, y))) => (x.anchor(), y.anchor()),
            Weights::Mean(width, height) | Weights::Deviation(width, height) => (width / 2, height / 2),
            Weights::Formula(Ok(formula)) => formula.anchor(),
            // No filter: what is wrong with it is told when it runs.
            Weights::Separable(Err(_)) | Weights::Formula(Err(_)) => (0, 0),
        }
    }

    /// The problem, with a border that says nothing yet.
    fn problem(self, shape: Shape, (src, dst): (PixelType, PixelType), extent: Extent, clamp: bool) -> Result<Problem> {
        let border = Border::default();
        Ok(match self {
            Weights::Dense(mask) => {
                if clamp && dst != PixelType::F32 {
                    let value = format!("asked for with {dst} output");
                    return Err(Error::parameter("correlate", "clamp", value, "used with f32 output"));
                }
                Problem::Correlate(Correlate { shape, src, dst, mask, border, clamp, extent })
            }
            Weights::Separable(taps) => {
                unclamped("separable", clamp)?;
                let (taps_x, taps_y) = taps?;
                Problem::Separable(Separable { shape, src, dst, taps_x, taps_y, border, extent })
            }
            Weights::Mean(width, height) => {
                unclamped("box", clamp)?;
                let (anchor, scale) = ((width / 2, height / 2), Scale::Mean);
                Problem::Box(BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent })
            }
            Weights::Deviation(width, height) => {
                unclamped("local-std", clamp)?;
                Problem::LocalStd(LocalStd { shape, src, dst, width, height, border, extent })
            }
            Weights::Formula(_) => unreachable!("evaluated before"),
        })
    }
}

/// Only sums of dense masks are limited.
fn unclamped(operation: &'static str, clamp: bool) -> Result<()> {
    match clamp {
        true => Err(Error::parameter(operation, "clamp", true, "used with a dense mask")),
        false => Ok(()),
    }
}
