//! The recipe that replaces f64 samples by the numbers of their bins.

use super::OPERATION;
use crate::recipe::launch;
use crate::summation::halves;
use crate::{Buffer, Launch, Machine, Recipe, Role};
use apron_abi::{BINS_BLOCK, ElementType, HistogramPlacesParams, Kernel, Params};
use apron_core::{Edges, Shape};

/// Returns the recipe that writes the number of each sample's bin as f32, NaN for none.
pub fn places(shape: Shape, edges: &Edges, machine: &Machine) -> Recipe {
    let (samples, bins) = (shape.samples(), edges.bins() as u32);
    let params = HistogramPlacesParams { samples, per_width: edges.per_width(), bins, reserved: 0 };
    let most = machine.multiprocessors as u64 * (2048 / BINS_BLOCK) as u64;
    let blocks = samples.div_ceil(BINS_BLOCK as u64).clamp(1, most) as u32;
    let kernel = Kernel::histogram_slices_bins_f64_f32;
    let taps = edges.values().iter().flat_map(|&edge| halves(edge)).collect();
    let buffer = |role, element| Buffer { role, element, elems: samples };
    Recipe {
        operation: OPERATION,
        variant: kernel.facts().variant,
        why: "finds the bins of f64 samples".into(),
        buffers: vec![buffer(Role::Input, ElementType::F64), buffer(Role::Output, ElementType::F32)],
        launches: vec![Launch { taps, ..launch(kernel, blocks, Params::HistogramPlacesParams(params)) }],
        images: 1,
    }
}
