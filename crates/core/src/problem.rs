//! Problems: what to compute, as values, grouped by the kind of result: an image, counts or numbers.

use crate::{
    BoxFilter, ByteHistogram, CellHistogram, Clahe, Correlate, EdgeHistogram, Equalize, Error, Fft, FloatStatistics,
    Image, JointHistogram, LocalStd, Lookup, LowRank, Pad, Paired, Pixel, PixelType, Pointwise, Result, Scaled,
    Separable, Shape, VolumeFilter, WeightedBins, Window,
};

/// Checks that an image and the output's sample type match a problem.
///
/// # Errors
/// [`Error::PixelType`] and [`Error::Shape`] if they do not, and as [`check_computed`] if the types differ.
pub fn check_pixels<I: Pixel, O: Pixel>(
    operation: &'static str,
    image: &Image<'_, I>,
    shape: Shape,
    (src, dst): (PixelType, PixelType),
) -> Result<()> {
    for (found, expected) in [(I::PIXEL, src), (O::PIXEL, dst)] {
        if found != expected {
            return Err(Error::PixelType { operation, found, expected: expected.to_string() });
        }
    }
    if src != dst {
        check_computed(operation, (src, dst))?;
    }
    if image.shape() != shape {
        let (value, limit) = (image.shape().to_string(), shape.to_string());
        return Err(Error::Shape { what: "shape", value, limit });
    }
    Ok(())
}

/// Checks that filters are [computed](PixelType::computed) in both types, and that both are f64, or neither.
///
/// # Errors
/// [`Error::PixelType`] if not.
pub fn check_computed(operation: &'static str, (src, dst): (PixelType, PixelType)) -> Result<()> {
    if let Some(found) = [src, dst].into_iter().find(|pixel| !pixel.is_computed()) {
        let expected = format!("{}, in which it is computed: a pointwise operation converts", found.computed());
        return Err(Error::PixelType { operation, found, expected });
    }
    if (src == PixelType::F64) != (dst == PixelType::F64) {
        let expected = format!("{src}, or both f64: a pointwise operation converts");
        return Err(Error::PixelType { operation, found: dst, expected });
    }
    Ok(())
}

/// Returns the error for a type that has to be converted before.
pub fn not_computed(operation: &'static str, found: PixelType) -> Error {
    Error::PixelType { operation, found, expected: format!("{}, in which it is computed", found.computed()) }
}

/// Returns the error for a problem that is not supported in f64.
pub fn no_doubles(problem: &FilterProblem) -> Error {
    let (operation, found) = (problem.operation(), PixelType::F64);
    Error::PixelType { operation, found, expected: "another: f64 is computed part by part".into() }
}

/// Checks that a second image has one sample per pixel of the first.
///
/// # Errors
/// [`Error::Shape`] if it has not.
pub fn check_beside(what: &'static str, image: Shape, beside: Shape) -> Result<()> {
    let needed = Shape { channels: 1, ..image };
    if beside == needed {
        return Ok(());
    }
    Err(Error::Shape {
        what,
        value: beside.to_string(),
        limit: format!("{needed}, one number for each pixel of the image"),
    })
}

/// A kind of problem, such as [`Correlate`], for which devices have implementations.
pub trait Kind: Clone + Into<Problem> + 'static {
    /// The operation's name in errors and reports.
    const OPERATION: &'static str;

    /// Returns the problem, if it is of this kind.
    fn of(problem: &Problem) -> Option<&Self>;
}

/// Defines the enum of all problems with the same kind of result.
macro_rules! problems {
    ($(#[$doc:meta])* $name:ident in $gives:ident { $($variant:ident($kind:ty) = $operation:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // each holds the problem of its name
        pub enum $name {
            $($variant($kind),)*
        }

        impl $name {
            /// Returns the operation's name in errors and reports.
            pub fn operation(&self) -> &'static str {
                match self {
                    $($name::$variant(_) => <$kind>::OPERATION,)*
                }
            }

            /// Returns the shape of the input.
            pub fn shape(&self) -> Shape {
                match self {
                    $($name::$variant(problem) => problem.shape,)*
                }
            }
        }

        impl From<$name> for Problem {
            fn from(problem: $name) -> Problem {
                Problem::$gives(problem)
            }
        }

        $(
            impl Kind for $kind {
                const OPERATION: &'static str = $operation;

                fn of(problem: &Problem) -> Option<&$kind> {
                    match problem {
                        Problem::$gives($name::$variant(problem)) => Some(problem),
                        _ => None,
                    }
                }
            }

            impl From<$kind> for $name {
                fn from(problem: $kind) -> $name {
                    $name::$variant(problem)
                }
            }

            impl From<$kind> for Problem {
                fn from(problem: $kind) -> Problem {
                    Problem::$gives(problem.into())
                }
            }
        )*
    };
}

