//! Features of BMP files that the crate's decoder and encoder lack: they expand grey files, which have palettes of
//! greys, to three channels, and neither read nor write the density of pixels.

use std::io::{ErrorKind, Read, Result, Seek, SeekFrom, Write};

/// Where pixels per metre stand in the file, along rows and then along columns: in every header but that of OS/2.
const DENSITY: u64 = 38;

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

/// Reads the pixels per metre, along rows and along columns; `None` if the file has none.
pub(super) fn density(file: &mut (impl Read + Seek + ?Sized)) -> Option<(u32, u32)> {
    let mut start = [0; DENSITY as usize + 8];
    file.rewind().and_then(|()| file.read_exact(&mut start)).ok()?;
    let number = |at: usize| u32::from_le_bytes([start[at], start[at + 1], start[at + 2], start[at + 3]]);
    // The header of 12 bytes has no such numbers. They are signed.
    let (across, down) = (number(DENSITY as usize), number(DENSITY as usize + 4));
    (number(14) >= 40 && [across, down].iter().all(|of| (1..=i32::MAX as u32).contains(of))).then_some((across, down))
}

/// Writes the pixels per metre into a file that starts with `start` and lacks only them.
pub(super) fn set_density(file: &mut (impl Write + Seek), start: u64, (across, down): (u32, u32)) -> Result<()> {
    file.seek(SeekFrom::Start(start + DENSITY))?;
    file.write_all(&[across.to_le_bytes(), down.to_le_bytes()].concat())?;
    file.seek(SeekFrom::End(0)).map(drop)
}
