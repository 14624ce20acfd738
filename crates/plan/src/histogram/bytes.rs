//! Recipes of histograms of bytes.

use super::{TOTALS, check_counters, rounds, with_totals};
use crate::recipe::{Steps, launch};
use crate::variant::{For, Grids, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{
    BYTE_BINS, COLUMNS_BLOCK, ElementType, Family, HistogramMergeParams, HistogramPartialParams, HistogramTotalsParams,
    Kernel, PARTIAL_BLOCK, Params,
};
use apron_core::{ByteHistogram, Result};

/// Most blocks, and so most partial histograms: enough to fill the largest GPUs, few enough to merge quickly.
const MAX_PARTIALS: u64 = 1024;
/// Least 32-bit words per thread that justify another block and its merge.
const WORDS_PER_THREAD: u64 = 16;

/// Plans P6 and P7: a partial histogram per block, then one block per bin sums them.
fn partials(problem: &ByteHistogram, _: &Variant, _: &Machine) -> Result<Steps> {
    let bytes = problem.shape.samples();
    let channels = problem.channels();
    let partials = (bytes / 4).div_ceil(PARTIAL_BLOCK as u64 * WORDS_PER_THREAD).clamp(1, MAX_PARTIALS);
    // With a multiple of the channels, each byte of a thread's words is always of the same channel.
    let partials = partials.next_multiple_of(channels as u64);
    two_launches(problem, Kernel::histogram_partials_partials_u8_u32, partials)
}

/// Plans `counting`, whose blocks each write a row of `bins` counts of the `samples`, and the launch that sums the
/// rows.
fn with_merge(samples: u64, bins: u32, counting: Launch) -> Result<Steps> {
    let partials = counting.blocks[0];
    check_counters(samples, partials)?;
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials, bins });
    let merging = Launch { src: 1, dst: 2, ..launch(Kernel::histogram_partials_merge_u32_u64, bins, params) };
    Ok((
        vec![
            Buffer { role: Role::Input, element: counting.kernel.facts().src, elems: samples },
            Buffer { role: Role::Scratch, element: ElementType::U32, elems: partials as u64 * bins as u64 },
            Buffer { role: Role::Output, element: ElementType::U64, elems: bins as u64 },
        ],
        vec![counting, merging],
    ))
}

/// Plans `counting` with one row of counts per block, and the launch that sums the rows.
fn two_launches(problem: &ByteHistogram, counting: Kernel, partials: u64) -> Result<Steps> {
    let (bytes, channels) = (problem.shape.samples(), problem.channels());
    let params = Params::HistogramPartialParams(HistogramPartialParams { bytes, channels, reserved: 0 });
    let counting = launch(counting, partials as u32, params);
    with_merge(bytes, BYTE_BINS * channels, counting)
}

/// Plans partial histograms privatized per lane, so that threads never contend for a counter; then one block per bin
/// sums them.
fn columns(problem: &ByteHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    let kernel = match problem.channels() {
        1 => Kernel::histogram_columns_c1_u8_u32,
        2 => Kernel::histogram_columns_c2_u8_u32,
        3 => Kernel::histogram_columns_c3_u8_u32,
        _ => Kernel::histogram_columns_c4_u8_u32,
    };
    let residents = machine.tuning.map_or(kernel.facts().residents, |tuning| tuning.residents);
    two_launches(problem, kernel, column_blocks(problem, machine.multiprocessors * residents))
}

/// Number of blocks with privatized histograms: about `most`, fewer for few samples; a multiple of the channels, so
/// that a thread finds the same channels in all that it reads.
fn column_blocks(problem: &ByteHistogram, most: u32) -> u64 {
    let channels = problem.channels();
    let enough = problem.shape.samples().div_ceil(COLUMNS_BLOCK as u64 * 16).div_ceil(channels as u64);
    enough.clamp(1, (most / channels).max(1) as u64) * channels as u64
}

fn one_launch(problem: &ByteHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    counted(problem, machine)
}

/// Plans one launch: blocks with privatized histograms add to common totals, and the last block to finish writes the
/// result. One block per multiprocessor by default, since zeroing and summing the counters costs the same for few bytes
/// as for many.
pub(crate) fn counted(problem: &ByteHistogram, machine: &Machine) -> Result<Steps> {
    let (bytes, channels) = (problem.shape.samples(), problem.channels());
    let kernel = match channels {
        1 => Kernel::histogram_one_launch_c1_u8_u64,
        2 => Kernel::histogram_one_launch_c2_u8_u64,
        3 => Kernel::histogram_one_launch_c3_u8_u64,
        _ => Kernel::histogram_one_launch_c4_u8_u64,
    };
    let residents = machine.tuning.map_or(1, |tuning| tuning.residents);
    let blocks = column_blocks(problem, machine.multiprocessors * residents) as u32;
    let rounds = rounds(bytes, bytes / 16, blocks, COLUMNS_BLOCK)?;
    let params = Params::HistogramTotalsParams(HistogramTotalsParams { bytes, totals: TOTALS, rounds });
    with_totals(bytes, BYTE_BINS * channels, launch(kernel, blocks, params))
}

