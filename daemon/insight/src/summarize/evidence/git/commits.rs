//! Follows the commits of a session to their final state. A commit that was amended or reset is
//! removed, and a rebased commit gets its newest hash.

use crate::{
    model::evidence::{Commit, Evidence, GitEvent, GitStep},
    summarize::{
        evidence::{
            bounds,
            run::Run,
            shell::{CommitMade, Undone},
        },
        lists::push_latest,
    },
    text::{kept, pattern},
};

/// A commit as git prints it: `[main 1a2b3c4] Fix the parser`.
pub(super) struct Printed<'o> {
    pub(super) branch: Option<&'o str>,
    pub(super) hash: &'o str,
    pub(super) subject: &'o str,
}

/// Returns the new commits that git printed in an output.
pub(super) fn printed(output: &str) -> Vec<Printed<'_>> {
    let line =
        pattern!(r"(?m)^\[(\S+|detached HEAD)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$");
    let group = |found: &regex::Captures<'_>, at| found.get(at).map_or(0..0, |part| part.range());
    line.captures_iter(output)
        .map(|found| Printed {
            branch: Some(&output[group(&found, 1)]).filter(|name| *name != "detached HEAD"),
            hash: &output[group(&found, 2)],
            subject: &output[group(&found, 3)],
        })
        .collect()
}

/// Records a commit that a command made; returns whether a commit was recorded.
pub(super) fn made(
    evidence: &mut Evidence,
    made: &CommitMade,
    printed: Option<&Printed<'_>>,
    run: &Run<'_>,
) -> bool {
    let subject =
        printed.map(|line| kept(line.subject, bounds::SUBJECT)).or_else(|| made.subject.clone());
    let known = &mut evidence.commits;
    let before = amended(known, made, subject.as_deref());
    let before = before.map(|at| known.remove(at));
    // A continued rebase also prints commits that the session did not make.
    if made.replays && before.is_none() && printed.is_some_and(|line| line.branch.is_none()) {
        return false;
    }
    let Some(subject) = subject.or_else(|| before.as_ref().map(|before| before.subject.clone()))
    else {
        return false;
    };
    let hash = printed.map(|line| line.hash).or_else(|| hash_shown(run.output, &subject));
    let body = match before {
        Some(before) if made.subject.is_none() => before.body,
        _ => made.body.clone(),
    };
    let commit = Commit {
        hash: hash.unwrap_or_default().to_owned(),
        subject,
        body,
        origin: run.moment.origin,
        at: run.moment.at,
    };
    known.retain(|known| known.hash.is_empty() || known.hash != commit.hash);
    push_latest(known, commit, bounds::COMMITS);
    true
}

/// Returns the index of the commit that a new commit replaces.
fn amended(known: &[Commit], made: &CommitMade, subject: Option<&str>) -> Option<usize> {
    if made.replays {
        return known.iter().rposition(|known| Some(known.subject.as_str()) == subject);
    }
    let last = known.len().checked_sub(1).filter(|_| made.amends)?;
    match subject.filter(|_| made.subject.is_none()) {
        // An amended commit without a new message keeps its old subject. After a rebase, the last
        // recorded commit may not be the latest one.
        Some(subject) => known.iter().rposition(|known| known.subject == subject),
        None => Some(last),
    }
}

/// Returns the hash of the commit with this subject, from a history in the same output.
fn hash_shown<'o>(output: &'o str, subject: &str) -> Option<&'o str> {
    history(output).find(|(_, shown)| *shown == subject).map(|(hash, _)| hash)
}

pub(super) fn is_hash(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the hashes and subjects of a history in the short or in the long form, the newest first.
pub(super) fn short_or_long_history(output: &str) -> Vec<(String, String)> {
    let long = pattern!(r"(?m)^commit ([0-9a-f]{7,40})(?: \([^)]*\))?\n(?:\w+:.*\n)+\n {4}(\S.*)$");
    let short = history(output).map(|(hash, subject)| (hash.to_owned(), subject.to_owned()));
    let long = long.captures_iter(output).map(|found| (found[1].to_owned(), found[2].to_owned()));
    let long: Vec<(String, String)> = long.collect();
    if long.is_empty() { short.collect() } else { long }
}

/// Returns the hashes and subjects in lines of `git log --oneline`, the newest first.
fn history(output: &str) -> impl Iterator<Item = (&str, &str)> {
    output.lines().filter_map(|line| {
        let (hash, rest) = line.trim_start_matches(['*', '|', ' ']).split_once(' ')?;
        let subject = match rest.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
            Some((_, subject)) => subject,
            None => rest,
        };
        is_hash(hash).then_some((hash, subject.trim()))
    })
}

