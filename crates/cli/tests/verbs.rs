//! Every verb on small images, with known results.

mod common;

use common::{Folder, decode, header, npy};

#[test]
fn correlate_takes_literals_names_and_files() {
    let folder = Folder::new();
    folder.png("a.png", 4, 1, &[0, 0, 100, 200]);
    folder.ok(&["correlate", "a.png", "b.npy", "--mask", "-1 0 1", "--out-type", "i16"]);
    assert_eq!(folder.read::<i16>("b.npy"), (vec![1, 4], vec![0, 100, 200, 0]));
    folder.ok(&["convolve", "a.png", "b.npy", "--mask", "-1 0 1", "--out-type", "i16", "--border", "constant:-3"]);
    assert_eq!(folder.read::<i16>("b.npy").1, [-3, -100, -200, 103]);
    folder.ok(&["correlate", "a.png", "b.png", "--mask", "1 1", "--normalize", "--anchor", "0,0"]);
    assert_eq!(decode(&folder.path("b.png")).as_bytes(), [0, 50, 150, 150]);
    folder.ok(&["correlate", "a.png", "b.png", "--mask", "identity"]);
    assert_eq!(decode(&folder.path("b.png")).as_bytes(), [0, 0, 100, 200]);
    // Masks of one row and of two dimensions, of several types.
    folder.array("row.npy", &[3], &[-1i64, 0, 1]);
    folder.array("plane.npy", &[3, 1], &[0.0f64, 1.0, 0.0]);
    folder.write("big.npy", npy(&header("'>u2'", "(1, 2)"), &[0, 3, 0, 1]));
    folder.ok(&["correlate", "a.png", "b.npy", "--mask", "row.npy", "--out-type", "i16"]);
    assert_eq!(folder.read::<i16>("b.npy").1, [0, 100, 200, 0]);
    folder.ok(&["correlate", "a.png", "b.npy", "--mask", "plane.npy"]);
    assert_eq!(folder.read::<u8>("b.npy").1, [0, 0, 100, 200]);
    folder.ok(&["correlate", "a.png", "b.npy", "--mask", "big.npy", "--out-type", "f32"]);
    assert_eq!(folder.read::<f32>("b.npy").1, [0.0, 0.0, 100.0, 500.0]);
}

#[test]
fn full_output_regions_and_borders_by_axis() {
    let folder = Folder::new();
    folder.png("a.png", 4, 1, &[1, 2, 3, 4]);
    let correlate = |mask: &str, options: &[&str]| {
        folder.ok(&[&["correlate", "a.png", "b.npy", "--mask", mask][..], options].concat());
        folder.read::<u8>("b.npy")
    };
    assert_eq!(correlate("0 1; 1 0", &["--full", "--border", "constant"]).0, [2, 5]);
    assert_eq!(correlate("1 10", &["--full", "--border", "constant"]).1, [10, 21, 32, 43, 4]);
    assert_eq!(correlate("1 0 10", &["--region", "1,0,2x1"]).1, [31, 42]);
    // A region around 4, which extends beyond the image.
    assert_eq!(correlate("1 10", &["--region", "3,-1,3x2", "--border", "wrap"]).1, [43, 14, 21, 43, 14, 21]);
    assert_eq!(correlate("1 0 0; 0 0 0; 0 0 10", &["--border", "wrap,constant:7"]).1, [77, 77, 77, 77]);
    assert_eq!(correlate("1 0; 0 10", &["--border", "crop,replicate"]).1, [21, 32, 43]);
    assert_eq!(correlate("1 1", &["--border", "constant:0.5,wrap"]).1, [2, 3, 5, 7]);
    let blurred = ["gaussian", "a.png", "b.npy", "--sigma", "1", "--region", "0,0,2x1", "--border", "reflect,wrap"];
    folder.ok(&blurred);
    assert_eq!(folder.read::<u8>("b.npy"), (vec![1, 2], vec![1, 2]));
    for (part, options) in [
        ("crop", &["--full", "--border", "crop"][..]),
        ("X,Y,WxH", &["--region", "1,2"]),
        ("columns 5 to 5", &["--region", "5,0,0x1"]),
        ("--max-pixels", &["--region", "0,0,100000x100000"]),
        ("cannot be used with", &["--region", "0,0,1x1", "--full"]),
    ] {
        folder.fails(2, part, &[&["correlate", "a.png", "c.npy", "--mask", "1 1"][..], options].concat());
    }
    assert_eq!(folder.names(), ["a.png", "b.npy"]);
}

