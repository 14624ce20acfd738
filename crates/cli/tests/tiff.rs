//! Pages and tiles of TIFF files.

mod common;

use common::{DATA, Folder, IDENTITY, Tag, copy, decode, tiff};

/// Builds a TIFF of 20x17 u8 pixels in tiles of 16x16, with `planes` planes; `compression` and
/// `orientation` are TIFF's numbers.
fn tiled(compression: u32, orientation: u32, planes: u16, tiles: &[Vec<u8>]) -> Vec<u8> {
    let count = tiles.len() as u32;
    let mut data: Vec<u8> = Vec::new();
    let mut at = 8 * count;
    let mut bits: Vec<u8> = Vec::new();
    let tags_before = 13;
    // Offsets are relative to the data, which follows 8 bytes of header, the count, the tags and the offset of the next
    // page.
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
        (274, 3, 1, orientation),
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

/// Returns the pixel of a plane of the tiled images.
fn at(plane: usize, y: usize, x: usize) -> u8 {
    ((plane * 89 + y * 37 + x * 59) % 251) as u8
}

/// Returns the tiles of a plane, with 7 outside the image.
fn plane(plane: usize) -> impl Iterator<Item = Vec<u8>> {
    [(0, 0), (0, 16), (16, 0), (16, 16)].into_iter().map(move |(top, left)| {
        let places = (top..top + 16).flat_map(|y| (left..left + 16).map(move |x| (y, x)));
        places.map(|(y, x)| if y < 17 && x < 20 { at(plane, y, x) } else { 7 }).collect()
    })
}

/// Encodes bytes as LZW without using its table: each byte as a code of 9 bits, with clear codes before codes would
/// grow.
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
        // Turned to the right by a quarter, then as it is.
        folder.write("a.tif", tiled(compression, 6, count, &planes(count.into(), pack)));
        copy(&folder, "a.tif", "b.npy");
        let (shape, items) = folder.read::<u8>("b.npy");
        let turned = (0..20).flat_map(|y| (0..17).map(move |x| (16 - x, y)));
        let turned: Vec<u8> = turned.flat_map(|(y, x)| (0..count.into()).map(move |plane| at(plane, y, x))).collect();
        assert_eq!(shape[..2], [20, 17], "compression {compression}, {count} planes");
        assert_eq!(items, turned, "compression {compression}, {count} planes");
        folder.write("a.tif", tiled(compression, 1, count, &planes(count.into(), pack)));
        copy(&folder, "a.tif", "b.npy");
        let (shape, items) = folder.read::<u8>("b.npy");
        assert_eq!(shape[..2], [17, 20], "compression {compression}, {count} planes");
        assert_eq!(items, expected(count.into()), "compression {compression}, {count} planes");
    }
    let limited = [&["correlate", "a.tif", "b.npy", "--max-pixels", "339"], IDENTITY].concat();
    folder.fails(3, "20x17 is more than 339 pixels", &limited);
    // 3 planes of 32x32, four times.
    let said = "memory is 12287, but must be 12288 or more: with a file of this kind the image is taken whole";
    folder.fails(2, said, &["stats", "a.tif", "--memory", "12287"]);
    folder.ok(&["stats", "a.tif", "--memory", "12288"]);
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
    let warning =
        "apron: warning: two.tif: page 1 of 2 is read; --page N reads another, and --pages of a filter takes all";
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

/// Returns the tags of a page of one row of 8 bytes, which also hold its resolution in pixels per inch, as a rational
/// number.
fn dense() -> [Tag; 11] {
    [
        (256, 3, 1, 8),
        (257, 3, 1, 1),
        (258, 3, 1, 8),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, 4, 1, DATA),
        (277, 3, 1, 1),
        (278, 3, 1, 1),
        (279, 4, 1, 8),
        (282, 5, 1, DATA),
        (283, 5, 1, DATA),
    ]
}

