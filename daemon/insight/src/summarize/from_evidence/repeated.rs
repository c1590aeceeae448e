//! Removes the texts of a summary that another field of the summary repeats.

use std::collections::BTreeSet;

use crate::{
    model::{
        summary::{DecisionRecord, EnhancedSessionSummary, ErrorResolution},
        wording::{USER_REPORTED, USERS_WORDS, is_filler, without_source},
    },
    summarize::from_evidence::some,
    text::{pattern, same_words, sentences, share_of_words, words},
};

/// An entry repeats another field if that field contains at least this share of the entry's words.
const REPEATED: f64 = 0.85;

/// A discovery repeats a next step that contains at least this share of the discovery's words.
const OPEN: f64 = 0.6;

/// A discovery repeats a decision, a completed task or an earlier discovery that contains at least
/// this share of its words. Two lines about the same thing share fewer words than two copies.
const REPEATED_DISCOVERY: f64 = 0.6;

/// Minimum number of different words of a discovery that can repeat another entry.
const MIN_DISCOVERY_WORDS: usize = 6;

/// The last words repeat an item of a commit's description if they contain at least this share of
/// the item's words.
const REPEATED_ITEM: f64 = 0.7;

/// Minimum number of different words of an item of a list that can repeat another text.
const MIN_ITEM_WORDS: usize = 3;

/// Removes discoveries that repeat the cause of a resolved error.
pub(super) fn remove_causes(summary: &mut EnhancedSessionSummary) {
    let Some(found) = &mut summary.discoveries else { return };
    let errors = summary.errors_resolved.as_deref().unwrap_or_default();
    found.retain(|one| !errors.iter().any(|error| same_words(one, &error.root_cause)));
    if found.is_empty() {
        summary.discoveries = None;
    }
}

/// Removes texts that another field repeats:
/// - quoted decisions of the user that repeat the objective,
/// - completed tasks that repeat a decision or the last words,
/// - discoveries that repeat the last words, a next step, a decision, a completed task or an
///   earlier discovery,
/// - the end of the last words, if it repeats a next step,
/// - unverified errors whose fix only lists changed files, if a task, a discovery or the last words
///   contain their cause.
pub(super) fn remove_texts(summary: &mut EnhancedSessionSummary) {
    remove_decisions_in_objective(summary);
    remove_tasks_in_decisions(summary);
    remove_steps_in_last_words(summary);
    let ended = words(summary.last_words.as_deref().unwrap_or_default());
    remove_explained_errors(summary, &ended);
    for list in [&mut summary.completed_tasks, &mut summary.discoveries].into_iter().flatten() {
        list.retain(|one| share_of_words(&words(without_source(one)), &ended) < REPEATED);
    }
    let open: Vec<_> = summary.next_steps.iter().flatten().map(|step| words(step)).collect();
    if let Some(found) = &mut summary.discoveries {
        found.retain(|one| {
            let one = words(without_source(one));
            !open.iter().any(|step| share_of_words(&one, step) >= OPEN)
        });
    }
    remove_repeated_discoveries(summary);
    summary.completed_tasks = summary.completed_tasks.take().and_then(some);
    summary.discoveries = summary.discoveries.take().and_then(some);
    summary.key_decisions = summary.key_decisions.take().and_then(some);
}

fn remove_repeated_discoveries(summary: &mut EnhancedSessionSummary) {
    let mut known = decided_words(summary);
    known.extend(summary.completed_tasks.iter().flatten().map(|task| words(task)));
    let Some(found) = &mut summary.discoveries else { return };
    found.retain(|one| {
        // Two commands that failed share many words. The fix of a reported problem does, too.
        let is_kept = one.ends_with("` worked") || one.starts_with(USER_REPORTED);
        let one = words(without_source(one));
        let is_new = is_kept
            || one.len() < MIN_DISCOVERY_WORDS
            || !known.iter().any(|other| share_of_words(&one, other) >= REPEATED_DISCOVERY);
        if is_new {
            known.push(one);
        }
        is_new
    });
}

/// Returns the words of each decision with its rationale.
fn decided_words(summary: &EnhancedSessionSummary) -> Vec<BTreeSet<String>> {
    let decided = summary.key_decisions.iter().flatten();
    decided.map(|one| words(&format!("{} {}", one.decision, one.rationale))).collect()
}

fn remove_decisions_in_objective(summary: &mut EnhancedSessionSummary) {
    let objective = words(&summary.objective);
    let is_asked = |text: &str| {
        let quote = text.strip_prefix("User: ").unwrap_or(text);
        share_of_words(&words(quote), &objective) >= REPEATED
    };
    // A quote about a refused call is kept, because its rationale contains this call, too.
    let is_quote = |one: &DecisionRecord| {
        one.rationale.starts_with(USERS_WORDS)
            && !one.rationale.starts_with(&format!("{USERS_WORDS}, on a proposed"))
    };
    if let Some(decisions) = &mut summary.key_decisions {
        decisions.retain(|one| !(is_quote(one) && is_asked(&one.decision)));
    }
}

