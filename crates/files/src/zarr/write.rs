//! Writes an image or a volume as an array: chunks are encoded by several threads, as soon as all rows, or
//! planes, of some are there.

use super::codecs::{ChunkShape, Codecs};
use super::found::METADATA;
use super::layout::Layout;
use super::planned::Planned;
use super::read::{grid, keys, representation};
use super::target::Target;
use crate::atomic::Trouble;
use crate::draft::writing;
use crate::error::Result;
use crate::metadata::{Kept, Metadata};
use apron_core::{PixelType, Shape};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use zarrs::array::chunk_key_encoding::ChunkKeyEncoding;
use zarrs::array::codec::{ArrayToBytesCodecTraits, CodecChain, CodecOptions};
use zarrs::array::{ArrayBytes, ArrayMetadataV3, ChunkRepresentation};
use zarrs::metadata::v3::MetadataV3;

/// Writes an image, whose rows `fill` writes, from top to bottom.
///
/// # Errors
/// [`Error::Write`](crate::Error::Write).
pub(crate) fn write(
    target: &Target<'_>,
    metadata: &Metadata,
    (shape, pixel): (Shape, PixelType),
    fill: impl FnOnce(&Writer) -> Result<(), Trouble>,
) -> Result<()> {
    target.write(|folder| {
        let writer = Writer::new(folder, metadata.zarr.as_deref(), (shape, None), pixel)?;
        fill(&writer)?;
        writer.end()
    })
}

/// Returns the memory that writing an image, or a volume of this many planes, takes beside what is written at a time,
/// in bytes: a row of chunks, or its planes, and its encoded chunks.
pub(crate) fn held_bytes(metadata: &Metadata, shape: (Shape, Option<u32>), pixel: PixelType) -> u64 {
    let Planned { array, layout, .. } = Planned::of(metadata.zarr.as_deref(), shape, pixel);
    let rows = array.get("chunk_grid").and_then(|grid| serde_json::from_value(grid.clone()).ok());
    let rows = rows.and_then(|of: MetadataV3| grid(&of, layout.dimensions()).ok());
    let lines =
        |sizes: ChunkShape| layout.lines_of(layout.parts(&sizes.iter().map(|size| size.get()).collect::<Vec<_>>()));
    2 * (rows.map_or(1, lines) * layout.line_bytes()) as u64
}

/// An array that is being written, by lines: the rows of an image, or the planes of a volume.
pub(crate) struct Writer {
    /// The array's folder.
    folder: PathBuf,
    layout: Layout,
    /// Planes, rows, columns and channels of a file's chunk.
    chunk: [u64; 4],
    keys: ChunkKeyEncoding,
    codecs: CodecChain,
    of: ChunkRepresentation,
    fill: Vec<u8>,
    lines: Mutex<Lines>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("layout", &self.layout).field("chunk", &self.chunk).finish_non_exhaustive()
    }
}

/// Lines that wait for the rest of their chunks.
struct Lines {
    /// The line that this run began with.
    start: u32,
    /// The line that comes next.
    next: u32,
    held: Vec<u8>,
}

impl Writer {
    /// Writes the metadata of an image, or of a volume of this many planes, each of this shape.
    pub(crate) fn new(
        folder: &Path,
        kept: Option<&Kept>,
        shape: (Shape, Option<u32>),
        pixel: PixelType,
    ) -> Result<Writer, Trouble> {
        let Planned { array, layout, group } = Planned::of(kept, shape, pixel);
        let mut at = folder.to_path_buf();
        if let Some((attributes, inner)) = group {
            let mut attributes = attributes;
            for part in Path::new(inner).components() {
                let group =
                    json!({ "zarr_format": 3, "node_type": "group", "attributes": std::mem::take(&mut attributes) });
                put(&at.join(METADATA), &serde_json::to_vec_pretty(&group)?)?;
                at.push(part);
            }
        }
        put(&at.join(METADATA), &serde_json::to_vec_pretty(&array)?)?;
        let metadata: ArrayMetadataV3 = serde_json::from_value(Value::Object(array))?;
        let file = grid(&metadata.chunk_grid, layout.dimensions())?;
        let codecs = Codecs::new(&metadata.codecs, &file)?.whole;
        let (of, fill) = representation(&layout, &file, &metadata)?;
        let sizes: Vec<u64> = file.iter().map(|size| size.get()).collect();
        let (chunk, keys) = (layout.parts(&sizes), keys(&metadata.chunk_key_encoding)?);
        let lines = Mutex::new(Lines { start: 0, next: 0, held: Vec::new() });
        Ok(Writer { folder: at, layout, chunk, keys, codecs, of, fill, lines })
    }

    /// Goes on where an earlier run ended, of whose lines this many were [complete](Self::complete). Returns the first
    /// line that is expected.
    pub(crate) fn go_on_at(&self, complete: u32) -> u32 {
        let (each, all) = (self.chunk_lines() as u32, self.layout.lines());
        let next = if complete < all { complete / each * each } else { all };
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        (lines.start, lines.next) = (next, next);
        next
    }

    /// Returns the number of lines from the first on whose chunks are written.
    pub(crate) fn complete(&self) -> u32 {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.next - (lines.held.len() / self.layout.line_bytes()) as u32
    }

