//! Measures the times of many calls.

use std::{
    io::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The durations of calls, the shortest first.
pub struct Times(Vec<Duration>);

impl Times {
    /// Sorts the durations of one or more calls.
    pub fn of(mut times: Vec<Duration>) -> Times {
        times.sort_unstable();
        Times(times)
    }

    /// Returns the time that `permille` thousandths of the calls did not exceed.
    pub fn permille(&self, permille: usize) -> Duration {
        self.0[(self.0.len() * permille / 1000).min(self.0.len() - 1)]
    }

    pub fn median(&self) -> Duration {
        self.permille(500)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of calls that took longer than `limit`.
    pub fn over(&self, limit: Duration) -> usize {
        self.0.iter().filter(|time| **time > limit).count()
    }

    /// Formats the shortest duration, two percentiles and the longest duration, in milliseconds.
    pub fn to_text(&self) -> String {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        format!(
            "min {:>6.2}  p50 {:>6.2}  p99 {:>6.2}  max {:>6.2} ms",
            ms(self.permille(0)),
            ms(self.median()),
            ms(self.permille(990)),
            ms(self.permille(1000)),
        )
    }
}

/// Runs a program with `input` on its standard input; returns its duration, and whether it
/// succeeded.
pub fn timed(command: &mut Command, input: &str) -> (Duration, bool) {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().expect("run the program");
    let mut stdin = child.stdin.take().expect("its input");
    // A program that has ended already does not read its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let status = child.wait().expect("the program ends");
    (began.elapsed(), status.success())
}
