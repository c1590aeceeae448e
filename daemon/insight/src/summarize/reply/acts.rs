//! Checks claims about acts that leave traces outside of the files: pushes, merges, deployments and
//! publications.

use std::sync::Arc;

use regex::Regex;

use crate::{
    model::{
        Evidence,
        evidence::{GitStep, OutsideKind, PublicationKind},
    },
    summarize::reply::session_text::SessionText,
    text::pattern,
};

struct PublishingAct {
    /// The act as a finished action.
    verb: Arc<Regex>,
    /// What a claim must name, because the verb has other meanings: its object or its place. Empty
    /// if the verb has no other meaning.
    object: Arc<Regex>,
    /// The commands of the act.
    command: Arc<Regex>,
    is_recorded: fn(&Evidence) -> bool,
}

/// Returns whether the session shows each act that `claim` states as done: as a step of git, as a
/// change of another system, as a command that succeeded, or in the words of the user or the agent.
pub(super) fn are_shown(claim: &str, evidence: &Evidence, session: &SessionText) -> bool {
    acts().iter().all(|act| {
        !act.object.is_match(claim)
            || !states(claim, &act.verb)
            || (act.is_recorded)(evidence)
            || ran(evidence, &act.command, session)
            || session.dialogue.iter().any(|text| states(text, &act.verb))
    })
}

fn acts() -> [PublishingAct; 4] {
    [
        PublishingAct {
            verb: pattern!(r"(?i)\b(?:force-)?pushed\b"),
            object: pattern!(
                r"(?i)\b(?:commits?|tags?|branch)\b|\b(?:to|on) (?:\S+ )?\W?(?:origin|remote|upstream|github|gitlab|fork|main|master|branch)\b|\b[0-9a-f]{7,40}\b|^pushed\.?$"
            ),
            command: pattern!(
                r"\b(?:(?:git|hg)(?: -\S+(?: \S+)?)* push|jj git push|gt submit|gh pr create)\b"
            ),
            is_recorded: |evidence| {
                let upstream = evidence.checkout.upstream.as_ref();
                has_step(evidence, &[GitStep::Push, GitStep::OpenPullRequest])
                    || upstream.is_some_and(|seen| seen.value.starts_with("up to date"))
            },
        },
        PublishingAct {
            verb: pattern!(r"(?i)\bmerged\b"),
            object: pattern!(
                r"(?i)\b(?:pull requests?|PRs?|MRs?)\b|#\d|\b(?:the|feature|release) branch(?:$|\W? (?:into|to|in|was|is|has)\b)|\b(?:into|to|from|with) (?:the )?\W?(?:main|master|develop|trunk|upstream)(?:\W|$)"
            ),
            command: pattern!(r"\b(?:git (?:\S+ )*(?:merge|pull|rebase)|pr merge|mr merge)\b"),
            is_recorded: |evidence| {
                has_step(evidence, &[GitStep::Merge, GitStep::MergePullRequest])
                    || !evidence.checkout.merged.is_empty()
            },
        },
        PublishingAct {
            verb: pattern!(
                r"(?i)\b(?:(?:re)?deployed|rolled out|(?:shipped|released) (?:\S+ ){0,4}to (?:production|staging|customers|users))\b"
            ),
            object: pattern!(""),
            command: pattern!(
                r"(?i)deploy|\b(?:kubectl|helm|terraform|ansible\S*|rsync|scp|vercel|netlify|fly|flyctl|heroku|pulumi|cdk|sam|docker (?:compose|stack|service|run)|podman|systemctl|wrangler|firebase|gcloud|aws|az|ssh)\b"
            ),
            is_recorded: |evidence| {
                let mut changes = evidence.outside_changes.iter();
                changes.any(|change| change.kind == OutsideKind::System)
            },
        },
        PublishingAct {
            verb: pattern!(r"(?i)\b(?:published|released)\b"),
            object: pattern!(
                r"(?i)\b(?:package|crate|image|extension|npm|pypi|crates\.io|registry|docker hub|marketplace)\b|\bversion \d|\bv?\d+\.\d+\.\d|\bv\d+\.\d"
            ),
            command: pattern!(
                r"(?i)publish|release|upload|\b(?:docker|podman|gem|helm|nuget) push\b|\bgit (?:\S+ )*tag\b|\bpush .*--(?:follow-)?tags"
            ),
            is_recorded: |evidence| {
                let mut texts = evidence.publications.iter();
                texts.any(|text| text.kind == PublicationKind::Release)
                    || !evidence.outside_changes.is_empty()
            },
        },
    ]
}

fn has_step(evidence: &Evidence, steps: &[GitStep]) -> bool {
    evidence.git_events.iter().any(|event| event.succeeded && steps.contains(&event.step))
}

/// Whether a command that matches `command` succeeded. If commands are missing in the evidence
/// because of its limits, it is enough that the session mentions such a command.
fn ran(evidence: &Evidence, command: &Regex, session: &SessionText) -> bool {
    let mut succeeded = evidence.commands.iter().filter(|run| run.outcome.succeeded());
    succeeded.any(|run| command.is_match(&run.command))
        || evidence.commands_left_out > 0 && command.is_match(&session.all)
}

/// Whether a text states the act as done: not denied, not as a condition, not as the property of a
/// thing ("the deployed version"), not as what a program does, and not in a question.
fn states(text: &str, verb: &Regex) -> bool {
    let hedge = pattern!(
        r"(?i)\b(?:not|never|no|nothing|none|nor|neither|without|before|until|once|after|when|if|unless|whether|should|would|will|can|could|must|may|be|needs?|yet)\b|n['’]t\b"
    );
    let article = pattern!(r"(?i)\b(?:the|an?|any|each|every|currently) $");
    let clause_start = pattern!(r"[.,;:!?\n()—]");
    let sentence_end = pattern!(r"[?!\n]|\.(?:\s|$)");
    verb.find_iter(text).any(|found| {
        let (before, after) = (&text[..found.start()], &text[found.end()..]);
        let clause = clause_start.split(before).last().unwrap_or(before);
        let is_question =
            sentence_end.find(after).is_some_and(|end| after[end.start()..].starts_with('?'));
        let is_denied = pattern!(r"^ (?:nothing|no |nowhere|yet)").is_match(after);
        // "The branch is pushed by a script each night" tells how a thing works.
        let is_habit = pattern!(r"^ by (?:an?|the|each|every) ").is_match(after);
        !is_question
            && !is_denied
            && !is_habit
            && !article.is_match(clause)
            && !hedge.is_match(last_words(clause))
    })
}

/// Returns the last four words of a clause, because earlier words rarely belong to its end.
fn last_words(clause: &str) -> &str {
    const WORDS: usize = 4;
    let blank = clause.trim_end().rmatch_indices(' ').nth(WORDS - 1);
    blank.map_or(clause, |(at, _)| &clause[at..])
}
