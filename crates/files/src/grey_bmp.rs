//! Grey BMP files: they have palettes of greys, which decoders expand to three channels.

use std::io::{ErrorKind, Read, Result, Seek, SeekFrom};

/// Whether the file's pixels are indices into a palette of greys. Errors of the file are left to the decoder.
///
/// Layout of the Windows BMP header: offset of the pixels at byte 10, size of the second header at 14, bits per pixel
/// at 28, and number of colours at 46. In the 12-byte header of OS/2 the bits per pixel are at 24, and colours have
/// three bytes instead of four.
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
