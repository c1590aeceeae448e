//! Reads the state of the repository from git's output: status, history, branches, merges.

use crate::{
    model::evidence::{ChangedFiles, CheckoutState, GitView, HeadCommit},
    summarize::{
        evidence::{
            bounds,
            git::{
                closed,
                commits::{is_hash, printed, short_or_long_history},
                ignored, merged,
                status_files::{FILES, files_of_status},
            },
            moment::EntryPosition,
            shell::{CommandLine, GitCall},
        },
        lists::{keep_latest, push_latest},
    },
    text::{kept, pattern},
};

/// Maximum number of ignored paths that are kept.
const IGNORED: usize = 12;
/// Maximum number of deleted branches that are kept.
const DELETED: usize = 12;
/// Maximum number of stashes that are kept.
const STASHES: usize = 4;

/// Records what the output of a command shows about the repository.
pub(in crate::summarize::evidence) fn observe(
    state: &mut CheckoutState,
    command: &CommandLine,
    output: &str,
    moment: EntryPosition,
) {
    let mut view = OutputView { state, output, moment };
    let shows_history = |call: &&GitCall| matches!(call.subcommand(), "log" | "show" | "reflog");
    let histories = command.git.iter().filter(shows_history).count();
    for call in &command.git {
        let may_be_of_other =
            histories > 1 && (!call.is_first || call.operands().any(|word| word.contains("..")));
        if !(may_be_of_other && shows_history(&call)) {
            view.call(call);
        }
    }
    view.lines_of_any_call(command);
}

/// Removes the oldest deleted branches, stashes, merged pull requests and closed pull requests when
/// there are too many of them.
pub(in crate::summarize::evidence) fn bound(state: &mut CheckoutState) {
    keep_latest(&mut state.deleted, DELETED);
    keep_latest(&mut state.stashes, STASHES);
    keep_latest(&mut state.merged, merged::MERGED);
    keep_latest(&mut state.closed, merged::MERGED);
}

/// Returns the first nine digits of a hash. Git prints about nine digits in a large repository.
pub(super) fn short_hash(hash: &str) -> String {
    hash.get(..9).unwrap_or(hash).to_owned()
}

/// Whether an output shows that `git stash` did not drop or restore a stash. Other commands may
/// have printed a part of the output.
fn keeps_stash(output: &str) -> bool {
    let dropped = pattern!(r"(?m)^Dropped (?:refs/)?stash@");
    let failed = pattern!(
        r"(?m)^fatal: |^CONFLICT \(|^error: (?:Your local changes|The following untracked|could not restore|conflicts in index|unable to)|\bstash entry is kept\b|is not a valid reference|log for '\S*stash' only has|: needs merge$|already exists, no checkout"
    );
    !dropped.is_match(output) && failed.is_match(output)
}

/// Whether a call of `git stash` makes a stash.
pub(in crate::summarize::evidence) fn makes_stash(call: &GitCall) -> bool {
    matches!(call.operands().next(), None | Some("push" | "save"))
}

/// Removes the stash that a successful call of `git stash` drops, and clears the branch of a stash
/// that git keeps after its changes were applied.
pub(in crate::summarize::evidence) fn restore(stashes: &mut Vec<String>, call: &GitCall) {
    let mut operands = call.operands();
    let action = operands.next().unwrap_or_default();
    // The name of the new branch precedes the stash.
    let stash = operands.nth(usize::from(action == "branch"));
    let number = stash.map(|stash| stash.trim_start_matches("stash@{").trim_end_matches('}'));
    // Another name of a stash, such as `stash^{/wip}`, most often means the newest stash.
    let number: usize = number.and_then(|number| number.parse().ok()).unwrap_or(0);
    match (action, stashes.len().checked_sub(number.saturating_add(1))) {
        ("clear", _) => stashes.clear(),
        ("apply", Some(at)) => stashes[at].clear(),
        ("pop" | "drop" | "branch", Some(at)) => {
            stashes.remove(at);
        }
        // The stash is older than the recorded stashes, or the call only shows stashes.
        _ => {}
    }
}

