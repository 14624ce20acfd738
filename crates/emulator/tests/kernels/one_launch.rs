//! Byte histograms in one launch on GPUs of few multiprocessors, where each thread reads many times.

use apron_core::{ByteHistogram, Problem, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, plan};

#[test]
fn every_number_of_reads_counts_the_same() {
    // A thread of a single block loads 16 bytes 0 to 4 times; the last load may be partial.
    for bytes in [1u32, 15, 16, 17, 16383, 16384, 16385, 32768, 49152 + 16, 49152 + 31, 65536 + 240] {
        for channels in [1u32, 2, 3, 4] {
            let shape = Shape::new(bytes.div_ceil(channels), 1, channels).unwrap();
            let samples: Vec<u8> = (0..shape.samples()).map(|i| (i * i % 257 % 256) as u8).collect();
            let mut counts = vec![0u64; 256 * channels as usize];
            for (i, &sample) in samples.iter().enumerate() {
                counts[i % channels as usize * 256 + sample as usize] += 1;
            }
            let expected: Vec<u8> = counts.iter().flat_map(|count| count.to_ne_bytes()).collect();
            for multiprocessors in [1, 7] {
                let machine = Machine { multiprocessors, ..Machine::EMULATED };
                let problem = Problem::from(ByteHistogram { shape, per_channel: channels > 1 });
                let recipe = plan(&problem, None, &machine).unwrap();
                assert_eq!((recipe.variant, recipe.launches.len()), ("histogram-one-launch", 1));
                assert!(execute(&recipe, &samples).unwrap() == expected, "{bytes} bytes, {channels} channels");
            }
        }
    }
}
