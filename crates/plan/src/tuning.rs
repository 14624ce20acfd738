//! What was measured: which variant is the fastest for a problem, and by which grid.
//!
//! The table is data, `tuning.csv`, as `apron tune` prints it. A row is a workload on a GPU, with the time of each
//! variant that took it. Problems that nobody measured go by the row [`nearest`](Table::nearest) to them.

use crate::{Machine, VARIANTS, Variant};
use apron_core::{PixelType, Problem};
use std::fmt;
use std::sync::LazyLock;

/// Numbers for the grid of a variant that leaves them open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Output rows of a block, at most; 0 where the number of blocks decides.
    pub rows: u32,
    /// Blocks that share a multiprocessor.
    pub residents: u32,
}

impl Tuning {
    /// With a number of blocks that a multiprocessor can have.
    pub(crate) fn possible(self) -> Tuning {
        Tuning { residents: self.residents.clamp(1, 32), ..self }
    }
}

/// What of a problem its time depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The operation.
    pub operation: &'static str,
    /// Type of the input's samples.
    pub src: PixelType,
    /// Type of the output's samples; of histograms the input's.
    pub dst: PixelType,
    /// Channels; of histograms those that are counted apart.
    pub channels: u32,
    /// Side of the square mask with as many taps; of histograms the bins.
    pub side: u32,
    /// Columns of the input.
    pub width: u32,
    /// Rows of the input.
    pub height: u32,
}

/// A workload on a GPU, and what each variant took for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The GPU's name.
    pub gpu: String,
    /// The target of the PTX that it loads, as in [`Machine`].
    pub target: u32,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// What was done.
    pub work: Work,
    /// The times, the shortest first.
    pub times: Vec<Time>,
}

/// The time of a variant's kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The variant.
    pub variant: &'static str,
    /// The median, in milliseconds.
    pub ms: f64,
    /// The grid's numbers that gave it, of variants that leave some open.
    pub tuning: Option<Tuning>,
}

/// The rows of all machines.
#[derive(Debug, Default)]
pub struct Table(pub Vec<Row>);

/// The table that plans go by.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(TEXT));

const TEXT: &str = include_str!("../tuning.csv");

/// The table's header: lines that start with `#` stand above it, a row each below.
pub const COLUMNS: &str = "gpu,target,multiprocessors,operation,src,dst,channels,side,width,height,times";

/// What a sweep tries for a variant; nothing where a variant's grid follows from the problem.
pub fn candidates(variant: &str) -> Vec<Tuning> {
    let all = |rows: &[u32], residents: &[u32]| {
        let pairs = rows.iter().flat_map(|&rows| residents.iter().map(move |&residents| Tuning { rows, residents }));
        pairs.collect()
    };
    match variant {
        "march-dense" | "march-separable" => all(&[8, 16, 32, 64, 128, 249], &[3, 4, 5, 6]),
        "fused" => all(&[0], &[1, 2, 3, 4, 6, 8]),
        "one-launch" | "columns" | "nearest-edge" | "edge-search" => all(&[0], &[1, 2, 4]),
        _ => Vec::new(),
    }
}

impl Work {
    /// What of `problem` its time depends on.
    pub fn of(problem: &Problem) -> Work {
        let operation = problem.operation();
        let (shape, src, dst, channels, side) = match problem {
            Problem::Correlate(p) => {
                let taps = p.mask.width() as f64 * p.mask.height() as f64;
                (p.shape, p.src, p.dst, p.shape.channels, taps.sqrt().round() as u32)
            }
            Problem::Separable(p) => {
                (p.shape, p.src, p.dst, p.shape.channels, (p.taps_x.len() + p.taps_y.len()).div_ceil(2))
            }
            Problem::ByteHistogram(p) => (p.shape, PixelType::U8, PixelType::U8, p.channels(), 256),
            Problem::EdgeHistogram(p) => {
                let bins = u32::try_from(p.bins.count).unwrap_or(u32::MAX);
                (p.shape, PixelType::F32, PixelType::F32, p.channels(), bins)
            }
        };
        // Channels that are counted together are as more columns.
        let width = shape.width.saturating_mul(shape.channels / channels);
        Work { operation, src, dst, channels, side, width, height: shape.height }
    }

    fn samples(&self) -> f64 {
        self.width as f64 * self.height as f64 * self.channels as f64
    }
}

impl Row {
    /// How far away it is: the GPU counts before the channels, these before the side, that before the size, which
    /// is what each multiprocessor has to do.
    fn distance(&self, work: &Work, machine: &Machine) -> [f64; 5] {
        let ratio = |a: f64, b: f64| if a > b { a / b } else { b / a };
        let share = |work: &Work, multiprocessors: u32| work.samples() / multiprocessors as f64;
        [
            ratio(self.target as f64, machine.target as f64),
            ratio(self.multiprocessors as f64, machine.multiprocessors as f64),
            ratio(self.work.channels as f64, work.channels as f64),
            ratio(self.work.side as f64, work.side as f64),
            ratio(share(&self.work, self.multiprocessors), share(work, machine.multiprocessors)),
        ]
    }

