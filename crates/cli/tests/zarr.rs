//! Zarr arrays on the command line: whole, strip by strip, and several at a time.
#![allow(missing_docs)]

mod common;

use common::{Ended, Folder, copy};
use std::collections::BTreeMap;
use std::path::Path;

fn run(folder: &Folder, command: &str) -> Ended {
    folder.run(&command.split(' ').collect::<Vec<_>>())
}

/// Makes an array of 300x1200 pixels of u8, and one of 300x900 of f32.
fn images() -> Folder {
    let folder = Folder::new();
    let noise = |i: u32| i.wrapping_mul(0x9e37_79b9) >> 20;
    folder.array("a.npy", &[1200, 300], &(0..360_000).map(|i| noise(i) as u8).collect::<Vec<_>>());
    folder.array("f.npy", &[900, 300], &(0..270_000).map(|i| noise(i) as f32 / 4096.0).collect::<Vec<_>>());
    copy(&folder, "a.npy", "a.zarr");
    copy(&folder, "f.npy", "f.zarr");
    folder
}

/// Returns the files of an output: itself, or those in it.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut paths) = (BTreeMap::new(), vec![path.to_path_buf()]);
    while let Some(at) = paths.pop() {
        if at.is_dir() {
            paths.extend(std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = at.strip_prefix(path).unwrap().to_str().unwrap().to_string();
        files.insert(name, std::fs::read(at).unwrap());
    }
    files
}

#[test]
fn strips_give_the_files_of_the_whole() {
    let folder = images();
    // Chunks that are smaller than strips: those of an array of zeros that an image is added to.
    let metadata = std::fs::read_to_string(folder.path("a.zarr/zarr.json")).unwrap();
    std::fs::create_dir(folder.path("zeros.zarr")).unwrap();
    folder.write("zeros.zarr/zarr.json", metadata.replace("512", "70"));
    folder.ok(&[
        "correlate",
        "zeros.zarr",
        "small.zarr",
        "--mask",
        "identity",
        "--offset",
        "3",
        "--border",
        "constant:7",
    ]);
    assert!(folder.path("small.zarr/c/17/4").is_file());
    for (command, input, output) in [
        ("gaussian --sigma 2", "a.zarr", "zarr"),
        ("gaussian --sigma 2,5 --border wrap", "f.zarr", "zarr"),
        ("box --size 21x33 --border reflect", "f.npy", "zarr"),
        ("box --size 9x9 --border crop", "a.zarr", "npy"),
        ("separable --taps-x 1,2,1 --taps-y 1,2,1,5 --full --border replicate", "f.zarr", "tif"),
        ("correlate --mask sobel-x --out-type i16", "small.zarr", "zarr"),
        ("equalize", "a.zarr", "zarr"),
    ] {
        let (verb, options) = command.split_once(' ').unwrap_or((command, ""));
        let outputs = [("whole", ""), ("strips", " --memory 3.5MB")].map(|(name, memory)| {
            let memory =
                if input == "f.zarr" || input == "f.npy" { memory.into() } else { memory.replace("3.5MB", "900KB") };
            let command = format!("{verb} {input} {name}.{output} {options} --device cpu{memory} --json");
            let ended = run(&folder, &command.split_whitespace().collect::<Vec<_>>().join(" "));
            let by_strips = ended.stdout.contains(" strips");
            assert!(ended.code == 0 && by_strips != memory.is_empty(), "{command}: {ended:?}");
            files(&folder.path(&format!("{name}.{output}")))
        });
        assert!(outputs[0] == outputs[1], "{command} {input} {output}");
    }
    assert!(!folder.names().iter().any(|name| name.starts_with('.')));
}

#[test]
fn counts_are_those_of_the_same_samples_in_another_file() {
    let folder = images();
    for command in [
        "histogram a.EXT --out h.csv",
        "histogram f.EXT --bins 100 --out h.csv",
        "stats f.EXT --percentile 1,50 --json",
    ] {
        let memory = if command.contains("f.EXT") { " --memory 3.5MB" } else { " --memory 900KB" };
        let results = [("npy", ""), ("zarr", ""), ("zarr", memory)].map(|(extension, memory)| {
            let ended = run(&folder, &format!("{}{memory} --device cpu", command.replace("EXT", extension)));
            assert_eq!(ended.code, 0, "{command}: {ended:?}");
            let statistics = ended.stdout.split("\"statistics\"").nth(1).map(String::from);
            statistics.unwrap_or_else(|| std::fs::read_to_string(folder.path("h.csv")).unwrap())
        });
        assert!(results[0] == results[1] && results[1] == results[2], "{command}: {results:?}");
    }
}

#[test]
fn a_folder_of_an_array_is_one_image() {
    let folder = images();
    // As shells complete the names.
    folder.ok(&["correlate", "a.zarr/", "b.zarr/", "--mask", "identity"]);
    assert!(files(&folder.path("a.zarr")) == files(&folder.path("b.zarr")));
    folder.ok(&["correlate", "*.zarr", "out/", "--mask", "identity", "--quiet"]);
    folder.ok(&["correlate", "[af].npy", "out/", "--mask", "identity", "--format", "zarr", "--quiet"]);
    for name in ["a.zarr", "f.zarr"] {
        assert!(files(&folder.path("out").join(name)) == files(&folder.path(name)));
    }
    assert_eq!(std::fs::read_dir(folder.path("out")).unwrap().count(), 3);
    folder.fails(2, "several images need a folder", &["correlate", "a.npy", "f.npy", "b.zarr", "--mask", "2"]);
    // The output replaces its own input.
    folder.ok(&["correlate", "b.zarr", "b.zarr", "--mask", "2", "--out-type", "u16"]);
    copy(&folder, "b.zarr", "b.npy");
    let (before, after) = (folder.read::<u8>("a.npy").1, folder.read::<u16>("b.npy").1);
    assert!(before.iter().zip(&after).all(|(before, after)| u16::from(*before) * 2 == *after));
}

#[test]
fn refusals_name_the_folder() {
    let folder = images();
    std::fs::create_dir(folder.path("empty.zarr")).unwrap();
    folder.fails(3, "a folder without a zarr.json", &["stats", "empty.zarr"]);
    folder.fails(3, "not a Zarr", &["correlate", "a.npy", "empty.zarr", "--mask", "2"]);
    folder.fails(3, "300x1200 is more than 359999 pixels", &["stats", "a.zarr", "--max-pixels", "359999"]);
    folder.fails(3, "a Zarr is a folder", &["correlate", "a.npy", "-", "--format", "zarr", "--mask", "2"]);
    folder.fails(3, "page 2 was asked for", &["stats", "a.zarr", "--page", "2"]);
    std::fs::write(folder.path("a.zarr/c/1/0"), "no chunk").unwrap();
    folder.fails(
        3,
        "a.zarr: chunk [1, 0]: its bytes cannot be decoded: ",
        &["correlate", "a.zarr", "b.zarr", "--mask", "2", "--device", "cpu"],
    );
    let strips = ["correlate", "a.zarr", "b.zarr", "--mask", "2", "--device", "cpu", "--memory", "900KB"];
    folder.fails(3, "chunk [1, 0]", &strips);
    let little = [&strips[..8], &["200KB"]].concat();
    folder.fails(2, "and what the files hold decoded", &little);
    assert!(!folder.names().iter().any(|name| name.starts_with('.') || name == "b.zarr"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_folder_behind() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let samples: Vec<u8> = (0..40_000_000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 18) as u8).collect();
    folder.write("a.npy", common::npy(&common::header("'|u1'", "(8000, 5000)"), &samples));
    for _ in 0..20 {
        let mut command = Command::new(common::program());
        command.args(["correlate", "a.npy", "b.zarr", "--mask", "identity", "--device", "cpu"]);
        command.current_dir(folder.path("")).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Until chunks are written.
        let writes =
            || folder.names().iter().any(|name| name.starts_with('.') && folder.path(name).join("c/1").is_dir());
        while child.try_wait().unwrap().is_none() && !writes() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().is_ok());
        match child.wait().unwrap().code() {
            Some(0) => std::fs::remove_dir_all(folder.path("b.zarr")).unwrap(),
            code => {
                assert_eq!((code, folder.names()), (Some(143), vec!["a.npy".to_string()]));
                return;
            }
        }
    }
    panic!("it was never seen to write");
}

/// Starts a job that writes `b.zarr`, and stops it when its hidden folder has a chunk. Returns the job and the folder.
#[cfg(target_os = "linux")]
fn stopped_as_it_writes(folder: &Folder) -> (std::process::Child, String) {
    use std::process::{Command, Stdio};
    for _ in 0..20 {
        let mut command = Command::new(common::program());
        command.args(["correlate", "a.npy", "b.zarr", "--mask", "identity", "--device", "cpu"]);
        command.current_dir(folder.path("")).stdout(Stdio::null()).stderr(Stdio::null());
        let before = folder.names();
        let mut child = command.spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            let has_chunks = |name: &String| !before.contains(name) && folder.path(name).join("c/1").is_dir();
            let Some(draft) = folder.names().into_iter().find(|name| name.starts_with('.') && has_chunks(name)) else {
                continue;
            };
            assert!(Command::new("kill").args(["-s", "STOP", &child.id().to_string()]).status().unwrap().success());
            if folder.path(&draft).is_dir() {
                return (child, draft);
            }
        }
        std::fs::remove_dir_all(folder.path("b.zarr")).unwrap();
    }
    panic!("it was never seen to write");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let folder = Folder::new();
    let samples: Vec<u8> = (0..40_000_000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 18) as u8).collect();
    folder.write("a.npy", common::npy(&common::header("'|u1'", "(8000, 5000)"), &samples));
    folder.array("small.npy", &[2, 2], &[1u8, 2, 3, 4]);
    let (mut killed, left) = stopped_as_it_writes(&folder);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(folder.path(&left).is_dir());
    let (mut alive, own) = stopped_as_it_writes(&folder);
    assert!(!folder.path(&left).exists());
    std::fs::create_dir(folder.path(".apron-b.zarr-mine")).unwrap();
    folder.write(".apron-b.zarr-mine/notes.txt", "mine");
    // The folder of a run that is still writing stays, and so does an unknown folder.
    folder.ok(&["correlate", "small.npy", "b.zarr", "--mask", "identity"]);
    assert!(folder.path(&own).is_dir());
    let pid = alive.id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "CONT", &pid]).status().unwrap().success());
    assert_eq!(alive.wait().unwrap().code(), Some(0));
    assert_eq!(folder.names(), [".apron-b.zarr-mine", "a.npy", "b.zarr", "small.npy"]);
    copy(&folder, "b.zarr", "b.npy");
    assert!(folder.read::<u8>("b.npy").1 == samples);
}

