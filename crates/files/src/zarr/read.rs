//! Reads chunks: all of them, or those that have the same rows of an image, or planes of a volume.

use super::codecs::{ChunkShape, Codecs, most, product};
use super::layout::{Layout, data_type};
use crate::error::{Error, Result};
use crate::metadata::Kept;
use apron_core::{AnyImage, PixelType, Shape, check_memory};
use rayon::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zarrs::array::chunk_key_encoding::ChunkKeyEncoding;
use zarrs::array::codec::{ArrayToBytesCodecTraits, CodecChain, CodecOptions};
use zarrs::array::{ChunkRepresentation, DataType, FillValue};
use zarrs::metadata::v3::MetadataV3;
use zarrs::metadata_ext::chunk_grid::regular::RegularChunkGridConfiguration;

/// Largest row of chunks that is read by rows, in bytes. One is always in memory.
const MOST_ROW: u64 = 1 << 30;

/// Most bytes of rows of chunks that stay decoded: the next rows often begin in them.
const MOST_HELD: usize = 64 << 20;

/// A chunk may have this many pixels, whatever the limit of an image's.
const SMALL: u64 = 1 << 22;

/// Rows that a thread copies at a time.
const BAND: usize = 16;

/// Numbers in the indices of shards that stay in memory.
const MOST_INDEX: usize = 1 << 22;

/// An image or a volume in chunks. Its lines are the rows of the image, or the planes of the volume.
pub(crate) struct Chunks {
    path: PathBuf,
    /// The folder of the array.
    folder: PathBuf,
    layout: Layout,
    /// Planes, rows, columns and channels of a chunk.
    chunk: [u64; 4],
    keys: ChunkKeyEncoding,
    decoder: Decoder,
    shards: Option<ShardFiles>,
    /// The sample of chunks that are not stored.
    fill: Vec<u8>,
    /// The lines of chunks that were decoded last, with their indices: at least one, and as many as fit into
    /// `most_held` bytes.
    held: Mutex<VecDeque<(u32, Vec<u8>)>>,
    most_held: usize,
}

/// Decodes stored bytes to a chunk of one size.
struct Decoder {
    codecs: Arc<CodecChain>,
    of: ChunkRepresentation,
    /// Largest encoded size that is taken, in bytes.
    most: usize,
}

impl Decoder {
    fn new(codecs: Arc<CodecChain>, of: ChunkRepresentation) -> Result<Decoder, String> {
        let size = codecs.encoded_representation(&of).map_err(|error| error.to_string())?;
        let most = most(&size).ok_or("the size of a chunk has no limit")?;
        Ok(Decoder { codecs, of, most })
    }

    fn decode(&self, encoded: Vec<u8>) -> Result<Vec<u8>, String> {
        // Chunks are decoded by several threads, each of them by one.
        let options = CodecOptions::builder().concurrent_target(1).build();
        let decoded = self.codecs.decode(encoded.into(), &self.of, &options).and_then(|bytes| bytes.into_fixed());
        decoded.map(|bytes| bytes.into_owned()).map_err(|error| error.to_string())
    }
}

/// Files with many chunks each, and an index of them.
struct ShardFiles {
    /// Chunks of a shard, over all dimensions.
    chunks: Vec<u64>,
    index: Decoder,
    at_start: bool,
    /// Indices that were read, by their shards' places.
    indices: Mutex<HashMap<Vec<u64>, Arc<Vec<u8>>>>,
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("layout", &self.layout).field("chunk", &self.chunk).finish_non_exhaustive()
    }
}