/// Finds the recorded commits in a history by their subjects, and updates their hashes. For
/// example, a rebase changes hashes without printing the new hashes.
pub(in crate::summarize::evidence) fn show_history(evidence: &mut Evidence, output: &str) {
    for (hash, subject) in history(output) {
        let known = evidence.commits.iter_mut().rev().find(|commit| commit.subject == subject);
        if let Some(commit) = known {
            hash.clone_into(&mut commit.hash);
        }
    }
}

/// Whether the recorded hashes may be outdated: a rebase followed the last commit, or the hash of
/// the last commit is unknown.
pub(in crate::summarize::evidence) fn hashes_are_stale(evidence: &Evidence) -> bool {
    let Some(last) = evidence.commits.last() else { return false };
    let rebased = |event: &GitEvent| {
        event.step == GitStep::Rebase && event.succeeded && event.origin >= last.origin
    };
    last.hash.is_empty() || evidence.git_events.iter().any(rebased)
}

/// Clears the hashes of the commits that a successful rebase rewrote without printing the new
/// hashes.
pub(super) fn rebased(evidence: &mut Evidence, output: &str) {
    if !output.contains("Successfully rebased") {
        return;
    }
    // A rebase that stopped at conflicts has printed some of the new hashes.
    let is_part = |event: &&GitEvent| {
        matches!(event.step, GitStep::Rebase | GitStep::Stage | GitStep::Commit)
    };
    let way = evidence.git_events.iter().rev().take_while(is_part);
    let begun = way.filter(|event| event.step == GitStep::Rebase).last();
    let Some(begin) = begun.map(|event| event.origin) else {
        evidence.commits.iter_mut().for_each(|commit| commit.hash.clear());
        return;
    };
    let before = evidence.commits.iter_mut();
    before.filter(|commit| commit.origin < begin).for_each(|commit| commit.hash.clear());
}

/// Reads the last commit's hash from the output of a push, if a rebase has changed the hash or if
/// the hash is unknown.
pub(super) fn pushed(evidence: &mut Evidence, output: &str) {
    if !hashes_are_stale(evidence) {
        return;
    }
    let range = pattern!(r"(?m)^[ +]+[0-9a-f]{7,40}\.\.\.?([0-9a-f]{7,40}) +\S+ -> \S+");
    if let (Some(found), Some(last)) = (range.captures(output), evidence.commits.last_mut()) {
        found[1].clone_into(&mut last.hash);
    }
}

pub(super) fn undo(evidence: &mut Evidence, undone: &Undone) {
    let commits = &mut evidence.commits;
    match undone {
        Undone::Nothing => {}
        Undone::Latest(number) => {
            let left = commits.len().saturating_sub(usize::try_from(*number).unwrap_or(usize::MAX));
            commits.truncate(left);
        }
        Undone::After(hash) => {
            let is_it = |commit: &Commit| {
                !commit.hash.is_empty()
                    && (commit.hash.starts_with(hash.as_str()) || hash.starts_with(&commit.hash))
            };
            if let Some(at) = commits.iter().rposition(is_it) {
                commits.truncate(at + 1);
            }
        }
        Undone::Fixups => commits.retain(|commit| {
            !commit.subject.starts_with("fixup! ") && !commit.subject.starts_with("squash! ")
        }),
        Undone::Branch(branch) => {
            let events = &evidence.git_events;
            commits.retain(|commit| branch_of(commit, events) != Some(branch));
        }
        Undone::OwnBranch => {
            let events = &evidence.git_events;
            let own = commits.last().and_then(|commit| branch_of(commit, events)).cloned();
            let Some(own) = own.filter(|own| !matches!(own.as_str(), "main" | "master")) else {
                return;
            };
            commits.retain(|commit| branch_of(commit, events) != Some(&own));
        }
    }
}

