//! The workloads, as rows of a table.

use super::chain;
use super::images::{Data, Picture};
use super::solved::{Enqueued, Solved};
use super::weights::{binomial, weights};
use apron::volumes::{VolumeFormula, VolumeMask, VolumeSource};
use apron::{
    Bins, Border, Device, DeviceImage, DeviceVolume, FilterBuilder, Limit, Mask, Method, Named, PixelType, Result,
    Source, Taps, volumes,
};

/// An operation on an image, the limit that bounds it, and a target relative to that limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Workload {
    pub(super) operation: Operation,
    pub(super) picture: Picture,
    /// The border of a filter.
    pub(super) border: Border,
    /// The limit that bounds it; a chain is bounded by its parts.
    pub(super) limit: Option<Limit>,
    pub(super) target: Option<Target>,
}

/// The operation of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    /// Separable filter with taps of this radius along both axes.
    Separable(u32),
    /// Mask of this width and height that is not separable.
    Dense(u32, u32),
    /// As [`Dense`](Operation::Dense), by transforms of tiles.
    Fft(u32, u32),
    /// Mean over a window of this width and height.
    Box(u32, u32),
    /// Separable filter with binomial taps of this radius.
    Gauss(u32),
    /// Histogram of all samples.
    Histogram,
    /// Histogram of each channel.
    PerChannel,
    /// Histogram of 256 bins over the [range] of its samples.
    Range,
    /// Histogram of as many bins over the [range] of its samples.
    Bins(u32),
    /// As many percentiles, evenly spaced.
    Percentiles(u32),
    /// Standard deviation in a window of this side.
    Deviation(u32),
    /// A filter that is made of several parts.
    Composed(Composed),
    /// A filter of a volume.
    Volume(Solid),
    /// Several operations as a recorded chain.
    Chain,
}

/// A filter of a volume, with the same size along its three axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Solid {
    /// Separable filter with taps of this radius.
    Separable(u32),
    /// Mask of this side that is not separable.
    Dense(u32),
    /// Mean over a window of this side.
    Box(u32),
}

/// A filter that is made of several parts, with its defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Composed {
    /// Magnitude of Sobel's gradient.
    Gradient,
    /// Laplacian of a Gaussian with a sigma of 2.
    Log,
    /// Difference of Gaussians with sigmas of 1 and 2.
    Dog,
    /// Unsharp mask with a sigma of 2.
    Unsharp,
}

impl Solid {
    fn formula(self) -> Result<VolumeFormula> {
        match self {
            Solid::Separable(radius) => {
                let taps = Taps::new(weights(2 * radius + 1))?.normalized()?;
                Ok(VolumeFormula::separable([taps.clone(), taps.clone(), taps]))
            }
            Solid::Dense(side) => {
                let weights = weights(side.pow(3));
                let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
                let taps: Vec<f64> = weights.into_iter().map(|weight| f64::from(weight) / sum).collect();
                let mask = VolumeMask::new(side, side, side, taps)?;
                Ok(VolumeFormula::dense(mask))
            }
            Solid::Box(side) => volumes::mean([side; 3]),
        }
    }
}

impl Composed {
    pub(super) const ALL: [Composed; 4] = [Composed::Gradient, Composed::Log, Composed::Dog, Composed::Unsharp];

    /// Returns the name of its verb.
    pub(super) fn name(self) -> &'static str {
        match self {
            Composed::Gradient => "gradient",
            Composed::Log => "laplacian-of-gaussian",
            Composed::Dog => "dog",
            Composed::Unsharp => "unsharp",
        }
    }
}

/// Target of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// Longest time, as a multiple of the limit's.
    Times(f64),
    /// Longest time, in microseconds.
    Microseconds(f64),
}

use Data::{Constant, Natural, Sorted, TwoValued, Uniform};
use Operation::{
    Bins as ManyBins, Box, Chain, Composed as Made, Dense, Deviation, Fft, Gauss, Histogram as Counts, PerChannel,
    Percentiles, Range, Separable, Volume as InVolume,
};
use PixelType::{F32, U8, U16};

const fn picture(pixel: PixelType, [width, height, channels]: [u32; 3]) -> Picture {
    Picture { pixel, width, height, planes: 1, channels, gap: 0, data: Uniform }
}

