//! EXIF orientation: cameras store pictures as their sensor was held, and record how to rotate them.

use apron_core::{AnyImage, Result, Shape};
use image::metadata::Orientation;

/// Returns an image as it is seen: its first columns and rows, where tiles extend beyond them, turned.
pub(super) fn seen(
    image: AnyImage<'static>,
    size: Option<[u32; 2]>,
    orientation: Orientation,
) -> Result<AnyImage<'static>> {
    let image = match size {
        Some([width, height]) => cut(&image, width, height)?,
        None => image,
    };
    upright(image, orientation)
}

/// Returns the first columns and rows of an image.
fn cut(image: &AnyImage<'_>, width: u32, height: u32) -> Result<AnyImage<'static>> {
    let (whole, bytes) = (image.shape(), image.bytes());
    let row = |width: u32| width as usize * whole.channels as usize * image.pixel_type().size_bytes();
    AnyImage::from_bytes(image.pixel_type(), Shape::new(width, height, whole.channels)?, |out| {
        for (out, bytes) in out.chunks_exact_mut(row(width)).zip(bytes.chunks_exact(row(whole.width))) {
            out.copy_from_slice(&bytes[..out.len()]);
        }
        Ok(())
    })
}

/// Whether columns become rows when a picture is turned upright.
pub(super) fn lies(orientation: Orientation) -> bool {
    !matches!(
        orientation,
        Orientation::NoTransforms | Orientation::FlipHorizontal | Orientation::FlipVertical | Orientation::Rotate180
    )
}

/// Rotates and flips a picture to be upright.
///
/// # Errors
/// Errors of making an image.
pub(super) fn upright(image: AnyImage<'static>, orientation: Orientation) -> Result<AnyImage<'static>> {
    if orientation == Orientation::NoTransforms {
        return Ok(image);
    }
    let Shape { width, height, channels } = image.shape();
    let (x_end, y_end) = (width - 1, height - 1);
    // Source of the pixel at (x, y).
    let from = |x: u32, y: u32| match orientation {
        Orientation::NoTransforms => (x, y),
        Orientation::FlipHorizontal => (x_end - x, y),
        Orientation::FlipVertical => (x, y_end - y),
        Orientation::Rotate180 => (x_end - x, y_end - y),
        Orientation::Rotate90 => (y, y_end - x),
        Orientation::Rotate270 => (x_end - y, x),
        Orientation::Rotate90FlipH => (y, x),
        Orientation::Rotate270FlipH => (x_end - y, y_end - x),
    };
    let shape = if lies(orientation) { Shape::new(height, width, channels)? } else { image.shape() };
    let size = image.pixel_type().size_bytes() * channels as usize;
    let bytes = image.bytes();
    AnyImage::from_bytes(image.pixel_type(), shape, |out| {
        let places = (0..shape.height).flat_map(|y| (0..shape.width).map(move |x| (x, y)));
        for (out, (x, y)) in out.chunks_exact_mut(size).zip(places) {
            let (x, y) = from(x, y);
            out.copy_from_slice(&bytes[(y as usize * width as usize + x as usize) * size..][..size]);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::Image;

    #[test]
    fn each_orientation_of_exif() {
        // EXIF's numbers say where the file's first row and first column belong: 1 top left, 2 top right, 3 bottom
        // right, 4 bottom left, 5 left top, 6 right top, 7 right bottom, 8 left bottom.
        let stored: [(u8, [u32; 2], &[u16]); 8] = [
            (1, [3, 2], &[1, 2, 3, 4, 5, 6]),
            (2, [3, 2], &[3, 2, 1, 6, 5, 4]),
            (3, [3, 2], &[6, 5, 4, 3, 2, 1]),
            (4, [3, 2], &[4, 5, 6, 1, 2, 3]),
            (5, [2, 3], &[1, 4, 2, 5, 3, 6]),
            (6, [2, 3], &[3, 6, 2, 5, 1, 4]),
            (7, [2, 3], &[6, 3, 5, 2, 4, 1]),
            (8, [2, 3], &[4, 1, 5, 2, 6, 3]),
        ];
        for (number, [width, height], samples) in stored {
            let image = AnyImage::U16(Image::new(width, height, 1, samples.to_vec()).unwrap());
            let found = upright(image, Orientation::from_exif(number).unwrap()).unwrap();
            assert_eq!(found, AnyImage::U16(Image::new(3, 2, 1, vec![1, 2, 3, 4, 5, 6]).unwrap()), "{number}");
        }
    }
}
