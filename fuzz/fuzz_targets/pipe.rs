//! The steps of `apron pipe`, up to the point where each verb's own parser starts.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The program is not a library, so its source file is included.
#[path = "../../crates/cli/src/words.rs"]
mod words;

fuzz_target!(init: apron_fuzz::start("pipe"), |text: &str| {
    let Ok(steps) = words::words(text) else { return };
    assert_eq!(steps.is_empty(), false, "there is a step, if an empty one");
    // Quoting every word gives the same words; a word with both kinds of quotes is quoted in parts.
    let quoted = |word: &String| format!("\"{}\"", word.replace('"', "\"'\"'\""));
    let again: Vec<String> = steps.iter().map(|words| words.iter().map(quoted).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(words::words(&again.join("|")), Ok(steps));
});
