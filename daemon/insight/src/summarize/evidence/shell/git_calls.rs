//! Finds the calls of git in a command line, which are needed to interpret the output of git.

use serde::{Deserialize, Serialize};

use crate::{
    summarize::evidence::{
        bounds,
        shell::{
            kind::Invocation,
            repository::{self, is_other_project, is_scratch, repository_folder},
            words::{Operator, SimpleCommand},
            working_directory::WorkingDirectory,
        },
    },
    text::kept,
};

/// Maximum number of calls kept of a command line.
const CALLS: usize = 8;
/// Maximum number of words kept of a call.
const ARGUMENTS: usize = 8;

/// A call of git in the project's own repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::summarize::evidence) struct GitCall {
    /// The subcommand, with its arguments if the output cannot be read without the arguments.
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

    /// Whether the call prints `Dropped` when it restores or drops a stash.
    pub(in crate::summarize::evidence) fn reports_dropped_stash(&self) -> bool {
        self.subcommand() == "stash"
            && matches!(self.operands().next(), Some("pop" | "drop"))
            && !(self.has("-q") || self.has("--quiet"))
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
    // Relative paths stay relative, because they are paths in the project.
    let mut folder = WorkingDirectory::new("");
    let mut has_printed = false;
    let mut calls = Vec::new();
    // `cd -` prints the directory.
    let prints = |command: &SimpleCommand| {
        Invocation::of(command)
            .is_some_and(|one| one.program != "git" && (one.program != "cd" || one.has("-")))
    };
    let is_alone = !commands.iter().any(prints);
    for command in commands {
        folder.advance_to(command);
        folder.run(command);
        let Some(invocation) = Invocation::of(command) else { continue };
        has_printed |= prints(command);
        let is_own = !is_foreign(&repository_folder(command, &folder));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    #[test]
    fn calls_of_git_in_another_project_are_left_out() {
        for (line, wanted) in [
            ("cd src && git status", "status"),
            ("cd /srv/other && git status", ""),
            ("cd /srv/other && cd src && git status", ""),
            ("cd /srv/other && git fetch; cd - && git status", "status"),
            ("cd src && cd /srv/other && cd - && git status", "status"),
            ("cd /srv/other && cd /app && cd - && git status", ""),
            ("pushd /srv/other && git status && popd && git diff", "diff"),
            ("cd /srv/other && git -C /app status", "status"),
            ("cd && git status", "status"),
        ] {
            let calls = of(&simple_commands(line), line, "/app");
            let found: Vec<&str> = calls.iter().map(GitCall::subcommand).collect();
            assert_eq!(found.join(" "), wanted, "{line}");
        }
    }

    #[test]
    fn only_a_call_before_all_other_output_is_first() {
        for (line, wanted) in [
            ("cd src && git status", true),
            ("cd src; cd - && git status", false),
            ("ls; git status", false),
        ] {
            let calls = of(&simple_commands(line), line, "/app");
            assert_eq!((calls[0].is_first, calls[0].is_alone), (wanted, wanted), "{line}");
        }
    }
}