impl Chunks {
    /// Opens the image of a folder, or its volume, and returns what an output keeps of it, too.
    ///
    /// # Errors
    /// [`Error::Read`] and [`Error::Content`] for what is broken or not supported, [`Error::TooLarge`] for more than
    /// `max_pixels` pixels, in the image, in a plane or in a chunk.
    pub(crate) fn open(path: &Path, max_pixels: u64, volume: bool) -> Result<(Chunks, Kept)> {
        let wrong = |what: String| Error::content(path, what);
        let (found, layout) = super::layout(path, max_pixels, volume)?;
        let metadata = &found.metadata;
        let file = grid(&metadata.chunk_grid, layout.dimensions()).map_err(wrong)?;
        let codecs = Codecs::new(&metadata.codecs, &file).map_err(wrong)?;
        let (shape, inner) = match &codecs.shards {
            Some(shards) => (shards.shape.clone(), shards.inner.clone()),
            None => (file.clone(), Arc::new(codecs.whole)),
        };
        let chunk = layout.parts(&sizes(&shape));
        let sample = layout.pixel.size_bytes();
        let too_large = || {
            let [_, height, width, _] = chunk;
            Error::TooLarge { path: path.into(), width, height, max_pixels }
        };
        // A chunk's channels and further dimensions count, too.
        let samples = product(&shape)
            .filter(|samples| *samples <= max_pixels.max(SMALL).saturating_mul(4))
            .ok_or_else(too_large)?;
        usize::try_from(samples).ok().and_then(|samples| samples.checked_mul(sample)).ok_or_else(too_large)?;
        let (of, fill) = representation(&layout, &shape, metadata).map_err(wrong)?;
        let decoder = Decoder::new(inner, of).map_err(wrong)?;
        let shards = codecs.shards.map(|shards| {
            let chunks: Vec<u64> = file.iter().zip(&shape).map(|(file, part)| file.get() / part.get()).collect();
            let two = std::num::NonZeroU64::MIN.saturating_add(1);
            let each = chunks.iter().copied().filter_map(std::num::NonZeroU64::new).chain([two]).collect();
            let of = ChunkRepresentation::new(each, DataType::UInt64, u64::MAX).map_err(|error| error.to_string())?;
            let index = Decoder::new(shards.index, of)?;
            Ok(ShardFiles { chunks, index, at_start: shards.at_start, indices: Mutex::default() })
        });
        let shards = shards.transpose().map_err(wrong)?;
        let keys = keys(&metadata.chunk_key_encoding).map_err(wrong)?;
        let (path, folder) = (path.into(), found.folder.clone());
        let (held, most_held) = (Mutex::default(), MOST_HELD);
        let chunks = Chunks { path, folder, layout, chunk, keys, decoder, shards, fill, held, most_held };
        Ok((chunks, super::kept_of(found, &layout)))
    }

    pub(crate) fn shape(&self) -> Shape {
        self.layout.shape
    }

    pub(crate) fn pixel(&self) -> PixelType {
        self.layout.pixel
    }

    /// Returns the number of planes of a volume.
    pub(crate) fn planes(&self) -> u32 {
        self.layout.planes.unwrap_or(1)
    }

    /// Whether a row of chunks is small enough to be read by rows.
    pub(crate) fn has_rows(&self) -> bool {
        (self.chunk_lines() * self.layout.line_bytes()) as u64 <= MOST_ROW
    }

    /// Keeps at most `most` bytes decoded, or one row of chunks. Returns the most that it keeps.
    pub(crate) fn hold(&mut self, most: u64) -> u64 {
        let row = self.chunk_lines() * self.layout.line_bytes();
        self.most_held = MOST_HELD.min(usize::try_from(most).unwrap_or(usize::MAX));
        // The next row is decoded before the last is given up.
        (self.most_held.max(row) + row) as u64
    }

