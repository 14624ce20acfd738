//! Formats in and out, hostile files, and outputs that are whole or not there.

mod common;

use common::{Folder, decode, header, npy};

const IDENTITY: &[&str] = &["--mask", "identity", "--device", "cpu"];

fn copy(folder: &Folder, from: &str, to: &str) {
    folder.ok(&["correlate", from, to, "--mask", "identity"]);
}

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
            _ => folder.fails(3, "channel", &[&refused, IDENTITY].concat()),
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
    folder.array("f64.npy", &[2, 2], &[0.0f64; 4]);
    folder.array("line.npy", &[4], &[0u8; 4]);
    folder.array("five.npy", &[1, 1, 5], &[0u8; 5]);
    folder.array("deep.npy", &[1, 1, 1, 1], &[0u8]);
    folder.array::<u8>("empty.npy", &[0, 0], &[]);
    folder.array::<u8>("flat.npy", &[0, 5], &[]);
    let huge = "(18446744073709551615, 18446744073709551615)";
    let record = "[('a', '<f4'), ('b', '<i4')]";
    let files: &[(&str, Vec<u8>, &str)] = &[
        ("bool.npy", npy(&header("'|b1'", "(1, 1)"), &[1]), "b1"),
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
    let made = [("f64.npy", "f8"), ("line.npy", "(4,)"), ("five.npy", "(1, 1, 5)"), ("deep.npy", "(1, 1, 1, 1)")];
    let made = made.into_iter().chain([("empty.npy", "(0, 0)"), ("flat.npy", "(0, 5)")]);
    for (name, part) in made.chain(files.iter().map(|(name, _, part)| (*name, *part))) {
        folder.fails(3, part, &[&["correlate", name, "out.npy"], IDENTITY].concat());
        folder.fails(3, name, &["histogram", name, "--device", "cpu"]);
    }
    // As masks.
    folder.png("a.png", 1, 1, &[1]);
    for name in ["empty.npy", "deep.npy", "bool.npy", "complex.npy", "object.npy", "overflow.npy", "text.npy"] {
        folder.fails(3, name, &["correlate", "a.png", "out.npy", "--mask", name]);
        folder.fails(3, name, &["separable", "a.png", "out.npy", "--taps-x", name, "--taps-y", "1"]);
    }
    assert!(!folder.names().contains(&"out.npy".into()));
}

#[test]
fn pictures_that_lie_are_refused() {
    let folder = Folder::new();
    folder.png("a.png", 64, 64, &(0..64 * 64).map(|i| (i * i % 251) as u8).collect::<Vec<_>>());
    let whole = std::fs::read(folder.path("a.png")).unwrap();
    folder.write("half.png", &whole[..whole.len() / 2]);
    folder.write("stub.png", &whole[..20]);
    for format in ["jpg", "tif", "bmp", "pgm", "npy"] {
        let (good, cut) = (format!("good.{format}"), format!("half.{format}"));
        copy(&folder, "a.png", &good);
        let bytes = std::fs::read(folder.path(&good)).unwrap();
        folder.write(&cut, &bytes[..bytes.len() / 2]);
        std::fs::remove_file(folder.path(&good)).unwrap();
    }
    let mut huge = whole.clone();
    huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let sum = crc(&huge[12..29]);
    huge[29..33].copy_from_slice(&sum.to_be_bytes());
    folder.write("huge.png", &huge);
    folder.write("huge.pgm", "P5 100000 100000 255\n12345");
    folder.write("cut.ppm", "P6 9 9 255\n12345");
    folder.write("zero.pgm", "P5 0 0 255\n");
    folder.write("noise.bmp", "BM and nothing more");
    folder.write("noise.tif", "II*\0\u{8}\0\0\0nothing");
    folder.write("noise.jpg", b"\xff\xd8\xff\xe0 nothing");
    folder.write("noise.xyz", "nothing");
    folder.write("empty.png", "");
    std::fs::create_dir(folder.path("folder.png")).unwrap();
    let names = folder.names();
    for name in names.iter().filter(|name| *name != "a.png") {
        folder.fails(3, name, &[&["correlate", name, "out.npy"], IDENTITY].concat());
    }
    folder.fails(3, "missing.png", &[&["correlate", "missing.png", "out.npy"], IDENTITY].concat());
    folder.fails(3, "--max-pixels", &[&["correlate", "a.png", "out.npy", "--max-pixels", "4095"], IDENTITY].concat());
    folder.ok(&["correlate", "a.png", "out.npy", "--mask", "identity", "--max-pixels", "4096"]);
    folder.fails(3, "--max-pixels", &[&["correlate", "out.npy", "b.npy", "--max-pixels", "99"], IDENTITY].concat());
}

