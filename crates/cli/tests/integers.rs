//! bool and integers of 8 to 64 bits, by hand: sums, casts, files, counts and statistics.
#![allow(missing_docs)]

mod common;

use common::{Folder, header, npy};

const DEVICES: [&str; 3] = ["cpu", "emulator", "reference"];

/// Runs a command on a device, which has to succeed; returns what it printed.
fn on(device: &str, folder: &Folder, arguments: &[&str]) -> String {
    let ended = folder.run(&[arguments, &["--device", device]].concat());
    assert_eq!(ended.code, 0, "{arguments:?} on {device}: {ended:?}");
    ended.stdout
}

#[test]
fn sums_have_all_digits_of_f64() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[i32::MAX, i32::MAX, -7]);
    for device in DEVICES {
        let run = |more: &[&str]| on(device, &folder, &[&["correlate", "a.npy", "o.npy"], more].concat());
        run(&["--mask", "1 1", "--border", "constant:0"]);
        // Saturated; the exact sum in another type; and the sum modulo 2^32.
        assert_eq!(folder.read::<i32>("o.npy").1, [i32::MAX, i32::MAX, i32::MAX - 7], "{device}");
        run(&["--mask", "1 1", "--border", "constant:0", "--out-type", "i64"]);
        assert_eq!(folder.read::<i64>("o.npy").1, [2147483647, 4294967294, 2147483640], "{device}");
        run(&["--mask", "1 1", "--border", "constant:0", "--overflow", "wrap"]);
        assert_eq!(folder.read::<i32>("o.npy").1, [i32::MAX, -2, i32::MAX - 7], "{device}");
        run(&["--mask", "0.5", "--out-type", "u8", "--overflow", "wrap", "--rounding", "toward-zero"]);
        // 1073741823.5 and -3.5.
        assert_eq!(folder.read::<u8>("o.npy").1, [255, 255, 253], "{device}");
        run(&["--mask", "0.5", "--out-type", "i8"]);
        assert_eq!(folder.read::<i8>("o.npy").1, [127, 127, -4], "{device}");
        run(&["--mask", "0.05", "--out-type", "bool"]);
        assert_eq!(folder.read::<bool>("o.npy").1, [true, true, false], "{device}");
    }
}

#[test]
fn sums_between_passes_are_stored_as_scipy_stores_them() {
    let folder = Folder::new();
    // scipy.ndimage.uniform_filter(a, 3, mode="nearest") is [[1, 1, 1], [2, 1, 0]].
    folder.array("a.npy", &[2, 3], &[0u8, 4, 1, 5, 1, 0]);
    for device in DEVICES {
        let run = |more: &[&str]| {
            let mean = ["box", "a.npy", "o.npy", "--size", "3", "--border", "replicate"];
            on(device, &folder, &[&mean[..], more].concat());
            folder.read::<u8>("o.npy").1
        };
        // Columns first: of 0, 0, 5 and 4, 4, 1 and 1, 1, 0 the means 1, 3, 0; of 0, 5, 5 and 4, 1, 1
        // and 1, 0, 0: 3, 2, 0.
        assert_eq!(run(&["--rounding", "toward-zero", "--store-between-passes"]), [1, 1, 1, 2, 1, 0], "{device}");
        let region = ["--rounding", "toward-zero", "--store-between-passes", "--region", "1,0,2x2"];
        assert_eq!(run(&region), [1, 1, 1, 0], "{device}");
        // By whole sums: 19, 16, 13 and 26, 17, 8 ninths.
        assert_eq!(run(&["--rounding", "toward-zero"]), [2, 1, 1, 2, 1, 0], "{device}");
        assert_eq!(run(&[]), [2, 2, 1, 3, 2, 1], "{device}");
    }
    let dense = ["correlate", "a.npy", "x.npy", "--mask", "1 2", "--store-between-passes"];
    folder.fails(2, "store between passes is asked for", &dense);
}

