//! Filters strip by strip, from rows that are read to rows that are written.

use super::{Pool, ReadRows, STRIPS_AT_A_TIME, Whole, WriteRows, first_row, pipeline, read_runs, regions};
use crate::backend::Backend;
use crate::choice::Choice;
use crate::conversion::Conversion;
use crate::filter::{FilterBuilder, stated};
use crate::options::Options;
use crate::target::Room;
use crate::{AnyImage, Device, Error, Formula, Named, PixelType, Report, Result, Shape, Source};
use apron_core::{ByMethod, FilterProblem, Padded, Strip};
use std::ops::Range;

/// Returns the strips of a problem's rows that are not yet written, such that [`STRIPS_AT_A_TIME`] strips take at most
/// `memory` bytes of input and output.
fn strips(problem: &FilterProblem, out_rows: &dyn WriteRows, memory: u64) -> Result<Vec<Strip>> {
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
    let first = first_row(out_rows, out.height);
    (first..out.height).step_by(rows as usize).map(|start| strip(start..(start + rows).min(out.height))).collect()
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
            Some(Padded { filter, .. }) => Ok((filter.out_shape()?, dst)),
            None => Ok((self.source.shape(), dst)),
        }
    }

    /// Whether [`run_rows`](FilterBuilder::run_rows) runs this filter, so that the whole image need not be in memory.
    ///
    /// # Errors
    /// As [`run`](FilterBuilder::run), for what depends on no sample.
    pub fn has_strips(&self) -> Result<bool> {
        let (formula, dst) = self.asked()?;
        let FilterBuilder { device, source, options, .. } = self;
        let Some(filter) = alone(&formula, source.shape(), (source.pixel_type(), dst), options)? else {
            return Ok(regions::has_strips(options));
        };
        let device = device.for_job(&filter);
        let ByMethod { problem, .. } = device.by_method(filter, options.asked(), options.choice.variant)?;
        Ok(problem.strip(0..1)?.is_some())
    }

    /// Runs the filter strip by strip: its image, from [`ReadRows`], and its result, to [`WriteRows`], need not fit
    /// into memory. The images of all strips that are read, computed and written at a time take at most `memory` bytes.
    /// The result has the bits of the whole image's.
    ///
    /// For masks, taps, means, deviations and other filters of one window; with one border for both
    /// axes and all channels.
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
    /// As [`run`](FilterBuilder::run); [`Error::Unsupported`] for filters of several parts, with borders that differ by
    /// axis or channel or with alpha that is kept, if their result has another size than the image;
    /// [`Error::Parameter`] for too little memory for one row, and the errors of reading and writing.
    pub fn run_rows(self, out: &dyn WriteRows, memory: u64) -> Result<Report> {
        let (formula, dst) = self.asked()?;
        let FilterBuilder { device, source, options, .. } = self;
        let whole = Whole(source.view());
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let Some(filter) = alone(&formula, rows.shape(), (rows.pixel_type(), dst), &options)? else {
            return regions::run(device, (&formula, dst), &options, rows, out, memory);
        };
        let device = device.for_job(&filter);
        let ByMethod { problem, why } = device.by_method(filter, options.asked(), options.choice.variant)?;
        let strips = strips(&problem, out, memory)?;
        run(&device, &strips, why, rows, out, &options.choice)
    }
}

/// Returns the filter as a single problem, which is computed by strips; `None` for a filter that is computed by
/// regions.
fn alone(
    formula: &Formula,
    shape: Shape,
    types: (PixelType, PixelType),
    options: &Options<'_>,
) -> Result<Option<FilterProblem>> {
    let converts = options.stored || Conversion::of(formula, types, options).is_some();
    if converts || options.keep_alpha {
        return Ok(None);
    }
    let padded = stated(formula, shape, types, options)?.map(|problem| problem.with_borders(options.borders));
    Ok(padded.transpose()?.and_then(|Padded { padding, filter }| padding.is_none().then_some(filter)))
}

/// Computes the strips on the device.
fn run(
    device: &Device,
    strips: &[Strip],
    why: &str,
    rows: &dyn ReadRows,
    out: &dyn WriteRows,
    choice: &Choice<'_>,
) -> Result<Report> {
    let solved = |strip: &Strip, image: &AnyImage<'_>, pool: &Pool| {
        let mut solve = |problem: &FilterProblem, image: &AnyImage<'_>| {
            let source = Source::Host(image.view());
            let mut result = pool.take(problem.dst(), problem.window()?.out)?;
            let solved = device.with_fallback(|backend: &Backend| {
                let mut room = Room::Host(vec![result.view_mut()]);
                backend.filter(problem, why, &source, None, choice, Some(&mut room))
            })?;
            Ok((solved.made.report()?, result))
        };
        let (report, image) = whole_or_halves(&strip.problem, image, &mut solve)?;
        Ok((report, strip.output.start, image))
    };
    pipeline(strips, |strip, pool| read_runs(rows, &strip.input, pool), solved, out)
}

/// Solves a problem on the device.
type Solve<'a> = dyn FnMut(&FilterProblem, &AnyImage<'_>) -> Result<(Report, AnyImage<'static>)> + 'a;

/// Solves the problem of a strip. If the device has too little memory, the strip is halved, down to single rows.
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
        whole_or_halves(&strip.problem, &read_runs(&rows, &strip.input, &Pool::default())?, solve)
    };
    let ((report, above), (part, below)) = (half(first)?, half(second)?);
    let both = apron_cpu::image_from_bytes(problem.dst(), out, |bytes| {
        let (to_above, to_below) = bytes.split_at_mut(above.bytes().len());
        to_above.copy_from_slice(&above.bytes());
        to_below.copy_from_slice(&below.bytes());
        Ok(())
    });
    Ok((report.joined(&part), both?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Border, Extent, Image, Mask};
    use apron_core::Correlate;

    #[test]
    fn the_result_of_a_filter_that_is_restated_or_converted_is_known() {
        let (device, shape) = (Device::cpu(), Shape::new(5, 4, 2).unwrap());
        for src in [PixelType::F16, PixelType::F32, PixelType::F64] {
            let image = AnyImage::from_bytes(src, shape, |bytes| {
                bytes.fill(0);
                Ok(())
            });
            let image = image.unwrap();
            for dst in PixelType::ALL {
                let mean = |border| device.box_filter(&image, 3, 3).out_type(dst).border(border).result().unwrap();
                assert_eq!(mean(Border::Wrap), (shape, dst), "{src}");
                assert_eq!(mean(Border::Crop), (Shape::new(3, 2, 2).unwrap(), dst), "{src}");
            }
        }
        let image = Image::new(5, 4, 2, vec![0u8; 40]).unwrap();
        assert!(device.box_filter(&image, 0, 3).border(Border::Constant(0.5)).result().is_err());
        assert!(device.box_filter(&image, 3, 3).border(Border::Constant(0.5)).result().is_ok());
    }

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
