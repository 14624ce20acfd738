//! Element types of buffers.

/// The type of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it all
pub enum ElementType {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

impl ElementType {
    /// Returns the size of an element, in bytes.
    pub const fn size_bytes(self) -> u32 {
        match self {
            ElementType::Bool | ElementType::U8 | ElementType::I8 => 1,
            ElementType::U16 | ElementType::I16 | ElementType::F16 => 2,
            ElementType::U32 | ElementType::I32 | ElementType::F32 => 4,
            ElementType::U64 | ElementType::I64 | ElementType::F64 => 8,
        }
    }

    /// Returns the unsigned type of the same size, for samples that are copied without conversion.
    pub const fn bits(self) -> ElementType {
        match self.size_bytes() {
            1 => ElementType::U8,
            2 => ElementType::U16,
            4 => ElementType::U32,
            _ => ElementType::U64,
        }
    }

    /// Returns the type's name, as in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            ElementType::Bool => "bool",
            ElementType::U8 => "u8",
            ElementType::I8 => "i8",
            ElementType::U16 => "u16",
            ElementType::I16 => "i16",
            ElementType::U32 => "u32",
            ElementType::I32 => "i32",
            ElementType::U64 => "u64",
            ElementType::I64 => "i64",
            ElementType::F16 => "f16",
            ElementType::F32 => "f32",
            ElementType::F64 => "f64",
        }
    }
}

/// A type that a buffer holds as elements.
pub trait Element: Copy + Default + PartialEq + Send + Sync + core::fmt::Debug + 'static {
    /// The type's tag.
    const TYPE: ElementType;
    /// Reads the element at the start of `bytes`, in the machine's byte order.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the element to the start of `bytes`, in the machine's byte order.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! element {
    ($($type:ty: $tag:ident),*) => {$(
        impl Element for $type {
            const TYPE: ElementType = ElementType::$tag;
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(&bytes[..size_of::<$type>()]);
                <$type>::from_ne_bytes(own)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes[..size_of::<$type>()].copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}
element!(u8: U8, i8: I8, u16: U16, i16: I16, u32: U32, i32: I32, u64: U64, i64: I64, f32: F32, f64: F64);
