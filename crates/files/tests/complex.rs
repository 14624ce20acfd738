//! Arrays of complex numbers: two channels for each number, read and written only where they are asked for.
#![allow(missing_docs)]

use apron_core::{AnyImage, Image, PixelType, Shape};
use apron_files::{
    Error, ImageOutput, Metadata, PagesFile, ReadOptions, RowsFile, decode_image, decode_metadata, decode_page,
    read_image, read_mask, read_metadata, read_page,
};
use std::fs;
use std::io::Cursor;
use std::path::Path;

const TAKEN: ReadOptions = ReadOptions { max_pixels: 1000, page: 1, pixel: None, complex: true };

/// Makes a `.npy` file of these numbers' bytes.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn read(bytes: &[u8]) -> Result<AnyImage<'static>, Error> {
    decode_page(Path::new("x.npy"), Cursor::new(bytes), &TAKEN).map(|page| page.image)
}

fn complex() -> Metadata {
    let mut metadata = Metadata::default();
    metadata.complex = true;
    metadata
}

fn samples(image: &AnyImage<'_>) -> Vec<f64> {
    match image {
        AnyImage::F32(image) => image.packed().iter().map(|&sample| sample.into()).collect(),
        AnyImage::F64(image) => image.packed().to_vec(),
        other => panic!("{}", other.pixel_type()),
    }
}

#[test]
fn numbers_of_either_size_and_byte_order_are_pairs_of_channels() {
    let parts = [1.0, -2.0, 3.5, 0.0, -0.25, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, -12.0];
    // Rows and columns; the second order is that of Fortran: of the 6 numbers of (2, 3), by columns.
    let by_columns = [0, 3, 1, 4, 2, 5].map(|number| [parts[2 * number], parts[2 * number + 1]]).concat();
    let single = |parts: &[f64], big: bool| -> Vec<u8> {
        let bytes = |part: &f64| if big { (*part as f32).to_be_bytes() } else { (*part as f32).to_le_bytes() };
        parts.iter().flat_map(bytes).collect()
    };
    let double = |parts: &[f64], big: bool| -> Vec<u8> {
        parts.iter().flat_map(|part| if big { part.to_be_bytes() } else { part.to_le_bytes() }).collect()
    };
    for (file, pixel) in [
        (npy("<c8", false, "(2, 3)", &single(&parts, false)), PixelType::F32),
        (npy(">c8", false, "(2, 3)", &single(&parts, true)), PixelType::F32),
        (npy("<c16", false, "(2, 3)", &double(&parts, false)), PixelType::F64),
        (npy(">c16", false, "(2, 3, 1)", &double(&parts, true)), PixelType::F64),
        (npy("<c8", true, "(2, 3)", &single(&by_columns, false)), PixelType::F32),
        (npy(">c16", true, "(2, 3)", &double(&by_columns, true)), PixelType::F64),
    ] {
        let image = read(&file).unwrap();
        assert_eq!((image.shape(), image.pixel_type()), (Shape::new(3, 2, 2).unwrap(), pixel));
        assert_eq!(samples(&image), parts);
        assert!(decode_metadata(Cursor::new(&file), 1).complex);
    }
    let two = read(&npy("<c8", false, "(1, 3, 2)", &single(&parts, false))).unwrap();
    assert_eq!((two.shape(), samples(&two)), (Shape::new(3, 1, 4).unwrap(), parts.to_vec()));
    let real = npy("<f4", false, "(1, 2)", &single(&parts[..2], false));
    assert!(!decode_metadata(Cursor::new(&real), 1).complex);
}

