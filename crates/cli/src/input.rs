//! The image of a verb, read as its options ask for it.

use crate::args::Common;
use crate::error::{Error, Result};
use apron::{AnyImage, Image, Pixel};
use apron_core::{Accumulator, each_type};
use apron_files::Metadata;
use std::any::TypeId;
use std::io::{Cursor, Read};
use std::path::Path;

impl Common {
    /// Reads an image, in the type and the colours that the options ask for; `-` is the standard input.
    ///
    /// # Errors
    /// What reading it says, and a number that the asked type would have to round.
    pub(crate) fn read(&self, path: &Path) -> Result<AnyImage<'static>> {
        self.read_picture(path).map(|(image, _)| image)
    }

    /// Reads an image, and what its file says besides its pixels.
    ///
    /// # Errors
    /// As [`read`](Common::read).
    pub(crate) fn read_picture(&self, path: &Path) -> Result<(AnyImage<'static>, Metadata)> {
        let (image, metadata) = if path == Path::new("-") {
            let mut bytes = Vec::new();
            // No more than such images take: 16 bytes a pixel, and what else a file may hold.
            let most = self.max_pixels.saturating_mul(16).saturating_add(1 << 26);
            let read = std::io::stdin().lock().take(most).read_to_end(&mut bytes);
            read.map_err(|error| Error::Input(format!("standard input: {error}")))?;
            let name = Path::new("standard input");
            let image = apron_files::decode_image_as(name, Cursor::new(&bytes), self.max_pixels, self.in_type)?;
            (image, apron_files::decode_metadata(Cursor::new(&bytes)))
        } else {
            let image = apron_files::read_image_as(path, self.max_pixels, self.in_type)?;
            (image, apron_files::read_metadata(path))
        };
        let image = match image.shape().channels {
            2.. if self.grey => each_type!(image, image => Pixel::into_any(grey(&image)?)),
            _ => image,
        };
        Ok((image, metadata))
    }
}

/// OpenCV's weights of red, green and blue, in 32768ths.
const WEIGHTS: [i64; 3] = [9798, 19235, 3735];

/// The image in grey, as OpenCV's `cvtColor` makes it: integers by weights in 32768ths, rounded half up; floats by 0.299,
/// 0.587 and 0.114 in f32. Alpha is left out.
fn grey<T: Pixel>(image: &Image<'_, T>) -> apron::Result<Image<'static, T>> {
    let float = [TypeId::of::<f32>(), TypeId::of::<apron_core::f16>()].contains(&TypeId::of::<T>());
    let of = |pixel: &[T]| match *pixel {
        [red, green, blue, ..] if float => {
            let [red, green, blue] = [red, green, blue].map(T::to_f32);
            T::from_sum(Accumulator::from_f64(blue.mul_add(0.114, red.mul_add(0.299, green * 0.587)).into()))
        }
        [red, green, blue, ..] => {
            let weighted = [red, green, blue].map(|sample| sample.to_f64() as i64).into_iter().zip(WEIGHTS);
            let sum: i64 = weighted.map(|(sample, weight)| sample * weight).sum();
            T::from_sum(Accumulator::from_f64(((sum + (1 << 14)) >> 15) as f64))
        }
        _ => pixel[0],
    };
    let pixels = image.rows().flat_map(|row| row.chunks_exact(image.channels() as usize)).map(of);
    Image::new(image.width(), image.height(), 1, pixels.collect::<Vec<T>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)` of OpenCV 5.0 gives.
    #[test]
    fn grey_is_opencvs() {
        let colours = [1u8, 2, 3, 255, 0, 0, 0, 255, 0, 0, 0, 255, 200, 100, 50, 7, 250, 13];
        let image = Image::new(6, 1, 3, colours.to_vec()).unwrap();
        assert_eq!(grey(&image).unwrap().row(0), [2, 76, 150, 29, 124, 150]);
        let wide: Vec<u16> = colours.iter().map(|&sample| u16::from(sample) * 257).collect();
        let image = Image::new(6, 1, 3, wide).unwrap();
        assert_eq!(grey(&image).unwrap().row(0), [466, 19596, 38469, 7470, 31920, 38634]);
        let image = Image::new(2, 1, 3, vec![1.0f32, 2.0, 3.0, 0.25, -1.0, 8.0]).unwrap();
        assert_eq!(grey(&image).unwrap().row(0), [1.815, 0.39975]);
        // One that weights in 16384ths would round the other way.
        let image = Image::new(1, 1, 3, vec![5u8, 158, 90]).unwrap();
        assert_eq!(grey(&image).unwrap().row(0), [105]);
    }

    #[test]
    fn alpha_is_left_out() {
        let image = Image::new(2, 1, 4, vec![9u8, 9, 9, 0, 7, 7, 7, 128]).unwrap();
        assert_eq!(grey(&image).unwrap().row(0), [9, 7]);
        let image = Image::new(2, 1, 2, vec![-9i16, 5, 30, 6]).unwrap();
        assert_eq!(grey(&image).unwrap().row(0), [-9, 30]);
    }
}
