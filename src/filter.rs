//! Filters: a problem in the making.

use crate::backend::Backend;
use crate::{Border, Device, DeviceImage, Error, Mask, PixelType, Result, Source, Taps};
use apron_core::{Correlate, Problem, Separable};

enum Weights {
    Dense(Mask),
    Separable(Result<(Taps, Taps)>),
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
    variant: Option<&'a str>,
}

impl<'a> Filter<'a> {
    pub(crate) fn dense(device: &'a Device, source: Source<'a>, mask: Mask) -> Self {
        Filter::new(device, source, Weights::Dense(mask))
    }

    pub(crate) fn separable(device: &'a Device, source: Source<'a>, taps: Result<(Taps, Taps)>) -> Self {
        Filter::new(device, source, Weights::Separable(taps))
    }

    fn new(device: &'a Device, source: Source<'a>, weights: Weights) -> Self {
        Filter { device, source, weights, border: Border::default(), out_type: None, clamp: false, variant: None }
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

    /// Asks for an implementation by name, instead of the one that the plan prefers.
    pub fn variant(mut self, name: impl Into<Option<&'a str>>) -> Self {
        self.variant = name.into();
        self
    }

    /// Runs the filter. On a GPU it returns when the work is enqueued.
    ///
    /// # Errors
    /// [`Error::Parameter`] for parameters that can never be right, [`Error::NoWindow`] where border
    /// crop leaves nothing, [`Error::Unsupported`] for what the device does not have, and the
    /// device's own troubles.
    pub fn run(self) -> Result<DeviceImage> {
        let (shape, src) = (self.source.shape(), self.source.pixel_type());
        let dst = self.out_type.unwrap_or(src);
        let border = self.border;
        let problem = match self.weights {
            Weights::Dense(mask) => {
                if self.clamp && dst != PixelType::F32 {
                    let value = format!("asked for with {dst} output");
                    return Err(Error::parameter("correlate", "clamp", value, "used with f32 output"));
                }
                Problem::Correlate(Correlate { shape, src, dst, mask, border, clamp: self.clamp })
            }
            Weights::Separable(taps) => {
                if self.clamp {
                    return Err(Error::parameter("separable", "clamp", true, "used with a dense mask"));
                }
                let (taps_x, taps_y) = taps?;
                Problem::Separable(Separable { shape, src, dst, taps_x, taps_y, border })
            }
        };
        self.device.with_fallback(|backend| backend.filter(&problem, &self.source, self.variant))
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
        self.with_fallback(|backend| backend.filter(problem, &source, variant))
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
