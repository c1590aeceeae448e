//! The state in which a session leaves its repository.

use crate::{
    model::evidence::{Evidence, FileWork, GitEvent, GitStep},
    summarize::from_evidence::{
        checks,
        entries::{Entries, is_scratch},
        overtaken,
    },
};

/// Files named as not committed.
const UNCOMMITTED: usize = 4;

/// The state of the repository in one line: branch, last commit, pushed or not, what is not
/// committed. `None` where the session did nothing to it and did not look at it.
pub(super) fn line(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    let mut parts = Vec::new();
    if let Some(commit) = evidence.commits.last() {
        let hash =
            if commit.hash.is_empty() { String::new() } else { format!("`{}` ", commit.hash) };
        let on = other_branch(evidence).map_or(String::new(), |on| format!(" (on `{on}`)"));
        let merged = if merged(evidence).is_some() { ", merged after that" } else { "" };
        let subject = entries.tidy_line(&commit.subject);
        parts.push(format!("last commit {hash}{subject}{on}{merged}"));
    }
    if other_branch(evidence).is_none() || merged(evidence).is_some() {
        parts.extend(pushed(evidence));
    }
    parts.extend(uncommitted(entries));
    parts.extend(checks::passed(evidence));
    parts.extend(checks::untested(evidence));
    if parts.is_empty() {
        return unchanged(evidence);
    }
    if let Some(branch) = branch(evidence) {
        parts.insert(0, format!("branch `{branch}`"));
    }
    Some(parts.join("; "))
}

/// What is told of a session that looked at its repository and changed nothing.
fn unchanged(evidence: &Evidence) -> Option<String> {
    let looked = evidence.commands.iter().any(|run| run.command.starts_with("git "));
    let branch = branch(evidence).filter(|_| looked && !changed_any(evidence))?;
    Some(format!("branch `{branch}`; nothing was changed"))
}

/// The branch that the last commit was made on, where it is another one than the present.
fn other_branch(evidence: &Evidence) -> Option<&str> {
    let last = evidence.commits.last()?;
    let made = evidence
        .git_events
        .iter()
        .rev()
        .find(|event| event.step == GitStep::Commit && event.succeeded);
    let on = made.filter(|event| event.origin == last.origin)?.branch.as_deref()?;
    branch(evidence).filter(|present| *present != on).map(|_| on)
}

pub(super) fn branch(evidence: &Evidence) -> Option<&str> {
    // Sub-agents work on branches of their own, and a merge names the branch that it takes in.
    let own = evidence.git_events.iter().rev().filter(|event| event.origin.source == 0);
    let mut own = own.filter(|event| event.succeeded && event.step != GitStep::Merge);
    let noted = own.find_map(|event| event.branch.as_deref());
    let recorded = || match evidence.branches.as_slice() {
        [one] => Some(one.as_str()),
        // The branches of sub-agents are recorded, too.
        [first, ..] if has_sub_agents(evidence) => Some(first.as_str()),
        all => all.last().map(String::as_str),
    };
    noted.or_else(recorded).filter(|branch| !branch.is_empty() && *branch != "HEAD")
}

/// Whether commits of sub-agents are among the session's.
fn has_sub_agents(evidence: &Evidence) -> bool {
    evidence.commits.iter().any(|commit| commit.origin.source != 0)
}

/// The merge that took the last commit in, made on another branch by a sub-agent.
fn merged(evidence: &Evidence) -> Option<&GitEvent> {
    let last = evidence.commits.last().filter(|commit| commit.origin.source != 0)?;
    let own = evidence.git_events.iter().rev().filter(|event| event.origin.source == 0);
    let mut merges = own.filter(|event| event.step == GitStep::Merge && event.succeeded);
    merges.find(|merge| merge.at >= last.at)
}

/// Whether the commits of the session were pushed.
fn pushed(evidence: &Evidence) -> Option<String> {
    let last = |step: GitStep| evidence.git_events.iter().rev().find(|event| event.step == step);
    let committed = evidence.commits.last().map(|commit| commit.origin);
    let Some(push) = last(GitStep::Push) else {
        return committed.map(|_| "not pushed".to_owned());
    };
    if !push.succeeded {
        return Some(failed("push", push));
    }
    let is_behind =
        committed.is_some_and(|commit| commit.source == push.origin.source && commit > push.origin);
    Some(if is_behind { "last commit not pushed".to_owned() } else { "pushed".to_owned() })
}

/// The last event of a step, apart from commits that found nothing to commit.
pub(super) fn last_try(evidence: &Evidence, step: GitStep) -> Option<&GitEvent> {
    let mut tries = evidence.git_events.iter().rev().filter(|event| event.step == step);
    tries.find(|event| !found_nothing(event))
}

/// Whether a commit failed because nothing was left to commit.
fn found_nothing(event: &GitEvent) -> bool {
    event.error.as_deref().is_some_and(|error| error.contains("nothing to commit"))
}

