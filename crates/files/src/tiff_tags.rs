//! Checks of a TIFF file's tags before its decoder, which trusts them, allocates memory for their values; and patches
//! of tags that the decoder does not support.

use crate::error::{Error, Result};
use crate::patched::Patch;
use crate::read::Source;
use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

const WIDTH: u64 = 256;
const LENGTH: u64 = 257;
const BITS: u64 = 258;
const COMPRESSION: u64 = 259;
const COLOURS: u64 = 262;
const FILL_ORDER: u64 = 266;
const SAMPLES: u64 = 277;
const PLANES: u64 = 284;
const TILE_WIDTH: u64 = 322;
const TILE_LENGTH: u64 = 323;
const TILE_BYTES: u64 = 325;
const EXTRA: u64 = 338;
const FORMAT: u64 = 339;

/// Values of [`COLOURS`], of [`EXTRA`] and of [`FORMAT`].
const WHITE_IS_ZERO: u64 = 0;
const BLACK_IS_ZERO: u64 = 1;
const RGB: u64 = 2;
const UNSIGNED: u64 = 1;
const ASSOCIATED_ALPHA: u64 = 1;
const ALPHA: u64 = 2;

/// Bytes appended to an LZW tile for the decoder: without them the crate `weezl` reports the end of the stream too
/// early, while the last codes are still in its 8-byte bit buffer.
const BEHIND: u64 = 16;

/// A page of a file, prepared for a decoder that reads only first pages.
#[derive(Default)]
pub(super) struct Page {
    /// Patches that make it the first page, and its sides multiples of the tiles' sides.
    pub(super) patches: Vec<Patch>,
    /// Number of zeros appended to the file.
    pub(super) zeros: u64,
    /// Width and height, if the patches enlarge the image.
    pub(super) size: Option<[u32; 2]>,
    /// Number of pages of the file.
    pub(super) pages: u32,
    /// Whether colours are multiplied by their alpha.
    pub(super) multiplied: bool,
}

/// Finds a page, from 1. If the tags cannot be read, it assumes one page and leaves the error to the decoder.
///
/// # Errors
/// As [`Directories::page`].
pub(super) fn page(path: &Path, file: &mut dyn Source, page: u32) -> Result<Page> {
    Directories::of(path, file)?.page(path, file, page)
}

/// Where the pages of a file are, so that all of them are found by one walk through the file.
#[derive(Debug)]
pub(super) struct Directories {
    /// The offset of each page's directory, up to the first that cannot be read.
    places: Vec<u64>,
    /// Whether these are all: the last one says that it is the last.
    pub(super) all: bool,
    big_endian: bool,
    big: bool,
}

impl Directories {
    /// Finds the pages.
    ///
    /// # Errors
    /// [`Error::Read`].
    pub(super) fn of(path: &Path, file: &mut dyn Source) -> Result<Directories> {
        let io = |error: io::Error| Error::read(path, error);
        file.rewind().map_err(io)?;
        let mut tags = Tags { file: BufReader::new(file), big_endian: false, big: false };
        let (places, all) = tags.directories().map_err(io)?;
        Ok(Directories { places, all, big_endian: tags.big_endian, big: tags.big })
    }

    /// Returns the number of directories that were found.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.places.len()).unwrap_or(u32::MAX)
    }

    /// Prepares a page, from 1, for the decoder. Without directories it assumes one page.
    ///
    /// # Errors
    /// [`Error::NoPage`], and [`Error::Content`] for a tag whose values exceed the file's length, for bytes whose lowest
    /// bit is first, and for RGB with more than one other sample per pixel.
    pub(super) fn page(&self, path: &Path, file: &mut dyn Source, page: u32) -> Result<Page> {
        let io = |error: io::Error| Error::read(path, error);
        let pages = self.count().max(1);
        if !(1..=pages).contains(&page) {
            return Err(Error::NoPage { path: path.into(), page, pages });
        }
        let mut found = Page { pages, ..Page::default() };
        let Some(&directory) = self.places.get(page as usize - 1) else { return Ok(found) };
        let length = file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut tags = Tags { file: BufReader::new(file), big_endian: self.big_endian, big: self.big };
        let entries = match tags.entries(directory, length) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(found),
            Err(error) => return Err(io(error)),
        };
        if let Some(Entry { tag, kind, count, .. }) = entries.iter().find(|entry| entry.is_beyond(length)) {
            let size = size(*kind);
            let what = format!("tag {tag} has {count} values of {size} bytes, the file {length} bytes");
            return Err(Error::content(path, what));
        }
        // The decoder ignores this tag.
        if entries.iter().any(|entry| entry.tag == FILL_ORDER && entry.value == 2) {
            return Err(Error::content(
                path,
                "tag 266, the order of a byte's bits, is 2, the lowest first; 1 is taken",
            ));
        }
        if let Some(samples) = samples_beyond(&entries) {
            let what = format!("{samples} samples per pixel, {} of them beside RGB; at most 1 is taken", samples - 3);
            return Err(Error::content(path, what));
        }
        found.patches.extend(tags.fourth(&entries));
        found.patches.extend(tags.measured(&entries));
        found.multiplied = value(&entries, COLOURS) == Some(RGB)
            && value(&entries, SAMPLES) == Some(4)
            && value(&entries, EXTRA) == Some(ASSOCIATED_ALPHA);
        if page > 1 {
            let (at, size) = if tags.big { (8, 8) } else { (4, 4) };
            found.patches.push(Patch { at, bytes: tags.bytes(directory, size) });
        }
        if let Some(longer) = tags.longer_tiles(&entries).map_err(io)? {
            found.zeros = BEHIND;
            found.patches.push(longer);
        }
        if let Some([width, length]) = tags.beyond_tiles(&entries) {
            let side = |(entry, _): &(&Entry, u64)| u32::try_from(entry.value).unwrap_or(u32::MAX);
            found.size = Some([side(&width), side(&length)]);
            found.patches.extend([width, length].map(|(entry, side)| tags.patch(entry, side)));
        }
        Ok(found)
    }
}