    /// Reads the image.
    pub(crate) fn read_whole(&self) -> Result<AnyImage<'static>> {
        let mut read = Ok(());
        let image = AnyImage::from_bytes(self.layout.pixel, self.layout.shape, |bytes| {
            let lines = bytes.par_chunks_mut(self.chunk_lines() * self.layout.line_bytes());
            read = lines.enumerate().try_for_each(|(index, lines)| self.decode_lines(index as u32, lines));
            Ok(())
        });
        let image = image.map_err(|error| Error::content(&self.path, error))?;
        read.map(|()| image)
    }

    /// Reads a plane of a volume, from 0. The planes of its chunks stay decoded.
    pub(crate) fn read_plane(&self, plane: u32) -> Result<AnyImage<'static>> {
        let mut read = Ok(());
        let image = AnyImage::from_bytes(self.layout.pixel, self.layout.shape, |bytes| {
            read = self.read(plane..plane + 1, bytes);
            Ok(())
        });
        let image = image.map_err(|error| Error::content(&self.path, error))?;
        read.map(|()| image)
    }

    /// Reads consecutive lines, whose size `bytes` has. Lines of chunks that are partly read stay decoded.
    pub(crate) fn read(&self, lines: Range<u32>, bytes: &mut [u8]) -> Result<()> {
        let (line, each) = (self.layout.line_bytes(), self.chunk_lines() as u32);
        let mut held = locked(&self.held);
        let (mut rest, mut next) = (bytes, lines.start);
        while next < lines.end {
            let (index, first) = (next / each, next / each * each);
            let end = lines.end.min(first.saturating_add(each));
            let at = match held.iter().position(|(held, _)| *held == index) {
                Some(at) => at,
                // All lines of these chunks are read, and they would not stay decoded for the next ones.
                None if next == first
                    && end == self.layout.lines().min(first.saturating_add(each))
                    && (lines.end - end) as usize * line >= self.most_held =>
                {
                    let (to, after) = std::mem::take(&mut rest).split_at_mut((end - next) as usize * line);
                    self.decode_lines(index, to)?;
                    (rest, next) = (after, end);
                    continue;
                }
                None => {
                    let size = each.min(self.layout.lines() - first) as usize * line;
                    check_memory::<u8>(size as u64, self.layout.shape)
                        .map_err(|error| Error::content(&self.path, error))?;
                    let mut whole = vec![0; size];
                    self.decode_lines(index, &mut whole)?;
                    held.push_back((index, whole));
                    while held.len() > 1 && held.iter().map(|(_, whole)| whole.len()).sum::<usize>() > self.most_held {
                        held.pop_front();
                    }
                    held.len() - 1
                }
            };
            let part = &held[at].1[(next - first) as usize * line..(end - first) as usize * line];
            let (to, after) = std::mem::take(&mut rest).split_at_mut(part.len());
            to.copy_from_slice(part);
            (rest, next) = (after, end);
        }
        Ok(())
    }

    /// Returns the lines of a chunk, of those that there are.
    fn chunk_lines(&self) -> usize {
        self.layout.lines_of(self.chunk)
    }

    /// Decodes chunks with the same lines, without their padding: a few per thread at a time, which are then
    /// copied by all threads.
    fn decode_lines(&self, index: u32, lines: &mut [u8]) -> Result<()> {
        let [_, rows, columns, parts] = self.chunk;
        let (row_bytes, chunk_row) =
            (self.layout.row_bytes(), (columns * parts) as usize * self.layout.pixel.size_bytes());
        let places: Vec<[u64; 4]> = self.layout.places(index.into(), self.chunk).collect();
        for places in places.chunks(2 * rayon::current_num_threads()) {
            let decoded = places.par_iter().map(|&at| Ok((at, self.chunk(at)?)));
            let decoded = decoded.collect::<Result<Vec<_>>>()?;
            if self.layout.planes.is_none() {
                lines.par_chunks_mut(BAND * row_bytes).enumerate().for_each(|(band, lines)| {
                    for ([_, _, column, part], chunk) in &decoded {
                        let chunk = chunk.as_deref().map(|chunk| &chunk[band * BAND * chunk_row..]);
                        self.place(lines, chunk, (column * columns, part * parts));
                    }
                });
                continue;
            }
            lines.par_chunks_mut(self.layout.line_bytes()).enumerate().for_each(|(number, plane)| {
                for ([_, row, column, part], chunk) in &decoded {
                    // From each plane the rows that the chunk has.
                    let top = (row * rows) as usize * row_bytes;
                    let height = rows.min(u64::from(self.layout.shape.height) - row * rows) as usize * row_bytes;
                    let chunk = chunk.as_deref().map(|chunk| &chunk[number * rows as usize * chunk_row..]);
                    self.place(&mut plane[top..top + height], chunk, (column * columns, part * parts));
                }
            });
        }
        Ok(())
    }

    /// Copies a plane of a chunk, or the fill value, to its place in rows of the image.
    fn place(&self, rows: &mut [u8], chunk: Option<&[u8]>, (left, channel): (u64, u64)) {
        let (shape, size) = (self.layout.shape, self.layout.pixel.size_bytes());
        let [_, _, columns, parts] = self.chunk;
        let width = columns.min(u64::from(shape.width) - left) as usize;
        let (pixel, part) =
            (shape.channels as usize * size, parts.min(u64::from(shape.channels) - channel) as usize * size);
        let start = left as usize * pixel + channel as usize * size;
        for (number, row) in rows.chunks_exact_mut(self.layout.row_bytes()).enumerate() {
            let Some(chunk) = chunk else {
                let pixels = row[start..].chunks_mut(pixel).take(width);
                pixels.for_each(|to| to[..part].chunks_exact_mut(size).for_each(|to| to.copy_from_slice(&self.fill)));
                continue;
            };
            let from = &chunk[number * (columns * parts) as usize * size..];
            if part == pixel && parts as usize * size == pixel {
                row[start..][..width * pixel].copy_from_slice(&from[..width * pixel]);
                continue;
            }
            let pixels = row[start..].chunks_mut(pixel).zip(from.chunks(parts as usize * size)).take(width);
            pixels.for_each(|(to, from)| to[..part].copy_from_slice(&from[..part]));
        }
    }

    /// Decodes the chunk at a plane, a row, a column and a channel of the grid; `None` if it is not stored.
    fn chunk(&self, place: [u64; 4]) -> Result<Option<Vec<u8>>> {
        let at = self.layout.over(0, place);
        let wrong = |what: String| Error::content(&self.path, format!("chunk {at:?}: {what}"));
        let encoded = match &self.shards {
            None => {
                let Some((mut file, length)) = self.open_file(&at)? else { return Ok(None) };
                if length > self.decoder.most as u64 {
                    return Err(wrong(format!("its file has {length} bytes, more than a chunk may take")));
                }
                self.bytes(&mut file, 0, length as usize)?
            }
            Some(shards) => {
                let shard: Vec<u64> = at.iter().zip(&shards.chunks).map(|(at, chunks)| at / chunks).collect();
                let Some((mut file, length)) = self.open_file(&shard)? else { return Ok(None) };
                let index = self.index(shards, &shard, &mut file, length)?;
                let number =
                    at.iter().zip(&shards.chunks).fold(0, |number, (at, chunks)| number * chunks + at % chunks);
                let (offset, size) = entry(&index, number as usize);
                if (offset, size) == (u64::MAX, u64::MAX) {
                    return Ok(None);
                }
                if offset.checked_add(size).is_none_or(|end| end > length) {
                    return Err(wrong(format!("it ends after its file, of {length} bytes")));
                }
                if size > self.decoder.most as u64 {
                    return Err(wrong(format!("it has {size} bytes, more than a chunk may take")));
                }
                self.bytes(&mut file, offset, size as usize)?
            }
        };
        self.decoder.decode(encoded).map(Some).map_err(|what| wrong(format!("its bytes cannot be decoded: {what}")))
    }

    /// Reads the index of a shard, or finds it among those that were read.
    fn index(&self, shards: &ShardFiles, shard: &[u64], file: &mut File, length: u64) -> Result<Arc<Vec<u8>>> {
        if let Some(index) = locked(&shards.indices).get(shard) {
            return Ok(index.clone());
        }
        let wrong = |what: String| Error::content(&self.path, format!("shard {shard:?}: {what}"));
        let size = shards.index.most as u64;
        let Some(last) = length.checked_sub(size) else {
            return Err(wrong(format!("its file has {length} bytes, and its index alone {size}")));
        };
        let encoded = self.bytes(file, if shards.at_start { 0 } else { last }, size as usize)?;
        let index = Arc::new(shards.index.decode(encoded).map_err(wrong)?);
        let mut indices = locked(&shards.indices);
        let numbers: usize = shards.chunks.iter().product::<u64>() as usize;
        if (indices.len() + 1).saturating_mul(numbers) > MOST_INDEX {
            indices.clear();
        }
        indices.insert(shard.into(), index.clone());
        Ok(index)
    }

    /// Opens the file at a place of the grid of files, and returns its length; `None` if it is not there.
    fn open_file(&self, at: &[u64]) -> Result<Option<(File, u64)>> {
        let path = self.folder.join(self.keys.encode(at).as_str());
        // Opening a pipe would wait for a writer.
        match std::fs::metadata(&path) {
            Ok(facts) if facts.is_file() => {
                let file = File::open(&path).map_err(|error| Error::read(&path, error))?;
                Ok(Some((file, facts.len())))
            }
            Ok(_) => Err(Error::content(&path, "not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::read(&path, error)),
        }
    }

    fn bytes(&self, file: &mut File, offset: u64, size: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; size];
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| Error::read(&self.path, error))?;
        Ok(bytes)
    }
}

