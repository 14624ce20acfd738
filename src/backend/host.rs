//! The host devices: dispatches each problem to its function by pixel types.

use crate::{AnyImage, AnyImageMut, Binning, Error, Histogram, Image, Pixel, PixelType, Result};
use apron_core::{FilterProblem, check_computed, each_computed, each_pixel, each_type, each_type_mut};

const OPERATION: &str = "filter";

/// Evaluates `$solved`, which is generic over the output type, for the output type `$dst`, which is not f64.
macro_rules! each_single_output {
    ($dst:expr, $solved:expr) => {
        match $dst {
            PixelType::U8 => u8::into_any($solved),
            PixelType::U16 => u16::into_any($solved),
            PixelType::I16 => i16::into_any($solved),
            PixelType::F16 => apron_core::f16::into_any($solved),
            _ => f32::into_any($solved),
        }
    };
}

/// Evaluates `$solved` for images of types other than f64, and `$of_doubles` for images of f64.
macro_rules! each_single {
    ($input:expr, $image:ident => $solved:expr, $double:ident => $of_doubles:expr) => {
        match $input {
            AnyImage::U8($image) => $solved,
            AnyImage::U16($image) => $solved,
            AnyImage::I16($image) => $solved,
            AnyImage::F16($image) => $solved,
            AnyImage::F32($image) => $solved,
            AnyImage::F64($double) => $of_doubles,
            other => return Err(not_computed(OPERATION, other.pixel_type())),
        }
    };
}

/// Evaluates `$solved`, which is generic over the types of the image and of the output: f64 to f64, others to each other.
macro_rules! each_pair {
    ($input:expr, $dst:expr, $image:ident => $solved:expr) => {
        each_single!($input, $image => each_single_output!($dst, $solved), $image => f64::into_any($solved))
    };
}

