//! Arrays of types that images do not have (bool, i8, i32, i64, u32 and u64) as images; and conversions between
//! the sample types of images.

use crate::array::from_fortran;
use crate::error::{Error, Result};
use crate::read::Source;
use apron_core::{Accumulator, AnyImage, Image, Pixel, PixelType, Sample, Shape, check_memory, each_type, f16};
use std::path::Path;

/// A number of an array.
#[derive(Clone, Copy)]
struct Item {
    value: f64,
    /// Whether f64 holds it, and whether f32 does, exactly.
    exact: [bool; 2],
}

/// A parser of a number at the start of eight bytes.
type Parse = fn([u8; 8]) -> Item;

macro_rules! integer {
    ($type:ty) => {
        |bytes| {
            let mut own = [0; size_of::<$type>()];
            own.copy_from_slice(&bytes[..size_of::<$type>()]);
            let integer = <$type>::from_ne_bytes(own);
            let exact = [integer as f64 as i128 == integer as i128, integer as f32 as i128 == integer as i128];
            Item { value: integer as f64, exact }
        }
    };
}

/// Parsers by NumPy's name of the type.
const KINDS: [(&str, Parse); 6] = [
    ("b1", |bytes| Item { value: f64::from(bytes[0] != 0), exact: [true; 2] }),
    ("i1", integer!(i8)),
    ("i4", integer!(i32)),
    ("u4", integer!(u32)),
    ("i8", integer!(i64)),
    ("u8", integer!(u64)),
];

/// An array whose header has been read.
pub(super) struct Array<'a> {
    pub(super) path: &'a Path,
    /// Type without byte order, for which [`is_taken`] holds.
    pub(super) kind: &'a str,
    /// Whether the byte order differs from the machine's.
    pub(super) foreign: bool,
    /// Whether items are in Fortran order.
    pub(super) fortran: bool,
    pub(super) shape: Shape,
}

/// Whether this module reads arrays of this type.
pub(super) fn is_taken(kind: &str) -> bool {
    KINDS.iter().any(|(known, _)| *known == kind)
}

impl Array<'_> {
    /// Reads the items that follow the header: [converted](convert) to `pixel` or, without it, to a type that holds all
    /// of them exactly. For integers that is the first such type of u8, u16, i16, f32 and f64; for i8 it is i16, for bool
    /// u8.
    ///
    /// # Errors
    /// [`Error::Inexact`] for a number that f64 does not hold exactly, unless a type is requested.
    pub(super) fn read(&self, file: &mut dyn Source, pixel: Option<PixelType>) -> Result<AnyImage<'static>> {
        let Some((_, parse)) = KINDS.iter().find(|(known, _)| *known == self.kind) else {
            return Err(Error::content(self.path, format!("dtype '{}' is not taken", self.kind)));
        };
        let mistaken = |error: apron_core::Error| Error::content(self.path, error);
        let samples = self.shape.samples();
        // The f64 values, and the image that is made of them.
        check_memory::<f64>(samples.saturating_mul(2), self.shape).map_err(mistaken)?;
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut values, mut single) = (Vec::with_capacity(samples as usize), true);
        let size = if self.kind == "b1" { 1 } else { usize::from(self.kind.as_bytes()[1] - b'0') };
        let mut bytes = vec![0; size * (1 << 16).min(samples as usize)];
        while values.len() < samples as usize {
            let rest = size * (samples as usize - values.len());
            let bytes = &mut bytes[..rest.min(size << 16)];
            file.read_exact(bytes).map_err(|error| Error::read(self.path, error))?;
            for item in bytes.chunks_exact_mut(size) {
                if self.foreign {
                    item.reverse();
                }
                let mut eight = [0; 8];
                eight[..size].copy_from_slice(item);
                let item = parse(eight);
                single &= item.exact[1];
                if pixel.is_none() && !item.exact[0] {
                    let (dtype, value) = (self.kind.into(), item.value);
                    return Err(Error::Inexact { path: self.path.into(), dtype, value });
                }
                (least, largest) = (least.min(item.value), largest.max(item.value));
                values.push(item.value);
            }
        }
        let within = |low: f64, high: f64| low <= least && largest <= high;
        let pixel = pixel.unwrap_or(match self.kind {
            "b1" => PixelType::U8,
            "i1" => PixelType::I16,
            _ if within(0.0, u8::MAX.into()) => PixelType::U8,
            _ if within(0.0, u16::MAX.into()) => PixelType::U16,
            _ if within(i16::MIN.into(), i16::MAX.into()) => PixelType::I16,
            _ if single => PixelType::F32,
            _ => PixelType::F64,
        });
        if self.fortran {
            let mut rows = vec![0.0; values.len()];
            from_fortran(&values, &mut rows, self.shape, 1);
            values = rows;
        }
        of_type(self.shape, values.into_iter(), pixel).map_err(mistaken)
    }
}

/// Converts the samples of an image to another type: integers are rounded half to even and saturate, and NaN becomes 0.
///
/// ```
/// use apron_core::{AnyImage, Image, PixelType};
///
/// let floats = AnyImage::F32(Image::new(4, 1, 1, vec![-3.0f32, 0.5, 1.5, 1e9])?);
/// let bytes = AnyImage::U8(Image::new(4, 1, 1, vec![0u8, 0, 2, 255])?);
/// assert_eq!(apron_files::convert(floats, PixelType::U8)?, bytes);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`apron_core::Error::Shape`] if the system does not provide the memory.
pub fn convert(image: AnyImage<'static>, pixel: PixelType) -> apron_core::Result<AnyImage<'static>> {
    if image.pixel_type() == pixel {
        return Ok(image);
    }
    let shape = image.shape();
    each_type!(&image, image => of_type(shape, image.rows().flatten().map(|&sample| sample.to_f64()), pixel))
}

/// Makes an image of these samples, in this type.
fn of_type(
    shape: Shape,
    samples: impl Iterator<Item = f64>,
    pixel: PixelType,
) -> apron_core::Result<AnyImage<'static>> {
    fn typed<T: Pixel>(shape: Shape, samples: impl Iterator<Item = f64>) -> apron_core::Result<AnyImage<'static>> {
        check_memory::<T>(shape.samples(), shape)?;
        let samples: Vec<T> = samples.map(|sample| T::from_sum(Accumulator::from_f64(sample))).collect();
        Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, samples)?))
    }
    match pixel {
        PixelType::U8 => typed::<u8>(shape, samples),
        PixelType::U16 => typed::<u16>(shape, samples),
        PixelType::I16 => typed::<i16>(shape, samples),
        PixelType::F16 => typed::<f16>(shape, samples),
        PixelType::F32 => typed::<f32>(shape, samples),
        PixelType::F64 => typed::<f64>(shape, samples),
    }
}
