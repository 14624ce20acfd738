//! Borders and channels: padding, constants per channel, alpha, and 16-bit floats.

mod common;

use common::{Folder, decode, header, npy};

#[test]
fn pad_adds_what_lies_outside_or_cuts_a_part_out() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[1, 2, 3, 4, 5, 6]);
    let padded = |options: &[&str]| {
        folder.ok(&[&["pad", "a.png", "b.npy"][..], options].concat());
        folder.read::<u8>("b.npy")
    };
    let (shape, samples) = padded(&["--by", "1,0,0,2", "--border", "constant:7:8:9"]);
    let outside = [7, 8, 9].repeat(4);
    assert_eq!((shape, &samples[..12]), (vec![2, 4, 3], &outside[..]));
    assert_eq!(samples[12..], [1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9]);
    assert_eq!(padded(&["--by", "1", "--border", "wrap"]).1[..12], [4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3]);
    assert_eq!(padded(&["--region", "1,0,1x1"]), (vec![1, 1, 3], vec![4, 5, 6]));
    assert_eq!(padded(&["--region", "-1,0,1x1", "--border", "constant:9,crop"]).1, [9, 9, 9]);
    // Every device, as a step of a pipe, and into a folder.
    let expected = padded(&["--by", "3,1,2,2", "--border", "reflect,constant:1:2:3"]);
    let steps = "pad by=3,1,2,2 border=reflect,constant:1:2:3";
    for device in ["reference", "emulator"] {
        assert_eq!(folder.run(&["pipe", "a.png", "c.npy", steps, "--device", device]).code, 0);
        assert_eq!(folder.read::<u8>("c.npy"), expected, "{device}");
    }
    folder.ok(&["pad", "a.png", "d/", "--by", "0", "--format", "bmp"]);
    assert_eq!(decode(&folder.path("d/a.bmp")).as_bytes(), [1, 2, 3, 4, 5, 6]);
    for (part, options) in [
        ("--by", &[][..]),
        ("cannot be used with", &["--by", "1", "--region", "0,0,1x1"]),
        ("T,B,L,R", &["--by", "1,2"]),
        ("one constant for each channel: 3", &["--by", "1", "--border", "constant:1:2"]),
        ("whole numbers from 0 to 255", &["--by", "1", "--border", "constant:1:2:256"]),
        ("crop", &["--by", "1", "--border", "crop"]),
        ("--max-pixels", &["--by", "100000000"]),
    ] {
        folder.fails(2, part, &[&["pad", "a.png", "e.npy"][..], options].concat());
    }
    assert_eq!(folder.names(), ["a.png", "b.npy", "c.npy", "d"]);
}

#[test]
fn constants_by_channel() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[1, 2, 3, 4, 5, 6]);
    let of = |border: &str| {
        folder.ok(&["correlate", "a.png", "b.npy", "--mask", "1 0 10", "--border", border]);
        folder.read::<u8>("b.npy").1
    };
    assert_eq!(of("constant:7:8:9"), [47, 58, 69, 71, 82, 93]);
    assert_eq!(of("constant:7:8:9,wrap"), [47, 58, 69, 71, 82, 93]);
    assert_eq!(of("wrap,constant:7:8:9"), [44, 55, 66, 11, 22, 33]);
    // Of a half a sum of bytes is 60.5.
    assert_eq!(of("constant:1:2:0.5"), [41, 52, 60, 11, 22, 8]);
    folder.ok(&["gradient", "a.png", "g.npy", "--border", "constant:0:2:9", "--out-type", "f32"]);
    for (part, border) in [
        ("one constant for each channel: 3", "constant:1:2"),
        ("two to four finite numbers", "constant:1:2:x"),
        ("two to four finite numbers", "constant:1:2:3:4:5"),
    ] {
        folder.fails(2, part, &["correlate", "a.png", "c.npy", "--mask", "1", "--border", border]);
    }
    assert_eq!(folder.names(), ["a.png", "b.npy", "g.npy"]);
}

#[test]
fn alpha_is_left_alone() {
    let folder = Folder::new();
    folder.png("a.png", 3, 1, &[10, 200, 40, 100, 70, 0]);
    let of = |arguments: &[&str]| {
        folder.ok(&[&[arguments[0], "a.png", "b.npy", "--keep-alpha"][..], &arguments[1..]].concat());
    };
    of(&["correlate", "--mask", "0 0 2"]);
    assert_eq!(folder.read::<u8>("b.npy").1, [80, 200, 140, 100, 80, 0]);
    // Alpha is taken under the anchor: for border crop, for full output, and for a region.
    of(&["box", "--size", "2x1", "--border", "crop", "--out-type", "i16"]);
    assert_eq!(folder.read::<i16>("b.npy"), (vec![1, 2, 2], vec![25, 100, 55, 0]));
    of(&["box", "--size", "2x1", "--full", "--border", "constant:0:9"]);
    assert_eq!(folder.read::<u8>("b.npy").1, [5, 200, 25, 100, 55, 0, 35, 9]);
    of(&["gradient", "--region", "2,0,2x1", "--border", "replicate", "--out-type", "f32"]);
    let gradient = folder.read::<f32>("b.npy").1;
    assert_eq!((gradient[1], gradient[3], gradient.len()), (0.0, 0.0, 4));
    folder.ok(&["pipe", "a.png", "b.npy", "box size=3x1 keep-alpha | unsharp sigma=1 amount=0 keep-alpha"]);
    assert_eq!(folder.read::<u8>("b.npy").1, [30, 200, 40, 100, 50, 0]);
    folder.png("rgb.png", 1, 1, &[1, 2, 3]);
    folder.fails(3, "channels is 3, but must be 2 or 4", &["box", "rgb.png", "c.npy", "--size", "3", "--keep-alpha"]);
    assert_eq!(folder.names(), ["a.png", "b.npy", "rgb.png"]);
}

