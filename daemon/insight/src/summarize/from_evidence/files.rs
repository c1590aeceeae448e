//! Lists the files that a session changed.

use crate::{
    model::{
        activity::{Activity, ActivityVector},
        evidence::{Evidence, FileWork},
        wording::DELETED,
    },
    summarize::from_evidence::{
        entries::{Entries, is_outside_project},
        reported::restored,
    },
    text::around_gap,
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
            && !is_outside_project(evidence, path)
            && !is_redacted(path)
            && !restored::is_restored(evidence, path, work)
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

/// Whether the name of a file was redacted.
fn is_redacted(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.trim_start_matches('.').split('.').next() == Some("REDACTED")
}

/// Whether the evidence shows only the removal of a file: no other work on the file, and no git
/// command or commit that mentions it. The session may then have created the file.
fn is_unseen(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let in_git = evidence.commands.iter().any(|run| git_may_name(&run.command, name));
    let in_commit = evidence
        .commits
        .iter()
        .any(|commit| commit.subject.contains(stem) || commit.body.contains(stem));
    work.reads + work.edits == 0 && work.moved_from.is_none() && !in_git && !in_commit
}

/// Whether `command` may add or remove a file with this name by git. A list of files that was cut
/// may contain any name.
fn git_may_name(command: &str, name: &str) -> bool {
    let (head, tail) = around_gap(command).unwrap_or((command, ""));
    let last = |text: &str| ["git rm", "git add"].iter().filter_map(|git| text.rfind(git)).max();
    if last(command).is_none() {
        return false;
    }
    let list = last(head).filter(|_| !tail.is_empty()).map(|at| &head[at..]);
    let is_cut = list.is_some_and(|list| !list.contains([';', '&', '|', '\n']));
    // The words at the gap may be incomplete.
    let (head, tail) = match tail {
        "" => (head, ""),
        tail => (
            head.rsplit_once(char::is_whitespace).map_or("", |(whole, _)| whole),
            tail.split_once(char::is_whitespace).map_or("", |(_, whole)| whole),
        ),
    };
    let is_end = |c: char| c.is_whitespace() || "/\\'\"".contains(c);
    is_cut || head.split(is_end).chain(tail.split(is_end)).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::kept;

    #[test]
    fn a_command_of_git_that_was_cut_may_name_any_file() {
        let many: Vec<String> = (0..40).map(|number| format!("src/part{number}.rs")).collect();
        let many = many.join(" ");
        let removed = format!("git rm -q {many}");
        for (command, name, wanted) in [
            ("git rm src/old.rs && make", "old.rs", true),
            ("git rm src/older.rs", "old.rs", false),
            ("rm src/old.rs", "old.rs", false),
            (&removed, "part20.rs", true),
            (&format!("make test && {removed}"), "part20.rs", true),
            (&format!("{removed} && git add b.rs"), "part20.rs", true),
            (&format!("git add . && git commit -m 'Move {many}'"), "part20.rs", false),
            (&format!("git add . && cat {many} old.rs"), "old.rs", true),
        ] {
            assert_eq!(git_may_name(&kept(command, 200), name), wanted, "{command}");
        }
        assert!(!git_may_name("git add . && cat old.rs … old.rs", "old.rs"));
    }
}
