//! The ladders of a scan: workloads that differ in one number.

use super::super::images::{Data, Picture};
use super::super::workloads::{Composed, Operation, Workload};
use PixelType::{F16, F32, I16, U8, U16};
use apron::{Border, PixelType};

/// Workloads that differ in one number, in ascending order of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ladder {
    /// The operation and the number; ladders of one group share a picture.
    pub(super) group: &'static str,
    /// Distinguishes the ladder within its group.
    pub(super) series: String,
    /// The numbers and the workloads.
    pub(super) points: Vec<(u32, Workload)>,
}

/// Sizes of the images, by how fast the device is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// Side of most images, in pixels.
    side: u32,
    /// Largest side of the ladders over sizes.
    largest: u32,
    /// Most multiplications of a point.
    products: u64,
}

impl Scale {
    pub(super) const GPU: Scale = Scale { side: 4096, largest: 16384, products: 1 << 38 };
    pub(super) const HOST: Scale = Scale { side: 2048, largest: 4096, products: 1 << 33 };
    pub(super) const QUICK: Scale = Scale { side: 64, largest: 128, products: 1 << 20 };
}

/// An operation whose mask has one side of this length.
type OfLength = fn(u32) -> Operation;

const TAPS: &[u32] = &[3, 5, 9, 17, 25, 33, 49, 65, 97, 129, 161, 193, 257, 385, 513, 801, 1025, 2001];
const SIDES: &[u32] =
    &[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 21, 31, 32, 33, 47, 63, 64, 65, 95, 128, 129, 191, 255];
const LENGTHS: &[u32] = &[3, 5, 9, 15, 31, 63, 127, 255];
const WINDOWS: &[u32] = &[3, 5, 9, 15, 31, 63, 127, 128, 129, 191, 255, 257, 383, 511, 767, 1023];
const BINS: &[u32] = &[2, 16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 262_144, 1_048_576];
const TYPES: [(PixelType, u32); 6] = [(F32, 1), (U8, 1), (U16, 1), (I16, 1), (F16, 1), (U8, 4)];

/// Returns all ladders.
pub(super) fn ladders(scale: Scale) -> Vec<Ladder> {
    let mut all = Ladders { scale, all: Vec::new() };
    for (pixel, channels) in TYPES {
        // The same number of samples for each number of channels.
        let side = if channels == 4 { scale.side / 2 } else { scale.side };
        let picture = picture(pixel, side, side, channels);
        let series = if channels == 1 { pixel.to_string() } else { format!("{pixel} x {channels}") };
        all.windows(&series, picture);
        if channels > 1 {
            continue;
        }
        if [F32, U8].contains(&pixel) {
            all.lengths(&series, picture);
            all.shapes(&series, picture);
            all.add("composed", &series, &[0, 1, 2, 3], |n| {
                work(Operation::Composed(Composed::ALL[n as usize]), picture)
            });
        }
        all.counts(&series, picture);
    }
    all.all
}

struct Ladders {
    scale: Scale,
    all: Vec<Ladder>,
}

impl Ladders {
    /// Adds a ladder, without points that would take too long.
    fn add(&mut self, group: &'static str, series: &str, numbers: &[u32], of: impl Fn(u32) -> Workload) {
        let points = numbers.iter().map(|&at| (at, of(at)));
        let fits = |workload: &Workload| workload.operations().unwrap_or(0) / 2 <= self.scale.products;
        let points = points.filter(|(_, workload)| fits(workload)).collect();
        self.all.push(Ladder { group, series: series.into(), points });
    }

    /// Adds ladders of taps, windows and square masks.
    fn windows(&mut self, series: &str, picture: Picture) {
        self.add("separable by taps", series, TAPS, |taps| work(Operation::Separable(taps / 2), picture));
        self.add("box by window", series, WINDOWS, |side| work(Operation::Box(side, side), picture));
        self.add("local-std by window", series, &[3, 15, 63, 255], |side| work(Operation::Deviation(side), picture));
        if [F32, U8, U16].contains(&picture.pixel) {
            // A quarter of the samples: large masks are slow.
            let small = Picture { width: picture.width / 2, height: picture.height / 2, ..picture };
            self.add("dense by side", series, SIDES, |side| work(Operation::Dense(side, side), small));
        }
    }

