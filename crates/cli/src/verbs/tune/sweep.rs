//! Times the variants of a workload, and compares their results.

use crate::verbs::bench::burst::{Bursts, SHORT_MS};
use crate::verbs::bench::solved::{Enqueued, Solved};
use crate::verbs::bench::{median, milliseconds};
use apron::{Device, DeviceImage, Error, Result, Tuning};
use apron_core::Problem;
use apron_plan::tuning::{Time, Work, candidates};
use apron_plan::{Machine, Recipe};
use apron_testkit::{eligible, filter_of, histogram_of};

/// The result of a workload.
pub(super) struct Found {
    pub(super) work: Work,
    /// The variant that the present table chooses.
    pub(super) now: &'static str,
    /// The times, ascending; empty if something failed.
    pub(super) times: Vec<Time>,
    /// The variant that failed, and why.
    pub(super) failure: Option<String>,
}

/// A later time replaces an earlier one only below this fraction of it, so as to ignore noise.
const CLEARLY: f64 = 0.995;
/// A variant that takes this many times the best time is timed only once.
const FAR_BEHIND: f64 = 4.0;
/// Upper bound of the overhead of a single run over a run in a burst, in milliseconds.
const ALONE_MS: f64 = 0.01;
/// For larger results, in bytes, only the two fastest variants are compared, since results are copied to the host.
const LARGE_RESULT: u64 = 64 << 20;

/// A problem, and an image on a device to solve it for.
pub(super) struct Task<'a> {
    pub(super) device: &'a Device,
    pub(super) problem: &'a Problem,
    pub(super) image: &'a DeviceImage,
}

impl Task<'_> {
    /// Solves the problem by a variant and a grid, or as planned by default, and waits for the result.
    pub(super) fn solve(&self, variant: Option<&str>, tuning: Option<Tuning>) -> Result<Solved> {
        Ok(match self.enqueue(variant, tuning)? {
            Enqueued::Counts(counts) => Solved::Counts(counts.download()?, counts.report()?),
            Enqueued::Done(solved) => solved,
        })
    }

    /// Enqueues the problem without waiting.
    fn enqueue(&self, variant: Option<&str>, tuning: Option<Tuning>) -> Result<Enqueued> {
        match self.problem {
            Problem::Count(problem) => {
                let counting = histogram_of(self.device, problem, self.image).variant(variant).tuning(tuning);
                counting.enqueue().map(Enqueued::Counts)
            }
            Problem::Filter(problem) => {
                let filter = filter_of(self.device, problem, self.image).variant(variant).tuning(tuning);
                filter.run().map(|image| Enqueued::Done(Solved::Image(image)))
            }
            Problem::Map(_) | Problem::Measure(_) => {
                Err(Error::parameter("tune", "problem", self.problem.operation(), "a filter's or a histogram's"))
            }
        }
    }
}

/// Returns the variants that a plan may choose for a problem.
pub(super) fn rivals(problem: &Problem, machine: &Machine) -> impl Iterator<Item = &'static str> {
    let by_name =
        |name| apron_plan::variants(problem.operation()).any(|variant| variant.name == name && variant.by_name);
    eligible(problem, machine).filter(move |name| !by_name(*name))
}

/// Times every variant that supports the problem, with every grid that the variant leaves open.
pub(super) fn sweep(task: &Task<'_>, bursts: &mut Bursts, quick: bool) -> Result<Found> {
    let machine = task.device.machine().expect("a device that runs kernels");
    let work = Work::of(task.problem);
    let now = apron_plan::plan(task.problem, None, &machine)?.variant;
    let mut times: Vec<Time> = Vec::new();
    let mut failure = None;
    for variant in rivals(task.problem, &machine) {
        let best = times.iter().map(|time| time.ms).fold(f64::INFINITY, f64::min);
        match fastest(task, variant, best, bursts, quick) {
            Ok(time) => times.push(time),
            Err(error) => failure = Some(format!("{variant}: {error}")),
        }
    }
    // The sort is stable: equal times keep the order of the variants.
    times.sort_by(|a, b| a.ms.total_cmp(&b.ms));
    let samples = task.image.shape().samples();
    let result_bytes = if work.operation == "histogram" { 0 } else { samples * work.dst.size_bytes() as u64 };
    let compared = if result_bytes > LARGE_RESULT { 2 } else { times.len() };
    let solved = |time: &Time| task.solve(Some(time.variant), time.tuning);
    failure = failure.or(disagreement(&times[..compared.min(times.len())], solved)?);
    if failure.is_some() {
        times.clear();
    }
    Ok(Found { work, now, times, failure })
}

/// Returns the first difference between the results of the first variant and of another one.
fn disagreement(times: &[Time], solve: impl Fn(&Time) -> Result<Solved>) -> Result<Option<String>> {
    let Some((first, others)) = times.split_first() else { return Ok(None) };
    let expected = solve(first)?;
    for other in others {
        if let Some(difference) = solve(other)?.difference(expected.clone())? {
            return Ok(Some(format!("{} differs from {}: {difference}", other.variant, first.variant)));
        }
    }
    Ok(None)
}

