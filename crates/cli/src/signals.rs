//! Signals that end the program: interrupts, termination requests, and closed terminals.

/// Installs handlers that remove unfinished outputs and exit with 128 plus the signal's number, as shells report it:
/// 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.
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
        // Signals that were ignored stay ignored, as under nohup.
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
        // Without a thread, signals have their default action; drafts without a name disappear then, too.
        if std::thread::Builder::new().name("signals".into()).spawn(listen).is_ok() {
            // Until the handlers are installed.
            let _: Result<(), _> = wait.recv();
        }
    }

    /// Reads which signals the parent process set to be ignored; none where the system does not say.
    fn ignored() -> impl Fn(i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        move |signal| mask >> (signal - 1) & 1 == 1
    }
}
