//! The tuning table: measured times of the variants by workload, with the grids that gave them.
//!
//! The table is data, `tuning.csv`, as `apron tune` prints it. A row is a workload on a GPU, with the time of each
//! variant that took it. For workloads that were not measured the [`nearest`](Table::nearest) row counts.

mod text;
mod work;

pub use crate::catalogue::candidates;
use crate::{Machine, Tuning, Variant};
use apron_core::PixelType;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use work::Kind;
pub use work::{Line, Work};

/// A workload on a GPU, with the time of each variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The GPU's name.
    pub gpu: String,
    /// The target of the PTX that it loads, as in [`Machine`].
    pub target: u32,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// The workload.
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
    /// The grid that gave this time, for variants whose grid is tuned.
    pub tuning: Option<Tuning>,
}

/// The rows of all machines, indexed by operation and types, and by the variants whose grids they record.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    of_kind: HashMap<Kind, Vec<usize>>,
    /// Row indices by operation and variant, each with the best grid of that row.
    of_variant: HashMap<(&'static str, &'static str), Vec<(usize, Tuning)>>,
    /// The rankings of the most recent problems: finding the nearest rows takes as long as a launch.
    rankings: Mutex<HashMap<(Work, Machine), Arc<Ranking>>>,
}

/// Most rankings that a table keeps.
const MOST_RANKINGS: usize = 256;

/// The variants of an operation, in the order in which they are tried.
pub(crate) type Ranking = Vec<Ranked>;

/// A variant with its time in the nearest row that has one, and the measured grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    pub(crate) variant: &'static Variant,
    pub(crate) measured: Option<Measured>,
    pub(crate) tuning: Option<Tuning>,
}

/// A variant's time for a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// Index of the row.
    row: usize,
    pub(crate) time: Time,
    /// The time that variants are ranked by, in milliseconds.
    estimate: f64,
}

/// The built-in table.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(TEXT));

const TEXT: &str = include_str!("../../tuning.csv");

/// The header line of the table: lines that start with `#` precede it, one line per row follows.
pub const COLUMNS: &str = "gpu,target,multiprocessors,operation,src,dst,sums,aligned,channels,side,width,height,times";

/// Largest ratio of sizes up to which rows of the same alignment are preferred.
const NEAR_SIZES: f64 = 4.0;

impl Row {
    /// Returns the distance to a workload, in decreasing order of significance: GPU, lines or squares, exactness of the
    /// taps, row alignment, channels, side, and size per multiprocessor. A row of the same alignment counts as such only within
    /// [`NEAR_SIZES`]: beyond, size changes the order of variants more than alignment does.
    fn distance(&self, work: &Work, machine: &Machine) -> [f64; 8] {
        let ratio = |a: f64, b: f64| if a > b { a / b } else { b / a };
        let share = |work: &Work, multiprocessors: u32| work.samples() / multiprocessors as f64;
        let size = ratio(share(&self.work, self.multiprocessors), share(work, machine.multiprocessors));
        [
            ratio(self.target as f64, machine.target as f64),
            ratio(self.multiprocessors as f64, machine.multiprocessors as f64),
            f64::from(self.work.direction() != work.direction()),
            f64::from(self.work.exact != work.exact),
            f64::from(self.work.aligned != work.aligned || size > NEAR_SIZES),
            ratio(self.work.channels as f64, work.channels as f64),
            ratio(self.work.length(), work.length()),
            size,
        ]
    }

    /// Returns the time of a variant.
    pub fn time(&self, variant: &str) -> Option<&Time> {
        self.times.iter().find(|time| time.variant == variant)
    }
}

impl Table {
    /// Creates a table of these rows.
    pub fn new(rows: Vec<Row>) -> Table {
        let mut table = Table { rows, ..Table::default() };
        for (index, row) in table.rows.iter().enumerate() {
            table.of_kind.entry(row.work.kind()).or_default().push(index);
            for time in &row.times {
                let key = (row.work.operation, time.variant);
                table.of_variant.entry(key).or_default().extend(time.tuning.map(|tuning| (index, tuning)));
            }
        }
        table
    }

