//! Filters of images that are larger than memory: strip by strip, from rows that are read to rows that are written.

use crate::backend::Backend;
use crate::choice::Choice;
use crate::filter::{FilterBuilder, stated};
use crate::{AnyImage, Device, Error, Named, PixelType, Report, Result, Shape, Source};
use apron_core::{ByMethod, FilterProblem, Padded, Strip};
use std::fmt;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// An image that is read by rows, such as a file's.
pub trait ReadRows: Sync {
    /// Returns width, height and channels.
    fn shape(&self) -> Shape;

    /// Returns the type of the samples.
    fn pixel_type(&self) -> PixelType;

    /// Reads consecutive rows, without gaps, in the machine's byte order; `bytes` has their size.
    ///
    /// # Errors
    /// [`Error::Rows`].
    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()>;
}

/// A result that is written by rows, such as a file's.
pub trait WriteRows: Sync {
    /// Writes consecutive rows from row `first` on, without gaps, in the machine's byte order. Strips come from top to bottom.
    ///
    /// # Errors
    /// [`Error::Rows`].
    fn write_rows(&self, first: u32, bytes: &[u8]) -> Result<()>;
}

impl fmt::Debug for dyn ReadRows + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadRows")
            .field("shape", &self.shape())
            .field("pixel", &self.pixel_type())
            .finish_non_exhaustive()
    }
}

impl<'a> From<&'a dyn ReadRows> for Source<'a> {
    fn from(rows: &'a dyn ReadRows) -> Self {
        Source::Rows(rows)
    }
}

/// Reads a whole image.
pub(crate) fn read_whole(rows: &dyn ReadRows) -> Result<AnyImage<'static>> {
    apron_cpu::image_from_bytes(rows.pixel_type(), rows.shape(), |bytes| rows.read_rows(0..rows.shape().height, bytes))
}

/// Strips that are in memory at a time: one that is read, one that is computed, and one that is written, and what the
/// computation needs besides.
const STRIPS_AT_A_TIME: u64 = 4;

/// Returns the strips of a problem whose images together fit into `memory` bytes.
fn strips(problem: &FilterProblem, memory: u64) -> Result<Vec<Strip>> {
    let (shape, out) = (problem.shape(), problem.window()?.out);
    let none = || Error::Unsupported {
        operation: problem.operation(),
        device: "strip by strip".into(),
        what: "this filter, which reads the image besides its windows".into(),
        hint: "filter the whole image".into(),
    };
    let bytes = |strip: &Strip| {
        let read: u64 = strip.input.iter().map(|run| (run.end - run.start) as u64).sum();
        let written = (strip.output.end - strip.output.start) as u64;
        read * (shape.row_samples() * problem.src().size_bytes()) as u64
            + written * (out.row_samples() * problem.dst().size_bytes()) as u64
    };
    let strip = |rows: Range<u32>| problem.strip(rows)?.ok_or_else(none);
    // From the middle of the image: strips at its ends may read fewer rows.
    let middle = out.height / 2;
    let one = bytes(&strip(middle..middle + 1)?);
    let budget = memory / STRIPS_AT_A_TIME;
    if one > budget {
        let (value, limit) = (format!("{memory} bytes"), format!("{} or more for one row", one * STRIPS_AT_A_TIME));
        return Err(Error::parameter(problem.operation(), "memory", value, limit));
    }
    let row =
        (shape.row_samples() * problem.src().size_bytes() + out.row_samples() * problem.dst().size_bytes()) as u64;
    let rows = (1 + (budget - one) / row).min(out.height as u64) as u32;
    (0..out.height).step_by(rows as usize).map(|start| strip(start..(start + rows).min(out.height))).collect()
}

/// Reads the rows of a strip.
fn read(rows: &dyn ReadRows, strip: &Strip) -> Result<AnyImage<'static>> {
    let shape = strip.problem.shape();
    let row = shape.row_samples() * rows.pixel_type().size_bytes();
    apron_cpu::image_from_bytes(rows.pixel_type(), shape, |bytes| {
        let mut rest = bytes;
        for run in &strip.input {
            let (part, after) = rest.split_at_mut((run.end - run.start) as usize * row);
            rows.read_rows(run.clone(), part)?;
            rest = after;
        }
        Ok(())
    })
}

