//! The resources that a process uses, as Linux reports them; nothing on other systems.

use std::{fs, time::Duration};

/// A process, which may be over.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub u32);

impl Process {
    /// Memory that it holds, in bytes.
    pub fn resident(self) -> u64 {
        self.status("VmRSS:")
    }

    /// The same at its highest, in bytes.
    pub fn peak(self) -> u64 {
        self.status("VmHWM:")
    }

    /// What all its threads spent so far, in the system's ticks of 10 ms.
    pub fn processor_time(self) -> Duration {
        self.user_and_system_time(14)
    }

    /// What those of its children spent that it waited for, in the system's ticks of 10 ms.
    pub fn processor_time_of_children(self) -> Duration {
        self.user_and_system_time(16)
    }

    /// The sum of two fields that begin with this one, counted from 1.
    fn user_and_system_time(self, field: usize) -> Duration {
        let stat = self.read("stat");
        // The name is the second field, and may hold blanks.
        let behind_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = behind_name.split_whitespace().skip(field - 3).take(2);
        let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// How often its threads waited for something and were woken, of those that run now.
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

/// The number after `name` at the start of a line; 0 when there is none.
fn number(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