    /// Parses a table from rows as [`Row`] formats them. Other lines are skipped.
    pub fn parse(text: &str) -> Table {
        Table::new(text.lines().filter_map(text::row).collect())
    }

    /// Returns the rows, in their order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the kind of the rows that serve a workload: its own; if that has no rows, u16 stands in for i16, and f32
    /// for f16.
    fn kind(&self, work: &Work) -> Kind {
        let of = |pixel| match pixel {
            PixelType::I16 => PixelType::U16,
            PixelType::F16 => PixelType::F32,
            other => other,
        };
        let (operation, src, dst) = work.kind();
        let own = self.of_kind.contains_key(&(operation, src, dst));
        if own { work.kind() } else { (operation, of(src), of(dst)) }
    }

    /// Returns the nearest row of the same operation and types, or of u16 in place of i16, or of f32 in place of f16.
    pub fn nearest(&self, work: &Work, machine: &Machine) -> Option<&Row> {
        self.nearest_index(work, machine).map(|index| &self.rows[index])
    }

    fn nearest_index(&self, work: &Work, machine: &Machine) -> Option<usize> {
        self.nearest_where(work, machine, |_| true)
    }

    /// Returns the nearest row of those that are `wanted`.
    fn nearest_where(&self, work: &Work, machine: &Machine, wanted: impl Fn(&Row) -> bool) -> Option<usize> {
        let rows = self.of_kind.get(&self.kind(work))?.iter().copied().filter(|&index| wanted(&self.rows[index]));
        let distances = rows.map(|index| (self.rows[index].distance(work, machine), index));
        distances.min_by(|a, b| order(&a.0, &b.0)).map(|(_, index)| index)
    }

    /// Returns the row of a variant's time.
    pub(crate) fn row_of(&self, measured: &Measured) -> &Row {
        &self.rows[measured.row]
    }

    /// Returns the time of a variant in row `nearest`. If the variant refused that row's workload, the time comes from
    /// the nearest row of masks in the same direction, or of squares, that has one for it, scaled up if that row's
    /// workload is smaller.
    fn measured(&self, variant: &Variant, nearest: usize, work: &Work, machine: &Machine) -> Option<Measured> {
        let of = |row: usize| self.rows[row].time(variant.name).map(|time| (row, *time));
        let direction = self.rows[nearest].work.direction();
        let has_one = |row: &Row| row.work.direction() == direction && row.time(variant.name).is_some();
        let other = || self.nearest_where(work, machine, has_one).and_then(of);
        let (row, time) = of(nearest).or_else(other)?;
        let [work, own] = [nearest, row].map(|row| &self.rows[row].work);
        Some(Measured { row, time, estimate: time.ms * work.over(own) })
    }

    /// Ranks the variants of an operation by their times in the nearest rows. A variant that no row has keeps its place
    /// in [`VARIANTS`](crate::VARIANTS), before or after the measured ones. Variants that run only by name come last.
    pub(crate) fn ranking(&self, work: &Work, machine: &Machine) -> Arc<Ranking> {
        let mut kept = self.rankings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ranking) = kept.get(&(*work, *machine)) {
            return ranking.clone();
        }
        let nearest = self.nearest_index(work, machine);
        let mut ranking: Ranking = crate::variants(work.operation)
            .map(|variant| {
                let measured = nearest.and_then(|nearest| self.measured(variant, nearest, work, machine));
                let tuning = measured.and_then(|measured| measured.time.tuning);
                Ranked { variant, measured, tuning: tuning.or_else(|| self.tuning(variant, work, machine)) }
            })
            .collect();
        let front = ranking.iter().take_while(|ranked| ranked.measured.is_none()).count();
        let ms = |ranked: &Ranked| ranked.measured.map_or(f64::INFINITY, |measured| measured.estimate);
        ranking[front..].sort_by(|a, b| ms(a).total_cmp(&ms(b)));
        ranking.sort_by_key(|ranked| ranked.variant.by_name);
        let ranking = Arc::new(ranking);
        if kept.len() >= MOST_RANKINGS {
            kept.clear();
        }
        kept.insert((*work, *machine), ranking.clone());
        ranking
    }

    /// Returns the measured grid of a variant: from rows of the same types, or of any types if there are none.
    pub fn tuning(&self, variant: &Variant, work: &Work, machine: &Machine) -> Option<Tuning> {
        if variant.grids.is_empty() {
            return None;
        }
        let all = self.of_variant.get(&(variant.operation, variant.name))?.iter();
        let all = all.map(|(index, tuning)| (&self.rows[*index], *tuning));
        let kind = self.kind(work);
        let like = |row: &Row| row.work.kind() == kind;
        let any = !all.clone().any(|(row, _)| like(row));
        let told = all.filter(|(row, _)| any || like(row)).map(|(row, tuning)| (row.distance(work, machine), tuning));
        told.min_by(|a, b| order(&a.0, &b.0)).map(|(_, tuning)| tuning)
    }
}