#[test]
#[cfg(unix)]
fn a_killed_job_is_resumed() {
    let folder = Folder::new();
    let samples: Vec<u8> = (0..300 * 6000u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    folder.array("a.npy", &[6000, 300], &samples);
    folder.ok(&["gaussian", "a.npy", "whole.zarr", "--sigma", "5"]);
    let job = ["gaussian", "a.npy", "o.zarr", "--sigma", "5", "--memory", "1MB", "--resume"];
    let slow = [&job[..], &["--device", "reference"]].concat();
    let strips = |stdout: &str| -> u32 {
        let before = stdout.split(" strips").next().unwrap();
        before.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let all = folder.ok(&[&job[..], &["--json"]].concat());
    std::fs::remove_dir_all(folder.path("o.zarr")).unwrap();

    folder.killed("o.zarr", &slow);
    assert_eq!(folder.names(), ["a.npy", "o.zarr.partial", "o.zarr.partial.json", "whole.zarr"]);
    let rest = folder.ok(&[&job[..], &["--json"]].concat());
    assert!(strips(&rest.stdout) < strips(&all.stdout), "{rest:?}");
    assert!(files(&folder.path("o.zarr")) == files(&folder.path("whole.zarr")));

    // Another job starts anew, and replaces the output: nothing of the first one is left in it.
    folder.killed("o.zarr", &slow);
    folder.write("o.zarr.partial/c/99", "stray");
    folder.ok(&["box", "a.npy", "o.zarr", "--size", "3", "--memory", "1MB", "--resume"]);
    folder.ok(&["box", "a.npy", "whole.zarr", "--size", "3"]);
    assert!(files(&folder.path("o.zarr")) == files(&folder.path("whole.zarr")));
    assert_eq!(folder.names(), ["a.npy", "o.zarr", "whole.zarr"]);

    // An unknown folder stays.
    std::fs::create_dir(folder.path("o.zarr.partial")).unwrap();
    folder.write("o.zarr.partial/notes.txt", "mine");
    folder.fails(3, "not of an earlier run", &job);
    assert!(folder.path("o.zarr.partial/notes.txt").is_file());
    std::fs::remove_dir_all(folder.path("o.zarr.partial")).unwrap();
    // A run that fails without rows leaves nothing.
    folder.fails(
        2,
        "or more for one row",
        &["gaussian", "a.npy", "o.zarr", "--sigma", "5", "--memory", "320KB", "--resume"],
    );
    assert_eq!(folder.names(), ["a.npy", "o.zarr", "whole.zarr"]);
}

#[test]
#[cfg(unix)]
fn a_killed_job_on_a_volume_is_resumed() {
    let folder = Folder::new();
    let samples: Vec<u8> = (0..320 * 40 * 50u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    folder.array("v.npy", &[320, 40, 50], &samples);
    folder.ok(&["gaussian", "v.npy", "whole.zarr", "--sigma", "2,2,3", "--volume"]);
    let job = ["gaussian", "v.npy", "o.zarr", "--sigma", "2,2,3", "--volume", "--memory", "2MB", "--resume"];
    folder.killed("o.zarr", &[&job[..], &["--device", "reference"]].concat());
    folder.ok(&job);
    assert!(files(&folder.path("o.zarr")) == files(&folder.path("whole.zarr")));
    assert_eq!(folder.names(), ["o.zarr", "v.npy", "whole.zarr"]);
}