#[test]
fn a_divisor_and_an_offset() {
    let folder = Folder::new();
    folder.png("a.png", 4, 1, &[0, 0, 100, 200]);
    let of = |verb: &str, options: &[&str]| {
        folder.ok(&[&[verb, "a.png", "b.npy", "--mask", "-1 0 3", "--border", "constant"][..], options].concat());
        folder.read::<u8>("b.npy").1
    };
    // Sums of 0, 300, 600 and -100 for correlation, 0, -100, -200 and 300 for convolution: rounded once, half to even,
    // and clamped.
    assert_eq!(of("correlate", &["--divisor", "8", "--offset", "10.5"]), [10, 48, 86, 0]);
    assert_eq!(of("convolve", &["--divisor", "-10", "--offset", "5"]), [5, 15, 25, 0]);
    assert_eq!(of("correlate", &["--offset", "-100"]), [0, 200, 255, 0]);
    for (part, options) in [("divisor is 0", &["--divisor", "0"][..]), ("clamp", &["--offset", "1", "--clamp"])] {
        folder.fails(2, part, &[&["correlate", "a.png", "c.npy", "--mask", "1 1"][..], options].concat());
    }
}

#[test]
fn clamp_limits_sums() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 3], &[-1.0f32, 0.25, 7.0]);
    folder.ok(&["correlate", "a.npy", "b.npy", "--mask", "identity", "--clamp"]);
    assert_eq!(folder.read::<f32>("b.npy").1, [0.0, 0.25, 1.0]);
    folder.png("a.png", 2, 1, &[0, 9]);
    folder.ok(&["correlate", "a.png", "b.npy", "--mask", "identity", "--clamp"]);
    assert_eq!(folder.read::<f32>("b.npy").1, [0.0, 1.0]);
    folder.fails(2, "clamp", &["correlate", "no", "b.npy", "--mask", "identity", "--clamp", "--out-type", "u8"]);
}

#[test]
fn separable_gaussian_and_box() {
    let folder = Folder::new();
    folder.array("a.npy", &[3, 3], &[0.0f32, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0]);
    folder.array("x.npy", &[3], &[1.0f32, 2.0, 1.0]);
    folder.ok(&["separable", "a.npy", "b.npy", "--taps-x", "x.npy", "--taps-y", "0 1 -1", "--border", "constant"]);
    let expected = [-9.0, -18.0, -9.0, 9.0, 18.0, 9.0, 0.0, 0.0, 0.0];
    assert_eq!(folder.read::<f32>("b.npy"), (vec![3, 3], expected.to_vec()));
    folder.ok(&["box", "a.npy", "b.npy", "--size", "3", "--border", "constant"]);
    folder.read::<f32>("b.npy").1.iter().for_each(|mean| assert!((mean - 1.0).abs() < 1e-6, "{mean}"));
    folder.ok(&["box", "a.npy", "b.npy", "--size", "3x1", "--border", "crop"]);
    assert_eq!(folder.read::<f32>("b.npy").0, [3, 1]);
    folder.ok(&["gaussian", "a.npy", "b.npy", "--sigma", "1,0", "--border", "constant"]);
    let blurred = folder.read::<f32>("b.npy").1;
    assert!((blurred[4] - 9.0 * 0.398_943_47).abs() < 1e-5 && blurred[1] == 0.0, "{blurred:?}");
    folder.ok(&["gaussian", "a.npy", "b.npy", "--sigma", "0"]);
    assert_eq!(folder.read::<f32>("b.npy").1[4], 9.0);
}

