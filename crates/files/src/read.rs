//! Readers of images, masks, taps, edges and weights.

use crate::array::Numbers;
use crate::convert::convert;
use crate::error::{Error, Result};
use crate::output::extension;
use crate::{array, bulk, picture, tiff_rows, tiff_tags};
use apron_core::{AnyImage, Edges, Mask, PixelType, Taps};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A source of bytes. Used as a trait object, so that the decoders are compiled once.
pub(super) trait Source: Read + Seek {
    /// Fills `bytes` from here on.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.read_exact(bytes)
    }
}

/// Any source that is no file.
pub(super) struct Stream<S>(pub(super) S);

impl<S: Read> Read for Stream<S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl<S: Seek> Seek for Stream<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

impl<S: Read + Seek> Source for Stream<S> {}

impl Source for File {
    /// Reads large parts by several threads.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let position = self.stream_position()?;
        bulk::read(self, bytes, position)?;
        self.seek(SeekFrom::Start(position + bytes.len() as u64)).map(drop)
    }
}

/// Maximum number of taps of a mask file.
const MAX_TAPS: u64 = 1 << 28;

/// Options of reading an image.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Largest accepted image, in pixels.
    pub max_pixels: u64,
    /// Page number, from 1; only TIFF has several pages.
    pub page: u32,
    /// Type that samples are [converted](convert) to, which also allows arrays of numbers that no sample type holds.
    /// `None` for the file's type, or one that holds its numbers exactly.
    pub pixel: Option<PixelType>,
    /// Whether arrays of complex numbers are taken, too, unless samples are converted: as images of f32 or f64
    /// with two channels for each number, its real and its imaginary part. The [`Metadata`](crate::Metadata) say
    /// whether it is such an image.
    pub complex: bool,
}

impl ReadOptions {
    /// Options for the first page with at most `max_pixels` pixels, in the file's type, without complex numbers.
    pub fn new(max_pixels: u64) -> ReadOptions {
        ReadOptions { max_pixels, page: 1, pixel: None, complex: false }
    }
}

/// A page of a file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Page {
    /// The image of the page.
    pub image: AnyImage<'static>,
    /// Number of pages of the file: more than 1 only in TIFF.
    pub pages: u32,
}

/// Returns the number of pixels of an image, or of the first of several, from its header; `None` for a
/// file that is no image.
pub fn pixels(path: &Path) -> Option<u64> {
    #[cfg(feature = "zarr")]
    if is_zarr(path) {
        return crate::zarr::pixels(path);
    }
    let mut file = open(path).ok()?;
    if starts_as_array(path, &mut file).ok()? {
        return array::pixels(&mut file);
    }
    let reader = image::ImageReader::new(std::io::BufReader::new(file)).with_guessed_format().ok()?;
    // Decoders of other crates may panic on hostile files.
    let (width, height) = catch_unwind(AssertUnwindSafe(|| reader.into_dimensions().ok())).ok()??;
    Some(width as u64 * height as u64)
}

/// Returns the bytes of the samples of a page, from the header of its file; `None` for a file that is no image, and
/// for one that the options do not take.
pub fn sample_bytes(path: &Path, options: &ReadOptions) -> Option<u64> {
    #[cfg(feature = "zarr")]
    if is_zarr(path) {
        return crate::zarr::sample_bytes(path);
    }
    bytes_of(path, &mut open(path).ok()?, options)
}

/// Returns the bytes of the samples of a page of `file`, as [`sample_bytes`] does.
pub fn decoded_bytes(file: impl Read + Seek, options: &ReadOptions) -> Option<u64> {
    bytes_of(Path::new(""), &mut Stream(file), options)
}

fn bytes_of(path: &Path, file: &mut dyn Source, options: &ReadOptions) -> Option<u64> {
    // Decoders of other crates may panic on hostile files.
    let of = AssertUnwindSafe(|| {
        if starts_as_array(path, file).ok()? {
            return array::item_bytes(file, options.complex);
        }
        if picture::is_tiff(file).ok()? {
            let tags = tiff_tags::page(path, file, options.page).ok()?;
            return tiff_rows::sample_bytes(file, &tags);
        }
        let reader = image::ImageReader::new(std::io::BufReader::new(file)).with_guessed_format().ok()?;
        Some(image::ImageDecoder::total_bytes(&reader.into_decoder().ok()?))
    });
    catch_unwind(of).ok()?
}