/// A volume of 512x512x512 voxels.
const fn volume(pixel: PixelType) -> Picture {
    Picture { planes: 512, ..picture(pixel, [512, 512 * 512, 1]) }
}

const LARGE: [u32; 3] = [8192, 8192, 1];
/// Full HD.
const SCREEN: [u32; 3] = [1920, 1080, 1];
const SMALL: [u32; 3] = [512, 512, 1];
const PLANE: Picture = picture(F32, LARGE);
const RGBA: Picture = picture(U8, [8192, 8192, 4]);
/// An odd width, which is a multiple of no vector size.
const AWKWARD: Picture = picture(F32, [8191, 8192, 1]);
/// A part of a wider image, read in place.
const STRIDED: Picture = Picture { gap: 64, ..PLANE };

const fn row(operation: Operation, picture: Picture, limit: Limit, target: Option<Target>) -> Workload {
    Workload { operation, picture, border: Border::Replicate, limit: Some(limit), target }
}

/// Makes a workload that is bounded by copying the image.
const fn copied(operation: Operation, picture: Picture, times: f64) -> Workload {
    row(operation, picture, Limit::Copy, Some(Target::Times(times)))
}

/// Makes a workload that is bounded by multiplications.
const fn multiplied(operation: Operation, picture: Picture, times: f64) -> Workload {
    row(operation, picture, Limit::Ffma, Some(Target::Times(times)))
}

/// Makes a workload that is bounded by reading the image.
const fn read(operation: Operation, picture: Picture, times: f64) -> Workload {
    row(operation, picture, Limit::Read, Some(Target::Times(times)))
}

/// Makes a histogram of 1 GiB of u8 samples.
const fn gibibyte(data: Data) -> Workload {
    read(Counts, Picture { data, ..picture(U8, [32768, 32768, 1]) }, 1.06)
}

/// Makes a workload that is bounded by the sum of its operations' times, each run alone.
const fn chained(picture: Picture, times: f64) -> Workload {
    Workload { limit: None, ..row(Chain, picture, Limit::Copy, Some(Target::Times(times))) }
}

/// Makes a workload without a target, which shows the cost of a shape or a type.
const fn shown(operation: Operation, picture: Picture) -> Workload {
    row(operation, picture, Limit::Copy, None)
}

