//! Metadata of pictures: colour profile and pixel density.

use crate::read::{Source, Stream};
use crate::upright::lies;
use crate::{array, grey_bmp, jpeg_file};
use image::metadata::Orientation;
use image::{ImageDecoder, ImageReader};
use serde_json::{Map, Value};
use std::io::{BufReader, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tiff::decoder::Decoder;
use tiff::decoder::ifd;
use tiff::tags::Tag;

/// Metadata that are copied from an input to its output: the ICC profile and the pixel density of PNG, JPEG
/// and TIFF; the density of BMP; chunks, codecs, attributes and names of dimensions of Zarr; of `.npy`,
/// whether numbers are complex, and whether the first dimension counts volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The ICC profile.
    pub icc: Option<Vec<u8>>,
    /// Pixels per inch, along rows and along columns.
    pub density: Option<(f64, f64)>,
    /// Whether pairs of channels are the real and the imaginary parts of complex numbers: of an array of shape (height,
    /// width) or (height, width, 1 to 2), which has half as many channels.
    pub complex: bool,
    /// Whether the image is a plane of one of the volumes that the first of four dimensions counts, be there only one.
    pub of_volumes: bool,
    /// Metadata of a Zarr array besides its samples.
    pub(crate) zarr: Option<Box<Kept>>,
}

/// Metadata of an array of Zarr.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "zarr"), allow(dead_code))] // builds without Zarr have none
pub(crate) struct Kept {
    /// The array's metadata.
    pub(crate) array: Map<String, Value>,
    /// Attributes of the OME-Zarr image, and the array's path in it.
    pub(crate) group: Option<(Map<String, Value>, String)>,
    /// Number of dimensions before the planes of a volume, or the rows of an image.
    pub(crate) leading: usize,
    /// Whether there is a dimension of planes.
    pub(crate) volume: bool,
    /// Size of the dimension of the channels, if there is one.
    pub(crate) channels: Option<u32>,
}

/// Reads the metadata of a page, from 1; empty if the file cannot be read or is no image.
pub fn read_metadata(path: &Path, page: u32) -> Metadata {
    #[cfg(feature = "zarr")]
    if crate::read::is_zarr(path) {
        return Metadata { zarr: crate::zarr::kept(path).map(Box::new), ..Metadata::default() };
    }
    let regular = std::fs::metadata(path).is_ok_and(|facts| facts.is_file());
    let file = if regular { std::fs::File::open(path).ok() } else { None };
    file.map(|file| decode_metadata(file, page)).unwrap_or_default()
}

/// Reads the metadata of a page of the picture in `file`, as [`read_metadata`].
pub fn decode_metadata(file: impl Read + Seek, page: u32) -> Metadata {
    // Decoders of other crates may panic on hostile files.
    catch_unwind(AssertUnwindSafe(|| decode(&mut Stream(file), page))).unwrap_or_default()
}

fn decode(file: &mut dyn Source, page: u32) -> Metadata {
    let mut start = [0; 18];
    let whole = file.read_exact(&mut start).and_then(|()| file.rewind());
    if whole.is_err() {
        return Metadata::default();
    }
    if start.starts_with(array::MAGIC) {
        return Metadata { complex: array::is_complex(file), ..Metadata::default() };
    }
    if let [b'I', b'I', ..] | [b'M', b'M', ..] = start {
        return of_tiff(file, page).unwrap_or_default();
    }
    let mut found = || {
        if start.starts_with(&jpeg_file::MAGIC) {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).ok()?;
            return Some(jpeg_file::icc(&bytes));
        }
        let reader = ImageReader::new(BufReader::new(&mut *file)).with_guessed_format().ok()?;
        let mut decoder = reader.into_decoder().ok()?;
        Some((decoder.icc_profile().ok().flatten(), decoder.orientation().ok()))
    };
    let (icc, turned) = found().unwrap_or_default();
    let density = match start {
        [0x89, b'P', b'N', b'G', ..] => file.rewind().ok().and_then(|()| of_png(file)),
        [b'B', b'M', ..] => grey_bmp::density(file).map(|(across, down)| (across.into(), down.into())).map(per_inch),
        // The JFIF segment comes first: unit at byte 13 of the file, then the density along rows and columns.
        [0xff, 0xd8, 0xff, 0xe0, _, _, b'J', b'F', b'I', b'F', 0, _, _, unit, ..] => {
            let of = |at: usize| f64::from(u16::from_be_bytes([start[at], start[at + 1]]));
            match unit {
                1 => Some((of(14), of(16))),
                2 => Some((of(14) * 2.54, of(16) * 2.54)),
                _ => None,
            }
        }
        _ => None,
    };
    let density = density.filter(|(across, down)| *across > 0.0 && *down > 0.0);
    Metadata { icc, density: density.map(|density| upright(density, turned)), ..Metadata::default() }
}

fn of_png(file: &mut dyn Source) -> Option<(f64, f64)> {
    let reader = png::Decoder::new(BufReader::new(file)).read_info().ok()?;
    let density = reader.info().pixel_dims.filter(|density| density.unit == png::Unit::Meter)?;
    Some(per_inch((density.xppu.into(), density.yppu.into())))
}