/// Reads an image of at most `max_pixels` pixels, the first page if there are several. The format is recognised by
/// content.
///
/// # Errors
/// [`Error::Read`] if the path is not a regular file or cannot be read, and the errors of [`decode_image`].
pub fn read_image(path: &Path, max_pixels: u64) -> Result<AnyImage<'static>> {
    read_page(path, &ReadOptions::new(max_pixels)).map(|page| page.image)
}

/// Reads a page, as [`read_image`] does.
///
/// # Errors
/// As [`read_image`], and [`Error::NoPage`].
pub fn read_page(path: &Path, options: &ReadOptions) -> Result<Page> {
    #[cfg(feature = "zarr")]
    if is_zarr(path) {
        return crate::zarr::read_page(path, options);
    }
    page_of(path, &mut open(path)?, options)
}

/// Reads the image in `file`, the first page if there are several; errors name it `path`.
///
/// A panic of a decoder is caught, but reported on stderr unless the program has set a panic hook.
///
/// # Errors
/// [`Error::TooLarge`] for more than `max_pixels` pixels, [`Error::Complex`] for complex numbers that the options do
/// not take, [`Error::Content`] for a file that is broken or not supported, [`Error::Decoder`] if its decoder panicked,
/// [`Error::Read`] if it cannot be read.
pub fn decode_image(path: &Path, file: impl Read + Seek, max_pixels: u64) -> Result<AnyImage<'static>> {
    decode_page(path, file, &ReadOptions::new(max_pixels)).map(|page| page.image)
}

/// Reads a page of `file`, as [`decode_image`] does.
///
/// # Errors
/// As [`decode_image`], and [`Error::NoPage`].
pub fn decode_page(path: &Path, file: impl Read + Seek, options: &ReadOptions) -> Result<Page> {
    page_of(path, &mut Stream(file), options)
}

fn page_of(path: &Path, file: &mut dyn Source, options: &ReadOptions) -> Result<Page> {
    let &ReadOptions { max_pixels, page, pixel, complex } = options;
    let array = starts_as_array(path, file)?;
    // Decoders of other crates may panic on hostile files.
    let (image, pages) = guarded(path, || match array {
        true if page != 1 => Err(Error::NoPage { path: path.into(), page, pages: 1 }),
        true => Ok((array::read(path, file, max_pixels, complex && pixel.is_none())?, 1)),
        false => picture::read(path, file, page, max_pixels),
    })?;
    let image = match pixel {
        Some(pixel) => convert(image, pixel).map_err(|error| Error::content(path, error))?,
        None => image,
    };
    Ok(Page { image, pages })
}

/// Reads a mask from a `.npy` file of real numbers with one row or two dimensions.
///
/// # Errors
/// [`Error::Read`] if the path is not a regular file or cannot be read, and the errors of [`decode_mask`].
pub fn read_mask(path: &Path) -> Result<Mask> {
    decode_mask(path, open(path)?)
}

/// Reads the mask from the `.npy` data in `file`; errors name it `path`.
///
/// # Errors
/// [`Error::Content`] for a file that is broken or is not a mask, and for integers that f64 would round.
pub fn decode_mask(path: &Path, file: impl Read + Seek) -> Result<Mask> {
    let Numbers { shape, values: taps, rounded } = numbers(path, &mut Stream(file))?;
    check_rounded(path, "tap", rounded)?;
    let (height, width) = match shape[..] {
        [width] => (1, width),
        [height, width] => (height, width),
        _ => return Err(Error::content(path, format!("a mask has 1 or 2 dimensions, not shape {shape:?}"))),
    };
    let side = |side: u64| u32::try_from(side).unwrap_or(u32::MAX);
    // An invalid mask in a file is an input error, not a usage error.
    Mask::from_f64(side(width), side(height), taps).map_err(|error| Error::content(path, error))
}

