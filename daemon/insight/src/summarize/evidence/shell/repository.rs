//! Finds the effects of a command line on the repository, and the texts that it publishes on the
//! repository's forge.

use serde::{Deserialize, Serialize};

use crate::{
    lang::paths,
    model::evidence::{GitStep, PublicationKind},
    summarize::evidence::{
        bounds,
        shell::{
            branch_names::{is_branch_name, is_file_name, pushed_branch},
            kind::{Invocation, InvocationKind},
            texts::{self, CommandInLine, Published},
            words::{Operator, SimpleCommand},
            working_directory::{PREVIOUS_DIRECTORY, WorkingDirectory, resolve},
        },
    },
    text::{kept, one_line, pattern},
};

/// Maximum number of steps of one command line.
const STEPS: usize = 12;

/// A command that changes the repository or publishes a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::summarize::evidence) struct RepositoryStep {
    /// The effect on the repository.
    pub(in crate::summarize::evidence) step: Option<GitStep>,
    pub(in crate::summarize::evidence) branch: Option<String>,
    pub(in crate::summarize::evidence) commit: Option<CommitMade>,
    pub(in crate::summarize::evidence) undone: Undone,
    pub(in crate::summarize::evidence) published: Option<Published>,
    /// Whether this command runs only if an earlier command that is not a step succeeds, as in
    /// `make && git push`. Earlier commands that only read do not count.
    pub(in crate::summarize::evidence) guarded: bool,
    /// Whether the success of the command line proves that this command succeeded.
    pub(in crate::summarize::evidence) proven: bool,
    /// Whether the next command runs only if this command succeeds.
    pub(in crate::summarize::evidence) chained: bool,
    /// Whether the command runs only if the command before it fails, as in
    /// `git diff --quiet || git commit`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::summarize::evidence) is_alternative: bool,
}

/// A commit, as the command line describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::summarize::evidence) struct CommitMade {
    /// The first line of the message, if the command line contains the message.
    pub(in crate::summarize::evidence) subject: Option<String>,
    /// The rest of the message, without trailers.
    pub(in crate::summarize::evidence) body: String,
    pub(in crate::summarize::evidence) amends: bool,
    /// Whether the commit is a copy of an existing commit, made by a cherry-pick or a rebase.
    pub(in crate::summarize::evidence) replays: bool,
    /// Whether the output of the command line may lack what git prints about the commit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::summarize::evidence) is_hidden: bool,
}

/// The commits that a command removes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::summarize::evidence) enum Undone {
    /// No commits are removed, or it is unknown which.
    #[default]
    Nothing,
    /// The given number of latest commits.
    Latest(u32),
    /// The commits after the commit with this hash.
    After(String),
    /// The commits of a branch that `git merge --squash` combines into one commit.
    Branch(String),
    /// The commits that a rebase with `--autosquash` adds to other commits.
    Fixups,
    /// All commits of the current branch, because `git reset --soft main` prepares one new commit.
    OwnBranch,
}

/// Whether a folder is a scratch folder. Calls of git in such a folder do not concern the project.
/// A folder from `mktemp` is always one. Temporary folders and folders in a variable count only if
/// `line` calls `mktemp` or `git init`.
pub(super) fn is_scratch(folder: &str, line: &str) -> bool {
    let is_made_here = line.contains("mktemp")
        || line.contains("git init")
        || pattern!(r"\bgit -C \S+ init\b").is_match(line);
    let is_in_variable = folder.starts_with('$') && !folder.starts_with(PREVIOUS_DIRECTORY);
    is_made_here && (is_in_variable || paths::is_scratch(folder))
        || folder.contains("mktemp")
        || paths::is_from_mktemp(with_known_beginning(folder))
}

/// Returns a path without the `$` that [`WorkingDirectory`] puts before a path of which only the
/// beginning is known, such as `$/srv/app-$X`. Returns other paths unchanged.
fn with_known_beginning(folder: &str) -> &str {
    folder.strip_prefix('$').filter(|rest| rest.starts_with('/')).unwrap_or(folder)
}