/// What was changed after the last commit, or a commit that failed.
fn uncommitted(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    if let Some(event) = last_try(evidence, GitStep::Commit).filter(|event| !event.succeeded) {
        return Some(failed("commit", event));
    }
    let committed = evidence.commits.last().map(|commit| commit.origin);
    let left = uncommitted_files(evidence);
    if left.is_empty() {
        let unknown = committed.is_none() && is_elsewhere(evidence) && changed_any(evidence);
        return unknown.then(|| "no commit seen in this session".to_owned());
    }
    let staged = evidence.git_events.iter().rev().find(|event| event.step == GitStep::Stage);
    let is_staged = staged.is_some_and(|staged| {
        staged.succeeded
            && committed.is_none_or(|commit| staged.origin > commit)
            && left.iter().all(|(_, work)| {
                work.last.source == staged.origin.source && work.last <= staged.origin
            })
    });
    let state = if is_staged { "staged, not committed" } else { "not committed" };
    let files: Vec<&str> = left.into_iter().map(|(path, _)| entries.path(path)).collect();
    let named: Vec<String> =
        files.iter().take(UNCOMMITTED).map(|file| format!("`{file}`")).collect();
    let more = files.len().saturating_sub(UNCOMMITTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(format!("{state}: {}{more}", named.join(", ")))
}

/// The files that were changed after the last commit of a session in a repository.
pub(super) fn uncommitted_files(evidence: &Evidence) -> Vec<(&str, &FileWork)> {
    if is_elsewhere(evidence) && evidence.commits.is_empty() {
        return Vec::new();
    }
    let committed = evidence.commits.last().map(|commit| commit.origin);
    let clean = evidence.git_events.iter().rev().find(|event| found_nothing(event));
    let committed = committed.max(clean.map(|event| event.origin));
    let changed = evidence.files.iter().filter(|(path, work)| {
        let is_later =
            committed.is_none_or(|commit| commit.source == work.last.source && work.last > commit);
        work.changed()
            && is_later
            && !is_scratch(path)
            && !overtaken::is_taken_back(evidence, path, work)
    });
    changed.map(|(path, work)| (path.as_str(), work)).collect()
}

fn changed_any(evidence: &Evidence) -> bool {
    evidence.files.values().any(FileWork::changed)
}

/// Whether the session went on in another checkout of its project, where what was changed before
/// may be committed.
fn is_elsewhere(evidence: &Evidence) -> bool {
    let directories = &evidence.directories;
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let (Some(first), Some(last)) = (directories.first(), directories.last()) else { return false };
    let is_inside = first.starts_with(last.as_str()) || last.starts_with(first.as_str());
    let of_agent =
        directories.iter().any(|path| path.contains("/.claude/") || path.contains("worktree"));
    name(first) == name(last) && !is_inside && !of_agent
}

fn failed(what: &str, event: &GitEvent) -> String {
    let why = event.error.as_deref().map_or(String::new(), |error| format!(" ({error})"));
    format!("the last {what} failed{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{evidence::Commit, transcript::Origin},
        summarize::report::Reports,
    };

    #[test]
    fn what_was_staged_last_is_not_merely_uncommitted() {
        let file =
            FileWork { edits: 1, last: Origin { source: 0, line: 3 }, ..FileWork::default() };
        let staged = GitEvent {
            step: GitStep::Stage,
            succeeded: true,
            branch: Some("main".to_owned()),
            error: None,
            origin: Origin { source: 0, line: 5 },
            at: None,
        };
        let mut evidence = Evidence { git_events: vec![staged], ..Evidence::default() };
        evidence.files.insert("/app/a.rs".to_owned(), file);
        let state = |evidence: &Evidence| {
            line(&Entries { evidence, reports: &Reports::default(), project: None })
        };
        assert_eq!(
            state(&evidence).unwrap(),
            "branch `main`; staged, not committed: `/app/a.rs`; no test run seen"
        );
        evidence.directories = vec!["/home/ann/app".to_owned(), "/home/bob/src/app".to_owned()];
        assert_eq!(
            state(&evidence).unwrap(),
            "branch `main`; no commit seen in this session; no test run seen"
        );
    }

    fn event(step: GitStep, branch: &str, source: u32, line: u64) -> GitEvent {
        GitEvent {
            step,
            succeeded: true,
            branch: Some(branch.to_owned()),
            error: None,
            origin: Origin { source, line },
            at: None,
        }
    }

    #[test]
    fn a_branch_of_a_sub_agent_is_not_the_sessions() {
        let commit = Commit {
            hash: "1a2b3c4".to_owned(),
            subject: "Add a page".to_owned(),
            body: String::new(),
            at: None,
            origin: Origin { source: 1, line: 3 },
        };
        let evidence = Evidence {
            commits: vec![commit],
            branches: vec!["master".to_owned(), "ann/page".to_owned()],
            git_events: vec![
                event(GitStep::Commit, "ann/page", 1, 3),
                event(GitStep::Merge, "ann/page", 0, 9),
            ],
            ..Evidence::default()
        };
        let entries = Entries { evidence: &evidence, reports: &Reports::default(), project: None };
        assert_eq!(
            line(&entries).unwrap(),
            "branch `master`; last commit `1a2b3c4` Add a page (on `ann/page`), merged after that; not pushed"
        );
    }
}
