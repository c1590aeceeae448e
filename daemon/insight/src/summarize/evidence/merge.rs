//! Adds the evidence of a sub-agent to its session.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{
        evidence::{CommandRun, Commit, Evidence, GitEvent, GitStep, ToolUse, WorkNote},
        time::Timestamp,
        token_use::use_of,
    },
    summarize::{
        evidence::{
            bounds, collector::push_name, errors, files::bound, git, kept_runs, shell::CommandLine,
        },
        lists::keep_latest,
    },
};

/// Adds a sub-agent's evidence to the evidence of its session.
///
/// The sub-agent's work counts as work of the session: files, todo and plan files, settings,
/// commands, tests, errors, reports of formatters, commits and other events of the repository, pull
/// requests, publications, changes outside of the repository, delegations, tools, models, tokens,
/// branches and directories. Its prompts, replies, statements, tasks, choices, recaps and messages
/// do not count, because agents exchanged them. Its working time does not count, because the
/// session waits for the sub-agent. Its commands that worked only in another form are left out,
/// too. The state of the repository is merged only if the sub-agent worked only in directories of
/// the session.
///
/// If the session's own file contains the calls of the sub-agent with this `id`, the sub-agent's
/// work is already counted. In that case, only its tokens, its models and its first and last time
/// are added.
pub fn absorb(session: &mut Evidence, sub_agent: &Evidence, id: Option<&str>) {
    let is_reported = id.is_some_and(|id| session.reported_sub_agents.iter().any(|one| one == id));
    session.span.first = earliest(session.span.first, sub_agent.span.first);
    session.span.last = session.span.last.max(sub_agent.span.last);
    for used in sub_agent.tokens_by_day() {
        use_of(&mut session.token_uses, used.day, &used.model).tokens.add(used.tokens);
    }
    session.tokens.add(sub_agent.tokens);
    names(&mut session.models, &sub_agent.models);
    if is_reported {
        return;
    }
    session.counts.tool_calls =
        session.counts.tool_calls.saturating_add(sub_agent.counts.tool_calls);
    session.counts.tool_errors =
        session.counts.tool_errors.saturating_add(sub_agent.counts.tool_errors);
    checkout(session, sub_agent);
    files(session, sub_agent);
    tools(&mut session.tools, &sub_agent.tools);
    session.commands_left_out =
        session.commands_left_out.saturating_add(sub_agent.commands_left_out);
    insert_by_time(&mut session.commands, &sub_agent.commands, |run| run.at);
    kept_runs::bound_commands(session);
    by_time(&mut session.tests, &sub_agent.tests, |run| run.at, bounds::TEST_RUNS);
    insert_by_time(&mut session.errors, &sub_agent.errors, |error| error.at);
    errors::bound(&mut session.errors);
    by_time(&mut session.settings, &sub_agent.settings, |change| change.at, bounds::SETTINGS);
    commits(&mut session.commits, &sub_agent.commits);
    by_time(&mut session.git_events, &sub_agent.git_events, |event| event.at, bounds::GIT_EVENTS);
    by_time(&mut session.publications, &sub_agent.publications, |_| None, bounds::PUBLICATIONS);
    by_time(
        &mut session.outside_changes,
        &sub_agent.outside_changes,
        |change| change.at,
        bounds::OUTSIDE_CHANGES,
    );
    // The session's text of a note takes precedence, because it is usually later.
    let is_new = |note: &&WorkNote| !session.work_notes.iter().any(|known| known.path == note.path);
    let notes: Vec<WorkNote> = sub_agent.work_notes.iter().filter(is_new).cloned().collect();
    by_time(&mut session.work_notes, &notes, |_| None, bounds::WORK_NOTES);
    by_time(&mut session.delegations, &sub_agent.delegations, |_| None, bounds::DELEGATIONS);
    for request in &sub_agent.pull_requests {
        if !session.pull_requests.iter().any(|known| known.url == request.url) {
            session.pull_requests.push(request.clone());
        }
    }
    keep_latest(&mut session.pull_requests, bounds::PULL_REQUESTS);
    by_time(
        &mut session.unnamed_changes,
        &sub_agent.unnamed_changes,
        |one| one.at,
        bounds::UNNAMED_CHANGES,
    );
    names(&mut session.branches, &sub_agent.branches);
    names(&mut session.directories, &sub_agent.directories);
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Same as [`insert_by_time`]. When there are too many items, the oldest are removed.
fn by_time<T: Clone>(
    list: &mut Vec<T>,
    more: &[T],
    at: impl Fn(&T) -> Option<Timestamp>,
    limit: usize,
) {
    insert_by_time(list, more, at);
    keep_latest(list, limit);
}

/// Inserts `more` in the order of time. An item without a time is added at the end.
fn insert_by_time<T: Clone>(list: &mut Vec<T>, more: &[T], at: impl Fn(&T) -> Option<Timestamp>) {
    for item in more {
        let place = at(item)
            .and_then(|time| {
                list.iter().position(|known| at(known).is_some_and(|known| known > time))
            })
            .unwrap_or(list.len());
        list.insert(place, item.clone());
    }
}

/// Merges the state of the repository if the sub-agent worked only in directories of the session.
/// Must run before the commands of the sub-agent are added to the session.
fn checkout(session: &mut Evidence, sub_agent: &Evidence) {
    if !sub_agent.directories.iter().all(|folder| session.directories.contains(folder)) {
        return;
    }
    session.checkout.update(&sub_agent.checkout);
    let left = [left_stashes(session, sub_agent), left_stashes(sub_agent, session)];
    session.checkout.stashes = left.concat();
    git::bound(&mut session.checkout);
}

/// Returns the stashes of `evidence`, without stashes that `other` restored or dropped after the
/// last of these stashes was made.
fn left_stashes(evidence: &Evidence, other: &Evidence) -> Vec<String> {
    let mut stashes = evidence.checkout.stashes.clone();
    if stashes.is_empty() {
        return stashes;
    }
    let is_stash = |event: &&GitEvent| event.step == GitStep::Stash && event.succeeded;
    let stashed_at = evidence.git_events.iter().rfind(is_stash).and_then(|event| event.at);
    let directory = other.directories.first().map_or("", String::as_str);
    let may_restore =
        |run: &&CommandRun| run.command.contains("stash") && !is_later(stashed_at, run.at);
    for run in other.commands.iter().filter(may_restore) {
        let has_failed = !run.has_worked();
        let calls = CommandLine::read(&run.command, directory).git.into_iter();
        for call in calls.filter(|call| call.subcommand() == "stash") {
            let mut made = other.git_events.iter().filter(is_stash);
            if git::makes_stash(&call) {
                // `other` made this stash. An empty name takes its position in the list.
                stashes.extend(made.any(|event| event.origin == run.origin).then(String::new));
            } else if !(has_failed && call.is_alone) {
                git::restore(&mut stashes, &call);
            }
        }
    }
    stashes.retain(|branch| !branch.is_empty());
    stashes
}

/// Adds commits. The session may know a commit of the sub-agent from the output of `git log`,
/// without the body of the message. The sub-agent's record replaces this commit.
fn commits(session: &mut Vec<Commit>, sub_agent: &[Commit]) {
    session.retain(|known| {
        let is_it = |commit: &Commit| {
            // A hash may be abbreviated or missing.
            commit.subject == known.subject
                && (known.hash.starts_with(&commit.hash) || commit.hash.starts_with(&known.hash))
        };
        !known.body.is_empty() || !sub_agent.iter().any(is_it)
    });
    by_time(session, sub_agent, |commit| commit.at, bounds::COMMITS);
}

/// Adds the work on files. If there are too many files, the files that the session itself changed
/// are removed last.
fn files(session: &mut Evidence, sub_agent: &Evidence) {
    let changed = session.changed_files();
    let own: BTreeSet<String> = changed.map(|(path, _)| path.clone()).collect();
    for (path, work) in &sub_agent.files {
        let Some(known) = session.files.get_mut(path) else {
            session.files.insert(path.clone(), work.clone());
            continue;
        };
        let is_latest =
            !known.changed() || (work.changed() && !is_later(known.changed_at, work.changed_at));
        if is_latest {
            let is_timed = known.changed_at.is_some() && work.changed_at.is_some();
            known.deleted = work.deleted || !is_timed && known.deleted;
            (known.last, known.changed_at) = (work.last, work.changed_at);
        }
        known.reads = known.reads.saturating_add(work.reads);
        known.edits = known.edits.saturating_add(work.edits);
        known.writes = known.writes.saturating_add(work.writes);
        known.lines_added = known.lines_added.saturating_add(work.lines_added);
        known.lines_removed = known.lines_removed.saturating_add(work.lines_removed);
        known.created |= work.created;
        known.moved_from = known.moved_from.take().or(work.moved_from.clone());
    }
    session.files_left_out = session.files_left_out.saturating_add(sub_agent.files_left_out);
    bound(session, "", &own);
}

/// Whether both times are known, and `at` is later than `other`.
fn is_later(at: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    at.zip(other).is_some_and(|(at, other)| at > other)
}

fn tools(session: &mut BTreeMap<String, ToolUse>, sub_agent: &BTreeMap<String, ToolUse>) {
    for (name, used) in sub_agent {
        let known = session.entry(name.clone()).or_default();
        known.calls = known.calls.saturating_add(used.calls);
        known.errors = known.errors.saturating_add(used.errors);
    }
    // As in the evidence of one file, the tools with the most calls are kept.
    while session.len() > bounds::TOOLS
        && let Some(least) = session.iter().min_by_key(|(_, used)| used.calls)
    {
        let least = least.0.clone();
        session.remove(&least);
    }
}

fn names(list: &mut Vec<String>, more: &[String]) {
    more.iter().for_each(|name| push_name(list, name));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        evidence::{CheckoutState, ErrorSeen, FileWork, PullRequest, Quote},
        transcript::{Origin, Outcome},
    };

    #[test]
    fn lists_keep_their_limits() {
        let name = |number: usize| format!("n{number}");
        let request = |number: usize| PullRequest { url: name(number), number: None };
        let used = |number: usize| ToolUse { calls: number as u32, ..ToolUse::default() };
        let changed = |number: usize, source: u32| FileWork {
            edits: 1,
            last: Origin { source, line: number as u64 },
            ..FileWork::default()
        };
        let many = |from: usize, source| Evidence {
            files: (from..from + bounds::FILES).map(|n| (name(n), changed(n, source))).collect(),
            tools: (from..from + bounds::TOOLS).map(|n| (name(n), used(n))).collect(),
            pull_requests: (from..from + bounds::PULL_REQUESTS).map(request).collect(),
            branches: (from..from + bounds::NAMES).map(name).collect(),
            checkout: CheckoutState {
                deleted: (from..from + 12).map(name).collect(),
                merged: (from..from + 40).map(|number| number as u64).collect(),
                ..CheckoutState::default()
            },
            ..Evidence::default()
        };
        let mut session = many(0, 0);
        absorb(&mut session, &many(100, 1), None);
        assert_eq!((session.files.len(), session.files_left_out), (bounds::FILES, 100));
        let has = |name: &str| session.files.contains_key(name);
        assert!(has("n0") && has("n150") && has("n299"), "the session changed them, too");
        assert!(!has("n300") && !has("n399"), "only the sub-agent changed them");
        assert!(session.tools.len() == bounds::TOOLS && !session.tools.contains_key("n0"));
        assert_eq!(session.pull_requests.len(), bounds::PULL_REQUESTS);
        assert_eq!(session.pull_requests.last().unwrap().url, name(99 + bounds::PULL_REQUESTS));
        let CheckoutState { deleted, merged, .. } = &session.checkout;
        assert_eq!(
            (deleted.len(), deleted[0].as_str(), merged.len(), merged[0]),
            (12, "n100", 40, 100)
        );
        assert_eq!((session.branches.len(), session.branches[0].as_str()), (bounds::NAMES, "n0"));
    }

    #[test]
    fn a_stash_is_kept_unless_another_agent_restored_it_later() {
        let at = |second| Some(Timestamp::from_seconds(second));
        let origin = |second| Origin { source: 0, line: second };
        // Commands with their times. A command that begins with `!` failed.
        let evidence = |stashes: &[&str], commands: &[(&str, u64)]| {
            let mut evidence = Evidence::default();
            evidence.checkout.stashes = stashes.iter().map(|&branch| branch.to_owned()).collect();
            for &(command, second) in commands {
                let succeeded = !command.starts_with('!');
                let (origin, at) = (origin(second), at(i64::try_from(second).unwrap()));
                if command == "git stash" {
                    let (step, branch, error) = (GitStep::Stash, None, None);
                    let event = GitEvent { step, succeeded, branch, error, origin, at };
                    evidence.git_events.push(event);
                }
                evidence.commands.push(CommandRun {
                    command: command.trim_start_matches('!').to_owned(),
                    place: None,
                    shows_failure: false,
                    outcome: if succeeded { Outcome::Succeeded } else { Outcome::Failed(Some(1)) },
                    origin,
                    at,
                });
            }
            evidence
        };
        let stashed = [("git stash", 4), ("git stash", 5)];
        for (commands, wanted) in [
            (&[("git stash list", 9)][..], "fix/x,fix/y"),
            (&[("git stash show -p", 9)], "fix/x,fix/y"),
            (&[("git stash pop", 3)], "fix/x,fix/y"),
            (&[("git stash pop", 9)], "fix/x"),
            (&[("git stash apply stash@{1}", 9)], "fix/y"),
            (&[("git stash apply", 8), ("git stash drop", 9)], "fix/x"),
            (&[("cd api && git stash drop", 9)], "fix/x"),
            (&[("!git stash pop", 9)], "fix/x,fix/y"),
            (&[("!git stash pop && cargo test", 9)], "fix/x"),
            (&[("git stash", 7), ("git stash pop", 8)], "fix/x,fix/y"),
            (&[("git stash", 7), ("git stash pop", 8), ("git stash pop", 9)], "fix/x"),
            (&[("git stash clear", 9)], ""),
        ] {
            let left = evidence(&["fix/x", "fix/y"], &stashed);
            let mut session = evidence(&[], commands);
            absorb(&mut session, &left, None);
            assert_eq!(session.checkout.stashes.join(","), wanted, "{commands:?}");
            let mut session = left;
            absorb(&mut session, &evidence(&[], commands), None);
            assert_eq!(session.checkout.stashes.join(","), wanted, "{commands:?}");
        }
    }

    #[test]
    fn the_last_change_of_a_file_decides_whether_the_file_is_deleted() {
        let work = |second: i64, deleted: bool| FileWork {
            writes: u32::from(!deleted),
            deleted,
            last: Origin { source: u32::from(deleted), line: 1 },
            changed_at: Some(Timestamp::from_seconds(second)),
            ..FileWork::default()
        };
        let with = |work: FileWork| Evidence {
            files: BTreeMap::from([("/x".to_owned(), work)]),
            ..Evidence::default()
        };
        for (written_at, deleted_at, is_deleted) in [(9, 5, false), (5, 9, true)] {
            let (written, deleted) = (with(work(written_at, false)), with(work(deleted_at, true)));
            for (session, sub_agent) in [(&written, &deleted), (&deleted, &written)] {
                let mut session = session.clone();
                absorb(&mut session, sub_agent, None);
                let file = &session.files["/x"];
                let last = u32::from(is_deleted);
                assert_eq!((file.deleted, file.last.source, file.writes), (is_deleted, last, 1));
            }
        }
    }

    #[test]
    fn commands_and_errors_that_are_left_out_are_those_that_one_file_would_lose() {
        let run = |second: i64, outcome: Outcome| CommandRun {
            command: format!("c{second}"),
            place: None,
            shows_failure: false,
            outcome,
            origin: Origin::default(),
            at: Some(Timestamp::from_seconds(second)),
        };
        let error = |second: i64, times: u32| ErrorSeen {
            message: format!("e{second}"),
            remedy: None,
            attempt: String::new(),
            origin: Origin::default(),
            at: Some(Timestamp::from_seconds(second)),
            times,
            returns: 0,
            known: None,
            cause: None,
            resolution: None,
        };
        let mut session = Evidence {
            commands: vec![run(0, Outcome::Failed(Some(1)))],
            errors: vec![error(0, 3)],
            ..Evidence::default()
        };
        let sub_agent = Evidence {
            commands: (1..).map(|at| run(at, Outcome::Succeeded)).take(bounds::COMMANDS).collect(),
            errors: (1..).map(|at| error(at, 1)).take(bounds::ERRORS).collect(),
            ..Evidence::default()
        };
        absorb(&mut session, &sub_agent, None);
        let first: Vec<&str> =
            session.commands[..2].iter().map(|run| run.command.as_str()).collect();
        assert_eq!(first, ["c0", "c2"], "a failed command stays");
        assert_eq!((session.commands.len(), session.commands_left_out), (bounds::COMMANDS, 1));
        let first: Vec<&str> =
            session.errors[..2].iter().map(|error| error.message.as_str()).collect();
        assert_eq!(first, ["e0", "e2"], "an error that occurred again stays");
        assert_eq!(session.errors.len(), bounds::ERRORS);
    }

    #[test]
    fn the_work_of_a_sub_agent_counts_and_its_messages_do_not() {
        let run = |second, command: &str| CommandRun {
            command: command.to_owned(),
            place: None,
            shows_failure: false,
            outcome: Outcome::Succeeded,
            origin: Origin::default(),
            at: Some(Timestamp::from_seconds(second)),
        };
        let mut session = Evidence {
            commands: vec![run(1, "a"), run(9, "c")],
            files: BTreeMap::from([(
                "/x".to_owned(),
                FileWork { reads: 1, ..FileWork::default() },
            )]),
            ..Evidence::default()
        };
        let quote = Quote { text: "Task".to_owned(), origin: Origin::default(), at: None };
        let mut sub_agent = Evidence {
            commands: vec![run(5, "b")],
            files: BTreeMap::from([(
                "/x".to_owned(),
                FileWork { edits: 2, ..FileWork::default() },
            )]),
            prompts: vec![quote.clone()],
            last_reply: Some(quote),
            ..Evidence::default()
        };
        sub_agent.counts.tool_calls = 3;
        sub_agent.counts.messages = 8;
        absorb(&mut session, &sub_agent, Some("a1"));
        let order: Vec<&str> = session.commands.iter().map(|run| run.command.as_str()).collect();
        assert_eq!(order, ["a", "b", "c"]);
        assert_eq!(session.files["/x"].edits, 2);
        assert_eq!((session.counts.tool_calls, session.counts.messages), (3, 0));
        assert!(session.prompts.is_empty() && session.last_reply.is_none());
        session.reported_sub_agents = vec!["a1".to_owned()];
        absorb(&mut session, &sub_agent, Some("a1"));
        assert_eq!((session.counts.tool_calls, session.commands.len()), (3, 3));
    }
}
