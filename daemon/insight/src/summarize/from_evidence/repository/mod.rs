//! Describes the state in which a session leaves its repository. The sources are the last outputs
//! of git, and the session's own commits and edits after these outputs.

pub(super) mod commit_messages;
pub(super) mod failed_checks;
mod git_traces;
pub(super) mod outside_commits;
pub(super) mod pull_request;
mod running;

use crate::{
    model::{
        evidence::{Commit, Evidence, FileWork, GitEvent, GitStep, GitView, HeadCommit},
        wording::{LAST_COMMIT_NOT_PUSHED, NOT_COMMITTED, NOT_PUSHED},
    },
    summarize::from_evidence::{
        checks,
        entries::{Entries, is_outside_project},
        reported::restored,
        repository::{
            git_traces::file_list,
            outside_commits::{LocalFiles, is_file, is_later, wants_no_commit},
        },
    },
    text::pattern,
};

/// Returns the state of the repository as one line: branch, last commit, push, uncommitted files,
/// checks. For a session that changed nothing, returns the branch and the commit that were checked
/// out. `None` if nothing is known.
pub(super) fn line(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    let mut parts = Vec::new();
    parts.extend(foreign_head(entries));
    parts.extend(last_commit(entries));
    parts.extend(merged_branch(evidence));
    if other_branch(evidence).is_none() || merged(evidence).is_some() {
        parts.extend(pushed(evidence));
    }
    parts.extend(uncommitted(entries));
    parts.extend(failed_checks::failed_checks(evidence));
    parts.extend(checks::passed(evidence));
    parts.extend(checks::untested(evidence));
    parts.extend(running::running_server(evidence));
    let has_worked = evidence.changes_files()
        || !evidence.commits.is_empty()
        || evidence.git_events.iter().any(|event| event.step != GitStep::Switch);
    if !has_worked {
        return unchanged(entries);
    }
    if parts.is_empty() {
        return None;
    }
    if let Some(branch) = branch(evidence) {
        let request = pull_request::of_branch(evidence, branch);
        let request = request.map_or(String::new(), |number| format!(" (PR #{number})"));
        parts.insert(0, format!("branch `{branch}`{request}"));
    }
    Some(parts.join("; "))
}

/// Returns the line of a session that changed nothing: branch, commit, difference from the
/// upstream, and files that others changed.
fn unchanged(entries: &Entries<'_>) -> Option<String> {
    let branch = branch(entries.evidence)?;
    let head = entries.evidence.checkout.head.as_ref();
    let at = head
        .map_or(String::new(), |head| format!(" at {}", hash_and_subject(entries, &head.value)));
    let upstream =
        upstream(entries.evidence, None).filter(|state| !state.starts_with("up to date"));
    let rest: String =
        [upstream, Some("no files were changed".to_owned()), files_changed_by_others(entries, &[])]
            .into_iter()
            .flatten()
            .map(|part| format!("; {part}"))
            .collect();
    Some(format!("branch `{branch}`{at}{rest}"))
}

fn hash_and_subject(entries: &Entries<'_>, head: &HeadCommit) -> String {
    format!("`{}` {}", head.hash, entries.tidy_line(&head.subject)).trim_end().to_owned()
}

/// Returns the commit that git showed last as checked out. `None` if this commit is the session's
/// last commit, or if git showed it before the session made its last commit.
fn foreign_head(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    let head = evidence.checkout.head.as_ref()?;
    let is_own = evidence.commits.last().is_some_and(|last| {
        !is_later(head, last.origin, last.at)
            || last.subject == head.value.subject
            || !last.hash.is_empty()
                && (head.value.hash.starts_with(&last.hash)
                    || last.hash.starts_with(&head.value.hash))
    });
    (!is_own).then(|| format!("HEAD {}", hash_and_subject(entries, &head.value)))
}

/// Returns the last commit of the session, with its branch if this is not the current branch.
fn last_commit(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    let commit = evidence.commits.last()?;
    let head = evidence.checkout.head.as_ref().map(|head| &head.value);
    let shown_hash = head.filter(|head| head.subject == commit.subject).map(|head| &head.hash);
    let hash = if commit.hash.is_empty() { shown_hash } else { Some(&commit.hash) };
    let hash = hash.map_or(String::new(), |hash| format!("`{hash}` "));
    let is_deleted = |on: &str| evidence.checkout.deleted.iter().any(|name| name == on);
    let on = other_branch(evidence).map_or(String::new(), |on| match is_deleted(on) {
        true => format!(" (on `{on}`, deleted since)"),
        false => format!(" (on `{on}`)"),
    });
    let merged = if merged(evidence).is_some() { ", merged after that" } else { "" };
    let subject = entries.tidy_line(&commit.subject);
    Some(format!("last commit {hash}{subject}{on}{merged}"))
}

