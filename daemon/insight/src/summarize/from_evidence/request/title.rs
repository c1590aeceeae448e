//! Finds a title for the session: from a person or a model, a pull request, a commit or a report.

use std::collections::BTreeSet;

use crate::{
    model::{
        evidence::{Commit, Evidence, PublicationKind, Quote, Title, TurnReport},
        transcript::TitleSource,
    },
    summarize::from_evidence::{
        errors::refuted::is_superseded_plan,
        repository::commit_messages::{is_bookkeeping, is_reverted},
        request::short_title::short_title,
    },
    text::{Block, blocks, capitalised, one_line, pattern, sentences, share_of_words, words},
};

/// If at least this number of prompts follows the last commit, no commit gives the title.
const LATER_PROMPTS: usize = 6;
/// If a session has more commits than this, each is only a part of the work, and the request gives
/// the title.
const MANY_COMMITS: usize = 8;
/// Maximum length, in characters, of a title to which a file is added.
const SHORT: usize = 45;

/// Returns the title that a person or model gave the session. A summary line of the agent may
/// belong to another session, so it counts only if it shares words with the prompts.
pub(crate) fn title(evidence: &Evidence) -> Option<&Title> {
    let given = evidence.titles.iter().filter(|title| title.by != TitleSource::Summary);
    if let Some(title) = given.max_by_key(|title| title.by) {
        return Some(title);
    }
    let title = evidence.titles.first()?;
    let prompt_words: BTreeSet<String> =
        evidence.prompts.iter().flat_map(|prompt| words(&prompt.text)).collect();
    (share_of_words(&words(&title.text), &prompt_words) >= 0.4).then_some(title)
}

/// Whether many prompts followed the last commit, so that no commit gives the title.
pub(crate) fn has_later_prompts(evidence: &Evidence) -> bool {
    let is_own = |commit: &&Commit| commit.origin.source == 0 && !is_bookkeeping(commit);
    let own = evidence.commits.iter().rfind(is_own);
    let Some(newest) = own.map(|commit| commit.origin) else { return false };
    let later = evidence.prompts.iter().filter(|prompt| prompt.origin.follows(newest));
    later.count() >= LATER_PROMPTS
}

/// Returns the title of a pull request, or else the subject of a commit. At least the share
/// `shared` of its words must occur in the prompts. If `shared` is 0, a commit is used even if many
/// prompts followed it or if there are many commits, because the request gives no title.
pub(crate) fn subject(evidence: &Evidence, shared: f64) -> Option<String> {
    let opened = evidence.publications.iter().rev();
    let opened = opened.filter(|one| one.kind == PublicationKind::PullRequest);
    let opened = opened.filter_map(|one| one.title.clone());
    let is_work = |subject: &String| {
        !pattern!(r"(?i)^(?:merge\b|revert\b|fixup!|wip\b|bump\b|release\b|chore\((?:release|deps|main|master)|chore[^:]*: (?:add todo|bump|close|merge|move|prepare|release|start|sync|update|upgrade|version)\b)")
            .is_match(subject)
    };
    // A commit of a sub-agent is only a part of the work.
    let own = |commit: &&Commit| {
        commit.origin.source == 0
            && !is_bookkeeping(commit)
            && !is_reverted(evidence, commit)
            && !is_superseded_plan(evidence, commit)
    };
    let commits = evidence.commits.iter().rev().filter(own);
    let commits: Vec<&Commit> = commits.filter(|commit| is_work(&commit.subject)).collect();
    let asked: BTreeSet<String> =
        evidence.prompts.iter().flat_map(|prompt| words(&prompt.text)).collect();
    let share = |subject: &str| {
        let plain = subject.split_once(": ").map_or(subject, |(_, plain)| plain);
        let subject_words = words(plain);
        (share_of_words(&subject_words, &asked), subject_words.intersection(&asked).count())
    };
    let mut committed: Vec<_> =
        commits.iter().map(|commit| (share(&commit.subject), commit.subject.clone())).collect();
    if shared > 0.0 && (has_later_prompts(evidence) || commits.len() > MANY_COMMITS) {
        committed.clear();
    }
    // The commit that shares the most words with the prompts is preferred. If no shared words are
    // required, the commit with the longest description is preferred, because it contains most of
    // the work. Among equal commits, the newest is preferred. A fix describes less than the feature
    // that it corrects.
    if shared > 0.0 {
        committed.sort_by_key(|((_, shared_count), _)| std::cmp::Reverse(*shared_count));
    } else {
        committed.sort_by_key(|(_, subject)| std::cmp::Reverse(described(&commits, subject)));
        committed.sort_by_key(|(_, subject)| is_minor(subject));
    }
    committed.sort_by_key(|(_, subject)| subject.starts_with("chore"));
    let opened = opened.map(|subject| (share(&subject), subject));
    opened.chain(committed).find(|((share, _), _)| *share >= shared).map(|(_, subject)| subject)
}

/// Whether a commit, judged by its subject, only fixes, tests or documents other work.
pub(crate) fn is_minor(subject: &str) -> bool {
    pattern!(
        r"(?i)^(?:(?:fix|hotfix|bugfix|test|docs?|ci|build|style)(?:\([^)]*\))?!?:|(?:fix|fixe[sd]|mend|correct|tighten)\b|add (?:\S+ ){0,5}(?:tests?|coverage|docs?|readme)\b)"
    )
    .is_match(subject)
}

/// Returns the number of words in the body of the commit with this subject.
fn described(commits: &[&Commit], subject: &str) -> usize {
    let found = commits.iter().find(|commit| commit.subject == subject);
    found.map_or(0, |commit| commit.body.split_whitespace().count())
}

