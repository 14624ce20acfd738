//! Reports of verbs.

use crate::error::{Error, Result};
use apron::{PixelType, Shape};
use serde::Serialize;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What ran, and how long it took: the fields that all reports share.
#[derive(Clone, Serialize)]
pub(crate) struct Ran {
    pub(crate) operation: &'static str,
    pub(crate) verb: &'static str,
    pub(crate) input: String,
    /// Filters only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why_method: Option<String>,
    /// Bound of the error by transforms, per unit of the norms of a tile and of the taps.
    pub(crate) error_bound: Option<f64>,
    pub(crate) device: String,
    pub(crate) variant: String,
    pub(crate) why: String,
    /// The estimates by which `auto` chose the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
    /// Blocks and threads of each launch.
    pub(crate) grid: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) channels: u32,
    pub(crate) in_type: String,
    /// Number of pages; the shape and the type above are those of the first, the times below the sums over all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages: Option<u32>,
    pub(crate) copy_in_ms: f64,
    pub(crate) kernels_ms: f64,
    pub(crate) copy_out_ms: f64,
    /// Total time, including reading and writing the files.
    pub(crate) total_ms: f64,
}

/// Estimated times of a job, in milliseconds.
#[derive(Clone, Serialize)]
pub(crate) struct Estimate {
    pub(crate) cpu_ms: f64,
    /// Copies from and to the host included.
    pub(crate) gpu_ms: f64,
    /// Until the GPU's context is open.
    pub(crate) gpu_start_ms: f64,
}

/// Statistics of one channel or of all; NaN and infinity become null in JSON.
#[derive(Clone, Serialize)]
pub(crate) struct ChannelStatistics {
    pub(crate) count: u64,
    pub(crate) min: Extreme,
    pub(crate) max: Extreme,
    pub(crate) mean: f64,
    pub(crate) std: f64,
    /// In the order of the request.
    pub(crate) percentiles: Vec<Percentile>,
}

/// The least or greatest sample: f64 does not hold all integers of 64 bits.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Extreme {
    Integer(i128),
    Float(f64),
}

impl Display for Extreme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extreme::Integer(number) => number.fmt(f),
            Extreme::Float(number) => number.fmt(f),
        }
    }
}

/// A percentile.
#[derive(Clone, Serialize)]
pub(crate) struct Percentile {
    pub(crate) percent: f64,
    pub(crate) value: f64,
}

/// The report of a verb that reads an image.
#[derive(Clone, Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) ran: Ran,
    #[serde(flatten)]
    pub(crate) made: Made,
}

/// Whether a number is 1, which reports leave out.
fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The result of a verb.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Made {
    /// An image.
    Image { output: String, out_type: String, out_width: u32, out_height: u32 },
    /// An image of a volume.
    Slice { output: String, out_type: String, out_width: u32, out_height: u32 },
    /// A volume, or several of this shape.
    Volume {
        output: String,
        out_type: String,
        out_width: u32,
        out_height: u32,
        out_depth: u32,
        #[serde(skip_serializing_if = "is_one")]
        volumes: u32,
    },
    /// An image made by several steps; in their reports `-` stands for the files.
    Piped { output: String, out_type: String, out_width: u32, out_height: u32, steps: Vec<Report> },
    /// Counts, and where they were written.
    Counts {
        bins: usize,
        low: f64,
        high: f64,
        per_channel: bool,
        /// Number of samples that lie in a bin.
        total: u64,
        output: Option<String>,
        plot: Option<String>,
        /// Content of a .json file, if no file was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        histogram: Option<serde_json::Value>,
    },
    /// Sums of weights, and where they were written.
    Sums {
        bins: usize,
        low: f64,
        high: f64,
        per_channel: bool,
        output: Option<String>,
        plot: Option<String>,
        /// Content of a .json file, if no file was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        histogram: Option<serde_json::Value>,
    },
    /// Counts or sums by the bins of several columns, and where they were written.
    Joint {
        bins: Vec<usize>,
        low: Vec<f64>,
        high: Vec<f64>,
        /// Number of rows, or the sum of the weights, that lie in a cell.
        total: serde_json::Value,
        /// Entropies and mutual information, if they were asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        information: Option<serde_json::Value>,
        output: Option<String>,
        /// Content of a .json file, if no file was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        histogram: Option<serde_json::Value>,
    },
    /// Thresholds, the first also separately, and the file of the thresholds or of the segmented image.
    Thresholds { threshold: usize, thresholds: Vec<usize>, output: Option<String> },
    /// Statistics of all channels together, or per channel.
    Statistics { per_channel: bool, statistics: Vec<ChannelStatistics> },
}

impl Ran {
    /// Makes the report for an image of this shape and type; `start` is when the verb began.
    pub(crate) fn of(
        verb: &'static str,
        input: &Path,
        (shape, in_type): (Shape, PixelType),
        ran: apron::Report,
        copy_out: Duration,
        start: Instant,
    ) -> Ran {
        Ran {
            operation: ran.operation,
            verb,
            input: input.display().to_string(),
            method: ran.method.map(|method| method.to_string()),
            why_method: ran.method.map(|_| ran.why_method),
            error_bound: ran.error_bound,
            device: ran.device,
            variant: ran.variant,
            why: ran.why,
            estimate: ran.estimate.map(|estimate| Estimate {
                cpu_ms: milliseconds(estimate.cpu),
                gpu_ms: milliseconds(estimate.gpu),
                gpu_start_ms: milliseconds(estimate.start),
            }),
            grid: ran.grid,
            width: shape.width,
            height: shape.height,
            channels: shape.channels,
            in_type: in_type.to_string(),
            pages: None,
            copy_in_ms: milliseconds(ran.copy_in),
            kernels_ms: milliseconds(ran.kernels),
            copy_out_ms: milliseconds(copy_out),
            total_ms: milliseconds(start.elapsed()),
        }
    }
}

