//! Sample types, as run-time values and as Rust types.

use crate::{AnyImage, AnyImageMut, Error, Image, ImageMut, Result, each_pixel};
use apron_abi::Cast;
use std::fmt;
use std::str::FromStr;

/// The type of an image's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it all
pub enum PixelType {
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

impl PixelType {
    /// All types.
    pub const ALL: [PixelType; 12] = [
        PixelType::Bool,
        PixelType::U8,
        PixelType::I8,
        PixelType::U16,
        PixelType::I16,
        PixelType::U32,
        PixelType::I32,
        PixelType::U64,
        PixelType::I64,
        PixelType::F16,
        PixelType::F32,
        PixelType::F64,
    ];

    /// The types that devices compute in; images of other types are [converted](PixelType::computed).
    pub const COMPUTED: [PixelType; 6] =
        [PixelType::U8, PixelType::U16, PixelType::I16, PixelType::F16, PixelType::F32, PixelType::F64];

    /// Returns the type in which images of this type are computed: their own, or a larger one that holds their samples;
    /// f64, which rounds integers beyond 2^53, for 64 bits.
    pub fn computed(self) -> PixelType {
        match self {
            PixelType::Bool => PixelType::U8,
            PixelType::I8 => PixelType::I16,
            PixelType::U32 | PixelType::I32 | PixelType::U64 | PixelType::I64 => PixelType::F64,
            own => own,
        }
    }

    /// Returns whether devices compute in this type.
    pub const fn is_computed(self) -> bool {
        use PixelType::{F16, F32, F64, I16, U8, U16};
        matches!(self, U8 | U16 | I16 | F16 | F32 | F64)
    }

    /// Returns the element type of buffers of such samples.
    pub fn element(self) -> apron_abi::ElementType {
        match self {
            PixelType::Bool => apron_abi::ElementType::Bool,
            PixelType::U8 => apron_abi::ElementType::U8,
            PixelType::I8 => apron_abi::ElementType::I8,
            PixelType::U16 => apron_abi::ElementType::U16,
            PixelType::I16 => apron_abi::ElementType::I16,
            PixelType::U32 => apron_abi::ElementType::U32,
            PixelType::I32 => apron_abi::ElementType::I32,
            PixelType::U64 => apron_abi::ElementType::U64,
            PixelType::I64 => apron_abi::ElementType::I64,
            PixelType::F16 => apron_abi::ElementType::F16,
            PixelType::F32 => apron_abi::ElementType::F32,
            PixelType::F64 => apron_abi::ElementType::F64,
        }
    }

    /// Returns whether samples are floats: results are then not rounded to integers.
    pub const fn is_float(self) -> bool {
        matches!(self, PixelType::F16 | PixelType::F32 | PixelType::F64)
    }

    /// Returns whether samples can have this value; floats can have any.
    pub fn holds(self, value: f32) -> bool {
        match self {
            PixelType::Bool => value == 0.0 || value == 1.0,
            PixelType::U8 => value as u8 as f32 == value,
            PixelType::I8 => value as i8 as f32 == value,
            PixelType::U16 => value as u16 as f32 == value,
            PixelType::I16 => value as i16 as f32 == value,
            // The casts saturate at numbers that f32 rounds up.
            PixelType::U32 => value as u32 as f32 == value && value < 4294967296.0,
            PixelType::I32 => value as i32 as f32 == value && value < 2147483648.0,
            PixelType::U64 => value as u64 as f32 == value && value < 18446744073709551616.0,
            PixelType::I64 => value as i64 as f32 == value && value < 9223372036854775808.0,
            PixelType::F16 | PixelType::F32 | PixelType::F64 => true,
        }
    }

    /// Returns the least and the greatest value of an integer type; `None` for floats.
    pub fn limits(self) -> Option<(i128, i128)> {
        let bits = 8 * self.size_bytes();
        match self {
            PixelType::Bool => Some((0, 1)),
            PixelType::U8 | PixelType::U16 | PixelType::U32 | PixelType::U64 => Some((0, (1 << bits) - 1)),
            PixelType::I8 | PixelType::I16 | PixelType::I32 | PixelType::I64 => {
                Some((-1 << (bits - 1), (1 << (bits - 1)) - 1))
            }
            PixelType::F16 | PixelType::F32 | PixelType::F64 => None,
        }
    }