#[test]
fn a_report_says_what_ran() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &[7; 36]);
    let ended = folder.ok(&["box", "a.png", "b.png", "--size", "3", "--border", "crop", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    for (key, value) in [("verb", "box"), ("operation", "box"), ("method", "box"), ("device", "cpu"), ("in_type", "u8")]
    {
        assert_eq!(report[key], value, "{report}");
    }
    for (key, value) in [("width", 4), ("height", 3), ("channels", 3), ("out_width", 2), ("out_height", 1)] {
        assert_eq!(report[key], value, "{report}");
    }
    assert_eq!(report["why_method"], "all taps are equal");
    for key in ["copy_in_ms", "kernels_ms", "copy_out_ms", "total_ms"] {
        assert!(report[key].is_f64(), "{report}");
    }
    assert!(ended.stderr.is_empty());
    assert_eq!(report["output"], "b.png");
    let ended = folder.ok(&["box", "a.png", "b.png", "--size", "3"]);
    assert!(ended.stderr.starts_with("box: b.png 4x3x3 u8; box, parallel on cpu"), "{ended:?}");
    let ended = folder.ok(&["box", "a.png", "b.png", "--size", "3", "--quiet"]);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
}

#[test]
fn methods_are_chosen_or_asked_for() {
    let folder = Folder::new();
    folder.png("a.png", 6, 5, &(0..30).map(|i| (i * 37 % 256) as u8).collect::<Vec<_>>());
    folder.array("a.npy", &[5, 6], &(0..30).map(|i| (i * 37 % 256) as f32).collect::<Vec<_>>());
    let method = |arguments: &[&str]| {
        let ended = folder.ok(&[arguments, &["--json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        (report["method"].as_str().unwrap().to_string(), report["why_method"].as_str().unwrap().to_string())
    };
    for (verb, expected) in [
        ("correlate a.png b.png --mask box3", ("box", "all taps are equal")),
        ("correlate a.png b.png --mask box3 --method auto", ("box", "all taps are equal")),
        ("correlate a.png b.png --mask box3 --method direct", ("direct", "asked for")),
        ("convolve a.npy b.npy --mask sobel-x", ("separable", "the mask is a column times a row")),
        ("correlate a.npy b.npy --mask laplacian", ("direct", "the mask is no column times a row")),
        ("correlate a.npy b.npy --mask laplacian --method fft", ("fft", "asked for")),
        ("correlate a.npy b.npy --mask laplacian --tolerance 1e-5", ("direct", "the mask is no column times a row")),
        ("box a.npy b.npy --size 3", ("separable", "equal taps, up to 17 on a side")),
        ("box a.npy b.npy --size 3 --method box", ("box", "asked for")),
        ("gaussian a.npy b.npy --sigma 1", ("separable", "the taps of an axis differ")),
    ] {
        let (found, why) = method(&verb.split(' ').collect::<Vec<_>>());
        assert_eq!((found.as_str(), why.as_str()), expected, "{verb}");
    }
    let mask: Vec<f32> = (0..31 * 31).map(|n| (n % 7) as f32).collect();
    folder.array("m.npy", &[31, 31], &mask);
    let ended = folder.ok(&["correlate", "a.npy", "b.npy", "--mask", "m.npy", "--tolerance", "1e-5", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["method"], "fft");
    assert!((7e-6..1e-5).contains(&report["error_bound"].as_f64().unwrap()), "{report}");
    folder.fails(2, "tolerance", &["correlate", "a.npy", "b.npy", "--mask", "m.npy", "--tolerance", "0"]);
    folder.fails(2, "--out-type f32", &["correlate", "a.png", "b.png", "--mask", "m.npy", "--method", "fft"]);
    let failures =
        ["box a.png b.png --size 3 --method direct", "correlate a.png b.png --mask laplacian --method separable"];
    for verb in failures.into_iter().chain(["correlate a.png b.png --mask sobel-x --method box"]) {
        folder.fails(2, "method", &verb.split(' ').collect::<Vec<_>>());
    }
    folder.fails(
        2,
        "auto, direct, separable, low-rank, box or fft",
        &["box", "a.png", "b.png", "--size", "3", "--method", "fourier"],
    );
    // Integer results do not depend on the method: here both round the sum with the mask's f32 ninths, while a mean
    // rounds the exact quotient.
    for name in ["direct", "box"] {
        folder.ok(&["correlate", "a.png", &format!("{name}.png"), "--mask", "box3", "--method", name]);
    }
    assert_eq!(decode(&folder.path("direct.png")), decode(&folder.path("box.png")));
}

#[test]
fn devices_agree() {
    let folder = Folder::new();
    folder.png("a.png", 9, 5, &(0..135).map(|i| (i * 37 % 256) as u8).collect::<Vec<_>>());
    folder.ok(&["gaussian", "a.png", "cpu.png", "--sigma", "1"]);
    for device in ["reference", "emulator", "auto"] {
        let ended = folder.run(&["gaussian", "a.png", "b.png", "--sigma", "1", "--device", device]);
        assert_eq!(ended.code, 0, "{device}: {ended:?}");
        assert_eq!(decode(&folder.path("b.png")), decode(&folder.path("cpu.png")), "{device}");
    }
}

#[test]
fn histogram_as_csv_json_and_array() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[0, 1, 2, 0, 255, 2]);
    let csv = folder.ok(&["histogram", "a.png", "--bins", "2"]).stdout;
    assert_eq!(csv, "bin,low,high,count\n0,0,128,5\n1,128,256,1\n");
    let csv = folder.ok(&["histogram", "a.png", "--bins", "2", "--per-channel", "--range", "-1,3"]).stdout;
    let expected = "0,0,-1,1,2\n0,1,1,3,0\n1,0,-1,1,0\n1,1,1,3,1\n2,0,-1,1,0\n2,1,1,3,2\n";
    assert_eq!(csv, format!("channel,bin,low,high,count\n{expected}"));
    let ended = folder.ok(&["histogram", "a.png", "--out", "a.npy", "--per-channel", "--bins", "4"]);
    assert_eq!(ended.stdout, "");
    assert_eq!(folder.read::<i64>("a.npy"), (vec![3, 4], vec![2, 0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 0]));
    folder.ok(&["histogram", "a.png", "--out", "a.npy"]);
    let (shape, counts) = folder.read::<i64>("a.npy");
    assert_eq!((shape, counts[0], counts[2], counts[255]), (vec![256], 2, 2, 1));
    folder.ok(&["histogram", "a.png", "--out", "a.json", "--bins", "2"]);
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.path("a.json")).unwrap()).unwrap();
    assert_eq!(json, serde_json::json!({ "bins": 2, "edges": [0.0, 128.0, 256.0], "counts": [[5, 1]] }));
    let report = folder.ok(&["histogram", "a.png", "--json", "--bins", "2"]).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["total"], &report["bins"], &report["high"]), (&6.into(), &2.into(), &256.0.into()));
}

