//! TIFF files by rows: where their samples lie, and their strips and tiles, one row of them at a time.

use crate::error::{Error, Result, check_pixels};
use crate::patched::Patched;
use crate::read::{Source, Stream};
use crate::tiff_file::samples;
use crate::tiff_tags::Page;
use apron_core::{PixelType, Shape};
use std::io::{BufReader, SeekFrom};
use std::ops::Range;
use std::path::Path;
use tiff::decoder::{ChunkType, Decoder, Limits};
use tiff::tags::{ByteOrder, Tag};
use tiff::{TiffError, TiffResult};

/// Shape and type of an image in a file, and where its samples are.
pub(crate) struct Layout {
    pub(crate) shape: Shape,
    pub(crate) pixel: PixelType,
    pub(crate) samples: Samples,
}

/// How samples are stored.
pub(crate) enum Samples {
    /// As in memory, from this offset on.
    Rows(u64),
    /// In strips or tiles.
    Chunks(Chunks),
    /// In a way that is read as a whole.
    Other,
}

/// The largest row of strips or tiles that is decoded, in bytes.
const MOST: u64 = 64 << 20;

type Reader<'a> = Decoder<BufReader<&'a mut dyn Source>>;

fn decoder<'a>(file: &'a mut dyn Source) -> TiffResult<Reader<'a>> {
    file.seek(SeekFrom::Start(0))?;
    let mut limits = Limits::default();
    limits.decoding_buffer_size = 4 * MOST as usize;
    limits.intermediate_buffer_size = 4 * MOST as usize;
    // A tile of 64 KiB has 16 bytes of offset and size; the values were compared with the file's length before.
    limits.ifd_value_size = 256 << 20;
    Ok(Decoder::new(BufReader::new(file))?.with_limits(limits))
}

impl Layout {
    /// Finds the layout of a page; `None` for an image of another type, or a file that the general
    /// reader has to explain.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than `max_pixels` pixels, [`Error::Content`] for sides beyond an image's.
    pub(crate) fn of(path: &Path, file: &mut dyn Source, page: &Page, max_pixels: u64) -> Result<Option<Layout>> {
        // Tiles that must be patched are left to the general reader.
        if page.zeros > 0 || page.size.is_some() {
            return Ok(None);
        }
        let length = file.seek(SeekFrom::End(0)).map_err(|error| Error::read(path, error))?;
        let patched = Patched::new(file, &page.patches, 0).map_err(|error| Error::read(path, error))?;
        let found = decoder(&mut Stream(patched)).and_then(|mut decoder| Found::of(&mut decoder));
        let Ok(found) = found else { return Ok(None) };
        let Some(Found { width, height, channels, pixel, rows, chunks }) = found else { return Ok(None) };
        check_pixels(path, width.into(), height.into(), max_pixels)?;
        let shape = Shape::new(width, height, channels).map_err(|error| Error::content(path, error))?;
        let bytes = shape.samples() * pixel.size_bytes() as u64;
        let samples = match (rows, chunks) {
            (Some((start, size)), _) if size == bytes && start.checked_add(size).is_some_and(|end| end <= length) => {
                Samples::Rows(start)
            }
            (_, (columns, rows)) => {
                let pixel_bytes = u64::from(channels) * pixel.size_bytes() as u64;
                let across = width.div_ceil(columns.max(1));
                let row = u64::from(across) * u64::from(columns.max(1)) * u64::from(rows.min(height)) * pixel_bytes;
                match columns > 0 && rows > 0 && row <= MOST {
                    true => Samples::Chunks(Chunks { shape, pixel_bytes, columns, rows, held: None }),
                    false => Samples::Other,
                }
            }
        };
        Ok(Some(Layout { shape, pixel, samples }))
    }
}

/// Returns the bytes of a page's samples; `None` for one that cannot be read.
pub(crate) fn sample_bytes(file: &mut dyn Source, page: &Page) -> Option<u64> {
    let patched = Patched::new(file, &page.patches, page.zeros).ok()?;
    let mut stream = Stream(patched);
    let mut decoder = decoder(&mut stream).ok()?;
    let ((width, height), colour) = (decoder.dimensions().ok()?, decoder.colortype().ok()?);
    let pixel = u64::from(colour.num_samples()) * u64::from(colour.bit_depth()).div_ceil(8);
    u64::from(width).checked_mul(height.into())?.checked_mul(pixel)
}

/// The relevant tags of a page.
struct Found {
    width: u32,
    height: u32,
    channels: u32,
    pixel: PixelType,
    /// Offset and size of the samples, if they are stored as in memory.
    rows: Option<(u64, u64)>,
    /// Columns and rows of a strip or tile.
    chunks: (u32, u32),
}

