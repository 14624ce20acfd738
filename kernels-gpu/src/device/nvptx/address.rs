//! Addresses of elements.

use super::super::{Global, Shared};
use apron_abi::Element;
use core::arch::asm;

/// Returns the 32-bit address of an element in the shared state space.
#[inline(always)]
pub(super) fn shared_address<T: Element>(at: Shared<T>, index: u32) -> u32 {
    let base: u32;
    // SAFETY: reads an address, no memory.
    unsafe { asm!("mov.u32 {0}, apron_shared;", out(reg32) base, options(pure, nomem, nostack)) };
    base + at.offset + index * T::TYPE.size_bytes()
}

#[inline(always)]
pub(super) fn global_address<T: Element>(at: Global<T>, index: u64) -> u64 {
    at.address + index * T::TYPE.size_bytes() as u64
}
