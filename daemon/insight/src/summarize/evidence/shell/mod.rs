//! Reads a shell command line: the attempt (the program that does the main work), the effects on
//! files and on the repository, the texts that the line publishes, and the tests that it runs.
//!
//! Other modules determine from the result of the call whether the attempt succeeded.

mod branch_names;
mod effect;
mod exit_code;
mod git_calls;
mod kind;
mod outside;
mod repository;
mod substitution;
mod target;
mod test_calls;
mod texts;
mod words;
mod working_directory;

use serde::{Deserialize, Serialize};

pub(super) use self::{
    effect::Effect,
    git_calls::GitCall,
    outside::OutsideStep,
    repository::{CommitMade, RepositoryStep, Undone},
    target::below,
    test_calls::{TestCall, printed as call_that_printed},
    working_directory::resolve,
};
use self::{
    exit_code::PrintedExitCode,
    kind::{Invocation, InvocationKind},
    words::{Operator, SimpleCommand},
};
use crate::text::{kept, pattern};

/// Maximum length, in bytes, of a command line that is shown.
pub(super) const SHOWN: usize = 200;
/// Maximum length, in bytes, of the attempt's name.
const ATTEMPT: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CommandLine {
    /// The command line as a person would quote it: only its first line, without a leading `cd` and
    /// without commands at the end that shorten the output. If the command line has several lines
    /// and makes a commit, `git commit -m` with the subject.
    pub(super) shown: String,
    /// The name of the attempt, without options: `cargo test`, `git push`, `run.sh`. The attempt is
    /// the last command of the line that does not only read. `None` if there is no such command, or
    /// if this command runs inline code.
    pub(super) attempt: Option<String>,
    /// Whether the success of the command line does not prove that the attempt succeeded, because
    /// the exit code belongs to another command.
    pub(super) unproven: bool,
    /// The form in which the command line prints the exit code of the attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<PrintedExitCode>,
    /// Whether the command can have changed files or the environment.
    pub(super) changes: bool,
    /// The effects on files that are certain from the text.
    pub(super) effects: Vec<Effect>,
    /// The effects on the repository, and the published texts.
    pub(super) repository: Vec<RepositoryStep>,
    /// The changes outside of the repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) outside: Vec<OutsideStep>,
    /// Whether the command shows the history of the repository.
    pub(super) shows_history: bool,
    /// The directory that the command works in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) directory: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) package: Option<String>,
    /// The calls of git in the project's own repository.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) git: Vec<GitCall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tests: Vec<TestCall>,
    /// Whether the calls of test runners only build or list tests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) runs_no_tests: bool,
    /// Whether the line prints only a part of the output (`| tail`). In this case, numbers in the
    /// output may not be totals.
    pub(super) shows_part: bool,
}