/// Returns offset and size of a chunk.
fn entry(index: &[u8], number: usize) -> (u64, u64) {
    let of = |at: usize| {
        index.get(at * 8..).and_then(|rest| rest.first_chunk()).map_or(u64::MAX, |bytes| u64::from_ne_bytes(*bytes))
    };
    (of(2 * number), of(2 * number + 1))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the shape of the files' chunks.
pub(super) fn grid(metadata: &MetadataV3, dimensions: usize) -> Result<ChunkShape, String> {
    if metadata.name() != "regular" {
        return Err(format!("chunk grid '{}' is not supported; supported is regular", metadata.name()));
    }
    let grid: RegularChunkGridConfiguration =
        metadata.to_configuration().map_err(|error| format!("chunk grid: {error}"))?;
    let shape = grid.chunk_shape.to_vec();
    match shape.len() == dimensions {
        true => Ok(shape),
        false => Err(format!("chunks of {} dimensions, in an array of {dimensions}", shape.len())),
    }
}

/// Returns the names of the files.
pub(super) fn keys(metadata: &MetadataV3) -> Result<ChunkKeyEncoding, String> {
    let name = metadata.name();
    if !["default", "v2"].contains(&name) {
        return Err(format!("chunk key encoding '{name}' is not supported; supported are default and v2"));
    }
    ChunkKeyEncoding::from_metadata(metadata).map_err(|error| format!("chunk key encoding: {error}"))
}

/// Returns what chunks of this shape hold, and the bytes of a sample of those that are not stored.
pub(super) fn representation(
    layout: &Layout,
    shape: &ChunkShape,
    metadata: &zarrs::array::ArrayMetadataV3,
) -> Result<(ChunkRepresentation, Vec<u8>), String> {
    let of = data_type(layout.pixel);
    let fill: FillValue = of.fill_value_from_metadata(&metadata.fill_value).map_err(|error| error.to_string())?;
    let bytes = fill.as_ne_bytes().to_vec();
    let of = ChunkRepresentation::new(shape.clone(), of, fill).map_err(|error| error.to_string())?;
    Ok((of, bytes))
}

fn sizes(shape: &ChunkShape) -> Vec<u64> {
    shape.iter().map(|size| size.get()).collect()
}
