//! Checks for PNM samples above the file's maximum: the decoder silently clamps them.

use crate::error::{Error, Result};
use crate::read::Source;
use image::ImageDecoder;
use image::codecs::pnm::{PnmDecoder, PnmSubtype, SampleEncoding};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Returns an error for a file with such a sample. Other errors are left to the decoder.
pub(super) fn check(path: &Path, file: &mut dyn Source) -> Result<()> {
    let Ok(decoder) = PnmDecoder::new(BufReader::new(file)) else { return Ok(()) };
    let colour = decoder.color_type();
    let (reader, header) = decoder.into_inner();
    let most = header.maximal_sample();
    let samples = u64::from(header.width()) * u64::from(header.height()) * u64::from(colour.channel_count());
    let wide = colour.bytes_per_pixel() > colour.channel_count();
    let above = match (header.subtype(), wide) {
        // One-bit samples cannot exceed the maximum.
        (PnmSubtype::Bitmap(_), _) => return Ok(()),
        (PnmSubtype::Graymap(SampleEncoding::Ascii) | PnmSubtype::Pixmap(SampleEncoding::Ascii), _) => {
            first_above(texts(reader), samples, most)
        }
        (_, false) if most >= 0xff => return Ok(()),
        (_, true) if most >= 0xffff => return Ok(()),
        (_, false) => first_above(reader.bytes().map(|byte| byte.map(u32::from)), samples, most),
        (_, true) => first_above(words(reader), samples, most),
    };
    match above.map_err(|error| Error::read(path, error))? {
        Some((index, sample)) => {
            let what = format!("sample {index} is {sample}, above the file's largest value {most}");
            Err(Error::content(path, what))
        }
        None => Ok(()),
    }
}

/// Finds the first sample above the maximum, and its index.
fn first_above(
    samples: impl Iterator<Item = io::Result<u32>>,
    count: u64,
    most: u32,
) -> io::Result<Option<(u64, u32)>> {
    for (index, sample) in (0..count).zip(samples) {
        let sample = sample?;
        if sample > most {
            return Ok(Some((index, sample)));
        }
    }
    Ok(None)
}

/// Reads samples of two bytes, big-endian.
fn words(mut reader: impl Read) -> impl Iterator<Item = io::Result<u32>> {
    std::iter::from_fn(move || {
        let mut word = [0; 2];
        match reader.read_exact(&mut word) {
            Ok(()) => Some(Ok(u16::from_be_bytes(word).into())),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(error)),
        }
    })
}

/// Reads samples as text, up to the first that is not a number.
fn texts(mut reader: impl BufRead) -> impl Iterator<Item = io::Result<u32>> {
    std::iter::from_fn(move || {
        let mut number: Option<u32> = None;
        loop {
            let byte = match reader.fill_buf() {
                Ok(bytes) => bytes.first().copied(),
                Err(error) => return Some(Err(error)),
            };
            match byte {
                Some(digit @ b'0'..=b'9') => {
                    number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(u32::from(digit - b'0')));
                }
                Some(b'\t'..=b'\r' | b' ') if number.is_none() => {}
                _ => return number.map(Ok),
            }
            reader.consume(1);
        }
    })
}
