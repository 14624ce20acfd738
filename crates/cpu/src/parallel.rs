//! Parallel loops on rayon's threads.
//!
//! Loop bodies are trait objects, and each call has thousands of samples to work on: rayon's own code is compiled once
//! instead of once per operation and pair of types.

use rayon::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::{iter, mem};

/// The finished calls, and all calls, of the loops that run now on all threads.
static CALLS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// A running loop, whose calls count in [`CALLS`] until it is dropped.
struct Loop {
    calls: u64,
    finished: AtomicU64,
    job: Option<Job>,
}

impl Loop {
    fn new(calls: usize) -> Loop {
        CALLS[1].fetch_add(calls as u64, Relaxed);
        Loop { calls: calls as u64, finished: AtomicU64::new(0), job: job() }
    }

    fn finish_one(&self) {
        self.finished.fetch_add(1, Relaxed);
        CALLS[0].fetch_add(1, Relaxed);
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        CALLS[0].fetch_sub(*self.finished.get_mut(), Relaxed);
        CALLS[1].fetch_sub(self.calls, Relaxed);
    }
}

/// The state of a thread: whether it is inside a call of a loop, and its job.
struct Here {
    in_call: bool,
    job: Option<Job>,
}

thread_local! {
    static HERE: RefCell<Here> = const { RefCell::new(Here { in_call: false, job: None }) };
}

impl Here {
    /// Sets the state of this thread until the result is dropped.
    fn enter(self) -> Within {
        Within { outer: HERE.replace(self) }
    }
}

/// Restores the outer state of a thread when it is dropped.
struct Within {
    outer: Here,
}

impl Drop for Within {
    fn drop(&mut self) {
        HERE.with_borrow_mut(|here| mem::swap(here, &mut self.outer));
    }
}

fn in_call() -> bool {
    HERE.with_borrow(|here| here.in_call)
}

/// Returns the job that this thread works on, if it may be stopped.
fn job() -> Option<Job> {
    HERE.with_borrow(|here| here.job.clone())
}

/// Work that another thread may stop.
///
/// ```
/// use apron_core::{Image, Pixel};
///
/// let (job, image) = (apron_cpu::Job::default(), u8::into_any(Image::new(2, 1, 1, vec![3u8, 4])?));
/// assert!(job.run(|| apron_cpu::copied(&image)).is_some());
/// job.stop();
/// assert!(job.run(|| apron_cpu::copied(&image)).is_none());
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Job(Arc<AtomicBool>);

impl Job {
    /// Runs `work`. Returns `None` if it was stopped; then it has ended on all threads.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let _job = Here { in_call: in_call(), job: Some(self.clone()) }.enter();
        // Unfinished results are dropped, and cannot be observed.
        catch_unwind(AssertUnwindSafe(work))
            .map(Some)
            .unwrap_or_else(|panic| if panic.is::<Stopped>() { None } else { resume_unwind(panic) })
    }

    /// Ends the work before the next rows of its loops.
    pub fn stop(&self) {
        self.0.store(true, Relaxed);
    }
}

/// The payload that unwinds the threads of a stopped job.
struct Stopped;

/// Unwinds this thread if its job was stopped.
pub(crate) fn end_if_stopped() {
    if HERE.with_borrow(|here| here.job.as_ref().is_some_and(|job| job.0.load(Relaxed))) {
        // Not by `panic!`, which prints.
        resume_unwind(Box::new(Stopped));
    }
}

/// Returns the finished part, 0 to 1, of the loops that this backend runs now; `None` while it runs none. An operation
/// may be several loops, one after the other.
pub fn progress() -> Option<f64> {
    let [finished, calls] = CALLS.each_ref().map(|calls| calls.load(Relaxed));
    (calls > 0).then(|| (finished as f64 / calls as f64).min(1.0))
}

/// Runs `work` with all its loops on the calling thread: for jobs that are done before other threads have woken.
///
/// ```
/// use apron_core::{Image, Pixel};
///
/// let image = u8::into_any(Image::new(2, 1, 1, vec![3u8, 4])?);
/// assert_eq!(apron_cpu::serially(|| apron_cpu::copied(&image))?, image);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn serially<R>(work: impl FnOnce() -> R) -> R {
    let _call = Here { in_call: true, job: job() }.enter();
    work()
}

/// Calls `task` once per thread with an iterator; the iterators give each index below `count` to one thread. All other
/// loops call this one.
fn each(count: usize, task: &(dyn Fn(&mut dyn Iterator<Item = usize>) + Sync)) {
    let (run, next) = (Loop::new(count), AtomicUsize::new(0));
    (0..rayon::current_num_threads().min(count)).into_par_iter().with_max_len(1).for_each(|_| {
        let _call = Here { in_call: true, job: run.job.clone() }.enter();
        let mut begun = false;
        task(&mut iter::from_fn(|| {
            if begun {
                run.finish_one();
            }
            end_if_stopped();
            let index = next.fetch_add(1, Relaxed);
            begun = index < count;
            begun.then_some(index)
        }));
    });
}

/// Collects the results of `work` for every index below `count`, in order.
pub(crate) fn map<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    if in_call() {
        return (0..count).map(work).collect();
    }
    let results: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
    each(count, &|indices| {
        indices.for_each(|index| {
            let result = work(index);
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
    });
    let result = |of_index: Mutex<Option<R>>| of_index.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|of_index| result(of_index).expect("each index has a result")).collect()
}

