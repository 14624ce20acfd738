//! Sums over the lanes of a warp.

use core::arch::asm;

/// As [`Device::scan`](super::super::Device::scan).
#[inline(always)]
pub(super) fn scan(value: u32) -> u32 {
    let mut sum = value;
    // The shuffle's predicate tells whether there is a lane so far below.
    macro_rules! add_from_below {
        ($lanes:literal) => {
            // SAFETY: arithmetic of the warp, all of whose threads are here.
            unsafe {
                asm!(
                    concat!(
                        "{{ .reg .pred below; .reg .b32 lower; shfl.sync.up.b32 lower|below, {0}, ",
                        $lanes,
                        ", 0, 0xffffffff; @below add.u32 {0}, {0}, lower; }}"
                    ),
                    inout(reg32) sum,
                    options(nostack)
                )
            }
        };
    }
    add_from_below!("1");
    add_from_below!("2");
    add_from_below!("4");
    add_from_below!("8");
    add_from_below!("16");
    sum
}
