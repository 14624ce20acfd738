//! PNM files.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(init: apron_fuzz::start("pnm"), |bytes: &[u8]| -> Corpus {
    apron_fuzz::picture(matches!(bytes, [b'P', b'1'..=b'7', ..]), bytes)
});