impl Found {
    fn of(decoder: &mut Reader<'_>) -> TiffResult<Option<Found>> {
        let mut tag = |tag, default: u16| decoder.find_tag_unsigned::<u16>(tag).map(|found| found.unwrap_or(default));
        // Planes together, the first row at the top, and no differences of samples, which the general
        // reader takes as well.
        let (planes, turned) = (tag(Tag::PlanarConfiguration, 1)?, tag(Tag::Orientation, 1)?);
        let (compression, predictor) = (tag(Tag::Compression, 1)?, tag(Tag::Predictor, 1)?);
        let colours = tag(Tag::PhotometricInterpretation, u16::MAX)?;
        if planes != 1 || turned != 1 {
            return Ok(None);
        }
        let format = decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat)?.unwrap_or_else(|| vec![1]);
        let Some(&first) = format.first().filter(|first| format.iter().all(|format| format == *first)) else {
            return Ok(None);
        };
        let Some((pixel, channels)) = samples(decoder.colortype()?, first) else { return Ok(None) };
        let (width, height) = decoder.dimensions()?;
        let own = cfg!(target_endian = "little") == (decoder.byte_order() == ByteOrder::LittleEndian)
            || pixel.size_bytes() == 1;
        let strips = decoder.get_chunk_type() == ChunkType::Strip;
        // 1 and 2 are grey and colours; what is white at 0 is turned around when it is read.
        let plain = compression == 1 && predictor == 1 && matches!(colours, 1 | 2) && own && strips;
        let rows = if plain { one_run(decoder)? } else { None };
        Ok(Some(Found { width, height, channels, pixel, rows, chunks: decoder.chunk_dimensions() }))
    }
}

/// Returns offset and size of all strips, if each begins where the one before ends.
fn one_run(decoder: &mut Reader<'_>) -> TiffResult<Option<(u64, u64)>> {
    let (Some(offsets), Some(sizes)) = (
        decoder.find_tag_unsigned_vec::<u64>(Tag::StripOffsets)?,
        decoder.find_tag_unsigned_vec::<u64>(Tag::StripByteCounts)?,
    ) else {
        return Ok(None);
    };
    let Some(&start) = offsets.first().filter(|_| offsets.len() == sizes.len()) else { return Ok(None) };
    let mut end = Some(start);
    for (&offset, &size) in offsets.iter().zip(&sizes) {
        if end != Some(offset) {
            return Ok(None);
        }
        end = offset.checked_add(size);
    }
    Ok(end.map(|end| (start, end - start)))
}

/// An image in strips or tiles.
#[derive(Debug)]
pub(crate) struct Chunks {
    shape: Shape,
    pixel_bytes: u64,
    /// Columns and rows of a chunk.
    columns: u32,
    rows: u32,
    /// The row of chunks that was decoded last, and its bytes: the next rows often begin in it.
    held: Option<(u32, Vec<u8>)>,
}

impl Chunks {
    /// Reads consecutive rows, whose size `bytes` has.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        file: &mut dyn Source,
        rows: Range<u32>,
        bytes: &mut [u8],
    ) -> Result<()> {
        let row = self.row_bytes();
        let mut rest = bytes;
        let mut next = rows.start;
        while next < rows.end {
            let index = next / self.rows;
            let first = index * self.rows;
            let end = rows.end.min(first.saturating_add(self.rows));
            let held = self.decoded(file, index).map_err(|error| Error::decoding(path, error))?;
            let part = &held[(next - first) as usize * row..(end - first) as usize * row];
            let (to, after) = std::mem::take(&mut rest).split_at_mut(part.len());
            to.copy_from_slice(part);
            (rest, next) = (after, end);
        }
        Ok(())
    }

    /// Returns the size of a row of chunks, with one chunk that is decoded, in bytes.
    pub(crate) fn held_bytes(&self) -> u64 {
        (self.row_bytes() as u64 + self.columns as u64 * self.pixel_bytes) * u64::from(self.rows)
    }

    fn row_bytes(&self) -> usize {
        self.shape.width as usize * self.pixel_bytes as usize
    }

    /// Returns the bytes of a row of chunks, without their padding.
    fn decoded(&mut self, file: &mut dyn Source, index: u32) -> Result<&[u8], TiffError> {
        let row = self.row_bytes();
        let whole = match self.held.take() {
            Some((held, whole)) if held == index => whole,
            held => {
                let mut whole = held.map_or_else(Vec::new, |(_, bytes)| bytes);
                let rows = self.rows.min(self.shape.height - index * self.rows) as usize;
                whole.resize(rows * row, 0);
                let mut decoder = decoder(file)?;
                let across = self.shape.width.div_ceil(self.columns);
                let mut chunk = Vec::new();
                for column in 0..across {
                    let number = index * across + column;
                    let (width, height) = decoder.chunk_data_dimensions(number);
                    let (from, part) = (column as usize * self.columns as usize, width as usize);
                    let (from, part) = (from * self.pixel_bytes as usize, part * self.pixel_bytes as usize);
                    chunk.resize(part * height as usize, 0);
                    decoder.read_chunk_bytes(number, &mut chunk)?;
                    for (to, part) in whole.chunks_exact_mut(row).zip(chunk.chunks_exact(part)) {
                        to[from..][..part.len()].copy_from_slice(part);
                    }
                }
                whole
            }
        };
        Ok(&self.held.insert((index, whole)).1)
    }
}