    /// Writes consecutive lines: the first ones, or those after the last ones. Lines of an earlier run are left out.
    pub(crate) fn write_lines(&self, first: u32, bytes: &[u8]) -> io::Result<()> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Lines { start, next, held } = &mut *lines;
        let there = if next == start { next.saturating_sub(first) } else { 0 };
        let bytes = &bytes[(there as usize * self.layout.line_bytes()).min(bytes.len())..];
        if bytes.is_empty() {
            return Ok(());
        }
        let first = first + there;
        if first != *next {
            let name = self.line();
            let what = format!("{name} {first} comes where {name} {next} is expected");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let line = self.layout.line_bytes();
        let each = self.chunk_lines() * line;
        let mut rest = bytes;
        if !held.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(each - held.len()));
            held.extend_from_slice(part);
            *next += (part.len() / line) as u32;
            rest = after;
        }
        let last = |next: u32| next == self.layout.lines();
        if held.len() == each || last(*next) && !held.is_empty() {
            self.encode(*next - (held.len() / line) as u32, held)?;
            held.clear();
        }
        let top = *next;
        *next += (rest.len() / line) as u32;
        let whole = if last(*next) { rest.len() } else { rest.len() / each * each };
        self.encode(top, &rest[..whole])?;
        held.extend_from_slice(&rest[whole..]);
        Ok(())
    }

    /// Checks that all lines were written.
    pub(crate) fn end(self) -> Result<(), Trouble> {
        let name = self.line();
        let lines = self.lines.into_inner().unwrap_or_else(PoisonError::into_inner);
        match lines.next == self.layout.lines() {
            true => Ok(()),
            false => Err(format!("{name}s from {} on are missing", lines.next).into()),
        }
    }

    /// Returns what a line is, for messages.
    fn line(&self) -> &'static str {
        if self.layout.planes.is_some() { "plane" } else { "row" }
    }

    /// Returns the lines of a chunk, of those that there are.
    fn chunk_lines(&self) -> usize {
        self.layout.lines_of(self.chunk)
    }

    /// Writes whole lines of chunks from line `top` on; the last may be fewer.
    fn encode(&self, top: u32, bytes: &[u8]) -> io::Result<()> {
        let each = self.chunk_lines();
        let first = top as usize / each;
        bytes.par_chunks(each * self.layout.line_bytes()).enumerate().try_for_each(|(index, lines)| {
            let places = self.layout.places((first + index) as u64, self.chunk);
            places.try_for_each(|at| self.encode_chunk(lines, at))
        })
    }

    /// Writes a chunk of some lines, unless all its samples are the fill value.
    fn encode_chunk(&self, lines: &[u8], at: [u64; 4]) -> io::Result<()> {
        let size = self.layout.pixel.size_bytes();
        let [planes, rows, columns, parts] = self.chunk;
        let [_, row, column, channel] = at;
        let mut chunk = self.fill.repeat((planes * rows * columns * parts) as usize);
        let places = (column * columns, channel * parts);
        if self.layout.planes.is_none() {
            self.gather(lines, &mut chunk, places);
        } else {
            let row_bytes = self.layout.row_bytes();
            let top = (row * rows) as usize * row_bytes;
            let height = rows.min(u64::from(self.layout.shape.height) - row * rows) as usize * row_bytes;
            let each = (rows * columns * parts) as usize * size;
            for (from, to) in lines.chunks_exact(self.layout.line_bytes()).zip(chunk.chunks_exact_mut(each)) {
                self.gather(&from[top..top + height], to, places);
            }
        }
        if chunk.chunks_exact(size).all(|sample| sample == self.fill) {
            return Ok(());
        }
        let options = CodecOptions::builder().concurrent_target(1).build();
        let encoded = self.codecs.encode(ArrayBytes::from(chunk), &self.of, &options).map_err(io::Error::other)?;
        put(&self.folder.join(self.keys.encode(&self.layout.over(0, at)).as_str()), &encoded)
    }

    /// Copies the part of an image's rows that a plane of a chunk holds.
    fn gather(&self, rows: &[u8], chunk: &mut [u8], (left, first): (u64, u64)) {
        let (shape, size) = (self.layout.shape, self.layout.pixel.size_bytes());
        let [_, _, columns, parts] = self.chunk;
        let width = columns.min(u64::from(shape.width) - left) as usize;
        let (pixel, part) =
            (shape.channels as usize * size, parts.min(u64::from(shape.channels) - first) as usize * size);
        let (wide, start) = (parts as usize * size, left as usize * pixel + first as usize * size);
        let rows = rows.chunks_exact(self.layout.row_bytes()).zip(chunk.chunks_exact_mut(columns as usize * wide));
        for (from, to) in rows {
            if part == pixel && wide == pixel {
                to[..width * pixel].copy_from_slice(&from[start..][..width * pixel]);
                continue;
            }
            let pixels = from[start..].chunks(pixel).zip(to.chunks_exact_mut(wide)).take(width);
            pixels.for_each(|(from, to)| to[..part].copy_from_slice(&from[..part]));
        }
    }
}

/// Writes a file of the draft, and the folders in which it lies.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let _writing = writing();
    let file = match File::create(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            File::create(path)
        }
        other => other,
    };
    file?.write_all(bytes)
}
