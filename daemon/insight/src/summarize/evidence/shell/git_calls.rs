//! Finds the calls of git in a command line, which are needed to interpret the output of git.

use serde::{Deserialize, Serialize};

use crate::summarize::{
    evidence::{
        bounds,
        shell::{
            kind::Invocation,
            repository::{self, git_folder, is_other_project, is_scratch},
            shell_state::ShellState,
            words::{Operator, SimpleCommand},
        },
    },
    text::kept,
};

/// Maximum number of calls kept of a command line, and of words kept of a call.
const CALLS: usize = 8;
const ARGUMENTS: usize = 8;

/// A call of git in the project's own repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::summarize::evidence) struct GitCall {
    /// The subcommand, with its arguments if they matter for reading the output.
    pub(in crate::summarize::evidence) words: Vec<String>,
    /// Whether another command reads the output of the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::summarize::evidence) is_piped: bool,
    /// Whether the output of the command line begins with the output of this call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::summarize::evidence) is_first: bool,
    /// Whether the output of the command line comes from this call only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::summarize::evidence) is_alone: bool,
}

impl GitCall {
    pub(in crate::summarize::evidence) fn subcommand(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    pub(in crate::summarize::evidence) fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| word == option)
    }

    /// Returns the arguments that are neither options nor values of options.
    pub(in crate::summarize::evidence) fn operands(&self) -> impl Iterator<Item = &str> {
        repository::operands(self.subcommand(), self.words.iter().skip(1).map(String::as_str))
    }
}

/// Returns the calls of git among `commands`, except calls in scratch folders and calls in another
/// project than the project of `directory`.
pub(super) fn of(commands: &[SimpleCommand], line: &str, directory: &str) -> Vec<GitCall> {
    let is_foreign = |path: &str| is_scratch(path, line) || is_other_project(path, directory);
    let mut is_in_foreign = ShellState::new(false);
    let mut has_printed = false;
    let mut calls = Vec::new();
    let prints = |command: &SimpleCommand| {
        Invocation::of(command).is_some_and(|one| !matches!(one.program, "cd" | "git"))
    };
    let is_alone = !commands.iter().any(prints);
    for command in commands {
        is_in_foreign.advance_to(command);
        let Some(invocation) = Invocation::of(command) else { continue };
        if matches!(invocation.program, "cd" | "pushd") {
            is_in_foreign.current = invocation.operand(0).is_some_and(is_foreign);
        }
        has_printed |= prints(command);
        let is_own = !is_in_foreign.current && !git_folder(command).is_some_and(is_foreign);
        if invocation.program == "git" && is_own {
            // The output of other subcommands can be read without their arguments.
            let first = invocation.arguments.first().copied().unwrap_or_default();
            let needs_arguments =
                ["status", "diff", "log", "rev-parse", "branch", "stash"].contains(&first);
            let count = if needs_arguments { ARGUMENTS } else { 1 };
            let words = invocation.arguments.iter().take(count);
            calls.push(GitCall {
                words: words.map(|word| kept(word, bounds::NAME)).collect(),
                is_piped: command.joint == Operator::Pipe,
                is_first: calls.is_empty() && !has_printed,
                is_alone,
            });
        }
    }
    let is_alone = calls.len() == 1;
    calls.iter_mut().for_each(|call| call.is_alone &= is_alone);
    calls.truncate(CALLS);
    calls
}
