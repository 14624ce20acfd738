//! Recipes that compute the cell of a sample and count by slices as large as shared memory, and
//! passes of a radix select.

use super::slices::MAX_ROW_CELLS;
use super::{OPERATION, TOTALS, check_counters, rounds, with_totals};
use crate::recipe::{Steps, launch};
use crate::{Buffer, Launch, Machine, Recipe, Role};
use apron_abi::{
    DIGITS, ElementType, HistogramDigitsParams, HistogramMergeParams, HistogramValuesParams, Kernel, MAX_CELLS,
    MERGE_BLOCK, Params, SLICES_BLOCK, Spacing, UPPER_HALVES, WORDS_AT_ONCE, set_words,
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
    (spacing, edges): (Spacing, Vec<f32>),
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
    let params = HistogramValuesParams {
        samples,
        rounds,
        channels: cells.channels,
        cells: cells.each,
        slice,
        spacing,
        reserved: 0,
    };
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

/// Prefixes of [orders](apron_abi::order_of): a pass of a radix select counts the samples that start with each prefix
/// by their next digit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prefixes {
    /// The upper halves: `channel * 65536 + half`, ascending.
    pub halves: Vec<u32>,
    /// The upper halves with the next digit: `number of the half * 256 + digit`, ascending; empty where the upper
    /// halves are the prefixes.
    pub digits: Vec<u32>,
}

impl Prefixes {
    /// Returns the number of prefixes.
    fn slots(&self) -> usize {
        if self.digits.is_empty() { self.halves.len() } else { self.digits.len() }
    }

    /// Returns the largest number of prefixes per pass; 0 if the sets of prefixes alone exceed shared memory.
    pub fn most(channels: u32, machine: &Machine) -> usize {
        let left = machine.shared_bytes.saturating_sub(set_words(channels * UPPER_HALVES) * 4);
        (left / ((DIGITS + set_words(DIGITS)) * 4)).min(MAX_CELLS / DIGITS) as usize
    }
}

/// Returns a set of numbers below `range` as pairs of words: 32 bits of membership, and the number of smaller members.
fn set(range: u32, members: &[u32]) -> impl Iterator<Item = u32> {
    let mut pairs = vec![[0u32, 0]; range as usize / 32];
    for member in members {
        pairs[*member as usize / 32][0] |= 1 << (member % 32);
    }
    let mut before = 0;
    for [bits, below] in &mut pairs {
        (*below, before) = (before, before + bits.count_ones());
    }
    pairs.into_iter().flatten()
}

/// Returns the recipe that counts f32 samples by the upper half of their order: 65536 counts per channel.
///
/// # Errors
/// [`Error::Unsupported`](apron_core::Error::Unsupported) for more samples than counters hold.
pub fn upper_halves(shape: Shape, channels: u32, machine: &Machine) -> Result<Recipe> {
    let kernel = Kernel::histogram_slices_upper_halves_f32_u32;
    let (cells, none) = (Cells { each: UPPER_HALVES, channels }, (Spacing::default(), Vec::new()));
    Ok(recipe("counts the upper halves", kernel, values(shape.samples(), kernel, cells, none, machine)?))
}

/// Returns the recipe that counts the f32 samples that start with the prefixes by their next digit: 256 counts per
/// prefix.
///
/// # Errors
/// As [`upper_halves`], and for more prefixes than [`Prefixes::most`].
pub fn digits(shape: Shape, channels: u32, prefixes: &Prefixes, machine: &Machine) -> Result<Recipe> {
    let (samples, kernel) = (shape.samples(), Kernel::histogram_slices_digits_f32_u64);
    let last = !prefixes.digits.is_empty();
    let (halves, slots) = (if last { prefixes.halves.len() as u32 } else { 0 }, prefixes.slots() as u32);
    let enough = samples.div_ceil(SLICES_BLOCK as u64 * SAMPLES_PER_THREAD * channels as u64);
    let blocks = enough.clamp(1, (machine.multiprocessors / channels).max(1) as u64) as u32 * channels;
    let sets = set(channels * UPPER_HALVES, &prefixes.halves).chain(set(halves * DIGITS, &prefixes.digits));
    let taps: Vec<f32> = sets.map(f32::from_bits).collect();
    let counters = taps.len() as u32 * 4;
    let params = HistogramDigitsParams {
        samples,
        totals: TOTALS,
        rounds: rounds(samples, samples / WORDS_AT_ONCE, blocks, SLICES_BLOCK)?,
        channels,
        halves,
        slots,
        shift: if last { 0 } else { 8 },
        digits: set_words(channels * UPPER_HALVES),
        counters,
    };
    let counting = Launch {
        shared_bytes: counters + slots * DIGITS * 4,
        taps: taps.into(),
        ..launch(kernel, blocks, Params::HistogramDigitsParams(params))
    };
    Ok(recipe("counts the next digit", kernel, with_totals(samples, slots * DIGITS, counting)?))
}

fn recipe(why: &'static str, kernel: Kernel, (buffers, launches): Steps) -> Recipe {
    let variant = kernel.facts().variant;
    Recipe { operation: OPERATION, variant, why: Cow::Borrowed(why), buffers, launches, images: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_bits_and_the_members_before() {
        let words: Vec<u32> = set(128, &[0, 31, 33, 127]).collect();
        assert_eq!(words, [1 | 1 << 31, 0, 2, 2, 0, 3, 1 << 31, 3]);
        assert_eq!(words.len() as u32, set_words(128));
    }

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
    fn passes_take_many_prefixes_on_large_gpus() {
        let most = |channels, shared_bytes| Prefixes::most(channels, &Machine { shared_bytes, ..Machine::EMULATED });
        assert_eq!(
            [most(1, 227 * 1024), most(4, 227 * 1024), most(1, 48 * 1024), most(4, 64 * 1024)],
            [192, 153, 30, 0]
        );
        let shape = Shape::new(4096, 4096, 1).unwrap();
        let prefixes = Prefixes { halves: (0..192).collect(), digits: (0..192).map(|n| n * 256).collect() };
        let recipe = digits(shape, 1, &prefixes, &Machine::EMULATED).unwrap();
        assert!(recipe.launches[0].shared_bytes <= Machine::EMULATED.shared_bytes);
        assert_eq!(recipe.launches[0].taps.len() as u32, set_words(65536) + set_words(192 * 256));
    }
}
