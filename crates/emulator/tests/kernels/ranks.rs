//! Samples of given ranks, which a sort tells.

use apron_core::{Shape, order_of};
use apron_emulator::execute;
use apron_plan::{Machine, most_ranks, ranks};

/// Returns the orders of the samples of these ranks, channel by channel.
fn sorted(samples: &[f32], channels: usize, ranks: &[u64]) -> Vec<u32> {
    let of_channel = |channel: usize| {
        let mut orders: Vec<u32> =
            samples.iter().skip(channel).step_by(channels).map(|&sample| order_of(sample)).collect();
        orders.sort_unstable();
        let has_nan = orders.last() == Some(&u32::MAX);
        ranks.iter().map(move |&rank| if has_nan { u32::MAX } else { orders[rank as usize] }).collect::<Vec<_>>()
    };
    (0..channels).flat_map(of_channel).collect()
}

fn found(samples: &[f32], channels: usize, asked: &[u64]) -> Vec<u32> {
    let shape = Shape::new((samples.len() / channels) as u32, 1, channels as u32).unwrap();
    assert_eq!(shape.samples(), samples.len() as u64);
    let recipe = ranks(shape, channels as u32, asked, &Machine::EMULATED).unwrap();
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
    execute(&recipe, &bytes).unwrap().chunks(4).map(|order| u32::from_ne_bytes(order.try_into().unwrap())).collect()
}

#[test]
fn ranks_are_found_as_a_sort_finds_them() {
    let any = |n: u32| f32::from_bits(n.wrapping_mul(0x9e37_79b9) & 0xbfff_ffff);
    let near = |n: u32| 1.0 + (n * n % 1013) as f32 * f32::EPSILON;
    let edges = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-45, -1e-45, 0.0, -0.0, 1.0, 1.0, -2.5, 7.0];
    for channels in 1..=4 {
        let of = |sample: fn(u32) -> f32| (0..300 * channels as u32).map(sample).collect::<Vec<f32>>();
        for samples in [of(any), of(near), of(|_| -3.25), [&edges[..], &edges].concat()] {
            let count = (samples.len() / channels) as u64;
            // The first and the last, neighbours, and one rank twice.
            let some = [0, 0, count / 3, count / 2, count / 2 + 1, count - 1];
            let all: Vec<u64> = (0..count).take(most_ranks(channels as u32, &Machine::EMULATED) / channels).collect();
            for asked in [&some[..], &all, &[count - 1]] {
                assert_eq!(found(&samples, channels, asked), sorted(&samples, channels, asked), "{channels} {asked:?}");
            }
        }
    }
}

#[test]
fn a_channel_with_nan_has_no_other_sample() {
    let mut samples: Vec<f32> = (0..300).map(|n| n as f32).collect();
    samples[100] = -f32::NAN;
    for channels in 1..=3 {
        let asked = [0, 50, 99];
        let orders = found(&samples, channels, &asked);
        assert_eq!(orders, sorted(&samples, channels, &asked));
        assert_eq!(orders.iter().filter(|&&order| order == u32::MAX).count(), 3);
    }
}