/// Whether `folder` belongs to another project than `directory`, in which the agent works. False if
/// a path is relative or contains `worktree`, if one folder contains the other, or if the name of
/// one folder begins with the name of the other.
pub(super) fn is_other_project(folder: &str, directory: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let folder = with_known_beginning(folder).trim_end_matches('/');
    let directory = directory.trim_end_matches('/');
    let is_within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    folder.starts_with('/')
        && directory.starts_with('/')
        && !is_within(folder, directory)
        && !is_within(directory, folder)
        && !paths::contains_worktree(folder)
        && !paths::contains_worktree(directory)
        && !name(folder).starts_with(&name(directory))
        && !name(directory).starts_with(&name(folder))
}

/// Returns the folder whose repository `command` works on.
pub(super) fn repository_folder(command: &SimpleCommand, directory: &WorkingDirectory) -> String {
    let given = git_folder(command);
    given.map_or_else(|| directory.current().to_owned(), |one| resolve(directory.current(), one))
}

/// Returns the folder that is given to git with `-C`, `--git-dir` or `--work-tree`. Other options
/// may precede this option, as in `git -c k=v -C dir`.
fn git_folder(command: &SimpleCommand) -> Option<&str> {
    let mut words = command.texts().skip_while(|word| *word != "git").skip(1);
    // `--git-dir` names only the repository's data, so the folder of the work tree is preferred.
    let mut data = None;
    loop {
        let Some(word) = words.next() else { return data };
        let (option, value) = word.split_once('=').map_or((word, None), |(o, v)| (o, Some(v)));
        match option {
            "-C" => return words.next(),
            "--work-tree" => return value.or_else(|| words.next()),
            "--git-dir" => {
                let folder = value.or_else(|| words.next())?;
                data = Some(folder.strip_suffix("/.git").unwrap_or(folder));
            }
            "-c" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            _ => return data,
        }
    }
}

/// Returns the arguments of a subcommand of git that are neither options nor values of options.
pub(super) fn operands<'w>(
    subcommand: &str,
    arguments: impl Iterator<Item = &'w str>,
) -> impl Iterator<Item = &'w str> {
    // The callers use no operand of another subcommand that follows an option with a value. The
    // option `-m` of `git switch` takes no value.
    let options: &[&str] = match subcommand {
        "merge" => {
            &["-m", "--message", "-F", "--file", "-s", "--strategy", "-X", "--strategy-option"]
        }
        "push" => &["-o", "--push-option", "--repo", "--receive-pack"],
        "stash" => &["-m", "--message"],
        _ => &[],
    };
    let mut is_value = false;
    arguments.filter(move |word| {
        let is_operand = !is_value && !word.starts_with('-');
        let ends_in_message =
            word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
        is_value = options.contains(word) || options.contains(&"-m") && ends_in_message;
        is_operand
    })
}

/// Whether the success of `commands` proves that the first of them succeeded.
fn is_proven(commands: &[SimpleCommand]) -> bool {
    let before_last = &commands[..commands.len().saturating_sub(1)];
    before_last.iter().all(|command| command.joint == Operator::And)
}

