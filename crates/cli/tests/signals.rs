//! Signals end the program and leave nothing behind.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, program};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Writes a picture of noise, which takes the program's PNG compression a second or more: a signal is sent within
/// milliseconds of its beginning, but on a busy machine it comes later.
fn noise(folder: &Folder) {
    let side = if cfg!(debug_assertions) { 5000 } else { 8000u32 };
    let noise: Vec<u8> = (0..side * side).map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8).collect();
    folder.png("noise.png", side, side, &noise);
}

/// Runs a script in which `$0` is the program.
fn start(folder: &Folder, script: &str) -> Child {
    let mut command = Command::new("sh");
    command.current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.args(["-c", script]).arg(program()).spawn().unwrap()
}

/// Waits until the program writes its output, named or unnamed.
fn until_it_writes(child: &mut Child, folder: &Folder) {
    let start = Instant::now();
    let files = format!("/proc/{}/fd", child.id());
    let real = folder.path("").canonicalize().unwrap();
    let draft = || {
        let names = std::fs::read_dir(&files).ok()?.flatten().flat_map(|file| std::fs::read_link(file.path()));
        let mut drafts = names.filter_map(|name| name.strip_prefix(&real).ok().map(|name| name.to_path_buf()));
        drafts.find(|name| name.to_str().is_some_and(|name| name.starts_with('#') || name.starts_with(".apron-")))
    };
    let mut before = None;
    loop {
        let now = draft();
        // A file that exists only for a moment is the check that the folder is writable.
        if now.is_some() && now == before {
            return;
        }
        before = now;
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was told to");
        assert!(start.elapsed() < Duration::from_secs(60), "it does not write");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, child: &Child) {
    assert!(Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_leaves_nothing_behind() {
    let folder = Folder::new();
    noise(&folder);
    folder.write("there.png", "precious");
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(143)), ("HUP", Some(129)), ("KILL", None)] {
        for output in ["new.png", "there.png"] {
            let script = format!("exec \"$0\" correlate noise.png {output} --mask identity --device cpu");
            let mut child = start(&folder, &script);
            until_it_writes(&mut child, &folder);
            send(signal, &child);
            assert_eq!(child.wait().unwrap().code(), code, "{signal}");
            assert_eq!(folder.names(), ["noise.png", "there.png"], "{signal}");
            assert_eq!(std::fs::read(folder.path("there.png")).unwrap(), b"precious", "{signal}");
        }
    }
}

#[test]
fn a_signal_that_was_ignored_stays_so() {
    let folder = Folder::new();
    noise(&folder);
    let script = "trap '' HUP; exec \"$0\" correlate noise.png c.png --mask identity --device cpu";
    let mut child = start(&folder, script);
    until_it_writes(&mut child, &folder);
    send("HUP", &child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(folder.names(), ["c.png", "noise.png"]);
}
