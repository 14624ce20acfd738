//! The steps of `apron pipe`, up to where the grammar of each verb begins.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The program is no library: the file that does it is taken from there.
#[path = "../../crates/cli/src/words.rs"]
mod words;

fuzz_target!(init: apron_fuzz::start("pipe"), |text: &str| {
    let Ok(steps) = words::words(text) else { return };
    assert_eq!(steps.is_empty(), false, "there is a step, if an empty one");
    // Quoted, the same words come again; one with both quotes is quoted in two parts.
    let quoted = |word: &String| format!("\"{}\"", word.replace('"', "\"'\"'\""));
    let again: Vec<String> = steps.iter().map(|words| words.iter().map(quoted).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(words::words(&again.join("|")), Ok(steps));
});
