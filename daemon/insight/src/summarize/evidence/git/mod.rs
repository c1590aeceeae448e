//! Records events of the repository from the output of git and of the forges' programs.

mod checkout;
mod closed;
mod commits;
mod forge_checks;
mod ignored;
mod merged;
mod status_files;
mod unrecorded_commits;

use std::sync::Arc;

use regex::Regex;

use self::commits::{Printed, printed};
pub(super) use self::{
    checkout::{bound, makes_stash, observe, restore, restores_nothing},
    commits::{hashes_are_stale, show_history},
    forge_checks::observe_checks,
    unrecorded_commits::{UnrecordedCommits, add_shown_commits},
};
use crate::{
    model::{
        evidence::{Evidence, GitEvent, GitStep, Publication, PullRequest},
        transcript::Outcome,
    },
    summarize::{
        evidence::{bounds, errors, run::Run, shell::RepositoryStep},
        lists::push_latest,
    },
    text::{kept, kept_words, pattern},
};

/// Maximum length, in bytes, of an output that is taken as whole. Agents may have cut a longer
/// output.
const MAX_WHOLE_OUTPUT: usize = 8_000;

/// The outcome of one step of a command line.
#[derive(Clone, Debug, PartialEq)]
enum Ending {
    Succeeded,
    Failed(Option<String>),
    /// The step did not run, or it is unknown whether it ran.
    Unknown,
}

/// Records the effect of a command on the repository, and the texts that it publishes. Returns
/// whether the command made a commit. A Git hook may fail after the commit, so a commit that git
/// prints counts even if the command failed.
pub(super) fn note(evidence: &mut Evidence, run: &Run<'_>) -> bool {
    let steps = &run.command.repository;
    if steps.is_empty() {
        return false;
    }
    let mut printed = printed(run.output).into_iter();
    let mut committed = false;
    let last_commit = steps.iter().rposition(|step| step.commit.is_some());
    for (at, (step, ending)) in steps.iter().zip(endings(run)).enumerate() {
        let line = step.commit.as_ref().and_then(|_| printed.next());
        match &ending {
            Ending::Unknown => continue,
            Ending::Succeeded => committed |= succeeded(evidence, step, line.as_ref(), run),
            Ending::Failed(_) => {}
        }
        note_event(evidence, step, line.as_ref(), ending, run);
        // `git revert` and `git cherry-pick` may make several commits.
        let makes_several = step.commit.as_ref().is_some_and(|made| made.subject.is_none());
        if Some(at) == last_commit && makes_several {
            for line in printed.by_ref() {
                committed |= succeeded(evidence, step, Some(&line), run);
            }
        }
    }
    commits::bound_bodies(&mut evidence.commits);
    committed
}

/// Adds the branch that `git status` printed to the session's branches, or moves this branch to the
/// end of the list, because agents record only the first branch of a session. A full list gets no
/// new branches.
pub(super) fn note_branch(branches: &mut Vec<String>, output: &str) {
    let printed = pattern!(r"(?m)^(?:On branch (\S+)|## ([^\s.]\S*?)\.\.\.\S+(?: \[[^\]]*\])?)$");
    let Some(found) = printed.captures_iter(output).last() else { return };
    let Some(name) = found.get(1).or(found.get(2)) else { return };
    let name = kept(name.as_str(), bounds::NAME);
    branches.retain(|known| *known != name);
    if branches.len() < bounds::NAMES {
        branches.push(name);
    }
}

