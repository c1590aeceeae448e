//! A command with its result, for the modules that interpret the result.

use crate::{
    model::transcript::Outcome,
    summarize::evidence::{moment::EntryPosition, shell::CommandLine},
};

pub(super) struct Run<'r> {
    pub(super) command: &'r CommandLine,
    pub(super) outcome: Outcome,
    /// The output, without terminal colours.
    pub(super) output: &'r str,
    pub(super) moment: EntryPosition,
}

/// Returns an output without the sentence that Claude Code writes if a command prints nothing.
pub(super) fn printed(output: &str) -> &str {
    output.trim().trim_start_matches("(Bash completed with no output)").trim_start()
}
