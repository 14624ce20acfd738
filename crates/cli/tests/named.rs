//! The verbs of named filters on small images, with known results.

mod common;

use common::{Folder, decode};
use serde_json::Value;

/// Writes a row with steps of 1, 2, 3 and 0.
fn ramp(folder: &Folder) {
    folder.png("a.png", 5, 1, &[0, 1, 3, 6, 6]);
}

#[test]
fn derivatives_of_a_rise_are_positive() {
    let folder = Folder::new();
    ramp(&folder);
    for (verb, expected) in [
        ("sobel --dx 1 --out-type i16", [0, 12, 20, 12, 0]),
        ("sobel --dx 1 --ksize 1 --out-type i16", [0, 3, 5, 3, 0]),
        ("sobel --dx 2 --out-type i16", [8, 4, 4, -12, 0]),
        ("sobel --dx 1 --scale 0.5 --delta -3 --out-type i16", [-3, 3, 7, 3, -3]),
        ("scharr --dx 1 --out-type i16", [0, 48, 80, 48, 0]),
        ("scharr --dy 1 --delta 7 --out-type i16", [7, 7, 7, 7, 7]),
        ("prewitt --dx 1 --out-type i16", [0, 9, 15, 9, 0]),
        ("roberts --dx 1 --out-type i16", [1, 2, 3, 0, 0]),
        ("roberts --dy 1 --out-type i16", [-1, -2, -3, 0, 0]),
        ("laplacian --out-type i16", [2, 1, 1, -3, 0]),
        ("laplacian --neighbours 8 --out-type i16", [6, 3, 3, -9, 0]),
        ("laplacian --ksize 3 --out-type i16", [8, 4, 4, -12, 0]),
        ("gradient --out-type i16", [0, 12, 20, 12, 0]),
        ("gradient --operator scharr --out-type i16", [0, 48, 80, 48, 0]),
        ("sharpen --amount 1 --out-type i16", [-2, 0, 2, 9, 6]),
        ("motion-blur --length 3 --border crop --out-type i16", [1, 3, 5, i16::MIN, i16::MIN]),
        ("local-mean --size 3x1 --border replicate --out-type i16", [0, 1, 3, 5, 6]),
        ("local-std --size 2x1 --border crop --out-type i16", [0, 1, 2, 0, i16::MIN]),
        ("unsharp --sigma 0 --amount 5 --out-type i16", [0, 1, 3, 6, 6]),
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        // Derivatives are not clamped to the type of the image.
        folder.ok(&[&[words[0], "a.png", "b.npy"], &words[1..]].concat());
        let (_, found) = folder.read::<i16>("b.npy");
        let expected: Vec<i16> = expected.into_iter().filter(|value| *value != i16::MIN).collect();
        assert_eq!(found, expected, "{verb}");
    }
    folder.ok(&["sobel", "a.png", "b.png", "--dx", "2"]);
    assert_eq!(decode(&folder.path("b.png")).as_bytes(), [8, 4, 4, 0, 0]);
}