/// Returns the last merge of a session without commits, for example `` merged `feature/export` ``.
fn merged_branch(evidence: &Evidence) -> Option<String> {
    let mut own = evidence.git_events.iter().rev().filter(|event| event.origin.source == 0);
    let merge = own.find(|event| event.step == GitStep::Merge && event.succeeded)?;
    let branch = merge.branch.as_deref().filter(|_| evidence.commits.is_empty())?;
    Some(format!("merged `{branch}`"))
}

/// Returns the branch of the last commit, if it is not the current branch.
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

/// Returns the branch on which the session ended, from the output of git or the agent's records.
pub(super) fn branch(evidence: &Evidence) -> Option<&str> {
    // Sub-agents work on separate branches, and the event of a merge contains the merged branch.
    let own = evidence.git_events.iter().rev().filter(|event| event.origin.source == 0);
    let mut own = own.filter(|event| event.succeeded && event.step != GitStep::Merge);
    let noted = own.find_map(|event| {
        // The local branch of the push `fix/x:main` is `fix/x`.
        let name = event.branch.as_deref()?.split(':').next().filter(|name| *name != "HEAD")?;
        Some((name, event.origin))
    });
    // A later output of git may show another branch.
    let seen = evidence.checkout.branch.as_ref().filter(|seen| {
        seen.origin.source == 0 && noted.is_none_or(|(_, origin)| seen.origin >= origin)
    });
    let noted = seen.map(|seen| seen.value.as_str()).or(noted.map(|(branch, _)| branch));
    let recorded = || match evidence.branches.as_slice() {
        [one] => Some(one.as_str()),
        // The branches of sub-agents are recorded, too.
        [first, ..] if has_sub_agents(evidence) => Some(first.as_str()),
        all => all.last().map(String::as_str),
    };
    noted.or_else(recorded).filter(|branch| !branch.is_empty() && *branch != "HEAD")
}

/// Whether sub-agents made any of the session's commits.
fn has_sub_agents(evidence: &Evidence) -> bool {
    evidence.commits.iter().any(|commit| commit.origin.source != 0)
}

/// Returns the session's last merge, if it is not older than the last commit, and if a sub-agent
/// made that commit or the commit is on another branch.
fn merged(evidence: &Evidence) -> Option<&GitEvent> {
    let last = evidence.commits.last()?;
    let is_own = last.origin.source == 0;
    let made_on = other_branch(evidence);
    let own = evidence.git_events.iter().rev().filter(|event| event.origin.source == 0);
    let mut merges = own.filter(|event| event.step == GitStep::Merge && event.succeeded);
    merges.find(|merge| {
        let is_of_branch = !is_own || made_on.is_some() && merge.branch.as_deref() == made_on;
        is_of_branch && merge.at >= last.at
    })
}

/// Returns a phrase that says whether the commits of the session were pushed.
fn pushed(evidence: &Evidence) -> Option<String> {
    let last = |step: GitStep| evidence.git_events.iter().rev().find(|event| event.step == step);
    let committed = evidence.commits.last();
    if let Some(state) = upstream(evidence, last(GitStep::Push)) {
        return Some(state);
    }
    let Some(push) = last(GitStep::Push) else {
        return committed.map(|_| NOT_PUSHED.to_owned());
    };
    if !push.succeeded {
        return Some(failed("push", push));
    }
    let is_later = |commit: &&Commit| commit.origin.is_after(commit.at, push.origin, push.at);
    Some(match evidence.commits.iter().rev().take_while(is_later).count() {
        0 => "pushed".to_owned(),
        1 => LAST_COMMIT_NOT_PUSHED.to_owned(),
        several => format!("{LAST_COMMIT_NOT_PUSHED} ({several} commits since the last push)"),
    })
}

