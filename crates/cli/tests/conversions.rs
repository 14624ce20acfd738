//! Conversions of inputs and outputs: types, ranges, alpha, quality, profiles and the standard streams.

mod common;

use common::{Folder, decode, header, npy};

fn copy(folder: &Folder, from: &str, to: &str) {
    folder.ok(&["correlate", from, to, "--mask", "identity"]);
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
    // An empty input, a missing format, and two outputs to stdout.
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
    // The header of a profile suffices: the formats do not look into it.
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
    // f.png has the density from a TIFF.
    for name in ["d.png", "f.png"] {
        let png = std::fs::read(folder.path(name)).unwrap();
        let at = png.windows(4).position(|chunk| chunk == b"pHYs").unwrap();
        assert_eq!(png[at + 4..at + 13], [0, 0, 0x2e, 0x23, 0, 0, 0x2e, 0x23, 1], "{name}: 11811 pixels per metre");
    }
    // A BMP keeps the density, in both directions; a profile that a format cannot hold causes a warning.
    let warned = |from: &str, to: &str, more: &[&str]| {
        let ended = folder.ok(&[&["box", from, to, "--size", "1"], more].concat());
        ended.stderr.contains(&format!("apron: warning: {to}: the colour profile is not kept"))
    };
    for to in ["g.bmp", "h.ppm", "i.pnm"] {
        assert!(warned("d.png", to, &[]) && !warned("d.png", to, &["--quiet"]), "{to}");
    }
    assert!(!warned("g.bmp", "j.png", &[]) && !warned("d.png", "k.npy", &[]));
    assert_eq!(std::fs::read(folder.path("g.bmp")).unwrap()[38..46], [0x23, 0x2e, 0, 0, 0x23, 0x2e, 0, 0]);
    assert_eq!(decode(&folder.path("g.bmp")), decode(&folder.path("d.png")));
    let png = std::fs::read(folder.path("j.png")).unwrap();
    assert!(png.windows(13).any(|part| part == b"pHYs\0\0\x2e\x23\0\0\x2e\x23\x01"), "11811 pixels per metre");
    // Classes have the density of what is parted, and no colours.
    folder.ok(&["otsu", "d.png", "classes.png", "--grey"]);
    let png = std::fs::read(folder.path("classes.png")).unwrap();
    assert!(png.windows(13).any(|part| part == b"pHYs\0\0\x2e\x23\0\0\x2e\x23\x01") && icc("classes.png").is_none());
    // A profile for colour is not written into a grey file.
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
    // Scaled before rounding: this derivative of u8 has halves and negative values.
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
fn arrays_keep_their_type_unless_another_is_asked_for() {
    let folder = Folder::new();
    let taken = |name: &str, more: &[&str]| {
        folder.ok(&[&["pad", name, "out.npy", "--by", "0", "--json"], more].concat()).stdout
    };
    let is = |stdout: String, pixel: &str| assert!(stdout.contains(&format!("\"in_type\":\"{pixel}\"")), "{stdout}");
    folder.write("bool.npy", npy(&header("'|b1'", "(1, 2)"), &[1, 0]));
    is(taken("bool.npy", &[]), "bool");
    assert_eq!(folder.read::<bool>("out.npy"), (vec![1, 2], vec![true, false]));
    folder.array("i8.npy", &[1, 2], &[-128i8, 127]);
    is(taken("i8.npy", &[]), "i8");
    assert_eq!(folder.read::<i8>("out.npy").1, [-128, 127]);
    folder.array("i32.npy", &[1, 3], &[0i32, i32::MIN, 255]);
    is(taken("i32.npy", &[]), "i32");
    assert_eq!(folder.read::<i32>("out.npy").1, [0, i32::MIN, 255]);
    folder.array("u32.npy", &[1, 2], &[u32::MAX, 256]);
    is(taken("u32.npy", &[]), "u32");
    assert_eq!(folder.read::<u32>("out.npy").1, [u32::MAX, 256]);
    folder.array("i64.npy", &[1, 2], &[-1i64, i64::MIN + 1]);
    is(taken("i64.npy", &[]), "i64");
    assert_eq!(folder.read::<i64>("out.npy").1, [-1, i64::MIN + 1]);
    folder.array("u64.npy", &[1, 2], &[u64::MAX - 1, 3]);
    is(taken("u64.npy", &[]), "u64");
    assert_eq!(folder.read::<u64>("out.npy").1, [u64::MAX - 1, 3]);
    is(taken("u64.npy", &["--in-type", "u16"]), "u16");
    assert_eq!(folder.read::<u16>("out.npy").1, [65535, 3]);
    folder.array("f64.npy", &[1, 3], &[0.5f64, f64::NAN, f64::NEG_INFINITY]);
    is(taken("f64.npy", &[]), "f64");
    // In Fortran order and big-endian.
    let bytes: Vec<u8> = [1i32, 3, 5, 2, 4, 6].iter().flat_map(|item| item.to_be_bytes()).collect();
    folder.write("big.npy", npy("{'shape': (3, 2), 'fortran_order': True, 'descr': '>i4'}", &bytes));
    is(taken("big.npy", &[]), "i32");
    assert_eq!(folder.read::<i32>("out.npy"), (vec![3, 2], vec![1, 2, 3, 4, 5, 6]));
    // With a requested type that rounds, or that is wider.
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
