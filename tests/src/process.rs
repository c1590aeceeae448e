//! Reports the resources that a process uses, on Linux; zero on other systems.

use std::{fs, time::Duration};

/// A process, which may have ended.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub u32);

impl Process {
    /// Returns the resident memory, in bytes.
    pub fn resident(self) -> u64 {
        self.status("VmRSS:")
    }

    /// Returns the peak of the resident memory, in bytes.
    pub fn peak(self) -> u64 {
        self.status("VmHWM:")
    }

    /// Returns the resident memory without mapped files, in bytes.
    pub fn anonymous(self) -> u64 {
        self.status("RssAnon:")
    }

    /// Returns the processor time of all its threads so far, with a resolution of 10 ms.
    pub fn processor_time(self) -> Duration {
        self.user_and_system_time(14)
    }

    /// Returns the processor time of the children that it waited for, with a resolution of 10 ms.
    pub fn processor_time_of_children(self) -> Duration {
        self.user_and_system_time(16)
    }

    /// Returns the sum of two fields: the field with this number, counted from 1, and the next field.
    fn user_and_system_time(self, field: usize) -> Duration {
        let stat = self.read("stat");
        // The name is the second field, and may contain blanks.
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(field - 3).take(2);
        let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Returns the number of voluntary context switches of its current threads.
    pub fn wake_ups(self) -> u64 {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0)).into_iter().flatten();
        let of_thread = |status: String| number(&status, "voluntary_ctxt_switches:");
        threads
            .flatten()
            .filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok())
            .map(of_thread)
            .sum()
    }

    pub fn descriptors(self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.0)).map_or(0, Iterator::count)
    }

    fn status(self, name: &str) -> u64 {
        number(&self.read("status"), name) * 1_024
    }

    fn read(self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.0)).unwrap_or_default()
    }
}

/// Returns the number after `name` at the start of a line; 0 if no line has such a number.
fn number(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
