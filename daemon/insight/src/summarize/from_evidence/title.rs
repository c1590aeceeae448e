//! The title that a person or a model gave the session.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Evidence, Title},
        transcript::TitleSource,
    },
    summarize::text::{share_of_words, words},
};

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
