//! The verb `tune` in the emulator, and the choice of variants.

mod common;

use apron_plan::tuning::Table;
use apron_plan::{VARIANTS, variants};
use common::{Ended, Folder};
use serde_json::Value;

#[test]
fn a_sweep_times_every_variant_and_writes_the_table_that_plans_read() {
    let folder = Folder::new();
    let ended = folder.run(&["tune", "--device", "emulator", "--quick", "--json", "--write", "a.csv"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["device"], &report["failed"]), (&Value::from("emulator"), &Value::from(0)));
    let workloads = report["workloads"].as_array().unwrap();
    let table = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    assert_eq!(report["table"].as_str(), Some(table.as_str()));
    let table_read = Table::parse(&table);
    let rows = table_read.rows();
    assert_eq!(rows.len(), workloads.len());
    assert!(table.starts_with("# cpu: ") && table.contains("\n# sweep: apron tune, "), "{table}");
    for (row, workload) in rows.iter().zip(workloads) {
        assert_eq!((row.gpu.as_str(), row.target, row.multiprocessors), ("emulator", 90, 132));
        assert_eq!(workload["work"], row.work.to_string());
        assert!(row.times.windows(2).all(|pair| pair[0].ms <= pair[1].ms), "{row}");
        let times = workload["times"].as_array().unwrap();
        assert_eq!(times.len(), row.times.len());
        let now = workload["now"].as_str().unwrap();
        assert!(row.time(now).is_some() && variants(row.work.operation).any(|variant| variant.name == now), "{row}");
        // An operation with a single variant has no choice.
        assert!(times.len() > 1, "{row}");
    }
    for variant in VARIANTS.iter().filter(|variant| variant.is_swept()) {
        let timed = rows.iter().filter(|row| row.work.operation == variant.operation);
        assert!(timed.clone().any(|row| row.time(variant.name).is_some()), "{}", variant.name);
    }
}

#[test]
fn a_part_of_a_sweep_to_read() {
    let folder = Folder::new();
    let tune = ["tune", "--device", "emulator", "--quick", "--only", "correlate u8 to f32"];
    let ended = folder.run(&tune);
    assert_eq!(ended.code, 0, "{ended:?}");
    // Changes from the present table are listed after the times.
    let times = ended.stdout.split("\n\n").nth(1).unwrap();
    let lines = times.lines().filter(|line| line.starts_with("correlate u8 to f32 48x32 mask "));
    assert_eq!(lines.count(), 2, "{ended:?}");
    assert!(ended.stdout.contains("\nThe table:\n\n# cpu: "), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 2, "{ended:?}");
    folder.fails(2, "nothing to tune", &["tune", "--device", "reference"]);
    let ended = folder.run(&["tune", "--device", "cpu", "--quick", "--only", "box", "--write", "cpu.csv"]);
    assert_eq!((ended.code, ended.stdout), (0, std::fs::read_to_string(folder.path("cpu.csv")).unwrap()));
    folder.fails(2, "'no-such'", &["tune", "--device", "cpu", "--quick", "--only", "no-such"]);
    folder.fails(2, "'no-such'", &["tune", "--device", "emulator", "--only", "no-such"]);
    folder.fails(3, "no/a.csv", &["tune", "--device", "emulator", "--write", "no/a.csv"]);
    folder.fails(4, "no gpu", &["tune", "--device", "gpu:77"]);
}

/// Runs a 3x3 mask by the emulator.
fn sharpened(folder: &Folder, environment: &[(&str, &str)], more: &[&str]) -> Ended {
    folder.png("a.png", 4, 4, &[9; 16]);
    let arguments = ["correlate", "a.png", "b.png", "--mask", "sharpen", "--device", "emulator"];
    folder.run_with(environment, &[&arguments[..], more].concat())
}

fn ran(ended: &Ended) -> (String, String) {
    assert_eq!(ended.code, 0, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let text = |key: &str| report[key].as_str().unwrap().to_string();
    assert!(text("grid").contains(" x "), "{report}");
    (text("variant"), text("why"))
}

#[test]
fn the_environment_forces_a_variant_and_an_option_wins_over_it() {
    let folder = Folder::new();
    let forced = [("APRON_VARIANT", "separable=conv1d-fused, correlate=conv2d-naive")];
    let by = |environment: &[(&str, &str)], more: &[&str]| {
        ran(&sharpened(&folder, environment, &[&["--json"], more].concat()))
    };
    assert_eq!(by(&forced, &[]), ("conv2d-naive".into(), "forced by APRON_VARIANT".into()));
    assert_eq!(by(&forced, &["--variant", "conv2d-tiled"]), ("conv2d-tiled".into(), "asked for by name".into()));
    let free = by(&[], &[]);
    assert_eq!(by(&[("APRON_VARIANT", "separable=conv1d-simple")], &[]), free);
    assert!(free.1.contains("measured"), "{free:?}");
    // A problem that the variant does not support is refused, and the message names APRON_VARIANT.
    let refused = sharpened(&folder, &[("APRON_VARIANT", "correlate=rgba-naive")], &[]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.stderr.contains("APRON_VARIANT asks for rgba-naive"), "{refused:?}");
}

#[test]
fn a_name_that_does_not_exist_is_wrong_usage_on_every_device() {
    let folder = Folder::new();
    folder.png("a.png", 4, 4, &[9; 16]);
    for (text, part) in [("correlate=fast", "one of words-line, "), ("blur=tiled", "one of separable, correlate")] {
        for device in ["cpu", "emulator", "reference", "auto"] {
            let arguments = ["correlate", "a.png", "b.png", "--mask", "sharpen", "--device", device];
            let ended = folder.run_with(&[("APRON_VARIANT", text)], &arguments);
            assert_eq!(ended.code, 2, "{ended:?}");
            assert!(ended.stderr.starts_with("apron: APRON_VARIANT: ") && ended.stderr.contains(part), "{ended:?}");
        }
    }
}

#[test]
fn the_log_has_a_line_a_run() {
    let folder = Folder::new();
    let logged = |environment: &[(&str, &str)], more: &[&str]| {
        let ended = sharpened(&folder, environment, &[&["--quiet"], more].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
        ended.stderr
    };
    assert_eq!(logged(&[], &[]), "");
    assert_eq!(logged(&[("APRON_LOG", "info")], &[]), "");
    for log in [
        logged(&[("APRON_LOG", "off")], &["--verbose"]),
        logged(&[], &["-v"]),
        logged(&[("APRON_LOG", "debug")], &[]),
        logged(&[("APRON_LOG", "apron")], &[]),
    ] {
        assert_eq!(log.lines().count(), 1, "{log}");
        let parts = ["[DEBUG apron] correlate on emulator: ", ", blocks 1x1 x ", "; "];
        assert!(parts.iter().all(|part| log.contains(part)) && log.contains("measured"), "{log}");
    }
    folder.array("f.npy", &[4, 4], &[0.5f32; 16]);
    let histogram = folder.run(&["-v", "histogram", "f.npy", "--quiet", "--device", "cpu"]);
    assert!(histogram.stderr.contains("histogram on cpu: parallel; the only variant of this device"), "{histogram:?}");
}