/// Any problem that a device solves.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// Results in an image.
    Filter(FilterProblem),
    /// Results in the counts of a histogram.
    Count(CountProblem),
    /// Results in an image of the same shape and type, whose samples come from lookup tables.
    Map(MapProblem),
    /// Results in numbers.
    Measure(MeasureProblem),
}

problems! {
    /// Problems with an image as result, whose samples depend on a window or on the samples at their position.
    FilterProblem in Filter {
        Correlate(Correlate) = "correlate",
        Separable(Separable) = "separable",
        // Low-rank sums use the variants of their terms.
        LowRank(LowRank) = "separable",
        Fft(Fft) = Fft::NAME,
        Scaled(Scaled) = Scaled::NAME,
        Box(BoxFilter) = BoxFilter::NAME,
        LocalStd(LocalStd) = LocalStd::NAME,
        Pointwise(Pointwise) = Pointwise::NAME,
        Paired(Paired) = Paired::NAME,
        Pad(Pad) = Pad::NAME,
        Volume(VolumeFilter) = VolumeFilter::NAME,
    }
}

problems! {
    /// Problems with counts as result: histograms, by the kind of bins.
    CountProblem in Count {
        Bytes(ByteHistogram) = "histogram",
        Edges(EdgeHistogram) = "histogram",
        Cells(CellHistogram) = "histogram",
    }
}

problems! {
    /// Problems with an image as result, whose samples are looked up in tables.
    MapProblem in Map {
        Lookup(Lookup) = "lookup",
        Equalize(Equalize) = "equalize",
        Clahe(Clahe) = "clahe",
    }
}

problems! {
    /// Problems with numbers as result: statistics, sums of weights by bin, histograms of many dimensions.
    MeasureProblem in Measure {
        Statistics(FloatStatistics) = "stats",
        Weighted(WeightedBins) = "weighted",
        Joint(JointHistogram) = "joint",
    }
}

impl Problem {
    /// Returns the operation's name in errors and reports.
    pub fn operation(&self) -> &'static str {
        match self {
            Problem::Filter(problem) => problem.operation(),
            Problem::Count(problem) => problem.operation(),
            Problem::Map(problem) => problem.operation(),
            Problem::Measure(problem) => problem.operation(),
        }
    }

    /// Returns the shape of the input.
    pub fn shape(&self) -> Shape {
        match self {
            Problem::Filter(problem) => problem.shape(),
            Problem::Count(problem) => problem.shape(),
            Problem::Map(problem) => problem.shape(),
            Problem::Measure(problem) => problem.shape(),
        }
    }

    /// Returns the sample type of the input.
    pub fn src(&self) -> PixelType {
        match self {
            Problem::Filter(problem) => problem.src(),
            Problem::Count(CountProblem::Bytes(_)) => PixelType::U8,
            Problem::Count(CountProblem::Edges(problem)) => problem.src,
            Problem::Count(CountProblem::Cells(problem)) => problem.src,
            Problem::Map(MapProblem::Lookup(_) | MapProblem::Equalize(_)) => PixelType::U8,
            Problem::Map(MapProblem::Clahe(problem)) => problem.src,
            Problem::Measure(MeasureProblem::Statistics(problem)) => problem.src,
            Problem::Measure(MeasureProblem::Weighted(problem)) => problem.src,
            Problem::Measure(MeasureProblem::Joint(problem)) => problem.src,
        }
    }
}

impl FilterProblem {
    /// Returns the sample type of the input.
    pub fn src(&self) -> PixelType {
        match self {
            FilterProblem::Correlate(problem) => problem.src,
            FilterProblem::Separable(problem) => problem.src,
            FilterProblem::LowRank(problem) => problem.src,
            FilterProblem::Fft(problem) => problem.src,
            FilterProblem::Scaled(problem) => problem.src,
            FilterProblem::Box(problem) => problem.src,
            FilterProblem::LocalStd(problem) => problem.src,
            FilterProblem::Pointwise(problem) => problem.src,
            FilterProblem::Paired(problem) => problem.src,
            FilterProblem::Pad(problem) => problem.pixel,
            FilterProblem::Volume(problem) => problem.src,
        }
    }

