//! Files that are read and written by rows, beside whole images.
#![allow(missing_docs)]

use apron_core::{AnyImage, Image, PixelType, Shape};
use apron_files::{Error, ImageOutput, RowsDraft, RowsFile, read_image};
use std::fs::File;
use std::path::Path;
use tiff::encoder::{Compression, TiffEncoder, colortype};
use tiff::tags::Tag;

const WIDTH: u32 = 37;
const HEIGHT: u32 = 29;

fn samples() -> Vec<u16> {
    (0..WIDTH * HEIGHT * 3).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 15) as u16).collect()
}

/// Compares rows that are read in pieces with the whole image, and says whether the samples lie as in memory.
fn check(path: &Path) -> bool {
    let whole = read_image(path, 1 << 20).unwrap();
    let file = RowsFile::open(path, 1 << 20).unwrap().expect("it can be read by rows");
    assert_eq!((file.shape(), file.pixel_type()), (whole.shape(), whole.pixel_type()));
    let row = whole.bytes().len() / HEIGHT as usize;
    for rows in [0..HEIGHT, 3..4, 5..12, 11..29, 0..1, 28..29] {
        let mut bytes = vec![0; (rows.end - rows.start) as usize * row];
        file.read_rows(rows.clone(), &mut bytes).unwrap();
        assert!(bytes == whole.bytes()[rows.start as usize * row..rows.end as usize * row], "{rows:?}");
    }
    format!("{file:?}").contains("stored: Rows(")
}

#[test]
fn strips_are_read_by_rows() {
    let folder = tempfile::tempdir().unwrap();
    for (compression, plain) in [(Compression::Uncompressed, true), (Compression::Packbits, false)] {
        let path = folder.path().join("strips.tif");
        let mut encoder = TiffEncoder::new(File::create(&path).unwrap()).unwrap().with_compression(compression);
        let mut image = encoder.new_image::<colortype::RGB16>(WIDTH, HEIGHT).unwrap();
        image.rows_per_strip(4).unwrap();
        image.write_data(&samples()).unwrap();
        assert_eq!(check(&path), plain);
    }
}

#[test]
fn tiles_are_read_by_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiles.tif");
    let samples = samples();
    let mut encoder = TiffEncoder::new(File::create(&path).unwrap()).unwrap();
    let mut tags = encoder.image_directory().unwrap();
    let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
    // 3 x 2 tiles, padded by 7.
    for (top, left) in [0, 16].into_iter().flat_map(|top| [0, 16, 32].map(|left| (top, left))) {
        let places = (top..top + 16).flat_map(|y| (left..left + 16).map(move |x| (x, y)));
        let sample = |(x, y): (u32, u32)| match x < WIDTH && y < HEIGHT {
            true => samples[(y * WIDTH + x) as usize],
            false => 7,
        };
        let tile: Vec<u16> = places.map(sample).collect();
        offsets.push(tags.write_data(&tile[..]).unwrap() as u32);
        sizes.push(512u32);
    }
    for (tag, value) in
        [(Tag::ImageWidth, WIDTH), (Tag::ImageLength, HEIGHT), (Tag::TileWidth, 16), (Tag::TileLength, 16)]
    {
        tags.write_tag(tag, value).unwrap();
    }
    for (tag, value) in [(Tag::BitsPerSample, 16u16), (Tag::Compression, 1), (Tag::SamplesPerPixel, 1)] {
        tags.write_tag(tag, value).unwrap();
    }
    tags.write_tag(Tag::PhotometricInterpretation, 1u16).unwrap();
    tags.write_tag(Tag::TileOffsets, &offsets[..]).unwrap();
    tags.write_tag(Tag::TileByteCounts, &sizes[..]).unwrap();
    tags.finish().unwrap();
    drop(encoder);
    assert!(!check(&path));
    assert_eq!(read_image(&path, 1 << 20).unwrap().bytes()[..2], samples[0].to_ne_bytes());
}

#[test]
fn what_is_written_by_rows_is_what_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let image = AnyImage::U16(Image::new(WIDTH, HEIGHT, 3, samples()).unwrap());
    let row = image.bytes().len() / HEIGHT as usize;
    for name in ["image.npy", "image.tif"] {
        let (whole, rows) = (folder.path().join(name), folder.path().join(format!("rows-{name}")));
        ImageOutput::new(&whole, None).unwrap().write(&image).unwrap();
        let output = ImageOutput::new(&rows, None).unwrap();
        let write = |draft: &RowsDraft<'_>| {
            draft.write_rows(11, &image.bytes()[11 * row..])?;
            Ok(draft.write_rows(0, &image.bytes()[..11 * row])?)
        };
        output.write_rows(image.shape(), PixelType::U16, write).unwrap();
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&rows).unwrap());
        assert!(read_image(&rows, 1 << 20).unwrap() == image && check(&rows));
        let error = output.write_rows(image.shape(), PixelType::U16, |_| Err("no more".into())).unwrap_err();
        assert!(error.to_string().contains("no more") && check(&rows));
    }
    let png = folder.path().join("image.png");
    assert!(!ImageOutput::new(&png, None).unwrap().takes_rows());
    let tiff = folder.path().join("two.tif");
    let error =
        ImageOutput::new(&tiff, None).unwrap().write_rows(Shape::new(1, 1, 2).unwrap(), PixelType::U8, |_| Ok(()));
    assert!(matches!(error.unwrap_err(), Error::Unfit { .. }) && !tiff.exists());
}