/// Whether the output of a line with `git stash` shows the new stash, but not that `git stash pop`
/// or `git stash drop` ran later in the line: both print `Dropped`, unless they are quiet.
pub(in crate::summarize::evidence) fn restores_nothing(output: &str) -> bool {
    output.contains("Saved working directory") && !output.contains("Dropped ")
}

/// The output of a command line that calls git.
struct OutputView<'v> {
    state: &'v mut CheckoutState,
    output: &'v str,
    moment: EntryPosition,
}

impl OutputView<'_> {
    fn call(&mut self, call: &GitCall) {
        match call.subcommand() {
            "status" => self.status(call),
            "diff" => self.diff(call),
            "log" | "show" => self.log(call),
            "rev-parse" if call.is_alone => self.rev_parse(call),
            "branch" => self.branches(call),
            "checkout" | "switch" => self.switched(),
            "commit" | "cherry-pick" | "revert" => self.committed(),
            "merge" | "pull" | "rebase" | "reset" => self.moved(),
            "push" => self.pushed(),
            "add" | "check-ignore" => self.ignored(call),
            "stash" => self.stashed(call),
            _ => {}
        }
    }

    /// Records a new stash, or that a stash was restored or dropped. After a conflict or an error,
    /// git keeps the stash.
    fn stashed(&mut self, call: &GitCall) {
        let stashes = &mut self.state.stashes;
        if makes_stash(call) {
            let saved = pattern!(r"(?m)^Saved working directory .*?\b(?:WIP on|On) ([^:\s]+): ");
            if let Some(found) = saved.captures(self.output) {
                push_latest(stashes, kept(&found[1], bounds::NAME), STASHES);
            }
            return;
        }
        let is_kept = call.reports_dropped_stash() && restores_nothing(self.output);
        if !is_kept && !keeps_stash(self.output) {
            restore(stashes, call);
        }
    }

    fn ignored(&mut self, call: &GitCall) {
        for path in ignored::paths(call, self.output) {
            push_latest(&mut self.state.ignored, kept(path, bounds::PATH), IGNORED);
        }
    }

    fn seen<T>(&self, value: T) -> Option<GitView<T>> {
        Some(GitView { value, origin: self.moment.origin, at: self.moment.at })
    }

    fn set_branch(&mut self, name: &str) {
        let name = kept(name, bounds::NAME);
        if self.state.branch.as_ref().is_some_and(|known| known.value != name) {
            self.state.upstream = None;
        }
        self.state.branch = self.seen(name);
    }

    fn set_head(&mut self, hash: &str, subject: &str) {
        let hash = short_hash(hash);
        self.state.head =
            self.seen(HeadCommit { hash, subject: kept(subject.trim(), bounds::SUBJECT) });
    }

    fn status(&mut self, call: &GitCall) {
        let long = pattern!(r"(?m)^On branch (\S+)$");
        let short = pattern!(r"(?m)^## (?:No commits yet on )?([^\s.]\S*?)(?:\.\.\.\S+.*)?$");
        // Without `--branch`, `## Usage` is a heading that another command printed. The setting
        // `status.branch` has the effect of `--branch`.
        let has = |option: &regex::Regex| call.words.iter().any(|word| option.is_match(word));
        let asks_branch = has(&*pattern!(r"^(?:-\w*b\w*|--branch)$"));
        let is_short = has(&*pattern!(r"^(?:-\w*s\w*|--short)$"));
        let mut short = short.captures_iter(self.output);
        let short = short.find(|found| asks_branch || is_short && found[0].contains("..."));
        let found = long.captures_iter(self.output).last().or(short);
        if let Some(found) = found {
            self.set_branch(&found[1]);
        }
        self.upstream();
        self.ignored(call);
        let limits = call.operands().next().is_some() || call.has("-uno");
        if let Some(files) = files_of_status(self.output, call) {
            let is_part = files.is_part || limits || call.is_piped;
            self.state.files = self.seen(ChangedFiles { is_part, ..files });
        }
    }

    /// Reads the files of `git diff --name-only`. The list may be incomplete, because `git diff`
    /// lists no new files and, without `HEAD`, no staged files.
    fn diff(&mut self, call: &GitCall) {
        let lists = call.has("--name-only") && call.is_alone;
        if !lists || call.operands().any(|word| word != "HEAD") {
            return;
        }
        let paths = self.output.lines().map(str::trim);
        let paths = paths.filter(|line| pattern!(r"^[\w@./-][^\s:]*$").is_match(line));
        let paths: Vec<String> = paths.take(FILES).map(|path| kept(path, bounds::PATH)).collect();
        self.state.files = self.seen(ChangedFiles { paths, is_part: true });
    }

    fn log(&mut self, call: &GitCall) {
        let decorated =
            pattern!(r"(?m)^\W*([0-9a-f]{7,40}) \(HEAD(?: -> ([^\s,)]+))?[^)]*\) (.+)$");
        if let Some(found) = decorated.captures(self.output) {
            found.get(2).into_iter().for_each(|name| self.set_branch(name.as_str()));
            self.set_head(&found[1], &found[3]);
            return;
        }
        if !begins_at_head(call) {
            return;
        }
        if let Some((hash, subject)) = short_or_long_history(self.output).first() {
            self.set_head(hash, subject);
        }
    }

    fn rev_parse(&mut self, call: &GitCall) {
        let line = self.output.trim();
        if !call.has("HEAD") || line.contains(char::is_whitespace) || line.is_empty() {
            return;
        }
        if call.has("--abbrev-ref") && line != "HEAD" {
            self.set_branch(line);
        } else if is_hash(line) && !self.is_head(line) {
            self.set_head(line, "");
        }
    }

    fn branches(&mut self, call: &GitCall) {
        let deleted = pattern!(r"(?m)^Deleted branch (\S+) \(was [0-9a-f]+\)");
        for found in deleted.captures_iter(self.output) {
            push_latest(&mut self.state.deleted, kept(&found[1], bounds::NAME), DELETED);
        }
        if call.has("--show-current") {
            // The output of other calls follows the first line.
            let name = self.output.lines().next().unwrap_or_default().trim();
            let is_first = call.is_alone || call.is_first;
            if is_first && !name.is_empty() && !name.contains(char::is_whitespace) {
                self.set_branch(name);
            }
            return;
        }
        let current = pattern!(r"(?m)^\* (\S+)(?: +([0-9a-f]{7,40}) (?:\[[^\]]*\] )?(.+))?$");
        let Some(found) = current.captures(self.output).filter(|found| &found[1] != "(HEAD") else {
            return;
        };
        self.set_branch(&found[1]);
        if let Some((hash, subject)) = found.get(2).zip(found.get(3)) {
            self.set_head(hash.as_str(), subject.as_str());
        }
    }

    fn switched(&mut self) {
        let to = pattern!(
            r"(?m)^(?:Switched to (?:a new )?branch|Already on|Switched to and reset branch) '([^']+)'"
        );
        if let Some(found) = to.captures_iter(self.output).last() {
            // An existing branch may be at another commit. A new branch begins at the current one.
            if found[0].starts_with("Switched to branch") {
                self.state.head = None;
            }
            self.set_branch(&found[1]);
            self.upstream();
        }
        self.moved();
    }

    fn committed(&mut self) {
        if let Some(line) = printed(self.output).pop() {
            line.branch.into_iter().for_each(|name| self.set_branch(name));
            self.set_head(line.hash, line.subject);
        }
        if self.output.contains("nothing to commit, working tree clean") {
            self.state.files = self.seen(ChangedFiles::default());
        }
    }

    /// Records the commit to which a command moved the branch. If the output shows a move but not
    /// the commit, the recorded commit is removed.
    fn moved(&mut self) {
        let at =
            pattern!(r"(?m)^(?:HEAD is now at|Fast-forwarded \S+ to) ([0-9a-f]{7,40})\.* ?(.*)$");
        let forward = pattern!(r"(?m)^Updating [0-9a-f]{7,40}\.\.([0-9a-f]{7,40})\s+Fast-forward");
        let unknown = pattern!(r"(?m)^(?:Merge made by|Successfully rebased)");
        if let Some(found) = at.captures_iter(self.output).last() {
            self.set_head(&found[1], &found[2]);
        } else if let Some(found) = forward.captures_iter(self.output).last() {
            self.set_head(&found[1], "");
        } else if unknown.is_match(self.output) {
            self.state.head = None;
        }
    }

    fn pushed(&mut self) {
        let range = pattern!(
            r"(?m)^ [ +*] (?:[0-9a-f]{7,40}\.\.\.?[0-9a-f]{7,40}|\[new branch\]) +(\S+) -> (\S+)"
        );
        let Some(found) = range.captures_iter(self.output).last() else { return };
        let (from, to) = (&found[1], &found[2]);
        let is_own = self.state.branch.as_ref().is_none_or(|branch| branch.value == from);
        if is_own && !to.starts_with("refs/") {
            self.state.upstream = self.seen(format!("up to date with `origin/{to}`"));
        }
    }

    fn upstream(&mut self) {
        let long = pattern!(
            r"(?m)^Your branch is (?:(up to date) with|(ahead) of|(behind)) '([^']+)'(?: by (\d+) commits?)?"
        );
        let apart = pattern!(
            r"(?m)^Your branch and '([^']+)' have diverged,\s+and have (\d+) and (\d+) different commits"
        );
        let short = pattern!(
            r"(?m)^## \S+?\.\.\.(\S+)(?: \[(?:ahead (\d+))?(?:, )?(?:behind (\d+))?(gone)?\])?$"
        );
        let text = if let Some(found) = long.captures_iter(self.output).last() {
            let number = found.get(5).map_or("", |number| number.as_str());
            match (found.get(2), found.get(3)) {
                (Some(_), _) => format!("{number} ahead of `{}`", &found[4]),
                (_, Some(_)) => format!("{number} behind `{}`", &found[4]),
                _ => format!("up to date with `{}`", &found[4]),
            }
        } else if let Some(found) = apart.captures_iter(self.output).last() {
            format!("{} ahead of and {} behind `{}`", &found[2], &found[3], &found[1])
        } else if let Some(found) = short.captures_iter(self.output).last() {
            if found.get(4).is_some() {
                return;
            }
            match (found.get(2), found.get(3)) {
                (None, None) => format!("up to date with `{}`", &found[1]),
                (Some(n), None) => format!("{} ahead of `{}`", n.as_str(), &found[1]),
                (None, Some(n)) => format!("{} behind `{}`", n.as_str(), &found[1]),
                (Some(a), Some(b)) => {
                    format!("{} ahead of and {} behind `{}`", a.as_str(), b.as_str(), &found[1])
                }
            }
        } else {
            return;
        };
        self.state.upstream = self.seen(text);
    }

    /// Records the pull requests that the output shows as merged, and the branches that `gh pr
    /// merge` deletes and switches to.
    fn lines_of_any_call(&mut self, command: &CommandLine) {
        merged::observe(&mut self.state.merged, command, self.output);
        closed::forget(self.state, self.output);
        if !command.shown.contains("gh pr ") {
            return;
        }
        let deleted =
            pattern!(r"(?m)^\W*Deleted (?:local )?branch (\S+)(?: and switched to branch (\S+))?");
        if let Some(found) = deleted.captures_iter(self.output).last() {
            push_latest(&mut self.state.deleted, kept(&found[1], bounds::NAME), DELETED);
            if let Some(now) = found.get(2) {
                self.set_branch(now.as_str());
                self.state.head = None;
                self.moved();
            }
        }
    }

    fn is_head(&self, hash: &str) -> bool {
        let known = self.state.head.as_ref().map(|head| head.value.hash.as_str());
        known.is_some_and(|known| hash.starts_with(known) || known.starts_with(hash))
    }
}