#[test]
fn histogram_of_floats_finds_its_range() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[-2.0f32, 0.0, 1.0, 2.0]);
    let csv = folder.ok(&["histogram", "a.npy", "--bins", "2"]).stdout;
    assert_eq!(csv, "bin,low,high,count\n0,-2,0,1\n1,0,2,3\n");
    folder.array("nan.npy", &[1, 2], &[f32::NAN, 1.0]);
    folder.fails(3, "range", &["histogram", "nan.npy", "--device", "cpu"]);
    folder.array("inf.npy", &[1, 2], &[f32::INFINITY, 1.0]);
    folder.fails(3, "range", &["histogram", "inf.npy", "--device", "cpu"]);
    let csv = folder.ok(&["histogram", "nan.npy", "--bins", "1", "--range", "0,2"]).stdout;
    assert_eq!(csv, "bin,low,high,count\n0,0,2,1\n");
}

#[test]
fn plots_are_pictures() {
    let folder = Folder::new();
    folder.png("a.png", 16, 16, &(0..=255).flat_map(|i| [i, i / 2, 9]).collect::<Vec<_>>());
    for options in [&["--per-channel"][..], &["--log"], &[]] {
        folder.ok(&[&["histogram", "a.png", "--quiet", "--plot", "p.png"], options].concat());
        let plot = decode(&folder.path("p.png")).into_rgb8();
        assert_eq!(plot.dimensions(), (960, 540));
        assert!(plot.pixels().any(|pixel| pixel.0 == [60, 60, 60]), "no letters");
        // The text in the corner has intermediate greys between ink and paper.
        let corner = plot.enumerate_pixels().filter(|(x, y, _)| *x < 100 && *y < 30).map(|(_, _, pixel)| pixel.0[0]);
        let greys: std::collections::BTreeSet<u8> = corner.filter(|grey| (61..255).contains(grey)).collect();
        assert!(greys.len() > 8, "letters are not anti-aliased: {greys:?}");
        folder.ok(&[&["histogram", "a.png", "--quiet", "--plot", "p.svg"], options].concat());
        let plot = std::fs::read_to_string(folder.path("p.svg")).unwrap();
        assert!(plot.starts_with("<svg") && plot.trim_end().ends_with("</svg>") && plot.contains("<text"));
        // A legend only if there are several channels.
        assert_eq!(plot.contains("green"), options.contains(&"--per-channel"), "{plot}");
    }
}

