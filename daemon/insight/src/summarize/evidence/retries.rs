//! Finds commands that failed and worked in another form soon after, without a change of a file in
//! between.
//!
//! Only failures without a message, and failures whose message says that the command was wrong or
//! could not run, are considered. The failure of a build or a test is usually due to the code.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    model::{evidence::Retry, transcript::Origin},
    summarize::{
        evidence::{bounds, errors, run::printed, shell::CommandLine, statements},
        lists::{keep_latest, push_latest},
    },
    text::{Block, blocks, kept, one_line, pattern, sentences},
};

/// Number of commands after a failed command that may be another form of the failed command.
const NEXT_COMMANDS: u8 = 4;
/// Same as [`NEXT_COMMANDS`], for a failed command whose program was not found. The agent may first
/// look for the program.
const NEXT_CALLS: u8 = 12;
/// Minimum share of the words of each form that the other form must contain.
const SAME_PURPOSE: f64 = 0.5;
/// Length, in bytes, of a sentence that explains a failure.
const EXPLANATION: std::ops::RangeInclusive<usize> = 20..=180;

/// A command that failed and has not yet worked in another form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FailedCommand {
    command: String,
    message: String,
    explanation: Option<String>,
    /// Number of commands that ran after this one.
    age: u8,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandEnd<'o> {
    /// The command failed with this output.
    Failed(&'o str),
    /// The command succeeded and printed something.
    Printed,
    /// The command succeeded and printed nothing. It may not have served its purpose.
    Silent,
}

impl CommandEnd<'_> {
    /// Returns the end of a command that succeeded with this output.
    pub(super) fn of_success(output: &str) -> CommandEnd<'static> {
        if printed(output).is_empty() { CommandEnd::Silent } else { CommandEnd::Printed }
    }
}

/// Records the end of the command that ran at `origin`. A failed command is added to `waiting`. A
/// command that succeeded is added to `retries` if it is another form of a command in `waiting`,
/// and printed something or called a program that the failed command did not find.
pub(super) fn record_end(
    waiting: &mut Vec<FailedCommand>,
    retries: &mut Vec<Retry>,
    command: &CommandLine,
    origin: Origin,
    end: CommandEnd<'_>,
) {
    waiting.iter_mut().for_each(|one| one.age += 1);
    waiting.retain(|one| one.age <= one.missing().map_or(NEXT_COMMANDS, |_| NEXT_CALLS));
    if let CommandEnd::Failed(output) = end {
        waiting.extend(FailedCommand::new(command, output));
        keep_latest(waiting, bounds::FAILED_COMMANDS);
        return;
    }
    if waiting.is_empty() {
        return;
    }
    let worked = kept(&command.shown, bounds::RETRIED_COMMAND);
    let is_silent = end == CommandEnd::Silent;
    let works_unchanged = waiting.iter().any(|one| one.is_same(&worked));
    let other = waiting.iter().rev().find_map(|one| {
        let (failed, worked) = one.other_form(&worked, is_silent)?;
        let (message, explanation) = (one.message.clone(), one.explanation.clone());
        Some(Retry { failed, message, explanation, worked, origin })
    });
    waiting.retain(|one| !one.is_same(&worked) && one.other_form(&worked, is_silent).is_none());
    if starts_service(&worked) {
        service_started(waiting);
    }
    if let Some(retry) = other.filter(|_| !works_unchanged) {
        push_latest(retries, retry, bounds::RETRIES);
    }
}

/// Forgets the commands that could not connect: they may work in any form now that a service was
/// started.
pub(super) fn service_started(waiting: &mut Vec<FailedCommand>) {
    waiting.retain(|one| !is_refused(&one.message));
}

/// Records how the agent explains the failure of the last command.
pub(super) fn record_explanation(waiting: &mut [FailedCommand], reply: &str) {
    let last = waiting.last_mut().filter(|one| one.age == 0 && one.explanation.is_none());
    let Some(failed) = last else { return };
    let Some(Block::Paragraph(first)) = blocks(reply).into_iter().next() else { return };
    let line = one_line(&first);
    let firm = sentences(&line).into_iter().find(|sentence| {
        EXPLANATION.contains(&sentence.len())
            && !statements::is_not_firm(sentence)
            && !sentence.ends_with(':')
            && failed.shares_a_name_with(sentence)
    });
    failed.explanation = firm.map(str::to_owned);
}