/// Headers that claim gigabytes, under a limit of one: an error, and not the end of the process by the system.
#[cfg(target_os = "linux")]
#[test]
fn a_gigabyte_of_memory_is_enough_to_refuse_a_file() {
    let folder = Folder::new();
    folder.write("grey.pgm", "P5 16000 16000 255\n12345");
    folder.write("colour.ppm", "P6 16000 16000 65535\n12345");
    folder.write("text.ppm", "P3 16000 16000 65535\n1 2 3");
    folder.write("bits.pbm", "P4 16384 16384\n1");
    let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    bmp.extend([16000u32, 16000].map(u32::to_le_bytes).concat());
    bmp.extend([1, 0, 24, 0].into_iter().chain([0; 30]));
    folder.write("large.bmp", bmp);
    // Tags of a TIFF: width, height, bits, compression, photometric, place, channels, rows and bytes of its one strip.
    let tags = [(256, 16000), (257, 16000), (258, 8), (259, 1), (262, 2), (273, 8), (277, 3), (278, 16000), (279, 5)];
    let mut tiff = b"II*\0\x10\0\0\0\x01\x02\x03\x04\x05\0\0\0".to_vec();
    tiff.extend((tags.len() as u16).to_le_bytes());
    for (tag, value) in tags {
        tiff.extend([u16::to_le_bytes(tag), u16::to_le_bytes(4)].concat());
        tiff.extend([1, value].map(u32::to_le_bytes).concat());
    }
    tiff.extend([0; 4]);
    folder.write("large.tif", tiff);
    folder.write("large.npy", npy(&header("'<f4'", "(16000, 16000)"), &[0; 64]));
    folder.png("a.png", 64, 64, &[7; 64 * 64]);
    let mut png = std::fs::read(folder.path("a.png")).unwrap();
    png[16..24].copy_from_slice(&[16000u32, 16000].map(u32::to_be_bytes).concat());
    png[25] = 6;
    png[24] = 16;
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    folder.write("large.png", &png);
    for name in folder.names().iter().filter(|name| *name != "a.png") {
        let start = std::time::Instant::now();
        let ended = folder.run_within(1_000_000, &["stats", name, "--device", "cpu"]);
        assert_eq!(ended.code, 3, "{name}: {ended:?}");
        assert!(ended.stderr.starts_with("apron: ") && ended.stderr.trim_end().lines().count() == 1, "{ended:?}");
        assert!(start.elapsed().as_secs() < 30, "{name} took {:?}", start.elapsed());
    }
    let ended = folder.run_within(1_000_000, &["stats", "a.png", "--device", "reference"]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

/// The checksum of PNG chunks.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |sum, byte| {
        (0..8).fold(sum ^ *byte as u32, |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb88320 } else { sum >> 1 })
    })
}