/// All workloads; those with the same image are adjacent, so that it is generated once.
pub(super) const WORKLOADS: &[Workload] = &[
    copied(Separable(1), PLANE, 1.12),
    copied(Separable(2), PLANE, 1.12),
    copied(Separable(4), PLANE, 1.12),
    copied(Separable(8), PLANE, 1.12),
    copied(Separable(16), PLANE, 1.25),
    copied(Separable(32), PLANE, 1.9),
    copied(Dense(3, 3), PLANE, 1.12),
    copied(Dense(5, 5), PLANE, 1.12),
    copied(Dense(7, 7), PLANE, 1.12),
    multiplied(Dense(15, 15), PLANE, 1.15),
    copied(Box(3, 3), PLANE, 1.12),
    copied(Box(15, 15), PLANE, 1.12),
    copied(Box(63, 63), PLANE, 1.12),
    read(Range, PLANE, 1.10),
    row(Range, picture(U16, LARGE), Limit::Read, None),
    multiplied(Dense(64, 64), picture(F32, [2048, 2048, 1]), 1.35),
    copied(Box(3, 3), RGBA, 1.12),
    copied(Box(15, 15), RGBA, 1.12),
    copied(Box(63, 63), RGBA, 1.12),
    copied(Dense(3, 3), RGBA, 1.15),
    copied(Gauss(2), RGBA, 1.25),
    read(PerChannel, RGBA, 1.15),
    gibibyte(Uniform),
    gibibyte(Constant),
    gibibyte(Natural),
    gibibyte(TwoValued),
    gibibyte(Sorted),
    row(Counts, picture(U8, [2048, 2048, 1]), Limit::Read, Some(Target::Microseconds(6.0))),
    chained(picture(U8, [2048, 2048, 1]), 1.10),
    shown(Separable(8), AWKWARD),
    shown(Dense(7, 7), AWKWARD),
    shown(Box(15, 15), AWKWARD),
    shown(Separable(8), STRIDED),
    shown(Dense(7, 7), STRIDED),
    shown(Box(15, 15), STRIDED),
    shown(Fft(64, 64), picture(F32, [2048, 2048, 1])),
    shown(Fft(31, 31), picture(F32, [4096, 4096, 1])),
    shown(Fft(129, 129), picture(F32, [4096, 4096, 1])),
    shown(Gauss(2), Picture { gap: 64, ..RGBA }),
    shown(Gauss(2), picture(U8, [8191, 8192, 4])),
    shown(Separable(2), picture(U8, [8191, 8192, 1])),
    shown(Separable(2), picture(U8, LARGE)),
    shown(Separable(8), picture(U8, LARGE)),
    shown(Dense(3, 3), picture(U8, LARGE)),
    shown(Dense(5, 5), picture(U8, LARGE)),
    shown(Box(3, 3), picture(U8, LARGE)),
    shown(Box(15, 15), picture(U8, LARGE)),
    row(Dense(15, 15), picture(U8, LARGE), Limit::Copy, None),
    row(Dense(9, 9), picture(U8, SMALL), Limit::Copy, None),
    shown(Separable(8), picture(U8, SMALL)),
    shown(Dense(3, 3), picture(U8, SCREEN)),
    shown(Dense(5, 5), picture(U8, SCREEN)),
    shown(Separable(2), picture(U8, SCREEN)),
    shown(Box(5, 5), picture(U8, SCREEN)),
    shown(Dense(3, 3), picture(U8, [1920, 1080, 3])),
    shown(Gauss(2), picture(U8, [1920, 1080, 3])),
    shown(Dense(5, 5), picture(F32, SCREEN)),
    shown(Dense(3, 3), picture(U16, [4096, 4096, 1])),
    shown(Dense(9, 9), picture(U16, [4096, 4096, 1])),
    shown(Separable(8), picture(U16, [4096, 4096, 1])),
    shown(Separable(8), picture(F32, [8192, 8192, 3])),
    shown(Separable(2), RGBA),
    shown(Separable(8), RGBA),
    copied(InVolume(Solid::Separable(1)), volume(F32), 1.25),
    copied(InVolume(Solid::Separable(2)), volume(F32), 1.3),
    copied(InVolume(Solid::Separable(4)), volume(F32), 1.5),
    copied(InVolume(Solid::Separable(8)), volume(F32), 2.0),
    copied(InVolume(Solid::Dense(3)), volume(F32), 1.25),
    // 1.3 times its multiply-adds.
    copied(InVolume(Solid::Dense(5)), volume(F32), 1.8),
    copied(InVolume(Solid::Box(3)), volume(F32), 1.3),
    copied(InVolume(Solid::Box(15)), volume(F32), 1.3),
    copied(InVolume(Solid::Separable(8)), volume(U16), 1.5),
    copied(InVolume(Solid::Separable(2)), volume(U8), 1.5),
];

impl Workload {
    /// Returns the workload with a small image, fast even in the emulator, and without a target.
    pub(super) fn quick(self) -> Workload {
        let small = |side: u32| (side / 128).max(16);
        let Picture { width, height, planes, .. } = self.picture;
        let (rows, planes) = (small(height / planes), if planes > 1 { 5 } else { 1 });
        let picture = Picture { width: small(width), height: rows * planes, planes, ..self.picture };
        Workload { picture, target: None, ..self }
    }

    /// Returns the least memory traffic, in bytes: the image is read once and, for filters, written once; a chain of
    /// two filters and a histogram moves it five times.
    pub(super) fn bytes(&self) -> u64 {
        let times = match self.operation {
            Counts | PerChannel | Range | ManyBins(_) | Percentiles(_) => 1,
            Chain => 5,
            _ => 2,
        };
        self.picture.bytes() * times
    }

    /// Returns the limit of its memory traffic: a read if it writes almost nothing, otherwise a copy.
    pub(super) fn traffic(&self) -> Limit {
        if self.bytes() == self.picture.bytes() { Limit::Read } else { Limit::Copy }
    }

    /// Whether tensor cores may multiply its integers, so that the rate of FFMA does not bound it on a GPU.
    pub(super) fn is_of_tensor_cores(&self) -> bool {
        matches!(self.operation, Operation::Dense(..)) && self.picture.pixel == U8
    }