impl FailedCommand {
    /// Returns a failed command; `None` if the form of the command is probably not the cause of the
    /// failure.
    fn new(command: &CommandLine, output: &str) -> Option<FailedCommand> {
        let message = errors::message_of(output).unwrap_or_default();
        let is_about_the_command = match message.is_empty() {
            true => command.tests.is_empty() && !checks_or_builds(&command.shown),
            false => blames_the_command(&message),
        };
        let is_considered = is_about_the_command && !fails_for_other_reasons(&command.shown);
        is_considered.then(|| FailedCommand {
            command: kept(&command.shown, bounds::RETRIED_COMMAND),
            message: kept(&message, bounds::SETTING),
            explanation: None,
            age: 0,
        })
    }

    /// Returns the program that was not found.
    fn missing(&self) -> Option<&str> {
        missing_program(&self.message)
    }

    /// Whether a command that succeeded is the failed command, or contains the same call of the
    /// program that was not found.
    fn is_same(&self, worked: &str) -> bool {
        let call = |line| self.missing().and_then(|program| call_of(line, program));
        parts(&self.command) == parts(worked)
            || call(worked).is_some_and(|worked| call(&self.command) == Some(worked))
    }

    /// Returns the failed command and `worked`, if `worked` is another form of the failed command.
    /// If a program was not found, both are only the calls of that program, without its arguments.
    fn other_form(&self, worked: &str, is_silent: bool) -> Option<(String, String)> {
        let call = self.missing().and_then(|name| Some((name, call_of(&self.command, name)?)));
        if let Some((program, failed)) = call {
            // The line succeeds although one of its commands fails.
            let is_optional = worked.contains("||") || worked.contains(';');
            let worked = call_of(worked, program)?;
            return (failed != worked && !is_optional).then_some((failed, worked));
        }
        let is_other = !is_silent && is_other_form(&self.command, worked);
        is_other.then(|| (self.command.clone(), worked.to_owned()))
    }

    /// Whether a word of a sentence occurs in the command or in its message.
    fn shares_a_name_with(&self, sentence: &str) -> bool {
        let is_name = |word: &&str| word.len() >= 3;
        let text = format!("{} {}", self.command, self.message).to_lowercase();
        let mut words = sentence.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'));
        words.any(|word| is_name(&word) && text.contains(&word.to_lowercase()))
    }
}

/// Whether an error message says that the command was wrong or could not run.
fn blames_the_command(message: &str) -> bool {
    pattern!(r"(?i)\bnot found \(HTTP\b|\b(?:HTTP|status|error):? 40[134]\b|\bcould not resolve to\b|\bunknown (?:option|flag|command|subcommand|argument|shorthand)|\bunrecogni[sz]ed (?:option|flag|command|subcommand|argument)|\b(?:invalid|unexpected) (?:option|flag|argument)|\bmissing script\b|\bno such (?:command|option)\b|\bcannot write multiple\b|\bmust be (?:provided|run|called|set)\b|\b(?:permission denied|EACCES)\b|\bno tests? (?:files? )?found\b")
        .is_match(message)
        || is_refused(message)
        || missing_program(message).is_some()
}

/// Whether an error message says that no service accepted the connection.
fn is_refused(message: &str) -> bool {
    pattern!(r"(?i)\bECONNREFUSED\b|\bconnection refused\b").is_match(message)
}

/// Whether a command line starts a service.
fn starts_service(line: &str) -> bool {
    pattern!(
        r"\b(?:docker|docker-compose|podman|systemctl|service|services|pg_ctl|supervisorctl|pm2)\b.* (?:up|start|restart|run)\b|\b(?:npm|pnpm|yarn|bun)(?: run)? (?:start|dev|serve)\b|\b(?:redis-server|mongod|mysqld|pg_ctlcluster)\b|[^&]&\s*$"
    )
    .is_match(line)
}

