//! Prints the time of planning: `cargo test --release -p apron-plan --lib -- --ignored --nocapture planning`.

use crate::{Machine, plan};
use apron_core::{
    Bins, Border, BoxFilter, ByteHistogram, Correlate, EdgeHistogram, Extent, Mask, PixelType, Problem, Scale,
    Separable, Shape, Taps,
};
use std::hint::black_box;
use std::time::Instant;

/// Problems on an image of 1920 x 1080 pixels.
fn problems() -> [(&'static str, Problem); 6] {
    use PixelType::{F32, U8, U16};
    let (border, extent) = (Border::Replicate, Extent::Same);
    let shape = |channels| Shape::new(1920, 1080, channels).unwrap();
    let weights = |count: u32| (0..count).map(|i| 1.0 / (3 + i) as f32).collect::<Vec<_>>();
    let separable = |src, count| {
        let taps = Taps::new(weights(count)).unwrap();
        Separable { shape: shape(1), src, dst: src, taps_x: taps.clone(), taps_y: taps, border, extent }
    };
    let mask = Mask::new(5, 5, weights(25)).unwrap();
    let dense = Correlate { shape: shape(3), src: U8, dst: U8, mask, border, clamp: false, extent };
    let (width, height, anchor, scale) = (15, 15, (7, 7), Scale::Mean);
    let boxed = BoxFilter { shape: shape(4), src: U8, dst: U8, width, height, anchor, border, scale, extent };
    let bins = Bins { count: 256, range: Some((0.0, 1.0)) };
    let edges = EdgeHistogram { shape: shape(1), src: F32, bins, extremes: None, per_channel: false };
    [
        ("separable f32 9+9", separable(F32, 9).into()),
        ("separable u16 33+33", separable(U16, 33).into()),
        ("correlate u8 RGB 5x5", dense.into()),
        ("box u8 RGBA 15x15", boxed.into()),
        ("histogram u8", ByteHistogram { shape: shape(1), per_channel: false }.into()),
        ("histogram f32 256 bins", edges.into()),
    ]
}

#[test]
#[ignore = "prints times and checks nothing"]
fn planning() {
    for (what, problem) in problems() {
        let run = |times: u32| {
            let start = Instant::now();
            (0..times).for_each(|_| drop(black_box(plan(black_box(&problem), None, &Machine::EMULATED).unwrap())));
            start.elapsed() / times
        };
        run(100);
        let best = (0..9).map(|_| run(1000)).min().unwrap();
        println!("{what}: {} ns", best.as_nanos());
    }
}
