//! The operations on images whose sample type is known at run time only, each compiled here, once.

use crate::pages;
use apron_core::{
    AnyImage, AnyImageMut, Binning, CellHistogram, Columns, Error, FilterProblem, FloatStatistics, Histogram,
    HistogramDd, Image, IntegerTotals, JointHistogram, Kind, Pixel, Result, SparseHistogram, Statistics, WeightedBins,
    WeightedHistogram, check_computed, each_computed, each_type, each_type_mut, no_doubles, not_computed,
};

/// Solves a filter's problem.
///
/// # Errors
/// As the functions for images of known types; [`Error::PixelType`] for types in which devices do not compute.
pub fn filter(
    problem: &FilterProblem,
    input: &AnyImage<'_>,
    second: Option<&AnyImage<'_>>,
) -> Result<AnyImage<'static>> {
    // Pointwise operations and filters of volumes convert, and padding only moves samples.
    if !matches!(problem, FilterProblem::Pointwise(_) | FilterProblem::Volume(_) | FilterProblem::Pad(_)) {
        check_computed(problem.operation(), (input.pixel_type(), problem.dst()))?;
    }
    let mut image = pages::image_of_zeros(problem.dst(), problem.window()?.out)?;
    filter_into(problem, input, second, image.view_mut())?;
    Ok(image)
}

/// As [`filter`], into an image of the result's shape and type.
///
/// # Errors
/// As [`filter`]; [`Error::PixelType`] and [`Error::Parameter`] for an output of another type or shape.
pub fn filter_into(
    problem: &FilterProblem,
    input: &AnyImage<'_>,
    second: Option<&AnyImage<'_>>,
    out: AnyImageMut<'_>,
) -> Result<()> {
    let (operation, found, expected) = (problem.operation(), out.pixel_type(), problem.dst().to_string());
    let mismatch = || Err(Error::PixelType { operation, found, expected });
    /// Evaluates an expression for an output of any type but f64.
    macro_rules! single_into {
        ($out:ident => $solved:expr) => {
            match out {
                AnyImageMut::U8($out) => $solved,
                AnyImageMut::U16($out) => $solved,
                AnyImageMut::I16($out) => $solved,
                AnyImageMut::F16($out) => $solved,
                AnyImageMut::F32($out) => $solved,
                _ => mismatch(),
            }
        };
    }
    /// Evaluates an expression for an output of f64.
    macro_rules! double_into {
        ($out:ident => $solved:expr) => {
            match out {
                AnyImageMut::F64($out) => $solved,
                _ => mismatch(),
            }
        };
    }
    /// Evaluates `$solved` for images of types other than f64, and `$of_doubles` for images of f64.
    macro_rules! each_single {
        ($image:ident => $solved:expr, $double:ident => $of_doubles:expr) => {
            match input {
                AnyImage::U8($image) => $solved,
                AnyImage::U16($image) => $solved,
                AnyImage::I16($image) => $solved,
                AnyImage::F16($image) => $solved,
                AnyImage::F32($image) => $solved,
                AnyImage::F64($double) => $of_doubles,
                other => Err(not_computed(operation, other.pixel_type())),
            }
        };
    }
    /// Evaluates an expression for every pair of types: f64 to f64, others to each other.
    macro_rules! each_pair {
        ($image:ident, $out:ident => $solved:expr) => {
            each_single!($image => single_into!($out => $solved), $image => double_into!($out => $solved))
        };
    }
    /// Evaluates an expression for every pair of types without f64.
    macro_rules! each_single_pair {
        ($image:ident, $out:ident => $solved:expr) => {
            each_single!($image => single_into!($out => $solved), _image => Err(no_doubles(problem)))
        };
    }
    match problem {
        FilterProblem::Correlate(p) => each_pair!(image, out => crate::correlate_into(image, p, out)),
        FilterProblem::Separable(p) => each_pair!(image, out => crate::separable_into(image, p, out)),
        FilterProblem::Box(p) => each_pair!(image, out => crate::box_filter_into(image, p, out)),
        FilterProblem::LocalStd(p) => each_pair!(image, out => crate::local_std_into(image, p, out)),
        FilterProblem::Pointwise(p) => each_type_mut!(out, out => crate::pointwise_into(input, second, p, out)),
        FilterProblem::Volume(p) => each_type_mut!(out, out => crate::volume_into(input, p, out)),
        FilterProblem::Paired(p) => each_single_pair!(image, out => crate::paired_into(image, p, out)),
        FilterProblem::Scaled(p) => each_single_pair!(image, out => crate::scaled_into(image, p, out)),
        FilterProblem::Fft(p) => match out {
            AnyImageMut::F32(out) => {
                each_single!(image => crate::fft_into(image, p, out), _image => Err(no_doubles(problem)))
            }
            _ => mismatch(),
        },
        FilterProblem::LowRank(p) => match out {
            AnyImageMut::F32(out) => {
                each_single!(image => crate::low_rank_into(image, p, out), _image => Err(no_doubles(problem)))
            }
            _ => mismatch(),
        },
        FilterProblem::Pad(p) => each_type!(input, image => match Pixel::from_any_mut(out) {
            Some(out) => crate::pad_into(image, p, out),
            None => mismatch(),
        }),
    }
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
/// As there; [`Error::PixelType`] for types in which devices do not compute.
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
/// [`Error::PixelType`] for types in which devices do not compute.
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

/// As [`crate::column_extremes`].
///
/// # Errors
/// As [`histogram`].
pub fn column_extremes(input: &AnyImage<'_>, columns: &Columns) -> Result<Vec<(f64, f64)>> {
    each_counted!(JointHistogram::OPERATION, input, image => crate::column_extremes(image, columns))
}
