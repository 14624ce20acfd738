//! P4 as in the article: the mask in the module's constant symbol.
//!
//! The body, its loads, shared memory and barriers are the same as in [`Tiled`](super::Tiled); the taps are read from
//! the symbol `apron_taps` and not from a parameter of the launch.
//!
//! A module has one symbol. The host copies the mask into the symbol before each launch, in stream order; an event
//! makes the copy wait until launches of other streams have read the symbol. So launches of this variant run one after
//! the other, whatever their streams, and each costs a copy. The parameter of [`Tiled`](super::Tiled) has neither cost.

/// The kernel.
///
/// Launch contract: as for [`Tiled`](super::Tiled), and nothing changes the symbol before the launch ends.
pub type TiledSymbol<I, O, const LARGE: bool> = super::Tiled<I, O, LARGE>;
