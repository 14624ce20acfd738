//! BMP files.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(init: apron_fuzz::start("bmp"), |bytes: &[u8]| -> Corpus {
    apron_fuzz::picture(bytes.starts_with(b"BM"), bytes)
});
