//! Large reads and writes of files by several threads: one thread copies to and from the system's cache of files at a fraction of
//! the memory's speed.

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
    use rayon::prelude::*;
    use std::os::unix::fs::FileExt;
    let at = |piece: usize| offset + (piece * PIECE) as u64;
    bytes.par_chunks(PIECE).enumerate().try_for_each(|(piece, bytes)| file.write_all_at(bytes, at(piece)))
}

#[cfg(not(unix))]
pub(crate) fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(crate) fn write(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_at_their_place_and_short_files_are_errors() {
        let bytes: Vec<u8> = (0..10_000_019u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        let file = tempfile::tempfile().unwrap();
        write(&file, &bytes, 7).unwrap();
        let mut found = vec![0; bytes.len()];
        read(&file, &mut found, 7).unwrap();
        assert!(found == bytes);
        assert_eq!(file.metadata().unwrap().len(), 10_000_026);
        assert_eq!(read(&file, &mut found, 8).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