/// Records the effect of a step that succeeded; returns whether the step made a commit.
fn succeeded(
    evidence: &mut Evidence,
    step: &RepositoryStep,
    printed: Option<&Printed<'_>>,
    run: &Run<'_>,
) -> bool {
    commits::undo(evidence, &step.undone);
    if let Some(published) = &step.published {
        let publication = Publication {
            title: published.title.clone(),
            body: published.body.clone(),
            kind: published.kind,
            origin: run.moment.origin,
        };
        evidence.publications.retain(|known| known.body != publication.body);
        push_latest(&mut evidence.publications, publication, bounds::PUBLICATIONS);
    }
    match step.step {
        Some(GitStep::OpenPullRequest) => pull_requests(evidence, run.output),
        Some(GitStep::ClosePullRequest) => closed::observe(&mut evidence.checkout, run),
        Some(GitStep::MergePullRequest) if step.proven && run.outcome.succeeded() => {
            merged::observe_silent(&mut evidence.checkout.merged, run);
        }
        Some(GitStep::Push) => commits::pushed(evidence, run.output),
        Some(GitStep::Rebase) => commits::rebased(evidence, run.output),
        _ => {}
    }
    step.commit.as_ref().is_some_and(|made| commits::made(evidence, made, printed, run))
}

fn note_event(
    evidence: &mut Evidence,
    step: &RepositoryStep,
    printed: Option<&Printed<'_>>,
    ending: Ending,
    run: &Run<'_>,
) {
    let Some(kind) = step.step else { return };
    // `git checkout src/parts` restores files if `src/parts` is a folder, which only the output
    // shows.
    let is_reset = |other: &RepositoryStep| other.step == Some(GitStep::Reset);
    let restores = kind == GitStep::Switch
        && !run.command.repository.iter().any(is_reset)
        && pattern!(r"(?m)^Updated \d+ paths? from").is_match(run.output)
        && branch_in(kind, run.output).is_none();
    let kind = if restores { GitStep::Reset } else { kind };
    // The width of the first column depends on the number of digits in an abbreviated hash.
    let is_tag = |name: &String| {
        let tags = pattern!(r"\[new tag\] +(\S+) -> ");
        tags.captures_iter(run.output).any(|tag| tag[1] == **name)
    };
    let has_no_effect = match kind {
        GitStep::MergePullRequest => is_merged_later(run.output),
        GitStep::Stash => run.output.contains("No local changes to save"),
        GitStep::Push => step.branch.as_ref().is_some_and(is_tag),
        _ => false,
    };
    if has_no_effect {
        return;
    }
    let succeeded = ending == Ending::Succeeded;
    let error = match ending {
        Ending::Failed(error) => error,
        // The push succeeded, but there was nothing to push.
        _ if kind == GitStep::Push => {
            line_of(run.output, &*pattern!(r"(?m)^Everything up-to-date"))
        }
        _ => None,
    };
    let on_branch = printed.and_then(|line| line.branch).map(str::to_owned);
    let named = step.branch.clone().filter(|_| !restores);
    // For `git push origin HEAD:main`, git prints the same line as for `git push origin HEAD` on
    // `main`.
    let names_both = kind == GitStep::Push && named.as_ref().is_some_and(|name| name.contains(':'));
    let shown = branch_in(kind, run.output).filter(|_| !names_both);
    let event = GitEvent {
        step: kind,
        succeeded,
        branch: on_branch.or(shown).or(named),
        error,
        origin: run.moment.origin,
        at: run.moment.at,
    };
    let repeats = |last: &GitEvent| last.step == kind && last.succeeded && succeeded;
    if kind == GitStep::Stage && evidence.git_events.last().is_some_and(repeats) {
        evidence.git_events.pop();
    }
    push_latest(&mut evidence.git_events, event, bounds::GIT_EVENTS);
}

/// Whether the output says that the forge did not merge the pull request now: the request waits for
/// its requirements or its place in a queue, or auto-merge was disabled.
fn is_merged_later(output: &str) -> bool {
    pattern!(r"will be (?:automatically merged|added to the merge queue)|is already queued to merge|Auto-merge disabled")
        .is_match(output)
}