#[test]
fn scaled_derivatives_are_rounded_once() {
    let folder = Folder::new();
    // The sum is 640 * 65535 - 1, where f32 has multiples of 4 only.
    let mut samples = [[0u16, 0, 0, 0, 65535, 65535, 65535]; 7];
    samples[6][6] = 65534;
    folder.array("a.npy", &[7, 7], samples.as_flattened());
    let sobel = ["sobel", "a.npy", "b.npy", "--dx", "1", "--ksize", "7", "--border", "crop", "--out-type", "i16"];
    for device in ["cpu", "reference", "emulator"] {
        let ended = folder.run(&[&sobel[..], &["--scale", "2", "--delta=-83880000", "--device", device]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert_eq!(folder.read::<i16>("b.npy").1, [4798], "{device}");
    }
}

#[test]
fn directions_and_waves_of_floats() {
    let folder = Folder::new();
    // The same slope down and to the right.
    folder.array("a.npy", &[3, 3], &[0.0f32, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0]);
    folder.ok(&["gradient", "a.npy", "b.npy", "--direction"]);
    assert_eq!(folder.read::<f32>("b.npy").1[4], std::f32::consts::FRAC_PI_4);
    folder.array("dot.npy", &[1, 7], &[0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    folder.ok(&["log", "dot.npy", "b.npy", "--sigma", "1", "--border", "constant"]);
    let spot = folder.read::<f32>("b.npy").1;
    assert!(spot[3] < -0.3 && (spot[2] - spot[4]).abs() < 1e-7, "{spot:?}");
    folder.ok(&["dog", "dot.npy", "b.npy", "--sigma-low", "0", "--sigma-high", "1"]);
    // Border reflect101 repeats the only row, so the vertical blur changes nothing.
    assert!((folder.read::<f32>("b.npy").1[3] - (1.0 - 0.398_943_5)).abs() < 1e-5);
    folder.ok(&["gaussian", "dot.npy", "b.npy", "--sigma", "1,0", "--order", "1,0", "--border", "constant"]);
    let slope = folder.read::<f32>("b.npy").1;
    assert!((slope[2] - 0.241_971_4).abs() < 1e-6 && slope[3] == 0.0 && slope[4] == -slope[2], "{slope:?}");
    // Row by row: -1, then -1 + 2 + 3, then 3 + 2 * 4.
    folder.ok(&["emboss", "a.npy", "b.npy"]);
    assert_eq!(folder.read::<f32>("b.npy").1[4], -1.0 + 4.0 + 11.0);
}

#[test]
fn reports_name_every_part_and_devices_agree() {
    let folder = Folder::new();
    folder.png("a.png", 9, 5, &(0..135).map(|i| (i * 37 % 256) as u8).collect::<Vec<_>>());
    for verb in ["gradient --operator scharr", "unsharp --sigma 1 --amount 2 --threshold 5", "local-std --size 3"] {
        let words: Vec<&str> = verb.split(' ').collect();
        let run = |out: &str, device: &str| {
            let ended = folder.run(&[&[words[0], "a.png", out, "--device", device, "--json"], &words[1..]].concat());
            assert_eq!(ended.code, 0, "{ended:?}");
            ended
        };
        let report: Value = serde_json::from_str(&run("cpu.png", "cpu").stdout).unwrap();
        assert_eq!((report["verb"].as_str(), report["out_type"].as_str()), (Some(words[0]), Some("u8")));
        let report: Value = serde_json::from_str(&run("b.png", "emulator").stdout).unwrap();
        let parts = report["variant"].as_str().unwrap().split(" + ").count();
        let launches = report["grid"].as_str().unwrap().split(" + ").count();
        let expected = match words[0] {
            "gradient" => 3,
            "unsharp" => 2,
            _ => 1,
        };
        assert!(parts == expected && launches >= parts, "{report}");
        assert_eq!(decode(&folder.path("b.png")), decode(&folder.path("cpu.png")), "{verb}");
    }
}

#[test]
fn values_that_can_never_be_right_are_found_without_the_input() {
    let folder = Folder::new();
    for (part, verb) in [
        ("0 and 0", "sobel missing.png b.npy"),
        ("must be a whole number from 0", "sobel missing.png b.npy --dx -1"),
        ("ksize is 9", "sobel missing.png b.npy --dx 1 --ksize 9"),
        ("dx is 3", "sobel missing.png b.npy --dx 3"),
        ("scale is NaN", "sobel missing.png b.npy --dx 1 --scale nan"),
        ("1 and 0, or 0 and 1", "scharr missing.png b.npy --dx 2"),
        ("1 and 0, or 0 and 1", "prewitt missing.png b.npy"),
        ("1 and 0, or 0 and 1", "roberts missing.png b.npy --dx 1 --dy 1"),
        ("ksize is 0", "laplacian missing.png b.npy --ksize 0"),
        ("4 or 8", "laplacian missing.png b.npy --neighbours 5"),
        ("sobel, scharr", "gradient missing.png b.npy --operator prewitt"),
        ("--sigma", "log missing.png b.npy"),
        ("above 0 with order 2", "log missing.png b.npy --sigma 1,0"),
        ("the wide sigma is 1", "dog missing.png b.npy --sigma-low 2 --sigma-high 1"),
        ("amount is inf", "sharpen missing.png b.npy --amount inf"),
        ("threshold is -1", "unsharp missing.png b.npy --sigma 1 --threshold -1"),
        ("length is 2000", "motion-blur missing.png b.npy --length 2000"),
        ("angle is NaN", "motion-blur missing.png b.npy --length 3 --angle nan"),
        ("WxH", "local-std missing.png b.npy --size 3x"),
        ("size is 0", "local-std missing.png b.npy --size 0"),
        ("size is 65537", "local-mean missing.png b.npy --size 3x65537"),
        ("order is 4", "gaussian missing.png b.npy --sigma 1 --order 4"),
        ("N or N,NY", "gaussian missing.png b.npy --sigma 1 --order x"),
    ] {
        folder.fails(2, part, &verb.split(' ').collect::<Vec<_>>());
    }
    assert!(folder.names().is_empty());
    ramp(&folder);
    folder.fails(3, "f32, which holds radians", &["gradient", "a.png", "b.npy", "--direction", "--out-type", "u8"]);
    let crop =
        ["dog", "a.png", "b.png", "--sigma-low", "0", "--sigma-high", "0.2", "--border", "crop", "--truncate", "9"];
    folder.fails(3, "no full window", &crop);
    assert_eq!(folder.names(), ["a.png"]);
}

#[test]
fn jobs_of_a_batch() {
    let folder = Folder::new();
    ramp(&folder);
    folder.write(
        "jobs.jsonl",
        r#"{"verb":"sobel","in":"a.png","out":"b.npy","dx":1,"out-type":"i16"}
{"verb":"gradient","in":"a.png","out":"c.npy","operator":"scharr","direction":true}
{"verb":"motion-blur","in":"a.png","out":"d.png","length":3,"angle":-30}
"#,
    );
    let ended = folder.run(&["batch", "jobs.jsonl", "--device", "cpu", "--quiet"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(folder.read::<i16>("b.npy").1, [0, 12, 20, 12, 0]);
    assert_eq!(folder.read::<f32>("c.npy").1, [0.0; 5]);
}

#[test]
fn every_filter_helps_with_its_parameters_and_examples() {
    let folder = Folder::new();
    let listed: Value = serde_json::from_str(&folder.run(&["filters", "--json"]).stdout).unwrap();
    let (filters, lines) = (listed["filters"].as_array().unwrap(), folder.run(&["filters"]).stdout);
    assert_eq!(filters.len(), lines.lines().count());
    for filter in filters {
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let name = text(&filter["name"]);
        let help = folder.run(&[&name, "--help"]).stdout;
        for example in filter["examples"].as_array().unwrap() {
            assert!(help.contains(&format!("  apron {name} {}", text(example))), "{name}");
        }
        for parameter in filter["parameters"].as_array().unwrap() {
            assert!(help.contains(&format!("--{} ", text(&parameter["name"]))) || parameter["flag"] == true, "{name}");
        }
        assert!(help.contains(&text(&filter["summary"])) && lines.contains(&name), "{name}");
    }
    let help = folder.run(&["sobel", "--help"]).stdout;
    assert!(
        help.contains(
            "Side of the mask; 1 for a difference over 3 without smoothing (1, 3, 5 or 7 pixels) [default: 3]"
        )
    );
    assert!(folder.run(&["gradient", "--help"]).stdout.contains("[possible values: sobel, scharr]"));
}

#[test]
fn the_laplacian_of_a_gaussian_has_two_names() {
    let folder = Folder::new();
    ramp(&folder);
    for verb in ["log", "laplacian-of-gaussian"] {
        let ended = folder.ok(&[verb, "a.png", "b.npy", "--sigma", "1,0.5", "--out-type", "f32", "--json"]);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(report["verb"], "laplacian-of-gaussian");
        folder.ok(&["pipe", "a.png", "c.npy", &format!("{verb} sigma=1,0.5 out-type=f32")]);
        assert_eq!(folder.read::<f32>("b.npy"), folder.read::<f32>("c.npy"));
    }
}
