//! Histograms with any bins, and the verbs that use histograms.

mod common;

use common::{Folder, decode, header, npy};

#[test]
fn edges_from_a_list_or_a_file() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 5], &[0u16, 10, 99, 100, 65535]);
    let csv = folder.ok(&["histogram", "a.npy", "--edges", "0,10,100"]).stdout;
    assert_eq!(csv, "bin,low,high,count\n0,0,10,1\n1,10,100,3\n");
    folder.array("edges.npy", &[3], &[0i64, 10, 100]);
    let ended = folder.ok(&["histogram", "a.npy", "--edges", "edges.npy", "--cumulative", "--out", "c.npy"]);
    assert_eq!((ended.stdout.as_str(), folder.read::<i64>("c.npy")), ("", (vec![2], vec![1, 4])));
    folder.array("floats.npy", &[1, 3], &[-1.5f32, 0.1, f32::INFINITY]);
    let csv = folder.ok(&["histogram", "floats.npy", "--edges=-inf,0.1,inf"]).stdout;
    assert_eq!(csv, "bin,low,high,count\n0,-inf,0.1,1\n1,0.1,inf,2\n");
}

#[test]
fn wrong_edges_are_refused_by_value() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[1, 2]);
    folder.fails(2, "10 before 5", &["histogram", "a.png", "--edges", "10,5"]);
    folder.fails(2, "'x'", &["histogram", "a.png", "--edges", "1,x"]);
    folder.fails(2, "1 numbers", &["histogram", "a.png", "--edges", "1"]);
    folder.fails(2, "--edges", &["histogram", "a.png", "--edges", "1,2", "--bins", "3"]);
    folder.fails(2, "--edges", &["histogram", "a.png", "--edges", "1,2", "--range", "0,3"]);
    folder.fails(2, "infinity", &["histogram", "a.png", "--edges", "1,inf", "--plot", "p.svg"]);
    folder.array("edges.npy", &[1, 2], &[0.0f64, 1.0]);
    folder.fails(3, "1 dimension", &["histogram", "a.png", "--edges", "edges.npy"]);
    folder.fails(3, "none.npy", &["histogram", "a.png", "--edges", "none.npy"]);
    assert_eq!(folder.names(), ["a.png", "edges.npy"]);
}

#[test]
fn a_mask_selects_pixels_and_must_fit() {
    let folder = Folder::new();
    folder.png("a.png", 3, 1, &[1, 5, 2, 5, 3, 6]);
    folder.png("roi.png", 3, 1, &[1, 0, 255]);
    let more = ["--roi-mask", "roi.png", "--bins", "8", "--range", "0,8", "--per-channel", "--out", "c.npy"];
    folder.ok(&[&["histogram", "a.png"][..], &more].concat());
    let expected = vec![0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0];
    assert_eq!(folder.read::<i64>("c.npy"), (vec![2, 8], expected));
    folder.png("small.png", 2, 1, &[1, 0]);
    folder.fails(3, "2x1x1, but must be 3x1x1", &["histogram", "a.png", "--roi-mask", "small.png"]);
    folder.fails(3, "3x1x2", &["histogram", "a.png", "--roi-mask", "a.png"]);
    // For every type of mask, exactly the value 0 excludes a pixel.
    let counts = folder.read::<i64>("c.npy");
    folder.array("f32.npy", &[1, 3], &[0.1f32, -0.0, f32::NAN]);
    folder.array("f64.npy", &[1, 3], &[1e-9f64, 0.0, 0.3]);
    folder.array("i64.npy", &[1, 3], &[i64::MAX, 0, -256]);
    folder.write("bool.npy", npy(&header("'|b1'", "(1, 3)"), &[1, 0, 1]));
    for mask in ["f32.npy", "f64.npy", "i64.npy", "bool.npy"] {
        folder.ok(&[&["histogram", "a.png"][..], &["--roi-mask", mask], &more[2..]].concat());
        assert_eq!(folder.read::<i64>("c.npy"), counts, "{mask}");
    }
}

