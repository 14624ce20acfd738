//! The threads of the CPU device: one per core, or fewer if the system refuses more.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::sync::mpsc::{Sender, channel};

/// Starts the threads. In a container with a limit on processes there may be fewer than cores, or only the current one;
/// rayon would panic at its first use there.
pub(crate) fn start() {
    // Rayon builds its pool only once, so the threads are started before.
    let waiting: Vec<Sender<ThreadBuilder>> = (0..wanted()).map_while(|_| waiting()).collect();
    let pool = ThreadPoolBuilder::new().num_threads(waiting.len().max(1));
    let started = match waiting.is_empty() {
        true => pool.use_current_thread().build_global(),
        false => pool
            .spawn_handler(|work| waiting[work.index()].send(work).map_err(|_| io::ErrorKind::Other.into()))
            .build_global(),
    };
    if let Err(error) = started {
        log::warn!("threads: {error}");
    }
}

/// Returns the number of threads that rayon would start.
fn wanted() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|asked| asked.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    asked.filter(|asked| *asked > 0).unwrap_or_else(cores)
}

/// Starts a thread that waits for its work; `None` if the system refuses.
fn waiting() -> Option<Sender<ThreadBuilder>> {
    let (give, work) = channel::<ThreadBuilder>();
    let run = move || work.recv().map_or((), ThreadBuilder::run);
    std::thread::Builder::new().spawn(run).ok().map(|_| give)
}
