//! Formats in and out.

mod common;

use common::{Folder, IDENTITY, copy, decode, header, npy};

#[test]
fn pictures_of_every_format_come_and_go() {
    let folder = Folder::new();
    for channels in 1..=4u64 {
        let bytes: Vec<u8> = (0..30 * channels).map(|i| (i * 91 % 256) as u8).collect();
        let words: Vec<u16> = (0..30 * channels).map(|i| (i * 9173 % 65536) as u16).collect();
        folder.array("u8.npy", &[5, 6, channels], &bytes);
        folder.array("u16.npy", &[5, 6, channels], &words);
        let formats: &[&str] = match channels {
            1 => &["png", "tif", "bmp", "pgm", "pnm"],
            2 => &["png"],
            3 => &["png", "tiff", "bmp", "ppm", "pnm"],
            _ => &["png", "tif", "bmp"],
        };
        for format in formats {
            let name = format!("a.{format}");
            copy(&folder, "u8.npy", &name);
            // The format is recognised by content, not by extension.
            std::fs::rename(folder.path(&name), folder.path("a.jpg")).unwrap();
            copy(&folder, "a.jpg", "back.npy");
            assert_eq!(folder.read::<u8>("back.npy").1, bytes, "{format} {channels}");
            if *format != "bmp" {
                copy(&folder, "u16.npy", &name);
                copy(&folder, &name, "back.npy");
                assert_eq!(folder.read::<u16>("back.npy").1, words, "{format} {channels}");
            }
        }
        let refused = ["correlate", "u8.npy", "x.jpeg"];
        match channels {
            1 | 3 => copy(&folder, "u8.npy", "x.jpeg"),
            _ => folder.fails(3, "pixels are not opaque", &[&refused, IDENTITY].concat()),
        }
    }
    // 8 bits per sample, at quality 95.
    folder.png("flat.png", 16, 16, &[200; 256]);
    copy(&folder, "flat.png", "flat.jpg");
    assert!(decode(&folder.path("flat.jpg")).as_bytes().iter().all(|&sample| sample.abs_diff(200) < 3));
    // TIFF files of floats.
    folder.array("f32.npy", &[2, 2, 3], &[0.5f32; 12]);
    copy(&folder, "f32.npy", "f.tif");
    copy(&folder, "f.tif", "back.npy");
    assert_eq!(folder.read::<f32>("back.npy"), (vec![2, 2, 3], vec![0.5; 12]));
    folder.array("plane.npy", &[2, 3], &[-1.5f32, 0.0, 1e9, f32::INFINITY, 0.25, 7.0]);
    folder.array("depth.npy", &[3, 1], &[i16::MIN, -1, i16::MAX]);
    for (array, picture) in [("plane.npy", "plane.tif"), ("depth.npy", "depth.tiff")] {
        copy(&folder, array, picture);
        copy(&folder, picture, &format!("back-{array}"));
    }
    assert_eq!(folder.read::<f32>("back-plane.npy"), folder.read("plane.npy"));
    assert_eq!(folder.read::<i16>("back-depth.npy"), folder.read("depth.npy"));
    // A big-endian file of another writer.
    let mut file = b"MM\0*\0\0\0\x0c\xbf\x80\0\0".to_vec();
    let entries = [(256, 1), (257, 1), (258, 32), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 4), (339, 3)];
    file.extend([0, entries.len() as u8]);
    entries.iter().for_each(|(tag, value)| {
        file.extend([tag >> 8, tag & 255, 0, 4, 0, 0, 0, 1, 0, 0, 0, *value].map(|byte| byte as u8))
    });
    file.extend([0; 4]);
    folder.write("big.tif", file);
    copy(&folder, "big.tif", "back.npy");
    assert_eq!(folder.read::<f32>("back.npy"), (vec![1, 1], vec![-1.0]));
}

#[test]
fn arrays_in_either_order() {
    let folder = Folder::new();
    let rows: Vec<i16> = (0..12).map(|i| i * 1000 - 5000).collect();
    // Shape (2, 3, 2) in Fortran order.
    let at = |y: usize, x: usize, c: usize| rows[(y * 3 + x) * 2 + c];
    let places = (0..2).flat_map(|c| (0..3).flat_map(move |x| (0..2).map(move |y| (y, x, c))));
    let bytes: Vec<u8> = places.flat_map(|(y, x, c)| at(y, x, c).to_be_bytes()).collect();
    folder.write("a.npy", npy("{'shape': (2, 3, 2), 'fortran_order': True, 'descr': '>i2'}", &bytes));
    copy(&folder, "a.npy", "b.npy");
    assert_eq!(folder.read::<i16>("b.npy"), (vec![2, 3, 2], rows));
    folder.array("one.npy", &[1, 2, 1], &[1u16, 2]);
    copy(&folder, "one.npy", "b.npy");
    assert_eq!(folder.read::<u16>("b.npy"), (vec![1, 2], vec![1, 2]));
    // A mask in Fortran order.
    folder.write("m.npy", npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2)}", &[1, 2, 3, 4]));
    folder.array("dot.npy", &[1, 1], &[1.0f32]);
    for (anchor, tap) in [("0,0", 1.0), ("1,0", 3.0), ("0,1", 2.0)] {
        folder.ok(&["correlate", "dot.npy", "b.npy", "--mask", "m.npy", "--border", "constant", "--anchor", anchor]);
        assert_eq!(folder.read::<f32>("b.npy").1, [tap]);
    }
}