#[test]
fn other_files_are_left_to_those_who_read_them_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turned.tif");
    let mut encoder = TiffEncoder::new(File::create(&path).unwrap()).unwrap();
    let mut image = encoder.new_image::<colortype::Gray8>(2, 1).unwrap();
    image.encoder().write_tag(Tag::Orientation, 3u16).unwrap();
    image.write_data(&[1, 2]).unwrap();
    assert!(RowsFile::open(&path, 1 << 20).unwrap().is_none());
    assert_eq!(read_image(&path, 1 << 20).unwrap().bytes()[..], [2, 1]);
    std::fs::write(&path, "no image").unwrap();
    assert!(RowsFile::open(&path, 1 << 20).unwrap().is_none());
    ImageOutput::new(&path, None).unwrap().write(&AnyImage::U8(Image::new(3, 3, 1, vec![0u8; 9]).unwrap())).unwrap();
    assert!(matches!(RowsFile::open(&path, 8), Err(Error::TooLarge { .. })));
    // A file that ends before its samples do.
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let file = RowsFile::open(&path, 1 << 20).unwrap().expect("its tags are whole");
    assert!(file.read_rows(0..3, &mut [0; 9]).is_err());
}

#[test]
fn a_file_that_nobody_knows_of_is_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (out, shape) = (folder.path().join("o.npy"), Shape::new(2, 2, 1).unwrap());
    let resume = |fail: bool| {
        let output = ImageOutput::new(&out, None).unwrap();
        output.resume_rows(shape, PixelType::U8, "job", |draft, before| {
            draft.write_rows(before, &vec![7; 4 - 2 * before as usize])?;
            if fail { Err("stopped".into()) } else { Ok(()) }
        })
    };
    let [partial, note] = ["o.npy.partial", "o.npy.partial.json"].map(|name| folder.path().join(name));
    std::fs::write(&partial, "my notes").unwrap();
    let error = resume(false).unwrap_err().to_string();
    assert!(error.contains("o.npy.partial is there, and not of an earlier run"), "{error}");
    assert_eq!(std::fs::read(&partial).unwrap(), b"my notes");
    // An empty file is no loss, and what has a note is an earlier run's, if of another job.
    std::fs::write(&partial, "").unwrap();
    assert!(resume(true).unwrap_err().to_string().contains("stopped"));
    assert!(partial.is_file() && note.is_file());
    resume(false).unwrap();
    assert_eq!(read_image(&out, 4).unwrap().bytes()[..], [7; 4]);
    std::fs::write(&partial, "rows of another job").unwrap();
    std::fs::write(&note, "{\"job\":\"other\",\"rows\":1}").unwrap();
    resume(false).unwrap();
    assert!(!partial.exists() && !note.exists());
    #[cfg(unix)]
    {
        let mine = folder.path().join("mine");
        for link in [&partial, &folder.path().join("o.npy.partial.json.next")] {
            std::fs::write(&mine, "").unwrap();
            std::os::unix::fs::symlink(&mine, link).unwrap();
            let error = resume(false).unwrap_err().to_string();
            assert!(error.contains(" is a symbolic link"), "{error}");
            assert_eq!(std::fs::read(&mine).unwrap(), b"");
            std::fs::remove_file(link).unwrap();
        }
    }
}

#[test]
#[cfg(unix)]
fn a_private_file_stays_private_while_it_is_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (out, shape) = (folder.path().join("o.npy"), Shape::new(2, 2, 1).unwrap());
    std::fs::write(&out, "secret").unwrap();
    std::fs::set_permissions(&out, PermissionsExt::from_mode(0o600)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let output = ImageOutput::new(&out, None).unwrap();
    let written = output.resume_rows(shape, PixelType::U8, "job", |draft, _| {
        assert_eq!(mode(&folder.path().join("o.npy.partial")), 0o600);
        Ok(draft.write_rows(0, &[7; 4])?)
    });
    written.unwrap();
    assert_eq!(mode(&out), 0o600);
}