/// Returns the bits of the last `count` 16-bit floats of a file.
fn halves(folder: &Folder, name: &str, count: usize) -> Vec<u16> {
    let bytes = std::fs::read(folder.path(name)).unwrap();
    let pairs = bytes[bytes.len() - 2 * count..].chunks_exact(2);
    pairs.map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

#[test]
fn floats_of_16_bits() {
    let folder = Folder::new();
    // 1, -2, 0.333, and 65504, the largest f16.
    let (bits, place) = ([0x3c00u16, 0xc000, 0x3554, 0x7bff], header("'<f2'", "(1, 4)"));
    folder.write("a.npy", npy(&place, &bits.map(u16::to_le_bytes).concat()));
    for device in ["cpu", "reference", "emulator"] {
        let run = |arguments: &[&str]| {
            let ended = folder.run(&[arguments, &["--device", device]].concat());
            assert_eq!(ended.code, 0, "{arguments:?}: {ended:?}");
            ended
        };
        run(&["correlate", "a.npy", "b.npy", "--mask", "1"]);
        assert_eq!(halves(&folder, "b.npy", 4), bits, "{device}");
        let ended = run(&["correlate", "a.npy", "b.npy", "--mask", "2", "--json"]);
        assert!(
            ended.stdout.contains(r#""out_type":"f16""#) && ended.stdout.contains(r#""in_type":"f16""#),
            "{ended:?}"
        );
        assert_eq!(halves(&folder, "b.npy", 4), [0x4000, 0xc400, 0x3954, 0x7c00], "{device}");
        // Halfway between two f16 values, the f32 sum rounds to even: 2049 and 2051.
        folder.array("floats.npy", &[1, 3], &[2049.0f32, 2051.0, -0.0]);
        run(&["box", "floats.npy", "b.npy", "--size", "1", "--out-type", "f16"]);
        assert_eq!(halves(&folder, "b.npy", 2)[0], 0x6802, "{device}");
        run(&["correlate", "a.npy", "c.npy", "--mask", "0 0 1", "--border", "wrap", "--out-type", "f32"]);
        assert_eq!(folder.read::<f32>("c.npy").1, [-2.0, 0.333_007_8, 65504.0, 1.0], "{device}");
        run(&["gradient", "a.npy", "c.npy", "--out-type", "i16"]);
        run(&["pad", "a.npy", "b.npy", "--by", "0,0,1,0", "--border", "constant:-0.5"]);
        assert_eq!(halves(&folder, "b.npy", 5), [0xb800, 0x3c00, 0xc000, 0x3554, 0x7bff], "{device}");
        run(&["histogram", "a.npy", "--edges", "-3,0,0.333,0.334,70000", "--out", "h.npy"]);
        assert_eq!(folder.read::<i64>("h.npy").1, [1, 0, 1, 2], "{device}");
        run(&["histogram", "a.npy", "--bins", "4"]);
    }
    folder.ok(&["stats", "a.npy"]);
    folder.array("mask.npy", &[1, 1], &[1.0f32]);
    folder.write("taps.npy", npy(&header("'>f2'", "(1,)"), &[0x40, 0]));
    folder.ok(&["correlate", "a.npy", "b.npy", "--mask", "taps.npy"]);
    assert_eq!(halves(&folder, "b.npy", 4)[0], 0x4000);
    folder.fails(2, "f16", &["box", "a.npy", "b.png", "--size", "3", "--out-type", "f16"]);
    folder.fails(3, "f16", &["box", "a.npy", "b.png", "--size", "3"]);
    folder.fails(
        2,
        "16-bit floats for f16 pixels",
        &["pad", "a.npy", "d.npy", "--by", "1", "--border", "constant:1e6"],
    );
}

#[test]
fn scaled_sums_are_not_rounded_before_they_are_integers() {
    let folder = Folder::new();
    // The exact sum is 3000; f32 accumulation gives 2996, as its partial sums are above 2^27.
    folder.array("a.npy", &[1, 3], &[65535u16, 65535, 65533]);
    // The same sums in both of two channels.
    folder.array("two.npy", &[1, 3, 2], &[65535u16, 65535, 65535, 65535, 65533, 65533]);
    let mask = ["--mask", "3001 -1501 -1500", "--border", "crop", "--out-type", "i16"];
    for device in ["cpu", "reference", "emulator"] {
        for (image, options, expected) in [
            ("a.npy", &["--offset", "1"][..], &[3001i16][..]),
            ("a.npy", &["--divisor", "8"], &[375]),
            ("a.npy", &["--divisor", "-8", "--offset", "0.25"], &[-375]),
            ("two.npy", &["--offset", "-0.75"], &[2999, 2999]),
        ] {
            let ended = folder.run(&[&["correlate", image, "b.npy", "--device", device], &mask[..], options].concat());
            assert_eq!(ended.code, 0, "{ended:?}");
            assert_eq!(folder.read::<i16>("b.npy").1, expected, "{options:?} on {device}");
        }
    }
}