/// Returns the work that the reports of turns with changes describe. The sources, in this order:
/// - the title of the last progress file,
/// - the heading that summarises the work in the longest report, for example `Summary: Fixed the
///   list of sessions`,
/// - the first sentence in which the agent says what it did, in the first `searched` reports after
///   the prompt `begin`.
pub(crate) fn reported_work(
    evidence: &Evidence,
    begin: Option<&Quote>,
    searched: usize,
) -> Option<String> {
    let reports = evidence.reports.iter().filter(|report| report.changed);
    // The title of a progress file states the work, for example `# WIP: sort the rows`.
    let named = pattern!(
        r"(?im)^# +(?:wip|hand-?(?:off|over)|status|debug\w*|investigation|findings|progress)(?: report| notes?| of)? *[:\u{2014}\u{2013}-] *([^\n]{12,100})$"
    );
    let mut headings = reports.clone().rev().filter_map(|report| named.captures(&report.text));
    if let Some(heading) = headings.next() {
        return Some(heading[1].trim().to_owned());
    }
    let longest = reports.clone().max_by_key(|report| report.text.len())?;
    let heading = pattern!(
        r"(?m)^(?:#{1,3} +|\*\*)(?:Summary: +)?((?:Fixed|Added|Implemented|Updated|Removed|Refactored|Renamed|Created|Migrated|Replaced|Moved|Improved|Changed|Extracted|Simplified) [^\n*]+)[*:]*$"
    );
    let heading = heading.captures(&longest.text);
    let heading = heading.map(|found| found[1].trim_end_matches(['*', '#', ':', ' ']).to_owned());
    let is_since =
        |report: &&TurnReport| begin.is_none_or(|begin| report.origin.follows(begin.origin));
    let said = || {
        reports.clone().filter(is_since).take(searched).find_map(|report| said_done(&report.text))
    };
    heading.filter(|heading| heading.split_whitespace().count() >= 4).or_else(said)
}

/// Returns the sentence at the start of a report in which the agent says what it did, as a title:
/// `I've sorted the list by name` becomes `Sorted the list by name`.
fn said_done(report: &str) -> Option<String> {
    let said = pattern!(
        r"(?i)^(?:(?:done|perfect|great|excellent)[!.] )?(?:i|we)(?:['’]ve| have)? (?:successfully |also |now |just )*((?:fixed|added|implemented|updated|removed|refactored|renamed|created|migrated|replaced|moved|improved|changed|extracted|simplified|converted|wrote|rewrote|sorted|modernised|modernized|restored|integrated|configured|set up|built|introduced|enabled|disabled|deleted|reworked|restructured|switched|split|documented|installed) .{16,})$"
    );
    let paragraphs = blocks(report).into_iter().filter_map(|block| match block {
        Block::Paragraph(text) => Some(one_line(&text)),
        Block::Heading(_) | Block::Item(_) => None,
    });
    let found = paragraphs.take(2).find_map(|paragraph| {
        sentences(&paragraph)
            .into_iter()
            .find_map(|first| said.captures(first)?.get(1).map(|work| work.as_str().to_owned()))
    })?;
    short_title(&capitalised(&found), "").map(|title| title.text)
}

/// Adds the changed file to a short title without a name, such as `Fix the test`, if the session
/// committed nothing and changed only this file.
pub(crate) fn with_file(evidence: &Evidence, title: String) -> String {
    let names = pattern!(r"[`/0-9#]|\w\.\w|\w_\w|.\b[A-Z]").is_match(&title);
    let mut changed = evidence.changed_files();
    let (Some((path, _)), None) = (changed.next(), changed.next()) else { return title };
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if names || title.chars().count() > SHORT || !evidence.commits.is_empty() {
        return title;
    }
    format!("{title} (`{file}`)")
}

/// Whether a title is about what was committed or changed. A title that a model gave early may be
/// about work that the user then dropped. A title by the user always fits, and so does any title of
/// a session without commits.
pub(crate) fn fits(title: &Title, evidence: &Evidence) -> bool {
    if title.by == TitleSource::User || evidence.commits.is_empty() {
        return true;
    }
    let committed =
        evidence.commits.iter().map(|commit| format!("{} {}", commit.subject, commit.body));
    let files = evidence.changed_files().map(|(path, _)| path.clone());
    let done: BTreeSet<String> = committed.chain(files).flat_map(|text| words(&text)).collect();
    share_of_words(&words(&title.text), &done) >= 0.25
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_progress_file_states_the_work() {
        let report = |text: &str| TurnReport {
            text: text.to_owned(),
            changed: true,
            ..TurnReport::default()
        };
        let work = |texts: &[&str]| {
            let reports = texts.iter().map(|text| report(text)).collect();
            reported_work(&Evidence { reports, ..Evidence::default() }, None, 1)
        };
        let document =
            "Wrote it down.\n\n# WIP: rows that are read twice\n\nThe lock is missing.\n";
        assert_eq!(work(&[document, "Done."]).as_deref(), Some("rows that are read twice"));
        assert_eq!(work(&["# Rows that are read twice\n"]), None);
        let said = "I've successfully sorted the rows of the list by their names. All tests pass.";
        assert_eq!(work(&[said]).as_deref(), Some("Sorted the rows of the list by their names"));
    }

    #[test]
    fn fixes_tests_and_documents_are_minor() {
        for (subject, wanted) in [
            ("fix(list): sort the days", true),
            ("Fix the order of the days", true),
            ("Fixed the order of the days", true),
            ("Add tests of the list", true),
            ("Add the first coverage of the list", true),
            ("docs: describe the list", true),
            ("feat: show the list of days", false),
            ("Initial implementation of the list", false),
            ("Add a list of days", false),
            ("Fixtures for the list", false),
        ] {
            assert_eq!(is_minor(subject), wanted, "{subject}");
        }
    }
}
