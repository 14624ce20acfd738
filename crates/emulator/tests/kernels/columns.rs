//! Histograms between edges on GPUs with little shared memory, where lanes share privatized histograms.

use apron_abi::Params;
use apron_core::{Bins, EdgeHistogram, PixelType, Problem, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, plan};

#[test]
fn every_number_of_columns_counts_the_same() {
    const BINS: u32 = 600;
    let shape = Shape::new(75, 33, 3).unwrap();
    let samples: Vec<f32> = (0..shape.samples()).map(|i| (i * i % 1013) as f32 / 500.0 - 1.0).collect();
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    let bins = Bins { count: BINS as usize, range: Some((-1.0, 1.0)) };
    for per_channel in [false, true] {
        let problem = EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel };
        let (edges, channels) = (problem.edges().unwrap(), problem.channels());
        let mut counts = vec![0u64; (BINS * channels) as usize];
        for (i, &sample) in samples.iter().enumerate() {
            if let Some(bin) = edges.bin(sample as f64) {
                counts[i % channels as usize * BINS as usize + bin] += 1;
            }
        }
        let expected: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
        for columns in [1, 2, 4, 8, 16, 32] {
            let shared_bytes = (BINS + 2 + ((BINS + 2) * channels + 1) * columns) * 4;
            let machine = Machine { shared_bytes, ..Machine::EMULATED };
            for variant in ["histogram-nearest-edge", "histogram-edge-search"] {
                let recipe = plan(&Problem::from(problem.clone()), Some(variant), &machine).unwrap();
                let Params::HistogramEdgesParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
                assert_eq!((params.columns, recipe.launches[0].shared_bytes), (columns, shared_bytes));
                assert!(execute(&recipe, &bytes).unwrap() == expected, "{variant}, {columns} columns");
            }
        }
    }
}
