//! Progress of a long job, on stderr if that is a terminal.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::thread;
use std::time::Duration;

/// A line with the current step, the elapsed time, and on the CPU the finished percentage of the step; other devices do
/// not report it. Cleared when dropped.
#[derive(Default)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows the line at once; nothing if `quiet`, if stderr is not a terminal, or if the system has no thread left for it.
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
