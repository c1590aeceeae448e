//! Finds plans that were given up, and fixes that failed: the same error came back, or the user
//! said that something still fails.

use std::{borrow::Cow, collections::BTreeSet};

use crate::{
    model::{
        evidence::{Commit, Evidence, Quote, Statement, StatementKind},
        transcript::Origin,
    },
    report::retraction,
    text::{pattern, share_of_words, words},
};

/// Maximum length, in bytes, of a prompt that says that something still fails.
const COMPLAINT: usize = 240;

/// A part of a session whose work did not fix a problem. The part is between two pastes of the same
/// error by the user, or between two prompts of which the second says that something still fails.
pub(crate) struct Span<'e> {
    begin: Origin,
    end: Origin,
    /// The error; `None` if the user only said that something still fails.
    error: Option<&'e str>,
}

impl Span<'_> {
    pub(crate) fn holds(&self, origin: Origin) -> bool {
        origin.source == self.begin.source
            && (self.begin.line..self.end.line).contains(&origin.line)
    }
}

/// Returns the parts of the session whose fixes failed.
pub(crate) fn spans(evidence: &Evidence) -> Vec<Span<'_>> {
    let pasted = &evidence.pasted_errors;
    let mut found: Vec<Span<'_>> = Vec::new();
    for (at, error) in pasted.iter().enumerate() {
        let again = pasted[at + 1..].iter().find(|later| is_same(error, later));
        found.extend(again.map(|again| Span {
            begin: error.origin,
            end: again.origin,
            error: Some(error.text.as_str()),
        }));
    }
    let pairs = evidence.prompts.windows(2);
    let refused = pairs.filter(|pair| says_it_still_fails(&pair[1].text));
    found.extend(refused.map(|pair| Span {
        begin: pair[0].origin,
        end: pair[1].origin,
        error: None,
    }));
    found
}

/// Whether two errors differ only in numbers.
fn is_same(error: &Quote, other: &Quote) -> bool {
    let shape = |error: &Quote| pattern!(r"\d+").replace_all(&error.text, "#").to_lowercase();
    shape(error) == shape(other)
}

pub(crate) fn says_it_still_fails(prompt: &str) -> bool {
    prompt.len() <= COMPLAINT
        && pattern!(
            r"(?i)^(?:(?:no|nope|hmm+|nah|sorry|ok|okay|well|unfortunately),? ?(?:but )?)*(?:(?:it(?:'s| is| does)?|that(?:'s| is)?|this(?: is)?|i(?:'m| am)?) )?(?:still (?:fails?|failing|broken|not (?:working|fixed)|doesn't work|does not work|the same|getting (?:the|this|that|an?) (?:same )?error|crashes|crashing)\b|same (?:error|issue|problem|failure)\b|(?:didn't|did not) (?:work|fix|help)\b)"
        )
        .is_match(prompt.trim_start())
}

/// Whether the user says after `at` that a thing did not work, such as `turns out http2 didnt
/// work`, and the agent's text names this thing. The thing must have a digit, a mark or a capital
/// within its name, because other names are words of the language, too.
pub(crate) fn is_about_denied_thing(evidence: &Evidence, text: &str, at: Origin) -> bool {
    let denied = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(at));
    let mut denied = denied.filter_map(|prompt| denied_thing(&prompt.text));
    let is_undone = pattern!(r"(?i)\b(?:remov|revert|dropp|replac)(?:ed|es|ing)\b").is_match(text);
    !is_undone && denied.any(|thing| text.split_whitespace().any(|word| letters_of(word) == thing))
}

/// Returns the letters and digits of the name of the thing that did not work, according to the
/// user.
fn denied_thing(prompt: &str) -> Option<String> {
    let start = &prompt[..prompt.floor_char_boundary(COMPLAINT)];
    let found = pattern!(
        r"(?i)\bturns out (?:that )?(?:the )?`?([\w./+-]+)`? (?:did|does|do|is|was)(?: ?n.?t| not) (?:work|help|supported|exist)\w*\b"
    )
    .captures(start)?;
    let is_name = pattern!(r"\d|[_./+-]\w|[a-z][A-Z]").is_match(&found[1]);
    is_name.then(|| letters_of(&found[1]))
}