/// Returns the outcome of each step of a command, from its output and the exit code.
fn endings(run: &Run<'_>) -> Vec<Ending> {
    let steps = &run.command.repository;
    let mut commits = printed(run.output).len();
    let signs: Vec<Option<bool>> = steps
        .iter()
        .map(|step| {
            if step.commit.is_some() && commits > 0 {
                commits -= 1;
                return Some(true);
            }
            sign(step.step, run.output)
        })
        .collect();
    let last_sign = signs.iter().rposition(Option::is_some);
    let precedes_sign = |at| last_sign.is_some_and(|last| last > at);
    let failed = || Ending::Failed(error_line(run.output));
    let mut is_skipped = false;
    let mut endings = Vec::with_capacity(steps.len());
    for (at, (step, sign)) in steps.iter().zip(&signs).enumerate() {
        let ending = match sign {
            _ if is_skipped => Ending::Unknown,
            Some(true) => Ending::Succeeded,
            Some(false) => failed(),
            None if step.is_alternative && step.step == Some(GitStep::Commit) => Ending::Unknown,
            None if step.chained && signs.get(at + 1) == Some(&Some(true)) => Ending::Succeeded,
            None if (precedes_sign(at) || run.outcome.succeeded())
                && lacks_commit(step, run.output) =>
            {
                Ending::Unknown
            }
            None if precedes_sign(at) => Ending::Succeeded,
            None if run.outcome.succeeded() => {
                let hidden = !step.proven && errors::shows_failure(run.output);
                if hidden { failed() } else { Ending::Succeeded }
            }
            None if run.outcome == Outcome::Interrupted || step.guarded => Ending::Unknown,
            // Git prints an error when staging fails. A failure without such an error belongs to a
            // later step.
            None if step.step == Some(GitStep::Stage) && at + 1 < steps.len() => Ending::Succeeded,
            None => failed(),
        };
        is_skipped = step.chained && ending != Ending::Succeeded;
        endings.push(ending);
    }
    endings
}

/// Whether a step is a commit that git would have printed, and the output shows no such commit.
fn lacks_commit(step: &RepositoryStep, output: &str) -> bool {
    let shows_commit = pattern!(
        r"(?m)^ \d+ files? changed|^ (?:create|delete) mode \d|^ mode change \d|^ (?:rename|copy|rewrite) .*\(\d+%\)$"
    );
    let is_whole = output.len() <= MAX_WHOLE_OUTPUT && !output.trim().is_empty();
    let prints = step.commit.as_ref().is_some_and(|made| !made.is_hidden);
    prints && !step.proven && is_whole && !shows_commit.is_match(output)
}

/// Returns whether an output shows that a step succeeded; `None` if the outcome is not shown.
fn sign(step: Option<GitStep>, output: &str) -> Option<bool> {
    let (success, failure) = outcome_patterns(step?);
    // An output that shows both outcomes counts as a failure.
    if failure.is_match(output) || step == Some(GitStep::Commit) && hook_failed(output) {
        return Some(false);
    }
    success.is_match(output).then_some(true)
}

/// Whether a hook stopped a commit, according to the program that runs the hooks: pre-commit,
/// husky, lint-staged or lefthook. False if a push failed, because these programs also run the
/// hooks of a push.
fn hook_failed(output: &str) -> bool {
    let failed = pattern!(
        r"(?m)^- exit code: [1-9]|^- files were modified by this hook|^husky - .*(?: failed|exited with code [1-9])|^\W*lint-staged failed|^\W*(?:husky > )?pre-commit hook (?:failed|declined|exited)"
    );
    // The heading of lefthook is `│ 🥊 lefthook v1.4.3  hook: pre-commit │`.
    let failed_job = pattern!(r"(?m)^\s*🥊\s+(\S+)");
    let names_job = |found: regex::Captures<'_>| &found[1] != "lefthook";
    !output.contains("error: failed to push some refs")
        && (failed.is_match(output) || failed_job.captures_iter(output).any(names_job))
}

