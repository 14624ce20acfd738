//! Names of workloads: they select workloads, and the programs of other libraries take them as arguments.
//!
//! `OPERATION PIXEL WIDTHxHEIGHT[xCHANNELS|xDEPTH] [of WIDTH] REST [border BORDER]`, where the rest depends on the
//! operation, and a filter without a border replicates the edge.

use super::chain::CHAIN;
use super::images::{Data, Picture};
use super::workloads::{Composed, Operation, Solid, Workload, range};
use Operation::{
    Bins, Box, Chain, Composed as Made, Dense, Deviation, Fft, Gauss, Histogram, PerChannel, Percentiles, Range,
    Separable, Volume,
};
use apron::{Border, Limit, PixelType, Shape};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let picture = &self.picture;
        match self.operation {
            Separable(radius) => write!(f, "separable {picture} radius {radius}"),
            Fft(width, height) => write!(f, "fft {picture} mask {width}x{height}"),
            Dense(width, height) => write!(f, "dense {picture} mask {width}x{height}"),
            Box(width, height) => write!(f, "box {picture} window {width}x{height}"),
            Gauss(radius) => write!(f, "gauss {picture} mask {0}x{0}", 2 * radius + 1),
            Histogram => write!(f, "histogram {picture} {}", picture.data.name()),
            PerChannel => write!(f, "histogram {picture} per channel"),
            Range => {
                let (low, high) = range(picture.pixel);
                write!(f, "histogram {picture} range {low} to {high}")
            }
            Bins(count) => {
                write!(f, "histogram {picture} {count} bins")?;
                if picture.data == Data::Uniform { Ok(()) } else { write!(f, " {}", picture.data.name()) }
            }
            Percentiles(count) => write!(f, "percentiles {picture} count {count}"),
            Deviation(side) => write!(f, "local-std {picture} window {side}x{side}"),
            Volume(Solid::Separable(radius)) => write!(f, "volume {picture} separable radius {radius}"),
            Volume(Solid::Dense(side)) => write!(f, "volume {picture} mask {side}x{side}x{side}"),
            Volume(Solid::Box(side)) => write!(f, "volume {picture} window {side}x{side}x{side}"),
            Made(composed) => write!(f, "composed {picture} {}", composed.name()),
            Chain => write!(f, "chain {picture} {CHAIN}"),
        }?;
        if self.border == Border::Replicate { Ok(()) } else { write!(f, " border {}", self.border) }
    }
}

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Workload, String> {
        let wrong = || format!("'{name}' is no workload; one is 'dense u8 1920x1080x3 mask 3x3'");
        let words: Vec<&str> = name.split_whitespace().collect();
        let [operation, pixel, size, rest @ ..] = &words[..] else { return Err(wrong()) };
        let pixel: PixelType = pixel.parse().map_err(|error: apron::Error| error.to_string())?;
        let (width, height, planes, channels) = match numbers(size).ok_or_else(wrong)?[..] {
            [width, height, planes] if *operation == "volume" && planes > 1 => {
                (width, height.checked_mul(planes).ok_or_else(wrong)?, planes, 1)
            }
            _ if *operation == "volume" => return Err(wrong()),
            [width, height] => (width, height, 1, 1),
            [width, height, channels] if channels > 1 => (width, height, 1, channels),
            _ => return Err(wrong()),
        };
        let (gap, rest) = match rest {
            ["of", whole, rest @ ..] => {
                let gap = whole.parse().ok().and_then(|whole: u32| whole.checked_sub(width));
                (gap.filter(|gap| *gap > 0).ok_or_else(wrong)?, rest)
            }
            rest => (0, rest),
        };
        Shape::new(width.saturating_add(gap), height, channels).map_err(|error| error.to_string())?;
        let (rest, border) = match rest {
            [rest @ .., "border", border] => (rest, border.parse().map_err(|error: apron::Error| error.to_string())?),
            rest => (rest, Border::Replicate),
        };
        let mut data = Data::Uniform;
        let mut of_kind = |kind: &str| {
            data = Data::ALL.into_iter().find(|data| data.name() == kind).ok_or_else(wrong)?;
            Ok::<_, String>(())
        };
        let operation = match (*operation, rest) {
            ("separable", ["radius", radius]) => Separable(radius.parse().map_err(|_| wrong())?),
            ("gauss", ["mask", size]) => match numbers(size).ok_or_else(wrong)?[..] {
                [width, height] if width == height && width % 2 == 1 => Gauss(width / 2),
                _ => return Err(wrong()),
            },
            ("fft", ["mask", size]) => match numbers(size).ok_or_else(wrong)?[..] {
                [width, height] => Fft(width, height),
                _ => return Err(wrong()),
            },
            ("dense" | "box", ["mask" | "window", size]) => match numbers(size).ok_or_else(wrong)?[..] {
                [width, height] if *operation == "dense" => Dense(width, height),
                [width, height] => Box(width, height),
                _ => return Err(wrong()),
            },
            ("histogram", ["per", "channel"]) => PerChannel,
            ("histogram", ["range", _, "to", _]) => Range,
            ("histogram", [count, "bins", kind @ ..]) if kind.len() < 2 => {
                kind.first().map_or(Ok(()), |kind| of_kind(kind))?;
                Bins(count.parse().map_err(|_| wrong())?)
            }
            ("histogram", [kind]) => {
                of_kind(kind)?;
                Histogram
            }
            ("percentiles", ["count", count]) => Percentiles(count.parse().map_err(|_| wrong())?),
            ("local-std", ["window", size]) => match numbers(size).ok_or_else(wrong)?[..] {
                [width, height] if width == height => Deviation(width),
                _ => return Err(wrong()),
            },
            ("composed", [name]) => {
                Made(Composed::ALL.into_iter().find(|composed| composed.name() == *name).ok_or_else(wrong)?)
            }
            ("volume", ["separable", "radius", radius]) => {
                Volume(Solid::Separable(radius.parse().map_err(|_| wrong())?))
            }
            ("volume", [kind @ ("mask" | "window"), size]) => match numbers(size).ok_or_else(wrong)?[..] {
                [side, height, depth] if [height, depth] == [side; 2] => {
                    Volume(if *kind == "mask" { Solid::Dense(side) } else { Solid::Box(side) })
                }
                _ => return Err(wrong()),
            },
            ("chain", _) if rest.join(" ") == CHAIN => Chain,
            _ => return Err(wrong()),
        };
        let picture = Picture { pixel, width, height, planes, channels, gap, data };
        let workload = Workload { operation, picture, border, limit: None, target: None };
        let limit = match operation {
            Histogram | PerChannel | Range | Bins(_) | Percentiles(_) => Some(Limit::Read),
            Chain => None,
            // On an H100 arithmetic then takes twice the time of the memory traffic.
            _ if !workload.is_of_tensor_cores()
                && workload.operations().is_some_and(|operations| operations > 45 * workload.bytes()) =>
            {
                Some(Limit::Ffma)
            }
            _ => Some(Limit::Copy),
        };
        let workload = Workload { limit, ..workload };
        // The spelling is unique: the programs of other libraries parse it as well.
        if workload.to_string() == name { Ok(workload) } else { Err(wrong()) }
    }
}

