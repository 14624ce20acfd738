//! What ran, where, why, and how long it took.

use crate::{Estimate, Method};
use apron_core::FilterProblem;
use std::time::Duration;

/// The report of an operation.
///
/// ```
/// use apron::{Device, Image, Method};
///
/// let image = Image::new(8, 8, 1, vec![1.0f32; 64])?;
/// let report = Device::cpu().gaussian(&image, 1.0).run()?.report()?;
/// assert_eq!((report.operation, report.device.as_str(), report.variant.as_str()), ("separable", "cpu", "parallel"));
/// assert_eq!(report.method, Some(Method::Separable));
/// # Ok::<(), apron::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The operation that ran: `correlate`, `separable`, `box`, `local-std`, `pointwise`, `histogram`, `lookup`,
    /// `equalize`, `clahe` or `stats`; for several operations, the last.
    pub operation: &'static str,
    /// The device that ran it, such as `gpu:0` or `cpu`.
    pub device: String,
    /// The method of a filter, which determines the operation.
    pub method: Option<Method>,
    /// Why that method was chosen; empty without a method.
    pub why_method: String,
    /// The implementation that ran; for several operations, each of them in order.
    pub variant: String,
    /// Why that implementation was chosen, and why that device if another was asked for.
    pub why: String,
    /// Blocks and threads of each launch, columns x rows; empty if no kernels run.
    pub grid: String,
    /// Time of the copy of the input to the device; zero if it was there already.
    pub copy_in: Duration,
    /// Time of the kernels, including the copies that their variant needs at every run (of the mask to constant memory,
    /// of the image to a texture); on the host, time of the computation.
    pub kernels: Duration,
    /// For [`Method::Fft`] the bound of the error of a result, per unit of the Euclidean norm of its tile and of the
    /// sum of the taps' magnitudes; other methods have the bounds of docs/promises.md.
    pub error_bound: Option<f64>,
    /// The estimates by which [`Device::auto`](crate::Device::auto) chose the device; `None` if it was named,
    /// or the data was on it.
    pub estimate: Option<Estimate>,
}

impl Report {
    /// Adds the method of a filter, and the reason for it.
    pub(crate) fn of_method(&mut self, problem: &FilterProblem, why: &str) {
        (self.method, self.why_method) = (problem.method(), why.into());
        self.error_bound = if let FilterProblem::Fft(fft) = problem { Some(fft.error_bound()) } else { None };
    }

    /// Adds why the device was chosen.
    pub(crate) fn explain(&mut self, why: &str, estimate: Option<Estimate>) {
        self.why = format!("{}; {why}", self.why);
        self.estimate = estimate;
    }

    /// Adds the times of another part of the same work.
    pub(crate) fn joined(self, part: &Report) -> Report {
        Report { kernels: self.kernels + part.kernels, copy_in: self.copy_in + part.copy_in, ..self }
    }

    /// Combines this report with the report of a part that ran before.
    pub(crate) fn after(self, part: Report) -> Report {
        let joined = |first: String, then: String| match (first.is_empty(), then.is_empty()) {
            (false, false) => format!("{first} + {then}"),
            _ => first + &then,
        };
        Report {
            variant: joined(part.variant, self.variant),
            grid: joined(part.grid, self.grid),
            copy_in: part.copy_in + self.copy_in,
            kernels: part.kernels + self.kernels,
            ..self
        }
    }

    /// Formats what ran and why, for the log.
    pub(crate) fn line(&self) -> String {
        let Report { operation, device, variant, why, grid, .. } = self;
        let grid = if grid.is_empty() { String::new() } else { format!(", blocks {grid}") };
        format!("{operation} on {device}: {variant}{grid}; {why}")
    }
}