fn remove_tasks_in_decisions(summary: &mut EnhancedSessionSummary) {
    let decided = decided_words(summary);
    if let Some(done) = &mut summary.completed_tasks {
        done.retain(|one| {
            !decided.iter().any(|known| share_of_words(&words(one), known) >= REPEATED)
        });
    }
}

fn remove_steps_in_last_words(summary: &mut EnhancedSessionSummary) {
    let steps = summary.next_steps.as_deref().unwrap_or_default();
    summary.last_words = summary.last_words.take().map(|text| {
        let all = sentences(&text);
        let is_new = |sentence: &&str| !steps.iter().any(|step| same_words(step, sentence));
        match all.iter().rposition(is_new) {
            Some(last) if last + 1 < all.len() => all[..=last].join(" "),
            _ => text,
        }
    });
}

/// Removes unverified errors whose fix only lists changed files, if a task, a discovery or the last
/// words, `ended`, contain their cause. Such an error adds little to its cause.
fn remove_explained_errors(summary: &mut EnhancedSessionSummary, ended: &BTreeSet<String>) {
    let texts = [&summary.completed_tasks, &summary.discoveries].into_iter().flatten().flatten();
    let mut texts: Vec<_> = texts.map(|one| words(one)).collect();
    texts.push(ended.clone());
    let is_explained = |error: &ErrorResolution| {
        let cause = words(&error.root_cause);
        texts.iter().any(|other| share_of_words(&cause, other) >= REPEATED)
            && error.fix.starts_with("Changed ")
            && is_filler(&error.verification)
    };
    if let Some(errors) = &mut summary.errors_resolved {
        errors.retain(|error| !is_explained(error));
    }
    summary.errors_resolved = summary.errors_resolved.take().and_then(some);
}

/// Removes the items of lists in completed tasks and discoveries that repeat the last words, a
/// commit, a decision or the cause of an error, and the items of commits that repeat the last
/// words. Removes the sentences of completed tasks that are an open step or a known failure.
/// Removes an entry of which only the number of further items is left, and an entry that only links
/// to a pull request that has its own entry.
pub(super) fn remove_items(summary: &mut EnhancedSessionSummary) {
    let mut known: Vec<BTreeSet<String>> =
        summary.last_words.iter().map(|one| words(one)).collect();
    known.extend(decided_words(summary));
    let errors = summary.errors_resolved.iter().flatten();
    known.extend(errors.map(|one| words(&format!("{} {}", one.root_cause, one.fix))));
    let steps = summary.next_steps.iter().chain(&summary.known_failures).flatten();
    let own_entries: Vec<&str> = steps.map(String::as_str).collect();
    let tasks = summary.completed_tasks.iter().flatten();
    let tasks = tasks.filter_map(|task| without_sentences(task, &own_entries));
    let (own, reported): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|task| is_own_entry(task));
    known.extend(own.iter().map(|task| words(task)));
    let ended = known.first().filter(|_| summary.last_words.is_some()).cloned();
    let own: Vec<String> =
        own.iter().map(|task| without_repeated_items(task, ended.as_ref())).collect();
    let links: Vec<String> = own.iter().filter_map(|task| Some(link(task)?.to_owned())).collect();
    let shorten =
        |entry: String| without_known(&entry, &known).filter(|left| !only_links(left, &links));
    let mut tasks = own;
    tasks.extend(reported.into_iter().filter_map(shorten));
    summary.completed_tasks = some(tasks);
    let found = summary.discoveries.take().into_iter().flatten();
    summary.discoveries = some(found.filter_map(shorten).collect());
}

