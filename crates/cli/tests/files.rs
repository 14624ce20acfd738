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
            // What it is, the content says.
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
    // 8 bits a sample, at quality 95.
    folder.png("flat.png", 16, 16, &[200; 256]);
    copy(&folder, "flat.png", "flat.jpg");
    assert!(decode(&folder.path("flat.jpg")).as_bytes().iter().all(|&sample| sample.abs_diff(200) < 3));
    // Floats in TIFF.
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
    // Somebody else's, in the other byte order.
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
    // (2, 3, 2) by columns, planes last.
    let at = |y: usize, x: usize, c: usize| rows[(y * 3 + x) * 2 + c];
    let places = (0..2).flat_map(|c| (0..3).flat_map(move |x| (0..2).map(move |y| (y, x, c))));
    let bytes: Vec<u8> = places.flat_map(|(y, x, c)| at(y, x, c).to_be_bytes()).collect();
    folder.write("a.npy", npy("{'shape': (2, 3, 2), 'fortran_order': True, 'descr': '>i2'}", &bytes));
    copy(&folder, "a.npy", "b.npy");
    assert_eq!(folder.read::<i16>("b.npy"), (vec![2, 3, 2], rows));
    folder.array("one.npy", &[1, 2, 1], &[1u16, 2]);
    copy(&folder, "one.npy", "b.npy");
    assert_eq!(folder.read::<u16>("b.npy"), (vec![1, 2], vec![1, 2]));
    // A mask by columns.
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
    folder.array("f64.npy", &[2, 2], &[0.1f64; 4]);
    folder.array("i64.npy", &[1, 1], &[16777217i64]);
    folder.array("line.npy", &[4], &[0u8; 4]);
    folder.array("five.npy", &[1, 1, 5], &[0u8; 5]);
    folder.array("deep.npy", &[1, 1, 1, 1], &[0u8]);
    folder.array::<u8>("empty.npy", &[0, 0], &[]);
    folder.array::<u8>("flat.npy", &[0, 5], &[]);
    let huge = "(18446744073709551615, 18446744073709551615)";
    let record = "[('a', '<f4'), ('b', '<i4')]";
    let files: &[(&str, Vec<u8>, &str)] = &[
        ("complex.npy", npy(&header("'<c8'", "(1, 1)"), &[0; 8]), "c8"),
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
    let made = [
        ("f64.npy", "--in-type f32"),
        ("i64.npy", "16777217 of dtype 'i8'"),
        ("line.npy", "(4,)"),
        ("five.npy", "(1, 1, 5)"),
        ("deep.npy", "(1, 1, 1, 1)"),
    ];
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
fn alpha_that_a_format_does_not_have_is_blended_or_opaque() {
    let folder = Folder::new();
    folder.png("opaque.png", 2, 1, &[10, 20, 30, 255, 40, 50, 60, 255]);
    folder.png("clear.png", 2, 1, &[10, 20, 30, 0, 100, 50, 60, 51]);
    folder.png("grey.png", 2, 1, &[10, 0, 20, 255]);
    folder.ok(&["box", "opaque.png", "out.ppm", "--size", "1"]);
    assert_eq!(decode(&folder.path("out.ppm")).as_bytes(), [10, 20, 30, 40, 50, 60]);
    folder.ok(&["box", "clear.png", "out.ppm", "--size", "1", "--background", "255,0,100"]);
    assert_eq!(decode(&folder.path("out.ppm")).as_bytes(), [255, 0, 100, 224, 10, 92]);
    folder.ok(&["box", "grey.png", "out.bmp", "--size", "1", "--background", "200"]);
    assert_eq!(decode(&folder.path("out.bmp")).into_luma8().into_raw(), [200, 20]);
    folder.ok(&["box", "opaque.png", "out.jpg", "--size", "1"]);
    folder.fails(3, "1 pixel is not opaque; --background 255", &["box", "grey.png", "x.jpg", "--size", "1"]);
    folder.fails(2, "V or R,G,B", &["box", "grey.png", "x.jpg", "--size", "1", "--background", "1,2"]);
    assert!(!folder.path("x.jpg").exists());
}

#[test]
fn images_come_and_go_by_the_standard_streams() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    let ended = folder.filter("a.png", &["correlate", "-", "-", "--mask", "2", "--format", "png"]);
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(image::load_from_memory(&ended.stdout).unwrap().as_bytes(), [6, 8]);
    let ended = folder.filter("a.png", &["stats", "-", "--json"]);
    assert!(String::from_utf8(ended.stdout).unwrap().contains("\"mean\":3.5"));
    let ended = folder.filter("a.png", &["box", "-", "out.npy", "--size", "1"]);
    assert!(ended.status.success() && ended.stdout.is_empty(), "{ended:?}");
    assert_eq!(folder.read::<u8>("out.npy").1, [3, 4]);
    let ended = folder.filter("a.png", &["pipe", "a.png", "-", "box size=1", "--format", "npy", "--quiet"]);
    assert!(ended.stdout.starts_with(b"\x93NUMPY") && ended.stderr.is_empty(), "{ended:?}");
    // An empty input, a format that is not said, and two who want to print.
    folder.fails(3, "standard input: the file is empty", &["stats", "-"]);
    folder.fails(2, "needs --format", &["box", "a.png", "-", "--size", "1"]);
    folder.fails(2, "cannot both go", &["box", "a.png", "-", "--size", "1", "--format", "png", "--json"]);
    folder.fails(2, "'gif'", &["box", "a.png", "-", "--size", "1", "--format", "gif"]);
    assert_eq!(folder.names(), ["a.png", "out.npy"]);
}