/// Returns the density of a picture that is turned when it is read: of one that lies on its side, the other way round.
fn upright((across, down): (f64, f64), turned: Option<Orientation>) -> (f64, f64) {
    if turned.is_some_and(lies) { (down, across) } else { (across, down) }
}

/// Converts from pixels per metre.
fn per_inch((across, down): (f64, f64)) -> (f64, f64) {
    (across * METRES, down * METRES)
}

/// Reads the metadata of a page of a TIFF file, from 1; `None` if it cannot be read.
///
/// Uses the crate `tiff`: the decoder of `image` returns no density, and finds no profile.
pub(super) fn of_tiff(file: &mut dyn Source, page: u32) -> Option<Metadata> {
    let mut decoder = Decoder::new(BufReader::new(file)).ok()?;
    decoder.seek_to_image(page.checked_sub(1)? as usize).ok()?;
    let icc = decoder.get_tag_u8_vec(Tag::IccProfile).ok();
    // 2 is the inch, which is also the default; 3 is the centimetre.
    let inches = match decoder.find_tag_unsigned(Tag::ResolutionUnit) {
        Ok(None | Some(2u16)) => Some(1.0),
        Ok(Some(3)) => Some(2.54),
        _ => None,
    };
    let mut of = |tag| match decoder.find_tag(tag) {
        Ok(Some(ifd::Value::Rational(pixels, of))) => Some(f64::from(pixels) / f64::from(of) * inches?),
        _ => None,
    };
    let density = of(Tag::XResolution).zip(of(Tag::YResolution));
    let density = density.filter(|(across, down)| [across, down].iter().all(|of| of.is_finite() && **of > 0.0));
    let turned = decoder.find_tag_unsigned(Tag::Orientation).ok().flatten().and_then(Orientation::from_exif);
    Some(Metadata { icc, density: density.map(|density| upright(density, turned)), ..Metadata::default() })
}

/// Metres per inch.
const METRES: f64 = 0.0254;

impl Metadata {
    /// Returns the profile if it fits an image of this many channels: one for colours does not fit grey,
    /// nor the other way round.
    pub(crate) fn icc_for(&self, channels: u32) -> Option<&[u8]> {
        let space: &[u8] = if channels < 3 { b"GRAY" } else { b"RGB " };
        // The colour space is at byte 16 of the profile's header.
        self.icc.as_deref().filter(|icc| icc.get(16..20) == Some(space))
    }

    /// Returns the density in pixels per metre, as PNG and BMP store it.
    pub(crate) fn pixels_per_metre(&self) -> Option<(u32, u32)> {
        let (across, down) = self.density?;
        // Both formats have 31 bits, and 0 is no density.
        let of = |density: f64| (density / METRES).round().clamp(1.0, i32::MAX.into()) as u32;
        Some((of(across), of(down)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use tiff::encoder::{Rational, TiffEncoder, colortype};

    #[test]
    fn the_density_is_turned_as_the_picture_is() {
        for (orientation, density) in
            [(1u16, (100.0, 50.0)), (3, (100.0, 50.0)), (6, (50.0, 100.0)), (8, (50.0, 100.0))]
        {
            let mut file = Cursor::new(Vec::new());
            let mut encoder = TiffEncoder::new(&mut file).unwrap();
            let mut image = encoder.new_image::<colortype::Gray8>(2, 1).unwrap();
            image.encoder().write_tag(Tag::Orientation, orientation).unwrap();
            image.resolution_unit(tiff::tags::ResolutionUnit::Inch);
            image.x_resolution(Rational { n: 100, d: 1 });
            image.y_resolution(Rational { n: 50, d: 1 });
            image.write_data(&[1, 2]).unwrap();
            file.set_position(0);
            assert_eq!(decode_metadata(file, 1).density, Some(density), "TIFF {orientation}");

            // JFIF with 100 x 50 dots per inch, then the orientation in EXIF.
            let image = apron_core::Image::new(8, 8, 1, vec![7u8; 64]).unwrap();
            let metadata = Metadata { density: Some((100.0, 50.0)), ..Metadata::default() };
            let mut jpeg = Vec::new();
            jpeg_file::write(&mut jpeg, &apron_core::Pixel::into_any(image), 90, &metadata).unwrap();
            let mut exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
            exif.extend([orientation as u8, 0, 0, 0, 0, 0, 0, 0]);
            jpeg.splice(20..20, exif);
            assert_eq!(decode_metadata(Cursor::new(jpeg), 1).density, Some(density), "JPEG {orientation}");
        }
    }

    #[test]
    fn a_density_near_0_is_not_0_in_files() {
        let metadata = Metadata { density: Some((0.3, 0.001)), ..Metadata::default() };
        assert_eq!(metadata.pixels_per_metre(), Some((12, 1)));
        let image = apron_core::Image::new(8, 8, 1, vec![7u8; 64]).unwrap();
        let mut jpeg = Vec::new();
        jpeg_file::write(&mut jpeg, &apron_core::Pixel::into_any(image), 90, &metadata).unwrap();
        assert_eq!(jpeg[13..18], [1, 0, 1, 0, 1]);
    }
}
