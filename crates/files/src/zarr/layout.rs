//! What an array is as an image: which dimensions are rows, columns and channels.

use super::found::Found;
use crate::error::{Error, Result};
use apron_core::{PixelType, Shape};
use std::path::Path;
use zarrs::array::DataType;

/// Sample types, by Zarr's names.
const TYPES: [(&str, PixelType); 12] = [
    ("bool", PixelType::Bool),
    ("uint8", PixelType::U8),
    ("int8", PixelType::I8),
    ("uint16", PixelType::U16),
    ("int16", PixelType::I16),
    ("uint32", PixelType::U32),
    ("int32", PixelType::I32),
    ("uint64", PixelType::U64),
    ("int64", PixelType::I64),
    ("float16", PixelType::F16),
    ("float32", PixelType::F32),
    ("float64", PixelType::F64),
];

/// Returns Zarr's name of a type.
pub(super) fn name_of(pixel: PixelType) -> &'static str {
    TYPES.iter().find(|(_, of)| *of == pixel).map_or("", |(name, _)| name)
}

/// Returns `zarrs`'s type.
pub(super) fn data_type(pixel: PixelType) -> DataType {
    match pixel {
        PixelType::Bool => DataType::Bool,
        PixelType::U8 => DataType::UInt8,
        PixelType::I8 => DataType::Int8,
        PixelType::U16 => DataType::UInt16,
        PixelType::I16 => DataType::Int16,
        PixelType::U32 => DataType::UInt32,
        PixelType::I32 => DataType::Int32,
        PixelType::U64 => DataType::UInt64,
        PixelType::I64 => DataType::Int64,
        PixelType::F16 => DataType::Float16,
        PixelType::F32 => DataType::Float32,
        PixelType::F64 => DataType::Float64,
    }
}

/// Shape and type of an image, and its dimensions: `leading` ones of size 1, rows, columns, and channels if there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) pixel: PixelType,
    pub(super) leading: usize,
    /// Whether the last dimension is that of the channels.
    pub(super) channels: bool,
}

impl Layout {
    /// Reads the layout from an array's metadata.
    ///
    /// # Errors
    /// [`Error::Content`] for types and dimensions that no image has.
    pub(super) fn of(path: &Path, found: &Found) -> Result<Layout> {
        let wrong = |what: String| Error::content(path, what);
        let name = found.metadata.data_type.name();
        let Some((_, pixel)) = TYPES.iter().find(|(known, _)| *known == name) else {
            let known = TYPES.map(|(known, _)| known).join(", ");
            return Err(wrong(format!("data type '{name}' is not taken; taken are {known}")));
        };
        let sizes = &found.metadata.shape[..];
        let named = |at: usize| found.names.get(at).and_then(|name| name.as_deref());
        let last = sizes.len().saturating_sub(1);
        let channels = match named(last) {
            Some(name) => is_channel(name),
            None => sizes.len() > 2 && sizes[last] <= 4,
        };
        if channels && sizes[last] > 4 {
            return Err(wrong(format!("its last dimension has {} channels, more than the 4 of an image", sizes[last])));
        }
        let Some(leading) = sizes.len().checked_sub(if channels { 3 } else { 2 }) else {
            return Err(wrong(format!("its shape is {sizes:?}; an image has rows, columns, and maybe channels")));
        };
        if let Some(at) = sizes[..leading].iter().position(|size| *size != 1) {
            let dimension = match named(at) {
                Some(name) if is_channel(name) => format!("'{name}', the channels, is not the last and"),
                Some(name) => format!("'{name}'"),
                None => format!("{at} of shape {sizes:?}"),
            };
            let what =
                format!("dimension {dimension} has size {}; before rows and columns only size 1 is taken", sizes[at]);
            return Err(wrong(what));
        }
        for (at, expected) in [(leading, "y"), (leading + 1, "x")] {
            if let Some(name @ ("x" | "y" | "z" | "t")) = named(at).filter(|name| *name != expected) {
                return Err(wrong(format!(
                    "dimension '{name}' is where '{expected}' is expected: y, x, and maybe channels are last"
                )));
            }
        }
        let side = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        let count = if channels { side(sizes[last]) } else { 1 };
        let (height, width) = (side(sizes[leading]), side(sizes[leading + 1]));
        let shape = Shape::new(width, height, count).map_err(|error| wrong(error.to_string()))?;
        Ok(Layout { shape, pixel: *pixel, leading, channels })
    }

    /// Returns the number of the array's dimensions.
    pub(super) fn dimensions(&self) -> usize {
        self.leading + 2 + usize::from(self.channels)
    }

    /// Returns a vector over the dimensions: ones, and then these.
    pub(super) fn over<T: From<u8> + Clone>(&self, rows: T, columns: T, channels: T) -> Vec<T> {
        let mut all = vec![T::from(1u8); self.leading];
        all.extend([rows, columns]);
        all.extend(self.channels.then_some(channels));
        all
    }

    /// Returns the last dimensions of a vector over all: rows, columns and channels.
    pub(super) fn parts(&self, all: &[u64]) -> [u64; 3] {
        let at = |at: usize| all.get(self.leading + at).copied().unwrap_or(1);
        [at(0), at(1), if self.channels { at(2) } else { 1 }]
    }
}

fn is_channel(name: &str) -> bool {
    ["c", "channel", "channels", "band", "bands"].contains(&name.to_lowercase().as_str())
}