/// Returns the branch that a commit was made on, if it is known.
fn branch_of<'e>(commit: &Commit, events: &'e [GitEvent]) -> Option<&'e String> {
    let made = |event: &&GitEvent| event.step == GitStep::Commit && event.origin == commit.origin;
    events.iter().find(made)?.branch.as_ref()
}

/// Keeps each body that fits into the limit together with the newer kept bodies. Clears the others.
pub(super) fn bound_bodies(commits: &mut [Commit]) {
    let mut remaining = bounds::COMMIT_BODIES;
    for commit in commits.iter_mut().rev() {
        match remaining.checked_sub(commit.body.len()) {
            Some(left) => remaining = left,
            None => commit.body.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::git::tests::{FAILED, FINE, Ran, evidence_of};

    fn commits_of(runs: &[Ran]) -> Vec<String> {
        let shown = |commit: crate::model::evidence::Commit| {
            let body = if commit.body.is_empty() { "" } else { ": " };
            format!("{} {}{body}{}", commit.hash, commit.subject, commit.body)
        };
        evidence_of(runs).commits.into_iter().map(shown).collect()
    }

    const ONE: Ran = Ran("git commit -m One -m why", FINE, "[main aaaaaaa] One\n");
    const TWO: Ran = Ran("git commit -m Two -m how", FINE, "[main bbbbbbb] Two\n");

    #[test]
    fn commits_are_read_from_the_output_of_git() {
        let output = "hook ran\n[main 1a2b3c4] Fix the parser\n 1 file changed\n";
        let root = "[main (root-commit) 1a2b3c4] Begin\n";
        let log = "1a2b3c4 (HEAD -> main) Quiet one\n";
        for (run, wanted) in [
            (Ran("git commit -m 'Fix the parser'", FINE, output), "1a2b3c4 Fix the parser"),
            (Ran("git add . && git commit -m Begin", FINE, root), "1a2b3c4 Begin"),
            (Ran("git commit -qm 'Quiet one'", FINE, ""), " Quiet one"),
            (Ran("git commit -qm 'Quiet one' && git log -1", FINE, log), "1a2b3c4 Quiet one"),
            (Ran("git -c a=b commit -m x | tail -1", FINE, " 1 file changed\n"), " x"),
        ] {
            assert_eq!(commits_of(&[run]), [wanted]);
        }
        for run in [
            Ran("git log --oneline", FINE, "[main 1a2b3c4] x"),
            Ran("git commit -m x", FAILED, "nothing to commit, working tree clean\n"),
            Ran("git commit -m x", FAILED, "error: gpg failed to sign the data\n"),
            Ran("git commit -m x", FAILED, "lint: 3 problems\n"),
        ] {
            assert_eq!(commits_of(&[run]), [""; 0]);
        }
    }

    #[test]
    fn a_rebase_with_autosquash_removes_the_commits_that_it_adds_to_others() {
        let fixup = || Ran("git commit --fixup aaaaaaa", FINE, "[main ccccccc] fixup! One\n");
        let done = "Successfully rebased and updated refs/heads/main.\n";
        let line = "GIT_SEQUENCE_EDITOR=true git rebase -i --autosquash aaaaaaa~1";
        let squashed = commits_of(&[ONE, TWO, fixup(), Ran(line, FINE, done)]);
        assert_eq!(squashed, [" One: why", " Two: how"]);
        let up_to_date = "Current branch fix/x is up to date.\n";
        for rebase in [
            Ran("git rebase main", FINE, up_to_date),
            Ran("git rebase -i --autosquash main", FAILED, "CONFLICT (content): a.rs\n"),
        ] {
            let line = rebase.0;
            let left = commits_of(&[ONE, fixup(), rebase]);
            assert_eq!(left, ["aaaaaaa One: why", "ccccccc fixup! One"], "{line}");
        }
    }

    #[test]
    fn an_amended_commit_replaces_the_commit_before() {
        let amend = Ran("git commit --amend -m Three -m new", FINE, "[main ccccccc] Three\n");
        assert_eq!(commits_of(&[ONE, TWO, amend]), ["aaaaaaa One: why", "ccccccc Three: new"]);
        let keep = Ran("git commit --amend --no-edit", FINE, "[main ccccccc] Two\n");
        assert_eq!(commits_of(&[ONE, TWO, keep]), ["aaaaaaa One: why", "ccccccc Two: how"]);
        let other = Ran("git commit --amend --no-edit", FINE, "[main ccccccc] Old\n");
        assert_eq!(commits_of(&[ONE, other]), ["aaaaaaa One: why", "ccccccc Old"]);
        let failed = Ran("git commit --amend --no-edit", FAILED, "fatal: bad\n");
        assert_eq!(commits_of(&[ONE, failed]), ["aaaaaaa One: why"]);
    }

    #[test]
    fn commits_that_were_reset_or_squashed_are_removed() {
        let reset = Ran("git reset --soft HEAD~2", FINE, "");
        let squash = Ran("git commit -m Both", FINE, "[main ccccccc] Both\n");
        assert_eq!(commits_of(&[ONE, TWO, reset, squash]), ["ccccccc Both"]);
        let reset = Ran("git reset --hard aaaaaaa", FINE, "HEAD is now at aaaaaaa One\n");
        assert_eq!(commits_of(&[ONE, TWO, reset]), ["aaaaaaa One: why"]);
        let refused = Ran("git reset --hard HEAD~1", FAILED, "fatal: bad\n");
        assert_eq!(commits_of(&[ONE, refused]), ["aaaaaaa One: why"]);
        let [one, two] = ["[fix aaaaaaa] One\n", "[fix bbbbbbb] Two\n"];
        let squashed = [
            Ran("git commit -m One", FINE, one),
            Ran("git commit -m Two", FINE, two),
            Ran("git reset --soft main && git status", FINE, ""),
            Ran("git commit -m Both", FINE, "[fix ccccccc] Both\n"),
        ];
        assert_eq!(commits_of(&squashed), ["ccccccc Both"]);
        let merged =
            Ran("git merge --squash main && git commit -m All", FINE, "[dev ccccccc] All\n");
        assert_eq!(commits_of(&[ONE, TWO, merged]), ["ccccccc All"]);
    }

    #[test]
    fn a_rebased_commit_has_its_newest_hash() {
        let rebased = "Rebasing (1/1)\nSuccessfully rebased and updated refs/heads/main.\n";
        let pull = || Ran("git pull --rebase", FINE, rebased);
        let push = Ran("git push", FINE, "To x\n   1234567..ccccccc  main -> main\n");
        assert_eq!(commits_of(&[ONE, pull(), push]), ["ccccccc One: why"]);
        let log = Ran("git log --oneline", FINE, "ddddddd (HEAD) Two\nccccccc One\n1234567 Old\n");
        assert_eq!(commits_of(&[ONE, TWO, pull(), log]), ["ccccccc One: why", "ddddddd Two: how"]);
        let go_on = Ran(
            "git add a && git rebase --continue",
            FINE,
            "[detached HEAD ccccccc] One\nSuccessfully rebased and updated refs/heads/main.\n",
        );
        assert_eq!(commits_of(&[ONE, go_on]), ["ccccccc One: why"]);
        let picked = Ran("git cherry-pick aaaaaaa", FINE, "[fix ccccccc] One\n 1 file changed\n");
        assert_eq!(commits_of(&[ONE, picked]), ["ccccccc One: why"]);
    }

    #[test]
    fn a_revert_is_a_commit() {
        let revert = Ran("git revert --no-edit aaaaaaa", FINE, "[main ccccccc] Revert \"One\"\n");
        assert_eq!(commits_of(&[ONE, revert]), ["aaaaaaa One: why", "ccccccc Revert \"One\""]);
    }

    #[test]
    fn a_command_may_revert_several_commits() {
        let printed = "[main ccccccc] Revert \"Two\"\n 1 file changed\n[main ddddddd] Revert \"One\"\n 1 file changed\n";
        let revert = Ran("git revert --no-edit HEAD HEAD~1", FINE, printed);
        assert_eq!(
            commits_of(&[ONE, revert]),
            ["aaaaaaa One: why", "ccccccc Revert \"Two\"", "ddddddd Revert \"One\""]
        );
    }
}
