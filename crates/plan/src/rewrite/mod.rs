//! Restatements of problems for kernels of other types or other sums, with the error bounds that justify them.

pub(crate) mod low_rank;
pub(crate) mod rounding;
pub(crate) mod scale;
pub(crate) mod widen;
