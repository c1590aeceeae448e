//! Extracts errors with their causes, fixes and verifications, and open errors. Also marks when
//! each error was seen and fixed, and when each command succeeded.

use super::{
    draft::{ClaimDraft, Draft},
    fact_selection, test_runs,
};
use crate::{
    graph::{MINOR, UNCHECKED, text},
    lang::environment,
    model::{
        evidence::{CommandRun, ErrorSeen},
        graph::{Certainty, EntityId, EntityKind, Observation, Relation, Stance, Subject, Watch},
        summary::{ErrorResolution, Outcome},
        transcript::Origin,
        wording::is_filler,
    },
    pattern::pattern,
    report::{Topic, is_phrase},
};

/// Maximum number of words of a cause for which one common word is enough; see [`is_cause_of`].
const MAX_SHORT_CAUSE_WORDS: usize = 4;

pub(super) fn read(draft: &mut Draft<'_>) {
    let (episode, evidence) = (draft.episode, draft.evidence);
    for error in &evidence.errors {
        let subject = subject(draft, &error.message);
        let at = error.at.unwrap_or_else(|| draft.moments.at(error.origin));
        draft.mark(subject, at, Observation::Seen);
        if let Some(resolution) = &error.resolution {
            let at = draft.moments.at(resolution.origin);
            draft.mark(subject, at, Observation::Solved);
        }
    }
    for run in evidence.commands.iter().filter(|run| run.has_worked()) {
        let at = run.at.unwrap_or_else(|| draft.moments.at(run.origin));
        for subject in [command(draft, &run.command), command_in(draft, run)] {
            draft.mark(subject, at, Observation::Succeeded);
        }
    }
    for record in episode.summary.errors_resolved.iter().flatten() {
        resolved(draft, record);
    }
    for error in &evidence.errors {
        if is_open(draft, error) {
            occurs(draft, error);
        }
    }
}

pub(super) fn subject(draft: &Draft<'_>, message: &str) -> Subject {
    draft.subject("error", &key(draft, message))
}

/// Returns the subject of the runs of a command in any place.
pub(super) fn command(draft: &Draft<'_>, command: &str) -> Subject {
    draft.subject("command", &text::command_key(command))
}

/// Returns the subject of the runs of the command of `run` in the same place.
fn command_in(draft: &Draft<'_>, run: &CommandRun) -> Subject {
    let key = test_runs::in_place(&text::command_key(&run.command), &run.place);
    draft.subject("command in", &key)
}

/// Returns the subject of the attempt that reported an error: its command in its place. If the
/// place is not known, any place counts.
fn attempted(draft: &Draft<'_>, error: &ErrorSeen) -> Subject {
    let run = draft.command_at(&error.attempt, error.origin);
    run.map_or_else(|| command(draft, &error.attempt), |run| command_in(draft, run))
}

/// Returns the subject of the user's statements that an earlier fix failed.
pub(super) fn fix(draft: &Draft<'_>) -> Subject {
    draft.subject("fix", "")
}

fn entity(draft: &mut Draft<'_>, message: &str) -> EntityId {
    let key = key(draft, message);
    draft.mention(EntityKind::Error, &key, message)
}

/// Returns the key of an error. A message such as `3 tests failed` does not identify an error, so
/// the key then contains the id of the session.
fn key(draft: &Draft<'_>, message: &str) -> String {
    let key = text::error_key(message.trim_end_matches('…'));
    if text::is_specific_error(&key) { key } else { format!("{key}\n{}", draft.episode.session_id) }
}

/// Shortens each command that contains a gap (`…`), so that it ends before the gap. If the gap is
/// in a later command of a command line, keeps only the first command.
fn without_gaps(text: &str) -> String {
    let chain = pattern!(r"`([^`]{4,}?) && [^`]* … [^`]*`");
    let gap = pattern!(r"`([^`]{4,}?) … [^`]*`");
    gap.replace_all(&chain.replace_all(text, "`$1` and more"), "`$1 …`").into_owned()
}

