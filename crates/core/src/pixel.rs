//! Sample types, as run-time values and as Rust types.

use crate::{AnyImage, AnyImageMut, Error, Image, ImageMut, Result};
use std::fmt;
use std::str::FromStr;

/// The type of an image's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names say it all
pub enum PixelType {
    U8,
    U16,
    I16,
    F16,
    F32,
    F64,
}

impl PixelType {
    /// All types.
    pub const ALL: [PixelType; 6] =
        [PixelType::U8, PixelType::U16, PixelType::I16, PixelType::F16, PixelType::F32, PixelType::F64];

    /// Returns the element type of buffers of such samples.
    pub fn element(self) -> apron_abi::ElementType {
        match self {
            PixelType::U8 => apron_abi::ElementType::U8,
            PixelType::U16 => apron_abi::ElementType::U16,
            PixelType::I16 => apron_abi::ElementType::I16,
            PixelType::F16 => apron_abi::ElementType::F16,
            PixelType::F32 => apron_abi::ElementType::F32,
            PixelType::F64 => apron_abi::ElementType::F64,
        }
    }

    /// Returns whether samples are floats, which results are not rounded to integers for.
    pub fn is_float(self) -> bool {
        matches!(self, PixelType::F16 | PixelType::F32 | PixelType::F64)
    }

    /// Returns whether samples can have this value; floats can have any.
    pub fn holds(self, value: f32) -> bool {
        match self {
            PixelType::U8 => value as u8 as f32 == value,
            PixelType::U16 => value as u16 as f32 == value,
            PixelType::I16 => value as i16 as f32 == value,
            PixelType::F16 | PixelType::F32 | PixelType::F64 => true,
        }
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
        found.ok_or_else(|| Error::parameter("pixels", "type", format!("'{text}'"), "u8, u16, i16, f16, f32 or f64"))
    }
}

/// A sample type of images: u8, u16, i16, [`f16`](half::f16), f32 or f64.
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
pixel!(u8: U8, u16: U16, i16: I16, half::f16: F16, f32: F32, f64: F64);
