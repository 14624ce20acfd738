//! The host devices: each problem to its function, by pixel types.

use crate::{AnyImage, AnyImageMut, Binning, Histogram, Image, Pixel, PixelType, Result};
use apron_core::{Problem, each_type};

/// A device's filter function for every pair of pixel types.
macro_rules! filter {
    ($(#[$doc:meta])* $name:ident, $device:ident) => {
        $(#[$doc])*
        pub(super) fn $name(
            problem: &Problem,
            input: &AnyImage<'_>,
            second: Option<&AnyImage<'_>>,
        ) -> Result<AnyImage<'static>> {
            macro_rules! solve {
                ($image:ident, $out:ty) => {{
                    let out: Image<'static, $out> = match problem {
                        Problem::Correlate(p) => $device::correlate($image, p)?,
                        Problem::Separable(p) => $device::separable($image, p)?,
                        Problem::Box(p) => $device::box_filter($image, p)?,
                        Problem::LocalStd(p) => $device::local_std($image, p)?,
                        Problem::Pointwise(p) => $device::pointwise(input, second, p)?,
                        Problem::LowRank(_) | Problem::Pad(_) => unreachable!("solved before"),
                        Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => {
                            unreachable!("a histogram is no filter")
                        },
                    };
                    Ok(<$out as Pixel>::into_any(out))
                }};
            }
            if let Problem::LowRank(p) = problem {
                return Ok(each_type!(input, image => Pixel::into_any($device::low_rank(image, p)?)));
            }
            if let Problem::Pad(p) = problem {
                return Ok(each_type!(input, image => Pixel::into_any($device::pad(image, p)?)));
            }
            let dst = problem.filtered_to().expect("a filter writes samples");
            each_type!(input, image => match dst {
                PixelType::U8 => solve!(image, u8),
                PixelType::U16 => solve!(image, u16),
                PixelType::I16 => solve!(image, i16),
                PixelType::F16 => solve!(image, apron_core::f16),
                PixelType::F32 => solve!(image, f32),
            })
        }
    };
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
    problem: &Problem,
    input: &AnyImage<'_>,
    second: Option<&AnyImage<'_>>,
    out: AnyImageMut<'_>,
) -> Result<()> {
    macro_rules! solve {
        ($image:ident, $out:ident) => {
            match problem {
                Problem::Correlate(p) => apron_cpu::correlate_into($image, p, $out),
                Problem::Separable(p) => apron_cpu::separable_into($image, p, $out),
                Problem::Box(p) => apron_cpu::box_filter_into($image, p, $out),
                Problem::LocalStd(p) => apron_cpu::local_std_into($image, p, $out),
                Problem::Pointwise(p) => apron_cpu::pointwise_into(input, second, p, $out),
                Problem::LowRank(_) | Problem::Pad(_) => unreachable!("solved before"),
                Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => {
                    unreachable!("a histogram is no filter")
                }
            }
        };
    }
    if let Problem::LowRank(p) = problem {
        let AnyImageMut::F32(out) = out else { unreachable!("sums of terms are f32") };
        return each_type!(input, image => apron_cpu::low_rank_into(image, p, out));
    }
    if let Problem::Pad(p) = problem {
        return match (input, out) {
            (AnyImage::U8(image), AnyImageMut::U8(out)) => apron_cpu::pad_into(image, p, out),
            (AnyImage::U16(image), AnyImageMut::U16(out)) => apron_cpu::pad_into(image, p, out),
            (AnyImage::I16(image), AnyImageMut::I16(out)) => apron_cpu::pad_into(image, p, out),
            (AnyImage::F16(image), AnyImageMut::F16(out)) => apron_cpu::pad_into(image, p, out),
            (AnyImage::F32(image), AnyImageMut::F32(out)) => apron_cpu::pad_into(image, p, out),
            _ => unreachable!("padding is of the image's type"),
        };
    }
    each_type!(input, image => match out {
        AnyImageMut::U8(out) => solve!(image, out),
        AnyImageMut::U16(out) => solve!(image, out),
        AnyImageMut::I16(out) => solve!(image, out),
        AnyImageMut::F16(out) => solve!(image, out),
        AnyImageMut::F32(out) => solve!(image, out),
    })
}

/// A device's histogram function: byte images are counted by value, which serves any bins.
macro_rules! histogram {
    ($(#[$doc:meta])* $name:ident, $device:ident) => {
        $(#[$doc])*
        pub(super) fn $name(
            input: &AnyImage<'_>,
            binning: &Binning,
            per_channel: bool,
            roi: Option<&AnyImage<'_>>,
        ) -> Result<Histogram> {
            let roi = roi.map(|roi| match roi {
                AnyImage::U8(roi) => roi,
                _ => unreachable!("the type was checked"),
            });
            if let (AnyImage::U8(image), None) = (input, roi) {
                let edges = binning.edges(PixelType::U8, || (0.0, 255.0))?;
                let channels = if per_channel { image.channels() } else { 1 };
                let counts = $device::byte_histogram(image, per_channel);
                return Ok(Histogram::from_byte_counts(edges, channels, &counts));
            }
            each_type!(input, image => $device::count(image, binning, per_channel, roi))
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
