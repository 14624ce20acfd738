//! Matrix products and dot products of bytes, and 64-bit products.

use core::arch::asm;

/// A lane's fragment of the sums, as the intrinsic of a matrix product returns it.
#[repr(C)]
struct Sums(i32, i32, i32, i32);

// LLVM's own calling convention, since the intrinsics return a structure.
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.mma.m16n8k32.row.col.u8.s8"]
    fn multiply_u8_s8(a0: u32, a1: u32, a2: u32, a3: u32, b0: u32, b1: u32, c0: i32, c1: i32, c2: i32, c3: i32)
        -> Sums;
    #[link_name = "llvm.nvvm.mma.m16n8k32.row.col.s8.u8"]
    fn multiply_s8_u8(a0: u32, a1: u32, a2: u32, a3: u32, b0: u32, b1: u32, c0: i32, c1: i32, c2: i32, c3: i32)
        -> Sums;
}

/// As [`Device::multiply_bytes`](super::super::Device::multiply_bytes).
#[inline(always)]
pub(super) fn multiply_bytes(a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
    // SAFETY: arithmetic.
    let sums = unsafe { multiply_u8_s8(a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], c[2], c[3]) };
    [sums.0, sums.1, sums.2, sums.3]
}

/// As [`Device::multiply_signed_bytes`](super::super::Device::multiply_signed_bytes).
#[inline(always)]
pub(super) fn multiply_signed_bytes(a: [u32; 4], b: [u32; 2], c: [i32; 4]) -> [i32; 4] {
    // SAFETY: arithmetic.
    let sums = unsafe { multiply_s8_u8(a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], c[2], c[3]) };
    [sums.0, sums.1, sums.2, sums.3]
}

/// As [`Device::multiply_wide`](super::super::Device::multiply_wide).
#[inline(always)]
pub(super) fn multiply_wide(a: i32, b: i32) -> i64 {
    let product: i64;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "mul.wide.s32 {0}, {1}, {2};",
            out(reg64) product, in(reg32) a, in(reg32) b,
            options(pure, nomem, nostack)
        );
    }
    product
}

/// As [`Device::multiply_high`](super::super::Device::multiply_high). ptxas makes two instructions of `mul.hi`: the
/// product in 64 bits, and a move of its upper half.
#[inline(always)]
pub(super) fn multiply_high(a: u32, b: u32) -> u32 {
    let high: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "{{ .reg .b64 product; .reg .b32 low; mul.wide.u32 product, {1}, {2}; mov.b64 {{low, {0}}}, product; }}",
            out(reg32) high, in(reg32) a, in(reg32) b,
            options(pure, nomem, nostack)
        );
    }
    high
}

/// As [`Device::dot_bytes`](super::super::Device::dot_bytes).
#[inline(always)]
pub(super) fn dot_bytes(bytes: u32, signed: u32, sum: u32) -> u32 {
    let result: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "dp4a.u32.s32 {0}, {1}, {2}, {3};",
            out(reg32) result, in(reg32) bytes, in(reg32) signed, in(reg32) sum,
            options(pure, nomem, nostack)
        );
    }
    result
}