fn resolved(draft: &mut Draft<'_>, record: &ErrorResolution) {
    let seen = seen(draft, record);
    // A fix by another agent of the session belongs to the task of that agent.
    let resolution = seen.and_then(|seen| {
        let resolution = seen.resolution.as_ref()?;
        (resolution.origin.source == seen.origin.source).then_some(resolution)
    });
    let is_joined = seen.is_some() && resolution.is_none();
    let origins: Vec<Origin> = match (seen, resolution) {
        (Some(seen), Some(resolution)) => vec![seen.origin, resolution.origin],
        _ => draft.sentence_index.of(&record.error).map(|found| found.origin).into_iter().collect(),
    };
    let last = resolution.map(|resolution| resolution.origin).or(origins.last().copied());
    let at = last.map_or(draft.episode.ended_at, |origin| draft.moments.at(origin));
    let is_checked = match draft.is_from_evidence() {
        true => fact_selection::is_verified(record),
        false => resolution.is_some(),
    };
    let message = seen.map_or(record.error.as_str(), |seen| seen.message.as_str());
    // The entity has the key of the subject, so that both are found by the message.
    let (key, subject) = (key(draft, message), subject(draft, message));
    let source = draft.mention(EntityKind::Error, &key, &record.error);
    let files = resolution.map_or(&[] as &[String], |resolution| &resolution.files);
    let others: Vec<EntityId> = files.iter().filter_map(|file| draft.file(file)).collect();
    let target = others.first().copied().unwrap_or(draft.project);
    let is_cause = !draft.is_from_evidence()
        || is_cause_of(record, files)
        || seen.is_some_and(|seen| is_only_error(draft, seen));
    let cause = if is_cause { record.root_cause.as_str() } else { "" };
    if draft.is_from_evidence() && (is_joined || is_phrase(Topic::ErrorRemark, &record.error)) {
        // Either another agent fixed the error, and the marks already record this fix, or the text
        // is a remark of the user that does not describe the error.
        return;
    }
    let is_minor = draft.is_from_evidence() && !is_worth_showing(record, seen, cause);
    let verification = without_gaps(&record.verification);
    let parts = parts(record, cause, &verification);
    let mut sentence = sentence(&parts);
    if draft.is_from_evidence() && !is_checked && has_content(&record.fix) {
        sentence = format!("{sentence} {UNCHECKED}");
    }
    let about = text::topic_words(&format!("{message} {}", record.fix));
    let watches = watches(draft, subject, about, seen.filter(|_| !is_checked));
    draft.claim(
        Relation::Resolved,
        source,
        target,
        ClaimDraft {
            detail: text::plain(&record.fix),
            sentence,
            certainty: Some(if is_checked { Certainty::Verified } else { Certainty::Hypothesis }),
            at: Some(at),
            origins,
            watches,
            others: others.into_iter().chain([draft.task]).collect(),
            details: details(&parts, is_minor),
            ..ClaimDraft::default()
        },
    );
}

/// Whether a resolution is worth showing: it is specific, and its fix is not only a guess from the
/// changed files for an error that no run shows.
fn is_worth_showing(record: &ErrorResolution, seen: Option<&ErrorSeen>, cause: &str) -> bool {
    let is_guess = seen.is_none() && record.fix.starts_with("Changed `");
    let attempt = seen.map(|error| error.attempt.as_str());
    !is_guess && fact_selection::is_resolution(record, cause, attempt)
}

/// Whether a field of a resolution is neither empty nor a filler such as `not stated`.
fn has_content(text: &str) -> bool {
    !text.is_empty() && !is_filler(text)
}

/// A part of the text about a resolution: its name, its label and its text.
type ResolutionPart<'r> = (&'static str, &'static str, &'r str);

fn parts<'r>(
    record: &'r ErrorResolution,
    cause: &'r str,
    verification: &'r str,
) -> Vec<ResolutionPart<'r>> {
    let parts = [
        ("error", "", record.error.as_str()),
        ("root_cause", "Cause: ", cause),
        ("fix", "Fix: ", record.fix.as_str()),
        ("verification", "Verified by: ", verification),
    ];
    parts.into_iter().filter(|(.., text)| has_content(text)).collect()
}

