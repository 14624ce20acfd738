//! A file with some bytes replaced, so that a decoder accepts what it would otherwise not support.

use crate::read::Source;
use std::io::{Read, Result, Seek, SeekFrom};

/// Replacement bytes at an offset.
pub(super) struct Patch {
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
}

/// A file with its patches.
pub(super) struct Patched<'a> {
    file: &'a mut dyn Source,
    patches: &'a [Patch],
    at: u64,
    /// End of the file, and the number of zeros appended after it.
    end: u64,
    zeros: u64,
}

impl<'a> Patched<'a> {
    /// Reads the file from its start, with this many zeros appended.
    pub(super) fn new(file: &'a mut dyn Source, patches: &'a [Patch], zeros: u64) -> Result<Patched<'a>> {
        let end = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        Ok(Patched { file, patches, at: 0, end, zeros })
    }
}

impl Read for Patched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut read = self.file.read(buffer)?;
        if read == 0 && self.at >= self.end {
            read = buffer.len().min((self.end + self.zeros).saturating_sub(self.at) as usize);
            buffer[..read].fill(0);
        }
        let (from, to) = (self.at, self.at + read as u64);
        for Patch { at, bytes } in self.patches {
            let (start, end) = (from.max(*at), to.min(at + bytes.len() as u64));
            if start < end {
                let patch = &bytes[(start - at) as usize..(end - at) as usize];
                buffer[(start - from) as usize..(end - from) as usize].copy_from_slice(patch);
            }
        }
        self.at = to;
        Ok(read)
    }
}

impl Seek for Patched<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let to = match to {
            // After the end, the position of the file is not the logical one.
            SeekFrom::Current(by) => {
                SeekFrom::Start(self.at.checked_add_signed(by).ok_or(std::io::ErrorKind::InvalidInput)?)
            }
            to => to,
        };
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}
