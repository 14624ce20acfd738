//! The host devices: each problem to its function, by pixel types.

use crate::{AnyImage, Binning, Histogram, Image, Pixel, PixelType, Result};
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
                        Problem::Pad(_) => unreachable!("padded before"),
                        Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => {
                            unreachable!("a histogram is no filter")
                        },
                    };
                    Ok(<$out as Pixel>::into_any(out))
                }};
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
