//! The text forms of masks, taps and borders.
#![no_main]

use apron_core::{Border, Borders, Mask, Taps};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: apron_fuzz::start("mask"), |text: &str| {
    // Parsing is lossless: the text made from a mask parses to the same mask.
    if let Ok(mask) = text.parse::<Mask>() {
        assert_eq!(mask.to_string().parse::<Mask>().unwrap(), mask);
        assert_eq!(mask.clone().flipped().flipped(), mask);
        if let Ok(normalized) = mask.clone().normalized() {
            assert!(normalized.taps().iter().all(|tap| tap.is_finite()));
        }
        let _ = Taps::new(mask.taps()).and_then(Taps::normalized);
    }
    if let Ok(border) = text.parse::<Border>() {
        assert_eq!(border.to_string().parse::<Border>().unwrap(), border);
    }
    if let Ok(borders) = text.parse::<Borders>() {
        assert_eq!(borders.to_string().parse::<Borders>().unwrap(), borders);
    }
    let _ = apron_core::filters::named_mask(text);
});
