//! The interpretation of an array as an image or a volume: which dimensions are planes, rows, columns and channels.

use super::found::Found;
use crate::error::{Error, Result};
use apron_core::{PixelType, Shape};
use rayon::prelude::*;
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

/// Shape and type of an image or of the planes of a volume, and the dimensions: `leading` ones of size 1, planes if
/// there are any, rows, columns, and channels if there are any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    /// Number of planes, of a volume.
    pub(super) planes: Option<u32>,
    pub(super) pixel: PixelType,
    pub(super) leading: usize,
    /// Whether the last dimension is that of the channels.
    pub(super) channels: bool,
}

impl Layout {
    /// Reads the layout of an image, or of a volume, from an array's metadata.
    ///
    /// # Errors
    /// [`Error::Content`] for types and dimensions that no image, or volume, has.
    pub(super) fn of(path: &Path, found: &Found, volume: bool) -> Result<Layout> {
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
            None => sizes.len() > if volume { 3 } else { 2 } && sizes[last] <= 4,
        };
        if channels && sizes[last] > 4 {
            return Err(wrong(format!("its last dimension has {} channels, more than the 4 of an image", sizes[last])));
        }
        let own = 2 + usize::from(channels) + usize::from(volume);
        let Some(leading) = sizes.len().checked_sub(own) else {
            let has = if volume { "a volume has planes," } else { "an image has" };
            return Err(wrong(format!("its shape is {sizes:?}; {has} rows, columns, and maybe channels")));
        };
        if let Some(at) = sizes[..leading].iter().position(|size| *size != 1) {
            let dimension = match named(at) {
                Some(name) if is_channel(name) => format!("'{name}', the channels, is not the last and"),
                Some(name) => format!("'{name}'"),
                None => format!("{at} of shape {sizes:?}"),
            };
            let before = if volume { "planes, rows" } else { "rows" };
            let what = format!(
                "dimension {dimension} has size {}; before {before} and columns only size 1 is taken",
                sizes[at]
            );
            return Err(wrong(what));
        }
        let rows = leading + usize::from(volume);
        if let Some(name) = named(leading).filter(|name| volume && (is_channel(name) || ["x", "y"].contains(name))) {
            return Err(wrong(format!("dimension '{name}' is where the planes of a volume, 'z', are expected")));
        }
        for (at, expected) in [(rows, "y"), (rows + 1, "x")] {
            if let Some(name @ ("x" | "y" | "z" | "t")) = named(at).filter(|name| *name != expected) {
                return Err(wrong(format!(
                    "dimension '{name}' is where '{expected}' is expected: y, x, and maybe channels are last"
                )));
            }
        }
        let side = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        let count = if channels { side(sizes[last]) } else { 1 };
        let (height, width) = (side(sizes[rows]), side(sizes[rows + 1]));
        let shape = Shape::new(width, height, count).map_err(|error| wrong(error.to_string()))?;
        let planes = if volume { Some(planes(sizes[leading]).map_err(wrong)?) } else { None };
        Ok(Layout { shape, planes, pixel: *pixel, leading, channels })
    }

    /// Returns the number of the array's dimensions.
    pub(super) fn dimensions(&self) -> usize {
        self.leading + usize::from(self.planes.is_some()) + 2 + usize::from(self.channels)
    }

    /// Returns a vector over the dimensions: the first number for all that lead, and then planes, rows, columns and
    /// channels, of those that there are.
    pub(super) fn over(&self, first: u64, [planes, rows, columns, channels]: [u64; 4]) -> Vec<u64> {
        let mut all = vec![first; self.leading];
        all.extend(self.planes.map(|_| planes));
        all.extend([rows, columns]);
        all.extend(self.channels.then_some(channels));
        all
    }

    /// Returns the last dimensions of a vector over all: planes, rows, columns and channels; 1 for
    /// those that there are not.
    pub(super) fn parts(&self, all: &[u64]) -> [u64; 4] {
        let rows = self.leading + usize::from(self.planes.is_some());
        let at = |at: usize| all.get(at).copied().unwrap_or(1);
        let planes = if self.planes.is_some() { at(self.leading) } else { 1 };
        [planes, at(rows), at(rows + 1), if self.channels { at(rows + 2) } else { 1 }]
    }

    /// Returns the number of lines: the rows of an image, the planes of a volume. Chunks side by
    /// side have the same lines.
    pub(super) fn lines(&self) -> u32 {
        self.planes.unwrap_or(self.shape.height)
    }

    /// Returns the bytes of a line.
    pub(super) fn line_bytes(&self) -> usize {
        self.row_bytes() * self.rows_of_line()
    }

    /// Returns the rows of a line.
    pub(super) fn rows_of_line(&self) -> usize {
        if self.planes.is_some() { self.shape.height as usize } else { 1 }
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.shape.row_samples() * self.pixel.size_bytes()
    }

    /// Returns the lines of chunks of this shape, of those that there are.
    pub(super) fn lines_of(&self, [planes, rows, ..]: [u64; 4]) -> usize {
        let each = if self.planes.is_some() { planes } else { rows };
        each.min(self.lines().into()) as usize
    }

    /// Returns the places of the chunks of a shape that have the same lines: their planes and rows in the grid, from
    /// line `index` of chunks on, and columns and channels.
    pub(super) fn places(&self, index: u64, chunk: [u64; 4]) -> impl ParallelIterator<Item = [u64; 4]> + use<> {
        let [_, rows, columns, parts] = chunk;
        let Shape { width, height, channels } = self.shape;
        let (across, deep) = (u64::from(width).div_ceil(columns), u64::from(channels).div_ceil(parts));
        let down = if self.planes.is_some() { u64::from(height).div_ceil(rows) } else { 1 };
        let volume = self.planes.is_some();
        (0..down * across * deep).into_par_iter().map(move |number| {
            let (row, column, part) = (number / deep / across, number / deep % across, number % deep);
            if volume { [index, row, column, part] } else { [0, index, column, part] }
        })
    }
}

/// Returns a number of planes.
fn planes(size: u64) -> Result<u32, String> {
    let planes = u32::try_from(size).ok().filter(|planes| *planes > 0);
    planes.ok_or_else(|| format!("it has {size} planes; 1 to {} are taken", u32::MAX))
}

fn is_channel(name: &str) -> bool {
    ["c", "channel", "channels", "band", "bands"].contains(&name.to_lowercase().as_str())
}