#[test]
fn a_page_of_the_standard_input_is_chosen_and_has_its_own_density() {
    let folder = Folder::new();
    let (first, second) = ([127, 0, 0, 0, 1, 0, 0, 0], [254, 0, 0, 0, 1, 0, 0, 0]);
    folder.write("two.tif", tiff(&[(&dense(), &first), (&dense(), &second)]));
    let filter = |more: &[&str]| {
        let fixed = ["correlate", "-", "out.png", "--mask", "identity", "--device", "cpu"];
        let ended = folder.filter("two.tif", &[&fixed, more].concat());
        assert!(ended.status.success(), "{ended:?}");
        let png = std::fs::read(folder.path("out.png")).unwrap();
        let at = png.windows(4).position(|chunk| chunk == b"pHYs").unwrap() + 4;
        let metre = u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (decode(&folder.path("out.png")).as_bytes()[0], metre, String::from_utf8(ended.stderr).unwrap())
    };
    let (sample, metre, told) = filter(&[]);
    assert_eq!((sample, metre), (127, 5000));
    assert!(told.starts_with("apron: warning: standard input: page 1 of 2 is read; --page N reads another"), "{told}");
    let (sample, metre, told) = filter(&["--page", "2", "--quiet"]);
    assert_eq!((sample, metre, &told[..]), (254, 10000, ""));
}

#[test]
fn the_first_page_of_an_image_beside_is_read_with_a_warning() {
    let folder = Folder::new();
    let pages = [1, 2].map(|page| [page, 0, 0, 0, 1, 0, 0, 0]);
    folder.write("two.tif", tiff(&[(&dense(), &pages[0]), (&dense(), &pages[1])]));
    folder.png("a.png", 8, 1, &[5; 8]);
    for arguments in [
        &["match", "a.png", "two.tif", "b.png"][..],
        &["histogram", "a.png", "--roi-mask", "two.tif", "--bins", "4", "--out", "b.csv"],
    ] {
        let told = folder.ok(arguments).stderr;
        assert_eq!(told.matches("warning: two.tif: page 1 of 2 is read\n").count(), 1, "{told}");
    }
}

/// Samples per pixel, TIFF's numbers of what the samples beside RGB are, and the type of these numbers.
fn samples(count: u16, extra: &[u16], kind: u16) -> Vec<u8> {
    let bits_at = 2 * u32::from(count);
    let mut data: Vec<u8> = (1..=2 * count as u8).collect();
    data.extend((0..count).flat_map(|_| 8u16.to_le_bytes()));
    let extra_at = data.len() as u32;
    data.extend(extra.iter().flat_map(|extra| extra.to_le_bytes()));
    let tags = [
        (256, 3, 1, 2),
        (257, 3, 1, 1),
        (258, 3, count.into(), DATA + bits_at),
        (259, 3, 1, 1),
        (262, 3, 1, 2),
        (273, 4, 1, DATA),
        (277, 3, 1, count.into()),
        (279, 4, 1, bits_at),
        (338, kind, extra.len() as u32, if extra.len() == 1 { extra[0].into() } else { DATA + extra_at }),
    ];
    tiff(&[(&tags, &data)])
}

/// As tifffile and OpenCV read them.
#[test]
fn a_fourth_sample_is_read_whatever_it_is_said_to_be() {
    let folder = Folder::new();
    for (extra, kind) in [(0, 3), (2, 3), (999, 3), (0, 1)] {
        folder.write("a.tif", samples(4, &[extra], kind));
        copy(&folder, "a.tif", "b.npy");
        assert_eq!(folder.read::<u8>("b.npy"), (vec![1, 2, 4], (1..=8).collect()), "{extra} of type {kind}");
    }
    for extra in [[0, 0], [2, 0]] {
        folder.write("a.tif", samples(5, &extra, 3));
        folder.fails(3, "5 samples per pixel, 2 of them beside RGB", &["stats", "a.tif"]);
    }
}

/// As Pillow, which does not round: 60 * 255 / 128.
#[test]
fn colours_that_are_multiplied_by_alpha_are_divided_by_it() {
    let folder = Folder::new();
    folder.write("a.tif", samples(4, &[1], 3));
    let straight = [64, 128, 191, 4, 159, 191, 223, 8];
    copy(&folder, "a.tif", "b.npy");
    assert_eq!(folder.read::<u8>("b.npy"), (vec![1, 2, 4], straight.into()));
    let rows = apron_files::RowsFile::open(&folder.path("a.tif"), 9).unwrap().unwrap();
    let mut bytes = [0; 8];
    rows.read_rows(0..1, &mut bytes).unwrap();
    assert_eq!(bytes, straight);
    // What is written says that alpha is straight, and is read so.
    copy(&folder, "a.tif", "b.tif");
    copy(&folder, "b.tif", "c.npy");
    assert_eq!(folder.read::<u8>("c.npy").1, straight);
}

