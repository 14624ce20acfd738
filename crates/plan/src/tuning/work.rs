//! Workloads: the properties of problems by which rows of the table are found.

use crate::rewrite::rounding;
use apron_core::{CountProblem, FilterProblem, MapProblem, MeasureProblem, PixelType, Problem, VolumeWeights};

/// The properties of a problem that its time depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Work {
    /// The operation.
    pub operation: &'static str,
    /// Type of the input's samples.
    pub src: PixelType,
    /// Type of the output's samples; for histograms, the input's.
    pub dst: PixelType,
    /// Whether the taps make all f32 sums of bytes exact, so that no variant has to check any.
    pub exact: bool,
    /// Whether the bytes per input row are a multiple of 16, so that wide copies and loads apply.
    pub aligned: bool,
    /// Channels; for histograms, those counted apart.
    pub channels: u32,
    /// The direction and the taps of a mask that is a line: variants come in another order than for squares.
    pub line: Option<(Line, u32)>,
    /// Side of the square mask with the same number of taps (of the cube, for volumes); the mean of both axes of
    /// separable filters and windows; for histograms, the number of bins.
    pub side: u32,
    /// Columns of the input.
    pub width: u32,
    /// Rows of the input.
    pub height: u32,
}

/// A mask of one row or one column, and of several taps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    /// One row.
    Row,
    /// One column.
    Column,
}

impl Line {
    /// Returns the line of a problem's mask, and its taps.
    fn of(problem: &Problem) -> Option<(Line, u32)> {
        let Problem::Filter(FilterProblem::Correlate(p)) = problem else { return None };
        match (p.mask.width(), p.mask.height()) {
            (taps @ 2.., 1) => Some((Line::Row, taps)),
            (1, taps @ 2..) => Some((Line::Column, taps)),
            _ => None,
        }
    }
}

/// Operation, input type and output type: rows of other kinds are never compared.
pub(super) type Kind = (&'static str, PixelType, PixelType);

impl Work {
    /// Returns the properties of `problem` that its time depends on.
    pub fn of(problem: &Problem) -> Work {
        let (operation, shape, src) = (problem.operation(), problem.shape(), problem.src());
        let dst = if let Problem::Filter(filter) = problem { filter.dst() } else { src };
        let (channels, side) = match problem {
            Problem::Filter(filter) => (shape.channels, Self::side(filter)),
            Problem::Count(CountProblem::Bytes(p)) => (p.channels(), 256),
            Problem::Count(CountProblem::Edges(p)) => (p.channels(), number(p.bins.count)),
            Problem::Count(CountProblem::Cells(p)) => (p.channels(), number(p.cells())),
            Problem::Map(MapProblem::Lookup(_) | MapProblem::Equalize(_) | MapProblem::Clahe(_)) => (shape.channels, 1),
            Problem::Measure(MeasureProblem::Statistics(p)) => (p.channels(), 1),
            Problem::Measure(MeasureProblem::Weighted(p)) => (p.channels(), number(p.edges.bins())),
            Problem::Measure(MeasureProblem::Joint(p)) => (shape.channels, number(p.edges[0].bins())),
        };
        // Channels that are counted together count as columns.
        let width = shape.width.saturating_mul(shape.channels / channels);
        let exact = (src, dst) == (PixelType::U8, PixelType::U8)
            && match problem {
                Problem::Filter(FilterProblem::Correlate(p)) => rounding::dense_slack(p.mask.taps()) == 0.0,
                Problem::Filter(FilterProblem::Separable(p)) => {
                    rounding::separable_slack(p.taps_x.taps(), p.taps_y.taps()) == 0.0
                }
                _ => false,
            };
        let aligned = (shape.row_samples() * src.size_bytes()).is_multiple_of(16);
        let line = Line::of(problem);
        Work { operation, src, dst, exact, aligned, channels, line, side, width, height: shape.height }
    }

    /// Returns the side of the filter's mask, as in the field `side`: for a sum of filters, of its first term; for
    /// paired filters, the largest side of a part.
    fn side(filter: &FilterProblem) -> u32 {
        match filter {
            FilterProblem::Scaled(p) => Self::side(&p.sums()),
            FilterProblem::Correlate(p) => square_side(p.mask.width() as f64 * p.mask.height() as f64),
            FilterProblem::Fft(p) => square_side(p.mask.width() as f64 * p.mask.height() as f64),
            FilterProblem::Separable(p) => (p.taps_x.len() + p.taps_y.len()).div_ceil(2),
            FilterProblem::LowRank(p) => p.terms.first().map_or(1, |(x, y)| (x.len() + y.len()).div_ceil(2)),
            FilterProblem::Box(p) => p.width.midpoint(p.height),
            FilterProblem::LocalStd(p) => p.width.midpoint(p.height),
            FilterProblem::Paired(p) => {
                let filters = p.parts().filter_map(|part| p.filter(part));
                filters.map(|filter| Self::side(&filter)).max().unwrap_or(1)
            }
            // A dense mask counts as the cube with the same number of taps, a separable filter as the mean of its axes.
            FilterProblem::Volume(p) => match &p.weights {
                VolumeWeights::Dense(mask) => (mask.count() as f64).cbrt().round() as u32,
                VolumeWeights::Separable(_) => p.weights.size().iter().sum::<u32>().div_ceil(3),
            },
            FilterProblem::Pointwise(_) | FilterProblem::Pad(_) => 1,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        (self.operation, self.src, self.dst)
    }

    /// Returns the direction of a line.
    pub(super) fn direction(&self) -> Option<Line> {
        self.line.map(|(line, _)| line)
    }

    /// Returns the taps of a line, or the side.
    pub(super) fn length(&self) -> f64 {
        self.line.map_or(self.side, |(_, taps)| taps) as f64
    }

    pub(super) fn samples(&self) -> f64 {
        self.width as f64 * self.height as f64 * self.channels as f64
    }

    /// Returns a lower bound on the ratio of this work to `other`, which is of the same kind: times of all kernels grow
    /// with the samples, and those of filters at least linearly with the side of the mask.
    pub(super) fn over(&self, other: &Work) -> f64 {
        let of = |work: &Work| match work.operation {
            "correlate" | "separable" => work.samples() * work.length(),
            _ => work.samples(),
        };
        (of(self) / of(other)).max(1.0)
    }
}

/// Returns the side of the square mask with this number of taps.
pub(super) fn square_side(taps: f64) -> u32 {
    taps.sqrt().round() as u32
}

/// Converts a number of bins or cells to u32, saturating.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
