//! Writes an image as an array: chunks are encoded by several threads, as soon as a row of them is there.

use super::codecs::Codecs;
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
        let writer = Writer::new(folder, metadata.zarr.as_deref(), shape, pixel)?;
        fill(&writer)?;
        writer.end()
    })
}

/// Returns the memory that writing takes beside the image's strips, in bytes: a row of chunks, and its encoded chunks.
pub(crate) fn held_bytes(metadata: &Metadata, shape: Shape, pixel: PixelType) -> u64 {
    let Planned { array, layout, .. } = Planned::of(metadata.zarr.as_deref(), shape, pixel);
    let rows = array.get("chunk_grid").and_then(|grid| serde_json::from_value(grid.clone()).ok());
    let rows = rows.and_then(|of: MetadataV3| grid(&of, layout.dimensions()).ok());
    let rows = rows.map_or(1, |sizes| layout.parts(&sizes.iter().map(|size| size.get()).collect::<Vec<_>>())[0]);
    2 * rows.min(shape.height.into()) * (shape.row_samples() * pixel.size_bytes()) as u64
}

/// An array that is being written.
pub(crate) struct Writer {
    /// The array's folder.
    folder: PathBuf,
    layout: Layout,
    /// Rows, columns and channels of a file's chunk.
    chunk: [u64; 3],
    keys: ChunkKeyEncoding,
    codecs: CodecChain,
    of: ChunkRepresentation,
    fill: Vec<u8>,
    rows: Mutex<Rows>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("layout", &self.layout).field("chunk", &self.chunk).finish_non_exhaustive()
    }
}

/// Rows that wait for the rest of their chunks.
struct Rows {
    /// The row that comes next.
    next: u32,
    held: Vec<u8>,
}

impl Writer {
    /// Writes the metadata.
    fn new(folder: &Path, kept: Option<&Kept>, shape: Shape, pixel: PixelType) -> Result<Writer, Trouble> {
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
        let rows = Mutex::new(Rows { next: 0, held: Vec::new() });
        Ok(Writer { folder: at, layout, chunk, keys, codecs, of, fill, rows })
    }

    /// Writes consecutive rows: the first ones, or those after the last ones.
    pub(crate) fn write_rows(&self, first: u32, bytes: &[u8]) -> io::Result<()> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let Rows { next, held } = &mut *rows;
        if first != *next {
            let what = format!("row {first} comes where row {next} is expected");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let row = self.row_bytes();
        let each = self.chunk_rows() * row;
        let mut rest = bytes;
        if !held.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(each - held.len()));
            held.extend_from_slice(part);
            *next += (part.len() / row) as u32;
            rest = after;
        }
        let last = |next: u32| next == self.layout.shape.height;
        if held.len() == each || last(*next) && !held.is_empty() {
            self.encode(*next - (held.len() / row) as u32, held)?;
            held.clear();
        }
        let top = *next;
        *next += (rest.len() / row) as u32;
        let whole = if last(*next) { rest.len() } else { rest.len() / each * each };
        self.encode(top, &rest[..whole])?;
        held.extend_from_slice(&rest[whole..]);
        Ok(())
    }

    /// Checks that all rows were written.
    fn end(self) -> Result<(), Trouble> {
        let rows = self.rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        match rows.next == self.layout.shape.height {
            true => Ok(()),
            false => Err(format!("rows from {} on are missing", rows.next).into()),
        }
    }

    /// Returns the rows of a chunk, of those that the image has.
    fn chunk_rows(&self) -> usize {
        self.chunk[0].min(self.layout.shape.height.into()) as usize
    }

    fn row_bytes(&self) -> usize {
        self.layout.shape.row_samples() * self.layout.pixel.size_bytes()
    }

    /// Writes whole rows of chunks from row `top` on; the image's last may be shorter.
    fn encode(&self, top: u32, bytes: &[u8]) -> io::Result<()> {
        let Shape { width, channels, .. } = self.layout.shape;
        let [_, columns, parts] = self.chunk;
        let (across, deep) = (u64::from(width).div_ceil(columns), u64::from(channels).div_ceil(parts));
        let each = self.chunk_rows();
        let first = top as usize / each;
        bytes.par_chunks(each * self.row_bytes()).enumerate().try_for_each(|(index, rows)| {
            (0..across * deep)
                .into_par_iter()
                .try_for_each(|number| self.encode_chunk(rows, [(first + index) as u64, number / deep, number % deep]))
        })
    }

    /// Writes a chunk of some rows, unless all its samples are the fill value.
    fn encode_chunk(&self, rows: &[u8], [row, column, channel]: [u64; 3]) -> io::Result<()> {
        let (shape, size) = (self.layout.shape, self.layout.pixel.size_bytes());
        let [height, columns, parts] = self.chunk;
        let (left, first) = (column * columns, channel * parts);
        let width = columns.min(u64::from(shape.width) - left) as usize;
        let (pixel, part) =
            (shape.channels as usize * size, parts.min(u64::from(shape.channels) - first) as usize * size);
        let (wide, start) = (parts as usize * size, left as usize * pixel + first as usize * size);
        let mut chunk = self.fill.repeat((height * columns * parts) as usize);
        let lines = rows.chunks_exact(self.row_bytes()).zip(chunk.chunks_exact_mut(columns as usize * wide));
        for (from, to) in lines {
            if part == pixel && wide == pixel {
                to[..width * pixel].copy_from_slice(&from[start..][..width * pixel]);
                continue;
            }
            let pixels = from[start..].chunks(pixel).zip(to.chunks_exact_mut(wide)).take(width);
            pixels.for_each(|(from, to)| to[..part].copy_from_slice(&from[..part]));
        }
        if chunk.chunks_exact(size).all(|sample| sample == self.fill) {
            return Ok(());
        }
        let options = CodecOptions::builder().concurrent_target(1).build();
        let encoded = self.codecs.encode(ArrayBytes::from(chunk), &self.of, &options).map_err(io::Error::other)?;
        let mut at = vec![0; self.layout.leading];
        at.extend([row, column]);
        at.extend(self.layout.channels.then_some(channel));
        put(&self.folder.join(self.keys.encode(&at).as_str()), &encoded)
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
