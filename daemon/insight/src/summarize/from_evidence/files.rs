//! Lists the files that a session changed.

use crate::{
    model::{
        activity::{Activity, ActivityVector},
        evidence::{Evidence, FileWork},
        wording::DELETED,
    },
    summarize::from_evidence::{
        entries::{Entries, is_scratch},
        reported::overtaken,
    },
};

/// Maximum number of files that are listed. If there are more, those that were changed last are
/// kept.
const FILES: usize = 100;

/// Returns the files that the session changed, without scratch files and changes that were undone.
/// If there are no such files, returns an empty list for a session that mainly explored or reviewed
/// files and made no commit, and `None` otherwise.
pub(super) fn files_modified(
    entries: &Entries<'_>,
    activity: &ActivityVector,
) -> Option<Vec<String>> {
    let evidence = entries.evidence;
    let worked = evidence.changed_files().filter(|(path, work)| {
        let was_temporary = work.deleted && (work.writes > 0 || is_unseen(evidence, path, work));
        !was_temporary
            && !is_scratch(path)
            && !is_redacted(path)
            && !overtaken::is_reverted_by_user(evidence, path, work)
    });
    let mut worked: Vec<_> = worked.collect();
    if worked.is_empty() {
        let explored = [Activity::Exploring, Activity::Reviewing]
            .into_iter()
            .any(|one| activity.primary_activity() == one.as_str());
        // A commit proves a change, even if the transcript does not show the change itself.
        let is_known = !evidence.files.is_empty() && evidence.commits.is_empty();
        return (explored && is_known).then(Vec::new);
    }
    worked.sort_by_key(|(_, work)| std::cmp::Reverse(work.last));
    worked.truncate(FILES);
    let shown = |(path, work): (&String, &FileWork)| match work.deleted {
        true => format!("{}{DELETED}", entries.path(path)),
        false => entries.path(path).to_owned(),
    };
    let mut paths: Vec<String> = worked.into_iter().map(shown).collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// Whether the transcript hides the name of a file.
fn is_redacted(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.trim_start_matches('.').split('.').next() == Some("REDACTED")
}

/// Whether the evidence shows only the removal of a file: no other work on the file, and no git
/// command or commit that mentions it. The session may then have created the file.
fn is_unseen(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let in_git = evidence.commands.iter().any(|run| {
        let mut words = run.command.split(|c: char| c.is_whitespace() || "/\\'\"".contains(c));
        (run.command.contains("git rm") || run.command.contains("git add"))
            && words.any(|word| word == name)
    });
    let in_commit = evidence
        .commits
        .iter()
        .any(|commit| commit.subject.contains(stem) || commit.body.contains(stem));
    work.reads + work.edits == 0 && work.moved_from.is_none() && !in_git && !in_commit
}
