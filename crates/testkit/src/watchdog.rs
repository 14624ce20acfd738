//! A time limit for tests on the GPU: a deadlocked kernel never ends.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Default time limit of a test; `APRON_WATCHDOG` sets another, in seconds.
const LONGEST: Duration = Duration::from_secs(600);

thread_local! {
    /// Dropped when the thread of a test ends, and so when the test ends.
    static TEST: std::cell::RefCell<Option<Sender<()>>> = const { std::cell::RefCell::new(None) };
}

/// Ends the process if this thread's test is not done in time.
pub(crate) fn guard(what: &str) {
    let seconds = std::env::var("APRON_WATCHDOG").ok().and_then(|seconds| seconds.parse().ok());
    let (what, longest) = (what.to_string(), seconds.map_or(LONGEST, Duration::from_secs));
    let (sender, receiver) = channel();
    TEST.with(|test| test.replace(Some(sender)));
    std::thread::spawn(move || {
        watch(&receiver, longest, || {
            eprintln!("watchdog: {what} took more than {} s on the GPU", longest.as_secs());
            std::process::abort();
        })
    });
}

/// Calls `bite` unless the other end of `test` is dropped in time.
fn watch(test: &Receiver<()>, longest: Duration, bite: impl FnOnce()) {
    if test.recv_timeout(longest) == Err(RecvTimeoutError::Timeout) {
        bite();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_test_that_does_not_end_is_bitten_and_one_that_ends_is_not() {
        let bitten = AtomicBool::new(false);
        let (sender, receiver) = channel();
        watch(&receiver, Duration::from_millis(5), || bitten.store(true, Ordering::Relaxed));
        assert!(bitten.swap(false, Ordering::Relaxed));
        std::thread::spawn(move || drop(sender));
        watch(&receiver, Duration::from_secs(60), || bitten.store(true, Ordering::Relaxed));
        assert!(!bitten.load(Ordering::Relaxed));
    }
}
