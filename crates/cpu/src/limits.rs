//! Measurements of the machine: copies, reads and multiply-adds on all cores, to compare the times of operations with.

use crate::parallel;
use crate::simd::{self, Level, Vector, Work};
use apron_core::{Limit, Result, check_memory};
use std::fmt;
use std::time::{Duration, Instant};

/// Most words per task: 1 MiB.
const LARGEST_TASK: usize = 1 << 17;
/// Fewest words per task: 32 KiB. Smaller tasks are done sooner than they are handed to a thread.
const SMALLEST_TASK: usize = 1 << 12;
/// Independent sums per thread, enough to hide the latency of the multiply-add.
const SUMS: usize = 10;

/// A measurement that is ready to run any number of times.
pub struct LimitRun {
    kind: Kind,
    amount: u64,
    times: Vec<Duration>,
}

impl fmt::Debug for LimitRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitRun").field("amount", &self.amount).finish_non_exhaustive()
    }
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
        let (kind, amount) = match limit {
            Limit::Copy => {
                let from = words(amount.div_ceil(2));
                let (to, amount) = (vec![1; from.len()], from.len() as u64 * 16);
                (Kind::Copy { from, to }, amount)
            }
            Limit::Read => {
                let from = words(amount);
                let amount = from.len() as u64 * 8;
                (Kind::Read { from }, amount)
            }
            Limit::Ffma => {
                let each = sums(1).0 * parallel::threads();
                let rounds = amount.div_ceil(each);
                (Kind::Ffma { rounds }, rounds.saturating_mul(each))
            }
            Limit::ToDevice | Limit::ToHost => return Ok(None),
        };
        Ok(Some(LimitRun { kind, amount, times: Vec::new() }))
    }

    /// Returns the bytes that a run moves, or the operations that it does.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Runs the measurement once.
    pub fn enqueue(&mut self) {
        let start = Instant::now();
        match &mut self.kind {
            Kind::Copy { from, to } => {
                let task = task(to.len());
                parallel::chunks(to, task, &|number, to| {
                    let at = number * task;
                    to.copy_from_slice(&from[at..at + to.len()]);
                });
            }
            Kind::Read { from } => {
                let task = task(from.len());
                let part = |number: usize| from.chunks(task).nth(number).map(read);
                std::hint::black_box(parallel::map(from.len().div_ceil(task), &part));
            }
            Kind::Ffma { rounds } => {
                let rounds = *rounds;
                std::hint::black_box(parallel::map(parallel::threads() as usize, &|_| sums(rounds).1));
            }
        }
        self.times.push(start.elapsed());
    }

    /// Returns the times of the runs since the last call.
    pub fn times(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.times)
    }
}

/// Returns the words per task, so that small amounts are shared by all threads, too.
fn task(words: usize) -> usize {
    words.div_ceil(parallel::threads() as usize).clamp(SMALLEST_TASK, LARGEST_TASK)
}

/// Returns a number that depends on all words, so that every word is read.
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
            run.enqueue();
            run.enqueue();
            assert!(matches!(run.times()[..], [first, second] if first.min(second) > Duration::ZERO));
            assert!(run.times().is_empty());
            if let Kind::Copy { from, to } = &run.kind {
                assert_eq!(from, to);
            }
        }
        assert!(LimitRun::new(Limit::ToHost, 1).unwrap().is_none());
        assert!(LimitRun::new(Limit::Copy, u64::MAX).is_err());
        assert_eq!(read(&[1, 2, u64::MAX]), 2);
    }

    #[test]
    fn all_threads_have_a_task_unless_it_is_small() {
        let threads = parallel::threads() as usize;
        assert_eq!(task(1), SMALLEST_TASK);
        assert_eq!(task(threads * SMALLEST_TASK * 2), SMALLEST_TASK * 2);
        assert_eq!(task(threads * LARGEST_TASK * 2), LARGEST_TASK);
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