    /// What a variant took.
    pub fn time(&self, variant: &str) -> Option<&Time> {
        self.times.iter().find(|time| time.variant == variant)
    }
}

impl Table {
    /// The rows of a text, as [`Row`]s write themselves. Lines that are none are left out.
    pub fn parse(text: &str) -> Table {
        Table(text.lines().filter_map(row).collect())
    }

    /// The row that tells of a problem: of its operation and types, the nearest.
    pub fn nearest(&self, work: &Work, machine: &Machine) -> Option<&Row> {
        let kind = |work: &Work| (work.operation, work.src, work.dst);
        self.least(work, machine, |row| kind(&row.work) == kind(work))
    }

    /// The grid's numbers for a variant: of any types, where it was not measured for these.
    pub fn tuning(&self, variant: &Variant, work: &Work, machine: &Machine) -> Option<Tuning> {
        if candidates(variant.name).is_empty() {
            return None;
        }
        let of = |row: &Row| row.time(variant.name).filter(|_| row.work.operation == variant.operation)?.tuning;
        let kind = |row: &Row| (row.work.src, row.work.dst) == (work.src, work.dst);
        let row = self.least(work, machine, |row| kind(row) && of(row).is_some());
        of(row.or_else(|| self.least(work, machine, |row| of(row).is_some()))?)
    }

