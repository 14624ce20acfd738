//! f64: images, masks and constants that f32 does not hold, in files of every format that has them.
#![allow(missing_docs)]

mod common;

use common::Folder;

/// Numbers that f32 does not distinguish.
fn near_one(count: usize) -> Vec<f64> {
    (0..count).map(|n| 1.0 + (n * n % 31) as f64 * f64::EPSILON).collect()
}

#[test]
fn filters_of_f64_have_sums_taps_and_constants_of_f64() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[1.0f64, 1.0 + 3.0 * f64::EPSILON, 0.25]);
    folder.array("mask.npy", &[1, 2], &[0.1f64, 1.0]);
    for device in ["cpu", "emulator", "reference"] {
        let run = |more: &[&str]| {
            let ended = folder.run(&[&["correlate", "a.npy", "out.npy", "--device", device], more].concat());
            assert_eq!(ended.code, 0, "{more:?}: {ended:?}");
        };
        run(&["--mask", "1"]);
        assert_eq!(folder.read::<f64>("out.npy"), (vec![1, 3], vec![1.0, 1.0 + 3.0 * f64::EPSILON, 0.25]));
        run(&["--mask", "mask.npy", "--border", "constant:0.7"]);
        let sums = |before: f64, own: f64| 1.0f64.mul_add(own, 0.1 * before);
        let own = [1.0, 1.0 + 3.0 * f64::EPSILON, 0.25];
        assert_eq!(folder.read::<f64>("out.npy").1, [sums(0.7, own[0]), sums(own[0], own[1]), sums(own[1], own[2])]);
        // The same taps as text; and sums of f64 that are rounded once.
        run(&["--mask", "0.1 1", "--border", "constant:0.7", "--out-type", "f32"]);
        assert_eq!(folder.read::<f32>("out.npy").1[0], sums(0.7, 1.0) as f32);
        run(&["--mask", "0.1 1", "--border", "constant:0.7", "--out-type", "u8"]);
        assert_eq!(folder.read::<u8>("out.npy").1, [1, 1, 0]);
    }
    // An image of bytes with f64 output is weighted in f64, too.
    folder.array("bytes.npy", &[1, 2], &[3u8, 200]);
    folder.ok(&["correlate", "bytes.npy", "out.npy", "--mask", "0.1", "--out-type", "f64"]);
    assert_eq!(folder.read::<f64>("out.npy").1, [3.0 * 0.1, 200.0 * 0.1]);
    // So are taps by axis, and those of named filters.
    folder.array("ten.npy", &[1, 1], &[10.0f64]);
    for (verb, expected) in [
        (&["separable", "--taps-x", "0.1", "--taps-y", "1"][..], 10.0 * 0.1),
        (&["separable", "--taps-x", "1 3", "--taps-y", "1", "--normalize"], 10.0),
        (&["sharpen", "--amount", "0.1", "--border", "constant:0"], 10.0 * (1.0 + 4.0 * 0.1)),
        (&["motion-blur", "--length", "3", "--border", "constant:0"], 10.0 * (1.0 / 3.0)),
    ] {
        folder.ok(&[&verb[..1], &["ten.npy", "out.npy"], &verb[1..]].concat());
        assert_eq!(folder.read::<f64>("out.npy").1, [expected], "{verb:?}");
    }
    folder.fails(2, "1e39", &["correlate", "bytes.npy", "x.npy", "--mask", "1 1", "--border", "constant:1e39"]);
    folder.ok(&["correlate", "a.npy", "out.npy", "--mask", "1 1", "--border", "constant:1e39"]);
    assert_eq!(folder.read::<f64>("out.npy").1[0], 1e39);
}