#[test]
fn outputs_are_whole_or_not_there() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    folder.write("keep.npy", "precious");
    folder.write("bad.png", "P5 9 9 255\n1");
    std::fs::create_dir(folder.path("folder.npy")).unwrap();
    folder.fails(3, "cannot be written", &[&["correlate", "a.png", "no/such/b.npy"], IDENTITY].concat());
    folder.fails(3, "not a regular file", &[&["correlate", "a.png", "folder.npy"], IDENTITY].concat());
    folder.fails(3, "bad.png", &[&["correlate", "bad.png", "keep.npy"], IDENTITY].concat());
    folder.fails(3, "cannot be written", &["histogram", "a.png", "--out", "no/such.csv"]);
    folder.fails(3, "cannot be written", &["histogram", "a.png", "--plot", "no/such.png"]);
    assert_eq!(std::fs::read(folder.path("keep.npy")).unwrap(), b"precious");
    copy(&folder, "a.png", "keep.npy");
    assert_eq!(folder.read::<u8>("keep.npy").1, [3, 4]);
    // Onto itself.
    folder.ok(&["correlate", "a.png", "a.png", "--mask", "2"]);
    assert_eq!(decode(&folder.path("a.png")).as_bytes(), [6, 8]);
    assert_eq!(folder.names(), ["a.png", "bad.png", "folder.npy", "keep.npy"]);
    // What the format cannot hold is found first, without the input where that is possible.
    folder.fails(2, "u8", &[&["correlate", "missing.png", "b.png", "--out-type", "f32"], IDENTITY].concat());
    folder.array("f.npy", &[1, 1], &[1.0f32]);
    folder.fails(3, "--out-type u8", &[&["correlate", "f.npy", "b.png"], IDENTITY].concat());
}

#[cfg(unix)]
#[test]
fn outputs_have_the_permissions_of_other_files_and_links_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    copy(&folder, "a.png", "b.png");
    let mode = |name: &str| std::fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("a.png"), mode("b.png"));
    // A file that was private stays so.
    std::fs::set_permissions(folder.path("b.png"), std::fs::Permissions::from_mode(0o600)).unwrap();
    copy(&folder, "a.png", "b.png");
    assert_eq!(mode("b.png") & 0o777, 0o600);
    std::os::unix::fs::symlink("b.png", folder.path("link.png")).unwrap();
    folder.ok(&["correlate", "a.png", "link.png", "--mask", "2"]);
    assert!(std::fs::symlink_metadata(folder.path("link.png")).unwrap().is_symlink());
    assert_eq!(decode(&folder.path("b.png")).as_bytes(), [6, 8]);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    std::fs::create_dir(folder.path("far")).unwrap();
    for (name, to) in [("first.png", "far/second.png"), ("far/second.png", "third.png"), ("lost.png", "no/such.png")] {
        std::os::unix::fs::symlink(to, folder.path(name)).unwrap();
    }
    copy(&folder, "a.png", "first.png");
    for name in ["first.png", "far/second.png"] {
        assert!(std::fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(std::fs::symlink_metadata(folder.path("far/third.png")).unwrap().is_file());
    assert_eq!(decode(&folder.path("first.png")).as_bytes(), [3, 4]);
    folder.fails(3, "lost.png: cannot be written", &[&["correlate", "a.png", "lost.png"], IDENTITY].concat());
    std::os::unix::fs::symlink("round.png", folder.path("round.png")).unwrap();
    folder.fails(3, "round.png: cannot be written", &[&["correlate", "a.png", "round.png"], IDENTITY].concat());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_read_only_stays() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[3, 4]);
    for name in ["keep.png", "keep.csv", "keep.svg"] {
        folder.write(name, "precious");
        std::fs::set_permissions(folder.path(name), std::fs::Permissions::from_mode(0o444)).unwrap();
    }
    let part = |name: &str| format!("{name}: cannot be written: the file is read-only");
    folder.fails(3, &part("keep.png"), &[&["correlate", "a.png", "keep.png"], IDENTITY].concat());
    folder.fails(3, &part("keep.csv"), &["histogram", "a.png", "--out", "keep.csv"]);
    folder.fails(3, &part("keep.svg"), &["histogram", "a.png", "--plot", "keep.svg"]);
    for name in ["keep.png", "keep.csv", "keep.svg"] {
        assert_eq!(std::fs::read(folder.path(name)).unwrap(), b"precious");
    }
}

#[test]
fn floats_that_are_no_numbers_pass_through_filters() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[f32::NAN, f32::INFINITY, 1.0]);
    copy(&folder, "a.npy", "b.npy");
    let items = folder.read::<f32>("b.npy").1;
    assert!(items[0].is_nan() && items[1] == f32::INFINITY && items[2] == 1.0, "{items:?}");
}