/// Returns the state of the branch relative to its upstream, if git printed it after the last
/// commit and push.
fn upstream(evidence: &Evidence, push: Option<&GitEvent>) -> Option<String> {
    let seen = evidence.checkout.upstream.as_ref()?;
    let commit = evidence.commits.last();
    let is_current = commit.is_none_or(|commit| is_later(seen, commit.origin, commit.at))
        && push.is_none_or(|push| is_later(seen, push.origin, push.at));
    let is_pushed = seen.value.starts_with("up to date");
    is_current.then(|| match (is_pushed, commit.is_some()) {
        (true, true) => "pushed".to_owned(),
        (true, false) => seen.value.clone(),
        (false, _) if seen.value.contains("behind") => seen.value.clone(),
        (false, _) => format!("{NOT_PUSHED} ({})", seen.value),
    })
}

/// Returns the last event of a step, apart from commits that found nothing to commit.
pub(super) fn last_try(evidence: &Evidence, step: GitStep) -> Option<&GitEvent> {
    let mut tries = evidence.git_events.iter().rev().filter(|event| event.step == step);
    tries.find(|event| !found_nothing(event))
}

/// Whether a commit failed because nothing was left to commit.
fn found_nothing(event: &GitEvent) -> bool {
    event.error.as_deref().is_some_and(|error| error.contains("nothing to commit"))
}

/// Returns a phrase about the changes after the last commit: the error of the last attempt to
/// commit, the uncommitted files, or that the working tree is clean.
fn uncommitted(entries: &Entries<'_>) -> Option<String> {
    let evidence = entries.evidence;
    if let Some(event) = last_try(evidence, GitStep::Commit).filter(|event| !event.succeeded) {
        return Some(failed("commit", event));
    }
    let left = uncommitted_files(evidence);
    let paths: Vec<&str> = left.iter().map(|(path, _)| *path).collect();
    let others =
        [files_changed_by_others(entries, &paths), unlisted_changes_remark(evidence, paths.len())]
            .into_iter()
            .flatten();
    let mut parts: Vec<String> = others.collect();
    if left.is_empty() {
        if may_be_committed(evidence) && evidence.changes_files() {
            parts.insert(0, "no commit seen in this session".to_owned());
        } else if parts.is_empty() && is_clean(evidence) {
            parts.push("working tree clean".to_owned());
        }
        return (!parts.is_empty()).then(|| parts.join("; "));
    }
    let state = if is_staged(evidence, &left) { "staged, " } else { "" };
    let wanted = if wants_no_commit(evidence) { " (as the user asked)" } else { "" };
    let names: Vec<&str> = paths.into_iter().map(|path| entries.path(path)).collect();
    let state = match git_traces::has_repository(evidence) {
        true => format!("{state}{NOT_COMMITTED}{wanted}"),
        false => "changed".to_owned(),
    };
    parts.insert(0, format!("{state}: {}", file_list(&names)));
    Some(parts.join("; "))
}

/// Whether the session staged files after its last commit and did not change these files since.
fn is_staged(evidence: &Evidence, left: &[(&str, &FileWork)]) -> bool {
    let committed = evidence.commits.last();
    let staged = evidence.git_events.iter().rev().find(|event| event.step == GitStep::Stage);
    staged.is_some_and(|staged| {
        staged.succeeded
            && committed
                .is_none_or(|commit| staged.origin.is_after(staged.at, commit.origin, commit.at))
            && left.iter().all(|(_, work)| {
                work.last.source == staged.origin.source && work.last <= staged.origin
            })
    })
}

/// Returns a phrase with the files of the last status that the session did not change and that are
/// not in `own`.
fn files_changed_by_others(entries: &Entries<'_>, own: &[&str]) -> Option<String> {
    let evidence = entries.evidence;
    let seen = current_files(evidence)?;
    let is_own = |path: &str| {
        let mut changed = evidence.changed_files();
        own.iter().any(|own| is_file(own, path)) || changed.any(|(own, _)| is_file(own, path))
    };
    let paths = seen.value.paths.iter().map(String::as_str);
    let others: Vec<&str> =
        paths.filter(|path| !is_own(path) && !is_outside_project(evidence, path)).collect();
    (!others.is_empty()).then(|| format!("changed outside of this session: {}", file_list(&others)))
}

/// Returns a remark if a tool changed files without printing their names, unless a commit or a
/// complete status followed. A tool that changed at most `listed` files probably only formatted the
/// session's own changes, which are listed anyway.
fn unlisted_changes_remark(evidence: &Evidence, listed: usize) -> Option<String> {
    let last = evidence.unnamed_changes.last()?;
    let number = pattern!(r"([0-9]{1,6}) files?\b").captures(&last.text);
    if number.is_some_and(|found| found[1].parse().is_ok_and(|number: usize| number <= listed)) {
        return None;
    }
    let is_committed = evidence.commits.last().is_some_and(|commit| {
        if commit.origin.source == last.origin.source {
            commit.origin > last.origin
        } else {
            commit.at > last.at
        }
    });
    let is_shown = current_files(evidence)
        .is_some_and(|seen| !seen.value.is_part && is_later(seen, last.origin, last.at));
    (!is_committed && !is_shown)
        .then(|| format!("a tool changed files that are not all listed here ({})", last.text))
}