#[test]
fn info_lists_or_says_that_there_is_none() {
    let folder = Folder::new();
    let ended = folder.run(&["info"]);
    assert_eq!(ended.code, 0);
    if apron::devices().is_err() {
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        assert!(ended.stdout.contains("the CPU ("), "{ended:?}");
    } else {
        assert!(ended.stdout.starts_with("gpu:0: "), "{ended:?}");
    }
    let json: serde_json::Value = serde_json::from_str(&folder.run(&["info", "--json"]).stdout).unwrap();
    assert_eq!(json["gpus"].as_array().unwrap().is_empty(), apron::devices().is_err());
}

#[test]
fn kernels_are_listed_with_their_variants() {
    let folder = Folder::new();
    let ended = folder.run(&["kernels"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.lines().all(|line| line.len() <= 130), "{ended:?}");
    let kernels = apron::kernels();
    let blocks: Vec<&str> = ended.stdout.split("\n\n").collect();
    let [table, limits] = blocks[..] else { panic!("{ended:?}") };
    let lines: Vec<&str> = table.lines().skip(1).take(kernels.len()).collect();
    for program in ["P2", "P3", "P4", "P6", "P7", "P10", "P11", "P12"] {
        assert!(lines.iter().any(|line| line.split(' ').next() == Some(program)), "{program}");
    }
    for (kernel, line) in kernels.iter().zip(lines) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..3], [kernel.program, kernel.operation, kernel.variant]);
        let [x, y] = kernel.block;
        assert!(line.contains(&format!(" {} -> {} ", kernel.src, kernel.dst)), "{line}");
        assert!(line.contains(&format!(" {} ", kernel.taps)) && line.contains(&format!(" {x}x{y} ")), "{line}");
        let newest = kernel.registers.last().map(|(_, registers)| registers.to_string());
        assert!(newest.is_some(), "{line}");
        assert_eq!(words.last().copied(), newest.as_deref(), "{line}");
        let line = limits.lines().find(|line| line.split_whitespace().take(2).eq([kernel.operation, kernel.variant]));
        assert!(line.is_some_and(|line| line.ends_with(kernel.limits)), "{limits}");
    }
    let line =
        "by problem, in bytes (conv2d-tiled, conv2d-tiled-symbol):\n    (31 + mask width) x (31 + mask height) x 4\n";
    assert!(table.contains(line), "{table}");
}

