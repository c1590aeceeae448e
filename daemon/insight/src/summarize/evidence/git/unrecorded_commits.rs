//! Finds commits of sub-agents, and of calls whose results were not recorded, in the histories that
//! git prints later.

use crate::{
    model::evidence::{Commit, Evidence, GitStep, GitView, HeadCommit},
    summarize::{
        evidence::{
            bounds,
            git::{
                checkout::{begins_at_head, short_hash},
                commits::short_or_long_history,
            },
            moment::EntryPosition,
            shell::CommandLine,
        },
        lists::keep_latest,
    },
    text::{kept, pattern},
};

/// Minimum length, in bytes, of a subject that identifies a commit in a report of a sub-agent.
const SUBJECT: usize = 16;

/// The data that identify commits that the session made and that are not recorded yet.
pub(in crate::summarize::evidence) struct UnrecordedCommits<'c> {
    /// The commit that was checked out before. A sub-agent may have made the later commits.
    pub(in crate::summarize::evidence) before: Option<&'c GitView<HeadCommit>>,
    /// The subjects of the commits of calls that have no result yet.
    pub(in crate::summarize::evidence) waiting: &'c [String],
}

/// Adds commits that a history shows: the commits that `unrecorded` identifies, and the commits
/// that the report of a sub-agent mentions.
pub(in crate::summarize::evidence) fn add_shown_commits(
    evidence: &mut Evidence,
    command: &CommandLine,
    output: &str,
    unrecorded: &UnrecordedCommits<'_>,
    moment: EntryPosition,
) {
    let UnrecordedCommits { before, waiting } = *unrecorded;
    let has_sub_agents = !evidence.delegations.is_empty();
    if !has_sub_agents && waiting.is_empty() || !command.git.iter().any(begins_at_head) {
        return;
    }
    let shown = short_or_long_history(output);
    let base = before.filter(|before| began_after(evidence, before));
    let base = base.and_then(|before| {
        shown.iter().position(|(hash, _)| is_same_hash(hash, &before.value.hash))
    });
    // A new commit is inserted before the recorded commit that was made after it.
    let mut place = evidence.commits.len();
    for (at, (hash, subject)) in shown.iter().enumerate() {
        let is_new = base.is_some_and(|base| at < base)
            || is_reported(evidence, hash, subject)
            || waiting.iter().any(|one| one == subject);
        let known = evidence
            .commits
            .iter()
            .rposition(|known| known.subject == *subject || is_same_hash(&known.hash, hash));
        if let Some(known) = known {
            place = known;
        } else if is_new && !subject.starts_with("Merge ") {
            let next = evidence.commits.get(place);
            let commit = Commit {
                hash: short_hash(hash),
                subject: kept(subject, bounds::SUBJECT),
                body: String::new(),
                origin: next.map_or(moment.origin, |next| next.origin),
                at: next.map_or(moment.at, |next| next.at),
            };
            evidence.commits.insert(place, commit);
        }
    }
    keep_latest(&mut evidence.commits, bounds::COMMITS);
}

fn is_same_hash(one: &str, other: &str) -> bool {
    one.len() >= 7 && other.len() >= 7 && (one.starts_with(other) || other.starts_with(one))
}

/// Whether a sub-agent that may have committed began after `before` was seen, and git has not
/// switched, merged, rebased or reset since. A sub-agent may have committed if its subject or its
/// report mentions a commit, or if it has no report. `Explore` and `Plan` agents never commit.
fn began_after(evidence: &Evidence, before: &GitView<HeadCommit>) -> bool {
    let moves =
        |step| matches!(step, GitStep::Switch | GitStep::Merge | GitStep::Rebase | GitStep::Reset);
    let mut events = evidence.git_events.iter();
    let says_commit = |text: &str| pattern!(r"(?i)\bcommit").is_match(text);
    let only_looks = |agent: &str| matches!(agent, "Explore" | "Plan");
    let mut tasks = evidence.delegations.iter().filter(|task| task.origin >= before.origin);
    let may_commit = tasks.any(|task| {
        !task.agent.as_deref().is_some_and(only_looks)
            && (says_commit(&task.subject) || task.report.as_deref().is_none_or(says_commit))
    });
    may_commit && !events.any(|event| moves(event.step) && event.origin >= before.origin)
}

