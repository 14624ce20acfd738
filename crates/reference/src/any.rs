//! The references for images whose sample type is known at run time only, each compiled here, once.

use apron_core::{
    AnyImage, Binning, CellHistogram, Columns, FilterProblem, FloatStatistics, Histogram, HistogramDd, Image,
    IntegerTotals, JointHistogram, Kind, Pixel, PixelType, Result, SparseHistogram, Statistics, WeightedBins,
    WeightedHistogram, check_computed, each_computed, each_pixel, each_type, no_doubles, not_computed,
};

/// Evaluates `$solved`, generic over the output type, for the output type `$dst`, which is not f64.
macro_rules! each_single_output {
    ($dst:expr, $solved:expr) => {
        match $dst {
            PixelType::U8 => AnyImage::U8($solved),
            PixelType::U16 => AnyImage::U16($solved),
            PixelType::I16 => AnyImage::I16($solved),
            PixelType::F16 => AnyImage::F16($solved),
            _ => AnyImage::F32($solved),
        }
    };
}

/// Evaluates `$solved` for images of types other than f64, and `$of_doubles` for images of f64.
macro_rules! each_single {
    ($problem:expr, $input:expr, $image:ident => $solved:expr, $double:ident => $of_doubles:expr) => {
        match $input {
            AnyImage::U8($image) => $solved,
            AnyImage::U16($image) => $solved,
            AnyImage::I16($image) => $solved,
            AnyImage::F16($image) => $solved,
            AnyImage::F32($image) => $solved,
            AnyImage::F64($double) => $of_doubles,
            other => return Err(not_computed($problem.operation(), other.pixel_type())),
        }
    };
}

/// Solves a filter's problem.
///
/// # Errors
/// As the functions for images of known types; [`Error::PixelType`](apron_core::Error::PixelType) for types in which
/// devices do not compute.
pub fn filter(
    problem: &FilterProblem,
    input: &AnyImage<'_>,
    second: Option<&AnyImage<'_>>,
) -> Result<AnyImage<'static>> {
    // Pointwise operations and filters of volumes convert, and padding only moves samples.
    if !matches!(problem, FilterProblem::Pointwise(_) | FilterProblem::Volume(_) | FilterProblem::Pad(_)) {
        check_computed(problem.operation(), (input.pixel_type(), problem.dst()))?;
    }
    /// Evaluates an expression for every pair of types: f64 to f64, others to each other.
    macro_rules! each_pair {
        ($dst:expr, $image:ident => $solved:expr) => {
            each_single!(problem, input, $image => each_single_output!($dst, $solved), $image => AnyImage::F64($solved))
        };
    }
    /// Evaluates an expression for every pair of types without f64.
    macro_rules! each_single_pair {
        ($dst:expr, $image:ident => $solved:expr) => {
            each_single!(problem, input, $image => each_single_output!($dst, $solved), _image => return Err(no_doubles(problem)))
        };
    }
    Ok(match problem {
        FilterProblem::Pointwise(p) => each_pixel!(p.dst, T => T::into_any(crate::pointwise(input, second, p)?)),
        FilterProblem::Volume(p) => each_pixel!(p.dst, T => T::into_any(crate::volume(input, p)?)),
        FilterProblem::Correlate(p) => each_pair!(p.dst, image => crate::correlate(image, p)?),
        FilterProblem::Separable(p) => each_pair!(p.dst, image => crate::separable(image, p)?),
        FilterProblem::Box(p) => each_pair!(p.dst, image => crate::box_filter(image, p)?),
        FilterProblem::LocalStd(p) => each_pair!(p.dst, image => crate::local_std(image, p)?),
        FilterProblem::Pad(p) => each_type!(input, image => Pixel::into_any(crate::pad(image, p)?)),
        FilterProblem::Paired(p) => each_single_pair!(p.dst, image => crate::paired(image, p)?),
        FilterProblem::Scaled(p) => each_single_pair!(p.dst, image => crate::scaled(image, p)?),
        FilterProblem::Fft(p) => {
            each_single!(problem, input, image => AnyImage::F32(crate::fft(image, p)?), _image => return Err(no_doubles(problem)))
        }
        FilterProblem::LowRank(p) => {
            each_single!(problem, input, image => AnyImage::F32(crate::low_rank(image, p)?), _image => return Err(no_doubles(problem)))
        }
    })
}

