//! Reads the image of a verb according to its options.

use crate::args::Common;
use crate::error::{Error, Result};
use crate::report::complain;
use crate::room;
use apron::{AnyImage, Bool, Image, Pixel, PixelType};
use apron_core::f16;
use apron_files::{ImageOutput, Metadata, Page, PagesFile, ReadOptions};
use std::io::{Cursor, Read};
use std::path::Path;

impl Common {
    /// Reads the image that a verb works on: the page that was asked for, converted to the type and the colours of the
    /// options; `-` is the standard input. If a file has several pages and none was asked for, the first is read, with
    /// a warning.
    ///
    /// # Errors
    /// Errors of the file, and numbers that the requested type would have to round.
    pub(crate) fn read(&self, path: &Path) -> Result<AnyImage<'static>> {
        self.read_picture(path, false).map(|(image, _)| image)
    }

    /// Reads an image as [`read`](Common::read) does, and the metadata of its file; with `complex` also one of complex
    /// numbers, of which the metadata tell.
    ///
    /// # Errors
    /// As [`read`](Common::read).
    pub(crate) fn read_picture(&self, path: &Path, complex: bool) -> Result<(AnyImage<'static>, Metadata)> {
        let options = self.options(self.page.unwrap_or(1), self.in_type, complex);
        let (page, metadata) = self.one(path, &options, "a file of this kind")?;
        if self.page.is_none() {
            self.warn(path, page.pages, "; --page N reads another, and --pages of a filter takes all");
        }
        Ok((self.coloured(page.image)?, metadata))
    }

    /// Opens a file of several images for a verb that takes each; with `complex` also those of complex numbers.
    ///
    /// # Errors
    /// Errors of the file, and of usage for the standard input.
    pub(crate) fn open_pages(&self, path: &Path, complex: bool) -> Result<PagesFile> {
        if path == Path::new("-") {
            return Err(Error::Usage("--pages reads a file page by page, and IN is -, the standard input".into()));
        }
        Ok(PagesFile::open(path, self.options(1, self.in_type, complex))?)
    }

    /// Opens a file of planes for a verb that takes volumes, as [`open_pages`](Common::open_pages) does.
    ///
    /// # Errors
    /// As [`open_pages`](Common::open_pages).
    pub(crate) fn open_volumes(&self, path: &Path, complex: bool) -> Result<PagesFile> {
        if path == Path::new("-") {
            return Err(Error::Usage("--volume reads a file plane by plane, and IN is -, the standard input".into()));
        }
        Ok(PagesFile::open_volumes(path, self.options(1, self.in_type, complex))?)
    }

    /// Reads a page, from 1, as [`read_picture`](Common::read_picture) does.
    ///
    /// # Errors
    /// As [`read`](Common::read).
    pub(crate) fn read_one(&self, file: &mut PagesFile, page: u32) -> Result<(AnyImage<'static>, Metadata)> {
        let (image, metadata) = file.read(page)?;
        Ok((self.coloured(image)?, metadata))
    }

    /// Reads a second image of a verb, converted to the type and the colours of the options: the first page, with a
    /// warning if there are more.
    ///
    /// # Errors
    /// As [`read`](Common::read), also for a large image if the first one is read strip by strip: the second is read
    /// whole.
    pub(crate) fn read_beside(&self, path: &Path) -> Result<AnyImage<'static>> {
        self.first_page(path, self.in_type).and_then(|image| self.coloured(image))
    }

    /// Reads an image that selects pixels of the first one: its first page, in the file's type and channels.
    ///
    /// # Errors
    /// As [`read`](Common::read).
    pub(crate) fn read_unchanged(&self, path: &Path) -> Result<AnyImage<'static>> {
        self.first_page(path, None)
    }

    fn first_page(&self, path: &Path, pixel: Option<PixelType>) -> Result<AnyImage<'static>> {
        let what = format!("{} beside another", name(path).display());
        let (page, _) = self.one(path, &self.options(1, pixel, false), &what)?;
        self.warn(path, page.pages, "");
        Ok(page.image)
    }

    /// Reads a page of a file or of the standard input, and its metadata, if `--memory` suffices: `what` says why the
    /// image is read whole.
    fn one(&self, path: &Path, options: &ReadOptions, what: &str) -> Result<(Page, Metadata)> {
        let fits = |bytes: Option<u64>, what| room::check_whole(bytes.unwrap_or(0), self.memory, what);
        if path != Path::new("-") {
            // Of an image that is too large in any case its own error is told.
            let refused = || options.page == 1 && apron_files::pixels(path).is_some_and(|all| all > options.max_pixels);
            if self.memory.is_some() && !refused() {
                fits(apron_files::sample_bytes(path, options), what)?;
            }
            return Ok((apron_files::read_page(path, options)?, apron_files::read_metadata(path, options.page)));
        }
        let mut bytes = Vec::new();
        // The limit on bytes read: 16 bytes per pixel, and 64 MiB for the rest of the file.
        let most = options.max_pixels.saturating_mul(16).saturating_add(1 << 26);
        let read = std::io::stdin().lock().take(most).read_to_end(&mut bytes);
        read.map_err(|error| Error::Input(format!("standard input: {error}")))?;
        if self.memory.is_some() {
            fits(apron_files::decoded_bytes(Cursor::new(&bytes), options), "the standard input")?;
        }
        let page = apron_files::decode_page(name(path), Cursor::new(&bytes), options)?;
        Ok((page, apron_files::decode_metadata(Cursor::new(&bytes), options.page)))
    }

    /// Returns how a page is read. Complex numbers have no colours.
    fn options(&self, page: u32, pixel: Option<PixelType>, complex: bool) -> ReadOptions {
        ReadOptions { page, pixel, complex: complex && !self.grey, ..ReadOptions::new(self.max_pixels) }
    }

    /// Converts the image to grey, if that was asked for.
    fn coloured(&self, image: AnyImage<'static>) -> Result<AnyImage<'static>> {
        Ok(match image.shape().channels {
            2.. if self.grey => grey(&image)?,
            _ => image,
        })
    }

    /// Warns that pages after the first are not read.
    pub(crate) fn warn(&self, path: &Path, pages: u32, hint: &str) {
        if pages > 1 && !self.quiet {
            complain(&format!("apron: warning: {}: page 1 of {pages} is read{hint}", name(path).display()));
        }
    }

    /// Warns that the result's format does not hold the image's colour profile.
    pub(crate) fn warn_of_profile(&self, output: &ImageOutput<'_>) {
        if output.drops_profile() && !self.quiet {
            let path = output.path().display();
            complain(&format!(
                "apron: warning: {path}: the colour profile is not kept; PNG, JPEG and TIFF files hold one"
            ));
        }
    }
}

