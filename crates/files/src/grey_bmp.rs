//! Grey BMP files: they are palettes of greys, which decoders make three channels of.

use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};

/// Whether the file's pixels are indices into a palette of greys. What is wrong with it, the decoder says better.
///
/// The header is of the Windows BMP format: where the pixels start at byte 10, the size of the second header at 14, bits
/// a pixel at 28 and the number of colours at 46; in the OS/2 header of 12 bytes the bits are at 24, and colours have
/// three bytes, not four.
pub(super) fn is_grey(file: &mut (impl Read + Seek + ?Sized)) -> Result<bool> {
    let mut start = [0; 54];
    file.seek(SeekFrom::Start(0))?;
    match file.read_exact(&mut start) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
        other => other?,
    }
    let number = |at: usize| u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]);
    let header = number(14);
    let (bits, colours, size) = match header {
        12 => (number(24) & 0xffff, 0, 3),
        _ => (number(28) & 0xffff, number(46), 4),
    };
    if !(1..=8).contains(&bits) {
        return Ok(false);
    }
    let colours = if colours == 0 { 1 << bits } else { colours.min(256) };
    let mut palette = vec![0; (colours * size) as usize];
    file.seek(SeekFrom::Start(14 + u64::from(header)))?;
    match file.read_exact(&mut palette) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
        other => other?,
    }
    Ok(palette.chunks_exact(size as usize).all(|colour| colour[0] == colour[1] && colour[1] == colour[2]))
}
