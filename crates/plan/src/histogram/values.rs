//! Recipes that compute the cell of a sample and count by slices as large as shared memory, and a radix select.

use super::slices::MAX_ROW_CELLS;
use super::{OPERATION, check_counters, rounds};
use crate::recipe::{Steps, launch};
use crate::{Buffer, Launch, Machine, Recipe, Role, unsupported};
use apron_abi::{
    DIGITS, ElementType, HistogramDigitsParams, HistogramMergeParams, HistogramRanksParams, HistogramValuesParams,
    Kernel, MAX_CELLS, MERGE_BLOCK, Params, RANKS_BLOCK, SLICES_BLOCK, Spacing, UPPER_HALVES, WORDS_AT_ONCE, set_words,
    total_of,
};
use apron_core::{Result, Shape};
use std::borrow::Cow;

/// Least samples per thread that justify another block and its row of counts.
const SAMPLES_PER_THREAD: u64 = 16;

/// Cells that are counted: their number per channel, and the number of channels counted separately.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    pub(super) each: u32,
    pub(super) channels: u32,
}

impl Cells {
    fn all(self) -> u64 {
        self.each as u64 * self.channels as u64
    }

    /// Returns the number of slices and the cells per slice, such that shared memory holds the counters of a slice.
    pub(super) fn slices(self, machine: &Machine) -> (u32, u32) {
        let slices = self.all().div_ceil(machine.shared_bytes as u64 / 4) as u32;
        (slices, self.all().div_ceil(slices as u64) as u32)
    }
}

/// Plans a launch in which each block counts one slice of the cells, and each column of blocks writes a row of counts;
/// and the sum of the rows.
pub(super) fn values(
    samples: u64,
    kernel: Kernel,
    cells: Cells,
    (spacing, edges, low): (Spacing, Vec<f32>, u32),
    machine: &Machine,
) -> Result<Steps> {
    let (slices, slice) = cells.slices(machine);
    // With a multiple of the channels, all loads of a thread start at the same channel.
    let most = (machine.multiprocessors / slices) as u64;
    let most = most.min(MAX_ROW_CELLS / cells.all()) as u32 / cells.channels;
    let enough = samples.div_ceil(SLICES_BLOCK as u64 * SAMPLES_PER_THREAD * cells.channels as u64);
    let rows = enough.clamp(1, most.max(1) as u64) as u32 * cells.channels;
    check_counters(samples, rows)?;
    let src = kernel.facts().src;
    let of_read = WORDS_AT_ONCE * 4 / src.size_bytes() as u64;
    let rounds = rounds(samples, samples / of_read, rows, SLICES_BLOCK)?;
    let params =
        HistogramValuesParams { samples, rounds, channels: cells.channels, cells: cells.each, slice, spacing, low };
    let counting = Launch {
        blocks: [rows, slices],
        shared_bytes: slice * 4,
        taps: edges.into(),
        ..launch(kernel, rows, Params::HistogramValuesParams(params))
    };
    let all = cells.all() as u32;
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials: rows, bins: all });
    let sums = launch(Kernel::histogram_slices_sums_u32_u64, all.div_ceil(MERGE_BLOCK), params);
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: samples },
        Buffer { role: Role::Scratch, element: ElementType::U32, elems: rows as u64 * cells.all() },
        Buffer { role: Role::Output, element: ElementType::U64, elems: cells.all() },
    ];
    Ok((buffers, vec![counting, Launch { src: 1, dst: 2, ..sums }]))
}

/// Returns the most ranks that [`ranks`] finds together, over all channels; 0 if the sets of prefixes alone exceed shared
/// memory.
pub fn most_ranks(channels: u32, machine: &Machine) -> usize {
    let left = machine.shared_bytes.saturating_sub(set_words(channels * UPPER_HALVES) * 4);
    (left / ((DIGITS + set_words(DIGITS)) * 4)).min(MAX_CELLS / DIGITS).min(RANKS_BLOCK) as usize
}

