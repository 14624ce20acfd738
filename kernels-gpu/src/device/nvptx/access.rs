//! Loads and stores of elements of any type. The macros are used where `asm!`, `transmute_copy` and [`ElementType`] are
//! in scope.

use core::arch::asm;

/// Loads an element by its type's tag. Operands of `asm!` cannot be of a generic type; the tag is a constant, so only
/// one arm of the match remains.
macro_rules! load {
    ($T:ty, $space:literal, $address:expr, $class:ident, $($option:ident),*) => {{
        let address = $address;
        match <$T>::TYPE {
            ElementType::Bool | ElementType::U8 | ElementType::I8 => {
                let value: u16;
                asm!(concat!($space, ".u8 {0}, [{1}];"), out(reg16) value, in($class) address, options($($option),*));
                transmute_copy(&(value as u8))
            }
            ElementType::U16 | ElementType::I16 | ElementType::F16 => {
                let value: u16;
                asm!(concat!($space, ".u16 {0}, [{1}];"), out(reg16) value, in($class) address, options($($option),*));
                transmute_copy(&value)
            }
            ElementType::U32 | ElementType::I32 => {
                let value: u32;
                asm!(concat!($space, ".u32 {0}, [{1}];"), out(reg32) value, in($class) address, options($($option),*));
                transmute_copy(&value)
            }
            ElementType::F32 => {
                let value: f32;
                asm!(concat!($space, ".f32 {0}, [{1}];"), out(reg32) value, in($class) address, options($($option),*));
                transmute_copy(&value)
            }
            ElementType::U64 | ElementType::I64 => {
                let value: u64;
                asm!(concat!($space, ".u64 {0}, [{1}];"), out(reg64) value, in($class) address, options($($option),*));
                transmute_copy(&value)
            }
            ElementType::F64 => {
                let value: f64;
                asm!(concat!($space, ".f64 {0}, [{1}];"), out(reg64) value, in($class) address, options($($option),*));
                transmute_copy(&value)
            }
        }
    }};
}

macro_rules! store {
    ($T:ty, $space:literal, $address:expr, $class:ident, $value:expr) => {{
        let (address, value): (_, $T) = ($address, $value);
        match <$T>::TYPE {
            ElementType::Bool | ElementType::U8 | ElementType::I8 => {
                let value = transmute_copy::<$T, u8>(&value) as u16;
                asm!(concat!($space, ".u8 [{1}], {0};"), in(reg16) value, in($class) address, options(nostack));
            }
            ElementType::U16 | ElementType::I16 | ElementType::F16 => {
                let value = transmute_copy::<$T, u16>(&value);
                asm!(concat!($space, ".u16 [{1}], {0};"), in(reg16) value, in($class) address, options(nostack));
            }
            ElementType::U32 | ElementType::I32 => {
                let value = transmute_copy::<$T, u32>(&value);
                asm!(concat!($space, ".u32 [{1}], {0};"), in(reg32) value, in($class) address, options(nostack));
            }
            ElementType::F32 => {
                let value = transmute_copy::<$T, f32>(&value);
                asm!(concat!($space, ".f32 [{1}], {0};"), in(reg32) value, in($class) address, options(nostack));
            }
            ElementType::U64 | ElementType::I64 => {
                let value = transmute_copy::<$T, u64>(&value);
                asm!(concat!($space, ".u64 [{1}], {0};"), in(reg64) value, in($class) address, options(nostack));
            }
            ElementType::F64 => {
                let value = transmute_copy::<$T, f64>(&value);
                asm!(concat!($space, ".f64 [{1}], {0};"), in(reg64) value, in($class) address, options(nostack));
            }
        }
    }};
}

pub(super) use {load, store};

/// As [`Device::load_words`](super::super::Device::load_words).
#[inline(always)]
pub(super) unsafe fn load_words(address: u64) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    unsafe {
        asm!(
            "ld.global.nc.v4.u32 {{{0}, {1}, {2}, {3}}}, [{4}];",
            out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
            in(reg64) address,
            options(pure, readonly, nostack)
        );
    }
    [a, b, c, d]
}

/// As [`Device::store4`](super::super::Device::store4). Streaming stores: outputs are written once, and should not
/// evict data that will be read.
#[inline(always)]
pub(super) unsafe fn store4(address: u64, [a, b, c, d]: [u32; 4]) {
    unsafe {
        asm!(
            "st.global.cs.v4.b32 [{4}], {{{0}, {1}, {2}, {3}}};",
            in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d,
            in(reg64) address,
            options(nostack)
        );
    }
}

/// As [`Device::store2`](super::super::Device::store2).
#[inline(always)]
pub(super) unsafe fn store2(address: u64, [a, b]: [u32; 2]) {
    unsafe {
        asm!(
            "st.global.cs.v2.b32 [{2}], {{{0}, {1}}};",
            in(reg32) a, in(reg32) b,
            in(reg64) address,
            options(nostack)
        );
    }
}