#[test]
fn kernels_as_json_and_of_one_architecture() {
    let folder = Folder::new();
    let list = |arguments: &[&str]| {
        let ended = folder.run(arguments);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        let mut json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        serde_json::from_value::<Vec<serde_json::Value>>(json["kernels"].take()).unwrap()
    };
    let all = list(&["kernels", "--json"]);
    let known = apron::kernels();
    assert_eq!(all.len(), known.len());
    for (object, kernel) in all.iter().zip(&known) {
        for (key, value) in [
            ("operation", kernel.operation),
            ("variant", kernel.variant),
            ("stage", kernel.stage),
            ("program", kernel.program),
            ("entry", kernel.entry),
            ("limits", kernel.limits),
        ] {
            assert_eq!(object[key], value, "{object}");
        }
        assert_eq!(object["block"], serde_json::json!(kernel.block));
        assert!(object["shared"].is_u64() || object["shared"].is_string(), "{object}");
        assert_eq!(object["shared"].to_string().trim_matches('"'), kernel.shared.to_string());
        let known = object["registers"].as_object().unwrap();
        assert!(known.contains_key("sm_90") && known.values().all(|registers| registers.is_u64()), "{object}");
    }
    for object in list(&["kernels", "--json", "--arch", "sm_90"]) {
        assert!(object["registers"]["sm_90"].is_u64() && object["registers"].as_object().unwrap().len() == 1);
    }
    let table = folder.run(&["kernels", "--arch", "sm_90"]).stdout;
    assert!(table.contains("sm_90") && !table.contains("sm_75"), "{table}");
}