    /// Returns a multiplication and an addition per tap and sample, for filters that need them.
    pub(super) fn operations(&self) -> Option<u64> {
        let taps = match self.operation {
            Separable(radius) | Gauss(radius) => 2 * (2 * radius + 1),
            Dense(width, height) => width * height,
            // A mean takes fewer operations; a histogram multiplies nothing.
            Box(..) | Deviation(_) | Fft(..) | Counts | PerChannel | Range | ManyBins(_) | Percentiles(_) | Chain => {
                return None;
            }
            // Fewer than its parts' masks have together.
            Made(Composed::Gradient) => 18,
            Made(Composed::Log | Composed::Dog | Composed::Unsharp) => 34,
            InVolume(Solid::Separable(radius)) => 3 * (2 * radius + 1),
            InVolume(Solid::Dense(side)) => side.pow(3),
            InVolume(Solid::Box(_)) => return None,
        };
        Some(2 * taps as u64 * self.picture.samples())
    }

    /// Runs it on a device.
    pub(super) fn solve<'a>(&self, device: &'a Device, image: impl Into<Source<'a>>) -> Result<Solved> {
        self.solve_into(device, image, None)
    }

    /// Runs it on a device, into the image of a run before.
    pub(super) fn solve_into<'a>(
        &self,
        device: &'a Device,
        image: impl Into<Source<'a>>,
        room: Option<DeviceImage>,
    ) -> Result<Solved> {
        Ok(match self.enqueue_into(device, image, room)? {
            Enqueued::Counts(counts) => Solved::Counts(counts.download()?, counts.report()?),
            Enqueued::Done(solved) => solved,
        })
    }

    /// Enqueues it on a device; waits only for a chain.
    pub(super) fn enqueue<'a>(&self, device: &'a Device, image: impl Into<Source<'a>>) -> Result<Enqueued> {
        self.enqueue_into(device, image, None)
    }

    fn enqueue_into<'a>(
        &self,
        device: &'a Device,
        image: impl Into<Source<'a>>,
        room: Option<DeviceImage>,
    ) -> Result<Enqueued> {
        let filter = match self.operation {
            Separable(radius) => {
                let taps = Taps::new(weights(2 * radius + 1))?.normalized()?;
                device.separable(image, taps.clone(), taps)
            }
            Dense(width, height) => {
                let mask = Mask::new(width, height, weights(width * height))?.normalized()?;
                device.correlate(image, mask)
            }
            Fft(width, height) => {
                let mask = Mask::new(width, height, weights(width * height))?.normalized()?;
                device.correlate(image, mask).method(Method::Fft)
            }
            Box(width, height) => device.box_filter(image, width, height),
            Deviation(side) => return filtered(device.local_std(image, side).border(self.border), room),
            Made(Composed::Gradient) => return filtered(device.gradient(image).border(self.border), room),
            Made(Composed::Log) => return filtered(device.laplacian_of_gaussian(image, 2.0).border(self.border), room),
            Made(Composed::Dog) => return filtered(device.dog(image, 1.0, 2.0).border(self.border), room),
            Made(Composed::Unsharp) => return filtered(device.unsharp(image, 2.0).border(self.border), room),
            Percentiles(count) => {
                let percentiles: Vec<f64> = (1..=count).map(|k| 100.0 * f64::from(k) / f64::from(count + 1)).collect();
                let (found, report) = device.percentiles(image, percentiles).run_reported()?;
                return Ok(Enqueued::Done(Solved::Percentiles(found, report)));
            }
            Gauss(radius) => {
                let taps = Taps::new(binomial(2 * radius))?.normalized()?;
                device.separable(image, taps.clone(), taps)
            }
            Counts | PerChannel | Range | ManyBins(_) => {
                let range = matches!(self.operation, Range | ManyBins(_)).then(|| range(self.picture.pixel));
                let bins = Bins { range, ..Bins::default() };
                let bins =
                    if let ManyBins(count) = self.operation { Bins { count: count as usize, ..bins } } else { bins };
                let counting = device.histogram(image).bins(bins).per_channel(self.operation == PerChannel);
                return counting.enqueue().map(Enqueued::Counts);
            }
            InVolume(solid) => {
                let source = VolumeSource::from_stack(image, self.picture.planes)?;
                let filter = device.filter_volume(source, solid.formula()?).border(self.border);
                let volume = match room.map(|room| DeviceVolume::from_stack(room, self.picture.planes)).transpose()? {
                    Some(mut room) => {
                        filter.run_into(&mut room)?;
                        room
                    }
                    None => filter.run()?,
                };
                return Ok(Enqueued::Done(Solved::Image(volume.stack().clone())));
            }
            Chain => return chain::solve(device, image.into()).map(Enqueued::Done),
        };
        filtered(filter.border(self.border), room)
    }
}