#[test]
fn files_hold_them() {
    let folder = Folder::new();
    folder.array("grey.npy", &[4, 5], &near_one(20));
    folder.array("colours.npy", &[4, 5, 3], &near_one(60));
    for (name, count) in [("grey", 20), ("colours", 60)] {
        let (array, tiff) = (format!("{name}.npy"), format!("{name}.tif"));
        folder.ok(&["pad", &array, &tiff, "--by", "0"]);
        folder.ok(&["pad", &tiff, "back.npy", "--by", "0"]);
        assert_eq!(folder.read::<f64>("back.npy").1, near_one(count), "{name}");
    }
    folder.fails(3, "f64", &["pad", "grey.npy", "out.png", "--by", "0", "--device", "cpu"]);
    // Big-endian, in Fortran order; and integers that f32 does not hold.
    let bytes: Vec<u8> = near_one(6).iter().flat_map(|item| item.to_be_bytes()).collect();
    let header = "{'shape': (3, 2), 'fortran_order': True, 'descr': '>f8'}";
    folder.write("big.npy", common::npy(header, &bytes));
    folder.ok(&["pad", "big.npy", "out.npy", "--by", "0"]);
    let columns = near_one(6);
    let rows: Vec<f64> = [0, 3, 1, 4, 2, 5].map(|at| columns[at]).to_vec();
    assert_eq!(folder.read::<f64>("out.npy").1, rows);
}

#[test]
fn counts_and_statistics_tell_them_apart() {
    let folder = Folder::new();
    folder.array("a.npy", &[20, 31], &near_one(620));
    for device in ["cpu", "emulator"] {
        let counted = ["histogram", "a.npy", "--out", "counts.npy", "--bins", "14", "--device", device];
        let ended = folder.run(&counted);
        assert_eq!(ended.code, 0, "{ended:?}");
        // From 1 to 1 + 28 steps: two steps per bin, and the last step in the last bin.
        let mut expected = vec![0; 14];
        near_one(620).iter().for_each(|of| expected[(((of - 1.0) / f64::EPSILON) as usize / 2).min(13)] += 1);
        let largest = near_one(620).into_iter().fold(0.0, f64::max);
        assert_eq!(largest, 1.0 + 28.0 * f64::EPSILON);
        assert_eq!(folder.read::<i64>("counts.npy").1, expected, "{device}");
        let ended = folder.run(&["stats", "a.npy", "--percentile", "50", "--json", "--device", device]);
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let found = &report["statistics"][0];
        let mut sorted = near_one(620);
        sorted.sort_by(f64::total_cmp);
        assert_eq!(found["max"].as_f64(), Some(sorted[619]));
        let median = sorted[309] + (sorted[310] - sorted[309]) * 0.5;
        assert_eq!(found["percentiles"][0]["value"].as_f64(), Some(median), "{device}");
    }
}

#[test]
fn strips_of_them_have_the_bytes_of_the_whole() {
    let folder = Folder::new();
    folder.array("a.npy", &[900, 100], &near_one(90_000));
    for options in [
        &["gaussian", "--sigma", "2"][..],
        &["box", "--size", "21x33"],
        &["gaussian", "--sigma", "2", "--out-type", "f32"],
        &["gradient", "--operator", "sobel"],
    ] {
        let (verb, options) = options.split_first().unwrap();
        folder.ok(&[&[*verb, "a.npy", "whole.npy"], options].concat());
        let ended = folder.ok(&[&[*verb, "a.npy", "strips.npy", "--memory", "0.6MB", "--json"], options].concat());
        assert!(ended.stdout.contains(" strips"), "{ended:?}");
        let [whole, strips] = ["whole.npy", "strips.npy"].map(|name| std::fs::read(folder.path(name)).unwrap());
        assert!(whole == strips, "{verb} {options:?}");
    }
    let asked = ["stats", "a.npy", "--percentile", "0,12.5,50", "--json"];
    let of =
        |ended: common::Ended| serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap()["statistics"].take();
    let strips = of(folder.ok(&[&asked[..], &["--memory", "0.6MB"]].concat()));
    assert!(strips == of(folder.ok(&asked)) && !strips.is_null(), "{strips}");
}

#[test]
fn infinity_and_nan_are_null_in_reports() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[1.0f64, f64::INFINITY, -2.0]);
    let told = folder.ok(&["stats", "a.npy", "--json"]).stdout;
    assert!(told.contains(r#""min":-2.0,"max":null"#), "{told}");
    assert!(folder.ok(&["stats", "a.npy"]).stdout.contains(" inf "));
}
