//! Evaluates a named filter's formula: as one problem if the device takes it, else operation by operation on the
//! device.

use crate::backend::{Backend, Solved};
use crate::choice::{self, Choice};
use crate::filter::{Filtering, part_type, stated};
use crate::options::Options;
use crate::target::Room;
use crate::{Device, DeviceImage, Error, Extent, Formula, Mask, PixelType, PointOp, Result, Source, Taps};
use apron_core::{ByMethod, FilterProblem, Paired, Part, Pointwise, Separable};

impl Filtering<'_> {
    /// Computes a pointwise operation or a copy of the image, with samples of type `dst`; into `room`, if there is one.
    /// Scaled sums with integer output are not handled here.
    pub(crate) fn evaluate(&self, formula: &Formula, dst: PixelType, room: Option<&mut Room<'_>>) -> Result<Solved> {
        let Formula::Pointwise { op, x, y } = formula else {
            return self.pointwise(PointOp::weighted(1.0, 0.0, 0.0), formula, None, dst, room);
        };
        if let Source::Host(_) = &self.source
            && let Some(uploaded) = self.device.uploaded(&self.source)?
        {
            // Uploaded once, for all operations that read it.
            let mut result = self.of(Source::Device(&uploaded)).evaluate(formula, dst, room)?;
            result.made.report.copy_in += uploaded.made.report.copy_in;
            return Ok(result);
        }
        self.pointwise(*op, x, y.as_deref(), dst, room)
    }

    /// Returns the input as f32 or f64, extended by the border, if a region is computed; `None` if the
    /// input serves as it is.
    fn extended(&self) -> Option<Result<DeviceImage>> {
        let Extent::Region(_) = self.options.extent else { return None };
        Some(self.under_one_tap(part_type(self.source.pixel_type())))
    }

    /// Filters the image by a mask of one tap: only border, extent and cast have an effect.
    pub(crate) fn under_one_tap(&self, dst: PixelType) -> Result<DeviceImage> {
        let Options { borders, extent, cast, .. } = self.options;
        let options = Options { borders, extent, cast, ..Options::default() };
        let one = Formula::Dense(Mask::from_rows([[1.0]])?);
        Filtering { options, ..self.of(self.source.view()) }.solve(&one, dst, None).map(Solved::into_image)
    }

    fn pointwise(
        &self,
        op: PointOp,
        x: &Formula,
        y: Option<&Formula>,
        dst: PixelType,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let of_parts = part_type(self.source.pixel_type());
        let second = y.map(|_| of_parts);
        // Errors are found before anything runs.
        Pointwise { shape: self.source.shape(), src: of_parts, second, dst, op }.check()?;
        if let Ok(Some(problem)) = self.paired(op, x, y, dst) {
            return self.device.with_fallback(|backend| {
                backend.filter(&problem, "", &self.source, None, &self.options.choice, room.as_deref_mut())
            });
        }
        let operand = |formula: &Formula| match formula {
            Formula::Image => self.extended().transpose(),
            formula => self.solve(formula, of_parts, None).map(|solved| Some(solved.into_image())),
        };
        let (made_x, made_y) = (operand(x)?, y.map(operand).transpose()?.flatten());
        let (x, y) = (self.or_image(&made_x), y.map(|_| self.or_image(&made_y)));
        if let Some(y) = y.as_ref().filter(|y| y.shape() != x.shape()) {
            let (what, value) = match self.options.extent {
                Extent::Full => ("extent", "full".to_string()),
                _ => ("border", self.options.borders.to_string()),
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

    /// Returns the operation on both formulas as one problem, if the device takes it: the CPU takes all, a GPU those
    /// that it has kernels for, or any if `paired` is named. Any other variant that is named is a variant of the parts.
    fn paired(&self, op: PointOp, x: &Formula, y: Option<&Formula>, dst: PixelType) -> Result<Option<FilterProblem>> {
        let Options { borders, extent, choice, .. } = self.options;
        let own = choice.variant == Some("paired");
        let asked =
            !own && (choice.variant.is_some() || choice::environment()?.iter().any(|(of, _)| *of == "separable"));
        let machine = self.device.machine();
        let (Some(border), false) = (borders.everywhere(), machine.is_some() && asked) else { return Ok(None) };
        if self.source.pixel_type() == PixelType::F64 {
            return Ok(None);
        }
        if machine.is_none() && !self.takes_any() {
            return Ok(None);
        }
        if [Some(x), y].into_iter().flatten().all(|part| *part == Formula::Image) {
            return Ok(None);
        }
        let (Some(x), y) = (self.part(x)?, y.map(|y| self.part(y)).transpose()?) else { return Ok(None) };
        let y = match y {
            Some(None) => return Ok(None),
            y => y.flatten(),
        };
        let (shape, src) = (self.source.shape(), self.source.pixel_type());
        let problem = FilterProblem::Paired(Paired { shape, src, dst, op, x, y, border, extent });
        let taken = match machine {
            Some(machine) => own || apron_plan::plan(&problem.clone().into(), None, &machine).is_ok(),
            None => problem.window().is_ok(),
        };
        Ok(taken.then_some(problem))
    }

    /// Returns whether the device computes filters of any parts as one problem.
    fn takes_any(&self) -> bool {
        matches!(self.device.backend, Backend::Cpu)
    }

    /// Returns a formula as a part of a pair: the image, or a filter whose preferred method is separable; any other
    /// filter only if the device takes it.
    fn part(&self, formula: &Formula) -> Result<Option<Part>> {
        if let (Formula::Image, Extent::Region(_)) = (formula, self.options.extent) {
            let one = Taps::new([1.0])?;
            return Ok(Some(Part::Separable(one.clone(), one)));
        }
        if *formula == Formula::Image {
            return Ok(Some(Part::Image));
        }
        let types = (self.source.pixel_type(), PixelType::F32);
        let filter = match (stated(formula, self.source.shape(), types, &self.options)?, formula) {
            (Some(problem), _) => {
                let filter = problem.with_borders(self.options.borders)?.filter;
                let ByMethod { problem, .. } = self.device.by_method(filter, self.options.asked(), None)?;
                Some(problem)
            }
            (None, Formula::Pointwise { op, x, y }) if self.takes_any() => {
                self.paired(*op, x, y.as_deref(), PixelType::F32)?
            }
            _ => None,
        };
        Ok(match filter {
            Some(FilterProblem::Separable(Separable { taps_x, taps_y, .. })) => Some(Part::Separable(taps_x, taps_y)),
            Some(filter) if self.takes_any() => Some(Part::Filter(Box::new(filter))),
            _ => None,
        })
    }

    /// Returns the computed operand, or else the input.
    fn or_image<'s>(&'s self, made: &'s Option<DeviceImage>) -> Source<'s> {
        made.as_ref().map_or(self.source.view(), Source::Device)
    }
}

impl Device {
    /// Uploads the image if this is a GPU, so that several operations read one copy.
    #[cfg_attr(not(feature = "gpu"), allow(unused_variables))]
    pub(crate) fn uploaded(&self, source: &Source<'_>) -> Result<Option<DeviceImage>> {
        match &self.backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(_) => match self.backend.import(source, "upload") {
                // The operations then fall back to the CPU one by one.
                Err(Error::OutOfMemory { .. }) if self.chosen.is_some() => Ok(None),
                uploaded => uploaded.map(Some),
            },
            Backend::Cpu | Backend::Emulator | Backend::Reference => Ok(None),
        }
    }
}