/// Evaluates `$counted`, generic over the type of the samples, for images of the types in which devices compute.
macro_rules! each_counted {
    ($operation:expr, $input:expr, $image:ident => $counted:expr) => {
        each_computed!($input, $image => $counted, else Err(not_computed($operation, $input.pixel_type())))
    };
}

/// As [`crate::count`].
///
/// # Errors
/// As there; [`Error::PixelType`](apron_core::Error::PixelType) for types in which devices do not compute.
pub fn histogram(
    input: &AnyImage<'_>,
    binning: &Binning,
    per_channel: bool,
    roi: Option<&Image<'_, u8>>,
) -> Result<Histogram> {
    each_counted!(CellHistogram::OPERATION, input, image => crate::count(image, binning, per_channel, roi))
}

/// As [`crate::weighted`].
///
/// # Errors
/// As [`histogram`].
pub fn weighted(
    input: &AnyImage<'_>,
    binning: &Binning,
    per_channel: bool,
    weights: &[f64],
) -> Result<WeightedHistogram> {
    each_counted!(WeightedBins::OPERATION, input, image => crate::weighted(image, binning, per_channel, weights))
}

/// As [`crate::joint`].
///
/// # Errors
/// As [`histogram`].
pub fn joint(input: &AnyImage<'_>, columns: &Columns, binning: &[Binning]) -> Result<HistogramDd> {
    each_counted!(JointHistogram::OPERATION, input, image => crate::joint(image, columns, binning))
}

/// As [`crate::joint_weighted`].
///
/// # Errors
/// As [`histogram`].
pub fn joint_weighted(
    input: &AnyImage<'_>,
    columns: &Columns,
    binning: &[Binning],
    weights: &[f64],
) -> Result<HistogramDd<f64>> {
    each_counted!(JointHistogram::OPERATION, input, image => crate::joint_weighted(image, columns, binning, weights))
}

/// As [`crate::joint_sparse`].
///
/// # Errors
/// As [`histogram`].
pub fn joint_sparse(input: &AnyImage<'_>, columns: &Columns, binning: &[Binning]) -> Result<SparseHistogram> {
    each_counted!(JointHistogram::OPERATION, input, image => crate::joint_sparse(image, columns, binning))
}

/// As [`crate::statistics`].
///
/// # Errors
/// [`Error::PixelType`](apron_core::Error::PixelType) for types in which devices do not compute.
pub fn statistics(input: &AnyImage<'_>, per_channel: bool) -> Result<Vec<Statistics>> {
    each_counted!(FloatStatistics::OPERATION, input, image => Ok(crate::statistics(image, per_channel)))
}

/// As [`crate::percentiles`].
///
/// # Errors
/// As [`statistics`].
pub fn percentiles(input: &AnyImage<'_>, per_channel: bool, percentiles: &[f64]) -> Result<Vec<Vec<f64>>> {
    each_counted!(FloatStatistics::OPERATION, input, image => Ok(crate::percentiles(image, per_channel, percentiles)))
}

/// As [`crate::totals`]; empty for images of other types than integers of 32 and 64 bits.
pub fn totals(input: &AnyImage<'_>, per_channel: bool) -> Vec<IntegerTotals> {
    match input {
        AnyImage::U32(image) => crate::totals(image, per_channel),
        AnyImage::I32(image) => crate::totals(image, per_channel),
        AnyImage::U64(image) => crate::totals(image, per_channel),
        AnyImage::I64(image) => crate::totals(image, per_channel),
        _ => Vec::new(),
    }
}