impl CommandLine {
    /// Reads `line` as a command line that runs in `directory`.
    pub(super) fn read(line: &str, directory: &str) -> CommandLine {
        let commands = words::simple_commands(line);
        if let Some(script) = script(&commands) {
            return CommandLine::read(script, directory);
        }
        let invocations: Vec<(usize, Invocation<'_>)> = commands
            .iter()
            .enumerate()
            .filter_map(|(at, command)| Some((at, Invocation::of(command)?)))
            .collect();
        let repository = repository::steps(&commands, line, directory);
        let runner_calls = test_calls::runner_calls(line, directory);
        let target = target::of(&commands, directory);
        let commit = repository.iter().find_map(|step| step.commit.as_ref());
        let last = invocations.iter().rfind(|(_, one)| one.kind() != InvocationKind::Reads);
        let shown = match commit.and_then(|commit| commit.subject.as_deref()) {
            Some(subject) if line.contains('\n') => format!("git commit -m \"{subject}\""),
            _ => shown(line),
        };
        CommandLine {
            shown: kept(&shown, SHOWN),
            attempt: last.and_then(|(_, invocation)| attempt(invocation)),
            unproven: last.is_some_and(|(at, _)| hides_failure(&commands[*at..])),
            exit_code: last.and_then(|(at, _)| PrintedExitCode::of(&commands, *at)),
            changes: invocations
                .iter()
                .any(|(_, invocation)| invocation.kind() == InvocationKind::Changes),
            effects: effect::of(&commands, directory),
            outside: outside::steps(&commands),
            shows_history: invocations
                .iter()
                .any(|(_, one)| one.program == "git" && one.operand(0) == Some("log")),
            repository,
            tests: runner_calls.iter().map(TestCall::from).collect(),
            runs_no_tests: test_calls::only_prepare(&runner_calls),
            git: git_calls::of(&commands, line, directory),
            directory: target.directory,
            package: target.package,
            shows_part: pattern!(
                r"\|\s*(?:tail|head)\b|>\s*[\w./-]+(?:\s+2>&1)?\s*(?:;|&&|\|\|)\s*(?:tail|head)\b|\|\s*(?:grep|rg|egrep)\b[^|]*(?i:pass|fail|error)"
            )
            .is_match(line),
        }
    }

    pub(super) fn runs_tests(&self) -> bool {
        !self.tests.is_empty() && !self.runs_no_tests
    }

    /// Drops the published texts and the bodies of commit messages, which are the longest parts.
    pub(super) fn forget_texts(&mut self) {
        for step in &mut self.repository {
            step.published = None;
            if let Some(commit) = &mut step.commit {
                commit.body.clear();
            }
        }
    }

    /// Whether the output may show the state of the repository or of a pull request's checks.
    pub(super) fn shows_repository(&self) -> bool {
        !self.git.is_empty() || pattern!(r"gh (?:pr checks|run view)\b").is_match(&self.shown)
    }

    /// Whether the command only reads, or runs inline code, whose effect is unknown.
    pub(super) fn only_reads(&self) -> bool {
        self.attempt.is_none()
            && !self.changes
            && self.repository.is_empty()
            && self.outside.is_empty()
    }
}

/// Whether a line may succeed although the first of `commands`, which run up to the end of the
/// line, failed. The commands after `&&` run only if the command before it succeeds.
fn hides_failure(commands: &[SimpleCommand]) -> bool {
    let is_last = commands.len() < 2;
    if is_last || commands[0].joint != Operator::And {
        return !is_last;
    }
    let mut open_brackets = 0_usize;
    commands.windows(2).any(|pair| {
        let marks = pair[1].subshells;
        open_brackets = open_brackets.saturating_sub(marks.ended);
        let is_outside = open_brackets == 0;
        open_brackets += marks.begun;
        is_outside && matches!(pair[0].joint, Operator::Or | Operator::Next)
    })
}

/// Returns the script of a shell if the script is the whole command line, as in
/// `bash -lc 'cargo test'`.
fn script(commands: &[SimpleCommand]) -> Option<&str> {
    let [only] = commands else { return None };
    let words: Vec<&str> = only.texts().collect();
    let [shell, option, script] = words.as_slice() else { return None };
    let is_shell = ["bash", "sh", "zsh"].contains(&shell.rsplit('/').next().unwrap_or(shell));
    let runs = option.starts_with('-') && !option.starts_with("--") && option.ends_with('c');
    (is_shell && runs && script.contains(' ')).then_some(*script)
}

/// Returns the name of an attempt: the program with its subcommand or with the file that it
/// interprets, without options and targets. `None` for inline code.
fn attempt(invocation: &Invocation<'_>) -> Option<String> {
    const RUNS_FILES: &[&str] = &[
        "python", "python3", "node", "bash", "sh", "ruby", "php", "tsx", "ts-node", "deno", "go",
        "bun",
    ];
    const TWO_WORDS: &[&str] =
        &["run", "compose", "pr", "issue", "release", "tool", "exec", "mod", "x"];
    if invocation.runs_inline_code() {
        return None;
    }
    let mut parts = vec![invocation.program];
    let is_name = |word: &&str| {
        word.len() <= 40
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'))
    };
    // A program with a dot in its name is a script, whose arguments can have any meaning.
    let takes_words = !invocation.program.contains('.');
    let runs_file = RUNS_FILES.contains(&invocation.program);
    if let Some(first) =
        invocation.operand(0).filter(|word| runs_file || (takes_words && is_name(word)))
    {
        parts.push(first);
        let second = invocation.operand(1).filter(is_name);
        parts.extend(second.filter(|_| TWO_WORDS.contains(&first)));
    }
    Some(kept(&parts.join(" "), ATTEMPT))
}

fn shown(line: &str) -> String {
    let line = line.trim();
    let line = pattern!(r"^(?:cd\s+[^&;|\n]+(?:&&|;)\s*)+").replace(line, "");
    let line = pattern!(
        r"(?:\s*(?:2>&1|2>/dev/null|>\s*/dev/null|\|\s*(?:tail|head|cat)\b[^|;&\n]*|\|\|\s*true))+\s*$"
    )
    .replace(&line, "");
    let mut lines =
        line.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next().unwrap_or_default();
    let more = lines.next().is_some();
    let first = first.split("<<").next().unwrap_or(first).trim();
    if more { format!("{first} …") } else { first.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_does_not_depend_on_options() {
        for (lines, wanted) in [
            (
                vec![
                    "cd /app && cargo test -p x 2>&1 | tail -5",
                    "cargo test",
                    "RUST_LOG=1 cargo test foo",
                ],
                Some("cargo test"),
            ),
            (vec!["npm run build", "npm run --silent build >/dev/null"], Some("npm run build")),
            (
                vec!["git add -A && git commit -m 'x y' && git push -u origin HEAD", "git push"],
                Some("git push"),
            ),
            (vec!["./run.sh fast", "/app/run.sh"], Some("run.sh")),
            (
                vec!["python3 tools/gen.py --all", "python3 tools/gen.py"],
                Some("python3 tools/gen.py"),
            ),
            (vec!["uv run pytest tests/test_a.py -k x", "pytest"], Some("pytest")),
            (vec!["echo tests | xargs -n1 cargo test"], Some("cargo test")),
            (vec!["bash -lc 'cd /app && npm test'", "npm test"], Some("npm test")),
            (vec!["ls -la | grep x", "python -c 'x'", "git log --oneline"], None),
        ] {
            for line in lines {
                let read = CommandLine::read(line, "/app");
                assert_eq!(read.attempt.as_deref(), wanted, "{line}");
            }
        }
    }

    #[test]
    fn the_exit_code_of_another_command_proves_nothing() {
        for (line, unproven) in [
            ("cargo test", false),
            ("cargo build && cargo test", false),
            ("cargo test | tail -5", true),
            ("cargo test; echo done", true),
            ("cargo test || true", true),
            ("cargo test && echo fine", false),
            ("cargo build && cargo test && echo fine && echo end", false),
            ("cargo test && echo fine; ls", true),
            ("npm run build && echo OK || echo FAILED", true),
            ("npm run build && ls dist | head -5", false),
            ("make && (cd out; ls)", false),
            ("make && (cd out; ls) && echo fine", false),
            ("make && (cd out; ls); ls", true),
            ("(make && ls); ls", true),
            ("make | tail && ls", true),
            ("make && (cd out; ls) || true", true),
        ] {
            assert_eq!(CommandLine::read(line, "").unproven, unproven, "{line}");
        }
    }

    #[test]
    fn the_shown_command_has_no_directory_and_no_documents() {
        for (line, wanted) in [
            ("cd /app && go test ./... 2>&1 | tail -30", "go test ./..."),
            ("# run it\nmake all\nmake install", "make all …"),
            ("cat > x <<'EOF'\nfoo\nEOF", "cat > x …"),
            ("git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\"", "git commit -m \"Fix it\""),
        ] {
            assert_eq!(CommandLine::read(line, "").shown, wanted);
        }
    }
}