/// An entry of a directory.
struct Entry {
    /// Its offset in the file.
    at: u64,
    tag: u64,
    /// The type of its values, as TIFF's number.
    kind: u64,
    count: u64,
    /// Its first value, if that is an integer stored in the entry itself.
    value: u64,
}

impl Entry {
    /// Whether its values take more than `length` bytes.
    fn is_beyond(&self, length: u64) -> bool {
        self.count.saturating_mul(size(self.kind)) > length
    }
}

struct Tags<F> {
    file: F,
    big_endian: bool,
    /// Whether it is a BigTIFF, with offsets and counts of 64 bits.
    big: bool,
}

impl<F: Read + Seek> Tags<F> {
    /// Returns the offset of each page's directory, up to the first that cannot be read, and whether these are all.
    fn directories(&mut self) -> io::Result<(Vec<u64>, bool)> {
        let (mut places, mut known) = (Vec::new(), BTreeSet::new());
        let mut walk = || {
            let mut order = [0; 2];
            self.file.read_exact(&mut order)?;
            self.big_endian = order == *b"MM";
            self.big = self.number(2)? == 43;
            if self.big {
                // The size of an offset, which is always 8, and a 0.
                self.number(4)?;
            }
            let mut next = self.place()?;
            // The last directory is followed by 0; a cycle, in a hostile file, ends the list as well.
            while next != 0 && known.insert(next) {
                self.file.seek(SeekFrom::Start(next))?;
                let tags = self.count()?;
                places.push(next);
                let start = self.file.stream_position()?;
                let end = tags.checked_mul(self.entry_size()).and_then(|size| start.checked_add(size));
                self.file.seek(SeekFrom::Start(end.ok_or(io::ErrorKind::UnexpectedEof)?))?;
                next = self.place()?;
            }
            Ok(next == 0)
        };
        match walk() {
            Err(error) if ends(&error) => Ok((places, false)),
            walked => walked.map(|all| (places, all)),
        }
    }

    /// Returns the directory's tags, up to the first whose values exceed the file's length.
    fn entries(&mut self, directory: u64, length: u64) -> io::Result<Vec<Entry>> {
        self.file.seek(SeekFrom::Start(directory))?;
        let tags = self.count()?;
        let start = self.file.stream_position()?;
        let mut entries: Vec<Entry> = Vec::new();
        for index in 0..tags {
            let (tag, kind, count) = (self.number(2)?, self.number(2)?, self.place()?);
            let mut value = [0; 8];
            let bytes = if self.big { 8 } else { 4 };
            self.file.read_exact(&mut value[..bytes])?;
            let value = self.parse(&value[..(size(kind) as usize).min(bytes)]);
            entries.push(Entry { at: start + index * self.entry_size(), tag, kind, count, value });
            if entries[index as usize].is_beyond(length) {
                break;
            }
        }
        Ok(entries)
    }