/// Whether a sub-agent reports that it made this commit: a line with the hash or a long subject
/// contains a phrase such as `Committed as`, or begins with a hash.
fn is_reported(evidence: &Evidence, hash: &str, subject: &str) -> bool {
    let short = hash.get(..7).unwrap_or(hash);
    let names =
        |line: &str| line.contains(short) || subject.len() >= SUBJECT && line.contains(subject);
    let says_committed = |line: &str| {
        pattern!(
            r"(?i)\bcommitted\b|\bcommits?\W*:|\bcreated (?:the |a )?commit\b|^\W*[0-9a-f]{7,40}\b"
        )
        .is_match(line)
    };
    let reports = evidence.delegations.iter().filter_map(|task| task.report.as_ref());
    reports.flat_map(|report| report.lines()).any(|line| names(line) && says_committed(line))
}

#[cfg(test)]
mod tests {
    use crate::{
        model::transcript::{Action, Outcome},
        summarize::evidence::scenarios::Script,
    };

    fn commits_after(report: &'static str, between: &str, log: &'static str) -> Vec<String> {
        let mut script = Script::default();
        script.prompt("Sort the list");
        script.run("a", "git log --oneline -3", Outcome::Succeeded, "aaaaaaa Begin\n");
        let subject = "Sort the list".into();
        script.call("b", "Task", Action::Delegate { agent: None, subject });
        script.result("b", Outcome::Succeeded, report);
        script.run("c", between, Outcome::Succeeded, "");
        script.run("d", "git log --oneline -3", Outcome::Succeeded, log);
        let commits = script.collect().commits.into_iter();
        commits.map(|commit| format!("{} {}", commit.hash, commit.subject)).collect()
    }

    #[test]
    fn a_commit_of_a_sub_agent_is_added_from_a_later_history() {
        let log = "ccccccc Sort the pages\nbbbbbbb Sort the list by name\naaaaaaa Begin\n";
        let both = ["bbbbbbb Sort the list by name", "ccccccc Sort the pages"];
        let report = "The list is sorted by its names now, in two commits.";
        assert_eq!(commits_after(report, "ls", log), both);
        assert!(commits_after(report, "git pull", log).is_empty());
        assert!(commits_after("The list is sorted by names already.", "ls", log).is_empty());
        let report = "The list is sorted. Committed as bbbbbbb on main.";
        assert_eq!(commits_after(report, "git pull", log), both[..1]);
        let report = "The list was broken by the commit (bbbbbbb) that changed its order.";
        assert!(commits_after(report, "git pull", log).is_empty());
    }

    #[test]
    fn added_commits_keep_their_order() {
        let mut script = Script::default();
        script.run("a", "git log --oneline -3", Outcome::Succeeded, "aaaaaaa Begin\n");
        let subject = "Sort the list".into();
        script.call("b", "Task", Action::Delegate { agent: None, subject });
        script.result("b", Outcome::Succeeded, "The list is sorted. Commit: bbbbbbb.");
        let output = "[main ccccccc] Sort the pages\n";
        script.run("c", "git commit -m 'Sort the pages'", Outcome::Succeeded, output);
        let log = "ccccccc Sort the pages\nbbbbbbb Sort the list\naaaaaaa Begin\n";
        script.run("d", "git log --oneline -3", Outcome::Succeeded, log);
        let commits = script.collect().commits;
        let hashes: Vec<&str> = commits.iter().map(|commit| commit.hash.as_str()).collect();
        assert_eq!(hashes, ["bbbbbbb", "ccccccc"]);
    }

    #[test]
    fn a_commit_without_a_recorded_result_is_added() {
        let mut script = Script::default();
        script.prompt("Sort the list");
        let command = "git add -A && git commit -m 'Sort the list'".into();
        script.call("a", "Bash", Action::Run { command, purpose: None });
        let log = "bbbbbbb Sort the list\naaaaaaa Begin\n";
        script.run("b", "git log --oneline", Outcome::Succeeded, log);
        let commits = script.collect().commits;
        assert_eq!((commits.len(), commits[0].subject.as_str()), (1, "Sort the list"));
    }
}
