//! The title that a person or a model gave the session.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Commit, Evidence, PublicationKind, Title},
        transcript::TitleSource,
    },
    summarize::{
        from_evidence::done::is_bookkeeping,
        text::{pattern, share_of_words, words},
    },
};

/// Prompts after the last commit from which on it does not name the session.
const LATER_PROMPTS: usize = 6;

/// The title that a person or model gave the session. What an agent wrote as a summary line may
/// be another session's: it counts only when it shares its words with the prompts.
pub(super) fn title(evidence: &Evidence) -> Option<&Title> {
    let given = evidence.titles.iter().filter(|title| title.by != TitleSource::Summary);
    if let Some(title) = given.max_by_key(|title| title.by) {
        return Some(title);
    }
    let title = evidence.titles.first()?;
    let said: BTreeSet<String> =
        evidence.prompts.iter().flat_map(|prompt| words(&prompt.text)).collect();
    (share_of_words(&words(&title.text), &said) >= 0.4).then_some(title)
}

/// The subject of the pull request that was opened, or of the newest commit, of whose words the user said
/// at least the share `shared`.
pub(super) fn subject(evidence: &Evidence, shared: f64) -> Option<String> {
    let opened = evidence.publications.iter().rev();
    let opened = opened.filter(|one| one.kind == PublicationKind::PullRequest);
    let opened = opened.filter_map(|one| one.title.clone());
    let is_work = |subject: &String| {
        !pattern!(r"(?i)^(?:merge\b|revert\b|fixup!|wip\b|bump\b|release\b|chore)")
            .is_match(subject)
    };
    // What a sub-agent committed is a part of the work.
    let own = |commit: &&Commit| commit.origin.source == 0 && !is_bookkeeping(commit);
    let commits = evidence.commits.iter().rev().filter(own);
    let commits: Vec<&Commit> = commits.filter(|commit| is_work(&commit.subject)).collect();
    let newest = commits.first().map(|commit| commit.origin);
    let later = evidence.prompts.iter().filter(|prompt| {
        newest.is_some_and(|at| prompt.origin.source == at.source && prompt.origin > at)
    });
    // Where most was asked after the last commit, none names the session.
    let is_passed = later.count() >= LATER_PROMPTS;
    let asked: BTreeSet<String> =
        evidence.prompts.iter().flat_map(|prompt| words(&prompt.text)).collect();
    let share = |subject: &str| {
        let plain = subject.split_once(": ").map_or(subject, |(_, plain)| plain);
        let told = words(plain);
        (share_of_words(&told, &asked), told.intersection(&asked).count())
    };
    let mut committed: Vec<_> =
        commits.iter().map(|commit| (share(&commit.subject), commit.subject.clone())).collect();
    if is_passed {
        committed.clear();
    }
    // Of several commits the one of which the user said most; the newest where no words are needed.
    if shared > 0.0 {
        committed.sort_by_key(|((_, said), _)| std::cmp::Reverse(*said));
    }
    let opened = opened.map(|subject| (share(&subject), subject));
    opened.chain(committed).find(|((share, _), _)| *share >= shared).map(|(_, subject)| subject)
}

/// Whether a title is about what was done: one that a model gave early may name what the user then
/// left alone.
pub(super) fn fits(title: &Title, evidence: &Evidence) -> bool {
    if title.by == TitleSource::User || evidence.commits.is_empty() {
        return true;
    }
    let committed =
        evidence.commits.iter().map(|commit| format!("{} {}", commit.subject, commit.body));
    let files =
        evidence.files.iter().filter(|(_, work)| work.changed()).map(|(path, _)| path.clone());
    let done: BTreeSet<String> = committed.chain(files).flat_map(|text| words(&text)).collect();
    share_of_words(&words(&title.text), &done) >= 0.25
}
