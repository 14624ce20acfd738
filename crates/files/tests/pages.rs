//! Files of several images: pages of TIFF and stacks in `.npy` files.
#![allow(missing_docs)]

use apron_core::{AnyImage, PixelType, Shape};
use apron_files::{Error, ImageOutput, Metadata, PagesFile, ReadOptions, Result, read_image, read_page};
use std::fs;
use std::path::Path;
use tiff::encoder::{Compression, TiffEncoder, colortype};

/// Largest accepted image, in pixels.
const MAX_PIXELS: u64 = 1 << 12;

fn image(pixel: PixelType, (width, height, channels): (u32, u32, u32), seed: u32) -> AnyImage<'static> {
    let image = AnyImage::from_bytes(pixel, Shape::new(width, height, channels).unwrap(), |bytes| {
        bytes.iter_mut().zip(seed..).for_each(|(byte, i)| *byte = (i.wrapping_mul(0x9e37_79b9) >> 26) as u8);
        Ok(())
    });
    image.unwrap()
}

fn opened(path: &Path) -> Result<PagesFile> {
    PagesFile::open(path, ReadOptions::new(MAX_PIXELS))
}

/// Reads all images of a file.
fn all(path: &Path) -> Result<Vec<(AnyImage<'static>, Metadata)>> {
    let mut file = opened(path)?;
    (1..=file.pages()).map(|page| file.read(page)).collect()
}

fn write(path: &Path, images: &[AnyImage<'_>]) -> Result<()> {
    let output = ImageOutput::new(path, None)?;
    let mut draft = output.pages(images.len() as u32)?;
    for (image, dots) in images.iter().zip(100..) {
        let mut metadata = Metadata::default();
        metadata.density = Some((dots.into(), 50.0));
        draft.write(image, &metadata)?;
    }
    draft.finish()
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for (pixel, channels) in PixelType::ALL.into_iter().flat_map(|pixel| (1..=4).map(move |n| (pixel, n))) {
        let images: Vec<_> = (0..3).map(|seed| image(pixel, (5, 4, channels), seed)).collect();
        for extension in ["npy", "tif"] {
            let path = folder.path().join(format!("{pixel}-{channels}.{extension}"));
            if ImageOutput::new(&path, None).unwrap().check(pixel, channels).is_err() {
                assert!(matches!(write(&path, &images), Err(Error::Unfit { .. })));
                continue;
            }
            write(&path, &images).unwrap();
            let read = all(&path).unwrap();
            assert!(read.iter().map(|(image, _)| image).eq(&images), "{}", path.display());
            for (page, (image, metadata)) in (1..).zip(&read) {
                let density = (extension == "tif").then_some((f64::from(99 + page), 50.0));
                assert_eq!(metadata.density, density);
                if extension == "tif" {
                    let alone = read_page(&path, &ReadOptions { page, ..ReadOptions::new(MAX_PIXELS) }).unwrap();
                    assert_eq!((&alone.image, alone.pages), (image, 3));
                }
            }
        }
    }
}

#[test]
fn pages_of_a_tiff_may_differ() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tif");
    let images =
        [image(PixelType::U8, (5, 4, 3), 1), image(PixelType::F32, (7, 1, 1), 2), image(PixelType::U16, (1, 9, 4), 3)];
    write(&path, &images).unwrap();
    assert!(all(&path).unwrap().iter().map(|(image, _)| image).eq(&images));
    let output = folder.path().join("a.npy");
    let error = write(&output, &images).unwrap_err();
    assert!(matches!(error, Error::Uneven { .. }), "{error}");
    let text = "7x1x1 f32 differs from the first image, 5x4x3 u8";
    assert!(error.to_string().contains(text), "{error}");
    assert_eq!(names(folder.path()), 1);
}

#[test]
fn pages_in_strips_that_are_compressed_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tif");
    let mut encoder =
        TiffEncoder::new(fs::File::create(&path).unwrap()).unwrap().with_compression(Compression::Packbits);
    let pages: Vec<Vec<u16>> = (0..4).map(|page| (0..37 * 29 * 3).map(|i| i * 7 + page).collect()).collect();
    for page in &pages {
        let mut image = encoder.new_image::<colortype::RGB16>(37, 29).unwrap();
        image.rows_per_strip(4).unwrap();
        image.write_data(page).unwrap();
    }
    for ((image, _), page) in all(&path).unwrap().iter().zip(&pages) {
        let bytes: Vec<u8> = page.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
        assert_eq!(image.bytes()[..], bytes);
    }
}

#[test]
fn a_draft_has_all_its_images_or_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let one = image(PixelType::U8, (5, 4, 1), 1);
    for extension in ["npy", "tif"] {
        let path = folder.path().join(format!("a.{extension}"));
        let output = ImageOutput::new(&path, None).unwrap();
        let mut draft = output.pages(2).unwrap();
        draft.write(&one, &Metadata::default()).unwrap();
        let error = draft.finish().unwrap_err().to_string();
        assert!(error.contains("1 of 2 images were written"), "{error}");
        let mut draft = output.pages(1).unwrap();
        draft.write(&one, &Metadata::default()).unwrap();
        let error = draft.write(&one, &Metadata::default()).unwrap_err().to_string();
        assert!(error.contains("all 1 images are there already"), "{error}");
        drop(draft);
        assert_eq!(names(folder.path()), 0);
    }
    let png = folder.path().join("a.png");
    let output = ImageOutput::new(&png, None).unwrap();
    assert!(matches!(output.pages(2), Err(Error::OneImage { .. })));
}

