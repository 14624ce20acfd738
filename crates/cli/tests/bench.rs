//! The verb `bench`, on small images where there is no GPU to measure.

mod common;

use common::Folder;
use serde_json::Value;
use std::process::Command;

/// Runs the bench of small images on the CPU.
fn quick(folder: &Folder, more: &[&str]) -> common::Ended {
    folder.ok(&[&["bench", "--quick", "--reps", "1", "--json"], more].concat())
}

#[test]
fn every_workload_is_checked_and_timed() {
    let folder = Folder::new();
    let ended = quick(&folder, &["--record", "a.csv"]);
    assert!(ended.stderr.is_empty(), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&report["device"], &report["failed"]), (&Value::from("cpu"), &Value::from(0)));
    assert!(report["machine"]["date"].is_string() && report["limits"].is_object(), "{report}");
    let workloads = report["workloads"].as_array().unwrap();
    assert!(workloads.len() > 30, "{report}");
    for workload in workloads {
        assert!(workload["variant"].as_str().unwrap().split(" + ").all(|variant| variant == "parallel"), "{workload}");
        assert_eq!(workload["verdict"], Value::from("-"));
        for key in ["ms", "limit_ms", "first_ms", "copy_in_ms", "gb_per_s"] {
            assert!(workload[key].as_f64().is_some_and(|value| value > 0.0), "{key}: {workload}");
        }
        let work = workload["work"].as_str().unwrap();
        assert_eq!(workload["copy_out_ms"].is_null(), work.ends_with("histogram") || work.starts_with("histogram"));
    }
    let record = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    assert!(record.starts_with("# cpu: ") && record.contains("\nwork,variant,"), "{record}");
    assert_eq!(record.lines().filter(|line| line.contains("parallel,")).count(), workloads.len(), "{record}");
}

#[test]
fn workloads_are_chosen_by_a_part_of_their_names() {
    let folder = Folder::new();
    let ended = folder.ok(&["bench", "--quick", "--reps", "1", "--only", "two-valued"]);
    assert_eq!(ended.stdout.lines().filter(|line| line.contains("parallel")).count(), 1, "{ended:?}");
    assert!(ended.stderr.contains("two-valued"), "{ended:?}");
    folder.fails(2, "'no-such'", &["bench", "--quick", "--device", "cpu", "--only", "no-such"]);
    folder.fails(2, "--reps", &["bench", "--reps", "0"]);
}

#[test]
fn auto_is_timed_beside_both_devices() {
    let folder = Folder::new();
    let ended = folder.ok(&["bench", "--auto", "--quick", "--reps", "1", "--only", "f32", "--record", "a.csv"]);
    assert!(ended.stdout.contains("dense5x5 f32 128x128") && ended.stdout.contains(" of 6 are over"), "{ended:?}");
    let record = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    assert!(record.contains("work,cpu_ms,cpu_ms,auto_ms\ngaussian f32 64x64,"), "{record}");
}

#[test]
fn without_its_gpu_it_says_so() {
    let folder = Folder::new();
    folder.fails(4, "no gpu", &["bench", "--device", "gpu:77"]);
    folder.fails(3, "no/a.csv", &["bench", "--device", "cpu", "--quick", "--record", "no/a.csv"]);
}

#[test]
fn peers_that_are_there_are_held_beside_and_others_are_left_out_in_words() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("peers")).unwrap();
    folder.write(
        "peers/torch_peer.py",
        "import sys\nprint('# torch: 1.2')\nfor name in sys.argv[1:]: print(f'{name},PyTorch,1000')\n",
    );
    folder.write("peers/cupy_peer.py", "raise SystemExit('no CuPy here')\n");
    let ended = quick(&folder, &["--only", "radius 8", "--peers", "--peers-dir", "peers", "--record", "a.csv"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let machine = |key: &str| report["machine"][key].as_str().unwrap_or("").to_string();
    assert!(machine("peer npp.cu").starts_with("left out: no peers"), "{report}");
    if Command::new("python3").arg("--version").output().is_err() {
        return assert!(machine("peer cupy_peer.py").starts_with("left out: "), "{report}");
    }
    assert!(machine("peer cupy_peer.py").ends_with("no CuPy here"), "{report}");
    assert_eq!(machine("torch"), "1.2");
    // The programs of other libraries are not given workloads with gaps between rows.
    let plain = |workload: &&Value| !workload["work"].as_str().unwrap().contains(" of ");
    for workload in report["workloads"].as_array().unwrap().iter().filter(plain) {
        assert_eq!(workload["best_peer"], "PyTorch", "{workload}");
        assert!(workload["times_as_fast_as_best_peer"].as_f64().is_some_and(|times| times > 1.0), "{workload}");
    }
    let record = std::fs::read_to_string(folder.path("a.csv")).unwrap();
    assert!(record.contains("\n# torch: 1.2\n") && record.contains(",PyTorch=1000.00000\n"), "{record}");
}
