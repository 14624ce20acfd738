//! Box filters of f32 and f64 in windows of any size: see [`crate::windows::OrderedRows`].

use super::Scaled;
use crate::device::Device;
use crate::windows::FinishOrdered;
use apron_abi::OrderedParams;

impl FinishOrdered<f32, f32, 1> for Scaled {
    #[inline(always)]
    fn finish<D: Device>(_: D, [sum]: [f32; 1], p: &OrderedParams) -> f32 {
        sum * p.scale as f32
    }
}

impl FinishOrdered<f64, f64, 1> for Scaled {
    #[inline(always)]
    fn finish<D: Device>(_: D, [sum]: [f64; 1], p: &OrderedParams) -> f64 {
        sum * p.scale
    }
}
