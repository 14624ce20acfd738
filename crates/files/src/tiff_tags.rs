//! What the tags of a TIFF file claim, before its decoder, which believes them, takes memory for their values.

use crate::error::{Error, Result};
use crate::read::Source;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Refuses a file of which a tag has more values than the file has bytes for. The tags are those of the first
/// directory, which is all that is decoded; where they cannot be read, the decoder says why.
pub(super) fn check(path: &Path, file: &mut dyn Source) -> Result<()> {
    let io = |error: io::Error| Error::read(path, error);
    let length = file.seek(SeekFrom::End(0)).map_err(io)?;
    file.rewind().map_err(io)?;
    let tags = Tags { file: BufReader::new(file), big_endian: false, big: false };
    match tags.first_beyond(length) {
        Ok(None) => Ok(()),
        Ok(Some(Claim { tag, count, size })) => {
            Err(Error::content(path, format!("tag {tag} has {count} values of {size} bytes, the file {length} bytes")))
        }
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        Err(error) => Err(io(error)),
    }
}

/// What a tag says that it has.
struct Claim {
    tag: u64,
    count: u64,
    /// Bytes of a value.
    size: u64,
}

struct Tags<F> {
    file: F,
    big_endian: bool,
    /// Whether it is a BigTIFF, with places and counts of 64 bits.
    big: bool,
}

impl<F: Read + Seek> Tags<F> {
    /// The first tag whose values are more bytes than that.
    fn first_beyond(mut self, length: u64) -> io::Result<Option<Claim>> {
        let mut order = [0; 2];
        self.file.read_exact(&mut order)?;
        self.big_endian = order == *b"MM";
        self.big = self.number(2)? == 43;
        if self.big {
            // The size of a place, which is always 8, and a 0.
            self.number(4)?;
        }
        let directory = self.place()?;
        self.file.seek(SeekFrom::Start(directory))?;
        let tags = if self.big { self.number(8)? } else { self.number(2)? };
        for _ in 0..tags {
            let (tag, kind, count) = (self.number(2)?, self.number(2)?, self.place()?);
            let _value_or_its_place = self.place()?;
            let size = size(kind);
            if count.saturating_mul(size) > length {
                return Ok(Some(Claim { tag, count, size }));
            }
        }
        Ok(None)
    }

    fn place(&mut self) -> io::Result<u64> {
        self.number(if self.big { 8 } else { 4 })
    }

    /// A number of so many bytes.
    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        let mut number = [0; 8];
        self.file.read_exact(&mut number[..bytes])?;
        if self.big_endian {
            number[..bytes].reverse();
        }
        Ok(u64::from_le_bytes(number))
    }
}

/// Bytes of a value of this type; decoders skip the tags of other types.
fn size(kind: u64) -> u64 {
    match kind {
        1 | 2 | 6 | 7 => 1,
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16..=18 => 8,
        _ => 0,
    }
}
