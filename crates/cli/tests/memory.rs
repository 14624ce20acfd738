//! With little memory or few threads the program either works, or says in one line what it lacks.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, header, npy, program};
use std::process::{Command, Stdio};

/// Checks that with each amount of memory a run either succeeds or is refused in one line, and leaves no files behind.
#[track_caller]
fn works_or_says(folder: &Folder, kib: impl Iterator<Item = u32>, output: &str, arguments: &[&str]) {
    works_or_says_on("cpu", folder, kib, output, arguments);
}

/// As [`works_or_says`], on this device.
#[track_caller]
fn works_or_says_on(device: &str, folder: &Folder, kib: impl Iterator<Item = u32>, output: &str, arguments: &[&str]) {
    let before = folder.names();
    let (mut done, mut refused) = (0, 0);
    for kib in kib {
        let ended = folder.run_within(kib, &[arguments, &["--device", device, "--quiet"]].concat());
        if ended.code == 0 {
            done += 1;
            std::fs::remove_file(folder.path(output)).unwrap();
        } else {
            refused += 1;
            assert_eq!(ended.code, 3, "{kib} KiB: {ended:?}");
            let line = ended.stderr.strip_suffix('\n').unwrap_or("");
            assert!(line.starts_with("apron: ") && line.lines().count() == 1, "{kib} KiB: {ended:?}");
            assert!(line.contains("memory") && line.contains("bytes"), "{kib} KiB: {ended:?}");
        }
        assert_eq!(folder.names(), before, "{kib} KiB");
    }
    assert!(done > 0 && refused > 0, "{output}: {done} done, {refused} refused");
}

/// Amounts from what suffices to start the program to what suffices to work, in KiB.
fn little() -> impl Iterator<Item = u32> {
    (6..22).step_by(2).map(|n| n * 10_000)
}

#[test]
fn writers_and_readers_say_that_memory_is_out() {
    let folder = Folder::new();
    // Noise, which does not compress.
    let noise: Vec<u8> = (0..3 * 2000 * 2000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    folder.write("a.npy", npy(&header("'|u1'", "(2000, 2000, 3)"), &noise));
    for output in ["b.png", "b.tif"] {
        works_or_says(&folder, little(), output, &["correlate", "a.npy", output, "--mask", "identity"]);
    }
    works_or_says(&folder, (8..22).map(|n| n * 10_000), "b.png", &["equalize", "a.npy", "b.png"]);
    for input in ["c.tif", "c.jpg"] {
        folder.ok(&["correlate", "a.npy", input, "--mask", "identity"]);
        works_or_says(&folder, little(), "b.npy", &["correlate", input, "b.npy", "--mask", "identity"]);
    }
}

#[test]
fn filters_without_strips_take_the_whole_image() {
    let folder = Folder::new();
    folder.array("a.npy", &[2500, 4000], &vec![1.0f32; 10_000_000]);
    let amounts = || (8..48).step_by(4).map(|n| n * 10_000);
    let fft = ["correlate", "a.npy", "b.npy", "--mask", "box3", "--out-type", "f32", "--method", "fft"];
    works_or_says(&folder, amounts(), "b.npy", &fft);
    works_or_says(&folder, amounts(), "b.npy", &["gradient", "a.npy", "b.npy", "--border", "crop"]);
}

#[test]
fn histograms_of_many_bins_say_that_memory_is_out() {
    let folder = Folder::new();
    folder.array("a.npy", &[10, 10], &[0.5f32; 100]);
    let arguments = ["histogram", "a.npy", "--bins", "16777216", "--range", "0,1", "--out", "b.npy"];
    works_or_says(&folder, [200_000, 400_000, 600_000, 4_000_000].into_iter(), "b.npy", &arguments);
}

/// Each thread of an emulated block has a stack.
#[test]
fn the_emulator_says_that_memory_is_out() {
    let folder = Folder::new();
    folder.array("a.npy", &[24, 40], &[7u8; 960]);
    let amounts = || [60, 70, 80, 120, 180, 250, 400, 600].into_iter().map(|n| n * 1000);
    for verb in [&["gaussian", "a.npy", "b.npy", "--sigma", "2"][..], &["equalize", "a.npy", "b.npy"]] {
        works_or_says_on("emulator", &folder, amounts(), "b.npy", verb);
    }
}

/// The limit on processes does not apply to root, so the program runs as nobody.
#[test]
fn without_threads_the_work_is_done() {
    let folder = Folder::new();
    let array: Vec<f32> = (0..300 * 300).map(|i| (i % 251) as f32).collect();
    folder.array("a.npy", &[300, 300], &array);
    let copy = folder.path("program");
    std::fs::copy(program(), &copy).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    let root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    // Also strip by strip, where one thread reads and one writes.
    for (processes, memory) in (1..4).flat_map(|processes| [(processes, "1GB"), (processes, "300KB")]) {
        let mut command = Command::new(if root { "setpriv" } else { "env" });
        if root {
            command.args(["--reuid=54321", "--regid=54321", "--clear-groups", "--inh-caps=-all"]);
        }
        command.arg("prlimit").arg(format!("--nproc={processes}")).arg("./program");
        command.args(["gaussian", "a.npy", "b.npy", "--sigma", "2", "--device", "cpu", "--memory", memory]);
        let ended = command.current_dir(folder.path("")).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && said.lines().count() == 1, "{processes} processes: {ended:?}");
        assert!(!said.starts_with("apron: "), "{processes} processes: {ended:?}");
        folder.ok(&["gaussian", "a.npy", "c.npy", "--sigma", "2"]);
        assert_eq!(folder.read::<f32>("b.npy"), folder.read::<f32>("c.npy"));
        std::fs::remove_file(folder.path("b.npy")).unwrap();
    }
}