/// Enqueues a filter; into `room`, if there is one.
fn filtered<N: Named>(filter: FilterBuilder<'_, N>, room: Option<DeviceImage>) -> Result<Enqueued> {
    let image = match room {
        Some(mut room) => {
            filter.run_into(&mut room)?;
            room
        }
        None => filter.run()?,
    };
    Ok(Enqueued::Done(Solved::Image(image)))
}

/// Returns the range of the type: 0 to 1, or all values of an integer type.
pub(super) fn range(pixel: PixelType) -> (f64, f64) {
    Bins::of_values(pixel).and_then(|bins| bins.range).unwrap_or((0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_tell_workloads_apart_and_hold_no_comma() {
        let names: HashSet<String> = WORKLOADS.iter().map(Workload::to_string).collect();
        assert_eq!(names.len(), WORKLOADS.len());
        assert!(names.iter().all(|name| !name.contains([',', ';', '=', '"'])), "{names:?}");
        for name in [
            "separable f32 8192x8192 radius 8",
            "dense u8 8192x8192x4 mask 3x3",
            "box f32 8192x8192 window 15x15",
            "gauss u8 8192x8192x4 mask 5x5",
            "histogram u8 32768x32768 two-valued",
            "histogram u8 8192x8192x4 per channel",
            "histogram f32 8192x8192 range 0 to 1",
            "chain u8 2048x2048 gaussian sobel histogram",
            "volume f32 512x512x512 separable radius 8",
            "volume f32 512x512x512 mask 5x5x5",
            "volume f32 512x512x512 window 15x15x15",
        ] {
            assert!(names.contains(name), "{name}: {names:?}");
        }
    }

    #[test]
    fn limits_are_those_of_traffic_or_of_arithmetic() {
        for workload in WORKLOADS {
            match workload.limit {
                Some(Limit::Ffma) => assert!(workload.operations().is_some() && workload.traffic() == Limit::Copy),
                Some(limit) => assert_eq!(limit, workload.traffic(), "{workload}"),
                None => {}
            }
            let counts = matches!(workload.operation, Counts | PerChannel | Range);
            assert_eq!(workload.limit == Some(Limit::Read), counts, "{workload}");
            assert_eq!(workload.limit.is_none(), workload.operation == Chain, "{workload}");
            if let Some(Target::Times(times)) = workload.target {
                assert!((1.0..=2.0).contains(&times), "{workload}");
            }
        }
    }

    #[test]
    fn what_must_be_moved_and_computed() {
        let of = |name: &str| WORKLOADS.iter().find(|workload| workload.to_string() == name).unwrap();
        let separable = of("separable f32 8192x8192 radius 8");
        assert_eq!((separable.bytes(), separable.operations()), (512 << 20, Some(68 << 26)));
        let dense = of("dense f32 2048x2048 mask 64x64");
        assert_eq!((dense.bytes(), dense.operations()), (2 << 24, Some((2 * 4096) << 22)));
        let counts = of("histogram u8 32768x32768 sorted");
        assert_eq!((counts.bytes(), counts.operations()), (1 << 30, None));
    }

    #[test]
    fn weights_of_a_gauss() {
        assert_eq!(binomial(4), [1.0, 4.0, 6.0, 4.0, 1.0]);
    }

    #[test]
    fn every_workload_is_solved_and_a_wrong_result_is_told() {
        let (device, reference) = (Device::cpu(), Device::reference());
        for workload in WORKLOADS.iter().map(|workload| workload.quick()) {
            let image = workload.picture.make().unwrap();
            let solve = |device, image| workload.solve(device, image).unwrap();
            let expected = || solve(&reference, &image);
            assert_eq!(solve(&device, &image).difference(expected()).unwrap(), None, "{workload}");
            let other = Picture {
                data: if workload.picture.data == Constant { Uniform } else { Constant },
                ..workload.picture
            };
            let other = other.make().unwrap();
            let told = solve(&device, &other).difference(expected()).unwrap();
            assert!(told.is_some_and(|told| told.contains(" instead of ")), "{workload}");
        }
    }
}
