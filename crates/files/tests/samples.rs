//! TIFF files of grey, RGB and RGBA with samples of all types, together or in planes.
#![allow(missing_docs)]

use apron_core::{AnyImage, PixelType, Shape};
use apron_files::{ImageOutput, RowsFile, decode_image, read_image};
use std::io::Cursor;
use std::path::Path;
use tiff::encoder::{TiffEncoder, TiffKind, TiffKindBig};
use tiff::tags::Tag;

type File = Cursor<Vec<u8>>;

/// Columns and rows.
const SIDES: (u32, u32) = (3, 5);

/// As TIFF numbers them: unsigned, signed, floating point.
const TYPES: [(PixelType, u16); 10] = [
    (PixelType::U8, 1),
    (PixelType::U16, 1),
    (PixelType::U32, 1),
    (PixelType::U64, 1),
    (PixelType::I8, 2),
    (PixelType::I16, 2),
    (PixelType::I32, 2),
    (PixelType::I64, 2),
    (PixelType::F32, 3),
    (PixelType::F64, 3),
];

/// Makes a file of strips of 2 rows, with more tags.
fn tiff<K: TiffKind>(
    image: &AnyImage<'_>,
    format: Option<u16>,
    apart: bool,
    more: &[(Tag, u16)],
    new: fn(&mut File) -> TiffEncoder<&mut File, K>,
) -> Vec<u8> {
    let (Shape { width, height, channels }, size) = (image.shape(), image.pixel_type().size_bytes());
    let mut file = Cursor::new(Vec::new());
    let mut encoder = new(&mut file);
    let mut tags = encoder.image_directory().unwrap();
    let bytes = image.bytes();
    let plane = |plane: usize| -> Vec<u8> {
        let pixels = bytes.chunks_exact(size * channels as usize);
        pixels.flat_map(|pixel| pixel[plane * size..][..size].to_vec()).collect()
    };
    let planes = if apart { (0..channels as usize).map(plane).collect() } else { vec![bytes.to_vec()] };
    let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
    for strip in planes.iter().flat_map(|plane| plane.chunks(2 * plane.len() / height as usize)) {
        offsets.push(tags.write_data(strip).unwrap() as u32);
        sizes.push(strip.len() as u32);
    }
    tags.write_tag(Tag::ImageWidth, width).unwrap();
    tags.write_tag(Tag::ImageLength, height).unwrap();
    tags.write_tag(Tag::BitsPerSample, &vec![8 * size as u16; channels as usize][..]).unwrap();
    tags.write_tag(Tag::Compression, 1u16).unwrap();
    tags.write_tag(Tag::PhotometricInterpretation, if channels < 3 { 1u16 } else { 2 }).unwrap();
    tags.write_tag(Tag::StripOffsets, &offsets[..]).unwrap();
    tags.write_tag(Tag::SamplesPerPixel, channels as u16).unwrap();
    tags.write_tag(Tag::RowsPerStrip, 2u16).unwrap();
    tags.write_tag(Tag::StripByteCounts, &sizes[..]).unwrap();
    tags.write_tag(Tag::PlanarConfiguration, if apart { 2u16 } else { 1 }).unwrap();
    if channels == 4 {
        tags.write_tag(Tag::ExtraSamples, 2u16).unwrap();
    }
    if let Some(format) = format {
        tags.write_tag(Tag::SampleFormat, &vec![format; channels as usize][..]).unwrap();
    }
    for &(tag, value) in more {
        tags.write_tag(tag, value).unwrap();
    }
    tags.finish().unwrap();
    file.into_inner()
}

fn classic(file: &mut File) -> TiffEncoder<&mut File> {
    TiffEncoder::new(file).unwrap()
}

fn big(file: &mut File) -> TiffEncoder<&mut File, TiffKindBig> {
    TiffEncoder::new_big(file).unwrap()
}

fn image(pixel: PixelType, channels: u32) -> AnyImage<'static> {
    let shape = Shape::new(SIDES.0, SIDES.1, channels).unwrap();
    let image = AnyImage::from_bytes(pixel, shape, |bytes| {
        bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = (i * 37 % 63) as u8);
        Ok(())
    });
    image.unwrap()
}

fn decode(bytes: &[u8]) -> apron_files::Result<AnyImage<'static>> {
    decode_image(Path::new("a.tif"), Cursor::new(bytes), 1 << 10)
}

#[test]
fn every_type_is_read_together_and_in_planes() {
    for ((pixel, format), channels) in TYPES.into_iter().flat_map(|of| [1, 3, 4].map(|channels| (of, channels))) {
        let image = image(pixel, channels);
        for apart in [false, true] {
            for file in [tiff(&image, Some(format), apart, &[], classic), tiff(&image, Some(format), apart, &[], big)] {
                let found = decode(&file).unwrap();
                assert_eq!((found.pixel_type(), found.shape()), (pixel, image.shape()), "{pixel} {channels} {apart}");
                assert!(found.bytes() == image.bytes(), "{pixel} {channels} {apart}: {found:?}");
            }
        }
    }
}

#[test]
fn samples_without_a_format_are_unsigned() {
    // tifffile writes no format for unsigned integers.
    let image = image(PixelType::U32, 3);
    assert!(decode(&tiff(&image, None, false, &[], classic)).unwrap() == image);
}

#[test]
fn what_is_written_is_read_whole_and_by_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tif");
    for ((pixel, _), channels) in TYPES.into_iter().flat_map(|of| [1, 3, 4].map(|channels| (of, channels))) {
        let image = image(pixel, channels);
        ImageOutput::new(&path, None).unwrap().write(&image).unwrap();
        assert!(read_image(&path, 1 << 10).unwrap().bytes() == image.bytes(), "{pixel} {channels}");
        let rows = RowsFile::open(&path, 1 << 10).unwrap().expect("it can be read by rows");
        assert_eq!((rows.pixel_type(), rows.shape()), (pixel, image.shape()));
    }
}

#[test]
fn floats_are_turned_too() {
    // 3 is turned by half.
    let image = image(PixelType::F32, 1);
    let turned = decode(&tiff(&image, Some(3), false, &[(Tag::Orientation, 3)], classic)).unwrap();
    let expected: Vec<u8> = image.bytes().chunks_exact(4).rev().flatten().copied().collect();
    assert!(turned.bytes()[..] == expected);
}

#[test]
fn bytes_whose_lowest_bit_is_first_are_refused() {
    let image = image(PixelType::I8, 1);
    assert!(decode(&tiff(&image, Some(2), false, &[(Tag::FillOrder, 1)], classic)).is_ok());
    let error = decode(&tiff(&image, Some(2), false, &[(Tag::FillOrder, 2)], classic)).unwrap_err().to_string();
    assert_eq!(error, "a.tif: tag 266, the order of a byte's bits, is 2, the lowest first; 1 is taken");
}

#[test]
fn other_samples_are_named() {
    let error = decode(&tiff(&image(PixelType::I16, 1), Some(3), false, &[], classic)).unwrap_err().to_string();
    let said = "a.tif: pixels of 1 channel(s) of 16 bits, floating point, are not taken; \
                of TIFF grey, RGB and RGBA are, of integers of 8 to 64 bits, f32 and f64";
    assert_eq!(error, said);
    let error = decode(&tiff(&image(PixelType::I8, 2), Some(1), false, &[], classic)).unwrap_err().to_string();
    assert!(error.contains("2 channel(s) of 8 bits, unsigned integers, are not taken"), "{error}");
}