/// What is expected is SciPy's `correlate1d` along one axis after the other, `gaussian_filter` and `uniform_filter`,
/// each with `output=uint8`.
#[test]
fn one_tap_is_a_pass_that_stores() {
    let folder = Folder::new();
    folder.array("a.npy", &[2, 3], &[0.9f32, 2.9, 2.9, 3.8, 0.9, 1.2]);
    folder.array("b.npy", &[1, 2, 3], &[0.9f32, 2.9, 2.9, 3.8, 0.9, 1.2]);
    for device in DEVICES {
        let run = |options: &[&str]| {
            let input = if options.contains(&"--volume") { "b.npy" } else { "a.npy" };
            let more = ["--out-type", "u8", "--rounding", "toward-zero", "--border", "constant:0"];
            on(device, &folder, &[&[options[0], input, "o.npy"], &options[1..], &more].concat());
            folder.read::<u8>("o.npy").1
        };
        let taps = ["separable", "--taps-x", "1 1 1", "--taps-y", "1"];
        let (stored, volume) = ("--store-between-passes", "--volume");
        // Of 0, 2, 2 and 3, 0, 1; and of the samples themselves, whose sums are 3.8, 6.7, 5.8 and 4.7, 5.9, 2.1.
        assert_eq!(run(&[&taps[..], &[stored]].concat()), [2, 4, 4, 3, 4, 1], "{device}");
        assert_eq!(run(&taps), [3, 6, 5, 4, 5, 2], "{device}");
        // Of the samples themselves along the columns: 4.7, 3.8 and 4.1.
        let columns = ["separable", "--taps-x", "1", "--taps-y", "1 1 1", stored];
        assert_eq!(run(&columns), [4, 3, 4, 4, 3, 4], "{device}");
        let planes = [&taps[..], &["--taps-z", "1", volume]].concat();
        assert_eq!(run(&[&planes[..], &[stored]].concat()), [2, 4, 4, 3, 4, 1], "{device}");
        assert_eq!(run(&planes), [3, 6, 5, 4, 5, 2], "{device}");
        // Thirds of the same sums; of the stored samples they would begin with 2 / 3.
        for mean in [&["box", "--size", "3x1", stored][..], &["box", "--size", "3x1x1", volume, stored]] {
            assert_eq!(run(mean), [1, 2, 1, 1, 1, 0], "{device}");
        }
        // 1.22, 2.08, 1.91 and 1.80, 1.57, 0.90.
        for bell in [&["gaussian", "--sigma", "1,0", stored][..], &["gaussian", "--sigma", "1,0,0", volume, stored]] {
            assert_eq!(run(bell), [1, 2, 1, 1, 1, 0], "{device}");
        }
    }
}

#[test]
fn files_hold_them() {
    let folder = Folder::new();
    folder.array("i8.npy", &[2, 2], &[-128i8, 127, 0, -1]);
    folder.array("u32.npy", &[2, 2], &[u32::MAX, 0, 1, 2]);
    folder.array("i32.npy", &[2, 2], &[i32::MIN, i32::MAX, 1, 2]);
    folder.array("u64.npy", &[2, 2], &[u64::MAX, 0, 1, 2]);
    folder.array("i64.npy", &[2, 2], &[i64::MIN, i64::MAX, 1, 2]);
    for name in ["i8", "u32", "i32", "u64", "i64"] {
        let (array, tiff) = (format!("{name}.npy"), format!("{name}.tif"));
        folder.ok(&["pad", &array, &tiff, "--by", "0"]);
        folder.ok(&["pad", &tiff, "back.npy", "--by", "0"]);
        // After the header.
        let samples = |name: &str| std::fs::read(folder.path(name)).unwrap().split_off(128);
        assert_eq!(samples("back.npy"), samples(&array), "{name}");
        folder.fails(3, "; write .npy", &["pad", &array, "o.png", "--by", "0"]);
    }
    folder.write("bool.npy", npy(&header("'|b1'", "(1, 3)"), &[1, 0, 1]));
    folder.fails(3, "bool", &["pad", "bool.npy", "o.tif", "--by", "0"]);
    folder.ok(&["pad", "bool.npy", "o.png", "--by", "0", "--rescale", "auto"]);
    folder.ok(&["pad", "o.png", "o.npy", "--by", "0"]);
    assert_eq!(folder.read::<u8>("o.npy").1, [255, 0, 255]);
}