/// Returns the program that a shell or a package manager did not find.
fn missing_program(message: &str) -> Option<&str> {
    let named = pattern!(
        r#"command not found: ([\w.+-]+)|\b([A-Za-z_][\w.+-]*): command not found|\b[a-z]*sh: (?:line )?(?:[0-9]+: )?([A-Za-z_][\w.+-]*): not found|"([\w.+-]+)": executable file not found|\b[Cc]ommand "([\w.+-]+)" not found"#
    );
    let found = named.captures(message)?;
    let program = found.iter().skip(1).flatten().next()?;
    Some(program.as_str())
}

/// Returns the call of a program without its arguments: its name or its path, after the command
/// that starts it in another environment, for example `mise exec -- go`. `None` if the program
/// occurs only as the argument of another command.
fn call_of(line: &str, program: &str) -> Option<String> {
    let calls = line.split(['&', ';', '|']).filter_map(|part| {
        let is_assignment = |word: &&str| word.contains('=') && !word.starts_with('-');
        let words: Vec<&str> = part.split_whitespace().skip_while(is_assignment).collect();
        let place = words.iter().position(|word| word.rsplit('/').next() == Some(program))?;
        Some(words[..=place].join(" "))
    });
    let mut calls = calls.filter(|call| call == program || is_launched(call));
    calls.next()
}

/// Words of a command that installs or looks for a program, and does not start it.
const NOT_A_CALL: &[&str] = &[
    "install",
    "add",
    "i",
    "which",
    "where",
    "whereis",
    "find",
    "ls",
    "list",
    "search",
    "view",
    "info",
    "show",
    "why",
    "use",
    "pull",
    "build",
    "images",
    "get",
    "remove",
    "uninstall",
];

/// Whether a call starts a program in another environment, or by its path.
fn is_launched(call: &str) -> bool {
    pattern!(r"^(?:(?:mise|asdf|rtx|direnv|devbox|nix|nix-shell|docker|podman|kubectl|uv|uvx|poetry|pipenv|hatch|conda|micromamba|npx|pnpm|yarn|bun|bunx|npm|bundle|rbenv|nvm|volta|flatpak-spawn|sudo) .*|\S*/\S+)$")
        .is_match(call)
        && !call.split(' ').any(|word| NOT_A_CALL.contains(&word))
}

/// Whether a command checks or builds the code, so that its failure is probably due to the code.
fn checks_or_builds(line: &str) -> bool {
    pattern!(r"(?i)(?:\b|_)(?:lint|check|prettier|eslint|ruff|fmt|format|test|build|compile|tsc|vet|typecheck)")
        .is_match(line)
}

/// Whether a failure of the command probably has another cause than its form. For example, the
/// command searches for something that does not exist, runs inline code, or works with git.
fn fails_for_other_reasons(line: &str) -> bool {
    pattern!(r"^(?:ls|cat|head|tail|grep|rg|find|fd|which|type|test|diff|echo|stat|file|wc|sed|awk|git|mkdir|rm|cp|mv|kill|pkill|sleep|curl|lsof|ps|ssh) |^\[ |^\S+ (?:-[ce]|--input-type\S*|-) ")
        .is_match(line)
}

/// Whether two command lines serve the same purpose in different forms.
fn is_other_form(failed: &str, other: &str) -> bool {
    let (failed, other) = (parts(failed), parts(other));
    let shared = failed.intersection(&other).count();
    #[expect(clippy::cast_precision_loss, reason = "the numbers of words are small")]
    let share = |of: &BTreeSet<&str>| shared as f64 / of.len().max(1) as f64;
    // Commands that differ in a number do different work. A command that only adds or removes
    // `sleep` does not count as another form.
    let is_other_work =
        |part: &&&str| part.bytes().all(|byte| byte.is_ascii_digit()) || **part == "sleep";
    let changed = failed.symmetric_difference(&other);
    failed != other
        && changed.filter(is_other_work).count() == 0
        && shared >= 2
        && share(&failed) >= SAME_PURPOSE
        && share(&other) >= SAME_PURPOSE
}