/// Defines a device's filter function for every pair of pixel types.
macro_rules! filter {
    ($(#[$doc:meta])* $name:ident, $device:ident) => {
        $(#[$doc])*
        pub(super) fn $name(
            problem: &FilterProblem,
            input: &AnyImage<'_>,
            second: Option<&AnyImage<'_>>,
        ) -> Result<AnyImage<'static>> {
            // Pointwise operations and filters of volumes convert, and padding only moves samples.
            let converts = matches!(problem, FilterProblem::Pointwise(_) | FilterProblem::Volume(_));
            if !converts && !matches!(problem, FilterProblem::Pad(_)) {
                check_computed(problem.operation(), (input.pixel_type(), problem.dst()))?;
            }
            Ok(match problem {
                FilterProblem::Pointwise(p) => each_pixel!(p.dst, T => T::into_any($device::pointwise(input, second, p)?)),
                FilterProblem::Volume(p) => each_pixel!(p.dst, T => T::into_any($device::volume(input, p)?)),
                FilterProblem::Correlate(p) => each_pair!(input, p.dst, image => $device::correlate(image, p)?),
                FilterProblem::Separable(p) => each_pair!(input, p.dst, image => $device::separable(image, p)?),
                FilterProblem::Box(p) => each_pair!(input, p.dst, image => $device::box_filter(image, p)?),
                FilterProblem::LocalStd(p) => each_pair!(input, p.dst, image => $device::local_std(image, p)?),
                FilterProblem::Pad(p) => each_type!(input, image => Pixel::into_any($device::pad(image, p)?)),
                FilterProblem::Paired(p) => {
                    each_single!(
                        input,
                        image => each_single_output!(p.dst, $device::paired(image, p)?),
                        _image => return Err(no_doubles(problem))
                    )
                }
                FilterProblem::Scaled(p) => {
                    each_single!(
                        input,
                        image => each_single_output!(p.dst, $device::scaled(image, p)?),
                        _image => return Err(no_doubles(problem))
                    )
                }
                FilterProblem::LowRank(p) => {
                    each_single!(
                        input,
                        image => f32::into_any($device::low_rank(image, p)?),
                        _image => return Err(no_doubles(problem))
                    )
                }
            })
        }
    };
}

/// Returns the error for a type that has to be converted before.
pub(super) fn not_computed(operation: &'static str, found: PixelType) -> Error {
    Error::PixelType { operation, found, expected: format!("{}, in which it is computed", found.computed()) }
}

/// Returns the error for a problem that f64 does not have.
fn no_doubles(problem: &FilterProblem) -> Error {
    let (operation, found) = (problem.operation(), PixelType::F64);
    Error::PixelType { operation, found, expected: "another: f64 is computed part by part".into() }
}

filter!(
    /// Solves a filter's problem on all cores.
    cpu_filter,
    apron_cpu
);
filter!(
    /// Solves a filter's problem by the serial reference.
    reference_filter,
    apron_reference
);

/// Solves a filter's problem on all cores, into an image of the result's shape and type.
pub(super) fn cpu_filter_into(
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
    /// As [`each_pair!`].
    macro_rules! each_pair_into {
        ($image:ident, $out:ident => $solved:expr) => {
            each_single!(input, $image => single_into!($out => $solved), $image => double_into!($out => $solved))
        };
    }
    match problem {
        FilterProblem::Correlate(p) => each_pair_into!(image, out => apron_cpu::correlate_into(image, p, out)),
        FilterProblem::Separable(p) => each_pair_into!(image, out => apron_cpu::separable_into(image, p, out)),
        FilterProblem::Box(p) => each_pair_into!(image, out => apron_cpu::box_filter_into(image, p, out)),
        FilterProblem::LocalStd(p) => each_pair_into!(image, out => apron_cpu::local_std_into(image, p, out)),
        FilterProblem::Pointwise(p) => each_type_mut!(out, out => apron_cpu::pointwise_into(input, second, p, out)),
        FilterProblem::Volume(p) => each_type_mut!(out, out => apron_cpu::volume_into(input, p, out)),
        FilterProblem::Paired(p) => {
            each_single!(input, image => single_into!(out => apron_cpu::paired_into(image, p, out)), _image => Err(no_doubles(problem)))
        }
        FilterProblem::Scaled(p) => {
            each_single!(input, image => single_into!(out => apron_cpu::scaled_into(image, p, out)), _image => Err(no_doubles(problem)))
        }
        FilterProblem::LowRank(p) => match out {
            AnyImageMut::F32(out) => {
                each_single!(input, image => apron_cpu::low_rank_into(image, p, out), _image => Err(no_doubles(problem)))
            }
            _ => mismatch(),
        },
        FilterProblem::Pad(p) => each_type!(input, image => match Pixel::from_any_mut(out) {
            Some(out) => apron_cpu::pad_into(image, p, out),
            None => mismatch(),
        }),
    }
}

/// Returns the image if its samples are u8, else an error.
pub(super) fn bytes<'a>(operation: &'static str, image: &'a AnyImage<'_>) -> Result<&'a Image<'a, u8>> {
    match image {
        AnyImage::U8(image) => Ok(image),
        other => Err(Error::PixelType { operation, found: other.pixel_type(), expected: "u8".into() }),
    }
}

/// Defines a device's histogram function. Samples of u8 are counted by value, which serves any bins.
macro_rules! histogram {
    ($(#[$doc:meta])* $name:ident, $device:ident) => {
        $(#[$doc])*
        pub(super) fn $name(
            input: &AnyImage<'_>,
            binning: &Binning,
            per_channel: bool,
            roi: Option<&Image<'_, u8>>,
        ) -> Result<Histogram> {
            if let (AnyImage::U8(image), None) = (input, roi) {
                let edges = binning.edges(PixelType::U8, || (0.0, 255.0))?;
                let channels = if per_channel { image.channels() } else { 1 };
                let counts = $device::byte_histogram(image, per_channel);
                return Ok(Histogram::from_byte_counts(edges, channels, &counts));
            }
            let other = || Err(not_computed("histogram", input.pixel_type()));
            each_computed!(input, image => $device::count(image, binning, per_channel, roi), else other())
        }
    };
}

histogram!(
    /// Counts on all cores.
    cpu_histogram,
    apron_cpu
);
histogram!(
    /// Counts by the serial reference.
    reference_histogram,
    apron_reference
);