    /// Adds ladders of masks with one short side.
    fn lengths(&mut self, series: &str, picture: Picture) {
        let narrow: [(&str, OfLength); 4] = [
            ("n x 1", |n| Operation::Dense(n, 1)),
            ("1 x n", |n| Operation::Dense(1, n)),
            ("n x 3", |n| Operation::Dense(n, 3)),
            ("3 x n", |n| Operation::Dense(3, n)),
        ];
        for (name, of) in narrow {
            self.add("dense by length", &format!("{series} {name}"), LENGTHS, |n| work(of(n), picture));
        }
    }

    /// Adds ladders of widths, sizes and borders of some common operations.
    fn shapes(&mut self, series: &str, picture: Picture) {
        let filters = [
            ("separable 9", Operation::Separable(4)),
            ("dense 5x5", Operation::Dense(5, 5)),
            ("box 15", Operation::Box(15, 15)),
            ("histogram", if picture.pixel == U8 { Operation::Histogram } else { Operation::Range }),
        ];
        let Scale { side, largest, .. } = self.scale;
        let widths = [7, 33, side / 4 * 3 + 1, side - 2, side - 1, side, side + 1];
        let sizes: Vec<u32> = (6..15).map(|n| 1 << n).filter(|side| *side <= largest).collect();
        let borders = [Border::Replicate, Border::Reflect101, Border::Reflect, Border::Wrap, Border::Constant(0.0)];
        for (name, operation) in filters {
            let series = format!("{series} {name}");
            self.add("by width", &series, &widths, |width| work(operation, Picture { width, ..picture }));
            self.add("by size", &series, &sizes, |side| {
                work(operation, Picture { width: side, height: side, ..picture })
            });
            if name != "histogram" {
                self.add("by border", &series, &[0, 1, 2, 3, 4], |n| Workload {
                    border: borders[n as usize],
                    ..work(operation, picture)
                });
            }
        }
    }

    /// Adds ladders of bins and of percentiles.
    fn counts(&mut self, series: &str, picture: Picture) {
        if [F32, U16].contains(&picture.pixel) {
            for data in [Data::Uniform, Data::Constant] {
                let picture = Picture { data, ..picture };
                let series = format!("{series} {}", data.name());
                self.add("histogram by bins", &series, BINS, |bins| work(Operation::Bins(bins), picture));
            }
        }
        self.add("percentiles by count", series, &[1, 3, 9], |count| work(Operation::Percentiles(count), picture));
    }
}

/// The smallest workload, whose time is that of a launch.
pub(super) fn launch() -> Workload {
    work(Operation::Box(3, 3), picture(U8, 64, 64, 1))
}

fn work(operation: Operation, picture: Picture) -> Workload {
    Workload { operation, picture, border: Border::Replicate, limit: None, target: None }
}

fn picture(pixel: PixelType, width: u32, height: u32, channels: u32) -> Picture {
    Picture { pixel, width, height, planes: 1, channels, gap: 0, data: Data::Uniform }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ladders_ascend_and_every_point_can_be_asked_for_by_its_name() {
        for scale in [Scale::GPU, Scale::HOST, Scale::QUICK] {
            let all = ladders(scale);
            let names: HashSet<_> = all.iter().map(|ladder| (ladder.group, &ladder.series)).collect();
            assert_eq!(names.len(), all.len());
            for ladder in &all {
                assert!(ladder.points.len() > 1, "{ladder:?}");
                assert!(ladder.points.is_sorted_by_key(|(at, _)| *at), "{ladder:?}");
                for (_, workload) in &ladder.points {
                    let read: Workload = workload.to_string().parse().unwrap();
                    assert_eq!(Workload { limit: None, ..read }, *workload, "{workload}");
                }
            }
        }
    }
}
