//! Filters: a problem in the making.

use crate::backend::Backend;
use crate::{Border, Device, DeviceImage, Error, Mask, Method, PixelType, Result, Shape, Source, Taps};
use apron_core::{BoxFilter, Choice, Correlate, Problem, Scale, Separable};

enum Weights {
    Dense(Mask),
    Separable(Result<(Taps, Taps)>),
    /// A mean over so many columns and rows.
    Mean(u32, u32),
}

/// A filter that is ready to [`run`](Filter::run), with defaults that may be changed before.
#[must_use = "a filter does nothing until it is run"]
pub struct Filter<'a> {
    device: &'a Device,
    source: Source<'a>,
    weights: Weights,
    border: Border,
    out_type: Option<PixelType>,
    clamp: bool,
    method: Option<Method>,
    variant: Option<&'a str>,
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

    fn new(device: &'a Device, source: Source<'a>, weights: Weights) -> Self {
        let (border, out_type, clamp) = (Border::default(), None, false);
        Filter { device, source, weights, border, out_type, clamp, method: None, variant: None }
    }

    /// What lies outside the image; [`Border::Reflect101`] if not said.
    pub fn border(mut self, border: Border) -> Self {
        self.border = border;
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

    /// Asks for a method, instead of the one that suits the problem.
    pub fn method(mut self, method: impl Into<Option<Method>>) -> Self {
        self.method = method.into();
        self
    }

    /// Asks for an implementation by name, instead of the one that the plan prefers, and so, unless one is asked for,
    /// for its method.
    pub fn variant(mut self, name: impl Into<Option<&'a str>>) -> Self {
        self.variant = name.into();
        self
    }

    /// Runs the filter. On a GPU it returns when the work is enqueued.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that can never be right and for a method that the problem does not allow,
    /// [`Error::NoWindow`] where border crop leaves nothing, [`Error::Unsupported`] for what the device does not have, and the
    /// device's own troubles.
    pub fn run(self) -> Result<DeviceImage> {
        let Filter { device, source, weights, border, out_type, clamp, method, variant } = self;
        let (shape, src) = (source.shape(), source.pixel_type());
        let problem = weights.problem(shape, (src, out_type.unwrap_or(src)), border, clamp)?;
        let Choice { problem, why } = device.choice(problem, method, variant)?;
        device.with_fallback(|backend| backend.filter(&problem, why, &source, variant))
    }
}

impl Weights {
    /// The problem as it is stated.
    fn problem(self, shape: Shape, (src, dst): (PixelType, PixelType), border: Border, clamp: bool) -> Result<Problem> {
        let unclamped = |operation| match clamp {
            true => Err(Error::parameter(operation, "clamp", true, "used with a dense mask")),
            false => Ok(()),
        };
        Ok(match self {
            Weights::Dense(mask) => {
                if clamp && dst != PixelType::F32 {
                    let value = format!("asked for with {dst} output");
                    return Err(Error::parameter("correlate", "clamp", value, "used with f32 output"));
                }
                Problem::Correlate(Correlate { shape, src, dst, mask, border, clamp })
            }
            Weights::Separable(taps) => {
                unclamped("separable")?;
                let (taps_x, taps_y) = taps?;
                Problem::Separable(Separable { shape, src, dst, taps_x, taps_y, border })
            }
            Weights::Mean(width, height) => {
                unclamped("box")?;
                let (anchor, scale) = ((width / 2, height / 2), Scale::Mean);
                Problem::Box(BoxFilter { shape, src, dst, width, height, anchor, border, scale })
            }
        })
    }
}

impl Device {
    /// Solves a filter's problem just as it is stated, by `variant` if one is named: for tests and benches.
    ///
    /// # Errors
    /// As [`Filter::run`]; [`Error::Shape`] and [`Error::PixelType`] where the image is not of the problem's.
    #[doc(hidden)]
    pub fn solve<'a>(
        &self,
        problem: &Problem,
        image: impl Into<Source<'a>>,
        variant: Option<&str>,
    ) -> Result<DeviceImage> {
        let (source, operation) = (image.into(), problem.operation());
        let Some((shape, pixel)) = problem.filtered() else {
            return Err(Error::parameter("solve", "problem", operation, "a filter's"));
        };
        if source.shape() != shape {
            let (value, limit) = (source.shape().to_string(), shape.to_string());
            return Err(Error::Shape { what: "shape", value, limit });
        }
        if source.pixel_type() != pixel {
            let (found, expected) = (source.pixel_type(), pixel.to_string());
            return Err(Error::PixelType { operation, found, expected });
        }
        self.with_fallback(|backend| backend.filter(problem, "as stated", &source, variant))
    }

    /// The problem by its method: where kernels run and only a variant is named, by the one to which that belongs.
    fn choice(&self, problem: Problem, method: Option<Method>, variant: Option<&str>) -> Result<Choice> {
        let Some(name) = variant.filter(|_| method.is_none() && self.machine().is_some()) else {
            return problem.by_method(method);
        };
        let chosen = problem.clone().by_method(None)?;
        for method in [problem.method(), chosen.problem.method(), Some(Method::Separable), Some(Method::Box)] {
            if let Ok(Choice { problem, .. }) = problem.clone().by_method(method)
                && apron_plan::variants(problem.operation()).any(|variant| variant.name == name)
            {
                return Ok(Choice { problem, why: "the named variant is one of it" });
            }
        }
        Ok(chosen)
    }

    /// Runs on this device; one that `auto` chose hands what it does not have to the CPU.
    pub(crate) fn with_fallback<T: crate::backend::Explained>(&self, run: impl Fn(&Backend) -> Result<T>) -> Result<T> {
        match run(&self.backend) {
            Err(error @ (Error::Unsupported { .. } | Error::OutOfMemory { .. })) if self.chosen.is_some() => {
                Ok(run(&Backend::Cpu)?.explain(&format!("auto: {error}")))
            }
            Ok(result) => match &self.chosen {
                Some(chosen) => Ok(result.explain(chosen)),
                None => Ok(result),
            },
            Err(error) => Err(error),
        }
    }
}