/// What takes more memory than there is: an error that names the bytes, and no end by the system.
#[cfg(target_os = "linux")]
#[test]
fn results_beyond_memory_are_refused() {
    let folder = Folder::new();
    folder.array("a.npy", &[5, 5, 2], &[7u16; 50]);
    folder.array("grey.npy", &[5, 5], &[7u16; 25]);
    for (arguments, part) in [
        (&["histogram2d", "a.npy", "--channels", "0,1", "--bins", "16777216", "--range", "0,9"][..], "pairs of bins"),
        (&["pad", "a.npy", "b.npy", "--by", "20000", "--max-pixels", "99999999999"], "40005x40005x2"),
        (&["box", "a.npy", "b.npy", "--size", "3", "--region", "0,0,16384x16384"], "16384x16384x2"),
        (&["clahe", "grey.npy", "b.npy", "--tiles", "400x400", "--max-pixels", "99999999999"], "tables of tiles"),
    ] {
        for device in ["cpu", "reference"] {
            let ended = folder.run_within(1_000_000, &[arguments, &["--device", device]].concat());
            // Tables are floats in the reference, and so larger.
            assert_eq!(ended.code, 3, "{device}: {ended:?}");
            assert!(ended.stderr.contains(part) && ended.stderr.contains("bytes"), "{ended:?}");
        }
    }
    assert_eq!(folder.names(), ["a.npy", "grey.npy"]);
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

#[cfg(unix)]
#[test]
fn pipes_are_no_files() {
    let folder = Folder::new();
    folder.png("a.png", 1, 1, &[3]);
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe.npy")).status().unwrap().success());
    folder.fails(3, "not a regular file", &[&["correlate", "pipe.npy", "b.png"], IDENTITY].concat());
    folder.fails(3, "not a regular file", &["correlate", "a.png", "b.png", "--mask", "pipe.npy"]);
}

#[test]
fn samples_above_the_files_largest_are_refused() {
    let folder = Folder::new();
    let files: &[(&str, &[u8], &str)] = &[
        ("a.pgm", b"P5 2 2 15\n\x01\x0f\x10\x02", "sample 2 is 16, above the file's largest value 15"),
        ("b.pgm", b"P5 2 1 1000\n\x03\xe8\x03\xe9", "sample 1 is 1001, above the file's largest value 1000"),
        ("c.ppm", b"P6 1 1 99\n\x63\x64\x00", "sample 1 is 100, above the file's largest value 99"),
        ("d.pgm", b"P2 2 1 7\n 7\n8\n", "sample 1 is 8, above the file's largest value 7"),
        ("e.ppm", b"P3 1 1 255\n0 256 1", "sample 1 is 256, above the file's largest value 255"),
        ("f.pam", b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 3\nTUPLTYPE GRAYSCALE\nENDHDR\n\x04", "sample 0 is 4"),
    ];
    for (name, bytes, part) in files {
        folder.write(name, bytes);
        folder.fails(3, part, &[&["correlate", name, "out.npy"], IDENTITY].concat());
    }
    // Those up to it are scaled to all of the type, and what stands behind the image is none of its samples.
    folder.write("good.pgm", b"P5 3 1 15\n\x00\x01\x0f\xff");
    folder.write("text.pgm", b"P2\n# levels\n3 1 15 0 1 15");
    for name in ["good.pgm", "text.pgm"] {
        copy(&folder, name, "good.npy");
        assert_eq!(folder.read::<u8>("good.npy").1, [0, 17, 255], "{name}");
    }
}

/// A TIFF file: pages, each of tags and of values that do not fit into a tag; `#` in a value is the place of what follows.
fn tiff(pages: &[(&[(u16, u16, u32, u32)], &[u8])]) -> Vec<u8> {
    let mut file = b"II*\0\x08\0\0\0".to_vec();
    for (index, (tags, data)) in pages.iter().enumerate() {
        let data_at = file.len() as u32 + 2 + 12 * tags.len() as u32 + 4;
        file.extend((tags.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in *tags {
            let value = if *value >= DATA { data_at + value - DATA } else { *value };
            file.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            file.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        }
        let next = if index + 1 < pages.len() { data_at + data.len() as u32 } else { 0 };
        file.extend(next.to_le_bytes());
        file.extend(*data);
    }
    file
}

/// What stands for the place of the page's data in a tag's value.
const DATA: u32 = 1 << 24;

/// Tiles of 16x16 bytes of an image of 20x17 pixels and of as many planes as there are in `planes`; compression is as in TIFF.
fn tiled(compression: u32, planes: u16, tiles: &[Vec<u8>]) -> Vec<u8> {
    let count = tiles.len() as u32;
    let mut data: Vec<u8> = Vec::new();
    let mut at = 8 * count;
    let mut bits: Vec<u8> = Vec::new();
    let tags_before = 12;
    // Places are counted from the data's own, behind 8 bytes of header, the count, the tags and the next page's place.
    let data_at = 8 + 2 + 12 * tags_before + 4;
    for tile in tiles {
        data.extend((data_at + at).to_le_bytes());
        at += tile.len() as u32;
    }
    tiles.iter().for_each(|tile| data.extend((tile.len() as u32).to_le_bytes()));
    tiles.iter().for_each(|tile| data.extend(tile));
    let bits_at = data.len() as u32;
    (0..planes).for_each(|_| bits.extend([8, 0]));
    data.extend(bits);
    let bits = if planes > 2 { DATA + bits_at } else { 8 };
    let tags = [
        (256, 3, 1, 20),
        (257, 3, 1, 17),
        (258, 3, planes.into(), bits),
        (259, 3, 1, compression),
        (262, 3, 1, if planes > 1 { 2 } else { 1 }),
        (277, 3, 1, planes.into()),
        (284, 3, 1, if planes > 1 { 2 } else { 1 }),
        (322, 3, 1, 16),
        (323, 3, 1, 16),
        (324, 4, count, DATA),
        (325, 4, count, DATA + 4 * count),
        (339, 3, 1, 1),
    ];
    assert_eq!(tags.len() as u32, tags_before);
    tiff(&[(&tags, &data)])
}

/// The pixel of a plane of the tiled images.
fn at(plane: usize, y: usize, x: usize) -> u8 {
    ((plane * 89 + y * 37 + x * 59) % 251) as u8
}

/// The tiles of a plane, with 7 where they reach beyond the image.
fn plane(plane: usize) -> impl Iterator<Item = Vec<u8>> {
    [(0, 0), (0, 16), (16, 0), (16, 16)].into_iter().map(move |(top, left)| {
        let places = (top..top + 16).flat_map(|y| (left..left + 16).map(move |x| (y, x)));
        places.map(|(y, x)| if y < 17 && x < 20 { at(plane, y, x) } else { 7 }).collect()
    })
}

/// LZW without its tables: each byte as a code of 9 bits, between clear codes so often that codes never grow.
fn lzw(bytes: &[u8]) -> Vec<u8> {
    let codes = bytes.chunks(200).flat_map(|bytes| [256].into_iter().chain(bytes.iter().map(|byte| *byte as u32)));
    let bits: Vec<bool> =
        codes.chain([257]).flat_map(|code| (0..9).rev().map(move |bit| code >> bit & 1 == 1)).collect();
    bits.chunks(8)
        .map(|bits| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | (*bit as u8) << (7 - at)))
        .collect()
}

#[test]
fn tiles_that_reach_beyond_the_image_are_read() {
    let folder = Folder::new();
    let expected = |planes: usize| -> Vec<u8> {
        let places = (0..17).flat_map(|y| (0..20).map(move |x| (y, x)));
        places.flat_map(|(y, x)| (0..planes).map(move |plane| at(plane, y, x))).collect()
    };
    let planes = |count: usize, pack: fn(&[u8]) -> Vec<u8>| -> Vec<Vec<u8>> {
        (0..count).flat_map(|index| plane(index).map(|tile| pack(&tile)).collect::<Vec<_>>()).collect()
    };
    let plain: fn(&[u8]) -> Vec<u8> = |bytes| bytes.into();
    for (compression, count, pack) in [(1, 1, plain), (5, 1, lzw), (1, 3, plain), (5, 3, lzw)] {
        folder.write("a.tif", tiled(compression, count, &planes(count.into(), pack)));
        copy(&folder, "a.tif", "b.npy");
        let (shape, items) = folder.read::<u8>("b.npy");
        assert_eq!(shape[..2], [17, 20], "compression {compression}, {count} planes");
        assert_eq!(items, expected(count.into()), "compression {compression}, {count} planes");
    }
    let limited = [&["correlate", "a.tif", "b.npy", "--max-pixels", "339"], IDENTITY].concat();
    folder.fails(3, "20x17 is more than 339 pixels", &limited);
}

#[test]
fn a_page_is_chosen_or_the_others_are_told_of() {
    let folder = Folder::new();
    let tags = |width: u32| {
        [(256, 3, 1, width), (257, 3, 1, 1), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, DATA)]
            .into_iter()
            .chain([(277, 3, 1, 1), (278, 3, 1, 1), (279, 4, 1, width)])
            .collect::<Vec<_>>()
    };
    let (first, second) = (tags(2), tags(3));
    folder.write("two.tif", tiff(&[(&first, &[10, 20]), (&second, &[1, 2, 3])]));
    folder.write("one.tif", tiff(&[(&first, &[10, 20])]));
    let warning = "apron: warning: two.tif: page 1 of 2 is read; --page N reads another";
    let told = |arguments: &[&str]| folder.ok(&[&["correlate"], arguments, &["--mask", "identity"]].concat()).stderr;
    assert!(told(&["two.tif", "a.npy"]).starts_with(warning));
    assert_eq!(folder.read::<u8>("a.npy").1, [10, 20]);
    assert_eq!(told(&["two.tif", "a.npy", "--quiet"]), "");
    assert!(!told(&["two.tif", "a.npy", "--page", "1"]).contains("warning"));
    assert!(!told(&["one.tif", "a.npy"]).contains("warning"));
    assert!(!told(&["two.tif", "a.npy", "--page", "2"]).contains("warning"));
    assert_eq!(folder.read::<u8>("a.npy").1, [1, 2, 3]);
    folder.png("a.png", 1, 1, &[3]);
    for (name, page, part) in
        [("two.tif", "3", "there are 2"), ("a.png", "2", "there is one"), ("a.npy", "2", "there is")]
    {
        let asked = format!("{name}: page {page} was asked for, and {part}");
        folder.fails(3, &asked, &["stats", name, "--page", page, "--device", "cpu"]);
    }
    folder.fails(2, "--page", &["stats", "two.tif", "--page", "0"]);
}

#[test]
fn work_beyond_the_limit_is_refused_before_it_begins() {
    let folder = Folder::new();
    folder.array("a.npy", &[10, 10], &[7u16; 100]);
    folder.array("mask.npy", &[400, 400], &[1.0f32; 160_000]);
    let run = |verb: &str, options: &[&str]| {
        folder.run(&[&[verb, "a.npy", "b.npy", "--device", "cpu", "--max-pixels", "120"], options].concat())
    };
    for (verb, options, part) in [
        ("box", &["--size", "3x1", "--full"][..], ""),
        ("box", &["--size", "3x3", "--full"], "full output is 12x12, but must be up to 120 pixels"),
        ("correlate", &["--mask", "mask.npy"], "160000 a sample, and so 16000000 products"),
        ("correlate", &["--mask", "mask.npy", "--full"], "full output is 409x409"),
        ("log", &["--sigma", "2", "--full"], "full output is"),
        ("clahe", &["--tiles", "1x1"], "1x1, whose tables have 65536 values"),
    ] {
        let ended = run(verb, options);
        assert_eq!(ended.code, if part.is_empty() { 0 } else { 2 }, "{ended:?}");
        assert!(part.is_empty() || ended.stderr.contains(part) && ended.stderr.contains("--max-pixels"), "{ended:?}");
    }
    folder.fails(2, "4096x4096, whose tables have", &["clahe", "a.npy", "b.npy", "--tiles", "4096", "--device", "cpu"]);
}
