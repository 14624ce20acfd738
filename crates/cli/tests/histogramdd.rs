//! `apron histogramdd`: tables, channels and several images; counts, sums, densities, marginals and information.
#![allow(missing_docs)]

mod common;

use common::Folder;
use serde_json::{Value, json};

/// Three rows in the two bins of the last column, one outside.
fn rows(folder: &Folder) {
    folder.array("rows.npy", &[4, 2], &[0.0f32, 5.0, 1.0, 10.0, 0.25, 0.0, 2.0, 1.0]);
}

#[test]
fn a_table_is_counted_by_its_columns() {
    let folder = Folder::new();
    rows(&folder);
    let asked = ["histogramdd", "rows.npy", "--bins", "2", "--range", "0,1,0,10"];
    for device in ["cpu", "reference", "emulator"] {
        let run = |more: &[&str]| {
            let ended = folder.run(&[&asked[..], &["--device", device], more].concat());
            assert_eq!(ended.code, 0, "{ended:?}");
            ended.stdout
        };
        let csv = run(&[]);
        assert!(csv.starts_with("bin,low,high,bin2,low2,high2,count\n0,0,0.5,0,0,5,1\n"), "{csv}");
        run(&["--out", "c.npy"]);
        assert_eq!(folder.read::<i64>("c.npy"), (vec![2, 2], vec![1, 1, 0, 1]), "{device}");
        folder.array("w.npy", &[4], &[1.0f64, 0.5, 0.25, 8.0]);
        run(&["--weights", "w.npy", "--out", "s.npy"]);
        assert_eq!(folder.read::<f64>("s.npy"), (vec![2, 2], vec![0.25, 1.0, 0.0, 0.5]), "{device}");
        run(&["--density", "--out", "d.npy"]);
        // Each of the four cells is 0.5 times 5, and each row a third.
        let third = 1.0 / 0.5 / 5.0 / 3.0;
        assert_eq!(folder.read::<f64>("d.npy").1, [third, third, 0.0, third], "{device}");
        let report: Value = serde_json::from_str(&run(&["--marginal", "1", "--json"])).unwrap();
        assert_eq!((&report["bins"], &report["total"]), (&json!([2]), &json!(3)));
        assert_eq!(report["histogram"]["counts"], json!([1, 2]));
    }
    folder.ok(&["histogramdd", "rows.npy", "--columns", "1,0,1", "--edges", "0,1,10;0,3;0,100", "--out", "c.json"]);
    let written: Value = serde_json::from_slice(&std::fs::read(folder.path("c.json")).unwrap()).unwrap();
    assert_eq!((&written["bins"], &written["counts"]), (&json!([2, 1, 1]), &json!([[[1]], [[3]]])));
    folder.write(
        "jobs.jsonl",
        r#"{"verb": "histogramdd", "in": "rows.npy", "edges": [[0, 1], [0, 5, 10]], "out": "j.npy"}"#,
    );
    folder.ok(&["batch", "jobs.jsonl"]);
    assert_eq!(folder.read::<i64>("j.npy"), (vec![1, 2], vec![1, 2]));
}

#[test]
fn cells_that_are_not_empty_stand_for_more_than_memory_holds() {
    let folder = Folder::new();
    rows(&folder);
    let asked = ["histogramdd", "rows.npy", "--bins", "1000000", "--range", "0,2,0,10"];
    folder.fails(2, "number of cells is 1000000000000, but must be at most 1073741824", &asked);
    folder.ok(&[&asked[..], &["--sparse", "--out", "c.npy"]].concat());
    let expected = [0, 500_000, 1, 125_000, 0, 1, 500_000, 999_999, 1, 999_999, 100_000, 1];
    assert_eq!(folder.read::<i64>("c.npy"), (vec![4, 3], expected.to_vec()));
    let report: Value =
        serde_json::from_str(&folder.ok(&[&asked[..], &["--sparse", "--json"]].concat()).stdout).unwrap();
    assert_eq!((&report["total"], &report["histogram"]["cells"][3]), (&json!(4), &json!([999_999, 100_000, 1])));
    let csv = folder.ok(&[&asked[..], &["--sparse"]].concat()).stdout;
    assert_eq!(csv.lines().count(), 5, "{csv}");
}

#[test]
fn two_images_tell_how_they_agree() {
    let folder = Folder::new();
    folder.array("a.npy", &[2, 2], &[0u8, 255, 255, 0]);
    folder.array("b.npy", &[2, 2], &[7u8, 3, 3, 7]);
    let asked = ["histogramdd", "a.npy", "b.npy", "--bins", "2", "--information"];
    let report: Value = serde_json::from_str(&folder.ok(&[&asked[..], &["--json"]].concat()).stdout).unwrap();
    let nat = 2f64.ln();
    let all = json!({ "count": 4, "entropies": [nat, nat], "joint": nat, "mutual": nat, "normalized": 2.0 });
    assert_eq!(report["information"], all);
    assert!(folder.ok(&asked).stdout.ends_with("normalized,2.0\n"));
    folder.write("jobs.jsonl", r#"{"verb": "histogramdd", "in": ["a.npy", "b.npy"], "bins": 2, "out": "j.npy"}"#);
    folder.ok(&["batch", "jobs.jsonl"]);
    assert_eq!(folder.read::<i64>("j.npy"), (vec![2, 2], vec![0, 2, 2, 0]));
    folder.fails(2, "number of dimensions is 1", &["histogramdd", "a.npy", "--columns", "0", "--information"]);
    folder.array("c.npy", &[1, 4], &[0u8; 4]);
    folder.fails(3, "size is 4x1, but must be 2x2", &["histogramdd", "a.npy", "c.npy"]);
}

#[test]
fn what_is_refused_names_value_and_limit() {
    let folder = Folder::new();
    folder.array("wide.npy", &[3, 9], &[0.5f32; 27]);
    folder.fails(2, "number of columns is 9, but must be 1 to 8", &["histogramdd", "wide.npy"]);
    let asked = ["histogramdd", "wide.npy", "--columns", "0,1"];
    let fails = |code, part, more: &[&str]| folder.fails(code, part, &[&asked[..], more].concat());
    fails(2, "range is 1,0", &["--range", "1,0"]);
    fails(2, "3 numbers", &["--range", "1,0,2"]);
    fails(2, "--bins for 3 columns and --range for 2", &["--bins", "1,2,3", "--range", "0,1,0,1"]);
    fails(2, "number of binnings is 3, but must be 2", &["--bins", "1,2,3"]);
    fails(2, "1 before 0", &["--edges", "0,1;1,0"]);
    fails(2, "dimensions is [2]", &["--marginal", "2"]);
    fails(2, "cannot be used with", &["--sparse", "--density"]);
    folder.array("w.npy", &[4], &[1.0f64; 4]);
    fails(3, "its shape is [4], but weights must have [3], one a row", &["--weights", "w.npy"]);
    folder.array("none.npy", &[0, 2], &[0f32; 0]);
    folder.fails(3, "none.npy", &["histogramdd", "none.npy"]);
    folder.array("nan.npy", &[2, 2], &[0.0f32, f32::NAN, 1.0, 2.0]);
    folder.fails(3, "is not finite", &["histogramdd", "nan.npy"]);
    folder.fails(2, "histogramdd", &["histogramdd", "wide.npy", "--memory", "40"]);
}