    fn least(&self, work: &Work, machine: &Machine, wanted: impl Fn(&Row) -> bool) -> Option<&Row> {
        let rows = self.0.iter().filter(|row| wanted(row)).map(|row| (row.distance(work, machine), row));
        Some(rows.min_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal))?.1)
    }
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split(',').collect();
    let [gpu, target, multiprocessors, operation, src, dst, channels, side, width, height, times] = cells[..] else {
        return None;
    };
    let whole = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    let operation = VARIANTS.iter().find(|variant| variant.operation == operation)?.operation;
    let time = |text: &str| {
        let (variant, ms) = text.split_once('=')?;
        let (ms, tuning) = ms.split_once('@').map_or((ms, None), |(ms, tuning)| (ms, Some(tuning)));
        let tuning = match tuning.map(|tuning| tuning.split_once('x').unwrap_or(("0", tuning))) {
            Some((rows, residents)) => Some(Tuning { rows: rows.parse().ok()?, residents: whole(residents)? }),
            None => None,
        };
        let variant = crate::variants(operation).find(|known| known.name == variant)?.name;
        Some(Time { variant, ms: ms.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0)?, tuning })
    };
    Some(Row {
        gpu: gpu.into(),
        target: whole(target)?,
        multiprocessors: whole(multiprocessors)?,
        work: Work {
            operation,
            src: src.parse().ok()?,
            dst: dst.parse().ok()?,
            channels: whole(channels)?,
            side: whole(side)?,
            width: whole(width)?,
            height: whole(height)?,
        },
        times: times.split(';').map(time).collect::<Option<_>>()?,
    })
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows > 0 { write!(f, "{}x{}", self.rows, self.residents) } else { write!(f, "{}", self.residents) }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Work { operation, src, dst, channels, side, width, height } = self;
        write!(f, "{operation} {src} ")?;
        if src != dst {
            write!(f, "to {dst} ")?;
        }
        write!(f, "{width}x{height}")?;
        if *channels > 1 {
            write!(f, "x{channels}")?;
        }
        if *operation == "histogram" { write!(f, " {side} bins") } else { write!(f, " mask {side}x{side}") }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { gpu, target, multiprocessors, work, times } = self;
        let Work { operation, src, dst, channels, side, width, height } = work;
        let time = |time: &Time| {
            let tuning = time.tuning.map_or(String::new(), |tuning| format!("@{tuning}"));
            format!("{}={:.5}{tuning}", time.variant, time.ms)
        };
        let times: Vec<String> = times.iter().map(time).collect();
        write!(f, "{},{target},{multiprocessors},{operation},{src},{dst},", gpu.replace(',', " "))?;
        write!(f, "{channels},{side},{width},{height},{}", times.join(";"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Bins, Border, ByteHistogram, EdgeHistogram, Separable, Shape, Taps};

    const ROW: &str =
        "Some GPU,90,132,separable,u8,f32,3,17,8192,100,fused=0.20801@4;march-separable=0.21000@16x4;simple=1.5";

    #[test]
    fn the_committed_table_is_sound() {
        let mut lines = TEXT.lines().skip_while(|line| line.starts_with('#'));
        assert_eq!(lines.next(), Some(COLUMNS));
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
        for line in &lines {
            let row = row(line).unwrap_or_else(|| panic!("malformed: {line}"));
            assert_eq!(row.to_string(), *line);
            assert!(row.times.windows(2).all(|pair| pair[0].ms <= pair[1].ms), "not by time: {line}");
            assert_ne!(row.gpu, "emulator", "times of the emulator: {line}");
            let same = lines.iter().filter_map(|line| super::row(line));
            let same = same.filter(|other| (&other.gpu, other.work) == (&row.gpu, row.work));
            assert_eq!(same.count(), 1, "twice: {line}");
            for time in &row.times {
                assert_eq!(time.tuning.is_some(), !candidates(time.variant).is_empty(), "{}: {line}", time.variant);
            }
        }
        assert_eq!(TABLE.0.len(), lines.len());
    }

    #[test]
    fn a_row_is_read_as_it_is_written() {
        let read = row(ROW).unwrap();
        assert_eq!(read.time("fused").unwrap().tuning, Some(Tuning { rows: 0, residents: 4 }));
        assert_eq!(read.time("march-separable").unwrap().tuning, Some(Tuning { rows: 16, residents: 4 }));
        assert_eq!(read.time("simple"), Some(&Time { variant: "simple", ms: 1.5, tuning: None }));
        assert_eq!(read.work.to_string(), "separable u8 to f32 8192x100x3 mask 17x17");
        assert_eq!(row(&read.to_string()), Some(read.clone()));
        let odd = Row { gpu: "A, B".into(), ..read };
        assert_eq!(row(&odd.to_string()).unwrap().gpu, "A  B");
    }

    #[test]
    fn malformed_rows_are_left_out() {
        for (part, by) in [
            ("separable", "blur"),
            ("fused", "fast"),
            ("u8", "u7"),
            ("90", "0"),
            ("17", "x"),
            ("1.5", "0"),
            ("1.5", "inf"),
            ("1.5", "-1"),
            ("@4", "@0"),
            ("@16x4", "@16"),
            ("16x4", "16x4x2"),
            ("0.20801@4", "0.2@"),
            (",8192", ""),
            (",fused", ",1,fused"),
        ] {
            let line = ROW.replacen(part, by, 1);
            let expected = part == "@16x4";
            assert_eq!(row(&line).is_some(), expected, "{line}");
        }
        assert_eq!(Table::parse(&format!("# gpu: x\n{COLUMNS}\n{ROW}\n\n{ROW}\nmore\n")).0.len(), 2);
    }

    #[test]
    fn what_a_time_depends_on() {
        let shape = Shape::new(20, 10, 4).unwrap();
        let taps = |count| Taps::new(vec![1.0; count]).unwrap();
        let (src, dst, border) = (PixelType::U8, PixelType::F32, Border::Crop);
        let separable = Separable { shape, src, dst, taps_x: taps(17), taps_y: taps(2), border };
        let together = ByteHistogram { shape, per_channel: false };
        let bins = Bins { count: 1000, range: None };
        let apart = EdgeHistogram { shape, bins, extremes: None, per_channel: true };
        let problems = [Problem::Separable(separable), Problem::ByteHistogram(together), Problem::EdgeHistogram(apart)];
        assert_eq!(
            problems.each_ref().map(|problem| Work::of(problem).to_string()),
            [
                "separable u8 to f32 20x10x4 mask 10x10",
                "histogram u8 80x10 256 bins",
                "histogram f32 20x10x4 1000 bins",
            ]
        );
    }

    #[test]
    fn gpus_are_nearest_by_target_then_by_multiprocessors() {
        let row =
            |gpu: &str, target, multiprocessors| Row { gpu: gpu.into(), target, multiprocessors, ..row(ROW).unwrap() };
        let table = Table(vec![row("large", 90, 132), row("small", 90, 66), row("old", 75, 132)]);
        let work = Work { side: 3, ..table.0[0].work };
        let nearest = |target, multiprocessors| {
            let machine = Machine { target, multiprocessors, ..Machine::EMULATED };
            table.nearest(&work, &machine).unwrap().gpu.as_str()
        };
        assert_eq!(
            [nearest(90, 144), nearest(90, 70), nearest(75, 66), nearest(120, 132)],
            ["large", "small", "old", "large"]
        );
        assert_eq!(table.nearest(&Work { dst: PixelType::U8, ..work }, &Machine::EMULATED), None);
    }

    #[test]
    fn numbers_of_other_types_are_better_than_none() {
        let table = Table::parse(ROW);
        let variant = |name| crate::variants("separable").find(|variant| variant.name == name).unwrap();
        let work = Work { src: PixelType::F32, side: 5, ..table.0[0].work };
        let numbers = |name| table.tuning(variant(name), &work, &Machine::EMULATED);
        assert_eq!(numbers("march-separable"), Some(Tuning { rows: 16, residents: 4 }));
        assert_eq!([numbers("simple"), numbers("tiled")], [None, None]);
        let dense = crate::variants("correlate").find(|variant| variant.name == "march-dense").unwrap();
        assert_eq!(table.tuning(dense, &Work { operation: "correlate", ..work }, &Machine::EMULATED), None);
    }

    #[test]
    fn candidates_are_of_variants_that_are_there() {
        let tunable = VARIANTS.iter().filter(|variant| !candidates(variant.name).is_empty());
        assert_eq!(tunable.count(), 7);
    }
}