const GRIDS: Grids = Grids::of_residents(&[1, 2, 4]);

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 10,
        grids: GRIDS,
        ..Variant::new(
            "histogram-one-launch",
            Family::Histogram,
            "u8 pixels; channels together or apart; 32 KiB of shared memory a channel",
            &For(one_launch),
        )
    },
    // Never the fastest: it stays because histogram-one-launch shares its parts and is tested against it.
    Variant {
        rank: 20,
        grids: GRIDS,
        ..Variant::new(
            "histogram-columns",
            Family::Histogram,
            "u8 pixels; channels together or apart; 32 KiB of shared memory a channel",
            &For(columns),
        )
    },
    Variant {
        rank: 30,
        by_name: true,
        ..Variant::new(
            "histogram-partials",
            Family::Histogram,
            "u8 pixels; channels together or apart; by name, if another takes it",
            &For(partials),
        )
    },
];

#[cfg(test)]
mod tests {
    use super::super::check_counters;
    use crate::{Machine, Role, untuned as plan};
    use apron_abi::{Params, Rounds, total_of};
    use apron_core::{ByteHistogram, MAX_SIDE, Problem, Shape};

    #[test]
    fn one_launch_is_enough() {
        let recipe = |side, variant| {
            let problem = ByteHistogram { shape: Shape::new(side, side, 4).unwrap(), per_channel: true };
            plan(&Problem::from(problem), variant, &Machine::EMULATED).unwrap()
        };
        let small = recipe(4096, None);
        assert_eq!(
            (small.variant, small.launches.len(), small.launches[0].blocks),
            ("histogram-one-launch", 1, [132, 1])
        );
        let zeroed = small.buffers[1];
        assert_eq!((zeroed.role, zeroed.elems), (Role::Zeroed, total_of(1024, 1024)));
        let Params::HistogramTotalsParams(params) = small.launches[0].params_at(&[7, 77, 777]) else { panic!() };
        assert_eq!((params.bytes, params.totals), (4 * 4096 * 4096, 77));
        assert_eq!(params.rounds, Rounds { whole: 31, rest: (4 << 20) - 31 * 132 * 1024 });
        assert_eq!((small.launches[0].src, small.buffers[small.launches[0].dst].role), (0, Role::Output));
        // Two launches if asked for by name.
        assert_eq!(recipe(4096, Some("histogram-columns")).launches.len(), 2);
    }

    fn launches(shape: (u32, u32, u32), per_channel: bool, variant: Option<&str>, machine: Machine) -> Vec<u32> {
        let shape = Shape::new(shape.0, shape.1, shape.2).unwrap();
        let recipe = plan(&Problem::from(ByteHistogram { shape, per_channel }), variant, &machine).unwrap();
        recipe.launches.iter().map(|launch| launch.blocks[0]).collect()
    }

    #[test]
    fn blocks_grow_with_the_image_up_to_a_limit() {
        let partials = |shape, per_channel| launches(shape, per_channel, Some("histogram-partials"), Machine::EMULATED);
        assert_eq!(partials((1, 1, 1), false), [1, 256]);
        assert_eq!(partials((16384, 2, 1), false), [2, 256]);
        assert_eq!(partials((1 << 15, 1 << 15, 3), true), [1026, 768]);
    }

    #[test]
    fn no_block_counts_more_than_its_32_bits() {
        let most = u64::from(u32::MAX) - (1 << 16);
        assert!(check_counters(most - 1, 1).is_ok() && check_counters(1000 * most - 1, 1000).is_ok());
        let error = check_counters(1000 * most, 1000).unwrap_err();
        assert!(error.to_string().contains("--device cpu"), "{error}");
        let shape = Shape::new(MAX_SIDE, MAX_SIDE, 4).unwrap();
        for variant in ["histogram-partials", "histogram-columns", "histogram-one-launch"] {
            let problem = Problem::from(ByteHistogram { shape, per_channel: false });
            assert!(plan(&problem, Some(variant), &Machine::EMULATED).is_err(), "{variant}");
        }
    }

    #[test]
    fn blocks_with_columns_fill_the_gpu_and_no_more() {
        let columns = |shape, per_channel, multiprocessors| {
            let machine = Machine { multiprocessors, ..Machine::EMULATED };
            launches(shape, per_channel, Some("histogram-columns"), machine)
        };
        assert_eq!(columns((1, 1, 1), false, 132), [1, 256]);
        assert_eq!(columns((16384, 2, 1), false, 132), [2, 256]);
        assert_eq!(columns((1 << 15, 1 << 15, 1), false, 132), [264, 256]);
        assert_eq!(columns((1 << 15, 1 << 15, 3), true, 100), [99, 768]);
        assert_eq!(columns((1 << 15, 1 << 15, 4), true, 2), [4, 1024]);
        let machine = Machine { multiprocessors: 100, ..Machine::EMULATED };
        assert_eq!(launches((1 << 15, 1 << 15, 3), true, Some("histogram-one-launch"), machine), [99]);
        assert_eq!(launches((1, 1, 3), true, Some("histogram-one-launch"), machine), [3]);
    }

    #[test]
    fn a_gpu_of_little_shared_memory_counts_channels_by_partials() {
        let machine = Machine { shared_bytes: 64 * 1024, ..Machine::EMULATED };
        assert_eq!(launches((1 << 15, 1 << 15, 4), true, None, machine), [1024, 1024]);
        assert_eq!(launches((1 << 15, 1 << 15, 2), true, None, machine), [132]);
    }
}