/// Returns the pattern of outputs that show that a step succeeded, and the pattern of outputs that
/// show that it failed. The pattern `[a&&b]` matches nothing.
fn outcome_patterns(step: GitStep) -> (Arc<Regex>, Arc<Regex>) {
    match step {
        GitStep::Stage => (
            pattern!(r"[a&&b]"),
            pattern!(r"(?m)^fatal: pathspec |^The following paths are ignored"),
        ),
        GitStep::Commit => (
            pattern!(r"[a&&b]"),
            pattern!(
                r"(?m)^(?:nothing to commit|nothing added to commit|no changes added to commit|error: gpg failed|fatal: failed to write commit|Aborting commit|error: could not (?:apply|revert) )"
            ),
        ),
        GitStep::Push => (
            pattern!(
                r"(?m)^Everything up-to-date|^ [ +*=-] (?:\S+\.\.\.?\S+|\[new (?:branch|tag|reference)\])|^branch '.*' set up to track"
            ),
            pattern!(
                r"(?m)! \[(?:remote )?rejected\]|^error: failed to push|^fatal: (?:could not read|Authentication|unable to access|The current branch|'|repository)"
            ),
        ),
        GitStep::Switch => (
            pattern!(r"(?m)^(?:Switched to|Already on|Reset branch|HEAD is now at)"),
            pattern!(
                r"(?m)^(?:error: pathspec|error: Your local changes|fatal: (?:a branch named|invalid reference|'))"
            ),
        ),
        GitStep::Merge => (
            pattern!(
                r"(?m)^(?:Fast-forward|Already up to date|Merge made by|Automatic merge went well)"
            ),
            pattern!(
                r"(?m)^(?:CONFLICT |Automatic merge failed|fatal: (?:Need to specify|Not possible to fast-forward|refusing to merge))"
            ),
        ),
        GitStep::Rebase => (
            pattern!(
                r"Successfully rebased|(?m)^(?:Current branch .* is up to date|Already up to date)"
            ),
            pattern!(
                r"(?m)^(?:CONFLICT |error: could not apply|error: cannot (?:pull with )?rebase|Could not apply)"
            ),
        ),
        GitStep::Reset => (pattern!(r"(?m)^HEAD is now at"), pattern!(r"[a&&b]")),
        GitStep::Stash => (pattern!(r"(?m)^Saved working directory"), pattern!(r"[a&&b]")),
        GitStep::OpenPullRequest => (
            pattern!(r"https://[^\s/]+/\S+/(?:pull|merge_requests|pull-requests)/\d+\s*(?:\n|$)"),
            pattern!(
                r"already exists:|(?m)^(?:pull request create failed|GraphQL: |could not|HTTP 4)"
            ),
        ),
        GitStep::MergePullRequest => (
            pattern!(r"(?m)^\W*(?:Merged|Squashed and merged|Rebased and merged) pull request"),
            pattern!(r"(?m)^\W*(?:Pull request .* is not mergeable|GraphQL: |failed to )"),
        ),
        GitStep::ClosePullRequest => (
            pattern!(r"(?m)^\W*Closed (?:pull|merge) request "),
            pattern!(r"(?m)^\W*(?:GraphQL: |failed to |could not )|can't be closed"),
        ),
    }
}

/// Returns the line that says why a step failed.
fn error_line(output: &str) -> Option<String> {
    [
        pattern!(r"(?m)^.*! \[(?:remote )?rejected\].*$"),
        pattern!(r"(?m)^CONFLICT .*$"),
        pattern!(r"(?m)^(?:nothing to commit|nothing added to commit|no changes added).*$"),
        pattern!(r"(?m)^fatal: .*$"),
        pattern!(r"(?m)^(?:pull request create failed|GraphQL: |error: gpg|error: pathspec|error: Your).*$"),
    ]
    .into_iter()
    .find_map(|pattern| line_of(output, &pattern))
    .or_else(|| errors::message_of(output))
}

fn line_of(output: &str, pattern: &regex::Regex) -> Option<String> {
    let line = pattern.find(output)?.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    Some(kept_words(&line, bounds::ERROR_TEXT))
}