/// Orders distances lexicographically.
fn order(a: &[f64; 8], b: &[f64; 8]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::text::row;
    use super::text::tests::ROW;
    use super::*;
    use apron_core::{
        Bins, Border, ByteHistogram, Correlate, EdgeHistogram, Extent, Mask, Problem, Separable, Shape, Taps,
    };

    #[test]
    fn what_a_time_depends_on() {
        let shape = Shape::new(20, 10, 4).unwrap();
        let taps = |count| Taps::new(vec![1.0; count]).unwrap();
        let (src, dst, border) = (PixelType::U8, PixelType::F32, Border::Crop);
        let separable = Separable { shape, src, dst, taps_x: taps(17), taps_y: taps(2), border, extent: Extent::Same };
        let together = ByteHistogram { shape, per_channel: false };
        let bins = Bins { count: 1000, range: None };
        let apart = EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel: true };
        let problems = [Problem::from(separable), Problem::from(together), Problem::from(apart)];
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
        let table = Table::new(vec![row("large", 90, 132), row("small", 90, 66), row("old", 75, 132)]);
        let work = Work { side: 3, ..table.rows()[0].work };
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
    fn a_ranking_is_kept_for_its_work_and_machine() {
        let table = Table::parse(ROW);
        let (work, machine) = (table.rows()[0].work, Machine::EMULATED);
        let first = table.ranking(&work, &machine);
        assert!(Arc::ptr_eq(&first, &table.ranking(&work, &machine)));
        for other in [Work { width: 7, ..work }, Work { side: work.side + 2, ..work }] {
            assert!(!Arc::ptr_eq(&first, &table.ranking(&other, &machine)));
        }
        assert!(!Arc::ptr_eq(&first, &table.ranking(&work, &Machine { multiprocessors: 1, ..machine })));
        for width in 1..=MOST_RANKINGS as u32 {
            table.ranking(&Work { width, ..work }, &machine);
        }
        assert!(table.rankings.lock().unwrap().len() <= MOST_RANKINGS);
    }

    #[test]
    fn taps_whose_sums_are_exact_have_rows_of_their_own() {
        let of = |exact, side| Row { work: Work { exact, side, ..row(ROW).unwrap().work }, ..row(ROW).unwrap() };
        let (any, exact) = (of(false, 17), of(true, 5));
        let nearest = |table: Vec<Row>, work| Table::new(table).nearest(&work, &Machine::EMULATED).unwrap().work;
        for work in [any.work, Work { exact: true, ..any.work }] {
            assert_eq!(nearest(vec![any.clone(), exact.clone()], work).exact, work.exact);
            // Better than no row at all.
            assert!(!nearest(vec![any.clone()], work).exact);
        }
    }

    #[test]
    fn rows_of_the_same_alignment_tell_first_and_others_where_there_are_none() {
        let of = |aligned, side| Row { work: Work { aligned, side, ..row(ROW).unwrap().work }, ..row(ROW).unwrap() };
        let (aligned, unaligned) = (of(true, 17), of(false, 5));
        let nearest = |table: &[&Row], work| {
            let table = Table::new(table.iter().copied().cloned().collect());
            table.nearest(&work, &Machine::EMULATED).unwrap().work
        };
        for asked in [aligned.work, Work { aligned: false, ..aligned.work }] {
            assert_eq!(nearest(&[&aligned, &unaligned], asked).aligned, asked.aligned);
            assert!(nearest(&[&aligned], asked).aligned);
        }
        // An image of a sixth of the rows' size, with an aligned row that is nearer.
        let small = Work { width: 8192 / 6, aligned: false, ..aligned.work };
        let near = Row { work: Work { aligned: true, ..small }, ..aligned.clone() };
        assert_eq!(nearest(&[&of(false, 17), &near], small), near.work);
        // Rows of 1366, 2732, 5464 and 16392 bytes are no multiples of 16; 21856 is one.
        let work = |src, channels| {
            let shape = Shape::new(1366, 9, channels).unwrap();
            let (taps, border, extent) = (Taps::new([1.0; 3]).unwrap(), Border::Crop, Extent::Same);
            let (taps_x, taps_y) = (taps.clone(), taps);
            Work::of(&Separable { shape, src, dst: src, taps_x, taps_y, border, extent }.into()).aligned
        };
        use PixelType::{F32, U8, U16};
        assert_eq!(
            [work(U8, 1), work(U16, 1), work(F32, 1), work(F32, 3), work(F32, 4)],
            [false, false, false, false, true]
        );
    }

    #[test]
    fn sums_of_bytes_with_few_bits_are_exact() {
        let work = |src, dst, tap: f32| {
            let (shape, taps) = (Shape::new(9, 9, 1).unwrap(), Taps::new(vec![tap; 3]).unwrap());
            let (taps_x, taps_y, border, extent) = (taps.clone(), taps, Border::Crop, Extent::Same);
            let separable = Separable { shape, src, dst, taps_x, taps_y, border, extent };
            let mask = Mask::new(3, 3, vec![tap; 9]).unwrap();
            let dense = Correlate { shape, src, dst, mask, border, clamp: false, extent };
            let [dense, separable] =
                [Problem::from(dense), Problem::from(separable)].map(|problem| Work::of(&problem).exact);
            assert_eq!(dense, separable);
            dense
        };
        use PixelType::{F32, U8, U16};
        assert!(work(U8, U8, 0.25));
        assert!(!work(U8, U8, 1.0 / 3.0) && !work(U8, F32, 0.25) && !work(U16, U16, 0.25));
    }

    #[test]
    fn i16_goes_by_the_rows_of_u16_where_it_has_none() {
        let of = |pixel, side| Row {
            work: Work { src: pixel, dst: pixel, side, ..row(ROW).unwrap().work },
            ..row(ROW).unwrap()
        };
        use PixelType::{I16, U16};
        let (own, other) = (of(I16, 33), of(U16, 5));
        let nearest = |table: &[&Row], work| {
            let table = Table::new(table.iter().copied().cloned().collect());
            table.nearest(&work, &Machine::EMULATED).map(|row| row.work)
        };
        let asked = of(I16, 5).work;
        assert_eq!(nearest(&[&other], asked), Some(other.work));
        assert_eq!(nearest(&[&other, &own], asked), Some(own.work));
        assert_eq!(nearest(&[&own], other.work), None);
    }

    #[test]
    fn numbers_of_other_types_are_better_than_none() {
        let table = Table::parse(ROW);
        let variant = |name| crate::variants("separable").find(|variant| variant.name == name).unwrap();
        let work = Work { src: PixelType::F32, side: 5, ..table.rows()[0].work };
        let numbers = |name| table.tuning(variant(name), &work, &Machine::EMULATED);
        assert_eq!(numbers("march-separable"), Some(Tuning { rows: 16, residents: 4 }));
        assert_eq!([numbers("conv1d-simple"), numbers("conv1d-tiled")], [None, None]);
        let dense = crate::variants("correlate").find(|variant| variant.name == "march-dense").unwrap();
        assert_eq!(table.tuning(dense, &Work { operation: "correlate", ..work }, &Machine::EMULATED), None);
    }
}