/// Whether the first commit that a call of `git log` shows is the checked-out commit.
pub(super) fn begins_at_head(call: &GitCall) -> bool {
    let chooses = |word: &String| {
        pattern!(r"^(?:--all|--branches.*|--remotes.*|--tags.*|--author.*|--grep.*|--reverse|--skip.*|--since.*|--until.*|--before.*|--merges|--no-merges|--diff-filter.*|-S.*|-G.*|-L.*|--stdin|--)$")
            .is_match(word)
    };
    let mut operands =
        call.operands().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    let is_of_head =
        operands.all(|word| word == "HEAD" || word.ends_with("..HEAD") || word.ends_with(".."));
    call.subcommand() == "log" && is_of_head && !call.words.iter().any(chooses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Origin;

    /// Returns the state after the commands with their outputs, as one line.
    fn state(runs: &[(&str, &str)]) -> String {
        let mut state = CheckoutState::default();
        for (number, (line, output)) in runs.iter().enumerate() {
            let origin = Origin { source: 0, line: number as u64 + 1 };
            observe(
                &mut state,
                &CommandLine::read(line, "/app"),
                output,
                EntryPosition { origin, at: None },
            );
        }
        let branch = state.branch.map_or(String::new(), |branch| branch.value);
        let head = state.head.map_or(String::new(), |head| {
            format!(" @{} {}", head.value.hash, head.value.subject).trim_end().to_owned()
        });
        let upstream =
            state.upstream.map_or(String::new(), |upstream| format!(" ^{}", upstream.value));
        let files = state.files.map_or(String::new(), |files| {
            let part = if files.value.is_part { "~" } else { "" };
            format!(" [{part}{}]", files.value.paths.join(","))
        });
        let deleted = if state.deleted.is_empty() {
            String::new()
        } else {
            format!(" -{}", state.deleted.join(","))
        };
        format!("{branch}{head}{upstream}{files}{deleted}")
    }

    /// Returns the recorded stashes after the commands with their outputs.
    fn stashes(runs: &[(&str, &str)]) -> String {
        let mut state = CheckoutState::default();
        for (line, output) in runs {
            let moment = EntryPosition { origin: Origin::default(), at: None };
            observe(&mut state, &CommandLine::read(line, "/app"), output, moment);
        }
        state.stashes.join(",")
    }

    #[test]
    fn a_stash_is_kept_until_git_drops_or_restores_it() {
        let left = stashes;
        let saved =
            ("git stash -u", "Saved working directory and index state WIP on fix/x: 1a2b3c4 One\n");
        let kept = "CONFLICT (content): Merge conflict in a\nThe stash entry is kept in case you need it again.\n";
        assert_eq!(left(&[saved]), "fix/x");
        assert_eq!(left(&[saved, ("git stash pop", "Dropped refs/stash@{0}\n")]), "");
        assert_eq!(left(&[saved, ("git stash pop", kept)]), "fix/x");
        assert_eq!(left(&[saved, ("git stash drop", "Dropped refs/stash@{0}\n")]), "");
        assert_eq!(left(&[saved, ("git stash clear", "")]), "");
        let failed =
            "Saved working directory and index state WIP on fix/x: 1a2b3c4 One\nTests: 1 failed\n";
        let line = "git stash && npm test && git stash pop";
        assert_eq!(left(&[(line, failed)]), "fix/x");
        let passed = format!("{failed}Dropped refs/stash@{{0}}\n");
        assert_eq!(left(&[(line, passed.as_str())]), "");
        assert_eq!(left(&[("git stash && npm test; git stash pop -q", failed)]), "");
        let branch = "Switched to a new branch 'x'\nDropped refs/stash@{0}\n";
        assert_eq!(left(&[saved, ("git stash branch x", branch)]), "");
        assert_eq!(left(&[saved, ("git stash branch x", kept)]), "fix/x");
        assert_eq!(left(&[saved, ("git stash pop -q", "")]), "");
        let tested = "Dropped refs/stash@{0}\nfatal: no test was found\n";
        assert_eq!(left(&[saved, ("git stash pop && make test", tested)]), "");
        let compiled = "On branch fix/x\nerror: could not compile `shop`\n";
        assert_eq!(left(&[saved, ("git stash apply; cargo test", compiled)]), "");
        for (line, output) in [
            ("git stash branch y", "fatal: a branch named 'y' already exists\n"),
            ("git stash drop stash@{7}", "fatal: log for 'stash' only has 1 entries\n"),
            ("git stash drop stash@{7}", "error: stash@{7} is not a valid reference\n"),
            (
                "git stash pop",
                "error: Your local changes to the following files would be overwritten by merge:\n\ta.rs\n",
            ),
            ("git stash apply", "CONFLICT (content): Merge conflict in a\n"),
            ("git stash apply", "a.txt already exists, no checkout\n"),
        ] {
            assert_eq!(left(&[saved, (line, output)]), "fix/x", "{output}");
        }
        assert_eq!(left(&[("git stash", "No local changes to save\n")]), "");
        assert_eq!(left(&[saved, ("git stash list", "stash@{0}: WIP on fix/x\n")]), "fix/x");
    }

    #[test]
    fn only_the_named_stash_is_restored_or_dropped() {
        let saved = |branch: &str| {
            format!("Saved working directory and index state WIP on {branch}: 1a2b3c4 One\n")
        };
        let [a, b] = ["a", "b"].map(saved);
        let applied = ("git stash apply", "On branch b\n");
        let dropped = "Dropped refs/stash@{0} (1a2b3c4)\n";
        for (calls, wanted) in [
            (vec![("git stash apply && git stash drop", dropped)], "a"),
            (vec![applied, ("git stash drop", dropped)], "a"),
            (vec![applied], "a,"),
            (vec![applied, applied], "a,"),
            (vec![("git stash apply stash@{1}", "")], ",b"),
            (vec![("git stash pop --index 1", dropped)], "b"),
            (vec![("git stash drop stash@{1}", dropped), ("git stash pop", dropped)], ""),
            (vec![("git stash branch x stash@{1}", dropped)], "b"),
            (vec![("git stash branch x", dropped)], "a"),
            (vec![("git stash pop stash@{2}", dropped)], "a,b"),
            (vec![("git stash show 1", "a.rs | 2 +-\n"), ("git stash list", "")], "a,b"),
            (vec![applied, ("git stash clear", "")], ""),
        ] {
            let runs = [("git stash", a.as_str()), ("git stash", &b)];
            let runs: Vec<_> = runs.into_iter().chain(calls.clone()).collect();
            assert_eq!(stashes(&runs), wanted, "{calls:?}");
        }
    }

    #[test]
    fn a_status_shows_branch_upstream_and_files() {
        let long = "On branch fix/x\nYour branch is ahead of 'origin/fix/x' by 2 commits.\n\nChanges not staged for commit:\n  (use \"git add <file>...\")\n\tmodified:   src/a.rs\n\tdeleted:    b.rs\n\nUntracked files:\n\tnotes/\n\nno changes added to commit\n";
        let clean = "On branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, working tree clean\n";
        for (line, output, wanted) in [
            ("git status", long, "fix/x ^2 ahead of `origin/fix/x` [src/a.rs,b.rs,notes/]"),
            ("git status", clean, "main ^up to date with `origin/main` []"),
            (
                "git status -sb",
                "## main...origin/main [ahead 1, behind 3]\n M a.rs\n?? b\n",
                "main ^1 ahead of and 3 behind `origin/main` [a.rs,b]",
            ),
            ("git status --short", "", " []"),
            ("git status --short && cat README.md", " M a.rs\n# App\n\n## Usage\n", " [a.rs]"),
            ("git status -sb && cat NEWS.md", "## fix/x\n M a.rs\n## Unreleased\n", "fix/x [a.rs]"),
            (
                "git add a.rs; git status -s",
                "## x...origin/x\nA  a.rs\n",
                "x ^up to date with `origin/x` [a.rs]",
            ),
            ("git status -s && cat NEWS.md", " M a.rs\n## Unreleased\n", " [a.rs]"),
            ("git status --short && ls", "", ""),
            ("git status --short | head -5", " M a.rs\n", " [~a.rs]"),
            ("git status --short -- src", " M src/a.rs\n", " [~src/a.rs]"),
            ("git diff --name-only", "src/a.rs\n", " [~src/a.rs]"),
            ("git diff --name-only main..HEAD", "src/a.rs\n", ""),
            ("cd $(mktemp -d) && git init && git status", clean, ""),
        ] {
            assert_eq!(state(&[(line, output)]), wanted, "{line}");
        }
    }

    #[test]
    fn the_head_is_the_commit_that_git_showed_last() {
        let commit = ("git commit -m One", "[fix/x aaaaaaa] One\n 1 file changed\n");
        let merged = "Switched to branch 'main'\nYour branch is behind 'origin/main' by 1 commit, and can be fast-forwarded.\nUpdating 1111111..ccccccc\nFast-forward\n a.rs | 2 +-\n";
        let deleted = "Deleted branch fix/x (was aaaaaaa).\n";
        for (runs, wanted) in [
            (vec![commit], "fix/x @aaaaaaa One"),
            (
                vec![
                    commit,
                    ("git checkout main && git pull", merged),
                    ("git branch -D fix/x", deleted),
                ],
                "main @ccccccc ^1 behind `origin/main` -fix/x",
            ),
            (vec![commit, ("git checkout main", "Switched to branch 'main'\n")], "main"),
            (
                vec![
                    commit,
                    (
                        "git log --oneline HEAD..origin/main; git log --oneline -1",
                        "9999999 Other\naaaaaaa One\n",
                    ),
                ],
                "fix/x @aaaaaaa One",
            ),
            (
                vec![
                    commit,
                    (
                        "git log --oneline -1; git log --oneline HEAD..origin/main",
                        "bbbbbbb Two\n9999999 Other\n",
                    ),
                ],
                "fix/x @bbbbbbb Two",
            ),
            (
                vec![commit, ("git checkout -b y", "Switched to a new branch 'y'\n")],
                "y @aaaaaaa One",
            ),
            (
                vec![commit, ("git log --oneline -2", "bbbbbbb Two\naaaaaaa One\n")],
                "fix/x @bbbbbbb Two",
            ),
            (
                vec![(
                    "git log -1",
                    "commit abcdef0123456789 (HEAD -> main)\nAuthor: A\nDate:   D\n\n    Three\n",
                )],
                "@abcdef012 Three",
            ),
            (vec![commit, ("git log --oneline other", "bbbbbbb Two\n")], "fix/x @aaaaaaa One"),
            (vec![commit, ("git log --oneline -- a.rs", "bbbbbbb Two\n")], "fix/x @aaaaaaa One"),
            (
                vec![("git log --oneline --decorate", "bbbbbbb (HEAD -> y, origin/y) Two\n")],
                "y @bbbbbbb Two",
            ),
            (
                vec![
                    ("git branch --show-current && git log --oneline -1", "main\nccccccc Three\n"),
                    ("git checkout y", "Switched to branch 'y'\n"),
                ],
                "y",
            ),
            (vec![("git branch --show-current", "y\n")], "y"),
            (
                vec![("git branch -v", "  main 1111111 Old\n* y    bbbbbbb [ahead 1] Two\n")],
                "y @bbbbbbb Two",
            ),
            (vec![commit, ("git rev-parse HEAD", "aaaaaaa123456\n")], "fix/x @aaaaaaa One"),
            (
                vec![commit, ("git push", "To x\n   1234567..aaaaaaa  fix/x -> fix/x\n")],
                "fix/x @aaaaaaa One ^up to date with `origin/fix/x`",
            ),
        ] {
            assert_eq!(state(&runs).trim(), wanted, "{runs:?}");
        }
    }
}
