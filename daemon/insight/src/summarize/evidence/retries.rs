//! Finds commands that failed and worked in another form soon after, without a change of a file in
//! between.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    model::{evidence::Retry, transcript::Origin},
    summarize::{
        evidence::{bounds, errors, lists::push_latest, shell::CommandLine, statements},
        text::{kept, one_line, pattern, sentences},
    },
};

/// Number of commands after a failed one among which the other form must be.
const NEXT_COMMANDS: u8 = 4;
/// Minimum share of the words of each form that the other form contains.
const SAME_PURPOSE: f64 = 0.5;
/// Length, in bytes, of a sentence of the agent about a failure.
const SAID: std::ops::RangeInclusive<usize> = 20..=180;

/// A command that failed and has not yet worked in another form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FailedCommand {
    command: String,
    message: String,
    said: Option<String>,
    origin: Origin,
    /// Number of commands that ran since then.
    age: u8,
}

/// Records in `waiting` that a command failed, or in `retries` that it is another form of a failed
/// one. `failure` is the output of a command that failed.
pub(super) fn note(
    waiting: &mut Vec<FailedCommand>,
    retries: &mut Vec<Retry>,
    command: &CommandLine,
    failure: Option<&str>,
    origin: Origin,
) {
    if let Some(output) = failure {
        waiting.extend(FailedCommand::new(command, output, origin));
        let extra = waiting.len().saturating_sub(bounds::FAILED_COMMANDS);
        waiting.drain(..extra);
        return;
    }
    if let Some(at) = waiting.iter().rposition(|one| is_other_form(&one.command, &command.shown)) {
        let FailedCommand { command: failed, message, said, origin, .. } = waiting.remove(at);
        let worked = kept(&command.shown, bounds::RETRIED_COMMAND);
        push_latest(retries, Retry { failed, message, said, worked, origin }, bounds::RETRIES);
    }
    waiting.iter_mut().for_each(|one| one.age += 1);
    waiting.retain(|one| one.age < NEXT_COMMANDS);
}

/// Records what the agent says about the last command if it failed.
pub(super) fn note_reason(waiting: &mut [FailedCommand], reply: &str) {
    let last = waiting.last_mut().filter(|one| one.age == 0 && one.said.is_none());
    let Some(failed) = last else { return };
    let line = one_line(reply);
    let firm = sentences(&line).into_iter().find(|sentence| {
        SAID.contains(&sentence.len())
            && !statements::is_loose(sentence)
            && !sentence.ends_with(':')
    });
    failed.said = firm.map(str::to_owned);
}

impl FailedCommand {
    /// Returns a failed command; `None` if another form of it would show nothing about the command.
    fn new(command: &CommandLine, output: &str, origin: Origin) -> Option<FailedCommand> {
        let message = errors::message_of(output).unwrap_or_default();
        let is_own_fault = pattern!(r"(?i)\b(?:parse|syntax) ?error\b").is_match(&message);
        let is_of_the_code = checks_the_code(command) && !is_about_the_command(&message);
        (!is_lookup(&command.shown) && !is_own_fault && !is_of_the_code).then(|| FailedCommand {
            command: kept(&command.shown, bounds::RETRIED_COMMAND),
            message: kept(&message, bounds::SETTING),
            said: None,
            origin,
            age: 0,
        })
    }
}

/// Whether a command looks for something that may not be there, is a script of the moment, or works
/// with git, whose failures the state of the repository explains.
fn is_lookup(line: &str) -> bool {
    pattern!(r"^(?:cd \S+ (?:&&|;) )?(?:ls|cat|head|tail|grep|rg|find|fd|which|type|test|\[|diff|echo|stat|file|wc|sed|awk|git|mkdir|rm|cp|mv|kill|pkill|sleep|timeout|curl|lsof|ps|ssh)\b|^\S+ (?:-[ce]|--input-type\S*|-) ")
        .is_match(line)
}

/// Whether a failure of the command usually says something about the code.
fn checks_the_code(command: &CommandLine) -> bool {
    !command.tests.is_empty()
        || pattern!(
            r"\b(?:tests?|lint|clippy|check|typecheck|tsc|vet|eslint|prettier|fmt|format)\b"
        )
        .is_match(&command.shown)
}

/// Whether an error message says that the command was wrong or could not run.
fn is_about_the_command(message: &str) -> bool {
    pattern!(r"(?i)no tests? (?:files? )?(?:found|match|ran|to run)|not found|cannot find|unknown|unrecogni[sz]ed|invalid (?:option|flag)|no such|permission|refused|not permitted|unsupported|missing script|ENOENT|EACCES")
        .is_match(message)
}

/// Whether two command lines serve the same purpose in different forms.
fn is_other_form(failed: &str, other: &str) -> bool {
    let (failed, other) = (parts(failed), parts(other));
    let shared = failed.intersection(&other).count();
    #[expect(clippy::cast_precision_loss, reason = "the numbers of words are small")]
    let share = |of: &BTreeSet<&str>| shared as f64 / of.len().max(1) as f64;
    // The same request for another number is other work, and after a pause it is the same form.
    let is_other_work =
        |part: &&&str| part.bytes().all(|byte| byte.is_ascii_digit()) || **part == "sleep";
    let changed = failed.symmetric_difference(&other);
    failed != other
        && changed.filter(is_other_work).count() == 0
        && shared >= 2
        && share(&failed) >= SAME_PURPOSE
        && share(&other) >= SAME_PURPOSE
}

/// Returns the words of a command, without what only shortens its output.
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

    const MISSING: &str = "gh: Not Found (HTTP 404)\n";

    fn retries(second: &str, edits: bool) -> Vec<Retry> {
        let mut script = Script::default();
        script.prompt("Answer the comments");
        let first = "gh api repos/acme/shop/pulls/7/comments";
        script.run("a", first, Outcome::Failed(Some(1)), MISSING);
        script.reply("m", "The repository is called `acme/web-shop`. Let me use it.");
        if edits {
            script.edit("e", "/app/a.rs", "a", "b");
        }
        script.run("b", second, Outcome::Succeeded, "[]");
        script.collect().retries
    }

    #[test]
    fn a_command_that_works_in_another_form_is_kept_with_the_reason() {
        let found = retries("gh api repos/acme/web-shop/pulls/7/comments", false);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].failed, "gh api repos/acme/shop/pulls/7/comments");
        assert_eq!(found[0].worked, "gh api repos/acme/web-shop/pulls/7/comments");
        assert_eq!(found[0].said.as_deref(), Some("The repository is called `acme/web-shop`."));
    }

    #[test]
    fn other_work_and_fixed_code_are_no_retries() {
        let again = "gh api repos/acme/web-shop/pulls/7/comments";
        assert!(retries(again, true).is_empty(), "the edit may be the fix");
        assert!(retries("gh pr view 7", false).is_empty());
        assert!(retries("gh api repos/acme/shop/pulls/8/comments", false).is_empty());
        let later = "sleep 9 && gh api repos/acme/shop/pulls/7/comments";
        assert!(retries(later, false).is_empty());
        assert!(retries("gh api repos/acme/shop/pulls/7/comments | head -5", false).is_empty());
    }
}