fn sentence(parts: &[ResolutionPart<'_>]) -> String {
    let sentences = parts.iter().map(|(_, label, text)| format!("{label}{}", text::sentence(text)));
    sentences.collect::<Vec<_>>().join(" ")
}

fn details(parts: &[ResolutionPart<'_>], is_minor: bool) -> Vec<(String, String)> {
    let details = parts.iter().map(|(name, _, text)| (*name, *text));
    let details = details.chain(is_minor.then_some((MINOR, "true")));
    details.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// Returns the watches of a resolution. The resolution ends if the error comes back, or if the user
/// reports a failed fix and most words of this report are in `about`. `unverified` is the error if
/// no run verified its fix yet.
fn watches(
    draft: &Draft<'_>,
    error: Subject,
    about: Vec<u64>,
    unverified: Option<&ErrorSeen>,
) -> Vec<Watch> {
    let mut watches = vec![
        Watch { subject: error, stance: Stance::Gone },
        Watch { subject: fix(draft), stance: Stance::NamedBy(about) },
    ];
    let confirming = unverified.map(|error| confirmations(draft, error)).unwrap_or_default();
    let supposed = |subject| Watch { subject, stance: Stance::Supposed };
    watches.extend(confirming.into_iter().map(supposed));
    watches
}

/// Returns the subjects whose success confirms a fix of `error` that no run verified: the attempt
/// that reported the error and, if this attempt ran tests, a run of all tests of this suite.
fn confirmations(draft: &Draft<'_>, error: &ErrorSeen) -> Vec<Subject> {
    let mut runs = draft.evidence.tests.iter();
    let tests = runs.rfind(|run| run.command == error.attempt && run.origin <= error.origin);
    let tested = tests.map(|run| test_runs::tested(draft, run));
    tested.into_iter().chain([attempted(draft, error)]).collect()
}

/// Whether the cause has words in common with the error, its fix or the changed files: two words,
/// or one word if the cause is short. All errors of a turn get the causes that the agent reports in
/// this turn, so a cause may belong to another error.
fn is_cause_of(record: &ErrorResolution, changed: &[String]) -> bool {
    let about = format!("{} {} {}", record.error, record.fix, changed.join(" "));
    let about = text::topic_words(&about);
    let cause_words = text::topic_words(&record.root_cause);
    let common = cause_words.iter().filter(|word| about.contains(word)).count();
    cause_words.is_empty()
        || common >= 2
        || cause_words.len() <= MAX_SHORT_CAUSE_WORDS && common == 1
}

/// Whether no other error was seen from the prompt before `seen` until its fix.
fn is_only_error(draft: &Draft<'_>, seen: &ErrorSeen) -> bool {
    let Some(resolution) = &seen.resolution else { return false };
    let start = draft.evidence.prompts.iter().rfind(|prompt| seen.origin.follows(prompt.origin));
    let is_between = |origin: Origin| {
        start.is_none_or(|start| origin.follows(start.origin)) && resolution.origin.follows(origin)
    };
    draft.evidence.errors.iter().filter(|error| is_between(error.origin)).count() == 1
}

/// Returns the last resolved error in the evidence whose message begins like the message of
/// `record`.
fn seen<'e>(draft: &Draft<'e>, record: &ErrorResolution) -> Option<&'e ErrorSeen> {
    let key = text::error_key(record.error.trim_end_matches('…'));
    let start: String = key.chars().take(60).collect();
    let errors = draft.evidence.errors.iter().filter(|error| error.resolution.is_some());
    errors
        .rev()
        .find(|error| text::error_key(&error.message).starts_with(&start) && !start.is_empty())
}

/// Whether an error is unresolved at the end of an uncompleted session. An error that was seen only
/// once must also have a stated cause. Denials by the environment do not count.
fn is_open(draft: &Draft<'_>, error: &ErrorSeen) -> bool {
    let is_over = matches!(draft.episode.summary.outcome, Outcome::Completed);
    error.resolution.is_none()
        && (error.times > 1 || error.cause.is_some())
        && !is_over
        && !environment::is_denied_by_environment(&error.message)
}

fn occurs(draft: &mut Draft<'_>, error: &ErrorSeen) {
    let message = text::cut(error.message.trim(), 240);
    let attempt = text::cut(&text::command_key(&error.attempt), 120);
    let supposed =
        error.cause.as_deref().map(|cause| format!(" Supposed cause: {}", text::sentence(cause)));
    let (source, gone) = (entity(draft, &error.message), subject(draft, &error.message));
    let command = attempted(draft, error);
    let mut details = vec![("attempt".to_owned(), attempt.clone())];
    if draft.is_from_evidence() && error.cause.is_none() {
        // An error without a stated cause is listed only on demand.
        details.push((MINOR.to_owned(), "true".to_owned()));
    }
    let watches = [gone, command].map(|subject| Watch { subject, stance: Stance::Broken });
    draft.claim(
        Relation::Occurs,
        source,
        draft.project,
        ClaimDraft {
            sentence: format!(
                "{} Occurs in `{attempt}`.{}",
                text::sentence(&message),
                supposed.unwrap_or_default()
            ),
            certainty: Some(Certainty::Verified),
            at: error.at,
            origins: vec![error.origin],
            watches: watches.to_vec(),
            others: vec![draft.task],
            details,
            ..ClaimDraft::default()
        },
    );
}
