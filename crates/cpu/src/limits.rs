//! Measurements of the machine: copies, reads and multiply-adds on all cores, to compare the times of operations with.

use crate::parallel;
use crate::simd::{self, Level, Vector, Work};
use apron_core::{Limit, Result, check_memory};
use std::time::{Duration, Instant};

/// Words per task: 1 MiB.
const TASK: usize = 1 << 17;
/// Independent sums per thread, enough to hide the latency of the multiply-add.
const SUMS: usize = 10;

/// A measurement that is ready to run any number of times.
pub struct LimitRun {
    kind: Kind,
    amount: u64,
}

enum Kind {
    Copy { from: Vec<u64>, to: Vec<u64> },
    Read { from: Vec<u64> },
    Ffma { rounds: u64 },
}

impl LimitRun {
    /// Prepares a measurement that moves at least `amount` bytes or does at least `amount` operations; `None` for
    /// limits that host memory does not have.
    ///
    /// # Errors
    /// An amount of bytes that memory does not hold.
    pub fn new(limit: Limit, amount: u64) -> Result<Option<LimitRun>> {
        if matches!(limit, Limit::Copy | Limit::Read) {
            check_memory::<u8>(amount.saturating_add(16), format_args!("the limit '{limit}'"))?;
        }
        let words = |bytes: u64| (0..bytes.div_ceil(8)).collect::<Vec<u64>>();
        Ok(Some(match limit {
            Limit::Copy => {
                let from = words(amount.div_ceil(2));
                let (to, amount) = (vec![1; from.len()], from.len() as u64 * 16);
                LimitRun { kind: Kind::Copy { from, to }, amount }
            }
            Limit::Read => {
                let from = words(amount);
                let amount = from.len() as u64 * 8;
                LimitRun { kind: Kind::Read { from }, amount }
            }
            Limit::Ffma => {
                let each = sums(1).0 * parallel::threads();
                let rounds = amount.div_ceil(each);
                LimitRun { kind: Kind::Ffma { rounds }, amount: rounds.saturating_mul(each) }
            }
            Limit::ToDevice | Limit::ToHost => return Ok(None),
        }))
    }

    /// Returns the bytes that a run moves, or the operations that it does.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Runs the measurement once, and returns its time.
    pub fn run(&mut self) -> Duration {
        let start = Instant::now();
        match &mut self.kind {
            Kind::Copy { from, to } => parallel::chunks(to, TASK, &|task, to| {
                let at = task * TASK;
                to.copy_from_slice(&from[at..at + to.len()]);
            }),
            Kind::Read { from } => {
                let part = |task: usize| from.chunks(TASK).nth(task).map(read);
                std::hint::black_box(parallel::map(from.len().div_ceil(TASK), &part));
            }
            Kind::Ffma { rounds } => {
                let rounds = *rounds;
                std::hint::black_box(parallel::map(parallel::threads() as usize, &|_| sums(rounds).1));
            }
        }
        start.elapsed()
    }
}

/// Returns a number for which all words are read.
fn read(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Returns the operations of some rounds of multiply-adds, and their sums.
fn sums(rounds: u64) -> (u64, [f32; 16]) {
    let mut done = Ffma { rounds, operations: 0, sums: [0.0; 16] };
    simd::run(&mut done);
    (done.operations, done.sums)
}

struct Ffma {
    rounds: u64,
    operations: u64,
    sums: [f32; 16],
}

impl Work for &mut Ffma {
    #[inline(always)]
    fn run<L: Level>(self) {
        let (factor, term) = (L::F32::splat(0.999), L::F32::splat(0.5));
        let mut sums = [L::F32::splat(1.0); SUMS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = sum.fma(factor, term);
            }
        }
        let total = sums.into_iter().reduce(L::F32::add);
        if let Some(total) = total {
            total.store(&mut self.sums);
        }
        self.operations = self.rounds * (SUMS * L::F32::LANES * 2) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_move_and_compute_what_they_say() {
        for limit in [Limit::Copy, Limit::Read, Limit::Ffma] {
            let mut run = LimitRun::new(limit, 5_000_001).unwrap().unwrap();
            assert!((5_000_001..5_100_000).contains(&run.amount()), "{limit}: {}", run.amount());
            assert!(run.run() > Duration::ZERO);
            if let Kind::Copy { from, to } = &run.kind {
                assert_eq!(from, to);
            }
        }
        assert!(LimitRun::new(Limit::ToHost, 1).unwrap().is_none());
        assert!(LimitRun::new(Limit::Copy, u64::MAX).is_err());
        assert_eq!(read(&[1, 2, u64::MAX]), 2);
    }

    #[test]
    fn rounds_are_multiply_adds() {
        let (operations, found) = sums(3);
        let sum = (0..3).fold(1.0f32, |sum, _| sum.mul_add(0.999, 0.5));
        let lanes = operations as usize / (3 * SUMS * 2);
        let total = (1..SUMS).fold(sum, |total, _| total + sum);
        assert!(found[..lanes].iter().all(|found| *found == total), "{found:?} {total}");
    }
}