/// Returns a completed task without the sentences that have their own entry, such as an open step.
fn without_sentences(task: &str, own_entries: &[&str]) -> Option<String> {
    let label =
        pattern!(r"(?i)^(?:still |left )?(?:to ?do|next|tomorrow|open|remaining)[^:]{0,20}: ");
    let has_entry = |sentence: &&str| {
        let step = label.replace(sentence, "");
        own_entries.iter().any(|own| same_words(own, sentence) || same_words(own, &step))
    };
    let all = sentences(task);
    if all.len() < 2 || !all.iter().any(has_entry) {
        return Some(task.to_owned());
    }
    let kept: Vec<&str> = all.into_iter().filter(|one| !has_entry(one)).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Returns a commit without the items of its description that the last words, `ended`, contain.
fn without_repeated_items(task: &str, ended: Option<&BTreeSet<String>>) -> String {
    let is_repeated = |text: &str| {
        ended.is_some_and(|ended| share_of_words(&words(text), ended) >= REPEATED_ITEM)
    };
    let hash = task.find(" (commit `").unwrap_or(task.len());
    let Some(end) = task[hash..].find("`): ").map(|end| hash + end) else { return task.to_owned() };
    let (commit, point) = (&task[..end], &task[end + "`): ".len()..]);
    let items = items(point);
    let kept: Vec<&str> = items.iter().copied().filter(|item| !is_repeated(item)).collect();
    match kept.is_empty() {
        true => format!("{commit}`)"),
        false => format!("{commit}`): {}", kept.join("; ")),
    }
}

/// Whether a completed task is a commit or a pull request.
fn is_own_entry(task: &str) -> bool {
    task.contains("(commit `") || task.starts_with("Pull request")
}

/// Returns an entry without the items that repeat a known text. The label before the first item
/// stays. An entry without a list is returned unchanged, and so is a list whose label counts its
/// items.
fn without_known(entry: &str, known: &[BTreeSet<String>]) -> Option<String> {
    let (label, list) = match entry.split_once(": ") {
        Some((label, list)) if !label.contains("; ") => (Some(label), list),
        _ => (None, entry),
    };
    let items = items(list);
    let counts_items = pattern!(
        r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both|[0-9]+) "
    );
    if items.len() < 2 || label.is_some_and(|label| counts_items.is_match(label)) {
        return Some(entry.to_owned());
    }
    let is_new = |item: &&&str| {
        let item = words(item);
        item.len() < MIN_ITEM_WORDS
            || !known.iter().any(|other| share_of_words(&item, other) >= REPEATED)
    };
    let kept: Vec<&str> = items.iter().filter(is_new).copied().collect();
    if kept.len() == items.len() {
        return Some(entry.to_owned());
    }
    let says_something = kept.iter().any(|item| words(item).len() >= MIN_ITEM_WORDS);
    says_something.then(|| match label {
        Some(label) => format!("{label}: {}", kept.join("; ")),
        None => kept.join("; "),
    })
}

/// Splits a list at the semicolons outside of back quotes and brackets.
fn items(list: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut start = 0;
    for (at, _) in list.match_indices("; ") {
        let count = |mark: char| list[start..at].matches(mark).count();
        let is_in_brackets = count('(') > count(')') && list[at..].contains(')');
        if count('`').is_multiple_of(2) && !is_in_brackets {
            items.push(&list[start..at]);
            start = at + 2;
        }
    }
    items.push(&list[start..]);
    items
}

/// Returns the address of a pull request in a text.
fn link(text: &str) -> Option<&str> {
    pattern!(r"https?://[^\s)>`]+/(?:pull|merge_requests)/[0-9]+")
        .find(text)
        .map(|found| found.as_str())
}

/// Whether an entry is only about the address of a pull request that has its own entry.
fn only_links(entry: &str, links: &[String]) -> bool {
    link(entry).is_some_and(|own| links.iter().any(|known| known == own))
        && pattern!(r"(?i)^(?:(?:(?:opened|created) )?(?:the |a )?(?:draft )?(?:pr|pull request|mr|merge request)(?: #?[0-9]+)?(?: is)?(?: (?:opened|created|open|up|ready))?:? *)?\[?\S*https?://\S+[.)]*$")
            .is_match(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_that_another_text_repeats_is_removed() {
        let known = [words("Add the sorted index of names and its test")];
        for (entry, wanted) in [
            (
                "Parser: Added the sorted index of names; Reads the dates of each row",
                Some("Parser: Reads the dates of each row"),
            ),
            ("Added the sorted index of names; +2 more", None),
            ("Added the sorted index of names", Some("Added the sorted index of names")),
            (
                "Runs `a; sorted index names` and waits",
                Some("Runs `a; sorted index names` and waits"),
            ),
        ] {
            assert_eq!(without_known(entry, &known).as_deref(), wanted, "{entry}");
        }
    }

    #[test]
    fn a_commit_loses_what_the_last_words_tell() {
        let ended = words("Sorted the list by name (in both windows) and removed the old index.");
        let told = |task| without_repeated_items(task, Some(&ended));
        assert_eq!(
            told(
                "Sort the list (commit `1a2b3c4`): Sort the list by name (in both windows; old and new); Read the dates of each row"
            ),
            "Sort the list (commit `1a2b3c4`): Read the dates of each row"
        );
        assert_eq!(
            told("Sort the list (commit `1a2b3c4`): The old index"),
            "Sort the list (commit `1a2b3c4`)"
        );
        assert_eq!(told("The old index"), "The old index");
        let quoted = "fix(`list`): sort it (commit `1a2b3c4`): Read the dates of each row";
        assert_eq!(told(quoted), quoted);
    }

    #[test]
    fn an_entry_that_only_links_to_a_pull_request_is_recognised() {
        let links = ["https://x.y/o/r/pull/7".to_owned()];
        for (entry, wanted) in [
            ("Draft PR #7: https://x.y/o/r/pull/7", true),
            ("Opened the pull request: https://x.y/o/r/pull/7.", true),
            ("Draft PR #8: https://x.y/o/r/pull/8", false),
            ("The reader of https://x.y/o/r/pull/7 sorts by name", false),
        ] {
            assert_eq!(only_links(entry, &links), wanted, "{entry}");
        }
    }
}