#[test]
fn statistics_as_table_and_json() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[10i16, 10, -11, 13]);
    let told = folder.ok(&["stats", "a.npy", "--percentile", "0,50"]).stdout;
    assert_eq!(told.lines().next().unwrap().split_whitespace().last(), Some("p50"), "{told}");
    assert_eq!(told.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>()[..4], ["4", "-11", "13", "5.5"]);
    folder.array("two.npy", &[1, 2, 2], &[1.0f32, 5.0, 3.0, 5.0]);
    let report = folder.ok(&["stats", "two.npy", "--per-channel", "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let expected = serde_json::json!([
        { "count": 2, "min": 1.0, "max": 3.0, "mean": 2.0, "std": 1.0, "percentiles": [] },
        { "count": 2, "min": 5.0, "max": 5.0, "mean": 5.0, "std": 0.0, "percentiles": [] },
    ]);
    assert_eq!(report["statistics"], expected);
    folder.fails(2, "0 to 100", &["stats", "a.npy", "--percentile", "101"]);
    for device in ["cpu", "emulator"] {
        let told = folder.run(&["stats", "two.npy", "--percentile", "50,90", "--device", device]).stdout;
        let percentiles: Vec<&str> = told.lines().nth(1).unwrap().split_whitespace().skip(5).collect();
        assert_eq!(percentiles, ["4", "5"], "{told}");
    }
}

#[test]
fn images_are_equalised_whole_and_by_tiles() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[7u8, 9, 9, 200]);
    folder.ok(&["equalize", "a.npy", "b.npy"]);
    assert_eq!(folder.read::<u8>("b.npy"), (vec![1, 4], vec![0, 170, 170, 255]));
    folder.ok(&["equalize", "a.npy", "b.png"]);
    assert_eq!(decode(&folder.path("b.png")).into_luma8().into_raw(), [0, 170, 170, 255]);
    folder.array("c.npy", &[2, 2], &[10u16, 20, 20, 30]);
    folder.ok(&["clahe", "c.npy", "d.npy", "--clip", "0", "--tiles", "1x1"]);
    assert_eq!(folder.read::<u16>("d.npy"), (vec![2, 2], vec![16384, 49151, 49151, 65535]));
    folder.fails(3, "pixels are u16", &["equalize", "c.npy", "e.npy", "--device", "cpu"]);
    folder.fails(2, "clip is -1", &["clahe", "a.npy", "e.npy", "--clip", "-1"]);
    folder.fails(2, "tiles is 0", &["clahe", "a.npy", "e.npy", "--tiles", "0x3"]);
    assert!(!folder.path("e.npy").exists());
}

#[test]
fn an_image_gets_the_histogram_of_another() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[1u8, 1, 2, 3]);
    folder.array("b.npy", &[2, 2], &[50u8, 50, 100, 200]);
    folder.ok(&["match", "a.npy", "b.npy", "c.npy"]);
    assert_eq!(folder.read::<u8>("c.npy"), (vec![1, 4], vec![50, 50, 100, 200]));
    folder.array("rgb.npy", &[1, 1, 3], &[1u8, 2, 3]);
    folder.fails(3, "number of channels of the reference is 3", &["match", "a.npy", "rgb.npy", "d.npy"]);
    folder.fails(3, "none.npy", &["match", "a.npy", "none.npy", "d.npy"]);
}

