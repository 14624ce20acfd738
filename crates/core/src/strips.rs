//! Strips: rows of a filter's output, each computed from a few rows of its input, with the bits of the
//! whole image's result.

use crate::window::Sides;
use crate::{Border, Extent, FilterProblem, Region, Result, Shape};
use apron_abi::BOX_CHUNK;
use std::ops::Range;

/// Rows of a filter's output as a separate problem.
///
/// ```
/// use apron_core::{Border, Correlate, Extent, FilterProblem, PixelType, Shape, filters};
///
/// let (shape, mask) = (Shape::new(640, 480, 1)?, filters::named_mask("sobel-x").unwrap());
/// let (src, dst, border, clamp) = (PixelType::U8, PixelType::F32, Border::Reflect101, false);
/// let problem: FilterProblem = Correlate { shape, src, dst, mask, border, clamp, extent: Extent::Same }.into();
/// let strip = problem.strip(0..32)?.expect("a window of three rows");
/// assert_eq!(strip.input, [1..2, 0..33]); // the row above the image is its row 1
/// assert_eq!(strip.problem.window()?.out, Shape::new(640, 32, 1)?);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// The problem of these rows. Its image is [`input`](Strip::input).
    pub problem: FilterProblem,
    /// The rows of the image that the strip reads, from top to bottom, as runs of consecutive rows. Rows outside the
    /// image are the rows that replace them by the border mode, so that a row may occur more than once.
    pub input: Vec<Range<u32>>,
    /// The rows of the output.
    pub output: Range<u32>,
}

impl FilterProblem {
    /// Returns the strip of these output rows. `None` for problems whose rows cannot be computed separately: a padding,
    /// and an operation on the image itself together with a filter of it.
    ///
    /// # Errors
    /// As [`window`](FilterProblem::window).
    ///
    /// # Panics
    /// If there are no rows, or some are not the output's.
    pub fn strip(&self, output: Range<u32>) -> Result<Option<Strip>> {
        let (window, shape) = (self.window()?, self.shape());
        assert!(output.start < output.end && output.end <= window.out.height, "rows of the output");
        let Some(reads) = self.reads()? else { return Ok(None) };
        // Input rows, which may lie outside the image.
        let first = window.origin_y + output.start as i32 + reads.rows.start;
        let end = window.origin_y + (output.end - 1) as i32 + reads.rows.end;
        let (height, chunk) = (shape.height as i32, reads.chunk as i32);
        let first = first.div_euclid(chunk) * chunk;
        let (first, input) = match reads.border {
            // The constant is the border of the strip, too.
            Border::Constant(_) => {
                let first = first.clamp(0, (height - 1) / chunk * chunk);
                (first, runs(first as u32..end.clamp(first + 1, height) as u32))
            }
            border => (first, runs((first..end).map(|y| border.mode().0.map(y, height).expect("no constant") as u32))),
        };
        let rows = input.iter().map(|run| run.end - run.start).sum();
        let region = Region {
            x: window.origin_x + reads.anchor.0 as i32,
            y: window.origin_y + reads.anchor.1 as i32 + output.start as i32 - first,
            width: window.out.width,
            height: output.end - output.start,
        };
        Ok(self.on_rows(rows, region).map(|problem| Strip { problem, input, output }))
    }

    /// Returns the input rows that the output's rows read; `None` if the problem has no strips.
    fn reads(&self) -> Result<Option<Reads>> {
        let of = |Sides { size, anchor }: Sides, border, chunk| Reads { rows: 0..size.1 as i32, anchor, border, chunk };
        Ok(Some(match self {
            FilterProblem::Correlate(problem) => of(problem.sides(), problem.border, 1),
            FilterProblem::Separable(problem) => of(problem.sides(), problem.border, 1),
            FilterProblem::LowRank(problem) => of(problem.sides(), problem.border, 1),
            FilterProblem::Scaled(problem) => of(problem.sides(), problem.border, 1),
            FilterProblem::Box(problem) => of(problem.sides(), problem.border, BOX_CHUNK),
            FilterProblem::LocalStd(problem) => of(problem.sides(), problem.border, BOX_CHUNK),
            FilterProblem::Pointwise(problem) if problem.second.is_none() => {
                of(Sides { size: (1, 1), anchor: (0, 0) }, Border::Replicate, 1)
            }
            FilterProblem::Paired(problem) => {
                let filters: Option<Vec<_>> = problem.parts().map(|part| problem.separable(part)).collect();
                let Some(filters) = filters else { return Ok(None) };
                let mut reads = of(filters[0].sides(), problem.border, 1);
                let origin = problem.window()?.origin_y;
                for filter in filters {
                    let from = filter.window()?.origin_y - origin;
                    let end = from + filter.taps_y.len() as i32;
                    reads.rows = reads.rows.start.min(from)..reads.rows.end.max(end);
                }
                reads
            }
            // Tiles are anchored at the image's first row.
            FilterProblem::Fft(_) | FilterProblem::Pointwise(_) | FilterProblem::Pad(_) | FilterProblem::Volume(_) => {
                return Ok(None);
            }
        }))
    }

    /// Returns the problem of an image of `height` rows that computes a region; `None` if the problem has no strips.
    fn on_rows(&self, height: u32, region: Region) -> Option<FilterProblem> {
        let on = |shape: &mut Shape, border: &mut Border, extent: &mut Extent| {
            shape.height = height;
            *extent = Extent::Region(region);
            if *border == Border::Crop {
                // Crop has no regions; no window of this region exceeds the image.
                *border = Border::Replicate;
            }
        };
        let mut problem = self.clone();
        match &mut problem {
            FilterProblem::Correlate(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::Separable(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::LowRank(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::Scaled(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::Box(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::LocalStd(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::Paired(p) => on(&mut p.shape, &mut p.border, &mut p.extent),
            FilterProblem::Pointwise(p) => p.shape.height = height,
            FilterProblem::Fft(_) | FilterProblem::Pad(_) | FilterProblem::Volume(_) => return None,
        }
        Some(problem)
    }
}

/// The input rows that the rows of an output read.
struct Reads {
    /// The rows of output row 0, relative to the row under the first tap of its window.
    rows: Range<i32>,
    anchor: (u32, u32),
    border: Border,
    /// The rows of a strip begin at a multiple of this number: chunks of rows order the sums of boxes.
    chunk: u32,
}

/// Returns consecutive numbers as runs.
fn runs(numbers: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}
