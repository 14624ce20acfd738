//! The costs that the kernels' headers state, counted: global loads, shared loads and texture reads of whole launches.

use apron_abi::SourceSpace;
use apron_core::{
    Bins, Border, ByteHistogram, CellHistogram, Correlate, EdgeHistogram, Extent, Mask, PixelType, Problem, Separable,
    Shape, Taps,
};
use apron_plan::{Machine, plan};
use apron_simt::Costs;

/// Returns the cost of each launch of `variant` for `problem`.
fn costs(problem: &Problem, variant: &str) -> Vec<Costs> {
    let recipe = plan(problem, Some(variant), &Machine::EMULATED).unwrap();
    let costs = apron_emulator::costs(&recipe, &vec![1; recipe.buffers[0].size_bytes() as usize]).unwrap();
    for (step, costs) in recipe.launches.iter().zip(&costs) {
        let facts = step.kernel.facts();
        assert_eq!(costs.texels > 0, facts.source == SourceSpace::Texture, "{}", facts.entry);
    }
    costs
}

fn correlate(shape: (u32, u32, u32), pixel: PixelType, mask: (u32, u32)) -> Problem {
    Problem::from(Correlate {
        shape: Shape::new(shape.0, shape.1, shape.2).unwrap(),
        src: pixel,
        dst: pixel,
        mask: Mask::new(mask.0, mask.1, vec![0.0; (mask.0 * mask.1) as usize]).unwrap(),
        border: Border::Replicate,
        clamp: false,
        extent: Extent::Same,
    })
}

#[test]
fn dense() {
    // 64x96 pixels of 2 channels: 2 tiles across, 3 down.
    let (samples, blocks, taps) = (64 * 96 * 2, 2 * 3, 5 * 7);
    let problem = correlate((64, 96, 2), PixelType::F32, (5, 7));
    for variant in ["conv2d-naive", "conv2d-constant"] {
        let expected = Costs { loads: samples * taps, most_loads: 2 * taps, ..Costs::default() };
        assert_eq!(costs(&problem, variant), [expected], "{variant}");
    }
    for variant in ["conv2d-tiled", "conv2d-tiled-symbol"] {
        let (loads, shared_loads) = (blocks * 2 * (31 + 5) * (31 + 7), samples * taps);
        // 1368 elements per tile are 2 loads for some of 1024 threads, in each of 2 channels.
        let expected = Costs { loads, shared_loads, most_loads: 2 * 2, ..Costs::default() };
        assert_eq!(costs(&problem, variant), [expected], "{variant}");
    }
}

#[test]
fn separable() {
    // 17 taps leave 16 outputs per tile: 4 tiles along each axis of 64x64.
    let taps = Taps::new(vec![0.0; 17]).unwrap();
    let (shape, border) = (Shape::new(64, 64, 1).unwrap(), Border::Replicate);
    let (src, dst) = (PixelType::F32, PixelType::F32);
    let problem =
        Problem::from(Separable { shape, src, dst, taps_x: taps.clone(), taps_y: taps, border, extent: Extent::Same });
    let simple = Costs { loads: 64 * 64 * 17, most_loads: 17, ..Costs::default() };
    assert_eq!(costs(&problem, "conv1d-simple"), [simple; 2]);
    let tiled = Costs { loads: 4 * 32 * 64, shared_loads: 64 * 64 * 17, most_loads: 1, ..Costs::default() };
    assert_eq!(costs(&problem, "conv1d-tiled"), [tiled; 2]);
}

