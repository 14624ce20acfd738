//! The commands on the pages parse.

mod common;

use common::{Folder, program};
use std::process::Command;

/// Verbs that need no file, and so would do all their work here; the parser's own test has their examples.
const AT_WORK: [&str; 4] = ["verify", "bench", "tune", "kernels"];

/// Exit code of wrong usage. In a folder without files, a valid command ends with another code.
const USAGE: i32 = 2;

#[test]
fn the_commands_of_the_pages_are_taken() {
    for name in ["README.md", "docs/command-line.md"] {
        let page = std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("apron ")).collect();
        assert!(commands.len() > 2, "{name} has no commands");
        for command in commands.iter().filter(|command| !AT_WORK.iter().any(|verb| command.starts_with(verb))) {
            let folder = Folder::new();
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("exec \"$0\" {command}")]).arg(program()).current_dir(folder.path(""));
            let ended = shell.output().unwrap();
            assert!(ended.status.code().is_some_and(|code| code != USAGE), "{name}: apron {command}: {ended:?}");
        }
    }
}
