//! P4 as in the article: the mask in the module's constant symbol.
//!
//! The body, its loads, shared memory and barriers are the same as in [`Tiled`](super::Tiled); the taps are read from
//! the symbol `apron_taps` and not from a parameter of the launch.
//!
//! There is one symbol per module. The host has to copy the mask into it before the launch, in stream order, and no
//! launch that still reads the mask of another stream may be in flight: an event makes the copy wait for it. So
//! launches with this variant run one after the other, whatever their streams, and each costs a copy. The parameter
//! of [`Tiled`](super::Tiled) has neither cost.

/// The kernel.
///
/// Launch contract: as of [`Tiled`](super::Tiled), and nothing changes the symbol before it ends.
pub type TiledSymbol<I, O, const LARGE: bool> = super::Tiled<I, O, LARGE>;