/// Returns the changed files that git listed last, if no commit, reset, stash or switch followed.
fn current_files(evidence: &Evidence) -> Option<&GitView<crate::model::evidence::ChangedFiles>> {
    let seen = evidence.checkout.files.as_ref()?;
    let mut steps = evidence.git_events.iter().filter(|event| {
        event.succeeded
            && matches!(
                event.step,
                GitStep::Commit | GitStep::Reset | GitStep::Stash | GitStep::Switch
            )
    });
    steps
        .all(|event| is_later(seen, event.origin, event.at) || seen.origin == event.origin)
        .then_some(seen)
}

/// Whether git last showed a clean working tree, in a session that changed or committed something.
fn is_clean(evidence: &Evidence) -> bool {
    current_files(evidence).is_some_and(|seen| seen.value.paths.is_empty() && !seen.value.is_part)
        && (evidence.changes_files() || !evidence.commits.is_empty())
}

/// Returns the files that the session changed after its last commit, without scratch and local
/// files, and without those that were reverted or that git no longer lists as changed. Empty if
/// somebody else may have committed the changes.
pub(super) fn uncommitted_files(evidence: &Evidence) -> Vec<(&str, &FileWork)> {
    if may_be_committed(evidence) {
        return Vec::new();
    }
    let clean = evidence.git_events.iter().rev().find(|event| found_nothing(event));
    // A sub-agent may have made the last commit, and then the session may have changed files.
    let is_committed = |work: &FileWork| {
        let is_later = |origin, at| work.last.is_after(work.changed_at, origin, at);
        evidence.commits.iter().any(|commit| !is_later(commit.origin, commit.at))
            || clean.is_some_and(|event| !is_later(event.origin, event.at))
    };
    let local_files = LocalFiles::of(evidence);
    let changed = evidence.changed_files().filter(|(path, work)| {
        !is_committed(work)
            && !is_outside_project(evidence, path)
            && !local_files.contain(path)
            && !restored::is_restored(evidence, path, work)
            && !is_settled(evidence, path, work)
    });
    let mut changed: Vec<_> = changed.map(|(path, work)| (path.as_str(), work)).collect();
    changed.sort_by_key(|(_, work)| std::cmp::Reverse((work.changed_at, work.last.line)));
    changed
}

/// Whether git listed all changed files after the last change to the file at `path`, but not this
/// file. In this case, the file was committed or reverted, or git ignores it.
fn is_settled(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    current_files(evidence).is_some_and(|seen| {
        !seen.value.is_part
            && seen.origin.follows(work.last)
            && !seen.value.paths.iter().any(|printed| is_file(path, printed))
    })
}

/// Whether somebody else may have committed the changes of a session without commits: the session
/// continued in another checkout, or the agent's records show several branches although the session
/// neither used git nor delegated work.
fn may_be_committed(evidence: &Evidence) -> bool {
    let is_switched_by_other = evidence.branches.len() >= 2
        && evidence.checkout.branch.is_none()
        && evidence.delegations.is_empty()
        && evidence.git_events.is_empty();
    evidence.commits.is_empty() && (is_in_another_checkout(evidence) || is_switched_by_other)
}