#[test]
fn verify_has_a_line_for_each_check_and_variant() {
    let folder = Folder::new();
    // One operation: the emulator's suite of all is another test.
    let ended = folder.run(&["verify", "--device", "emulator", "--small", "--seed", "5", "--only", "histogram"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let blocks: Vec<&str> = ended.stdout.split("\n\n").collect();
    let [checks, summary] = blocks[..] else { panic!("{ended:?}") };
    let column = checks.lines().nth(1).and_then(|headings| headings.find("result")).unwrap();
    assert!(checks.lines().skip(2).all(|line| line.get(column - 2..) == Some("  pass")), "{checks}");
    let mut sum = 0;
    for kernel in apron::kernels().iter().filter(|kernel| kernel.operation == "histogram") {
        let of_kernel = |line: &&str| line.split_whitespace().take(2).eq([kernel.operation, kernel.variant]);
        let lines: Vec<&str> = summary.lines().filter(of_kernel).collect();
        let [line] = lines[..] else { panic!("{} {}: {summary}", kernel.operation, kernel.variant) };
        // An error may reach its bound where the result is rounded once.
        let (_, error) = line.split_once(" 0 failed, largest error ").unwrap_or_else(|| panic!("{line}"));
        assert!(error.strip_suffix(" of its bound").unwrap().parse::<f64>().unwrap() <= 1.0, "{line}");
    }
    for line in summary.lines().filter(|line| line.ends_with("bound")) {
        sum += line.split_whitespace().nth(2).unwrap().parse::<usize>().unwrap();
    }
    assert_eq!(sum, checks.lines().count() - 2);
    assert_eq!(summary.lines().last().unwrap(), format!("{sum} checks, 0 failed"));
    folder.fails(2, "no case of the suite holds 'sorcery'", &["verify", "--device", "cpu", "--only", "sorcery"]);
}

#[test]
fn verify_counts_by_variant_in_json() {
    let folder = Folder::new();
    let ended = folder.ok(&["verify", "--small", "--seed", "5", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let mut checks = 0;
    let exact = ["histogram", "lookup", "equalize", "clahe", "pad", "stats", "weighted", "joint", "scaled"];
    let within = ["correlate", "separable", "box", "local-std", "pointwise", "paired", "volume", "fft"];
    for operation in within.into_iter().chain(exact) {
        let tally = &report["variants"][operation]["parallel"];
        assert_eq!(tally["failed"], 0, "{report}");
        checks += tally["checks"].as_u64().unwrap();
        let share = tally["largest_error_to_bound"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share) && (share > 0.0) != exact.contains(&operation), "{tally}");
    }
    assert_eq!(report["count"], checks);
    assert_eq!(report["cases"].as_array().unwrap().len() as u64, checks);
}

#[test]
fn every_verb_helps_with_an_example() {
    let folder = Folder::new();
    let filters = ["correlate", "convolve", "separable", "gaussian", "box"];
    let others = [
        "histogram",
        "histogram2d",
        "histogramdd",
        "info",
        "kernels",
        "verify",
        "bench",
        "tune",
        "batch",
        "pipe",
        "completions",
        "man",
        "stats",
        "equalize",
        "clahe",
        "match",
        "otsu",
    ];
    for verb in filters.into_iter().chain(others) {
        let ended = folder.run(&[verb, "--help"]);
        assert_eq!(ended.code, 0);
        assert!(ended.stdout.contains("Example") && ended.stdout.contains(&format!("  apron {verb} ")), "{verb}");
    }
    assert!(folder.run(&["--help"]).stdout.contains("Exit codes"));
}

/// The driver is loaded at run time: a program linked with it would not start without a driver.
#[test]
fn the_program_does_not_link_the_driver() {
    let Ok(ldd) = std::process::Command::new("ldd").arg(common::program()).output() else {
        return eprintln!("skipped: no ldd on this machine");
    };
    let linked = String::from_utf8_lossy(&ldd.stdout);
    assert!(linked.contains("libc.so") && !linked.contains("libcuda"), "{linked}");
}

#[test]
fn weights_are_summed_as_csv_json_and_array() {
    let folder = Folder::new();
    folder.png("a.png", 2, 2, &[0, 1, 2, 0, 255, 2, 9, 9, 9, 200, 7, 255]);
    folder.array("w.npy", &[2, 2], &[0.5f64, 2.0, -1.0, 0.25]);
    folder.array("few.npy", &[4], &[0.5f32, 2.0, -1.0, 0.25]);
    let sums = ["histogram", "a.png", "--weights", "w.npy", "--bins", "2"];
    // In the upper bin are one sample of the second pixel and two of the last.
    let csv = folder.ok(&sums).stdout;
    assert_eq!(csv, "bin,low,high,sum\n0,0,128,2.75\n1,128,256,2.5\n");
    for device in ["cpu", "reference", "emulator"] {
        let ended = folder.run(&[&sums[..], &["--per-channel", "--out", "s.npy", "--device", device]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        let expected = (vec![3, 2], vec![1.5, 0.25, -0.25, 2.0, 1.5, 0.25]);
        assert_eq!(folder.read::<f64>("s.npy"), expected, "{device}");
    }
    folder.ok(&[&sums[..], &["--out", "s.json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.path("s.json")).unwrap()).unwrap();
    assert_eq!(json, serde_json::json!({ "bins": 2, "edges": [0.0, 128.0, 256.0], "sums": [[2.75, 2.5]] }));
    let report = folder.ok(&[&sums[..], &["--json"]].concat()).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["bins"], &report["high"]), (&2.into(), &256.0.into()));
    folder.fails(
        3,
        "its shape is [4], but weights must have [2, 2], one a pixel",
        &["histogram", "a.png", "--weights", "few.npy"],
    );
    folder.fails(3, "none.npy", &["histogram", "a.png", "--weights", "none.npy"]);
    folder.array("edges.npy", &[2], &[f64::NAN, 1.0]);
    folder.fails(3, "NaN before 1", &["histogram", "a.png", "--edges", "edges.npy"]);
    folder.fails(2, "1 before 0", &["histogram", "a.png", "--edges", "1,0"]);
    folder.ok(&["histogram", "a.png", "--weights", "w.npy", "--plot", "p.svg"]);
    let plot = std::fs::read_to_string(folder.path("p.svg")).unwrap();
    assert!(plot.contains("sum") && !plot.contains("count"), "{plot}");
    folder.array("minus.npy", &[2, 2], &[-5.0f64, -1.0, f64::NAN, -3.0]);
    folder.ok(&["histogram", "a.png", "--weights", "minus.npy", "--plot", "p.png"]);
    for other in ["--cumulative", "--log", "--roi-mask=a.png"] {
        folder.fails(2, "--weights", &["histogram", "a.png", "--weights", "w.npy", other]);
    }
}

#[test]
fn pairs_of_channels_as_csv_json_and_array() {
    let folder = Folder::new();
    folder.png("a.png", 2, 2, &[0, 1, 2, 0, 255, 2, 9, 9, 9, 200, 7, 255]);
    let pairs = ["histogram2d", "a.png", "--channels", "0,2", "--bins", "2"];
    let csv = folder.ok(&pairs).stdout;
    let head = "bin,low,high,bin2,low2,high2,count\n";
    let lines = "0,0,128,0,0,128,3\n0,0,128,1,128,256,0\n1,128,256,0,0,128,0\n1,128,256,1,128,256,1\n";
    assert_eq!(csv, format!("{head}{lines}"));
    for device in ["cpu", "reference", "emulator"] {
        let bins = ["histogram2d", "a.png", "--channels", "1,0", "--bins", "3,2", "--range", "0,9,0,300"];
        let ended = folder.run(&[&bins[..], &["--out", "c.npy", "--device", device]].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        // 255 is outside the bins of the first channel; 1, 9 and 7 are in the first, the last and the last bin.
        assert_eq!(folder.read::<i64>("c.npy"), (vec![3, 2], vec![1, 0, 0, 0, 1, 1]), "{device}");
    }
    let uneven = ["histogram2d", "a.png", "--channels", "0,1", "--edges", "0,5,256", "--edges2", "0,256"];
    folder.ok(&[&uneven[..], &["--out", "c.json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.path("c.json")).unwrap()).unwrap();
    let edges = [vec![0.0, 5.0, 256.0], vec![0.0, 256.0]];
    assert_eq!(json, serde_json::json!({ "bins": [2, 1], "edges": edges, "counts": [[2], [2]] }));
    let report = folder.ok(&[&pairs[..], &["--json"]].concat()).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["bins"], &report["total"]), (&serde_json::json!([2, 2]), &4.into()));
    // Without a file the report contains what the file would.
    assert_eq!(report["histogram"]["counts"], serde_json::json!([[3, 0], [0, 1]]));
    let written = folder.ok(&[&pairs[..], &["--json", "--out", "c.csv"]].concat()).stdout;
    assert!(!written.contains("counts"), "{written}");
    folder.fails(2, "channel is 3", &["histogram2d", "a.png", "--channels", "0,3"]);
    folder.fails(2, "--channels", &["histogram2d", "a.png"]);
    folder.fails(2, "--edges", &["histogram2d", "a.png", "--channels", "0,1", "--edges2", "0,1"]);
    folder.fails(2, "LO,HI", &["histogram2d", "a.png", "--channels", "0,1", "--range", "0,1,2"]);
    folder.fails(2, "--edges2", &["histogram2d", "a.png", "--channels", "0,1", "--edges2", "0,1", "--bins", "2"]);
}
