//! What ends the program from outside: interrupts, requests to end, and terminals that go away.

/// Has the program, when it is told to end, remove what is not finished and exit with 128 and the signal's number, as
/// shells say it: 130 for an interrupt, 143 for a request to end, 129 for a terminal that went away.
pub(crate) fn watch() {
    #[cfg(unix)]
    unix::watch();
}

#[cfg(unix)]
mod unix {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::exit;

    pub(super) fn watch() {
        // Those that were ignored stay so, as under nohup.
        let ignored = ignored();
        let heard: Vec<i32> = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal)).collect();
        let (ready, wait) = std::sync::mpsc::channel();
        let listen = move || {
            let signals = Signals::new(heard);
            drop(ready);
            if let Some(signal) = signals.ok().and_then(|mut signals| signals.forever().next()) {
                apron_files::discard_drafts();
                exit(128 + signal);
            }
        };
        // Where no thread is to be had, signals end the program as they always do; drafts without a name go, too.
        if std::thread::Builder::new().name("signals".into()).spawn(listen).is_ok() {
            // Until signals are heard.
            let _: Result<(), _> = wait.recv();
        }
    }

    /// Which signals whoever started the program wants ignored; where the system does not say, none.
    fn ignored() -> impl Fn(i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        move |signal| mask >> (signal - 1) & 1 == 1
    }
}