#[test]
fn profiles_and_densities_are_kept_where_formats_have_them() {
    use image::{ImageDecoder, ImageEncoder};
    let folder = Folder::new();
    // The header of a profile: enough for files, which do not look into it.
    let mut profile = vec![7u8; 200];
    profile[16..20].copy_from_slice(b"RGB ");
    let file = std::fs::File::create(folder.path("a.jpg")).unwrap();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new(file);
    encoder.set_pixel_density(image::codecs::jpeg::PixelDensity::dpi(300));
    encoder.set_icc_profile(profile.clone()).unwrap();
    encoder.write_image(&[9; 192], 8, 8, image::ExtendedColorType::Rgb8).unwrap();
    let icc = |name: &str| {
        let reader = image::ImageReader::open(folder.path(name)).unwrap().with_guessed_format().unwrap();
        reader.into_decoder().unwrap().icc_profile().unwrap()
    };
    // From JPEG over PNG to JPEG, and to TIFF.
    for (from, to) in [("a.jpg", "b.png"), ("b.png", "c.jpg"), ("c.jpg", "d.png")] {
        copy(&folder, from, to);
        assert_eq!(icc(to).as_ref(), Some(&profile), "{to}");
    }
    copy(&folder, "d.png", "e.tif");
    copy(&folder, "e.tif", "f.png");
    assert_eq!(icc("f.png"), Some(profile));
    let jpeg = std::fs::read(folder.path("c.jpg")).unwrap();
    assert_eq!(jpeg[13..18], [1, 1, 44, 1, 44], "300 pixels per inch");
    let png = std::fs::read(folder.path("d.png")).unwrap();
    let at = png.windows(4).position(|chunk| chunk == b"pHYs").unwrap();
    assert_eq!(png[at + 4..at + 13], [0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1], "11811 pixels per metre");
    // A colour's profile says nothing of grey.
    folder.ok(&["box", "a.jpg", "grey.png", "--size", "1", "--grey"]);
    assert_eq!(icc("grey.png"), None);
}

