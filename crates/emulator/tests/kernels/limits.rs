//! Kernels that measure the machine do exactly the work that is counted for them.

use apron_emulator::execute;
use apron_plan::limits;

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()))
}

#[test]
fn every_word_is_read_once() {
    // Less than a block reads at once, exactly that, and a remainder after a few rounds of two blocks.
    for (count, blocks) in [(4, 1), (1000, 2), (4096, 1), (5 * 4096 + 1236, 2), (3 * 4096 + 4, 3)] {
        let input: Vec<u8> = (0..count).flat_map(|i: u32| i.wrapping_mul(0x9e37_79b9).to_ne_bytes()).collect();
        let sums = execute(&limits::read(count as u64, blocks), &input).unwrap();
        let total = |bytes| words(bytes).fold(0, u32::wrapping_add);
        assert_eq!(total(&sums), total(&input), "{count} words by {blocks} blocks");
    }
}

#[test]
fn every_round_multiplies_and_adds() {
    let (factor, addend, rounds) = (0.999f32, 0.5f32, 2);
    let input: Vec<u8> = [factor, addend].iter().flat_map(|value| value.to_ne_bytes()).collect();
    let totals = execute(&limits::ffma(rounds, 2), &input).unwrap();
    assert_eq!(words(&totals).count(), 2 * 256);
    for (thread, total) in words(&totals).enumerate() {
        let chain = |k: usize| (0..64 * rounds).fold((k + thread) as f32, |sum, _| factor.mul_add(sum, addend));
        let expected = (0..8).fold(0.0, |total, k| total + chain(k));
        assert_eq!(f32::from_bits(total), expected, "thread {thread}");
    }
}
