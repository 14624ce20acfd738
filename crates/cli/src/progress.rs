//! Progress of a long job, on stderr if that is a terminal.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The progress bar that is shown, or was shown last.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Registers the progress bar, so that other lines do not begin at its end.
pub(crate) fn notice(bar: &ProgressBar) {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
}

/// Lets `print` write to the terminal while the progress bar is hidden.
pub(crate) fn aside(print: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match shown {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Standard error, written while the progress bar is hidden.
pub(crate) struct Aside;

impl std::io::Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut written = Ok(0);
        aside(|| written = std::io::stderr().lock().write(bytes));
        written
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A line with the current step, the elapsed time, and on the CPU the finished percentage of the step; other devices do
/// not report it. Cleared when dropped.
#[derive(Default)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows the line at once; nothing if `quiet`, if stderr is not a terminal, or if the system has
    /// no thread left for it.
    pub(crate) fn new(quiet: bool) -> Progress {
        if quiet {
            return Progress(None);
        }
        let bar = ProgressBar::new_spinner();
        if bar.is_hidden() {
            return Progress(None);
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {finished}{wide_msg}") {
            bar.set_style(style.with_key("finished", |_: &ProgressState, line: &mut dyn Write| {
                if let Some(part) = apron::cpu_progress() {
                    // An error would only mean that the line cannot be drawn.
                    let _ = write!(line, "{:3.0} %  ", part * 100.0);
                }
            }));
        }
        notice(&bar);
        // Not by `enable_steady_tick`, which panics where no thread can be started.
        let ticked = bar.clone();
        let tick = move || {
            while !ticked.is_finished() {
                ticked.tick();
                thread::sleep(Duration::from_millis(100));
            }
        };
        match thread::Builder::new().name("progress".into()).spawn(tick) {
            Ok(_) => Progress(Some(bar)),
            Err(_) => Progress(None),
        }
    }

    /// Sets the text of the current step.
    pub(crate) fn at(&self, what: impl Into<String>) {
        if let Some(bar) = &self.0 {
            bar.set_message(what.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