    /// Returns the sample type of the output.
    pub fn dst(&self) -> PixelType {
        match self {
            FilterProblem::Correlate(problem) => problem.dst,
            FilterProblem::Separable(problem) => problem.dst,
            FilterProblem::LowRank(_) | FilterProblem::Fft(_) => PixelType::F32,
            FilterProblem::Scaled(problem) => problem.dst,
            FilterProblem::Box(problem) => problem.dst,
            FilterProblem::LocalStd(problem) => problem.dst,
            FilterProblem::Pointwise(problem) => problem.dst,
            FilterProblem::Paired(problem) => problem.dst,
            FilterProblem::Pad(problem) => problem.pixel,
            FilterProblem::Volume(problem) => problem.dst,
        }
    }

    /// Returns the sample type of the second image, if there is one.
    pub fn second(&self) -> Option<PixelType> {
        if let FilterProblem::Pointwise(problem) = self { problem.second } else { None }
    }

    /// Returns the output's shape, and the input position of its first window.
    ///
    /// # Errors
    /// As [`Correlate::window`], and the errors of an invalid problem.
    pub fn window(&self) -> Result<Window> {
        match self {
            FilterProblem::Correlate(problem) => problem.window(),
            FilterProblem::Separable(problem) => problem.window(),
            FilterProblem::LowRank(problem) => problem.window(),
            FilterProblem::Fft(problem) => problem.window(),
            FilterProblem::Scaled(problem) => problem.window(),
            FilterProblem::Box(problem) => problem.window(),
            FilterProblem::LocalStd(problem) => problem.window(),
            FilterProblem::Paired(problem) => problem.window(),
            FilterProblem::Pointwise(problem) => Ok(Window { out: problem.shape, origin_x: 0, origin_y: 0 }),
            FilterProblem::Pad(problem) => problem.window(),
            // In the stack: the planes one below the other.
            FilterProblem::Volume(problem) => {
                Ok(Window { out: problem.window()?.out.stacked(), origin_x: 0, origin_y: 0 })
            }
        }
    }

    /// Returns the width and height of the windows, in pixels; of several parts, the largest.
    pub fn size(&self) -> (u32, u32) {
        match self {
            FilterProblem::Correlate(problem) => problem.sides().size,
            FilterProblem::Separable(problem) => problem.sides().size,
            FilterProblem::LowRank(problem) => problem.sides().size,
            FilterProblem::Fft(problem) => problem.sides().size,
            FilterProblem::Scaled(problem) => problem.sides().size,
            FilterProblem::Box(problem) => problem.sides().size,
            FilterProblem::LocalStd(problem) => problem.sides().size,
            FilterProblem::Paired(problem) => {
                let sizes = problem.parts().filter_map(|part| problem.filter(part)).map(|filter| filter.size());
                sizes.fold((1, 1), |most, size| (most.0.max(size.0), most.1.max(size.1)))
            }
            FilterProblem::Volume(problem) => (problem.weights.size()[0], problem.weights.size()[1]),
            FilterProblem::Pointwise(_) | FilterProblem::Pad(_) => (1, 1),
        }
    }

    /// Returns the column and row of the tap over the output pixel; 0 for a problem without windows.
    pub fn anchor(&self) -> (u32, u32) {
        match self {
            FilterProblem::Correlate(problem) => problem.sides().anchor,
            FilterProblem::Separable(problem) => problem.sides().anchor,
            FilterProblem::LowRank(problem) => problem.sides().anchor,
            FilterProblem::Fft(problem) => problem.sides().anchor,
            FilterProblem::Scaled(problem) => problem.sides().anchor,
            FilterProblem::Box(problem) => problem.sides().anchor,
            FilterProblem::LocalStd(problem) => problem.sides().anchor,
            FilterProblem::Volume(problem) => (problem.weights.anchor()[0], problem.weights.anchor()[1]),
            FilterProblem::Pointwise(_) | FilterProblem::Paired(_) | FilterProblem::Pad(_) => (0, 0),
        }
    }
}