/// Returns the steps of a command line in order, without steps in scratch repositories, and without
/// switches of the branch in another project than the project of `directory`.
pub(super) fn steps(
    commands: &[SimpleCommand],
    line: &str,
    directory: &str,
) -> Vec<RepositoryStep> {
    let mut steps = Vec::new();
    let mut guarded = false;
    // Relative paths stay relative, because they are paths in the project.
    let mut shell = WorkingDirectory::new("");
    for (index, command) in commands.iter().enumerate() {
        shell.advance_to(command);
        shell.run(command);
        let Some(invocation) = Invocation::of(command) else { continue };
        let folder = repository_folder(command, &shell);
        if is_scratch(&folder, line) {
            continue;
        }
        if index > 0 && matches!(commands[index - 1].joint, Operator::Next | Operator::Or) {
            guarded = false;
        }
        let texts = CommandInLine { commands, index };
        let step = match invocation.program {
            "git" => git(&invocation.arguments, &texts),
            "gh" | "glab" | "hub" => forge(&invocation, &texts),
            _ => None,
        };
        let is_foreign = is_other_project(&folder, directory);
        let is_switch = |step: &RepositoryStep| step.step == Some(GitStep::Switch);
        let step = step.filter(|step| !(is_foreign && is_switch(step)));
        let Some(step) = step else {
            guarded |= invocation.kind() != InvocationKind::Reads;
            continue;
        };
        steps.push(RepositoryStep {
            guarded,
            proven: is_proven(&commands[index..]),
            chained: command.joint == Operator::And,
            is_alternative: index > 0 && commands[index - 1].joint == Operator::Or,
            ..step
        });
    }
    steps.truncate(STEPS);
    steps
}

fn git(words: &[&str], texts: &CommandInLine<'_>) -> Option<RepositoryStep> {
    let (subcommand, rest) = words.split_first()?;
    let has = |option: &str| rest.contains(&option);
    if has("--dry-run") || has("--abort") || has("--quit") {
        return None;
    }
    let operands: Vec<&str> = operands(subcommand, rest.iter().copied()).collect();
    let first = operands.first().copied();
    let plain = |step| Some(RepositoryStep { step: Some(step), ..RepositoryStep::default() });
    let on_branch = |step, branch: Option<&str>| {
        let branch =
            branch.filter(|name| is_branch_name(name)).map(|branch| kept(branch, bounds::NAME));
        Some(RepositoryStep { step: Some(step), branch, ..RepositoryStep::default() })
    };
    let reverted = CommitMade { is_hidden: true, ..CommitMade::default() };
    let replayed = CommitMade { replays: true, ..reverted.clone() };
    match *subcommand {
        "add" | "stage" => plain(GitStep::Stage),
        "commit" => {
            Some(RepositoryStep { commit: Some(commit(rest, texts)), ..plain(GitStep::Commit)? })
        }
        "revert" => Some(RepositoryStep { commit: Some(reverted), ..plain(GitStep::Commit)? }),
        "cherry-pick" => Some(RepositoryStep { commit: Some(replayed), ..plain(GitStep::Commit)? }),
        "push" if has("--delete") || has("-d") => None,
        "push" if operands.get(1).is_some_and(|target| target.starts_with(':')) => None,
        "push" => {
            let branch = operands.get(1).and_then(|refspec| pushed_branch(refspec));
            on_branch(GitStep::Push, branch.as_deref())
        }
        "switch" => on_branch(GitStep::Switch, first),
        "checkout" if restores_files(rest, &operands) => plain(GitStep::Reset),
        "checkout" => on_branch(GitStep::Switch, first),
        "merge" if has("--squash") => Some(RepositoryStep {
            undone: first.map_or(Undone::Nothing, |name| Undone::Branch(kept(name, bounds::NAME))),
            ..on_branch(GitStep::Merge, first)?
        }),
        "merge" => on_branch(GitStep::Merge, first),
        "pull" if has("--rebase") || has("-r") => plain(GitStep::Rebase),
        "pull" => plain(GitStep::Merge),
        "rebase" => Some(RepositoryStep {
            commit: Some(replayed),
            undone: if has("--autosquash") { Undone::Fixups } else { Undone::Nothing },
            ..plain(GitStep::Rebase)?
        }),
        // With paths, only the index changes.
        "reset" if operands.len() > 1 => None,
        "reset" => reset(first, has("--hard"), has("--soft")),
        "restore" if has("--staged") && !has("--worktree") => None,
        "restore" => plain(GitStep::Reset),
        "stash" if matches!(first, None | Some("push" | "save")) => plain(GitStep::Stash),
        _ => None,
    }
}