impl<F: Named> FilterBuilder<'_, F> {
    /// Returns the shape and the sample type of the result, without reading or computing anything.
    ///
    /// # Errors
    /// As [`run_rows`](FilterBuilder::run_rows).
    pub fn result(&self) -> Result<(Shape, PixelType)> {
        let (formula, dst) = self.asked()?;
        let problem = stated(&formula, self.source.shape(), (self.source.pixel_type(), dst), &self.options)?;
        match problem.map(|problem| problem.with_borders(self.options.borders)).transpose()? {
            Some(Padded { filter, .. }) => Ok((filter.window()?.out, dst)),
            None => Ok((self.source.shape(), dst)),
        }
    }

    /// Runs the filter strip by strip: its image, from [`ReadRows`], and its result, to [`WriteRows`], need not fit into
    /// memory. The images of all strips that are read, computed and written at a time take at most `memory` bytes. The result
    /// has the bits of the whole image's.
    ///
    /// For masks, taps, means, deviations and other filters of one window; with one border for both axes and all channels.
    ///
    /// ```
    /// use apron::{Device, Error, PixelType, ReadRows, Result, Shape, Source, WriteRows};
    /// use std::{ops::Range, sync::Mutex};
    ///
    /// /// A slope of 1000 rows.
    /// struct Slope;
    ///
    /// impl ReadRows for Slope {
    ///     fn shape(&self) -> Shape {
    ///         Shape { width: 8, height: 1000, channels: 1 }
    ///     }
    ///     fn pixel_type(&self) -> PixelType {
    ///         PixelType::U8
    ///     }
    ///     fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
    ///         bytes.chunks_mut(8).zip(rows).for_each(|(row, y)| row.fill((y / 4) as u8));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// struct Sum(Mutex<u64>);
    ///
    /// impl WriteRows for Sum {
    ///     fn write_rows(&self, _first: u32, bytes: &[u8]) -> Result<()> {
    ///         *self.0.lock().unwrap() += bytes.iter().map(|&sample| sample as u64).sum::<u64>();
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let sum = Sum(Mutex::new(0));
    /// let device = Device::cpu();
    /// let report = device.box_filter(&Slope as &dyn ReadRows, 3, 1).run_rows(&sum, 4096)?;
    /// assert_eq!((*sum.0.lock().unwrap(), report.operation), (8 * 4 * (0..250).sum::<u64>(), "box"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](FilterBuilder::run); [`Error::Unsupported`] for filters of other kinds, [`Error::Parameter`] for too little
    /// memory for one row, and the errors of reading and writing.
    pub fn run_rows(self, out: &dyn WriteRows, memory: u64) -> Result<Report> {
        let (formula, dst) = self.asked()?;
        let FilterBuilder { device, source, options, .. } = self;
        let whole;
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            other => {
                whole = Whole(other.view());
                &whole
            }
        };
        let unsupported = |what: &str| Error::Unsupported {
            operation: "filter",
            device: "strip by strip".into(),
            what: what.into(),
            hint: "filter the whole image".into(),
        };
        let problem = stated(&formula, rows.shape(), (rows.pixel_type(), dst), &options)?;
        let problem = problem.ok_or_else(|| unsupported("filters of several parts"))?;
        if options.keep_alpha {
            return Err(unsupported("alpha that is kept"));
        }
        let Padded { padding: None, filter } = problem.with_borders(options.borders)? else {
            return Err(unsupported("borders that differ by axis or channel"));
        };
        let device = device.for_job(&filter);
        let ByMethod { problem, why } = device.by_method(filter, options.method, options.choice.variant)?;
        let strips = strips(&problem, memory)?;
        run(&device, &strips, why, rows, out, &options.choice)
    }
}

/// An image in memory as rows.
struct Whole<'a>(Source<'a>);

impl ReadRows for Whole<'_> {
    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn pixel_type(&self) -> PixelType {
        self.0.pixel_type()
    }

    fn read_rows(&self, rows: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        let (width, height) = (self.shape().width, rows.end - rows.start);
        let part = match &self.0 {
            Source::Host(image) => image.region(0, rows.start, width, height)?.into_packed(),
            Source::Device(image) => image.region(0, rows.start, width, height)?.download_any()?,
            Source::Rows(inner) => return inner.read_rows(rows, bytes),
        };
        bytes.copy_from_slice(&part.bytes());
        Ok(())
    }
}

