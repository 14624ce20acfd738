//! Signals end the program and leave nothing behind.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, header, npy, program};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Writes a picture of noise, which takes the program's PNG compression a second or more.
fn noise(folder: &Folder) {
    let side = if cfg!(debug_assertions) { 5000 } else { 8000u32 };
    let noise: Vec<u8> = (0..side * side).map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    folder.png("noise.png", side, side, &noise);
}

/// Writes a stack of 200 pages, all of them holes of the file.
fn stack(folder: &Folder) {
    let head = npy(&header("'|u1'", "(200, 1000, 1000)"), &[]);
    folder.write("stack.npy", &head);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path("stack.npy")).unwrap();
    file.set_len(head.len() as u64 + 200_000_000).unwrap();
}

/// Runs a script in which `$0` is the program.
fn start(folder: &Folder, script: &str) -> Child {
    let mut command = Command::new("sh");
    command.current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.args(["-c", script]).arg(program()).spawn().unwrap()
}

/// Returns the output that the program has open, named or unnamed, if any.
fn draft(child: &Child, folder: &Folder) -> Option<PathBuf> {
    let real = folder.path("").canonicalize().unwrap();
    let files = std::fs::read_dir(format!("/proc/{}/fd", child.id())).ok()?.flatten();
    let names = files.flat_map(|file| std::fs::read_link(file.path()));
    let mut drafts = names.filter_map(|name| name.strip_prefix(&real).ok().map(|name| name.to_path_buf()));
    let named = |name: &std::ffi::OsStr| name.to_str().map(|name| name.starts_with('#') || name.starts_with(".apron-"));
    drafts.find(|name| name.file_name().and_then(named) == Some(true))
}

/// Starts the script and stops the program while it writes its output: on a busy machine it could end
/// before a signal comes.
fn stopped_as_it_writes(folder: &Folder, script: &str) -> Child {
    for _ in 0..20 {
        let mut child = start(folder, script);
        let mut before = None;
        while child.try_wait().unwrap().is_none() {
            let now = draft(&child, folder);
            // A file that exists only for a moment is the check that the folder is writable.
            if now.is_none() || now != before {
                before = now;
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            send("STOP", &child);
            while !is_stopped(&child) && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            if draft(&child, folder) == now {
                return child;
            }
            send("CONT", &child);
            break;
        }
        assert_eq!(child.wait().unwrap().code(), Some(0));
        // What the run that was too fast has written.
        for name in ["new.png", "new.npy", "c.png"] {
            let _ = std::fs::remove_file(folder.path(name));
        }
        let _ = std::fs::remove_dir_all(folder.path("new"));
        folder.write("there.png", "precious");
    }
    panic!("it was never seen to write");
}

fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    // The state follows the program's name, which is in parentheses.
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let folder = Folder::new();
    noise(&folder);
    stack(&folder);
    folder.write("there.png", "precious");
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("HUP", Some(129)), ("KILL", None)] {
        for files in ["noise.png new.png", "noise.png there.png", "stack.npy new.npy --pages", "noise.png new/deep/"] {
            if signal == "KILL" && files.ends_with('/') {
                continue; // nobody is there to remove the folder
            }
            // Whoever runs the tests in the background of a shell has them ignore interrupts.
            let script = format!("exec env --default-signal \"$0\" correlate {files} --mask identity --device cpu");
            let mut child = stopped_as_it_writes(&folder, &script);
            send(signal, &child);
            send("CONT", &child);
            assert_eq!(child.wait().unwrap().code(), code, "{signal}");
            assert_eq!(folder.names(), ["noise.png", "stack.npy", "there.png"], "{signal}");
            assert_eq!(std::fs::read(folder.path("there.png")).unwrap(), b"precious", "{signal}");
        }
    }
}

/// Files between steps have no name, which only a program that ends by itself could remove.
#[test]
fn a_killed_pipe_leaves_nothing_behind() {
    let folder = Folder::new();
    let head = npy(&header("'|u1'", "(10000, 10000)"), &[]);
    folder.write("big.npy", &head);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path("big.npy")).unwrap();
    file.set_len(head.len() as u64 + 100_000_000).unwrap();
    folder.write("there.png", "precious");
    let script = "exec \"$0\" pipe big.npy new.npy 'gaussian sigma=9 | box size=9' --memory 30MB --device cpu";
    let mut child = stopped_as_it_writes(&folder, script);
    send("KILL", &child);
    assert_eq!(child.wait().unwrap().code(), None);
    assert_eq!(folder.names(), ["big.npy", "there.png"]);
}

/// The limit on files ends the program as it writes the plot, which is longer than the table.
#[test]
fn a_table_and_its_plot_appear_together() {
    let folder = Folder::new();
    folder.png("a.png", 4, 1, &[1, 2, 3, 255]);
    let script = "ulimit -c 0; ulimit -f 16; exec \"$0\" histogram a.png --out o.csv --plot o.svg --device cpu";
    let ended = start(&folder, script).wait().unwrap();
    assert_eq!((ended.code(), folder.names()), (None, vec!["a.png".to_string()]), "{ended:?}");
    folder.ok(&["histogram", "a.png", "--out", "o.csv", "--plot", "o.svg"]);
    assert_eq!(folder.names(), ["a.png", "o.csv", "o.svg"]);
}

#[test]
fn a_signal_that_was_ignored_stays_so() {
    let folder = Folder::new();
    noise(&folder);
    let script = "trap '' HUP; exec \"$0\" correlate noise.png c.png --mask identity --device cpu";
    folder.write("there.png", "precious");
    let mut child = stopped_as_it_writes(&folder, script);
    send("HUP", &child);
    send("CONT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(folder.names(), ["c.png", "noise.png", "there.png"]);
}
