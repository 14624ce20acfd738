//! Filters: a problem in the making.

use crate::backend::Backend;
use crate::choice::Choice;
use crate::{Border, Device, DeviceImage, Error, Mask, PixelType, Result, Source, Taps, Tuning};
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
    choice: Choice<'a>,
}

impl<'a> Filter<'a> {
    pub(crate) fn dense(device: &'a Device, source: Source<'a>, mask: Mask) -> Self {
        Filter::new(device, source, Weights::Dense(mask))
    }

    pub(crate) fn separable(device: &'a Device, source: Source<'a>, taps: Result<(Taps, Taps)>) -> Self {
        Filter::new(device, source, Weights::Separable(taps))
    }

    fn new(device: &'a Device, source: Source<'a>, weights: Weights) -> Self {
        Filter {
            device,
            source,
            weights,
            border: Border::default(),
            out_type: None,
            clamp: false,
            choice: Choice::default(),
        }
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

    /// Asks for an implementation by name, instead of the one that the environment variable `APRON_VARIANT` names or
    /// the plan prefers.
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
        self.device.with_fallback(|backend| backend.filter(&problem, &self.source, &self.choice))
    }
}

impl Device {
    /// Runs on this device; one that `auto` chose hands what it does not have to the CPU. Logs a line.
    pub(crate) fn with_fallback<T: crate::backend::Explained>(&self, run: impl Fn(&Backend) -> Result<T>) -> Result<T> {
        let result = match run(&self.backend) {
            Err(error @ (Error::Unsupported { .. } | Error::OutOfMemory { .. })) if self.chosen.is_some() => {
                run(&Backend::Cpu)?.explain(&format!("auto: {error}"))
            }
            Ok(result) => match &self.chosen {
                Some(chosen) => result.explain(chosen),
                None => result,
            },
            Err(error) => return Err(error),
        };
        log::debug!(target: "apron", "{}", result.ran().line());
        Ok(result)
    }
}