/// Returns a page of one row of three grey samples of this many bits and TIFF's number of their format, white at 0.
fn white_is_zero(bits: u16, format: u32, data: &[u8]) -> Vec<u8> {
    let tags = [
        (256, 3, 1, 3),
        (257, 3, 1, 1),
        (258, 3, 1, bits.into()),
        (259, 3, 1, 1),
        (262, 3, 1, 0),
        (273, 4, 1, DATA),
        (277, 3, 1, 1),
        (279, 4, 1, data.len() as u32),
        (339, 3, 1, format),
    ];
    tiff(&[(&tags, data)])
}

#[test]
fn only_grey_of_8_and_16_bits_is_turned_around_where_white_is_zero() {
    fn check<T: npyz::Deserialize + PartialEq + std::fmt::Debug>(folder: &Folder, file: Vec<u8>, expected: &[T]) {
        folder.write("a.tif", file);
        copy(folder, "a.tif", "b.npy");
        assert_eq!(folder.read::<T>("b.npy").1, expected);
        // By rows.
        let rows = apron_files::RowsFile::open(&folder.path("a.tif"), 9).unwrap().unwrap();
        let mut bytes = vec![0; std::mem::size_of_val(expected)];
        rows.read_rows(0..1, &mut bytes).unwrap();
        assert!(std::fs::read(folder.path("b.npy")).unwrap().ends_with(&bytes));
    }
    let folder = Folder::new();
    check(&folder, white_is_zero(8, 1, &[0, 9, 255]), &[255u8, 246, 0]);
    let bytes: Vec<u8> = [0u16, 9, 65535].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    check(&folder, white_is_zero(16, 1, &bytes), &[65535u16, 65526, 0]);
    // What was measured.
    let bytes: Vec<u8> = [-1.5f32, 0.25, 9.0].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    check(&folder, white_is_zero(32, 3, &bytes), &[-1.5f32, 0.25, 9.0]);
    let bytes: Vec<u8> = [-7.0f64, 0.0, 1e300].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    check(&folder, white_is_zero(64, 3, &bytes), &[-7.0f64, 0.0, 1e300]);
    let bytes: Vec<u8> = [-9i16, 0, 300].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    check(&folder, white_is_zero(16, 2, &bytes), &[-9i16, 0, 300]);
    check(&folder, white_is_zero(8, 2, &[255, 0, 7]), &[-1i8, 0, 7]);
    let bytes: Vec<u8> = [1u32, 0, u32::MAX].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    check(&folder, white_is_zero(32, 1, &bytes), &[1u32, 0, u32::MAX]);
}

/// With little memory the filter is tried strip by strip first, which transforms are not.
#[test]
#[cfg(target_os = "linux")]
fn a_page_that_is_taken_whole_is_told_of_once() {
    let folder = Folder::new();
    let (width, height) = (1500u32, 1400u32);
    let data = vec![0x3f; (width * height * 4) as usize];
    let tags = [
        (256, 3, 1, width),
        (257, 3, 1, height),
        (258, 3, 1, 32),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (273, 4, 1, DATA),
        (277, 3, 1, 1),
        (279, 4, 1, width * height * 4),
        (339, 3, 1, 3),
    ];
    folder.write("two.tif", tiff(&[(&tags, &data), (&tags, &data)]));
    for verb in [
        &["correlate", "two.tif", "a.npy", "--mask", "box3", "--method", "fft"][..],
        &["correlate", "two.tif", "a.npy", "--mask", "box3"],
        &["pipe", "two.tif", "a.npy", "box size=3 | box size=5"],
        &["histogram", "two.tif"],
    ] {
        let told = [200_000, 260_000, 300_000, 400_000].map(|kib| {
            let ended = folder.run_within(kib, &[verb, &["--device", "cpu"]].concat());
            let told = ended.stderr.matches("page 1 of 2 is read").count();
            assert!(told < 2 && [0, 3].contains(&ended.code), "{kib} KiB: {ended:?}");
            told
        });
        assert!(told.contains(&1), "{verb:?}: {told:?}");
    }
}