/// Reads the taps of one axis from a `.npy` file of one dimension.
///
/// # Errors
/// As [`read_mask`].
pub fn read_taps(path: &Path) -> Result<Taps> {
    let Numbers { shape, values: taps, rounded } = numbers(path, &mut open(path)?)?;
    check_rounded(path, "tap", rounded)?;
    if shape.len() != 1 {
        return Err(Error::content(path, format!("taps have 1 dimension, not shape {shape:?}")));
    }
    Taps::from_f64(taps).map_err(|error| Error::content(path, error))
}

/// Reads the edges of bins from a `.npy` file of one dimension.
///
/// # Errors
/// As [`read_mask`], and [`Error::Content`] for edges that do not increase.
pub fn read_edges(path: &Path) -> Result<Edges> {
    let Numbers { shape, values: edges, rounded } = numbers(path, &mut open(path)?)?;
    if shape.len() != 1 {
        return Err(Error::content(path, format!("edges have 1 dimension, not shape {shape:?}")));
    }
    check_rounded(path, "edge", rounded)?;
    Edges::new(edges).map_err(|error| Error::content(path, error))
}

/// Reads weights from a `.npy` file: real numbers of this shape, one for each pixel or row.
///
/// # Errors
/// [`Error::Read`]; [`Error::Content`] for a file that is no such array, and for integers that f64 would round.
pub fn read_weights(path: &Path, of: &[u64]) -> Result<Vec<f64>> {
    let count = of.iter().product::<u64>();
    let Numbers { shape, values: weights, rounded } = numbers_up_to(path, &mut open(path)?, count.max(MAX_TAPS))?;
    check_rounded(path, "weight", rounded)?;
    if shape[..] != *of {
        let one = if of.len() == 1 { "row" } else { "pixel" };
        return Err(Error::content(path, format!("its shape is {shape:?}, but weights must have {of:?}, one a {one}")));
    }
    Ok(weights)
}

/// Refuses an integer that f64 has rounded.
fn check_rounded(path: &Path, what: &str, rounded: Option<i128>) -> Result<()> {
    rounded.map_or(Ok(()), |number| {
        let limit = "beyond 2^53 integers that f64 holds are";
        Err(Error::content(path, format!("{what} {number} is not taken; {limit}")))
    })
}

fn numbers(path: &Path, file: &mut dyn Source) -> Result<Numbers> {
    numbers_up_to(path, file, MAX_TAPS)
}

fn numbers_up_to(path: &Path, file: &mut dyn Source, most: u64) -> Result<Numbers> {
    if !starts_as_array(path, file)? {
        return Err(Error::content(path, "not a .npy file"));
    }
    guarded(path, || array::read_numbers(path, file, most))
}

/// Whether a path is a folder that is one image, by the names in it: an array or a group of Zarr, or one
/// that ends with `.zarr`.
pub fn is_zarr(path: &Path) -> bool {
    let named = || [".zarray", ".zgroup", "zarr.json"].iter().any(|name| path.join(name).is_file());
    path.is_dir() && (extension(path) == "zarr" || named())
}

pub(super) fn open(path: &Path) -> Result<File> {
    // A pipe has no length to check a header against, and a device has no end; opening a pipe blocks until there is a
    // writer.
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_file() => File::open(path).map_err(|error| Error::read(path, error)),
        Ok(_) if cfg!(not(feature = "zarr")) && is_zarr(path) => Err(Error::no_zarr(path)),
        Ok(_) => Err(Error::content(path, "not a regular file")),
        Err(error) => Err(Error::read(path, error)),
    }
}

pub(super) fn starts_as_array(path: &Path, file: &mut dyn Source) -> Result<bool> {
    let mut start = Vec::new();
    let read = Read::take(&mut *file, array::MAGIC.len() as u64).read_to_end(&mut start).and_then(|_| file.rewind());
    read.map_err(|error| Error::read(path, error))?;
    if start.is_empty() {
        return Err(Error::content(path, "the file is empty"));
    }
    Ok(start == array::MAGIC)
}

/// Runs a decoder, and turns a panic into an error.
pub(super) fn guarded<T>(path: &Path, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Decoder { path: path.into(), panic: text.unwrap_or("a panic").into() })
    })
}