#[test]
fn integers_are_counted_and_measured_in_all_bits() {
    let folder = Folder::new();
    const NEAR: i64 = 1 << 53;
    // f64 does not distinguish NEAR + 1 from NEAR; the edge does.
    folder.array("a.npy", &[1, 5], &[NEAR - 1, NEAR, NEAR + 1, NEAR + 2, NEAR + 3]);
    let edges = ["--edges", "0,9007199254740992,9007199254740994"];
    for device in DEVICES {
        on(device, &folder, &[&["histogram", "a.npy", "--out", "c.npy"], &edges[..]].concat());
        assert_eq!(folder.read::<i64>("c.npy").1, [1, 3], "{device}");
        let told = on(device, &folder, &["stats", "a.npy", "--percentile", "50", "--json"]);
        // As text: a parser of JSON may round the last digit.
        let expected =
            [r#""min":9007199254740991,"max":9007199254740995"#, r#""percent":50.0,"value":9007199254740992.0"#];
        assert!(expected.iter().all(|part| told.contains(part)), "{device}: {told}");
    }
    folder.array("ends.npy", &[2, 1], &[u64::MAX, 3]);
    let told = folder.ok(&["stats", "ends.npy"]).stdout;
    assert!(told.contains(" 3 ") && told.contains(" 18446744073709551615 "), "{told}");
    let told = folder.ok(&["stats", "ends.npy", "--json", "--memory", "40"]).stdout;
    assert!(told.contains(r#""min":3,"max":18446744073709551615,"#), "{told}");
    folder.write("bool.npy", npy(&header("'|b1'", "(1, 3)"), &[1, 0, 1]));
    for device in DEVICES {
        on(device, &folder, &["histogram", "bool.npy", "--out", "c.npy", "--bins", "2"]);
        assert_eq!(folder.read::<i64>("c.npy").1, [1, 2], "{device}");
    }
}

#[test]
fn numbers_that_f64_would_round_are_refused() {
    let folder = Folder::new();
    folder.array("i.npy", &[1, 2], &[1i64 << 53, (1 << 53) + 1]);
    folder.array("u.npy", &[1, 1], &[7u64]);
    for (from, border, said) in [
        ("i.npy", "constant:9007199254740993", "an integer that f64 holds, as 9007199254740992"),
        ("u.npy", "constant:18446744073709551614", "an integer that f64 holds, as 18446744073709551616"),
    ] {
        folder.fails(2, said, &["pad", from, "o.npy", "--by", "1", "--border", border]);
    }
    folder.ok(&["pad", "u.npy", "o.npy", "--by", "0,0,0,1", "--border", "constant:18446744073709551615"]);
    assert_eq!(folder.read::<u64>("o.npy").1, [7, u64::MAX]);
    folder.array("edges.npy", &[2], &[0i64, (1 << 53) + 1]);
    folder.fails(3, "edges.npy: edge 9007199254740993 is not taken", &["histogram", "i.npy", "--edges", "edges.npy"]);
    let edges = "edges is '9007199254740993', but must be an integer that f64 holds, as 9007199254740992";
    folder.fails(2, edges, &["histogram", "i.npy", "--edges", "0,9007199254740993"]);
    folder.array("taps.npy", &[1], &[-(1i64 << 53) - 1]);
    folder.array("cube.npy", &[1, 1, 1], &[u64::MAX - 1]);
    let (taps, cube) = ("tap -9007199254740993 is not taken", "cube.npy: tap 18446744073709551614 is not taken");
    folder.fails(3, taps, &["correlate", "i.npy", "o.npy", "--mask", "taps.npy"]);
    folder.fails(3, taps, &["separable", "i.npy", "o.npy", "--taps-x", "taps.npy", "--taps-y", "1"]);
    folder.fails(3, cube, &["correlate", "i.npy", "o.npy", "--mask", "cube.npy", "--volume"]);
    folder.fails(2, "tap is '9007199254740993'", &["correlate", "i.npy", "o.npy", "--mask", "9007199254740993"]);
    folder.array("w.npy", &[1, 2], &[1i64, (1 << 53) + 1]);
    let weights = "weight 9007199254740993 is not taken";
    folder.fails(3, weights, &["histogram", "i.npy", "--bins", "2", "--weights", "w.npy"]);
    folder.array("edges.npy", &[2], &[0i64, (1 << 53) + 2]);
    folder.ok(&["histogram", "i.npy", "--edges", "edges.npy", "--out", "c.npy"]);
    assert_eq!(folder.read::<i64>("c.npy").1, [2]);
}

#[test]
fn alpha_that_is_kept_is_cast_as_the_colours_are() {
    let folder = Folder::new();
    folder.array("f.npy", &[1, 1, 2], &[2.75f32, 11.75]);
    folder.array("i.npy", &[1, 1, 2], &[-3i8, -86]);
    let cast = |from: &str, more: &[&str]| {
        folder.ok(&[&["box", from, "o.npy", "--size", "1", "--keep-alpha"], more].concat());
    };
    cast("f.npy", &["--out-type", "i32", "--rounding", "toward-zero"]);
    assert_eq!(folder.read::<i32>("o.npy").1, [2, 11]);
    cast("i.npy", &["--out-type", "u64", "--overflow", "wrap"]);
    // 2^64 - 3 and 2^64 - 86.
    assert_eq!(folder.read::<u64>("o.npy").1, [18446744073709551613, 18446744073709551530]);
}

#[test]
fn columns_of_bool_have_the_range_of_their_samples() {
    let folder = Folder::new();
    // numpy.histogramdd(a, 2) has the edges 0, 0.5 and 1.
    folder.write("bool.npy", npy(&header("'|b1'", "(3, 1)"), &[1, 0, 1]));
    for device in DEVICES {
        let told = on(device, &folder, &["histogramdd", "bool.npy", "--bins", "2"]);
        assert_eq!(told, "bin,low,high,count\n0,0,0.5,1\n1,0.5,1,2\n", "{device}");
    }
}

#[test]
fn what_is_rescaled_is_u8_unless_it_is_u16() {
    let folder = Folder::new();
    folder.array("u16.npy", &[1, 2], &[0u16, 7]);
    folder.array("i32.npy", &[1, 2], &[0i32, 7]);
    folder.ok(&["pad", "u16.npy", "o.npy", "--by", "0", "--rescale", "auto"]);
    assert_eq!(folder.read::<u16>("o.npy").1, [0, 65535]);
    folder.ok(&["pad", "i32.npy", "o.npy", "--by", "0", "--rescale", "auto"]);
    assert_eq!(folder.read::<u8>("o.npy").1, [0, 255]);
}