#[test]
fn where_they_are_not_asked_for_they_are_refused_by_name() {
    let file = npy("<c16", false, "(1, 1)", &[0; 16]);
    let error = decode_image(Path::new("x.npy"), Cursor::new(&file), 1000).unwrap_err();
    assert!(matches!(&error, Error::Complex { dtype, .. } if dtype == "<c16"), "{error}");
    assert!(error.to_string().contains("dtype '<c16' is complex, which linear filters alone take"), "{error}");
    // Nor are they converted.
    let options = ReadOptions { pixel: Some(PixelType::F32), ..TAKEN };
    let error = decode_page(Path::new("x.npy"), Cursor::new(&file), &options).unwrap_err();
    assert!(matches!(error, Error::Complex { .. }), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    fs::write(&path, npy("<c8", false, "(1, 1, 1)", &[0; 8])).unwrap();
    let stack = PagesFile::open(&path, ReadOptions::new(1000)).unwrap_err();
    assert!(matches!(stack, Error::Complex { .. }), "{stack}");
    assert!(RowsFile::open(&path, 1000).unwrap().is_none());
    assert!(read_mask(&path).unwrap_err().to_string().contains("real numbers are"));
}

#[test]
fn hostile_headers_are_refused() {
    for (file, part) in [
        (npy("<c8", false, "(2, 3)", &[0; 47]), "holds 47 bytes of data, but shape (2, 3) of '<c8' needs 48"),
        (npy("<c16", false, "(2, 3)", &[0; 48]), "of '<c16' needs 96"),
        (npy("<c4", false, "(2, 3)", &[0; 24]), "dtype '<c4', shape (2, 3) is not taken"),
        (npy("<c32", false, "(2, 3)", &[0; 192]), "dtype '<c32', shape (2, 3) is not taken"),
        (npy("<c161", false, "(2, 3)", &[0; 96]), "dtype '<c161', shape (2, 3) is not taken"),
        (
            npy("<c8", false, "(2, 3, 3)", &[0; 144]),
            "complex arrays of shape (height, width) or (height, width, 1 to 2)",
        ),
        (npy("<c8", false, "(4,)", &[0; 32]), "shape (4,) is not taken"),
        (npy("<c8", false, "(0, 3)", &[]), "shape (0, 3) is not taken"),
        (npy("<c8", false, "(2000, 3)", &[0; 48000]), "3x2000 is more than 1000 pixels"),
        (npy("<c16", false, "(4294967296, 4294967295)", &[0; 16]), "needs more than any file holds"),
        (npy("<c8", false, "(9223372036854775807, 3)", &[0; 16]), "is larger than any file"),
    ] {
        let error = read(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    // A stack, where one image is expected.
    let error = read(&npy("<c8", false, "(2, 1, 5)", &[0; 80])).unwrap_err();
    assert!(matches!(error, Error::Stack { images: 2, .. }), "{error}");
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    for channels in [2, 4] {
        let parts: Vec<f64> = (0..12 * channels).map(|part| part as f64 - 3.5).collect();
        let image = AnyImage::F64(Image::new(4, 3, channels, parts.clone()).unwrap());
        ImageOutput::new(&path, None).unwrap().with_metadata(complex()).write(&image).unwrap();
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let shape = if channels == 2 { "(3, 4)" } else { "(3, 4, 2)" };
        assert!(text.contains(&format!("'descr': '<c16', 'fortran_order': False, 'shape': {shape}, ")), "{text}");
        assert!(matches!(read_image(&path, 1000), Err(Error::Complex { .. })));
        let read = read_page(&path, &TAKEN).unwrap().image;
        assert_eq!((read.shape(), samples(&read)), (image.shape(), parts));
        assert!(read_metadata(&path, 1).complex);
        let rows = RowsFile::open_with(&path, &TAKEN).unwrap().unwrap();
        assert_eq!((rows.shape(), rows.pixel_type(), rows.is_complex()), (image.shape(), PixelType::F64, true));
        let row = image.bytes().len() / 3;
        let mut bytes = vec![0; row];
        rows.read_rows(1..2, &mut bytes).unwrap();
        assert_eq!(bytes, image.bytes()[row..2 * row]);
    }
}

#[test]
fn stacks_are_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let plane = |level: f32| AnyImage::F32(Image::new(2, 1, 2, vec![level, 1.0, 2.0, -level]).unwrap());
    let output = ImageOutput::new(&path, None).unwrap();
    let mut draft = output.pages(2).unwrap();
    draft.write(&plane(5.0), &complex()).unwrap();
    draft.write(&plane(6.0), &complex()).unwrap();
    draft.finish().unwrap();
    let mut file = PagesFile::open(&path, TAKEN).unwrap();
    assert_eq!(file.pages(), 2);
    let (second, metadata) = file.read(2).unwrap();
    assert_eq!((samples(&second), metadata.complex), (vec![6.0, 1.0, 2.0, -6.0], true));
}

#[test]
fn other_formats_and_types_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pair = AnyImage::F32(Image::new(2, 1, 2, vec![1.0f32; 4]).unwrap());
    let three = AnyImage::F32(Image::new(2, 1, 3, vec![1.0f32; 6]).unwrap());
    let bytes = AnyImage::U8(Image::new(2, 1, 2, vec![1u8; 4]).unwrap());
    for (name, image) in [("x.tif", &pair), ("x.png", &bytes), ("x.npy", &three), ("x.npy", &bytes)] {
        let path = folder.path().join(name);
        let output = ImageOutput::new(&path, None).unwrap();
        if name != "x.png" {
            let mut draft = output.pages(1).unwrap();
            assert!(matches!(draft.write(image, &complex()), Err(Error::ComplexUnfit { .. })));
        }
        let error = output.with_metadata(complex()).write(image).unwrap_err();
        assert!(error.to_string().contains("complex numbers are written to .npy alone"), "{error}");
        assert!(!path.exists());
    }
}
