//! `.npy` files, as images and as masks.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(init: apron_fuzz::start("npy"), |bytes: &[u8]| -> Corpus { apron_fuzz::array(bytes) });
