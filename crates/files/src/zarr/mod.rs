//! Zarr arrays, version 3: folders with a file a chunk, or a file a shard of chunks. Metadata and codecs are those of
//! `zarrs`; files are read and written here, within limits, and without waiting for the disk after each.

mod codecs;
mod found;
mod layout;
mod planned;
mod read;
mod target;
mod write;

pub(crate) use read::Chunks;
pub(crate) use target::Target;
pub(crate) use write::{Writer, held_bytes, write};

use crate::convert::convert;
use crate::error::{Error, Result, check_pixels};
use crate::metadata::Kept;
use crate::read::{Page, ReadOptions, guarded};
use found::Found;
use layout::Layout;
use std::path::Path;

/// Reads the image of a folder.
pub(crate) fn read_page(path: &Path, options: &ReadOptions) -> Result<Page> {
    let &ReadOptions { max_pixels, page, pixel, .. } = options;
    if page != 1 {
        return Err(Error::NoPage { path: path.into(), page, pages: 1 });
    }
    let image = guarded(path, || Chunks::open(path, max_pixels, false)?.0.read_whole())?;
    let image = match pixel {
        Some(pixel) => convert(image, pixel).map_err(|error| Error::content(path, error))?,
        None => image,
    };
    Ok(Page { image, pages: 1 })
}

/// Returns the number of pixels of a folder's image, or of a plane of its volume; `None` if it has neither.
pub(crate) fn pixels(path: &Path) -> Option<u64> {
    layout(path, u64::MAX, false)
        .or_else(|_| layout(path, u64::MAX, true))
        .ok()
        .map(|(_, layout)| layout.shape.pixels())
}

/// Returns the bytes of the samples of a folder's image; `None` if it has none.
pub(crate) fn sample_bytes(path: &Path) -> Option<u64> {
    let (_, layout) = layout(path, u64::MAX, false).ok()?;
    Some(layout.shape.samples() * layout.pixel.size_bytes() as u64)
}

/// Returns what an output keeps of the image of a folder; `None` if it cannot be read.
pub(crate) fn kept(path: &Path) -> Option<Kept> {
    let (found, layout) = guarded(path, || layout(path, u64::MAX, false)).ok()?;
    Some(kept_of(found, &layout))
}

/// Returns what an output keeps of an array.
fn kept_of(found: Found, layout: &Layout) -> Kept {
    let (leading, channels) = (layout.leading, layout.channels.then_some(layout.shape.channels));
    Kept { array: found.array, group: found.group, leading, volume: layout.planes.is_some(), channels }
}

/// Finds the array of a folder, and what it is as an image or as a volume.
fn layout(path: &Path, max_pixels: u64, volume: bool) -> Result<(Found, Layout)> {
    let found = Found::of(path)?;
    let layout = Layout::of(path, &found, volume)?;
    check_pixels(path, layout.shape.width.into(), layout.shape.height.into(), max_pixels)?;
    Ok((found, layout))
}