/// Whether the session continued in another checkout of its project, where its earlier changes may
/// be committed.
fn is_in_another_checkout(evidence: &Evidence) -> bool {
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
        model::{
            evidence::Commit,
            time::Timestamp,
            transcript::{Item, Origin, Outcome, SessionContext},
        },
        report::Reports,
        summarize::evidence::scenarios::Script,
    };

    #[test]
    fn staged_files_are_called_staged() {
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
        let at = |second| Some(Timestamp::from_seconds(second));
        let mut delegated = evidence.clone();
        delegated.git_events[0].at = at(20);
        delegated.commits.push(Commit {
            hash: "1a2b3c4".to_owned(),
            subject: "Add a page".to_owned(),
            body: String::new(),
            origin: Origin { source: 1, line: 9 },
            at: at(10),
        });
        let left = [("/app/a.rs", &evidence.files["/app/a.rs"])];
        assert!(is_staged(&delegated, &left), "the sub-agent committed before the staging");
        delegated.commits[0].at = at(30);
        assert!(!is_staged(&delegated, &left));
        let mut moved = evidence.clone();
        moved.git_events.clear();
        moved.branches = vec!["main".to_owned(), "ann/page".to_owned()];
        assert_eq!(
            state(&moved).unwrap(),
            "branch `ann/page`; no commit seen in this session; no test run seen"
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
    fn the_branch_of_a_sub_agent_is_not_the_branch_of_the_session() {
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

    #[test]
    fn a_commit_after_the_push_of_a_sub_agent_is_not_pushed() {
        let at = |second| Some(Timestamp::from_seconds(second));
        let mut push = event(GitStep::Push, "main", 1, 9);
        push.at = at(20);
        let state = |second| {
            let commit = Commit {
                hash: "1a2b3c4".to_owned(),
                subject: "Add a page".to_owned(),
                body: String::new(),
                at: at(second),
                origin: Origin { source: 0, line: 3 },
            };
            let (commits, git_events) = (vec![commit], vec![push.clone()]);
            Evidence { commits, git_events, ..Evidence::default() }
        };
        let mut evidence = state(30);
        let state = |second| pushed(&state(second)).unwrap();
        assert_eq!((state(10).as_str(), state(30).as_str()), ("pushed", LAST_COMMIT_NOT_PUSHED));
        evidence.commits.push(evidence.commits[0].clone());
        assert_eq!(
            pushed(&evidence).unwrap(),
            "last commit not pushed (2 commits since the last push)"
        );
    }

    /// Returns the line of a session that ran these commands with these outputs. The command
    /// `edit PATH` edits the file with the edit tool.
    fn line_after(runs: &[(&'static str, &'static str)]) -> String {
        let mut script = Script::default();
        script.item(Item::Context(SessionContext {
            cwd: Some("/app".into()),
            branch: Some("main".into()),
            ..SessionContext::default()
        }));
        script.prompt("Mend it");
        for (number, (command, output)) in runs.iter().enumerate() {
            let id = &number.to_string();
            match command.strip_prefix("edit ") {
                Some(path) => script.edit(id, path, "x", "y"),
                None => script.run(id, command, Outcome::Succeeded, output),
            }
        }
        let evidence = script.collect();
        let entries = Entries { evidence: &evidence, reports: &Reports::default(), project: None };
        line(&entries).unwrap().replace("; no test run seen", "").replace("/app/", "")
    }

    #[test]
    fn a_push_to_a_branch_with_another_name_keeps_the_branch() {
        for (command, output, wanted) in [
            ("git push origin HEAD:staging", "   1a2b3c4..5d6e7f8  HEAD -> staging\n", "main"),
            ("git push origin fix/x:review", "   1a2b3c4..5d6e7f8  fix/x -> review\n", "fix/x"),
            ("git push origin fix/x", "   1a2b3c4..5d6e7f8  fix/x -> fix/x\n", "fix/x"),
            ("git push -u origin HEAD", " * [new branch]      HEAD -> fix/y\n", "fix/y"),
        ] {
            let commit = ("git commit -m One", "[main 1a2b3c4] One\n 1 file changed\n");
            let runs = [("edit /app/a.rs", ""), commit, (command, output)];
            let line = line_after(&runs);
            assert!(line.starts_with(&format!("branch `{wanted}`")), "{command}: {line}");
        }
    }

    #[test]
    fn changes_outside_of_a_repository_are_not_called_uncommitted() {
        let state = |command: &'static str, branch: Option<&'static str>| {
            let mut script = Script::default();
            script.item(Item::Context(SessionContext {
                cwd: Some("/app".into()),
                branch: branch.map(Into::into),
                ..SessionContext::default()
            }));
            script.prompt("Write a page");
            script.edit("a", "/app/b.js", "x", "y");
            script.edit("b", "/app/a.js", "x", "y");
            script.run("c", command, Outcome::Succeeded, "");
            let evidence = script.collect();
            line(&Entries { evidence: &evidence, reports: &Reports::default(), project: None })
                .unwrap()
        };
        assert!(state("ls", None).starts_with("changed: `/app/a.js`, `/app/b.js`"));
        assert!(state("ls github", Some("")).starts_with("changed: "));
        for (command, branch) in [("git log -1", None), ("cd a && git status", None)] {
            assert!(state(command, branch).starts_with("not committed: "), "{command}");
        }
        assert!(state("ls", Some("main")).contains("; not committed: "));
    }

    #[test]
    fn the_state_is_what_git_printed_last() {
        let edit = ("edit /app/a.rs", "");
        let commit = ("git commit -am One", "[fix/x aaaaaaa] One\n");
        let pull = "Switched to branch 'main'\nUpdating 1111111..ccccccc\nFast-forward\n";
        let clean = "On branch fix/x\nYour branch is ahead of 'origin/fix/x' by 1 commit.\n\nnothing to commit, working tree clean\n";
        for (runs, wanted) in [
            (
                vec![edit, ("git status --short", " M a.rs\n M mise.toml\n?? notes/\n")],
                "branch `main`; not committed: `a.rs`; changed outside of this session: `mise.toml`, `notes/`",
            ),
            (vec![edit, ("git status --short", "")], "branch `main`; working tree clean"),
            (
                vec![("git status -sb", "## fix/x...origin/fix/x [ahead 1]\n M a.rs\n")],
                "branch `fix/x`; not pushed (1 ahead of `origin/fix/x`); no files were changed; changed outside of this session: `a.rs`",
            ),
            (
                vec![edit, ("cd /sample && git checkout dev && ls", "Switched to branch 'dev'\n")],
                "branch `main`; not committed: `a.rs`",
            ),
            (
                vec![edit, ("cd /app-two && git checkout dev", "Switched to branch 'dev'\n")],
                "branch `dev`; not committed: `a.rs`",
            ),
            (
                vec![
                    edit,
                    ("edit /app/notes.md", ""),
                    (
                        "git add -A notes.md; true",
                        "The following paths are ignored by one of your .gitignore files:\nnotes.md\nhint: Use -f if you really want to add them.\n",
                    ),
                    ("edit /app/.claude/settings.local.json", ""),
                ],
                "branch `main`; not committed: `a.rs`",
            ),
            (
                vec![edit, ("git status --short", ""), ("edit /app/b.rs", "")],
                "branch `main`; not committed: `b.rs`",
            ),
            (
                vec![edit, commit, ("git status", clean)],
                "branch `fix/x`; last commit `aaaaaaa` One; not pushed (1 ahead of `origin/fix/x`); working tree clean",
            ),
            (
                vec![
                    edit,
                    commit,
                    ("git checkout main && git pull", pull),
                    ("git branch -D fix/x", "Deleted branch fix/x (was aaaaaaa).\n"),
                ],
                "branch `main`; HEAD `ccccccc`; last commit `aaaaaaa` One (on `fix/x`, deleted since)",
            ),
            (
                vec![
                    edit,
                    commit,
                    (
                        "git checkout main && git merge --no-ff fix/x && git push",
                        "Merge made by the 'ort' strategy.\n a.rs | 2 +-\nSwitched to branch 'main'\nTo x\n   1234567..ddddddd  main -> main\n",
                    ),
                ],
                "branch `main`; last commit `aaaaaaa` One (on `fix/x`), merged after that; pushed",
            ),
            (
                vec![(
                    "git checkout main && git merge --no-ff fix/x && git push && git branch -d fix/x",
                    "Merge made by the 'ort' strategy.\n a.rs | 2 +-\nDeleted branch fix/x (was aaaaaaa).\nSwitched to branch 'main'\nTo x\n   1234567..ddddddd  main -> main\n",
                )],
                "branch `main`; merged `fix/x`; pushed",
            ),
            (
                vec![edit, ("uv run ruff format", "6 files reformatted, 2 files left unchanged\n")],
                "branch `main`; not committed: `a.rs`; a tool changed files that are not all listed here (6 files reformatted)",
            ),
            (
                vec![edit, ("uv run ruff format", "1 file reformatted, 7 files left unchanged\n")],
                "branch `main`; not committed: `a.rs`",
            ),
            (
                vec![
                    edit,
                    commit,
                    ("git push", "To x\n   1234567..aaaaaaa  fix/x -> fix/x\n"),
                    ("gh pr view 183 --comments", "a comment\n"),
                ],
                "branch `fix/x` (PR #183); last commit `aaaaaaa` One; pushed",
            ),
            (
                vec![("git log --oneline -1", "aaaaaaa One\n")],
                "branch `main` at `aaaaaaa` One; no files were changed",
            ),
        ] {
            assert_eq!(line_after(&runs), wanted, "{runs:?}");
        }
    }
}