/// Returns the name of an image in messages.
pub(crate) fn name(path: &Path) -> &Path {
    if path == Path::new("-") { Path::new("standard input") } else { path }
}

/// OpenCV's weights of red, green and blue, in 32768ths.
const WEIGHTS: [i128; 3] = [9798, 19235, 3735];

/// Weighs the colours of a pixel of integers, and rounds half up.
fn weighed<T: Into<i128>>(colours: [T; 3]) -> i128 {
    let sum: i128 = colours.into_iter().zip(WEIGHTS).map(|(sample, weight)| sample.into() * weight).sum();
    (sum + (1 << 14)) >> 15
}

/// Converts the image to grey, as OpenCV's `cvtColor`: integers with weights in 32768ths, rounded half up; floats with
/// 0.299, 0.587 and 0.114 in f32, and f64 in f64. Alpha is dropped.
fn grey(image: &AnyImage<'_>) -> apron::Result<AnyImage<'static>> {
    let single = |[red, green, blue]: [f32; 3]| blue.mul_add(0.114, red.mul_add(0.299, green * 0.587));
    // The weights add up to 1, so results stay in the range of the type.
    match image {
        AnyImage::Bool(image) => of_pixels(image, |rgb| Bool::from(weighed(rgb.map(bool::from)) != 0)),
        AnyImage::U8(image) => of_pixels(image, |rgb| weighed(rgb) as u8),
        AnyImage::I8(image) => of_pixels(image, |rgb| weighed(rgb) as i8),
        AnyImage::U16(image) => of_pixels(image, |rgb| weighed(rgb) as u16),
        AnyImage::I16(image) => of_pixels(image, |rgb| weighed(rgb) as i16),
        AnyImage::U32(image) => of_pixels(image, |rgb| weighed(rgb) as u32),
        AnyImage::I32(image) => of_pixels(image, |rgb| weighed(rgb) as i32),
        AnyImage::U64(image) => of_pixels(image, |rgb| weighed(rgb) as u64),
        AnyImage::I64(image) => of_pixels(image, |rgb| weighed(rgb) as i64),
        AnyImage::F16(image) => of_pixels(image, |rgb| f16::from_f32(single(rgb.map(f16::to_f32)))),
        AnyImage::F32(image) => of_pixels(image, single),
        AnyImage::F64(image) => {
            of_pixels(image, |[red, green, blue]| blue.mul_add(0.114, red.mul_add(0.299, green * 0.587)))
        }
    }
}

/// Converts colours, or grey with alpha, to one channel.
fn of_pixels<T: Pixel>(image: &Image<'_, T>, grey: impl Fn([T; 3]) -> T) -> apron::Result<AnyImage<'static>> {
    let of = |pixel: &[T]| match *pixel {
        [red, green, blue, ..] => grey([red, green, blue]),
        _ => pixel[0],
    };
    let pixels = image.rows().flat_map(|row| row.chunks_exact(image.channels() as usize)).map(of);
    Ok(T::into_any(Image::new(image.width(), image.height(), 1, pixels.collect::<Vec<T>>())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the grey of pixels of `channels` samples.
    fn of<T: Pixel>(channels: usize, samples: &[T]) -> Vec<T> {
        let image = Image::new((samples.len() / channels) as u32, 1, channels as u32, samples.to_vec()).unwrap();
        T::from_any(grey(&T::into_any(image)).unwrap()).unwrap().row(0).to_vec()
    }

    /// Expected values are from `cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)` of OpenCV 5.0.
    #[test]
    fn grey_is_opencvs() {
        let colours = [1u8, 2, 3, 255, 0, 0, 0, 255, 0, 0, 0, 255, 200, 100, 50, 7, 250, 13];
        assert_eq!(of(3, &colours), [2, 76, 150, 29, 124, 150]);
        assert_eq!(of(3, &colours.map(|sample| u16::from(sample) * 257)), [466, 19596, 38469, 7470, 31920, 38634]);
        assert_eq!(of(3, &[1.0f32, 2.0, 3.0, 0.25, -1.0, 8.0]), [1.815, 0.39975]);
        // A pixel that weights in 16384ths would round the other way.
        assert_eq!(of(3, &[5u8, 158, 90]), [105]);
    }

    #[test]
    fn grey_has_all_bits_of_its_type() {
        assert_eq!(
            of(3, &[0.0f64, 0.9, 0.0, 1.0 + f64::EPSILON, 0.0, 0.0]),
            [0.587 * 0.9, 0.299 * (1.0 + f64::EPSILON)]
        );
        assert_eq!(of(3, &[i64::MAX; 3]), [i64::MAX]);
        assert_eq!(of(3, &[i64::MIN, i64::MIN, i64::MIN]), [i64::MIN]);
        assert_eq!(of(3, &[u64::MAX; 3]), [u64::MAX]);
        // 2^60 times the weight of green, and 0.587 of 1 rounded.
        assert_eq!(of(3, &[0i64, (1 << 60) + 1, 0]), [(19235 << 45) + 1]);
        assert_eq!(of(3, &[-3i32, -3, -3]), [-3]);
        assert_eq!(of(3, &[true, false, true, false, true, false].map(Bool::from)), [false, true].map(Bool::from));
    }

    #[test]
    fn alpha_is_left_out() {
        assert_eq!(of(4, &[9u8, 9, 9, 0, 7, 7, 7, 128]), [9, 7]);
        assert_eq!(of(2, &[-9i16, 5, 30, 6]), [-9, 30]);
    }
}
