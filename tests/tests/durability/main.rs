//! Tests that data survive faults: kills, crashes, full disks, limits, damaged files, panics.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a run prints its figures and its seed")]

mod crash;
mod crash_points;
mod exactly_once;
mod faults;
mod limits;
mod redact_again;
mod repair;
mod supervise;