    /// Returns the value of a number after its conversion to this type.
    pub fn sample(self, value: f64) -> f64 {
        each_pixel!(self, T => apron_abi::Sample::to_f64(<T as apron_abi::Pixel>::cast(value, Cast::default())))
    }

    /// Returns the bits of a number converted to this type, in the low bits of a word.
    pub fn bits(self, value: f64) -> u64 {
        let mut bytes = [0; 8];
        let sample = |bytes: &mut [u8; 8]| {
            each_pixel!(self, T => {
                let sample = <T as apron_abi::Pixel>::cast(value, Cast::default());
                bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&sample));
            });
        };
        sample(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// Returns the size of a sample, in bytes.
    pub fn size_bytes(self) -> usize {
        self.element().size_bytes() as usize
    }
}

impl fmt::Display for PixelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.element().name())
    }
}

impl FromStr for PixelType {
    type Err = Error;

    fn from_str(text: &str) -> Result<PixelType> {
        let found = PixelType::ALL.into_iter().find(|kind| kind.element().name() == text);
        let names = || PixelType::ALL.map(|pixel| pixel.element().name()).join(", ");
        found.ok_or_else(|| Error::parameter("pixels", "type", format!("'{text}'"), format!("one of {}", names())))
    }
}

/// Runs `$body` with `$T` standing for the Rust type of the samples of type `$pixel`.
#[macro_export]
macro_rules! each_pixel {
    ($pixel:expr, $T:ident => $body:expr) => {{
        macro_rules! of {
            ($type:ty) => {{
                type $T = $type;
                $body
            }};
        }
        match $pixel {
            $crate::PixelType::Bool => of!($crate::Bool),
            $crate::PixelType::U8 => of!(u8),
            $crate::PixelType::I8 => of!(i8),
            $crate::PixelType::U16 => of!(u16),
            $crate::PixelType::I16 => of!(i16),
            $crate::PixelType::U32 => of!(u32),
            $crate::PixelType::I32 => of!(i32),
            $crate::PixelType::U64 => of!(u64),
            $crate::PixelType::I64 => of!(i64),
            $crate::PixelType::F16 => of!($crate::f16),
            $crate::PixelType::F32 => of!(f32),
            $crate::PixelType::F64 => of!(f64),
        }
    }};
}

/// A sample type of images: [`Bool`](apron_abi::Bool), an integer of 8 to 64 bits, [`f16`](half::f16), f32 or f64.
pub trait Pixel: apron_abi::Pixel + PartialOrd + bytemuck::Pod {
    /// The type as a run-time value.
    const PIXEL: PixelType;
    /// Returns the typed image, if `image` has this type.
    fn from_any(image: AnyImage<'_>) -> Option<Image<'_, Self>>;
    /// Wraps the image in the enum of all types.
    fn into_any(image: Image<'_, Self>) -> AnyImage<'_>;
    /// Returns the typed mutable image, if `image` has this type.
    fn from_any_mut(image: AnyImageMut<'_>) -> Option<ImageMut<'_, Self>>;
    /// Wraps the mutable image in the enum of all types.
    fn into_any_mut(image: ImageMut<'_, Self>) -> AnyImageMut<'_>;
}

macro_rules! pixel {
    ($($type:ty: $tag:ident),*) => {$(
        impl Pixel for $type {
            const PIXEL: PixelType = PixelType::$tag;
            fn from_any(image: AnyImage<'_>) -> Option<Image<'_, Self>> {
                match image {
                    AnyImage::$tag(image) => Some(image),
                    _ => None,
                }
            }
            fn into_any(image: Image<'_, Self>) -> AnyImage<'_> {
                AnyImage::$tag(image)
            }
            fn from_any_mut(image: AnyImageMut<'_>) -> Option<ImageMut<'_, Self>> {
                match image {
                    AnyImageMut::$tag(image) => Some(image),
                    _ => None,
                }
            }
            fn into_any_mut(image: ImageMut<'_, Self>) -> AnyImageMut<'_> {
                AnyImageMut::$tag(image)
            }
        }
    )*};
}
pixel!(
    apron_abi::Bool: Bool, u8: U8, i8: I8, u16: U16, i16: I16, u32: U32, i32: I32, u64: U64, i64: I64, half::f16: F16,
    f32: F32, f64: F64
);