/// Whether `git checkout` with these arguments restores files instead of switching the branch.
fn restores_files(arguments: &[&str], operands: &[&str]) -> bool {
    let names_files = arguments.contains(&"--")
        || operands.len() > 1
        || operands.first().is_some_and(|name| is_file_name(name));
    names_files && !arguments.contains(&"-b") && !arguments.contains(&"-B")
}

/// Returns the step of a reset; `None` if it is not `--hard` and removes no known commits.
fn reset(target: Option<&str>, hard: bool, soft: bool) -> Option<RepositoryStep> {
    let undone = match target {
        Some(target) if target.starts_with("HEAD~") || target.starts_with("HEAD^") => {
            let number = target.strip_prefix("HEAD~").map_or_else(
                || u32::try_from(target.len().saturating_sub("HEAD".len())).ok(),
                |number| if number.is_empty() { Some(1) } else { number.parse().ok() },
            );
            number.map_or(Undone::Nothing, Undone::Latest)
        }
        Some(hash) if hash.len() >= 7 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            Undone::After(kept(hash, bounds::NAME))
        }
        Some(target)
            if soft
                && pattern!(r"^(?:\w+/)?(?:main|master|develop|trunk)$|^\$\(git merge-base ")
                    .is_match(target) =>
        {
            Undone::OwnBranch
        }
        _ => Undone::Nothing,
    };
    let step = Some(GitStep::Reset);
    (hard || undone != Undone::Nothing).then(|| RepositoryStep {
        step,
        undone,
        ..RepositoryStep::default()
    })
}

fn commit(rest: &[&str], texts: &CommandInLine<'_>) -> CommitMade {
    let mut message = String::new();
    let mut add = |part: Option<String>| {
        if let Some(part) = part {
            if !message.is_empty() {
                message.push_str("\n\n");
            }
            message.push_str(part.trim());
        }
    };
    let mut words = rest.iter().copied();
    // `-am` is `-a -m`, and `-mText` is `-m Text`.
    let short = pattern!(r"(?s)^-[aeinopqsvz]*m(.*)$");
    let short_file = pattern!(r"^-[aeinopqsvz]*F(.*)$");
    while let Some(word) = words.next() {
        let text = short.captures(word).and_then(|found| found.get(1)).map(|text| text.as_str());
        let path = short_file.captures(word).and_then(|found| found.get(1));
        let path = path.map(|path| path.as_str()).or(word.strip_prefix("--file="));
        if word == "--message" || text == Some("") {
            add(words.next().and_then(texts::literal));
        } else if let Some(text) = text.or(word.strip_prefix("--message=")) {
            add(texts::literal(text));
        } else if word == "--file" || path == Some("") {
            add(words.next().and_then(|path| texts.file(path)));
        } else if let Some(path) = path {
            add(texts.file(path));
        }
    }
    let (subject, body) = message.trim().split_once('\n').unwrap_or((message.trim(), ""));
    CommitMade {
        subject: (!subject.is_empty()).then(|| kept(&one_line(subject), bounds::SUBJECT)),
        body: kept(&texts::without_trailers(body), bounds::COMMIT_BODY),
        amends: rest.contains(&"--amend"),
        replays: false,
        is_hidden: texts.hides_output() || rest.iter().any(|word| is_quiet(word)),
    }
}

/// Whether an option of `git commit` is `-q`, also together with other options: `-qm`.
fn is_quiet(option: &str) -> bool {
    option == "--quiet" || pattern!(r"^-[aeinopsvz]*q").is_match(option)
}