/// Computes strips: a thread reads the next one and another writes the last one, while this one computes.
fn run(
    device: &Device,
    strips: &[Strip],
    why: &str,
    rows: &dyn ReadRows,
    out: &dyn WriteRows,
    choice: &Choice<'_>,
) -> Result<Report> {
    let mut solve = |problem: &FilterProblem, image: &AnyImage<'_>| {
        let source = Source::Host(image.view());
        let solved =
            device.with_fallback(|backend: &Backend| backend.filter(problem, why, &source, None, choice, None))?;
        let result = solved.into_image();
        Ok((result.report()?, result.into_host()?))
    };
    // No strip waits in a channel: each is in the hands of one of the three.
    let (image_in, images): (SyncSender<Result<AnyImage<'static>>>, Receiver<_>) = sync_channel(0);
    let (result_in, results): (SyncSender<(u32, AnyImage<'static>)>, Receiver<_>) = sync_channel(0);
    thread::scope(|scope| {
        let reader = thread::Builder::new().spawn_scoped(scope, move || {
            for strip in strips {
                let image = read(rows, strip);
                let last = image.is_err();
                if image_in.send(image).is_err() || last {
                    return;
                }
            }
        });
        let writer = thread::Builder::new().spawn_scoped(scope, move || -> Result<()> {
            for (first, image) in results {
                out.write_rows(first, &image.bytes())?;
            }
            Ok(())
        });
        let (Ok(_), Ok(writer)) = (reader, writer) else {
            return Err(Error::Unsupported {
                operation: "filter",
                device: "strip by strip".into(),
                what: "two threads, which the system refuses".into(),
                hint: "filter the whole image".into(),
            });
        };
        let mut report: Option<Report> = None;
        let mut failed = Ok(());
        for (strip, image) in strips.iter().zip(images) {
            let host = image.and_then(|image| whole_or_halves(&strip.problem, &image, &mut solve));
            let (part, image) = match host {
                Ok(host) => host,
                Err(error) => {
                    failed = Err(error);
                    break;
                }
            };
            match &mut report {
                Some(report) => {
                    (report.kernels, report.copy_in) = (report.kernels + part.kernels, report.copy_in + part.copy_in)
                }
                None => report = Some(part),
            }
            if result_in.send((strip.output.start, image)).is_err() {
                // The writer tells why it ended.
                break;
            }
        }
        drop(result_in);
        let written = writer.join().expect("the writer does not panic");
        failed.and(written)?;
        let mut report = report.expect("at least one strip");
        report.why = format!("{}; in {} strips", report.why, strips.len());
        Ok(report)
    })
}

/// Adds the times of a strip.
fn joined(report: Report, part: &Report) -> Report {
    Report { kernels: report.kernels + part.kernels, copy_in: report.copy_in + part.copy_in, ..report }
}

/// What solves a problem on the device.
type Solve<'a> = dyn FnMut(&FilterProblem, &AnyImage<'_>) -> Result<(Report, AnyImage<'static>)> + 'a;

/// Solves the problem of a strip; where the device has too little memory for it, by halves, and so on down to single rows.
fn whole_or_halves(
    problem: &FilterProblem,
    image: &AnyImage<'_>,
    solve: &mut Solve<'_>,
) -> Result<(Report, AnyImage<'static>)> {
    let error = match solve(problem, image) {
        Err(error @ Error::OutOfMemory { .. }) => error,
        solved => return solved,
    };
    let out = problem.window()?.out;
    let halves = [0..out.height / 2, out.height / 2..out.height];
    let strips: Vec<Strip> = match out.height {
        1 => Vec::new(),
        _ => halves.into_iter().filter_map(|half| problem.strip(half).transpose()).collect::<Result<_>>()?,
    };
    let [first, second] = &strips[..] else { return Err(error) };
    log::warn!(target: "apron", "{error}; its {} rows are computed by halves", out.height);
    let mut half = |strip: &Strip| {
        let rows = Whole(Source::Host(image.view()));
        whole_or_halves(&strip.problem, &read(&rows, strip)?, solve)
    };
    let ((report, above), (part, below)) = (half(first)?, half(second)?);
    let both = apron_cpu::image_from_bytes(problem.dst(), out, |bytes| {
        let (to_above, to_below) = bytes.split_at_mut(above.bytes().len());
        to_above.copy_from_slice(&above.bytes());
        to_below.copy_from_slice(&below.bytes());
        Ok(())
    });
    Ok((joined(report, &part), both?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Border, Extent, Image, Mask};
    use apron_core::Correlate;

    #[test]
    fn a_strip_that_does_not_fit_on_the_device_is_computed_by_halves() {
        let image = AnyImage::U8(Image::from_fn(7, 23, 1, |x, y, _| (x * 31 + y * 17) as u8).unwrap());
        let (shape, src, dst, mask) =
            (image.shape(), PixelType::U8, PixelType::F32, Mask::new(3, 5, vec![0.5; 15]).unwrap());
        let (border, clamp, extent) = (Border::Wrap, false, Extent::Same);
        let problem: FilterProblem = Correlate { shape, src, dst, mask, border, clamp, extent }.into();
        let device = Device::cpu();
        let mut calls = 0;
        let mut solve = |most: u32, problem: &FilterProblem, image: &AnyImage<'_>| {
            calls += 1;
            if problem.window()?.out.height > most {
                return Err(Error::OutOfMemory { operation: "correlate", bytes: 1, source: "planted".into() });
            }
            let solved = device.solve(problem, image, None)?;
            Ok((solved.report()?, solved.into_host()?))
        };
        let (_, expected) = solve(23, &problem, &image).unwrap();
        let (_, found) = whole_or_halves(&problem, &image, &mut |problem, image| solve(3, problem, image)).unwrap();
        assert!(found == expected);
        let error = whole_or_halves(&problem, &image, &mut |problem, image| solve(0, problem, image)).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }));
        assert!(calls > 20);
    }
}
