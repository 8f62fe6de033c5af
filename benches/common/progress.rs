//! The progress of long work: a bar on a terminal, and a line every twenty seconds elsewhere. Both go to the standard
//! error, so the standard output has only results.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The time between two lines without a terminal.
const EVERY: Duration = Duration::from_secs(20);

/// Work of a number of steps.
pub(crate) struct Progress {
    bar: ProgressBar,
    what: String,
    start: Instant,
    said: Instant,
}

impl Progress {
    /// Begins work of `steps` steps, each a `unit`.
    pub(crate) fn new(what: impl Into<String>, steps: usize, unit: &str) -> Progress {
        let bar = ProgressBar::new(steps as u64);
        let form = format!("{{msg}} {{wide_bar}} {{pos}}/{{len}} {unit}, {{eta}} left");
        bar.set_style(ProgressStyle::with_template(&form).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let what = what.into();
        bar.set_message(what.clone());
        Progress { bar, what, start: Instant::now(), said: Instant::now() }
    }

    /// Sets the number of finished steps.
    pub(crate) fn at(&mut self, done: usize, more: &str) {
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{}{more}", self.what));
        if self.bar.is_hidden() && self.said.elapsed() >= EVERY {
            let (steps, seconds) = (self.bar.length().unwrap_or(0), self.start.elapsed().as_secs());
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("{}: {done} of {steps} after {seconds} s{more}\n", self.what),
            );
            self.said = Instant::now();
        }
    }

    /// Prints with the bar cleared.
    pub(crate) fn print<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
