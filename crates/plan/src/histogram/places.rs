//! The recipe that replaces f64 samples by the numbers of their bins.

use super::OPERATION;
use crate::recipe::launch;
use crate::summation::halves;
use crate::{Buffer, Launch, Machine, Recipe, Role};
use apron_abi::{BINS_BLOCK, ElementType, HistogramPlacesParams, Kernel, Params};
use apron_core::{Edges, Shape};

/// Returns the recipe that writes the number of each sample's bin as f32, NaN for none: of all channels between the same
/// `edges`; or, as two channels, of a channel and of another one between edges of its own.
pub fn places(shape: Shape, edges: &Edges, pair: Option<([u32; 2], &Edges)>, machine: &Machine) -> Recipe {
    let bins = |edges: &Edges| edges.bins() as u32;
    let ([channel, other_channel], other) = pair.map_or(([0, 0], None), |(channels, other)| (channels, Some(other)));
    let out_channels = if pair.is_some() { 2 } else { shape.channels };
    let params = HistogramPlacesParams {
        pixels: shape.pixels(),
        per_width: edges.per_width(),
        other_per_width: other.map_or(0.0, Edges::per_width),
        channels: shape.channels,
        out_channels,
        channel,
        other_channel,
        bins: bins(edges),
        other_bins: other.map_or(0, bins),
    };
    let most = machine.multiprocessors as u64 * (2048 / BINS_BLOCK) as u64;
    let blocks = shape.pixels().div_ceil(BINS_BLOCK as u64).clamp(1, most) as u32;
    let kernel = Kernel::histogram_slices_bins_f64_f32;
    let all = edges.values().iter().chain(other.map_or(&[][..], Edges::values));
    let taps = all.flat_map(|&edge| halves(edge)).collect();
    let buffer = |role, element, channels| Buffer { role, element, elems: shape.pixels() * channels as u64 };
    Recipe {
        operation: OPERATION,
        variant: kernel.facts().variant,
        why: "finds the bins of f64 samples".into(),
        buffers: vec![
            buffer(Role::Input, ElementType::F64, shape.channels),
            buffer(Role::Output, ElementType::F32, out_channels),
        ],
        launches: vec![Launch { taps, ..launch(kernel, blocks, Params::HistogramPlacesParams(params)) }],
        images: 1,
    }
}