#[test]
fn rgba() {
    // 4x5 blocks of 8x4 pixels.
    let (pixels, blocks) = (32 * 20, 4 * 5);
    let problem = correlate((32, 20, 4), PixelType::U8, (3, 3));
    let of = |variant: &str| costs(&problem, variant)[0];
    assert_eq!(of("rgba-naive"), Costs { loads: 288 * blocks, most_loads: 9, ..Costs::default() });
    assert_eq!(of("rgba-texture"), Costs { texels: pixels * 9, ..Costs::default() });
    let tile = Costs { loads: 60 * blocks, shared_loads: pixels * 9, ..Costs::default() };
    assert_eq!(of("rgba-one-loader"), Costs { most_loads: 60, ..tile });
    assert_eq!(of("rgba-cooperative"), Costs { most_loads: 2, ..tile });
}

#[test]
fn histogram() {
    // 3 blocks of 256 threads with 16 words each, and 3 more bytes.
    let bytes = 3 * 256 * 16 * 4 + 3;
    let shape = Shape::new(bytes as u32, 1, 1).unwrap();
    let launches = costs(&Problem::from(ByteHistogram { shape, per_channel: false }), "histogram-partials");
    let words = bytes / 4;
    let loads = Costs { loads: words + 3, most_loads: 17, ..Costs::default() };
    let partial = Costs { shared_loads: 3 * 8 * 256, increments: bytes, ..loads };
    // A tree of 256 sums: two loads for each of 255 additions, and one for the result.
    let merge = Costs { loads: 256 * 3, shared_loads: 256 * (255 * 2 + 1), most_loads: 1, ..Costs::default() };
    assert_eq!(launches, [partial, merge]);
}

#[test]
fn histogram_in_one_launch() {
    // Two blocks of 1024 threads that load 16 bytes each: the second has 5 such loads, and 3 single bytes.
    let bytes = 1029 * 16 + 3;
    let shape = Shape::new(bytes as u32, 1, 1).unwrap();
    let launches = costs(&Problem::from(ByteHistogram { shape, per_channel: false }), "histogram-one-launch");
    // Both add each bin's 32 counters, four per load, to its total; one atomic per bin resets the total.
    let (shared_loads, atomics) = (2 * 256 * 32 / 4, 3 * 256);
    let loads = Costs { loads: bytes / 4 + 3, most_loads: 4 + 1, ..Costs::default() };
    assert_eq!(launches, [Costs { shared_loads, atomics, increments: bytes, ..loads }]);
}

#[test]
fn histogram_between_edges() {
    // Four loads per thread of one block, and 3 more samples; 8 bins with 32 counters each.
    let samples = 1024 * 16 + 3;
    let shape = Shape::new(samples as u32, 1, 1).unwrap();
    let bins = Bins { count: 8, range: Some((0.0, 1.0)) };
    let problem = Problem::from(EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel: false });
    // Five blocks: a thread has one load of four samples, and three threads a sample more. All blocks add each bin's
    // counters to its total; one atomic per bin resets the total.
    let (sums, atomics) = (5 * 8 * 32 / 4, 6 * 8);
    let count = Costs { loads: samples, increments: samples, atomics, most_loads: 4 + 1, ..Costs::default() };
    let nearest = Costs { shared_loads: samples + sums, ..count };
    assert_eq!(costs(&problem, "histogram-nearest-edge"), [nearest]);
    // A table of 10 edges, in which the second is found in 4 steps.
    assert_eq!(costs(&problem, "histogram-edge-search"), [Costs { shared_loads: 4 * samples + sums, ..count }]);
}

#[test]
fn histogram_by_value() {
    // A load of eight samples per thread of two blocks, and 5 more samples; two slices of 32768 values, for each of
    // which two blocks read all samples.
    let samples = 1024 * 16 + 5;
    let shape = Shape::new(samples as u32, 1, 1).unwrap();
    let problem = CellHistogram { shape, src: PixelType::U16, edges: None, per_channel: false, masked: false };
    let launches = costs(&problem.into(), "histogram-slices");
    let loads = Costs { loads: 2 * (samples / 2 + 3), most_loads: 4 + 1, ..Costs::default() };
    assert_eq!(launches[0], Costs { shared_loads: 2 * 2 * 32768, increments: samples, ..loads });
}