impl Report {
    /// Adds the times of another page.
    pub(crate) fn add(&mut self, page: &Report) {
        let (sum, page) = (&mut self.ran, &page.ran);
        for (sum, more) in [
            (&mut sum.copy_in_ms, page.copy_in_ms),
            (&mut sum.kernels_ms, page.kernels_ms),
            (&mut sum.copy_out_ms, page.copy_out_ms),
            (&mut sum.total_ms, page.total_ms),
        ] {
            // Sums of microseconds are microseconds.
            *sum = ((*sum + more) * 1e3).round() / 1e3;
        }
    }

    /// Turns this report into the report of a pipe: its steps determine what ran.
    pub(crate) fn of_steps(self, steps: Vec<Report>) -> Report {
        // Values that all steps share appear once.
        let joined = |of: fn(&Ran) -> &str| {
            let mut parts: Vec<&str> = steps.iter().map(|step| of(&step.ran)).collect();
            if parts.iter().all(|part| *part == parts[0]) {
                parts.truncate(1);
            }
            parts.join(" | ")
        };
        let ran = Ran {
            operation: "pipe",
            method: None,
            why_method: None,
            error_bound: None,
            device: joined(|ran| &ran.device),
            variant: joined(|ran| &ran.variant),
            why: joined(|ran| &ran.why),
            grid: joined(|ran| &ran.grid),
            kernels_ms: steps.iter().map(|step| step.ran.kernels_ms).sum(),
            ..self.ran
        };
        let made = match self.made {
            Made::Image { output, out_type, out_width, out_height } => {
                Made::Piped { output, out_type, out_width, out_height, steps }
            }
            other => other,
        };
        Report { ran, made }
    }

    /// Returns the report as a JSON object.
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_else(|error| serde_json::json!({ "error": error.to_string() }))
    }

    /// Returns the report as a JSON object on one line.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| format!("{{\"error\":{:?}}}", error.to_string()))
    }

    /// Formats the report as a line; `reasons` adds why it ran so and the times of copies.
    pub(crate) fn text(&self, reasons: bool) -> String {
        let ran = &self.ran;
        let made = match &self.made {
            Made::Image { output, out_type, out_width, out_height }
            | Made::Piped { output, out_type, out_width, out_height, .. } => {
                let pages = ran.pages.map(|pages| format!(", {}", counted(pages, "page"))).unwrap_or_default();
                format!("{output} {out_width}x{out_height}x{} {out_type}{pages}", ran.channels)
            }
            Made::Slice { output, out_type, out_width, out_height } => {
                format!("{output} {out_width}x{out_height}x{} {out_type}", ran.channels)
            }
            Made::Volume { output, out_type, out_width, out_height, out_depth, volumes } => {
                let each = if *volumes == 1 { String::new() } else { format!("{volumes} volumes of ") };
                format!("{output} {each}{out_width}x{out_height}x{out_depth}x{} {out_type}", ran.channels)
            }
            Made::Counts { bins, total, .. } => format!("{} in {}", counted(*total, "sample"), counted(*bins, "bin")),
            Made::Sums { bins, .. } => format!("sums of weights in {}", counted(*bins, "bin")),
            Made::Joint { bins, total, .. } => {
                let bins = bins.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
                match total.is_u64() {
                    true => format!("{} in {bins} bins", counted(total, "row")),
                    false => format!("sums of weights in {bins} bins"),
                }
            }
            Made::Thresholds { thresholds, .. } => match thresholds[..] {
                [threshold] => format!("threshold {threshold}"),
                _ => format!("{} thresholds", thresholds.len()),
            },
            Made::Statistics { statistics, .. } => counted(statistics.iter().map(|of| of.count).sum::<u64>(), "sample"),
        };
        let (verb, variant, device) = (ran.verb, &ran.variant, &ran.device);
        if !reasons {
            let method = ran.method.as_ref().map(|method| format!("{method}, ")).unwrap_or_default();
            let (kernels, total) = (ran.kernels_ms, ran.total_ms);
            return format!(
                "{verb}: {made}; {method}{variant} on {device}; kernels {kernels:.2} ms, total {total:.1} ms"
            );
        }
        let method = match (&ran.method, &ran.why_method) {
            (Some(method), Some(why)) => format!("{method} ({why}); "),
            _ => String::new(),
        };
        format!(
            "{verb}: {made}; {method}{variant} on {device} ({}); \
             copy in {:.2} ms, kernels {:.2} ms, copy out {:.2} ms, total {:.1} ms",
            ran.why, ran.copy_in_ms, ran.kernels_ms, ran.copy_out_ms, ran.total_ms
        )
    }
}

/// Formats a count of things, whose singular is `one`.
pub(crate) fn counted(count: impl Display, one: &str) -> String {
    let count = count.to_string();
    let many = if count == "1" { "" } else { "s" };
    format!("{count} {one}{many}")
}

/// Converts to milliseconds, rounded to microseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Formats rows as lines, with columns padded to their longest cell.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let longest = |column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max();
    let widths: Vec<usize> = (0..columns).filter_map(longest).collect();
    let line = |row: &Vec<String>| {
        let cells: String = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$} ")).collect();
        format!("{}\n", cells.trim_end())
    };
    rows.iter().map(line).collect()
}

/// Writes to stdout. A closed pipe is not an error: the reader has what it wanted.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::Input(format!("standard output: {error}"))),
        _ => Ok(()),
    }
}

/// Writes a line to stderr, and ignores errors.
pub(crate) fn complain(line: &str) {
    crate::progress::aside(|| _ = writeln!(std::io::stderr().lock(), "{line}"));
}