/// Parses numbers above 0, separated by x.
fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split('x').map(|number| number.parse().ok().filter(|number| *number > 0)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::workloads::WORKLOADS;
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for workload in WORKLOADS {
            let read: Workload = workload.to_string().parse().unwrap();
            assert_eq!(read, Workload { target: None, ..*workload }, "{workload}");
        }
        let of = |name: &str| name.parse::<Workload>().unwrap();
        assert_eq!(of("dense u8 1920x1080 mask 3x3").limit, Some(Limit::Copy));
        assert_eq!(of("dense u16 1920x1080 mask 11x11").limit, Some(Limit::Ffma));
        assert_eq!(of("dense u8 1920x1080 mask 11x11").limit, Some(Limit::Copy));
        assert_eq!(of("histogram u16 640x480x3 per channel").operation, PerChannel);
        assert_eq!(of("histogram u16 640x480 range 0 to 65536").operation, Range);
    }

    #[test]
    fn other_names_are_refused_with_an_example() {
        for name in [
            "",
            "dense",
            "dense u8 64x64",
            "dense u9 64x64 mask 3x3",
            "dense u8 0x64 mask 3x3",
            "dense u8 64x64x1 mask 3x3",
            "dense u8 64x64x5 mask 3x3",
            "dense u8 64x64 window 3x3",
            "dense u8  64x64 mask 3x3",
            "dense u8 64x64 of 64 mask 3x3",
            "dense u8 4294967295x2 of 4294967296 mask 3x3",
            "gauss u8 64x64 mask 4x4",
            "gauss u8 64x64 mask 3x5",
            "separable f32 64x64 radius -1",
            "histogram u8 64x64 odd",
            "histogram f32 64x64 range 0 to 2",
            "histogram u16 64x64 range 0 to 1",
            "chain u8 64x64 sobel",
            "volume f32 64x64 mask 3x3x3",
            "volume f32 64x64x64 mask 3x3",
            "volume f32 64x64x64 window 3x3x5",
            "volume f32 64x4294967295x64 window 3x3x3",
        ] {
            let error = name.parse::<Workload>().unwrap_err();
            assert!(error.contains("no workload") || error.contains("u9") || error.contains('5'), "{name}: {error}");
        }
    }
}
