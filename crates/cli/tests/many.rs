//! One verb on several images, with a folder for the results.

mod common;

use common::{Folder, decode};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    for (name, pixel) in [("a.png", 10), ("b.png", 20), ("c.png", 30)] {
        folder.png(name, 2, 1, &[pixel, pixel]);
    }
    folder
}

fn pixels(folder: &Folder, name: &str) -> Vec<u8> {
    decode(&folder.path(name)).as_bytes().to_vec()
}

#[test]
fn images_go_to_a_folder_under_their_names() {
    let folder = folder();
    let ended = folder.ok(&["correlate", "a.png", "b.png", "out/", "--mask", "2"]);
    assert!(ended.stderr.starts_with("2 images, total "), "{ended:?}");
    assert_eq!((pixels(&folder, "out/a.png"), pixels(&folder, "out/b.png")), (vec![20; 2], vec![40; 2]));
    // A pattern, another format, and an existing folder.
    folder.ok(&["correlate", "*.png", "out", "--mask", "3", "--format", "npy", "--quiet"]);
    assert_eq!(folder.read::<u8>("out/c.npy"), (vec![1, 2], vec![90; 2]));
    // One image, with a folder as output.
    folder.ok(&["pipe", "c.png", "new/deep/", "box size=1 | correlate mask=2"]);
    assert_eq!(pixels(&folder, "new/deep/c.png"), [60; 2]);
    let ended = folder.ok(&["box", "out/*.npy", "new/", "--size", "1", "--json"]);
    let reports: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let inputs: Vec<_> = reports.iter().map(|report| report["input"].as_str().unwrap()).collect();
    assert_eq!((inputs, ended.stderr.as_str()), (vec!["out/a.npy", "out/b.npy", "out/c.npy"], ""));
}

#[test]
fn a_folder_stands_for_the_images_in_it() {
    let folder = folder();
    std::fs::create_dir_all(folder.path("in/deeper.png")).unwrap();
    for name in ["a.png", "b.png"] {
        std::fs::rename(folder.path(name), folder.path("in").join(name)).unwrap();
    }
    folder.write("in/notes.txt", "no image");
    folder.write("in/.c.png", "hidden");
    let ended = folder.ok(&["correlate", "in", "out/", "--mask", "2", "--format", "npy"]);
    assert!(ended.stderr.starts_with("2 images, total "), "{ended:?}");
    assert_eq!(folder.read::<u8>("out/b.npy"), (vec![1, 2], vec![40; 2]));
    folder.ok(&["correlate", "c.png", "in", "new/", "--mask", "3"]);
    assert_eq!((pixels(&folder, "new/a.png"), pixels(&folder, "new/c.png")), (vec![30; 2], vec![90; 2]));
    folder.fails(2, "several images need a folder", &["box", "in", "none", "--size", "1"]);
    folder.fails(2, "would be overwritten", &["box", "in", "in", "--size", "1"]);
    folder.fails(3, "no image is in this folder", &["box", "in/deeper.png", "none/", "--size", "1"]);
    assert!(!folder.path("none").exists());
}

#[test]
fn a_failure_is_told_at_the_end_and_the_others_are_done() {
    let folder = folder();
    folder.write("b.png", "not a picture");
    let ended = folder.run(&["box", "a.png", "b.png", "c.png", "out/", "--size", "1", "--device", "cpu"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert!(lines[0].starts_with("apron: b.png: ") && lines[1] == "apron: 1 of 3 images failed", "{ended:?}");
    assert_eq!((pixels(&folder, "out/a.png"), pixels(&folder, "out/c.png")), (vec![10; 2], vec![30; 2]));
    assert!(!folder.path("out/b.png").exists());
    let ended = folder.run(&["box", "a.png", "b.png", "out/", "--size", "1", "--device", "cpu", "--json"]);
    let last: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&last["ok"], &last["exit"], &last["input"]), (&false.into(), &3.into(), &"b.png".into()));
}

#[test]
fn an_image_that_is_given_twice_is_told_of() {
    let folder = folder();
    let ended = folder.ok(&["box", "a.png", "b.png", "a.png", "*.png", "out/", "--size", "1"]);
    let line = "apron: warning: a.png, and 1 image more: given more than once, and taken once\n3 images, total ";
    assert!(ended.stderr.starts_with(line), "{ended:?}");
    let ended = folder.ok(&["box", "a.png", "a.png", "out/", "--size", "1", "--quiet"]);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_folder_that_stays_empty_is_removed() {
    let folder = folder();
    folder.write("b.png", "not a picture");
    let ended = folder.run(&["box", "b.png", "new/deep/", "--size", "1", "--device", "cpu"]);
    assert_eq!((ended.code, folder.path("new").exists()), (1, false), "{ended:?}");
    // One that was there before stays, and so does one with a result.
    std::fs::create_dir(folder.path("old")).unwrap();
    folder.run(&["box", "b.png", "old/", "--size", "1", "--device", "cpu"]);
    folder.run(&["box", "a.png", "b.png", "new/", "--size", "1", "--device", "cpu"]);
    assert!(folder.path("old").exists() && folder.path("new/a.png").exists());
}

#[test]
fn images_are_not_overwritten() {
    let folder = folder();
    folder.fails(2, "would be overwritten", &["box", "a.png", "b.png", "./", "--size", "1"]);
    folder.fails(2, "need a folder, and 'c.png' is none", &["box", "a.png", "b.png", "c.png", "--size", "1"]);
    folder.fails(3, "no file matches", &["box", "*.jpg", "out/", "--size", "1"]);
    folder.fails(
        2,
        "--format is for results in a folder",
        &["box", "a.png", "d.png", "--size", "1", "--format", "npy"],
    );
    folder.fails(2, "extension 'gif'", &["box", "a.png", "new/", "--size", "1", "--format", "gif", "--json"]);
    assert!(!folder.path("new").exists());
    assert_eq!((pixels(&folder, "a.png"), folder.names().len()), (vec![10; 2], 3));
}

#[test]
fn a_key_that_is_there_twice_is_refused() {
    let folder = Folder::new();
    folder.png("a.png", 1, 1, &[3]);
    folder.write("jobs.jsonl", r#"{"verb":"gaussian","in":"a.png","out":"b.png","sigma":1,"sigma":2}"#);
    let ended = folder.run(&["batch", "jobs.jsonl", "--device", "cpu", "--quiet"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(
        ended.stdout.contains("the key 'sigma' is there twice") && ended.stdout.contains("\"exit\":3"),
        "{ended:?}"
    );
    // In a list, the other jobs run.
    let good = r#"{"verb":"box","in":"a.png","out":"c.npy","size":1}"#;
    let doubled = r#"{"verb":"box","in":"a.png","out":"d.npy","size":1,"size":3}"#;
    folder.write("jobs.json", format!("[{doubled}, {good}]"));
    let ended = folder.run(&["batch", "jobs.json", "--device", "cpu", "--quiet"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (1, 2), "{ended:?}");
    assert!(ended.stdout.contains("the key 'size' is there twice"), "{ended:?}");
    assert_eq!(folder.names(), ["a.png", "c.npy", "jobs.json", "jobs.jsonl"]);
}
