//! Progress of a long job, on stderr if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A line with the current step and the elapsed time, without a percentage, which devices do not report. Cleared when
/// dropped.
#[derive(Default)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Shows the line at once; nothing if `quiet`, or if stderr is not a terminal.
    pub(crate) fn new(quiet: bool) -> Progress {
        if quiet {
            return Progress(None);
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed}  {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(Some(bar))
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