/// Calls `work` with every chunk of `size` elements, the last of which may be shorter, and its index.
pub(crate) fn chunks<T: Send>(elements: &mut [T], size: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    let chunks = elements.chunks_mut(size).enumerate();
    if in_call() {
        return chunks.for_each(|(index, chunk)| work(index, chunk));
    }
    items(chunks.collect(), &|(): &mut (), (index, chunk)| work(index, chunk));
}

/// Calls `work` with every item, and scratch memory that the calls of one thread share.
pub(crate) fn items<T: Send, W: Default>(items: Vec<T>, work: &(dyn Fn(&mut W, T) + Sync)) {
    if in_call() {
        let mut scratch = W::default();
        return items.into_iter().for_each(|item| work(&mut scratch, item));
    }
    let items: Vec<_> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    each(items.len(), &|indices| {
        let mut scratch = W::default();
        indices.for_each(|index| {
            let item = items[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            work(&mut scratch, item.expect("each item is taken once"));
        });
    });
}

/// Splits `count` rows, or other units of work, into at most `parts` ranges of equal length; the last may be shorter.
pub(crate) fn split(count: u32, parts: u64) -> Vec<std::ops::Range<u32>> {
    let each = count.div_ceil(parts.clamp(1, count.max(1) as u64) as u32).max(1);
    (0..count.div_ceil(each)).map(|part| part * each..((part + 1) * each).min(count)).collect()
}

/// Returns the number of threads of a loop that this thread starts.
pub(crate) fn threads() -> u64 {
    if in_call() { 1 } else { rayon::current_num_threads() as u64 }
}

/// Adds counts, element by element, to those of the first part; empty without parts.
pub(crate) fn add_counts(parts: Vec<Vec<u64>>) -> Vec<u64> {
    let mut parts = parts.into_iter();
    let mut counts = parts.next().unwrap_or_default();
    parts.for_each(|more| counts.iter_mut().zip(more).for_each(|(count, more)| *count += more));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_serial_work_stay_on_its_thread() {
        let own = std::thread::current().id();
        let on = || map(64, &|_| std::thread::current().id());
        assert!(serially(on).iter().all(|id| *id == own) && serially(threads) == 1);
        // Later loops use all threads again.
        assert_eq!(threads(), rayon::current_num_threads() as u64);
    }

    #[test]
    fn parts_cover_all_units_once() {
        let ends = |count, parts| split(count, parts).iter().map(|range| (range.start, range.end)).collect::<Vec<_>>();
        assert_eq!(ends(10, 3), [(0, 4), (4, 8), (8, 10)]);
        assert_eq!(ends(2, 9), [(0, 1), (1, 2)]);
        assert_eq!(ends(5, 0), [(0, 5)]);
        assert_eq!(ends(0, 4), []);
    }

    /// Loops of other tests may run at the same time, so only bounds hold; without this one there may be none.
    #[test]
    fn a_loop_tells_how_much_of_it_is_finished() {
        let run = Loop::new(1 << 40);
        assert!(progress().unwrap() < 0.01);
        (0..1 << 10).for_each(|_| run.finish_one());
        assert!(progress().unwrap() > 0.0);
        let seen = map(8, &|_| progress().unwrap());
        assert!(seen.iter().all(|part| (0.0..=1.0).contains(part)), "{seen:?}");
        drop(run);
        let mut samples = vec![0u8; 100];
        chunks(&mut samples, 30, &|_, chunk| {
            assert!(progress().is_some());
            chunk.fill(1);
        });
        assert_eq!(samples, [1; 100]);
    }

    #[test]
    fn loops_within_a_call_run_on_its_thread() {
        let thread = || std::thread::current().id();
        let inner = || {
            let (here, mut samples) = (thread(), [0; 4]);
            chunks(&mut samples, 1, &|_, chunk| chunk[0] = (thread() == here) as u8);
            items(vec![(); 4], &|count: &mut u32, ()| {
                *count += 1;
                assert!(thread() == here && *count <= 4);
            });
            threads() == 1 && samples == [1; 4] && map(4, &|_| thread() == here) == [true; 4]
        };
        assert_eq!(map(64, &|_| inner()), [true; 64]);
        assert_eq!(threads(), rayon::current_num_threads() as u64);
    }

    #[test]
    fn a_job_that_is_stopped_ends_on_all_threads() {
        let (job, calls) = (Job::default(), AtomicU64::new(0));
        let stopping = |_| {
            calls.fetch_add(1, Relaxed);
            job.stop();
        };
        assert!(job.run(|| map(1 << 20, &stopping)).is_none());
        assert!(calls.load(Relaxed) <= threads());
        assert!(Job::default().run(|| map(4, &|_| end_if_stopped())).is_some());
        // A call belongs to the job of its loop, and so does what runs serially.
        for run in [|work: &(dyn Fn() + Sync)| drop(map(1, &|_| work())), |work: &(dyn Fn() + Sync)| serially(work)] {
            let job = Job::default();
            let stopping = || {
                job.stop();
                end_if_stopped();
            };
            assert!(job.run(|| run(&stopping)).is_none());
        }
        // This thread's own work goes on.
        end_if_stopped();
    }

    #[test]
    fn counts_are_added_by_element() {
        assert_eq!(add_counts(vec![vec![1, 2], vec![10, 20], vec![100, 200]]), [111, 222]);
        assert_eq!(add_counts(vec![]), []);
    }
}