/// Returns the time of a variant with its best grid.
fn fastest(task: &Task<'_>, variant: &'static str, best: f64, bursts: &mut Bursts, quick: bool) -> Result<Time> {
    let mut found = Time { variant, ms: f64::INFINITY, tuning: None };
    let machine = task.device.machine().expect("a device that runs kernels");
    for tuning in grids(task.problem, variant, &machine, quick)? {
        let enqueued = || task.enqueue(Some(variant), tuning);
        let alone = || Ok(milliseconds(enqueued()?.report()?.kernels));
        let ms = median_ms(alone, || Ok(median(bursts.times(enqueued)?)), best.min(found.ms), quick)?;
        if ms < found.ms * CLEARLY {
            found = Time { variant, ms, tuning };
        }
    }
    Ok(found)
}

/// Returns the tunings to try, without those that give the same grid; `None` where the variant leaves nothing open.
fn grids(problem: &Problem, variant: &'static str, machine: &Machine, quick: bool) -> Result<Vec<Option<Tuning>>> {
    let mut tried: Vec<Recipe> = Vec::new();
    let mut grids = Vec::new();
    let most = if quick { 2 } else { usize::MAX };
    for tuning in candidates(variant).into_iter().map(Some).take(most) {
        let recipe = apron_plan::plan(problem, Some(variant), &Machine { tuning, ..*machine })?;
        if !tried.contains(&recipe) {
            tried.push(recipe);
            grids.push(tuning);
        }
    }
    Ok(if grids.is_empty() { vec![None] } else { grids })
}

/// Returns the median time in milliseconds: of single runs or, if they are short, of a burst.
fn median_ms(
    mut alone: impl FnMut() -> Result<f64>,
    burst: impl FnOnce() -> Result<f64>,
    best: f64,
    quick: bool,
) -> Result<f64> {
    if quick {
        return alone();
    }
    // The first run compiles the kernel.
    alone()?;
    let second = alone()?;
    if second > (best + ALONE_MS) * FAR_BEHIND {
        return Ok(second);
    }
    if second < SHORT_MS {
        return burst();
    }
    // About 5 ms in total.
    let reps = (5.0 / second).clamp(7.0, 25.0) as usize;
    let mut times = (0..reps).map(|_| alone()).collect::<Result<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron::Image;
    use std::cell::Cell;

    #[test]
    fn a_result_of_its_own_is_told_with_both_variants() {
        let device = Device::reference();
        let time = |variant| Time { variant, ms: 1.0, tuning: None };
        let solve = |wrong: &'static str| {
            move |time: &Time| {
                let sample = if time.variant == wrong { 3.0f32 } else { 2.0 };
                Ok(Solved::Image(Device::reference().upload(&Image::new(1, 1, 1, vec![sample])?)?))
            }
        };
        let times = [time("conv2d-tiled"), time("conv2d-naive"), time("conv2d-constant")];
        assert_eq!(disagreement(&times, solve("conv2d-blocked")).unwrap(), None);
        let told = disagreement(&times, solve("conv2d-constant")).unwrap().unwrap();
        assert!(
            told.starts_with("conv2d-constant differs from conv2d-tiled: ") && told.contains("3.0 instead of 2.0"),
            "{told}"
        );
        assert_eq!(disagreement(&times[..2], solve("conv2d-constant")).unwrap(), None);
        assert_eq!(device.name().to_string(), "reference");
    }

    #[test]
    fn what_is_far_behind_runs_twice_and_the_rest_gives_a_median() {
        let runs = Cell::new(0);
        let run = |ms: [f64; 4]| {
            runs.set(0);
            move |runs: &Cell<usize>| {
                let time = ms[runs.get().min(3)];
                runs.set(runs.get() + 1);
                Ok(time)
            }
        };
        let counted = |ms, best| {
            let timed = run(ms);
            (median_ms(|| timed(&runs), || Ok(0.5), best, false).unwrap(), runs.get())
        };
        assert_eq!(counted([900.0, 5.0, 0.0, 0.0], 1.0), (5.0, 2));
        // Two warm-up runs, then seven runs with two outliers.
        assert_eq!(counted([900.0, 1.0, 700.0, 2.0], 1.0), (2.0, 9));
        assert_eq!(counted([900.0, 0.06, 0.06, 0.07], 1.0), (0.07, 27));
        // Short runs are timed in a burst.
        assert_eq!(counted([900.0, 0.04, 0.0, 0.0], 1.0), (0.5, 2));
        assert_eq!(counted([900.0, 0.04, 0.0, 0.0], 0.001), (0.5, 2));
    }

    #[test]
    fn grids_are_tried_once_each() {
        let works = super::super::works::works(false).unwrap();
        let of = |name: &str, variant| {
            let (_, problem) = works.iter().find(|(_, problem)| Work::of(problem).to_string() == name).unwrap();
            grids(problem, variant, &Machine::EMULATED, false).unwrap()
        };
        let large = of("correlate f32 8192x8192 mask 5x5", "march-dense").len();
        assert!(large > 12 && large <= apron_plan::tuning::candidates("march-dense").len(), "{large}");
        assert!(of("correlate f32 256x256 mask 5x5", "march-dense").len() < large);
        assert_eq!(of("correlate f32 8192x8192 mask 5x5", "conv2d-blocked"), [None]);
    }
}
