//! Truncated, modified and hostile files: each is refused with a typed error, or read within the limit; no decoder
//! panics.

use apron_core::{AnyImage, ErrorKind, PixelType, Shape};
use apron_files::{Error, ImageOutput, Result, decode_image, decode_mask, write_array};
use std::io::Cursor;
use std::path::Path;

/// Largest accepted image, in pixels.
const MAX_PIXELS: u64 = 1 << 12;

fn decode(bytes: &[u8]) -> Result<AnyImage<'static>> {
    decode_image(Path::new("hostile"), Cursor::new(bytes), MAX_PIXELS)
}

fn image(pixel: PixelType, channels: u32) -> AnyImage<'static> {
    let image = AnyImage::from_bytes(pixel, Shape::new(5, 4, channels).unwrap(), |bytes| {
        bytes.iter_mut().zip(0..).for_each(|(byte, i)| *byte = (i * 37 % 63) as u8);
        Ok(())
    });
    image.unwrap()
}

/// Makes a small file of each format, for each type and number of channels that it supports.
fn good_files() -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for extension in ["npy", "png", "jpg", "tif", "bmp", "pgm", "ppm"] {
        for (pixel, channels) in PixelType::ALL.into_iter().flat_map(|pixel| (1..=4).map(move |n| (pixel, n))) {
            let path = folder.path().join(format!("{pixel}-{channels}.{extension}"));
            let output = ImageOutput::new(&path, None).unwrap();
            if output.check(pixel, channels).is_ok() {
                output.write(&image(pixel, channels)).unwrap();
                files.push((format!("{pixel}-{channels}.{extension}"), std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

/// Whether the file is read. A refusal has to be an input error, without a panic.
#[track_caller]
fn is_read(what: &str, bytes: &[u8]) -> bool {
    let refused = |error: Error| match error {
        Error::Decoder { panic, .. } => panic!("{what}: {panic}"),
        error => assert_eq!(error.kind(), ErrorKind::Input, "{what}: {error}"),
    };
    decode_mask(Path::new("hostile"), Cursor::new(bytes)).map_or_else(refused, drop);
    let image = decode(bytes).map_err(refused);
    image.is_ok_and(|image| {
        assert!(image.shape().pixels() <= MAX_PIXELS, "{what}: {}", image.shape());
        true
    })
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for (name, bytes) in good_files() {
        assert!(is_read(&name, &bytes), "{name}");
        let whole = decode(&bytes).unwrap();
        for end in 0..bytes.len() {
            // Formats may have optional data after the pixels.
            if is_read(&format!("{end} bytes of {name}"), &bytes[..end]) {
                assert_eq!(
                    decode(&bytes[..end]).unwrap().bytes(),
                    whole.bytes(),
                    "{end} of {} bytes of {name}",
                    bytes.len()
                );
            }
        }
    }
}

#[test]
fn a_byte_changed_anywhere_does_no_harm() {
    // One file of each format: the differences between types are small, and left to libFuzzer.
    let grey = good_files().into_iter().filter(|(name, _)| name.starts_with("u8-1") || name == "u8-3.ppm");
    for (name, mut bytes) in grey {
        for at in 0..bytes.len() {
            let before = bytes[at];
            for byte in [0, 0xff, b'9', before ^ 1] {
                bytes[at] = byte;
                is_read(&format!("{name} with {byte} at {at}"), &bytes);
            }
            bytes[at] = before;
        }
    }
}

/// Returns the checksum of a PNG chunk.
fn crc(bytes: &[u8]) -> [u8; 4] {
    let sum = bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    });
    (!sum).to_be_bytes()
}

#[test]
fn a_png_with_a_wrong_checksum_is_refused() {
    let (_, good) = good_files().into_iter().find(|(name, _)| name == "u8-1.png").unwrap();
    let data = good.windows(4).position(|name| name == b"IDAT").unwrap();
    for at in [20, data + 6] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        assert!(!is_read("a changed bit", &bytes), "bit at {at}");
    }
}

#[test]
fn sides_of_zero_and_of_2_to_the_31_are_refused() {
    let (_, good) = good_files().into_iter().find(|(name, _)| name == "u8-1.png").unwrap();
    for (width, height) in [(0u32, 4u32), (5, 0), (0x7fff_ffff, 0x7fff_ffff), (u32::MAX, u32::MAX)] {
        let mut bytes = good.clone();
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum);
        assert!(!is_read("a PNG", &bytes), "{width}x{height}");
    }
    for text in
        ["P5 0 4 255\n", "P5 4294967295 4294967295 255\n1", "P6 99999999999999999999 1 255\n1", "P5 4 4 0\n1234"]
    {
        assert!(!is_read(text, text.as_bytes()), "{text}");
    }
}

/// Makes a TIFF of one grey pixel with an additional artist tag, of `count` values of type `kind`.
fn tiff(big_endian: bool, big: bool, (kind, count): (u64, u64)) -> Vec<u8> {
    let number = |number: u64, bytes: usize| {
        let mut little = number.to_le_bytes()[..bytes].to_vec();
        if big_endian {
            little.reverse();
        }
        little
    };
    let place = if big { 8 } else { 4 };
    let header = if big { 16 } else { 8 };
    // Tag, type, and single value.
    let tags = [
        (256, 4, 1),             // columns
        (257, 4, 1),             // rows
        (258, 3, 8),             // bits of a sample
        (259, 3, 1),             // not compressed
        (262, 3, 1),             // 0 is black
        (273, 4, header as u64), // where the strip is
        (277, 3, 1),             // samples of a pixel
        (278, 4, 1),             // rows of the strip
        (279, 4, 1),             // bytes of the strip
        (315, kind, 0),          // the artist
    ];
    let mut file = if big_endian { b"MM".to_vec() } else { b"II".to_vec() };
    file.extend(if big { [number(43, 2), number(8, 2), number(0, 2)].concat() } else { number(42, 2) });
    file.extend(number(header as u64 + 4, place));
    file.extend([77; 4]);
    file.extend(number(tags.len() as u64, if big { 8 } else { 2 }));
    for (tag, of, value) in tags {
        file.extend([number(tag, 2), number(of, 2), number(if tag == 315 { count } else { 1 }, place)].concat());
        let mut value = number(value, if of == 3 { 2 } else { 4 });
        value.resize(place, 0);
        file.extend(value);
    }
    file.extend(number(0, place));
    file
}

#[test]
fn a_tag_with_more_values_than_the_file_has_bytes_is_refused() {
    // BigTIFF is not recognised by content alone.
    let decode = |bytes: &[u8]| decode_image(Path::new("hostile.tif"), Cursor::new(bytes), MAX_PIXELS);
    for (big_endian, big) in [(false, false), (true, false), (false, true), (true, true)] {
        let plain = tiff(big_endian, big, (1, 1));
        let image = decode(&plain).unwrap();
        assert_eq!((image.shape(), &image.bytes()[..]), (Shape::new(1, 1, 1).unwrap(), &[77][..]));
        let length = plain.len() as u64;
        for (kind, size) in [(1, 1), (2, 1), (3, 2), (4, 4), (5, 8), (11, 4), (12, 8), (16, 8)] {
            for count in [length / size + 1, 1 << 22, u32::MAX as u64] {
                let file = tiff(big_endian, big, (kind, count));
                let error = decode(&file).unwrap_err();
                let said = format!("tag 315 has {count} values of {size} bytes, the file {length} bytes");
                assert!(matches!(&error, Error::Content { what, .. } if *what == said), "{error}");
            }
            // The artist's values are missing, but are never read.
            decode(&tiff(big_endian, big, (kind, length / size))).unwrap();
        }
        // An unknown type has no size.
        decode(&tiff(big_endian, big, (99, u32::MAX as u64))).unwrap();
    }
}

#[test]
fn a_format_that_is_not_taken_is_refused_before_it_is_decoded() {
    for start in [&b"GIF89a\x01\x00\x01\x00"[..], b"RIFF\x04\x00\x00\x00WEBP", b"%PDF-1.7", b"\x80\x04\x95", b"\0"] {
        assert!(matches!(decode(start), Err(Error::Content { .. })), "{start:?}");
    }
}

#[test]
fn an_array_is_what_was_written() {
    for (pixel, channels) in PixelType::ALL.into_iter().flat_map(|pixel| (1..=4).map(move |n| (pixel, n))) {
        let (image, mut file) = (image(pixel, channels), Vec::new());
        write_array(&mut file, &image).unwrap();
        let again = decode(&file).unwrap();
        assert_eq!((again.shape(), again.bytes()), (image.shape(), image.bytes()), "{pixel} {channels}");
        assert!(matches!(
            decode_image(Path::new("a"), Cursor::new(&file), 19),
            Err(Error::TooLarge { width: 5, height: 4, max_pixels: 19, .. })
        ));
    }
}
