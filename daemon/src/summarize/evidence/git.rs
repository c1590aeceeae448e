//! Commits and pull requests, from what git and the forges' programs print.

use crate::{
    model::{
        evidence::{Commit, Evidence, PullRequest},
        transcript::Origin,
    },
    summarize::{
        evidence::{bounds, lists::push_latest, shell::CommandLine},
        text::{kept, pattern},
    },
};

/// Notes the commits that a command made, given what it printed.
pub(super) fn commits(
    evidence: &mut Evidence,
    command: &CommandLine,
    output: &str,
    origin: Origin,
) {
    let Some(asked) = &command.commit else { return };
    let printed = pattern!(r"(?m)^\[[^\]\n]*? ([0-9a-f]{7,40})\] (.+)$");
    let mut made: Vec<Commit> = printed
        .captures_iter(output)
        .map(|line| Commit {
            hash: line[1].to_owned(),
            subject: kept(&line[2], 160),
            body: String::new(),
            origin,
            at: None,
        })
        .collect();
    // A quiet commit prints nothing; only its hash is unknown then.
    if made.is_empty()
        && output.trim().is_empty()
        && let Some(subject) = &asked.subject
    {
        made.push(Commit {
            hash: String::new(),
            subject: subject.clone(),
            body: String::new(),
            origin,
            at: None,
        });
    }
    if asked.amends && !made.is_empty() {
        evidence.commits.pop();
    }
    for commit in made {
        evidence.commits.retain(|known| known.hash.is_empty() || known.hash != commit.hash);
        push_latest(&mut evidence.commits, commit, bounds::COMMITS);
    }
}

/// Notes the pull requests whose addresses a command that opens one printed.
pub(super) fn pull_requests(evidence: &mut Evidence, command: &CommandLine, output: &str) {
    if !command.opens_pull_request {
        return;
    }
    let address = pattern!(r"https://[^\s/]+/[^\s]+?/(?:pull|merge_requests|pull-requests)/(\d+)");
    if let Some(found) = address.captures_iter(output).last() {
        pull_request(evidence, &found[0], found[1].parse().ok());
    }
}

/// Notes a pull request, once.
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

    fn commits_of(runs: &[(&str, &str)]) -> Vec<String> {
        let mut evidence = Evidence::default();
        for (line, output) in runs {
            let command = CommandLine::read(line, "");
            commits(&mut evidence, &command, output, Origin::default());
        }
        evidence.commits.into_iter().map(|one| format!("{} {}", one.hash, one.subject)).collect()
    }

    #[test]
    fn commits_are_read_from_what_git_prints() {
        let output = "hook ran\n[main 1a2b3c4] Fix the parser\n 1 file changed\n";
        assert_eq!(
            commits_of(&[("git commit -m 'Fix the parser'", output)]),
            ["1a2b3c4 Fix the parser"]
        );
        let root = "[main (root-commit) 1a2b3c4] Begin\n";
        assert_eq!(commits_of(&[("git add . && git commit -m Begin", root)]), ["1a2b3c4 Begin"]);
        assert_eq!(commits_of(&[("git commit -qm 'Quiet one'", "")]), [" Quiet one"]);
        assert_eq!(commits_of(&[("git log --oneline", "[main 1a2b3c4] x")]), [""; 0]);
    }

    #[test]
    fn an_amended_commit_takes_the_place_of_the_one_before() {
        let runs = [
            ("git commit -m One", "[main aaaaaaa] One\n"),
            ("git commit --amend -m Two", "[main bbbbbbb] Two\n"),
        ];
        assert_eq!(commits_of(&runs), ["bbbbbbb Two"]);
    }

    #[test]
    fn a_pull_request_is_noted_once() {
        let mut evidence = Evidence::default();
        let command = CommandLine::read("gh pr create --fill", "");
        let output = "Creating pull request\nhttps://git.example.org/team/app/pull/12\n";
        pull_requests(&mut evidence, &command, output);
        pull_request(&mut evidence, "https://git.example.org/team/app/pull/12", None);
        assert_eq!(evidence.pull_requests.len(), 1);
        assert_eq!(evidence.pull_requests[0].number, Some(12));
    }
}