#[test]
fn arrays_that_are_not_taken_are_named() {
    let folder = Folder::new();
    folder.array("line.npy", &[4], &[0u8; 4]);
    folder.array("five.npy", &[1, 1, 5], &[0u8; 5]);
    folder.array("deep.npy", &[1, 1, 1, 1], &[0u8]);
    folder.array::<u8>("empty.npy", &[0, 0], &[]);
    folder.array::<u8>("flat.npy", &[0, 5], &[]);
    let huge = "(18446744073709551615, 18446744073709551615)";
    let record = "[('a', '<f4'), ('b', '<i4')]";
    let files: &[(&str, Vec<u8>, &str)] = &[
        ("complex.npy", npy(&header("'<c32'", "(1, 1)"), &[0; 32]), "c32"),
        ("object.npy", npy(&header("'|O'", "(1, 1)"), b"\x80\x04."), "|O"),
        ("record.npy", npy(&header(record, "(1, 1)"), &[0; 8]), "dtype '[("),
        ("overflow.npy", npy(&header("'<f4'", huge), &[0; 8]), "larger than any file"),
        ("liar.npy", npy(&header("'<f4'", "(100000, 100000)"), &[0; 8]), "holds 8 bytes"),
        ("wide.npy", npy(&header("'<f4'", "(4611686018427387904, 2)"), &[0; 8]), "more than any file"),
        ("longer.npy", npy(&header("'|u1'", "(1, 2)"), &[0; 8]), "needs 2"),
        ("negative.npy", npy(&header("'|u1'", "(-1, 2)"), &[0; 8]), "no size"),
        ("nested.npy", npy(&"(".repeat(60000), &[]), "not NumPy's"),
        ("nothing.npy", npy("{}", &[0; 8]), "not NumPy's"),
        ("header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "4294967295 bytes"),
        ("cut.npy", b"\x93NUMPY\x01\x00\xff".to_vec(), "cut off"),
        ("version.npy", b"\x93NUMPY\x09\x00\xff\xff".to_vec(), "version 9"),
        ("text.npy", b"1 2 3".to_vec(), ""),
    ];
    for (name, bytes, _) in files {
        folder.write(name, bytes);
    }
    let made = [("line.npy", "(4,)"), ("five.npy", "(1, 1, 5)"), ("deep.npy", "(1, 1, 1, 1)")];
    let made = made.into_iter().chain([("empty.npy", "(0, 0)"), ("flat.npy", "(0, 5)")]);
    for (name, part) in made.chain(files.iter().map(|(name, _, part)| (*name, *part))) {
        folder.fails(3, part, &[&["correlate", name, "out.npy"], IDENTITY].concat());
        folder.fails(3, name, &["histogram", name, "--device", "cpu"]);
    }
    // As masks.
    folder.png("a.png", 1, 1, &[1]);
    for name in ["empty.npy", "deep.npy", "complex.npy", "object.npy", "overflow.npy", "text.npy"] {
        folder.fails(3, name, &["correlate", "a.png", "out.npy", "--mask", name]);
        folder.fails(3, name, &["separable", "a.png", "out.npy", "--taps-x", name, "--taps-y", "1"]);
    }
    assert!(!folder.names().contains(&"out.npy".into()));
}

#[test]
fn floats_that_are_no_numbers_pass_through_filters() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[f32::NAN, f32::INFINITY, 1.0]);
    copy(&folder, "a.npy", "b.npy");
    let items = folder.read::<f32>("b.npy").1;
    assert!(items[0].is_nan() && items[1] == f32::INFINITY && items[2] == 1.0, "{items:?}");
}

/// Grey pictures of every format are read as one channel, also from palettes.
#[test]
fn grey_pictures_have_one_channel() {
    let folder = Folder::new();
    folder.png("a.png", 3, 2, &[0, 1, 2, 100, 254, 255]);
    for name in ["b.bmp", "b.tif", "b.pgm", "b.jpg"] {
        copy(&folder, "a.png", name);
        copy(&folder, name, "c.npy");
        let (shape, items) = folder.read::<u8>("c.npy");
        assert_eq!(shape, [2, 3], "{name}");
        assert!(name == "b.jpg" || items == [0, 1, 2, 100, 254, 255], "{name}: {items:?}");
    }
    // A palette with one colour gives three channels.
    let mut bmp = std::fs::read(folder.path("b.bmp")).unwrap();
    bmp[54 + 4 * 100] = 7;
    folder.write("colour.bmp", &bmp);
    copy(&folder, "colour.bmp", "c.npy");
    assert_eq!(folder.read::<u8>("c.npy").0, [2, 3, 3]);
}

/// The EXIF orientation of photos is applied.
#[test]
fn photos_are_turned_as_their_exif_data_says() {
    let folder = Folder::new();
    folder.png("a.png", 16, 8, &[[10; 64], [200; 64]].concat());
    copy(&folder, "a.png", "a.jpg");
    let jpeg = std::fs::read(folder.path("a.jpg")).unwrap();
    // APP1 with a TIFF of one tag, 0x112: the first row is the right side, the first column the top.
    let exif = b"\xff\xe1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    folder.write("turned.jpg", [&jpeg[..2], exif, &jpeg[2..]].concat());
    copy(&folder, "turned.jpg", "b.npy");
    let (shape, items) = folder.read::<u8>("b.npy");
    assert_eq!(shape, [16, 8]);
    // The upper half is now the right one.
    assert!(
        items.chunks(8).all(|row| row[..4].iter().all(|&of| of > 150) && row[4..].iter().all(|&of| of < 60)),
        "{items:?}"
    );
}