    /// Returns a patch that makes each LZW tile longer by [`BEHIND`] bytes; `None` for files without such tiles, and
    /// for hostile ones.
    fn longer_tiles(&mut self, entries: &[Entry]) -> io::Result<Option<Patch>> {
        let entry = |tag| entries.iter().find(|entry| entry.tag == tag);
        let lzw = entry(COMPRESSION).is_some_and(|entry| entry.count == 1 && entry.value == 5);
        let Some(Entry { at, kind, count, value, .. }) = entry(TILE_BYTES).filter(|_| lzw) else { return Ok(None) };
        let (place, size) = (if self.big { 8 } else { 4 }, size(*kind));
        if !matches!(kind, 3 | 4 | 16) {
            return Ok(None);
        }
        // A few values are stored in the entry itself, after tag, type and count.
        let at = if count * size <= place { at + 4 + place } else { *value };
        self.file.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; (count * size) as usize];
        match self.file.read_exact(&mut bytes) {
            Err(error) if ends(&error) => return Ok(None),
            other => other?,
        }
        let most = u64::MAX >> (64 - 8 * size);
        for value in bytes.chunks_exact_mut(size as usize) {
            let longer = self.parse(value).saturating_add(BEHIND).min(most);
            value.copy_from_slice(&self.bytes(longer, size as usize));
        }
        Ok(Some(Patch { at, bytes }))
    }

    /// Returns both sides and their next multiples of the tile size, for files that are decoded correctly only with
    /// whole tiles: for separate planes, the crate `tiff` mistakes the last row of tiles of each plane for the last row
    /// of all planes.
    fn beyond_tiles<'e>(&self, entries: &'e [Entry]) -> Option<[(&'e Entry, u64); 2]> {
        if value(entries, PLANES) != Some(2) {
            return None;
        }
        let of = |side, tile| Some((single(entries, side)?, value(entries, tile)?));
        let sides = [of(WIDTH, TILE_WIDTH)?, of(LENGTH, TILE_LENGTH)?];
        let whole = |(entry, tile): (&'e Entry, u64)| Some((entry, entry.value.checked_next_multiple_of(tile)?));
        let sides = [whole(sides[0])?, whole(sides[1])?];
        let fits = sides.iter().all(|(entry, side)| entry.value > 0 && *side <= u32::MAX as u64);
        (fits && sides.iter().any(|(entry, side)| entry.value != *side)).then_some(sides)
    }

    /// Returns a patch that sets the entry to this side, as a 32-bit number.
    fn patch(&self, entry: &Entry, side: u64) -> Patch {
        let place = if self.big { 8 } else { 4 };
        let mut bytes =
            [self.bytes(entry.tag, 2), self.bytes(4, 2), self.bytes(1, place), self.bytes(side, 4)].concat();
        bytes.resize(self.entry_size() as usize, 0);
        Patch { at: entry.at, bytes }
    }

    /// Returns a patch that sets the value of an entry, which keeps its type.
    fn set(&self, entry: &Entry, value: u64) -> Patch {
        let at = entry.at + if self.big { 12 } else { 8 };
        Patch { at, bytes: self.bytes(value, size(entry.kind) as usize) }
    }

    /// Returns a patch that declares a fourth sample of RGB as alpha if it is declared as something else: the decoder
    /// would leave it out.
    fn fourth(&self, entries: &[Entry]) -> Option<Patch> {
        let extra = single(entries, EXTRA).filter(|extra| !matches!(extra.value, ASSOCIATED_ALPHA | ALPHA))?;
        let is_fourth = value(entries, COLOURS) == Some(RGB) && value(entries, SAMPLES) == Some(4);
        is_fourth.then(|| self.set(extra, ALPHA))
    }

    /// Returns a patch for grey that is said to be white at 0, of floats, of signed integers and of more than 16 bits:
    /// the decoder would turn around samples that were measured.
    fn measured(&self, entries: &[Entry]) -> Option<Patch> {
        let colours = single(entries, COLOURS).filter(|colours| colours.value == WHITE_IS_ZERO)?;
        let of_light = value(entries, FORMAT).unwrap_or(UNSIGNED) == UNSIGNED && value(entries, BITS)? <= 16;
        (!of_light).then(|| self.set(colours, BLACK_IS_ZERO))
    }

    /// Returns the size of an entry in bytes: tag, type, count, and value or offset.
    fn entry_size(&self) -> u64 {
        if self.big { 20 } else { 12 }
    }

    /// Reads the number of tags of a directory.
    fn count(&mut self) -> io::Result<u64> {
        self.number(if self.big { 8 } else { 2 })
    }

    fn place(&mut self) -> io::Result<u64> {
        self.number(if self.big { 8 } else { 4 })
    }

    /// Reads a number of this many bytes.
    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        let mut number = [0; 8];
        self.file.read_exact(&mut number[..bytes])?;
        Ok(self.parse(&number[..bytes]))
    }

    fn parse(&self, bytes: &[u8]) -> u64 {
        let shift = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.big_endian { bytes.iter().fold(0, shift) } else { bytes.iter().rev().fold(0, shift) }
    }

    /// Encodes a number in the file's byte order.
    fn bytes(&self, number: u64, bytes: usize) -> Vec<u8> {
        if self.big_endian { number.to_be_bytes()[8 - bytes..].into() } else { number.to_le_bytes()[..bytes].into() }
    }
}

/// Returns the number of samples per pixel of RGB with more than one other: the decoder leaves them out.
fn samples_beyond(entries: &[Entry]) -> Option<u64> {
    value(entries, SAMPLES).filter(|samples| *samples > 4 && value(entries, COLOURS) == Some(RGB))
}

/// Returns the entry of a tag of one value.
fn single(entries: &[Entry], tag: u64) -> Option<&Entry> {
    entries.iter().find(|entry| entry.tag == tag && entry.count == 1)
}

fn value(entries: &[Entry], tag: u64) -> Option<u64> {
    single(entries, tag).map(|entry| entry.value)
}

/// Whether the error means that an offset is beyond the end of the file.
fn ends(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput)
}

/// Returns the size in bytes of a value of this type; decoders skip tags of other types.
fn size(kind: u64) -> u64 {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16..=18 => 8,
        _ => 0,
    }
}
