//! Pipes: the same results as their steps one by one, and errors that name the step.

mod common;

use common::{Folder, decode};
use serde_json::Value;

const PIXELS: [u8; 12] = [0, 10, 200, 30, 90, 250, 7, 0, 60, 255, 128, 1];

#[test]
fn a_pipe_is_its_steps_in_a_row() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &PIXELS);
    folder.ok(&["gaussian", "a.png", "1.npy", "--sigma", "0.8", "--out-type", "f32", "--border", "wrap"]);
    folder.ok(&["correlate", "1.npy", "2.npy", "--mask", "-1 0 1; -2 0 2; -1 0 1", "--border", "constant:-3"]);
    folder.ok(&["separable", "2.npy", "3.npy", "--taps-x", "1 2 1", "--taps-y", "1 1", "--normalize"]);
    folder.ok(&["box", "3.npy", "4.npy", "--size", "3x1", "--border", "crop", "--out-type", "i16"]);
    let steps = "gaussian sigma=0.8 out-type=f32 border=wrap | correlate mask=\"-1 0 1; -2 0 2; -1 0 1\" \
                 border=constant:-3 | separable taps-x='1 2 1' taps-y='1 1' normalize|box size=3x1 border=crop out-type=i16";
    let expected = folder.read::<i16>("4.npy");
    assert_eq!(expected.0, [3, 2]);
    for device in ["cpu", "reference", "emulator", "auto"] {
        let ended = folder.run(&["pipe", "a.png", "p.npy", steps, "--device", device, "--quiet"]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{device}");
        assert_eq!(folder.read::<i16>("p.npy"), expected, "{device}");
    }
}

#[test]
fn a_report_has_those_of_the_steps() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &PIXELS);
    let ended =
        folder.ok(&["pipe", "a.png", "b.npy", "box size=3 border=crop | gaussian sigma=1 out-type=f32", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        (&report["verb"], &report["operation"], &report["device"]),
        (&"pipe".into(), &"pipe".into(), &"cpu".into())
    );
    assert_eq!(
        (&report["in_type"], &report["out_type"], &report["out_width"]),
        (&"u8".into(), &"f32".into(), &2.into())
    );
    let verbs: Vec<_> = report["steps"].as_array().unwrap().iter().map(|step| step["verb"].as_str().unwrap()).collect();
    assert_eq!(verbs, ["box", "gaussian"]);
    assert_eq!((&report["steps"][0]["out_height"], &report["steps"][1]["in_type"]), (&1.into(), &"u8".into()));
    let ended = folder.ok(&["pipe", "a.png", "b.png", "box size=3"]);
    assert!(ended.stderr.starts_with("pipe: b.png 4x3x1 u8; parallel on cpu"), "{ended:?}");
    // In a batch, too.
    folder.write("jobs.jsonl", r#"{"verb":"pipe","in":"a.png","out":"c.png","steps":"box size=1 | box size=1"}"#);
    folder.ok(&["batch", "jobs.jsonl"]);
    assert_eq!(decode(&folder.path("c.png")).as_bytes(), PIXELS);
}

#[test]
fn what_is_wrong_is_said_of_its_step() {
    let folder = Folder::new();
    folder.png("a.png", 4, 3, &PIXELS);
    // Found before the input is read.
    for (part, steps) in [
        ("step 2 (gaussian): gaussian: sigma is -1", "box size=3 | gaussian sigma=-1"),
        ("step 2 is empty", "box size=3 |"),
        ("step 1 is empty", " "),
        ("step 2 (blur): unknown verb 'blur'", "box size=3 | blur"),
        ("step 1 (info): makes no image", "info"),
        ("step 1 (box): 'device' is for the whole pipe", "box size=3 device=cpu"),
        ("inside \"quotes", "correlate mask=\"1 2"),
    ] {
        folder.fails(2, part, &["pipe", "missing.png", "b.png", steps]);
    }
    folder.fails(2, "required", &["pipe", "missing.png", "b.png"]);
    folder.fails(2, "write variant=NAME", &["pipe", "missing.png", "b.png", "box size=3", "--variant", "x"]);
    let run = |code, part: &str, steps: &str| {
        folder.fails(code, part, &["pipe", "a.png", "b.png", steps, "--device", "cpu"]);
    };
    run(3, "step 2 (box): box: a 9x9 mask has no full window in a 4x3x1 image", "box size=3 | box size=9 border=crop");
    run(2, "step 1 (correlate): ", "correlate mask=sobel-x method=box");
    run(2, "step 1 (box): box: variant is 'x'", "box size=3 variant=x");
    run(3, "does not hold f32", "box size=3 out-type=f32");
    folder.fails(2, "'gif'", &["pipe", "a.png", "b.gif", "box size=3"]);
    folder.fails(2, "step 1 (pipe): makes no image", &["pipe", "a.png", "b.png", "pipe steps=x"]);
    assert_eq!(folder.names(), ["a.png"]);
}
