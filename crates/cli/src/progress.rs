//! What a long job is at, on stderr where that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A line that says what is done and for how long: a device does not say how far it is. Cleared when it is dropped.
#[derive(Default)]
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A line that is there at once and counts the seconds; none if `quiet`, or where stderr is no terminal.
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

    /// Says what is done from now on.
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