fn forge(invocation: &Invocation<'_>, texts: &CommandInLine<'_>) -> Option<RepositoryStep> {
    let words = &invocation.arguments;
    let mut operands = words.iter().copied().filter(|word| !word.starts_with('-'));
    let (object, verb) = (operands.next()?, operands.next().unwrap_or_default());
    let is_request = matches!(object, "pr" | "mr" | "pull-request");
    if object == "api" {
        let published = texts.sent_to_api(words);
        return published
            .map(|text| RepositoryStep { published: Some(text), ..RepositoryStep::default() });
    }
    let (step, kind) = match (object, verb) {
        ("pull-request", _) => (Some(GitStep::OpenPullRequest), Some(PublicationKind::PullRequest)),
        (_, "create") if is_request => {
            (Some(GitStep::OpenPullRequest), Some(PublicationKind::PullRequest))
        }
        (_, "merge") if is_request && words.iter().any(|word| word.ends_with("-auto")) => {
            return None;
        }
        (_, "merge") if is_request => (Some(GitStep::MergePullRequest), None),
        (_, "close") if is_request => (Some(GitStep::ClosePullRequest), None),
        (_, "edit" | "update") if is_request => (None, Some(PublicationKind::PullRequest)),
        (_, "comment" | "review" | "note") => (None, Some(PublicationKind::Comment)),
        ("issue", "create") => (None, Some(PublicationKind::Issue)),
        ("release", "create" | "edit") => (None, Some(PublicationKind::Release)),
        _ => return None,
    };
    let published = kind.and_then(|kind| texts.published(kind, invocation));
    (step.is_some() || published.is_some()).then(|| RepositoryStep {
        step,
        published,
        ..RepositoryStep::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::words::simple_commands;

    fn steps_of(line: &str) -> Vec<RepositoryStep> {
        steps(&simple_commands(line), line, "/app")
    }

    #[test]
    fn calls_of_git_in_a_scratch_repository_are_not_steps() {
        for line in [
            "tmp=$(mktemp -d); git -C $tmp init --bare; git -C $tmp commit -m init; git -C $tmp push x",
            "cd $(mktemp -d) && git init && git commit -m init --allow-empty",
            "cd /tmp/tmp.a1b2c3 && git push origin main",
            "mkdir /tmp/try && cd /tmp/try && git init && git commit -m x",
            "cd /tmp/try && git init && cd sub && git commit -m x",
            "cd /tmp/tmp.abc/$D && git commit -m x",
        ] {
            assert_eq!(steps_of(line), [], "{line}");
        }
        for line in [
            "cd /tmp/app && git commit -m x",
            "git -C $HOME/app push",
            "(cd $(mktemp -d) && git init && git push x) && git push",
            "cd /tmp/try && git init && cd - && git commit -m x",
            "cd $(mktemp -d) && git init && git -C /app commit -m x",
            "cd - && M=$(mktemp) && echo msg > $M && git commit -F $M",
        ] {
            assert_eq!(steps_of(line).len(), 1, "{line}");
        }
    }

    fn check_commit(line: &str, subject: Option<&str>, body: &str, amends: bool) {
        let steps = steps_of(line);
        let commit = steps.iter().find_map(|step| step.commit.as_ref()).unwrap();
        let read = (commit.subject.as_deref(), commit.body.as_str(), commit.amends);
        assert_eq!(read, (subject, body, amends), "{line}");
    }

    #[test]
    fn the_message_of_a_commit_is_read_in_every_form() {
        let document =
            "Fix (it)\n\nIt was read \"twice\" 1).\n- why\n\nCo-Authored-By: A <a@b.c>\n";
        for line in [
            format!("git commit -m \"$(cat <<'EOF'\n{document}EOF\n)\""),
            format!("cd x && git -C y -c z=1 commit -F - <<EOF\n{document}EOF"),
            format!("git commit -qF- <<'EOF'\n{document}EOF\n"),
            format!("cat <<'EOF' | git commit --file=-\n{document}EOF\n"),
            format!("cat > /tmp/m.txt <<'EOF'\n{document}EOF\ngit commit -F /tmp/m.txt"),
            format!("printf x; git commit --message='{document}'"),
        ] {
            check_commit(&line, Some("Fix (it)"), "It was read \"twice\" 1).\n- why", false);
        }
        check_commit("git commit -am 'Fix it' -m 'Because.'", Some("Fix it"), "Because.", false);
        check_commit("git commit -m$'Fix it\\n\\nBecause.'", Some("Fix it"), "Because.", false);
        check_commit("git commit -m\"Fix the problem\" a.rs", Some("Fix the problem"), "", false);
        check_commit("git commit -am\"Fix them\" -q", Some("Fix them"), "", false);
        check_commit("git commit -m \"$MESSAGE\"", Some("$MESSAGE"), "", false);
        check_commit("git -C /x commit --amend --no-edit", None, "", true);
        check_commit("git commit -F msg.txt", None, "", false);
        assert_eq!(steps_of("git log --grep commit"), []);
    }

    #[test]
    fn steps_are_in_order_and_have_their_branches() {
        for (line, wanted) in [
            (
                "git checkout main && git pull && git checkout -b fix/x",
                vec![
                    (GitStep::Switch, Some("main")),
                    (GitStep::Merge, None),
                    (GitStep::Switch, Some("fix/x")),
                ],
            ),
            ("git switch -c fix/y origin/main", vec![(GitStep::Switch, Some("fix/y"))]),
            ("git push -u origin fix/y", vec![(GitStep::Push, Some("fix/y"))]),
            ("git push origin HEAD:main", vec![(GitStep::Push, Some("HEAD:main"))]),
            ("git push origin 1a2b3c4:main", vec![(GitStep::Push, Some("HEAD:main"))]),
            ("git push origin +fix/y:refs/heads/fix/z", vec![(GitStep::Push, Some("fix/y:fix/z"))]),
            ("git push origin fix/y:fix/y", vec![(GitStep::Push, Some("fix/y"))]),
            ("git push origin HEAD", vec![(GitStep::Push, None)]),
            ("git pull --rebase origin main", vec![(GitStep::Rebase, None)]),
            ("git checkout -- a.rs", vec![(GitStep::Reset, None)]),
            ("git checkout src/a.rs", vec![(GitStep::Reset, None)]),
            ("git checkout release/1.2", vec![(GitStep::Switch, Some("release/1.2"))]),
            ("git restore --staged a.rs; git reset HEAD a.rs; git stash pop", vec![]),
            ("git reset HEAD~1 src/a.rs; git reset HEAD^ -- src/a.rs", vec![]),
            ("git merge --no-ff -m 'Merge x' fix/x", vec![(GitStep::Merge, Some("fix/x"))]),
            ("git stash -m wip; git stash -u --message=wip", vec![(GitStep::Stash, None); 2]),
            ("gh -R a/b pr create --fill", vec![(GitStep::OpenPullRequest, None)]),
            ("git --git-dir /srv/other/.git --work-tree /srv/other switch x", vec![]),
            ("git --git-dir=/app/.git switch x", vec![(GitStep::Switch, Some("x"))]),
            ("cd /srv/other && cd src && git switch x", vec![]),
            ("cd /srv/other && git -C src switch x", vec![]),
            (
                "cd /srv/other; git pull; cd -; git switch x",
                vec![(GitStep::Merge, None), (GitStep::Switch, Some("x"))],
            ),
            ("cd /srv/other && cd && git -C /app switch x", vec![(GitStep::Switch, Some("x"))]),
            ("cd /srv/other-$X && git switch x", vec![]),
            ("cd /srv/other-* && git switch x", vec![]),
            ("cd ../other && git switch x", vec![(GitStep::Switch, Some("x"))]),
            (
                "git stash; gh pr merge 3 --squash",
                vec![(GitStep::Stash, None), (GitStep::MergePullRequest, None)],
            ),
            (
                "glab mr merge 3; gh pr close 4",
                vec![(GitStep::MergePullRequest, None), (GitStep::ClosePullRequest, None)],
            ),
        ] {
            let steps = steps_of(line);
            let read: Vec<(GitStep, Option<&str>)> =
                steps.iter().map(|one| (one.step.unwrap(), one.branch.as_deref())).collect();
            assert_eq!(read, wanted, "{line}");
        }
    }

    #[test]
    fn the_commits_that_a_reset_removes_are_recognised() {
        for (line, undone) in [
            ("git reset --hard HEAD~2", Undone::Latest(2)),
            ("git reset --soft HEAD^", Undone::Latest(1)),
            ("git reset HEAD~", Undone::Latest(1)),
            ("git reset --hard 1a2b3c4", Undone::After("1a2b3c4".to_owned())),
            ("git reset --hard origin/main", Undone::Nothing),
            ("git reset --soft origin/main", Undone::OwnBranch),
            ("git rebase -i --autosquash main", Undone::Fixups),
            ("git rebase main", Undone::Nothing),
            ("git merge --squash fix/x", Undone::Branch("fix/x".to_owned())),
        ] {
            assert_eq!(steps_of(line)[0].undone, undone, "{line}");
        }
    }

    #[test]
    fn a_step_depends_on_the_work_before_it() {
        let steps = steps_of("rm x && git add . && git commit -m x; echo done");
        assert!(steps.iter().all(|step| step.guarded && !step.proven));
        let steps = steps_of("cd x && git add . && git commit -m x && git push");
        assert!(steps.iter().all(|step| !step.guarded && step.proven));
        assert!(!steps_of("git commit -m x | tail -3")[0].proven);
    }

    #[test]
    fn published_texts_are_read_in_every_form() {
        let body = "## Summary\n- It's \"done\"";
        for (line, title, kind) in [
            (
                format!("gh pr create --title 'A (b)' --body \"$(cat <<'EOF'\n{body}\nEOF\n)\""),
                Some("A (b)"),
                PublicationKind::PullRequest,
            ),
            (
                format!("gh pr create -t A -F - <<'EOF'\n{body}\nEOF"),
                Some("A"),
                PublicationKind::PullRequest,
            ),
            (
                format!("gh pr create -d -m v1 --title A --body \"$(cat <<E\n{body}\nE\n)\""),
                Some("A"),
                PublicationKind::PullRequest,
            ),
            (
                format!("cat > /tmp/b.md <<'E'\n{body}\nE\ngh pr comment 3 --body-file /tmp/b.md"),
                None,
                PublicationKind::Comment,
            ),
            (
                format!("glab mr create --title=A --description \"$(cat <<E\n{body}\nE\n)\""),
                Some("A"),
                PublicationKind::PullRequest,
            ),
            (
                format!("gh api repos/a/b/pulls/3/comments/9/replies -f body=\"$(cat <<E\n{body}\nE\n)\""),
                None,
                PublicationKind::Comment,
            ),
            (
                "gh api repos/a/b/issues --input - <<E\n{\"title\":\"A\",\"body\":\"## Summary\\n- It's \\\"done\\\"\"}\nE".to_owned(),
                Some("A"),
                PublicationKind::Issue,
            ),
            (
                format!("gh release create v1 --title A --notes \"$(cat <<E\n{body}\nE\n)\""),
                Some("A"),
                PublicationKind::Release,
            ),
        ] {
            let steps = steps_of(&line);
            let published = steps[0].published.as_ref().unwrap_or_else(|| panic!("{line}"));
            let read = (published.title.as_deref(), published.body.as_str(), published.kind);
            assert_eq!(read, (title, body, kind), "{line}");
        }
        assert_eq!(steps_of("gh api repos/a/b/pulls/3/comments --paginate"), []);
        assert_eq!(steps_of("gh api graphql -f query='query { a }'"), []);
    }
}
