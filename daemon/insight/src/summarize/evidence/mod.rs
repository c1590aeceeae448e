//! Collects facts from a transcript without a model. The [`Collector`] reads one entry at a time.
//!
//! The collector can be saved and loaded at any point. It stays small for a transcript of any size:
//! `bounds` limits the stored lists and texts, and some modules have further limits.
//! [`summarize`](crate::summarize::summarize) interprets the facts; the caller redacts secrets.

mod background;
mod bounds;
mod calls;
mod collector;
#[cfg(test)]
mod dialogue_scenarios;
mod errors;
mod files;
mod formatters;
mod git;
mod kept_runs;
mod memory;
mod merge;
mod moment;
mod notes;
mod outside;
mod pending;
mod plans;
mod results;
mod retries;
mod retyped;
mod run;
#[cfg(test)]
pub(in crate::summarize) mod scenarios;
mod settings;
mod shell;
mod speech;
mod statements;
mod tasks;
mod test_runs;
mod turn_reports;

pub(in crate::summarize) use self::{
    bounds::FIRST_PROMPTS,
    errors::is_test_file,
    files::is_scratch,
    statements::{RECOMMENDED, describes_rule, is_intended_choice, says_that_nothing_is_left},
};
pub use self::{collector::Collector, merge::absorb};

/// Whether a command line runs tests.
pub(in crate::summarize) fn runs_tests(line: &str) -> bool {
    shell::CommandLine::read(line, "").runs_tests()
}
