//! Several GPUs that share a job.

use crate::device::Gpu;
use crate::module::Modules;
use apron_core::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The parts of a job, by number. Workers take them one after the other; parts that a worker could not do go to the
/// others.
#[derive(Debug)]
pub struct Parts {
    count: usize,
    next: AtomicUsize,
    returned: Mutex<Vec<usize>>,
}

impl Parts {
    /// Starts with `count` parts, none of them taken.
    fn new(count: usize) -> Parts {
        Parts { count, next: AtomicUsize::new(0), returned: Mutex::default() }
    }

    /// Takes a part; `None` if there is none left.
    pub fn take(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        if next < self.count { Some(next) } else { self.returned.lock().unwrap_or_else(PoisonError::into_inner).pop() }
    }

    /// Returns parts that were taken and are not done.
    pub fn give_back(&self, parts: impl IntoIterator<Item = usize>) {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).extend(parts);
    }

    fn are_taken(&self) -> bool {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        self.next.load(Ordering::Relaxed) >= self.count && returned.is_empty()
    }
}

/// Runs `work` for each worker, on one thread each, until all parts are done. A worker that fails gives back its
/// unfinished parts, which the others take. Returns whether all parts are done: `false` if the workers stop early
/// without an error.
///
/// # Errors
/// The first worker's, if all failed.
pub fn share<W: Sync>(
    workers: &[W],
    count: usize,
    name: impl Fn(&W) -> String,
    work: impl Fn(&W, &Parts) -> Result<()> + Sync,
) -> Result<bool> {
    let parts = Parts::new(count);
    let mut able: Vec<&W> = workers.iter().collect();
    loop {
        let before = able.len();
        let results = thread::scope(|scope| {
            let (own, others) = able.split_first().expect("a worker");
            // If not all threads can be started, fewer workers share the parts.
            let spawned = others.iter().copied().map_while(|worker| {
                let (parts, work) = (&parts, &work);
                thread::Builder::new().spawn_scoped(scope, move || work(worker, parts)).ok()
            });
            let spawned: Vec<_> = spawned.collect();
            let own = work(own, &parts);
            let others = spawned.into_iter().map(|thread| thread.join().expect("a worker does not panic"));
            std::iter::once(own).chain(others).collect::<Vec<_>>()
        });
        let mut first = None;
        let mut failed = Vec::new();
        for (index, result) in results.into_iter().enumerate() {
            if let Err(error) = result {
                log::warn!(target: "apron", "{}: {error}; the other GPUs go on without it", name(able[index]));
                first.get_or_insert(error);
                failed.push(index);
            }
        }
        failed.iter().rev().for_each(|&index| _ = able.remove(index));
        match first {
            Some(error) if able.is_empty() => return Err(error),
            _ if parts.are_taken() => return Ok(true),
            // No worker failed, but parts are left.
            None => return Ok(false),
            Some(_) => debug_assert!(able.len() < before),
        }
    }
}

impl Gpu {
    /// Opens several GPUs, at the same time, as one that shares its jobs from host memory with the others.
    ///
    /// # Errors
    /// As [`Gpu::open`]; [`Error::NoDevice`] for none.
    pub fn open_team(ordinals: &[u32], modules: Modules) -> Result<Gpu> {
        let opened = thread::scope(|scope| {
            let open = |&ordinal: &u32| scope.spawn(move || Gpu::open(ordinal, modules));
            let threads: Vec<_> = ordinals.iter().map(open).collect();
            threads.into_iter().map(|thread| thread.join().expect("opening does not panic")).collect::<Result<Vec<_>>>()
        })?;
        let mut gpus = opened.into_iter();
        let none = || Error::NoDevice { device: "gpus".into(), reason: "no GPU is named".into() };
        let first = gpus.next().ok_or_else(none)?;
        Ok(Gpu { others: gpus.collect(), ..first })
    }

    /// Returns the GPUs that share the jobs of this one, itself first; each is alone.
    pub fn members(&self) -> impl Iterator<Item = Gpu> {
        let first = Gpu { others: [].into(), ..self.clone() };
        std::iter::once(first).chain(self.others.iter().cloned())
    }

    /// Returns whether other GPUs share its jobs.
    pub fn is_team(&self) -> bool {
        !self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Error {
        Error::OutOfMemory { operation: "test", bytes: 1, source: "planted".into() }
    }

    /// Shares 100 parts among three workers; `works` says whether a worker can do a part.
    fn shared(works: impl Fn(usize, usize) -> bool + Sync) -> (Result<bool>, Vec<usize>) {
        let done = Mutex::new(Vec::new());
        let work = |&worker: &usize, parts: &Parts| {
            while let Some(part) = parts.take() {
                if !works(worker, part) {
                    parts.give_back([part]);
                    return Err(failure());
                }
                done.lock().unwrap().push(part);
            }
            Ok(())
        };
        let all = share(&[0, 1, 2], 100, |worker| worker.to_string(), work);
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        (all, done)
    }

    #[test]
    fn each_part_is_done_once() {
        let (all, done) = shared(|_, _| true);
        assert!(all.unwrap());
        assert!(done.into_iter().eq(0..100));
    }

    #[test]
    fn what_a_worker_cannot_do_goes_to_the_others() {
        for works in [
            |worker, _| worker == 2,
            |worker, part| worker == 0 || part % 7 > 0,
            |worker, part: usize| worker != 1 || part < 40,
        ] {
            let (all, done) = shared(works);
            assert!(all.unwrap());
            assert!(done.into_iter().eq(0..100));
        }
    }

    #[test]
    fn parts_that_nobody_can_do_are_an_error() {
        let (all, done) = shared(|_, part| part != 50);
        assert!(matches!(all, Err(Error::OutOfMemory { .. })));
        assert!(done.iter().all(|part| *part != 50));
    }

    #[test]
    fn workers_that_take_nothing_leave_parts() {
        assert!(!share(&[0, 1], 3, |_| String::new(), |_, _| Ok(())).unwrap());
        assert!(share(&[0, 1], 0, |_| String::new(), |_, _| Ok(())).unwrap());
    }
}