#[test]
fn a_jpeg_has_the_quality_that_is_asked_for() {
    let folder = Folder::new();
    folder.png("a.png", 64, 64, &(0..64 * 64).map(|i| (i * i % 251) as u8).collect::<Vec<_>>());
    let sizes = ["1", "50", "95", "100"].map(|quality| {
        folder.ok(&["box", "a.png", "out.jpg", "--size", "1", "--quality", quality]);
        std::fs::metadata(folder.path("out.jpg")).unwrap().len()
    });
    assert!(sizes.is_sorted_by(|one, next| one < next), "{sizes:?}");
    copy(&folder, "a.png", "out.jpg");
    assert_eq!(std::fs::metadata(folder.path("out.jpg")).unwrap().len(), sizes[2]);
    folder.fails(2, "1 to 100", &["box", "a.png", "out.jpg", "--size", "1", "--quality", "0"]);
    folder.fails(2, "--quality is for JPEG", &["box", "a.png", "out.png", "--size", "1", "--quality", "9"]);
}

#[test]
fn floats_fill_the_range_of_a_picture() {
    let folder = Folder::new();
    folder.array("f.npy", &[1, 4], &[-1.0f32, -0.5, 0.0, 1.0]);
    folder.fails(3, "--rescale auto", &["pad", "f.npy", "x.png", "--by", "0"]);
    for (options, expected) in [
        (&["--rescale", "auto"][..], [0, 64, 128, 255]),
        (&["--rescale", "0,2"], [0, 0, 0, 128]),
        (&["--rescale=1,-1"], [255, 191, 128, 0]),
    ] {
        folder.ok(&[&["pad", "f.npy", "out.png", "--by", "0"], options].concat());
        assert_eq!(decode(&folder.path("out.png")).as_bytes(), expected, "{options:?}");
        folder.ok(&[&["box", "f.npy", "out.png", "--size", "1"], options].concat());
        assert_eq!(decode(&folder.path("out.png")).as_bytes(), expected, "{options:?}");
    }
    // Not rounded before: a derivative of bytes has halves and is below 0.
    folder.png("a.png", 4, 1, &[0, 1, 2, 0]);
    let half = ["correlate", "a.png", "out.npy", "--mask", "-0.5 0 0.5", "--border", "replicate"];
    folder.ok(&[&half[..], &["--rescale=-1,1"]].concat());
    assert_eq!(folder.read::<u8>("out.npy").1, [191, 255, 64, 0]);
    folder.ok(&[&half[..], &["--rescale", "auto", "--out-type", "u16"]].concat());
    assert_eq!(folder.read::<u16>("out.npy").1, [49151, 65535, 16384, 0]);
    folder.ok(&[&half[..], &["--rescale", "auto", "--out-type", "f32"]].concat());
    assert_eq!(folder.read::<f32>("out.npy").1, [0.75, 1.0, 0.25, 0.0]);
    folder.ok(&["pipe", "a.png", "out.npy", "correlate mask='-0.5 0 0.5' border=replicate rescale=auto | box size=1"]);
    assert_eq!(folder.read::<u8>("out.npy").1, [191, 255, 64, 0]);
    folder.ok(&[
        "pipe",
        "a.png",
        "out.png",
        "correlate mask='-0.5 0 0.5' border=replicate out-type=f32",
        "--rescale",
        "auto",
    ]);
    assert_eq!(decode(&folder.path("out.png")).as_bytes(), [191, 255, 64, 0]);
    folder.fails(2, "auto or LO,HI", &["pad", "f.npy", "x.png", "--by", "0", "--rescale", "1,1"]);
}