#[test]
fn thresholds_are_printed_and_written() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[10u8, 11, 200, 200]);
    assert_eq!(folder.ok(&["otsu", "a.npy"]).stdout, "11\n");
    assert_eq!(folder.ok(&["otsu", "a.npy", "b.png"]).stdout, "11\n");
    assert_eq!(decode(&folder.path("b.png")).into_luma8().into_raw(), [0, 0, 255, 255]);
    folder.ok(&["otsu", "a.npy", "t.npy", "--classes", "3"]);
    assert_eq!(folder.read::<i64>("t.npy"), (vec![2], vec![10, 11]));
    folder.array("c.npy", &[1, 4], &[1000u16, 1001, 60000, 60000]);
    let report = folder.ok(&["otsu", "c.npy", "c.png", "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["threshold"], &report["thresholds"][0]), (&1001.into(), &1001.into()));
    assert_eq!(decode(&folder.path("c.png")).into_luma8().into_raw(), [0, 0, 255, 255]);
    folder.fails(2, "2 to 5", &["otsu", "a.npy", "--classes", "6"]);
    folder.fails(3, "4 classes", &["otsu", "a.npy", "--classes", "4", "--device", "cpu"]);
    folder.array("rgb.npy", &[1, 1, 3], &[1u8, 2, 3]);
    folder.fails(
        3,
        "number of channels is 3, but must be 1, since there is one threshold; --grey",
        &["otsu", "rgb.npy"],
    );
}

/// Expected values are from `cv2.cvtColor` and `cv2.threshold` with THRESH_OTSU, of OpenCV 5.0.
#[test]
fn colours_become_grey() {
    let folder = Folder::new();
    folder.png("rgb.png", 3, 2, &[1, 2, 3, 255, 0, 0, 0, 255, 0, 0, 0, 255, 200, 100, 50, 5, 158, 90]);
    assert_eq!(folder.ok(&["otsu", "rgb.png", "--grey"]).stdout, "29\n");
    folder.ok(&["pad", "rgb.png", "grey.npy", "--by", "0", "--gray"]);
    assert_eq!(folder.read::<u8>("grey.npy"), (vec![2, 3], vec![2, 76, 150, 29, 124, 105]));
    folder.ok(&["pipe", "rgb.png", "two.npy", "correlate mask=2", "--grey"]);
    assert_eq!(folder.read::<u8>("two.npy"), (vec![2, 3], vec![4, 152, 255, 58, 248, 210]));
    folder.png("rgba.png", 1, 1, &[200, 100, 50, 0]);
    folder.ok(&["pad", "rgba.png", "grey.npy", "--by", "0", "--grey"]);
    assert_eq!(folder.read::<u8>("grey.npy"), (vec![1, 1], vec![124]));
}

#[test]
fn all_of_them_are_jobs() {
    let folder = Folder::new();
    folder.array("a.npy", &[1, 4], &[7u8, 9, 9, 200]);
    folder.write(
        "jobs.jsonl",
        r#"{"verb":"equalize","in":"a.npy","out":"1.npy"}
{"verb":"clahe","in":"a.npy","out":"2.npy","clip":2,"tiles":"2x1"}
{"verb":"match","in":"a.npy","reference":"1.npy","out":"3.npy"}
{"verb":"otsu","in":"a.npy","out":"4.npy"}
{"verb":"stats","in":"a.npy","percentile":"50"}
{"verb":"histogram","in":"a.npy","out":"5.npy","edges":"0,9,300","roi-mask":"a.npy"}
{"verb":"match","in":"a.npy","out":"6.npy"}
"#,
    );
    let ended = folder.run(&["batch", "jobs.jsonl", "--device", "cpu", "--quiet"]);
    let reports: Vec<serde_json::Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((ended.code, reports.len()), (1, 7), "{ended:?}");
    assert!(reports[..6].iter().all(|report| report["ok"] == true), "{ended:?}");
    assert_eq!(folder.read::<u8>("3.npy").1, folder.read::<u8>("1.npy").1);
    assert_eq!((folder.read::<i64>("4.npy").1, folder.read::<i64>("5.npy").1), (vec![9], vec![1, 3]));
    assert_eq!(reports[4]["statistics"][0]["percentiles"][0]["value"], 9.0);
    assert!(reports[6]["error"].as_str().unwrap().contains("'reference' is missing"), "{ended:?}");
}

#[test]
fn devices_agree() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..41 * 23 * 3).map(|i: u32| (i * i / 7 % 200) as u8).collect();
    folder.png("a.png", 41, 23, &bytes);
    folder.png("roi.png", 41, 23, &bytes[..41 * 23]);
    folder.array("wide.npy", &[23, 41], &(0..41 * 23).map(|i: u16| i.wrapping_mul(7001)).collect::<Vec<_>>());
    let count = ["histogram", "wide.npy", "--roi-mask", "roi.png", "--bins", "100000", "--out", "x.npy"];
    folder.ok(&["equalize", "a.png", "cpu.png"]);
    folder.ok(&count);
    let counts = folder.read::<i64>("x.npy");
    let statistics = folder.ok(&["stats", "wide.npy", "--percentile", "33"]).stdout;
    for device in ["emulator", "reference"] {
        assert_eq!(folder.run(&["equalize", "a.png", "b.png", "--device", device]).code, 0);
        assert_eq!(decode(&folder.path("b.png")), decode(&folder.path("cpu.png")), "{device}");
        assert_eq!(folder.run(&[&count[..], &["--device", device]].concat()).code, 0);
        assert_eq!(folder.read::<i64>("x.npy"), counts, "{device}");
        let told = folder.run(&["stats", "wide.npy", "--percentile", "33", "--device", device]);
        assert_eq!(told.stdout, statistics, "{device}");
    }
    // More bins than shared memory holds.
    folder.array("floats.npy", &[23, 41], &(0..41 * 23).map(|i: u16| (i as f32).sin()).collect::<Vec<_>>());
    let many = ["histogram", "floats.npy", "--bins", "70000", "--range=-0.9,1", "--out", "y.npy", "--device"];
    assert_eq!(folder.run(&[&many[..], &["reference"]].concat()).code, 0);
    let expected = folder.read::<i64>("y.npy");
    assert_eq!(folder.run(&[&many[..], &["emulator"]].concat()).code, 0);
    assert_eq!(folder.read::<i64>("y.npy"), expected);
    let clahe = ["clahe", "a.png", "c.png", "--clip", "3", "--tiles", "3x2", "--device"];
    assert_eq!(folder.run(&[&clahe[..], &["reference"]].concat()).code, 0);
    let expected = decode(&folder.path("c.png"));
    assert_eq!(folder.run(&[&clahe[..], &["emulator"]].concat()).code, 0);
    assert_eq!(decode(&folder.path("c.png")), expected);
    let clahe = ["clahe", "wide.npy", "c.npy", "--clip", "3", "--tiles", "3x2", "--device"];
    assert_eq!(folder.run(&[&clahe[..], &["reference"]].concat()).code, 0);
    let expected = folder.read::<u16>("c.npy");
    assert_eq!(folder.run(&[&clahe[..], &["emulator"]].concat()).code, 0);
    assert_eq!(folder.read::<u16>("c.npy"), expected);
    // More tables than a gigabyte holds.
    folder.fails(4, "--device cpu", &["clahe", "wide.npy", "c.npy", "--tiles", "60x60", "--device", "emulator"]);
}

#[test]
fn a_table_goes_to_the_standard_output_where_out_is_a_dash() {
    let folder = Folder::new();
    folder.png("a.png", 2, 1, &[0, 1, 2, 3, 4, 5]);
    for verb in
        [&["histogram", "--per-channel"][..], &["histogram2d", "--channels", "0,1"], &["histogramdd", "--bins", "2"]]
    {
        let run = |more: &[&str]| folder.ok(&[verb, &["a.png"], more].concat()).stdout;
        folder.ok(&[verb, &["a.png", "--out", "table.csv"]].concat());
        let table = std::fs::read_to_string(folder.path("table.csv")).unwrap();
        assert_eq!((run(&["--out", "-"]), run(&[])), (table.clone(), table), "{verb:?}");
        folder.fails(2, "cannot both go", &[verb, &["a.png", "--out", "-", "--json"]].concat());
    }
    let both = folder.ok(&["histogram", "a.png", "--out", "-", "--plot", "p.svg"]);
    assert!(both.stdout.starts_with("bin,low,high,count\n") && folder.path("p.svg").exists());
    folder.fails(2, "--plot is -, but must be a file", &["histogram", "a.png", "--plot", "-"]);
    assert!(!folder.path("-").exists());
}