/// Returns the branch of a step, as the output shows it. For a push to a branch with another name:
/// `local:remote`.
fn branch_in(step: GitStep, output: &str) -> Option<String> {
    let named = match step {
        GitStep::Push => pattern!(
            r"(?m)^ [ +*=!-] (?:\S+\.\.\.?\S+|\[(?:new (?:branch|reference)|up to date|(?:remote )?rejected|remote failure)\]) +(\S+) -> (\S+)"
        ),
        GitStep::Switch => {
            pattern!(r"(?m)^(?:Switched to (?:a new )?branch|Already on) '([^']+)'")
        }
        GitStep::Rebase => pattern!(r"updated refs/heads/([^\s]+?)\.?\s*$"),
        _ => return None,
    };
    let last = named.captures_iter(output).last()?;
    let branch = match last.get(2).map(|remote| remote.as_str()) {
        Some(remote) if matches!(&last[1], "HEAD") || &last[1] == remote => remote.to_owned(),
        Some(remote) => format!("{}:{remote}", &last[1]),
        None => last[1].to_owned(),
    };
    Some(kept(&branch, bounds::NAME))
}

/// Records the last pull request whose URL is in the output of a command that opens pull requests.
fn pull_requests(evidence: &mut Evidence, output: &str) {
    let address = pattern!(r"https://[^\s/]+/[^\s]+?/(?:pull|merge_requests|pull-requests)/(\d+)");
    if let Some(found) = address.captures_iter(output).last() {
        pull_request(evidence, &found[0], found[1].parse().ok());
    }
}