/// Returns the words of a command without the end that redirects or shortens its output.
fn parts(line: &str) -> BTreeSet<&str> {
    let shortens =
        pattern!(r" (?:2>&1|2>/dev/null|>/dev/null|\|&? ?(?:head|tail|grep|cat|less|sed|jq)\b)");
    let end = shortens.find(line).map_or(line.len(), |found| found.start());
    line[..end]
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | '=' | '"' | '\'' | ';' | '&'))
        .filter(|part| !part.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        model::{evidence::Retry, transcript::Outcome},
        summarize::evidence::scenarios::Script,
    };

    const FIRST: &str = "gh api repos/acme/shop/pulls/7/comments";
    const SECOND: &str = "gh api repos/acme/web-shop/pulls/7/comments";
    const MISSING: &str = "gh: Not Found (HTTP 404)\n";
    const FAILED: Outcome = Outcome::Failed(Some(1));

    fn retries(runs: &[(&'static str, Outcome, &'static str)]) -> Vec<Retry> {
        let mut script = Script::default();
        script.prompt("Answer the comments");
        for (at, (line, outcome, output)) in runs.iter().enumerate() {
            script.run(&format!("c{at}"), line, *outcome, output);
        }
        script.collect().retries
    }

    fn retried(failed: &'static str, message: &'static str, worked: &'static str) -> bool {
        !retries(&[(failed, FAILED, message), (worked, Outcome::Succeeded, "[]")]).is_empty()
    }

    #[test]
    fn a_command_that_works_in_another_form_is_kept_with_the_explanation() {
        let mut script = Script::default();
        script.prompt("Answer the comments");
        script.run("a", FIRST, FAILED, MISSING);
        script.reply("m", "The first two are answered. The shop is called `acme/web-shop` there.");
        script.run("b", SECOND, Outcome::Succeeded, "[]");
        let found = script.collect().retries;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].failed.as_str(), found[0].worked.as_str()), (FIRST, SECOND));
        let explanation = found[0].explanation.as_deref();
        assert_eq!(explanation, Some("The shop is called `acme/web-shop` there."));
    }

    #[test]
    fn only_a_program_of_a_shell_or_a_package_manager_is_missing() {
        for (message, wanted) in [
            ("sh: 1: go: not found", Some("go")),
            ("/bin/sh: go: not found", Some("go")),
            ("bash: line 3: go: command not found", Some("go")),
            ("exec: \"go\": executable file not found in $PATH", Some("go")),
            ("Error: not found", None),
            ("fatal: repository: not found", None),
        ] {
            assert_eq!(super::missing_program(message), wanted, "{message}");
        }
    }

    #[test]
    fn a_program_that_was_not_found_is_called_in_another_way() {
        let zsh = "zsh:1: command not found: go\n";
        let version = ("mise exec -- go version", Outcome::Succeeded, "go version go1.26.2\n");
        let other = ("command -v mise || true", Outcome::Succeeded, "/opt/bin/mise\n");
        let found = retries(&[("go test ./...", FAILED, zsh), other, other, other, other, version]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].failed.as_str(), found[0].worked.as_str()), ("go", "mise exec -- go"));
        let pnpm = "undefined\n ERR_PNPM_RECURSIVE_EXEC_FIRST_FAIL  Command \"biome\" not found\n";
        let first = ("pnpm biome check --write src 2>&1 | tail -10", Outcome::Succeeded, pnpm);
        let found =
            retries(&[first, ("npx biome check --write src | tail -10", Outcome::Succeeded, "")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].failed.as_str(), found[0].worked.as_str()),
            ("pnpm biome", "npx biome")
        );
        let optional = "mise exec -- go version || echo none";
        let found_only = ["mise which go", "npm ls go", "docker pull go"];
        for worked in ["brew install go", "echo go", "which go", "go test ./...", optional]
            .into_iter()
            .chain(found_only)
        {
            assert!(!retried("go test ./...", zsh, worked), "{worked}");
        }
        let installed = [("go test ./...", FAILED, zsh), ("go version", version.1, ""), version];
        assert!(retries(&installed).is_empty());
    }

    #[test]
    fn only_a_form_with_the_same_purpose_counts() {
        assert!(retried(FIRST, MISSING, SECOND));
        assert!(!retried(FIRST, MISSING, "gh pr view 7"));
        assert!(!retried(FIRST, MISSING, "gh api repos/acme/shop/pulls/8/comments"));
        assert!(!retried(FIRST, MISSING, "sleep && gh api repos/acme/shop/pulls/7/comments"));
    }

    #[test]
    fn a_failure_of_the_code_says_nothing_about_the_command() {
        let error = "error[E0425]: cannot find value `x` in this scope\n";
        assert!(!retried("cargo build -p core -v", error, "cargo build -p api -v"));
        assert!(!retried("git push -u origin main", MISSING, "git push -u origin next"));
        assert!(!retried("bun run lint src", "", "bun run lint:fix src"));
        let unknown = "unknown flag: --stat\n";
        assert!(retried("gh pr diff 104 --stat", unknown, "gh pr diff 104 --name-only"));
    }

    #[test]
    fn a_change_an_interruption_and_a_success_in_the_same_form_end_the_search() {
        let worked = (SECOND, Outcome::Succeeded, "[]");
        let edit = ("printf x > a.rs", Outcome::Succeeded, "");
        assert!(retries(&[(FIRST, FAILED, MISSING), edit, worked]).is_empty());
        assert!(
            retries(&[(FIRST, FAILED, MISSING), (SECOND, Outcome::Interrupted, "")]).is_empty()
        );
        let silent = (SECOND, Outcome::Succeeded, "");
        assert!(retries(&[(FIRST, FAILED, MISSING), silent]).is_empty(), "it printed nothing");
        let of_claude = (SECOND, Outcome::Succeeded, "(Bash completed with no output)");
        assert!(retries(&[(FIRST, FAILED, MISSING), of_claude]).is_empty(), "an empty output");
        assert_eq!(retries(&[(FIRST, FAILED, MISSING), silent, worked]).len(), 1);
        let same = (FIRST, Outcome::Succeeded, "[]");
        assert!(retries(&[(FIRST, FAILED, MISSING), same, worked]).is_empty());
    }

    #[test]
    fn a_started_service_explains_the_success_of_a_refused_command() {
        let refused = "Error: connect ECONNREFUSED 127.0.0.1:5432\n";
        let seed = ("node scripts/seed.js --db shop", FAILED, refused);
        let verbose = ("node scripts/seed.js --db shop --verbose", Outcome::Succeeded, "ok");
        for start in ["docker compose up -d db", "brew services start postgresql", "npm run dev &"]
        {
            assert!(
                retries(&[seed, (start, Outcome::Succeeded, ""), verbose]).is_empty(),
                "{start}"
            );
        }
        let mut script = Script::default();
        script.run("a", seed.0, seed.1, seed.2);
        let begun = "Command running in background with ID: b1";
        script.run("b", "node server.js", Outcome::Succeeded, begun);
        script.run("c", verbose.0, verbose.1, verbose.2);
        assert!(script.collect().retries.is_empty());
        // Without a start, the other form counts. A start does not explain other failures.
        let host = ("node scripts/seed.js --db shop --host db", Outcome::Succeeded, "ok");
        let look = ("docker compose ps", Outcome::Succeeded, "db");
        assert_eq!(retries(&[seed, look, host]).len(), 1);
        let start = ("docker compose up -d db", Outcome::Succeeded, "");
        let unknown = ("node scripts/seed.js --db shop --fast", FAILED, "unknown option --fast\n");
        assert_eq!(retries(&[unknown, start, verbose]).len(), 1);
    }

    #[test]
    fn the_other_form_must_follow_soon_and_in_the_same_turn() {
        let worked = (SECOND, Outcome::Succeeded, "[]");
        let between = ("make docs", Outcome::Succeeded, "");
        let late = [(FIRST, FAILED, MISSING), between, between, between, between, worked];
        assert!(retries(&late).is_empty());
        assert_eq!(retries(&[late[0], between, between, worked]).len(), 1);
        let mut script = Script::default();
        script.prompt("Answer the comments");
        script.run("a", FIRST, FAILED, MISSING);
        script.prompt("Use the other shop");
        script.run("b", SECOND, Outcome::Succeeded, "[]");
        assert!(script.collect().retries.is_empty());
    }
}
