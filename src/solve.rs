//! Solves problems on devices: by the method that suits them, with the CPU as the fallback for devices that `auto`
//! chose.

use crate::auto::Job;
use crate::backend::{Backend, Solved};
use crate::choice::Choice;
use crate::target::Room;
use crate::{Device, DeviceImage, Error, Method, Result, Source, Target};
use apron_core::{ByMethod, FilterProblem};
use std::iter;

impl Device {
    /// Solves a filter's problem exactly as stated, by `variant` if one is named: for tests and benches.
    ///
    /// # Errors
    /// As [`Filter::run`](crate::FilterBuilder::run); [`Error::Shape`] and [`Error::PixelType`] if the image does not
    /// match the problem.
    #[doc(hidden)]
    pub fn solve<'a>(
        &self,
        problem: &FilterProblem,
        image: impl Into<Source<'a>>,
        variant: Option<&str>,
    ) -> Result<DeviceImage> {
        self.solve_with(problem, image, None, variant)
    }

    /// Solves a filter's problem for two images, as [`solve`](Device::solve).
    ///
    /// # Errors
    /// As [`solve`](Device::solve).
    #[doc(hidden)]
    pub fn solve_with<'a>(
        &self,
        problem: &FilterProblem,
        image: impl Into<Source<'a>>,
        second: Option<Source<'a>>,
        variant: Option<&str>,
    ) -> Result<DeviceImage> {
        self.as_stated(problem, &image.into(), second, variant, None).map(Solved::into_image)
    }

    /// Solves a filter's problem for one or two images, and writes the result into an existing image.
    ///
    /// # Errors
    /// As [`solve`](Device::solve) and [`Filter::run_into`](crate::FilterBuilder::run_into).
    #[doc(hidden)]
    pub fn solve_into<'a, 't>(
        &self,
        problem: &FilterProblem,
        image: impl Into<Source<'a>>,
        second: Option<Source<'a>>,
        variant: Option<&str>,
        target: impl Into<Target<'t>>,
    ) -> Result<()> {
        let image = image.into();
        target.into().fill(|mut room| {
            self.as_stated(problem, &image, second, variant, Some(&mut room)).map(|solved| solved.made)
        })
    }

    fn as_stated(
        &self,
        problem: &FilterProblem,
        source: &Source<'_>,
        second: Option<Source<'_>>,
        variant: Option<&str>,
        mut room: Option<&mut Room<'_>>,
    ) -> Result<Solved> {
        let (operation, shape, pixel) = (problem.operation(), problem.shape(), problem.src());
        if source.shape() != shape {
            let (value, limit) = (source.shape().to_string(), shape.to_string());
            return Err(Error::Shape { what: "shape", value, limit });
        }
        if source.pixel_type() != pixel {
            let (found, expected) = (source.pixel_type(), pixel.to_string());
            return Err(Error::PixelType { operation, found, expected });
        }
        let choice = Choice { variant, tuning: None };
        let sources: Vec<&Source<'_>> = iter::once(source).chain(&second).collect();
        let has_room = room.is_some();
        let job = || Job::of(vec![problem.clone()], source, has_room);
        self.by_cost(&sources, &choice, job, |device| {
            device.with_fallback(|backend| {
                backend.filter(problem, "as stated", source, second.as_ref(), &choice, room.as_deref_mut())
            })
        })
    }

    /// Restates the problem by a method. If kernels run and only a variant is named, the variant determines the method.
    pub(crate) fn by_method(
        &self,
        problem: FilterProblem,
        (method, tolerance): (Option<Method>, Option<f64>),
        variant: Option<&str>,
    ) -> Result<ByMethod> {
        if let (None, None, Some(tolerance)) = (method, variant, tolerance) {
            return problem.by_method_within(tolerance);
        }
        let Some(name) = variant.filter(|_| method.is_none() && self.machine().is_some()) else {
            return problem.by_method(method);
        };
        let chosen = problem.clone().by_method(None)?;
        for method in
            [problem.method(), chosen.problem.method(), Some(Method::Separable), Some(Method::Box), Some(Method::Fft)]
        {
            if let Ok(ByMethod { problem, .. }) = problem.clone().by_method(method)
                && apron_plan::variants(problem.operation()).any(|variant| variant.name == name)
            {
                return Ok(ByMethod { problem, why: "the named variant is one of it" });
            }
        }
        Ok(chosen)
    }

    /// Runs on this device. If `auto` chose it and it does not support the work, the CPU runs it. Logs a line.
    pub(crate) fn with_fallback<T: crate::backend::Explained>(
        &self,
        mut run: impl FnMut(&Backend) -> Result<T>,
    ) -> Result<T> {
        let result = match run(&self.backend) {
            Err(error @ (Error::Unsupported { .. } | Error::OutOfMemory { .. })) if self.chosen.is_some() => {
                run(&Backend::Cpu)?.explain(&format!("auto: {error}"), self.estimate)
            }
            Ok(result) => match &self.chosen {
                Some(chosen) => result.explain(chosen, self.estimate),
                None => result,
            },
            Err(error) => return Err(error),
        };
        log::debug!(target: "apron", "{}", result.ran().line());
        Ok(result)
    }
}