/// Records a new pull request, or the missing number of a recorded pull request.
pub(super) fn pull_request(evidence: &mut Evidence, url: &str, number: Option<u64>) {
    let url = kept(url, bounds::NAME);
    if let Some(known) = evidence.pull_requests.iter_mut().find(|known| known.url == url) {
        known.number = known.number.or(number);
        return;
    }
    push_latest(&mut evidence.pull_requests, PullRequest { url, number }, bounds::PULL_REQUESTS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::transcript::Origin,
        summarize::evidence::{moment::EntryPosition, shell::CommandLine},
    };

    /// A command, its outcome and its output.
    pub(super) struct Ran(pub(super) &'static str, pub(super) Outcome, pub(super) &'static str);

    pub(super) const FINE: Outcome = Outcome::Succeeded;
    pub(super) const FAILED: Outcome = Outcome::Failed(Some(1));

    pub(super) fn evidence_of(runs: &[Ran]) -> Evidence {
        let mut evidence = Evidence::default();
        for (number, Ran(line, outcome, output)) in runs.iter().enumerate() {
            let command = &CommandLine::read(line, "");
            let origin = Origin { source: 0, line: number as u64 + 1 };
            let moment = EntryPosition { origin, at: None };
            if command.shows_history && hashes_are_stale(&evidence) {
                show_history(&mut evidence, output);
            }
            note(&mut evidence, &Run { command, outcome: *outcome, output, moment });
        }
        evidence
    }

    fn events_of(runs: &[Ran]) -> Vec<String> {
        let shown = |event: GitEvent| {
            let branch = event.branch.map(|branch| format!(" {branch}")).unwrap_or_default();
            let error = event.error.map(|error| format!(": {error}")).unwrap_or_default();
            let mark = if event.succeeded { "" } else { " failed" };
            format!("{:?}{branch}{mark}{error}", event.step)
        };
        evidence_of(runs).git_events.into_iter().map(shown).collect()
    }

    #[test]
    fn events_are_in_order_and_have_their_branches() {
        let pushed = "To https://x.org/a\n   1a2b3c4..5d6e7f8  fix/x -> fix/x\n";
        assert_eq!(
            events_of(&[
                Ran("git checkout -b fix/x", FINE, "Switched to a new branch 'fix/x'\n"),
                Ran("git add a b", FINE, ""),
                Ran("git add c && git commit -m One", FINE, "[fix/x 1a2b3c4] One\n"),
                Ran("git push", FINE, pushed),
                Ran("gh pr create --fill", FINE, "https://x.org/a/b/pull/12\n"),
                Ran("gh pr merge 12 --squash", FINE, "✓ Squashed and merged pull request #12\n"),
                Ran("gh pr close 13", FINE, "✓ Closed pull request a/b#13 (One)\n"),
            ]),
            [
                "Switch fix/x",
                "Stage",
                "Commit fix/x",
                "Push fix/x",
                "OpenPullRequest",
                "MergePullRequest",
                "ClosePullRequest",
            ]
        );
    }

    #[test]
    fn a_failed_step_has_its_error_and_ends_the_chain() {
        let rejected = "To x\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'x'\n";
        assert_eq!(
            events_of(&[
                Ran(
                    "git add a && git commit -m One && git push",
                    FAILED,
                    "On branch main\nnothing to commit, working tree clean\n"
                ),
                Ran("git push", FAILED, rejected),
                Ran("git push 2>&1 | tail -3", FINE, rejected),
                Ran("git push", FINE, "Everything up-to-date\n"),
                Ran("git rebase main", FAILED, "CONFLICT (content): Merge conflict in a.rs\n"),
                Ran("git add a && git commit -m x", FAILED, "a.ts(1,2): error TS2304: Bad name\n"),
                Ran("npm test && git commit -m x", FAILED, "1 failed\n"),
            ]),
            [
                "Stage",
                "Commit failed: nothing to commit, working tree clean",
                "Push main failed: ! [rejected] main -> main (fetch first)",
                "Push main failed: ! [rejected] main -> main (fetch first)",
                "Push: Everything up-to-date",
                "Rebase failed: CONFLICT (content): Merge conflict in a.rs",
                "Stage",
                "Commit failed: a.ts(1,2): error TS2304: Bad name",
            ]
        );
    }

    #[test]
    fn restored_files_tags_and_commits_name_no_branch() {
        let restored = "Updated 1 path from the index\n";
        let tag = "To x.org:a/b.git\n * [new tag]         v1.2.0 -> v1.2.0\n";
        let wide_tag = "To x.org:a/b.git\n * [new tag]             v1.2.0 -> v1.2.0\n";
        let both = "To x.org:a/b.git\n   1a2b3c4..5d6e7f8  main -> main\n * [new tag]         v1.2.0 -> v1.2.0\n";
        let detached = "Note: switching to '1a2b3c4'.\nHEAD is now at 1a2b3c4 One\n";
        for (run, wanted) in [
            (Ran("git checkout Makefile", FINE, restored), vec!["Reset"]),
            (Ran("git checkout go.sum", FINE, restored), vec!["Reset"]),
            (Ran("git checkout .gitignore", FINE, restored), vec!["Reset"]),
            (Ran("git checkout src/parts", FINE, restored), vec!["Reset"]),
            (
                Ran("git checkout -q main && git checkout -- a.rs", FINE, restored),
                vec!["Switch main", "Reset"],
            ),
            (
                Ran("git checkout -q main && git checkout a.rs", FINE, restored),
                vec!["Switch main", "Reset"],
            ),
            (Ran("git checkout 1a2b3c4", FINE, detached), vec!["Switch"]),
            (Ran("git checkout \"$b\" -q", FINE, ""), vec!["Switch"]),
            (Ran("git checkout release/1.2 -q", FINE, ""), vec!["Switch release/1.2"]),
            (
                Ran("git checkout dependabot/npm/lodash-4.17.21 -q", FINE, ""),
                vec!["Switch dependabot/npm/lodash-4.17.21"],
            ),
            (Ran("git push origin v1.2.0", FINE, tag), vec![]),
            (Ran("git push origin v1.2.0", FINE, wide_tag), vec![]),
            (Ran("git push origin v1x2.0", FINE, tag), vec!["Push v1x2.0"]),
            (Ran("git push origin main && git push origin v1.2.0", FINE, tag), vec!["Push main"]),
            (Ran("git push origin main --tags", FINE, both), vec!["Push main"]),
            (
                Ran(
                    "git push origin HEAD:staging",
                    FINE,
                    "To x\n   1a2b3c4..5d6e7f8  HEAD -> staging\n",
                ),
                vec!["Push HEAD:staging"],
            ),
            (
                Ran("git push", FINE, "To x\n   1a2b3c4..5d6e7f8  fix/x -> main\n"),
                vec!["Push fix/x:main"],
            ),
            (
                Ran("git push -u origin HEAD", FINE, "To x\n * [new branch]      HEAD -> fix/x\n"),
                vec!["Push fix/x"],
            ),
            (Ran("git push origin :old", FINE, "To x\n - [deleted]         old\n"), vec![]),
            (Ran("git push origin fix/x -q", FINE, ""), vec!["Push fix/x"]),
            (Ran("gh pr merge 12 --auto --squash", FINE, ""), vec![]),
            (Ran("gh pr merge 12 --squash", FINE, ""), vec!["MergePullRequest"]),
        ] {
            let line = run.0;
            assert_eq!(events_of(&[run]), wanted, "{line}");
        }
    }

    #[test]
    fn a_merge_that_prints_nothing_is_a_merge() {
        for (run, wanted) in [
            (Ran("gh pr merge 12 --squash --delete-branch", FINE, ""), vec![12]),
            (Ran("gh pr merge --squash 12", FINE, "\n"), vec![12]),
            (Ran("gh pr merge 12 --auto --squash", FINE, ""), vec![]),
            (Ran("gh pr merge 12 --squash", FAILED, ""), vec![]),
            (Ran("gh pr merge 12 --squash || true", FINE, ""), vec![]),
            (Ran("gh pr merge 12 --squash", FINE, "will be added to the merge queue\n"), vec![]),
            (Ran("gh pr merge --squash", FINE, ""), vec![]),
        ] {
            let line = run.0;
            assert_eq!(evidence_of(&[run]).checkout.merged, wanted, "{line}");
        }
    }

    #[test]
    fn a_commit_that_a_hook_stopped_is_not_made() {
        let hook =
            "ruff.....Failed\n- hook id: ruff\n- exit code: 1\n\nsrc/list.py:3:1: F401 unused\n";
        let fixed = "ruff.....Failed\n- hook id: ruff\n- files were modified by this hook\n\nEverything up-to-date\n";
        for (run, commits) in [
            (Ran("git commit -m One 2>&1 | tail -8", FINE, hook), 0),
            (Ran("git add -A\ngit commit -m One\ngit push", FINE, fixed), 0),
            (Ran("git commit -m One 2>&1 | tail -2", FINE, "✖ lint-staged failed\n"), 0),
            (Ran("git commit -m One 2>&1 | tail -2", FINE, "🥊 lint (0.4 seconds)\n"), 0),
            (Ran("git commit -qm One; ls", FINE, "🥊  lint (0.02 seconds)\n"), 0),
            (
                Ran("git commit -qm One; ls", FINE, "husky - pre-commit hook exited with code 1\n"),
                0,
            ),
            (
                Ran(
                    "git commit -qm One; ls",
                    FINE,
                    "husky > pre-commit hook failed (add --no-verify)\n",
                ),
                0,
            ),
            (
                Ran(
                    "git commit -qm One; ls",
                    FINE,
                    "│ 🥊 lefthook v1.4.3  hook: pre-commit │\na.rs\n",
                ),
                1,
            ),
            (Ran("git commit -qm One; ls", FINE, "🥊 lefthook v1.4.3\na.rs\n"), 1),
            (
                Ran(
                    "git commit -qm One; git push",
                    FAILED,
                    "🥊  test (2.02 seconds)\nerror: failed to push some refs to 'x'\n",
                ),
                1,
            ),
            (Ran("git add -A; git diff --cached --quiet || git commit -m One", FINE, ""), 0),
            (
                Ran(
                    "git diff --cached --quiet || git commit -m One",
                    FINE,
                    "[main 1a2b3c4] One\n 1 file changed\n",
                ),
                1,
            ),
            (Ran("git commit -qm One", FINE, ""), 1),
            (Ran("git commit -m One | tail -1", FINE, " 1 file changed, 2 insertions(+)\n"), 1),
            (
                Ran(
                    "git commit -m One",
                    FINE,
                    "ruff.....Passed\n- hook id: ruff\n- duration: 0.1s\n[main 1a2b3c4] One\n",
                ),
                1,
            ),
        ] {
            let line = run.0;
            assert_eq!(evidence_of(&[run]).commits.len(), commits, "{line}");
        }
    }

    #[test]
    fn a_commit_that_git_would_have_printed_is_unknown_without_a_sign() {
        let pushed = "To x\n   1a2b3c4..5d6e7f8  main -> main\n";
        for (line, output, commits) in [
            ("git commit -m One 2>&1 | tail -3", "check-types: 3 problems\n", 0),
            ("git commit -m One; git push", "Everything up-to-date\n", 0),
            ("git commit -m One\nnpm run report", "check-types: 3 problems\nreport written\n", 0),
            ("git commit -m One 2>&1 | tail -3", " 2 files changed, 3 insertions(+)\n", 1),
            ("git commit -m One 2>&1 | tail -1", " create mode 100644 a.rs\n", 1),
            ("git commit -m One 2>&1 | tail -1", " mode change 100644 => 100755 a.sh\n", 1),
            ("git commit -m One 2>&1 | tail -1", " rename a.rs => b.rs (100%)\n", 1),
            ("git commit -m One | grep files", "lint passed\n", 1),
            ("git commit -m One 2>&1 | head -2", "[STARTED] Preparing lint-staged...\n", 1),
            ("git commit -qm One; ls", "a.rs\n", 1),
            ("git commit -m One > /dev/null; ls", "a.rs\n", 1),
            ("ls && git commit -m One", "a.rs\n", 1),
            ("git commit -m One; true", "", 1),
            ("(git commit -m One && git push) 2>&1 | tail -1", pushed, 1),
            ("(git commit -m One; git push) 2>&1 | tail -1", pushed, 1),
            ("git commit -m One && git push 2>&1 | tail -1", pushed, 1),
        ] {
            assert_eq!(evidence_of(&[Ran(line, FINE, output)]).commits.len(), commits, "{line}");
        }
        let cut = "x\n".repeat(5_000).leak();
        assert_eq!(evidence_of(&[Ran("git commit -m One; ls", FINE, cut)]).commits.len(), 1);
        let failed = Ran("git commit -m One; git push", FAILED, "fatal: bad\n");
        assert_eq!(events_of(&[failed])[0], "Commit failed: fatal: bad");
    }

    #[test]
    fn only_published_texts_are_recorded() {
        let address = "https://x.org/a/b/pull/12\n";
        let evidence = evidence_of(&[
            Ran("gh pr create --title A --body 'It is done'", FAILED, "GraphQL: no commits\n"),
            Ran("gh pr create --title A --body 'It is done'", FINE, address),
            Ran("gh pr comment 12 --body 'Fixed in 1a2b3c4'", FINE, address),
            Ran("gh pr comment 12 --body 'No'", FAILED, "HTTP 404\n"),
        ]);
        let bodies: Vec<&str> = evidence.publications.iter().map(|one| one.body.as_str()).collect();
        assert_eq!(bodies, ["It is done", "Fixed in 1a2b3c4"]);
        assert_eq!(evidence.publications[0].title.as_deref(), Some("A"));
    }

    #[test]
    fn a_pull_request_is_recorded_once() {
        let output = "Creating pull request\nhttps://git.example.org/team/app/pull/12\n";
        let mut evidence = evidence_of(&[Ran("gh pr create --fill", FINE, output)]);
        pull_request(&mut evidence, "https://git.example.org/team/app/pull/12", None);
        assert_eq!(evidence.pull_requests.len(), 1);
        assert_eq!(evidence.pull_requests[0].number, Some(12));
    }
}