fn letters_of(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a commit about a problem failed to fix it: after the commit, the user pasted the same
/// error again, or said that something still fails, and [`is_tried_again`] holds.
pub(crate) fn did_not_fix(evidence: &Evidence, spans: &[Span<'_>], commit: &Commit) -> bool {
    let subject = words(&commit.subject);
    let is_fix = pattern!(r"(?i)\bfix(?:e[sd]|ing)?\b").is_match(&commit.subject);
    spans.iter().filter(|span| span.holds(commit.origin)).any(|span| match span.error {
        Some(error) => is_fix || words(error).intersection(&subject).count() >= 2,
        None => is_fix && is_tried_again(evidence, span, &subject),
    })
}

/// Whether the first commit after a complaint is about the same matter as the commit before the
/// complaint. Also true if no commit follows. A commit about another matter shows that something
/// else failed.
fn is_tried_again(evidence: &Evidence, span: &Span<'_>, subject: &BTreeSet<String>) -> bool {
    let mut commits = evidence.commits.iter();
    let next = commits.find(|commit| {
        commit.origin.source == span.end.source && commit.origin.line >= span.end.line
    });
    next.is_none_or(|next| words(&next.subject).intersection(subject).count() >= 2)
}

/// Whether a commit contains a plan that the user or the agent gave up later.
pub(crate) fn is_superseded_plan(evidence: &Evidence, commit: &Commit) -> bool {
    let prompts = evidence.prompts.iter().map(|prompt| (prompt.origin, prompt.text.as_str()));
    let reports = evidence.reports.iter().map(|report| (report.origin, report.text.as_str()));
    pattern!(r"(?i)\bplans?\b").is_match(&commit.subject)
        && prompts
            .chain(reports)
            .any(|(origin, text)| origin.follows(commit.origin) && gives_a_plan_up(text))
}

fn gives_a_plan_up(text: &str) -> bool {
    pattern!(
        r"(?i)\bre-?plan(?:ning|ned)?\b|\bpivot(?:ed|ing)? (?:to|from|away)\b|\bpivot\)|\barchitectural pivot\b|\bplans? (?:is|are|was|were) (?:now )?(?:obsolete|outdated|superseded|no longer valid)\b|\bapproach (?:is|was) (?:rejected|dropped)\b|\bstart (?:over|from scratch) with the plan"
    )
    .is_match(text)
}

/// Returns the evidence without the causes and the claims of finished work that the agent stated
/// between an error and its return, and without causes and discoveries that were retracted.
pub(crate) fn without_refuted_statements(evidence: &Evidence) -> Cow<'_, Evidence> {
    let spans = spans(evidence);
    let has_returned = |origin| spans.iter().any(|span| span.error.is_some() && span.holds(origin));
    let is_refuted = |one: &Statement| match one.kind {
        StatementKind::Cause => has_returned(one.origin) || is_retracted(evidence, one),
        StatementKind::Done => has_returned(one.origin),
        StatementKind::Discovery | StatementKind::Remembered => is_retracted(evidence, one),
        _ => false,
    };
    let refuted: Vec<bool> = evidence.statements.iter().map(is_refuted).collect();
    if !refuted.contains(&true) {
        return Cow::Borrowed(evidence);
    }
    let mut plain = evidence.clone();
    let mut refuted = refuted.into_iter();
    plain.statements.retain(|_| !refuted.next().unwrap_or_default());
    Cow::Owned(plain)
}

fn is_retracted(evidence: &Evidence, statement: &Statement) -> bool {
    let share = |other: &str| share_of_words(&words(&statement.text), &words(other));
    !statement.text.starts_with("User: ")
        && retraction::is_retracted(evidence, statement.origin, &share)
}

/// Returns the errors that the user pasted more than once, with the number of pastes, if no prompt
/// followed.
pub(crate) fn returned_errors(evidence: &Evidence) -> Vec<(&Quote, usize)> {
    let pasted = &evidence.pasted_errors;
    let mut found: Vec<(&Quote, usize)> = Vec::new();
    for (at, error) in pasted.iter().enumerate() {
        let is_last = !pasted[at + 1..].iter().any(|later| is_same(error, later));
        let times = pasted.iter().filter(|other| is_same(error, other)).count();
        // If the user continued with another prompt, the fix probably worked.
        let has_later_prompt =
            evidence.prompts.iter().any(|prompt| prompt.origin.line > error.origin.line);
        if is_last && times >= 2 && !has_later_prompt {
            found.push((error, times));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::Outcome,
        summarize::{
            evidence::scenarios::Script, from_evidence::request::wording_scenarios::summary,
        },
    };

    const PASTED: &str = "❯ ./run.sh\n158.6 npm error Exit handler never called!\n";

    fn twice() -> Script {
        let mut script = Script::default();
        script.prompt("Build the container");
        script.prompt(PASTED);
        script.edit("c1", "/app/Containerfile", "ci", "install");
        script.run(
            "c2",
            "git commit -qam 'Fix npm ci failure in container'",
            Outcome::Succeeded,
            "[main 0bc41d9] Fix npm ci failure in container\n",
        );
        script.reply("m1", "Fixed! The issue was a bug of `npm ci`.\n\n- Changed to `npm install`\n\nThis should work now.");
        script.prompt(PASTED);
        script.run(
            "c3",
            "git commit -qam 'Update npm'",
            Outcome::Succeeded,
            "[main bb3e424] Update npm\n",
        );
        script.reply("m2", "Try again. This should fix it.");
        script
    }

    #[test]
    fn an_error_that_returns_refutes_its_fix() {
        let evidence = twice().collect();
        let refuted: Vec<bool> = evidence
            .commits
            .iter()
            .map(|commit| did_not_fix(&evidence, &spans(&evidence), commit))
            .collect();
        assert_eq!(refuted, [true, false]);
        let returned = returned_errors(&evidence);
        assert_eq!((returned.len(), returned[0].1), (1, 2));
    }

    #[test]
    fn a_thing_that_did_not_work_is_found_by_its_name() {
        for (prompt, text, wanted) in [
            ("hi! turns out http2 didnt work. can u use httpx?", "HTTP/2 is enabled now.", true),
            ("turns out `read_all` does not work", "Added `read_all()`, which is fast.", true),
            ("turns out http2 didnt work", "Removed HTTP/2 from the client again.", false),
            ("turns out http2 didnt work", "The pool has 12 connections.", false),
            ("turns out http2 works", "HTTP/2 is enabled now.", false),
            ("turns out CI does not work", "Added a cache to CI.", false),
            ("turns out the UI does not work on phones", "The UI has two lists.", false),
            ("turns out useList does not work", "Added `useList` to the page.", true),
            ("turns out it did not help", "It is enabled now.", false),
            ("why does http2 not work?", "HTTP/2 is enabled now.", false),
        ] {
            let mut script = Script::default();
            script.prompt("Make the download fast");
            script.reply("m1", text);
            script.prompt(prompt);
            let evidence = script.collect();
            let at = evidence.reports[0].origin;
            assert_eq!(is_about_denied_thing(&evidence, text, at), wanted, "{prompt}");
        }
    }

    #[test]
    fn an_error_that_the_user_no_longer_mentions_is_not_open() {
        let mut script = twice();
        script.prompt("Great, now add a test");
        assert!(returned_errors(&script.collect()).is_empty());
    }

    #[test]
    fn a_complaint_about_another_failure_does_not_refute_the_fix() {
        let refuted = |next: &'static str, printed: &'static str| {
            let mut script = Script::default();
            script.prompt("The browser tests fail");
            script.run(
                "c1",
                "git commit -qam 'Fix the format of keys'",
                Outcome::Succeeded,
                "[main 1a2b3c4] Fix the format of keys\n",
            );
            script.reply("m1", "Pushed.");
            script.prompt("still failing");
            script.run("c2", next, Outcome::Succeeded, printed);
            let evidence = script.collect();
            did_not_fix(&evidence, &spans(&evidence), &evidence.commits[0])
        };
        assert!(!refuted(
            "git commit -qam 'Fix the stale list'",
            "[main 5d6e7f8] Fix the stale list\n"
        ));
        assert!(refuted(
            "git commit -qam 'Fix the other format of keys'",
            "[main 5d6e7f8] Fix the other format of keys\n"
        ));
    }

    #[test]
    fn complaints_are_distinguished_from_other_prompts() {
        for prompt in [
            "still not working",
            "No, it's still failing on CI",
            "hmm same error",
            "that didn't fix it",
        ] {
            assert!(says_it_still_fails(prompt), "{prompt}");
        }
        for prompt in
            ["is it still needed?", "we still want the list", "the same for the other file"]
        {
            assert!(!says_it_still_fails(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_cause_that_the_user_refuted_is_not_told() {
        let found = |objection: &'static str, answer: &'static str| {
            let mut script = Script::default();
            script.prompt("Users are logged out after each deploy, find the cause");
            script.reply("m1", "**Cause:** the cookie is set with `sameSite: lax`, so the browser drops it. I recommend `sameSite: none` with `secure: true`.");
            script.prompt(objection);
            script.reply("m2", answer);
            script.prompt("Then keep the sessions in Redis");
            script.edit("a", "/app/server.ts", "memory", "redis");
            script.reply("m3", "The sessions are in Redis now.");
            format!("{:?}", summary(&script))
        };
        for (objection, answer, is_told) in [
            (
                "no thats not it, login works, only a deploy kills the session",
                "You're right. `server.ts` passes no store, so every restart loses all sessions.",
                false,
            ),
            (
                "are the sessions in memory?",
                "Yes. My theory about `sameSite` and the cookie was wrong: every restart loses all sessions.",
                false,
            ),
            ("ok, and where is it set?", "In `server.ts`, in the options of the session.", true),
        ] {
            let found = found(objection, answer);
            assert_eq!(found.contains("sameSite: lax"), is_told, "{objection}: {found}");
        }
    }
}