#[test]
fn numbers_that_a_type_of_images_holds_are_taken() {
    let folder = Folder::new();
    let taken = |name: &str, more: &[&str]| {
        folder.ok(&[&["pad", name, "out.npy", "--by", "0", "--json"], more].concat()).stdout
    };
    let is = |stdout: String, pixel: &str| assert!(stdout.contains(&format!("\"in_type\":\"{pixel}\"")), "{stdout}");
    folder.write("bool.npy", npy(&header("'|b1'", "(1, 2)"), &[1, 0]));
    is(taken("bool.npy", &[]), "u8");
    assert_eq!(folder.read::<u8>("out.npy"), (vec![1, 2], vec![1, 0]));
    folder.array("i8.npy", &[1, 2], &[-128i8, 127]);
    is(taken("i8.npy", &[]), "i16");
    assert_eq!(folder.read::<i16>("out.npy").1, [-128, 127]);
    folder.array("i32.npy", &[1, 3], &[0i32, 7, 255]);
    is(taken("i32.npy", &[]), "u8");
    folder.array("u32.npy", &[1, 2], &[0u32, 256]);
    is(taken("u32.npy", &[]), "u16");
    folder.array("i64.npy", &[1, 2], &[-1i64, 256]);
    is(taken("i64.npy", &[]), "i16");
    folder.array("u64.npy", &[1, 2], &[1u64 << 60, 3]);
    is(taken("u64.npy", &[]), "f32");
    assert_eq!(folder.read::<f32>("out.npy").1, [(1u64 << 60) as f32, 3.0]);
    folder.array("f64.npy", &[1, 3], &[0.5f64, f64::NAN, f64::NEG_INFINITY]);
    is(taken("f64.npy", &[]), "f32");
    // By columns, in the other byte order.
    let bytes: Vec<u8> = [1i32, 3, 5, 2, 4, 6].iter().flat_map(|item| item.to_be_bytes()).collect();
    folder.write("big.npy", npy("{'shape': (3, 2), 'fortran_order': True, 'descr': '>i4'}", &bytes));
    is(taken("big.npy", &[]), "u8");
    assert_eq!(folder.read::<u8>("out.npy"), (vec![3, 2], vec![1, 2, 3, 4, 5, 6]));
    // A type that rounds, or one that is wider.
    folder.array("tenths.npy", &[1, 4], &[0.1f64, 2.5, -7.0, 1e9]);
    is(taken("tenths.npy", &["--in-type", "f32"]), "f32");
    assert_eq!(folder.read::<f32>("out.npy").1, [0.1, 2.5, -7.0, 1e9]);
    is(taken("tenths.npy", &["--in-type", "u16"]), "u16");
    assert_eq!(folder.read::<u16>("out.npy").1, [0, 2, 0, 65535]);
    folder.png("a.png", 2, 1, &[3, 4]);
    is(taken("a.png", &["--in-type", "f32"]), "f32");
    assert_eq!(folder.read::<f32>("out.npy").1, [3.0, 4.0]);
    folder.fails(3, "--max-pixels", &["pad", "i64.npy", "b.npy", "--by", "0", "--max-pixels", "1"]);
    let cut = npy(&header("'<f8'", "(100000, 100000)"), &[0; 8]);
    folder.write("liar.npy", cut);
    folder.fails(3, "holds 8 bytes", &["pad", "liar.npy", "b.npy", "--by", "0"]);
}

#[test]
fn floats_that_are_no_numbers_pass_through_filters() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[f32::NAN, f32::INFINITY, 1.0]);
    copy(&folder, "a.npy", "b.npy");
    let items = folder.read::<f32>("b.npy").1;
    assert!(items[0].is_nan() && items[1] == f32::INFINITY && items[2] == 1.0, "{items:?}");
}

/// Greys come back as one channel from every format, also from palettes.
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
    // A palette with a colour has three.
    let mut bmp = std::fs::read(folder.path("b.bmp")).unwrap();
    bmp[54 + 4 * 100] = 7;
    folder.write("colour.bmp", &bmp);
    copy(&folder, "colour.bmp", "c.npy");
    assert_eq!(folder.read::<u8>("c.npy").0, [2, 3, 3]);
}

/// Cameras say how to turn what they wrote.
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
    // The upper half became the right one.
    assert!(
        items.chunks(8).all(|row| row[..4].iter().all(|&of| of > 150) && row[4..].iter().all(|&of| of < 60)),
        "{items:?}"
    );
}
