//! Files: images in and out, masks in, tables of counts out.

mod array;
mod atomic;
#[cfg(test)]
mod fuzz;
mod picture;
mod plane;
pub(crate) mod table;

pub(crate) use atomic::OutputPath;
pub(crate) use picture::write_rgb_png;
pub(crate) use table::TableOutput;

use crate::error::{Error, Result, guarded};
use apron::{AnyImage, Mask, PixelType, Taps};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// Most taps of a mask in a file.
const MAX_TAPS: u64 = 1 << 28;

/// Reads an image: what it is, the file's content says.
pub(crate) fn read_image(path: &Path, max_pixels: u64) -> Result<AnyImage<'static>> {
    decode(path, open(path)?, max_pixels)
}

/// Reads the image that the file at `path` holds.
fn decode(path: &Path, mut file: impl Read + Seek, max_pixels: u64) -> Result<AnyImage<'static>> {
    let is_array = starts_as_array(path, &mut file)?;
    // Decoders are other people's code, and hostile files find their panics.
    let image =
        guarded(|| if is_array { array::read(path, file, max_pixels) } else { picture::read(path, file, max_pixels) });
    image.map_err(|error| match error {
        Error::Bug(panic) => Error::input(path, format!("its decoder gave up ({panic})")),
        Error::Apron(error) => Error::input(path, error),
        other => other,
    })
}

/// Reads a mask from a `.npy` file of one row or of two dimensions.
pub(crate) fn read_mask(path: &Path) -> Result<Mask> {
    mask_of(path, read_numbers(path, open(path)?)?)
}

/// The mask that the numbers in the file at `path` are.
fn mask_of(path: &Path, (shape, taps): (Vec<u64>, Vec<f64>)) -> Result<Mask> {
    let (height, width) = match shape[..] {
        [width] => (1, width),
        [height, width] => (height, width),
        _ => return Err(Error::input(path, format!("a mask has 1 or 2 dimensions, not shape {shape:?}"))),
    };
    let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
    // In a file, a wrong mask is bad input and not wrong usage.
    Mask::new(side(width), side(height), in_f32(&taps)).map_err(|error| Error::input(path, error))
}

/// Reads the taps of one axis from a `.npy` file of one dimension.
pub(crate) fn read_taps(path: &Path) -> Result<Taps> {
    let (shape, taps) = read_numbers(path, open(path)?)?;
    if shape.len() != 1 {
        return Err(Error::input(path, format!("taps have 1 dimension, not shape {shape:?}")));
    }
    Taps::new(in_f32(&taps)).map_err(|error| Error::input(path, error))
}

/// Reads the edges of bins from a `.npy` file of one dimension.
pub(crate) fn read_edges(path: &Path) -> Result<Vec<f64>> {
    let (shape, edges) = read_numbers(path, open(path)?)?;
    if shape.len() != 1 {
        return Err(Error::input(path, format!("edges have 1 dimension, not shape {shape:?}")));
    }
    Ok(edges)
}

fn in_f32(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|&number| number as f32).collect()
}

fn read_numbers(path: &Path, mut file: impl Read + Seek) -> Result<(Vec<u64>, Vec<f64>)> {
    if !starts_as_array(path, &mut file)? {
        return Err(Error::input(path, "not a .npy file"));
    }
    guarded(|| array::read_numbers(path, file, MAX_TAPS))
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|error| Error::input(path, error))?;
    // A pipe has no length to check a header against, and a device no end.
    match file.metadata() {
        Ok(facts) if facts.is_file() => Ok(file),
        Ok(_) => Err(Error::input(path, "not a regular file")),
        Err(error) => Err(Error::input(path, error)),
    }
}

fn starts_as_array(path: &Path, mut file: impl Read + Seek) -> Result<bool> {
    let mut start = Vec::new();
    let read = file.by_ref().take(array::MAGIC.len() as u64).read_to_end(&mut start).and_then(|_| file.rewind());
    read.map_err(|error| Error::input(path, error))?;
    if start.is_empty() {
        return Err(Error::input(path, "the file is empty"));
    }
    Ok(start == array::MAGIC)
}

/// Where a filter's result goes; known to be possible, as far as can be known without it.
pub(crate) struct ImageOutput<'a> {
    path: OutputPath<'a>,
    format: Format,
}

/// A format of image files.
#[derive(Clone, Copy)]
enum Format {
    Array,
    Picture(picture::Format),
}

impl<'a> ImageOutput<'a> {
    /// `pixel` is the output's type, where it is known before the input is read.
    pub(crate) fn new(path: &'a Path, pixel: Option<PixelType>) -> Result<ImageOutput<'a>> {
        let format = match extension(path).as_str() {
            "npy" => Format::Array,
            other => match picture::Format::of_extension(other) {
                Some(format) => Format::Picture(format),
                None => {
                    let known = picture::EXTENSIONS;
                    let what =
                        format!("{}: unknown output extension '{other}'; known are npy, {known}", path.display());
                    return Err(Error::Usage(what));
                }
            },
        };
        if let (Format::Picture(format), Some(pixel)) = (format, pixel) {
            format.check(pixel, None).map_err(|what| Error::Usage(format!("{}: {what}", path.display())))?;
        }
        Ok(ImageOutput { path: OutputPath::new(path)?, format })
    }

    /// Whether an image of this type can be written.
    pub(crate) fn check(&self, pixel: PixelType, channels: u32) -> Result<()> {
        match self.format {
            Format::Array => Ok(()),
            Format::Picture(format) => {
                format.check(pixel, Some(channels)).map_err(|what| Error::input(self.path.path(), what))
            }
        }
    }

    /// Whether it is an array, which can hold anything.
    pub(crate) fn is_array(&self) -> bool {
        matches!(self.format, Format::Array)
    }

    /// Writes integers as an array of one dimension, of int64; only where it [is one](Self::is_array).
    pub(crate) fn write_integers(&self, integers: &[u64]) -> Result<()> {
        self.path.write(|file| Ok(array::write_integers(file, &[integers.len() as u64], integers)?))
    }

    /// Writes the image; at the path it appears whole or not at all.
    pub(crate) fn write(&self, image: &AnyImage<'_>) -> Result<()> {
        self.path.write(|file| match self.format {
            Format::Array => array::write(file, image),
            Format::Picture(format) => picture::write(file, format, image),
        })
    }
}

/// The extension in small letters, without its dot.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
