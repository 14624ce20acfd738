//! From a named filter's formula to the operations that compute it, one after the other on the device.

use crate::backend::{Backend, Solved};
use crate::choice::Choice;
use crate::target::Room;
use crate::{
    Borders, Device, DeviceImage, Error, Extent, Filter, Formula, Mask, Method, PixelType, PointOp, Result, Source,
};
use apron_core::{FilterProblem, Pointwise};

/// What a formula is computed for, and how its filters are asked for.
pub(crate) struct Evaluation<'a> {
    pub(crate) device: &'a Device,
    pub(crate) source: Source<'a>,
    pub(crate) borders: Borders,
    pub(crate) extent: Extent,
    pub(crate) method: Option<Method>,
    /// Of the filters; pointwise operations have one variant.
    pub(crate) choice: Choice<'a>,
}

impl Evaluation<'_> {
    /// Computes the formula to samples of type `dst`; into the room, if there is one.
    pub(crate) fn run(&self, formula: &Formula, dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        if let (Formula::Pointwise { .. }, Source::Host(_)) = (formula, &self.source)
            && let Some(uploaded) = self.device.uploaded(&self.source)?
        {
            // Once for all that read it.
            let once = Evaluation { source: Source::Device(&uploaded), ..*self };
            let mut result = once.run(formula, dst, room)?;
            result.made.report.copy_in += uploaded.made.report.copy_in;
            return Ok(result);
        }
        let filter = match formula {
            Formula::Image => return self.pointwise(PointOp::weighted(1.0, 0.0, 0.0), formula, None, dst, room),
            Formula::Pointwise { op, x, y } => return self.pointwise(*op, x, y.as_deref(), dst, room),
            Formula::LocalStd(width, height) => Filter::deviation(self.device, self.source.view(), *width, *height),
            Formula::Dense(mask) => Filter::dense(self.device, self.source.view(), mask.clone()),
            Formula::Separable(x, y) => Filter::separable(self.device, self.source.view(), Ok((x.clone(), y.clone()))),
            Formula::Mean(width, height) => Filter::mean(self.device, self.source.view(), *width, *height),
        };
        let filter = filter.border(self.borders).extent(self.extent).out_type(dst).method(self.method);
        filter.variant(self.choice.variant).tuning(self.choice.tuning).solved(room)
    }

    /// The image where a filter computes other pixels than the image's, in f32; `None` where that is the image.
    fn extended(&self) -> Option<Result<DeviceImage>> {
        let Extent::Region(_) = self.extent else { return None };
        let one = Mask::new(1, 1, [1.0]).expect("one tap is a mask");
        let image = Filter::dense(self.device, self.source.view(), one).border(self.borders).extent(self.extent);
        Some(image.out_type(PixelType::F32).run())
    }

    fn pointwise(
        &self,
        op: PointOp,
        x: &Formula,
        y: Option<&Formula>,
        dst: PixelType,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let second = y.map(|_| PixelType::F32);
        // What is wrong with it is found before anything runs.
        Pointwise { shape: self.source.shape(), src: PixelType::F32, second, dst, op }.check()?;
        let operand = |formula: &Formula| match formula {
            Formula::Image => self.extended().transpose(),
            formula => self.run(formula, PixelType::F32, None).map(|solved| Some(solved.into_image())),
        };
        let (made_x, made_y) = (operand(x)?, y.map(operand).transpose()?.flatten());
        let (x, y) = (self.or_image(&made_x), y.map(|_| self.or_image(&made_y)));
        if let Some(y) = y.as_ref().filter(|y| y.shape() != x.shape()) {
            let (what, value) = match self.extent {
                Extent::Full => ("extent", "full".to_string()),
                _ => ("border", self.borders.to_string()),
            };
            let limit = format!("another: masks of two sizes leave {} and {}", x.shape(), y.shape());
            return Err(Error::parameter("pointwise", what, value, limit));
        }
        let (shape, src, second) = (x.shape(), x.pixel_type(), y.as_ref().map(Source::pixel_type));
        let problem = FilterProblem::Pointwise(Pointwise { shape, src, second, dst, op });
        let mut result = self.device.with_fallback(|backend| {
            backend.filter(&problem, "", &x, y.as_ref(), &Choice::default(), room.as_deref_mut())
        })?;
        result.made.before = [&made_x, &made_y].into_iter().flatten().map(|part| part.made.clone()).collect();
        Ok(result)
    }

    /// What was made, or else the image itself.
    fn or_image<'s>(&'s self, made: &'s Option<DeviceImage>) -> Source<'s> {
        made.as_ref().map_or(self.source.view(), Source::Device)
    }
}

impl Device {
    /// The image on a GPU, if this is one: once for all that read it.
    #[cfg_attr(not(feature = "gpu"), allow(unused_variables))]
    pub(crate) fn uploaded(&self, source: &Source<'_>) -> Result<Option<DeviceImage>> {
        match &self.backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(_) => match self.backend.import(source, "upload") {
                // Each operation then finds out by itself what is done without.
                Err(Error::OutOfMemory { .. }) if self.chosen.is_some() => Ok(None),
                uploaded => uploaded.map(Some),
            },
            Backend::Cpu | Backend::Emulator | Backend::Reference => Ok(None),
        }
    }
}