/// Returns the recipe that finds f32 samples by their ranks, ascending and counted from 0, in each channel: the
/// [orders](apron_abi::order_of) of the samples, channel by channel; those of NaN for a channel that has NaN. A radix
/// select: passes over the image count its samples by the upper halves of their orders, then those with the upper half of
/// a rank's sample by the next digit, and those with these prefixes by the last. Behind each pass one block finds the
/// digits of the ranks.
///
/// # Errors
/// [`Error::Unsupported`](apron_core::Error::Unsupported) for more samples than counters hold, and for more ranks than
/// [`most_ranks`].
pub fn ranks(shape: Shape, channels: u32, ranks: &[u64], machine: &Machine) -> Result<Recipe> {
    const COUNTS: usize = 2;
    const SETS: usize = 3;
    const STATE: usize = 4;
    const DIGIT_COUNTS: usize = 5;
    const TOTALS: usize = 6;
    const ORDERS: usize = 7;
    let (samples, each) = (shape.samples(), ranks.len() as u32);
    let all = each * channels;
    if all as usize > most_ranks(channels, machine) {
        return Err(unsupported(OPERATION, format!("{all} ranks at once"), "find fewer"));
    }
    let (cells, none) = (Cells { each: UPPER_HALVES, channels }, (Spacing::default(), Vec::new(), 0));
    let (mut buffers, mut launches) =
        values(samples, Kernel::histogram_slices_upper_halves_f32_u32, cells, none, machine)?;
    let set_of_digits = set_words(channels * UPPER_HALVES);
    buffers[COUNTS].role = Role::Scratch;
    let scratch = |element, elems: u32| Buffer { role: Role::Scratch, element, elems: elems as u64 };
    buffers.extend([
        scratch(ElementType::U32, set_of_digits + set_words(all * DIGITS)),
        scratch(ElementType::U64, 4 * all),
        scratch(ElementType::U64, all * DIGITS),
        Buffer { role: Role::Zeroed, element: ElementType::U64, elems: total_of(all * DIGITS, all * DIGITS) },
        Buffer { role: Role::Output, element: ElementType::U32, elems: all as u64 },
    ]);
    let taps: Vec<f32> =
        ranks.iter().flat_map(|&rank| [rank as u32, (rank >> 32) as u32].map(f32::from_bits)).collect();
    let found = |pass, src, dst, set| {
        let params = HistogramRanksParams { state: STATE as u64, ranks: each, channels, pass, set };
        let found = launch(Kernel::histogram_slices_ranks_u64_u32, 1, Params::HistogramRanksParams(params));
        // Later passes have the ranks in their state.
        let taps = if pass == 0 { taps.clone() } else { Vec::new() };
        Launch { src, dst, taps: taps.into(), ..found }
    };
    let enough = samples.div_ceil(SLICES_BLOCK as u64 * SAMPLES_PER_THREAD * channels as u64);
    let blocks = enough.clamp(1, (machine.multiprocessors / channels).max(1) as u64) as u32 * channels;
    let rounds = rounds(samples, samples / WORDS_AT_ONCE, blocks, SLICES_BLOCK)?;
    let counted = |is_last| {
        let counters = (set_of_digits + if is_last { set_words(all * DIGITS) } else { 0 }) * 4;
        let params = HistogramDigitsParams {
            samples,
            totals: TOTALS as u64,
            sets: SETS as u64,
            rounds,
            channels,
            halves: if is_last { all } else { 0 },
            slots: all,
            shift: if is_last { 0 } else { 8 },
            digits: set_of_digits,
            counters,
        };
        let counted = launch(Kernel::histogram_slices_digits_f32_u64, blocks, Params::HistogramDigitsParams(params));
        Launch { dst: DIGIT_COUNTS, shared_bytes: counters + all * DIGITS * 4, ..counted }
    };
    launches.extend([
        found(0, COUNTS, SETS, 0),
        counted(false),
        found(1, DIGIT_COUNTS, SETS, set_of_digits),
        counted(true),
        found(2, DIGIT_COUNTS, ORDERS, 0),
    ]);
    let variant = Kernel::histogram_slices_digits_f32_u64.facts().variant;
    let why = Cow::Borrowed("finds ranks by counting");
    Ok(Recipe { operation: OPERATION, variant, why, buffers, launches, images: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_few_and_alike() {
        let slices = |each, channels, machine| Cells { each, channels }.slices(machine);
        let old = &Machine { shared_bytes: 64 * 1024, ..Machine::EMULATED };
        assert_eq!(slices(65536, 1, &Machine::EMULATED), (2, 32768));
        assert_eq!(slices(65536, 3, &Machine::EMULATED), (4, 49152));
        assert_eq!(slices(100_000, 1, &Machine::EMULATED), (2, 50_000));
        assert_eq!(slices(65536, 1, old), (4, 16384));
    }

    #[test]
    fn large_gpus_find_many_ranks_together() {
        let most = |channels, shared_bytes| most_ranks(channels, &Machine { shared_bytes, ..Machine::EMULATED });
        assert_eq!(
            [most(1, 227 * 1024), most(4, 227 * 1024), most(1, 48 * 1024), most(4, 64 * 1024)],
            [192, 153, 30, 0]
        );
        let shape = Shape::new(4096, 4096, 1).unwrap();
        let all: Vec<u64> = (0..192).collect();
        let recipe = ranks(shape, 1, &all, &Machine::EMULATED).unwrap();
        assert!(recipe.launches.iter().all(|launch| launch.shared_bytes <= Machine::EMULATED.shared_bytes));
        assert!(ranks(shape, 1, &[&all[..], &[192]].concat(), &Machine::EMULATED).is_err());
    }
}
