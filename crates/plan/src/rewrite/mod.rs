//! What restates a problem for kernels of other types or other sums, and the bounds by which that is right.

pub(crate) mod low_rank;
pub(crate) mod rounding;
pub(crate) mod widen;
