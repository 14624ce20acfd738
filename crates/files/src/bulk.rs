//! Large reads and writes of files by several threads: one thread copies to and from the system's cache of files at a
//! fraction of the memory's speed.

use std::fs::File;
use std::io;

/// Bytes per piece.
#[cfg(unix)]
const PIECE: usize = 4 << 20;

/// Fills `bytes` from the file, from `offset` on.
///
/// # Errors
/// Of the system; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file is shorter.
#[cfg(unix)]
pub(crate) fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use rayon::prelude::*;
    use std::os::unix::fs::FileExt;
    let at = |piece: usize| offset + (piece * PIECE) as u64;
    bytes.par_chunks_mut(PIECE).enumerate().try_for_each(|(piece, bytes)| file.read_exact_at(bytes, at(piece)))
}

/// Writes `bytes` to the file, from `offset` on.
///
/// # Errors
/// Of the system.
#[cfg(unix)]
pub(crate) fn write(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if bytes.len() > 2 * PIECE && write_mapped(file, bytes, offset)? {
        return Ok(());
    }
    write_unmapped(file, bytes, offset)
}

/// As [`write`], for files that others may shorten, which would end the program by a signal if they were mapped.
///
/// # Errors
/// Of the system.
#[cfg(unix)]
pub(crate) fn write_unmapped(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use rayon::prelude::*;
    use std::os::unix::fs::FileExt;
    let at = |piece: usize| offset + (piece * PIECE) as u64;
    bytes.par_chunks(PIECE).enumerate().try_for_each(|(piece, bytes)| file.write_all_at(bytes, at(piece)))
}

/// Writes through a mapping of the file, if that is in memory: such file systems let one thread write to a file at a
/// time, but any number fill its pages. Returns whether it did.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // a mapping of a file that nobody else has a name for
fn write_mapped(file: &File, bytes: &[u8], offset: u64) -> io::Result<bool> {
    use rayon::prelude::*;
    use rustix::fs::{FallocateFlags, fallocate, fstatfs};
    /// What Linux calls `TMPFS_MAGIC`.
    const MEMORY: u64 = 0x0102_1994;
    if fstatfs(file)?.f_type as u64 != MEMORY {
        return Ok(false);
    }
    // All pages exist before the first is written: a missing page would end the program by a signal. Only the pages of
    // these bytes are requested: the system goes through all requested pages, even if they exist.
    fallocate(file, FallocateFlags::empty(), offset, bytes.len() as u64)?;
    // SAFETY: the file is a draft of this process, which does not shorten it.
    let mut map = unsafe { memmap2::MmapOptions::new().offset(offset).len(bytes.len()).map_mut(file)? };
    let pieces = map.par_chunks_mut(PIECE).zip(bytes.par_chunks(PIECE));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
    Ok(true)
}

#[cfg(not(unix))]
pub(crate) fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(crate) use write_unmapped as write;

#[cfg(not(unix))]
pub(crate) fn write_unmapped(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where there is a file system in memory, the test covers it, too.
    fn files() -> Vec<File> {
        let in_memory = tempfile::tempfile_in("/dev/shm").ok();
        std::iter::once(tempfile::tempfile().unwrap()).chain(in_memory).collect()
    }

    #[test]
    fn pieces_are_at_their_place_and_short_files_are_errors() {
        let bytes: Vec<u8> = (0..10_000_019u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        for file in files() {
            write(&file, &bytes, 7).unwrap();
            let mut found = vec![0; bytes.len()];
            read(&file, &mut found, 7).unwrap();
            assert!(found == bytes);
            assert_eq!(file.metadata().unwrap().len(), 10_000_026);
            assert_eq!(read(&file, &mut found, 8).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