/// Builds a `.npy` file.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn the_first_dimension_counts_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let data: Vec<u8> = (0..24).collect();
    // Two images of 4 x 3, though it could be one image of three channels.
    for (descr, shape, count, size) in [
        ("|u1", "(2, 4, 3)", 2, (3, 4, 1)),
        ("|u1", "(2, 2, 2, 3)", 2, (2, 2, 3)),
        (">u2", "(3, 2, 2)", 3, (2, 2, 1)),
        ("|i1", "(6, 2, 2, 1)", 6, (2, 2, 1)),
    ] {
        fs::write(&path, npy(descr, false, shape, &data)).unwrap();
        let read = all(&path).unwrap();
        let shape = Shape::new(size.0, size.1, size.2).unwrap();
        assert!(read.len() == count && read.iter().all(|(image, _)| image.shape() == shape), "{descr}: {read:?}");
        let mut file = opened(&path).unwrap();
        let page = count as u32 + 1;
        assert!(matches!(file.read(page), Err(Error::NoPage { pages, .. }) if pages + 1 == page));
        assert!(matches!(file.read(0), Err(Error::NoPage { .. })));
    }
    // A type that is kept, or converted.
    let numbers: Vec<u8> = [1i64, -2].iter().flat_map(|number| number.to_le_bytes()).collect();
    fs::write(&path, npy("<i8", false, "(2, 1, 1)", &numbers)).unwrap();
    let types = |pixel| {
        let mut file = PagesFile::open(&path, ReadOptions { pixel, ..ReadOptions::new(MAX_PIXELS) }).unwrap();
        [1, 2].map(|page| file.read(page).unwrap().0.pixel_type())
    };
    assert_eq!(types(None), [PixelType::I64; 2]);
    assert_eq!(types(Some(PixelType::F32)), [PixelType::F32; 2]);
    // Without pages, reading one image is an error.
    fs::write(&path, npy("|u1", false, "(2, 2, 6)", &data)).unwrap();
    let error = read_image(&path, MAX_PIXELS).unwrap_err();
    assert!(matches!(error, Error::Stack { images: 2, .. }) && error.to_string().contains("(2, 2, 6)"), "{error}");
}

#[test]
fn hostile_headers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let data = [0u8; 24];
    for (bytes, part) in [
        (npy("|u1", false, "(0, 4, 3)", &[]), "shape (0, 4, 3) is not taken"),
        (npy("|u1", false, "(4, 6)", &data), "shape (4, 6) is not taken; stacks"),
        (npy("|u1", false, "(2, 2, 1, 6)", &data), "is not taken"),
        (npy("|u1", false, "(1, 2, 2, 2, 3)", &data), "is not taken"),
        (npy("|u1", false, "(3, 0, 5)", &[]), "is not taken"),
        (npy("|c8", false, "(3, 2, 4)", &data), "dtype '|c8'"),
        (npy("|u1", true, "(2, 4, 3)", &data), "Fortran order"),
        (npy("|u1", false, "(3, 4, 3)", &data), "holds 24 bytes of data, but shape (3, 4, 3) of '|u1' needs 36"),
        (npy("|u1", false, "(4294967296, 4294967296, 4294967296)", &data), "larger than any file"),
        (npy("<f4", false, "(9223372036854775807, 1, 1)", &data), "needs more than any file holds"),
        (npy("|u1", false, "(1, 100, 1000000)", &data), "needs 100000000"),
        (npy("|u1", false, "(2, 64, 65)", &[0; 2 * 64 * 65]), "65x64 is more than 4096 pixels"),
        (b"II*\0\0\0\0\0".to_vec(), "the TIFF has no page"),
        (b"II*\0\x08\0\0\0".to_vec(), "the TIFF has no page"),
        (b"II*\0\xff\xff\xff\xff".to_vec(), "the TIFF has no page"),
        // A directory that names itself as the next.
        (b"II*\0\x08\0\0\0\0\0\x08\0\0\0".to_vec(), "no page follows page 1, which is not the last"),
        (b"II*\0\x08\0\0\0\0\0\xf0\0\0\0".to_vec(), "no page follows page 1, which is not the last"),
        (b"\x89PNG".to_vec(), "neither a TIFF nor a .npy file"),
        (Vec::new(), "the file is empty"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = opened(&path).unwrap_err().to_string();
        assert!(error.contains(part), "no '{part}' in '{error}'");
    }
}

/// Files of three images.
fn good_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let images: Vec<_> = (0..3).map(|seed| image(PixelType::U16, (3, 2, 1), seed)).collect();
    let made = ["npy", "tif"].map(|extension| {
        let path = folder.join(format!("good.{extension}"));
        write(&path, &images).unwrap();
        (extension.to_string(), fs::read(&path).unwrap())
    });
    made.into()
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut");
    for (name, bytes) in good_files(folder.path()) {
        for end in 0..bytes.len() {
            fs::write(&path, &bytes[..end]).unwrap();
            assert!(all(&path).is_err(), "{end} of {} bytes of {name}", bytes.len());
        }
    }
}

#[test]
fn a_byte_changed_anywhere_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed");
    for (name, mut bytes) in good_files(folder.path()) {
        for at in 0..bytes.len() {
            let before = bytes[at];
            for byte in [0, 0xff, b'9', before ^ 1] {
                bytes[at] = byte;
                fs::write(&path, &bytes).unwrap();
                match all(&path) {
                    Err(Error::Decoder { panic, .. }) => panic!("{name} with {byte} at {at}: {panic}"),
                    Err(_) => {}
                    Ok(images) => assert!(images.iter().all(|(image, _)| image.shape().pixels() <= MAX_PIXELS)),
                }
            }
            bytes[at] = before;
        }
    }
}
