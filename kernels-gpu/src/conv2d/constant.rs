//! Dense, the mask in constant memory: [`Naive`](super::Naive), with only its taps moved.
//!
//! All threads of a warp need the same tap at the same time, which is what the constant cache is
//! made for: one read serves 32 threads.
//!
//! Per output sample: `w * h` global loads of the image, as many constant reads a warp; no shared
//! memory, no barrier.
//!
//! The body is the naive one: that the kernel table gives it its taps as a launch parameter is
//! all the difference.

/// The kernel.
///
/// Launch contract: as of [`Naive`](super::Naive).
pub type Constant<I, O> = super::Naive<I, O>;
